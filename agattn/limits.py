"""What holds for a whole computation: limits of time and memory, the seed, and who is shown its steps.

A verb takes these as keywords, which hold while it runs (:func:`takes`). The functions below it read
:func:`limits`, change them for a block by :func:`limited`, and write their steps to :data:`log`.

>>> with limited(seed=3):
...     limits().seed
3
>>> limits().seed
0
>>> with limited(progress=print):
...     log.info("modulo 7")
modulo 7
"""

from __future__ import annotations

import functools
import inspect
import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from inspect import Parameter
from typing import Any, NamedTuple, TypeVar

from agattn.errors import InputError, TooLargeError, argument

R = TypeVar("R")
T = TypeVar("T")
Progress = Callable[[str], None]


def silent(_: str) -> None:
    """Show nothing."""


MAX_TIMEOUT = 1e7  # four months
MAX_MEMORY = 2**30


@dataclass(frozen=True)
class Limits:
    """What holds for a computation.

    Attributes:
        timeout: wall-clock seconds for each run of an engine.
        memory: MiB of address space for each run of an engine.
        seed: of all random choices.
        force: whether limits on sizes are ignored.
        progress: is called with each step, a line of text.
        native: MiB for computations without an engine; ``None`` for what the machine has.
        workers: cores for what takes seconds; ``None`` for all that there are.

    Raises:
        InputError: if no process can be held to the timeout or the memory, or there is no worker.
    """

    timeout: float = 60.0
    memory: int = 8192
    seed: int = 0
    force: bool = False
    progress: Progress = silent
    native: int | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.timeout <= MAX_TIMEOUT:
            due = f"it must be above 0 and at most {MAX_TIMEOUT:g}"
            raise InputError(f"the timeout is {self.timeout} s; {due}")
        if not 0 < self.memory <= MAX_MEMORY:
            raise InputError(f"the memory is {self.memory} MiB; it must be above 0 and at most {MAX_MEMORY}")
        if self.workers is not None and self.workers < 1:
            raise InputError("0 workers do nothing; give 1 or more, or leave workers out")


_LIMITS: ContextVar[Limits] = ContextVar("limits", default=Limits())  # noqa: B039, as it is frozen


def limits() -> Limits:
    """What holds now, in this thread."""
    return _LIMITS.get()


def refuse(too_large: str, to: str = "start") -> None:
    """Refuse what is too large, unless limits on sizes are ignored.

    Raises:
        TooLargeError: with the reason, and what one uses to do it all the same.
    """
    if not limits().force:
        raise TooLargeError(f"{too_large}. Use {argument('force', True)} to {to} all the same")


def check_sizes(of: str, *sizes: tuple[int, str, int]) -> None:
    """Refuse what has too many of something: numbers, of what, and the most there may be.

    >>> check_sizes("the model", (2, "heads", 2), (5, "tokens", 3))
    Traceback (most recent call last):
        ...
    agattn.errors.TooLargeError: the model has 5 tokens; the limit is 3. Use force=True to start all the same
    """
    for number, what, most in sizes:
        if number > most:
            refuse(f"{of} has {number} {what}; the limit is {most}")


@contextmanager
def limited(**changes: Any) -> Iterator[None]:
    """Change fields of :class:`Limits` for a block."""
    token = _LIMITS.set(replace(limits(), **changes) if changes else limits())
    try:
        yield
    finally:
        _LIMITS.reset(token)


@contextmanager
def by_default() -> Iterator[None]:
    """What holds by default but for the steps: for what is computed once and kept, whoever asks."""
    with limited(seed=0, force=False, native=None):
        yield


#: Seconds after which the time that is left is estimated.
_SURE = 5.0


class _Shown(logging.NullHandler):
    """Passes a step on to whoever is shown the steps of the computation that it belongs to."""

    def handle(self, record: logging.LogRecord) -> bool:
        limits().progress(record.getMessage())
        return True


#: Where steps are written. Handlers of others may be added; the root logger is left alone.
log = logging.getLogger("agattn")
log.setLevel(logging.INFO)
log.propagate = False
log.addHandler(_Shown())


def steps(items: Iterable[T], size: int, name: Callable[[T], str]) -> Iterator[T]:
    """Things to go through, each of which is a step that says how far; after some seconds also how long.

    >>> with limited(progress=print):
    ...     for n in steps([5, 7], 2, "modulo {}".format):
    ...         pass
    modulo 5, 1 of 2
    modulo 7, 2 of 2
    """
    begun = time.monotonic()
    for done, item in enumerate(items):
        passed = time.monotonic() - begun
        left = f", about {in_words(passed / done * (size - done))} left" if done and passed > _SURE else ""
        log.info(f"{name(item)}, {done + 1} of {size}{left}")
        yield item


def in_words(seconds: float) -> str:
    """A time as it is estimated.

    >>> [in_words(seconds) for seconds in (3, 200, 9000)]
    ['3 s', '3 min', '2.5 h']
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@contextmanager
def numbered(number: int, size: int) -> Iterator[None]:
    """Let the steps of a block say which part of a whole they belong to.

    >>> with limited(progress=print), numbered(7, 24):
    ...     log.info("the dimension")
    the dimension, 7 of 24
    """
    shown = limits().progress
    with limited(progress=lambda step: shown(f"{step}, {number} of {size}")):
        yield


class Keyword(NamedTuple):
    """A keyword of verbs: its type, its default, and what it says in a list of arguments."""

    kind: str
    default: Any
    help: str


#: The keywords that verbs have in common, each of them a field of :class:`Limits`.
KEYWORDS: Mapping[str, Keyword] = {
    "timeout": Keyword("float", Limits.timeout, "limit of each run of an engine, in seconds."),
    "memory": Keyword("int", Limits.memory, "limit of each run of an engine, in MiB."),
    "seed": Keyword("int", Limits.seed, "of all random choices."),
    "force": Keyword("bool", Limits.force, "go beyond the limits on sizes."),
    "workers": Keyword("int | None", Limits.workers, "cores for what takes seconds; all by default."),
    "progress": Keyword("Progress", silent, "called with each step, a line of text."),
}


def takes(*keywords: str) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Let a function take some of :data:`KEYWORDS`, which hold while it runs.

    They join its signature, and the list of arguments of its docstring where they are not there.

    >>> @takes("seed")
    ... def draw(count):
    ...     return [limits().seed] * count
    >>> draw(2, seed=3), draw(1), str(inspect.signature(draw))
    ([3, 3], [0], "(count, *, seed: 'int' = 0)")
    """

    def holding(function: Callable[..., R]) -> Callable[..., R]:
        @functools.wraps(function)
        def called(*args: Any, **named: Any) -> R:
            changes = {name: named.pop(name) for name in keywords if name in named}
            with limited(**changes):
                return function(*args, **named)

        signature = inspect.signature(function)
        own = list(signature.parameters.values())
        last = [own.pop()] if own and own[-1].kind is Parameter.VAR_KEYWORD else []
        asked = [(name, KEYWORDS[name]) for name in keywords]
        added = [Parameter(n, Parameter.KEYWORD_ONLY, default=k.default, annotation=k.kind) for n, k in asked]
        called.__signature__ = signature.replace(parameters=[*own, *added, *last])  # type: ignore[attr-defined]
        called.__doc__ = _with_arguments(function.__doc__ or "", keywords)
        return called

    return holding


def _with_arguments(text: str, keywords: tuple[str, ...]) -> str:
    """A docstring whose list of arguments has these keywords, too."""
    text = inspect.cleandoc(text)
    head, title, more = text.partition("Args:\n")
    own, gap, rest = more.partition("\n\n")
    described = re.findall(r"\w+", " ".join(re.findall(r"^    ([\w, ]+):", own, re.MULTILINE)))
    missing = [name for name in keywords if name not in described]
    lines = [f"    {name}: {KEYWORDS[name].help}" for name in missing]
    return "".join((head, title, "\n".join([own, *lines]), gap, rest)) if title else text
