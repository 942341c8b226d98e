"""What training found: the findings first, in sentences; then a figure for each, and the numbers folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from agattn.experiments.training import analysis
from agattn.experiments.training.analysis import Line
from agattn.experiments.training.experiment import read_experiments
from agattn.reports.document import Attachment, Block, Document, Folded, Picture, Section, Text
from agattn.reports.drawing import as_file
from agattn.reports.training_figures import CURVES, ENDINGS, curves, draw_losses, with_curves
from agattn.reports.training_findings import Observation, findings
from agattn.reports.training_tables import findings_table
from agattn.sheet.data import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Training: the results"


def training_report(lines: Sequence[Line], config: str, command: str, pictures: bool = True) -> Document:
    """The document about some runs.

    Args:
        lines: as ``agattn train`` prints them.
        config: the text of the file of experiments.
        command: that made the lines.
        pictures: whether to draw, which needs matplotlib.
    """
    experiments = read_experiments(config)
    found = findings(lines, experiments)
    groups, ends = analysis.by_experiment(lines), analysis.outcomes(lines)
    told = ", ".join(f"{number} {word}" for word, number in ends.most_common())
    summary = (
        f"{len(lines)} runs of {len(groups)} experiment{'s' * (len(groups) != 1)}: {told}. "
        "All numbers are numerical; the intervals are Wilson's, at 95 %."
    )
    said = tuple(Text(f"{one.said} {one.terms}", lead=one.title) for one in found)
    sections = [Section("What came out", (*said, *_folded(findings_table(lines, experiments))))]
    sections += [Section(one.title, _shown(one, pictures)) for one in found]
    if pictures and with_curves(lines):
        sections.append(Section("Loss over time", (Folded("The curves", (_losses(lines),)),)))
    again = (
        Text(f"{command}, with this file:"),
        Attachment("experiments.toml", config, "the file of experiments"),
    )
    sections.append(Section("How to do it again", again))
    return Document(TITLE, summary, tuple(sections), clock="")


def _shown(finding: Observation, pictures: bool) -> tuple[Block, ...]:
    """The figure of a finding, and its numbers folded."""
    drawn = (_picture(finding.file, finding.draw, finding.caption),) if pictures else ()
    return (*drawn, *_folded(finding.table))


def _folded(table: Table | None) -> tuple[Block, ...]:
    """A table behind its caption; nothing if it is empty."""
    if table is None or not table.rows:
        return ()
    return (
        Folded(f"Table: {table.caption} ({len(table.rows)} row{'s' * (len(table.rows) != 1)})", (table,)),
    )


def _picture(name: str, draw: Callable[[], Figure], caption: str) -> Picture:
    return Picture(name, as_file(draw(), ".svg"), caption, caption)


def _losses(lines: Sequence[Line]) -> Picture:
    """The losses over time, with the colours that occur named."""
    groups = with_curves(lines)
    drawn = {run["outcome"] for runs in groups.values() for run in runs[:CURVES] if curves(run)}
    colours = ", ".join(f"{colour}: {word}" for word, (_, colour) in ENDINGS.items() if word in drawn)
    caption = f"Loss over time of the first {CURVES} runs of each experiment. {colours.capitalize()}."
    if missing := len(analysis.by_experiment(lines)) - len(groups):
        caption += f" Not drawn, as nothing was trained: {missing} of {len(groups) + missing} experiments."
    return _picture("losses.svg", partial(draw_losses, lines), caption)
