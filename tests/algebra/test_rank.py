"""Ranks of matrices that break careless code, and the certificates behind them."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import combinations, islice
from math import comb, gcd, inf, isqrt
from time import process_time
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agattn.algebra import spectrum
from agattn.algebra.balls import is_nonsingular, pivots
from agattn.algebra.exact_rank import (
    Kernel,
    SparseElimination,
    has_larger_rank,
    minor_mod,
    prove_by_kernel,
    prove_by_primes,
    prove_upper_bound,
)
from agattn.algebra.matrices import SparseMatrix, from_triples, read_matrix
from agattn.algebra.rank import RandomRows, RankResult, proved_rank, rank
from agattn.algebra.residues import Minor, matmul, random_primes, random_residues
from agattn.errors import DisagreementError, InputError, TooLargeError
from agattn.evidence import Evidence
from agattn.limits import limited


def hilbert(n: int) -> list[list[Fraction]]:
    return [[Fraction(1, i + j + 1) for j in range(n)] for i in range(n)]


def planted(m: int, n: int, r: int) -> Any:
    generator = np.random.default_rng(0)
    # Through floats, where the product is exact and fast.
    left, right = (generator.integers(-9, 10, shape).astype(float) for shape in ((m, r), (r, n)))
    return (left @ right).astype(np.int64)


def fmpq_mat(rows: Any) -> Any:
    m, n = len(rows), len(rows[0])
    return flint.fmpq_mat(
        m, n, [flint.fmpq(Fraction(x).numerator, Fraction(x).denominator) for r in rows for x in r]
    )


def low_rank(m: int, n: int, r: int, seed: int, size: int, denominator: int, density: float) -> Any:
    """A random rational matrix of rank at most r, and those of its entries that are not 0."""
    generator = random.Random(seed)

    def entry() -> Fraction:
        if generator.random() > density:
            return Fraction(0)
        return Fraction(generator.randint(-size, size), generator.randint(1, denominator))

    left = [[entry() for _ in range(r)] for _ in range(m)]
    right = [[entry() for _ in range(n)] for _ in range(r)]
    rows = [
        [sum((left[i][k] * right[k][j] for k in range(r)), Fraction(0)) for j in range(n)] for i in range(m)
    ]
    return rows, {(i, j): rows[i][j] for i in range(m) for j in range(n) if rows[i][j]}


def check_certificate(rows: Any, result: RankResult) -> None:
    """Check minor and kernels of an exact result with FLINT, from nothing but the matrix and the result."""
    A = fmpq_mat(rows)
    minor = result.minor
    assert isinstance(minor, Minor)
    assert minor.rank == result.lower_bound
    square = [[A[i, j] for j in minor.columns] for i in minor.rows]
    p = minor.modulus
    if square:
        exact = flint.fmpq_mat(square).det()
        assert int(exact.p) * pow(int(exact.q), -1, p) % p == minor.value != 0
    for block in result.blocks:
        if isinstance(block.proof, Kernel):
            K = flint.fmpq_mat(list(block.proof.vectors())).transpose()
            B = flint.fmpq_mat(
                len(block.rows), len(block.columns), [A[i, j] for i in block.rows for j in block.columns]
            )
            product = B * K if block.proof.side == "right" else B.transpose() * K
            assert not any(product.entries())
            assert K.rank() == len(block.proof) == K.nrows() - block.rank


# --- over ℚ ---


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(0, 9), st.integers(0, 10**6),
    st.sampled_from([1, 2, 10**6, 2**70]), st.sampled_from([1, 12, 2**65]), st.sampled_from([0.3, 1.0]),
)  # fmt: skip
def test_rank_and_certificate_of_rational_matrices(
    m: int, n: int, r: int, seed: int, size: int, denominator: int, density: float
) -> None:
    rows, places = low_rank(m, n, r, seed, size, denominator, density)
    expected = fmpq_mat(rows).rank()
    for method in ("auto", "modular"):
        result = rank(rows, method, seed=seed % 5)
        assert result.rank == expected
        check_certificate(rows, result)
    assert rank(rows).evidence is Evidence.PROVED
    sparse = rank(SparseMatrix((m, n), places))
    assert sparse.rank == expected
    check_certificate(rows, sparse)
    balls = rank(rows, "ball")
    assert balls.lower_bound <= expected <= balls.upper_bound
    assert balls.rank == expected


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 12),
    st.integers(0, 12),
    st.integers(0, 12),
    st.integers(0, 10**6),
    st.sampled_from([1, 2**70]),
)
def test_kernel_is_primitive_and_complete(m: int, n: int, r: int, seed: int, size: int) -> None:
    generator = random.Random(seed)
    A = flint.fmpz_mat(m, r, [generator.randint(-size, size) for _ in range(m * r)])
    A = A * flint.fmpz_mat(r, n, [generator.randint(-size, size) for _ in range(r * n)])
    minor = minor_mod(A, next(random_primes(seed)))
    kernel = prove_by_kernel(A, minor)
    assert (kernel.size, len(kernel)) == (n, n - A.rank())
    K = flint.fmpz_mat(len(kernel), n, [x for vector in kernel.vectors() for x in vector])
    assert K.rank() == K.nrows()
    assert not any((A * K.transpose()).entries())
    for vector in K.tolist():
        assert gcd(*(int(x) for x in vector)) == 1
    assert proved_rank(A) == rank(A, "rational").rank == A.rank()


@pytest.mark.parametrize("n", [1, 2, 13, 30, 60])
def test_hilbert_matrix_is_regular(n: int) -> None:
    result = rank(hilbert(n))
    assert (result.rank, result.evidence, result.method) == (n, Evidence.PROVED, "rational")
    check_certificate(hilbert(n), result)
    by_balls = rank(hilbert(n), "ball")
    assert (by_balls.rank, by_balls.evidence) == (n, Evidence.PROVED)
    assert not by_balls.minor.value.contains(0)  # type: ignore[union-attr]


def test_decimals_whose_integers_would_fill_the_memory_stay_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [["1e-3000", "1"], ["2e-3000", "2"]]
    assert str(rank(rows)) == "rank 1 (proved)"
    for matrix in (rows, SparseMatrix((2, 2), {(i, j): rows[i][j] for i in (0, 1) for j in (0, 1)})):
        monkeypatch.setattr("agattn.algebra.matrices.LARGEST_INTEGERS", 30_000)
        found = rank(matrix)
        assert (found.method, found.rank, found.lower_evidence) == ("ball", 1, Evidence.PROVED)
        assert found.upper_evidence is Evidence.NUMERICAL
        with pytest.raises(TooLargeError, match="exponents"):
            rank(matrix, "rational")


def test_sparse_matrices_have_all_their_rows_as_balls() -> None:
    found = rank(SparseMatrix((3, 4), {(0, 3): 1, (1, 0): Fraction(1, 3), (2, 1): 2}), "ball")
    assert (found.method, found.rank, found.evidence) == ("ball", 3, Evidence.PROVED)


@pytest.mark.parametrize(("x", "method"), [(3.0, "rational"), (0.1, "ball")])
def test_whole_floats_are_exact(x: float, method: str) -> None:
    for matrix in ([[2.0, 0], [0, x]], SparseMatrix((2, 2), {(0, 0): 2.0, (1, 1): x})):
        assert (rank(matrix).method, rank(matrix).rank) == (method, 2)


@pytest.mark.slow
def test_rounded_hilbert_matrix_stays_undecided() -> None:
    result = rank(np.array(hilbert(60), dtype=float))
    assert result.rank is None
    assert 10 < result.lower_bound < 20
    assert result.upper_bound == 60
    assert rank(np.array(hilbert(60), dtype=float), "mpmath").rank is None


@pytest.mark.parametrize("n", [5, 30, 60])
def test_vandermonde_and_a_row_twice(n: int) -> None:
    vandermonde = [[x**k for k in range(n)] for x in range(1, n + 1)]
    assert proved_rank(flint.fmpz_mat(vandermonde)) == n
    vandermonde[3] = vandermonde[0]
    result = rank(vandermonde)
    assert (result.rank, result.evidence) == (n - 1, Evidence.PROVED)
    check_certificate(vandermonde, result)


def test_rank_one_updates() -> None:
    n = 40
    identity = np.eye(n, dtype=np.int64)
    u, v = np.arange(1, n + 1), np.ones(n, dtype=np.int64)
    assert rank(np.outer(u, v)).rank == 1
    assert rank(identity + np.outer(u, v)).rank == n
    # vᵀu = −1 makes I + u vᵀ singular (matrix determinant lemma).
    u[0] = -1 - u[1:].sum()
    result = rank(identity + np.outer(u, v))
    assert (result.rank, result.evidence) == (n - 1, Evidence.PROVED)


def kahan(n: int) -> list[list[Fraction]]:
    """Kahan's matrix diag(1, s, s², ...)·(I − c·strictly upper ones) with rational s² + c² ≈ 1."""
    c = Fraction(285, 1000)
    s = Fraction(isqrt(int((1 - c * c) * 4**60)), 2**60)
    return [[s**i * (0 if j < i else 1 if j == i else -c) for j in range(n)] for i in range(n)]


def test_kahan_matrix_is_regular_though_its_pivots_hide_it() -> None:
    assert rank(kahan(60)).as_json()["rank"] == 60
    assert rank(kahan(60), "ball").rank == 60
    assert rank([[float(x) for x in row] for row in kahan(60)]).lower_bound == 60


def test_no_fixed_prime_is_trusted() -> None:
    # Singular modulo each of the first primes that seed 0 gives, and modulo popular ones; regular over ℚ.
    product = 2**31 - 1
    popular = [65521, 32003, 8388593, 2**61 - 1]
    for p in [*popular, *islice(random_primes(0), 3), *islice(random_primes(0, bits=60), 2)]:
        product *= p
    matrix = [[1, 2, 3], [4, 5, 6], [7, 8, 9 + product]]
    result = rank(matrix)
    assert result.minor is not None
    assert (result.rank, result.evidence) == (3, Evidence.PROVED)
    assert rank(matrix, "modular").rank == 3
    assert minor_mod(read_matrix(matrix).integers, next(random_primes(0))).rank == 2  # type: ignore[union-attr]


def test_modulus_that_kills_every_entry() -> None:
    p = next(random_primes(0))
    assert rank([[p]]).rank == 1
    assert rank(SparseMatrix((2, 2), {(0, 0): p, (1, 1): p**2})).rank == 2
    every = 1
    for q in islice(random_primes(0), 30):
        every *= q
    result = rank([[every, 0], [0, every]], "modular")
    assert (result.rank, result.evidence) == (2, Evidence.PROVED)


@pytest.mark.parametrize("bits", [23, 60])
@pytest.mark.parametrize("size", [1, 2**40])
def test_a_larger_rank_modulo_another_prime_is_seen(bits: int, size: int) -> None:
    p, q = next(random_primes(0)), next(random_primes(1, bits))
    A = planted(40, 30, 12) * size
    minor = minor_mod(A, p)
    assert minor.rank == 12
    assert not has_larger_rank(A, minor, q)
    for r in range(12):
        smaller = minor_mod(A[:, minor.columns[:r]], p)
        assert smaller.rank == r
        assert has_larger_rank(A, smaller, q)
        assert has_larger_rank(A.T, Minor(smaller.columns, smaller.rows, smaller.value, p), q)
    # One entry that is not a combination, and minors that are 0 modulo q.
    A[minor.rows[0], 29] += 1
    assert minor_mod(A, q if bits == 23 else p).rank == 13
    assert has_larger_rank(A, minor, q)
    first = Minor((0,), (0,), 1, p)
    assert not has_larger_rank(np.array([[q, 0], [0, 1]]), first, q)
    assert has_larger_rank(np.array([[q, 0, 0], [0, 1, 0], [0, 0, 1]]), first, q)
    assert has_larger_rank(np.array([[1, 0, 0], [0, 0, 0], [0, 0, 2]]), first, q)


def test_entries_of_a_million_bits() -> None:
    big = 2**1_000_000 + 1
    assert rank([[big, big - 1], [big + 1, big]]).rank == 2
    singular = [[big, 2 * big], [3 * big, 6 * big]]
    assert rank(singular).as_json() == {
        "schema": "agattn/rank/1", "rank": 1, "evidence": "proved", "method": "rational",
        "precision_bits": None, "lower_bound": 1, "upper_bound": 1, "gap": None,
    }  # fmt: skip
    modular = rank(singular, "modular")
    assert (modular.rank, modular.evidence) == (1, Evidence.MODULAR)
    assert 2.0**-60 < modular.error < 2.0**-30


@pytest.mark.parametrize(
    ("m", "n", "r"),
    [
        (60, 60, 30), (200, 150, 149), (150, 200, 1), (300, 300, 299),
        *(pytest.param(1000, 1000, r, marks=pytest.mark.slow) for r in (5, 750, 1000)),
    ],
)  # fmt: skip
def test_planted_rank(m: int, n: int, r: int) -> None:
    matrix = planted(m, n, r) if r < 1000 else np.random.default_rng(0).integers(-9, 10, (m, n))
    result = rank(matrix, budget=1)
    assert (result.rank, result.lower_evidence) == (r, Evidence.PROVED)
    assert result.evidence is (Evidence.MODULAR if r == 750 else Evidence.PROVED)
    assert m > 900 or rank(matrix.T, "modular").rank == r


def test_tall_and_wide_matrices() -> None:
    tall = planted(20000, 12, 7)
    tall[-1] = np.arange(12)  # the last row alone has the eighth dimension
    assert rank(tall).rank == rank(tall.T).rank == 8
    assert rank(tall).evidence is Evidence.PROVED


def test_proof_by_primes_agrees_with_the_proof_by_kernel() -> None:
    # Generic of rank r = n / 2: the kernel is so large that primes are the cheaper proof.
    A = planted(120, 120, 60)
    minor = minor_mod(A, next(random_primes(0)))
    proof = prove_upper_bound(A, minor, float("inf"))
    by_primes = prove_by_primes(A, 60, 60 * 16.0, 0)
    assert minor.rank == 60
    assert proof is not None
    assert by_primes * 22 > 60 * 16.0


def test_large_sparse_matrix_is_never_made_dense() -> None:
    # A cycle of even length has incidence rank n − 1; beside it a long diagonal and a bidiagonal chain.
    n, k = 30, 40_000
    entries: dict[tuple[int, int], int] = {}
    for i in range(n):
        entries[i, i], entries[i, (i + 1) % n] = 1, -1
    for i in range(n, k):
        entries[i, i] = i
        if i + 1 < k:
            entries[i, i + 1] = 1
    result = rank(SparseMatrix((k + 5, k + 9), entries))
    assert (result.rank, result.evidence) == (k - 1, Evidence.PROVED)
    assert sum(len(block.rows) for block in result.blocks) == n


def boundary(points: int, size: int) -> SparseMatrix:
    """The boundary map of a full simplex, from the faces with so many points to those with one less."""
    place = {face: i for i, face in enumerate(combinations(range(points), size - 1))}
    entries = {}
    for j, face in enumerate(combinations(range(points), size)):
        for k in range(size):
            entries[place[face[:k] + face[k + 1 :]], j] = (-1) ** k
    return SparseMatrix((comb(points, size - 1), comb(points, size)), entries)


@pytest.mark.parametrize("turned", [False, True])
def test_boundary_maps_stay_sparse(turned: bool) -> None:
    matrix = boundary(18, 5)
    matrix = matrix.transpose() if turned else matrix
    start = process_time()
    result = rank(matrix)
    assert process_time() - start < 10  # about a second; dense it took 37, and a gigabyte
    assert (result.rank, result.evidence) == (comb(17, 4), Evidence.PROVED)
    [kernel] = result.kernels
    assert kernel.side == ("right" if turned else "left") and len(kernel) == comb(18, 4) - comb(17, 4)
    minor = result.minor
    assert isinstance(minor, Minor) and minor.rank == comb(17, 4)
    # Each vector times the matrix, and a place where it alone is not 0.
    vectors, seen = [{i: x for i, x in enumerate(v) if x} for v in kernel.vectors()], Counter[int]()
    lines: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for (i, j), x in matrix.entries.items():
        line, other = (j, i) if turned else (i, j)
        lines[line].append((other, x))
    for vector in vectors:
        product = Counter[int]()
        for line, x in vector.items():
            for other, y in lines[line]:
                product[other] += int(x) * y
        assert vector and not any(product.values())
        seen.update(vector)
    assert all(any(seen[line] == 1 for line in vector) for vector in vectors)


@pytest.mark.slow
def test_a_boundary_map_that_was_too_large_when_dense() -> None:
    result = rank(boundary(22, 5))
    assert result.shape == (7315, 26334)
    assert (result.rank, result.evidence, len(result.kernels)) == (5985, Evidence.PROVED, 1)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 12), st.integers(1, 12), st.integers(0, 8), st.integers(0, 10**6),
    st.sampled_from([1, 9, 2**70]), st.sampled_from([1, 12]), st.sampled_from([0.2, 0.5]), st.booleans(),
)  # fmt: skip
def test_blocks_that_stay_sparse_have_the_same_proofs(
    m: int, n: int, r: int, seed: int, size: int, denominator: int, density: float, dense_rest: bool
) -> None:
    """All of a sparse matrix by sparse elimination, with a dense rest or without."""
    rows, places = low_rank(m, n, r, seed, size, denominator, density)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agattn.algebra.matrices.SMALL_BLOCK", 0)
        patch.setattr("agattn.algebra.matrices.SPARSE_BELOW", 2)
        if dense_rest:
            patch.setattr("agattn.algebra.exact_rank.SMALL_REST", 0)
            patch.setattr("agattn.algebra.exact_rank.DENSE_REST", 0)
            patch.setattr("agattn.algebra.exact_rank.MOST_STEPS", 0)
        for method in ("rational", "modular"):
            result = rank(SparseMatrix((m, n), places), method, seed=seed % 5)
            assert result.rank == fmpq_mat(rows).rank()
            check_certificate(rows, result)
        assert rank(SparseMatrix((m, n), places), "rational").evidence is Evidence.PROVED


def test_vectors_that_are_no_small_numbers_leave_the_proof_to_primes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agattn.algebra.matrices.SMALL_BLOCK", 0)
    monkeypatch.setattr("agattn.algebra.matrices.SPARSE_BELOW", 2)
    big = {(i, j): (i + 1) * 7 ** (40 * j) + j for i in range(4) for j in range(4)}
    for j in range(4):
        big[3, j] = sum((2**80 + i) * big[i, j] for i in range(3))
    result = rank(SparseMatrix((4, 4), big), "rational")
    known = flint.fmpz_mat([[big[i, j] for j in range(4)] for i in range(4)])
    assert (result.rank, result.evidence) == (known.rank(), Evidence.PROVED)
    assert "primes whose product exceeds Hadamard's bound" in result.reason and result.kernels == ()
    assert rank(SparseMatrix((4, 4), big), budget=0).evidence is Evidence.MODULAR


def test_a_dense_rest_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SMALL_REST", 0), ("DENSE_REST", 0), ("LARGEST_BLOCK", 3)):
        monkeypatch.setattr(f"agattn.algebra.exact_rank.{name}", value)
    matrix = SparseMatrix((3, 3), {(i, j): i + 2 * j + 1 for i in range(3) for j in range(3)})
    found = SparseElimination(matrix, 8388593, most=0)
    with pytest.raises(TooLargeError, match="after 1 pivots 2 x 2 entries of the sparse matrix are left"):
        found.minor()


def test_budget_turns_a_proof_into_modular_evidence() -> None:
    matrix = planted(60, 60, 30)
    cheap = rank(matrix, budget=0)
    assert (cheap.rank, cheap.evidence, cheap.method) == (30, Evidence.MODULAR, "modular")
    assert 0 < cheap.error < 2.0**-40
    assert rank(matrix, "rational", budget=0).evidence is Evidence.PROVED


def test_the_same_seed_gives_the_same_answer() -> None:
    first, second = rank(planted(40, 40, 20), seed=3), rank(planted(40, 40, 20), seed=3)
    assert first.minor == second.minor
    assert first.minor != rank(planted(40, 40, 20), seed=4).minor


# --- shapes and kinds of entries ---


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ([], 0), ([[]], 0), (np.zeros((0, 5)), 0), (np.zeros((4, 0)), 0), ([[0]], 0), ([[0.0]], 0),
        (np.zeros((3, 4)), 0), ([[0, 0, 7]], 1), ([[0], [0], ["1/3"]], 1), (np.ones((3, 3), dtype=bool), 1),
        (np.array([[2**64 - 1, 1], [1, 1]], dtype=np.uint64), 2), (np.array([[1.0, 2.0], [2.0, 4.0]]), 1),
        (sympy.Matrix([[sympy.Rational(1, 2), 1], [1, 2]]), 1), (mpmath.matrix([[1, 2], [2, 4]]), 1),
        (flint.fmpq_mat([[flint.fmpq(1, 2), 1], [1, 2]]), 1), ([[Decimal("0.5"), 1], [1, 2]], 1),
        (np.array([[Fraction(1, 2), 1], [1, 2]], dtype=object), 1), ([[np.float32(0.5), 1], [1, 2]], 1),
        (flint.arb_mat([[1, 2], [2, 4]]), 1), ([["1e400", 0], [0, "1e-400"]], 2),
    ],
)  # fmt: skip
def test_kinds_of_matrices(matrix: Any, expected: int) -> None:
    assert rank(matrix).rank == expected
    # Where 2600 bits lie between two singular values, singular values cannot tell at 4096 bits.
    assert rank(matrix, "mpmath").rank in (expected, None if expected == 2 else expected)


# --- in balls ---


def test_radius_decides_what_is_known() -> None:
    nearly = [["1", "1"], ["1", "1.000001"]]
    assert rank(nearly, "rational").rank == 2
    assert rank(nearly).as_json()["evidence"] == "proved"
    for radius in ("1e-5", 1e-5, Fraction(1, 10**5)):
        blurred = rank(nearly, radius=radius)
        assert (blurred.lower_bound, blurred.upper_bound) == (1, 2)
        assert blurred.precision_bits < 512  # more precision will not help
    assert rank([[flint.arb("1 +/- 0.1"), 1], [1, flint.arb("1.5 +/- 0.1")]]).rank == 2


def test_long_decimals_are_rounded_and_short_ones_exact() -> None:
    with mpmath.workdps(40):
        root = mpmath.nstr(mpmath.sqrt(2), 30)
    result = rank([[root, 2], [1, root]])
    assert (result.rank, result.evidence) == (1, Evidence.NUMERICAL)
    assert result.gap is not None and result.gap > 80
    assert rank([[root, 2], [1, root]], radius=0).rank == 2
    assert rank([["1.4142", 2], [1, "1.4142"]]).rank == 2


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 8), st.integers(0, 10**6))
def test_floats_of_low_rank(m: int, n: int, r: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    r = min(r, m, n)
    # Quarters, so that products of them are exact and a third afterwards is not.
    matrix = generator.integers(-40, 40, (m, r)) / 4 @ (generator.integers(-40, 40, (r, n)) / 4) / 3
    truth = fmpq_mat([[Fraction(round(x * 48), 48) for x in row] for row in matrix.tolist()]).rank()
    result = rank(matrix)
    assert result.lower_bound <= truth
    assert result.rank in (truth, None)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 7), st.integers(0, 10**6), st.integers(1, 40))
@example(7, 8111, 1)  # a block that is not singular, and for which FLINT cannot solve
def test_lower_bound_holds_for_every_matrix_in_the_balls(n: int, seed: int, bits: int) -> None:
    # Hide a singular matrix inside the balls: the proved bound must not exceed its rank.
    generator = random.Random(seed)
    r = generator.randint(0, n)
    left = [[generator.randint(-9, 9) for _ in range(r)] for _ in range(n)]
    right = [[generator.randint(-9, 9) for _ in range(n)] for _ in range(r)]
    hidden = [[sum(left[i][k] * right[k][j] for k in range(r)) for j in range(n)] for i in range(n)]
    radius = Fraction(1, 2**bits)
    shown = [[Fraction(x) + radius * Fraction(generator.randint(-8, 8), 8) for x in row] for row in hidden]
    balls = [[flint.arb(float(x), float(radius) * 1.01) for x in row] for row in shown]
    assert rank(balls).lower_bound <= fmpq_mat(hidden).rank()


@pytest.mark.parametrize("border", [1, 3, 10])
def test_small_radii_that_add_up_are_not_overlooked(border: int) -> None:
    """The identity bordered by b, with b²(n−1) + δ in the corner, has determinant δ.

    Moving every entry by the radius r the right way changes it by r(1 + (n−1)b)², to first order: much more
    than r. A matrix with δ below that is regular, and no float sees that its balls hold a singular one.
    """
    n, r = 12, Fraction(1, 2**30)  # coarse enough for floats to take δ for a pivot
    reach = (1 + (n - 1) * border) ** 2
    outcomes = set()
    for k in range(1, 2 * reach, max(1, reach // 20)):
        A = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
        for i in range(n - 1):
            A[i][n - 1] = A[n - 1][i] = Fraction(border)
        A[n - 1][n - 1] = border**2 * (n - 1) + k * r
        radius = r * Fraction(1001, 1000)
        with flint.ctx.workprec(200):
            spread = flint.arb(flint.fmpq(radius.numerator, radius.denominator)) * flint.arb(0, 1)
            balls = [[flint.arb(flint.fmpq(x.numerator, x.denominator)) + spread for x in row] for row in A]
        result = rank(balls)
        outcomes.add(result.lower_bound)
        if k < reach:
            assert result.lower_bound == n - 1
    # Far enough away the determinant is seen to differ from zero.
    assert outcomes == {n - 1, n}


def test_a_function_of_the_precision_is_asked_again() -> None:
    asked = []

    def matrix(bits: int) -> Any:
        asked.append(bits)
        before, flint.ctx.prec = flint.ctx.prec, bits
        try:
            tiny = (flint.arb(2).sqrt() * flint.arb(3).sqrt() - flint.arb(6).sqrt()) + flint.arb(2) ** -300
            return flint.arb_mat([[1, 1], [1, 1 + tiny]])
        finally:
            flint.ctx.prec = before

    result = rank(matrix, precision=512)
    assert (result.rank, result.evidence, result.precision_bits) == (2, Evidence.PROVED, 512)
    assert asked == [64, 512]
    # Started too low, the entry looks like zero at two precisions in a row: hence the word numerical.
    assert rank(matrix, precision=64).evidence is Evidence.NUMERICAL


def test_zero_matrix_of_exact_balls_is_proved() -> None:
    result = rank([[0, 0]], "ball")
    assert (result.rank, result.evidence) == (0, Evidence.PROVED)


def test_an_upper_bound_from_elsewhere() -> None:
    root = flint.arb(2).sqrt()
    matrix = [[root, 2], [1, root]]
    assert rank(matrix).evidence is Evidence.NUMERICAL
    known = rank(matrix, upper_bound=1, reason="the first row is the second times the root of 2")
    assert (known.rank, known.evidence) == (1, Evidence.PROVED)
    assert "root of 2" in known.reason
    with pytest.raises(DisagreementError, match="above the bound 0"):
        rank(matrix, upper_bound=0, reason="wrong")


# --- the proof in balls ---


def arb_mat(array: Any) -> Any:
    return flint.arb_mat(*array.shape, array.astype(float).ravel().tolist())


def test_nonsingular() -> None:
    generator = np.random.default_rng(0)
    matrix = generator.standard_normal((30, 30))
    assert is_nonsingular(arb_mat(matrix))
    # exactly singular: integer entries, the last row the sum of the others
    integers = generator.integers(-9, 10, (12, 12))
    integers[-1] = integers[:-1].sum(axis=0)
    assert not is_nonsingular(arb_mat(integers))
    wide = flint.arb_mat([[flint.arb(1, 0.5), flint.arb(1)], [flint.arb(1), flint.arb(1, 0.5)]])
    assert not is_nonsingular(wide)  # contains the singular matrix of ones


def test_nonsingular_needs_precision() -> None:
    tiny = flint.arb(2) ** -200
    matrix = flint.arb_mat([[1, 1], [1, 1]])
    with flint.ctx.workprec(300):
        matrix[1, 1] = flint.arb(1) + tiny
        assert is_nonsingular(matrix)
    with flint.ctx.workprec(64):
        assert not is_nonsingular(flint.arb_mat(2, 2, [+x for x in matrix.entries()]))


def test_pivots_find_a_nonsingular_submatrix() -> None:
    generator = np.random.default_rng(1)
    matrix = generator.standard_normal((9, 4)) @ generator.standard_normal((4, 7)) * 1e6
    rows, columns, sizes = pivots(matrix, 1e-4)
    assert len(sizes) == 4
    assert np.linalg.matrix_rank(matrix[np.ix_(rows[:4], columns[:4])]) == 4


def test_what_only_high_precision_knows_is_ranked_by_singular_values() -> None:
    def matrix(bits: int) -> Any:
        with mpmath.workprec(bits):
            return mpmath.matrix([[1, mpmath.sqrt(2)], [mpmath.sqrt(2), 2]])

    result = rank(matrix)
    assert (result.rank, result.method, result.evidence) == (1, "mpmath", Evidence.NUMERICAL)
    with pytest.raises(InputError, match="radius"):
        rank(matrix, "ball")


# --- random rows ---


def real_rows(matrix: Any, upper_bound: int) -> RandomRows:
    """Random combinations of the rows of an integer matrix with columns scaled by 2^(−20), 2^(−40), ..."""
    m, n = matrix.shape

    def real(count: int, generator: Any) -> Any:
        rows = generator.integers(-9, 10, (count, m)) @ matrix
        powers = [flint.arb(2) ** (-20 * j) for j in range(n)]

        def balls(chosen: Any) -> Any:
            exact = [
                [flint.arb(int(x)) * f for x, f in zip(row, powers, strict=True)] for row in rows[chosen]
            ]
            return np.array(exact, dtype=object).reshape(-1, n)

        return rows * 2.0 ** (-20 * np.arange(n)), balls

    return RandomRows("the example", upper_bound, "as constructed", real=real)


def test_random_rows_climb_to_balls_where_floats_see_too_little() -> None:
    # Columns are scaled, but rows that differ by 2^(−60) look the same to floats.
    matrix = np.eye(4, dtype=int)
    assert rank(real_rows(matrix, 4)).evidence is Evidence.PROVED
    close = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    below = rank(real_rows(close, 3))
    assert (below.rank, below.lower_evidence, below.evidence) == (2, Evidence.PROVED, Evidence.NUMERICAL)

    def nearly(count: int, generator: Any, columns: int = 2) -> Any:
        numbers = generator.integers(1, 10, (count, columns))

        def balls(chosen: Any) -> Any:
            tiny = flint.arb(2) ** -70
            rows = [[a + 0 * tiny, *(a + b * tiny for b in more)] for a, *more in numbers[chosen].tolist()]
            return np.array(rows, dtype=object)

        return np.repeat(numbers[:, :1], columns, axis=1).astype(float), balls

    hidden = rank(RandomRows("the example", 2, "two columns", real=nearly))
    assert (hidden.rank, hidden.evidence) == (2, Evidence.PROVED)
    assert hidden.minor is not None
    with pytest.raises(DisagreementError, match="at least 3, above the bound 2: wrong"):
        rank(RandomRows("the example", 2, "wrong", real=partial(nearly, columns=3)))


def test_random_rows_modulo_primes() -> None:
    def modulo(p: int, generator: Any) -> Any:
        basis = random_residues(generator, (3, 7), p)
        return 7, lambda n: matmul(random_residues(generator, (n, 3), p), basis, p)

    met = rank(RandomRows("the example", 3, "three rows", modulo=modulo, degree=2))
    assert (met.rank, met.evidence, met.reason, len(met.points)) == (3, Evidence.PROVED, "three rows", 1)
    rows = RandomRows("the example", 5, "a guess", modulo=modulo, degree=2, size=lambda: 3.0)
    open_ = rank(rows, points=2)
    assert rank(replace(rows, size=lambda: inf), points=2).error == 1  # any prime may divide a minor
    assert (open_.rank, open_.lower_evidence, open_.evidence) == (3, Evidence.PROVED, Evidence.MODULAR)
    assert len(open_.points) == 2 and 0 < open_.error < 1e-12
    with limited(workers=3):
        assert rank(rows, points=4).points[:2] == open_.points
    assert all(point.rows >= 13 for point in open_.points)
    with pytest.raises(DisagreementError, match=r"the example has rank 3 modulo .* above the proved bound 2"):
        rank(RandomRows("the example", 2, "wrong", modulo=modulo))


def test_some_columns_are_tried_first_and_all_columns_decide() -> None:
    """With far more columns than the bound, some decide if they meet the bound; else all columns do."""
    asked: list[int] = []

    def zeros_but_for(nonzero: int) -> Any:
        def modulo(p: int, generator: Any) -> Any:
            basis = np.zeros((10, 1000), dtype=np.int64)
            basis[:, :nonzero] = random_residues(generator, (10, nonzero), p)

            def draw(n: int) -> Any:
                asked.append(n)
                return matmul(random_residues(generator, (n, 10), p), basis, p)

            return 1000, draw

        return modulo

    drawn = {}
    for nonzero in (1000, 10):
        asked.clear()
        found = rank(RandomRows("the example", 10, "ten rows", modulo=zeros_but_for(nonzero), degree=2))
        assert (found.rank, found.evidence, found.shape[1]) == (10, Evidence.PROVED, 1000)
        drawn[nonzero] = sum(asked)
    assert drawn[10] > drawn[1000]
    for nonzero in (1000, 12):
        with pytest.raises(DisagreementError, match=r"has rank 10 modulo .* above the proved bound 9"):
            rank(RandomRows("the example", 9, "wrong", modulo=zeros_but_for(nonzero), degree=2))


# --- singular values ---


def test_mpmath_finds_the_gap() -> None:
    with mpmath.workprec(300):
        left = mpmath.matrix([[mpmath.sqrt(i + k + 2) for k in range(3)] for i in range(7)])
        product = left * left.T
        result = rank(product, "mpmath", precision=200)
    assert (result.rank, result.evidence, result.method) == (3, Evidence.NUMERICAL, "mpmath")
    assert result.gap is not None and result.gap > 100
    assert result.minor is None


def test_two_ways_to_singular_values_agree_to_the_last_bits() -> None:
    """By two diagonals, and by mpmath alone: columns of many orders, low ranks, equal values, zeros."""
    draw = np.random.default_rng(1)
    with mpmath.workprec(300):
        graded = [[mpmath.ldexp(x, -40 * (j % 4)) for j, x in enumerate(row)]
                  for row in draw.standard_normal((12, 9)).tolist()]  # fmt: skip
        low = (draw.integers(-5, 6, (12, 3)) @ draw.integers(-5, 6, (3, 9))).tolist()
        signs = [[(-1) ** (i & j).bit_count() for j in range(8)] for i in range(8)]  # 8 equal values
        blocks = np.kron(np.eye(3, dtype=int), [[1, 2, 0], [0, 1, 2], [0, 0, 1]]).tolist()  # three times each
        sparse = [[0, 0, 1], [0, 0, 0], [0, 2, 0], [0, 0, 0]]
        for matrix in (graded, low, signs, blocks, sparse, [[0, 0], [0, 0]]):
            balls = flint.arb_mat([list(map(flint.arb, row)) for row in matrix])
            values = [mpmath.mpf(tuple(map(int, x.man_exp()))) for x in spectrum.singular_values(balls, 300)]
            known = sorted(map(abs, mpmath.svd_r(mpmath.matrix(matrix), compute_uv=False)), reverse=True)
            assert len(values) == len(known)
            assert all(abs(x - y) <= mpmath.ldexp(known[0], -290) for x, y in zip(values, known, strict=True))


def test_the_widest_gap_of_singular_values_is_at_the_rank() -> None:
    matrix = flint.arb_mat(planted(12, 10, 6).tolist()) / 3
    assert spectrum.widest_gap(spectrum.singular_values(matrix, 100), 50)[0] == 6


# --- Jacobians of softmax attention ---


def test_whole_numbers_are_exact_only_within_the_precision_of_their_type() -> None:
    close = [[2**24 + 1, 2**24], [1, 1]]
    assert rank(np.array(close)).evidence is Evidence.PROVED and rank(np.array(close)).rank == 2
    rounded = rank(np.array(close, dtype=np.float32))
    assert (rounded.rank, rounded.evidence) != (1, Evidence.PROVED)
    assert rank(np.array([[2**24 - 1.0, 1], [1, 1]], dtype=np.float32)).evidence is Evidence.PROVED


def test_entries_given_twice_are_added_exactly() -> None:
    rows, columns = [0, 0, 0, 0, 1], [0, 0, 0, 0, 1]
    A = from_triples((2, 2), rows, columns, np.array([2**62] * 4 + [1]))
    assert rank(A).rank == 2 and A.entries[0, 0] == 2**64
    with pytest.raises(InputError, match=r"entry \(1, 1\) is given twice, in floating point"):
        from_triples((2, 2), rows, columns, np.array([0.1] * 5))


def test_mpmath_claims_nothing_about_balls_around_zero() -> None:
    result = rank([[flint.arb(0, 1)]], method="mpmath")
    assert (result.lower_bound, result.upper_bound) == (0, 1)
