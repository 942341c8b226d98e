"""Answers with one value changed, and the checksum of what was changed: what must hold finds them."""

import re
from fractions import Fraction
from functools import cache

import pytest
from command_line import call
from questions import LAYER, OPEN, OTHER, QUESTIONS, TWO
from transcripts import asking, sealed

from agattn import SingleLayer
from agattn.engines import elimination
from agattn.engines.run import run
from agattn.engines.transcript import read
from agattn.errors import TranscriptError
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.variety.coordinates import parametrization
from agattn.systems import native_facts
from agattn.systems.catalogue import MODEL_TASKS, TASKS, build
from agattn.systems.consistency import NoChecks, check_answer
from agattn.systems.layer_tasks import COMPLETE_IDEAL
from agattn.systems.problem import Answer, Printed
from agattn.systems.task import Task

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
    said = {
        "name": "tonic",
        "finds": "the tonic",
        "about": SingleLayer,
        "results": (Printed("n", "a number"),),
    }
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
    monkeypatch.setattr(native_facts, "native_facts", lambda problem: {})
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
    """Elimination knows the numbers for the loss, over every field; on (1,1,2) each has two preimages."""
    for metric, numbers in (
        ("generic", (14, 14, 20)),
        ("gaussian", (6, 6, 12)),
        ("bombieri-weyl", (4, 4, 4)),
    ):
        given = loss(LAYER, metric)
        check_answer(counted(LAYER, given, characteristic, *numbers))
        for n in range(3):
            for lie in (numbers[n] - 2, numbers[n] + 2):
                said = [lie if i == n else number for i, number in enumerate(numbers)]
                with pytest.raises(TranscriptError, match="the number of critical points on"):
                    check_answer(counted(LAYER, given, characteristic, *said))
        with pytest.raises(TranscriptError, match="the dimension on"):
            check_answer(counted(LAYER, given, characteristic, *numbers, **{"dimension@1": 1}))


def test_no_loss_of_data_has_more_critical_points_than_a_general_one():
    check_answer(counted(TWO, loss(TWO), 32003, 68, 24, 40))
    check_answer(counted(TWO, loss(TWO, "gaussian"), 32003, 52, 20, 16))
    check_answer(counted(TWO, loss(TWO, "coefficients"), 32003, 69, 24, 40))  # is not one of data
    for numbers in ((69, 24, 40), (68, 25, 40), (68, 24, 42)):
        with pytest.raises(TranscriptError, match="it must be from 0 to"):
            check_answer(counted(TWO, loss(TWO), 32003, *numbers))
