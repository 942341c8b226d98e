"""A polynomial problem, engine-neutral, and the answer to one.

A :class:`Problem` says what is asked about which layer or network over which field; an engine's template
turns it into a script. An :class:`Answer` holds what the engine printed, as exact integers and polynomials.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from agattn.algebra.polynomial import Polynomial, PolynomialRing
from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.geometry.sections.slices import Slice

Matrix = tuple[tuple[Fraction, ...], ...]


class Kind(Enum):
    """What a result is: one integer, or a list of polynomials."""

    INTEGER = "integer"
    POLYNOMIALS = "polynomials"


@dataclass(frozen=True)
class Result:
    """One result that a script must print.

    Attributes:
        name: such as ``"dimension"``.
        kind: an integer or polynomials.
        meaning: what it is, in a few words; becomes a comment in the script.
        per_point: printed once for each of the problem's points, under ``name@label``.
        per_item: printed once for each i = 1, ..., n under ``name@i``, where n is the integer of this name.
        ring: the ring of the polynomials.
    """

    name: str
    kind: Kind
    meaning: str
    per_point: bool = False
    per_item: str = ""
    ring: PolynomialRing | None = None


@dataclass(frozen=True)
class Point:
    """Weights (A, V) with exact entries, and a label such as ``"1,1,2"`` by which results name them.

    ``preimages`` lists all known preimages of φ up to scaling, (A, V) among them.
    """

    label: str
    A: Matrix
    V: Matrix
    preimages: tuple[tuple[Matrix, Matrix], ...] = ()

    @property
    def rank_data(self) -> tuple[int, ...]:
        """The label as integers, for points that represent a stratum (r_V, r_A, r)."""
        return tuple(int(part) for part in self.label.split(","))


@dataclass(frozen=True)
class Problem:
    """What to compute.

    Attributes:
        task: the name of the task, such as ``"implicit-ideal"``.
        title: what is computed, in one line.
        reference: the statement of the literature this belongs to.
        architecture: the layer or network.
        characteristic: 0 for ℚ, or a prime p for 𝔽_p.
        results: what a script must print, in order.
        points: the points at which something is computed.
        equations: polynomials that vanish on the neuromanifold, for bounds on its tangent spaces.
        target: all coordinates of a point of the ambient space, for membership.
        slice: an affine space of dimension three in the ambient space, to intersect with.
        virtual_weights: M_1, ..., M_l and L, where the task is about the fiber of a network over them.
        options: anything else the script needs, as name and integer.
        command: the command line that writes the script.
    """

    task: str
    title: str
    reference: str
    architecture: Architecture
    characteristic: int
    results: tuple[Result, ...]
    points: tuple[Point, ...] = ()
    equations: tuple[Polynomial, ...] = ()
    target: tuple[Fraction, ...] = ()
    slice: Slice | None = None
    virtual_weights: tuple[Matrix, ...] = ()
    options: Mapping[str, int] = field(default_factory=dict)
    command: str = ""

    @property
    def layer(self) -> SingleLayer:
        """The architecture, for tasks about a single layer.

        Raises:
            TypeError: if the task is about a network.
        """
        if not isinstance(self.architecture, SingleLayer):
            raise TypeError(f"{self.task} is about the network {self.architecture}, not about a single layer")
        return self.architecture

    @property
    def network(self) -> DeepNetwork:
        """The architecture, for tasks about a network.

        Raises:
            TypeError: if the task is about a single layer.
        """
        if not isinstance(self.architecture, DeepNetwork):
            raise TypeError(f"{self.task} is about the layer {self.architecture}, not about a network")
        return self.architecture

    @property
    def digest(self) -> str:
        """A fingerprint of the question, which the script prints back: no answer is taken for another's."""
        question: dict[str, object] = {
            "task": self.task,
            "layer": self.architecture.as_json(),
            "characteristic": self.characteristic,
            "points": [(p.label, _plain(p.A), _plain(p.V)) for p in self.points],
            "equations": [f.macaulay2() for f in self.equations],
            "target": [str(value) for value in self.target],
            "options": dict(self.options),
        }
        if self.slice is not None:
            question["slice"] = _plain((self.slice.origin, *self.slice.directions))
        if self.virtual_weights:
            question["virtual_weights"] = [_plain(matrix) for matrix in self.virtual_weights]
        text = json.dumps(question, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def field_name(self) -> str:
        """ℚ or 𝔽_p, in ASCII: ``"QQ"`` or ``"ZZ/p"``."""
        return f"ZZ/{self.characteristic}" if self.characteristic else "QQ"


@dataclass(frozen=True)
class Answer:
    """What an engine answered: exact integers and polynomials by result name.

    Results for a point or an item are keyed ``name@label``.
    """

    problem: Problem
    integers: Mapping[str, int]
    polynomials: Mapping[str, tuple[Polynomial, ...]]

    def at_points(self, name: str) -> dict[str, int]:
        """An integer result by point label."""
        return {point.label: self.integers[f"{name}@{point.label}"] for point in self.problem.points}

    def as_json(self) -> dict[str, object]:
        """The answer as JSON-ready data; polynomials in Macaulay2's syntax."""
        polynomials = {name: [f.macaulay2() for f in fs] for name, fs in self.polynomials.items()}
        return {"field": self.problem.field_name, **self.integers, **polynomials}


def matrix(rows: object) -> Matrix:
    """Nested sequences of ints and Fractions as a hashable exact matrix.

    >>> matrix([[1, 2], [0, 1]])[0]
    (Fraction(1, 1), Fraction(2, 1))
    """
    return tuple(tuple(Fraction(entry) for entry in row) for row in rows)  # type: ignore[attr-defined]


def _plain(rows: Matrix) -> list[list[str]]:
    return [[str(entry) for entry in row] for row in rows]
