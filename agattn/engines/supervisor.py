"""A process beside agattn that ends a program and removes its folder when agattn is done with them, or dead.

    python -I -S supervisor.py FOLDER MEMORY COMMAND...

Its standard input is a socket whose other end agattn alone holds. What comes there first starts the program,
and how this ends is written back. When the other end is closed, as it is however agattn ends, the program and
its descendants are killed and the folder is removed. Orphans among them become children of this process, so
that none escapes, in whatever session it is.
"""
# ruff: noqa: PTH101, PTH110, PTH123, PTH208, SIM105
# Every run of an engine waits for the imports: no pathlib, no contextlib, no enumerations of signals.

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import _thread
import os
import select
import sys
import time

_GET_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ)


def main(folder: str, memory: str, *command: str) -> None:
    """Run a program when agattn is ready, and clean up."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    try:
        if os.read(0, 1):
            _run(command, int(memory))
    finally:
        _remove(folder)
    os._exit(0)


def _run(command: tuple[str, ...], memory: int) -> None:
    """Run a program until the socket is closed; say how it ended, or that it holds too much memory."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_GET_ORPHANS, 1, 0, 0, 0)
    no_input = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    program = os.posix_spawn(
        command[0], command, os.environ, file_actions=[no_input], setpgroup=0, setsigdef=_SIGNALS
    )
    _thread.start_new_thread(_report, (program,))
    try:
        while not select.select([0], [], [], 1)[0]:
            if sum(map(_resident, _descendants(os.getpid()))) > memory * 2**20:
                os.write(0, b"memory")
    finally:
        _end(program)


def _report(program: int) -> None:
    try:
        os.write(0, b"%d" % os.waitstatus_to_exitcode(os.waitpid(program, 0)[1]))
    except OSError:  # it was killed, and nobody asks how it ended
        pass


def _descendants(process: int) -> list[int]:
    """The processes below one; none where the system does not tell."""
    children: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children") as file:
                children += map(int, file.read().split())
    except OSError:
        pass
    return children + [below for child in children for below in _descendants(child)]


def _resident(process: int) -> int:
    """The memory in bytes that a process holds."""
    try:
        with open(f"/proc/{process}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _end(program: int) -> None:
    """Kill and reap until nothing is left; for five seconds at most, as a slow disk may hold a process."""
    for _ in range(1000):
        for process in (-program, *_descendants(os.getpid())):  # its group, and who left it
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def _remove(folder: str) -> None:
    """Remove a folder in which processes that are ending may still be writing."""
    for _ in range(50):
        os.spawnl(os.P_WAIT, "/bin/rm", "rm", "-rf", "--", folder)
        if not os.path.exists(folder):
            return
        os.chmod(folder, 0o700)
        time.sleep(0.1)


if __name__ == "__main__":
    main(*sys.argv[1:])
