"""The coefficients of any polynomial architecture: against values and the layer's own."""

import math

import numpy as np
import pytest

import agattn as ag
from agattn.algebra.arithmetic import RingArithmetic
from agattn.algebra.echelon import rational, rational_matrix
from agattn.algebra.rank import proved_rank
from agattn.architectures.protocol import draw_parameters
from agattn.errors import TooLargeError
from agattn.geometry.variety.coefficient_map import coefficient_map, number_of_terms
from agattn.geometry.variety.coordinates import coefficients, coordinates

MODELS = [
    ag.Network([ag.Attention(1, 1, heads=2)], dim=2, tokens=2),
    ag.Network([ag.Attention(2, 2, mask="causal", skip=True)], dim=2, tokens=2),
    ag.Network([ag.Attention(1, 2, rotary=True)], dim=2, tokens=2),
    ag.Network([ag.Perceptron([2, 2], degree=3, bias=True)], dim=2),
    ag.Network([ag.Convolution(2, 2), ag.Convolution(2, 1)], dim=1, tokens=4),
    ag.PolynomialMap(lambda A, X: A @ X + X * X, {"A": (2, 2)}, inputs=2),
]


def _random(architecture, generator, shape):
    return draw_parameters(architecture, lambda shape: generator.integers(-9, 10, shape).astype(object))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_coordinates_span_the_functions(model):
    """Differences φ_θ − φ_0 span a space of the number of coordinates, and the coordinates do it as well."""
    f = coefficient_map(model)
    n, generator = len(f.polynomials), np.random.default_rng(1)
    X = generator.integers(-9, 10, (n + 3, *model.input_shape)).astype(object)
    zero = draw_parameters(model, lambda shape: np.full(shape, 0, dtype=object))
    origin = model.evaluate(RingArithmetic(), zero, X)
    weights = [_random(model, generator, n) for _ in range(n + 3)]
    values = [(model.evaluate(RingArithmetic(), theta, X) - origin).ravel().tolist() for theta in weights]
    points = [f.values(theta) for theta in weights]

    def rank(rows):
        return proved_rank(rational_matrix([[rational(x) for x in row] for row in rows], len(rows[0])))

    assert rank(values) == rank(points) == n
    assert rank([[*a, *b] for a, b in zip(values, points, strict=True)]) == n  # one determines the other


@pytest.mark.parametrize(
    ("layer", "dependent"), [(ag.SingleLayer(2, 2, a=1), 28), (ag.SingleLayer(3, 1, t=1), 0)]
)
def test_coordinates_of_a_layer_are_its_own(layer, dependent):
    """They are the compact coefficients, each of them once and up to no scalar."""
    f = coefficient_map(layer)
    theta = _random(layer, np.random.default_rng(2), None)
    own = coefficients(layer, theta["K"].T @ theta["Q"], theta["V"])
    assert len(f.coordinates) == len(coordinates(layer))
    assert sorted(f.values(theta)) == sorted(own.tolist())
    assert f.dependent == dependent


def test_maps_without_inputs_keep_all_outputs():
    """Also zeros, constants and repetitions, as they are."""
    f = coefficient_map(ag.PolynomialMap(lambda s: [s[0] * s[1], 3, 0, s[0] * s[1]], {"s": 2}))
    assert [str(p) for p in f.polynomials] == ["s_1*s_2", "3", "0", "s_1*s_2"]
    assert [str(c) for c in f.coordinates] == ["output 1", "output 2", "output 3", "output 4"]


def test_names_that_would_meet_are_changed():
    """W_1 with a matrix and W with a tensor would both be w_(1,i,j)."""
    f = coefficient_map(ag.PolynomialMap(lambda W, W_1: W[0] * W_1, {"W": (1, 2, 2), "W_1": (2, 2)}))
    assert [v.letter for v in f.ring.variables] == ["a"] * 4 + ["b"] * 4


def test_more_arrays_than_letters_are_numbered():
    """Numbers by the name of each array, of 40 scalars and two vectors."""
    names = [f"w{k}" for k in range(40)]

    def many(alpha, beta, X, **w):
        return [sum(w[name] for name in names[::2]) * X[0] + alpha @ beta * X[1], w["w1"] * X[0]]

    shapes = dict.fromkeys(names[::2], ()) | {"w1": (), "alpha": 2, "beta": 2}
    f = coefficient_map(ag.PolynomialMap(many, shapes, 2))
    assert [v.name for v in f.ring.variables] == [f"a_{k}" for k in range(1, 22)] + [
        "b_1_1", "b_1_2", "b_2_1", "b_2_2"
    ]  # fmt: skip
    assert str(f.polynomials[1]) == "b_(1,1)*b_(2,1) + b_(1,2)*b_(2,2)"
    assert "w1, 1: a_21" in ag.script(f.architecture, "implicit-ideal")


@pytest.mark.slow
def test_terms_are_counted_without_writing_them():
    """Of a million heads as of one, times a million; differences, constants and quotients count as sums."""
    one, many = (ag.Network([ag.Attention(2, 2, heads=h)], dim=2, tokens=2) for h in (1, 1_000_000))
    assert number_of_terms(many) == 1_000_000 * number_of_terms(one) == 128_000_000
    with pytest.raises(TooLargeError, match="12000000 parameters; the limit is 3000"):
        coefficient_map(many)

    def f(A, X):
        return -(A @ X) - 3 * X[:1] * A[0, 0] ** 2 / 7 + np.array([1, 0])

    assert number_of_terms(ag.PolynomialMap(f, {"A": (2, 2)}, 2)) == (2 + 1 + 1) + (2 + 1)
    assert number_of_terms(ag.Network([ag.Perceptron([9] * 9, degree=99)], dim=9)) == math.inf
    masked = ag.Network([ag.Attention(2, rank=1, mask="causal")] * 12, dim=2, tokens=3)  # inf times 0
    assert number_of_terms(masked) == math.inf
