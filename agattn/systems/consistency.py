"""What must hold of an engine's answer, and what the checks of several tasks share.

An answer that is whole and undamaged can still be wrong, where the engine is. Each task says what must hold
of its answers: ``facts``, bounds of the integers that are known natively, which are compared always and
first; and ``check``, which compares all values with each other, and polynomials with the map and with general
theorems of algebraic geometry.

A native fact is an exact computation of ours, or a theorem with a proof on the pages. It wins over an
engine's word, always: an answer that contradicts one is refused whole, whatever stands beside it. Where
nothing is known natively, no fact is given, and an answer is worth what its engine is worth. Each task says
its own facts; here stands what several tasks share.

>>> from agattn import SingleLayer
>>> from agattn.systems.catalogue import build
>>> check_answer(Answer(build("hilbert-function", SingleLayer(2, 1), max_degree=1),
...                     {"values": 1, "value@1": 7}, {}))
Traceback (most recent call last):
    ...
agattn.errors.TranscriptError: the value in degree 1 is 7; it must be 6
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, inf, prod
from operator import mul
from typing import TYPE_CHECKING, Any

from agattn.algebra.echelon import PRIME
from agattn.algebra.graded_ideals import minimal_generators
from agattn.algebra.polynomial import Polynomial, PolynomialRing, jacobian_at
from agattn.architectures import Architecture, SingleLayer
from agattn.errors import TooLargeError, TranscriptError
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.ideal.hilbert import double_locus_bound, double_locus_bound_is_sharp
from agattn.geometry.variety.degree import expected_degree
from agattn.limits import by_default
from agattn.systems.problem import Answer, Fact, Facts, Point, Problem

if TYPE_CHECKING:
    from agattn.geometry.ideal.ideal import DegreePiece

# Modulo a small prime a random point can be a special one.
LARGE_PRIME = 10_000


def check_answer(answer: Answer) -> None:
    """Refuse an answer that cannot be right: by the facts of its task, then by the check of its task.

    Raises:
        TranscriptError: if something that must hold of the values does not; says what.
    """
    for name, fact in native_facts(answer.problem).items():
        if name in answer.integers:
            between(fact.low, fact.what, answer.integers[name], fact.high)
    if check := answer.problem.origin.check:
        check(answer)


@dataclass(frozen=True)
class NoChecks:
    """In the place of a check, for a task whose facts say all that must hold; and why that is so."""

    reason: str

    def __call__(self, answer: Answer) -> None:
        """Nothing is compared."""


def demand(holds: bool, otherwise: str) -> None:
    """Refuse an answer unless something holds.

    Raises:
        TranscriptError: with the text.
    """
    if not holds:
        raise TranscriptError(otherwise)


def between(low: int, name: str, value: int, high: float) -> None:
    """Refuse an answer with a value outside of its bounds.

    >>> between(0, "the degree", 3, 2)
    Traceback (most recent call last):
        ...
    agattn.errors.TranscriptError: the degree is 3; it must be from 0 to 2

    Raises:
        TranscriptError: if the value is below ``low`` or above ``high``; says what must be.
    """
    allowed = str(low) if low == high else f"at least {low}" if high == inf else f"from {low} to {high}"
    demand(low <= value <= high, f"{name} is {value}; it must be {allowed}")


def rank_of_gradients(answer: Answer, points: Iterable[Sequence[Any]], where: object) -> int:
    """The largest rank of the gradients of equations at some points, at which all of them must vanish."""
    forms, ranks = answer.polynomials["generators"], [0]
    for point in points:
        for f in forms:
            demand(not f(*point), f"the engine's equation {f.macaulay2()[:80]} does not vanish on {where}")
        ranks.append(int(jacobian_at(forms, point).rank()))
    return max(ranks)


def check_homogeneous(forms: Iterable[Polynomial]) -> None:
    """Refuse generators that are no forms of positive degree."""
    for f in forms:
        degrees = {sum(exponents) for exponents in f.terms}
        demand(len(degrees) == 1 and 0 not in degrees, f"{f.macaulay2()[:80]} is no form of positive degree")


def check_degree(dim: int, degree: int, forms: Sequence[Polynomial], size: int, cone: bool = True) -> None:
    """The dimension and degree of a variety against generators of its ideal.

    The codimension is at most the number m of generators, and the degree at most the product of the largest
    of their degrees (Bézout), equal to it for a cone where m is the codimension.
    """
    codimension = size - dim
    between(0, "the codimension", codimension, min(size, len(forms)))
    bezout = prod(sorted((f.degree() for f in forms), reverse=True)[:codimension])
    complete = cone and codimension == len(forms)
    between(bezout if complete else 1, "the degree", degree, bezout)


def check_variety(answer: Answer, gradients: int, size: int, cone: bool = True) -> None:
    """Dimension and degree of an irreducible variety against its equations and the rank of their gradients.

    At a general point the gradients have the codimension as rank, since the ideal is prime. The degree of a
    cone is above the codimension in its linear span (Harris, *Algebraic Geometry*, Proposition 18.9).
    """
    dim, degree, p = answer.integers["dimension"], answer.integers["degree"], answer.problem.characteristic
    forms = answer.polynomials["generators"]
    check_degree(dim, degree, forms, size, cone)
    exact = not p or p > LARGE_PRIME
    between(size - dim if exact else 0, "the rank of the gradients", gradients, size - dim)
    in_span = size - dim - sum(f.degree() == 1 for f in forms)
    high = not cone or degree > in_span
    demand(high, f"the degree is {degree}; with this dimension it must be above {in_span}")


def check_generators(
    generators: Sequence[Polynomial], numbers: Mapping[int, int] | None = None, degrees: Sequence[int] = ()
) -> None:
    """Refuse minimal generators of an ideal of which some follow from the others.

    The rank of those of a degree modulo multiples of lower ones decides; over ℚ modulo a large prime.

    Args:
        generators: as an engine lists them. Where they are not homogeneous, a set of generators need not be
            minimal, and only linear combinations of others are refused.
        numbers: of minimal generators of some degrees, as they are known natively.
        degrees: of the variables; all are 1 if none are given.
    """
    counts = Counter(f.degree() for f in generators)
    for n, number in (numbers or {}).items():
        between(number, f"the number of generators of degree {n}", counts[n], number)
    if not generators:
        return
    demand(all(generators), "one of the generators is 0")
    ring = generators[0].ring
    degrees = degrees or (1,) * len(ring)
    if any(len({sum(map(mul, degrees, e)) for e in f.terms}) > 1 for f in generators):
        degrees = ()
    if not ring.characteristic:
        ring = PolynomialRing(ring.variables, PRIME)
    needed = minimal_generators([ring.from_terms(f.primitive().terms) for f in generators], degrees)
    more = len(generators) - len(needed)
    demand(not more, f"of the {len(generators)} generators {more} follow{'s' * (more == 1)} from the others")


def check_values(answer: Answer) -> None:
    """The values of a Hilbert function, which grows, as the ideal is prime."""
    data, last = answer.problem.data, 1
    if "polynomials" in data:
        size = len(data["polynomials"]) + (not data["cone"])
    else:
        size = answer.problem.layer.ambient_dimension
    for n in range(1, data["max_degree"] + 1):
        value = answer.integers[f"value@{n}"]
        between(last, f"the value in degree {n}", value, comb(size + n - 1, n))
        last = value


def components_of(answer: Answer, reason: str) -> list[int]:
    """The dimensions of components, of which the largest is that of all of them together."""
    dims = [answer.at(i + 1, "component-dimension")[0] for i in range(answer.integers["components"])]
    demand(bool(dims), f"there is no component, and {reason}")
    between(max(dims), "the dimension", answer.integers["dimension"], max(dims))
    demand(min(dims) >= 0, f"a component has dimension {min(dims)}")
    return dims


# What is known natively -------------------------------------------------------------------------------------

#: In these degrees equations are counted natively at once; of models where they have few monomials.
DEGREES = 4
#: For d = 2 the Hilbert function is proved at once up to this degree.
_TWO_ROWS = 8


def native_facts(problem: Problem) -> dict[str, Fact]:
    """What is known natively of the integers that answer a problem, by their names.

    Modulo a prime a rank may be smaller than over ℚ, and there may be more equations; facts are only those
    that hold modulo the problem's prime as well.
    """
    return dict(problem.origin.facts(problem))


def at_point(point: Point, name: str, what: str, low: int, high: float) -> tuple[str, Fact]:
    """A fact about the result of this name at a point."""
    return f"{name}@{point.label}", Fact(low, high, f"{what} at {point.label}")


# The variety ------------------------------------------------------------------------------------------------


def bounds_of_dimension(architecture: Architecture) -> tuple[int, int]:
    """Bounds of dim M̄ from both sides; they meet for all layers of moderate size."""
    bounds = dimension(architecture, seed=0, force=True)
    return bounds.lower_bound, bounds.upper_bound


def degree_of_closure(layer: SingleLayer) -> int | None:
    """The degree of M̄ where it is known: by intersection theory for t ≥ 2, over every field; of the space."""
    if layer.has_orbits:
        return expected_degree(layer)
    return 1 if layer.expected_dimension == layer.ambient_dimension else None


@lru_cache(maxsize=64)
def known_degrees(layer: SingleLayer, last: int) -> tuple[DegreePiece, ...]:
    """The degrees of the ideal up to one, as far as counting them takes no time."""
    from agattn.geometry.ideal.ideal import compute_ideal  # and all that finds equations

    try:
        with by_default():
            return compute_ideal(layer, min(last, DEGREES)).degrees if last else ()
    except TooLargeError:
        return ()


def known_generators(problem: Problem) -> dict[int, int]:
    """Of the lowest degrees the number of minimal generators of the ideal of M̄; over ℚ alone."""
    pieces = known_degrees(problem.layer, DEGREES) if problem.is_exact else ()
    return {piece.degree: piece.minimal_generators for piece in pieces}


def hilbert_bounds(layer: SingleLayer, last: int) -> dict[int, tuple[int, int]]:
    """Bounds of the Hilbert function of M̄ over ℚ in degrees 0, ..., last; those from above hold modulo p too.

    They meet where equations are counted at once, for a = d' = 1, and for d = 2 up to degree 8.

    >>> hilbert_bounds(SingleLayer(2, 2), 4)[4]
    (975, 975)
    >>> hilbert_bounds(SingleLayer(3, 1, 1), 9)[9]
    (84700, 84700)
    """
    counted = {piece.degree: piece.hilbert_function for piece in known_degrees(layer, last)}
    bounded = layer.has_orbits and layer.d >= 2
    sharp = last if layer.a == layer.d_out == 1 else _TWO_ROWS if layer.d == 2 else 0
    bounds = {0: (1, 1)}
    for n in range(1, last + 1):
        size = comb(layer.ambient_dimension + n - 1, n)
        high = counted.get(n, double_locus_bound(layer, n) if bounded else size)
        proved = n in counted or (bounded and n <= sharp and _is_sharp(layer, n))
        # The coordinate ring is a domain, so that its Hilbert function grows.
        bounds[n] = (high if proved else bounds[n - 1][0]), high
    return bounds


def _is_sharp(layer: SingleLayer, n: int) -> bool:
    if layer.a == layer.d_out == 1:
        return True
    return double_locus_bound_is_sharp(layer.alpha, n if n <= DEGREES else _TWO_ROWS)


def facts_of_dimension(problem: Problem) -> Facts:
    """Bounds of ``dimension``, that of M̄."""
    yield "dimension", Fact(*bounds_of_dimension(problem.architecture), "the dimension")


def facts_of_values(problem: Problem, bounds: Mapping[int, tuple[int, int]]) -> Facts:
    """Bounds of ``value@n``, those of a Hilbert function by degrees n, which hold over ℚ."""
    last = problem.data["max_degree"]
    yield "values", Fact(last, last, "the number of values")
    for n in range(1, last + 1):
        if n in bounds:
            low, high = bounds[n]
            yield f"value@{n}", Fact(low if problem.is_exact else 1, high, f"the value in degree {n}")
