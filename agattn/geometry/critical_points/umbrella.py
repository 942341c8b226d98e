r"""Critical points of a loss on the surface of Figure 1, where that is all of M in a slice.

The surface y² + wx² = 0 is (x, s) ↦ (x, sx, −s²), one-to-one where x ≠ 0. A definite loss on the slice is
f = α(s)x² + 2β(s)x + γ(s) on it, with α > 0, so its critical points are x = −β/α at the zeros of

.. math:: P = γ'α^2 - 2ββ'α + β^2α', \qquad \deg P \leq 7,

as for other families with one parameter (:mod:`.elimination`). Zeros of P where β = 0 are left
out: there x = 0, on the singular line x = y = 0, which two sheets of the surface share for w < 0. On the
line the loss is a parabola in w, with one critical point.

>>> from agattn.algebra.polynomial import PolynomialRing
>>> x, y, w = PolynomialRing(["x", "y", "w"]).gens
>>> for point in critical_points_on_umbrella((x - 1) ** 2 + (2 * y - 1) ** 2 + (w - 1) ** 2):
...     print(point)
minimum at (1.173, 0.3579, -0.09305): loss 1.30556 (proved)
minimum on the singular line at (0, 0, 1), outside M: loss 2 (proved)
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import flint

from agattn.algebra.echelon import rational, rational_matrix
from agattn.algebra.interval_newton import System, certified_zero, evaluate, signature
from agattn.algebra.polynomial import Polynomial, PolynomialRing
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.strata.strata import Stratum
from agattn.sheet.result import Count, Key, Place, Result, Written, key

_BITS = 128


class SurfacePoint(Result, eq=False):
    """A critical point of a loss on the surface, or of its restriction to the singular line.

    As the loss is convex in x, no point on the surface is a maximum. Balls contain the coordinates x, y, w
    and the value of the loss; documents have their midpoints.
    """

    position: Key[
        tuple[Any, Any, Any],
        "The coordinates of the point in the slice.",
        Written(Place, lambda balls: [float(ball.mid()) for ball in balls]),
    ]
    loss: Key[Any, "The loss at the point.", Written(float, lambda ball: float(ball.mid()))]
    index: Key[Count | None, "The number of negative eigenvalues of the Hessian; null if degenerate."]
    on_line: Key[bool, "Whether the point is critical for the loss on the singular line."]
    in_m: Key[bool, "Whether the point is in M."]
    stratum: Key[Stratum, "The stratum (r_V, r_A, r) of the point."]
    evidence: Key[Evidence, "How the result is known."] = Evidence.PROVED

    @key
    def kind(self) -> Literal["minimum", "saddle", "degenerate", "minimum on the singular line"]:
        """The kind of critical point on the surface, or on its singular line."""
        if self.on_line:
            return "minimum on the singular line"
        return "degenerate" if self.index is None else "saddle" if self.index else "minimum"

    @key
    def weights(self) -> dict[str, list[list[float]]] | None:
        """A and V; null outside M."""
        # of M(2, 1, 2), with y_{1,1} = (u − sv)(u + sv), y_{1,2} = xv(u + sv)
        if not self.in_m:
            return None
        x, _, w = (float(c.mid()) for c in self.position)
        s = float(self.position[1].mid()) / x if x else max(-w, 0.0) ** 0.5
        return {"A": [[1.0, 0.0], [-s, x]], "V": [[1.0, s]]}

    def summary(self) -> str:
        """The kind, the place, the loss, and how the point is known."""
        coordinates = ", ".join(f"{float(c.mid()):.4g}" for c in self.position)
        outside = "" if self.in_m else ", outside M"
        return f"{self.kind} at ({coordinates}){outside}: loss {float(self.loss.mid()):.6g} ({self.evidence})"


def critical_points_on_umbrella(loss: Polynomial) -> list[SurfacePoint]:
    """All critical points on the smooth part, the smallest loss first, and then the one on the line.

    Args:
        loss: a quadratic polynomial over ℚ in x, y, w, with a positive definite quadratic part.

    Raises:
        InputError: if it is none, or there are infinitely many critical points.
    """
    if loss.degree() != 2 or len(loss.ring) != 3:
        raise InputError(f"the loss {loss} is no quadratic polynomial in three variables")
    ring = PolynomialRing(["x", "s"])
    x, s = ring.gens
    f = loss.compose([x, s * x, -(s**2)])
    if signature(_hessian(loss)) != (3, 0):
        raise InputError("the loss is not definite on the slice; give more samples")
    alpha, beta, gamma = (_coefficient(f, n) for n in (2, 1, 0))
    # f = αx² + βx + γ here, without the 2.
    P = (
        4 * gamma.derivative() * alpha**2
        - 2 * beta * beta.derivative() * alpha
        + beta**2 * alpha.derivative()
    )
    if not P:
        raise InputError("the loss has infinitely many critical points on the surface")
    # Where β is 0, so is x.
    common = P.gcd(beta)
    while common.degree() > 0:
        P //= common
        common = P.gcd(common)
    system = System([f.derivative(x), f.derivative(s)])
    points = []
    with flint.ctx.workprec(_BITS):
        for root, multiplicity in P.complex_roots():
            if not root.imag.is_zero():
                continue
            at = root.real
            start = [-flint.arb_poly(beta)(at) / (2 * flint.arb_poly(alpha)(at)), at]
            zero = certified_zero(system, start) if multiplicity == 1 else None
            at_zero = start if zero is None else zero.point
            signs = None if zero is None else signature(zero.jacobian)
            points.append(_point(loss, at_zero, None if signs is None else signs[1]))
        return [*sorted(points, key=lambda point: float(point.loss.mid())), _on_line(loss)]


def _hessian(loss: Polynomial) -> Any:
    entries = [[loss.derivative(a).derivative(b).constant for b in loss.ring.gens] for a in loss.ring.gens]
    return flint.arb_mat(rational_matrix(entries, len(entries)))


def _coefficient(f: Polynomial, degree: int) -> Any:
    """The coefficient of a power of the first variable, in the second."""
    terms = {e: c for (n, e), c in f.terms.items() if n == degree}
    return flint.fmpq_poly([rational(terms.get(e, 0)) for e in range(max(terms, default=0) + 1)])


def _point(loss: Polynomial, at: list[Any], index: int | None) -> SurfacePoint:
    x, s = at
    position = (x, s * x, -s * s)
    (value,) = evaluate([loss], position)
    return SurfacePoint(position, value, index, False, True, Stratum(1, 2, 2))


def _on_line(loss: Polynomial) -> SurfacePoint:
    _, _, w = loss.ring.gens
    slope = loss.derivative(w)
    height = -Fraction(slope.constant) / Fraction(slope.derivative(w).constant)
    position = (flint.arb(0), flint.arb(0), flint.arb(rational(height)))
    value = flint.arb(rational(loss(0, 0, height)))
    stratum = Stratum(1, 1, 2) if height else Stratum(1, 1, 1)
    return SurfacePoint(position, value, 0, True, height <= 0, stratum)
