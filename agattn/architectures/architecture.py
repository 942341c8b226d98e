"""Architectures: what the neuromanifold is the neuromanifold of.

>>> layer = SingleLayer(d=2, d_out=1)
>>> print(layer)
M(2,1,2): dim 5 in ℝ⁶, t ≥ 2
>>> layer.ambient_dimension, layer.alpha
(6, 2)
"""

from __future__ import annotations

import contextlib
import operator
from dataclasses import dataclass
from math import comb
from typing import Literal

from agattn.errors import InputError
from agattn.notebook import Cell, Math, Table

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class SingleLayer:
    """One layer of lightning self-attention, φ(X) = V X Xᵀ A X with A = KᵀQ.

    X is a d × t matrix whose columns are the tokens; K and Q are a × d; V is d' × d.

    Attributes:
        d: embedding dimension, the number of rows of X.
        d_out: output dimension d'.
        a: attention dimension, the number of rows of Q and K; ``None`` means a = d.
        t: number of tokens. Every t ≥ 2 gives the same neuromanifold up to a linear isomorphism.

    Raises:
        InputError: if one of them is not an integer or is below 1.

    Source: HMK, Definition 1 and equation 3.

    >>> SingleLayer(3, 2, 2)
    SingleLayer(d=3, d_out=2, a=2, t=2)
    >>> SingleLayer(3, 0)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: d_out is 0; it must be a whole number of at least 1
    """

    d: int
    d_out: int
    a: int = None  # type: ignore[assignment]  # None stands for d until __post_init__
    t: int = 2

    def __post_init__(self) -> None:
        if self.a is None:
            object.__setattr__(self, "a", self.d)
        for name in ("d", "d_out", "a", "t"):
            object.__setattr__(self, name, positive_integer(name, getattr(self, name)))

    @property
    def alpha(self) -> int:
        """α = min(a, d), the largest rank of A."""
        return min(self.a, self.d)

    @property
    def ambient_dimension(self) -> int:
        """N = d'·d·C(d+1, 2), the number of coordinates y; at t = 1, d'·C(d+2, 3)."""
        if self.t == 1:
            return self.d_out * comb(self.d + 2, 3)
        return self.d_out * self.d * comb(self.d + 1, 2)

    @property
    def expected_dimension(self) -> int:
        """The dimension of the neuromanifold by the formula of HMK, Corollary 3.3; at t = 1 its variant.

        At t = 1 only the symmetric part of A matters, of rank at most β = min(d, 2a).
        """
        if self.t == 1:
            beta = min(self.d, 2 * self.a)
            return beta * (2 * self.d - beta + 1) // 2 + self.d * self.d_out - 1
        return self.alpha * (2 * self.d - self.alpha) + self.d * self.d_out - 1

    def __str__(self) -> str:
        tokens = "t = 1" if self.t == 1 else "t ≥ 2"
        ambient = str(self.ambient_dimension).translate(_SUPERSCRIPTS)
        return f"M({self.d},{self.d_out},{self.a}): dim {self.expected_dimension} in ℝ{ambient}, {tokens}"

    def _repr_latex_(self) -> str:
        """The layer in a notebook.

        >>> SingleLayer(2, 1)._repr_latex_()
        '$\\\\mathcal{M}(2,1,2) \\\\subset \\\\mathbb{R}^{6}, \\\\quad \\\\dim = 5, \\\\quad t \\\\geq 2$'
        """
        tokens = "t = 1" if self.t == 1 else r"t \geq 2"
        return (
            rf"$\mathcal{{M}}({self.d},{self.d_out},{self.a}) "
            rf"\subset \mathbb{{R}}^{{{self.ambient_dimension}}}, "
            rf"\quad \dim = {self.expected_dimension}, \quad {tokens}$"
        )

    def _repr_html_(self) -> str:
        """The same formula, the map, and the numbers that it needs."""
        rows: tuple[tuple[Cell, ...], ...] = (
            ("map", Math(r"X \mapsto V X X^{\top} A X, \quad A = K^{\top} Q")),
            ("X", Math(rf"{self.d} \times {'1' if self.t == 1 else 't'}")),
            ("K, Q", Math(rf"{self.a} \times {self.d}")),
            ("V", Math(rf"{self.d_out} \times {self.d}")),
            ("coordinates", self.ambient_dimension),
            ("dimension, by HMK", self.expected_dimension),
        )
        return Table(Math(self._repr_latex_().strip("$")), (), rows).html()

    def as_json(self) -> dict[str, int]:
        """Return the four numbers that define the layer."""
        return {"d": self.d, "d_out": self.d_out, "a": self.a, "t": self.t}


@dataclass(frozen=True)
class DeepNetwork:
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

    def _repr_latex_(self) -> str:
        """The network in a notebook, as it prints, with the letter of the neuromanifold."""
        name, *others = str(self).split("), ", 1)
        rest = "".join(others).replace("rank V ≤", r"\operatorname{rk} V \leq")
        words = [part if " = " in part or "leq" in part else rf"\text{{{part}}}" for part in rest.split(", ")]
        return rf"$\mathcal{{M}}{name[1:]}), \ {', '.join(words)}$"

    def _repr_html_(self) -> str:
        """The same formula, and what the network is made of."""
        rows: tuple[tuple[Cell, ...], ...] = (
            ("widths", ", ".join(map(str, self.dims))),
            ("attention dimensions", ", ".join(map(str, self.ranks))),
            ("heads in each layer", ", ".join(map(str, self.heads_by_layer))),
            ("skip connections", "yes" if self.skip else "no"),
            ("normalization", self.normalization),
            ("tokens", self.t),
            ("parameters", self.parameters),
        )
        return Table(Math(self._repr_latex_().strip("$")), (), rows).html()

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


#: What a claim can be about.
Architecture = SingleLayer | DeepNetwork


#: No size is larger: nothing could be computed, and formulas would fill the memory with digits.
LARGEST_SIZE = 10**9


def positive_integer(name: str, value: object) -> int:
    """Return ``value`` as an int, or raise an InputError that names it.

    >>> positive_integer("d", 2.5)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: d is 2.5; it must be a whole number of at least 1
    >>> positive_integer("d", 10**10)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: d is 10000000000; it must be a whole number of at most 1000000000
    """
    number = 0
    if not isinstance(value, bool):
        with contextlib.suppress(TypeError):
            number = operator.index(value)  # type: ignore[arg-type]
    if 1 <= number <= LARGEST_SIZE:
        return number
    # Text of decimals only is a number that Python refuses to read, because it is too long.
    too_large = number > LARGEST_SIZE or (isinstance(value, str) and value.isdecimal() and len(value) > 10)
    bound = f"at most {LARGEST_SIZE}" if too_large else "at least 1"
    raise InputError(f"{name} is {_shown(value)}; it must be a whole number of {bound}")


def _shown(value: object) -> str:
    """A value as a message quotes it, without the end of a long one.

    >>> _shown("9" * 50), _shown(10**4400)
    ("'999999999999999999999999999999999999999...", 'a number of more than 4000 digits')
    """
    if isinstance(value, int) and value.bit_length() > 13288:  # which Python refuses to write
        return "a number of more than 4000 digits"
    text = repr(value)
    return text if len(text) <= 43 else f"{text[:40]}..."
