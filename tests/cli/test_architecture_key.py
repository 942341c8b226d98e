"""The key ``architecture`` says what was asked about, in one form in the documents of all commands."""

import json

import pytest
from command_line import call, document, validate

import agattn as ag
from agattn.architectures.model_file import read_model
from agattn.documents import check
from agattn.experiments.studies.lines import read_lines

LAYER = ("-d", "2", "-o", "1")
NETWORK = ("--dims", "2,1,1", "--ranks", "1,1", "-t", "2")
#: A network of one layer, which the user wrote as a network.
ONE = ("--dims", "2,1", "--ranks", "2", "-t", "2")
MODEL, HEAD = ("--model", "model.toml"), ("--model", "head.toml")
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
    ("report", (LAYER, ONE, NETWORK, MODEL, HEAD), ("--out", "report", "--engine", "native")),
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


def test_a_head_in_a_model_file_is_a_layer_also_where_weights_have_the_names_of_a_network(files):
    weights(files, HEAD)
    assert document("fiber", "weights.json", *HEAD)["architecture"] == FORMS[LAYER]
    assert document("rlct", "weights.json", *HEAD)["architecture"] == FORMS[LAYER]


def test_an_engine_ran_on_what_was_asked_about(files, both_engines):
    for given in (LAYER, ONE, MODEL):
        assert document("run", "fiber", *given, "--engine", "singular")["architecture"] == FORMS[given]


def test_files_and_lines_of_studies(files):
    assert call("ideal", *ONE, "--max-degree", "1", "-O", "equations.json").status == 0
    assert json.loads((files / "equations.json").read_text())["architecture"] == FORMS[ONE]
    (files / "grid.toml").write_text(
        'ask = ["dimension", "symmetries", "ideal"]\nmax_degree = 2\n'
        "[[networks]]\ndims = [[2, 1]]\nranks = [[2]]\nt = 2\n"
        "[[models]]\n[models.input]\ndim = 2\n"
        '[[models.layer]]\ntype = "perceptron"\nwidths = [2, 1]\ndegree = 2\n'
    )
    ended = call("study", "grid.toml", "--json", "--cache", files / "cache")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert len(lines) == 6 == len(read_lines(ended.out)), ended
    for line in lines:
        assert line["architecture"] == line["result"]["architecture"]
        assert line["architecture"] in (FORMS[ONE], FORMS[MODEL])


@pytest.mark.parametrize("verb", ["dimension", "singularities", "symmetries", "ideal", "verify"])
def test_the_library_says_the_same(files, verb):
    architectures = {
        LAYER: ag.SingleLayer(2, 1),
        NETWORK: ag.DeepNetwork((2, 1, 1), (1, 1), t=2),
        ONE: ag.DeepNetwork((2, 1), (2,), t=2),
        MODEL: read_model("model.toml"),
    }
    for given, architecture in architectures.items():
        more = {"max_degree": 2} if verb == "ideal" else {"engine": "native"} if verb == "verify" else {}
        assert getattr(ag, verb)(architecture, **more).as_json()["architecture"] == FORMS[given]


def test_what_is_printed_of_a_layer_names_the_network_that_was_computed():
    assert str(ag.dimension(ag.SingleLayer(2, 1))).startswith("M(2,1; 2), t = 2: dimension 5")
    assert str(ag.singularities(ag.SingleLayer(2, 1))).startswith("M(2,1; 2), t = 2: dimension 5;")
