"""A task: one thing to find out about an architecture, by an engine, natively, or both.

Either way the value has the same type, so that two engines, or an engine and the native computation, are
compared by ``==``. Engines find their template by the task's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from agattn.architectures import Architecture
from agattn.evidence import Evidence, Source
from agattn.systems.problem import Answer, Explicit, Facts, Printed, Problem

A = TypeVar("A", bound=Architecture)

ENGINE = "engine"
"""Stands in :attr:`Task.parts` for the name and version of whichever engine is asked."""


@dataclass(frozen=True, eq=False)
class Task(Generic[A]):
    """Something to find out about an architecture.

    Attributes:
        name: as the command line knows it, such as ``"implicit-ideal"``.
        finds: what is found, in words that follow "nothing was asked about".
        about: the kind of architecture.
        native: computes the value without an engine; ``None`` if nothing native can.
        evidence: how a value that was computed natively is known; exact computations prove it.
        by: who finds the value without an engine: ``native``, or ``theorem`` where it is read off.
        infeasible: the reason why no engine is asked about an architecture (where there is only a native
            computation, why that is not tried), or an empty string. Scripts are written all the same.
        summary: one line for ``agattn emit --list``.
        title: of a script, with {M} for the architecture, and {to} for what the data have as ``to``.
        reference: the statement of the paper that it belongs to.
        results: what a script must print; none where only the native computation knows.
        data: what else the script needs, from the architecture and what was given by name.
        read: turns an engine's answer into the value.
        parts: who finds and who checks what, where an engine answers; see :data:`ENGINE`.
        too_large: what is too large for a script, in words, or an empty string.
        takes: what may be given: ``"points"``, ``"weights"``, ``"target"``, ``"slice"``, ``"max_degree"``,
            ``"prime"``, ``"components"``, ``"loss"``, ``"seed"``.
        one_token: whether the task makes sense for a single layer at t = 1.
        template: by what engines find their template, if not by the name, which another task may have.
        facts: what is known natively of the integers of an answer, asked before anything else.
        check: refuses an answer whose values do not fit each other or what is known, by ``TranscriptError``;
            where nothing is left to check, :class:`~agattn.systems.consistency.NoChecks` with the reason.
        explicit: the polynomials written out, for engines that have no language to build them in, and what
            their Gröbner bases say; ``None`` where these engines are not asked.

    Raises:
        TypeError: if engines are asked and there is no ``check``.
    """

    name: str
    finds: str
    about: type[A]
    native: Callable[[A], Any] | None = None
    evidence: Callable[[Any], Evidence] = lambda value: Evidence.PROVED
    by: str = "native"
    infeasible: Callable[[A], str] = lambda architecture: ""
    summary: str = ""
    title: str = ""
    reference: str = ""
    results: tuple[Printed, ...] = ()
    data: Callable[[A, Mapping[str, Any]], Mapping[str, Any]] = lambda architecture, given: {}
    read: Callable[[Answer], Any] = lambda answer: answer
    parts: tuple[Source, ...] = ()
    too_large: Callable[[A], str] = lambda architecture: ""
    takes: tuple[str, ...] = ()
    one_token: bool = True
    template: str = ""
    facts: Callable[[Problem], Facts] = lambda problem: iter(())
    check: Callable[[Answer], None] | None = None
    explicit: Explicit | None = None

    def __post_init__(self) -> None:
        if self.results and self.check is None:
            raise TypeError(
                f"the task {self.form} does not say how an answer is checked; give check, a function or"
                " NoChecks with the reason"
            )

    @property
    def form(self) -> str:
        """The name of the templates of the task."""
        return self.template or self.name

    def sources(self, engine: str = "") -> tuple[Source, ...]:
        """Who found what, where an engine answered, or the native computation if none is named."""
        if not engine:
            return (Source(self.finds, self.by),)
        parts = self.parts or (Source(self.finds, ENGINE),)
        return tuple(
            Source(s.part, s.found_by.replace(ENGINE, engine), s.checked_by.replace(ENGINE, engine))
            for s in parts
        )
