"""The theorem about critical and singular points of wide networks against exact ranks, and where it stops."""

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from agattn import DeepNetwork
from agattn.algebra.echelon import rational_rank
from agattn.claims import CLAIMS
from agattn.claims import deep as deep_singular_points
from agattn.geometry.identifiability.virtual_weights import is_skew
from agattn.geometry.singular_points.kinds import kinds
from agattn.geometry.singular_points.tangents import (
    Statement,
    VirtualPoint,
    ranks_at,
    settled,
    spans,
    special_points,
)
from agattn.verification.verify import verify

IDS = ["agattn.deep-critical", "agattn.deep-singular"]


def wide(d: int, d_out: int, t: int, layers: int) -> DeepNetwork:
    return DeepNetwork((*[d] * layers, d_out), (d,) * layers, t)


def point(M: list[object], L: object) -> VirtualPoint:
    return VirtualPoint("given", tuple(np.array(m, dtype=object) for m in M), np.array(L, dtype=object))


def ranks(points: list[VirtualPoint], t: int) -> tuple[int, int]:
    """The rank of the differential at the first point, and of all images together."""
    found = spans(points, t)
    return found[0], found[-1]


def made_of_few_vectors(network: DeepNetwork, generator: np.random.Generator) -> VirtualPoint:
    """Weights made of few vectors, so that they are related in many ways."""
    d, d_out = network.dims[0], network.dims[-1]

    def draw(*shape: int) -> np.ndarray:
        return generator.integers(-9, 10, shape).astype(object)

    pool = [draw(d, 1) for _ in range(3)] + [np.eye(d, 1, dtype=object)]

    def vector() -> np.ndarray:
        return pool[int(generator.integers(len(pool)))]

    def plus_skew() -> np.ndarray:
        a, b = vector(), vector()
        return a @ b.T - b @ a.T

    def square(factor: int = 1) -> np.ndarray:
        a = vector()
        return factor * a @ a.T

    def symmetric() -> np.ndarray:
        a = draw(d, d)
        return a + a.T

    one, strict = np.eye(d, dtype=object), np.triu(np.ones((d, d), dtype=int), 1)
    types: list[Callable[[], np.ndarray]] = [
        lambda: vector() @ vector().T,
        square,
        lambda: vector() @ vector().T + vector() @ vector().T,
        lambda: square() + square(-1),
        symmetric,
        lambda: one,
        lambda: strict * draw(d, d),
        lambda: square() + plus_skew(),
        lambda: draw(d, d),
        lambda: one + plus_skew(),
        lambda: one * generator.integers(-1, 2, d),
        lambda: square(2) + plus_skew() + square(),
    ]
    chosen = generator.integers(len(types), size=network.depth).tolist()
    L = draw(d_out, d) if generator.integers(2) else draw(d_out, 1) @ vector().T
    return VirtualPoint("made of few vectors", tuple(types[n]() for n in chosen), L)


def random_points(network: DeepNetwork, count: int) -> list[VirtualPoint]:
    """Random points of which the theorem speaks."""
    generator, points = np.random.default_rng(1), list[VirtualPoint]()
    while len(points) < count:
        drawn = made_of_few_vectors(network, generator)
        points += [drawn] if drawn.statement() is not None else []
    return points


@pytest.mark.parametrize("sizes", [(3, 2, 3, 2), (3, 1, 2, 2), (2, 2, 2, 2), (4, 1, 2, 2), (3, 1, 2, 3)])
def test_random_special_points_do_not_contradict_the_theorem(sizes):
    """500 of each size take a minute: random_points(network, 500)."""
    d, _, t, _ = sizes
    count = 12 if d < 4 else 6
    found = [ranks_at(point, t, seed=n) for n, point in enumerate(random_points(wide(*sizes), count))]
    assert len(found) == count
    assert not [f for f in found if f.contradicts_critical or f.contradicts_singular]
    assert any(f.is_critical for f in found) and not all(f.is_critical for f in found)


@pytest.mark.parametrize(
    ("sizes", "of_rank_one", "last"),
    [((3, 2, 3, 2), [29], 28), ((4, 1, 2, 2), [59], 43), ((3, 2, 3, 3), [34, 37], 36)],
)
def test_tangent_vectors_of_all_preimages(sizes, of_rank_one, last):
    """Lower bounds of the dimension of the tangent space at singular points, by exact ranks."""
    points = {p.name: p for p in special_points(wide(*sizes))}
    t, layers = sizes[2], sizes[3]
    found = [ranks_at(points[f"rk M_{i} = 1"], t) for i in range(1, layers)]
    assert [f.tangent_lower for f in found] == of_rank_one
    d = sizes[0]
    assert [f.dimension - f.rank for f in found] == [
        (layers - i) * d * (d - 1) // 2 for i in range(1, layers)
    ]
    both = ranks_at(points[f"rk M_{layers} = rk L = 1"], t)
    assert (both.rank, both.tangent_lower) == (both.dimension, last)
    parallel = ranks_at(points[f"M_{layers} = k qᵀ, L = h kᵀ"], t)
    assert parallel.dimension - parallel.rank == parallel.theorem.drop == d - 1


def test_functions_of_all_preimages_are_equal():
    from agattn.algebra.arithmetic import RingArithmetic
    from agattn.algebra.echelon import rational_rank

    X = np.array([[[1, 2], [0, -1], [3, 1]]], dtype=object)
    one = np.eye(3, dtype=int).astype(object)

    def value(p):
        weights = {f"{name}_{i}": one[None] for i in range(1, len(p.M) + 1) for name in "KV"}
        weights |= {f"Q_{i}": m[None] for i, m in enumerate(p.M, 1)} | {f"V_{len(p.M)}": p.L[None]}
        return DeepNetwork((3, 3, 2), (3, 3), t=2).evaluate(RingArithmetic(), weights, X)

    for name in ("rk M_1 = 1", "rk M_2 = rk L = 1"):
        p = {p.name: p for p in special_points(wide(3, 2, 2, 2))}[name]
        points = p.preimages()
        assert len(points) > 1 and rational_rank(points[0].M[1] - points[-1].M[1]) > 0
        assert value(p).any() and all((value(other) == value(p)).all() for other in points)


def test_skew_pairs_in_one_plane():
    """The counterexamples: two preimages with all ranks 2 or more, and critical points where they meet."""
    K = [[0, 1, 0], [-1, 0, 0], [0, 0, 0]]
    A = [[1, 2, 0], [5, 3, 0], [0, 0, 0]]
    L = [[1, 2, 3], [0, 1, -1]]
    one, other = point([K, A], L), point([A, K], L)
    for t, union in ((2, 29), (3, 33)):
        assert ranks([one, other], t) == (22, union)
    assert one.statement() is None  # the theorem is silent
    assert ranks([point([K, K], L)], 3)[0] == 22 - 3
    assert ranks([point([K, K], L)], 2)[0] == 22 - 6 - 2
    # A rank-two A that leaves the plane: one branch, nothing is critical.
    assert ranks([point([K, [[1, 2, 1], [5, 3, 0], [0, 1, 0]]], L)], 3)[0] == 22


def random_skew(generator, d):
    """A skew-symmetric matrix, of the largest even rank."""
    M = generator.integers(-9, 10, (d, d)).astype(object)
    return M - M.T


@pytest.mark.parametrize(("d", "dim", "unions"), [(3, 30, (43, 47)), (4, 53, (76, 86))])
def test_a_pair_in_one_plane_with_a_skew_matrix_between(d, dim, unions):
    """Proposition 10: two preimages, their limits, and critical points where they meet."""
    generator = np.random.default_rng(d)
    basis, beta = generator.integers(-5, 6, (d, 2)).astype(object), np.array([[1, 2], [5, 3]], dtype=object)
    K, A, low = (basis @ m @ basis.T for m in (np.array([[0, 1], [-1, 0]]), beta, np.outer([1, 2], [3, 1])))
    between, L = random_skew(generator, d), generator.integers(-5, 6, (2, d)).astype(object)
    pair = [point([K, between, A], L), point([A, between, K], L)]
    for t, union, drop in zip((2, 3), unions, ((d * d - 1), 3), strict=True):
        assert ranks(pair, t) == (dim, union)
        assert ranks([point([K, between, K], L)], t)[0] == dim - drop
        for M in (*(p.M for p in pair), (K, between, low), (K, between, K), (K, between, between, A)):
            assert settled(wide(d, 2, t, len(M)), M, L) == (True, "purity")
        apart = point([K, generator.integers(-9, 10, (d, d)), A], L)
        assert settled(wide(d, 2, t, 3), apart.M, L) == (False, "one-point fiber")
        assert ranks([apart], t)[0] == dim
        X = generator.integers(-5, 6, (d, t)).astype(object)
        one, other = (value(p.M, np.eye(d, dtype=object), X) for p in pair)
        assert one.any() and (one * (-7) ** 4 == other).all()  # det β = −7


def test_tokens_of_rank_two_are_as_two_tokens():
    """Proposition 10: behind a matrix of rank two, and at three tokens behind a skew one."""
    generator, d = np.random.default_rng(0), 5
    K, other, v = random_skew(generator, d), random_skew(generator, d), generator.integers(-3, 4, (d, 1))
    low = generator.integers(-3, 4, (d, 2)) @ generator.integers(-3, 4, (2, d))
    general, L = generator.integers(-9, 10, (d, d)), np.eye(2, d, dtype=int)
    square = 2 * K + v @ v.T
    for t, first, singular in [(4, low, True), (3, other, True), (4, other, False), (3, general, False)]:
        network, dim = wide(d, 2, t, 3), 3 * 24 + 10
        given = [point([first, *M], L) for M in ((K, square), (square, K), (K, K))]
        X = generator.integers(-3, 4, (d, t)).astype(object)
        f, g = (value(p.M, L, X) for p in given[:2])
        assert f.any() and (f * g[0, 0] == g * f[0, 0]).all() == singular
        assert (ranks(given[2:], t)[0] == dim - 15 - 9) == singular
        assert {settled(network, p.M, p.L) for p in given} == {(True, "purity") if singular else None}
    apart = point([low, K, general, K], L)
    assert ranks([apart], 3)[0] == apart.dimension - 9
    assert settled(wide(d, 2, 3, 4), apart.M, apart.L) == (True, "purity")
    assert settled(wide(d, 2, 3, 3), apart.M[1:], apart.L) is None


def meet(M, t):
    """Whether two skew matrices are proportional, as in Proposition 10."""
    for i, n in itertools.combinations(range(len(M)), 2):
        if is_skew(M[i]) and is_skew(M[n]) and rational_rank(np.array([M[i].ravel(), M[n].ravel()])) == 1:
            two = t == 2 or any(rational_rank(m) == 2 or (t == 3 and is_skew(m)) for m in M[:i])
            if two or (rational_rank(M[i]) == 2 and all(map(is_skew, M[i:n]))):
                return True
    return False


def test_which_skew_points_are_critical():
    """Observed: only those of Proposition 10, if all M_i and L have rank 2 or more. 4000 take 15 seconds."""
    critical = [0, 0]
    for seed in range(80):
        generator = np.random.default_rng(seed)
        d, l, t = (int(generator.integers(low, high)) for low, high in ((3, 5), (2, 5), (2, 4)))
        pool = generator.integers(-4, 5, (3, d, 1)).astype(object)
        of_rank_two = [a @ b.T - b @ a.T for a, b in itertools.combinations(pool, 2)]
        skew = [*of_rank_two, of_rank_two[0], random_skew(generator, d)]
        low = generator.integers(-4, 5, (d, 2)) @ generator.integers(-4, 5, (2, d))
        others = [generator.integers(-4, 5, (d, d)).astype(object), low, skew[-1] + pool[0] @ pool[0].T]
        M = [[*skew, *others][generator.integers(8)] for _ in range(l)]
        M[generator.integers(l)] = skew[generator.integers(5)]
        given = point(M, generator.integers(-4, 5, (2, d)))
        if min(map(rational_rank, (*M, given.L))) < 2:
            continue
        is_critical = ranks([given], t)[0] < given.dimension
        assert is_critical == meet(M, t)
        assert not is_critical or settled(wide(d, 2, t, l), M, given.L) == (True, "purity")
        critical[is_critical] += 1
    assert min(critical) > 10


def determinant(M, X):
    """δ_M at two tokens."""
    G = X.T @ M @ X
    return G[0, 0] * G[1, 1] - G[0, 1] * G[1, 0]


@pytest.mark.parametrize("d", [3, 4])
def test_which_matrices_change_places_with_a_skew_one_at_two_tokens(d):
    """Lemma 8: δ_M is a multiple of κ_K² exactly for sK + vvᵀ, and in the plane of K."""
    draw = np.random.default_rng(d).integers
    a, b, c, v = (draw(-9, 10, (d, 1)).astype(object) for _ in range(4))
    plane, other = a @ b.T - b @ a.T, draw(-9, 10, (d, d)).astype(object)
    square, in_plane = v @ v.T, 2 * a @ a.T + 3 * b @ a.T - b @ b.T
    general = other - other.T
    one = np.eye(d, dtype=int).astype(object)
    tokens = [draw(-9, 10, (d, 2)).astype(object) for _ in range(6)]
    for K in (plane, general):
        for M in (
            K + square, 3 * K - square, K + square + a @ a.T, in_plane, in_plane + c @ a.T, one, one + K,
            plane + square, a @ b.T + b @ a.T + K, a @ b.T + c @ v.T,
        ):  # fmt: skip
            K_at = [(X.T @ K @ X)[0, 1] ** 2 for X in tokens]
            M_at = [determinant(M, X) for X in tokens]
            multiple = all(x * K_at[0] == y * M_at[0] for x, y in zip(M_at, K_at, strict=True))
            known = VirtualPoint("", (K, M), np.eye(2, d, dtype=int).astype(object))
            assert (settled(wide(d, 2, 2, 2), known.M, known.L) == (True, "purity")) == multiple


def value(M, L, X):
    """L F_{M_l}(⋯ F_{M_1}(X))."""
    for m in M:
        X = X @ X.T @ m @ X
    return L @ X


def test_the_second_preimage_of_a_skew_point_of_two_dimensional_tokens():
    """M_1 = J, M_2 = k qᵀ, and M_1 = k qᵀ, Σ_2 = 0, b_2 = 1: the example after Theorem 6."""
    J, k, q = np.array([[0, 1], [-1, 0]]), np.array([[1], [2]]), np.array([[3], [-1]])
    L = np.array([[1, 2], [3, 5]])
    for t in (2, 3):
        X = np.random.default_rng(t).integers(-5, 6, (2, t)).astype(object)
        S = X @ X.T
        det = S[0, 0] * S[1, 1] - S[0, 1] ** 2
        assert (value((J, k @ q.T), L, X) == det * L @ S @ k @ q.T @ S @ J @ X).all()
        assert value((J, k @ q.T), L, X).any()
    assert ranks([point([J, k @ q.T], L)], 2) == (10, 10)  # not critical


def test_a_skew_point_with_one_reduced_preimage_is_a_limit_of_diverging_weights():
    """(k qᵀ + εN, K + ε²R), exactly: the distance of the functions falls like ε."""
    draw = np.random.default_rng(0).integers
    a, b = draw(-5, 6, (3, 1)).astype(object), draw(-5, 6, (3, 1)).astype(object)
    basis, R, X = np.hstack([a, b]), draw(-5, 6, (3, 3)).astype(object), draw(-3, 4, (3, 3)).astype(object)
    L = draw(-5, 6, (2, 3)).astype(object)
    K, beta, gamma = a @ b.T - b @ a.T, np.array([[2, 4], [1, 2]], object), np.array([[1, 0], [0, 3]], object)
    f = value((K, basis @ beta @ basis.T), L, X)
    assert f.any() and ranks([point([K, basis @ beta @ basis.T], L)], 2) == (22, 22)
    distances = []
    for e in (Fraction(1, 10**9), Fraction(1, 10**12)):
        moved = beta + e * gamma
        det = moved[0, 0] * moved[1, 1] - moved[0, 1] * moved[1, 0]
        near = value((basis @ moved @ basis.T, K + e**2 * R), L / det, X)
        distances.append(float(abs(near - f).max() / abs(f).max()))
    assert distances[0] < 1e-2 and distances[1] == pytest.approx(1e-3 * distances[0], rel=0.01)


def test_two_dimensional_tokens():
    """Singular at a head of rank 1 if rk L = 1, where linear forms can be exchanged; not if rk L = 2."""
    k, q, l, p, r = ([1, 2], [1, -1], [2, 1], [1, 3], [3, -1])

    def form(a, b):
        return np.outer(a, b) + np.outer(b, a)

    J, M_1 = np.array([[0, 1], [-1, 0]]), np.outer(k, q)
    for L in ([[4, 1]], [[4, 1], [2, -1]]):
        skew = [point([M_1, form(p, r) + n * J], L) for n in range(4)]
        dim = skew[0].dimension
        assert ranks(skew, 2) == (dim - 1, dim)
        assert ranks_at(skew[0], 2).theorem == Statement(True, len(L) == 1, 1)
    one, other = point([M_1, form(p, r)], [l]), point([M_1, form(l, r)], [p])
    moved = [p._replace(M=(p.M[0], p.M[1] + J)) for p in (one, other)]
    assert ranks([one, other, *moved], 2) == (7, 9) and one.dimension == 8


def test_the_hypotheses():
    for dims, ranks_, heads, failing in [
        ((3, 2, 3), (3, 2), 1, "d_i ≥ d_0 and a_i ≥ d_0"),
        ((3, 3), (3,), 1, "l ≥ 2"),
        ((3, 3, 2), (3, 3), 2, "one head"),
    ]:
        report = verify(DeepNetwork(dims, ranks_, 3, heads), IDS, "native")
        assert {v.status.value for v in report.verdicts} == {"inapplicable"}
        assert all(failing in v.witness for v in report.verdicts)
    critical, singular = verify(wide(2, 1, 2, 2), IDS, "native").verdicts
    assert critical.status.value == "confirmed" and "d_0 ≥ 3" in singular.witness
    large = verify(wide(9, 1, 2, 2), IDS, "native").verdicts
    assert {v.status.value for v in large} == {"undecided"} and "171 entries" in large[0].witness
    with pytest.raises(ValueError, match="skew"):
        ranks_at(point([[[0, 1], [-1, 0]]], [[1, 0]]), 2)
    with pytest.raises(ValueError, match="not about"):
        special_points(DeepNetwork((3, 2, 3), (3, 3), t=2))


@pytest.mark.parametrize(("claim", "said"), [(0, "rank 19"), (1, "29 tangent vectors")])
def test_a_wrong_theorem_is_refuted_at_a_point(monkeypatch, claim, said):
    """As if a head of rank 1 before the last did nothing."""
    original = VirtualPoint.statement

    def wrong(self):
        return Statement(False, False, 0) if self.first_of_rank_one else original(self)

    monkeypatch.setattr(VirtualPoint, "statement", wrong)
    [verdict] = verify(wide(3, 2, 3, 2), IDS[claim : claim + 1], "native").verdicts
    assert verdict.status.value == "refuted" and said in verdict.witness
    assert "rk M_1 = 1" in verdict.witness and len(verdict.details["point"]["M"]) == 2


def test_the_claims_share_one_computation():
    assert {claim.tasks for claim in deep_singular_points.CLAIMS[3:5]} == {(deep_singular_points.POINTS,)}
    report = verify(wide(3, 1, 2, 2), IDS, "native")
    assert [v.strength for v in report.verdicts] == ["proved in part"] * 2
    assert {v.computed["points"] for v in report.verdicts} == {22}


@pytest.mark.parametrize(
    ("network", "kind", "expected"),
    [
        (DeepNetwork((3, 3, 2), (2, 3), t=2), "generic", (False, "one-point fiber")),
        (DeepNetwork((3, 3, 2), (2, 3), t=2), "rk M_1 = 1", (True, "purity")),
        (DeepNetwork((3, 3, 2), (3, 2), t=2), "rk M_2 = 1", (True, "purity")),  # a determinantal variety
        (DeepNetwork((3, 3, 2), (3, 3), t=2), "rk M_2 = 1", (False, "one-point fiber")),
        (DeepNetwork((3, 2, 3), (3, 2), t=2), "generic", (False, "one-point fiber")),
        (DeepNetwork((3, 2, 3), (3, 2), t=2), "rk V_1 = 1", (True, "purity")),  # not one common plane
        (DeepNetwork((3, 2, 3), (3, 2), t=2), "rk M_2 = rk L = 1", (True, "several branches")),
        (DeepNetwork((3, 3, 2), (3, 1), t=2), "generic", None),
        (DeepNetwork((3, 2, 2, 3), (3, 2, 2), t=2), "generic", None),
        (DeepNetwork((3, 3, 2), (3, 3), t=1), "generic", (False, "one-point fiber")),
        (DeepNetwork((3, 3, 2), (3, 3), t=1), "M_1 = M_2", (True, "purity")),  # a common factor
        (DeepNetwork((3, 3, 1), (3, 3), t=1), "M_2 symmetric of rank 2", (True, "several branches")),
        (DeepNetwork((3, 3, 1), (3, 3), t=1), "M_2 = k qᵀ, L = h kᵀ", (True, "purity")),
        (DeepNetwork((2, 2, 2), (2, 2), t=2), "rk M_1 = 1", (False, "one-point fiber")),
        (DeepNetwork((2, 2, 1), (2, 2), t=2), "rk M_1 = 1", (True, "purity")),
        (DeepNetwork((3, 3), (3,), t=2), "M_1 skew", (False, "one-point fiber")),
        (DeepNetwork((3, 3, 2), (3, 3), t=2), "M_1 skew", (False, "one-point fiber")),
        (DeepNetwork((3, 3, 2), (3, 3), t=2), "M_2 skew", (False, "one-point fiber")),
        (DeepNetwork((3, 3, 2), (3, 3), t=2), "M_1 skew, rk M_2 = 1", (False, "one-point fiber")),
        (DeepNetwork((3, 3, 2), (3, 3), t=3), "M_1 = K skew, M_2 = k qᵀ in its plane", (True, "purity")),
        (DeepNetwork((3, 3, 2), (3, 3), t=3), "M_1 = K skew, M_2 = A in its plane", (True, "purity")),
        (DeepNetwork((4, 4, 2), (4, 4), t=2), "M_1 skew, M_2 = k kᵀ", (True, "purity")),
        (DeepNetwork((4, 4, 2), (4, 4), t=3), "M_1 skew, M_2 = k kᵀ", None),
        (DeepNetwork((3, 3, 2), (3, 3), t=2), "M_1 and M_2 skew", None),
        (DeepNetwork((3, 3, 1), (3, 3), t=2), "M_1 skew", None),  # rk L = 1
        (DeepNetwork((3, 3, 1), (3, 3), t=2), "M_1 skew, rk M_2 = 1", (True, "purity")),
        (DeepNetwork((3, 3, 2), (2, 3), t=2), "M_1 skew", None),
        (DeepNetwork((2, 2, 2), (2, 2), t=3), "M_1 skew", (True, "purity")),
        (DeepNetwork((2, 2, 2), (2, 2), t=2), "M_1 skew, rk M_2 = 1", (True, "purity")),
        (DeepNetwork((3, 3, 2), (3, 3), t=2, heads=2), "generic", None),
    ],
)
def test_what_the_theorems_settle(network, kind, expected):
    found = {k.name: k for k in kinds(network)}[kind]
    assert settled(network, *(found.virtual or ([], np.zeros((1, 1))))) == expected


def test_certificates_hold_a_point_of_each_kind():
    """Generic, rk M_1 = 1, rk M_2 = rk L = 1, and M_2 = k qᵀ, L = h kᵀ; preimages whose images add up."""
    network, draw = wide(2, 2, 2, 2), np.random.default_rng(0)
    critical, singular = (CLAIMS[name].certificate.document(network, draw)["points"] for name in IDS)
    assert [found["rank"] for found in critical] == [10, 9, 10, 9]
    assert [(found["rank"], len(found["others"])) for found in singular] == [(10, 2), (12, 1)]


def test_a_certificate_of_the_boundary_has_as_many_inputs_as_tell_the_dimension_of_the_limits():
    network = wide(2, 2, 3, 2)
    found = CLAIMS["agattn.deep-boundary"].certificate.document(network, np.random.default_rng(0))
    assert found["dimension"] == 9 and 3 <= len(found["inputs"]) <= 9
