"""Finding the engines: by environment variable, on PATH, or in the installed wheels, in this order."""

from __future__ import annotations

import os
import re
import shutil
import site
import sysconfig
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agattn.engines.engine import Engine
from agattn.engines.process import Ended, run_program
from agattn.errors import EngineError, EngineNotFoundError, EngineVariableError

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

    def execute(
        self, script: str, *, timeout: float, memory: int, cancelled: threading.Event | None = None
    ) -> Ended:
        """Run a script of ours in a folder of its own; see :func:`agattn.engines.process.run_program`."""
        name = f"script.{self.engine.suffix}"
        command = self.engine.command(self.path, Path(name), own=True)
        return run_program(command, {name: script}, timeout=timeout, memory=memory, cancelled=cancelled)

    def problem(self) -> str | None:
        """Run one line; return what went wrong, or ``None``."""
        try:
            ended = self.execute(self.engine.one_line, timeout=60, memory=8192)
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
    for program, found in [(named, engine.variable), (engine.executable, "PATH"), *wheels]:
        if program and (path := shutil.which(program)):
            # One program may be found in several ways; the first counts.
            first.setdefault(Path(path).resolve(), Installation(engine, Path(path), found))
    return list(first.values())


def locate(engine: Engine) -> Installation:
    """The installation of an engine to use.

    Raises:
        EngineNotFoundError: if there is none; the message says how to install one.
        EngineVariableError: if the environment variable names something that is no program.
    """
    found = candidates(engine)
    if not found:
        raise EngineNotFoundError(
            f"{engine.title} was not found on PATH, in the wheels, or by {engine.variable}; "
            f"install it with: {INSTALL}"
        )
    return found[0]


@lru_cache(maxsize=32)
def _version(engine: Engine, path: Path) -> str:
    try:
        ended = run_program([str(path), *engine.version], timeout=20, memory=8192)
    except EngineError:
        return "unknown"
    match = re.search(engine.version_pattern, ended.output)
    return match.group() if match else "unknown"
