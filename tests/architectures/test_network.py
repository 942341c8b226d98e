"""The same text evaluates over every kind of scalar; the results must agree."""

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import Attention, Network
from agattn.algebra.arithmetic import (
    BallArithmetic,
    FloatArithmetic,
    ModularArithmetic,
    RingArithmetic,
    to_balls,
)
from agattn.architectures import DeepNetwork, draw_parameters
from agattn.architectures.layered import check_arrays
from agattn.errors import TooLargeError
from agattn.geometry.identifiability import virtual_weights as deep

LARGEST = 1073741789
MASK = [[1, 1, 0], [1, 0, 1], [0, 1, 1]]


def evaluate(network, weights, X, arithmetic):
    """The output at one input."""
    return network.evaluate(arithmetic, weights, X[None])[0]


def integer_weights(network, generator):
    return draw_parameters(network, lambda shape: generator.integers(-3, 4, shape).astype(object))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9), st.booleans(), st.sampled_from([None, 1, 2]), st.integers(1, 3))
def test_residues_are_the_integers_modulo_p(seed, skip, value_rank, heads):
    generator = np.random.default_rng(seed)
    network = DeepNetwork((3, 3, 3), (2, 1), 2, heads=heads, skip=skip, value_rank=value_rank)
    weights = integer_weights(network, generator)
    X = generator.integers(-3, 4, (3, 2)).astype(object)
    exact = evaluate(network, weights, X, RingArithmetic())
    reduced = {name: (w % LARGEST).astype(float) for name, w in weights.items()}
    modular = evaluate(network, reduced, (X % LARGEST).astype(float), ModularArithmetic(LARGEST))
    assert (modular.astype(np.int64) == (exact % LARGEST).astype(np.int64)).all()


def test_one_head_is_the_papers_formula():
    generator = np.random.default_rng(0)
    network = DeepNetwork((4, 2, 3), (2, 3), 3)
    weights = integer_weights(network, generator)
    X = generator.integers(-3, 4, (4, 3)).astype(object)
    A = [weights[f"K_{i}"][0].T @ weights[f"Q_{i}"][0] for i in (1, 2)]
    V = [weights[f"V_{i}"][0] for i in (1, 2)]
    assert (evaluate(network, weights, X, RingArithmetic()) == deep.lightning(A, V, X)).all()


@pytest.mark.parametrize(
    ("network", "seen", "temperature"),
    [
        (DeepNetwork((3, 2), (2,), 3, normalization="softmax", temperature=0.7), np.ones((3, 3)), 0.7),
        (Network([Attention(2, 2, mask=MASK, normalization="softmax")], 3, tokens=3), np.array(MASK), 1),
    ],
)
def test_softmax_by_the_definition_and_in_balls(network, seen, temperature):
    """Where there is a mask, it is one over the tokens that are seen."""
    generator = np.random.default_rng(1)
    weights = draw_parameters(network, generator.standard_normal)
    X = generator.standard_normal((3, 3))
    K, Q, V = (w[0] for w in weights.values())
    S = np.exp(X.T @ K.T @ Q @ X / temperature) * seen
    expected = V @ X @ (S / S.sum(axis=0))
    assert np.allclose(evaluate(network, weights, X, FloatArithmetic()), expected, rtol=1e-12)
    exact = {name: to_balls(array) for name, array in weights.items()}
    with flint.ctx.workprec(100):
        balls = evaluate(network, exact, to_balls(X), BallArithmetic()).ravel()
        pairs = list(zip(balls, expected.ravel(), strict=True))
        assert all(abs(ball - flint.arb(x)) < 1e-12 and ball.rad() > 0 for ball, x in pairs)


@pytest.mark.parametrize("arithmetic", [RingArithmetic(), ModularArithmetic(7)])
def test_softmax_needs_an_exponential(arithmetic):
    network = DeepNetwork((1, 1), (1,), 1, normalization="softmax")
    with pytest.raises(TypeError, match="softmax"):
        evaluate(network, draw_parameters(network, np.ones), np.ones((1, 1)), arithmetic)


def test_wrong_input_shape():
    network = DeepNetwork((2, 1), (1,), 3)
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        evaluate(network, draw_parameters(network, np.ones), np.ones((2, 2)), FloatArithmetic())


def test_tokens_are_counted():
    check_arrays(DeepNetwork((2, 2), (2,), t=1000))
    with pytest.raises(TooLargeError, match="layer 1 has arrays of 9000000 entries, for 12 inputs"):
        check_arrays(DeepNetwork((2, 2), (2,), t=3000))
