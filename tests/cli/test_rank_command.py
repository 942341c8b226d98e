"""``agattn rank``: files of all kinds, good and bad, and what is printed about them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import call, document


def hilbert_file(folder: Path, n: int = 60) -> Path:
    path = folder / "hilbert.json"
    path.write_text(json.dumps([[f"1/{i + j + 1}" for j in range(n)] for i in range(n)]))
    return path


def test_hilbert_matrix(tmp_path: Path) -> None:
    assert document("rank", str(hilbert_file(tmp_path))) == {
        "schema": "agattn/rank/1", "rank": 60, "evidence": "proved", "method": "rational",
        "precision_bits": None, "lower_bound": 60, "upper_bound": 60, "gap": None,
    }  # fmt: skip
    out = call("rank", hilbert_file(tmp_path)).out
    assert "rank 60 (proved)" in out
    assert "60 x 60 minor" in out


@pytest.mark.parametrize("method", ["auto", "rational", "modular", "ball", "mpmath"])
def test_every_method_has_the_schema(tmp_path: Path, method: str) -> None:
    path = tmp_path / "m.json"
    path.write_text('[[1, 2, "3"], [2, 4, 6], [0, 0, "1/3"]]')
    assert document("rank", path, "--method", method, "--precision", "100")["rank"] == 2


def test_undecided_rank_prints_its_bounds(tmp_path: Path) -> None:
    path = tmp_path / "h.npy"
    np.save(path, np.array([[1 / (i + j + 1) for j in range(30)] for i in range(30)]))
    found = document("rank", path, status=3)
    assert found["rank"] is None
    assert found["lower_bound"] < found["upper_bound"] == 30
    assert call("rank", path, "--radius", "0")[0] == 0


# More digits than Python converts from text by default.
LONG = "1" + "0" * 6000
SYMMETRIC = "%%MatrixMarket matrix coordinate integer symmetric\n% a comment\n3 3 3\n1 1 1\n2 1 2\n3 3 5\n"
SKEW = "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n"
PATTERN = "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 1\n2 3\n"
REAL = "%%MatrixMarket matrix array real general\n2 2\n0.5\n1.0\n0.25\n0.5\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "1,2\n2,4\n", 1), ("a.csv", "# header\n1/2, 1\n\n0.25 , 1e0\n", 2),
        ("a.csv", "\ufeff1,2\n3,4\n", 2), ("a.csv", f"{LONG}0,1\n{LONG}0,1\n", 1),
        ("a.json", '{"matrix": [[1, 2], [2, 4]]}', 1), ("a.json", "[]", 0), ("a.json", "[[], []]", 0),
        ("a.json", f"[[{LONG}0, 1], [{LONG}1, 1]]", 2), ("a.json", '[["0.5"]]', 1),
        ("a.json", "[[0.1, 0.2], [0.3, 0.6]]", 1), ("a.json", "[[0.1, 1], [1, 10]]", 1),
        ("a.mtx", SYMMETRIC, 3), ("a.mtx", SKEW, 2), ("a.mtx", PATTERN, 2), ("a.mtx", REAL, 1),
        ("A.CSV", "7\n", 1),
    ],
)  # fmt: skip
def test_text_files(tmp_path: Path, name: str, text: str, expected: int) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    status, out, err = call("rank", path, "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["rank"] == expected


EXACT, ROUNDED = ("rational", "proved"), ("ball", "numerical")


@pytest.mark.parametrize(
    ("name", "content", "known"),
    [
        ("a.json", "[[0.1, 0.2], [0.3, 0.6]]", EXACT), ("a.json", '[["0.1", 2e-1], [0.3, "3/5"]]', EXACT),
        ("a.csv", "0.1,0.2\n0.3,0.6\n", EXACT), ("a.mtx", REAL, EXACT),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 0.1\n2 1 0.3\n", EXACT),
        ("a.csv", "1.000000000000000,2.000000000000000\n1.000000000000000,2.000000000000000\n", ROUNDED),
        ("a.npy", [[0.1, 0.2], [0.3, 0.6]], ROUNDED),
    ],
)  # fmt: skip
def test_decimals_in_text_are_rational_and_floats_are_not(
    tmp_path: Path, name: str, content: Any, known: tuple[str, str]
) -> None:
    path = tmp_path / name
    write(path, content)
    found = document("rank", path)
    assert (found["rank"], found["method"], found["evidence"]) == (1, *known)


def test_floats_that_are_said_to_be_exact_are_rational(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, [[0.5, 0.25], [1.0, 0.5]])
    assert document("rank", path)["evidence"] == "numerical"
    assert document("rank", path, "--radius", "0")["evidence"] == "proved"


def test_numpy_files(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(12).reshape(3, 4))
    np.savez(tmp_path / "b.npz", only=np.arange(12.0).reshape(3, 4))
    for name in ("a.npy", "b.npz"):
        assert json.loads(call("rank", tmp_path / name, "--json").out)["rank"] == 2


def write(path: Path, content: Any) -> None:
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    elif isinstance(content, dict):
        np.savez(path, **content)
    elif content is not None:
        np.save(path, content)


def test_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = str(hilbert_file(tmp_path, 8))
    for ending, begins in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        picture = tmp_path / f"a.{ending}"
        assert call("rank", path, "-O", str(picture))[0] == 0
        assert picture.read_bytes().startswith(begins)


def test_plot_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    status, _, err = call("rank", str(hilbert_file(tmp_path, 3)), "-O", str(tmp_path / "a.png"))
    assert (status, err.count("\n")) == (2, 1)
    assert "agattn[figures]" in err
