"""No way of ending is taken for another: 1 says that a claim was refuted, and nothing else."""

import json
import os
import sys
from pathlib import Path

import click
import pytest
from command_line import call, run

from agattn.cli.main import main

command_line = sys.modules[main.__module__]  # agattn.cli has a function of that name
COMMANDS = [
    ["--help"],
    ["verify", "--help"],
    ["verify", "-d", "3", "-o", "2", "-a", "2", "--claim", "theorem-3.4.singular", "--engine", "native"],
    ["strata", "-d", "2", "-o", "1"],
    ["strata", "-d", "2", "-o", "1", "--json"],
    ["emit", "fiber", "-d", "2", "-o", "1"],
    ["schema", "verify"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_closed_pipe_is_quiet_and_refutes_nothing(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    ended = run(*arguments, stdout=writing)
    os.close(writing)
    assert (ended.status, ended.err) == (141, "")


@pytest.mark.parametrize("arguments", COMMANDS[2:], ids=" ".join)
def test_a_full_disk_is_one_line(arguments):
    with Path("/dev/full").open("wb") as full:
        ended = run(*arguments, stdout=full)
    assert ended.status == 2 and ended.err.count("\n") == 1 and "No space left" in ended.err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("arguments", [COMMANDS[1], COMMANDS[2], COMMANDS[3]], ids=" ".join)
def test_every_encoding_will_do(arguments, encoding):
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": encoding}
    decoder = "utf-8" if encoding == "ascii" else encoding
    ended = run(*arguments, environment=environment, encoding=decoder)
    assert (ended.status, ended.err) == (int("theorem-3.4.singular" in arguments), "")


def test_json_is_json_in_every_encoding():
    words = ["strata", "-d", "2", "-o", "1", "--json"]
    ended, plain = run(*words, environment={"PYTHONIOENCODING": "latin-1"}), run(*words)
    assert ended.out.isascii() and not plain.out.isascii()
    assert json.loads(ended.out) == json.loads(plain.out)


class LinAlgError(ValueError):
    """As numpy has one."""


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (OSError(28, "No space left on device", "/here"), 2, "/here: No space left"),
        (MemoryError(), 3, "memory ran out"),
        (MemoryError("Unable to allocate 67 GiB"), 3, "67 GiB"),
        (OverflowError("int too large"), 2, "int too large"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), 2, "invalid start byte"),
        (LinAlgError("SVD did not converge"), 3, "SVD did not converge"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_each_failure_has_its_status(monkeypatch, error, status, words):
    def failing(**_):
        raise error

    group = command_line.LazyGroup("agattn", callback=failing, invoke_without_command=True)
    monkeypatch.setattr(command_line, "cli", group)
    found, _, err = call()
    assert found == status and words in err and err.count("\n") == bool(words)
    assert "Traceback" not in err


def test_an_error_of_ours_shows_where_and_has_a_status_of_its_own(monkeypatch):
    def failing():
        raise ZeroDivisionError("here")

    monkeypatch.setattr(command_line, "cli", click.Command("agattn", callback=failing))
    status, _, err = call()
    assert status == 70 and "ZeroDivisionError: here" in err and "please report it" in err


@pytest.mark.parametrize("digits", [12, 1500, 4000, 5000])
def test_a_long_number_is_refused_and_not_repeated(digits):
    status, _, err = call("verify", "-d", digits * "9", "-o", "1")
    assert status == 2 and "at most 1000000000" in err and len(err) < 200
