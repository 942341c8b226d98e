"""Groups from contractions: they leave the function as it is, and none of the known groups is missed."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layers_by_hand import compared, rank

from agattn import (
    Attention,
    Convolution,
    DeepNetwork,
    Linear,
    Network,
    Perceptron,
    Power,
    SingleLayer,
    Skip,
    Sum,
)
from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.residues import random_residues
from agattn.architectures import draw_parameters
from agattn.architectures.contractions import ShadowArithmetic, contractions, gauge_groups
from agattn.architectures.protocol import symmetry_tangents
from agattn.geometry.dimension.formulas import symmetry_bound

P = 1_000_003


sizes, few = st.integers(1, 4), st.integers(1, 2)


@settings(max_examples=40, deadline=None)
@given(st.lists(sizes, min_size=2, max_size=3), sizes, few, few, st.sampled_from([None, 1, 2]), st.booleans())
def test_networks_of_attention_have_the_groups_of_the_paper(dims, a, t, heads, value_rank, softmax):
    normalization = "softmax" if softmax else "none"
    network = DeepNetwork(
        dims, [a] * (len(dims) - 1), t, heads=heads, value_rank=value_rank, normalization=normalization
    )
    known, shown, both = compared(network)
    assert known == shown == both


@settings(max_examples=40, deadline=None)
@given(sizes, sizes, st.lists(st.integers(1, 7), min_size=1, max_size=3), st.booleans())
def test_powers_and_their_sums_have_the_groups_of_the_network(d, width, powers, is_skip):
    """Of high powers only a few of the equal factors are kept."""
    between = [Skip(Power(r)) if is_skip else Power(r) for r in powers]
    known, _, both = compared(Network([Linear(width), *between, Linear(2)], dim=d))
    assert known <= both


@pytest.mark.parametrize("power", [4, 5, 10**9])
def test_a_huge_power_has_the_groups_of_a_small_one(power):
    def groups(r):
        found = gauge_groups(Network([Linear(3), Power(r), Linear(2)], dim=2))
        return sorted((one.name, one.size, len(one.on)) for one in found)

    assert groups(power) == groups(3)


@pytest.mark.parametrize(
    "architecture",
    [
        SingleLayer(3, 2, 2),
        SingleLayer(2, 3, 3),
        DeepNetwork((3, 3, 3), (2, 1), 2, heads=2, skip=True),
        Network([Attention(2, rank=2, mask="causal"), Linear(3)], dim=3, tokens=2),
        Network([Perceptron([3, 4, 2], degree=3, bias=True)], dim=3),
        Network([Convolution(2, degree=2, channels=2), Convolution(2, degree=2)], dim=1, tokens=5),
        Network([Attention(3, rank=2), Sum(), Perceptron([4, 3], degree=2)], dim=4, tokens=2),
        Network([Convolution(2, degree=2), Linear(2)], dim=5),
        Network([Linear(2), Power(2), Linear(1)], dim=2),
    ],
    ids=str,
)
def test_layers_of_all_kinds_have_their_known_groups(architecture):
    known, shown, both = compared(architecture)
    assert known == shown == both


ROTARY = [
    (Attention(2, rank=4, heads=2, rotary=True), 4),
    (Attention(3, rank=2, rotary=True, mask="causal", skip=True), 1),
    (Attention(3, rank=4, rotary=True, normalization="softmax"), 2),
    (Attention(2, rank=4, heads=4, kv_heads=2, value_rank=2, rotary=True), 4),
    (Attention(2, rank=2, heads=2, value_rank=1, kv_latent=3, q_latent=2, rotary=True), 2),
    (Attention(2, rank=5, heads=2, rotary=1), 2),
    (Attention(2, rank=3, heads=4, kv_heads=2, value_rank=2, rotary=1, normalization="softmax"), 2),
]


@pytest.mark.parametrize(("layer", "pairs"), ROTARY, ids=lambda one: str(one))
def test_what_commutes_with_rotary_positions_are_complex_numbers(layer, pairs):
    """A factor and a rotation of each pair are shown by the contractions, and so derived of the layer."""
    network = Network([layer], dim=3, tokens=3)
    known, shown, both = compared(network)
    assert shown == both == known
    turned = [group for group in gauge_groups(network) if group.name == "O(2)"]
    assert len(turned) == pairs and all(group.size == 2 and group.is_orthogonal for group in turned)
    weights = draw_parameters(network, lambda s: random_residues(np.random.default_rng(1), s, P))
    factors = [group for group in network.symmetries if not group.is_orthogonal]
    assert rank(symmetry_tangents(network, weights, P, factors)) == shown - pairs


def test_an_array_that_meets_itself_after_turns_leaves_the_rotations_alone():
    def gram(arithmetic, arrays, X):
        Y, powers = arithmetic.matmul(arrays["B"], X), np.ones((2, 2, 2), dtype=object)
        return arithmetic.turned_products(Y, Y, powers)

    assert names(Alone({"B": (4, 3)}, gram)) == ["O(2) on B", "O(2) on B"]


def test_both_rows_of_a_pair_that_is_turned_have_the_same_factor():
    def entrywise(arithmetic, arrays, X):
        mul, powers = arithmetic.matmul, np.array([[[3, 5], [2, 7]], [[4, 1], [9, 8]]], dtype=object)
        keys = mul(arithmetic.times(arrays["B"], arrays["C"]), X)
        return arithmetic.turned_products(keys, mul(arrays["Q"], X), powers)

    model = Alone({"B": (4, 3), "C": (4, 3), "Q": (4, 3)}, entrywise)
    _, shown, _ = compared(model)
    assert shown == 4 * 3 + 2  # a factor between B and C at each entry, and between B and Q for each pair


def test_the_matrix_before_skip_connections_and_the_matrix_after_them_can_be_changed_together():
    block = [Attention(3, rank=2, skip=True), Perceptron([4, 3], degree=2, skip=True)]
    network = Network([Linear(3), *block, Linear(2)], dim=4, tokens=2)
    known, shown, both = compared(network)
    assert (known, shown, both) == (9, 18, 18)  # GL(3) acts on W_1, all of the blocks, and W_4
    assert symmetry_bound(network).value == network.parameters - 18


class Alone(Network):
    """A model that computes one formula of its arrays."""

    def __init__(self, shapes, formula, dim=3, tokens=2):
        super().__init__([Linear(1)], dim, tokens)
        object.__setattr__(self, "arrays", shapes)
        object.__setattr__(self, "formula", formula)

    shapes = property(lambda self: self.arrays)
    output_shape = property(lambda self: self.evaluate(ModularArithmetic(P), *self._zero()).shape[1:])
    degree = 9

    def _zero(self):
        weights: Mapping = {name: np.zeros(shape) for name, shape in self.arrays.items()}
        return weights, np.zeros((1, self.dim, self.tokens))

    def evaluate(self, arithmetic, parameters, X):
        return self.formula(arithmetic, parameters, X)


def names(architecture):
    return sorted(str(group) for group in gauge_groups(architecture))


def test_an_array_that_meets_itself_leaves_the_orthogonal_group():
    def gram(arithmetic, arrays, X):
        Y = arithmetic.matmul(arrays["B"], X)
        return arithmetic.matmul(Y.swapaxes(-1, -2), Y)

    model = Alone({"B": (3, 3)}, gram)
    assert names(model) == ["O(3) on B"]
    assert compared(model)[1] == 3


def test_heads_that_share_keys_are_mixed():
    def grouped(arithmetic, arrays, X):
        mul = arithmetic.matmul
        state = mul(mul(arrays["P"], X), mul(arrays["K"], X).swapaxes(-1, -2))
        heads = mul(mul(arrays["O"], state[:, None]), mul(arrays["Q"], X[:, None]))
        return arithmetic.clean(heads.sum(axis=-3))

    model = Alone({"K": (2, 4), "P": (2, 4), "Q": (3, 2, 4), "O": (3, 2, 2)}, grouped, dim=4)
    assert names(model) == ["GL(2) on K, Q", "GL(2) on O, P", "GL(3) on O, Q"]
    # 16 + 24 + 12 parameters less the orbits are a(d−a) + b(d−b) + s(ad + bd' − s)
    assert model.arrays and 52 - compared(model)[1] == 2 * 2 + 2 * 2 + 3 * (2 * 4 + 2 * 2 - 3)


def test_what_has_no_rule_is_an_error_and_not_a_group():
    def broadcast(arithmetic, arrays, X):
        return arithmetic.times(arrays["b"], X)

    with pytest.raises(NotImplementedError):
        contractions(Alone({"b": (1, 2)}, broadcast))


@pytest.mark.parametrize(
    "formula",
    [
        lambda arithmetic, arrays, X: arithmetic.matmul(np.transpose(arrays["A"]), X),
        lambda arithmetic, arrays, X: arithmetic.clean(X + np.broadcast_to(arrays["A"][..., :1], (1, 3, 2))),
        lambda arithmetic, arrays, X: arithmetic.matmul(arrays["B"], arrays["A"] / np.array([[1], [2], [4]])),
        lambda arithmetic, arrays, X: arithmetic.matmul(arrays["A"], X) / X.sum(axis=-2, keepdims=True),
        lambda arithmetic, arrays, X: arithmetic.clean(2 * arithmetic.matmul(arrays["A"], X)),
        lambda arithmetic, arrays, X: arithmetic.matmul(arrays["A"].reshape(3, 3), X),
    ],
    ids=["transpose", "broadcast_to", "constants", "norm", "number", "reshape"],
)
def test_what_numpy_does_on_its_own_shows_no_group(formula):
    with pytest.raises(NotImplementedError):
        contractions(Alone({"A": (3, 3), "B": (3, 3)}, formula))


def test_constants_and_the_softmax_fix_what_they_meet():
    record = contractions(Network([Linear(2)], dim=3))
    arithmetic = ShadowArithmetic(record)
    assert arithmetic.identity(2).shape == arithmetic.constant(np.eye(2)).shape == (2, 2)
    softmax = DeepNetwork((3, 2), (2,), 2, normalization="softmax")
    assert names(softmax) == ["GL(2) on K_1, Q_1"]
    assert names(DeepNetwork((3, 2), (2,), 2)) == ["GL(2) on K_1, Q_1", "scaling on K_1, V_1"]
