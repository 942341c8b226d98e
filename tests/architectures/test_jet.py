"""Jets of networks: dimensions by order, their values, and every command about them."""

from fractions import Fraction
from math import factorial

import flint
import numpy as np
import pytest
from command_line import document
from hypothesis import given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.arithmetic import BallArithmetic, RingArithmetic, to_balls
from agattn.architectures import draw_parameters

SOFTMAX = {"normalization": "softmax"}
#: (widths; ranks), tokens, and the dimension of the jet of each order.
KNOWN = [
    ((2, 2, 1), (2, 2), 2, {7: 10, 8: 10}),
    ((3, 2), (2,), 3, {3: 14, 4: 14}),
    ((2, 2, 2), (2, 2), 2, {7: 12}),
    ((3, 3, 2), (2, 1), 2, {7: 19}),
]
BELOW = [
    ((2, 2, 1), (2, 2), 2, {3: 6, 5: 6}),
    ((3, 2), (2,), 3, {1: 6, 2: 6}),
    ((2, 2, 2), (2, 2), 2, {5: 8}),
]


@pytest.mark.parametrize(("dims", "ranks", "t", "known"), KNOWN)
def test_dimensions_of_jets_that_see_every_score(dims, ranks, t, known):
    network = ag.DeepNetwork(dims, ranks, t, **SOFTMAX)
    for order, value in known.items():
        found = ag.dimension(ag.Jet(network, order))
        assert (found.dimension, found.evidence) == (value, ag.Evidence.PROVED)
    assert ag.dimension(network).dimension == value  # in balls


@pytest.mark.slow
@pytest.mark.parametrize(("dims", "ranks", "t", "known"), BELOW)
def test_lower_orders_do_not_see_the_last_score(dims, ranks, t, known):
    network = ag.DeepNetwork(dims, ranks, t, **SOFTMAX)
    for order, value in known.items():
        assert ag.dimension(ag.Jet(network, order)).dimension == value


@given(
    st.lists(st.integers(1, 3), min_size=2, max_size=3),
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([1, 3, 5]),
    st.integers(0, 10**6),
)
@settings(max_examples=15)
def test_the_jet_is_the_function_to_its_order(dims, t, skip, order, seed):
    """|φ(sX) − jet(sX)| falls by 2^(N+2) as s is halved, as even degrees do not occur."""
    if skip:
        dims = [dims[0]] * len(dims)
    network = ag.DeepNetwork(tuple(dims), (2,) * (len(dims) - 1), t, heads=2, skip=skip, **SOFTMAX)
    assert_is_the_function_to(ag.Jet(network, order), np.random.default_rng(seed))


def assert_is_the_function_to(jet, generator):
    """That the error of the jet falls as the first term beyond its order does, which is odd."""
    network, order = jet.network, jet.order
    theta = draw_parameters(network, lambda shape: generator.integers(-3, 4, shape) + 0.5)
    X = generator.integers(-3, 4, (1, *network.input_shape)) + 0.5
    errors = []
    with flint.ctx.workprec(2000):
        weights = {name: to_balls(array) for name, array in theta.items()}
        for halvings in (60, 61):
            small = to_balls(X) * flint.arb(2) ** -halvings
            full = network.evaluate(BallArithmetic(), weights, small)
            value = jet.evaluate(BallArithmetic(), weights, small)
            errors.append([abs(float(x)) for x in (full - value).ravel()])
    for one, other in zip(*errors, strict=True):
        assert one < 2.0 ** (-60 * order - 40)
        assert one == 0 or one / other > 2 ** (order + 1.99)


#: Layers of attention of every kind, with a softmax.
KINDS = {
    "causal": {"mask": "causal"},
    "mask": {"mask": [[1, 1, 0], [1, 0, 1], [0, 1, 1]]},
    "grouped": {"heads": 2, "kv_heads": 1, "value_rank": 1},
    "latent": {"heads": 2, "value_rank": 1, "kv_latent": 2, "q_latent": 1},
    "rotary": {"rotary": True, "mask": "causal"},
    "rotary latent": {"rotary": True, "kv_latent": 2},
}


@pytest.mark.parametrize("kind", KINDS)
def test_jets_of_every_kind_of_attention_have_the_dimension_found_in_balls(kind):
    layer = ag.Attention(2, 2, normalization="softmax", **KINDS[kind])
    network = ag.Network([layer], 2, tokens=3)
    order = 5 if layer.heads > 1 or layer.rotary else 3
    jet, whole = ag.dimension(ag.Jet(network, order)), ag.dimension(network)
    assert jet.dimension == whole.dimension and jet.lower_bound == whole.lower_bound


@pytest.mark.parametrize("kind", KINDS)
def test_jets_of_every_kind_of_attention_are_the_function_to_their_order(kind):
    network = ag.Network([ag.Attention(2, 2, skip=True, normalization="softmax", **KINDS[kind])], 2, tokens=3)
    assert_is_the_function_to(ag.Jet(network, 5), np.random.default_rng(1))


def exponential(order):
    """The Taylor coefficients of exp, as text."""
    return {"series": [f"1/{factorial(k)}" for k in range(order + 1)]}


def test_a_normalizer_by_its_series():
    """exp by its coefficients gives the jets of softmax; 1 + w² sees scores at the order 2κ + 1 = 5."""
    softmax = ag.DeepNetwork((2, 2, 1), (2, 2), 2, **SOFTMAX)
    series = ag.DeepNetwork((2, 2, 1), (2, 2), 2, normalization=exponential(3))
    generator = np.random.default_rng(0)
    theta = draw_parameters(softmax, lambda s: np.vectorize(Fraction)(generator.integers(-3, 4, s)))
    X = np.vectorize(Fraction)(generator.integers(-3, 4, (2, 2, 2)))
    one, other = (ag.Jet(network, 7).evaluate(RingArithmetic(), theta, X) for network in (softmax, series))
    assert (one == other).all()
    assert ag.dimension(ag.Jet(series, 7)).dimension == 10
    even = ag.DeepNetwork((2, 2), (2,), 2, normalization={"series": [1, 0, "1/2"]})
    found = {n: ag.dimension(ag.Jet(even, n)) for n in (4, 5)}
    assert {n: (one.dimension, str(one.evidence)) for n, one in found.items()} == {
        4: (4, "proved"), 5: (8, "proved"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("dims", "ranks", "order", "value"),
    [
        ((2, 2, 1), (2, 2), 6, 6),
        ((5, 4, 1), (2, 1), 5, 21),
        ((3, 1, 3), (2, 1), 6, 13),
        ((3, 3, 3, 3), (2, 2, 2), 18, 25),
    ],
)
def test_scores_that_a_jet_does_not_see_are_not_counted(dims, ranks, order, value):
    found = ag.dimension(ag.Jet(ag.DeepNetwork(dims, ranks, 2, **SOFTMAX), order))
    assert (found.dimension, str(found.evidence)) == (value, "proved")
    assert "a jet of this order sees no scores of layers above" in found.upper_bound_reason


def test_a_jet_of_a_polynomial_network_is_its_part_of_low_degree():
    network = ag.Network([ag.Perceptron([2, 1], degree=2, bias=True)], dim=2)
    theta = {"W_1_1": [[1, 2], [3, 4]], "b_1_1": [5, 6], "W_1_2": [[1, 1]], "b_1_2": [7]}
    theta = {name: np.array(array, dtype=object) for name, array in theta.items()}
    X = np.array([[[1], [Fraction(1, 2)]]], dtype=object)
    # (x + 2y + 5)² + (3x + 4y + 6)² + 7 = 68 + 46x + 68y + …
    value = [ag.Jet(network, order).evaluate(RingArithmetic(), theta, X).item() for order in (1, 2, 3)]
    assert value == [68 + 46 + 34, 68 + 46 + 34 + 4 + 25, 68 + 46 + 34 + 4 + 25]
    assert ag.Jet(network, 1).degree <= network.degree and ag.Jet(network, 1).input_degrees == (0, 1)


NETWORK = ["--dims", "2,1", "--ranks", "1", "-t", "2", "--normalization", "softmax", "--jet", "3"]


@pytest.mark.parametrize("command", ["dimension", "symmetries", "singularities", "ideal"])
def test_commands_about_models_are_about_jets(command):
    found = document(command, *NETWORK)
    assert found["architecture"]["jet"] == 3 and found["architecture"]["network"]["dims"] == [2, 1]
    if command == "ideal":
        assert [row["minimal_generators"] for row in found["degrees"]] == [0, 3, 2, 0]
    else:
        assert found["dimension"] == 5 if command != "symmetries" else found["orbit_dimension"] == 1


@pytest.mark.engine("singular")
def test_an_engine_finds_the_equations_too():
    """The image is no cone: an engine eliminates, and finds as many generators as are found natively."""
    answer = document("run", "implicit-ideal", *NETWORK, "--engine", "singular")["answer"]
    assert answer["dimension"] == 5 and len(answer["generators"]) == 5


def test_fibers_and_learning_coefficients(tmp_path):
    (tmp_path / "w.json").write_text('{"K_1": [[[1, 0]]], "Q_1": [[[0, 1]]], "V_1": [[[1, 1]]]}')
    found = document("fiber", *NETWORK, tmp_path / "w.json")
    assert (found["dimension"], found["upper_bound"]) == (1, 1)
    assert document("rlct", *NETWORK, tmp_path / "w.json")["bracket"]["lambda"] == "5/2"
