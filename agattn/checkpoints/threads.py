"""Pieces of a large computation, in several threads at a time: BLAS, LAPACK and numpy's loops leave the lock.

How a computation is split depends on its sizes alone, and results come in the order of the pieces, so that
one thread and many give the same bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from agattn.limits import limits, log
from agattn.memory import available, in_words
from agattn.workers import processors

R = TypeVar("R")
T = TypeVar("T")
#: Work that is estimated to take longer, in seconds, is done by all processors.
LONG = 2.0
#: Estimated seconds for an entry of a model, where a command says nothing else.
SECONDS = 1e-7
#: What the pieces of one thread need, in bytes, where nothing else is said.
EACH = 2**28

_THREADS: ContextVar[tuple[ThreadPoolExecutor, int] | None] = ContextVar("threads", default=None)


@contextmanager
def threads(seconds: float, each: float = EACH) -> Iterator[None]:
    """Let :func:`spread` use ``limits().workers`` threads, or one for each processor if the work is long.

    Args:
        seconds: what the work is estimated to take.
        each: a bound on what the pieces of one thread need, in bytes. Fewer threads are used, if the machine
            has not so much for each.

    >>> from agattn.limits import limited
    >>> with limited(workers=2), threads(0.0):
    ...     list(spread(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    asked, free = limits().workers, available()
    number = asked or (processors() if seconds > LONG else 1)
    most = max(1, int(free // each))
    if asked and asked > most:
        log.warning(
            f"{asked} workers need up to {in_words(asked * each)} of memory, and {in_words(free)} are free; "
            f"{most} {'is' if most == 1 else 'are'} used"
        )
    if min(number, most) == 1:
        yield
        return
    executor = ThreadPoolExecutor(min(number, most))
    token = _THREADS.set((executor, min(number, most)))
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
    executor, number = pool
    waiting = deque[Future[R]]()
    for piece in pieces:
        waiting.append(executor.submit(do, piece))
        if len(waiting) > number:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
