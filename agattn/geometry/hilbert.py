r"""The Hilbert function of M̄ against the functions that respect the two preimages of a point.

A function on M̄ of degree n is one on the source, of bidegree (n, n) in V and A, that takes the same value at all
preimages of a point; so on rank one, V = h vᵀ and A = k qᵀ, it is symmetric in v and k. Restriction to rank one maps onto
S_n(h)⊗S_n(v)⊗S_n(k)⊗S_n(q), so these conditions number C(n+d'−1, n)·m·C(m, 2) with m = C(n+d−1, n), and the functions that meet them

    g(n) = C(n + dd' − 1, n)·h_{D_α}(n) − C(n + d' − 1, n)·m·C(m, 2).

For every layer with d ≥ 2 (a ≥ 2 or d' ≥ 2) this bounds the Hilbert function from above. For d = 2 it is the Hilbert function: observed, and proved
degree by degree by :func:`gluing_is_sharp`.

>>> from agattn.architecture import SingleLayer
>>> [gluing_bound(SingleLayer(2, 1), n) for n in range(5)]
[1, 6, 21, 56, 125]
>>> gluing_is_sharp(a=2, degree=4)
True
"""

from __future__ import annotations

from itertools import product
from math import comb

import flint
import numpy as np

from agattn.algebra.characters import partitions, schur_dimension
from agattn.architecture import SingleLayer
from agattn.geometry.graded import PRIME


def determinantal_hilbert_function(d: int, rank: int, n: int) -> int:
    """The Hilbert function of the d × d matrices of rank at most ``rank``, by Cauchy's formula.

    >>> [determinantal_hilbert_function(2, 1, n) for n in range(4)]
    [1, 4, 9, 16]
    """
    return sum(schur_dimension(shape, d) ** 2 for shape in partitions(n, rank))


def gluing_bound(layer: SingleLayer, n: int) -> int:
    """The number g(n) of functions of degree n on the source that respect the preimages of rank-one points.

    Args:
        layer: any with t ≥ 2. For a = d' = 1, where all of the source has rank one, it is the exact Hilbert
            function C(n+d−1, n)·C(m+1, 2); elsewhere an upper bound.
        n: the degree.
    """
    d, d_out = layer.d, layer.d_out
    m = comb(n + d - 1, n)
    source = comb(n + d * d_out - 1, n) * determinantal_hilbert_function(d, layer.alpha, n)
    return source - comb(n + d_out - 1, n) * m * comb(m, 2)


def predicted_hilbert_function(layer: SingleLayer, n: int) -> int | None:
    """The value that the Hilbert function is observed to have: for d ≤ 2, and for a = d' = 1; else None.

    >>> predicted_hilbert_function(SingleLayer(2, 3), 2), predicted_hilbert_function(SingleLayer(3, 2), 2)
    (156, None)
    """
    if layer.t == 1:
        return None
    return gluing_bound(layer, n) if layer.d <= 2 or layer.a == layer.d_out == 1 else None


def gluing_is_sharp(a: int, degree: int, seed: int = 0) -> bool:
    """Prove that the bound is the Hilbert function in one degree, for d = 2, this a and every d'.

    In each dominant weight of M(2, 2, a), monomials are evaluated at points modulo a prime until their rank meets the bound;
    a rank mod p bounds that over ℚ from below. Modules with three rows in λ do not occur for d = 2, so two outputs are enough.

    Returns:
        True if the bound was met everywhere. False proves nothing: more monomials might have met it.
    """
    if degree == 0:
        return True
    random = np.random.default_rng(seed)
    middle = degree - degree // 2
    most = _bound_at(a, degree, middle, middle, degree)
    values = _values(random, a, most + 20)
    dominant = product(
        range((degree + 1) // 2, degree + 1), range((degree + 1) // 2, degree + 1), range(degree, 2 * degree + 1)
    )
    return all(_meets(random, values, degree, c, b, i, _bound_at(a, degree, c, b, i)) for c, b, i in dominant)


def _values(random: np.random.Generator, a: int, points: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """y_{c,b,{i,k}} at random points, shape (2, 2, 2, 2, points), for both orders of i and k."""
    v = random.integers(PRIME, size=(2, 2, points))
    matrix = np.zeros((2, 2, points), dtype=np.int64)
    for _ in range(min(a, 2)):
        k, q = random.integers(PRIME, size=(2, points)), random.integers(PRIME, size=(2, points))
        matrix = (matrix + k[:, None] * q[None, :]) % PRIME
    products = v[:, None, :, None] * matrix.swapaxes(0, 1)[None, :, None, :] % PRIME
    symmetric = (products + products.swapaxes(2, 3)) % PRIME
    for i in (0, 1):
        symmetric[:, :, i, i] = products[:, :, i, i]
    return symmetric


def _meets(
    random: np.random.Generator, values: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    n: int, c: int, b: int, i: int, bound: int,
) -> bool:  # fmt: skip
    """Whether random monomials of weight ((c, n−c), (b, n−b), (i, 2n−i)) have the rank of the bound."""
    if bound == 0:
        return True
    points = bound + 3
    rows: list[list[int]] = []
    for _ in range(6):
        for _ in range(bound + 5):
            first = random.permutation(np.arange(n) >= c).astype(int)
            second = random.permutation(np.arange(n) >= b).astype(int)
            inner = random.permutation(np.arange(2 * n) >= i).astype(int).reshape(n, 2)
            row = np.ones(points, dtype=np.int64)
            for index in zip(first, second, inner[:, 0], inner[:, 1], strict=True):
                row = row * values[index][:points] % PRIME
            rows.append(row.tolist())
        if flint.nmod_mat(rows, PRIME).rank() == bound:
            return True
    return False


def _bound_at(a: int, n: int, c: int, b: int, i: int) -> int:
    """The bound g(n) in one weight space of M(2, 2, a)."""

    def sums(first: int, second: int, total: int) -> int:
        return max(0, min(first, total) - max(0, total - second) + 1)

    if a == 1:
        source = sum(sums(c, n - c, x) for x in range(max(0, i - n), min(n, i) + 1))
    else:
        source = sum(sums(c, n - c, x) * sums(b, n - b, i - x) for x in range(max(0, i - n), min(n, i) + 1))
    return source - sum(1 for p in range(n + 1) if p < i - p <= n)
