"""What is derived of layers, against what is known of them by hand."""

from dataclasses import dataclass

import numpy as np
import pytest
from test_new_layer import Neighbours

import agattn as ag
from agattn import Attention, Convolution, Linear, Power, Recurrence, Sum
from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.residues import random_residues
from agattn.architectures import draw_parameters
from agattn.architectures.degrees import Degrees
from agattn.architectures.derived import derived
from agattn.architectures.layers import Layer

P = 1_000_003
HEAD = ["GL(a) on K, Q", "scaling on K, V"]
#: A layer with the shape of its input, and the groups inside of it in their order.
GROUPS = [
    (Attention(2, 2), (3, 2), HEAD),
    (Attention(2, 2), (1, 1), HEAD),
    (Attention(2, 2, mask="causal", skip=True), (2, 3), HEAD),
    (Attention(2, 1, heads=2), (3, 2), HEAD * 2),
    (Attention(2, 2, normalization="softmax"), (3, 2), HEAD[:1]),
    (Attention(2, 2, value_rank=1), (3, 2), ["GL(a) on K, Q", "GL(β) on O, P", "scaling on K, O"]),
    (Attention(3, 2, heads=4, kv_heads=2, value_rank=2), (4, 2),
     ["GL(a) on K, Q", "GL(β) on O, P", "GL(s) on Q, O"] * 2),
    (
        Attention(3, 2, heads=2, value_rank=1, kv_latent=2, q_latent=3),
        (4, 2),
        [
            *["GL(a) on UK, UQ", "GL(β) on O, UV", "scaling on UK, O"] * 2,
            "GL(r) on C, UK, UV",
            "GL(ρ) on D, UQ",
        ],
    ),
    (Attention(2, 2, rotary=True), (3, 3), ["scaling on K, Q", "O(2) on K, Q", "scaling on K, V"]),
    (Attention(2, 5, rotary=1), (3, 3),
     ["scaling on K, Q", "O(2) on K, Q", "GL(a) on K, Q", "scaling on K, V"]),
    (Recurrence(2, 2), (3, 3), HEAD),
    (Recurrence(2, 2, "decay"), (3, 3), HEAD),
    (Recurrence(2, 2, "scalar-gate"), (3, 3), HEAD),
    (Recurrence(2, 2, "diagonal-gate"), (3, 3), ["scaling on K, Q", "scaling on K, Q", "scaling on K, V"]),
    (Recurrence(2, 2, "delta"), (3, 3), ["O(a) on K, Q", "scaling on Q, V"]),
    (Recurrence(2, 1, "delta"), (3, 3), ["scaling on Q, V"]),
    (Recurrence(2, 2, "gated-delta"), (3, 3), ["O(a) on K, Q", "scaling on Q, V", "scaling on K, Q, w"]),
    (ag.CrossAttention(2, 2, context=1, heads=2), (3, 3), HEAD * 2),
    (Linear(2, bias=True), (3, 2), []),
    (Convolution(2, 1, channels=2), (2, 4), []),
    (Power(3), (3, 2), []),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "shape", "groups"), GROUPS, ids=str)
def test_groups_inside_of_layers(layer, shape, groups):
    assert [str(group) for group in derived(layer, shape).symmetries] == groups


@pytest.mark.parametrize(
    ("layer", "leading"),
    [
        (Attention(2, 2, value_rank=1), [("Q", -2), ("P", -2)]),
        (Attention(3, 2, heads=4, kv_heads=1, value_rank=2), [("Q", -2), ("P", -2), ("Q", -3)]),
        (Attention(3, 2, kv_latent=2, q_latent=2), [("UQ", -2), ("C", -2), ("D", -2)]),
        (Recurrence(2, 2), [("Q", -2)]),
        (ag.CrossAttention(2, 2, context=1), [("Q", -2)]),
    ],
    ids=str,
)
def test_a_group_acts_by_g_on_the_rows_of_the_last_array_and_by_its_inverse_on_what_that_meets(
    layer, leading
):
    """The proof of ``gauge_columns`` takes Q of KᵀQ and P of OP, which no group of an earlier layer moves."""
    groups = [group for group in derived(layer, (4, 3)).symmetries if group.on[0].axis is not None]
    assert [(group.leading.parameter, group.leading.axis) for group in groups] == leading
    for group in groups:
        assert all(one.dual for one in group.on if one is not group.leading)


@pytest.mark.parametrize(
    ("layer", "shape", "rows", "columns", "passes"),
    [
        (Attention(2, 2), (3, 2), {"V": -2}, {"K": -1, "Q": -1, "V": -1}, 0),
        (Attention(2, 2, value_rank=1, rotary=True), (3, 2), {"O": -2}, {"K": -1, "Q": -1, "P": -1}, 0),
        (Attention(2, 2, kv_latent=1), (3, 2), {"UV": -2}, {"C": -1, "Q": -1}, 0),
        (Attention(2, 2, kv_latent=1, value_rank=1, q_latent=1), (3, 2), {"O": -2}, {"C": -1, "D": -1}, 0),
        (Recurrence(2, 2, "decay"), (3, 2), {"V": -2}, {"K": -1, "Q": -1, "V": -1}, 0),
        (Recurrence(2, 2, "gated-delta"), (3, 2), {"V": -2}, {"K": -1, "Q": -1, "V": -1, "w": -1}, 0),
        (Linear(2, bias=True), (3, 2), {"W": -2, "b": -1}, {"W": -1}, 0),
        (Convolution(2, 1, channels=2), (3, 4), {"W": -3}, {"W": -2}, 0),
        (Convolution(2, 1), (4, 1), {"W": None}, {"W": None}, 0),
        (Convolution(4, 1), (4, 1), {"W": None}, {"W": None}, 0),
        (Power(3), (3, 2), {}, {}, 3),
        (Power(1), (3, 2), {}, {}, 1),
        (Sum(), (3, 2), {}, {}, 1),
    ],
    ids=str,
)
def test_what_takes_up_changes_of_both_ends(layer, shape, rows, columns, passes):
    found = derived(layer, shape)
    assert (found.rows, found.columns, found.passes) == (rows, columns, passes)


@pytest.mark.parametrize(
    ("layer", "shape", "weights", "inputs"),
    [
        (Attention(2, 2), (3, 10**6), 3, [3]),
        (Attention(2, 2, value_rank=1, kv_latent=1, q_latent=1), (3, 2), 7, [3]),
        (Recurrence(2, 2, "decay"), (3, 4), 6, [3]),
        (Recurrence(2, 2, "delta"), (3, 4), 9, [3, 5, 7, 9]),
        (Recurrence(2, 2, "gated-delta"), (3, 3), 10, [4, 7, 10]),
        (Linear(2, bias=True), (3, 2), 1, [0, 1]),
        (Power(10**9), (3, 2), 0, [10**9]),
    ],
    ids=str,
)
def test_degrees(layer, shape, weights, inputs):
    assert derived(layer, shape).degrees == Degrees(weights, frozenset(inputs))


@pytest.mark.parametrize(
    ("layer", "arrays"),
    [
        (Attention(2, 1, heads=2, rotary=False), ("K", "Q")),
        (Attention(2, 2, heads=2, rotary=True, normalization="softmax"), ("K", "Q")),
        (Attention(2, 1, heads=2, kv_latent=1, q_latent=1), ("UK", "UQ")),
        (Attention(2, 1, heads=4, kv_heads=2, value_rank=1), ("K", "Q")),
        (Attention(2, 1, heads=4, kv_heads=1, value_rank=1), ()),
        (Attention(2, 1), ()),
        (Recurrence(2, 1, "delta", heads=2), ("K", "Q")),
        (Recurrence(2, 2, "diagonal-gate", heads=2), ("K", "Q")),
        (ag.CrossAttention(2, 1, context=1, heads=2), ("K", "Q")),
        (Linear(2, bias=True), ()),
    ],
    ids=str,
)
def test_arrays_that_may_be_alike_in_two_heads(layer, arrays):
    assert derived(layer, (3, 2)).alike == arrays


def test_a_softmax_has_no_degree():
    assert derived(Attention(2, 2, normalization="softmax"), (3, 2)).degrees is None


@dataclass(frozen=True)
class Reversed(Layer):
    """The rows of the input in the opposite order, squared."""

    type = "reversed"

    def output_shape(self, shape):
        return shape

    def evaluate(self, arithmetic, parameters, X):
        return arithmetic.times(X, X)[:, ::-1]


def test_rows_that_change_their_places_are_not_passed():
    """A factor of the first row becomes one of the last, which no wire between layers knows."""
    assert derived(Reversed(), (3, 1)).passes == 0


@dataclass(frozen=True)
class Squared(Layer):
    """X ↦ (W X)²: a factor of a row of the output is the square of one of W."""

    out: int
    type = "squared"

    def output_shape(self, shape):
        return self.out, shape[1]

    def shapes(self, shape):
        return {"W": (self.out, shape[0])}

    def evaluate(self, arithmetic, parameters, X):
        Y = arithmetic.matmul(parameters["W"], X)
        return arithmetic.times(Y, Y)


@dataclass(frozen=True)
class Twice(Squared):
    """X ↦ Wᵀ W X: a change of the output is taken up by no array in the way of a matrix."""

    type = "twice"

    def output_shape(self, shape):
        return shape

    def evaluate(self, arithmetic, parameters, X):
        W = parameters["W"]
        return arithmetic.matmul(W.swapaxes(-1, -2), arithmetic.matmul(W, X))


@pytest.mark.parametrize("layer", [Squared(2), Twice(2)], ids=["squared", "twice"])
def test_what_takes_up_a_change_in_another_way_is_left_out(layer):
    found = derived(layer, (3, 1))
    assert found.rows == {}
    model = ag.Network([Linear(3), layer, Linear(2)], dim=3)
    weights = draw_parameters(model, lambda shape: random_residues(np.random.default_rng(0), shape, P))
    X = random_residues(np.random.default_rng(1), (3, 3, 1), P)
    before = model.evaluate(ModularArithmetic(P), weights, X)
    for group in model.symmetries:
        if group.size == 1:
            moved = {name: np.array(array) for name, array in weights.items()}
            for one in group.on:
                part = moved[one.parameter][one.index]
                part[...] = part * pow(2, one.weight, P) % P
            assert (model.evaluate(ModularArithmetic(P), moved, X) == before).all()


def test_a_layer_that_does_what_has_no_rule_has_no_group_and_its_degrees():
    """An index that is a list has no rule."""
    found = derived(Neighbours(2), (2, 3))
    assert (found.symmetries, found.rows, found.columns) == ((), {}, {})
    assert found.degrees == Degrees(1, frozenset([1]))
    assert ag.Network([ag.Power(2), Neighbours(2)], dim=2, tokens=3).degree == 3


def test_very_many_degrees_are_a_range():
    """What is a range is not gone through: a block of a transformer, one after the other, has 3^l degrees."""
    block = [Attention(2, 2, skip=True), ag.Perceptron([3, 2], degree=3, skip=True)]
    model = ag.Network(block * 20, dim=2, tokens=2)
    assert model.input_degrees == range(1, 9**20 + 1)
    assert model.degree == 9**20 + derived_weights(20)


def derived_weights(blocks):
    """The degree in the weights: 3w + 3 after attention, and 3(w + 1) + 1 after a perceptron."""
    weights = 0
    for _ in range(blocks):
        weights = 3 * (3 * weights + 3 + 1) + 1
    return weights
