"""The Jacobian against difference quotients, and its kernel against the symmetries."""

from typing import ClassVar

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import DeepNetwork
from agattn.algebra.arithmetic import BallArithmetic, FloatArithmetic, ModularArithmetic, to_balls
from agattn.algebra.residues import RowSpace, matmul, random_prime, random_residues
from agattn.architectures import draw_parameters
from agattn.architectures.protocol import symmetry_tangents
from agattn.geometry.dimension.formulas import symmetry_bound
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.dimension.symmetries import gauge_columns
from agattn.limits import limited

NETWORKS = [
    DeepNetwork((3, 2, 2), (1, 2), 2),
    DeepNetwork((2, 3, 2), (2, 4), 2),
    DeepNetwork((2, 3, 2), (2, 1), 2, heads=(2, 3)),
    DeepNetwork((3, 3, 3), (1, 2), 2, skip=True, heads=2),
    DeepNetwork((3, 2, 3), (2, 1), 2, heads=2, value_rank=1),
    DeepNetwork((2, 2, 2), (2, 1), 3, normalization="softmax", temperature=0.5),
    DeepNetwork((2, 2, 2), (1, 1), 2, normalization="softmax", heads=2, skip=True, value_rank=1),
]


def flatten(weights):
    return np.concatenate([array.ravel() for array in weights.values()])


class Gated:
    """An architecture that no file of the package knows: X ↦ (WX + b)∘(c − softmax(WX)), without its first
    token; one parameter has no effect."""

    shapes: ClassVar = {"W": (2, 3), "b": (2, 1), "unused": (2,), "c": (1, 4)}
    input_shape = (3, 4)

    def __str__(self):
        return "gated"

    def evaluate(self, arithmetic, parameters, X):
        Y = arithmetic.matmul(parameters["W"], X)
        gate = parameters["c"] - arithmetic.softmax(Y)
        return arithmetic.clean(arithmetic.times(Y + parameters["b"], gate)[:, ::-1, 1:])


@pytest.mark.parametrize("network", [*NETWORKS, Gated()], ids=str)
def test_difference_quotients(network):
    generator = np.random.default_rng(2)
    weights = draw_parameters(network, lambda shape: generator.standard_normal(shape) / 2)
    X = generator.standard_normal((2, *network.input_shape))
    J = jacobian(network, weights, X, FloatArithmetic())
    theta, h = flatten(weights), 1e-6

    def outputs(vector):
        entries = iter(vector)
        moved = draw_parameters(
            network, lambda s: np.array([next(entries) for _ in range(int(np.prod(s)))]).reshape(s)
        )
        return network.evaluate(FloatArithmetic(), moved, X).ravel()

    for k in range(len(theta)):
        step = np.zeros(len(theta))
        step[k] = h
        quotient = (outputs(theta + step) - outputs(theta - step)) / (2 * h)
        assert np.allclose(J[:, k], quotient, rtol=1e-5, atol=1e-6)


def test_cotangents_combine_rows():
    network = NETWORKS[0]
    generator = np.random.default_rng(3)
    weights = draw_parameters(network, generator.standard_normal)
    X, c = generator.standard_normal((4, 3, 2)), generator.standard_normal((4, 1, 2, 2))
    J = jacobian(network, weights, X, FloatArithmetic()).reshape(4, 4, -1)
    combined = jacobian(network, weights, X, FloatArithmetic(), c)
    assert np.allclose(combined, np.einsum("nm,nmk->nk", c.reshape(4, 4), J))


def test_balls_contain_the_float_jacobian():
    network = NETWORKS[5]
    generator = np.random.default_rng(4)
    weights = draw_parameters(network, generator.standard_normal)
    X = generator.standard_normal((2, 2, 3))
    floats = jacobian(network, weights, X, FloatArithmetic())
    exact = {name: to_balls(array) for name, array in weights.items()}
    with flint.ctx.workprec(80):
        balls = jacobian(network, exact, to_balls(X), BallArithmetic())
        assert balls.shape == floats.shape
        for ball, number in zip(balls.ravel(), floats.ravel(), strict=True):
            assert abs(ball - flint.arb(number)) < 1e-9


lightning = st.builds(
    lambda dims, skip, heads, value_rank, t, a: DeepNetwork(
        [dims[0]] * len(dims) if skip else dims,
        a[: len(dims) - 1],
        t,
        heads=heads,
        skip=skip,
        value_rank=value_rank,
    ),
    st.lists(st.integers(1, 4), min_size=2, max_size=4),
    st.booleans(),
    st.integers(1, 2),
    st.sampled_from([None, None, 1, 2]),
    st.integers(1, 3),
    st.lists(st.integers(1, 5), min_size=3, max_size=3),
)


@settings(max_examples=40, deadline=None)
@given(lightning, st.integers(0, 10**6))
def test_symmetries_and_gauge(network, seed):
    """The Jacobian kills every symmetry, and without the gauge's columns it has the same rank."""
    generator = np.random.default_rng(seed)
    p = random_prime(generator)
    weights = draw_parameters(network, lambda shape: random_residues(generator, shape, p))
    rows = network.parameters + 2
    X = random_residues(generator, (rows, network.dims[0], network.t), p)
    c = random_residues(generator, (rows, 1, network.dims[-1], network.t), p)
    J = jacobian(network, weights, X, ModularArithmetic(p), c)
    tangents = symmetry_tangents(network, weights, p)
    assert not matmul(J, tangents.T.copy(), p).any()
    left_out = gauge_columns(network, weights, p)
    rest = np.setdiff1d(np.arange(network.parameters), left_out)
    assert len(set(left_out)) == len(left_out)
    rank = RowSpace(network.parameters, p).add(J)
    assert RowSpace(len(rest), p).add(J[:, rest]) == rank
    with limited(seed=seed):
        assert len(left_out) <= network.parameters - symmetry_bound(network).value


def test_symmetries_of_a_normalized_network_leave_it_unchanged_to_first_order():
    network = DeepNetwork((3, 2, 3), (2, 1), 2, heads=2, normalization="softmax")
    generator = np.random.default_rng(0)
    p = 101
    weights = draw_parameters(network, lambda shape: generator.integers(0, 3, shape).astype(float))
    tangents = symmetry_tangents(network, weights, p)
    signed = np.where(tangents > p / 2, tangents - p, tangents)  # the integers before reduction
    X = generator.standard_normal((20, 3, 2)) / 4
    J = jacobian(network, weights, X, FloatArithmetic())
    assert np.abs(J @ signed.T).max() < 1e-9 * np.abs(J).max()
