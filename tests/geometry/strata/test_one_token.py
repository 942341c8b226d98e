from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn.algebra.echelon import rational_matrix
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.strata.one_token import (
    OneTokenStratum,
    image_dimension,
    one_token_strata,
    orbit_of,
    orbits,
    preimage_count,
    representative,
)

LAYERS = [
    SingleLayer(d, d_out, a, t=1) for d in range(1, 5) for d_out in range(1, 4) for a in range(1, d + 1)
]


def multiply(left, right):
    return [[sum(x * y for x, y in zip(r, c, strict=True)) for c in zip(*right, strict=True)] for r in left]


def transpose(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


def flat(rows):
    return [x for row in rows for x in row]


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_representatives_and_dimensions(layer):
    d, d_out = layer.d, layer.d_out
    for orbit in orbits(layer):
        S, V = representative(layer, orbit)
        assert orbit_of(S, V) == orbit
        rows = []
        for i, j in product(range(d), repeat=2):
            E = [[int((p, q) == (i, j)) for q in range(d)] for p in range(d)]
            moved = [
                [x + y for x, y in zip(r, s, strict=True)]
                for r, s in zip(multiply(transpose(E), S), multiply(S, E), strict=True)
            ]
            rows.append(flat(moved) + flat(multiply(V, E)))
        for i, j in product(range(d_out), repeat=2):
            E = [[int((p, q) == (i, j)) for q in range(d_out)] for p in range(d_out)]
            rows.append([0] * (d * d) + flat(multiply(E, V)))
        assert rational_matrix(rows, d * d + d_out * d).rank() == image_dimension(layer, orbit) + 1


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_the_open_stratum_has_the_dimension_of_the_neuromanifold(layer):
    assert max(image_dimension(layer, s) for s in one_token_strata(layer)) == layer.expected_dimension


def test_the_two_orbits_over_one_stratum_have_one_dimension():
    layer = SingleLayer(3, 2, 1, t=1)
    assert image_dimension(layer, OneTokenStratum(1, 1, 0, 0)) == image_dimension(
        layer, OneTokenStratum(1, 2, 1, 0)
    )
    assert preimage_count(OneTokenStratum(1, 1, 0, 0)) == preimage_count(OneTokenStratum(1, 2, 1, 0)) == 2


@given(st.data())
def test_the_orbit_is_invariant(data):
    d, d_out = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    orbit = data.draw(st.sampled_from(orbits(SingleLayer(d, d_out, d, t=1))))
    S, V = representative(SingleLayer(d, d_out, d, t=1), orbit)
    small = st.integers(-3, 3)
    lower = [[1 if i == j else data.draw(small) if j < i else 0 for j in range(d)] for i in range(d)]
    upper = [[1 if i == j else data.draw(small) if j > i else 0 for j in range(d)] for i in range(d)]
    M = multiply(lower, upper)
    Z = [[1 if i == j else data.draw(small) if j < i else 0 for j in range(d_out)] for i in range(d_out)]
    assert orbit_of(multiply(multiply(transpose(M), S), M), multiply(multiply(Z, V), M)) == orbit


@pytest.mark.parametrize(
    ("factors", "count"),
    [
        ([(1, 0, 0), (0, 1, 0), (0, 0, 1)], 3),
        ([(1, 0, 0), (0, 1, 0), (1, 1, 0)], 3),
        ([(1, 0, 0), (1, 0, 0), (0, 1, 0)], 2),
        ([(1, 0, 0), (1, 0, 0), (1, 0, 0)], 1),
    ],
)
def test_every_factor_of_a_product_of_three_can_be_v(factors, count):
    found = set()
    for n, v in enumerate(factors):
        one, other = (f for m, f in enumerate(factors) if m != n)
        S = [[one[i] * other[k] + one[k] * other[i] for k in range(3)] for i in range(3)]
        assert preimage_count(orbit_of(S, [v])) == count
        found.add(v)
    assert len(found) == count


def test_more_tokens_are_refused():
    with pytest.raises(InputError, match="t is 2"):
        one_token_strata(SingleLayer(2, 1))
    with pytest.raises(InputError, match="not an orbit"):
        representative(SingleLayer(2, 1, 1, t=1), OneTokenStratum(1, 2, 0, 0))
