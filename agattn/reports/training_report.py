"""The report of training: the sheet of the runs, and one figure of losses and ranks over time."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from agattn.experiments.training.training import Line, runs_sheet
from agattn.reports.document import Attachment, Block, Document, Picture, Section, Text
from agattn.reports.drawing import as_file, empty
from agattn.sheet.data import Note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Training: the results"
#: The colour of a run by how it ended.
COLOURS = {
    "converged": ("blue", "#2b6cb0"), "unfinished": ("orange", "#c05621"), "diverged": ("red", "#c92a2a"),
    "stiff": ("grey", "#4a4f57"), "sampled": ("purple", "#7b2d8b"),
}  # fmt: skip
#: Runs that are drawn, of each experiment.
CURVES = 12
#: Letters of a title over half of the figure.
_LONGEST = 26


def training_report(lines: Sequence[Line], config: str, command: str) -> Document:
    """The document about some runs; without a figure where matplotlib is missing.

    Args:
        lines: as ``agattn train`` prints them.
        config: the text of the file of experiments.
        command: that made the lines.
    """
    blocks: list[Block] = [
        Text(part.text) if isinstance(part, Note) else part for part in runs_sheet(lines).parts
    ]
    sections = [Section("Where runs end", tuple(blocks))]
    drawn = drawn_runs(lines)
    if drawn and find_spec("matplotlib") is not None:
        outcomes = {run["outcome"] for runs in drawn.values() for run in runs}
        colours = ", ".join(f"{name}: {word}" for word, (name, _) in COLOURS.items() if word in outcomes)
        caption = (
            f"The first {CURVES} runs of each experiment over time. Left: the loss. Right: σ₂/σ₁ of A, by "
            f"layer, of the head where it is least. {colours.capitalize()}."
        )
        picture = Picture("runs.svg", as_file(draw_runs(drawn), ".svg"), caption, caption)
        sections.append(Section("Loss and ranks over time", (picture,)))
    again = Text(f"{command}, with this file:"), Attachment("experiments.toml", config, "the experiments")
    sections.append(Section("How to do it again", again))
    count = len({line["experiment"] for line in lines})
    summary = f"{len(lines)} runs of {count} experiment{'s' * (count != 1)}. All numbers are numerical."
    return Document(TITLE, summary, tuple(sections), clock="")


def drawn_runs(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """The first runs of each experiment that was trained."""
    groups: dict[str, list[Line]] = {}
    for line in lines:
        runs = groups.setdefault(line["experiment"], [])
        if line["outcome"] in COLOURS and len(runs) < CURVES:
            runs.append(line)
    return {name: runs for name, runs in groups.items() if runs}


def draw_runs(groups: dict[str, list[Line]]) -> Figure:
    """A row for each experiment: the loss over time, and the least σ₂/σ₁ of A in each layer.

    Raises:
        InputError: if matplotlib is missing.
    """
    figure, axes = empty(4.6, 1.6 * len(groups) + 0.3)
    axes.remove()
    panels: Any = figure.subplots(len(groups), 2, squeeze=False)
    for row, (name, runs) in zip(panels, groups.items(), strict=True):
        for run in runs:
            history, colour = run["history"], COLOURS[run["outcome"]][1]
            ratios = history.get("second_singular_value", [])
            for panel, values in ((row[0], history["loss"]), *((row[1], layer) for layer in ratios)):
                points = [(t, x) for t, x in zip(history["time"], values, strict=True) if t > 0]
                sizes = [float("nan") if x is None else max(x, 1e-16) for _, x in points]
                panel.plot([t for t, _ in points], sizes, color=colour, linewidth=0.7, alpha=0.6)
        shown = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
        row[0].set_title(shown, fontsize=9, parse_math=False, loc="left")  # a name may have a $ in it
        row[1].set_title("σ₂/σ₁", fontsize=9, loc="left")
        row[1].set_ylim(1e-17, 2)
        for panel in row:
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.tick_params(which="both", labelsize=8)
            panel.locator_params(axis="both", numticks=5)
            panel.spines[["top", "right"]].set_visible(False)
            if not panel.lines:
                panel.remove()
    figure.supxlabel("time", fontsize=9.5)
    figure.tight_layout()
    return figure
