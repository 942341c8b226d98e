"""The closure order drawn: strata by dimension, a line where one is directly in the closure of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.strata.boundary import boundary
from agattn.geometry.strata.strata import Stratum, closure_order, image_dimension, stratum_outside
from agattn.geometry.strata.tangent import tangent_bounds

SMOOTH, SINGULAR, UNDECIDED = "#dcebf7", "#f6c6b6", "#eeeeee"


def draw_hasse_diagram(layer: SingleLayer, path: Path) -> None:
    """Draw the Hasse diagram of the strata, and of the real stratum outside M, into an image file.

    Higher means larger dimension. Filled red: singular in M̄; blue: smooth. A thick outline: on the boundary
    of M. The dotted box is the stratum of M̄(ℝ) outside M. The same layer gives the same bytes.

    Raises:
        InputError: if t = 1, if matplotlib is missing, or if the file cannot be written in the format that
            its name asks for.
    """
    order = closure_order(layer)

    def size(stratum: Stratum) -> int:
        return image_dimension(layer, stratum)

    try:
        import matplotlib
    except ImportError as error:
        raise InputError(
            "a Hasse diagram needs matplotlib; install it with: pip install 'agattn[figures]'"
        ) from error
    formats = {".svg", ".png", ".pdf"}
    if path.suffix not in formats:
        raise InputError(f"{path} does not end in one of {', '.join(sorted(formats))}")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    heights = {dimension: height for height, dimension in enumerate(sorted({*map(size, order)}))}
    # Across: r_V − r_A, and a little more for r, so that no edge runs through a third stratum.
    at = {s: (s.r_v - s.r_a + 0.31 * (s.r - max(s.r_v, s.r_a)), float(heights[size(s)])) for s in order}
    left, right = min(x for x, _ in at.values()), max(x for x, _ in at.values())
    outside = stratum_outside(layer)
    settings: Any = {"svg.hashsalt": "agattn", "svg.fonttype": "none", "font.size": 9}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(1.9 * (right - left) + 3.6, 0.7 * len(heights) + 1.0))
        axes = figure.add_axes((0.12, 0.03, 0.86, 0.87))
        for upper, lower in order.edges:
            axes.plot(*zip(at[upper], at[lower], strict=True), color="#888888", linewidth=0.9, zorder=1)
        for stratum, (x, y) in at.items():
            singular = tangent_bounds(layer, stratum).singular
            color = {True: SINGULAR, False: SMOOTH, None: UNDECIDED}[singular]
            edge = 2.2 if boundary(layer, stratum).on_boundary else 0.8
            box = {"boxstyle": "round,pad=0.35", "facecolor": color, "edgecolor": "black", "linewidth": edge}
            axes.text(
                x, y, "0" if stratum.is_zero else str(stratum), ha="center", va="center", bbox=box, zorder=2
            )
        if outside is not None:
            height, x = float(heights[size(outside)]), left - 1.0
            below = at[Stratum(1, 1, 1)]
            axes.plot(*zip((x, height), below, strict=True), color="#888888", linestyle=":", zorder=1)
            box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "black", "linestyle": ":"}
            axes.text(x, height, "Q definite", ha="center", va="center", bbox=box, zorder=2)
        axes.set_xlim(left - 1.5, right + 0.5)
        axes.set_ylim(-0.5, len(heights) - 0.5)
        axes.set_yticks(list(heights.values()), [f"dim {dimension}" for dimension in heights])
        axes.set_xticks([])
        for side in axes.spines.values():
            side.set_visible(False)
        axes.tick_params(length=0)
        figure.suptitle(f"{layer}\nred: singular, thick: boundary, dotted: outside M", fontsize=9, y=0.985)
        metadata: Any = {"Date": None} if path.suffix == ".svg" else {}
        if path.suffix == ".pdf":
            metadata = {"CreationDate": None}
        try:
            figure.savefig(path, metadata=metadata)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from error
