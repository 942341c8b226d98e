"""Zeros and limits of deep networks: closed forms, arcs expanded exactly, ranks, each step of the proofs."""

from fractions import Fraction
from itertools import product

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn import DeepNetwork
from agattn.algebra.arithmetic import RingArithmetic
from agattn.algebra.polynomial import PolynomialRing, Variable
from agattn.errors import InputError
from agattn.geometry.closedness.question import LimitMap, first_of_pair, is_closed, limit_set, zero_kinds
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.identifiability.virtual_weights import vanishes, virtual_ranks

J = np.array([[0, 1], [-1, 0]], dtype=object)


def layer(M, Y):
    return Y @ Y.T @ M @ Y


def drawn(generator, *shape, most=5):
    return generator.integers(-most, most + 1, shape).astype(object)


def weights_of(network, seed, most=9):
    generator = np.random.default_rng(seed)
    return {name: drawn(generator, *shape, most=most) for name, shape in network.shapes.items()}


# Dimensions -------------------------------------------------------------------------------------------------

KNOWN = [(2, 1, 2), (2, 2, 2), (2, 1, 3), (3, 1, 2), (3, 2, 3), (4, 1, 2)]


@pytest.mark.parametrize(("d", "d_out", "t"), KNOWN)
def test_limits_of_two_wide_layers_are_a_hypersurface(d, d_out, t):
    network = DeepNetwork((d, d, d_out), (d, d), t)
    found = limit_set(network)
    assert found.dimension == found.upper_bound == 2 * d * d + d * d_out - 3
    assert dimension(network).lower_bound == found.dimension + 1


@given(st.lists(st.integers(1, 4), min_size=3, max_size=5), st.integers(1, 3), st.integers(1, 3), st.data())
def test_limits_of_any_network_are_a_hypersurface_or_there_are_none(dims, t, least, data):
    ranks = data.draw(st.lists(st.integers(least, 3), min_size=len(dims) - 1, max_size=len(dims) - 1))
    network = DeepNetwork(tuple(dims), tuple(ranks), t)
    assert is_closed(network) == (t == 1 or min(*dims[:2], *ranks[:2]) == 1)
    if is_closed(network):
        with pytest.raises(InputError, match="closed"):
            limit_set(network)
    else:
        assert limit_set(network).dimension == dimension(network).lower_bound - 1


def test_a_pair_of_layers_is_the_last_that_sees_skew_parts():
    assert first_of_pair(DeepNetwork((3, 3, 3, 3, 3), (2, 2, 2, 2), 2)) == 3
    assert first_of_pair(DeepNetwork((3, 3, 3, 3, 3), (2, 2, 2, 1), 2)) == 2
    assert first_of_pair(DeepNetwork((3, 3, 3, 1, 3), (2, 2, 2, 2), 2)) == 2
    assert first_of_pair(DeepNetwork((3, 3), (3,), 2)) is None
    with pytest.raises(InputError, match="from 1 to 1"):
        LimitMap(DeepNetwork((2, 2, 2), (2, 2), 2), 2)
    with pytest.raises(InputError, match="one head"):
        limit_set(DeepNetwork((2, 2, 2), (2, 2), 2, skip=True))
    assert is_closed(DeepNetwork((2, 2, 2), (2, 2), 2, heads=2)) is None


# The limit --------------------------------------------------------------------------------------------------


def arc(limit_map, weights, ring):
    """The weights with ε, but for the division of V_l."""
    (e,) = ring.gens
    moving = limit_map.queries(RingArithmetic(), weights)
    return weights | {name: at + e * slope for name, (at, slope) in moving.items()}


@pytest.mark.parametrize(
    ("dims", "ranks", "first"),
    [((2, 2, 1), (2, 2), 1), ((3, 2, 2), (3, 2), 1), ((2, 2, 2, 1), (2, 2, 2), 1),
     ((2, 3, 2, 1), (2, 2, 3), 2)],
)  # fmt: skip
def test_the_limit_is_the_first_coefficient_of_the_arc(dims, ranks, first):
    network = DeepNetwork(dims, ranks, t=2)
    limit_map, ring = LimitMap(network, first), PolynomialRing([Variable("e", (1,))])
    weights = weights_of(network, 2)
    X = drawn(np.random.default_rng(3), 1, *network.input_shape)
    out = network.evaluate(RingArithmetic(), arc(limit_map, weights, ring), X).ravel()
    y = limit_map.evaluate(RingArithmetic(), weights, X).ravel()
    assert y.any()
    for entry, limit in zip(out, y, strict=True):
        coefficients = {powers[0]: value for powers, value in entry.terms.items()}
        assert min(coefficients) >= limit_map.order
        assert coefficients.get(limit_map.order, 0) == limit


@pytest.mark.parametrize(
    ("d", "layers", "first", "t"), [(2, 2, 1, 2), (3, 3, 2, 2), (3, 3, 1, 2), (3, 2, 1, 3)]
)
def test_the_limit_has_the_closed_form(d, layers, first, t):
    network = DeepNetwork((d,) * layers + (2,), (d,) * layers, t)
    limit_map, weights = LimitMap(network, first), weights_of(network, 3)
    M, N, P, L = limit_map.virtual_weights(weights)
    X = drawn(np.random.default_rng(4), d, t)
    k, q = factors(M[first - 1])
    Y = X
    for m in M[: first - 1]:
        Y = layer(m, Y)
    u, y_q, C, K = Y @ Y.T @ k, Y.T @ q, Y.T @ N @ Y, M[first]
    r = (y_q @ C.T @ Y.T @ K @ u) * y_q + (y_q @ y_q) * (u @ K @ Y @ C) + (y_q @ y_q) * (u @ P @ u) * y_q
    if t == 2:
        kappa, delta = (Y.T @ K @ Y)[0, 1], y_q @ adjugate(C) @ Y.T @ k
        assert (r == kappa * delta * (J.T @ y_q) + (y_q @ y_q) * (u @ P @ u) * y_q).all()
    Y = np.outer(u, r)
    for m in M[first + 1 :]:
        Y = layer(m, Y)
    assert (limit_map.evaluate(RingArithmetic(), weights, X[None])[0] == L @ Y).all() and (L @ Y).any()


def factors(matrix):
    """k and q with k qᵀ the matrix, of rank one."""
    i, j = np.argwhere(matrix)[0]
    return np.array([Fraction(x) / matrix[i, j] for x in matrix[:, j]], dtype=object), matrix[i]


def adjugate(C):
    return np.array([[C[1, 1], -C[0, 1]], [-C[1, 0], C[0, 0]]], dtype=object)


def test_conditions_are_found_to_fail_one_by_one():
    network = DeepNetwork((3, 3, 3, 3, 1), (3,) * 4, t=2)
    limit_map = LimitMap(network, 2)
    weights, Y = weights_of(network, 5), drawn(np.random.default_rng(6), 3, 2)
    assert limit_map.open_conditions(weights, Y) == []

    def failing(**changed):
        return limit_map.open_conditions(
            weights | {n: np.array([m], dtype=object) for n, m in changed.items()}, Y
        )

    K, zero, one = weights["K_1"][0], np.zeros((3, 3), dtype=object), np.diag([1, 0, 0]).astype(object)
    omega = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]], dtype=object)
    assert failing(Q_1=one @ K) == ["rk M_1 ≥ 2"]
    assert failing(Q_1=omega @ K) == ["M_1 is not skew-symmetric"]
    assert failing(Q_2=one @ weights["Q_2"][0]) == ["δ(Y) ≠ 0"]
    assert failing(K_3=one @ weights["K_3"][0]) == ["κ(Y) ≠ 0"]
    assert failing(Q_3=omega @ weights["K_3"][0]) == ["P is not skew-symmetric"]
    assert failing(Q_4=zero) == ["M_4 is not skew-symmetric"]
    assert failing(V_4=[[0, 0, 0]]) == ["L ≠ 0"]
    assert limit_map.open_conditions(weights, 0 * Y) == ["δ(Y) ≠ 0", "κ(Y) ≠ 0"]


@pytest.mark.parametrize("t", [2, 3])
def test_where_p_is_skew_and_d_is_two_the_limit_is_a_function_of_the_network(t):
    network = DeepNetwork((2, 2, 1), (2, 2), t)
    limit_map, weights = LimitMap(network, 1), weights_of(network, 8)
    weights["Q_2"] = 2 * J @ weights["K_2"]  # P is twice K
    M, N, P, L = limit_map.virtual_weights(weights)
    assert (2 * M[1] == P).all() and N.any() and M[0].any()
    generator = np.random.default_rng(9)
    ratios = set()
    for _ in range(5):
        X = drawn(generator, 2, t)
        y = limit_map.evaluate(RingArithmetic(), weights, X[None])[0]
        same = L @ layer(M[0], layer(M[1], X))
        ratios |= {Fraction(int(a), int(b)) for a, b in zip(y.ravel(), same.ravel(), strict=True) if b}
        assert all(a == 0 for a, b in zip(y.ravel(), same.ravel(), strict=True) if not b)
    assert len(ratios) == 1 and ratios != {0}


# Steps of the proofs ----------------------------------------------------------------------------------------

small = st.integers(-4, 4)


@given(st.lists(small, min_size=9, max_size=9))
def test_lemma_1(entries):
    M = np.array(entries, dtype=object).reshape(3, 3)
    ring = PolynomialRing([Variable("x", (i,)) for i in range(6)])
    X = np.array(ring.gens, dtype=object).reshape(3, 2)
    G = X.T @ M @ X
    rank = flint.fmpz_mat(M.tolist()).rank()
    assert bool((G[0, 0] * G[1, 1] - G[0, 1] * G[1, 0]).terms) == (rank >= 2)


@given(st.lists(small, min_size=4, max_size=4))
def test_lemma_2_has_the_determinant_that_it_says(entries):
    n1, n2, n3, n4 = entries
    N = np.array([[n1, n2], [n3, n4]], dtype=object)
    columns = []
    for i, j in product(range(2), repeat=2):
        S = np.zeros((2, 2), dtype=object)
        S[i, j] = 1
        columns.append(((S + S.T) @ N + N @ S).ravel().tolist())
    q = 3 * n1**2 + 3 * n1 * n4 + 3 * n4**2 + n2**2 + n2 * n3 + n3**2
    assert flint.fmpz_mat(columns).det() == 3 * (n1 * n4 - n2 * n3) * q


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_the_second_token_to_first_order(seed, depth):
    generator = np.random.default_rng(seed)
    ring = PolynomialRing([Variable("e", (1,))])
    x, z = drawn(generator, 3), drawn(generator, 3)
    matrices = [drawn(generator, 3, 3) for _ in range(depth)]
    Y = np.stack([x + 0 * ring.gens[0], z * ring.gens[0]], axis=1)
    for M in matrices:
        Y = layer(M, Y)
    first = np.array([f.terms.get((0,), 0) for f in Y[:, 0]], dtype=object)
    second = np.array([f.terms.get((1,), 0) for f in Y[:, 1]], dtype=object)
    M = matrices[0]
    assert (second * (x @ M @ x) == first * (x @ M @ z)).all()
    assert not any(f.terms.get((0,), 0) for f in Y[:, 1])


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 3))
def test_the_row_of_a_limit_to_first_order(seed, d, first):
    generator = np.random.default_rng(seed)
    (e,) = PolynomialRing([Variable("e", (1,))]).gens
    before = [drawn(generator, d, d) for _ in range(first - 1)]
    k, q, x, z = (drawn(generator, d) for _ in range(4))
    N, K, P = (drawn(generator, d, d) for _ in range(3))
    Y = np.stack([x + 0 * e, z * e], axis=1)
    for M in before:
        Y = layer(M, Y)
    u, y_q = Y @ Y.T @ k, Y.T @ q
    kappa_delta = (Y.T @ (K - K.T) @ Y)[0, 1] * (y_q @ adjugate(Y.T @ N @ Y) @ Y.T @ k)
    r = kappa_delta * (J.T @ y_q) + (y_q @ y_q) * (u @ P @ u) * y_q
    at, slope = (r[0].terms.get((0,), 0), r[1].terms.get((1,), 0))
    parallel = (x @ before[0] @ x, x @ before[0] @ z) if before else (q @ x, q @ z)
    assert not {(0,), (1,)} & kappa_delta.terms.keys() and (0,) not in r[1].terms
    assert at * parallel[1] == slope * parallel[0]


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_what_delta_sees(seed, d):
    generator = np.random.default_rng(seed)
    k, q, n, m, x, z = (drawn(generator, d) for _ in range(6))
    N, X = drawn(generator, d, d), drawn(generator, d, 2)

    def delta(N, X):
        return X.T @ q @ adjugate(X.T @ N @ X) @ X.T @ k

    def minor(a, b):
        (a_x, a_z), (b_x, b_z) = X.T @ a, X.T @ b
        return a_x * b_z - a_z * b_x

    assert delta(np.outer(n, m), X) == -minor(q, m) * minor(n, k)
    assert delta(N + np.outer(k, m) + np.outer(n, q), X) == delta(N, X)
    x, z = x * (q @ q) - q * (q @ x), z * (k @ k) - k * (k @ z)
    assert delta(N, np.stack([x, z], axis=1)) == -(q @ z) * (k @ x) * (z @ N @ x)


# Zeros ------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(1, 4), st.integers(1, 3))
def test_zeros_are_where_the_theorem_says(seed, d, layers, t):
    generator = np.random.default_rng(seed)
    M = []
    for _ in range(layers):
        kind, m = generator.integers(4), drawn(generator, d, d)
        M.append([m, m - m.T, np.outer(m[0], m[1]), np.outer(m[0], m[1])][kind])
    L = drawn(generator, 1, d)
    values = []
    for _ in range(4):
        Y = drawn(generator, d, t, most=1000)
        for m in M:
            Y = layer(m, Y)
        values.append(L @ Y)
    assert vanishes(M, L, t) == (not np.any(values))


@pytest.mark.parametrize(
    ("dims", "ranks", "zeros"),
    [((3, 3, 2), (3, 3), 4), ((3, 2, 3, 1), (2, 2, 2), 7), ((3, 1, 2), (2, 2), 3), ((3, 3, 2), (1, 2), 5),
     ((1, 1, 1), (1, 1), 3)],
)  # fmt: skip
def test_kinds_of_zeros(dims, ranks, zeros):
    kinds = zero_kinds(DeepNetwork(dims, ranks, t=2))
    assert all(kind.zero == kind.by_theorem for kind in kinds)
    assert sum(kind.zero for kind in kinds) == zeros


# The tuples of Lemma 3 --------------------------------------------------------------------------------------


def counted(network):
    """dim C = dim T, as Lemma 3 of docs/networks/deep-limits-proofs.md has it."""
    dims, alpha = network.dims, virtual_ranks(network)
    e = [min(dims[: i + 1]) for i in range(len(dims))]
    total = dims[-1] * e[-2]
    for i, a in enumerate(alpha):
        beta = min(2 * a, e[i])
        total += beta * (2 * e[i] - beta + 1) // 2 if 1 in alpha[:i] else a * (2 * e[i] - a)
    sigma = min(dims[-1], e[-2])
    for i in range(network.depth - 1, 0, -1):
        sigma = min(e[i], sigma + 2 * network.ranks[i])
        total += sigma * (e[i - 1] - e[i])
    return total


def tuples(network, weights):
    """The tuple of a function, and that of a limit, as vectors; N counts by k ∧ N ∧ q."""
    s, alpha = first_of_pair(network), virtual_ranks(network)
    L, of_function, of_limit = np.eye(network.dims[0]), [], []
    for i in range(1, network.depth + 1):
        K, Q = weights[f"K_{i}"][0] @ L, weights[f"Q_{i}"][0] @ L
        M = K.T @ Q
        of_function.append(M + M.T if 1 in alpha[: i - 1] else M)
        if i == s:
            wedge = np.einsum("a,bc,d->abcd", K[0], K[1:].T @ Q[1:], Q[0])
            wedge = wedge - wedge.swapaxes(0, 1)
            of_limit += [np.outer(K[0], Q[0]), wedge - wedge.swapaxes(2, 3)]
        elif i == s + 1:
            product = K[: len(K) // 2 * 2 : 2].T @ K[1::2]
            of_limit += [product - product.T, M + M.T]
        else:
            of_limit.append(M + M.T if i > s else M)
        L = weights[f"V_{i}"][0] @ L
    return [np.concatenate([x.ravel() for x in (*found, L)]) for found in (of_function, of_limit)]


@pytest.mark.parametrize(
    ("dims", "ranks"),
    [
        ((3, 3, 2), (3, 3)), ((4, 2, 1), (2, 2)), ((5, 4, 2, 1), (3, 2, 2)), ((5, 3, 1), (4, 2)),
        ((5, 3, 4, 2), (2, 3, 1)), ((4, 3, 2, 1), (2, 4, 1)), ((5, 4, 3, 2, 1), (2, 2, 1, 1)),
        ((5, 4, 1, 3), (2, 2, 3)), ((4, 4, 2, 2, 1), (3, 3, 3, 2)),
    ],
)  # fmt: skip
def test_functions_and_limits_depend_on_tuples_of_one_dimension(dims, ranks):
    """Ranks of the differentials of the tuples in all weights, flags that are forgotten included."""
    network = DeepNetwork(dims, ranks, t=2)
    assert is_closed(network) is False
    draw = np.random.default_rng(0).standard_normal
    weights = {name: draw(shape).astype(complex) for name, shape in network.shapes.items()}
    columns = []
    for name, array in weights.items():
        for place in np.ndindex(array.shape):
            moved = array.copy()
            moved[place] += 1e-30j
            columns.append([x.imag / 1e-30 for x in tuples(network, weights | {name: moved})])
    found = [int(np.linalg.matrix_rank(np.array(rows))) for rows in zip(*columns, strict=True)]
    assert found == [counted(network)] * 2
    assert network_bound(network).value == counted(network) - network.depth
