"""Files of matrices at the limits of what they may hold."""

import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from agattn.algebra.matrix_io import MAX_ENTRIES, array_of, load_matrix
from agattn.algebra.rank import rank
from agattn.errors import InputError
from agattn.evidence import Evidence


@pytest.mark.parametrize("line", ["x 1 5", "1 x 5", "1 -1 5", "1 1", "1 1 5 6", "1 1234567890 5"])
def test_a_line_without_a_row_and_a_column_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate integer general\n3 3 1\n{line}\n")
    with pytest.raises(InputError, match="line 3 should hold a row, a column and a value"):
        load_matrix(path)


def test_a_skew_symmetric_matrix_has_no_diagonal(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    head = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n"
    path.write_text(f"{head}2 1 5\n3 3 -1.5\n")
    with pytest.raises(InputError, match=r"a\.mtx: line 4: the entry \(3, 3\) is -1\.5; a skew-symmetric"):
        load_matrix(path)
    path.write_text(f"{head}2 1 5\n3 3 0.0\n")
    assert load_matrix(path).entries == {(1, 0): "5", (0, 1): "-5", (2, 2): "0.0"}


def test_an_array_without_entries_has_no_more_rows_than_other_matrices() -> None:
    for rows in (MAX_ENTRIES, MAX_ENTRIES + 1):
        file = BytesIO()
        np.save(file, np.zeros((rows, 0)))
        file.seek(0)
        if rows == MAX_ENTRIES:
            assert array_of(file, 0).shape == (rows, 0)
        else:
            with pytest.raises(ValueError, match="a size that the file cannot hold"):
                array_of(file, 0)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_every_sparse_format_of_scipy_is_read(tmp_path: Path, kind: str) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    rows = np.array([[1, 0, 2, 0], [0, 3, 0, 0], [2, 0, 4, 0], [0, 0, 0, 2**62]])
    for number, make in enumerate((sparse.csr_matrix, sparse.csr_array)):
        sparse.save_npz(tmp_path / f"{number}.npz", make(rows).asformat(kind))
        found = rank(load_matrix(tmp_path / f"{number}.npz"))
        assert (found.rank, found.shape, found.evidence) == (3, (4, 4), Evidence.PROVED)


@pytest.mark.parametrize(
    "places", [[0, 2**34 + 1, 0], [0, 2, 1], [1, 1, 2], [-1, 0, 2], [0, 1, 3], [[0, 1, 2]]]
)
def test_places_of_a_sparse_matrix_that_scipy_would_follow_out_of_its_arrays(tmp_path, places) -> None:
    pytest.importorskip("scipy.sparse")
    good = {"format": np.array("csr"), "shape": np.array([2, 2]), "data": np.ones(2), "indices": np.arange(2)}
    np.savez(tmp_path / "a.npz", **good, indptr=np.array(places))
    with pytest.raises(InputError, match="indptr that is no list of places among the indices"):
        load_matrix(tmp_path / "a.npz")


def test_sparse_matrices_name_the_extra_with_scipy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("format", "shape", "data", "row", "col")
    np.savez(tmp_path / "a.npz", **dict.fromkeys(names, np.arange(2)))
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    message = r"a\.npz holds a sparse matrix, which needs scipy; .* pip install 'agattn\[train\]'"
    with pytest.raises(InputError, match=message):
        load_matrix(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[1, 2], 3]", "row 2 is not a list"),
        ("[[1, [2]]]", r"entry \(1, 2\) is \[\"2\"\]; write a number or a string"),
    ],
)
def test_what_is_no_matrix_is_refused_with_the_name_of_the_file(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"a\.json:? {message}"):
        load_matrix(path)
    path.write_text("[[1, 2], [3, 4]]")
    assert load_matrix(path) == [["1", "2"], ["3", "4"]]


def test_numbers_may_be_long_in_every_text_format(tmp_path: Path) -> None:
    long = "7" * 200_000
    market = f"%%MatrixMarket matrix array integer general\n1 1\n{long}\n"
    for name, text in (("a.csv", f"{long}\n"), ("a.json", f"[[{long}]]"), ("a.mtx", market)):
        (tmp_path / name).write_text(text)
        assert load_matrix(tmp_path / name) == [[long]]
