"""Lemmas 3.5 and 3.6, equation 12 and Theorem 3.7; and that false identities are caught."""

from fractions import Fraction

import numpy as np
import pytest

from agattn.algebra.residues import random_residues
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.identifiability import deep_identities
from agattn.geometry.identifiability import virtual_weights as deep
from agattn.geometry.identifiability.deep_identities import (
    equation_9,
    equation_12,
    fiber_equations,
    lemma_3_6,
    recover_change_of_basis,
    theorem_3_7_hypotheses,
    theorem_3_7_local,
)


@pytest.mark.parametrize("check", [lemma_3_6, equation_12])
@pytest.mark.parametrize(("dims", "t"), [((2, 2), 2), ((2, 2, 2), 2), ((2, 1, 2), 2), ((1, 2, 1, 1), 1)])
def test_symbolically(check, dims, t):
    result = check(dims, t, symbolic=True)
    assert result.holds and result.evidence is Evidence.PROVED


@pytest.mark.parametrize("check", [lemma_3_6, equation_12])
def test_by_evaluation(check):
    result = check((9, 7, 8, 6, 5), 4)
    assert result.holds and result.evidence is Evidence.MODULAR
    assert 0 < result.error < 1e-15


def test_equation_9():
    result = equation_9((4, 3, 3, 5))
    assert result.holds and result.evidence is Evidence.MODULAR


@pytest.mark.parametrize("symbolic", [True, False])
def test_a_wrong_product_is_refuted(monkeypatch, symbolic):
    right = deep.unrolled_factors
    monkeypatch.setattr(deep, "unrolled_factors", lambda l: [(nu, False) for nu, _ in right(l)])
    result = equation_12((2, 2, 2), 2, symbolic=symbolic)
    assert not result.holds
    assert result.evidence is Evidence.PROVED
    assert "entry (1, 1)" in result.witness


def test_a_wrong_recursion_is_refuted(monkeypatch):
    monkeypatch.setattr(
        deep, "token_mixings", lambda M, X, arithmetic: [arithmetic.identity(X.shape[1])] * (len(M) + 1)
    )
    assert not lemma_3_6((2, 2, 2), 2).holds


def test_the_change_of_basis_is_found():
    generator = np.random.default_rng(0)
    V = [generator.integers(-3, 4, shape).astype(object) for shape in ((2, 4), (2, 2), (3, 2))]
    A = [np.eye(n, dtype=int).astype(object) for n in (4, 2, 2)]
    C = [np.array([[2, 1], [1, 1]], dtype=object), np.array([[Fraction(1, 2), 0], [5, 1]], dtype=object)]
    _, moved = deep.change_basis(A, V, C)
    found = recover_change_of_basis(V, moved)
    assert all((c == f).all() for c, f in zip(C, found, strict=True))
    with pytest.raises(InputError, match="products of the value matrices differ"):
        recover_change_of_basis(V, [2 * V[0], *V[1:]])
    zero = [0 * V[0], *V[1:]]
    with pytest.raises(InputError, match="full row rank"):
        recover_change_of_basis(zero, zero)
    # L of rank 1 < δ = 2: the second network has the same virtual weights, and no C is invertible.
    low = [np.eye(2, dtype=int).astype(object), np.array([[1, 0]], dtype=object)]
    with pytest.raises(InputError, match="not of rank δ"):
        recover_change_of_basis(low, [np.diag([1, 0]).astype(object), low[1]])


def test_the_change_of_basis_is_independent_of_the_weights(monkeypatch):
    drawn = []

    def record(generator, shape, p):
        drawn.append(random_residues(generator, shape, p))
        return drawn[-1]

    monkeypatch.setattr(deep_identities, "random_residues", record)
    assert equation_9((3, 3, 3)).holds
    values = [x for matrix in drawn for x in matrix.ravel().tolist()]
    assert len(set(values)) > len(values) - 3


@pytest.mark.parametrize("l", [1, 2, 3])
def test_theorem_3_7_at_generic_and_at_special_points(l):
    generator = np.random.default_rng(l)
    generic = [generator.integers(-5, 6, (3, 3)) for _ in range(l)]
    rank_two = [np.outer([1, 2, 0], [0, 1, 1]) + np.outer([0, 1, 1], [1, 0, 3]) for _ in range(l)]
    L = np.outer([1, 2], [1, -1, 3])  # rank 1
    for M in (generic, rank_two):
        assert theorem_3_7_hypotheses(M, L, 3) == []
        fiber = theorem_3_7_local(M, L, 3)
        assert fiber.is_exact and fiber.lower_bound == l


def test_outside_its_hypotheses_theorem_3_7_can_fail():
    M = [np.outer([1, 2, 0], [0, 1, 1]), np.array([[1, 2, 0], [0, 1, 4], [1, 1, 1]])]
    assert theorem_3_7_hypotheses(M, np.eye(3, dtype=int), 3) == ["rk M_1 ≥ 2"]
    assert theorem_3_7_local(M, np.eye(3, dtype=int), 3).upper_bound > 2


def test_fiber_equations_vanish_on_the_rescalings_and_not_elsewhere():
    M = [np.array([[1, 2], [0, 1]], dtype=object), np.array([[0, 1], [3, 1]], dtype=object)]
    L = np.array([[1, 1]], dtype=object)
    equations = fiber_equations(M, L, 2)
    scaled, L_scaled = deep.rescale(M, L, Fraction(1, 24), [2, 3])
    on_the_fiber = [x for m in (*scaled, L_scaled) for x in m.ravel()]
    off_the_fiber = [x for m in (*scaled, L) for x in m.ravel()]
    assert all(f(*on_the_fiber) == 0 for f in equations)
    assert any(f(*off_the_fiber) for f in equations)
    assert deep_identities.fiber_equations(M, L, 2) == equations
