r"""The loss of weights, its gradient and its Hessian, for many weights at once.

Weights are rows of an array S × D: the entries of all parameters of an architecture, in the order of its
``shapes``. Two losses, both minima over nothing but the function φ_θ:

- :class:`PopulationLoss`, of one lightning layer with any number of heads: the expectation of
  ‖φ_θ(X) − y(X)‖² for tokens of independent standard Gaussians, without sampling noise. It is the quadratic
  form (y_θ − y)ᵀ G (y_θ − y) in the coordinates, whose Gram matrix G of moments
  :mod:`agattn.geometry.critical_points.loss` computes exactly. The target y may be any point of ℝ^N.
- :class:`SampleLoss`, of any architecture: the mean of ‖φ_θ(X) − Y‖² over finitely many samples.

Hessians are found from gradients at θ + iε e_j with ε = 10⁻³⁰, whose imaginary parts divided by ε are its
columns up to rounding: gradients are analytic functions, and nothing is subtracted.

>>> import numpy as np
>>> from agattn import SingleLayer
>>> layer = SingleLayer(1, 1)
>>> loss = PopulationLoss(layer, np.zeros(layer.ambient_dimension))
>>> value, gradient = loss(np.array([[1.0, 1.0, 1.0]]))  # 2·E (x_1 (x_1² + x_2²))² = 2 (15 + 2·3 + 3)
>>> value.tolist(), gradient.tolist()
([48.0], [[96.0, 96.0, 96.0]])
>>> loss.hessian(np.array([[1.0, 1.0, 1.0]]))[0].tolist()
[[96.0, 192.0, 192.0], [192.0, 96.0, 192.0], [192.0, 192.0, 96.0]]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import FloatArithmetic
from agattn.algebra.scalars import Array
from agattn.architectures import Architecture, DeepNetwork, SingleLayer, as_layer
from agattn.architectures.protocol import as_parameters, as_rows
from agattn.errors import InputError
from agattn.geometry.critical_points.loss import gaussian_gram
from agattn.geometry.dimension.jacobian import gradients
from agattn.geometry.variety.coordinates import coefficients

_STEP = 1e-30


class TrainingLoss:
    """A loss of weights: called with an array S × D it returns S values and S × D gradients.

    Attributes:
        architecture: whose weights they are.
        tolerance: relative, to which a flow can be solved before gradients are lost in rounding.
    """

    architecture: Architecture
    tolerance = 1e-12

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        """The values and gradients at S weights."""
        raise NotImplementedError

    def hessian(self, theta: Array) -> Array:
        """The Hessians, S × D × D, at S weights."""
        moved = theta[:, None, :] + 1j * _STEP * np.eye(theta.shape[1])
        columns = self(moved.reshape(-1, theta.shape[1]))[1].imag / _STEP
        H: Array = columns.reshape(*theta.shape, theta.shape[1])
        return (H + H.swapaxes(1, 2)) / 2


def is_one_lightning_layer(architecture: Architecture) -> bool:
    """Whether it is a layer with coordinates: one lightning layer, any heads, V of any rank, no skip."""
    network = architecture.as_network()
    return (
        network is not None
        and network.depth == 1
        and network.is_lightning
        and network.value_rank is None
        and not network.skip
    )


def exact_layer(architecture: Architecture) -> DeepNetwork:
    """The network of one layer that has an exact loss.

    Raises:
        InputError: if the architecture is another.
    """
    network = architecture.as_network()
    if network is None or not is_one_lightning_layer(architecture):
        raise InputError(
            f"{architecture.name} has no exact loss, which is known for one lightning layer "
            "without skip connections; give a number of samples"
        )
    return network


def layer_of(network: DeepNetwork) -> SingleLayer:
    """The layer of one head with the sizes of the first layer of a network."""
    return SingleLayer(network.dims[0], network.dims[1], network.ranks[0], network.t)


def single_layer(architecture: Architecture) -> SingleLayer | None:
    """The layer whose points three ranks tell apart: lightning, of one head, t ≥ 2; else ``None``."""
    layer = as_layer(architecture)
    return layer if layer is not None and layer.has_orbits else None


class PopulationLoss(TrainingLoss):
    """E‖φ_θ(X) − y(X)‖² for Gaussian tokens, for one lightning layer.

    Args:
        architecture: a :class:`SingleLayer`, or a :class:`DeepNetwork` of one lightning layer with any
            number of heads.
        target: the N coordinates of y, in the order of :func:`~agattn.geometry.variety.coordinates`.

    Raises:
        InputError: if the architecture is another, or the target has another length.
    """

    def __init__(self, architecture: Architecture, target: Array) -> None:
        network = exact_layer(architecture)
        self.architecture = architecture
        (self.d, self.d_out), [self.heads], [self.a] = network.dims, network.heads_by_layer, network.ranks
        self.layer = layer_of(network)
        target = np.asarray(target, dtype=float)
        if target.shape != (self.layer.ambient_dimension,):
            raise InputError(
                f"the target has shape {target.shape}; {self.layer.name} needs one axis of length N"
            )
        self.gram = gaussian_gram(self.layer)
        # V ⊗ A in coordinates: the coordinates y_c of a row of outputs are linear in V_c ⊗ A.
        one, d = SingleLayer(self.d, 1, t=network.t), self.d
        units = np.eye(d * d).reshape(-1, d, d)
        lift = np.array([coefficients(one, A, v[None]) for v in np.eye(d) for A in units])
        self.metric = lift @ self.gram @ lift.T
        self.target: Array = target.reshape(self.d_out, -1) @ np.linalg.pinv(lift)

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        """Values, and gradients in K, Q, V."""
        S, d, o, h = len(theta), self.d, self.d_out, self.heads
        size = h * self.a * d
        K = theta[:, :size].reshape(S, h, self.a, d)
        Q = theta[:, size : 2 * size].reshape(S, h, self.a, d)
        V = theta[:, 2 * size :].reshape(S, h, o, d)
        A = K.swapaxes(2, 3) @ Q
        flat = A.reshape(S, h, 1, d * d)
        products = V.reshape(S, h, o * d, 1) * flat
        R = (products.sum(1) if h > 1 else products).reshape(S, o, -1) - self.target
        H = R @ self.metric
        values = (R * H).sum((1, 2))
        G = 2 * H.reshape(S, 1, o * d, d * d)
        dV = (G @ flat.swapaxes(2, 3)).reshape(S, -1)
        dA = (V.reshape(S, h, 1, o * d) @ G).reshape(S, h, d, d)
        dK, dQ = Q @ dA.swapaxes(2, 3), K @ dA
        return values, np.concatenate([dK.reshape(S, -1), dQ.reshape(S, -1), dV], axis=1)


class SampleLoss(TrainingLoss):
    """The mean of ‖φ_θ(X) − Y‖² over samples, for any architecture.

    Args:
        architecture: what is trained.
        X: inputs, n × d_0 × t.
        Y: outputs, n × d_l × t.
        compiled: whether JAX compiles gradient and Hessian at single weights, as the steps of a flow need
            them; the rest is numpy's.

    Raises:
        InputError: if shapes do not fit.
    """

    tolerance = 1e-11

    def __init__(self, architecture: Architecture, X: Array, Y: Array, compiled: bool = False) -> None:
        if X.shape[1:] != architecture.input_shape or Y.shape != (len(X), *architecture.output_shape):
            raise InputError(f"X is {X.shape} and Y is {Y.shape}, which does not fit {architecture.name}")
        self.architecture, self.X, self.Y = architecture, X, Y
        self._compiled = _compiled(architecture) if compiled else None  # type: ignore[arg-type]

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        """Values, and gradients in all parameters."""
        if self._compiled and len(theta) == 1 and theta.dtype == float:
            value, gradient = self._compiled[0](theta[0], self.X, self.Y)
            return np.array([value]), np.array(gradient)[None]
        values: list[Any] = []

        def residual(out: Array) -> Array:
            R = out - self.Y
            values.append((R**2).sum((1, 2, 3)) / len(self.X))
            return 2 * R / len(self.X)

        parameters = as_parameters(self.architecture, theta)
        found = gradients(self.architecture, parameters, self.X, FloatArithmetic(), residual)
        return values[0], as_rows(self.architecture, found)

    def hessian(self, theta: Array) -> Array:
        """The Hessians, S × D × D, at S weights."""
        if self._compiled and len(theta) == 1:
            return np.array(self._compiled[1](theta[0], self.X, self.Y))[None]
        return super().hessian(theta)


class _JaxArithmetic(FloatArithmetic):
    """Float64 in arrays of JAX."""

    def softmax(self, a: Array, seen: Array | None = None) -> Array:
        """The softmax of every column."""
        found: Array = import_module("jax").nn.softmax(a, axis=-2, where=seen)
        return found


def jax_loss(architecture: Architecture) -> Callable[[Array, Array, Array], Any]:
    """The loss of samples as a function of (θ, X, Y), with θ of length D, that JAX can differentiate."""

    def loss(theta: Array, X: Array, Y: Array) -> Any:
        out = architecture.evaluate(_JaxArithmetic(), as_parameters(architecture, theta), X)
        return ((out - Y) ** 2).sum() / len(X)

    return loss


@cache
def _compiled(architecture: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """From (θ, X, Y): the loss of samples with its gradient, and its Hessian; compiled at the first call."""
    jax: Any = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    loss = jax_loss(architecture)
    return jax.jit(jax.value_and_grad(loss)), jax.jit(jax.hessian(loss))


def evaluate(architecture: Architecture, theta: Array, X: Array) -> Array:
    """φ_θ(X), n × d_l × t, at one row of weights."""
    parameters = as_parameters(architecture, theta)
    out: Array = architecture.evaluate(FloatArithmetic(), parameters, X)
    return out
