"""Networks of attention layers as functions of their weights (K, Q, V) and of the input X.

Every function takes the :class:`~agattn.algebra.arithmetic.Arithmetic` of its scalars, so that one text
evaluates a network over ℚ, over 𝔽_p, in floating point, in balls and on polynomials:

>>> import numpy as np
>>> from agattn.algebra.arithmetic import RingArithmetic
>>> network = DeepNetwork((2, 1), (1,), t=2)
>>> K, Q, V = ([[1, 0]], [[0, 1]], [[1, 1]])
>>> weights = [LayerWeights(*(np.array([w], dtype=object) for w in (K, Q, V)))]
>>> forward(network, weights, np.array([[1, 2], [3, 4]], dtype=object), RingArithmetic())
array([[48, 64]], dtype=object)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array
from agattn.architectures.architecture import DeepNetwork
from agattn.errors import TooLargeError


class LayerWeights(NamedTuple):
    """The weights of one layer, stacked over its h heads.

    K and Q have shape (h, a, d). The value matrices are V_h = O_h, of shape (h, d', d), or V_h = O_h P_h with
    O of shape (h, d', β) and P of shape (h, β, d).
    """

    K: Array
    Q: Array
    O: Array  # the usual letter of a transformer's output projection
    P: Array | None = None

    @property
    def arrays(self) -> tuple[Array, ...]:
        """K, Q, O and, where there is one, P: the order in which parameters are counted."""
        return self.K, self.Q, self.O, *(() if self.P is None else (self.P,))


Weights = Sequence[LayerWeights]


def weight_shapes(network: DeepNetwork) -> list[LayerWeights]:
    """The shapes of all weights, each in the place of its array.

    >>> weight_shapes(DeepNetwork((3, 2), (1,), t=2))
    [LayerWeights(K=(1, 1, 3), Q=(1, 1, 3), O=(1, 2, 3), P=None)]
    """
    beta = network.value_rank
    shapes = []
    for d, d_out, a, h in zip(
        network.dims, network.dims[1:], network.ranks, network.heads_by_layer, strict=False
    ):
        value = ((h, d_out, d), None) if beta is None else ((h, d_out, beta), (h, beta, d))
        shapes.append(LayerWeights((h, a, d), (h, a, d), *value))
    return shapes


def draw_weights(network: DeepNetwork, draw: Callable[[tuple[int, ...]], Array]) -> list[LayerWeights]:
    """Weights whose arrays are what ``draw`` returns for each shape, in the order of the parameters."""
    return [LayerWeights(*map(draw, shapes.arrays)) for shapes in weight_shapes(network)]


# So many numbers, of eight bytes each, are a gigabyte, and there are several such arrays at a time.
LARGEST_ARRAY = 10**8
_INPUTS = 384


def check_tokens(network: DeepNetwork) -> None:
    """Refuse a network whose tokens would fill the memory.

    The t × t matrices XᵀAX of all heads are held for as many inputs as the Jacobian has independent rows, or
    384 at a time.

    Raises:
        TooLargeError: if they have more than 10⁸ entries.

    >>> check_tokens(DeepNetwork((2, 2), (2,), t=30000))
    Traceback (most recent call last):
        ...
    agattn.errors.TooLargeError: t is 30000: 12 matrices of t × t entries do not fit; use fewer, or --force
    """
    matrices = min(_INPUTS, network.parameters) * max(network.heads_by_layer)
    if matrices * network.t**2 > LARGEST_ARRAY:
        raise TooLargeError(
            f"t is {network.t}: {matrices} matrices of t × t entries do not fit; use fewer, or --force"
        )


def transpose(a: Array) -> Array:
    """Transpose every matrix of a stack."""
    return np.swapaxes(a, -1, -2)


@dataclass(frozen=True)
class LayerState:
    """What one layer computes on the way from X to its output, for a stack of n inputs.

    Attributes:
        X: the input, (n, d, t).
        B: K X, (n, h, a, t).
        C: Q X, (n, h, a, t).
        W: the weights of the tokens, XᵀAX or its column-wise softmax, (n, h, t, t).
        Y: X W, (n, h, d, t).
        U: P Y where there is a P, else Y.
        out: the output, (n, d', t).
    """

    X: Array
    B: Array
    C: Array
    W: Array
    Y: Array
    U: Array
    out: Array


def layer_forward(
    network: DeepNetwork, weights: LayerWeights, X: Array, arithmetic: Arithmetic
) -> LayerState:
    """One layer on a stack of inputs X, (n, d, t).

    Raises:
        TypeError: if the network is normalized and the scalars have no softmax.
    """
    mul, clean = arithmetic.matmul, arithmetic.clean
    stacked = X[:, None]
    B, C = mul(weights.K, stacked), mul(weights.Q, stacked)
    W = mul(transpose(B), C)
    if not network.is_lightning:
        W = arithmetic.softmax(W if network.temperature == 1 else W / network.temperature)
    Y = mul(stacked, W)
    U = Y if weights.P is None else mul(weights.P, Y)
    out = clean(mul(weights.O, U).sum(axis=1))
    return LayerState(X, B, C, W, Y, U, clean(out + X) if network.skip else out)


def forward_states(
    network: DeepNetwork, weights: Weights, X: Array, arithmetic: Arithmetic
) -> list[LayerState]:
    """All layers in order, on a stack of inputs X, (n, d_0, t)."""
    states: list[LayerState] = []
    for layer in weights:
        states.append(layer_forward(network, layer, X, arithmetic))
        X = states[-1].out
    return states


def forward(network: DeepNetwork, weights: Weights, X: Array, arithmetic: Arithmetic) -> Array:
    """φ(X) for one input X, (d_0, t), as an array of shape (d_l, t).

    Raises:
        ValueError: if X does not have the network's shape.
    """
    if X.shape != (network.dims[0], network.t):
        raise ValueError(f"X has shape {X.shape}; the network takes {(network.dims[0], network.t)}")
    return forward_states(network, weights, X[None], arithmetic)[-1].out[0]
