"""What training found, a finding for each question: sentences with numbers, one figure, and the table.

Every number is computed from the runs. A question that the runs do not answer has no finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from agattn.experiments.training import analysis
from agattn.experiments.training.analysis import Frequency, Line
from agattn.experiments.training.experiment import Experiment
from agattn.reports.training_figures import BLUE, ORANGE, Interval, Row, draw_rows
from agattn.reports.training_tables import (
    NO_DIFFERENCE,
    conserved_table,
    difference,
    endings_table,
    energies_table,
    heads_table,
    hessians_table,
    langevin,
    minima_table,
    rates_table,
    size,
    speed_table,
    speeds,
    strata_table,
)
from agattn.sheet.data import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: So many experiments are named one by one.
_NAMED = 4


@dataclass(frozen=True)
class Observation:
    """What the runs say about a question.

    Attributes:
        title: the question in a few words.
        said: the answer.
        terms: what the words of the answer mean.
        file: the name of the figure.
        caption: of the figure; it names every colour.
        draw: the figure.
        table: the numbers; ``None`` where the table of another finding has them.
    """

    title: str
    said: str
    terms: str
    file: str
    caption: str
    draw: Callable[[], Figure]
    table: Table | None


@dataclass(frozen=True)
class Runs:
    """The runs of some experiments, with what was asked for."""

    lines: Sequence[Line]
    experiments: Sequence[Experiment]

    def of(self, holds: Callable[[Experiment], bool]) -> dict[str, list[Line]]:
        """The runs of each experiment for which something holds."""
        groups = analysis.by_experiment(self.lines)
        return {one.name: groups[one.name] for one in self.experiments if one.name in groups and holds(one)}


def findings(lines: Sequence[Line], experiments: Sequence[Experiment]) -> list[Observation]:
    """The findings, the most general first."""
    runs = Runs(lines, experiments)
    asked = (learned, minima, singular_ends, passes, heads, hessians, conserved, speed, energies, rates)
    return [found for ask in asked if (found := ask(runs)) is not None]


# The questions ----------------------------------------------------------------------------------------------


def trained(one: Experiment) -> bool:
    """Whether the loss was to become small: by gradient flow or descent."""
    return one.method in ("flow", "descent")


def learned(runs: Runs) -> Observation | None:
    """How many runs learned their teacher, and the loss in the end."""
    groups = runs.of(trained)
    if not groups:
        return None
    found = {name: analysis.learned(those) for name, those in groups.items()}
    all_runs = [run for those in groups.values() for run in those]
    limits = [run for run in all_runs if run["outcome"] == "converged"]
    said = (
        f"A loss of at most {analysis.LEARNED:g} counts as learned: {shares(found)}. "
        f"{len(limits)} of {len(all_runs)} runs converged. {_losses(all_runs)}"
    )
    terms = (
        "A run starts at random weights and follows the gradient of its loss, which is the distance to a "
        "given function, the teacher. A run converged if the gradient vanished and the weights came to rest: "
        "only these runs have a limit point."
    )
    caption = "Runs that learned their teacher, by experiment. Blue: the share, and its interval at 95 %."
    return Observation(
        "Is the teacher learned?",
        said,
        terms,
        "learned.svg",
        caption,
        partial(draw_shares, found, "learned, %"),
        endings_table(runs.lines),
    )


def _losses(runs: Sequence[Line]) -> str:
    """The size of the last loss, of the runs that learned and of the others."""
    low = [run["loss"] for run in runs if run["loss"] <= analysis.LEARNED]
    high = [run["loss"] for run in runs if run["loss"] > analysis.LEARNED]
    parts = [f"{size(low)} for those that learned"] if low else []
    parts += [f"{size(high)} for those that did not"] if high else []
    return f"The last loss has the median {', and '.join(parts)}."


def minima(runs: Runs) -> Observation | None:
    """Whether runs stop at a positive loss although loss 0 can be reached."""
    groups = runs.of(lambda one: trained(one) and _in_the_image(one))
    limits = {name: [run for run in those if run["outcome"] == "converged"] for name, those in groups.items()}
    found = {
        name: analysis.frequency(those, lambda run: run["loss"] > analysis.LEARNED)
        for name, those in limits.items()
        if those
    }
    if not found:
        return None
    stopped = [run for those in limits.values() for run in those if run["loss"] > analysis.LEARNED]
    said = f"{'Some runs do' if stopped else 'No run does'}: {shares(found)}."
    terms = "Only teachers are counted that some weights reach, so that loss 0 is possible."
    if stopped:
        said = f"Unexpected: {said[0].lower()}{said[1:]}"
        saddles = sum(bool(run["hessian_negative"]) for run in stopped)
        terms += (
            " A local minimum has no negative eigenvalue of the Hessian, the matrix of second derivatives; a "
            f"saddle has one. Of the {len(stopped)} points {len(stopped) - saddles} have none."
        )
    return Observation(
        "Do runs stop at a positive loss?",
        said,
        terms,
        "minima.svg",
        "Of the runs that converged, those with a positive loss, by experiment. Blue: the share, and its "
        "interval at 95 %.",
        partial(draw_shares, found, "stopped at a positive loss, %"),
        minima_table(limits),
    )


def _in_the_image(one: Experiment) -> bool:
    """Whether some weights have loss 0: the teacher is in M, and neither noise nor decay is added."""
    return one.teacher.kind in ("generic", "stratum", "ranks") and not one.data.noise and not one.decay


def _not_singular_itself(one: Experiment) -> bool:
    """Whether the runs are free to end at singular points or not."""
    return trained(one) and one.teacher.kind not in ("stratum", "ranks")


def singular_ends(runs: Runs) -> Observation | None:
    """Whether runs end at singular points, towards teachers that are not singular."""
    groups = {
        name: known
        for name, those in runs.of(_not_singular_itself).items()
        if (known := [run for run in those if run["singular"] is not None])
    }
    if not groups:
        return None
    found = {name: analysis.frequency(those, lambda run: run["singular"]) for name, those in groups.items()}
    number = sum(one.successes for one in found.values())
    tops = Counter(next(iter(analysis.ends(those))) for those in groups.values())
    stratum, times = tops.most_common(1)[0]
    said = (
        f"{'Some runs do' if number else 'No run does'}: {shares(found)}. In {_of(times, len(groups))} the "
        f"largest share of the runs ends at the stratum {stratum}."
    )
    terms = (
        "A stratum (r_V, r_A, r) holds the functions of one layer with these ranks: of V, of A = KᵀQ, and of "
        "V above Aᵀ. At a singular stratum the set of all functions is not smooth. Runs towards teachers "
        "that are singular themselves are left out, here and in the next questions."
    )
    return Observation(
        "Do runs end at singular points?",
        said,
        terms,
        "ends.svg",
        "Runs that end at a singular stratum, by experiment. Blue: the share, and its interval at 95 %.",
        partial(draw_shares, found, "end at a singular stratum, %"),
        strata_table(runs.lines),
    )


def passes(runs: Runs) -> Observation | None:
    """How many runs come near a singular stratum on their way."""
    found: dict[str, Frequency] = {}
    least: dict[str, list[float]] = {}
    for name, those in runs.of(_not_singular_itself).items():
        near = analysis.passes(those)
        if near:
            stratum = max(near, key=lambda one: near[one].successes)
            found[f"{name}, {stratum}"] = near[stratum]
            least[name] = [run["nearest"][stratum][0] for run in those if run["nearest"] is not None]
    if not found:
        return None
    nearest = min(least, key=lambda name: median(least[name]))
    said = (
        f"Of the singular strata, the one that is passed most often: {shares(found)}. The nearest approach "
        f"is closest in “{nearest}”: median {size(least[nearest])}."
    )
    terms = (
        f"A run passes a stratum if its function comes within {100 * analysis.NEAR:g} % of its own norm to "
        "the stratum, at some time."
    )
    return Observation(
        "Do runs pass near singular points?",
        said,
        terms,
        "passes.svg",
        f"Runs that pass within {100 * analysis.NEAR:g} % of the singular stratum named. Blue: the share, "
        "and its interval at 95 %.",
        partial(draw_shares, found, f"pass within {100 * analysis.NEAR:g} %, in %"),
        None,
    )


def heads(runs: Runs) -> Observation | None:
    """Whether heads come to have rank one."""
    compared: dict[str, tuple[Frequency, Frequency]] = {}
    for name, those in runs.of(_not_singular_itself).items():
        layers = analysis.rank_one_heads(those)
        for layer, both in enumerate(layers, 1):
            compared[f"{name}, layer {layer}" if len(layers) > 1 else name] = both
    compared = {name: both for name, both in compared.items() if both[0].n}
    if not compared:
        return None
    answers = {name: difference(*both) for name, both in compared.items()}
    changed = [name for name, answer in answers.items() if answer != NO_DIFFERENCE]
    number = _count(len(answers), "layer")
    where = f"{len(answers) - len(changed)} of {number}" if changed else f"any of {number}"
    said = f"No difference between start and end is seen in {where}."
    terms = (
        f"A head counts as of rank one if σ₂ ≤ {analysis.RANK_ONE:g} σ₁ for the singular values of its "
        "A = KᵀQ; of several heads in a layer the one with the least σ₂/σ₁ counts. A difference is seen if "
        "the two intervals do not meet."
    )
    for name in changed[:_NAMED]:
        first, last = compared[name]
        said += f" {answers[name].capitalize()} in “{name}”: {first} at the start, {last} in the end."
    if len(changed) > _NAMED:
        said += f" So it is in {len(changed) - _NAMED} more."
    rows = [Row(name, (share(a, ORANGE), share(b, BLUE))) for name, (a, b) in compared.items()]
    legend = {"at the start": ORANGE, "in the end": BLUE}
    return Observation(
        "Do heads become of rank one?",
        said,
        terms,
        "heads.svg",
        "Heads of rank one, by experiment and layer. Orange: the share at the start; blue: in the end; each "
        "with its interval at 95 %.",
        partial(draw_rows, rows, "of rank one, %", legend=legend),
        heads_table(runs.lines),
    )


def hessians(runs: Runs) -> Observation | None:
    """Whether the Hessian at loss 0 is positive in all directions but those of the fiber."""
    groups = runs.of(lambda one: trained(one) and not one.decay)
    found = {
        name: matching
        for name, those in groups.items()
        if (matching := analysis.zeros([run for run in those if run["fiber_dimension"] is not None])).n
    }
    if not found:
        return None
    exact = [name for name, one in found.items() if one.successes == one.n]
    said = f"It is so in every run of {_of(len(exact), len(found))}: {shares(found)}."
    if len(exact) < len(found):
        others = [
            run["hessian_zeros"] - run["fiber_dimension"]
            for name, those in groups.items()
            for run in analysis.at_loss_zero(those)
            if name in found and run["hessian_zeros"] != run["fiber_dimension"]
        ]
        said += f" Elsewhere there are {'more' if min(others) > 0 else 'other numbers of'} zeros."
    terms = (
        "The fiber of a function is the set of all weights that have it. At loss 0 the Hessian is zero along "
        "the fiber, and in no other direction if it has as many zero eigenvalues as a general fiber has "
        "dimensions."
    )
    return Observation(
        "Is the loss flat along the fiber alone?",
        said,
        terms,
        "hessians.svg",
        "Limit points with loss 0 at which the Hessian has as many zeros as the fiber has dimensions. Blue: "
        "the share, and its interval at 95 %.",
        partial(draw_shares, found, "zeros = fiber, %"),
        hessians_table(groups),
    )


def conserved(runs: Runs) -> Observation | None:
    """How well the solver kept what gradient flow conserves."""
    groups = {
        name: drifts
        for name, those in runs.of(lambda one: one.method == "flow").items()
        if (drifts := [run["drift"] for run in those if run["outcome"] != "stiff"])
    }
    if not groups:
        return None
    worst = max(groups, key=lambda name: max(groups[name]))
    every = [drift for drifts in groups.values() for drift in drifts]
    stiff = sum(run["outcome"] == "stiff" for run in runs.lines)
    said = (
        f"The drift is {size(every)} in {_count(len(every), 'run')} of gradient flow, and largest in "
        f"“{worst}”."
    )
    if stiff:
        said += f" {_count(stiff, 'run')} could not be followed this well, and are called stiff."
    terms = (
        "Exact gradient flow conserves some matrices in the weights, such as QQᵀ − KKᵀ. The drift, the "
        "largest change of an entry along a run, is therefore an error of the solver."
    )
    floor = 1e-17
    rows = [Row(name, (_spread(drifts, floor),)) for name, drifts in groups.items()]
    return Observation(
        "Is the flow followed exactly?",
        said,
        terms,
        "conserved.svg",
        "Drift of what gradient flow conserves, by experiment. Blue: the median, and the range over all "
        "runs.",
        partial(draw_rows, rows, "drift", log=True),
        conserved_table(runs.lines, runs.experiments),
    )


def speed(runs: Runs) -> Observation | None:
    """Whether the time to learn a teacher goes with its learning coefficient."""
    found = speeds(runs.lines, runs.experiments)
    shown = [one for one in found if one.times[1] < float("inf")]
    if not shown:
        return None
    fast, slow = (choose(shown, key=lambda one: one.times[1]) for choose in (min, max))
    said = (
        f"The median time until the loss is {analysis.LEARNED:g} is {fast.times[1]:.3g} for “{fast.name}” "
        f"(λ = {fast.value})"
    )
    terms = (
        "The learning coefficient λ of a teacher says how fast the volume of the weights with a small loss "
        "shrinks: the smaller λ, the more singular."
    )
    if len(shown) > 1:
        said += f", the fastest, and {slow.times[1]:.3g} for “{slow.name}” (λ = {slow.value}), the slowest"
    if len(shown) > 2:
        ordered = [one.times[1] for one in shown]  # by λ
        upward, downward = ordered == sorted(ordered), ordered == sorted(ordered, reverse=True)
        order = "grow" if upward else "fall" if downward else "neither grow nor fall"
        said += f". {'The' if upward or downward else 'Unexpected: the'} {len(shown)} medians {order} with λ"
    rows = [
        Row(
            f"{one.name}: λ = {one.value}",
            (Interval(one.times[1], one.times[0], min(one.times[2], _last(runs))),),
        )
        for one in shown
    ]
    return Observation(
        "Are singular teachers learned sooner?",
        f"{said}.",
        terms,
        "speed.svg",
        f"Times to a loss of {analysis.LEARNED:g}, by experiment, in the order of λ. Blue: the median, and "
        "the quartiles over all runs; a run that never learns counts as the latest.",
        partial(draw_rows, rows, "time", log=True),
        speed_table(found),
    )


def _last(runs: Runs) -> float:
    """The latest time of any run, where an infinite quartile ends."""
    return float(max(run["time"] for run in runs.lines))


def energies(runs: Runs) -> Observation | None:
    """Whether the mean loss of Langevin dynamics is the learning coefficient times the temperature."""
    found = langevin(runs.lines, runs.experiments)
    known = [one for one in found if one.near_teacher > 1]
    if not known:
        return None
    near = [one for one in known if abs(one.mean - one.value) <= 2 * one.error]
    told = "; ".join(
        f"“{one.name}” {one.shown}, λ = {float(one.value):g} ({one.near_teacher} of {one.runs} runs)"
        for one in known
    )
    said = f"The mean of L/T is within two standard errors of λ in {_of(len(near), len(known))}: {told}."
    terms = (
        "Langevin dynamics is gradient descent of the loss L with noise, at a temperature T. For T → 0 the "
        "mean of L/T near the teacher tends to its learning coefficient λ. Runs in a local minimum, with L/T "
        "above ten times the number of weights, are left out."
    )
    rows = []
    for one in known:
        at, mean, twice = float(one.value), one.mean, 2 * one.error
        marks = Interval(at, at, at, ORANGE), Interval(mean, mean - twice, mean + twice, BLUE)
        rows.append(Row(one.name, marks))
    return Observation(
        "Is the mean loss λT at a low temperature?",
        said,
        terms,
        "langevin.svg",
        "Langevin dynamics. Blue: the mean of L/T, with two standard errors to each side; orange: λ.",
        partial(draw_rows, rows, "L/T", legend={"λ": ORANGE, "mean of L/T": BLUE}),
        energies_table(found),
    )


def rates(runs: Runs) -> Observation | None:
    """The powers of time of runs that have no limit yet."""
    groups = {name: analysis.without_limit(those) for name, those in runs.of(trained).items()}
    powers = {
        name: [x for run in those if (x := analysis.exponent(run, "loss")) == x]
        for name, those in groups.items()
    }
    powers = {name: values for name, values in powers.items() if values}
    if not powers:
        return None
    steep = min(powers, key=lambda name: median(powers[name]))
    number = sum(len(groups[name]) for name in powers)
    said = (
        f"{_count(number, 'run')} of {_count(len(powers), 'experiment')} had no limit when time ran out. The "
        f"loss falls fastest in “{steep}”: p is {size(powers[steep], '.3f')}."
    )
    terms = "The loss over the last two powers of ten of time is compared with a power of time, t^p."
    rows = []
    for name, values in powers.items():
        low, middle, high = analysis.quartiles(values)
        rows.append(Row(name, (Interval(middle, low, high),)))
    return Observation(
        "How do runs without a limit go on?",
        said,
        terms,
        "rates.svg",
        "The power p of time with which the loss falls, by experiment. Blue: the median, and the quartiles.",
        partial(draw_rows, rows, "p"),
        rates_table(runs.lines),
    )


# In words ---------------------------------------------------------------------------------------------------


def shares(found: Mapping[str, Frequency]) -> str:
    """Shares by experiment: each, where they are few; else the largest, the smallest and those with none.

    >>> shares({"one": Frequency(1, 2), "two": Frequency(0, 20)})
    '“one” 1 of 2 (50 %, 9 to 91 %); “two” 0 of 20 (0 %, 0 to 16 %)'
    >>> shares({str(n): Frequency(n // 8, 10) for n in range(10)})
    '“8” 1 of 10 (10 %, 2 to 40 %); “9” 1 of 10 (10 %, 2 to 40 %); none in 8 others: at most 28 % there'
    """
    ordered = sorted(found, key=lambda name: -found[name].interval[0])
    if len(ordered) <= _NAMED:
        return _each(found, ordered)
    some = [name for name in ordered if found[name].successes]
    none = [name for name in ordered if not found[name].successes]
    parts = []
    if len(some) <= _NAMED:
        parts += [_each(found, some)] if some else []
    else:
        rarest = min(some, key=lambda name: found[name].interval[1])
        parts.append(f"most in {_each(found, some[:1])}")
        parts.append(f"least of those with any in {_each(found, [rarest])}")
    if none:
        worst = max(100 * found[name].interval[1] for name in none)
        others = f"{len(none)} other{'s' * (len(none) != 1)}" if some else f"all {len(none)} experiments"
        largest = max(none, key=lambda name: found[name].n)
        example = f", and {found[largest]} in “{largest}”" if found[largest].n > 100 else ""
        parts.append(f"none in {others}: at most {worst:.0f} % there{example}")
    return "; ".join(parts)


def _each(found: Mapping[str, Frequency], names: Sequence[str]) -> str:
    return "; ".join(f"“{name}” {found[name]}" for name in names)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _of(number: int, total: int) -> str:
    return f"{'all' if number == total > 1 else f'{number} of'} {_count(total, 'experiment')}"


# Drawn ------------------------------------------------------------------------------------------------------


def share(found: Frequency, colour: str = BLUE) -> Interval:
    """A share with its interval, in percent."""
    low, high = found.interval
    return Interval(100 * found.successes / found.n, 100 * low, 100 * high, colour)


def draw_shares(found: Mapping[str, Frequency], label: str) -> Figure:
    """Shares with their intervals, a row for each."""
    return draw_rows([Row(name, (share(one),)) for name, one in found.items()], label)


def _spread(values: Sequence[float], floor: float) -> Interval:
    """The median and the range of sizes, for an axis of powers of ten."""
    low, middle, high = (max(x, floor) for x in (min(values), median(values), max(values)))
    return Interval(middle, low, high)
