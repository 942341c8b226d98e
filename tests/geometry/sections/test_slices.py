from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.identifiability.weights import preimages
from agattn.geometry.sections.real_points import outside, pieces_of_line
from agattn.geometry.sections.slices import (
    Slice,
    SurfaceSection,
    block_of,
    resultant_section,
    simplified,
    standard_slice,
    surface,
)
from agattn.geometry.variety.coordinates import coefficients, coordinates

LAYER = SingleLayer(2, 1)
FIGURE_1 = standard_slice(LAYER)
AXIS = ((0, 0, 0), (0, 0, 1))
small = st.integers(-4, 4)


def unit(n, size=6):
    return tuple(Fraction(k == n) for k in range(size))


@given(st.lists(small, min_size=3, max_size=3))
def test_the_resultant_vanishes_exactly_where_there_is_a_preimage(s):
    y = FIGURE_1.point(s)
    assert (resultant_section(LAYER, FIGURE_1).equation(*s) == 0) == (preimages(LAYER, y).number > 0)


@given(
    st.lists(st.lists(small, min_size=6, max_size=6), min_size=4, max_size=4),
    st.lists(small, min_size=3, max_size=3),
)
@pytest.mark.slow
def test_any_slice_of_the_quartic(vectors, s):
    origin, *directions = (tuple(map(Fraction, v)) for v in vectors)
    try:
        section = resultant_section(LAYER, Slice(origin, tuple(directions)))
    except InputError:
        return
    y = section.slice.point(s)
    if any(y):
        assert (section.equation(*s) == 0) == (preimages(LAYER, y).number > 0)
    gradient = [section.equation.derivative(x)(*s) for x in section.equation.ring.gens]
    singular = not any(gradient) and section.equation(*s) == 0
    assert all(f(*s) == 0 for f in section.singular) == singular


@pytest.mark.parametrize(
    "layer", [SingleLayer(2, 1), SingleLayer(2, 3), SingleLayer(3, 1, 2), SingleLayer(3, 2)]
)
@given(s=st.lists(small, min_size=3, max_size=3))
def test_the_standard_slice_is_the_umbrella_for_every_layer(layer, s):
    x, y, w = s
    point = standard_slice(layer).point(s)
    assert (preimages(layer, point).number > 0) == (y * y + w * x * x == 0)


@pytest.mark.slow
@given(
    c=st.integers(1, 2),
    columns=st.sampled_from([(1, 2), (1, 3), (2, 3)]),
    variables=st.sampled_from([(1, 2), (1, 3), (2, 3)]),
    vectors=st.lists(st.lists(small, min_size=6, max_size=6), min_size=4, max_size=4),
    s=st.lists(small, min_size=3, max_size=3),
    a=st.sampled_from([2, 3]),
)
def test_in_a_block_every_layer_is_the_smallest(c, columns, variables, vectors, s, a):
    """The lemma, against the preimages in the layer itself: over the complex and over the real numbers."""
    layer = SingleLayer(3, 2, a)
    inside = [(c, b, *pair) for b in columns for i, k in [variables] for pair in ((i, i), (i, k), (k, k))]

    def spread(vector):
        at = dict(zip(inside, vector, strict=True))
        return tuple(Fraction(at.get(name, 0)) for name in coordinates(layer))

    try:
        little = resultant_section(LAYER, Slice(*split([tuple(map(Fraction, v)) for v in vectors])))
    except InputError:
        return
    large = resultant_section(layer, Slice(*split([spread(v) for v in vectors])))
    assert (large.equation, large.singular) == (little.equation, little.singular)
    y, wide = little.slice.point(s), large.slice.point(s)
    if any(y):
        one, other = preimages(LAYER, y), preimages(layer, wide)
        assert (one.number, one.is_real) == (other.number, other.is_real)


def split(vectors):
    origin, *directions = vectors
    return origin, tuple(directions)


def test_blocks():
    layer = SingleLayer(3, 2, 2)
    assert block_of(layer, standard_slice(layer)) == coordinates(SingleLayer(2, 1))
    index = list(coordinates(layer))
    size = layer.ambient_dimension

    def spanned(*names):
        return Slice((Fraction(0),) * size, tuple(unit(index.index(name), size) for name in names))

    block = block_of(layer, spanned((2, 3, 1, 1), (2, 3, 1, 3), (2, 3, 3, 3)))
    assert block == ((2, 1, 1, 1), (2, 1, 1, 3), (2, 1, 3, 3), (2, 3, 1, 1), (2, 3, 1, 3), (2, 3, 3, 3))
    for names in [
        ((1, 1, 1, 1), (2, 1, 1, 1), (1, 1, 1, 2)),  # two rows
        ((1, 1, 1, 1), (1, 2, 1, 1), (1, 3, 1, 1)),  # three columns
        ((1, 1, 1, 1), (1, 1, 2, 2), (1, 1, 3, 3)),  # three variables
    ]:
        assert block_of(layer, spanned(*names)) is None
        with pytest.raises(InputError, match="one row, two columns and two variables"):
            resultant_section(layer, spanned(*names))
    assert block_of(SingleLayer(3, 2, 1), standard_slice(SingleLayer(3, 2, 1))) is None


def test_lines():
    x, y, w = FIGURE_1.ring().gens
    section = SurfaceSection(FIGURE_1, x, (x - 2 * w + 1, y + 3 * w))
    (point, direction) = section.line()
    for t in (Fraction(0), Fraction(5, 3)):
        at = [p + t * v for p, v in zip(point, direction, strict=True)]
        assert section.singular[0](*at) == 0 == section.singular[1](*at)
    assert any(direction)
    assert SurfaceSection(FIGURE_1, x, (x, y * w)).line() is None
    assert SurfaceSection(FIGURE_1, x, (x,)).line() is None
    assert SurfaceSection(FIGURE_1, x, (x, x + 1)).line() is None


def test_membership_changes_at_the_pinch_point_and_nowhere_else():
    pieces = pieces_of_line(LAYER, FIGURE_1, AXIS, 3)
    assert [(p.ends, p.in_m) for p in pieces] == [((-3.0, 0.0), True), ((0.0, 3.0), False)]
    with pytest.raises(InputError, match="not in the Zariski closure"):
        pieces_of_line(LAYER, FIGURE_1, ((1, 1, 0), (0, 0, 1)), 1)


@given(
    st.lists(small, min_size=2, max_size=2),
    st.lists(small, min_size=3, max_size=3),
    st.lists(small, min_size=8, max_size=8),
)
def test_the_floating_point_criterion_agrees_with_the_exact_one(q, form, weights):
    a, b, c = form
    tensor = [q[0] * a, q[0] * b, q[0] * c, q[1] * a, q[1] * b, q[1] * c]
    if any(tensor):
        definite = 4 * a * c > b * b
        assert outside(LAYER, np.array([tensor], dtype=float))[0] == definite
        assert preimages(LAYER, tensor).is_real != definite
    A, V = [weights[:2], weights[2:4]], [weights[4:6], weights[6:]]
    inside = np.array([list(map(float, coefficients(SingleLayer(2, 2), A, V)))])
    assert not outside(SingleLayer(2, 2), inside)[0]


def test_what_is_no_surface_is_refused():
    x, y, w = FIGURE_1.ring().gens
    with pytest.raises(InputError, match="no surface"):
        surface(FIGURE_1, x**0)
    with pytest.raises(InputError, match="whole slice"):
        surface(FIGURE_1, x - x)
    assert simplified([w * x, x**2, y]) == (x, y)
    with pytest.raises(InputError, match="linearly dependent"):
        Slice(unit(0), (unit(1), unit(2), unit(1)))
    with pytest.raises(InputError, match="three different small letters"):
        Slice(unit(0), (unit(1), unit(2), unit(3)), ("x", "y", "x"))
    with pytest.raises(InputError, match="for d, a ≥ 2"):
        resultant_section(SingleLayer(2, 1, 1), FIGURE_1)
    for layer in (SingleLayer(1, 1), SingleLayer(2, 1, t=1)):
        with pytest.raises(InputError, match="no standard slice"):
            standard_slice(layer)


@pytest.mark.parametrize("place", [Fraction(0), Fraction(1, 3), Fraction(-2, 7)])
def test_a_pinch_point_is_found_wherever_it_is_rational(place):
    layer = SingleLayer(2, 1)
    line = ((-place, Fraction(0), Fraction(0)), (Fraction(1), Fraction(0), Fraction(0)))
    ends = [piece.ends for piece in pieces_of_line(layer, standard_slice(layer), line, 1)]
    assert ends == [(-1.0, float(place)), (float(place), 1.0)]
