from fractions import Fraction

import flint
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.architectures import SingleLayer
from agattn.geometry.variety.coordinates import coefficients as coefficients_of
from agattn.geometry.variety.coordinates import coordinate_index, coordinates, differential


def coefficients(A, V):
    return list(coefficients_of(SingleLayer(len(A), len(V)), A, V))


numbers = st.fractions(min_value=-9, max_value=9, max_denominator=6)


@st.composite
def pairs(draw, max_d=3, max_d_out=3):
    d = draw(st.integers(1, max_d))
    d_out = draw(st.integers(1, max_d_out))
    row = st.lists(numbers, min_size=d, max_size=d)
    return (draw(st.lists(row, min_size=d, max_size=d)), draw(st.lists(row, min_size=d_out, max_size=d_out)))


@given(pairs(), st.lists(numbers, min_size=3, max_size=3))
def test_coordinates_are_the_coefficients_of_products_of_linear_forms(pair, u):
    A, V = pair
    d, d_out = len(A), len(V)
    y = coefficients(A, V)
    index = coordinate_index(SingleLayer(d, d_out))
    assert len(y) == len(coordinates(SingleLayer(d, d_out))) == SingleLayer(d, d_out).ambient_dimension
    for c in range(d_out):
        for b in range(d):
            form = sum(
                y[index[c + 1, b + 1, i + 1, k + 1]] * u[i] * u[k] for i in range(d) for k in range(i, d)
            )
            product = sum(V[c][i] * u[i] for i in range(d)) * sum(A[i][b] * u[i] for i in range(d))
            assert form == product


@settings(max_examples=50)
@given(pairs(), pairs())
def test_differential_is_the_linear_part(pair, other):
    A, V = pair
    d, d_out = len(A), len(V)
    dA = [[other[0][i % len(other[0])][j % len(other[0])] for j in range(d)] for i in range(d)]
    dV = [[other[1][i % len(other[1])][j % len(other[0])] for j in range(d)] for i in range(d_out)]
    plus = coefficients(
        [[x + z for x, z in zip(r, s, strict=True)] for r, s in zip(A, dA, strict=True)],
        [[x + z for x, z in zip(r, s, strict=True)] for r, s in zip(V, dV, strict=True)],
    )
    linear = [
        p - q - s for p, q, s in zip(plus, coefficients(A, V), coefficients(dA, dV), strict=True)
    ]  # φ is bilinear
    direction = [x for row in [*dA, *dV] for x in row]
    vector = flint.fmpq_mat(len(direction), 1, [flint.fmpq(x.numerator, x.denominator) for x in direction])
    image = differential(A, V) * vector
    assert [Fraction(int(x.p), int(x.q)) for x in image.entries()] == linear
