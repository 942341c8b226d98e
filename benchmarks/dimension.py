"""Dimension: agattn against autograd and a numerical rank, and against FLINT's bare rank.

    python benchmarks/dimension.py            # needs: pip install "agattn[benchmarks]"
    python benchmarks/dimension.py --today [--limit SECONDS]
    python benchmarks/dimension.py --growth [--limit SECONDS] [--memory MIB] [--series width|heads|depth ...]

Five tables: the sizes of HMK's Figure 3 against the straightforward estimator, in float32 and in float64;
growth with width and depth, beside the same matrix handed to FLINT; models, among them a block of a
transformer; and, alone with ``--today``, layers with groups of heads and with latents, beside JAX and
NumericalImplicitization as in ``models.py``. Times are processor time in seconds, of all threads, the best of
a few runs. JAX compiles in the first run of each size.

``--growth`` goes along single layers of width 10 to 100, 1 to 64 heads, and depths 1 to 96, each in a process
of its own, until one is beyond the limit of time or memory. *Inside* is the time of the dimension with its
proof, without imports, by the rank of a Jacobian; *whole* is the time of the process. Beyond the limit stands
what ``ag.dimension`` answers without ``force``, by a theorem. FLINT's bare rank is that of a matrix of the
same shape, the Jacobian with the symmetries fixed, once the matrix is FLINT's own; *made* is the time to
evaluate it and to make it FLINT's from an array. Matrices of very many entries are left out. A row that is
stopped is followed by an estimate from the two rows before.

With ``--against OTHER/.venv/bin/python`` the version of agattn that is installed beside another Python does
each row as well.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time

# As the command line does: one thread, before numpy is imported. JAX has threads of its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable, Sequence
from functools import partial

import flint
import numpy as np
from cases import KINDS, TODAY, timed
from models import CASES, a_dimension
from rivals import Run, estimate, header, installations, numbers, process, word

from agattn import Attention, DeepNetwork, Network, Perceptron, Power
from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.residues import random_prime, random_residues
from agattn.architectures import draw_parameters
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.dimension.symmetries import gauge_columns
from agattn.reports.figure3 import SIZES, network


def best_of(repeats: int, function: Callable[[], object]) -> tuple[float, object]:
    best, value = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        value = function()
        best = min(best, time.process_time() - start)
    return best, value


def estimate_by_autograd(net: DeepNetwork, dtype: str, seed: int, inputs: int = 250) -> int:
    """The usual way: JAX differentiates the network at Gaussian inputs, an SVD counts singular values."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    generator = np.random.default_rng(seed)

    def draw(*shape: int) -> jax.Array:
        return jnp.asarray(generator.standard_normal(shape), dtype)

    layers = [
        (draw(a, d), draw(a, d), draw(e, d))
        for a, d, e in zip(net.ranks, net.dims, net.dims[1:], strict=False)
    ]

    def outputs(weights: list[tuple[jax.Array, jax.Array, jax.Array]], X: jax.Array) -> jax.Array:
        for K, Q, V in weights:
            X = V @ X @ jax.nn.softmax((K @ X).T @ (Q @ X), axis=0)
        return X.ravel()

    jacobians = jax.vmap(jax.jacrev(outputs), in_axes=(None, 0))(layers, draw(inputs, net.dims[0], net.t))
    blocks = [block.reshape(inputs * net.dims[-1] * net.t, -1) for layer in jacobians for block in layer]
    return int(jnp.linalg.matrix_rank(jnp.concatenate(blocks, axis=1)))


def figure_3(sizes: tuple[int, ...], repeats: int, other: str | None, dtypes: Sequence[str]) -> None:
    before = [
        earlier("softmax", delta, other) for delta in sizes
    ]  # no process is started beside JAX's threads
    print("\nFigure 3   δ  dim    agattn            autograd + SVD in", ", then in ".join(dtypes))
    for delta, then in zip(sizes, before, strict=True):
        net = network(delta)
        seconds, ours = best_of(repeats, lambda net=net: dimension(net))
        line = f"         {delta:3} {ours.dimension:4}  {seconds:6.3f} s {ours.evidence!s:7}"
        for dtype in dtypes:
            first, _ = best_of(1, lambda net=net, dtype=dtype: estimate_by_autograd(net, dtype, 0))
            estimates = [estimate_by_autograd(net, dtype, seed) for seed in range(5)]
            again, _ = best_of(repeats, lambda net=net, dtype=dtype: estimate_by_autograd(net, dtype, 0))
            right = sum(e == ours.dimension for e in estimates)
            line += f"   first {first:6.3f} s x{first / seconds:5.1f}"
            line += f", again {again:6.3f} s x{again / seconds:4.1f}"
            line += f", right {right}/5"
        print(line + then, flush=True)


def fixed_jacobian(net: DeepNetwork, rows: int) -> flint.nmod_mat:
    """The Jacobian at random weights and inputs modulo a prime, without columns that symmetries fix."""
    generator = np.random.default_rng(0)
    p = random_prime(generator)

    def draw(shape: tuple[int, ...]) -> np.ndarray:
        return random_residues(generator, shape, p)

    weights = draw_parameters(net, draw)
    X, c = draw((rows, net.dims[0], net.t)), draw((rows, 1, net.dims[-1], net.t))
    J = jacobian(net, weights, X, ModularArithmetic(p), c)
    J = np.delete(J, gauge_columns(net, weights, p), axis=1)
    return flint.nmod_mat(*J.shape, J.astype(np.int64).ravel().tolist(), p)


#: The sizes along which the dimension grows: what grows, the kind in ``cases.py``, and numbers.
SERIES: dict[str, tuple[str, tuple[int, ...]]] = {
    "width d, one layer, a = d": ("width", (10, 20, 30, 40, 60, 80, 100)),
    "heads, d = 12, a = 2": ("heads", (1, 2, 4, 8, 16, 32, 64)),
    "depth, d = 12, a = 4": ("depth", (1, 2, 4, 8, 16, 32, 64, 96)),
}
#: FLINT's matrices of more entries are not made: the list of Python's integers alone takes 40 bytes for each.
MOST_ENTRIES = 2 * 10**7


def alone(way: str, kind: str, number: int, rows: int) -> None:
    """What is asked beside a row of a growth table, in this process: FLINT's bare rank, or without force."""
    net = KINDS[kind](number)
    dimension(KINDS[kind](2))  # imports
    if way == "default":
        seconds, found = timed(lambda: dimension(net), 0.1)
        print(f"inside {seconds}\ntheorem {found.theorem}\n[{found.dimension}]")
        return
    made, matrix = timed(lambda: fixed_jacobian(net, rows))
    seconds, rank = timed(matrix.rank, 0.1)
    print(f"inside {seconds}\nmade {made}\n[{rank}]")


def ask(question: Sequence[object], limit: float, memory: int, other: str | None = None) -> Run:
    """A question of ``cases.py`` in a process of its own; of another version if there is one."""
    command = [other or sys.executable, str(CASES), "dimension", *map(str, question)]
    return process(command, limit, memory=memory, clone=other is None)


def growth_tables(limit: float, memory: int, kinds: Sequence[str], other: str | None) -> None:
    """Print how the dimension grows, and the limit that each series meets."""
    print(f"{header(other)}\nlimits: {limit:g} s of processor time and {memory} MiB for each run")
    heading = "\n      dim  evidence    inside   whole     MiB   Jacobian     FLINT's rank   ratio   made"
    for name, (kind, sizes) in SERIES.items():
        if kind not in kinds:
            continue
        print(f"\n{name}{heading}{'   inside, whole before' * bool(other)}")
        times: list[tuple[float, float]] = []
        stopped = False
        for size in sizes:
            run = None if stopped else ask((kind, size), limit, memory)
            if run is None or run.problem or run.inside is None or (found := numbers(run.output)) is None:
                stopped, problem = True, run.problem if run else "not run, as the row before was stopped"
                known = beside("default", kind, size, 0, limit, memory)
                by = f"{numbers(known.output)} by {word(known, 'theorem')} in {known.inside or 0:.3f} s"
                by = f"without force {known.problem}" if known.problem else by
                print(f"{size:4}  {problem}{estimate(times, size)}; {by}", flush=True)
                continue
            times.append((size, run.inside))
            rows, columns = int(word(run, "rows")), int(word(run, "columns"))
            row = f"{size:4} {found[0]:6}  {word(run, 'evidence'):8} {run.inside:8.4f} {run.whole:7.2f}"
            row += f" {word(run, 'MiB'):>7}  {rows:5} × {columns:5}"
            row += bare(kind, size, (rows, columns), (found[0], run.inside), limit, memory)
            if other is not None:
                before = ask((kind, size), limit, memory, other)
                agrees = "" if before.problem or numbers(before.output) == found else "DIFFERS"
                inside = f"{before.inside:8.4f}" if before.inside else before.problem
                row += f"   {inside} {before.whole:7.2f} {agrees}"
            print(row, flush=True)


def beside(way: str, kind: str, number: int, rows: int, limit: float, memory: int) -> Run:
    """One run of :func:`alone`."""
    command = [sys.executable, __file__, "--alone", way, kind, str(number), str(rows)]
    return process(command, limit, memory=memory)


def bare(
    kind: str, number: int, shape: tuple[int, int], ours: tuple[int, float], limit: float, memory: int
) -> str:
    """The columns on FLINT's bare rank of a matrix of this shape; ``ours``: the rank, and seconds inside."""
    if shape[0] * shape[1] > MOST_ENTRIES:
        return f"  not made: {shape[0] * shape[1]:.1e} entries"
    run = beside("flint", kind, number, shape[0], limit, memory)
    if run.problem or run.inside is None:
        return f"  {run.problem}"
    assert numbers(run.output) == [ours[0]]
    ratio = f"{ours[1] / run.inside:6.1f}×" if run.inside > 1e-4 else "      –"
    return f" {run.inside:9.4f} {ratio} {float(word(run, 'made')):7.2f}"


def growth(kind: str, sizes: Sequence[int], repeats: int, other: str | None) -> None:
    print("\nGrowth                                     parameters   dim  evidence    total    FLINT   ratio")
    for size in sizes:
        net = KINDS[kind](size)
        seconds, ours = best_of(repeats, lambda net=net: dimension(net))
        matrix = fixed_jacobian(net, ours.jacobian_shape[0])
        bare, rank = best_of(repeats, matrix.rank)
        assert rank == ours.dimension
        print(
            f"{net!s:42} {ours.parameters:10} {ours.dimension:5}  {ours.evidence!s:8} {seconds:7.3f}"
            f" s {bare:6.3f} s  {seconds / bare:5.1f}{earlier(kind, size, other)}",
            flush=True,
        )


def earlier(kind: str, size: int, other: str | None) -> str:
    """The time of another version, if there is one."""
    if other is None:
        return ""
    run = ask((kind, size), 600, 8192, other)
    return f"   before {run.inside:.3f} s" if run.inside else f"   before {run.problem}"


def models(sizes: tuple[int, ...], repeats: int) -> None:
    """The Jacobian of networks of attention by themselves and as models: the same code pulls both back."""
    print("\nModels                                     parameters   dim  evidence    total")
    for d in sizes:
        net = DeepNetwork((d, d, d), (d // 4, d // 4), 3)
        model = Network([Attention(d, d // 4), Attention(d, d // 4), Power(1)], d, 3)
        p = random_prime(np.random.default_rng(0))
        seconds = []
        for one in (net, model):
            generator = np.random.default_rng(0)
            draw = partial(random_residues, generator, p=p)
            weights = draw_parameters(one, draw)
            X, c = draw((net.parameters, d, 3)), draw((net.parameters, 1, d, 3))
            arithmetic = ModularArithmetic(p)
            seconds.append(best_of(repeats, partial(jacobian, one, weights, X, arithmetic, c))[0])
        print(f"{net!s:42} {net.parameters:10}  Jacobian {seconds[0]:.3f} s, as a model {seconds[1]:.3f} s")
        block = Network(
            [
                Attention(d, 4, d // 4, 4, "causal", rotary=True, skip=True),
                Perceptron([4 * d, d], 2, skip=True),
            ],
            d,
            4,
        )
        spent, found = best_of(1, partial(dimension, block))
        print(
            f"{f'block of a transformer, d = {d}, t = 4':42} {block.parameters:10} {found.dimension:5}  "
            f"{found.evidence!s:8} {spent:7.3f} s",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, one run each, in float32 alone")
    parser.add_argument("--today", action="store_true", help="groups of heads, and latents, alone")
    parser.add_argument("--growth", action="store_true", help="along widths, heads and depths")
    kinds = [kind for kind, _ in SERIES.values()]
    parser.add_argument("--series", action="append", choices=kinds, help="of --growth; all by default")
    parser.add_argument("--limit", type=float, default=120, help="seconds for --growth and --today")
    parser.add_argument("--memory", type=int, default=8192, metavar="MIB", help="for --growth")
    parser.add_argument("--against", metavar="PYTHON", help="the Python that has another version of agattn")
    words = ("WAY", "KIND", "NUMBER", "ROWS")
    parser.add_argument("--alone", nargs=4, metavar=words, help="what stands beside a row of --growth")
    options = parser.parse_args()
    if options.alone:
        way, kind, *sizes = options.alone
        alone(way, kind, *map(int, sizes))
    elif options.growth:
        growth_tables(options.limit, options.memory, options.series or kinds, options.against)
    else:
        print(header(options.against))
        engine = installations().get("macaulay2")
        for number in range(1 if options.quick else len(TODAY)):
            a_dimension("today", number, engine, options.limit, options.against)
        if not options.today:
            tables(options.quick, options.against)


def tables(quick: bool, other: str | None) -> None:
    """All tables but those of --today and --growth."""
    repeats = 1 if quick else 2
    growth("two_layers", (8,) if quick else (8, 12, 16, 24, 32), repeats, other)
    growth("depth", (2,) if quick else (1, 2, 3, 4, 6), repeats, other)
    models((4,) if quick else (8, 16), repeats)
    if not quick:
        growth("four_layers", (32,), 1, other)
    if importlib.util.find_spec("jax"):
        figure_3((3,) if quick else SIZES, repeats, other, ("float32", "float64")[: 1 if quick else 2])
    else:
        print("without JAX the comparison with autograd is left out: pip install 'agattn[benchmarks]'")


if __name__ == "__main__":
    main()
