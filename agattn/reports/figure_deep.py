"""A slice of a two-layer neuromanifold through a head of rank one, drawn with the limits that are not in it.

>>> figure = compute_figure_deep()
>>> figure.slice.equation
x*y - z
>>> print(figure.words.partition(". ")[0])
M(2,2,1; 2,2), t = 2, cut by an affine space of dimension 5
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from agattn.architectures import DeepNetwork
from agattn.evidence import Evidence
from agattn.geometry.sections.head_slice import DRAWN, HeadSlice, head_slice
from agattn.reports.draw_figure1 import Scene, SurfaceFigure, Words
from agattn.reports.figure1 import pretty
from agattn.reports.surface import Array, grid_triangles
from agattn.sheet.result import Count, Matrix, Meta, key

#: The weights c for which the functions with this skew part are drawn, from x = −1 to 1 or to y = ±1.
_SKEW = (0, 0.25, 0.5, 1, 2, 4, 10)


class FigureDeep(SurfaceFigure, tag=("figure", "deep")):
    """A slice of a network through a head of rank one: figure deep."""

    slice: HeadSlice

    @key
    def architecture(self) -> DeepNetwork:
        """The network."""
        return self.slice.network

    @key
    def weights(self) -> dict[str, Matrix]:
        """All virtual weights with a function in the slice, with unknowns e and q."""
        return {name: [list(row) for row in rows] for name, rows in self.slice.weights.items()}

    @key
    def dimension(self) -> Count:
        """The dimension of the affine space whose intersection with M is the surface."""
        return self.slice.dimension

    @key
    def span(self) -> list[list[Count]]:
        """The coordinates of this space on the surface, as powers of x and y."""
        return list(map(list, self.slice.span))

    @key(Meta(min_length=3, max_length=3))
    def coordinates(self) -> list[list[Count]]:
        """The coordinates that are drawn, x, y and z, as powers of x and y."""
        return list(map(list, DRAWN))

    @key
    def equation(self) -> str:
        """The equation of the surface in x, y and z."""
        return str(self.slice.equation)

    @key
    def limits(self) -> str:
        """Points of the surface that are limits of functions of the network, but no such functions."""
        return "x = 0, y ≠ 0"

    @key
    def evidence(self) -> Evidence:
        """How the result is known."""
        return self.slice.evidence

    @cached_property
    def scene(self) -> Scene:
        """What is drawn: the surface, curves of constant c, the line of limits, and the head of rank one."""

        def point(x: Array, y: Array) -> Array:
            return np.stack([x**i * y**j for i, j in DRAWN], axis=-1)

        grid, lines = np.linspace(-1, 1, 61), []
        for c in sorted({sign * c for c in _SKEW for sign in (1, -1)}):
            x = np.linspace(-1, 1, 81) / max(1, abs(c))
            lines.append(point(x, c * x))
        none, ends = np.zeros((0, 3)), point(np.zeros(2), np.array([-1.0, 1.0]))
        words = Words(
            "in M",
            "",
            "",
            "limits, which no weights reach",
            "a head of rank one",
            "weights with a fixed skew part of M₂",
        )
        return Scene(
            ("x", "y", "z"),
            self.slice.equation.latex(),
            1,
            (grid_triangles(point, grid, grid), np.zeros((0, 3, 3))),
            tuple(lines),
            ((False, ends),),
            (none, none),
            np.zeros((1, 3)),
            words,
            47,
        )

    @property
    def words(self) -> str:
        """The figure in words, for those who cannot see it."""
        return (
            f"{self.slice.network}, cut by an affine space of dimension {self.slice.dimension}. "
            f"Three of its coordinates are drawn: the surface {pretty(str(self.slice.equation))} = 0 "
            "without the line x = 0, but with the point 0. This is all of the slice. "
            "The point is a head of rank one, at which all skew parts of M₂ give one function, "
            "so that the curves of weights with a fixed one meet there. "
            "The other points of the line are limits of functions of the network, whose weights diverge, "
            "and no weights compute them."
        )

    @property
    def title(self) -> str:
        """What is drawn, in a line."""
        return f"A slice of {self.slice.network}, and limits that are not in it"

    @property
    def found_by(self) -> str:
        """How the equation, the weights and the limits are known."""
        return f"Equation, weights and limits: {self.evidence}."

    @property
    def note(self) -> str:
        """What is said of the figure beside its lines."""
        return f"{self.words} {str(self.evidence).capitalize()}."

    @property
    def lines(self) -> list[str]:
        """The network, the surface, all weights, and the limits."""
        matrices = ", ".join(
            f"{name} = ({'; '.join(' '.join(row) for row in rows)})"
            for name, rows in self.slice.weights.items()
        )
        return [
            f"network:   {self.slice.network}",
            f"surface:   {self.equation} = 0, in three of {self.dimension} coordinates",
            f"weights:   {matrices}, with x = e and y = -e*q, up to symmetries; there are no others",
            f"limits:    {self.limits}: no weights compute these",
        ]


def compute_figure_deep() -> FigureDeep:
    """Compute the slice, its equation and all weights whose functions are in it."""
    return FigureDeep(head_slice())
