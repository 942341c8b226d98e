"""Networks of any layers: every layer against its formula, its symmetries, and dimensions that are known."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layers_by_hand import formula, inner_weights

import agattn as ag
from agattn.algebra.arithmetic import (
    BallArithmetic,
    FloatArithmetic,
    ModularArithmetic,
    RingArithmetic,
    Size,
    to_balls,
)
from agattn.algebra.polynomial import PolynomialRing, Variable
from agattn.algebra.residues import matmul, random_residues
from agattn.architectures import draw_parameters
from agattn.architectures.contractions import gauge_groups
from agattn.architectures.layers import rotations
from agattn.architectures.protocol import symmetry_tangents
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.jacobian import jacobian

P = 1073741789


@st.composite
def networks(draw):
    """A small network of any layers, and its inputs' shape."""
    shape = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    number = st.integers(1, 3)
    layers = []
    for _ in range(draw(number)):
        d = (ag.Network(layers, *shape).output_shape if layers else shape)[0]
        skip, rotary = draw(st.booleans()), draw(st.sampled_from([False, True, 1]))
        out = d if skip else draw(number)
        layer = draw(
            st.sampled_from(
                [
                    ag.Attention(
                        out, 2 + (rotary is not True) if rotary else draw(number), draw(st.integers(1, 2)),
                        draw(st.sampled_from([None, 1])), draw(st.sampled_from(["none", "causal"])),
                        rotary, skip,
                    ),
                    ag.Perceptron([draw(number), out], draw(st.integers(1, 2)), draw(st.booleans()), skip),
                    ag.Linear(out, draw(st.booleans())),
                    ag.Power(2),
                    ag.Sum(),
                    ag.Skip([ag.Power(2), ag.Linear(d)]),
                    ag.Convolution(1, draw(st.integers(1, 2)), channels=draw(st.integers(1, 2))),
                    ag.Convolution(1, 2),
                ]
            )
        )  # fmt: skip
        layers.append(layer)
    d, t = ag.Network(layers, *shape).output_shape
    if max(d, t) > 1:
        layers.append(ag.Convolution(2, 1, channels=draw(st.integers(1, 2))))
    return ag.Network(layers, *shape)


def integers(network, generator, inputs=3):
    def draw(shape):
        return generator.integers(-3, 4, shape).astype(object)

    return draw_parameters(network, draw), draw((inputs, *network.input_shape))


FIXED = [
    ag.Network([ag.Attention(2, 4, 2, rotary=True, mask="causal")], 3, 4),
    ag.Network([ag.Attention(2, 2, mask=[[1, 0], [1, 1]], value_rank=1)], 2, 2),
    ag.Network([ag.Perceptron([2, 3, 2], 3, bias=True)], 2, 2),
    ag.Network([ag.Convolution(3, 2, stride=2, channels=2), ag.Convolution(2, 3)], 2, 7),
    ag.Network([ag.Convolution(2, 2), ag.Perceptron([2, 1], 2), ag.Sum()], 4),
    ag.Network([ag.Bilinear(3, 2), ag.Bilinear(2, 2, skip=True)], 3, 2),
    ag.Network([ag.CrossAttention(2, 3, context=2, heads=2), ag.CrossAttention(1, 1, 1)], 3, 4),
]


def at_formula(network, seed):
    weights, X = integers(network, np.random.default_rng(seed))
    Y = network.evaluate(RingArithmetic(), weights, X)
    assert Y.shape == (len(X), *network.output_shape)
    for x, y in zip(X, Y, strict=True):
        for n, layer in enumerate(network.layers, 1):
            x = formula(layer, inner_weights(weights, n), x)
        assert (x == y).all()


@pytest.mark.parametrize("network", FIXED, ids=str)
def test_layers_are_their_formulas(network):
    at_formula(network, 0)


@settings(max_examples=40)
@given(networks(), st.integers(0, 99))
def test_networks_are_their_formulas_and_have_their_symmetries(network, seed):
    at_formula(network, seed)
    generator = np.random.default_rng(seed)
    weights = draw_parameters(network, lambda shape: random_residues(generator, shape, P))
    if network.parameters:
        J = jacobian(
            network, weights, random_residues(generator, (4, *network.input_shape), P), ModularArithmetic(P)
        )
        assert not matmul(J, symmetry_tangents(network, weights, P).T.copy(), P).any()


@pytest.mark.parametrize("network", FIXED, ids=str)
def test_every_arithmetic_agrees(network):
    weights, X = integers(network, np.random.default_rng(1), 2)
    exact = network.evaluate(RingArithmetic(), weights, X)
    residues = network.evaluate(
        ModularArithmetic(P), {k: (a % P).astype(float) for k, a in weights.items()}, (X % P).astype(float)
    )
    assert (residues == ModularArithmetic(P).constant(exact)).all()
    floats = {k: a.astype(float) for k, a in weights.items()}
    assert np.allclose(network.evaluate(FloatArithmetic(), floats, X.astype(float)), exact.astype(float))
    balls = network.evaluate(BallArithmetic(), {k: to_balls(a) for k, a in floats.items()}, to_balls(X))
    known = BallArithmetic().constant(exact)
    assert all(ball.overlaps(value) for ball, value in zip(balls.ravel(), known.ravel(), strict=True))


def test_over_polynomials_and_the_size_of_their_coefficients():
    network = ag.Network([ag.Attention(1, 2, rotary=True, mask="causal")], 1, 3)
    ring = PolynomialRing([Variable(letter, (i,)) for letter in "kqvx" for i in (1, 2, 3)])
    k, q, v, x = (ring.gens[i : i + 3] for i in (0, 3, 6, 9))
    weights = {"K_1": [[[k[0]], [k[1]]]], "Q_1": [[[q[0]], [q[1]]]], "V_1": [[[v[0]]]]}
    weights = {name: np.array(rows, dtype=object) for name, rows in weights.items()}
    Y = network.evaluate(RingArithmetic(), weights, np.array([[x]], dtype=object))
    coefficients = [c for f in Y.ravel() for c in f.terms.values()]
    assert {Fraction(3, 5), Fraction(-7, 25)} <= set(coefficients)
    ones = {name: np.full(shape, Size(0.0), dtype=object) for name, shape in network.shapes.items()}
    bound = network.evaluate(RingArithmetic(), ones, np.full((1, 1, 3), Size(0.0), dtype=object)).sum()
    assert all((c * bound.denominator).denominator == 1 for c in coefficients)
    assert 0 <= bound.coefficients - np.log2(float(sum(map(abs, coefficients)))) < 1
    degrees = {sum(e) for f in Y.ravel() for e in f.terms}
    assert max(degrees) == network.degree == 6


def test_one_pair_that_is_turned_is_not_all_pairs():
    """Although 1 == True in Python."""
    one, both = ag.Attention(2, 4, rotary=1), ag.Attention(2, 4, rotary=True)
    assert one != both and both == ag.Attention(2, 4, rotary=2) and one == ag.Attention(2, 4, rotary=1)
    assert len({one, both}) == 2 and ag.Network([one], 2, 3) != ag.Network([both], 2, 3)
    found = [ag.dimension(ag.Network([layer], 4, 2)).dimension for layer in (one, both)]
    assert found == [40 - 1 - (2 + 2**2), 40 - 1 - 4]


def test_rotary_positions_matter_by_distance_alone():
    assert all(c * c + s * s == 1 for c, s in rotations(9)) and len(set(rotations(9))) == 9
    network = ag.Network([ag.Attention(2, 4, rotary=True)], 2, 3)
    weights, X = integers(network, np.random.default_rng(2))
    X[:, :, 0] = 0  # then a shift to the left by one position changes nothing but positions
    shifted = np.concatenate([X[:, :, 1:], X[:, :, :1]], axis=2)
    one, other = (network.evaluate(RingArithmetic(), weights, Z) for Z in (X, shifted))
    assert (one[:, :, 1:] == other[:, :, :2]).all() and (one != 0).any()
    assert (one != ag.Network([ag.Attention(2, 4)], 2, 3).evaluate(RingArithmetic(), weights, X)).any()


@pytest.mark.parametrize(
    "network",
    [
        ag.DeepNetwork((3, 2, 3), (2, 1), t=2),
        ag.DeepNetwork((2, 2), (2,), t=2, heads=2),
        ag.DeepNetwork((2, 2, 2), (1, 2), t=3, heads=(1, 2), skip=True, value_rank=1),
        ag.DeepNetwork((2, 2), (1,), t=2, normalization="softmax"),
    ],
    ids=str,
)
def test_networks_of_attention_are_recognized(network):
    layers = [
        ag.Attention(d, a, h, network.value_rank, skip=network.skip, normalization=network.normalization)
        for d, a, h in zip(network.dims[1:], network.ranks, network.heads_by_layer, strict=True)
    ]
    model = ag.Network(layers, network.dims[0], network.t)
    assert model.as_network() == network and model.shapes == network.shapes and model.degree == network.degree
    assert ag.dimension(model).as_json() | {"seconds": 0} == ag.dimension(network).as_json() | {"seconds": 0}
    # The same functions, behind an identity that keeps them from being recognized.
    other = dimension(ag.Network([*layers, ag.Power(1)], network.dims[0], network.t))
    assert other.architecture.as_network() is None and other.dimension == dimension(network).dimension


def test_a_causal_mask_changes_nothing_for_one_token():
    plain = ag.Network([ag.Attention(2, 2)], 3, 1).as_network()
    assert plain is not None and ag.Network([ag.Attention(2, 2, mask="causal")], 3, 1).as_network() == plain
    assert ag.Network([ag.Attention(2, 2, mask="causal")], 3, 2).as_network() is None


def test_rotary_positions_leave_a_smaller_group():
    found = dimension(ag.Network([ag.Attention(3, 2, rotary=True)], 3, 3))
    # 21 parameters, less the scaling and the rotation of a pair, and the scaling of A.
    assert (found.dimension, found.evidence) == (18, Evidence.PROVED)
    assert dimension(ag.Network([ag.Attention(3, 2)], 3, 3)).dimension == 16


def test_a_network_is_a_table():
    text = FIXED[4]._repr_html_()
    assert "Network for inputs of size 4 × 1, 10 parameters" in text and "convolution 2 (degree 2)" in text
    assert FIXED[4]._repr_latex_()


def test_bounds_of_layers_add_up():
    block = [
        ag.Attention(4, 2, 2, 2, "causal", rotary=True, skip=True),
        ag.Skip([ag.Linear(8), ag.Power(2), ag.Linear(4)]),
    ]
    found = dimension(ag.Network(block, 4, 3))
    # 64 parameters of attention, less 2 · (1 + 1 + 1 + 4); and all quadrics, of which there are 4 · 10.
    assert (found.dimension, found.evidence) == (50 + 40, Evidence.PROVED)
    # 12 matrices of rank 1 with a cube between them: 3 + 2 linear forms, less the factor between them.
    deep = dimension(ag.Network([ag.Perceptron([1, 4, 2], 3)], 3))
    assert (deep.dimension, deep.evidence) == (3 + 2 - 1, Evidence.PROVED)


def test_cross_attention_is_attention_with_a_mask():
    """The asking tokens see the context alone; of the masked layer they are the last tokens."""
    mask = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]
    cross = ag.Network([ag.CrossAttention(2, 2, context=2, heads=2)], 3, 4)
    masked = ag.Network([ag.Attention(2, 2, heads=2, mask=mask)], 3, 4)
    weights, X = integers(cross, np.random.default_rng(4))
    found = masked.evaluate(RingArithmetic(), weights, X)
    assert not found[..., :2].any() and found.any()
    assert (found[..., 2:] == cross.evaluate(RingArithmetic(), weights, X)).all()
    assert dimension(cross).dimension == dimension(masked).dimension == 26
    assert {group.size for group in gauge_groups(cross)} == {symmetry.size for symmetry in cross.symmetries}
