"""Sparse integer matrices: what of them need never be made dense.

Two reductions keep the rank exactly, over ℤ as over any field in which the pivots are not zero:

- a row or column with a single nonzero entry is a pivot; its row and column are removed (again and again);
- the rest falls apart into connected components of rows and columns, whose ranks add up.

>>> A = SparseMatrix((3, 4), {(0, 0): 1, (0, 1): 1, (1, 0): 1, (1, 1): 1, (2, 3): 5})
>>> pivots, blocks = decompose(A)
>>> pivots, [(block.rows, block.columns) for block in blocks]
([(2, 3, 5)], [((0, 1), (0, 1))])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agattn.algebra.integers import integer_matrix
from agattn.errors import InputError, TooLargeError

#: A component with more entries than this is refused rather than made dense: 8 bytes each.
LARGEST_BLOCK = 10**8


@dataclass(frozen=True)
class SparseMatrix:
    """An integer or rational matrix by its nonzero entries, keyed by (row, column) from 0."""

    shape: tuple[int, int]
    entries: Mapping[tuple[int, int], Any]


def from_triples(
    shape: tuple[int, int], rows: Iterable[int], columns: Iterable[int], data: Any
) -> SparseMatrix:
    """A matrix from lists of rows, columns and entries; entries at the same place are added, exactly.

    Args:
        shape: the number of rows and columns.
        rows: the row of every entry, from 0.
        columns: its column, from 0.
        data: an array of entries.

    Raises:
        InputError: if floats stand at the same place: their sum would be rounded once more.

    >>> import numpy as np
    >>> from_triples((1, 1), [0, 0], [0, 0], np.array([2**62, 2**62])).entries[0, 0] == 2**63
    True
    """
    entries: dict[tuple[int, int], Any] = {}
    rounded = data.dtype.kind == "f"
    for i, j, x in zip(rows, columns, data if rounded else data.tolist(), strict=True):
        if (i, j) not in entries:
            entries[i, j] = x
        elif rounded:
            raise InputError(
                f"entry ({i + 1}, {j + 1}) is given twice, in floating point; call sum_duplicates()"
            )
        else:
            entries[i, j] = entries[i, j] + x
    return SparseMatrix(shape, entries)


@dataclass(frozen=True, eq=False)
class Block:
    """A submatrix in its own right: its rows and columns in the whole matrix, and its dense entries."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    matrix: Any


def decompose(A: SparseMatrix) -> tuple[list[tuple[int, int, Any]], list[Block]]:
    """Split A into pivots (row, column, value) and dense blocks; their number and ranks add up to rank A.

    With the pivots in this order, then the blocks, A is block triangular up to exchanges of rows and columns
    and a minor that contains all pivots and one minor of each block is, up to sign, their product.

    Raises:
        TooLargeError: if a block has more than :data:`LARGEST_BLOCK` entries.
    """
    # Lines are rows 0..m−1 and columns m..m+n−1; an entry joins two lines.
    m = A.shape[0]
    joined: dict[int, set[int]] = {}
    for (i, j), value in A.entries.items():
        if value:
            joined.setdefault(i, set()).add(m + j)
            joined.setdefault(m + j, set()).add(i)
    pivots = []
    lonely = [line for line, others in joined.items() if len(others) == 1]
    while lonely:
        line = lonely.pop()
        if len(joined.get(line, ())) != 1:
            continue
        (partner,) = joined.pop(line)
        i, j = min(line, partner), max(line, partner) - m
        pivots.append((i, j, A.entries[i, j]))
        for other in joined.pop(partner) - {line}:
            joined[other].discard(partner)
            if len(joined[other]) == 1:
                lonely.append(other)
    blocks = []
    seen: set[int] = set()
    for start in sorted(line for line in joined if joined[line]):
        if start in seen:
            continue
        component, stack = {start}, [start]
        while stack:
            for other in joined[stack.pop()] - component:
                component.add(other)
                stack.append(other)
        seen |= component
        rows = sorted(line for line in component if line < m)
        columns = sorted(line - m for line in component if line >= m)
        if len(rows) * len(columns) > LARGEST_BLOCK:
            raise TooLargeError(
                f"a connected part of the sparse matrix has {len(rows)} x {len(columns)} entries; "
                f"at most {LARGEST_BLOCK} can be made dense"
            )
        place = {j: k for k, j in enumerate(columns)}
        dense = [[0] * len(columns) for _ in rows]
        for row, i in zip(dense, rows, strict=True):
            for line in joined[i]:
                row[place[line - m]] = A.entries[i, line - m]
        blocks.append(Block(tuple(rows), tuple(columns), integer_matrix(dense, len(columns))))
    return pivots, blocks
