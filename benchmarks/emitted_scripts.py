"""Our elimination scripts against straightforward ones, on each engine, side by side.

    python benchmarks/emitted_scripts.py [--cutoff SECONDS] [--layers 2,2,2 3,1,3 ...]

Naive, for Macaulay2: the same kernel with all variables of degree 1, so that the ring map is not homogeneous
and no Hilbert function helps. Naive, for Singular: a Gröbner basis of the graph in lexicographic order; and,
because Macaulay2 gains by it, a Hilbert-driven elimination too. There V does not begin with 1, so that the
graph is homogeneous.
All over ℚ, whole processes, one after the other; every answer is checked against ours.
"""

from __future__ import annotations

import argparse
import re
from math import comb

from agattn import SingleLayer
from agattn.engines.catalogue import MACAULAY2, SINGULAR
from agattn.engines.emit import emit
from agattn.engines.locate import Installation, locate
from agattn.engines.process import run_program
from agattn.engines.transcript import read
from agattn.errors import EngineError
from agattn.geometry.variety.coordinates import coordinate_ring
from agattn.systems.catalogue import build
from agattn.systems.problem import Problem

DEFAULT_LAYERS = ["2,1,2", "2,2,2", "2,3,2", "3,1,1", "3,1,3"]


def macaulay2_naive(script: str) -> str:
    """The script without its gradings."""
    return re.sub(r",\s*Degrees =>[^\]]*\]", "]", script)


def singular_graph(problem: Problem, ring: str, basis: str) -> str:
    """Eliminate from the graph of φ in a ring of weights and coordinates with a chosen ordering."""
    script = emit(problem, SINGULAR, machine=True)
    head, rest = script.replace("V[1,1] = 1;", "").split("// The kernel of y -> phi(A,V)")
    tail = rest[rest.index("ideal G = std(I);") :]
    names = [v.singular() for v in coordinate_ring(problem.layer).variables]
    graph = ",\n".join(f"{name}-image[{n}]" for n, name in enumerate(names, 1))
    source = head[head.index("ring R = 0,(") + len("ring R = 0,(") : head.index("),dp;")]
    return f"""{head}
ideal image = phi(A,V);
{ring.format(weights=source, coordinates=",".join(names))}
ideal image = imap(R, image);
ideal graph = {graph};
{basis}
ideal I;
int place;
for (place=1; place<=size(basis); place++)
{{ if (deg(basis[place], weightsOnly) == 0) {{ I = I + ideal(basis[place]); }} }}
ring S = 0,({",".join(names)}),dp;
ideal I = minbase(imap(E, I));
{tail}"""


def singular_rivals(problem: Problem) -> dict[str, str]:
    """Scripts for Singular: lexicographic, and driven by the known Hilbert series of the graph."""
    layer = problem.layer
    size = layer.ambient_dimension
    weights = layer.d_out * layer.d + (layer.d**2 if layer.a >= layer.d else 2 * layer.a * layer.d)
    degree = 2 if layer.a >= layer.d else 3
    only = ",".join(["1"] * weights + ["0"] * size)
    graded = ",".join(["1"] * weights + [str(degree)] * size)
    series = [0] * (degree * size + 2)
    for n in range(size + 1):
        series[degree * n] = (-1) ** n * comb(size, n)
    mark = f"intvec weightsOnly = {only};\n"
    rivals = {
        "lexicographic": singular_graph(
            problem, "ring E = 0,({weights},{coordinates}),lp;", mark + "ideal basis = std(graph);"
        )
    }
    if max(map(abs, series)) < 2**31:
        rivals["Hilbert-driven"] = singular_graph(
            problem,
            f"ring E = 0,({{weights}},{{coordinates}}),(a({only}),wp({graded}));",
            mark
            + f"intvec w = {graded};\nintvec h = {','.join(map(str, series))};\n"
            + "ideal basis = std(graph, h, w);",
        )
    return rivals


def seconds(installation: Installation, script: str, problem: Problem, cutoff: float) -> float | None:
    """Wall-clock seconds of a run whose answer is right; ``None`` past the cutoff."""
    engine = installation.engine
    name = f"script.{engine.suffix}"
    command = [str(installation.path), *engine.arguments, name]
    try:
        ended = run_program(command, {name: script}, timeout=cutoff, memory=16384)
    except EngineError:
        return None
    answer = read(ended.output, problem)
    assert answer.integers["dimension"] == problem.layer.expected_dimension
    return ended.seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cutoff", type=float, default=120.0, help="seconds after which a run is stopped")
    parser.add_argument("--layers", nargs="*", default=DEFAULT_LAYERS, metavar="d,d',a")
    arguments = parser.parse_args()
    print(f"{'layer':9} {'engine':18} {'ours':>8}   rivals, and how many times slower")
    for text in arguments.layers:
        layer = SingleLayer(*map(int, text.split(",")))
        problem = build("implicit-ideal", layer)
        for engine in (MACAULAY2, SINGULAR):  # msolve has no such choices
            installation = locate(engine)
            script = emit(problem, engine, machine=True)
            if engine.name == "macaulay2":
                rivals = {"ungraded": macaulay2_naive(script)}
            else:
                rivals = singular_rivals(problem)
            ours = seconds(installation, script, problem, arguments.cutoff)
            row = f"{text:9} {installation!s:18} {_show(ours, arguments.cutoff):>8}"
            for name, rival in rivals.items():
                theirs = seconds(installation, rival, problem, arguments.cutoff)
                ratio = f"{theirs / ours:.1f}x" if theirs and ours else "-"
                row += f"   {name} {_show(theirs, arguments.cutoff)} ({ratio})"
            print(row, flush=True)


def _show(value: float | None, cutoff: float) -> str:
    return f">{cutoff:.0f} s" if value is None else f"{value:.2f} s"


if __name__ == "__main__":
    main()
