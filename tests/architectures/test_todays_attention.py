"""Groups, latents and recurrences: against their formulas, with their groups and dimensions."""

import numpy as np
import pytest
from layers_by_hand import compared, formula

import agattn as ag
from agattn.algebra.arithmetic import RingArithmetic
from agattn.architectures import draw_parameters
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.formulas import in_place, reduced
from agattn.geometry.identifiability.families import ExactWeights
from agattn.geometry.identifiability.symmetries import connecting

P = 1_000_003
RULES = ("sum", "decay", "scalar-gate", "diagonal-gate", "delta", "gated-delta")


def grouped(d, out, a, b, s, t=2, groups=1, **more):
    layer = ag.Attention(out, a, heads=groups * s, kv_heads=groups, value_rank=b, **more)
    return ag.Network([layer], d, t)


def latent(d, out, a, b, heads, r, rho, t=2, **more):
    layer = ag.Attention(out, a, heads=heads, value_rank=b, kv_latent=r, q_latent=rho, **more)
    return ag.Network([layer], d, t)


def state(d, out, a, rule, t=3, **more):
    return ag.Network([ag.Recurrence(out, a, rule, **more)], d, t)


MODELS = [
    grouped(3, 2, 2, 1, 2),
    grouped(3, 3, 2, 2, 2, 3, groups=2, rotary=True, mask="causal", skip=True),
    grouped(3, 2, 5, 2, 2, 3, rotary=1),
    grouped(3, 2, 2, 2, 2, 3, mask=[[1, 1, 0], [0, 1, 1], [1, 0, 1]]),
    latent(3, 2, 2, 1, 2, 2, 2),
    latent(4, 2, 2, None, 2, 3, None, 3, mask="causal"),
    latent(3, 3, 2, 2, 1, None, 2, 2, rotary=True, skip=True),
    latent(4, 2, 1, 1, 4, 3, 2, 2, kv_heads=2),
    *(state(3, 2, 2, rule, t) for rule in RULES for t in (1, 3)),
    state(3, 3, 2, "gated-delta", 3, heads=2, skip=True),
    state(2, 1, 2, "decay", 3, heads=2),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_layers_are_their_formulas(model):
    generator = np.random.default_rng(0)

    def draw(shape):
        return generator.integers(-3, 4, shape).astype(object)

    weights, X = draw_parameters(model, draw), draw((3, *model.input_shape))
    letters = {name.removesuffix("_1"): array for name, array in weights.items()}
    Y = model.evaluate(RingArithmetic(), weights, X)
    for x, y in zip(X, Y, strict=True):
        assert (formula(model.layers[0], letters, x) == y).all()


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_degrees_are_those_of_the_polynomials(model):
    """Along s ↦ φ(sX) and s ↦ φ_{sθ}(X) the values are polynomials of the degrees that are said."""
    generator = np.random.default_rng(1)

    def draw(shape):
        return generator.integers(1, 5, shape).astype(object)

    weights, X = draw_parameters(model, draw), draw((1, *model.input_shape))
    points = list(range(1, model.degree + 3))
    both = [model.evaluate(RingArithmetic(), {k: s * w for k, w in weights.items()}, s * X) for s in points]
    assert degree_through(points, both) == model.degree
    inputs = [model.evaluate(RingArithmetic(), weights, s * X) for s in points]
    assert degree_through(points, inputs) == max(model.input_degrees)


def degree_through(points, values):
    """The degree of the polynomial through values at 1, 2, 3, ...: differences until they are zero."""
    rows, degree = np.array(values).reshape(len(points), -1), -1
    while len(rows) and rows.any():
        rows, degree = np.diff(rows, axis=0), degree + 1
    return degree


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_declared_groups_are_those_of_the_contractions(model):
    declared, shown, both = compared(model)
    assert shown == both and (declared == shown or model.t == 1)  # one token has no gate


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (grouped(5, 3, 2, 2, 3), 51),
        (grouped(4, 4, 2, 2, 3, t=3), 47),
        (grouped(6, 2, 3, 2, 4), 89),
        (grouped(5, 4, 2, 1, 2, groups=2), 68),
        (grouped(6, 4, 2, 2, 2, groups=2), 104),
        (grouped(5, 1, 2, 3, 2), 32),  # P is b × d, and sd' < b of its rows are used
        (grouped(5, 3, 2, 2, 3, mask="causal"), 51),
        (grouped(5, 3, 2, 2, 3, rotary=True), 53),  # of GL(2) the complex numbers are left
        (grouped(4, 2, 3, 3, 5), 70),  # 71 by the groups: a + b > d, near the bound
        (grouped(2, 2, 1, 1, 2, groups=2), 10),  # 12: two products span the forms
        (grouped(3, 1, 1, 2, 2, groups=2), 17),  # 20: the forms vanish where both keys do
        (latent(7, 3, 2, 1, 2, 4, 4), 58),
        (latent(3, 3, 1, 1, 2, 1, None), 10),  # 11: a sum of two products of vectors
        (latent(3, 1, 1, 1, 2, 1, 3), 5),  # one form in C X, so one query
        (latent(6, 4, 2, 2, 3, 4, 3), 80),
        (latent(6, 3, 1, 2, 4, 3, 4), 69),
        *zip((state(4, 2, 2, rule) for rule in RULES), (19, 20, 23, 29, 22, 25), strict=True),
        (state(2, 2, 2, "diagonal-gate", t=2), 12),  # one less than at t = 3
        (state(2, 2, 2, "diagonal-gate", t=3), 13),
    ],
    ids=str,
)
def test_dimensions(model, expected):
    found = dimension(model)
    assert found.dimension == expected
    assert found.evidence is Evidence.PROVED or expected == 12


def test_softmax_does_not_mix_the_heads_of_a_group():
    assert dimension(grouped(3, 2, 1, 1, 2, normalization="softmax")).dimension == 14
    assert dimension(grouped(3, 2, 1, 1, 2)).dimension == 10  # s² less


def test_sizes_that_no_head_uses_are_left_out():
    large = latent(8, 3, 2, 1, 2, 9, 9)
    smaller = reduced(large)
    assert in_place(large, smaller) == "kv_latent 6 in place of 9, q_latent 4 in place of 9"
    assert dimension(large).dimension == dimension(smaller).dimension
    assert "kv_latent 6 in place of 9" in dimension(large).upper_bound_reason
    layer = reduced(grouped(3, 1, 1, 2, 6)).layers[0]
    assert (layer.heads, layer.kv_heads, layer.value_rank) == (2, 1, 2)


def test_the_symmetries_of_a_group_are_three_general_linear_groups():
    found = ag.symmetries(grouped(4, 2, 2, 2, 2))
    assert (found.dimension, found.center) == (12, 3)
    assert found.type == "sl(2) + sl(2) + sl(2) + center of dimension 3"


def test_the_state_of_a_delta_rule_is_turned_by_rotations():
    found = ag.symmetries(state(3, 1, 2, "delta", t=2))
    assert [(family.name, family.dimension) for family in found.families] == [("O(a)", 1), ("scaling", 1)]


def test_a_network_has_the_groups_between_such_layers():
    first, last = ag.Attention(3, 1, heads=2, kv_heads=1, value_rank=1), ag.Recurrence(2, 1, "delta")
    model = ag.Network(
        [first, ag.Attention(3, 1, value_rank=1, kv_latent=2, q_latent=2), last], dim=3, tokens=2
    )
    wires = [wire.symmetries()[0] for wire in model.wires]
    assert [str(one) for one in wires] == ["GL(d) on O_1, C_2, D_2", "GL(d) on O_2, K_3, Q_3, V_3"]
    found = dimension(model)
    assert found.lower_bound <= found.upper_bound < model.parameters


def test_only_rotations_connect_the_weights_of_a_delta_rule():
    """O(a) leaves the function as it is, and GL(a) does not."""
    model = state(3, 2, 2, "delta")
    generator = np.random.default_rng(0)
    weights = draw_parameters(model, lambda shape: generator.integers(1, 9, shape).astype(object))

    def moved(g):
        back = np.linalg.inv(g.astype(float)).round().astype(int).astype(object)
        return weights | {"K_1": back.T @ weights["K_1"], "Q_1": g @ weights["Q_1"]}

    turned, sheared = (moved(np.array(g, dtype=object)) for g in ([[0, 1], [-1, 0]], [[1, 1], [0, 1]]))
    steps = connecting(ExactWeights(model, weights), ExactWeights(model, turned))
    assert [step.name for step in steps] == ["O(a)"]
    assert connecting(ExactWeights(model, weights), ExactWeights(model, sheared)) is None


def test_weights_whose_heads_are_mixed_are_connected():
    model = grouped(3, 2, 2, 2, 2)
    generator = np.random.default_rng(0)
    weights = draw_parameters(model, lambda shape: generator.integers(1, 9, shape).astype(object))
    Q, O = weights["Q_1"], weights["O_1"]
    mixed = {
        "Q_1": np.stack([Q[:, 0] + Q[:, 1], Q[:, 1]], 1),
        "O_1": np.stack([O[:, 0], O[:, 1] - O[:, 0]], 1),
    }
    steps = connecting(ExactWeights(model, weights), ExactWeights(model, weights | mixed))
    assert "GL(s)" in [step.name for step in steps]


@pytest.mark.parametrize(
    ("layer", "d", "expected"),
    [
        (ag.Attention(2, 5, heads=2, value_rank=4), 3, ag.Attention(2, 3, heads=2, value_rank=2)),
        (ag.Attention(2, 5, heads=2, kv_heads=2), 3, ag.Attention(2, 3, heads=2, kv_heads=2)),
        (ag.Attention(2, 4, rotary=True), 3, ag.Attention(2, 4, rotary=True)),
        (ag.Attention(9, 2, value_rank=5), 3, ag.Attention(9, 2, value_rank=3)),
        (ag.Attention(1, 2, heads=4, kv_heads=2, value_rank=1), 3, ag.Attention(1, 2, heads=2, value_rank=1)),
    ],
)
def test_plain_heads_and_groups_lose_what_they_cannot_use(layer, d, expected):
    """The dimension is that of the smaller layer."""
    assert layer.reduced((d, 2)) == expected == expected.reduced((d, 2))
    given, smaller = (ag.dimension(ag.Network([one], d, 2)) for one in (layer, expected))
    assert given.dimension == smaller.dimension and str(given.evidence) == "proved"
