"""Critical points of the squared loss: the same counts by every engine and both methods, times side by side.

    python benchmarks/critical_points.py              # small layers; --large for those that take minutes
    python benchmarks/critical_points.py --limit 60   # seconds for each run of an engine

Everything is computed modulo 32003, in one chart for each stratum. Times are wall-clock seconds of engines,
and in parentheses how many times the fastest of the row.
"""

from __future__ import annotations

import argparse

from agattn import SingleLayer
from agattn.engines.catalogue import ENGINES
from agattn.engines.locate import locate
from agattn.engines.run import run
from agattn.errors import EngineMemoryError, EngineNotFoundError, EngineTimeoutError
from agattn.geometry.critical_points.loss import loss
from agattn.limits import limited
from agattn.systems.catalogue import build, task_named
from agattn.verification.critical_points import PRIMES

CASES = (
    ((2, 1, 2), "generic", "critical-points"),
    ((2, 1, 2), "generic", "critical-equations"),
    ((2, 1, 1), "generic", "critical-points"),
    ((2, 2, 1), "generic", "critical-points"),
    ((2, 2, 2), "generic", "critical-points"),
    ((2, 2, 2), "bombieri-weyl", "critical-points"),
    ((3, 1, 3), "bombieri-weyl", "critical-points"),
    ((3, 1, 1), "bombieri-weyl", "critical-points"),
)
LARGE = (
    ((2, 2, 2), "generic", "critical-equations"),
    ((2, 3, 2), "generic", "critical-points"),
    ((3, 1, 3), "gaussian", "critical-points"),
    ((3, 1, 2), "bombieri-weyl", "critical-points"),
    ((3, 1, 1), "gaussian", "critical-points"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", type=float, default=60, help="seconds for each run of an engine")
    parser.add_argument("--large", action="store_true", help="also what takes minutes")
    parser.add_argument("--cases", type=int, help="only so many of the cases")
    options = parser.parse_args()
    installations = {}
    for name, engine in ENGINES.items():
        try:
            installations[name] = locate(engine)
        except EngineNotFoundError:
            print(f"{name} is not installed")
    print(
        f"{'layer':8} {'metric':14} {'task':19} "
        + " ".join(f"{name:>16}" for name in installations)
        + "  counts"
    )
    for sizes, metric, task in [*CASES, *(LARGE if options.large else ())][: options.cases]:
        layer = SingleLayer(*sizes)
        problem = build(task, layer, PRIMES[0], loss=loss(layer, metric))
        seconds, found = {}, []
        for name, installation in installations.items():
            try:
                with limited(timeout=options.limit):
                    done = run(problem, installation)
            except (EngineTimeoutError, EngineMemoryError):
                continue
            seconds[name] = done.seconds
            found.append([str(part) for part in task_named(task).read(done.answer).values()])
        best = min(seconds.values(), default=1)
        times = (
            f"{seconds[n]:8.2f} ({seconds[n] / best:4.1f})" if n in seconds else "-" for n in installations
        )
        agree = "" if all(counts == found[0] for counts in found) else "  THE ENGINES DISAGREE"
        counts = ", ".join(found[0]) if found else "no engine finished"
        name = ",".join(map(str, sizes))
        print(
            f"{name:8} {metric:14} {task:19} " + " ".join(f"{t:>16}" for t in times) + f"  {counts}{agree}",
            flush=True,
        )


if __name__ == "__main__":
    main()
