r"""The cascade of arguments: from what it may follow whether the closure M̄ is singular at a function.

At weights w of φ: w ↦ f the rank of the differential is found exactly, and the fiber is bounded from both
sides: from below by symmetries, by families of weights with one function, and by the number of weights less
dim M̄; from above by the differential, or by its second derivative. Then each argument is asked in turn. An
argument is a function of an :class:`Inquiry`, which holds what is known so far. Some arguments collect
tangent vectors of M̄ at f (:mod:`~agattn.geometry.singular_points.tangents`); an argument that decides
something returns what it says. The arguments for all architectures:

- *affine space*: M̄ is an affine space, of as many dimensions as there are coordinates, and smooth.
- *cone*: f = 0 and M contains sf with f for all s > 0; then T_0 M̄ contains all of M.
- *tangent vectors*: the images of the differential at all preimages of f. More independent vectors than
  dim M̄, which has a proved upper bound, prove f *singular*; at several preimages where the differential has
  rank dim M̄ these are *several branches*.
- *second order*: the second derivatives along arcs whose first derivative vanishes are tangent, too.
- *immersion*: at some preimage the differential has rank dim M̄. Then it has this rank nearby, and the
  functions of all weights near this preimage form a manifold of dimension dim M̄, a *smooth branch*. Other
  branches of M̄ may pass through f.

>>> from agattn.architectures import DeepNetwork
>>> from agattn.geometry.singular_points.kinds import kinds
>>> from agattn.geometry.singular_points.singularities import closure_of
>>> network = DeepNetwork((2, 2, 1), (2, 2), t=2)
>>> inquiry = Inquiry({kind.name: kind for kind in kinds(network)}["L = 0"], closure_of(network))
>>> cone(inquiry), inquiry.tangent_lower, inquiry.closure.at_most
(Decision(conclusion='singular', argument='cone', evidence=<Evidence.PROVED: 'proved'>), 12, 8)

**Networks of attention.** A function of a lightning network with one head in each layer and no skip
connections sees the weights only through the virtual weights (M, L). From these follow preimages
(:mod:`~agattn.geometry.singular_points.kinds`), directions in which no function changes, and where φ = 0; and
the theorems of the page on deep singularities are about (M, L)
(:mod:`~agattn.geometry.singular_points.tangents`). So little is searched for at random. A network with
several heads or with skip connections has no virtual weights, and the general arguments alone.

>>> from agattn.geometry.singular_points.singularities import singularities
>>> found = singularities(DeepNetwork((2, 2, 1), (2, 2), t=2))
>>> print(str(found).partition("; 30 ")[2])
kinds of points: 26 singular, 4 smooth

**Other models.** Of their structure nothing is known, so preimages of a function f are looked for along
directions where φ is constant (*tangent vectors*), and then

- at *degenerations*, where a parameter becomes 0 along such a direction: two equal neurons are merged into
  one, and the other is free;
- with other *signs* of matrices, rows and columns, and with two matrices *exchanged*, which may lead to
  another branch of M̄ through f.

*Equations* of M̄ in low degree may have so many independent differentials at f that the tangent space is no
larger than dim M̄; then f is smooth. The page on models has the proofs. Whether M is closed is known where
:mod:`~agattn.geometry.closedness.question` proves it.

>>> from agattn.architectures import Network, Perceptron
>>> found = singularities(Network([Perceptron([2, 1], degree=3)], dim=3))
>>> print(found["row 1 of W_1_1 is 0"])
row 1 of W_1_1 is 0: differential of rank 3 of 6, tangent space of dimension 10 or more: singular (proved)
>>> print(found["generic"])
generic: differential of rank 6 of 6, tangent space of dimension 6 or more: smooth (proved)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice
from math import comb
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.algebra.echelon import fraction, kernel_basis, rational_matrix, rational_rank
from agattn.algebra.graded_ideals import Monomial, homogeneous_weights
from agattn.algebra.lie_algebras import Sparse
from agattn.architectures import Architecture, DeepNetwork, draw_parameters
from agattn.architectures.protocol import as_parameters
from agattn.errors import TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.closedness.question import Closed, is_closed_set
from agattn.geometry.dimension.dimension import Dimension, dimension
from agattn.geometry.dimension.lie_algebra import at_monomials
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.ideal.model_ideal import compute_model_ideal
from agattn.geometry.identifiability.families import (
    ExactWeights,
    Vector,
    largest_rank,
    same_function,
    widest_family,
    with_all_symmetries,
)
from agattn.geometry.identifiability.network_fibers import pairing
from agattn.geometry.identifiability.virtual_weights import partial_products, vanishes, virtual
from agattn.geometry.singular_points.kinds import Kind
from agattn.geometry.singular_points.tangents import Tangents, is_wide, settled
from agattn.geometry.variety.coefficient_map import CoefficientMap, coefficient_map
from agattn.limits import log

#: Coordinates are counted if their polynomials have no more terms.
_MOST_TERMS = 100_000
#: Coordinates with more terms are not differentiated one by one.
_MOST_DIFFERENTIATED = 5_000


Conclusion = Literal["singular", "smooth", "smooth branch", "undecided"]
#: From what it may follow whether a point of the closure is singular.
ArgumentName = Literal[
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


class Decision(NamedTuple):
    """What an argument says of a function, and how that is known."""

    conclusion: Conclusion
    argument: ArgumentName
    evidence: Evidence


#: An argument says something of the function that is asked about, or nothing.
Argument = Callable[["Inquiry"], Decision | None]


@dataclass(frozen=True, eq=False)
class Closure:
    """What is found once of an architecture: the closure M̄, and what is special to the architecture.

    Attributes:
        architecture: any polynomial one.
        known: the dimension of M̄.
        at_most: a proved upper bound of the dimension.
        is_affine: whether M̄ is proved to be an affine space of this dimension.
        source: the coordinates, where they are needed and easily found.
        equations: equations of M̄ that are proved.
        further: linear symmetries beyond those that the architecture knows.
    """

    architecture: Architecture
    known: Dimension
    at_most: int
    is_affine: bool
    source: CoefficientMap | None = None
    equations: tuple[Equation, ...] = ()
    further: tuple[Sparse, ...] = ()

    #: The arguments, in the order in which they are asked.
    arguments: ClassVar[tuple[Argument, ...]]
    #: Random orders in which families are looked for; where there are any, also where they prove nothing new.
    orders: ClassVar[int]
    #: So many moves that add no tangent vectors end a search.
    patience: ClassVar[int]

    @property
    def dimension(self) -> int:
        """The dimension of M̄; where it is not proved, the rank observed."""
        return self.known.observed

    @cached_property
    def tangents(self) -> Tangents:
        """Tangent vectors at common inputs, for all functions."""
        return Tangents(self.architecture, self.at_most)

    @cached_property
    def is_cone(self) -> bool:
        """Whether M is known to be a cone."""
        return is_cone(self.architecture)

    def weights(self, kind: Kind) -> list[ExactWeights]:
        """The preimages of a kind as exact weights, with all symmetries that are known."""
        return [ExactWeights(self.architecture, given, self.further) for given in kind.preimages]

    def chosen(self, draw: Callable[[int], list[Kind]]) -> Iterator[Kind]:
        """The kinds of a catalogue, with weights that are not more special by chance than their kind.

        ``draw(n)`` is the catalogue with other numbers for each n.
        """
        raise NotImplementedError

    def invisible(self, at: ExactWeights) -> list[Vector]:
        """Directions that change no function, by the structure of the architecture."""
        return []

    def vanishes(self, at: ExactWeights) -> bool | None:
        """Whether φ = 0 at the weights, by the structure; ``None`` where the structure does not say."""
        return None

    def closedness(self) -> Closed:
        """Whether M is closed."""
        return is_closed_set(self.architecture, self.source, self.is_affine)

    def rank_over_the_rationals(self, at: ExactWeights) -> int | None:
        """The rank of the differential, by the derivatives of all coordinates if they have few terms."""
        if self.source is None or sum(map(len, self.source.polynomials)) > _MOST_DIFFERENTIATED:
            return None
        gens = self.source.ring.gens
        return rational_rank([[f.derivative(x)(*at.vector) for f in self.source.polynomials] for x in gens])


def coordinates(architecture: Architecture) -> CoefficientMap | None:
    """The coordinates, where they are easily found: M lies in an affine space with as many dimensions."""
    with suppress(TooLargeError):
        return coefficient_map(architecture, limit=_MOST_TERMS)
    return None


def within(known: Dimension, source: CoefficientMap | None) -> tuple[Dimension, bool]:
    """What is known of dim M̄, with the number of coordinates, and whether M̄ is proved to be all of the space.

    >>> from agattn.architectures import SingleLayer
    >>> from agattn.geometry.dimension.dimension import dimension
    >>> network = SingleLayer(2, 1, 1, t=1).as_network()            # binary cubics V x · xᵀAx
    >>> within(dimension(network), coordinates(network))[1]
    True
    """
    if source is None:
        return known, False
    count = len(source.coordinates)
    if count < known.upper_bound:
        how = Evidence.PROVED if count == known.lower_bound else known.evidence
        known = known.replace(upper_bound=count, upper_bound_reason="the number of coordinates", evidence=how)
    return known, known.lower_bound == count


def is_cone(architecture: Architecture) -> bool:
    """Whether with each f its neuromanifold contains sf for all s > 0, by a grading of the parameters.

    If φ_θ(X), as it is written, is homogeneous of degree D ≠ 0 for some weights w of the parameters alone,
    then φ(s^w θ) = s^D φ(θ). "No" means that none is found.

    >>> from agattn.architectures import Linear, Network, Skip
    >>> is_cone(Network([Linear(2)], dim=2)), is_cone(Network([Skip([Linear(2)])], dim=2))
    (True, False)
    """
    out, relations, count = at_monomials(architecture, weighted_inputs=False)
    outputs = [f for f in out if isinstance(f, Monomial)]
    if len(outputs) < sum(map(bool, out)) or not outputs:
        return False  # a constant
    for f in outputs[1:]:
        outputs[0] + f  # notes that they are of one degree
    weights = homogeneous_weights(relations, count, np.random.default_rng(0))
    return bool(sum(e * int(weights[v]) for v, e in outputs[0].exponents.items()))


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """What is known near weights, with directions in which φ is constant there.

    Attributes:
        at: the weights.
        rank: of the differential: proved to be no smaller.
        fiber: a proved lower bound on the local dimension of the fiber, over ℂ.
        directions: of a family of weights with one function, found by a search.
        evidence: of the rank being no larger.
    """

    at: ExactWeights
    rank: int
    fiber: int
    directions: tuple[Vector, ...]
    evidence: Evidence


class Inquiry:
    """What is known so far at weights of one kind, and of their function f.

    Args:
        kind: the weights.
        closure: of the architecture.

    Attributes:
        kind: the same weights; of those with one A and V the first have the largest rank.
        points: the preimages that the kind names.
        ranks: of the differential there.
        is_zero, zero_evidence: whether f = 0, and how that is known.
        preimages: those at which tangent vectors were taken.
        tangent_lower, tangent_evidence: T_f M̄ has at least this dimension, and how that is known.
        tangent_upper: it has at most this, by equations of M̄.
        fiber, fiber_evidence: bounds on the local dimension of the fiber over ℂ at the first of the points,
            and how the upper one is known.
    """

    def __init__(self, kind: Kind, closure: Closure) -> None:
        self.closure, self.tangents = closure, closure.tangents
        points = closure.weights(kind)
        ranks = [self.tangents.rank_at(at) for at in points]
        order = sorted(kind.factorizations, key=lambda n: -ranks[n])
        order += [n for n in range(len(ranks)) if n not in order]
        self.kind = replace(kind, preimages=tuple(kind.preimages[n] for n in order))
        self.points, self.ranks = [points[n] for n in order], [ranks[n] for n in order]
        self.is_zero, self.zero_evidence = self._zero()
        self._places: dict[int, Neighborhood] = {}
        self.preimages = self.points[:1]
        self.tangent_lower, self.tangent_evidence = 0, Evidence.PROVED
        self.tangent_upper: int | None = None
        self.fiber = (self.here.fiber, self.parameters - self.ranks[0])
        self.fiber_evidence = Evidence.PROVED

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return len(self.points[0].vector)

    @property
    def here(self) -> Neighborhood:
        """The place of the weights that the kind means."""
        return self.place(0)

    @property
    def top(self) -> Neighborhood:
        """The first place with the largest rank."""
        return self.place(self.ranks.index(max(self.ranks)))

    @property
    def both(self) -> tuple[Neighborhood, ...]:
        """The place of the largest rank, and that of the weights that the kind means, if it is another."""
        return (self.top,) if self.top is self.here else (self.top, self.here)

    @property
    def has_all_tangents(self) -> bool:
        """Whether T_f M̄ is known: M̄ is an affine space, or f = 0 is the vertex of a cone."""
        return self.closure.is_affine or (self.is_zero and self.closure.is_cone)

    @property
    def is_open(self) -> bool:
        """Whether it is useful to look for more tangent vectors."""
        return not self.has_all_tangents and self.tangent_lower <= self.closure.at_most

    def found(
        self, dimension: int, argument: ArgumentName, evidence: Evidence = Evidence.PROVED
    ) -> Decision | None:
        """Note so many independent tangent vectors; more than M̄ has dimensions prove f singular."""
        self.tangent_lower, self.tangent_evidence = dimension, evidence
        return Decision("singular", argument, evidence) if dimension > self.closure.at_most else None

    def place(self, number: int) -> Neighborhood:
        """The place of one of the points, looked at when it is asked for."""
        if number not in self._places:
            self._places[number] = self._look(self.points[number], self.ranks[number])
        return self._places[number]

    def _look(self, at: ExactWeights, rank: int) -> Neighborhood:
        closure, most, invisible = self.closure, self.parameters - rank, self.closure.invisible(at)
        fiber, kernel = at.orbit_dimension(invisible), self.tangents.kernel_found(at, invisible)
        directions: tuple[Vector, ...] = ()
        may_help = rank < closure.at_most and not self.is_zero
        if kernel < most and (may_help or closure.orders):
            family = self.family(at, rank)
            if family is not None:
                directions, fiber = family[0], max(fiber, family[1])
                kernel = max(kernel, self.tangents.kernel_found(at, [*invisible, *directions]))
        fiber = max(fiber, self.parameters - closure.at_most)
        exact = most in (kernel, fiber) or closure.rank_over_the_rationals(at) == rank
        return Neighborhood(at, rank, fiber, directions, Evidence.PROVED if exact else Evidence.MODULAR)

    def family(self, at: ExactWeights, rank: int) -> tuple[tuple[Vector, ...], int] | None:
        """Directions along which φ is proved to be constant, and the dimension of a part of the fiber."""
        widest = widest_family(at, self.parameters - rank, self.closure.orders)
        return (widest.directions, widest.dimension) if widest.evidence is Evidence.PROVED else None

    def _zero(self) -> tuple[bool, Evidence]:
        """Whether f = 0: no, by a value modulo a prime; yes, by the structure or by all coefficients."""
        at = self.points[0]
        if self.tangents.values(at.residues(self.tangents.p)[0][None]).any():
            return False, Evidence.PROVED
        if self.closure.vanishes(at):
            return True, Evidence.PROVED
        return same_function(at, None)[:2]


# Arguments for all architectures ----------------------------------------------------------------------------


def affine_space(inquiry: Inquiry) -> Decision | None:
    """M̄ is an affine space: T_f M̄ has its dimension at every f."""
    if not inquiry.closure.is_affine:
        return None
    inquiry.found(inquiry.closure.at_most, "affine space")
    return Decision("smooth", "affine space", Evidence.PROVED)


def cone(inquiry: Inquiry) -> Decision | None:
    """T_0 M̄ contains all functions, where M contains sf with f for all s > 0."""
    if inquiry.closure.is_affine or not inquiry.has_all_tangents:
        return None
    source = inquiry.closure.source
    span = inquiry.tangents.span_of_functions(0 if source is None else len(source.coordinates))
    return inquiry.found(span, "cone", inquiry.zero_evidence)


def tangent_vectors(inquiry: Inquiry) -> Decision | None:
    """T_f M̄ contains the image of dφ at all preimages of f, which are moved where φ is constant."""
    if inquiry.has_all_tangents:
        return None
    closure, top = inquiry.closure, inquiry.top
    moving: list[tuple[ExactWeights, Sequence[Vector]]]
    moving = [(point, closure.invisible(point)) for point in inquiry.points]
    moving += [(place.at, place.directions) for place in inquiry.both]
    inquiry.preimages, span = inquiry.tangents.preimages(inquiry.points, moving, closure.patience)
    several = sum(rank == closure.dimension for rank in inquiry.ranks) > 1
    isolated = several and not closure.invisible(top.at) and not top.directions
    return inquiry.found(span, "several branches" if isolated else "tangent vectors")


def second_order(inquiry: Inquiry) -> Decision | None:
    """T_f M̄ contains d²φ(v, v') for v and v' in the kernel of dφ.

    Where these are independent for a basis of the kernel modulo the orbit, the fiber is the orbit nearby.
    """
    answer, n, at_most = None, inquiry.parameters, inquiry.closure.at_most
    for place in inquiry.both if inquiry.is_open else ():
        if not inquiry.is_open or place.fiber == n - place.rank:
            continue
        span, immersed = inquiry.tangents.second_order(place.at, inquiry.preimages, place.rank)
        if immersed and place is inquiry.here:
            fiber = max(place.at.orbit_dimension(), n - at_most)
            inquiry.fiber, inquiry.fiber_evidence = (fiber, fiber), place.evidence
        if span > inquiry.tangent_lower:
            answer = inquiry.found(span, "second order", place.evidence)
    return answer


def immersion(inquiry: Inquiry) -> Decision | None:
    """Where dφ has rank dim M̄ the functions of the weights nearby are a manifold of this dimension."""
    if max(inquiry.ranks) == inquiry.closure.at_most:
        return Decision("smooth branch", "immersion", Evidence.PROVED)
    return None


#: So often numbers are drawn for a kind: small ones can be more special than it by chance.
_ATTEMPTS = 3
#: Weights at which parameters become 0 along such directions, and how often one goes on from there.
_SPECIAL, _ROUNDS = 3, 2
#: So many pairs of matrices are exchanged at most.
_MOST_EXCHANGES = 300
#: Equations are looked for in degrees with no more monomials.
_MOST_MONOMIALS = 1_500


def degenerations(inquiry: Inquiry) -> Decision | None:
    """Tangent vectors where parameters become 0 along directions in which φ is constant, and further on."""
    if not inquiry.is_open:
        return None
    tangents, closure = inquiry.tangents, inquiry.closure
    start: list[tuple[ExactWeights, tuple[Vector, ...]]] = [(inquiry.here.at, inquiry.here.directions)]
    for _ in range(_ROUNDS):
        reached = [point for place in start for point in _zeros_along(*place)][:_SPECIAL]
        reached += [point for at, _ in start if (point := _without_idle(at, tangents))]
        families = [(point, inquiry.family(point, tangents.rank_at(point))) for point in reached]
        start = [(point, () if family is None else family[0]) for point, family in families]
        if not start:
            return None
        given = [*inquiry.preimages, *reached]
        inquiry.preimages, span = tangents.preimages(given, start, closure.patience)
        if answer := inquiry.found(span, "tangent vectors"):
            return answer
    return None


def signs(inquiry: Inquiry) -> Decision | None:
    """Tangent vectors at weights that differ in the sign of a matrix, row or column, if that adds any."""

    def turned() -> Iterator[tuple[Array, Array]]:
        same = np.arange(inquiry.parameters)
        for line in _lines(inquiry.preimages[0]):
            sign = np.ones_like(same)
            sign[line] = -1
            yield same, sign

    return _elsewhere(inquiry, turned())


def exchanges(inquiry: Inquiry) -> Decision | None:
    """Tangent vectors at weights with two matrices of one shape exchanged, if that adds any.

    So the gate of a state may be 0: then the key, the query and the value of a layer of rank one with one
    output are three factors of one cubic form, in any order.
    """

    def exchanged() -> Iterator[tuple[Array, Array]]:
        same = np.arange(inquiry.parameters)
        for one, other in islice(combinations(_matrices(inquiry.preimages[0]), 2), _MOST_EXCHANGES):
            if one.shape == other.shape:
                order = same.copy()
                order[one], order[other] = other, one
                yield order, np.ones_like(same)

    return _elsewhere(inquiry, exchanged())


def _elsewhere(inquiry: Inquiry, moves: Iterator[tuple[Array, Array]]) -> Decision | None:
    """Tangent vectors at the weights w_order·sign, where these have the same function and add any."""
    if not inquiry.is_open:
        return None
    tangents, at = inquiry.tangents, inquiry.preimages[0]
    vector, largest = at.residues(tangents.p)[0], inquiry.tangent_lower
    f = tangents.values(vector[None])
    for order, sign in moves:
        other = vector[order] * sign % tangents.p
        if (other == vector).all() or (tangents.values(other[None]) != f).any():
            continue
        turned = at.at(np.array(at.vector, dtype=object)[order] * sign)
        span = tangents.span([*inquiry.preimages, turned])
        if span > largest and same_function(at, turned)[:2] == (True, Evidence.PROVED):
            inquiry.preimages, largest = [*inquiry.preimages, turned], span
    immersed = inquiry.ranks[0] == inquiry.tangent_lower == inquiry.closure.at_most
    return inquiry.found(largest, "several branches" if immersed else "tangent vectors")


def equations(inquiry: Inquiry) -> Decision | None:
    """T_f M̄ is in the space on which the differentials of all equations of M̄ vanish."""
    source = inquiry.closure.source
    if source is None or not inquiry.closure.equations:
        return None
    values = source.values(inquiry.kind.weights)
    point = {(0,): 1} | {(k,): y for k, y in enumerate(values, 1) if y}
    gradients = [equation.gradient(point) for equation in inquiry.closure.equations]
    rows = [[of.get((k,), 0) for k in range(1, len(values) + 1)] for of in gradients]
    inquiry.tangent_upper = upper = len(values) - rational_rank(rows)
    is_proved = inquiry.tangent_evidence is Evidence.PROVED
    assert inquiry.tangent_lower <= upper or not is_proved, (
        f"{inquiry.kind.name}: more tangent vectors than the equations allow"
    )
    if upper > inquiry.closure.known.lower_bound:
        return None
    return Decision("smooth", "equations", Evidence.PROVED)


@dataclass(frozen=True, eq=False)
class ModelClosure(Closure):
    """The closure of a polynomial model that is no network of attention.

    >>> from agattn.architectures import Linear, Network
    >>> closure = ModelClosure.of(Network([Linear(1), Linear(2)], dim=2))
    >>> closure.known.dimension, closure.is_affine, len(closure.equations)
    (3, False, 1)
    """

    arguments: ClassVar[tuple[Argument, ...]] = (
        affine_space, cone, tangent_vectors, degenerations, signs, exchanges, second_order, equations,
        immersion,
    )  # fmt: skip
    orders: ClassVar[int] = 2
    patience: ClassVar[int] = 3

    @classmethod
    def of(cls, architecture: Architecture) -> ModelClosure:
        """The closure, with coordinates, linear symmetries and equations where these are easily found."""
        source = coordinates(architecture)
        known, is_affine = within(dimension(architecture, force=True), source)
        further: tuple[Sparse, ...] = ()
        if known.upper_bound == 0:  # a point, and every map of the parameters is a symmetry
            is_affine = True
        else:
            zeros = draw_parameters(architecture, lambda shape: np.zeros(shape, dtype=object))
            further = with_all_symmetries(ExactWeights(architecture, zeros)).further
        log.info("equations")
        proved = () if source is None or is_affine else _equations(source)
        return cls(architecture, known, known.upper_bound, is_affine, source, proved, further)

    def chosen(self, draw: Callable[[int], list[Kind]]) -> Iterator[Kind]:
        """Of several draws of each kind that with the largest rank of dφ, and if possible with f ≠ 0."""
        tangents = self.tangents

        def generality(kind: Kind) -> tuple[int, bool]:
            [at] = self.weights(kind)
            return tangents.rank_at(at), bool(tangents.values(at.residues(tangents.p)[0][None]).any())

        for several in zip(*map(draw, range(_ATTEMPTS)), strict=True):
            yield max(several, key=generality)


def _equations(source: CoefficientMap) -> tuple[Equation, ...]:
    """Equations of M̄ that are proved, in the degrees up to 3 that have few monomials."""
    N = len(source.coordinates) + 1
    degree = max((n for n in range(1, 4) if comb(N + n - 1, n) <= _MOST_MONOMIALS), default=0)
    if not degree:
        return ()
    with suppress(TooLargeError):
        groups = compute_model_ideal(source, degree).found
        return tuple(equation for group in groups if group.evidence is Evidence.PROVED for equation in group)
    return ()


def _matrices(at: ExactWeights) -> Iterator[Array]:
    """The places of the matrices of all arrays."""
    for array in at.arrays(np.arange(len(at.vector))).values():
        yield from array.reshape(-1, *(1, 1, *array.shape)[-2:])


def _lines(at: ExactWeights) -> Iterator[list[int]]:
    """The places of the matrices of all arrays, of their rows and of their columns."""
    for matrix in _matrices(at):
        yield matrix.ravel().tolist()
        yield from matrix.tolist()
        yield from matrix.T.tolist()


def _without_idle(at: ExactWeights, tangents: Tangents) -> ExactWeights | None:
    """The weights with rows and columns set to 0 as long as that leaves f as it is; ``None`` if none does."""
    flat, vector = np.array(at.vector, dtype=object), at.residues(tangents.p)[0]
    f = tangents.values(vector[None])
    for line in _lines(at):
        without = vector.copy()
        without[line] = 0
        if flat[line].any() and (tangents.values(without[None]) == f).all():
            vector, flat[line] = without, 0
    if tuple(flat) == at.vector:
        return None
    equal, evidence, _ = same_function(at, moved := at.at(flat))
    return moved if equal and evidence is Evidence.PROVED else None


def _zeros_along(at: ExactWeights, directions: Sequence[Vector]) -> list[ExactWeights]:
    """The weights moved along directions to where a matrix, a row or a column is 0; most zeros first."""
    points = []
    for line in _lines(at) if directions else ():
        rows = [[*(v[i] for v in directions), at.vector[i]] for i in line]
        solved = [s for s in kernel_basis(rational_matrix(rows, len(directions) + 1)) if s[-1]]
        if any(at.vector[i] for i in line) and solved:
            point = np.array(at.vector, dtype=object)
            for s, v in zip(solved[0], directions, strict=False):
                point = point + fraction(s) / fraction(solved[0][-1]) * np.array(v, dtype=object)
            points.append(point)
    points.sort(key=lambda point: int(np.count_nonzero(point)))
    return [at.at(point) for point in points[:_SPECIAL]]


#: How often numbers are drawn anew while the generic weights are critical.
_DRAWS = 5


def theorems(inquiry: Inquiry) -> Decision | None:
    """The theorems of the page on deep singularities about functions that are not 0."""
    if inquiry.is_zero or inquiry.closure.is_affine:
        return None
    return by_theorem(inquiry.points[0], _show_critical(inquiry))


@dataclass(frozen=True, eq=False)
class NetworkClosure(Closure):
    """The closure of a network of attention.

    >>> from agattn.geometry.singular_points.kinds import network_kinds
    >>> closure = NetworkClosure.of(DeepNetwork((2, 2, 1), (2, 2), t=2))
    >>> closure.known.dimension, closure.at_most, closure.is_affine, closure.is_cone
    (8, 8, False, True)
    """

    arguments: ClassVar[tuple[Argument, ...]] = (
        affine_space, cone, tangent_vectors, second_order, theorems, immersion,
    )  # fmt: skip
    orders: ClassVar[int] = 0
    patience: ClassVar[int] = 1

    @classmethod
    def of(cls, network: DeepNetwork) -> NetworkClosure:
        """The closure, whose coordinates are written down only where random functions span few."""
        known, is_affine = dimension(network, force=True), False
        tangents = Tangents(network, known.upper_bound)
        if tangents.span_of_functions() <= known.upper_bound + 1:  # an affine space has no more of them
            known, is_affine = within(known, coordinates(network))
        at_most = min(largest_rank(network).value, known.upper_bound)
        return cls(network, known, at_most, is_affine)

    def chosen(self, draw: Callable[[int], list[Kind]]) -> Iterator[Kind]:
        """The first catalogue whose generic weights are not critical."""
        for attempt in range(_DRAWS):
            catalogue = draw(attempt)
            if self.tangents.rank_at(self.weights(catalogue[0])[0]) == self.dimension:
                break
        yield from catalogue

    def vanishes(self, at: ExactWeights) -> bool | None:
        """Whether φ = 0, by the theorem on zeros of networks with virtual weights."""
        given = virtual(at.architecture, at.exact())
        return None if given is None else vanishes(*given, at.architecture.t)

    def invisible(self, at: ExactWeights) -> list[Vector]:
        """Directions that change no function: a basis of a linear space of them.

        Q_j may change M_j by a skew matrix, for all j after the first M_i of rank one: the tokens after layer
        i are parallel, and see the symmetric part of M_j alone. At one token this is so for all j. If Q_i = 0
        or V_i = 0, everything else may change.
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
        result: list[Vector] = []
        for j in range(1 + (0 if network.t == 1 else next(low, l)), l + 1):
            seen = pairing(weights[f"K_{j}"][0] @ before[j - 1], before[j - 1], skew=True)
            changes = (np.array(list(map(fraction, basis)), dtype=object) for basis in kernel_basis(seen))
            result += at.vectors_of(f"Q_{j}", changes)
        return result


def _show_critical(inquiry: Inquiry) -> bool:
    """Whether some of the weights that move (M, L) in all directions are proved to be critical.

    Where all A_i can have full rank they do if L_{l−1} has rank d_0, and K_i or Q_i has rank d_{i−1}.
    """
    if not _is_onto(inquiry.closure.architecture):
        return False
    dim, ranks = inquiry.closure.dimension, inquiry.ranks
    critical = [n for n, rank in enumerate(ranks) if rank < dim and _moves_all(inquiry.points[n])]
    return any(inquiry.place(n).evidence is Evidence.PROVED for n in critical)


def _moves_all(at: ExactWeights) -> bool:
    """Whether K_i, Q_i and V_i move the virtual weights (M, L) of a wide network in all directions."""
    weights, network = at.exact(), at.architecture
    assert isinstance(network, DeepNetwork)
    layers = range(1, network.depth + 1)
    before = partial_products([weights[f"V_{i}"][0] for i in layers])[network.depth - 1]
    return rational_rank(before) == network.dims[0] and all(
        max(rational_rank(weights[f"{letter}_{i}"][0]) for letter in "KQ") == network.dims[i - 1]
        for i in layers
    )


def _is_onto(network: Architecture) -> bool:
    """Whether Theorem 3 is about a network, and its A_i may be any matrices."""
    if not isinstance(network, DeepNetwork):
        return False
    full = all(a >= d for a, d in zip(network.ranks, network.dims, strict=False))
    return full and is_wide(network) and network.dims[0] >= 3 and network.t >= 2


def by_theorem(at: ExactWeights, is_critical: bool) -> Decision | None:
    """What the theorems of the page on deep singularities say of a function that is not 0, or ``None``.

    Args:
        at: integer weights.
        is_critical: whether some weights with this function, which move (M, L) in all directions, are proved
            to be. Where all (M, L) are virtual weights, d_0 ≥ 3 and t ≥ 2, M̄ is singular there (Theorem 3);
            used if a_i ≥ d_{i−1}, so that there are such weights. All else is in
            :func:`~agattn.geometry.singular_points.tangents.settled`.

    >>> from agattn.geometry.singular_points.kinds import network_kinds
    >>> network = DeepNetwork((3, 3, 2), (3, 3), t=2)
    >>> for kind in network_kinds(network)[:2]:
    ...     print(kind.name, by_theorem(ExactWeights(network, kind.preimages[0]), False)[:2])
    generic ('smooth', 'one-point fiber')
    rk M_1 = 1 ('singular', 'purity')
    """
    network, given = at.architecture, virtual(at.architecture, at.exact())
    if not isinstance(network, DeepNetwork) or given is None:
        return None
    if (decision := settled(network, *given)) is not None:
        return Decision("singular" if decision[0] else "smooth", decision[1], Evidence.PROVED)
    return Decision("singular", "purity", Evidence.PROVED) if is_critical and _is_onto(network) else None
