import io
import json
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from command_line import call, document

from agattn.architectures import SingleLayer
from agattn.architectures.lightning import phi
from agattn.geometry.variety.coordinates import coefficients


def text(*words):
    ended = call(*words)
    assert ended.status == 0, ended
    return ended.out


@pytest.fixture
def two_lines(tmp_path):
    path = tmp_path / "w.json"
    path.write_text('{"K": [[1, "1/2"]], "Q": [[0, 3]], "V": [[1, 0], [2, 0]]}')
    return path


def test_fiber_of_exact_weights(two_lines, tmp_path):
    found = document("fiber", two_lines)
    assert (found["case"], found["dimension"], found["dimension_with_keys"]) == ("two lines", 1, 2)
    assert found["evidence"] == "proved" and not found["generic"]
    assert [c["name"] for c in found["components"]] == ["rescaling", "swapped"]
    other = tmp_path / "swapped.json"
    other.write_text('{"A": [[0, 3], [0, 0]], "V": [[1, "1/2"], [2, 1]]}')
    answer = document("fiber", two_lines, "--other", other)["equivalent"]
    assert answer["equal"] and answer["component"] == "swapped" and answer["s"] not in ("0", None)
    other.write_text('{"A": [[0, 3], [0, 0]], "V": [[1, "1/3"], [2, 1]]}')
    answer = document("fiber", two_lines, "--other", other)["equivalent"]
    assert not answer["equal"] and answer["input"] and answer["difference"] != "0"
    assert "two lines (proved)" in text("fiber", two_lines) and "different" in text(
        "fiber", two_lines, "--other", other
    )


def test_fiber_of_floating_weights_in_every_kind_of_file(tmp_path):
    save_file = pytest.importorskip("safetensors.numpy").save_file
    rng = np.random.default_rng(0)
    arrays = {letter: rng.standard_normal((2, 5)) for letter in "KQV"}
    np.savez(tmp_path / "w.npz", **arrays)
    save_file(arrays, tmp_path / "w.safetensors")
    for letter, M in arrays.items():
        np.save(tmp_path / f"layer_{letter.lower()}.npy", M)
    several = [tmp_path / f"layer_{letter}.npy" for letter in "kqv"]
    found = [
        document("fiber", *files) for files in ([tmp_path / "w.npz"], [tmp_path / "w.safetensors"], several)
    ]
    assert found[0] == found[1] == found[2]
    assert found[0]["generic"] and found[0]["ranks"]["r_a"]["margin"] > 1e6


def test_fiber_of_a_network(tmp_path):
    options = ["--dims", "2,2,1", "--ranks", "2,2", "-t", "2"]
    path, other, floats = tmp_path / "w.json", tmp_path / "other.json", tmp_path / "w.npz"
    head = {"A_1": [[1, 2], [2, 4]], "V_1": [[1, 0], [0, 1]], "A_2": [[1, 1], [0, 1]], "V_2": [[1, "1/2"]]}
    path.write_text(json.dumps(head))
    other.write_text(json.dumps(head | {"A_2": [[1, 4], [-3, 1]]}))
    np.savez(floats, **{x: np.array([[float(Fraction(e)) for e in r] for r in M]) for x, M in head.items()})
    found = document("fiber", *options, path, "--other", other)
    assert (found["case"], found["dimension"], found["upper_bound"]) == ("rank-one head", 15, 15)
    assert (found["parameters"], found["orbit_dimension"], found["generic"]) == (22, 14, False)
    [[skew]] = [c["directions"] for c in found["components"]]
    assert skew["name"] == "skew" and skew["vectors"] == [{"Q_2": [[["0", "-1"], ["1", "0"]]]}]
    same = {"equal": True, "evidence": "proved", "error_probability": 0.0, "symmetry": None}
    assert found["equivalent"] == same
    assert document("fiber", *options, floats) == found | {"equivalent": None}
    other.write_text(json.dumps(head | {"A_2": [[1, 4], [-2, 1]]}))
    said = text("fiber", *options, path, "--other", other)
    assert "M_2 + S, S skew; dim ≥ 15" in said and "another function (proved)" in said


def test_equivalent(two_lines, tmp_path):
    other = tmp_path / "other.json"
    other.write_text('{"A": [[0, 3], [0, 0]], "V": [[1, "1/2"], [2, 1]]}')
    found = document("equivalent", two_lines, other)
    assert found["equivalent"] and (found["residual"], found["evidence"]) == (0, "proved")
    (((relation,),), bases) = found["symmetry"]["layers"], found["symmetry"]["bases"]
    assert (relation["component"], bases) == ("swapped", [])
    assert call("equivalent", two_lines, other).out.startswith("equal (proved): A' = s·v qᵀ")
    other.write_text('{"A": [[0, 3], [0, 0]], "V": [[1, "1/3"], [2, 1]]}')
    found = document("equivalent", two_lines, other, status=1)
    assert found["equivalent"] is False and found["symmetry"] is None and found["difference"] != "0"
    assert call("equivalent", two_lines, other).status == 1
    other.write_text('{"A": [[1, 2], [3, 4]], "V": [[1.0, 0.0], [0.0, 1.0]]}')
    near = tmp_path / "near.json"
    near.write_text('{"A": [[1, 2], [3, 4]], "V": [[1.0, 0.0], [1e-8, 1.0]]}')
    found = document("equivalent", other, near, "--tolerance", "6.6e-9", status=3)
    assert found["equivalent"] is None and 0 < found["residual"] < 6.6e-9
    assert document("equivalent", other, near, "--tolerance", "1e-7")["equivalent"]
    assert not document("equivalent", other, near, "--tolerance", "1e-10", status=1)["equivalent"]


def test_equivalent_heads_of_checkpoints(tmp_path):
    save_file = pytest.importorskip("safetensors.numpy").save_file
    rng = np.random.default_rng(0)
    tensors = {f"h.{n}.attn.c_attn.weight": rng.standard_normal((8, 24)) for n in range(2)}
    C = rng.standard_normal((4, 4))
    moved = {name: M.copy() for name, M in tensors.items()}
    at = moved["h.1.attn.c_attn.weight"]
    at[:, 4:8] = 3 * at[:, 4:8] @ C.T  # the queries of head 1
    at[:, 12:16] = at[:, 12:16] @ np.linalg.inv(C)  # its keys
    at[:, 20:24] /= 3
    at[0, 0] += 1  # head 0
    for folder, contents in (("one", tensors), ("two", moved)):
        (tmp_path / folder).mkdir()
        save_file(contents, tmp_path / folder / "model.safetensors")
        (tmp_path / folder / "config.json").write_text(
            '{"model_type": "gpt2", "n_head": 2, "n_embd": 8, "n_layer": 2}'
        )
    both = ["equivalent", tmp_path / "one", tmp_path / "two"]
    found = document(*both, "--layer", "1", "--head", "1")
    (((relation,),),) = (found["symmetry"]["layers"],)
    assert (
        found["evidence"] == "numerical" and relation["s"] == pytest.approx(3) and found["residual"] < 1e-12
    )
    assert np.allclose(relation["gauge"], 3 * C)
    assert document(*both, "--layer", "1", "--head", "0", status=1)["equivalent"] is False
    assert "line" in text("fiber", tmp_path / "one", "--layer", "0", "--head", "1")


def test_stacks_and_layers(tmp_path):
    stack = tmp_path / "stack.json"
    stack.write_text('{"A": [[[1, 0], [0, 0]], [[0, 1], [1, 0]]], "V": [[[1, 2]], [[3, 4]]]}')
    other = tmp_path / "other.json"
    other.write_text('{"A": [[[0, 3], [3, 0]], [[1, 0], [0, 0]]], "V": [[[1, "4/3"]], [[1, 2]]]}')
    assert document("equivalent", stack, other)["symmetry"]["layers"][0][0]["other"] == 1
    assert call("equivalent", stack, other, "--head", "0").status == 1
    deep = tmp_path / "deep.json"
    deep.write_text('{"A_1": [[1]], "V_1": [[2]], "A_2": [[3]], "V_2": [[5]]}')
    assert document("equivalent", deep, deep)["equivalent"]
    assert document("fiber", deep, "--layer", "1")["canonical"]["A"] == [["1"]]


def test_identify(tmp_path):
    y = coefficients(SingleLayer(2, 1), [[1, 2], [3, 4]], [[5, 7]])
    np.save(tmp_path / "y.npy", y.astype(np.int64))
    found = document("identify", tmp_path / "y.npy", "-d", 2, "-o", 1)
    assert (
        found["in_neuromanifold"] and found["a"] == [["1", "2"], ["3", "4"]] and found["evidence"] == "proved"
    )
    np.save(tmp_path / "y.npy", y.astype(float) / 3)
    found = document("identify", tmp_path / "y.npy", "-d", 2, "-o", 1)
    assert found["in_neuromanifold"] and found["evidence"] == "numerical" and found["residual"] < 1e-14
    (tmp_path / "y.json").write_text('{"y": [1, 0, "1/2", 0, 0, 0]}')
    found = document("identify", tmp_path / "y.json", "-d", 2, "-o", 1)
    assert (found["in_neuromanifold"], found["in_zariski_closure"]) == (False, True)
    (tmp_path / "y.json").write_text('{"y": [1, 0, 0, 0, 0, 1]}')
    found = document("identify", tmp_path / "y.json", "-d", 2, "-o", 1)
    assert (
        found["violation"]["degree"] == 4 and found["violation"]["value"] == "1" and found["residual"] > 0.1
    )
    assert "relative distance" in text("identify", tmp_path / "y.json", "-d", 2, "-o", 1)
    X = np.random.default_rng(0).integers(-3, 4, (6, 2, 2))
    Y = np.stack([phi([[1, 2], [3, 4]], [[5, 7]], x) for x in X]).astype(np.int64)
    np.savez(tmp_path / "table.npz", X=X, Y=Y)
    assert document("identify", tmp_path / "table.npz", "-d", 2, "-o", 1)["a"] == [["1", "2"], ["3", "4"]]


@pytest.mark.parametrize("kind", ["npz", "safetensors", "json"])
def test_weights_on_standard_input(tmp_path, monkeypatch, kind):
    arrays = {letter: np.random.default_rng(0).standard_normal((2, 5)) for letter in "KQV"}
    file = tmp_path / f"w.{kind}"
    if kind == "npz":
        np.savez(file, **arrays)
    elif kind == "json":
        file.write_text("\ufeff" + json.dumps({k: M.tolist() for k, M in arrays.items()}), encoding="utf-8")
    else:
        pytest.importorskip("safetensors.numpy").save_file(arrays, file)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    before = set(Path(tempfile.gettempdir()).glob("agattn-*"))
    assert document("fiber", "-") == document("fiber", file)
    assert set(Path(tempfile.gettempdir()).glob("agattn-*")) <= before
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1,2\n3")))
    assert call("rank", "-").err == "agattn: standard input: line 2 has 1 entries, the first has 2\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    assert call("fiber", "-").err == "agattn: nothing came on standard input, which - stands for\n"


@pytest.mark.parametrize(
    ("data", "rank"),
    [
        (b"1,2\n2,4\n", 1), (b'[[1, "1/2"], [2, 3]]', 2),
        (b"%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 5\n", 1),
    ],
)  # fmt: skip
def test_a_matrix_on_standard_input(monkeypatch, data, rank):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert document("rank", "-")["rank"] == rank
