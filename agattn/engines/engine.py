"""The engines agattn knows: where to look for them, how to start them, how they report trouble.

Adding an engine is one :class:`Engine` here and one template for each task.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from agattn.errors import InputError, nearest


@dataclass(frozen=True)
class Engine:
    """A computer-algebra system."""

    name: str  #: as the command line knows it
    title: str  #: as people write it
    executable: str  #: the program's name on PATH and in the wheels
    variable: str  #: the environment variable that overrides the search
    suffix: str  #: of script files and templates
    arguments: tuple[str, ...]  #: what stands between the program and the script's file name
    one_line: str  #: a script that prints ``agattn-ok`` and ends
    out_of_memory: tuple[str, ...]  #: texts it prints when memory runs out
    error_marks: tuple[str, ...]  #: line beginnings that mean an error, whatever the exit status says


# What the dynamic loader says when there is not even memory enough to start.
_LOADER = ("cannot allocate memory", "failed to map segment from shared object")

MACAULAY2 = Engine(
    name="macaulay2",
    title="Macaulay2",
    executable="M2",
    variable="AGATTN_M2",
    suffix="m2",
    arguments=("--script",),
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
    arguments=(),
    one_line="",
    out_of_memory=("out of memory", "memory exhausted", "bad_alloc", *_LOADER),
    error_marks=(),
)

ENGINES = {engine.name: engine for engine in (MACAULAY2, SINGULAR)}


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
