r"""Which real points of M̄ are not in M: those of the form h ⊗ q ⊗ Q with Q definite of rank 2.

A real point of M̄ with one preimage up to scaling has a real one, since complex conjugation permutes
preimages. Two preimages there are only for (k qᵀ, h vᵀ) and (v qᵀ, h kᵀ), with φ = h ⊗ q ⊗ kv (HMK,
Theorem 3.2); so a point is outside M exactly when these are conjugate, k = v̄, and Q = k k̄ is definite of
rank 2.

>>> from agattn import SingleLayer
>>> from agattn.geometry.sections.slices import standard_slice
>>> layer = SingleLayer(2, 1)
>>> for piece in pieces_of_line(layer, standard_slice(layer), ((0, 0, 0), (0, 0, 1)), 1):
...     print(*piece.ends, "in M" if piece.in_m else "outside M")
-1.0 0.0 in M
0.0 1.0 outside M
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import numpy as np

from agattn.algebra.echelon import fraction, rational
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.identifiability.weights import Fiber, preimages
from agattn.geometry.sections.slices import Slice
from agattn.geometry.variety.coordinates import coordinates
from agattn.sheet.result import Key, Result, key

#: A matrix of floats has rank one if its other singular values are at most this times the first.
_TOLERANCE = 1e-7

Line = tuple[Sequence[Fraction | int], Sequence[Fraction | int]]


class Piece(Result):
    """A piece of a line in M̄ on which membership in M is constant, between two parameters, the ``ends``."""

    ends: tuple[float, float]
    sample: Key[Fraction, "The rational parameter at which membership was decided."]
    in_m: Key[bool, "Whether the piece is in M, and not only in its Zariski closure."]
    reason: Key[str, "Why the piece is in M, or is not."]

    @key(name="from")
    def start(self) -> float:
        """The parameter at which the piece begins."""
        return self.ends[0]

    @key(name="to")
    def end(self) -> float:
        """The parameter at which it ends."""
        return self.ends[1]


def pieces_of_line(layer: SingleLayer, slice_: Slice, line: Line, radius: Fraction | int) -> list[Piece]:
    """Cut a line inside M̄ into pieces on each of which all points are in M or none is.

    Where y = h ⊗ q ⊗ Q, every form y_{c,b} is a multiple of Q. The form Q can cease to be definite only where
    a minor 4 F_ii F_kk − F_ik² of every nonzero form F is zero. So membership is constant between the zeros
    of one such minor, and one rational point of each piece decides the piece, exactly. If only finitely many
    points of the line have this form, then the whole line is in M, because M is closed.

    Args:
        layer: the layer.
        slice_: the slice in whose three coordinates the line is given.
        line: a point and a direction in ℚ³.
        radius: the pieces are those for parameters from −radius to radius.

    See Also:
        :func:`outside`, for points in floating point.
    """

    def at(parameter: Fraction) -> Fiber | None:
        y = slice_.point(_on(line, parameter))
        return preimages(layer, y) if any(y) else None

    end = Fraction(radius)
    cuts = sorted({-end, *_zeros_of_minors(layer, slice_, line, end), end})
    pieces: list[Piece] = []
    for low, high in pairwise(cuts):
        # A rational number well between the two, with a small denominator.
        sample = Fraction(float(low + high) / 2).limit_denominator(max(2, int(8 / (high - low))))
        fiber = at(sample)
        if fiber is not None and not fiber.number:
            raise InputError(f"the point at {sample} of the line is not in the Zariski closure of M")
        in_m, reason = (True, "the function 0") if fiber is None else (fiber.is_real, fiber.reason)
        first = at(Fraction(low))
        pinch = first is not None and any(p.length != 1 for p in first.points)
        if pieces and pieces[-1].in_m == in_m and not pinch:
            pieces[-1] = Piece((pieces[-1].ends[0], float(high)), pieces[-1].sample, in_m, reason)
        else:
            pieces.append(Piece((float(low), float(high)), sample, in_m, reason))
    return pieces


def _on(line: Line, parameter: Fraction) -> list[Fraction]:
    return [Fraction(p) + parameter * Fraction(v) for p, v in zip(*line, strict=True)]


def _zeros_of_minors(
    layer: SingleLayer, slice_: Slice, line: Line, radius: Fraction
) -> set[Fraction | float]:
    """Where on the line some 2 × 2 minor vanishes: exactly where that is rational, else in floating point."""
    start, end = (slice_.point(_on(line, Fraction(n))) for n in (0, 1))
    at = {
        index: flint.fmpq_poly([rational(y0), rational(y1 - y0)])
        for index, y0, y1 in zip(coordinates(layer), start, end, strict=True)
    }
    zeros: set[Fraction | float] = set()
    for c, b, i, k in at:
        minor = 4 * at[c, b, i, i] * at[c, b, k, k] - at[c, b, i, k] ** 2
        if i == k or minor.degree() < 0:
            continue
        for factor, _ in minor.factor()[1]:
            low, *others = (fraction(x) for x in factor.coeffs())
            if len(others) == 1:
                zeros.add(-low / others[0])
            else:
                middle, high = map(float, others)
                root = middle * middle - 4 * high * float(low)
                if root > 0:
                    zeros |= {(-middle + sign * root**0.5) / (2 * high) for sign in (1, -1)}
    return {zero for zero in zeros if -radius < zero < radius}


def outside(layer: SingleLayer, y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Which real points of M̄ are h ⊗ q ⊗ Q with Q definite of rank 2, and so not in M; numerical.

    Args:
        layer: the layer.
        y: an array n × N of floats, with a point of M̄(ℝ) in each row.

    Returns:
        An array of n booleans.

    See Also:
        :func:`pieces_of_line`, exactly on a line.

    >>> outside(SingleLayer(2, 1), np.array([[1.0, 0, 1, 0, 0, 0], [1, 0, -1, 0, 0, 0], [1, 0, 0, 0, 1, 0]]))
    array([ True, False, False])
    """
    d, e = layer.d, layer.d_out
    T = np.asarray(y, dtype=float).reshape(len(y), e, d, -1)
    rows, h = _rank_one(T.reshape(len(y), e, -1))
    columns, q = _rank_one(T.swapaxes(1, 2).reshape(len(y), d, -1))
    form = np.einsum("nc,nb,ncbs->ns", h, q, T)
    half = np.zeros((len(y), d, d))
    half[:, *np.triu_indices(d)] = form / 2
    eigenvalues = np.linalg.eigvalsh(half + half.swapaxes(1, 2))
    order = np.argsort(-np.abs(eigenvalues), axis=1)
    first, second = (np.take_along_axis(eigenvalues, order[:, [n]], axis=1)[:, 0] for n in (0, 1))
    definite: np.ndarray[Any, Any] = rows & columns & (first * second > _TOLERANCE * first**2)
    return definite


def _rank_one(M: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Whether matrices have rank one, and their first left singular vectors."""
    U, S, _ = np.linalg.svd(M, full_matrices=False)
    small = S[:, 1:].max(axis=1, initial=0.0) <= _TOLERANCE * np.maximum(S[:, 0], 1e-300)
    return small, U[:, :, 0]
