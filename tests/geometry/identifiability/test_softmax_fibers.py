"""Fibers of softmax networks: collapsed layers, free scores, and comparisons with other weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest
from command_line import document

import agattn as ag
from agattn.algebra.arithmetic import BallArithmetic
from agattn.architectures import DeepNetwork
from agattn.errors import UndecidedError
from agattn.experiments.training.experiment import Experiment
from agattn.experiments.training.teachers import Data, Teacher
from agattn.experiments.training.training import train
from agattn.geometry.identifiability import virtual_weights
from agattn.geometry.identifiability.network_fibers import network_fiber, weights_of

SOFTMAX: Any = {"normalization": "softmax"}
THREE = DeepNetwork((2, 2, 2, 2), (2, 2, 2), 2, **SOFTMAX)
EXAMPLE = Path(__file__).parents[3] / "examples" / "collapse.json"
SKEW, ZERO, ONE = [[0, 1], [-1, 0]], [[0, 0], [0, 0]], [[1, 0], [0, 1]]
GENERAL = [[1, 2], [3, 1]]


def weights(*scores: Any) -> dict[str, Any]:
    """Weights of a network of width 2 with these A_i."""
    given = {f"A_{i}": A for i, A in enumerate(scores, 1)}
    return given | {f"V_{i}": [[1, i], [0, 1]] for i in range(1, len(scores) + 1)}


def values(network: DeepNetwork, given: dict[str, Any]) -> np.ndarray:
    """The function at three inputs, in balls."""
    rational = np.vectorize(lambda x: flint.arb(flint.fmpq(x.numerator, x.denominator)), otypes=[object])
    X = np.random.default_rng(1).integers(-2, 3, (3, *network.input_shape))
    with flint.ctx.workprec(200):
        theta = {name: rational(array) for name, array in given.items()}
        return np.asarray(network.evaluate(BallArithmetic(), theta, rational(X.astype(object))))


def agree(network: DeepNetwork, one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the balls of all values overlap, which are narrow."""
    pairs = list(zip(values(network, one).ravel(), values(network, other).ravel(), strict=True))
    assert all(float(x.rad()) < 1e-40 for pair in pairs for x in pair)
    return all(x.overlaps(y) for x, y in pairs)


def test_two_tokens_with_a_skew_first_score_have_free_later_scores():
    found = document(
        "fiber", "--dims", "2,2,2,2", "--ranks", "2,2,2", "-t", "2", "--normalization", "softmax", EXAMPLE
    )
    (component,) = found["components"]
    assert (found["case"], component["free"]) == ("collapsed", ["K_2", "Q_2", "K_3", "Q_3"])
    assert (found["dimension"], found["upper_bound"], found["dimension_evidence"]) == (28, 28, "proved")
    assert found["elsewhere"].endswith(
        "a preprint of 2026 (Konda) claims a proof (Theorem 2), which is not checked here."
    )


def test_free_scores_are_free_and_others_are_not():
    through = network_fiber(THREE, weights(SKEW, GENERAL, GENERAL))
    at = through.weights.exact()
    moved = through.move(K_2=[[5, 1], [2, 2]], Q_3=[[1, 1], [7, 0]], symmetries={3: [[2, 1], [1, 1]]})
    assert agree(THREE, at, moved) and through.contains(moved)
    other = weights_of(through.weights.architecture, weights([[0, 2], [-2, 0]], GENERAL, GENERAL)).exact()
    assert not agree(THREE, at, other) and not through.contains(other)
    compared = through.compare(other)
    assert (compared.equal, str(compared.evidence)) == (False, "proved")


@pytest.mark.parametrize(
    ("t", "scores", "case", "free", "dimension"),
    [
        (2, (GENERAL, GENERAL), "symmetries", 0, 12),
        (2, (SKEW, GENERAL), "collapsed", 2, 16),
        (2, (GENERAL, SKEW), "symmetries", 0, 12),
        (3, (SKEW, GENERAL), "symmetries", 0, 12),
        (1, (GENERAL, GENERAL), "one token", 4, 20),
    ],
)
def test_cases_of_two_layers(t, scores, case, free, dimension):
    found = network_fiber(DeepNetwork((2, 2, 2), (2, 2), t, **SOFTMAX), weights(*scores))
    (component,) = found.components
    assert (found.case, len(component.free)) == (case, free)
    assert (found.dimension, found.upper_bound) == (dimension, dimension)


def test_a_score_of_zero_collapses_with_three_tokens():
    network = DeepNetwork((2, 2, 2), (2, 2), 3, **SOFTMAX)
    found = network_fiber(network, weights(ZERO, GENERAL))
    assert found.case == "collapsed" and found.components[0].free == ("K_2", "Q_2")
    assert "a preprint of 2026 (Konda) claims a proof (Theorem 3)" in str(found.elsewhere)
    moved = found.move(K_2=[[5, 1], [2, 2]])
    assert agree(network, found.weights.exact(), moved)
    deep = DeepNetwork((2, 2, 2, 2), (2, 2, 2), 3, **SOFTMAX)
    assert "is open for three tokens" in str(network_fiber(deep, weights(GENERAL, ZERO, ONE)).elsewhere)
    assert "Theorem 1" in str(network_fiber(deep, weights(GENERAL, GENERAL, SKEW)).elsewhere)


def test_the_function_zero():
    found = network_fiber(THREE, weights(GENERAL, GENERAL, GENERAL) | {"V_2": ZERO})
    assert found.case == "zero" and len(found.components[0].free) == 6
    assert found.dimension >= 32 and "scores are never seen" in str(found.elsewhere)


def test_general_weights_are_decided_by_the_jet():
    found = ag.identifiability(DeepNetwork((2, 2, 1), (2, 2), 2, **SOFTMAX), ["V_2 V_1"])
    assert {str(found[name].status) for name in ("K_1^T Q_1", "V_2 V_1")} == {"locally"}
    assert found["V_1^T K_2^T Q_2 V_1"].is_determined and not found["K_2^T Q_2"].is_determined
    assert (found.fiber_dimension, str(found.fiber_evidence)) == (12, "proved")
    assert found.as_json()["architecture"]["normalization"] == "softmax"
    assert "the jet of order 7 has the dimension 10 of the network" in str(found.decided_by)


def test_identifiability_says_where_no_jet_decides():
    heads = DeepNetwork((3, 1), (2,), 2, heads=2, **SOFTMAX)
    with pytest.raises(UndecidedError, match=r"a rank of 19, and M.* a dimension of at most 22"):
        ag.identifiability(heads)


def test_floats_see_the_scores_before_a_collapsed_layer_alone():
    draw = np.random.default_rng(0).standard_normal
    given = {name: draw(shape) for name, shape in THREE.shapes.items()}
    general = virtual_weights.sensitivities(THREE, given)
    assert general is not None and min(general) > 1e-4
    given["K_2"], given["Q_2"] = np.eye(2)[None], np.array([SKEW], dtype=float)
    found = virtual_weights.sensitivities(THREE, given)
    assert found is not None and min(found[:2]) > 1e-4 and found[2] < 1e-12
    assert virtual_weights.sensitivities(DeepNetwork((30, 30), (2,), 2, **SOFTMAX), {}) is None
    assert virtual_weights.sensitivities(DeepNetwork((2, 2), (2,), 2, heads=2, **SOFTMAX), {}) is None


def test_a_trained_run_says_whose_scores_are_seen():
    def run(**options: Any) -> Any:
        network = DeepNetwork((2, 2, 2), (2, 2), 2, **options)
        data = Data(samples=5)
        experiment = Experiment(network, Teacher(), data, method="untrained", seeds=(0,), scale=0.1)
        return train(experiment)[0]

    seen = run(**SOFTMAX)["scores_seen"]
    assert seen is not None and len(seen) == 2 and 1e-12 < seen[1] < seen[0]
    assert "scores_seen" not in run()


def test_only_scores_that_are_not_seen_are_free():
    for first, text in ((GENERAL, "the orbit"), (SKEW, "L, M_1 as they are, K_2, Q_2, K_3, Q_3 free")):
        (component,) = network_fiber(THREE, weights(first, GENERAL, GENERAL)).components
        assert component.parametrization == text
