from dataclasses import replace
from fractions import Fraction

import pytest

from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.systems.catalogue import MODEL_TASKS, TASKS, build
from agattn.systems.layer_tasks import minors_are_feasible
from agattn.systems.points import strata_points
from agattn.systems.problem import Point, matrix

LAYERS = [SingleLayer(d, d_out, a) for d in (1, 2, 3) for d_out in (1, 2) for a in (1, 2, 3)]
LAYER = SingleLayer(2, 1)
TARGET = tuple(Fraction(n, 3) for n in range(6))
POINT = Point(matrix([[1, 2], [3, 4]]), matrix([[5, 6]]))
ABOUT_LAYERS = [name for name, task in TASKS.items() if task.about is SingleLayer]
tasks = pytest.mark.parametrize("task", ABOUT_LAYERS)


def possible(task, layer):
    without = task in ("rank-one-locus", "slice", "critical-equations") and layer.d == 1
    return not without and not TASKS[task].too_large(layer)


def needed(task, layer):
    """What a task cannot do without: a point of the ambient space, for membership."""
    return {"target": (Fraction(1, 3),) * layer.ambient_dimension} if "target" in TASKS[task].takes else {}


@tasks
def test_every_task_for_every_layer(task):
    for layer in LAYERS:
        if not possible(task, layer):
            continue
        problem = build(task, layer, **needed(task, layer))
        assert (problem.task, problem.layer, problem.characteristic) == (task, layer, 0)
        assert len({r.name for r in problem.results}) == len(problem.results) > 0
        assert problem.command.startswith(f"agattn emit {task} --engine ENGINE -d {layer.d}")
        assert any(r.per_point for r in problem.results) == bool(problem.points)


@pytest.mark.slow
def test_the_digest_changes_with_the_question_and_only_with_it():
    seen = {}
    for task in ABOUT_LAYERS:
        for layer in LAYERS:
            if possible(task, layer):
                given = needed(task, layer)
                over_q, modulo, again = (build(task, layer, characteristic=p, **given) for p in (0, 101, 101))
                for problem in (over_q, modulo):
                    assert seen.setdefault(problem.digest, problem) is problem
                assert again.digest == modulo.digest
    ideal = build("implicit-ideal", LAYER)
    different = [
        ideal,
        build("implicit-ideal", LAYER, prime=True),
        build("hilbert-function", LAYER),
        build("hilbert-function", LAYER, max_degree=5),
        build("fiber", LAYER),
        build("fiber", LAYER, points=(POINT,)),
        build("fiber", LAYER, points=(replace(POINT, A=matrix([[1, 2], [3, 5]])),)),
        build("fiber", LAYER, points=(replace(POINT, V=matrix([[5, 7]])),)),
        build("implicit-ideal", SingleLayer(2, 1, t=1)),
        build("implicit-ideal", SingleLayer(2, 1, t=3)),
        build("membership", LAYER, target=TARGET),
        build("membership", LAYER, target=TARGET[::-1]),
        build("tangent-cone", LAYER),
        build("tangent-cone", LAYER, points=(POINT,)),
    ]
    assert len({problem.digest for problem in different}) == len(different)
    assert replace(ideal, command="").digest == ideal.digest


def test_force():
    assert build("implicit-ideal", SingleLayer(4, 2), force=True).layer.ambient_dimension == 80
    assert build("fiber", SingleLayer(4, 2)).points


@tasks
def test_one_token(task):
    layer = SingleLayer(2, 1, t=1)
    if TASKS[task].one_token:
        command = build(task, layer, **needed(task, layer)).command
        assert command.split(" -a 2 ")[1].startswith("-t 1")
    elif task in MODEL_TASKS:
        problem = build(task, layer)
        assert problem.form == f"model-{task}" and "M(2,1,2), t = 1" in problem.title
    else:
        with pytest.raises(InputError, match=f"^{task} needs t ≥ 2"):
            build(task, layer)


@tasks
def test_points(task):
    if "points" in TASKS[task].takes:
        problem = build(task, LAYER, points=(POINT,))
        assert problem.points == (POINT,) and problem.command.endswith("--point FILE")
    else:
        with pytest.raises(InputError, match=f"^{task} of a .* takes no point"):
            build(task, LAYER, points=(POINT,))


def test_membership_needs_a_target_and_nothing_else_does():
    problem = build("membership", LAYER, target=TARGET)
    assert problem.data == {"target": TARGET} and problem.command.endswith(" --point FILE")
    assert "target" not in build("fiber", LAYER).data


def test_the_fiber_over_zero_is_another_task():
    for zero in (replace(POINT, A=matrix([[0, 0], [0, 0]])), replace(POINT, V=matrix([[0, 0]]))):
        with pytest.raises(InputError, match="base-locus"):
            build("fiber", LAYER, points=(zero,))
    assert "0,0,0" not in {p.label for p in build("fiber", LAYER).points}
    assert "0,0,0" in {p.label for p in strata_points(LAYER)}


def test_minors_only_where_they_are_few():
    assert minors_are_feasible(SingleLayer(2, 1)) and not minors_are_feasible(SingleLayer(2, 2))
    assert [r.name for r in build("singular-locus", SingleLayer(2, 1)).results][-1] == "locus-degree"
    assert [r.name for r in build("singular-locus", SingleLayer(2, 2)).results][-1] == "jacobian-rank"
