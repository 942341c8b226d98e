"""What is known natively of an answer before an engine is asked: bounds of its integers, by their names.

A native fact is an exact computation of ours, or a theorem with a proof on the pages. It wins over an
engine's word, always: an answer that contradicts one is refused whole, whatever stands beside it. Where
nothing is known natively, no fact is given, and an answer is worth what its engine is worth. Each task says
its own facts; here stands what several tasks share.

>>> from agattn import SingleLayer
>>> from agattn.systems.catalogue import build
>>> facts = native_facts(build("implicit-ideal", SingleLayer(3, 1, 1)))
>>> [(name, fact.low, fact.high) for name, fact in facts.items()]
[('prime', 1, 1), ('dimension', 7, 7), ('degree', 45, 45)]
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import comb

from agattn.architectures import Architecture, SingleLayer
from agattn.errors import TooLargeError
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.ideal.hilbert import double_locus_bound, double_locus_bound_is_sharp
from agattn.geometry.ideal.ideal import DegreePiece, compute_ideal
from agattn.geometry.variety.degree import expected_degree
from agattn.systems.problem import Fact, Facts, Point, Problem

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
    found = dimension(architecture, seed=0, force=True)
    return found.lower_bound, found.upper_bound


def degree_of_closure(layer: SingleLayer) -> int | None:
    """The degree of M̄ where it is known: by intersection theory for t ≥ 2, over every field; of the space."""
    if layer.has_orbits:
        return expected_degree(layer)
    return 1 if layer.expected_dimension == layer.ambient_dimension else None


@lru_cache(maxsize=64)
def known_degrees(layer: SingleLayer, last: int) -> tuple[DegreePiece, ...]:
    """The degrees of the ideal up to one, as far as counting them takes no time."""
    try:
        return compute_ideal(layer, min(last, DEGREES), seed=0, force=False).degrees if last else ()
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
    found = {0: (1, 1)}
    for n in range(1, last + 1):
        size = comb(layer.ambient_dimension + n - 1, n)
        high = counted.get(n, double_locus_bound(layer, n) if bounded else size)
        proved = n in counted or (bounded and n <= sharp and _is_sharp(layer, n))
        # The coordinate ring is a domain, so that its Hilbert function grows.
        found[n] = (high if proved else found[n - 1][0]), high
    return found


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
