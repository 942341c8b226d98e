"""Whole commands timed against another version of agattn, side by side in one run.

    python benchmarks/commands.py --against OTHER/.venv/bin/python

Each command runs as a fresh process, the two versions by turns, so that both see the same machine. The ratio
is that of the fastest runs; a ratio below 1 means that this version is faster. Nothing here is asserted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

COMMANDS = (
    "verify -d 3 -o 2 -a 2 --engine native",
    "verify -d 3 -o 2 -a 2 --engine macaulay2",
    "verify -d 3 -o 2 -a 2 --engine all",
    "figure 3",
    "ideal -d 3 -o 1 -a 2 --max-degree 4",
    "strata -d 6 -o 6",
    "dimension --dims 10,10,10 --ranks 2,2 -t 3 --normalization softmax",
    "--help",
)
#: Confirmed, refuted or undecided: the command did its work.
DONE = (0, 1, 3)


def seconds(python: str, command: str) -> float:
    """The wall-clock time of one run of a command."""
    # Both versions are imported from their environments, never from the folder of this checkout.
    path = os.pathsep.join([str(Path(python).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path}
    # As installed, with bytecode: without it a fifth of `verify` is compiling its modules, again and again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    done = subprocess.run(
        [python, "-P", "-m", "agattn", *command.split()],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode not in DONE:
        raise SystemExit(f"{python}: agattn {command} ended with {done.returncode}:\n{done.stderr}")
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", required=True, help="the Python that has the other version")
    parser.add_argument("--runs", type=int, default=5, help="runs of each command and version")
    parser.add_argument("--command", action="append", help="a command instead of the usual ones")
    options = parser.parse_args()
    print(f"{'this':>8} {'other':>8} {'ratio':>6}  command (seconds, fastest of {options.runs})")
    for command in options.command or COMMANDS:
        mine, other = [], []
        for _ in range(options.runs):
            mine.append(seconds(sys.executable, command))
            other.append(seconds(options.against, command))
        print(f"{min(mine):8.3f} {min(other):8.3f} {min(mine) / min(other):6.2f}  {command}", flush=True)


if __name__ == "__main__":
    main()
