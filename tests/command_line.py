"""The command line as tests call it: in this process, or in one of its own."""

import contextlib
import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import jsonschema
import pytest

from agattn.cli.main import main
from agattn.documents import schema
from agattn.names import COMMANDS, STATUSES

ROOT = Path(__file__).parents[1]


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str


def call(line="", *more):
    """Run ``agattn LINE MORE`` in this process, and see that it ends as the contract says."""
    words = [*line.split(), *map(str, more)]
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    with (
        contextlib.redirect_stdout(streams[0]),
        contextlib.redirect_stderr(streams[1]),
        pytest.raises(SystemExit) as end,
    ):
        main(words)
    status = end.value.code
    assert status in STATUSES and (status != 1 or COMMANDS[words[0]].refused), (words, status)
    return Ended(status, *(stream.buffer.getvalue().decode() for stream in streams))


def document(line, *more, status=0):
    """The JSON document that ``agattn LINE MORE --json`` prints, checked against its schema."""
    ended = call(line, *more, "--json")
    assert ended.status == status, ended
    found = json.loads(ended.out)
    validate(line.split()[0], found)
    return found


def timeless(found):
    """A document without what depends on the clock, or on what was done before."""
    if isinstance(found, dict):
        return {key: timeless(value) for key, value in found.items() if key not in ("seconds", "cached")}
    return [timeless(entry) for entry in found] if isinstance(found, list) else found


def validate(name, found):
    """Check a document against the published schema of a command."""
    validator(name).validate(found)


@lru_cache
def validator(name):
    """The published schema of a command; to check that it is a schema takes longer than all else."""
    described = schema(name)
    jsonschema.Draft202012Validator.check_schema(described)
    return jsonschema.Draft202012Validator(described)


@contextlib.contextmanager
def full_disk():
    """No file can be made longer than a byte."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def eventually(condition, seconds=60):
    """Whether a condition becomes true; the time limit only ends a test that would wait for ever."""
    end = time.monotonic() + seconds
    while not (true := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return true


def start(*words, code=None, environment=(), **options):
    """Start ``agattn WORDS``, or Python ``code``, as a process that an interrupt, or a hangup, ends.

    In the background and under nohup a process ignores these, and its children inherit that.
    """
    command = [sys.executable, *(("-m", "agattn", *map(str, words)) if code is None else ("-c", code))]
    defaults = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
    return subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT), **dict(environment)},
        preexec_fn=lambda: [signal.signal(n, signal.SIG_DFL) for n in (signal.SIGINT, signal.SIGHUP)],
        **{**defaults, **options},
    )


def run(*words, **options):
    """Run ``agattn WORDS``, or Python ``code``, in a process of its own, to its end."""
    with start(*words, **options) as process:
        try:
            out, err = process.communicate(timeout=300)
            return Ended(process.returncode, out, err)
        finally:
            process.kill()


#: Starts each command in a fork of one process, which has read the modules and whose streams they have.
EACH = """
import os, runpy, sys
import agattn.cli.main, agattn.engines.emit, agattn.experiments.studies.study, agattn.verification.ideal
statuses = []
for n, words in enumerate({commands!r}):
    if not (pid := os.fork()):
        break
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
else:
    with open("statuses", "w") as file:
        print(*statuses, file=file)
    os._exit(0)
for number in {captured!r}:
    file = os.open(f"{{n}}.{{number}}", os.O_WRONLY | os.O_CREAT)
    os.dup2(file, number)
    os.close(file)
sys.argv = ["agattn", *words]
runpy.run_module("agattn", run_name="__main__")
"""


def run_each(folder, commands, *, streams="", captured=(2,), environment=(), **options):
    """Run each of several commands in a folder, on streams that a shell has redirected or closed before.

    What is special about the streams is there when Python starts, and the same for all commands; so one start
    of Python will do. ``captured`` are the numbers of the streams that go to files of their own instead.
    """
    code = EACH.format(commands=[list(map(str, words)) for words in commands], captured=captured)
    shell = ["/bin/sh", "-c", f'exec "$0" "$@" {streams}', sys.executable, "-c", code]
    (folder / "statuses").unlink(missing_ok=True)
    subprocess.run(shell, cwd=folder, env={**os.environ, **dict(environment)}, timeout=300, **options)
    statuses = map(int, (folder / "statuses").read_text().split())
    told = [
        [(folder / f"{n}.{number}").read_bytes() if number in captured else b"" for number in (1, 2)]
        for n in range(len(commands))
    ]
    return [Ended(status, out, err.decode()) for status, (out, err) in zip(statuses, told, strict=True)]
