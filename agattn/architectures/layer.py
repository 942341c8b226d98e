"""One layer of lightning self-attention, for two or more tokens and for one.

>>> layer = SingleLayer(d=2, d_out=1)
>>> print(layer)
M(2,1,2): dimension 5 in ℝ⁶, t ≥ 2
>>> layer.ambient_dimension, layer.alpha
(6, 2)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import ClassVar

from agattn.algebra.arithmetic import Arithmetic, Array
from agattn.architectures.layers import read_fields
from agattn.architectures.network import DeepNetwork
from agattn.architectures.normalizer import raised
from agattn.architectures.parametrized import Parametrized
from agattn.architectures.protocol import Architecture
from agattn.architectures.symmetry import Symmetry
from agattn.calls import constructed
from agattn.errors import InputError
from agattn.sheet.data import Math
from agattn.sheet.result import Key, Positive


@constructed
@dataclass(frozen=True)
class SingleLayer(Parametrized):
    """One layer of lightning self-attention, φ(X) = V X Xᵀ A X with A = KᵀQ.

    X is a d × t matrix whose columns are the tokens; K and Q are a × d; V is d' × d.

    ``None`` for a means a = d. The number of tokens t is also called ``tokens``. Every t ≥ 2 gives the same
    neuromanifold up to a linear isomorphism. With one token the functions are different, and the layer is a
    :class:`OneTokenLayer`.

    Raises:
        InputError: if d, d_out, a or t is not an integer, or is below 1.

    Source: HMK, Definition 1 and equation 3.

    >>> SingleLayer(3, 2, 2)
    SingleLayer(d=3, d_out=2, a=2, t=2)
    >>> SingleLayer(3, 0)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: d_out is 0; it must be a whole number of at least 1
    """

    d: Key[Positive, "The embedding dimension d: tokens are vectors in ℝ^d."]
    d_out: Key[Positive, "The output dimension d'."]
    a: Key[Positive, "The attention dimension a: the rank of A is at most a."] = None  # type: ignore[assignment]
    t: Key[Positive, "The number of tokens t."] = 2

    kind: ClassVar[str] = "layer"
    options: ClassVar[tuple[str, str]] = ("-d and -o", "ag.SingleLayer(d, d_out)")
    #: Whether the points of M are the orbits of (r_V, r_A, r): true for t ≥ 2.
    has_orbits: ClassVar[bool] = True
    #: The letter of the coordinates in print.
    letter: ClassVar[str] = "y"
    #: The degree of a coordinate in the letters of each group of :attr:`gl_sizes`.
    gl_degrees: ClassVar[tuple[int, ...]] = (1, 1, 2)

    def __post_init__(self) -> None:
        if self.a is None:
            object.__setattr__(self, "a", self.d)
        read_fields(self)
        if self.t == 1 and type(self) is SingleLayer:
            object.__setattr__(self, "__class__", OneTokenLayer)

    @property
    def alpha(self) -> int:
        """α = min(a, d), the largest rank of A."""
        return min(self.a, self.d)

    @property
    def ambient_dimension(self) -> int:
        """N = d'·d·C(d+1, 2), the number of coordinates y."""
        return self.d_out * self.d * comb(self.d + 1, 2)

    @property
    def expected_dimension(self) -> int:
        """The dimension of the neuromanifold by the formula of HMK, Corollary 3.3."""
        return self.alpha * (2 * self.d - self.alpha) + self.d * self.d_out - 1

    @property
    def gl_sizes(self) -> tuple[int, ...]:
        """GL(d')×GL(d)×GL(d) acts on the coordinates: on V's rows, A's columns and the inner index."""
        return self.d_out, self.d, self.d

    def as_network(self) -> DeepNetwork:
        """The layer as a network of one layer."""
        return DeepNetwork((self.d, self.d_out), (self.a,), self.t)

    @property
    def input_shape(self) -> tuple[int, int]:
        """The shape (d, t) of X."""
        return self.d, self.t

    @property
    def output_shape(self) -> tuple[int, int]:
        """The shape (d', t) of φ(X)."""
        return self.d_out, self.t

    @property
    def degree(self) -> int:
        """The degree of φ(X): one in each of K, Q and V, three in X."""
        return 6

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of K, Q and V."""
        return {"K": (self.a, self.d), "Q": (self.a, self.d), "V": (self.d_out, self.d)}

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """GL(a) on (K, Q) and the scaling of A against V (HMK, Lemma 3.1 and Theorem 3.2)."""
        return tuple(
            replace(group, on=tuple(replace(one, parameter=one.parameter[0], index=()) for one in group.on))
            for group in self.as_network().symmetries
        )

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """φ on a stack of inputs X, (n, d, t), as (n, d', t)."""
        stacked = {f"{name}_1": parameters[name][..., None, :, :] for name in self.shapes}
        return self.as_network().evaluate(arithmetic, stacked, X)

    @property
    def name(self) -> str:
        """The sizes, as in ``"M(3,2,2)"``."""
        return f"M({self.d},{self.d_out},{self.a})"

    def summary(self) -> str:
        """The name, the dimension by the formula, and the tokens, in a line."""
        ambient, tokens = raised(self.ambient_dimension), "t ≥ 2" if self.has_orbits else "t = 1"
        return f"{self.name}: dimension {self.expected_dimension} in ℝ{ambient}, {tokens}"

    @property
    def caption(self) -> Math:
        """The summary as a formula."""
        space, size = (
            rf"\mathbb{{R}}^{{{self.ambient_dimension}}}",
            rf"\quad \dim = {self.expected_dimension}",
        )
        tokens = r"t \geq 2" if self.has_orbits else "t = 1"
        return Math(rf"\mathcal{{M}}{self.name[1:]} \subset {space}, {size}, \quad {tokens}")

    @property
    def arguments(self) -> str:
        """The layer as the command line names it, such as ``-d 3 -o 2 -a 2``."""
        return f"-d {self.d} -o {self.d_out} -a {self.a}" + ("" if self.has_orbits else " -t 1")


@constructed
@dataclass(frozen=True)
class OneTokenLayer(SingleLayer):
    """The layer at t = 1, where φ(x) = V x · xᵀAx sees only V and the symmetric part of A.

    Its coordinates z are the coefficients of d' cubic forms. The symmetric part of A = KᵀQ has rank at most
    β = min(d, 2a).

    Raises:
        InputError: if t is not 1.

    >>> print(OneTokenLayer(2, 1))
    M(2,1,2): dimension 4 in ℝ⁴, t = 1
    >>> SingleLayer(2, 1, t=1) == OneTokenLayer(2, 1)
    True
    """

    t: int = 1

    has_orbits: ClassVar[bool] = False
    letter: ClassVar[str] = "z"
    gl_degrees: ClassVar[tuple[int, ...]] = (1, 3)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.t != 1:
            raise InputError(f"t is {self.t}; a layer with one token has t = 1")

    @property
    def ambient_dimension(self) -> int:
        """N = d'·C(d+2, 3), the number of coordinates z."""
        return self.d_out * comb(self.d + 2, 3)

    @property
    def expected_dimension(self) -> int:
        """β(2d − β + 1)/2 + dd' − 1: pairs (V, S) with S symmetric of rank at most β, up to scaling."""
        beta = min(self.d, 2 * self.a)
        return beta * (2 * self.d - beta + 1) // 2 + self.d * self.d_out - 1

    @property
    def gl_sizes(self) -> tuple[int, ...]:
        """The groups GL(d')×GL(d) that act on the coordinates: on V's rows and on the token."""
        return self.d_out, self.d


def one_layer(given: Architecture, plural: str, instead: str) -> SingleLayer:
    """A layer as it is; of anything else an InputError that says what to call instead.

    Args:
        given: an architecture.
        plural: what is known of layers alone, such as ``"strata"``.
        instead: what to do, such as ``"for a network use ag.dimension"``.

    Raises:
        InputError: if it is no single layer.
    """
    if not isinstance(given, SingleLayer):
        raise InputError(f"{plural} are for one layer, and {given} is a {given.kind}; {instead}")
    return given


def as_layer(architecture: Architecture) -> SingleLayer | None:
    """The one lightning head that an architecture is; ``None`` if it is anything else.

    >>> as_layer(DeepNetwork(dims=(3, 2), ranks=(1,), t=2))
    SingleLayer(d=3, d_out=2, a=1, t=2)
    """
    if isinstance(architecture, SingleLayer):
        return architecture
    network = architecture.as_network()
    if network is None or network.depth > 1 or network != DeepNetwork(network.dims, network.ranks, network.t):
        return None
    (d, d_out), (a,) = network.dims, network.ranks
    return SingleLayer(d, d_out, a, network.t)


def as_attention(architecture: Architecture) -> Architecture:
    """The layer or the network of attention that a model is; any other architecture as it was given.

    >>> from agattn.architectures import Attention, Linear, Network
    >>> as_attention(Network([Attention(2, rank=1)], dim=3, tokens=2))
    SingleLayer(d=3, d_out=2, a=1, t=2)
    >>> as_attention(DeepNetwork(dims=(3, 2), ranks=(1,), t=2)).kind
    'network'
    >>> print(as_attention(Network([Linear(2)], dim=3)))
    3×1 → linear 2
    """
    network = architecture.as_network()
    if network is None or isinstance(architecture, (SingleLayer, DeepNetwork)):
        return architecture
    return as_layer(network) or network
