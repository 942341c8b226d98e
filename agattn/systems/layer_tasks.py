"""What can be found out about a single layer at its strata and points, by engines and natively."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from math import comb, inf
from typing import Any, NamedTuple

from agattn.algebra.echelon import echelon, fraction, kernel_basis, rational_matrix
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable, jacobian_at
from agattn.algebra.rank import proved_rank
from agattn.architectures import SingleLayer
from agattn.errors import EngineError, InputError, TranscriptError, UndecidedError
from agattn.evidence import Source
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.ideal.equations import Equation
from agattn.geometry.ideal.ideal import gradient_rank
from agattn.geometry.identifiability.weights import kernel_of_differential, preimages
from agattn.geometry.learning_coefficients.learning_coefficients import least_point
from agattn.geometry.learning_coefficients.normal_form import NormalForm, normal_form
from agattn.geometry.strata.critical import criticality, stratum_criticality
from agattn.geometry.strata.strata import ZERO, Stratum, image_dimension, strata, stratum_fiber
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.geometry.variety.coordinates import (
    coefficients,
    coordinate_ring,
    coordinates,
    differential,
    parametrization,
)
from agattn.geometry.variety.determinantal import tangent_space_equations
from agattn.systems.consistency import (
    NoChecks,
    at_point,
    between,
    bounds_of_dimension,
    check_degree,
    check_generators,
    check_homogeneous,
    degree_of_closure,
    demand,
    facts_of_dimension,
)
from agattn.systems.points import strata_points, zero_points
from agattn.systems.problem import (
    ENGINE,
    MAX_LINEAR_COORDINATES,
    Answer,
    Fact,
    Facts,
    Point,
    Printed,
    Problem,
    Task,
)

# Beyond this a script is refused unless forced: elimination in more coordinates has no hope of finishing.
MAX_ELIMINATION_COORDINATES = 60
#: Equations for the strata are sought for at most this many coordinates.
MAX_EQUATION_COORDINATES = 160

Points = tuple[Point, ...]


def ring_of_coordinates(layer: SingleLayer, data: Mapping[str, Any]) -> PolynomialRing:
    """The ring of the coordinates y of the neuromanifold."""
    return coordinate_ring(layer)


def points_given(layer: SingleLayer, points: Points = ()) -> dict[str, Any]:
    """The points given, or one representative of each stratum."""
    return {"points": points or strata_points(layer)}


def _too_large(limit: int, layer: SingleLayer) -> str:
    if (size := layer.ambient_dimension) <= limit:
        return ""
    return f"d = {layer.d}, d' = {layer.d_out} is a system in {size} coordinates; the limit is {limit}"


ELIMINATION = partial(_too_large, MAX_ELIMINATION_COORDINATES)
LINEAR = partial(_too_large, MAX_LINEAR_COORDINATES)


def needs_two_tokens(layer: SingleLayer) -> str:
    """Why nothing is asked about strata at t = 1, or an empty string."""
    if layer.has_orbits:
        return ""
    return "at t = 1 a function depends on V and A + Aᵀ alone, which have other strata"


#: A task about a layer, by default with two tokens or more.
layer_task = partial(Task[SingleLayer], about=SingleLayer, too_large=LINEAR, one_token=False)
_ORBITS = Source("one pair (A, V) of each orbit", "native")


# Singular points --------------------------------------------------------------------------------------------


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
        singular = {stratum: tangent_bounds(layer, stratum).singular for stratum in strata(layer)}
        if None not in singular.values():
            locus = max((image_dimension(layer, s) for s in strata(layer) if singular[s]), default=-1)
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
    singular = (stratum for stratum, [rank] in ranks.items() if rank < size - dim)
    expected = max((image_dimension(layer, stratum) for stratum in singular), default=-1)
    between(expected, "the dimension of the singular locus", integers["locus-dimension"], expected)
    degree = integers["locus-degree"]
    demand(expected < 0 or degree > 0, f"the degree of the singular locus is {degree}")
    demand(expected != 0 or degree == 1, f"the locus is a point, and its degree {degree}")


SINGULAR_LOCUS = layer_task(
    "singular-locus",
    "the singular points",
    summary="where the Jacobian of the equations drops rank",
    title="Singular points of the neuromanifold {M}",
    reference="Theorem 3.4 and Corollary A.4",
    results=(
        Printed("dimension", "dimension of the affine cone"),
        Printed("jacobian-rank", "rank of the Jacobian of the equations", per_point=True),
        Printed("locus-dimension", "dimension of the singular locus", where="minors"),
        Printed("locus-degree", "degree of the singular locus, reduced", where="minors"),
    ),
    data=lambda layer, points=(): {**points_given(layer, points), "minors": minors_are_feasible(layer)},
    too_large=ELIMINATION,
    facts=_facts_of_singular_locus,
    check=_check_singular_locus,
)


# Critical points --------------------------------------------------------------------------------------------


def _read_critical(answer: Answer) -> dict[Stratum, bool]:
    critical: dict[Stratum, bool] = {}
    for ranks, (kernel, cone) in answer.by_ranks("kernel-dimension", "cone-dimension").items():
        if kernel > 1 == cone:
            raise EngineError(
                f"at {ranks} the kernel meets the tangent cone in lines, which were not counted"
            )
        # The point 0 is critical only if all pairs (A, V) over it are.
        stratum = ZERO if 0 in (ranks.r_v, ranks.r_a) else ranks
        critical[stratum] = critical.get(stratum, True) and cone > 1
    return critical


def _critical_natively(layer: SingleLayer) -> dict[Stratum, bool]:
    critical = {}
    for stratum in strata(layer):
        answer = stratum_criticality(layer, stratum)
        if answer.critical is None:
            raise UndecidedError(f"{stratum}: {answer.how}")
        critical[stratum] = answer.critical
    return critical


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


CRITICAL = layer_task(
    "critical-locus",
    "the critical strata",
    native=_critical_natively,
    infeasible=needs_two_tokens,
    summary="kernel of the differential, within the tangent cone",
    title="Critical points of (A, V) -> phi for the neuromanifold {M}",
    reference="Lemma A.3",
    results=(
        Printed("kernel-dimension", "dimension of the kernel of the differential", per_point=True),
        Printed("cone-dimension", "dimension of its part in the tangent cone", per_point=True),
    ),
    data=lambda layer, points=(): {
        "points": points or (*zero_points(layer), *strata_points(layer, zero=False))
    },
    read=_read_critical,
    parts=(Source("kernels of the differential, within the tangent cone", ENGINE), _ORBITS),
    facts=_facts_of_critical_locus,
    check=_check_critical,
)


# Where φ vanishes -------------------------------------------------------------------------------------------


def _name_component(generators: tuple[Polynomial, ...]) -> str:
    """``"A = 0"``, ``"V = 0"``, or the equations of anything else."""
    if not generators:
        return "everything"
    ring = generators[0].ring
    monic = {f / next(iter(f.terms.values())) for f in generators}
    for letter in "av":
        if monic == {gen for gen, v in zip(ring.gens, ring.variables, strict=True) if v.letter == letter}:
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
        pairs = zip(ring.gens, ring.variables, strict=True)
        zero = [gen if v.letter == others else ring.zero() for gen, v in pairs]
        inside_one = any(not any(f.compose(zero) for f in forms) for _, _, forms in spaces)
        demand(inside_one, f"φ = 0 where {letter} = 0, which lies in no component")


BASE_LOCUS = layer_task(
    "base-locus",
    "the zeros of φ",
    native=_base_locus_natively,
    infeasible=needs_two_tokens,
    summary="weights whose function is zero",
    title="The weights (A, V) with phi = 0, for the neuromanifold {M}",
    reference="Theorem 3.2 (ii) and Corollary A.1",
    one_token=True,
    results=(
        Printed("components", "how many components follow"),
        Printed(
            "component",
            "a minimal prime",
            per_item="components",
            ring=lambda layer, data: parametrization(layer)[0].ring,
        ),
    ),
    read=lambda answer: frozenset(map(_name_component, answer.polynomials.values())),
    parts=(Source("components of {φ = 0}", ENGINE, "native"),),
    check=_check_base_locus,
)


# Fibers -----------------------------------------------------------------------------------------------------


class FiberSize(NamedTuple):
    """The points of a fiber of (A, V) ↦ φ up to scaling, and its length where that is known."""

    points: int
    length: int | None


def _nonzero_points(layer: SingleLayer, points: Points = ()) -> dict[str, Any]:
    points = points or strata_points(layer, zero=False)
    if not all(any(map(any, point.A)) and any(map(any, point.V)) for point in points):
        raise InputError("the fiber over 0 is the base locus; use the task base-locus")
    return {"points": points}


def _read_fibers(answer: Answer) -> dict[Stratum, FiberSize]:
    fibers = answer.by_ranks("points", "length", "escapes")
    if any(escapes for *_, escapes in fibers.values()):
        raise EngineError("a preimage lies on the hyperplane at infinity, so the fiber was not counted")
    return {ranks: FiberSize(number, length) for ranks, (number, length, _) in fibers.items()}


def _fibers_natively(layer: SingleLayer) -> dict[Stratum, FiberSize]:
    """All preimages, by unique factorization of the quadratic forms y_{c,b}."""
    sizes = {}
    for stratum in strata(layer)[1:]:
        fiber = stratum_fiber(layer, stratum)
        lengths = [point.length for point in fiber.points if point.length is not None]
        whole = len(lengths) == len(fiber.points)
        sizes[stratum] = FiberSize(fiber.number, sum(lengths) if whole else None)
    return sizes


def _facts_of_fibers(problem: Problem) -> Facts:
    """The preimages of points, by unique factorization of quadratic forms; modulo a prime some may coincide.

    An engine counts those on l = l(A), which are all up to scaling if none of them lies on l = 0.
    """
    layer = problem.layer
    for point in problem.points if problem.is_exact else ():
        fiber = preimages(layer, list(coefficients(layer, point.A, point.V)))
        if len(fiber.points) < fiber.number:
            continue
        escapes = int(any(not _form(component.A.tolist()) for component in fiber.points))
        yield at_point(point, "escapes", "whether a preimage lies at infinity", escapes, escapes)
        if escapes:
            continue
        number, lengths = fiber.number, [component.length for component in fiber.points]
        yield at_point(point, "points", "the number of preimages", number, number)
        low = sum(length or 1 for length in lengths)
        yield at_point(point, "length", "the length of the fiber", low, inf if None in lengths else low)


def _form(A: Iterable[Iterable[Any]]) -> Any:
    """The linear form l of A by which engines slice fibers."""
    return sum(n * x for n, x in enumerate(itertools.chain(*A), 1))


def _check_fibers(answer: Answer) -> None:
    for point in answer.problem.points:
        escapes, length, number = answer.at(point.label, "escapes", "length", "points")
        between(0, f"the value of escapes@{point.label}", escapes, 1)
        fault = f"the fiber at {point.label} cannot have {number} points and length {length}"
        demand(1 - escapes <= number <= length, fault)


FIBERS = layer_task(
    "fiber",
    "the fibers",
    native=_fibers_natively,
    infeasible=needs_two_tokens,
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
    parts=(Source("numbers of preimages up to scaling", ENGINE), _ORBITS),
    facts=_facts_of_fibers,
    check=_check_fibers,
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
    size = answer.problem.layer.ambient_dimension
    bounds = answer.by_ranks("differential-rank", "curve-rank", "equation-rank")
    return {s: Tangent(rank, lower, size - gradients) for s, (rank, lower, gradients) in bounds.items()}


def _tangents_natively(layer: SingleLayer) -> dict[Stratum, Tangent]:
    bounds = ((stratum, tangent_bounds(layer, stratum)) for stratum in strata(layer))
    return {stratum: Tangent(None, bound.lower, bound.upper) for stratum, bound in bounds}


def _facts_of_tangents(problem: Problem) -> Facts:
    layer, equations = problem.layer, problem.data["equations"]
    yield "equations", Fact(len(equations), len(equations), "the number of equations")
    yield "failures", Fact(0, 0, "the number of equations and preimages that are none")
    forms = [Equation.from_polynomial(f) for f in equations]
    for point in problem.points:
        values = coefficients(layer, point.A, point.V)
        nonzero = {name: value for name, value in zip(coordinates(layer), values, strict=True) if value}
        for name, what, rank in (
            ("differential-rank", "the rank of the differential", differential_rank(layer, point)),
            ("equation-rank", "the rank of the gradients", gradient_rank(forms, nonzero, 0)),
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


TANGENTS = layer_task(
    "strata-tangents",
    "the tangent spaces",
    native=_tangents_natively,
    infeasible=needs_two_tokens,
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
    data=lambda layer, points=(): {**points_given(layer, points), "equations": gradient_equations(layer)},
    read=_read_tangents,
    parts=(
        Source("ranks of velocities and of gradients", ENGINE),
        Source("equations that bound tangent spaces", "native", ENGINE),
        Source("preimages through which curves run", "native", ENGINE),
        _ORBITS,
    ),
    facts=_facts_of_tangents,
    check=_check_tangents,
)


def _facts_of_tangent_cones(problem: Problem) -> Facts:
    """Tangent cones have the dimension of M̄, and multiplicity 1 where it is smooth; at 0 M̄ is its own."""
    layer = problem.layer
    low, high = bounds_of_dimension(layer)
    for point in problem.points:
        yield at_point(point, "dimension", "the dimension", low, high)
        least, most = bounds_of_tangent_space(problem, point)
        yield at_point(point, "span", "the dimension of the span", low, most)
        # A local ring of an irreducible variety has multiplicity 1 exactly if it is regular (Nagata).
        multiplicity: tuple[int, float] = (2 if least > high else 1), (1 if most == low else inf)
        if point.ranks is not None and point.ranks.is_zero and (degree := degree_of_closure(layer)):
            multiplicity = degree, degree
        yield at_point(point, "multiplicity", "the multiplicity", *multiplicity)


def _check_tangent_cones(answer: Answer) -> None:
    size = answer.problem.layer.ambient_dimension
    for point in answer.problem.points:
        dim, multiplicity, span = answer.at(point.label, "dimension", "multiplicity", "span")
        cone = answer.polynomials[f"cone@{point.label}"]
        check_homogeneous(cone)
        check_generators(cone)
        check_degree(dim, multiplicity, cone, size)
        linear = size - sum(f.degree() == 1 for f in cone)
        between(linear, f"the dimension of the span at {point.label}", span, linear)
        # A local ring of an irreducible variety has multiplicity 1 exactly if it is regular (Nagata).
        fault = f"at {point.label} a cone of dimension {dim} and degree {multiplicity} spans {span}"
        demand((multiplicity == 1) == (span == dim), fault)


TANGENT_CONE = layer_task(
    "tangent-cone",
    "the tangent cones",
    summary="tangent cones and multiplicities, at --point or all strata",
    title="Tangent cones of the neuromanifold {M}",
    reference="Theorem 3.4 and Figure 1",
    results=(
        Printed("dimension", "dimension of the tangent cone", per_point=True),
        Printed("multiplicity", "its degree: the multiplicity of the point", per_point=True),
        Printed("span", "dimension of the linear space it spans", per_point=True),
        Printed("cone", "its minimal generators", per_point=True, ring=ring_of_coordinates),
    ),
    data=points_given,
    too_large=ELIMINATION,
    facts=_facts_of_tangent_cones,
    check=_check_tangent_cones,
)


# The rank of the differential at a random point ------------------------------------------------------------


GENERIC_RANK = Task(
    "generic-rank", "the generic rank", SingleLayer, lambda layer: dimension(layer, force=True).lower_bound
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
    least = {stratum: least_point(layer, stratum) for stratum in strata(layer)[1:]}
    return {s: normal_form(layer, s, point.rank_k or 0, point.rank_q or 0) for s, point in least.items()}


def _normal_forms(layer: SingleLayer) -> dict[str, Any]:
    forms = []
    for stratum, form in _least_forms(layer).items():
        label, rank_k, rank_q = str(stratum).strip("()"), *form.expected[3:5]
        polynomials = tuple(form.functions), tuple(form.generators)
        forms.append(_Form(label, rank_k, rank_q, form.variables, *polynomials))
    return {"points": strata_points(layer, zero=False), "forms": tuple(forms)}


def _normal_forms_natively(layer: SingleLayer) -> dict[Stratum, Inclusions]:
    proved = {stratum: not form.flaw() for stratum, form in _least_forms(layer).items()}
    return {stratum: Inclusions(holds, holds) for stratum, holds in proved.items()}


def _read_normal_forms(answer: Answer) -> dict[Stratum, Inclusions]:
    both = answer.by_ranks("inside", "back")
    return {stratum: Inclusions(*map(bool, values)) for stratum, values in both.items()}


def _facts_of_normal_forms(problem: Problem) -> Facts:
    """Both inclusions follow from exact identities, which hold modulo any prime p > 2 as well."""
    for point, form in zip(problem.points, problem.data["forms"], strict=True):
        assert point.ranks is not None
        if not normal_form(problem.layer, point.ranks, form.rank_k, form.rank_q).flaw():
            for name in ("inside", "back"):
                yield at_point(point, name, name, 1, 1)


NORMAL_FORM = layer_task(
    "rlct-normal-form",
    "the ideals of germs at the strata",
    native=_normal_forms_natively,
    infeasible=needs_two_tokens,
    summary="the normal form of phi(w) - phi(w0) near each stratum, for the learning coefficient",
    title="The ideal of phi(w) - phi(w0) near each stratum of {M}, and its normal form",
    reference="Watanabe: Algebraic Geometry and Statistical Learning Theory, 2009",
    results=(
        Printed("inside", "1 if the functions lie in the ideal of the normal form", per_point=True),
        Printed("back", "1 if the normal form lies in the ideal of the functions near z = 0", per_point=True),
    ),
    data=_normal_forms,
    read=_read_normal_forms,
    parts=(Source("slices and normal forms", "native"), Source("inclusions of ideals", ENGINE)),
    facts=_facts_of_normal_forms,
    check=NoChecks("each result is 0 or 1 at one point, and its facts say which"),
)
