"""Which parameters a function determines: known cases, ranks in floating point, symmetries, given weights."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.arithmetic import FloatArithmetic, ModularArithmetic
from agattn.algebra.residues import random_residues
from agattn.architectures.functions import read_function
from agattn.architectures.protocol import as_parameters
from agattn.errors import DisagreementError, TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.dimension.lie_algebra import linear_symmetries
from agattn.geometry.identifiability import identifiability as room
from agattn.geometry.identifiability import symmetries
from agattn.geometry.identifiability.families import ExactWeights, with_all_symmetries
from agattn.geometry.identifiability.identifiability import moved_at_random
from agattn.geometry.identifiability.symmetries import Change, SymmetryFields, proved_symmetries


def group(K, P, Q, O, X):
    """Heads that share K and P."""
    S = P @ X @ X.T @ K.T
    return (O @ (S[None] @ (Q @ X[None]))).sum(0)


def heads_sharing(d, d_out, a, b, s):
    return ag.PolynomialMap(group, {"K": (a, d), "P": (b, d), "Q": (s, a, d), "O": (s, d_out, b)}, (d, 2))


def shown(row):
    return row.status.value, row.up_to, row.free, row.evidence.value, row.free_evidence.value


PROVED = ("proved", "proved")


def test_one_layer_determines_products_up_to_one_factor():
    found = ag.identifiability(ag.SingleLayer(3, 2, 2))
    assert {row.name: shown(row) for row in found.parameters} == {
        "K": ("not", None, 4, *PROVED), "Q": ("not", None, 4, *PROVED),
        "V": ("globally", "factor", 1, *PROVED),
    }  # fmt: skip
    assert shown(found["K^T Q"]) == ("globally", "factor", 1, *PROVED)
    assert found["V"].factor_of == "all" and found.error == 0
    assert {row.evidence for row in found.rows} == {Evidence.PROVED}
    (shared,) = found.common_factors
    assert (set(shared.names), sorted(shared.exponents)) == ({"V", "K^T Q"}, [-1, 1])
    assert (found.fiber_dimension, found.theorem, found.field) == (5, "theorem-3.2", "CC")


@pytest.mark.parametrize(
    "architecture",
    [
        ag.SingleLayer(3, 2, 2),
        ag.SingleLayer(3, 1, 1),
        ag.SingleLayer(6, 5, 3),
        ag.DeepNetwork((3, 3, 3), (2, 2), 3),
        ag.DeepNetwork((4, 4), (2,), 2, heads=3),
        ag.Network([ag.Attention(4, 2, heads=3, value_rank=2, kv_heads=1)], 5, 2),
        ag.Network([ag.Perceptron([3, 4], 2)], 3),
    ],
)
def test_where_symmetries_are_the_fiber_they_say_the_same(architecture, monkeypatch):
    expected = ag.identifiability(architecture).as_json()
    monkeypatch.setattr(room, "MOST_PARAMETERS", 0)
    monkeypatch.setattr(room, "differential", None)
    assert ag.identifiability(architecture).as_json() == expected


def test_large_models_are_refused_where_symmetries_are_less_than_the_fiber(monkeypatch):
    large = ag.identifiability(ag.SingleLayer(60, 60, 2))
    assert {row.name: shown(row) for row in large.rows} == {
        "K": ("not", None, 4, *PROVED), "Q": ("not", None, 4, *PROVED),
        "V": ("globally", "factor", 1, *PROVED), "K^T Q": ("globally", "factor", 1, *PROVED),
    }  # fmt: skip
    with pytest.raises(TooLargeError, match="or 100000 where the known symmetries are all"):
        ag.identifiability(ag.SingleLayer(400, 300, 3))
    with pytest.raises(TooLargeError, match="the limit is 3000 at given weights"):
        ag.identifiability(ag.SingleLayer(60, 60, 2), at={})
    monkeypatch.setattr(room, "MOST_PARAMETERS", 0)
    with pytest.raises(TooLargeError, match="or 100000 where the known symmetries are all"):
        ag.identifiability(ag.DeepNetwork((3, 4, 3), (2, 1), 3))


def test_where_the_two_factors_can_be_exchanged_nothing_is_global():
    found = ag.identifiability(ag.SingleLayer(3, 1, 1))
    assert {shown(row) for row in (*found.parameters, *found.functions)} == {
        ("locally", "factor", 1, *PROVED)
    }
    assert found.theorem is None


def test_one_token_sees_the_symmetric_part():
    found = ag.identifiability(ag.SingleLayer(3, 2, 2, t=1), "K^T Q + Q^T K")
    assert shown(found["K^T Q"])[:3] == ("not", None, 3)  # skew matrices
    assert shown(found["K^T Q + Q^T K"]) == ("locally", "factor", 1, *PROVED)


@pytest.mark.parametrize(
    ("sizes", "free"), [((5, 3, 2, 2, 3), 3), ((4, 3, 2, 2, 2), 2), ((4, 2, 2, 1, 1), 1)]
)
def test_a_group_of_heads_determines_its_tensor_alone(sizes, free):
    found = ag.identifiability(heads_sharing(*sizes), ["K^T Q[1]", "K^T Q[1] + K^T Q[1]"])
    one = found["K^T Q[1]"]
    expected = ("not", None) if free > 1 else ("locally", "factor")
    assert shown(one) == (*expected, free, *PROVED)
    assert shown(found["K^T Q[1] + K^T Q[1]"]) == shown(one)
    (tensor,) = (row for row in found.functions if "K^T Q ⊗ O P" in row.name)
    assert shown(tensor) == ("locally", None, 0, *PROVED)


def test_virtual_weights_of_a_network_are_determined():
    found = ag.identifiability(ag.DeepNetwork((3, 3, 2), (2, 2), t=2))
    determined = {row.name for row in (*found.parameters, *found.functions) if row.is_determined}
    assert determined == {"K_1^T Q_1", "V_2 V_1", "V_1^T K_2^T Q_2 V_1"}
    assert {shown(found[name]) for name in determined} == {("globally", "factor", 1, *PROVED)}
    assert found.theorem == "agattn.network-dimension"


def test_where_a_layer_does_not_see_its_input_ranks_alone_speak():
    found = ag.identifiability(ag.DeepNetwork((2, 3, 2), (2, 2), t=2))
    assert shown(found["K_1^T Q_1"]) == ("locally", "factor", 1, "modular", "modular")
    assert found.theorem is None and 0 < found.error < 1e-6 and found.fiber_evidence is Evidence.PROVED


def test_heads_one_by_one_and_their_order():
    found = ag.identifiability(
        ag.DeepNetwork((3, 2), (1,), t=2, heads=2), ["K_1[1]^T Q_1[1]", "sum_i K_1^T Q_1"]
    )
    stack = found["K_1^T Q_1"]
    assert shown(stack) == ("locally", "factor", 2, *PROVED) and stack.factor_of == "matrix"
    assert stack.changed_by == ("permutations of 2 on K_1, Q_1, V_1",)
    assert shown(found["K_1[1]^T Q_1[1]"])[:3] == ("locally", "factor", 1)
    assert shown(found["sum_i K_1^T Q_1"])[:3] == ("not", None, 2)
    (order,) = found.symmetries.discrete
    assert order.order == 2


def test_neurons_have_factors_of_rows_and_columns():
    found = ag.identifiability(ag.Network([ag.Perceptron([3, 2], degree=3)], dim=3))
    assert [(row.factor_of, row.free, *row.changed_by) for row in found.parameters] == [
        ("row", 3, "permutations of 3 on W_1_1, W_1_2"), ("column", 3, "permutations of 3 on W_1_1, W_1_2"),
    ]  # fmt: skip
    (shared,) = found.common_factors
    assert dict(zip(shared.names, shared.exponents, strict=True)) == {"W_1_1": 1, "W_1_2": -3}


@pytest.mark.parametrize(
    ("model", "function", "expected"),
    [
        (ag.PolynomialMap(lambda a: a * a, {"a": 1}), "a", ("locally", "sign", 0)),
        (ag.PolynomialMap(lambda a: a * a * a, {"a": 1}), "a", ("locally", "root", 0)),
        (ag.PolynomialMap(lambda a: (a * a).sum(), {"a": 3}), "a^T a", ("locally", None, 0)),
        (ag.PolynomialMap(lambda a: (a * a).sum(), {"a": 3}), "a", ("not", None, 2)),
        (ag.PolynomialMap(lambda a, b: [a[0], a[1] * b], {"a": 2, "b": ()}), "a", ("partly", None, 1)),
        (ag.PolynomialMap(lambda a, b: [a[0], a[1] + b], {"a": 2, "b": ()}), "b", ("not", None, 1)),
        (ag.Network([ag.Linear(2, bias=True)], dim=3), "W_1", ("globally", None, 0)),
        (ag.Network([ag.Linear(2), ag.Linear(3)], dim=4), "W_2 W_1", ("locally", None, 0)),
    ],
)
def test_small_maps(model, function, expected):
    row = ag.identifiability(model, function)[function]
    assert shown(row) == (*expected, *PROVED)
    assert row.determined == (1 if expected[0] == "partly" else row.entries * row.is_determined)


def test_rotary_positions():
    """Factors and rotations of each pair of rows are left, and KᵀQ does not see them."""
    model = ag.Network([ag.Attention(2, rank=4, heads=2, rotary=True, mask="causal")], dim=3, tokens=3)
    found = ag.identifiability(model)
    assert shown(found["K_1^T Q_1"]) == ("locally", "factor", 2, *PROVED)
    assert shown(found["K_1"])[:3] == ("not", None, 8)
    assert shown(found["V_1"]) == ("locally", "factor", 2, *PROVED)


# --- against floating point ---

small = st.integers(1, 3)
models = st.one_of(
    st.builds(lambda d, e, a, t: ag.SingleLayer(d, e, a, t=t), small, small, small, st.integers(1, 2)),
    st.builds(
        lambda d, e, a, h, b: ag.DeepNetwork((d, e), (a,), t=2, heads=h, value_rank=b),
        st.integers(2, 3), small, st.integers(1, 2), st.integers(1, 2), st.sampled_from([None, 1]),
    ),
    st.builds(
        lambda d, a, s: ag.DeepNetwork((d, d, d), (a, a), t=2, skip=s),
        st.integers(1, 2), small, st.booleans(),
    ),
    st.builds(
        lambda d, m, r: ag.Network([ag.Perceptron([m, 2], degree=r)], dim=d), small, small, st.integers(2, 3)
    ),
    st.builds(heads_sharing, st.integers(2, 3), small, st.just(1), st.integers(1, 2), st.integers(1, 2)),
)  # fmt: skip


def ranks_in_floating_point(architecture, f):
    """The ranks of J and of (J, D) at a random point, by singular values; D by differences of f."""
    generator = np.random.default_rng(5)
    n = architecture.parameters
    theta = generator.standard_normal(n)
    X = generator.standard_normal((n + 10, *architecture.input_shape))
    cotangents = generator.standard_normal((n + 10, 1, *architecture.output_shape))
    J = jacobian(architecture, as_parameters(architecture, theta), X, FloatArithmetic(), cotangents)
    J /= np.linalg.norm(J, axis=1, keepdims=True) + 1e-300

    def value(flat):
        return np.asarray(f.evaluate(FloatArithmetic(), as_parameters(architecture, flat), None)).ravel()

    step = 1e-4
    units = step * np.eye(n)
    D = np.array([(value(theta + e) - value(theta - e)) / (2 * step) for e in units]).T
    return [np.linalg.matrix_rank(M, tol=1e-6) for M in (J, np.concatenate([J, D]))]


@settings(max_examples=25, deadline=None)
@given(models)
def test_free_is_the_difference_of_ranks(architecture):
    found = ag.identifiability(architecture)
    for row in (*found.parameters, *found.functions):
        rank, both = ranks_in_floating_point(
            architecture, read_function(row.name.replace("−", "-"), architecture.shapes)
        )
        assert both - rank == row.free
        assert (row.free == 0) == (row.is_determined and row.up_to != "factor")


@settings(max_examples=12, deadline=None)
@given(models)
def test_what_is_determined_is_what_no_symmetry_moves(architecture):
    """Where symmetries account for the whole kernel; their action on f by differences of f itself."""
    found = ag.identifiability(architecture)
    algebra = linear_symmetries(architecture)
    if algebra.orbit_dimension < found.fiber_dimension:
        return
    theta = np.random.default_rng(6).standard_normal(architecture.parameters)
    for row in (*found.parameters, *found.functions):
        f = read_function(row.name, architecture.shapes)
        moves = False
        for one in algebra.generators:
            B = np.zeros((len(theta),) * 2)
            for (i, j), x in one.matrix.items():
                B[i, j] = x
            sides = (theta + 1e-5 * s * B @ theta for s in (1, -1))
            plus, minus = (f.evaluate(FloatArithmetic(), as_parameters(architecture, w), None) for w in sides)
            moves |= bool(np.abs(plus - minus).max() > 1e-8)
        assert moves == (row.free > 0)
        # Rates that change from point to point are not proved.
        assert row.evidence is Evidence.PROVED or row.factor_of in ("matrix", "row", "column")
        # How far K_2ᵀQ_2 moves under GL(2) depends on a stabilizer that changes from point to point.
        assert row.free_evidence is Evidence.PROVED or row.status.value in ("not", "partly")


# --- at given weights ---


def test_general_weights_have_the_general_answer():
    weights = {"K": [[1, 2, 0], [0, 1, 1]], "Q": [[1, 0, 1], [0, "1/2", 1]], "V": [[1, 0, 2], [0, 1, 1]]}
    found, general = (ag.identifiability(ag.SingleLayer(3, 2, 2), at=at) for at in (weights, None))
    assert found.at_weights and not general.at_weights
    rows, others = ([*one.parameters, *one.functions] for one in (found, general))
    assert list(map(shown, rows)) == list(map(shown, others))


@pytest.mark.parametrize(
    ("V", "status"),
    [([[1, 0]], "locally"), ([[1, 2]], "globally")],  # two lines; one, as V is a multiple of K
)
def test_weights_of_rank_one(V, status):
    layer = ag.SingleLayer(2, 1, 1)
    found = ag.identifiability(layer, at={"K": [[1, 2]], "Q": [[1, 1]], "V": V})
    assert {(row.status.value, row.up_to) for row in (*found.parameters, *found.functions)} == {
        (status, "factor")
    }
    assert len(ag.fiber(layer, {"K": [[1, 2]], "Q": [[1, 1]], "V": V}).components) == (
        2 if status == "locally" else 1
    )


def test_a_zero_determines_itself_alone():
    found = ag.identifiability(
        ag.SingleLayer(3, 2, 2), at={"K": np.eye(2, 3), "Q": np.eye(2, 3), "V": np.zeros((2, 3))}
    )
    assert (found["V"].status.value, found["V"].free) == ("locally", 0)
    assert shown(found["K"])[:3] == ("not", None, 6) and shown(found["K^T Q"])[:3] == ("not", None, 8)
    assert found.fiber_dimension == 12


def test_behind_a_head_of_rank_one_the_skew_part_is_not_seen():
    weights = {"A_1": [[1, 2], [2, 4]], "V_1": [[1, 0], [0, 1]], "A_2": [[1, 1], [0, 1]], "V_2": [[1, 3]]}
    virtual = "V_1^T K_2^T Q_2 V_1"
    symmetric = f"{virtual} + V_1^T Q_2^T K_2 V_1"
    found = ag.identifiability(ag.DeepNetwork((2, 2, 1), (2, 2), t=2), symmetric, weights)
    assert shown(found[virtual])[:3] == ("not", None, 2)
    assert shown(found[symmetric])[:3] == ("locally", "factor", 1)
    general = ag.identifiability(ag.DeepNetwork((2, 2, 1), (2, 2), t=2))
    assert shown(general[virtual])[:3] == ("globally", "factor", 1)


def test_a_dead_neuron_is_not_determined_and_its_weight_is():
    weights = {"W_1_1": [[1, 2, 1], [1, 1, 5], [3, 1, 1]], "W_1_2": [[1, 0, -1]]}
    found = ag.identifiability(ag.Network([ag.Perceptron([3, 1], degree=3)], dim=3), at=weights)
    into, out = found["W_1_1"], found["W_1_2"]
    assert (into.status.value, into.free) == ("not", 5)  # two factors, and a row that may be anything
    assert (out.status.value, out.free, out.determined) == ("partly", 2, 1)


@pytest.mark.parametrize(
    "architecture",
    [
        ag.DeepNetwork((3, 2, 2), (2, 1), t=2, heads=2, value_rank=1),
        ag.DeepNetwork((3, 1, 2), (2, 2), t=2),  # with further symmetries, which are not named
        ag.Network([ag.Perceptron([3, 2], degree=3)], dim=2),
    ],
)
def test_a_random_move_stays_in_the_fiber(architecture):
    generator = np.random.default_rng(4)
    weights = {name: generator.integers(1, 5, shape) for name, shape in architecture.shapes.items()}
    at = with_all_symmetries(ExactWeights(architecture, weights))
    p = at.prime(generator)
    theta, _ = at.residues(p)
    (moved,) = moved_at_random(at, theta[None], p, generator)
    X = random_residues(generator, (3, *architecture.input_shape), p)
    values = [architecture.evaluate(ModularArithmetic(p), at.arrays(one), X) % p for one in (theta, moved)]
    assert (values[0] == values[1]).all() and (theta != moved).mean() > 0.9


def test_what_is_seen_to_move_by_factors_alone_is_not_called_free():
    """The last pair has rank one and shares a vector, so that the fiber is not reduced there."""
    at = {"A_1": [[1, 2], [0, 1]], "V_1": [[1, 0], [0, 1]], "A_2": [[1, 1], [3, 3]], "V_2": [[1, 3]]}
    found = ag.identifiability(ag.DeepNetwork((2, 2, 1), (2, 2), t=2), at=at)
    statuses = {row.name: row.status.value for row in (*found.parameters, *found.functions)}
    assert {statuses[name] for name in ("K_1^T Q_1", "V_2 V_1", "V_1^T K_2^T Q_2 V_1")} == {"undecided"}
    assert {statuses[name] for name in ("K_1", "V_1", "K_2", "V_2", "K_2^T Q_2")} == {"not"}
    assert found.fiber_evidence is Evidence.MODULAR and "factors" in found["V_2 V_1"].reason


def test_where_ranks_do_not_decide_it_is_said():
    square = ag.PolynomialMap(lambda a: a * a, {"a": 1})
    zero, three = (ag.identifiability(square, at={"a": [a]}) for a in (0, 3))
    assert zero["a"].status.value == "undecided" and zero["a"].evidence is Evidence.MODULAR
    assert "has dimension at least 0 (modular)" in str(zero)
    assert shown(three["a"]) == ("locally", "sign", 0, *PROVED) and "has dimension 0 (proved)" in str(three)


# --- documents, and what is refused ---


def test_a_family_smaller_than_the_fiber_is_not_taken_for_all_of_it():
    """One token: (K, Q) and (K + SQ, Q) have one function for skew S; no symmetry of a head does this."""
    network = ag.DeepNetwork((2, 1), (2,), t=1)
    at = {"K_1": [[[0, -1], [0, 2]]], "Q_1": [[[1, 2], [0, 0]]], "V_1": [[[2, -1]]]}
    moved = {**at, "K_1": [[[0, -1], [-1, 0]]]}
    assert ag.fiber(network, at).contains(moved)
    found = ag.identifiability(network, at=at)
    assert found.fiber_dimension == 6 and found["K_1"].status.value == "undecided"
    assert found["K_1"].free >= 3  # what one rank at these weights shows


@pytest.mark.parametrize("name", ["changes_by_factors", "rational_number"])
def test_a_symmetry_that_is_not_proved_fixes_nothing(monkeypatch, name):
    layer = ag.SingleLayer(3, 2, 2)
    product = read_function("K^T Q", layer.shapes)
    known = SymmetryFields(layer, proved_symmetries(layer))
    assert known.changing(Change(product)) == 4
    monkeypatch.setattr(symmetries, name, lambda *_: None)
    assert known.changing(Change(product)) == 0


def test_a_rank_above_the_proved_bound_is_reported(monkeypatch):
    monkeypatch.setattr(room, "dimension", lambda layer: SimpleNamespace(upper_bound=4))
    with pytest.raises(DisagreementError, match=r"has the rank 5 modulo .* at most 4 is proved"):
        ag.identifiability(ag.SingleLayer(2, 1))
