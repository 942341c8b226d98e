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
y(ε) = y_{1,1,{1,1}} + ε·y_{1,1,{2,2}}, ε → 0+
>>> boundary(SingleLayer(2, 1), Stratum(1, 1, 2)).on_boundary
False
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from agattn.architectures import SingleLayer
from agattn.errors import DisagreementError
from agattn.geometry.strata.strata import (
    Stratum,
    definite_stratum,
    representative,
    require_stratum,
    stratum_fiber,
)
from agattn.geometry.variety.coordinates import Coordinate, coefficients, coordinates


@dataclass(frozen=True)
class BoundarySequence:
    """The points constant + ε·linear for ε → 0+, which are in M̄(ℝ) and outside M for every ε > 0.

    Attributes:
        layer: the layer.
        constant: the nonzero coordinates of the limit, a point of M.
        linear: the nonzero coordinates of the direction.
    """

    layer: SingleLayer
    constant: tuple[tuple[Coordinate, int], ...]
    linear: tuple[tuple[Coordinate, int], ...]

    def point(self, epsilon: Fraction | int) -> list[Fraction]:
        """All N coordinates of the point at ε."""
        constant, linear = dict(self.constant), dict(self.linear)
        names: Sequence[Coordinate] = coordinates(self.layer)
        return [Fraction(constant.get(name, 0)) + epsilon * linear.get(name, 0) for name in names]

    def __str__(self) -> str:
        def show(part: tuple[tuple[Coordinate, int], ...]) -> str:
            return " + ".join(f"y_{{{c},{b},{{{i},{k}}}}}" for (c, b, i, k), _ in part)

        moving = show(self.linear)
        head = f"{show(self.constant)} + " if self.constant else ""
        return f"y(ε) = {head}ε·{f'({moving})' if len(self.linear) > 1 else moving}, ε → 0+"


@dataclass(frozen=True)
class BoundaryAnswer:
    """Whether a stratum lies on the boundary of M relative to M̄(ℝ); proved either way.

    Attributes:
        on_boundary: the answer.
        sequence: points outside M that converge to the representative; ``None`` if there are none.
        reason: in words.
    """

    on_boundary: bool
    sequence: BoundarySequence | None
    reason: str


def boundary(layer: SingleLayer, stratum: Stratum) -> BoundaryAnswer:
    """Decide whether the points of a stratum are limits of points of M̄(ℝ) outside M.

    Raises:
        InputError: if the stratum is not one of the layer's, or if t = 1.
        DisagreementError: if neither argument of this module applies; no stratum is known where that happens.
    """
    require_stratum(layer, stratum)
    outside = definite_stratum(layer)
    if outside is None:
        return BoundaryAnswer(False, None, "M̄(ℝ) = M for d = 1: every real point of M̄ has a real preimage")
    first, second = outside.representative().items()
    if stratum.is_zero:
        sequence = BoundarySequence(layer, (), (first, second))
        return BoundaryAnswer(True, sequence, "M̄ is a cone that contains points outside M")
    fiber = stratum_fiber(layer, stratum)
    if fiber.discriminant is None and all(point.length == 1 for point in fiber.points):
        reason = (
            "its only preimage is real and reduced"
            if fiber.number == 1
            else f"its {fiber.number} preimages are real and reduced"
        )
        return BoundaryAnswer(False, None, f"{reason}, so the map is injective near each")
    sequence = BoundarySequence(layer, (first,), (second,))
    if sequence.point(0) != list(coefficients(layer, *representative(layer, stratum))):
        raise DisagreementError(f"stratum {stratum} of {layer} is ramified but not reached by {sequence}")
    return BoundaryAnswer(True, sequence, "a limit of forms h ⊗ q ⊗ Q with Q definite")
