"""The polynomial systems of some tasks, written out, for engines that have no language to build them in.

>>> from agattn import SingleLayer
>>> from agattn.systems.catalogue import build
>>> systems(build("implicit-ideal", SingleLayer(1, 1)))["graph"]
ExplicitSystem(name='graph', polynomials=(-a_(1,1) + y_(1,1,1,1),), eliminated=2, finite=False)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.systems.problem import Explicit, ExplicitSystem, Problem


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
