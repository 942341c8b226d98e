"""Matrices from files: .npy, .npz, .csv, .mtx (Matrix Market) and .json.

Numbers in text files are handed on as they are written, so that ``0.1`` stays one tenth and an integer of a
million bits stays whole. Nothing is ever unpickled or evaluated.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from agattn.algebra.matrices import SparseMatrix, read_number
from agattn.errors import InputError, needs
from agattn.files import check_file, parsed, read_text, reading


def load_matrix(path: str | Path) -> Any:
    """Read a matrix, in a form that :func:`agattn.algebra.rank.rank` takes.

    Raises:
        InputError: if there is no such file, its ending is unknown, or it does not hold one matrix.
    """
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file that ends in {', '.join(READERS)}")
    if reader is None and path.exists():
        ending = f"the ending {path.suffix}" if path.suffix else "no ending"
        raise InputError(f"{path} has {ending}; use {', '.join(READERS)}")
    check_file(path)
    with reading(path):
        if reader is None or not path.exists():
            raise FileNotFoundError
        return reader(path)


#: What text, and a compressed file when unpacked, may hold in bytes; a large archive four times its size.
MAX_BYTES = 128 * 2**20

#: Rows or columns of a matrix that a file may announce, but not hold.
MAX_ENTRIES = 10**7


def header_of(file: Any) -> tuple[tuple[int, ...], Any]:
    """The shape and type that a stream in numpy's format begins with.

    Raises:
        InputError: if it holds Python objects.
        ValueError: if it does not begin so.
    """
    start = io.BytesIO(file.read(2**17))  # a header may announce 4 GiB for itself
    is_first = np.lib.format.read_magic(start) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(start)
    if dtype.hasobject:
        raise InputError(
            "holds Python objects, which are never loaded; save numbers, or write JSON with strings"
        )
    return tuple(map(int, shape)), dtype


def array_of(file: Any, size: int) -> Any:
    """The array in a stream of bytes, whose number is checked before memory is taken for the entries."""
    dimensions, dtype = header_of(file)
    needed = math.prod(dimensions) * dtype.itemsize
    if any(n < 0 for n in dimensions) or needed > size or (0 in dimensions and max(dimensions) > MAX_ENTRIES):
        raise ValueError("a size that the file cannot hold")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


@contextmanager
def archive_of(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive that an .npz file is.

    Raises:
        InputError: if it holds more than :data:`MAX_BYTES` when unpacked.
    """
    with zipfile.ZipFile(path) as archive:
        total = sum(info.file_size for info in archive.infolist())
        if total > (limit := max(MAX_BYTES, 4 * path.stat().st_size)):
            raise InputError(f"holds {total} bytes when unpacked; the limit is {limit}")
        yield archive


def member_of(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    """An array of an archive."""
    with archive.open(info) as file:
        return array_of(file, info.file_size)


def _npy(path: Path) -> Any:
    with path.open("rb") as file:
        return array_of(file, path.stat().st_size)


def _npz(path: Path) -> Any:
    with archive_of(path) as archive:
        names = [info.filename.removesuffix(".npy") for info in archive.infolist()]
        few = archive.infolist() if len(names) <= _MOST_ARRAYS else []
        arrays = dict(zip(names, (member_of(archive, info) for info in few), strict=False))
    if {"format", "shape", "data"} <= set(arrays):
        return _sparse(path, arrays)
    if len(names) != 1:
        shown = ", ".join(names[:4]) or "none"
        raise InputError(f"holds {len(names)} arrays ({shown}); give a file with exactly one")
    return arrays[names[0]]


#: A sparse matrix has at most six.
_MOST_ARRAYS = 8


def _sparse(path: Path, arrays: Mapping[str, Any]) -> Any:
    """The matrix that ``scipy.sparse.save_npz`` wrote; scipy rounds indices, so they must be whole."""
    with needs("holds a sparse matrix, which", "scipy", "train"):
        from scipy.sparse import load_npz
    for name, array in arrays.items():
        if name not in ("format", "_is_array", "data") and array.dtype.kind not in "iu":
            raise InputError(f"has {name} of type {array.dtype}; indices must be a list of whole numbers")
    starts, count = arrays.get("indptr", np.zeros(1, dtype=int)), np.size(arrays.get("indices", ()))
    # scipy reads beyond its arrays where these places are wrong.
    if (
        starts.ndim != 1
        or starts[:1].any()
        or (starts[1:] < starts[:-1]).any()
        or (starts[-1:] > count).any()
    ):
        raise InputError(
            "has an indptr that is no list of places among the indices, from 0 and in their order"
        )
    matrix = load_npz(path)
    if len(matrix.shape) != 2 or max(matrix.shape) > MAX_ENTRIES:
        raise InputError(f"has the shape {matrix.shape}; a matrix has at most {MAX_ENTRIES} rows and columns")
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return matrix.tocoo()


def _text(path: Path) -> str:
    return read_text(path, MAX_BYTES, "; save the matrix as .npz")


def _csv(path: Path) -> list[list[str]]:
    rows: list[list[str]] = []
    csv.field_size_limit(sys.maxsize)  # else numbers of more than 131,072 digits are refused
    # Comments count as blank lines: numpy.savetxt writes its header so.
    lines = ("\n" if line.lstrip().startswith("#") else line for line in io.StringIO(_text(path)))
    reader = csv.reader(lines, skipinitialspace=True)
    for row in filter(None, reader):
        if rows and len(row) != len(rows[0]):
            raise InputError(f"line {reader.line_num} has {len(row)} entries, the first has {len(rows[0])}")
        rows.append(row)
    if not rows:
        raise InputError("holds no rows; write one row of numbers on each line")
    return rows


def _json(path: Path) -> Any:
    # Numbers stay text: neither rounded to floats nor limited in length.
    as_text = dict.fromkeys(("parse_float", "parse_int", "parse_constant"), str)
    document = parsed("JSON", _text(path), path, "; write a list of rows", **as_text)
    if isinstance(document, dict):
        if "matrix" not in document:
            raise InputError(
                'is an object without the key "matrix"; write a list of rows, or {"matrix": [rows]}'
            )
        document = document["matrix"]
    if not isinstance(document, list):
        raise InputError("holds no list of rows")
    for i, row in enumerate(document):
        if not isinstance(row, list):
            raise InputError(f"row {i + 1} is not a list")
        for j, x in enumerate(row):
            if not isinstance(x, str):
                shown = json.dumps(x)[:40]
                raise InputError(f"entry ({i + 1}, {j + 1}) is {shown}; write a number or a string")
    return document


def _mtx(path: Path) -> Any:
    text = _text(path)
    file = io.StringIO(text)
    header = file.readline().lower().split()
    if len(header) != 5 or header[:2] != ["%%matrixmarket", "matrix"]:
        raise InputError("does not begin with %%MatrixMarket matrix FORMAT FIELD SYMMETRY")
    layout, kind, symmetry = header[2:]
    if layout not in ("coordinate", "array") or kind not in ("integer", "real", "rational", "pattern"):
        wanted = "coordinate or array of integer, real, rational or pattern entries"
        raise InputError(f"is a Matrix Market {layout} of {kind} entries; this reads {wanted}")
    if symmetry not in ("general", "symmetric", "skew-symmetric"):
        raise InputError(f"has the symmetry {symmetry}; agattn reads general, symmetric and skew-symmetric")
    lines = ((k, line.split()) for k, line in enumerate(file, 2) if line.strip() and line[0] != "%")
    number, size = next(lines, (2, []))
    wanted_sizes = 3 if layout == "coordinate" else 2
    if len(size) != wanted_sizes or not all(x.isdecimal() and len(x) < 10 for x in size):
        raise InputError(f"line {number} should give {wanted_sizes} sizes")
    sizes = [*map(int, size)]
    m, n = sizes[:2]
    held = len(text)
    values = m * n if symmetry == "general" else n * (n - 1) // 2  # at least
    if max(m, n) > MAX_ENTRIES or (layout == "array" and (values > held or m > held)):
        raise InputError(f"announces {m} x {n} entries, which a file of {held} bytes does not hold")
    if symmetry != "general" and m != n:
        raise InputError(f"is {symmetry} but has {m} rows and {n} columns")
    is_sparse = layout == "coordinate"
    cells = _coordinates(lines, sizes, kind) if is_sparse else _column_by_column(lines, m, n, symmetry)
    entries: dict[tuple[int, int], str] = {}
    for number, i, j, value in cells:
        if (i, j) in entries:
            raise InputError(f"line {number}: the entry ({i + 1}, {j + 1}) is given twice")
        if i == j and symmetry == "skew-symmetric" and read_number(value, radius=0)[0]:
            raise InputError(
                f"line {number}: the entry ({i + 1}, {i + 1}) is {value[:40]}; a skew-symmetric matrix has"
                " zeros on the diagonal, so leave it out, or write general and all entries"
            )
        entries[i, j] = value
        if symmetry != "general" and i != j:
            entries[j, i] = value if symmetry == "symmetric" else _negative(value)
    if is_sparse:
        return SparseMatrix((m, n), entries)
    return [[entries.get((i, j), "0") for j in range(n)] for i in range(m)]


Cells = list[tuple[int, int, int, str]]  # line, row, column, value


def _coordinates(lines: Any, sizes: list[int], kind: str) -> Cells:
    cells = []
    m, n, count = sizes
    value = [] if kind != "pattern" else ["1"]
    for number, words in lines:
        if len(words + value) != 3 or not all(x.isdecimal() and len(x) < 10 for x in words[:2]):
            raise InputError(f"line {number} should hold a row, a column{'' if value else ' and a value'}")
        i, j = int(words[0]) - 1, int(words[1]) - 1
        if not (0 <= i < m and 0 <= j < n):
            raise InputError(f"line {number}: there is no entry ({i + 1}, {j + 1}) in a {m} x {n} matrix")
        cells.append((number, i, j, *words[2:], *value))
    if len(cells) != count:
        raise InputError(f"announces {count} entries and holds {len(cells)}")
    return cells


def _column_by_column(lines: Any, m: int, n: int, symmetry: str) -> Cells:
    skew = symmetry == "skew-symmetric"
    places = [(i, j) for j in range(n) for i in range(0 if symmetry == "general" else j + skew, m)]
    values = [(number, word) for number, words in lines for word in words]
    if len(values) != len(places):
        raise InputError(f"should hold {len(places)} entries and holds {len(values)}")
    return [(number, i, j, word) for (i, j), (number, word) in zip(places, values, strict=True)]


def _negative(text: str) -> str:
    return text[1:] if text.startswith("-") else "-" + text.removeprefix("+")


READERS: dict[str, Callable[[Path], Any]] = {
    ".npy": _npy, ".npz": _npz, ".csv": _csv, ".mtx": _mtx, ".json": _json,
}  # fmt: skip
