"""Macaulay2, Singular and msolve: write a script, run it, read the answer."""
