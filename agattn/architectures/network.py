"""Networks of attention layers.

A network evaluates itself over the scalars of any :class:`~agattn.algebra.arithmetic.Arithmetic`: ℚ, 𝔽_p,
floating point, balls, polynomials.

>>> import numpy as np
>>> from agattn.algebra.arithmetic import RingArithmetic
>>> network = DeepNetwork((2, 1), (1,), t=2)
>>> weights = {"K_1": [[[1, 0]]], "Q_1": [[[0, 1]]], "V_1": [[[1, 1]]]}
>>> weights = {name: np.array(array, dtype=object) for name, array in weights.items()}
>>> network.evaluate(RingArithmetic(), weights, np.array([[[1, 2], [3, 4]]], dtype=object))
array([[[48, 64]]], dtype=object)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast

from agattn.architectures.layered import Layered
from agattn.architectures.layers import Attention, Layer, read_fields
from agattn.architectures.normalizer import Normalization, Normalizer
from agattn.architectures.symmetry import Symmetry
from agattn.calls import constructed, is_list, positive_integer, shown
from agattn.errors import InputError
from agattn.sheet.data import Math
from agattn.sheet.result import Key, Meta, Positive, Written


@constructed
@dataclass(frozen=True)
class DeepNetwork(Layered):
    """Layers of self-attention composed: φ = φ_l ∘ ... ∘ φ_1, layer i from ℝ^{d_{i−1}×t} to ℝ^{d_i×t}.

    A layer adds up its heads, X ↦ Σ_h V_h X W(Xᵀ A_h X) with A_h = K_hᵀ Q_h; W is the identity for a
    lightning layer and the softmax of each column at a temperature T for a normalized one. K_h and Q_h are
    a_i × d_{i−1} and V_h is d_i × d_{i−1}, or a product O_h P_h through ``value_rank`` dimensions.

    The number of tokens t is also called ``tokens``. ``heads`` may be one number for every layer; a tuple of
    length l is kept. Skip connections need equal widths.

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
    agattn.errors.InputError: 1 rank for 2 layers; l layers have l ranks and l + 1 widths
    """

    dims: Key[tuple[Positive, ...], "The widths d_0, ..., d_l.", Meta(min_length=2)]
    ranks: Key[
        tuple[Positive, ...],
        "The attention dimensions a_1, ..., a_l, the numbers of rows of K and Q.",
        Meta(min_length=1),
    ]
    t: Key[Positive, "The number of tokens t."] = 3
    heads: Key[
        int | tuple[int, ...],
        "The number of heads of each layer.",
        Meta(min_length=1),
        Written(list[Positive], list),
    ] = 1
    skip: Key[bool, "Whether each layer adds its input to its output."] = False
    normalization: Key[
        Normalization, "`none` is lightning attention, `softmax` or a normalizer by its series is normalized."
    ] = "none"
    temperature: Key[
        float,
        "The T by which a softmax layer divides XᵀAX; without effect for lightning attention.",
        Meta(gt=0),
    ] = 1.0
    value_rank: Key[
        Positive | None, "The largest rank β of each value matrix V_h; null where not restricted."
    ] = None

    kind: ClassVar[str] = "network"
    options: ClassVar[tuple[str, str]] = ("--dims and --ranks", "ag.DeepNetwork(dims, ranks)")

    def __post_init__(self) -> None:
        for name, example in (("dims", "(4, 3, 4)"), ("ranks", "(2, 2)")):
            if not is_list(value := getattr(self, name)):
                raise InputError(f"{name} is {shown(value)}; it must be a list of numbers such as {example}")
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
                " l layers have l ranks and l + 1 widths"
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
        for name, value in {"dims": dims, "ranks": ranks, "heads": heads}.items():
            object.__setattr__(self, name, value)
        read_fields(self)

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """The layers, one after the other."""
        return tuple(
            Attention(
                d_out,
                a,
                heads,
                self.value_rank,
                skip=self.skip,
                normalization=self.normalization,
                temperature=self.temperature,
            )
            for d_out, a, heads in zip(self.dims[1:], self.ranks, self.heads_by_layer, strict=True)
        )

    @property
    def depth(self) -> int:
        """The number of layers l."""
        return len(self.ranks)

    @property
    def heads_by_layer(self) -> tuple[int, ...]:
        """The number of heads of each layer: ``heads`` as a tuple."""
        return cast("tuple[int, ...]", self.heads)  # as the constructor leaves it

    @property
    def is_lightning(self) -> bool:
        """Whether no layer is normalized."""
        return self.normalization == "none"

    @property
    def first_degree(self) -> int:
        """The degree of the first term of log φ − log φ(0) of the normalizer φ; 1 for softmax."""
        return self.normalization.first_degree if isinstance(self.normalization, Normalizer) else 1

    @property
    def input_shape(self) -> tuple[int, int]:
        """The shape (d_0, t) of X."""
        return self.dims[0], self.t

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The known symmetries, layer by layer.

        GL(a) inside a head: K → C⁻ᵀK, Q → CQ (HMK, Lemma 3.1); GL(β) where V = OP: O → OC⁻¹, P → CP; the
        scaling of a lightning head: A → sA, V → V/s (HMK, Theorem 3.2); GL(d_i) between layers without skip
        connections: V_i → CV_i, then K, Q, V of layer i+1 → ·C⁻¹ (HMK, equation 9).
        """
        return tuple(sorted(super().symmetries, key=lambda one: int(one.on[0].parameter.partition("_")[2])))

    @property
    def bottleneck(self) -> int | None:
        """The width δ that d_1, ..., d_{l−1} all have, if δ ≤ d_0 and δ ≤ d_l; ``None`` otherwise.

        This is the hypothesis of HMK's Lemma 3.5 and Corollary 3.8. For a single layer it is min(d_0, d_1).
        """
        delta, *others = set(self.dims[1:-1]) or {min(self.dims)}
        return delta if not others and delta <= min(self.dims[0], self.dims[-1]) else None

    @property
    def _temperature(self) -> str:
        """T with all of its digits."""
        return str(self.temperature).removesuffix(".0")

    def summary(self) -> str:
        """The sizes, and the options that differ from their defaults, in a line."""
        between = "," if self.depth == 1 else "; "  # a layer is called as everywhere
        parts = [f"M({','.join(map(str, self.dims))}{between}{','.join(map(str, self.ranks))})"]
        heads = self.heads_by_layer
        if set(heads) != {1}:
            parts.append(f"heads {heads[0] if len(set(heads)) == 1 else ','.join(map(str, heads))}")
        if self.value_rank is not None:
            parts.append(f"rank V ≤ {self.value_rank}")
        if self.skip:
            parts.append("skip")
        if not self.is_lightning:
            parts.append(f"{self.normalization}" + f" at T = {self._temperature}" * (self.temperature != 1))
        return ", ".join([*parts, f"t = {self.t}"])

    @property
    def caption(self) -> Math:
        """The summary as a formula."""
        name, _, rest = self.summary().partition("), ")
        words = (
            word.replace("rank V ≤", r"\operatorname{rk} V \leq")
            if word.startswith(("rank V", "t = "))
            else rf"\text{{{word}}}"
            for word in rest.split(", ")
        )
        return Math(rf"\mathcal{{M}}{name[1:]}), \ {', '.join(words)}")

    @property
    def arguments(self) -> str:
        """The network as the command line names it, such as ``--dims 4,3,4 --ranks 2,2 -t 3``.

        What no option says, model files say: then this is the word FILE.
        """
        if self.temperature != 1 or self.value_rank is not None:
            return "FILE"
        dims, ranks, heads = (",".join(map(str, x)) for x in (self.dims, self.ranks, self.heads_by_layer))
        words = [f"--dims {dims} --ranks {ranks} -t {self.t}"]
        words += [f"--heads {heads}"] if set(self.heads_by_layer) != {1} else []
        words += ["--skip"] if self.skip else []
        given = self.normalization
        kind = given.argument if isinstance(given, Normalizer) else given
        words += [] if self.is_lightning else [f"--normalization {kind}"]
        return " ".join(words)

    def as_network(self) -> DeepNetwork:
        """The network itself, as a layer is a network of one."""
        return self
