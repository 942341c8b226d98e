"""Contact orders: the multiplicities of Konda's Theorem 4, exactly and as slopes of singular values."""

import numpy as np
import pytest
from command_line import call, document
from hypothesis import given
from hypothesis import strategies as st

import agattn as ag
from agattn.geometry.dimension.contact import smith_orders

SOFTMAX = {"normalization": "softmax"}
P = 536870909


def orders(found):
    return {one.order: one.multiplicity for one in found.orders}


@pytest.mark.parametrize(
    ("d", "layers", "r", "t"),
    [(2, 1, 1, 2), (2, 2, 1, 2), (2, 2, 1, 3), (3, 1, 2, 3), (2, 3, 1, 2), (4, 3, 2, 4)],
)
def test_the_multiplicities_are_those_of_the_theorem(d, layers, r, t):
    """d² of order 0, r(2d − r) of each order 2·3^(i−1) − 1, a kernel of dimension (l − 1)d² + l·r²."""
    found = ag.spectrum(ag.DeepNetwork((d,) * (layers + 1), (r,) * layers, t, **SOFTMAX))
    assert orders(found) == {0: d * d} | {2 * 3**i - 1: r * (2 * d - r) for i in range(layers)}
    assert found.kernel == (layers - 1) * d * d + layers * r * r and found.complete


def test_singular_values_in_high_precision_fall_at_the_same_rates():
    found = ag.spectrum(ag.DeepNetwork((2, 2, 2), (1, 1), 2, **SOFTMAX), digits=120)
    assert orders(found) == {0: 4, 1: 3, 5: 3} and found.digits == 120
    for one in found.orders:
        assert all(abs(slope - one.order) < 1e-3 for slope in one.slopes)


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        (ag.DeepNetwork((2, 2), (2,), 3, heads=2, **SOFTMAX), {0: 4, 1: 8, 2: 2, 4: 2}),
        (ag.DeepNetwork((2, 2), (2,), 2, heads=10, **SOFTMAX), {0: 4, 1: 12, 5: 28, 6: 12, 10: 24}),
        (ag.DeepNetwork((2, 2, 2), (1, 1), 2, heads=2, **SOFTMAX), {0: 4, 1: 6, 2: 4, 5: 6, 6: 4}),
        (ag.DeepNetwork((2, 2), (2,), 2, heads=2, skip=True, **SOFTMAX), {0: 4, 1: 8, 2: 2, 6: 2}),
    ],
)
def test_several_heads_have_general_values(network, expected):
    """Singular values in 200 digits fall at the rates of the Smith form, at other weights."""
    found = ag.spectrum(network, digits=200)
    assert orders(found) == expected and found.complete
    assert found.kernel == network.parameters - ag.dimension(network).dimension
    for one in found.orders:
        assert all(abs(slope - one.order) < 1e-3 for slope in one.slopes)


def test_orders_beyond_the_series_of_a_normalizer_are_not_looked_for():
    short = {"normalization": {"series": ["1", "1", "1/2", "3"]}}
    found = ag.spectrum(ag.DeepNetwork((2, 2), (2,), 2, heads=2, **short))
    assert orders(found) == {0: 4, 1: 8, 2: 2} and not found.complete
    assert "10 directions are in the kernel or have an order above 4" in str(found.sheet())


def test_keys_and_queries_of_one_token_play_no_part():
    words = ["spectrum", "--dims", "2,3,2", "--ranks", "2,1", "-t", "1", "--normalization", "softmax"]
    found = document(*words)
    assert [(one["order"], one["multiplicity"]) for one in found["orders"]] == [(0, 4)]
    assert found["kernel"] == 22 and found["complete"]
    out = call(*words).out
    assert "With one token all weights of attention are 1: keys and queries play no part." in out
    assert "play no part" not in call("spectrum", "-d", "2", "-o", "2", "-t", "1").out


def test_a_lightning_network_has_orders_too():
    """φ falls as s^(3^l − 1), and a derivative by K or Q by one power less."""
    assert orders(ag.spectrum(ag.DeepNetwork((2, 2), (1,), 2))).keys() == {1, 2}
    deep = ag.spectrum(ag.DeepNetwork((2, 2, 2), (1, 1), 2))
    assert {one.order for one in deep.orders} == {7, 8} and deep.complete


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.integers(0, 10**6))
def test_the_smith_form_of_a_matrix_made_from_one(exponents, seed):
    """U·diag(s^e)·W has the orders e, for U and W that are invertible at s = 0."""
    n, N = len(exponents), 5
    draw = np.random.default_rng(seed)

    def unit():
        found = draw.integers(0, P, (N + 1, n, n))
        found[0] = np.triu(found[0], 1) + np.eye(n, dtype=int)
        return found

    def times(A, B):
        C = np.zeros((N + 1, n, n), dtype=object)
        for i in range(N + 1):
            for k in range(N + 1 - i):
                C[i + k] = (C[i + k] + A[i].astype(object) @ B[k].astype(object)) % P
        return C

    middle = np.zeros((N + 1, n, n), dtype=int)
    for i, e in enumerate(exponents):
        middle[e, i, i] = 1
    matrix = times(times(unit(), middle), unit()).astype(np.int64)
    assert list(smith_orders(matrix, P)) == sorted(exponents)
