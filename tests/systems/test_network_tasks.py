"""Tasks about networks: both engines find the fibers that hand computation and theory give."""

import pytest

from agattn.architectures import DeepNetwork
from agattn.engines.run import run
from agattn.geometry.identifiability.virtual_weights import random_virtual_weights
from agattn.systems.catalogue import build

NETWORK = DeepNetwork((2, 2, 1), (2, 2), t=3)


def task(network, **others):
    return build("virtual-fiber", network, **others)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "dimensions", "others"),
    [
        (NETWORK, [2], 0),
        (DeepNetwork((2, 2), (2,), t=2), [1], 0),
        (DeepNetwork((2, 2, 2), (1, 2), t=3), [3, 3], 2),  # rk M_1 = 1: outside Theorem 3.7
        (DeepNetwork((2, 2, 2), (2, 2), t=1), [4, 4], 2),  # one token
    ],
    ids=str,
)
def test_the_fiber(engine_installation, network, dimensions, others):
    found = run(task(network), engine_installation).answer.integers
    numbers = range(1, found["components"] + 1)
    assert sorted(found[f"component-dimension@{i}"] for i in numbers) == dimensions
    assert found["dimension"] == max(dimensions)
    assert sum(found[f"rescaling@{i}"] == 0 for i in numbers) == others


def test_modulo_a_prime(engine_installation):
    found = run(task(NETWORK, characteristic=32003, seed=3), engine_installation).answer.integers
    assert (found["dimension"], found["components"], found["rescaling@1"]) == (2, 1, 1)


def test_the_point_has_the_random_weights():
    M, L = random_virtual_weights(NETWORK, seed=0)
    data = task(NETWORK).data
    assert [[list(row) for row in m] for m in (*data["M"], data["L"])] == [m.tolist() for m in (*M, L)]
