"""The dimension of any neuromanifold: an integer with a proof from both sides, or an interval.

A *prover* is a function that may know a bound, from below or from above. The provers stand in lists, from
cheap to dear, and run until the bounds meet: :data:`AT_ANY_SIZE`, then :data:`WITH_JACOBIAN` or
:data:`WITHOUT`. A new bound is one function in one of these.

*From below.* At random weights modulo a prime p < 2³⁰, the Jacobian of (K, Q, V) ↦ (⟨c_k, φ(X_k)⟩)_k at
random inputs X_k and cotangents c_k has some rank r. A minor that is nonzero modulo p is nonzero, so the
generic rank is at least r: proved. For normalized networks weights and inputs are floats, which are exact
rationals, and a minor of the Jacobian is proved in balls (:func:`agattn.algebra.rank.rank` for both).

*From above.* For networks of attention the count of :mod:`agattn.geometry.dimension.formulas`; where that is
not met, and for other architectures, the parameters minus the rank of the tangent vectors of the known
symmetries (:mod:`agattn.geometry.dimension.symmetries`), or for networks of any layers a space that they lie
in, or the layers less the groups between them
(:mod:`agattn.geometry.dimension.theorems`), whichever is less: all proved. Where that is not met either, the
architecture is searched for all linear symmetries (:mod:`agattn.geometry.dimension.lie_algebra`), and the
orbits of those that are proved take the place of the known ones'.

*By a theorem.* Where the rank of a Jacobian would take long, a theorem may know the dimension, or the rank at
special weights, at which the Jacobian falls apart, or both bounds of a network that is cut between its layers
(:mod:`agattn.geometry.dimension.theorems`). Where a rank is at hand it is compared with these.

*At any size.* Where no Jacobian can be taken and no theorem knows the dimension, the interval of two proved
bounds is found: from below a network inside whose dimension is known
(:mod:`agattn.geometry.dimension.dimension`), from above the symmetries' orbits without matrices
(:mod:`agattn.geometry.dimension.symmetries`).

Where the two meet the dimension is ``proved``. Elsewhere the interval stands, and the value reported is the
rank observed at several points and primes, ``modular`` evidence, with a bound on the probability that all of
them fell below the generic rank: that a minor that is not zero vanishes at a random point (Schwartz and
Zippel), or that a random prime divides all its coefficients
(:func:`agattn.algebra.residues.chance_of_dividing`).

>>> from agattn.architectures import DeepNetwork
>>> print(dimension(DeepNetwork((3, 3, 3), (1, 2), t=3)))
M(3,3,3; 1,2), t = 3: dimension 18 (proved), expected 18
>>> print(dimension(DeepNetwork((5, 1), (3,), t=2, heads=2)))
M(5,1,3), heads 2, t = 2: dimension 49 (modular, in 49..50), expected 50
>>> large = dimension(DeepNetwork((768, 64), (64,), t=2))
>>> large.dimension, large.lower_bound_reason, large.theorem
(143359, 'theorem', 'theorem-3.2')

A smaller model inside a large one, whose dimension bounds that of the large one from below.

Weights that are 0 outside of some rows and columns make a model of smaller widths, with fewer heads and
neurons. On inputs that are 0 in all other rows the large model computes what the smaller one does, so that
its functions have at least the dimension of those of the smaller one. Tokens are left out in the same way
where tokens that are 0 stay 0: without filters along the tokens and the softmax, and with biases that are 0.
At a softmax equal tokens share their weight, so that each token may be repeated, and t replaced by a divisor.

>>> from agattn.architectures import DeepNetwork
>>> print(smaller(DeepNetwork((768, 768, 768), (64, 64), t=1024, heads=12, normalization="softmax"), 300))
M(5,5,5; 5,5), heads 2, softmax, t = 2
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Annotated, Any, Literal

from agattn.algebra.rank import RankPoint, RankResult, rank
from agattn.architectures import Architecture, Attention, Convolution, DeepNetwork, Jet, Network, Perceptron
from agattn.architectures.layered import Layered
from agattn.architectures.layers import LAYERS, Layer, Skip
from agattn.architectures.model_file import STUDIED, Studied
from agattn.errors import DisagreementError, InputError, TooLargeError, argument
from agattn.evidence import Evidence
from agattn.geometry.dimension import theorems
from agattn.geometry.dimension.formulas import (
    Bound,
    bound_at_any_size,
    capacity_bound,
    layers_bound,
    network_bound,
    products_bound,
    seen_scores,
    symmetry_bound,
)
from agattn.geometry.dimension.jacobian import bytes_needed, check_size, jacobian_rows
from agattn.geometry.dimension.lie_algebra import linear_symmetries
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.limits import limits, log, takes
from agattn.memory import allow
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, Word
from agattn.sheet.result import Count, Key, Meta, Result, Written, key

#: The largest rank that is certified in balls unless forced.
MAX_BALL_RANK = 800
#: Where the bounds meet without a rank, larger ones modulo p are computed only with ``force``: seconds.
MAX_COMPARED = 3000
#: The most parameters of a smaller network inside, whose rank bounds a dimension; the second in balls.
MOST_INSIDE, MOST_INSIDE_BALLS = 2000, 200
#: The most parameters for which a bound alone, or a fiber, is worth a search for unknown linear symmetries.
MAX_SEARCHED = 80
#: Of a jet: every symmetry that is found is proved by symbols in power series, in a quarter of a second.
MAX_SEARCHED_IN_JETS = 24


@dataclass(frozen=True)
class Bounds:
    """What is proved of a dimension so far.

    Attributes:
        lower, upper: the best bounds.
        exact: the dimension by a theorem. Every other bound is compared with it, so that it is no bound
            itself where a rank is taken.
        seen: the rank of a Jacobian, where one was taken.
        searched: the most parameters in which symmetries are searched for; ``None`` for as many as can be.
    """

    lower: Bound
    upper: Bound
    exact: Bound | None = None
    seen: RankResult | None = None
    searched: int | None = None

    @property
    def is_met(self) -> bool:
        """Whether the dimension is proved."""
        return self.lower.value == self.upper.value

    def narrowed(self, side: Side, bound: Bound, of: Architecture) -> Bounds:
        """With one bound more. Of equal ones the last from below stays, and the first from above.

        A rank takes the place of a bound by a theorem, so that a theorem that says too much is seen.

        Raises:
            DisagreementError: if it contradicts another.
        """
        exact = bound if side == "both" else self.exact
        seen = None if bound.inside else bound.rank
        better = seen is not None or bound.value >= self.lower.value
        lower = bound if side == "lower" and better else self.lower
        upper = bound if side == "upper" and bound.value < self.upper.value else self.upper
        most = exact if exact and exact.value > lower.value else lower
        least = exact if exact and exact.value < upper.value else upper
        if most.value > least.value:
            raise DisagreementError(
                f"{of} has at least the dimension {most.value}: {most.reason}; and at most {least.value}:"
                f" {least.reason}; one of the two is wrong, please report it"
            )
        return replace(self, lower=lower, upper=upper, exact=exact, seen=seen or self.seen)


Side = Literal["lower", "upper", "both"]
Prover = Callable[[Architecture, Bounds], Bound | None]
Provers = tuple[tuple[Side, Prover], ...]

# --- from below ---


def by_theorem(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """The first theorem that says what the dimension is, at any size."""
    return theorems.by_theorem(architecture)


def by_rank(architecture: Architecture, bounds: Bounds, points: int = 1) -> Bound | None:
    """The rank of the Jacobian at random points, each modulo its own prime, or in balls.

    Further points prove no more; they bound the chance that the rank that is seen is too small.
    """
    needed, force = bytes_needed(architecture, bounds.upper), argument("force", True)
    allow(needed, f"the Jacobian in {architecture.parameters} parameters", f"{force} tries anyway")
    log.info("the rank of the Jacobian" if points == 1 else "the rank at further points")
    result = rank(jacobian_rows(architecture, bounds.upper), points=points)
    return Bound(result.lower_bound, _of_shape(result), rank=result)


def by_one_head(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """The theorem on the network with one head in each layer, which is inside."""
    network = architecture.as_network()
    if network is None:
        return None
    single = replace(network, heads=1)
    bound = theorems.by_theorem(single)
    return bound and within(str(single), bound)


def by_smaller(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """The rank of a smaller model inside, which takes seconds."""
    log.info("the rank of a smaller network inside")
    inside = smaller(architecture, MOST_INSIDE_BALLS if architecture.degree is None else MOST_INSIDE)
    if inside is None:
        return None
    rows = jacobian_rows(inside, Bound(inside.parameters, "the parameters"))
    # The sizes of coefficients bound a chance of error, and a lower bound has none.
    result = rank(replace(rows, size=lambda: 0.0), points=1)
    return within(str(inside), Bound(result.lower_bound, _of_shape(result), rank=result))


def within(inside: str, bound: Bound) -> Bound:
    """The bound of a model inside."""
    return replace(bound, inside=inside, reason=f"{inside} is inside: {bound.reason}")


def _of_shape(result: RankResult) -> str:
    return f"rank of a Jacobian of shape {result.shape}"


# --- from above ---


def by_counting(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """Parameters less symmetries, layer by layer, of networks of attention."""
    network = architecture.as_network()
    return network_bound(network) if network else None


def by_products(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """The least of four bounds on a bilinear layer."""
    return products_bound(architecture)


def by_outputs(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """The rank at weights of a bilinear layer that are spread over its outputs."""
    return None if bounds.exact else theorems.at_least(architecture)


def by_cut(architecture: Architecture, bounds: Bounds, above: bool = True) -> Bound | None:
    """The dimensions of the layers, less those of the groups between them; a lower bound by a theorem."""
    sides = None if bounds.exact else theorems.cut(architecture)
    return sides and sides[above]


def by_space(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """A space that the functions lie in, or the rank of the known symmetries' tangent vectors."""
    return None if architecture.as_network() else capacity_bound(architecture)


def by_jet(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """The bound of a jet by the network that it is the jet of, without the scores that it does not see."""
    network = architecture.network.as_network() if isinstance(architecture, Jet) else None
    if not isinstance(architecture, Jet) or network is None or network.is_lightning:
        return None
    if set(network.heads_by_layer) != {1} and network.normalization != "softmax":
        return None  # coordinates of several heads are independent by the poles of the logistic function
    scores = seen_scores(network, architecture.order)
    bound = network_bound(network, scores)
    if scores == network.depth:
        return bound
    unseen = f"no scores of layers above {scores}" if scores else "no scores"
    return replace(bound, reason=f"{bound.reason}; a jet of this order sees {unseen}")


def by_orbits(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """The parameters less the symmetries' orbits, without matrices."""
    return bound_at_any_size(architecture) if isinstance(architecture, Network) else None


def by_tangents(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """The parameters less the rank of the known symmetries' tangent vectors."""
    return symmetry_bound(architecture)


def by_constancy(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """Nothing, where all coefficients are seen to be constants, by expanding them."""
    if bounds.seen and bounds.lower.value == 0 and architecture.degree is not None:
        with suppress(TooLargeError):
            if all(f.degree() < 1 for f in coefficient_map(architecture).polynomials):
                return Bound(0, "the function is the same at all parameters")
    return None


def by_all_symmetries(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """The orbits of all linear symmetries, which are searched for."""
    most = MAX_SEARCHED_IN_JETS if isinstance(architecture, Jet) else bounds.searched
    if architecture.degree is None or (most is not None and architecture.parameters > most):
        return None
    with suppress(TooLargeError):
        log.info("all linear symmetries")
        orbits = linear_symmetries(architecture, force=False).orbit_dimension
        reason = (
            "the parameters, minus the dimension of the orbits of all linear symmetries, which were found"
        )
        return Bound(architecture.parameters - orbits, reason)
    return None


def by_layers(architecture: Architecture, bounds: Bounds) -> Bound | None:
    """The bounds of the layers, of which symmetries are searched for, less the groups between them."""
    if architecture.as_network() is not None:
        return None
    return layers_bound(architecture, lambda layer: by_all_symmetries(layer, bounds))


#: In order of cost. These take milliseconds at any size.
AT_ANY_SIZE: Provers = (
    ("upper", by_counting),
    ("both", by_theorem),
    ("upper", by_products),
    ("upper", by_cut),
    ("lower", partial(by_cut, above=False)),
    ("lower", by_outputs),
)
#: These need matrices with a column for each parameter. The rank needs the best upper bound that is cheap,
#: for the number of its rows; searches for a better one are in vain where the rank meets it.
WITH_JACOBIAN: Provers = (
    ("upper", by_space),
    ("upper", by_jet),
    ("lower", by_rank),
    ("upper", by_constancy),
    ("upper", by_tangents),
    ("upper", by_all_symmetries),
    ("upper", by_layers),
)
#: These take the place of a Jacobian that is too large.
WITHOUT: Provers = (("upper", by_orbits), ("lower", by_one_head), ("lower", by_smaller))


def unknown(architecture: Architecture) -> Bounds:
    """From 0 to the number of parameters."""
    everything = Bound(architecture.parameters, "the parameters")
    return Bounds(Bound(0, "as every dimension"), everything)


def bounds_of(architecture: Architecture, points: int = 1) -> Bounds:
    """Both bounds of a dimension, by one prover after the other until they meet."""
    bounds = narrowed(architecture, unknown(architecture), AT_ANY_SIZE)
    if takes_jacobian(architecture, bounds):
        bounds = narrowed(architecture, bounds, WITH_JACOBIAN)
        if points > 1 and architecture.degree is not None:
            bounds = narrowed(architecture, bounds, (("lower", partial(by_rank, points=points)),))
    elif bounds.exact is None:
        bounds = narrowed(architecture, bounds, WITHOUT)
    if (exact := bounds.exact) is None or bounds.seen:
        return bounds
    too = Bound(exact.value, f"by {exact.theorem}, too")
    return replace(bounds, lower=exact, upper=bounds.upper if bounds.upper.value == exact.value else too)


def narrowed(architecture: Architecture, bounds: Bounds, provers: Provers) -> Bounds:
    """The interval with the bounds of some provers, until it is met.

    A first rank is taken all the same: it needs no theorem, and a theorem that is wrong is seen.
    """
    for side, prove in provers:
        if (not bounds.is_met or prove is by_rank) and (bound := prove(architecture, bounds)):
            bounds = bounds.narrowed(side, bound, architecture)
    return bounds


def takes_jacobian(architecture: Architecture, bounds: Bounds) -> bool:
    """Whether the rank of a Jacobian is taken: where it is not too large, and says something in time."""
    if limits().force:
        return True
    decided = bounds.exact or (bounds.lower if bounds.is_met else None)
    if decided and decided.value > (MAX_BALL_RANK if architecture.degree is None else MAX_COMPARED):
        return False
    try:
        check_size(architecture)
    except TooLargeError:
        if bounds.exact or isinstance(architecture, Layered):
            return False
        raise
    if architecture.degree is not None:
        return True
    return (bounds.exact or by_space(architecture, bounds) or bounds.upper).value <= MAX_BALL_RANK


def upper_bound(architecture: Architecture, lower: int = 0) -> Bound:
    """A proved upper bound on the dimension of the neuromanifold, so on the rank of dφ at all weights.

    Args:
        architecture: any.
        lower: a proved lower bound; where it is met no better one is looked for.

    >>> from agattn.architectures import Network, Perceptron
    >>> upper_bound(Network([Perceptron([5, 1], degree=4)], dim=3)).value
    14
    """
    bounds = replace(unknown(architecture), lower=Bound(lower, "as given"), searched=MAX_SEARCHED)
    above = tuple(row for row in (*AT_ANY_SIZE, *WITH_JACOBIAN) if row[0] == "upper")
    return narrowed(architecture, bounds, above).upper


@takes("seed", "force", "workers", "progress")
def dimension(architecture: Architecture, points: int = 3) -> Dimension:
    """The dimension of the neuromanifold of an architecture.

    Args:
        architecture: any.
        points: how many points, each modulo its own prime, are tried while no upper bound is met.

    Raises:
        TooLargeError: if a polynomial map is beyond the limits of a Jacobian, or its arrays would fill the
            memory. Networks beyond it, or of ranks above :data:`MAX_BALL_RANK`, get bounds.
        DisagreementError: if a bound contradicts another, or a theorem.
    """
    start = time.perf_counter()
    bounds = bounds_of(architecture.as_network() or architecture, points)
    return Dimension(architecture, bounds.lower, bounds.upper, bounds.seen, time.perf_counter() - start)


class Dimension(Result):
    """What is known about the dimension of a neuromanifold.

    It is ``proved`` if the two bounds, both proved, meet; else the evidence is that of the observed rank.

    Attributes:
        lower, upper: the bounds.
        seen: the rank of a Jacobian, where one was taken.
    """

    architecture: Key[Studied, STUDIED]
    lower: Bound
    upper: Bound
    seen: RankResult | None
    seconds: Key[float, "Wall-clock time.", Meta(ge=0), Written(float, lambda seconds: round(seconds, 3))]

    @key
    def dimension(self) -> Count | None:
        """The dimension; where it is not proved, the rank observed; null if only bounds are known."""
        if not self.open_by:
            return self.upper.value
        return self.seen.upper_bound if self.seen else None

    @key
    def evidence(self) -> Evidence | None:
        """How the result is known; null if only bounds are known."""
        if not self.open_by:
            return Evidence.PROVED
        return self.seen.upper_evidence if self.seen else None

    @key
    def lower_bound(self) -> Count:
        """The dimension is at least this: proved."""
        return self.lower.value

    @key
    def upper_bound(self) -> Count:
        """The dimension is at most this: proved."""
        return self.upper.value

    @key
    def upper_bound_reason(self) -> str:
        """The argument behind the upper bound."""
        return self.upper.reason

    @key
    def predicted(self) -> Count | None:
        """The general formula of networks; null for models and maps."""
        network = self.architecture.as_network()
        return network_bound(network).value if network else None

    @key(Written(Annotated[list[Count], Meta(min_length=2, max_length=2)]))
    def jacobian_shape(self) -> tuple[int, int] | None:
        """Rows and columns of the matrix whose rank was taken; null where a theorem decides."""
        return self.lower.rank.shape if self.lower.rank else None

    @key(name="points")
    def ranks(self) -> tuple[RankPoint, ...]:
        """The random points tried; empty for normalized networks and theorems."""
        return self.seen.points if self.seen else ()

    @key
    def precision_bits(self) -> Count:
        """The precision of the ball arithmetic; 0 for lightning networks."""
        return (self.seen.precision_bits if self.seen else None) or 0

    @key(Meta(ge=0, le=1), name="error_probability")
    def error(self) -> float:
        """If modular: a bound on the chance that the rank fell short at all points."""
        return self.seen.error if self.seen and self.open_by else 0.0

    @key
    def lower_bound_reason(self) -> Literal["rank", "theorem", "specialization", "smaller"]:
        """The argument behind the lower bound: the rank of a Jacobian, a theorem, the rank at special
        weights that were found, or the dimension of a smaller model inside."""
        if self.lower.inside:
            return "smaller"
        if self.lower.theorem:
            return "specialization" if self.lower.theorem == theorems.SUPPORTS else "theorem"
        return "rank"

    @key
    def theorem(self) -> str | None:
        """The id of the theorem behind the lower bound, a place in the documentation; null for a rank."""
        return self.lower.theorem

    @key
    def checked(self) -> tuple[str, ...]:
        """The hypotheses of the theorem, which hold."""
        return self.lower.checked

    @key
    def smaller(self) -> str | None:
        """The smaller model inside whose dimension is the lower bound."""
        return self.lower.inside

    @key
    def parameters(self) -> Count:
        """The number of entries of all parameters."""
        return self.architecture.parameters

    @property
    def observed(self) -> int:
        """The dimension; where it is not proved, the rank observed.

        Raises:
            TooLargeError: if no rank was taken, as the architecture is too large, and bounds alone are known.
        """
        if self.dimension is None:
            raise TooLargeError(
                f"the dimension is between {self.lower_bound} and {self.upper_bound}; "
                f"{argument('force', True)} takes the rank"
            )
        return self.dimension

    @property
    def known(self) -> Evidence:
        """How the dimension is known.

        Raises:
            TooLargeError: as for :attr:`observed`.
        """
        if self.evidence is None:
            raise TooLargeError(
                f"only bounds of the dimension are known; {argument('force', True)} takes the rank"
            )
        return self.evidence

    @property
    def open_by(self) -> int:
        """How far the bounds are apart."""
        return self.upper_bound - self.lower_bound

    @property
    def computed_of(self) -> Architecture:
        """What the Jacobian is of: the architecture, or of a single layer the network that the layer is."""
        return self.architecture.as_network() or self.architecture

    def summary(self) -> str:
        """The dimension, how it is known, and the general formula."""
        interval = f"{self.lower_bound}..{self.upper_bound}"
        expected = "" if self.predicted is None else f", expected {self.predicted}"
        if self.evidence is None:
            return f"{self.computed_of}: dimension in {interval} (proved), open by {self.open_by}{expected}"
        within = f", in {interval}" if self.open_by else ""
        return f"{self.computed_of}: dimension {self.dimension} ({self.evidence}{within}){expected}"

    def sheet(self) -> Sheet:
        """The dimension with both bounds, what formulas say, and the ranks at the points tried."""
        value: Cell = f"{self.lower_bound}..{self.upper_bound}" if self.dimension is None else self.dimension
        bounds: list[tuple[Cell, ...]] = [
            ("dimension", value, Word(str(self.evidence or "proved")), "the bounds below, where they meet"),
            ("at least", self.lower_bound, Word("proved"), self.lower.reason),
            ("at most", self.upper_bound, Word("proved"), self.upper_bound_reason),
            *self._formulas(),
        ]
        headings = ("what", "value", "evidence", Wide("why"))
        shown = [Table(f"Dimension of {self.computed_of}", headings, tuple(bounds), where="page")]
        if self.ranks:
            points = tuple((r.rank, r.prime, r.rows, r.columns) for r in self.ranks)
            columns = ("rank", "modulo", "rows", "columns")
            title = "Ranks of the Jacobian at random points"
            shown.append(Table(title, columns, points, where="page"))
        lines = "\n".join(f"  {line}" for line in self._lines())
        return Sheet(self.summary(), (*shown, Note(lines, apart=False)))

    def _lines(self) -> list[str]:
        """What a terminal says below the dimension."""
        lines = [
            f"at least {self.lower_bound}: {self.lower.reason}",
            f"at most  {self.upper_bound}: {self.upper_bound_reason}",
        ]
        if self.evidence is None:
            without = f"no Jacobian of this size is taken without {argument('force', True)}"
            lines.append(f"open by {self.open_by}: {without}")
        if self.evidence is Evidence.MODULAR:
            chance = f"wrong with probability below {self.error:.1e} (for the rank over F_p)"
            lines.append(f"observed: {', '.join(map(str, self.ranks))}; {chance}")
        return [*lines, f"{self.parameters} parameters, {self.seconds:.2f} s"]

    def _formulas(self) -> list[tuple[Cell, ...]]:
        """The rows of the formulas for such architectures."""
        if self.predicted is None:
            return []
        return [("general formula", self.predicted, "", "the count of parameters less symmetries")]


# Widths and numbers of heads that are tried, the largest first.
_WIDTHS, _HEADS = (24, 16, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1), (4, 3, 2, 1)
# So many tokens are kept where none can be left out: with the matrices of attention, and without.
_MOST_TOKENS, _MOST_POSITIONS = 8, 1000


def smaller(architecture: Architecture, parameters: int) -> Architecture | None:
    """A model of at most so many parameters inside another; ``None`` if none is known."""
    models = (one for size in product(_WIDTHS, _HEADS) if (one := _inside(architecture, *size)))
    fitting = [one for one in models if one.parameters <= parameters and one.t <= _most_tokens(one)]
    return max(fitting, key=lambda one: one.parameters, default=None)


def _most_tokens(architecture: Architecture) -> int:
    """Heads have a matrix of t × t entries each."""
    steps = architecture.places if isinstance(architecture, Network) else None
    attends = steps is None or any(isinstance(step.layer, Attention) for step in steps)
    return _MOST_TOKENS if attends else _MOST_POSITIONS


def _inside(architecture: Architecture, width: int, heads: int) -> Architecture | None:
    """The model with at most so large widths, and so many heads."""
    if isinstance(architecture, DeepNetwork):
        return _network(architecture, width, heads)
    if not isinstance(architecture, Network):
        return None
    kinds = [type(step.layer) for step in architecture.places]
    if not all(kind in LAYERS.values() for kind in kinds):
        return None  # of other layers it is not known that rows and tokens that are 0 play no role
    softmax = any(getattr(step.layer, "normalization", "none") != "none" for step in architecture.places)
    tokens = architecture.t if softmax or Convolution in kinds else min(architecture.t, 3)
    layers = [_layer(layer, width, heads, tokens, tokens == architecture.t) for layer in architecture.layers]
    positions = architecture.t == 1 and any(isinstance(layer, Convolution) for layer in layers)
    rows = architecture.dim if positions else min(architecture.dim, width)
    try:
        inside = Network(tuple(layers), rows, tokens)
    except InputError:  # a filter that is longer than what is left
        return None
    # A convolution makes tokens of the rows of a single token: with fewer rows there may be others.
    same = [step.shape[1] for step in inside.places] == [step.shape[1] for step in architecture.places]
    same = same and inside.output_shape[1] == architecture.output_shape[1]
    return inside if tokens < architecture.t or same else None


def _network(network: DeepNetwork, width: int, heads: int) -> DeepNetwork:
    """A network of attention with smaller numbers."""
    t = network.t
    if network.is_lightning:
        t = min(t, 3)
    elif t > _MOST_TOKENS:
        t = next((k for k in range(2, _MOST_TOKENS + 1) if t % k == 0), 1)
    return replace(
        network,
        dims=tuple(min(d, width) for d in network.dims),
        ranks=tuple(min(a, width) for a in network.ranks),
        heads=tuple(min(h, heads) for h in network.heads_by_layer),
        value_rank=network.value_rank and min(network.value_rank, width),
        t=t,
    )


def _layer(layer: Layer, width: int, heads: int, tokens: int, biases: bool) -> Layer:
    """A layer with smaller numbers, and with its biases if tokens stay."""
    if isinstance(layer, Skip):
        return Skip(tuple(_layer(one, width, heads, tokens, biases) for one in layer.layer))
    limits = {"out": width, "rank": width, "value_rank": width, "channels": width, "heads": heads}
    limits["neurons"] = 2 * width
    sizes = {name: getattr(layer, name, None) for name in limits}
    changed: dict[str, Any] = {name: min(size, limits[name]) for name, size in sizes.items() if size}
    if getattr(layer, "bias", False):
        changed["bias"] = biases
    if isinstance(layer, Perceptron):
        *inner, last = layer.widths
        changed["widths"] = (*(min(n, 2 * width) for n in inner), min(last, width))
    if isinstance(layer, Attention):
        groups = min(layer.groups, heads)
        changed["heads"] = groups * min(layer.heads // layer.groups, max(1, heads // groups))
        changed["kv_heads"] = layer.kv_heads and groups
        if layer.rotary:
            pairs = min(layer.pairs, max(1, changed["rank"] // 2))
            changed["rank"] = 2 * pairs if layer.rotary is True else max(changed["rank"], 2 * pairs)
            changed["rotary"] = layer.rotary is True or pairs
        if isinstance(layer.mask, tuple):
            changed["mask"] = tuple(row[:tokens] for row in layer.mask[:tokens])
    return replace(layer, **changed)
