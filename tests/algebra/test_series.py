"""Truncated power series of arrays: their ring, the softmax, and what they refuse."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn.algebra.arithmetic import ModularArithmetic, RingArithmetic
from agattn.algebra.series import Series, SeriesArithmetic
from agattn.errors import InputError

P = 10007


def exact(numbers):
    array = np.empty((len(numbers), len(numbers[0])), dtype=object)
    array[:] = [[Fraction(x) for x in row] for row in numbers]
    return array


@given(
    st.lists(st.integers(-4, 4), min_size=4, max_size=4),
    st.lists(st.integers(-4, 4), min_size=4, max_size=4),
    st.integers(1, 5),
)
def test_products_are_those_of_polynomials(one, other, order):
    """Over ℚ, and modulo a prime what that is modulo the prime."""

    def series(numbers, arithmetic, kind):
        found = [np.array([[[x % P if kind is float else x]]], dtype=kind) for x in numbers]
        coefficients = [found[n] if n < len(found) else None for n in range(order + 1)]
        return Series(tuple(coefficients), (1, 1, 1), arithmetic)

    expected = np.convolve(one[: order + 1], other[: order + 1])[: order + 1]
    expected = [int(x) for x in expected] + [0] * (order + 1 - len(expected))
    for scalars, kind in ((RingArithmetic(), object), (ModularArithmetic(P), float)):
        arithmetic = SeriesArithmetic(scalars, order)
        x, y = (series(numbers, arithmetic, kind) for numbers in (one, other))
        for product in (arithmetic.times(x, y), arithmetic.matmul(x, y)):
            got = [0 if a is None else int(a.item()) for a in product.coefficients]
            assert [a % P for a in got] == [a % P for a in expected]
            assert product.shape == (1, 1, 1)


def test_a_softmax_of_one_token_is_one_and_of_two_the_logistic_function():
    arithmetic = SeriesArithmetic(RingArithmetic(), 5)
    alone = arithmetic.softmax(arithmetic.variable(exact([[3]])))
    assert [a is None or a.item() for a in alone.coefficients] == [1, 0, 0, 0, 0, 0]
    # 1/(1 + e^(−s)) = 1/2 + s/4 − s³/48 + s⁵/480
    two = arithmetic.softmax(arithmetic.variable(exact([[1], [0]])))
    first = [Fraction(0) if a is None else a[0, 0] for a in two.coefficients]
    assert first == [Fraction(1, 2), Fraction(1, 4), 0, Fraction(-1, 48), 0, Fraction(1, 480)]
    total = two.sum(axis=-2)
    assert [Fraction(0) if a is None else a.item() for a in total.coefficients] == [1, 0, 0, 0, 0, 0]


def test_any_normalizer_by_its_coefficients():
    """φ(w) = 2 + w: φ(s)/(φ(s) + φ(0)) = (2 + s)/(4 + s)."""
    arithmetic = SeriesArithmetic(RingArithmetic(), 3)
    found = arithmetic.normalized(arithmetic.variable(exact([[1], [0]])), lambda k: Fraction([2, 1, 0, 0][k]))
    first = [a[0, 0] for a in found.coefficients]
    assert first == [Fraction(1, 2), Fraction(1, 8), Fraction(-1, 32), Fraction(1, 128)]


def test_scores_beyond_the_order_give_the_mean():
    arithmetic = SeriesArithmetic(RingArithmetic(), 1)
    x = arithmetic.variable(exact([[1, 2], [3, 4]]))
    found = arithmetic.softmax(arithmetic.times(x, x))
    assert found.coefficients[0].tolist() == [[Fraction(1, 2)] * 2] * 2 and found.coefficients[1] is None
    nothing = arithmetic.times(x, x)
    assert nothing.shape == (2, 2) and nothing.swapaxes(0, 1)[0].shape == (2,)
    assert arithmetic.value(nothing).tolist() == [[0, 0], [0, 0]]


def test_sums_take_the_shape_of_both_and_scores_need_no_constant():
    arithmetic = SeriesArithmetic(RingArithmetic(), 2)
    x = arithmetic.variable(exact([[1, 2], [3, 4]]))
    total = x + exact([[5], [7]])
    assert total.coefficients[0].tolist() == [[5, 5], [7, 7]] and total.shape == (2, 2)
    assert arithmetic.value(1 - x / 2).tolist() == [[Fraction(1, 2), 0], [Fraction(-1, 2), -1]]
    with pytest.raises(InputError, match="scores of each softmax vanish at the zero input"):
        arithmetic.softmax(total)


def test_the_exponential_is_that_of_numbers():
    arithmetic = SeriesArithmetic(RingArithmetic(), 9)
    weights = arithmetic.softmax(arithmetic.variable(exact([[1], [-1]])))
    # e^s/(e^s + e^−s) = (1 + tanh s)/2
    tanh = {1: 1, 3: Fraction(-1, 3), 5: Fraction(2, 15), 7: Fraction(-17, 315), 9: Fraction(62, 2835)}
    found = {n: a[0, 0] * 2 for n, a in enumerate(weights.coefficients) if a is not None and a[0, 0]}
    assert found == {0: 1, **tanh} and factorial(9) % 2835 == 0


def test_differences_of_series_and_arrays():
    arithmetic = SeriesArithmetic(RingArithmetic(), 2)
    one, other = (
        Series(tuple(exact([[x]]) for x in numbers), (1, 1), arithmetic) for numbers in ((5, 3, 1), (2, 4, 6))
    )
    for found, expected in ((one - other, (3, -1, -5)), (other - one, (-3, 1, 5)), (one + other, (7, 7, 7))):
        assert [x[0, 0] for x in found.coefficients] == list(expected)
    assert [0 if x is None else x[0, 0] for x in (exact([[1]]) - one).coefficients] == [-4, -3, -1]
