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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import flint

from agattn.algebra.echelon import rational
from agattn.algebra.interval_newton import evaluate
from agattn.algebra.polynomial import Polynomial
from agattn.algebra.residue_fields import ResidueField, trimmed
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.critical_points.charts import Chart, chart_of
from agattn.geometry.critical_points.loss import Loss
from agattn.geometry.critical_points.real_points import (
    CriticalEquations,
    RealCriticalPoint,
    RealPart,
    require_definite,
)
from agattn.geometry.strata.strata import Stratum

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
        chosen = self.polynomial
        while (common := chosen.gcd(self.determinant)).degree() > 0:
            chosen = divmod(chosen, common)[0]
        with flint.ctx.workprec(_BITS):
            return list(chosen.complex_roots())

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
            numbers = [
                self._over_rational(f, multiplicity) for f, multiplicity in self.polynomial.factor()[1]
            ]
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
            return trimmed(
                [
                    field.reduce(_dot(x, [g - 2 * b for g, b in zip(at_x, slope, strict=True)])),
                    field.reduce(2 * _dot(v, [g - b for g, b in zip(at_x, slope, strict=True)])),
                    field.reduce(_dot(v, form)),
                ]
            )

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
