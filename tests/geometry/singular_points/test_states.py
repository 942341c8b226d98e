"""Equations and singular points of the smallest layers with shared keys, a delta rule and a gate.

The page on today's attention proves where they are singular. The tangent spaces at one point of each kind are
bounded here by the equations that are found natively; engines find the same ideals.
"""

from fractions import Fraction

import numpy as np
import pytest

import agattn as ag
from agattn.algebra.echelon import rational_rank
from agattn.geometry.singular_points.arguments import ModelClosure

U, W, Z, X = [1, 2], [3, -1], [2, 5], [1, 7]


def closure(rule):
    return ModelClosure.of(ag.Network([ag.Recurrence(1, 1, rule)], 2, 2))


@pytest.fixture(scope="module")
def delta():
    return closure("delta")


@pytest.fixture(scope="module")
def gate():
    return closure("scalar-gate")


def values(closure, v, k, q, w=None):
    arrays = {"V_1": [[v]], "K_1": [[k]], "Q_1": [[q]]} | ({} if w is None else {"w_1": [w]})
    weights = {name: np.array(rows, dtype=object) for name, rows in arrays.items()}
    return np.array([Fraction(str(x)) for x in closure.source.values(weights)], dtype=object)


def tangent(closure, y):
    """The dimension of the space on which all differentials vanish; the equations vanish at the point."""
    point = {(0,): 1} | {(k,): x for k, x in enumerate(y, 1) if x}
    for equation in closure.equations:
        terms = (
            c * np.prod([point.get(name, 0) for name in names], initial=1)
            for names, c in equation.terms.items()
        )
        assert sum(terms) == 0
    gradients = [equation.gradient(point) for equation in closure.equations]
    return len(y) - rational_rank([[g.get((k,), 0) for k in range(1, len(y) + 1)] for g in gradients])


@pytest.mark.parametrize(("v", "k", "q"), [(U, W, Z), (W, W, Z), (U, W, W), (W, U, W), (W, W, W)])
def test_a_delta_rule_is_singular_at_linear_attention(delta, v, k, q):
    one, other = values(delta, v, k, q), values(delta, v, [2 * x for x in k], q)
    cubic, quintic = (8 * one - other) / 6, (other - 2 * one) / 6  # of degree 1 and 3 in K
    assert tangent(delta, cubic) == 6
    assert tangent(delta, quintic) == (8 if v == k == q else 5)
    assert {tangent(delta, one), tangent(delta, cubic - quintic)} == {5}


@pytest.mark.parametrize(
    ("v", "k", "q", "w"), [(U, W, Z, X), (W, W, Z, X), (U, W, Z, Z), (W, W, W, X), (W, W, W, W)]
)
def test_a_gate_is_singular_where_one_part_is_zero(gate, v, k, q, w):
    f, closed = values(gate, v, k, q, w), values(gate, v, k, q, [0, 0])
    assert (tangent(gate, closed), tangent(gate, f - closed), tangent(gate, f)) == (10, 7, 6)


def test_exchanged_arrays_are_other_branches():
    """v, k and q are any three factors of one cubic form where the gate is 0: three branches, each of 6."""
    found = ag.singularities(ag.Network([ag.Recurrence(1, 1, "scalar-gate")], 2, 2))["w_1 = 0"]
    assert (found.differential_rank, found.tangent_lower, found.argument) == (6, 10, "several branches")
    assert found.singular and str(found.evidence) == "proved"


@pytest.mark.slow
@pytest.mark.engine("singular", "macaulay2")
@pytest.mark.parametrize("engine", ["singular", "macaulay2"])
@pytest.mark.parametrize(
    ("layer", "dimension", "degree", "equations"),
    [
        (ag.Attention(1, 1, heads=2, kv_heads=1, value_rank=1), 4, 3, 3),
        (ag.Recurrence(1, 1, "delta"), 5, 48, 80),
        (ag.Recurrence(1, 1, "scalar-gate"), 6, 30, 43),
    ],
)
def test_engines_find_no_other_equations(layer, dimension, degree, equations, engine):
    model = ag.Network([layer], 2, 2)
    answer = ag.run(model, "implicit-ideal", engine).as_json()["answer"]
    assert (answer["dimension"], answer["degree"]) == (dimension, degree)
    assert len(answer["generators"]) == equations
    native = ag.ideal(model, 3)
    assert sum(row.minimal_generators for row in native.degrees) == equations
