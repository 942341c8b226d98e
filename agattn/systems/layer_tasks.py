"""What can be found out about a single layer, by engines and natively."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from math import comb, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from agattn.algebra.characters import Partition, module_dimension
from agattn.algebra.echelon import echelon, fraction, kernel_basis, rational_matrix
from agattn.algebra.graded_ideals import minimal_generators
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable, all_minors, jacobian_at
from agattn.algebra.rank import proved_rank
from agattn.architectures import Architecture, SingleLayer
from agattn.errors import EngineError, InputError, TooLargeError, TranscriptError, UndecidedError
from agattn.evidence import Source
from agattn.geometry.identifiability.fibers import kernel_of_differential, preimages
from agattn.geometry.strata.critical import criticality, stratum_criticality
from agattn.geometry.strata.strata import ZERO, Stratum, image_dimension, strata, stratum_fiber
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.geometry.variety.coordinates import (
    coefficients,
    coordinate_ring,
    coordinates,
    differential,
    generic_matrices,
    parametrization,
)
from agattn.geometry.variety.degree import expected_degree
from agattn.geometry.variety.determinantal import tangent_space_equations
from agattn.geometry.variety.rank_one_locus import closure_degree, numbers_of_generators
from agattn.systems.consistency import (
    NoChecks,
    between,
    check_generators,
    check_homogeneous,
    check_values,
    check_variety,
    demand,
    rank_of_gradients,
)
from agattn.systems.explicit import graph
from agattn.systems.native_facts import (
    at_point,
    bounds_of_dimension,
    degree_of_closure,
    facts_of_dimension,
    facts_of_values,
    hilbert_bounds,
    known_generators,
)
from agattn.systems.points import strata_points, zero_points
from agattn.systems.problem import (
    ENGINE,
    Answer,
    Bases,
    Explicit,
    ExplicitSystem,
    Fact,
    Facts,
    Point,
    Polynomials,
    Printed,
    Problem,
    Task,
    Values,
)
from agattn.systems.sizes import MAX_LINEAR_COORDINATES

if TYPE_CHECKING:
    from agattn.geometry.ideal.ideal import Ideal
    from agattn.geometry.learning_coefficients.normal_form import NormalForm

# Beyond this a script is refused unless forced: elimination in more coordinates has no hope of finishing.
MAX_ELIMINATION_COORDINATES = 60
#: Equations for the strata are sought for at most this many coordinates.
MAX_EQUATION_COORDINATES = 160
# Elimination finishes in seconds up to about this degree, and beyond it in hours or never.
MAX_ELIMINATION_DEGREE = 60
MAX_ONE_TOKEN_COORDINATES = 12
MAX_MINORS = 5000
# Engines count a basis of each degree: in 6 coordinates thousands of millions beyond this.
MAX_HILBERT_DEGREE = 1000

Given = Mapping[str, Any]


def ring_of_coordinates(layer: SingleLayer, data: Given) -> PolynomialRing:
    """The ring of the coordinates y of the neuromanifold."""
    return coordinate_ring(layer)


def points_given(layer: SingleLayer, given: Given) -> Given:
    """The points given, or one representative of each stratum."""
    return {"points": given.get("points") or strata_points(layer)}


def _too_large(limit: int, layer: SingleLayer) -> str:
    if (size := layer.ambient_dimension) <= limit:
        return ""
    return f"d = {layer.d}, d' = {layer.d_out} is a system in {size} coordinates; the limit is {limit}"


ELIMINATION = partial(_too_large, MAX_ELIMINATION_COORDINATES)
LINEAR = partial(_too_large, MAX_LINEAR_COORDINATES)


def _needs_two_tokens(layer: SingleLayer) -> str:
    if layer.has_orbits:
        return ""
    return "at t = 1 a function depends on V and A + Aᵀ alone, which have other strata"


_ORBITS = Source("one pair (A, V) of each orbit", "native")


# The ideal --------------------------------------------------------------------------------------------------


def _read_ideal(answer: Answer) -> Ideal:
    from agattn.geometry.ideal.ideal import Ideal

    layer, points = answer.problem.layer, {}
    for point in strata_points(layer) if layer.has_orbits else ():
        pairs = zip(coordinates(layer), coefficients(layer, point.A, point.V), strict=True)
        points[point.ranks] = {index: value for index, value in pairs if value}
    return Ideal.eliminated(
        layer,
        answer.integers["dimension"],
        answer.integers["degree"],
        answer.polynomials["generators"],
        characteristic=answer.problem.characteristic,
        points=points,
    )


def _elimination_is_hopeless(layer: SingleLayer) -> str:
    if not layer.has_orbits:
        return "" if layer.ambient_dimension <= MAX_ONE_TOKEN_COORDINATES else "elimination was not tried"
    if (degree := expected_degree(layer)) <= MAX_ELIMINATION_DEGREE:
        return ""
    return (
        f"elimination was not tried: {layer.ambient_dimension} coordinates and an expected degree of "
        f"{degree} are beyond what finishes (--eliminate tries it all the same)"
    )


def _facts_of_ideal(problem: Problem) -> Facts:
    yield "prime", Fact(1, 1, "primality of the ideal of an image")
    yield from facts_of_dimension(problem)
    if (degree := degree_of_closure(problem.layer)) is not None:
        yield "degree", Fact(degree, degree, "the degree")


def _random_points(layer: SingleLayer) -> Iterator[list[Any]]:
    """Three points of M with integer coordinates."""
    random = np.random.default_rng(0)
    rows = (layer.alpha, layer.alpha, layer.d_out)
    for _ in range(3):
        K, Q, V = (random.integers(-9, 10, (n, layer.d)).astype(object) for n in rows)
        yield list(coefficients(layer, K.T @ Q, V))


def _check_ideal(answer: Answer) -> None:
    layer = answer.problem.layer
    check_homogeneous(answer.polynomials["generators"])
    check_variety(answer, rank_of_gradients(answer, _random_points(layer), layer), layer.ambient_dimension)
    check_generators(answer.polynomials["generators"], known_generators(answer.problem))


def _graph(problem: Problem) -> Iterator[ExplicitSystem]:
    """The graph of φ where V begins with 1; A is a matrix of variables, or KᵀQ where its rank is bounded.

    As (sA, V/s) has the same image as (A, V), the image of these is dense.
    """
    layer, p = problem.layer, problem.characteristic
    d, r = layer.d, layer.a
    if r >= d:
        A, V = generic_matrices({"a": (d, d), "v": (layer.d_out, d)}, p)
    else:
        K, Q, V = generic_matrices({"k": (r, d), "q": (r, d), "v": (layer.d_out, d)}, p)
        A = K.T @ Q
    V[0, 0] = V[0, 0].ring.one()
    yield graph(list(coefficients(layer, A, V)), coordinate_ring(layer).variables, p)


def ideal_of_basis(found: Bases, problem: Problem) -> Values:
    """Dimension, degree and generators of the ideal of an image, from a Gröbner basis of it."""
    basis = found["graph"]
    integers = {"dimension": basis.dimension, "degree": basis.degree}
    return integers, {"generators": minimal_generators(basis.polynomials)}


IDEAL = Task(
    "implicit-ideal",
    "the ideal",
    SingleLayer,
    infeasible=_elimination_is_hopeless,
    summary="equations, dimension and degree of the neuromanifold: the ideal of its Zariski closure",
    title="Equations of the neuromanifold {M}, by elimination",
    reference="Section 3.2 and Proposition A.5",
    results=(
        Printed("dimension", "dimension of the affine cone"),
        Printed("degree", "degree"),
        Printed("prime", "1 if the ideal is prime, else 0", where="prime"),
        Printed("generators", "minimal generators", ring=ring_of_coordinates),
    ),
    data=lambda layer, given: {"prime": True} if given.get("prime") else {},
    read=_read_ideal,
    too_large=ELIMINATION,
    takes=("prime",),
    parts=(
        Source("generators, dimension and degree of the ideal", ENGINE),
        Source("tangent spaces, by the gradients of the generators", "native"),
    ),
    facts=_facts_of_ideal,
    check=_check_ideal,
    explicit=Explicit(_graph, ideal_of_basis),
)


def max_degree(architecture: Architecture, given: Given) -> Given:
    """The last degree of a Hilbert function."""
    last = given.get("max_degree", 4)
    if last < 0:
        raise InputError(f"the largest degree is {last}; it must be at least 0")
    if last > MAX_HILBERT_DEGREE:
        raise TooLargeError(f"the largest degree is {last}; the limit is {MAX_HILBERT_DEGREE}")
    return {"max_degree": last}


def _facts_of_values(problem: Problem) -> Facts:
    yield from facts_of_values(problem, hilbert_bounds(problem.layer, problem.data["max_degree"]))


def values_of_basis(found: Bases, problem: Problem) -> Values:
    """The values of the Hilbert function of an image, from a Gröbner basis of its ideal."""
    last = problem.data["max_degree"]
    values = found["graph"].hilbert_series.values(last)
    if not problem.data.get("cone", True):
        values = tuple(itertools.accumulate(values))
    return {"values": last} | {f"value@{n}": values[n] for n in range(1, last + 1)}, {}


HILBERT_FUNCTION = Task(
    "hilbert-function",
    "the Hilbert function",
    SingleLayer,
    summary="Hilbert function of the neuromanifold, up to --max-degree",
    title="Hilbert function of the neuromanifold {M}",
    reference="Section 3.2",
    results=(
        Printed("values", "how many values follow, from degree 1"),
        Printed("value", "dimension of degree n of the coordinate ring", per_item="values"),
    ),
    data=max_degree,
    too_large=ELIMINATION,
    takes=("max_degree",),
    facts=_facts_of_values,
    check=check_values,
    explicit=Explicit(_graph, values_of_basis),
)


def _facts_of_completeness(problem: Problem) -> Facts:
    """Of an ideal J that the equations up to a degree generate, a part of that of M̄.

    Up to this degree both are the same; modulo a prime equations may become dependent.
    """
    layer = problem.layer
    yield "prime", Fact(0, 1, "primality")
    yield "regular", Fact(0, 1, "whether an element is regular")
    yield "dimension", Fact(bounds_of_dimension(layer)[0], layer.ambient_dimension, "the dimension")
    yield "degree", Fact(1, inf, "the degree")
    for result in problem.results:
        kind, _, degree = result.name.partition("-")
        if kind == "hilbert":
            n = int(degree)
            yield result.name, Fact(*_generated(problem, n), f"the value in degree {n}")


def _generated(problem: Problem, n: int) -> tuple[int, int]:
    """Bounds of the Hilbert function in degree n of what the problem's equations generate."""
    layer, values, exact = problem.layer, problem.data["hilbert_function"], problem.is_exact
    size = comb(layer.ambient_dimension + n - 1, n)
    if n < len(values):
        return values[n], values[n] if exact else size
    return hilbert_bounds(layer, n)[n][0] if exact else 1, size


COMPLETE_IDEAL = Task(
    "complete-ideal",
    "whether equations are all",
    SingleLayer,
    title="Do the equations found generate the whole ideal?",
    reference="Proposition A.5",
    facts=_facts_of_completeness,
    check=NoChecks("each result is an integer of its own, and its facts bound it"),
)


def minors_are_feasible(layer: SingleLayer) -> bool:
    """Whether the maximal minors of the Jacobian are few: so far for N = 6 and few equations only."""
    return comb(layer.ambient_dimension, layer.ambient_dimension - layer.expected_dimension) <= 20


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
    if not problem.is_exact:
        return 0, layer.ambient_dimension
    if point.ranks is None:
        return differential_rank(layer, point), layer.ambient_dimension
    bounds = tangent_bounds(layer, point.ranks)
    return bounds.lower, bounds.upper


def _facts_of_singular_locus(problem: Problem) -> Facts:
    layer, size = problem.layer, problem.layer.ambient_dimension
    yield from facts_of_dimension(problem)
    least = bounds_of_dimension(layer)[0]
    for point in problem.points:
        low, high = bounds_of_tangent_space(problem, point)
        what = "the rank of the Jacobian"
        yield at_point(point, "jacobian-rank", what, size - high, size - max(least, low))
    if problem.is_exact:
        known = {stratum: tangent_bounds(layer, stratum).singular for stratum in strata(layer)}
        if None not in known.values():
            locus = max((image_dimension(layer, s) for s, singular in known.items() if singular), default=-1)
            yield "locus-dimension", Fact(locus, locus, "the dimension of the singular locus")


def _check_singular_locus(answer: Answer) -> None:
    layer, integers = answer.problem.layer, answer.integers
    dim, size, points = integers["dimension"], layer.ambient_dimension, answer.problem.points
    for point in points:
        rank = integers[f"jacobian-rank@{point.label}"]
        between(0, f"the rank of the Jacobian at {point.label}", rank, size - dim)
    ranks = answer.by_ranks("jacobian-rank")
    if "locus-dimension" not in integers or len(ranks) < len(points):
        return
    # The points stand for all strata, which are orbits: the locus is the union of closures of some.
    expected = max((image_dimension(layer, s) for s, rank in ranks.items() if rank < size - dim), default=-1)
    between(expected, "the dimension of the singular locus", integers["locus-dimension"], expected)
    degree = integers["locus-degree"]
    demand(expected < 0 or degree > 0, f"the degree of the singular locus is {degree}")
    demand(expected != 0 or degree == 1, f"the locus is a point, and its degree {degree}")


SINGULAR_LOCUS = Task(
    "singular-locus",
    "the singular points",
    SingleLayer,
    summary="where the Jacobian of the equations drops rank",
    title="Singular points of the neuromanifold {M}",
    reference="Theorem 3.4 and Corollary A.4",
    results=(
        Printed("dimension", "dimension of the affine cone"),
        Printed("jacobian-rank", "rank of the Jacobian of the equations", per_point=True),
        Printed("locus-dimension", "dimension of the singular locus", where="minors"),
        Printed("locus-degree", "degree of the singular locus, reduced", where="minors"),
    ),
    data=lambda layer, given: {**points_given(layer, given), "minors": minors_are_feasible(layer)},
    too_large=ELIMINATION,
    takes=("points",),
    one_token=False,
    facts=_facts_of_singular_locus,
    check=_check_singular_locus,
)


# Critical points --------------------------------------------------------------------------------------------


def _points_and_zeros(layer: SingleLayer, given: Given) -> Given:
    return {"points": given.get("points") or (*zero_points(layer), *strata_points(layer, zero=False))}


def _read_critical(answer: Answer) -> dict[Stratum, bool]:
    kernels = answer.by_ranks("kernel-dimension")
    found: dict[Stratum, bool] = {}
    for ranks, cone in answer.by_ranks("cone-dimension").items():
        if kernels[ranks] > 1 == cone:
            raise EngineError(
                f"at {ranks} the kernel meets the tangent cone in lines, which were not counted"
            )
        # The point 0 is critical only if all pairs (A, V) over it are.
        stratum = ZERO if 0 in (ranks.r_v, ranks.r_a) else ranks
        found[stratum] = found.get(stratum, True) and cone > 1
    return found


def _critical_natively(layer: SingleLayer) -> dict[Stratum, bool]:
    found = {}
    for stratum in strata(layer):
        answer = stratum_criticality(layer, stratum)
        if answer.critical is None:
            raise UndecidedError(f"{stratum}: {answer.how}")
        found[stratum] = answer.critical
    return found


def _facts_of_critical_locus(problem: Problem) -> Facts:
    layer = problem.layer
    for point in problem.points:
        kernel = len(kernel_of_differential(point.A, point.V))
        high = kernel if problem.is_exact else layer.d * (layer.d + layer.d_out)
        yield at_point(point, "kernel-dimension", "the dimension of the kernel", kernel, high)
        # (A, −V) is in both, and can be added to what is; and the cone has codimension (d − α)² at most.
        critical = criticality(layer, point.A, point.V).critical if problem.is_exact else None
        scaled = any(map(any, (*point.A, *point.V)))
        least = max(2 if critical and scaled else 1, kernel - (layer.d - layer.alpha) ** 2)
        most = 1 if critical is False else high
        yield at_point(point, "cone-dimension", "the dimension in the tangent cone", least, most)


def _check_critical(answer: Answer) -> None:
    for point in answer.problem.points:
        kernel, cone = answer.at(point.label, "kernel-dimension", "cone-dimension")
        between(1, f"the dimension in the tangent cone at {point.label}", cone, kernel)


CRITICAL = Task(
    "critical-locus",
    "the critical strata",
    SingleLayer,
    _critical_natively,
    infeasible=_needs_two_tokens,
    summary="kernel of the differential, within the tangent cone",
    title="Critical points of (A, V) -> phi for the neuromanifold {M}",
    reference="Lemma A.3",
    results=(
        Printed("kernel-dimension", "dimension of the kernel of the differential", per_point=True),
        Printed("cone-dimension", "dimension of its part in the tangent cone", per_point=True),
    ),
    data=_points_and_zeros,
    read=_read_critical,
    too_large=LINEAR,
    takes=("points",),
    one_token=False,
    parts=(Source("kernels of the differential, within the tangent cone", ENGINE), _ORBITS),
    facts=_facts_of_critical_locus,
    check=_check_critical,
)


# Where φ vanishes -------------------------------------------------------------------------------------------


def _weights(layer: SingleLayer, data: Given) -> PolynomialRing:
    return parametrization(layer)[0].ring


def _read_base_locus(answer: Answer) -> frozenset[str]:
    """The components of {φ = 0}: ``"A = 0"``, ``"V = 0"``, or the equations of anything else."""
    return frozenset(map(_name_component, answer.polynomials.values()))


def _name_component(generators: tuple[Polynomial, ...]) -> str:
    if not generators:
        return "everything"
    ring = generators[0].ring
    found = {f / next(iter(f.terms.values())) for f in generators}
    for letter in "av":
        if found == {gen for gen, v in zip(ring.gens, ring.variables, strict=True) if v.letter == letter}:
            return f"{letter.upper()} = 0"
    return ", ".join(sorted(f.macaulay2() for f in generators)) + " = 0"


def _base_locus_natively(layer: SingleLayer) -> frozenset[str]:
    """φ ≠ 0 on every stratum with A ≠ 0 and V ≠ 0, as the representatives show; so φ = 0 there only."""
    vanishing = (p for p in strata_points(layer, zero=False) if not any(coefficients(layer, p.A, p.V)))
    return frozenset({"A = 0", "V = 0", *(f"the stratum {point.ranks}" for point in vanishing)})


def _check_base_locus(answer: Answer) -> None:
    """The components of {φ = 0} are linear spaces on which φ vanishes, and make up all known zeros.

    Let P be a prime that contains φ, whose coefficients, for t ≥ 2 as for t = 1, are those of products of
    forms in X, a row of V times a form in A. As P is prime, it contains all of one factor; so minimal primes
    are generated by linear forms, and φ cancels when these are put in.

    On the linear space where linear generators are zero, some weights are linear forms in the others.
    """
    layer, p = answer.problem.layer, answer.problem.characteristic
    phi = parametrization(layer, p)
    ring = phi[0].ring
    spaces = []
    for name, generators in answer.polynomials.items():
        linear = [f for f in generators if f.degree() == 1]
        for f in linear:
            demand(not f.constant, f"{f} is not homogeneous, and the zeros of φ are a cone")
        images = list(ring.gens)
        reduced, pivots = echelon(jacobian_at(linear, (0,) * len(ring)))
        for i, pivot in enumerate(pivots):
            row = [int(x) if p else fraction(x) for x in reduced.table()[i]]
            images[pivot] -= sum((g * x for g, x in zip(ring.gens, row, strict=True)), ring.zero())
        if any(f.compose(images) for f in phi):
            raise TranscriptError(f"φ does not vanish on {name}, which was to be a component of its zeros")
        demand(len(linear) == len(generators), f"{name} is smaller than a linear space on which φ vanishes")
        check_generators(generators)
        spaces.append((name, images, linear))
    for name, images, _ in spaces:
        inside = [
            other for other, _, forms in spaces if other != name and not any(f.compose(images) for f in forms)
        ]
        demand(not inside, f"{name} lies in {', '.join(inside)}, so it is no component")
    for letter, others in (("A", "v"), ("V", "a")):
        zero = [
            gen if v.letter == others else ring.zero()
            for gen, v in zip(ring.gens, ring.variables, strict=True)
        ]
        there = any(not any(f.compose(zero) for f in forms) for _, _, forms in spaces)
        demand(there, f"φ = 0 where {letter} = 0, which lies in no component")


BASE_LOCUS = Task(
    "base-locus",
    "the zeros of φ",
    SingleLayer,
    _base_locus_natively,
    infeasible=_needs_two_tokens,
    summary="weights whose function is zero",
    title="The weights (A, V) with phi = 0, for the neuromanifold {M}",
    reference="Theorem 3.2 (ii) and Corollary A.1",
    results=(
        Printed("components", "how many components follow"),
        Printed("component", "a minimal prime", per_item="components", ring=_weights),
    ),
    read=_read_base_locus,
    too_large=LINEAR,
    parts=(Source("components of {φ = 0}", ENGINE, "native"),),
    check=_check_base_locus,
)


# Fibers -----------------------------------------------------------------------------------------------------


class FiberSize(NamedTuple):
    """The points of a fiber of (A, V) ↦ φ up to scaling, and its length where that is known."""

    points: int
    length: int | None


def _nonzero_points(layer: SingleLayer, given: Given) -> Given:
    points = given.get("points") or strata_points(layer, zero=False)
    if not all(any(map(any, point.A)) and any(map(any, point.V)) for point in points):
        raise InputError("the fiber over 0 is the base locus; use the task base-locus")
    return {"points": points}


def _read_fibers(answer: Answer) -> dict[Stratum, FiberSize]:
    points, lengths, escapes = (answer.by_ranks(name) for name in ("points", "length", "escapes"))
    if any(escapes.values()):
        raise EngineError("a preimage lies on the hyperplane at infinity, so the fiber was not counted")
    return {ranks: FiberSize(number, lengths[ranks]) for ranks, number in points.items()}


def _fibers_natively(layer: SingleLayer) -> dict[Stratum, FiberSize]:
    """All preimages, by unique factorization of the quadratic forms y_{c,b}."""
    found = {}
    for stratum in strata(layer)[1:]:
        fiber = stratum_fiber(layer, stratum)
        lengths = [point.length for point in fiber.points if point.length is not None]
        found[stratum] = FiberSize(fiber.number, sum(lengths) if len(lengths) == len(fiber.points) else None)
    return found


def _facts_of_fibers(problem: Problem) -> Facts:
    """The preimages of points, by unique factorization of quadratic forms; modulo a prime some may coincide.

    An engine counts those on l = l(A), which are all up to scaling if none of them lies on l = 0.
    """
    layer = problem.layer
    for point in problem.points if problem.is_exact else ():
        found = preimages(layer, list(coefficients(layer, point.A, point.V)))
        if len(found.points) < found.number:
            continue
        escapes = int(any(not _form(component.A.tolist()) for component in found.points))
        yield at_point(point, "escapes", "whether a preimage lies at infinity", escapes, escapes)
        if escapes:
            continue
        number, lengths = found.number, [component.length for component in found.points]
        yield at_point(point, "points", "the number of preimages", number, number)
        low = sum(length or 1 for length in lengths)
        yield at_point(point, "length", "the length of the fiber", low, inf if None in lengths else low)


def _form(A: list[list[int]]) -> int:
    """The linear form l of A by which engines slice fibers."""
    return sum(n * x for n, x in enumerate((x for row in A for x in row), 1))


def _check_fibers(answer: Answer) -> None:
    for point in answer.problem.points:
        escapes, length, number = answer.at(point.label, "escapes", "length", "points")
        between(0, f"the value of escapes@{point.label}", escapes, 1)
        possible = (0 if escapes else 1) <= number <= length
        demand(possible, f"the fiber at {point.label} cannot have {number} points and length {length}")


def fiber_system(layer: SingleLayer, values: Iterable[Fraction], p: int) -> Polynomials:
    """The ideal of all weights with these coefficients: φ(A, V) − values, and the minors that bound rk A."""
    A, V = generic_matrices({"a": (layer.d, layer.d), "v": (layer.d_out, layer.d)}, p)
    differences = [y - value for y, value in zip(coefficients(layer, A, V), values, strict=True)]
    bounds = all_minors(A.tolist(), layer.a + 1) if layer.a < layer.d else ()
    return (*differences, *bounds)


def _systems_of_fibers(problem: Problem) -> Iterator[ExplicitSystem]:
    """The fibers over the functions of points, on the hyperplane l = 0 and on l = l(A).

    Each consists of curves {(sA, V/s)}. For l = Σ (d(i−1) + b) a_{i,b} the second meets each of them once,
    but for those that lie on l = 0.
    """
    layer = problem.layer
    for point in problem.points:
        equations = fiber_system(layer, coefficients(layer, point.A, point.V), problem.characteristic)
        ring, entries = equations[0].ring, [entry for row in point.A for entry in row]
        form = sum((gen * n for n, gen in enumerate(ring.gens[: len(entries)], 1)), ring.zero())
        value = sum((entry * n for n, entry in enumerate(entries, 1)), Fraction(0))
        yield ExplicitSystem(f"infinity@{point.label}", (*equations, form))
        yield ExplicitSystem(f"fiber@{point.label}", (*equations, form - value), finite=True)


def _fibers_of_bases(found: Bases, problem: Problem) -> Values:
    integers = {}
    for point in problem.points:
        integers[f"escapes@{point.label}"] = int(found[f"infinity@{point.label}"].has_zeros)
        length, number = found[f"fiber@{point.label}"]
        integers |= {f"length@{point.label}": length, f"points@{point.label}": number}
    return integers, {}


FIBERS = Task(
    "fiber",
    "the fibers",
    SingleLayer,
    _fibers_natively,
    infeasible=_needs_two_tokens,
    summary="all weights with the same function, at --point or all strata",
    title="Fibers of (A, V) -> phi up to scaling, for the neuromanifold {M}",
    reference="Theorem 3.2 and Corollary A.2",
    results=(
        Printed("escapes", "1 if a preimage lies on the hyperplane at infinity", per_point=True),
        Printed("length", "preimages up to scaling, with multiplicity", per_point=True),
        Printed("points", "preimages up to scaling", per_point=True),
    ),
    data=_nonzero_points,
    read=_read_fibers,
    too_large=LINEAR,
    takes=("points",),
    one_token=False,
    parts=(Source("numbers of preimages up to scaling", ENGINE), _ORBITS),
    facts=_facts_of_fibers,
    check=_check_fibers,
    explicit=Explicit(_systems_of_fibers, _fibers_of_bases),
)


# Tangent spaces ---------------------------------------------------------------------------------------------


class Tangent(NamedTuple):
    """Bounds on the dimension of a tangent space of M̄, and the rank of the differential of (A, V) ↦ φ."""

    differential_rank: int | None
    lower: int
    upper: int


@lru_cache(maxsize=64)
def gradient_equations(layer: SingleLayer) -> tuple[Polynomial, ...]:
    """Equations of M̄ with independent gradients at the strata where the fiber is not one reduced point.

    Beyond :data:`MAX_EQUATION_COORDINATES` coordinates there are none.

    >>> [f.degree() for f in gradient_equations(SingleLayer(2, 2))]
    [2, 2, 2, 2]
    """
    if layer.ambient_dimension > MAX_EQUATION_COORDINATES:
        return ()
    ring = coordinate_ring(layer)
    equations = (e for stratum in strata(layer) for e in tangent_bounds(layer, stratum).equations)
    return tuple(dict.fromkeys(equation.polynomial(ring).primitive() for equation in equations))


def _read_tangents(answer: Answer) -> dict[Stratum, Tangent]:
    if answer.integers["failures"]:
        raise EngineError("an equation does not hold on the neuromanifold, or a preimage has another image")
    size = answer.problem.layer.ambient_dimension
    names = ("differential-rank", "curve-rank", "equation-rank")
    ranks, lower, gradients = map(answer.by_ranks, names)
    return {s: Tangent(ranks[s], lower[s], size - gradients[s]) for s in ranks}


def _tangents_natively(layer: SingleLayer) -> dict[Stratum, Tangent]:
    bounds = ((stratum, tangent_bounds(layer, stratum)) for stratum in strata(layer))
    return {stratum: Tangent(None, bound.lower, bound.upper) for stratum, bound in bounds}


def _facts_of_tangents(problem: Problem) -> Facts:
    from agattn.geometry.ideal.equations import Equation
    from agattn.geometry.ideal.ideal import gradient_rank

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
            yield at_point(point, name, what, rank if problem.is_exact else 0, rank)
        low, high = bounds_of_tangent_space(problem, point)
        # The engine's curves are the arcs that span what is known from below.
        curves = low if point.ranks is not None else 0
        yield at_point(point, "curve-rank", "the rank of the curves", curves, high)


def _check_tangents(answer: Answer) -> None:
    size = answer.problem.layer.ambient_dimension
    for point in answer.problem.points:
        names = ("differential-rank", "curve-rank", "equation-rank")
        differential, curves, gradients = answer.at(point.label, *names)
        between(differential, f"the rank of the curves at {point.label}", curves, size - gradients)


TANGENTS = Task(
    "strata-tangents",
    "the tangent spaces",
    SingleLayer,
    _tangents_natively,
    infeasible=_needs_two_tokens,
    summary="tangent spaces at the strata: curves from below, equations from above",
    title="Tangent spaces of the neuromanifold {M}, from below and from above",
    reference="Theorem 3.4 and Corollary A.4",
    results=(
        Printed("equations", "equations used for the upper bounds"),
        Printed("failures", "equations that do not vanish on it, and preimages with another phi"),
        Printed("differential-rank", "rank of the differential at (A, V)", per_point=True),
        Printed("curve-rank", "tangent vectors from curves: a lower bound", per_point=True),
        Printed("equation-rank", "independent gradients of equations", per_point=True),
    ),
    data=lambda layer, given: {**points_given(layer, given), "equations": gradient_equations(layer)},
    read=_read_tangents,
    too_large=LINEAR,
    takes=("points",),
    one_token=False,
    parts=(
        Source("ranks of velocities and of gradients", ENGINE),
        Source("equations that bound tangent spaces", "native", ENGINE),
        Source("preimages through which curves run", "native", ENGINE),
        _ORBITS,
    ),
    facts=_facts_of_tangents,
    check=_check_tangents,
)


# The rank of the differential at a random point ------------------------------------------------------------


def _generic_rank(layer: SingleLayer) -> int:
    from agattn.geometry.dimension.dimension import dimension

    return dimension(layer.as_network(), force=True).lower_bound


GENERIC_RANK = Task("generic-rank", "the generic rank", SingleLayer, _generic_rank)


# The Zariski closure of the points with rk A ≤ 1 and rk V ≤ 1 ----------------------------------------------


class Cone(NamedTuple):
    """The dimension of an affine cone, and its degree."""

    dimension: int
    degree: int


def _only_wide(layer: SingleLayer, given: Given) -> Given:
    if layer.d < 2:
        raise InputError("d is 1: the neuromanifold is a linear space and nothing on it is singular")
    return {}


def _read_rank_one_locus(answer: Answer) -> Cone:
    if answer.integers["failures"]:
        raise EngineError("an equation of h ⊗ q ⊗ Q, rank Q ≤ 2, does not vanish there")
    return Cone(answer.integers["dimension"], answer.integers["degree"])


def _too_many_minors(layer: SingleLayer) -> str:
    if layer.d < 2 or not layer.has_orbits:
        return _needs_two_tokens(layer) or "for d = 1 nothing is singular"
    size = layer.ambient_dimension
    minors = (
        comb(layer.d_out, 2) * comb(size // layer.d_out, 2)
        + comb(layer.d, 2) * comb(size // layer.d, 2)
        + comb(layer.d, 3) * comb(layer.d_out * layer.d**2, 3)
    )
    return f"its {minors} minors were not written down" if minors > MAX_MINORS else ""


def _facts_of_rank_one_locus(problem: Problem) -> Facts:
    dim, degree = image_dimension(problem.layer, Stratum(1, 1, 2)), closure_degree(problem.layer)
    yield "dimension", Fact(dim, dim, "the dimension")
    yield "degree", Fact(degree, degree, "the degree")
    yield "failures", Fact(0, 0, "the number of equations that do not vanish")


def _rank_one_points(layer: SingleLayer) -> Iterator[list[Any]]:
    """Three points h ⊗ q ⊗ lm with integer coordinates."""
    random = np.random.default_rng(0)
    for _ in range(3):
        h, q, l, m = (
            random.integers(-9, 10, n).astype(object) for n in (layer.d_out, layer.d, layer.d, layer.d)
        )
        yield [
            h[c - 1] * q[b - 1] * (l[i - 1] * m[k - 1] + (i != k) * l[k - 1] * m[i - 1])
            for c, b, i, k in coordinates(layer)
        ]


def _check_rank_one_locus(answer: Answer) -> None:
    layer = answer.problem.layer
    forms = answer.polynomials["generators"]
    check_homogeneous(forms)
    check_variety(answer, rank_of_gradients(answer, _rank_one_points(layer), layer), layer.ambient_dimension)
    check_generators(forms, numbers_of_generators(layer))


RANK_ONE_LOCUS = Task(
    "rank-one-locus",
    "the closure of the points with rk A, rk V ≤ 1",
    SingleLayer,
    lambda layer: Cone(image_dimension(layer, Stratum(1, 1, 2)), closure_degree(layer)),
    infeasible=_too_many_minors,
    summary="ideal, dimension and degree of the closure of the points with rk A, rk V at most 1",
    title="Zariski closure of the points with rk A, rk V <= 1 in {M}: h (x) q (x) Q with rk Q <= 2",
    reference="Theorem 3.4 and Figure 1",
    results=(
        Printed("dimension", "dimension of the affine cone"),
        Printed("degree", "degree"),
        Printed("failures", "equations that do not vanish on the parametrization"),
        Printed("generators", "minimal generators", ring=ring_of_coordinates),
    ),
    data=_only_wide,
    read=_read_rank_one_locus,
    too_large=LINEAR,
    one_token=False,
    parts=(
        Source("dimension and degree of the closure", ENGINE),
        Source("equations of the closure, minors of flattenings", "native", ENGINE),
    ),
    facts=_facts_of_rank_one_locus,
    check=_check_rank_one_locus,
)


# Named families of equations --------------------------------------------------------------------------------


def _numbers_of_resultants(layer: SingleLayer, given: Given) -> Given:
    """How many resultants of two forms of a row, and of a column, are independent on all planes."""

    def dimension(*shapes: Partition) -> int:
        return module_dimension(shapes, layer.gl_sizes)

    return {"rows": dimension((4,), (2, 2), (4, 4)), "columns": dimension((2, 2), (4,), (4, 4))}


def _families_are_all(problem: Problem) -> bool:
    """Whether the named families give all equations of degree at most 4, as on the page on equations.

    For d = 4 the partial derivatives of forms give further quartics; for d = 3 < d' minors may do so.
    """
    layer = problem.layer
    return problem.is_exact and (layer.d <= 2 or layer.d == 3 >= layer.d_out)


def _facts_of_named_equations(problem: Problem) -> Facts:
    known = known_generators(problem)
    if known and _families_are_all(problem):
        number = sum(known.values())
        yield "number", Fact(number, number, "the number of equations")


def _check_named_equations(answer: Answer) -> None:
    layer, named = answer.problem.layer, answer.polynomials["generators"]
    check_homogeneous(named)
    between(len(named), "the number of equations", answer.integers["number"], len(named))
    rank_of_gradients(answer, _random_points(layer), layer)
    all_of_them = _families_are_all(answer.problem)
    check_generators(named, known_generators(answer.problem) if all_of_them else None)


NAMED_EQUATIONS = Task(
    "named-equations",
    "the named families of equations",
    SingleLayer,
    summary="equations of the neuromanifold by their meaning: minors, products, common factors, resultants",
    title="Named families of equations of {M}",
    reference="Proposition A.5",
    results=(
        Printed("number", "minimal generators of the ideal of all of them"),
        Printed("generators", "these", ring=ring_of_coordinates),
    ),
    data=_numbers_of_resultants,
    too_large=LINEAR,
    one_token=False,
    facts=_facts_of_named_equations,
    check=_check_named_equations,
)


# Learning coefficients --------------------------------------------------------------------------------------


class Inclusions(NamedTuple):
    """Whether each of two ideals of germs lies in the other."""

    inside: bool
    back: bool


class _Form(NamedTuple):
    """The normal form at one point, as scripts have it."""

    label: str
    rank_k: int
    rank_q: int
    variables: tuple[Variable, ...]
    functions: tuple[Polynomial, ...]
    generators: tuple[Polynomial, ...]


def _least_forms(layer: SingleLayer) -> dict[Stratum, NormalForm]:
    """The normal form at the weights of least λ of each stratum but 0."""
    from agattn.geometry.learning_coefficients.learning_coefficients import least_point
    from agattn.geometry.learning_coefficients.normal_form import normal_form

    least = {stratum: least_point(layer, stratum) for stratum in strata(layer)[1:]}
    return {s: normal_form(layer, s, point.rank_k or 0, point.rank_q or 0) for s, point in least.items()}


def _normal_forms(layer: SingleLayer, given: Given) -> Given:
    forms = (
        _Form(
            str(stratum).strip("()"),
            form.expected[3],
            form.expected[4],
            form.variables,
            tuple(form.functions),
            tuple(form.generators),
        )
        for stratum, form in _least_forms(layer).items()
    )
    return {"points": strata_points(layer, zero=False), "forms": tuple(forms)}


def _normal_forms_natively(layer: SingleLayer) -> dict[Stratum, Inclusions]:
    proved = {stratum: not form.flaw() for stratum, form in _least_forms(layer).items()}
    return {stratum: Inclusions(holds, holds) for stratum, holds in proved.items()}


def _read_normal_forms(answer: Answer) -> dict[Stratum, Inclusions]:
    inside, back = answer.by_ranks("inside"), answer.by_ranks("back")
    return {stratum: Inclusions(bool(inside[stratum]), bool(back[stratum])) for stratum in inside}


def _facts_of_normal_forms(problem: Problem) -> Facts:
    """Both inclusions follow from exact identities, which hold modulo any prime p > 2 as well."""
    from agattn.geometry.learning_coefficients.normal_form import normal_form

    for point, form in zip(problem.points, problem.data["forms"], strict=True):
        assert point.ranks is not None
        if not normal_form(problem.layer, point.ranks, form.rank_k, form.rank_q).flaw():
            for name in ("inside", "back"):
                yield at_point(point, name, name, 1, 1)


NORMAL_FORM = Task(
    "rlct-normal-form",
    "the ideals of germs at the strata",
    SingleLayer,
    _normal_forms_natively,
    infeasible=_needs_two_tokens,
    summary="the normal form of phi(w) - phi(w0) near each stratum, for the learning coefficient",
    title="The ideal of phi(w) - phi(w0) near each stratum of {M}, and its normal form",
    reference="Watanabe: Algebraic Geometry and Statistical Learning Theory, 2009",
    results=(
        Printed("inside", "1 if the functions lie in the ideal of the normal form", per_point=True),
        Printed("back", "1 if the normal form lies in the ideal of the functions near z = 0", per_point=True),
    ),
    data=_normal_forms,
    read=_read_normal_forms,
    too_large=LINEAR,
    one_token=False,
    parts=(Source("slices and normal forms", "native"), Source("inclusions of ideals", ENGINE)),
    facts=_facts_of_normal_forms,
    check=NoChecks("each result is 0 or 1 at one point, and its facts say which"),
)
