from fractions import Fraction

import flint
import mpmath
import numpy as np
import sympy
from hypothesis import given
from hypothesis import strategies as st

from agattn.architectures.lightning import phi

integers = st.integers(-9, 9)


def matrices(rows, columns, entries=integers):
    row = st.lists(entries, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


@st.composite
def inputs(draw, entries=integers):
    d, d_out, t = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return draw(matrices(d, d, entries)), draw(matrices(d_out, d, entries)), draw(matrices(d, t, entries))


def by_definition(A, V, X):
    """Column τ is Σ_j (x_jᵀ A x_τ) V x_j, written out."""
    d, t = len(A), len(X[0])

    def attention(j, tau):
        return sum(X[i][j] * A[i][b] * X[b][tau] for i in range(d) for b in range(d))

    def entry(row, tau):
        return sum(attention(j, tau) * sum(row[i] * X[i][j] for i in range(d)) for j in range(t))

    return [[entry(row, tau) for tau in range(t)] for row in V]


@given(inputs())
def test_python_integers(weights):
    result = phi(*weights)
    assert result.tolist() == by_definition(*weights)
    assert all(type(entry) is int for entry in result.flat)


@given(inputs(st.fractions(min_value=-3, max_value=3, max_denominator=9)))
def test_fractions(weights):
    result = phi(*weights)
    assert result.tolist() == by_definition(*weights)
    assert all(isinstance(entry, Fraction | int) for entry in result.flat)


@given(inputs())
def test_numpy_floats_and_integers(weights):
    exact = np.array(by_definition(*weights))
    floats = phi(*(np.array(m, dtype=float) for m in weights))
    assert floats.dtype == float and (floats == exact).all()
    assert (phi(*(np.array(m, dtype=np.int8) for m in weights)) == exact).all()


def test_numpy_integers_do_not_overflow():
    big = np.array([[2**62]])
    assert phi(big, big, big).tolist() == [[2 ** (62 * 5)]]
    assert phi(np.array([[100]], dtype=np.int8), [[1]], [[1]]).tolist() == [[100]]


def test_single_precision_stays_single_precision():
    assert phi(*(np.ones((2, 2), dtype=np.float32) for _ in range(3))).dtype == np.float32


def test_complex_numbers():
    assert phi([[1j]], [[2]], [[1 + 1j]]).tolist() == [[2 * 1j * (1 + 1j) ** 3]]


def test_sympy_matrices():
    a, b, v, x, y = sympy.symbols("a b v x y")
    A, V, X = sympy.Matrix([[a, b], [0, 1]]), sympy.Matrix([[v, 0]]), sympy.Matrix([[x, 0], [y, 2]])
    expected = V * X * X.T * A * X
    assert (sympy.Matrix(phi(A, V, X).tolist()) - expected).expand().is_zero_matrix


def test_mpmath_matrices_keep_their_precision():
    with mpmath.workdps(60):
        thirds = mpmath.mpf(1) / 3, Fraction(1, 3)
        weights, exact = (([[x, 0], [1, 2]], [[1, x]], [[1], [x]]) for x in thirds)
        result = phi(*map(mpmath.matrix, weights))
        [[exact]] = by_definition(*exact)
        assert isinstance(result[0, 0], mpmath.mpf)
        assert abs(result[0, 0] - mpmath.mpf(exact.numerator) / exact.denominator) < mpmath.mpf(10) ** -58


@given(inputs())
def test_flint_matrices(weights):
    result = phi(*(flint.fmpz_mat(m) for m in weights))
    assert [[int(entry) for entry in row] for row in result] == by_definition(*weights)


@given(inputs(), st.integers(-5, 5))
def test_cubic_in_the_tokens_and_bilinear_in_the_weights(weights, s):
    A, V, X = (np.array(m, dtype=object) for m in weights)
    assert (phi(A, V, s * X) == s**3 * phi(A, V, X)).all()
    assert (phi(s * A, V, X) == s * phi(A, V, X)).all() and (phi(A, s * V, X) == s * phi(A, V, X)).all()
    assert (phi(A + A.T, V, X) == phi(A, V, X) + phi(A.T, V, X)).all()


@given(st.data())
def test_permuting_the_tokens_permutes_the_outputs(data):
    A, V, X = (np.array(data.draw(matrices(2, n)), dtype=object) for n in (2, 2, 3))
    order = data.draw(st.permutations(range(3)))
    assert (phi(A, V, X[:, order]) == phi(A, V, X)[:, order]).all()
