r"""Estimates of learning coefficients by sampling: volumes, tempered chains, and SGLD. All are numerical.

The loss of weights w = (K, Q, V) at a point w₀ is f(w) = ‖φ(w) − φ(w₀)‖², in the coefficients y of a
lightning layer, and in the outputs for a fixed set of Gaussian tokens for a softmax head. Both are V·M(A)
with a matrix M of functions of A = KᵀQ. Near w₀

- the volume of {f < ε} is of the order of ε^λ (log 1/ε)^(m−1): :func:`by_volumes`;
- the mean of β f under the density ∝ exp(−β f) is λ − (m−1)/log β + ...: :func:`by_chains`.

λ is lower semicontinuous: it is at w₀ no greater than near w₀, so in a small ball it is what both tend to.
The radius is half the least nonzero singular value of the matrices at w₀, and at most 1/2. Both move K, Q and
V by turns, as f is quadratic in each of them, for softmax nearly so; and both move along the symmetries of φ.
They share these moves and nothing else. Chains and particles are the first axis of arrays.

>>> from agattn.experiments.calibration.points import calibration_points
>>> point = calibration_points()[2]
>>> found = by_chains(point, sweeps=50)
>>> print(point.value, round(found.value, 1), found.error < 0.05)
3/2 1.5 True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import log

import numpy as np

from agattn.algebra.scalars import Array
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.experiments.calibration.points import CalibrationPoint
from agattn.geometry.variety.coordinates import coefficients

Density = Callable[[Array], Array]


@dataclass(frozen=True, repr=False)
class Estimate:
    """An estimate of λ with its standard error, from repetitions that are independent."""

    method: str
    value: float
    error: float
    evidence: Evidence = Evidence.NUMERICAL

    def __repr__(self) -> str:
        return f"λ ≈ {self.value:.2f} ± {self.error:.2f} ({self.evidence})"


class PointLoss:
    """f at a point, its linear model, and moves that leave it unchanged; for many weights at once.

    Weights are a list [K, Q, V] of arrays n × a × d, n × a × d and n × d' × d.
    """

    def __init__(self, point: CalibrationPoint) -> None:
        layer = point.layer
        self.layer, self.head = layer, point.head
        self.center = [np.array([M], dtype=float) for M in (point.K, point.Q, point.V)]
        d = layer.d
        K, Q, V = self.center
        self.A0 = np.swapaxes(K, 1, 2) @ Q
        if point.head == "lightning":
            wide, units = SingleLayer(d, d, d, layer.t), np.eye(d * d).reshape(-1, d, d)
            self.slope = np.array([coefficients(wide, E, np.eye(d)).reshape(d, -1) for E in units])
        else:
            self.X = np.random.default_rng(0).standard_normal((2 * d * d, d, layer.t))
            p, XT = self._attention(self.A0)[0], np.swapaxes(self.X, 1, 2)
            S = np.stack([XT @ E @ self.X for E in np.eye(d * d).reshape(-1, d, d)])
            S = p * (S - (p * S).sum(-2, keepdims=True))
            self.slope = np.moveaxis(self.X @ S, 1, 2).reshape(d * d, d, -1)
        self.M0 = self.features(self.A0)
        self.truth = V @ self.M0
        both = np.concatenate([V, np.swapaxes(self.A0, 1, 2)], axis=1)
        sigma = np.concatenate([np.linalg.svd(M[0], compute_uv=False) for M in (K, Q, V, self.A0, both)])
        #: The radius of the ball around w₀, and the precision of the Gaussian in it that is the prior.
        self.radius = min(1.0, sigma[sigma > 1e-9].min(initial=1.0)) / 2
        self.precision = 2 * point.parameters / self.radius**2

    def _attention(self, A: Array) -> Array:
        """The softmax weights for all inputs, n × inputs × t × t."""
        S = np.swapaxes(self.X, 1, 2) @ (A[:, None] @ self.X)
        S = np.exp(S - S.max(-2, keepdims=True))
        weights: Array = S / S.sum(-2, keepdims=True)
        return weights

    def features(self, A: Array) -> Array:
        """M(A), n × d × P."""
        n, d = len(A), self.layer.d
        if self.head == "lightning":
            M: Array = A.reshape(n, -1) @ self.slope.reshape(d * d, -1)
        else:
            M = np.moveaxis(self.X @ self._attention(A), 1, 2)
        return M.reshape(n, d, -1)

    def __call__(self, w: list[Array]) -> Array:
        """f at n weights."""
        K, Q, V = w
        values: Array = ((V @ self.features(np.swapaxes(K, 1, 2) @ Q) - self.truth) ** 2).sum((1, 2))
        return values

    def linear_model(self, w: list[Array], block: int) -> tuple[Array, Array]:
        """JᵀJ and Jᵀr for the residual r of φ, made linear in A at A₀, as a function of one of K, Q, V.

        J depends on the two others alone; r is J times the block plus what depends on the others alone.
        """
        K, Q, V = w
        n, d = len(K), self.layer.d
        A = np.swapaxes(K, 1, 2) @ Q
        if block == 2:
            M = self.features(A)
            MT = np.swapaxes(M, 1, 2)
            gram, gradient = M @ MT, (V @ M - self.truth) @ MT
            full = np.zeros((n, len(V[0]), d, len(V[0]), d))
            for c in range(len(V[0])):
                full[:, c, :, c] = gram
            return full.reshape(n, V[0].size, -1), gradient.reshape(n, -1)
        moved = (A - self.A0).reshape(n, -1) @ self.slope.reshape(d * d, -1)
        r = (V @ (self.M0 + moved.reshape(n, d, -1)) - self.truth).reshape(n, -1)
        G = (V[:, None] @ self.slope).reshape(n, d, d, -1)  # by the entries k, b of A
        if block == 0:
            J = np.einsum("nkbp,nsb->nskp", G, Q, optimize=True)
        else:
            J = np.einsum("nkbp,nsk->nsbp", G, K, optimize=True)
        J = J.reshape(n, K[0].size, -1)
        return J @ np.swapaxes(J, 1, 2), (J @ r[:, :, None])[:, :, 0]

    def prior(self, w: list[Array]) -> Array:
        """The log density of a Gaussian around w₀, cut off at the ball."""
        squares: Array = sum(((M - M0) ** 2).sum((1, 2)) for M, M0 in zip(w, self.center, strict=True))
        return np.where(squares < self.radius**2, -self.precision * squares / 2, -np.inf)

    def start(self, n: int, draw: np.random.Generator) -> list[Array]:
        """Weights with this law; those that the cut-off leaves out are drawn again."""
        w: list[Array] = [np.repeat(M, n, axis=0) for M in self.center]
        left = np.ones(n, dtype=bool)
        while left.any():
            sd = self.precision**-0.5
            w = _replace(w, [M + sd * draw.standard_normal((n, *M.shape[1:])) for M in self.center], left)
            left = np.isinf(self.prior(w))
        return w

    def along_symmetries(self, w: list[Array], draw: np.random.Generator) -> tuple[list[Array], Array]:
        """Other weights of the same functions, and the log-determinant of the map; its inverse is as likely.

        GL(a) acts on K and Q; at t = 1, where only A + Aᵀ counts, the orthogonal group of the pairing of K
        and Q does. For lightning (K, V) ↦ (sK, V/s), too.
        """
        K, Q, V = w
        n, a, _ = K.shape
        size = 10.0 ** draw.uniform(-2, 0.3, (n, 1, 1))
        X = draw.standard_normal((n, a, a)) * (draw.random((n, a, a)) < draw.random((n, 1, 1)))
        N = np.zeros((n, 2 * a, 2 * a))
        N[:, :a, :a], N[:, a:, a:] = X, -np.swapaxes(X, 1, 2)
        if self.layer.t == 1:
            Y, Z = draw.standard_normal((2, n, a, a))
            N[:, :a, a:], N[:, a:, :a] = Y - np.swapaxes(Y, 1, 2), Z - np.swapaxes(Z, 1, 2)
        N, one = N * size / 2, np.eye(2 * a)
        KQ = np.linalg.solve(one - N, (one + N) @ np.concatenate([K, Q], axis=1))
        s = np.ones((n, 1, 1))
        if self.head == "lightning":
            s = np.exp(draw.standard_normal((n, 1, 1)) * 10.0 ** draw.uniform(-2, 0, (n, 1, 1)))
        change = (K[0].size - V[0].size) * np.log(s[:, 0, 0])
        return [s * KQ[:, :a], KQ[:, a:], V / s], change


def _replace(w: list[Array], new: list[Array], accepted: Array) -> list[Array]:
    return [np.where(accepted[:, None, None], M, old) for M, old in zip(new, w, strict=True)]


def by_chains(
    point: CalibrationPoint,
    *,
    beta: float = 1e12,
    groups: int = 8,
    chains: int = 32,
    sweeps: int = 150,
    seed: int = 0,
) -> Estimate:
    """λ by the mean of β f in tempered Markov chains, with (m−1)/log β f₀ added.

    Groups of chains, which are independent, start from the prior at β = 0 and are annealed, with resampling
    inside each group, in ``sweeps`` steps to β; then as many sweeps are counted. f₀ is the mean of f under
    the prior. The error is that of the mean over the groups.

    Raises:
        InputError: if β is not above 1, or there are fewer than two groups, chains or sweeps.
    """
    _check(beta > 1, groups, chains, sweeps)
    draw, loss = np.random.default_rng(seed), PointLoss(point)
    start = loss.start(groups * chains, draw)
    unit = float(loss(start).mean())
    ladder = [0.0, *np.geomspace(1, beta, sweeps - 1).tolist()]
    w, f, _ = annealed(loss, start, ladder, groups, draw)
    total = np.zeros(groups * chains)
    for _ in range(sweeps):
        w, f = _sweep(loss, w, f, np.full(len(f), beta), partial(_tempered, beta), draw)
        total += beta * f
    found = total.reshape(groups, -1).mean(1) / sweeps
    return _estimate("chains", found, (point.multiplicity - 1) / log(beta * unit))


def annealed(
    loss: PointLoss, w: list[Array], ladder: Sequence[float], groups: int, draw: np.random.Generator
) -> tuple[list[Array], Array, Array]:
    """Chains that start from the prior, annealed in steps of β, with resampling inside of each group.

    Args:
        loss: f.
        w: weights drawn from the prior.
        ladder: the β, from 0 up.
        groups: into how many groups the chains fall, which stay independent.
        draw: of random numbers.

    Returns:
        The weights, f there, and for each group an estimate of log E exp(−βf) under the prior, at the last β.
    """
    f, total = loss(w), np.zeros(groups)
    for before, b in zip([0.0, *ladder], ladder, strict=False):
        if b > before:
            exponents = ((before - b) * f).reshape(groups, -1)
            largest = exponents.max(1, keepdims=True)
            weights = np.exp(exponents - largest)
            total += np.log(weights.mean(1)) + largest[:, 0]
            chosen = _resampled(weights, draw)
            w, f = [M[chosen] for M in w], f[chosen]
        w, f = _sweep(loss, w, f, np.full(len(f), b), partial(_tempered, b), draw)
    return w, f, total


def by_volumes(
    point: CalibrationPoint, *, smallest: float = 1e-14, groups: int = 16, particles: int = 192, seed: int = 0
) -> Estimate:
    """λ by the volumes of {f < ε}, as small as they are, by multilevel splitting.

    Each level keeps the half of a group of particles where f is least, and makes two of each, so that volumes
    are halved from level to level; then all move inside {f < ε}. λ is the slope of log volume −
    (m−1) log log f₀/ε over log ε, from the smallest ε to its power 0.6; f₀ is the mean of f under the prior.
    The error is that of the mean over the groups, which are independent.

    Raises:
        InputError: if the smallest ε is not between 0 and 1, or there are fewer than two groups or particles.
    """
    _check(0 < smallest < 1, groups, particles)
    draw, loss = np.random.default_rng(seed), PointLoss(point)
    keep = particles // 2
    halving = sum(1 / i for i in range(keep + 1, particles + 1))  # the mean of −log(volume ratio)
    w = loss.start(groups * particles, draw)
    f = loss(w)
    unit = float(f.mean())
    levels: list[Array] = []
    while not levels or levels[-1].max() > smallest:
        order = np.argsort(f.reshape(groups, -1), axis=1)
        order += particles * np.arange(groups)[:, None]
        best = np.concatenate([order[:, :keep], order[:, : particles - keep]], axis=1).ravel()
        levels.append(f[order[:, keep]])
        w, f = [M[best] for M in w], f[best]
        bound = np.repeat(levels[-1], particles)
        spread = np.repeat(levels[-1] - f.reshape(groups, -1).mean(1), particles)
        w, f = _sweep(loss, w, f, 1 / spread, partial(_inside, bound), draw)
    found = []
    for epsilon in np.array(levels).T:
        volume = -halving * np.arange(len(epsilon))
        used = epsilon < smallest**0.6
        x = np.log(epsilon[used] / unit)
        y = volume[used] - (point.multiplicity - 1) * np.log(-x)
        found.append(np.polyfit(x, y, 1)[0])
    return _estimate("volumes", np.array(found), 0.0)


def _check(fits: bool, *numbers: int) -> None:
    if not fits or min(numbers) < 2:
        raise InputError("β must be above 1, ε between 0 and 1, and all numbers of chains at least 2")


def _estimate(method: str, found: Array, correction: float) -> Estimate:
    error = float(found.std(ddof=1) / len(found) ** 0.5)
    return Estimate(method, float(found.mean()) + correction, error)


def _resampled(weights: Array, draw: np.random.Generator) -> Array:
    """Which chains go on, as many as there are in each group, by systematic resampling."""
    groups, n = weights.shape
    ends = np.cumsum(weights, axis=1) / weights.sum(1, keepdims=True)
    places = (np.arange(n) + draw.random((groups, 1))) / n
    chosen = [np.searchsorted(end, place).clip(max=n - 1) for end, place in zip(ends, places, strict=True)]
    numbers: Array = np.array(chosen) + n * np.arange(groups)[:, None]
    return numbers.ravel()


def _tempered(beta: float, f: Array) -> Array:
    """The log density of tempered chains."""
    return -beta * f


def _inside(bound: Array, f: Array) -> Array:
    """The log density of the uniform law where f is at most a bound."""
    return np.where(f <= bound, 0.0, -np.inf)


def _sweep(
    loss: PointLoss, w: list[Array], f: Array, beta: Array, density: Density, draw: np.random.Generator
) -> tuple[list[Array], Array]:
    """Move each block, and along the symmetries; the density times the prior is left invariant."""
    for block in range(3):
        w, f = _draw_block(loss, w, f, block, (block + int(draw.integers(1, 3))) % 3, beta, density, draw)
    new, change = loss.along_symmetries(w, draw)
    return _replace(w, new, np.log(draw.random(len(f))) < loss.prior(new) - loss.prior(w) + change), f


def _draw_block(
    loss: PointLoss,
    w: list[Array],
    f: Array,
    block: int,
    other: int,
    beta: Array,
    density: Density,
    draw: np.random.Generator,
) -> tuple[list[Array], Array]:
    """Multiply another block from the right by a matrix near 1, or by 1, and draw the block anew then.

    It is drawn from its Gaussian law at β for the linear model of φ, and accepted by the rule of Metropolis
    and Hastings. At (1,1,1) V and A move far only together.
    """
    n, d = len(f), loss.layer.d
    scale = 10.0 ** draw.uniform(-5, -1, (n, 1, 1)) * (draw.random((n, 1, 1)) < 0.5)
    half = scale * draw.uniform(-1, 1, (n, d, d))
    g = np.linalg.solve(np.eye(d) - half, np.eye(d) + half)
    new = [*w]
    new[other] = w[other] @ g
    z = draw.standard_normal((n, w[block][0].size))
    ratio = w[other].shape[1] * np.linalg.slogdet(g)[1]
    for others in (w, new):
        gram, gradient = loss.linear_model(others, block)
        x = (w[block] - loss.center[block]).reshape(n, -1)
        precision = 2 * beta[:, None, None] * gram + loss.precision * np.eye(len(z[0]))
        B = np.linalg.inv(np.linalg.cholesky(precision))
        step = (B @ (2 * beta[:, None] * gradient + loss.precision * x)[:, :, None])[:, :, 0]
        log_scale = np.log(np.diagonal(B, axis1=1, axis2=2)).sum(1)
        if others is w:
            ratio -= log_scale + (step**2).sum(1) / 2
        else:
            ratio += log_scale + (z**2).sum(1) / 2
            move = (np.swapaxes(B, 1, 2) @ (z - step)[:, :, None])[:, :, 0]
    new[block] = w[block] + move.reshape(w[block].shape)
    new_f = loss(new)
    ratio += density(new_f) - density(f) + loss.prior(new) - loss.prior(w)
    accepted = np.log(draw.random(n)) < ratio
    return _replace(w, new, accepted), np.where(accepted, new_f, f)
