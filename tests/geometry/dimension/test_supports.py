"""Dimensions by weights with disjoint supports: against exact ranks, at these weights and at random ones."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agattn import Attention, Convolution, DeepNetwork, Network, Perceptron
from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.residues import RowSpace, random_residues
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.dimension.theorems import Side, are_independent, by_supports, supports

P = 1_000_003
small, few = st.integers(2, 5), st.integers(1, 3)


@settings(max_examples=60, deadline=None)
@given(small, few, st.integers(1, 4), st.sampled_from([None, 1, 2]), few, st.booleans())
def test_layers_and_stacks_have_the_rank_that_is_claimed(d, a, d_out, value_rank, heads, stacked):
    dims, ranks = ((d, d, d), (a, 1)) if stacked else ((d, d_out), (a,))
    network = DeepNetwork(dims, ranks, 2, heads=heads, value_rank=value_rank, skip=stacked)
    theorem = by_supports(network)
    assume(theorem is not None)
    found = dimension(network, force=True)
    assert found.lower_bound_reason == "rank"
    assert found.lower_bound == theorem.value


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 4), few, st.integers(1, 5), st.integers(3, 5), st.sampled_from(["none", "causal"]))
def test_blocks_of_heads_and_neurons_have_the_rank_that_is_claimed(d, heads, neurons, degree, mask):
    attention = Attention(d, rank=1, heads=heads, value_rank=1, mask=mask, skip=True)
    block = Network([attention, Perceptron([neurons, d], degree=degree, skip=True)], dim=d, tokens=2)
    theorem = by_supports(block)
    assume(theorem is not None)
    assert dimension(block, force=True, points=1).lower_bound == theorem.value


def at_supports(network, sides):
    """K, Q, V with ones at the places of the sides, modulo P."""
    weights = {name: np.zeros(shape) for name, shape in network.shapes.items()}
    for head, places in enumerate(sides[0].places):
        for row, (column, variable) in enumerate(places):
            weights["K_1"][head, row, variable] = weights["Q_1"][head, row, column] = 1
    for head, places in enumerate(sides[1].places):
        for row, (output, variable) in enumerate(places):
            weights["O_1"][head, output, row] = weights["P_1"][head, row, variable] = 1
    return weights


@pytest.mark.parametrize(
    "d, d_out, a, b, heads", [(4, 4, 1, 1, 3), (6, 4, 2, 2, 2), (6, 6, 2, 2, 3), (7, 3, 3, 1, 3)]
)
def test_the_differential_has_that_rank_at_the_weights_that_were_found(d, d_out, a, b, heads):
    network = DeepNetwork((d, d_out), (a,), 2, heads=heads, value_rank=b)
    sides = supports(d, d_out, [a] * heads, [b] * heads)
    generator, expected = np.random.default_rng(0), by_supports(network).value
    X = random_residues(generator, (expected + 20, d, 2), P)
    cotangents = random_residues(generator, (expected + 20, 1, d_out, 2), P)
    rows = jacobian(network, at_supports(network, sides), X, ModularArithmetic(P), cotangents)
    assert RowSpace(network.parameters, P).add(rows.reshape(len(X), -1)) == expected


def test_each_condition_is_seen():
    A = Side(4, (((0, 0), (1, 1)), ((2, 0), (3, 2))), (True, True))
    V = Side(2, (((0, 3),), ((1, 3),)), (False, False))
    assert are_independent(A, V)
    assert not are_independent(A, replace(V, places=(((0, 2),), ((1, 3),))))  # a k that is a p
    assert not are_independent(A, replace(V, places=(((0, 3),), ((0, 3),))))  # (a): a place twice
    assert not are_independent(A, replace(V, places=(((0, 3),), ((0, 4),))))  # (b): p = 4 in all rows of V_1
    same = replace(A, places=(((0, 0), (1, 1)), ((2, 0), (3, 1))))
    assert not are_independent(same, V)  # (c): the columns of A_1 and A_2 span the same space
    assert not are_independent(replace(A, restricted=(False, True)), V)


def test_what_the_theorem_does_not_cover():
    def plain(**other):
        return DeepNetwork((4, 4), (1,), 2, **other)

    assert by_supports(plain()) is not None
    assert by_supports(plain(normalization="softmax")) is None
    assert by_supports(DeepNetwork((4, 4), (1,), 1)) is None
    assert by_supports(DeepNetwork((4, 4, 4), (1, 1), 2)) is None  # no skip connections
    assert by_supports(Network([Attention(4, rank=2, rotary=True)], dim=4, tokens=2)) is None
    assert by_supports(Network([Perceptron([2, 1], degree=2)], dim=4)) is None  # O(2) acts on the neurons
    assert by_supports(Network([Perceptron([5, 4], degree=2)], dim=4)) is None  # more neurons than variables
    assert by_supports(Network([Perceptron([2, 4], degree=3, bias=True)], dim=4)) is None
    assert by_supports(Network([Perceptron([7, 4], degree=3)], dim=4)) is None  # more neurons than pairs
    assert by_supports(Network([Perceptron([4, 3], degree=3)], dim=3)) is None


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 5), st.integers(2, 4), st.integers(1, 5), st.booleans())
def test_neurons_of_degree_2_have_the_rank_that_is_claimed(d, d_out, neurons, stacked):
    layers = [Perceptron([neurons, d if stacked else d_out], degree=2, skip=stacked)]
    if stacked:
        layers.append(Perceptron([2, d], degree=3, skip=True))
    network = Network(layers, dim=d)
    theorem = by_supports(network)
    assert (theorem is None) == (neurons > d or (stacked and d < 3))
    assume(theorem is not None)
    assert dimension(network, force=True, points=1).lower_bound == theorem.value


@pytest.mark.parametrize("d, degree", [(2, 3), (3, 3), (4, 5), (5, 3)])
def test_there_is_room_for_one_neuron_for_each_pair_of_variables(d, degree):
    network = Network([Perceptron([d * (d - 1) // 2, d], degree=degree, skip=True)], dim=d)
    assert by_supports(network).value == dimension(network, force=True, points=1).lower_bound


FIRST, LAST = ((1, 0, 0), (1, 1, 0), (0, 0, 1)), ((1, 0, 0), (0, 1, 1), (0, 0, 1))  # 1 sees 2; 3 sees 2


@pytest.mark.parametrize(
    "masks, known",
    [
        ([FIRST], True),
        ([((1, 0, 0), (0, 1, 0), (0, 0, 1))], False),  # every token sees itself alone
        ([LAST, "none"], True),
        ([LAST, "causal"], True),
        ([FIRST, "causal"], False),  # the causal layer does not see what the other one sees
        ([FIRST, LAST], False),
    ],
)
def test_masks_need_one_pair_of_tokens_that_all_layers_see(masks, known):
    layers = [Attention(3, rank=1, value_rank=1, mask=mask, skip=True) for mask in masks]
    network = Network(layers, dim=3, tokens=3)
    theorem = by_supports(network)
    assert (theorem is not None) == known
    if theorem is not None:
        assert dimension(network, force=True, points=1).lower_bound == theorem.value


def test_a_mask_may_be_for_fewer_tokens_than_the_input_has():
    layers = [Convolution(2, degree=1, channels=2), Attention(3, rank=1, mask=((1, 1), (1, 1)))]
    network = Network(layers, dim=3, tokens=3)
    assert by_supports(network) is None
    assert dimension(network).dimension == 22 - 1 - 1 - 4  # parameters less GL(1), a factor, and GL(2)


def test_a_transformer_of_full_size():
    attention = Attention(768, rank=64, heads=12, value_rank=64, mask="causal", skip=True)
    layers = [attention, Perceptron([3072, 768], degree=3, skip=True)] * 12
    found = dimension(Network(layers, dim=768, tokens=2))
    # 144 heads of 2·64·(2·768 − 64) − 1, and 36864 neurons of 2·768 − 1
    assert found.dimension == 144 * (2 * 64 * 1472 - 1) + 36864 * 1535 == 83718000
    assert (found.evidence, found.lower_bound_reason) == (Evidence.PROVED, "specialization")
    assert found.theorem == "agattn.disjoint-supports"
    assert found.as_json()["lower_bound_reason"] == "specialization"
