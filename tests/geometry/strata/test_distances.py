"""Distances to the closures of strata: bounds that hold, and are met where they must be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import SingleLayer
from agattn.checkpoints.head_geometry import head_geometry
from agattn.geometry.strata.strata import Stratum, distance_bounds, representative, strata
from agattn.geometry.variety.coefficient_norm import relative_change

LAYER = SingleLayer(3, 2)
NONZERO = [s for s in strata(LAYER) if not s.is_zero]


def point(stratum, seed):
    """A random point of a stratum."""
    draw = np.random.default_rng(seed)
    A, V = (np.array(M, dtype=float) for M in representative(LAYER, stratum))
    g, h, c = (draw.standard_normal((n, n)) for n in (3, 3, 2))
    return g @ A @ h, c @ V @ g.T


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NONZERO), st.sampled_from(NONZERO), st.integers(0, 10**6))
def test_no_point_of_a_stratum_is_nearer_than_the_lower_bound(one, other, seed):
    A, V = point(one, seed)
    lower, upper = distance_bounds(A, V, other)
    assert 0 <= lower <= upper <= 1
    B, W = point(other, seed + 1)
    scale = np.linalg.norm(A) * np.linalg.norm(V) / (np.linalg.norm(B) * np.linalg.norm(W))
    assert relative_change(A, V, scale * B, W) >= lower * (1 - 1e-9)
    if other.closure_contains(one):
        assert upper < 1e-6


@pytest.mark.parametrize("a", [1, 2, 3])
def test_the_distances_of_heads_are_among_them(a):
    draw = np.random.default_rng(a)
    K, Q, V = (draw.standard_normal(shape) for shape in ((a, 3), (a, 3), (2, 3)))
    head = head_geometry(K, Q, V)
    rank_one = [x.item() for x in distance_bounds(K.T @ Q, V, Stratum(1, 1, 3))]
    assert rank_one[0] == pytest.approx(head.rank_one_locus_distance, abs=1e-12)
    assert rank_one[1] == pytest.approx(head.rank_one_locus_distance_upper, rel=0.02, abs=1e-12)
    if a == 2:
        assert [x.item() for x in distance_bounds(K.T @ Q, V, Stratum(2, 1, 3))] == pytest.approx(
            [head.distance] * 2
        )


def test_stacks_are_done_one_by_one():
    pairs = [point(stratum, 5) for stratum in NONZERO]
    A, V = (np.stack([pair[n] for pair in pairs]) for n in (0, 1))
    together = distance_bounds(A, V, Stratum(1, 1, 1))
    single = [distance_bounds(*pair, Stratum(1, 1, 1)) for pair in pairs]
    assert np.allclose(together, np.array(single).T)
    assert [x.item() for x in distance_bounds(0 * A[0], V[0], Stratum(1, 1, 1))] == [0, 0]
