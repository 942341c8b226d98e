"""A task and an engine added to a copy of the package by what their pages say, and by nothing else."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT
from installed import require

pytestmark = pytest.mark.slow
HOWTO = ROOT / "docs" / "extend"
ARCHITECTURE = ROOT / "docs" / "extend" / "architecture.md"
#: The coordinates of a point that is not in the closure of M(2, 1).
OUTSIDE = [-7, -6, -3, 2, 9, 18]
FILE = re.compile(r"^```\{code-block\} (\w+)\n:caption: (\S+)\n\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def changed(text, hunk):
    """The text with the lines of a hunk put in, where those that it keeps or removes stand, just once."""
    lines = hunk.splitlines(keepends=True)
    old, new = ("".join(line[1:] for line in lines if line[0] in marks) for marks in (" -", " +"))
    assert text.count(f"\n{old}") == 1, f"these lines are to be there once:\n{old}"
    return text.replace(f"\n{old}", f"\n{new}")


def add(page, root):
    """Copy the package, and do to its files what a page shows; return their names."""
    shutil.copytree(ROOT / "agattn", root / "agattn", ignore=shutil.ignore_patterns("__pycache__"))
    touched = set()
    for language, name, body in FILE.findall((HOWTO / page).read_text(encoding="utf-8")):
        path = root / name
        if language == "diff":
            text = path.read_text(encoding="utf-8")
            for hunk in body.split("@@\n"):
                text = changed(text, hunk)
            path.write_text(text, encoding="utf-8")
        else:
            assert not path.exists(), f"{name} is there already"
            path.parent.mkdir(exist_ok=True)
            path.write_text(body, encoding="utf-8")
        touched.add(name)
    return touched


class Copy:
    """A copy of the package, and the files of it that a page touched."""

    def __init__(self, root, touched=()):
        self.root, self.touched = root, touched

    def python(self, *words, **environment):
        more = {"PYTHONPATH": str(self.root), **environment}
        return subprocess.run(
            [sys.executable, *map(str, words)], cwd=self.root, env={**os.environ, **more},
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    def agattn(self, *words, **environment):
        ended = self.python("-m", "agattn", *words, **environment)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout


@pytest.fixture(scope="module")
def with_task(tmp_path_factory):
    root = tmp_path_factory.mktemp("task")
    return Copy(root, add("task.md", root))


@pytest.fixture(scope="module")
def with_engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("engine")
    return Copy(root, add("engine.md", root))


def promised(text, row):
    """The files of the package in a row of a table, which begins with these words; folders end in a slash."""
    cell = next(line for line in text.splitlines() if line.startswith(row)).split(" | ")[1]
    return re.findall(r"`([\w/]+(?:/|\.py))`", cell)


def in_table(page):
    """The files of the package that the page's own table promises."""
    _, _, table = page.partition("and no others:")
    names = re.findall(r"`(agattn/[\w/]+(?:/|\.py))`", table.partition("## ")[0])
    return set(names)


@pytest.mark.parametrize(("page", "row"), [("task.md", "| [a task]"), ("engine.md", "| [an engine]")])
def test_the_files_touched_are_the_files_promised(page, row, request):
    copy = request.getfixturevalue("with_task" if page == "task.md" else "with_engine")
    row_of = promised(ARCHITECTURE.read_text(encoding="utf-8"), row)
    for table in (
        {f"agattn/{name}" for name in row_of},
        in_table((HOWTO / page).read_text(encoding="utf-8")),
    ):
        # NAME is the engine that is added; ENGINE each of those that are there, with a file in a folder.
        files = {re.sub("NAME", "sympy", re.sub(r"ENGINE(/|\.py)", "", name)) for name in table}
        assert all(any(name.startswith(file) for name in copy.touched) for file in files), "nothing too much"
        assert all(any(name.startswith(file) for file in files) for name in copy.touched), "nothing besides"


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
quadrics = tuple(f.polynomial(ring) for f in compute_ideal(layer, 2).equations())
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
    ended = with_task.python("-c", LIES)
    assert ended.returncode == 0, ended.stderr
    few, fewer, many, another, cubic = ended.stdout.splitlines()
    assert few == fewer == "the number of quadrics is 14; it must be 15"
    assert many == "the number of quadrics is 16; it must be 15"
    assert "does not vanish on M(2,2,1)" in another and cubic == "an equation is no quadric"


def test_a_task_without_a_check_is_refused(with_task, tmp_path):
    copy = Copy(shutil.copytree(with_task.root, tmp_path / "copy"))
    path = copy.root / "agattn" / "systems" / "ideal_tasks.py"
    whole = path.read_text(encoding="utf-8")
    assert " check=_check_quadrics," in whole
    path.write_text(whole.replace(" check=_check_quadrics,", ""), encoding="utf-8")
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

    point = with_engine.root / "point.json"
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
    point = Path(tmp_path / "point.json")
    point.write_text(json.dumps({"y": OUTSIDE}))
    words = ("run", "membership", "-d", 2, "-o", 1, "--point", point, "--engine", "sympy")
    ended = with_engine.python("-m", "agattn", *words, AGATTN_SYMPY=str(liar))
    assert ended.returncode == 4 and "it says that the point is in the closure" in ended.stderr
