"""Singular values in high precision: the numerical fallback, and what a spectrum plot shows.

FLINT reduces a matrix to two diagonals by reflections, and computes their singular values, in floating point
of high precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flint
import mpmath

#: Singular values up to this size; above, a rank-revealing QR decomposition, whose diagonal tracks them.
SVD_SIZE = 80
#: After so many turns, an even number, the rows and columns that are done are left out of a matrix.
_TURNS = 8


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
    current precision, by Householder reflections that take turns on columns and on rows: after 2k + 1
    turns column k is (..., b_k, 0, ..., 0)ᵀ, and after the next one row k is (..., b_k, e_k, 0, ..., 0). What
    is done is never read again, and is left out of the matrix after every few turns.

    >>> with mpmath.workprec(60):
    ...     numbers = bidiagonal(mpmath.matrix([[3, 5], [4, 0]]).tolist())
    ...     print([mpmath.nstr(x, 5) for x in numbers])
    ['-5.0', '3.0', '-4.0']
    """
    entries = []
    with flint.ctx.workprec(mpmath.mp.prec):
        M, done = flint.arb_mat([[flint.arb(_man_exp(x)) for x in row] for row in rows]), 0
        for turn in range(2 * len(rows[0]) - 1):
            if turn % _TURNS == 0:
                k = turn // 2 - done
                M, done = flint.arb_mat([row[k:] for row in M.tolist()[k:]]), turn // 2
            k = turn // 2 - done
            on_rows = turn % 2
            if on_rows:
                x, v, half = _reflection([M[k, j] for j in range(k + 1, M.ncols())], k + 1)
            else:
                x, v, half = _reflection([M[i, k] for i in range(k, M.nrows())], k)
            entries.append(x)
            if half is None:
                continue
            # (1 − 2vvᵀ/vᵀv) M for columns, M (1 − 2vvᵀ/vᵀv) for rows
            if on_rows:
                M = (M - (M * v * (1 / half)).mid() * v.transpose()).mid()
            else:
                M = (M - v * (v.transpose() * M * (1 / half)).mid()).mid()
    return [mpmath.mpf(tuple(map(int, x.man_exp()))) for x in entries]


def _reflection(entries: list[Any], zeros: int) -> tuple[Any, Any, Any]:
    """A number x, a vector v and vᵀv/2, with which (1 − 2vvᵀ/vᵀv) makes entries (x, 0, ..., 0)ᵀ.

    In front v has so many zeros. Entries that all are 0 need no reflection: v and vᵀv/2 are ``None``.
    """
    norm = sum((y * y for y in entries), flint.arb(0)).mid()
    if norm == 0:
        return norm, None, None
    x = norm.sqrt().mid()
    x = -x if entries[0] >= 0 else x
    first = (entries[0] - x).mid()
    v = [flint.arb(0)] * zeros + [first, *entries[1:]]
    return x, flint.arb_mat(len(v), 1, v), (norm - x * (x + first)).mid()


def _man_exp(x: Any) -> tuple[int, int]:
    """The integers (m, k) of a number m·2^k of mpmath."""
    sign, man, exp, _ = x._mpf_
    return (-int(man) if sign else int(man)), exp


def _eigenvalues(numbers: list[Any]) -> list[Any]:
    """The eigenvalues of BᵀB for the bidiagonal matrix B with these numbers, at mpmath's current precision.

    BᵀB has b_i² + e_{i−1}² on the diagonal and b_i e_i beside. What is below the precision of the largest
    number is taken for zero. The smallest numbers come first, as the method wants them.
    """
    with flint.ctx.workprec(mpmath.mp.prec):
        b, e = ([flint.arb(_man_exp(x)) for x in half] for half in (numbers[::2], numbers[1::2]))
        diagonal = [(x * x + y * y).mid() for x, y in zip(b, [flint.arb(0), *e], strict=True)]
        least = (max(diagonal) * flint.arb(2) ** (1 - mpmath.mp.prec)).mid() ** 2
        squares = [((x * y) ** 2).mid() for x, y in zip(b, e, strict=False)]
        squares = [x if x > least else flint.arb(0) for x in squares]
        eigenvalues = tridiagonal_eigenvalues(diagonal[::-1], squares[::-1])
    return [mpmath.mpf(tuple(map(int, x.man_exp()))) for x in eigenvalues]


def tridiagonal_eigenvalues(diagonal: Sequence[Any], squares: Sequence[Any]) -> list[Any]:
    """The eigenvalues of a symmetric tridiagonal matrix, in no order, at FLINT's current precision.

    The QL method with Wilkinson's shifts, which needs no more than the squares of the numbers beside the
    diagonal. Each turn is a product of rotations with cosines² c and sines² s.

    Args:
        diagonal: n numbers.
        squares: the squares of the n − 1 numbers beside.

    Raises:
        ArithmeticError: if the method does not converge.

    Source: Parlett, *The Symmetric Eigenvalue Problem* (1998), Section 8.15, after Pal, Walker and Kahan.

    >>> found = tridiagonal_eigenvalues([flint.arb(2), flint.arb(2)], [flint.arb(1)])
    >>> [x.str(4, radius=False) for x in found]
    ['1.000', '3.000']
    """
    one, zero = flint.arb(1), flint.arb(0)
    d, e = list(diagonal), [*squares, zero]
    small = flint.arb(2) ** (2 - 2 * flint.ctx.prec)
    for first in range(len(d)):
        for _ in range(flint.ctx.prec):
            last = first
            while last + 1 < len(d) and e[last] > small * (abs(d[last]) + abs(d[last + 1])).mid() ** 2:
                last += 1
            e[last] = zero
            if last == first:
                break
            # The shift is the eigenvalue next to d of the two by two matrix at the beginning.
            beside = e[first].sqrt()
            half = (d[first + 1] - d[first]) / (2 * beside)
            root = (half * half + 1).sqrt()
            shift = (d[first] - beside / (half - root if half < 0 else half + root)).mid()
            c, s, g = one, zero, (d[last] - shift).mid()
            p = (g * g).mid()
            for i in range(last - 1, first - 1, -1):
                r = (p + e[i]).mid()
                if i + 1 < last:
                    e[i + 1] = (s * r).mid()
                before, old = c, g
                c, s = (p / r).mid(), (e[i] / r).mid()
                g = (c * (d[i] - shift) - s * old).mid()
                d[i + 1] = (old + (d[i] - g)).mid()
                p = (g * g / c if c else before * e[i]).mid()
            e[first], d[first] = (s * p).mid(), (shift + g).mid()
        else:
            raise ArithmeticError(f"an eigenvalue was not found in {flint.ctx.prec} turns")
    return d


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
