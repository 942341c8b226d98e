r"""Teachers: the functions that are learned, at any place of the geometry, and the losses that they give.

All are random but for their kind, and scaled to E‖y‖² = 1 where the architecture can follow, so that losses
and times compare.

>>> import agattn as ag
>>> teacher = Teacher("stratum", stratum=(1, 1, 2))
>>> loss = teacher.loss(ag.SingleLayer(2, 1), Data(), seed=0)
>>> round(float(loss(np.zeros((1, loss.architecture.parameters)))[0][0]), 9)
1.0
>>> Teacher("limit").loss(ag.SingleLayer(2, 1), Data(), seed=0)
Traceback (most recent call last):
    ...
agattn.errors.InputError: M(2,1,2) has no limits outside M that are known
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import FloatArithmetic
from agattn.algebra.scalars import Array
from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.architectures.protocol import as_parameters, as_rows
from agattn.calls import is_number, is_ranks, is_whole, one_of, refuse_unless
from agattn.errors import InputError
from agattn.experiments.training.losses import (
    PopulationLoss,
    SampleLoss,
    TrainingLoss,
    evaluate,
    exact_layer,
    is_one_lightning_layer,
    layer_of,
    single_layer,
)
from agattn.geometry.closedness.limits import LimitMap, first_of_pair
from agattn.geometry.closedness.several_heads import closedness, is_one_layer
from agattn.geometry.critical_points.loss import gaussian_gram
from agattn.geometry.identifiability.virtual_weights import is_covered
from agattn.geometry.strata.strata import Stratum, representative, require_stratum
from agattn.geometry.variety.coordinates import coefficients, coordinates

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
        if self.kind in ("outside", "limit") or _ends_in_values(architecture):
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
        elif self.kind == "limit" and is_one_lightning_layer(architecture):
            self._limit_of_heads(exact_layer(architecture))
        elif self.kind == "limit":
            _pair_with_limits(architecture)
        elif self.kind != "outside":
            self._weights(architecture, np.random.default_rng(0))

    def _point(self, architecture: Architecture, draw: np.random.Generator) -> Array:
        """The coordinates y, with E‖y‖² = 1."""
        network = exact_layer(architecture)
        layer = layer_of(network)
        if self.kind == "outside":
            y = draw.standard_normal(layer.ambient_dimension)
        elif self.kind == "limit":
            y = self._limit_of_heads(network)
        elif self.kind == "zariski":
            y = _point_outside(self._single(architecture), draw)
        else:
            weights = as_parameters(architecture, self._weights(architecture, draw))
            K, Q, V = (x.reshape(network.heads_by_layer[0], -1, layer.d) for x in weights.values())
            pairs = zip(K.swapaxes(1, 2) @ Q, V, strict=True)
            y = sum((coefficients(layer, A, v) for A, v in pairs), np.zeros(layer.ambient_dimension))
        rows = y.reshape(layer.d_out, -1)
        found: Array = y / np.sqrt((rows @ gaussian_gram(layer) * rows).sum())
        return found

    def _outputs(self, architecture: Architecture, X: Array, draw: np.random.Generator) -> Array:
        """The outputs at samples."""
        if self.kind == "outside":
            return draw.standard_normal((len(X), *architecture.output_shape))
        if self.kind == "zariski" or (self.kind == "limit" and is_one_lightning_layer(architecture)):
            y = self._point(architecture, draw)
            network = architecture.as_network()
            assert network is not None
            one = SingleLayer(network.dims[0], 1, t=network.t)
            squares, rows = X @ X.swapaxes(1, 2), y.reshape(network.dims[1], one.d, -1)
            i, k = np.triu_indices(one.d)
            values: Array = np.einsum("cbp,np,nbt->nct", rows, squares[:, i, k], X)
            return values
        if self.kind == "limit":
            network, first = _pair_with_limits(architecture)
            limits = LimitMap(network, first)
            out: Array = limits.evaluate(FloatArithmetic(), gaussian_weights(network, draw), X)
            return out
        return evaluate(architecture, self._weights(architecture, draw), X)

    def _weights(self, architecture: Architecture, draw: np.random.Generator) -> Array:
        """Weights of the teacher, of length D."""
        if self.kind == "stratum":
            layer = self._single(architecture)
            stratum = Stratum(*(self.stratum or (0, 0, 0)))
            require_stratum(layer, stratum)
            if stratum.is_zero:
                raise InputError("the teacher is the function 0, which has no scale; choose another stratum")
            V = np.array(representative(layer, stratum)[1], dtype=float)
            g, h, c = (_well_conditioned(n, draw) for n in (layer.d, layer.d, layer.d_out))
            left, right = np.zeros((2, layer.a, layer.d))
            for i in range(stratum.r_a):
                left[i, i] = right[i, i] = 1
            return np.concatenate([(left @ g.T).ravel(), (right @ h).ravel(), (c @ V @ g.T).ravel()])
        parameters = gaussian_weights(architecture, draw)
        if self.kind == "ranks":
            network = architecture.as_network()
            if network is None or len(self.ranks or ()) != network.depth:
                raise InputError(
                    f"{architecture.name} does not fit the ranks {list(self.ranks or ())} of the teacher"
                )
            for i, rank in enumerate(self.ranks or (), 1):
                parameters["Q" if "Q" in parameters else f"Q_{i}"][..., rank:, :] = 0
        theta: Array = as_rows(architecture, parameters)
        return theta

    def _single(self, architecture: Architecture) -> SingleLayer:
        layer = single_layer(architecture)
        if layer is None:
            raise InputError(f"a teacher {self.kind!r} is for one lightning layer of one head, t ≥ 2")
        if self.kind == "zariski" and layer.d < 2:
            raise InputError(f"{layer.name} has no limits outside M, because d = 1")
        return layer

    def _limit_of_heads(self, network: DeepNetwork) -> Array:
        limit = closedness(network).limit if is_one_layer(network) else None
        if limit is None:
            layer = layer_of(network)
            name = layer.name if network.heads_by_layer == (1,) else str(network)
            raise InputError(f"{name} has no limits outside M that are known")
        layer = layer_of(network)
        return np.array([float(limit.y.get(place, 0)) for place in coordinates(layer)])

    def as_json(self) -> dict[str, Any]:
        """What defines it."""
        found: dict[str, Any] = {"kind": self.kind}
        for name in ("stratum", "ranks"):
            if (value := getattr(self, name)) is not None:
                found[name] = list(value)
        return found | ({} if self.seed is None else {"seed": self.seed})


def _pair_with_limits(architecture: Architecture) -> tuple[DeepNetwork, int]:
    """A network, and the first of two layers whose functions have limits outside M."""
    network = architecture.as_network()
    first = None if network is None or not is_covered(network) else first_of_pair(network)
    if network is None or first is None:
        raise InputError(f"{architecture.name} has no limits outside M that are known")
    return network, first


def gaussian_weights(architecture: Architecture, draw: np.random.Generator) -> dict[str, Array]:
    """Gaussian parameters, each entry of variance one over the number of columns."""
    shapes = architecture.shapes.items()
    return {name: draw.standard_normal(shape) / np.sqrt((shape or (1,))[-1]) for name, shape in shapes}


def _well_conditioned(n: int, draw: np.random.Generator) -> Array:
    """A random matrix with singular values between 1/2 and 2."""
    left, right = (np.linalg.qr(draw.standard_normal((n, n)))[0] for _ in range(2))
    product: Array = (left * 2.0 ** draw.uniform(-1, 1, n)) @ right
    return product


def _point_outside(layer: SingleLayer, draw: np.random.Generator) -> Array:
    """h ⊗ q ⊗ (m² + n²): in M̄(ℝ), and not in M."""
    h, q = draw.standard_normal(layer.d_out), draw.standard_normal(layer.d)
    m, n = _well_conditioned(layer.d, draw)[:2]
    i, k = np.triu_indices(layer.d)
    form = np.where(i < k, 2, 1) * (m[i] * m[k] + n[i] * n[k])
    y: Array = np.multiply.outer(np.multiply.outer(h, q), form).ravel()
    return y


def _ends_in_values(architecture: Architecture) -> bool:
    """Whether φ can be scaled by its last weights: networks of attention without skip connections."""
    network = architecture.as_network()
    return network is not None and not network.skip
