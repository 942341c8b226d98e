"""A task and an engine added to a copy of the package by what their pages say, and by nothing else."""

import json
import re
import sys

import pytest
from command_line import ROOT
from installed import require
from test_adding_things import Copy, check_touched, paths, table

pytestmark = pytest.mark.slow
HOWTO = ROOT / "docs" / "extend"
#: The coordinates of a point that is not in the closure of M(2, 1).
OUTSIDE = [-7, -6, -3, 2, 9, 18]
FILE = re.compile(r"^```\{code-block\} (\w+)\n:caption: (\S+)\n\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def changed(text, hunk):
    """The text with the lines of a hunk put in, where those that it keeps or removes stand, just once."""
    lines = hunk.splitlines(keepends=True)
    old, new = ("".join(line[1:] for line in lines if line[0] in marks) for marks in (" -", " +"))
    assert text.count(f"\n{old}") == 1, f"these lines are to be there once:\n{old}"
    return text.replace(f"\n{old}", f"\n{new}")


def add(page, folder):
    """A copy of the package, to whose files is done what a page shows."""
    copy = Copy(folder)
    for language, name, body in FILE.findall((HOWTO / page).read_text(encoding="utf-8")):
        path = folder / name
        if language == "diff":
            text = path.read_text(encoding="utf-8")
            for hunk in body.split("@@\n"):
                text = changed(text, hunk)
            path.write_text(text, encoding="utf-8")
        else:
            path.parent.mkdir(exist_ok=True)
            copy.write(name, body)
    return copy


@pytest.fixture(scope="module")
def with_task(tmp_path_factory):
    return add("task.md", tmp_path_factory.mktemp("task"))


@pytest.fixture(scope="module")
def with_engine(tmp_path_factory):
    return add("engine.md", tmp_path_factory.mktemp("engine"))


@pytest.mark.parametrize("thing", ["task", "engine"])
def test_the_files_touched_are_the_files_promised(thing, request):
    """By the table of all things that can be added, and by that of the page."""
    copy = request.getfixturevalue(f"with_{thing}")
    [row] = [row for name, row in table().items() if name.endswith(f" {thing}")]
    page = (HOWTO / f"{thing}.md").read_text(encoding="utf-8").partition("and no others:")[2]
    names = re.findall(r"`agattn/[^`]*`", page.partition("## ")[0])
    for cell in (row[1], " ".join(names)):
        check_touched(copy.touched(), paths(cell))


# A task -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["macaulay2", "singular", "msolve"])
@pytest.mark.engine
def test_the_new_task_is_answered_by_every_engine(with_task, engine):
    require(engine)
    assert "quadrics" in with_task.agattn("emit", "--list")
    words = ("run", "quadrics", "-d", 2, "-o", 2, "-a", 1, "--engine", engine, "--json")
    found = json.loads(with_task.agattn(*words))
    assert (found["answer"]["number"], len(found["answer"]["generators"])) == (15, 15)
    assert found["evidence"] == ("modular" if engine == "msolve" else "proved")


LIES = """
from dataclasses import replace
from agattn import SingleLayer
from agattn.errors import TranscriptError
from agattn.systems.catalogue import build, task_named
from agattn.systems.consistency import check_answer
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.systems.problem import Answer

layer = SingleLayer(2, 2, 1)
problem = build("quadrics", layer)
[ring] = [result.ring for result in problem.results if result.ring]
quadrics = tuple(f.polynomial(ring) for f in compute_ideal(layer, 2))
assert len(quadrics) == task_named("quadrics").native(layer) == 15
check_answer(Answer(problem, {"number": 15}, {"generators": quadrics}))
x, *_, y = ring.gens
for number, said in (
    (14, quadrics), (14, quadrics[1:]), (16, (*quadrics, x * y)), (15, (*quadrics[1:], x * y)),
    (15, (*quadrics[1:], quadrics[0] * x)),
):
    try:
        check_answer(Answer(problem, {"number": number}, {"generators": said}))
    except TranscriptError as error:
        print(error)
"""


def test_a_wrong_answer_to_the_new_task_is_refused(with_task):
    few, fewer, many, another, cubic = with_task.run("-c", LIES).splitlines()
    assert few == fewer == "the number of quadrics is 14; it must be 15"
    assert many == "the number of quadrics is 16; it must be 15"
    assert "does not vanish on M(2,2,1)" in another and cubic == "an equation is no quadric"


def test_a_task_without_a_check_is_refused(tmp_path):
    copy = add("task.md", tmp_path)
    copy.change("agattn/systems/ideal_tasks.py", " check=_check_quadrics,", "")
    last = copy.python("-c", "import agattn.systems.catalogue").stderr.splitlines()[-1]
    assert last.startswith("TypeError: the task quadrics does not say how")


# An engine --------------------------------------------------------------------------------------------------


def test_the_new_engine_is_found_and_tried(with_engine):
    ended = with_engine.python("-m", "agattn", "doctor", "--json", AGATTN_SYMPY=sys.executable)
    entry = json.loads(ended.stdout)["engines"][-1]
    assert (entry["name"], entry["ok"], entry["found"]) == ("sympy", True, "AGATTN_SYMPY")
    import sympy

    assert entry["version"] == sympy.__version__
    assert "AGATTN_SYMPY" in with_engine.agattn("doctor", "--help")
    assert '"sympy"' in with_engine.agattn("schema", "run")


@pytest.mark.parametrize(("y", "member"), [(OUTSIDE, 0), ([5, 22, 21, 10, 34, 28], 1)])
@pytest.mark.parametrize("field", ["QQ", "32003"])
def test_the_new_engine_decides_membership(with_engine, y, member, field):
    from agattn import SingleLayer
    from agattn.geometry.reconstruction.membership import identify

    point = with_engine.folder / "point.json"
    point.write_text(json.dumps({"y": y}))
    words = ("run", "membership", "-d", 2, "-o", 1, "--point", point, "--field", field, "--engine", "sympy")
    found = json.loads(with_engine.agattn(*words, "--json", AGATTN_SYMPY=sys.executable))
    assert found["answer"]["member"] == member == identify(SingleLayer(2, 1), y).in_zariski_closure
    assert found["engine"]["name"] == "sympy"


def test_what_the_new_engine_cannot_do_is_refused_in_one_line(with_engine):
    ended = with_engine.python("-m", "agattn", "run", "slice", "-d", 2, "-o", 1, "--engine", "SymPy")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        "agattn: SymPy has no script for slice: it answers whether a point is in the Zariski closure; "
        "use --engine macaulay2 or --engine singular\n"
    )


def test_a_lie_of_the_new_engine_is_no_answer(with_engine, tmp_path):
    """The task checks what any engine says."""
    liar = tmp_path / "liar"
    liar.write_text(f'#!/bin/sh\nsed -i "s/int(basis.exprs != .1.)/1/" "$1"\nexec "{sys.executable}" "$@"\n')
    liar.chmod(0o755)
    point = tmp_path / "point.json"
    point.write_text(json.dumps({"y": OUTSIDE}))
    words = ("run", "membership", "-d", 2, "-o", 1, "--point", point, "--engine", "sympy")
    ended = with_engine.python("-m", "agattn", *words, AGATTN_SYMPY=str(liar))
    assert ended.returncode == 4 and "it says that the point is in the closure" in ended.stderr
