"""A whole transformer as it is stored: arrays by their part, layer by layer, and what is no weight.

A block is a mapping from parts to arrays. With width d, H heads, g groups of keys and values, a rows of
queries and keys, b of values, n neurons (experts: m × n) these are

- ``Q`` (H × a × d), ``K`` (g × a × d), ``P`` (g × b × d), ``O`` (H × d × b), and ``Q.bias`` (H × a),
  ``K.bias`` (g × a), ``P.bias`` (g × b), ``O.bias`` (d);
- ``query.gain`` and ``key.gain`` of normalized queries and keys: (a,) for every head, or (H × a) and (g ×
  a) of one norm over all heads;
- ``G`` (n × d), the gate or the only matrix that reads, ``U`` (n × d), ``D`` (d × n), and ``G.bias``,
  ``U.bias`` (n), ``D.bias`` (d);
- ``attention.gain``, ``perceptron.gain`` (d) of the norms before the two halves, ``after attention.gain``,
  ``after perceptron.gain`` of those behind them, and with ``.bias`` for ``.gain`` their biases.

Rows that turn stand first, and pair f of p is the rows f and p + f, however the file orders them. The ends
are ``E`` (V × d), ``positions`` (T × d), ``types`` (of tokens, × d), ``W`` (V × d), ``W.bias`` (V), and the
gains and biases of the norms ``embedding`` and ``final``. A tied model has no ``W``; a model without ``W``
that is not tied (BERT) gives its last vectors. Parts that a model lacks are no keys. Gains are those that
multiply: where a file stores γ − 1, as Gemma's do, 1 is added, in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agattn.algebra.scalars import Array

Arrays = Mapping[str, Array]


class LazyArrays(Mapping[str, Array]):
    """Arrays of these parts, each read or computed when it is asked for, whole or some of its rows."""

    def __init__(
        self,
        parts: Collection[str],
        rows: Callable[[str, slice], Array],
        shape: Callable[[str], tuple[int, ...]],
    ) -> None:
        self.parts, self.rows, self.shape = parts, rows, shape

    def __getitem__(self, part: str) -> Array:
        return self.rows(part, slice(None))

    def __contains__(self, part: object) -> bool:
        return part in self.parts  # and is not read

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)


@dataclass(frozen=True)
class Facts:
    """What is no weight, and must agree in two models that are the same function.

    Attributes:
        norm: "rms" divides by the root mean square; "layer" first subtracts the mean.
        eps: is added to the mean square.
        place: of the norms: "before" each half of a block, "after" each half (OLMo 2), "both" (Gemma 2), or
            "post", of the sum (BERT).
        parallel: whether both halves read the same x; with one norm, or one each.
        causal: whether a token sees the earlier ones and itself alone.
        activation: "silu", "gelu", "gelu_tanh", "relu" or "relu2".
        gated: whether the perceptron is D(act(Gu) ⊙ Uu).
        qk_norm: whether queries and keys are normalized: "", "head", each head, or "all", all heads at once.
        tied: whether the embedding is the unembedding.
        embedding_scale: multiplies what E gives.
        score_scale: multiplies scores, 1/√a in most families.
        score_cap, logit_cap: c of c·tanh(x/c), or 0.
        logit_scale: multiplies logits.
        windows: of each layer the number of tokens that a token sees, or 0 for all.
        angles: of each layer the angles by which pairs turn from a token to the next; empty without rotary
            positions.
        turning_scale: multiplies what turns, cosines and sines (1 but for YaRN and the like).
    """

    norm: Literal["rms", "layer"]
    eps: float
    place: Literal["before", "after", "both", "post"]
    parallel: bool
    causal: bool
    activation: str
    gated: bool
    qk_norm: Literal["", "head", "all"]
    tied: bool
    embedding_scale: float
    score_scale: float
    score_cap: float
    logit_cap: float
    logit_scale: float
    windows: tuple[int, ...]
    angles: tuple[tuple[float, ...], ...]
    turning_scale: float = 1.0

    def pairs(self, layer: int) -> int:
        """How many pairs of rows turn in a layer."""
        return len(self.angles[layer]) if self.angles else 0


@dataclass(frozen=True)
class Transformer:
    """A model: its facts, its ends, its blocks, and the type in which it is stored.

    ``ends`` and ``blocks`` may read an array at the moment it is asked for; nobody asks twice without need,
    and nobody holds more than one half of a block. Arrays come in float32, or in float64 if they are stored
    so.
    """

    name: str
    facts: Facts
    ends: Arrays
    blocks: Sequence[Arrays]
    dtype: str = "float64"
    left_out: tuple[str, ...] = ()  #: tensors of what is built on top of the model, such as poolers
    size: int = 0  #: the entries of all arrays that are read from files


def rows(arrays: Arrays, part: str, at: slice) -> Array:
    """Some rows of an array; only they are read where the arrays can be read in pieces.

    >>> import numpy as np
    >>> rows({"E": np.eye(3)}, "E", slice(1, 2)).tolist()
    [[0.0, 1.0, 0.0]]
    """
    if isinstance(arrays, LazyArrays):
        return arrays.rows(part, at)
    return arrays[part][at]


def shape(arrays: Arrays, part: str) -> tuple[int, ...]:
    """The shape of an array, which is not read where that can be helped."""
    return arrays.shape(part) if isinstance(arrays, LazyArrays) else arrays[part].shape


def extended(block: Arrays, part: str) -> Array:
    """A matrix, or a stack of them, in float64 with its bias as the last column."""
    W = np.asarray(block[part], float)
    bias = block.get(f"{part}.bias", np.zeros(W.shape[:-1]))
    return np.concatenate([W, np.asarray(bias, float)[..., None]], axis=-1)


def put_extended(block: dict[str, Array], **extended: Array) -> None:
    """Put matrices with biases as last columns into a block, in its types; a bias alone that it has."""
    for part, array in extended.items():
        block[part] = array[..., :-1].astype(block[part].dtype)
        if (bias := f"{part}.bias") in block:
            block[bias] = array[..., -1].astype(block[bias].dtype)
