"""Points at which statements about virtual weights are checked: (M, L) of small random weights.

>>> from agattn.architectures import DeepNetwork
>>> M, L = random_virtual_weights(DeepNetwork((2, 2, 1), (2, 2), t=3), seed=0)
>>> [m.tolist() for m in M], L.tolist()
([[[-2, -4], [1, 0]], [[2, -2], [8, 16]]], [[-1, 4]])
"""

from __future__ import annotations

import itertools

import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.architectures import DeepNetwork
from agattn.geometry.identifiability.deep_identities import theorem_3_7_hypotheses
from agattn.geometry.identifiability.virtual_weights import virtual_weights

_TRIALS = 100
# Products of small weights vanish too often in deep networks; larger ones are drawn then.
_LARGEST = (2, 9, 99)


def random_virtual_weights(network: DeepNetwork, seed: int) -> tuple[list[Array], Array]:
    """(M, L) of random integer weights K, Q and V of a network with one head in each layer.

    Weights are drawn again while a hypothesis of Theorem 3.7 on (M, L) fails, as one can at unlucky weights:
    in a network that cannot meet them all, small weights are used all the same.

    Returns:
        Object arrays of ints: M_1, ..., M_l of shape d_0 × d_0, and L of shape d_l × d_0.
    """
    generator = np.random.default_rng(seed)

    def draw(largest: int, *shape: int) -> Array:
        return generator.integers(-largest, largest + 1, shape).astype(object)

    drawn: list[tuple[list[Array], Array]] = []
    for n in _LARGEST:
        for _ in range(_TRIALS):
            A = [draw(n, a, d).T @ draw(n, a, d) for a, d in zip(network.ranks, network.dims, strict=False)]
            V = [draw(n, e, d) for d, e in itertools.pairwise(network.dims)]
            M, L = virtual_weights(A, V)
            if not theorem_3_7_hypotheses(M, L, max(network.t, 3)):
                return M, L
        drawn.append((M, L))
    return drawn[0]
