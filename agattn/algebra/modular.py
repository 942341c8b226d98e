r"""Elimination over 𝔽_p for word-sized primes p < 2^23, in floating point and yet exact.

Residues are kept centred, :math:`|x| \le p/2 < 2^{22}`, so a product of matrices with inner dimension at most
256 has all its partial sums below :math:`256 \cdot 2^{44} = 2^{52}`: a ``float64`` matrix product is then
*exact*, in whatever order the BLAS adds, and elimination runs at the speed of the BLAS. The answer is not
only a rank but its witness: rows and columns of a nonzero minor, and the value of that minor.

A minor that is nonzero mod p is nonzero over ℚ, so the rank mod p is a *proved* lower bound for the rank over
ℚ, for every p. The primes are random, so that no matrix written down in advance is singular modulo all of
them.

>>> minor = nonzero_minor(residues(np.array([[1, 2], [2, 4], [0, 1]]), 8388593), 8388593)
>>> minor.rows, minor.columns, minor.value
((0, 2), (0, 1), 1)
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import flint
import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# All primes used by the elimination lie in [2^22, 2^23); the number of them is π(2^23) − π(2^22).
WORD_BITS = 23
PRIMES_OF_WORD_BITS = 564163 - 295947
_PANEL = 256
_BASE = 32


@dataclass(frozen=True)
class Minor:
    """A minor with increasing row and column indices (from 0) that is nonzero mod ``modulus``.

    ``value`` is its value in [1, p). The empty minor of a zero matrix has the value 1.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    value: int
    modulus: int

    @property
    def rank(self) -> int:
        """The size of the minor: a lower bound for the rank, over 𝔽_p and over ℚ."""
        return len(self.rows)

    def __str__(self) -> str:
        k = self.rank
        return f"a {k} x {k} minor is {self.value} mod {self.modulus}"


def random_primes(seed: int, bits: int = WORD_BITS) -> Iterator[int]:
    """Yield distinct random primes in [2^(bits−1), 2^bits), the same ones for the same seed.

    >>> from itertools import islice
    >>> all(2**59 < p < 2**60 for p in islice(random_primes(0, bits=60), 3))
    True
    """
    generator = random.Random(seed)
    seen = set()
    while True:
        p = generator.randrange(2 ** (bits - 1), 2**bits) | 1
        if p not in seen and flint.fmpz(p).is_prime():
            seen.add(p)
            yield p


def residues(matrix: Any, p: int) -> Matrix:
    """The entries of an integer array or ``fmpz_mat`` mod p, centred, as floats."""
    if isinstance(matrix, np.ndarray):
        reduced = np.remainder(matrix, p).astype(np.float64)
    else:
        entries = flint.nmod_mat(matrix, p).entries()
        reduced = np.fromiter(map(int, entries), np.float64, len(entries))
        reduced = reduced.reshape(matrix.nrows(), matrix.ncols())
    reduced[reduced > p / 2] -= p
    return reduced


def nonzero_minor(matrix: Matrix, p: int) -> Minor:
    """A nonzero minor of maximal size of a matrix of centred residues mod p; overwrites the matrix.

    Very tall matrices are read block by block of rows, and only until the rank can no longer grow; wide ones
    are transposed. The time is that of a few matrix products of the same size.

    Args:
        matrix: shape (m, n), centred residues as from :func:`residues`.
        p: a prime in [3, 2^23).
    """
    m, n = matrix.shape
    if m < n:
        transposed = nonzero_minor(np.ascontiguousarray(matrix.T), p)
        return Minor(transposed.columns, transposed.rows, transposed.value, p)
    rows = np.arange(min(m, 2 * n))
    while True:
        # A matrix that is not tall is eliminated where it lies: at size 5000 a copy is 200 MB.
        places, columns, value = _eliminate(matrix if m <= 2 * n else matrix[rows], p)
        pivot_rows = rows[places]
        following = rows.max(initial=-1) + 1
        if len(columns) == n or following >= m:
            break
        rows = np.concatenate([pivot_rows, np.arange(following, min(m, following + 3 * n))])
    sign = permutation_sign(pivot_rows.tolist()) * permutation_sign(columns)
    return Minor(tuple(sorted(pivot_rows.tolist())), tuple(sorted(columns)), value * sign % p, p)


def _eliminate(W: Matrix, p: int) -> tuple[list[int], list[int], int]:
    """Pivot rows and columns in the order of elimination, and the minor in that order; overwrites W.

    Panels of columns, left to right: find the pivots of a panel, then subtract what they explain from
    everything to the right of it by one matrix product.
    """
    m, n = W.shape
    order = np.arange(m)
    columns: list[int] = []
    value, r = 1, 0
    panel = _PANEL if n > _PANEL else max(_BASE, n // 4)
    for start in range(0, n, panel):
        stop = min(start + panel, n)
        if r == m:
            break
        places, chosen = _panel_pivots(W[r:, start:stop], p)
        if not chosen:
            continue
        k = len(chosen)
        _bring_to_top(W, order, r, places)
        pivots = W[r : r + k, start:stop][:, chosen]
        inverse, determinant = _inverse(pivots, p)
        value = value * determinant % p
        columns += [start + c for c in chosen]
        if stop < n:
            explained = _centre(inverse @ W[r : r + k, stop:], p)
            height = max(64, 2**19 // (n - stop))
            for top in range(r + k, m, height):
                rows = slice(top, min(top + height, m))
                update = W[rows, start:stop][:, chosen] @ explained
                np.subtract(W[rows, stop:], update, out=update)
                W[rows, stop:] = _centre(update, p)
        r += k
    return order[:r].tolist(), columns, value


def _panel_pivots(A: Matrix, p: int) -> tuple[list[int], list[int]]:
    """Pivot rows and columns, in the order of elimination, of a matrix with at most 256 columns.

    A few rows usually hold all pivots. The others are looked at only when the rank of those is not full: then
    one matrix product shows which of them are not yet explained.
    """
    m, n = A.shape
    if n <= _BASE and m <= 4 * n:
        return _small_pivots(A.copy(), p)
    rows: list[int] = []
    columns: list[int] = []
    left, candidates = A, np.arange(m)
    others = np.arange(n)
    while len(candidates) and len(others):
        few = candidates[: 2 * len(others)]
        block = left[few][:, others]
        if len(others) > _BASE:
            places, chosen, _ = _eliminate(block, p)
        else:
            places, chosen = _small_pivots(block.copy(), p)
        rows += few[places].tolist()
        columns += others[chosen].tolist()
        others = np.delete(others, chosen)
        if not len(others) or len(rows) == m:
            break
        inverse, _ = _inverse(A[rows][:, columns], p)
        explained = _centre(inverse @ A[rows][:, others], p)
        left = np.zeros_like(A)
        left[:, others] = _centre(A[:, others] - A[:, columns] @ explained, p)
        candidates = np.flatnonzero(left.any(axis=1))
    return rows, columns


def _small_pivots(A: Matrix, p: int) -> tuple[list[int], list[int]]:
    """Pivots of a small matrix, one column at a time; overwrites it."""
    m, n = A.shape
    order = np.arange(m)
    columns: list[int] = []
    for column in range(n):
        r = len(columns)
        if r == m:
            break
        places = np.flatnonzero(A[r:, column])
        if not len(places):
            continue
        pivot = r + int(places[0])
        if pivot != r:
            A[[r, pivot]] = A[[pivot, r]]
            order[[r, pivot]] = order[[pivot, r]]
        scale = float(_centred(pow(int(A[r, column]), -1, p), p))
        multipliers = _centre(A[r + 1 :, column] * scale, p)
        A[r + 1 :, column:] = _centre(A[r + 1 :, column:] - np.outer(multipliers, A[r, column:]), p)
        columns.append(column)
    return order[: len(columns)].tolist(), columns


def _inverse(P: Matrix, p: int) -> tuple[Matrix, int]:
    """Inverse and determinant mod p of a matrix all of whose leading principal minors are nonzero mod p."""
    n = len(P)
    if n <= _BASE:
        return _small_inverse(P, p)
    h = n // 2
    A, B, C, D = P[:h, :h], P[:h, h:], P[h:, :h], P[h:, h:]
    A_inverse, A_determinant = _inverse(A, p)
    right = _centre(A_inverse @ B, p)
    left = _centre(C @ A_inverse, p)
    S_inverse, S_determinant = _inverse(_centre(D - C @ right, p), p)
    result = np.empty_like(P)
    corner = _centre(right @ S_inverse, p)
    result[:h, :h] = _centre(A_inverse + corner @ left, p)
    result[:h, h:] = -corner
    result[h:, :h] = -_centre(S_inverse @ left, p)
    result[h:, h:] = S_inverse
    return result, A_determinant * S_determinant % p


def _small_inverse(P: Matrix, p: int) -> tuple[Matrix, int]:
    """The same by Gauss-Jordan elimination, without exchanges."""
    n = len(P)
    W = np.hstack([P, np.eye(n)])
    determinant = 1
    for i in range(n):
        pivot = int(W[i, i])
        determinant = determinant * pivot % p
        W[i] = _centre(W[i] * _centred(pow(pivot, -1, p), p), p)
        multipliers = W[:, i].copy()
        multipliers[i] = 0
        W = _centre(W - np.outer(multipliers, W[i]), p)
    return W[:, n:].copy(), determinant % p


def _bring_to_top(W: Matrix, order: Integers, r: int, places: Sequence[int]) -> None:
    """Exchange rows of W[r:] so that rows r + places[0], r + places[1], ... become rows r, r + 1, ..."""
    here = list(range(len(W) - r))
    where = here.copy()
    source = np.arange(len(W) - r)
    for target, place in enumerate(places):
        now, displaced = where[place], here[target]
        here[target], here[now] = place, displaced
        where[place], where[displaced] = target, now
        source[target], source[now] = place, displaced
    moved = np.flatnonzero(source != np.arange(len(source)))
    W[r + moved] = W[r + source[moved]]
    order[r + moved] = order[r + source[moved]]


def _centre(x: Matrix, p: int) -> Matrix:
    """Reduce integers of absolute value below 2^53 to centred residues, in place."""
    quotient = x * (1.0 / p)
    np.rint(quotient, out=quotient)
    quotient *= p
    x -= quotient
    return x


def _centred(x: int, p: int) -> int:
    return x - p if x > p // 2 else x


def permutation_sign(sequence: Sequence[int]) -> int:
    """The sign of the permutation that sorts distinct numbers.

    >>> permutation_sign([2, 0, 1]), permutation_sign([5, 3])
    (1, -1)
    """
    position = {x: i for i, x in enumerate(sorted(sequence))}
    permutation = [position[x] for x in sequence]
    sign, seen = 1, [False] * len(permutation)
    for i in range(len(permutation)):
        length = 0
        while not seen[i]:
            seen[i], i, length = True, permutation[i], length + 1
        if length and length % 2 == 0:
            sign = -sign
    return sign
