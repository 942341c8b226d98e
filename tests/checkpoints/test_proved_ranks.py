"""Ranks of small models that are proved: derivatives on a tape, groups of polynomials, the table."""

from pathlib import Path

import flint
import numpy as np
import pytest

from agattn.checkpoints.published import from_config
from agattn.checkpoints.whole_model import CHECKED, whole_model
from tests.checkpoints.derivatives import Tape
from tests.checkpoints.proved_ranks import BITS, LENGTH, in_balls, without_softmax_and_norms
from tests.checkpoints.redundancy import MODELS, angles, evaluate, general, stored

PAGE = Path(__file__).parents[2] / "docs" / "networks" / "whole-models-proofs.md"


@pytest.mark.parametrize("name", ["gemma2", "gpt_oss", "bert"])
def test_derivatives_on_the_tape_are_those_by_complex_steps(name):
    m, random = stored(name), np.random.default_rng(3)
    w = general(m, random)
    tokens = random.integers(0, m.vocabulary, (1, LENGTH))
    types = random.integers(0, max(m.types, 1), (1, LENGTH))
    direction = {part: random.normal(size=array.shape) for part, array in w.items()}
    moved = {part: array + 1e-30j * direction[part] for part, array in w.items()}
    expected = evaluate(m, moved, tokens, types).imag.ravel() * 1e30

    ball = np.frompyfunc(lambda x: flint.arb(float(x)), 1, 1)
    pairs = m.kinds[0].rotary_pairs
    with flint.ctx.workprec(BITS):
        turned, tape = ball(angles(LENGTH, pairs)), Tape()
        weights = {part: tape.numbers(ball(array)) for part, array in w.items()}
        outputs = evaluate(m, weights, tokens, types, turns=(np.cos(turned), np.sin(turned)))
        J = tape.pulled_back(outputs, ball(np.eye(outputs.size)), sum(array.size for array in w.values()))
        along = J @ np.concatenate([direction[part].ravel() for part in w])
    assert np.allclose([float(x.mid()) for x in along], expected, rtol=1e-9, atol=1e-9 * abs(expected).max())
    assert all(x.rad() < 1e-9 for x in along)


def test_balls_that_meet_have_no_order():
    tape = Tape()
    third, other, larger = tape.numbers(np.array([flint.arb(1) / 3, flint.arb(1) / 3, flint.arb(1)]))
    assert larger > third and third < larger and third >= third and not third > third
    with pytest.raises(ArithmeticError, match="neither ball"):
        _ = third > other


def of_one_layer(name):
    layers = "n_layer" if "n_layer" in MODELS[name] else "num_hidden_layers"
    return from_config(MODELS[name] | {layers: 1}).stored


@pytest.mark.parametrize("name", ["olmo, tied", "bert"])
def test_ranks_in_balls_leave_no_other_redundancy(name):
    total, orbit, proved = in_balls(of_one_layer(name))
    assert proved == total - orbit


@pytest.mark.parametrize("name", ["gpt2, untied", "bert", "gemma2", "mixtral", "cohere"])
def test_polynomials_have_no_other_redundancy_than_their_group(name):
    total, orbit, modulo = without_softmax_and_norms(of_one_layer(name))
    assert modulo == total - orbit


def page():
    """The rows of the table of the page, by the model."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return {cells[0]: cells for cells in rows if len(cells) == 10 and cells[0] in MODELS}


def test_numbers_of_the_page_are_what_is_computed():
    cells = page()["bert"]
    total, orbit, modulo = without_softmax_and_norms(stored("bert"))
    assert cells[1] == str(total) and cells[6:9] == [str(orbit), str(total - orbit), str(modulo)]


def test_models_are_checked_if_all_of_their_type_on_the_page_are_equal():
    equal = {name.split(",")[0]: True for name in MODELS}
    for name, cells in page().items():
        equal[name.split(",")[0]] &= cells[5] == "equal"
    assert sorted(CHECKED) == sorted(name for name in equal if equal[name])


def test_all_models_are_on_the_page_with_the_orbits_of_the_program():
    assert set(page()) == set(MODELS)
    for name, (_, total, orbit, bound, proved, equal, *_) in page().items():
        m = stored(name)
        unused = m.model.plus * m.dim
        result = whole_model(m)
        assert int(total) == result.total - unused and int(bound) == int(total) - int(orbit)
        assert int(bound) == result.upper_bound and (int(proved) == int(bound)) == (equal == "equal")
