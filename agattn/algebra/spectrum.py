"""Singular values in high precision: the numerical fallback, and what a spectrum plot shows.

mpmath computes them, with gmpy2 as its backend where that is installed (mpmath chooses it by itself). A tall
matrix is first reduced to its triangular factor, which has the same singular values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath

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
        if len(matrix[0]) > SVD_SIZE or len(matrix) > len(matrix[0]):
            R = pivoted_triangle(matrix)
            if len(R) > SVD_SIZE:
                return [abs(R[i][i]) for i in range(len(R))]
            matrix = R
        values = mpmath.svd_r(mpmath.matrix(matrix), compute_uv=False)
        return sorted((abs(values[i]) for i in range(len(values))), reverse=True)


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
