"""What a calibration found: a page with tables, and pictures of the bias of SGLD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agattn.experiments.calibration.calibration import RIGHT, Line, relative_error, rules
from agattn.reports.document import Document, Section, markdown
from agattn.reports.drawing import empty
from agattn.sheet.data import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("#2b6cb0", "#c05621", "#2f9e57", "#7b2d8b")


def estimates_table(lines: Sequence[Line]) -> Table:
    """A row for each point that was sampled: λ, and both estimates with their relative errors."""
    found: dict[int, list[Line]] = {}
    for line in lines:
        if line["method"] in ("chains", "volumes"):
            found.setdefault(line["point"], []).append(line)
    rows = []
    for number, both in found.items():
        row = [str(number), both[0]["name"], both[0]["lambda"], str(both[0]["multiplicity"])]
        for line in both:
            off = relative_error(line) or 0.0
            row += [f"{line['estimate']:.3f} ± {line['standard_error']:.3f}", f"{100 * off:+.1f} %"]
        rows.append((*row, *[""] * (8 - len(row))))
    return Table("Estimates", ("", "point", "λ", "m", "chains", "off by", "volumes", "off by"), tuple(rows))


def settings_table(lines: Sequence[Line], most: int | None = None) -> Table:
    """Rules of choosing nβ, γ and ε, the best first, and at how many points they were right."""
    rows = tuple(
        (rule.name, f"{rule.right} of {rule.points}", str(rule.diverged), _percent(rule.median_error))
        for rule in rules(lines)[:most]
    )
    return Table("Settings", ("setting", f"within {100 * RIGHT:g} %", "diverged", "median error"), rows)


def _percent(error: float) -> str:
    return "diverged" if error == float("inf") else f"{100 * error:.0f} %"


def energies_table(lines: Sequence[Line]) -> Table:
    """A row for each point with a free energy: λ, m, and the slope in log n with its relative error."""
    rows = []
    for line in lines:
        if line["method"] == "free-energy":
            off = f"{100 * (relative_error(line) or 0.0):+.1f} %"
            found = f"{line['estimate']:.3f} ± {line['standard_error']:.3f}"
            rows.append(
                (str(line["point"]), line["name"], line["lambda"], str(line["multiplicity"]), found, off)
            )
    return Table("Slopes of free energies", ("", "point", "λ", "m", "slope", "off by"), tuple(rows))


def tables(lines: Sequence[Line], most: int | None = None) -> list[Table]:
    """All tables that have rows; of SGLD the best settings, at most so many."""
    return [
        table
        for table in (estimates_table(lines), settings_table(lines, most), energies_table(lines))
        if table.rows
    ]


def calibration_page(lines: Sequence[Line], command: str) -> str:
    """The results as Markdown."""
    made = f"Made by `{command}`. Every estimate is numerical; ± is one standard error."
    titles = {"Estimates": "Points", "Settings": "SGLD, the best settings first"}
    sections = []
    for table in tables(lines):
        caption = str(table.caption)
        sections.append(Section(titles.get(caption, caption), (table,)))
    return markdown(Document("Calibration", made, tuple(sections), clock=""))


def draw_bias(lines: Sequence[Line]) -> Figure:
    """SGLD's estimates divided by λ, a dot for each point: a panel for each nβ and γ, with the step ε below.

    Those above 3 lie on the upper edge, and where chains diverged there is a cross.

    Raises:
        InputError: if matplotlib is missing.
    """
    used = [line for line in lines if line["method"] == "sgld"]
    n_betas, gammas, steps = (sorted({line[key] for line in used}) for key in ("n_beta", "gamma", "step"))
    names = sorted({line["point"] for line in used})
    figure, axes = empty(3.2 * len(gammas), 2.4 * len(n_betas))
    axes.remove()
    panels = figure.subplots(len(n_betas), len(gammas), sharex=True, sharey=True, squeeze=False)
    for line in used:
        panel = panels[n_betas.index(line["n_beta"])][gammas.index(line["gamma"])]
        x = steps.index(line["step"]) + 0.6 * (names.index(line["point"]) + 0.5) / len(names) - 0.3
        off = relative_error(line)
        colour = _COLOURS[steps.index(line["step"]) % len(_COLOURS)]
        wrong = off is None
        panel.scatter(
            [x],
            [3.0 if off is None else min(1 + off, 3.0)],
            s=14,
            color=colour,
            marker="x" if wrong else "o",
            clip_on=False,
        )
    for i, n_beta in enumerate(n_betas):
        for j, gamma in enumerate(gammas):
            panel = panels[i][j]
            panel.axhline(1, color="0.6", linewidth=0.8)
            panel.set_title(f"nβ = {n_beta:g}, γ = {gamma:g}", fontsize=9)
            panel.set_xticks(range(len(steps)), [f"{step:g}" for step in steps], fontsize=8)
            panel.set_ylim(0, 3)
            panel.spines[["top", "right"]].set_visible(False)
    for panel in panels[-1]:
        panel.set_xlabel("step ε")
    for row in panels:
        row[0].set_ylabel("estimate / λ")
    figure.tight_layout()
    return figure
