"""Formulas and bounds against values computed independently, and against each other."""

import itertools
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import DeepNetwork, SingleLayer
from agattn.algebra.residues import RowSpace, random_prime
from agattn.claims.network_dimension import COROLLARY_3_8, SECTION_3_3, equation_14
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.formulas import (
    _independent_coordinates,
    equivariant_maps,
    network_bound,
    network_dimension,
    reduced_widths,
    shared_forms_bounds,
    single_layer_bounds,
    symmetric_layers,
    symmetry_bound,
)

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


@pytest.mark.parametrize(
    ("d", "t", "degree"),
    [(2, 1, 9), (2, 2, 3), (2, 2, 9), (2, 3, 5), (3, 1, 5), (3, 2, 5), (3, 2, 7), (4, 2, 5), (4, 3, 5)],
)  # fmt: skip
def test_equivariant_maps_are_counted(d, t, degree):
    """Against the rank of the values of all X ↦ s(XXᵀ) x_b, s a monomial, at random X modulo a prime."""
    generator = np.random.default_rng(0)
    p = random_prime(generator)
    squares = list(itertools.combinations_with_replacement(range(d), 2))
    forms = list(itertools.combinations_with_replacement(range(len(squares)), (degree - 1) // 2))
    inputs = [generator.integers(0, p, (d, t)).astype(object) for _ in range(d * len(forms) // t + 5)]
    columns = []
    for X in inputs:
        S = [(X[i] * X[k]).sum() % p for i, k in squares]
        values = [prod(S[n] for n in form) % p for form in forms]
        columns.append(np.concatenate([value * X % p for value in values]))
    matrix = np.concatenate(columns, axis=1).astype(np.float64)
    assert RowSpace(matrix.shape[1], p).add(matrix) == equivariant_maps(d, t, degree)


def test_many_modules_and_large_degrees_are_bounded_or_left_out():
    assert equivariant_maps(8, 6, 81) >= equivariant_maps(8, 3, 81)
    assert equivariant_maps(8, 6, 81) == 8 * comb(36 + 39, 40)
    assert equivariant_maps(10**6, 10**6, 3**20) is None
    assert equivariant_maps(10**6, 1, 3) == comb(10**6 + 2, 3)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 3), st.integers(1, 2), st.integers(1, 3), st.integers(1, 4), st.integers(1, 3))
def test_no_network_has_more_dimensions_than_coefficients(d, d_out, a, heads, t):
    network = DeepNetwork((d, 2, d_out), (a, 2), t, heads=heads)
    found = dimension(network)
    assert found.lower_bound <= network_bound(network).value <= d_out * equivariant_maps(d, t, 9)


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


@pytest.mark.slow
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


def test_common_rows_of_keys_and_values_are_counted_where_there_are_some():
    """Two spaces of a and b of r dimensions meet where a + b > r."""
    for r, a, b, pairs, meet in ((4, 2, 2, 1, False), (4, 3, 2, 1, True), (4, 3, 2, 2, False)):
        reasons = [bound.reason for bound in shared_forms_bounds(r, r, 2, a, b, pairs=pairs, heads=5)]
        assert any("on the common rows of P and K" in reason for reason in reasons) is meet
