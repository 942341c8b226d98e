"""Finding the engines, by environment variable, on PATH, or in the installed wheels, and trying them."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import site
import sysconfig
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import flint

from agattn.engines.catalogue import ENGINES, Engine
from agattn.engines.process import Ended, run_program
from agattn.errors import (
    EngineCrashedError,
    EngineError,
    EngineMemoryError,
    EngineNotFoundError,
    EngineVariableError,
    TranscriptError,
    argument,
)
from agattn.evidence import EngineName
from agattn.limits import limited, limits
from agattn.sheet.data import Sheet, Table, Wide, Word
from agattn.sheet.result import UNSET, Key, Result, UnsetType, Written

INSTALL = "pip install 'agattn[engines]'"


@dataclass(frozen=True)
class Installation:
    """An engine's program on this machine: its path, and how it was found."""

    engine: Engine
    path: Path
    found: str

    @property
    def version(self) -> str:
        """The version the program states, such as ``"4.4.1"``; ``"unknown"`` if it states none."""
        return _version(self.engine, self.path)

    def __str__(self) -> str:
        return f"{self.engine.name} {self.version}"

    def execute(self, script: str, *, cancelled: threading.Event | None = None) -> Ended:
        """Run a script of ours in a folder of its own; see :func:`agattn.engines.process.run_program`."""
        name = f"script.{self.engine.suffix}"
        command = self.engine.command(self.path, Path(name), own=True)
        return run_program(command, {name: script}, cancelled=cancelled)

    def check_end(self, ended: Ended) -> None:
        """Raise what the way a program ended calls for; a clean end is left to the reader of its output.

        Raises:
            EngineMemoryError: if it ran out of memory.
            EngineCrashedError: if it ended with another error.
            TranscriptError: if it printed an error and went on.
        """
        if ended.status:
            printed = (ended.output + ended.errors).lower()
            if any(text in printed for text in self.engine.out_of_memory):
                raise EngineMemoryError(
                    f"ran out of memory, with {limits().memory} MiB allowed; raise {argument('memory')}"
                )
            lines = [line.strip() for line in ended.errors.splitlines() if line.strip()]
            lines = [line for line in lines if "error" in line.lower()] or lines
            raise EngineCrashedError(": ".join([ended.how, *(line[:200] for line in lines[:1])]))
        for line in ended.output.splitlines():
            if line.startswith(self.engine.error_marks):
                raise TranscriptError(f"it reported an error: {line.strip()[:200]}")

    @contextlib.contextmanager
    def blamed(self, script: str = "") -> Iterator[None]:
        """Name the program, and the script, in the errors of a block."""
        try:
            yield
        except EngineError as error:
            raise type(error)(f"{self.engine.title} ({self.path}){script}: {error}") from error

    def problem(self) -> str | None:
        """Run one line; return what went wrong, or ``None``."""
        try:
            with limited(timeout=60, memory=8192):
                ended = self.execute(self.engine.one_line)
        except EngineError as error:
            return str(error)
        if "agattn-ok" in ended.output.split():
            return None
        return f"it did not print what it was asked to, and {'was ' * (ended.status < 0)}{ended.how}"


def candidates(engine: Engine) -> list[Installation]:
    """Every installation of an engine that can be found, the preferred one first.

    Raises:
        EngineVariableError: if the environment variable names something that is no program.
    """
    named = os.environ.get(engine.variable)
    if named and shutil.which(named) is None:
        raise EngineVariableError(f"{engine.variable} is {named!r}, which is not a program that can be run")
    roots = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    roots += [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    wheels = [(Path(root, "sage_wheels", "bin", engine.executable), "wheel") for root in roots]
    first: dict[Path, Installation] = {}
    for program, source in [(named, engine.variable), (engine.executable, "PATH"), *wheels]:
        if program and (path := shutil.which(program)):
            # One program may be found in several ways; the first counts.
            first.setdefault(Path(path).resolve(), Installation(engine, Path(path), source))
    return list(first.values())


def locate(engine: Engine) -> Installation:
    """The installation of an engine to use.

    Raises:
        EngineNotFoundError: if there is none; the message says how to install one.
        EngineVariableError: if the environment variable names something that is no program.
    """
    for installation in candidates(engine):
        return installation
    raise EngineNotFoundError(
        f"{engine.title} was not found on PATH, in the wheels, or by {engine.variable}; "
        f"install it with: {INSTALL}"
    )


@lru_cache(maxsize=32)
def _version(engine: Engine, path: Path) -> str:
    try:
        ended = run_program([str(path), *engine.version], timeout=20, memory=8192)
    except EngineError:
        return "unknown"
    match = re.search(r"\d+\.\d+(\.\d+)*", ended.output)
    return match.group() if match else "unknown"


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
            (e.name, e.version or "", Word("works" if e.ok else "fails"), e.problem or e.path or "")
            for e in self.engines
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
    >>> [engine.name for engine in ag.doctor().engines]
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
