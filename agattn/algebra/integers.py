"""Integer matrices as the rank computations hold them: ``int64`` arrays where they fit, else ``fmpz_mat``.

>>> A = integer_matrix([[1, 2], [3, 2**80]])
>>> type(A).__name__, type(integer_matrix([[1, 2], [3, 4]])).__name__
('fmpz_mat', 'ndarray')
>>> submatrix(A, [1], [0, 1])
[3, 1208925819614629174706176]
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import Any

import flint
import numpy as np

# Half the range of int64: room for a sign change and one addition.
SMALL = 2**62


def integer_matrix(rows: Sequence[Sequence[Any]], columns: int | None = None) -> Any:
    """An integer matrix from rows of ints or ``fmpz``; ``columns`` is needed when there are no rows."""
    m = len(rows)
    n = len(rows[0]) if m else columns or 0
    flat = [x for row in rows for x in row]
    if all(-SMALL < x < SMALL for x in flat):
        return np.array([int(x) for x in flat], dtype=np.int64).reshape(m, n)
    return flint.fmpz_mat(m, n, flat)


def shape(A: Any) -> tuple[int, int]:
    """The numbers of rows and columns of an array or a FLINT matrix."""
    if isinstance(A, np.ndarray):
        return int(A.shape[0]), int(A.shape[1])
    return A.nrows(), A.ncols()


def as_fmpz_mat(A: Any) -> Any:
    """The matrix as an ``fmpz_mat``."""
    return flint.fmpz_mat(A.shape[0], A.shape[1], A.ravel().tolist()) if isinstance(A, np.ndarray) else A


def submatrix(A: Any, rows: Sequence[int], columns: Sequence[int]) -> Any:
    """The submatrix with these rows and columns, as an ``fmpz_mat``."""
    if isinstance(A, np.ndarray):
        return as_fmpz_mat(A[np.ix_(np.asarray(rows, dtype=int), np.asarray(columns, dtype=int))])
    entries, n = A.entries(), A.ncols()
    return flint.fmpz_mat(len(rows), len(columns), [entries[i * n + j] for i in rows for j in columns])


def hadamard_bits(A: Any, size: int) -> float:
    """An upper bound for log₂ of the absolute value of every minor of this size (Hadamard's inequality).

    The minor is at most the product of the lengths of its rows, and of its columns. Zero minors count as 1.

    >>> hadamard_bits(np.array([[3, 4], [0, 1]]), 2) <= 2.4
    True
    """
    return min(_largest_norms(A, size, 1), _largest_norms(A, size, 0))


def _largest_norms(A: Any, size: int, axis: int) -> float:
    """The sum of log₂ of the largest Euclidean lengths of the rows (axis 1) or columns (axis 0)."""
    if isinstance(A, np.ndarray):
        # Entries are below 2^62, so their squares and sums are far inside the range of floats. The factor
        # covers the rounding of the conversion, the squares and the sum.
        squares = (A.astype(np.float64) ** 2).sum(axis=axis) * (1 + 1e-9)
        logs = [log2(s) / 2 for s in squares.tolist() if s > 1]
    else:
        table = (A if axis == 1 else A.transpose()).tolist()
        logs = []
        for row in table:
            bits = max((abs(x).bit_length() for x in row), default=0)
            if bits:
                logs.append(bits + log2(len(row)) / 2)
    return sum(sorted(logs, reverse=True)[:size]) * (1 + 1e-9)
