r"""Zeros of square polynomial systems over ℚ, proved to exist in boxes, and signatures of symmetric balls.

Krawczyk's operator: for a box X with midpoint m, any matrix C, and F′(X) a matrix of balls that contains all
derivatives on X,

.. math:: K(X) = m - C F(m) + (1 - C F'(X)) (X - m).

If K(X) lies in the interior of X, then X contains exactly one zero of F, which lies in K(X), and F′ is
nonsingular there; so the zero is simple. It holds for real boxes and for boxes of complex numbers, which
are products of rectangles, as these are convex (Moore, Kearfott and Cloud, *Introduction to Interval
Analysis*, 2009, §8.2).

>>> from agattn.algebra.polynomial import PolynomialRing
>>> x, y = PolynomialRing(["x", "y"]).gens
>>> zero = certified_zero(System([x**2 + y**2 - 2, x - y]), [0.9, 1.1])
>>> [entry.str(5, radius=False) for entry in zero.point], zero.bits
(['1.0000', '1.0000'], 128)
>>> certified_zero(System([x**2 - 2 * x * y + y**2, x - 1]), [0.9, 1.1]) is None  # a double zero
True
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import mul
from typing import Any

import flint
import numpy as np

from agattn.algebra.echelon import rational
from agattn.algebra.polynomial import Polynomial

#: Working precisions, tried in turn.
PRECISIONS = (128, 256, 512, 1024, 2048)


@dataclass(frozen=True)
class Zero:
    """A simple zero of a system: the only one in a box.

    Attributes:
        point: balls that contain it, one for each variable.
        box: larger balls, in which it is the only zero.
        jacobian: a matrix of balls that contains the derivative there; its rows belong to the equations.
        bits: the working precision.
    """

    point: list[Any]
    box: list[Any]
    jacobian: Any
    bits: int

    def excludes(self, other: Zero) -> bool:
        """Whether the two are proved to be different zeros."""
        return not all(a.overlaps(b) for a, b in zip(self.point, other.point, strict=True))


class System:
    """n polynomials over ℚ in n variables with their derivatives, ready to be evaluated at balls.

    Raises:
        ValueError: if the numbers of polynomials and of variables differ.
    """

    def __init__(self, polynomials: Sequence[Polynomial]) -> None:
        self.polynomials = tuple(polynomials)
        ring = self.polynomials[0].ring
        if len(ring) != len(self.polynomials):
            raise ValueError(f"{len(self.polynomials)} equations in {len(ring)} variables")
        self.size = len(ring)
        self.values = Evaluation(self.polynomials)
        self._derivatives = Evaluation([f.derivative(x) for f in self.polynomials for x in ring.gens])

    def jacobian(self, point: Sequence[Any]) -> Any:
        """A matrix of balls that contains the derivatives on a box."""
        return _matrix(self.size, self.size, self._derivatives(point))


class Evaluation:
    """Polynomials over ℚ of one ring, ready to be evaluated at balls."""

    def __init__(self, polynomials: Sequence[Polynomial]) -> None:
        tables = [f.terms for f in polynomials]
        self._degrees = [max(column) for column in zip(*chain(*tables), strict=True)]
        self._terms = [
            [(rational(c), [(i, e - 1) for i, e in enumerate(key) if e]) for key, c in terms.items()]
            for terms in tables
        ]

    def __call__(self, point: Sequence[Any]) -> list[Any]:
        """Balls that contain the values on a box of ``arb`` or ``acb``."""
        zero = type(point[0])(0) if point else flint.arb(0)
        powers = [list(accumulate([x] * d, mul)) for x, d in zip(point, self._degrees, strict=False)]
        result = []
        for f in self._terms:
            total = zero
            for c, key in f:
                term = flint.arb(c)
                for i, e in key:
                    term *= powers[i][e]
                total += term
            result.append(total)
        return result


def evaluate(polynomials: Sequence[Polynomial], point: Sequence[Any]) -> list[Any]:
    """Balls that contain the values of polynomials over ℚ on a box of ``arb`` or ``acb``."""
    return Evaluation(polynomials)(point)


def certified_zero(system: System, start: Sequence[Any], bits: int = 128) -> Zero | None:
    """A simple zero of the system near ``start``, proved; ``None`` where Newton's method finds none to prove.

    Args:
        system: the polynomials.
        start: numbers or balls near the zero, real (floats, ``arb``) or complex (``complex``, ``acb``).
        bits: the first precision to try; see :data:`PRECISIONS`.
    """
    complex_ = any(isinstance(x, (complex, flint.acb)) for x in start)
    kind = flint.acb if complex_ else flint.arb
    middle = [kind(x) for x in start]
    for precision in [p for p in PRECISIONS if p >= bits]:
        with flint.ctx.workprec(precision), suppress(ZeroDivisionError, ValueError, OverflowError):
            middle, settled = _newton(system, [_middle(x) for x in middle], precision)
            if settled and (zero := _krawczyk(system, middle, precision)) is not None:
                return zero
            if not settled and precision > bits:
                break  # more precision makes no better start
    return None


def _newton(system: System, m: list[Any], bits: int) -> tuple[list[Any], bool]:
    """Newton's method on midpoints, and whether the steps became small."""
    for _ in range(40):
        step = system.jacobian(m).mid().solve(_column(system.values(m))).mid().entries()
        moved = [_middle(x - s) for x, s in zip(m, step, strict=True)]
        if not all(abs(x).is_finite() for x in moved):
            return m, False
        size = max(float(abs(s).upper()) / (1 + float(abs(x).upper())) for s, x in zip(step, m, strict=True))
        m = moved
        if size < 2.0 ** -min(bits * 3 // 5, 1000):
            return m, True
    return m, False


def _krawczyk(system: System, m: list[Any], bits: int) -> Zero | None:
    """The test of the module's head around m, with boxes that shrink until it holds."""
    kind, size = type(m[0]), len(m)
    values = _column(system.values(m))
    C = system.jacobian(m).mid().inv().mid()
    one = _matrix(size, size, [kind(i == j) for i in range(size) for j in range(size)])
    for digits in (bits // 8, bits // 4, bits * 3 // 8):
        radii = [(1 + abs(x).upper()) * flint.arb(2) ** -digits for x in m]
        box, outer = [x + _ball(kind, r) for x, r in zip(m, radii, strict=True)], None
        for _ in range(10):
            jacobian = system.jacobian(box)
            offset = _column([_ball(kind, r) for r in radii])
            moves = ((one - C * jacobian) * offset - C * values).entries()
            if outer is None:
                if not all(_within(move, r) for move, r in zip(moves, radii, strict=True)):
                    break
                outer = box
            # The zero is in K(X), which makes the box smaller, until it is as small as the precision allows.
            last, radii = radii, [abs(move).upper() for move in moves]
            box = [x + _ball(kind, r) for x, r in zip(m, radii, strict=True)]
            if all(2 * new > old for new, old in zip(radii, last, strict=True)):
                break
        if outer is not None:
            return Zero(box, outer, system.jacobian(box), bits)
    return None


def _ball(kind: Any, radius: Any) -> Any:
    ball = flint.arb(0, radius.upper())
    return ball if kind is flint.arb else flint.acb(ball, ball)


def _within(x: Any, radius: Any) -> bool:
    """Whether a ball is in the interior of the interval, or square, of this half-width around 0."""
    parts = [x] if isinstance(x, flint.arb) else [x.real, x.imag]
    return all(abs(part) < radius.lower() for part in parts)


def _middle(x: Any) -> Any:
    return x.mid() if isinstance(x, flint.arb) else flint.acb(x.real.mid(), x.imag.mid())


def _matrix(rows: int, columns: int, entries: Sequence[Any]) -> Any:
    kind = flint.acb_mat if entries and isinstance(entries[0], flint.acb) else flint.arb_mat
    return kind(rows, columns, entries)


def _column(entries: Sequence[Any]) -> Any:
    return _matrix(len(entries), 1, entries)


def signature(H: Any) -> tuple[int, int] | None:
    """The numbers of positive and of negative eigenvalues of every symmetric matrix within an ``arb_mat``.

    H is brought near to a diagonal of ±1 by congruences with matrices of floats, H ↦ SᵀHS in balls. If then
    every diagonal entry is larger than the sum of the others in its row, the signs of the diagonal are those
    of the eigenvalues (Gershgorin), S is nonsingular, as SᵀHS is, and Sylvester's law of inertia gives H.
    ``None`` if that does not happen; so never for a matrix that may be singular.

    >>> H, singular = [[0, 1, 0], [1, 0, 0], [0, 0, -3]], [[1, 1], [1, 1]]
    >>> signature(flint.arb_mat(H)), signature(flint.arb_mat(singular))
    ((1, 2), None)
    """
    size = H.nrows()
    for _ in range(6):
        entries = H.tolist()
        off = [
            sum((abs(x) for j, x in enumerate(row) if j != i), flint.arb(0)) for i, row in enumerate(entries)
        ]
        if all(abs(entries[i][i]) > off[i] for i in range(size)):
            negative = sum(1 for i in range(size) if entries[i][i] < 0)
            return size - negative, negative
        middle = np.array([float(x.mid()) for x in H.entries()]).reshape(size, size)
        if not np.isfinite(middle).all() or not middle.any():
            return None
        values, vectors = np.linalg.eigh((middle + middle.T) / np.abs(middle).max())
        S = vectors / np.sqrt(np.maximum(np.abs(values), 1e-300))
        if not np.isfinite(S).all():
            return None
        change = flint.arb_mat(S.tolist())
        H = change.transpose() * H * change
    return None
