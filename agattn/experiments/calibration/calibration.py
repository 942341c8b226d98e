"""The calibration: points with known λ, estimated by sampling, and what can be learned from the errors.

>>> lines = list(calibrate(calibration_points()[:1], quick=True))
>>> [line["method"] for line in lines[:3]], lines[0]["lambda"]
(['chains', 'volumes', 'sgld'], '1')
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from statistics import median
from typing import Any, Literal, NamedTuple

from agattn.experiments.calibration.estimators import by_chains, by_volumes
from agattn.experiments.calibration.free_energy import by_free_energy
from agattn.experiments.calibration.langevin import (
    SETTINGS,
    Setting,
    by_devinterp,
    by_sgld,
    largest_curvature,
    require_devinterp,
)
from agattn.experiments.calibration.points import CalibrationPoint, calibration_points
from agattn.limits import limits, log, takes
from agattn.sheet.data import Note, Sheet, Table
from agattn.sheet.result import (
    UNSET,
    Count,
    Key,
    Named,
    Number,
    Positive,
    Result,
    UnsetType,
    Written,
)

Line = dict[str, Any]
#: SGLD is tried at the first point and every third after it.
EVERY = 3
#: SGLD is called right where it is within this of λ, relative to it.
RIGHT = 0.1


class CalibrationEstimate(Result):
    """What one method found at one point with known λ."""

    point: Key[Count, "The number of the point, from 0."]
    name: Key[str, "The point in words."]
    method: Key[Literal["chains", "volumes", "sgld", "devinterp", "free-energy"], "What estimated λ."]
    value: Key[Fraction, "The learning coefficient λ itself.", Named("lambda")]
    multiplicity: Key[Positive, "The multiplicity m of λ."]
    estimate: Key[float | None, "The estimate of λ; null where a chain diverged."]
    standard_error: Key[Number | None, "The standard error of the estimate, from independent repetitions."]
    evidence: Key[Literal["numerical"], "How the estimate is known."] = "numerical"
    n_beta: Key[Number | UnsetType, "Of SGLD: the inverse temperature nβ."] = UNSET
    gamma: Key[Number | UnsetType, "Of SGLD: the localization γ."] = UNSET
    step: Key[Number | UnsetType, "Of SGLD: the step ε."] = UNSET
    curvature: Key[float | UnsetType, "Of SGLD: the largest eigenvalue of the Hessian at w₀."] = UNSET
    sizes: Key[list[Positive] | UnsetType, "Of free energies: the numbers n of samples."] = UNSET
    energies: Key[list[float] | UnsetType, "Of free energies: the means of F_n − nS_n."] = UNSET


class Calibration(Result, Mapping[str, list[Line]], name="calibrate"):
    """The points with known λ, and what sampling found at some of them.

    >>> found = Calibration(calibration_points()[:2])
    >>> found
    2 points with known λ, 0 estimates
    >>> list(found), [point["lambda"] for point in found["points"]], found["estimates"]
    (['points', 'estimates'], ['1', '1'], [])
    """

    points: Key[
        tuple[CalibrationPoint, ...], "The points with known λ, in the order in which they are taken."
    ]
    estimates: Key[
        tuple[Line, ...], "With --out: what sampling found.", Written(list[CalibrationEstimate])
    ] = ()

    def __getitem__(self, name: str) -> list[Line]:
        """The list of this name in the JSON document; KeyError if there is none."""
        lists = {"points": [point.as_json() for point in self.points], "estimates": [*self.estimates]}
        return lists[name]

    def __iter__(self) -> Iterator[str]:
        return iter(("points", "estimates"))

    def __len__(self) -> int:
        return 2

    def summary(self) -> str:
        """How many points and estimates there are."""
        return f"{len(self.points)} points with known λ, {len(self.estimates)} estimates"

    def sheet(self) -> Sheet:
        """The points with λ and m."""
        rows = tuple(
            (number, point.name, str(point.value), point.multiplicity)
            for number, point in enumerate(self.points)
        )
        note = "λ and m are proved. --json prints the weights; --out DIR estimates λ by sampling."
        return Sheet("", (Table("", ("", "point", "λ", "m"), rows), Note(note)))


@takes("seed", "progress")
def calibration(
    count: int = 0,
    *,
    quick: bool = False,
    devinterp: bool = False,
    free_energy: bool = False,
    written: Callable[[dict[str, Any]], None] | None = None,
) -> Calibration:
    """The 100 weights with known learning coefficients λ, and λ estimated by sampling at some of them.

    Args:
        count: at how many of the weights λ is estimated, the first ones.
        quick: with few samples, so that errors are several percent.
        devinterp: run devinterp, too; this needs the extra ``slt``.
        free_energy: only slopes of free energies in log n.
        written: called with each estimate as soon as it is there.

    Returns:
        The points and the estimates; also a mapping with the lists ``"points"`` and ``"estimates"``, as the
        command prints them with ``--json``.

    Raises:
        InputError: if devinterp is asked for and missing.

    See Also:
        :func:`agattn.rlct`, :func:`agattn.train`; ``agattn calibrate`` in a shell.

    >>> import agattn as ag
    >>> found = ag.calibrate()
    >>> len(found["points"]), found["estimates"]
    (100, [])
    """
    if devinterp:
        require_devinterp()
    known = calibration_points()
    lines = []
    for line in calibrate(known[:count], quick=quick, devinterp=devinterp, free_energy=free_energy):
        lines.append(line)
        if written is not None:
            written(line)
    return Calibration(known, tuple(lines))


def calibrate(
    points: Sequence[CalibrationPoint],
    *,
    quick: bool = False,
    devinterp: bool = False,
    free_energy: bool = False,
) -> Iterator[Line]:
    """All estimates at points with known λ: chains and volumes, and at every third point SGLD.

    Args:
        points: the points.
        quick: with few samples, so that errors are several percent.
        devinterp: also run devinterp, at the settings with γ = 1 and the two smaller nβ.
        free_energy: only slopes of free energies, at lightning points with t ≥ 2.
    """
    known = {point.name: number for number, point in enumerate(calibration_points())}

    def line(
        point: CalibrationPoint, method: Any, value: float | None, error: float | None, **more: Any
    ) -> Line:
        return CalibrationEstimate(
            known[point.name],
            point.name,
            method,
            point.value,
            point.multiplicity,
            _rounded(value),
            _rounded(error),
            **more,
        ).as_json()

    seed = limits().seed
    if free_energy:
        for point in points:
            if point.head == "lightning" and point.layer.t > 1:
                few: dict[str, Any] = {"data_sets": 2, "chains": 16, "steps": 30} if quick else {}
                energy = by_free_energy(point, seed=seed, **few)
                means = [round(x, 4) for x in energy.energies]
                yield line(
                    point, "free-energy", energy.slope, energy.error, sizes=list(energy.sizes), energies=means
                )
        return
    for point in points:
        log.info(f"chains, {point.name}")
        sampled = by_chains(point, seed=seed, **({"sweeps": 50, "chains": 16} if quick else {}))
        yield line(point, "chains", sampled.value, sampled.error)
        log.info(f"volumes, {point.name}")
        sampled = by_volumes(point, seed=seed, **({"particles": 32} if quick else {}))
        yield line(point, "volumes", sampled.value, sampled.error)
    steps, n = (100, 1000) if quick else (1500, 10_000)
    for point in points[::EVERY]:
        log.info(f"SGLD, {point.name}")
        h = largest_curvature(point, n, seed)
        for found in by_sgld(point, steps=steps, n=n, seed=seed):
            yield line(point, "sgld", found.value, found.error, **found.setting._asdict(), curvature=h)
        for setting in SETTINGS if devinterp else ():
            if setting.gamma == 1 and setting.n_beta < 1000:
                log.info(f"devinterp, {point.name}")
                found = by_devinterp(point, setting, steps=steps, n=n, seed=seed)
                yield line(point, "devinterp", found.value, found.error, **setting._asdict(), curvature=h)


def _rounded(x: float | None) -> float | None:
    return None if x is None else float(f"{x:.6g}")


def relative_error(line: Line) -> float | None:
    """(estimate − λ)/λ; ``None`` where a chain diverged.

    >>> relative_error({"lambda": "5/2", "estimate": 2.0})
    -0.2
    """
    value = Fraction(line["lambda"])
    return None if line["estimate"] is None else float((line["estimate"] - value) / value)


class Rule(NamedTuple):
    """How settings of SGLD were chosen, and how they did: over how many points, and how many were right."""

    name: str
    points: int
    right: int
    diverged: int
    median_error: float

    @classmethod
    def of(cls, name: str, lines: Iterable[Line]) -> Rule:
        """A rule from the lines that it chose."""
        errors = [relative_error(line) for line in lines]
        sizes = [float("inf") if error is None else abs(error) for error in errors]
        return cls(name, len(sizes), sum(x <= RIGHT for x in sizes), errors.count(None), median(sizes))


def rules(lines: Sequence[Line]) -> list[Rule]:
    """Rules for SGLD by how well they did, the best first: fixed settings, and steps by the curvature.

    A rule of the second kind takes, at each point, the largest step ε of those tried with ε·nβ·h at most some
    number, where h is the largest eigenvalue of the Hessian at w₀.
    """
    tried: defaultdict[Setting, list[Line]] = defaultdict(list)
    chosen: defaultdict[str, list[Line]] = defaultdict(list)
    by_point: defaultdict[tuple[int, float, float], list[Line]] = defaultdict(list)
    for line in lines:
        if line["method"] == "sgld":
            tried[Setting(line["n_beta"], line["gamma"], line["step"])].append(line)
            by_point[line["point"], line["n_beta"], line["gamma"]].append(line)
    for (_, n_beta, gamma), same in by_point.items():
        for most in (0.01, 0.03, 0.1, 0.3):
            small = [line for line in same if line["step"] * n_beta * line["curvature"] <= most]
            if small:
                name = f"nβ = {n_beta:g}, γ = {gamma:g}, largest ε with ε·nβ·h ≤ {most:g}"
                chosen[name].append(max(small, key=lambda line: line["step"]))
    number = len({line["point"] for same in tried.values() for line in same})
    found = [Rule.of(str(setting), same) for setting, same in tried.items()]
    found += [Rule.of(name, same) for name, same in chosen.items() if len(same) == number]
    return sorted(found, key=lambda rule: (-rule.right, rule.median_error))
