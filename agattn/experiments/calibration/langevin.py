r"""Stochastic gradient Langevin dynamics at calibration points, as interpretability researchers run it.

The model is the layer; the data are n Gaussian inputs with outputs φ(w₀) plus noise of variance 1, and the
loss of an input is half the squared error. A step with a minibatch of loss L is

.. math:: w ← w − \frac ε2 \bigl( nβ ∇L(w) + γ (w − w_0) \bigr) + \sqrt ε\, N(0, 1),

and the estimate is nβ times the mean of L(w) − L(w₀) after the burn-in, each on the minibatch of the step.
So do Lau, Furman, Wang, Murfet and Wei, *The Local Learning Coefficient* (2023), and the package devinterp,
which :func:`by_devinterp` runs on the same model and data. All of it is numerical.

>>> from agattn.experiments.calibration.points import calibration_points
>>> point = calibration_points()[7]
>>> print(*by_sgld(point, [Setting(1000.0, 1.0, 1e-3)], steps=200))  # λ is 5/2
nβ = 1000, γ = 1, ε = 0.001: diverged (numerical)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from agattn.algebra.scalars import Array
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.experiments.calibration.points import CalibrationPoint


class Setting(NamedTuple):
    """What is chosen by hand: the inverse temperature nβ, the localization γ, and the step ε."""

    n_beta: float
    gamma: float
    step: float

    def __str__(self) -> str:
        return f"nβ = {self.n_beta:g}, γ = {self.gamma:g}, ε = {self.step:g}"


#: The settings that the calibration tries: n/log n is 1086 for n = 10,000.
SETTINGS = tuple(
    Setting(n_beta, gamma, step)
    for n_beta, gamma, step in product((10.0, 100.0, 1000.0), (1.0, 10.0, 100.0), (1e-6, 1e-5, 1e-4, 1e-3))
)
#: The samples of a minibatch, and the share of the steps that is not counted.
BATCH, BURN_IN = 32, 0.5


@dataclass(frozen=True, repr=False)
class SgldEstimate:
    """An estimate of λ by SGLD, with its standard error over chains; both ``None`` if a chain diverged."""

    setting: Setting
    value: float | None
    error: float | None
    evidence: Evidence = Evidence.NUMERICAL

    def __repr__(self) -> str:
        found = "diverged" if self.value is None else f"λ ≈ {self.value:.2f} ± {self.error:.2f}"
        return f"{self.setting}: {found} ({self.evidence})"


class LayerData(NamedTuple):
    """Gaussian inputs, n × d × t, and the noise of the outputs, n × d' × t."""

    inputs: Array
    noise: Array


def data(point: CalibrationPoint, n: int = 10_000, seed: int = 0) -> LayerData:
    """Training data for a point; the same seed gives the same data."""
    draw, layer = np.random.default_rng(seed), point.layer
    shape = (n, layer.d, layer.t)
    return LayerData(draw.standard_normal(shape), draw.standard_normal((n, layer.d_out, layer.t)))


def by_sgld(
    point: CalibrationPoint,
    settings: Sequence[Setting] = SETTINGS,
    *,
    chains: int = 4,
    steps: int = 2000,
    n: int = 10_000,
    seed: int = 0,
) -> list[SgldEstimate]:
    """λ by SGLD with each of the settings; all chains of all settings run side by side.

    Raises:
        InputError: if a number makes no sense.
    """
    if min(chains - 1, steps - 1, n, len(settings)) < 1:
        raise InputError("SGLD needs a setting, two chains, two steps, and data")
    draw = np.random.default_rng([seed, 1])
    inputs, noise = (np.ascontiguousarray(np.moveaxis(x, 1, 0)) for x in data(point, n, seed))
    center = [np.array([M], dtype=float) for M in (point.K, point.Q, point.V)]
    count = chains * len(settings)
    w = [np.repeat(M, count, axis=0) for M in center]
    n_beta, gamma, step = (np.repeat(x, chains)[:, None, None] for x in np.array(settings).T)
    first = int(BURN_IN * steps)
    total = np.zeros(count)
    with np.errstate(over="ignore", invalid="ignore"):
        for at in range(steps):
            chosen = draw.integers(n, size=(count, BATCH))
            X, Y = (np.moveaxis(x[:, chosen], 0, 1) for x in (inputs, noise))
            X = np.ascontiguousarray(X)
            target = Y + _outputs(point.head, center, X)[0].reshape(Y.shape)
            values, gradient = _loss(point.head, w, X, target)
            if at >= first:
                total += values - (Y**2).sum((1, 2, 3)) / (2 * BATCH)
            for i, (M, g) in enumerate(zip(w, gradient, strict=True)):
                drift = n_beta * g + gamma * (M - center[i])
                w[i] = M - step / 2 * drift + np.sqrt(step) * draw.standard_normal(M.shape)
    found = (n_beta[:, 0, 0] * total / (steps - first)).reshape(-1, chains)
    estimates = []
    for setting, row in zip(settings, found, strict=True):
        fine = bool(np.isfinite(row).all() and np.abs(row).max() < 1e6)
        mean, error = float(row.mean()), float(row.std(ddof=1) / chains**0.5) if fine else 0.0
        estimates.append(SgldEstimate(setting, mean if fine else None, error if fine else None))
    return estimates


def largest_curvature(point: CalibrationPoint, n: int = 10_000, seed: int = 0) -> float:
    """The largest eigenvalue h of the Hessian of the loss at w₀, without the noise.

    >>> from agattn.experiments.calibration.points import calibration_points
    >>> largest_curvature(calibration_points()[0])  # at φ = 0 with A = V = 0
    0.0
    """
    X = np.moveaxis(data(point, n, seed).inputs, 0, 1)[None]
    center = [np.array([M], dtype=float) for M in (point.K, point.Q, point.V)]
    target, columns, size = _outputs(point.head, center, X)[0], [], 1e-4
    flat = np.concatenate([M.ravel() for M in center])
    for unit in np.eye(len(flat)):
        sides = []
        for sign in (1, -1):
            parts = np.split(flat + sign * size * unit, np.cumsum([M.size for M in center])[:-1])
            w = [part.reshape(M.shape) for part, M in zip(parts, center, strict=True)]
            sides.append(np.concatenate([g.ravel() for g in _loss(point.head, w, X, target)[1]]))
        columns.append((sides[0] - sides[1]) / (2 * size))
    H = np.array(columns)
    return round(float(np.linalg.eigvalsh((H + H.T) / 2)[-1]), 3)


def _outputs(head: str, w: list[Array], X: Array) -> tuple[Array, Array, Array]:
    """φ(X), C × d' × batch·t, for X as C × d × batch × t; the weights of the sums, and X times these."""
    K, Q, V = w
    flat = X.reshape(len(X), X.shape[1], -1)
    AX = (np.swapaxes(K, 1, 2) @ (Q @ flat)).reshape(X.shape)
    P = np.einsum("cibs,cibt->cbst", X, AX)
    if head == "softmax":
        P = np.exp(P - P.max(-2, keepdims=True))
        P /= P.sum(-2, keepdims=True)
    XP = np.einsum("cibs,cbst->cibt", X, P).reshape(flat.shape)
    return V @ XP, P, XP


def _loss(head: str, w: list[Array], X: Array, target: Array) -> tuple[Array, list[Array]]:
    """The mean loss of the minibatch of each chain, and its gradient in K, Q, V."""
    K, Q, V = w
    batch = X.shape[2]
    out, P, XP = _outputs(head, w, X)
    R = (out - target.reshape(out.shape)) / batch
    G = (np.swapaxes(V, 1, 2) @ R).reshape(X.shape)
    gP = np.einsum("cibs,cibt->cbst", X, G)
    if head == "softmax":
        gP = P * (gP - (P * gP).sum(-2, keepdims=True))
    left = np.einsum("cibs,cbst->cibt", X, gP).reshape(len(X), X.shape[1], -1)
    gA = left @ np.swapaxes(X.reshape(left.shape), 1, 2)
    gradient = [Q @ np.swapaxes(gA, 1, 2), K @ gA, R @ np.swapaxes(XP, 1, 2)]
    return batch * (R**2).sum((1, 2)) / 2, gradient


def require_devinterp() -> None:
    """Raise an InputError if devinterp is not installed."""
    if find_spec("devinterp") is None:
        raise InputError("devinterp is not installed; install it with: pip install 'agattn[slt]'")


def by_devinterp(
    point: CalibrationPoint,
    setting: Setting,
    *,
    chains: int = 4,
    steps: int = 2000,
    n: int = 10_000,
    seed: int = 0,
) -> SgldEstimate:
    """λ by the package devinterp, version 1, on the same model and data; it needs the extra ``slt``.

    Raises:
        InputError: if devinterp is not installed.
    """
    require_devinterp()
    import torch
    from devinterp.optim.sgmcmc import SGMCMC
    from devinterp.slt.sampler import estimate_learning_coeff_with_summary

    X, noise = (torch.tensor(x) for x in data(point, n, seed))

    class TorchLayer(torch.nn.Module):  # type: ignore[misc]  # torch is optional
        def __init__(self) -> None:
            super().__init__()
            K, Q, V = (torch.tensor(M, dtype=torch.float64) for M in (point.K, point.Q, point.V))
            self.K, self.Q, self.V = (torch.nn.Parameter(M) for M in (K, Q, V))

        def forward(self, X: Any) -> Any:
            P = X.mT @ (self.K.T @ (self.Q @ X))
            return self.V @ X @ (P.softmax(-2) if point.head == "softmax" else P)

    def evaluate(model: Any, given: Any) -> Any:
        return ((model(given[0]) - given[1]) ** 2).sum((1, 2)).mean() / 2

    model = TorchLayer()
    with torch.no_grad():
        rows = torch.utils.data.TensorDataset(X, model(X) + noise)
        at_center = float((noise**2).sum((1, 2)).mean() / 2)
    drawn = int(steps * (1 - BURN_IN))
    found = estimate_learning_coeff_with_summary(
        model,
        torch.utils.data.DataLoader(rows, batch_size=BATCH, shuffle=True),
        evaluate=evaluate,
        sampling_method=SGMCMC.sgld,
        optimizer_kwargs={"lr": setting.step, "nbeta": setting.n_beta, "localization": setting.gamma},
        num_chains=chains,
        num_draws=drawn,
        num_burnin_steps=steps - drawn,
        seed=seed,
        init_loss=at_center,
        verbose=False,
    )
    values = [float(found[f"llc-chain/{i}"]) for i in range(chains)]
    if not np.isfinite(values).all():
        return SgldEstimate(setting, None, None)
    return SgldEstimate(setting, float(np.mean(values)), float(np.std(values, ddof=1) / chains**0.5))
