"""The claims about the coefficients of φ and the equations between them."""

import pytest

from agattn.architectures import SingleLayer
from agattn.claims import equations
from agattn.claims.equations import outputs_are_products
from agattn.evidence import Evidence, Status
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.variety.coordinates import coefficients
from agattn.verification.verify import Settings, verify


def hilbert_function(layer):
    return verify(layer, ["agattn.hilbert-function"], Settings("native", force=True)).verdicts[0]


@pytest.mark.parametrize("layer", [SingleLayer(2, 1), SingleLayer(2, 8, 1)], ids=str)
def test_confirmed_for_two_dimensional_tokens(layer):
    verdict = hilbert_function(layer)
    assert (verdict.status, verdict.evidence) == (Status.CONFIRMED, Evidence.PROVED)
    assert verdict.computed[4] == compute_ideal(layer, 4).hilbert_function(4)


def test_a_smaller_space_refutes_it_modularly(monkeypatch):
    monkeypatch.setattr(equations, "double_locus_bound_is_sharp", lambda a, degree: False)
    verdict = hilbert_function(SingleLayer(2, 1))
    assert (verdict.status, verdict.evidence) == (Status.REFUTED, Evidence.MODULAR)


@pytest.mark.parametrize(
    ("layer", "evidence"), [(SingleLayer(3, 1), Evidence.PROVED), (SingleLayer(2, 1, 1, 1), Evidence.PROVED)]
)
def test_inapplicable_elsewhere_with_the_values_shown(layer, evidence):
    verdict = hilbert_function(layer)
    assert (verdict.status, verdict.evidence) == (Status.INAPPLICABLE, evidence)
    assert verdict.computed[1] == layer.ambient_dimension


def test_inapplicable_where_even_the_values_are_too_large():
    verdict = hilbert_function(SingleLayer(9, 9, t=1))
    assert (verdict.status, verdict.computed) == (Status.INAPPLICABLE, None)


@pytest.mark.parametrize(
    "layer",
    [SingleLayer(1, 1), SingleLayer(2, 1), SingleLayer(2, 3, 1), SingleLayer(2, 1, t=1), SingleLayer(3, 2)],
    ids=repr,
)
def test_outputs_are_products(layer):
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
    monkeypatch.setattr(equations, "coefficients", wrong)
    assert outputs_are_products(SingleLayer(2, 1)) is False


def test_with_one_token_the_transpose_has_the_same_function(monkeypatch):
    monkeypatch.setattr(equations, "coefficients", transposed)
    assert outputs_are_products(SingleLayer(2, 1, t=1)) is True


def test_a_wrong_map_is_found_out(monkeypatch):
    monkeypatch.setattr(equations, "phi", lambda A, V, X: V @ X @ X.T @ A.T @ X)
    assert outputs_are_products(SingleLayer(2, 1)) is False
