from fractions import Fraction
from functools import partial

import pytest

from agattn.architectures import SingleLayer
from agattn.engines.catalogue import ENGINES, MACAULAY2, MSOLVE, SINGULAR
from agattn.engines.emit import emit
from agattn.engines.run import run
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.critical_points.loss import loss
from agattn.systems.catalogue import MODEL_TASKS, TASKS, build
from agattn.systems.points import point_of
from agattn.systems.problem import Task

TWO_TOKENS = ((1, 1), (1, 2, 3), (2, 1), (2, 2, 1), (2, 1, 5), (3, 1, 2))
ONE_TOKEN = (SingleLayer(2, 1, t=1), SingleLayer(2, 2, 1, t=1))
LAYERS = [*(SingleLayer(*sizes) for sizes in TWO_TOKENS), *ONE_TOKEN]
engines = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)


def problem_of(task, layer):
    """The problem, for membership with a target that no neuromanifold but a linear space contains.

    Critical points are those of the distance in a simple norm, modulo a prime.
    """
    target = tuple(Fraction(n * n - 7, 3) for n in range(layer.ambient_dimension))
    given = {"target": target} if "target" in TASKS[task].takes else {}
    if "loss" in TASKS[task].takes:
        return build(task, layer, 32003, loss=loss(layer, "bombieri-weyl"))
    return build(task, layer, **given)


def problems():
    for task in (task for task in TASKS.values() if task.about is SingleLayer):
        for layer in LAYERS:
            impossible = layer.d == 1 and task.name in ("rank-one-locus", "slice", "critical-equations")
            if not impossible and (layer.t > 1 or task.one_token):
                yield problem_of(task.name, layer)
    yield build("implicit-ideal", SingleLayer(2, 1), prime=True)
    yield build("implicit-ideal", SingleLayer(2, 1, 1), characteristic=32003)
    yield build("hilbert-function", SingleLayer(2, 1), max_degree=0)


PROBLEMS = tuple(problems())


def can(engine, problem):
    return problem.form in engine.tasks and not {r.name for r in problem.results}.intersection(engine.lacks)


@pytest.mark.parametrize("engine", [MACAULAY2, SINGULAR], ids=lambda engine: engine.name)
def test_points_appear_exactly(engine, tmp_path):
    file = tmp_path / "point.json"
    file.write_text('{"A": [["-2/3", 1], [0, 7]], "V": [[11, "13/17"]]}')
    layer = SingleLayer(2, 1)
    script = emit(build("fiber", layer, points=(point_of(file, layer),)), engine)
    assert "-2/3" in script and "13/17" in script and "--point FILE" in script
    target = (Fraction(-2, 3), *map(Fraction, range(4)), Fraction(13, 17))
    script = emit(build("membership", layer, target=target), engine)
    assert "-2/3,0,1,2,3,13/17" in script.replace(", ", ",") and "--point FILE" in script


def test_what_an_engine_cannot_do_is_refused_in_one_line():
    for task, given, reason in [
        ("slice", {}, "msolve has no script for slice: it answers"),
        ("implicit-ideal", {"prime": True}, "msolve does not find the result prime"),
    ]:
        with pytest.raises(InputError, match=f"{reason}.*; use engine='macaulay2' or engine='singular'$"):
            emit(build(task, SingleLayer(2, 1), **given), MSOLVE)
    # Whatever has a script has its systems, and says what the answer is by their bases.
    tasks = (*TASKS.values(), *MODEL_TASKS.values())
    assert MSOLVE.tasks == {task.form for task in tasks if task.systems is not Task.systems}
    assert MACAULAY2.tasks == SINGULAR.tasks == {task.form for task in tasks} | {"complete-ideal"}


# The scripts, run: every task on every installation. ----------------------------------------------------

QUICK = [
    ("implicit-ideal", SingleLayer(2, 1), {"dimension": 5, "degree": 4}),
    ("implicit-ideal", SingleLayer(2, 1, 1), {"dimension": 4, "degree": 3}),
    ("implicit-ideal", SingleLayer(1, 2), {"dimension": 2, "degree": 1}),
    ("implicit-ideal", SingleLayer(2, 1, t=1), {"dimension": 4, "degree": 1}),
    ("hilbert-function", SingleLayer(2, 1), {f"value@{n}": v for n, v in enumerate((6, 21, 56, 125), 1)}),
    ("singular-locus", SingleLayer(2, 1), {
        "jacobian-rank@0,0,0": 0, "jacobian-rank@1,1,2": 0, "jacobian-rank@1,2,2": 1,
        "locus-dimension": 4, "locus-degree": 3,
    }),
    ("critical-locus", SingleLayer(2, 1), {
        "cone-dimension@1,1,1": 2, "cone-dimension@1,1,2": 1, "cone-dimension@1,2,2": 1,
    }),
    ("base-locus", SingleLayer(2, 1), {"components": 2}),
    ("fiber", SingleLayer(2, 1), {
        "points@1,1,1": 1, "length@1,1,1": 2, "points@1,1,2": 2, "length@1,1,2": 2, "points@1,2,2": 1,
    }),
    ("strata-tangents", SingleLayer(2, 1), {
        "failures": 0, "differential-rank@1,2,2": 5, "curve-rank@1,1,1": 6,
    }),
    ("rank-one-locus", SingleLayer(2, 1), {"dimension": 4, "degree": 3, "failures": 0}),
    ("named-equations", SingleLayer(2, 1), {"number": 1}),
    ("tangent-cone", SingleLayer(2, 1), {
        "dimension@0,0,0": 5, "multiplicity@0,0,0": 4, "multiplicity@1,1,1": 2, "multiplicity@1,2,2": 1,
    }),
    ("membership", SingleLayer(2, 1), {"member": 0}),
    ("rlct-normal-form", SingleLayer(3, 2, 2), {
        "inside@1,1,1": 1, "back@1,1,1": 1, "inside@2,1,3": 1, "back@2,1,3": 1, "back@2,2,3": 1,
    }),
]  # fmt: skip


def gives(installation, task, layer, expected):
    """See that an engine answers a task with these numbers, and maybe more."""
    done = run(problem_of(task, layer), installation)
    assert {name: done.answer.integers[name] for name in expected} == expected
    return done


cases = partial(pytest.mark.parametrize, ("task", "layer", "expected"), ids=lambda x: str(x)[:20])


@cases(QUICK)
def test_every_task_on_every_singular(singular, task, layer, expected):
    gives(singular, task, layer, expected)


# A process of Macaulay2 takes half a second to start, so it gets each task once.
@pytest.mark.slow
@cases([*{case[0]: case for case in reversed(QUICK)}.values()])
def test_every_task_on_every_macaulay2(macaulay2, task, layer, expected):
    gives(macaulay2, task, layer, expected)


@cases([case for case in QUICK if case[0] in MSOLVE.tasks])
def test_every_task_of_msolve(msolve_installation, task, layer, expected):
    """It lifts from primes without a proof, over the rationals too."""
    assert gives(msolve_installation, task, layer, expected).evidence is Evidence.MODULAR


@pytest.mark.parametrize(
    "task", ["fiber", "singular-locus", "critical-locus", "strata-tangents", "tangent-cone"]
)
def test_points_of_the_user(singular, tmp_path, task):
    file = tmp_path / "point.json"
    file.write_text('{"A": [[2, 4], [-1, -2]], "V": [["3/5", "1/5"]]}')
    layer = SingleLayer(2, 1)
    answer = run(build(task, layer, points=(point_of(file, layer),)), singular).answer
    expected = {
        "fiber": ("points", 2),
        "singular-locus": ("jacobian-rank", 0),
        "critical-locus": ("cone-dimension", 1),
        "tangent-cone": ("multiplicity", 2),
    }
    if task in expected:
        name, value = expected[task]
        assert answer.at_points(name) == {"point": value}


def test_over_a_finite_field_and_primality(singular):
    layer = SingleLayer(2, 1, 1)
    problem = build("implicit-ideal", layer, characteristic=32003, prime=True)
    answer = run(problem, singular).answer
    assert answer.integers == {"dimension": 4, "degree": 3, "prime": 1}
    assert {f.ring.characteristic for f in answer.polynomials["generators"]} == {32003}
    assert answer.as_json()["field"] == "ZZ/32003"


def test_the_engines_find_the_same_quartic(both_engines, msolve_installation):
    problem = build("implicit-ideal", SingleLayer(2, 1))
    found = (run(problem, i).answer for i in (*both_engines, msolve_installation))
    one, other, third = (answer.polynomials["generators"] for answer in found)
    assert [f.primitive() for f in one] == [f.primitive() for f in other] == [f.primitive() for f in third]
    assert one[0].degree() == 4 and len(one) == 1


SHAPES = [SingleLayer(1, 2, 3), SingleLayer(2, 2, 1), SingleLayer(2, 2, 1, t=1)]
AGREE = [p for p in PROBLEMS if p.layer in SHAPES] + [build("implicit-ideal", SHAPES[1], characteristic=101)]
problems_of = partial(
    pytest.mark.parametrize, "problem", ids=lambda p: p.command.removeprefix("agattn emit ")
)


def agree(problem, *installations):
    """See that two engines find the same numbers, and polynomials of the same degrees."""
    one, other = (run(problem, installation).answer for installation in installations)
    # How many equations are used, repeated ones among them, is each script's own affair.
    assert one.integers | {"equations": 0} == other.integers | {"equations": 0} and one.integers
    degrees = [
        sorted(sorted(f.degree() for f in fs) for fs in answer.polynomials.values())
        for answer in (one, other)
    ]
    assert degrees[0] == degrees[1]


@pytest.mark.slow
@problems_of(AGREE)
def test_the_engines_agree_on_every_integer(both_engines, problem):
    agree(problem, *both_engines)


@problems_of([*(p for p in AGREE if can(MSOLVE, p)), build("implicit-ideal", SingleLayer(2, 2))])
def test_msolve_agrees_with_singular(msolve_installation, both_engines, problem):
    agree(problem, msolve_installation, both_engines[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layer", "task"),
    [
        pytest.param(layer, name, id=f"a={layer.a}-{name}")
        for layer in (SingleLayer(3, 1, 1), SingleLayer(2, 1, 9))
        for name, task in TASKS.items()
        # Half a minute, which tests/test_native_against_engines.py asks Singular, too, and compares.
        if task.about is SingleLayer and (layer.d, name) != (3, "named-equations")
    ],
)
def test_other_shapes(singular, task, layer):
    answer = run(problem_of(task, layer), singular).answer
    assert answer.integers
    if task == "implicit-ideal":
        assert (answer.integers["dimension"], answer.integers["degree"]) == (
            (7, 45) if layer.d == 3 else (5, 4)
        )
