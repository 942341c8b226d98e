import numpy as np
import pytest
from points_of_strata import scrambled

from agattn.algebra.scalars import as_floats
from agattn.architectures import SingleLayer
from agattn.checkpoints.head_geometry import head_geometry
from agattn.errors import InputError
from agattn.geometry.identifiability.weights import canonical_factors, fiber, weights
from agattn.geometry.reconstruction.nearest_point import nearest_weights
from agattn.geometry.strata.strata import strata
from agattn.geometry.variety.coefficient_norm import relative_change, weights_tensor

SHAPES = [(d, d_out, a) for d in range(1, 4) for d_out in range(1, 4) for a in range(1, d + 1)]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_stratum_is_recognised(shape):
    layer = SingleLayer(*shape)
    for n, stratum in enumerate(strata(layer)):
        A, V = (as_floats(M) for M in scrambled(layer, stratum, n))
        K, Q = canonical_factors(A, layer.a)
        head = head_geometry(K, Q, V)
        assert (head.r_v, head.r_a, head.r) == (stratum.r_v, stratum.r_a, stratum.r)
        if stratum.is_zero or layer.d == 1:
            continue
        assert (head.distance < 1e-7) == head.singular, stratum
        assert head.distance <= head.distance_upper
        if stratum.r_a == stratum.r_v == 1:
            assert head.swap_effect < 1e-7 and head.rank_one_locus_distance_upper < 1e-7


def test_distances_are_those_of_nearest_points():
    rng = np.random.default_rng(0)
    K, Q, V = rng.standard_normal((3, 8)), rng.standard_normal((3, 8)), rng.standard_normal((2, 8))
    head = head_geometry(K, Q, V)
    T = weights_tensor(K.T @ Q, V)
    assert head.distance == pytest.approx(nearest_weights(T, 2).residual, rel=1e-6)
    assert head.stable_rank_a == pytest.approx(np.linalg.norm(K.T @ Q) ** 2 / np.linalg.norm(K.T @ Q, 2) ** 2)
    # The locus of rank (1, 1) is smaller than that of rk A ≤ 1.
    assert head.rank_one_locus_distance_upper >= head.rank_one_locus_distance >= head.distance
    assert head.rank_one_locus_distance >= nearest_weights(T, 1).residual - 1e-9


def test_distance_for_one_row_and_a_equal_to_1():
    k, v = np.array([[1.0, 0.0, 0.0]]), np.array([[1.0, 0.2, 0.0]])
    head = head_geometry(k, np.array([[0.0, 1.0, 1.0]]), v)
    values = np.linalg.eigvalsh(k.T @ v + v.T @ k)
    assert head.distance == pytest.approx(
        abs(values).min() if abs(values).min() > 1e-9 else np.sort(abs(values))[1] / np.linalg.norm(values)
    )
    assert head_geometry(k[:, :2], k[:, :2], v[:, :2]).distance == 1


def test_relative_change_of_equal_functions():
    rng = np.random.default_rng(0)
    A, V = rng.standard_normal((2, 4, 4))
    other = fiber(weights(A=A, V=V)).move(s=-17.0)
    assert relative_change(A, V, other.A, other.V) < 1e-14


def test_bad_heads():
    with pytest.raises(InputError, match="must be a × d"):
        head_geometry(np.eye(2), np.eye(3), np.eye(2))
    with pytest.raises(InputError, match="not finite"):
        head_geometry(np.eye(2), np.eye(2), np.full((1, 2), np.nan))
