from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from points_of_strata import scrambled

from agattn.algebra.scalars import scalars
from agattn.architectures import SingleLayer
from agattn.architectures.lightning import phi
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.identifiability.weights import fiber, preimages, weights
from agattn.geometry.reconstruction.membership import (
    identify,
    identify_function,
    identify_table,
    queries,
    tensor_from_answers,
)
from agattn.geometry.reconstruction.nearest_point import action_residual, nearest_weights, weights_from_action
from agattn.geometry.reconstruction.separating_equations import find_violation
from agattn.geometry.strata.strata import strata
from agattn.geometry.variety.coefficient_norm import (
    inner_product,
    relative_change,
    symmetric_tensor,
    weights_tensor,
)
from agattn.geometry.variety.coordinates import coefficients, full_tensor

SHAPES = [(d, d_out, a) for d in range(1, 5) for d_out in range(1, 5) for a in range(1, d + 1)]


@pytest.mark.parametrize("shape", SHAPES)
def test_round_trip_over_the_rationals_for_every_stratum(shape):
    layer = SingleLayer(*shape)
    for n, stratum in enumerate(strata(layer)):
        A, V = scrambled(layer, stratum, n)
        V = V * Fraction(2, 3)
        found = identify(layer, coefficients(layer, A, V))
        assert found.in_neuromanifold and found.in_zariski_closure and found.evidence is Evidence.PROVED
        assert fiber(weights(A=A, V=V, a=layer.a)).contains(weights(A=found.A, V=found.V, a=layer.a))


@pytest.mark.parametrize("t", [1, 2, 3])
def test_round_trip_from_the_full_tensor(t):
    layer = SingleLayer(2, 2, 2, t)
    A, V = np.array([[1, 2], [5, 3]], dtype=object), np.array([[1, 4], [2, -1]], dtype=object)
    full = full_tensor(layer, coefficients(layer, A, V))
    found = identify(layer, full)
    assert found.in_neuromanifold
    # At t = 1 only the symmetric part of A is left.
    expected = A if t > 1 else (A + A.T) * Fraction(1, 2)
    assert fiber(weights(A=expected, V=V)).contains(weights(A=found.A, V=found.V))
    damaged = full.copy()
    damaged.flat[int(np.flatnonzero(full)[-1])] += 1
    if t > 1:
        with pytest.raises(InputError, match="does not follow from the others"):
            identify(layer, damaged)


@given(st.integers(0, 10**6), st.sampled_from([(2, 1), (2, 2), (3, 1), (3, 2)]))
def test_one_token(seed, shape):
    rng = np.random.default_rng(seed)
    layer = SingleLayer(*shape, t=1)
    A, V = rng.integers(-3, 4, (layer.d, layer.d)), rng.integers(-3, 4, (layer.d_out, layer.d))
    z = coefficients(layer, A, V)
    for tensor, tolerance in ((z, 0), (z.astype(float), 1e-6)):
        found = identify(layer, tensor)
        assert found.in_neuromanifold
        assert (found.A == found.A.T).all() or tolerance
        again = coefficients(layer, found.A, found.V)
        assert np.abs((again - z).astype(float)).max() <= tolerance * max(1, np.abs(z).max())


def test_one_token_refuses_what_is_not_a_product():
    layer = SingleLayer(3, 1, t=1)
    fermat = [1, 0, 0, 0, 0, 0, 1, 0, 0, 1]  # x³ + y³ + z³, a smooth cubic
    found = identify(layer, fermat)
    assert found.in_neuromanifold is False and found.residual > 0.01
    # xyz has rank 2 quadrics as factors; x(x² + y² + z²) needs three positive squares, a ≥ 3.
    sphere = [1, 0, 0, 1, 0, 1, 0, 0, 0, 0]
    assert identify(layer, sphere).in_neuromanifold
    found = identify(SingleLayer(3, 1, 2, t=1), sphere)
    assert (found.in_neuromanifold, found.in_zariski_closure) == (False, True)
    assert "3 positive and 0 negative eigenvalues, above a = 2" in found.reason
    assert identify(SingleLayer(3, 1, 2, t=1), [float(x) for x in sphere]).in_neuromanifold is False
    # x³ − 2y³ has one real linear factor, and it is irrational.
    found = identify(SingleLayer(2, 1, t=1), [1, 0, 0, -2])
    assert found.in_neuromanifold and found.evidence is Evidence.NUMERICAL and found.residual < 1e-12


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("shape", [(2, 1, 2), (3, 2, 2), (4, 3, 1)])
def test_definite_tensors_are_in_the_closure_only(shape, exact):
    layer = SingleLayer(*shape)
    h, q = np.arange(1, layer.d_out + 1), np.arange(2, layer.d + 2)
    form = np.zeros((layer.d, layer.d), dtype=int)
    form[0, 0], form[0, 1], form[1, 1] = 1, 1, 3  # x² + xy + 3y², definite
    y = np.einsum("c,b,p->cbp", h, q, form[np.triu_indices(layer.d)]).ravel()
    found = identify(layer, y if exact else y / 7.0)
    assert (found.in_neuromanifold, found.in_zariski_closure) == (False, True)
    assert "Q definite" in found.reason and 0.01 < found.residual < 1
    assert found.evidence is (Evidence.PROVED if exact else Evidence.NUMERICAL)


def test_conjugate_weights_that_are_real():
    found = identify(SingleLayer(2, 1), [1, 0, -2, 0, 0, 0])  # x² − 2y²
    assert found.in_neuromanifold and "ℚ(√8)" in found.reason and found.residual < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 1, 2), (2, 2, 1), (3, 1, 2), (3, 3, 3), (4, 2, 2), (4, 4, 4)])
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_random_tensors_violate_an_equation(shape, seed):
    layer = SingleLayer(*shape)
    y = np.random.default_rng(seed).integers(-5, 6, layer.ambient_dimension)
    if preimages(SingleLayer(layer.d, layer.d_out), y.tolist()).number:
        return
    found = identify(layer, y, nearest=False)
    assert not found.in_zariski_closure and found.violation.value and found.violation.equation in found.reason
    floating = identify(layer, y / 3.0)
    assert floating.in_neuromanifold is False and floating.violation is not None


@settings(max_examples=5)
@given(st.integers(0, 10**6))
def test_no_equation_is_violated_on_the_neuromanifold(seed):
    rng = np.random.default_rng(seed)
    layer = SingleLayer(3, 2, 2)
    A = rng.integers(-3, 4, (3, 2)) @ rng.integers(-3, 4, (2, 3))
    y = scalars(coefficients(layer, A, rng.integers(-3, 4, (2, 3))), "y")
    from agattn.geometry.reconstruction.separating_equations import Forms, _candidates, random

    candidates = _candidates(layer, Forms(layer, y), random.Random(0), False)
    values = [v.value for v in islice(candidates, 400)]
    assert len(values) == 400 and not any(values)


def test_forms_that_share_factors_only_in_pairs():
    # y_c = xy, yz, xz in one column: any two have a common factor, all three have none.
    y = np.zeros((3, 3, 6), dtype=int)
    for c, p in enumerate([1, 4, 2]):
        y[c, 0, p] = 1
    layer = SingleLayer(3, 3)
    found = identify(layer, y.ravel())
    assert found.in_zariski_closure is False and found.violation.value
    assert find_violation(layer, scalars(y.ravel(), "y"), seed=1).value


@pytest.mark.parametrize("floating", [False, True])
def test_rank_above_a(floating):
    layer = SingleLayer(3, 2, 2)
    A, V = np.array([[1, 2, 0], [0, 1, 1], [1, 0, 1]]), np.array([[1, 0, 2], [0, 1, 1]])
    y = coefficients(layer, A, V)
    found = identify(layer, y / 3.0 if floating else y)
    assert (found.in_neuromanifold, found.in_zariski_closure) == (False, False)
    assert "rank of A is 3, above a = 2" in found.reason
    assert found.violation.degree == 3 and found.violation.value
    assert np.linalg.matrix_rank(found.A.astype(float)) == 2 and 0.01 < found.residual < 0.5


def test_noisy_tensors_come_near_their_weights():
    rng = np.random.default_rng(0)
    A, V = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 6)), rng.standard_normal((4, 6))
    layer = SingleLayer(6, 4, 2)
    y = coefficients(layer, A, V)
    noisy = y + 1e-3 * rng.standard_normal(y.shape)
    found = identify(layer, noisy)
    assert found.in_neuromanifold is False and 1e-5 < found.residual < 1e-2
    assert relative_change(A, V, found.A, found.V) < 1e-3
    T = symmetric_tensor(noisy, 6, 4)
    # No worse than the weights that made it, and stationary: small changes do not help.
    assert found.residual <= np.linalg.norm(T - weights_tensor(A, V)) / np.linalg.norm(T)
    for _ in range(5):
        moved = weights_tensor(found.A, found.V + 1e-4 * rng.standard_normal(V.shape))
        assert np.linalg.norm(T - moved) >= found.residual * np.linalg.norm(T)
    assert identify(layer, noisy, tolerance=0.01).in_neuromanifold


@given(st.integers(0, 10**6))
def test_the_inner_product(seed):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, 3, 3))
    V, W = rng.standard_normal((2, 2, 3))
    assert inner_product(A, V, B, W) == pytest.approx((weights_tensor(A, V) * weights_tensor(B, W)).sum())
    y = coefficients(SingleLayer(3, 2), A, V)
    assert np.allclose(symmetric_tensor(y, 3, 2), weights_tensor(A, V))


@pytest.mark.parametrize("shape", [(3, 2, 2), (4, 4, 4), (5, 1, 3)])
def test_floating_round_trip_of_every_stratum(shape):
    layer = SingleLayer(*shape)
    for n, stratum in enumerate(strata(layer)):
        if stratum.is_zero:
            continue
        A, V = (M.astype(float) / 3 for M in scrambled(layer, stratum, n))
        found = identify(layer, coefficients(layer, A, V))
        assert found.in_neuromanifold and found.residual < 1e-8, stratum
        T = weights_tensor(A, V)

        def action(u, T=T):
            return np.einsum("cibk,i,k->cb", T, u, u)

        B, W = weights_from_action(action, layer.d)
        assert action_residual(action, B, W) < 1e-7, stratum


@pytest.mark.slow
def test_float_round_trip_at_64():
    rng = np.random.default_rng(0)
    layer = SingleLayer(64, 64, 16)
    A, V = rng.standard_normal((64, 16)) @ rng.standard_normal((16, 64)), rng.standard_normal((64, 64))
    y = coefficients(layer, A, V)
    found = identify(layer, y)
    assert found.in_neuromanifold and relative_change(A, V, found.A, found.V) < 1e-10
    s = (A * found.A).sum() / (found.A**2).sum()
    assert np.linalg.norm(s * found.A - A) < 1e-10 * np.linalg.norm(A)


def test_action_at_768():
    rng = np.random.default_rng(0)
    K, Q, V = rng.standard_normal((64, 768)), rng.standard_normal((64, 768)), rng.standard_normal((64, 768))
    A = K.T @ Q
    B, W = weights_from_action(lambda u: np.multiply.outer(V @ u, Q.T @ (K @ u)), 768)
    assert relative_change(A, V, B, W) < 1e-10


def test_black_box():
    layer = SingleLayer(3, 2, 2, t=3)
    A, V = np.array([[1, 2, 3], [2, 4, 6], [0, 1, 1]]), np.array([[1, 0, 2], [3, 1, 1]])
    assert len(queries(layer)) == 2 * 7
    answers = [phi(A, V, X) for X in queries(layer)]
    assert (tensor_from_answers(layer, answers) == coefficients(layer, A, V)).all()
    found = identify_function(layer, lambda X: phi(A, V, X))
    assert found.evidence is Evidence.PROVED and fiber(weights(A=A, V=V)).contains(
        weights(A=found.A, V=found.V)
    )
    single = SingleLayer(3, 2, 2, t=1)
    assert identify_function(single, lambda X: phi(A, V, X)).in_neuromanifold
    with pytest.raises(InputError, match="13 outputs for 14 queries"):
        tensor_from_answers(layer, answers[:-1])


def test_black_box_too_large_for_its_tensor():
    rng = np.random.default_rng(0)
    layer = SingleLayer(24, 16, 4, t=9)
    A, V = rng.standard_normal((24, 4)) @ rng.standard_normal((4, 24)), rng.standard_normal((16, 24))
    asked = []
    found = identify_function(layer, lambda X: asked.append(1) or phi(A, V, X))
    assert found.in_neuromanifold and relative_change(A, V, found.A, found.V) < 1e-10
    assert len(asked) <= (6 * 24 + 22) * 3
    assert not identify_function(layer, lambda X: phi(A, V, X) + phi(A.T, V, X)).in_neuromanifold


@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize("exact", [True, False])
def test_tables(t, exact):
    rng = np.random.default_rng(0)
    layer = SingleLayer(2, 2, t=t)
    A, V = np.array([[1, 2], [3, 5]]), np.array([[1, -1], [2, 1]])
    X = rng.integers(-3, 4, (8, 2, t)) if exact else rng.standard_normal((8, 2, t))
    Y = np.stack([phi(A, V, x) for x in X])
    assert identify_table(layer, X, Y).in_neuromanifold
    with pytest.raises(InputError, match="determine only"):
        identify_table(layer, X[:1], Y[:1])
    with pytest.raises(InputError, match="no coefficients give these outputs"):
        identify_table(layer, X, Y + 1)
    with pytest.raises(InputError, match="they must be n ×"):
        identify_table(layer, X, Y[:-1])


def test_the_approximation_finds_exact_weights_near_the_pinch():
    k = np.array([1.0, 0.0, 0.0])
    for gap in (1e-2, 1e-5):
        v = k + gap * np.array([0.0, 1.0, 0.0])
        T = weights_tensor(np.multiply.outer(k, [1.0, 2.0, 3.0]), np.multiply.outer([1.0, -1.0], v))
        assert nearest_weights(T, 3).residual < 1e-8
