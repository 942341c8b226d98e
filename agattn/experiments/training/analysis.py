"""What many runs say together: frequencies with confidence intervals, rates, and where the weights went.

>>> [round(x, 3) for x in wilson(0, 20)], [round(x, 3) for x in wilson(20, 20)]
([0.0, 0.161], [0.839, 1.0])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Any, TypeVar

import numpy as np

Line = Mapping[str, Any]
Run = TypeVar("Run")

#: A run passes near a stratum if its relative distance falls below this.
NEAR = 0.05
#: A head counts as one of rank one if σ₂/σ₁ of its A is below this.
RANK_ONE = 0.01
#: A loss below this counts as learned; teachers have norm 1.
LEARNED = 1e-6
_Z = 1.959963984540054  # of 95 %


def wilson(successes: int, n: int) -> tuple[float, float]:
    """The interval of Wilson for a probability, at 95 %; (0, 1) for n = 0."""
    if not n:
        return 0.0, 1.0
    p, z = successes / n, _Z**2 / n
    middle, half = (p + z / 2) / (1 + z), sqrt(p * (1 - p) * z + z**2 / 4) / (1 + z)
    return max(middle - half, 0.0) if successes else 0.0, min(middle + half, 1.0) if successes < n else 1.0


@dataclass(frozen=True)
class Frequency:
    """How many of n, with its interval.

    >>> print(Frequency(3, 10))
    3 of 10 (30 %, 11 to 60 %)
    >>> print(Frequency(0, 1000))
    0 of 1000 (0 %, 0 to 0.4 %)
    """

    successes: int
    n: int

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of Wilson at 95 %."""
        return wilson(self.successes, self.n)

    def __str__(self) -> str:
        if not self.n:
            return "none of 0"
        share, low, high = (_percent(x) for x in (self.successes / self.n, *self.interval))
        return f"{self.successes} of {self.n} ({share} %, {low} to {high} %)"


def _percent(x: float) -> str:
    """Rounded to whole ones, below one and above 99 to a tenth."""
    digits = 1 if 0 < 100 * x < 1 or 99 < 100 * x < 100 else 0
    return f"{100 * x:.{digits}f}"


def frequency(runs: Iterable[Run], holds: Callable[[Run], bool]) -> Frequency:
    """How many runs fulfil a condition."""
    found = [holds(run) for run in runs]
    return Frequency(sum(found), len(found))


def by_experiment(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """The lines of each experiment, in order."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line["experiment"], []).append(line)
    return found


def outcomes(lines: Sequence[Line]) -> Counter[str]:
    """How the runs ended."""
    return Counter(line["outcome"] for line in lines)


def ends(lines: Sequence[Line]) -> dict[str, Frequency]:
    """At which strata the runs are in the end, of those with one; the most frequent first."""
    known = [line for line in lines if line["stratum"] is not None]
    counts = Counter("({},{},{})".format(*line["stratum"]) for line in known)
    return {name: Frequency(number, len(known)) for name, number in counts.most_common()}


def passes(lines: Sequence[Line]) -> dict[str, Frequency]:
    """How many runs pass each stratum: within :data:`NEAR` of it, at some snapshot."""
    known = [line for line in lines if line["nearest"] is not None]
    names = list(dict.fromkeys(name for line in known for name in line["nearest"]))
    return {
        name: frequency(known, lambda line, name=name: line["nearest"][name][0] <= NEAR)  # type: ignore[misc]
        for name in names
    }


def learned(lines: Iterable[Line]) -> Frequency:
    """How many runs have a last loss that counts as learned."""
    return frequency(lines, lambda line: line["loss"] <= LEARNED)


def at_loss_zero(lines: Iterable[Line]) -> list[Line]:
    """The runs that learned and converged, whose Hessian is therefore known."""
    return [line for line in lines if line["hessian_zeros"] is not None and line["loss"] <= LEARNED]


def zeros(lines: Iterable[Line]) -> Frequency:
    """How many learned and converged runs have as many zeros of the Hessian as the fiber has dimensions."""
    return frequency(at_loss_zero(lines), lambda line: line["hessian_zeros"] == line["fiber_dimension"])


def without_limit(lines: Iterable[Line]) -> list[Line]:
    """The runs that diverged or are unfinished, if there are enough times for a power of time."""
    return [
        line
        for line in lines
        if line["outcome"] in ("diverged", "unfinished") and len(line["history"]["time"]) > 5
    ]


def second_singular_values(lines: Sequence[Line]) -> list[list[tuple[float, float]]]:
    """For each layer σ₂/σ₁ of A, of its head where that is least: at the start and in the end of every run.

    Runs that diverged or were stiff are left out.
    """
    known = [line["history"]["second_singular_value"] for line in lines if line["ranks"] is not None]
    return [[(ratios[0], ratios[-1]) for ratios in layer] for layer in zip(*known, strict=True)]


def rank_one_heads(lines: Sequence[Line]) -> list[tuple[Frequency, Frequency]]:
    """For each layer, how often its head of least σ₂/σ₁ has rank one: at the start, and in the end."""
    return [
        (
            frequency(layer, lambda ratios: ratios[0] <= RANK_ONE),
            frequency(layer, lambda ratios: ratios[1] <= RANK_ONE),
        )
        for layer in second_singular_values(lines)
    ]


def energies(lines: Sequence[Line], temperature: float, size: int) -> tuple[int, float, float]:
    """How many runs of Langevin dynamics are near the teacher, and their mean of L/T with its standard error.

    The mean of L/T tends to the learning coefficient λ for T → 0 (Watanabe). A run that sits in a local
    minimum tells nothing of it: those with L/T above ten times the number of weights, ``size``, are left out.
    """
    found = np.array([line["loss"] / temperature for line in lines if line["outcome"] == "sampled"])
    found = found[found <= 10 * size]
    if len(found) < 2:
        return len(found), float("nan"), float("nan")
    return len(found), float(found.mean()), float(found.std(ddof=1) / sqrt(len(found)))


def learning_times(lines: Sequence[Line]) -> list[float]:
    """When the loss falls to :data:`LEARNED`, interpolated in logarithms; ∞ where it never does."""
    found = []
    for line in lines:
        times, values = line["history"]["time"], line["history"]["loss"]
        below = [n for n, value in enumerate(values) if value <= LEARNED]
        if not below:
            found.append(float("inf"))
            continue
        n = below[0]
        if n <= 1 or values[n] <= 0:
            found.append(times[n])
            continue
        share = log(values[n - 1] / LEARNED) / log(values[n - 1] / values[n])
        found.append(exp(log(times[n - 1]) + share * log(times[n] / times[n - 1])))
    return found


def exponent(line: Line, name: str) -> float:
    """d log / d log t of the loss or the norm over the last two powers of ten of time, by least squares.

    >>> line = {"history": {"time": [0, 1, 10, 100], "loss": [8, 4, 2, 1]}}
    >>> round(exponent(line, "loss"), 4)
    -0.301
    """
    times, values = np.array(line["history"]["time"][1:]), np.array(line["history"][name][1:], dtype=float)
    used = (times >= times[-1] / 100 * (1 - 1e-9)) & (values > 0)
    if used.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.log(times[used]), np.log(values[used]), 1)[0])


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The lower quartile, the median and the upper quartile, each one of the values; infinite ones are last.

    >>> quartiles([1.0, 2.0, 3.0, float("inf")])
    (1.0, 2.0, 3.0)
    """
    ordered = sorted(values)
    low, middle, high = (ordered[int(q * (len(ordered) - 1))] for q in (0.25, 0.5, 0.75))
    return low, middle, high
