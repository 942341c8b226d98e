r"""Real critical points of a loss, each proved, with its loss, its index, and the weights behind it.

A candidate is an approximate zero of the equations of a chart (:mod:`.charts`), from any source. It
becomes a :class:`RealCriticalPoint` when Krawczyk's operator proves that a box around it contains exactly one
real zero (:mod:`agattn.algebra.interval_newton`). The derivative of the equations there is the Hessian of the
loss on the stratum, up to the division by λ, so such a point is never degenerate, and the signs of
the eigenvalues are proved by the same balls.

>>> from agattn.architectures import SingleLayer
>>> from agattn.geometry.critical_points.loss import loss
>>> from agattn.geometry.critical_points.elimination import part_by_elimination
>>> layer = SingleLayer(2, 1)
>>> best = part_by_elimination(layer, loss(layer)).points[0]
>>> print(best, best.gradient < 1e-20)
minimum on (1,2,2): loss 219.5974004 (proved) True
>>> best.y[0].str(4, radius=False), float(best.y[0].rad()) < 1e-20
('0.004693', True)

**What indices add up to.** Let the loss be definite, and let points be linear in one factor x ∈ ℝᵐ and
otherwise given by θ in a compact manifold Θ of dimension below m: y = Σ x_i u_i(θ), with independent u_i(θ).
Then

.. math:: g(θ) = \min_x L = c - b(θ)^{\mathsf T} G(θ)^{-1} b(θ)

is a smooth function on Θ. L is strictly convex in x, so g and L have the same critical points and indices,
as the Schur complement of the block of x in the Hessian shows. A critical point has x = 0 where b(θ) = 0,
which for general b happens nowhere, being m conditions. If all critical points are nondegenerate, Morse
theory says

.. math:: \sum_p (-1)^{\operatorname{ind} p} = χ(Θ).

- *Regular part* (not for a = d' = 1): A = KᵀQ with the row space of K in Gr(α, d). With x = Q, Θ = Gr(α, d) ×
  ℝP^{dd'−1}; with x = V, Θ is a bundle over Gr(α, d) with fiber ℝP^{αd−1}. For general b no critical point
  has rk A < α < d or rk A = rk V = 1, as these are more conditions than such points have parameters.
- *Strata (min(d, d'), r_A, r)* with r_A < α and r as large as possible: as the smooth part of M(d, d', r_A).
- *Stratum (1,1,1)*: y = h ⊗ q ⊗ k², linear in h and in q.
- *Stratum (1,1,2) with d = 2*: y = h ⊗ q ⊗ S with any S, which is not of rank one for general b. Points
  outside of M count, too.

Where no factor is large enough nothing is claimed, nor for (1,1,2) with d ≥ 3, where points of (1,1,1) come
in.

For a ≥ d there is more. If B is the bilinear form b(A, V), of rank ρ, then g on ℝP^{dd'−1} is smaller than
c exactly outside the kernel of B, and that set retracts to ℝP^{ρ−1}. So there is a critical point of each
index 0, ..., ρ − 1, as the Betti numbers of ℝP^{ρ−1} modulo 2 are 1; and indices are at most dd' − 1 and,
with A and V exchanged, d² − 1. ρ is min(d², dd') for general b, as it is for b_{c,j,{i,k}} = δ_{cj} δ_{ik},
where B = Σ V_{ci} A_{ic}.

>>> from agattn.architectures import SingleLayer
>>> expected_sum(SingleLayer(3, 1)), expected_sum(SingleLayer(2, 2)), expected_sum(SingleLayer(3, 2, 2))
(1, 0, None)
>>> least_numbers(SingleLayer(2, 2))
(1, 1, 1, 1)

Are given weights near a critical point of a loss, and how does gradient flow leave it?

**Critical points in K, Q and V.** Let M = ∂L/∂A. The gradient is 0 iff ∂L/∂V = 0, K M = 0 and M Qᵀ = 0.
Where K and Q have the rank ρ of A = KᵀQ, that says that φ_{A,V} is critical on M(d, d', ρ), near (A, V):
the directions of A are K̇ᵀQ + KᵀQ̇, all those that keep the rank ρ, and V is free. The exception is d = 2,
d' = ρ = 1 and V a multiple of k, A = kqᵀ, where φ is regular and the pairs (A, V) do not move it in all
directions. So for each ρ ≤ a the critical points near given weights are looked for on M(d, d', ρ), from the
nearest A of that rank, by Newton's method, and proved by Krawczyk's operator; none is listed in the
exception.

**Leaving it.** Turn K and Q so that their last a − ρ rows are 0. The loss to second order in directions
(K̇, Q̇, V̇) is that in the first ρ rows and V, pulled back from the pairs with rk A = ρ, plus ⟨M, K̇₂ᵀQ̇₂⟩ for
the last rows; mixed terms vanish as K̇₂ᵀQ₂ = K₂ᵀQ̇₂ = 0. The second form has the matrix (0 M; Mᵀ 0) for
each row. So the index of the Hessian in (K, Q, V) is

.. math:: \operatorname{ind}_{M(d, d', ρ)} + (a - ρ) \operatorname{rk} M

at regular points of M(d, d', ρ), but for the exception. The first part are directions that keep the rank of
A. Those of the second raise it, at second order: along K̇₂ = u, Q̇₂ = −v, with the first singular vectors of
M, the loss falls as L − σ₁ε². For ρ < a and M ≠ 0 the point is a strict saddle, a minimum on M(d, d', ρ) or
not; M = 0 says that the loss is critical in all directions of A. If K or Q has a larger rank than A, index
and rate can be others, but a critical point with rk A < a and M ≠ 0 is a strict saddle all the same:
docs/layer/real-critical-points-proofs.md has the proof.

>>> from agattn.architectures import SingleLayer
>>> from agattn.geometry.critical_points.loss import loss
>>> from agattn.geometry.identifiability.weights import weights
>>> w = weights(K=[[1.0, 0.0], [0.0, 1.0]], Q=[[0.004, 0.0012], [0.015, -0.0106]], V=[[1.19, -0.19]])
>>> best, other = points_near(loss(SingleLayer(2, 1)), w)
>>> print(best)
at relative distance at most 0.024: minimum on (1,2,2): loss 219.5974004 (proved); a local minimum
>>> other.rank, other.index, other.escapes, other.is_local_minimum
(1, 1, 1, False)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import comb, prod
from typing import Any, Literal

import flint
import numpy as np

from agattn.algebra.balls import elimination
from agattn.algebra.echelon import rational
from agattn.algebra.interval_newton import PRECISIONS, System, Zero, certified_zero, evaluate, signature
from agattn.algebra.scalars import Array
from agattn.architectures import SingleLayer, one_layer
from agattn.errors import InputError, TooLargeError
from agattn.evidence import Evidence, ProvedOrModular
from agattn.geometry.critical_points.charts import PAIR, Chart, chart_of
from agattn.geometry.critical_points.loss import AboutLoss, Loss, loss
from agattn.geometry.identifiability.weights import Weights, weights_of_layer
from agattn.geometry.strata.strata import Stratum
from agattn.geometry.variety.coordinates import coefficients
from agattn.limits import takes
from agattn.sheet.data import Cell, Sheet, Table, Word
from agattn.sheet.result import Count, Key, Matrix, Named, Positive, Result, Written, key

#: How a ball is written, and a matrix of balls: by midpoints.
BALL = Written(float, lambda ball: float(ball.mid()))
_FLOATS = Written(Matrix, lambda balls: _floats(balls).tolist())


_HEADINGS = ("stratum", "loss", "kind", "index", "in M", "evidence")


class RealWeights(Result, eq=False):
    """Real weights of a critical point, in arrays of balls: A = KᵀQ, where K and Q have a rows."""

    A: Key[Array, "The attention matrix.", _FLOATS]
    V: Key[Array, "The value matrix.", _FLOATS]
    K: Key[Array, "The keys, a × d.", _FLOATS]
    Q: Key[Array, "The queries, a × d, with A = KᵀQ.", _FLOATS]

    def summary(self) -> str:
        """A and V in a line."""
        return f"A = {_floats(self.A).tolist()}, V = {_floats(self.V).tolist()}"


class RealCriticalPoint(Result, eq=False):
    """A real critical point of a loss on a stratum of M̄, or on its regular part, with its proof."""

    stratum: Key[
        Stratum,
        "The stratum (r_V, r_A, r) of the point. On the smooth part ranks are proved from below: ranks "
        "smaller than those of the open stratum say that the point has at least these.",
    ]
    regular: Key[bool, "Whether the point is critical on the smooth part of M̄; else on its stratum."]
    y: tuple[Any, ...]  #: balls that contain its coordinates
    loss: Key[Any, "The loss at the point.", BALL]
    index: Key[Count | None, "The number of negative eigenvalues of the Hessian; null if degenerate."]
    dimension: int  #: of the stratum or of the regular part: the size of the Hessian
    multiplicity: Key[
        Positive, "The multiplicity of the point as a zero of the equations of critical points."
    ]
    in_m: Key[
        bool,
        "Whether the point is in M; else it is only in the real points of the closure, without real weights.",
    ]
    weights: Key[tuple[RealWeights, ...], "The real weights, up to (sA, V/s) and the gauge of K and Q."]
    gradient: Key[float, "The largest absolute value of the gradient in balls, in a chart; it contains 0."]
    #: proved: a box contains it and no other critical point, or it is a root isolated exactly
    evidence: Key[Evidence, "How the result is known."] = Evidence.PROVED
    exact_ranks: bool = True  #: whether its ranks are proved to be those of ``stratum``, and no larger

    @key(Written(Literal["minimum", "saddle", "maximum", "degenerate"]))
    def kind(self) -> str:
        """The kind of critical point, such as a minimum."""
        if self.index is None:
            return "degenerate"
        return "minimum" if not self.index else "maximum" if self.index == self.dimension else "saddle"

    @key
    def radius(self) -> float:
        """An upper bound for the error of each coordinate."""
        return max(float((abs(y - float(y.mid()))).upper()) for y in self.y)

    @key(Written(list[float]))
    def coordinates(self) -> Array:
        """The coordinates y of the point."""
        return np.array([float(y.mid()) for y in self.y])

    def summary(self) -> str:
        """What it is, where, and its loss, in a line."""
        index = f" of index {self.index}" if self.kind == "saddle" else ""
        outside = "" if self.in_m else ", outside M"
        value = self.loss.str(10, radius=False)
        where = f"{'on' if self.regular else 'within'} {self.stratum}"
        where = where if self.exact_ranks else f"on the smooth part, with ranks of at least {self.stratum}"
        return f"{self.kind}{index} {where}{outside}: loss {value} ({self.evidence})"

    def cells(self) -> tuple[Cell, ...]:
        """The row of the point in a table."""
        return (
            "smooth part" if self.regular else str(self.stratum),
            self.loss.str(10, radius=False),
            self.kind,
            "-" if self.index is None else self.index,
            "yes" if self.in_m else "no",
            Word(str(self.evidence)),
        )


def real_table(caption: str, points: Iterable[RealCriticalPoint]) -> Table:
    """A table of real critical points."""
    return Table(caption, _HEADINGS, tuple(point.cells() for point in points))


class RealPart(Result, eq=False):
    """The real critical points on the smooth part of M̄, or on a stratum, and whether these are all."""

    layer: SingleLayer
    stratum: Key[Stratum, "The stratum (r_V, r_A, r); of the smooth part the open one."]
    regular: Key[bool, "Whether this is the smooth part."]
    points: tuple[RealCriticalPoint, ...]  #: the critical points, the smallest loss first
    undecided: Key[Count, "Real solutions that were not proved to be simple, and in the stratum."]
    complex_number: Key[
        Count | None,
        "The number of complex critical points here, with multiplicity; null if unknown.",
        Named("complex"),
    ]
    complete: Key[ProvedOrModular | None, "How it is known that there are no other real critical points."]
    isolated: Key[
        ProvedOrModular | None, "How it is known that there are no other isolated real critical points."
    ]
    found_by: Key[str, "Who found them: `elimination`, `the norm` or an engine."]
    expected_sum: Key[
        int | None, "What `alternating_sum` must be for a general loss; null if that is not known."
    ]

    @key
    def number(self) -> Count:
        """The number of real critical points here, also outside of M."""
        return len(self.points)

    @key
    def alternating_sum(self) -> int | None:
        """The sum of (-1)^index over the points; null if a point is degenerate or undecided."""
        if self.undecided or any(point.index is None for point in self.points):
            return None
        return sum(1 - 2 * (point.index % 2) for point in self.points if point.index is not None)

    def summary(self) -> str:
        """How many there are and how that is known, in a line."""
        name = "smooth part" if self.regular else f"stratum {self.stratum}"
        complex_ = "" if self.complex_number is None else f" of {self.complex_number} complex ones"
        evidence = "not known to be all" if self.complete is None else f"all: {self.complete}"
        evidence += f", all isolated ones: {self.isolated}" if self.isolated != self.complete else ""
        text = f"{name}: {len(self.points)} real critical points{complex_} ({evidence}, by {self.found_by})"
        if self.undecided:
            text += f"; {self.undecided} more real solutions are not proved to be simple and in the stratum"
        return text

    def __str__(self) -> str:
        return "\n".join([self.summary(), *(f"  {point}" for point in self.points)])

    def sheet(self) -> Sheet:
        """The points, a row for each."""
        return Sheet(self.summary(), (real_table(self.summary(), self.points),))


@dataclass(frozen=True, eq=False)
class CriticalEquations:
    """The equations of the critical points of a loss in a chart, and what is proved from approximations.

    >>> from agattn.geometry.critical_points.charts import chart_of
    >>> from agattn.geometry.critical_points.loss import loss
    >>> layer = SingleLayer(1, 1)                                             # y = λ
    >>> equations = CriticalEquations(chart_of(layer), loss(layer, "coefficients", target=[3]))
    >>> print(equations.point([2.9])[0])
    minimum on (1,1,1): loss 0 (proved)
    """

    chart: Chart
    loss: Loss

    @cached_property
    def system(self) -> System:
        """The equations, ready for balls."""
        return System(self.chart.equations(self.loss))

    def point(self, start: Sequence[Any]) -> tuple[RealCriticalPoint | None, Zero | None]:
        """The critical point near ``start``, a point in the chart, and the zero of the equations there.

        ``None`` for what is not proved: that there is a simple zero, or that it lies in the stratum.
        Precision is raised until the gradient in balls is below 2^−64, relative to a loss above 1, if it can
        be.
        """
        point, zero = None, None
        for bits in PRECISIONS:
            if zero is not None and bits <= zero.bits:
                continue
            closer = certified_zero(self.system, start if zero is None else zero.point, bits)
            if closer is None:
                break
            zero = closer
            with flint.ctx.workprec(zero.bits):
                signs = signature(self.hessian(zero))
                point = self.at(zero.point, None if signs is None else signs[1])
            if point is not None and point.gradient <= 2.0**-64 * max(1.0, float(self.loss.constant)):
                break
        return point, zero

    def hessian(self, zero: Zero) -> Any:
        """The Hessian of the loss in the coordinates of the chart at a critical point, in balls.

        Equations are derivatives of half the loss divided by ``scales``, and so at a zero their derivatives.
        """
        scales = evaluate(self.chart.scales, zero.point)
        rows = [[scale * x for x in row] for scale, row in zip(scales, zero.jacobian.tolist(), strict=True)]
        H = flint.arb_mat(rows)
        return H + H.transpose()

    def at(self, zero: list[Any], index: int | None, multiplicity: int = 1) -> RealCriticalPoint | None:
        """The critical point at a zero in balls; ``None`` where it is not proved to be in the stratum.

        Without an index it is a multiple zero that was isolated otherwise: its Hessian is degenerate.
        """
        chart = self.chart
        located = _weights_of_pair if chart.is_pair else _weights_at
        stratum, in_m, weights = located(chart, zero)
        if stratum is None:
            return None
        scales = evaluate(chart.scales, zero)
        gradient = [x * scale for x, scale in zip(self.system.values(zero), scales, strict=True)]
        if not all(x.contains(0) for x in gradient):
            return None
        y = evaluate(chart.y, zero)
        return RealCriticalPoint(
            stratum,
            chart.regular,
            tuple(y),
            value_in_balls(self.loss, y),
            index,
            len(zero),
            multiplicity,
            in_m,
            weights,
            max(float(abs(x).upper()) for x in gradient),
            exact_ranks=stratum == chart.stratum,
        )

    def part(
        self,
        points: Iterable[RealCriticalPoint],
        undecided: int,
        number: int | None,
        complete: Evidence,
        found_by: str,
    ) -> RealPart:
        """Points as a value, in order, with what their indices must add up to."""
        chart, evidence = self.chart, None if undecided else complete
        expected = expected_sum(chart.layer, None if chart.regular else chart.stratum)
        ordered = tuple(sorted(points, key=lambda point: float(point.loss.mid())))
        at = chart.layer, chart.stratum, chart.regular
        return RealPart(*at, ordered, undecided, number, evidence, evidence, found_by, expected)

    def part_near(
        self,
        candidates: Iterable[Sequence[Any]],
        complex_number: int | None,
        found_by: str,
        others: Iterable[Sequence[Any]] = (),
        bound: int | None = None,
    ) -> RealPart:
        """The real critical points near candidates: all real solutions in a chart, as an engine found them.

        Args:
            candidates: approximations.
            complex_number: of complex solutions, with multiplicity, as the engine counts them; ``None`` if
                some of them may lie on lower strata.
            found_by: the engine.
            others: approximations of the other complex solutions, one of each two conjugate ones.
            bound: the number of critical points of a general loss, all of which are simple. No loss has more
                isolated ones, since they persist, with their multiplicities, when the loss is changed a
                little. So if as many are proved to exist there are no other isolated ones.
        """
        points: list[RealCriticalPoint] = []
        zeros: list[Zero] = []
        undecided = 0
        for candidate in candidates:
            point, zero = self.point(candidate)
            if point is None or zero is None or not all(zero.excludes(other) for other in zeros):
                undecided += 1
            else:
                zeros.append(zero)
                points.append(point)
        part = self.part(points, undecided, complex_number, Evidence.MODULAR, found_by)
        if bound is None or undecided or len(points) + self._certified_pairs(others) < bound:
            return part
        return part.replace(isolated=Evidence.PROVED)

    def _certified_pairs(self, starts: Iterable[Sequence[Any]]) -> int:
        """How many solutions, in conjugate pairs, are proved to be different, simple, and regular points."""
        proved: list[list[Any]] = []
        for start in starts:
            zero = certified_zero(self.system, start)
            if zero is None or not self.chart.is_inside(zero.point):
                continue
            conjugate = [flint.acb(x.real, -x.imag) for x in zero.point]
            if not any(all(map(flint.acb.overlaps, zero.point, other)) for other in [*proved, conjugate]):
                proved += [zero.point, conjugate]
        return len(proved)


def require_definite(loss: Loss) -> None:
    """Raise an InputError unless the loss is a distance: then it is proper, and G(θ) invertible."""
    rows = len(loss.block)
    if loss.rank < rows:
        raise InputError(
            f"the loss is no distance: W has rank {loss.rank}, not {rows}, and there may be infinitely many "
            "critical points; give more samples"
        )


#: The stratum, or nothing where it is not proved, whether the point is in M, and its weights.
Located = tuple[Stratum | None, bool, tuple[RealWeights, ...]]
_NOWHERE: Located = None, False, ()


def _weights_of_pair(chart: Chart, zero: list[Any]) -> Located:
    """Where h ⊗ q ⊗ S is: in M if S is indefinite, with two weights."""
    h, q, W, S = chart.at([chart.factors[name] for name in "hqWS"], zero)
    discriminant = S[0, 1] * S[0, 1] - S[0, 0] * S[1, 1]
    if discriminant.contains(0) or any(all(x.contains(0) for x in v) for v in (h, q)):
        return _NOWHERE
    if not discriminant > 0:
        return chart.stratum, False, ()
    # s_11 u² + 2 s_12 uv + s_22 v² = (s_11 u + p v)(u + (s_22/p) v), p² − 2p s_12 + s_11 s_22 = 0.
    root = discriminant.sqrt()
    p = S[0, 1] + (root if S[0, 1] > 0 or S[0, 1].mid() > 0 else -root)
    k, v = S[0, 0] * W[0] + p * W[1], W[0] + S[1, 1] / p * W[1]
    weights = (_weights(chart.layer, np.outer(h, w), u[None], q[None]) for u, w in ((k, v), (v, k)))
    return chart.stratum, True, tuple(weights)


def _weights_at(chart: Chart, zero: list[Any]) -> Located:
    """Where φ_{A,V} is, which is in M; on the smooth part its ranks are at least these."""
    V, K, Q = chart.at([chart.factors[name] for name in "VKQ"], zero)
    A = K.T @ Q
    ranks = Stratum(*(_rank(M) for M in (V, A, np.vstack([V, A.T]))))
    if chart.regular:
        # Regular points have rank α if α < d, and are not of rank one twice if d > 1.
        d, alpha = chart.layer.d, chart.layer.alpha
        if (alpha < d and ranks.r_a < alpha) or max(ranks.r_v, ranks.r_a) < min(2, d):
            return _NOWHERE
    elif ranks != chart.stratum:
        return _NOWHERE
    return ranks, True, (_weights(chart.layer, V, K, Q),)


def value_in_balls(loss: Loss, y: Sequence[Any]) -> Any:
    """A ball that contains the loss at coordinates in balls."""
    point = flint.arb_mat(len(y), 1, list(y))
    gram, linear = loss.matrices
    return (point.transpose() * (gram * point - 2 * linear))[0, 0] + flint.arb(rational(loss.constant))


def _weights(layer: SingleLayer, V: Array, K: Array, Q: Array) -> RealWeights:
    """Weights with K and Q filled up with rows of zeros."""
    rows = np.full((max(layer.a - len(K), 0), layer.d), flint.arb(0), dtype=object)
    return RealWeights(K.T @ Q, V, np.vstack([K, rows]), np.vstack([Q, rows]))


def _rank(M: Array) -> int:
    """A lower bound for the rank of a matrix of balls."""
    return elimination(flint.arb_mat(M.tolist()), flint.ctx.prec).rank


def _floats(M: Array) -> Array:
    return np.array([[float(x.mid()) for x in row] for row in M])


def expected_sum(layer: SingleLayer, stratum: Stratum | None = None) -> int | None:
    """Σ (−1)^index for a definite, general loss on a stratum, or the smooth part; ``None`` if not known."""
    d, e = layer.d, layer.d_out
    if stratum is None and layer.a == e == 1 and d > 1:
        stratum = PAIR
    if stratum == PAIR:
        return _sum((e, d, 3), 0, 1) if d == 2 else None
    if stratum == Stratum(1, 1, 1):
        return _sum((e, d), d - 1, _projective_space(d - 1))
    rank = layer.alpha if stratum is None else stratum.r_a
    if stratum and (stratum.r_v, stratum.r) != (min(d, e), min(d, stratum.r_v + rank)):
        return None
    return _sum((d * e, rank * d), rank * (d - rank), _grassmannian(rank, d))


def _sum(sizes: Iterable[int], base: int, characteristic: int) -> int | None:
    """χ(Θ), Θ the other factors up to scale over a base, if one factor is larger than its dimension."""
    sizes = sorted(sizes)
    x, others = sizes[-1], sizes[:-1]
    if x <= base + sum(size - 1 for size in others):
        return None
    return characteristic * prod(_projective_space(size - 1) for size in others)


def least_numbers(layer: SingleLayer) -> tuple[int, ...]:
    """Lower bounds for the numbers of regular critical points of index 0, 1, ..., for general b."""
    return (1,) * min(layer.d * layer.d_out, layer.d**2) if layer.a >= layer.d else (1,)


def _projective_space(n: int) -> int:
    """χ(ℝPⁿ)."""
    return 1 - n % 2


def _grassmannian(k: int, n: int) -> int:
    """χ of the real Grassmannian: binomial coefficients at q = −1.

    >>> [_grassmannian(k, 4) for k in range(5)]
    [1, 0, 2, 0, 1]
    """
    return 0 if k % 2 and not n % 2 else comb(n // 2, k // 2)


#: Systems of more equations take minutes to write down.
MAX_VARIABLES = 20
_BITS = 192


_NEARBY = ("rank of A", "distance", "loss", "stratum", "index", "rank rises", "evidence")


class NearbyCriticalPoint(Result, eq=False):
    """A critical point in (K, Q, V), where K and Q have the rank of A, and how far weights are from it."""

    point: Key[
        RealCriticalPoint, "The point, as a critical point of the layer whose attention has this rank."
    ]
    weights: RealWeights  #: those over the point that are nearest to the given ones, scaled as they are
    rank: Key[
        Positive,
        "The rank of K, Q and A = KᵀQ at the point; if it is d, Q and A may have a smaller rank, see the "
        "stratum.",
    ]
    is_full: bool  #: whether that is the largest rank that A can have
    distance: Key[float, "An upper bound for the relative distance, in the norm of the loss."]
    excess: Key[float, "The loss at the weights, less that at the point."]
    index: Key[Count | None, "Directions in which the loss falls and the rank is kept; null if degenerate."]
    escapes: Key[
        Count, "A lower bound for the number of directions in which the loss falls and the rank of A rises."
    ]
    rate: Key[
        float, "The largest singular value of the derivative by A: how fast the loss falls along `escapes`."
    ]
    direction: Key[
        tuple[Array, Array] | None,
        "Further rows u of K and v of Q: add εu and -εv; or null.",
        Written(list[list[float]]),
    ]
    #: proved: the point exists; the distance is a bound; there are at least that many escapes
    evidence: Key[Evidence, "How the result is known."] = Evidence.PROVED

    @key(name="local_minimum")
    def is_local_minimum(self) -> bool:
        """Whether the point is proved to be a local minimum in K, Q and V."""
        return self.index == 0 and self.is_full

    def summary(self) -> str:
        """The distance, the point, and the ways out, in a line."""

        def many(n: int | None, verb: str, what: str) -> str:
            return f"{n} direction{'s' * (n != 1)} that {verb}{'s' * (n == 1)} {what}"

        leaves = [many(self.index, "keep", f"the rank of A at {self.rank}")] * bool(self.index)
        if self.point.stratum.r_a < self.rank:  # A is free, and of a rank that is not known
            leaves = [f"{self.index} direction{'s' * (self.index != 1)} of A and V"] * bool(self.index)
        if self.escapes:
            leaves.append(many(self.escapes, "raise", f"the rank of A, at rate {self.rate:.4g}"))
        flow = f"the loss falls in {' and in '.join(leaves)}" if leaves else "no way out is proved"
        flow = "a local minimum" if self.is_local_minimum else flow
        return f"at relative distance at most {self.distance:.2g}: {self.point}; {flow}"

    def cells(self) -> tuple[Cell, ...]:
        """The row of the point in a table."""
        return (
            self.rank,
            f"{self.distance:.2g}",
            self.point.loss.str(10, radius=False),
            ("" if self.point.exact_ranks else "≥ ") + str(self.point.stratum),
            "-" if self.index is None else self.index,
            self.escapes,
            Word(str(self.evidence)),
        )


class NearbyCriticalPoints(AboutLoss, name="critical-points", eq=False):
    """The critical points found from given weights, one for each rank of A at most; nearest first."""

    loss: Loss
    value: Key[float, "The loss at the weights.", Named("loss")]
    points: Key[
        tuple[NearbyCriticalPoint, ...],
        "At most one for each rank of A, the nearest first; empty where Newton's method finds none in M.",
        Named("near"),
    ]

    def __iter__(self) -> Iterator[NearbyCriticalPoint]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, n: int) -> NearbyCriticalPoint:
        return self.points[n]

    def summary(self) -> str:
        """The loss at the weights."""
        return f"{self.layer.name}: the loss at the weights is {self.value:.10g}"

    def __str__(self) -> str:
        lines = [self.summary(), *(f"rank {point.rank}: {point}" for point in self.points)]
        return "\n".join(
            lines if self.points else [*lines, "Newton's method finds no critical point from them"]
        )

    def sheet(self) -> Sheet:
        """The points, a row for each."""
        caption = f"Critical points near weights of {self.layer.name}, where the loss is {self.value:.10g}"
        return Sheet(caption, (Table(caption, _NEARBY, tuple(point.cells() for point in self)),))


@takes("seed")
def critical_points_near(
    layer: SingleLayer,
    weights: Any,
    metric: str = "generic",
    data: tuple[Any, Any] | None = None,
    *,
    samples: int | None = None,
    target: Sequence[Any] | None = None,
) -> NearbyCriticalPoints:
    """Which critical points of a squared loss are near given weights, and how gradient flow leaves them.

    For each rank that A may have, the critical point on the functions of that rank that Newton's method finds
    from the weights, with a bound on its distance; the nearest one first.

    Args:
        layer: one layer, with two tokens or more.
        weights: of it, as for :func:`agattn.fiber`.
        metric, data, samples, target, seed: the loss, as for :func:`agattn.critical_points`.

    Raises:
        InputError: if the weights do not fit the layer or give the function 0, or the loss is no distance.

    See Also:
        :func:`agattn.critical_points`, :func:`agattn.classify`, :func:`agattn.train`; ``agattn
        critical-points --weights`` in a shell.

    >>> import agattn as ag
    >>> w = {"K": [[1, 2], [0, 0]], "Q": [["1/2", 0], [0, 0]], "V": [[1, -1]]}
    >>> near = ag.critical_points_near(ag.SingleLayer(2, 1), w, "gaussian", target=[1, 1, 0, 0, -1, 1])
    >>> [(point.rank, point.index, point.escapes, point.is_local_minimum) for point in near]
    [(2, 0, 0, True), (1, 1, 1, False)]
    """
    layer = one_layer(layer, "critical points", "they are known for layers alone")
    given = loss(layer, metric, data, samples=samples, target=target)
    return points_near(given, weights_of_layer(layer, weights))


def points_near(loss: Loss, given: Weights) -> NearbyCriticalPoints:
    """The critical points that Newton's method finds from given weights, for each rank of A; nearest first.

    Args:
        loss: definite.
        given: A and V, or K, Q and V, exact or floats, which are taken as the numbers that they are.

    Raises:
        InputError: if the weights do not fit the loss, they give the function 0, or the loss is not definite.
        TooLargeError: for layers of dimension above :data:`MAX_VARIABLES`.
    """
    if loss.layer.expected_dimension > MAX_VARIABLES:
        raise TooLargeError(
            f"{loss.layer.name} has dimension {loss.layer.expected_dimension}; critical points near weights "
            f"are found up to {MAX_VARIABLES}"
        )
    require_definite(loss)
    d, d_out = loss.layer.d, loss.layer.d_out
    if given.A.shape != (d, d) or given.V.shape != (d_out, d):
        raise InputError(
            f"the weights are of M({len(given.A)},{len(given.V)},·), the loss is for {loss.layer.name}"
        )
    if given.is_zero:
        raise InputError("the weights give the function 0, where every loss is critical in K, Q and V")
    A, V = (np.array(M, dtype=float) for M in (given.A, given.V))
    points = []
    for rank in range(1, min(given.a, d) + 1):
        layer = SingleLayer(d, d_out, rank, loss.layer.t)
        charts, small = (chart_of(layer, seed=seed) for seed in range(16)), replace(loss, layer=layer)
        # Each chart leaves out some hyperplanes, which differ from chart to chart.
        starts = ((chart, at) for chart in charts if (at := chart.near(A, V)) is not None)
        chart, at = next(starts, (None, None))
        if chart is None or at is None:
            raise InputError(f"the weights are at infinity in all charts of {layer.name}: A or V is tiny")
        point, _ = CriticalEquations(chart, small).point(at)
        if point is not None and point.in_m:
            points.append(_nearby(small, given, point, rank))
    with flint.ctx.workprec(_BITS):
        value = float(value_in_balls(loss, _coordinates(loss, given)).mid())
    return NearbyCriticalPoints(loss, value, tuple(sorted(points, key=lambda point: point.distance)))


def _nearby(loss: Loss, given: Weights, point: RealCriticalPoint, rank: int) -> NearbyCriticalPoint:
    """Distance and ways out, in balls."""
    with flint.ctx.workprec(_BITS):
        y = _coordinates(loss, given)
        gram, linear = loss.matrices
        difference, best = _column([a - b for a, b in zip(y, point.y, strict=True)]), _column(point.y)
        ratio = _form(gram, difference) / _form(gram, best)
        excess = value_in_balls(loss, y) - point.loss
        weights = _scaled(min(point.weights, key=lambda w: _angle(w.A, given.A)), given.V)
        M = _slope(loss, 2 * (gram * best - linear), weights.V)
        escapes, rate, direction = (given.a - rank) * elimination(M, _BITS).rank, 0.0, None
        if escapes:
            middle = np.array([[float(x.mid()) for x in row] for row in M.tolist()])
            left, sizes, right = np.linalg.svd(middle)
            rate, direction = float(sizes[0]), (left[:, 0], right[0])
        return NearbyCriticalPoint(
            point,
            weights,
            rank,
            rank == min(given.a, loss.layer.d),
            float(max(ratio.upper(), flint.arb(0)).sqrt().upper()),
            float(excess.mid()),
            point.index,
            escapes,
            rate,
            direction,
        )


def _coordinates(loss: Loss, given: Weights) -> list[Any]:
    """The coordinates of the weights, taken as the rational numbers that they are, in balls."""
    A = given.A if given.K is None or given.Q is None else _exact(given.K).T @ _exact(given.Q)
    return [flint.arb(rational(x)) for x in coefficients(loss.layer, _exact(A), _exact(given.V))]


def _exact(M: Array) -> Array:
    """The rational numbers that entries are."""
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(M))


def _slope(loss: Loss, gradient: Any, V: Array) -> Any:
    """∂L/∂A at (A, V), as y is linear in A."""
    d, zero = loss.layer.d, flint.arb(0)
    units = np.eye(d * d, dtype=object).reshape(-1, d, d) + zero
    derivatives = (zip(gradient.entries(), coefficients(loss.layer, unit, V), strict=True) for unit in units)
    return flint.arb_mat(d, d, [sum((g * x for g, x in pairs), zero) for pairs in derivatives])


def _column(entries: Sequence[Any]) -> Any:
    return flint.arb_mat(len(entries), 1, list(entries))


def _form(gram: Any, y: Any) -> Any:
    return (y.transpose() * gram * y)[0, 0]


def _scaled(w: RealWeights, V: Array) -> RealWeights:
    """The weights (A/s, sV) for which sV is nearest to the given V."""
    own, wanted = (np.array([float(x) for x in M.ravel()]) for M in (w.V, V))
    s = flint.arb(float(own @ wanted / (own @ own)) or 1.0)
    return RealWeights(w.A / s, w.V * s, w.K, w.Q / s)


def _angle(A: Array, B: Array) -> float:
    """How far two matrices are from being multiples of each other."""
    a, b = (np.array([float(x) for x in M.ravel()]) for M in (A, B))
    return float(1 - abs(a @ b) / (np.linalg.norm(a) * np.linalg.norm(b)))
