"""Many processors: measured with one and two, and a model of more.

    python benchmarks/processors.py [--grid FILE]

A study and the equations of a layer are computed with one process and with two:
seconds on the clock. For 4 to 64 processors the study is *modelled*, not measured: its jobs, with the seconds
that each took alone, are given in order to the processor that is free first, after the time that the start of
workers took here. The last row is what no number of processors can be faster than, the longest job.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rivals import header

ROOT = Path(__file__).parents[1]
LAYER = "ideal 4 3 --max-degree 5"
#: What is asked without --grid.
GRID = """\
ask = "verify"
engine = "native"
[layers]
d = "2..4"
d_out = "1..4"
a = "1..d"
"""


def without_times(value: Any) -> Any:
    """A document without what differs from run to run."""
    if isinstance(value, dict):
        return {key: without_times(x) for key, x in value.items() if key not in ("seconds", "cached")}
    return [*map(without_times, value)] if isinstance(value, list) else value


def run(line: str) -> tuple[float, str]:
    """The seconds on the clock of a command, and what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "agattn", *line.split()],
        capture_output=True, text=True, env=environment, cwd=ROOT, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"agattn {line} ended with {done.returncode}:\n{done.stderr}")
    return time.perf_counter() - start, done.stdout


def modelled(seconds: Sequence[float], processors: int) -> float:
    """When the last job ends, if each is given to the processor that is free first.

    >>> modelled([3.0, 1.0, 1.0, 1.0], 2)
    3.0
    """
    free = [0.0] * processors
    for each in seconds:
        heapq.heapreplace(free, free[0] + each)
    return max(free)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grid", help="a grid, or the name of one that ships")
    options = parser.parse_args()
    print(header().splitlines()[0])
    with tempfile.TemporaryDirectory() as folder:
        grid = options.grid or str(Path(folder, "grid.toml"))
        if not options.grid:
            Path(grid).write_text(GRID, encoding="utf-8")
        compare(f"study {grid} --no-cache --json --force")


def compare(study: str) -> None:
    """Print the table of a study and the line of a layer."""
    alone, printed = run(f"{study} --workers 1")
    jobs = [json.loads(line)["seconds"] for line in printed.splitlines()]
    two, again = run(f"{study} --workers 2")
    start = max(two - modelled(jobs, 2), 0.0)
    print(f"a study of {len(jobs)} jobs\n{'processors':>10} {'seconds':>8} {'ratio':>6}")
    print(f"{1:10} {alone:8.1f} {1:6.1f}  measured")
    print(f"{2:10} {two:8.1f} {alone / two:6.1f}  measured; {start:.1f} s for the start of workers")
    for processors in (4, 8, 16, 32, 64):
        seconds = start + modelled(jobs, processors)
        print(f"{processors:10} {seconds:8.1f} {alone / seconds:6.1f}  by the model")
    print(f"{'any':>10} {start + max(jobs):8.1f} {alone / (start + max(jobs)):6.1f}  limit: the longest job")
    answers = [[without_times(json.loads(line)) for line in text.splitlines()] for text in (printed, again)]
    print("the same lines" if answers[0] == answers[1] else "the lines DIFFER")
    times = [run(f"{LAYER} --json --workers {n}") for n in (1, 2)]
    print(f"{LAYER}: {times[0][0]:.1f} s by one process, {times[1][0]:.1f} s by two", end=", ")
    print("the same document" if times[0][1] == times[1][1] else "the documents DIFFER")


if __name__ == "__main__":
    main()
