r"""The Hilbert function of M̄ against the functions that respect the two preimages of a point.

A function on M̄ of degree n is one on the source, of bidegree (n, n) in V and A, that takes the same value
at all preimages of a point; so on rank one, V = h vᵀ and A = k qᵀ, it is symmetric in v and k. Restriction
to rank one maps onto S_n(h)⊗S_n(v)⊗S_n(k)⊗S_n(q), so these conditions number C(n+d'−1, n)·m·C(m, 2) with
m = C(n+d−1, n), and the functions that meet them number

    g(n) = C(n + dd' − 1, n)·h_{D_α}(n) − C(n + d' − 1, n)·m·C(m, 2).

For every layer with d ≥ 2 (a ≥ 2 or d' ≥ 2) this bounds the Hilbert function from above. For d = 2 it is
the Hilbert function, by the theorem on regularity (docs/layer/equations/whole-ideal-proofs.md), and degree
by degree by :func:`double_locus_bound_is_sharp`, which needs no theorem.

>>> from agattn.architectures import SingleLayer
>>> [double_locus_bound(SingleLayer(2, 1), n) for n in range(5)]
[1, 6, 21, 56, 125]
>>> double_locus_bound_is_sharp(a=2, max_degree=4)
True
"""

from __future__ import annotations

from functools import cache
from itertools import product
from math import comb

import flint
import numpy as np

from agattn.algebra.characters import IntArray, partitions, schur_dimension
from agattn.algebra.echelon import echelon
from agattn.architectures import SingleLayer
from agattn.geometry.ideal.multigrading import products_of_rows
from agattn.geometry.ideal.torus_weights import generic_coordinates, letters, relabeling
from agattn.geometry.variety.coordinates import coordinate_index

#: The prime of all evaluations: products of two residues fit into 64 bits.
PRIME = 2**31 - 1


def double_locus_bound(layer: SingleLayer, n: int) -> int:
    """The number g(n) of functions of degree n on the source that respect the preimages of rank-one points.

    For a = d' = 1 and t ≥ 2, where all of the source has rank one, it is the exact Hilbert function
    C(n+d−1, n)·C(m+1, 2); for other layers with t ≥ 2 an upper bound. That of {rank A ≤ α} is a sum by
    Cauchy's formula.
    """
    d, d_out = layer.d, layer.d_out
    m = comb(n + d - 1, n)
    attention = sum(schur_dimension(shape, d) ** 2 for shape in partitions(n, layer.alpha))
    return comb(n + d * d_out - 1, n) * attention - comb(n + d_out - 1, n) * m * comb(m, 2)


@cache
def double_locus_bound_is_sharp(a: int, max_degree: int) -> bool:
    """Prove that the bound is the Hilbert function up to a degree, for d = 2, this a and every d'.

    Modules with three rows in λ do not occur for d = 2, so two outputs are enough. In each dominant weight
    of M(2, 2, a), the coordinate ring is spanned by products of a coordinate and a monomial from a basis
    one degree lower; their rank at random points modulo a prime bounds the dimension from below, and it
    must meet the bound from above. For a ≥ 2 the coordinates V_{ci}A_{kb} + V_{ck}A_{ib} are symmetric in V
    and Aᵀ: of two weights that this exchange maps to each other, one is enough.

    True if the bound is met in every weight; False is modular evidence that it is not.

    Raises:
        ValueError: if the degree is above 31.
    """
    if max_degree > _HIGHEST_DEGREE:
        raise ValueError(f"max_degree is {max_degree}; it must be at most {_HIGHEST_DEGREE}")
    random = np.random.default_rng(0)
    middle = max_degree - max_degree // 2
    points = _bound_at(a, max_degree, middle, middle, max_degree) + 5
    values = random_points(SingleLayer(2, 2, a), random, points)
    bases: dict[tuple[int, ...], IntArray] = {(0, 0, 0): np.zeros(1, dtype=np.int64)}
    for n in range(1, max_degree + 1):
        half = range((n + 1) // 2, n + 1)
        above: dict[tuple[int, ...], IntArray] = {}
        for weight in product(half, half, range(n, 2 * n + 1)):
            if a > 1 and weight[0] < weight[1]:
                continue
            bound = _bound_at(a, n, *weight)
            basis = _basis(_products(bases, n, weight, random), n, values, bound)
            if len(basis) < bound:
                return False
            above[weight] = basis
        bases = above
    return True


#: The places of the coordinates for d = d' = 2, and how often each has the letter 1 of each group.
_PLACES = coordinate_index(SingleLayer(2, 2))
_ONES = [tuple(part.count(1) for part in letters(index, SingleLayer.gl_degrees)) for index in _PLACES]
# A monomial is a number whose digits in base 32, one for each of the twelve coordinates, are its exponents.
_SHIFTS = 5 * np.arange(len(_PLACES))
_COORDINATES = 1 << _SHIFTS
_HIGHEST_DEGREE = 31


def _products(
    bases: dict[tuple[int, ...], IntArray], n: int, weight: tuple[int, ...], random: np.random.Generator
) -> IntArray:
    """Monomials of degree n: coordinates times basis monomials of degree n − 1, each once, shuffled."""
    found = [np.zeros(0, dtype=np.int64)]
    totals = (n - 1, n - 1, 2 * n - 2)
    for coordinate, own in zip(_COORDINATES, _ONES, strict=True):
        rest = [x - y for x, y in zip(weight, own, strict=True)]
        if any(not 0 <= x <= total for x, total in zip(rest, totals, strict=True)):
            continue
        # A weight that is not dominant is a dominant one with the two letters of some groups exchanged. If
        # the dominant weight (c, b, i) was left out, its basis is that of (b, c, i) with V and Aᵀ exchanged.
        flips = tuple(2 * x < total for x, total in zip(rest, totals, strict=True))
        c, b, i = (max(x, total - x) for x, total in zip(rest, totals, strict=True))
        exchanged = (c, b, i) not in bases
        lower = bases[(b, c, i) if exchanged else (c, b, i)]
        moved = _exponents(lower) @ _moved(flips, exchanged) if any(flips) or exchanged else lower
        found.append(moved + coordinate)
    # Not by np.unique, which imports masked arrays: that takes longer than all of this.
    monomials = np.sort(np.concatenate(found))
    monomials = monomials[np.diff(monomials, prepend=-1) > 0]
    random.shuffle(monomials)
    return monomials


def _exponents(monomials: IntArray) -> IntArray:
    return (monomials[:, None] >> _SHIFTS) & _HIGHEST_DEGREE


@cache
def _moved(flips: tuple[bool, ...], exchanged: bool) -> IntArray:
    """What each coordinate becomes when V and Aᵀ are exchanged, and then the two letters of some groups."""
    move = relabeling([[2, 1] if flip else [1, 2] for flip in flips], SingleLayer.gl_degrees)
    indices = [(b, c, i, k) if exchanged else (c, b, i, k) for c, b, i, k in _PLACES]
    return _COORDINATES[[_PLACES[move((index,))[0]] for index in indices]]


def _basis(monomials: IntArray, n: int, values: IntArray, bound: int) -> IntArray:
    """Monomials of degree n that are independent functions on M̄, as many as there are, at most ``bound``."""
    points, step = bound + 3, bound + 3 + bound // 4
    chosen, known = monomials[:0], np.zeros((0, points), dtype=np.int64)
    for start in range(0, len(monomials), step):
        new = monomials[start : start + step]
        each = np.tile(np.arange(len(_PLACES)), len(new))
        places = np.repeat(each, _exponents(new).ravel()).reshape(len(new), n)
        rows = np.concatenate([known, products_of_rows(places, values[:, :points], PRIME)])
        transposed = flint.nmod_mat(points, len(rows), rows.T.ravel().tolist(), PRIME)
        kept = echelon(transposed)[1]
        chosen, known = np.concatenate([chosen, new])[kept], rows[kept]
        if len(chosen) == bound:
            break
    return chosen


def _bound_at(a: int, n: int, c: int, b: int, i: int) -> int:
    """The bound g(n) in one weight space of M(2, 2, a)."""

    def sums(first: int, second: int, total: int) -> int:
        return max(0, min(first, total) - max(0, total - second) + 1)

    shares = range(max(0, i - n), min(n, i) + 1)
    source = sum(sums(c, n - c, x) * (1 if a == 1 else sums(b, n - b, i - x)) for x in shares)
    return source - sum(1 for p in range(n + 1) if p < i - p <= n)


def random_points(layer: SingleLayer, random: np.random.Generator, count: int) -> IntArray:
    """The coordinates at random points of the parametrization modulo :data:`PRIME`: shape (N, count)."""
    polynomials = list(generic_coordinates(layer).values())
    entries = random.integers(PRIME, size=(len(polynomials[0].ring), count))
    factors = ([[v for v, e in enumerate(key) for _ in range(e)] for key in f.terms] for f in polynomials)
    terms = (products_of_rows(np.array(places), entries, PRIME) for places in factors)
    return np.array([term.sum(axis=0) % PRIME for term in terms])
