"""Progress of a long call from Python: nothing for two seconds, then what is done, line by line on stderr.

>>> with told("counting", lambda step: print("said:", step)) as tell:
...     tell("modulo 7")
said: modulo 7
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

from agattn.errors import printable
from agattn.limits import Progress, limited

#: Seconds of silence that nobody minds, and seconds until a terminal is told again how long it takes.
AFTER, EVERY = 2.0, 1.0


@contextlib.contextmanager
def told(
    work: str, progress: Progress | None = None, after: float = AFTER, every: float = EVERY
) -> Iterator[Progress]:
    """Show the steps of some work that are logged meanwhile; yields a function to which more can be told.

    Args:
        work: what is done, in words.
        progress: what the steps are passed to; if there is none they are printed on stderr, from ``after``
            seconds on, beginning with the last one that was told before. On a terminal they are one line,
            with the seconds that have passed, which is wiped out in the end. Elsewhere a step that is told
            several times in a row is printed once.
        after: seconds.
        every: seconds, after which a terminal is told anew.
    """
    steps = contextlib.nullcontext(progress) if progress else _printed(work, after, every)
    with steps as tell, limited(progress=tell):
        yield tell


@contextlib.contextmanager
def _printed(work: str, after: float, every: float) -> Iterator[Progress]:
    """A function that prints steps on stderr."""
    if sys.stderr.isatty():
        with _ticking(work, after, every) as step:
            yield step
        return
    steps: list[str] = []
    late = threading.Event()
    one_at_a_time = threading.Lock()

    def show() -> None:
        print(printable(": ".join([work, *steps[-1:]])), file=sys.stderr, flush=True)

    def begin() -> None:
        with one_at_a_time:
            late.set()
            show()

    def tell(step: str) -> None:
        with one_at_a_time:
            again = steps[-1:] == [step]
            steps.append(step)
            if late.is_set() and not again:
                show()

    timer = threading.Timer(after, begin)
    timer.daemon = True
    timer.start()
    try:
        yield tell
    finally:
        timer.cancel()


@contextlib.contextmanager
def _ticking(work: str, after: float, every: float) -> Iterator[Progress]:
    """A line on a terminal that says what is done, and for how many seconds."""
    steps: list[str] = []
    ended = threading.Event()
    begun = time.monotonic()

    def tick() -> None:
        if ended.wait(after):
            return
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone
            while True:
                line = printable(f"{': '.join([work, *steps[-1:]])}, {time.monotonic() - begun:.0f} s")
                print(f"\r{_shortened(line)}\x1b[K", end="", file=sys.stderr, flush=True)
                if ended.wait(every):
                    break
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    clock = threading.Thread(target=tick, daemon=True)
    clock.start()
    try:
        yield steps.append
    finally:
        ended.set()
        clock.join(1)


def _shortened(line: str) -> str:
    """A line that fits into a terminal, with its end, which has the seconds.

    >>> len(_shortened("x" * 900 + ", 5 s")) < 900, _shortened("x" * 900 + ", 5 s")[-5:]
    (True, ', 5 s')
    """
    import shutil  # few commands take long

    width = shutil.get_terminal_size().columns - 1
    line = " ".join(line.split())
    return line if len(line) <= width else f"{line[: width - 15]} ...{line[-11:]}"
