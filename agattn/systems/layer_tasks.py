"""What can be found out about a single layer, by engines and natively."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.architectures import Architecture, SingleLayer
from agattn.errors import EngineError, InputError, TooLargeError, UndecidedError
from agattn.evidence import Source
from agattn.geometry.strata.critical import stratum_criticality
from agattn.geometry.strata.strata import ZERO, Stratum, image_dimension, strata, stratum_fiber
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring, coordinates, parametrization
from agattn.geometry.variety.degree import expected_degree
from agattn.geometry.variety.rank_one_locus import closure_degree
from agattn.systems.points import strata_points, zero_points
from agattn.systems.problem import Answer, Printed
from agattn.systems.sizes import MAX_LINEAR_COORDINATES
from agattn.systems.task import ENGINE, Task

if TYPE_CHECKING:
    from agattn.geometry.ideal.ideal import Ideal
    from agattn.geometry.learning_coefficients.normal_form import NormalForm
    from agattn.geometry.sections.slices import Slice

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


def _coordinates(layer: SingleLayer, data: Given) -> PolynomialRing:
    return coordinate_ring(layer)


def _points(layer: SingleLayer, given: Given) -> Given:
    """The points given, or one representative of each stratum."""
    return {"points": given.get("points") or strata_points(layer)}


def _too_large(limit: int, layer: SingleLayer) -> str:
    if (size := layer.ambient_dimension) <= limit:
        return ""
    return f"d = {layer.d}, d' = {layer.d_out} is a system in {size} coordinates; the limit is {limit}"


_ELIMINATION = partial(_too_large, MAX_ELIMINATION_COORDINATES)
_LINEAR = partial(_too_large, MAX_LINEAR_COORDINATES)


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
        layer, answer.integers["dimension"], answer.integers["degree"], answer.polynomials["generators"],
        characteristic=answer.problem.characteristic, points=points,
    )  # fmt: skip


def _elimination_is_hopeless(layer: SingleLayer) -> str:
    if not layer.has_orbits:
        return "" if layer.ambient_dimension <= MAX_ONE_TOKEN_COORDINATES else "elimination was not tried"
    if (degree := expected_degree(layer)) <= MAX_ELIMINATION_DEGREE:
        return ""
    return (
        f"elimination was not tried: {layer.ambient_dimension} coordinates and an expected degree of "
        f"{degree} are beyond what finishes (--eliminate tries it all the same)"
    )


IDEAL = Task(
    "implicit-ideal", "the ideal", SingleLayer,
    infeasible=_elimination_is_hopeless,
    summary="equations, dimension and degree of the neuromanifold: the ideal of its Zariski closure",
    title="Equations of the neuromanifold {M}, by elimination",
    reference="Section 3.2 and Proposition A.5",
    results=(
        Printed("dimension", "dimension of the affine cone"),
        Printed("degree", "degree"),
        Printed("prime", "1 if the ideal is prime, else 0", where="prime"),
        Printed("generators", "minimal generators", ring=_coordinates),
    ),
    data=lambda layer, given: {"prime": True} if given.get("prime") else {},
    read=_read_ideal, too_large=_ELIMINATION, takes=("prime",),
    parts=(
        Source("generators, dimension and degree of the ideal", ENGINE),
        Source("tangent spaces, by the gradients of the generators", "native"),
    ),
)  # fmt: skip


def max_degree(architecture: Architecture, given: Given) -> Given:
    """The last degree of a Hilbert function."""
    last = given.get("max_degree", 4)
    if last < 0:
        raise InputError(f"the largest degree is {last}; it must be at least 0")
    if last > MAX_HILBERT_DEGREE:
        raise TooLargeError(f"the largest degree is {last}; the limit is {MAX_HILBERT_DEGREE}")
    return {"max_degree": last}


HILBERT_FUNCTION = Task(
    "hilbert-function", "the Hilbert function", SingleLayer,
    summary="Hilbert function of the neuromanifold, up to --max-degree",
    title="Hilbert function of the neuromanifold {M}",
    reference="Section 3.2",
    results=(
        Printed("values", "how many values follow, from degree 1"),
        Printed("value", "dimension of degree n of the coordinate ring", per_item="values"),
    ),
    data=max_degree, too_large=_ELIMINATION, takes=("max_degree",),
)  # fmt: skip


def minors_are_feasible(layer: SingleLayer) -> bool:
    """Whether the maximal minors of the Jacobian are few: so far for N = 6 and few equations only."""
    return comb(layer.ambient_dimension, layer.ambient_dimension - layer.expected_dimension) <= 20


SINGULAR_LOCUS = Task(
    "singular-locus", "the singular points", SingleLayer,
    summary="where the Jacobian of the equations drops rank",
    title="Singular points of the neuromanifold {M}",
    reference="Theorem 3.4 and Corollary A.4",
    results=(
        Printed("dimension", "dimension of the affine cone"),
        Printed("jacobian-rank", "rank of the Jacobian of the equations", per_point=True),
        Printed("locus-dimension", "dimension of the singular locus", where="minors"),
        Printed("locus-degree", "degree of the singular locus, reduced", where="minors"),
    ),
    data=lambda layer, given: {**_points(layer, given), "minors": minors_are_feasible(layer)},
    too_large=_ELIMINATION, takes=("points",), one_token=False,
)  # fmt: skip


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


def _critical_natively(layer: SingleLayer, seed: int) -> dict[Stratum, bool]:
    found = {}
    for stratum in strata(layer):
        answer = stratum_criticality(layer, stratum)
        if answer.critical is None:
            raise UndecidedError(f"{stratum}: {answer.how}")
        found[stratum] = answer.critical
    return found


CRITICAL = Task(
    "critical-locus", "the critical strata", SingleLayer, _critical_natively,
    infeasible=_needs_two_tokens, summary="kernel of the differential, within the tangent cone",
    title="Critical points of (A, V) -> phi for the neuromanifold {M}",
    reference="Lemma A.3",
    results=(
        Printed("kernel-dimension", "dimension of the kernel of the differential", per_point=True),
        Printed("cone-dimension", "dimension of its part in the tangent cone", per_point=True),
    ),
    data=_points_and_zeros, read=_read_critical, too_large=_LINEAR, takes=("points",), one_token=False,
    parts=(Source("kernels of the differential, within the tangent cone", ENGINE), _ORBITS),
)  # fmt: skip


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


def _base_locus_natively(layer: SingleLayer, seed: int) -> frozenset[str]:
    """φ ≠ 0 on every stratum with A ≠ 0 and V ≠ 0, as the representatives show; so φ = 0 there only."""
    vanishing = (p for p in strata_points(layer, zero=False) if not any(coefficients(layer, p.A, p.V)))
    return frozenset({"A = 0", "V = 0", *(f"the stratum {point.ranks}" for point in vanishing)})


BASE_LOCUS = Task(
    "base-locus", "the zeros of φ", SingleLayer, _base_locus_natively,
    infeasible=_needs_two_tokens, summary="weights whose function is zero",
    title="The weights (A, V) with phi = 0, for the neuromanifold {M}",
    reference="Theorem 3.2 (ii) and Corollary A.1",
    results=(
        Printed("components", "how many components follow"),
        Printed("component", "a minimal prime", per_item="components", ring=_weights),
    ),
    read=_read_base_locus, too_large=_LINEAR,
    parts=(Source("components of {φ = 0}", ENGINE, "native"),),
)  # fmt: skip


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


def _fibers_natively(layer: SingleLayer, seed: int) -> dict[Stratum, FiberSize]:
    """All preimages, by unique factorization of the quadratic forms y_{c,b}."""
    found = {}
    for stratum in strata(layer)[1:]:
        fiber = stratum_fiber(layer, stratum)
        lengths = [point.length for point in fiber.points if point.length is not None]
        found[stratum] = FiberSize(fiber.number, sum(lengths) if len(lengths) == len(fiber.points) else None)
    return found


FIBERS = Task(
    "fiber", "the fibers", SingleLayer, _fibers_natively,
    infeasible=_needs_two_tokens, summary="all weights with the same function, at --point or all strata",
    title="Fibers of (A, V) -> phi up to scaling, for the neuromanifold {M}",
    reference="Theorem 3.2 and Corollary A.2",
    results=(
        Printed("escapes", "1 if a preimage lies on the hyperplane at infinity", per_point=True),
        Printed("length", "preimages up to scaling, with multiplicity", per_point=True),
        Printed("points", "preimages up to scaling", per_point=True),
    ),
    data=_nonzero_points, read=_read_fibers, too_large=_LINEAR, takes=("points",), one_token=False,
    parts=(Source("numbers of preimages up to scaling", ENGINE), _ORBITS),
)  # fmt: skip


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
        raise EngineError("equations that hold on the neuromanifold, or preimages, were found to be none")
    size = answer.problem.layer.ambient_dimension
    names = ("differential-rank", "curve-rank", "equation-rank")
    ranks, lower, gradients = map(answer.by_ranks, names)
    return {s: Tangent(ranks[s], lower[s], size - gradients[s]) for s in ranks}


def _tangents_natively(layer: SingleLayer, seed: int) -> dict[Stratum, Tangent]:
    bounds = ((stratum, tangent_bounds(layer, stratum)) for stratum in strata(layer))
    return {stratum: Tangent(None, bound.lower, bound.upper) for stratum, bound in bounds}


TANGENTS = Task(
    "strata-tangents", "the tangent spaces", SingleLayer, _tangents_natively,
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
    data=lambda layer, given: {**_points(layer, given), "equations": gradient_equations(layer)},
    read=_read_tangents, too_large=_LINEAR, takes=("points",), one_token=False,
    parts=(
        Source("ranks of velocities and of gradients", ENGINE),
        Source("equations that bound tangent spaces", "native", ENGINE),
        Source("preimages through which curves run", "native", ENGINE),
        _ORBITS,
    ),
)  # fmt: skip


# The rank of the differential at a random point ------------------------------------------------------------


def _generic_rank(layer: SingleLayer, seed: int) -> int:
    from agattn.geometry.dimension.dimension import dimension

    return dimension(layer.as_network(), seed, force=True).lower_bound


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


RANK_ONE_LOCUS = Task(
    "rank-one-locus", "the closure of the points with rk A, rk V ≤ 1", SingleLayer,
    lambda layer, seed: Cone(image_dimension(layer, Stratum(1, 1, 2)), closure_degree(layer)),
    infeasible=_too_many_minors,
    summary="ideal, dimension and degree of the closure of the points with rk A, rk V at most 1",
    title="Zariski closure of the points with rk A, rk V <= 1 in {M}: h (x) q (x) Q with rk Q <= 2",
    reference="Theorem 3.4 and Figure 1",
    results=(
        Printed("dimension", "dimension of the affine cone"),
        Printed("degree", "degree"),
        Printed("failures", "equations that do not vanish on the parametrization"),
        Printed("generators", "minimal generators", ring=_coordinates),
    ),
    data=_only_wide, read=_read_rank_one_locus, too_large=_LINEAR, one_token=False,
    parts=(
        Source("dimension and degree of the closure", ENGINE),
        Source("equations of the closure, minors of flattenings", "native", ENGINE),
    ),
)  # fmt: skip


# Sections of M̄ and single points of it ---------------------------------------------------------------------


TANGENT_CONE = Task(
    "tangent-cone", "the tangent cones", SingleLayer,
    summary="tangent cones and multiplicities, at --point or all strata",
    title="Tangent cones of the neuromanifold {M}",
    reference="Theorem 3.4 and Figure 1",
    results=(
        Printed("dimension", "dimension of the tangent cone", per_point=True),
        Printed("multiplicity", "its degree: the multiplicity of the point", per_point=True),
        Printed("span", "dimension of the linear space it spans", per_point=True),
        Printed("cone", "its minimal generators", per_point=True, ring=_coordinates),
    ),
    data=_points, too_large=_ELIMINATION, takes=("points",), one_token=False,
)  # fmt: skip


MEMBERSHIP = Task(
    "membership", "whether a point is in the Zariski closure", SingleLayer,
    summary="whether the coefficients in --point are in the Zariski closure",
    title="Is a point in the Zariski closure of the neuromanifold {M}?",
    reference="Corollary A.6",
    results=(Printed("member", "1 if the point is in the Zariski closure of the neuromanifold"),),
    data=lambda layer, given: {"target": given["target"]}, too_large=_LINEAR, takes=("target",),
)  # fmt: skip


def _slice(layer: SingleLayer, given: Given) -> Given:
    from agattn.geometry.sections.slices import standard_slice

    chosen = given.get("slice") or standard_slice(layer)
    if (size := len(chosen.origin)) != layer.ambient_dimension:
        raise InputError(f"the slice is in {size} coordinates; {layer} has {layer.ambient_dimension}")
    return {"slice": chosen}


def _slice_ring(layer: SingleLayer, data: Given) -> PolynomialRing:
    return cast("Slice", data["slice"]).ring()


SLICE = Task(
    "slice", "a section", SingleLayer,
    summary="a surface in the neuromanifold and its singular points: Figure 1, or --slice",
    title="A section of the neuromanifold {M} by an affine space of dimension 3",
    reference="Figure 1",
    results=(
        Printed("dimension", "dimension of the section; -1 if it is empty"),
        Printed("equation", "equation of its surface, squarefree; 1 if none", ring=_slice_ring),
        Printed("singular", "radical ideal of the surface's singular points", ring=_slice_ring),
    ),
    data=_slice, too_large=_ELIMINATION, takes=("slice",), one_token=False,
    parts=(Source("equation of the surface and its singular points", ENGINE), Source("the slice", "native")),
)  # fmt: skip


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
            form.ring.variables,
            tuple(form.functions),
            tuple(form.generators),
        )
        for stratum, form in _least_forms(layer).items()
    )
    return {"points": strata_points(layer, zero=False), "forms": tuple(forms)}


def _normal_forms_natively(layer: SingleLayer, seed: int) -> dict[Stratum, Inclusions]:
    proved = {stratum: not form.flaw() for stratum, form in _least_forms(layer).items()}
    return {stratum: Inclusions(holds, holds) for stratum, holds in proved.items()}


def _read_normal_forms(answer: Answer) -> dict[Stratum, Inclusions]:
    inside, back = answer.by_ranks("inside"), answer.by_ranks("back")
    return {stratum: Inclusions(bool(inside[stratum]), bool(back[stratum])) for stratum in inside}


NORMAL_FORM = Task(
    "rlct-normal-form", "the ideals of germs at the strata", SingleLayer, _normal_forms_natively,
    infeasible=_needs_two_tokens,
    summary="the normal form of phi(w) - phi(w0) near each stratum, for the learning coefficient",
    title="The ideal of phi(w) - phi(w0) near each stratum of {M}, and its normal form",
    reference="Watanabe: Algebraic Geometry and Statistical Learning Theory, 2009",
    results=(
        Printed("inside", "1 if the functions lie in the ideal of the normal form", per_point=True),
        Printed("back", "1 if the normal form lies in the ideal of the functions near z = 0", per_point=True),
    ),
    data=_normal_forms, read=_read_normal_forms, too_large=_LINEAR, one_token=False,
    parts=(Source("slices and normal forms", "native"), Source("inclusions of ideals", ENGINE)),
)  # fmt: skip
