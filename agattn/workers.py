"""Many processors for one computation: worker processes, and threads.

Processes run code that holds Python's lock; threads what leaves it: BLAS, LAPACK and the loops of numpy. How
work is split depends on its sizes alone, and results come in the order of the pieces, so that one worker and
many give the same bytes.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures  # which imports an executor when it is first used
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from dataclasses import replace
from itertools import chain
from math import inf
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from agattn.errors import in_shell, worded
from agattn.limits import Limits, limited, limits, silent
from agattn.memory import number_allowed

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

R = TypeVar("R")
T = TypeVar("T")
#: Work that is estimated to take longer, in seconds, is done by all processors.
LONG = 2.0
#: What one worker needs, in bytes, where nothing else is said.
EACH = 2**28
#: Held while a process begins.
_BEGINNING = threading.Lock()


def processors() -> int:
    """The number of processors that this process may use; one if it shares them with others of a pool."""
    import multiprocessing  # which takes long, and only long work needs it

    if multiprocessing.current_process().daemon:
        return 1
    affinity = getattr(os, "sched_getaffinity", None)  # which not every system has
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def one_blas_thread() -> None:
    """Let BLAS use one thread, unless the user has said otherwise; call before numpy is imported.

    The products of matrices in a dimension are many and small: threads wait for each other longer than they
    compute, several times longer on a machine that is busy.
    """
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def number_of_workers(seconds: float) -> int:
    """How many workers share some work: ``limits().workers``, or one for each processor if the work is long.

    >>> with limited(workers=2):
    ...     number_of_workers(0.0)
    2
    """
    return limits().workers or (processors() if seconds > LONG else 1)


# --- processes ---


class KilledWorker(MemoryError):  # noqa: N818 -- Dask's name
    """Raised for a call whose process died, and that of a second try."""


class _Worker(NamedTuple):
    process: Any
    connection: Connection


class _Call(NamedTuple):
    worker: _Worker
    future: futures.Future[Any]
    what: tuple[Any, ...]
    is_second_try: bool


class Processes:
    """A pool of processes, each of which begins when it is needed."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._calls: dict[Any, _Call] = {}  # by their connections

    def submit(self, do: Callable[..., Any], *arguments: Any) -> futures.Future[Any]:
        """Begin a call in an idle process, or in a new one."""
        future: futures.Future[Any] = futures.Future()
        self._give(future, (do, *arguments))
        return future

    def next_done(self) -> futures.Future[Any]:
        """Wait for one of the calls. One whose process dies is made again, once."""
        from multiprocessing.connection import wait

        while True:
            call = self._calls.pop(wait([*self._calls])[0])
            try:
                is_right, value = call.worker.connection.recv()
            except (EOFError, OSError):
                if not call.is_second_try:
                    self._give(call.future, call.what, is_second_try=True)
                    continue
                is_right, value = False, KilledWorker("workers died, perhaps because of it; use fewer")
            else:
                self._idle.append(call.worker)
            (call.future.set_result if is_right else call.future.set_exception)(value)
            return call.future

    def map(self, do: Callable[[T], R], pieces: Iterable[T]) -> Iterator[R]:
        """Results in the order of the pieces."""
        waiting = deque[futures.Future[R]]()
        for piece in pieces:
            if len(self._calls) == self.number:
                self.next_done()
            waiting.append(self.submit(do, piece))
            while waiting and waiting[0].done():
                yield waiting.popleft().result()
        for future in waiting:
            while not future.done():
                self.next_done()
            yield future.result()

    def end(self) -> None:
        """End all processes, in the middle of what they do."""
        for process, _ in self._workers:
            process.kill()
        for process, connection in self._workers:
            process.join()
            connection.close()

    def _give(
        self, future: futures.Future[Any], what: tuple[Any, ...], *, is_second_try: bool = False
    ) -> None:
        worker = self._idle.pop() if self._idle else self._begin()
        with suppress(OSError):  # that it is dead is seen when an answer is waited for
            worker.connection.send(what)
        self._calls[worker.connection] = _Call(worker, future, what, is_second_try)

    def _begin(self) -> _Worker:
        import multiprocessing

        context = multiprocessing.get_context("spawn")  # a fork would have locks of threads that it lacks
        ours, theirs = context.Pipe()
        held = replace(limits(), progress=silent, workers=1)
        in_a_shell = bool(worded("shell", ""))
        process = context.Process(target=_work, args=(theirs, held, in_a_shell), daemon=True)
        worker = _Worker(process, ours)
        with _beginning(), theirs:
            process.start()
            self._workers.append(worker)
        return worker


@contextmanager
def processes(number: int) -> Iterator[Processes]:
    """So many processes, which end with this context, or with this process, however that ends.

    >>> with processes(2) as pool:
    ...     list(pool.map(abs, [2, -3]))
    [2, 3]
    """
    pool = Processes(number)
    try:
        yield pool
    finally:
        pool.end()


def share(do: Callable[[T], R], pieces: Iterable[T], number: int, each: float, what: str) -> Iterator[R]:
    """``map``; by processes where what is left takes long, if it takes as long as what is done.

    Args:
        number: of the pieces.
        each: a bound on what one process needs, in bytes.
        what: needs it, for a line that says that fewer are used.

    >>> list(share(abs, [-1, 2, -3], 3, EACH, "numbers"))
    [1, 2, 3]
    """
    begun, pieces, is_long = time.perf_counter(), iter(pieces), False
    for done, piece in enumerate(pieces):
        left = number - done
        if done and not is_long and (time.perf_counter() - begun) / done * left > LONG:
            is_long = True
            workers = number_allowed(min(left, number_of_workers(inf)), each, what)
            if workers > 1:
                with processes(workers) as pool:
                    yield from pool.map(do, chain([piece], pieces))
                return
        yield do(piece)


def _work(connection: Connection, held: Limits, in_a_shell: bool) -> None:
    """Make the calls that come. An interrupt, which a terminal sends to all, is left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    _end_with_parent()
    one_blas_thread()
    with (
        suppress(EOFError, BrokenPipeError),
        limited(**vars(held)),
        in_shell() if in_a_shell else nullcontext(),
    ):
        while True:
            do, *arguments = connection.recv()
            try:
                answer = True, do(*arguments)
            except Exception as error:  # is raised in the parent
                answer = False, error
            connection.send(answer)


@contextmanager
def _beginning() -> Iterator[None]:
    """A process begun in here does not run the script of this one, which asks for the work, once more.

    It never sees the interrupts of a terminal; this thread does later.
    """
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # when it begins by itself it lets interrupts through
    with _BEGINNING:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        script, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = script
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """Let this process, one of multiprocessing, end soon after the one that started it.

    A pipe whose other end its parent holds is closed when the parent is gone, also where a signal killed it.
    Linux sends a signal then, which ends a process also in a long call of C code; elsewhere a thread waits
    for the end.
    """
    from multiprocessing import parent_process

    if parent := parent_process():
        if sys.platform == "linux":
            fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, os.O_ASYNC)

        def wait_for_end() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=wait_for_end, daemon=True).start()


# --- threads ---

_THREADS: ContextVar[tuple[futures.ThreadPoolExecutor, int, int] | None] = ContextVar("threads", default=None)


@contextmanager
def threads(
    seconds: float, each: float = EACH, what: str = "arrays", most: int | None = None
) -> Iterator[None]:
    """Let :func:`spread` use threads, :func:`number_of_workers`, but none more than the memory allows.

    A thread may use those that are left for what it spreads itself.

    Args:
        seconds: what the work is estimated to take.
        each: a bound on what the pieces of one thread need, in bytes.
        what: needs it, for a line that says that fewer threads are used.
        most: the number of the pieces, where they are few.

    >>> with limited(workers=2), threads(0.0):
    ...     list(spread(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    wanted = number_of_workers(seconds)
    number = number_allowed(min(wanted, most or wanted), each, what)
    if number == 1:
        yield
        return
    executor = futures.ThreadPoolExecutor(number)
    token = _THREADS.set((executor, number, max(1, wanted // number)))
    try:
        yield
    finally:
        _THREADS.reset(token)
        executor.shutdown(cancel_futures=True)


def spread(do: Callable[[T], R], pieces: Iterable[T]) -> Iterator[R]:
    """``map`` in the threads that there are here; few pieces are taken before their results are."""
    pool = _THREADS.get()
    if pool is None:
        yield from map(do, pieces)
        return

    def alone(piece: T) -> R:
        _THREADS.set(None)
        with limited(workers=inside, progress=silent):
            return do(piece)

    executor, number, inside = pool
    waiting = deque[futures.Future[R]]()
    for piece in pieces:
        waiting.append(executor.submit(copy_context().run, alone, piece))
        if len(waiting) > number:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
