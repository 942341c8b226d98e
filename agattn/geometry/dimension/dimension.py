"""The dimension of any neuromanifold: an integer with a proof from both sides, or an interval.

*From below.* At random weights modulo a prime p < 2³⁰, the Jacobian of (K, Q, V) ↦ (⟨c_k, φ(X_k)⟩)_k at
random inputs X_k and cotangents c_k has some rank r. A minor that is nonzero modulo p is nonzero, so the
generic rank is at least r: proved. For normalized networks weights and inputs are floats, which are exact
rationals, and a minor of the Jacobian is proved in balls (:func:`agattn.algebra.rank.rank` for both).

*From above.* For networks of attention the count of :mod:`agattn.geometry.dimension.formulas`; where that is
not met, and for other architectures, the parameters minus the rank of the tangent vectors of the known
symmetries (:mod:`agattn.geometry.dimension.symmetries`), or for networks of any layers a space that they lie
in (:mod:`agattn.geometry.dimension.capacity`), whichever is less: all proved. Where that is not met either,
the architecture is searched for all linear symmetries (:mod:`agattn.geometry.dimension.lie_algebra`), and
the orbits of those that are proved take the place of the known ones'.

*By a theorem.* Where the rank of a Jacobian would take long, a theorem may know the dimension
(:mod:`agattn.geometry.dimension.theorems`), or the rank at special weights, at which the Jacobian falls apart
(:mod:`agattn.geometry.dimension.supports`), or both bounds of a network that is cut between its layers
(:mod:`agattn.geometry.dimension.stacks`). Where both are at hand they are compared.

*At any size.* Where no Jacobian can be taken and no theorem knows the dimension, the interval of two proved
bounds is found: from below a network inside whose dimension is known
(:mod:`agattn.geometry.dimension.smaller`), from above the symmetries' orbits without matrices
(:mod:`agattn.geometry.dimension.orbits`).

Where the two meet the dimension is ``proved``. Elsewhere the interval stands, and the value reported is the
rank observed at several points and primes, ``modular`` evidence, with a bound on the probability that all of
them fell below the generic rank: that a minor that is not zero vanishes at a random point (Schwartz and
Zippel), or that a random prime divides all its coefficients
(:func:`agattn.algebra.residues.chance_of_dividing`).

>>> from agattn.architectures import DeepNetwork
>>> print(dimension(DeepNetwork((3, 3, 3), (1, 2), t=3)))
M(3,3,3; 1,2), t = 3: dimension 18 (proved), expected 18
>>> print(dimension(DeepNetwork((5, 1), (3,), t=2, heads=2)))
M(5,1; 3), heads 2, t = 2: dimension 49 (modular, in 49..50), expected 50
>>> large = dimension(DeepNetwork((768, 64), (64,), t=2))
>>> large.dimension, large.lower_bound_reason, large.theorem
(143359, 'theorem', 'theorem-3.2')
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from math import log2
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from agattn.algebra.arithmetic import (
    Array,
    BallArithmetic,
    FloatArithmetic,
    ModularArithmetic,
    Size,
    to_balls,
)
from agattn.algebra.memory import Memory
from agattn.algebra.rank import ROWS_AT_A_TIME, RandomRows, RankPoint, rank
from agattn.algebra.residues import Residues, random_residues
from agattn.architectures import Architecture, Jet, Network, draw_parameters
from agattn.architectures.composition import check_arrays
from agattn.architectures.forms import STUDIED, Studied
from agattn.architectures.network import DeepNetwork, check_tokens
from agattn.architectures.protocol import bounds_on_outputs, has_inputs
from agattn.errors import DisagreementError, TooLargeError, argument
from agattn.evidence import Evidence
from agattn.geometry.dimension import supports
from agattn.geometry.dimension.formulas import Bound, network_bound, seen_scores
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.dimension.supports import by_supports
from agattn.geometry.dimension.symmetries import gauge_columns, symmetry_bound
from agattn.geometry.dimension.theorems import Theorem, by_theorem
from agattn.geometry.dimension.todays_attention import by_layer
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.limits import limits, log, takes
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, Word
from agattn.sheet.result import Count, Key, Meta, Named, Result, Written, key

if TYPE_CHECKING:
    from agattn.geometry.dimension.stacks import Bounds

#: The largest Jacobians attempted without ``force``: by columns modulo p, and by target rank in balls.
MAX_PARAMETERS = 20_000
#: The largest rank that is certified in balls unless forced.
MAX_BALL_RANK = 800
#: Where a theorem knows the dimension, larger ranks modulo p are computed only with ``force``: seconds.
MAX_COMPARED = 3000
#: The most parameters of a smaller network inside, whose rank bounds a dimension; the second in balls.
MOST_INSIDE, MOST_INSIDE_BALLS = 2000, 200
#: The most parameters for which a bound alone, or a fiber, is worth a search for unknown linear symmetries.
MAX_SEARCHED = 80
#: Of a jet: every symmetry that is found is proved by symbols in power series, in a quarter of a second.
MAX_SEARCHED_IN_JETS = 24

Progress = Callable[[str], None]


class Dimension(Result):
    """What is known about the dimension of a neuromanifold.

    It is ``proved`` if the two bounds, both proved, meet; else the evidence is that of the observed rank.
    """

    architecture: Key[Studied, STUDIED]
    dimension: Key[
        Count | None,
        "The dimension; where it is not proved, the rank observed; null if only bounds are known.",
    ]
    evidence: Key[Evidence | None, "How the result is known; null if only bounds are known."]
    lower_bound: Key[Count, "The dimension is at least this: proved."]
    upper_bound: Key[Count, "The dimension is at most this: proved."]
    upper_bound_reason: Key[str, "The argument behind the upper bound."]
    predicted: Key[Count | None, "The general formula of networks; null for models and maps."]
    jacobian_shape: Key[
        tuple[int, int] | None,
        "Rows and columns of the matrix whose rank was taken; null where a theorem decides.",
        Written(Annotated[list[Count], Meta(min_length=2, max_length=2)]),
    ]
    ranks: Key[
        tuple[RankPoint, ...],
        "The random points tried; empty for normalized networks and theorems.",
        Named("points"),
    ]
    precision_bits: Key[Count, "The precision of the ball arithmetic; 0 for lightning networks."]
    error: Key[
        float,
        "If modular: a bound on the chance that the rank fell short at all points.",
        Named("error_probability"),
        Meta(ge=0, le=1),
    ]
    seconds: Key[float, "Wall-clock time.", Meta(ge=0), Written(float, lambda seconds: round(seconds, 3))]
    lower_bound_reason: Key[
        Literal["rank", "theorem", "specialization", "smaller"],
        "The argument behind the lower bound: the rank of a Jacobian, a theorem, the rank at special"
        " weights that were found, or the dimension of a smaller model inside.",
    ] = "rank"
    theorem: Key[
        str | None,
        "The id of the theorem behind the lower bound, a place in the documentation; null for a rank.",
    ] = None
    checked: Key[tuple[str, ...], "The hypotheses of the theorem, which hold."] = ()
    smaller: Key[str | None, "The smaller model inside whose dimension is the lower bound."] = None

    @key
    def parameters(self) -> Count:
        """The number of entries of all parameters."""
        return self.architecture.parameters

    @property
    def lower_bound_argument(self) -> str:
        """The argument behind the lower bound, in words."""
        known = f"rank of a Jacobian of shape {self.jacobian_shape}"
        if self.jacobian_shape is None and self.theorem is None:
            return "as every dimension"
        if self.theorem is not None:
            known = f"{self.theorem}, as its hypotheses hold: {', '.join(self.checked)}"
        return known if self.smaller is None else f"{self.smaller} is inside: {known}"

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
        if self.evidence is None:
            expected = "" if self.predicted is None else f", expected {self.predicted}"
            interval = f"{self.lower_bound}..{self.upper_bound}"
            return f"{self.computed_of}: dimension in {interval} (proved), open by {self.open_by}{expected}"
        known = str(self.evidence)
        if self.evidence is not Evidence.PROVED:
            known += f", in {self.lower_bound}..{self.upper_bound}"
        expected = "" if self.predicted is None else f", expected {self.predicted}"
        return f"{self.computed_of}: dimension {self.dimension} ({known}){expected}"

    def sheet(self) -> Sheet:
        """The dimension with both bounds, what formulas say, and the ranks at the points tried."""
        value: Cell = f"{self.lower_bound}..{self.upper_bound}" if self.dimension is None else self.dimension
        bounds: list[tuple[Cell, ...]] = [
            ("dimension", value, Word(str(self.evidence or "proved")), "the bounds below, where they meet"),
            ("at least", self.lower_bound, Word("proved"), self.lower_bound_argument),
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
            f"at least {self.lower_bound}: {self.lower_bound_argument}",
            f"at most  {self.upper_bound}: {self.upper_bound_reason}",
        ]
        if self.evidence is None:
            open_by = (
                f"open by {self.open_by}: no Jacobian of this size is taken without {argument('force', True)}"
            )
            lines.append(open_by)
        if self.evidence is Evidence.MODULAR:
            chance = f"wrong with probability below {self.error:.1e} (for the rank over F_p)"
            lines.append(f"observed: {', '.join(map(str, self.ranks))}; {chance}")
        return [*lines, f"{self.parameters} parameters, {self.seconds:.2f} s"]

    def _formulas(self) -> list[tuple[Cell, ...]]:
        """The rows of the formulas for such architectures."""
        if self.predicted is None:
            return []
        return [("general formula", self.predicted, "", "the count of parameters less symmetries")]


@takes("seed", "force", "progress")
def dimension(architecture: Architecture, points: int = 3) -> Dimension:
    """The dimension of the neuromanifold of an architecture.

    Args:
        architecture: any.
        points: how many points, each modulo its own prime, are tried while no upper bound is met.

    Raises:
        TooLargeError: if a polynomial map is beyond :data:`MAX_PARAMETERS`, or its arrays would fill the
            memory. Networks beyond it, or of ranks above :data:`MAX_BALL_RANK`, get bounds.
        DisagreementError: if a bound contradicts another, or a theorem.
    """
    start = time.perf_counter()
    network, given = architecture.as_network(), architecture
    architecture = network or architecture
    theorem = (by_theorem(network) if network else None) or by_supports(architecture)
    theorem = theorem or by_layer(architecture)
    if theorem and not limits().force and _takes_long(architecture, theorem):
        found = _known(architecture, theorem)
        return found.replace(architecture=given, seconds=time.perf_counter() - start)
    if theorem is None and not limits().force and (bounds := _by_bounds(architecture)):
        return bounds.replace(architecture=given, seconds=time.perf_counter() - start)
    if not limits().force:
        check_size(architecture)
    counted = _counted(architecture)
    memory = Memory(f"{argument('force', True)} tries anyway")
    memory.allow(bytes_needed(architecture, counted), f"the Jacobian in {architecture.parameters} parameters")
    found = _by_rank(architecture, counted, points, memory)
    if theorem and not found.lower_bound <= theorem.dimension <= found.upper_bound:
        raise DisagreementError(
            f"{architecture} has the dimension {theorem.dimension} by {theorem.id}, and between"
            f" {found.lower_bound} and {found.upper_bound} by its bounds; one of the two is wrong, please"
            " report it"
        )
    return found.replace(architecture=given, seconds=time.perf_counter() - start)


def _takes_long(architecture: Architecture, theorem: Theorem) -> bool:
    """Whether the rank of the Jacobian is refused, or takes more than some seconds."""
    most = MAX_BALL_RANK if architecture.degree is None else MAX_COMPARED
    if theorem.dimension > most:
        return True
    try:
        check_size(architecture)
    except TooLargeError:
        return True
    return False


def check_size(architecture: Architecture) -> None:
    """Refuse what is too large for a Jacobian.

    Raises:
        TooLargeError: if it has more than :data:`MAX_PARAMETERS`, or its arrays would fill the memory.
    """
    if architecture.parameters > MAX_PARAMETERS:
        raise TooLargeError(
            f"the network has {architecture.parameters} parameters, more than {MAX_PARAMETERS};"
            f" {argument('force', True)} tries anyway"
        )
    if isinstance(architecture, DeepNetwork):
        check_tokens(architecture)
    if isinstance(architecture, Network):
        check_arrays(architecture)
    if not isinstance(architecture, (DeepNetwork, Network)):
        from agattn.architectures.polynomial_map import PolynomialMap, check_run

        if isinstance(architecture, PolynomialMap):
            check_run(architecture)


def bytes_needed(architecture: Architecture, bound: Bound) -> float:
    """A bound on the memory for the rank of a Jacobian, beside the arrays of the architecture's evaluation.

    The factors are measured: the most that the steps of the elimination hold together at any time. A ball
    has a pointer, a Python object, and the digits at the highest precision.

    See Also:
        :class:`agattn.algebra.memory.Memory`, which refuses; ``check_arrays``, for the arrays of the
        evaluation.

    >>> from agattn.architectures import SingleLayer
    >>> round(bytes_needed(SingleLayer(20, 20), Bound(799, "counted")) / 2**20)  # MiB
    59
    """
    n, r = architecture.parameters, min(bound.value, architecture.parameters)
    if architecture.degree is None:
        return 2.0 * n * r * (8 + 64 + 2 * 192)
    # A basis of k rows without its k pivot columns has k(n − k) ≤ n²/4 entries, for k up to r.
    basis, block = r * (n - r) if 2 * r < n else n * n / 4, min(ROWS_AT_A_TIME, r + 10) * n
    return 8.0 * (6 * basis + 12 * block)


def _by_bounds(architecture: Architecture) -> Dimension | None:
    """Both bounds of a network whose Jacobian is refused, or of which a theorem spares a long rank.

    ``None`` where a rank is to be taken, or the architecture is no network.
    """
    if not isinstance(architecture, (DeepNetwork, Network)):
        return None
    from agattn.geometry.dimension import stacks

    known = stacks.bounds(architecture)
    spares = known is not None and known.lower == known.upper > MAX_COMPARED
    if not spares and not _is_refused(architecture):
        return None
    network = architecture.as_network()
    counted = network_bound(network) if network else None
    lower = Dimension(
        architecture=architecture,
        dimension=None,
        evidence=None,
        lower_bound=0,
        upper_bound=0,
        upper_bound_reason="",
        predicted=counted and counted.value,
        jacobian_shape=None,
        ranks=(),
        precision_bits=0,
        error=0.0,
        seconds=0.0,
    )
    if known is not None:
        lower = lower.replace(
            lower_bound=known.lower,
            lower_bound_reason="theorem",
            theorem=stacks.ID,
            checked=known.checked,
        )
    upper = _counted_at_any_size(architecture, counted, known)
    if lower.lower_bound < upper.value:
        inside = _inside(architecture)
        lower = max(lower, lower.replace(**inside), key=lambda found: found.lower_bound)
    if lower.lower_bound > upper.value:
        raise DisagreementError(
            f"{architecture} has at least the dimension {lower.lower_bound}: {lower.lower_bound_argument};"
            f" and at most {upper.value}: {upper.reason}; one of the two is wrong, please report it"
        )
    met = lower.lower_bound == upper.value
    return lower.replace(
        dimension=upper.value if met else None,
        evidence=Evidence.PROVED if met else None,
        upper_bound=upper.value,
        upper_bound_reason=upper.reason,
    )


def _is_refused(architecture: DeepNetwork | Network) -> bool:
    """Whether no Jacobian is taken without ``force``."""
    try:
        check_size(architecture)
    except TooLargeError:
        return True
    if architecture.degree is not None:
        return False
    return _counted(architecture).value > MAX_BALL_RANK


def _counted_at_any_size(
    architecture: DeepNetwork | Network, counted: Bound | None, known: Bounds | None
) -> Bound:
    """The least upper bound that needs no matrix of the size of a Jacobian."""
    from agattn.geometry.dimension import capacity

    found = [counted] if counted else []
    if known is not None:
        reason = "the dimensions of the layers, minus those of the groups between them"
        found.append(Bound(known.upper, reason))
    if isinstance(architecture, Network) and not (known and known.lower == known.upper):
        found.append(capacity.bound_at_any_size(architecture))
    return min(found, key=itemgetter(0))


def _inside(architecture: DeepNetwork | Network) -> dict[str, Any]:
    """The largest lower bound by networks inside: one head in each layer, or a rank that takes seconds."""
    from agattn.geometry.dimension.smaller import smaller

    found: list[tuple[int, Architecture, str | None, tuple[str, ...], tuple[int, int] | None]] = []
    network = architecture.as_network()
    if network is not None:
        single = replace(network, heads=1)
        if theorem := by_theorem(single) or by_supports(single):
            found.append((theorem.dimension, single, theorem.id, theorem.checked, None))
    log.info("the rank of a smaller network inside")
    most = MOST_INSIDE_BALLS if architecture.degree is None else MOST_INSIDE
    if inside := smaller(architecture, most):
        rows = jacobian_rows(inside, Bound(inside.parameters, "the parameters"))
        # The sizes of coefficients bound a chance of error, and a lower bound has none.
        ranked = rank(replace(rows, size=lambda: 0.0), points=1)
        found.append((ranked.lower_bound, inside, None, (), ranked.shape))
    if not found:
        return {}
    value, of, theorem_id, checked, shape = max(found, key=itemgetter(0))
    return {
        "lower_bound": value,
        "lower_bound_reason": "smaller",
        "theorem": theorem_id,
        "checked": checked,
        "jacobian_shape": shape,
        "smaller": str(of),
    }


def _known(architecture: Architecture, theorem: Theorem) -> Dimension:
    """The dimension by a theorem, which the bound by counting must not contradict."""
    network = architecture.as_network()
    counted = network_bound(network) if network else Bound(theorem.dimension, f"by {theorem.id}, too")
    if counted.value < theorem.dimension:
        raise DisagreementError(
            f"{architecture} has the dimension {theorem.dimension} by {theorem.id}, and at most"
            f" {counted.value}: {counted.reason}; one of the two is wrong, please report it"
        )
    by_count = counted.value == theorem.dimension
    return Dimension(
        architecture=architecture,
        dimension=theorem.dimension,
        evidence=Evidence.PROVED,
        lower_bound=theorem.dimension,
        upper_bound=theorem.dimension,
        upper_bound_reason=counted.reason if by_count else f"by {theorem.id}, too",
        predicted=counted.value if network else None,
        jacobian_shape=None,
        ranks=(),
        precision_bits=0,
        error=0.0,
        seconds=0.0,
        lower_bound_reason="specialization" if theorem.id == supports.ID else "theorem",
        theorem=theorem.id,
        checked=theorem.checked,
    )


def _by_rank(architecture: Architecture, counted: Bound, points: int, memory: Memory) -> Dimension:
    """The dimension by the rank of a Jacobian, and an upper bound that is looked for where it is not met."""
    rows = jacobian_rows(architecture, counted)
    log.info("the rank of the Jacobian")
    found = rank(rows, points=1)
    memory.check()
    lower = found.lower_bound
    if lower == 0 and _is_constant(architecture):
        bound = Bound(0, "the function is the same at all parameters")
    else:
        bound = _least_bound(architecture, counted, lower, None)
    if lower < bound.value and architecture.degree is not None and points > 1:
        log.info("the rank at further points")
        found = rank(replace(rows, upper_bound=bound.value, reason=bound.reason), points=points)
        lower = found.lower_bound
    return Dimension(
        architecture=architecture,
        dimension=found.upper_bound,
        evidence=Evidence.PROVED if lower == bound.value else found.upper_evidence,
        lower_bound=lower,
        upper_bound=bound.value,
        upper_bound_reason=bound.reason,
        predicted=counted.value if architecture.as_network() else None,
        jacobian_shape=found.shape,
        ranks=found.points,
        precision_bits=found.precision_bits or 0,
        error=found.error if lower < bound.value else 0.0,
        seconds=0.0,
    )


def _counted(architecture: Architecture) -> Bound:
    """The upper bound that is tried first."""
    if network := architecture.as_network():
        return network_bound(network)
    from agattn.geometry.dimension import capacity

    found = capacity.capacity_bound(architecture)
    return min(found, _of_jet(architecture) or found, key=itemgetter(0))


def _of_jet(architecture: Architecture) -> Bound | None:
    """The bound of a jet by the network that it is the jet of, without the scores that it does not see."""
    if not isinstance(architecture, Jet):
        return None
    network = architecture.network.as_network()
    if network is None or network.is_lightning:
        return None
    if set(network.heads_by_layer) != {1} and network.normalization != "softmax":
        return None  # coordinates of several heads are independent by the poles of the logistic function
    scores = seen_scores(network, architecture.order)
    found = network_bound(network, scores)
    if scores == network.depth:
        return found
    unseen = f"no scores of layers above {scores}" if scores else "no scores"
    return Bound(found.value, f"{found.reason}; a jet of this order sees {unseen}")


def _is_constant(architecture: Architecture) -> bool:
    """Whether all coefficients of a polynomial architecture are seen to be constants, by expanding them."""
    if architecture.degree is not None:
        with suppress(TooLargeError):
            return all(f.degree() < 1 for f in coefficient_map(architecture).polynomials)
    return False


def _least_bound(architecture: Architecture, counted: Bound, lower: int, searched: int | None) -> Bound:
    """The least of the upper bounds, which are taken one after the other until ``lower`` is met.

    Symmetries that are not known are searched for in at most so many parameters, or in as many as can be.
    """
    search = partial(_by_all_symmetries, searched=searched)
    bound = counted
    if lower < bound.value:
        bound = min(symmetry_bound(architecture), counted, key=itemgetter(0))
    if lower < bound.value and (others := search(architecture)):
        bound = min(bound, others, key=itemgetter(0))
    if lower < bound.value and architecture.as_network() is None:
        from agattn.geometry.dimension import capacity

        if layers := capacity.layers_bound(architecture, search):
            bound = min(bound, layers, key=itemgetter(0))
    return bound


def upper_bound(architecture: Architecture, lower: int = 0) -> Bound:
    """A proved upper bound on the dimension of the neuromanifold, so on the rank of dφ at all weights.

    Args:
        architecture: any.
        lower: a proved lower bound; where it is met no better one is looked for.

    >>> from agattn.architectures import Network, Perceptron
    >>> upper_bound(Network([Perceptron([5, 1], degree=4)], dim=3)).value
    14
    """
    return _least_bound(architecture, _counted(architecture), lower, MAX_SEARCHED)


def _by_all_symmetries(architecture: Architecture, searched: int | None) -> Bound | None:
    """The bound by all linear symmetries, if they can be searched for."""
    if isinstance(architecture, Jet):
        searched = MAX_SEARCHED_IN_JETS
    if architecture.degree is None or (searched is not None and architecture.parameters > searched):
        return None
    with suppress(TooLargeError):
        from agattn.geometry.dimension.lie_algebra import linear_symmetries

        log.info("all linear symmetries")
        orbits = linear_symmetries(architecture, force=False).orbit_dimension
        reason = (
            "the parameters, minus the dimension of the orbits of all linear symmetries, which were found"
        )
        return Bound(architecture.parameters - orbits, reason)
    return None


def jacobian_rows(architecture: Architecture, bound: Bound) -> RandomRows:
    """The Jacobian at random weights, one random cotangent at each of as many random inputs as are asked for.

    It is modulo primes if the architecture is polynomial, else in floating point and balls; ``bound`` is a
    proved upper bound on its rank.
    """

    def modulo(p: int, generator: np.random.Generator) -> tuple[int, Callable[[int], Residues]]:
        arithmetic = ModularArithmetic(p)

        def random(shape: tuple[int, ...]) -> Residues:
            return random_residues(generator, shape, p)

        parameters = draw_parameters(architecture, random)
        columns = np.arange(architecture.parameters)
        if architecture.as_network() is not None:
            columns = np.delete(columns, gauge_columns(architecture, parameters, p))

        def draw(rows: int) -> Residues:
            X, cotangents = random((rows, *architecture.input_shape)), random((rows, 1, *output))
            if not has_inputs(architecture):  # all rows at one point
                X, cotangents = X[:1], cotangents.swapaxes(0, 1)
            J: Residues = jacobian(architecture, parameters, X, arithmetic, cotangents)[:, columns]
            return J

        return len(columns), draw

    def real(rows: int, generator: np.random.Generator) -> tuple[NDArray[np.float64], Callable[[Any], Array]]:
        # Scaled so that XᵀAX stays of moderate size in every layer.
        parameters = draw_parameters(architecture, lambda s: generator.standard_normal(s) / np.sqrt(s[-1]))
        X = generator.standard_normal((rows, *architecture.input_shape))
        cotangents = generator.standard_normal((rows, 1, *output))
        floats: NDArray[np.float64] = jacobian(architecture, parameters, X, FloatArithmetic(), cotangents)

        def balls(chosen: Any) -> Array:
            exact = {name: to_balls(array) for name, array in parameters.items()}
            c = to_balls(cotangents[chosen])
            return jacobian(architecture, exact, to_balls(X[chosen]), BallArithmetic(), c)

        return floats, balls

    @cache
    def size() -> float:
        """Of c·∂φ/∂θ: a derivative multiplies a coefficient by at most the degree."""
        total: Size = bounds_on_outputs(architecture).sum()
        return total.log2 + log2(degree or 1)

    output, degree = architecture.output_shape, architecture.degree
    return RandomRows(
        name=f"{architecture}: the Jacobian",
        upper_bound=bound.value,
        reason=bound.reason,
        modulo=modulo if degree is not None else None,
        degree=degree or 0,  # also that of an entry c·∂φ/∂θ in c, θ and X
        size=size,
        real=None if degree is not None else real,
    )
