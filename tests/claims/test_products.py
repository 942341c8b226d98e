import pytest

from agattn.architectures import SingleLayer
from agattn.claims import products as identities
from agattn.claims.products import outputs_are_products
from agattn.geometry.variety.coordinates import coefficients


@pytest.mark.parametrize(
    "layer",
    [SingleLayer(1, 1), SingleLayer(2, 1), SingleLayer(2, 3, 1), SingleLayer(2, 1, t=1), SingleLayer(3, 2)],
    ids=repr,
)
def test_holds(layer):
    assert outputs_are_products(layer) is True


def wrong_sign(layer, A, V):
    y = coefficients(layer, A, V)
    y[1] = -y[1]
    return y


def transposed(layer, A, V):
    return coefficients(layer, A.T, V)


def one_forgotten(layer, A, V):
    y = coefficients(layer, A, V)
    y[-1] = y[-1] * 0
    return y


def doubled_diagonal(layer, A, V):
    y = coefficients(layer, A, V)
    y[0] = y[0] * 2
    return y


@pytest.mark.parametrize("wrong", [wrong_sign, transposed, one_forgotten, doubled_diagonal])
def test_a_wrong_formula_is_found_out(monkeypatch, wrong):
    monkeypatch.setattr(identities, "coefficients", wrong)
    assert outputs_are_products(SingleLayer(2, 1)) is False


def test_with_one_token_the_transpose_has_the_same_function(monkeypatch):
    monkeypatch.setattr(identities, "coefficients", transposed)
    assert outputs_are_products(SingleLayer(2, 1, t=1)) is True


def test_a_wrong_map_is_found_out(monkeypatch):
    monkeypatch.setattr(identities, "phi", lambda A, V, X: V @ X @ X.T @ A.T @ X)
    assert outputs_are_products(SingleLayer(2, 1)) is False
