"""Dimension: agattn against autograd and a numerical rank, and against FLINT's bare rank.

    python benchmarks/dimension.py            # needs: pip install "agattn[benchmarks]"

Four tables: the sizes of HMK's Figure 3 against the straightforward estimator, in float32 and in float64;
growth with width and depth; the same matrix handed to FLINT; and models, among them a block of a transformer.
Times are processor time in seconds, of all threads, the best of a few runs. JAX compiles in the first run of
each size.
"""

from __future__ import annotations

import argparse
import os
import time

# As the command line does: one thread, before numpy is imported. JAX has threads of its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from functools import partial

import flint
import numpy as np

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


def growth(networks: list[DeepNetwork], repeats: int) -> None:
    print("\nGrowth                                     parameters   dim  evidence    total    FLINT   ratio")
    for net in networks:
        seconds, ours = best_of(repeats, lambda net=net: dimension(net))
        generator = np.random.default_rng(0)
        p = random_prime(generator)

        def draw(shape: tuple[int, ...], g: np.random.Generator = generator, p: int = p) -> np.ndarray:
            return random_residues(g, shape, p)

        weights = draw_parameters(net, draw)
        rows = ours.jacobian_shape[0]
        X, c = draw((rows, net.dims[0], net.t)), draw((rows, 1, net.dims[-1], net.t))
        J = jacobian(net, weights, X, ModularArithmetic(p), c)
        J = np.delete(J, gauge_columns(net, weights, p), axis=1)
        matrix = flint.nmod_mat(*J.shape, J.astype(np.int64).ravel().tolist(), p)
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
    quick = parser.parse_args().quick
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
