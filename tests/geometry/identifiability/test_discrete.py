"""Finite symmetries: which are found, that they are symmetries, and the Smith form behind roots of unity."""

import itertools

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.residues import random_residues
from agattn.architectures import draw_parameters
from agattn.geometry.identifiability.symmetries import discrete_symmetries, prime_with_roots, torsion


def cubic(s):
    return [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3]


@pytest.mark.parametrize(
    ("architecture", "said"),
    [
        (ag.SingleLayer(3, 2, 2), []),
        (ag.DeepNetwork((3, 3), (2,), t=2, heads=3), ["permutations of 3 on K_1, Q_1, V_1"]),
        (
            ag.Network([ag.Attention(2, rank=2, heads=2, rotary=True, value_rank=1)], dim=3, tokens=2),
            ["permutations of 2 on K_1, Q_1, O_1, P_1"],
        ),
        (
            ag.Network([ag.Perceptron([3, 2, 2], degree=3)], dim=4),
            ["permutations of 3 on W_1_1, W_1_2", "permutations of 2 on W_1_2, W_1_3"],
        ),
        (ag.Network([ag.Linear(2), ag.Linear(2)], dim=2), []),  # GL(2) has all permutations
        (
            ag.PolynomialMap(lambda K, X: X.T @ K.T @ K @ X, {"K": (2, 3)}, (3, 2)),
            ["reflections in O(2) on K"],
        ),
        (ag.PolynomialMap(cubic, {"s": 2}), ["roots of unity of order 3 on s"]),
        (ag.PolynomialMap(lambda a, b: a * a * b, {"a": 1, "b": 1}), []),  # (−1, 1) is in a torus
        (ag.PolynomialMap(lambda a, b: a * a * b * b, {"a": 1, "b": 1}), ["signs on a"]),
        (ag.PolynomialMap(lambda a, b: [a[0] ** 2, a[0] * b[0]], {"a": 1, "b": 1}), ["signs on a, b"]),
    ],
)
def test_finite_symmetries(architecture, said):
    found = discrete_symmetries(architecture)
    assert [str(one) for one in found] == said
    for symmetry in found:
        generator = np.random.default_rng(3)
        p = prime_with_roots(symmetry.root, generator)
        theta = draw_parameters(architecture, lambda shape: random_residues(generator, shape, p))  # noqa: B023
        X = random_residues(generator, (2, *architecture.input_shape), p)
        value = architecture.evaluate(ModularArithmetic(p), theta, X) % p
        for move in symmetry.generators:
            moved = move(theta, p)
            assert any((moved[name] != theta[name]).any() for name in symmetry.arrays)
            assert (architecture.evaluate(ModularArithmetic(p), moved, X) % p == value).all()


def test_orders():
    (heads,) = discrete_symmetries(ag.DeepNetwork((3, 3), (2,), t=2, heads=4))
    (roots,) = discrete_symmetries(ag.PolynomialMap(cubic, {"s": 2}))
    assert (heads.order, heads.root, roots.order, roots.root) == (24, 1, 3, 3)
    assert heads.as_json() == {
        "name": "permutations", "arrays": ["K_1", "Q_1", "V_1"], "size": 4, "order": 24,
    }  # fmt: skip


entries = st.integers(-4, 4)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(entries, min_size=3, max_size=3), min_size=1, max_size=4))
def test_torsion_is_that_of_the_smith_form(rows):
    """The orders multiply to the product of FLINT's elementary divisors, and each vector is a solution."""
    found = torsion(rows, 3)
    smith = flint.fmpz_mat(rows).snf()
    divisors = [abs(int(smith[i, i])) for i in range(min(len(rows), 3))]
    assert np.prod([order for order, _ in found], dtype=int) == np.prod([d for d in divisors if d], dtype=int)
    for order, vector in found:
        assert all(sum(x * y for x, y in zip(row, vector, strict=True)) % order == 0 for row in rows)
    # A multiple of a vector that is a whole one is one by the order: the group is cyclic of this order.
    for (order, vector), k in itertools.product(found, range(1, 4)):
        assert all(k * x % order == 0 for x in vector) == (k % order == 0)
