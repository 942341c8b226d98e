"""The dimension of orbits without numbers: against the rank of tangent vectors, and all linear symmetries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import Attention, Convolution, DeepNetwork, Linear, Network, Perceptron
from agattn.algebra.residues import RowSpace, random_residues
from agattn.architectures import Power, SingleLayer, Skip, Sum, draw_parameters
from agattn.architectures.contractions import gauge_groups
from agattn.architectures.protocol import symmetry_tangents
from agattn.architectures.symmetry import Acted, Symmetry
from agattn.geometry.dimension.formulas import bound_at_any_size, capacity_bound
from agattn.geometry.dimension.lie_algebra import linear_symmetries
from agattn.geometry.dimension.symmetries import orbit_dimension

P = 1_000_003
LAYERS = [
    SingleLayer(3, 2, 2),
    Network([Attention(2, rank=2)], dim=3, tokens=2),
    Network([Attention(2, rank=1, heads=2)], dim=3, tokens=2),
    Network([Attention(3, rank=1, value_rank=2)], dim=3, tokens=2),
    Network([Attention(2, rank=1, mask="causal"), Attention(2, rank=2)], dim=2, tokens=2),
    Network([Attention(3, rank=2, skip=True)], dim=3, tokens=2),
    DeepNetwork((3, 2, 2), (1, 1), 2, heads=2, value_rank=1),
    DeepNetwork((2, 2, 2), (2, 2), 3),
    Network([Linear(2), Linear(3)], dim=3),
    Network([Linear(2, bias=True), Linear(3)], dim=3),
    Network([Perceptron([3, 2], degree=3)], dim=3),
    Network([Perceptron([3, 2], degree=2, bias=True)], dim=3),
    Network([Perceptron([3, 3], degree=3, skip=True)], dim=3),
    Network([Perceptron([2, 3, 2], degree=2)], dim=2),
    Network([Convolution(2, degree=2), Convolution(2, degree=2)], dim=5),
    Network([Convolution(2, degree=2, channels=2), Convolution(2, degree=1, channels=2)], dim=2, tokens=4),
    Network([Linear(2), Power(3), Sum(), Linear(2)], dim=2, tokens=2),
    Network([Linear(3), Attention(3, rank=1, skip=True), Linear(2)], dim=3, tokens=2),
    Network([Linear(2), Skip([Linear(3), Power(2), Linear(2)]), Linear(2)], dim=2),
    Network([Attention(2, rank=2), Perceptron([3, 2], degree=3)], dim=2, tokens=2),
]


def by_numbers(architecture, groups):
    """The rank of the tangent vectors at random parameters modulo P."""
    generator = np.random.default_rng(0)
    weights = draw_parameters(architecture, lambda shape: random_residues(generator, shape, P))
    tangents = symmetry_tangents(architecture, weights, P, groups)
    return RowSpace(tangents.shape[1], P).add(tangents)


@pytest.mark.parametrize("architecture", LAYERS, ids=str)
def test_the_groups_of_the_contractions_are_all_linear_symmetries(architecture):
    groups = gauge_groups(architecture)
    dimension, left_out = orbit_dimension(groups, architecture.shapes)
    assert left_out == ()
    assert dimension == by_numbers(architecture, groups)
    searched = linear_symmetries(architecture)
    assert dimension == searched.orbit_dimension
    assert sum(group.size**2 for group in groups) == searched.dimension  # none of them is orthogonal


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 5), min_size=2, max_size=4),
    st.integers(1, 4), st.integers(1, 3), st.sampled_from([None, 1, 2]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_orbits_are_never_too_large(dims, a, heads, value_rank, skip, softmax):
    dims = [dims[0]] * len(dims) if skip else dims
    network = DeepNetwork(
        dims, [a] * (len(dims) - 1), 2, heads=heads, value_rank=value_rank, skip=skip,
        normalization="softmax" if softmax else "none",
    )  # fmt: skip
    for groups in (network.symmetries, gauge_groups(network)):
        found, numbers = orbit_dimension(groups, network.shapes), by_numbers(network, groups)
        assert found.dimension <= numbers
        if not found.left_out:
            assert found.dimension == numbers


def test_a_matrix_that_leaves_more_than_numbers_is_left_out():
    layer = SingleLayer(2, 3, 3)  # GL(3) moves only 8 dimensions of matrices K and Q of two columns
    dimension, left_out = orbit_dimension(gauge_groups(layer), layer.shapes)
    assert [str(group) for group in left_out] == ["GL(3) on K, Q"]
    assert dimension == 1 < by_numbers(layer, gauge_groups(layer)) == 9


def test_a_matrix_may_fix_a_group_after_those_behind_it():
    """The first has one column; so the last fixes a GL(2), and only then the second fixes the other."""
    network = Network([Linear(2), Linear(2), Linear(3)], dim=1)
    groups = gauge_groups(network)
    assert orbit_dimension(groups, network.shapes) == (8, ()) and by_numbers(network, groups) == 8


def test_orthogonal_groups_and_factors_that_do_not_act():
    O3 = Symmetry("O(3)", 3, (Acted("B", -2),), is_orthogonal=True)
    assert orbit_dimension([O3], {"B": (3, 3)}) == (3, ())
    assert orbit_dimension([O3], {"B": (3, 2)}) == (0, (O3,))
    twice = Symmetry("scaling", 1, (Acted("B"),)), Symmetry("scaling", 1, (Acted("B", weight=2),))
    assert orbit_dimension(twice, {"B": (3, 2)}) == (1, ())


@pytest.mark.parametrize(
    "network",
    [
        Network([Attention(2, rank=4, heads=2, rotary=True)], dim=4, tokens=2),
        Network([Attention(3, rank=2, rotary=True, skip=True)] * 2, dim=3, tokens=3),
        Network([Perceptron([3, 3], degree=2, bias=True)] * 2, dim=3),
        Network([Attention(3, rank=2, mask="causal"), Linear(3), Sum()], dim=4, tokens=2),
    ],
    ids=str,
)
def test_the_bound_at_any_size_is_that_with_numbers(network):
    assert bound_at_any_size(network).value == capacity_bound(network).value
