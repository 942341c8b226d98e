r"""Whole transformers, read from checkpoints and written back.

Which tensors are which parts, and which keys of ``config.json`` say what is no weight, is said in
``families.toml``. In code there are the packing of several parts in a tensor, the orientation of matrices,
and the order of rows that turn in pairs. An array is read when it is asked for, so that no more than it is in
memory. What is not understood is refused: a tensor that is no part, a key that makes another function. The
angles of rotary positions are computed here.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from fnmatch import fnmatchcase
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from agattn.algebra.scalars import Array, coarsest
from agattn.calls import is_number, refuse_unless, shown
from agattn.checkpoints.checkpoints import refuse_quantized
from agattn.checkpoints.families import Storage, boolean, common, families, wholes
from agattn.checkpoints.folding import SECONDS
from agattn.checkpoints.published import Published, from_config
from agattn.checkpoints.stored import Arrays, Facts, LazyArrays, Transformer, rows, shape
from agattn.checkpoints.weight_files import StateDict, WeightFile
from agattn.errors import InputError
from agattn.files import about, parsed, read_text, write
from agattn.workers import threads

#: Where tensors come from, and the keys of their configuration.
Source = str | Path | WeightFile | Mapping[str, Any]
Config = str | Path | Mapping[str, Any] | None
#: Of each tensor the layer, none for the ends, and the parts that it holds.
Claims = dict[str, tuple[int | None, list[str]]]

#: The parts of a block whose biases the letters of families say.
_LETTERS = {"q": "Q", "k": "K", "v": "P", "o": "O"}
#: The parts that are fewer with fewer sets, and the key of a configuration that says how many there are.
SHARED = {"K", "P", "K.bias", "P.bias"}
_KV_HEADS = "num_key_value_heads"
#: The sizes of parts; those of a bias are the sizes of its matrix but for the last, if nothing else is said.
SHAPES = {
    "Q": "Had", "K": "gad", "P": "gad", "O": "Hda", "O.bias": "d", "G": "nd", "U": "nd", "D": "dn",
    "E": "Vd", "W": "Vd", "positions": "Td", "types": "td",
}  # fmt: skip
#: The bytes that are copied at a time.
_PIECE = 2**24


def read_transformer(source: Source, config: Config = None) -> Transformer:
    """The transformer in a checkpoint; its arrays are read when they are asked for.

    Args:
        source: the folder of a model, its file or index of shards, or tensors by name, such as a
            ``state_dict``.
        config: the ``config.json``, or its keys, where it is not beside the file.

    Raises:
        InputError: if the family is not one that is read as a whole, a tensor is missing, of another shape,
            quantized, or no part of the model, or a key of the configuration makes another function.

    See Also:
        :func:`write_transformer`.

    >>> d, rng = 4, np.random.default_rng(0)
    >>> block = {"input_layernorm": (d,), "post_attention_layernorm": (d,), "self_attn.q_proj": (d, d)}
    >>> block |= {f"self_attn.{x}_proj": (d, d) for x in "kvo"}
    >>> block |= {"mlp.gate_proj": (6, d), "mlp.up_proj": (6, d), "mlp.down_proj": (d, 6)}
    >>> shapes = {"embed_tokens": (9, d), "norm": (d,)} | {f"layers.0.{x}": s for x, s in block.items()}
    >>> tensors = {f"{name}.weight": rng.standard_normal(shape) for name, shape in shapes.items()}
    >>> keys = {"model_type": "llama", "hidden_size": d, "num_attention_heads": 2, "num_hidden_layers": 1}
    >>> model = read_transformer(tensors, keys | {"tie_word_embeddings": True})
    >>> model.blocks[0]["O"].shape, model.facts.angles
    ((2, 4, 2), ((1.0,),))
    """
    if not isinstance(source, (str, Path, Mapping)):
        raise InputError(f"{shown(source)} is no checkpoint; give its folder, or its tensors by name")
    return _Stored(source, config).transformer()


class _Stored:
    """A checkpoint: its tensors, and what they are.

    Attributes:
        names: of each layer, and of the ends (``None``), the tensor of each part.
        parts: of each tensor the layer and the parts that it holds.
        left_out: the tensors of what is built on top of the model.
        each: of so many sets of keys and values one is written.
    """

    def __init__(self, source: Source, config: Config = None) -> None:
        if isinstance(source, (str, Path)):
            self.file = WeightFile([source])
        else:
            self.file = source if isinstance(source, WeightFile) else StateDict(source)
        self.table = _table(self.file, config)
        self.whole = whole_of(self.table)
        refuse_keys(self.table)
        refuse_quantized(self.file, ())
        self.published = published = from_config(self.table)
        if len(published.kinds) > 1 or published.layers != published.attention_layers:
            raise InputError(f"{published.model} has layers of several kinds, which are not read as a whole")
        self.heads, self.groups, self.size = published.heads, published.kv_heads, published.rank
        self.width, self.layers, self.each = published.dim, published.layers, 1
        self.parts, self.names, self.left_out = self._claims()
        self.facts = Configuration(self.table, self.whole, published).facts()
        self._check()
        self._refuse_untied()

    def transformer(self) -> Transformer:
        """The whole, to be read."""
        blocks = [self.arrays(layer) for layer in range(self.layers)]
        dtype = coarsest(self.file.dtype(name) for name in self.parts)
        ends = self.arrays(None)
        size = sum(math.prod(self.file.shape(name)) for name in self.parts)
        return Transformer(self.file.name, self.facts, ends, blocks, dtype, tuple(self.left_out), size)

    def arrays(self, layer: int | None) -> LazyArrays:
        """The arrays of a block, or of the ends, each read when it is asked for; some rows of ends alone."""
        return LazyArrays(self.names[layer], partial(self.array, layer), partial(self.part_shape, layer))

    def _claims(self) -> tuple[Claims, dict[int | None, dict[str, str]], list[str]]:
        """What each tensor is."""
        patterns = [
            (parts.split(","), re.compile(rf"(?:[A-Za-z_]\w*\.)*{_pattern(name)}"))
            for parts, names in self.whole.tensors.items()
            for name in names.split("|")
            if name
        ]
        claims: Claims = {}
        names: dict[int | None, dict[str, str]] = {None: {}, **{n: {} for n in range(self.layers)}}
        left_out = list[str]()
        for name in self.file:
            matches = [(parts, match) for parts, pattern in patterns if (match := pattern.fullmatch(name))]
            if not matches:
                if any(fnmatchcase(name, pattern) for pattern in self.whole.left_out):
                    left_out.append(name)
                elif not any(fnmatchcase(name, pattern) for pattern in common().buffers):
                    raise InputError(
                        f"{self.file.name} holds {name}, which is no part that is read of a model of"
                        f" the family {self.whole.name}"
                    )
                continue
            parts, match = matches[0]
            layer = int(match["layer"]) if "layer" in match.groupdict() else None
            if match["end"] == "bias":
                parts = [f"{part.removesuffix('.gain')}.bias" for part in parts]
            if layer not in names:
                raise InputError(f"{self.file.name} holds {name}; config.json has {self.layers} layers")
            for part in parts:
                if (other := names[layer].setdefault(part, name)) != name:
                    raise InputError(f"{self.file.name} holds both {other} and {name}, which are one part")
            claims[name] = layer, parts
        return claims, names, left_out

    def _expected(self, layer: int | None) -> set[str]:
        """The parts that a block must have, or the ends."""
        of_block = layer is not None
        parts = {
            part
            for key, name in self.whole.tensors.items()
            if name and ("{}" in name) == of_block
            for part in key.split(",")
        }
        if self.facts.tied:
            parts.discard("W")
        if self.facts.parallel and "perceptron.gain" not in self.names.get(0, {}):
            parts.discard("perceptron.gain")
        if self.facts.norm == "layer":
            parts |= {part.replace(".gain", ".bias") for part in parts if part.endswith(".gain")}
        if of_block:
            letters = families()[self.published.family].letters(self.table)
            parts |= {f"{_LETTERS[letter]}.bias" for letter in letters}
            if self.whole.perceptron_bias.of(self.table):
                parts |= {f"{part}.bias" for part in parts & {"G", "U", "D"}}
        return parts

    def _check(self) -> None:
        """Refuse tensors that are missing, of another shape, or integers."""
        for layer, names in self.names.items():
            where = "" if layer is None else f" of layer {layer}"
            expected = self._expected(layer)
            if missing := sorted(expected - set(names)):
                raise InputError(
                    f"{self.file.name} has no tensor for {', '.join(missing)}{where}, which a model of the"
                    f" family {self.whole.name} with this config.json has"
                )
            beyond = sorted(set(names) - expected - ({"W"} if self.facts.tied else set()))
            if beyond:
                raise InputError(
                    f"{self.file.name} holds {names[beyond[0]]}, which a model of the family"
                    f" {self.whole.name} with this config.json has not"
                )
            for name in dict.fromkeys(names.values()):
                shape, fits = self.file.shape(name), self.tensor_shape(name)
                if shape != fits:
                    there, must = (" × ".join(map(str, sizes)) for sizes in (shape, fits))
                    raise InputError(f"{name} is {there}; by config.json it must be {must}")
                if self.file.dtype(name) == "exact":
                    raise InputError(f"{name} holds integers; quantized weights are not read")

    def _free(self, part: str, layer: int | None, axis: int) -> int:
        """A size that config.json need not say."""
        name = self.names[layer].get(part)
        shape = self.file.shape(name) if name else ()
        if len(shape) != 2:
            return 0
        return shape[::-1][axis] if self.whole.transposed and layer is not None else shape[axis]

    def tensor_shape(self, name: str) -> tuple[int, ...]:
        """The shape that a tensor must have."""
        layer, parts = self.parts[name]
        shapes = [self.part_shape(layer, part) for part in parts]
        if parts[0].endswith((".gain", ".bias")):
            return (sum(math.prod(shape) for shape in shapes),)
        if parts == ["O"]:
            matrix = (self.width, self.heads * self.size)
        else:
            matrix = (sum(math.prod(shape[:-1]) for shape in shapes), shapes[0][-1])
        return matrix[::-1] if self.whole.transposed and layer is not None else matrix

    def part_shape(self, layer: int | None, part: str) -> tuple[int, ...]:
        """The shape of a part; what config.json need not say is as in the file."""
        matrix, _, end = part.partition(".")
        letters = SHAPES.get(part) or (SHAPES[matrix][:-1] if end == "bias" and matrix in SHAPES else "d")
        if part in ("query.gain", "key.gain"):
            letters = {"query.gain": "Ha", "key.gain": "ga"}[part] if self.facts.qk_norm == "all" else "a"
        sizes = {"H": self.heads, "g": self.groups, "a": self.size, "d": self.width}
        sizes |= {"n": self._free("D", layer, 1), "V": self._free("E", layer, 0)}
        sizes |= {"T": self._free("positions", layer, 0), "t": self._free("types", layer, 0)}
        return tuple(sizes[letter] for letter in letters)

    def _refuse_untied(self) -> None:
        """Refuse an unembedding in the file of a tied model that is not its embedding."""
        if not self.facts.tied or "W" not in self.names[None]:
            return
        W = self.names[None].pop("W")
        step = max(1, _PIECE // self.width)
        for start in range(0, self.file.shape(W)[0], step):
            rows = slice(start, start + step)
            if not np.array_equal(_floats(self.file.part(W, rows)), self.array(None, "E", rows)):
                raise InputError(
                    f"{W} is not the embedding, and tie_word_embeddings is true; set it to false in"
                    " config.json if the model is not tied"
                )

    @cached_property
    def order(self) -> Array | None:
        """The rows of a head as the file orders them, where its pairs are 2f and 2f + 1."""
        pairs = self.published.kinds[0].rotary_pairs
        if not any(fnmatchcase(name, self.whole.interleaved) for name in self.file):
            return None
        turning = np.arange(2 * pairs).reshape(pairs, 2).T.ravel()
        return np.concatenate([turning, np.arange(2 * pairs, self.size)])

    def array(self, layer: int | None, part: str, rows: slice) -> Array:
        """A part, or some of its rows."""
        name = self.names[layer][part]
        if layer is None:
            array = _floats(self.file.part(name, rows))
        else:
            parts = self.parts[name][1]
            view = self._views(_floats(self.file[name]), layer, parts)[parts.index(part)]
            array = self._turned(part, view.reshape(self.part_shape(layer, part)))[rows]
        add = self.whole.gain if part.endswith(".gain") else 0.0
        return array.astype(np.float64) + add if add else array

    def _views(self, tensor: Array, layer: int | None, parts: Sequence[str]) -> list[Array]:
        """Of each part of a tensor its entries, in their order, to be read or to be written to."""
        if self.whole.transposed and layer is not None:
            tensor = tensor.T
        if parts == ["O"]:
            return [tensor.reshape(self.width, self.heads, self.size).swapaxes(0, 1)]
        if len(parts) == 3 and self.whole.packing == "by group":
            by_group = tensor.reshape(self.groups, -1, self.size, *tensor.shape[1:])
            return [by_group[:, :-2], by_group[:, -2], by_group[:, -1]]
        sizes = [math.prod(self.part_shape(layer, part)) for part in parts]
        return np.split(tensor, np.cumsum(sizes[:-1]) // math.prod(tensor.shape[1:]))

    def _turned(self, part: str, array: Array, back: bool = False) -> Array:
        """Queries or keys in the order in which pairs are f and p + f, or back in that of the file."""
        if self.order is None or part.partition(".")[0] not in ("Q", "K"):
            return array
        return array[:, np.argsort(self.order) if back else self.order]

    def pieces(self, name: str, model: Transformer) -> Iterator[Array]:
        """A tensor of this file with the parts of a model, in its type, piece by piece.

        Raises:
            InputError: if the model lacks a matrix, has another shape, or an entry is too large.
        """
        (layer, parts), dtype = self.parts[name], self.file.dtype(name)
        if layer is None and len(self.file.shape(name)) == 2:
            tensors = self._end(name, parts[0], model)
        else:
            arrays = [self._turned(part, self._of(model, layer, part), back=True) for part in parts]
            tensor = np.empty(self.tensor_shape(name), np.result_type(*arrays))
            for view, array in zip(self._views(tensor, layer, parts), arrays, strict=True):
                view[...] = array.reshape(view.shape)
            tensors = iter([tensor])
        for tensor in tensors:
            step = max(1, _PIECE * len(tensor) // max(1, tensor.size))
            for start in range(0, len(tensor), step):
                rounded = _rounded(tensor[start : start + step], dtype)
                if not np.isfinite(rounded.astype(np.float32)).all():
                    raise InputError(f"an entry of {name} is not finite in {dtype}")
                yield np.ascontiguousarray(rounded)

    def _end(self, name: str, part: str, model: Transformer) -> Iterator[Array]:
        """The rows of an embedding or of an unembedding of a model, some at a time."""
        part = "E" if part == "W" and self.facts.tied else part
        if part not in model.ends:
            raise InputError(f"{model.name} has no {part}, which {self.file.name} has as {name}")
        number, width = self.file.shape(name)
        if shape(model.ends, part) != (number, width):
            raise InputError(f"{part} of {model.name} has not the shape of {name}, {number} × {width}")
        step = max(1, _PIECE // width)
        for start in range(0, number, step):
            yield rows(model.ends, part, slice(start, start + step))

    def _of(self, model: Transformer, layer: int | None, part: str) -> Array:
        """A part of a model, as this file stores it: a gain that it lacks is 1, a bias is 0."""
        arrays = model.ends if layer is None else model.blocks[layer]
        fits, gain = self.part_shape(layer, part), part.endswith(".gain")
        if part not in arrays and part.endswith((".gain", ".bias")):
            return np.full(fits, 1 - self.whole.gain if gain else 0.0)
        if part not in arrays:
            raise InputError(f"{model.name} has no {part} in layer {layer}, which {self.file.name} has")
        array = arrays[part][:: self.each] if part in SHARED else arrays[part]
        if array.shape != fits:
            there, must = (" × ".join(map(str, sizes)) for sizes in (array.shape, fits))
            raise InputError(f"{part} of {model.name} is {there}; that of {self.file.name} is {must}")
        return array.astype(np.float64) - self.whole.gain if gain else array

    def refuse_other(self, model: Transformer) -> None:
        """Refuse a model for which this file has no room.

        Raises:
            InputError: if it has other facts, layers or parts.
        """
        for field in fields(Facts):
            ours, theirs = getattr(self.facts, field.name), getattr(model.facts, field.name)
            if ours != theirs:
                raise InputError(
                    f"{field.name} of {model.name} is {shown(theirs)}; that of {self.file.name} is"
                    f" {shown(ours)}"
                )
        if len(model.blocks) != self.layers:
            raise InputError(
                f"{model.name} has {len(model.blocks)} layers; {self.file.name} has {self.layers}"
            )
        for layer, names in self.names.items():
            arrays: Arrays = model.ends if layer is None else model.blocks[layer]
            if beyond := sorted(set(arrays) - set(names)):
                where = "" if layer is None else f" of layer {layer}"
                raise InputError(
                    f"{self.file.name} has no tensor for {', '.join(beyond)}{where} of {model.name}"
                )


def write_transformer(
    like: str | Path | WeightFile, model: Transformer, out: str | Path, kv_heads: int | None = None
) -> bool:
    """Write a transformer as a checkpoint is stored: the same files, names, shapes, types, and config.json.

    Gains that the model lacks are written as 1, biases as 0. Each entry is rounded once.

    Args:
        like: the checkpoint.
        model: has the facts and the shapes of the checkpoint.
        out: a folder that is made; or a file, where the checkpoint is one.
        kv_heads: of so many runs of equal sets of keys and values the first sets alone are written.

    Returns:
        Whether there are fewer sets of keys and values: a folder is made, the family has them by
        ``num_key_value_heads``, and K and V are tensors of their own. Else all sets are written.

    Raises:
        InputError: if the checkpoint is not in .safetensors files, or the model does not fit it.

    See Also:
        :func:`read_transformer`.
    """
    stored = _Stored(like)
    stored.refuse_other(model)
    paths, out = stored.file.files, Path(out)
    if any(path.suffix.lower() != ".safetensors" for path in paths):
        raise InputError(f"{stored.file.name} is not stored as .safetensors, which alone is written")
    if out.suffix.lower() == ".safetensors" and len(paths) > 1:
        raise InputError(f"{out} is a file, and {stored.file.name} has {len(paths)}; give a folder")
    targets = [out] if out.suffix.lower() == ".safetensors" else [out / path.name for path in paths]
    if any(target.exists() and target.samefile(path) for path, target in zip(paths, targets, strict=True)):
        raise InputError(f"{out} is the checkpoint itself; give another place")
    alone = all(len(parts) == 1 for _, parts in stored.parts.values() if SHARED & {*parts})
    fewer = kv_heads if alone and _KV_HEADS in stored.table and targets[0] != out else None
    if fewer:
        stored.groups, stored.each = fewer, stored.groups // fewer
    targets[0].parent.mkdir(parents=True, exist_ok=True)
    for path, target in zip(paths, targets, strict=True):
        part = target.with_name(f"{target.name}.part")
        with path.open("rb") as source, part.open("wb") as stream, threads(SECONDS / 2 * model.size):
            _write_file(stored, model, source, stream)
        part.replace(target)
    for path in (*paths[0].parent.glob("*.safetensors.index.json"), paths[0].parent / "config.json"):
        if path.is_file() and not (targets[0].parent / path.name).exists():
            shutil.copyfile(path, targets[0].parent / path.name)
    if fewer:
        config = out / "config.json"
        write(config, json.dumps(json.loads(read_text(config)) | {_KV_HEADS: fewer}, indent=2))
    return bool(fewer)


def _write_file(stored: _Stored, model: Transformer, source: BinaryIO, stream: BinaryIO) -> None:
    """Write one file with the header of another, but for other shapes; what is no part is copied."""
    (length,) = struct.unpack("<Q", source.read(8))
    text, end, starts = source.read(length), 0, dict[str, tuple[int, int]]()
    header = json.loads(text)
    tensors = [(name, entry) for name, entry in header.items() if name != "__metadata__"]
    for name, entry in sorted(tensors, key=lambda item: item[1]["data_offsets"]):
        start, size = entry["data_offsets"][0], entry["data_offsets"][1] - entry["data_offsets"][0]
        starts[name] = 8 + length + start, size
        if name in stored.parts and (rows := stored.tensor_shape(name)[0]) != entry["shape"][0]:
            size = size * rows // entry["shape"][0]
            entry["shape"][0] = rows
        entry["data_offsets"] = [end, end := end + size]
    if header != json.loads(text):
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
    stream.write(struct.pack("<Q", len(text)) + text)
    for name, (start, size) in starts.items():
        if name in stored.parts:
            for piece in stored.pieces(name, model):
                stream.write(piece.view(np.uint8).data)
            continue
        source.seek(start)
        for left in range(size, 0, -_PIECE):
            stream.write(source.read(min(_PIECE, left)))


def _pattern(name: str) -> str:
    """The name of a weight, or of its bias, as a regular expression."""
    stem = re.escape(name.removesuffix(".weight")).replace(r"\{\}", r"(?P<layer>\d+)")
    return rf"{stem}\.(?P<end>weight|bias)"


def _floats(array: Any) -> Array:
    """In float32, or in float64 if it is."""
    result: Array = np.asarray(array)
    return result if result.dtype == np.float64 else result.astype(np.float32, copy=False)


def _rounded(array: Array, dtype: str) -> Array:
    """The array in a type, each entry rounded once.

    To bfloat16 numpy goes through float32; an entry that is none is moved to the neighbour whose last bit is
    1, so that it cannot seem to lie halfway.
    """
    import ml_dtypes  # noqa: F401  (gives numpy the type bfloat16)

    if dtype != "bfloat16" or array.dtype == np.float32:
        with np.errstate(over="ignore"):
            return array.astype(dtype)
    near = array.astype(np.float32)
    near = np.where(np.abs(near) > np.abs(array), np.nextafter(near, np.float32(0)), near)
    odd: Array = (near.view(np.uint32) | (near != array)).view(np.float32)
    return odd.astype(dtype)


def _table(file: WeightFile, config: Config) -> Mapping[str, Any]:
    """The keys of the configuration that is given, or stands beside the file."""
    if isinstance(config, Mapping):
        return config
    if config is not None:
        path = Path(config)
        path = path / "config.json" if path.is_dir() else path
    elif file.paths:
        path = (file.paths[0] if file.paths[0].is_dir() else file.paths[0].parent) / "config.json"
    else:
        raise InputError("tensors without a configuration; give config, the path or the keys of config.json")
    if not path.is_file():
        raise InputError(f"there is no config.json beside {file.name}; it says what the tensors are")
    table = parsed("JSON", read_text(path), path)
    with about(path):
        refuse_unless(isinstance(table, dict), "the config", table, "an object of keys")
    return dict(table)


# The facts --------------------------------------------------------------------------------------------------


class Configuration:
    """The keys of a configuration, as facts."""

    def __init__(self, table: Mapping[str, Any], whole: Storage, published: Published) -> None:
        self.table, self.own = table, whole.facts
        self.width, self.layers, self.size = published.dim, published.layers, published.rank
        self.pairs, self.causal = published.kinds[0].rotary_pairs, published.causal

    def value(self, role: str, otherwise: Any = None) -> tuple[str, Any]:
        """The key that says it, and what it says: ``None`` for null."""
        entry = self.own.get(role, otherwise)
        if not isinstance(entry, Mapping):
            return role, entry
        keys = [entry["key"]] if isinstance(entry["key"], str) else list(entry["key"])
        key = next((key for key in keys if key in self.table), keys[0])
        return key, self.table.get(key, entry.get("default"))

    def number(self, role: str) -> float:
        """A number of at least 0, which null and no key mean."""
        key, value = self.value(role)
        if value is None:
            return 0.0
        refuse_unless(is_number(value) and float(value) >= 0, key, value, "a number of at least 0")
        return float(value)

    def switch(self, role: str, default: bool = False) -> bool:
        """What is true or false."""
        return boolean(*self.value(role, default))

    def facts(self) -> Facts:
        """All of them."""
        key, name = self.value("activation")
        if name not in common().activations:
            known = ", ".join(common().activations)
            raise InputError(
                f"{key} is {shown(name)}, which is no activation that is read; it may be {known}"
            )
        scale = self.number("query_scalar") or float(self.size)
        turning = [self._rope(kind) for kind in self.kinds] if self.pairs else []
        if len({factor for _, factor in turning}) > 1:
            raise InputError("layers differ in the factor of what turns, which is not read")
        return Facts(
            norm=self.own["norm"],
            eps=self.number("eps"),
            place=self.own["place"],
            parallel=self.switch("parallel"),
            causal=self.causal,
            activation=common().activations[name],
            gated=self.switch("gated"),
            qk_norm=self.own.get("qk_norm", ""),
            tied=self.switch("tied"),
            embedding_scale=math.sqrt(self.width) if self.switch("root_of_width") else 1.0,
            score_scale=scale**-0.5 if self.switch("scaled", default=True) else 1.0,
            score_cap=self.number("score_cap"),
            logit_cap=self.number("logit_cap"),
            logit_scale=1.0,
            windows=self.windows(),
            angles=tuple(angles for angles, _ in turning),
            turning_scale=turning[0][1] if turning else 1.0,
        )

    @cached_property
    def kinds(self) -> list[str]:
        """Of each layer whether its attention is full or sliding."""
        listed = self.table.get("layer_types")
        if listed is not None and self.own.get("window") is not None:
            for kind in listed:
                if kind not in ("full_attention", "sliding_attention"):
                    raise InputError(f"layer_types has {shown(kind)}, which is not read as a whole")
            return list(listed)
        if not self.number("window") or not self.switch("window_if", default=True):
            return ["full_attention"] * self.layers
        period, first = self.number("full_period"), self.number("full_layers")
        return [
            "full_attention" if n < first or (period and (n + 1) % period == 0) else "sliding_attention"
            for n in range(self.layers)
        ]

    def windows(self) -> tuple[int, ...]:
        """Of each layer how many tokens a token sees; 0 for all."""
        window = int(self.number("window")) if "sliding_attention" in self.kinds else 0
        if "sliding_attention" in self.kinds and not window:
            raise InputError("layer_types has sliding_attention, and there is no sliding_window")
        return tuple(window if kind == "sliding_attention" else 0 for kind in self.kinds)

    def _rope(self, kind: str) -> tuple[tuple[float, ...], float]:
        """The angles in a layer, and the factor of what turns."""
        table = self.table.get("rope_parameters") or self.table.get("rope_scaling") or {}
        local = "local_theta" in self.own and kind == "sliding_attention"
        if isinstance(table.get(kind), Mapping):
            table = table[kind]
        elif local:
            table = {}
        theta = table.get("rope_theta") or self.number("local_theta" if local else "theta")
        return angles(table, self.pairs, float(theta), self.table.get("max_position_embeddings"))


def angles(
    rope: Mapping[str, Any], pairs: int, theta: float, positions: int | None = None
) -> tuple[tuple[float, ...], float]:
    r"""The angles by which pairs turn from a token to the next, and the factor of what turns.

    Pair f of p turns by :math:`θ^{-f/p}`, which ``rope_scaling`` makes smaller: divided by a factor
    (``linear``), divided where a turn takes longer than some tokens (``llama3``), or by a ramp (``yarn``).

    Raises:
        InputError: if they are of another type, or what the type needs is missing.

    >>> angles({"rope_type": "linear", "factor": 2.0}, 2, 100.0)
    ((0.5, 0.05), 1.0)
    """
    kind = rope.get("rope_type", rope.get("type", "default"))
    plain = theta ** (-np.arange(pairs) / pairs)

    def number(name: str, default: float | None = None) -> float:
        value = default if rope.get(name) is None else rope[name]
        refuse_unless(is_number(value), f"{name} of rope_scaling", value, "a number")
        return float(value)  # type: ignore[arg-type]  # it is a number

    turning = 1.0
    if kind == "default":
        result = plain
    elif kind == "linear":
        result = plain / number("factor")
    elif kind == "llama3":
        low, high, old = (
            number(name)
            for name in ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
        )
        turns = old * plain / (2 * math.pi)
        kept = np.clip((turns - low) / (high - low), 0, 1)
        result = plain * (kept + (1 - kept) / number("factor"))
    elif kind == "yarn":
        factor, old = number("factor"), number("original_max_position_embeddings", positions)
        ends = [
            2 * pairs * math.log(old / (2 * math.pi * number(name, default))) / (2 * math.log(theta))
            for name, default in (("beta_fast", 32.0), ("beta_slow", 1.0))
        ]
        if rope.get("truncate", True):
            ends = [math.floor(ends[0]), math.ceil(ends[1])]
        start, end = max(ends[0], 0), min(ends[1], 2 * pairs - 1)
        ramp = np.clip((np.arange(pairs) - start) / ((end - start) or 0.001), 0, 1)
        result = plain * (1 - ramp + ramp / factor)
        names = ("mscale", "mscale_all_dim")
        both = (number(name) for name in names) if all(rope.get(name) for name in names) else (1.0, 0.0)
        first, second = (0.1 * m * math.log(max(factor, 1.0)) + 1.0 for m in both)
        turning = number("attention_factor", first / second)
    else:
        raise InputError(
            f"rope_type is {shown(kind)}, whose angles are not read; those of default, linear, llama3 and"
            " yarn are"
        )
    return tuple(result.tolist()), turning


def whole_of(table: Mapping[str, Any]) -> Storage:
    """How a model with these keys is stored.

    Raises:
        InputError: if its family is not read as a whole.
    """
    kind = table.get("model_type")
    if kind not in wholes():
        raise InputError(f"model_type is {shown(kind)}; whole models are read of {', '.join(wholes())}")
    return wholes()[str(kind)]


def refuse_keys(table: Mapping[str, Any]) -> None:
    """Refuse keys that make another function.

    Raises:
        InputError: if there is one.
    """
    for key, harmless in common().unless.items():
        value = table.get(key)
        if value is None or value in harmless:
            continue
        if key == "quantization_config" and isinstance(value, Mapping):
            method = value.get("quant_method", "unknown")
            raise InputError(
                f"the weights are quantized ({method}), which is not read; save the model in float32, float16"
                " or bfloat16"
            )
        raise InputError(f"{key} is {shown(value)}; whole models with it are not read")
