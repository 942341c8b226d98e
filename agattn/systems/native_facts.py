"""What is known natively of an answer before an engine is asked: bounds of its integers, by their names.

A native fact is an exact computation of ours, or a theorem with a proof on the pages. It wins over an
engine's word, always: an answer that contradicts one is refused whole, whatever stands beside it. Where
nothing is known natively, no fact is given, and an answer is worth what its engine is worth.

>>> from agattn import SingleLayer
>>> from agattn.systems.catalogue import build
>>> facts = native_facts(build("implicit-ideal", SingleLayer(3, 1, 1)))
>>> [(name, fact.low, fact.high) for name, fact in facts.items()]
[('prime', 1, 1), ('dimension', 7, 7), ('degree', 45, 45)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from math import comb, inf
from typing import NamedTuple, cast

from agattn.algebra.echelon import kernel_basis, rational_matrix
from agattn.algebra.polynomial import jacobian_at
from agattn.algebra.rank import proved_rank
from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.errors import TooLargeError
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.ideal.hilbert import double_locus_bound, double_locus_bound_is_sharp
from agattn.geometry.ideal.ideal import DegreePiece, compute_ideal, gradient_rank
from agattn.geometry.ideal.model_ideal import compute_model_ideal
from agattn.geometry.identifiability.preimages import kernel_of_differential, preimages
from agattn.geometry.learning_coefficients.normal_form import normal_form
from agattn.geometry.strata.critical import criticality
from agattn.geometry.strata.strata import Stratum, image_dimension, strata
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.geometry.variety.coordinates import coefficients, coordinates, differential
from agattn.geometry.variety.degree import expected_degree
from agattn.geometry.variety.determinantal import tangent_space_equations
from agattn.geometry.variety.rank_one_locus import closure_degree
from agattn.systems.deep_tasks import limit_ranks, weights_ring, zero_sets
from agattn.systems.problem import Point, Problem

#: In these degrees equations are counted natively at once; of models where they have so few monomials.
DEGREES = 4
_MONOMIALS = 2_000
#: For d = 2 the Hilbert function is proved at once up to this degree.
_TWO_ROWS = 8


class Fact(NamedTuple):
    """An integer of an answer is from ``low`` to ``high``; ``what`` says in words what the integer is."""

    low: int
    high: float
    what: str


Facts = Iterator[tuple[str, Fact]]


def native_facts(problem: Problem) -> dict[str, Fact]:
    """What is known natively of the integers that answer a problem, by their names.

    Modulo a prime a rank may be smaller than over ℚ, and there may be more equations; facts are only those
    that hold modulo the problem's prime as well.
    """
    facts = {"prime": Fact(1, 1, "primality of the ideal of an image")}
    if of := _FACTS.get(problem.form):
        facts.update(of(problem))
    return facts


def is_exact(problem: Problem) -> bool:
    """Whether ranks at rational points are those over ℚ; modulo a prime they may be smaller."""
    return not problem.characteristic


def _at(point: Point, name: str, what: str, low: int, high: float) -> tuple[str, Fact]:
    return f"{name}@{point.label}", Fact(low, high, f"{what} at {point.label}")


# The variety ------------------------------------------------------------------------------------------------


def bounds_of_dimension(architecture: Architecture) -> tuple[int, int]:
    """Bounds of dim M̄ from both sides; they meet for all layers of moderate size."""
    found = dimension(architecture, force=True)
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
        return compute_ideal(layer, min(last, DEGREES)).degrees if last else ()
    except TooLargeError:
        return ()


def known_degrees_of_model(problem: Problem, last: int) -> tuple[DegreePiece, ...]:
    """The degrees of the ideal of a model, as far as they have few monomials."""
    size = len(problem.data["polynomials"]) + (not problem.data["cone"])
    few = [n for n in range(1, min(last, DEGREES) + 1) if comb(size + n - 1, n) <= _MONOMIALS]
    if not few:
        return ()
    found = compute_model_ideal(coefficient_map(problem.architecture, inf), few[-1])
    return found.degrees if found.affine != problem.data["cone"] else ()


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


def _dimension(problem: Problem, name: str = "dimension") -> Facts:
    yield name, Fact(*bounds_of_dimension(problem.architecture), f"the {name}")


def _ideal(problem: Problem) -> Facts:
    yield from _dimension(problem)
    if (degree := degree_of_closure(problem.layer)) is not None:
        yield "degree", Fact(degree, degree, "the degree")


def _values(problem: Problem, bounds: Mapping[int, tuple[int, int]]) -> Facts:
    last = problem.data["max_degree"]
    yield "values", Fact(last, last, "the number of values")
    for n in range(1, last + 1):
        if n in bounds:
            low, high = bounds[n]
            yield f"value@{n}", Fact(low if is_exact(problem) else 1, high, f"the value in degree {n}")


def _hilbert_function(problem: Problem) -> Facts:
    yield from _values(problem, hilbert_bounds(problem.layer, problem.data["max_degree"]))


def _complete_ideal(problem: Problem) -> Facts:
    """Of an ideal J that the equations up to a degree generate, a part of that of M̄.

    Up to this degree both are the same; modulo a prime equations may become dependent.
    """
    layer = problem.layer
    yield "prime", Fact(0, 1, "primality")
    yield "dimension", Fact(bounds_of_dimension(layer)[0], layer.ambient_dimension, "the dimension")
    yield "degree", Fact(1, inf, "the degree")
    for result in problem.results:
        kind, _, degree = result.name.partition("-")
        if kind == "hilbert":
            n = int(degree)
            yield result.name, Fact(*_generated(problem, n), f"the value in degree {n}")


def _generated(problem: Problem, n: int) -> tuple[int, int]:
    """Bounds of the Hilbert function in degree n of what the problem's equations generate."""
    layer, values, exact = problem.layer, problem.data["hilbert_function"], is_exact(problem)
    size = comb(layer.ambient_dimension + n - 1, n)
    if n < len(values):
        return values[n], values[n] if exact else size
    return hilbert_bounds(layer, n)[n][0] if exact else 1, size


def _rank_one_locus(problem: Problem) -> Facts:
    dim, degree = image_dimension(problem.layer, Stratum(1, 1, 2)), closure_degree(problem.layer)
    yield "dimension", Fact(dim, dim, "the dimension")
    yield "degree", Fact(degree, degree, "the degree")
    yield "failures", Fact(0, 0, "the number of equations that do not vanish")


# At points --------------------------------------------------------------------------------------------------


def differential_rank(layer: SingleLayer, point: Point) -> int:
    """The rank of (A, V) ↦ φ on the Zariski tangent space of the matrices of rank at most α."""
    matrix, width = differential(point.A, point.V), len(point.V) * layer.d
    if not (equations := tangent_space_equations(point.A, layer.alpha)).nrows():
        return proved_rank(matrix)
    directions = [[*v, *[0] * width] for v in kernel_basis(equations)]
    units = [[0] * layer.d**2 + [int(n == j) for j in range(width)] for n in range(width)]
    rows = rational_matrix([*directions, *units], layer.d**2 + width)
    return proved_rank(rows * matrix.transpose())


def bounds_of_tangent_space(problem: Problem, point: Point) -> tuple[int, int]:
    """Bounds of the dimension of the tangent space of M̄ at a point, over the field of the problem."""
    layer = problem.layer
    if not is_exact(problem):
        return 0, layer.ambient_dimension
    if point.ranks is None:
        return differential_rank(layer, point), layer.ambient_dimension
    bounds = tangent_bounds(layer, point.ranks)
    return bounds.lower, bounds.upper


def _singular_locus(problem: Problem) -> Facts:
    layer, size = problem.layer, problem.layer.ambient_dimension
    yield from _dimension(problem)
    least = bounds_of_dimension(layer)[0]
    for point in problem.points:
        low, high = bounds_of_tangent_space(problem, point)
        what = "the rank of the Jacobian"
        yield _at(point, "jacobian-rank", what, size - high, size - max(least, low))
    if is_exact(problem):
        known = {stratum: tangent_bounds(layer, stratum).singular for stratum in strata(layer)}
        if None not in known.values():
            locus = max((image_dimension(layer, s) for s, singular in known.items() if singular), default=-1)
            yield "locus-dimension", Fact(locus, locus, "the dimension of the singular locus")


def _critical_locus(problem: Problem) -> Facts:
    layer = problem.layer
    for point in problem.points:
        kernel = len(kernel_of_differential(point.A, point.V))
        high = kernel if is_exact(problem) else layer.d * (layer.d + layer.d_out)
        yield _at(point, "kernel-dimension", "the dimension of the kernel", kernel, high)
        # (A, −V) is in both, and can be added to what is; and the cone has codimension (d − α)² at most.
        critical = criticality(layer, point.A, point.V).critical if is_exact(problem) else None
        scaled = any(map(any, (*point.A, *point.V)))
        least = max(2 if critical and scaled else 1, kernel - (layer.d - layer.alpha) ** 2)
        most = 1 if critical is False else high
        yield _at(point, "cone-dimension", "the dimension in the tangent cone", least, most)


def _fiber(problem: Problem) -> Facts:
    """The preimages of points, by unique factorization of quadratic forms; modulo a prime some may coincide.

    An engine counts those on l = l(A), which are all up to scaling if none of them lies on l = 0.
    """
    layer = problem.layer
    for point in problem.points if is_exact(problem) else ():
        found = preimages(layer, list(coefficients(layer, point.A, point.V)))
        if len(found.points) < found.number:
            continue
        escapes = int(any(not _form(component.A.tolist()) for component in found.points))
        yield _at(point, "escapes", "whether a preimage lies at infinity", escapes, escapes)
        if escapes:
            continue
        number, lengths = found.number, [component.length for component in found.points]
        yield _at(point, "points", "the number of preimages", number, number)
        low = sum(length or 1 for length in lengths)
        yield _at(point, "length", "the length of the fiber", low, inf if None in lengths else low)


def _form(A: list[list[int]]) -> int:
    """The linear form l of A by which engines slice fibers."""
    return sum(n * x for n, x in enumerate((x for row in A for x in row), 1))


def _tangents(problem: Problem) -> Facts:
    layer, equations = problem.layer, problem.data["equations"]
    yield "equations", Fact(len(equations), len(equations), "the number of equations")
    yield "failures", Fact(0, 0, "the number of equations and preimages that are none")
    forms = [Equation.from_polynomial(f) for f in equations]
    for point in problem.points:
        values = coefficients(layer, point.A, point.V)
        place = {name: value for name, value in zip(coordinates(layer), values, strict=True) if value}
        for name, what, rank in (
            ("differential-rank", "the rank of the differential", differential_rank(layer, point)),
            ("equation-rank", "the rank of the gradients", gradient_rank(forms, place, 0)),
        ):
            yield _at(point, name, what, rank if is_exact(problem) else 0, rank)
        low, high = bounds_of_tangent_space(problem, point)
        # The engine's curves are the arcs that span what is known from below.
        curves = low if point.ranks is not None else 0
        yield _at(point, "curve-rank", "the rank of the curves", curves, high)


def _tangent_cones(problem: Problem) -> Facts:
    """Tangent cones have the dimension of M̄, and multiplicity 1 where it is smooth; at 0 M̄ is its own."""
    layer = problem.layer
    low, high = bounds_of_dimension(layer)
    for point in problem.points:
        yield _at(point, "dimension", "the dimension", low, high)
        least, most = bounds_of_tangent_space(problem, point)
        yield _at(point, "span", "the dimension of the span", low, most)
        # A local ring of an irreducible variety has multiplicity 1 exactly if it is regular (Nagata).
        multiplicity: tuple[int, float] = (2 if least > high else 1), (1 if most == low else inf)
        if point.ranks is not None and point.ranks.is_zero and (degree := degree_of_closure(layer)):
            multiplicity = degree, degree
        yield _at(point, "multiplicity", "the multiplicity", *multiplicity)


def _normal_forms(problem: Problem) -> Facts:
    """Both inclusions follow from exact identities, which hold modulo any prime p > 2 as well."""
    for point, form in zip(problem.points, problem.data["forms"], strict=True):
        assert point.ranks is not None
        if not normal_form(problem.layer, point.ranks, form.rank_k, form.rank_q).flaw():
            for name in ("inside", "back"):
                yield _at(point, name, name, 1, 1)


# Deep networks ----------------------------------------------------------------------------------------------


def _network(problem: Problem) -> DeepNetwork:
    return cast(DeepNetwork, problem.architecture)


def _deep_fiber(problem: Problem) -> Facts:
    """In all charts both controls have their known preimages."""
    network, charts = _network(problem), len(problem.data["charts"])
    size = len(weights_ring(network).gens)
    yield "charts", Fact(charts, charts, "the number of charts")
    # Over the second control M_l is determined up to a skew-symmetric matrix at best.
    least = {"limit": -1, "point": 0, "rank-one": comb(network.dims[0], 2)}
    for name, low in least.items():
        for i in range(1, charts + 1):
            found = f"{name}-dimension@{i}"
            yield found, Fact(low, size - network.layers, f"the value of {found}")


def _deep_zeros(problem: Problem) -> Facts:
    most = max(zeros.dimension for zeros in zero_sets(_network(problem), problem.characteristic))
    yield "dimension", Fact(most, len(weights_ring(_network(problem)).gens), "the dimension")


def _deep_limit(problem: Problem) -> Facts:
    """Ranks of differentials against those modulo another prime, and against the count of symmetries.

    A limit does not change with the skew-symmetric part of P, if k aᵀ + b qᵀ is added to N, or if the
    matrices are rescaled, which leaves limits one dimension less than functions.
    """
    network = _network(problem)
    low = limit_ranks(network, problem.data) if is_exact(problem) else (0, 0)
    most = network_bound(network).value
    for name, least, high in (("limit-rank", low[0], most - 1), ("network-rank", low[1], most)):
        yield name, Fact(least, high, f"the {name}")


# Any polynomial architecture --------------------------------------------------------------------------------


def _model_ideal(problem: Problem) -> Facts:
    low, high = bounds_of_dimension(problem.architecture)
    yield "dimension", Fact(low if is_exact(problem) else 0, high, "the dimension")
    if (last := problem.data.get("max_degree")) is not None:
        yield "max-degree", Fact(last, last, "the last degree")


def _model_hilbert_function(problem: Problem) -> Facts:
    known = known_degrees_of_model(problem, problem.data["max_degree"])
    yield from _values(problem, {piece.degree: (piece.hilbert_function,) * 2 for piece in known})


def _model_fiber(problem: Problem) -> Facts:
    """Each component of a fiber has at least the dimension of a general one."""
    n, polynomials = problem.architecture.parameters, problem.data["polynomials"]
    tangent = n - int(jacobian_at(polynomials, problem.data["point"]).rank())
    exact = is_exact(problem)
    high = tangent if exact else n
    yield "tangent-dimension", Fact(tangent, high, "the dimension of the tangent space")
    least = n - bounds_of_dimension(problem.architecture)[1] if exact else n - len(polynomials)
    yield "dimension", Fact(max(least, 0), n - 1 if exact else n, "the dimension of the fiber")


def _model_critical(problem: Problem) -> Facts:
    rank = problem.data["rank"]
    yield "rank", Fact(rank if is_exact(problem) else 0, rank, "the rank of the Jacobian")


_FACTS: Mapping[str, Callable[[Problem], Facts]] = {
    "implicit-ideal": _ideal,
    "rank-one-locus": _rank_one_locus,
    "hilbert-function": _hilbert_function,
    "complete-ideal": _complete_ideal,
    "singular-locus": _singular_locus,
    "critical-locus": _critical_locus,
    "fiber": _fiber,
    "strata-tangents": _tangents,
    "tangent-cone": _tangent_cones,
    "rlct-normal-form": _normal_forms,
    "deep-fiber": _deep_fiber,
    "deep-base-locus": _deep_zeros,
    "deep-limit": _deep_limit,
    "model-implicit-ideal": _model_ideal,
    "model-hilbert-function": _model_hilbert_function,
    "model-fiber": _model_fiber,
    "model-critical-locus": _model_critical,
}
