"""Arithmetic modulo p in floating point must be exact: compared with Python integers and with FLINT."""

import random
from math import log, log2, prod
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import workers
from agattn.algebra import residues as room
from agattn.algebra.exact_rank import hadamard_bits, minor_mod
from agattn.algebra.matrices import as_fmpz_mat
from agattn.algebra.residues import (
    Minor,
    RowSpace,
    chance_of_dividing,
    hadamard,
    less_product,
    matmul,
    nonzero_minor,
    random_prime,
    random_primes,
    random_residues,
    residues,
)
from agattn.limits import limited

LARGEST = 1073741789  # the largest prime below 2³⁰


def as_integers(array):
    return array.astype(np.int64).astype(object)


@pytest.mark.parametrize("p", [2, 3, 8388593, LARGEST])
@pytest.mark.parametrize("inner", [129, 513])
def test_long_products_of_the_largest_centered_residues_are_exact(inner, p):
    half = (p - 1) // 2
    c = np.full((150, 900), p - 1.0)
    for x, y in ((half, half), (half + 1, half), (half + 1, half + 1)):
        a, b = np.full((150, inner), float(x)), np.full((inner, 900), float(y))
        assert (matmul(a, b, p) == inner * x * y % p).all()
        assert (less_product(c, a, b, p) == (p - 1 - inner * x * y) % p).all()


def test_products_are_the_same_in_threads(monkeypatch):
    monkeypatch.setattr(room, "_TILE", 1 << 12)
    monkeypatch.setattr(room, "_LONG", 1)
    generator = np.random.default_rng(0)
    matrix = random_residues(generator, (700, 600), LARGEST)
    with limited(workers=1):
        alone = nonzero_minor(matrix, LARGEST)
    with limited(workers=2):
        assert nonzero_minor(matrix, LARGEST) == alone
    monkeypatch.setattr(workers, "processors", lambda: 3)
    assert nonzero_minor(matrix, LARGEST) == alone
    monkeypatch.undo()
    assert nonzero_minor(matrix, LARGEST) == alone and alone.rank == 600


@given(st.integers(6, 11), st.lists(st.integers(2**5, 2**11), min_size=1, max_size=8))
def test_few_primes_divide_a_number(bits, factors):
    n = prod(factors)
    primes = [p for p in range(2 ** (bits - 1), 2**bits) if flint.fmpz(p).is_prime()]
    chance = sum(n % p == 0 for p in primes) / len(primes)
    assert chance <= chance_of_dividing(log2(n), bits) <= 1


@pytest.mark.parametrize("bits", [6, 8, 11])
def test_the_bound_is_near_the_chance_for_products_of_primes(bits):
    """A product of k primes is divisible by k of them; the bound counts 3/5 of the primes that there are."""
    primes = [p for p in range(2 ** (bits - 1), 2**bits) if flint.fmpz(p).is_prime()]
    for k in range(1, len(primes) // 3):
        chance = k / len(primes)
        assert chance <= chance_of_dividing(sum(map(log2, primes[:k])), bits) <= 2.5 * chance
    x = 2 ** (bits - 1)  # there are more than 3x/(5 log x) primes from x to 2x
    assert chance_of_dividing(bits - 1, bits) == pytest.approx(5 * log(x) / (3 * x))
    # 0 < |n| < 2^(bits−1) has no prime factor of so many bits.
    assert chance_of_dividing(bits - 1.5, bits) == 0
    assert chance_of_dividing(1e6, bits) == chance_of_dividing(float("inf"), bits) == 1


def test_every_prime_is_as_likely():
    def gap(p):
        return next(n for n in range(2, 400, 2) if flint.fmpz(p - n).is_prime())

    # A prime after a long gap must be no likelier than its share of all primes.
    generator = np.random.default_rng(5)
    drawn = np.mean([gap(random_prime(generator)) for _ in range(3000)])
    primes = [p for p in range(3 * 2**28 + 1, 3 * 2**28 + 60_000, 2) if flint.fmpz(p).is_prime()]
    assert abs(drawn - np.mean(np.diff(primes))) < 2


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
    space = RowSpace(n, p)
    ranks = [space.add(block) for block in np.array_split(matrix, 3)]
    assert ranks == sorted(ranks)
    assert space.rank == expected
    minor = space.minor()
    assert (minor.rank, minor.modulus) == (expected, p)


def test_a_large_rank_is_flints():
    generator = np.random.default_rng(3)
    p = random_prime(generator)
    matrix = matmul(random_residues(generator, (350, 290), p), random_residues(generator, (290, 300), p), p)
    space = RowSpace(300, p)
    for block in np.array_split(matrix, 4):
        space.add(block)
    assert space.rank == 290 == flint.nmod_mat(350, 300, as_integers(matrix).ravel().tolist(), p).rank()


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
    st.sampled_from([3, 5, 32003, 4194319, 8388593, LARGEST]), st.sampled_from([0.04, 0.3, 1.0]),
)  # fmt: skip
def test_small_matrices(m: int, n: int, r: int, seed: int, p: int, density: float) -> None:
    generator = np.random.default_rng(seed)
    A = generator.integers(-p, p, (m, r)) @ generator.integers(-9, 9, (r, n))
    A *= generator.random((m, n)) < density
    check(A, p, nonzero_minor(residues(A, p), p))
    check(A, p, minor_mod(as_fmpz_mat(A), p))


@pytest.mark.slow
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
    # Every entry at the edge of the range: the largest partial sums the argument allows for.
    for p in (8388593, LARGEST):
        generator = np.random.default_rng(0)
        A = p - 1 - generator.integers(0, 2, (700, 700))
        check(A, p, nonzero_minor(residues(A, p), p))


def test_sums_of_the_largest_products_stay_exact() -> None:
    # Of L·U with −1 everywhere below and above ones on the diagonals, elimination takes (p − 1)² from the
    # last entries once for each pivot; rows that depend on the others delay the reduction.
    for every in range(2, 12):
        L, U = np.tri(24, dtype=int), np.tri(24, dtype=int).T
        A = ((2 * np.eye(24, dtype=int) - L) @ (2 * np.eye(24, dtype=int) - U)) % LARGEST
        A[every::every] = A[every - 1 : -1 : every]
        check(A, LARGEST, nonzero_minor(residues(A, LARGEST), LARGEST))


@pytest.mark.parametrize("inner", [0, 1, 3, 127, 128, 129, 300, 400])
def test_products_and_differences_of_the_largest_residues_are_those_of_integers(inner: int) -> None:
    for p in (8388593, LARGEST):
        c, a, b = (np.full(shape, p - 1.0) for shape in ((3, 2), (3, inner), (inner, 2)))
        assert (matmul(a, b, p) == inner % p).all()  # (−1)(−1) inner times
        assert (less_product(np.zeros_like(c), a, b, p) == -inner % p).all()
        assert (less_product(c, a, b, p) == (-1 - inner) % p).all()
    # A stack of matrices that are larger than a tile.
    c, a, b = (np.full(shape, LARGEST - 1.0) for shape in ((2, 400, 330), (2, 400, inner), (2, inner, 330)))
    assert (less_product(c, a, b, LARGEST) == (-1 - inner) % LARGEST).all()


def test_primes_are_distinct_random_and_reproducible() -> None:
    first = [p for p, _ in zip(random_primes(0), range(50), strict=False)]
    assert first == [p for p, _ in zip(random_primes(0), range(50), strict=False)]
    assert len(set(first)) == 50
    assert all(2**22 < p < 2**23 and flint.fmpz(p).is_prime() for p in first)
    assert set(first) != {p for p, _ in zip(random_primes(1), range(50), strict=False)}


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 7), st.integers(0, 10**6), st.sampled_from([1, 50, 2**40, 2**90]))
def test_hadamard_bounds_every_determinant(n: int, seed: int, size: int) -> None:
    generator = random.Random(seed)
    A = flint.fmpz_mat(n, n, [generator.randint(-size, size) for _ in range(n * n)])
    held = np.array(A.tolist(), dtype=object).astype(np.int64) if size < 2**50 else A
    determinant = abs(int(A.det()))
    assert determinant.bit_length() - 1 <= hadamard_bits(held, n) + 1e-6
