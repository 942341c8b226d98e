"""--model: commands on models."""

import json

import pytest
from command_line import call, document

from agattn.documents import check

SUMS = '[input]\ndim = 3\n[[layer]]\ntype = "perceptron"\nwidths = [5, 1]\ndegree = 4\n'
LAYER = '[input]\ndim = 2\ntokens = 2\n[[layer]]\ntype = "attention"\nout = 1\nrank = 2\n'
DEEP = "[input]\ndim = 3\ntokens = 3\n" + 2 * '[[layer]]\ntype = "attention"\nout = 3\nrank = 2\n'


@pytest.fixture
def models(tmp_path, monkeypatch):
    for name, text in {"sums": SUMS, "layer": LAYER, "deep": DEEP}.items():
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "cubic.py").write_text(
        "import agattn as ag\n"
        "def twisted(s):\n    return [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3]\n"
        "cubic = ag.PolynomialMap(twisted, {'s': 2})\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_dimension(models):
    found = document("dimension", "--model", "sums.toml")
    assert (found["dimension"], found["evidence"], found["predicted"], found["paper"]) == (
        14,
        "proved",
        None,
        None,
    )
    assert found["architecture"]["layer"][0]["widths"] == [5, 1]
    found = document("dimension", "--model", "cubic.py:cubic")
    assert (found["dimension"], found["architecture"]["function"]) == (2, "twisted")
    deep = document("dimension", "--dims", "3,3,3", "--ranks", "2,2", "-t", "3")
    assert document("dimension", "--model", "deep.toml") | {"seconds": 0} == deep | {"seconds": 0}
    assert "at most  14: sums of 5 powers" in call("dimension", "--model", "sums.toml").out


def test_a_head_is_a_layer(models):
    assert call("ideal", "--model", "layer.toml").out == call("ideal", "-d", "2", "-o", "1").out
    by_model = call("emit", "implicit-ideal", "--model", "layer.toml")
    assert by_model == call("emit", "implicit-ideal", "-d", "2", "-o", "1")


def test_learning_coefficients(models):
    (models / "weights.json").write_text(json.dumps({"W_1_1": [[1, 0, 0]] * 5, "W_1_2": [[1, 0, 0, 0, 0]]}))
    found = document("rlct", "--model", "sums.toml", "weights.json")
    assert found["architecture"]["input"] == {"dim": 3, "tokens": 1}
    assert found["bracket"]["rank"] == 3 and found["bracket"]["evidence"] == "proved"


def test_a_fiber(models):
    """Clebsch: five fourth powers in three variables fill 14 dimensions, so fibers have 6, not 5."""
    one = {"W_1_1": [[1, 2, 3], [1, -1, 2], [0, 1, 5], [2, 1, 1], [1, 4, -2]], "W_1_2": [[1, 1, 2, 3, "1/2"]]}
    half = [["1/2", 1, "3/2"], *one["W_1_1"][1:]]
    others = {"scaled": {"W_1_1": half, "W_1_2": [[16, 1, 2, 3, "1/2"]]}, "half": {**one, "W_1_1": half}}
    for name, weights in {"one": one, **others}.items():
        (models / f"{name}.json").write_text(json.dumps(weights))
    found = document("fiber", "--model", "sums.toml", "one.json", "--other", "scaled.json")
    assert (found["dimension"], found["upper_bound"], found["evidence"]) == (6, 6, "proved")
    assert found["symmetries"] == [{"name": "neuron", "dimension": 5}] and not found["generic"]
    equivalent = found["equivalent"]
    assert (equivalent["equal"], equivalent["evidence"], equivalent["error_probability"]) == (
        True,
        "proved",
        0,
    )
    assert equivalent["symmetry"] == [
        {"name": "neurons", "parameters": ["W_1_1", "W_1_2"], "order": [1, 2, 3, 4, 5],
         "matrix": [["1/2", "1", "1", "1", "1"]]},
    ]  # fmt: skip
    said = call("fiber", "--model", "sums.toml", "one.json", "--other", "half.json")
    assert "dimension at the weights 6: the symmetries have 5 (neuron 5)" in said.out
    assert said.out.endswith("half.json: another function (proved)\n")


def test_singularities(models):
    found = document("singularities", "--model", "cubic.py:cubic")
    assert (found["dimension"], found["closed"], found["zeros"]) == (2, True, ["s = 0"])
    kinds = {kind["name"]: (kind["singular"], kind["argument"]) for kind in found["kinds"]}
    assert kinds["s = 0"] == ("singular", "cone") and kinds["generic"] == ("smooth", "equations")
    shown = " ".join(call("singularities", "--model", "cubic.py:cubic").out.split())
    assert "homogeneous of degree 3 in s, and 0 only where s = 0" in shown and "not known" not in shown


def test_a_report(models):
    found = document("report", "--model", "cubic.py:cubic", "--out", "r")
    assert found["model"]["summary"].startswith("Dimension 2 in 4 coordinates, proved. Of 4 kinds of ")
    said = (models / "r" / "report.md").read_text()
    assert said.startswith("# Model twisted(s: 2)\n")
    assert "agattn report --model cubic.py:cubic --out DIR" in said
    assert found["files"] == ["r/report.html", "r/report.md"]


def test_a_study_of_models(models):
    text = SUMS.replace("[input]", "[models.input]").replace("[[layer]]", "[[models.layer]]")
    (models / "grid.toml").write_text(f'ask = "dimension"\n[[models]]\n{text}')
    ended = call("study", "grid.toml", "--no-cache", "--workers", "0", "-O", "results.jsonl")
    assert ended.status == 0, ended
    line = json.loads((models / "results.jsonl").read_text())
    check("study", line)
    assert line["result"]["dimension"] == 14 and line["architecture"]["input"]["dim"] == 3
    assert call("report", "--study", "results.jsonl", "--out", "report").status == 0
    assert "perceptron 5,1" in (models / "report" / "report.md").read_text()
