"""Rules for the settings of SGLD, judged at the calibration points on which no rule was chosen.

    python benchmarks/sgld_rules.py              the 90 other points; three minutes of processor time
    python benchmarks/sgld_rules.py --points 2   the first two of them

``agattn calibrate --out DIR`` tries 36 settings at every third of its first thirty points, and sorts rules by
how often they are right there. Here the settings with γ = nβ/10 and nβ = 10 or 100 are tried at the other
points. A rule by the curvature is judged at the points where one of the steps tried is small enough for it.
"""

from __future__ import annotations

import argparse
import time
from math import isfinite

from agattn.experiments.calibration.calibration import EVERY, CalibrationEstimate, Line, Rule
from agattn.experiments.calibration.langevin import SETTINGS, by_sgld, largest_curvature
from agattn.experiments.calibration.points import CalibrationPoint, calibration_points

CHOSEN_ON = range(0, 30, EVERY)
TRIED = [setting for setting in SETTINGS if setting.n_beta == 10 * setting.gamma and setting.n_beta <= 100]
MOST = (0.03, 0.1, 0.3)


def estimates(number: int, point: CalibrationPoint) -> list[Line]:
    """One line for each setting, as ``agattn calibrate`` writes it."""
    h = largest_curvature(point)
    return [
        CalibrationEstimate(
            number, point.name, "sgld", point.value, point.multiplicity, found.value, found.error,
            **found.setting._asdict(), curvature=h,
        ).as_json()
        for found in by_sgld(point, TRIED, steps=1500)
    ]  # fmt: skip


def rules(lines: list[Line]) -> list[Rule]:
    """Each fixed setting, and for each nβ the largest step ε with ε·nβ·h ≤ a number."""
    judged = []
    for setting in TRIED:
        same = [line for line in lines if (line["n_beta"], line["step"]) == (setting.n_beta, setting.step)]
        judged.append(Rule.of(str(setting), same))
    for n_beta in sorted({setting.n_beta for setting in TRIED}):
        for most in MOST:
            largest: dict[int, Line] = {}
            for line in lines:  # by growing steps
                if line["n_beta"] == n_beta and line["step"] * n_beta * line["curvature"] <= most:
                    largest[line["point"]] = line
            if largest:
                name = f"nβ = {n_beta:g}, γ = {n_beta / 10:g}, largest ε with ε·nβ·h ≤ {most:g}"
                judged.append(Rule.of(name, largest.values()))
    return sorted(judged, key=lambda rule: (-rule.right / rule.points, rule.median_error))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=90, help="how many  [default: 90, all]")
    given = parser.parse_args()
    others = [pair for pair in enumerate(calibration_points()) if pair[0] not in CHOSEN_ON]
    begun = time.process_time()
    lines = [line for pair in others[: given.points] for line in estimates(*pair)]
    print("| setting | within 10 % | diverged | median error |\n| --- | --- | --- | --- |")
    for rule in rules(lines):
        error = f"{100 * rule.median_error:.0f} %" if isfinite(rule.median_error) else "–"
        print(f"| {rule.name} | {rule.right} of {rule.points} | {rule.diverged} | {error} |")
    print(f"{time.process_time() - begun:.0f} s of processor time")


if __name__ == "__main__":
    main()
