"""Points of a stratum that are not on the coordinate axes, and monomials at points."""

from itertools import combinations_with_replacement

import flint
import numpy as np

from agattn.geometry.strata.strata import representative


def scrambled(layer, stratum, seed):
    """Weights of a stratum in other bases."""
    rng = np.random.default_rng(seed)

    def unimodular(n):
        lower = np.tril(rng.integers(-2, 3, (n, n)), -1) + np.eye(n, dtype=int)
        return (lower @ (np.triu(rng.integers(-2, 3, (n, n)), 1) + np.eye(n, dtype=int))).astype(object)

    A, V = (np.array(M, dtype=object) for M in representative(layer, stratum))
    inner, left, right = unimodular(layer.d), unimodular(layer.d_out), unimodular(layer.d)
    return inner @ A @ right, left @ V @ inner.T


def rank_of_monomials(points, degree, p):
    """The rank of all monomials of one degree at points modulo a prime."""
    rows = []
    for monomial in combinations_with_replacement(np.array(points, dtype=object).T, degree):
        row = 1
        for values in monomial:
            row = row * values % p
        rows.append(row.tolist())
    return flint.nmod_mat(rows, p).rank()
