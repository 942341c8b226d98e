"""The elimination mod p against FLINT's, and its minors against FLINT's determinants."""

from __future__ import annotations

from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.exact_rank import minor_mod
from agattn.algebra.integers import as_fmpz_mat, hadamard_bits
from agattn.algebra.modular import Minor, nonzero_minor, random_primes, residues


def flint_mod(A: Any, p: int) -> Any:
    return flint.nmod_mat(A.shape[0], A.shape[1], (A % p).ravel().tolist(), p)


def check(A: Any, p: int, minor: Minor) -> None:
    assert minor.rank == flint_mod(A, p).rank()
    square = A[np.ix_(minor.rows, minor.columns)]
    assert int(flint_mod(square, p).det() if minor.rank else 1) == minor.value != 0
    assert list(minor.rows) == sorted(set(minor.rows))
    assert list(minor.columns) == sorted(set(minor.columns))


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 90), st.integers(0, 90), st.integers(0, 90), st.integers(0, 10**6),
    st.sampled_from([3, 5, 32003, 4194319, 8388593]), st.sampled_from([0.04, 0.3, 1.0]),
)  # fmt: skip
def test_small_matrices(m: int, n: int, r: int, seed: int, p: int, density: float) -> None:
    generator = np.random.default_rng(seed)
    A = generator.integers(-p, p, (m, r)) @ generator.integers(-9, 9, (r, n))
    A *= generator.random((m, n)) < density
    check(A, p, nonzero_minor(residues(A, p), p))
    check(A, p, minor_mod(as_fmpz_mat(A), p))


@pytest.mark.parametrize("p", [3, 8388593])
@pytest.mark.parametrize(
    ("m", "n", "r"), [(600, 600, 599), (520, 700, 300), (2500, 300, 299), (300, 1900, 40), (513, 513, 513)]
)
def test_matrices_of_several_panels(m: int, n: int, r: int, p: int) -> None:
    generator = np.random.default_rng(m)
    A = generator.integers(0, p, (m, r)) @ generator.integers(0, 7, (r, n)) % p
    A[:, :20] = 0  # a panel that begins without pivots
    check(A, p, nonzero_minor(residues(A, p), p))


def test_extreme_residues_stay_exact() -> None:
    # Every entry at the edge of the centred range: the largest partial sums the argument allows for.
    p = 8388593
    generator = np.random.default_rng(0)
    A = (p // 2) * (2 * generator.integers(0, 2, (700, 700)) - 1)
    check(A, p, nonzero_minor(residues(A, p), p))


def test_large_primes_go_through_flint() -> None:
    p = next(random_primes(1, bits=60))
    A = np.random.default_rng(0).integers(-9, 9, (30, 12)) @ np.random.default_rng(1).integers(
        -9, 9, (12, 40)
    )
    check(A, p, minor_mod(as_fmpz_mat(A), p))


def test_primes_are_distinct_random_and_reproducible() -> None:
    first = [p for p, _ in zip(random_primes(0), range(50), strict=False)]
    assert first == [p for p, _ in zip(random_primes(0), range(50), strict=False)]
    assert len(set(first)) == 50
    assert all(2**22 < p < 2**23 and flint.fmpz(p).is_prime() for p in first)
    assert set(first) != {p for p, _ in zip(random_primes(1), range(50), strict=False)}


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 7), st.integers(0, 10**6), st.sampled_from([1, 50, 2**40, 2**90]))
def test_hadamard_bounds_every_determinant(n: int, seed: int, size: int) -> None:
    import random

    generator = random.Random(seed)
    A = flint.fmpz_mat(n, n, [generator.randint(-size, size) for _ in range(n * n)])
    held = np.array(A.tolist(), dtype=object).astype(np.int64) if size < 2**50 else A
    determinant = abs(int(A.det()))
    assert determinant.bit_length() - 1 <= hadamard_bits(held, n) + 1e-6
