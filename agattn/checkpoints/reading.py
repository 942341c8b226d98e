r"""Whole transformers, read from checkpoints and written back.

Which tensors are which parts, and which keys of ``config.json`` say what is no weight, is said in
``families.toml``. In code there are the packing of several parts in a tensor, the orientation of matrices,
and the order of rows that turn in pairs. An array is read when it is asked for, so that no more than it is in
memory. What is not understood is refused: a tensor that is no part, a key that makes another function.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import struct
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import fields
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from agattn.algebra.scalars import Array, coarsest
from agattn.calls import refuse_unless, shown
from agattn.checkpoints.checkpoints import refuse_quantized
from agattn.checkpoints.configuration import Configuration, refuse_keys, whole_of
from agattn.checkpoints.families import common, families
from agattn.checkpoints.folding import SECONDS
from agattn.checkpoints.published import from_config
from agattn.checkpoints.stored import Arrays, Facts, Transformer, rows
from agattn.checkpoints.weight_files import StateDict, WeightFile
from agattn.errors import InputError
from agattn.files import about, parsed, read_text
from agattn.workers import threads

#: The parts of a block whose biases the letters of families say.
_LETTERS = {"q": "Q", "k": "K", "v": "P", "o": "O"}
#: The bytes that are copied at a time.
_PIECE = 2**24


def read_transformer(
    source: str | Path | WeightFile | Mapping[str, Any], config: str | Path | Mapping[str, Any] | None = None
) -> Transformer:
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


class StoredArrays(Mapping[str, Array]):
    """The arrays of a block, or of the ends, each read when it is asked for."""

    def __init__(self, stored: _Stored, layer: int | None) -> None:
        self._stored, self._layer = stored, layer

    def __getitem__(self, part: str) -> Array:
        return self.rows(part)

    def rows(self, part: str, rows: slice = slice(None)) -> Array:
        """Some rows of an array; of an embedding or an unembedding only they are read.

        Raises:
            KeyError: if there is no such part.
        """
        return self._stored.array(self._layer, part, rows)

    def shape(self, part: str) -> tuple[int, ...]:
        """The shape of an array; nothing is read."""
        return self._stored.part_shape(self._layer, part)

    def __contains__(self, part: object) -> bool:
        return part in self._stored.names[self._layer]  # and is not read

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored.names[self._layer])

    def __len__(self) -> int:
        return len(self._stored.names[self._layer])


class _Stored:
    """A checkpoint: its tensors, and what they are.

    Attributes:
        names: of each layer, and of the ends (``None``), the tensor of each part.
        parts: of each tensor the layer and the parts that it holds.
        left_out: the tensors of what is built on top of the model.
    """

    def __init__(
        self,
        source: str | Path | WeightFile | Mapping[str, Any],
        config: str | Path | Mapping[str, Any] | None = None,
    ) -> None:
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
        self.width, self.layers = published.dim, published.layers
        self.parts, self.names, self.left_out = self._claims()
        self.facts = Configuration(self.table, self.whole, published).facts()
        self._check()
        self._refuse_untied()

    def transformer(self) -> Transformer:
        """The whole, to be read."""
        blocks = [StoredArrays(self, layer) for layer in range(self.layers)]
        dtype = coarsest(self.file.dtype(name) for name in self.parts)
        ends = StoredArrays(self, None)
        size = sum(math.prod(self.file.shape(name)) for name in self.parts)
        return Transformer(self.file.name, self.facts, ends, blocks, dtype, tuple(self.left_out), size)

    def _claims(
        self,
    ) -> tuple[dict[str, tuple[int | None, list[str]]], dict[int | None, dict[str, str]], list[str]]:
        """What each tensor is."""
        patterns = [
            (parts.split(","), re.compile(rf"(?:[A-Za-z_]\w*\.)*{_pattern(name)}"))
            for parts, names in self.whole.tensors.items()
            for name in names.split("|")
            if name
        ]
        claims = dict[str, tuple[int | None, list[str]]]()
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
        for letters, switch in families()[self.published.family].biases.items() if of_block else ():
            if switch.of(self.table):
                parts |= {f"{_LETTERS[letter]}.bias" for letter in letters}
        if of_block and self.whole.perceptron_bias.of(self.table):
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
                shape, fits = self.file.shape(name), self._shape(name)
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

    def _shape(self, name: str) -> tuple[int, ...]:
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
        letter, _, kind = part.partition(".")
        columns = () if kind else (self.width,)
        heads = {"Q": self.heads, "K": self.groups, "P": self.groups, "query": self.heads, "key": self.groups}
        if letter in ("Q", "K", "P"):
            return (heads[letter], self.size, *columns)
        if letter in ("query", "key"):
            return (heads[letter], self.size) if self.facts.qk_norm == "all" else (self.size,)
        if part == "O":
            return self.heads, self.width, self.size
        if letter in ("G", "U"):
            return (self._free("D", layer, 1), *columns)
        if part == "D":
            return self.width, self._free("D", layer, 1)
        if part in ("E", "W", "positions", "types"):
            return self._free("E" if part == "W" else part, layer, 0), self.width
        return (self.width,)

    def _refuse_untied(self) -> None:
        """Refuse an unembedding in the file of a tied model that is not its embedding."""
        if not self.facts.tied or "W" not in self.names[None]:
            return
        W, ends = self.names[None].pop("W"), StoredArrays(self, None)
        step = max(1, _PIECE // self.width)
        for start in range(0, self.file.shape(W)[0], step):
            rows = slice(start, start + step)
            if not np.array_equal(_floats(self.file.part(W, rows)), ends.rows("E", rows)):
                raise InputError(
                    f"{W} is not the embedding, and tie_word_embeddings is true; set it to false in"
                    " config.json if the model is not tied"
                )

    # --- arrays --------------------------------------------------------------------------------------------

    @cached_property
    def order(self) -> Array | None:
        """The rows of a head as the file orders them, where its pairs are 2f and 2f + 1."""
        pairs = self.published.kinds[0].rotary_pairs
        if not any(fnmatchcase(name, self.whole.interleaved) for name in self.file):
            return None
        turning = np.arange(2 * pairs).reshape(pairs, 2).T.ravel()
        return np.concatenate([turning, np.arange(2 * pairs, self.size)])

    def array(self, layer: int | None, part: str, rows: slice = slice(None)) -> Array:
        """A part, or some of its rows."""
        name = self.names[layer][part]
        if layer is None:
            array = _floats(self.file.part(name, rows) if rows != slice(None) else self.file[name])
            return self._gains(part, array)
        array = _floats(self.file[name])
        if self.whole.transposed and array.ndim == 2:
            array = array.T
        array = self._shaped(part, self._unpacked(array, self.parts[name][1])[part])
        return self._gains(part, array)[rows]

    def _gains(self, part: str, array: Array) -> Array:
        add = self.whole.gain if part.endswith(".gain") else 0.0
        return array.astype(np.float64) + add if add else array

    def _unpacked(self, array: Array, parts: Sequence[str]) -> dict[str, Array]:
        """Of each part of a tensor its rows."""
        if len(parts) == 1:
            return {parts[0]: array}
        if len(parts) == 3 and self.whole.packing == "by group":
            by_group = array.reshape(self.groups, -1, self.size, *array.shape[1:])
            pieces = [by_group[:, :-2], by_group[:, -2:-1], by_group[:, -1:]]
            rows = [piece.reshape(-1, *array.shape[1:]) for piece in pieces]
        else:
            heads = np.array([self.heads, self.groups] if len(parts) == 3 else [1])
            unit = len(array) // (self.heads + 2 * self.groups if len(parts) == 3 else 2)
            rows = np.split(array, np.cumsum(heads) * unit)
        return dict(zip(parts, rows, strict=True))

    def _packed(self, pieces: Sequence[Array]) -> Array:
        """The tensor of one part, or of several: what :meth:`_unpacked` takes apart."""
        if len(pieces) == 3 and self.whole.packing == "by group":
            rest = pieces[0].shape[1:]
            by_group = [piece.reshape(self.groups, -1, self.size, *rest) for piece in pieces]
            return np.concatenate(by_group, axis=1).reshape(-1, *rest)
        return np.concatenate(pieces) if len(pieces) > 1 else pieces[0]

    def _shaped(self, part: str, array: Array) -> Array:
        """The rows of a part, head by head."""
        letter = part.partition(".")[0]
        if part == "O":
            return array.reshape(self.width, self.heads, self.size).transpose(1, 0, 2)
        if letter in ("Q", "K", "P"):
            array = array.reshape(-1, self.size, *array.shape[1:])
            return array[:, self.order] if letter != "P" and self.order is not None else array
        if letter in ("query", "key") and self.facts.qk_norm == "all":
            return array.reshape(-1, self.size)
        return array

    def _flat(self, part: str, array: Array) -> Array:
        """What :meth:`_shaped` made of rows, as rows."""
        letter, _, kind = part.partition(".")
        if part == "O":
            return array.transpose(1, 0, 2).reshape(self.width, -1)
        if letter in ("Q", "K", "P"):
            if letter != "P" and self.order is not None:
                array = array[:, np.argsort(self.order)]
            return array.reshape(-1, *array.shape[2:])
        return array.ravel() if kind in ("gain", "bias") else array

    def pieces(self, name: str, model: Transformer) -> Iterator[Array]:
        """A tensor of this file with the parts of a model, in its type, piece by piece.

        Raises:
            InputError: if the model lacks a matrix, has another shape, or an entry is too large.
        """
        (layer, parts), dtype = self.parts[name], self.file.dtype(name)
        if layer is None and len(self.file.shape(name)) == 2:
            tensors = self._end(name, parts[0], model)
        else:
            tensor = self._packed([self._flat(part, self._of(model, layer, part)) for part in parts])
            tensors = iter([tensor.T if self.whole.transposed and tensor.ndim == 2 else tensor])
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
        step = max(1, _PIECE // width)
        for start in range(0, number + 1, step):  # one more row, which must not be there
            fits, piece = (
                (min(step, number - start), width),
                rows(model.ends, part, slice(start, start + step)),
            )
            if piece.shape != fits:
                raise InputError(f"{part} of {model.name} has not the shape of {name}, {number} × {width}")
            yield piece

    def _of(self, model: Transformer, layer: int | None, part: str) -> Array:
        """A part of a model, as this file stores it: a gain that it lacks is 1, a bias is 0."""
        arrays = model.ends if layer is None else model.blocks[layer]
        fits, gain = self.part_shape(layer, part), part.endswith(".gain")
        if part not in arrays and part.endswith((".gain", ".bias")):
            return np.full(fits, 1 - self.whole.gain if gain else 0.0)
        if part not in arrays:
            raise InputError(f"{model.name} has no {part} in layer {layer}, which {self.file.name} has")
        array = arrays[part]
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


def write_transformer(like: str | Path | WeightFile, model: Transformer, out: str | Path) -> None:
    """Write a transformer as a checkpoint is stored: the same files, names, shapes, types, and config.json.

    Gains that the model lacks are written as 1, biases as 0. Each entry is rounded once.

    Args:
        like: the checkpoint.
        model: has the facts and the shapes of the checkpoint.
        out: a folder that is made; or a file, where the checkpoint is one.

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
    targets[0].parent.mkdir(parents=True, exist_ok=True)
    for path, target in zip(paths, targets, strict=True):
        part = target.with_name(f"{target.name}.part")
        with path.open("rb") as source, part.open("wb") as stream, threads(SECONDS / 2 * model.size):
            _write_file(stored, model, source, stream)
        part.replace(target)
    for path in (*paths[0].parent.glob("*.safetensors.index.json"), paths[0].parent / "config.json"):
        if path.is_file() and not (targets[0].parent / path.name).exists():
            shutil.copyfile(path, targets[0].parent / path.name)


def stored_parts(source: str | Path) -> Mapping[str, tuple[int | None, Sequence[str]]]:
    """Of each tensor of a checkpoint the layer, ``None`` for the ends, and the parts that it holds."""
    return _Stored(source).parts


def _write_file(stored: _Stored, model: Transformer, source: BinaryIO, stream: BinaryIO) -> None:
    """Write one file with the header of another; what is no part is copied."""
    beginning = source.read(8)
    header = source.read(struct.unpack("<Q", beginning)[0])
    stream.write(beginning + header)
    table = {name: entry["data_offsets"] for name, entry in json.loads(header).items() if name[:2] != "__"}
    for name, (start, end) in sorted(table.items(), key=lambda item: item[1]):
        if name in stored.parts:
            for piece in stored.pieces(name, model):
                stream.write(piece.view(np.uint8).data)
            continue
        _copy(source, stream, 8 + len(header) + start, end - start)


def _copy(source: BinaryIO, stream: BinaryIO, start: int, size: int) -> None:
    """Copy bytes from one file to another."""
    source.seek(start)
    for left in range(size, 0, -_PIECE):
        stream.write(source.read(min(_PIECE, left)))


def keep_first_parts(path: Path, names: Container[str], parts: int, each: int) -> None:
    """Write a .safetensors file anew, with fewer rows: of these tensors, in parts, the first of ``each``."""
    beside = path.with_name(f"{path.name}.part")
    with path.open("rb") as source, beside.open("wb") as stream:
        (length,) = struct.unpack("<Q", source.read(8))
        header, runs, end = json.loads(source.read(length)), list[tuple[int, int]](), 0
        tensors = [(name, entry) for name, entry in header.items() if name != "__metadata__"]
        for name, entry in sorted(tensors, key=lambda item: item[1]["data_offsets"]):
            first, last = entry["data_offsets"]
            starts, size = [first], last - first
            if name in names:
                size //= parts
                starts = [first + n * size for n in range(0, parts, each)]
                entry["shape"][0] //= each
            runs += [(8 + length + start, size) for start in starts]
            entry["data_offsets"] = [end, end := end + size * len(starts)]
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        stream.write(struct.pack("<Q", len(text)) + text)
        for start, size in runs:
            _copy(source, stream, start, size)
    beside.replace(path)


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
    if dtype != "bfloat16" or array.dtype == np.float32:
        with np.errstate(over="ignore"):
            return array.astype(_numpy_type(dtype))
    near = array.astype(np.float32)
    near = np.where(np.abs(near) > np.abs(array), np.nextafter(near, np.float32(0)), near)
    odd: Array = (near.view(np.uint32) | (near != array)).view(np.float32)
    return odd.astype(_numpy_type(dtype))


def _numpy_type(dtype: str) -> np.dtype[Any]:
    """The type by its name; bfloat16 is one of ml_dtypes."""
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def _table(file: WeightFile, config: str | Path | Mapping[str, Any] | None) -> Mapping[str, Any]:
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
