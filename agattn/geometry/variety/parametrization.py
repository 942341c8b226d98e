r"""The coordinates y_{c,b,{i,k}}, the map (A, V) ↦ y, and its differential, exactly.

For t ≥ 2 a layer is known by its coefficients

.. math:: y_{c,b,\{i,k\}} = V_{ci} A_{kb} + V_{ck} A_{ib} \quad (i < k), \qquad
          y_{c,b,\{i,i\}} = V_{ci} A_{ib},

the coefficients of the quadratic forms V_c(u)·A_b(u), where row V_c and column A_b are read as linear forms
in u ∈ ℂ^d (HMK, Proposition A.5). There are N = d'·d·d(d+1)/2 of them, ordered by c, then b, then i ≤ k.

>>> coefficients([[1, 0], [0, 1]], [[2, 3]])
[2, 3, 0, 0, 2, 3]
>>> coordinates(2, 1)
((1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 2, 2), (1, 2, 1, 1), (1, 2, 1, 2), (1, 2, 2, 2))
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import flint

from agattn.architectures import SingleLayer
from agattn.geometry.variety import coefficients as attention_coefficients
from agattn.geometry.variety.coefficients import CompactCoordinate as Coordinate
from agattn.geometry.variety.coefficients import compact_coordinates as coordinates

__all__ = [
    "Coordinate",
    "Matrix",
    "coefficients",
    "coordinate_index",
    "coordinates",
    "differential",
    "rational",
    "rational_matrix",
]

Matrix = Sequence[Sequence[Any]]
"""Rows of exact numbers: ints, Fractions, or FLINT integers and rationals."""


@cache
def coordinate_index(d: int, d_out: int) -> dict[Coordinate, int]:
    """The position of each coordinate in :func:`coordinates`, counted from 0.

    >>> coordinate_index(2, 1)[1, 2, 1, 1]
    3
    """
    return {name: position for position, name in enumerate(coordinates(d, d_out))}


def coefficients(A: Matrix, V: Matrix) -> list[Any]:
    """The coordinates y of the layer with attention matrix A (d × d) and value matrix V (d' × d).

    The result has N entries in the order of :func:`coordinates`, in the ring of the entries given.

    >>> from fractions import Fraction
    >>> coefficients([[Fraction(1, 2)]], [[3]])
    [Fraction(3, 2)]
    """
    return list(attention_coefficients.coefficients(SingleLayer(len(A), len(V)), A, V))


def differential(A: Matrix, V: Matrix) -> flint.fmpq_mat:
    """The N × (d² + d'd) matrix over ℚ of dφ(Ȧ, V̇) = V_c·Ȧ_b + V̇_c·A_b at (A, V).

    Its first d² columns belong to the entries of Ȧ, row by row; the others to those of V̇, row by row.

    >>> differential([[1]], [[5]])
    [5, 1]
    """
    d, d_out = len(A), len(V)
    index = coordinate_index(d, d_out)
    matrix = flint.fmpq_mat(len(index), d * d + d_out * d)
    for name, entries in nonzero_rows(A, V).items():
        for column, x in entries.items():
            matrix[index[name], column] = x
    return matrix


def nonzero_rows(A: Matrix, V: Matrix) -> dict[Coordinate, dict[int, flint.fmpq]]:
    """The rows of :func:`differential` that are not zero, by their coordinates: entries by their columns."""
    d, d_out = len(A), len(V)
    indices = range(1, d + 1)
    rows: defaultdict[Coordinate, dict[int, flint.fmpq]] = defaultdict(dict)
    for c, i, x in _nonzero(V):
        for k in indices:
            for b in indices:
                rows[c, b, min(i, k), max(i, k)][(k - 1) * d + b - 1] = x
    for k, b, x in _nonzero(A):
        for i in indices:
            for c in range(1, d_out + 1):
                rows[c, b, min(i, k), max(i, k)][d * d + (c - 1) * d + i - 1] = x
    return rows


def _nonzero(matrix: Matrix) -> Iterator[tuple[int, int, flint.fmpq]]:
    """The nonzero entries, with their places from 1."""
    for i, row in enumerate(matrix, 1):
        for k, x in enumerate(row, 1):
            if x:
                yield i, k, rational(x)


def rational(value: Any) -> flint.fmpq:
    """An int, Fraction, or FLINT number as a FLINT rational.

    >>> from fractions import Fraction
    >>> rational(Fraction(-2, 6))
    -1/3
    """
    if isinstance(value, flint.fmpq):
        return value
    if isinstance(value, (int, flint.fmpz)):
        return flint.fmpq(value)
    return flint.fmpq(value.numerator, value.denominator)


def rational_matrix(rows: Matrix, columns: int) -> flint.fmpq_mat:
    """The rows, each of length ``columns``, as a matrix over ℚ; there may be none."""
    return flint.fmpq_mat(len(rows), columns, [rational(x) for row in rows for x in row])
