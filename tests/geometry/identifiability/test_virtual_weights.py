"""Virtual weights, the recursion, the unrolled product and the tree, over the integers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.architectures import DeepNetwork
from agattn.errors import InputError
from agattn.geometry.identifiability import virtual_weights as deep
from agattn.geometry.identifiability.weights import inverse
from agattn.reports.figure2 import in_order

dims_and_seed = st.tuples(st.lists(st.integers(1, 3), min_size=2, max_size=4), st.integers(0, 10**9))


def network(dims, generator):
    def draw(*shape):
        return generator.integers(-2, 3, shape).astype(object)

    A = [draw(d, d) for d in dims[:-1]]
    V = [draw(e, d) for d, e in itertools.pairwise(dims)]
    return A, V, draw(dims[0], 2)


@settings(max_examples=25, deadline=None)
@given(dims_and_seed)
def test_three_ways_to_compute_a_network(case):
    dims, seed = case
    A, V, X = network(dims, np.random.default_rng(seed))
    M, L = deep.virtual_weights(A, V)
    expected = deep.lightning(A, V, X)
    assert (L @ X @ deep.token_mixings(M, X)[-1] == expected).all()
    assert (deep.unrolled(M, L, X) == expected).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_change_of_basis_keeps_the_virtual_weights(seed):
    generator = np.random.default_rng(seed)
    A, V, _ = network((3, 2, 3, 2), generator)
    M, L = deep.virtual_weights(A, V)
    for i, C in enumerate([[[1, 2], [1, 1]], generator.integers(-2, 3, (3, 3))], 1):
        C = np.array(C, dtype=object)
        if (back := inverse(C)) is not None:  # HMK, equation 9
            V[i - 1], V[i], A[i] = C @ V[i - 1], V[i] @ back, back.T @ A[i] @ back
    M_moved, L_moved = deep.virtual_weights(A, V)
    assert (L_moved == L).all()
    assert all((m == n).all() for m, n in zip(M, M_moved, strict=True))


@pytest.mark.parametrize("l", [1, 2, 3, 4])
def test_the_tree_spells_equation_12(l):
    nodes = in_order(l)
    assert [node for node in nodes if node.level] == deep.unrolled_factors(l)
    assert [leaf.transposed for leaf in nodes if not leaf.level] == [k % 2 == 1 for k in range(3**l)]


@pytest.mark.parametrize("l", [0, 7])
def test_the_tree_has_limits(l):
    with pytest.raises(InputError, match=f"l is {l}"):
        in_order(l)


@pytest.mark.parametrize("l", [1, 2, 3])
def test_theorem_3_7_at_generic_and_at_special_points(l):
    generator = np.random.default_rng(l)
    generic = [generator.integers(-5, 6, (3, 3)) for _ in range(l)]
    rank_two = [np.outer([1, 2, 0], [0, 1, 1]) + np.outer([0, 1, 1], [1, 0, 3]) for _ in range(l)]
    L = np.outer([1, 2], [1, -1, 3])  # rank 1
    for M in (generic, rank_two):
        assert deep.theorem_3_7_hypotheses(M, L, 3) == []
        fiber = deep.local_fiber(M, L, 3)
        assert fiber.is_exact and fiber.lower_bound == l


def test_outside_its_hypotheses_theorem_3_7_can_fail():
    M = [np.outer([1, 2, 0], [0, 1, 1]), np.array([[1, 2, 0], [0, 1, 4], [1, 1, 1]])]
    assert deep.theorem_3_7_hypotheses(M, np.eye(3, dtype=int), 3) == ["rk M_1 ≥ 2"]
    assert deep.local_fiber(M, np.eye(3, dtype=int), 3).upper_bound > 2


def test_a_fiber_through_a_zero_matrix_has_no_known_rescalings():
    M, L = [np.array([[1, 2], [0, 1]]), np.array([[0, 1], [3, 1]])], np.array([[1, 0]])
    zero = 0 * M[0]
    assert deep.local_fiber(M, L, 3).lower_bound == 2
    for matrices, last in (([zero, M[1]], L), ([M[0], zero], L), (M, 0 * L)):
        found = deep.local_fiber(matrices, last, 3)
        assert found.lower_bound == 0 < found.upper_bound


def test_virtual_weights_of_a_network_are_those_of_its_heads():
    network = DeepNetwork((2, 2, 1), (2, 2), t=3)
    random = np.random.default_rng(0)
    weights = {name: random.integers(-3, 4, shape) for name, shape in network.shapes.items()}
    M, L = deep.virtual(network, weights)
    K, Q, V = ([weights[f"{letter}_{i}"].reshape(-1, 2) for i in (1, 2)] for letter in "KQV")
    assert (M[0] == K[0].T @ Q[0]).all() and (M[1] == V[0].T @ K[1].T @ Q[1] @ V[0]).all()
    assert (V[1] @ V[0] == L).all()
    assert deep.virtual(DeepNetwork((2, 2), (2,), t=3, heads=2), weights) is None
