"""The verb about fibers: the weights with the function of given weights, of a layer or of anything else."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

from agattn.architectures import Architecture, SingleLayer
from agattn.errors import InputError
from agattn.geometry.identifiability.equivalence import weights_of_layer
from agattn.geometry.identifiability.fibers import Fiber
from agattn.geometry.identifiability.fibers import fiber as fiber_of_head

if TYPE_CHECKING:
    from agattn.geometry.identifiability.network_fibers import NetworkFiber


def fiber(
    architecture: Architecture, weights: Any, *, tolerance: float | None = None, seed: int = 0
) -> Fiber | NetworkFiber:
    """The weights with the function of given weights: all of them for one layer, else those that are known.

    Args:
        architecture: one layer, a lightning network, a softmax network with one head in each layer and
            without skip connections, or anything polynomial.
        weights: of a layer from :func:`agattn.weights`, or a mapping with V and A, or K, Q and V; of a
            network a mapping with K_1, Q_1, V_1, K_2, ..., or A_i in place of K_i and Q_i; of anything else
            an array for each parameter. They are taken as the exact numbers that are written.
        tolerance: for one layer with floats: singular values below this, relative to the largest, count as 0;
            by default below what their type, such as float32, can tell from 0.
        seed: of all random choices; for one layer there are none. It never changes what is proved, only what
            is found.

    Raises:
        InputError: for a layer with t = 1, another normalized network, or weights of another architecture.
        TooLargeError: if there are more than 3000 weights, or more than three softmax layers.

    See Also:
        :func:`agattn.equivalent`, :func:`agattn.weights`, :func:`agattn.dimension`,
        :func:`agattn.symmetries`; ``agattn fiber`` in a shell.

    >>> import agattn as ag
    >>> through = ag.fiber(ag.SingleLayer(2, 1, a=1), {"K": [[1, 2]], "Q": [[0, 1]], "V": [[1, 0]]})
    >>> through
    two lines (proved), in M: components over ℂ rescaling, swapped; dimension 1 in (A, V), 2 in (K, Q, V)
    >>> head = {"A_1": [[1, 2], [2, 4]], "V_1": [[1, 0], [0, 1]], "A_2": [[1, 1], [0, 1]], "V_2": [[1, 3]]}
    >>> ag.fiber(ag.DeepNetwork((2, 2, 1), (2, 2), t=2), head)
    rank-one head: 15 of 22 dimensions (proved), 14 by the symmetries; given: 1 skew
    >>> dead = {"W_1_1": [[1, 2, 0], [1, 1, 5], [3, 1, 1]], "W_1_2": [[1, 0, -1]]}
    >>> ag.fiber(ag.Network([ag.Perceptron([3, 1], degree=3)], dim=3), dead)
    symmetries: 5 of 12 dimensions (proved), 3 by the symmetries; given: 2 found
    """
    return _fiber(architecture, weights, tolerance, seed)


@singledispatch
def _fiber(
    architecture: Architecture, given: Any, tolerance: float | None, seed: int
) -> Fiber | NetworkFiber:
    from agattn.geometry.identifiability.network_fibers import network_fiber

    return network_fiber(architecture, given, seed)


@_fiber.register
def _of_layer(layer: SingleLayer, given: Any, tolerance: float | None, seed: int) -> Fiber:
    if not layer.has_orbits:
        raise InputError("t is 1, where only V and A + Aᵀ matter; fibers are known for t ≥ 2")
    return fiber_of_head(weights_of_layer(layer, given), tolerance)
