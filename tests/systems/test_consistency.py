"""Answers with one value changed, and the checksum of what was changed: what must hold finds them."""

import importlib
import re
from fractions import Fraction
from functools import cache
from math import comb, inf

import pytest
from command_line import call
from questions import AFFINE, CUBIC, LAYER, LINEAR, OPEN, OTHER, QUESTIONS, TWO
from transcripts import asking, sealed

from agattn import SingleLayer
from agattn.algebra.polynomial import PolynomialRing, Variable
from agattn.engines import elimination
from agattn.engines.run import run
from agattn.engines.transcript import read
from agattn.errors import TooLargeError, TranscriptError
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.variety.coordinates import parametrization
from agattn.systems import consistency
from agattn.systems.catalogue import MODEL_TASKS, TASKS, build
from agattn.systems.consistency import (
    NoChecks,
    between,
    check_answer,
    check_degree,
    check_generators,
    check_homogeneous,
    check_values,
    check_variety,
    components_of,
    rank_of_gradients,
)
from agattn.systems.ideal_tasks import COMPLETE_IDEAL
from agattn.systems.problem import Answer, Printed, Task

#: All tasks of engines, about models too, and the one that is asked about equations that were found natively.
ASKED = [*TASKS.values(), *MODEL_TASKS.values(), COMPLETE_IDEAL]


def test_every_task_is_among_the_cases():
    assert {name for name, *_ in QUESTIONS} == set(TASKS)
    asked = {build(name, architecture, **given).form for name, architecture, given in QUESTIONS}
    assert asked == {task.form for task in ASKED} - {"complete-ideal"}


@pytest.mark.parametrize("task", ASKED, ids=lambda task: task.form)
def test_every_task_has_a_check_or_says_why_it_has_none(task):
    assert callable(task.check)
    if isinstance(task.check, NoChecks):
        # The facts are all that is left; tests of this file show that they find every changed value.
        assert len(task.check.reason.split()) > 5 and not any(result.ring for result in task.results)
        assert task.facts is not Task.facts


def test_the_tasks_without_a_check_are_these():
    found = {task.form for task in ASKED if isinstance(task.check, NoChecks)}
    assert found == {"complete-ideal", "rlct-normal-form", "deep-limit"}


def test_a_task_that_says_nothing_of_checks_cannot_be_made():
    said = {"name": "tonic", "finds": "the tonic", "about": SingleLayer}
    said["results"] = (Printed("n", "a number"),)
    with pytest.raises(TypeError, match=r"^the task tonic does not say how an answer is checked; give check"):
        Task(**said)
    assert Task(**said, check=NoChecks("a number of which nothing is known")).form == "tonic"


@cache
def answered(installation, case):
    name, architecture, given = QUESTIONS[case]
    return run(build(name, architecture, **given), installation)


def changes(text):
    """The transcript with one value changed: each integer, and the coefficients of some polynomials' terms.

    Polynomials of one term have the same zeros whatever its coefficient.
    """
    integers = list(re.finditer(r"^integer (\S+) (-?\d+)", text, re.M))
    terms = list(re.finditer(r"^polynomial [2-9]\d*\n(term) (-?\d+)", text, re.M))
    for found in (*integers, *terms[:2], *terms[-2:]):
        value = int(found[2])
        for other in {value + 1, value - 1, 0, 10**6} - {value} if found[1] != "term" else {value + 7}:
            changed = f"{text[: found.start(2)]}{other}{text[found.end(2) :]}"
            yield found[1].partition("@")[0], sealed(changed)


def refused(function, *arguments):
    """Whether a function refuses an answer."""
    try:
        function(*arguments)
    except TranscriptError:
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(QUESTIONS)), ids=[f"{c[0]}-{n}" for n, c in enumerate(QUESTIONS)])
def test_one_changed_value_is_found(singular, monkeypatch, case):
    name, architecture, _ = QUESTIONS[case]
    done = answered(singular, case)
    check_answer(done.answer)
    unseen = set()
    for value, text in changes(done.transcript):
        if not refused(lambda text: check_answer(read(text, done.problem)), text):
            unseen.add(value)
    allowed = OPEN.get((name, architecture), "nothing")
    assert not {value for value in unseen if not re.fullmatch(allowed, value)}
    assert allowed == "nothing" or unseen, "everything is found: say so"
    # Of those that are whole answers, the check alone refuses some, without the facts.
    monkeypatch.setattr(consistency, "native_facts", lambda problem: {})
    check_answer(done.answer)
    whole = [text for _, text in changes(done.transcript) if not refused(read, text, done.problem)]
    alone = [text for text in whole if refused(check_answer, read(text, done.problem))]
    assert bool(alone) is (bool(whole) and not isinstance(done.problem.origin.check, NoChecks))


@pytest.mark.slow
def test_right_answers_of_both_engines_pass(engine_installation):
    """In other fields and at other layers too; run() itself checks."""
    layers = SingleLayer(1, 2), SingleLayer(2, 2, 1), SingleLayer(2, 1, 1, 1)
    names = "implicit-ideal", "hilbert-function", "base-locus"
    for n, layer in enumerate(layers):
        for name in {names[0], names[n]}:
            run(build(name, layer, 101), engine_installation)
    third = {"target": (Fraction(1, 3),) * 6}
    for name, given in (("fiber", {}), ("critical-locus", {}), ("membership", third), ("slice", OTHER)):
        run(build(name, LAYER, 32003, **given), engine_installation)


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("dim(G)", "5"),
        ("mult(G)", "0"),
        ("size(kbase(G,2))", "70"),
        ("size(kbase(G,7))", "0"),
        ("isPrime(I)", "2"),
    ],
)
def test_whether_equations_are_all_is_checked_too(singular, monkeypatch, question, other):
    ideal = compute_ideal(SingleLayer(2, 2), 3)
    wrong = asking(question, other)
    monkeypatch.setattr(elimination, "run", wrong)
    with pytest.raises(TranscriptError, match="must be"):
        elimination.check_generators(ideal, singular)
    assert wrong.changed


def test_a_contradiction_is_status_4(fakes, singular):
    done = answered(singular, 0)
    text = sealed(done.transcript.replace("integer dimension 5", "integer dimension 4"))
    fakes.write_python("Singular", f"print({text!r})")
    ended = call("run", "implicit-ideal", "-d", 2, "-o", 1, "--prime", "--engine", "singular")
    assert ended.status == 4 and ended.out == "" and ended.err.count("\n") == 1
    assert "the dimension is 4; it must be 5" in ended.err


# Components of the zeros of φ -------------------------------------------------------------------------------


def answer(layer, characteristic, *components):
    problem = build("base-locus", layer, characteristic=characteristic)
    named = {f"component@{n}": tuple(c) for n, c in enumerate(components, 1)}
    return Answer(problem, {"components": len(components)}, named)


@pytest.mark.parametrize("characteristic", [0, 32003])
def test_the_two_components_pass_and_a_changed_digit_does_not(characteristic):
    layer = SingleLayer(2, 1)
    ring = parametrization(layer, characteristic)[0].ring
    A, V = ring.gens[:4], ring.gens[4:]
    check_answer(answer(layer, characteristic, A, V))
    check_answer(answer(layer, characteristic, (A[0] + 3 * A[1], A[1], A[2] - A[3], A[3] / 7), V))
    for wrong in ((A[0], A[1], A[2], A[2]), A[:3], (A[0], A[1], A[2], A[3] - V[0]), ()):
        with pytest.raises(TranscriptError, match="does not vanish on component@1"):
            check_answer(answer(layer, characteristic, wrong, V))
    with pytest.raises(TranscriptError, match="is not homogeneous"):
        check_answer(answer(layer, characteristic, (A[0] + 1, *A[1:]), V))
    with pytest.raises(TranscriptError, match="of the 5 generators 1 follows from the others"):
        check_answer(answer(layer, characteristic, (*A, A[0] + A[1]), V))


def test_a_product_of_two_numbers_is_zero_where_a_factor_is():
    layer = SingleLayer(1, 1)
    a, v = parametrization(layer)[0].ring.gens
    check_answer(answer(layer, 0, (a,), (v,)))
    with pytest.raises(TranscriptError, match="component@1"):
        check_answer(answer(layer, 0, (a - v,), (v,)))


def test_with_one_token_a_skew_matrix_gives_zero():
    layer = SingleLayer(2, 1, t=1)
    ring = parametrization(layer)[0].ring
    a, b, c, d, *V = ring.gens
    check_answer(answer(layer, 0, (a, b + c, d), V))
    with pytest.raises(TranscriptError, match="component@1"):
        check_answer(answer(layer, 0, (a, b - c, d), V))


def test_components_that_are_none():
    ring = parametrization(LAYER)[0].ring
    A, V = ring.gens[:4], ring.gens[4:]
    for components, message in (
        ((A,), "φ = 0 where V = 0, which lies in no component"),
        (((*A, V[0]), V), "φ = 0 where A = 0, which lies in no component"),
        ((A, V, (*A, V[0])), "component@3 lies in component@1"),
        ((A, V, A), "component@1 lies in component@3"),
        ((A, V, (A[0] * V[0], A[1] * A[2] - V[1] ** 2)), "does not vanish on component@3"),
        ((A, (*V, A[0] * A[3] - A[1] * A[2])), "component@2 is smaller than a linear space"),
    ):
        with pytest.raises(TranscriptError, match=message):
            check_answer(answer(LAYER, 0, *components))


# Critical points --------------------------------------------------------------------------------------------


def counted(layer, given, characteristic, *numbers, **others):
    """An answer with these numbers of solutions, stratum by stratum."""
    integers = {"strata": len(numbers)}
    for n, number in enumerate(numbers, 1):
        integers |= {f"dimension@{n}": 0 if number else -1, f"degree@{n}": number, f"lower@{n}": 0}
    return Answer(build("critical-points", layer, characteristic, loss=given), integers | others, {})


@pytest.mark.parametrize("characteristic", [0, 32003, 32009])
def test_a_lie_about_critical_points_is_no_answer_over_any_field(characteristic):
    """Elimination knows the numbers for the loss, over every field."""
    for metric, numbers in (("generic", (14, 14, 10)), ("gaussian", (6, 6, 6)), ("bombieri-weyl", (4, 4, 2))):
        given = loss(LAYER, metric)
        check_answer(counted(LAYER, given, characteristic, *numbers))
        for n in range(3):
            for lie in (numbers[n] - 1, numbers[n] + 1):
                said = [lie if i == n else number for i, number in enumerate(numbers)]
                with pytest.raises(TranscriptError, match="the number of critical points on"):
                    check_answer(counted(LAYER, given, characteristic, *said))
        with pytest.raises(TranscriptError, match="the dimension on"):
            check_answer(counted(LAYER, given, characteristic, *numbers, **{"dimension@1": 1}))


def test_no_loss_of_data_has_more_critical_points_than_a_general_one():
    check_answer(counted(TWO, loss(TWO), 32003, 68, 24, 20))
    check_answer(counted(TWO, loss(TWO, "gaussian"), 32003, 52, 20, 8))
    check_answer(counted(TWO, loss(TWO, "coefficients"), 32003, 69, 24, 20))  # is not one of data
    for numbers in ((69, 24, 20), (68, 25, 20), (68, 24, 21)):
        with pytest.raises(TranscriptError, match="it must be from 0 to"):
            check_answer(counted(TWO, loss(TWO), 32003, *numbers))


# The checks that tasks share, on varieties that everyone knows ----------------------------------------------

RING = build("implicit-ideal", LAYER).results[-1].ring
W, X, Y, Z, *_ = PolynomialRing(RING.variables, 0).gens
TWISTED_CUBIC = (W * Y - X**2, X * Z - Y**2, W * Z - X * Y)  # of dimension 2 in 4-space, degree 3
CONIC = (W, X**2 - Y * Z)


def passes(check, *arguments):
    return not refused(check, *arguments)


def of_dimension(dimension, degree, forms, characteristic=0):
    problem = build("implicit-ideal", LAYER, characteristic=characteristic)
    return Answer(problem, {"dimension": dimension, "degree": degree}, {"generators": tuple(forms)})


def test_a_value_is_within_its_bounds():
    assert all(passes(between, 2, "n", n, 4) == (2 <= n <= 4) for n in range(7))
    assert passes(between, 2, "n", 10**9, inf) and passes(between, 0, "n", 0, 0)
    for low, high, words in ((2, 2, "2"), (2, inf, "at least 2"), (2, 5, "from 2 to 5")):
        with pytest.raises(TranscriptError, match=f"^the genus is 1; it must be {words}$"):
            between(low, "the genus", 1, high)


def test_forms_have_one_positive_degree():
    assert passes(check_homogeneous, [*TWISTED_CUBIC, W, W**3 - X * Y * Z])
    for wrong in (W + X**2, W**0, W - W, X * Y + 1):
        assert refused(check_homogeneous, [W, wrong])


def test_dimension_and_degree_fit_generators():
    """Two forms of degrees 2 and 3 in 4-space: at most codimension 2, and by Bézout degree 6 just there."""
    forms = [X * Y - W * Z, W**3 - X**3]
    allowed = {(dim, degree) for dim in range(7) for degree in range(-1, 13)
               if passes(check_degree, dim, degree, forms, 4)}  # fmt: skip
    assert allowed == {(2, 6), *((3, degree) for degree in (1, 2, 3)), (4, 1)}
    for degree in range(8):  # affine: some of the intersection may lie at infinity
        assert passes(check_degree, 2, degree, forms, 4, False) == (1 <= degree <= 6)
    assert refused(check_degree, -1, 6, [*forms, *forms, *forms], 4)


def test_a_variety_fits_its_equations_and_their_gradients():
    curve = of_dimension(2, 3, TWISTED_CUBIC)
    assert [rank for rank in range(5) if passes(check_variety, curve, rank, 4)] == [2]
    # Degree 4 at most, by Bézout; 3 at least, as a curve in 3-space that is in no plane has.
    assert [n for n in range(6) if passes(check_variety, of_dimension(2, n, TWISTED_CUBIC), 2, 4)] == [3, 4]
    lower = [n for n in range(6) if passes(check_variety, of_dimension(2, n, TWISTED_CUBIC), 2, 4, False)]
    assert lower == [1, 2, 3, 4]
    in_a_plane = [n for n in range(6) if passes(check_variety, of_dimension(2, n, CONIC), 2, 4)]
    assert in_a_plane == [2]
    # Codimension 2 of 4 equations: the linear one counts once.
    three = (W, X**2 - Y * Z, X * Y - Z**2, X * Z)
    assert [n for n in range(6) if passes(check_variety, of_dimension(2, n, three), 2, 4)] == [2, 3, 4]


@pytest.mark.parametrize(("p", "ranks"), [(0, [2]), (101, [0, 1, 2]), (9973, [0, 1, 2]), (10007, [2])])
def test_modulo_a_small_prime_gradients_may_have_a_smaller_rank(p, ranks):
    ring = PolynomialRing(RING.variables, p)
    w, x, y, z, *_ = ring.gens
    curve = of_dimension(2, 3, (w * y - x**2, x * z - y**2, w * z - x * y), p)
    assert [rank for rank in range(5) if passes(check_variety, curve, rank, 4)] == ranks


def test_the_rank_of_gradients_is_that_at_the_best_point():
    cubic = of_dimension(2, 3, TWISTED_CUBIC)

    def point(s, t):
        return (s**3, s**2 * t, s * t**2, t**3, 0, 0)

    assert rank_of_gradients(cubic, [point(1, 2)], "a point") == 2
    assert rank_of_gradients(cubic, [point(0, 0), point(1, 2), point(0, 0)], "a point") == 2
    assert rank_of_gradients(cubic, [point(0, 0)], "a point") == rank_of_gradients(cubic, [], "a point") == 0
    with pytest.raises(TranscriptError, match="does not vanish on the curve"):
        rank_of_gradients(cubic, [point(1, 2), (1, 1, 1, 2, 0, 0)], "the curve")


def test_generators_are_as_many_as_are_known():
    known = {1: 0, 2: 5}
    x, *others = PolynomialRing(build("implicit-ideal", TWO).results[-1].ring.variables, 0).gens
    quadrics = [x * y for y in others[:5]]
    assert passes(check_generators, [*quadrics, x**3], known)
    for wrong in (quadrics[1:], [*quadrics, others[1] ** 2], [*quadrics, others[1]], ()):
        assert refused(check_generators, wrong, known)
    assert passes(check_generators, ()) and refused(check_generators, [x, x - x])


def test_a_hilbert_function_grows_and_is_at_most_that_of_the_space():
    problem = build("hilbert-function", LAYER, max_degree=3)  # in 6-space: 6, 21 and 56 monomials

    def values(*found):
        return Answer(problem, {f"value@{n}": value for n, value in enumerate(found, 1)}, {})

    for right in ((6, 21, 56), (6, 6, 6), (1, 1, 1), (3, 5, 50)):
        assert passes(check_values, values(*right))
    for wrong in ((7, 21, 56), (6, 22, 56), (6, 21, 57), (6, 5, 20), (6, 20, 19), (0, 1, 1)):
        assert refused(check_values, values(*wrong))


@pytest.mark.parametrize(("map_", "size"), [(CUBIC, 4), (AFFINE, 4)])
def test_a_map_that_is_no_cone_has_one_coordinate_more(map_, size):
    problem = build("hilbert-function", map_, max_degree=1)
    for value in range(7):
        right = passes(check_values, Answer(problem, {"value@1": value}, {}))
        assert right == (1 <= value <= size)


def test_components_are_there_and_the_largest_is_the_dimension():
    problem = build("fiber", LINEAR, components=True)

    def components(dimension, *dims):
        parts = {f"component-dimension@{n}": dim for n, dim in enumerate(dims, 1)}
        return Answer(problem, {"components": len(dims), "dimension": dimension, **parts}, {})

    assert components_of(components(3, 1, 3, 0), "there is a point") == [1, 3, 0]
    assert components_of(components(0, 0), "there is a point") == [0]
    for wrong in (components(2, 1, 3, 0), components(4, 1, 3), components(1, 1, 3), components(3, 3, -1)):
        assert refused(components_of, wrong, "there is a point")
    with pytest.raises(TranscriptError, match=r"^there is no component, and there is a point$"):
        components_of(components(0), "there is a point")


# What is known natively -------------------------------------------------------------------------------------


def test_facts_are_compared_before_the_check_of_a_task():
    asked = build("implicit-ideal", LAYER)
    assert passes(check_answer, Answer(build("hilbert-function", LAYER, max_degree=1), {"value@1": 6}, {}))
    wrong = Answer(asked, {"dimension": 4}, {"generators": (W + 1,)})
    with pytest.raises(TranscriptError, match=r"^the dimension is 4; it must be 5$"):
        check_answer(wrong)
    with pytest.raises(TranscriptError, match="is no form of positive degree"):
        check_answer(Answer(asked, {}, wrong.polynomials))


@pytest.mark.parametrize(
    ("sizes", "last", "bounds"),
    [
        # M̄ is a plane: counted up to degree 4; above that it grows, and has the bound of the plane.
        ((1, 2), 6, [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (5, 6), (5, 7)]),
        ((2, 1), 3, [(1, 1), (6, 6), (21, 21), (56, 56)]),  # a hypersurface of degree 4
        ((2, 1), 5, [(1, 1), (6, 6), (21, 21), (56, 56), (125, 125), (246, 246)]),
        # With one token the bound by preimages, which is 126, does not hold.
        ((2, 1, 1, 1), 5, [(1, 1), (4, 4), (10, 10), (20, 20), (35, 35), (35, 56)]),
    ],
)
def test_the_hilbert_function_is_known_where_it_is_known(sizes, last, bounds):
    found = consistency.hilbert_bounds(SingleLayer(*sizes), last)
    assert [found[n] for n in range(last + 1)] == bounds and len(found) == last + 1


def test_bounds_of_a_hilbert_function_are_true_and_meet_where_the_page_says():
    for layer in (SingleLayer(2, 2), SingleLayer(2, 2, 1), SingleLayer(3, 1, 1)):
        found = consistency.hilbert_bounds(layer, 9)
        assert list(found) == list(range(10))
        for n, (low, high) in found.items():
            assert low <= high <= comb(layer.ambient_dimension + n - 1, n)
        sharp = 9 if layer.d_out == layer.a == 1 else 8
        assert all((low == high) == (n <= sharp) for n, (low, high) in found.items())
        assert all(found[n][0] >= found[n - 1][0] for n in range(1, 10))
        ideal = compute_ideal(layer, 3)
        assert all(found[n] == (ideal.hilbert_function(n),) * 2 for n in range(4))
    wide = consistency.hilbert_bounds(SingleLayer(3, 2), 5)
    assert wide[5][0] == wide[4][0]


def test_a_bound_is_the_hilbert_function_only_where_that_is_shown(monkeypatch):
    """For a = d' = 1 by a theorem, for d = 2 to degree 8 by a computation, which is told the answer here."""
    for shown, last in ((False, 4), (True, 8)):
        monkeypatch.setattr(consistency, "double_locus_bound_is_sharp", lambda a, n, shown=shown: shown)
        for sizes, sharp in (((2, 1, 1), 9), ((3, 1, 1), 9), ((2, 1, 2), last), ((2, 2), last)):
            found = consistency.hilbert_bounds(SingleLayer(*sizes), 9)
            assert [n for n in range(10) if found[n][0] == found[n][1]] == list(range(sharp + 1))


def test_bounds_of_a_dimension_are_taken_at_any_size(monkeypatch):
    monkeypatch.setattr(importlib.import_module("agattn.geometry.dimension.jacobian"), "MAX_PARAMETERS", 1)
    assert consistency.bounds_of_dimension(CUBIC) == (2, 2)


@pytest.mark.parametrize(
    ("sizes", "degree"), [((2, 1), 4), ((1, 3), 1), ((3, 1, 1, 1), None), ((2, 1, 1, 1), 1), ((2, 2), 20)]
)
def test_the_degree_of_the_closure(sizes, degree):
    assert consistency.degree_of_closure(SingleLayer(*sizes)) == degree


def test_what_takes_too_long_to_count_is_not_known(monkeypatch):
    def too_large(layer, last):
        raise TooLargeError("no")

    assert consistency.known_degrees(LAYER, 0) == ()
    assert [piece.degree for piece in consistency.known_degrees(LAYER, 9)] == [1, 2, 3, 4]
    monkeypatch.setattr("agattn.geometry.ideal.ideal.compute_ideal", too_large)
    assert consistency.known_degrees.__wrapped__(LAYER, 9) == ()


def test_facts_at_points_have_the_names_of_the_results():
    point = build("fiber", LAYER).points[0]
    name, fact = consistency.at_point(point, "length", "the length", 1, 2)
    assert name == f"length@{point.label}" and fact == (1, 2, f"the length at {point.label}")


def test_facts_of_values_hold_modulo_a_prime_from_above():
    bounds = {1: (6, 6), 2: (20, 21), 4: (1, 2)}
    for characteristic, low in ((0, (6, 20)), (101, (1, 1))):
        problem = build("hilbert-function", LAYER, characteristic, max_degree=3)
        found = {name: fact[:2] for name, fact in consistency.facts_of_values(problem, bounds)}
        assert found == {"values": (3, 3), "value@1": (low[0], 6), "value@2": (low[1], 21)}


@pytest.mark.parametrize("characteristic", [0, 2**31 - 1])
def test_generators_that_follow_from_others_are_refused(characteristic):
    ring = PolynomialRing([Variable("x"), Variable("y")], characteristic)
    x, y = ring.gens
    for independent in ((x, y**2), (x**2 + y, y), (x + 1, x * y), (x * y + x, x), (x**2, x * y, y**2)):
        check_generators(independent)
    for n, dependent in (
        (1, (x, x * y)), (1, (x + 1, 2 * x + 2)), (2, (x, y, x + y, x - y)),
        (1, (x**2 + y, y, x**2)), (1, (x**2 + y**2, x * y, x * (x**2 + y**2))),
    ):  # fmt: skip
        with pytest.raises(TranscriptError, match=f"{n} follow"):
            check_generators(dependent)
    check_generators((x**2 + y, x), degrees=(1, 2))  # y has degree 2, and x² + y is homogeneous
    with pytest.raises(TranscriptError, match="1 follows"):
        check_generators((x**2 + y, x * (x**2 + y)), degrees=(1, 2))


def test_generators_over_a_small_field_are_compared_there():
    x, y, z = PolynomialRing(["x", "y", "z"], 7).gens
    with pytest.raises(TranscriptError, match="1 follows"):
        check_generators((x + 2 * y, y + 3 * z, x + z))  # the first and five times the second
