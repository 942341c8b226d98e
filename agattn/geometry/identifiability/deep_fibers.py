r"""The generic fiber of a deep lightning network, with its symmetries as callables.

The function depends on the weights through the virtual weights M_i = L_{i−1}ᵀ A_i L_{i−1} and L alone,
which the changes of basis between the layers leave as they are. If t ≥ 3, L ≠ 0, and every M_i has rank at
least 2 and is not skew-symmetric, the functions of (M, L) and (M', L') agree exactly if M'_i = μ_i M_i and
L' = λL with λ Π μ_i^{3^{l−i}} = 1 (HMK, Theorem 3.7). In (A, V) space, where the inner widths are all δ ≤
d_0, d_l and L has rank δ, nothing else has the same virtual weights (HMK, Lemma 3.5), so the fiber has
dimension l + (l − 1)δ².

>>> A = [[[1, 2], [0, 1]], [[1, 1], [0, 2]]]
>>> V = [[[1, 1], [0, 1]], [[2, 1], [1, 1]]]
>>> through = DeepFiber(A, V)
>>> through.hypotheses_hold, through.dimension
(True, 6)
>>> A2, V2 = through.change_basis([[[1, 3], [0, 1]]])
>>> A3, V3 = DeepFiber(A2, V2).rescale([2, "1/3"])
>>> through.contains(A3, V3), through.contains(A3, V)
(True, False)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from agattn.algebra.scalars import (
    TOLERANCE,
    Array,
    RankDecision,
    as_floats,
    decide_rank,
    is_exact,
    matrix,
    scalars,
)
from agattn.errors import InputError
from agattn.geometry.identifiability.virtual_weights import (
    change_basis,
    rational_inverse,
    rescaling_weight,
    virtual_weights,
)

Layers = tuple[list[Array], list[Array]]


class DeepFiber:
    """The fiber through weights A_1, ..., A_l and V_1, ..., V_l, exact or floating, for t ≥ 3.

    Raises:
        InputError: if the shapes do not fit.
    """

    def __init__(self, A: Sequence[Any], V: Sequence[Any], tolerance: float = TOLERANCE) -> None:
        self.A, self.V = _layers(A, V)
        self.tolerance = tolerance
        self.dims = [self.V[0].shape[1], *(len(M) for M in self.V)]

    @cached_property
    def virtual(self) -> tuple[list[Array], Array]:
        """(M, L)."""
        M, L = virtual_weights(self.A, self.V)
        if is_exact(*self.A, *self.V):
            return M, L
        return [as_floats(M_i) for M_i in M], as_floats(L)

    @cached_property
    def ranks(self) -> list[RankDecision]:
        """The ranks of M_1, ..., M_l and, last, of L, with the margins of their decisions."""
        M, L = self.virtual
        return [decide_rank(matrix, self.tolerance) for matrix in (*M, L)]

    @property
    def hypotheses_hold(self) -> bool:
        """Whether the hypotheses of HMK's Theorem 3.7 on M and L hold."""
        M, _ = self.virtual
        skew = any(self._small(M_i + M_i.T, M_i) for M_i in M)
        return not skew and self.ranks[-1].rank > 0 and all(r.rank >= 2 for r in self.ranks[:-1])

    @property
    def dimension(self) -> int | None:
        """The dimension in (A, V) space, l + (l − 1)δ²; ``None`` outside the hypotheses."""
        inner = set(self.dims[1:-1])
        bottleneck = not inner or (
            len(inner) == 1
            and min(inner) <= min(self.dims[0], self.dims[-1])
            and self.ranks[-1].rank in inner
        )
        if not self.hypotheses_hold or not bottleneck:
            return None
        return len(self.A) + sum(int(d) ** 2 for d in self.dims[1:-1])

    def change_basis(self, C: Sequence[Any]) -> Layers:
        """V_i → C_i V_i C_{i−1}⁻¹ and A_i → C_{i−1}⁻ᵀ A_i C_{i−1}⁻¹ for C_1, ..., C_{l−1} (HMK, equation 9).

        Raises:
            InputError: if a C_i is missing, has another shape, or no inverse.
        """
        given = [matrix(C_i, f"C_{i}") for i, C_i in enumerate(C, 1)]
        for i, (C_i, d) in enumerate(zip(given, self.dims[1:-1], strict=False), 1):
            if C_i.shape != (d, d):
                raise InputError(f"C_{i} has the shape {C_i.shape}; it must be {d} × {d}")
        exact = is_exact(*given, *self.A, *self.V)
        try:
            if exact:
                return change_basis(self.A, self.V, given, inverse=rational_inverse)
            floats = [[as_floats(M) for M in matrices] for matrices in (self.A, self.V, given)]
            return change_basis(floats[0], floats[1], floats[2], inverse=np.linalg.inv)
        except (ZeroDivisionError, np.linalg.LinAlgError) as error:
            raise InputError("a matrix C has no inverse") from error

    def rescale(self, mu: Sequence[Any]) -> Layers:
        """A_i → μ_i A_i and V_l → λ V_l with λ = 1 / Π μ_i^{3^{l−i}} (HMK, equation 13).

        Raises:
            InputError: if there is not one nonzero μ_i for each layer.
        """
        factors = scalars(mu, "μ").ravel()
        if len(factors) != len(self.A) or not all(factors):
            raise InputError(
                f"μ has {len(factors)} entries; give one that is not 0 for each of {len(self.A)} layers"
            )
        if not is_exact(*self.A, *self.V):
            factors = as_floats(factors)
        A = [m * A_i for m, A_i in zip(factors, self.A, strict=True)]
        return A, [*self.V[:-1], self.V[-1] / rescaling_weight(list(factors))]

    def contains(self, A: Sequence[Any], V: Sequence[Any]) -> bool | None:
        """Whether other weights of the same shapes have the same function for t ≥ 3 tokens.

        ``None`` where their virtual weights are no rescaling of each other and the hypotheses of Theorem 3.7
        do not hold, so that they might still.

        Raises:
            InputError: if the shapes differ.
        """
        other = DeepFiber(A, V, self.tolerance)
        if other.dims != self.dims:
            raise InputError(f"the widths are {other.dims} and {self.dims}; only equal ones can be compared")
        (M, L), (M2, L2) = self.virtual, other.virtual
        if all(any(not x.any() for x in side) for side in ((*M, L), (*M2, L2))):
            return True  # both functions are 0: a layer with virtual weight 0 puts out 0
        ratios = [self._ratio(x, y) for x, y in zip((*M, L), (*M2, L2), strict=True)]
        if all(ratio is not None for ratio in ratios):
            *mu, lam = ratios
            gap = lam * rescaling_weight(mu) - 1
            if gap == 0 or (
                not isinstance(gap, int) and not is_exact(L, L2) and abs(gap) < 1e3 * self.tolerance
            ):
                return True
        return False if self.hypotheses_hold else None

    def _ratio(self, one: Array, other: Array) -> Any:
        """The s ≠ 0 with other = s·one, or ``None``."""
        if not is_exact(one, other):
            one, other = as_floats(one), as_floats(other)
        size = (one * one).sum()
        if not size:
            return None
        s = (one * other).sum() / size
        return s if s and self._small(other - s * one, other) else None

    def _small(self, difference: Array, scale: Array) -> bool:
        if is_exact(difference, scale):
            return not difference.any()
        return bool(np.linalg.norm(difference) <= self.tolerance * np.linalg.norm(scale))


def _layers(A: Sequence[Any], V: Sequence[Any]) -> Layers:
    if len(A) != len(V) or not len(A):
        raise InputError(f"there are {len(A)} matrices A and {len(V)} matrices V; give one of each per layer")
    first = [matrix(M, f"A_{i}") for i, M in enumerate(A, 1)]
    second = [matrix(M, f"V_{i}") for i, M in enumerate(V, 1)]
    width = second[0].shape[1]
    for i, (A_i, V_i) in enumerate(zip(first, second, strict=True), 1):
        if A_i.shape != (width, width) or V_i.shape[1] != width:
            raise InputError(
                f"A_{i} is {A_i.shape} and V_{i} is {V_i.shape}; with d_{i - 1} = {width} they do not fit"
            )
        width = len(V_i)
    if not is_exact(*first, *second):
        first, second = [as_floats(M) for M in first], [as_floats(M) for M in second]
    return first, second
