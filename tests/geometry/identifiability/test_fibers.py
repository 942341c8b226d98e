from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from points_of_strata import scrambled

from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.identifiability.equivalence import equivalent
from agattn.geometry.identifiability.weights import (
    canonical_factors,
    canonical_scale,
    fiber,
    gauge_between,
    joint_rank,
    scale_between,
    weights,
)
from agattn.geometry.strata.strata import strata
from agattn.geometry.variety.coordinates import coefficients

SHAPES = [(d, d_out, a) for d in range(1, 4) for d_out in range(1, 4) for a in range(1, d + 1)]


def same_function(one, other):
    layer = SingleLayer(len(one.A), len(one.V))
    first, second = (coefficients(layer, w.A, w.V) for w in (one, other))
    if one.is_exact and other.is_exact:
        return (first == second).all()
    return np.abs(first - second).max() <= 1e-12 * np.abs(first).max()


def sample(through, seed):
    """Random exact weights of a fiber: a random component, scale and free matrix."""
    rng, w = np.random.default_rng(seed), through.weights
    index = int(rng.integers(len(through.points)))
    options = {"s": Fraction(int(rng.integers(1, 10)), int(rng.integers(1, 10))) * int(rng.choice([-1, 1]))}
    if through.points[index].name == "A = 0":
        options["V"] = rng.integers(-9, 10, w.V.shape)
    elif through.points[index].name == "V = 0":
        d, alpha = len(w.A), min(w.a, len(w.A))
        options["A"] = rng.integers(-9, 10, (d, alpha)) @ rng.integers(-9, 10, (alpha, d))
    return through.move(index, **options)


@pytest.mark.parametrize("shape", SHAPES)
def test_fibers_of_all_strata(shape):
    layer = SingleLayer(*shape)
    for n, stratum in enumerate(strata(layer)):
        A, V = scrambled(layer, stratum, n)
        w = weights(A=A, V=V, a=layer.a)
        found = fiber(w)
        assert found.evidence is Evidence.PROVED
        if stratum.is_zero:
            assert found.case == "zero"
            assert found.dimension == max(layer.d * layer.d_out, layer.alpha * (2 * layer.d - layer.alpha))
        else:
            assert tuple(decision.rank for decision in found.ranks.values()) == (
                stratum.r_v, stratum.r_a, stratum.r,
            )  # fmt: skip
            both_one = stratum.r_v == stratum.r_a == 1
            expected = ("double line" if stratum.r == 1 else "two lines") if both_one else "line"
            assert (found.case, found.dimension) == (expected, 1)
        for seed in range(4):
            other = sample(found, seed)
            assert same_function(w, other) and found.contains(other)
            again = fiber(other)
            assert (again.canonical().A == found.canonical().A).all()
            assert (again.canonical().V == found.canonical().V).all()
            assert equivalent(w, other).equal
        other = weights(A=A, V=V + 1, a=layer.a)
        assert found.contains(other) == bool(same_function(w, other))


small = st.integers(-3, 3)


@given(st.data())
def test_equivalence_agrees_with_the_coefficients(data):
    d, d_out = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2))

    def draw():
        M = lambda rows: [[data.draw(small) for _ in range(d)] for _ in range(rows)]  # noqa: E731
        return weights(A=M(d), V=M(d_out))

    one, other = draw(), draw()
    if data.draw(st.booleans()):
        other = sample(fiber(one), data.draw(small) + 3)
    answer = equivalent(one, other)
    assert answer.equal == bool(same_function(one, other))
    if not answer.equal:
        gap = other(answer.X) - one(answer.X)
        assert gap[answer.place] == answer.difference != 0


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(3, 5))
def test_keys_and_queries_are_related_by_exactly_one_gauge(seed, a, d):
    rng = np.random.default_rng(seed)
    K, Q = (np.concatenate([np.eye(a, dtype=int), rng.integers(-3, 4, (a, d - a))], axis=1) for _ in "KQ")
    C = np.tril(rng.integers(-2, 3, (a, a)), -1) + np.diag(rng.choice([-2, 1, 3], a))
    w = weights(K=K, Q=Q, V=rng.integers(1, 4, (2, d)))
    other = fiber(w).move(s=Fraction(2, 3), C=C)
    answer = equivalent(w, other)
    assert answer.equal and answer.only.s == Fraction(2, 3) and (answer.only.C == C).all()
    assert same_function(w, other)
    again = canonical_factors(other.A, a)
    assert gauge_between(again, (other.K, other.Q)) is not None
    first, second = fiber(w).canonical(), fiber(other).canonical()
    assert (first.K == second.K).all() and (first.Q == second.Q).all()


def test_unrelated_keys_have_no_gauge():
    assert gauge_between(([[1, 0]], [[1, 0]]), ([[0, 1]], [[1, 0]])) is None
    assert gauge_between(([[0, 0]], [[0, 0]]), ([[0, 0]], [[0, 0]])) is None
    with pytest.raises(InputError, match="differ"):
        gauge_between(([[1, 0]], [[1, 0]]), ([[0, 1, 0]], [[1, 0, 0]]))


def test_teleportation_in_floating_point_keeps_the_function():
    rng = np.random.default_rng(0)
    K, Q, V = rng.standard_normal((4, 12)), rng.standard_normal((4, 12)), rng.standard_normal((5, 12))
    w = weights(K=K, Q=Q, V=V)
    found = fiber(w)
    other = found.move(s=-3.5, C=rng.standard_normal((4, 4)))
    X = rng.standard_normal((12, 6))
    assert np.abs(w(X) - other(X)).max() < 1e-11 * np.abs(w(X)).max()
    answer = equivalent(w, other)
    assert answer.equal and answer.relative < 1e-13 and answer.evidence is Evidence.NUMERICAL
    assert found.ranks["r_a"].margin > 1e6 and found.dimension_with_keys == 1 + 16
    different = equivalent(w, weights(K=K, Q=Q, V=V + 0.1))
    assert not different.equal
    assert abs(weights(K=K, Q=Q, V=V + 0.1)(different.X) - w(different.X)).max() == abs(different.difference)


def test_rank_decisions_follow_the_tolerance():
    A, V = np.diag([1.0, 1e-6]), np.eye(2)
    assert fiber(weights(A=A, V=V), tolerance=1e-5).ranks["r_a"].rank == 1
    decision = fiber(weights(A=A, V=V), tolerance=1e-7).ranks["r_a"]
    assert decision.rank == 2 and decision.margin == pytest.approx(10)
    assert joint_rank(1e-8 * np.diag([0.0, 1.0]), np.array([[1e8, 0.0]])).rank == 2


def test_dimension_with_keys():
    # rk A = a ≤ d: the gauge group and the scale; a > d: 2ad − d² (HMK, after Lemma 3.1).
    w = weights(K=[[1, 0, 0], [0, 1, 0]], Q=[[1, 0, 2], [0, 1, 0]], V=[[1, 1, 1]])
    assert fiber(w).dimension_with_keys == 1 + 4
    w = weights(K=[[1], [0], [0]], Q=[[1], [0], [0]], V=[[1]])
    assert fiber(w).dimension_with_keys == 1 + 2 * 3 - 1
    assert fiber(weights(A=[[1]], V=[[1]])).dimension_with_keys is None


@pytest.mark.parametrize(
    ("a", "v"), [(1.0, 1.0), (-3.0, 2.0), (2.0**40, -3.0), (-(2.0**41), 5.0), (1e-100, 1e120)]
)
def test_in_floating_point_both_factors_get_the_same_norm(a, v):
    A, V = a * np.array([[1.0, -2.0], [0.5, 1.0]]), v * np.array([[3.0, 4.0]])
    B, W = canonical_scale(A, V)
    assert np.linalg.norm(B) == pytest.approx(np.linalg.norm(W))
    assert B.flat[np.abs(B).argmax()] > 0
    assert np.multiply.outer(B, W) == pytest.approx(np.multiply.outer(A, V))


def test_the_scale_between_equal_weights_needs_no_tolerance():
    A, V = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[1.0, -1.0]])
    component = SimpleNamespace(A=A, V=V)
    assert scale_between(component, SimpleNamespace(A=2 * A, V=V / 2), 0.0) == 2.0
    assert scale_between(component, SimpleNamespace(A=2 * A, V=V), 1e-9) is None
    assert scale_between(component, SimpleNamespace(A=0 * A, V=V), 1e-9) is None
    assert scale_between(component, SimpleNamespace(A=A + 1e-10, V=V), 1e-9) == pytest.approx(1)
