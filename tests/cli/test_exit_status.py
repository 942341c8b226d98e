"""No way of ending is taken for another: 1 says that a claim was refuted, and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from agattn.cli.main import main

command_line = sys.modules[main.__module__]  # agattn.cli has a function of that name
ROOT = Path(__file__).parents[2]
COMMANDS = [
    ["--help"],
    ["verify", "--help"],
    ["verify", "-d", "3", "-o", "2", "-a", "2", "--claim", "theorem-3.4.singular", "--engine", "native"],
    ["strata", "-d", "2", "-o", "1"],
    ["strata", "-d", "2", "-o", "1", "--json"],
    ["emit", "fiber", "-d", "2", "-o", "1"],
    ["schema", "verify"],
]


def agattn(arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "agattn", *arguments], cwd=ROOT, stderr=subprocess.PIPE, timeout=60, **options
    )


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_closed_pipe_is_quiet_and_refutes_nothing(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    ended = agattn(arguments, stdout=writing)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.parametrize("arguments", COMMANDS[2:], ids=" ".join)
def test_a_full_disk_is_one_line(arguments):
    with Path("/dev/full").open("wb") as full:
        ended = agattn(arguments, stdout=full)
    assert ended.returncode == 2 and ended.stderr.count(b"\n") == 1 and b"No space left" in ended.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("arguments", [COMMANDS[1], COMMANDS[2], COMMANDS[3]], ids=" ".join)
def test_every_encoding_will_do(arguments, encoding):
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment["PYTHONIOENCODING"] = encoding
    ended = agattn(arguments, stdout=subprocess.PIPE, env=environment)
    refuted = int("theorem-3.4.singular" in arguments)
    assert (ended.returncode, ended.stderr) == (refuted, b"")
    ended.stdout.decode("utf-8" if encoding == "ascii" else encoding)


def test_json_is_json_in_every_encoding():
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    words = ["strata", "-d", "2", "-o", "1", "--json"]
    ended = agattn(words, stdout=subprocess.PIPE, env=environment)
    plain = agattn(words, stdout=subprocess.PIPE)
    assert ended.stdout.isascii() and not plain.stdout.isascii()
    assert json.loads(ended.stdout) == json.loads(plain.stdout)


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
def test_each_failure_has_its_status(monkeypatch, capsys, error, status, words):
    def failing(**_):
        raise error

    group = command_line.LazyGroup("agattn", callback=failing, invoke_without_command=True)
    monkeypatch.setattr(command_line, "cli", group)
    with pytest.raises(SystemExit) as end:
        main([])
    err = capsys.readouterr().err
    assert end.value.code == status and words in err and err.count("\n") == bool(words)
    assert "Traceback" not in err


def test_an_error_of_ours_shows_where_and_has_a_status_of_its_own(monkeypatch, capsys):
    def failing():
        raise ZeroDivisionError("here")

    monkeypatch.setattr(command_line, "cli", click.Command("agattn", callback=failing))
    with pytest.raises(SystemExit) as end:
        main([])
    err = capsys.readouterr().err
    assert end.value.code == 70 and "ZeroDivisionError: here" in err and "please report it" in err


@pytest.mark.parametrize("digits", [12, 1500, 4000, 5000])
def test_a_long_number_is_refused_and_not_repeated(capsys, digits):
    with pytest.raises(SystemExit) as end:
        main(["verify", "-d", digits * "9", "-o", "1"])
    err = capsys.readouterr().err
    assert end.value.code == 2 and "at most 1000000000" in err and len(err) < 200
