"""Algebra with no attention in it: polynomials, exact matrices, ranks."""
