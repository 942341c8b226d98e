"""Matrices from files: .npy, .npz, .csv, .mtx (Matrix Market) and .json.

Numbers in text files are handed on as they are written, so that ``0.1`` stays one tenth and an integer of a
million bits stays whole. Nothing is ever unpickled or evaluated.
"""

from __future__ import annotations

import csv
import json
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from agattn.algebra.matrices import SparseMatrix, from_triples
from agattn.errors import InputError


def load_matrix(path: str | Path) -> Any:
    """Read a matrix, in a form that :func:`agattn.algebra.rank.rank` takes.

    Raises:
        InputError: if there is no such file, its ending is unknown, or it does not hold one matrix.
    """
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path}: cannot read {path.suffix or 'a file without ending'}; use {', '.join(READERS)}"
        )
    try:
        return reader(path)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise InputError(f"{path}: is too large for the memory") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not a text file in UTF-8") from None


def _npy(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError) as error:
        raise InputError(_numpy_problem(error)) from None


def _npz(path: Path) -> Any:
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise InputError("is not a whole numpy file")
    try:
        with np.load(path, allow_pickle=False) as archive:
            if {"format", "shape", "data"} <= set(archive.files):
                return _scipy_sparse(archive)
            if len(archive.files) != 1:
                names = ", ".join(archive.files) or "none"
                raise InputError(f"holds {len(archive.files)} arrays ({names}); give a file with exactly one")
            return archive[archive.files[0]]
    except InputError:
        raise
    except (ValueError, KeyError, EOFError, SyntaxError, zlib.error, zipfile.BadZipFile) as error:
        raise InputError(_numpy_problem(error)) from None


def _scipy_sparse(archive: Any) -> SparseMatrix:
    """The arrays that ``scipy.sparse.save_npz`` writes."""
    kind = archive["format"].item()
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    m, n = (int(x) for x in archive["shape"])
    if kind == "coo":
        rows, columns = archive["row"], archive["col"]
    elif kind in ("csr", "csc"):
        starts, columns = archive["indptr"], archive["indices"]
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        if kind == "csc":
            rows, columns = columns, rows
    else:
        raise InputError(f"holds a sparse matrix in the format {kind!r}; save it as csr, csc or coo")
    return from_triples((m, n), rows.tolist(), columns.tolist(), archive["data"])


def _numpy_problem(error: Exception) -> str:
    if "pickle" in str(error).lower() or "object" in str(error).lower():
        return "holds Python objects, which are never loaded; save numbers, or write JSON with strings"
    return "is not a whole numpy file"


def _csv(path: Path) -> list[list[str]]:
    rows: list[list[str]] = []
    with path.open(newline="", encoding="utf-8-sig") as file:
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
    return rows


def _json(path: Path) -> Any:
    def refuse(name: str) -> Any:
        raise InputError(f"has the entry {name}, which is not a finite number")

    text = path.read_text(encoding="utf-8-sig")
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
    with path.open(encoding="utf-8") as file:
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
        if len(words) != width or not (words[0].isdecimal() and words[1].isdecimal()):
            raise InputError(
                f"line {number} should hold a row, a column{' and a value' if width == 3 else ''}"
            )
        i, j = int(words[0]) - 1, int(words[1]) - 1
        if not (0 <= i < m and 0 <= j < n):
            raise InputError(f"line {number}: there is no entry ({i + 1}, {j + 1}) in a {m} x {n} matrix")
        if (i, j) in entries:
            raise InputError(f"line {number}: the entry ({i + 1}, {j + 1}) is given twice")
        value: Any = "1" if kind == "pattern" else words[2]
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
