"""The structure of the package, as ``python -m tests.house`` measures it, stays what the pages say."""

import ast
import json
import re
import subprocess
from collections import defaultdict
from functools import partial

import numpy as np
import pytest

from agattn.algebra.arithmetic import FloatArithmetic
from agattn.architectures import DeepNetwork
from agattn.geometry.dimension.jacobian import jacobian
from tests import house


def test_imports_by_name_are_seen():
    assert "agattn.cli.commands" in house.imports("agattn.cli.main")
    assert "agattn.library" in house.imports("agattn")


def test_imports_for_type_hints_are_seen():
    """A file whose hints name a class cannot be read without the file of that class."""
    hinted = ast.parse(house.files()["agattn"].read_text(encoding="utf-8")).body
    assert any(isinstance(node, ast.If) and "algebra.rank" in ast.unparse(node) for node in hinted)
    assert "agattn.algebra.rank" in house.imports("agattn")


def test_no_file_needs_a_higher_floor():
    above, below = house.floor_of("agattn.cli.main"), house.floor_of("agattn.geometry.ideal.ideal")
    assert above > below > house.floor_of("agattn.errors")
    assert house.floor_of("agattn.geometry.strata.strata") > house.floor_of("agattn.geometry.variety.degree")
    assert house.arrows_up() == []


def test_no_room_is_over_its_budget():
    why = "take something out; or raise tests/budgets.json in a commit that says why"
    assert house.over_budget() == {}, why


def test_a_budget_falls_and_never_rises_by_itself(monkeypatch, tmp_path):
    monkeypatch.setattr(house, "BUDGETS", tmp_path / "budgets.json")
    lines = house.lines_by_room()
    room, other = "agattn.algebra", "agattn.claims"
    kept = {**lines, room: lines[room] + 7, other: lines[other] - 1, "agattn.gone": 5}
    house.BUDGETS.write_text(json.dumps(kept))
    assert house.over_budget() == {other: (lines[other], lines[other] - 1)}
    house.lower()
    assert house.budgets() == {**lines, other: lines[other] - 1}


def test_no_files_need_each_other():
    assert house.circles() == []


@pytest.fixture(scope="module")
def trees():
    """What is in each file but the checker, which stands alone: ``ast.Module`` by module."""
    return {
        module: ast.parse(path.read_text(encoding="utf-8"))
        for module, path in house.files().items()
        if module != "agattn.checker"
    }


def test_every_class_has_a_name_of_its_own(trees):
    """A name in a type hint tells which class is meant."""
    places = defaultdict(set)
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name[0] != "_":
                places[node.name].add(module)
    assert {"ExactWeights", "Weights", "PointFacts"} <= set(places)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_evaluating_and_differentiating_a_network_makes_no_call_up():
    network = DeepNetwork((3, 2, 2), (1, 2), t=2)
    draw = np.random.default_rng(0).standard_normal
    parameters = {name: draw(shape) for name, shape in network.shapes.items()}
    X = draw((5, *network.input_shape))
    rooms, up = house.trace(lambda: jacobian(network, parameters, X, FloatArithmetic()))
    assert rooms == {"agattn.algebra", "agattn.architectures", "agattn.geometry.dimension"}
    assert up.total() == 0


CODE = '''"""A docstring
of two lines."""

import os  # said


def f(x):
    """What it does."""
    # Why.
    return (
        x +

        """text"""
    )
'''


def test_code_is_counted_without_what_is_said():
    assert house.lines_of(CODE) == 6  # import, def, and four of the return, whose empty line is none


def test_lines_stand_beside_those_of_a_commit(tmp_path, monkeypatch, capsys):
    """In a clone with one file in one commit, and two rooms now."""

    def git(*words):
        author = ["-c", "user.name=x", "-c", "user.email=x@x"]
        subprocess.run(["git", *author, *words], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "agattn" / "room").mkdir(parents=True)
    (tmp_path / "agattn" / "room" / "file.py").write_text(CODE, encoding="utf-8")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "One file")
    assert house.sources_of("HEAD", tmp_path) == {"agattn.room.file": CODE}
    with pytest.raises(SystemExit, match="git has no agattn in 'nonsense'"):
        house.sources_of("nonsense", tmp_path)
    monkeypatch.setattr(house, "budgets", lambda: {"agattn.room": 9})
    monkeypatch.setattr(house, "sources_of", partial(house.sources_of, clone=tmp_path))
    monkeypatch.setattr(house, "sources", lambda: {"agattn.room.file": "x = 1\n", "agattn.new": "y\n"})
    assert house.main(["--lines", "--against", "HEAD"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        ["HEAD", "now", "change", "budget", "room"],
        ["0", "1", "+1", "agattn.new"],
        ["6", "1", "-5", "9", "agattn.room"],
        ["6", "2", "-4", "9", "all"],
    ]


PAGE = """# A page

It has *seven* words, $x + y$ 12 and a table.

```python
>>> code that is not counted
```

| one | 2 |
"""


def test_words_of_prose_are_counted_by_page(tmp_path):
    """A page that was moved is counted under its new name."""
    assert house.words_of(PAGE) == 10  # a, page, it, has, seven, words, and, a, table, one
    (tmp_path / "docs" / "start").mkdir(parents=True)
    for name in ("README.md", "docs/tutorial.md", "docs/_build.md"):
        (tmp_path / name).write_text(PAGE, encoding="utf-8")
    assert house.words_by_page(clone=tmp_path) == {"README": 10, "start/tutorial": 10}
    assert house.words_by_page()["start/tutorial"] > 500


def test_every_file_is_counted():
    assert {"agattn", "agattn.checker", "agattn.geometry.strata.strata"} <= set(house.sources())


def test_functions_have_at_most_sixty_lines_without_their_docstrings(trees):
    found = {
        f"{module} {node.name}"
        for module, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and code_lines(node) > 60
    }
    assert found == set()


def code_lines(function):
    first = function.body[0]
    said = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) else 0
    return function.end_lineno - function.lineno + 1 - said


def test_a_public_function_of_more_than_two_lines_says_what_it_does():
    for module, path in house.files().items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        classes = [one for one in tree.body if isinstance(one, ast.ClassDef) and one.name[0] != "_"]
        for node in (*tree.body, *(inner for one in classes for inner in one.body)):
            if isinstance(node, ast.FunctionDef) and node.name[0] != "_" and not ast.get_docstring(node):
                assert node.body[-1].end_lineno - node.body[0].lineno < 2, f"{module}.{node.name}"


def test_the_page_on_the_house_names_files_that_there_are():
    page = (house.ROOT / "docs" / "extend" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:[\w/]+/)?(\w+\.(?:py|toml))`", page))
    there = {path.name for folder in ("agattn", "tests") for path in (house.ROOT / folder).rglob("*.*")}
    assert len(named) > 20 and named <= there
