r"""Are given weights near a critical point of a loss, and how does gradient flow leave it?

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

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from agattn.algebra.balls import elimination
from agattn.algebra.echelon import rational
from agattn.algebra.scalars import Array
from agattn.architectures import SingleLayer, one_layer
from agattn.errors import InputError, TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.critical_points.charts import chart_of
from agattn.geometry.critical_points.loss import AboutLoss, Loss, loss
from agattn.geometry.critical_points.real_points import (
    CriticalEquations,
    RealCriticalPoint,
    RealWeights,
    require_definite,
    value_in_balls,
)
from agattn.geometry.identifiability.weights import Weights, weights_of_layer
from agattn.geometry.variety.coordinates import coefficients
from agattn.limits import takes
from agattn.sheet.data import Cell, Sheet, Table, Word
from agattn.sheet.result import Count, Key, Named, Positive, Result, Written, key

#: Systems of more equations take minutes to write down.
MAX_VARIABLES = 20
_BITS = 192


_HEADINGS = ("rank of A", "distance", "loss", "stratum", "index", "rank rises", "evidence")


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
        leaves += [many(self.escapes, "raise", f"the rank of A, at rate {self.rate:.4g}")] * bool(
            self.escapes
        )
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
        return Sheet(caption, (Table(caption, _HEADINGS, tuple(point.cells() for point in self)),))


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
