"""Arrays from files of weights: .npz, .npy, .safetensors and .json, or from the folder of a model.

Arrays are read when they are asked for, and never unpickled.
"""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from agattn.algebra.matrix_io import DAMAGE, archive_of, array_of, header_of
from agattn.algebra.scalars import FLOATS, Array, stored_type
from agattn.errors import InputError
from agattn.files import about_file, check_file, read_text

ENDINGS = (".npz", ".npy", ".safetensors", ".json")
_TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
MOST_LISTS = 10**6
_OBJECTS = "holds Python objects, which are never loaded; save numbers only"


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
        self._where: dict[str, tuple[Path, str]] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._types: dict[str, str] = {}
        self.paths = [Path(path) for path in paths]
        for path in self.paths:
            with _named(path):
                self._add(path)

    def _add(self, path: Path) -> None:
        ending = path.suffix.lower()
        check_file(path)
        if not path.exists():
            raise FileNotFoundError(path)
        if path.is_dir():
            for file in _model_files(path):
                with _named(file):
                    self._add(file)
        elif path.name.endswith(".index.json"):
            self._add_index(path)
        elif ending == ".npz":
            self._add_npz(path)
        elif ending == ".npy":
            name = path.stem.replace("-", "_").replace(".", "_").split("_")[-1].upper()
            with path.open("rb") as stream:
                self._put(name, path, *header_of(stream))
        elif ending == ".safetensors":
            with _open_safetensors(path) as file:
                for name in file.keys():  # noqa: SIM118  (a safetensors file is no mapping)
                    view = file.get_slice(name)
                    self._put(name, path, tuple(view.get_shape()), view.get_dtype())
        elif ending == ".json":
            for name, value in _json_object(path).items():
                self._put(name, path, np.shape(value) if isinstance(value, list) else ())
        else:
            pickled = "; it may hold Python objects, so save the model as .safetensors"
            raise InputError(
                f"has {f'the ending {ending}' if ending else 'no ending'}; use {', '.join(ENDINGS)}"
                f"{pickled * (ending in ('.pt', '.pth', '.bin', '.ckpt', '.pkl'))}"
            )

    def _put(self, name: str, path: Path, shape: tuple[int, ...], dtype: Any = None) -> None:
        if name in self._where:
            raise InputError(f"holds {name}, which {self._where[name][0]} holds as well")
        self._where[name], self._shapes[name] = (path, name), shape
        self._types[name] = _TYPES.get(str(dtype), str(dtype)) if dtype is not None else ""

    def _add_index(self, path: Path) -> None:
        """The shards of a large checkpoint, as ``model.safetensors.index.json`` lists them."""
        table = _json_object(path).get("weight_map")
        if not isinstance(table, dict) or not all(isinstance(shard, str) for shard in table.values()):
            raise InputError('is not an index of shards: it has no table "weight_map"')
        for shard in sorted(set(table.values())):
            if Path(shard).name != shard or shard == "..":
                raise InputError(f"names the shard {shard[:80]!r}, which is not in the same folder")
            if shard.endswith(".index.json") or (path.parent / shard).is_dir():
                raise InputError(f"names the shard {shard[:80]!r}, which is no file of tensors")
            with _named(path.parent / shard):
                self._add(path.parent / shard)

    def _add_npz(self, path: Path) -> None:
        with archive_of(path) as archive:
            for member in archive.namelist():
                with archive.open(member) as stream:
                    self._put(member.removesuffix(".npy"), path, *header_of(stream))

    def __getitem__(self, name: str) -> Any:
        """The whole array; from JSON as nested lists with exact numbers as ints and strings."""
        return self.part(name)

    def part(self, name: str, rows: slice = slice(None), columns: slice = slice(None)) -> Any:
        """A part of a matrix; of a .safetensors file only that part is read.

        Raises:
            InputError: if there is no such array, or its file is damaged.
        """
        if name not in self._where:
            raise KeyError(name)
        path, key = self._where[name]
        with _named(path):
            whole = rows == columns == slice(None)
            if path.suffix.lower() == ".safetensors":
                return _safetensors_part(path, key, None if whole else (rows, columns))
            array: Any
            if path.suffix.lower() == ".json":
                array = _json_object(path)[key]
            elif path.suffix.lower() == ".npy":
                with path.open("rb") as stream:
                    array = array_of(stream, path.stat().st_size)
            else:
                with zipfile.ZipFile(path) as archive:
                    info = archive.getinfo(key if key in archive.namelist() else f"{key}.npy")
                    with archive.open(info) as stream:
                        array = array_of(stream, info.file_size)
            return array if whole else np.asarray(array)[rows, columns]

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array, without reading it."""
        return self._shapes[name]

    def dtype(self, name: str) -> str:
        """The type in which an array is stored, such as ``float32``; ``exact`` for integers and rationals."""
        stored = self._types[name]
        if not stored:  # numbers in text
            return stored_type(self[name])
        if stored in FLOATS:
            return stored
        if stored.startswith("F8"):
            raise InputError(
                f"{self._where[name][0]} stores {name} in FP8 ({stored}), which is not supported; save the"
                " model in float32, float16 or bfloat16"
            )
        return "float64" if "float" in stored else "exact"

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)


def _model_files(folder: Path) -> list[Path]:
    """The files of weights in the folder of a model: an index of shards, else one file, else all shards."""
    for pattern in ("*.safetensors.index.json", "model.safetensors", "*.safetensors", "*.npz"):
        if found := sorted(folder.glob(pattern)):
            return found
    raise InputError("is a folder without .safetensors or .npz files; save the model as .safetensors")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn whatever a damaged file raises into one line that names it."""
    try:
        yield
    except KeyError:
        raise
    except InputError as error:
        raise InputError(about_file(path, str(error))) from None
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (*DAMAGE, MemoryError) as error:
        if str(error) == "an object array":
            raise InputError(f"{path} {_OBJECTS}") from None
        raise InputError(f"{path} is damaged or not a {path.suffix} file of numbers") from None


def _json_object(path: Path) -> dict[str, Any]:
    text = read_text(path, instead="; save arrays as .npz")
    if text.count("[") > MOST_LISTS:
        raise InputError(f"holds more than {MOST_LISTS} lists; save arrays as .npz")
    document = json.loads(text)
    if isinstance(document, list):  # one array, such as a tensor
        document = {"y": document}
    if not isinstance(document, dict):
        raise InputError('is not a JSON object, such as {"A": [[1, 0], [0, "1/2"]], "V": [[1, 2]]}')
    return document


def _open_safetensors(path: Path) -> Any:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise InputError("needs the library safetensors: pip install 'agattn[checkpoints]'") from error
    if not path.is_file():
        raise FileNotFoundError(path)
    try:
        return safe_open(path, framework="numpy")
    except SafetensorError as error:
        raise InputError(f"is damaged or not a .safetensors file ({error})") from None


def _safetensors_part(path: Path, name: str, part: tuple[slice, slice] | None) -> Array:
    with _open_safetensors(path) as file:
        view = file.get_slice(name)
        if view.get_dtype() == "BF16":
            view = _bfloat16(path, name, tuple(view.get_shape()))
        array: Array = view[:] if part is None else view[part]
        return array


def _bfloat16(path: Path, name: str, shape: tuple[int, ...]) -> Array:
    """A tensor of bfloat16, which numpy lacks: the upper halves of float32; the header is checked before."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        start, _ = json.loads(file.read(length))[name]["data_offsets"]
    halves = np.memmap(path, dtype="<u2", mode="r", offset=8 + length + start, shape=shape)
    return (halves.astype(np.uint32) << 16).view(np.float32)
