"""Weights near a critical point: it is proved, and the ways out are those of the Hessian in K, Q, V."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest

from agattn import SingleLayer
from agattn.errors import InputError
from agattn.geometry.critical_points import real_points
from agattn.geometry.critical_points.charts import chart_of
from agattn.geometry.critical_points.elimination import part_by_elimination
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.critical_points.real_points import _floats, points_near
from agattn.geometry.identifiability.weights import weights
from agattn.geometry.strata.strata import Stratum
from agattn.geometry.variety.coordinates import coefficients


def value(L, K, Q, V):
    """The loss in floats."""
    y = coefficients(L.layer, K.T @ Q, V).astype(float)
    return float(y @ np.array(L.gram, float) @ y - 2 * np.array(L.linear, float) @ y + float(L.constant))


def negative_eigenvalues(L, K, Q, V):
    """How many eigenvalues of the Hessian in all of K, Q, V are negative, by differences of a polynomial."""
    shapes = [M.shape for M in (K, Q, V)]
    start = np.concatenate([M.ravel() for M in (K, Q, V)])
    ends = np.cumsum([M.size for M in (K, Q, V)])[:-1]

    def f(x):
        return value(L, *(part.reshape(shape) for part, shape in zip(np.split(x, ends), shapes, strict=True)))

    n, h = len(start), 1e-3
    H, e = np.empty((n, n)), np.eye(n) * h
    for i in range(n):
        for j in range(n):
            H[i, j] = sum(
                s * t * f(start + s * e[i] + t * e[j]) for s in (1, -1) for t in (1, -1)
            ) / (4 * h * h)  # fmt: skip
    eigenvalues = np.linalg.eigvalsh(H)
    return int((eigenvalues < -1e-4 * np.abs(eigenvalues).max()).sum())


@pytest.mark.parametrize("seed", [1, 2])
def test_perturbed_critical_weights_find_their_point(seed):
    L = loss(SingleLayer(2, 1), seed=seed)
    random = np.random.default_rng(0)
    for known in part_by_elimination(L.layer, L).points:
        exact = known.weights[0]
        A, V = (_floats(M) * (1 + 1e-6 * random.standard_normal(M.shape)) for M in (exact.A, exact.V))
        best = points_near(L, weights(A=A, V=V))[0]
        assert best.rank == 2 and best.distance < 1e-4 and best.index == known.index and not best.escapes
        assert best.is_local_minimum == (known.index == 0)
        assert all(x.overlaps(y) for x, y in zip(best.point.y, known.y, strict=True))
        assert best.excess >= 0 or known.index


@pytest.mark.parametrize("seed", [1, 4])
def test_a_head_of_rank_one_is_a_strict_saddle(seed):
    L = loss(SingleLayer(2, 1), "gaussian", seed=seed)
    for known in part_by_elimination(L.layer, L, Stratum(1, 1, 2)).points:
        for exact in known.weights:
            K, Q, V = (_floats(M) for M in (exact.K, exact.Q, exact.V))
            scale = np.sqrt(np.linalg.norm(Q) / np.linalg.norm(K))
            K, Q = K * scale, Q / scale
            found = {one.rank: one for one in points_near(L, weights(K=K, Q=Q, V=V))}[1]
            assert found.distance < 1e-12 and not found.is_full and not found.is_local_minimum
            assert found.index == known.index and found.escapes == 1
            assert negative_eigenvalues(L, K, Q, V) == found.index + found.escapes
            u, v = found.direction
            before = value(L, K, Q, V)
            for step in (1e-3, 1e-2):
                K2, Q2 = np.vstack([K[0], step * u]), np.vstack([Q[0], -step * v])
                assert value(L, K2, Q2, V) - before == pytest.approx(-found.rate * step**2, rel=0.1)


def test_two_outputs_and_what_does_not_fit():
    layer = SingleLayer(2, 2)
    L = loss(layer, "bombieri-weyl", seed=1)
    # Where Newton's method ends mostly depends on the last digits of a sum; from these weights it does not.
    random = np.random.default_rng(4)
    best, *_ = points_near(L, weights(A=random.standard_normal((2, 2)), V=random.standard_normal((2, 2))))
    assert best.point.gradient < 1e-15 and best.evidence.value == "proved"
    assert {"rank", "distance", "escapes", "point"} <= set(best.as_json())
    with pytest.raises(InputError, match=r"the loss is for M\(2,2,2\)"):
        points_near(L, weights(A=np.eye(2), V=np.ones((1, 2))))


@pytest.mark.parametrize(
    ("A", "V", "normal", "ranks"),
    [
        ([[1, 2], [0, 0]], [[1, 3], [2, -1]], [4, 0, 7, -2, 0, 0, -2, 0, 21, 1, 0, 0], (2, 1, 2)),
        ([[1, 2], [3, -1]], [[1, 3], [2, 6]], [45, -15, 5, 0, 0, 0, -18, 6, -2, 0, 0, 0], (1, 2, 2)),
    ],
)
def test_a_smooth_point_of_a_lower_stratum_is_said_to_have_at_least_its_ranks(A, V, normal, ranks):
    """A loss that is critical at φ_{A,V} on M(2,2,2): ranks in balls are proved from below alone."""
    layer = SingleLayer(2, 2)
    units = np.eye(4, dtype=int).reshape(-1, 2, 2)
    tangent = [coefficients(layer, unit, V) for unit in units] + [coefficients(layer, A, u) for u in units]
    assert not (np.array(tangent) @ normal).any()
    L = loss(layer, "coefficients", target=(coefficients(layer, A, V) + normal).tolist())
    near = weights(A=np.array(A) + 1e-3, V=np.array(V) - 1e-3)
    [found] = [one for one in points_near(L, near) if one.rank == 2]
    point = found.point
    assert (
        float(point.loss.mid()) == pytest.approx(np.dot(normal, normal)) and point.evidence.value == "proved"
    )
    assert point.stratum.as_json() == list(ranks) and not point.exact_ranks
    assert f"on the smooth part, with ranks of at least ({','.join(map(str, ranks))}): loss" in str(found)
    assert ("the rank of A at 2" in str(found)) == (ranks[1] == 2) or not found.index
    [generic, *_] = points_near(loss(layer, "bombieri-weyl", seed=1), near)
    assert generic.point.exact_ranks and "at least" not in str(generic.point)


@pytest.mark.parametrize("d_out", [1, 2])
def test_in_one_dimension_the_only_critical_point_is_the_minimum(d_out):
    L = loss(SingleLayer(1, d_out))  # M is the whole space, and regular where A and V have rank one
    (best,) = points_near(L, weights(A=[[1]], V=[[2]] * d_out))
    assert best.is_local_minimum and best.point.gradient < 1e-15


def test_weights_on_the_hyperplane_that_a_chart_leaves_out():
    """A chart that contains them is taken."""
    layer = SingleLayer(2, 1)
    given = weights(K=[[1, 0], [0, 1]], Q=[[1, 2], [0, 1]], V=[[1, 1]])
    assert chart_of(layer).near(given.A.astype(float), given.V.astype(float)) is None
    assert [point.rank for point in points_near(loss(layer), given)] != []


@pytest.mark.parametrize("zero", ["K", "Q"])
def test_a_head_of_lower_rank_is_at_a_saddle_whatever_the_ranks_of_its_factors(zero):
    """K = 0 and Q of rank 2, or conversely: no gauge makes a row of both 0."""
    layer, V = SingleLayer(3, 1, 2), np.array([[1, -1, 2]])
    x, z = np.array([1, 2, -1]), np.array([2, -1, 1])
    L = loss(layer, "bombieri-weyl", target=coefficients(layer, np.outer(x, z), V).tolist())
    gradient = -2 * np.array(L.linear, float)  # at φ = 0
    units = np.eye(9, dtype=int).reshape(-1, 3, 3)
    M = np.array([gradient @ coefficients(layer, unit, V).astype(float) for unit in units]).reshape(3, 3)
    full = np.linalg.svd(M if zero == "K" else M.T)[2][1:]  # all rows r with M rᵀ = 0
    K, Q = (np.zeros((2, 3)), full) if zero == "K" else (full, np.zeros((2, 3)))
    assert np.linalg.matrix_rank(M) == 1 and np.allclose(K @ M, 0) and np.allclose(M @ Q.T, 0)
    assert negative_eigenvalues(L, K, Q, V.astype(float)) > 0
    assert negative_eigenvalues(negated(L), K, Q, V.astype(float)) > 0


@pytest.mark.parametrize(("d", "expected"), [(2, 3), (3, 5), (4, 7)])
def test_keys_and_queries_of_one_rank_do_not_give_the_index_without_that_of_a(d, expected):
    """K = (k; 0), Q = (0; q): A = 0, and 2 rk M + 1 eigenvalues are negative, not 2 rk M as for ρ = 0."""
    layer, random = SingleLayer(d, 1, 2), np.random.default_rng(0)
    K, Q, V = np.zeros((2, d)), np.zeros((2, d)), random.standard_normal((1, d))
    K[0], Q[1] = random.standard_normal((2, d))
    units = np.eye(d * d).reshape(-1, d, d)
    by_A = np.array([coefficients(layer, unit, V).astype(float) for unit in units]).reshape(d, d, -1)
    conditions = np.concatenate([np.tensordot(K[0], by_A, 1), np.tensordot(Q[1], by_A, (0, 1))])
    linear = random.standard_normal(by_A.shape[-1])
    linear -= np.linalg.pinv(conditions) @ conditions @ linear  # then K M = 0 and M Qᵀ = 0 at A = 0
    L = replace(loss(layer, "bombieri-weyl"), linear=tuple(linear))
    assert np.linalg.matrix_rank(by_A @ linear) == d - 1
    assert negative_eigenvalues(L, K, Q, V) == expected


@pytest.mark.parametrize("a", [1, 2])
def test_weights_can_be_critical_where_their_function_is_not(a):
    """d = 2, d' = ρ = 1 and V = kᵀ: the pairs have rank 3 at a regular point of M(2,1,1), of dimension 4."""
    layer, k, q, m = SingleLayer(2, 1, a), [1, 2], [3, -1], np.array([2, -1])
    K, Q, V, one = np.zeros((a, 2), int), np.zeros((a, 2), int), np.array([k]), np.eye(2, dtype=int)
    K[0], Q[0] = k, q
    moved = [(np.outer(e, q), V) for e in one] + [(np.outer(k, e), V) for e in one]
    moved += [(np.outer(k, q), e[None]) for e in one]
    pairs = np.array([coefficients(layer, *pair) for pair in moved]).astype(int)
    missing = coefficients(layer, np.outer(m, q), m[None]).astype(int)  # q ⊗ m², which is tangent to M(2,1,1)
    normal = np.kron(q, [4, -2, 1])
    assert np.linalg.matrix_rank(pairs) == 3 and not (pairs @ normal).any() and missing @ normal
    y = coefficients(layer, np.outer(k, q), V).astype(int)
    L = loss(layer, "coefficients", target=(y + normal).tolist())
    assert all(found.distance > 1e-3 for found in points_near(L, weights(K=K, Q=Q, V=V)))


def negated(L):
    """−L, whose negative eigenvalues are the positive ones of L."""
    block, linear = tuple(tuple(-x for x in row) for row in L.block), tuple(-x for x in L.linear)
    return replace(L, block=block, linear=linear, constant=-L.constant)


@pytest.mark.parametrize("rows", [1, 3])
def test_the_largest_rank_is_bounded_by_the_rows_of_keys_and_by_the_width(rows):
    random = np.random.default_rng(2)
    K, Q, V = (random.standard_normal(shape) for shape in ((rows, 2), (rows, 2), (1, 2)))
    found = points_near(loss(SingleLayer(2, 1), seed=1), weights(K=K, Q=Q, V=V))
    assert {one.rank: one.is_full for one in found} == {1: True} if rows == 1 else {1: False, 2: True}


def test_a_point_of_smaller_rank_is_no_regular_point(monkeypatch):
    """Where A has rank 0 although r is 2: no point of the layer with a = 1 is regular there."""
    random = np.random.default_rng(2)
    given = weights(K=random.standard_normal((1, 2)), Q=random.standard_normal((1, 2)), V=[[1, 2], [3, 5]])
    L = loss(SingleLayer(2, 2), "bombieri-weyl", seed=1)
    for ranks, number in (((2, 1, 2), 1), ((2, 0, 2), 0), ((1, 1, 2), 0)):
        following = cycle(ranks)
        monkeypatch.setattr(real_points, "_rank", lambda M, n=following: next(n))
        assert len(points_near(L, given).points) == number
