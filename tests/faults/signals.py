"""``python -m tests.faults.signals``: end every command by every signal, and count what is left.

A terminal sends Ctrl-C and SIGHUP to every process of a command, ``kill`` sends to one; trials do both by
turns, at random moments. Some commands run alone, others with engines, with workers, or with both. The traps
lose every interrupt, and would go on for ever.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.command_line import eventually, start
from tests.faults.studies import alive

SIGNALS = {"Ctrl-C": signal.SIGINT, "TERM": signal.SIGTERM, "HUP": signal.SIGHUP, "KILL": signal.SIGKILL}
COMMANDS = """
verify -d 3 -o 2 -a 2 --engine native
verify -d 3 -o 2 --engine all
certificate -d 4 -o 3 -a 2
check docs/certificates/m322.json
dimension --dims 10,10,10 --ranks 2,2 -t 3 --normalization softmax
identifiability --dims 6,6,6 --ranks 3,3 -t 3
symmetries --dims 5,5,5 --ranks 3,3 -t 3
strata -d 6 -o 6
ideal -d 4 -o 2 -a 2 --max-degree 7
ideal -d 4 -o 3 --max-degree 5 --workers 3
ideal -d 3 -o 2 --complete --max-degree 4
singularities --dims 6,6,6 --ranks 3,3 -t 3
rlct -d 60 -o 40 -a 30
spectrum --dims 3,3,3 --ranks 2,2 -t 4
critical-points -d 3 -o 1 --samples 3 --engine singular
classify examples/weights.json
fiber examples/weights.json
equivalent examples/weights.json examples/weights.json
identify examples/tensor.json -d 2 -o 1
emit implicit-ideal -d 3 -o 2
run implicit-ideal -d 3 -o 2 --engine singular
run implicit-ideal -d 3 -o 2 --engine macaulay2
run FOLDER/long.m2
doctor
train FOLDER/train.toml --no-cache
study FOLDER/native.toml --no-cache
study FOLDER/native.toml --no-cache --workers 2
study FOLDER/singular.toml --no-cache --workers 2
study audit --no-cache
study atlas --no-cache
study atlas --no-cache --workers 2
report -d 3 -o 1 --engine singular -O OUT
figure 1 -O OUT.png
schema verify
rank FOLDER/rank.json
""".strip().splitlines()
GRID = 'ask = "verify"\n{}[layers]\nd = "2..4"\nd_out = "1..3"\na = "1..d"\n'
FILES = {
    "native.toml": GRID.format('engine = "native"\n'),
    "singular.toml": GRID.format('engine = "singular"\nclaims = ["corollary-3.3", "theorem-3.4.closed"]\n'),
    "long.m2": "print 1; sleep 300; print 2\n",
    "rank.json": str([[(3 * i + 7 * j * j) ** 5 % 10**9 for j in range(200)] for i in range(200)]),
    "train.toml": """
[[experiment]]
name = "long"
layer = {d = 2, d_out = 1, a = 1}
teacher = {kind = "generic"}
method = "langevin"
rate = 1e-3
temperature = 1e-3
steps = 1_000_000_000
seeds = 1
""",
}
#: Programs of models that lose interrupts.
TRAPS = {
    "numpy": """
import fractions, numpy
A = numpy.full((60, 60), fractions.Fraction(1, 3), dtype=object)
while True:
    try:
        numpy.dot(A, A)
    except SystemError:
        pass
""",
    "FLINT": """
import flint
M = flint.fmpz_mat(150, 150, [(3 * k) ** 30 % 10**15 for k in range(22500)])
while True:
    try:
        M.det()
    except BaseException:
        pass
""",
    "sympy": """
import sympy
from sympy.abc import x, y, z
while True:
    try:
        sympy.groebner([x**3 + y**2 + z - 1, x * y + z**2, x + y**3 + z], x, y, z)
    except BaseException:
        pass
""",
}


def write_files(folder):
    """Write what the commands read."""
    for name, content in FILES.items():
        (folder / name).write_text(content)
    for trap, program in TRAPS.items():
        (folder / f"lost_in_{trap}.py").write_text(program)


class Trial(NamedTuple):
    """How many processes a signal met, the seconds until all had ended, what was left, and a wrong end."""

    processes: int
    seconds: float
    orphans: int
    files: list[str]
    complaint: str


def trial(line, number, folder, *, moment, processes=1, to_all=False):
    """Send a signal to a command, or to all its processes, before its end.

    It is sent so many seconds after there are so many processes, or sooner where the command ends sooner.
    """
    mark = f"AGATTN_FAULTS={time.time_ns()}"
    temporary = Path(tempfile.mkdtemp(dir=folder))
    words = line.replace("FOLDER", str(folder)).replace("OUT", f"{temporary}-out").split()
    environment = dict([mark.split("=")], TMPDIR=str(temporary))
    with tempfile.TemporaryFile("w+") as said:
        while True:
            said.truncate(0)
            process = start(*words, environment=environment, stdout=said, stderr=said, start_new_session=True)
            eventually(lambda begun=process: len(alive(mark)) >= processes or begun.poll() is not None)
            with suppress(subprocess.TimeoutExpired):
                process.wait(moment)
            if met := alive(mark):
                break
            assert process.wait() in (0, 1, 3), line
            moment /= 2
        sent = time.monotonic()
        os.killpg(process.pid, number) if to_all else process.send_signal(number)
        try:
            eventually(lambda: process.poll() is not None and not alive(mark), seconds=10)
            seconds = time.monotonic() - sent
            orphans = alive(mark)
            eventually(lambda: not list(temporary.iterdir()), seconds=2)
            files = [path.name for path in temporary.iterdir()]
        finally:
            for pid in alive(mark):
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        process.wait()
        said.seek(0)
        text = said.read()[-300:]
    caught = number in (signal.SIGINT, signal.SIGTERM)
    complaint = text if caught and ("Traceback" in text or "Error" in text) else ""
    if process.returncode not in {-number, *([130, -signal.SIGINT] if caught else [])}:
        complaint += f"status {process.returncode}"
    return Trial(len(met), seconds, len(orphans), files, complaint)


def main():
    """Try, say what went wrong, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.signals", description=__doc__)
    parser.add_argument("--trials", type=int, default=50, help="of each signal [default: 50]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("words", nargs="*", help="only commands with one of these words")
    given = parser.parse_args()
    chosen = random.Random(given.seed)
    with tempfile.TemporaryDirectory(prefix="agattn-signals-") as name:
        folder = Path(name)
        write_files(folder)
        lines = COMMANDS + [f"dimension FOLDER/lost_in_{trap}.py:network" for trap in TRAPS]
        lines = [line for line in lines if not given.words or any(word in line for word in given.words)]
        rows, wrong = [], False
        for signal_name, number in SIGNALS.items():
            trials = []
            for n in range(given.trials):
                line, moment = lines[n % len(lines)], chosen.uniform(0.1, 3)
                made = trial(line, number, folder, moment=moment, to_all=n % 2 == 0)
                trials.append(made)
                if made.seconds > 3 or made.orphans or made.files or made.complaint:
                    print(f"{signal_name}: {line}: {made}", flush=True)
            several = sum(one.processes > 1 for one in trials)
            orphans, files = sum(one.orphans for one in trials), sum(len(one.files) for one in trials)
            complaints = sum(bool(one.complaint) for one in trials)
            seconds = [one.seconds for one in trials]
            wrong |= bool(orphans or files or complaints)
            rows.append(
                f"| {signal_name} | {len(trials)} | {several} | {orphans} | {files} | {complaints} "
                f"| {median(seconds):.2f} | {max(seconds):.2f} |"
            )
    print("\n| signal | trials | with children | orphans | folders | complaints | median s | longest s |")
    print("| --- |" + " ---: |" * 7, *rows, sep="\n")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
