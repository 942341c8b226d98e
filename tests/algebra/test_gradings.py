"""Monomials that stand for scalars: their exponents, and what sums of them relate."""

import numpy as np

from agattn.algebra.graded_ideals import Monomial, homogeneous_weights


def test_products_and_powers_add_exponents_and_sums_relate_them() -> None:
    relations: set = set()
    x, y = (Monomial({variable: 1}, relations) for variable in (0, 1))
    assert (x * y * y).exponents == {0: 1, 1: 2} and ((x * y) ** 3).exponents == {0: 3, 1: 3}
    assert all(found.exponents == x.exponents for found in (5 * x, -x / 7, x + 0, x + 5 * x))
    assert x.exponents == {0: 1} and (0 + y).exponents == {1: 1}
    assert x**0 == 1 and x * 0 == 0 and relations == set()
    assert (x * x + y).exponents == {0: 2} and relations == {frozenset({(0, -2), (1, 1)})}
    assert (y - 1).exponents == {1: 1} and frozenset({(1, -1)}) in relations


def test_weights_whose_denominators_are_too_large_are_not_found() -> None:
    primes = (10007, 10009, 10037, 10039, 10061, 10067)
    relations = {frozenset({(2 * i, p), (2 * i + 1, -3)}) for i, p in enumerate(primes)}
    assert homogeneous_weights(relations, 12, np.random.default_rng(0)).tolist() == [0] * 12
