"""Krawczyk's test finds exactly the simple zeros, and signatures are those of exact matrices."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.interval_newton import System, certified_zero, signature
from agattn.algebra.polynomial import PolynomialRing

integers = st.integers(-5, 5)


@given(st.lists(integers, min_size=2, max_size=2, unique=True), st.lists(integers, min_size=2, max_size=2))
@settings(max_examples=20, deadline=None)
def test_a_known_zero_is_found_and_told_from_the_other(roots, shift):
    x, y = PolynomialRing(["x", "y"]).gens
    p, q = roots
    system = System([(x - p) * (x - q), y - x**2 - shift[0]])
    zeros = [certified_zero(system, [r + 0.01, r * r + shift[0]]) for r in roots]
    for r, zero in zip(roots, zeros, strict=True):
        assert zero is not None
        assert zero.point[0].contains(r) and zero.point[1].contains(r * r + shift[0])
        assert all(ball.rad() < 1e-30 for ball in zero.point)
    assert zeros[0].excludes(zeros[1]) and not zeros[0].excludes(zeros[0])


def test_complex_zeros_and_what_is_not_simple():
    x, y = PolynomialRing(["x", "y"]).gens
    zero = certified_zero(System([x**2 + 1, y - x]), [0.1 + 0.9j, 1j])
    assert zero is not None and zero.point[1].contains(flint.acb(0, 1)) and zero.point[0].rad() < 1e-30
    assert certified_zero(System([x**2, y - x]), [0.1, 0.1]) is None
    assert certified_zero(System([x**2 + 1, y - x]), [0.5, 0.1]) is None  # no real zero
    assert certified_zero(System([x * y - 1, x * y - 2]), [1.0, 1.0]) is None
    # Newton's steps are small here, and nothing but the test of inclusion shows that there is no simple zero.
    assert certified_zero(System([x**2, y - x]), [1e-25, 1e-25]) is None
    assert certified_zero(System([x**2 + Fraction(1, 2**300), y - x]), [1e-25, 1e-25]) is None
    with pytest.raises(ValueError, match="1 equations in 2 variables"):
        System([x])


def test_precision_is_raised_where_two_zeros_are_close():
    (x,) = PolynomialRing(["x"]).gens
    system = System([(x - 1) * (x * 10**50 - 10**50 - 1)])
    zero = certified_zero(system, [1])
    assert zero is not None and zero.bits > 128 and zero.point[0].contains(1)


@given(st.lists(st.integers(-3, 3), min_size=4, max_size=4), st.lists(integers, min_size=16, max_size=16))
@settings(max_examples=40, deadline=None)
def test_signatures_by_congruence(diagonal, entries):
    change = np.array(entries).reshape(4, 4)
    H = change.T @ np.diag(diagonal) @ change
    found = signature(flint.arb_mat(H.tolist()))
    if 0 in diagonal or round(np.linalg.det(change)) == 0:
        assert found is None
    else:
        assert found == (sum(x > 0 for x in diagonal), sum(x < 0 for x in diagonal))


def test_a_signature_needs_balls_that_exclude_singular_matrices():
    wide = flint.arb(1, 2)
    assert signature(flint.arb_mat([[wide, 0], [0, 1]])) is None
    assert signature(flint.arb_mat([[flint.arb(1, 0.5), 0], [0, -1]])) == (1, 1)
    assert signature(flint.arb_mat([[1e-40, 0], [0, -1e20]])) == (1, 1)
