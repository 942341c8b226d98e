"""The engines, one declaration each, in the order in which they are asked, and which engine a name means.

>>> [engine.title for engine in ENGINES.values()]
['Macaulay2', 'Singular', 'msolve']
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agattn.errors import InputError, argument, nearest

if TYPE_CHECKING:
    from agattn.systems.problem import Problem

#: The folder with a folder of templates for every engine, and the template that begins every script.
#:
#: :meta hide-value:
TEMPLATES = Path(__file__).with_name("templates")
#: What the dynamic loader says when the memory is too small for the program to start.
LOADER = ("cannot allocate memory", "failed to map segment from shared object")


@dataclass(frozen=True, kw_only=True, eq=False)
class Engine:
    """A computer-algebra system: the program, its language, its transcripts, and what it can be asked.

    It answers the tasks whose templates are in the folder of its name.

    Attributes:
        name: as the command line knows the engine.
        title: as people write the name.
        executable: the name of the program on PATH and in the wheels.
        variable: the environment variable that overrides the search for the program.
        version: the arguments with which the program states its version.
        suffix: the ending of script files and templates.
        comment: what begins a comment in a script.
        arguments: what stands between the program and the name of the script file.
        own_arguments: the same for scripts that agattn runs; ``arguments`` if empty.
        by_shell: whether scripts are for the shell, with the program as their argument, as for a program
            without a language; what they print :mod:`agattn.engines.msolve` reads.
        one_line: a script that prints ``agattn-ok`` and ends.
        out_of_memory: texts that the program prints when memory runs out, in small letters.
        error_marks: beginnings of lines that mean an error, whatever the exit status says.
        written: the text of a polynomial or of a variable in the language of the engine.
        answers: what the engine answers, in words.
        lacks: results of its tasks that the engine does not find.
        proves: whether answers over ℚ are proved.
    """

    name: str
    title: str
    executable: str
    variable: str
    version: tuple[str, ...] = ("--version",)
    suffix: str
    comment: str
    arguments: tuple[str, ...] = ()
    own_arguments: tuple[str, ...] = ()
    by_shell: bool = False
    one_line: str
    out_of_memory: tuple[str, ...]
    error_marks: tuple[str, ...] = ()
    written: Callable[[Any], str]
    answers: str = "everything"
    lacks: tuple[str, ...] = ()
    proves: bool = True

    @cached_property
    def tasks(self) -> frozenset[str]:
        """What the engine answers, at least in part: tasks, and ``model-TASK`` about any model."""
        templates = (TEMPLATES / self.name).glob(self.template("*"))
        return frozenset(template.name.partition(".")[0] for template in templates)

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


MACAULAY2 = Engine(
    name="macaulay2",
    title="Macaulay2",
    executable="M2",
    variable="AGATTN_M2",
    suffix="m2",
    comment="--",
    arguments=("--script",),
    # As by --script, but without a dozen packages: our scripts load the packages that they need, and start in
    # half the time.
    own_arguments=("-q", "--silent", "--stop", "--no-debug", "--no-prompts", "--no-preload"),
    one_line='print "agattn-ok"\n',
    out_of_memory=("out of memory", "memory exhausted", "bad_alloc", *LOADER),
    written=methodcaller("macaulay2"),
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
    out_of_memory=("no more memory", "out of memory", "memory exhausted", "bad_alloc", *LOADER),
    error_marks=("   ? ",),
    written=methodcaller("singular"),
)

MSOLVE = Engine(
    name="msolve",
    title="msolve",
    executable="msolve",
    variable="AGATTN_MSOLVE",
    suffix="sh",
    comment="#",
    by_shell=True,
    one_line="printf 'x\\n0\\nx-1\\n' > one.ms\n\"$1\" -f one.ms | grep -qF '[[[1, 1]]]' && echo agattn-ok\n",
    # msolve does not look whether it got memory, and dies; the shell then says one of these.
    out_of_memory=("segmentation fault", "aborted", *LOADER),
    written=attrgetter("name"),
    answers="questions about ideals, by elimination, and about critical points",
    lacks=("prime", "max-degree"),
    proves=False,  # msolve computes modulo primes and lifts
)

ENGINES = {engine.name: engine for engine in (MACAULAY2, SINGULAR, MSOLVE)}


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
        hint = nearest(name, choices, f"; use {', '.join(choices)}")
        raise InputError(f"there is no engine {text!r}{hint}")
    return name


def engine_named(name: str) -> Engine:
    """The engine that a name means, as :func:`engine_name` reads it."""
    return ENGINES[engine_name(name)]


def of_all(field: str, last: str = "and") -> str:
    """What each engine declares under one name, in words.

    >>> of_all("variable"), of_all("ending", "or")
    ('AGATTN_M2, AGATTN_SINGULAR and AGATTN_MSOLVE', '.m2, .sing or .sh')
    """
    *first, end = (getattr(engine, field) for engine in ENGINES.values())
    return f"{', '.join(first)} {last} {end}"


def able(form: str) -> list[Engine]:
    """The engines that answer a task, or ``model-TASK``, in the order in which they are asked.

    >>> [engine.name for engine in able("slice")]
    ['macaulay2', 'singular']
    """
    return [engine for engine in ENGINES.values() if form in engine.tasks]


def check_can(engine: Engine, problem: Problem) -> None:
    """Refuse a problem for which an engine has no script, or one of whose results it does not find.

    >>> from agattn import SingleLayer
    >>> from agattn.systems.catalogue import build
    >>> check_can(MSOLVE, build("slice", SingleLayer(2, 1)))
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: msolve has no script for slice: it answers questions about ideals, by
    elimination, and about critical points; use engine='macaulay2' or engine='singular'

    Raises:
        InputError: that says what the engine can do, and who can do this.
    """
    lacking = next((result.name for result in problem.results if result.name in engine.lacks), "")
    if problem.form not in engine.tasks:
        fault = f"has no script for {problem.task}{' of a model' if problem.form != problem.task else ''}"
    elif lacking:
        fault = f"does not find the result {lacking}"
    else:
        return
    others = [argument("engine", other.name) for other in able(problem.form) if other is not engine]
    raise InputError(f"{engine.title} {fault}: it answers {engine.answers}; use {' or '.join(others)}")


def refuse_characteristic(given: int) -> None:
    """Refuse the characteristic of a field without an engine."""
    if given:
        raise InputError(
            f"characteristic={given} is for an engine, and native results hold over ℚ; leave it out, or name "
            f"an engine: {', '.join(ENGINES)}"
        )
