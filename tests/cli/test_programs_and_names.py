"""What a user's program raises is shown as its error; names from outside move no terminal."""

import re
import sys

import pytest
from command_line import call

from agattn.errors import printable

#: Sets the title of a terminal, rings, turns it red, and reverses the letters that follow.
EVIL = "\x1b]0;x\x07\x1b[31m\x9b31m\u202e"
PROGRAM = """
import agattn as ag
from sympy import Symbol
import imported_by_a_model as helper

EVIL = '\\x1b]0;x\\x07\\x1b[31m\\x9b31m\\u202e'
named = ag.PolynomialMap(lambda A, X: A @ X, {"A": (2, 2)}, 2, name="f" + EVIL)
x = Symbol("x" + EVIL)
lettered = ag.PolynomialMap.of_expressions([x**2, x**3], [x])


class Own(ag.Linear):
    def evaluate(self, arithmetic, parameters, X):
        return helper.product(self, arithmetic, parameters["W"], X)


def raises():
    raise ValueError("no luck" + EVIL)


class Shapes:
    t = evaluate = 1

    @property
    def shapes(self):
        raise ZeroDivisionError("in shapes")


network, shapes = ag.Network([Own(2)], dim=2), Shapes()
"""
HELPER = """
raised, left = None, 0


def product(layer, arithmetic, W, X):
    global left
    left -= 1
    if left < 0 and raised is not None:
        raise raised
    return arithmetic.matmul(W, X)
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    (tmp_path / "model.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "imported_by_a_model.py").write_text(HELPER, encoding="utf-8")
    (tmp_path / "config.json").write_text(
        '{"model_type": "gpt2\\u001b[31m\\u009b\\u202e", "n_embd": 8, "n_head": 2, "n_layer": 2}'
    )
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("imported_by_a_model", None)


@pytest.mark.parametrize("raised", ["KeyError('no weight')", "OverflowError('no weight')", "SystemExit(1)"])
@pytest.mark.parametrize("left", [0, 1])
@pytest.mark.parametrize("command", ["dimension", "verify", "identifiability"])
def test_an_error_in_a_program_has_its_file_and_line(program, command, left, raised):
    """Also later than at the door, in what the program imports, and for the status 1, which refutes."""
    text = HELPER.replace("None, 0", f"{raised}, {left}")
    (program / "imported_by_a_model.py").write_text(text, encoding="utf-8")
    ended = call(command, "model.py:network")
    name = raised.partition("(")[0]
    assert ended.status == 2 and ended.out == ""
    assert re.fullmatch(rf"agattn: imported_by_a_model\.py, line 9: {name}: .*\n", ended.err), ended.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("raises", "model.py, line 18: ValueError: no luck"),
        ("shapes", "model.py, line 26: ZeroDivisionError: in shapes"),
    ],
)
def test_an_error_at_the_door_has_its_line(program, name, said):
    ended = call("dimension", f"model.py:{name}")
    assert ended.status == 2 and ended.err.startswith(f"agattn: {said}") and ended.err.count("\n") == 1


def test_an_error_of_agattn_is_still_its_own(program, monkeypatch):
    def fails(*_, **__):
        raise KeyError("a mistake")

    monkeypatch.setattr("agattn.geometry.dimension.dimension.dimension", fails)
    ended = call("dimension model.py:network")
    assert ended.status == 70 and "this is an error of agattn" in ended.err


def is_plain(text):
    return printable(text) == text


@pytest.mark.parametrize(
    "words",
    [
        *(f"{command} model.py:{name}".split() for name in ("named", "lettered") for command in (
            "dimension", "verify", "identifiability", "symmetries", "singularities", "ideal",
            "emit implicit-ideal", "emit implicit-ideal --engine msolve", "emit fiber --engine singular",
            "report -O r", "dimension --json", "emit fiber --json",
        )),
        ["fiber", "model.py:lettered", "config.json"],
        ["dimension", "config.json"],
        ["dimension", "config.json", "--family", "gpt2"],
        ["dimension", "config.json", "--json"],
        ["dimension", f"no{EVIL}"],
        ["dimension", "model.py:raises"],
        ["emit", "fiber", "-d", "2", "-o", "1", "-O", f"s{EVIL}.m2"],
        ["dimension", f"--{EVIL}"],
        [f"dim{EVIL}"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_name_reaches_the_terminal_as_a_command(program, words):
    ended = call(*words)
    assert is_plain(ended.out) and is_plain(ended.err), (ended.out, ended.err)
