"""Elimination in sparse integer matrices modulo a prime, and integer vectors that they annihilate.

The column with the fewest entries comes next; the pivot is in its shortest row (Markowitz 1957). Few entries
are created where a matrix has structure, as boundary maps have. If it takes long and the rest is dense, the
rest is left as it is.

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
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import inf, lcm
from typing import Any

import flint
import numpy as np

from agattn.algebra.matrices import LARGEST_BLOCK, SparseMatrix
from agattn.algebra.residues import Minor, nonzero_minor, permutation_sign, rational_number
from agattn.errors import TooLargeError

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
