"""Matrices from files: .npy, .npz, .csv, .mtx (Matrix Market) and .json.

Numbers in text files are handed on as they are written, so that ``0.1`` stays one tenth and an integer of a
million bits stays whole. Nothing is ever unpickled or evaluated.
"""

from __future__ import annotations

import csv
import io
import json
import lzma
import math
import struct
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from agattn.algebra.entries import read_number
from agattn.algebra.matrices import SparseMatrix, from_triples
from agattn.errors import InputError
from agattn.files import about_file, check_file, read_text


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
    if reader is None or not path.exists():
        raise InputError(f"{path}: there is no such file")
    try:
        return reader(path)
    except InputError as error:
        raise InputError(about_file(path, str(error))) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise InputError(f"{path} is too large for the memory") from None


#: What text, and a compressed file when unpacked, may hold in bytes; a large archive four times its size.
MAX_BYTES = 128 * 2**20

#: Rows or columns of a matrix that a file may announce, but not hold.
MAX_ENTRIES = 10**7

#: What numpy raises for files that are damaged.
DAMAGE = (
    ValueError, KeyError, IndexError, EOFError, SyntaxError, TypeError, OverflowError, RecursionError,
    AttributeError, NotImplementedError, RuntimeError, zlib.error, lzma.LZMAError, struct.error,
    zipfile.BadZipFile, tokenize.TokenError,
)  # fmt: skip


def _npy(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            return array_of(file, path.stat().st_size)
    except InputError:
        raise
    except DAMAGE as error:
        raise InputError(_numpy_problem(error)) from None


def header_of(file: Any) -> tuple[tuple[int, ...], Any]:
    """The shape and type that a stream in numpy's format begins with.

    Raises:
        ValueError: if it does not begin so, or holds Python objects.
    """
    start = io.BytesIO(file.read(2**17))  # a header may announce 4 GiB for itself
    version = np.lib.format.read_magic(start)
    if version not in _HEADERS:
        raise ValueError(f"version {version}")
    shape, _, dtype = _HEADERS[version](start)
    if dtype.hasobject:
        raise ValueError("an object array")
    return tuple(map(int, shape)), dtype


_HEADERS: dict[tuple[int, int], Callable[[Any], tuple[tuple[int, ...], bool, Any]]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,
}


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
        InputError: if the file is none, or holds more than :data:`MAX_BYTES` when unpacked.
    """
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise InputError("is not a whole numpy file")
        with zipfile.ZipFile(file) as archive:
            total = sum(info.file_size for info in archive.infolist())
            if total > (limit := max(MAX_BYTES, 4 * path.stat().st_size)):
                raise InputError(f"holds {total} bytes when unpacked; the limit is {limit}")
            yield archive


def _npz(path: Path) -> Any:
    try:
        with archive_of(path) as archive:
            names = archive.namelist()
            arrays = {}
            for info in archive.infolist() if len(names) <= _MOST_MEMBERS else []:
                with archive.open(info) as file:
                    arrays[info.filename.removesuffix(".npy")] = array_of(file, info.file_size)
    except InputError:
        raise
    except DAMAGE as error:
        raise InputError(_numpy_problem(error)) from None
    if {"format", "shape", "data"} <= set(arrays):
        try:
            return _scipy_sparse(arrays)
        except InputError:
            raise
        except (ValueError, KeyError, TypeError, OverflowError, IndexError):
            raise InputError("is not a whole sparse matrix") from None
    if len(names) != 1:
        shown = ", ".join(name.removesuffix(".npy") for name in names[:4]) or "none"
        raise InputError(f"holds {len(names)} arrays ({shown}); give a file with exactly one")
    (array,) = arrays.values()
    return array


#: A sparse matrix has five.
_MOST_MEMBERS = 8


def _scipy_sparse(archive: Any) -> SparseMatrix:
    """The arrays that ``scipy.sparse.save_npz`` writes."""
    kind = archive["format"].item()
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    m, n = (int(x) for x in _whole(archive["shape"], "shape", MAX_ENTRIES + 1))
    data = archive["data"].ravel()
    if kind == "coo":
        rows, columns = _whole(archive["row"], "row", m), _whole(archive["col"], "col", n)
    elif kind in ("csr", "csc"):
        lines, width = (m, n) if kind == "csr" else (n, m)
        columns = _whole(archive["indices"], "indices", width)
        starts = _whole(archive["indptr"], "indptr", len(columns) + 1)
        counts = np.diff(starts)
        if len(starts) != lines + 1 or starts[0] or starts[-1] != len(columns) or (counts < 0).any():
            raise InputError(f"has an indptr that does not divide {len(columns)} entries into {lines} lines")
        rows = np.repeat(np.arange(lines), counts)
        if kind == "csc":
            rows, columns = columns, rows
    else:
        raise InputError(f"holds a sparse matrix in the format {kind[:40]!r}; save it as csr, csc or coo")
    if not len(rows) == len(columns) == len(data):
        raise InputError(f"has {len(rows)} rows, {len(columns)} columns and {len(data)} values of entries")
    return from_triples((m, n), rows.tolist(), columns.tolist(), data)


def _whole(indices: Any, name: str, limit: int) -> Any:
    """A list of whole numbers from 0 to below a limit, refused where it is something else."""
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise InputError(f"has {name} of type {indices.dtype}; indices must be a list of whole numbers")
    if len(indices) and not (int(indices.min()) >= 0 and int(indices.max()) < limit):
        raise InputError(f"has a number in {name} that is not between 0 and {limit - 1}")
    return indices.astype(np.int64)


def _numpy_problem(error: Exception) -> str:
    if str(error) == "an object array":
        return "holds Python objects, which are never loaded; save numbers, or write JSON with strings"
    return "is not a whole numpy file"


def _text(path: Path) -> str:
    return read_text(path, MAX_BYTES, "; save the matrix as .npz")


def _csv(path: Path) -> list[list[str]]:
    rows: list[list[str]] = []
    csv.field_size_limit(sys.maxsize)  # else numbers of more than 131,072 digits are refused
    with io.StringIO(_text(path)) as file:
        # Comments count as blank lines: numpy.savetxt writes its header so.
        lines = ("\n" if line.lstrip().startswith("#") else line for line in file)
        reader = csv.reader(lines, skipinitialspace=True)
        try:
            for row in filter(None, reader):
                if rows and len(row) != len(rows[0]):
                    raise InputError(
                        f"line {reader.line_num} has {len(row)} entries, the first has {len(rows[0])}"
                    )
                rows.append(row)
        except csv.Error as error:
            raise InputError(f"line {reader.line_num} is not CSV: {error}") from None
    if not rows:
        raise InputError("holds no rows; write one row of numbers on each line")
    return rows


def _json(path: Path) -> Any:
    def refuse(name: str) -> Any:
        raise InputError(f"has the entry {name}, which is not a finite number")

    text = _text(path)
    try:
        # Numbers stay text: neither rounded to floats nor limited in length.
        document = json.loads(text, parse_float=str, parse_int=str, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InputError("is nested too deeply; write a list of rows") from None
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
    with io.StringIO(text) as file:
        header = file.readline().lower().split()
        if len(header) != 5 or header[:2] != ["%%matrixmarket", "matrix"]:
            raise InputError("does not begin with %%MatrixMarket matrix FORMAT FIELD SYMMETRY")
        layout, kind, symmetry = header[2:]
        if layout not in ("coordinate", "array") or kind not in ("integer", "real", "rational", "pattern"):
            wanted = "coordinate or array of integer, real, rational or pattern entries"
            raise InputError(f"is a Matrix Market {layout} of {kind} entries; this reads {wanted}")
        if symmetry not in ("general", "symmetric", "skew-symmetric"):
            raise InputError(f"has the symmetry {symmetry}; this reads general, symmetric and skew-symmetric")
        lines = ((k, line.split()) for k, line in enumerate(file, 2) if line.strip() and line[0] != "%")
        number, size = next(lines, (2, []))
        wanted_sizes = 3 if layout == "coordinate" else 2
        if len(size) != wanted_sizes or not all(x.isdecimal() and len(x) < 10 for x in size):
            raise InputError(f"line {number} should give {wanted_sizes} sizes")
        m, n = int(size[0]), int(size[1])
        held = len(text)
        values = m * n if symmetry == "general" else n * (n - 1) // 2  # at least
        if max(m, n) > MAX_ENTRIES or (layout == "array" and (values > held or m > held)):
            raise InputError(f"announces {m} x {n} entries, which a file of {held} bytes does not hold")
        if symmetry != "general" and m != n:
            raise InputError(f"is {symmetry} but has {m} rows and {n} columns")
        if layout == "coordinate":
            return SparseMatrix((m, n), _coordinates(lines, m, n, int(size[2]), kind, symmetry))
        return _array(lines, m, n, symmetry)


def _coordinates(
    lines: Any, m: int, n: int, count: int, kind: str, symmetry: str
) -> dict[tuple[int, int], Any]:
    entries: dict[tuple[int, int], Any] = {}
    width = 2 if kind == "pattern" else 3
    seen = 0
    for number, words in lines:
        if len(words) != width or not all(x.isdecimal() and len(x) < 10 for x in words[:2]):
            raise InputError(
                f"line {number} should hold a row, a column{' and a value' if width == 3 else ''}"
            )
        i, j = int(words[0]) - 1, int(words[1]) - 1
        if not (0 <= i < m and 0 <= j < n):
            raise InputError(f"line {number}: there is no entry ({i + 1}, {j + 1}) in a {m} x {n} matrix")
        if (i, j) in entries:
            raise InputError(f"line {number}: the entry ({i + 1}, {j + 1}) is given twice")
        value: Any = "1" if kind == "pattern" else words[2]
        if i == j and symmetry == "skew-symmetric" and read_number(value, radius=0)[0]:
            raise InputError(
                f"line {number}: the entry ({i + 1}, {i + 1}) is {value[:40]}; a skew-symmetric matrix has"
                " zeros on the diagonal, so leave it out, or write general and all entries"
            )
        entries[i, j] = value
        if symmetry != "general" and i != j:
            entries[j, i] = value if symmetry == "symmetric" else _negative(value)
        seen += 1
    if seen != count:
        raise InputError(f"announces {count} entries and holds {seen}")
    return entries


def _array(lines: Any, m: int, n: int, symmetry: str) -> list[list[Any]]:
    skew = symmetry == "skew-symmetric"
    places = [(i, j) for j in range(n) for i in range(0 if symmetry == "general" else j + skew, m)]
    rows: list[list[Any]] = [["0"] * n for _ in range(m)]
    values = [word for _, words in lines for word in words]
    if len(values) != len(places):
        raise InputError(f"should hold {len(places)} entries and holds {len(values)}")
    for (i, j), value in zip(places, values, strict=True):
        rows[i][j] = value
        if symmetry != "general" and i != j:
            rows[j][i] = _negative(value) if skew else value
    return rows


def _negative(text: str) -> str:
    return text[1:] if text.startswith("-") else "-" + text.removeprefix("+")


READERS: dict[str, Callable[[Path], Any]] = {
    ".npy": _npy, ".npz": _npz, ".csv": _csv, ".mtx": _mtx, ".json": _json,
}  # fmt: skip
