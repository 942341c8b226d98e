import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.echelon import rational_matrix
from agattn.algebra.polynomial import PolynomialRing, Variable
from agattn.architectures import SingleLayer
from agattn.evidence import Evidence
from agattn.geometry.ideal.equations import equations_of_weight
from agattn.geometry.strata.strata import (
    ZERO,
    Stratum,
    neuromanifold_dimension,
    representative,
    singular_by_ranks,
    strata,
)
from agattn.geometry.strata.tangent import (
    Arc,
    arcs_through_zero,
    first_order_arcs,
    representative_point,
    second_order_arcs,
    tangent_bounds,
)
from agattn.geometry.variety.coordinates import coordinates, differential

LAYERS = [SingleLayer(d, d_out, a) for d in range(1, 5) for d_out in range(1, 5) for a in range(1, d + 1)]


def expected_tangent_dimension(layer, stratum):
    """Closed formulas, for comparison only: nothing in the package uses them."""
    d, d_out, a = layer.d, layer.d_out, layer.alpha
    if d == 1:
        return d_out
    if stratum == ZERO:
        return layer.ambient_dimension
    if stratum == Stratum(1, 1, 2):
        return (d + d_out - 1) * (2 * d - 1) if a > 1 else d_out * (2 * d - 1) + d - 1
    if stratum == Stratum(1, 1, 1):
        return (d + d_out - 1) * d * (d + 1) // 2 if a > 1 else d_out * d * (d + 1) // 2 + d - 1
    if stratum.r_a < a < d:
        return d * d + d * d_out - 1
    return layer.expected_dimension


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_the_bounds_meet_at_every_stratum(layer):
    for stratum in strata(layer):
        bounds = tangent_bounds(layer, stratum)
        assert bounds.lower == bounds.upper == bounds.value == expected_tangent_dimension(layer, stratum)
        assert bounds.evidence is Evidence.PROVED
        assert bounds.dimension == layer.expected_dimension


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_singular_locus(layer):
    def singular(s):
        if layer.d == 1:
            return False
        if s == ZERO:
            return True
        if layer.a == layer.d_out == 1:
            return layer.d >= 3 and s == Stratum(1, 1, 1)
        return (s.r_a, s.r_v) == (1, 1) or s.r_a < layer.a < layer.d

    for stratum in strata(layer):
        found = tangent_bounds(layer, stratum).singular
        assert found == singular_by_ranks(layer, stratum) == singular(stratum)


@pytest.mark.parametrize(
    ("shape", "values"),
    [
        ((3, 2, 2), {(2, 1, 2): 14, (2, 1, 3): 14, (1, 2, 3): 13, (2, 2, 3): 13}),
        ((2, 2, 2), {(1, 1, 1): 9, (1, 1, 2): 9, (1, 2, 2): 7, (2, 1, 2): 7, (2, 2, 2): 7}),
        ((3, 1, 3), {(1, 1, 1): 18, (1, 1, 2): 15, (1, 2, 2): 11, (1, 2, 3): 11, (1, 3, 3): 11}),
        ((4, 1, 3), {(1, 2, 2): 19, (1, 2, 3): 19, (1, 3, 3): 18, (1, 3, 4): 18}),
    ],
)
def test_values_from_elimination(shape, values):
    layer = SingleLayer(*shape)
    for ranks, value in values.items():
        assert tangent_bounds(layer, Stratum(*ranks)).value == value


@pytest.mark.parametrize("layer", [s for s in LAYERS if s.d <= 3 and s.d_out <= 3], ids=str)
def test_arcs_and_equations_agree(layer):
    """The evidence itself: arcs run through p within rank ≤ a, and gradients kill all tangent vectors."""
    for stratum in strata(layer):
        bounds = tangent_bounds(layer, stratum)
        point = representative_point(layer, stratum)
        vectors = []
        for arc in bounds.arcs:
            assert all(row <= layer.alpha for row, *_ in (*arc.K, *arc.Q))
            terms = arc.coefficients()
            assert (terms[0] if terms else {}) == point
            vectors.extend(vector for _, vector in arc.tangent_terms())
        index = {name: n for n, name in enumerate(coordinates(layer))}
        rows = [[v.get(name, 0) for name in index] for v in vectors]
        assert rational_matrix(rows, len(index)).rank() == bounds.lower
        gradients = [equation.gradient(point) for equation in bounds.equations]
        assert all(sum(g.get(n, 0) * x for n, x in v.items()) == 0 for g in gradients for v in vectors)
        if gradients:
            normal = [[g.get(name, 0) for name in index] for g in gradients]
            assert rational_matrix(normal, len(index)).rank() == layer.ambient_dimension - bounds.upper


def test_the_leading_coefficient_alone_misses_the_pinch():
    layer = SingleLayer(2, 1)
    A, V = representative(layer, Stratum(1, 1, 1))
    names = coordinates(SingleLayer(2, 1))
    leading, all_of_them = [], []
    for arc in [*first_order_arcs(layer, A, V), *second_order_arcs(layer, A, V)]:
        vectors = [vector for _, vector in arc.tangent_terms()]
        leading.extend(vectors[:1])
        all_of_them.extend(vectors)

    def dimension(vectors):
        return rational_matrix([[v.get(name, 0) for name in names] for v in vectors], len(names)).rank()

    assert (dimension(leading), dimension(all_of_them)) == (5, 6)


@pytest.mark.parametrize("layer", [SingleLayer(3, 2, 1), SingleLayer(3, 2, 2), SingleLayer(3, 2, 3)], ids=str)
def test_first_order_arcs_span_the_image_of_the_tangent_space(layer):
    for stratum in strata(layer)[1:]:
        A, V = representative(layer, stratum)
        names = coordinates(layer)
        vectors = [v for arc in first_order_arcs(layer, A, V) for _, v in arc.tangent_terms()]
        rows = [[v.get(n, 0) for n in names] for v in vectors]
        span = rational_matrix(rows, len(names))
        image = differential(A, V)
        both = rational_matrix([*rows, *image.transpose().tolist()], len(names))
        assert both.rank() == image.rank()  # never more than the differential gives
        if stratum.r_a < layer.alpha or layer.alpha == layer.d:
            assert span.rank() == image.rank()


polynomials = st.lists(st.integers(-3, 3), min_size=1, max_size=3)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_every_arc_stays_in_the_variety(data):
    """y(ε) satisfies the resultant identically in ε, for random polynomial K, Q and V."""

    def entries(rows):
        places = itertools.product(range(1, rows + 1), (1, 2))
        drawn = [(*place, n, x) for place in places for n, x in enumerate(data.draw(polynomials))]
        return tuple(entry for entry in drawn if entry[-1])

    arc = Arc(entries(2), entries(2), entries(1))
    terms = arc.coefficients()
    ring = PolynomialRing([Variable("e")])
    y = {
        name: sum((term.get(name, 0) * ring.gens[0] ** n for n, term in enumerate(terms)), ring.zero())
        for name in coordinates(SingleLayer(2, 1))
    }
    [resultant] = equations_of_weight(SingleLayer(2, 1), ((4,), (2, 2), (4, 4)))
    value = ring.zero()
    for monomial, coefficient in resultant.terms.items():
        product = ring.one()
        for name in monomial:
            product = product * y[name]
        value = value + product * coefficient
    assert not value


def test_lines_through_zero_span_everything():
    layer = SingleLayer(3, 2, 1)
    assert len({tuple(v) for arc in arcs_through_zero(layer) for _, v in arc.tangent_terms()}) == 36


def test_a_limit_on_the_degree_gives_an_interval_never_a_wrong_value():
    bounds = tangent_bounds(SingleLayer(3, 1, 3), Stratum(1, 1, 2), max_degree=2)
    assert (bounds.lower, bounds.upper, bounds.value) == (15, 18, None)
    assert bounds.singular is True
    assert "[15, 18]" in str(bounds)
    flat = tangent_bounds(SingleLayer(3, 1, 1), Stratum(1, 1, 2), max_degree=2)
    assert (flat.lower, flat.upper, flat.singular) == (7, 8, None)


@pytest.mark.slow
def test_a_larger_layer_is_decided_everywhere():
    layer = SingleLayer(6, 6, 4)
    assert neuromanifold_dimension(layer) == layer.expected_dimension
    for stratum in strata(layer):
        assert tangent_bounds(layer, stratum).value == expected_tangent_dimension(layer, stratum)
