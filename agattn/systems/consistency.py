"""What must hold of an engine's answer: each task's values against each other and against ours.

An answer that is whole and undamaged can still be wrong, where the engine is. Every integer is compared here
with what is known natively (:mod:`agattn.systems.native_facts`), always and first; then all values with those
printed beside them, and polynomials with the map and with general theorems of algebraic geometry.

>>> from agattn import SingleLayer
>>> from agattn.systems.catalogue import build
>>> check_answer(Answer(build("hilbert-function", SingleLayer(2, 1), max_degree=1),
...                     {"values": 1, "value@1": 7}, {}))
Traceback (most recent call last):
    ...
agattn.errors.TranscriptError: the value in degree 1 is 7; it must be 6
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import comb, inf, prod
from operator import mul
from typing import Any, cast

import flint
import numpy as np

from agattn.algebra.echelon import echelon, fraction
from agattn.algebra.polynomial import Polynomial, jacobian_at
from agattn.architectures import DeepNetwork, SingleLayer
from agattn.errors import InputError, TranscriptError
from agattn.geometry.critical_points.ed_degree import numbers_by_theorem
from agattn.geometry.critical_points.elimination import equation
from agattn.geometry.critical_points.loss import Loss, loss_of_block
from agattn.geometry.ideal.ideal import DegreePiece
from agattn.geometry.identifiability.virtual_weights import local_fiber
from agattn.geometry.reconstruction.membership import identify
from agattn.geometry.sections.slices import Slice, block_of, resultant_section, surface
from agattn.geometry.strata.strata import Stratum, image_dimension, open_stratum
from agattn.geometry.variety.coordinates import coefficients, coordinates, parametrization
from agattn.systems.deep_tasks import ZeroSet, limit_value, vanish_on, weights_ring, zero_sets
from agattn.systems.native_facts import (
    DEGREES,
    bounds_of_dimension,
    is_exact,
    known_degrees,
    known_degrees_of_model,
    native_facts,
)
from agattn.systems.problem import Answer, Problem

# Modulo a small prime a random point can be a special one.
_LARGE_PRIME = 10_000


def check_answer(answer: Answer) -> None:
    """Refuse an answer that cannot be right.

    Raises:
        TranscriptError: if something that must hold of the task's values does not; says what.
    """
    for name, fact in native_facts(answer.problem).items():
        if name in answer.integers:
            _between(fact.low, fact.what, answer.integers[name], fact.high)
    for name, value in answer.integers.items():
        if name.split("@")[0] in ("member", "escapes", "rescaling"):
            _between(0, f"the value of {name}", value, 1)
    if check := _CHECKS.get(answer.problem.form):
        check(answer)


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise TranscriptError(otherwise)


def _between(low: int, name: str, value: int, high: float) -> None:
    allowed = str(low) if low == high else f"at least {low}" if high == inf else f"from {low} to {high}"
    _demand(low <= value <= high, f"{name} is {value}; it must be {allowed}")


def _at(answer: Answer, label: object, *names: str) -> list[int]:
    """Integer results for one point or item."""
    return [answer.integers[f"{name}@{label}"] for name in names]


# The variety ------------------------------------------------------------------------------------------------


def _random_points(layer: SingleLayer) -> Iterator[list[Any]]:
    """Three points of M with integer coordinates."""
    random = np.random.default_rng(0)
    rows = (layer.alpha, layer.alpha, layer.d_out)
    for _ in range(3):
        K, Q, V = (random.integers(-9, 10, (n, layer.d)).astype(object) for n in rows)
        yield list(coefficients(layer, K.T @ Q, V))


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


def _gradients(answer: Answer, points: Iterable[Sequence[Any]], where: object) -> int:
    """The largest rank of the gradients of equations at some points, at which all of them must vanish."""
    forms, ranks = answer.polynomials["generators"], [0]
    for point in points:
        for f in forms:
            _demand(not f(*point), f"the engine's equation {f.macaulay2()[:80]} does not vanish on {where}")
        ranks.append(int(jacobian_at(forms, point).rank()))
    return max(ranks)


def _check_homogeneous(forms: Iterable[Polynomial]) -> None:
    for f in forms:
        degrees = {sum(exponents) for exponents in f.terms}
        _demand(len(degrees) == 1 and 0 not in degrees, f"{f.macaulay2()[:80]} is no form of positive degree")


def _check_degree(dim: int, degree: int, forms: Sequence[Polynomial], size: int, cone: bool = True) -> None:
    """The dimension and degree of a variety against generators of its ideal.

    The codimension is at most the number m of generators, and the degree at most the product of the largest
    of their degrees (Bézout), equal to it for a cone where m is the codimension.
    """
    codimension = size - dim
    _between(0, "the codimension", codimension, min(size, len(forms)))
    bezout = prod(sorted((f.degree() for f in forms), reverse=True)[:codimension])
    complete = cone and codimension == len(forms)
    _between(bezout if complete else 1, "the degree", degree, bezout)


def _check_variety(answer: Answer, gradients: int, size: int, cone: bool = True) -> None:
    """Dimension and degree of an irreducible variety against its equations and the rank of their gradients.

    At a general point the gradients have the codimension as rank, since the ideal is prime. The degree of a
    cone is above the codimension in its linear span (Harris, *Algebraic Geometry*, Proposition 18.9).
    """
    dim, degree, p = answer.integers["dimension"], answer.integers["degree"], answer.problem.characteristic
    forms = answer.polynomials["generators"]
    _check_degree(dim, degree, forms, size, cone)
    exact = not p or p > _LARGE_PRIME
    _between(size - dim if exact else 0, "the rank of the gradients", gradients, size - dim)
    in_span = size - dim - sum(f.degree() == 1 for f in forms)
    high = not cone or degree > in_span
    _demand(high, f"the degree is {degree}; with this dimension it must be above {in_span}")


def _check_generators(answer: Answer, known: Iterable[DegreePiece]) -> None:
    """The number of minimal generators of each degree against the native one."""
    counts = Counter(f.degree() for f in answer.polynomials["generators"])
    for piece in known:
        n, number = piece.degree, piece.minimal_generators
        _between(number, f"the number of generators of degree {n}", counts[n], number)


def _check_ideal(answer: Answer) -> None:
    layer = answer.problem.layer
    _check_homogeneous(answer.polynomials["generators"])
    _check_variety(answer, _gradients(answer, _random_points(layer), layer), layer.ambient_dimension)
    _check_generators(answer, known_degrees(layer, DEGREES) if is_exact(answer.problem) else ())


def _check_rank_one_locus(answer: Answer) -> None:
    layer = answer.problem.layer
    _check_homogeneous(answer.polynomials["generators"])
    _check_variety(answer, _gradients(answer, _rank_one_points(layer), layer), layer.ambient_dimension)


def _check_values(answer: Answer) -> None:
    """The values of a Hilbert function, which grows, as the ideal is prime."""
    data, last = answer.problem.data, 1
    if "polynomials" in data:
        size = len(data["polynomials"]) + (not data["cone"])
    else:
        size = answer.problem.layer.ambient_dimension
    for n in range(1, data["max_degree"] + 1):
        value = answer.integers[f"value@{n}"]
        _between(last, f"the value in degree {n}", value, comb(size + n - 1, n))
        last = value


# At points --------------------------------------------------------------------------------------------------


def _check_singular_locus(answer: Answer) -> None:
    layer, integers = answer.problem.layer, answer.integers
    dim, size, points = integers["dimension"], layer.ambient_dimension, answer.problem.points
    for point in points:
        rank = integers[f"jacobian-rank@{point.label}"]
        _between(0, f"the rank of the Jacobian at {point.label}", rank, size - dim)
    ranks = answer.by_ranks("jacobian-rank")
    if "locus-dimension" not in integers or len(ranks) < len(points):
        return
    # The points stand for all strata, which are orbits: the locus is the union of closures of some.
    expected = max((image_dimension(layer, s) for s, rank in ranks.items() if rank < size - dim), default=-1)
    _between(expected, "the dimension of the singular locus", integers["locus-dimension"], expected)
    degree = integers["locus-degree"]
    _demand(expected < 0 or degree > 0, f"the degree of the singular locus is {degree}")
    _demand(expected != 0 or degree == 1, f"the locus is a point, and its degree {degree}")


def _check_critical(answer: Answer) -> None:
    for point in answer.problem.points:
        kernel, cone = _at(answer, point.label, "kernel-dimension", "cone-dimension")
        _between(1, f"the dimension in the tangent cone at {point.label}", cone, kernel)


def _check_fibers(answer: Answer) -> None:
    for point in answer.problem.points:
        escapes, length, number = _at(answer, point.label, "escapes", "length", "points")
        possible = (0 if escapes else 1) <= number <= length
        _demand(possible, f"the fiber at {point.label} cannot have {number} points and length {length}")


def _check_tangents(answer: Answer) -> None:
    size = answer.problem.layer.ambient_dimension
    for point in answer.problem.points:
        names = ("differential-rank", "curve-rank", "equation-rank")
        differential, curves, gradients = _at(answer, point.label, *names)
        _between(differential, f"the rank of the curves at {point.label}", curves, size - gradients)


def _check_tangent_cones(answer: Answer) -> None:
    size = answer.problem.layer.ambient_dimension
    for point in answer.problem.points:
        dim, multiplicity, span = _at(answer, point.label, "dimension", "multiplicity", "span")
        cone = answer.polynomials[f"cone@{point.label}"]
        _check_homogeneous(cone)
        _check_degree(dim, multiplicity, cone, size)
        linear = size - sum(f.degree() == 1 for f in cone)
        _between(linear, f"the dimension of the span at {point.label}", span, linear)
        # A local ring of an irreducible variety has multiplicity 1 exactly if it is regular (Nagata).
        _demand(
            (multiplicity == 1) == (span == dim),
            f"at {point.label} a cone of dimension {dim} and degree {multiplicity} spans {span}",
        )


# Single answers ---------------------------------------------------------------------------------------------


def _check_membership(answer: Answer) -> None:
    if not is_exact(answer.problem):
        return
    found = identify(answer.problem.layer, list(answer.problem.data["target"]), nearest=False)
    known = found.in_zariski_closure if found.evidence.value == "proved" else None
    said = bool(answer.integers["member"])
    where = "in" if said else "not in"
    _demand(known in (None, said), f"it says that the point is {where} the closure, and it is {found}")


def _check_slice(answer: Answer) -> None:
    """A section: its dimension against its equation, and the singular points against the derivatives."""
    layer, slice_ = answer.problem.layer, cast(Slice, answer.problem.data["slice"])
    dim, p = answer.integers["dimension"], answer.problem.characteristic
    forms = [f for f in answer.polynomials["equation"] if f]
    singular = answer.polynomials["singular"]
    _between(-1, "the dimension of the section", dim, 3)
    _demand(len(forms) == (dim < 3), f"a section of dimension {dim} has {len(forms)} equations of a surface")
    if not forms:
        return
    [f] = forms
    _demand((f.degree() > 0) == (dim == 2), f"the dimension is {dim}, and the equation of the surface {f}")
    if f.degree() < 1 or p:
        return
    expected = surface(slice_, f)
    _demand(expected.equation == f.primitive(), f"the equation {f} is not squarefree")
    if block_of(layer, slice_) is not None:
        try:
            known = resultant_section(layer, slice_).equation
        except InputError:
            known = None
        _demand(known == f.primitive(), f"the equation is {f}, and the resultant {known}")
    partials = [f.derivative(gen) for gen in f.ring.gens]
    for polynomials, others in (([f, *partials], singular), (singular, [f, *partials])):
        for g in polynomials:
            _demand(
                _vanishes_where(others, g) is not False,
                f"the singular points of the surface {f} are not where {', '.join(map(str, singular))} = 0",
            )


def _vanishes_where(ideal: Sequence[Polynomial], g: Polynomial) -> bool | None:
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


def _components(answer: Answer, known: str) -> list[int]:
    """The dimensions of components, of which the largest is that of all of them together."""
    dims = [_at(answer, i + 1, "component-dimension")[0] for i in range(answer.integers["components"])]
    _demand(bool(dims), f"there is no component, and {known}")
    _between(max(dims), "the dimension", answer.integers["dimension"], max(dims))
    _demand(min(dims) >= 0, f"a component has dimension {min(dims)}")
    return dims


def _check_components(answer: Answer) -> None:
    """The components of a fiber over virtual weights, one of which runs through the point that is known."""
    dims = _components(answer, "the fiber contains a point")
    if not is_exact(answer.problem):
        return
    data = answer.problem.data
    *M, L = (np.array([[int(x) for x in row] for row in m], object) for m in (*data["M"], data["L"]))
    low, high = local = local_fiber(M, L, _network(answer).t)
    _demand(
        any(low <= n <= high for n in dims),
        f"no component has the dimension of the fiber near the point, {low} to {high}",
    )
    rescalings = [n for i, n in enumerate(dims, 1) if answer.integers[f"rescaling@{i}"]]
    # Near the point the fiber consists of rescalings, so that their closure is a component.
    _demand(
        not local.is_exact or low in rescalings, f"no component consists of rescalings of dimension {low}"
    )


def _check_base_locus(answer: Answer) -> None:
    """The components of {φ = 0} are linear spaces on which φ vanishes, and make up all known zeros.

    Let P be a prime that contains φ, whose coefficients, for t ≥ 2 as for t = 1, are those of products of
    forms in X, a row of V times a form in A. As P is prime, it contains all of one factor; so minimal primes
    are generated by linear forms, and φ cancels when these are put in.

    On the linear space where linear generators are zero, some weights are linear forms in the others.
    """
    layer, p = answer.problem.layer, answer.problem.characteristic
    phi = [f for f in parametrization(layer, p) if f]
    gens = phi[0].ring.gens
    spaces = []
    for name, generators in answer.polynomials.items():
        linear = [f for f in generators if f.degree() == 1]
        for f in linear:
            _demand(not f.constant, f"{f} is not homogeneous, and the zeros of φ are a cone")
        images = list(gens)
        reduced, pivots = echelon(jacobian_at(linear, (0,) * len(gens)))
        for i, pivot in enumerate(pivots):
            row = [int(x) if p else fraction(x) for x in reduced.table()[i]]
            images[pivot] -= sum((g * x for g, x in zip(gens, row, strict=True) if x), 0 * gens[0])
        if any(f.compose(images) for f in phi):
            raise TranscriptError(f"φ does not vanish on {name}, which was to be a component of its zeros")
        _demand(len(linear) == len(generators), f"{name} is smaller than a linear space on which φ vanishes")
        spaces.append((name, images, linear))
    for name, images, _ in spaces:
        inside = [
            other for other, _, forms in spaces if other != name and not any(f.compose(images) for f in forms)
        ]
        _demand(not inside, f"{name} lies in {', '.join(inside)}, so it is no component")
    for letter, others in (("A", "v"), ("V", "a")):
        zero = [
            gen if v.letter == others else gen.ring.zero()
            for gen, v in zip(gens, phi[0].ring.variables, strict=True)
        ]
        there = any(not any(f.compose(zero) for f in forms) for _, _, forms in spaces)
        _demand(there, f"φ = 0 where {letter} = 0, which lies in no component")


# Deep networks ----------------------------------------------------------------------------------------------


def _network(answer: Answer) -> DeepNetwork:
    return cast(DeepNetwork, answer.problem.architecture)


def _check_deep_fiber(answer: Answer) -> None:
    """The limit against a formula; and in all charts both controls have preimages."""
    network, data, p = _network(answer), answer.problem.data, answer.problem.characteristic
    integers, size = answer.integers, len(weights_ring(network).gens)
    # Singular lists no zeros, which there are in finite fields.
    values = [value for f in answer.polynomials["limit"] if (value := Fraction(f(*[0] * size)))]
    limit = (_in_field(x, p) for x in limit_value(network, data, np.array(data["X"])).ravel())
    expected = [value for value in limit if value]
    _demand(values == expected, f"the limit at X0 is {_listed(values)}; it must be {_listed(expected)}")
    for name in ("point", "rank-one"):
        for i in range(1, integers["charts"] + 1):
            _demand(integers[f"{name}-degree@{i}"] > 0, f"{name}-degree@{i} is not positive")


def _listed(numbers: Iterable[Fraction]) -> str:
    return ", ".join(map(str, numbers))


def _in_field(x: Fraction, p: int) -> Fraction:
    return Fraction(x.numerator * pow(x.denominator, -1, p) % p) if p else x


def _check_generates(generators: Sequence[Polynomial], zeros: ZeroSet, name: str) -> None:
    """Generators of a prime ideal span its linear forms, and have at least its number of new quadrics."""
    linear = [f for f in generators if f.degree() == 1]
    rank = int(jacobian_at(linear, (0,) * len(zeros.points)).rank()) if linear else 0
    _between(zeros.linear_forms, f"the number of linear forms of {name}", rank, zeros.linear_forms)
    quadrics = sum(f.degree() == 2 for f in generators)
    _between(zeros.quadrics, f"the number of quadrics of {name}", quadrics, inf)


def _check_deep_zeros(answer: Answer) -> None:
    """All known zeros lie in components, and determine these, but for ones through none of them.

    Near a point of a component its dimension is at most the number of weights minus the rank of gradients.
    """
    network, p = _network(answer), answer.problem.characteristic
    dims = dict(enumerate(_components(answer, "φ = 0 where L = 0"), 1))
    components = {i: answer.polynomials[f"component@{i}"] for i in dims}
    size = len(weights_ring(network).gens)
    high = dict.fromkeys(components, size)
    random = np.random.default_rng(0)
    for zeros in zero_sets(network, p):
        through = [i for i, generators in components.items() if vanish_on(generators, zeros)]
        _demand(bool(through), f"φ = 0 where {zeros.name}, which lies in no component")
        place = [int(n) for n in random.integers(1, 50, len(zeros.points[0].ring.gens))]
        point = [image(*place) for image in zeros.points]
        for i in through:
            high[i] = min(high[i], size - int(jacobian_at(components[i], point).rank()))
            _between(zeros.dimension, f"the dimension of component@{i}", dims[i], high[i])
            if dims[i] == zeros.dimension:  # both are irreducible, and one lies in the other
                _check_generates(components[i], zeros, f"component@{i}")
    for i, dim in dims.items():
        _between(0, f"the dimension of component@{i}", dim, high[i])


def _check_critical_points(answer: Answer) -> None:
    """Sets of critical points lie in their strata; where two weights lie over each point, they are even."""
    parts = answer.problem.data["parts"]
    known = _numbers_of_critical_points(answer, [part.stratum for part in parts])
    _between(len(parts), "the number of strata", answer.integers["strata"], len(parts))
    for i, part in enumerate(parts, 1):
        dimension, degree, lower = _at(answer, i, "dimension", "degree", "lower")
        _between(-1, f"the dimension on {part.stratum}", dimension, len(part.variables) - 1)
        _between(0, f"the value of lower@{i}", lower, len(part.lower))
        _demand((degree > 0) == (dimension >= 0), f"on {part.stratum} dimension and degree do not fit")
        even = degree % part.preimages == 0
        _demand(even, f"on {part.stratum} an odd number of weights is over points with two")
        if not lower:
            _check_number(part.stratum, dimension, degree // part.preimages, *known[part.stratum])


def _check_critical_equations(answer: Answer) -> None:
    dimension, degree = answer.integers["dimension"], answer.integers["degree"]
    _between(-1, "the dimension", dimension, answer.problem.layer.expected_dimension)
    _demand((degree > 0) == (dimension >= 0), "dimension and degree do not fit")
    stratum = open_stratum(answer.problem.layer)
    _check_number(stratum, dimension, degree, *_numbers_of_critical_points(answer, [stratum])[stratum])


def _numbers_of_critical_points(
    answer: Answer, strata: Iterable[Stratum]
) -> dict[Stratum, tuple[int | None, int | None]]:
    """For strata, the open one first: how many critical points the loss has, and the most that are isolated.

    Where one parameter is left they are counted natively, over the field of the problem. No loss of data has
    more isolated ones than that of general data: they persist, with multiplicity, when data change.
    """
    layer, data = answer.problem.layer, answer.problem.data
    given = loss_of_block(layer, data["block"], data["linear"][0], data["metric"])
    of_data = given.metric in ("data", "generic", "gaussian")
    most = numbers_by_theorem(layer, "generic") if of_data else {}
    found = {}
    for n, stratum in enumerate(strata):
        bound = most[stratum][0] if stratum in most else None
        found[stratum] = _eliminated(given, stratum if n else None, answer.problem.characteristic), bound
    return found


def _eliminated(given: Loss, stratum: Stratum | None, characteristic: int) -> int | None:
    """The number of critical points by elimination; ``None`` where it says nothing, or infinitely many."""
    one_parameter = (given.layer.d, given.layer.d_out) == (2, 1)
    if not one_parameter or given.rank < given.size or not any(given.linear):
        return None
    try:
        return equation(given.layer, given, stratum).number(characteristic)
    except InputError:  # all values of the parameter are critical
        return None


def _check_number(stratum: Stratum, dimension: int, number: int, known: int | None, most: int | None) -> None:
    """The number of critical points on a stratum against what is known of it."""
    name = f"the number of critical points on {stratum}"
    if known is not None:
        _between(min(known, 1) - 1, f"the dimension on {stratum}", dimension, min(known, 1) - 1)
        _between(known, name, number, known)
    if most is not None and dimension <= 0:
        _between(0, name, number, most)


# Any polynomial architecture --------------------------------------------------------------------------------


def _check_model_ideal(answer: Answer) -> None:
    """Equations of an image of an affine space, which is irreducible, all of them or to a degree."""
    problem, forms = answer.problem, answer.polynomials["generators"]
    data = problem.data
    degrees, size = data["degrees"], len(data["polynomials"])
    for f in forms:
        if degrees:
            weights = {sum(map(mul, degrees, exponents)) for exponents in f.terms}
            _demand(len(weights) == 1, f"{f.macaulay2()[:80]} is not homogeneous")
            most = data.get("bound", max(weights))
            _between(1, f"the degree of {f.macaulay2()[:80]}", max(weights), most)
    gradients = _gradients(answer, _model_points(problem), "the image")
    low, _ = bounds_of_dimension(problem.architecture)
    _between(0, "the rank of the gradients", gradients, size - low)
    if "dimension" in answer.integers:
        _check_variety(answer, gradients, size, data["cone"])
    if data["cone"] and is_exact(problem):
        _check_generators(answer, known_degrees_of_model(problem, data.get("max_degree", DEGREES)))


def _model_points(problem: Problem) -> Iterator[list[Any]]:
    """Three points of the image with integer coordinates."""
    random = np.random.default_rng(0)
    for _ in range(3):
        theta = [int(n) for n in random.integers(-9, 10, problem.architecture.parameters)]
        yield [f(*theta) for f in problem.data["polynomials"]]


def _check_model_fiber(answer: Answer) -> None:
    """The components and the degree of a fiber, one component of which contains the point."""
    integers, problem = answer.integers, answer.problem
    n, polynomials = problem.architecture.parameters, problem.data["polynomials"]
    dim, degree = integers["dimension"], integers["degree"]
    bezout = prod(sorted((f.degree() for f in polynomials), reverse=True)[: n - dim])
    if "components" not in integers:
        _between(1, "the degree of the fiber", degree, bezout)
        return
    dims, high = _components(answer, "the fiber contains the point"), integers["tangent-dimension"]
    least = native_facts(problem)["dimension"].low
    _demand(min(dims) >= least, f"a component has dimension {min(dims)}; it must be at least {least}")
    near = f"no component has dimension at most {high}, that of the tangent space at the point"
    _demand(min(dims) <= high, near)
    degrees = [integers[f"component-degree@{i + 1}"] for i in range(len(dims))]
    _demand(min(degrees) >= 1, f"a component has degree {min(degrees)}")
    reduced = sum(d for d, of in zip(degrees, dims, strict=True) if of == dim)
    _between(reduced, "the degree of the fiber", degree, bezout)


def _check_model_critical(answer: Answer) -> None:
    """A determinantal locus, which is everything nowhere and has at most the codimension of a general one."""
    integers, data = answer.integers, answer.problem.data
    n, N, r = answer.problem.architecture.parameters, len(data["polynomials"]), data["rank"]
    dim, degree = integers["dimension"], integers["degree"]
    there = jacobian_at(data["polynomials"], (0,) * n).rank() < r  # the point 0
    least = max(0, n - (n - r + 1) * (N - r + 1)) if there else -1
    _between(least, "the dimension of the locus", dim, n - 1 if is_exact(answer.problem) else n)
    _between(n - dim, "the codimension", integers["codimension"], n - dim)
    _demand((degree > 0) == (dim >= 0), f"the degree of the locus is {degree}, and its dimension {dim}")


_CHECKS: Mapping[str, Callable[[Answer], None]] = {
    "implicit-ideal": _check_ideal,
    "rank-one-locus": _check_rank_one_locus,
    "hilbert-function": _check_values,
    "singular-locus": _check_singular_locus,
    "critical-locus": _check_critical,
    "critical-points": _check_critical_points,
    "critical-equations": _check_critical_equations,
    "fiber": _check_fibers,
    "strata-tangents": _check_tangents,
    "tangent-cone": _check_tangent_cones,
    "membership": _check_membership,
    "slice": _check_slice,
    "virtual-fiber": _check_components,
    "base-locus": _check_base_locus,
    "deep-fiber": _check_deep_fiber,
    "deep-base-locus": _check_deep_zeros,
    "model-implicit-ideal": _check_model_ideal,
    "model-hilbert-function": _check_values,
    "model-fiber": _check_model_fiber,
    "model-critical-locus": _check_model_critical,
}
