"""The verbs that put a task to an engine: the script, and the answer."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agattn.architectures import Architecture
from agattn.architectures.forms import STUDIED, Studied
from agattn.calls import one_of
from agattn.evidence import EngineName
from agattn.files import write
from agattn.patience import Progress, silent
from agattn.sheet.result import Described, Key, Written

if TYPE_CHECKING:
    from agattn.engines.run import Run
    from agattn.systems.problem import Problem


class Script(Described, str, name="emit", extensible=True):
    """A script for an engine: a text, shown without quotes, with the task and the engine that it is for."""

    task: Key[str, "The name of the task."]
    engine: Key[str, "The engine that the script is for.", Written(EngineName)]
    architecture: Key[Studied, STUDIED]
    script: Key[str, "The script itself."]

    def __new__(cls, script: str, task: str, engine: str, architecture: Architecture) -> Script:
        """A script for the engine of this name."""
        made = super().__new__(cls, script)
        made.script, made.task, made.engine, made.architecture = script, task, engine, architecture
        return made

    def summary(self) -> str:
        """What it is, in a line."""
        return f"{self.task} of {self.architecture.name}, for {self.engine}"

    def __str__(self) -> str:
        return self.script

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.script)}</pre>"

    def save(self, path: str | Path) -> None:
        """Write the script into a file."""
        write(path, self.script)


def emit(
    architecture: Architecture, task: str, engine: str = "macaulay2", *, machine: bool = False, **options: Any
) -> Script:
    """The script for an engine that computes a task; it stands alone and can be run by hand.

    Args:
        architecture: a layer, a network or a model.
        task: a name that ``agattn emit --list`` prints, such as ``"implicit-ideal"``.
        engine: ``"macaulay2"``, ``"singular"`` or ``"msolve"``.
        machine: add the part that :func:`agattn.run` adds, and reads.
        options: ``characteristic``, ``seed``, ``force``; and what the task takes: ``point`` (exact weights,
            for membership also N coordinates, and of a model arrays by the names of its parameters),
            ``max_degree``, ``prime``, ``components``, ``slice``, and for critical points the loss, by
            ``metric``, ``samples`` and ``data``. Points and slices may be paths of JSON files.

    Raises:
        InputError: if there is no such task or engine, or the task is not about this architecture.

    See Also:
        :func:`agattn.run`, :func:`agattn.doctor`; ``agattn emit`` in a shell.

    >>> import agattn as ag
    >>> print(ag.script(ag.SingleLayer(2, 1), "implicit-ideal").splitlines()[0])
    -- Equations of the neuromanifold M(2,1,2), by elimination
    >>> ag.script(ag.SingleLayer(2, 1), "implicit-ideals")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: there is no task 'implicit-ideals'; did you mean 'implicit-ideal'?
    """
    from agattn.engines import emit as scripts
    from agattn.engines.catalogue import engine_named

    problem, chosen = _problem(architecture, task, options), engine_named(engine)
    text = scripts.emit(problem, chosen, machine=machine)
    return Script(text, problem.task, chosen.name, problem.architecture)


def run(
    architecture: Architecture,
    task: str,
    engine: str = "macaulay2",
    *,
    timeout: float = 60.0,
    memory: int = 8192,
    keep: str | Path | None = None,
    progress: Progress = silent,
    **options: Any,
) -> Run:
    """Run the script of :func:`agattn.emit` in its engine, and read the answer back exactly.

    Args:
        architecture, task, engine, options: as for :func:`agattn.emit`.
        timeout, memory: limits of the engine, in seconds and MiB.
        keep: a folder for the script and the transcript.
        progress: called with what is done next.

    Raises:
        InputError: as for :func:`agattn.emit`.
        EngineError: if the engine is missing, fails, or reaches a limit.

    See Also:
        :func:`agattn.emit`, :func:`agattn.doctor`, :func:`agattn.verify`; ``agattn run`` in a shell.

    >>> import agattn as ag
    >>> found = ag.run(ag.SingleLayer(2, 1), "hilbert-function", "singular", max_degree=4)
    >>> print(found.evidence, list(found.answer.integers.values())[1:])
    proved [6, 21, 56, 125]
    """
    from agattn.engines import run as runs
    from agattn.engines.catalogue import engine_named
    from agattn.engines.locate import locate

    problem = _problem(architecture, task, options)
    installation = locate(engine_named(engine))
    progress(f"{installation.engine.title}: {problem.title}, over {problem.field_name}")
    limits = runs.Limits(timeout, memory)
    return runs.run(problem, installation, limits, None if keep is None else Path(keep))


def _problem(architecture: Architecture, task: str, options: Mapping[str, Any]) -> Problem:
    """The problem that a task puts to engines."""
    from agattn.systems.asked import OPTIONS, asked
    from agattn.systems.catalogue import TASKS

    name = one_of(task, TASKS, "task")
    for option in options:
        one_of(option, OPTIONS, "option")
    return asked(architecture, name, **options)
