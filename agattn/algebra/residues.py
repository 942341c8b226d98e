r"""Arrays of residues modulo a prime p < 2³⁰: products by BLAS, and the row space of a matrix fed in blocks.

A residue is held exactly in a float64, so that products of matrices run at the speed of BLAS. For p < 2²³ a
sum of 128 products stays below 2⁵³, exact in whatever order it is added; for larger p one factor is split
into two halves of 15 bits, and a sum of 128 products of 30 by 15 bits is exact. In longer sums the residues
of one factor are first moved to between −p/2 and p/2, so that 255 products, or 510 of 29 by 15 bits, can be
added before they are reduced: the reductions took as long as the products.

A minor that is nonzero mod p is nonzero over ℚ, so the rank mod p is a *proved* lower bound for the rank over
ℚ, for every p. The primes are random, so that no matrix written down in advance is singular modulo all of
them.

>>> import numpy as np
>>> a = np.array([[1.0, 2.0], [3.0, 4.0]])
>>> matmul(a, a, 7)
array([[0., 3.],
       [1., 1.]])
>>> space = RowSpace(columns=2, p=7)
>>> space.add(np.array([[1.0, 2.0], [2.0, 4.0]]))
1
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, inf, isfinite, isqrt, log
from typing import Any, TypeAlias

import flint
import numpy as np
from numpy.typing import NDArray

Residues: TypeAlias = NDArray[np.float64]

#: Every prime used here is below this power of two.
PRIME_BITS = 30
#: Primes below this power of two need one product where larger ones need two.
WORD_BITS = 23

_HALF = 1 << 15
# So many products are added before they are reduced: of residues as they are, and where one is centered.
_CHUNK, _CENTERED = 128, 255
# Entries of a product that stay in the cache, and columns below which BLAS is slower.
_TILE, _NARROWEST = 1 << 17, 128
# Products of so many steps take all cores; there are none in eliminations of less than two seconds.
_LONG = 1 << 30
_LEAF = 26
_PRODUCTS = 6  # of two residues, whose sum fits into 64 bits with a sign
_ROWS = 512
_CACHE = 1 << 14


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


def random_prime(generator: np.random.Generator, bits: int = PRIME_BITS) -> int:
    """A prime drawn from [2^(bits−1), 2^bits), each with the same chance.

    >>> p = random_prime(np.random.default_rng(0))
    >>> 2**29 <= p < 2**30 and bool(flint.fmpz(p).is_prime())
    True
    """
    while True:
        candidate = int(generator.integers(1 << (bits - 1), 1 << bits)) | 1
        if flint.fmpz(candidate).is_prime():
            return candidate


def chance_of_dividing(size: float, bits: int = PRIME_BITS) -> float:
    """A bound on the chance that a random prime of ``bits`` bits divides an integer n, ``0 < |n| ≤ 2^size``.

    At most size/(bits − 1) primes from 2^(bits−1) on do. There are more than 3x/(5 log x) from x = 2^(bits−1)
    to 2x (Rosser and Schoenfeld 1962, for x ≥ 20.5), and :func:`random_prime` and :func:`random_primes` draw
    each with the same chance. The bound holds for the chance that all coefficients of a polynomial are
    divisible, with n one that is not 0.

    >>> chance_of_dividing(28.9), chance_of_dividing(1000) < 3e-6
    (0.0, True)
    """
    if not isfinite(size):
        return 1.0
    primes = 3 * 2.0 ** (bits - 1) / (5 * (bits - 1) * log(2))
    return min(1.0, size // (bits - 1) / primes)


def random_residues(generator: np.random.Generator, shape: tuple[int, ...], p: int) -> Residues:
    """Independent uniform residues."""
    return generator.integers(0, p, shape).astype(np.float64)


def reduce(a: Residues, p: int) -> Residues:
    """Bring whole numbers of absolute value below 2⁵³ − p into [0, p); in place if the array is contiguous.

    The quotient k = ⌊a/p⌋ is exact in floating point: a/p is at least 1/p below the next integer, and is
    rounded by at most 2⁻⁵³ of its size, which is less. Works in pieces that stay in the processor's cache.

    >>> reduce(np.array([-1.0, 0.0, 7.0, 20.0]), 7)
    array([6., 0., 0., 6.])
    """
    a = np.ascontiguousarray(a)
    if a.size <= _CACHE:  # of small arrays the calls take the time
        k = np.floor(a / p)
        k *= p
        a -= k
        return a
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
    a, chunk = _centered(a, b, p)
    for part in _products(a, b, p, chunk):
        total = reduce(part if total is None else total + part, p)
    if total is None:
        return np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]))
    return total


def less_product(c: Residues, a: Residues, b: Residues, p: int) -> Residues:
    """c − ab modulo p, for arrays as :func:`matmul` takes them; needs fewer steps than the product alone.

    >>> a = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> less_product(a, a, a, 7)
    array([[1., 6.],
           [2., 3.]])
    """
    n, width = c.shape[-1], max(_TILE // max(c.shape[-2], 1), _NARROWEST)
    a, chunk = _centered(a, b, p)
    if c.ndim > 2 or n <= width or a.shape[-1] <= _CHUNK:
        return _less_product(c, a, b, p, chunk)
    result = np.empty(c.shape)

    def fill(start: int) -> None:
        columns = slice(start, start + width)
        result[:, columns] = _less_product(c[:, columns], a, b[:, columns], p, chunk)

    from agattn.workers import spread, threads  # and multiprocessing, which takes long to import

    # What is done to a few columns stays in the processor's cache, and is nobody else's.
    is_long = c.size * a.shape[-1] >= _LONG and os.environ.get("OPENBLAS_NUM_THREADS") == "1"
    with threads(inf) if is_long else nullcontext():  # unless BLAS has threads of its own
        for _ in spread(fill, range(0, n, width)):
            pass
    return result


def _less_product(c: Residues, a: Residues, b: Residues, p: int, chunk: int) -> Residues:
    for part in _products(a, b, p, chunk):
        np.subtract(c, part, out=part)
        c = reduce(part, p)
    return c


def _centered(a: Residues, b: Residues, p: int) -> tuple[Residues, int]:
    """For a long product ab the residues in (−p/2, p/2); and how many products can be added."""
    if a.shape[-1] <= _CHUNK or b.shape[-1] < _NARROWEST:
        return a, _CHUNK
    return a - p * (a > p / 2), _CENTERED if p < 1 << WORD_BITS else 2 * _CENTERED


def _products(a: Residues, b: Residues, p: int, chunk: int) -> Iterator[Residues]:
    """Arrays whose sum is ab modulo p, of whole numbers of absolute values below 2⁵³ − 2³¹."""
    for start in range(0, a.shape[-1], chunk):
        left, right = a[..., start : start + chunk], b[..., start : start + chunk, :]
        if p < 1 << WORD_BITS:
            yield left @ right
        else:
            high = np.rint(right * (1.0 / _HALF))
            part = reduce(left @ high, p)
            part *= _HALF
            part += left @ (right - high * _HALF)
            yield part


def inverses(a: Any, p: int) -> NDArray[np.int64]:
    """The inverses modulo p of an array of residues, their powers p − 2; 0 for 0.

    >>> inverses(np.array([0, 1, 3]), 7)
    array([0, 1, 5])
    """
    power = np.asarray(a, dtype=np.int64)
    result = np.ones_like(power)
    for bit in reversed(f"{p - 2:b}"):
        if bit == "1":
            result = result * power % p
        power = power * power % p
    return result


def hadamard(a: Residues, b: Residues | np.float64, p: int) -> Residues:
    """The entrywise product modulo p, broadcast."""
    if p < 1 << WORD_BITS:
        return reduce(np.asarray(a * b), p)
    high = np.floor(b * (1.0 / _HALF))
    return reduce(reduce(a * high, p) * _HALF + a * (b - high * _HALF), p)


def residues(matrix: Any, p: int) -> Residues:
    """The entries of an integer array or ``fmpz_mat`` in [0, p), as floats."""
    if isinstance(matrix, np.ndarray):
        if matrix.size and max(int(matrix.max()), -int(matrix.min())) < 2**52:
            return reduce(matrix.astype(np.float64), p)
        return np.remainder(matrix, p).astype(np.float64)
    entries = flint.nmod_mat(matrix, p).entries()
    return np.fromiter(map(int, entries), np.float64, len(entries)).reshape(matrix.nrows(), matrix.ncols())


def rational_number(residue: int, p: int) -> Fraction | None:
    """The fraction n/m that is the residue modulo p, with 2n² < p and 2m² < p; ``None`` if there is none.

    There is no more than one (Wang 1981).

    >>> rational_number(pow(3, -1, 10007) * -2 % 10007, 10007), rational_number(5000, 10007)
    (Fraction(-2, 3), Fraction(-7, 2))
    >>> print(rational_number(1234, 10007))
    None
    """
    bound = isqrt((p - 1) // 2)
    (r, s), (old_r, old_s) = (residue % p, 1), (p, 0)
    while r > bound:
        q = old_r // r
        (old_r, old_s), (r, s) = (r, s), (old_r - q * r, old_s - q * s)
    return Fraction(r, s) if 0 < abs(s) <= bound and gcd(r, s) == 1 else None


@dataclass(frozen=True)
class Minor:
    """A nonzero minor with increasing row and column indices (from 0): its value in [1, p), p the modulus.

    The empty minor of a zero matrix has the value 1.
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
        return f"a {self.rank} x {self.rank} minor is {self.value} mod {self.modulus}"


class RowSpace:
    """The row space modulo p of a matrix that arrives in blocks of rows.

    A basis in reduced echelon form is kept, without its pivot columns (where it is the identity), so that new
    rows cost less the larger the rank already is. Memory: at most columns²/4 numbers. New rows are reduced by
    the basis, split in halves, and recursively so: nearly all work is in products of matrices. Pivot ``rows``
    (counted from 0 as they were added) and ``columns`` are in one order, and ``value`` is their minor mod p.
    """

    def __init__(self, columns: int, p: int) -> None:
        self.p = p
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.value = 1
        self._added = 0
        self._free = np.arange(columns)
        self._basis: Residues = np.zeros((0, columns))

    @property
    def rank(self) -> int:
        """The rank of all rows added so far."""
        return len(self.columns)

    def add(self, rows: Any) -> int:
        """Add rows, of shape (anything, columns) with entries in [0, p), and return the rank so far."""
        # A few rows usually hold all pivots; of the others products show what they add.
        for start in range(0, len(rows), _ROWS):
            if len(self._free):
                self._add(rows[start : start + _ROWS].astype(np.float64, copy=False), self._added + start)
        self._added += len(rows)
        return self.rank

    def _add(self, rows: Residues, number: int) -> None:
        """Add rows, counted from a number on."""
        p, new = self.p, rows
        if self.rank:
            new = less_product(_taken(rows, self._free), _taken(rows, self.columns), self._basis, p)
        places = np.flatnonzero(new.any(axis=1))
        if len(places):
            new = new[places]
            space = RowSpace(new.shape[1], p)
            if len(new) <= _LEAF:
                space._eliminate(new)
            else:
                half = len(new) // 2
                space.add(new[:half])
                space.add(new[half:])
            basis = _taken(self._basis, space._free)
            if self.rank:
                basis = less_product(basis, _taken(self._basis, space.columns), space._basis, p)
            self._basis = np.concatenate([basis, space._basis])
            self.columns += self._free[space.columns].tolist()
            self.rows += (number + places[space.rows]).tolist()
            self._free = self._free[space._free]
            self.value = self.value * space.value % p

    def minor(self) -> Minor:
        """A nonzero minor of maximal size."""
        sign = permutation_sign(self.rows) * permutation_sign(self.columns)
        value = self.value * sign % self.p
        return Minor(tuple(sorted(self.rows)), tuple(sorted(self.columns)), value, self.p)

    def basis(self) -> Residues:
        """The basis in reduced echelon form, (rank, columns), in the order of the pivots.

        >>> space = RowSpace(columns=3, p=7)
        >>> space.add(np.array([[2.0, 2.0, 4.0]]))
        1
        >>> space.basis()
        array([[1., 1., 2.]])
        """
        basis = np.zeros((self.rank, len(self._free) + self.rank))
        basis[range(self.rank), self.columns] = 1
        basis[:, self._free] = self._basis
        return basis

    def kernel(self) -> Residues:
        """A basis of the vectors that are orthogonal to all rows, (columns − rank, columns).

        >>> space = RowSpace(columns=3, p=7)
        >>> space.add(np.array([[1.0, 2.0, 0.0]]))
        1
        >>> space.kernel()
        array([[5., 1., 0.],
               [0., 0., 1.]])
        """
        basis = np.zeros((len(self._free), len(self._free) + self.rank))
        basis[range(len(basis)), self._free] = 1
        basis[:, self.columns] = reduce(-self._basis.T, self.p)
        return basis

    def _eliminate(self, rows: Residues) -> None:
        """Add a few rows to an empty space."""
        (k, n), p = rows.shape, self.p
        for window in (2 * k, 5 * k):
            # What a few columns say about row operations is then done to all at once, by one product.
            if n <= window + k:
                break
            narrow = RowSpace(window + k, p)
            narrow._by_pivots(np.concatenate([rows[:, :window], np.eye(k)], axis=1))
            if max(narrow.columns) < window:
                self.rows, self.columns, self.value = narrow.rows, narrow.columns, narrow.value
                self._free = np.delete(self._free, self.columns)
                self._basis = matmul(narrow._basis[:, -k:], rows[:, self._free], p)
                return
        self._by_pivots(rows)

    def _by_pivots(self, rows: Residues) -> None:
        """Add a few rows to an empty space, one pivot after the other."""
        # Here the number of calls counts, and less their sizes: all entries are reduced after a few pivots.
        p, whole = self.p, rows.astype(np.int64)
        for i in range(len(whole)):
            row = whole[i] % p
            column = int((row != 0).argmax())
            pivot = int(row[column])
            if not pivot:
                continue
            row = row * pow(pivot, -1, p) % p
            whole -= (whole[:, column] % p)[:, None] * row
            whole[i] = row
            self.rows.append(i)
            self.columns.append(column)
            self.value = self.value * pivot % p
            if len(self.rows) % _PRODUCTS == 0:
                whole %= p
        self._free = np.delete(self._free, self.columns)
        self._basis = (whole[self.rows][:, self._free] % p).astype(np.float64)


def _taken(a: Residues, columns: Any) -> Residues:
    """The columns of an array; not a copy of many that are neighbours."""
    if a.size > _CACHE:
        columns = np.asarray(columns)
        if len(columns) and (columns == np.arange(columns[0], columns[0] + len(columns))).all():
            return a[:, columns[0] : columns[0] + len(columns)]
    return a[:, columns]


def nonzero_minor(matrix: Residues, p: int) -> Minor:
    """A nonzero minor of maximal size of a matrix of residues mod p, of shape (m, n).

    >>> nonzero_minor(np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 1.0]]), 8388593)
    Minor(rows=(0, 2), columns=(0, 1), value=1, modulus=8388593)
    """
    space = RowSpace(matrix.shape[1], p)
    space.add(matrix)
    return space.minor()


def permutation_sign(sequence: Sequence[int]) -> int:
    """The sign of the permutation that sorts distinct numbers.

    >>> permutation_sign([2, 0, 1]), permutation_sign([5, 3])
    (1, -1)
    """
    order = np.argsort(np.asarray(sequence, dtype=np.intp)).tolist()
    sign = 1
    for i in range(len(order)):
        while (j := order[i]) != i:
            order[i], order[j], sign = order[j], j, -sign
    return sign
