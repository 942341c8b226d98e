from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn.algebra.echelon import rational_matrix
from agattn.architectures import SingleLayer
from agattn.geometry.strata.critical import criticality, orbits_over_zero, stratum_criticality
from agattn.geometry.strata.strata import ZERO, Stratum, representative, strata
from agattn.geometry.variety.coordinates import differential
from agattn.geometry.variety.determinantal import compression, in_tangent_cone, tangent_space_equations

LAYERS = [SingleLayer(d, d_out, a) for d in range(1, 5) for d_out in range(1, 4) for a in range(1, d + 1)]


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_critical_strata(layer):
    critical = {s for s in strata(layer) if stratum_criticality(layer, s).critical}
    undecided = [s for s in strata(layer) if stratum_criticality(layer, s).critical is None]
    assert not undecided
    # For d = 1 the layer is linear in one product; only (A, V) = (0, 0) and, for d' > 1, A = 0 are critical.
    assert critical == ({ZERO, Stratum(1, 1, 1)} if layer.d > 1 else set())


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_the_direction_given_is_a_proof(layer):
    for stratum in strata(layer)[1:]:
        A, V = representative(layer, stratum)
        answer = criticality(layer, A, V)
        if answer.critical:
            dA, dV = answer.direction
            direction = [x for row in [*dA, *dV] for x in row]
            image = differential(A, V) * rational_matrix([direction], len(direction)).transpose()
            assert image.rank() == 0
            assert in_tangent_cone(A, layer.alpha, dA)
            scaling = [x for row in A for x in row] + [-x for row in V for x in row]
            assert rational_matrix([scaling, direction], len(direction)).rank() == 2


def test_pairs_over_zero():
    layer = SingleLayer(1, 1)
    pairs = [representative(layer, ranks) for ranks in orbits_over_zero(layer)]
    answers = {(A, V): criticality(layer, A, V).critical for A, V in pairs}
    assert answers == {(((0,),), ((0,),)): True, (((0,),), ((1,),)): False, (((1,),), ((0,),)): False}


small = st.integers(-3, 3)


@given(st.data())
def test_tangent_cone_of_low_rank_matrices(data):
    d = data.draw(st.integers(2, 3))
    alpha = data.draw(st.integers(1, d - 1))
    vectors = st.lists(small, min_size=d, max_size=d)

    def outer(count):
        pairs = [(data.draw(vectors), data.draw(vectors)) for _ in range(count)]
        return [[sum(x[i] * y[j] for x, y in pairs) for j in range(d)] for i in range(d)]

    A = outer(alpha)
    rank = rational_matrix(A, d).rank()
    # A + ε(XA + AY + Z) with Z of rank ≤ α − rk A is A(1 + ...) to first order: tangent to {rk ≤ α}.
    X, Y, Z = outer(2), outer(2), outer(alpha - rank)

    def times(P, Q):
        return [[sum(P[i][j] * Q[j][k] for j in range(d)) for k in range(d)] for i in range(d)]

    XA, AY = times(X, A), times(A, Y)
    direction = [[XA[i][j] + AY[i][j] + Z[i][j] for j in range(d)] for i in range(d)]
    assert in_tangent_cone(A, alpha, direction)
    for tangent in (XA, AY):
        column = flint.fmpq_mat(d * d, 1, [x for row in tangent for x in row])
        assert (compression(A) * column).rank() == 0
    equations = tangent_space_equations(A, alpha)
    flat = flint.fmpq_mat(d * d, 1, [x for row in direction for x in row])
    assert (equations * flat).rank() == 0
    expected = alpha * (2 * d - alpha) if rank == alpha else d * d
    assert d * d - tangent_space_equations(A, alpha).rank() == expected


def test_a_direction_outside_the_cone():
    A = [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
    identity = [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]
    assert not in_tangent_cone(A, 2, identity)
    assert in_tangent_cone(A, 3, identity)
