"""Tasks about any polynomial architecture: what is asked, and what both engines answer."""

from fractions import Fraction
from functools import cache
from math import prod
from pathlib import Path

import pytest
from command_line import call, document
from hypothesis import given, settings
from hypothesis import strategies as st
from installed import require

import agattn as ag
from agattn.algebra.graded_ideals import positive_grading
from agattn.algebra.polynomial import PolynomialRing
from agattn.engines.run import run
from agattn.systems.catalogue import MODEL_TASKS, build

ROOT = Path(__file__).parents[2]
CUBIC = ag.PolynomialMap(
    lambda s: [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3], {"s": 2}, name="cubic"
)
GRASSMANNIAN = ag.PolynomialMap(
    lambda M: [M[0, i] * M[1, j] - M[0, j] * M[1, i] for i in range(4) for j in range(i)], {"M": (2, 4)}
)
#: Not homogeneous unless s_1 and n have degree 1 and s_2 has degree 2; and with an output 0.
UNEVEN = ag.PolynomialMap(
    lambda s, n: [s[0], n, s[0] ** 2 + s[1], s[1] * s[0] / 3, s[0] * 0, n**4 + s[1] ** 2], {"s": 2, "n": ()}
)
#: Homogeneous for no positive degrees; the second output is constant.
AFFINE = ag.PolynomialMap(lambda s: [s[0], 1 + 0 * s[0], s[0] ** 2 + s[1], s[1] * s[0] + 1], {"s": 2})
CAUSAL = ag.Network([ag.Attention(1, rank=2, mask="causal")], dim=2, tokens=2)
HEADS = ag.Network([ag.Attention(1, rank=2, heads=2)], dim=2, tokens=2)
SKIP = ag.Network([ag.Attention(2, rank=1, skip=True)], dim=2, tokens=2)
LINEAR = ag.Network([ag.Linear(1), ag.Linear(2)], dim=2)
PERCEPTRON = ag.Network([ag.Perceptron([2, 1], degree=2)], dim=2)
BIAS = ag.Network([ag.Perceptron([1, 1], degree=2, bias=True)], dim=2)
DEEP = ag.DeepNetwork((2, 1, 1), (1, 1), t=1)


# What is asked ----------------------------------------------------------------------------------------------


@given(st.data())
def test_positive_gradings_are_found_and_are_gradings(data):
    weights = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=5))
    ring = PolynomialRing([f"x{i}" for i in range(len(weights))])
    exponents = st.tuples(*[st.integers(0, 3)] * len(weights))
    forms = []
    for first in data.draw(st.lists(exponents, min_size=1, max_size=4)):
        degree = sum(w * e for w, e in zip(weights, first, strict=True))
        others = [e for e in data.draw(st.lists(exponents, max_size=4)) if _degree(weights, e) == degree]
        forms.append(ring.from_terms(dict.fromkeys([first, *others], 1)))
    found = positive_grading(forms)
    assert len(found) == len(weights) and min(found) > 0
    for f in forms:
        assert len({_degree(found, e) for e in f.terms}) == 1


def _degree(weights, exponents):
    return sum(w * e for w, e in zip(weights, exponents, strict=True))


def test_what_has_no_positive_grading_has_none():
    x, y, z = PolynomialRing("xyz").gens
    assert positive_grading([x * y + 1]) == positive_grading([x + y, x + y * z]) == ()
    assert positive_grading([x**2 * y + z, y**3 + x]) == (3, 1, 7)


def test_the_degrees_of_scripts():
    assert build("implicit-ideal", UNEVEN).data["weights"] == (1, 2, 1)
    assert build("implicit-ideal", UNEVEN).data["degrees"] == (1, 1, 2, 3, 4, 4)
    assert build("implicit-ideal", AFFINE).data["weights"] == ()
    bias = build("implicit-ideal", BIAS).data
    for f, degree in zip(bias["polynomials"], bias["degrees"], strict=True):
        assert {_degree(bias["weights"], e) for e in f.terms} == {degree}


def test_the_digest_belongs_to_the_question():
    def power(n):
        return ag.PolynomialMap(lambda s: [s[0] ** n, s[1]], {"s": 2}, name="power")

    point = {"weights": (Fraction(1), Fraction(1, 2))}
    problems = [
        *(build(task, power(n)) for task in MODEL_TASKS for n in (2, 3)),
        *(build("fiber", power(2), **given) for given in ({"seed": 1}, point, {"components": True})),
        *(build("implicit-ideal", power(2), **given) for given in ({"max_degree": 2}, {"prime": True})),
        build("implicit-ideal", power(2), 101),
    ]
    assert len({problem.digest for problem in problems}) == len(problems)
    assert build("fiber", power(2)).digest == build("fiber", power(2)).digest


# What engines answer ----------------------------------------------------------------------------------------


@cache
def answered(installation, task, model, **given):
    return run(build(task, model, **given), installation).answer


def forms(answer):
    return {str(f.primitive()) for f in answer.polynomials["generators"]}


IDEALS = [
    (CUBIC, 2, 3, {2: 3}),
    (GRASSMANNIAN, 5, 2, {2: 1}),
    (CAUSAL, 5, 4, {4: 1}),
    (LINEAR, 3, 2, {2: 1}),
    (PERCEPTRON, 3, 1, {}),
    (BIAS, 4, 3, {2: 3}),
    (SKIP, 6, 20, {2: 15, 4: 5}),
    (AFFINE, 2, 3, None),
]


@pytest.mark.parametrize(("model", "dimension", "degree", "generators"), IDEALS, ids=lambda x: str(x)[:20])
def test_equations(singular, model, dimension, degree, generators):
    """The ideal, its dimension against the native one, and its part to degree 2."""
    answer = answered(singular, "implicit-ideal", model, prime=True)
    assert answer.integers == {"dimension": dimension, "degree": degree, "prime": 1}
    assert MODEL_TASKS["implicit-ideal"].read(answer) == MODEL_TASKS["implicit-ideal"].native(model)
    if generators is None:
        return
    degrees = [f.degree() for f in answer.polynomials["generators"]]
    assert {n: degrees.count(n) for n in degrees} == generators
    some = answered(singular, "implicit-ideal", model, max_degree=2)
    assert some.integers == {"max-degree": 2}
    assert [f.degree() for f in some.polynomials["generators"]] == [2] * generators.get(2, 0)


def test_two_heads_have_no_equations_to_degree_4(singular):
    """One head has a quartic; two fill the space of all six coordinates."""
    answer = answered(singular, "implicit-ideal", HEADS, max_degree=4)
    assert not answer.polynomials["generators"] and not list(ag.ideal(HEADS, 4))
    assert ag.dimension(HEADS).lower_bound == 6


@pytest.mark.parametrize("model", [CUBIC, GRASSMANNIAN], ids=["cubic", "Gr(2,4)"])
def test_both_engines_find_the_same_equations(both_engines, model):
    one, other = (answered(engine, "implicit-ideal", model) for engine in both_engines)
    assert one.integers == other.integers and forms(one) == forms(other) != set()


def test_both_engines_where_degrees_differ(both_engines):
    """To degree 1 in the y is here to degree 4 in the grading, in which all equations are."""
    one, other = (answered(engine, "implicit-ideal", UNEVEN, max_degree=1) for engine in both_engines)
    whole = answered(both_engines[1], "implicit-ideal", UNEVEN)
    assert forms(one) == forms(other) == forms(whole) and len(forms(one)) == 3


@pytest.mark.engine("singular")
@settings(max_examples=8)
@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 3).filter(any), min_size=4, max_size=6, unique=True),
    st.integers(1, 3),
)
def test_part_of_the_ideal_is_what_the_ideal_has_in_these_degrees(exponents, most):
    installation = require("singular")
    model = ag.PolynomialMap(
        lambda s: [prod(s[i] ** e for i, e in enumerate(row)) for row in exponents], {"s": 3}
    )
    whole, part = (build("implicit-ideal", model, max_degree=n) for n in (None, most))
    every, some = (run(problem, installation).answer for problem in (whole, part))
    degrees, bound = part.data["degrees"], part.data["bound"]
    weights = [max(_degree(degrees, e) for e in f.terms) for f in every.polynomials["generators"]]
    assert len(some.polynomials["generators"]) == sum(w <= bound for w in weights)
    assert max((f.degree() for f in some.polynomials["generators"]), default=0) <= bound


@pytest.mark.parametrize(
    ("model", "values"),
    [(CUBIC, [4, 7, 10]), (CAUSAL, [6, 21, 56, 125]), (SKIP, [12, 63]), (AFFINE, [4, 10, 19])],
    ids=["cubic", "causal", "skip", "affine"],
)
def test_hilbert_functions(singular, model, values):
    """3n + 1 of the twisted cubic, as forms in s; of what is no cone 1, s_1, ... up to degree n."""
    answer = answered(singular, "hilbert-function", model, max_degree=len(values))
    assert [answer.integers[f"value@{n}"] for n in range(1, len(values) + 1)] == values


FIBERS = [
    # Over a general point of the twisted cubic the cube roots of unity; one of them is rational.
    (CUBIC, {"seed": 2}, {"dimension": 0, "degree": 3, "components": 2}),
    # W_2 W_1 of rank 1: a hyperbola, on which GL(1) acts.
    (LINEAR, {}, {"dimension": 1, "degree": 2, "components": 1}),
    # W_2 = 0: then W_1 is any. And W_1 = 0: two planes that meet.
    (
        LINEAR,
        {"weights": (0, 0, 0, 0)},
        {"dimension": 2, "degree": 2, "components": 2, "tangent-dimension": 4},
    ),
    (BIAS, {}, {"dimension": 1, "degree": 3, "components": 1}),
]


@pytest.mark.parametrize(("model", "given", "expected"), FIBERS)
def test_fibers(singular, model, given, expected):
    answer = run(build("fiber", model, components=True, **given), singular).answer
    assert expected.items() <= answer.integers.items()
    if "weights" not in given:
        assert MODEL_TASKS["fiber"].read(answer) == MODEL_TASKS["fiber"].native(model)


LOCI = [
    (CUBIC, 0, 10, 2),
    (GRASSMANNIAN, 5, 16, 3),  # the matrices of rank at most 1, with multiplicity 4
    (LINEAR, 2, 2, 2),  # W_1 = 0 or W_2 = 0
    (PERCEPTRON, 5, 2, 1),
]


@pytest.mark.parametrize(
    ("model", "dimension", "degree", "codimension"), LOCI, ids=["cubic", "Gr(2,4)", "linear", "perceptron"]
)
def test_critical_points(singular, model, dimension, degree, codimension):
    expected = {"dimension": dimension, "degree": degree, "codimension": codimension}
    found = answered(singular, "critical-locus", model).integers
    assert found == expected | {"rank": ag.dimension(model).lower_bound}


@pytest.mark.slow
def test_macaulay2_finds_the_same_numbers(macaulay2, both_engines):
    for task, model, more in (
        ("fiber", LINEAR, {"components": True}),
        ("critical-locus", GRASSMANNIAN, {}),
        ("hilbert-function", AFFINE, {}),
    ):
        one, other = (run(build(task, model, **more), i).answer.integers for i in both_engines)
        assert one == other


@pytest.mark.parametrize("model", [SKIP, AFFINE, BIAS, CAUSAL], ids=lambda x: str(x)[:20])
def test_msolve_finds_the_same(msolve_installation, singular, model):
    """Also where the degrees differ, or there are none, and modulo a prime."""
    for task, characteristic in (("implicit-ideal", 0), ("hilbert-function", 32003)):
        problem = build(task, model, characteristic)
        one, other = (run(problem, i).answer for i in (msolve_installation, singular))
        assert one.integers == other.integers
        degrees = [sorted(f.degree() for fs in a.polynomials.values() for f in fs) for a in (one, other)]
        assert degrees[0] == degrees[1]


# By the command line and the library ------------------------------------------------------------------------


def test_the_ideal_by_elimination_is_the_native_one(singular):
    """Their tables to degree 3 and all equations, which are of degree 2; by the command line too."""
    for model in (CUBIC, LINEAR):
        native, found = (ag.ideal(model, 3, engine) for engine in ("native", "singular"))
        native_degrees = [row.replace(way=None) for row in native.degrees]
        assert [*found.degrees] == native_degrees and found.whole is not None and found.method == "singular"
        assert {str(f) for f in found} == {str(f) for f in native}
        assert (found.dimension, found.degree) == {CUBIC: (2, 3), LINEAR: (3, 2)}[model]
        assert str(found) == str(native).replace(" to degree 3", "")
    cubic = [ROOT / "examples" / "maps.py:cubic", "--engine", "singular"]
    assert "generators: 3 of degree 2 (over QQ: proved)" in call("ideal", *cubic).out
    assert len(document("ideal", *cubic)["whole"]) == 3
    assert document("run", "implicit-ideal", *cubic)["answer"]["coordinates"][0] == "y_1: output 1"
