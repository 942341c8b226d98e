"""What can be found out about the ideal of the neuromanifold of a layer, its sections and single points."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from math import comb, inf
from typing import Any, NamedTuple, cast

import flint
import numpy as np

from agattn.algebra.characters import Partition, module_dimension
from agattn.algebra.graded_ideals import minimal_generators
from agattn.algebra.polynomial import Polynomial, PolynomialRing
from agattn.architectures import Architecture, SingleLayer
from agattn.errors import InputError, TooLargeError
from agattn.evidence import Evidence, Source
from agattn.geometry.ideal.ideal import Ideal
from agattn.geometry.reconstruction.membership import identify
from agattn.geometry.sections.slices import Slice, resultant_of, standard_slice, surface
from agattn.geometry.strata.strata import Stratum, image_dimension, strata
from agattn.geometry.strata.tangent import representative_point
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring, coordinates, generic_matrices
from agattn.geometry.variety.degree import expected_degree
from agattn.geometry.variety.rank_one_locus import closure_degree, numbers_of_generators
from agattn.systems.consistency import (
    NoChecks,
    between,
    bounds_of_dimension,
    check_generators,
    check_homogeneous,
    check_values,
    check_variety,
    degree_of_closure,
    demand,
    facts_of_dimension,
    facts_of_values,
    hilbert_bounds,
    known_generators,
    rank_of_gradients,
)
from agattn.systems.layer_tasks import ELIMINATION, layer_task, needs_two_tokens, ring_of_coordinates
from agattn.systems.problem import ENGINE, Answer, Explicit, Fact, Facts, Printed, Problem, graph

# Elimination finishes in seconds up to about this degree, and beyond it in hours or never.
MAX_ELIMINATION_DEGREE = 60
MAX_ONE_TOKEN_COORDINATES = 12
# Engines count a basis of each degree: in 6 coordinates thousands of millions beyond this.
MAX_HILBERT_DEGREE = 1000
# Minors are written down up to so many.
MAX_MINORS = 5000


# The ideal --------------------------------------------------------------------------------------------------


def _read_ideal(answer: Answer) -> Ideal:
    layer = answer.problem.layer
    return Ideal.eliminated(
        layer,
        answer.integers["dimension"],
        answer.integers["degree"],
        answer.polynomials["generators"],
        characteristic=answer.problem.characteristic,
        points={s: representative_point(layer, s) for s in strata(layer)} if layer.has_orbits else {},
    )


def _elimination_is_hopeless(layer: SingleLayer) -> str:
    if not layer.has_orbits:
        return "" if layer.ambient_dimension <= MAX_ONE_TOKEN_COORDINATES else "elimination was not tried"
    hopeless = (
        f"elimination was not tried: {layer.ambient_dimension} coordinates and an expected degree of "
        f"{expected_degree(layer)} are beyond what finishes (--eliminate tries it all the same)"
    )
    return hopeless if expected_degree(layer) > MAX_ELIMINATION_DEGREE else ""


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


def _graph(problem: Problem) -> Iterator[Explicit]:
    """The graph of φ where V begins with 1; A is a matrix of variables, or KᵀQ where its rank is bounded.

    As (sA, V/s) has the same image as (A, V), the image of these is dense.
    """
    layer, p = problem.layer, problem.characteristic
    d, r = layer.d, layer.a
    factors = {"a": (d, d)} if r >= d else {"k": (r, d), "q": (r, d)}
    *KQ, V = generic_matrices(factors | {"v": (layer.d_out, d)}, p)
    A = KQ[0] if r >= d else KQ[0].T @ KQ[1]
    V[0, 0] = V[0, 0].ring.one()
    yield graph(list(coefficients(layer, A, V)), coordinate_ring(layer).variables, p)


def ideal_of_basis(bases: Mapping[str, Any], problem: Problem) -> dict[str, Any]:
    """Dimension, degree and generators of the ideal of an image, from a Gröbner basis of it."""
    basis = bases["graph"]
    generators = minimal_generators(basis.polynomials)
    return {"dimension": basis.dimension, "degree": basis.degree, "generators": generators}


IDEAL = layer_task(
    "implicit-ideal",
    "the ideal",
    infeasible=_elimination_is_hopeless,
    summary="equations, dimension and degree of the neuromanifold: the ideal of its Zariski closure",
    title="Equations of the neuromanifold {M}, by elimination",
    reference="Section 3.2 and Proposition A.5",
    one_token=True,
    results=(
        Printed("dimension", "dimension of the affine cone"),
        Printed("degree", "degree"),
        Printed("prime", "1 if the ideal is prime, else 0", where="prime"),
        Printed("generators", "minimal generators", ring=ring_of_coordinates),
    ),
    data=lambda layer, prime=False: {"prime": True} if prime else {},
    read=_read_ideal,
    too_large=ELIMINATION,
    parts=(
        Source("generators, dimension and degree of the ideal", ENGINE),
        Source("tangent spaces, by the gradients of the generators", "native"),
    ),
    facts=_facts_of_ideal,
    check=_check_ideal,
    systems=_graph,
    values=ideal_of_basis,
)


def last_degree(architecture: Architecture, max_degree: int = 4) -> dict[str, Any]:
    """The last degree of a Hilbert function."""
    if max_degree < 0:
        raise InputError(f"the largest degree is {max_degree}; it must be at least 0")
    if max_degree > MAX_HILBERT_DEGREE:
        raise TooLargeError(f"the largest degree is {max_degree}; the limit is {MAX_HILBERT_DEGREE}")
    return {"max_degree": max_degree}


def _facts_of_values(problem: Problem) -> Facts:
    yield from facts_of_values(problem, hilbert_bounds(problem.layer, problem.data["max_degree"]))


def values_of_basis(bases: Mapping[str, Any], problem: Problem) -> dict[str, Any]:
    """The values of the Hilbert function of an image, from a Gröbner basis of its ideal."""
    last = problem.data["max_degree"]
    values = bases["graph"].hilbert_series.values(last)
    if not problem.data.get("cone", True):
        values = tuple(itertools.accumulate(values))
    return {"values": last} | {f"value@{n}": values[n] for n in range(1, last + 1)}


HILBERT_FUNCTION = layer_task(
    "hilbert-function",
    "the Hilbert function",
    summary="Hilbert function of the neuromanifold, up to --max-degree",
    title="Hilbert function of the neuromanifold {M}",
    reference="Section 3.2",
    one_token=True,
    results=(
        Printed("values", "how many values follow, from degree 1"),
        Printed("value", "dimension of degree n of the coordinate ring", per_item="values"),
    ),
    data=last_degree,
    too_large=ELIMINATION,
    facts=_facts_of_values,
    check=check_values,
    systems=_graph,
    values=values_of_basis,
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
            yield result.name, Fact(*_generated(problem, int(degree)), f"the value in degree {degree}")


def _generated(problem: Problem, n: int) -> tuple[int, int]:
    """Bounds of the Hilbert function in degree n of what the problem's equations generate."""
    layer, values, exact = problem.layer, problem.data["hilbert_function"], problem.is_exact
    size = comb(layer.ambient_dimension + n - 1, n)
    if n < len(values):
        return values[n], values[n] if exact else size
    return hilbert_bounds(layer, n)[n][0] if exact else 1, size


COMPLETE_IDEAL = layer_task(
    "complete-ideal",
    "whether equations are all",
    title="Do the equations found generate the whole ideal?",
    reference="Proposition A.5",
    facts=_facts_of_completeness,
    check=NoChecks("each result is an integer of its own, and its facts bound it"),
)


# The Zariski closure of the points with rk A ≤ 1 and rk V ≤ 1 ----------------------------------------------


class Cone(NamedTuple):
    """The dimension of an affine cone, and its degree."""

    dimension: int
    degree: int


def _only_wide(layer: SingleLayer) -> dict[str, Any]:
    if layer.d < 2:
        raise InputError("d is 1: the neuromanifold is a linear space and nothing on it is singular")
    return {}


def _too_many_minors(layer: SingleLayer) -> str:
    if layer.d < 2 or not layer.has_orbits:
        return needs_two_tokens(layer) or "for d = 1 nothing is singular"
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
        h = random.integers(-9, 10, layer.d_out).astype(object)
        q, l, m = (random.integers(-9, 10, layer.d).astype(object) for _ in range(3))
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


RANK_ONE_LOCUS = layer_task(
    "rank-one-locus",
    "the closure of the points with rk A, rk V ≤ 1",
    native=lambda layer: Cone(image_dimension(layer, Stratum(1, 1, 2)), closure_degree(layer)),
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
    read=lambda answer: Cone(answer.integers["dimension"], answer.integers["degree"]),
    parts=(
        Source("dimension and degree of the closure", ENGINE),
        Source("equations of the closure, minors of flattenings", "native", ENGINE),
    ),
    facts=_facts_of_rank_one_locus,
    check=_check_rank_one_locus,
)


# Named families of equations --------------------------------------------------------------------------------


def _numbers_of_resultants(layer: SingleLayer) -> dict[str, Any]:
    """How many resultants of two forms of a row, and of a column, are independent on all planes."""

    def dimension(*shapes: Partition) -> int:
        return module_dimension(shapes, layer.gl_sizes)

    return {"rows": dimension((4,), (2, 2), (4, 4)), "columns": dimension((2, 2), (4,), (4, 4))}


def _families_are_all(problem: Problem) -> bool:
    """Whether the named families give all equations of degree at most 4 (docs/layer/equations/names.md).

    For d = 4 the partial derivatives of forms give further quartics; for d = 3 < d' minors may do so.
    """
    layer = problem.layer
    return problem.is_exact and (layer.d <= 2 or layer.d == 3 >= layer.d_out)


def _facts_of_named_equations(problem: Problem) -> Facts:
    generators = known_generators(problem)
    if generators and _families_are_all(problem):
        number = sum(generators.values())
        yield "number", Fact(number, number, "the number of equations")


def _check_named_equations(answer: Answer) -> None:
    layer, named = answer.problem.layer, answer.polynomials["generators"]
    check_homogeneous(named)
    between(len(named), "the number of equations", answer.integers["number"], len(named))
    rank_of_gradients(answer, _random_points(layer), layer)
    all_of_them = _families_are_all(answer.problem)
    check_generators(named, known_generators(answer.problem) if all_of_them else None)


NAMED_EQUATIONS = layer_task(
    "named-equations",
    "the named families of equations",
    summary="equations of the neuromanifold by their meaning: minors, products, common factors, resultants",
    title="Named families of equations of {M}",
    reference="Proposition A.5",
    results=(
        Printed("number", "minimal generators of the ideal of all of them"),
        Printed("generators", "these", ring=ring_of_coordinates),
    ),
    data=_numbers_of_resultants,
    facts=_facts_of_named_equations,
    check=_check_named_equations,
)


# Single points, and sections --------------------------------------------------------------------------------


def _check_membership(answer: Answer) -> None:
    between(0, "the value of member", answer.integers["member"], 1)
    if not answer.problem.is_exact:
        return
    native = identify(answer.problem.layer, list(answer.problem.data["target"]), nearest=False)
    inside = native.in_zariski_closure if native.evidence is Evidence.PROVED else None
    member = bool(answer.integers["member"])
    where = "in" if member else "not in"
    demand(inside in (None, member), f"it says that the point is {where} the closure, and it is {native}")


MEMBERSHIP = layer_task(
    "membership",
    "whether a point is in the Zariski closure",
    summary="whether the coefficients in --point are in the Zariski closure",
    title="Is a point in the Zariski closure of the neuromanifold {M}?",
    reference="Corollary A.6",
    one_token=True,
    results=(Printed("member", "1 if the point is in the Zariski closure of the neuromanifold"),),
    data=lambda layer, target: {"target": target},
    check=_check_membership,
)


def _slice(layer: SingleLayer, slice: Slice | None = None) -> dict[str, Any]:
    chosen = slice or standard_slice(layer)
    if (size := len(chosen.origin)) != layer.ambient_dimension:
        raise InputError(f"the slice is in {size} coordinates; {layer.name} has {layer.ambient_dimension}")
    return {"slice": chosen}


def _slice_ring(layer: SingleLayer, data: dict[str, Any]) -> PolynomialRing:
    return cast(Slice, data["slice"]).ring()


def _check_slice(answer: Answer) -> None:
    """A section: its dimension against its equation, and the singular points against the derivatives."""
    layer, slice_ = answer.problem.layer, cast(Slice, answer.problem.data["slice"])
    dim, p = answer.integers["dimension"], answer.problem.characteristic
    forms = [f for f in answer.polynomials["equation"] if f]
    singular = answer.polynomials["singular"]
    between(-1, "the dimension of the section", dim, 3)
    demand(len(forms) == (dim < 3), f"a section of dimension {dim} has {len(forms)} equations of a surface")
    for f in forms:
        demand((f.degree() > 0) == (dim == 2), f"the dimension is {dim}, and the equation of the surface {f}")
    if p:
        return
    resultant = resultant_of(layer, slice_)
    if resultant is not None:
        size = 3 if not resultant else 2 if resultant.degree() > 0 else -1
        between(size, f"the dimension of the section, where {resultant} = 0,", dim, size)
    if dim != 2:
        return
    [f] = forms
    expected = surface(slice_, f)
    demand(expected.equation == f.primitive(), f"the equation {f} is not squarefree")
    if resultant is not None:
        other = surface(slice_, resultant).equation
        demand(other == f.primitive(), f"the equation is {f}, and the resultant {other}")
    partials = [f.derivative(gen) for gen in f.ring.gens]
    for polynomials, others in (([f, *partials], singular), (singular, [f, *partials])):
        for g in polynomials:
            demand(
                vanishes_where(others, g) is not False,
                f"the singular points of the surface {f} are not where {', '.join(map(str, singular))} = 0",
            )


def vanishes_where(ideal: Sequence[Polynomial], g: Polynomial) -> bool | None:
    """Whether g is zero on all common zeros of polynomials over ℚ; None where that takes long.

    By Rabinowitsch's trick: iff 1 is in the ideal of them and 1 − sg.
    """
    names = ("extra", *(variable.name for variable in g.ring.variables))
    context = flint.fmpz_mpoly_ctx.get(names, ordering=flint.Ordering.degrevlex)

    def integral(f: Polynomial, power: int) -> Any:
        terms = f.primitive().terms.items()
        return context.from_dict({(power, *exponents): int(coefficient) for exponents, coefficient in terms})

    one = context.from_dict({(0,) * len(names): 1})
    generators = [integral(f, 0) for f in ideal if f] + [one - integral(g, 1)]
    limits = (200, 500, 2000)
    vector: Any = flint.fmpz_mpoly_vec(generators, context)
    basis, whole = vector.buchberger_naive(limits=limits)
    if any(f.is_constant() and f for f in basis):
        return True
    return False if whole else None


SLICE = layer_task(
    "slice",
    "a section",
    summary="a surface in the neuromanifold and its singular points: Figure 1, or --slice",
    title="A section of the neuromanifold {M} by an affine space of dimension 3",
    reference="Figure 1",
    results=(
        Printed("dimension", "dimension of the section; -1 if it is empty"),
        Printed("equation", "equation of its surface, squarefree; 1 if none", ring=_slice_ring),
        Printed("singular", "radical ideal of the surface's singular points", ring=_slice_ring),
    ),
    data=_slice,
    too_large=ELIMINATION,
    parts=(Source("equation of the surface and its singular points", ENGINE), Source("the slice", "native")),
    check=_check_slice,
)
