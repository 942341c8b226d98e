r"""The rank of a rational matrix: a nonzero minor from below, and from above a proof or a few more primes.

Two proofs are known that the rank of an integer matrix is at most r, given rows I and columns J of a nonzero
minor of that size. The cheaper one is chosen from an estimate of both.

**A kernel.** Solve :math:`A_{IJ} X = A_{IJ'}` for the other columns J' over ℚ by p-adic lifting, and check
:math:`A_{\cdot J} X = A_{\cdot J'}` on *all* rows by one exact product: every column is a combination of r
columns. The time grows with the size of the solution, which is small for matrices with structure. Rows and
columns are exchanged where that leaves fewer vectors to find.

**Enough primes.** If the rank is r modulo each of several primes, every minor of size r + 1 is divisible by
their product. Once that exceeds Hadamard's bound for such minors they all vanish, and no kernel need be
written down.

Sparse matrices stay sparse in both: vectors of their kernel are read off the elimination modulo one prime.

**Sparse elimination.** The column with the fewest entries comes next; the pivot is in its shortest row
(Markowitz 1957). Few entries are created where a matrix has structure, as boundary maps have. If it takes
long and the rest is dense, the rest is left as it is.

A row i that is no pivot row becomes 0 modulo p, and the steps of the elimination say which combination of
rows it was: a vector v with v·A = 0 modulo p, 1 at i and 0 at all other rows without a pivot. Its entries are
taken for those rational numbers that are small, and v·A = 0 is checked over ℤ: proved, whatever p is.

>>> circle = {(0, 0): 1, (0, 1): -1, (1, 1): 1, (1, 2): -1, (2, 2): 1, (2, 0): -1}
>>> found = SparseElimination(SparseMatrix((3, 3), circle), 8388593)
>>> found.rank, [sorted(vector.items()) for vector in found.left_kernel()]
(2, [[(0, 1), (1, 1), (2, 1)]])
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import islice
from math import ceil, inf, lcm, log2
from typing import Any, NamedTuple

import flint
import numpy as np
from numpy.typing import NDArray

from agattn.algebra.matrices import (
    LARGEST_BLOCK,
    SPARSE_BELOW,
    Block,
    ExactMatrix,
    SparseMatrix,
    as_fmpz_mat,
    decompose,
    shape,
    submatrix,
)
from agattn.algebra.residues import (
    WORD_BITS,
    Minor,
    RowSpace,
    chance_of_dividing,
    matmul,
    nonzero_minor,
    permutation_sign,
    random_primes,
    random_residues,
    rational_number,
    residues,
)
from agattn.errors import TooLargeError
from agattn.limits import limits

#: What is left is dense if it has more entries than this, and more than this part of them is not 0.
SMALL_REST, DENSE_REST = 40_000, 0.1
#: Steps in a second, each at one entry of a row: measured on one core.
STEPS_PER_SECOND = 2e6
#: Steps after which a dense rest is left.
MOST_STEPS = 1e7

Row = dict[int, int]


class SparseElimination:
    """The pivots of a sparse integer matrix modulo a prime.

    Args:
        A: the matrix.
        p: the prime.
        most: steps after which a dense rest is left, by default :data:`MOST_STEPS`.

    Attributes:
        pivots: the row, the column and the value of each, in order.
        rest: the rows that are left, without the columns of pivots; dense, or none.
        steps: entries that were changed.
    """

    def __init__(self, A: SparseMatrix, p: int, most: float | None = None) -> None:
        self.matrix, self.p, self.steps = A, p, 0
        self.pivots: list[tuple[int, int, int]] = []
        self.rest: dict[int, Row] = defaultdict(dict)
        #: For each row the pivot rows of which a multiple was added, and the factors.
        self._added: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for (i, j), x in A.entries.items():
            if residue := int(x % p):
                self.rest[i][j] = residue
        self._eliminate(MOST_STEPS if most is None else most)

    def _eliminate(self, most: float) -> None:
        rows, p, columns = self.rest, self.p, defaultdict[int, set[int]](set)
        for i, row in rows.items():
            for j in row:
                columns[j].add(i)
        entries = sum(map(len, rows.values()))
        waiting = [(len(column), j) for j, column in columns.items()]
        heapify(waiting)
        while waiting:
            size = len(rows) * len(columns)
            if self.steps > most and size > SMALL_REST and entries > DENSE_REST * size:
                return
            count, j = heappop(waiting)
            if (column := columns.get(j)) is None:
                continue
            if count != len(column):
                heappush(waiting, (len(column), j))
                continue
            i = min(column, key=lambda i: len(rows[i]))
            pivot_row = rows.pop(i)
            entries -= len(pivot_row)
            pivot = pivot_row.pop(j)
            self.pivots.append((i, j, pivot))
            inverse = pow(pivot, -1, p)
            for k in columns.pop(j) - {i}:
                row = rows[k]
                before = len(row)
                factor = -row.pop(j) * inverse % p
                self._added[k].append((i, factor))
                for a, x in pivot_row.items():
                    if a not in row:
                        row[a] = factor * x % p
                        columns[a].add(k)
                    elif y := (row[a] + factor * x) % p:
                        row[a] = y
                    else:
                        del row[a]
                        columns[a].remove(k)
                entries += len(row) - before
                self.steps += len(pivot_row)
                if not row:
                    del rows[k]
            for a in pivot_row:
                columns[a].remove(i)
                if not columns[a]:
                    del columns[a]

    def _dense_rest(self) -> tuple[list[int], list[int], Any]:
        """The rows, the columns and the entries of what is left."""
        rows = sorted(self.rest)
        columns = sorted({j for row in self.rest.values() for j in row})
        if len(rows) * len(columns) > LARGEST_BLOCK:
            raise TooLargeError(
                f"after {len(self.pivots)} pivots {len(rows)} x {len(columns)} entries of the sparse matrix"
                f" are left, which are dense; at most {LARGEST_BLOCK} can be made dense"
            )
        place = {j: n for n, j in enumerate(columns)}
        dense = np.zeros((len(rows), len(columns)), dtype=np.int64)
        for n, i in enumerate(rows):
            for j, x in self.rest[i].items():
                dense[n, place[j]] = x
        return rows, columns, dense

    @property
    def rank(self) -> int:
        """The rank modulo the prime."""
        if not self.rest:
            return len(self.pivots)
        entries = self._dense_rest()[2].tolist()
        return len(self.pivots) + int(flint.nmod_mat(entries, self.p).rank())

    def minor(self) -> Minor:
        """A nonzero minor of maximal size; the prime is below 2³⁰."""
        rows, columns = [i for i, _, _ in self.pivots], [j for _, j, _ in self.pivots]
        value = 1
        for _, _, pivot in self.pivots:
            value = value * pivot % self.p
        if self.rest:
            its_rows, its_columns, dense = self._dense_rest()
            last = nonzero_minor(dense.astype(np.float64), self.p)
            rows += [its_rows[n] for n in last.rows]
            columns += [its_columns[n] for n in last.columns]
            value = value * last.value
        value = value * permutation_sign(rows) * permutation_sign(columns) % self.p
        return Minor(tuple(sorted(rows)), tuple(sorted(columns)), value, self.p)

    def left_kernel(self, most: float = inf) -> list[Row] | None:
        """Integer vectors v with v·A = 0, checked, one for each row that is no pivot row.

        ``None`` if they take more than so many steps, if some entry is no small rational number modulo the
        prime, if some v·A is not 0 over ℤ, or if dense rows are left.
        """
        if self.rest:
            return None
        rows: dict[int, Row] = defaultdict(dict)
        for (i, j), x in self.matrix.entries.items():
            rows[i][j] = int(x)
        order = {i: n for n, (i, _, _) in enumerate(self.pivots)}
        kernel, known, steps = [], dict[int, Fraction](), 0
        for i in range(self.matrix.shape[0]):
            if i in order:
                continue
            residues = self._combination(i, order)
            for x in set(residues.values()) - known.keys():
                if (fraction := rational_number(x, self.p)) is None:
                    return None
                known[x] = fraction
            fractions = {k: known[x] for k, x in residues.items()}
            scale = lcm(*(x.denominator for x in fractions.values()))
            vector = {k: x.numerator * (scale // x.denominator) for k, x in fractions.items()}
            product: Row = defaultdict(int)
            for k, x in vector.items():
                steps += len(self._added[k]) + len(rows[k])
                for j, y in rows[k].items():
                    product[j] += x * y
            if steps > most or any(product.values()):
                return None
            kernel.append(vector)
        return kernel

    def _combination(self, i: int, order: dict[int, int]) -> Row:
        """The multiples of rows that add up to what row i has become modulo the prime."""
        vector, waiting = {i: 1}, list[int]()

        def spread(k: int) -> None:
            for pivot_row, factor in self._added[k]:
                if pivot_row not in vector:
                    heappush(waiting, -order[pivot_row])
                vector[pivot_row] = (vector.get(pivot_row, 0) + factor * vector[k]) % self.p

        spread(i)
        while waiting:  # a pivot row was changed by earlier ones alone
            spread(self.pivots[-heappop(waiting)][0])
        return {k: x for k, x in vector.items() if x}


# The chance of a wrong modular upper bound is kept below 2 to this power.
ERROR_BITS = -40.0
#: The chance that a random part of a matrix that is not 0 is: too small to be seen beside that of a prime.
UNSEEN = 2.0**-87
# Up to this many small primes are cheaper than one of 60 bits.
MORE_PRIMES = 6
_LARGE_BITS = 60


@dataclass(frozen=True, eq=False)
class Kernel:
    """Independent integer vectors that the matrix annihilates, checked by exact multiplication.

    Attributes:
        side: ``"right"`` for vectors v with A v = 0, ``"left"`` for v A = 0.
        size: the number of entries of each vector.
        entries: those that are not 0, by their places. Each vector has a nonzero entry where all others have
            zeros, so they are independent.
    """

    side: str
    size: int
    entries: Sequence[Mapping[int, Any]]

    def __len__(self) -> int:
        return len(self.entries)

    def vectors(self) -> Iterator[list[Any]]:
        """The vectors one by one, as lists of integers."""
        yield from ([vector.get(i, 0) for i in range(self.size)] for vector in self.entries)

    def scaled(self, scales: Sequence[Any]) -> Kernel:
        """The vectors with each entry multiplied by the scale of its place."""
        return replace(self, entries=[{i: x * scales[i] for i, x in v.items()} for v in self.entries])


class BlockProof(NamedTuple):
    """Why the block of the matrix in these rows and columns has no larger rank than this.

    The proof is a checked :class:`Kernel` (in the block's own indices) or the number of primes modulo which
    the rank is the same and whose product exceeds Hadamard's bound. It is ``None`` where there is none or the
    rank is the number of rows or columns and nothing need be proved.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    rank: int
    proof: Kernel | int | None


class RankGrewError(Exception):
    """Raised and caught in this room if a prime was unlucky: the rank is larger than the rank modulo it."""


def exact_rank(A: ExactMatrix, budget: float, prove: bool) -> tuple[Minor, tuple[BlockProof, ...], float]:
    """The rank of a rational matrix; with proof if ``prove`` and its estimated time fits into the budget.

    Returns:
        A minor of that size, what is known from above about each block, and the chance that the rank over ℚ
        is larger, over the random choice of primes: 0 where the upper bound is proved.
    """
    Z, (m, n) = A.integers, A.shape
    if isinstance(Z, np.ndarray) and Z.size > 10**4 and np.count_nonzero(Z) < SPARSE_BELOW * Z.size:
        Z = SparseMatrix((m, n), {(i, j): int(Z[i, j]) for i, j in np.argwhere(Z).tolist()})
    pivots, blocks = (
        decompose(Z) if isinstance(Z, SparseMatrix) else ([], [Block(tuple(range(m)), tuple(range(n)), Z)])
    )
    for p in random_primes(limits().seed):
        with suppress(RankGrewError):
            return _at_prime(A, pivots, blocks, p, budget, prove)
    raise AssertionError("no prime fits this matrix")


def _at_prime(
    A: ExactMatrix,
    pivots: list[tuple[int, int, Any]],
    blocks: list[Block],
    p: int,
    budget: float,
    prove: bool,
) -> tuple[Minor, tuple[BlockProof, ...], float]:
    rows, columns = [i for i, _, _ in pivots], [j for _, j, _ in pivots]
    value, error = 1, 0.0
    for _, _, pivot in pivots:
        value = value * _unit(pivot, p) % p
    proofs = []
    for block in blocks:
        minor = minor_mod(block.matrix, p)
        proof = None
        if minor.rank < min(shape(block.matrix)):
            proof = prove_upper_bound(block.matrix, minor, budget) if prove else None
            if proof is None:
                proof, chance = _confirm(block.matrix, minor)
                error += chance
            elif isinstance(proof, Kernel) and proof.side == "left" and A.row_scales:
                # The left kernel of D⁻¹Z is that of Z times D.
                proof = proof.scaled([A.row_scales[i] for i in block.rows])
        proofs.append(BlockProof(block.rows, block.columns, minor.rank, proof))
        value = value * minor.value % p
        rows += [block.rows[i] for i in minor.rows]
        columns += [block.columns[j] for j in minor.columns]
    for i in rows if A.row_scales else ():
        value = value * pow(_unit(A.row_scales[i], p), -1, p) % p  # type: ignore[index]
    value = value * permutation_sign(rows) * permutation_sign(columns) % p
    return Minor(tuple(sorted(rows)), tuple(sorted(columns)), value, p), tuple(proofs), error


def minor_mod(A: Any, p: int) -> Minor:
    """A nonzero minor of maximal size of an integer matrix modulo a prime p < 2³⁰."""
    if isinstance(A, SparseMatrix):
        return SparseElimination(A, p).minor()
    return nonzero_minor(residues(A, p), p)


def _rank_mod(A: Any, p: int) -> int:
    """The rank of an integer matrix modulo a prime of any size."""
    if isinstance(A, SparseMatrix):
        return SparseElimination(A, p).rank
    return int(flint.nmod_mat(as_fmpz_mat(A), p).rank())


def _confirm(A: Any, minor: Minor) -> tuple[int | None, float]:
    """Look at more primes until the chance of a wrong upper bound is small; return that chance.

    The rank over ℚ is larger than the rank mod p only if p divides one fixed nonzero minor, which is
    bounded. If the bound is below p none does: a proof.
    """
    bits = hadamard_bits(A, min(shape(A)))
    if bits < WORD_BITS - 1:
        return 1, 0.0
    error = chance = log2(chance_of_dividing(bits, WORD_BITS) + UNSEEN)
    if MORE_PRIMES * chance <= ERROR_BITS:
        # Distinct primes, so that each is bad with at most the chance of the first.
        more = (p for p in random_primes(limits().seed + 1) if p != minor.modulus)
        while error > ERROR_BITS:
            if has_larger_rank(A, minor, next(more)):
                raise RankGrewError
            error += chance
        return None, 2.0**error
    p = next(random_primes(limits().seed + 1, bits=_LARGE_BITS))
    if has_larger_rank(A, minor, p):
        raise RankGrewError
    return None, 2.0**error * (chance_of_dividing(bits, _LARGE_BITS) + UNSEEN)


def has_larger_rank(A: Any, minor: Minor, p: int) -> bool:
    """Whether the rank of an integer matrix modulo a prime p > 2²² is larger than the size r of a minor.

    Where the minor is not 0 modulo p it is not, if and only if the Schur complement S = D − C M⁻¹ B of its
    submatrix M is 0 in A = (M B; C D). If S is not 0, then VSU is 0 with a chance below :data:`UNSEEN`, for
    random V with a few rows and U with a few columns. So r rows and columns are eliminated, and no more.

    >>> A, p = np.array([[1, 2, 3], [2, 4, 6], [0, 0, 1]]), 7340033
    >>> has_larger_rank(A, Minor((0,), (0,), 1, 8388593), p), has_larger_rank(A, minor_mod(A, 8388593), p)
    (True, False)
    """
    larger = None
    if not isinstance(A, SparseMatrix):
        larger = _by_row_space(A, minor, p) if p < 1 << WORD_BITS else _by_solution(A, minor, p)
    return _rank_mod(A, p) > minor.rank if larger is None else larger


def _by_row_space(A: Any, minor: Minor, p: int) -> bool | None:
    """The same for p < 2²³; ``None`` if the minor is 0 modulo p."""
    R, generator, r = residues(A, p), np.random.default_rng([limits().seed, p]), minor.rank
    U = random_residues(generator, (R.shape[1], 4), p)
    V = random_residues(generator, (4, R.shape[0]), p)
    left = np.concatenate([R[:, minor.columns], matmul(R, U, p)], axis=1)
    space = RowSpace(r + 4, p)
    if space.add(left[minor.rows, :]) < r or any(column >= r for column in space.columns):
        return None
    return space.add(matmul(V, left, p)) > r


def _by_solution(A: Any, minor: Minor, p: int) -> bool | None:
    """The same for p < 2⁶⁰, by X with MX = (M B)U; ``None`` also where a sum may exceed 64 bits."""
    entry = int(np.abs(A).max(initial=1)) if isinstance(A, np.ndarray) else inf
    spread = int(2**62 // (entry * max(shape(A))))
    if spread < 2**8:
        return None
    generator, k = np.random.default_rng([limits().seed, p]), ceil(1 - log2(UNSEEN) / log2(spread))
    U, V = generator.integers(0, spread, (A.shape[1], k)), generator.integers(0, spread, (k, A.shape[0]))
    left, product = A[:, minor.columns], A @ U
    with suppress(ZeroDivisionError):
        X = _modulo(left[minor.rows, :], p).solve(_modulo(product[minor.rows, :], p))
        larger: bool = _modulo(V @ left, p) * X != _modulo(V, p) * _modulo(product, p)
        return larger
    return None


def _modulo(A: NDArray[np.int64], p: int) -> Any:
    """The array as a matrix of FLINT modulo p."""
    return flint.nmod_mat(as_fmpz_mat(A), p)


def _unit(x: Any, p: int) -> int:
    """x mod p; raises an error for 0, as another prime is needed then."""
    remainder = int(x % p)
    if not remainder:
        raise RankGrewError
    return remainder


# --- proofs ---


def prove_upper_bound(A: Any, minor: Minor, budget: float) -> Kernel | int | None:
    """Prove that the rank of the integer matrix A is at most ``minor.rank``.

    Args:
        A: an ``int64`` array, an ``fmpz_mat`` or a sparse matrix.
        minor: a nonzero minor, smaller than A.
        budget: estimated seconds that may be spent; ``None`` is returned if neither proof fits.

    Raises:
        RankGrewError: if the rank is larger than that.
    """
    if isinstance(A, SparseMatrix):
        return _prove_sparse(A, minor, budget)
    m, n = shape(A)
    r = minor.rank
    bits = hadamard_bits(A, r + 1)
    # Fitted to measurements on one core: per prime, per entry reduced, per pivot, and per operation.
    by_primes = (bits / 22 + 1) * (1e-3 + 3e-8 * m * n + 6e-5 * r + 1e-10 * m * n * r)
    side = "right" if n - r <= m - r else "left"
    vectors = min(m, n) - r
    if r and 3e-9 * r * r * (bits / 30 + r) > min(by_primes, budget):
        by_kernel = float("inf")  # even one column of the solution would take longer
    else:
        # One dependent column tells how large the others will be.
        column = _solve(*((A, minor) if side == "right" else _transpose(A, minor)), 1)
        height = int(column.numer_denom()[1].bit_length())
        by_kernel = (
            vectors * r * (3e-9 * r * height / 30 + 3e-10 * max(m, n) * (height / 64 + 1))
            + 1e-6 * r * vectors
        )
    if min(by_kernel, by_primes) > budget:
        return None
    return (
        prove_by_kernel(A, minor, side)
        if by_kernel <= by_primes
        else prove_by_primes(A, r, bits, limits().seed)
    )


def _prove_sparse(A: SparseMatrix, minor: Minor, budget: float) -> Kernel | int | None:
    """The same for a sparse matrix: vectors that annihilate its shorter side, or enough primes of 60 bits."""
    m, n = A.shape
    side, rows = ("left", A) if m <= n else ("right", A.transpose())
    most = budget * STEPS_PER_SECOND
    for p in (minor.modulus, next(random_primes(limits().seed + 1, bits=_LARGE_BITS))):
        eliminated = SparseElimination(rows, p, most)
        if eliminated.rank > minor.rank:
            raise RankGrewError
        if vectors := eliminated.left_kernel(most):
            return Kernel(side, min(m, n), vectors)
    bits = hadamard_bits(A, minor.rank + 1)
    if bits / (_LARGE_BITS - 1) * eliminated.steps > most:
        return None
    return prove_by_primes(A, minor.rank, bits, limits().seed, _LARGE_BITS)


def prove_by_kernel(A: Any, minor: Minor, side: str = "right") -> Kernel:
    """Find and check a basis of the right or left kernel of A, given a nonzero minor of maximal size.

    >>> A = np.array([[1, 2, 3], [2, 4, 6]])
    >>> kernel = prove_by_kernel(A, minor_mod(A, 8388593))
    >>> [list(map(int, v)) for v in kernel.vectors()]
    [[2, -1, 0], [3, 0, -1]]

    Raises:
        RankGrewError: if the minor was not of maximal size.
    """
    if side == "left":
        A, minor = _transpose(A, minor)
    m, n = shape(A)
    free = _complement(minor.columns, n)
    X = _solve(A, minor, len(free))
    N, d = X.numer_denom()
    if submatrix(A, range(m), minor.columns) * N != submatrix(A, range(m), free) * d:
        raise RankGrewError
    entries, vectors = X.entries(), []
    for j, place in enumerate(free):
        column, denominator = flint.fmpq_mat(minor.rank, 1, entries[j :: len(free)]).numer_denom()
        vector = dict(zip(minor.columns, column.entries(), strict=True))
        vectors.append(vector | {place: -denominator})
    return Kernel(side, n, vectors)


def prove_by_primes(A: Any, r: int, bits: float, seed: int, size: int = WORD_BITS) -> int:
    """Find rank r modulo primes whose product has more than the given bits; return the number of primes.

    Args:
        size: bits of each prime.

    Raises:
        RankGrewError: if it is larger for one of them.
    """
    count = int(bits // (size - 1)) + 1  # every prime is at least 2^(size − 1)
    rank_of = _rank_mod if size > WORD_BITS else lambda A, p: minor_mod(A, p).rank
    if any(rank_of(A, p) > r for p in islice(random_primes(seed + 1, size), count)):
        raise RankGrewError
    return count


def _solve(A: Any, minor: Minor, count: int) -> Any:
    """X with A_IJ X = A_IJ' for the first ``count`` columns of J', over ℚ."""
    free = _complement(minor.columns, shape(A)[1])[:count]
    if not minor.rank:
        return flint.fmpq_mat(0, len(free))
    return submatrix(A, minor.rows, minor.columns).solve(submatrix(A, minor.rows, free))


def _transpose(A: Any, minor: Minor) -> tuple[Any, Minor]:
    flipped = Minor(minor.columns, minor.rows, minor.value, minor.modulus)
    return (A.T if isinstance(A, np.ndarray) else A.transpose()), flipped


def _complement(indices: tuple[int, ...], n: int) -> list[int]:
    taken = set(indices)
    return [i for i in range(n) if i not in taken]


def hadamard_bits(A: Any, size: int) -> float:
    """An upper bound for log₂ of the absolute value of every minor of this size (Hadamard's inequality).

    The minor is at most the product of the lengths of its rows, and of its columns. Zero minors count as 1.

    >>> hadamard_bits(np.array([[3, 4], [0, 1]]), 2) <= 2.4
    True
    """
    bounds = []
    for axis in (0, 1):
        if isinstance(A, np.ndarray):
            # Entries are below 2^62, so their squares and sums are far inside the range of floats. The
            # factor covers the rounding of the conversion, the squares and the sum.
            squares = (A.astype(np.float64) ** 2).sum(axis=axis) * (1 + 1e-9)
            logs = [log2(s) / 2 for s in squares.tolist() if s > 1]
        elif isinstance(A, SparseMatrix):
            total: defaultdict[int, int] = defaultdict(int)
            for place, x in A.entries.items():
                total[place[axis]] += int(x) ** 2
            logs = [log2(s) / 2 for s in total.values() if s > 1]
        else:
            sizes = [
                (max((abs(x).bit_length() for x in row), default=0), len(row))
                for row in (A if axis else A.transpose()).tolist()
            ]
            logs = [bits + log2(length) / 2 for bits, length in sizes if bits]
        bounds.append(sum(sorted(logs, reverse=True)[:size]) * (1 + 1e-9))
    return min(bounds)
