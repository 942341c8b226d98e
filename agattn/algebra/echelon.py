"""Reduced row echelon forms and kernels of FLINT matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from math import gcd
from typing import Any, Union

import flint
import numpy.typing as npt

#: A prime for choosing independent vectors; no result depends on it.
PRIME = 2**61 - 1

Matrix = Union[Sequence[Sequence[Any]], "npt.NDArray[Any]"]
"""Rows of exact numbers: ints, Fractions, or FLINT integers and rationals."""


def rational(x: Any) -> flint.fmpq:
    """An int, Fraction, or FLINT number as a FLINT rational."""
    return flint.fmpq(x.numerator, x.denominator) if type(x) is Fraction else flint.fmpq(x)


def fraction(x: Any) -> Fraction:
    """A FLINT rational as a Fraction."""
    return Fraction(int(x.p)) if x.q == 1 else Fraction(int(x.p), int(x.q))


def primitive(numbers: Sequence[Any]) -> list[int]:
    """The coprime integers that are a positive multiple of rational numbers; zeros for zeros.

    >>> primitive([Fraction(1, 2), Fraction(-1, 3), 0])
    [3, -2, 0]
    """
    whole = list(map(int, rational_matrix([numbers], len(numbers)).numer_denom()[0].entries()))
    divisor = gcd(*whole) or 1
    return [x // divisor for x in whole]


def rational_matrix(rows: Matrix, columns: int) -> flint.fmpq_mat:
    """The rows, each of length ``columns``, as a matrix over ℚ; there may be none."""
    # FLINT takes its own numbers and ints as they are; isinstance would ask an abstract base class of each.
    table = rows.tolist() if hasattr(rows, "tolist") else rows
    entries = [rational(x) if type(x) is Fraction else x for row in table for x in row]
    return flint.fmpq_mat(len(rows), columns, entries)


def sparse_rows(vectors: Sequence[Mapping[Any, Any]], zeros: Any = flint.fmpz_mat) -> Any:
    """Sparse vectors as the rows of a matrix, with one column for each key that occurs.

    Args:
        vectors: numbers by their keys.
        zeros: makes a matrix of zeros of FLINT of the right kind from the numbers of rows and columns.

    >>> sparse_rows([{"x": 1, "y": 2}, {"y": Fraction(1, 2)}], flint.fmpq_mat)
    [1,   2]
    [0, 1/2]
    """
    columns = {name: n for n, name in enumerate(dict.fromkeys(chain.from_iterable(vectors)))}
    matrix = zeros(len(vectors), len(columns))
    for row, vector in enumerate(vectors):
        for name, x in vector.items():
            matrix[row, columns[name]] = rational(x) if type(x) is Fraction else x
    return matrix


def echelon(matrix: Any) -> tuple[Any, list[int]]:
    """The reduced row echelon form, and the columns of its leading entries: as many as the rank.

    Args:
        matrix: over a field: an ``fmpq_mat``, or an ``nmod_mat`` modulo a prime.

    >>> echelon(flint.fmpq_mat([[0, 2, 4], [0, 1, 2], [0, 0, 3]]))
    ([0, 1, 0]
    [0, 0, 1]
    [0, 0, 0], [1, 2])
    """
    reduced, rank = matrix.rref()
    pivots: list[int] = []
    column = 0
    for row in range(rank):
        while not reduced[row, column]:
            column += 1
        pivots.append(column)
        column += 1
    return reduced, pivots


def independent_columns(matrix: Any) -> list[int]:
    """Columns of an integer matrix that are no combinations of earlier columns modulo a large prime.

    They are independent over ℚ; that none is missing is for the caller to know from a dimension.
    """
    return echelon(flint.nmod_mat(matrix, PRIME))[1]


def independent_vectors(vectors: Iterable[Mapping[Any, int]]) -> Iterator[int]:
    """As :func:`independent_columns`, for sparse vectors: integers by their places, which can be sorted.

    >>> list(independent_vectors([{1: 2}, {0: 1, 1: 1}, {0: 3}, {}]))
    [0, 1]
    """
    echelon_form: dict[Any, dict[Any, int]] = {}
    for number, vector in enumerate(vectors):
        left = {place: x % PRIME for place, x in vector.items() if x % PRIME}
        while left and (first := min(left)) in echelon_form:
            factor = left[first]
            for place, x in echelon_form[first].items():
                if y := (left.get(place, 0) - factor * x) % PRIME:
                    left[place] = y
                else:
                    left.pop(place, None)
        if left:
            inverse = pow(left[first], -1, PRIME)
            echelon_form[first] = {place: x * inverse % PRIME for place, x in left.items()}
            yield number


def independent_rows(rows: Matrix) -> list[int]:
    """The rows that are no combinations over ℚ of earlier rows.

    >>> independent_rows([[0, 0], [1, 2], [2, 4], [0, 1]]), independent_rows([[3, 1]])
    ([1, 3], [0])
    """
    return echelon(rational_matrix(rows, len(rows[0])).transpose())[1] if len(rows) else []


def rational_rank(rows: Matrix) -> int:
    """The rank over ℚ of rows of exact numbers, 0 of no rows.

    >>> rational_rank([[1, 2], [2, Fraction(4)]])
    1
    """
    return int(rational_matrix(rows, len(rows[0])).rank()) if len(rows) else 0


def kernel_basis(matrix: flint.fmpq_mat) -> list[list[flint.fmpq]]:
    """A basis of the kernel of a matrix over ℚ, read off its reduced row echelon form.

    >>> kernel_basis(flint.fmpq_mat(1, 2, [2, 1]))
    [[-1/2, 1]]
    """
    reduced, pivots = echelon(matrix)
    columns = matrix.ncols()
    basis = []
    for free in sorted(set(range(columns)) - set(pivots)):
        vector = [flint.fmpq(0)] * columns
        vector[free] = flint.fmpq(1)
        for row, pivot in enumerate(pivots):
            vector[pivot] = -reduced[row, free]
        basis.append(vector)
    return basis


def integer_kernel(matrix: flint.fmpq_mat) -> list[list[int]]:
    """The basis of :func:`kernel_basis`, each vector as coprime integers.

    >>> integer_kernel(flint.fmpq_mat(1, 2, [2, 1]))
    [[-1, 2]]
    """
    return list(map(primitive, kernel_basis(matrix)))


def saturate(rows: flint.fmpz_mat) -> flint.fmpz_mat:
    """A basis of all integer vectors in the row space of a matrix of full row rank.

    >>> saturate(flint.fmpz_mat([[2, 0, 4]]))
    [1, 0, 2]
    """
    # If H is the Hermite form of the columns, the rows of H⁻ᵀB generate all integer vectors.
    columns = rows.transpose()
    hermite = flint.fmpz_mat(columns.hnf().tolist()[: rows.nrows()])
    return (flint.fmpq_mat(columns) * flint.fmpq_mat(hermite).inv()).numer_denom()[0].transpose()


def short_basis(rows: flint.fmpz_mat) -> list[list[int]]:
    """The basis of :func:`saturate` after lattice reduction, the shortest vector first.

    >>> short_basis(flint.fmpz_mat([[2, 0, 4], [5, 1, 11]]))
    [[0, 1, 1], [1, -1, 1]]
    """
    vectors = [[int(x) for x in row] for row in saturate(rows).lll().tolist()]
    return sorted(vectors, key=lambda vector: sum(x * x for x in vector))
