from fractions import Fraction
from math import comb

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from agattn.algebra.polynomial import Polynomial
from agattn.architectures import SingleLayer
from agattn.architectures.lightning import phi
from agattn.errors import InputError
from agattn.geometry.variety.coordinates import (
    coefficients,
    compact_coefficients,
    coordinate_ring,
    coordinates,
    evaluate,
    expansion,
    full_tensor,
    monomials,
    parametrization,
)

LAYERS = [SingleLayer(d, d_out, t=t) for d in (1, 2, 3) for d_out in (1, 2) for t in (1, 2, 3)]
SMALL = [layer for layer in LAYERS if layer.d < 3 or layer.t < 3]

layers = pytest.mark.parametrize("layer", SMALL, ids=lambda layer: f"{layer.d},{layer.d_out},t={layer.t}")
numbers = st.integers(-9, 9)


def matrices(rows, columns):
    entries = st.lists(numbers, min_size=rows * columns, max_size=rows * columns)
    return entries.map(lambda values: np.array(values, dtype=object).reshape(rows, columns))


def weights(layer):
    return st.tuples(matrices(layer.d, layer.d), matrices(layer.d_out, layer.d))


def test_coordinates_are_as_many_as_the_ambient_dimension():
    for layer in LAYERS:
        found = coordinates(layer)
        assert len(found) == len(set(found)) == layer.ambient_dimension
        assert list(found) == sorted(found)
        assert [v.indices for v in coordinate_ring(layer).variables] == list(found)


@pytest.mark.slow
@layers
@given(st.data())
def test_the_full_tensor_is_the_function(layer, data):
    A, V = data.draw(weights(layer))
    X = data.draw(matrices(layer.d, layer.t))
    tensor = full_tensor(layer, coefficients(layer, A, V))
    assert tensor.shape == (layer.d_out, layer.t, comb(layer.d * layer.t + 2, 3))
    assert (evaluate(layer, tensor, X) == phi(A, V, X)).all()


@layers
@given(st.data())
def test_compact_and_full_coefficients_determine_each_other(layer, data):
    # Of any vector, not only of one on the neuromanifold.
    n = layer.ambient_dimension
    y = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)), dtype=object)
    assert (compact_coefficients(layer, full_tensor(layer, y)) == y).all()


@pytest.mark.slow
@layers
@given(st.data())
def test_the_expansion_is_linear(layer, data):
    n = layer.ambient_dimension
    y, z = (np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)), dtype=object) for _ in "yz")
    assert (full_tensor(layer, 3 * y - z) == 3 * full_tensor(layer, y) - full_tensor(layer, z)).all()


@pytest.mark.slow
@layers
@given(st.data())
def test_bilinear(layer, data):
    (A, V), (B, W) = data.draw(weights(layer)), data.draw(weights(layer))
    s, t = data.draw(numbers), data.draw(numbers)
    y = coefficients
    assert (y(layer, s * A + t * B, V) == s * y(layer, A, V) + t * y(layer, B, V)).all()
    assert (y(layer, A, s * V + t * W) == s * y(layer, A, V) + t * y(layer, A, W)).all()


@given(matrices(2, 2), matrices(2, 2))
def test_more_tokens_repeat_the_same_coefficients(A, V):
    two = coefficients(SingleLayer(2, 2, t=2), A, V)
    assert all((coefficients(SingleLayer(2, 2, t=t), A, V) == two).all() for t in (3, 4, 50))


@given(matrices(3, 3), matrices(2, 3))
def test_one_token_sees_only_the_symmetric_part(A, V):
    layer = SingleLayer(3, 2, t=1)
    assert (coefficients(layer, A, V) == coefficients(layer, A.T, V)).all()
    assert not coefficients(layer, A - A.T, V).any()


@given(st.lists(numbers, min_size=12, max_size=12))
def test_the_two_preimages_of_a_point_of_rank_one(values):
    k, q, v, h = (np.array(values[3 * n : 3 * n + 3], dtype=object) for n in range(4))
    layer = SingleLayer(3, 3)
    one = coefficients(layer, np.outer(k, q), np.outer(h, v))
    other = coefficients(layer, np.outer(v, q), np.outer(h, k))
    assert (one == other).all()


def test_coefficients_are_those_sympy_finds():
    # Independently of all of the above: expand V X Xᵀ A X and read the coefficients off.
    d, d_out, t = 2, 1, 2
    A = sympy.Matrix(d, d, sympy.symbols("a:4"))
    V = sympy.Matrix(d_out, d, sympy.symbols("v:2"))
    X = sympy.Matrix(d, t, lambda i, j: sympy.Symbol(f"x{i + 1}{j + 1}"))
    output = sympy.Poly((V * X * X.T * A * X)[0, 0], *X)
    y = coefficients(SingleLayer(d, d_out), A, V)
    for (_, b, i, k), value in zip(coordinates(SingleLayer(d, d_out)), y, strict=True):
        monomial = X[i - 1, 1] * X[k - 1, 1] * X[b - 1, 0]
        assert sympy.expand(output.coeff_monomial(monomial) - value) == 0


def test_scalars_stay_what_they_are():
    layer = SingleLayer(2, 1)
    exact = coefficients(layer, [[Fraction(1, 3), 0], [1, 2]], [[1, Fraction(1, 7)]])
    assert exact[0] == Fraction(1, 3) and not any(isinstance(entry, float) for entry in exact)
    floats = coefficients(layer, np.ones((2, 2)), np.ones((1, 2)))
    assert floats.dtype == float and floats.tolist() == [1, 2, 1] * 2
    big = coefficients(layer, np.full((2, 2), 2**62), np.full((1, 2), 2**62))
    assert big[0] == 2**124


@pytest.mark.slow
@layers
@given(st.data())
def test_parametrization(layer, data):
    A, V = data.draw(weights(layer))
    images = parametrization(layer)
    assert all(isinstance(f, Polynomial) and {sum(e) for e in f.terms} == {2} for f in images)
    assert [f(*A.flat, *V.flat) for f in images] == list(coefficients(layer, A, V))
    assert [v.letter for v in images[0].ring.variables] == [*"a" * A.size, *"v" * V.size]


def test_parametrization_modulo_a_prime():
    images = parametrization(SingleLayer(2, 1), 101)
    assert images[0].ring.characteristic == 101 and images[0](99, 0, 0, 0, 5, 0) == 99 * 5 % 101


def test_every_monomial_of_the_expansion_is_one():
    for layer in SMALL:
        known = set(monomials(layer.d, layer.t))
        for (c, tau, monomial), combination in expansion(layer).items():
            assert monomial in known and 1 <= c <= layer.d_out and 1 <= tau <= layer.t
            assert combination and all(n > 0 for n in combination.values())


def test_wrong_shapes_are_refused():
    with pytest.raises(InputError, match="d × d and d' × d"):
        coefficients(SingleLayer(2, 1), [[1, 2, 3]] * 3, [[1, 2]])
    with pytest.raises(InputError):
        coefficients(SingleLayer(2, 2), [[1, 2]] * 2, [[1, 2]])
