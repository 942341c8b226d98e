r"""Singular and critical points of the neuromanifold of a network, kind by kind, with the reason for each.

At weights w of φ: w ↦ f the rank of the differential is found exactly, and the fiber is bounded from both
sides: from below by symmetries, by families of weights with one function, and by the number of weights less
dim M̄; from above by the differential, or by its second derivative. The Zariski tangent space of the closure
M̄ at f contains the image of the differential at *every* preimage of f, and the second derivatives along arcs
whose first one vanishes: with v in the kernel, φ(w + εv + ε²u) = f + ε²(½ d²φ(v, v) + dφ(u)) + …, so that
d²φ(v, v') is tangent for any two vectors of the kernel, modulo the image. All vectors are taken at common
inputs and cotangents, and their rank modulo a prime is a proved lower bound.

- *singular*: more independent tangent vectors than dim M̄, which has a proved upper bound.
- *smooth branch*: at some preimage the differential has rank dim M̄. Then it has this rank nearby, and the
  functions of all weights near this preimage form a manifold of dimension dim M̄. Other branches of M̄ may
  pass through f; if one of another tangent space is found, f is singular.
- *smooth*, or *singular* by purity: by the theorems of the page on deep singularities (:func:`by_theorem`).
- *smooth*, everywhere: M̄ is an affine space, of as many dimensions as there are coordinates.
- *undecided*: none of these.

>>> from agattn import DeepNetwork
>>> found = singularities(DeepNetwork((2, 2, 1), (2, 2), t=2))
>>> print(str(found).partition("; 27 ")[2])
kinds of points: 21 singular, 4 smooth, 2 smooth on their branch
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from msgspec import Meta

from agattn.algebra.arithmetic import Array
from agattn.algebra.echelon import fraction, kernel_basis, rational_rank
from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.architectures.forms import Studied
from agattn.architectures.network import check_tokens
from agattn.architectures.protocol import as_parameters
from agattn.errors import TooLargeError
from agattn.evidence import Evidence, weakest
from agattn.geometry.closedness.limits import Limits, LimitSet, is_closed, limits
from agattn.geometry.closedness.several_heads import HeadsLimit, closedness, is_one_layer
from agattn.geometry.dimension.dimension import Dimension, dimension
from agattn.geometry.identifiability.families import (
    Vector,
    Weights,
    largest_rank,
    same_function,
    widest_family,
)
from agattn.geometry.identifiability.network_fibers import pairing
from agattn.geometry.identifiability.virtual_weights import partial_products, vanishes, virtual
from agattn.geometry.singular_points.kinds import Kind, kinds
from agattn.geometry.singular_points.tangents import Tangents
from agattn.geometry.singular_points.virtual_points import is_wide, settled
from agattn.geometry.variety.coefficient_map import CoefficientMap, coefficient_map
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, Word, matrix
from agattn.sheet.result import PROVED_OR_MODULAR, Count, Key, Named, Result, Written, key

#: Networks with more parameters are not asked about without ``force``.
MOST_PARAMETERS = 300
#: Nor those with more layers, or with more kinds of points.
MOST_LAYERS, MOST_KINDS = 5, 500
_FORCE = "Use --force to start all the same"
#: How often numbers are drawn anew while the generic weights are critical.
_ATTEMPTS = 5
#: Coordinates are counted if their polynomials have no more terms.
_MOST_TERMS = 100_000
#: What is said of a closure that is all of the space.
AFFINE = "M̄ is an affine space, smooth everywhere."

Conclusion = Literal["singular", "smooth", "smooth branch", "undecided"]
#: From what it may follow whether a point of the closure is singular.
Argument = Literal[
    "tangent vectors",
    "several branches",
    "second order",
    "cone",
    "purity",
    "one-point fiber",
    "immersion",
    "affine space",
    "equations",
    "none",
]


def _matrices(preimages: Sequence[dict[str, Array]]) -> list[dict[str, list[list[str]]]]:
    """Weights as matrices by name, one below the other where there are several; numbers as text."""
    return [
        {name: [list(map(str, row)) for row in array.reshape(-1, (1, *array.shape)[-1])]
         for name, array in weights.items()}
        for weights in preimages
    ]  # fmt: skip


@dataclass(frozen=True, repr=False)
class PointFacts(Result):
    """What is known at weights of one kind.

    Each number has its own evidence, as one may be proved and the next not.

    Attributes:
        kind: the weights; the first of its preimages are those that rank and fiber are about.
        fiber: bounds on the local dimension of the fiber over ℂ at the weights, in K, Q and V.
        dimension: of M̄.
    """

    kind: Kind
    is_zero: Key[bool, "Whether their function is 0.", Named("zero")]
    differential_rank: Key[
        Count,
        "The rank of the differential at the first witness, proved to be no smaller; the largest where "
        "several factorizations KᵀQ of the same A were tried.",
    ]
    fiber: tuple[int, int]
    dimension: int
    tangent_lower: Key[Count, "The Zariski tangent space of the closure has at least this dimension."]
    singular: Key[Conclusion, "What follows for their function."]
    argument: Key[
        Argument,
        "From what it follows: more tangent vectors than the dimension, at all preimages known, at "
        "several immersed ones, along arcs of second order, or at the vertex of the cone; a theorem, for "
        "wide networks; a differential of the largest rank; a closure that is an affine space; or "
        "equations of the closure with enough independent differentials.",
    ]
    evidence: Key[Evidence, "How the conclusion is known; other numbers have keys of their own."]
    rank_evidence: Key[Evidence, "How the rank is known to be no larger.", PROVED_OR_MODULAR]
    preimages: Key[
        tuple[dict[str, Array], ...],
        "Preimages at which tangent vectors were taken; the first are weights of this kind.",
        Named("witness"),
        Written(list[dict[str, list[list[str]]]], _matrices),
    ]
    tangent_upper: Key[Count | None, "And at most this, by equations of a model; null without any."]
    tangent_evidence: Key[
        Evidence, "How `tangent_lower` is known.", Named("tangent_lower_evidence"), PROVED_OR_MODULAR
    ]
    zero_evidence: Key[Evidence, "How it is known whether the function is 0.", PROVED_OR_MODULAR]
    critical_evidence: Key[Evidence, "How `critical` is known.", PROVED_OR_MODULAR]
    fiber_evidence: Key[
        Evidence,
        "How `fiber_dimension_at_most` is known.",
        Named("fiber_dimension_at_most_evidence"),
        PROVED_OR_MODULAR,
    ]

    @property
    @key
    def name(self) -> str:
        """What is special about the weights."""
        return self.kind.name

    @property
    @key
    def ranks(self) -> dict[str, tuple[Count, ...]]:
        """The ranks of all A and V, head by head, and of the M_i and L; of a model those of all matrices."""
        return self.kind.ranks

    @property
    @key(name="critical")
    def is_critical(self) -> bool:
        """Whether the rank of the differential is smaller than the dimension."""
        return self.differential_rank < self.dimension

    @property
    @key
    def fiber_dimension(self) -> Count:
        """The local dimension of the fiber there, over the complex numbers, proved to be no less."""
        return self.fiber[0]

    @property
    @key
    def fiber_dimension_at_most(self) -> Count:
        """The dimension of the fiber is no larger."""
        return self.fiber[1]

    def summary(self) -> str:
        """The rank, the tangent space and what follows."""
        rank = f"differential of rank {self.differential_rank} of {self.dimension}"
        tangent = f"tangent space of dimension {self.tangent_lower} or more"
        return f"{self.name}: {rank}, {tangent}: {self.singular} ({self.evidence})"

    def sheet(self) -> Sheet:
        """The numbers, each with its evidence, and the weights."""
        rank = f"rank {self.differential_rank} of {self.dimension}"
        low, high = self.fiber
        rows: list[tuple[Cell, ...]] = [
            ("differential", rank, Word(str(self.rank_evidence))),
            ("fiber", f"dimension {_interval(low, high)}", Word(str(self.fiber_evidence))),
            ("tangent space", f"dimension {self.tangent_lower} or more", Word(str(self.tangent_evidence))),
            ("point", Word(self.singular), Word(str(self.evidence))),
            *(
                (name, matrix(array.reshape(-1, *(1, 1, *array.shape)[-2:])[0]), "")
                for name, array in self.preimages[0].items()
            ),
        ]
        return Sheet(self.summary(), (Table(f"{self.name}: {self.argument}", (), tuple(rows), where="page"),))

    def cells(self, generic: int) -> tuple[Cell, ...]:
        """The row of a table of kinds; ``generic`` is the dimension of a general fiber."""

        def marked(shown: Cell, evidence: Evidence) -> Cell:
            """With a star where the evidence is weaker than that in the row."""
            return shown if weakest([evidence, self.evidence]) is self.evidence else f"{shown}*"

        (low, high), upper = (n - generic for n in self.fiber), self.tangent_upper
        beyond = f"{low:+d}" if low == high else f"{low:+d} to {high}"
        tangent: Cell = self.tangent_lower
        if upper not in (None, tangent):
            tangent = f"{tangent} to {upper}"
        return (
            f"{self.name} ({marked('f = 0', self.zero_evidence)})" if self.is_zero else self.name,
            marked(self.differential_rank, self.rank_evidence),
            marked(beyond, self.fiber_evidence),
            marked(tangent, self.tangent_evidence),
            f"{self.singular}{f' ({self.argument})' * (self.singular == 'singular')}",
            Word(str(self.evidence)),
        )


def _interval(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


@dataclass(frozen=True, repr=False)
class _LimitsOfHeads(Limits):
    """Limits of one layer of several heads, of which one is known."""

    upper_bound: int
    limit: HeadsLimit
    dimension: None = None

    @property
    def witness(self) -> dict[str, Any]:
        """The limit with its heads."""
        return self.limit.as_json()


@dataclass(frozen=True, repr=False)
class Singularities(Result, name="singularities"):
    """The kinds of points of a network or a model.

    Attributes:
        closedness: whether the neuromanifold is closed, in a sentence.
        limits: limits of diverging weights that no weights reach, where such are known.
    """

    network: Key[
        Studied,
        "What was studied: a layer, a network, a model, or a polynomial map.",
        Named("architecture"),
    ]
    dimension: Key[
        Dimension, "The dimension of its neuromanifold.", Written(Count, lambda known: known.dimension)
    ]
    kinds: Key[tuple[PointFacts, ...], "One entry for each kind of points.", Meta(min_length=1)]
    closed: Key[bool | None, "Whether the neuromanifold is closed; null where no theorem says."]
    closedness: str
    limits: LimitSet | HeadsLimit | None

    @property
    @key
    def dimension_evidence(self) -> Evidence:
        """How the dimension is known."""
        return self.dimension.evidence

    @property
    @key(name="limits")
    def known_limits(self) -> Limits | None:
        """Limits of diverging weights; null where none are known."""
        if isinstance(self.limits, HeadsLimit):
            return _LimitsOfHeads(self.dimension.upper_bound - 1, self.limits)
        return self.limits

    @property
    @key
    def zeros(self) -> list[str]:
        """The names of the kinds of weights whose function is 0."""
        return [point.name for point in self.kinds if point.is_zero]

    def __getitem__(self, name: str) -> PointFacts:
        for point in self.kinds:
            if point.name == name:
                return point
        raise KeyError(name)

    def summary(self) -> str:
        """The dimension, and how many kinds of points are singular, smooth or undecided."""
        counts = Counter(point.singular for point in self.kinds)
        names = {"smooth branch": "smooth on their branch"}
        parts = [f"{counts[word]} {names.get(word, word)}" for word in get_args(Conclusion) if counts[word]]
        size = f"dimension {self.dimension.dimension}; {len(self.kinds)} kinds of points"
        return f"{self.dimension.computed_of}: {size}: {', '.join(parts)}"

    def sheet(self) -> Sheet:
        """A row for each kind, what the columns mean, and whether the neuromanifold is closed."""
        bounded = any(point.tangent_upper is not None for point in self.kinds)
        legend = (
            f"rk dφ: the rank of the differential, {self.dimension.dimension} at general weights. fiber: its "
            "dimension over ℂ, beyond that of a general one. dim T ≥: independent tangent vectors of the "
            "closure at f, at all preimages known; more than the dimension prove f singular. smooth branch: "
            "the functions near these weights, or near others with this function, are a manifold of full "
            "dimension; other branches may pass through f. evidence: of what is said of f; a number with a "
            "star rests on ranks modulo a prime all the same."
        )
        if bounded:
            legend += " Equations of low degree bound dim T from above, and prove points smooth."
        tangent = "dim T" if bounded else "dim T ≥"
        headings = (
            Wide("kind of weights"), "rk dφ", "fiber", tangent, Wide("their function f"), "evidence"
        )  # fmt: skip
        generic = self.network.parameters - self.dimension.dimension
        rows = tuple(point.cells(generic) for point in self.kinds)
        table = Table(self.summary(), headings, rows)
        return Sheet(self.summary(), (table, Note(legend, folded=True), Note(self.closedness, folded=True)))


def singularities(
    architecture: SingleLayer | DeepNetwork,
    pairs: bool = False,
    seed: int = 0,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Singularities:
    """The kinds of points of a network, and what is known at each.

    Args:
        architecture: a lightning network; a layer is taken as the network of one layer.
        pairs: take all pairs of what may be special about one matrix, too.
        seed: of all random choices. It never changes what is proved, only what is found.
        force: start although the network is large.
        progress: called with the name of each kind.

    Raises:
        InputError: if it is a normalized network, or one whose V have a bounded rank.
        TooLargeError: if it has more parameters, layers, kinds or tokens than the limits.
    """
    network = architecture.as_network()
    most_of = ((network.layers, "layers", MOST_LAYERS), (network.parameters, "parameters", MOST_PARAMETERS))
    for number, what, most in () if force else most_of:
        if number > most:
            raise TooLargeError(
                f"{network.arguments[:80]} has {number} {what}; the limit is {most}. {_FORCE}"
            )
    if not force:
        check_tokens(network)
    known = dimension(network, seed, force=True)
    at_most = largest_rank(network, seed).value
    for attempt in range(_ATTEMPTS):  # small numbers can be special by chance
        found = kinds(network, pairs, seed + attempt)
        if len(found) > MOST_KINDS and not force:
            raise TooLargeError(
                f"{network} has {len(found)} kinds of points; the limit is {MOST_KINDS}. {_FORCE}"
            )
        generic = Weights(network, found[0].preimages[0])
        if Tangents(network, at_most, seed).rank_at(generic) == known.dimension:
            break
    known, is_affine = _filled(network, known, seed)
    at_most = min(at_most, known.upper_bound)
    points = []
    for kind in found:
        progress(kind.name)
        points.append(facts(kind, known.dimension, at_most, seed, is_affine))
    closed, closedness, outside = _closure(network, seed)
    if is_affine:
        closedness = f"{AFFINE} {closedness}"
    return Singularities(architecture, known, tuple(points), closed, closedness, outside)


def coordinates(architecture: Architecture) -> CoefficientMap | None:
    """The coordinates, where they are easily found: M lies in an affine space with as many dimensions."""
    with suppress(TooLargeError):
        return coefficient_map(architecture, limit=_MOST_TERMS)
    return None


def within(known: Dimension, source: CoefficientMap | None) -> tuple[Dimension, bool]:
    """What is known of dim M̄, with the number of coordinates, and whether M̄ is proved to be all of the space.

    >>> from agattn.architectures import SingleLayer
    >>> network = SingleLayer(2, 1, 1, t=1).as_network()            # binary cubics V x · xᵀAx
    >>> within(dimension(network), coordinates(network))[1]
    True
    """
    if source is None:
        return known, False
    count = len(source.coordinates)
    if count < known.upper_bound:
        evidence = Evidence.PROVED if count == known.lower_bound else known.evidence
        known = replace(
            known, upper_bound=count, upper_bound_reason="the number of coordinates", evidence=evidence
        )
    return known, known.lower_bound == count


def _filled(network: DeepNetwork, known: Dimension, seed: int) -> tuple[Dimension, bool]:
    """The same of a network, whose coordinates are written down only where random functions span few."""
    if Tangents(network, known.upper_bound, seed).span_of_functions() > known.upper_bound + 1:
        return known, False  # an affine space of the dimension of M̄ has too few of them
    return within(known, coordinates(network))


def _closure(network: DeepNetwork, seed: int) -> tuple[bool | None, str, LimitSet | HeadsLimit | None]:
    """Whether M is closed, in a word and in a sentence, and limits outside."""
    if is_one_layer(network):
        found = closedness(network)
        closed = {"closed": True, "not closed": False, "open": None}[found.status]
        if closed is None:
            return None, "Whether M is closed is open.", None
        shown = f" A limit outside: {found.limit}." if found.limit else ""
        return closed, f"M is {found.status} (proved). {found.reason}.{shown}", found.limit
    closed = is_closed(network)
    if closed is not False:
        return closed, "M is closed (proved)." if closed else "Whether M is closed is not known.", None
    outside = limits(network, seed)
    low, high, i = outside.dimension, outside.upper_bound, outside.first
    size = f"dimension {low}" if low == high else f"dimension {low} to {high}"
    return (
        False,
        f"M is not closed (proved). Diverging weights, where M_{i} tends to rank 1 and M_{i + 1} to a skew "
        f"matrix, have limits that no weights reach, of {size}.",
        outside,
    )


def facts(kind: Kind, dim: int, at_most: int, seed: int = 0, is_affine: bool = False) -> PointFacts:
    """What is known at weights of one kind.

    Args:
        kind: the weights.
        dim: the dimension of M̄.
        at_most: a proved upper bound of it.
        seed: of all random choices.
        is_affine: whether M̄ is proved to be an affine space of this dimension.
    """
    network = kind.architecture
    tangents = Tangents(network, at_most, seed)
    ranks = [tangents.rank_at(Weights(network, weights)) for weights in kind.preimages]
    order = sorted(kind.factorizations, key=lambda n: -ranks[n])
    order += [n for n in range(len(ranks)) if n not in order]
    kind = Kind(kind.name, network, tuple(kind.preimages[n] for n in order))
    points, ranks = [Weights(network, weights) for weights in kind.preimages], [ranks[n] for n in order]
    at, differential, largest = points[0], ranks[0], max(ranks)
    is_zero, zero_evidence = _is_zero(at, tangents, seed)
    places = _Places(points, ranks, tangents, is_zero, seed)
    here, top = places[0], places[ranks.index(largest)]
    both = [top] if top is here else [top, here]
    fiber, fiber_at_most, fiber_evidence = here.fiber, len(at.vector) - differential, Evidence.PROVED
    argument: Argument
    evidence = Evidence.PROVED
    if is_affine:
        found, preimages, argument = at_most, points[:1], "affine space"
    elif is_zero and not (isinstance(network, DeepNetwork) and network.skip):
        found, preimages, argument = tangents.span_of_functions(), points[:1], "cone"
        evidence = zero_evidence
    else:
        moving: list[tuple[Weights, Sequence[Vector]]] = [(point, _invisible(point)) for point in points]
        moving += [(place.at, place.more) for place in both]
        preimages, found = tangents.preimages(points, moving)
        argument = "tangent vectors"
        if not top.invisible and not top.more and sum(r == dim for r in ranks) > 1:
            argument = "several branches"
        for place in both:
            if found > at_most or place.fiber == len(at.vector) - place.rank:
                continue
            second, immersed = tangents.second_order(place.at, preimages, place.rank)
            if immersed and place is here:
                fiber = fiber_at_most = max(place.orbit, len(at.vector) - at_most)
                fiber_evidence = place.evidence
            if second > found:
                found, argument, evidence = second, "second order", place.evidence
    tangent_evidence = evidence
    conclusion: Conclusion = "undecided"
    if is_affine:
        conclusion = "smooth"
    elif found > at_most:
        conclusion = "singular"
    elif largest == at_most:
        conclusion, argument, evidence = "smooth branch", "immersion", Evidence.PROVED
    else:
        argument = "none"
    theorem = None if is_zero or is_affine else by_theorem(at, places.show_critical(dim))
    if theorem is not None and (conclusion != "singular" or evidence is not Evidence.PROVED):
        (conclusion, argument), evidence = theorem, Evidence.PROVED
    assert theorem is None or theorem[0] == conclusion, (
        f"{kind.name}: more tangent vectors than a theorem allows"
    )
    return PointFacts(
        kind, is_zero, differential, (fiber, fiber_at_most), dim, found, conclusion, argument, evidence,
        here.evidence, tuple(point.exact() for point in preimages), None, tangent_evidence, zero_evidence,
        critical_evidence(differential, dim, at_most, here.evidence), fiber_evidence,
    )  # fmt: skip


def critical_evidence(rank: int, dim: int, at_most: int, rank_evidence: Evidence) -> Evidence:
    """How it is known whether a rank, proved to be no smaller, is below dim M̄, which is at least ``dim``."""
    if rank < dim:
        return rank_evidence
    return Evidence.PROVED if rank == at_most else Evidence.MODULAR


class _Place(NamedTuple):
    """What is known at weights, with directions in which φ is constant there.

    Attributes:
        at: the weights.
        rank: of the differential: proved to be no smaller.
        fiber: a proved lower bound on the local dimension of the fiber, over ℂ.
        orbit: the dimension of the orbit of the symmetries.
        invisible, more: directions, by the structure of networks and by a search.
        evidence: of the rank being no larger.
    """

    at: Weights
    rank: int
    fiber: int
    orbit: int
    invisible: list[Vector]
    more: tuple[Vector, ...]
    evidence: Evidence


class _Places:
    """The places at some weights with one function, each looked at when it is asked for."""

    def __init__(
        self, points: list[Weights], ranks: list[int], tangents: Tangents, is_zero: bool, seed: int
    ) -> None:
        self.points, self.ranks, self.tangents = points, ranks, tangents
        self.is_zero, self.seed = is_zero, seed
        self._found: dict[int, _Place] = {}

    def __getitem__(self, number: int) -> _Place:
        if number not in self._found:
            self._found[number] = self._look(self.points[number], self.ranks[number])
        return self._found[number]

    def _look(self, at: Weights, rank: int) -> _Place:
        tangents, most, invisible = self.tangents, len(at.vector) - rank, _invisible(at)
        fiber, kernel = at.orbit_dimension(invisible), tangents.kernel_found(at, invisible)
        more: tuple[Vector, ...] = ()
        if kernel < most and rank < tangents.at_most and not self.is_zero:
            family = widest_family(at, most, 0, self.seed)
            if family.evidence is Evidence.PROVED:
                fiber, more = max(fiber, family.dimension), family.directions
                kernel = max(kernel, tangents.kernel_found(at, [*invisible, *family.directions]))
        fiber = max(fiber, len(at.vector) - tangents.at_most)
        evidence = Evidence.PROVED if most in (kernel, fiber) else Evidence.MODULAR
        return _Place(at, rank, fiber, at.orbit_dimension(), invisible, more, evidence)

    def show_critical(self, dim: int) -> bool:
        """Whether some of the weights that move (M, L) in all directions are proved to be critical.

        Where all A_i can have full rank they do if L_{l−1} has rank d_0, and K_i or Q_i has rank d_{i−1}.
        """
        network = self.tangents.architecture
        if not isinstance(network, DeepNetwork) or not _is_onto(network):
            return False
        critical = [n for n, rank in enumerate(self.ranks) if rank < dim and _moves_all(self.points[n])]
        return any(self[n].evidence is Evidence.PROVED for n in critical)


def _moves_all(at: Weights) -> bool:
    """Whether K_i, Q_i and V_i move the virtual weights (M, L) of a wide network in all directions."""
    weights, network = at.exact(), at.architecture
    assert isinstance(network, DeepNetwork)
    layers = range(1, network.layers + 1)
    before = partial_products([weights[f"V_{i}"][0] for i in layers])[network.layers - 1]
    return rational_rank(before) == network.dims[0] and all(
        max(rational_rank(weights[f"{letter}_{i}"][0]) for letter in "KQ") == network.dims[i - 1]
        for i in layers
    )


def _is_onto(network: DeepNetwork) -> bool:
    """Whether Theorem 3 is about a network, and its A_i may be any matrices."""
    full = all(a >= d for a, d in zip(network.ranks, network.dims, strict=False))
    return full and is_wide(network) and network.dims[0] >= 3 and network.t >= 2


def by_theorem(at: Weights, is_critical: bool) -> tuple[Conclusion, Argument] | None:
    """What the theorems of the page on deep singularities say of a function that is not 0, or ``None``.

    Args:
        at: integer weights.
        is_critical: whether some weights with this function, which move (M, L) in all directions, are proved
            to be. Where all (M, L) are virtual weights, d_0 ≥ 3 and t ≥ 2, M̄ is singular there (Theorem 3);
            used if a_i ≥ d_{i−1}, so that there are such weights. All else is in
            :func:`~agattn.geometry.singular_points.virtual_points.settled`.

    >>> network = DeepNetwork((3, 3, 2), (3, 3), t=2)
    >>> for kind in kinds(network)[:2]:
    ...     print(kind.name, by_theorem(Weights(network, kind.preimages[0]), False))
    generic ('smooth', 'one-point fiber')
    rk M_1 = 1 ('singular', 'purity')
    """
    network, given = at.architecture, virtual(at.architecture, at.exact())
    if not isinstance(network, DeepNetwork) or given is None:
        return None
    if (found := settled(network, *given)) is not None:
        return "singular" if found[0] else "smooth", found[1]
    return ("singular", "purity") if is_critical and _is_onto(network) else None


def _is_zero(at: Weights, tangents: Tangents, seed: int) -> tuple[bool, Evidence]:
    """Whether f = 0: no, by a value modulo a prime; yes, by the virtual weights or all coefficients."""
    if tangents.values(at.residues(tangents.p)[0][None]).any():
        return False, Evidence.PROVED
    given = virtual(at.architecture, at.exact())
    if given is not None and vanishes(*given, at.architecture.t):
        return True, Evidence.PROVED
    return same_function(at, None, seed)[:2]


def _invisible(at: Weights) -> list[Vector]:
    """Directions that change no function: a basis of a linear space of them.

    Q_j may change M_j by a skew matrix, for all j after the first M_i of rank one: the tokens after layer i
    are parallel, and see the symmetric part of M_j alone. At one token this is so for all j. If Q_i = 0 or
    V_i = 0, everything else may change.
    """
    network, weights, n = at.architecture, at.exact(), len(at.vector)
    if (given := virtual(network, weights)) is None:
        return []
    l, numbers = len(given[0]), as_parameters(network, np.arange(n))
    for name, array in weights.items():
        if name[0] in "QV" and not array.any():
            return at.units(np.delete(np.arange(n), numbers[name]).tolist())
    low = (i for i, M in enumerate(given[0], 1) if rational_rank(M) == 1)
    before = partial_products([weights[f"V_{i}"][0] for i in range(1, l + 1)])
    result = []
    for j in range(1 + (0 if network.t == 1 else next(low, l)), l + 1):
        for basis in kernel_basis(pairing(weights[f"K_{j}"][0] @ before[j - 1], before[j - 1], skew=True)):
            result.append(at.with_only(**{f"Q_{j}": np.array(list(map(fraction, basis)), dtype=object)}))
    return result
