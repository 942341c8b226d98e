"""What an engine is: one declaration, which is checked when the file of the engine is imported.

The engines that there are stand in ``agattn/engines/programs/``, one file each, and together in
:mod:`agattn.engines.catalogue`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agattn.systems.problem import Answer, Problem

#: The folder with a folder of templates for every engine, and the template that begins every script.
#:
#: :meta hide-value:
TEMPLATES = Path(__file__).with_name("templates")
#: The macros of an engine's ``common.j2``: how a script begins, what people read of the results, what agattn
#: reads of them, and how a script ends that agattn does not read.
MACROS = ("start", "show", "machine", "close")
#: The version in what most programs print about themselves.
VERSION = r"\d+\.\d+(\.\d+)*"
#: What the dynamic loader says when the memory is too small for the program to start.
LOADER = ("cannot allocate memory", "failed to map segment from shared object")
#: What engines answer that have a language of their own, such as Macaulay2 and Singular.
IN_A_LANGUAGE = (
    "base-locus", "complete-ideal", "critical-equations", "critical-locus", "critical-points",
    "deep-base-locus", "deep-fiber", "deep-limit", "fiber", "hilbert-function", "implicit-ideal",
    "membership", "model-critical-locus", "model-fiber", "model-hilbert-function", "model-implicit-ideal",
    "named-equations",
    "rank-one-locus", "rlct-normal-form", "singular-locus", "slice", "strata-tangents", "tangent-cone",
    "virtual-fiber",
)  # fmt: skip


def read_block(text: str, problem: Problem) -> Answer:
    """The answer in a data block, which scripts of an engine with a language of its own print.

    Raises:
        TranscriptError: if there is not exactly one whole data block that answers the problem.

    See Also:
        :func:`agattn.engines.transcript.read`, which is imported by the first transcript.
    """
    from agattn.engines.transcript import read

    return read(text, problem)


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A computer-algebra system: the program, its language, its transcripts, and what it can be asked.

    >>> Engine(name="magma", title="Magma")
    Traceback (most recent call last):
        ...
    TypeError: the engine magma declares no executable, variable, version, suffix, comment, arguments,
    one_line, out_of_memory, error_marks, written, read, templates, tasks, answers

    Attributes:
        name: as the command line knows the engine.
        title: as people write the name.
        executable: the name of the program on PATH and in the wheels.
        variable: the environment variable that overrides the search for the program.
        version: the arguments with which the program states its version.
        version_pattern: a regular expression for the version in what the program then prints.
        suffix: the ending of script files and templates.
        comment: what begins a comment in a script.
        arguments: what stands between the program and the name of the script file.
        own_arguments: the same for scripts that agattn runs; ``arguments`` if empty.
        by_shell: whether scripts are for the shell, with the program as their argument, as for a program
            without a language.
        one_line: a script that prints ``agattn-ok`` and ends.
        out_of_memory: texts that the program prints when memory runs out, in small letters.
        error_marks: beginnings of lines that mean an error, whatever the exit status says.
        written: the text of a polynomial or of a variable in the language of the engine.
        read: what a script printed, as the answer to the problem; raises ``TranscriptError``.
        templates: the folder of its templates.
        tasks: what the engine answers, by the names of its templates: of tasks, and ``model-TASK`` where a
            task is about any model.
        answers: the same in words.
        lacks: results of these tasks that the engine does not find.
        proves: whether answers over ℚ are proved.

    Raises:
        TypeError: if something is not declared; if ``common.j2``, one of its macros, or the template of one
            of the ``tasks`` is missing; or if a template belongs to none of the ``tasks``.
    """

    name: str
    title: str
    executable: str
    variable: str
    version: tuple[str, ...]
    version_pattern: str = VERSION
    suffix: str
    comment: str
    arguments: tuple[str, ...]
    own_arguments: tuple[str, ...] = ()
    by_shell: bool = False
    one_line: str
    out_of_memory: tuple[str, ...]
    error_marks: tuple[str, ...]
    written: Callable[[Any], str]
    read: Callable[[str, Problem], Answer]
    templates: Path
    tasks: tuple[str, ...]
    answers: str
    lacks: tuple[str, ...] = ()
    proves: bool = True

    def __new__(cls, **declared: object) -> Engine:
        """An engine whose declaration has all that an engine needs."""
        needed = [field.name for field in fields(cls) if field.default is MISSING]
        if declared and (missing := [name for name in needed if name not in declared]):
            raise TypeError(
                f"the engine {declared.get('name', 'without a name')} declares no {', '.join(missing)}"
            )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        needed = {"common.j2", *map(self.template, self.tasks)}
        there = {file.name for file in self.templates.glob("*.j2")}
        if missing := sorted(needed - there):
            raise TypeError(f"the engine {self.name} has no {', '.join(missing)} in {self.templates}")
        if extra := sorted(there - needed):
            raise TypeError(f"the engine {self.name} names no task of its template {', '.join(extra)}")
        macros = re.findall(r"\bmacro (\w+)\(", (self.templates / "common.j2").read_text(encoding="utf-8"))
        if lacking := [macro for macro in MACROS if macro not in macros]:
            raise TypeError(f"the engine {self.name} has no macro {', '.join(lacking)} in its common.j2")

    @property
    def ending(self) -> str:
        """How the names of scripts end, with the dot."""
        return f".{self.suffix}"

    def template(self, form: str) -> str:
        """The name of the template of a task, or of the task ``model-TASK`` about any model."""
        return f"{form}.{self.suffix}.j2"

    def command(self, program: Path, script: Path, *, own: bool = False) -> list[str]:
        """The command line that runs a script, by hand, or one of our own."""
        if self.by_shell:
            return ["/bin/sh", str(script), str(program)]
        arguments = self.own_arguments if own and self.own_arguments else self.arguments
        return [str(program), *arguments, str(script)]

    def has_script(self, form: str) -> bool:
        """Whether the engine answers the task, or ``model-TASK``, at least in part."""
        return form in self.tasks

    def lacking(self, problem: Problem) -> str:
        """Why the engine cannot solve a problem, in words that follow the engine's title; empty if it can."""
        if not self.has_script(problem.form):
            return f"has no script for {problem.task}{' of a model' if problem.template else ''}"
        lacking = [result.name for result in problem.results if result.name in self.lacks]
        return f"does not find the result {lacking[0]}" if lacking else ""
