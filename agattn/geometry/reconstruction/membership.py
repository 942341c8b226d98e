r"""Is this tensor in the neuromanifold, and which weights does it come from?

For exact tensors the answer is a proof. All complex preimages come from unique factorization
(:mod:`agattn.geometry.identifiability.preimages`), so a tensor is

- in M, with its weights up to the fiber;
- in M̄(ℝ) and not in M: h ⊗ q ⊗ Q with Q definite of rank 2;
- the tensor of an A of rank above a;
- or not in M̄ at all: then it violates an equation, and one is named
  (:mod:`agattn.geometry.reconstruction.separating_equations`).

For floating-point tensors the same is decided up to a stated tolerance on the relative residual, from the
best approximation by alternating least squares (:mod:`agattn.geometry.reconstruction.nearest_point`); the
evidence is
``numerical``. Where a tensor is not in M, the weights returned are those of the nearest point found.

With one token, t = 1, only V and A + Aᵀ can be recovered
(:mod:`agattn.geometry.reconstruction.one_token_membership`).

>>> from agattn.architectures import SingleLayer
>>> found = identify(SingleLayer(2, 1), [5, 22, 21, 10, 34, 28])
>>> print(found)
in M: unique factorization of y_{1,1} into linear forms
>>> [[str(x) for x in row] for row in found.A], [[str(x) for x in row] for row in found.V]
([['1', '2'], ['3', '4']], [['5', '7']])
>>> print(identify(SingleLayer(2, 1), [1, 0, 1, 0, 0, 0]))
not in M, but in its Zariski closure: h ⊗ q ⊗ Q with Q definite
>>> print(identify(SingleLayer(2, 1), [1, 0, 0, 0, 0, 1]))
not in the Zariski closure of M: the resultant of y_{1,1} and y_{1,2} on the plane (1, 0), (0, 1) is 1
>>> print(identify(SingleLayer(2, 1, 1), [5, 22, 21, 10, 34, 28]).reason)
the rank of A is 2, above a = 1: the 2 × 2 minor, rows b = 1, 2, columns (c,{i,k}) = (1,{1,1}), (1,{1,2}),
of the matrix of all y_{c,b,{i,k}} is -50
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from agattn.algebra.scalars import (
    TOLERANCE,
    Array,
    RankDecision,
    as_floats,
    decide_rank,
    is_exact,
    scalars,
    scaled,
)
from agattn.architectures import SingleLayer
from agattn.errors import InputError, UndecidedError
from agattn.evidence import Evidence, Shown
from agattn.geometry.identifiability.gauge import canonical_scale
from agattn.geometry.identifiability.preimages import preimages
from agattn.geometry.reconstruction.nearest_point import nearest_weights
from agattn.geometry.reconstruction.separating_equations import Violation, find_violation
from agattn.geometry.variety.coefficient_norm import symmetric_tensor
from agattn.geometry.variety.coordinates import compact_coefficients, full_tensor, monomials

RESIDUAL_TOLERANCE = 1e-8
"""Relative residual below which a floating-point tensor counts as a point of M, unless said otherwise."""


@dataclass(frozen=True, eq=False)
class Identification(Shown):
    """What is known about a tensor.

    Attributes:
        layer: the layer.
        in_neuromanifold: whether it is in M; ``None`` where that stayed open.
        in_zariski_closure: whether it is in M̄.
        A: d × d, in the canonical scale; of the nearest point found where the tensor is not in M. At t = 1
            the symmetric matrix (A + Aᵀ)/2. Exact where the tensor is exact and has rational weights;
            ``None`` where they are not rational and too large for floating point.
        V: d' × d, likewise.
        residual: ‖y − φ_{A,V}‖ / ‖y‖ in the invariant norm; 0 for exact weights.
        evidence: how the two answers are known.
        reason: in words.
        violation: an equation of M̄ that fails, where the tensor is not in M̄.
        rank_a: the rank of A as it was recovered, without the bound a.
        preimages: the number of preimages up to scaling over ℂ; ``None`` in floating point.
        steps: rounds of alternating least squares, 0 where none were needed.
    """

    layer: SingleLayer
    in_neuromanifold: bool | None
    in_zariski_closure: bool | None
    A: Array | None
    V: Array | None
    residual: float
    evidence: Evidence
    reason: str
    violation: Violation | None = None
    rank_a: RankDecision | None = None
    preimages: int | None = None
    steps: int = 0

    def __str__(self) -> str:
        if self.in_neuromanifold:
            return f"in M: {self.reason}"
        if self.in_neuromanifold is None:
            return f"undecided: {self.reason}"
        if self.in_zariski_closure:
            return f"not in M, but in its Zariski closure: {self.reason}"
        if self.in_zariski_closure is None:
            return f"not in M: {self.reason}"
        return f"not in the Zariski closure of M: {self.reason}"


def identify(
    layer: SingleLayer, tensor: Any, tolerance: float = RESIDUAL_TOLERANCE, nearest: bool = True
) -> Identification:
    """Recover the weights of a coefficient tensor, or say why there are none.

    Args:
        layer: the layer; ``layer.t`` says how many tokens a full tensor has.
        tensor: the N compact coefficients in the order of
            :func:`agattn.geometry.variety.coordinates.coefficients`, or the full tensor d' × t × C(dt+2, 3).
            Integers and rationals are exact; floats are not.
        tolerance: the relative residual up to which a floating-point tensor counts as one of M.
        nearest: whether to look for the nearest point of M where the tensor is not in it.

    Raises:
        InputError: if the tensor has the wrong shape or an entry that is not a finite number; or if it is a
            full tensor that is not the expansion of any compact one.
    """
    y = compact(layer, tensor, tolerance)
    if layer.t == 1:
        from agattn.geometry.reconstruction.one_token_membership import identify_one_token

        return identify_one_token(layer, y, tolerance)
    if not y.any():
        A = y[0] * np.zeros((layer.d, layer.d), dtype=np.int64)
        V = y[0] * np.zeros((layer.d_out, layer.d), dtype=np.int64)
        evidence = Evidence.PROVED if is_exact(y) else Evidence.NUMERICAL
        return Identification(layer, True, True, A, V, 0.0, evidence, "the tensor is 0: A = 0 or V = 0")
    return _exact(layer, y, nearest) if is_exact(y) else _floating(layer, y, tolerance)


def compact(layer: SingleLayer, tensor: Any, tolerance: float = RESIDUAL_TOLERANCE) -> Array:
    """The N compact coefficients of a compact or full tensor, exact or in float64.

    Raises:
        InputError: as :func:`identify` does.
    """
    y = scalars(tensor, "the tensor")
    N, full = layer.ambient_dimension, (layer.d_out, layer.t, comb(layer.d * layer.t + 2, 3))
    if y.size == N and (y.ndim == 1 or layer.t > 1):
        return y.reshape(N)
    if y.shape != full:
        raise InputError(
            f"the tensor has the shape {y.shape}; {layer} needs N = {N} compact coefficients"
            f" or all of them, {full[0]} × {full[1]} × {full[2]}"
        )
    found = compact_coefficients(layer, y)
    gap = np.abs(full_tensor(layer, found) - y)
    if gap.any() and (is_exact(y) or gap.max() > tolerance * np.abs(y).max()):
        c, tau, m = np.unravel_index(int(gap.argmax()), gap.shape)
        name = "·".join(f"x_{{{i},{j}}}" for i, j in monomials(layer.d, layer.t)[m])
        raise InputError(
            f"the full tensor is that of no layer: the coefficient of {name} in output ({c + 1}, {tau + 1})"
            " does not follow from the others"
        )
    return found


def _exact(layer: SingleLayer, y: Array, nearest: bool) -> Identification:
    free = SingleLayer(layer.d, layer.d_out)
    fiber = preimages(free, y.tolist())
    number = fiber.number
    if fiber.points:
        point = fiber.points[0]
        A, V = canonical_scale(point.A, point.V)
        rank = decide_rank(A)
        if rank.rank <= layer.alpha:
            return Identification(
                layer, True, True, A, V, 0.0, Evidence.PROVED, fiber.reason, None, rank, number
            )
        minor = find_violation(layer, y, rank_only=True)
        reason = f"the rank of A is {rank.rank}, above a = {layer.a}: {minor}"
        return _outside(layer, y, False, reason, minor, rank, number, nearest)
    if fiber.discriminant is None:
        # Unique factorization has decided; an equation is for the reader.
        found = _violation(free, y, 0.0)
        reason = str(found or f"{fiber.reason}; no violated equation was found among some hundreds")
        return _outside(layer, y, False, reason, found, None, 0, nearest)
    D = fiber.discriminant
    if D < 0:
        return _outside(
            layer, y, True, "h ⊗ q ⊗ Q with Q definite", None, RankDecision(1, None, None), 2, nearest
        )
    near_A, near_V, residual, _ = _nearest_point(layer, y, 1)
    reason = f"h ⊗ q ⊗ Q with Q = l·l', which are conjugate over ℚ(√{D}); the weights shown are rounded"
    rank = RankDecision(1, None, None)
    return Identification(layer, True, True, near_A, near_V, residual, Evidence.PROVED, reason, None, rank, 2)


def _nearest_point(layer: SingleLayer, y: Array, rank: int) -> tuple[Array | None, Array | None, float, int]:
    """A, V, the residual and the steps of the nearest point found to an exact tensor y ≠ 0.

    Where it is too large for floating point A and V are ``None``.
    """
    largest = max(abs(x) for x in y.tolist())
    near = nearest_weights(symmetric_tensor(as_floats(y / largest), layer.d, layer.d_out), rank)
    A, V = near.A, near.V
    try:
        V = V * float(largest)
    except OverflowError:
        return None, None, near.residual, near.steps
    if A.any() and V.any():
        A, V = canonical_scale(A, V)
    return A, V, near.residual, near.steps


def _outside(
    layer: SingleLayer,
    y: Array,
    in_closure: bool,
    reason: str,
    found: Violation | None,
    rank: RankDecision | None,
    number: int,
    nearest: bool,
) -> Identification:
    """An exact tensor that is not in M, with the nearest point of M if asked for."""
    A, V, residual, steps = (
        _nearest_point(layer, y, layer.alpha) if nearest else (None, None, float("nan"), 0)
    )
    return Identification(
        layer, False, in_closure, A, V, residual, Evidence.PROVED, reason, found, rank, number, steps
    )


def _floating(layer: SingleLayer, y: Array, tolerance: float) -> Identification:
    y, exponent = scaled(y)
    T = symmetric_tensor(y, layer.d, layer.d_out)
    rank_tolerance = max(TOLERANCE, tolerance)
    best = nearest_weights(T, layer.alpha)
    A, V = best.A, np.ldexp(best.V, exponent)
    if A.any() and V.any():
        A, V = canonical_scale(A, V)

    def answer(
        member: bool, closure: bool | None, reason: str, rank: RankDecision, found: Violation | None = None
    ) -> Identification:
        return Identification(
            layer, member, closure, A, V, best.residual, Evidence.NUMERICAL, reason, found, rank, None,
            best.steps,
        )  # fmt: skip

    rank = decide_rank(A, rank_tolerance)
    if best.residual <= tolerance:
        return answer(True, True, f"the relative residual {best.residual:.3g} is at most {tolerance:g}", rank)
    if layer.d > 1 and _is_definite(T, tolerance):
        return answer(False, True, "h ⊗ q ⊗ Q with Q definite", rank)
    if layer.alpha < layer.d:
        free = nearest_weights(T, layer.d)
        if free.residual <= tolerance:
            rank = decide_rank(free.A, rank_tolerance)
            found = _violation(layer, y, tolerance, rank_only=True)
            detail = f": {found}" if found else f" by a factor of {rank.margin:.3g} over the tolerance"
            return answer(
                False, False, f"the rank of A is {rank.rank}, above a = {layer.a}{detail}", rank, found
            )
    found = _violation(SingleLayer(layer.d, layer.d_out), y, tolerance)
    if found is None:
        reason = (
            f"the nearest point found is at the relative distance {best.residual:.3g}, above {tolerance:g}"
        )
        return answer(False, None, reason, rank)
    return answer(False, False, str(found), rank, found)


def _violation(layer: SingleLayer, y: Array, tolerance: float, rank_only: bool = False) -> Violation | None:
    try:
        return find_violation(layer, y, tolerance=tolerance, rank_only=rank_only)
    except UndecidedError:
        return None


def _is_definite(T: Array, tolerance: float) -> bool:
    """Whether T is h ⊗ q ⊗ Q with Q = ±(l² + m²), up to the tolerance on the relative residual."""
    d_out, d = T.shape[:2]
    by_row = T.reshape(d_out, -1)
    h = np.linalg.svd(by_row, full_matrices=False)[0][:, 0]
    by_column = (h @ by_row).reshape(d, d, d).swapaxes(0, 1).reshape(d, -1)
    q = np.linalg.svd(by_column, full_matrices=False)[0][:, 0]
    values, vectors = np.linalg.eigh((q @ by_column).reshape(d, d))
    top = np.argsort(-np.abs(values))[:2]
    if values[top].prod() <= 0:
        return False
    Q = (vectors[:, top] * values[top]) @ vectors[:, top].T
    model = np.einsum("c,b,ik->cibk", h, q, Q)
    return bool(np.linalg.norm(T - model) <= tolerance * np.linalg.norm(T))
