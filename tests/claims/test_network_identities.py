"""Lemmas 3.5 and 3.6 and equation 12; and that false identities are caught."""

import pytest

from agattn.algebra.residues import random_residues
from agattn.claims import network_identities as identities
from agattn.claims.network_identities import equation_9, equation_12, lemma_3_6
from agattn.evidence import Evidence
from agattn.geometry.identifiability import virtual_weights as deep


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


def test_the_change_of_basis_is_independent_of_the_weights(monkeypatch):
    drawn = []

    def record(generator, shape, p):
        drawn.append(random_residues(generator, shape, p))
        return drawn[-1]

    monkeypatch.setattr(identities, "random_residues", record)
    assert equation_9((3, 3, 3)).holds
    values = [x for matrix in drawn for x in matrix.ravel().tolist()]
    assert len(set(values)) > len(values) - 3
