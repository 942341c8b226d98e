r"""Lower bounds for the rank of a real matrix known by balls, or as floats and again by balls.

Pivots are chosen in ``float64`` on the midpoints, by complete pivoting (:func:`pivots`), and never trusted:
the chosen square block must be proved nonsingular in balls (:func:`is_nonsingular`). If B encloses the block
and C is any matrix, ‖1 − CB‖ < 1 is such a proof, for *every* matrix within the balls; C is an inverse of the
midpoints. What is left is the Schur complement :math:`S_{22} - S_{21} S_{11}^{-1} S_{12}`, computed in balls.
Floats only see some forty bits at a time; the rounds of :func:`elimination` go on until no entry of the
complement excludes zero.

>>> elimination(arb_matrix([[1, 2], [2, 4]], 64), 64).rank
1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import inf, prod
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from agattn.algebra.residues import permutation_sign

# Within one round a pivot may be this much smaller than the first: floats carry 53 bits.
_ROUND_BITS = 36


@dataclass(frozen=True, eq=False)
class BallMinor:
    """A minor that is proved not to vanish, and what an elimination in balls left beside it.

    Attributes:
        rows, columns: increasing indices from 0; their number is proved to be at most the rank.
        blocks: square matrices of balls; up to sign the minor is the product of their determinants.
        sign: that sign.
        precision_bits: the working precision.
        gap: log₂ of (the smallest pivot / the largest value the remaining Schur complement may have);
            ``inf`` where that is *exactly* zero or empty, so that the rank is proved to be no larger.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    blocks: tuple[Any, ...]
    sign: int
    precision_bits: int
    gap: float

    @property
    def rank(self) -> int:
        """The size of the minor."""
        return len(self.rows)

    @cached_property
    def value(self) -> Any:
        """A ball that contains the minor."""
        with flint.ctx.workprec(self.precision_bits):
            return prod((block.det() for block in self.blocks), start=flint.arb(self.sign))

    def __str__(self) -> str:
        k = self.rank
        return f"a {k} x {k} minor is {'not zero' if self.value.contains(0) else self.value.str(6)}"


def arb_matrix(rows: Sequence[Sequence[Any]], bits: int) -> Any:
    """An ``arb_mat`` from exact numbers or (midpoint, radius) pairs, rounded outwards to ``bits``."""
    with flint.ctx.workprec(bits):
        entries = [flint.arb(*x) if isinstance(x, tuple) else flint.arb(x) for row in rows for x in row]
        return flint.arb_mat(len(rows), len(rows[0]) if rows else 0, entries)


def elimination(matrix: Any, bits: int) -> BallMinor:
    """Eliminate in an ``arb_mat`` of shape (m, n) at ``bits`` of precision."""
    with flint.ctx.workprec(bits):
        return _eliminate(matrix, bits)


def _eliminate(matrix: Any, bits: int) -> BallMinor:
    left, rows, columns = matrix, list(range(matrix.nrows())), list(range(matrix.ncols()))
    pivot_rows: list[int] = []
    pivot_columns: list[int] = []
    blocks: list[Any] = []
    smallest = inf
    while rows and columns:
        entries, width = left.entries(), len(columns)
        places, others, sizes = _pivots_of_balls(entries, len(rows), width)
        if not places:
            break
        while True:
            block = _part(entries, width, places, others)
            rest_rows = sorted(set(range(len(rows))) - set(places))
            rest_columns = sorted(set(range(width)) - set(others))
            blocks_of = (places, others), (rest_rows, rest_columns)
            if len(places) == 1:  # which always passes, for its ball excludes zero
                left = _complement(entries, width, block, *blocks_of)
                break
            if is_nonsingular(block):
                with suppress(ZeroDivisionError):  # balls grow while FLINT solves, at few bits as far as zero
                    left = _complement(entries, width, block, *blocks_of)
                    break
            keep = len(places) // 2
            places, others, sizes = places[:keep], others[:keep], sizes[:keep]
        blocks.append(block)
        pivot_rows += [rows[i] for i in places]
        pivot_columns += [columns[j] for j in others]
        smallest = min(smallest, *sizes)
        rows, columns = [rows[i] for i in rest_rows], [columns[j] for j in rest_columns]
    remaining = max((_exponent(x) for x in left.entries()), default=-inf) if rows and columns else -inf
    # Without a pivot to compare with nothing separates the entries from zero.
    gap = inf if remaining == -inf else smallest - remaining if pivot_rows else 0.0
    sign = permutation_sign(pivot_rows) * permutation_sign(pivot_columns)
    return BallMinor(tuple(sorted(pivot_rows)), tuple(sorted(pivot_columns)), tuple(blocks), sign, bits, gap)


def _complement(
    entries: list[Any],
    width: int,
    block: Any,
    places: tuple[list[int], list[int]],
    rest: tuple[list[int], list[int]],
) -> Any:
    """The Schur complement of a block: what is left, minus below · block⁻¹ · right.

    Raises:
        ZeroDivisionError: if the block cannot be solved for at this precision.
    """
    left = _part(entries, width, *rest)
    right, below = _part(entries, width, places[0], rest[1]), _part(entries, width, rest[0], places[1])
    if not rest[0] or not rest[1]:
        return left
    if len(rest[1]) <= len(rest[0]):
        return left - below * block.solve(right)
    return left - block.transpose().solve(below.transpose()).transpose() * right


def _part(entries: list[Any], width: int, rows: list[int], columns: list[int]) -> Any:
    return flint.arb_mat(len(rows), len(columns), [entries[i * width + j] for i in rows for j in columns])


def _pivots_of_balls(entries: list[Any], m: int, n: int) -> tuple[list[int], list[int], list[float]]:
    """Rows, columns and log₂ of the pivots that floats can see; none if no ball excludes zero."""
    best, top = None, -inf
    for k, x in enumerate(entries):
        if not x.contains(0):
            size = _exponent(x.abs_lower())
            if size > top:
                best, top = k, size
    if best is None:
        return [], [], []
    scale = flint.arb(2) ** (-int(top))
    scaled = [x * scale for x in entries]
    floats = np.array([float(x.mid()) for x in scaled]).reshape(m, n)
    noise = max(float(x.rad()) for x in scaled)
    # The first pivot is one whose ball excludes zero; an entry of larger midpoint may not.
    rows, columns, sizes = pivots(floats, max(2.0**-_ROUND_BITS, 4 * noise), first=divmod(best, n))
    return rows.tolist(), columns.tolist(), [float(np.log2(size)) + top for size in sizes]


def pivots(
    matrix: NDArray[np.float64], floor: float, first: tuple[int, int] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp], list[float]]:
    """Rows, columns and sizes of the pivots of an elimination with complete pivoting in floats.

    The elimination of ``matrix``, of shape (m, n), ends where no entry is above ``floor``. The pivot at
    ``first`` is taken whatever its size; by default it is the largest entry.

    >>> rows, columns, sizes = pivots(np.array([[0.0, 2.0], [3.0, 0.0]]), 1e-9)
    >>> rows.tolist(), columns.tolist(), sizes
    ([1, 0], [0, 1], [3.0, 2.0])
    """
    work = matrix.copy()
    rows, columns = np.arange(work.shape[0]), np.arange(work.shape[1])
    sizes: list[float] = []
    for k in range(min(work.shape)):
        block = work[k:, k:]
        i, j = first if first and not k else divmod(int(np.abs(block).argmax()), block.shape[1])
        size = abs(float(block[i, j]))
        if not (size > floor or (first and not k)):
            break
        sizes.append(size)
        work[[k, k + i]] = work[[k + i, k]]
        work[:, [k, k + j]] = work[:, [k + j, k]]
        rows[[k, k + i]] = rows[[k + i, k]]
        columns[[k, k + j]] = columns[[k + j, k]]
        work[k + 1 :, k:] -= np.outer(work[k + 1 :, k] / work[k, k], work[k, k:])
    return rows[: len(sizes)], columns[: len(sizes)], sizes


def is_nonsingular(B: Any) -> bool:
    """Whether a square ``arb_mat`` is proved nonsingular at the current precision.

    True is a proof for every matrix inside the balls; False says nothing.

    >>> is_nonsingular(flint.arb_mat([[1, 2], [3, 4]])), is_nonsingular(flint.arb_mat([[1, 2], [2, 4]]))
    (True, False)
    """
    one = flint.arb_mat(np.eye(B.nrows()).tolist())
    for C in _approximate_inverses(B):
        if all(sum(map(abs, row), flint.arb(0)) < 1 for row in (C * B - one).tolist()):
            return True
    return False


def _approximate_inverses(B: Any) -> Iterator[Any]:
    # Doubles are good enough unless the matrix is badly conditioned; then the inverse is computed in balls.
    with suppress(np.linalg.LinAlgError):
        C = np.linalg.inv(np.array([float(x.mid()) for x in B.entries()]).reshape(B.nrows(), -1))
        if np.isfinite(C).all():
            yield flint.arb_mat(C.tolist())
    with suppress(ZeroDivisionError):
        yield B.mid().inv().mid()


def _exponent(x: Any) -> float:
    """The exponent e with |x| < 2^e for every x in the ball, about sharp; −∞ for an exact zero."""
    mantissa, exponent = x.abs_upper().mid().man_exp()
    return float(exponent + abs(mantissa).bit_length()) if mantissa else -inf
