"""Zeros and limits of deep networks: engine against engine, and both against what is known natively."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.algebra.polynomial import PolynomialRing
from agattn.architectures import DeepNetwork
from agattn.engines.run import run
from agattn.errors import InputError
from agattn.geometry.closedness.question import limit_set
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.identifiability.virtual_weights import token_mixings
from agattn.limits import limited
from agattn.systems.catalogue import TASKS, build
from agattn.systems.network_tasks import (
    DEEP_BASE_LOCUS,
    DEEP_FIBER,
    DEEP_LIMIT,
    FibersModuloScaling,
    limit_value,
    weights_ring,
    zero_sets,
)
from agattn.systems.problem import matrix


def wide(d, e, t, layers=2):
    """The widest network that matters: (d, d_l, t) and l as in docs/reference/tasks.md."""
    return DeepNetwork((*[d] * layers, e), (d,) * layers, t)


SMALLEST = wide(2, 1, 2)
NAMES = [task.name for task in (DEEP_FIBER, DEEP_BASE_LOCUS, DEEP_LIMIT)]


def asked(task, network, installation, *characteristic, **given):
    answer = run(build(task.name, network, *characteristic, **given), installation).answer
    return answer, task.read(answer)


# Fibers over limits -----------------------------------------------------------------------------------------


def in_charts(answer, name):
    return [answer.integers[f"{name}@{i}"] for i in range(1, answer.integers["charts"] + 1)]


def test_no_weights_reach_the_limit(engine_installation):
    """The ideal is 1 over ℚ in each chart, so that there are no preimages over ℂ either.

    A point has no other preimage. With k qᵀ as first head the fiber contains M_2 + skew, a line; and as d_l
    is 1, L may change places with either linear factor of the quadratic form of M_2: three lines in all.
    """
    answer, fibers = asked(DEEP_FIBER, SMALLEST, engine_installation)
    assert fibers == FibersModuloScaling(limit=-1, point=0, rank_one=1)
    assert in_charts(answer, "limit-dimension") == [-1] * 8
    assert in_charts(answer, "point-dimension") == [0] * 8 and in_charts(answer, "point-degree") == [1] * 8
    assert in_charts(answer, "rank-one-dimension") == [1] * 8
    assert in_charts(answer, "rank-one-degree") == [3] * 8


@pytest.mark.parametrize(
    ("network", "given"),
    [(wide(2, 2, 2), {}), (SMALLEST, {"seed": 1}), (SMALLEST, {"characteristic": 32003})],
    ids=str,
)
def test_other_limits(singular, network, given):
    answer, fibers = asked(DEEP_FIBER, network, singular, **given)
    assert fibers == (-1, 0, 1) and answer.integers["charts"] == 4 * 2 * network.dims[-1]


@pytest.mark.parametrize("changed", [{"K": [[0, 0], [0, 0]]}, {"N": [[4, -3], [-1, 3]]}], ids=str)
def test_a_limit_that_is_a_function_has_a_fiber(singular, changed):
    """With K = 0, or N = k aᵀ + b qᵀ, a = (1, 0), b = (3, −3), the limit is the function of k qᵀ, P and L."""
    problem = build("deep-fiber", SMALLEST)
    data = {**problem.data, **{name: matrix(rows) for name, rows in changed.items()}}
    answer = run(replace(problem, data=data), singular).answer
    assert in_charts(answer, "limit-dimension") == [1] * 8


@settings(max_examples=10, deadline=None)
@given(st.sampled_from([wide(2, 1, 2), wide(3, 2, 2), wide(2, 1, 3, layers=3)]), st.integers(0, 10**6))
def test_the_formula_is_the_coefficient_of_epsilon(network, seed):
    data = build("deep-limit", network, seed=seed).data
    X = np.random.default_rng(seed).integers(-3, 4, network.input_shape).astype(object)
    ring = PolynomialRing(["epsilon"])
    epsilon, zero = ring.gens[0], ring.zero()
    k, q, N, K, P, L = (np.array(data[name], dtype=object) for name in "kqNKPL")
    M = [*map(np.array, data["M"][:-2]), k.T @ q + epsilon * N, K + epsilon * P]
    phi = L @ X @ token_mixings([m + zero for m in M], X)[-1]
    assert not any(f.terms.get((0,)) for f in phi.ravel())
    assert [f.terms.get((1,), 0) for f in phi.ravel()] == list(limit_value(network, data, X).ravel())


# Zeros ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_components_of_the_zeros(engine_installation):
    """Independent: engines decompose {φ = 0}; what is compared is a list of sets on which φ = 0."""
    _, found = asked(DEEP_BASE_LOCUS, SMALLEST, engine_installation)
    assert found == DEEP_BASE_LOCUS.native(SMALLEST)
    assert found == {"M_1 = 0": 6, "M_2 = 0": 6, "L = 0": 8, "rk M_1 ≤ 1, M_2 skew-symmetric": 6}


@pytest.mark.parametrize("network", [wide(2, 2, 2), wide(2, 1, 1), wide(2, 1, 2, layers=1)], ids=str)
def test_components_elsewhere(singular, network):
    _, found = asked(DEEP_BASE_LOCUS, network, singular, 32003)
    assert found == DEEP_BASE_LOCUS.native(network)


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 3), st.integers(1, 2), st.integers(1, 3), st.integers(1, 3), st.integers(0, 99))
def test_zero_sets_consist_of_zeros_and_have_their_dimension(d, e, t, layers, seed):
    network = wide(d, e, t, layers)
    random = np.random.default_rng(seed)
    size = len(weights_ring(network))
    X = random.integers(-3, 4, (d, t)).astype(object)
    for zeros in zero_sets(network):
        parameters = zeros.points[0].ring.gens
        place = [int(n) for n in random.integers(1, 10, len(parameters))]
        point = np.array([int(f(*place)) for f in zeros.points], dtype=object)
        M = list(point[: layers * d * d].reshape(layers, d, d))
        assert not (point[layers * d * d :].reshape(e, d) @ X @ token_mixings(M, X)[-1]).any()
        differential = [[float(f.derivative(g)(*place)) for g in parameters] for f in zeros.points]
        assert np.linalg.matrix_rank(np.array(differential)) == zeros.dimension < size


# Dimensions of limits ---------------------------------------------------------------------------------------


def test_limits_have_one_dimension_less(engine_installation):
    _, found = asked(DEEP_LIMIT, SMALLEST, engine_installation)
    assert found == DEEP_LIMIT.native(SMALLEST) == (7, 8)


@pytest.mark.parametrize(
    "network",
    [
        wide(2, 2, 2),
        wide(2, 1, 3),
        wide(3, 1, 2),
        wide(3, 2, 3),
        wide(4, 1, 2),
        wide(2, 1, 6),
        wide(2, 1, 2, layers=3),
    ],
    ids=str,
)
def test_limits_of_larger_networks(singular, network):
    _, found = asked(DEEP_LIMIT, network, singular, seed=1)
    most = network_bound(network).value
    with limited(seed=1):
        assert found == DEEP_LIMIT.native(network) == (most - 1, most)
    assert found.limits == limit_set(network).dimension  # from other parameters


# Scripts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_what_it_is_not_for(name):
    """To verdicts it is said as tests/cli/bad_calls.txt has it."""
    for network in (DeepNetwork((2, 2, 1), (2, 1), t=2), DeepNetwork((2, 2, 1), (2, 2), t=2, heads=2)):
        with pytest.raises(InputError) as raised:
            build(name, network)
        assert str(raised.value) == TASKS[name].infeasible(network)
    for network in (wide(1, 1, 2), wide(2, 1, 1), wide(2, 1, 2, layers=1)):
        assert bool(TASKS[name].infeasible(network)) is (name != "deep-base-locus")
    assert name == "deep-limit" or "d_0 ≤ 2" in TASKS[name].infeasible(wide(3, 1, 2))


def test_charts_are_entries_of_all_but_the_last_head():
    charts = build("deep-fiber", wide(2, 1, 2)).data["charts"]
    assert len(set(charts)) == len(charts) == 4 * 2
    assert {variable.name for chart in charts for variable in chart} == {
        *(f"m_1_{b}_{c}" for b in (1, 2) for c in (1, 2)), "l_1_1", "l_1_2",
    }  # fmt: skip
    assert len(build("deep-base-locus", wide(2, 2, 1, layers=3), force=True).data["charts"]) == 4 * 4 * 4
