"""Running a program with limits: its whole family ends with it, or with us, and nothing is left behind.

A program runs in a folder of its own, and :mod:`agattn.engines.supervisor` beside us ends both.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from agattn.errors import EngineCrashedError, EngineMemoryError, EngineTimeoutError, argument
from agattn.limits import limits, takes

# A shell sets the limits and becomes the program. The processor-time limit ends the program even if nothing
# else can; the file limit ends one that floods its output.
_LIMITS = (
    'ulimit -c 0; ulimit -t "$1"; ulimit -f "$2"; ulimit -v "$3" 2>/dev/null; cd "$4"; shift 4; '
    'if command -v setpriv > /dev/null; then exec setpriv --pdeathsig KILL -- "$@"; fi; exec "$@"'
)
_SUPERVISOR = Path(__file__).with_name("supervisor.py")
MAX_OUTPUT = 256  # MiB; transcripts are far smaller, and a longer one would not be read
_LOOK = 0.2  # seconds between two looks at whether a program is still wanted


@dataclass(frozen=True)
class Ended:
    """How a program ended: exit status (negative for a signal), what it printed, wall-clock seconds."""

    status: int
    output: str
    errors: str
    seconds: float

    @property
    def how(self) -> str:
        """How the program ended, in words; of an illegal instruction also what to do.

        >>> print(Ended(-4, "", "", 0.1).how)
        killed by signal 4: it was compiled for another processor than this one; install another build of it
        """
        if self.status >= 0:
            return f"ended with exit status {self.status}"
        foreign = ": it was compiled for another processor than this one; install another build of it"
        return f"killed by signal {-self.status}{foreign * (self.status == -signal.SIGILL)}"


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """A temporary folder that is removed at the end of this context, or of this process."""
    folder = _temporary_path()
    with _supervised(folder):
        yield folder


@takes("timeout", "memory")
def run_program(
    command: Sequence[str],
    files: Mapping[str, str] | None = None,
    *,
    cancelled: threading.Event | None = None,
    passed_through: bool = False,
) -> Ended:
    """Run a program to its end and return what it printed.

    Output goes to files without a name, so that nothing can block on a full pipe and nobody can put another
    file in their place. On a timeout, and on an interrupt, the program and all its descendants are killed and
    reaped before this function returns or raises.

    Args:
        command: the program and its arguments.
        files: texts by their names in its working and home directory, which is removed at the end.
        timeout: wall-clock limit in seconds.
        memory: limit in MiB: of its address space, and of the memory that it and its descendants hold.
        cancelled: when this is set, from another thread, the program is killed.
        passed_through: whether it works in the current directory and prints on our own stdout and stderr;
            nothing of that is returned.

    Raises:
        EngineTimeoutError: if it was still running at the limit.
        EngineMemoryError: if it and its descendants held more than the limit.
        EngineCrashedError: if it could not be started, was cancelled, or printed without end.
    """
    folder, timeout, memory = _temporary_path(), limits().timeout, limits().memory
    bounds = [int(timeout * 4) + 10, MAX_OUTPUT * 2048, memory * 1024, "." if passed_through else folder]
    limited = ["/bin/sh", "-c", _LIMITS, "sh", *map(str, bounds), *command]
    started = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        streams = {} if passed_through else {"stdout": output, "stderr": errors}
        with contextlib.ExitStack() as stack:
            try:
                supervisor = stack.enter_context(_supervised(folder, memory, limited, **streams))
            except OSError as error:
                raise EngineCrashedError(f"{command[0]} could not be started: {error.strerror}") from error
            for name, text in (files or {}).items():
                (folder / name).write_text(text, encoding="utf-8")
            supervisor.send(b".")
            word = _wait(supervisor, started + timeout, cancelled)
        seconds = time.monotonic() - started
        if word is None:
            raise EngineTimeoutError(
                f"stopped after {timeout:g} s, its time limit; raise {argument('timeout')}"
            )
        if word.startswith(b"memory"):
            raise EngineMemoryError(
                f"ran out of memory, with {memory} MiB allowed; raise {argument('memory')}"
            )
        if max(os.fstat(file.fileno()).st_size for file in (output, errors)) >= MAX_OUTPUT * 2**20:
            raise EngineCrashedError(f"stopped when it had printed {MAX_OUTPUT} MiB")
        return Ended(int(word or -signal.SIGKILL), _read(output), _read(errors), seconds)


def _temporary_path() -> Path:
    return Path(tempfile.gettempdir(), f"agattn-{secrets.token_hex(8)}")


@contextlib.contextmanager
def _supervised(
    folder: Path, memory: int = 0, command: Sequence[str] = (), **streams: Any
) -> Iterator[socket.socket]:
    """Make a folder that is removed when this context ends, or this process; so long a program may run.

    What is sent to the socket starts the program, and its supervisor answers. The supervisor has a session of
    its own, so that no signal to us reaches it.
    """
    words = [sys.executable, "-I", "-S", str(_SUPERVISOR), str(folder), str(memory), *command]
    environment = {**os.environ, "HOME": str(folder)}
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = subprocess.Popen(
                words, stdin=theirs.fileno(), start_new_session=True, env=environment, **streams
            )
        try:
            folder.mkdir(mode=0o700)  # now there is somebody who removes it
            yield ours
        finally:
            ours.close()
            process.wait()
            shutil.rmtree(folder, ignore_errors=True)  # if a signal ended the supervisor while it began


def _wait(supervisor: socket.socket, deadline: float, cancelled: threading.Event | None) -> bytes | None:
    """What a supervisor says of its program; nothing if that still runs at the deadline."""
    while (left := deadline - time.monotonic()) > 0:
        supervisor.settimeout(min(left, _LOOK))
        with contextlib.suppress(TimeoutError):
            return supervisor.recv(16)
        if cancelled and cancelled.is_set():
            raise EngineCrashedError("cancelled")
    return None


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", errors="replace")
