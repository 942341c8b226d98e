r"""Lower bounds for the rank of a matrix of balls, by elimination in midpoint-radius arithmetic.

Pivots are chosen in ``float64`` on the midpoints, by complete pivoting, and never trusted: each chosen square
block S must have a determinant whose ball excludes zero, and what is left is the Schur complement
:math:`S_{22} - S_{21} S_{11}^{-1} S_{12}`, computed in balls. Both steps are exact statements about *every*
matrix within the balls, so the number of pivots is a proved lower bound for the rank of each of them. Floats
only see some forty bits at a time; the rounds go on until no entry of the Schur complement excludes zero.

>>> elimination(arb_matrix([[1, 2], [2, 4]], 64), 64).rank
1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import Any

import flint
import numpy as np

from agattn.algebra.residues import permutation_sign

# Within one round a pivot may be this much smaller than the first: floats carry 53 bits.
_ROUND_BITS = 36


@dataclass(frozen=True, eq=False)
class BallMinor:
    """A minor whose ball excludes zero, with increasing indices from 0."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    value: Any

    def __str__(self) -> str:
        k = len(self.rows)
        return f"a {k} x {k} minor is {self.value.str(6)}"


@dataclass(frozen=True, eq=False)
class BallElimination:
    """What one elimination in balls has shown.

    Attributes:
        rank: the number of pivots: proved to be at most the rank.
        minor: the minor that proves it.
        precision_bits: the working precision.
        gap: log₂ of (the smallest pivot / the largest value the remaining Schur complement may have);
            ``inf`` where no more rows or columns are left or the complement is exactly zero.
        exhausted: whether the complement is *exactly* zero, or empty: then the rank is proved to be ``rank``.
    """

    rank: int
    minor: BallMinor
    precision_bits: int
    gap: float
    exhausted: bool


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Set FLINT's precision for ball arithmetic, and set it back."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def arb_matrix(rows: Sequence[Sequence[Any]], bits: int) -> Any:
    """An ``arb_mat`` from exact numbers or (midpoint, radius) pairs, rounded outwards to ``bits``."""
    with working_precision(bits):
        m = len(rows)
        return flint.arb_mat(m, len(rows[0]) if m else 0, [_ball(x) for row in rows for x in row])


def _ball(x: Any) -> Any:
    if not isinstance(x, tuple):
        return flint.arb(x)
    midpoint, radius = x
    return flint.arb(midpoint) + flint.arb(0, 1) * flint.arb(radius) if radius else flint.arb(midpoint)


def elimination(matrix: Any, bits: int) -> BallElimination:
    """Eliminate in an ``arb_mat`` of shape (m, n) at ``bits`` of precision."""
    with working_precision(bits):
        return _eliminate(matrix, bits)


def _eliminate(matrix: Any, bits: int) -> BallElimination:
    m, n = matrix.nrows(), matrix.ncols()
    left = matrix
    rows, columns = list(range(m)), list(range(n))
    pivot_rows: list[int] = []
    pivot_columns: list[int] = []
    determinant = flint.arb(1)
    smallest = inf
    while rows and columns:
        entries = left.entries()
        chosen = _pivots(entries, len(rows), len(columns))
        if chosen is None:
            break
        places, others, sizes = chosen
        width = len(columns)
        while True:
            block = flint.arb_mat(
                len(places), len(places), [entries[i * width + j] for i in places for j in others]
            )
            value = block.det()
            if not value.contains(0):
                break
            # A single pivot always passes, for its ball excludes zero.
            keep = len(places) // 2
            places, others, sizes = places[:keep], others[:keep], sizes[:keep]
        determinant *= value
        pivot_rows += [rows[i] for i in places]
        pivot_columns += [columns[j] for j in others]
        smallest = min(smallest, *sizes)
        rest_rows = _without(range(len(rows)), places)
        rest_columns = _without(range(width), others)
        left = _schur(entries, width, block, places, others, rest_rows, rest_columns)
        rows, columns = [rows[i] for i in rest_rows], [columns[j] for j in rest_columns]
    remaining = max((_exponent(x) for x in left.entries()), default=-inf) if rows and columns else -inf
    exhausted = remaining == -inf
    sign = permutation_sign(pivot_rows) * permutation_sign(pivot_columns)
    minor = BallMinor(tuple(sorted(pivot_rows)), tuple(sorted(pivot_columns)), determinant * sign)
    if not pivot_rows:
        # There is no pivot to compare with; nothing separates the entries from zero.
        gap = inf if exhausted else 0.0
    else:
        gap = inf if exhausted else smallest - remaining
    return BallElimination(len(pivot_rows), minor, bits, gap, exhausted)


def _schur(
    entries: list[Any], width: int, block: Any, places: list[int], others: list[int],
    rest_rows: list[int], rest_columns: list[int],
) -> Any:  # fmt: skip
    def part(rows: list[int], columns: list[int]) -> Any:
        return flint.arb_mat(len(rows), len(columns), [entries[i * width + j] for i in rows for j in columns])

    if not rest_rows or not rest_columns:
        return flint.arb_mat(len(rest_rows), len(rest_columns))
    corner, right, below = part(rest_rows, rest_columns), part(places, rest_columns), part(rest_rows, others)
    if len(rest_columns) <= len(rest_rows):
        return corner - below * block.solve(right)
    return corner - (block.transpose().solve(below.transpose())).transpose() * right


def _pivots(entries: list[Any], m: int, n: int) -> tuple[list[int], list[int], list[float]] | None:
    """Complete pivoting in floats: rows, columns, log₂ of the pivots; ``None`` if no ball excludes zero."""
    best, top = None, -inf
    for k, x in enumerate(entries):
        if not x.contains(0):
            size = _exponent(x.abs_lower())
            if size > top:
                best, top = k, size
    if best is None:
        return None
    scale = flint.arb(2) ** (-int(top))
    F = np.array([float((x * scale).mid()) for x in entries]).reshape(m, n)
    noise = max(float((x * scale).rad()) for x in entries) if entries else 0.0
    floor = max(2.0**-_ROUND_BITS, 4 * noise)
    # The first pivot is one whose ball excludes zero; an entry of larger midpoint may not.
    i, j = divmod(best, n)
    places: list[int] = []
    others: list[int] = []
    sizes: list[float] = []
    while True:
        pivot = F[i, j]
        places.append(i)
        others.append(j)
        sizes.append(float(np.log2(abs(pivot))) + top)
        column, row = F[:, j] / pivot, F[i].copy()
        F -= np.outer(column, row)
        F[i], F[:, j] = 0, 0
        i, j = divmod(int(np.argmax(np.abs(F))), n)
        if not abs(F[i, j]) > floor:
            return places, others, sizes


def _exponent(x: Any) -> float:
    """The exponent e with |x| < 2^e for every x in the ball, about sharp; −∞ for an exact zero."""
    mantissa, exponent = x.abs_upper().mid().man_exp()
    return float(exponent + abs(mantissa).bit_length()) if mantissa else -inf


def _without(indices: range, taken: list[int]) -> list[int]:
    gone = set(taken)
    return [i for i in indices if i not in gone]
