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

from collections.abc import Mapping
from fractions import Fraction
from math import comb, inf, prod
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from agattn.algebra.gradings import positive_grading
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable, jacobian_at
from agattn.architectures import Architecture
from agattn.errors import InputError, TooLargeError, UndecidedError
from agattn.evidence import Source
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.identifiability.families import ExactWeights
from agattn.geometry.variety.coefficient_map import CoefficientMap, coefficient_map
from agattn.heads.weight_files import WeightFile
from agattn.systems.layer_tasks import MAX_ELIMINATION_COORDINATES, MAX_MINORS, max_degree
from agattn.systems.problem import Printed
from agattn.systems.task import ENGINE, Task

# Before like terms are collected, which leaves a hundredth part: a script has those written out.
MAX_TERMS = 1_000_000
# Fibers and Jacobians are of so many equations.
MAX_COORDINATES = 500
# At so many random points the Jacobian is looked at for one where its rank is the generic one.
_POINTS = 20

Given = Mapping[str, Any]


class Parameter(NamedTuple):
    """An array of parameters, as a script has it."""

    name: str
    shape: tuple[int, ...]
    first: Variable
    last: Variable


def _mapped(architecture: Architecture, force: bool) -> CoefficientMap:
    try:
        return coefficient_map(architecture, inf if force else MAX_TERMS)
    except TooLargeError as error:
        raise TooLargeError(f"{error}. Use --force to write it all the same") from None


def _map(architecture: Architecture, given: Given, limit: int = MAX_COORDINATES) -> dict[str, Any]:
    """The parameters and the coordinates, with their gradings.

    ``weights`` are positive degrees of the parameters under which all coordinates are homogeneous, of one
    degree if that can be, and ``degrees`` those of the coordinates; there are none of either where there are
    no such degrees.
    """
    force = given["force"]
    found = _mapped(architecture, force)
    if (size := len(found.polynomials)) > limit and not force:
        raise TooLargeError(
            f"{architecture} is a system in {size} coordinates; the limit is {limit}. Use --force to write it"
            " all the same"
        )
    if all(f.degree() < 1 for f in found.polynomials):
        raise InputError(f"{architecture} is constant in its parameters; there is nothing to ask an engine")
    variables = [v if v.indices else Variable(v.letter, (1,)) for v in found.ring.variables]
    ring = PolynomialRing(variables)
    polynomials = tuple(ring.from_terms(f.terms) for f in found.polynomials)
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
        "coordinates": tuple(map(str, found.coordinates)),
        "weights": weights,
        "degrees": degrees,
        "cone": len(set(degrees)) == 1,
    }


def _degree(f: Polynomial, weights: tuple[int, ...]) -> int:
    """The degree of a homogeneous polynomial; −1 for 0, which is of every degree."""
    return max((sum(map(mul, weights, exponents)) for exponents in f.terms), default=-1)


def coordinate_ring(architecture: Architecture, data: Given) -> PolynomialRing:
    """The ring of the y_1, ..., y_N."""
    return PolynomialRing([Variable("y", (k + 1,)) for k in range(len(data["polynomials"]))])


def _proved_dimension(architecture: Architecture, seed: int) -> int:
    """dim M̄ where it is proved.

    Raises:
        UndecidedError: if the bounds do not meet.
    """
    found = dimension(architecture, seed, force=True)
    if found.lower_bound < found.upper_bound:
        raise UndecidedError(f"the dimension is from {found.lower_bound} to {found.upper_bound}")
    return found.lower_bound


# The ideal --------------------------------------------------------------------------------------------------


def _ideal_data(architecture: Architecture, given: Given) -> Given:
    data = _map(architecture, given, MAX_ELIMINATION_COORDINATES)
    if (last := given.get("max_degree")) is None:
        return data | {"whole": True} | ({"prime": True} if given.get("prime") else {})
    if given.get("prime"):
        raise InputError("--prime is about the whole ideal, and --max-degree asks for a part; give one")
    if last < 1:
        raise InputError(f"the largest degree is {last}; it must be at least 1")
    if not data["weights"]:
        raise InputError(
            f"no positive degrees of the parameters make {architecture} homogeneous, so that no degree is"
            " complete before all are; leave out --max-degree"
        )
    return data | {"max_degree": last, "bound": last * max(data["degrees"]), "to": f" to degree {last}"}


IDEAL: Task[Any] = Task(
    "implicit-ideal", "the ideal", cast(Any, object), _proved_dimension, template="model-implicit-ideal",
    summary="equations, dimension and degree of its neuromanifold; to --max-degree, some equations",
    title="Equations of the neuromanifold of {M}{to}, by elimination",
    results=(
        Printed("dimension", "dimension of the Zariski closure", where="whole"),
        Printed("degree", "degree", where="whole"),
        Printed("prime", "1 if the ideal is prime, else 0", where="prime"),
        Printed("max-degree", "all equations to this degree follow from these", where="max_degree"),
        Printed("generators", "generators, a minimal set if they are homogeneous", ring=coordinate_ring),
    ),
    data=_ideal_data, read=lambda answer: answer.integers["dimension"], takes=("prime", "max_degree"),
    parts=(Source("generators, dimension and degree of the ideal", ENGINE), Source("the map", "native")),
)  # fmt: skip


HILBERT_FUNCTION: Task[Any] = Task(
    "hilbert-function", "the Hilbert function", cast(Any, object), template="model-hilbert-function",
    summary="the same; where its neuromanifold is no cone, of polynomials of degree at most n",
    title="Hilbert function of the neuromanifold of {M}",
    results=(
        Printed("values", "how many values follow, from degree 1"),
        Printed("value", "dimension of the space of functions that forms of degree n, or if it is no cone "
               "polynomials of degree at most n, give on it", per_item="values"),
    ),
    data=lambda architecture, given: {
        **_map(architecture, given, MAX_ELIMINATION_COORDINATES), **max_degree(architecture, given),
    },
    takes=("max_degree",),
)  # fmt: skip


# Fibers -----------------------------------------------------------------------------------------------------


def read_weights(path: Path, architecture: Architecture) -> tuple[Any, ...]:
    """All parameters at a point, in their order: from a file with exact arrays by their names.

    Raises:
        InputError: if the file cannot be read, or does not fit the architecture.
    """
    return ExactWeights(architecture, WeightFile([path])).vector


def _random_weights(architecture: Architecture, seed: int) -> tuple[int, ...]:
    """Integers from −9 to 9, none of them 0."""
    generator = np.random.default_rng(seed)
    size = architecture.parameters
    return tuple((generator.integers(1, 10, size) * generator.choice([-1, 1], size)).tolist())


def _point(architecture: Architecture, given: Given) -> dict[str, Any]:
    """A point by its parameters: the one that was given, or a random one."""
    point = given.get("weights") or _random_weights(architecture, given["seed"])
    return {"point": tuple(map(Fraction, point))}


def _fiber_data(architecture: Architecture, given: Given) -> Given:
    components = {"components": True} if given.get("components") else {}
    return _map(architecture, given) | _point(architecture, given) | components


FIBER: Task[Any] = Task(
    "fiber", "the fiber", cast(Any, object),
    lambda architecture, seed: architecture.parameters - _proved_dimension(architecture, seed),
    template="model-fiber",
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
    data=_fiber_data, read=lambda answer: answer.integers["dimension"],
    takes=("weights", "components", "seed"),
    parts=(Source("dimension and degree of the fiber", ENGINE), Source("the map and the point", "native")),
)  # fmt: skip


# Critical points --------------------------------------------------------------------------------------------


def _critical_data(architecture: Architecture, given: Given) -> Given:
    """The generic rank of the Jacobian, and a point at which it has that rank."""
    data = _map(architecture, given)
    rank = dimension(architecture, given["seed"], force=True).lower_bound
    rows, columns = len(data["polynomials"]), architecture.parameters
    if (minors := comb(rows, rank) * comb(columns, rank)) > MAX_MINORS and not given["force"]:
        raise TooLargeError(
            f"the Jacobian of {architecture}, {rows} × {columns} of rank {rank}, has {minors} minors of that"
            f" size; the limit is {MAX_MINORS}. Use --force to write them all the same"
        )
    for seed in range(given["seed"], given["seed"] + _POINTS):
        point = _point(architecture, {"seed": seed})
        if jacobian_at(data["polynomials"], point["point"]).rank() == rank:
            return data | point | {"rank": rank}
    raise UndecidedError(f"the Jacobian has rank below {rank} at {_POINTS} random points")


CRITICAL: Task[Any] = Task(
    "critical-locus", "the critical points", cast(Any, object), template="model-critical-locus",
    summary="where the Jacobian of its parametrization has a smaller rank than elsewhere",
    title="Critical points of the parametrization of {M}",
    results=(
        Printed("rank", "rank of the Jacobian at a random point"),
        Printed("dimension", "dimension of the set where it is smaller; -1 if that is empty"),
        Printed("degree", "its degree, with multiplicities"),
        Printed("codimension", "its codimension in the space of parameters"),
    ),
    data=_critical_data, takes=("seed",),
    parts=(Source("dimension and degree of the locus", ENGINE), Source("the map and its rank", "native")),
)  # fmt: skip
