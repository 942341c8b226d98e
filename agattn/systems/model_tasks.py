"""What engines can be asked about any polynomial architecture: the image, the fibers and the critical points
of θ ↦ (f_1(θ), ..., f_N(θ)), the coordinates of its neuromanifold.

Each task has the name of one about layers, for which it stands in where the architecture is no single layer.

>>> import agattn as ag
>>> from agattn.systems.catalogue import build
>>> problem = build("implicit-ideal", ag.Network([ag.Linear(1), ag.Linear(2)], dim=2))
>>> problem.title
'Equations of the neuromanifold of 2×1 → linear 1 → linear 2, by elimination'
>>> problem.data["coordinates"][0], problem.data["polynomials"][0]
('coefficient of x_(1,1) in output 1', w_(1,1,1)*w_(2,1,1))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import comb, inf, prod
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from agattn.algebra.graded_ideals import positive_grading
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable, jacobian_at
from agattn.architectures import Architecture
from agattn.errors import InputError, UndecidedError, argument
from agattn.evidence import Source
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.ideal.ideal import DegreePiece
from agattn.geometry.ideal.model_ideal import compute_model_ideal
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.limits import limited, limits, refuse
from agattn.systems.consistency import (
    DEGREES,
    between,
    bounds_of_dimension,
    check_generators,
    check_values,
    check_variety,
    components_of,
    demand,
    facts_of_values,
    native_facts,
    rank_of_gradients,
)
from agattn.systems.ideal_tasks import MAX_MINORS, ideal_of_basis, last_degree, values_of_basis
from agattn.systems.layer_tasks import MAX_ELIMINATION_COORDINATES
from agattn.systems.problem import ENGINE, Answer, Explicit, Fact, Facts, Printed, Problem, Task, graph

# Before like terms are collected, which leaves a hundredth part: a script has those written out.
MAX_TERMS = 1_000_000
# Fibers and Jacobians are of so many equations.
MAX_COORDINATES = 500
# At so many random points the Jacobian is looked at for one where its rank is the generic one.
_POINTS = 20
# Equations of a model are counted natively in degrees with so few monomials.
_MONOMIALS = 2_000

#: A task about any architecture.
model_task = partial(Task[Any], about=object)


class Parameter(NamedTuple):
    """An array of parameters, as a script has it."""

    name: str
    shape: tuple[int, ...]
    first: Variable
    last: Variable


def _map(architecture: Architecture, limit: int = MAX_COORDINATES) -> dict[str, Any]:
    """The parameters and the coordinates, with their gradings.

    ``weights`` are positive degrees of the parameters under which all coordinates are homogeneous, of one
    degree if that can be, and ``degrees`` those of the coordinates; there are none of either where there are
    no such degrees.
    """
    map_ = coefficient_map(architecture, inf if limits().force else MAX_TERMS)
    if (size := len(map_.polynomials)) > limit:
        refuse(f"{architecture} is a system in {size} coordinates; the limit is {limit}", "write it")
    if all(f.degree() < 1 for f in map_.polynomials):
        raise InputError(f"{architecture} is constant in its parameters; there is nothing to ask an engine")
    variables = [v if v.indices else Variable(v.letter, (1,)) for v in map_.ring.variables]
    ring = PolynomialRing(variables)
    polynomials = tuple(ring.from_terms(f.terms) for f in map_.polynomials)
    together = ring.from_terms(dict.fromkeys((e for f in polynomials for e in f.terms), 1))
    weights = positive_grading([together]) or positive_grading(polynomials)
    of = [_degree(f, weights) for f in polynomials]
    degrees = tuple(max(of) if n < 0 else n for n in of) if weights else ()
    if 0 in degrees:  # a constant, which no positive degree of its coordinate makes homogeneous
        weights = degrees = ()
    left = iter(variables)
    parameters = []
    for name, shape in architecture.shapes.items():
        own = [next(left) for _ in range(prod(shape))]
        parameters.append(Parameter(name, shape, own[0], own[-1]))
    return {
        "parameters": tuple(parameters),
        "polynomials": polynomials,
        "coordinates": tuple(map(str, map_.coordinates)),
        "weights": weights,
        "degrees": degrees,
        "cone": len(set(degrees)) == 1,
    }


def _degree(f: Polynomial, weights: tuple[int, ...]) -> int:
    """The degree of a homogeneous polynomial; −1 for 0, which is of every degree."""
    return max((sum(map(mul, weights, exponents)) for exponents in f.terms), default=-1)


def coordinate_ring(architecture: Architecture, data: Mapping[str, Any]) -> PolynomialRing:
    """The ring of the y_1, ..., y_N."""
    return PolynomialRing([Variable("y", (k + 1,)) for k in range(len(data["polynomials"]))])


def _proved_dimension(architecture: Architecture) -> int:
    """dim M̄ where it is proved.

    Raises:
        UndecidedError: if the bounds do not meet.
    """
    bounds = dimension(architecture, force=True)
    if bounds.lower_bound < bounds.upper_bound:
        raise UndecidedError(f"the dimension is from {bounds.lower_bound} to {bounds.upper_bound}")
    return bounds.lower_bound


# The ideal --------------------------------------------------------------------------------------------------


def _ideal_data(
    architecture: Architecture, prime: bool = False, max_degree: int | None = None
) -> dict[str, Any]:
    data = _map(architecture, MAX_ELIMINATION_COORDINATES)
    if max_degree is None:
        return data | {"whole": True} | ({"prime": True} if prime else {})
    if prime:
        raise InputError(
            f"{argument('prime')} is about the whole ideal, and {argument('max_degree')} asks for a part; "
            "give one of the two"
        )
    if max_degree < 1:
        raise InputError(f"the largest degree is {max_degree}; it must be at least 1")
    if not data["weights"]:
        raise InputError(
            f"no positive degrees of the parameters make {architecture} homogeneous, so the equations up"
            f" to a degree cannot be found by themselves; leave out {argument('max_degree')}"
        )
    bound, to = max_degree * max(data["degrees"]), f" to degree {max_degree}"
    return data | {"max_degree": max_degree, "bound": bound, "to": to}


def known_degrees_of_model(problem: Problem, last: int) -> tuple[DegreePiece, ...]:
    """The degrees of the ideal of a model, as far as they have few monomials."""
    size = len(problem.data["polynomials"]) + (not problem.data["cone"])
    few = [n for n in range(1, min(last, DEGREES) + 1) if comb(size + n - 1, n) <= _MONOMIALS]
    if not few:
        return ()
    ideal = compute_model_ideal(coefficient_map(problem.architecture, inf), few[-1], force=False)
    return ideal.degrees if ideal.affine != problem.data["cone"] else ()


def _facts_of_ideal(problem: Problem) -> Facts:
    yield "prime", Fact(1, 1, "primality of the ideal of an image")
    low, high = bounds_of_dimension(problem.architecture)
    yield "dimension", Fact(low if problem.is_exact else 0, high, "the dimension")
    if (last := problem.data.get("max_degree")) is not None:
        yield "max-degree", Fact(last, last, "the last degree")


def _model_points(problem: Problem) -> Iterator[list[Any]]:
    """Three points of the image with integer coordinates."""
    random = np.random.default_rng(0)
    for _ in range(3):
        theta = [int(n) for n in random.integers(-9, 10, problem.architecture.parameters)]
        yield [f(*theta) for f in problem.data["polynomials"]]


def _check_ideal(answer: Answer) -> None:
    """Equations of an image of an affine space, which is irreducible, all of them or to a degree."""
    problem, forms = answer.problem, answer.polynomials["generators"]
    data = problem.data
    degrees, size = data["degrees"], len(data["polynomials"])
    for f in forms:
        if degrees:
            weights = {sum(map(mul, degrees, exponents)) for exponents in f.terms}
            demand(len(weights) == 1, f"{f.macaulay2()[:80]} is not homogeneous")
            [weight] = weights
            between(1, f"the degree of {f.macaulay2()[:80]}", weight, data.get("bound", weight))
    gradients = rank_of_gradients(answer, _model_points(problem), "the image")
    low, _ = bounds_of_dimension(problem.architecture)
    between(0, "the rank of the gradients", gradients, size - low)
    if "dimension" in answer.integers:
        check_variety(answer, gradients, size, data["cone"])
    last = data.get("max_degree", DEGREES) if data["cone"] and problem.is_exact else 0
    pieces = known_degrees_of_model(problem, last)
    check_generators(forms, {piece.degree: piece.minimal_generators for piece in pieces}, degrees)


def _graph_of_map(problem: Problem) -> Iterator[Explicit]:
    coordinates = coordinate_ring(problem.architecture, problem.data).variables
    yield graph(problem.data["polynomials"], coordinates, problem.characteristic)


IDEAL = model_task(
    "implicit-ideal",
    "the ideal",
    native=_proved_dimension,
    summary="equations, dimension and degree of its neuromanifold; to --max-degree, some equations",
    title="Equations of the neuromanifold of {M}{to}, by elimination",
    results=(
        Printed("dimension", "dimension of the Zariski closure", where="whole"),
        Printed("degree", "degree", where="whole"),
        Printed("prime", "1 if the ideal is prime, else 0", where="prime"),
        Printed("max-degree", "all equations to this degree follow from these", where="max_degree"),
        Printed("generators", "generators, a minimal set if they are homogeneous", ring=coordinate_ring),
    ),
    data=_ideal_data,
    read=lambda answer: answer.integers["dimension"],
    parts=(Source("generators, dimension and degree of the ideal", ENGINE), Source("the map", "native")),
    facts=_facts_of_ideal,
    check=_check_ideal,
    systems=_graph_of_map,
    values=ideal_of_basis,
)


def _facts_of_values(problem: Problem) -> Facts:
    pieces = known_degrees_of_model(problem, problem.data["max_degree"])
    yield from facts_of_values(problem, {piece.degree: (piece.hilbert_function,) * 2 for piece in pieces})


HILBERT_FUNCTION = model_task(
    "hilbert-function",
    "the Hilbert function",
    summary="the same; where its neuromanifold is no cone, of polynomials of degree at most n",
    title="Hilbert function of the neuromanifold of {M}",
    results=(
        Printed("values", "how many values follow, from degree 1"),
        Printed(
            "value",
            "dimension of the space of functions that forms of degree n, or if it is no cone "
            "polynomials of degree at most n, give on it",
            per_item="values",
        ),
    ),
    data=lambda architecture, max_degree=4: {
        **_map(architecture, MAX_ELIMINATION_COORDINATES),
        **last_degree(architecture, max_degree),
    },
    facts=_facts_of_values,
    check=check_values,
    systems=_graph_of_map,
    values=values_of_basis,
)


# Fibers -----------------------------------------------------------------------------------------------------


def _point(architecture: Architecture, weights: Sequence[Any] | None = None) -> dict[str, Any]:
    """A point by its parameters: the given point, or integers from −9 to 9, none of them 0."""
    if weights is None:
        generator, size = np.random.default_rng(limits().seed), architecture.parameters
        weights = (generator.integers(1, 10, size) * generator.choice([-1, 1], size)).tolist()
    return {"point": tuple(map(Fraction, weights))}


def _facts_of_fiber(problem: Problem) -> Facts:
    """Each component of a fiber has at least the dimension of a general one."""
    n, polynomials = problem.architecture.parameters, problem.data["polynomials"]
    tangent = n - int(jacobian_at(polynomials, problem.data["point"]).rank())
    exact = problem.is_exact
    high = tangent if exact else n
    yield "tangent-dimension", Fact(tangent, high, "the dimension of the tangent space")
    least = n - bounds_of_dimension(problem.architecture)[1] if exact else n - len(polynomials)
    yield "dimension", Fact(max(least, 0), n - 1 if exact else n, "the dimension of the fiber")


def _check_fiber(answer: Answer) -> None:
    """The components and the degree of a fiber, one component of which contains the point."""
    integers, problem = answer.integers, answer.problem
    n, polynomials = problem.architecture.parameters, problem.data["polynomials"]
    dim, degree = integers["dimension"], integers["degree"]
    bezout = prod(sorted((f.degree() for f in polynomials), reverse=True)[: n - dim])
    if "components" not in integers:
        between(1, "the degree of the fiber", degree, bezout)
        return
    dims, high = components_of(answer, "the fiber contains the point"), integers["tangent-dimension"]
    least = native_facts(problem)["dimension"].low
    demand(min(dims) >= least, f"a component has dimension {min(dims)}; it must be at least {least}")
    near = f"no component has dimension at most {high}, that of the tangent space at the point"
    demand(min(dims) <= high, near)
    degrees = [integers[f"component-degree@{i + 1}"] for i in range(len(dims))]
    demand(min(degrees) >= 1, f"a component has degree {min(degrees)}")
    reduced = sum(d for d, of in zip(degrees, dims, strict=True) if of == dim)
    between(reduced, "the degree of the fiber", degree, bezout)


FIBER = model_task(
    "fiber",
    "the fiber",
    native=lambda architecture: architecture.parameters - _proved_dimension(architecture),
    summary="all parameters with the same function as those of --point, or random ones",
    title="The fiber of the parameters of {M} over the function of a point",
    results=(
        Printed("dimension", "dimension of the fiber"),
        Printed("degree", "its degree, with multiplicities"),
        Printed("tangent-dimension", "dimension of its tangent space at the point"),
        Printed("components", "how many components follow", where="components"),
        Printed("component-dimension", "dimension of a component", per_item="components", where="components"),
        Printed("component-degree", "its degree, reduced", per_item="components", where="components"),
    ),
    data=lambda architecture, weights=None, components=False: {
        **_map(architecture),
        **_point(architecture, weights),
        **({"components": True} if components else {}),
    },
    read=lambda answer: answer.integers["dimension"],
    seeded=True,
    parts=(Source("dimension and degree of the fiber", ENGINE), Source("the map and the point", "native")),
    facts=_facts_of_fiber,
    check=_check_fiber,
)


# Critical points --------------------------------------------------------------------------------------------


def _critical_data(architecture: Architecture) -> dict[str, Any]:
    """The generic rank of the Jacobian, and a point at which it has that rank."""
    data = _map(architecture)
    rank = dimension(architecture, force=True).lower_bound
    rows, columns = len(data["polynomials"]), architecture.parameters
    if (minors := comb(rows, rank) * comb(columns, rank)) > MAX_MINORS:
        size = f"{rows} × {columns} of rank {rank}, has {minors} minors of that size"
        refuse(f"the Jacobian of {architecture}, {size}; the limit is {MAX_MINORS}", "write them")
    for number in range(_POINTS):
        with limited(seed=limits().seed + number):
            point = _point(architecture)
        if jacobian_at(data["polynomials"], point["point"]).rank() == rank:
            return data | point | {"rank": rank}
    raise UndecidedError(f"the Jacobian has rank below {rank} at {_POINTS} random points")


def _facts_of_critical_locus(problem: Problem) -> Facts:
    rank = problem.data["rank"]
    yield "rank", Fact(rank if problem.is_exact else 0, rank, "the rank of the Jacobian")


def _check_critical_locus(answer: Answer) -> None:
    """The locus is determinantal: of codimension at most (n − r + 1)(N − r + 1), that of general matrices.

    Here n × N is the size of the Jacobian and r its generic rank. As the rank is r at a random point, the
    locus is not the whole space of parameters.
    """
    integers, data = answer.integers, answer.problem.data
    n, N, r = answer.problem.architecture.parameters, len(data["polynomials"]), data["rank"]
    dim, degree = integers["dimension"], integers["degree"]
    there = jacobian_at(data["polynomials"], (0,) * n).rank() < r  # the point 0
    least = max(0, n - (n - r + 1) * (N - r + 1)) if there else -1
    between(least, "the dimension of the locus", dim, n - 1 if answer.problem.is_exact else n)
    between(n - dim, "the codimension", integers["codimension"], n - dim)
    fault = f"the degree of the locus is {degree}, and its dimension {dim}"
    demand(degree >= 0 and (degree > 0) == (dim >= 0), fault)


CRITICAL = model_task(
    "critical-locus",
    "the critical points",
    summary="where the Jacobian of its parametrization has a smaller rank than elsewhere",
    title="Critical points of the parametrization of {M}",
    results=(
        Printed("rank", "rank of the Jacobian at a random point"),
        Printed("dimension", "dimension of the set where it is smaller; -1 if that is empty"),
        Printed("degree", "its degree, with multiplicities"),
        Printed("codimension", "its codimension in the space of parameters"),
    ),
    data=_critical_data,
    seeded=True,
    parts=(Source("dimension and degree of the locus", ENGINE), Source("the map and its rank", "native")),
    facts=_facts_of_critical_locus,
    check=_check_critical_locus,
)
