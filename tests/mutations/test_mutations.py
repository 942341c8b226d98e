"""A break is reported as seen, a change without effect as not seen: by the script that finds both."""

import argparse
import json
import subprocess
import sys

import pytest

from agattn.systems.catalogue import MODEL_TASKS, TASKS
from agattn.systems.consistency import NoChecks
from tests.mutations import __main__ as script
from tests.mutations.changes import changes, readable, with_probes

SMALL = '''"""A module."""

from functools import lru_cache

LIMIT = 3


@lru_cache(maxsize=10)
def largest(numbers: tuple[int, ...], least: int = 0) -> int:
    """The largest of some numbers, or the least there may be."""
    found = least
    for x in numbers:
        if not x > found:
            continue
        found = x
    return found


def unused(x):
    if x is None or x < 0:
        raise ValueError(f"{x + 1} is bad")
    return [y for y in range(x) if y]
'''
START = "def largest(numbers: tuple[int, ...], least: int = "
TESTS = """from agattn.small import largest


def test_largest():
    assert largest((1, 5, 2)) == 5 and largest(()) == 0
"""


def found_in(source):
    data = source.encode()
    found = changes("agattn/small.py", data)
    assert all(readable(change, data) for change in found)
    assert all(change.applied(data).count(b"\n") == data.count(b"\n") for change in found)
    return {(change.place, change.before, change.after) for change in found}


def test_the_changes_of_a_module():
    assert found_in(SMALL) == {
        ("", "LIMIT = 3", "LIMIT = 4"),
        ("", "@lru_cache(maxsize=10)", "@lru_cache(maxsize=11)"),
        ("", f"{START}0) -> int:", f"{START}1) -> int:"),
        *(("largest", "if not x > found:", f"if {after}:")
          for after in ("x > found", "not x >= found", "True")),
        ("largest", "continue", "pass"),
        ("largest", "return found", "return None"),
        *(("unused", "if x is None or x < 0:", f"if {after}:") for after in (
            "x is not None or x < 0", "x is None and x < 0", "x is None or x <= 0", "x is None or x < 1",
            "True")),
        ("unused", 'raise ValueError(f"{x + 1} is bad")', "pass"),
        *(("unused", "return [y for y in range(x) if y]", f"return {after}") for after in (
            "[y for y in range(x - 1) if y]", "[y for y in range(x) if True]", "None")),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = (b  # not + here\n    + c)", "- c)"),
        ("a = b not in c", "a = b in c"),
        ("a = -b", "a = b"),
        ("a = min(b, c)", "a = max(b, c)"),
        ("a = é * b", "a = é + b"),
        ("raise ValueError(\n    a\n)", "pass"),
    ],
)
def test_kinds_of_changes(before, after):
    assert after in {words for _, _, words in found_in(f"def f():\n    {before}\n")}


def test_what_is_left_alone():
    assert found_in('def f(x: "1 + 1") -> int | None:\n    """1 + 1"""\n    y: int | str\n') == set()


def test_files_with_probes_do_the_same():
    source = SMALL.replace('"""A module."""', '"""A module."""\nfrom __future__ import annotations')
    space = {}
    exec(with_probes("agattn/small.py", source.encode()), space)
    assert space["largest"]((1, 5, 2)) == 5 and space["__doc__"] == "A module."
    lines = source.splitlines()
    reached = {lines[n - 1].strip() for n in space["_lines_"]}
    assert reached >= {"found = least", "if not x > found:", "continue"}
    assert not any("raise" in line for line in reached)


def test_the_checks_of_all_tasks_are_trusted():
    checks = {task.check for task in (*TASKS.values(), *MODEL_TASKS.values())}
    places = {(f"{check.__module__.replace('.', '/')}.py", check.__name__)
              for check in checks if not isinstance(check, NoChecks)}  # fmt: skip
    parts = {*script.TRUSTED["checks of answers"]}
    assert all(script.is_in(place, parts) for place in places)
    assert {file for file, _ in places} == {part.partition("::")[0] for part in parts}


@pytest.mark.parametrize(
    ("asked_for", "places"),
    [
        ({}, {"largest"}),
        ({"rest": True}, {"", "unused"}),
        ({"only": ["agattn/small.py::unu"]}, {"unused"}),
        ({"only": ["agattn/small.py"]}, {"", "largest", "unused"}),
    ],
)
def test_what_is_asked_for(tmp_path, monkeypatch, asked_for, places):
    """What is trusted, unless the rest or other files are asked for."""
    (tmp_path / "agattn").mkdir()
    (tmp_path / "agattn" / "small.py").write_text(SMALL, encoding="utf-8")
    monkeypatch.setattr(script, "ROOT", tmp_path)
    monkeypatch.setattr(script, "TRUSTED", {"checks": ["agattn/small.py::largest"]})
    given = argparse.Namespace(**{"only": None, "rest": False, "sample": 99, "seed": 0} | asked_for)
    assert {change.place for change in script.asked(given)} == places


def test_what_is_explained_stands_in_the_code():
    texts = {}
    for file, _, before, after in script.explained():
        texts.setdefault(file, " ".join((script.ROOT / file).read_text(encoding="utf-8").split()))
        assert before in texts[file] and after != before


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone that has one module and its tests."""
    for name, text in {
        "agattn/__init__.py": "", "agattn/small.py": SMALL, "tests/small/test_small.py": TESTS,
        "setup.cfg": "[tool:pytest]\n",
        "conftest.py": "def pytest_addoption(parser): parser.addoption('--all', action='store_true')\n",
    }.items():  # fmt: skip
        path = tmp_path / "clone" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    own = tmp_path / "clone" / "tests" / "mutations"
    own.mkdir()
    for path in script.EXPLAINED.parent.glob("[!t]*.py"):
        (own / path.name).write_bytes(path.read_bytes())
    (own / "unseen.toml").write_text(
        'reason = [{ why = "the least of two equal numbers is each of them", changes = [\n'
        '    ["agattn/small.py", "largest", "if not x > found:", "if not x >= found:"],\n]}]\n'
    )
    return tmp_path / "clone"


def run(clone, *words):
    command = [sys.executable, "-m", "tests.mutations", "--only", "agattn/small.py", *words]
    environment = {"PYTHONPATH": str(clone), "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        command, cwd=clone, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_breaks_are_seen_and_changes_without_effect_are_not(clone):
    ended = run(clone)
    lines = (clone / "mutations.jsonl").read_text(encoding="utf-8").splitlines()
    found = {(r["before"], r["after"]): r for r in map(json.loads, lines)}
    assert len(found) == len(lines) == len(found_in(SMALL)), ended.stderr
    test = "tests/small/test_small.py::test_largest"
    for after in ("if x > found:", "if True:"):
        assert found["if not x > found:", after]["by"] == test
    assert found["return found", "return None"]["own"]
    assert found[f"{START}0) -> int:", f"{START}1) -> int:"]["seen"]  # of an import: in a process of its own
    equal = found["if not x > found:", "if not x >= found:"]
    assert not equal["seen"] and equal["by"] == "not seen by 1 of 1 tests that reach this line"
    assert not found["LIMIT = 3", "LIMIT = 4"]["seen"]
    assert found["return [y for y in range(x) if y]", "return None"]["by"] == "no test reaches this line"
    assert "explained  agattn/small.py:13  if not x > found:  →  if not x >= found:" in ended.stdout
    assert "| the rest | 17 | 5 | 5 | 1 | 11 |" in ended.stdout and ended.returncode == 1
    assert (clone / "agattn" / "small.py").read_text(encoding="utf-8") == SMALL
    again = run(clone, "--resume")
    assert again.stdout == ended.stdout.splitlines(keepends=True)[-3] + "".join(
        ended.stdout.splitlines(keepends=True)[-2:]
    )


@pytest.mark.slow
def test_a_change_that_loops_is_seen_by_its_time(clone):
    (clone / "tests" / "small" / "test_small.py").write_text(
        "from agattn.small import unused\n\n\n"
        "def test_unused():\n    n = 3\n    while n:\n        n = len(unused(n))\n"
    )
    ended = run(clone, "--sample", "40")
    assert "if y]  →  return [y for y in range(x) if True]  (time or memory)" in ended.stdout
