"""The closure order drawn: strata by dimension, a line where one is directly in the closure of another."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx

from agattn.architectures import SingleLayer
from agattn.geometry.strata.critical import boundary
from agattn.geometry.strata.strata import Stratum, closure_order, image_dimension, stratum_outside
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.reports.drawing import Drawable, Figure, empty

_COLOURS = {True: "#f6c6b6", False: "#dcebf7", None: "#eeeeee"}

#: The real stratum outside M.
_OUTSIDE = "Q definite"


@dataclass(frozen=True)
class HasseDiagram(Drawable):
    """The Hasse diagram of the strata, and of the real stratum outside M; higher means larger dimension."""

    layer: SingleLayer

    @property
    def words(self) -> str:
        """Which strata are directly in the closure of which."""
        order = closure_order(self.layer)
        below = {stratum: sorted(order.successors(stratum)) for stratum in order}
        pairs = (f"{above} above {', '.join(map(str, others))}" for above, others in below.items() if others)
        return f"Hasse diagram of the closure order: {'; '.join(pairs)}."

    @property
    def caption(self) -> str:
        """What the colours and outlines mean."""
        return (
            "The closure order of the strata. Red: singular; blue: smooth; thick outline: boundary of M; "
            "dotted outline: in the real Zariski closure, not in M."
        )

    def drawing(self) -> Figure:
        """The diagram on paper.

        Raises:
            InputError: if t = 1, or if matplotlib is missing.
        """
        layer = self.layer
        order, outside = closure_order(layer), stratum_outside(layer)
        size = {s: image_dimension(layer, s) for s in order}
        heights = {dimension: float(height) for height, dimension in enumerate(sorted({*size.values()}))}
        # Across: r_V − r_A, and a little more for r, so that no edge runs through a third stratum.
        places: dict[Stratum | str, tuple[float, float]] = {
            s: (s.r_v - s.r_a + 0.31 * (s.r - max(s.r_v, s.r_a)), heights[size[s]]) for s in order
        }
        left, right = min(x for x, _ in places.values()), max(x for x, _ in places.values())
        figure, axes = empty(1.25 * (right - left) + 3.0, 0.6 * len(heights) + 1.0)
        covers = sorted(order.edges)
        styles = ["-" for _ in covers]
        if outside is not None:
            places[_OUTSIDE] = (left - 1.0, heights[size[outside]])
            covers, styles = [*covers, (_OUTSIDE, Stratum(1, 1, 1))], [*styles, ":"]

        def box(at: tuple[float, float], text: str, colour: str, **outline: object) -> None:
            style = {"boxstyle": "round,pad=0.35", "facecolor": colour, "edgecolor": "black", **outline}
            axes.text(*at, text, ha="center", va="center", bbox=style, zorder=2, fontsize=12)

        axes.set_position((0.12, 0.03, 0.86, 0.87))
        nx.draw_networkx_edges(
            order, places, covers, width=0.9, edge_color="#888888", style=styles, arrows=False, ax=axes
        )
        for stratum in size:
            text = "0" if stratum.is_zero else str(stratum)
            width = 2.2 if boundary(layer, stratum).on_boundary else 0.8
            box(places[stratum], text, _COLOURS[tangent_bounds(layer, stratum).singular], linewidth=width)
        if outside is not None:
            box(places[_OUTSIDE], _OUTSIDE, "white", linestyle=":")
        axes.set(xlim=(left - 1.5, right + 0.5), ylim=(-0.5, len(heights) - 0.5), xticks=[])
        axes.set_yticks(list(heights.values()), [f"dim {dimension}" for dimension in heights], fontsize=12)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, labelleft=True)
        figure.suptitle(
            f"{layer}\nred: singular, blue: smooth, thick: boundary, dotted: outside M", fontsize=10, y=0.985
        )
        return figure
