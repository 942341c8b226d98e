"""Every command timed against another version of agattn, side by side in one run.

    python benchmarks/commands.py --against OTHER/.venv/bin/python

This version is the clone; the other is installed in the environment of the Python named. Both
packages are copied into folders of their own, and the Python of this program runs both with the
same libraries and engines: like is compared with like, as nothing differs but the folder of agattn. The
environment of this program must have what the other version needs.

Each line is run as a fresh process, in a folder with the examples, by the two versions in turn, so that both
see the same machine. The first run of each compiles what the command imports, and is not counted. What is
printed is processor time in seconds, with that of the engines: the least of the runs, as other work on a
machine can only add to the time. *Whole* is the run of the whole process; *inside* is without what the same
version needs for ``COMMAND --help``, the start. A ratio below 1 means that this version needs less. A ratio
inside is printed where both times are at least 0.1 s. A version with more claims checks more: ``{shared}``
stands for the claims of both versions.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rivals import header, version_of

ROOT = Path(__file__).parents[1]
#: One line or more of every command; each is done in seconds.
COMMANDS = (
    "--help",
    "certificate -d 3 -o 2 -a 2 -O m322.json",
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
    "report -d 2 -o 1 --engine native -O report",
    "rlct -d 3 -o 2 -a 2",
    "run implicit-ideal -d 2 -o 1 --engine singular",
    "schema verify",
    "singularities --dims 3,3,2 --ranks 3,3 -t 3",
    "strata -d 6 -o 6",
    "study examples/grid.toml --no-cache",
    "symmetries --dims 3,1,2 --ranks 2,2 -t 2",
    "train train.toml --no-cache",
    "verify -d 3 -o 2 -a 2 --engine native",
    "verify -d 3 -o 2 -a 2 --engine native {shared}",
    "verify -d 3 -o 2 -a 2 --engine macaulay2 {shared}",
    "verify -d 3 -o 2 -a 2 --engine all {shared}",
)
#: How agattn 1.0 spells a line, where its options had other names.
OLD = {"report -d 2 -o 1 --engine native -O report": "report -d 2 -o 1 --engine native --out report"}
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


#: Seconds of processor time after which a line is not run again, if it was run twice.
ENOUGH = 20.0
#: Times inside of less than this, in seconds, are differences that say nothing.
LEAST_INSIDE = 0.1


class Version(NamedTuple):
    """A version of agattn to be timed: how it is called, and the folder with its copy."""

    name: str
    folder: Path


class Ended(NamedTuple):
    """A run of a command: its processor seconds, with those of its engines, and what it printed."""

    seconds: float
    output: str


def run(version: Version, line: str, folder: Path) -> Ended:
    """Run a command to its end.

    Raises:
        SystemExit: if the command does not do its work; with what it said.
    """
    if not (version.folder / "agattn" / "names.py").exists():  # agattn 1.0
        line = OLD.get(line, line)
    environment = {**os.environ, "PYTHONPATH": str(version.folder), "AGATTN_CACHE": str(folder / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed, with bytecode
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "agattn", *line.split()],
            cwd=folder, stdout=printed, stderr=told, env=environment,
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in DONE:
            told.seek(0)
            raise SystemExit(
                f"{version.name}: agattn {line} ended with {process.returncode}:\n{told.read().decode()}"
            )
        printed.seek(0)
        return Ended(used.ru_utime + used.ru_stime, printed.read().decode())


def shared_claims(versions: Sequence[Version], folder: Path) -> str:
    """The options that name the claims which both versions know."""
    known = []
    for version in versions:
        report = json.loads(run(version, "verify -d 2 -o 1 --engine native --json", folder).output)
        known.append([claim["id"] for claim in report["claims"]])
    return " ".join(f"--claim {name}" for name in known[0] if name in known[1])


def compare(versions: Sequence[Version], line: str, runs: int, folder: Path) -> list[float]:
    """The least processor seconds of a command in each version; the versions take turns."""
    for version in versions:  # not counted: files are read for the first time
        run(version, line, folder)
    found: list[list[float]] = []
    while len(found) < runs and (len(found) < 2 or sum(map(sum, found)) < ENOUGH):
        found.append([run(version, line, folder).seconds for version in versions])
    return [min(each) for each in zip(*found, strict=True)]


def package_of(python: str) -> Path:
    """The folder of agattn that another Python imports."""
    code = "import agattn; print(agattn.__path__[0])"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run(
        [python, "-P", "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return Path(said.stdout.strip())


def installed(name: str, package: Path, folder: Path) -> Version:
    """A copy of a package alone in a folder; the run that is not counted compiles what a command imports."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, folder / name / "agattn", ignore=ignored)
    return Version(name, folder / name)


def lines(options: argparse.Namespace) -> list[str]:
    """The command lines to time, each after what its command needs to start."""
    asked = options.command or COMMANDS
    names = list(dict.fromkeys(line.split()[0] for line in asked if not line.startswith("-")))
    listed = [line for line in asked if line.startswith("-")]
    for name in names:
        listed.append(f"{name} --help")
        if not options.starts:
            listed += [line for line in asked if line.split()[0] == name]
    return list(dict.fromkeys(listed))


def prepare(folder: Path) -> None:
    """Write the files that the commands read."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "train.toml").write_text(TRAIN, encoding="utf-8")


def row(whole: Sequence[float], start: Sequence[float] | None, line: str) -> str:
    """A row of the table: the times of both versions and their ratio, whole and inside."""
    shown = f"{whole[0]:8.3f} {whole[1]:8.3f} {whole[0] / whole[1]:6.2f}"
    inside = [] if start is None else [x - y for x, y in zip(whole, start, strict=True)]
    if not inside or min(inside) < LEAST_INSIDE:
        return f"{shown} {'':8} {'':8} {'':6}  {line}"
    return f"{shown} {inside[0]:8.3f} {inside[1]:8.3f} {inside[0] / inside[1]:6.2f}  {line}"


def main() -> None:
    """Print one line for each command, with both versions side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", required=True, help="the Python that has the other version")
    parser.add_argument("--runs", type=int, default=5, help="runs of each command and version, at most")
    parser.add_argument("--command", action="append", help="a command instead of the usual ones")
    parser.add_argument("--starts", action="store_true", help="only what the commands need to start")
    options = parser.parse_args()
    other = package_of(options.against)
    print(f"{header().splitlines()[0]}\nother: {version_of(options.against)}")
    print(f"processor seconds, least of {options.runs} runs: this version, the other, ratio")
    print(f"{'whole':>15} {'ratio':>9} {'inside':>16} {'ratio':>8}  command")
    total, starts = [0.0, 0.0], {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        versions = [installed("this", ROOT / "agattn", folder), installed("other", other, folder)]
        asked, shared = lines(options), ""
        if any("{shared}" in line for line in asked):
            shared = shared_claims(versions, folder)
        for line in asked:
            used = compare(versions, line.replace("{shared}", shared), options.runs, folder)
            total = [sum(pair) for pair in zip(total, used, strict=True)]
            if line.endswith(" --help"):
                starts[line.split()[0]] = used
            start = None if line.endswith("--help") else starts.get(line.split()[0])
            print(row(used, start, line), flush=True)
    print(row(total, None, "all"))


if __name__ == "__main__":
    main()
