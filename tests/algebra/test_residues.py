"""Arithmetic modulo p in floating point must be exact: compared with Python integers and with FLINT."""

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.residues import (
    Elimination,
    hadamard,
    matmul,
    random_prime,
    random_residues,
    reduced_echelon,
)

LARGEST = 1073741789  # the largest prime below 2³⁰


def as_integers(array):
    return array.astype(np.int64).astype(object)


@pytest.mark.parametrize("inner", [1, 3, 127, 128, 129, 400])
def test_products_of_the_largest_residues_are_exact(inner):
    a = np.full((3, inner), LARGEST - 1.0)
    b = np.full((inner, 2), LARGEST - 1.0)
    assert (matmul(a, b, LARGEST) == inner % LARGEST).all()  # (−1)(−1) inner times


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 6), st.integers(0, 300), st.integers(1, 6))
def test_products_are_those_of_integers(seed, m, k, n):
    generator = np.random.default_rng(seed)
    p = random_prime(generator)
    a, b = random_residues(generator, (2, m, k), p), random_residues(generator, (k, n), p)
    assert (as_integers(matmul(a, b, p)) == as_integers(a) @ as_integers(b) % p).all()
    c = random_residues(generator, (m, k), p)
    assert (as_integers(hadamard(a, c, p)) == as_integers(a) * as_integers(c) % p).all()


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**9),
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(0, 40),
    st.sampled_from([2, 7, LARGEST]),
)
def test_rank_in_blocks_is_flints(seed, m, n, r, p):
    generator = np.random.default_rng(seed)
    matrix = matmul(random_residues(generator, (m, r), p), random_residues(generator, (r, n), p), p)
    expected = flint.nmod_mat(m, n, as_integers(matrix).ravel().tolist(), p).rank()
    elimination = Elimination(n, p)
    ranks = [elimination.add(block) for block in np.array_split(matrix, 3)]
    assert ranks == sorted(ranks)
    assert elimination.rank == expected
    pivots, rows = reduced_echelon(matrix, p)
    assert len(pivots) == expected
    assert (rows[:, pivots] == np.eye(expected)).all()


def test_a_large_rank_is_flints():
    generator = np.random.default_rng(3)
    p = random_prime(generator)
    matrix = matmul(random_residues(generator, (350, 290), p), random_residues(generator, (290, 300), p), p)
    elimination = Elimination(300, p)
    for block in np.array_split(matrix, 4):
        elimination.add(block)
    assert elimination.rank == 290 == flint.nmod_mat(350, 300, as_integers(matrix).ravel().tolist(), p).rank()
