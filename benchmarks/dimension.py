"""Dimension: agattn against autograd and a numerical rank, and against FLINT's bare rank.

    python benchmarks/dimension.py            # needs: pip install "agattn[benchmarks]"
    python benchmarks/dimension.py --growth [--limit SECONDS] [--memory MIB]

Four tables: the sizes of HMK's Figure 3 against the straightforward estimator, in float32 and in float64;
growth with width and depth; the same matrix handed to FLINT; and models, among them a block of a transformer.
Times are processor time in seconds, of all threads, the best of a few runs. JAX compiles in the first run of
each size.

``--growth`` goes along single layers of width 10 to 100, 1 to 64 heads, and depths 1 to 96, each in a process
of its own, until one is beyond the limit of time or memory. *Inside* is the time of the dimension with its
proof, without imports, by the rank of a Jacobian; *whole* is the time of the process. Beyond the limit stands
what ``ag.dimension`` answers without ``force``, by a theorem. FLINT's bare rank is that of a matrix of the
same shape, the Jacobian with the symmetries fixed, once the matrix is FLINT's own; *made* is the time to
evaluate it and to make it FLINT's from an array. Matrices of very many entries are left out.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time

# As the command line does: one thread, before numpy is imported. JAX has threads of its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from functools import partial

import flint
import numpy as np
from rivals import header, numbers, process

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


def figure_3(sizes: tuple[int, ...], repeats: int) -> None:
    print("Figure 3   δ  dim    agattn            autograd + SVD in float32, then in float64")
    for delta in sizes:
        net = network(delta)
        seconds, ours = best_of(repeats, lambda net=net: dimension(net))
        line = f"         {delta:3} {ours.dimension:4}  {seconds:6.3f} s {ours.evidence!s:7}"
        for dtype in ("float32", "float64"):
            first, _ = best_of(1, lambda net=net, dtype=dtype: estimate_by_autograd(net, dtype, 0))
            estimates = [estimate_by_autograd(net, dtype, seed) for seed in range(5)]
            again, _ = best_of(repeats, lambda net=net, dtype=dtype: estimate_by_autograd(net, dtype, 0))
            right = sum(e == ours.dimension for e in estimates)
            line += f"   first {first:6.3f} s x{first / seconds:5.1f}"
            line += f", again {again:6.3f} s x{again / seconds:4.1f}"
            line += f", right {right}/5"
        print(line, flush=True)


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


#: The sizes along which the dimension grows: what grows, and networks by that number.
SERIES: dict[str, tuple[Callable[[int], DeepNetwork], tuple[int, ...]]] = {
    "width d, one layer, a = d": (lambda d: DeepNetwork((d, d), (d,), 2), (10, 20, 30, 40, 60, 80, 100)),
    "heads, d = 12, a = 2": (lambda h: DeepNetwork((12, 12), (2,), 3, heads=h), (1, 2, 4, 8, 16, 32, 64)),
    "depth, d = 12, a = 4": (
        lambda l: DeepNetwork((12,) * (l + 1), (4,) * l, 3), (1, 2, 4, 8, 16, 32, 64, 96),
    ),
}  # fmt: skip
#: FLINT's matrices of more entries are not made: the list of Python's integers alone takes 40 bytes for each.
MOST_ENTRIES = 2 * 10**7


def mean_time(function: Callable[[], object]) -> tuple[float, object]:
    """Seconds of processor time, the mean of so many calls that the clock's steps do not count; the value."""
    start, calls = time.process_time(), 0
    while calls == 0 or (time.process_time() - start < 0.1 and calls < 100):
        value = function()
        calls += 1
    return (time.process_time() - start) / calls, value


def alone(way: str, series: int, number: int) -> None:
    """Do one row of a growth table in this process."""
    make, _ = list(SERIES.values())[series]
    net = make(number)
    dimension(make(1) if series else make(2))  # imports
    # With force by the rank of a Jacobian, also where a theorem knows the dimension.
    seconds, found = mean_time(lambda: dimension(net, force=way != "default"))
    if way == "default":
        print(f"inside {seconds}\n{found.theorem}\n[{found.dimension}]")
        return
    shape = (found.jacobian_shape[0], found.ranks[0].columns)
    if way == "ours":
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"inside {seconds}\n{found.evidence}\n[{found.dimension}, {most}, {shape[0]}, {shape[1]}]")
        return
    start = time.process_time()
    matrix = fixed_jacobian(net, shape[0])
    made = time.process_time() - start
    seconds, rank = mean_time(matrix.rank)
    print(f"inside {seconds}\nmade {made}\n[{rank}]")


def growth_tables(limit: float, memory: int) -> None:
    """Print how the dimension grows, and the limit that each series meets."""
    print(f"{header()}\nlimits: {limit:g} s of processor time and {memory} MiB for each run")
    for n, (name, (_, sizes)) in enumerate(SERIES.items()):
        print(f"\n{name}\n      dim  evidence    inside   whole     MiB   Jacobian     FLINT's rank   made")
        for size in sizes:
            arguments = [sys.executable, __file__, "--alone", "ours", str(n), str(size)]
            run = process(arguments, limit, memory=memory)
            found = numbers(run.output)
            if run.problem or found is None:
                arguments[3] = "default"
                known = process(arguments, limit, memory=memory)
                if known.problem:
                    print(f"{size:4}  {run.problem}; and without force {known.problem}", flush=True)
                    break
                _, theorem, answer = known.output.splitlines()
                print(f"{size:4}  {run.problem}; {answer} by {theorem} in {known.inside:.3f} s", flush=True)
                continue
            rank, most, rows, columns = found
            row = f"{size:4} {rank:6}  {run.output.splitlines()[1]:8} {run.inside:8.3f} {run.whole:7.2f}"
            row += f" {most:7}  {rows:5} × {columns:5}"
            if rows * columns > MOST_ENTRIES:
                print(f"{row}  not made: {rows * columns:.1e} entries", flush=True)
                continue
            arguments[3] = "flint"
            bare = process(arguments, limit, memory=memory)
            if bare.problem or bare.inside is None:
                print(f"{row}  {bare.problem}", flush=True)
                continue
            assert numbers(bare.output) == [rank]
            made = float(bare.output.splitlines()[1].split()[1])
            ratio = f"{run.inside / bare.inside:6.1f}×" if bare.inside > 1e-4 else "      –"
            print(f"{row} {bare.inside:9.4f} {ratio} {made:7.2f}", flush=True)


def growth(networks: list[DeepNetwork], repeats: int) -> None:
    print("\nGrowth                                     parameters   dim  evidence    total    FLINT   ratio")
    for net in networks:
        seconds, ours = best_of(repeats, lambda net=net: dimension(net))
        matrix = fixed_jacobian(net, ours.jacobian_shape[0])
        bare, rank = best_of(repeats, matrix.rank)
        assert rank == ours.dimension
        print(
            f"{net!s:42} {ours.parameters:10} {ours.dimension:5}  {ours.evidence!s:8} {seconds:7.3f}"
            f" s {bare:6.3f} s  {seconds / bare:5.1f}",
            flush=True,
        )


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
    parser.add_argument("--quick", action="store_true", help="small sizes, one run each")
    parser.add_argument("--growth", action="store_true", help="along widths, heads and depths")
    parser.add_argument("--limit", type=float, default=120, help="seconds for --growth")
    parser.add_argument("--memory", type=int, default=8192, metavar="MIB", help="for --growth")
    parser.add_argument("--alone", nargs=3, metavar=("WAY", "SERIES", "NUMBER"), help="one row of --growth")
    options = parser.parse_args()
    if options.alone:
        way, *place = options.alone
        alone(way, *map(int, place))
        return
    if options.growth:
        growth_tables(options.limit, options.memory)
        return
    quick = options.quick
    print(header())
    repeats = 1 if quick else 2
    try:
        import jax  # noqa: F401

        figure_3((3,) if quick else SIZES, repeats)
    except ImportError:
        print("without JAX the comparison with autograd is left out: pip install 'agattn[benchmarks]'")
    widths = (8,) if quick else (8, 12, 16, 24, 32)
    growth([DeepNetwork((d,) * 3, (d // 4,) * 2, 3) for d in widths], repeats)
    growth([DeepNetwork((12,) * (l + 1), (4,) * l, 3) for l in ((2,) if quick else (1, 2, 3, 4, 6))], repeats)
    models((4,) if quick else (8, 16), repeats)
    if not quick:
        growth([DeepNetwork((32,) * 5, (8,) * 4, 3)], 1)


if __name__ == "__main__":
    main()
