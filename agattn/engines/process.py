"""Running a program with limits: its whole family ends with it, or with us, and nothing is left behind.

A program runs in a session of its own, in a folder of its own, with a token in its environment. It is ended
with all its descendants: its process group, and whoever else carries the token, also in another session. If
this process dies, a watcher that waits for the end of a pipe does the same and removes the folder. The
watcher starts before the program does. Where the system can, the program is told to die with its parent
besides.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, cast

from agattn.errors import EngineCrashedError, EngineMemoryError, EngineTimeoutError, argument

# A shell sets the limits and becomes the program. The processor-time limit ends the program even if nothing
# else can; the file limit ends one that floods its output.
_LIMITS = (
    'ulimit -c 0; ulimit -t "$1"; ulimit -f "$2"; ulimit -v "$3" 2>/dev/null; shift 3; '
    'if command -v setpriv > /dev/null; then exec setpriv --pdeathsig KILL -- "$@"; fi; exec "$@"'
)
# What is left to do when the other end of the pipe is closed without a last word, as it is by our death.
_WATCH = (
    'group=; while read -r word; do test "$word" = done && exit; group=$word; done; '
    'test -z "$group" || kill -KILL "-$group" 2> /dev/null; '
    "for look in 1 2 3; do "  # while a process becomes another program, its environment reads as empty
    'for f in $(grep -las "$2" /proc/[0-9]*/environ); do f="${f#/proc/}"; kill -KILL "${f%/environ}"; done; '
    'rm -rf -- "$1"; sleep 0.5; done; rm -rf -- "$1"'  # what was killed may have written a last time
)
TOKEN = "AGATTN_RUN"
MAX_OUTPUT = 256  # MiB; transcripts are far smaller, and a longer one would not be read
# Machines may share a temporary folder, and do not see each other's processes.
_OURS = f"agattn-{os.uname().nodename}-"
_LOOK = 0.2  # seconds between two looks at whether a program is still wanted, and at its memory


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
    """A temporary folder that is removed at the end; those of dead processes are removed first."""
    _sweep(tempfile.gettempdir())
    with tempfile.TemporaryDirectory(prefix=f"{_OURS}{os.getpid()}-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@cache
def _sweep(place: str) -> None:
    """Remove what runs left behind whose machine, or everything on it, was stopped at once."""
    for folder in Path(place).glob(f"{_OURS}*-*"):
        owner = folder.name.removeprefix(_OURS).partition("-")[0]
        with contextlib.suppress(OSError):
            if owner.isdecimal() and folder.stat().st_uid == os.getuid() and not _is_alive(int(owner)):
                shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def run_program(
    command: Sequence[str],
    folder: Path,
    *,
    timeout: float,
    memory: int,
    cancelled: threading.Event | None = None,
    passed_through: bool = False,
) -> Ended:
    """Run a program to its end and return what it printed.

    Output goes to files without a name, so that nothing can block on a full pipe and nobody can put another
    file in their place. On a timeout, and on an interrupt, the program and all its descendants are killed and
    reaped before this function returns or raises.

    Args:
        command: the program and its arguments.
        folder: its working and home directory, which is removed if this process dies.
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
    limits = [str(int(timeout * 4) + 10), str(MAX_OUTPUT * 2048), str(memory * 1024)]
    token = secrets.token_hex(8)
    mark = f"{TOKEN}={token}"
    started = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = None
        try:
            with watched(folder, mark) as tell_group:
                try:
                    process = subprocess.Popen(
                        ["/bin/sh", "-c", _LIMITS, "sh", *limits, *command],
                        cwd=None if passed_through else folder, stdin=subprocess.DEVNULL,
                        stdout=None if passed_through else output,
                        stderr=None if passed_through else errors,
                        start_new_session=True,
                        env={**os.environ, "HOME": str(folder), TOKEN: token},
                    )  # fmt: skip
                    tell_group(process.pid)
                    status = _wait(process, started + timeout, memory, mark, cancelled)
                finally:
                    # Also after a normal end, as a program must not leave children behind. And where an
                    # interrupt comes while the program starts: then the token alone tells what was started.
                    _kill(process, mark)
        except OSError as error:
            raise EngineCrashedError(f"{command[0]} could not be started: {error.strerror}") from error
        except subprocess.TimeoutExpired:
            raise EngineTimeoutError(
                f"stopped after {timeout:g} s, its time limit; raise {argument('timeout')}"
            ) from None
        seconds = time.monotonic() - started
        if max(os.fstat(file.fileno()).st_size for file in (output, errors)) >= MAX_OUTPUT * 2**20:
            raise EngineCrashedError(f"stopped when it had printed {MAX_OUTPUT} MiB")
        return Ended(status, _read(output), _read(errors), seconds)


@contextlib.contextmanager
def watched(folder: Path, mark: str) -> Iterator[Callable[[int], None]]:
    """If this process dies, kill whoever carries a token, and remove a folder.

    What is yielded tells the watcher a process group to kill, too: some systems do not show who carries a
    token. The watcher has a session of its own, so that no signal to us reaches it.
    """
    watcher = subprocess.Popen(
        ["/bin/sh", "-c", _WATCH, "sh", str(folder), mark],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        bufsize=0,
    )  # fmt: skip

    def tell_group(pid: int) -> None:
        with contextlib.suppress(OSError):
            cast(IO[bytes], watcher.stdin).write(b"%d\n" % pid)

    try:
        yield tell_group
    finally:
        with contextlib.suppress(OSError):
            watcher.communicate(b"done\n")


def _kill(process: subprocess.Popen[bytes] | None, mark: str) -> None:
    """Kill a program, its group, and its descendants in other sessions; reap it."""
    if process:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    # While a process becomes another program, its environment reads as empty. So three looks in a row must
    # find nothing; after a normal end one look must. A process on a slow disk may outlive the deadline.
    left = 1 if process and process.returncode is not None else 3
    deadline = time.monotonic() + 5
    while left and time.monotonic() < deadline:
        left -= 1
        for pid in _family(mark):
            left = 3
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if left:
            time.sleep(0.005)
    if process:
        process.wait()


def _family(mark: str) -> list[int]:
    """The processes that carry a token in their environment; none where the system does not tell."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def _resident(pids: Sequence[int]) -> int:
    """The memory in bytes that processes hold together."""
    pages = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError):
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _wait(
    process: subprocess.Popen[bytes],
    deadline: float,
    memory: int,
    mark: str,
    cancelled: threading.Event | None,
) -> int:
    """Wait for a program to end, looking up now and then to see whether it is still wanted."""
    looks = 0
    while True:
        try:
            return process.wait(min(deadline - time.monotonic(), _LOOK))
        except subprocess.TimeoutExpired:
            if time.monotonic() >= deadline:
                raise
        if cancelled and cancelled.is_set():
            raise EngineCrashedError("cancelled")
        looks += 1
        if looks % 5 == 0 and _resident(_family(mark)) > memory * 2**20:
            raise EngineMemoryError(
                f"ran out of memory, with {memory} MiB allowed; raise {argument('memory')}"
            )


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", errors="replace")
