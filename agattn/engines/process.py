"""Running a program with limits: its own process group, killed whole, nothing left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agattn.errors import EngineCrashedError, EngineTimeoutError

# A shell sets the limits and becomes the program. The processor-time limit ends the program even if this
# process is killed and cannot; the file limit ends one that floods its output.
_LIMITS = 'ulimit -c 0; ulimit -t "$1"; ulimit -f "$2"; ulimit -v "$3" 2>/dev/null; shift 3; exec "$@"'
MAX_OUTPUT = 256  # MiB; transcripts are far smaller, and a longer one would not be read


@dataclass(frozen=True)
class Ended:
    """How a program ended: exit status (negative for a signal), what it printed, wall-clock seconds."""

    status: int
    output: str
    errors: str
    seconds: float


def run_program(
    command: Sequence[str],
    folder: Path,
    *,
    timeout: float,
    memory: int,
    cancelled: threading.Event | None = None,
) -> Ended:
    """Run a program to its end and return what it printed.

    Output goes to files, so nothing can block on a full pipe. On a timeout, and on an interrupt, the whole
    process group is killed and reaped before this function returns or raises.

    Args:
        command: the program and its arguments.
        folder: its working and home directory.
        timeout: wall-clock limit in seconds.
        memory: limit of its address space in MiB.
        cancelled: when this is set, from another thread, the program is killed.

    Raises:
        EngineTimeoutError: if it was still running at the limit.
        EngineCrashedError: if it could not be started, was cancelled, or printed without end.
    """
    limits = [str(int(timeout * 4) + 10), str(MAX_OUTPUT * 2048), str(memory * 1024)]
    output, errors = folder / "stdout", folder / "stderr"
    started = time.monotonic()
    with output.open("wb") as out, errors.open("wb") as err:
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", _LIMITS, "sh", *limits, *command],
                cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                env={**os.environ, "HOME": str(folder)},
            )  # fmt: skip
        except OSError as error:
            raise EngineCrashedError(f"{command[0]} could not be started: {error.strerror}") from error
        try:
            status = _wait(process, started + timeout, cancelled)
        except subprocess.TimeoutExpired:
            raise EngineTimeoutError(f"stopped after {timeout:g} s, its time limit") from None
        finally:
            # Also after a normal end: a program must not leave children behind.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    seconds = time.monotonic() - started
    if max(output.stat().st_size, errors.stat().st_size) >= MAX_OUTPUT * 2**20:
        raise EngineCrashedError(f"stopped when it had printed {MAX_OUTPUT} MiB")
    said, complained = (file.read_bytes().decode("utf-8", errors="replace") for file in (output, errors))
    return Ended(status, said, complained, seconds)


def _wait(process: subprocess.Popen[bytes], deadline: float, cancelled: threading.Event | None) -> int:
    """Wait for a program to end, looking up now and then to see whether it is still wanted."""
    while True:
        left = deadline - time.monotonic()
        try:
            return process.wait(min(left, 0.2) if cancelled else left)
        except subprocess.TimeoutExpired:
            if time.monotonic() >= deadline:
                raise
            if cancelled and cancelled.is_set():
                raise EngineCrashedError("cancelled") from None
