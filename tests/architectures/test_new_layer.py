"""A kind of layer that the package does not know: what is generic works from the protocol alone."""

import doctest
from dataclasses import dataclass
from pathlib import Path

import pytest

import agattn as ag
from agattn.architectures.layers import Layer
from agattn.claims.network_dimension import by_paper
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import dimension, smaller
from agattn.geometry.dimension.formulas import capacity_bound

PAGE = Path(__file__).parents[2] / "docs" / "extend" / "layer.md"


@dataclass(frozen=True)
class Neighbours(Layer):
    """Y_j = W_1 x_j + W_2 x_{j+1}, from the last token on to the first."""

    out: int
    type = "neighbours"

    def output_shape(self, shape):
        return self.out, shape[1]

    def shapes(self, shape):
        return {"W": (2, self.out, shape[0])}

    def evaluate(self, arithmetic, parameters, X):
        W = parameters["W"]
        after = X[..., [*range(1, X.shape[-1]), 0]]
        return arithmetic.clean(
            arithmetic.matmul(W[..., 0, :, :], X) + arithmetic.matmul(W[..., 1, :, :], after)
        )


@pytest.mark.parametrize(("layers", "value"), [([Neighbours(1)], 2), ([ag.Sum(), Neighbours(1)], 1)])
def test_tokens_may_be_mixed_by_a_layer_that_says_nothing_of_it(layers, value):
    found = dimension(ag.Network(layers, 1, 3))
    assert (found.dimension, found.lower_bound <= value <= found.upper_bound) == (value, True)


def test_no_smaller_model_is_looked_for_inside_of_a_layer_that_nobody_knows():
    """With fewer tokens the last one sees the first, which is no restriction of the layer."""
    assert smaller(ag.Network([ag.Linear(1), Neighbours(1)], 1, 9), 100) is None
    assert smaller(ag.Network([ag.Linear(1), ag.Linear(1)], 1, 9), 100) is not None


@dataclass(frozen=True)
class Matrix(Layer):
    """X ↦ U X, which is no subclass of the package's own linear layer."""

    out: int
    type = "matrix"
    mixes = "nothing"

    def output_shape(self, shape):
        return self.out, shape[1]

    def shapes(self, shape):
        return {"U": (self.out, shape[0])}

    def evaluate(self, arithmetic, parameters, X):
        return arithmetic.matmul(parameters["U"], X)


@dataclass(frozen=True)
class Cubes(Layer):
    """The cube of every entry."""

    type = "cubes"
    mixes = "nothing"

    def output_shape(self, shape):
        return shape

    def evaluate(self, arithmetic, parameters, X):
        return arithmetic.times(X, arithmetic.times(X, X))


@pytest.mark.parametrize(("widths", "value"), [((5, 7, 1), 34), ((2, 3, 2, 1), 8), ((3, 2, 2), 8)])
def test_a_layer_is_known_by_what_it_says_and_not_by_its_type(widths, value):
    own, known = (
        [part for out in widths[1:] for part in (power, matrix(out))][1:]
        for matrix, power in ((Matrix, Cubes()), (ag.Linear, ag.Power(3)))
    )
    own, known = (capacity_bound(ag.Network(layers, widths[0])) for layers in (own, known))
    assert own == known and own.value == value


@pytest.fixture(scope="module")
def perceptron():
    """The class of the page, as a reader would type it."""
    examples = doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8"))
    names = {"__name__": "page"}
    for example in examples:
        if example.source.startswith(("from ", "@dataclass")):
            exec(example.source, names)
    return names["Perceptron"]


@pytest.mark.parametrize(
    ("n", "s", "r", "value"),
    [
        # Alexander and Hirschowitz: min(sn, C(n+r-1, r)) but for r = 2 and four exceptions.
        (2, 2, 3, 4), (2, 3, 3, 4), (3, 2, 3, 6), (3, 3, 3, 9), (3, 4, 3, 10), (3, 4, 4, 12), (4, 3, 3, 12),
        (3, 5, 4, 14), (4, 9, 4, 34), (5, 7, 3, 34), (5, 14, 4, 69),
        # Quadrics in n variables of rank at most s.
        (3, 2, 2, 5), (4, 2, 2, 7), (4, 3, 2, 9), (4, 4, 2, 10),
    ],
)  # fmt: skip
def test_sums_of_powers(perceptron, n, s, r, value):
    found = dimension(perceptron(n, s, r))
    assert found.dimension == value == found.lower_bound
    assert found.upper_bound == s * n  # one scaling for each neuron
    assert (found.evidence is Evidence.PROVED) == (value == s * n)
    assert found.predicted is None and by_paper(found) is None
