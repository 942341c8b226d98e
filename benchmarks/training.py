"""Gradient flow: LSODA seed by seed, with numpy and with JAX, against many seeds side by side.

    python benchmarks/training.py             # needs: pip install "agattn[benchmarks]"

Three ways to the same weights. agattn solves one seed after the other by LSODA, each with its own steps, and
takes gradients and Hessians by numpy, or for losses of samples also compiled by JAX (``compiled = true``).
Diffrax solves all seeds side by side, an implicit method of order 5 under ``vmap`` with adaptive steps, all
compiled. Times are processor time of one thread in seconds for all seeds, and again without compilation; the
drift is the largest change of a conserved form, and "apart" the largest distance between final weights and
those of the first row, over the seeds that both solved and that converged.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np

from agattn import DeepNetwork, SingleLayer
from agattn.algebra.scalars import Array
from agattn.architectures import Architecture
from agattn.architectures.protocol import as_parameters
from agattn.experiments.training.conserved import drift
from agattn.experiments.training.teachers import (
    Data,
    PopulationLoss,
    SampleLoss,
    Teacher,
    TrainingLoss,
    jax_loss,
)
from agattn.experiments.training.training import SMALL, flow, start

Ends = tuple[Array, float, Array]  # the last weights, the drift, and which seeds were solved

CASES: list[tuple[Architecture, Data, float, float]] = [
    (SingleLayer(3, 2, 2), Data(), 0.5, 1e6),
    (DeepNetwork((2, 2), (2,), t=2), Data(20, "sphere"), 0.7, 1e4),
    (DeepNetwork((2, 2, 2), (2, 2), t=2), Data(20, "sphere"), 0.7, 1e4),
]


def by_lsoda(losses: list[TrainingLoss], starts: Array, until: float) -> Ends:
    paths = [flow(loss, theta, until) for loss, theta in zip(losses, starts, strict=True)]
    worst = max(drift(losses[0].architecture, p.weights, p.times) for p in paths)
    return np.stack([p.weights[-1] for p in paths]), worst, np.array([p.problem is None for p in paths])


def by_diffrax(losses: list[TrainingLoss], starts: Array, until: float) -> Callable[[], Ends]:
    """Kvaerno's method of order 5 with a PID controller, all seeds under vmap."""
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    architecture = losses[0].architecture
    first = losses[0]
    if isinstance(first, PopulationLoss):
        metric, layer = first.metric, first.layer
        data = (np.stack([loss.target for loss in losses if isinstance(loss, PopulationLoss)]),)

        def value(theta: Array, target: Array) -> Array:
            K, Q, V = as_parameters(layer, theta).values()
            R = V.reshape(-1, 1) * (K.T @ Q).reshape(1, -1)
            R = R.reshape(target.shape) - target
            return jnp.sum(R * (R @ metric))
    else:
        assert isinstance(first, SampleLoss)
        X, value_of = first.X, jax_loss(architecture)
        data = (np.stack([loss.Y for loss in losses if isinstance(loss, SampleLoss)]),)

        def value(theta: Array, Y: Array) -> Array:
            return value_of(theta, X, Y)

    slope = jax.grad(value)
    times = jnp.concatenate([jnp.zeros(1), jnp.geomspace(1e-3, until, 40)])

    def one(theta: Array, target: Array) -> tuple[Array, Array]:
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda _, y, args: -slope(y, args)), diffrax.Kvaerno5(), 0.0, until, 1e-4, theta,
            args=target, saveat=diffrax.SaveAt(ts=times), max_steps=20_000, throw=False,
            stepsize_controller=diffrax.PIDController(rtol=1e-9, atol=1e-11, pcoeff=0.4, icoeff=0.3),
        )  # fmt: skip
        return found.ys, found.result == diffrax.RESULTS.successful

    solve = jax.jit(jax.vmap(one))

    def run() -> Ends:
        weights, solved = (np.array(x) for x in solve(jnp.array(starts), jnp.array(data[0])))
        drifts = [
            drift(architecture, path, np.array(times))
            for path, good in zip(weights, solved, strict=True) if good
        ]  # fmt: skip
        return weights[:, -1], max(drifts, default=float("nan")), solved

    return run


def timed(run: Callable[[], Ends]) -> tuple[Ends, float]:
    begun = time.process_time()
    found = run()
    return found, time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="of each case (default 10)")
    parser.add_argument("--cases", type=int, default=len(CASES), help="only the first ones")
    parser.add_argument("--time", type=float, help="until when, instead of that of each case")
    parser.add_argument("--no-diffrax", action="store_true", help="leave out the rival")
    given = parser.parse_args()
    for architecture, data, scale, until in CASES[: given.cases]:
        until = given.time or until
        seeds = range(given.seeds)
        starts = np.stack([start(architecture, scale, seed) for seed in seeds])
        losses = [Teacher().loss(architecture, data, seed) for seed in seeds]
        rows: list[tuple[str, Callable[[], Ends]]] = [
            ("LSODA, numpy", lambda: by_lsoda(losses, starts, until))  # noqa: B023
        ]
        if data.samples is not None:
            compiled = [Teacher().loss(architecture, data, seed, compiled=True) for seed in seeds]
            rows.append(("LSODA, JAX", lambda: by_lsoda(compiled, starts, until)))  # noqa: B023
        if not given.no_diffrax:
            rows.append(("Diffrax, side by side", by_diffrax(losses, starts, until)))
        print(f"{architecture}, {given.seeds} seeds to t = {until:g}")
        print(f"{'':24}{'first':>9}{'again':>9}{'ratio':>8}{'solved':>8}{'drift':>10}{'apart':>10}")
        known: tuple[Array, Array] | None = None
        unit = 0.0
        for name, run in rows:
            (ends, worst, solved), first = timed(run)
            again = timed(run)[1]
            if known is None:
                gradients = np.array([
                    np.linalg.norm(loss(end[None])[1]) for loss, end in zip(losses, ends, strict=True)
                ])  # fmt: skip
                known, unit = (ends, solved & (gradients <= SMALL)), again
            both = known[1] & solved
            apart = np.abs(ends - known[0])[both].max(initial=0.0)
            print(f"{name:24}{first:9.2f}{again:9.2f}{again / unit:8.2f}{solved.sum():8}"
                  f"{worst:10.1e}{apart:10.1e}", flush=True)  # fmt: skip
        print()


if __name__ == "__main__":
    main()
