"""What every architecture offers, whichever it is."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn.algebra.arithmetic import RingArithmetic
from agattn.architectures import DeepNetwork, OneTokenLayer, SingleLayer
from agattn.architectures.lightning import phi
from agattn.errors import InputError

ARCHITECTURES = [
    SingleLayer(3, 2, 1),
    SingleLayer(2, 3, t=1),
    DeepNetwork((3, 2, 4), (2, 1), t=2),
    DeepNetwork((2, 2), (3,), t=3, heads=2, value_rank=1),
    DeepNetwork((2, 2, 2), (1, 2), t=2, heads=(1, 2), skip=True),
]


def integers(architecture, seed):
    generator = np.random.default_rng(seed)

    def draw(shape):
        return generator.integers(-3, 4, shape).astype(object)

    parameters = {name: draw(shape) for name, shape in architecture.shapes.items()}
    return parameters, draw((4, *architecture.input_shape))


@pytest.mark.parametrize("architecture", ARCHITECTURES, ids=str)
def test_shapes_count_the_parameters_and_fit_the_map(architecture):
    parameters, X = integers(architecture, 0)
    assert sum(array.size for array in parameters.values()) == architecture.parameters
    Y = architecture.evaluate(RingArithmetic(), parameters, X)
    assert Y.shape[0] == 4 and Y.shape[2] == architecture.t and (Y != 0).any()


@given(st.integers(0, 10**6))
def test_a_layer_is_a_network_of_one(seed):
    layer = SingleLayer(3, 2, 2, t=2)
    parameters, X = integers(layer, seed)
    A = parameters["K"].T @ parameters["Q"]
    Y = layer.evaluate(RingArithmetic(), parameters, X)
    assert all((Y[n] == phi(A, parameters["V"], X[n])).all() for n in range(len(X)))
    assert layer.as_network() == DeepNetwork((3, 2), (2,), 2)


def test_one_token_is_a_layer_of_its_own():
    layer = SingleLayer(3, 2, 1, t=1)
    assert type(layer) is OneTokenLayer and type(SingleLayer(3, 2, 1)) is SingleLayer
    assert (layer.has_orbits, layer.letter, layer.gl_sizes) == (False, "z", (2, 3))
    assert (layer.ambient_dimension, layer.expected_dimension) == (20, 10)
    assert SingleLayer(3, 2, t=1) != SingleLayer(3, 2, t=2)
    for copied in (copy.copy(layer), copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert copied == layer and type(copied) is OneTokenLayer
    with pytest.raises(InputError, match="t is 2"):
        OneTokenLayer(2, 1, t=2)
    with pytest.raises(InputError, match="t is True"):
        SingleLayer(2, 1, t=True)
