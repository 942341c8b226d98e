"""What training found as tables, for any experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from statistics import median
from typing import NamedTuple

from agattn.experiments.training import analysis
from agattn.experiments.training.analysis import Frequency, Line
from agattn.experiments.training.experiment import METHODS, Experiment
from agattn.experiments.training.losses import single_layer
from agattn.geometry.learning_coefficients.learning_coefficients import LearningCoefficient, least_point
from agattn.geometry.strata.strata import Stratum, image_dimension, strata
from agattn.sheet.data import Table

#: What is said of two shares whose intervals meet.
NO_DIFFERENCE = "no difference seen"


def size(values: Sequence[float], form: str = ".1e") -> str:
    """The median, and the range, of some sizes.

    >>> size([1e-3, 2e-3, 4e-3])
    '2.0e-03 (1.0e-03 to 4.0e-03)'
    """
    middle, low, high = (format(x, form) for x in (median(values), min(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"


def difference(first: Frequency, last: Frequency) -> str:
    """Whether a share grew; two shares differ if their intervals at 95 % do not meet.

    >>> difference(Frequency(0, 20), Frequency(20, 20)), difference(Frequency(1, 20), Frequency(0, 20))
    ('more', 'no difference seen')
    """
    if first.interval[1] < last.interval[0]:
        return "more"
    return "fewer" if last.interval[1] < first.interval[0] else NO_DIFFERENCE


def endings_table(lines: Sequence[Line]) -> Table:
    """A row for each experiment: how its runs ended, how many learned, and the last loss."""
    rows = []
    for name, runs in analysis.by_experiment(lines).items():
        ends = ", ".join(f"{number} {word}" for word, number in analysis.outcomes(runs).most_common())
        learned = analysis.learned(runs)
        rows.append((name, str(len(runs)), ends, str(learned), size([line["loss"] for line in runs])))
    columns = ("experiment", "runs", "ended", "learned", "last loss: median and range")
    return Table("How runs ended", columns, tuple(rows))


def minima_table(limits: Mapping[str, Sequence[Line]]) -> Table:
    """A row for each experiment: at how many limit points the loss is positive, and how large."""
    rows = []
    for name, runs in limits.items():
        stopped = [run for run in runs if run["loss"] > analysis.LEARNED]
        if runs:
            saddles = sum(bool(run["hessian_negative"]) for run in stopped)
            losses = size([run["loss"] for run in stopped]) if stopped else "–"
            rows.append((name, str(Frequency(len(stopped), len(runs))), losses, str(saddles)))
    columns = (
        "experiment",
        "stopped at a positive loss",
        "loss: median and range",
        "with a negative eigenvalue",
    )
    return Table("Limit points with a positive loss", columns, tuple(rows))


def hessians_table(groups: Mapping[str, Sequence[Line]]) -> Table:
    """A row for each experiment: the zeros of the Hessian at loss 0 beside the dimension of the fiber."""
    rows = []
    for name, runs in groups.items():
        matching = analysis.zeros(runs)
        if matching.n and runs[0]["fiber_dimension"] is not None:
            numbers = {run["hessian_zeros"] for run in analysis.at_loss_zero(runs)}
            zeros = ", ".join(map(str, sorted(numbers)))
            rows.append((name, str(runs[0]["fiber_dimension"]), zeros, str(matching)))
    columns = ("experiment", "dimension of the fiber", "zeros of the Hessian", "zeros = fiber")
    return Table("Zeros of the Hessian at loss 0", columns, tuple(rows))


def conserved_table(lines: Sequence[Line], experiments: Sequence[Experiment]) -> Table:
    """A row for each experiment: the drift of what exact gradient flow conserves."""
    rows = []
    groups = analysis.by_experiment(lines)
    for experiment in experiments:
        runs = groups.get(experiment.name, [])
        drifts = [line["drift"] for line in runs if line["outcome"] not in ("stiff", "untrained")]
        if drifts:
            stiff = analysis.outcomes(runs)["stiff"]
            rows.append((experiment.name, METHODS[experiment.method], size(drifts), str(stiff)))
    columns = ("experiment", "method", "drift: median and range", "stiff runs, left out")
    return Table("Drift", columns, tuple(rows))


def strata_table(lines: Sequence[Line]) -> Table:
    """A row for each experiment and stratum: how many runs end there or pass near it, and how near."""
    rows = []
    for name, runs in analysis.by_experiment(lines).items():
        ends, passes = analysis.ends(runs), analysis.passes(runs)
        number = next(iter(ends.values()), Frequency(0, 0)).n
        for stratum in sorted({*ends, *passes}):
            near, nearest = "–", "–"
            if stratum in passes:
                near = str(passes[stratum])
                nearest = size([run["nearest"][stratum][0] for run in runs if run["nearest"] is not None])
            rows.append((name, stratum, str(ends.get(stratum, Frequency(0, number))), near, nearest))
    passed = f"pass within {100 * analysis.NEAR:g} %"
    columns = ("experiment", "stratum", "end there", passed, "nearest approach: median and range")
    return Table("Strata: where runs end, and what they pass", columns, tuple(rows))


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
            question = "Are more heads of rank one in the end?"
            heads.append((question, name, str(layer), difference(first, last)))
    return Table("Questions and answers", ("question", "experiment", "layer", "answer"), (*ends, *heads))


def rates_table(lines: Sequence[Line]) -> Table:
    """A row for each experiment that has runs without a limit: the powers of time of loss and norm."""
    rows = []
    for name, runs in analysis.by_experiment(lines).items():
        if slow := analysis.without_limit(runs):
            losses, norms = (
                " to ".join(
                    f"{x:.3f}" for x in analysis.quartiles([analysis.exponent(run, key) for run in slow])[::2]
                )
                for key in ("loss", "norm")
            )
            rows.append((name, str(len(slow)), losses, norms))
    columns = ("experiment", "runs", "loss", "norm of the weights")
    return Table("Powers of time over the last two decades, quartiles", columns, tuple(rows))


class Speed(NamedTuple):
    """How fast a teacher is learned: λ and m are the least over all its weights, times are quartiles."""

    name: str
    stratum: Stratum
    value: Fraction
    multiplicity: int
    learned: Frequency
    times: tuple[float, float, float]


def speeds(lines: Sequence[Line], experiments: Sequence[Experiment]) -> list[Speed]:
    """Of each teacher in M of one layer of one head, by λ; the times are ∞ for runs that never learn."""
    found = []
    groups = analysis.by_experiment(lines)
    for experiment in experiments:
        runs, known = groups.get(experiment.name), _truth(experiment)
        if not runs or known is None or experiment.method != "flow" or experiment.decay:
            continue
        truth, least = known
        times = analysis.quartiles(analysis.learning_times(runs))
        found.append(
            Speed(experiment.name, truth, least.value, least.multiplicity, analysis.learned(runs), times)
        )
    return sorted(found, key=lambda speed: speed.value)


def speed_table(found: Sequence[Speed]) -> Table:
    """A row for each teacher: its λ, and the times to learn it."""
    rows = tuple(
        (
            one.name,
            str(one.stratum),
            str(one.value),
            str(one.multiplicity),
            str(one.learned),
            ", ".join("∞" if t == float("inf") else f"{t:.3g}" for t in one.times),
        )
        for one in found
    )
    columns = ("experiment", "teacher", "λ", "m", "learned", f"times to loss {analysis.LEARNED:g}, quartiles")
    return Table("Speed, by the learning coefficient of the teacher", columns, rows)


class Energy(NamedTuple):
    """The mean of L/T over the runs of Langevin dynamics near the teacher, beside λ and m of the teacher.

    :func:`.analysis.energies` counts the runs near the teacher.
    """

    name: str
    stratum: Stratum
    value: Fraction
    multiplicity: int
    near_teacher: int
    runs: int
    mean: float
    error: float

    @property
    def shown(self) -> str:
        """The mean with its standard error."""
        return f"{self.mean:.2f} ± {self.error:.2f}"


def langevin(lines: Sequence[Line], experiments: Sequence[Experiment]) -> list[Energy]:
    """Of each experiment with Langevin dynamics and a teacher in M; a mean of fewer than two runs is NaN."""
    found = []
    groups = analysis.by_experiment(lines)
    for one in experiments:
        runs, known = groups.get(one.name), _truth(one)
        if runs and known is not None and one.method == "langevin":
            (truth, least), weights = known, one.architecture.parameters
            number, mean, error = analysis.energies(runs, one.temperature, weights)
            sizes = number, len(runs), mean, error
            found.append(Energy(one.name, truth, least.value, least.multiplicity, *sizes))
    return found


def energies_table(found: Sequence[Energy]) -> Table:
    """A row for each experiment: the mean of L/T, beside λ."""
    rows = tuple(
        (
            one.name,
            str(one.stratum),
            str(one.value),
            str(one.multiplicity),
            f"{one.near_teacher} of {one.runs}",
            one.shown,
        )
        for one in found
    )
    columns = (
        "experiment", "teacher", "λ", "m", "runs near the teacher", "their mean of L/T, standard error",
    )  # fmt: skip
    return Table("Langevin dynamics, beside the learning coefficient of the teacher", columns, rows)


def _truth(experiment: Experiment) -> tuple[Stratum, LearningCoefficient] | None:
    """The stratum of a teacher in M of one layer of one head, and its λ and m."""
    layer, teacher = single_layer(experiment.architecture), experiment.teacher
    if layer is None or teacher.kind not in ("generic", "stratum"):
        return None
    truth = max(strata(layer), key=lambda s: image_dimension(layer, s))
    if teacher.stratum is not None:
        truth = Stratum(*teacher.stratum)
    return truth, least_point(layer, truth).coefficient
