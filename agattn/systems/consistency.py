"""What must hold of an engine's answer, and what the checks of several tasks share.

An answer that is whole and undamaged can still be wrong, where the engine is. Each task says what must hold
of its answers: ``facts``, bounds of the integers that are known natively, which are compared always and
first; and ``check``, which compares all values with each other, and polynomials with the map and with general
theorems of algebraic geometry.

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
from math import comb, inf, prod
from operator import mul
from typing import Any

from agattn.algebra.echelon import PRIME
from agattn.algebra.graded_ideals import minimal_generators
from agattn.algebra.polynomial import Polynomial, PolynomialRing, jacobian_at
from agattn.errors import TranscriptError
from agattn.systems.problem import Answer

# Modulo a small prime a random point can be a special one.
LARGE_PRIME = 10_000


def check_answer(answer: Answer) -> None:
    """Refuse an answer that cannot be right: by the facts of its task, then by the check of its task.

    Raises:
        TranscriptError: if something that must hold of the values does not; says what.
    """
    from agattn.systems.native_facts import native_facts

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
    generators: Sequence[Polynomial], known: Mapping[int, int] | None = None, degrees: Sequence[int] = ()
) -> None:
    """Refuse minimal generators of an ideal of which some follow from the others.

    The rank of those of a degree modulo multiples of lower ones decides; over ℚ modulo a large prime.

    Args:
        generators: as an engine lists them. Where they are not homogeneous, a set of generators need not be
            minimal, and only linear combinations of others are refused.
        known: of some degrees the number of minimal generators, which is known natively.
        degrees: of the variables; all are 1 if none are given.
    """
    counts = Counter(f.degree() for f in generators)
    for n, number in (known or {}).items():
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


def components_of(answer: Answer, known: str) -> list[int]:
    """The dimensions of components, of which the largest is that of all of them together."""
    dims = [answer.at(i + 1, "component-dimension")[0] for i in range(answer.integers["components"])]
    demand(bool(dims), f"there is no component, and {known}")
    between(max(dims), "the dimension", answer.integers["dimension"], max(dims))
    demand(min(dims) >= 0, f"a component has dimension {min(dims)}")
    return dims
