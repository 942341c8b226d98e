"""Dimensions by theorem: against exact ranks, at sizes where no rank is taken, and in the documentation."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import DeepNetwork, Evidence, SingleLayer
from agattn.claims.network_dimension import COROLLARY_3_8, equation_14
from agattn.errors import DisagreementError
from agattn.geometry.dimension import dimension as room
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.theorems import one_head
from agattn.geometry.dimension.theorems import theorem as of

DOCS = Path(__file__).parents[3] / "docs"
IDS = {"theorem-3.2", "theorem-3.9", "agattn.network-dimension"}

sizes, few = st.integers(1, 5), st.lists(st.integers(1, 4), min_size=4, max_size=4)


def by_hand(network):
    """The formulas of the theorems as they are written, which the bound by counting is compared with."""
    if network.depth == 1 and network.t >= 2:
        (d, d_out), (a,) = network.dims, network.ranks
        alpha, beta = min(a, d), min(d, d_out, network.value_rank or d)
        return alpha * (2 * d - alpha) + beta * (d + d_out - beta) - network.is_lightning
    widths = list(network.dims)  # e_i = min(d_0, ..., d_i, 2a_{i+1} + e_{i+1})
    for i in range(1, network.depth):
        widths[i] = min(widths[i - 1], widths[i])
    for i in range(network.depth - 1, 0, -1):
        widths[i] = min(widths[i], 2 * network.ranks[i] + widths[i + 1])
    total, symmetric = -network.depth - sum(e * e for e in widths[1:-1]), network.t == 1
    for (e, following), a in zip(pairwise(widths), network.ranks, strict=True):
        alpha, beta = min(a, e), min(2 * a, e)
        total += beta * (2 * e - beta + 1) // 2 if symmetric else alpha * (2 * e - alpha)
        total += e * following
        symmetric = symmetric or alpha == 1
    return total


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=6),
    st.lists(st.integers(1, 7), min_size=5, max_size=5),
    st.integers(1, 4),
    st.sampled_from([None, None, 1, 2, 9]),
    st.booleans(),
    st.booleans(),
)
def test_counting_is_the_formula_of_each_theorem(dims, ranks, t, value_rank, skip, softmax):
    dims = [dims[0]] * len(dims) if skip else dims
    options = {"skip": skip, "value_rank": value_rank, "normalization": "softmax" if softmax else "none"}
    network = DeepNetwork(dims, ranks[: len(dims) - 1], t, **options)
    if (bound := one_head(network)) is not None:
        assert bound.value == by_hand(network)


@settings(max_examples=80, deadline=None)
@given(st.lists(sizes, min_size=2, max_size=5), few, st.integers(1, 4))
def test_networks_have_the_rank_that_the_theorem_says(dims, ranks, t):
    network = DeepNetwork(dims, ranks[: len(dims) - 1], t)
    found, theorem = dimension(network, force=True), one_head(network)
    assert found.lower_bound_reason == "rank" and found.theorem is None and found.checked == ()
    assert found.lower_bound == found.upper_bound == theorem.value
    assert theorem.theorem == ("theorem-3.2" if len(dims) == 2 and t >= 2 else "agattn.network-dimension")


@settings(max_examples=40, deadline=None)
@given(sizes, sizes, sizes, st.integers(2, 3), st.sampled_from([None, 1, 2]), st.booleans(), st.booleans())
def test_layers_have_the_rank_that_the_theorem_says(d, d_out, a, t, value_rank, skip, softmax):
    normalization = "softmax" if softmax else "none"
    network = DeepNetwork(
        (d, d if skip else d_out), (a,), t, skip=skip, value_rank=value_rank, normalization=normalization
    )
    found, theorem = dimension(network, force=True), one_head(network)
    assert found.lower_bound == theorem.value
    assert theorem.theorem == ("theorem-3.9" if softmax else "theorem-3.2")


@pytest.mark.parametrize(
    "network",
    [
        DeepNetwork((3, 2), (2,), 2, heads=2), DeepNetwork((3, 2), (2,), 1, normalization="softmax"),
        DeepNetwork((3, 3, 3), (2, 2), 3, skip=True), DeepNetwork((3, 3, 3), (2, 2), normalization="softmax"),
        DeepNetwork((3, 3, 3), (2, 2), 3, value_rank=2), DeepNetwork((3, 2), (2,), 1, value_rank=1),
    ],
    ids=str,
)  # fmt: skip
def test_nothing_is_said_outside_of_the_hypotheses(network):
    assert one_head(network) is None


LARGE = [
    (SingleLayer(768, 64, 64), 143_359, "theorem-3.2"),
    (SingleLayer(768, 64, 64, t=10**9), 143_359, "theorem-3.2"),
    (SingleLayer(300, 1, 1), 898, "theorem-3.2"),
    (DeepNetwork((768, 64), (64,), 1024, normalization="softmax"), 143_360, "theorem-3.9"),
    (DeepNetwork((768, 64), (64,), 2, value_rank=8), 64 * 1472 + 8 * 824 - 1, "theorem-3.2"),
    (SingleLayer(768, 64, 64, t=1), 128 * 1409 // 2 + 768 * 64 - 1, "agattn.network-dimension"),
    (DeepNetwork((768, 64, 64, 768), (64, 64, 32), 3), 195_581, "agattn.network-dimension"),
    (DeepNetwork((4096,) * 33, (128,) * 32, 3), None, "agattn.network-dimension"),
]


@pytest.mark.parametrize(("architecture", "value", "theorem"), LARGE, ids=lambda x: str(x)[:40])
def test_sizes_where_no_rank_is_taken(architecture, value, theorem, monkeypatch):
    if architecture.parameters < 20_000:
        monkeypatch.setattr(room, "MAX_COMPARED", 100)
    network = architecture.as_network()
    value = equation_14(network) if value is None else value
    found = dimension(architecture)
    assert (found.dimension, found.lower_bound, found.upper_bound, found.predicted) == (value,) * 4
    assert (found.evidence, found.lower_bound_reason, found.theorem) == (Evidence.PROVED, "theorem", theorem)
    assert found.jacobian_shape is None and found.ranks == () and found.checked
    assert found.seconds < 1
    if not COROLLARY_3_8.failing_hypotheses(network) and network.is_lightning:
        assert found.dimension == equation_14(network)


def test_a_cheap_rank_is_still_taken_and_a_long_one_if_it_is_forced(monkeypatch):
    layer = SingleLayer(4, 3, 2)
    assert dimension(layer).lower_bound_reason == "rank"
    monkeypatch.setattr(room, "MAX_COMPARED", 10)
    assert dimension(layer).theorem == "theorem-3.2"
    assert dimension(layer, force=True).lower_bound_reason == "rank"
    assert dimension(layer).dimension == dimension(layer, force=True).dimension == 23


@pytest.mark.parametrize(("force", "value"), [(False, 24), (True, 22), (True, 24)])
def test_a_theorem_that_a_bound_contradicts_is_an_error(monkeypatch, force, value):
    monkeypatch.setattr(room.theorems, "by_theorem", lambda network: of("theorem-3.2", value, ("one head",)))
    monkeypatch.setattr(room, "MAX_COMPARED", 10)
    with pytest.raises(DisagreementError, match=f"{value}: theorem-3.2, as its hypotheses hold"):
        dimension(SingleLayer(4, 3, 2), force=force)


def test_sizes_without_a_theorem_are_bounded():
    by_stack = dimension(DeepNetwork((100, 100, 100), (2, 2), heads=2))
    # four heads of 2·(2·100 − 2) + 100² − 1, less GL(100)
    assert (by_stack.dimension, by_stack.theorem) == (4 * (396 + 10_000 - 1) - 10_000, "agattn.stacks")
    by_rank = dimension(DeepNetwork((2, 2), (2,), 10**6, heads=2))
    assert (by_rank.dimension, by_rank.evidence) == (12, Evidence.PROVED)
    assert by_rank.lower_bound_reason == "smaller"
    assert by_rank.smaller == "M(2,2,2), heads 2, t = 3" and by_rank.jacobian_shape is not None


def test_every_id_is_one_place_in_the_documentation():
    places = [re.findall(r"^\((\S+)\)=$", page.read_text(), re.MULTILINE) for page in DOCS.rglob("*.md")]
    named = [name for page in places for name in page]
    assert {name for name in named if named.count(name) == 1} >= IDS
    for architecture, _, theorem in LARGE:
        assert theorem in IDS
        assert one_head(architecture.as_network()).theorem in IDS
