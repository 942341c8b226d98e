"""The heads of a checkpoint, one at a time, in the layouts of common models.

- **plain**: arrays ``K``, ``Q``, ``V`` of one head (a × d, a × d, d' × d) or of several (h × a × d, ...),
  or ``A`` and ``V``;
- **bert**: ``...encoder.layer.I.attention.self.{query,key,value}.weight``, rows grouped by head;
- **gpt2**: ``...h.I.attn.c_attn.weight``, a Conv1D: d × 3d, that is transposed, with queries, keys and
  values side by side;
- **llama**: ``...layers.I.self_attn.{q,k,v}_proj.weight``, where several query heads may share one head of
  keys and values, or ``qkv_proj.weight`` with the three stacked;
- **neox**: ``...layers.I.attention.query_key_value.weight``: queries, keys and values of head 0, then those
  of head 1, and so on;
- **torch**: ``...I....in_proj_weight`` of :class:`torch.nn.MultiheadAttention`, with the three stacked.

Layers and heads count from 0. The numbers of heads are not in the tensors: they come from ``config.json``
beside the file, or are given. Biases, positions (also rotary ones), scales, softmax and normalizations are no
part of the geometry and are left out: what is read is the bilinear part KᵀQ, and V.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from agattn.algebra.scalars import Array, as_floats, matrix, scalars
from agattn.errors import InputError
from agattn.files import read_text
from agattn.geometry.identifiability.equivalence import layers_of
from agattn.geometry.identifiability.fibers import Weights, weights
from agattn.heads.weight_files import WeightFile

#: The names of weights, with the number of the layer and the part of it.
_LAYOUTS = {
    "bert": re.compile(r"(?:.*\.)?encoder\.layer\.(\d+)\.attention\.self\.(query|key|value)\.weight"),
    "gpt2": re.compile(r"(?:.*\.)?h\.(\d+)\.attn\.(c_attn)\.weight"),
    "llama": re.compile(r"(?:.*\.)?layers\.(\d+)\.self_attn\.(q|k|v|qkv)_proj\.weight"),
    "neox": re.compile(r"(?:.*\.)?layers\.(\d+)\.attention\.(query_key_value)\.weight"),
    "torch": re.compile(r"(?:(?:.*[._])?(\d+)\.)?(?:[A-Za-z]\w*\.)*(in_proj)_weight"),
}
_LONGEST_NAME = 500  # the patterns take the square of its length
_FUSED = ("c_attn", "qkv", "query_key_value", "in_proj")


@dataclass(frozen=True, eq=False)
class Head:
    """One head: its place, from 0, and float64 matrices K, Q (a × d) and V (d' × d)."""

    layer: int
    head: int
    K: Array
    Q: Array
    V: Array


class Checkpoint:
    """A checkpoint whose ``layout`` was recognised; iterating gives its heads in order.

    Args:
        file: the tensors.
        heads: in each layer, where ``config.json`` does not say.
        shared: heads of keys and values, where ``config.json`` does not say.
        parts: only tensors whose names contain all of these are looked at.

    Raises:
        InputError: if no layout fits, a tensor is missing, or the number of heads is unknown.
    """

    def __init__(
        self, file: WeightFile, heads: int | None = None, shared: int | None = None, parts: Sequence[str] = ()
    ) -> None:
        self.file = file
        self.layout, self._names = _recognise(file, parts)
        if self.layout != "plain":
            self._heads, self._shared, self._size = _head_counts(file, heads, shared)
            self._sizes = {layer: self._checked_size(layer) for layer in sorted(self._names)}

    def __len__(self) -> int:
        """The number of heads in all layers."""
        if self.layout == "plain":
            shape = self.file.shape("V")
            return shape[0] if len(shape) == 3 else 1
        return len(self._names) * self._heads

    def __iter__(self) -> Iterator[Head]:
        if self.layout == "plain":
            yield from _plain_heads(self.file)
            return
        for layer, head in product(self._sizes, range(self._heads)):
            yield self._head(layer, head)

    @property
    def groups(self) -> tuple[range, ...]:
        """The heads of each layer that share keys and values, from 0; none where no heads do."""
        if self.layout == "plain" or self._shared == self._heads:
            return ()
        size = self._heads // self._shared
        return tuple(range(first, first + size) for first in range(0, self._heads, size))

    def head(self, layer: int | None, head: int | None) -> Head:
        """One head of a checkpoint that is not plain.

        Raises:
            InputError: if the layer or the head is not given, or does not exist.
        """
        layers = list(self._sizes)
        here = f"layers {layers[0]} to {layers[-1]} with heads 0 to {self._heads - 1}"
        if layer is None or head is None:
            raise InputError(f"{self.file.paths[0]} has {here}; choose a head by --layer and --head")
        if layer not in layers or not 0 <= head < self._heads:
            raise InputError(f"{self.file.paths[0]} has no layer {layer}, head {head}; it has {here}")
        return self._head(layer, head)

    def _checked_size(self, layer: int) -> int:
        """The rows of one head, where the tensors of a layer have the shapes that they must have."""
        names, q, kv = self._names[layer], self._heads, self._shared
        if self.layout in ("neox", "torch") and q != kv:
            raise InputError(
                f"{kv} heads of keys and values for {q} heads; {names['fused']} has as many of both"
            )
        heads = {"fused": q + 2 * kv} if "fused" in names else {"q": q, "k": kv, "v": kv}
        if missing := set(heads) - set(names):
            present = next(iter(names.values()))
            raise InputError(
                f"layer {layer} has {present}, but no tensor of its {', '.join(sorted(missing))}"
            )
        size = d = 0
        for letter, number in heads.items():
            shape = self.file.shape(names[letter])
            if len(shape) != 2:
                raise InputError(f"{names[letter]} has the shape {shape}; it must be a matrix")
            turn = -1 if self.layout == "gpt2" else 1
            rows, columns = shape[::turn]
            size, d = size or self._size or rows // number, d or columns
            expected = (number * size, d)[::turn]
            if shape != expected or not size:
                raise InputError(
                    f"{names[letter]} is {shape[0]} × {shape[1]}; with {q} heads and {kv} of keys it should"
                    f" be {expected[0]} × {expected[1]}; give --heads and --kv-heads"
                )
        return size

    def _head(self, layer: int, head: int) -> Head:
        names, size = self._names[layer], self._sizes[layer]
        group = head // (self._heads // self._shared)
        places = {"q": (head, 0), "k": (group, self._heads), "v": (group, self._heads + self._shared)}
        found = {}
        for letter, (place, before) in places.items():
            name = names.get("fused", names.get(letter, ""))
            start = (place + before * ("fused" in names)) * size
            if self.layout == "neox":  # head by head
                start = (3 * head + "qkv".index(letter)) * size
            rows = slice(start, start + size)
            gpt2 = self.layout == "gpt2"
            part = self.file.part(name, slice(None), rows).T if gpt2 else self.file.part(name, rows)
            found[letter] = as_floats(matrix(part, f"{name}, head {head}"))
        return Head(layer, head, found["k"], found["q"], found["v"])


def read_weights(
    file: WeightFile, layer: int | None = None, head: int | None = None, **counts: Any
) -> tuple[tuple[Weights, ...], ...]:
    """The weights in a file as layers of heads; or one head of them, or of a checkpoint.

    Args:
        file: arrays V and A, or K, Q and V, as :func:`agattn.geometry.identifiability.equivalence.layers_of`
            reads them; or a checkpoint.
        layer, head: which head, from 0; needed for a checkpoint.
        counts: ``heads``, ``shared``, ``parts`` of a :class:`Checkpoint`.

    Raises:
        InputError: if there is no such head, or no weights.
    """
    if not any(re.fullmatch(r"V(_[1-9]\d*)?", name) for name in file):
        found = Checkpoint(file, **counts).head(layer, head)
        return ((weights(K=found.K, Q=found.Q, V=found.V),),)
    network = layers_of(file)
    if layer is None and head is None:
        return network
    if layer is None and len(network) > 1:
        raise InputError(
            f"{file.paths[0]} has {len(network)} layers; choose a layer by --layer, counted from 0"
        )
    chosen = network[layer or 0] if 0 <= (layer or 0) < len(network) else ()
    if head is None:
        if chosen:
            return (chosen,)
    elif 0 <= head < len(chosen):
        return ((chosen[head],),)
    there = "; ".join(f"layer {n}, heads 0 to {len(heads) - 1}" for n, heads in enumerate(network))
    raise InputError(f"{file.paths[0]} has no layer {layer or 0}, head {head or 0}; it has {there}")


def _recognise(file: WeightFile, parts: Sequence[str]) -> tuple[str, dict[int, dict[str, str]]]:
    """The layout, and for each layer the names of the tensors "q", "k", "v", or of one tensor "fused"."""
    found: dict[str, dict[int, dict[str, str]]] = {layout: {} for layout in _LAYOUTS}
    for name in (name for name in file if len(name) < _LONGEST_NAME):
        for layout, pattern in _LAYOUTS.items():
            if (match := pattern.fullmatch(name)) and all(part in name for part in parts):
                part = "fused" if match[2] in _FUSED else match[2][0]
                other = found[layout].setdefault(int(match[1] or 0), {}).setdefault(part, name)
                if other != name:
                    raise InputError(
                        f"layer {match[1] or 0} is both in {other} and in {name}; give --match with a part of"
                        " the names to read"
                    )
    layouts = [layout for layout, layers in found.items() if layers]
    if len(layouts) == 1:
        return layouts[0], found[layouts[0]]
    if layouts:
        raise InputError(
            f"{file.paths[0]} holds layers of several layouts ({', '.join(layouts)}); give --match with a"
            " part of the names to read"
        )
    if not parts and "V" in file and ("A" in file or {"K", "Q"} <= set(file)):
        return "plain", {}
    some = ", ".join(list(file)[:4]) or "no arrays"
    named = f" with {', '.join(parts)} in their names" if parts else ""
    raise InputError(
        f"{file.paths[0]} has no attention weights{named} in a layout that agattn reads (BERT, GPT-2, "
        f"Llama, GPT-NeoX, torch's MultiheadAttention, or arrays K, Q, V); the file holds {some}"
    )


def _head_counts(file: WeightFile, heads: int | None, shared: int | None) -> tuple[int, int, int | None]:
    """The heads of queries in a layer, those of keys and values, and the head dimension where it is told."""
    config: dict[str, Any] = {}
    path = (file.paths[0] if file.paths[0].is_dir() else file.paths[0].parent) / "config.json"
    if heads is None and path.is_file():
        text = read_text(path)
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path} is not JSON: {error}; give --heads") from None
        config = document if isinstance(document, dict) else {}
    number = heads if heads is not None else config.get("num_attention_heads", config.get("n_head"))
    groups = shared if shared is not None else config.get("num_key_value_heads", number)
    if number is None:
        raise InputError(f"the number of heads is in no config.json beside {file.paths[0]}; give --heads")
    size = config.get("head_dim")
    for name, value in (("heads", number), ("heads of keys and values", groups), ("head_dim", size or 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"the number of {name} is {value!r}; it must be a whole number of at least 1")
    assert isinstance(number, int) and isinstance(groups, int)
    if number % groups:
        raise InputError(f"{number} heads cannot share {groups} heads of keys and values")
    return number, groups, size


def refuse_counts(file: WeightFile, heads: int | None, shared: int | None) -> None:
    """Refuse numbers of heads for arrays K, Q, V or A, V.

    Raises:
        InputError: if a number is given.
    """
    given = [name for name, number in (("--heads", heads), ("--kv-heads", shared)) if number is not None]
    if given:
        raise InputError(
            f"{file.paths[0]} holds matrices K, Q, V or A, V, one for each head; leave out "
            f"{' and '.join(given)}"
        )


def _plain_heads(file: WeightFile) -> Iterator[Head]:
    V = as_floats(scalars(file["V"], "V"))
    if "A" in file:
        A = as_floats(scalars(file["A"], "A"))
        if A.ndim in (2, 3) and A.shape[-1] != A.shape[-2]:
            raise InputError(f"A has the shape {A.shape}; it must be square")
        K, Q = (np.broadcast_to(np.eye(A.shape[-1]), A.shape), A) if A.ndim in (2, 3) else (A, A)
    else:
        K, Q = (as_floats(scalars(file[letter], letter)) for letter in "KQ")
    arrays = [M[None] if M.ndim == 2 else M for M in (K, Q, V)]
    if any(M.ndim != 3 for M in arrays) or len({len(M) for M in arrays}) > 1:
        shapes = ", ".join(str(M.shape) for M in (K, Q, V))
        raise InputError(f"K, Q and V have the shapes {shapes}; they must be matrices, or h matrices each")
    for head, (k, q, v) in enumerate(zip(*arrays, strict=True)):
        yield Head(0, head, k, q, v)
