"""The heads of a checkpoint, one at a time, in the layouts of common models.

- **plain**: arrays ``K``, ``Q``, ``V`` of one head (a × d, a × d, d' × d) or of several (h × a × d, ...),
  or ``A`` and ``V``;
- **bert**: ``...encoder.layer.I.attention.self.{query,key,value}.weight``, rows grouped by head;
- **gpt2**: ``...h.I.attn.c_attn.weight``, a Conv1D: d × 3d, that is transposed, with queries, keys and
  values side by side;
- **llama**: ``...layers.I.self_attn.{q,k,v}_proj.weight``, where several query heads may share one head of
  keys and values, or ``qkv_proj.weight`` with the three stacked.

The numbers of heads are not in the tensors: they come from ``config.json`` beside the file, or are given.
Biases, positions (also rotary ones), scales and normalizations are left out: what is read is the
bilinear part KᵀQ, and V.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from agattn.algebra.scalars import Array, as_floats, matrix, scalars
from agattn.errors import InputError
from agattn.heads.weight_files import WeightFile

_BERT = re.compile(r"(?:^|.*\.)encoder\.layer\.(\d+)\.attention\.self\.(query|key|value)\.weight")
_GPT2 = re.compile(r"(?:^|.*\.)h\.(\d+)\.attn\.c_attn\.weight")
_LLAMA = re.compile(r"(?:^|.*\.)layers\.(\d+)\.self_attn\.(q|k|v|qkv)_proj\.weight")


@dataclass(frozen=True, eq=False)
class Head:
    """One head: its place, from 0, and float64 matrices K, Q (a × d) and V (d' × d)."""

    layer: int
    head: int
    K: Array
    Q: Array
    V: Array


@dataclass(frozen=True)
class HeadCounts:
    """How many heads there are.

    Attributes:
        heads: of queries, per layer.
        shared: of keys and values; fewer than ``heads`` for grouped queries.
        size: the head dimension, where it is not the number of rows divided by that of heads.
    """

    heads: int
    shared: int
    size: int | None = None


class Checkpoint:
    """A checkpoint whose layout was recognised: its number of heads, and the heads in order.

    Raises:
        InputError: if no layout fits, a tensor is missing, or the number of heads is unknown.
    """

    def __init__(self, file: WeightFile, heads: int | None = None, shared: int | None = None) -> None:
        self.file = file
        self._given = heads, shared
        self.layout, self._names = _recognise(file)
        if self.layout != "plain":
            self.counts = _head_counts(file, heads, shared)
            for layer in self.layers:
                self._check(layer)

    @property
    def layers(self) -> list[int]:
        """The numbers of the layers."""
        return sorted(self._names) if self.layout != "plain" else [0]

    def __len__(self) -> int:
        """The number of heads in all layers."""
        if self.layout == "plain":
            name = "V"
            shape = self.file.shape(name)
            return shape[0] if len(shape) == 3 else 1
        return len(self.layers) * self.counts.heads

    def __iter__(self) -> Iterator[Head]:
        if self.layout == "plain":
            yield from _plain_heads(self.file)
            return
        for layer in self.layers:
            for head in range(self.counts.heads):
                yield self._head(layer, head)

    def _sizes(self, layer: int) -> tuple[int, int]:
        """The rows of one head, and the columns d."""
        names = self._names[layer]
        if self.layout == "gpt2":
            d, width = self.file.shape(names["fused"])
            return width // (3 * self.counts.heads), d
        name = names.get("q", names.get("fused", ""))
        rows, d = self.file.shape(name)
        total = self.counts.heads if "q" in names else self.counts.heads + 2 * self.counts.shared
        return self.counts.size or rows // total, d

    def _check(self, layer: int) -> None:
        names, counts = self._names[layer], self.counts
        wanted = {"fused"} if "fused" in names else {"q", "k", "v"}
        if missing := wanted - set(names):
            present = next(iter(names.values()))
            raise InputError(
                f"layer {layer} has {present}, but no tensor of its {', '.join(sorted(missing))}"
            )
        for name in names.values():
            if len(self.file.shape(name)) != 2:
                raise InputError(f"{name} has the shape {self.file.shape(name)}; it must be a matrix")
        size, d = self._sizes(layer)
        q, kv = counts.heads * size, counts.shared * size
        if self.layout == "gpt2":
            expected = {"fused": (d, 3 * q)}
        elif "fused" in names:
            expected = {"fused": (q + 2 * kv, d)}
        else:
            expected = {"q": (q, d), "k": (kv, d), "v": (kv, d)}
        for letter, shape in expected.items():
            found = self.file.shape(names[letter])
            if found != shape or not size:
                raise InputError(
                    f"{names[letter]} is {found[0]} × {found[1]}; with {counts.heads} heads"
                    f" and {counts.shared} of keys it should be {shape[0]} × {shape[1]};"
                    " give --heads and --kv-heads"
                )

    def _head(self, layer: int, head: int) -> Head:
        names, counts = self._names[layer], self.counts
        size, _ = self._sizes(layer)
        group = head // (counts.heads // counts.shared)
        starts = {"q": head * size, "k": group * size, "v": group * size}
        found = {}
        for letter, start in starts.items():
            if "fused" in names:
                before = {"q": 0, "k": counts.heads * size, "v": (counts.heads + counts.shared) * size}
                start += before[letter]
            rows = slice(start, start + size)
            name = names.get("fused", names.get(letter, ""))
            if self.layout == "gpt2":
                part = self.file.part(name, slice(None), rows).T
            else:
                part = self.file.part(name, rows)
            found[letter] = _floats(part, f"{name}, head {head}")
        return Head(layer, head, found["k"], found["q"], found["v"])


def _floats(part: Any, name: str) -> Array:
    return as_floats(matrix(part, name))


def _recognise(file: WeightFile) -> tuple[str, dict[int, dict[str, str]]]:
    found: dict[str, dict[int, dict[str, str]]] = {"bert": {}, "gpt2": {}, "llama": {}}
    for name in file:
        if match := _BERT.fullmatch(name):
            found["bert"].setdefault(int(match[1]), {})[match[2][0]] = name
        elif match := _GPT2.fullmatch(name):
            found["gpt2"].setdefault(int(match[1]), {})["fused"] = name
        elif match := _LLAMA.fullmatch(name):
            found["llama"].setdefault(int(match[1]), {})["fused" if match[2] == "qkv" else match[2]] = name
    layouts = [layout for layout, layers in found.items() if layers]
    if len(layouts) == 1:
        return layouts[0], found[layouts[0]]
    if layouts:
        raise InputError(f"holds layers of several layouts ({', '.join(layouts)}); give one model")
    if "V" in file and ("A" in file or {"K", "Q"} <= set(file)):
        return "plain", {}
    some = ", ".join(list(file)[:4]) or "none"
    raise InputError(
        f"has no attention weights in a layout that is read (BERT, GPT-2, Llama, or arrays K, Q, V);"
        f" it has {some}"
    )


def _head_counts(file: WeightFile, heads: int | None, shared: int | None) -> HeadCounts:
    config: dict[str, Any] = {}
    path = file.paths[0].parent / "config.json"
    if heads is None and path.is_file():
        try:
            document = json.loads(path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{path} is not JSON: {error}; give --heads") from None
        config = document if isinstance(document, dict) else {}
    number = heads if heads is not None else config.get("num_attention_heads", config.get("n_head"))
    groups = shared if shared is not None else config.get("num_key_value_heads", number)
    if number is None:
        raise InputError(
            f"the number of heads is in no config.json beside {file.paths[0].name}; give --heads"
        )
    size = config.get("head_dim")
    for name, value in (("heads", number), ("heads of keys and values", groups), ("head_dim", size or 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"the number of {name} is {value!r}; it must be a whole number of at least 1")
    assert isinstance(number, int) and isinstance(groups, int)
    if number % groups:
        raise InputError(f"{number} heads cannot share {groups} heads of keys and values")
    return HeadCounts(number, groups, size)


def _plain_heads(file: WeightFile) -> Iterator[Head]:
    V = as_floats(scalars(file["V"], "V"))
    if "A" in file:
        A = as_floats(scalars(file["A"], "A"))
        K, Q = (np.broadcast_to(np.eye(A.shape[-1]), A.shape), A) if A.ndim in (2, 3) else (A, A)
    else:
        K, Q = (as_floats(scalars(file[letter], letter)) for letter in "KQ")
    arrays = [M[None] if M.ndim == 2 else M for M in (K, Q, V)]
    if any(M.ndim != 3 for M in arrays) or len({len(M) for M in arrays}) > 1:
        shapes = ", ".join(str(M.shape) for M in (K, Q, V))
        raise InputError(f"K, Q and V have the shapes {shapes}; they must be matrices, or h matrices each")
    for head, (k, q, v) in enumerate(zip(*arrays, strict=True)):
        yield Head(0, head, k, q, v)
