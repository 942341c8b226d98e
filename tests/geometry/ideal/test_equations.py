from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.architectures import SingleLayer
from agattn.geometry.ideal.equations import equations_of_weight
from agattn.geometry.ideal.torus_weights import generic_coordinates, monomials_of_weight, torus_weight
from agattn.geometry.strata.strata import Stratum
from agattn.geometry.strata.tangent import independent_gradients, representative_point
from agattn.geometry.variety.coordinates import coefficients, coordinates


@st.composite
def monomials(draw, degree, d=3, d_out=2):
    names = st.sampled_from(coordinates(SingleLayer(d, d_out)))
    return tuple(sorted(draw(st.lists(names, min_size=degree, max_size=degree))))


def brute_force(weight, d, d_out):
    names = coordinates(SingleLayer(d, d_out))
    return [m for m in combinations_with_replacement(names, sum(weight[0])) if torus_weight(m) == weight]


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_all_monomials_of_a_weight_are_found(data):
    weight = torus_weight(data.draw(monomials(data.draw(st.integers(1, 3)), d=2)))
    assert monomials_of_weight(weight) == sorted(brute_force(weight, 2, 2))


@settings(deadline=None)
@given(monomials(2), st.lists(st.integers(-5, 5), min_size=15, max_size=15))
def test_expansion_is_the_product(monomial, numbers):
    A, V = [numbers[:3], numbers[3:6], numbers[6:9]], [numbers[9:12], numbers[12:]]
    point = dict(zip(coordinates(SingleLayer(3, 2)), coefficients(SingleLayer(3, 2), A, V), strict=True))
    generic = generic_coordinates(SingleLayer(3, 2))
    product = generic[monomial[0]] * generic[monomial[1]]
    entries = {"A": A, "V": V}
    values = [entries[v.letter][v.indices[0] - 1][v.indices[1] - 1] for v in product.ring.variables]
    assert product(*values) == point[monomial[0]] * point[monomial[1]]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_equations_vanish_on_points_of_the_right_rank(data):
    rank = data.draw(st.integers(1, 3))
    monomial = data.draw(monomials(data.draw(st.integers(2, 3))))
    small = st.integers(-4, 4)
    K, Q = ([[data.draw(small) for _ in range(3)] for _ in range(rank)] for _ in range(2))
    V = [[data.draw(small) for _ in range(3)] for _ in range(2)]
    A = [[sum(K[n][i] * Q[n][j] for n in range(rank)) for j in range(3)] for i in range(3)]
    point = dict(zip(coordinates(SingleLayer(3, 2)), coefficients(SingleLayer(3, 2), A, V), strict=True))
    for equation in equations_of_weight(SingleLayer(3, 2, rank), torus_weight(monomial)):
        assert equation.torus_weight == torus_weight(monomial)
        assert equation.value(point) == 0
        # Euler: Σ y_j ∂_j f = n f, so the gradient is right up to what vanishes against y.
        assert sum(point[name] * slope for name, slope in equation.gradient(point).items()) == 0


def test_gradient_is_the_derivative():
    [equation, *_] = equations_of_weight(SingleLayer(2, 1, 1), ((2,), (1, 1), (2, 2)))
    names = sorted({name for monomial in equation.terms for name in monomial})
    point = {name: n * n + 1 for n, name in enumerate(names)}
    gradient = equation.gradient(point)
    for name in names:
        up, down = ({**point, name: point[name] + e} for e in (1, -1))
        assert Fraction(equation.value(up) - equation.value(down), 2) == gradient.get(
            name, 0
        )  # degree 2: exact


def hilbert(layer, degree):
    """The number of independent equations of a degree, weight by weight."""
    weights = Counter(torus_weight(m) for m in combinations_with_replacement(coordinates(layer), degree))
    return sum(len(equations_of_weight(layer, weight)) for weight in weights)


@pytest.mark.parametrize(
    ("shape", "degree", "number"),
    # Minimal generators in the lowest degree of each ideal, from elimination with a Gröbner basis.
    [
        ((2, 1, 2), 2, 0), ((2, 1, 2), 3, 0), ((2, 1, 2), 4, 1), ((2, 1, 1), 2, 3), ((2, 2, 1), 2, 15),
        ((2, 2, 2), 2, 5), ((2, 3, 1), 2, 36), ((2, 3, 2), 2, 15), ((3, 1, 1), 2, 45), ((3, 1, 3), 2, 0),
        ((3, 1, 3), 3, 20),
    ],
)  # fmt: skip
def test_number_of_equations(shape, degree, number):
    assert hilbert(SingleLayer(*shape), degree) == number


def test_the_resultant_of_two_binary_quadrics():
    [resultant] = equations_of_weight(SingleLayer(2, 1), ((4,), (2, 2), (4, 4)))
    a, b, c, p, q, r = 2, 3, 5, 7, 11, 13
    y = dict(zip(coordinates(SingleLayer(2, 1)), [a, b, c, p, q, r], strict=True))
    sylvester = (a * r - c * p) ** 2 - (a * q - b * p) * (b * r - c * q)
    assert abs(resultant.value(y)) == sylvester


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 2, 1), (2, 3, 2), (3, 1, 1)])
def test_equations_alone_prove_the_smooth_strata_smooth(shape):
    """A second way for the strata with one reduced preimage: codim M̄ independent gradients."""
    layer = SingleLayer(*shape)
    codimension = layer.ambient_dimension - layer.expected_dimension
    point = representative_point(layer, Stratum(1, 2, 2) if layer.alpha > 1 else Stratum(1, 1, 2))
    if layer.alpha == 1 and layer.d_out > 1:
        point = representative_point(layer, Stratum(2, 1, 2))
    assert len(independent_gradients(layer, point, codimension)) == codimension
