"""The other programs that the benchmarks compare with: their scripts, how they are run, and what is printed.

    python benchmarks/rivals.py [--case D,D_OUT,A,DEGREE] [--limit SECONDS]

tries all settings of :data:`RELATIONS` and :data:`TRIED` on one layer, prints how long each takes, and so
shows how the settings of the tables were chosen.

Of each run two times are printed, both of processors. *Inside* is the time of the computation alone, taken
by the program itself, after its start and after its packages and rings are made. *Whole* is the time of the
process from its start to its end, as the operating system counts it. In brackets stands the time on the
clock. The times of this package are taken in the same way, in a fresh Python process, so that each column
compares like with like. A program that fails gets its own message and no ratio; one that is stopped counts
as at least that slow.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from math import log
from pathlib import Path
from typing import NamedTuple

from agattn import SingleLayer
from agattn.algebra.polynomial import Polynomial, Variable
from agattn.engines.catalogue import engine_named
from agattn.engines.locate import Installation, locate
from agattn.errors import EngineNotFoundError
from agattn.geometry.ideal.torus_weights import generic_point
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring

ROOT = Path(__file__).parents[1]
PRIME = 32003
#: MiB of memory for a rival.
MEMORY = 6000


class Run(NamedTuple):
    """What came of a process.

    Attributes:
        inside: processor seconds of the computation, as the program itself counts them, if it said so.
        whole: processor seconds of the process.
        clock: seconds on the clock.
        output: what was printed.
        problem: what went wrong, in the words of the program; empty if nothing did.
    """

    inside: float | None
    whole: float
    clock: float
    output: str
    problem: str

    @property
    def stopped(self) -> bool:
        """Whether the limit of time ended the process."""
        return self.problem.startswith("stopped")


def process(
    command: Sequence[str], limit: float, folder: Path | None = None, memory: int = MEMORY, clone: bool = True
) -> Run:
    """Run a program with so many seconds of processor time and so many MiB.

    It finds the package of this clone, or without ``clone`` what is installed beside its Python.
    """

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))

    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed, with bytecode
    if not clone:
        environment.pop("PYTHONPATH")
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        list(command), capture_output=True, text=True, check=False, cwd=folder, preexec_fn=bounded,
        env=environment,
    )  # fmt: skip
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = re.search(r"^inside (\S+)", done.stdout, re.MULTILINE)
    problem = ""
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip() and "elapsed" not in line]
        stopped = f"stopped after {whole:.0f} s" if whole >= limit - 1 else f"ended with {done.returncode}"
        errors = [line for line in lines if "rror" in line] or lines
        problem = stopped if whole >= limit - 1 or not errors else errors[0].strip()[-150:]
    return Run(float(said[1]) if said else None, whole, clock, done.stdout, problem)


def engine_run(engine: Installation, script: str, limit: float) -> Run:
    """Run a script in an engine."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"script.{engine.engine.suffix}")
        file.write_text(script, encoding="utf-8")
        return process([str(engine.path), *engine.engine.arguments, str(file)], limit, Path(folder))


def installations() -> dict[str, Installation]:
    """The engines that are there; a line on stderr for each other."""
    found = {}
    for name in ("macaulay2", "singular"):
        try:
            found[name] = locate(engine_named(name))
        except EngineNotFoundError as error:
            print(error, file=sys.stderr)
    return found


def version_of(python: str) -> str:
    """What the version of agattn beside another Python says of itself."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run(
        [python, "-P", "-m", "agattn", "--version"], capture_output=True, text=True, check=True,
        env=environment,
    )  # fmt: skip
    return said.stdout.strip()


def word(run: Run, name: str) -> str:
    """What a run printed after a name."""
    found = re.search(rf"^{name} (.*)$", run.output, re.MULTILINE)
    return found[1] if found else ""


def numbers(output: str) -> list[int] | None:
    """The last bracketed list of numbers that was printed."""
    for line in reversed(output.splitlines()):
        text = line.strip()
        if text[:1] in "[{" and text[-1:] in "]}" and text:
            return [int(x) for x in text[1:-1].split(",")]
    return None


# What is printed -------------------------------------------------------------------------------------------


def header(other: str | None = None) -> str:
    """The date, the versions and the machine, for the head of each table; another version if there is one."""
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    packages = []
    for name in ("agattn", "numpy", "python-flint", "jax"):
        try:
            packages.append(f"{name} {version(name)}" + f" at {commit}" * bool(name == "agattn" and commit))
        except PackageNotFoundError:
            packages.append(f"no {name}")
    engines = [f"{there.engine.title} {there.version}" for there in installations().values()]
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return (
        f"{datetime.datetime.now(datetime.UTC):%d %B %Y}, {', '.join(packages)}, Python"
        f" {platform.python_version()}; {', '.join(engines)}{'' if shutil.which('gfan') else ', no gfan'}\n"
        f"{os.cpu_count()} processors, {platform.machine()}; the machine was shared, with loads of {load}\n"
        "processor seconds inside, of the whole process, (on the clock); ratios to agattn: inside, whole"
        + (f"\nbefore: {version_of(other)}" if other else "")
    )


def line(name: str, run: Run, ours: Run | None = None, note: str = "") -> str:
    """A row of a table: the times of a run, and if there is ``ours``, their ratios to ours."""
    # Singular counts milliseconds.
    inside = "–" if run.inside is None else f"{run.inside:.3f}" if run.inside else "<0.001"
    row = f"  {name:24} {inside:>9} {run.whole:9.2f} ({run.clock:.1f} s)"
    if run.problem and not run.stopped:
        return f"  {name:24} {'failed':>9}  {run.problem}"
    if ours is not None:
        mark = "≥" if run.stopped else ""
        first = run.whole if run.stopped else run.inside
        less = "<" * (first == 0)
        known = first is not None and ours.inside
        one = f"{mark}{less}{_ratio((first or 0.001) / ours.inside)}" if known else "–"
        row += f"  {one:>9} {f'{mark}{_ratio(run.whole / ours.whole)}':>9}"
    return f"{row}   {run.problem or note}"


def _ratio(x: float) -> str:
    return f"{x:.0f}×" if x >= 10 else f"{x:.2g}×"


def estimate(times: Sequence[tuple[float, float]], size: float) -> str:
    """What a row that was stopped would take, in words, from sizes and seconds of the rows before.

    The seconds are taken for a power of the size, the one that the last two rows show.
    """
    if len(times) < 2 or not times[-2][1]:
        return ""
    (before, less), (last, more) = times[-2:]
    power = log(more / less) / log(last / before)
    return f"; about {more * (size / last) ** power:.0f} s, if it grows as size^{power:.1f}"


def not_run(name: str, why: str) -> str:
    """The row of a program that was not run."""
    return f"  {name:24} {'not run':>9}  {why}"


# Scripts for relations among forms -------------------------------------------------------------------------

Script = Callable[[Sequence[Polynomial], Sequence[Variable], int], str]


class Rival(NamedTuple):
    """A way to find the minimal relations among forms of one degree, up to some degree.

    Attributes:
        engine: the program.
        settings: what is asked, in words.
        script: made of the forms, the names of the relations' variables, and the last degree.
        needs: another program that it starts.
    """

    engine: str
    settings: str
    script: Script
    needs: str = ""


#: Scripts take the time of the computation themselves.
_M2_START, _M2_END = "t0 = cpuTime()\n", '<< "inside " << toString(cpuTime() - t0) << endl\n'


def _m2_count(degrees: str, step: int, last: int) -> str:
    wanted = ", ".join(str(step * n) for n in range(1, last + 1))
    return f"t = tally {degrees}\n<< toString apply({{{wanted}}}, n -> if t#?n then t#n else 0) << endl\n"


def _m2_rings(values: Sequence[Polynomial], names: Sequence[Variable], graded: bool) -> str:
    """The ring map; ``graded``: with the y in the degree of their images, so that Hilbert functions help."""
    source = ", ".join(v.macaulay2() for v in values[0].ring.variables)
    target = ", ".join(v.macaulay2() for v in names)
    images = ", ".join(f.macaulay2() for f in values)
    degrees = f", Degrees => toList({len(values)}:{values[0].degree()})" if graded else ""
    return f"R = ZZ/{PRIME}[{source}]\nS = ZZ/{PRIME}[{target}{degrees}]\nf = map(R, S, {{{images}}})\n"


def _multigraded(options: str = "") -> Script:
    def script(values: Sequence[Polynomial], names: Sequence[Variable], degree: int) -> str:
        # It returns one list of generators for each multidegree.
        return (
            'needsPackage "MultigradedImplicitization"\n' + _m2_rings(values, names, False) + _M2_START
            + f"found = flatten values componentsOfKernel({degree}, f, Verbose => false{options})\n" + _M2_END
            + _m2_count("apply(found, g -> first degree g)", 1, degree)
        )  # fmt: skip

    return script


def _kernel(limited: bool) -> Script:
    def script(values: Sequence[Polynomial], names: Sequence[Variable], degree: int) -> str:
        step = values[0].degree()
        limit = f", DegreeLimit => {step * degree}" if limited else ""
        return (
            _m2_rings(values, names, True) + _M2_START + f"I = kernel(f{limit})\nM = mingens I\n" + _M2_END
            + _m2_count("flatten degrees source M", step, degree)
        )  # fmt: skip

    return script


def _m2_graph(options: str = "", blocks: bool = False) -> Script:
    def script(values: Sequence[Polynomial], names: Sequence[Variable], degree: int) -> str:
        # The graph ideal, homogeneous in these degrees; a basis up to the degree wanted is enough.
        m, n, step = len(values[0].ring), len(values), values[0].degree()
        source = ", ".join(v.macaulay2() for v in values[0].ring.variables)
        target = ", ".join(v.macaulay2() for v in names)
        graph = ", ".join(f"{y.macaulay2()} - ({f.macaulay2()})" for y, f in zip(names, values, strict=True))
        order = f"{{GRevLex => {m}, GRevLex => {n}}}" if blocks else f"Eliminate {m}"
        return (
            f"T = ZZ/{PRIME}[{source}, {target}, Degrees => join(toList({m}:1), toList({n}:{step})),"
            f" MonomialOrder => {order}]\n"
            f"J = ideal({graph})\n" + _M2_START
            + f"G = gens gb(J, DegreeLimit => {step * degree}{options})\n"
            f"S = ZZ/{PRIME}[{target}, Degrees => toList({n}:{step})]\n"
            f"M = mingens sub(ideal selectInSubring(1, G), S)\n" + _M2_END
            + _m2_count("flatten degrees source M", step, degree)
        )  # fmt: skip

    return script


def _singular_count(degree: int) -> str:
    return (
        f"intvec c = 0:{degree + 1};\n"
        f"for (j = 1; j <= size(I); j++)\n"
        f"{{ if (deg(I[j]) <= {degree}) {{ c[deg(I[j])] = c[deg(I[j])] + 1; }} }}\n"
        # Milliseconds, written as seconds without arithmetic of the ring.
        'string ms = string(t1 - t0); while (size(ms) < 4) { ms = "0" + ms; }\n'
        '"inside " + ms[1, size(ms) - 3] + "." + ms[size(ms) - 2, 3];\n'
        f'"[" + string(intvec(c[1..{degree}])) + "]";\nquit;\n'
    )


_SINGULAR_START = 'system("--ticks-per-sec", 1000);\nint j; int t0; int t1;\n'


def _preimage(values: Sequence[Polynomial], names: Sequence[Variable], degree: int) -> str:
    source = ",".join(v.singular() for v in values[0].ring.variables)
    target = ",".join(v.singular() for v in names)
    images = ",".join(f.singular() for f in values)
    return (
        f"{_SINGULAR_START}ring R = {PRIME},({source}),dp;\nideal images = {images};\nideal zero = 0;\n"
        f"ring S = {PRIME},({target}),dp;\nt0 = timer;\nideal I = minbase(preimage(R, images, zero));\n"
        f"t1 = timer;\n{_singular_count(degree)}"
    )


def _singular_graph(algorithm: str, blocks: bool) -> Script:
    def script(values: Sequence[Polynomial], names: Sequence[Variable], degree: int) -> str:
        m, n, step = len(values[0].ring), len(values), values[0].degree()
        source = ",".join(v.singular() for v in values[0].ring.variables)
        target = ",".join(v.singular() for v in names)
        graph = ",".join(f"{y.singular()}-({f.singular()})" for y, f in zip(names, values, strict=True))
        ones, steps = ",".join(["1"] * m), ",".join([str(step)] * n)
        nothing = ",".join(["0"] * n)
        order = f"(wp({ones}),wp({steps}))" if blocks else f"(a({ones},{nothing}),wp({ones},{steps}))"
        return (
            f"{_SINGULAR_START}ring T = {PRIME},({source},{target}),{order};\nideal J = {graph};\n"
            f"intvec x = {ones},{nothing};\nt0 = timer;\ndegBound = {step * degree};\n"
            f"ideal G = {algorithm}(J);\nideal K;\n"
            "for (j = 1; j <= size(G); j++) { if (deg(lead(G[j]), x) == 0) { K = K, G[j]; } }\n"
            f"degBound = 0;\nring S = {PRIME},({target}),dp;\nideal I = minbase(simplify(imap(T, K), 2));\n"
            f"t1 = timer;\n{_singular_count(degree)}"
        )

    return script


#: The rivals of the tables, with the settings that were fastest on most cases.
RELATIONS: dict[str, Rival] = {
    "M2 multigraded": Rival(
        "macaulay2", "componentsOfKernel of MultigradedImplicitization, default options", _multigraded(),
        "gfan",
    ),
    "M2 kernel": Rival(
        "macaulay2", "kernel of the graded map, with DegreeLimit", _kernel(True)
    ),
    "M2 graph": Rival(
        "macaulay2", "Gröbner basis of the graph to the degree wanted, Algorithm => LinearAlgebra",
        _m2_graph(", Algorithm => LinearAlgebra"),
    ),
    "Singular preimage": Rival("singular", "preimage of the zero ideal; knows no degree limit", _preimage),
    "Singular graph": Rival(
        "singular", "std of the graph with degBound, in two blocks of weighted variables",
        _singular_graph("std", True),
    ),
}  # fmt: skip
#: Other settings that were tried, and were slower on most cases.
TRIED: dict[str, Rival] = {
    "M2 multigraded, matroid": Rival(
        "macaulay2", "UseMatroid => false", _multigraded(", UseMatroid => false"), "gfan"
    ),
    "M2 multigraded, points": Rival(
        "macaulay2", "UseInterpolation => true", _multigraded(", UseInterpolation => true"), "gfan"
    ),
    "M2 kernel, no limit": Rival("macaulay2", "kernel without DegreeLimit", _kernel(False)),
    "M2 graph, default": Rival("macaulay2", "default algorithm", _m2_graph()),
    "M2 graph, blocks": Rival("macaulay2", "product order", _m2_graph(blocks=True)),
    "M2 graph, sugarless": Rival(
        "macaulay2", "Algorithm => Sugarless", _m2_graph(", Algorithm => Sugarless")
    ),
    "Singular graph, weight": Rival("singular", "std, one weighted block", _singular_graph("std", False)),
    "Singular graph, slimgb": Rival("singular", "slimgb, two blocks", _singular_graph("slimgb", True)),
}
#: Rivals that are named and not run.
ABSENT = {"OSCAR components_of_kernel": "needs Julia and OSCAR, which are not installed here"}


def relations(
    values: Sequence[Polynomial], names: Sequence[Variable], degree: int, limit: float,
    engines: dict[str, Installation], rivals: dict[str, Rival] | None = None,
) -> dict[str, Run | str]:  # fmt: skip
    """Run the rivals on the relations among forms: for each its run, or why it was not run."""
    found: dict[str, Run | str] = {}
    for name, rival in (RELATIONS if rivals is None else rivals).items():
        if rival.engine not in engines:
            found[name] = f"no {rival.engine}"
        elif rival.needs and shutil.which(rival.needs) is None:
            found[name] = f"needs {rival.needs}"
        else:
            found[name] = engine_run(engines[rival.engine], rival.script(values, names, degree), limit)
    return found if rivals is not None else found | ABSENT


def settings() -> str:
    """The settings of the rivals, a line each."""
    return "\n".join(f"  {name:24} {rival.settings}" for name, rival in RELATIONS.items())


def main() -> None:
    """Try all settings on one layer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="3,1,3,4", metavar="D,D_OUT,A,DEGREE")
    parser.add_argument("--limit", type=float, default=60, help="seconds after which a rival is stopped")
    options = parser.parse_args()
    d, d_out, a, degree = map(int, options.case.split(","))
    layer = SingleLayer(d, d_out, a)
    forms, names = list(coefficients(layer, *generic_point(layer))), coordinate_ring(layer).variables
    print(header())
    everything = RELATIONS | TRIED
    for name, rival in everything.items():
        found = relations(forms, names, degree, options.limit, installations(), {name: rival})[name]
        if isinstance(found, str):
            print(not_run(name, found), flush=True)
        else:
            print(line(name, found, note=f"{numbers(found.output)} {rival.settings}"), flush=True)


if __name__ == "__main__":
    main()
