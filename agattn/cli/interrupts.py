"""Ctrl-C always ends the program.

SIGINT and SIGTERM become a ``KeyboardInterrupt``, so that everything that is open is closed. Code may lose
it: C code that calls Python, such as numpy with matrices of Python objects; and destructors and callbacks of
the import system, after which Python goes on. So it comes again after a second, unless it is being dealt
with; when two were lost, the process ends on the spot. Nothing is left behind then either: what it started
ends with it, and what is kept in a cache is kept.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Any

from agattn.errors import was_interrupted

#: Seconds until an interrupt is repeated, and how often it may be lost.
_AGAIN, _MOST_LOST = 1.0, 2
#: The exit status of an interrupted command.
STATUS = 130

_lost = 0
_tell = sys.unraisablehook


def catch() -> None:
    """Let SIGTERM, and SIGINT unless it is ignored, interrupt this process."""
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) in (signal.SIG_DFL, signal.default_int_handler):
        signal.signal(signal.SIGINT, _interrupt)
    sys.unraisablehook = _tell_unless_interrupted


def settle() -> None:
    """No longer repeat an interrupt: it has arrived."""
    if signal.getsignal(signal.SIGALRM) is _interrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def release() -> None:
    """Let signals end the process silently from here on, as while Python itself ends."""
    settle()
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(number: int, _: Any) -> None:
    """Raise an interrupt; when it comes again, only where the last one was lost."""
    global _lost
    if number == signal.SIGALRM:
        if was_interrupted(sys.exc_info()[1]):
            return
        _lost += 1
        if _lost == _MOST_LOST:
            with suppress(OSError):
                os.write(2, b"agattn: interrupted; nothing was left behind\n")
            os._exit(STATUS)
    elif signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, _interrupt):  # else somebody else has a clock
        signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
    raise KeyboardInterrupt


def _tell_unless_interrupted(error: sys.UnraisableHookArgs) -> None:
    """Tell of an exception with which Python goes on, unless it is an interrupt, which comes again."""
    if not was_interrupted(error.exc_value):
        _tell(error)
