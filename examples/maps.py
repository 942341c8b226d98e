"""Polynomial maps as Python functions, for --model examples/maps.py:NAME."""

import agattn as ag


def twisted_cubic(s):
    """The cone over the twisted cubic: all products of three of two numbers."""
    return [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3]


def minors(M):
    """The 2 × 2 minors of a 2 × 4 matrix: the cone over the Grassmannian Gr(2, 4)."""
    pairs = [(i, j) for i in range(4) for j in range(i)]
    return [M[0, i] * M[1, j] - M[0, j] * M[1, i] for i, j in pairs]


def gated(W, U, V, X):
    """A perceptron with gates, token by token."""
    return V @ ((W @ X) * (U @ X))


cubic = ag.PolynomialMap(twisted_cubic, {"s": 2})
grassmannian = ag.PolynomialMap(minors, {"M": (2, 4)})
gates = ag.PolynomialMap(gated, {"W": (3, 2), "U": (3, 2), "V": (2, 3)}, inputs=2)
