"""Every exception agattn raises on purpose, each with the exit status the command line gives it.

The message of each is one line that a user can act on: what was wrong, and what to do.

>>> InputError("d is 0; it must be at least 1").exit_status
2
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

#: What moves, colours or commands a terminal, or turns the order of letters; line ends and tabs do not.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


#: Whether messages are read in a shell, where parameters are options; of all threads, some of which raise.
_in_shell = False
#: Parameters whose options have another name.
_OPTIONS = {"characteristic": "field", "claims": "claim"}


@contextmanager
def in_shell() -> Iterator[None]:
    """Let messages call parameters by their options, and verbs by their commands."""
    global _in_shell
    before, _in_shell = _in_shell, True
    try:
        yield
    finally:
        _in_shell = before


def worded(shell: str, python: str) -> str:
    """The text for a shell or that for Python, as the message is read."""
    return shell if _in_shell else python


def argument(name: str, value: object = None) -> str:
    """A parameter, with a value if there is one, as it is written where the message is read.

    >>> argument("max_degree"), argument("force", True), argument("characteristic", 0)
    ('max_degree', 'force=True', 'characteristic=0')
    >>> with in_shell():
    ...     argument("max_degree"), argument("force", True), argument("characteristic", 0)
    ('--max-degree', '--force', '--field QQ')
    """
    if not _in_shell:
        return name if value is None else f"{name}={value!r}"
    option = f"--{_OPTIONS.get(name, name).replace('_', '-')}"
    if value is None or value is True:
        return option
    return f"{option} {'QQ' if name == 'characteristic' and value == 0 else value}"


def verb(name: str) -> str:
    """A verb as it is written where the message is read.

    >>> verb("critical_points")
    'ag.critical_points'
    >>> with in_shell():
    ...     verb("critical_points")
    '`agattn critical-points`'
    """
    return f"`agattn {name.replace('_', '-')}`" if _in_shell else f"ag.{name}"


def printable(text: str) -> str:
    """Text, or JSON, in which names from outside may stand, with their control characters written out.

    >>> print(printable("gpt2\\x1b[31m"))
    gpt2\\u001b[31m
    """
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def nearest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, or ``otherwise`` if none is near.

    Near is what begins with the name, or alone with its first letters; else what is spelled alike, else what
    contains the name; else, where ``known`` says in words what each is, that which is described by a word
    that begins with it. Signs between letters and digits do not count.

    >>> nearest("verfy", ["verify", "emit"]), nearest("ideal", ["implicit-ideal", "fiber"])
    ("; did you mean 'verify'?", "; did you mean 'implicit-ideal'?")
    >>> nearest("dim", {"fiber": "all weights", "implicit-ideal": "generators and dimension"})
    "; did you mean 'implicit-ideal'?"
    >>> nearest("theorem-34", ["theorem-3.2", "theorem-3.4.closed"])
    "; did you mean 'theorem-3.4.closed'?"
    >>> nearest("certify", ["verify", "certificate"])
    "; did you mean 'certificate'?"
    >>> nearest("---", ["verify", "certificate"])
    ''
    """
    import difflib

    text, letters = name.lower(), _plain(name)
    described = {key: str(known[key]) if isinstance(known, Mapping) else "" for key in known}
    spelled = {key.lower(): key for key in described}
    plain = {key: _plain(key) for key in described}
    close = [key for key, own in plain.items() if len(letters) > 2 and own.startswith(letters)]
    alike = [key for key, own in plain.items() if len(letters) > 4 and own[:5] == letters[:5]]
    close += alike if len(alike) == 1 else []
    close += [spelled[key] for key in difflib.get_close_matches(text, list(spelled), n=1)]
    if len(text) > 2:
        close += [key for key in described if text in key.lower()]
        close += [key for key, words in described.items() if f" {text}" in f" {words.lower()}"]
    return f"; did you mean {close[0]!r}?" if close else otherwise


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def was_interrupted(error: BaseException | None) -> bool:
    """Whether an exception is an interrupt, or came of one that C code did not let through.

    Numpy goes on with a product of matrices of Python objects when an interrupt comes in between, until
    something else notices, and raises a ``SystemError`` because of it.

    >>> try:
    ...     raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
    ... except SystemError as error:
    ...     was_interrupted(error), was_interrupted(SystemError())
    (True, False)
    """
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


class AgattnError(Exception):
    """Base class of the errors of agattn, which raises its subclasses only."""

    exit_status = 4

    def __str__(self) -> str:
        return printable(super().__str__())


class InputError(AgattnError, ValueError):
    """Raised when an argument, option or file cannot be used; names the value and the fix."""

    exit_status = 2


class TooLargeError(InputError):
    """Raised before a computation starts when its size is beyond the limit; says if ``--force`` starts it."""


class EngineError(AgattnError):
    """Base class of everything that goes wrong with a computer-algebra engine."""


class EngineNotFoundError(EngineError):
    """Raised when an engine is neither named by its environment variable, nor on PATH, nor in the wheels."""

    exit_status = 3


class EngineVariableError(EngineNotFoundError):
    """Raised when the environment variable of an engine names something that is no program."""


class EngineTimeoutError(EngineError):
    """Raised when an engine was stopped at its time limit. Decides nothing: the verdict is undecided."""

    exit_status = 3


class EngineMemoryError(EngineError):
    """Raised when an engine ran out of the memory it was allowed. Decides nothing either."""

    exit_status = 3


class EngineCrashedError(EngineError):
    """Raised when an engine ended with an error status or by a signal, without being stopped by a limit."""


class TranscriptError(EngineError):
    """Raised when what an engine printed is not a whole, well-formed data block for the problem asked."""


@contextmanager
def needs(what: str, library: str, extra: str) -> Iterator[None]:
    """Say which extra brings a library that is imported inside.

    Raises:
        InputError: if it is not installed.

    >>> with needs("drawing", "matplotlib", "figures"):
    ...     import no_such_library
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: drawing needs matplotlib; install it with: pip install 'agattn[figures]'
    """
    try:
        yield
    except ImportError as error:
        message = f"{what} needs {library}; install it with: pip install 'agattn[{extra}]'"
        raise InputError(message.lstrip()) from error


class UndecidedError(AgattnError):
    """Raised where a fact can neither be established nor excluded; carries the reason."""

    exit_status = 3


class DisagreementError(AgattnError):
    """Raised when two independent computations of the same thing differ; shows both."""
