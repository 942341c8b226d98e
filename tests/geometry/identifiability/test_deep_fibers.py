from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn.errors import InputError
from agattn.geometry.identifiability.deep_fibers import DeepFiber
from agattn.geometry.identifiability.softmax_layer import normalized
from agattn.geometry.identifiability.virtual_weights import lightning
from agattn.geometry.reconstruction.from_values import identify_softmax


def draw(rng, dims):
    A = [rng.integers(-2, 3, (d, d)).astype(object) for d in dims[:-1]]
    V = [rng.integers(-2, 3, (e, d)).astype(object) for d, e in pairwise(dims)]
    return A, V


@given(st.integers(0, 10**6), st.sampled_from([(2, 2), (3, 2, 3), (2, 2, 2, 2)]))
def test_symmetries_keep_the_function_and_others_do_not(seed, dims):
    rng = np.random.default_rng(seed)
    A, V = draw(rng, dims)
    X = rng.integers(-2, 3, (dims[0], 3)).astype(object)
    expected = lightning(A, V, X)
    through = DeepFiber(A, V)
    C = [np.array([[1, int(rng.integers(-3, 4))], [0, 2]]) for _ in dims[1:-1]]
    A2, V2 = through.change_basis(C)
    A2, V2 = DeepFiber(A2, V2).rescale([Fraction(int(x), 3) for x in rng.integers(1, 6, len(A))])
    assert (lightning(A2, V2, X) == expected).all()
    assert through.contains(A2, V2) is True
    if through.hypotheses_hold:
        A3 = [A[0] + np.eye(dims[0], dtype=int), *A[1:]]
        same = through.contains(A3, V)
        assert same is False or (lightning(A3, V, X) == expected).all()
        floats = DeepFiber([M.astype(float) for M in A], [M.astype(float) for M in V])
        assert floats.contains(A2, V2) and floats.hypotheses_hold


def test_dimension_and_hypotheses():
    rng = np.random.default_rng(1)
    A, V = draw(rng, (3, 2, 3))
    through = DeepFiber(A, V)
    assert through.hypotheses_hold and through.dimension == 2 + 4
    skew = [np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]]), A[1]]
    assert not DeepFiber(skew, V).hypotheses_hold and DeepFiber(skew, V).dimension is None


def test_bad_networks():
    A, V = draw(np.random.default_rng(0), (2, 2, 2))
    through = DeepFiber(A, V)
    for action, message in [
        (lambda: through.rescale([1]), "one that is not 0"),
        (lambda: through.rescale([1, 0]), "one that is not 0"),
        (lambda: through.change_basis([[[1]]]), "must be 2 × 2"),
        (lambda: through.change_basis([[[0, 0], [0, 1]]]), "no inverse"),
        (lambda: DeepFiber(A[:1], V), "one of each"),
        (lambda: DeepFiber(A, [V[1], [[1]]]), "do not fit"),
        (lambda: through.contains(*draw(np.random.default_rng(0), (2, 3, 2))), "only equal"),
    ]:
        with pytest.raises(InputError, match=message):
            action()


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_softmax_layers_are_identified(temperature):
    rng = np.random.default_rng(0)
    A, V = 0.3 * rng.standard_normal((4, 4)), rng.standard_normal((3, 4))
    A2, V2 = identify_softmax(
        lambda X: normalized(A, V, X, lambda s: np.exp(s / temperature)), 4, 3, temperature
    )
    assert np.allclose(A, A2, atol=1e-9) and np.allclose(V, V2)
    assert identify_softmax(lambda X: 0 * X, 4, 3)[0] is None


def test_zero_functions_are_equal():
    A, V = [np.eye(2), np.eye(2)], [np.eye(2), np.ones((1, 2))]
    no_attention = [np.zeros((2, 2)), A[1]]
    assert DeepFiber(no_attention, V).contains(no_attention, V) is True
    assert DeepFiber(no_attention, V).contains(A, [V[0], 0 * V[1]]) is True
    assert DeepFiber(no_attention, V).contains(A, V) is not True
