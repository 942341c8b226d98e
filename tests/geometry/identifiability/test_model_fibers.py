"""Fibers of models: against the literature, against each other, and both answers of a comparison."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn.architectures import Architecture
from agattn.evidence import Evidence
from agattn.geometry.identifiability import families
from agattn.geometry.identifiability.network_fibers import network_fiber
from agattn.geometry.identifiability.symmetries import MAX_SEARCHED

GRASSMANN = ag.PolynomialMap(
    lambda M: [M[0, i] * M[1, j] - M[0, j] * M[1, i] for i in range(4) for j in range(i)], {"M": (2, 4)}
)
CONVOLUTION = ag.Network([ag.Convolution(3, degree=2), ag.Convolution(2, degree=2)], dim=1, tokens=5)
BLOCK = ag.Network(
    [ag.Attention(2, rank=2, mask="causal", rotary=True, skip=True), ag.Perceptron([2, 1], degree=2)],
    dim=2, tokens=2,
)  # fmt: skip


def general(model: Architecture, seed: int = 0) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    return {name: generator.choice([-3, -2, -1, 1, 2, 3], shape) for name, shape in model.shapes.items()}


def test_rotations_of_pairs_are_known_where_no_search_is_made():
    """A factor and a rotation for each of three pairs, and the factor between A and V."""
    model = ag.Network([ag.Attention(6, rank=6, rotary=True)], dim=8, tokens=3)
    assert model.parameters > MAX_SEARCHED
    found = network_fiber(model, general(model))
    assert (found.orbit_dimension, found.dimension) == (7, 7)
    assert {moved.name: moved.dimension for moved in found.symmetries} == {"scaling": 4, "O(2)": 3}


@pytest.mark.parametrize(
    ("model", "dimension", "symmetries"),
    [
        (GRASSMANN, 3, (("new", 3),)),  # SL(2)
        (CONVOLUTION, 1, (("neuron", 1),)),  # Shahverdi, Marchetti, Kohn: one factor between two filters
        (ag.Network([ag.Linear(2), ag.Linear(3)], dim=3), 4, (("GL(d)", 4),)),
        (ag.Network([ag.Perceptron([4, 1], degree=2)], dim=2), 9, (("neuron", 4),)),  # forms: 3 of 12
    ],
)
def test_general_weights(model: Architecture, dimension: int, symmetries: Any) -> None:
    found = ag.fiber(model, general(model))
    assert (found.dimension, found.upper_bound, found.evidence) == (dimension, dimension, Evidence.PROVED)
    moved = [(symmetry.name, symmetry.dimension) for symmetry in found.symmetries]
    assert tuple(moved[: len(symmetries)]) == symmetries
    assert found.dimension == model.parameters - ag.dimension(model).dimension


def test_deep_linear_networks_at_lower_rank() -> None:
    """At W_1 = W_2 = C = diag(1, 0) two components of W_2 W_1 = C meet: W_1 = W_2⁻¹ C, and the other way."""
    model = ag.Network([ag.Linear(2), ag.Linear(2)], dim=2)
    found = ag.fiber(model, {"W_1": [[1, 0], [0, 0]], "W_2": [[1, 0], [0, 0]]})
    assert found.differential_rank == 3 and found.dimension == 4 < found.upper_bound == 5


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6))
def test_moving_along_a_fiber_keeps_the_function(seed: int) -> None:
    generator = np.random.default_rng(seed)
    model = [GRASSMANN, CONVOLUTION, BLOCK][seed % 3]
    weights = general(model, seed)
    name = [*model.shapes][seed % len(model.shapes)]
    weights[name][..., :1, :] = 0  # a row, so that there are directions
    found = ag.fiber(model, weights)
    assert found.orbit_dimension <= found.dimension <= found.upper_bound
    count = len(found.components[0].vectors)
    moved = found.move(along=generator.integers(-3, 4, count).tolist())
    same = found.compare(moved)
    assert same.equal and same.evidence is Evidence.PROVED


def test_a_perceptron_is_compared_by_hand() -> None:
    model = ag.Network([ag.Perceptron([2, 1], degree=3)], dim=2)
    found = network_fiber(model, {"W_1_1": [[1, 2], [3, 1]], "W_1_2": [[2, 5]]})
    swapped = {"W_1_1": [[3, 1], [-1, -2]], "W_1_2": [[5, -2]]}
    assert found.contains(swapped)
    for x, y in product(range(3), repeat=2):
        assert 2 * (x + 2 * y) ** 3 + 5 * (3 * x + y) ** 3 == 5 * (3 * x + y) ** 3 - 2 * (-x - 2 * y) ** 3
    no = found.compare({**swapped, "W_1_2": [[5, 2]]})
    assert not no.equal and no.evidence is Evidence.PROVED


def test_where_symbols_are_too_many_equality_is_modular() -> None:
    model = ag.Network([ag.Perceptron([6, 6, 6, 1], degree=3)], dim=6)
    weights = general(model)
    weights["W_1_2"][:, 0] = 0  # so that the first neuron may be anything
    other = {**weights, "W_1_1": np.concatenate([[[1, 2, 3, 4, 5, 6]], weights["W_1_1"][1:]])}
    same = network_fiber(model, weights).compare(other)
    assert same.equal and same.evidence is Evidence.MODULAR and 0 < same.error < 1e-20


def test_a_dimension_by_constant_rank_is_proved_and_what_a_search_found_is_not(monkeypatch: Any) -> None:
    """Beyond the limit on monomials directions are constant modulo primes; the dimension is not theirs."""
    monkeypatch.setattr(families, "MOST_MONOMIALS", 0)
    squares = ag.Network([ag.Perceptron([3, 1], degree=2)], dim=2)
    found = network_fiber(squares, {"W_1_1": [[1, 2], [1, 2], [0, 1]], "W_1_2": [[1, 2, 1]]})
    assert found.is_exact and found.components[0].constant_rank
    assert (found.dimension_evidence, found.evidence) == (Evidence.PROVED, Evidence.MODULAR)
    assert 0 < found.error < 1e-20 and "6 of 9 dimensions (proved)" in str(found)
    document = found.as_json()
    assert (document["dimension_evidence"], document["evidence"]) == ("proved", "modular")
    zero = network_fiber(squares, {"W_1_1": [[1, 2], [1, 2], [0, 0]], "W_1_2": [[1, -1, 1]]})
    assert (zero.case, zero.case_evidence) == ("zero", Evidence.MODULAR)
