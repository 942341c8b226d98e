"""Theorem 3.9: the recovery of (A, V) is exact over ℚ and accurate in high precision."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.errors import InputError
from agattn.geometry.identifiability.virtual_weights import normalized, recover


def S(x):
    return 2 + Fraction(x) / (1 + abs(x))


def S_inverse(y):
    return (y - 2) / (1 - abs(y - 2))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 4), st.integers(1, 3), st.integers(2, 4))
def test_recovery_is_exact(seed, d, d_out, t):
    generator = np.random.default_rng(seed)
    A = generator.integers(-2, 3, (d, d)).astype(object)
    V = generator.integers(-1, 2, (d_out, d)).astype(object)  # often with zero columns and rank 1
    A_found, V_found = recover(lambda X: normalized(A, V, X, S), d, t, S, S_inverse)
    assert (V_found == V).all()
    if V.any():
        assert (A_found == A).all()
    else:
        assert A_found is None


def test_softmax_in_high_precision():
    with mpmath.workdps(60):
        A = np.array([[mpmath.mpf(1) / 3, -1], [2, mpmath.mpf("0.1")]], dtype=object)
        V = np.array([[1, mpmath.mpf(2) / 7]], dtype=object)

        def inverse(matrix):
            rows = (mpmath.matrix(matrix.tolist()) ** -1).tolist()
            return np.array(rows, dtype=object)

        A_found, _ = recover(
            lambda X: normalized(A, V, X, mpmath.exp), 2, 3, mpmath.exp, mpmath.log, mpmath.mpf(1), inverse
        )
        assert max(abs(A_found - A).ravel()) < mpmath.mpf(10) ** -50


def test_one_token_is_not_enough():
    with pytest.raises(InputError, match="at least 2 tokens"):
        recover(lambda X: X, 2, 1, S, S_inverse)


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_softmax_layers_are_identified(temperature):
    rng = np.random.default_rng(0)
    A, V = 0.3 * rng.standard_normal((4, 4)), rng.standard_normal((3, 4))
    S, S_inverse = (lambda x: np.exp(x / temperature)), (lambda y: temperature * np.log(y))

    def recovered(layer):
        inverse, is_zero = (lambda M: np.linalg.inv(M.astype(float))), (lambda M: not M.any())
        return recover(layer, 4, 3, S, S_inverse, 1.0, inverse, is_zero)

    A2, V2 = recovered(lambda X: normalized(A, V, X, S))
    assert np.allclose(A, A2.astype(float), atol=1e-9) and np.allclose(V, V2.astype(float))
    assert recovered(lambda X: 0 * X)[0] is None
