"""What commands say of weights in files: fibers, equivalence, learning coefficients, recovered weights."""

import io
import json
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from command_line import ROOT, call, document

from agattn.architectures import SingleLayer
from agattn.architectures.lightning import phi
from agattn.checkpoints.reading import read_transformer, write_transformer
from agattn.geometry.variety.coordinates import coefficients
from tests.checkpoints.tiny import tiny

# Learning coefficients


def write(folder: Path, **arrays) -> Path:
    path = folder / "w.json"
    path.write_text(json.dumps(arrays))
    return path


def save_floats(path, exact):
    """Fractions in a file of numpy's."""
    np.savez(path, **{name: [[float(Fraction(x)) for x in row] for row in M] for name, M in exact.items()})


def text(*words):
    ended = call(*words)
    assert ended.status == 0, ended
    return ended.out


def test_a_layer() -> None:
    found = document("rlct -d 3 -o 2 -a 2")
    assert found["architecture"] == {"d": 3, "d_out": 2, "a": 2, "t": 2}
    boundary = [p for p in found["points"] if (p["r_v"], p["r_a"], p["r"]) == (1, 1, 1)]
    assert {(p["rank_k"], p["rank_q"]): (p["lambda"], p["multiplicity"]) for p in boundary} == {
        (1, 1): ("11/2", 2), (1, 2): ("11/2", 1), (2, 1): ("11/2", 1),
    }  # fmt: skip
    for point in found["points"]:
        assert sum(Fraction(term["value"]) for term in point["terms"]) == Fraction(point["lambda"])
    assert found["global"][0] == {"r_v": 0, "r_a": 0, "r": 0, "lambda": "5/2", "multiplicity": 1}
    shown = call("rlct -d 3 -o 2 -a 2")
    assert shown.status == 0 and "(1,1,1)     1     1  11/2  2" in shown.out


def test_a_large_layer_has_one_stratum_of_each_kind() -> None:
    found = document("rlct -d 768 -o 64 -a 64")
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
    words, exact = ("rlct", "--dims", "2,2,2", "--ranks", "2,2", "-t", 3), ROOT / "examples" / "network.json"
    shown = text(*words, exact)
    assert "λ = 9/2, m = 1 (proved)" in shown and "1 more where φ is" in shown
    save_floats(tmp_path / "w.npz", json.loads(exact.read_text()))
    assert document(*words, tmp_path / "w.npz")["bracket"] == document(*words, exact)["bracket"]
    merged = write(tmp_path, K_1=[[[1, 0]]] * 2, Q_1=[[[1, 1]]] * 2, V_1=[[[1, 2]], [[3, 4]]])
    found = document("rlct --dims 2,1 --ranks 1 -t 2 --heads 2", merged)
    assert found["architecture"]["heads"] == [2] and found["bracket"]["lambda"] == "5/2"


# Weights


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
    assert "two lines (proved)" in text("fiber", two_lines)
    assert "different" in text("fiber", two_lines, "--other", other)


def test_fiber_of_floating_weights_in_every_kind_of_file(tmp_path):
    save_file = pytest.importorskip("safetensors.numpy").save_file
    rng = np.random.default_rng(0)
    arrays = {letter: rng.standard_normal((2, 5)) for letter in "KQV"}
    np.savez(tmp_path / "w.npz", **arrays)
    save_file(arrays, tmp_path / "w.safetensors")
    for letter, M in arrays.items():
        np.save(tmp_path / f"layer_{letter.lower()}.npy", M)
    found = document("fiber", *(tmp_path / f"layer_{letter}.npy" for letter in "kqv"))
    assert found["generic"] and found["ranks"]["r_a"]["margin"] > 1e6
    assert document("fiber", tmp_path / "w.npz") == document("fiber", tmp_path / "w.safetensors") == found


def test_fiber_of_a_network(tmp_path):
    options = ["--dims", "2,2,1", "--ranks", "2,2", "-t", "2"]
    path, other, floats = tmp_path / "w.json", tmp_path / "other.json", tmp_path / "w.npz"
    head = {"A_1": [[1, 2], [2, 4]], "V_1": [[1, 0], [0, 1]], "A_2": [[1, 1], [0, 1]], "V_2": [[1, "1/2"]]}
    path.write_text(json.dumps(head))
    other.write_text(json.dumps(head | {"A_2": [[1, 4], [-3, 1]]}))
    save_floats(floats, head)
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
    assert "given      15           yes      1 skew            M_2 + S, S skew" in said
    assert "another function (proved)" in said


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
    [[relation]] = found["symmetry"]["layers"]
    assert found["evidence"] == "numerical" and found["residual"] < 1e-12
    assert relation["s"] == pytest.approx(3) and np.allclose(relation["gauge"], 3 * C)
    assert found["reason"].startswith(
        "of KᵀQ and V as they are stored, without outputs, biases and norms: A'"
    )
    assert document(*both, "--layer", "1", "--head", "0", status=1)["equivalent"] is False
    ended = call(*both, "--layer", "1", "--head", "1")
    assert ended.out.startswith("equal (numerical): of KᵀQ and V as they are stored")
    assert "not read as whole models: " in ended.err and "one has no tensor for E" in ended.err
    assert "line" in text("fiber", tmp_path / "one", "--layer", "0", "--head", "1")


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory):
    """A small Llama, and copies: values in another basis, the stream turned, a head times 1.001."""
    pytest.importorskip("safetensors")
    folder = tmp_path_factory.mktemp("rewritten")
    read = read_transformer(tiny("llama", folder / "before"))
    rng = np.random.default_rng(0)
    M, R = np.eye(6) + 0.3 * rng.standard_normal((6, 6)), np.linalg.qr(rng.standard_normal((24, 24)))[0]

    def write(name, change, ends=None):
        blocks = [{part: np.array(block[part], float) for part in block} for block in read.blocks]
        change(blocks[1])
        if ends is not None:
            change(blocks[0])
        wide = {part: np.array(read.ends[part], float) for part in read.ends}
        write_transformer(folder / "before", replace(read, ends=ends or wide, blocks=blocks), folder / name)

    def values(block):
        block["P"][1] = M @ block["P"][1]
        block["O"][2:] = block["O"][2:] @ np.linalg.inv(M)

    def turn(block):
        for part in "QKPGU":
            norm = f"{'attention' if part in 'QKP' else 'perceptron'}.gain"
            block[part] = block[part] * block[norm] @ R.T
        block["attention.gain"], block["perceptron.gain"] = np.ones((2, 24))
        block["O"], block["D"] = R @ block["O"], R @ block["D"]

    def scale(block):
        block["O"][2] *= 1.001

    write("values", values)
    ends = {"E": read.ends["E"] @ R.T, "W": read.ends["W"] * read.ends["final.gain"] @ R.T}
    write("turned", turn, ends | {"final.gain": np.ones(24)})
    write("scaled", scale)
    return folder


@pytest.mark.parametrize(
    ("name", "head", "status"),
    [("values", 2, 0), ("turned", 2, 0), ("turned", 0, 0), ("scaled", 2, 1), ("scaled", 3, 0)],
)
def test_a_head_of_whole_checkpoints_is_compared_with_outputs_and_norms(rewritten, name, head, status):
    words = ["equivalent", rewritten / "before", rewritten / name, "--layer", 1, "--head", head]
    found = document(*words, status=status)
    assert found["schema"] == "agattn/same-model/1" and found["equivalent"] is (status == 0)
    assert found["first"] == (None if status == 0 else "layer 1, outputs of head 2")
    alone = f"of layer 1, head {head} alone (keys, queries, values, outputs), with nothing said of the rest:"
    assert found["reason"].startswith(alone)


def test_options_of_arrays_and_of_whole_checkpoints_are_told_apart(rewritten):
    words = ["equivalent", rewritten / "before", rewritten / "scaled", "--layer", 1, "--head", 2]
    stored = call(*words, "--heads", 4, "--kv-heads", 2)
    assert stored.out.startswith("equal (numerical): of KᵀQ and V as they are stored, without outputs")
    for more, refused in (
        (["--tolerance", "0.1"], "--tolerance is for KᵀQ and V as they are stored; leave --tolerance out"),
        (["-O", "s.safetensors"], "s.safetensors holds the symmetry of two whole checkpoints; leave it out"),
    ):
        ended = call(*words, *more)
        assert ended.status == 2 and refused in " ".join(ended.err.split())
    ended = call("equivalent", rewritten / "before", rewritten / "scaled", "--head", 2)
    assert ended.status == 2 and "of which layer is this head? give --layer, too" in ended.err


def test_the_examples_are_the_same_function():
    weights, others = (ROOT / "examples" / f"{name}.json" for name in ("weights", "others"))
    assert text("equivalent", weights, others).startswith("equal (proved): A' = sA, V' = V/s with s = 2;")


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
    words = "identify -d 2 -o 1"
    y = coefficients(SingleLayer(2, 1), [[1, 2], [3, 4]], [[5, 7]])
    np.save(tmp_path / "y.npy", y.astype(np.int64))
    found = document(words, tmp_path / "y.npy")
    assert found["in_neuromanifold"] and found["evidence"] == "proved"
    assert found["a"] == [["1", "2"], ["3", "4"]]
    np.save(tmp_path / "y.npy", y.astype(float) / 3)
    found = document(words, tmp_path / "y.npy")
    assert found["in_neuromanifold"] and found["evidence"] == "numerical" and found["residual"] < 1e-14
    (tmp_path / "y.json").write_text('{"y": [1, 0, "1/2", 0, 0, 0]}')
    found = document(words, tmp_path / "y.json")
    assert (found["in_neuromanifold"], found["in_zariski_closure"]) == (False, True)
    (tmp_path / "y.json").write_text('{"y": [1, 0, 0, 0, 0, 1]}')
    found = document(words, tmp_path / "y.json")
    assert (found["violation"]["degree"], found["violation"]["value"]) == (4, "1")
    assert found["residual"] > 0.1 and "relative distance" in text(words, tmp_path / "y.json")
    X = np.random.default_rng(0).integers(-3, 4, (6, 2, 2))
    Y = np.stack([phi([[1, 2], [3, 4]], [[5, 7]], x) for x in X]).astype(np.int64)
    np.savez(tmp_path / "table.npz", X=X, Y=Y)
    assert document(words, tmp_path / "table.npz")["a"] == [["1", "2"], ["3", "4"]]


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
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert document("fiber -") == document("fiber", file)
    assert list(tmp_path.iterdir()) == [file]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1,2\n3")))
    assert call("rank -").err == "agattn: standard input: line 2 has 1 entries, the first has 2\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    assert call("fiber -").err == "agattn: nothing came on standard input, which - stands for\n"


@pytest.mark.parametrize(
    ("data", "rank"),
    [
        (b"1,2\n2,4\n", 1), (b'[[1, "1/2"], [2, 3]]', 2),
        (b"%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 5\n", 1),
    ],
)  # fmt: skip
def test_a_matrix_on_standard_input(monkeypatch, data, rank):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert document("rank -")["rank"] == rank
