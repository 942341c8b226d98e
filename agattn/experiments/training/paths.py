r"""Paths of weights: gradient flow, gradient descent and Langevin dynamics.

The objective is L(θ) + μ/2 ‖θ‖² with weight decay μ. Gradient flow, by which the weights follow the negative
gradient of the objective, is solved by LSODA (Petzold and Hindmarsh; ``scipy.integrate.odeint``), which
changes between Adams and backward differentiation formulas as the flow becomes stiff: near a minimum the
rates differ by factors of thousands. One seed is solved at a time, as each needs its own steps: solving many
side by side, compiled by JAX, was no faster (``benchmarks/training.py``). Descent and Langevin dynamics take
fixed steps, all seeds at once.

Gradient flow of a loss bounded below cannot explode in finite time, as ‖θ(t) − θ(0)‖² ≤ t (L(0) − L(t)); it
may well go to infinity. Descent can overflow. What happened is told, and never taken for a limit:

- ``"stiff"``: the solver needed too many steps, and the path ends before its time;
- ``"overflow"``: weights or loss are no longer finite, or weights are above :data:`LARGEST`.

>>> from agattn import SingleLayer
>>> from agattn.experiments.training.teachers import Data, Teacher
>>> layer = SingleLayer(2, 1)
>>> loss = Teacher().loss(layer, Data(), seed=0)
>>> path = flow(loss, np.full(layer.parameters, 0.5) + 0.1 * np.eye(layer.parameters)[0], time=100.0)
>>> path.problem, path.times[-1].item(), float(loss(path.weights[-1:])[0][0]) < 1
(None, 100.0, True)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agattn.algebra.scalars import Array
from agattn.experiments.training.losses import TrainingLoss

#: Weights above this have overflown.
LARGEST = 1e8
#: The most steps of the solver between two snapshots.
MOST_STEPS = 10_000
#: The number of weights of a path that are kept after the first.
SNAPSHOTS = 40
#: The time of the first snapshot after 0, relative to the whole.
_FIRST = 1e-9


@dataclass(frozen=True)
class Path:
    """Weights at some times.

    Attributes:
        times: n of them, from 0; of descent rate × steps.
        weights: n × D.
        steps: that were taken.
        problem: ``None``, ``"stiff"`` or ``"overflow"``.
    """

    times: Array
    weights: Array
    steps: int
    problem: str | None = None


def flow(loss: TrainingLoss, start: Array, time: float, decay: float = 0.0) -> Path:
    """Gradient flow from some weights, at time 0 and :data:`SNAPSHOTS` times more, evenly spaced in log t.

    The relative tolerance of the solver is that of the loss, the absolute one 1e-3 of it times the largest
    first weight.

    Args:
        loss: L.
        start: D weights.
        time: until when.
        decay: μ.
    """
    from scipy.integrate import ODEintWarning, odeint

    def field(_: float, theta: Array) -> Any:
        return -(loss(theta[None])[1][0] + decay * theta)

    def slope(_: float, theta: Array) -> Any:
        return -(loss.hessian(theta[None])[0] + decay * np.eye(len(theta)))

    times = np.concatenate([[0.0], np.geomspace(max(time * _FIRST, 1e-6), time, SNAPSHOTS)])
    absolute = loss.tolerance * 1e-3 * max(float(np.abs(start).max()), 1e-100)
    with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", ODEintWarning)
        weights, told = odeint(
            field,
            start,
            times,
            Dfun=slope,
            tfirst=True,
            rtol=loss.tolerance,
            atol=absolute,
            mxstep=MOST_STEPS,
            full_output=True,
        )
    good = np.isfinite(weights).all(1) & (np.abs(weights).max(1, initial=0.0) <= LARGEST)
    reached = np.concatenate([[True], told["tcur"] >= times[1:]])
    number = max(1, int(np.argmin(np.append(good & reached, False))))  # the start is kept however large it is
    problem = None
    if number < len(times):
        problem = "stiff" if good[0] and good[number] else "overflow"
    steps = int(told["nst"][max(number - 2, 0)])
    return Path(times[:number], weights[:number], steps, problem)


def descent(
    loss: TrainingLoss,
    starts: Array,
    steps: int,
    rate: float,
    decay: float = 0.0,
    temperature: float = 0.0,
    seeds: Sequence[int] = (),
) -> list[Path]:
    """Gradient descent from S weights side by side; with a temperature T > 0 Langevin dynamics.

    θ ← θ − η∇(L + μ/2 ‖θ‖²) + √(2ηT) N(0, 1), the steps of Euler and Maruyama for the law ∝ e^{−L/T} where
    μ = 0.

    Args:
        loss: L.
        starts: S × D.
        steps: their number.
        rate: η.
        decay: μ.
        temperature: T.
        seeds: of the noise, one for each start; needed where T > 0.

    Returns:
        For each start the first weights and those of at most :data:`SNAPSHOTS` steps, evenly spaced in the
        logarithm of the step.
    """
    noise = [np.random.default_rng([seed, 4]) for seed in seeds]
    kept = sorted({0, *np.geomspace(1, steps, SNAPSHOTS).astype(int).tolist()})
    theta, alive = starts.copy(), np.ones(len(starts), dtype=bool)
    taken = np.zeros(len(starts), dtype=int)
    snaps: list[list[Array]] = [[row.copy()] for row in starts]
    for step in range(1, steps + 1):
        now = np.flatnonzero(alive)
        if not len(now):
            break
        with np.errstate(over="ignore", invalid="ignore"):
            moved = theta[now] - rate * (loss(theta[now])[1] + decay * theta[now])
        if temperature:
            moved += np.sqrt(2 * rate * temperature) * np.stack(
                [noise[i].standard_normal(theta.shape[1]) for i in now]
            )
        with np.errstate(invalid="ignore"):
            fine = np.abs(moved).max(1) <= LARGEST  # False for what is not a number
        theta[now[fine]] = moved[fine]
        alive[now[~fine]] = False
        taken[now] = step
        if step in kept[1:]:
            for i in np.flatnonzero(alive):
                snaps[i].append(theta[i].copy())
    return [
        Path(
            rate * np.array(kept[: len(rows)], dtype=float),
            np.array(rows),
            int(n),
            None if fine else "overflow",
        )
        for rows, n, fine in zip(snaps, taken, alive, strict=True)
    ]


def growth(path: Path) -> tuple[float, float, float]:
    """d log‖θ‖ / d log t over the last ten-fold of time, over the ten-fold before it, and before that."""
    t, norm = path.times[1:], np.linalg.norm(path.weights[1:], axis=1)

    def slope(first: float, last: float) -> float:
        low, high = np.interp(np.log([first, last]), np.log(t), np.log(norm))
        return float((high - low) / np.log(last / first))

    if len(t) < 2:
        return 0.0, 0.0, 0.0
    end = float(t[-1])
    return slope(end / 10, end), slope(end / 100, end / 10), slope(end / 1000, end / 100)


def kept_values(loss: TrainingLoss, path: Path, decay: float) -> dict[str, Any]:
    """The loss L, and the norms of the gradient of the objective and of the weights, at the snapshots."""
    values, gradient = loss(path.weights)
    return {
        "loss": values,
        "gradient": np.linalg.norm(gradient + decay * path.weights, axis=1),
        "norm": np.linalg.norm(path.weights, axis=1),
    }
