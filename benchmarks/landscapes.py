"""All real critical points of the losses of random data sets, each proved, with checks that could fail.

    python benchmarks/landscapes.py [--data N] [--metric METRIC] [--layer D,D_OUT,A ...]

For every data set a line for the smooth part and one for each stratum: how many complex critical points,
how many real ones, of which indices, the least loss, the largest value that interval arithmetic allows for
an entry of a gradient (all of which contain 0), and the sum of (−1)^index beside what Morse theory says it
must be. Ends with status 1 if a point is undecided, a sum is wrong, or an index is missing that every loss
has.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

from agattn.architectures import SingleLayer
from agattn.geometry.critical_points.loss import METRICS, loss
from agattn.geometry.critical_points.real_points import RealPart, least_numbers
from agattn.verification.critical_points import lower_strata, real_part

LAYERS = ("2,1,2", "2,2,2")


def indices_of(part: RealPart) -> Counter[int]:
    """How many points there are of each index."""
    return Counter(point.index for point in part.points if point.index is not None)


def main(arguments: list[str] | None = None) -> int:
    """Run the data sets; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=int, default=20, help="how many data sets")
    parser.add_argument("--metric", choices=METRICS, default="generic")
    parser.add_argument("--layer", action="append", metavar="D,D_OUT,A", help="default: 2,1,2 and 2,2,2")
    chosen = parser.parse_args(arguments)
    wrong = 0
    for name in chosen.layer or LAYERS:
        layer = SingleLayer(*map(int, name.split(",")))
        print(f"{layer.name}, {chosen.metric}")
        print(
            "seed  part         complex  real  by index          least loss  gradient  sum  must be  seconds"
        )
        for seed in range(chosen.data):
            for stratum in (None, *lower_strata(layer)):
                start = time.perf_counter()
                part = real_part(loss(layer, chosen.metric, seed=seed), stratum)
                print(line(seed, part, time.perf_counter() - start), flush=True)
                wrong += not is_consistent(part)
    print(f"{wrong} of these are inconsistent" if wrong else "all consistent")
    return int(wrong > 0)


def line(seed: int, part: RealPart, seconds: float) -> str:
    """One stratum of one data set."""
    name = "smooth part" if part.regular else str(part.stratum)
    indices = " ".join(f"{number}×{index}" for index, number in sorted(indices_of(part).items()))
    gradient = max((point.gradient for point in part.points), default=0.0)
    least = min((float(point.loss.mid()) for point in part.points if point.in_m), default=float("nan"))
    sums = ["-" if value is None else str(value) for value in (part.alternating_sum, part.expected_sum)]
    return (
        f"{seed:4}  {name:11}  {part.complex_number or 0:7}  {len(part.points):4}  {indices:16}  "
        f"{least:10.4f}  {gradient:8.1e}  {sums[0]:>3}  {sums[1]:>7}  {seconds:7.2f}"
    )


def is_consistent(part: RealPart) -> bool:
    """Whether all is decided, the indices add up, and none is missing."""
    adds_up = part.expected_sum is None or part.alternating_sum == part.expected_sum
    least = least_numbers(part.layer) if part.regular else ()
    there = all(indices_of(part)[index] >= number for index, number in enumerate(least))
    return part.undecided == 0 and part.complete is not None and adds_up and there


if __name__ == "__main__":
    raise SystemExit(main())
