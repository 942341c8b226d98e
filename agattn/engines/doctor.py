"""Which engines there are, and whether they work."""

from __future__ import annotations

import platform

import flint

from agattn.engines.catalogue import ENGINES
from agattn.engines.engine import Engine
from agattn.engines.locate import locate
from agattn.errors import EngineNotFoundError
from agattn.evidence import EngineName
from agattn.sheet.data import Sheet, Table, Wide, Word
from agattn.sheet.result import UNSET, Key, Result, UnsetType, Written


class Examined(Result, extensible=True):
    """An engine that was looked for, and tried where it was found.

    >>> print(Examined("msolve", "0.9", "/usr/bin/msolve", True, None, "PATH"))
    msolve 0.9: works (/usr/bin/msolve, by PATH)
    """

    name: Key[str, "The engine.", Written(EngineName)]
    version: Key[str | None, "The version of the engine; null where it is not known."]
    path: Key[str | None, "The program; null where there is none."]
    ok: Key[bool, "Whether the engine computed one line correctly."]
    problem: Key[str | None, "Why the engine does not work, in one line."]
    found: Key[
        str | UnsetType,
        "Where the engine was found: `PATH`, `wheel`, or the environment variable that names it.",
    ] = UNSET

    def summary(self) -> str:
        """Whether it works, in a line."""
        works = f" {self.version}: works ({self.path}, by {self.found})"
        return f"{self.name}{works if self.ok else f': {self.problem}'}"


class Doctor(Result, name="doctor", extensible=True):
    """The engines, and what exact numbers are computed with."""

    engines: Key[tuple[Examined, ...], "One entry for each engine that was looked for."]
    python: Key[str, "The version of Python."]
    flint: Key[str, "The version of FLINT."]

    @property
    def ok(self) -> bool:
        """Whether all engines work."""
        return all(engine.ok for engine in self.engines)

    def summary(self) -> str:
        """The versions in a line."""
        return f"Python {self.python}, FLINT {self.flint}"

    def __str__(self) -> str:
        return "\n".join([self.summary(), *map(str, self.engines)])

    def sheet(self) -> Sheet:
        """The engines, a row for each."""
        rows = tuple(
            (one.name, one.version or "", Word("works" if one.ok else "fails"), one.problem or one.path or "")
            for one in self.engines
        )
        headings = ("engine", "version", "", Wide("program, or what is wrong"))
        return Sheet(self.summary(), (Table(self.summary(), headings, rows),))


def examine() -> Doctor:
    """Which engines are found, and whether each computes one line correctly.

    They are looked for by the environment variables AGATTN_M2, AGATTN_SINGULAR and AGATTN_MSOLVE, on PATH and
    in the wheels. ``ok`` says whether all work.

    See Also:
        :func:`agattn.run`, :func:`agattn.emit`; ``agattn doctor`` in a shell.

    >>> import agattn as ag
    >>> [one.name for one in ag.doctor().engines]
    ['macaulay2', 'singular', 'msolve']
    """
    engines = tuple(map(_examined, ENGINES.values()))
    return Doctor(engines, platform.python_version(), str(flint.__FLINT_VERSION__))


def _examined(engine: Engine) -> Examined:
    try:
        there = locate(engine)
    except EngineNotFoundError as error:
        return Examined(engine.name, None, None, False, str(error))
    problem = there.problem()
    return Examined(engine.name, there.version, str(there.path), problem is None, problem, there.found)
