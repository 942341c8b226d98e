"""The same questions about many architectures: which of them does a claim, or a formula, describe?

``grid`` reads what is asked about which, also the grids that ship (``audit``, ``atlas``, ``zoo``); ``jobs``
answers one question, and writes and reads its line; ``study`` does many, here or by workers, in order;
``cache`` keeps what is done. The report of a study is in :mod:`agattn.reports.study_report`.
"""
