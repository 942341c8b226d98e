"""Singular values in high precision: the numerical fallback, and what a spectrum plot shows.

FLINT reduces a matrix to two diagonals by reflections, and computes their singular values, in floating point
of high precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flint

#: After so many turns, an even number, the rows and columns that are done are left out of a matrix.
_TURNS = 8


def singular_values(balls: Any, bits: int) -> list[Any]:
    """The singular values of a real matrix, largest first, as balls of radius 0 at ``bits`` of precision.

    Args:
        balls: the matrix, (m, n): an ``arb_mat`` or an array of balls, of which the midpoints are taken.
        bits: working precision.

    >>> [s.str(5, radius=False) for s in singular_values(flint.arb_mat([[3, 0], [4, 0], [0, 1]]), 60)]
    ['5.0000', '1.0000']
    """
    with flint.ctx.workprec(bits):
        matrix = flint.arb_mat(balls.tolist()).mid()
        if not matrix.nrows() or not matrix.ncols():
            return []
        numbers = bidiagonal(matrix if matrix.nrows() >= matrix.ncols() else matrix.transpose())
    # Squares need twice the precision.
    with flint.ctx.workprec(2 * bits + 8):
        squares = _eigenvalues(numbers)
    with flint.ctx.workprec(bits):
        return sorted((max(x, flint.arb(0)).sqrt().mid() for x in squares), reverse=True)


def bidiagonal(matrix: Any) -> list[Any]:
    """The numbers b_1, e_1, b_2, ..., e_{n−1}, b_n of a bidiagonal matrix with the same singular values.

    Its diagonal is b, and e stands above. There are at least as many rows as columns. Works at FLINT's
    current precision, by Householder reflections that take turns on columns and on rows: after 2k + 1
    turns column k is (..., b_k, 0, ..., 0)ᵀ, and after the next one row k is (..., b_k, e_k, 0, ..., 0). What
    is done is never read again, and is left out of the matrix after every few turns.

    >>> [x.str(5, radius=False) for x in bidiagonal(flint.arb_mat([[3, 5], [4, 0]]))]
    ['-5.0000', '3.0000', '-4.0000']
    """
    entries, M, done = [], matrix, 0
    for turn in range(2 * matrix.ncols() - 1):
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
    return entries


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


def _eigenvalues(numbers: list[Any]) -> list[Any]:
    """The eigenvalues of BᵀB for the bidiagonal matrix B with these numbers, at FLINT's current precision.

    BᵀB has b_i² + e_{i−1}² on the diagonal and b_i e_i beside. What is below the precision of the largest
    number is taken for zero. The smallest numbers come first, as the method wants them.
    """
    b, e = numbers[::2], numbers[1::2]
    diagonal = [(x * x + y * y).mid() for x, y in zip(b, [flint.arb(0), *e], strict=True)]
    least = (max(diagonal) * flint.arb(2) ** (1 - flint.ctx.prec)).mid() ** 2
    squares = [((x * y) ** 2).mid() for x, y in zip(b, e, strict=False)]
    squares = [x if x > least else flint.arb(0) for x in squares]
    return tridiagonal_eigenvalues(diagonal[::-1], squares[::-1])


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

    >>> eigenvalues = tridiagonal_eigenvalues([flint.arb(2), flint.arb(2)], [flint.arb(1)])
    >>> [x.str(4, radius=False) for x in eigenvalues]
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
                p = (g * g / c if c > 0 else before * e[i]).mid()
            e[first], d[first] = (s * p).mid(), (shift + g).mid()
        else:
            raise ArithmeticError(f"an eigenvalue was not found in {flint.ctx.prec} turns")
    return d


def widest_gap(values: Sequence[Any], noise_bits: int) -> tuple[int, float | None]:
    """The rank seen in descending singular values and its gap, log₂ σ_r/σ_{r+1}; ``None`` at full rank.

    Values below 2^(−noise_bits) times the largest are noise of the arithmetic; the rank is where they begin.

    >>> widest_gap([flint.arb(4), flint.arb(1), flint.arb(2) ** -50], 40)
    (2, 50.0)
    """
    if not values or values[0] == 0:
        return 0, None
    threshold = values[0] * flint.arb(2) ** -noise_bits
    rank = sum(1 for s in values if s > threshold)
    if rank == len(values):
        return rank, None
    # An exact zero is as small as the working precision for all one can tell.
    below = values[rank] if values[rank] > 0 else values[0] * flint.arb(2) ** (-2 * noise_bits)
    return rank, logarithm(values[rank - 1] / below)


def logarithm(x: Any, base: int = 2) -> float:
    """The logarithm of a positive number, a float or a ball of radius 0, up to rounding."""
    return float(flint.arb(x).log_base(base))
