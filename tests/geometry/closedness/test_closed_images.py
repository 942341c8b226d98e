"""Closed images of maps that are homogeneous in blocks, and zero only where a block is."""

from __future__ import annotations

import math
from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.polynomial import Polynomial, PolynomialRing
from agattn.geometry.closedness import question
from agattn.geometry.closedness.question import closed_image
from agattn.geometry.singular_points.singularities import singularities
from agattn.geometry.variety.coefficient_map import coefficient_map

RING = PolynomialRing(["a", "b", "c", "x", "y", "z"])
a, b, c, x, y, z = RING.gens
CUBIC = [a**3, a**2 * b, a * b**2, b**3]


def test_the_twisted_cubic_is_one_block():
    found = closed_image(CUBIC)
    assert found == (((0, 1),), (3,), (3,))
    without = closed_image([a**3, a**2 * b, b**3])  # a node or a cusp is as closed
    assert without == (((0, 1),), (3,), (5,))  # all monomials of degree 2 · 3 − 1, and not of degree 3
    assert closed_image([a**3, a**2 * b, a * b**2]) is None  # 0 at a = 0, and no image contains (0, 0, 1)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(1, 2))
def test_products_of_two_forms_are_two_blocks(n: int, m: int, r: int, s: int):
    """Every monomial of degree r in n variables times one of degree s in m: Segre and Veronese."""
    first, other = (a, b, c)[:n], (x, y, z)[:m]
    left = {math.prod(chosen, start=RING.one()) for chosen in product(first, repeat=r)}
    right = {math.prod(chosen, start=RING.one()) for chosen in product(other, repeat=s)}
    found = closed_image([f * g for f in left for g in right])
    assert found is not None
    if min(n, m) > 1:
        assert found.places == (tuple(range(n)), tuple(range(3, 3 + m))) and found.degrees == (r, s)


@pytest.mark.parametrize(
    ("coordinates", "reason"),
    [
        ([a**2 * x, a * x**2], "two degrees: the image is {uv ≠ 0} and 0"),
        ([a**2, a * b], "0 at a = 0: the image is {u > 0} and 0"),
        ([a * x + b * y], "0 at more than the blocks"),
        ([a * x - b * y, a * y + b * x], "0 over ℂ at (1, i, 1, −i)"),
        ([a * b - c, c], "no degree"),
        ([a**2 + b**2], "0 over ℂ"),
        ([(a + 10**17 * b) * a, (a + 10**17 * b) * (a + b)], "0 where a + 10¹⁷ b = 0"),
        ([], "no coordinates"),
        ([RING.one()], "a point"),
    ],
)
def test_nothing_is_claimed_elsewhere(coordinates: list[Polynomial], reason: str):
    assert closed_image(coordinates) is None, reason


def test_constants_move_the_image_and_unused_parameters_are_in_no_block():
    found = closed_image([a * x + 5, a * y, b * x, b * y - 1])
    assert found is not None and found.places == ((0, 1), (3, 4))


def test_the_finest_division_is_found_where_there_are_several():
    """ax and by have one degree in {a, b} and {x, y}, and in {a, y} and {b, x}; with ay only in the first."""
    found = closed_image([a * x, b * y, a * y + b * x])
    assert found is not None and found.places == ((0, 1), (3, 4))
    three = closed_image([a * b * c])
    assert three is not None and three.places == ((0,), (1,), (2,))
    six = closed_image([a * b * c * x * y * z])
    assert six is not None and len(six.places) == 6


def test_unions_of_blocks_are_not_tried(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(question, "_MOST_DIVISIONS", 1)
    found = closed_image([a * b, a * y, x * b, x * y])
    assert found is not None and found.places == ((0, 3), (1, 4))


@pytest.mark.parametrize(
    ("name", "least", "coordinates"),
    [
        ("MOST_MONOMIALS", 4, CUBIC),
        ("MOST_EXPONENTS", 4, CUBIC),
        ("MOST_VECTORS", 2, CUBIC),
        ("MOST_VECTORS", 8, [a * b * c]),
    ],
)
def test_limits_say_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str, least: int, coordinates: list[Polynomial]
):
    for limit in (1, least - 1, least):
        monkeypatch.setattr(question, name, limit)
        assert (closed_image(coordinates) is not None) is (limit == least)


@pytest.mark.parametrize(
    ("model", "blocks"),
    [
        (ag.Network([ag.Convolution(2, degree=2), ag.Convolution(2, degree=1)], dim=1, tokens=3), 2),
        (ag.Network([ag.Linear(1), ag.Linear(2)], dim=2), 2),
        (ag.Network([ag.Perceptron([1, 2], degree=3)], dim=3), 2),
        (ag.Network([ag.Attention(1, rank=1)], dim=2, tokens=2), 3),
        (ag.Network([ag.Linear(2), ag.Linear(3)], dim=3), 0),
        (ag.Network([ag.Perceptron([2, 1], degree=3)], dim=3), 0),
    ],
    ids=str,
)
def test_models(model: ag.Network, blocks: int):
    found = closed_image(coefficient_map(model).polynomials)
    assert (0 if found is None else len(found.places)) == blocks


def test_what_is_said_of_the_twisted_cubic_and_of_its_cousin_that_is_not_closed():
    cubic = ag.PolynomialMap(lambda s: [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3], {"s": 2})
    found = singularities(cubic)
    assert found.closed is True and found.as_json()["closed"] is True
    assert "M is closed (proved), over ℝ and over ℂ: φ is homogeneous of degree 3 in s" in found.closedness
    half = singularities(ag.PolynomialMap(lambda s: [s[0] ** 2, s[0] * s[1]], {"s": 2}))
    assert half.closed is None and half.closedness.endswith("Whether M is all of M̄ is not known.")


@pytest.mark.parametrize(
    ("network", "closed", "words"),
    [
        (ag.DeepNetwork((3, 1), (1,), t=3, heads=4), None, "Whether M is closed is open."),
        (ag.DeepNetwork((2, 1), (1,), t=3, heads=2), True, "M is closed (proved). M: all y_b vanish"),
        (ag.DeepNetwork((2, 2), (1,), t=3, heads=2), False, "M is not closed (proved)."),
        (ag.DeepNetwork((3, 1, 2), (2, 2), t=3), True, "M is closed (proved)."),
        (ag.DeepNetwork((2, 2, 2), (2, 2), t=3, heads=2), None, "Whether M is closed is not known."),
        (ag.DeepNetwork((2, 2, 1), (2, 2), t=3), False, "of dimension 7."),
    ],
    ids=str,
)
def test_closedness_in_a_word_and_in_a_sentence(network, closed, words):
    found = question.is_closed_set(network)
    assert found.closed is closed and words in found.sentence
    assert bool(found.limits) is (closed is False)


def test_a_range_of_dimensions_of_limits_is_said(monkeypatch):
    monkeypatch.setattr(question, "limit_set", lambda _: SimpleNamespace(dimension=7, upper_bound=8, first=1))
    found = question.is_closed_set(ag.DeepNetwork((2, 2, 1), (2, 2), t=3))
    assert found.sentence.endswith(
        "where M_1 tends to rank 1 and M_2 to a skew matrix, have limits that no "
        "weights reach, of dimension 7 to 8."
    )


def test_parameters_are_named_by_their_arrays():
    source = coefficient_map(ag.PolynomialMap(lambda A, b: A @ b, {"A": (2, 2), "b": 2}))
    blocks = {
        (0, 1, 2, 3): "A",
        (4, 5): "b",
        (0, 4, 5): "(b, a_(1,1))",
        (0, 1): "(a_(1,1), a_(1,2))",
        (0,): "a_(1,1)",
    }
    assert {block: question._block(source, block) for block in blocks} == blocks
