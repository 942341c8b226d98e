"""Charts of strata: ranks, dimensions, preimages, and derivatives against the loss itself."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.echelon import rational_matrix
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.critical_points.charts import chart_of, singular_strata
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.identifiability.fibers import preimages
from agattn.geometry.strata.strata import (
    Stratum,
    neuromanifold_dimension,
    open_stratum,
    singular_by_ranks,
    strata,
    stratum_of,
)

LAYERS = [(2, 1, 2), (2, 1, 1), (2, 2, 1), (2, 2, 2), (3, 1, 2), (3, 2, 2), (3, 1, 1), (1, 2, 1)]


def at(matrix, values):
    return [[f(*values) for f in row] for row in matrix.tolist()]


@pytest.mark.parametrize("sizes", LAYERS, ids=str)
@pytest.mark.parametrize("opposite", [False, True])
def test_a_general_point_of_a_chart_is_one_of_its_stratum(sizes, opposite):
    layer = SingleLayer(*sizes)
    for stratum in strata(layer)[1:]:
        chart = chart_of(layer, stratum, opposite)
        values = [int(x) for x in np.random.default_rng(1).integers(-50, 51, len(chart.ring))]
        assert stratum_of(at(chart.A, values), at(chart.V, values)) == stratum
        assert chart.avoided(*values) and chart.avoided_strictly(*values)
        # As many variables as the differential has rank: no gauge is left.
        gradients = [[f.derivative(x)(*values) for x in chart.ring.gens] for f in chart.y]
        assert rational_matrix(gradients, len(chart.ring)).rank() == len(chart.ring)
        assert preimages(layer, [f(*values) for f in chart.y]).number == chart.preimages


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(LAYERS[:6]), st.lists(st.integers(-3, 3), min_size=20, max_size=20))
def test_derivatives_are_those_of_the_loss(sizes, entries):
    layer = SingleLayer(*sizes)
    L, chart = loss(layer, "coefficients"), chart_of(layer)
    values = [Fraction(x) for x in entries[: len(chart.ring)]]
    y = [f(*values) for f in chart.y]
    for x, f in zip(chart.ring.gens, chart.equations(L), strict=True):
        velocity = [g.derivative(x)(*values) for g in chart.y]
        assert f(*values) == sum(a * b for a, b in zip(L.gradient(y), velocity, strict=True))


def test_what_is_avoided():
    """Where A = 0 or two preimages meet, and strictly also where the ranks are lower."""
    chart = chart_of(SingleLayer(2, 1), Stratum(1, 1, 2))
    for values in ([0, 1, 2, 2][::-1], [5, 5, 1, 2]):  # v or k first, then q
        point = dict(zip([v.name for v in chart.ring.variables], values, strict=True))
        A, V = at(chart.A, values), at(chart.V, values)
        assert chart.avoided(*values) == 0 or stratum_of(A, V) == Stratum(1, 1, 2), point
    assert chart.avoided(5, 5, 1, 2) == 0 == chart.avoided(1, 2, 0, 0)
    chart = chart_of(SingleLayer(2, 1))
    rank_one = {"v_1_2": 3, "q_1_1": 1, "q_1_2": 2, "q_2_1": 2, "q_2_2": 4}
    values = [rank_one[v.name] for v in chart.ring.variables]
    assert chart.avoided(*values) and not chart.avoided_strictly(*values)


@pytest.mark.parametrize("sizes", LAYERS, ids=str)
def test_the_open_stratum_and_the_singular_ones(sizes):
    layer = SingleLayer(*sizes)
    assert len(chart_of(layer).ring) == neuromanifold_dimension(layer) == layer.expected_dimension
    assert not singular_by_ranks(layer, open_stratum(layer))
    assert open_stratum(layer) not in singular_strata(layer)


def test_what_is_refused():
    with pytest.raises(InputError, match="t is 1"):
        chart_of(SingleLayer(2, 1, t=1))
    with pytest.raises(InputError, match="is not a stratum of"):
        chart_of(SingleLayer(2, 1), Stratum(2, 2, 2))
