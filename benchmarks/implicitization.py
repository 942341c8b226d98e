"""Equations of the neuromanifold: this package against Macaulay2 and Singular, on this machine, in one run.

    python benchmarks/implicitization.py [--limit SECONDS] [--case D,D_OUT,A,DEGREE ...] [--output FILE]
    python benchmarks/implicitization.py --growth [--limit SECONDS] [--memory MIB] [--against FOLDER]
    python benchmarks/implicitization.py --small [--against FOLDER]

Each rival finds the minimal generators up to the same degree over the same prime field. This package proves
the numbers over ℚ, and finds the modules and their highest weight vectors over ℤ; it writes out the other
vectors of each module only in the time called "all". Rivals:

    naive       Macaulay2: kernel of the ring map, all variables of degree 1
    graded      Macaulay2: the same with the y in the degree of their images, so that Hilbert functions help;
                and the same truncated: a Gröbner basis of the graph only up to the degree wanted
    multigraded Macaulay2: componentsOfKernel of the package MultigradedImplicitization, where it is installed
    preimage    Singular: preimage of the zero ideal; it knows no degree limit

A rival that is stopped at the limit counts as at least that slow. Process start-up is part of every rival's
time, and of the first of ours, that of a fresh Python process; our time inside a running one, with empty
caches, is shown beside it. The row "as any model" is our way for polynomial maps in general, by multidegrees,
which knows nothing of the layer; all its minimal generators are lifted and proved.

``--growth`` goes through the layers of at most 45 coordinates, degree by degree to 8, each in a process of
its own, until one is beyond the limit of time or memory; ``--small`` through small varieties. Both print
processor time, inside the process and of all of it, and ``--against`` repeats each, in turns, with the
package of another checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from agattn.algebra.polynomial import Polynomial, Variable
from agattn.architectures import SingleLayer
from agattn.engines.catalogue import engine_named
from agattn.engines.locate import Installation, locate
from agattn.errors import EngineNotFoundError
from agattn.evidence import weakest
from agattn.geometry.ideal.ideal import Ideal, compute_ideal
from agattn.geometry.ideal.model_ideal import compute_model_ideal
from agattn.geometry.ideal.torus_weights import generic_point
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring

PRIME = 32003
CASES = ["3,1,3,4", "3,1,2,4", "3,2,1,4", "3,2,2,4", "3,3,3,4", "4,4,4,3"]
RIVALS = {
    "naive": "macaulay2",
    "graded": "macaulay2",
    "graded, truncated": "macaulay2",
    "multigraded": "macaulay2",
    "preimage": "singular",
}

NATIVE = """
import sys
from agattn import SingleLayer
from agattn.geometry.ideal.ideal import compute_ideal
d, d_out, a, degree = map(int, sys.argv[1:])
ideal = compute_ideal(SingleLayer(d, d_out, a), degree)
generators = ideal.generators
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

#: The same for a small variety, with its dimension and all equations over ℤ, to degree 4: the best of three.
SMALL = """
import resource, sys, time
from itertools import combinations
import agattn as ag
def twisted_cubic(s):
    return [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3]
def lines(a, b):
    return [a[i] * b[j] - a[j] * b[i] for i, j in combinations(range(len(a)), 2)]
n = int(sys.argv[1])
variety = ag.PolynomialMap(lines, {"a": n, "b": n}) if n else ag.PolynomialMap(twisted_cubic, {"s": 2})
quiet = {"progress": lambda step: None}
ag.ideal(ag.PolynomialMap(lambda s: [s[0] ** 2, s[0] * s[1], s[1] ** 2], {"s": 2}), 2, **quiet)  # imports
seconds = 60.0
for _ in range(3):
    start = time.process_time()
    ideal = ag.ideal(variety, 4, **quiet)
    seconds = min(seconds, time.process_time() - start)
last = ideal.degrees[-1]
found = [last.hilbert_function, sum(p.minimal_generators for p in ideal.degrees), ideal.dimension]
print([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, *found, str(last.evidence)])
"""

#: The layers of a growth table have at most so many coordinates, and these degrees.
MOST_COORDINATES, DEGREES = 45, range(4, 9)


def macaulay2_script(values: Sequence[Polynomial], names: Sequence[Variable], degree: int, rival: str) -> str:
    """Count the minimal generators of the relations among forms of one degree, with these names."""
    source = ", ".join(v.macaulay2() for v in values[0].ring.variables)
    target = ", ".join(v.macaulay2() for v in names)
    images = ", ".join(f.macaulay2() for f in values)
    image_degree = values[0].degree()
    graded = rival.startswith("graded")
    step = image_degree if graded else 1
    degrees = f", Degrees => toList({len(values)}:{image_degree})" if graded else ""
    head = f"R = ZZ/{PRIME}[{source}]\nS = ZZ/{PRIME}[{target}{degrees}]\nf = map(R, S, {{{images}}})\n"
    if rival == "multigraded":
        # It returns one list of generators for each multidegree.
        return (
            'needsPackage "MultigradedImplicitization"\n'
            + head
            + f"found = flatten values componentsOfKernel({degree}, f)\n"
            + count("apply(found, g -> first degree g)", 1, degree)
        )
    if rival == "graded, truncated":
        # The graph ideal, homogeneous in these degrees; a basis up to the degree wanted is enough.
        weights = f"join(toList({len(values[0].ring)}:1), toList({len(values)}:{image_degree}))"
        graph = ", ".join(f"{y.macaulay2()} - ({f.macaulay2()})" for y, f in zip(names, values, strict=True))
        return (
            f"T = ZZ/{PRIME}[{source}, {target}, Degrees => {weights},"
            f" MonomialOrder => Eliminate {len(values[0].ring)}]\n"
            f"G = gens gb(ideal({graph}), DegreeLimit => {step * degree})\n"
            f"S = ZZ/{PRIME}[{target}{degrees}]\n"
            "I = sub(ideal selectInSubring(1, G), S)\n"
            + count("flatten degrees source mingens I", step, degree)
        )
    return head + "I = kernel f\n" + count("flatten degrees source mingens I", step, degree)


def count(degrees: str, step: int, last: int) -> str:
    wanted = ", ".join(str(step * n) for n in range(1, last + 1))
    return f"t = tally {degrees}\n<< toString apply({{{wanted}}}, n -> if t#?n then t#n else 0) << endl\n"


def singular_script(layer: SingleLayer, degree: int) -> str:
    values = list(coefficients(layer, *generic_point(layer)))
    source = ",".join(v.singular() for v in values[0].ring.variables)
    target = ",".join(v.singular() for v in coordinate_ring(layer).variables)
    images = ",".join(f.singular() for f in values)
    return (
        f"ring R = {PRIME},({source}),dp;\nideal images = {images};\nideal zero = 0;\n"
        f"ring S = {PRIME},({target}),dp;\nideal I = minbase(preimage(R, images, zero));\n"
        f"intvec c = 0:{degree + 1}; int j;\n"
        f"for (j = 1; j <= size(I); j++)\n"
        f"{{ if (deg(I[j]) <= {degree}) {{ c[deg(I[j])] = c[deg(I[j])] + 1; }} }}\n"
        f'"[" + string(intvec(c[1..{degree}])) + "]";\nquit;\n'
    )


def timed(command: list[str], limit: float, folder: Path | None = None) -> tuple[float, str | None, str]:
    """Seconds, what was printed (None if stopped), and what went wrong."""
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False, cwd=folder)
    except subprocess.TimeoutExpired:
        return limit, None, "stopped at the limit"
    seconds = time.perf_counter() - start
    return seconds, done.stdout, "" if done.returncode == 0 else done.stderr.strip()[-200:] or "failed"


def installations() -> dict[str, Installation]:
    found = {}
    for name in ("macaulay2", "singular"):
        try:
            found[name] = locate(engine_named(name))
        except EngineNotFoundError as error:
            print(error, file=sys.stderr)
    return found


def rank_seconds(layer: SingleLayer, degree: int) -> tuple[float, float]:
    """Seconds in one cold run, and the part of it inside FLINT's exact ranks and echelon forms."""
    from agattn.geometry.ideal import isotypic

    spent = 0.0

    def watched(function):  # type: ignore[no-untyped-def]
        def call(*arguments):  # type: ignore[no-untyped-def]
            nonlocal spent
            start = time.perf_counter()
            result = function(*arguments)
            spent += time.perf_counter() - start
            return result

        return call

    originals = isotypic.proved_rank, isotypic.independent_columns
    isotypic.proved_rank, isotypic.independent_columns = map(watched, originals)
    forget()
    start = time.perf_counter()
    compute_ideal(layer, degree)
    total = time.perf_counter() - start
    isotypic.proved_rank, isotypic.independent_columns = originals
    return total, spent


def forget() -> None:
    """Empty every cache of the native method, so that the next run is a cold one."""
    from agattn.algebra import specht
    from agattn.geometry.ideal import isotypic

    for cached in (*vars(specht).values(), *vars(isotypic).values()):
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


def warm_seconds(layer: SingleLayer, degree: int) -> tuple[float, Ideal]:
    """The time in a running process with empty caches, generators over ℤ and their proofs included."""
    forget()
    start = time.perf_counter()
    ideal = compute_ideal(layer, degree)
    assert all(module.highest.terms for module in ideal.generators)
    return time.perf_counter() - start, ideal


def run_case(case: str, limit: float, engines: dict[str, Installation]) -> dict[str, object]:
    d, d_out, a, degree = map(int, case.split(","))
    layer = SingleLayer(d, d_out, a)
    in_process, ideal = warm_seconds(layer, degree)
    expected = [piece.minimal_generators for piece in ideal.degrees]
    native, output, problem = timed([sys.executable, "-c", NATIVE, *case.split(",")], limit)
    if output is None or output.strip() != str(expected):
        raise SystemExit(f"{case}: the fresh process disagrees or failed: {output} {problem}")
    total, flint_seconds = rank_seconds(layer, degree)
    print(f"\nM({d},{d_out},{a}) to degree {degree}: minimal generators {expected}")
    print(f"  {'agattn':22} {native:8.2f} s   as a process; {in_process:.3f} s inside one")
    print(f"  {'of which FLINT':22} {flint_seconds:8.3f} s   in ranks, of {total:.3f} s for the numbers")
    start = time.perf_counter()
    written = sum(1 for _ in ideal.equations()) if sum(expected) <= 3000 else None
    everything = in_process + time.perf_counter() - start
    if written is not None:
        print(f"  {'all':22} {everything:8.2f} s   with all {written} equations written out over ℤ")
    start = time.perf_counter()
    general = compute_model_ideal(coefficient_map(layer), degree)
    as_model = time.perf_counter() - start
    if [piece.minimal_generators for piece in general.degrees] != expected:
        raise SystemExit(f"{case}: the ways by modules and by multidegrees disagree: {general}")
    evidence = weakest(piece.evidence for piece in general.degrees)
    print(f"  {'as any model':22} {as_model:8.2f} s   by multidegrees, lifted over ℤ: {evidence}")
    rivals = {}
    for rival, engine in RIVALS.items():
        if engine not in engines:
            continue
        installation = engines[engine]
        if engine == "macaulay2":
            values = list(coefficients(layer, *generic_point(layer)))
            script = macaulay2_script(values, coordinate_ring(layer).variables, degree, rival)
        else:
            script = singular_script(layer, degree)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, f"script.{installation.engine.suffix}")
            file.write_text(script, encoding="utf-8")
            command = [str(installation.path), *installation.engine.arguments, str(file)]
            seconds, output, problem = timed(command, limit, Path(folder))
        counts = None if output is None or problem else numbers(output)
        agrees = counts == expected
        mark = "≥" if output is None else " "
        note = problem or ("agrees" if agrees else f"DISAGREES: {counts}")
        ratios = f"{mark}{seconds / native:8.0f}×  {mark}{seconds / in_process:8.0f}×"
        print(f"  {rival:22} {seconds:8.2f} s   {ratios}   {note}", flush=True)
        rivals[rival] = {"seconds": seconds, "stopped": output is None, "agrees": agrees, "problem": problem}
    return {
        "case": case,
        "generators": expected,
        "process_seconds": native,
        "in_process_seconds": in_process,
        "all_equations_seconds": everything if written is not None else None,
        "numbers_seconds": total,
        "flint_seconds": flint_seconds,
        "as_any_model_seconds": as_model,
        "rivals": rivals,
    }


def alone(
    script: str, arguments: Sequence[object], limit: float, memory: int, folder: Path | None
) -> tuple[list[object] | None, float, str]:
    """What a process prints, its processor time, and what went wrong; with the package in another folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))

    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(folder or Path(__file__).parents[1])}, preexec_fn=bounded,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode == 0:
        return json.loads(done.stdout.replace("'", '"').replace("None", "null")), spent, ""
    lines = done.stderr.strip().splitlines()
    return None, spent, lines[-1][:150] if lines else f"stopped after {spent:.0f} s"


def growth(limit: float, memory: int, against: Path | None) -> None:
    """Print how long each degree takes, for all layers of few coordinates, and where they stop."""
    print(f"Limits: {limit:g} s of processor time and {memory} MiB for each run.")
    heading = "layer      N  n  Hilbert function  new  evidence  way            inside    whole      MiB"
    print(heading + "   inside, whole before" * bool(against))
    sizes = [(d, d_out, a) for d in range(2, 7) for d_out in range(1, 8) for a in range(1, d + 1)]
    for d, d_out, a in sizes:
        layer = SingleLayer(d, d_out, a)
        N = layer.ambient_dimension
        if N > MOST_COORDINATES:
            continue
        earlier = bool(against)
        for n in DEGREES:
            found, spent, problem = alone(GROWTH, (d, d_out, a, n), limit, memory, None)
            name = f"({d},{d_out},{a})"
            if found is None:
                print(f"{name:8} {N:3} {n:2}  {problem}", flush=True)
                break
            seconds, most, function, new, way, evidence = found
            row = f"{name:8} {N:3} {n:2}  {function:16} {new:4}  {evidence:8}  {way:13}"
            row += f" {seconds:7.2f}  {spent:7.2f}  {most:7.0f}"
            if earlier:
                then, spent, problem = alone(GROWTH, (d, d_out, a, n), limit, memory, against)
                earlier = then is not None
                if then is not None and then[2:4] != found[2:4]:
                    raise SystemExit(f"{name}, degree {n}: {found} now and {then} before")
                row += f"   {then[0]:7.2f}  {spent:7.2f}" if then else f"   {problem}"
            print(row, flush=True)


def small(against: Path | None) -> None:
    """Print how long small varieties take, with their dimension and equations, as polynomial maps."""
    print("variety        inside    whole" + "   inside, whole before" * bool(against))
    for n in (0, 4, 5, 6):
        name = f"Gr(2,{n})" if n else "twisted cubic"
        found, spent, problem = alone(SMALL, (n,), 60, 16384, None)
        if found is None:
            raise SystemExit(f"{name}: {problem}")
        row = f"{name:13} {found[0]:7.3f}  {spent:7.2f}"
        if against:
            then, spent, problem = alone(SMALL, (n,), 60, 16384, against)
            if then is None or then[2:] != found[2:]:
                raise SystemExit(f"{name}: {found} now and {then} before {problem}")
            row += f"   {then[0]:7.3f}  {spent:7.2f}"
        print(f"{row}   {found[3]} generators, {found[5]}", flush=True)


def numbers(output: str) -> list[int] | None:
    """The last bracketed list of numbers that was printed."""
    for line in reversed(output.splitlines()):
        text = line.strip()
        if text[:1] in "[{" and text[-1:] in "]}" and text:
            return [int(x) for x in text[1:-1].split(",")]
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a rival is stopped")
    parser.add_argument("--case", action="append", metavar="D,D_OUT,A,DEGREE")
    parser.add_argument("--output", type=Path, help="write the numbers as JSON")
    parser.add_argument("--growth", action="store_true", help="all layers of few coordinates, by degree")
    parser.add_argument("--small", action="store_true", help="small varieties")
    parser.add_argument("--memory", type=int, default=8192, metavar="MIB", help="for --growth")
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="another checkout, for both")
    options = parser.parse_args()
    if options.growth:
        growth(options.limit, options.memory, options.against)
    if options.small:
        small(options.against)
    if options.growth or options.small:
        return
    engines = installations()
    versions = ", ".join(f"{i.engine.title} {i.version}" for i in engines.values())
    print(f"Python {platform.python_version()}, {platform.machine()}; {versions}; rivals over ZZ/{PRIME}")
    print(f"Rivals are stopped after {options.limit:g} s. Ratios: to a fresh process, and to a running one.")
    results = [run_case(case, options.limit, engines) for case in options.case or CASES]
    if options.output:
        options.output.write_text(json.dumps({"versions": versions, "cases": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()
