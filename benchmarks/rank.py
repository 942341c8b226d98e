"""Ranks: ours against numpy, mpmath, sympy and bare FLINT on the same matrices, in one run.

    python benchmarks/rank.py            about a minute
    python benchmarks/rank.py --large    adds 5000 x 5000 mod p; several minutes and 2 GB
    python benchmarks/rank.py --shares 1000 4000    ranks modulo p as shares of numpy's dot, alone

Every contender starts from the same Python or numpy object, and its own conversion is part of its time. All
run on one thread; times are processor time. A column says whether the rank is right: it is known from how the
matrix was made. What is still running after 20 seconds is stopped, and its time is a lower bound.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import signal
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import comb
from typing import Any

import flint
import mpmath
import numpy as np
import sympy
from sympy.polys.matrices import DomainMatrix

from agattn.algebra.balls import arb_matrix, elimination
from agattn.algebra.exact_rank import minor_mod
from agattn.algebra.matrices import SparseMatrix
from agattn.algebra.rank import rank
from agattn.algebra.residues import random_primes
from agattn.algebra.spectrum import singular_values

BITS = 200
LIMIT = 20


def hilbert(n: int) -> list[list[Fraction]]:
    return [[Fraction(1, i + j + 1) for j in range(n)] for i in range(n)]


def vandermonde(n: int) -> list[list[Fraction]]:
    """With the last row equal to the first."""
    return [[Fraction(x) ** k for k in range(n)] for x in [*range(1, n), 1]]


def planted(n: int, r: int, seed: int = 0) -> Any:
    generator = np.random.default_rng(seed)
    left, right = generator.integers(-9, 10, (n, r)), generator.integers(-9, 10, (r, n))
    return (left.astype(float) @ right.astype(float)).astype(np.int64)


def boundary(points: int, size: int) -> SparseMatrix:
    """The boundary map of a full simplex, from the faces with so many points to those with one less."""
    place = {face: i for i, face in enumerate(combinations(range(points), size - 1))}
    entries = {}
    for j, face in enumerate(combinations(range(points), size)):
        for k in range(size):
            entries[place[face[:k] + face[k + 1 :]], j] = (-1) ** k
    return SparseMatrix((comb(points, size - 1), comb(points, size)), entries)


def fractions(matrix: Any) -> list[list[Fraction]]:
    return [
        [Fraction(x) for x in row] for row in (matrix.tolist() if isinstance(matrix, np.ndarray) else matrix)
    ]


def by_numpy(matrix: Any) -> int:
    return int(np.linalg.matrix_rank(np.array(matrix, dtype=float)))


def by_mpmath(matrix: Any) -> int:
    with mpmath.workprec(BITS):
        A = mpmath.matrix(
            [[mpmath.mpf(x.numerator) / x.denominator for x in row] for row in fractions(matrix)]
        )
        values = mpmath.svd_r(A, compute_uv=False)
        return sum(1 for s in values if s > max(values) * mpmath.mpf(2) ** (-BITS + 20))


def by_sympy(matrix: Any) -> int:
    rows = [[sympy.Rational(x.numerator, x.denominator) for x in row] for row in fractions(matrix)]
    return int(sympy.Matrix(rows).rank())


def by_sympy_domain(matrix: Any) -> int:
    rows = [[sympy.QQ(x.numerator, x.denominator) for x in row] for row in fractions(matrix)]
    return int(DomainMatrix(rows, (len(rows), len(rows[0])), sympy.QQ).rank())


def by_flint(matrix: Any) -> int:
    rows = [[flint.fmpq(x.numerator, x.denominator) for x in row] for row in fractions(matrix)]
    return int(flint.fmpq_mat(rows).rank())


def by_flint_mod(matrix: Any) -> int:
    p = next(random_primes(0, bits=60))
    m, n = matrix.shape
    return int(flint.nmod_mat(m, n, (matrix % p).ravel().tolist(), p).rank())


class StillRunningError(Exception):
    pass


def measured(work: Callable[[], Any], limit: int = LIMIT, least: float = 0.2) -> tuple[Any, float]:
    """The best time of as many runs as fit into ``least`` seconds; one for slow work."""
    best, spent = float("inf"), 0.0
    while spent < least:
        start = time.process_time()

        def stop(*_: object, start: float = start) -> None:
            if time.process_time() - start > limit:
                raise StillRunningError

        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 1, 1)  # a clock of processor time would coarsen the others
        try:
            answer = work()
        except StillRunningError:
            return f"> {limit} s", float(limit)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        seconds = time.process_time() - start
        best, spent = min(best, seconds), spent + seconds
    return answer, best


def row(matrix: str, contender: str, answer: Any, truth: int, seconds: float, ours: float) -> None:
    verdict = "" if isinstance(answer, str) else "right" if answer == truth else "wrong"
    print(f"{matrix:32} {contender:33} {answer!s:>6} {verdict:6} {seconds:11.4f} s {seconds / ours:9.2f}")


def compare(
    name: str,
    matrix: Any,
    truth: int,
    contenders: dict[str, Callable[[Any], int]],
    limit: int = LIMIT,
    **options: Any,
) -> None:
    result, ours = measured(lambda: rank(matrix, **options), limit)
    row(name, f"agattn {result.method} ({result.evidence})", result.rank, truth, ours, ours)
    for contender, work in contenders.items():
        answer, seconds = measured(lambda work=work: work(matrix), limit)
        row(name, contender, answer, truth, seconds, ours)


def compare_balls(name: str, matrix: Any, truth: int) -> None:
    """One elimination in balls against singular values, at 200 bits and from the same rational entries."""
    entries = [[flint.fmpq(x.numerator, x.denominator) for x in line] for line in fractions(matrix)]
    found, ours = measured(lambda: elimination(arb_matrix(entries, BITS), BITS))
    row(name, f"agattn balls, {BITS} bits", found.rank, truth, ours, ours)
    values, seconds = measured(lambda: singular_values(arb_matrix(entries, BITS), BITS))
    answer = sum(1 for s in values if s > values[0] * flint.arb(2) ** (20 - BITS))
    row(name, f"agattn singular values, {BITS} bits", answer, truth, seconds, ours)
    answer, seconds = measured(lambda: by_mpmath(matrix))
    row(name, f"mpmath SVD, {BITS} bits", answer, truth, seconds, ours)


def shares(sizes: list[int]) -> None:
    """The speed of ranks modulo one prime as a share of that of numpy's dot, at 2n³/3 operations."""
    p = next(random_primes(0))
    print(f"{'matrix':32} {'2n³/3 by dot':>13} {'one prime':>11} {'share':>6} {'rank':>11}")
    for n in sizes:
        square = np.random.default_rng(0).random((n, n))
        _, dot = measured(partial(np.dot, square, square), 600)
        full = np.random.default_rng(1).integers(-99, 100, (n, n))
        for name, matrix in (("random", full), (f"planted rank {3 * n // 4}", planted(n, 3 * n // 4))):
            _, once = measured(partial(minor_mod, matrix, p), 600)
            _, whole = measured(partial(rank, matrix, method="modular"), 600)
            name = f"{name}, {n} x {n}"
            print(
                f"{name:32} {dot / 3:11.4f} s {once:9.4f} s {dot / 3 / once:6.2f} {whole:9.4f} s", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="add 5000 x 5000 matrices")
    parser.add_argument("--shares", type=int, nargs="+", metavar="N", help="shares of numpy's dot alone")
    arguments = parser.parse_args()
    rank([[1, 2], [2, 4]])  # imports and first calls are nobody's time
    if arguments.shares:
        shares(arguments.shares)
        return
    print(f"{'matrix':32} {'by':33} {'rank':>6} {'':6} {'time':>13} {'of ours':>9}")
    exact = {
        "numpy SVD, float64": by_numpy, f"mpmath SVD, {BITS} bits": by_mpmath,
        "sympy Matrix.rank": by_sympy, "sympy DomainMatrix.rank": by_sympy_domain,
        "FLINT fmpq_mat.rank": by_flint,
    }  # fmt: skip
    compare("Hilbert 60", hilbert(60), 60, exact)
    compare("Vandermonde 60, a row twice", vandermonde(60), 59, exact)
    compare("planted rank 30, 60 x 60", planted(60, 30), 30, exact)
    random_real = [
        [Fraction(x) for x in line] for line in np.random.default_rng(0).standard_normal((60, 60)).tolist()
    ]
    compare_balls("Gaussian 60", random_real, 60)
    compare_balls(
        "planted rank 30, 60 x 60, / 3", [[x / 3 for x in line] for line in fractions(planted(60, 30))], 30
    )
    modular = {"numpy SVD, float64": by_numpy, "FLINT nmod_mat.rank, 60 bits": by_flint_mod}
    for n in [500, 1000, 2000]:
        full = np.random.default_rng(1).integers(-99, 100, (n, n))
        compare(f"random, {n} x {n}", full, n, modular, method="modular")
        compare(
            f"planted rank {3 * n // 4}, {n} x {n}",
            planted(n, 3 * n // 4),
            3 * n // 4,
            modular,
            method="modular",
        )
    for points in (18, 22):
        sparse, truth = boundary(points, 5), comb(points - 1, 4)
        compare(f"boundary map, {sparse.shape[0]} x {sparse.shape[1]}", sparse, truth, {})
    if arguments.large:
        only = {"FLINT nmod_mat.rank, 60 bits": by_flint_mod}
        full = np.random.default_rng(1).integers(-99, 100, (5000, 5000))
        compare("random, 5000 x 5000", full, 5000, only, limit=600, method="modular")
        compare(
            "planted rank 4000, 5000 x 5000", planted(5000, 4000), 4000, only, limit=600, method="modular"
        )


if __name__ == "__main__":
    main()
