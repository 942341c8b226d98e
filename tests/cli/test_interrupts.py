"""Ctrl-C during long commands: one line says what is lost, and what was done is found again; and kills."""

import json
import random
import signal
from contextlib import contextmanager

import pytest
from command_line import call, eventually, start

from agattn.experiments.studies import workers
from tests.faults import signals

#: Says each step on stdout, and then waits to be interrupted there.
WAITS = """
import os, time
import agattn.cli.output as output
from agattn.cli.main import main
def wait(step):
    os.write(1, b"begun\\n")  # at once: print lets another thread write before the end of the line
    while True:
        time.sleep(0.01)  # a signal that arrives just before a sleep is dealt with after it
output.silent = wait
main({words!r})
"""
TRAIN = """
[[experiment]]
name = "done first"
layer = {d = 2, d_out = 1, a = 1}
teacher = {kind = "generic"}
method = "untrained"
seeds = 2

[[experiment]]
name = "long"
layer = {d = 2, d_out = 1, a = 1}
teacher = {kind = "generic"}
method = "langevin"
rate = 1e-3
temperature = 1e-3
steps = STEPS
seeds = 1
"""


@pytest.mark.parametrize(
    "words",
    [
        ["audit", "--max-d", "2", "--max-out", "2"],
        ["critical-points", "-d", "2", "-o", "1", "--samples", "3"],
        ["verify", "-d", "3", "-o", "2", "--engine", "native"],
    ],
    ids=lambda words: words[0],
)
def test_a_long_command_ends_at_once_with_one_line(words):
    process = start(code=WAITS.format(words=words))
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert set(out.split()) <= {"begun"}  # threads wait, too
    assert (process.returncode, err) == (130, "agattn: interrupted; nothing was left behind\n")


def test_an_atlas_ends_below_the_families_that_it_has_named():
    process = start("atlas", "--max-width", "4")
    first = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    *families, last = [first, *err.splitlines(keepends=True)]
    assert process.returncode == 130 and out == "" and all(line.endswith("networks\n") for line in families)
    assert last == "agattn: interrupted; nothing was left behind\n"


def test_training_goes_on_with_the_experiments_that_are_left(tmp_path):
    (tmp_path / "train.toml").write_text(TRAIN.replace("STEPS", "1_000_000_000"), encoding="utf-8")
    words = ("train", tmp_path / "train.toml", "--cache", tmp_path / "cache")
    process = start(*words, "-O", tmp_path / "runs.jsonl")
    file = tmp_path / "runs.jsonl.part"
    try:
        assert (
            eventually(lambda: file.exists() and file.read_text().count("\n") == 2) and process.poll() is None
        )
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130 and "done first" in out
    told = "agattn: interrupted; 1 of 2 jobs done; the same command goes on from there"
    assert err == f"{told}; the lines so far are in {file}\n"
    seeds = [json.loads(line)["seed"] for line in file.read_text().splitlines()]
    assert seeds == [0, 1]
    (tmp_path / "train.toml").write_text(TRAIN.replace("STEPS", "10"), encoding="utf-8")
    ended = call(*words, "--json")
    assert ended.status == 0 and "2 jobs (1 from the cache)" in ended.err
    assert ended.out.startswith(file.read_text()) and ended.out.count("\n") == 3


def test_workers_that_fail_while_they_are_stopped_do_not_hide_the_interrupt(tmp_path, monkeypatch):
    class Interrupted(workers._Here):
        def submit(self, *arguments, **options):
            self.begun = getattr(self, "begun", 0) + 1
            if self.begun == 2:
                raise KeyboardInterrupt
            return super().submit(*arguments, **options)

    @contextmanager
    def fails_at_its_end():
        try:
            yield Interrupted(), 1
        finally:
            raise RuntimeError("the workers are gone")

    monkeypatch.setattr(workers, "in_this_process", fails_at_its_end)
    (tmp_path / "grid.toml").write_text('ask = "strata"\n[layers]\nd = [1, 2]\nd_out = 1\n', encoding="utf-8")
    status, out, err = call("study", tmp_path / "grid.toml", "--cache", tmp_path / "cache")
    assert status == 130 and "M(1,1,1)" in out
    assert err == "agattn: interrupted; 1 of 2 jobs done; the same command goes on from there\n"


def ends(line, number, folder, **moment):
    """See that nothing is left of a command that a signal ended, and that it did not complain."""
    end = signals.trial(line, number, folder, **moment)
    assert (end.orphans, end.files, end.complaint) == (0, [], ""), (line, end)
    return end


SIGNALS = pytest.mark.parametrize("number", signals.SIGNALS.values(), ids=lambda number: number.name)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP], ids=lambda number: number.name)
def test_workers_end_with_the_command_that_started_them(tmp_path, number):
    ends("ideal -d 4 -o 3 --max-degree 5 --workers 3", number, tmp_path, moment=0.1, processes=4)


#: Commands with workers, with engines and supervisors, with both, and alone: the number of their processes.
FAMILIES = {
    "ideal -d 4 -o 3 --max-degree 5 --workers 3": 4,
    "verify -d 3 -o 2 --engine all": 3,
    "study FOLDER/singular.toml --no-cache --workers 2": 4,
    "report -d 3 -o 1 --engine native --out OUT": 1,
}


@pytest.mark.slow
@pytest.mark.engine("macaulay2", "singular")
@SIGNALS
def test_nothing_is_left_of_a_command_that_was_ended(tmp_path, number):
    signals.write_files(tmp_path)
    for n, (line, processes) in enumerate(FAMILIES.items()):
        for to_all in (False, True):
            moment = random.Random(2 * n + to_all).uniform(0, 1)
            ends(line, number, tmp_path, moment=moment, processes=processes, to_all=to_all)


@pytest.mark.parametrize("trap", signals.TRAPS)
def test_an_interrupt_that_is_lost_in_c_code_ends_the_command_all_the_same(tmp_path, trap):
    signals.write_files(tmp_path)
    line = f"dimension --model FOLDER/lost_in_{trap}.py:network"
    assert ends(line, signal.SIGINT, tmp_path, moment=1).seconds < 3
