"""Networks of attention layers, and their evaluation.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array
from agattn.architectures.protocol import Acted, Symmetry, positive_integer
from agattn.errors import InputError, TooLargeError
from agattn.evidence import Shown


@dataclass(frozen=True)
class DeepNetwork(Shown):
    """Layers of self-attention composed: φ = φ_l ∘ ... ∘ φ_1, layer i from ℝ^{d_{i−1}×t} to ℝ^{d_i×t}.

    A layer adds up its heads, X ↦ Σ_h V_h X W(Xᵀ A_h X) with A_h = K_hᵀ Q_h; W is the identity for a
    lightning layer and the softmax of each column at a temperature T for a normalized one. K_h and Q_h are
    a_i × d_{i−1} and V_h is d_i × d_{i−1}, or a product O_h P_h through ``value_rank`` dimensions.

    Attributes:
        dims: the widths d_0, ..., d_l.
        ranks: the attention dimensions a_1, ..., a_l, the numbers of rows of K and Q.
        t: number of tokens.
        heads: heads in every layer, or a sequence with one number for each; kept as a tuple of length l.
        skip: whether each layer adds its input to its output; needs equal widths.
        normalization: ``"none"`` (lightning) or ``"softmax"``.
        temperature: T > 0, by which a softmax layer divides XᵀAX.
        value_rank: the largest rank β of each V_h; ``None`` for no restriction.

    Raises:
        InputError: if a number is out of range, or if the numbers do not fit together.

    Source: HMK, section 3.3 (lightning) and section 4 (normalized).

    >>> DeepNetwork((10, 10, 10), (2, 2), 3, normalization="softmax").parameters
    280
    >>> print(DeepNetwork((4, 3, 4), (2, 2), t=3))
    M(4,3,4; 2,2), t = 3
    >>> DeepNetwork((4, 3, 4), (2,), t=3)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: 1 rank for 2 layers; give one rank a_i for each layer, and one width more
    """

    dims: tuple[int, ...]
    ranks: tuple[int, ...]
    t: int = 3
    heads: int | tuple[int, ...] = 1
    skip: bool = False
    normalization: Literal["none", "softmax"] = "none"
    temperature: float = 1.0
    value_rank: int | None = None

    def __post_init__(self) -> None:
        dims = tuple(positive_integer(f"d_{i}", d) for i, d in enumerate(self.dims))
        ranks = tuple(positive_integer(f"a_{i}", a) for i, a in enumerate(self.ranks, 1))
        if len(dims) < 2:
            raise InputError(
                f"{len(dims)} width{'s' * (len(dims) != 1)}; a network needs at least d_0 and d_1"
            )
        layers = len(dims) - 1
        if len(ranks) != layers:
            raise InputError(
                f"{len(ranks)} rank{'s' * (len(ranks) != 1)} for {layers} layer{'s' * (layers != 1)};"
                " give one rank a_i for each layer, and one width more"
            )
        given = self.heads if isinstance(self.heads, (tuple, list)) else (self.heads,)
        heads = tuple(positive_integer("heads", h) for h in given)
        if len(heads) == 1:
            heads *= layers
        if len(heads) != layers:
            raise InputError(
                f"{len(heads)} numbers of heads for {layers} layer{'s' * (layers != 1)};"
                " give one for all layers or one for each"
            )
        if self.skip and len(set(dims)) > 1:
            raise InputError(f"the widths {dims} differ; skip connections need equal widths")
        if self.normalization not in ("none", "softmax"):
            raise InputError(f"normalization is {self.normalization!r}; it must be 'none' or 'softmax'")
        try:
            usable = 0 < self.temperature < float("inf")
        except TypeError:
            usable = False
        if not usable:
            raise InputError(f"temperature is {self.temperature!r}; it must be a number above 0")
        if not isinstance(self.temperature, (int, float)):
            object.__setattr__(self, "temperature", float(self.temperature))
        if self.value_rank is not None:
            object.__setattr__(self, "value_rank", positive_integer("value_rank", self.value_rank))
        object.__setattr__(self, "dims", dims)
        object.__setattr__(self, "ranks", ranks)
        object.__setattr__(self, "heads", heads)
        object.__setattr__(self, "t", positive_integer("t", self.t))

    @property
    def layers(self) -> int:
        """The number of layers l."""
        return len(self.ranks)

    @property
    def heads_by_layer(self) -> tuple[int, ...]:
        """The number of heads of each layer; what ``heads`` has become."""
        return (self.heads,) * self.layers if isinstance(self.heads, int) else self.heads

    @property
    def is_lightning(self) -> bool:
        """Whether no layer is normalized."""
        return self.normalization == "none"

    @property
    def parameters(self) -> int:
        """The number of entries of all K, Q and V (or O and P where ``value_rank`` is given)."""
        total = 0
        for d, d_out, a, h in zip(self.dims, self.dims[1:], self.ranks, self.heads_by_layer, strict=False):
            value = d * d_out if self.value_rank is None else self.value_rank * (d + d_out)
            total += h * (2 * a * d + value)
        return total

    @property
    def input_shape(self) -> tuple[int, int]:
        """The shape (d_0, t) of X."""
        return self.dims[0], self.t

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of K_i, Q_i, V_i, or O_i, P_i with V_i = O_i P_i, stacked over the heads of layer i."""
        values = ("V",) if self.value_rank is None else ("O", "P")
        layers = enumerate(weight_shapes(self), 1)
        return {
            f"{letter}_{i}": shape
            for i, layer in layers
            for letter, shape in zip(("K", "Q", *values), layer.arrays, strict=True)
        }

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The known symmetries.

        GL(a) inside a head: K → C⁻ᵀK, Q → CQ (HMK, Lemma 3.1); GL(β) where V = OP: O → OC⁻¹, P → CP; the
        scaling of a lightning head: A → sA, V → V/s (HMK, Theorem 3.2); GL(d_i) between layers without skip
        connections: V_i → CV_i, then K, Q, V of layer i+1 → ·C⁻¹ (HMK, equation 9).
        """
        result = []
        out, into = ("V", "V") if self.value_rank is None else ("O", "P")
        for i, (a, heads) in enumerate(zip(self.ranks, self.heads_by_layer, strict=True), 1):
            for head in range(heads):
                keys, queries = Acted(f"K_{i}", -2, True, head), Acted(f"Q_{i}", -2, False, head)
                result.append(Symmetry("GL(a)", a, (keys, queries)))
                if self.value_rank is not None:
                    factors = Acted(f"O_{i}", -1, True, head), Acted(f"P_{i}", -2, False, head)
                    result.append(Symmetry("GL(β)", self.value_rank, factors))
                if self.is_lightning:
                    scaled = Acted(f"K_{i}", -2, False, head), Acted(f"{out}_{i}", -2, True, head)
                    result.append(Symmetry("scaling", 1, scaled, is_scaling=True))
            if i < self.layers and not self.skip:
                following = (Acted(f"{letter}_{i + 1}", -1, True) for letter in ("K", "Q", into))
                result.append(Symmetry("GL(d)", self.dims[i], (Acted(f"{out}_{i}", -2), *following)))
        return tuple(result)

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """φ on a stack of inputs X, (n, d_0, t), as (n, d_l, t).

        Raises:
            TypeError: if the network is normalized and the scalars have no softmax.
        """
        arrays = iter(parameters[name] for name in self.shapes)
        return forward_states(self, draw_weights(self, lambda shape: next(arrays)), X, arithmetic)[-1].out

    @property
    def bottleneck(self) -> int | None:
        """The width δ that d_1, ..., d_{l−1} all have, if δ ≤ d_0 and δ ≤ d_l; ``None`` otherwise.

        This is the hypothesis of HMK's Lemma 3.5 and Corollary 3.8 on the widths. A single layer has no
        inner width; min(d_0, d_1) stands in for it.
        """
        inner = set(self.dims[1:-1]) or {min(self.dims)}
        delta = inner.pop()
        return delta if not inner and delta <= min(self.dims[0], self.dims[-1]) else None

    def __str__(self) -> str:
        parts = [f"M({','.join(map(str, self.dims))}; {','.join(map(str, self.ranks))})"]
        heads = self.heads_by_layer
        if set(heads) != {1}:
            parts.append(f"heads {heads[0] if len(set(heads)) == 1 else ','.join(map(str, heads))}")
        if self.value_rank is not None:
            parts.append(f"rank V ≤ {self.value_rank}")
        if self.skip:
            parts.append("skip")
        if not self.is_lightning:
            parts.append("softmax" + ("" if self.temperature == 1 else f" at T = {self.temperature:g}"))
        return ", ".join([*parts, f"t = {self.t}"])

    def as_json(self) -> dict[str, object]:
        """Return everything that defines the network, JSON-ready."""
        return {
            "dims": list(self.dims),
            "ranks": list(self.ranks),
            "t": self.t,
            "heads": list(self.heads_by_layer),
            "skip": self.skip,
            "normalization": self.normalization,
            "temperature": self.temperature,
            "value_rank": self.value_rank,
        }


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


def by_name(network: DeepNetwork, weights: Weights) -> dict[str, Array]:
    """The arrays of all layers, by the names in :attr:`DeepNetwork.shapes`."""
    return dict(zip(network.shapes, (array for layer in weights for array in layer.arrays), strict=True))


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
