"""Equations of the neuromanifold: this package against Macaulay2 and Singular, on this machine, in one run.

    python benchmarks/implicitization.py [--limit SECONDS] [--case D,D_OUT,A,DEGREE ...] [--output FILE]
    python benchmarks/implicitization.py --growth [--limit SECONDS] [--memory MIB]
    python benchmarks/implicitization.py --small

Each rival finds the minimal generators up to the same degree over the same prime field, and writes them out.
This package proves the numbers over ℚ, and finds the modules and their highest weight vectors over ℤ: the
row "agattn". In the row "all equations" it writes out all vectors of each module over ℤ as well; ratios are
to this row, or to the first where there are too many. The row "as any model" is our way for polynomial maps
in general, by multidegrees, which knows nothing of the layer; all its minimal generators are lifted and
proved. The rivals, their settings, and what the columns mean stand in ``rivals.py``, which also tries other
settings.

``--growth`` goes through the layers of at most 45 coordinates, degree by degree to 8, each in a process of
its own, until one is beyond the limit of time or memory; ``--small`` through small varieties. Both print
processor time, inside the process and of all of it. FLINT's rank is that of all monomials of the degree at
more random points of the variety than its Hilbert function, which is the way without symmetries: the time is
of the rank alone, and matrices of many entries are left out. A row that is stopped is followed by an estimate
from the two rows before. ``--case`` chooses layers, and the last degree of each.

In all three ``--against OTHER/.venv/bin/python`` repeats each run of this package, in turns, with the version
that is installed beside another Python.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from itertools import combinations_with_replacement
from math import comb, prod
from pathlib import Path

import flint
import numpy as np
from rivals import (
    PRIME,
    Run,
    estimate,
    header,
    installations,
    line,
    not_run,
    numbers,
    process,
    relations,
    settings,
)

from agattn.architectures import SingleLayer
from agattn.engines.locate import Installation
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.ideal.torus_weights import generic_point
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring

CASES = ["3,1,3,4", "3,1,2,4", "3,2,1,4", "3,2,2,4", "3,3,3,4", "4,4,4,3"]
#: More minimal generators than this are not written out.
MOST_WRITTEN = 3000

#: One run of this package in a process of its own: its time inside, without imports, and the numbers.
NATIVE = """
import sys, time
from agattn import SingleLayer
from agattn.evidence import weakest
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.ideal.model_ideal import compute_model_ideal
from agattn.geometry.variety.coefficient_map import coefficient_map
way, sizes = sys.argv[1], list(map(int, sys.argv[2:]))
def find(d, d_out, a, degree):
    layer = SingleLayer(d, d_out, a)
    if way == "model":
        return compute_model_ideal(coefficient_map(layer), degree)
    ideal = compute_ideal(layer, degree)
    assert all(module.highest.terms for module in ideal.generators)
    if way == "all":
        assert sum(1 for _ in ideal) == sum(piece.minimal_generators for piece in ideal.degrees)
    return ideal
find(2, 1, 1, 2)  # imports
start = time.process_time()
ideal = find(*sizes)
print("inside", time.process_time() - start)
print("evidence", weakest(piece.evidence for piece in ideal.degrees))
print([piece.minimal_generators for piece in ideal.degrees])
"""


#: What one run of a growth table prints: seconds inside, and the largest memory in MiB, of the numbers alone.
GROWTH = """
import resource, sys, time
from agattn import SingleLayer
from agattn.geometry.ideal.ideal import compute_ideal
d, d_out, a, degree = map(int, sys.argv[1:])
start = time.process_time()
ideal = compute_ideal(SingleLayer(d, d_out, a), degree)
seconds = time.process_time() - start
last = ideal.degrees[-1]
found = [last.hilbert_function, last.minimal_generators, getattr(last, "way", None), str(last.evidence)]
print([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, *found])
"""

#: The same for a small variety, with its dimension and all equations over ℤ, to degree 4: the mean of a
#: hundred, as clocks of processor time tick in milliseconds.
SMALL = """
import inspect, resource, sys, time
from itertools import combinations
import agattn as ag
def twisted_cubic(s):
    return [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3]
def lines(a, b):
    return [a[i] * b[j] - a[j] * b[i] for i, j in combinations(range(len(a)), 2)]
n = int(sys.argv[1])
variety = ag.PolynomialMap(lines, {"a": n, "b": n}) if n else ag.PolynomialMap(twisted_cubic, {"s": 2})
quiet = {"progress": lambda step: None} if "progress" in inspect.signature(ag.ideal).parameters else {}
ag.ideal(ag.PolynomialMap(lambda s: [s[0] ** 2, s[0] * s[1], s[1] ** 2], {"s": 2}), 2, **quiet)  # imports
start = time.process_time()
for _ in range(100):
    ideal = ag.ideal(variety, 4, **quiet)
seconds = (time.process_time() - start) / 100
last = ideal.degrees[-1]
found = [last.hilbert_function, sum(p.minimal_generators for p in ideal.degrees), ideal.dimension]
print([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, *found, str(last.evidence)])
"""

#: The layers of a growth table have at most so many coordinates, and FLINT's matrices so many entries.
MOST_COORDINATES, MOST_ENTRIES = 45, 4 * 10**6


def rank_seconds(layer: SingleLayer, degree: int) -> tuple[float, float]:
    """Seconds in one cold run, and the part of it inside FLINT's exact ranks and echelon forms."""
    from agattn.geometry.ideal import isotypic

    spent = 0.0

    def watched(function):  # type: ignore[no-untyped-def]
        def call(*arguments):  # type: ignore[no-untyped-def]
            nonlocal spent
            start = time.process_time()
            result = function(*arguments)
            spent += time.process_time() - start
            return result

        return call

    originals = isotypic.proved_rank, isotypic.independent_columns
    isotypic.proved_rank, isotypic.independent_columns = map(watched, originals)
    forget()
    start = time.process_time()
    compute_ideal(layer, degree)
    total = time.process_time() - start
    isotypic.proved_rank, isotypic.independent_columns = originals
    return total, spent


def forget() -> None:
    """Empty every cache of the native method, so that the next run is a cold one."""
    from agattn.algebra import characters
    from agattn.geometry.ideal import isotypic

    for cached in (*vars(characters).values(), *vars(isotypic).values()):
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


def own(way: str, case: str, limit: float, other: str | None = None) -> Run:
    """A run of this package, or of another version, in a process of its own."""
    python = other or sys.executable
    run = process([python, "-P", "-c", NATIVE, way, *case.split(",")], limit, clone=other is None)
    if run.problem and not run.stopped and other is None:
        raise SystemExit(f"{case}: {run.problem}")
    return run


def run_case(
    case: str, limit: float, engines: dict[str, Installation], other: str | None
) -> dict[str, object]:
    """Print the rows of one layer, and return the times."""
    d, d_out, a, degree = map(int, case.split(","))
    layer = SingleLayer(d, d_out, a)
    first = own("modules", case, limit)
    expected = numbers(first.output)
    if expected is None:
        raise SystemExit(f"{case}: {first.problem}")
    print(f"\nM({d},{d_out},{a}) to degree {degree}: minimal generators {expected}")
    ways = {"modules": first}
    if sum(expected) <= MOST_WRITTEN:
        ways["all"] = own("all", case, limit)
    ways["model"] = own("model", case, limit)
    total, in_flint = rank_seconds(layer, degree)
    words = {
        "modules": ("agattn", f"over ℚ; {in_flint:.3f} s in FLINT's ranks, of {total:.3f} s for the numbers"),
        "all": ("agattn, all equations", "written out over ℤ"),
        "model": ("agattn, as any model", "by multidegrees, lifted over ℤ"),
    }
    for way, run in ways.items():
        if not run.stopped and numbers(run.output) != expected:
            raise SystemExit(f"{case}: the ways disagree: {way} finds {run.output}")
        print(line(words[way][0], run, note=words[way][1]), flush=True)
        if other is not None:
            before = own(way, case, limit, other)
            agrees = "agrees" if numbers(before.output) == expected else f"DIFFERS: {before.output.strip()}"
            print(line(f"  before: {way}", before, run, agrees), flush=True)
    values, names = list(coefficients(layer, *generic_point(layer))), coordinate_ring(layer).variables
    ours, rivals = ways.get("all", first), {}
    for name, found in relations(values, names, degree, limit, engines).items():
        if isinstance(found, str):
            print(not_run(name, found), flush=True)
            continue
        counts = numbers(found.output)
        print(line(name, found, ours, "agrees" if counts == expected else f"DISAGREES: {counts}"), flush=True)
        rivals[name] = {**found._asdict(), "output": counts}
    times = {way: {"inside": run.inside, "whole": run.whole} for way, run in ways.items()}
    return {"case": case, "generators": expected, "agattn": times, "rivals": rivals}


def alone(
    script: str, arguments: Sequence[object], limit: float, memory: int, other: str | None
) -> tuple[list[object] | None, float, str]:
    """What a process prints, its processor time, and what went wrong; of another version if there is one."""
    command = [other or sys.executable, "-P", "-c", script, *map(str, arguments)]
    run = process(command, limit, memory=memory, clone=other is None)
    if run.problem:
        return None, run.whole, run.problem
    return json.loads(run.output.replace("'", '"').replace("None", "null")), run.whole, ""


def bare_rank(layer: SingleLayer, degree: int, rows: int) -> tuple[str, int | None]:
    """FLINT's seconds for the rank of all monomials of a degree at so many points of the variety modulo a

    prime; and the rank, which is the Hilbert function. The seconds do not count how the matrix is made.
    """
    number = comb(layer.ambient_dimension + degree - 1, degree)
    if rows * number > MOST_ENTRIES:
        return f"no: {rows} × {number}", None
    generator, matrix = np.random.default_rng(0), []
    monomials = list(combinations_with_replacement(range(layer.ambient_dimension), degree))
    for _ in range(rows):
        shapes = (layer.a, layer.d), (layer.a, layer.d), (layer.d_out, layer.d)
        K, Q, V = (generator.integers(0, PRIME, shape).astype(object) for shape in shapes)
        y = [int(x) % PRIME for x in coefficients(layer, K.T @ Q, V)]
        matrix.append([prod(y[k] for k in monomial) % PRIME for monomial in monomials])
    found = flint.nmod_mat(matrix, PRIME)
    start = time.process_time()
    rank = found.rank()
    return f"{time.process_time() - start:.3f}", int(rank)


def small_layers() -> list[tuple[int, int, int, int]]:
    """The layers of few coordinates, and the last degree."""
    sizes = ((d, d_out, a) for d in range(2, 7) for d_out in range(1, 8) for a in range(1, d + 1))
    return [(*size, 8) for size in sizes if SingleLayer(*size).ambient_dimension <= MOST_COORDINATES]


def growth(limit: float, memory: int, cases: Sequence[Sequence[int]], against: str | None) -> None:
    """Print how long each degree takes, for all layers of few coordinates, and where they stop."""
    print(f"{header(against)}\nlimits: {limit:g} s of processor time and {memory} MiB for each run.")
    heading = "layer      N  n  Hilbert function  new  evidence  way            inside    whole      MiB"
    print(heading + "    FLINT's rank" + "   inside, whole before" * bool(against))
    for d, d_out, a, last in cases:
        layer = SingleLayer(d, d_out, a)
        N, earlier, times = layer.ambient_dimension, bool(against), []
        for n in range(2, last + 1):
            found, spent, problem = alone(GROWTH, (d, d_out, a, n), limit, memory, None)
            name = f"({d},{d_out},{a})"
            if found is None:
                print(f"{name:8} {N:3} {n:2}  {problem}{estimate(times, n)}", flush=True)
                break
            times.append((n, float(found[0])))
            seconds, most, function, new, way, evidence = found
            row = f"{name:8} {N:3} {n:2}  {function:16} {new:4}  {evidence:8}  {way:13}"
            row += f" {seconds:7.2f}  {spent:7.2f}  {most:7.0f}"
            bare, rank = bare_rank(layer, n, function + 3)
            if rank not in (None, function):
                raise SystemExit(f"{name}, degree {n}: {function} monomials by this package, {rank} by ranks")
            row += f"  {bare:>14}"
            if earlier:
                then, spent, problem = alone(GROWTH, (d, d_out, a, n), limit, memory, against)
                earlier = then is not None
                if then is not None and then[2:4] != found[2:4]:
                    raise SystemExit(f"{name}, degree {n}: {found} now and {then} before")
                row += f"   {then[0]:7.2f}  {spent:7.2f}" if then else f"   {problem}"
            print(row, flush=True)


def small(against: str | None) -> None:
    """Print how long small varieties take, with their dimension and equations, as polynomial maps."""
    print("variety        inside    whole" + "   inside, whole before" * bool(against))
    for n in (0, 4, 5, 6):
        name = f"Gr(2,{n})" if n else "twisted cubic"
        found, spent, problem = alone(SMALL, (n,), 60, 16384, None)
        if found is None:
            raise SystemExit(f"{name}: {problem}")
        # The whole is that of a process that asks once.
        row = f"{name:13} {found[0]:7.4f}  {spent - 99 * found[0]:7.2f}"
        if against:
            then, spent, problem = alone(SMALL, (n,), 60, 16384, against)
            if then is None or then[2:] != found[2:]:
                raise SystemExit(f"{name}: {found} now and {then} before {problem}")
            row += f"   {then[0]:7.4f}  {spent - 99 * then[0]:7.2f}"
        print(f"{row}   {found[3]} generators, {found[5]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a rival is stopped")
    parser.add_argument("--case", action="append", metavar="D,D_OUT,A,DEGREE")
    parser.add_argument("--output", type=Path, help="write the numbers as JSON")
    parser.add_argument("--growth", action="store_true", help="all layers of few coordinates, by degree")
    parser.add_argument("--small", action="store_true", help="small varieties")
    parser.add_argument("--memory", type=int, default=8192, metavar="MIB", help="for --growth")
    parser.add_argument("--against", metavar="PYTHON", help="the Python that has another version of agattn")
    options = parser.parse_args()
    if options.growth:
        cases = [list(map(int, case.split(","))) for case in options.case or []]
        growth(options.limit, options.memory, cases or small_layers(), options.against)
    if options.small:
        small(options.against)
    if options.growth or options.small:
        return
    engines = installations()
    print(f"{header(options.against)}\nrivals are stopped after {options.limit:g} s; their settings:")
    print(settings())
    results = [run_case(case, options.limit, engines, options.against) for case in options.case or CASES]
    if options.output:
        options.output.write_text(json.dumps({"head": header(), "cases": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()
