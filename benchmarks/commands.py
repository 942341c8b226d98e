"""Every command timed against another version of agattn, side by side in one run.

    python benchmarks/commands.py --against OTHER/.venv/bin/python

This version is the clone; the other is what is installed in the environment of the Python that is named. Each
line is run as a fresh process, in a folder with the examples, by the two versions in turn, so that both see
the same machine. What is printed is processor time in seconds, with that of the engines, which a busy machine
changes little: the median of the runs, and how long the fastest run took on the clock. A ratio below 1 means
that this version needs less. A line with ``--help`` is what a command needs to start.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from rivals import header, version_of

ROOT = Path(__file__).parents[1]
#: One line or more of every command; each is done in seconds.
COMMANDS = (
    "--help",
    "atlas --max-width 2 --max-depth 2 --max-heads 1",
    "audit --max-d 2 --max-out 2",
    "calibrate",
    "check m322.json",
    "classify examples/weights.json",
    "critical-points -d 2 -o 1 --samples 1",
    "dimension --dims 10,10,10 --ranks 2,2 -t 3 --normalization softmax",
    "doctor",
    "emit implicit-ideal -d 2 -o 1",
    "equivalent examples/weights.json examples/weights.json",
    "fiber examples/weights.json",
    "fiber --dims 2,2,2 --ranks 2,2 -t 3 examples/network.json",
    "figure 3",
    "ideal -d 3 -o 1 -a 2 --max-degree 4",
    "identify examples/tensor.json -d 2 -o 1",
    "rank examples/hilbert.csv",
    "report -d 2 -o 1 --engine native --out report",
    "rlct -d 3 -o 2 -a 2",
    "run implicit-ideal -d 2 -o 1 --engine singular",
    "schema verify",
    "singularities --dims 3,3,2 --ranks 3,3 -t 3",
    "strata -d 6 -o 6",
    "study examples/grid.toml --no-cache",
    "symmetries --dims 3,1,2 --ranks 2,2 -t 2",
    "train train.toml --no-cache",
    "verify -d 3 -o 2 -a 2 --engine native",
    "verify -d 3 -o 2 -a 2 --engine macaulay2",
    "verify -d 3 -o 2 -a 2 --engine all",
)
TRAIN = """\
[[experiment]]
name = "generic teacher"
layer = {d = 2, d_out = 1, a = 2}
teacher = {kind = "generic"}
time = 100.0
seeds = "0..1"
"""
#: Confirmed, refuted or undecided: the command did its work.
DONE = (0, 1, 3)


class Times(NamedTuple):
    """Seconds that a run took."""

    processor: float
    clock: float


def run(python: str, line: str, folder: Path, *, clone: bool) -> Times:
    """The times of one run of a command, by the clone or by what is installed beside ``python``.

    Raises:
        SystemExit: if the command does not do its work; with what it said.
    """
    path = os.pathsep.join([str(Path(python).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "AGATTN_CACHE": str(folder / "cache")}
    # As installed, with bytecode: without it a fifth of `verify` is compiling its modules, again and again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment.pop("PYTHONPATH", None)
    if clone:
        environment["PYTHONPATH"] = str(ROOT)
    start = time.perf_counter()
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen(
            [python, "-P", "-m", "agattn", *line.split()],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=told, env=environment,
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        clock = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in DONE:
            told.seek(0)
            raise SystemExit(
                f"{python}: agattn {line} ended with {process.returncode}:\n{told.read().decode()}"
            )
    return Times(used.ru_utime + used.ru_stime, clock)


def compare(other: str, line: str, runs: int, folder: Path) -> tuple[list[Times], list[Times]]:
    """The times of a command in this version and in the other, which take turns."""
    turns = ((sys.executable, True), (other, False))
    for python, clone in turns:  # not counted: files are read for the first time, and modules compiled
        run(python, line, folder, clone=clone)
    pairs = [[run(python, line, folder, clone=clone) for python, clone in turns] for _ in range(runs)]
    mine, others = zip(*pairs, strict=True)
    return list(mine), list(others)


def lines(options: argparse.Namespace) -> list[str]:
    """The command lines to time, each after what its command needs to start."""
    asked = options.command or COMMANDS
    if options.command or options.no_starts:
        return list(asked)
    names = list(dict.fromkeys(line.split()[0] for line in asked if not line.startswith("-")))
    return [line for line in asked if line.startswith("-")] + [
        line
        for name in names
        for line in (f"{name} --help", *(line for line in asked if line.split()[0] == name))
    ]


def prepare(folder: Path) -> None:
    """Write the files that the commands read."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copy(ROOT / "docs" / "certificates" / "m322.json", folder)
    (folder / "train.toml").write_text(TRAIN, encoding="utf-8")


def main() -> None:
    """Print one line for each command, with both versions side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", required=True, help="the Python that has the other version")
    parser.add_argument("--runs", type=int, default=5, help="runs of each command and version")
    parser.add_argument("--command", action="append", help="a command instead of the usual ones")
    parser.add_argument("--no-starts", action="store_true", help="leave out what the commands need to start")
    options = parser.parse_args()
    print(f"{header().splitlines()[0]}\nother: {version_of(options.against)}")
    print(f"processor seconds, median of {options.runs}; in brackets the fastest run on the clock")
    print(f"{'this':>17} {'other':>17} {'ratio':>6}  command")
    total = [0.0, 0.0]
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        for line in lines(options):
            both = compare(options.against, line, options.runs, Path(name))
            used = [statistics.median(times.processor for times in found) for found in both]
            clocks = [min(times.clock for times in found) for found in both]
            total = [sum(pair) for pair in zip(total, used, strict=True)]
            mine, other = (f"{x:8.3f} ({y:6.3f})" for x, y in zip(used, clocks, strict=True))
            print(f"{mine:>17} {other:>17} {used[0] / used[1]:6.2f}  {line}", flush=True)
    print(f"{total[0]:8.3f} {'':8} {total[1]:8.3f} {'':8} {total[0] / total[1]:6.2f}  all")


if __name__ == "__main__":
    main()
