"""What engines can be asked about sections of the neuromanifold of a layer, and about single points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any, cast

import flint

from agattn.algebra.polynomial import Polynomial, PolynomialRing
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.evidence import Evidence, Source
from agattn.geometry.reconstruction.membership import identify
from agattn.geometry.sections.slices import Slice, resultant_of, standard_slice, surface
from agattn.systems.consistency import (
    at_point,
    between,
    bounds_of_dimension,
    check_degree,
    check_generators,
    check_homogeneous,
    degree_of_closure,
    demand,
)
from agattn.systems.layer_tasks import (
    ELIMINATION,
    bounds_of_tangent_space,
    fiber_system,
    layer_task,
    points_given,
    ring_of_coordinates,
)
from agattn.systems.problem import ENGINE, Answer, Facts, Printed, Problem, System


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
        demand(
            (multiplicity == 1) == (span == dim),
            f"at {point.label} a cone of dimension {dim} and degree {multiplicity} spans {span}",
        )


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


def _check_membership(answer: Answer) -> None:
    between(0, "the value of member", answer.integers["member"], 1)
    if not answer.problem.is_exact:
        return
    native = identify(answer.problem.layer, list(answer.problem.data["target"]), nearest=False)
    inside = native.in_zariski_closure if native.evidence is Evidence.PROVED else None
    member = bool(answer.integers["member"])
    where = "in" if member else "not in"
    demand(inside in (None, member), f"it says that the point is {where} the closure, and it is {native}")


def _systems_of_membership(problem: Problem) -> Iterator[System]:
    yield System("fiber", fiber_system(problem.layer, problem.data["target"], problem.characteristic))


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
    systems=_systems_of_membership,
    values=lambda bases, problem: {"member": int(bases["fiber"].has_zeros)},
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
