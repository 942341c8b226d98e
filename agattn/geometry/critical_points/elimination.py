r"""All real critical points where one parameter is left, proved: for d = 2 and d' = 1.

Let y be linear in x for each value of one parameter θ. The loss is definite, so for every θ ∈ ℝ it is a
quadratic function of x with a definite matrix G(θ), its critical points are x = G⁻¹b, and what is left are
those of

.. math:: c - \frac{N(θ)}{D(θ)}, \qquad D = \det G(θ), \quad N = b^{\mathsf T} \operatorname{adj}(G)\, b,
          \qquad\text{the zeros of}\quad P = N'D - ND',

a polynomial over ℚ whose roots FLINT isolates, real and complex. N and D are binary forms of the same
degree n in homogeneous coordinates of θ ∈ P¹, and P one of degree 2n − 2; where P has that degree, θ = ∞ is
not critical. Multiple roots are degenerate critical points, and listed.

For the regular part of M(2, 1, 2) n is 8, for (1,1,1) 8, and for (1,1,2) 6. So there are at most 14, 14 and
10 complex critical points, and as many for a general loss.

>>> from agattn.architectures import SingleLayer
>>> from agattn.geometry.critical_points.loss import loss
>>> found = eliminate(affine_chart(SingleLayer(2, 1)), loss(SingleLayer(2, 1)))
>>> found.degree, len(found.roots)
(14, 14)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import flint

from agattn.algebra.echelon import rational_matrix
from agattn.algebra.interval_newton import evaluate
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.critical_points.affine_charts import AffineChart, affine_chart
from agattn.geometry.critical_points.loss import Loss
from agattn.geometry.critical_points.real_points import (
    RealCriticalPoint,
    RealPart,
    critical_point,
    degenerate_point,
    part_of,
    require_definite,
)
from agattn.geometry.strata.strata import Stratum

ELIMINATION = "elimination"
_BITS = 192


@dataclass(frozen=True, eq=False)
class Elimination:
    """The equation of critical points with one parameter θ: P of degree ``degree``, and D = det G(θ).

    ``roots`` are all of its complex roots as disjoint balls with multiplicities; real ones are exactly real.
    """

    chart: AffineChart
    loss: Loss
    polynomial: Any
    determinant: Any
    degree: int

    @cached_property
    def roots(self) -> list[tuple[Any, int]]:
        """The complex roots of P, with multiplicities, where D is not 0."""
        with flint.ctx.workprec(_BITS):
            common = self.polynomial.gcd(self.determinant)
            at = list(self.polynomial.complex_roots())
            if common.degree() > 0:
                at = [(root, n) for root, n in at if not flint.acb_poly(common)(root).contains(0)]
            return at

    def point(self, root: Any) -> list[Any]:
        """The coordinates of the chart, x = G⁻¹b and θ, at a root."""
        real = root.imag.is_zero()
        kind: Any = flint.arb_mat if real else flint.acb_mat
        scalar: Any = flint.arb if real else flint.acb
        theta = root.real if real else root
        chart, m = self.chart, len(self.chart.ring) - 1
        columns = [[f.derivative(x) for f in chart.y] for x in chart.ring.gens[:m]]
        at = [scalar(0)] * m + [theta]
        Phi = kind(m, len(chart.y), [v for f in columns for v in evaluate(f, at)])
        G, b = self.loss.matrices
        x = (Phi * G * Phi.transpose()).solve(Phi * b)
        return [*x.entries(), theta]


def eliminate(chart: AffineChart, loss: Loss) -> Elimination | None:
    """The equation for θ, where it is one parameter; ``None`` where θ = ∞ is critical.

    Raises:
        InputError: if there are more parameters, the loss is not definite, or all θ are critical.
    """
    if len(chart.parameters) != 1 or not chart.linear:
        raise InputError(f"{chart.name} of {chart.layer} has more than one parameter besides a linear factor")
    require_definite(loss)
    m = len(chart.ring) - 1
    columns = [[f.derivative(x) for f in chart.y] for x in chart.ring.gens[:m]]
    n = 2 * m * max(f.degree() for column in columns for f in column)
    G, b = loss.matrices
    places = [flint.fmpq(i) for i in range(-(n // 2), n - n // 2 + 1)]
    values: list[list[Any]] = [[], []]
    for place in places:
        at = [0] * m + [int(place)]
        Phi = rational_matrix([[f(*at) for f in column] for column in columns], len(chart.y))
        gram, right = Phi * G * Phi.transpose(), Phi * b
        D = gram.det()
        values[0].append(D)
        values[1].append(D * (right.transpose() * gram.solve(right))[0, 0])
    powers = flint.fmpq_mat([[place**e for e in range(n + 1)] for place in places])
    right = flint.fmpq_mat([list(pair) for pair in zip(*values, strict=True)])
    solved = powers.solve(right).tolist()
    polynomials: list[Any] = [flint.fmpq_poly(list(column)) for column in zip(*solved, strict=True)]
    D, N = polynomials
    P = N.derivative() * D - N * D.derivative()
    if not P:
        raise InputError(f"the loss has infinitely many critical points on {chart.name} of {loss.layer.name}")
    return Elimination(chart, loss, P, D, 2 * n - 2) if P.degree() == 2 * n - 2 else None


def part_by_elimination(layer: SingleLayer, loss: Loss, stratum: Stratum | None = None) -> RealPart:
    """All real critical points where the chart has one parameter, proved complete; for d = 2, d' = 1.

    Raises:
        InputError: if there are more parameters, the loss is not definite, or there are infinitely many.

    >>> from agattn.geometry.critical_points.loss import loss
    >>> layer = SingleLayer(2, 1)
    >>> print(part_by_elimination(layer, loss(layer)))
    smooth part: 4 real critical points of 14 complex ones (all: proved, by elimination)
      minimum on (1,2,2): loss 219.5974004 (proved)
      minimum on (1,2,2): loss 221.6554710 (proved)
      saddle of index 1 on (1,2,2): loss 234.2460128 (proved)
      saddle of index 1 on (1,2,2): loss 301.5592498 (proved)
    """
    require_definite(loss)
    if not any(loss.linear):
        # L(λu) = λ² G(u, u) + c is critical in direction of u for λ = 0 only.
        return part_of(affine_chart(layer, stratum), (), 0, None, Evidence.PROVED, "the norm")
    charts = (affine_chart(layer, stratum, seed) for seed in count())
    found = next(found for chart in charts if (found := eliminate(chart, loss)) is not None)
    with flint.ctx.workprec(_BITS):
        return _collect(found)


def _collect(found: Elimination) -> RealPart:
    """The real critical points at the roots."""
    chart, loss = found.chart, found.loss
    system = chart.system(loss)
    points: list[RealCriticalPoint] = []
    undecided = number = 0
    for root, multiplicity in found.roots:
        at = found.point(root)
        number += multiplicity * chart.is_inside(at)
        if not root.imag.is_zero():
            continue
        if multiplicity > 1:
            point = degenerate_point(chart, loss, at, multiplicity)
        else:
            point, _ = critical_point(chart, loss, system, at)
        undecided += point is None
        points += [] if point is None else [point]
    return part_of(chart, points, undecided, number, Evidence.PROVED, ELIMINATION)
