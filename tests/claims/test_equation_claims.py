"""The claims about the coefficients of φ and the equations between them."""

import pytest

from agattn.architectures import SingleLayer
from agattn.claims import ideal as equations
from agattn.claims.ideal import outputs_are_products, points_outside
from agattn.evidence import Evidence, Status
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.variety.coordinates import coefficients, coordinate_ring
from agattn.verification.verify import verify


def hilbert_function(layer):
    return verify(layer, ["agattn.hilbert-function"], "native", force=True).verdicts[0]


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


def degrees_of_equations(layer):
    return verify(layer, ["agattn.equations"], "native").verdicts[0]


@pytest.mark.parametrize(
    ("layer", "predicted", "generators", "ideal"),
    [
        (SingleLayer(2, 1), {"as a set": 4, "ideal": 4}, {4: 1}, "≤ 4"),
        (SingleLayer(2, 3, 1), {"as a set": 4, "ideal": 5}, {2: 36, 3: 4, 4: 30}, "≤ 4"),
        (SingleLayer(3, 1, 1), {"as a set": 3, "ideal": 3}, {2: 45, 3: 10}, "≤ 3"),
        (SingleLayer(3, 1), {"as a set": 4, "ideal": 6}, {3: 20, 4: 90}, "≤ 6"),
        (SingleLayer(3, 3), {"as a set": 4}, {2: 135, 3: 300, 4: 2700}, "≥ 4"),
    ],
    ids=repr,
)
def test_the_degrees_of_equations(layer, predicted, generators, ideal):
    verdict = degrees_of_equations(layer)
    assert (verdict.status, verdict.evidence) == (Status.CONFIRMED, Evidence.PROVED)
    assert verdict.predicted == predicted
    assert verdict.shown == f"as a set by degree ≤ {predicted['as a set']}, the ideal by degree {ideal}"
    assert verdict.details["generators_by_degree"] == generators
    assert verdict.computed["ideal"] == max(generators)
    assert ("points off M̄ that were tried" in verdict.witness) is (layer.ambient_dimension <= 20)


def test_with_one_token_nothing_is_claimed_of_degrees():
    assert degrees_of_equations(SingleLayer(3, 1, 1, t=1)).status is Status.INAPPLICABLE


@pytest.mark.parametrize("layer", [SingleLayer(2, 2), SingleLayer(3, 1, 2), SingleLayer(3, 3)], ids=str)
def test_the_points_outside_are_outside(layer):
    """Each violates a condition that is checked on the forms themselves, apart from any ideal."""
    points = points_outside(layer)
    assert len(points) == 1 + 2 * (layer.d_out > 1) + 2 * (layer.d > 2) + (layer.alpha < layer.d)
    ring = coordinate_ring(SingleLayer(layer.d, 1))  # the first variables stand for u_1, ..., u_d
    u = ring.gens
    for name, point in points.items():
        forms = {}
        for (c, b, i, k), value in point.items():
            forms[c, b] = forms.get((c, b), ring.gens[0] * 0) + value * u[i - 1] * u[k - 1]
        if name == "a matrix A of rank a + 1":
            assert len(forms) == layer.alpha + 1  # with the common factor u_1, and independent cofactors
            assert all(form == u[0] * u[b - 1] for (_, b), form in forms.items())
        elif name == "a matrix of forms of rank 2":
            assert forms[1, 1] * forms[2, 2] != 0 and (1, 2) not in forms
        elif name == "a form of rank 3":
            assert forms == {(1, 1): u[0] ** 2 + u[1] ** 2 + u[2] ** 2}
        else:  # all forms are in one row or column, and no linear form divides all of them
            assert len({c for c, _ in forms}) == 1 or len({b for _, b in forms}) == 1
            assert not set.intersection(*({i, k} for *_, i, k in point))  # the forms are monomials


def test_a_point_off_the_closure_that_is_kept_refutes_the_claim(monkeypatch):
    """Of M(3,1,2), with the equations of M(3,1,3), the matrices of rank 3 are kept."""
    larger = compute_ideal(SingleLayer(3, 1), 4)
    monkeypatch.setattr(equations, "compute_ideal", lambda layer, n: larger)
    verdict = degrees_of_equations(SingleLayer(3, 1, 2))
    assert verdict.status is Status.REFUTED
    assert verdict.witness.endswith("tells: a matrix A of rank a + 1")


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
