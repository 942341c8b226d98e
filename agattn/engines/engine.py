"""The engines agattn knows: where to look for them, how to start them, how they report trouble.

Adding an engine is one :class:`Engine` here and one template for each task.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agattn.errors import InputError, nearest

if TYPE_CHECKING:
    from agattn.systems.problem import Answer, Problem


def _block(text: str, problem: Problem) -> Answer:
    from agattn.engines.transcript import read

    return read(text, problem)


def _lists(text: str, problem: Problem) -> Answer:
    from agattn.engines.msolve_lists import read

    return read(text, problem)


@dataclass(frozen=True)
class Engine:
    """A computer-algebra system."""

    name: str  #: as the command line knows it
    title: str  #: as people write it
    executable: str  #: the program's name on PATH and in the wheels
    variable: str  #: the environment variable that overrides the search
    suffix: str  #: of script files and templates
    comment: str  #: what begins a comment in a script
    arguments: tuple[str, ...]  #: what stands between the program and the script's file name
    one_line: str  #: a script that prints ``agattn-ok`` and ends
    out_of_memory: tuple[str, ...]  #: texts it prints when memory runs out
    error_marks: tuple[str, ...]  #: line beginnings that mean an error, whatever the exit status says
    own_arguments: tuple[str, ...] = ()  #: in place of ``arguments``, if any, for scripts of ours
    #: Whether scripts are for the shell, with the program as their argument: it has no language of its own.
    by_shell: bool = False
    answers: str = "everything"  #: what it can be asked, in words
    lacks: tuple[str, ...] = ()  #: results of tasks that it cannot find
    proves: bool = True  #: whether its answers over ℚ are proved
    read: Callable[[str, Problem], Answer] = _block  #: turns what a script printed into the answer

    def command(self, program: Path, script: Path, *, own: bool = False) -> list[str]:
        """The command line that runs a script, by hand, or one of our own."""
        if self.by_shell:
            return ["/bin/sh", str(script), str(program)]
        arguments = self.own_arguments if own and self.own_arguments else self.arguments
        return [str(program), *arguments, str(script)]

    def check_can(self, problem: Problem) -> None:
        """Refuse a problem that it has no script for, or one of whose results it cannot find.

        >>> from agattn import SingleLayer
        >>> from agattn.systems.catalogue import build
        >>> MSOLVE.check_can(build("slice", SingleLayer(2, 1)))
        Traceback (most recent call last):
            ...
        agattn.errors.InputError: msolve has no script for slice: it answers Groebner bases and systems with
        finitely many solutions; use --engine macaulay2 or --engine singular

        Raises:
            InputError: that says what it can do, and who can do this.
        """
        lacking = [result.name for result in problem.results if result.name in self.lacks]
        if self.has_script(problem.form) and not lacking:
            return
        able = (engine for engine in ENGINES.values() if engine.has_script(problem.form))
        others = [f"--engine {engine.name}" for engine in able if engine is not self]
        asked = f"{problem.task}{' of a model' if problem.template else ''}"
        what = f"does not find the result {lacking[0]}" if lacking else f"has no script for {asked}"
        raise InputError(f"{self.title} {what}: it answers {self.answers}; use {' or '.join(others)}")

    def has_script(self, form: str) -> bool:
        """Whether there is a template of this name: that of a task, for most."""
        return self.templates.joinpath(f"{form}.{self.suffix}.j2").is_file()

    @property
    def templates(self) -> Path:
        """The folder of its templates."""
        return Path(__file__).with_name("templates") / self.name


# What the dynamic loader says when there is not even memory enough to start.
_LOADER = ("cannot allocate memory", "failed to map segment from shared object")

MACAULAY2 = Engine(
    name="macaulay2",
    title="Macaulay2",
    executable="M2",
    variable="AGATTN_M2",
    suffix="m2",
    comment="--",
    arguments=("--script",),
    # As by --script, but without a dozen packages: ours load those they need, and start in half the time.
    own_arguments=("-q", "--silent", "--stop", "--no-debug", "--no-prompts", "--no-preload"),
    one_line='print "agattn-ok"\n',
    out_of_memory=("out of memory", "memory exhausted", "bad_alloc", *_LOADER),
    error_marks=(),
)

SINGULAR = Engine(
    name="singular",
    title="Singular",
    executable="Singular",
    variable="AGATTN_SINGULAR",
    suffix="sing",
    comment="//",
    arguments=("-q", "--no-rc"),
    one_line='"agattn-ok"; quit;\n',
    out_of_memory=("no more memory", "out of memory", "memory exhausted", "bad_alloc", *_LOADER),
    error_marks=("   ? ",),
)

MSOLVE = Engine(
    name="msolve",
    title="msolve",
    executable="msolve",
    variable="AGATTN_MSOLVE",
    suffix="sh",
    comment="#",
    arguments=(),
    one_line="printf 'x\\n0\\nx-1\\n' > one.ms\n\"$1\" -f one.ms | grep -qF '[[[1, 1]]]' && echo agattn-ok\n",
    # It does not look whether it got memory, and dies; this is what the shell says of it.
    out_of_memory=("segmentation fault", "aborted", *_LOADER),
    error_marks=(),
    by_shell=True,
    answers="Groebner bases and systems with finitely many solutions",
    lacks=("prime", "max-degree", "components"),
    proves=False,  # it computes modulo primes and lifts
    read=_lists,
)

ENGINES = {engine.name: engine for engine in (MACAULAY2, SINGULAR, MSOLVE)}
#: The names as JSON has them.
Name: Any = Literal[tuple(ENGINES)]


def engine_name(text: str, choices: Collection[str] = tuple(ENGINES)) -> str:
    """The one among ``choices`` that is meant: in any case, and by the name of the program too.

    >>> engine_name("Macaulay2"), engine_name("M2"), engine_name("SINGULAR")
    ('macaulay2', 'macaulay2', 'singular')

    Raises:
        InputError: if there is none.
    """
    programs = {engine.executable.lower(): engine.name for engine in ENGINES.values()}
    name = programs.get(text.lower(), text.lower())
    if name not in choices:
        raise InputError(f"there is no engine {text!r}{nearest(name, choices)}; use {', '.join(choices)}")
    return name


def engine_named(name: str) -> Engine:
    """The engine that a name means, as :func:`engine_name` reads it.

    Raises:
        InputError: if there is none.
    """
    return ENGINES[engine_name(name)]
