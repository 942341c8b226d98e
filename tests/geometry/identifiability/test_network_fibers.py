"""Fibers of networks: moved weights compute the same function, and the dimensions are those of MATH."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn.algebra.arithmetic import RingArithmetic
from agattn.architectures import DeepNetwork
from agattn.evidence import Evidence
from agattn.geometry.identifiability.network_fibers import NetworkFiber, network_fiber
from agattn.geometry.identifiability.virtual_weights import virtual_weights

V, W = [1, 3], [2, 1]
ONE, J = np.eye(2, dtype=int), np.array([[0, 1], [-1, 0]])


def outer(x: Any, y: Any) -> Any:
    return np.multiply.outer(np.array(x), np.array(y))


def values(network: DeepNetwork, weights: dict[str, Any], X: Any) -> list[Any]:
    """φ by the virtual weights' own recursion and exact fractions, which the fibers do not use."""
    exact = {name: np.asarray(a, dtype=object)[0] + Fraction(0) for name, a in weights.items()}
    numbers = range(1, network.depth + 1)
    for i in numbers:
        A = exact[f"K_{i}"].T @ exact[f"Q_{i}"]
        X = exact[f"V_{i}"] @ X @ (X.T @ A @ X)
    return X.tolist()


def moved(fiber: NetworkFiber, number: int, generator: np.random.Generator) -> dict[str, Any]:
    """A random point of a component, moved by all symmetries."""
    network, c = fiber.weights.architecture, fiber.components[number]
    along = generator.integers(-3, 4, len(c.vectors)).tolist()
    by: dict[int, Any] = {}
    for n, symmetry in enumerate(network.symmetries):
        upper = np.triu(generator.integers(-2, 3, (symmetry.size, symmetry.size)), 1)
        by[n] = upper + np.diag(generator.choice([1, 2, -1], symmetry.size))
    free = {name: generator.integers(-3, 4, network.shapes[name]) for name in c.free}
    return fiber.move(number, along, by, **free)


def check(fiber: NetworkFiber) -> None:
    """Every component, moved, has the function of the weights exactly, and nearly all others have another."""
    network, generator = fiber.weights.architecture, np.random.default_rng(0)
    assert isinstance(network, DeepNetwork)
    X = generator.integers(-4, 5, network.input_shape).astype(object)
    base = fiber.move() if fiber.components[0].through else None
    assert base is not None
    expected = values(network, base, X)
    for n in range(len(fiber.components)):
        other = moved(fiber, n, generator)
        assert values(network, other, X) == expected, fiber.components[n].name
        assert fiber.contains(other)
        assert fiber.components[n].dimension <= network.parameters
    assert fiber.dimension <= fiber.upper_bound


def entries(*shape: int) -> st.SearchStrategy[Any]:
    size = int(np.prod(shape))
    return st.lists(st.integers(-3, 3), min_size=size, max_size=size).map(lambda x: np.reshape(x, shape))


@settings(max_examples=15, deadline=None)
@given(data=st.data(), widths=st.sampled_from([(2, 2, 1), (3, 3, 2), (3, 4, 2), (3, 2, 2), (2, 3, 2, 2)]))
@pytest.mark.slow
def test_skew_directions_of_random_rank_one_heads(data: Any, widths: tuple[int, ...]) -> None:
    d, l = widths[0], len(widths) - 1
    weights: dict[str, Any] = {}
    for i, (n, m) in enumerate(pairwise(widths), 1):
        weights |= {f"A_{i}": data.draw(entries(n, n)), f"V_{i}": data.draw(entries(m, n))}
    weights["A_1"] = outer(data.draw(entries(d)), data.draw(entries(d)))
    fiber = network_fiber(DeepNetwork(widths, widths[:-1], t=2), weights)
    check(fiber)
    M, L = virtual_weights(
        *([np.array(weights[f"{x}_{i}"], dtype=object) for i in range(1, l + 1)] for x in "AV")
    )
    assume(fiber.case == "rank-one head" and L.any())
    [first] = [c for c in fiber.components if c.name == "given"]
    skew = {part.layer: len(part.vectors) for part in first.directions if part.name == "skew"}
    rank = int(np.linalg.matrix_rank(np.array(weights["V_1"], dtype=float)))
    assert skew.get(2, 0) == rank * (rank - 1) // 2
    after = fiber.move(along=[1] * len(first.vectors))
    A = [after[f"K_{i}"][0].T @ after[f"Q_{i}"][0] for i in range(1, l + 1)]
    then, same = virtual_weights(A, [after[f"V_{i}"][0] for i in range(1, l + 1)])
    assert (same == L).all() and (then[0] == M[0]).all()
    for one, other in zip(M[1:], then[1:], strict=True):
        assert ((one - other) == -(one - other).T).all()


def generic(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).integers(-4, 5, shape)


@pytest.mark.parametrize(
    ("widths", "ranks", "t", "A", "drop"),
    [
        ((3, 3, 2), (3, 3), 3, {}, 0),
        ((3, 3, 2), (3, 3), 3, {1: 1}, 3),
        ((3, 3, 2), (1, 3), 3, {}, 3),
        ((3, 3, 2), (1, 2), 3, {2: 2}, 3 - 1),  # A_2 + S has rank 2
        ((4, 4, 1), (4, 4), 2, {1: 1}, 6),
        ((3, 3, 3, 2), (3, 3, 3), 3, {1: 1}, 6),
        ((3, 3, 3, 2), (3, 3, 3), 3, {2: 1}, 3),
        ((3, 3, 3, 2), (3, 3, 3), 3, {1: 1, 2: 1}, 6),
        ((2, 2, 1), (2, 2), 1, {}, 2),
    ],
)
def test_dimensions_are_exact_at_rank_one_heads(
    widths: tuple[int, ...], ranks: tuple[int, ...], t: int, A: dict[int, int], drop: int
) -> None:
    """The differential drops by (l − i)·C(d, 2), less where the rank of A is bounded; both bounds say so."""
    weights: dict[str, Any] = {}
    for i, (n, m, a) in enumerate(zip(widths, widths[1:], ranks, strict=False), 1):
        r = min(A.get(i, n), a)
        weights |= {f"A_{i}": generic(i, r, n).T @ generic(i + 9, r, n), f"V_{i}": generic(i + 99, m, n)}
    network = DeepNetwork(widths, ranks, t)
    fiber = ag.fiber(network, weights)
    assert isinstance(fiber, NetworkFiber)
    assert fiber.is_exact and fiber.evidence is Evidence.PROVED
    symmetric = sum(a * a for a in ranks) + sum(d * d for d in widths[1:-1]) + len(ranks)
    assert fiber.dimension == symmetric + drop
    assert fiber.generic == (drop == 0)
    check(fiber)


@pytest.mark.parametrize(
    ("widths", "t", "A", "L", "exchanged"),
    [
        # HMK, Theorem 3.2, at the last layer; after a head of rank one any two of three factors
        ((3, 3, 2), 2, [generic(1, 3, 3), outer([1, 0, 2], [0, 1, 1])], [1, 2, 3], 1),
        ((3, 3, 2), 2, [generic(1, 3, 3), outer([1, 2, 3], [0, 1, 1])], [1, 2, 3], 0),
        ((3, 3, 2), 2, [outer([1, 3, 0], [2, 1, 1]), outer([1, 0, 1], [0, 1, 1])], [1, 2, 3], 2),
        ((2, 2, 2), 2, [outer(V, W), np.diag([1, 1])], [1, 2], 0),  # u_1² + u_2²
        ((2, 2, 2), 1, [outer(V, W), outer([1, 0], [0, 1])], [1, 2], 2),
        # v and a factor of M_2, where M_3 is (v·u)²; v and k, where M_2 is a multiple as well
        ((2, 2, 2, 2), 2, [outer(V, W), outer([1, 0], [0, 1]), outer([1, 2], [1, 2]) + J], [1, 2], 2),
        ((2, 2, 2, 2), 2, [outer(V, W), 3 * outer([1, 2], [1, 2]), outer([1, 2], [1, 2]) - J], [1, 2], 1),
    ],
)  # fmt: skip
def test_exchanged(widths: tuple[int, ...], t: int, A: list[Any], L: list[int], exchanged: int) -> None:
    weights = {f"A_{i}": a for i, a in enumerate(A, 1)} | {
        f"V_{i}": np.eye(widths[0], dtype=int) for i in range(1, len(A))
    }
    weights[f"V_{len(A)}"] = outer([1, -2], L)
    fiber = network_fiber(DeepNetwork(widths, widths[:-1], t), weights)
    assert [c.name for c in fiber.components] == ["given"] + ["exchanged"] * exchanged
    assert not exchanged or not fiber.generic
    check(fiber)


def test_zero() -> None:
    network = DeepNetwork((2, 2, 1), (2, 2), t=2)
    head = {"A_1": [[1, 2], [2, 4]], "V_1": ONE, "A_2": J, "V_2": [[1, 3]]}
    fiber = network_fiber(network, head)
    assert fiber.case == "zero" and fiber.evidence is Evidence.PROVED
    names = {c.name: (c.dimension, c.through) for c in fiber.components}
    # n = 22; {KᵀQ = 0} has codimension 3 or 4, {V = 0} 4 or 2, {rk A_1 = 1, A_2 skew} 1 + 3
    assert names == {
        "rk A_1 ≤ 1, A_2 skew": (18, True), "A_1 = 0": (19, False), "V_1 = 0": (18, False),
        "A_2 = 0": (19, False), "V_2 = 0": (20, False),
    }  # fmt: skip
    assert fiber.dimension == 18 == fiber.upper_bound
    check(fiber)
    below = network_fiber(network, head | {"V_1": [[1, 0], [0, 0]], "V_2": [[0, 1]], "A_2": ONE})
    assert below.case == "zero" and below.components[0].name == "given"
    check(below)


def test_near_the_weights_a_zero_may_have_more_dimensions_than_an_array_that_is_zero() -> None:
    """V_2 V_1 = 0 near V_2 = 0, where no scores are 0: two equations, not four."""
    network = DeepNetwork((1, 2, 2), (1, 1), t=1)
    given = {"K_1": [[1]], "Q_1": [[2]], "V_1": [[2], [-1]], "V_2": np.zeros((2, 2))}
    fiber = network_fiber(network, {**given, "K_2": [[-1, -4]], "Q_2": [[0, -1]]})
    assert fiber.case == "zero" and fiber.is_exact
    assert fiber.dimension == network.parameters - 2


def test_other_networks_are_searched() -> None:
    network = DeepNetwork((2, 2, 2), (2, 2), t=2, heads=2, skip=True)
    weights: dict[str, Any] = {
        name: generic(n, *shape) for n, (name, shape) in enumerate(network.shapes.items())
    }
    whole = network_fiber(network, weights)
    weights["V_1"][1] = 0
    fiber = network_fiber(network, weights)
    assert fiber.dimension > whole.orbit_dimension == 20
    assert whole.dimension == 24 and whole.is_exact  # the largest rank, so it is constant nearby
    other = fiber.move(along=[1])
    X = generic(5, 1, 2, 2).astype(object)
    given, then = ({k: np.asarray(a).astype(object) for k, a in w.items()} for w in (weights, other))
    same = network.evaluate(RingArithmetic(), given, X) == network.evaluate(RingArithmetic(), then, X)
    assert same.all() and any((given[k] != then[k]).any() for k in given)


def test_contains_tells_other_functions() -> None:
    network = DeepNetwork((2, 2, 1), (2, 2), t=2)
    weights = {"A_1": [[1, 2], [2, 4]], "V_1": ONE, "A_2": [[1, 1], [0, 1]], "V_2": [[1, 3]]}
    fiber = network_fiber(network, weights)
    assert fiber.contains(weights | {"A_2": [[1, 8], [-7, 1]]})
    assert not fiber.contains(weights | {"A_2": [[1, 8], [-6, 1]]})
    assert not fiber.contains(weights | {"A_1": [[1, 2], [2, 5]]})
    first = {"A": [["1/2", 1], [1, 2]], "V": [[2, 0], [0, 2]]}
    assert fiber.contains([first, {"A": [["1/4", "1/4"], [0, "1/4"]], "V": [[4, 12]]}])
