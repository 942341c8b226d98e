"""Curves of real points of M̄ outside M, and the strata of M they reach.

The form m² + ε n² with ε > 0 and m, n independent is the product (m + i√ε n)(m − i√ε n) over ℂ and no product
over ℝ, so e_1 ⊗ e_1 ⊗ (m² + ε n²) is a real point of M̄ outside M.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agattn.architecture import SingleLayer
from agattn.attention.coefficients import coefficients, coordinates
from agattn.geometry.strata import ZERO, Stratum, representative

Form = tuple[int, int, int]


@dataclass(frozen=True)
class DefiniteCurve:
    """ε ↦ e_1 ⊗ e_1 ⊗ Q_ε, where Q_ε = (p + p'ε) u_1² + (q + q'ε) u_1u_2 + (r + r'ε) u_2².

    Attributes:
        at_zero: (p, q, r).
        velocity: (p', q', r').
        text: the curve, for people.
    """

    at_zero: Form
    velocity: Form
    text: str

    def leaves_m(self) -> bool:
        """Whether Q_ε is definite for all small ε > 0: its discriminant q² − 4pr is negative there.

        The discriminant is a polynomial in ε; its sign for small ε is that of its lowest nonzero coefficient.
        """
        (p, q, r), (dp, dq, dr) = self.at_zero, self.velocity
        discriminant = (q * q - 4 * p * r, 2 * q * dq - 4 * (p * dr + dp * r), dq * dq - 4 * dp * dr)
        lowest = next((c for c in discriminant if c), 0)
        return lowest < 0

    def limit(self) -> Mapping[tuple[int, int, int, int], int]:
        """The nonzero coordinates of the limit for ε → 0."""
        p, q, r = self.at_zero
        values = {(1, 1, 1, 1): p, (1, 1, 1, 2): q, (1, 1, 2, 2): r}
        return {index: value for index, value in values.items() if value}


CURVES = {
    Stratum(1, 1, 1): DefiniteCurve((1, 0, 0), (0, 0, 1), "e₁ ⊗ e₁ ⊗ (u₁² + ε u₂²)"),
    ZERO: DefiniteCurve((0, 0, 0), (1, 0, 1), "ε e₁ ⊗ e₁ ⊗ (u₁² + u₂²)"),
}


def curve_to(layer: SingleLayer, stratum: Stratum) -> DefiniteCurve | None:
    """A curve in M̄(ℝ) outside M that ends at the representative of a stratum; ``None`` if none is known.

    That it ends there, and that its points are definite, is checked exactly.

    >>> curve_to(SingleLayer(2, 1), Stratum(1, 1, 1)).text
    'e₁ ⊗ e₁ ⊗ (u₁² + ε u₂²)'
    >>> curve_to(SingleLayer(2, 1), Stratum(1, 1, 2)) is None
    True
    """
    curve = CURVES.get(stratum)
    if curve is None or layer.d < 2:
        return None
    y = dict(zip(coordinates(layer), coefficients(layer, *representative(layer, stratum)), strict=True))
    ends_there = {index: value for index, value in y.items() if value} == curve.limit()
    return curve if curve.leaves_m() and ends_there else None
