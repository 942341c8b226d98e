r"""What is learned: losses of weights, and teachers, the functions that they measure the distance to.

Weights are rows of an array S × D: the entries of all parameters of an architecture, in the order of its
``shapes``. There are two losses, both minima over nothing but the function φ_θ:

- :class:`PopulationLoss`, of one lightning layer with any number of heads: the expectation of
  ‖φ_θ(X) − y(X)‖² for tokens of independent standard Gaussians, without sampling noise. It is the quadratic
  form (y_θ − y)ᵀ G (y_θ − y) in the coordinates, whose Gram matrix G of moments
  :mod:`agattn.geometry.critical_points.loss` computes exactly. The target y may be any point of ℝ^N.
- :class:`SampleLoss`, of any architecture: the mean of ‖φ_θ(X) − Y‖² over finitely many samples.

Hessians are found from gradients at θ + iε e_j with ε = 10⁻³⁰, whose imaginary parts divided by ε are its
columns up to rounding: gradients are analytic functions, and nothing is subtracted.

Teachers are random but for their kind, and scaled to E‖y‖² = 1 where the architecture can follow, so that
losses and times compare.

>>> import agattn as ag
>>> layer = ag.SingleLayer(1, 1)
>>> loss = PopulationLoss(layer, np.zeros(layer.ambient_dimension))
>>> value, gradient = loss(np.array([[1.0, 1.0, 1.0]]))  # 2·E (x_1 (x_1² + x_2²))² = 2 (15 + 2·3 + 3)
>>> value.tolist(), gradient.tolist()
([48.0], [[96.0, 96.0, 96.0]])
>>> loss.hessian(np.array([[1.0, 1.0, 1.0]]))[0].tolist()
[[96.0, 192.0, 192.0], [192.0, 96.0, 192.0], [192.0, 192.0, 96.0]]
>>> loss = Teacher("stratum", stratum=(1, 1, 2)).loss(ag.SingleLayer(2, 1), Data(), seed=0)
>>> round(float(loss(np.zeros((1, loss.architecture.parameters)))[0][0]), 9)
1.0
>>> Teacher("limit").loss(ag.SingleLayer(2, 1), Data(), seed=0)
Traceback (most recent call last):
    ...
agattn.errors.InputError: M(2,1,2) has no limits outside M that are known
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import FloatArithmetic
from agattn.algebra.scalars import Array
from agattn.architectures import Architecture, DeepNetwork, SingleLayer, as_layer
from agattn.architectures.protocol import as_parameters, as_rows
from agattn.calls import is_number, is_ranks, is_whole, one_of, refuse_unless
from agattn.errors import InputError
from agattn.geometry.closedness.question import LimitMap, first_of_pair
from agattn.geometry.closedness.several_heads import closedness, is_one_layer
from agattn.geometry.critical_points.loss import gaussian_gram
from agattn.geometry.dimension.jacobian import gradients
from agattn.geometry.identifiability.virtual_weights import is_covered
from agattn.geometry.strata.strata import Stratum, representative, require_stratum
from agattn.geometry.variety.coordinates import coefficients, coordinates

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


def lightning_layer(architecture: Architecture) -> DeepNetwork | None:
    """The network of a layer with coordinates: one lightning layer, any heads, V of any rank, no skip."""
    network = architecture.as_network()
    if network is None or network.depth > 1 or network.skip or network.value_rank is not None:
        return None
    return network if network.is_lightning else None


def exact_layer(architecture: Architecture) -> DeepNetwork:
    """The network of one layer that has an exact loss.

    Raises:
        InputError: if the architecture is another.
    """
    network = lightning_layer(architecture)
    if network is None:
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
        architecture: of one lightning layer, with any number of heads.
        target: the N coordinates of y, in the order of :func:`~agattn.geometry.variety.coordinates`.

    Raises:
        InputError: if the architecture is another, or the target has another length.
    """

    def __init__(self, architecture: Architecture, target: Array) -> None:
        network = exact_layer(architecture)
        self.architecture, self.layer = architecture, layer_of(network)
        [self.heads] = network.heads_by_layer
        size = self.heads * self.layer.a * self.layer.d
        self.cuts = size, 2 * size
        target = np.asarray(target, dtype=float)
        if target.shape != (self.layer.ambient_dimension,):
            raise InputError(
                f"the target has shape {target.shape}; {self.layer.name} needs one axis of length N"
            )
        # V ⊗ A in coordinates: the coordinates y_c of a row of outputs are linear in V_c ⊗ A.
        d, d_out = network.dims
        units = np.eye(d * d).reshape(-1, d, d)
        row = SingleLayer(d, 1, t=network.t)
        lift = np.array([coefficients(row, A, v[None]) for v in np.eye(d) for A in units])
        self.metric = lift @ gaussian_gram(self.layer) @ lift.T
        self.target: Array = target.reshape(d_out, -1) @ np.linalg.pinv(lift)

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        """Values, and gradients in K, Q, V."""
        S, d, o, h = len(theta), self.layer.d, self.layer.d_out, self.heads
        i, j = self.cuts
        K, Q, V = (part.reshape(S, h, -1, d) for part in (theta[:, :i], theta[:, i:j], theta[:, j:]))
        A = K.swapaxes(2, 3) @ Q
        flat = A.reshape(S, h, 1, d * d)
        products = V.reshape(S, h, o * d, 1) * flat
        R = products.sum(1).reshape(S, o, -1) - self.target
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
        slopes = gradients(self.architecture, parameters, self.X, FloatArithmetic(), residual)
        return values[0], as_rows(self.architecture, slopes)

    def hessian(self, theta: Array) -> Array:
        """The Hessians, S × D × D, at S weights."""
        if self._compiled and len(theta) == 1:
            return np.array(self._compiled[1](theta[0], self.X, self.Y))[None]
        return super().hessian(theta)


class _JaxArithmetic(FloatArithmetic):
    """Float64 in arrays of JAX."""

    def softmax(self, a: Array, seen: Array | None = None) -> Array:
        """The softmax of every column."""
        result: Array = import_module("jax").nn.softmax(a, axis=-2, where=seen)
        return result


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


# Teachers ---------------------------------------------------------------------------------------------------

#: What a teacher can be, in words.
KINDS = {
    "generic": "random weights of the architecture",
    "stratum": "a random point of a stratum (r_V, r_A, r) of one layer of one head",
    "ranks": "random weights with A of the given ranks, layer by layer",
    "zariski": "a real point of the closure M̄ that no real weights reach, of one layer of one head",
    "outside": "a random point of the ambient space; for samples random outputs",
    "limit": "a limit of functions of the architecture that no weights reach: two heads, or two layers",
}


@dataclass(frozen=True)
class Data:
    """What the loss sees.

    Attributes:
        samples: their number; ``None`` for the whole population of Gaussian tokens, of one lightning layer.
        tokens: ``"gaussian"``, or ``"sphere"``: Gaussian inputs scaled to ‖X‖² = d_0 t, which are better
            conditioned for functions of high degree.
        noise: the standard deviation of Gaussian noise on the outputs of samples.
        seed: of inputs and noise, the same for all runs.
    """

    samples: int | None = None
    tokens: str = "gaussian"
    noise: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        samples = self.samples
        fits = samples is None or (is_whole(samples) and samples > 0)
        refuse_unless(self.tokens in ("gaussian", "sphere"), "tokens", self.tokens, "'gaussian' or 'sphere'")
        refuse_unless(fits, "samples", samples, "a whole number of at least 1, or be left out")
        refuse_unless(is_number(self.noise), "noise", self.noise, "a number of at least 0")
        refuse_unless(is_whole(self.seed), "seed", self.seed, "a whole number of at least 0")
        if self.samples is None and (self.tokens != "gaussian" or self.noise):
            raise InputError("the loss of the population has Gaussian tokens and no noise; give samples")

    def inputs(self, architecture: Architecture) -> Array:
        """The inputs, n × d_0 × t."""
        draw = np.random.default_rng([self.seed, 1])
        X = draw.standard_normal((self.samples or 0, *architecture.input_shape))
        if self.tokens == "sphere":
            X *= np.sqrt(X[0].size / (X**2).sum((1, 2), keepdims=True))
        return X


@dataclass(frozen=True)
class Teacher:
    """A kind of function to be learned.

    Attributes:
        kind: one of :data:`KINDS`.
        stratum: for ``"stratum"``.
        ranks: for ``"ranks"``, the rank of A in each layer.
        seed: of its random choices; ``None`` for another teacher for each seed.
    """

    kind: str = "generic"
    stratum: tuple[int, int, int] | None = None
    ranks: tuple[int, ...] | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", one_of(self.kind, KINDS, "teacher"))
        refuse_unless(self.seed is None or is_whole(self.seed), "seed", self.seed, "a whole number")
        for name in ("stratum", "ranks"):
            given = getattr(self, name)
            if given is not None:
                refuse_unless(is_ranks(given), name, given, "a list such as [1, 2]")
                triple = name != "stratum" or len(given) == 3
                refuse_unless(triple, name, given, "a triple such as [1, 1, 2]")
                object.__setattr__(self, name, tuple(given))
            if (given is None) == (self.kind == name):
                needed = "needs" if given is None else "has no"
                raise InputError(f"a teacher {self.kind!r} {needed} {name}")

    def loss(self, architecture: Architecture, data: Data, seed: int, compiled: bool = False) -> TrainingLoss:
        """The loss of this teacher.

        Args:
            architecture: what is trained.
            data: what the loss sees.
            seed: of the teacher, where it has none of its own.
            compiled: whether JAX compiles the loss of samples.

        Raises:
            InputError: if the architecture has no such points.
        """
        draw = np.random.default_rng([seed if self.seed is None else self.seed, 2])
        if data.samples is None:
            return PopulationLoss(architecture, self._point(architecture, draw))
        X = data.inputs(architecture)
        Y = self._outputs(architecture, X, draw)
        network = architecture.as_network()
        if self.kind in ("outside", "limit") or (network is not None and not network.skip):
            Y = Y / np.sqrt((Y**2).sum() / len(X))
        noise = np.random.default_rng([data.seed, 3]).standard_normal(Y.shape)
        return SampleLoss(architecture, X, Y + data.noise * noise, compiled)

    def check(self, architecture: Architecture, data: Data) -> None:
        """Raise the errors of :meth:`loss` without computing the loss, which may take long.

        Raises:
            InputError: if the architecture has no such points.

        >>> import agattn as ag
        >>> Teacher("zariski").check(ag.SingleLayer(50, 50), Data())
        """
        if data.samples is None or self.kind == "zariski":
            exact_layer(architecture)
        if self.kind == "zariski":
            self._single(architecture)
        elif self.kind == "limit":
            _limit(architecture)
        elif self.kind != "outside":
            self._weights(architecture, np.random.default_rng(0))

    def _point(self, architecture: Architecture, draw: np.random.Generator) -> Array:
        """The coordinates y, with E‖y‖² = 1."""
        network = exact_layer(architecture)
        layer = layer_of(network)
        if self.kind == "outside":
            y = draw.standard_normal(layer.ambient_dimension)
        elif self.kind == "limit":
            y = _limit(architecture)
        elif self.kind == "zariski":
            y = _point_outside(self._single(architecture), draw)
        else:
            weights = self._weights(architecture, draw).values()
            K, Q, V = (M.reshape(network.heads_by_layer[0], -1, layer.d) for M in weights)
            pairs = zip(K.swapaxes(1, 2) @ Q, V, strict=True)
            y = sum((coefficients(layer, A, v) for A, v in pairs), np.zeros(layer.ambient_dimension))
        rows = y.reshape(layer.d_out, -1)
        result: Array = y / np.sqrt((rows @ gaussian_gram(layer) * rows).sum())
        return result

    def _outputs(self, architecture: Architecture, X: Array, draw: np.random.Generator) -> Array:
        """The outputs at samples."""
        if self.kind == "outside":
            return draw.standard_normal((len(X), *architecture.output_shape))
        limit = _limit(architecture) if self.kind == "limit" else None
        if isinstance(limit, LimitMap):
            limits: Array = limit.evaluate(FloatArithmetic(), gaussian_weights(limit.network, draw), X)
            return limits
        if self.kind in ("zariski", "limit"):
            y = self._point(architecture, draw)
            d_out, d = architecture.output_shape[0], architecture.input_shape[0]
            i, k = np.triu_indices(d)
            squares = (X @ X.swapaxes(1, 2))[:, i, k]
            forms: Array = np.einsum("cbp,np,nbt->nct", y.reshape(d_out, d, -1), squares, X)
            return forms
        result: Array = architecture.evaluate(FloatArithmetic(), self._weights(architecture, draw), X)
        return result

    def _weights(self, architecture: Architecture, draw: np.random.Generator) -> dict[str, Array]:
        """The parameters of the teacher."""
        if self.kind == "stratum":
            layer = self._single(architecture)
            stratum = Stratum(*(self.stratum or (0, 0, 0)))
            require_stratum(layer, stratum)
            if stratum.is_zero:
                raise InputError("the teacher is the function 0, which has no scale; choose another stratum")
            V = np.array(representative(layer, stratum)[1], dtype=float)
            g, h, c = (_well_conditioned(n, draw) for n in (layer.d, layer.d, layer.d_out))
            unit = np.eye(layer.a, layer.d)
            unit[stratum.r_a :] = 0
            matrices = zip(architecture.shapes.items(), (unit @ g.T, unit @ h, c @ V @ g.T), strict=True)
            return {name: M.reshape(shape) for (name, shape), M in matrices}
        parameters = gaussian_weights(architecture, draw)
        if self.kind == "ranks":
            network, ranks = architecture.as_network(), self.ranks or ()
            if network is None or len(ranks) != network.depth:
                raise InputError(f"{architecture.name} does not fit the ranks {list(ranks)} of the teacher")
            for i, rank in enumerate(ranks, 1):
                parameters["Q" if "Q" in parameters else f"Q_{i}"][..., rank:, :] = 0
        return parameters

    def _single(self, architecture: Architecture) -> SingleLayer:
        layer = single_layer(architecture)
        if layer is None:
            raise InputError(f"a teacher {self.kind!r} is for one lightning layer of one head, t ≥ 2")
        if self.kind == "zariski" and layer.d < 2:
            raise InputError(f"{layer.name} has no limits outside M, because d = 1")
        return layer

    def as_json(self) -> dict[str, Any]:
        """What defines it."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _limit(architecture: Architecture) -> Any:
    """A limit that no weights reach: of one layer its coordinates, of others the map of weights to limits."""
    network = architecture.as_network()
    if network is not None and lightning_layer(architecture) is not None:
        limit = closedness(network).limit if is_one_layer(network) else None
        if limit is not None:
            return np.array([float(limit.y.get(index, 0)) for index in coordinates(layer_of(network))])
    elif network is not None and is_covered(network):
        first = first_of_pair(network)
        if first is not None:
            return LimitMap(network, first)
    raise InputError(f"{architecture.name} has no limits outside M that are known")


def gaussian_weights(architecture: Architecture, draw: np.random.Generator) -> dict[str, Array]:
    """Gaussian parameters, each entry of variance one over the number of columns."""
    shapes = architecture.shapes.items()
    return {name: draw.standard_normal(shape) / np.sqrt((shape or (1,))[-1]) for name, shape in shapes}


def _well_conditioned(n: int, draw: np.random.Generator) -> Array:
    """A random matrix with singular values between 1/2 and 2."""
    left, right = (np.linalg.qr(draw.standard_normal((n, n)))[0] for _ in range(2))
    result: Array = (left * 2.0 ** draw.uniform(-1, 1, n)) @ right
    return result


def _point_outside(layer: SingleLayer, draw: np.random.Generator) -> Array:
    """h ⊗ q ⊗ (m² + n²): in M̄(ℝ), and not in M."""
    h, q = draw.standard_normal(layer.d_out), draw.standard_normal(layer.d)
    m, n = _well_conditioned(layer.d, draw)[:2]
    i, k = np.triu_indices(layer.d)
    form = np.where(i < k, 2, 1) * (m[i] * m[k] + n[i] * n[k])
    result: Array = np.multiply.outer(np.multiply.outer(h, q), form).ravel()
    return result
