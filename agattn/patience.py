"""Progress of a long call from Python: nothing for two seconds, then what is done, line by line on stderr.

>>> with told("counting", lambda step: print("said:", step)) as tell:
...     tell("modulo 7")
said: modulo 7
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

#: Seconds of silence that nobody minds.
AFTER = 2.0

Progress = Callable[[str], None]


def silent(_: str) -> None:
    """Tell nobody: what a function of a room does unless it is given another one to tell."""


@contextlib.contextmanager
def told(work: str, progress: Progress | None = None, after: float = AFTER) -> Iterator[Progress]:
    """A function that is told each step of some work.

    Args:
        work: what is done, in words.
        progress: what the steps are passed to; if there is none they are printed on stderr, from ``after``
            seconds on, beginning with the last one that was told before.
        after: seconds.
    """
    if progress is not None:
        yield progress
        return
    steps: list[str] = []
    late = threading.Event()
    one_at_a_time = threading.Lock()

    def show() -> None:
        print(": ".join([work, *steps[-1:]]), file=sys.stderr, flush=True)

    def begin() -> None:
        with one_at_a_time:
            late.set()
            show()

    def tell(step: str) -> None:
        with one_at_a_time:
            steps.append(step)
            if late.is_set():
                show()

    timer = threading.Timer(after, begin)
    timer.daemon = True
    timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
