"""Dimensions: the known values, the trap, random networks, and that nothing claims more than it shows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import Attention, DeepNetwork, Evidence, Jet, Network, Perceptron, memory, singularities
from agattn.algebra import rank as room_of_ranks
from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.rank import rank
from agattn.algebra.residues import RowSpace, random_prime, random_residues
from agattn.architectures import PolynomialMap, SingleLayer
from agattn.claims.network_dimension import by_paper
from agattn.errors import DisagreementError, TooLargeError
from agattn.geometry.dimension import dimension as room
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.formulas import Bound, reduced_widths
from agattn.geometry.dimension.jacobian import jacobian, jacobian_rows
from agattn.limits import limited
from agattn.reports.figure3 import SIZES, figure_3, float32_trial
from agattn.reports.figure3 import network as figure_3_network

# dims, ranks, t, other options, dimension; all found before this program as exact ranks
KNOWN = [
    ((3, 3, 3), (1, 2), 3, {}, 18),
    ((3, 3, 3), (1, 1), 3, {}, 17),
    ((2, 3, 2), (2, 2), 3, {}, 10),
    ((4, 2, 2, 4), (2, 1, 2), 3, {}, 27),
    ((4, 3, 4), (2, 2), 1, {}, 29),
    ((4, 3, 4), (2, 2), 2, {}, 33),
    ((5, 4, 1), (2, 1), 3, {}, 28),
    ((8, 1, 8), (1, 1), 2, {}, 29),
    ((3, 1), (2,), 2, {"heads": 2}, 17),
    ((3, 3), (2,), 2, {"heads": 3}, 45),
    ((3, 3), (3,), 2, {"heads": 2}, 32),
    ((3, 3, 3), (2, 2), 3, {"heads": 2}, 55),
    ((3, 3, 3), (2, 2), 2, {"skip": True}, 32),
    ((3, 3, 3, 3), (2, 2, 2), 2, {"skip": True}, 48),
    ((3, 3, 3), (2, 2), 1, {"skip": True}, 28),
    # So many heads that every coefficient of the output is free.
    ((2, 4, 1), (3, 2), 1, {"heads": 2}, 10),
    ((2, 6, 2), (2, 2), 1, {"heads": 5}, 20),
    ((2, 6, 1), (2, 2), 2, {"heads": 4}, 30),
    ((2, 4, 1), (2, 2), 3, {"heads": 6}, 30),
    ((3, 10, 1), (3, 3), 1, {"heads": 6}, 55),
    ((5, 4, 1), (2, 1), 3, {"normalization": "softmax"}, 30),
    ((6, 4, 1), (1, 1), 2, {"normalization": "softmax"}, 28),
]


@pytest.mark.parametrize(("dims", "ranks", "t", "options", "value"), KNOWN)
def test_known_dimensions_are_proved(dims, ranks, t, options, value):
    result = dimension(DeepNetwork(dims, ranks, t, **options))
    assert (result.dimension, result.evidence) == (value, Evidence.PROVED)
    assert result.lower_bound == result.upper_bound == value == result.predicted


@pytest.mark.parametrize(
    ("network", "value", "bound"),
    [
        (DeepNetwork((3, 2), (1,), 2, heads=5, value_rank=1), 35, 36),
        (DeepNetwork((5, 1), (3,), 2, heads=2), 49, 50),
    ],
)
def test_the_two_exceptions_stay_intervals(network, value, bound):
    result = dimension(network)
    assert (result.dimension, result.lower_bound, result.upper_bound) == (value, value, bound)
    assert result.evidence is Evidence.MODULAR
    assert [r.rank for r in result.ranks] == [value] * 3
    assert len({r.prime for r in result.ranks}) == 3
    assert 0 < result.error < 1e-15
    assert all(r.rows >= 2 * value for r in result.ranks)


def test_the_trap():
    """All outputs at few inputs give too small a rank for every seed; one cotangent each does not."""
    network = DeepNetwork((8, 1, 8), (1, 1), 2)
    for seed in range(3):
        generator = np.random.default_rng(seed)
        p = random_prime(generator)
        parameters = {name: random_residues(generator, s, p) for name, s in network.shapes.items()}
        ranks = []
        for inputs in (3, 4, 8, 16):  # 34 parameters, 16 outputs for each input
            X = random_residues(generator, (inputs, 8, 2), p)
            ranks.append(RowSpace(34, p).add(jacobian(network, parameters, X, ModularArithmetic(p))))
        assert ranks == [13, 15, 22, 29]
        result = dimension(network, seed=seed)
        assert (result.dimension, result.evidence) == (29, Evidence.PROVED)
        assert result.jacobian_shape[0] <= 29 + 3


networks = st.builds(
    lambda dims, ranks, t: DeepNetwork(dims, ranks[: len(dims) - 1], t),
    st.lists(st.integers(1, 8), min_size=2, max_size=5),
    st.lists(st.integers(1, 8), min_size=4, max_size=4),
    st.integers(1, 4),
)


@settings(max_examples=60, deadline=None)
@given(networks, st.integers(0, 100))
def test_the_general_formula_is_met_and_proved(network, seed):
    result = dimension(network, seed=seed)
    assert result.evidence is Evidence.PROVED
    assert result.dimension == result.predicted
    if not (paper := by_paper(result)).failing:
        assert paper.defect == 0


varied = st.builds(
    lambda dims, ranks, t, heads, skip, value_rank, softmax: DeepNetwork(
        [dims[0]] * len(dims) if skip else dims,
        ranks[: len(dims) - 1],
        t,
        heads=heads[: len(dims) - 1],
        skip=skip,
        value_rank=value_rank,
        normalization="softmax" if softmax else "none",
    ),
    st.lists(st.integers(1, 4), min_size=2, max_size=3),
    st.lists(st.integers(1, 4), min_size=2, max_size=2),
    st.integers(1, 3),
    st.lists(st.integers(1, 3), min_size=2, max_size=2),
    st.booleans(),
    st.sampled_from([None, 1, 2]),
    st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(varied)
def test_bounds_are_ordered_and_evidence_is_honest(network):
    result = dimension(network)
    assert 0 < result.lower_bound <= result.dimension <= result.upper_bound <= network.parameters
    assert (result.evidence is Evidence.PROVED) == (result.lower_bound == result.upper_bound)
    if result.evidence is not Evidence.PROVED:
        assert "proved" not in str(result)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=3, max_size=4), st.lists(st.integers(1, 5), min_size=3, max_size=3)
)
def test_reducing_the_widths_changes_nothing(dims, ranks):
    """The argument behind the general formula, tested: the network of widths e_i has the same dimension."""
    network = DeepNetwork(dims, ranks[: len(dims) - 1], 3)
    reduced = DeepNetwork(reduced_widths(network), network.ranks, 3)
    assert dimension(network).dimension == dimension(reduced).dimension


def test_an_observed_softmax_rank_is_numerical(monkeypatch):
    """What is seen and was not proved is reported, and marked as what it is."""
    seen = rank(jacobian_rows(figure_3_network(3), Bound(25, "")))
    seen = seen.replace(lower_bound=20, upper_bound=24, upper_evidence=Evidence.NUMERICAL)
    monkeypatch.setattr("agattn.geometry.dimension.dimension.rank", lambda rows, points: seen)
    result = dimension(DeepNetwork((3, 3, 3), (2, 2), 3, normalization="softmax"))
    assert (result.lower_bound, result.dimension, result.upper_bound) == (20, 24, 25)
    assert result.evidence is Evidence.NUMERICAL


def test_the_seed_decides_nothing_but_chance():
    network = DeepNetwork((3, 4, 2), (2, 1), 2)
    documents = [dimension(network, seed=7).as_json() for _ in range(2)]
    for document in documents:
        del document["seconds"]
    assert documents[0] == documents[1]
    assert dimension(network, seed=8).dimension == documents[0]["dimension"]


@pytest.mark.parametrize("by_outputs", [False, True])
def test_a_rank_above_the_bound_is_never_hidden(by_outputs, monkeypatch):
    if by_outputs:
        monkeypatch.setattr(room_of_ranks, "_MANY_BY_OUTPUTS", 0)
    with pytest.raises(DisagreementError, match="above the proved bound 17"):
        rank(jacobian_rows(DeepNetwork((5, 5), (2,), 3), Bound(17, "wrong")))


@pytest.mark.parametrize(
    ("network", "is_used"),
    [
        (DeepNetwork((10, 10), (5,), 2), True),
        (DeepNetwork((6, 5), (2,), 3, heads=7), True),
        (DeepNetwork((5, 5), (3,), 2, heads=2, skip=True), True),
        (DeepNetwork((5, 1), (3,), 2, heads=2), False),
        (DeepNetwork((4, 4, 4), (2, 2), 3), True),
        (DeepNetwork((4, 4, 4, 4), (2, 2, 2), 3), False),
        (Network([Attention(8, 2, heads=8, kv_heads=2, value_rank=2)], 8, 2), True),
    ],
)
def test_output_by_output_the_rank_is_the_same(network, is_used, monkeypatch):
    def document():
        return dimension(network).as_json() | {"seconds": 0}

    used, by_outputs = [], room_of_ranks._by_outputs
    monkeypatch.setattr(room_of_ranks, "_by_outputs", lambda *a: used.append(by_outputs(*a)) or used[-1])
    expected = document()
    assert not used
    monkeypatch.setattr(room_of_ranks, "_MANY_BY_OUTPUTS", 0)
    assert document() == expected
    ranks = [rank for rank, _ in used]
    assert ranks == [expected["dimension"]] if is_used else not any(ranks)


def test_limits():
    with pytest.raises(TooLargeError, match="parameters"):
        dimension(PolynomialMap(lambda a: a[:3] * a[3:6], {"a": (20_001,)}))
    found = dimension(DeepNetwork((40, 40, 40), (20, 20), normalization="softmax"))
    assert (found.dimension, found.evidence, found.predicted) == (None, None, 4000)
    assert 0 < found.lower_bound < found.upper_bound == 4000
    assert found.lower_bound_reason == "smaller" and "is inside" in found.lower.reason
    assert f"open by {4000 - found.lower_bound}" in str(found)


def test_symmetries_are_searched_for_wherever_the_bounds_do_not_meet():
    """One scaling of 90 parameters, which no part of the map declares; more points are not needed then."""
    steps = []
    tensor = PolynomialMap(lambda a, b: a @ b, {"a": (40, 1), "b": (1, 50)})
    found = dimension(tensor, progress=steps.append)
    assert (found.dimension, found.evidence) == (89, Evidence.PROVED)
    assert (found.lower_bound, found.upper_bound, found.error) == (89, 89, 0.0)
    assert "linear symmetries" in found.upper_bound_reason
    assert len(found.ranks) == 1
    assert "all linear symmetries" in steps and steps[0] == "the rank of the Jacobian"


def test_nothing_is_searched_for_where_the_bounds_meet(monkeypatch):
    def searched(*_, **__):
        raise AssertionError("a search")

    monkeypatch.setattr("agattn.geometry.dimension.dimension.linear_symmetries", searched)
    assert dimension(DeepNetwork((8, 8), (4,), 2, heads=2)).evidence is Evidence.PROVED
    with pytest.raises(AssertionError, match="a search"):
        dimension(PolynomialMap(lambda a, b: a @ b, {"a": (40, 1), "b": (1, 50)}))


@pytest.mark.parametrize(
    "constant",
    [
        PolynomialMap(lambda A: 0 * A, {"A": (2, 31)}),
        PolynomialMap(lambda A: A - A + 5, {"A": (2, 31)}),
        PolynomialMap(lambda A, X: A @ X - A @ X, {"A": (2, 31)}, 31),
    ],
)
def test_no_symmetries_are_searched_for_of_a_constant(constant, monkeypatch):
    for where in ("dimension.lie_algebra", "identifiability.families"):
        monkeypatch.setattr(f"agattn.geometry.{where}.linear_symmetries", lambda *_, **__: pytest.fail())
    found = dimension(constant)
    assert (found.dimension, found.evidence) == (0, Evidence.PROVED)
    assert found.upper_bound_reason == "the function is the same at all parameters"
    kinds = singularities(constant).kinds
    assert {kind.singular for kind in kinds} == {"smooth"} and {kind.fiber_dimension for kind in kinds} == {
        62
    }


@pytest.mark.slow
def test_many_parameters():
    """A quarter of the size in docs/networks/dimension.md, streamed in two blocks."""
    result = dimension(DeepNetwork((16,) * 5, (4,) * 4, 3))
    assert result.parameters == 1536
    assert (result.dimension, result.evidence) == (700, Evidence.PROVED)


# --- normalized networks ---

FIGURE_3 = dict(zip(SIZES, (25, 40, 57, 76, 97, 120, 145, 172), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_delta_10_is_proved_for_every_seed(seed):
    result = dimension(figure_3_network(10), seed=seed)
    assert (result.dimension, result.evidence) == (172, Evidence.PROVED)


@pytest.mark.parametrize(("delta", "value"), FIGURE_3.items())
def test_figure_3(delta, value):
    (row,) = figure_3([delta])
    assert row.dimension == row.expected == value
    assert row.evidence is Evidence.PROVED
    assert row.float32 <= value


def test_a_float32_trial_falls_short_at_delta_10():
    trials = []
    for seed in range(2):
        with limited(seed=seed):
            trials.append(float32_trial(figure_3_network(10)))
    assert max(trials) < 172


def test_more_than_the_rank_is_never_proved():
    result = rank(jacobian_rows(figure_3_network(3), Bound(30, "too large")))
    assert (result.lower_bound, result.upper_bound, result.upper_evidence) == (25, 25, Evidence.NUMERICAL)
    assert result.gap > 100


def test_what_does_not_fit_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LARGE", "available"):
        monkeypatch.setattr(memory, name, 2**20 if name == "LARGE" else lambda: 2**20)
    known, said = DeepNetwork((8, 8), (2,), 3, heads=4), list[str]()
    with pytest.raises(TooLargeError, match=r"384 parameters: up to 15 MiB of .*force=True tries anyway"):
        dimension(known)
    found = dimension(known, force=True, progress=said.append)
    assert found.dimension == found.predicted and found.evidence is Evidence.PROVED
    assert said[0] == "the Jacobian in 384 parameters: up to 15 MiB of memory"


def test_what_a_jacobian_is_of():
    layer = SingleLayer(2, 1)
    assert dimension(layer).computed_of == layer.as_network()
    model = PolynomialMap(lambda s: [s[0] ** 2, s[0] * s[1]], {"s": 2})
    assert dimension(model).computed_of is model


def test_a_jet_of_several_heads_is_counted_by_its_network_for_softmax_alone():
    def counted(heads, normalization, order=4):
        network = DeepNetwork((2, 2), (2,), 2, heads=heads, normalization=normalization)
        return room.by_jet(Jet(network, order), room.unknown(SingleLayer(2, 1)))

    series = {"series": [1, 0, "1/2"]}
    assert counted(1, "softmax") and counted(2, "softmax") and counted(1, series)
    assert counted(2, series) is None
    assert counted(1, series).reason.endswith("; a jet of this order sees no scores")
    assert room.by_jet(SingleLayer(2, 1), room.unknown(SingleLayer(2, 1))) is None


def test_a_theorem_that_says_more_than_the_rank_is_not_believed(monkeypatch):
    """Neither a dimension nor a bound from below by a theorem stays where a rank is taken."""
    network = Network([Perceptron([3, 2], degree=3)], dim=2)
    assert (found := dimension(network)).evidence is Evidence.PROVED
    above = Bound(network.parameters, "wrong")
    monkeypatch.setattr(room, "AT_ANY_SIZE", (("lower", lambda *_: above),))
    assert dimension(network).lower_bound == found.lower_bound
    monkeypatch.setattr(room, "AT_ANY_SIZE", (("both", lambda *_: above),))
    with pytest.raises(DisagreementError, match="wrong"):
        dimension(network)
