"""Dimensions of groups, latents and states by theorem: against exact ranks, and at any size."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.residues import RowSpace
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.formulas import reduced
from agattn.geometry.dimension.theorems import GROUPED, LATENT, RECURRENT, by_layer, less_groups

RULES = ("sum", "decay", "scalar-gate", "diagonal-gate", "delta", "gated-delta")
sizes, few = st.integers(1, 5), st.integers(1, 3)


def compared(network):
    """Whether a theorem says something, which must be what both bounds say."""
    theorem, found = by_layer(network), dimension(network, points=1, force=True)
    assert found.lower_bound_reason == "rank"
    if theorem is None:
        return False
    assert found.lower_bound == found.upper_bound == theorem.value
    return True


def by_hand(network):
    """The formulas of the theorems as they are written, for a layer that is reduced."""
    [layer], d = network.layers, network.dim
    if isinstance(layer, ag.Recurrence):
        # GL(a) acts on the state, a torus with a diagonal gate, O(a) with a delta rule.
        a, pairs = layer.rank, 2 * layer.rank * d + d * layer.out - 1
        return {
            "sum": pairs - a * a,
            "decay": pairs - a * a + 1,
            "scalar-gate": pairs - a * a + d,
            "diagonal-gate": pairs + a * d - a,
            "delta": pairs - a * (a - 1) // 2,
            "gated-delta": pairs - a * (a - 1) // 2 + d - 1,
        }[layer.rule]
    g, s, out = layer.groups, layer.heads // layer.groups, layer.out
    r, rho = layer.kv_latent or d, layer.q_latent or d
    a, b, p = min(layer.rank, r, s * rho), min(layer.value_rank or out, s * out, r), layer.pairs
    # By so much GL(a) is larger than what commutes with rotations of p pairs of rows.
    turned = g * (layer.rank**2 - 2 * p - (layer.rank - 2 * p) ** 2)
    latents = r * (d - r) + rho * (d - rho)
    if layer.normalization == "softmax":
        return g * (a * (r + s * rho - a) + b * (r + s * out - b)) + latents + turned
    if layer.kv_latent is not None or layer.q_latent is not None:
        return latents + g * s * (b * (out + r - b) + a * (r + rho - a) - 1) + turned
    if s == 1:  # of heads with keys and values of their own
        return g * (a * (2 * d - a) + b * (d + out - b) - 1) + turned
    return g * (a * (d - a) + b * (d - b) + s * (a * d + b * out - s)) + turned


@settings(max_examples=300, deadline=None)
@given(
    st.integers(1, 9),
    few,
    st.integers(1, 4),
    st.integers(1, 4),
    few,
    few,
    st.sampled_from([None, None, 1, 2, 5]),
    st.sampled_from([None, None, 1, 2, 5]),
    st.sampled_from(["none", "softmax"]),
    st.integers(0, 2),
    st.integers(2, 3),
)
def test_groups_are_the_formula_of_each_theorem(d, out, a, b, s, g, r, rho, normalization, pairs, t):
    rotary = pairs if 0 < 2 * pairs <= a else False
    sizes = {"heads": s * g, "kv_heads": g, "value_rank": b, "kv_latent": r, "q_latent": rho}
    layer = ag.Attention(out, a, normalization=normalization, rotary=rotary, **sizes)
    network = ag.Network([layer], d, t)
    if (bound := by_layer(network)) is not None:
        used = reduced(network)
        assert bound.value == by_hand(used) == less_groups(used)


@pytest.mark.parametrize("rule", RULES)
def test_groups_are_the_formulas_of_states(rule):
    for d, out, a, t in itertools.product((1, 2, 3, 5), (1, 2, 4), (1, 2, 3, 6), (2, 3)):
        network = ag.Network([ag.Recurrence(out, a, rule)], d, t)
        if (bound := by_layer(network)) is not None:
            assert bound.value == by_hand(reduced(network))


@settings(max_examples=30, deadline=None)
@given(
    sizes,
    few,
    st.integers(1, 2),
    few,
    few,
    st.integers(1, 2),
    st.booleans(),
    st.integers(2, 3),
    st.booleans(),
)
def test_groups(d, out, a, b, s, g, causal, t, skip):
    mask = "causal" if causal else "none"
    layer = ag.Attention(d if skip else out, a, heads=s * g, kv_heads=g, value_rank=b, mask=mask, skip=skip)
    used = min(b, d, s * layer.out)
    assert compared(ag.Network([layer], d, t)) == (g * (min(a, d) + used) <= d)


@pytest.mark.parametrize(
    ("mask", "t", "known"),
    [("none", 2, True), ("causal", 2, False), ("causal", 3, True), ([[1, 1], [0, 1]], 2, False)],
)
def test_groups_with_positions(mask, t, known):
    for d, b, s, g in [(3, 1, 2, 1), (4, 2, 3, 1), (6, 1, 2, 2)]:
        layer = ag.Attention(2, 2, heads=s * g, kv_heads=g, value_rank=b, mask=mask, rotary=True)
        assert compared(ag.Network([layer], d, t)) == known
    for d, a, p, s in [(4, 3, 1, 2), (5, 4, 1, 1)]:
        layer = ag.Attention(2, a, heads=s, kv_heads=1, value_rank=1, mask=mask, rotary=p)
        assert compared(ag.Network([layer], d, t)) == known


@pytest.mark.parametrize(
    ("mask", "t", "known"), [("none", 2, True), ("causal", 2, False), ("causal", 3, True)]
)
def test_heads_and_latents_with_positions(mask, t, known):
    for layer, d in [
        (ag.Attention(3, 2, heads=2, rotary=True, mask=mask), 4),
        (ag.Attention(3, 2, heads=2, value_rank=1, rotary=True, mask=mask), 5),
        (ag.Attention(3, 3, heads=2, value_rank=1, rotary=1, mask=mask), 7),
        (ag.Attention(3, 2, heads=2, value_rank=1, kv_latent=4, q_latent=4, rotary=True, mask=mask), 7),
        (ag.Attention(3, 2, heads=1, value_rank=1, kv_latent=3, rotary=True, mask=mask), 4),
    ]:
        assert compared(ag.Network([layer], d, t)) == known
    narrow = ag.Attention(2, 4, value_rank=1, kv_latent=3, rotary=True)
    assert by_layer(ag.Network([narrow], 4, 2)) is None


@settings(max_examples=30, deadline=None)
@given(sizes, few, few, st.sampled_from([1, 2, None]), few, st.sampled_from([None, 1, 2, 3, 9]), few)
def test_latents(d, out, a, b, heads, r, rho):
    layer = ag.Attention(out, a, heads=heads, value_rank=b, kv_latent=r, q_latent=rho)
    found = compared(ag.Network([layer], d, 2))
    assert found or heads > 1  # one head is always known


@pytest.mark.parametrize("rule", RULES)
def test_states(rule):
    for d, out, a, t in itertools.product((1, 2, 3), (1, 2), (1, 2, 3, 4), (2, 3)):
        network = ag.Network([ag.Recurrence(out, a, rule)], d, t)
        expected = rule != "diagonal-gate" or (a <= d and not a == d == t == 2)
        assert compared(network) == expected


def test_ranks_that_the_proof_for_the_diagonal_gate_takes():
    """Of (K, G, Q) ↦ (Σ k_i ⊗ g_i q_i, Σ k_i q_i) at a = d = 3, and with a third token at a = d = 2."""
    p, generator = 1_000_003, np.random.default_rng(0)

    def rank(d, values):
        theta = generator.integers(1, 50, 3 * d * d).astype(object)
        rows = []
        for i in range(len(theta)):
            moved = theta.copy()
            moved[i] += 1
            up = np.array(values(moved.reshape(3, d, d)))
            moved[i] -= 2
            down = np.array(values(moved.reshape(3, d, d)))
            rows.append((up - down) % p)  # at most quadratic in each entry: twice the derivative
        return RowSpace(len(rows[0]), p).add(np.array(rows, dtype=np.float64))

    def products(G, Q):
        pairs = list(itertools.combinations_with_replacement(range(len(G)), 2))
        return np.array([[g[i] * q[j] + g[j] * q[i] for i, j in pairs] for g, q in zip(G, Q, strict=True)])

    def two(theta):
        K, G, Q = theta
        return [*(K.T @ products(G, Q)).ravel(), *products(K, Q).sum(axis=0)]

    def three(theta):
        """Also the cubic forms in the third token behind two gates: Σ k_i ⊗ g_i ⊗ g_i q_i."""
        K, G, Q = theta
        triples = zip(K, G, products(G, Q), strict=True)
        last = sum(np.einsum("i,j,k->ijk", k, g, z) for k, g, z in triples)
        return [*two(theta), *last.ravel()]

    assert rank(3, two) == 24 and rank(2, two) == 9 and rank(2, three) == 10


def test_softmax():
    """Proved in balls: the heads do not mix, and groups and latents leave their own groups."""
    for layer, d in [
        (ag.Attention(2, 1, heads=2, kv_heads=1, value_rank=1, normalization="softmax"), 3),
        (ag.Attention(1, 2, heads=2, kv_heads=1, value_rank=1, normalization="softmax", rotary=True), 3),
        (ag.Attention(1, 3, heads=2, kv_heads=1, value_rank=1, normalization="softmax", rotary=1), 3),
        (ag.Attention(1, 1, heads=2, kv_heads=1, value_rank=3, normalization="softmax"), 2),
        (ag.Attention(2, 1, heads=2, value_rank=1, kv_latent=3, q_latent=1, normalization="softmax"), 3),
        (ag.Attention(1, 1, heads=2, value_rank=1, kv_latent=2, normalization="softmax"), 3),
    ]:
        assert compared(ag.Network([layer], d, 2))
    positions = ag.Attention(1, 2, heads=2, kv_heads=1, value_rank=1, normalization="softmax", rotary=True)
    assert by_layer(ag.Network([positions], 3, 3)) is None


LARGE = [
    (ag.Attention(4096, 128, heads=32, kv_heads=8, value_rank=128), 4096, GROUPED, 8 * (2 * 128**2 + 16)),
    (
        ag.Attention(4096, 128, heads=32, kv_heads=8, value_rank=128, rotary=True),
        4096, GROUPED, 8 * (128**2 + 128 + 16),
    ),
    (
        ag.Attention(4096, 128, heads=32, kv_heads=8, value_rank=128, normalization="softmax"),
        4096, GROUPED, 8 * 2 * 128**2,
    ),
    (
        ag.Attention(7168, 128, heads=128, value_rank=128, kv_latent=512, q_latent=1536),
        7168, LATENT, 512**2 + 1536**2 + 128 * (2 * 128**2 + 1),
    ),
    (ag.Recurrence(4096, 4096, "delta"), 4096, RECURRENT, 4096 * 4095 // 2 + 1),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "d", "theorem", "redundant"), LARGE, ids=str)
def test_sizes_where_no_rank_is_taken(layer, d, theorem, redundant):
    found = dimension(ag.Network([layer], d, 2))
    assert (found.evidence, found.lower_bound_reason, found.theorem) == (Evidence.PROVED, "theorem", theorem)
    assert found.parameters - found.dimension == redundant
    assert found.jacobian_shape is None and found.checked and found.seconds < 5


def test_several_heads_with_a_softmax_at_any_size():
    found = dimension(ag.DeepNetwork((768, 768), (64,), 2, heads=12, value_rank=64, normalization="softmax"))
    assert (found.theorem, found.parameters - found.dimension) == (GROUPED, 12 * 2 * 64**2)
