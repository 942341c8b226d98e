"""All engines, in the order in which they are asked, and which engine a name means.

>>> [engine.title for engine in ENGINES.values()]
['Macaulay2', 'Singular', 'msolve']
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from agattn import evidence
from agattn.engines.engine import Engine
from agattn.engines.programs.macaulay2 import MACAULAY2
from agattn.engines.programs.msolve import MSOLVE
from agattn.engines.programs.singular import SINGULAR
from agattn.errors import InputError, argument, nearest

if TYPE_CHECKING:
    from agattn.systems.problem import Problem

ENGINES = {engine.name: engine for engine in (MACAULAY2, SINGULAR, MSOLVE)}
if differing := set(ENGINES) ^ set(evidence.ENGINES):
    raise TypeError(
        f"{', '.join(sorted(differing))} must stand in agattn.evidence.ENGINES, for the names in documents,"
        " and in agattn.engines.catalogue.ENGINES, for the declaration"
    )


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
    """The engine that a name means, as :func:`engine_name` reads it.

    Raises:
        InputError: if there is none.
    """
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
    return [engine for engine in ENGINES.values() if engine.has_script(form)]


def check_can(engine: Engine, problem: Problem) -> None:
    """Refuse a problem for which an engine has no script, or one of whose results it does not find.

    >>> from agattn import SingleLayer
    >>> from agattn.systems.catalogue import build
    >>> check_can(MSOLVE, build("slice", SingleLayer(2, 1)))
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: msolve has no script for slice: it answers questions about Groebner bases and
    systems with finitely many solutions; use --engine macaulay2 or --engine singular

    Raises:
        InputError: that says what the engine can do, and who can do this.
    """
    if lacking := engine.lacking(problem):
        others = [argument("engine", other.name) for other in able(problem.form) if other is not engine]
        raise InputError(f"{engine.title} {lacking}: it answers {engine.answers}; use {' or '.join(others)}")


def refuse_characteristic(given: int) -> None:
    """Refuse the characteristic of a field without an engine."""
    if given:
        raise InputError(
            f"characteristic={given} is for an engine, and native results hold over ℚ; leave it out, or name "
            f"an engine: {', '.join(ENGINES)}"
        )
