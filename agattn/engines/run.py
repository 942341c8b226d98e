"""Running a problem on an engine: emit, run with limits, read back."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agattn.architectures.forms import STUDIED, Studied
from agattn.engines.locate import Installation
from agattn.engines.process import Ended, run_program
from agattn.errors import (
    EngineCrashedError,
    EngineError,
    EngineMemoryError,
    InputError,
    TranscriptError,
    argument,
)
from agattn.evidence import SECONDS, EngineName, Evidence
from agattn.files import write
from agattn.sheet.data import Cell, Lines, Sheet, Table
from agattn.sheet.result import Key, Meta, Result, Sha256, Written, key
from agattn.systems.problem import Answer, Problem

DEFAULT_TIMEOUT = 60.0
DEFAULT_MEMORY = 8192
MAX_TIMEOUT = 1e7  # four months
MAX_MEMORY = 2**30


@dataclass(frozen=True)
class Limits:
    """Limits of one engine process: wall-clock seconds, and address space in MiB.

    Raises:
        InputError: if one of them is no number that a process can be held to.
    """

    timeout: float = DEFAULT_TIMEOUT
    memory: int = DEFAULT_MEMORY

    def __post_init__(self) -> None:
        if not 0 < self.timeout <= MAX_TIMEOUT:
            raise InputError(
                f"the timeout is {self.timeout} s; it must be above 0 and at most {MAX_TIMEOUT:g}"
            )
        if not 0 < self.memory <= MAX_MEMORY:
            raise InputError(f"the memory is {self.memory} MiB; it must be above 0 and at most {MAX_MEMORY}")


DEFAULT_LIMITS = Limits()


#: Lists of polynomials are shown up to so many.
_MOST_LINES = 20


@dataclass(frozen=True, repr=False)
class Program(Result, extensible=True):
    """An engine with its version."""

    name: Key[str, "The name of the engine.", Written(EngineName, str)]
    version: Key[str, "The version of the engine."]

    def summary(self) -> str:
        """Both in a line."""
        return f"{self.name} {self.version}"


@dataclass(frozen=True, repr=False)
class Run(Result, name="run", extensible=True):
    """One run of an engine: the script, what it printed, the answer read from it, and wall-clock seconds."""

    problem: Problem
    installation: Installation
    script: str
    transcript: str
    answer: Key[
        Answer,
        "Results by name: integers, texts, lists of polynomials as Macaulay2 writes them; field: QQ or ZZ/p;"
        " coordinates: of a model, what each y_k is.",
        Meta(extra_json_schema={"required": ["field"]}),
        Written(dict[str, int | str | list[str]], lambda answer: answer.as_json()),
    ]
    seconds: Key[float, "Wall-clock time of the engine.", SECONDS]

    @property
    @key
    def task(self) -> str:
        """The name of the task."""
        return self.problem.task

    @property
    @key
    def engine(self) -> Program:
        """The engine that ran."""
        return Program(self.installation.engine.name, self.installation.version)

    @property
    @key(Meta(description=STUDIED))
    def architecture(self) -> Studied:
        """The architecture of the problem."""
        return self.problem.architecture

    @property
    @key
    def script_sha256(self) -> Sha256:
        """The SHA-256 of the script."""
        return hashlib.sha256(self.script.encode()).hexdigest()

    @property
    @key(Written(Literal["proved", "modular"], str))
    def evidence(self) -> Evidence:
        """How the result is known: `modular` over a finite field, and where an engine lifts from some."""
        proved = self.installation.engine.proves and not self.problem.characteristic
        return Evidence.PROVED if proved else Evidence.MODULAR

    def summary(self) -> str:
        """What was computed, over which field."""
        return f"{self.problem.title}, over {self.problem.field_name}"

    def __str__(self) -> str:
        lines = [self.summary()]
        for name, value in self.answer.as_json().items():
            if isinstance(value, list):
                lines += [f"{name}: {len(value)}", *(f"  {polynomial}" for polynomial in value)]
            elif name != "field":
                lines.append(f"{name}: {value}")
        return "\n".join(lines)

    def sheet(self) -> Sheet:
        """The results by name."""
        rows: list[tuple[Cell, ...]] = []
        for name, value in self.answer.as_json().items():
            lines = value if isinstance(value, list) else [value]
            shown = Lines(tuple(map(str, lines[:_MOST_LINES])))
            rows.append((name, shown if len(lines) > 1 else str(lines[0]) if lines else "none"))
            if len(lines) > _MOST_LINES:
                rows.append(("", f"and {len(lines) - _MOST_LINES} more"))
        caption = f"{self.summary()}, by {self.installation} ({self.evidence})"
        return Sheet(caption, (Table(caption, (), tuple(rows)),))


def run(
    problem: Problem,
    installation: Installation,
    limits: Limits = DEFAULT_LIMITS,
    keep: Path | None = None,
    cancelled: threading.Event | None = None,
    script: str | None = None,
) -> Run:
    """Solve a problem with an engine.

    Args:
        problem: what to compute.
        installation: the engine.
        limits: of time and memory.
        keep: a folder in which the script is saved, and the transcript of a program that ended by itself.
        cancelled: when this is set, from another thread, the engine is killed.
        script: what to run instead of the script that the problem's template gives.

    Raises:
        EngineTimeoutError: if the time limit was reached.
        EngineMemoryError: if the engine ran out of memory.
        EngineCrashedError: if it ended with an error.
        TranscriptError: if what it printed is not a whole answer to this problem.
    """
    from agattn.engines.emit import emit  # commands that run no engine do without these imports
    from agattn.systems.consistency import check_answer

    engine = installation.engine
    script = emit(problem, engine, machine=True) if script is None else script
    name = f"{engine.title} ({installation.path}), {problem.task}"
    saved = None if keep is None else keep / f"{problem.task}-{engine.name}"
    try:
        if saved is not None:
            write(saved.with_suffix(f".{engine.suffix}"), script)
        ended = installation.execute(
            script, timeout=limits.timeout, memory=limits.memory, cancelled=cancelled
        )
        if saved is not None:
            write(saved.with_suffix(".transcript"), ended.output + ended.errors)
        check_end(ended, installation, limits)
        answer = engine.read(ended.output, problem)
        check_answer(answer)
    except EngineError as error:
        raise type(error)(f"{name}: {error}") from error
    return Run(problem, installation, script, ended.output, answer, ended.seconds)


def run_script(script: Path, installation: Installation, limits: Limits = DEFAULT_LIMITS) -> None:
    """Run a script that somebody wrote, in the current folder; what it prints goes to our stdout and stderr.

    Raises:
        EngineTimeoutError: if the time limit was reached.
        EngineMemoryError: if the engine held more memory than it may.
        EngineCrashedError: if it ended with an error.
    """
    engine = installation.engine
    command = engine.command(installation.path, script.absolute())
    try:
        ended = run_program(command, timeout=limits.timeout, memory=limits.memory, passed_through=True)
        if ended.status:
            how = f"ended with exit status {ended.status}" if ended.status > 0 else "was killed by a signal"
            raise EngineCrashedError(how)
    except EngineError as error:
        raise type(error)(f"{engine.title} ({installation.path}), {script.name}: {error}") from error


def check_end(ended: Ended, installation: Installation, limits: Limits) -> None:
    """Raise what the way a program ended calls for; a clean end is left to the reader of its output.

    Raises:
        EngineMemoryError: if it ran out of memory.
        EngineCrashedError: if it ended with another error.
        TranscriptError: if it printed an error and went on.
    """
    engine = installation.engine
    printed = (ended.output + ended.errors).lower()
    if ended.status != 0 and any(text in printed for text in engine.out_of_memory):
        raise EngineMemoryError(
            f"ran out of memory, with {limits.memory} MiB allowed; raise {argument('memory')}"
        )
    if ended.status != 0:
        lines = [line.strip() for line in ended.errors.splitlines() if line.strip()]
        lines = [line for line in lines if "error" in line.lower()] or lines
        said = f": {lines[0][:200]}" if lines else ""
        raise EngineCrashedError(f"{ended.how}{said}")
    for line in ended.output.splitlines():
        if line.startswith(engine.error_marks):
            raise TranscriptError(f"it reported an error: {line.strip()[:200]}")
