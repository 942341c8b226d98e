r"""The boundary of M relative to M̄(ℝ): which points are limits of points of M̄(ℝ) outside M.

The points of M̄(ℝ) outside M are h ⊗ q ⊗ Q with Q definite of rank 2; they have two preimages, complex
conjugates of each other. Let y ≠ 0 be a limit of such points. The source of the projective map is compact,
so along a subsequence the pairs of preimages converge, to a preimage of y and its conjugate. If all preimages
of y are real, these two limits are the same point, near which the map is not injective: it is ramified there.
So: all preimages real and reduced means *no boundary*, and this is decided exactly by the fiber. Conversely

.. math:: h ⊗ q ⊗ (u_1^2 + ε u_2^2) \;\to\; h ⊗ q ⊗ u_1^2 \qquad (ε → 0^+)

reaches the stratum (1,1,1), and ε·h ⊗ q ⊗ (u_1² + u_2²) reaches 0 (HMK, Corollary A.6).

>>> from agattn import SingleLayer
>>> from agattn.geometry.strata.strata import Stratum
>>> print(boundary(SingleLayer(2, 1), Stratum(1, 1, 1)).sequence)
y(ε) = y_{1,1,1,1} + ε·y_{1,1,2,2}, ε → 0+
>>> boundary(SingleLayer(2, 1), Stratum(1, 1, 2)).on_boundary
False
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from agattn.architectures import SingleLayer
from agattn.errors import DisagreementError
from agattn.geometry.strata.strata import Stratum, representative, require_stratum, stratum_fiber
from agattn.geometry.variety.coordinates import Coordinate, coefficients, coordinates


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
        constant, linear = (
            [f"y_{{{c},{b},{i},{k}}}" for c, b, i, k in part] for part in (self.constant, self.linear)
        )
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
        raise DisagreementError(
            f"stratum {stratum} of {layer.name} is ramified but not reached by {sequence}"
        )
    return BoundaryAnswer(sequence, "a limit of forms h ⊗ q ⊗ Q with Q definite")
