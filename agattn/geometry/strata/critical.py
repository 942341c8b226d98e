r"""Critical points of (A, V) ↦ φ, and the boundary of M, stratum by stratum.

**Critical points** of (A, V) ↦ φ are decided exactly with the tangent cone. A pair (A, V) is critical when
the kernel of dφ(Ȧ, V̇) = V_c·Ȧ_b + V̇_c·A_b contains, inside the tangent cone C_A D_α × ℝ^{d'×d} of the
parameters, more than the direction (A, −V) of the rescaling (sA, V/s). HMK, Lemma A.3: for d ≥ 2 these are A
= 0, V = 0, and A = k qᵀ with V = h kᵀ. Where A has rank below α the cone is not a linear space, and its
linear span would be too large a set of directions.

>>> from agattn import SingleLayer
>>> from agattn.geometry.strata.strata import Stratum
>>> criticality(SingleLayer(2, 1), [[1, 0], [0, 0]], [[1, 0]]).critical
True
>>> criticality(SingleLayer(2, 1), [[1, 0], [0, 0]], [[0, 1]]).critical
False

**The boundary** of M relative to M̄(ℝ) has the limits of points of M̄(ℝ) outside M. The points of M̄(ℝ)
outside M are h ⊗ q ⊗ Q with Q definite of rank 2; they have two preimages, complex conjugates of each other.
Let y ≠ 0 be a limit of such points. The source of the projective map is compact, so along a subsequence the
pairs of preimages converge, to a preimage of y and its conjugate. If all preimages of y are real, these two
limits are the same point, near which the map is not injective: it is ramified there. So: all preimages real
and reduced means *no boundary*, and this is decided exactly by the fiber. Conversely

.. math:: h ⊗ q ⊗ (u_1^2 + ε u_2^2) \;\to\; h ⊗ q ⊗ u_1^2 \qquad (ε → 0^+)

reaches the stratum (1,1,1), and ε·h ⊗ q ⊗ (u_1² + u_2²) reaches 0 (HMK, Corollary A.6).

>>> print(boundary(SingleLayer(2, 1), Stratum(1, 1, 1)).sequence)
y(ε) = y_{1,1,1,1} + ε·y_{1,1,2,2}, ε → 0+
>>> boundary(SingleLayer(2, 1), Stratum(1, 1, 2)).on_boundary
False
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import flint

from agattn.algebra.echelon import Matrix, fraction, kernel_basis, rational_matrix
from agattn.algebra.rank import proved_rank
from agattn.architectures import SingleLayer
from agattn.errors import DisagreementError
from agattn.geometry.identifiability.weights import kernel_of_differential
from agattn.geometry.strata.strata import (
    Stratum,
    representative,
    require_stratum,
    require_two_tokens,
    stratum_fiber,
)
from agattn.geometry.variety.coordinates import Coordinate, coefficients, coordinates
from agattn.geometry.variety.determinantal import compression, in_tangent_cone

RationalMatrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Criticality:
    """Whether a pair (A, V) is critical.

    Attributes:
        critical: the answer; ``None`` where no such direction was found nor excluded.
        kernel_dimension: of ker dφ on all (Ȧ, V̇).
        direction: if critical, a (Ȧ, V̇) in the kernel and the cone that is no multiple of (A, −V).
        how: the reason in words.
    """

    critical: bool | None
    kernel_dimension: int
    direction: tuple[RationalMatrix, RationalMatrix] | None
    how: str


def criticality(layer: SingleLayer, A: Matrix, V: Matrix) -> Criticality:
    """Decide whether (A, V), with exact entries and rk A ≤ a, is critical.

    Raises:
        InputError: if t = 1.
    """
    require_two_tokens(layer)
    d = layer.d
    kernel = kernel_of_differential(A, V)
    scaling = [x for row in A for x in row] + [-x for row in V for x in row]
    width = len(scaling)
    trivial = proved_rank(rational_matrix([scaling], width))
    if len(kernel) == trivial:
        return Criticality(False, len(kernel), None, "the kernel of dφ is spanned by (A, −V)")

    def split(vector: list[flint.fmpq]) -> tuple[RationalMatrix, RationalMatrix]:
        entries = [fraction(x) for x in vector]
        rows = [tuple(entries[start : start + d]) for start in range(0, width, d)]
        return tuple(rows[:d]), tuple(rows[d:])

    # Directions in the span of ker A and coker A stay in the cone: this subspace is enough for HMK's lemma.
    directions = rational_matrix([vector[: d * d] for vector in kernel], d * d)
    relations = kernel_basis(compression(A) * directions.transpose())
    inside = rational_matrix(relations, len(kernel)) * rational_matrix(kernel, width)
    for vector in [*inside.tolist(), *kernel]:
        is_other = proved_rank(rational_matrix([scaling, vector], width)) > trivial
        if is_other and in_tangent_cone(A, layer.alpha, split(vector)[0]):
            how = "a kernel vector of dφ in the tangent cone besides (A, −V)"
            return Criticality(True, len(kernel), split(vector), how)
    return Criticality(None, len(kernel), None, "no kernel vector found in the tangent cone, none excluded")


def orbits_over_zero(layer: SingleLayer) -> list[Stratum]:
    """The ranks of the orbits of pairs (A, V) with A = 0 or V = 0, whose function is 0.

    >>> [str(ranks) for ranks in orbits_over_zero(SingleLayer(2, 1))]
    ['(0,0,0)', '(1,0,1)', '(0,1,1)', '(0,2,2)']
    """
    require_two_tokens(layer)
    of_values = [Stratum(r_v, 0, r_v) for r_v in range(min(layer.d, layer.d_out) + 1)]
    return [*of_values, *(Stratum(0, r_a, r_a) for r_a in range(1, layer.alpha + 1))]


def stratum_criticality(layer: SingleLayer, stratum: Stratum) -> Criticality:
    """Criticality of the pairs (A, V) over a stratum; at 0, of all the orbits of pairs over it.

    The stratum 0 is called critical when every pair over it is.

    >>> stratum_criticality(SingleLayer(4, 1, 2), Stratum(1, 1, 1)).critical
    True
    """
    orbits = orbits_over_zero(layer) if stratum.is_zero else [stratum]
    answers = [criticality(layer, *representative(layer, ranks)) for ranks in orbits]
    return next((answer for answer in answers if answer.critical is not True), answers[0])


@dataclass(frozen=True)
class BoundarySequence:
    """The points constant + ε·linear, outside M for every ε > 0, given by their nonzero coordinates."""

    layer: SingleLayer
    constant: dict[Coordinate, int]
    linear: dict[Coordinate, int]

    def point(self, epsilon: Fraction | int) -> list[Fraction]:
        """All N coordinates of the point at ε."""
        constant, linear = self.constant, self.linear
        return [Fraction(constant.get(x, 0)) + epsilon * linear.get(x, 0) for x in coordinates(self.layer)]

    def __str__(self) -> str:
        parts = (self.constant, self.linear)
        constant, linear = ([f"y_{{{c},{b},{i},{k}}}" for c, b, i, k in part] for part in parts)
        moving = linear[0] if len(linear) == 1 else f"({' + '.join(linear)})"
        return f"y(ε) = {' + '.join([*constant, f'ε·{moving}'])}, ε → 0+"


class BoundaryAnswer(NamedTuple):
    """Points outside M that converge to the representative of a stratum, if there are any; and the reason."""

    sequence: BoundarySequence | None
    reason: str

    @property
    def on_boundary(self) -> bool:
        """Whether the stratum lies on the boundary of M relative to M̄(ℝ); proved either way."""
        return self.sequence is not None


def boundary(layer: SingleLayer, stratum: Stratum) -> BoundaryAnswer:
    """Decide whether the points of a stratum are limits of points of M̄(ℝ) outside M.

    Raises:
        InputError: if the stratum is not one of the layer's, or if t = 1.
        DisagreementError: if neither argument of this module applies; no stratum is known where that happens.
    """
    require_stratum(layer, stratum)
    if layer.d == 1:
        return BoundaryAnswer(None, "M̄(ℝ) = M for d = 1: every real point of M̄ has a real preimage")
    # e_1 ⊗ e_1 ⊗ (u_1² + u_2²) is outside M.
    first: dict[Coordinate, int] = {(1, 1, 1, 1): 1}
    second: dict[Coordinate, int] = {(1, 1, 2, 2): 1}
    if stratum.is_zero:
        sequence = BoundarySequence(layer, {}, first | second)
        return BoundaryAnswer(sequence, "M̄ is a cone that contains points outside M")
    fiber = stratum_fiber(layer, stratum)
    if fiber.discriminant is None and all(point.length == 1 for point in fiber.points):
        which = "only preimage is" if fiber.number == 1 else f"{fiber.number} preimages are"
        return BoundaryAnswer(None, f"its {which} real and reduced, so the map is injective near each")
    sequence = BoundarySequence(layer, first, second)
    if sequence.point(0) != list(coefficients(layer, *representative(layer, stratum))):
        fault = f"stratum {stratum} of {layer.name} is ramified but not reached by {sequence}"
        raise DisagreementError(fault)
    return BoundaryAnswer(sequence, "a limit of forms h ⊗ q ⊗ Q with Q definite")
