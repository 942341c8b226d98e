"""The same text evaluates over every kind of scalar; the results must agree."""

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import DeepNetwork
from agattn.algebra.arithmetic import (
    BallArithmetic,
    FloatArithmetic,
    ModularArithmetic,
    RingArithmetic,
    to_balls,
)
from agattn.architectures.network import LayerWeights, draw_weights, forward
from agattn.geometry.identifiability import virtual_weights as deep

LARGEST = 1073741789


def integer_weights(network, generator):
    return draw_weights(network, lambda shape: generator.integers(-3, 4, shape).astype(object))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9), st.booleans(), st.sampled_from([None, 1, 2]), st.integers(1, 3))
def test_residues_are_the_integers_modulo_p(seed, skip, value_rank, heads):
    generator = np.random.default_rng(seed)
    network = DeepNetwork((3, 3, 3), (2, 1), 2, heads=heads, skip=skip, value_rank=value_rank)
    weights = integer_weights(network, generator)
    X = generator.integers(-3, 4, (3, 2)).astype(object)
    exact = forward(network, weights, X, RingArithmetic())
    reduced = [LayerWeights(*((w % LARGEST).astype(float) for w in layer.arrays)) for layer in weights]
    modular = forward(network, reduced, (X % LARGEST).astype(float), ModularArithmetic(LARGEST))
    assert (modular.astype(np.int64) == (exact % LARGEST).astype(np.int64)).all()


def test_one_head_is_the_papers_formula():
    generator = np.random.default_rng(0)
    network = DeepNetwork((4, 2, 3), (2, 3), 3)
    weights = integer_weights(network, generator)
    X = generator.integers(-3, 4, (4, 3)).astype(object)
    A = [layer.K[0].T @ layer.Q[0] for layer in weights]
    V = [layer.O[0] for layer in weights]
    assert (forward(network, weights, X, RingArithmetic()) == deep.lightning(A, V, X)).all()


def test_softmax_by_the_definition_and_in_balls():
    generator = np.random.default_rng(1)
    network = DeepNetwork((3, 2), (2,), 3, normalization="softmax", temperature=0.7)
    weights = draw_weights(network, generator.standard_normal)
    X = generator.standard_normal((3, 3))
    K, Q, V = (w[0] for w in weights[0].arrays)
    S = np.exp(X.T @ K.T @ Q @ X / 0.7)
    expected = V @ X @ (S / S.sum(axis=0))
    assert np.allclose(forward(network, weights, X, FloatArithmetic()), expected, rtol=1e-12)
    exact = [LayerWeights(*map(to_balls, weights[0].arrays))]
    with flint.ctx.workprec(100):
        balls = forward(network, exact, to_balls(X), BallArithmetic())
        assert all(
            abs(ball - flint.arb(x)) < 1e-12 for ball, x in zip(balls.ravel(), expected.ravel(), strict=True)
        )
        assert all(ball.rad() > 0 for ball in balls.ravel())


@pytest.mark.parametrize("arithmetic", [RingArithmetic(), ModularArithmetic(7)])
def test_softmax_needs_an_exponential(arithmetic):
    network = DeepNetwork((1, 1), (1,), 1, normalization="softmax")
    with pytest.raises(TypeError, match="softmax"):
        forward(network, draw_weights(network, np.ones), np.ones((1, 1)), arithmetic)


def test_wrong_input_shape():
    network = DeepNetwork((2, 1), (1,), 3)
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        forward(network, draw_weights(network, np.ones), np.ones((2, 2)), FloatArithmetic())
