"""Macaulay2 and Singular: write a script, run it, read the answer."""
