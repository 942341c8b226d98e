"""Programs in the place of an engine that misbehave: they hang, crash, flood, or print garbage."""

import os
import stat
import tempfile
import time
from pathlib import Path
from unittest import mock

from agattn.architectures import SingleLayer
from agattn.engines import process
from agattn.errors import AgattnError
from agattn.systems.catalogue import build
from agattn.verification.verify import verify
from tests.faults.table import Row
from tests.transcripts import block, fibers

LAYER, CLAIM = SingleLayer(2, 1), "corollary-A.2"
PROBLEM, OTHER = build("fiber", LAYER), build("fiber", SingleLayer(2, 1, 1))
SECONDS = 0.8
PATIENCE = 10  # seconds beyond which a program counts as one that hangs us


def answer(problem=PROBLEM, keep=lambda lines: lines, **changes):
    """A whole answer as a command for a shell; changes as ``length_1x2x2=7``."""
    return block(problem, fibers(**changes), keep)


GOOD = answer()

#: What a program does, and the exit status of a command that depends on it.
KINDS = {
    "answers": (GOOD, 0),
    "answers after talking": (f"echo hello; {GOOD}; echo bye", 0),
    "answers with complaints": (f"echo odd >&2; {GOOD}", 0),
    "answers and leaves a child": (f"{GOOD}; sleep 300 &", 0),
    "answers and leaves a child in another session": (f"{GOOD}; setsid sleep 300 &", 0),
    "answers and removes its folder": (f"{GOOD}; rm -rf \"$PWD\"", 0),
    "answers and fills its folder": (f"{GOOD}; head -c 1000000 /dev/zero > junk", 0),
    "answers and makes its folder read-only": (f"{GOOD}; touch x; chmod 500 .", 0),
    "answers beside a FIFO named stdout": (f"mkfifo stdout stderr; {GOOD}", 0),
    "answers beside a symlink named stdout": (f"ln -s /dev/zero stdout; {GOOD}", 0),
    "answers with carriage returns": (f"({GOOD}) | sed 's/$/\\r/'", 0),
    "sleeps": ("sleep 300", 3),
    "sleeps with children": ("sleep 300 & sleep 300; wait", 3),
    "sleeps in another session": ("setsid sleep 300; sleep 300", 3),
    "spins": ("while :; do :; done", 3),
    "ignores SIGTERM and SIGINT": ("trap '' TERM INT HUP; sleep 300; sleep 300", 3),
    "stops itself": ("kill -STOP $$", 3),
    "answers and does not end": (f"{GOOD}; sleep 300", 3),
    "reads a FIFO that nobody writes": ("mkfifo f; cat f", 3),
    "says that memory ran out": ("echo 'no more memory' >&2; exit 1", 3),
    "is killed": ("kill -9 $$", 4),
    "ends by SIGSEGV": ("kill -SEGV $$", 4),
    "ends by SIGABRT": ("kill -ABRT $$", 4),
    "ends by SIGBUS": ("kill -BUS $$", 4),
    "ends by SIGPIPE": ("kill -PIPE $$", 4),
    "ends by SIGTERM": ("kill -TERM $$", 4),
    "fails": ("echo 'line 3: error: no' >&2; exit 1", 4),
    "fails with 255": ("exit 255", 4),
    "fails after its answer": (f"{GOOD}; exit 1", 4),
    "is no such program": ("exec /no/such/program", 4),
    "prints garbage": ("head -c 100000 /dev/urandom", 4),
    "prints zeros": ("head -c 100000 /dev/zero", 4),
    "prints nothing": ("exit 0", 4),
    "only talks": ("echo I am not an engine", 4),
    "floods": ("exec yes agattn-data 1 fiber", 4),
    "floods stderr": ("exec yes no >&2", 4),
    "prints one endless line": ("exec tr '\\0' x < /dev/zero", 4),
    "answers another problem": (answer(OTHER), 4),
    "answers half": (answer(keep=lambda x: x[:5]), 4),
    "lacks a line": (answer(keep=lambda x: x[:3] + x[4:]), 4),
    "has a line twice": (answer(keep=lambda x: [*x[:3], x[2], *x[3:]]), 4),
    "answers twice": (f"{GOOD}; {GOOD}", 4),
    "changes a digit": (f"({GOOD}) | sed 's/integer points@1,1,2 2/integer points@1,1,2 1/'", 4),
    "changes its checksum": (f"({GOOD}) | sed 's/\\(agattn-end 9 \\).*/\\11/'", 4),
    "says an impossible number": (answer(points_1x2x2=0, length_1x2x2=0), 4),
    "contradicts itself": (answer(points_1x2x2=2), 4),
    "did not count": (answer(escapes_1x1x1=1), 4),
    "says another number": (answer(points_1x2x2=2, length_1x2x2=2), 4),
    "reports an error and goes on": (f"echo '   ? error occurred in or before'; {GOOD}", 4),
}  # fmt: skip


def status(folder, body):
    """The exit status that a command ends with whose engine does this."""
    program = Path(folder, "Singular")
    program.write_text(f'#!/bin/sh\ncase "$*" in *--version*) echo 9.9.9; exit 0;; esac\n{body}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    try:
        return verify(LAYER, [CLAIM], "singular", timeout=SECONDS).exit_status
    except AgattnError as error:
        return error.exit_status


def tried(kinds=tuple(KINDS), say=lambda line: None):
    """A row about programs: wrong are another exit status, a hang, and what is left behind."""
    row = Row("engines that misbehave")
    for kind in kinds:
        body, due = KINDS[kind]
        with (
            tempfile.TemporaryDirectory() as folder,
            tempfile.TemporaryDirectory() as temporary,
            mock.patch.dict(os.environ, {"AGATTN_SINGULAR": str(Path(folder, "Singular"))}),
            mock.patch.object(tempfile, "tempdir", temporary),
            mock.patch.object(process, "MAX_OUTPUT", 4),
        ):
            started = time.monotonic()
            found = status(folder, body)
            seconds = time.monotonic() - started
            left = list(Path(temporary).iterdir())
        outcome = "right" if due == 0 else "detected"
        if found != due or seconds > PATIENCE or left:
            outcome = "wrong"
        row.add(outcome, f"{kind}: status {found}, not {due}, after {seconds:.1f} s; left behind: {left}")
        say(f"{kind}: {found} after {seconds:.1f} s")
    return [row]
