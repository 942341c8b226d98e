"""Figures 2 and 3 of HMK, drawn with matplotlib; the same input gives the same file, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agattn.errors import InputError
from agattn.reports.figure3_numbers import Figure3Row
from agattn.reports.ternary_tree import leaves, ternary_tree, virtual_weight_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")

_INK, _BLUE, _RED = "#222222", "#2b6cb0", "#c05621"


def save(figure: Figure, path: Path) -> None:
    """Write a figure; the suffix of the path chooses the format.

    Raises:
        InputError: if the suffix is not one of :data:`SUFFIXES`, or the folder does not exist.
    """
    import matplotlib

    if path.suffix not in SUFFIXES:
        raise InputError(f"{path} does not end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist")
    # Without these, files would carry the date and random identifiers.
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}[
        path.suffix
    ]
    with matplotlib.rc_context({"svg.hashsalt": "agattn"}):
        figure.savefig(path, metadata=metadata, dpi=200, bbox_inches="tight")


def empty(width: float, height: float) -> tuple[Figure, Any]:
    """A figure of this size in inches, and its axes.

    Raises:
        InputError: if matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(
            "drawing needs matplotlib; install it with: pip install 'agattn[figures]'"
        ) from error
    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def draw_figure_2(l: int) -> Figure:  # the paper's l
    """The unrolled network of l layers as a ternary tree."""
    tree = ternary_tree(l)
    bottom = leaves(tree)
    x = {leaf: float(k) for k, leaf in enumerate(bottom)}
    for node in sorted((n for n in tree if n not in x), key=len, reverse=True):
        x[node] = sum(x[(*node, k)] for k in range(3)) / 3
    figure, axes = empty(max(4.0, 0.42 * len(bottom)), 1.0 + 1.1 * l)
    size = 9 if l <= 3 else 6
    for node, child in tree.edges:
        axes.plot([x[node], x[child]], [-len(node), -len(child)], color=_INK, linewidth=0.6, zorder=1)
    for node, data in tree.nodes(data=True):
        axes.text(
            x[node], -len(node), data["label"], ha="center", va="center", fontsize=size, zorder=2, color=_INK,
            bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": _INK, "linewidth": 0.6},
        )  # fmt: skip
        if "between" in data:
            level, transposed, gap = data["between"]
            middle = (x[(*node, gap)] + x[(*node, gap + 1)]) / 2
            axes.text(
                middle, -len(node) - 0.62, virtual_weight_label(level, transposed), ha="center", va="center",
                fontsize=size, color=_BLUE, zorder=3,
                bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"},
            )  # fmt: skip
    axes.set_axis_off()
    return figure


def draw_figure_3(rows: Sequence[Figure3Row]) -> Figure:
    """Computed and expected dimension against δ, and what single float32 trials give."""
    figure, axes = empty(5.6, 3.8)
    delta = [row.delta for row in rows]
    evidence = sorted({str(row.computed.evidence) for row in rows})
    axes.plot(
        delta, [row.expected for row in rows], color=_BLUE, linewidth=1.2, label="equation 16", zorder=1
    )
    axes.scatter(
        delta, [row.computed.dimension for row in rows], s=26, color=_INK, zorder=3,
        label=f"computed ({', '.join(evidence)})",
    )  # fmt: skip
    axes.scatter(
        delta, [row.float32 for row in rows], s=60, facecolors="none", edgecolors=_RED, zorder=2,
        label="one float32 trial",
    )  # fmt: skip
    axes.set_xlabel("δ")
    axes.set_ylabel("dimension")
    axes.set_xticks(delta)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
