"""Large and small entries, and rounding: the same answers as at ordinary scale."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.architectures import SingleLayer
from agattn.checkpoints.head_geometry import head_geometry
from agattn.geometry.identifiability.equivalence import equivalent
from agattn.geometry.identifiability.weights import fiber, weights
from agattn.geometry.reconstruction.membership import identify
from agattn.geometry.reconstruction.separating_equations import find_violation
from agattn.geometry.variety.coefficient_norm import relative_change
from agattn.geometry.variety.coordinates import coefficients

SHAPES = st.sampled_from([(2, 1), (2, 2), (3, 1), (3, 2), (4, 3)])
EXPONENTS = st.sampled_from([-300, -160, -40, 0, 40, 155, 300])


def random_point(shape, seed):
    layer, rng = SingleLayer(*shape), np.random.default_rng(seed)
    A, V = rng.standard_normal((layer.d, layer.d)), rng.standard_normal((layer.d_out, layer.d))
    return layer, A, V, np.array(coefficients(layer, A, V), dtype=float)


@pytest.mark.slow
@settings(max_examples=15)  # where there is no violation, all candidates are tried
@given(SHAPES, st.integers(0, 10**6))
def test_rounding_is_no_violation(shape, seed):
    layer, _, _, y = random_point(shape, seed)
    assert find_violation(layer, y, tolerance=1e-14) is None


@pytest.mark.slow
@given(SHAPES, st.integers(0, 10**6))
def test_what_is_far_away_violates_an_equation(shape, seed):
    layer, _, _, y = random_point(shape, seed)
    far = y + 0.3 * np.abs(y).max() * np.random.default_rng(seed).standard_normal(y.shape)
    found = identify(layer, far)
    assert found.in_neuromanifold is False and found.in_zariski_closure is False
    assert found.violation is not None and abs(found.violation.value) > found.violation.sensitivity * 1e-8


@pytest.mark.slow
@settings(max_examples=15)
@given(SHAPES, st.integers(0, 10**6), st.floats(1e-7, 1e-2))
def test_a_violation_excludes_every_tensor_within_the_tolerance(shape, seed, tolerance):
    """A tensor of weights, moved by less than the tolerance, is never said to violate an equation."""
    layer, _, _, y = random_point(shape, seed)
    noise = np.random.default_rng(seed).standard_normal(y.shape)
    # The invariant norm is between the Euclidean one and that divided by √2.
    moved = y + noise * (tolerance * np.linalg.norm(y) / np.linalg.norm(noise) / 2)
    assert find_violation(layer, moved, tolerance=tolerance) is None


@given(SHAPES, st.integers(0, 10**6), EXPONENTS)
def test_membership_does_not_depend_on_the_scale(shape, seed, exponent):
    layer, _, _, y = random_point(shape, seed)
    found = identify(layer, y * 10.0**exponent)
    assert found.in_neuromanifold and np.isfinite(found.A).all() and np.isfinite(found.V).all()


@pytest.mark.parametrize("exponent", [-200, -40, 40, 200])
def test_one_token_does_not_depend_on_the_scale(exponent):
    cubic = np.random.default_rng(0).standard_normal(10) * 10.0**exponent  # no product of forms
    found = identify(SingleLayer(3, 1, t=1), cubic)
    assert found.in_neuromanifold is False and 0.01 < found.residual < 1


@given(SHAPES, st.integers(0, 10**6), EXPONENTS, st.sampled_from([-100, 0, 100]))
def test_equal_weights_are_equal_at_every_scale(shape, seed, exponent, other):
    _, A, V, _ = random_point(shape, seed)
    one = weights(A=A * 10.0**exponent, V=V)
    assert fiber(one).contains(one)
    two = weights(A=A * 10.0**exponent * 1e3, V=V / 1e3)
    assert equivalent(one, two).equal
    different = weights(A=A * 10.0**exponent, V=V * (1 + 1e-3))
    answer = equivalent(one, different)
    assert not answer.equal and answer.difference != 0 and 5e-4 < answer.relative < 2e-3
    small, large = V * 10.0**other, V * 10.0**-other
    change = relative_change(A, small, A, large)
    assert change == pytest.approx(abs(1 - 10.0 ** (-2 * other)) if other > -100 else float("inf"))


def test_heads_at_every_scale():
    K, Q, V = np.random.default_rng(0).standard_normal((3, 4, 8))
    usual = head_geometry(K, Q, V)
    for scale in (1e-200, 1e-60, 1e60, 1e200):
        other = head_geometry(K * scale, Q * scale, V * scale)
        assert (other.r_v, other.r_a, other.r) == (usual.r_v, usual.r_a, usual.r)
        assert other.distance == pytest.approx(usual.distance)


def test_exact_tensors_too_large_for_floats_are_still_decided():
    found = identify(SingleLayer(2, 1), [10**400, 0, 0, 0, 0, 1])
    assert found.in_zariski_closure is False and found.A is None
    found = identify(SingleLayer(2, 1), [10**400, 0, -2 * 10**400, 0, 0, 0])  # u² − 2v², over ℚ(√2)
    assert found.in_neuromanifold and found.A is None


@pytest.mark.parametrize("scale", [10**400, Fraction(1, 10**400), Fraction(1, 10**700)])
def test_weights_beyond_the_range_of_floats_are_left_out(scale):
    two = identify(SingleLayer(2, 1), [scale, 0, 0, 0, 0, scale])
    assert two.A is None and two.V is None and two.residual == pytest.approx(0.5)
    one = identify(SingleLayer(2, 1, t=1), [scale, 0, 0, 2 * scale])  # x³ + 2y³, over ℚ(∛2)
    assert one.A is None and one.in_neuromanifold and "irreducible" in one.reason


@pytest.mark.parametrize("place", [(8, 0, 0), (3, 1, 2)])
def test_a_violation_in_late_rows_is_found(place):
    layer = SingleLayer(2, 10)
    y = np.zeros((10, 2, 3), dtype=int)
    y[place], y[9, 1, 0] = 1, 1
    found = identify(layer, y.ravel().tolist())
    assert found.in_neuromanifold is False and found.violation is not None and found.violation.value
