"""Learning coefficients of softmax networks between a jet and a fiber; Konda's value at factors zero."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import agattn as ag
from agattn.architectures import Acted, DeepNetwork, Jet, Symmetry
from agattn.geometry.learning_coefficients.brackets import bracket

SOFTMAX: Any = {"normalization": "softmax"}


def factors_zero(d: int, layers: int) -> tuple[DeepNetwork, dict[str, Any]]:
    """A network of heads of rank one and width d, with K_i = Q_i = 0 and V_i = 1."""
    network = DeepNetwork((d,) * (layers + 1), (1,) * layers, 2, **SOFTMAX)
    zero, one = [[[0] * d]], [np.eye(d, dtype=int).tolist()]
    letters = {"K": zero, "Q": zero, "V": one}
    return network, {name: letters[name[0]] for name in network.shapes}


class FixedValues(Jet, name="fixed values"):
    """The jet of a network of heads of rank one whose V_i are the identity: a polynomial map of K and Q."""

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: shape for name, shape in super().shapes.items() if name[0] != "V"}

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        layers = range(1, self.network.depth + 1)
        return tuple(Symmetry("GL(a)", 1, (Acted(f"K_{i}", -2, True), Acted(f"Q_{i}", -2))) for i in layers)

    def evaluate(self, arithmetic: Any, parameters: Any, X: Any) -> Any:
        d, layers = self.network.dims[0], range(1, self.network.depth + 1)
        values = {f"V_{i}": arithmetic.identity(d)[None] for i in layers}
        return super().evaluate(arithmetic, {**parameters, **values}, X)


@pytest.mark.parametrize(("d", "layers"), [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (2, 3)])
def test_at_factors_zero_the_coefficient_is_that_of_konda_at_every_depth(d, layers):
    """λ = d/2 of keys and queries, and d²/2 of the values, which are seen to first order."""
    found = bracket(*factors_zero(d, layers))
    assert (found.value, found.evidence) == (Fraction(d + d * d, 2), ag.Evidence.PROVED)
    assert any("in the jet of order 3" in reason for reason in found.reasons)


@pytest.mark.parametrize(
    ("d", "layers", "order"), [(1, 1, 3), (2, 1, 3), (3, 1, 3), (1, 2, 7), (2, 2, 3), (1, 3, 7)]
)
def test_the_same_with_fixed_values(d, layers, order):
    network, weights = factors_zero(d, layers)
    fixed = FixedValues(network, order)
    found = bracket(fixed, {name: weights[name] for name in fixed.shapes})
    assert (found.value, found.multiplicity) == (Fraction(d, 2), 2)


def test_one_layer_agrees_with_the_formula_of_softmax_heads():
    for weights in (
        {"K": [[0, 0]], "Q": [[0, 0]], "V": [[1, 0], [0, 1]]},
        {"K": [[1, 0]], "Q": [[0, 0]], "V": [[1, 0], [0, 1]]},
        {"K": [[1, 0]], "Q": [[0, 1]], "V": [[1, 2], [0, 1]]},
    ):
        head = ag.rlct(weights, softmax=True)
        network = DeepNetwork((2, 2), (1,), 2, **SOFTMAX)
        assert (
            bracket(network, {f"{letter}_1": array for letter, array in weights.items()}).value == head.value
        )


def test_a_collapsed_layer_lowers_the_coefficient():
    general, skew = [[1, 2], [3, 1]], [[0, 1], [-1, 0]]
    values = {"V_1": [[1, 1], [0, 1]], "V_2": [[1, 1]], "K_1": [[1, 0], [0, 1]], "K_2": [[1, 0], [0, 1]]}
    network = DeepNetwork((2, 2, 1), (2, 2), 2, **SOFTMAX)
    for Q_1, expected in ((general, 5), (skew, 3)):
        found = ag.rlct(network, {**values, "Q_1": Q_1, "Q_2": general})
        assert (found.value, found.multiplicity) == (expected, 1)
