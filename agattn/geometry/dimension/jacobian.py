"""The Jacobian of (K, Q, V) ↦ (φ(X_1), ..., φ(X_n)) at given weights, over any scalars.

Its rank, over enough inputs and at generic weights, is the dimension of the neuromanifold. The columns are
the parameters. A row belongs to an input X and a cotangent c ∈ ℝ^{d_l×t}: the gradient of ⟨c, φ(X)⟩. With all
d_l t unit cotangents at each input one gets the full Jacobian; but its rows at one input repeat much of what
other inputs say (φ(X) = L X P says only t² numbers about P once L is known), and any number of inputs that
looks natural can be too few. **One random cotangent at each of many random inputs wastes nothing:** while
some combination of parameter directions that changes φ is not yet excluded, a further random row excludes
one more, so that n rows have rank min(n, dim) with probability close to 1.

There are far fewer rows than directions in parameter space at which one would push forward, so the rows are
built by the chain rule from the last layer backwards, for all inputs at once; every operation is a product
of stacks of matrices.

>>> import numpy as np
>>> from agattn.algebra.arithmetic import FloatArithmetic
>>> network = DeepNetwork((2, 1), (2,), t=2)
>>> draw = np.random.default_rng(0).standard_normal
>>> weights = draw_weights(network, draw)
>>> J = jacobian(network, weights, draw((5, 2, 2)), FloatArithmetic())
>>> J.shape, int(np.linalg.matrix_rank(J))
((10, 10), 5)
"""

from __future__ import annotations

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array
from agattn.architectures import DeepNetwork
from agattn.architectures.network import (
    LayerState,
    LayerWeights,
    Weights,
    draw_weights,
    forward_states,
    transpose,
)

__all__ = ["draw_weights", "jacobian"]


def jacobian(
    network: DeepNetwork,
    weights: Weights,
    X: Array,
    arithmetic: Arithmetic,
    cotangents: Array | None = None,
) -> Array:
    """The derivatives of all outputs, or of some combinations of them, by all parameters.

    Args:
        network: the architecture.
        weights: one :class:`LayerWeights` for each layer, with scalars of the arithmetic's kind.
        X: a stack of inputs, (n, d_0, t).
        arithmetic: that of the scalars.
        cotangents: the combinations of outputs, (n, m, d_l, t); all m = d_l·t single outputs by default.

    Returns:
        An array of shape (n·m, parameters). Rows are ordered by input, then cotangent (output coordinate,
        then token, by default); columns by layer, then K, Q, O and P, then head, row and column.

    Raises:
        TypeError: if the network is normalized and the scalars have no softmax.
    """
    states = forward_states(network, weights, X, arithmetic)
    if cotangents is None:
        shape = (network.dims[-1] * network.t, network.dims[-1], network.t)
        cotangents = np.broadcast_to(arithmetic.identity(shape[0]).reshape(shape), (len(X), *shape))
    rows = len(X) * cotangents.shape[1]
    G = cotangents
    blocks: list[Array] = []
    for i in reversed(range(network.layers)):
        gradients, G = _layer_gradients(network, weights[i], states[i], G, arithmetic, last=i == 0)
        blocks = [g.reshape(rows, -1) for g in gradients] + blocks
    return np.concatenate(blocks, axis=1)


def _layer_gradients(
    network: DeepNetwork,
    weights: LayerWeights,
    state: LayerState,
    G: Array,
    arithmetic: Arithmetic,
    last: bool,
) -> tuple[list[Array], Array]:
    """The gradients by one layer's parameters, and the cotangents of its input, given those of its output.

    G has shape (n, m, d', t) for m cotangents; a gradient by a parameter of shape s has shape (n, m, *s).
    ``last`` says that nobody needs the cotangents of the input.
    """
    mul, clean = arithmetic.matmul, arithmetic.clean

    def per_output(a: Array) -> Array:
        """Insert the axis of the m cotangents behind that of the n inputs."""
        return a[:, None]

    heads = G[:, :, None]
    grad_O = mul(heads, per_output(transpose(state.U)))
    grad_Y = mul(transpose(weights.O), heads)
    gradients = [grad_O]
    if weights.P is not None:
        gradients.append(mul(grad_Y, per_output(transpose(state.Y))))
        grad_Y = mul(transpose(weights.P), grad_Y)
    X = state.X[:, None, None]
    grad_S = mul(transpose(X), grad_Y)
    if not network.is_lightning:
        # d softmax(s/T)_j = w_j (ds_j − Σ_k w_k ds_k) / T in each column, which is its own transpose.
        W = per_output(state.W)
        weighted = arithmetic.times(W, grad_S)
        grad_S = weighted - arithmetic.times(W, weighted.sum(axis=-2, keepdims=True))
        if network.temperature != 1:
            grad_S = grad_S / network.temperature
    grad_B = mul(per_output(state.C), transpose(grad_S))
    grad_C = mul(per_output(state.B), grad_S)
    gradients = [mul(grad_B, transpose(X)), mul(grad_C, transpose(X)), *gradients]
    if last:
        return gradients, G
    by_head = mul(grad_Y, per_output(transpose(state.W)))
    by_head = by_head + mul(transpose(weights.K), grad_B) + mul(transpose(weights.Q), grad_C)
    grad_X = by_head.sum(axis=2)
    return gradients, clean(grad_X + G if network.skip else grad_X)
