"""Arrays of residues modulo a prime p < 2³⁰: products by BLAS, and an elimination fed with blocks of rows.

A residue is held exactly in a float64, so that products of matrices run at the speed of BLAS. One factor
is split into two halves of 15 bits: a sum of 128 products of 30 by 15 bits stays below 2⁵³, exact.

>>> import numpy as np
>>> a = np.array([[1.0, 2.0], [3.0, 4.0]])
>>> matmul(a, a, 7)
array([[0., 3.],
       [1., 1.]])
>>> elimination = Elimination(columns=2, p=7)
>>> elimination.add(np.array([[1.0, 2.0], [2.0, 4.0]]))
1
"""

from __future__ import annotations

from typing import TypeAlias

import flint
import numpy as np
from numpy.typing import NDArray

Residues: TypeAlias = NDArray[np.float64]

#: Every prime used here is below this power of two.
PRIME_BITS = 30

_HALF = 1 << 15
_CHUNK = 128
_LEAF = 8
_CACHE = 1 << 14


def random_prime(generator: np.random.Generator) -> int:
    """A prime drawn from [2²⁹, 2³⁰): the first one at or after a random number there.

    >>> p = random_prime(np.random.default_rng(0))
    >>> 2**29 <= p < 2**30 and bool(flint.fmpz(p).is_prime())
    True
    """
    while True:
        candidate = int(generator.integers(1 << (PRIME_BITS - 1), 1 << PRIME_BITS)) | 1
        while not flint.fmpz(candidate).is_prime():
            candidate += 2
        if candidate < 1 << PRIME_BITS:
            return candidate


def random_residues(generator: np.random.Generator, shape: tuple[int, ...], p: int) -> Residues:
    """Independent uniform residues."""
    return generator.integers(0, p, shape).astype(np.float64)


def reduce(a: Residues, p: int) -> Residues:
    """Bring whole numbers of absolute value below 2²³·p into [0, p); in place where the array is contiguous.

    The quotient k = ⌊a/p⌋ is exact in floating point: a/p is at least 1/p > 2⁻³⁰ below the next integer,
    and numbers below 2²³ are rounded by less than that. Works in pieces that stay in the processor's cache.

    >>> reduce(np.array([-1.0, 0.0, 7.0, 20.0]), 7)
    array([6., 0., 0., 6.])
    """
    a = np.ascontiguousarray(a)
    flat = a.reshape(-1)
    quotient = np.empty(min(_CACHE, flat.size))
    for start in range(0, flat.size, _CACHE):
        piece = flat[start : start + _CACHE]
        k = quotient[: piece.size]
        np.divide(piece, p, out=k)
        np.floor(k, out=k)
        k *= p
        piece -= k
    return a


def matmul(a: Residues, b: Residues, p: int) -> Residues:
    """The product of two stacks of matrices modulo p, broadcast as :func:`numpy.matmul` does.

    Both have entries in [0, p), p < 2³⁰; shapes (..., m, k) and (..., k, n) give (..., m, n).
    """
    total: Residues | None = None
    for start in range(0, a.shape[-1], _CHUNK):
        left = a[..., start : start + _CHUNK]
        right = b[..., start : start + _CHUNK, :]
        high = np.floor(right * (1.0 / _HALF))
        low = right - high * _HALF
        part = reduce(left @ high, p)
        part *= _HALF
        part += left @ low
        total = reduce(part, p) if total is None else reduce(total + reduce(part, p), p)
    if total is None:
        return np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]))
    return total


def hadamard(a: Residues, b: Residues | np.float64, p: int) -> Residues:
    """The entrywise product modulo p, broadcast."""
    high = np.floor(b * (1.0 / _HALF))
    return reduce(reduce(a * high, p) * _HALF + a * (b - high * _HALF), p)


def reduced_echelon(rows: Residues, p: int) -> tuple[list[int], Residues]:
    """The pivot columns and the nonzero rows of the reduced row echelon form, up to the order of rows.

    Row i of the result has 1 in column ``pivots[i]``, where the other rows have 0. The pivots are the
    first possible ones for the order of rows, not the leftmost columns. Recursive, so that nearly all work
    is in products of matrices.

    >>> reduced_echelon(np.array([[0.0, 2.0, 4.0], [0.0, 1.0, 3.0]]), 5)
    ([1, 2], array([[0., 1., 0.],
           [0., 0., 1.]]))
    """
    if len(rows) <= _LEAF:
        return _reduced_echelon_of_few(rows.copy(), p)
    half = len(rows) // 2
    pivots, top = reduced_echelon(rows[:half], p)
    bottom = rows[half:]
    if pivots:
        bottom = reduce(bottom - matmul(bottom[:, pivots], top, p), p)
    more, bottom = reduced_echelon(bottom, p)
    if not more:
        return pivots, top
    if pivots:
        top = reduce(top - matmul(top[:, more], bottom, p), p)
    return pivots + more, np.concatenate([top, bottom])


def _reduced_echelon_of_few(rows: Residues, p: int) -> tuple[list[int], Residues]:
    pivots: list[int] = []
    kept: list[int] = []
    for i in range(len(rows)):
        nonzero = rows[i] != 0
        column = int(nonzero.argmax())
        if not nonzero[column]:
            continue
        inverse = np.float64(pow(int(rows[i, column]), -1, p))
        rows[i] = hadamard(rows[i], inverse, p)
        factors = rows[:, column].copy()
        factors[i] = 0
        rows = reduce(rows - hadamard(rows[i][None, :], factors[:, None], p), p)
        pivots.append(column)
        kept.append(i)
    return pivots, rows[kept]


class Elimination:
    """The rank modulo p of a matrix that arrives in blocks of rows; only a basis of its row space is kept.

    The basis is in reduced echelon form, stored without its pivot columns, so that new rows cost less the
    larger the rank already is. Memory: at most columns²/4 numbers.
    """

    def __init__(self, columns: int, p: int) -> None:
        self.p = p
        self._pivots = np.zeros(0, dtype=np.intp)
        self._free = np.arange(columns)
        self._basis: Residues = np.zeros((0, columns))

    @property
    def rank(self) -> int:
        """The rank of all rows added so far."""
        return len(self._pivots)

    def add(self, rows: Residues) -> int:
        """Add rows, of shape (anything, columns) with entries in [0, p), and return the rank so far."""
        p = self.p
        if not len(self._free):
            return self.rank
        new = rows[:, self._free]
        if self.rank:
            new = reduce(new - matmul(rows[:, self._pivots], self._basis, p), p)
        pivots, new = reduced_echelon(new, p)
        if pivots:
            rest = np.setdiff1d(np.arange(len(self._free)), pivots)
            old = self._basis[:, rest]
            if self.rank:
                old = reduce(old - matmul(self._basis[:, pivots], new[:, rest], p), p)
            self._basis = np.concatenate([old, new[:, rest]])
            self._pivots = np.concatenate([self._pivots, self._free[pivots]])
            self._free = self._free[rest]
        return self.rank
