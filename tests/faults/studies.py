"""Studies that are killed at random moments and resumed: the same lines, and nothing left behind.

By turns they run in one process, with an engine, and in two processes with and without an engine.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.table import Row

GRID = """
ask = "verify"
engine = "{}"
claims = ["corollary-3.3", "theorem-3.4.closed", "corollary-A.2", "lemma-A.3"]
[layers]
d = "2..3"
d_out = "1..2"
a = "1..d"
"""
WAYS = (("native", 1), ("singular", 1), ("native", 2), ("singular", 2))
MARK = "AGATTN_FAULTS"
AGAIN = 60  # seconds within which everything must be gone


def lines(path):
    """What a study wrote, apart from times and from where it came."""
    found = []
    for row in path.read_text().splitlines():
        line = json.loads(row)
        line.pop("cached")
        found.append(_without_seconds(line))
    return found


def _without_seconds(value):
    if isinstance(value, dict):
        return {key: _without_seconds(x) for key, x in value.items() if key != "seconds"}
    return [_without_seconds(x) for x in value] if isinstance(value, list) else value


def alive(mark):
    """The processes that carry a mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            if mark.encode() in (folder / "environ").read_bytes() and state != "Z":
                found.append(folder.name)
        except OSError:
            continue
    return found


def gone(mark):
    """Whether no process carries a mark any more, now or within a minute."""
    stop = time.monotonic() + AGAIN
    while alive(mark) and time.monotonic() < stop:
        time.sleep(0.2)
    return not alive(mark)


def run(folder, name, engine, more, moment=None):
    """Start a study of its own mark and temporary folder; kill it at a moment, or let it end.

    Returns the seconds that it took, and what is wrong about it.
    """
    mark = f"{MARK}={name}-{os.getpid()}"
    temporary = folder / f"{name}-tmp"
    temporary.mkdir(exist_ok=True)
    grid = folder / f"{engine}.toml"
    grid.write_text(GRID.format(engine))
    command = [sys.executable, "-m", "agattn", "study", str(grid), "-O", str(folder / f"{name}.jsonl"), *more]
    environment = os.environ | dict([mark.split("=")], TMPDIR=str(temporary))
    started = time.monotonic()
    with (folder / f"{name}.err").open("wb+") as said:
        with subprocess.Popen(command, stdout=said, stderr=said, env=environment) as process:
            if moment is not None:
                time.sleep(moment)
                process.send_signal(signal.SIGKILL)
        seconds = time.monotonic() - started
        if not gone(mark):
            return seconds, f"processes were left behind after {AGAIN} s"
        if moment is None and process.returncode:
            said.seek(0)
            return seconds, f"status {process.returncode}: {said.read().decode()[-300:]}"
    if left := [path.name for path in temporary.iterdir()]:
        return seconds, f"files were left behind: {left}"
    return seconds, ""


def tried(kills, seed=0, say=lambda line: None, ways=WAYS):
    """Rows about so many kills, the same number for each way to run a study."""
    chosen = random.Random(seed)
    rows = []
    with tempfile.TemporaryDirectory(prefix="agattn-studies-") as name:
        folder = Path(name)
        for n, (engine, workers) in enumerate(ways):
            row = Row(f"studies, `{engine}`, killed and resumed" + f", {workers} processes" * (workers > 1))
            more = ["--workers", str(workers)]
            reference = f"{engine}{workers}"
            whole, reason = run(folder, reference, engine, [*more, "--no-cache"])
            assert not reason, reason
            share = kills // len(ways) + (n < kills % len(ways))
            while (done := row.counts.total()) < share:
                study = f"{reference}-{done}"
                kept = [*more, "--cache", str(folder / f"{study}-cache")]
                several = min(chosen.choice((1, 2, 3)), share - done)
                moments = [chosen.uniform(0.1, whole) for _ in range(several)]
                reasons = [run(folder, study, engine, kept, moment)[1] for moment in (*moments, None)]
                if lines(folder / f"{study}.jsonl") != lines(folder / f"{reference}.jsonl"):
                    reasons.append("the lines are other ones")
                for reason in reasons[:several]:
                    row.add("wrong" if reason or any(reasons[several:]) else "right", f"{moments}: {reasons}")
                say(f"{row.subject}: {done + several} times {'; '.join(filter(None, reasons))}")
            rows.append(row)
    return rows
