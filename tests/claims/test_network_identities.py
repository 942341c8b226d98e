"""Lemmas 3.5 and 3.6 and equation 12; and that false identities are caught."""

from math import log2

import numpy as np
import pytest

from agattn.algebra.residues import chance_of_dividing, random_prime
from agattn.claims.networks import LARGEST_ERROR, equation_9, equation_12, lemma_3_6
from agattn.evidence import Evidence
from agattn.geometry.identifiability import virtual_weights as deep
from agattn.limits import limited


@pytest.mark.parametrize("check", [lemma_3_6, equation_12])
@pytest.mark.parametrize(("dims", "t"), [((2, 2), 2), ((2, 2, 2), 2), ((2, 1, 2), 2), ((1, 2, 1, 1), 1)])
def test_symbolically(check, dims, t):
    result = check(dims, t, symbolic=True)
    assert result.holds and result.evidence is Evidence.PROVED


@pytest.mark.parametrize("check", [lemma_3_6, equation_12])
def test_by_evaluation(check):
    result = check((9, 7, 8, 6, 5), 4)
    assert result.holds and result.evidence is Evidence.MODULAR
    assert 0 < result.error < LARGEST_ERROR
    with limited(seed=1):
        assert result.error == check((9, 7, 8, 6, 5), 4).error


@pytest.mark.parametrize("layers", [2, 6, 12])
def test_the_error_counts_primes_that_divide_every_coefficient(layers):
    degree = 2 * 3**layers - 1
    found = lemma_3_6((3,) * (layers + 1), 2)
    assert found.holds
    # With so many terms of one coefficient, primes that divide it are likelier than zeros of the polynomial.
    chance = degree / 2**29 + chance_of_dividing(1 + (degree - 1) * log2(3))
    assert found.error == pytest.approx(chance ** round(log2(found.error) / log2(chance)))


def test_an_error_that_the_first_prime_divides_is_found_by_the_next(monkeypatch):
    prime = random_prime(np.random.default_rng(0))
    right = deep.lightning
    monkeypatch.setattr(deep, "lightning", lambda *args: (right(*args) + prime) % args[-1].p)
    found = equation_12((3, 2, 3), 2)
    assert found.holds is False and str(prime) not in found.witness


def test_nothing_is_concluded_where_the_degree_exceeds_the_primes():
    found = lemma_3_6((1,) * 20, 1)
    assert found.holds is None and found.error == 1 and "degree is too large" in str(found)


@pytest.mark.parametrize("symbolic", [True, False])
def test_equation_9(symbolic):
    result = equation_9((4, 3, 3, 5), symbolic=symbolic)
    assert result.holds and result.evidence is (Evidence.PROVED if symbolic else Evidence.MODULAR)
    assert result.error == 0 or symbolic < result.error < LARGEST_ERROR
    assert equation_9((3, 2)).holds


def test_a_wrong_action_is_refuted(monkeypatch):
    right = deep.virtual_weights

    def wrong(A, V, arithmetic):
        M, L = right(A, V, arithmetic)
        return [A[0], *M[1:-1], A[-1]], L

    monkeypatch.setattr(deep, "virtual_weights", wrong)
    for symbolic in (True, False):
        assert equation_9((2, 2, 2), symbolic=symbolic).holds is False


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


@pytest.mark.parametrize("layers", [20, 1000])
def test_degrees_that_are_no_floats_stay_open(layers):
    for check in (lemma_3_6, equation_12):  # equation 12 has (3^l - 1)/2 factors
        found = check((2,) * (layers + 1), 3)
        assert (found.holds, found.error) == (None, 1.0) and "too large for primes" in str(found)
