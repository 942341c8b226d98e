"""Formulas and bounds against values computed independently, and against each other."""

from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import DeepNetwork, SingleLayer
from agattn.claims.network_dimension import COROLLARY_3_8, SECTION_3_3, equation_14
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.formulas import (
    _independent_coordinates,
    network_bound,
    network_dimension,
    reduced_widths,
    single_layer_bounds,
    symmetric_layers,
)
from agattn.geometry.dimension.symmetries import symmetry_bound

sizes = st.integers(1, 9)


@settings(deadline=None)
@given(sizes, sizes, sizes, st.integers(1, 4))
def test_one_layer_is_corollary_3_3(d, d_out, a, t):
    network, layer = DeepNetwork((d, d_out), (a,), t), SingleLayer(d, d_out, a, t)
    assert network_dimension(network) == layer.expected_dimension
    if t >= 2:
        assert equation_14(network) == layer.expected_dimension
        assert COROLLARY_3_8.failing_hypotheses(network) == ([] if max(a, d_out) > 1 else ["a > 1 or d' > 1"])


@settings(deadline=None)
@given(st.integers(2, 6), sizes, sizes, st.lists(st.integers(2, 9), min_size=2, max_size=4), st.booleans())
def test_equation_14_and_16_under_their_hypotheses(delta, more, other, ranks, softmax):
    l = len(ranks)
    dims = (delta + more, *[delta] * (l - 1), delta + other)
    network = DeepNetwork(dims, ranks, 3, normalization="softmax" if softmax else "none")
    d0, dl = dims[0], dims[-1]
    expected = delta * (d0 + dl - delta) - (0 if softmax else l)
    for a, d in zip(ranks, dims, strict=False):
        alpha = min(a, d)
        expected += alpha * (2 * d - alpha)
    assert all(hypothesis.holds(network) for hypothesis in SECTION_3_3)
    assert equation_14(network) == network_dimension(network) == expected


@settings(max_examples=25, deadline=None)
@given(st.lists(sizes, min_size=2, max_size=5), st.lists(sizes, min_size=4, max_size=4), st.integers(1, 4))
def test_counting_is_at_least_as_good_as_the_symmetries(dims, ranks, t):
    network = DeepNetwork(dims, ranks[: len(dims) - 1], t)
    widths = reduced_widths(network)
    assert widths[0] == dims[0] and widths[-1] == dims[-1]
    assert all(e <= d for e, d in zip(widths, dims, strict=True))
    assert list(widths[:-1]) == sorted(widths[:-1], reverse=True)
    assert network_dimension(network) <= symmetry_bound(network).value


@pytest.mark.parametrize(
    ("arguments", "best"),
    [((3, 1, 2, 2), 17), ((3, 3, 2, 3), 45), ((3, 3, 3, 2), 32), ((3, 2, 1, 5, 1), 36), ((5, 1, 3, 2), 50)],
)
def test_several_heads(arguments, best):
    assert min(single_layer_bounds(*arguments)).value == best


def test_symmetric_layers():
    assert symmetric_layers(DeepNetwork((3, 3, 3), (1, 2))) == [False, True]
    assert symmetric_layers(DeepNetwork((3, 3, 3), (1, 2), heads=(2, 1))) == [False, False]
    assert symmetric_layers(DeepNetwork((3, 3, 3), (1, 2), skip=True)) == [False, False]
    assert symmetric_layers(DeepNetwork((3, 3, 3), (1, 2), normalization="softmax")) == [False, False]
    assert symmetric_layers(DeepNetwork((3, 3, 3), (2, 2), t=1)) == [True, True]


# Heads, ranks: after a head of rank one a layer sees one vector, and chooses from C(e + 2, 3) cubic forms.
AFTER_RANK_ONE = [
    DeepNetwork((2, 2, 6, 2, 2), (1, 1, 3, 2), 3, heads=(1, 3, 2, 3)),
    DeepNetwork((3, 2, 6, 3), (1, 2, 1), 3, heads=(1, 3, 2)),
    DeepNetwork((1, 1, 4, 2), (1, 1, 2), 2, heads=(2, 4, 1)),
]


@pytest.mark.parametrize("network", AFTER_RANK_ONE, ids=str)
def test_coordinates_are_counted_on_the_inputs_that_a_layer_gets(network):
    widths = reduced_widths(network)
    for i, symmetric in enumerate(symmetric_layers(network)[:-1], 1):
        forms = comb(widths[i - 1] + 2, 3)
        assert not symmetric or widths[i] <= forms
        # At the widths given, which the bound does not use, only so many coordinates are independent.
        independent = _independent_coordinates(network, network.dims)[i - 1]
        assert not symmetric or independent <= comb(network.dims[i - 1] + 2, 3)
    found = dimension(network)
    assert found.lower_bound <= network_bound(network).value


def test_the_bound_after_a_rank_one_head():
    network = AFTER_RANK_ONE[0]
    assert reduced_widths(network) == (2, 2, 4, 2, 2)
    assert symmetric_layers(network) == [False, True, True, True]
    assert _independent_coordinates(network, network.dims) == [2, 4, 2]
    assert network_bound(network).value == 38
