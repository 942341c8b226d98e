"""The squared loss, against residuals of the layer itself and against quadrature."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.polynomial import Polynomial, PolynomialRing
from agattn.architectures import SingleLayer
from agattn.architectures.lightning import phi
from agattn.errors import InputError
from agattn.geometry.critical_points import loss as room
from agattn.geometry.critical_points.elimination import critical_points_on_umbrella
from agattn.geometry.critical_points.loss import Loss, loss, loss_of_data, turned
from agattn.geometry.variety.coefficient_norm import norm_squared
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring, parametrization

sizes = st.tuples(st.integers(1, 3), st.integers(1, 2), st.integers(1, 3))


@settings(max_examples=15, deadline=None)
@given(sizes, st.integers(0, 10**6), st.integers(1, 3))
def test_the_loss_of_data_is_the_sum_of_squared_residuals(size, seed, n):
    layer = SingleLayer(size[0], size[1], t=size[2])
    random = np.random.default_rng(seed)
    X, Y = (random.integers(-3, 4, (n, rows, layer.t)) for rows in (layer.d, layer.d_out))
    A, V = random.integers(-3, 4, (layer.d, layer.d)), random.integers(-3, 4, (layer.d_out, layer.d))
    L = loss_of_data(layer, X, Y)
    residuals = sum(((phi(A, V, x) - y) ** 2).sum() for x, y in zip(X, Y, strict=True))
    y = [int(x) for x in coefficients(layer, A, V)]
    assert L.value(y) == residuals
    weights = [int(x) for x in (*A.ravel(), *V.ravel())]
    assert L.value(parametrization(layer))(*weights) == L.value(coordinate_ring(layer).gens)(*y) == residuals


@pytest.mark.parametrize("sizes", [(2, 1), (2, 2), (3, 2), (2, 3)])
def test_a_turned_loss_is_the_loss_after_a_change_of_basis(sizes):
    """L'(φ_{A,V}) = L(φ) at (Uᵀ A Fᵀ, R V U), with a reflection R."""
    layer, seed = SingleLayer(*sizes), 5
    d, d_out = sizes
    L = loss(layer, "generic", seed=1)
    other, draw = turned(L, seed), random.Random(seed)
    F, U = (np.array(room.unimodular(d, lambda: draw.randint(1, 9))) for _ in range(2))
    w = np.array([draw.randint(1, 9) for _ in range(d_out)], dtype=object)
    R = np.eye(d_out, dtype=object) - 2 * np.outer(w, w) * Fraction(1, int(w @ w))
    numbers = np.random.default_rng(0)
    A, V = (numbers.integers(-5, 6, shape).astype(object) for shape in ((d, d), (d_out, d)))
    moved = coefficients(layer, U.T @ A @ F.T, R @ V @ U)
    assert other.value(coefficients(layer, A, V)) == L.value(moved)
    assert other.rank == L.rank and other.drawn and not loss(layer, "gaussian", target=moved).drawn


@pytest.mark.parametrize("metric", ["generic", "gaussian", "bombieri-weyl", "coefficients"])
def test_the_gradient_is_that_of_the_polynomial(metric):
    L = loss(SingleLayer(2, 2), metric)
    f = L.value(coordinate_ring(L.layer).gens)
    y = [Fraction(i, 3) for i in range(12)]
    assert isinstance(f, Polynomial)
    assert L.gradient(y) == [f.derivative(g)(*y) for g in f.ring.gens]
    assert L.gradient(y)[:2] == loss(SingleLayer(2, 2), metric).gradient(y)[:2]  # the seed decides


def test_gaussian_tokens_against_quadrature():
    """Four nodes for each entry of X integrate polynomials of degree 7 exactly."""
    layer = SingleLayer(2, 1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    rng = np.random.default_rng(3)
    A, V = rng.integers(-2, 3, (2, 2)).astype(float), rng.integers(-2, 3, (1, 2)).astype(float)
    expected = 0.0
    for place in product(range(4), repeat=4):
        X = nodes[list(place)].reshape(2, 2)
        expected += float(weights[list(place)].prod()) * float((phi(A, V, X) ** 2).sum())
    expected /= (2 * np.pi) ** 2
    value = loss(layer, "gaussian", target=[0] * 6).value([Fraction(x) for x in coefficients(layer, A, V)])
    assert float(value) == pytest.approx(expected)


def test_bombieri_weyl_is_the_invariant_norm():
    A, V = np.array([[1.0, 2.0], [3.0, -4.0]]), np.array([[5.0, 7.0], [1.0, 1.0]])
    distance = loss(SingleLayer(2, 2), "bombieri-weyl", target=[0] * 12)
    assert distance.value([int(y) for y in coefficients(SingleLayer(2, 2), A, V)]) == norm_squared(A, V)


def test_samples_and_targets():
    layer = SingleLayer(2, 2)
    assert [loss(layer, samples=n).rank for n in (1, 2, 3)] == [2, 4, 6]
    u = [*range(12)]
    for metric in ("generic", "gaussian"):
        assert loss(layer, metric, target=u).value(u) == 0
        assert loss(layer, metric, target=u).gradient(u) == [0] * 12
    assert loss(layer).rank == 6 and loss(layer).samples == 7
    assert loss(layer, seed=1).linear != loss(layer).linear
    assert isinstance(loss(SingleLayer(2, 1, t=1), "gaussian"), Loss)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y, w: x**2 + y**2 - w**2, "the loss is not definite on the slice"),
        (lambda x, y, w: x**2 + y**2 + w, "the loss is not definite on the slice"),
        (lambda x, y, w: x**3 + y**2 + w**2, "is no quadratic polynomial in three variables"),
    ],
)
def test_losses_on_the_umbrella_are_definite(change, message):
    ring = PolynomialRing(["x", "y", "w"])
    with pytest.raises(InputError, match=message):
        critical_points_on_umbrella(change(*ring.gens))


@given(
    st.lists(st.integers(-8, 8), min_size=3, max_size=3), st.lists(st.integers(1, 5), min_size=3, max_size=3)
)
@settings(max_examples=12, deadline=None)
def test_critical_points_on_the_umbrella_are_those_of_the_reduced_function(target, scale):
    """min over x of the loss at (x, sx, −s²), on a fine grid of s: the same extrema."""
    ring = PolynomialRing(["x", "y", "w"])
    f = sum(
        (c * (z - Fraction(t, 4)) ** 2 for c, z, t in zip(scale, ring.gens, target, strict=True)), ring.zero()
    )
    *found, line = critical_points_on_umbrella(f)
    assert line.on_line and float(line.position[2].mid()) == target[2] / 4 and line.in_m == (target[2] <= 0)
    for point in found:
        x, y, w = point.position
        assert (y**2 + w * x**2).contains(0) and point.evidence.value == "proved"
        A, V = point.weights.values()
        y = coefficients(SingleLayer(2, 1), A, V).astype(float)
        assert y == pytest.approx([1, 0, float(w.mid()), 0, *(float(z.mid()) for z in point.position[:2])])
    s = np.linspace(-4, 4, 4001)
    t = np.array(target) / 4
    x = (scale[0] * t[0] + scale[1] * t[1] * s) / (scale[0] + scale[1] * s**2)
    value = scale[0] * (x - t[0]) ** 2 + scale[1] * (s * x - t[1]) ** 2 + scale[2] * (-(s**2) - t[2]) ** 2
    lowest = np.flatnonzero((value[1:-1] < value[:-2]) & (value[1:-1] < value[2:])) + 1
    lowest = lowest[np.abs(x[lowest]) > 0.02]
    minima = [float(p.loss.mid()) for p in found if p.index == 0 and abs(float(p.position[0].mid())) > 0.02]
    assert sorted(value[lowest]) == pytest.approx(sorted(minima), abs=1e-3)
