"""Ctrl-C during long commands: one line says what is lost, and what was done is found again; and kills."""

import json
import random
import signal
import subprocess
import sys

import pytest
from command_line import call, eventually, run, start

from agattn.architectures import SingleLayer
from agattn.cli.main import main
from agattn.experiments.studies.jobs import Job, perform, versions_for
from agattn.experiments.studies.study import study
from tests.faults import signals

command_line = sys.modules[main.__module__]  # agattn.cli has a function of that name
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


def test_training_goes_on_with_the_experiments_that_are_left(tmp_path):
    (tmp_path / "train.toml").write_text(TRAIN.replace("STEPS", "1_000_000_000"), encoding="utf-8")
    words = ("train", tmp_path / "train.toml", "--cache", tmp_path / "cache")
    process = start(*words, "-O", tmp_path / "runs.jsonl")
    file = tmp_path / "runs.jsonl.part"
    try:
        assert eventually(lambda: file.exists() and file.read_text().count("\n") == 2)
        assert process.poll() is None
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
    def fails_at_its_end(tasks, total, versions, workers):
        try:
            number, job, _ = next(tasks)
            yield number, *perform(job, versions)
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("the workers are gone")

    monkeypatch.setattr("agattn.experiments.studies.study._done", fails_at_its_end)
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
    "report -d 3 -o 1 --engine native -O OUT": 1,
}


@pytest.mark.slow
@pytest.mark.engine("macaulay2", "singular")
@SIGNALS
def test_nothing_is_left_of_a_command_that_was_ended(tmp_path, number):
    signals.write_files(tmp_path)
    chosen = random.Random(int(number))
    for line, processes in FAMILIES.items():
        moment, to_all = chosen.uniform(0, 1), chosen.random() < 0.5
        ends(line, number, tmp_path, moment=moment, processes=processes, to_all=to_all)


@pytest.mark.parametrize("trap", signals.TRAPS)
def test_an_interrupt_that_is_lost_in_c_code_ends_the_command_all_the_same(tmp_path, trap):
    signals.write_files(tmp_path)
    line = f"dimension FOLDER/lost_in_{trap}.py:network"
    assert ends(line, signal.SIGINT, tmp_path, moment=1).seconds < 3


#: Interrupts this process when the n-th module is looked for, from the first of the command line on.
INTERRUPTED = """
import os, runpy, signal, sys
class Finder:
    left, begun = {n}, False
    def find_spec(self, name, path=None, target=None):
        self.begun |= name == "agattn.cli"
        self.left -= self.begun
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)
sys.argv = ["agattn", "verify", "-d", "2", "-o", "1", "--engine", "native", "--claim", "3.3"]
sys.meta_path.insert(0, Finder())
runpy.run_module("agattn", run_name="__main__")
"""


@pytest.mark.parametrize("n", [1, 2, 3, 10, 40, 90, 150, 220, 300, 370])
def test_an_interrupt_while_modules_are_read_is_silent(n):
    default = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    status, out, err = run(code=default + INTERRUPTED.replace("{n}", str(n)))
    assert status in (130, -signal.SIGINT) and out == ""
    assert err in ("", "agattn: interrupted; nothing was left behind\n")


@pytest.mark.parametrize("milliseconds", [0, 30, 100, 200, 400, 800])
def test_an_interrupt_at_any_time_is_silent(milliseconds):
    # It says when it has done what agattn/__main__.py begins with; before that Python prints a traceback.
    # To degree 7 the command takes more than 20 seconds.
    code = "import runpy, signal, sys; sys.argv[1:] = 'ideal -d 4 -o 2 -a 2 --max-degree 7'.split()\n"
    code += "signal.signal(signal.SIGINT, signal.SIG_DFL); print(flush=True)\n"
    process = start(code=code + "runpy.run_module('agattn', run_name='__main__')")
    process.stdout.readline()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(milliseconds / 1000)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode in (130, -signal.SIGINT) and out == ""
    assert err in ("", "agattn: interrupted; nothing was left behind\n")


# Sleeps are short, as a signal that arrives just before a sleep is dealt with after it.
LOST = """
import time
from agattn.cli import interrupts
interrupts.catch()
while True:
    try:
        print("begun", flush=True)
        while True:
            time.sleep(0.01)
    except KeyboardInterrupt:
        pass
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.slow
def test_an_interrupt_that_is_lost_comes_again_and_ends_the_process(number):
    process = start(code=LOST)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and set(out.split()) == {"begun"}
    assert err == "agattn: interrupted; nothing was left behind\n"


def test_an_interrupt_inside_of_numpy_is_no_error_of_agattn(monkeypatch):
    def broken(*_):
        raise SystemError("a class returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr(command_line, "run", broken)
    assert call("doctor") == (130, "", "agattn: interrupted; nothing was left behind\n")
    monkeypatch.setattr(Job, "answer", broken)
    with pytest.raises(KeyboardInterrupt):
        perform(Job(SingleLayer(2, 1), "strata"), versions_for("native"), False)
    with pytest.raises(KeyboardInterrupt):
        list(study([Job(SingleLayer(2, 1), "strata")]))
