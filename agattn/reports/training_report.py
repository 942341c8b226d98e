"""What training found: a page of tables and pictures, for any experiments."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from agattn.experiments.training import analysis
from agattn.experiments.training.analysis import Frequency, Line
from agattn.experiments.training.experiment import Experiment, read_experiments
from agattn.experiments.training.losses import single_layer
from agattn.geometry.learning_coefficients.learning_coefficients import LearningCoefficient, least_point
from agattn.geometry.strata.strata import Stratum, image_dimension, strata
from agattn.reports.document import Attachment, Block, Document, Picture, Section, Text
from agattn.reports.drawing import empty, image, save
from agattn.sheet.data import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


TITLE = "Training: the results"
#: The most curves in a panel.
_CURVES = 12


def endings_table(lines: Sequence[Line]) -> Table:
    """A row for each experiment: how its runs ended, the largest drift, and the zeros of the Hessian."""
    rows = []
    for name, runs in analysis.by_experiment(lines).items():
        ends = ", ".join(f"{number} {word}" for word, number in analysis.outcomes(runs).most_common())
        zeros = analysis.zeros(runs)
        learned = analysis.frequency(runs, lambda line: line["loss"] <= analysis.LEARNED)
        fibers = {line["fiber_dimension"] for line in runs} - {None}
        matching = f"{zeros.successes} of {zeros.n}" if zeros.n and fibers else "–"
        followed = [line["drift"] for line in runs if line["outcome"] not in ("stiff", "untrained")]
        drift = f"{max(followed):.1e}" if followed else "–"
        rows.append((name, str(len(runs)), ends, str(learned), drift, matching))
    columns = ("experiment", "runs", "ended", "learned", "drift at most", "zeros = fiber")
    return Table("How runs ended", columns, tuple(rows))


def strata_table(lines: Sequence[Line]) -> Table:
    """A row for each experiment and stratum: how many runs end there, and how many pass near it."""
    rows = []
    for name, runs in analysis.by_experiment(lines).items():
        ends, passes = analysis.ends(runs), analysis.passes(runs)
        number = next(iter(ends.values()), Frequency(0, 0)).n
        for stratum in sorted({*ends, *passes}):
            near = str(passes[stratum]) if stratum in passes else "–"
            rows.append((name, stratum, str(ends.get(stratum, Frequency(0, number))), near))
    columns = ("experiment", "stratum", "end there", f"pass within {100 * analysis.NEAR:g} %")
    return Table("Strata", columns, tuple(rows))


def heads_table(lines: Sequence[Line]) -> Table:
    """A row for each experiment and layer: how often A has rank one, and σ₂/σ₁, at the start and the end."""
    rows = []
    for name, runs in analysis.by_experiment(lines).items():
        found = zip(analysis.rank_one_heads(runs), analysis.second_singular_values(runs), strict=True)
        for layer, (both, ratios) in enumerate(found, 1):
            medians = [f"{analysis.quartiles(values)[1]:.2g}" for values in zip(*ratios, strict=True)]
            rows.append((name, str(layer), *map(str, both), " → ".join(medians)))
    title = f"Heads with σ₂/σ₁ of A at most {analysis.RANK_ONE:g}"
    return Table(title, ("experiment", "layer", "at the start", "in the end", "median of σ₂/σ₁"), tuple(rows))


def findings_table(lines: Sequence[Line], experiments: Sequence[Experiment]) -> Table:
    """What the runs answer, null results as such: whether they end at singular points, and what heads do.

    Frequencies differ where their intervals at 95 % do not meet. Teachers that are singular themselves, or
    have heads of rank one, are left out.
    """
    ends, heads = [], []
    groups = analysis.by_experiment(lines)
    for experiment in experiments:
        runs, name = groups.get(experiment.name, []), experiment.name
        if experiment.teacher.kind in ("stratum", "ranks") or experiment.method in ("untrained", "langevin"):
            continue
        if known := [run for run in runs if run["singular"] is not None]:
            found = analysis.frequency(known, lambda run: run["singular"])
            answer = str(found) if found.successes else f"not seen: {found}"
            ends.append(("Do they end at singular points?", name, "", answer))
        for layer, (first, last) in enumerate(analysis.rank_one_heads(runs), 1):
            answer = "no difference seen"
            if first.interval[1] < last.interval[0]:
                answer = "more"
            elif last.interval[1] < first.interval[0]:
                answer = "fewer"
            heads.append(("Are more heads of rank one in the end?", name, str(layer), answer))
    return Table("Questions and answers", ("question", "experiment", "layer", "answer"), (*ends, *heads))


def rates_table(lines: Sequence[Line]) -> Table:
    """A row for each experiment that has runs without a limit: the powers of time of loss and norm."""
    rows = []
    for name, runs in analysis.by_experiment(lines).items():
        slow = [
            run
            for run in runs
            if run["outcome"] in ("diverged", "unfinished") and len(run["history"]["time"]) > 5
        ]
        if slow:
            losses, norms = (
                " to ".join(
                    f"{x:.3f}" for x in analysis.quartiles([analysis.exponent(run, key) for run in slow])[::2]
                )
                for key in ("loss", "norm")
            )
            rows.append((name, str(len(slow)), losses, norms))
    columns = ("experiment", "runs", "loss", "norm of the weights")
    return Table("Powers of time over the last two decades, quartiles", columns, tuple(rows))


def speed_table(lines: Sequence[Line], experiments: Sequence[Experiment]) -> Table:
    """A row for each teacher in M of one layer of one head: its λ, and the times to learn it.

    λ is the least over all weights of the teacher; times are quartiles over all runs, ∞ for those that
    never learn.
    """
    rows: list[tuple[Fraction, tuple[str, ...]]] = []
    groups = analysis.by_experiment(lines)
    for experiment in experiments:
        runs, found = groups.get(experiment.name), _truth(experiment)
        if not runs or found is None or experiment.method != "flow" or experiment.decay:
            continue
        truth, least = found
        learned = analysis.frequency(runs, lambda line: line["loss"] <= analysis.LEARNED)
        times = analysis.quartiles(analysis.learning_times(runs))
        shown = ", ".join("∞" if t == float("inf") else f"{t:.3g}" for t in times)
        row = (experiment.name, str(truth), str(least.value), str(least.multiplicity), str(learned), shown)
        rows.append((least.value, row))
    columns = ("experiment", "teacher", "λ", "m", "learned", f"times to loss {analysis.LEARNED:g}, quartiles")
    ordered = sorted(rows, key=lambda pair: pair[0])
    return Table(
        "Speed, by the learning coefficient of the teacher", columns, tuple(row for _, row in ordered)
    )


def energies_table(lines: Sequence[Line], experiments: Sequence[Experiment]) -> Table:
    """A row for each experiment with Langevin dynamics and a teacher in M: the mean of L/T, beside λ."""
    rows = []
    groups = analysis.by_experiment(lines)
    for experiment in experiments:
        runs, found = groups.get(experiment.name), _truth(experiment)
        if not runs or found is None or experiment.method != "langevin":
            continue
        truth, least = found
        number, mean, error = analysis.energies(
            runs, experiment.temperature, experiment.architecture.parameters
        )
        rows.append((experiment.name, str(truth), str(least.value), str(least.multiplicity),
                     f"{number} of {len(runs)}", f"{mean:.2f} ± {error:.2f}"))  # fmt: skip
    columns = ("experiment", "teacher", "λ", "m", "learned", "mean of L/T, standard error")
    return Table("Langevin dynamics, beside the learning coefficient of the teacher", columns, tuple(rows))


def _truth(experiment: Experiment) -> tuple[Stratum, LearningCoefficient] | None:
    """The stratum of a teacher in M of one layer of one head, and its λ and m."""
    layer, teacher = single_layer(experiment.architecture), experiment.teacher
    if layer is None or teacher.kind not in ("generic", "stratum"):
        return None
    truth = max(strata(layer), key=lambda s: image_dimension(layer, s))
    if teacher.stratum is not None:
        truth = Stratum(*teacher.stratum)
    return truth, least_point(layer, truth).coefficient


def draw_losses(lines: Sequence[Line]) -> Figure:
    """The loss over time, a panel for each experiment, a curve for each of its first runs.

    Raises:
        InputError: if matplotlib is missing.
    """
    groups = analysis.by_experiment(lines)
    columns = min(len(groups), 3)
    rows = -(-len(groups) // columns)
    figure, axes = empty(4.2 * columns, 3.0 * rows)
    axes.remove()
    panels = figure.subplots(rows, columns, squeeze=False)
    colours = {"converged": "#2b6cb0", "diverged": "#c92a2a", "unfinished": "#c05621", "stiff": "#4a4f57"}
    for n, (name, runs) in enumerate(groups.items()):
        panel = panels[n // columns][n % columns]
        for run in runs[:_CURVES]:
            history = run["history"]
            points = [
                (t, max(x, 1e-16)) for t, x in zip(history["time"], history["loss"], strict=True) if t > 0
            ]
            if points:
                panel.plot(*zip(*points, strict=True), color=colours.get(run["outcome"], "#7b2d8b"),
                           linewidth=0.6, alpha=0.6)  # fmt: skip
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_title(name, fontsize=8, parse_math=False)  # a name may have a $ in it
        panel.spines[["top", "right"]].set_visible(False)
    for n in range(len(groups), rows * columns):
        panels[n // columns][n % columns].set_visible(False)
    for panel in panels[-1]:
        panel.set_xlabel("time t")
    for row in panels:
        row[0].set_ylabel("loss")
    figure.tight_layout()
    return figure


def training_report(lines: Sequence[Line], config: str, command: str, pictures: bool = True) -> Document:
    """The document about some runs.

    Args:
        lines: as ``agattn train`` prints them.
        config: the text of the file of experiments.
        command: that made the lines.
        pictures: whether to draw, which needs matplotlib.
    """
    groups = analysis.by_experiment(lines)
    ends = analysis.outcomes(lines)
    told = ", ".join(f"{number} {word}" for word, number in ends.most_common())
    summary = (
        f"{len(lines)} runs of {len(groups)} experiments: {told}. "
        f"Made by `{command}`. "
        "All is numerical; intervals are those of Wilson, at 95 %. "
        "Runs that diverged, were stiff or unfinished are no limit points."
    )
    blocks: list[Block] = [endings_table(lines)]
    if pictures:
        picture = image("losses.svg", functools.partial(_save, lines))
        shown = f"Loss over time of the first {_CURVES} runs of each experiment."
        blocks.append(
            Picture("losses.svg", picture, shown, shown + " Converged blue, unfinished orange, diverged red.")
        )
    sections = [Section("How runs ended", tuple(blocks))]
    experiments = read_experiments(config)
    tables = {
        "What is seen, and what is not": findings_table(lines, experiments),
        "Strata": strata_table(lines), "Speed": speed_table(lines, experiments),
        "Heads of rank one": heads_table(lines), "Langevin dynamics": energies_table(lines, experiments),
        "Rates": rates_table(lines),
    }  # fmt: skip
    for title, table in tables.items():
        if table.rows:
            sections.append(Section(title, (table,)))
    sections.append(
        Section(
            "Experiments",
            (Text("The file of experiments."), Attachment("experiments.toml", config, "experiments")),
        )
    )
    return Document(TITLE, summary, tuple(sections), clock="")


def _save(lines: Sequence[Line], path: Any) -> None:
    save(draw_losses(lines), path)
