"""Which symmetry connects two weights: moved at random by a group, each is found again."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn.architectures import Architecture
from agattn.evidence import Evidence
from agattn.geometry.identifiability.families import ExactWeights
from agattn.geometry.identifiability.network_fibers import network_fiber
from agattn.geometry.identifiability.symmetries import act, connecting
from agattn.geometry.identifiability.weights import rational_inverse

MODELS = [
    ag.Network([ag.Perceptron([3, 2], degree=2), ag.Perceptron([2, 1], degree=3)], dim=3),
    ag.Network([ag.Attention(3, rank=2, heads=2, mask="causal"), ag.Perceptron([4, 1], degree=2)], 3, 2),
    ag.Network(
        [ag.Attention(2, rank=1, value_rank=2, mask="causal"), ag.Linear(2), ag.Sum()], dim=2, tokens=2
    ),
    ag.Network([ag.Convolution(2, degree=2), ag.Convolution(2, degree=1)], dim=1, tokens=4),
    ag.Network([ag.Attention(2, rank=2, rotary=True, skip=True), ag.Perceptron([2, 1], degree=2)], 2, 2),
    ag.Network([ag.Bilinear(3, 2), ag.Bilinear(2, 2)], dim=4),
    ag.Network([ag.Attention(3, rank=1, skip=True), ag.Bilinear(3, 3, skip=True)], 3, 2),
]


def general(model: Architecture, generator: np.random.Generator) -> dict[str, Any]:
    numbers = [x for x in range(-9, 10) if x]
    weights = {name: generator.choice(numbers, shape).astype(object) for name, shape in model.shapes.items()}
    for array in weights.values():
        for matrix in array.reshape(-1, *array.shape[-2:]):
            assume(flint.fmpz_mat(matrix.tolist()).rank() == min(matrix.shape))
    return weights


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_random_symmetries_are_found_again(seed: int) -> None:
    generator = np.random.default_rng(seed)
    model = MODELS[seed % len(MODELS)]
    weights = general(model, generator)
    one = ExactWeights(model, weights)
    moved = one.exact()
    for symmetry in model.symmetries:
        if symmetry.is_orthogonal:
            continue  # a rotation of a pair of rows, which is not found together with its factor
        n, unit = symmetry.size, np.eye(symmetry.size, dtype=int)
        lower, upper = unit + np.tril(generator.integers(-2, 3, (2, n, n)), -1)
        g = (lower * generator.choice([-2, -1, 1, 3], n) @ upper.T).astype(object) * Fraction(1)
        act(moved, symmetry, g, rational_inverse(g))
    if "W_1_1" in moved:  # and permute neurons
        order = generator.permutation(len(moved["W_1_1"]))
        moved |= {"W_1_1": moved["W_1_1"][order], "W_1_2": moved["W_1_2"][:, order]}
    for G, U, D in (("G_1", "U_1", "D_1"), ("G_2", "U_2", "D_2")):
        if G in moved:  # and neurons of bilinear layers, and exchange their forms
            order = generator.permutation(len(moved[G]))
            is_exchanged = generator.integers(0, 2, len(moved[G]))
            forms = np.where(is_exchanged[:, None], (moved[U], moved[G]), (moved[G], moved[U]))
            moved |= {G: forms[0][order], U: forms[1][order], D: moved[D][:, order]}
    if moved.get("K_1") is not None and len(moved["K_1"]) > 1:  # and heads
        moved |= {name: moved[name][::-1].copy() for name in ("K_1", "Q_1", "V_1")}
    steps = connecting(one, ExactWeights(model, moved))
    assert steps is not None
    known = {"heads", "neurons", "exchanges"} | {symmetry.name for symmetry in model.symmetries}
    assert {step.name for step in steps} <= known
    moved[next(iter(moved))][..., 0, 0] += 1
    assert connecting(one, ExactWeights(model, moved)) is None


def test_what_no_symmetry_connects() -> None:
    model = ag.Network([ag.Perceptron([2, 1], degree=2)], dim=2)
    one = {"W_1_1": [[3, 4], [0, 1]], "W_1_2": [[1, 1]]}
    turned = {"W_1_1": [["9/5", "12/5"], [4, 3]], "W_1_2": [[1, 1]]}
    found = network_fiber(model, {**one, "W_1_1": [[1, 0], [0, 1]]}).compare(
        {**one, "W_1_1": [["3/5", "4/5"], ["-4/5", "3/5"]]}
    )  # x² + y², turned
    assert found.equal and found.symmetry is None
    assert str(found) == "the same function (proved); no known symmetry was found"
    assert connecting(ExactWeights(model, one), ExactWeights(model, turned)) is None
    assert connecting(ExactWeights(model, one), ExactWeights(model, one)) == ()


def test_where_symbols_are_too_many_a_symmetry_is_a_proof() -> None:
    model = ag.Network([ag.Perceptron([8, 8, 8, 1], degree=3)], dim=6)
    generator = np.random.default_rng(0)
    weights = {name: generator.integers(1, 9, shape).astype(object) for name, shape in model.shapes.items()}
    moved = {**weights, "W_1_1": -weights["W_1_1"][::-1], "W_1_2": -weights["W_1_2"][:, ::-1]}
    same = network_fiber(model, weights).compare(moved)
    assert same.equal and same.evidence is Evidence.PROVED and same.error == 0
    assert "neurons 8, 7, 6, 5, 4, 3, 2, 1 with factors −1" in same._repr_html_()
    (step,) = same.symmetry or ()
    assert step.order == (8, 7, 6, 5, 4, 3, 2, 1) and set(step.matrix[0]) == {-1}
