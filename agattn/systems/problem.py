"""A task, the polynomial problem that it puts to engines, and the answer to one.

A :class:`Task` is one thing to find out about an architecture, by an engine, natively, or both. Either way
the value has the same type, so that two engines, or an engine and the native computation, are compared by
``==``. Engines find their template by the task's name.

A :class:`Problem` says what is asked about which architecture over which field; an engine's template turns it
into a script. An :class:`Answer` holds what the engine printed, as exact integers and polynomials.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.architectures import Architecture, SingleLayer
from agattn.architectures.layered import Layered, check_arrays
from agattn.evidence import Evidence, Source
from agattn.limits import check_sizes

if TYPE_CHECKING:
    from agattn.geometry.strata.strata import Stratum

PAPER = "Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention (arXiv 2408.17221v2)"

Matrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Printed:
    """One result that a script must print: an integer, or where it has a ring, a list of polynomials.

    Attributes:
        name: such as ``"dimension"``.
        meaning: what it is, in a few words; becomes a comment in the script.
        per_point: printed once for each of the problem's points, under ``name@label``.
        per_item: printed once for each i = 1, ..., n under ``name@i``, where n is the integer of this name.
        where: printed only if the problem's data has something true of this name.
        ring: the ring of the polynomials; in a task, a function of the architecture and the problem's data.
    """

    name: str
    meaning: str
    per_point: bool = False
    per_item: str = ""
    where: str = ""
    ring: Any = None


@dataclass(frozen=True)
class Point:
    """Weights (A, V) with exact entries.

    Attributes:
        A: a matrix of size d × d.
        V: a matrix of size d' × d.
        preimages: all known preimages of φ up to scaling, (A, V) among them.
        ranks: of the orbit that the point stands for; ``None`` for a point that the user gave.
    """

    A: Matrix
    V: Matrix
    preimages: tuple[tuple[Matrix, Matrix], ...] = ()
    ranks: Stratum | None = None

    @property
    def label(self) -> str:
        """By what results name the point: such as ``"1,1,2"``, or ``"point"``."""
        return "point" if self.ranks is None else str(self.ranks).strip("()")


@dataclass(frozen=True)
class Problem:
    """What to compute.

    Attributes:
        origin: the task that puts the problem.
        architecture: the layer or network.
        results: what a script must print, in order.
        command: the command line that writes the script.
        data: what else the script needs, by name: ``points`` at which something is computed, ``equations``
            that vanish on the neuromanifold, ``max_degree``, and so on as the task has it.
        characteristic: 0 for ℚ, or a prime p for 𝔽_p.
    """

    origin: Task[Any]
    architecture: Architecture
    results: tuple[Printed, ...]
    command: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    characteristic: int = 0

    @property
    def task(self) -> str:
        """The name of the task, such as ``"implicit-ideal"``."""
        return self.origin.name

    @property
    def form(self) -> str:
        """The name of the templates."""
        return self.origin.form

    @property
    def title(self) -> str:
        """What is computed, in one line."""
        # A layer is asked about as a model if it has one token, which its name does not say.
        more = ", t = 1" if self.form != self.task and isinstance(self.architecture, SingleLayer) else ""
        return self.origin.title.format(M=self.architecture.name + more, to=self.data.get("to", ""))

    @property
    def reference(self) -> str:
        """The statement of the literature that this belongs to."""
        return f"{PAPER}, {self.origin.reference}" if self.origin.reference else ""

    @property
    def layer(self) -> SingleLayer:
        """The architecture, in tasks about a single layer."""
        return cast(SingleLayer, self.architecture)

    @property
    def systems(self) -> dict[str, Explicit]:
        """The polynomial systems that answer the problem together, by name."""
        return {system.name: system for system in self.origin.systems(self)}

    @property
    def points(self) -> tuple[Point, ...]:
        """The points at which something is computed; none where the task has none."""
        return tuple(self.data.get("points", ()))

    @property
    def digest(self) -> str:
        """A fingerprint of the question, which the script prints back: no answer is taken for another's."""
        from hashlib import sha256  # and OpenSSL

        question = [self.task, self.architecture.as_json(), self.characteristic, self.data]
        text = json.dumps(question, sort_keys=True, default=lambda x: vars(x) if is_dataclass(x) else str(x))
        return sha256(text.encode()).hexdigest()[:16]

    @property
    def is_exact(self) -> bool:
        """Whether ranks at rational points are those over ℚ; modulo a prime they may be smaller."""
        return not self.characteristic

    @property
    def field_name(self) -> str:
        """ℚ or 𝔽_p, in ASCII: ``"QQ"`` or ``"ZZ/p"``."""
        return f"ZZ/{self.characteristic}" if self.characteristic else "QQ"

    def numbers(self) -> Iterator[Fraction]:
        """All rational numbers in the data."""
        waiting: list[Any] = list(self.data.values())
        while waiting:
            value = waiting.pop()
            if isinstance(value, Fraction):
                yield value
            elif isinstance(value, Polynomial):
                yield from map(Fraction, value.terms.values())
            elif is_dataclass(value):
                waiting += vars(value).values()
            elif isinstance(value, tuple):
                waiting += value


@dataclass(frozen=True)
class Answer:
    """What an engine answered: exact integers and polynomials by result name.

    Results for a point or an item are keyed ``name@label``.
    """

    problem: Problem
    integers: Mapping[str, int]
    polynomials: Mapping[str, tuple[Polynomial, ...]]

    @classmethod
    def of(cls, problem: Problem, values: Mapping[str, Any]) -> Answer:
        """The answer with these values of results."""
        integers = {name: value for name, value in values.items() if isinstance(value, int)}
        return cls(problem, integers, {name: values[name] for name in values if name not in integers})

    def at(self, label: object, *names: str) -> list[int]:
        """Integer results for one point or item."""
        return [self.integers[f"{name}@{label}"] for name in names]

    def at_points(self, name: str) -> dict[str, int]:
        """An integer result by point label."""
        return {point.label: self.integers[f"{name}@{point.label}"] for point in self.problem.points}

    def by_ranks(self, *names: str) -> dict[Stratum, list[int]]:
        """Integer results by the ranks of the points that stand for orbits."""
        return {point.ranks: self.at(point.label, *names) for point in self.problem.points if point.ranks}

    def as_json(self) -> dict[str, object]:
        """The answer as JSON-ready data; polynomials in Macaulay2's syntax, and what y_k are if known."""
        lists = {name: [f.macaulay2() for f in fs] for name, fs in self.polynomials.items()}
        if lists and (meanings := self.problem.data.get("coordinates")):
            lists["coordinates"] = [f"y_{k}: {meaning}" for k, meaning in enumerate(meanings, 1)]
        return {"field": self.problem.field_name, **self.integers, **lists}


class Fact(NamedTuple):
    """An integer of an answer is from ``low`` to ``high``; ``what`` says in words what the integer is."""

    low: int
    high: float
    what: str


Facts = Iterator[tuple[str, Fact]]


Polynomials = tuple[Polynomial, ...]


class Explicit(NamedTuple):
    """Polynomials written out, of whose ideal a Gröbner basis is asked.

    Attributes:
        name: by which the answer is known.
        polynomials: at least one, of one ring over the field of the problem.
        eliminated: how many variables, the first ones, the basis is to be without.
    """

    name: str
    polynomials: Polynomials
    eliminated: int = 0

    @property
    def ring(self) -> PolynomialRing:
        """The ring of the polynomials."""
        return self.polynomials[0].ring


def lifted(f: Polynomial, ring: PolynomialRing) -> Polynomial:
    """A polynomial in a ring that has more variables, after its own."""
    more = (0,) * (len(ring) - len(f.ring))
    return ring.from_terms({(*exponents, *more): c for exponents, c in f.terms.items()})


def graph(values: Sequence[Polynomial], coordinates: Iterable[Variable], p: int) -> Explicit:
    """The ideal of the graph of a map by its coordinates; without its own variables that of the image.

    >>> from agattn import SingleLayer
    >>> from agattn.systems.catalogue import build
    >>> build("implicit-ideal", SingleLayer(1, 1)).systems["graph"]
    Explicit(name='graph', polynomials=(-a_(1,1) + y_(1,1,1,1),), eliminated=2)
    """
    own = values[0].ring.variables
    ring = PolynomialRing((*own, *coordinates), p)
    pairs = zip(ring.gens[len(own) :], values, strict=True)
    return Explicit("graph", tuple(y - lifted(value, ring) for y, value in pairs), len(own))


def matrix(rows: Any) -> Matrix:
    """Nested sequences of ints and Fractions as a hashable exact matrix.

    >>> matrix([[1, 2], [0, 1]])[0]
    (Fraction(1, 1), Fraction(2, 1))
    """
    return tuple(tuple(Fraction(entry) for entry in row) for row in rows)


#: Linear algebra in more coordinates would fill the memory.
MAX_LINEAR_COORDINATES = 1000
#: Identities of networks are checked with exact matrices of t × t entries: minutes for 300 tokens.
MAX_TOKENS = 100


def check_size(architecture: Architecture) -> None:
    """Refuse an architecture that is too large for what is computed natively.

    Raises:
        TooLargeError: if it has more than 1000 coordinates, or where it has none more than 20,000 parameters
            or 100 tokens, or arrays that would fill the memory.
    """
    if (coordinates := architecture.ambient_dimension) is not None:
        sizes = [(coordinates, "coordinates", MAX_LINEAR_COORDINATES)]
    else:
        from agattn.geometry.dimension.jacobian import MAX_PARAMETERS  # which layers do without

        sizes = [
            (architecture.parameters, "parameters", MAX_PARAMETERS),
            (architecture.t, "tokens", MAX_TOKENS),
        ]
    check_sizes(architecture.name, *sizes)
    if isinstance(architecture, Layered):
        check_arrays(architecture)


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
        data: what else the script needs; what may be given are its parameters after the architecture, such
            as ``points`` or ``max_degree``.
        read: turns an engine's answer into the value.
        parts: who finds and who checks what, where an engine answers; see :data:`ENGINE`.
        too_large: what is too large for a script, in words, or an empty string.
        seeded: whether a seed draws something of the data.
        one_token: whether the task makes sense for a single layer at t = 1.
        facts: what is known natively of the integers of an answer, asked before anything else.
        check: refuses an answer whose values do not fit each other or what is known, by ``TranscriptError``;
            where nothing is left to check, :class:`~agattn.systems.consistency.NoChecks` with the reason.
        systems: the polynomials written out, for engines that have no language to build them in; none where
            these engines are not asked.
        values: the values of an answer by name, from the Gröbner bases of these systems.

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
    data: Callable[..., Mapping[str, Any]] = lambda architecture: {}
    read: Callable[[Answer], Any] = lambda answer: answer
    parts: tuple[Source, ...] = ()
    too_large: Callable[[A], str] = lambda architecture: ""
    seeded: bool = False
    one_token: bool = True
    facts: Callable[[Problem], Facts] = lambda problem: iter(())
    check: Callable[[Answer], None] | None = None
    systems: Callable[[Problem], Iterable[Explicit]] = lambda problem: ()
    values: Callable[[Mapping[str, Any], Problem], dict[str, Any]] = lambda bases, problem: {}

    def __post_init__(self) -> None:
        if self.results and self.check is None:
            raise TypeError(
                f"the task {self.form} does not say how an answer is checked; give check, a function or"
                " NoChecks with the reason"
            )

    @property
    def takes(self) -> tuple[str, ...]:
        """What may be given besides the architecture."""
        _, *parameters = inspect.signature(self.data).parameters
        return (*parameters, *["seed"] * self.seeded)

    @property
    def form(self) -> str:
        """The name of the templates; ``model-TASK`` for a task about any model."""
        return f"model-{self.name}" if self.about is object else self.name

    def sources(self, engine: str = "") -> tuple[Source, ...]:
        """Who found what, where an engine answered, or the native computation if none is named."""
        if not engine:
            return (Source(self.finds, self.by),)
        parts = self.parts or (Source(self.finds, ENGINE),)
        return tuple(
            Source(s.part, s.found_by.replace(ENGINE, engine), s.checked_by.replace(ENGINE, engine))
            for s in parts
        )
