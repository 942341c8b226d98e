"""No way of ending is taken for another: 1 says that a claim was refuted, and nothing else."""

import json
import os
import shlex
import subprocess
import sys

import click
import pytest
from command_line import call, full_disk, run, run_each

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


@pytest.mark.slow
def test_a_closed_pipe_is_quiet_and_refutes_nothing(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    for arguments, ended in zip(COMMANDS, run_each(tmp_path, COMMANDS, stdout=writing), strict=True):
        assert (ended.status, ended.err) == (141, ""), arguments
    os.close(writing)


def test_a_full_disk_is_one_line(tmp_path):
    for arguments, ended in zip(COMMANDS, run_each(tmp_path, COMMANDS, streams="> /dev/full"), strict=True):
        assert ended.status == 2 and ended.err.count("\n") == 1, arguments
        assert "No space left" in ended.err, arguments


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
    status, _, err = call("verify -d", digits * "9", "-o", "1")
    assert status == 2 and "at most 1000000000" in err and len(err) < 200
    status, _, err = call("emit fiber -d 2 -o 1 --field", digits * "9")
    assert status == 2 and err.startswith("agattn: the field is") and len(err) < 200


# What is written

LAYER = ["-d", "2", "-o", "1"]
WRITING = [
    (["emit", "fiber", *LAYER, "-O"], "x.m2"),
    (["ideal", *LAYER, "--max-degree", "2", "-O"], "x.m2"),
    (["verify", *LAYER, "--engine", "native", "--claim", "3.3", "-O"], "x/report.json"),
    (["rlct", *LAYER, "--json", "-O"], "x.json"),
    (["singularities", *LAYER, "--json", "-O"], "x.json"),
    (["classify", "WEIGHTS", "-O"], "x.csv"),
    (["classify", "WEIGHTS", "-O"], "x.png"),
    (["rank", "MATRIX", "-O"], "x.svg"),
    (["figure", "1", "--engine", "native", "-O"], "x.html"),
    (["figure", "2", "-O"], "x.pdf"),
    (["check", "-O"], "x.py"),
    (["study", "GRID", "--no-cache", "-O"], "x.jsonl"),
    (["study", "GRID", "--no-cache", "-O"], "x/report.md"),
    (["report", "--study", "LINES", "-O"], "x/report.html"),
    (["report", *LAYER, "-O"], "x/report.html"),
    (["run", "fiber", *LAYER, "-O"], "x/fiber-macaulay2.m2"),
]


def prepared(folder, words):
    """The words, with files in the places of their names."""
    grid = 'ask = "strata"\n[layers]\nd = 2\nd_out = 1\n'
    (folder / "grid.toml").write_text(grid)
    (folder / "weights.json").write_text('{"A": [[1, 2], [3, 4]], "V": [[1, 2]]}')
    (folder / "matrix.csv").write_text("1,2\n3,4\n")
    files = {"GRID": "grid.toml", "WEIGHTS": "weights.json", "MATRIX": "matrix.csv", "LINES": "lines.jsonl"}
    if "LINES" in words:
        call("study", folder / "grid.toml", "--no-cache", "-O", folder / "lines.jsonl")
    return [str(folder / files[word]) if word in files else word for word in words]


def named(words):
    return " ".join(words) if isinstance(words, list) else ""


@pytest.mark.parametrize(("words", "target"), WRITING, ids=named)
def test_a_full_disk_leaves_the_file_that_was_there(words, target, tmp_path, fakes):
    fakes.write("M2", "exit 3")
    words = prepared(tmp_path, words)
    path = tmp_path / target
    path.parent.mkdir(exist_ok=True)
    path.write_text("before")
    before = sorted(path.parent.iterdir())
    with full_disk():
        status, _, err = call(*words, path.parent if "/" in target else path)
    assert status == 2 and ("File too large" in err or "holds another report" in err), err
    assert path.read_text() == "before"
    assert set(path.parent.iterdir()) - {path.with_name(f"{path.name}.part")} == set(before)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [100, 20_000])
@pytest.mark.parametrize("more", [["-O", "x.jsonl", "--no-cache"], ["--cache", "kept"]])
def test_a_disk_that_fills_up_in_a_study(tmp_path, more, limit):
    prepared(tmp_path, [])
    code = (
        "import resource, sys; from agattn.cli.main import main\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        f"main(['study', 'grid.toml', *{more!r}])"
    )
    status, out, err = run(code=code, cwd=tmp_path)
    if limit > 10_000 and "-O" in more:
        assert status == 0
    else:
        assert status == 2 and err.count("\n") == 1 and more[1] in err and "wrote" not in err, err
        assert out == ""


# Streams that are closed

#: Command lines, each with its exit status, and whether it prints on stdout.
STATUS = {
    "strata -d 2 -o 1": (0, True), "strata -d 0 -o 1": (2, False), "--help": (0, True),
    "nonsense": (2, False), "schema verify": (0, True), "emit fiber -d 2 -o 1 -O x.m2": (0, False),
    "verify -d 3 -o 2 -a 2 --claim theorem-3.4.singular --engine native --json": (1, True),
    "study g.toml --no-cache -O x.jsonl": (0, True),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_traceback_and_refute_nothing(closed, tmp_path):
    (tmp_path / "g.toml").write_text('ask = "strata"\n[layers]\nd = 2\nd_out = 1\n')
    captured = [number for number, mark in ((1, ">&-"), (2, "2>&-")) if mark not in closed.split()]
    commands = [words.split() for words in STATUS]
    found = run_each(tmp_path, commands, streams=closed, captured=captured)
    for words, ended in zip(STATUS, found, strict=True):
        status, prints = STATUS[words]
        is_lost = prints and ">&-" in closed.split()
        assert ended.status == (2 if is_lost else status) and "Traceback" not in ended.err, words
        assert ended.err.count("\n") <= 3, words
        told = "agattn: cannot read or write the output: Bad file descriptor\n"
        assert ended.err.endswith(told) is (is_lost and "2>&-" not in closed), words
    files = {file.name for file in tmp_path.glob("x.*")}
    assert files == {"x.m2", "x.jsonl"}
    for file in tmp_path.glob("x.*"):  # nothing else was written into what has the number of a closed stream
        text = file.read_text()
        assert json.loads(text) if file.suffix == ".jsonl" else text.startswith("--")


def test_an_engine_prints_nowhere_where_stdout_is_closed(fakes, tmp_path):
    fakes.write("M2", "echo lost; echo lost >&2; test -e /proc/self/fd/1 || exit 9")
    (tmp_path / "a.m2").write_text("1\n")
    command = f"{shlex.quote(sys.executable)} -m agattn run a.m2 >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, timeout=300).returncode == 0
