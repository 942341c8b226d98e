"""The polynomial systems of some tasks, written out, for engines that have no language to build them in.

>>> from agattn import SingleLayer
>>> from agattn.systems.catalogue import build
>>> systems(build("implicit-ideal", SingleLayer(1, 1)))["graph"]
ExplicitSystem(name='graph', polynomials=(-a_(1,1) + y_(1,1,1,1),), eliminated=2, finite=False)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.systems.problem import Problem

Polynomials = tuple[Polynomial, ...]
#: Of each system by name: its Gröbner basis, or the numbers of its zeros, with multiplicity and without.
Bases = Mapping[str, Any]
#: The integers and the polynomials of an answer, by their names.
Values = tuple[dict[str, int], dict[str, Polynomials]]


class ExplicitSystem(NamedTuple):
    """Polynomials, and what is asked of them: a Gröbner basis, or how many common zeros there are.

    Attributes:
        name: by which the answer is known.
        polynomials: at least one, of one ring over the field of the problem.
        eliminated: how many variables, the first ones, the basis is to be without.
        finite: whether zeros are counted, of which there are finitely many.
    """

    name: str
    polynomials: Polynomials
    eliminated: int = 0
    finite: bool = False

    @property
    def ring(self) -> PolynomialRing:
        """The ring of the polynomials."""
        return self.polynomials[0].ring


class Explicit(NamedTuple):
    """A problem written out.

    Attributes:
        systems: the polynomial systems that answer the problem together.
        values: the values of the answer, from the Gröbner bases of these systems.
    """

    systems: Callable[[Problem], Iterable[ExplicitSystem]]
    values: Callable[[Bases, Problem], Values]


def systems(problem: Problem) -> dict[str, ExplicitSystem]:
    """The systems that answer a problem together, by name.

    Raises:
        KeyError: if those of its task are not written out.
    """
    return {system.name: system for system in explicit(problem).systems(problem)}


def explicit(problem: Problem) -> Explicit:
    """What the task of a problem has written out.

    Raises:
        KeyError: if that is nothing.
    """
    if problem.origin.explicit is None:
        raise KeyError(problem.form)
    return problem.origin.explicit


def lifted(f: Polynomial, ring: PolynomialRing) -> Polynomial:
    """A polynomial in a ring that has more variables, after its own."""
    more = (0,) * (len(ring) - len(f.ring))
    return ring.from_terms({(*exponents, *more): c for exponents, c in f.terms.items()})


def graph(values: Sequence[Polynomial], coordinates: Iterable[Variable], p: int) -> ExplicitSystem:
    """The ideal of the graph of a map by its coordinates; without its own variables that of the image."""
    own = values[0].ring.variables
    ring = PolynomialRing((*own, *coordinates), p)
    pairs = zip(ring.gens[len(own) :], values, strict=True)
    return ExplicitSystem("graph", tuple(y - lifted(value, ring) for y, value in pairs), len(own))
