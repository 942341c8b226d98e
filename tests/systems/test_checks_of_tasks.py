"""The check of each task alone, without the facts: which answers it lets pass, all around the right ones."""

from contextlib import nullcontext
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import pytest
from questions import AFFINE, CUBIC, DEEP, LAYER, LINEAR, NETWORK, NORM, POINT, SMALL, TARGET, TWO

from agattn import DeepNetwork, PolynomialMap, SingleLayer
from agattn.algebra.echelon import fraction, kernel_basis, rational_matrix
from agattn.algebra.polynomial import PolynomialRing
from agattn.errors import TranscriptError
from agattn.evidence import Evidence
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.identifiability.virtual_weights import FiberDimension
from agattn.geometry.sections.slices import Slice
from agattn.geometry.strata.strata import Stratum, open_stratum
from agattn.systems import critical_tasks, ideal_tasks, model_tasks, network_tasks
from agattn.systems.catalogue import build
from agattn.systems.network_tasks import weights_ring
from agattn.systems.problem import Answer

P = 32003


def refusal(problem, integers, polynomials=()):
    """What the check of a task says of an answer; an empty string where the answer passes."""
    try:
        problem.origin.check(Answer(problem, integers, dict(polynomials)))
    except TranscriptError as error:
        return str(error)
    return ""


def those_that_pass(problem, names, *ranges, more=()):
    """Of all tuples of integers in some ranges those with which an answer passes."""
    answers = {found: {**dict(more), **dict(zip(names, found, strict=True))} for found in product(*ranges)}
    return {found for found, integers in answers.items() if not refusal(problem, integers)}


def ring_of(problem, characteristic=0):
    return PolynomialRing(problem.results[-1].ring.variables, characteristic)


# Critical points of a loss ----------------------------------------------------------------------------------

#: Dimensions and degrees that fit each other, in a space of dimension 5.
FIT = {(-1, 0), *product(range(6), range(1, 11))}
KNOWN = pytest.mark.parametrize(
    ("known", "most", "right"),
    [
        (None, None, FIT),
        (3, None, {(0, 3)}),
        (0, None, {(-1, 0)}),
        (None, 4, FIT - {*product([0], range(5, 11))}),
    ],
)


def knowing(monkeypatch, known, most):
    """This is known of the number of critical points, and of the number of isolated ones."""

    def numbers(answer, strata):
        return dict.fromkeys(strata, (known, most))

    monkeypatch.setattr(critical_tasks, "_numbers_of_critical_points", numbers)


@KNOWN
def test_critical_points_by_equations(monkeypatch, known, most, right):
    knowing(monkeypatch, known, most)
    problem = build("critical-equations", LAYER, P, **NORM)
    assert those_that_pass(problem, ("dimension", "degree"), range(-3, 8), range(-1, 11)) == right


@KNOWN
@pytest.mark.parametrize(("i", "size", "lowers"), [(1, 5, 1), (2, 3, 0), (3, 4, 1)])
def test_critical_points_on_a_stratum(monkeypatch, known, most, right, i, size, lowers):
    """Strata of these dimensions, with so many lower ones."""
    knowing(monkeypatch, known, most)
    problem = build("critical-points", LAYER, P, **NORM)
    dim, number = (0, 3) if (0, 3) in right else (-1, 0)
    integers = {"strata": 3}
    for n in (1, 2, 3):
        integers |= {f"dimension@{n}": dim, f"degree@{n}": number, f"lower@{n}": 0}
    for strata in range(5):
        assert (not refusal(problem, integers | {"strata": strata})) is (strata == 3)
    for dim, degree, lower in product((-2, -1, 0, 1, 3, 4, 5, 6), (-1, 0, 1, 2, 3, 5, 6, 10), range(-1, 3)):
        said = {f"dimension@{i}": dim, f"degree@{i}": degree, f"lower@{i}": lower}
        fits = dim <= size and 0 <= lower <= lowers
        # With points of lower strata among them the numbers are not compared.
        of = FIT if lower else right
        assert (not refusal(problem, integers | said)) is (fits and (dim, degree) in of)


@pytest.mark.parametrize(
    ("layer", "given", "right"),
    [
        (LAYER, loss(LAYER, "gaussian"), {(-1, 0), *((0, n) for n in range(2, 11, 2))}),
        (SingleLayer(3, 1, 2), loss(SingleLayer(3, 1, 2), "gaussian"), {(0, n) for n in range(1, 11, 2)}),
        (SMALL, loss(SMALL, "coefficients"), {(-1, 0), *((0, n) for n in range(2, 11, 2))}),
        # Others may be special: with a given target, and with so few samples that W has no full rank.
        (LAYER, loss(LAYER, "gaussian", target=[1, 0, 0, 0, 0, 0]), FIT),
        (LAYER, loss(LAYER, samples=2), FIT),
    ],
)
def test_general_losses_have_finitely_many_critical_points_in_pairs(monkeypatch, layer, given, right):
    """Their number over ℚ is even or odd as Σ (−1)^index of the real ones: 0, 1, 0."""
    knowing(monkeypatch, None, None)
    for task, names in (
        ("critical-points", "dimension@1 degree@1"),
        ("critical-equations", "dimension degree"),
    ):
        if task == "critical-equations" and layer is not LAYER:
            continue
        problem = build(task, layer, loss=given, **({"smooth": True} if task == "critical-points" else {}))
        others = {"strata": 1, "lower@1": 0}
        found = {
            (dim, degree) for dim, degree in product(range(-1, 6), range(11))
            if not refusal(problem, others | dict(zip(names.split(), (dim, degree), strict=True)))
        }  # fmt: skip
        assert found == right


# Points of layers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "names", "right"),
    [
        ("critical-locus", "kernel-dimension cone-dimension", lambda kernel, cone: 1 <= cone <= kernel),
        ("fiber", "escapes length points",
         lambda escapes, length, points: escapes in (0, 1) and 1 - escapes <= points <= length),
        ("strata-tangents", "differential-rank curve-rank equation-rank",
         lambda differential, curves, gradients: differential <= curves <= 6 - gradients),
    ],
)  # fmt: skip
def test_numbers_at_a_point(task, names, right):
    names = [f"{name}@point" for name in names.split()]
    ranges = [range(-1, 8)] * len(names)
    found = those_that_pass(build(task, LAYER, **POINT), names, *ranges)
    assert found == {numbers for numbers in product(*ranges) if right(*numbers)}


def singular_locus(dimension, ranks, *locus):
    """An answer about M(2,1,2), with the ranks at 0 and at the strata of dimensions 3, 4 and 5."""
    at = zip(("0,0,0", "1,1,1", "1,1,2", "1,2,2"), ranks, strict=True)
    integers = {"dimension": dimension} | {f"jacobian-rank@{label}": rank for label, rank in at}
    return integers | dict(zip(("locus-dimension", "locus-degree"), locus, strict=False))


def test_the_singular_locus_is_where_the_rank_is_smaller():
    problem = build("singular-locus", LAYER)
    few = {1, 2, 3}
    for ranks, expected, degrees in (
        ((0, 0, 0, 1), 4, few), ((0, 0, 1, 1), 3, few), ((0, 1, 1, 1), 0, {1}), ((0, 0, 0, 0), 5, few),
        ((1, 1, 1, 1), -1, {-1, 0, *few}),
    ):  # fmt: skip
        found = {locus for locus in product(range(-3, 7), range(-1, 4))
                 if not refusal(problem, singular_locus(5, ranks, *locus))}  # fmt: skip
        assert found == {(expected, degree) for degree in degrees}
        assert not refusal(problem, singular_locus(5, ranks))  # where it was not asked for
    for ranks in ((0, 0, 0, 2), (0, -1, 0, 1)):
        assert "the rank of the Jacobian at" in refusal(problem, singular_locus(5, ranks))
    assert not refusal(problem, singular_locus(4, (0, 0, 0, 2), 4, 1))
    words = refusal(problem, singular_locus(5, (0, 1, 1, 1), 0, 0))
    assert words == "the degree of the singular locus is 0"


def test_a_point_that_stands_for_no_stratum_says_nothing_of_the_singular_locus():
    problem = build("singular-locus", LAYER, **POINT)
    integers = {"dimension": 5, "jacobian-rank@point": 1, "locus-dimension": 7, "locus-degree": -1}
    assert not refusal(problem, integers)
    assert refusal(problem, integers | {"jacobian-rank@point": 2})


# Equations --------------------------------------------------------------------------------------------------


def test_equations_of_a_layer_are_as_many_as_are_known():
    problem, other = (build("implicit-ideal", LAYER, p) for p in (0, P))
    y = ring_of(problem).gens[0]
    [quartic] = (e.polynomial(y.ring) for e in compute_ideal(LAYER, 4))

    def said(degree, *forms, asked=problem):
        return refusal(asked, {"dimension": 5, "degree": degree}, {"generators": forms})

    assert not said(4, quartic) and "the degree is 3; it must be 4" in said(3, quartic)
    assert "the number of generators of degree 4 is 0; it must be 1" in said(5, quartic * y)
    assert not said(5, quartic * y, asked=other)
    assert "is no form of positive degree" in said(5, quartic * y + quartic)


def test_equations_of_the_rank_one_locus():
    """For d' = 1 and d = 2 the minors of a 2 × 3 matrix: three quadrics, of codimension 2 and degree 3."""
    problem = build("rank-one-locus", LAYER)
    a, b, c, x, y, z = ring_of(problem).gens
    minors = (a * y - b * x, a * z - c * x, b * z - c * y)

    def said(dimension, degree, *forms):
        return refusal(problem, {"dimension": dimension, "degree": degree}, {"generators": forms})

    assert {numbers for numbers in product(range(7), range(9)) if not said(*numbers, *minors)} == {
        (4, 3), (4, 4)
    }  # fmt: skip
    assert "is no form of positive degree" in said(4, 3, *minors, minors[0] - minors[0])
    assert "the number of generators of degree 2 is 4; it must be 3" in said(4, 3, *minors, minors[0])
    assert "the number of generators of degree 2 is 2; it must be 3" in said(4, 4, *minors[:2])
    words = "of the 3 generators 1 follows from the others"
    assert said(4, 3, *minors[:2], minors[0] - 2 * minors[1]) == words
    assert "does not vanish on M(2,1,2)" in said(4, 3, *minors, a * y + b * x)


def test_named_equations_hold_and_are_all_where_that_is_known():
    problem = build("named-equations", LAYER)
    ring = ring_of(problem)
    [quartic] = (e.polynomial(ring) for e in compute_ideal(LAYER, 4))

    def said(number, *forms, asked=problem):
        return refusal(asked, {"number": number}, {"generators": forms})

    assert not said(1, quartic)
    assert "of the 2 generators 1 follows from the others" in said(2, quartic, quartic * ring.gens[0])
    assert "the number of generators of degree 4 is 2; it must be 1" in said(2, quartic, 2 * quartic)
    assert "the number of equations is 2; it must be 1" in said(2, quartic)
    assert "is no form of positive degree" in said(1, quartic + quartic * ring.gens[0])
    assert "does not vanish" in said(1, ring.gens[0] ** 4)
    assert "the number of generators of degree 4 is 0; it must be 1" in said(0)
    assert not said(0, asked=build("named-equations", LAYER, P))
    assert not said(0, asked=build("named-equations", SingleLayer(4, 1, 1)))


@pytest.mark.parametrize(
    ("forms", "dimension", "multiplicity", "span", "words"),
    [
        ("a", 5, 1, 5, ""),
        ("q", 5, 2, 6, ""),
        ("a q", 4, 2, 5, ""),
        ("", 6, 1, 6, ""),
        ("a+q", 5, 2, 6, "is no form of positive degree"),
        ("q", 5, 1, 6, "the degree is 1; it must be 2"),
        ("q", 5, 2, 5, "the dimension of the span at point is 5; it must be 6"),
        ("a", 5, 1, 7, "the dimension of the span at point is 7; it must be 5"),
        ("q ab", 5, 1, 6, "a cone of dimension 5 and degree 1 spans 6"),
        ("q a", 5, 2, 5, "a cone of dimension 5 and degree 2 spans 5"),
        ("q q", 4, 4, 6, "of the 2 generators 1 follows from the others"),
        ("a ab", 5, 1, 5, "of the 2 generators 1 follows from the others"),
    ],
)
def test_a_tangent_cone_fits_its_equations(forms, dimension, multiplicity, span, words):
    """A cone of degree 1 is a linear space, which it spans, and no other is."""
    problem = build("tangent-cone", LAYER, **POINT)
    a, b, c, *_ = ring_of(problem).gens
    named = {"a": a, "q": a * c - b**2, "a+q": a + a * c - b**2, "ab": a * b}
    integers = {"dimension@point": dimension, "multiplicity@point": multiplicity, "span@point": span}
    said = refusal(problem, integers, {"cone@point": [named[name] for name in forms.split()]})
    assert words in said and bool(said) is bool(words)


# Models -----------------------------------------------------------------------------------------------------

PLANE = PolynomialMap(lambda s: [s[0], s[1], s[0] + s[1]], {"s": 2}, name="plane")
SQUARES = PolynomialMap(lambda s: [s[0] ** 2, s[0] * s[1], s[0] * s[2], s[1] ** 2], {"s": 3}, name="squares")


def test_equations_of_a_model_are_homogeneous_and_hold_and_are_all():
    problem, part = (build("implicit-ideal", CUBIC, max_degree=last) for last in (None, 2))
    w, x, y, z = ring_of(part).gens
    quadrics = (w * y - x**2, x * z - y**2, w * z - x * y)

    def said(*forms, asked=part, **integers):
        return refusal(asked, integers, {"generators": forms})

    assert not said(*quadrics) and not said(*quadrics, asked=problem, dimension=2, degree=3)
    assert "is not homogeneous" in said(*quadrics, quadrics[0] + quadrics[1] * w)
    assert "is 9; it must be from 1 to 6" in said(*quadrics, quadrics[0] * w)
    assert "does not vanish on the image" in said(*quadrics, w**2)
    assert "the number of generators of degree 2 is 2; it must be 3" in said(*quadrics[:2])
    assert "the degree is 5" in said(*quadrics, asked=problem, dimension=2, degree=5)
    words = "of the 3 generators 1 follows from the others"
    for asked in (part, build("implicit-ideal", CUBIC, P, max_degree=2)):
        assert said(*quadrics[:2], quadrics[0] + quadrics[1], asked=asked) == words
    # Modulo a prime equations may depend on each other, and those of what is no cone are not minimal.
    assert not said(asked=build("implicit-ideal", CUBIC, P, max_degree=2))
    affine = build("implicit-ideal", AFFINE)
    x, y, z = ring_of(affine).gens
    surface = x * y - x**3 + 1 - z
    assert not said(surface, surface * x, asked=affine, dimension=2, degree=3)
    words = "of the 2 generators 1 follows from the others"
    assert said(surface, -2 * surface, asked=affine, dimension=2, degree=3) == words
    assert (
        said(surface, surface - surface, asked=affine, dimension=2, degree=3) == "one of the generators is 0"
    )
    linear = build("implicit-ideal", PLANE, max_degree=1)
    x, y, z = ring_of(linear).gens
    assert not said(x + y - z, asked=linear)


def test_equations_of_a_model_have_no_more_independent_gradients_than_its_codimension():
    """Those of the twisted cubic, and of a plane through the points at which agattn looks."""
    problem = build("implicit-ideal", CUBIC, P, max_degree=2)
    w, x, y, z = gens = ring_of(problem, P).gens
    quadrics = (w * y - x**2, x * z - y**2, w * z - x * y)
    [normal] = kernel_basis(rational_matrix([*model_tasks._model_points(problem)], 4))
    plane = sum((fraction(n) * gen for n, gen in zip(normal, gens, strict=True)), w - w)
    assert not refusal(problem, {}, {"generators": quadrics})
    words = refusal(problem, {}, {"generators": (*quadrics, plane)})
    assert words == "the rank of the gradients is 3; it must be from 0 to 2"


def test_generators_that_are_not_homogeneous_need_not_be_linear():
    """Of the curve (s, s, s + s²) a linear equation and a quadric, or their sum and the quadric."""
    problem = build("implicit-ideal", PolynomialMap(lambda s: [s[0], s[0], s[0] + s[0] ** 2], {"s": 1}))
    x, y, z = ring_of(problem, 0).gens
    quadric = z - x - x**2
    for generators in ((x - y, quadric), (x - y + quadric, quadric)):
        assert not refusal(problem, {}, {"generators": generators})


def test_the_degree_of_a_fiber_is_at_most_that_of_bezout():
    """Four quadrics in four parameters."""
    problem = build("fiber", LINEAR)
    found = those_that_pass(problem, ("dimension", "degree"), range(5), range(-1, 18))
    assert found == {(dim, degree) for dim in range(5) for degree in range(1, 2 ** (4 - dim) + 1)}
    # Degrees 1, 3, 1 in two parameters: the largest two.
    cubic = build("fiber", PolynomialMap(lambda s: [s[0], s[1] ** 3, s[1]], {"s": 2}))
    assert those_that_pass(cubic, ("degree",), range(5), more={"dimension": 0}) == {(1,), (2,), (3,)}


@pytest.mark.parametrize(
    ("dims", "degrees", "tangent", "degree", "words"),
    [
        ((1,), (2,), 1, 2, ""),
        ((2, 2), (1, 1), 4, 2, ""),
        ((2, 1), (2, 3), 1, 2, ""),
        ((2, 3), (1, 1), 2, 1, ""),
        ((2, 1), (2, 3), 1, 1, "the degree of the fiber is 1; it must be from 2 to 4"),
        ((2, 1), (2, 3), 1, 5, "the degree of the fiber is 5; it must be from 2 to 4"),
        ((2, 0), (1, 1), 2, 1, "a component has dimension 0; it must be at least 1"),
        ((3,), (1,), 2, 1, "no component has dimension at most 2, that of the tangent space"),
        ((2, 2), (1, 0), 2, 1, "a component has degree 0"),
    ],
)
def test_components_of_a_fiber(dims, degrees, tangent, degree, words):
    """One has the point, and at most the dimension of the tangent space there; all have 1 at least."""
    integers = {"components": len(dims), "dimension": max(dims), "degree": degree}
    integers["tangent-dimension"] = tangent
    for n, (dim, of) in enumerate(zip(dims, degrees, strict=True), 1):
        integers |= {f"component-dimension@{n}": dim, f"component-degree@{n}": of}
    said = refusal(build("fiber", LINEAR, components=True), integers)
    assert words in said and bool(said) is bool(words)


@pytest.mark.parametrize(
    ("model", "p", "dims"),
    [
        (SQUARES, 0, {1, 2}),  # 3 × 4 of rank 3: of codimension 2 at most where there are points, as 0
        (SQUARES, P, {1, 2, 3}),
        (AFFINE, 0, {-1, 0, 1}),  # 0 is none of them
        (AFFINE, P, {-1, 0, 1, 2}),
    ],
)
def test_critical_points_of_a_model(model, p, dims):
    problem, n = build("critical-locus", model, p), model.parameters
    names = ("dimension", "degree", "codimension")
    assert those_that_pass(problem, names, range(-3, 6), range(-1, 3), range(-2, 6)) == {
        (dim, degree, n - dim) for dim in dims for degree in ((1, 2) if dim >= 0 else (0,))
    }


def test_the_parity_of_critical_points_is_that_of_their_stratum():
    """Of M(3,1,1) it is odd on the cone of lower rank, and not known on the smooth part."""
    layer = SingleLayer(3, 1, 1)
    problem = build("critical-points", layer)
    for stratum, numbers in ((Stratum(1, 1, 1), [False, True]), (open_stratum(layer), [True, True])):
        for number, passes in zip((12, 13), numbers, strict=True):
            with nullcontext() if passes else pytest.raises(TranscriptError, match="an odd number is proved"):
                critical_tasks._check_number(problem, stratum, 0, number, None, None)


# Networks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bounds", "dims", "rescalings", "words"),
    [
        ((2, 2), (2,), (1,), ""),
        ((2, 2), (3, 2), (0, 1), ""),
        ((2, 2), (2,), (0,), "no component consists of rescalings of dimension 2"),
        ((2, 2), (2, 3), (0, 0), "no component consists of rescalings of dimension 2"),
        ((2, 2), (3, 2), (1, 0), "components of dimension 3 consist of rescalings, which are one set of"),
        ((2, 2), (3, 2), (1, 1), "components of dimension 3, 2 consist of rescalings"),
        ((2, 2), (2, 2), (1, 1), "components of dimension 2, 2 consist of rescalings"),
        ((2, 2), (3,), (1,), "no component has the dimension of the fiber near the point, 2 to 2"),
        ((2, 2), (2,), (2,), "the value of rescaling@1 is 2; it must be from 0 to 1"),
        ((2, 2), (2, 3, 3), (1, 0, -1), "the value of rescaling@3 is -1"),
        ((1, 2), (1,), (0,), "no component consists of rescalings of dimension 1"),
        ((1, 2), (1, 1), (0, 1), ""),
        ((1, 2), (2,), (0,), ""),
        ((1, 2), (2,), (1,), "components of dimension 2 consist of rescalings"),
        ((1, 2), (3, 1), (0, 0), ""),
        ((1, 2), (3,), (1,), "no component has the dimension of the fiber near the point, 1 to 2"),
    ],
)
def test_components_over_virtual_weights(monkeypatch, bounds, dims, rescalings, words):
    """The fiber near the point has a dimension within bounds; where they meet it consists of rescalings."""
    monkeypatch.setattr(network_tasks, "local_fiber", lambda M, L, t, p, **_: FiberDimension(*bounds))
    integers = {"components": len(dims), "dimension": max(dims)}
    for n, (dim, all_of_them) in enumerate(zip(dims, rescalings, strict=True), 1):
        integers |= {f"component-dimension@{n}": dim, f"rescaling@{n}": all_of_them}
    for characteristic in (0, P):
        said = refusal(build("virtual-fiber", NETWORK, characteristic), integers)
        assert words in said and bool(said) is bool(words)


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("characteristic", [0, P])
def test_over_the_function_0_nothing_is_said_of_rescalings(layers, characteristic, monkeypatch):
    """With weights of one number M = 0 is drawn, so that two lines lie over it."""
    monkeypatch.setattr(network_tasks, "local_fiber", lambda *_, **__: FiberDimension(1, 1))
    problem = build("virtual-fiber", DeepNetwork((1,) * (layers + 1), (1,) * layers, t=2), characteristic)
    integers = {"dimension": 1, "components": 2, "component-dimension@1": 1, "component-dimension@2": 1}
    for flags in product((0, 1), repeat=2):
        assert not refusal(problem, integers | {f"rescaling@{n}": flag for n, flag in enumerate(flags, 1)})


@pytest.mark.parametrize(
    ("characteristic", "limit", "right"),
    [
        (0, (-340736, 357632), True), (0, (-340736, 0, 357632), True), (0, (-340736,), False),
        (0, (357632, -340736), False), (127, (5,), True), (127, (5, 0), True), (127, (5, 5), False),
        (127, (), False),
    ],
)  # fmt: skip
def test_the_limit_is_that_of_the_formula(characteristic, limit, right):
    """Without the zeros, which one engine does not list; the second value is 0 modulo 127."""
    problem = build("deep-fiber", DEEP, characteristic, seed=3)
    one = PolynomialRing(weights_ring(DEEP).variables, characteristic).one()
    integers = dict.fromkeys([f"{name}-degree@{i}" for name in ("point", "rank-one") for i in range(1, 9)], 1)
    integers["charts"] = 8
    named = {"limit": [one * n for n in limit]}
    assert (not refusal(problem, integers, named)) is right
    x = one.ring.gens[0]
    said = refusal(problem, integers, {"limit": [f + x for f in named["limit"]]})
    assert not limit or said.startswith("the limit at X0 has the entry ")
    for wrong in ("point-degree@1", "point-degree@8", "rank-one-degree@1") if right else ():
        assert refusal(problem, integers | {wrong: 0}, named) == f"{wrong} is not positive"


def zeros(network, *components):
    """What is said of components of the zeros, each of which has a dimension and then its equations."""
    integers = {"components": len(components), "dimension": max(dim for dim, *_ in components)}
    integers |= {f"component-dimension@{n}": dim for n, (dim, *_) in enumerate(components, 1)}
    named = {f"component@{n}": forms for n, (_, *forms) in enumerate(components, 1)}
    return refusal(build("deep-base-locus", network), integers, named)


def test_zeros_of_a_deep_network_have_the_equations_that_are_known():
    a, b, c, d, e, f, g, h, x, y = weights_ring(DEEP).gens
    first, second, last = (6, a, b, c, d), (6, e, f, g, h), (8, x, y)
    rank_one = (6, a * d - b * c, e, h, f + g)
    others = (second, last, rank_one)
    assert not zeros(DEEP, first, *others)
    for wrong, words in (
        ((6, a, b, c), "the number of linear forms of component@1 is 3; it must be 4"),
        ((6, a, b, c, d + d**2), "the number of linear forms of component@1 is 3; it must be 4"),
        ((5, a, b, c, d), "the dimension of component@1 is 5; it must be 6"),
        ((7, a, b, c, d), "the dimension of component@1 is 7; it must be 6"),
        ((6, a, b, c, d, x), "φ = 0 where M_1 = 0, which lies in no component"),
        ((*first, a * x), "of the 5 generators 1 follows from the others"),
        ((*first, a + b), "of the 5 generators 1 follows from the others"),
    ):
        assert zeros(DEEP, wrong, *others) == words
    words = "φ = 0 where rk M_1 ≤ 1, M_2 skew-symmetric, which lies in no component"
    assert zeros(DEEP, first, second, last) == words
    words = "the number of quadrics of component@4 is 0; it must be at least 1"
    assert zeros(DEEP, first, second, last, (6, a * (a * d - b * c), e, h, f + g)) == words
    # A larger component has fewer linear forms.
    assert not zeros(DEEP, (7, a, b, c), *others)
    # Of a component without known zeros only the number of weights is known.
    more = (0, a - 1, b, c)
    assert not zeros(DEEP, first, *others, more) and not zeros(DEEP, first, *others, (8, a - 1))
    assert zeros(DEEP, first, *others, (11, a - 1)).startswith("the dimension of component@5 is 11")


def test_a_double_point_is_no_prime_component():
    """Where all matrices are numbers, φ = 0 where one of the two is 0."""
    network = DeepNetwork((1, 1), (1,), t=2)
    m, x = weights_ring(network).gens
    assert not zeros(network, (1, m), (1, x))
    assert zeros(network, (1, m**2), (1, x)) == "the number of linear forms of component@1 is 0; it must be 1"


# Sections and points ----------------------------------------------------------------------------------------

INSIDE, OUTSIDE = TARGET, {"target": (1, 0, 0, 0, 0, 1)}


@pytest.mark.parametrize(("target", "member"), [(INSIDE, 1), (OUTSIDE, 0)])
def test_membership_is_compared_where_it_is_proved(monkeypatch, target, member):
    assert those_that_pass(build("membership", LAYER, **target), ["member"], range(-1, 4)) == {(member,)}
    either = {(0,), (1,)}
    assert those_that_pass(build("membership", LAYER, P, **target), ["member"], range(-1, 4)) == either
    found = SimpleNamespace(in_zariski_closure=True, evidence=Evidence.NUMERICAL)
    monkeypatch.setattr(ideal_tasks, "identify", lambda *_, **__: found)
    assert those_that_pass(build("membership", LAYER, **target), ["member"], range(-1, 4)) == either


@pytest.mark.parametrize(
    ("dimension", "equation", "singular", "words"),
    [
        (2, "f", "x y", ""),
        (2, "f 0", "x y f", ""),
        (3, "0", "", "the dimension of the section, where x^2*w + y^2 = 0, is 3; it must be 2"),
        (0, "1", "", "the dimension of the section, where x^2*w + y^2 = 0, is 0; it must be 2"),
        (4, "", "", "the dimension of the section is 4; it must be from -1 to 3"),
        (-2, "1", "", "the dimension of the section is -2; it must be from -1 to 3"),
        (3, "f", "x y", "a section of dimension 3 has 1 equations of a surface"),
        (2, "", "", "a section of dimension 2 has 0 equations of a surface"),
        (2, "f x", "x y", "a section of dimension 2 has 2 equations of a surface"),
        (2, "1", "", "the dimension is 2, and the equation of the surface 1"),
        (1, "f", "x y", "the dimension is 1, and the equation of the surface x^2*w + y^2"),
        (2, "x", "1", "the equation is x, and the resultant x^2*w + y^2"),
        (3, "", "", "the dimension of the section, where x^2*w + y^2 = 0, is 3; it must be 2"),
        (1, "1", "", "the dimension of the section, where x^2*w + y^2 = 0, is 1; it must be 2"),
        (-1, "1", "", "the dimension of the section, where x^2*w + y^2 = 0, is -1; it must be 2"),
        (2, "ff", "f", "is not squarefree"),
        (2, "fx", "x y", "and the resultant x^2*w + y^2"),
        (2, "f", "x", "the singular points of the surface x^2*w + y^2 are not where x = 0"),
        (2, "f", "x y w", "the singular points of the surface x^2*w + y^2 are not where x, y, w = 0"),
    ],
)
def test_a_section_is_the_surface_of_the_resultant(dimension, equation, singular, words):
    problem = build("slice", LAYER)
    x, y, w = ring_of(problem).gens
    f = x**2 * w + y**2
    named = {"0": x - x, "1": x**0, "x": x, "y": y, "w": w, "f": f, "fx": f * x, "ff": f**2}
    polynomials = {name: [named[letter] for letter in letters.split()]
                   for name, letters in (("equation", equation), ("singular", singular))}  # fmt: skip
    said = refusal(problem, {"dimension": dimension}, polynomials)
    assert words in said and bool(said) is bool(words)


def test_a_section_is_the_whole_slice_where_the_resultant_is_zero():
    units = [tuple(Fraction(n == place) for n in range(6)) for place in range(3)]
    problem = build("slice", LAYER, slice=Slice((Fraction(0),) * 6, tuple(units)))  # one column is 0
    x, *_ = ring_of(problem).gens
    assert not refusal(problem, {"dimension": 3}, {"equation": [], "singular": []})
    for dimension, equation in ((2, x), (1, x**0), (0, x**0), (-1, x**0)):
        said = refusal(problem, {"dimension": dimension}, {"equation": [equation], "singular": [x**0]})
        assert said == f"the dimension of the section, where 0 = 0, is {dimension}; it must be 3"


@pytest.mark.parametrize(("letter", "size"), [("0", 3), ("5", -1), ("x", 2)])
def test_the_dimension_of_a_section_is_that_of_the_zeros_of_the_resultant(monkeypatch, letter, size):
    problem = build("slice", LAYER)
    x, *_ = ring_of(problem).gens
    monkeypatch.setattr(ideal_tasks, "resultant_of", lambda *_: {"0": x - x, "5": 5 * x**0, "x": x}[letter])
    for dimension, equation in ((3, []), (2, [x]), (1, [x**0]), (0, [x**0]), (-1, [x**0])):
        said = refusal(problem, {"dimension": dimension}, {"equation": equation, "singular": [x**0]})
        assert bool(said) is (dimension != size)


def test_a_section_in_two_rows_or_modulo_a_prime_is_compared_with_no_resultant():
    units = [tuple(Fraction(n == place) for n in range(12)) for place in (0, 1, 6, 7)]
    rows = {"slice": Slice(units[0], tuple(units[1:]))}
    for problem in (build("slice", TWO, **rows), build("slice", LAYER, P)):
        x, *_ = ring_of(problem).gens
        for dimension, equation in ((3, []), (3, [x - x]), (2, [x]), (1, [x**0]), (0, [x**0]), (-1, [x**0])):
            assert not refusal(problem, {"dimension": dimension}, {"equation": equation, "singular": [x**0]})
    problem = build("slice", TWO, **rows)
    assert refusal(problem, {"dimension": 2}, {"equation": [x], "singular": [x]})
