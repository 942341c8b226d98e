"""``agattn rlct``: tables of layers, weights in files, and the heads of a checkpoint."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.command_line import ROOT, call, document


def write(folder: Path, **arrays) -> Path:
    path = folder / "w.json"
    path.write_text(json.dumps(arrays))
    return path


def test_a_layer() -> None:
    found = document("rlct", "-d", 3, "-o", 2, "-a", 2)
    assert found["architecture"] == {"d": 3, "d_out": 2, "a": 2, "t": 2}
    boundary = [p for p in found["points"] if (p["r_v"], p["r_a"], p["r"]) == (1, 1, 1)]
    assert {(p["rank_k"], p["rank_q"]): (p["lambda"], p["multiplicity"]) for p in boundary} == {
        (1, 1): ("11/2", 2), (1, 2): ("11/2", 1), (2, 1): ("11/2", 1),
    }  # fmt: skip
    for point in found["points"]:
        assert sum(Fraction(term["value"]) for term in point["terms"]) == Fraction(point["lambda"])
    assert found["global"][0] == {"r_v": 0, "r_a": 0, "r": 0, "lambda": "5/2", "multiplicity": 1}
    shown = call("rlct", "-d", 3, "-o", 2, "-a", 2)
    assert shown.status == 0 and "(1,1,1)     1     1  11/2  2" in shown.out


def test_a_large_layer_has_one_stratum_of_each_kind() -> None:
    found = document("rlct", "-d", 768, "-o", 64, "-a", 64)
    least = {(x["r_v"], x["r_a"], x["r"]): (x["lambda"], x["multiplicity"]) for x in found["global"]}
    assert found["points"] == []
    assert least[0, 0, 0] == ("24064", 1) and least[1, 1, 1] == ("195263/4", 2)
    assert least[1, 1, 2] == ("98015/2", 2) and least[64, 64, 128] == ("143359/2", 1)


def test_weights_in_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, K=[[1, 2]], Q=[[0, 1]], V=[[2, 4]])
    found = document("rlct", path)["weights"]
    assert (found["lambda"], found["multiplicity"], found["evidence"]) == ("7/4", 1, "proved")
    assert found["deficit"] == "5/4"
    assert document("rlct", path, "-t", 1)["weights"]["lambda"] == "7/4"
    assert "stratum (1,1,1)" in call("rlct", path).out
    one_token = call("rlct", path, "-t", 1).out
    assert "a = 1, t = 1; rk V = 1, rk A = 1" in one_token and "stratum" not in one_token
    softmax = document("rlct", path, "--softmax")
    assert (softmax["weights"]["lambda"], softmax["normalization"]) == ("5/2", "softmax")
    path = write(tmp_path, K=[["1/2", 2]], Q=[[0, 1]], W_O=[[1], [1]], W_V=[[0, "1/3"]])
    assert document("rlct", path)["weights"]["r_v"] == 1
    path = write(tmp_path, A=[[1.5, 0], [0, 1e-9]], V=[[1.0, 2.0]])
    found = document("rlct", path, "--curve")["weights"]
    assert (found["rank_k"], found["r_a"], found["evidence"]) == (None, 1, "numerical")
    assert [step["lambda"] for step in found["curve"]] == ["5/2", "5/2"]  # rk A = 2, then 1
    assert [step["tolerance"] for step in found["curve"]] == pytest.approx([1e-12, 1e-9 / 1.5])
    shown = call("rlct", path)
    assert "not exact minimizers" in shown.out and "  (sA, V/s) is the same function" in shown.out


def test_a_checkpoint(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    d, heads, layers = 12, 3, 2
    arrays = {f"h.{i}.attn.c_attn.weight": rng.standard_normal((d, 3 * d)) for i in range(layers)}
    arrays["h.1.attn.c_attn.weight"][:, :4] = 0  # the queries of the first head of layer 1 are dead
    path = tmp_path / "model.npz"
    np.savez(path, **arrays)
    found = document("rlct", path, "--heads", heads, "-O", tmp_path / "out.json")
    assert [(x["layer"], x["head"]) for x in found["heads"]] == [(i, j) for i in range(2) for j in range(3)]
    assert json.loads((tmp_path / "out.json").read_text()) == found
    values = [(x["r_a"], x["rank_q"], x["lambda"]) for x in found["heads"]]
    # dim M(12, 4, 4) = 4·20 + 48 − 1, and with A = 0, V ≠ 0, K of full rank 4: R = 144 − 8·12 + 0.
    assert values[0] == (4, 4, "127/2") and values[3] == (0, 0, "24")
    shown = call("rlct", path, "--heads", heads)
    assert shown.status == 0 and "127/2" in shown.out and "not exact minimizers" in shown.out


def test_a_network(tmp_path: Path) -> None:
    words = ("--dims", "2,2,2", "--ranks", "2,2", "-t", 3)
    arrays = json.loads((ROOT / "examples" / "network.json").read_text())
    found = document("rlct", *words, write(tmp_path, **arrays))["bracket"]
    assert (found["lower"], found["upper"], found["lambda"]) == ("9/2",) * 3
    assert (found["multiplicity"], found["rank"], found["evidence"]) == (1, 9, "proved")
    shown = call("rlct", *words, tmp_path / "w.json")
    assert shown.status == 0 and "λ = 9/2, m = 1 (proved)" in shown.out and "1 more where φ is" in shown.out
    arrays = {name: np.array([[float(Fraction(x)) for x in row] for row in M]) for name, M in arrays.items()}
    np.savez(tmp_path / "w.npz", **arrays)
    assert document("rlct", *words, tmp_path / "w.npz")["bracket"] == found
    merged = write(tmp_path, K_1=[[[1, 0]]] * 2, Q_1=[[[1, 1]]] * 2, V_1=[[[1, 2]], [[3, 4]]])
    found = document("rlct", "--dims", "2,1", "--ranks", 1, "-t", 2, "--heads", 2, merged)
    assert found["architecture"]["heads"] == [2] and found["bracket"]["lambda"] == "5/2"
