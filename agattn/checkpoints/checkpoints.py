"""The heads of a checkpoint, one at a time.

How tensors are named and packed is said in ``families.toml``. Beside these layouts there are

- **plain**: arrays ``K``, ``Q``, ``V`` of one head (a × d, a × d, d' × d) or of several (h × a × d, ...),
  or ``A`` and ``V``;
- **torch**: ``...I....in_proj_weight`` of :class:`torch.nn.MultiheadAttention`, with queries, keys and values
  one below the other;
- **names**: matrices whose names are given, with the heads one below the other.

Layers and heads count from 0. The numbers of heads are in the shapes of TransformerLens alone: else they
come from ``config.json`` beside the file, or are given. Biases, positions (also rotary ones), scales, softmax
and normalizations are no part of the geometry and are left out: what is read is the bilinear part KᵀQ, and V.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from agattn.algebra.scalars import Array, as_floats, coarsest, matrix
from agattn.checkpoints.families import Family, Layout, common, find
from agattn.checkpoints.published import Published, from_config
from agattn.checkpoints.weight_files import WeightFile
from agattn.errors import InputError, argument, nearest, verb
from agattn.geometry.identifiability.weights import Weights, layers_of, weights

TORCH = Layout(fused=r"in_proj_weight", packing="stacked")
_TORCH_NAME = re.compile(r"(?:(?:.*[._])?(\d+)\.)?(?:[A-Za-z]\w*\.)*in_proj_weight")
_NAMES = "K=h.{layer}.k.weight,Q=h.{layer}.q.weight,V=h.{layer}.v.weight"
_LONGEST_NAME = 500  # the patterns take the square of its length
#: The ends of names beside quantized weights, and the formats.
_QUANTIZED = {
    "SCB": "bitsandbytes int8", "absmax": "bitsandbytes 4 bit", "quant_map": "bitsandbytes 4 bit",
    "qweight": "GPTQ or AWQ", "qzeros": "GPTQ or AWQ", "weight_packed": "compressed-tensors",
    "weight_scale": "scaled FP8 or int8", "weight_scale_inv": "scaled FP8", "scales": "scaled integers",
}  # fmt: skip


#: Of each layer the names of the tensors "q", "k", "v", or of one tensor "fused"; and the same by layout.
Layers = dict[int, dict[str, str]]
Layouts = dict[str, Layers]
#: The parts of a layout, with patterns of the names of their tensors.
Patterns = list[tuple[str, re.Pattern[str]]]


@dataclass(frozen=True, eq=False)
class Head:
    """One head: its place, from 0, float64 matrices K, Q (a × d) and V (d' × d), and the type they had."""

    layer: int
    head: int
    K: Array
    Q: Array
    V: Array
    dtype: str = "float64"

    @property
    def place(self) -> str:
        """Where the head is, in words."""
        return f"layer {self.layer}, head {self.head}"


class Checkpoint:
    """A checkpoint whose ``layout`` was recognised; iterating gives its heads in order.

    Args:
        file: the tensors.
        heads: in each layer, where ``config.json`` does not say.
        kv_heads: heads of keys and values, where ``config.json`` does not say.
        match: only tensors whose names contain this, or all of these, are looked at.
        family: as which family ``config.json`` is read and the tensors are packed.
        ignore: keys of ``config.json`` that are passed over.
        names: of the tensors K, Q and V, and O, which is not read, with {layer} for the number of the layer.

    Raises:
        InputError: if no layout fits, a tensor is missing or quantized, or the number of heads is unknown.
    """

    def __init__(
        self,
        file: WeightFile,
        heads: int | None = None,
        kv_heads: int | None = None,
        match: str | Sequence[str] = (),
        family: str | None = None,
        ignore: str | Sequence[str] = (),
        names: str | Mapping[str, str] | None = None,
    ) -> None:
        self.file, parts = file, (match,) if isinstance(match, str) else match
        layouts = _found(file, parts, _patterns()) if names is None else _named(file, parts, names)
        if not layouts and not parts and "V" in file and ("A" in file or {"K", "Q"} <= set(file)):
            refuse_counts(file, heads, kv_heads)
            self.layout = "plain"
            return
        refuse_quantized(file, parts)
        if not layouts:
            raise InputError(_nothing(file, parts))
        heads = self._stacked(layouts, "q") if heads is None else heads
        shared = self._stacked(layouts, "k") if kv_heads is None else kv_heads
        self.config = _config(file, family, ignore) if heads is None else None
        family_name = family or (self.config.family if self.config else None)
        of = None if family_name is None else find(None, family_name)
        self._heads = heads or (self.config.heads if self.config else 0)
        self._given = shared if shared is not None or self.config else self._heads
        if self._given and self._heads % self._given:
            raise InputError(f"{self._heads} heads cannot share {self._given} heads of keys and values")
        self._gate = of.output_gate if of else False
        self.layout, self._names = self._chosen(layouts, of)
        self._sizes = {layer: self._checked_size(layer) for layer in sorted(self._names)}

    def __len__(self) -> int:
        """The number of heads in all layers."""
        if self.layout == "plain":
            return len(layers_of(self.file)[0])
        return len(self._names) * self._heads

    @property
    def size(self) -> int:
        """The entries of all its tensors of keys, queries and values."""
        names = {name for of_layer in self._names.values() for name in of_layer.values()}
        return sum(prod(self.file.shape(name)) for name in names)

    def __iter__(self) -> Iterator[Head]:
        if self.layout == "plain":
            yield from _plain_heads(self.file)
            return
        for layer, head in product(self._sizes, range(self._heads)):
            yield self._head(layer, head)

    def group(self, head: Head) -> range:
        """The heads that share keys and values with a head of a checkpoint that is not plain, from 0."""
        size = self._heads // self._shared(head.layer)
        first = head.head // size * size
        return range(first, first + size)

    def head(self, layer: int | None, head: int | None) -> Head:
        """One head of a checkpoint that is not plain.

        Raises:
            InputError: if the layer or the head is not given, or does not exist.
        """
        layers = list(self._sizes)
        here = f"layers {layers[0]} to {layers[-1]} with heads 0 to {self._heads - 1}"
        if layer is None or head is None:
            raise InputError(
                f"{self.file.name} has {here}; choose a head by {argument('layer')} and {argument('head')}"
            )
        if layer not in layers or not 0 <= head < self._heads:
            raise InputError(f"{self.file.name} has no layer {layer}, head {head}; it has {here}")
        return self._head(layer, head)

    def _shared(self, layer: int) -> int:
        """The heads of keys and values of a layer."""
        if self._given is not None:
            return self._given
        assert self.config is not None
        shared = self.config.shared[layer] if layer < len(self.config.shared) else None
        if shared is None:
            raise InputError(
                f"there are tensors of layer {layer}, and config.json has no attention there; give "
                f"{argument('heads')}"
            )
        return shared

    def _stacked(self, layouts: Layouts, part: str) -> int | None:
        """How many heads an array has that has an axis for them; ``None`` if there is no such array."""
        for layout, layers in layouts.items():
            name = layers[min(layers)].get(part)
            if _layout(layout).by_head and name is not None:
                return next(iter(self.file.shape(name)), None)
        return None

    def _chosen(self, layouts: Layouts, family: Family | None) -> tuple[str, Layers]:
        """The layout among those whose names there are, and the names."""
        if "names" in layouts:
            return "names", layouts["names"]
        path, examples = self.file.name, {name: next(iter(of.values())) for name, of in layouts.items()}
        if len({tuple(names.values()) for names in examples.values()}) > 1:
            raise InputError(
                f"{path} holds layers of several layouts ({', '.join(layouts)}); give {argument('match')}"
                " with a part of the names to read"
            )
        if family is not None and family.layout not in layouts:
            own = common().layouts[family.layout].names.values() if family.layout else ["none that are read"]
            there = next(iter(next(iter(examples.values())).values()))
            raise InputError(
                f"{path} holds {there}; the matrices of a model of the family {family.name} are"
                f" {', '.join(own).replace('{}', 'N')}; give {argument('family')} or {argument('heads')}"
            )
        name = next(iter(layouts)) if family is None else family.layout
        if name in ("gpt2", "nanogpt"):
            name = self._turned(layouts[name])
        return name, layouts[name]

    def _turned(self, names: Layers) -> str:
        """Whether ``c_attn`` is a Conv1D, d × 3d, as in GPT-2, or a Linear, 3d × d, as in nanoGPT."""
        first = names[min(names)]["fused"]
        shape, q, kv = self.file.shape(first), self._heads, self._shared(min(names))
        width = self.config.dim if self.config else None
        if len(shape) == 2:
            for name, (d, rows) in (("gpt2", shape), ("nanogpt", shape[::-1])):
                if rows * q == d * (q + 2 * kv) and width in (None, d):
                    return name
        wide = f" and the width {width}" if width else ""
        raise InputError(
            f"{first} is {' × '.join(map(str, shape))}; with {q} heads and {kv} of keys{wide} it is neither a"
            f" Conv1D, as in GPT-2, nor a Linear, as in nanoGPT; give {argument('heads')} and "
            f"{argument('kv_heads')}"
        )

    def _checked_size(self, layer: int) -> int:
        """The rows of one head, where the tensors of a layer have the shapes that they must have."""
        names, q, kv = self._names[layer], self._heads, self._shared(layer)
        if self.layout == "torch" and q != kv:
            raise InputError(
                f"{kv} heads of keys and values for {q} heads; {names['fused']} has as many of both"
            )
        heads = {"fused": q + 2 * kv} if "fused" in names else {"q": q * (1 + self._gate), "k": kv, "v": kv}
        if missing := set(heads) - set(names):
            present = next(iter(names.values()))
            raise InputError(
                f"layer {layer} has {present}, but no tensor of its {', '.join(sorted(missing))}"
            )
        size, d = (self.config.rank, self.config.dim) if self.config else (0, 0)
        for letter, number in heads.items():
            shape = self.file.shape(names[letter])
            if self.file.dtype(names[letter]) == "exact":
                raise InputError(f"{names[letter]} holds integers; quantized weights are not read")
            layout = _layout(self.layout)
            if len(shape) != 2 + layout.by_head:
                kind = "of heads × inputs × rows of a head" if layout.by_head else "a matrix"
                raise InputError(f"{names[letter]} has the shape {shape}; it must be {kind}")
            turn = -1 if layout.transposed or layout.by_head else 1
            rows, columns = shape[-2:][::turn]
            size, d = size or (rows if layout.by_head else rows // number), d or columns
            expected = (number, d, size) if layout.by_head else (number * size, d)[::turn]
            if shape != expected or not size or not number:
                there, fits = (" × ".join(map(str, sizes)) for sizes in (shape, expected))
                instead = f"give {argument('heads')} and {argument('kv_heads')}"
                if letter in "kv" and columns != d:
                    part = "a part of the names to read"
                    instead = f"cross-attention is not read; give {argument('match')} with {part}"
                raise InputError(
                    f"{names[letter]} is {there}; with {q} heads and {kv} of keys it should be {fits};"
                    f" {instead}"
                )
        return size

    def _head(self, layer: int, head: int) -> Head:
        names, size, layout = self._names[layer], self._sizes[layer], _layout(self.layout)
        shared = self._shared(layer)
        together = self._heads // shared
        group, member = divmod(head, together)
        places = {"q": head, "k": group, "v": group}
        if layout.packing == "stacked":
            places = {"q": head, "k": self._heads + group, "v": self._heads + shared + group}
        elif layout.packing == "by group":
            first = group * (together + 2)
            places = {"q": first + member, "k": first + together, "v": first + together + 1}
        arrays, types = {}, list[str]()
        for letter, at in places.items():
            name = names.get("fused", names.get(letter, ""))
            start = at * size * (1 + (self._gate and letter == "q"))
            rows = slice(start, start + size)
            if layout.by_head:
                part = self.file.part(name, slice(at, at + 1))[0]
            else:
                part = self.file.part(name, *((slice(None), rows) if layout.transposed else (rows,)))
            part = part.T if layout.transposed or layout.by_head else part
            types.append(self.file.dtype(name))
            arrays[letter] = as_floats(matrix(part, f"{name}, head {head}"))
        return Head(layer, head, arrays["k"], arrays["q"], arrays["v"], coarsest(types))


def read_weights(
    file: WeightFile, layer: int | None = None, head: int | None = None, **counts: Any
) -> tuple[tuple[Weights, ...], ...]:
    """The weights in a file as layers of heads; or one head of them, or of a checkpoint.

    Args:
        file: arrays V and A, or K, Q and V, as :func:`agattn.geometry.identifiability.weights.layers_of`
            reads them; or a checkpoint.
        layer, head: which head, from 0; needed for a checkpoint.
        counts: heads, kv_heads, match, family, ignore and names of a :class:`Checkpoint`.

    Raises:
        InputError: if there is no such head, or no weights.
    """
    if counts.get("names") is not None or not is_plain(file):
        chosen = Checkpoint(file, **counts).head(layer, head)
        return ((replace(weights(K=chosen.K, Q=chosen.Q, V=chosen.V), dtype=chosen.dtype),),)
    network = layers_of(file)
    if layer is None and head is None:
        return network
    if layer is None and len(network) > 1:
        raise InputError(
            f"{file.name} has {len(network)} layers; choose a layer by {argument('layer')}, counted from 0"
        )
    heads = network[layer or 0] if 0 <= (layer or 0) < len(network) else ()
    if head is None:
        if heads:
            return (heads,)
    elif 0 <= head < len(heads):
        return ((heads[head],),)
    there = "; ".join(f"layer {n}, heads 0 to {len(row) - 1}" for n, row in enumerate(network))
    raise InputError(f"{file.name} has no layer {layer or 0}, head {head or 0}; it has {there}")


def is_plain(names: Iterable[Any]) -> bool:
    """Whether arrays of these names are those of layers: a V, or a V_1."""
    return any(re.fullmatch(r"V(_[1-9]\d*)?", str(name)) for name in names)


@cache
def _patterns() -> dict[str, Patterns]:
    """The names of tensors by layout: the part, and a pattern with the number of the layer."""
    patterns = {}
    for layout, described in common().layouts.items():
        names = {part: _pattern(name, "{}").replace(r"\*", "[^.]*") for part, name in described.names.items()}
        patterns[layout] = [(part, re.compile(rf"(?:.*\.)?{name}")) for part, name in names.items()]
    return patterns | {"torch": [("fused", _TORCH_NAME)]}


def _pattern(name: str, layer: str) -> str:
    """A name with something that stands for the number of the layer, as a regular expression."""
    return re.escape(name).replace(re.escape(layer), r"(\d+)")


def _layout(name: str) -> Layout:
    return {"torch": TORCH, "names": Layout(), **common().layouts}[name]


def _named(file: WeightFile, parts: Sequence[str], names: str | Mapping[str, str]) -> Layouts:
    """As :func:`_found`, for names that are given for K, Q and V, and for O, which is not read.

    Raises:
        InputError: if a name is missing, does not fit every layer, or is that of no tensor.
    """
    option, given = argument("names"), dict[str, str]()
    pairs = (
        (part.partition("=")[::2] for part in names.split(",")) if isinstance(names, str) else names.items()
    )
    for letter, name in pairs:
        problem = ""
        if letter not in (*"KQVO",):
            problem = "the letters are K, Q, V and O"
        elif letter in given or name in given.values():
            problem = "each of K, Q and V has one name, and a tensor of its own"
        elif name.count("{layer}") != 1:
            problem = "write {layer} once, for the number of the layer"
        if problem:
            raise InputError(f"{option} has {letter}={name}; {problem}, as in {_NAMES}")
        given[letter] = name
    if missing := set("KQV") - set(given):
        raise InputError(f"{option} says no name of {', '.join(sorted(missing))}; give all, as in {_NAMES}")
    patterns = [(letter.lower(), re.compile(_pattern(name, "{layer}"))) for letter, name in given.items()]
    layouts = _found(file, parts, {"names": patterns})
    layers = layouts.get("names", {}).values()
    for letter, name in given.items():
        if not any(letter.lower() in tensors for tensors in layers):
            hint = nearest(name.replace("{layer}", "0"), file, f"; there are {', '.join([*file][:4])}")
            raise InputError(f"{option} has {letter}={name}, and {file.name} has no such tensor{hint}")
    return layouts


def _found(file: WeightFile, parts: Sequence[str], patterns: Mapping[str, Patterns]) -> Layouts:
    """The names of the tensors of layers in each layout that some of them have."""
    layouts: Layouts = {}
    for name in (name for name in file if len(name) < _LONGEST_NAME and all(part in name for part in parts)):
        for layout, of in patterns.items():
            for part, pattern in of:
                if (match := pattern.fullmatch(name)) is None:
                    continue
                layer = int(match[1] or 0)
                other = layouts.setdefault(layout, {}).setdefault(layer, {}).setdefault(part, name)
                if other != name:
                    raise InputError(
                        f"layer {layer} is both in {other} and in {name}; give {argument('match')} with a"
                        " part of the names to read"
                    )
    return layouts


def refuse_quantized(file: WeightFile, parts: Sequence[str]) -> None:
    """Refuse weights that are integers with scales beside them."""
    for name in file:
        ending = name.rpartition(".")[2]
        if ending in _QUANTIZED and all(part in name for part in parts):
            raise InputError(
                f"{file.name} holds {name}: its weights are quantized ({_QUANTIZED[ending]}), which is"
                " not read; save the model in float32, float16 or bfloat16"
            )


def _nothing(file: WeightFile, parts: Sequence[str]) -> str:
    some = ", ".join(list(file)[:4]) or "no arrays"
    named = f" with {', '.join(parts)} in their names" if parts else ""
    return (
        f"{file.name} has no attention weights{named} in a layout that agattn reads (BERT, GPT-2, "
        f"Llama, GPT-NeoX, timm, diffusers, TransformerLens, torch's MultiheadAttention, or arrays K, Q, V);"
        f" it holds {some}; for other names see {argument('names')} of {verb('classify')}"
    )


def _config(file: WeightFile, family: str | None, ignore: str | Sequence[str]) -> Published:
    """The ``config.json`` beside the file."""
    beside = [(path if path.is_dir() else path.parent) / "config.json" for path in file.paths[:1]]
    if not any(path.is_file() for path in beside):
        raise InputError(
            f"the number of heads is in no config.json beside {file.name}; give {argument('heads')}"
        )
    try:
        return from_config(beside[0], family=family, ignore=ignore)
    except InputError as error:
        raise InputError(f"{error}; or give {argument('heads')}") from None


def refuse_counts(file: WeightFile, heads: int | None, shared: int | None) -> None:
    """Refuse numbers of heads for arrays K, Q, V or A, V.

    Raises:
        InputError: if a number is given.
    """
    counts = {"heads": heads, "kv_heads": shared}
    given = [argument(name) for name, number in counts.items() if number is not None]
    if given:
        raise InputError(
            f"{file.name} holds matrices K, Q, V or A, V, one for each head; leave out {' and '.join(given)}"
        )


def _plain_heads(file: WeightFile) -> Iterator[Head]:
    for number, w in enumerate(layers_of(file)[0]):
        K, Q = (np.eye(len(w.A)), w.A) if w.K is None or w.Q is None else (w.K, w.Q)
        yield Head(0, number, as_floats(K), as_floats(Q), as_floats(w.V), w.dtype)
