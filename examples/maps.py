"""Polynomial maps as Python functions, for examples/maps.py:NAME."""

from itertools import product

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


def grouped(K, P, Q, O, X):
    """Lightning attention where all heads share K and P: S = P X Xᵀ Kᵀ, and the sum of O_i S Q_i X."""
    S = P @ X @ X.T @ K.T
    return (O @ (S[None] @ (Q @ X[None]))).sum(axis=0)


def tangents(a, b, c, u, v, w):
    """The tangents of P1×P1×P1, in the hypersurface of Cayley's hyperdeterminant."""
    places = list(product(range(2), repeat=3))
    return [u[i] * b[j] * c[k] + a[i] * v[j] * c[k] + a[i] * b[j] * w[k] for i, j, k in places]


def tensors(a, b, c):
    """Sums of products of three vectors: a secant variety of a Segre variety."""
    terms, size = a.shape
    places = list(product(range(size), repeat=3))
    return [sum(a[r, i] * b[r, j] * c[r, k] for r in range(terms)) for i, j, k in places]


def network(a, b):
    """Four species in a cycle, Kimura's model with three parameters, in Fourier coordinates.

    The group is {0, 1, 2, 3} with exclusive or; a belongs to leaves, b to edges of the cycle.
    """
    out = []
    for g in product(range(4), repeat=4):
        if g[0] ^ g[1] ^ g[2] ^ g[3] == 0:
            leaves = a[0, g[0]] * a[1, g[1]] * a[2, g[2]] * a[3, g[3]]
            one = b[0, g[0]] * b[1, g[0] ^ g[1]] * b[2, g[0] ^ g[1] ^ g[2]]
            two = b[1, g[1]] * b[2, g[1] ^ g[2]] * b[3, g[1] ^ g[2] ^ g[3]]
            out.append(leaves * (one + two))
    return out


cubic = ag.PolynomialMap(twisted_cubic, {"s": 2})
grassmannian = ag.PolynomialMap(minors, {"M": (2, 4)})
gates = ag.PolynomialMap(gated, {"W": (3, 2), "U": (3, 2), "V": (2, 3)}, inputs=2)
shared = ag.PolynomialMap(grouped, {"K": (2, 4), "P": (2, 4), "Q": (2, 2, 4), "O": (2, 3, 2)}, inputs=(4, 2))
cayley = ag.PolynomialMap(tangents, dict.fromkeys("abcuvw", 2))
strassen = ag.PolynomialMap(tensors, dict.fromkeys("abc", (3, 3)))
salmon = ag.PolynomialMap(tensors, dict.fromkeys("abc", (4, 4)))
sunlet = ag.PolynomialMap(network, {"a": (4, 4), "b": (4, 4)})
