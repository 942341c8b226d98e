r"""The points of examples/calibration.json: their λ by theorem, and by sampling; and the example itself.

The mean of β f under the density ∝ exp(−β f), for f = ‖φ − φ(w₀)‖² near w₀, is λ − (m−1)/log β + .... λ is
lower semicontinuous: it is at w₀ no greater than near w₀, so in a small ball the mean tends to it. Chains
draw K, Q and V by turns, as f is quadratic in each, for softmax nearly so, and move along the symmetries.
"""

import importlib.util
import json
import subprocess
import sys
from fractions import Fraction
from math import log

import numpy as np
import pytest
from command_line import ROOT

from agattn.architectures import SingleLayer
from agattn.geometry.learning_coefficients.learning_coefficients import parameters, weights_coefficient
from agattn.geometry.variety.coordinates import coefficients

EXAMPLE = ROOT / "examples" / "calibration.py"
POINTS = json.loads(EXAMPLE.with_suffix(".json").read_text(encoding="utf-8"))


def test_the_points_are_of_all_kinds():
    assert len(POINTS) == len({json.dumps(point) for point in POINTS}) == 100
    kinds = {(point["head"], point["architecture"]["t"], point["kind"]) for point in POINTS[:30]}
    assert {head for head, _, _ in kinds} == {"lightning", "softmax"} and {t for _, t, _ in kinds} == {1, 2}
    assert {point["multiplicity"] for point in POINTS[:30]} == {1, 2, 3}
    names = {kind for _, _, kind in kinds}
    assert {"generic", "lower rank", "boundary (1,1,1)", "crossing (1,1,2)", "A = 0", "V = 0"} <= names
    assert {"A = V = 0", "V does not divide S", "S = V·g", "S = cV²", "S = 0", "S = V = 0"} <= names
    assert max(point["architecture"]["d"] for point in POINTS) == 4


def test_lambda_is_that_of_the_theorem():
    for point in POINTS:
        given = parameters(K=point["K"], Q=point["Q"], V=point["V"])
        at = weights_coefficient(given, t=point["architecture"]["t"], softmax=point["head"] == "softmax")
        assert Fraction(point["lambda"]) == at.coefficient.value
        assert point["multiplicity"] == at.coefficient.multiplicity
        assert point["stratum"] == at.stratum.as_json()
        assert (point["rank_k"], point["rank_q"]) == (at.rank_k, at.rank_q)


def test_the_kind_of_a_point_is_that_of_its_weights():
    for point in POINTS:
        K, Q, V = (np.array(point[name]) for name in "KQV")
        A, kind = K.T @ Q, point["kind"]
        if point["architecture"]["t"] == 1:
            S = A + A.T
            assert kind.endswith("= 0") is not (S.any() and V.any())
            assert (kind == "S = 0") is bool(V.any() and not S.any())
        else:
            is_zero = kind in ("V = 0", "A = 0", "A = V = 0")
            assert is_zero is not (V.any() and (A.any() or point["head"] == "softmax"))
            assert kind != "A = 0" or V.any()


def run(*words):
    done = subprocess.run([sys.executable, EXAMPLE, *words], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def test_the_example_prints_what_is_known():
    lines, _ = run()
    expected = "7 lightning M(2,1,2), t = 2 generic λ = 5/2, m = 1"
    assert len(lines) == 100 and " ".join(lines[7].split()) == expected


@pytest.mark.skipif(importlib.util.find_spec("devinterp") is not None, reason="devinterp is installed")
def test_without_devinterp_the_example_says_what_to_install():
    lines, err = run("7", "0")
    assert [line.split()[0] for line in lines] == ["7", "0"] and "pip install devinterp" in err


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("devinterp") is None, reason="devinterp is not installed")
def test_devinterp_is_near_lambda():
    [line], _ = run("7")
    assert float(line.split("devinterp: ")[1].split()[0]) == pytest.approx(2.5, abs=0.7)


# By tempered chains -----------------------------------------------------------------------------------------


class Chains:
    """f and its linear models at a point, for weights [K, Q, V] of n chains: n × a × d, and so on."""

    def __init__(self, point):
        layer = SingleLayer(**point["architecture"])
        self.is_softmax, self.t = point["head"] == "softmax", layer.t
        self.center = [np.array([point[name]], dtype=float) for name in "KQV"]
        d = self.d = layer.d
        K, Q, V = self.center
        self.A0 = K.swapaxes(1, 2) @ Q
        units = np.eye(d * d).reshape(-1, d, d)
        if self.is_softmax:
            self.X = np.random.default_rng(0).standard_normal((2 * d * d, d, layer.t))
            p = self.attention(self.A0)[0]
            S = np.stack([self.X.swapaxes(1, 2) @ E @ self.X for E in units])
            S = p * (S - (p * S).sum(-2, keepdims=True))
            self.slope = np.moveaxis(self.X @ S, 1, 2).reshape(d * d, d, -1)
        else:
            wide = SingleLayer(d, d, d, layer.t)
            self.slope = np.array([coefficients(wide, E, np.eye(d)).reshape(d, -1) for E in units])
        self.M0 = self.features(self.A0)
        self.truth = V @ self.M0
        stacked = np.concatenate([V, self.A0.swapaxes(1, 2)], axis=1)
        sigma = np.concatenate([np.linalg.svd(M[0], compute_uv=False) for M in (K, Q, V, self.A0, stacked)])
        self.radius = min(1.0, sigma[sigma > 1e-9].min(initial=1.0)) / 2
        self.precision = 2 * sum(M.size for M in self.center) / self.radius**2

    def attention(self, A):
        S = np.exp(self.X.swapaxes(1, 2) @ (A[:, None] @ self.X))
        return S / S.sum(-2, keepdims=True)

    def features(self, A):
        if self.is_softmax:
            return np.moveaxis(self.X @ self.attention(A), 1, 2).reshape(len(A), self.d, -1)
        return (A.reshape(len(A), -1) @ self.slope.reshape(self.d**2, -1)).reshape(len(A), self.d, -1)

    def __call__(self, w):
        K, Q, V = w
        return ((V @ self.features(K.swapaxes(1, 2) @ Q) - self.truth) ** 2).sum((1, 2))

    def linear_model(self, w, block):
        """JᵀJ and Jᵀr for the residual r of φ, made linear in A at A₀, as a function of K, Q or V."""
        K, Q, V = w
        n, d = len(K), self.d
        A = K.swapaxes(1, 2) @ Q
        if block == 2:
            M = self.features(A)
            gram, gradient = M @ M.swapaxes(1, 2), (V @ M - self.truth) @ M.swapaxes(1, 2)
            return np.stack([np.kron(np.eye(V.shape[1]), g) for g in gram]), gradient.reshape(n, -1)
        moved = (A - self.A0).reshape(n, -1) @ self.slope.reshape(d * d, -1)
        r = (V @ (self.M0 + moved.reshape(n, d, -1)) - self.truth).reshape(n, -1)
        G = (V[:, None] @ self.slope).reshape(n, d, d, -1)
        J = np.einsum(*(("nkbp,nsk->nsbp", G, K) if block else ("nkbp,nsb->nskp", G, Q)), optimize=True)
        J = J.reshape(n, K[0].size, -1)
        return J @ J.swapaxes(1, 2), (J @ r[:, :, None])[:, :, 0]

    def prior(self, w):
        """The log density of a Gaussian around w₀, cut off at a ball."""
        squares = sum(((M - M0) ** 2).sum((1, 2)) for M, M0 in zip(w, self.center, strict=True))
        return np.where(squares < self.radius**2, -self.precision * squares / 2, -np.inf)

    def start(self, n, draw):
        w, outside = [np.repeat(M, n, axis=0) for M in self.center], np.ones(n, dtype=bool)
        while outside.any():
            drawn = [M + self.precision**-0.5 * draw.standard_normal((n, *M.shape[1:])) for M in self.center]
            w = chosen(w, drawn, outside)
            outside = np.isinf(self.prior(w))
        return w

    def along_symmetries(self, w, draw):
        """Other weights of the same functions, and the log-determinant of the map: GL(a), and scaling."""
        K, Q, V = w
        n, a, _ = K.shape
        X = draw.standard_normal((n, a, a)) * (draw.random((n, a, a)) < draw.random((n, 1, 1)))
        N = np.zeros((n, 2 * a, 2 * a))
        N[:, :a, :a], N[:, a:, a:] = X, -X.swapaxes(1, 2)
        if self.t == 1:  # only A + Aᵀ counts
            Y, Z = draw.standard_normal((2, n, a, a))
            N[:, :a, a:], N[:, a:, :a] = Y - Y.swapaxes(1, 2), Z - Z.swapaxes(1, 2)
        N *= 10.0 ** draw.uniform(-2, 0.3, (n, 1, 1)) / 2
        KQ = np.linalg.solve(np.eye(2 * a) - N, (np.eye(2 * a) + N) @ np.concatenate([K, Q], axis=1))
        s = np.ones((n, 1, 1))
        if not self.is_softmax:
            s = np.exp(draw.standard_normal((n, 1, 1)) * 10.0 ** draw.uniform(-2, 0, (n, 1, 1)))
        return [s * KQ[:, :a], KQ[:, a:], V / s], (K[0].size - V[0].size) * np.log(s[:, 0, 0])

    def sweep(self, w, f, beta, draw):
        """Each block and the symmetries, by the rule of Metropolis and Hastings."""
        for block in range(3):
            w, f = self.draw_block(w, f, block, (block + int(draw.integers(1, 3))) % 3, beta, draw)
        new, change = self.along_symmetries(w, draw)
        accepted = np.log(draw.random(len(f))) < self.prior(new) - self.prior(w) + change
        return chosen(w, new, accepted), f

    def draw_block(self, w, f, block, other, beta, draw):
        """Another block times a matrix near 1 or 1, then this block by its Gaussian law at β."""
        n, d = len(f), self.d
        scale = 10.0 ** draw.uniform(-5, -1, (n, 1, 1)) * (draw.random((n, 1, 1)) < 0.5)
        half = scale * draw.uniform(-1, 1, (n, d, d))
        g = np.linalg.solve(np.eye(d) - half, np.eye(d) + half)
        new = [*w]
        new[other] = w[other] @ g
        z = draw.standard_normal((n, w[block][0].size))
        ratio = w[other].shape[1] * np.linalg.slogdet(g)[1]
        for others in (w, new):
            gram, gradient = self.linear_model(others, block)
            x = (w[block] - self.center[block]).reshape(n, -1)
            B = np.linalg.inv(np.linalg.cholesky(2 * beta * gram + self.precision * np.eye(z.shape[1])))
            step = (B @ (2 * beta * gradient + self.precision * x)[:, :, None])[:, :, 0]
            sign, square = (-1, step) if others is w else (1, z)
            ratio += sign * (np.log(np.diagonal(B, axis1=1, axis2=2)).sum(1) + (square**2).sum(1) / 2)
        move = (B.swapaxes(1, 2) @ (z - step)[:, :, None])[:, :, 0]
        new[block] = w[block] + move.reshape(w[block].shape)
        new_f = self(new)
        ratio += beta * (f - new_f) + self.prior(new) - self.prior(w)
        accepted = np.log(draw.random(n)) < ratio
        return chosen(w, new, accepted), np.where(accepted, new_f, f)


def chosen(w, new, accepted):
    return [np.where(accepted[:, None, None], M, old) for M, old in zip(new, w, strict=True)]


def estimate(number, beta=1e12, groups=8, chains=32, sweeps=80):
    """λ by the mean of β f with (m−1)/log β f₀ added, and its standard error over independent groups."""
    point = POINTS[number]
    loss, draw = Chains(point), np.random.default_rng(3)
    w = loss.start(groups * chains, draw)
    f = loss(w)
    unit = f.mean()
    ladder = [0.0, *np.geomspace(1, beta, sweeps - 1)]
    for before, after in zip([0.0, *ladder], ladder, strict=False):
        weights = np.exp((before - after) * (f.reshape(groups, -1) - f.reshape(groups, -1).min(1)[:, None]))
        ends = np.cumsum(weights, axis=1) / weights.sum(1, keepdims=True)
        places = (np.arange(chains) + draw.random((groups, 1))) / chains
        kept = [np.searchsorted(end, at).clip(max=chains - 1) for end, at in zip(ends, places, strict=True)]
        kept = (np.array(kept) + chains * np.arange(groups)[:, None]).ravel()
        w, f = loss.sweep([M[kept] for M in w], f[kept], after, draw)
    total = 0
    for _ in range(sweeps):
        w, f = loss.sweep(w, f, beta, draw)
        total += beta * f.reshape(groups, -1).mean(1) / sweeps
    return total.mean() + (point["multiplicity"] - 1) / log(beta * unit), total.std(ddof=1) / groups**0.5


def first(kind, head):
    return next(n for n, point in enumerate(POINTS) if (point["kind"], point["head"]) == (kind, head))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "head"), [("boundary (1,1,1)", "lightning"), ("generic", "softmax"), ("S = cV²", "lightning")]
)
def test_chains_meet_the_theorem(kind, head):
    """Loosely; at (1,1,1) a regular count of parameters would be off by 11 %."""
    number = first(kind, head)
    value = float(Fraction(POINTS[number]["lambda"]))
    mean, error = estimate(number)
    assert abs(mean / value - 1) < 0.06 and 0 < error < 0.05 * value
