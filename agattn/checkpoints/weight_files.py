"""Arrays from files of weights: .npz, .npy, .safetensors and .json, or from the folder of a model.

Arrays are read when they are asked for, and never unpickled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agattn.algebra.matrix_io import archive_of, array_of, header_of, member_of
from agattn.algebra.scalars import FLOATS, stored_type, unread
from agattn.errors import InputError, needs
from agattn.files import check_file, parsed, read_text, reading

ENDINGS = (".npz", ".npy", ".safetensors", ".json")
_TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
MOST_LISTS = 10**6


class Header(NamedTuple):
    """What is known of an array before it is read; numbers in text have no type."""

    path: Path
    shape: tuple[int, ...]
    dtype: str


class WeightFile(Mapping[str, Any]):
    """Named arrays of one or several files. An array is read when it is asked for, and is not kept.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.savez(folder / "w.npz", A=np.eye(2), V=np.ones((1, 2)))
    >>> file = WeightFile([folder / "w.npz"])
    >>> sorted(file), file.shape("V")
    (['A', 'V'], (1, 2))
    """

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self.paths = [Path(path) for path in paths]
        self._headers: dict[str, Header] = {}
        for path in self.paths:
            self._add(path)

    def _add(self, path: Path) -> None:
        with reading(path):
            check_file(path)
            if not path.exists():
                raise FileNotFoundError
            if path.is_dir() or path.name.endswith(".index.json"):
                for part in _model_files(path) if path.is_dir() else _shards(path):
                    self._add(part)
                return
            for name, shape, dtype in _headers(path):
                if name in self._headers:
                    raise InputError(f"holds {name}, which {self._headers[name].path} holds as well")
                self._headers[name] = Header(path, tuple(shape), _TYPES.get(dtype, dtype))

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self.paths[0])

    @property
    def files(self) -> list[Path]:
        """The files that hold arrays."""
        return list(dict.fromkeys(header.path for header in self._headers.values()))

    def __getitem__(self, name: str) -> Any:
        """The whole array; from JSON as nested lists with exact numbers as ints and strings."""
        return self.part(name)

    def part(self, name: str, rows: slice = slice(None), columns: slice = slice(None)) -> Any:
        """A part of a matrix; of a .safetensors file only that part is read.

        Raises:
            InputError: if its file is damaged.
            KeyError: if there is no such array.
        """
        path = self._headers[name].path
        whole = rows == columns == slice(None)
        with reading(path):
            if path.suffix.lower() == ".safetensors":
                with _open_safetensors(path) as file:
                    view = file.get_slice(name)
                    if whole:
                        return view[:]
                    sizes = view.get_shape()
                    at = [range(size)[part] for size, part in zip(sizes, (rows, columns), strict=False)]
                    return view[tuple(slice(part.start, part.stop) if part else slice(0, 0) for part in at)]
            array = _array(path, name)
            return array if whole else np.asarray(array)[rows, columns]

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array, without reading it."""
        return self._headers[name].shape

    def dtype(self, name: str) -> str:
        """The type in which an array is stored, such as ``float32``; ``exact`` for integers and rationals."""
        path, _, stored = self._headers[name]
        if not stored:
            return stored_type(self[name])
        if stored in FLOATS:
            return stored
        if stored.startswith(("F8", "float8")):
            raise InputError(
                f"{path} stores {name} in FP8 ({stored}), which is not supported; save the model in float32,"
                " float16 or bfloat16"
            )
        return "float64" if "float" in stored else "exact"

    def __iter__(self) -> Iterator[str]:
        return iter(self._headers)

    def __len__(self) -> int:
        return len(self._headers)


class StateDict(WeightFile):
    """Named arrays of a mapping, such as torch's ``state_dict``.

    >>> state = StateDict({"blocks.0.attn.qkv.weight": np.ones((6, 2), np.float32)})
    >>> [*state], state.shape("blocks.0.attn.qkv.weight"), state.dtype("blocks.0.attn.qkv.weight")
    (['blocks.0.attn.qkv.weight'], (6, 2), 'float32')
    """

    name = "the mapping"

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        super().__init__([])
        self._arrays = arrays
        for name, array in arrays.items():
            stored = getattr(array, "dtype", "")
            shape = array.shape if hasattr(array, "shape") else unread(array, str(name)).shape
            dtype = getattr(stored, "name", str(stored).rpartition(".")[2])  # of numpy, of torch
            self._headers[str(name)] = Header(Path(self.name), tuple(shape), dtype)

    def part(self, name: str, rows: slice = slice(None), columns: slice = slice(None)) -> Any:
        """A part of a matrix, or of a stack of matrices; or a whole array."""
        array = self._arrays[name]
        at = (rows, columns)[: len(self.shape(name))]
        if not hasattr(array, "detach"):
            return np.asarray(array)[at]
        tensor = array.detach()[at].cpu()
        return (tensor if self.dtype(name) == "float64" else tensor.float()).numpy()


def _model_files(folder: Path) -> list[Path]:
    """The files of weights in the folder of a model: an index of shards, else one file, else all shards."""
    for pattern in ("*.safetensors.index.json", "model.safetensors", "*.safetensors", "*.npz"):
        if files := sorted(folder.glob(pattern)):
            return files
    raise InputError("is a folder without .safetensors or .npz files; save the model as .safetensors")


def _shards(path: Path) -> list[Path]:
    """The shards of a large checkpoint, as ``model.safetensors.index.json`` lists them."""
    table = _json_object(path).get("weight_map")
    if not isinstance(table, dict) or not all(isinstance(shard, str) for shard in table.values()):
        raise InputError('is not an index of shards: it has no table "weight_map"')
    for shard in sorted(set(table.values())):
        if Path(shard).name != shard or shard == "..":
            raise InputError(f"names the shard {shard[:80]!r}, which is not in the same folder")
        if shard.endswith(".index.json") or (path.parent / shard).is_dir():
            raise InputError(f"names the shard {shard[:80]!r}, which is no file of tensors")
    return [path.parent / shard for shard in sorted(set(table.values()))]


def _headers(path: Path) -> Iterator[tuple[str, Sequence[int], str]]:
    """Of each array in a file the name, the shape and the type."""
    ending = path.suffix.lower()
    if ending == ".npz":
        with archive_of(path) as archive:
            for member in archive.namelist():
                with archive.open(member) as stream:
                    shape, dtype = header_of(stream)
                yield member.removesuffix(".npy"), shape, dtype.name
    elif ending == ".npy":
        with path.open("rb") as stream:
            shape, dtype = header_of(stream)
        yield path.stem.replace("-", "_").replace(".", "_").split("_")[-1].upper(), shape, dtype.name
    elif ending == ".safetensors":
        with _open_safetensors(path) as file:
            for name in file.keys():  # noqa: SIM118  (a safetensors file is no mapping)
                view = file.get_slice(name)
                yield name, view.get_shape(), view.get_dtype()
    elif ending == ".json":
        for name, value in _json_object(path).items():
            yield name, np.shape(value) if isinstance(value, list) else (), ""
    else:
        pickled = "; it may hold Python objects, so save the model as .safetensors"
        raise InputError(
            f"has {f'the ending {ending}' if ending else 'no ending'}; use {', '.join(ENDINGS)}"
            f"{pickled * (ending in ('.pt', '.pth', '.bin', '.ckpt', '.pkl'))}"
        )


def _array(path: Path, name: str) -> Any:
    """A whole array of a file of numpy's, or of JSON."""
    if path.suffix.lower() == ".json":
        return _json_object(path)[name]
    if path.suffix.lower() == ".npy":
        with path.open("rb") as stream:
            return array_of(stream, path.stat().st_size)
    with archive_of(path) as archive:
        return member_of(archive, archive.getinfo(name if name in archive.namelist() else f"{name}.npy"))


def _json_object(path: Path) -> dict[str, Any]:
    text = read_text(path, instead="; save arrays as .npz")
    if text.count("[") > MOST_LISTS:
        raise InputError(f"holds more than {MOST_LISTS} lists; save arrays as .npz")
    document = parsed("JSON", text, path)
    if isinstance(document, list):  # one array, such as a tensor
        return {"y": document}
    if not isinstance(document, dict):
        raise InputError('is not a JSON object, such as {"A": [[1, 0], [0, "1/2"]], "V": [[1, 2]]}')
    return document


def _open_safetensors(path: Path) -> Any:
    with needs("", "safetensors with ml_dtypes", "checkpoints"):
        import ml_dtypes  # noqa: F401  (gives numpy the type bfloat16)
        from safetensors import SafetensorError, safe_open
    try:
        return safe_open(path, framework="numpy")
    except SafetensorError as error:
        raise InputError(f"is damaged or not a .safetensors file ({error})") from None
