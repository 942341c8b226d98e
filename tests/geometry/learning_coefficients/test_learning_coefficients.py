"""Learning coefficients: the tables of the literature, bounds by other routes, and invariance."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_brackets import aoyagi

from agattn import SingleLayer
from agattn.errors import InputError
from agattn.geometry.learning_coefficients.learning_coefficients import (
    MatrixProduct,
    layer_coefficient,
    learning_coefficients,
    least_point,
    parameters,
    points,
    product_at_zero,
    tolerance_curve,
    weights_coefficient,
)
from agattn.geometry.learning_coefficients.normal_form import normal_form
from agattn.geometry.strata.strata import ZERO, Stratum, representative, strata


def test_the_product_is_that_of_aoyagi_and_watanabe() -> None:
    """Reduced rank regression with true rank 0: their formula is Aoyagi's for two factors."""
    for p in range(9):
        for n in range(9):
            for h in range(9):
                found = product_at_zero(p, n, h)
                competitors = [(h - s) * (n - s) + p * s for s in range(min(h, n) + 1)]
                assert found.twice == min(competitors)
                assert found.multiplicity == competitors.count(found.twice)
                assert (Fraction(found.twice, 2), found.multiplicity) == aoyagi((n, h, p))


# Truth 0; (1,1,1); (1,1,2); r_V ≥ 2 with r_A = 1; generic. MATH of the learning coefficients, (K, Q, V).
GLOBAL = {
    (2, 1, 1): ((1, 3), ("7/4", 1), (2, 1), None, (2, 1)),
    (2, 1, 2): ((1, 1), ("9/4", 2), ("5/2", 2), None, ("5/2", 1)),
    (2, 2, 2): (("3/2", 1), ("13/4", 2), ("7/2", 2), ("7/2", 2), ("7/2", 1)),
    (3, 1, 2): (("3/2", 1), (4, 2), ("9/2", 2), None, (5, 1)),
    (3, 1, 3): (("3/2", 1), ("9/2", 1), (5, 1), None, ("11/2", 1)),
    (3, 2, 2): (("5/2", 1), ("11/2", 2), (6, 2), (6, 2), ("13/2", 1)),
    (3, 3, 3): (("7/2", 2), ("15/2", 1), (8, 1), (8, 1), ("17/2", 1)),
    (768, 64, 64): ((24064, 1), ("195263/4", 2), ("98015/2", 2), ("98015/2", 2), ("143359/2", 1)),
}


@pytest.mark.parametrize("sizes", GLOBAL)
def test_the_global_table(sizes: tuple[int, int, int]) -> None:
    layer = SingleLayer(*sizes)
    generic = Stratum(min(layer.d_out, layer.d), layer.alpha, min(layer.d, layer.d_out + layer.alpha))
    truths = (ZERO, Stratum(1, 1, 1), Stratum(1, 1, 2), Stratum(2, 1, 2), generic)
    for truth, expected in zip(truths, GLOBAL[sizes], strict=True):
        if expected is not None:
            found = least_point(layer, truth).coefficient
            assert (found.value, found.multiplicity) == (Fraction(expected[0]), expected[1]), truth


@given(st.integers(1, 9), st.integers(1, 6), st.integers(1, 12), st.booleans(), st.data())
def test_the_least_point_is_the_least_of_all_points_over_a_function(
    d: int, d_out: int, a: int, softmax: bool, data: Any
) -> None:
    layer = SingleLayer(d, d_out, a)
    drawn = data.draw(st.sampled_from(learning_coefficients(layer, softmax).least))
    truth, least = drawn.stratum, drawn.point
    zero = (lambda orbit: not orbit.r_v) if softmax else (lambda orbit: not orbit.r_v * orbit.r_a)
    values = [
        (point.coefficient.value, -point.coefficient.multiplicity)
        for point in points(layer, softmax)
        if (zero(point.stratum) if zero(truth) else point.stratum == truth)
    ]
    assert min(values) == (least.coefficient.value, -least.coefficient.multiplicity)


def test_tables_of_huge_layers() -> None:
    """Nothing is done for each pair of ranks, of which there are 10^14."""
    found = learning_coefficients(SingleLayer(10**9, 10**7, 64))
    assert not found.points and len(found.least) == 67


def factors(A: Any, rank_k: int, rank_q: int, a: int) -> tuple[Any, Any]:
    """K and Q of these ranks with KᵀQ = A, for A with ones on a part of the diagonal and zeros elsewhere."""
    d, r = len(A), sum(A[i][i] for i in range(len(A)))
    K, Q = np.zeros((2, a, d), dtype=int)
    for i in range(r):
        K[i, i] = Q[i, i] = 1
    for i in range(rank_k - r):
        K[r + i, r + i] = 1
    for i in range(rank_q - r):
        Q[rank_k + i, r + i] = 1
    return K, Q


def jacobian_rank(K: Any, Q: Any, V: Any) -> int:
    """The rank of the differential of (K, Q, V) ↦ y, by symbols."""
    import sympy

    a, d = K.shape
    k, q = (sympy.Matrix(a, d, lambda i, j, x=x: sympy.Symbol(f"{x}{i}_{j}")) for x in "kq")
    v = sympy.Matrix(len(V), d, lambda i, j: sympy.Symbol(f"v{i}_{j}"))
    A = k.T * q
    y = [
        v[c, i] * A[e, b] + (v[c, e] * A[i, b] if i < e else 0)
        for c in range(len(V)) for b in range(d) for i in range(d) for e in range(i, d)
    ]  # fmt: skip
    letters = [*k, *q, *v]
    at = dict(zip(letters, [*K.ravel(), *Q.ravel(), *np.array(V).ravel()], strict=True))
    return int(sympy.Matrix(y).jacobian(letters).subs(at).rank())


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 3), (3, 1, 2)])
def test_between_half_the_rank_of_the_differential_and_half_the_parameters(
    sizes: tuple[int, int, int],
) -> None:
    layer = SingleLayer(*sizes)
    for point in points(layer):
        A, V = representative(layer, point.stratum)
        K, Q = factors(A, point.rank_k or 0, point.rank_q or 0, layer.a)
        assert (K.T @ Q).tolist() == [list(row) for row in A]
        assert (np.linalg.matrix_rank(K), np.linalg.matrix_rank(Q)) == (point.rank_k, point.rank_q)
        value = point.coefficient.value
        assert Fraction(jacobian_rank(K, Q, V), 2) <= value <= Fraction(layer.parameters, 2)
        assert value == sum(term.value for term in point.coefficient.terms)
        found = weights_coefficient(parameters(K=K, Q=Q, V=V))
        assert (found.ranks, found.coefficient) == (point.ranks, point.coefficient)
        floats = weights_coefficient(parameters(K=K * 0.5, Q=Q * 3.0, V=np.array(V) * 1e-3))
        assert (floats.stratum if not point.stratum.is_zero else None, floats.coefficient.value) == (
            point.stratum if not point.stratum.is_zero else None, value,
        )  # fmt: skip
        assert str(floats.coefficient.evidence) == "numerical"


def test_a_point_with_the_full_differential_is_regular() -> None:
    for sizes in ((2, 1, 2), (3, 2, 2), (3, 2, 3)):
        layer = SingleLayer(*sizes)
        generic = strata(layer)[-1]
        found = layer_coefficient(layer, generic, layer.alpha, layer.alpha)
        assert (2 * found.value, found.multiplicity) == (layer.expected_dimension, 1)


@given(st.data())
def test_invariance_under_the_groups(data: st.DataObject) -> None:
    d, d_out, a, b = (data.draw(st.integers(1, 3)) for _ in range(4))
    entries = st.integers(-1, 1)

    def draw(rows: int, columns: int) -> Any:
        flat = data.draw(st.lists(entries, min_size=rows * columns, max_size=rows * columns))
        return np.array(flat).reshape(rows, columns)

    K, Q, W_O, W_V = draw(a, d), draw(a, d), draw(d_out, b), draw(b, d)
    before = weights_coefficient(parameters(K=K, Q=Q, W_O=W_O, W_V=W_V))
    g, h, o, c = (np.tril(draw(n, n), -1) + np.eye(n, dtype=int) for n in (d, d, d_out, b))
    g, h, o = g @ g.T, h.T, o.T @ o
    inverse = np.round(np.linalg.inv(c)).astype(int)
    after = weights_coefficient(parameters(K=K @ g, Q=Q @ h, W_O=o @ W_O @ c, W_V=inverse @ W_V @ g))
    assert after == before
    swapped = weights_coefficient(parameters(K=Q, Q=K, W_O=W_O, W_V=W_V), softmax=True)
    # Keys and queries play the same part in A; only r differs.
    other = weights_coefficient(parameters(K=K, Q=Q, W_O=W_O, W_V=W_V), softmax=True)
    assert (swapped.coefficient.value, swapped.coefficient.multiplicity) == (
        other.coefficient.value, other.coefficient.multiplicity,
    )  # fmt: skip


def test_a_factored_value_matrix() -> None:
    K, Q, V = [[1, 0, 2]], [[0, 1, 1]], [[1, 2, 0], [0, 1, 1]]
    plain = weights_coefficient(parameters(K=K, Q=Q, V=V)).coefficient
    wide = weights_coefficient(parameters(K=K, Q=Q, W_O=[[1, 0], [0, 1]], W_V=V)).coefficient
    assert (wide.value, wide.multiplicity) == (plain.value, plain.multiplicity)  # W_O is invertible
    dead = weights_coefficient(parameters(K=K, Q=Q, W_O=[[0], [0]], W_V=[[0, 0, 0]])).coefficient
    zero = product_at_zero(2, 3, 1)
    assert (dead.value, dead.multiplicity) == (Fraction(zero.twice, 2), zero.multiplicity)


ONE_TOKEN = [  # V, S at d = 2, d' = 1 or 2 and (2λ, m): D = 4 or 6
    ([[1, 0]], [[0, 0], [0, 1]], Fraction(4), 1),
    ([[1, 0]], [[0, 1], [1, 0]], Fraction(7, 2), 1),
    ([[1, 2]], [[2, 4], [4, 8]], Fraction(10, 3), 1),
    ([[1, 0], [0, 1]], [[0, 1], [1, 0]], Fraction(6), 1),
    ([[1, 0], [2, 0]], [[1, 1], [1, 0]], Fraction(11, 2), 1),
    ([[1, 0]], [[0, 0], [0, 0]], Fraction(3), 1),
    ([[0, 0]], [[1, 0], [0, 0]], Fraction(2), 1),
    ([[0, 0]], [[0, 0], [0, 0]], Fraction(2), 1),
]


@pytest.mark.parametrize(("V", "S", "twice", "m"), ONE_TOKEN)
def test_one_token(V: Any, S: Any, twice: Fraction, m: int) -> None:
    skew = np.array([[0, 5], [-5, 0]])
    for A in (np.array(S), np.array(S) + skew):
        found = weights_coefficient(parameters(A=A, V=V), t=1).coefficient
        assert (2 * found.value, found.multiplicity) == (twice, m)
        floats = weights_coefficient(parameters(A=A * 0.1, V=np.array(V) * 0.7), t=1).coefficient
        assert (2 * floats.value, floats.multiplicity) == (twice, m)


def test_one_token_at_zero() -> None:
    zero = weights_coefficient(parameters(K=[[1, 0]], Q=[[2, 0]], V=[[0, 0]]), t=1).coefficient
    assert (zero.value, zero.multiplicity) == (1, 1)  # V = 0 ≠ S: whatever K and Q are
    with pytest.raises(InputError, match="t ≥ 2"):
        weights_coefficient(parameters(K=[[1, 0]], Q=[[2, 0]], V=[[1, 1]]), t=1, softmax=True)


def test_softmax_sees_all_of_a_and_v() -> None:
    layer = SingleLayer(2, 1, 2)
    for point in points(layer, softmax=True):
        regular = layer_coefficient(layer, point.stratum, softmax=True)
        assert regular.value == (Fraction(layer.d * layer.d_out + layer.d**2, 2) if point.stratum.r_v else 1)
    table = learning_coefficients(layer, softmax=True)
    assert [str(least.stratum) for least in table.least] == [
        "(0,0,0)", "(1,0,1)", "(1,1,1)", "(1,1,2)", "(1,2,2)",
    ]  # fmt: skip


def test_ranks_that_nothing_has() -> None:
    layer = SingleLayer(3, 1, 2)
    with pytest.raises(InputError, match="no factors"):
        layer_coefficient(layer, Stratum(1, 1, 1), 2, 2, values=None)
    with pytest.raises(InputError, match="no V"):
        layer_coefficient(layer, Stratum(2, 1, 2))
    with pytest.raises(InputError, match="no factors"):
        layer_coefficient(layer, Stratum(1, 1, 1), 1, 1, values=MatrixProduct(1, 3, 1, 0, 1, 1))


def test_the_curve_falls_with_the_ranks() -> None:
    rng = np.random.default_rng(1)
    K, Q = rng.standard_normal((2, 3, 3)) * np.array([[1], [1e-2], [1e-4]])
    given = parameters(K=K, Q=Q, V=rng.standard_normal((2, 3)))
    curve = tolerance_curve(given)
    ranks = [point.stratum.r_a for _, point in curve]
    assert ranks == sorted(ranks, reverse=True) and set(ranks) == {1, 2, 3}
    for (start, point), (end, _) in pairwise(curve):
        middle = (start * end) ** 0.5
        assert weights_coefficient(given, tolerance=middle) == point


def test_the_derivative_of_a_softmax_head_leaves_what_the_page_says() -> None:
    """Column τ but for ‖V_0‖ ‖Ȧ‖² r⁵ + ‖V̇‖ ‖Ȧ‖ r³, which Gaussian tokens integrate."""
    generator = np.random.default_rng(0)
    draw, closest = generator.standard_normal, 0.0
    for _ in range(2000):
        scale = 10 ** generator.uniform(-1, 0.5)
        A, V, dA, dV, X = draw((2, 2)), draw((2, 2)), scale * draw((2, 2)), draw((2, 2)), draw((2, 3))

        def mean(A: np.ndarray, X: np.ndarray = X) -> tuple[np.ndarray, np.ndarray]:
            """The mean of the tokens for the last column, and the weights."""
            scores = X.T @ A @ X[:, -1]
            p = np.exp(scores - scores.max())
            return X @ p / p.sum(), p / p.sum()

        m, p = mean(A)
        slopes = X.T @ dA @ X[:, -1]
        derivative = V @ (X * (p * (slopes - p @ slopes))).sum(1) + dV @ m
        left = np.linalg.norm((V + dV) @ mean(A + dA)[0] - V @ m - derivative)
        r, size = np.linalg.norm(X, axis=0).max(), np.linalg.norm(dA)
        bound = np.linalg.norm(V) * size**2 * r**5 + np.linalg.norm(dV) * size * r**3
        assert left <= bound
        closest = max(closest, left / bound)
    assert closest > 0.01  # the bound is not idle


@pytest.mark.parametrize(
    ("sizes", "ranks", "rank_k", "rank_q"),
    [((1, 1, 3), (1, 1, 1), 1, 2), ((1, 1, 3), (1, 1, 1), 2, 1), ((3, 1, 2), (1, 1, 1), 2, 2),
     ((3, 1, 3), (1, 2, 2), 2, 1), ((3, 1, 3), (1, 2, 2), 1, 2)],
)  # fmt: skip
def test_normal_forms_are_those_of_ranks_that_there_are(
    sizes: Any, ranks: tuple[int, int, int], rank_k: int, rank_q: int
) -> None:
    with pytest.raises(InputError, match=f"there are no K and Q .* of ranks {rank_k} and {rank_q}, "):
        normal_form(SingleLayer(*sizes), Stratum(*ranks), rank_k, rank_q)


def test_a_normal_form_has_a_rank_of_v_and_k_that_there_is() -> None:
    assert normal_form(SingleLayer(2, 2, 2), Stratum(1, 1, 2), 1, 1, 2) is not None
    with pytest.raises(InputError, match=r"\[V; K\] cannot have the rank 4 there"):
        normal_form(SingleLayer(2, 2, 2), Stratum(1, 1, 2), 1, 1, 4)


def test_the_functions_of_a_normal_form_are_all_coefficients() -> None:
    layer = SingleLayer(2, 2, 2)
    form = normal_form(layer, Stratum(1, 1, 2), 1, 1)
    assert len(form.functions) == layer.ambient_dimension and not any(f.constant for f in form.functions)
