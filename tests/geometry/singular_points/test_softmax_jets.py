"""The closure of the 3-jets of one softmax head: its ideal by three programs, and its singular points."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import agattn as ag
from agattn.algebra.echelon import rational_rank

ZERO, ONE, RANK_ONE = [[0, 0], [0, 0]], [[1, 2], [3, 1]], [[1, 2], [2, 4]]
#: A layer (d, d'; a), dimension and degree of the closure, generators of degree 2, 3, 4.
LAYERS = [
    ((2, 1), 1, 5, 8, (3, 2, 0)),
    ((2, 1), 2, 6, 5, (0, 4, 1)),
    ((2, 2), 1, 7, 40, (23, 8, 5)),
    ((2, 2), 2, 8, 35, (13, 16, 10)),
    ((3, 1), 1, 8, 126, (45, 46, 0)),
]


def jet(dims: tuple[int, int], a: int) -> ag.Jet:
    return ag.Jet(ag.DeepNetwork(dims, (a,), 2, normalization="softmax"), 3)


@cache
def ideal(dims: tuple[int, int], a: int) -> Any:
    return ag.ideal(jet(dims, a), max_degree=4)


def tangent_dimension(dims: tuple[int, int], a: int, A: Any, V: Any, limit: bool = False) -> int:
    """Of the space that the equations leave at the jet of (A, V); or at its limit for V → 0 with VA fixed."""
    found = ideal(dims, a)
    d = dims[0]
    K, Q = factored(np.array(A, dtype=object), a, d)
    point = found.source.values({"K_1": K[None], "Q_1": Q[None], "V_1": np.array(V, dtype=object)[None]})
    linear = [one.meaning.count("x_") == 1 and "^" not in one.meaning for one in found.named_coordinates]
    y = [Fraction(0) if limit and is_linear else Fraction(x)
         for x, is_linear in zip(point, linear, strict=True)]  # fmt: skip
    at = {(k,): x for k, x in enumerate(y, 1)}
    gradients = [equation.gradient(at) for equation in found]
    return len(y) - rational_rank([[gradient.get(k, 0) for k in at] for gradient in gradients])


def factored(A: np.ndarray, a: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """K and Q with KᵀQ = A, for a = d, or for a = 1 and A of rank one at most."""
    if a == d:
        return np.eye(d, dtype=int).astype(object), A
    row = next((r for r in A if any(r)), A[0])
    pivot = next((i for i, x in enumerate(row) if x), 0)
    column = A[:, pivot] / Fraction(row[pivot]) if any(row) else A[:, 0]
    return column[None], row[None]


@pytest.mark.parametrize(("dims", "a", "dimension", "degree", "counts"), LAYERS)
def test_the_equations_to_degree_four(dims, a, dimension, degree, counts):
    found = ideal(dims, a)
    assert found.dimension == dimension == dims[0] * dims[1] + a * (2 * dims[0] - a)
    assert tuple(piece.minimal_generators for piece in found.degrees[1:]) == counts
    assert {str(piece.evidence) for piece in found.degrees} == {"proved"}


@pytest.mark.parametrize(("a", "cubics"), [(2, 111), (3, 101)])
def test_cubics_of_larger_layers(a, cubics):
    found = ag.ideal(jet((3, 1), a), max_degree=3)
    assert [piece.minimal_generators for piece in found.degrees[1:]] == [0, cubics]
    assert {str(piece.evidence) for piece in found.degrees} == {"proved"}


@pytest.mark.engine("singular")
@pytest.mark.parametrize(("dims", "a", "dimension", "degree", "counts"), LAYERS)
def test_an_engine_finds_the_same_generators_of_the_whole_ideal(dims, a, dimension, degree, counts):
    answer = ag.run(jet(dims, a), "implicit-ideal", "singular").as_json()["answer"]
    assert (answer["dimension"], answer["degree"]) == (dimension, degree)
    assert len(answer["generators"]) == sum(counts)


@pytest.mark.parametrize(
    ("dims", "a", "A", "V", "limit", "smooth"),
    [
        # V ≠ 0: smooth unless rk A < a < d
        ((2, 1), 2, ONE, [[1, 1]], False, True),
        ((2, 1), 2, RANK_ONE, [[1, 1]], False, True),
        ((2, 1), 2, RANK_ONE, [[1, 2]], False, True),
        ((2, 1), 2, ZERO, [[1, 1]], False, True),
        ((2, 1), 1, RANK_ONE, [[1, 1]], False, True),
        ((2, 1), 1, ZERO, [[1, 1]], False, False),
        ((2, 2), 1, RANK_ONE, [[1, 1], [2, 2]], False, True),
        ((2, 2), 1, ZERO, [[1, 1], [0, 1]], False, False),
        ((2, 2), 2, RANK_ONE, [[1, 1], [2, 2]], False, True),
        # limits with V = 0: as the lightning layer, and singular where rk A = rk V = 1
        ((2, 1), 2, ONE, [[1, 1]], True, True),
        ((2, 1), 2, RANK_ONE, [[1, 1]], True, False),
        ((2, 1), 1, RANK_ONE, [[1, 1]], True, False),
        ((2, 2), 1, RANK_ONE, [[1, 1], [0, 1]], True, True),
        ((2, 2), 1, RANK_ONE, [[1, 1], [2, 2]], True, False),
        ((2, 2), 2, ONE, [[1, 1], [0, 1]], True, True),
        ((2, 2), 2, RANK_ONE, [[1, 1], [2, 2]], True, False),
        ((2, 1), 2, ZERO, [[0, 0]], False, False),
        ((2, 2), 1, ZERO, ZERO, False, False),
    ],
)
def test_singular_points_are_those_of_the_proposition(dims, a, A, V, limit, smooth):
    """The equations generate the whole ideal, as engines found, so that their tangent space is that of it."""
    found = tangent_dimension(dims, a, A, V, limit)
    assert (found == ideal(dims, a).dimension) is smooth and found >= ideal(dims, a).dimension
