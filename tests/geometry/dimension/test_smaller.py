"""Smaller models inside: of the sizes asked for, of the same kinds, and of no larger dimension."""

import pytest

from agattn import Attention, Convolution, DeepNetwork, Linear, Network, Perceptron, Power, Skip, Sum
from agattn.geometry.dimension.dimension import _layer, dimension, smaller

MODELS = [
    DeepNetwork((5, 4, 3), (3, 2), 4, heads=3),
    DeepNetwork((4, 4, 4), (3, 2), 2, heads=2, value_rank=3, skip=True),
    DeepNetwork((4, 3), (3,), 9, heads=2, normalization="softmax"),
    Network([Attention(4, rank=4, rotary=True, skip=True), Linear(3, bias=True)], dim=4, tokens=5),
    Network([Attention(3, rank=3, heads=2, mask=((1, 1, 0, 1),) * 4)], dim=4, tokens=4),
    Network([Perceptron([5, 4, 3], degree=2, bias=True), Sum(), Linear(2)], dim=4, tokens=2),
    Network([Convolution(2, degree=2, channels=4), Convolution(2, degree=2, channels=3)], dim=3, tokens=5),
    Network([Convolution(2, degree=2), Linear(3)], dim=6),
    Network([Convolution(1, degree=2, channels=4), Linear(6)], dim=12),  # x ↦ (Wx_j²) over the entries x_j
    Network([Skip([Linear(6), Power(2), Linear(4)]), Linear(3)], dim=4),
]


@pytest.mark.parametrize("architecture", MODELS, ids=str)
def test_what_is_inside_has_no_larger_dimension(architecture):
    inside = smaller(architecture, architecture.parameters // 2)
    assert type(inside) is type(architecture) and inside.parameters <= architecture.parameters // 2
    assert 0 < dimension(inside, points=1).lower_bound <= dimension(architecture, points=1).observed


def test_rows_that_become_tokens_stay():
    layers = [Linear(4), Convolution(3, degree=1, channels=3), Convolution(2, degree=1)]
    network = Network(layers, dim=2)  # of dimension 2, and 4 with Linear(3)
    assert smaller(network, network.parameters - 1) is None


LARGE = [
    DeepNetwork((768,) * 3, (64,) * 2, 1024, heads=12, normalization="softmax"),
    Network(
        [Attention(768, rank=64, heads=12, rotary=True), Perceptron([3072, 768], degree=2, bias=True)],
        768,
        64,
    ),
    pytest.param(
        Network([Convolution(5, degree=2, channels=64)] * 4, dim=3, tokens=100), marks=pytest.mark.slow
    ),
    Network([Linear(256), Power(2), Sum(), Linear(10)], dim=1000, tokens=10**6),
    DeepNetwork((768,) * 5, (64,) * 4, 1, heads=12),
]


@pytest.mark.parametrize("architecture", LARGE, ids=lambda one: str(one)[:40])
def test_every_large_network_has_proved_bounds(architecture):
    found = dimension(architecture)
    assert found.dimension is None and found.lower_bound_reason == "smaller"
    assert 20 < found.lower_bound < found.upper_bound < architecture.parameters
    assert f"{found.smaller} is inside" in found.lower.reason


def test_tokens_are_left_out_where_that_changes_nothing():
    assert smaller(MODELS[0], 50).t == 3
    assert smaller(MODELS[2], 20).t == 3  # a divisor of 9
    assert smaller(DeepNetwork((4, 3), (3,), 11, normalization="softmax"), 20).t == 1
    biased = smaller(MODELS[3], 40)
    assert biased.t == 3 and not biased.layers[1].bias
    assert smaller(MODELS[6], 20).t == 5


def test_heads_and_ranks_of_a_layer_inside():
    """Heads in whole groups, at least one in each; with rotary positions an even rank."""
    for layer, width, heads, expected in (
        (Attention(4, rank=5, heads=4), 3, 1, (1, None, 3)),
        (Attention(4, rank=5, heads=4), 3, 3, (3, None, 3)),
        (Attention(4, rank=5, heads=6, value_rank=1, kv_heads=3), 9, 2, (2, 2, 5)),
        (Attention(4, rank=5, heads=6, value_rank=1, kv_heads=2), 9, 4, (4, 2, 5)),
        (Attention(4, rank=4, rotary=True), 3, 1, (1, None, 2)),
        (Attention(4, rank=4, rotary=True), 1, 1, (1, None, 2)),
        (Attention(4, rank=4, rotary=True), 9, 1, (1, None, 4)),
        (Attention(4, rank=7, rotary=2), 9, 1, (1, None, 7)),
        (Attention(4, rank=7, rotary=2), 5, 1, (1, None, 5)),
        (Attention(4, rank=7, rotary=2), 3, 1, (1, None, 3)),
        (Attention(4, rank=7, rotary=2), 1, 1, (1, None, 2)),
    ):
        inside = _layer(layer, width, heads, 2, False)
        assert (inside.heads, inside.kv_heads, inside.rank) == expected
        assert inside.pairs == min(layer.pairs, inside.rank // 2)
