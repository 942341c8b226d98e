"""What commands say of models in files, and how documents of all commands name what was asked about."""

import json

import numpy as np
import pytest
from command_line import call, document, validate

import agattn as ag
from agattn.architectures.model_file import read_toml
from agattn.documents import check
from agattn.experiments.studies.jobs import read_lines

# Models

SUMS = '[input]\ndim = 3\n[[layer]]\ntype = "perceptron"\nwidths = [5, 1]\ndegree = 4\n'
ONE_HEAD = '[input]\ndim = 2\ntokens = 2\n[[layer]]\ntype = "attention"\nout = 1\nrank = 2\n'
DEEP = "[input]\ndim = 3\ntokens = 3\n" + 2 * '[[layer]]\ntype = "attention"\nout = 3\nrank = 2\n'


@pytest.fixture
def models(tmp_path, monkeypatch):
    for name, text in {"sums": SUMS, "layer": ONE_HEAD, "deep": DEEP}.items():
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "cubic.py").write_text(
        "import agattn as ag\n"
        "def twisted(s):\n    return [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3]\n"
        "cubic = ag.PolynomialMap(twisted, {'s': 2})\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_dimension(models):
    found = document("dimension sums.toml")
    assert (found["dimension"], found["evidence"]) == (14, "proved")
    assert found["predicted"] is found["paper"] is None
    found = document("dimension cubic.py:cubic")
    assert (found["dimension"], found["architecture"]["function"]) == (2, "twisted")
    deep = document("dimension --dims 3,3,3 --ranks 2,2 -t 3")
    assert document("dimension deep.toml") | {"seconds": 0} == deep | {"seconds": 0}
    assert "at most  14: sums of 5 powers" in call("dimension sums.toml").out


def test_a_head_is_a_layer(models):
    assert call("ideal layer.toml").out == call("ideal -d 2 -o 1").out
    by_model = call("emit implicit-ideal layer.toml")
    assert by_model == call("emit implicit-ideal -d 2 -o 1")


def test_learning_coefficients(models):
    (models / "weights.json").write_text(json.dumps({"W_1_1": [[1, 0, 0]] * 5, "W_1_2": [[1, 0, 0, 0, 0]]}))
    found = document("rlct sums.toml weights.json")
    assert found["architecture"]["input"] == {"dim": 3, "tokens": 1}
    assert found["bracket"]["rank"] == 3 and found["bracket"]["evidence"] == "proved"


def test_a_fiber(models):
    """Clebsch: five fourth powers in three variables fill 14 dimensions, so fibers have 6, not 5."""
    one = {"W_1_1": [[1, 2, 3], [1, -1, 2], [0, 1, 5], [2, 1, 1], [1, 4, -2]], "W_1_2": [[1, 1, 2, 3, "1/2"]]}
    half = [["1/2", 1, "3/2"], *one["W_1_1"][1:]]
    others = {"scaled": {"W_1_1": half, "W_1_2": [[16, 1, 2, 3, "1/2"]]}, "half": {**one, "W_1_1": half}}
    for name, weights in {"one": one, **others}.items():
        (models / f"{name}.json").write_text(json.dumps(weights))
    found = document("fiber sums.toml one.json --other scaled.json")
    assert (found["dimension"], found["upper_bound"], found["evidence"]) == (6, 6, "proved")
    assert found["symmetries"] == [{"name": "neuron", "dimension": 5}] and not found["generic"]
    equivalent = found["equivalent"]
    assert {"equal": True, "evidence": "proved", "error_probability": 0}.items() <= equivalent.items()
    assert equivalent["symmetry"] == [
        {"name": "neurons", "parameters": ["W_1_1", "W_1_2"], "order": [1, 2, 3, 4, 5],
         "matrix": [["1/2", "1", "1", "1", "1"]]},
    ]  # fmt: skip
    said = call("fiber sums.toml one.json --other half.json")
    assert "dimension at the weights 6: the symmetries have 5 (neuron 5)" in said.out
    assert said.out.endswith("half.json: another function (proved)\n")


def test_a_study_of_models(models):
    text = SUMS.replace("[input]", "[models.input]").replace("[[layer]]", "[[models.layer]]")
    (models / "grid.toml").write_text(f'ask = "dimension"\n[[models]]\n{text}')
    ended = call("study grid.toml --no-cache --workers 1 -O results.jsonl")
    assert ended.status == 0, ended
    line = json.loads((models / "results.jsonl").read_text())
    check("study", line)
    assert line["result"]["dimension"] == 14 and line["architecture"]["input"]["dim"] == 3
    assert call("report --study results.jsonl -O report").status == 0
    assert "perceptron 5,1" in (models / "report" / "report.md").read_text()


# Attention of today

INPUT = "[input]\ndim = {d}\ntokens = 2\n[[layer]]\n"
TEXTS = {
    "group": INPUT.format(d=2)
    + 'type = "attention"\nout = 1\nrank = 1\nheads = 2\nkv_heads = 1\nvalue_rank = 1\n',
    "latent": INPUT.format(d=2)
    + 'type = "attention"\nout = 1\nrank = 1\nvalue_rank = 1\nkv_latent = 2\nq_latent = 1\n',
    "state": INPUT.format(d=2) + 'type = "recurrence"\nout = 1\nrank = 1\nrule = "delta"\n',
    "gate": INPUT.format(d=2) + 'type = "recurrence"\nout = 1\nrank = 1\nrule = "decay"\n',
}
DIMENSIONS = {"group": 4, "latent": 4, "state": 5, "gate": 5}
MODELS = pytest.mark.parametrize("name", TEXTS)


@pytest.fixture
def attention_models(tmp_path, monkeypatch):
    """The model files, and for each a file of weights."""
    generator = np.random.default_rng(5)
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.toml").write_text(text)
        shapes = read_toml(text, name).shapes
        weights = {letter: generator.integers(1, 5, shape) for letter, shape in shapes.items()}
        np.savez(tmp_path / f"{name}.npz", **weights)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@MODELS
def test_dimension_and_claims(attention_models, name):
    found = document("dimension", f"{name}.toml")
    assert (found["dimension"], found["evidence"]) == (DIMENSIONS[name], "proved")
    verdicts = document("verify", f"{name}.toml")["claims"]
    assert {claim["verdict"] for claim in verdicts} <= {"confirmed", "inapplicable"}
    computed = {claim["id"]: claim["computed"] for claim in verdicts}
    assert computed["agattn.model-dimension"] == DIMENSIONS[name]


@MODELS
def test_symmetries_of_attention(attention_models, name):
    found = document("symmetries", f"{name}.toml")
    size = sum(int(np.prod(array.shape)) for array in np.load(f"{name}.npz").values())
    assert (found["evidence"], size - found["orbit_dimension"]) == ("proved", DIMENSIONS[name])


@MODELS
def test_equations_vanish_on_values(attention_models, name):
    found = document("ideal", f"{name}.toml", "--max-degree", "2")
    quadrics = {"group": 3, "latent": 3, "state": 54, "gate": 9}[name]
    assert [one["ideal_dimension"] for one in found["degrees"]] == [0, quadrics]


@MODELS
def test_points(attention_models, name):
    """The fiber, the learning coefficient and the kinds of points: general weights are smooth."""
    fiber = document("fiber", f"{name}.toml", f"{name}.npz")
    size = sum(int(np.prod(array.shape)) for array in np.load(f"{name}.npz").values())
    assert fiber["dimension"] == size - DIMENSIONS[name]
    found = document("rlct", f"{name}.toml", f"{name}.npz")
    assert (found["bracket"]["rank"], found["bracket"]["evidence"]) == (DIMENSIONS[name], "proved")
    kinds = document("singularities", f"{name}.toml")["kinds"]
    assert (kinds[0]["name"], kinds[0]["differential_rank"]) == ("generic", DIMENSIONS[name])
    assert any(kind["singular"] for kind in kinds)


def test_an_engine_finds_the_equations(attention_models):
    """Three quadrics: the 2 × 2 minors of a 2 × 3 matrix, as a group of one output is one head."""
    script = call("emit implicit-ideal --engine singular group.toml")
    assert script.status == 0 and "q(1)(1)(2)(1)(2)" in script.out
    found = document("run implicit-ideal --engine singular group.toml")
    answer = found["answer"]
    assert (answer["dimension"], answer["degree"], len(answer["generators"])) == (4, 3, 3)


@MODELS
def test_a_report_and_a_certificate(attention_models, name):
    assert call("report", f"{name}.toml", "-O", "out").status == 0
    text = (attention_models / "out" / "report.md").read_text()
    assert f"dimension {DIMENSIONS[name]}" in text.lower()
    found = document("certificate", f"{name}.toml", "-O", f"{name}.json")
    assert [*found["certified"].values()] == ["confirmed"]
    checked = document("check", f"{name}.json")
    assert checked["valid"] and f"dim M = {DIMENSIONS[name]} = " in checked["claims"][0]["reason"]


# The key "architecture"

LAYER = ("-d", "2", "-o", "1")
NETWORK = ("--dims", "2,1,1", "--ranks", "1,1", "-t", "2")
#: A network of one layer, which the user wrote as a network.
ONE = ("--dims", "2,1", "--ranks", "2", "-t", "2")
MODEL, HEAD = ("model.toml",), ("head.toml",)
FORMS = {
    LAYER: {"d": 2, "d_out": 1, "a": 2, "t": 2},
    NETWORK: ag.DeepNetwork((2, 1, 1), (1, 1), t=2).as_json(),
    ONE: ag.DeepNetwork((2, 1), (2,), t=2).as_json(),
    MODEL: {
        "input": {"dim": 2, "tokens": 1},
        "layer": [{"type": "perceptron", "widths": [2, 1], "degree": 2, "bias": False, "skip": False}],
    },
}
FORMS[HEAD] = FORMS[LAYER]
EVERY = tuple(FORMS)
#: Each command with all that describes its architecture, and what it is called with besides.
COMMANDS = [
    ("verify", EVERY, ("--engine", "native")),
    ("dimension", EVERY, ()),
    ("symmetries", EVERY, ()),
    ("identifiability", EVERY, ()),
    ("ideal", EVERY, ("--max-degree", "2")),
    ("singularities", EVERY, ()),
    ("rlct", (LAYER, HEAD), ()),
    ("rlct", (NETWORK, ONE, MODEL), ("weights.json",)),
    ("fiber", (NETWORK, ONE, MODEL), ("weights.json",)),
    ("strata", (LAYER, HEAD), ()),
    ("critical-points", (LAYER, HEAD), ("--real",)),
    ("identify", (LAYER, HEAD), ("tensor.json",)),
    ("emit", (LAYER, ONE, MODEL, HEAD), ("fiber",)),
    ("emit", (NETWORK,), ("virtual-fiber",)),
    ("report", (LAYER, ONE, NETWORK, MODEL, HEAD), ("-O", "report", "--engine", "native")),
]
CASES = [(name, given, more) for name, all_given, more in COMMANDS for given in all_given]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {
        "model": '[input]\ndim = 2\n[[layer]]\ntype = "perceptron"\nwidths = [2, 1]\ndegree = 2\n',
        "head": '[input]\ndim = 2\ntokens = 2\n[[layer]]\ntype = "attention"\nout = 1\nrank = 2\n',
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "tensor.json").write_text(json.dumps([1, 0, 1, 0, 0, 0]))
    return tmp_path


def weights(folder, given):
    """Weights of the architecture, in a file."""
    shapes = {
        NETWORK: ag.DeepNetwork((2, 1, 1), (1, 1), t=2).shapes,
        ONE: ag.DeepNetwork((2, 1), (2,), t=2).shapes,
        HEAD: ag.DeepNetwork((2, 1), (2,), t=2).shapes,
        MODEL: {"W_1_1": (2, 2), "W_1_2": (1, 2)},
    }[given]

    def filled(shape):
        head, *others = shape
        return [filled(others) if others else 2 * i + len(shape) for i in range(head)]

    path = folder / "weights.json"
    path.write_text(json.dumps({name: filled(shape) for name, shape in shapes.items()}))


@pytest.mark.parametrize(("name", "given", "more"), CASES)
def test_every_command_says_what_was_asked_about(files, name, given, more):
    if name == "report":
        pytest.importorskip("matplotlib")
        more = more[:2] if given == MODEL else more  # natively anyway
    if "weights.json" in more:
        weights(files, given)
    ended = call(name, *more, *given, "--json")
    assert ended.status in (0, 1, 3), ended
    found = json.loads(ended.out)
    validate(name, found)
    check(name, found)
    assert found["architecture"] == FORMS[given]


def test_files_and_lines_of_studies(files):
    assert call("ideal", *ONE, "--max-degree", "1", "-O", "equations.json").status == 0
    assert json.loads((files / "equations.json").read_text())["architecture"] == FORMS[ONE]
    (files / "grid.toml").write_text(
        'ask = ["dimension", "symmetries", "ideal"]\nmax_degree = 2\n'
        "[[networks]]\ndims = [[2, 1]]\nranks = [[2]]\nt = 2\n"
        "[[models]]\n[models.input]\ndim = 2\n"
        '[[models.layer]]\ntype = "perceptron"\nwidths = [2, 1]\ndegree = 2\n'
    )
    ended = call("study grid.toml --json --cache", files / "cache")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert len(lines) == 6 == len(read_lines(ended.out)), ended
    for line in lines:
        assert line["architecture"] == line["result"]["architecture"]
        assert line["architecture"] in (FORMS[ONE], FORMS[MODEL])


def test_of_a_configuration_one_layer_has_symmetries(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"model_type": "gpt2", "n_embd": 4, "n_head": 2, "n_layer": 1}')
    [layer] = document("symmetries", path)["architecture"]["layer"]
    assert (layer["out"], layer["rank"], layer["heads"]) == (4, 2, 2)
