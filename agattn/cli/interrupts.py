"""Interrupts that end the program even where the code that they meet loses them.

SIGINT and SIGTERM become a ``KeyboardInterrupt``, so that everything that is open is closed. Code may lose an
exception: C code that calls Python, such as numpy with matrices of Python objects; and destructors and
callbacks of the import system, after which Python tells of the exception and goes on. There an interrupt is
silent. An interrupt is repeated after a second, unless the program is on its way out already; and if it is
lost again and again the process ends on the spot. Nothing is left behind then either: the watchers of
:mod:`agattn.engines.process` end the programs that it started and remove their folders, and what is kept in a
cache is kept.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn

from agattn.errors import was_interrupted

#: Seconds until an interrupt is repeated, and how often one may be lost.
_AGAIN, _MOST_LOST = 1.0, 3
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
    if signal.getsignal(signal.SIGALRM) is _insist:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def release() -> None:
    """Let signals end the process silently from here on, as while Python itself ends."""
    settle()
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(*_: Any) -> NoReturn:
    if signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, _insist):  # else somebody else has a clock
        signal.signal(signal.SIGALRM, _insist)
        signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
    raise KeyboardInterrupt


def _tell_unless_interrupted(found: sys.UnraisableHookArgs) -> None:
    """Tell of an exception with which Python goes on, unless it is an interrupt, which comes again."""
    if not was_interrupted(found.exc_value):
        _tell(found)


def _insist(*_: Any) -> None:
    """Interrupt once more, unless an interrupt is being dealt with where this one arrives."""
    global _lost
    if was_interrupted(sys.exc_info()[1]):
        return
    _lost += 1
    if _lost >= _MOST_LOST:
        with suppress(OSError):
            os.write(2, b"agattn: interrupted; nothing was left behind\n")
        os._exit(STATUS)
    raise KeyboardInterrupt
