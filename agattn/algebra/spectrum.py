"""Singular values in high precision: the numerical fallback, and what a spectrum plot shows.

FLINT reduces a matrix to two diagonals by reflections, in floating point of high precision. Of these
diagonals mpmath computes the singular values, with gmpy2 as its backend where that is installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flint
import mpmath
from mpmath.matrices.eigen_symmetric import tridiag_eigen

#: Singular values up to this size; above, a rank-revealing QR decomposition, whose diagonal tracks them.
SVD_SIZE = 80


def singular_values(rows: Sequence[Sequence[Any]], bits: int) -> list[Any]:
    """The singular values of a real matrix, largest first, as mpmath numbers at ``bits`` of precision.

    Above size :data:`SVD_SIZE` these are the diagonal entries of a QR decomposition with column pivoting.

    Args:
        rows: the entries, m rows of n numbers that :func:`mpmath.mpmathify` understands.
        bits: working precision.

    >>> [mpmath.nstr(s, 5) for s in singular_values([[3, 0], [4, 0], [0, 1]], 60)]
    ['5.0', '1.0']
    """
    with mpmath.workprec(bits):
        matrix = [[mpmath.mpmathify(x) for x in row] for row in rows]
        if not matrix or not matrix[0]:
            return []
        if len(matrix) < len(matrix[0]):
            matrix = [list(column) for column in zip(*matrix, strict=True)]
        if len(matrix[0]) > SVD_SIZE:
            R = pivoted_triangle(matrix)
            return [abs(R[i][i]) for i in range(len(R))]
        numbers = bidiagonal(matrix)
    # Squares need twice the precision.
    with mpmath.workprec(2 * bits + 8):
        squares = _eigenvalues(numbers)
    with mpmath.workprec(bits):
        return sorted((mpmath.sqrt(max(x, mpmath.mpf(0))) for x in squares), reverse=True)


def bidiagonal(rows: list[list[Any]]) -> list[Any]:
    """The numbers b_1, e_1, b_2, ..., e_{n−1}, b_n of a bidiagonal matrix with the same singular values.

    Its diagonal is b, and e stands above. There are at least as many rows as columns. Works at mpmath's
    current precision, by Householder reflections that take turns on columns and on rows: where a reflection
    has made the first column (x, 0, ..., 0)ᵀ, the other columns, transposed, are what is left to do, and
    begin with the rest of the first row.

    >>> with mpmath.workprec(60):
    ...     numbers = bidiagonal(mpmath.matrix([[3, 5], [4, 0]]).tolist())
    ...     print([mpmath.nstr(x, 5) for x in numbers])
    ['-5.0', '3.0', '-4.0']
    """
    found = []
    with flint.ctx.workprec(mpmath.mp.prec):
        M = flint.arb_mat([[flint.arb(_man_exp(x)) for x in row] for row in rows])
        while M.nrows() and M.ncols():
            columns = M.transpose().tolist()
            first, others = columns[0], columns[1:]
            norm = sum((x * x for x in first), flint.arb(0)).mid()
            if norm != 0:
                # (1 − 2vvᵀ/vᵀv) M with v = (M_11 − x, M_21, ...) has the first column (x, 0, ..., 0)ᵀ.
                x = norm.sqrt().mid()
                x = -x if first[0] >= 0 else x
                first[0] = (first[0] - x).mid()
                v = flint.arb_mat([[y] for y in first])
                half = (norm - x * (x + first[0])).mid()
                M = (M - v * (v.transpose() * M * (1 / half)).mid()).mid()
                others = M.transpose().tolist()[1:]
                found.append(x)
            else:
                found.append(norm)
            M = flint.arb_mat(others) if others else flint.arb_mat(0, 0)
    return [mpmath.mpf(tuple(map(int, x.man_exp()))) for x in found]


def _man_exp(x: Any) -> tuple[int, int]:
    """The integers (m, k) of a number m·2^k of mpmath."""
    sign, man, exp, _ = x._mpf_
    return (-int(man) if sign else int(man)), exp


def _eigenvalues(numbers: list[Any]) -> list[Any]:
    """The eigenvalues of BᵀB for the bidiagonal matrix B with these numbers, at mpmath's current precision.

    BᵀB has b_i² + e_{i−1}² on the diagonal and b_i e_i beside. What is below the precision of the largest
    number is taken for zero. The smallest numbers come first, as the method wants them.
    """
    b, e = numbers[::2], numbers[1::2]
    diagonal = [x * x + y * y for x, y in zip(b, [mpmath.mpf(0), *e], strict=True)]
    beside = [x * y for x, y in zip(b, e, strict=False)]
    least = mpmath.eps * max(diagonal)
    beside = [x if abs(x) > least else mpmath.mpf(0) for x in beside]
    diagonal.reverse()
    tridiag_eigen(mpmath.mp, diagonal, [*beside[::-1], mpmath.mpf(0)])
    return diagonal


def pivoted_triangle(rows: list[list[Any]]) -> list[list[Any]]:
    """The factor R of a QR decomposition with column pivoting (m ≥ n), by Householder reflections; square.

    Works on columns, at mpmath's current precision. The absolute values of the diagonal fall, up to
    rounding, and track the singular values.
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    n = len(columns)
    for k in range(n):
        norms = [mpmath.fsum(columns[j][k:], squared=True) for j in range(k, n)]
        best = k + max(range(n - k), key=norms.__getitem__)
        if not norms[best - k]:
            break
        columns[k], columns[best] = columns[best], columns[k]
        vector = columns[k][k:]
        length = mpmath.sqrt(norms[best - k])
        diagonal = -length if vector[0] >= 0 else length
        vector[0] -= diagonal
        half = mpmath.fdot(vector, vector) / 2
        columns[k][k:] = [diagonal] + [mpmath.mpf(0)] * (len(vector) - 1)
        for j in range(k + 1, n):
            tail = columns[j][k:]
            factor = mpmath.fdot(vector, tail) / half
            columns[j][k:] = [x - factor * v for x, v in zip(tail, vector, strict=True)]
    return [[columns[j][i] if i <= j else mpmath.mpf(0) for j in range(n)] for i in range(n)]


def widest_gap(values: Sequence[Any], noise_bits: int) -> tuple[int, float | None]:
    """The rank seen in descending singular values and its gap, log₂ σ_r/σ_{r+1}; ``None`` at full rank.

    Values below 2^(−noise_bits) times the largest are noise of the arithmetic; the rank is where they begin.

    >>> widest_gap([mpmath.mpf(4), mpmath.mpf(1), mpmath.mpf(2) ** -50], 40)
    (2, 50.0)
    """
    if not values or not values[0]:
        return 0, None
    threshold = mpmath.ldexp(values[0], -noise_bits)
    rank = sum(1 for s in values if s > threshold)
    if rank == len(values):
        return rank, None
    # An exact zero is as small as the working precision for all one can tell.
    below = values[rank] or mpmath.ldexp(values[0], -2 * noise_bits)
    return rank, float(mpmath.log(values[rank - 1] / below, 2))


def midpoints(balls: Any, bits: int) -> list[list[Any]]:
    """The midpoints of an array of balls, (m, n), as mpmath numbers, rounded to a precision."""

    def number(x: Any) -> Any:
        return mpmath.mpf(tuple(map(int, x.mid().man_exp())))

    with mpmath.workprec(bits):
        return [[number(x) for x in row] for row in balls.tolist()]
