r"""Proofs that the rank of an integer matrix is at most r, given rows I and columns J of a nonzero minor.

Two proofs are known here, and the cheaper one is chosen from an estimate of both.

**A kernel.** Solve :math:`A_{IJ} X = A_{IJ'}` for the other columns J' over ℚ by p-adic lifting, and check
:math:`A_{\cdot J} X = A_{\cdot J'}` on *all* rows by one exact product: every column is a combination of r
columns. The time grows with the size of the solution, which is small for matrices with structure. Rows and
columns are exchanged where that leaves fewer vectors to find.

**Enough primes.** If the rank is r modulo each of several primes, every minor of size r + 1 is divisible by
their product. Once that exceeds Hadamard's bound for such minors they all vanish, and no kernel need be
written down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import flint
import numpy as np

from agattn.algebra.integers import as_fmpz_mat, hadamard_bits, shape, submatrix
from agattn.algebra.modular import Minor, nonzero_minor, random_primes, residues


@dataclass(frozen=True, eq=False)
class Kernel:
    """Independent integer vectors that the matrix annihilates, checked by exact multiplication.

    The j-th vector has the entries ``combination[i, j]`` at the positions ``pivots[i]``,
    ``−denominators[j]`` at ``free[j]``, and 0 elsewhere; so they are independent, by the entries at ``free``.

    Attributes:
        side: ``"right"`` for vectors v with A v = 0, ``"left"`` for v A = 0.
        length: the length of each vector.
        pivots: positions of the r pivots.
        free: one position for each vector.
        combination: an ``fmpz_mat`` of shape (r, number of vectors).
        denominators: positive integers (``fmpz``), one for each vector.
    """

    side: str
    length: int
    pivots: tuple[int, ...]
    free: tuple[int, ...]
    combination: Any
    denominators: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.free)

    def vectors(self) -> Iterator[list[Any]]:
        """The vectors one by one, as lists of ``fmpz``."""
        for j, (free, denominator) in enumerate(zip(self.free, self.denominators, strict=True)):
            vector = [flint.fmpz(0)] * self.length
            for i, pivot in enumerate(self.pivots):
                vector[pivot] = self.combination[i, j]
            vector[free] = -denominator
            yield vector

    def matrix(self) -> Any:
        """The vectors as the columns of an ``fmpz_mat`` of shape (length, number of vectors)."""
        rows = list(self.vectors())
        return flint.fmpz_mat(len(rows), self.length, [x for row in rows for x in row]).transpose()


@dataclass(frozen=True)
class EnoughPrimes:
    """The proof by primes: rank r modulo ``count`` primes whose product has more than ``bound_bits`` bits."""

    rank: int
    count: int
    bound_bits: float


class RankGrewError(Exception):
    """Raised inside this floor when a larger nonzero minor turns up; carries it."""

    def __init__(self, minor: Minor | None) -> None:
        super().__init__("the rank is larger than the minor")
        self.minor = minor


def prove_upper_bound(A: Any, minor: Minor, seed: int, budget: float) -> Kernel | EnoughPrimes | None:
    """Prove that the rank of the integer matrix A is at most ``minor.rank``.

    Args:
        A: an ``int64`` array or ``fmpz_mat``.
        minor: a nonzero minor, smaller than A.
        seed: seed of the random primes.
        budget: estimated seconds that may be spent; ``None`` is returned if neither proof fits.

    Raises:
        RankGrewError: if the rank is larger than that, with a larger minor where one is known.
    """
    m, n = shape(A)
    r = minor.rank
    bits = hadamard_bits(A, r + 1)
    by_primes = _seconds_by_primes(m, n, r, bits)
    side = "right" if n - r <= m - r else "left"
    vectors = min(m, n) - r if r else 0
    if r and 3e-9 * r * r * (bits / 30 + r) > min(by_primes, budget):
        by_kernel = float("inf")  # even one column of the solution would take longer
    else:
        # One dependent column tells how large the others will be.
        probe = _solve(A, minor, side, 1) if r else None
        height = _bits(probe[1]) if probe else 0
        size = max(m, n)
        by_kernel = (
            vectors * r * (3e-9 * r * height / 30 + 3e-10 * size * (height / 64 + 1)) + 1e-6 * r * vectors
        )
    if min(by_kernel, by_primes) > budget:
        return None
    return prove_by_kernel(A, minor, side) if by_kernel <= by_primes else _by_primes(A, r, bits, seed)


def prove_by_kernel(A: Any, minor: Minor, side: str = "right") -> Kernel:
    """Find and check a basis of the right or left kernel of A, given a nonzero minor of maximal size.

    >>> A = np.array([[1, 2, 3], [2, 4, 6]])
    >>> kernel = prove_by_kernel(A, nonzero_minor(residues(A, 8388593), 8388593))
    >>> [list(map(int, v)) for v in kernel.vectors()]
    [[2, -1, 0], [3, 0, -1]]

    Raises:
        RankGrewError: if the minor was not of maximal size.
    """
    if side == "left":
        A, minor = _transpose(A, minor)
    m, n = shape(A)
    free = _complement(minor.columns, n)
    N, d = _solve(A, minor, "right", len(free))
    rows = range(m)
    if submatrix(A, rows, minor.columns) * N != submatrix(A, rows, free) * d:
        raise RankGrewError(None)
    # Clear the common factors of each vector.
    r, k = minor.rank, len(free)
    entries = N.entries()
    denominators = []
    for j in range(k):
        column = entries[j::k]
        common = d
        for x in column:
            if common == 1:
                break
            common = common.gcd(x)
        if common < 0:
            common = -common
        if d < 0:
            common = -common
        denominators.append(d // common)
        if common != 1:
            entries[j::k] = [x // common for x in column]
    return Kernel(side, n, minor.columns, tuple(free), flint.fmpz_mat(r, k, entries), tuple(denominators))


def _by_primes(A: Any, r: int, bits: float, seed: int) -> EnoughPrimes:
    gathered, count = 0.0, 0
    for p in random_primes(seed + 1):
        if gathered > bits:
            return EnoughPrimes(r, count, bits)
        minor = nonzero_minor(residues(A, p), p)
        if minor.rank > r:
            raise RankGrewError(minor)
        # Every prime has at least 22 bits below its leading one.
        gathered, count = gathered + 22, count + 1
    raise AssertionError("there are always more primes to try")


def _solve(A: Any, minor: Minor, side: str, count: int) -> tuple[Any, Any]:
    """(N, d) with A_IJ N = d A_IJ' for the first ``count`` columns of J', over ℤ."""
    if side == "left":
        A, minor = _transpose(A, minor)
    free = _complement(minor.columns, shape(A)[1])[:count]
    if not minor.rank:
        return flint.fmpz_mat(0, len(free)), flint.fmpz(1)
    square = submatrix(A, minor.rows, minor.columns)
    solution = square.solve(submatrix(A, minor.rows, free))
    N, d = solution.numer_denom()
    return N, d


def _transpose(A: Any, minor: Minor) -> tuple[Any, Minor]:
    flipped = Minor(minor.columns, minor.rows, minor.value, minor.modulus)
    return (A.T if isinstance(A, np.ndarray) else A.transpose()), flipped


def _complement(indices: tuple[int, ...], n: int) -> list[int]:
    taken = set(indices)
    return [i for i in range(n) if i not in taken]


def _bits(x: Any) -> int:
    return int(abs(x).bit_length())


def _seconds_by_primes(m: int, n: int, r: int, bits: float) -> float:
    """Fitted to measurements on one core: per prime, per entry reduced, per pivot, and per operation."""
    return (bits / 22 + 1) * (1e-3 + 3e-8 * m * n + 6e-5 * r + 1e-10 * m * n * r)


def nullspace_over_q(A: Any, seed: int = 0) -> Any:
    """A basis of {v : A v = 0} over ℚ as primitive integer columns of an ``fmpz_mat``; proved.

    Args:
        A: an ``fmpz_mat`` of shape (m, n).
        seed: seed of the random primes; the result depends on it only where a prime was unlucky.

    Returns:
        An ``fmpz_mat`` of shape (n, n − rank A), whose columns have coprime entries.

    >>> nullspace_over_q(flint.fmpz_mat([[2, 4, 1], [1, 2, 3]]))
    [ 2]
    [-1]
    [ 0]
    """
    n = shape(A)[1]
    primes = random_primes(seed)
    minor = largest_minor(A, primes)
    while True:
        if minor.rank == n:
            return flint.fmpz_mat(n, 0)
        try:
            return prove_by_kernel(A, minor).matrix()
        except RankGrewError:
            minor = max(minor, largest_minor(A, primes), key=lambda found: found.rank)


def proved_rank(A: Any, seed: int = 0) -> int:
    """The rank over ℚ of an ``fmpz_mat`` or ``int64`` array; proved, however long that takes.

    >>> proved_rank(flint.fmpz_mat([[1, 2], [2, 4]]))
    1
    """
    primes = random_primes(seed)
    minor = largest_minor(A, primes)
    while minor.rank < min(shape(A)):
        try:
            prove_upper_bound(A, minor, seed, float("inf"))
            break
        except RankGrewError as grown:
            minor = max(minor, grown.minor or largest_minor(A, primes), key=lambda found: found.rank)
    return minor.rank


def largest_minor(A: Any, primes: Iterator[int]) -> Minor:
    """A nonzero minor of A modulo the next prime; its size is the rank of A modulo that prime."""
    p = next(primes)
    return nonzero_minor(residues(A, p), p)


def integer_rank(rows: Any, seed: int = 0) -> int:
    """The rank over ℚ of an integer matrix given by its rows; proved.

    >>> integer_rank([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    2
    """
    from agattn.algebra.integers import integer_matrix

    return proved_rank(integer_matrix(rows), seed)


__all__ = [
    "EnoughPrimes", "Kernel", "RankGrewError", "as_fmpz_mat", "integer_rank", "largest_minor",
    "nullspace_over_q", "prove_by_kernel", "prove_upper_bound", "proved_rank",
]  # fmt: skip
