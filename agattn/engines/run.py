"""Running a problem on an engine: emit, run with limits, read back."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from typing import Any

from agattn.architectures import Architecture
from agattn.architectures.model_file import STUDIED, Studied
from agattn.engines.catalogue import Engine, engine_named
from agattn.engines.locate import Installation, locate
from agattn.engines.process import run_program
from agattn.errors import EngineCrashedError
from agattn.evidence import SECONDS, EngineName, Evidence
from agattn.files import write
from agattn.limits import log, takes
from agattn.sheet.data import Cell, Lines, Sheet, Table
from agattn.sheet.result import PROVED_OR_MODULAR, Key, Meta, Result, Sha256, Written, key
from agattn.systems.problem import Answer, Problem

#: Lists of polynomials are shown up to so many.
_MOST_LINES = 20


class Program(Result, extensible=True):
    """An engine with its version."""

    name: Key[str, "The name of the engine.", Written(EngineName)]
    version: Key[str, "The version of the engine."]

    def summary(self) -> str:
        """Both in a line."""
        return f"{self.name} {self.version}"


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
        Written(dict[str, int | str | list[str]]),
    ]
    seconds: Key[float, "Wall-clock time of the engine.", SECONDS]

    @key
    def task(self) -> str:
        """The name of the task."""
        return self.problem.task

    @key
    def engine(self) -> Program:
        """The engine that ran."""
        return Program(self.installation.engine.name, self.installation.version)

    @key(STUDIED)
    def architecture(self) -> Studied:
        """The architecture of the problem."""
        return self.problem.architecture

    @key
    def script_sha256(self) -> Sha256:
        """The SHA-256 of the script."""
        return hashlib.sha256(self.script.encode()).hexdigest()

    @key(PROVED_OR_MODULAR)
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
    keep: Path | None = None,
    cancelled: threading.Event | None = None,
    script: str | None = None,
) -> Run:
    """Solve a problem with an engine, within the limits of time and memory.

    Args:
        problem: what to compute.
        installation: the engine.
        keep: a folder in which the script is saved, and the transcript of a program that ended by itself.
        cancelled: when this is set, from another thread, the engine is killed.
        script: what to run instead of the script that the problem's template gives.

    Raises:
        EngineTimeoutError: if the time limit was reached.
        EngineMemoryError: if the engine ran out of memory.
        EngineCrashedError: if it ended with an error.
        TranscriptError: if what it printed is not a whole answer to this problem.
    """
    from agattn.engines.emit import emit  # documents without a run do without these imports
    from agattn.systems.consistency import check_answer

    engine = installation.engine
    script = emit(problem, engine, machine=True) if script is None else script
    saved = None if keep is None else keep / f"{problem.task}-{engine.name}"
    with installation.blamed(f", {problem.task}"):
        if saved is not None:
            write(saved.with_suffix(engine.ending), script)
        ended = installation.execute(script, cancelled=cancelled)
        if saved is not None:
            write(saved.with_suffix(".transcript"), ended.output + ended.errors)
        installation.check_end(ended)
        answer = read_answer(engine, ended.output, problem)
        check_answer(answer)
    return Run(problem, installation, script, ended.output, answer, ended.seconds)


def read_answer(engine: Engine, text: str, problem: Problem) -> Answer:
    """What a script of an engine printed, as the answer to the problem.

    Raises:
        TranscriptError: if there is not exactly one whole data block that answers the problem.
    """
    from agattn.engines import msolve, reading

    read = msolve.read if engine.by_shell else reading.read
    return read(text, problem)


@takes("timeout", "memory", "seed", "force", "progress")
def run_task(
    architecture: Architecture,
    task: str,
    engine: str = "macaulay2",
    *,
    keep: str | Path | None = None,
    **options: Any,
) -> Run:
    """Run the script of :func:`agattn.emit` in its engine, and read the answer back exactly.

    Args:
        architecture, task, engine, options: as for :func:`agattn.emit`.
        keep: a folder for the script and the transcript.

    Raises:
        InputError: as for :func:`agattn.emit`.
        EngineError: if the engine is missing, fails, or reaches a limit.

    See Also:
        :func:`agattn.emit`, :func:`agattn.doctor`, :func:`agattn.verify`; ``agattn run`` in a shell.

    >>> import agattn as ag
    >>> run = ag.run(ag.SingleLayer(2, 1), "hilbert-function", "singular", max_degree=4)
    >>> print(run.evidence, list(run.answer.integers.values())[1:])
    proved [6, 21, 56, 125]
    """
    from agattn.systems.catalogue import asked

    problem = asked(architecture, task, **options)
    installation = locate(engine_named(engine))
    log.info(f"{installation.engine.title}: {problem.title}, over {problem.field_name}")
    return run(problem, installation, None if keep is None else Path(keep))


def run_script(script: Path, installation: Installation) -> None:
    """Run a script that somebody wrote, in the current folder; what it prints goes to our stdout and stderr.

    Raises:
        EngineTimeoutError: if the time limit was reached.
        EngineMemoryError: if the engine held more memory than it may.
        EngineCrashedError: if it ended with an error.
    """
    command = installation.engine.command(installation.path, script.absolute())
    with installation.blamed(f", {script.name}"):
        if (ended := run_program(command, passed_through=True)).status:
            raise EngineCrashedError(ended.how)
