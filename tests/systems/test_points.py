import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agattn.algebra.echelon import rational_matrix
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.identifiability.weights import rank_one
from agattn.geometry.strata.strata import Stratum, strata, stratum_of
from agattn.geometry.variety.coordinates import coefficients
from agattn.systems.points import (
    critical_factors,
    known_preimages,
    point_of,
    strata_points,
    target_of,
    zero_points,
)
from agattn.systems.problem import matrix

LAYERS = [SingleLayer(d, d_out, a) for d in (1, 2, 3) for d_out in (1, 2, 3) for a in range(1, d + 1)]
vectors = st.lists(st.fractions(min_value=-5, max_value=5, max_denominator=5), min_size=3, max_size=3)


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_one_point_for_each_stratum(layer):
    points = strata_points(layer)
    assert [p.ranks for p in points] == list(strata(layer))
    for point in points:
        assert stratum_of(point.A, point.V) == point.ranks
        assert (point.A, point.V) in point.preimages
        y = coefficients(layer, point.A, point.V)
        assert all((coefficients(layer, A, V) == y).all() for A, V in point.preimages)
        assert len(point.preimages) == (2 if point.label == "1,1,2" else 1)
    assert [p.label for p in strata_points(layer, zero=False)] == [p.label for p in points[1:]]


def outer(x, y):
    return tuple(tuple(a * b for b in y) for a in x)


@given(vectors, vectors)
def test_rank_one_factors(x, y):
    assume(any(x) and any(y))
    product = outer(tuple(x), tuple(y))
    assert outer(*rank_one(np.array(product))) == product


@given(vectors, vectors, vectors, vectors)
def test_both_preimages_have_the_same_function(k, q, v, h):
    assume(all(map(any, (k, q, v, h))) and outer(k, v) != outer(v, k))
    pairs = known_preimages(outer(k, q), outer(h, v))
    assert len(set(pairs)) == 2
    one, other = (coefficients(SingleLayer(3, 3), A, V) for A, V in pairs)
    assert (one == other).all()


@pytest.mark.parametrize("layer", [layer for layer in LAYERS if layer.d > 1], ids=str)
def test_critical_factors(layer):
    points = strata_points(layer)
    k, q, h = (tuple(x for (x,) in factor) for factor in critical_factors(points))
    critical = next(p for p in points if p.label == "1,1,1")
    assert (outer(k, q), outer(h, k)) == (critical.A, critical.V)


@pytest.mark.parametrize(
    "layer", [SingleLayer(1, 1), SingleLayer(2, 1), SingleLayer(3, 2, 1), SingleLayer(2, 3, 5)], ids=str
)
def test_the_pairs_over_zero(layer):
    points = zero_points(layer)
    ranks = [(r_v, 0) for r_v in range(min(layer.d, layer.d_out) + 1)]
    ranks += [(0, r_a) for r_a in range(1, layer.alpha + 1)]
    assert [p.ranks for p in points] == [Stratum(r_v, r_a, r_v + r_a) for r_v, r_a in ranks]
    for point, (r_v, r_a) in zip(points, ranks, strict=True):
        assert rational_matrix(point.V, layer.d).rank() == r_v
        assert rational_matrix(point.A, layer.d).rank() == r_a
        assert not any(coefficients(layer, point.A, point.V))


# Files ------------------------------------------------------------------------------------------------------

LAYER = SingleLayer(2, 1, 1)


def write(path, data):
    file = path / "point.json"
    file.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return file


def test_reads_integers_and_rationals(tmp_path):
    point = point_of(write(tmp_path, {"A": [[1, "2/3"], ["3", 2]], "V": [["-1/7", 0]]}), LAYER)
    assert point.label == "point"
    assert matrix([[1, Fraction(2, 3)], [3, 2]]) == point.A and matrix([[Fraction(-1, 7), 0]]) == point.V


def test_reads_a_file_without_an_ending(tmp_path):
    file = write(tmp_path, {"A": [[1, 0], [0, 0]], "V": [["1/2", 0]]})
    assert point_of(file, LAYER) == point_of(file.rename(tmp_path / "point"), LAYER)
    (tmp_path / "point").write_text("[1, 0, 2, 3, 4, 5]")
    assert target_of(tmp_path / "point", SingleLayer(2, 1)) == (1, 0, 2, 3, 4, 5)


def test_reads_queries_and_keys(tmp_path):
    data = {"K": [[1, 2]], "Q": [["1/2", 3]], "V": [[0, 1]]}
    point = point_of(write(tmp_path, data), LAYER)
    assert matrix([[Fraction(1, 2), 3], [1, 6]]) == point.A
    assert len(point.preimages) == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"A": [[1, 0], [0, "-1/-2"]], "V": [[1, 0]]}, "'-1/-2' is not a number: write 3, 22/7"),
        ({"A": [[1, 0], [0, 0]]}, "V together with A, or with K and Q; there are A"),
        ({"V": [[1, 0]]}, "V together with A, or with K and Q; there are V"),
        ({"A": [[1, 0], [0, 0]], "V": [[1.0, 0]]}, "in floating point; an engine needs exact ones"),
        ({"A": [[1, 0], [0]], "V": [[1, 0]]}, "is damaged or not a .json file of numbers"),
        ({"A": [[1, 0], [0, 0]], "V": [[1], [0]]}, "V is 2 × 1; with d = 2 it must be d' × 2"),
        ({"K": [[1, 0], [0, 1]], "Q": [[1, 0], [0, 1]], "V": [[1, 0]]}, "K and Q have 2 rows, and a is 1"),
        ({"A": ["10", "00"], "V": [[1, 0]]}, "must be a matrix with rows and columns"),
        ({"A": [["1e5000", 0], [0, 0]], "V": [[1, 0]]}, "an entry of more than 4000 digits"),
    ],
)  # fmt: skip
def test_what_is_no_point_is_refused_in_one_line(tmp_path, data, message):
    with pytest.raises(InputError, match=message) as raised:
        point_of(write(tmp_path, data), LAYER)
    assert "\n" not in str(raised.value)
    assert "point.json" in str(raised.value)


def test_reads_targets(tmp_path):
    layer = SingleLayer(2, 1)
    y = target_of(write(tmp_path, {"y": [1, 0, "-2/3", "4", 0, 7]}), layer)
    assert y == (1, 0, Fraction(-2, 3), 4, 0, 7) and all(isinstance(value, Fraction) for value in y)
    weights = {"A": [[1, "1/2"], [3, -4]], "V": [[5, 6]]}
    point = point_of(write(tmp_path, weights), layer)
    assert target_of(write(tmp_path, weights), layer) == tuple(coefficients(layer, point.A, point.V))
