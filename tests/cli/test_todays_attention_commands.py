"""Every generic command on a group of heads, a latent and a state: one small case of each."""

import json

import numpy as np
import pytest
from command_line import call, document

from agattn.architectures.model_file import read_toml

HEAD = "[input]\ndim = {d}\ntokens = 2\n[[layer]]\n"
TEXTS = {
    "group": HEAD.format(d=2)
    + 'type = "attention"\nout = 1\nrank = 1\nheads = 2\nkv_heads = 1\nvalue_rank = 1\n',
    "latent": HEAD.format(d=2)
    + 'type = "attention"\nout = 1\nrank = 1\nvalue_rank = 1\nkv_latent = 2\nq_latent = 1\n',
    "state": HEAD.format(d=2) + 'type = "recurrence"\nout = 1\nrank = 1\nrule = "delta"\n',
    "gate": HEAD.format(d=2) + 'type = "recurrence"\nout = 1\nrank = 1\nrule = "decay"\n',
}
DIMENSIONS = {"group": 4, "latent": 4, "state": 5, "gate": 5}
MODELS = pytest.mark.parametrize("name", TEXTS)


@pytest.fixture
def models(tmp_path, monkeypatch):
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
def test_dimension_and_claims(models, name):
    found = document("dimension", "--model", f"{name}.toml")
    assert (found["dimension"], found["evidence"]) == (DIMENSIONS[name], "proved")
    verdicts = document("verify", "--model", f"{name}.toml")["claims"]
    assert {claim["verdict"] for claim in verdicts} <= {"confirmed", "inapplicable"}
    assert (
        next(one["computed"] for one in verdicts if one["id"] == "agattn.model-dimension") == DIMENSIONS[name]
    )


@MODELS
def test_symmetries(models, name):
    found = document("symmetries", "--model", f"{name}.toml")
    size = sum(int(np.prod(array.shape)) for array in np.load(f"{name}.npz").values())
    assert (found["evidence"], size - found["orbit_dimension"]) == ("proved", DIMENSIONS[name])


@MODELS
def test_equations_vanish_on_values(models, name):
    found = document("ideal", "--model", f"{name}.toml", "--max-degree", "2")
    quadrics = {"group": 3, "latent": 3, "state": 54, "gate": 9}[name]
    assert [one["ideal_dimension"] for one in found["degrees"]] == [0, quadrics]


@MODELS
def test_points(models, name):
    """The fiber, the learning coefficient and the kinds of points: general weights are smooth."""
    fiber = document("fiber", "--model", f"{name}.toml", f"{name}.npz")
    size = sum(int(np.prod(array.shape)) for array in np.load(f"{name}.npz").values())
    assert fiber["dimension"] == size - DIMENSIONS[name]
    found = document("rlct", "--model", f"{name}.toml", f"{name}.npz")
    assert (found["bracket"]["rank"], found["bracket"]["evidence"]) == (DIMENSIONS[name], "proved")
    kinds = document("singularities", "--model", f"{name}.toml")["kinds"]
    assert (kinds[0]["name"], kinds[0]["differential_rank"]) == ("generic", DIMENSIONS[name])
    assert any(kind["singular"] for kind in kinds)


def test_an_engine_finds_the_equations(models):
    """Three quadrics: the 2 × 2 minors of a 2 × 3 matrix, as a group of one output is one head."""
    script = call("emit", "implicit-ideal", "--engine", "singular", "--model", "group.toml")
    assert script.status == 0 and "q(1)(1)(2)(1)(2)" in script.out
    found = document("run", "implicit-ideal", "--engine", "singular", "--model", "group.toml")
    answer = found["answer"]
    assert (answer["dimension"], answer["degree"], len(answer["generators"])) == (4, 3, 3)


@MODELS
def test_a_report_and_a_certificate(models, name):
    assert call("report", "--model", f"{name}.toml", "--out", "out").status == 0
    text = (models / "out" / "report.md").read_text()
    assert f"dimension {DIMENSIONS[name]}" in text.lower()
    found = document("certificate", "--model", f"{name}.toml", "-O", f"{name}.json")
    assert [*found["certified"].values()] == ["confirmed"]
    checked = document("check", f"{name}.json")
    assert checked["valid"] and f"dim M = {DIMENSIONS[name]} = " in checked["claims"][0]["reason"]


def test_a_study(models):
    layers = "\n".join(
        "[[models]]\ninput = { dim = 2, tokens = 2 }\nlayer = [" + layer + "]"
        for layer in (
            '{ type = "attention", out = 1, rank = 1, heads = 2, kv_heads = 1, value_rank = 1 }',
            '{ type = "attention", out = 1, rank = 1, value_rank = 1, kv_latent = 2, q_latent = 1 }',
            '{ type = "recurrence", out = 1, rank = 1, rule = "delta" }',
        )
    )
    (models / "grid.toml").write_text(f'ask = "dimension"\n{layers}\n')
    lines = call("study", "grid.toml", "--json", "--workers", "1").out.splitlines()
    found = [json.loads(line)["result"] for line in lines]
    assert [(one["dimension"], one["evidence"]) for one in found] == [(n, "proved") for n in (4, 4, 5)]
