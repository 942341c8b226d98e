"""Both bounds of networks cut between their layers: against exact ranks, at large sizes, and in words."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agattn import Attention, Bilinear, DeepNetwork, Evidence, Linear, Network, Perceptron, Power, Sum
from agattn.algebra.rank import rank
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.formulas import Bound
from agattn.geometry.dimension.jacobian import jacobian_rows
from agattn.geometry.dimension.theorems import ID, cut, one_head, stack

few, widths, degrees = st.integers(1, 3), st.integers(1, 4), st.sampled_from([2, 3, 3])
CAUSAL, BACK, AWAY, FIRST = "causal", ((0, 1), (1, 1)), ((0, 1), (1, 0)), ((1, 1), (1, 0))


@st.composite
def layers(draw, d, tokens):
    """A layer for inputs of d rows."""
    if tokens > 1 and draw(st.booleans()):
        masks = ["none", "none", CAUSAL, *([BACK, AWAY, FIRST, ((1, 1), (0, 0))] if tokens == 2 else [])]
        skip, out = draw(st.sampled_from([False, False, True])), draw(widths)
        beta, mask = draw(st.sampled_from([None, 1, 2])), draw(st.sampled_from(masks))
        kind = "plain" if skip else draw(st.sampled_from(["plain", "groups", "latents"]))
        if kind == "groups":
            groups = draw(few)
            return Attention(
                out, rank=draw(few), heads=groups * draw(few), kv_heads=groups, value_rank=beta or 3,
                mask=mask,
            )  # fmt: skip
        rows = st.sampled_from([None, 1, 2, 3, 4]) if kind == "latents" else st.none()
        return Attention(
            d if skip else out, rank=draw(few), heads=draw(few), value_rank=beta, mask=mask, skip=skip,
            kv_latent=draw(rows), q_latent=draw(rows),
        )  # fmt: skip
    if draw(st.integers(0, 4)) == 0:
        return Linear(draw(widths))
    skip = draw(st.sampled_from([False, False, True]))
    if draw(st.integers(0, 2)) == 0:
        return Bilinear(draw(st.integers(1, 5)), d if skip else draw(widths), skip=skip)
    inner = draw(st.lists(st.integers(1, 5), min_size=1, max_size=1 if skip else 2))
    return Perceptron([*inner, d if skip else draw(widths)], degree=draw(degrees), skip=skip)


@st.composite
def networks(draw):
    d, tokens, found = draw(st.integers(2, 5)), draw(st.integers(1, 3)), []
    rows = d
    for _ in range(draw(st.integers(1, 4))):
        found.append(draw(layers(rows, tokens)))
        rows = Network(found, d, tokens).output_shape[0]
    return Network(found, d, tokens)


def rank_of(network):
    rows = jacobian_rows(network, Bound(network.parameters, "the parameters"))
    return rank(rows, seed=0, points=1).lower_bound


@settings(max_examples=200, deadline=None)
@given(networks())
def test_no_rank_is_outside_of_the_bounds(network):
    found = cut(network)
    assume(found is not None and network.parameters <= 160)
    lower, upper = found
    assert lower.value <= rank_of(network) <= upper.value


FOUR = Attention(4, rank=2, heads=2)
SHARED = Attention(4, rank=2, heads=4, kv_heads=2, value_rank=2, mask=CAUSAL)
READ = Attention(4, rank=2, heads=2, value_rank=2, kv_latent=4, q_latent=3)
EXACT = [
    DeepNetwork((4, 4, 4), (2, 2), 2, heads=2),
    DeepNetwork((5, 3, 3, 4), (2, 1, 2), 3, heads=(2, 2, 1)),
    Network([Attention(4, rank=1, heads=2, value_rank=4)] * 2, dim=4, tokens=2),
    Network([Attention(4, rank=1, mask=CAUSAL)] * 3, dim=4, tokens=3),
    Network([Attention(3, rank=2, mask=AWAY)] * 2, dim=3, tokens=2),
    Network([Attention(3, rank=1, mask=BACK)] * 2, dim=3, tokens=2),
    Network([Attention(3, rank=2, mask=FIRST)] * 2, dim=4, tokens=2),
    # Width 2, where matrices of rank 1 are a hypersurface.
    DeepNetwork((2, 2, 2, 2), (2, 2, 2), 3),
    DeepNetwork((3, 2, 2), (2, 2), 2),
    *(Network([Attention(2, rank=2, mask=mask)] * 2, 2, 2) for mask in (CAUSAL, AWAY, BACK, FIRST)),
    Network([Perceptron([2, 2], degree=2), Attention(2, rank=1, mask=CAUSAL), Linear(2)], 2, 2),
    Network([FOUR, Perceptron([5, 4], degree=3), FOUR], dim=4, tokens=2),
    Network([Linear(4), Attention(4, rank=1, heads=2, skip=True), Linear(5)], dim=4, tokens=2),
    Network([FOUR, Attention(4, rank=1, heads=2, skip=True), FOUR], dim=4, tokens=2),
    Network([Attention(4, rank=1, skip=True), FOUR, Perceptron([4, 4], degree=2, skip=True)], 4, 2),
    Network([Perceptron([3, 3], degree=3), Perceptron([3, 1], degree=3)], dim=3),
    Network([Perceptron([4, 4], degree=2), Perceptron([4, 2], degree=3), Linear(3)], dim=4),
    Network([Linear(3), Power(3), Linear(3), Power(2), Linear(2)], dim=3),
    Network([Bilinear(4, 3), Bilinear(3, 3), Bilinear(4, 2)], dim=4),
    Network([Bilinear(2, 3), Bilinear(2, 3)], dim=3),  # two neurons see four of three rows
    Network([FOUR, Bilinear(4, 4, skip=True), Bilinear(5, 4)], dim=4, tokens=2),
]


@pytest.mark.parametrize("network", EXACT, ids=str)
def test_where_the_bounds_meet_they_are_the_rank(network):
    lower, upper = cut(network)
    if network.output_shape[0] > 1:  # sums of powers alone fall short of the count
        assert lower.value == upper.value
    assert lower.value == rank_of(network)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(2, 6), min_size=2, max_size=4), st.lists(st.integers(2, 4), min_size=3, max_size=3)
)
def test_one_head_in_each_layer_agrees_with_its_theorem(inner, ranks):
    dims = [max(inner), *inner]
    network = DeepNetwork(dims, ranks[: len(dims) - 1] + [2] * (len(dims) - 1 - 3), 2)
    (lower, upper), theorem = cut(network), one_head(network)
    assert lower.value <= theorem.value <= upper.value
    if len(set(dims)) == 1 and dims[0] >= 3:
        assert lower.value == theorem.value


@pytest.mark.parametrize(
    "network",
    [
        DeepNetwork((4, 4, 4), (2, 2), 1, heads=2),  # one token
        DeepNetwork((4, 4, 4), (1, 1), 2),  # one head with A of rank 1: the image has rank 1
        DeepNetwork((4, 4, 4), (2, 2), 2, normalization="softmax"),
        Network([Attention(4, rank=2, rotary=True)] * 2, dim=4, tokens=2),
        Network([Perceptron([4, 4], degree=3, bias=True)] * 2, dim=4),
        Network([Attention(4, rank=2, mask=((1, 0), (0, 1)))] * 2, dim=4, tokens=2),  # nothing is seen
        Network([Attention(4, rank=2, mask=((1, 1), (0, 0)))] * 2, dim=4, tokens=2),  # one token for both
        Network([Attention(4, rank=2, mask=mask) for mask in (((1, 1), (0, 1)), ((1, 0), (1, 1)))], 4, 2),
        Network([Power(2), Linear(3)], dim=3),
        Network([Linear(3), Power(2)], dim=3),
        Network([Linear(3), Sum()], dim=3, tokens=2),
    ],
    ids=str,
)
def test_what_the_theorem_says_nothing_about(network):
    assert cut(network) is None


def test_layers_with_skip_connections_at_equal_degrees_are_counted_once():
    """g ∘ W and W ∘ g cannot be told apart by the degree."""
    residual = Perceptron([2, 3], degree=3, skip=True)
    network = Network([residual, Linear(3), residual, Linear(3)], dim=3)
    lower, upper = cut(network)
    assert lower.value == 2 * 5 + 9 and upper.value == 2 * 2 * 5 + 9
    assert lower.value <= rank_of(network) <= upper.value


@pytest.mark.parametrize(
    ("network", "lower"),
    [
        # One group copies two rows of four: a cut at these two rows.
        (Network([Attention(4, 2, heads=2, kv_heads=1, value_rank=2)] * 2, 4, 2), 35),
        # Two groups copy all four rows; of each layer one group is counted.
        (Network([SHARED] * 2, 4, 2), 36 + 36 - 16),
        (Network([SHARED, Perceptron([5, 4], degree=3), SHARED], 4, 2), 36 + 35 + 36 - 2 * 16),
        (Network([Attention(6, 1, heads=4, kv_heads=2, value_rank=2, mask=CAUSAL)] * 2, 6, 2), 74 + 44 - 16),
        # Latents as wide as the input, and one that leaves three rows.
        (Network([READ] * 2, 4, 2), 23 + 23 - 16),
        (Network([Attention(6, 1, heads=2, value_rank=3, kv_latent=5, mask=CAUSAL)] * 2, 6, 2), 53 + 44 - 9),
    ],
    ids=str,
)
def test_groups_and_latents_have_bounds_too(network, lower):
    low, high = cut(network)
    assert (low.value, lower <= rank_of(network) <= high.value) == (lower, True)


def test_what_is_read_from_the_layers():
    found = stack(Network([Linear(5), Power(3), Linear(4), Power(2), Linear(2), Linear(3)], dim=3))
    assert [(one.rows, one.neurons, one.degree) for one in found.blocks] == [(4, 5, 3), (2, 4, 2), (3, 0, 1)]


BIG = Attention(768, rank=64, heads=12, value_rank=64, mask="causal")
LARGE = [
    # 144 heads of 64·(2·768 − 64) and 768², less 1, and GL(768) eleven times
    (DeepNetwork((768,) * 13, (64,) * 12, 2, heads=12), 144 * (64 * 1472 + 768**2 - 1) - 11 * 768**2),
    (
        Network([BIG, Perceptron([3072, 768], degree=3)] * 12, dim=768, tokens=2),
        144 * (2 * 64 * 1472 - 1) + 12 * 3072 * 1535 - 23 * 768**2,
    ),
    (
        Network([Perceptron([3072, 768], degree=3)] * 4 + [Linear(10)], dim=784),
        3072 * (784 + 767) + 2 * 3072 * 1535 + 3072 * 777 - 3 * 768**2,
    ),
]


@pytest.mark.parametrize(("network", "value"), LARGE, ids=["heads", "blocks", "perceptrons"])
def test_large_networks_are_proved(network, value):
    found = dimension(network)
    assert (found.dimension, found.lower_bound, found.upper_bound) == (value, value, value)
    assert (found.evidence, found.lower_bound_reason, found.theorem) == (Evidence.PROVED, "theorem", ID)
    assert found.jacobian_shape is None and found.checked


def test_a_large_interval_says_by_how_much_it_is_open():
    found = dimension(DeepNetwork((768, 768, 10), (64, 64), 2, heads=12))
    assert found.dimension is None and found.evidence is None and found.theorem == ID
    assert f"open by {found.upper_bound - found.lower_bound}" in str(found)
    document = found.as_json()
    assert (document["dimension"], document["evidence"]) == (None, None)
    assert document["lower_bound"] < document["upper_bound"]
