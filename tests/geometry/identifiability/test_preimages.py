from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.echelon import rational_matrix
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.identifiability.weights import factor_quadratic_form, preimages
from agattn.geometry.strata.strata import Stratum, representative, strata, stratum_of
from agattn.geometry.variety.coordinates import coefficients

LAYERS = [SingleLayer(d, d_out, a) for d in range(1, 5) for d_out in range(1, 4) for a in range(1, d + 1)]
numbers = st.fractions(min_value=-4, max_value=4, max_denominator=3)


@st.composite
def low_rank_pairs(draw):
    # Products of thin factors, so that every stratum turns up often.
    d, d_out = draw(st.integers(1, 3)), draw(st.integers(1, 3))

    def product(rows):
        inner = draw(st.integers(1, 3))
        left = [[draw(numbers) for _ in range(inner)] for _ in range(rows)]
        right = [[draw(numbers) for _ in range(d)] for _ in range(inner)]
        return [[sum(x[j] * right[j][i] for j in range(inner)) for i in range(d)] for x in left]

    return product(d), product(d_out)


def proportional(A, V, B, W):
    """Whether (B, W) = (sA, V/s) for some s."""
    flat_a, flat_b = [x for r in A for x in r], [x for r in B for x in r]
    p = next(i for i, x in enumerate(flat_a) if x)
    s = flat_b[p] / flat_a[p]
    return (
        s != 0
        and flat_b == [s * x for x in flat_a]
        and [s * x for r in W for x in r] == [x for r in V for x in r]
    )


@given(low_rank_pairs())
def test_the_fiber_contains_the_pair_and_nothing_else_but_the_transposed_one(pair):
    A, V = pair
    d, d_out = len(A), len(V)
    layer = SingleLayer(d, d_out)
    y = list(coefficients(layer, A, V))
    stratum = stratum_of(A, V)
    if stratum.is_zero:
        with pytest.raises(InputError, match="tensor is 0"):
            preimages(layer, y)
        return
    fiber = preimages(layer, y)
    assert fiber.discriminant is None
    assert len([p for p in fiber.points if proportional(A, V, p.A, p.V)]) == 1
    assert fiber.number == (2 if stratum == Stratum(1, 1, 2) else 1)
    for point in fiber.points:
        assert list(coefficients(layer, point.A, point.V)) == y
        assert point.length == (d if stratum == Stratum(1, 1, 1) else 1)
    assert preimages(SingleLayer(d, d_out, stratum.r_a), y).number == fiber.number
    if stratum.r_a > 1:
        assert preimages(SingleLayer(d, d_out, stratum.r_a - 1), y).number == 0


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_number_and_length_at_every_stratum(layer):
    for stratum in strata(layer)[1:]:
        fiber = preimages(layer, coefficients(layer, *representative(layer, stratum)))
        lengths = [p.length for p in fiber.points]
        expected = {(1, 1, 1): [layer.d], (1, 1, 2): [1, 1]}
        assert lengths == expected.get((stratum.r_v, stratum.r_a, stratum.r), [1])


@settings(max_examples=60)
@given(st.lists(numbers, min_size=3, max_size=3), st.lists(numbers, min_size=3, max_size=3), numbers)
def test_factorization(one, other, D):
    """(one)(other) always factors; (one)² − D·(other)² factors over ℚ where D is a square."""
    d = 3

    def form(entry):
        """The coefficients of a quadratic form, from those of a bilinear one."""
        above = [[entry(i, k) + (entry(k, i) if k > i else 0) for k in range(d)] for i in range(d)]
        return [[x if k >= i else Fraction(0) for k, x in enumerate(row)] for i, row in enumerate(above)]

    product = form(lambda i, k: one[i] * other[k])
    if any(one) and any(other):
        first, second = factor_quadratic_form(product)
        assert product == form(lambda i, k: first[i] * second[k])
    if rational_matrix([one, other], d).rank() == 2 and D:
        answer = factor_quadratic_form(form(lambda i, k: one[i] * one[k] - D * other[i] * other[k]))
        root = Fraction(D.numerator * D.denominator)
        is_square = root >= 0 and int(root) in {n * n for n in range(40)}
        assert isinstance(answer, tuple) == is_square
        if not is_square:  # the same field: the two discriminants differ by a square
            ratio = answer * D
            assert (ratio.numerator * ratio.denominator) ** 0.5 % 1 == 0


def test_three_squares_are_not_a_product():
    I3 = [[Fraction(int(i == k)) for k in range(3)] for i in range(3)]
    assert factor_quadratic_form(I3) is None


def test_a_definite_form_is_outside_m_and_inside_its_closure():
    layer = SingleLayer(2, 2, 1)
    sum_of_squares, double = [1, 0, 1], [2, 0, 2]
    y = [*sum_of_squares, *double, *sum_of_squares, *double]
    fiber = preimages(layer, y)
    assert (fiber.number, fiber.is_real, fiber.points) == (2, False, ())
    assert fiber.discriminant < 0
    spoilt = [*y[:-3], 3, 0, 3]
    assert preimages(layer, spoilt).number == 0
    real = preimages(SingleLayer(2, 1), [1, 0, -2, 0, 0, 0])
    assert (real.number, real.is_real) == (2, True)


def test_length_of_the_tensor_is_checked():
    with pytest.raises(InputError, match="5 entries"):
        preimages(SingleLayer(2, 1), [1, 0, 0, 0, 0])
