"""The structure of the package, as ``python -m tests.house`` measures it, stays what the pages say."""

import ast
import re
from collections import defaultdict

import pytest

from tests import house


def test_no_file_needs_a_higher_floor():
    above, below = house.floor_of("agattn.cli.main"), house.floor_of("agattn.geometry.ideal.ideal")
    assert above > below > house.floor_of("agattn.errors")
    assert house.floor_of("agattn.geometry.strata.strata") > house.floor_of("agattn.geometry.variety.degree")
    assert house.arrows_up() == []


def test_no_room_is_over_its_budget():
    why = "take something out; or raise tests/budgets.json in a commit that says why"
    assert house.over_budget() == {}, why


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
