r"""All real critical points where one parameter is left, proved: for d = 2 and d' = 1.

Let y be linear in x for each value of one parameter θ. The loss is definite, so for every θ ∈ ℝ it is a
quadratic function of x with a definite matrix G(θ), its critical points are x = G⁻¹b, and what is left are
those of

.. math:: c - \frac{N(θ)}{D(θ)}, \qquad D = \det G(θ), \quad N = b^{\mathsf T} \operatorname{adj}(G)\, b,
          \qquad\text{the zeros of}\quad P = N'D - ND',

a polynomial over ℚ whose roots FLINT isolates. N and D are binary forms of the same degree n in homogeneous
coordinates of θ ∈ P¹, and P one of degree 2n − 2; where P has that degree, θ = ∞ is not critical. Multiple
roots are degenerate critical points, and listed.

**Complex critical points.** Over a root of P that is none of D lies one, with the multiplicity of the root.
At a common root θ₀, which is not real, Gx = b may have no solution: then none lies over θ₀. If it has a
line x₀ + sκ of solutions, those are critical at which

.. math:: q(s) = \bigl(x^{\mathsf T} G' x - 2 b'^{\mathsf T} x\bigr)_{x = x_0 + sκ, θ = θ_0} = 0.

Roots of q are simple critical points, unless q is a square: then one of the multiplicity of the root of P. If
q = 0, or the kernel of G(θ₀) has dimension 2 and q is not a constant, there are infinitely many. All of this
is done over ℚ[θ]/(f) for the irreducible factors f of P. The page on real critical points has the proof.

For the regular part of M(2, 1, 2) n is 8, for (1,1,1) 8, and for (1,1,2) 6. So there are at most 14, 14 and
10 complex critical points, if finitely many.

>>> from agattn.architectures import SingleLayer
>>> from agattn.geometry.critical_points.loss import loss
>>> found = eliminate(chart_of(SingleLayer(2, 1)), loss(SingleLayer(2, 1)))
>>> found.degree, len(found.roots), found.number()
(14, 14, 14)

**On the surface of Figure 1**, where that is all of M in a slice. The surface y² + wx² = 0 is
(x, s) ↦ (x, sx, −s²), one-to-one where x ≠ 0. A definite loss on the slice is f = α(s)x² + 2β(s)x + γ(s) on
it, with α > 0, so its critical points are x = −β/α at the zeros of

.. math:: P = γ'α^2 - 2ββ'α + β^2α', \qquad \deg P \leq 7,

as for other families with one parameter. Zeros of P where β = 0 are left out: there x = 0, on the singular
line x = y = 0, which two sheets of the surface share for w < 0. On the line the loss is a parabola in w, with
one critical point.

>>> from agattn.algebra.polynomial import PolynomialRing
>>> x, y, w = PolynomialRing(["x", "y", "w"]).gens
>>> for point in critical_points_on_umbrella((x - 1) ** 2 + (2 * y - 1) ** 2 + (w - 1) ** 2):
...     print(point)
minimum at (1.173, 0.3579, -0.09305): loss 1.30556 (proved)
minimum on the singular line at (0, 0, 1), outside M: loss 2 (proved)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import Any, Literal

import flint

from agattn.algebra.echelon import rational, rational_matrix
from agattn.algebra.interval_newton import System, certified_zero, evaluate, signature
from agattn.algebra.polynomial import Polynomial, PolynomialRing
from agattn.algebra.residue_fields import ResidueField, trimmed
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.critical_points.charts import Chart, chart_of
from agattn.geometry.critical_points.loss import Loss
from agattn.geometry.critical_points.real_points import (
    BALL,
    CriticalEquations,
    RealCriticalPoint,
    RealPart,
    require_definite,
)
from agattn.geometry.strata.strata import Stratum
from agattn.sheet.result import Count, Key, Place, Result, Written, key

ELIMINATION = "elimination"
_BITS = 192
#: What is not 0 modulo this prime is not 0.
_PRIME = 2**61 - 1


@dataclass(frozen=True, eq=False)
class Elimination:
    """The equation of critical points with one parameter θ.

    Attributes:
        chart, loss: what is critical where.
        gram, right: G(θ) and b(θ), polynomials in θ.
        polynomial: P.
        determinant: D = det G(θ).
        degree: that of P.
    """

    chart: Chart
    loss: Loss
    gram: tuple[tuple[Any, ...], ...]
    right: tuple[Any, ...]
    polynomial: Any
    determinant: Any
    degree: int

    @cached_property
    def roots(self) -> list[tuple[Any, int]]:
        """The complex roots of P where D is not 0, as disjoint balls with multiplicities.

        Real roots are exactly real. Over roots of D there may be more critical points, none of them real.
        """
        with flint.ctx.workprec(_BITS):
            return list(_prime_to(self.determinant, self.polynomial).complex_roots())

    def point(self, root: Any) -> list[Any]:
        """The coordinates of the chart, x = G⁻¹b and θ, at a root."""
        real = root.imag.is_zero()
        kind: Any = flint.arb_mat if real else flint.acb_mat
        scalar: Any = flint.arb if real else flint.acb
        theta = root.real if real else root
        chart, m = self.chart, len(self.right)
        columns = [[f.derivative(x) for f in chart.y] for x in chart.ring.gens[:m]]
        at = [scalar(0)] * m + [theta]
        Phi = kind(m, len(chart.y), [v for f in columns for v in evaluate(f, at)])
        G, b = self.loss.matrices
        x = (Phi * G * Phi.transpose()).solve(Phi * b)
        return [*x.entries(), theta]

    def number(self, characteristic: int = 0) -> int | None:
        """How many complex critical points there are, with multiplicity; ``None`` if infinitely many.

        Modulo a prime p: how many there are over the algebraic closure of 𝔽_p; ``None`` also where p is
        small, divides a denominator, or makes θ = ∞ critical.
        """
        if not characteristic:
            factors = self.polynomial.factor()[1]
            numbers = [self._over_rational(f, multiplicity) for f, multiplicity in factors]
        elif characteristic <= 4 * self.degree or (modulo := self._modulo(characteristic)) is None:
            return None
        else:
            P, gram, right = modulo
            if P.degree() < self.degree:
                return None
            numbers = [self._over(f, multiplicity, gram, right) for f, multiplicity in P.factor()[1]]
        return None if None in numbers else sum(n for n in numbers if n is not None)

    def _modulo(self, p: int) -> tuple[Any, list[list[Any]], list[Any]] | None:
        """P, G and b modulo a prime; ``None`` where it divides a denominator."""
        try:
            gram = [[_modulo(g, p) for g in row] for row in self.gram]
            return _modulo(self.polynomial, p), gram, [_modulo(b, p) for b in self.right]
        except ZeroDivisionError:
            return None

    def _over_rational(self, f: Any, multiplicity: int) -> int | None:
        """:meth:`_over` a factor over ℚ.

        Over a factor prime to D points are conjugate, so that all of them are inside or none. If one is so
        modulo a large prime it is so over ℚ, and arithmetic in a field of high degree is not needed.
        """
        if (modulo := self._modulo(_PRIME)) and f.denom() % _PRIME:
            D = _modulo(self.determinant, _PRIME)
            for g, _ in _modulo(f, _PRIME).factor()[1]:
                if D % g and self._over(g, 1, *modulo[1:]):
                    return int(f.degree()) * multiplicity
        return self._over(f, multiplicity, self.gram, self.right)

    def _over(
        self, f: Any, multiplicity: int, gram: Sequence[Sequence[Any]], right: Sequence[Any]
    ) -> int | None:
        """How many lie over the roots of an irreducible factor of P; ``None`` if infinitely many."""
        field, degree = ResidueField(f), int(f.degree())
        x, kernel = field.solve(gram, right)
        if x is None:
            return 0
        if not kernel:
            return degree * multiplicity * self._inside(field, x, x, [field.zero, field.one])
        slopes = [[field.reduce(g.derivative()) for g in row] for row in gram]
        slope = [field.reduce(b.derivative()) for b in right]

        def restricted(v: Sequence[Any]) -> list[Any]:
            """q(s) on the line x + sv."""
            form = [sum((g * y for g, y in zip(row, v, strict=True)), field.zero) for row in slopes]
            at_x = [sum((g * y for g, y in zip(row, x, strict=True)), field.zero) for row in slopes]
            once, twice = ([g - n * b for g, b in zip(at_x, slope, strict=True)] for n in (1, 2))
            return trimmed([field.reduce(c) for c in (_dot(x, twice), 2 * _dot(v, once), _dot(v, form))])

        if len(kernel) > 1:
            # A polynomial of degree two is constant iff it is so on the lines along all κ_i + κ_j.
            sums = [[a + b for a, b in zip(u, v, strict=True)] for u in kernel for v in kernel]
            return 0 if all(len(restricted(v)) == 1 for v in sums) else None
        [v] = kernel
        q = restricted(v)
        if len(q) < 2:
            return None if not q else 0
        repeated = field.common(q, [n * c for n, c in enumerate(q)][1:])
        if len(repeated) > 1:
            return degree * multiplicity * self._inside(field, x, v, repeated)
        return degree * self._inside(field, x, v, q)

    def _inside(self, field: ResidueField, x: Sequence[Any], v: Sequence[Any], q: list[Any]) -> int:
        """How many of the points x + sv, at the simple roots s of q, are in the part parametrized."""
        theta = field.reduce(_gen(field))
        lines = [[*(a + s * b for a, b in zip(x, v, strict=True)), theta] for s in range(3)]
        for group in self.chart.outside:
            zeros = q
            for f in group:
                # A minor of matrices that are linear in x, of size two at most.
                zero, one, two = (_value(field, f, at) for at in lines)
                half = field.inverse(field.one * 2)
                second = (two - 2 * one + zero) * half
                g = trimmed([field.reduce(c) for c in (zero, one - zero - second, second)])
                zeros = field.common(zeros, g)
            q = field.divided(q, zeros)[0]
        return len(q) - 1


def _prime_to(divisor: Any, f: Any) -> Any:
    """A polynomial in one variable without the roots of another."""
    while (common := f.gcd(divisor)).degree() > 0:
        f //= common
    return f


def _dot(u: Sequence[Any], v: Sequence[Any]) -> Any:
    return sum((a * b for a, b in zip(u, v, strict=True)), 0 * u[0])


def _gen(field: ResidueField) -> Any:
    """θ as a polynomial."""
    kind = type(field.modulus)
    return kind([0, 1]) if kind is flint.fmpq_poly else kind([0, 1], field.modulus.modulus())


def _modulo(f: Any, p: int) -> Any:
    """A polynomial over ℚ modulo a prime; ZeroDivisionError where it divides the denominator."""
    denominator = int(f.denom()) % p
    if not denominator:
        raise ZeroDivisionError(f"{p} divides a denominator")
    inverse = pow(denominator, -1, p)
    return flint.nmod_poly([int(c) * inverse % p for c in f.numer().coeffs()], p)


def _value(field: ResidueField, f: Polynomial, at: Sequence[Any]) -> Any:
    """The value of a polynomial with integer coefficients in a field."""
    total = field.zero
    for exponents, coefficient in f.terms.items():
        term = field.one * int(coefficient)
        for x, n in zip(at, exponents, strict=True):
            for _ in range(n):
                term = field.reduce(term * x)
        total += term
    return total


def _in_parameter(f: Polynomial) -> Any:
    """A polynomial of the ring of a chart, in θ alone, as one in one variable."""
    coefficients = {exponents[-1]: rational(coefficient) for exponents, coefficient in f.terms.items()}
    return flint.fmpq_poly([coefficients.get(n, 0) for n in range(max(coefficients, default=-1) + 1)])


def eliminate(chart: Chart, loss: Loss) -> Elimination | None:
    """The equation for θ, where it is one parameter; ``None`` where θ = ∞ is critical.

    Raises:
        InputError: if there are more parameters, the loss is not definite, or all θ are critical.
    """
    if not is_eliminated(chart):
        raise InputError(
            f"{chart.name} of {chart.layer.name} has more than one parameter besides a linear factor"
        )
    require_definite(loss)
    m = len(chart.ring) - 1
    columns = [[_in_parameter(f.derivative(x)) for f in chart.y] for x in chart.ring.gens[:m]]
    one = flint.fmpq_poly([1])
    images = [[_dot([one * rational(g) for g in row], column) for row in loss.gram] for column in columns]
    gram = tuple(tuple(_dot(image, column) for column in columns) for image in images)
    linear = [one * rational(b) for b in loss.linear]
    right = tuple(_dot(linear, column) for column in columns)
    n = 2 * m * max(f.degree() for column in columns for f in column)
    nodes = [flint.fmpq(i) for i in range(-(n // 2), n - n // 2 + 1)]
    values: list[list[Any]] = [[], []]
    for node in nodes:
        at = flint.fmpq_mat([[g(node) for g in row] for row in gram])
        b = flint.fmpq_mat([[f(node)] for f in right])
        D = at.det()
        values[0].append(D)
        values[1].append(D * (b.transpose() * at.solve(b))[0, 0])
    powers = flint.fmpq_mat([[node**e for e in range(n + 1)] for node in nodes])
    solved = powers.solve(flint.fmpq_mat([list(pair) for pair in zip(*values, strict=True)])).tolist()
    polynomials: list[Any] = [flint.fmpq_poly(list(column)) for column in zip(*solved, strict=True)]
    D, N = polynomials
    P = N.derivative() * D - N * D.derivative()
    if not P:
        raise InputError(f"the loss has infinitely many critical points on {chart.name} of {loss.layer.name}")
    return Elimination(chart, loss, gram, right, P, D, 2 * n - 2) if P.degree() == 2 * n - 2 else None


def is_eliminated(chart: Chart) -> bool:
    """Whether one parameter is left in a chart besides a linear factor: for d = 2 and d' = 1."""
    return bool(chart.linear) and len(chart.parameters) == 1


def equation(layer: SingleLayer, loss: Loss, stratum: Stratum | None = None) -> Elimination:
    """The equation for θ in the first chart in which θ = ∞ is not critical.

    Raises:
        InputError: if there are more parameters, the loss is not definite, or all θ are critical.
    """
    charts = (chart_of(layer, stratum, seed) for seed in count())
    return next(reduced for chart in charts if (reduced := eliminate(chart, loss)) is not None)


def number_by_elimination(loss: Loss, stratum: Stratum | None = None, characteristic: int = 0) -> int | None:
    """How many complex critical points there are, over ℚ or a prime field; ``None`` where that is not known.

    So for d > 2 or d' > 1, a loss that is no distance or whose b is 0, and where there are infinitely many.
    """
    layer = loss.layer
    has_one_parameter = (layer.d, layer.d_out) == (2, 1) and layer.has_orbits
    if not has_one_parameter or loss.rank < loss.size or not any(loss.linear):
        return None
    try:
        return equation(layer, loss, stratum).number(characteristic)
    except InputError:  # all θ are critical
        return None


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
        critical = CriticalEquations(chart_of(layer, stratum), loss)
        return critical.part((), 0, None, Evidence.PROVED, "the norm")
    reduced = equation(layer, loss, stratum)
    critical = CriticalEquations(reduced.chart, loss)
    points: list[RealCriticalPoint | None] = []
    with flint.ctx.workprec(_BITS):
        for root, multiplicity in reduced.roots:
            if root.imag.is_zero():
                at = reduced.point(root)
                simple = multiplicity == 1
                points.append(critical.point(at)[0] if simple else critical.at(at, None, multiplicity))
        proved = [point for point in points if point is not None]
        undecided = len(points) - len(proved)
        return critical.part(proved, undecided, reduced.number(), Evidence.PROVED, ELIMINATION)


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
    loss: Key[Any, "The loss at the point.", BALL]
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
    d_alpha, d_beta, d_gamma = (f.derivative() for f in (alpha, beta, gamma))
    P = 4 * d_gamma * alpha**2 - 2 * beta * d_beta * alpha + beta**2 * d_alpha
    if not P:
        raise InputError("the loss has infinitely many critical points on the surface")
    P = _prime_to(beta, P)  # where β is 0, so is x
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
