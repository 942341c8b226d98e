"""Formulas and bounds against values computed independently, and against each other."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import DeepNetwork, SingleLayer
from agattn.claims.network_dimension import COROLLARY_3_8, SECTION_3_3, equation_14
from agattn.geometry.dimension.formulas import (
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
