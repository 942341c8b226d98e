import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn.algebra.echelon import rational_matrix
from agattn.architectures import SingleLayer
from agattn.geometry.strata.strata import (
    ZERO,
    Stratum,
    closure_order,
    image_dimension,
    irreducible_components,
    representative,
    strata,
    stratum_of,
    stratum_outside,
)
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.geometry.variety.coordinates import coefficients, differential
from agattn.verification.strata_table import strata_table

LAYERS = [SingleLayer(d, d_out, a) for d in range(1, 5) for d_out in range(1, 5) for a in range(1, d + 2)]
small = st.integers(-2, 2)


def square(draw, rows, columns):
    return draw(st.lists(st.lists(small, min_size=columns, max_size=columns), min_size=rows, max_size=rows))


@st.composite
def pairs(draw, d, d_out):
    return square(draw, d, d), square(draw, d_out, d)


def multiply(left, right):
    return (np.array(left, dtype=object) @ np.array(right, dtype=object)).tolist()


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_representatives(layer):
    for stratum in strata(layer):
        A, V = representative(layer, stratum)
        assert stratum_of(A, V) == stratum
        assert sorted(y for y in coefficients(layer, A, V) if y) == [1] * (stratum.r_v * stratum.r_a)


def units(n):
    return np.eye(n * n, dtype=int).reshape(-1, n, n)


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_orbit_dimension_is_the_rank_of_the_infinitesimal_action(layer):
    # The group acts by V ↦ V M, A ↦ MᵀA on the shared index, by A ↦ A Y, and by V ↦ Z V.
    d, d_out = layer.d, layer.d_out
    for stratum in strata(layer)[1:]:
        A, V = map(np.array, representative(layer, stratum))
        moved = [pair for E in units(d) for pair in ((A @ E, 0 * V), (E.T @ A, V @ E))]
        moved += [(0 * A, E @ V) for E in units(d_out)]
        rows = [[*dA.ravel().tolist(), *dV.ravel().tolist()] for dA, dV in moved]
        tangent = rational_matrix(rows, d * d + d_out * d)
        assert tangent.rank() == image_dimension(layer, stratum) + 1
        assert (tangent * differential(A.tolist(), V.tolist()).transpose()).rank() == image_dimension(
            layer, stratum
        )


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_the_open_stratum_has_the_dimension_of_the_neuromanifold(layer):
    assert max(image_dimension(layer, s) for s in strata(layer)) == layer.expected_dimension


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_closure_order(layer):
    order = networkx.DiGraph(closure_order(layer))
    assert networkx.is_directed_acyclic_graph(order)
    assert [s for s in order if not order.out_degree(s)] == [ZERO]
    # M is irreducible: one stratum is open.
    assert len([s for s in order if not order.in_degree(s)]) == 1
    assert set(networkx.transitive_reduction(order).edges) == set(order.edges)
    for upper, lower in order.edges:
        assert image_dimension(layer, upper) > image_dimension(layer, lower)
    for upper in order:
        assert networkx.descendants(order, upper) == {
            s for s in order if s != upper and upper.closure_contains(s)
        }


@given(st.data())
def test_every_pair_lies_in_a_stratum_that_the_group_preserves(data):
    d, d_out = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    A, V = data.draw(pairs(d, d_out))
    stratum = stratum_of(A, V)
    assert stratum in strata(SingleLayer(d, d_out))
    shear = [[int(i == j) + 2 * int(i == 0 and j == d - 1 > 0) for j in range(d)] for i in range(d)]
    transposed = [list(col) for col in zip(*shear, strict=True)]
    assert stratum_of(multiply(multiply(transposed, A), shear), multiply(V, shear)) == stratum


def test_the_stratum_outside():
    assert stratum_outside(SingleLayer(1, 3)) is None
    layer = SingleLayer(3, 2, 2)
    assert image_dimension(layer, stratum_outside(layer)) == 8


@pytest.mark.parametrize(
    ("layer", "components"),
    [
        (SingleLayer(1, 2), {}),
        (SingleLayer(2, 1), {Stratum(1, 1, 2): 4}),
        (SingleLayer(3, 1, 1), {Stratum(1, 1, 1): 5}),
        (SingleLayer(3, 2, 2), {Stratum(2, 1, 3): 10}),
        (SingleLayer(3, 1, 2), {Stratum(1, 1, 2): 7}),
        (SingleLayer(4, 2, 3), {Stratum(2, 2, 4): 19}),
    ],
    ids=str,
)
def test_components_of_the_singular_locus(layer, components):
    singular = [s for s in strata(layer) if tangent_bounds(layer, s).singular]
    assert irreducible_components(layer, singular) == components


def test_rows_of_a_table_have_the_ranks_of_their_strata():
    layer = SingleLayer(3, 2, 2)
    ranks = [(row.r_v, row.r_a, row.r) for row in strata_table(layer).rows]
    assert ranks == [(s.r_v, s.r_a, s.r) for s in strata(layer)]
