"""What training found, drawn for a page of any width: one column, the name of a row above its marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from agattn.experiments.training import analysis
from agattn.experiments.training.analysis import Line
from agattn.reports.drawing import empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, RED, GREY, PURPLE = "#2b6cb0", "#c05621", "#c92a2a", "#4a4f57", "#7b2d8b"
#: The colour of a run by how it ended, with the name of the colour for captions.
ENDINGS = {
    "converged": (BLUE, "blue"), "unfinished": (ORANGE, "orange"), "diverged": (RED, "red"),
    "stiff": (GREY, "grey"), "sampled": (PURPLE, "purple"), "untrained": (PURPLE, "purple"),
}  # fmt: skip
#: Runs whose losses are drawn, of each experiment.
CURVES = 12
#: Inches: so wide is a figure that fills a page of 400 pixels with letters of 11 pixels.
_WIDTH = 4.6
#: Letters of a title over half of it.
_LONGEST = 26


class Interval(NamedTuple):
    """A value with the ends of its interval, and the colour in which it is drawn."""

    value: float
    low: float
    high: float
    colour: str = BLUE


class Row(NamedTuple):
    """A row of a figure: its name, and one mark or several below each other."""

    name: str
    marks: tuple[Interval, ...]


def draw_rows(
    rows: Sequence[Row], label: str, *, log: bool = False, legend: Mapping[str, str] | None = None
) -> Figure:
    """The values of each row as dots on their intervals.

    Args:
        rows: from top to bottom.
        label: of the axis; shares are drawn from 0 to 100 where it ends in %.
        log: whether the axis is logarithmic.
        legend: names by colour, where there are several.

    Raises:
        InputError: if matplotlib is missing.
    """
    lines = sum(1 + len(row.marks) for row in rows)
    figure, axes = empty(_WIDTH, 0.19 * lines + 0.75 + 0.25 * bool(legend))
    at = 0.0
    for row in rows:
        axes.text(
            0, at, row.name, transform=axes.get_yaxis_transform(), fontsize=9.5, va="center", parse_math=False
        )  # a name may have a $ in it
        for mark in row.marks:
            at += 1
            axes.plot([mark.low, mark.high], [at, at], color=mark.colour, linewidth=1.6)
            axes.plot([mark.value], [at], "o", color=mark.colour, markersize=5)
        at += 1
    axes.set_ylim(at - 0.4, -0.7)
    axes.set_yticks([])
    if log:
        axes.set_xscale("log")
    else:
        axes.locator_params(axis="x", nbins=5)
    if label.endswith("%"):
        axes.set_xlim(-2, 102)
    axes.set_xlabel(label, fontsize=10)
    axes.tick_params(labelsize=9.5)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "left", "right"]].set_visible(False)
    for name, colour in (legend or {}).items():
        axes.plot([], [], "o-", color=colour, label=name, linewidth=1.6, markersize=5)
    if legend:
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=len(legend),
            frameon=False,
            fontsize=9.5,
            borderaxespad=0,
        )
    return figure


def curves(run: Line) -> list[tuple[float, float]]:
    """The points of the loss over time that can be drawn with logarithms."""
    history = run["history"]
    return [(t, max(x, 1e-16)) for t, x in zip(history["time"], history["loss"], strict=True) if t > 0]


def with_curves(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """The experiments that have losses over time: those that were not trained have none."""
    groups = analysis.by_experiment(lines)
    return {name: runs for name, runs in groups.items() if any(map(curves, runs[:CURVES]))}


def draw_losses(lines: Sequence[Line]) -> Figure:
    """The loss over time, a panel for each experiment that has one, a curve for each of its first runs.

    Raises:
        InputError: if matplotlib is missing.
    """
    groups = with_curves(lines)
    columns = min(len(groups), 2)
    rows = -(-len(groups) // columns)
    figure, axes = empty(_WIDTH, 1.75 * rows + 0.3)
    axes.remove()
    panels: Any = figure.subplots(rows, columns, squeeze=False)
    for n, (name, runs) in enumerate(groups.items()):
        panel = panels[n // columns][n % columns]
        for run in runs[:CURVES]:
            if points := curves(run):
                panel.plot(
                    *zip(*points, strict=True), color=ENDINGS[run["outcome"]][0], linewidth=0.7, alpha=0.6
                )
        panel.set_xscale("log")
        panel.set_yscale("log")
        shown = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
        panel.set_title(shown, fontsize=9, parse_math=False, loc="left")  # a name may have a $ in it
        panel.tick_params(labelsize=8)
        panel.locator_params(axis="both", numticks=5)
        panel.spines[["top", "right"]].set_visible(False)
    for n in range(len(groups), rows * columns):
        panels[n // columns][n % columns].remove()
    figure.supxlabel("time", fontsize=9.5)
    figure.supylabel("loss", fontsize=9.5)
    figure.tight_layout()
    return figure
