"""Worker processes that end with the process that started them, however that ended; and threads."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures  # which imports an executor when it is first used
from contextlib import contextmanager
from typing import Any

from agattn.limits import limits


def processors() -> int:
    """The number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # which not every system has
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@contextmanager
def processes(number: int) -> Iterator[Callable[..., list[Any]]]:
    """A ``map`` in so many processes, which end with this context; after an error, in the middle of a job.

    >>> with processes(2) as run:
    ...     run(pow, [2, 3], [4, 2])
    [16, 9]
    """
    others = set(multiprocessing.active_children())
    with futures.ProcessPoolExecutor(number, initializer=_begin) as executor:

        def run(do: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
            # The executor's own map cancels what waits, and the executor then fails where its processes die.
            jobs = [executor.submit(do, *each) for each in zip(*arguments, strict=False)]
            return [job.result() for job in jobs]

        try:
            yield run
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.kill()
            raise


def cores() -> int:
    """How many threads a computation may use: one where BLAS has threads of its own.

    >>> from agattn.limits import limited
    >>> with limited(workers=1):
    ...     cores()
    1
    """
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        return 1
    every = processors()
    return min(every, limits().workers or every)


@contextmanager
def threads(are_worth_it: bool = True) -> Iterator[Callable[..., list[Any]]]:
    """A ``map`` in as many threads as there are :func:`cores`, for calls of code that runs side by side.

    >>> with threads() as run:
    ...     run(pow, [2, 3], [4, 2])
    [16, 9]
    """
    number = cores() if are_worth_it else 1
    if number == 1:
        yield lambda do, *arguments: list(map(do, *arguments))
        return
    with futures.ThreadPoolExecutor(number) as executor:
        yield lambda do, *arguments: list(executor.map(do, *arguments))


def _begin() -> None:
    """Leave it to the parent what an interrupt does, which a terminal sends to all."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent()


def end_with_parent() -> None:
    """Let this process, one of multiprocessing, end soon after the one that started it.

    A pipe whose other end its parent holds is closed when the parent is gone, also where a signal killed it.
    Workers that were started later may hold this end, too: the last one ends first. Linux sends a signal
    then, which ends a process also in a long call of C code; elsewhere a thread waits for the end.
    """
    if parent := multiprocessing.parent_process():
        if sys.platform == "linux":
            fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, os.O_ASYNC)

        def wait() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=wait, daemon=True).start()
