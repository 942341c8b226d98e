"""Charts of strata: ranks, dimensions, one weight up to symmetries for each point, and what is avoided."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.echelon import rational_matrix
from agattn.architectures import SingleLayer
from agattn.geometry.critical_points.charts import FIRST, GENERAL, chart_of, singular_strata
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.identifiability.weights import preimages
from agattn.geometry.strata.strata import (
    image_dimension,
    neuromanifold_dimension,
    open_stratum,
    singular_by_ranks,
    strata,
    stratum_fiber,
    stratum_of,
)
from agattn.systems.critical_tasks import Part

LAYERS = [(2, 1, 2), (2, 1, 1), (2, 2, 1), (2, 2, 2), (3, 1, 2), (3, 2, 2), (3, 1, 1), (1, 2, 1)]


LINEAR = [sizes for sizes in LAYERS if chart_of(SingleLayer(*sizes)).linear]


def at(matrix, values):
    return [[f(*values) for f in row] for row in matrix.tolist()]


@pytest.mark.parametrize("sizes", LAYERS, ids=str)
@pytest.mark.parametrize("seed", [FIRST, 0, GENERAL])
def test_a_general_point_of_a_chart_is_one_of_its_stratum(sizes, seed):
    layer = SingleLayer(*sizes)
    for stratum in (None, *strata(layer)[1:]):
        chart = chart_of(layer, stratum, seed)
        values = [int(x) for x in np.random.default_rng(1).integers(-50, 51, len(chart.ring))]
        if not chart.is_pair:
            V, K, Q = (chart.factors[name] for name in "VKQ")
            assert stratum_of(at(K.T @ Q, values), at(V, values)) == chart.stratum
        for strictly in (False, True):
            assert Part.of(chart, strictly).avoided(*values[::-1], 0)
        # As many variables as the stratum has dimensions and the differential has rank: no gauge is left.
        assert len(chart.ring) == image_dimension(layer, chart.stratum)
        gradients = [[f.derivative(x)(*values) for x in chart.ring.gens] for f in chart.y]
        assert rational_matrix(gradients, len(chart.ring)).rank() == len(chart.ring)
        y = [f(*values) for f in chart.y]
        assert preimages(layer, y).number == stratum_fiber(layer, chart.stratum).number


@pytest.mark.parametrize(("sizes", "seed"), [((2, 1, 2), FIRST), ((2, 2, 2), 0), ((3, 2, 2), GENERAL)])
def test_the_coordinates_of_a_point_are_read_from_its_values(sizes, seed):
    """One point of the chart alone has these values: a second solution of θ ↦ y would be another zero."""
    layer = SingleLayer(*sizes)
    chart = chart_of(layer, None, seed)
    values = np.random.default_rng(2).integers(1, 9, len(chart.ring)).tolist()
    V, K, Q = (np.array(at(chart.factors[name], values), dtype=float) for name in "VKQ")
    for scale in (1, -3):
        assert np.allclose(chart.near(K.T @ Q * scale, V / scale), values, rtol=1e-2)


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(LINEAR), st.lists(st.integers(-3, 3), min_size=20, max_size=20))
def test_derivatives_are_those_of_the_loss(sizes, entries):
    layer = SingleLayer(*sizes)
    L, chart = loss(layer, "coefficients"), chart_of(layer)
    values = [Fraction(x) for x in entries[: len(chart.ring)]]
    y = [f(*values) for f in chart.y]
    for x, f in zip(chart.ring.gens, chart.equations(L), strict=True):
        velocity = [g.derivative(x)(*values) for g in chart.y]
        assert 2 * f(*values) == sum(a * b for a, b in zip(L.gradient(y), velocity, strict=True))


def at_point(part, f, values):
    """The value of a polynomial of a part where some variables have these values, and all others 3."""
    return f(*(values.get(variable.name, 3) for variable in part.variables))


def test_what_is_avoided():
    """Where y = 0, or for d = 3 where A = k qᵀ, V = h kᵀ; strictly also where the ranks are lower."""
    chart = chart_of(SingleLayer(3, 1, 1), seed=FIRST)
    for part in (Part.of(chart, strictly) for strictly in (False, True)):
        assert part.lower == () and at_point(part, part.avoided, {})
        for values in ({"lambda": 0}, {"s_1": 2, "s_2": 4}):
            assert at_point(part, part.avoided, values) == 0
    part, strictly = (Part.of(chart_of(SingleLayer(2, 1), seed=FIRST), of) for of in (False, True))
    rank_one = {"q_1": 1, "q_2": 2, "q_3": 2, "q_4": 4}
    assert at_point(part, part.avoided, rank_one) and not at_point(strictly, strictly.avoided, rank_one)
    assert not any(at_point(part, f, rank_one) for f in part.lower[0])
    assert at_point(part, part.avoided, dict.fromkeys(rank_one, 0)) == 0


@pytest.mark.parametrize("sizes", LAYERS, ids=str)
def test_the_open_stratum_and_the_singular_ones(sizes):
    layer = SingleLayer(*sizes)
    assert len(chart_of(layer).ring) == neuromanifold_dimension(layer) == layer.expected_dimension
    assert not singular_by_ranks(layer, open_stratum(layer))
    assert open_stratum(layer) not in singular_strata(layer)
