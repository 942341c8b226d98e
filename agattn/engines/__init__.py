"""Macaulay2, Singular and msolve: a script is written, run within limits, and its answer read back exactly.

``catalogue`` declares the engines, ``locate`` finds and tries them, ``emit`` writes a script from the
templates, ``run`` runs it and reads the answer: by ``reading``, or by ``msolve``, which has no language.
``process`` runs a program of which nothing stays, with ``supervisor`` beside it. Engines are asked for the
whole ideal and whether equations are all by ``elimination``, and for real solutions by ``msolve``.
"""
