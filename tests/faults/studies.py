"""Studies that are killed at random moments and resumed: the same lines, and nothing left behind."""

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
engine = "native"
claims = ["corollary-3.3", "theorem-3.4.closed", "lemma-A.3"]
[layers]
d = "2..3"
d_out = "1..2"
a = "1..d"
"""
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


def once(folder, name, moments, workers):
    """Kill a study at these moments, then let it end; return why it was wrong, or nothing."""
    mark = f"{name}-{os.getpid()}"
    temporary = folder / f"{name}-tmp"
    temporary.mkdir()
    output = folder / f"{name}.jsonl"
    command = [sys.executable, "-m", "agattn", "study", str(folder / "grid.toml"), "-O", str(output),
               "--cache", str(folder / f"{name}-cache"), *workers]  # fmt: skip
    environment = os.environ | {MARK: mark, "TMPDIR": str(temporary)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "env": environment}
    for moment in moments:
        with subprocess.Popen(command, **quiet | {"stderr": subprocess.DEVNULL}) as process:
            time.sleep(moment)
            process.send_signal(signal.SIGKILL)
    ended = subprocess.run(command, **quiet)
    if ended.returncode:
        return f"status {ended.returncode}: {ended.stderr.decode()[-300:]}"
    stop = time.monotonic() + AGAIN
    while alive(f"{MARK}={mark}") and time.monotonic() < stop:
        time.sleep(0.2)
    if alive(f"{MARK}={mark}"):
        return "processes were left behind"
    if left := [path.name for path in temporary.iterdir()]:
        return f"files were left behind: {left}"
    if lines(output) != lines(folder / "reference.jsonl"):
        return "the lines are other ones"
    return ""


def tried(kills, seed=0, say=lambda line: None):
    """A row about so many kills."""
    chosen = random.Random(seed)
    row = Row("studies, killed and resumed")
    with tempfile.TemporaryDirectory(prefix="agattn-studies-") as name:
        folder = Path(name)
        (folder / "grid.toml").write_text(GRID)
        started = time.monotonic()
        command = [sys.executable, "-m", "agattn", "study", str(folder / "grid.toml"), "--no-cache", "-O",
                   str(folder / "reference.jsonl")]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)
        whole = time.monotonic() - started
        done = 0
        while done < kills:
            several = min(chosen.choice((1, 2, 3)), kills - done)
            moments = [chosen.uniform(0.1, whole) for _ in range(several)]
            reason = once(folder, f"s{done}", moments, [])
            for _ in range(several):
                row.add("wrong" if reason else "right", reason)
            done += several
            say(f"killed {done} times {reason}")
    return [row]
