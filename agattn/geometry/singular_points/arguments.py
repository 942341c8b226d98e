r"""The cascade of arguments: from what it may follow whether the closure M̄ is singular at a function.

At weights w of φ: w ↦ f the rank of the differential is found exactly, and the fiber is bounded from both
sides: from below by symmetries, by families of weights with one function, and by the number of weights less
dim M̄; from above by the differential, or by its second derivative. Then each argument is asked in turn. An
argument is a function of an :class:`Inquiry`, which holds what is known so far. Some arguments collect
tangent vectors of M̄ at f (:mod:`~agattn.geometry.singular_points.tangents`); an argument that decides
something returns what it says. The arguments for all architectures are here:

- *affine space*: M̄ is an affine space, of as many dimensions as there are coordinates, and smooth.
- *cone*: f = 0 and M contains sf with f for all s > 0; then T_0 M̄ contains all of M.
- *tangent vectors*: the images of the differential at all preimages of f. More independent vectors than
  dim M̄, which has a proved upper bound, prove f *singular*; at several preimages where the differential has
  rank dim M̄ these are *several branches*.
- *second order*: the second derivatives along arcs whose first derivative vanishes are tangent, too.
- *immersion*: at some preimage the differential has rank dim M̄. Then it has this rank nearby, and the
  functions of all weights near this preimage form a manifold of dimension dim M̄, a *smooth branch*. Other
  branches of M̄ may pass through f.

:mod:`~agattn.geometry.singular_points.closures` has what is special to networks of attention, the theorems by
their virtual weights, and what is special to other models, further preimages and the equations of M̄.

>>> from agattn.architectures import DeepNetwork
>>> from agattn.geometry.singular_points.kinds import kinds
>>> from agattn.geometry.singular_points.singularities import closure_of
>>> network = DeepNetwork((2, 2, 1), (2, 2), t=2)
>>> inquiry = Inquiry({kind.name: kind for kind in kinds(network)}["L = 0"], closure_of(network))
>>> cone(inquiry), inquiry.tangent_lower, inquiry.closure.at_most
(Decision(conclusion='singular', argument='cone', evidence=<Evidence.PROVED: 'proved'>), 12, 8)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from agattn.algebra.echelon import rational_rank
from agattn.algebra.graded_ideals import Monomial, homogeneous_weights
from agattn.algebra.lie_algebras import Sparse
from agattn.architectures import Architecture
from agattn.errors import TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.closedness.question import Closed, is_closed_set
from agattn.geometry.dimension.dimension import Dimension
from agattn.geometry.dimension.lie_algebra import at_monomials
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.identifiability.families import ExactWeights, Vector, same_function, widest_family
from agattn.geometry.singular_points.kinds import Kind
from agattn.geometry.singular_points.tangents import Tangents
from agattn.geometry.variety.coefficient_map import CoefficientMap, coefficient_map

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
        evidence = Evidence.PROVED if count == known.lower_bound else known.evidence
        known = known.replace(
            upper_bound=count, upper_bound_reason="the number of coordinates", evidence=evidence
        )
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
