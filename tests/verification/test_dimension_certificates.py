"""Certificates of layers with groups, latents or a state: a minor and an orbit, checked with integers."""

import copy
import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import agattn as ag
from agattn import checker
from agattn.algebra.arithmetic import RingArithmetic
from agattn.architectures import Network, draw_parameters
from agattn.architectures.model_file import read_model
from agattn.claims.todays_attention import CLAIMS, _as_checked, _general
from agattn.errors import InputError, UndecidedError
from agattn.geometry.dimension.todays_attention import by_layer
from agattn.verification.certificate import dump, make_certificate
from tests.faults.certificates import at, numbers, put

ROOT = Path(__file__).parents[2]
RULES = ("sum", "decay", "scalar-gate", "diagonal-gate", "delta", "gated-delta")
GROUP = ag.Attention(3, 2, heads=3, kv_heads=1, value_rank=2)
TURNED = ag.Attention(2, 4, heads=2, kv_heads=1, value_rank=1, mask="causal", rotary=True)
CASES = [
    (GROUP, 5, 2, 51),
    (ag.Attention(4, 2, heads=3, kv_heads=1, value_rank=2), 4, 3, 47),
    (ag.Attention(4, 1, heads=4, kv_heads=2, value_rank=1, skip=True), 4, 2, 36),
    (TURNED, 5, 3, 60),
    (ag.Attention(3, 2, heads=2, value_rank=1, kv_latent=4, q_latent=4), 7, 2, 58),
    (ag.Attention(2, 2, value_rank=1, kv_latent=3, rotary=True), 4, 2, 18),
    (ag.Attention(2, 1, kv_latent=9), 3, 2, 10),
    (ag.Attention(1, 1, value_rank=1, kv_latent=2, q_latent=1), 3, 2, 7),
    *((ag.Recurrence(2, 2, rule), 4, 3, n) for rule, n in zip(RULES, (19, 20, 23, 29, 22, 25), strict=True)),
    (ag.Recurrence(2, 5, "delta"), 3, 2, 20),
]


def certificate(layer, d, t=2):
    return json.loads(json.dumps(make_certificate(Network([layer], d, t))))


@pytest.fixture(scope="module")
def group():
    return certificate(GROUP, 5)


@pytest.mark.parametrize(("layer", "d", "t", "dimension"), CASES)
def test_the_dimension_is_certified(layer, d, t, dimension):
    document = certificate(layer, d, t)
    result = checker.check(document)
    [claim] = result["claims"]
    assert result["valid"] and claim["id"] == by_layer(Network([layer], d, t)).id
    assert claim["reason"].startswith(f"confirmed: dim M = {dimension} = ")
    assert len(document["columns"]) == len(document["rows"]) == dimension
    if isinstance(layer, ag.Recurrence):
        assert result["layer"].startswith(f"a state with the rule {layer.rule}; d = {d}, ")
    assert result["uncertified"] == ["agattn.model-dimension", "agattn.model-symmetries"]


@pytest.mark.parametrize(("layer", "d", "t", "dimension"), CASES)
def test_the_checker_has_the_functions_of_the_library(layer, d, t, dimension):
    """Values and derivatives of the checker's own code, and the orbits of its motions."""
    rng = np.random.default_rng(1)
    network = Network([layer.reduced((d, t))], d, t)
    found = {"layer": network.layers[0].as_json(), "d": d, "t": t}
    mine = (checker.State if layer.type == "recurrence" else checker.Shared)(found)
    assert not mine.is_smaller and mine.formula() == dimension
    p = checker.PRIME
    weights = draw_parameters(network, lambda shape: rng.integers(-9, 10, shape))
    X = rng.integers(-9, 10, (d, t))
    arrays = {name: array.reshape(mine.shapes[name]) for name, array in _as_checked(network, weights).items()}
    assert list(arrays) == list(mine.shapes)

    def read(array):
        return {
            tuple(n + 1 for n in place): {0: array[place].tolist()} for place in np.ndindex(array.shape[:-2])
        }

    value = mine.values({name: read(array) for name, array in arrays.items()}, X.tolist())[0]
    skip = X if getattr(layer, "skip", False) else 0
    exact = exactly(network, weights, X)
    assert all(
        (int(x) - int(y.numerator) * pow(int(y.denominator), -1, p)) % p == 0
        for x, y in zip(np.ravel(value), np.ravel(exact - skip), strict=True)
    )
    mine.at = {name: {place: jet[0] for place, jet in read(array).items()} for name, array in arrays.items()}
    kept = {name: {place: {0: A} for place, A in part.items()} for name, part in mine.at.items()}
    for motion in mine.motions():  # a motion changes no value
        moving = {name: {place: dict(jet) for place, jet in part.items()} for name, part in kept.items()}
        for (name, place), A in motion.items():
            moving[name][place][1] = A
        derivative = mine.values(moving, X.tolist()).get(1, [[0]])
        assert not any(x % p for row in derivative for x in row)


def exactly(network, weights, X):
    """The output over ℚ."""
    as_fractions = np.vectorize(Fraction, otypes=[object])
    exact = {name: as_fractions(array) for name, array in weights.items()}
    return as_fractions(network.evaluate(RingArithmetic(), exact, as_fractions(X)[None])[0])


def test_a_referee_needs_one_file(group, tmp_path):
    (tmp_path / "c.json").write_text(json.dumps(group), encoding="utf-8")
    carried = [sys.executable, "-I", "-S", checker.__file__, tmp_path / "c.json"]
    ended = subprocess.run(carried, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ended.returncode == 0 and "dim M = 51 = 68 − 17, as the formula says" in ended.stdout
    assert "About 1 group of 3 heads; d = 5, d' = 3, a = 2, b = 2, t = 2." in ended.stdout


def test_the_certificate_of_the_documentation():
    made = make_certificate(read_model(str(ROOT / "examples" / "delta.toml")))
    kept = ROOT / "docs" / "certificates" / "delta.json"
    assert kept.read_text(encoding="utf-8") == dump(made) + "\n"


def outcome(document):
    try:
        return checker.check(document)
    except checker.UnreadableError as error:
        return {"valid": False, "flaw": str(error)}


def states_what_is_true(document):
    """Whether the layer of a document has the dimension that is stated, by the theorem or the bounds."""
    table = dict(document["layer"])
    kind = {"attention": ag.Attention, "recurrence": ag.Recurrence}[table.pop("type")]
    found = ag.dimension(Network([kind(**table)], document["d"], document["t"]))
    return found.dimension == document["dimension"] and str(found.evidence) == "proved"


@pytest.mark.parametrize(
    ("layer", "d"),
    [
        (ag.Attention(2, 1, heads=2, kv_heads=1, value_rank=1), 3),
        (ag.Attention(2, 2, value_rank=1, kv_latent=3, rotary=True), 3),
        (ag.Recurrence(2, 2, "gated-delta"), 3),
    ],
)
def test_no_damaged_certificate_states_what_is_false(layer, d):
    document = certificate(layer, d)
    assert states_what_is_true(document)
    rng, refused, places = random.Random(d), 0, numbers(document)
    stated = [place for place in places if place[0] not in ("weights", "inputs")]
    for n in range(60):
        damaged = copy.deepcopy(document)
        place = rng.choice(stated if n % 4 else places)
        put(damaged, place, at(damaged, place) + rng.choice([-2, -1, 1, 2]))
        if outcome(damaged)["valid"]:
            assert states_what_is_true(damaged), place
        else:
            refused += 1
    assert refused >= 30


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dimension": 50}, "the minor has rank 51, not 50"),
        ({"inputs": []}, "no such output"),
        ({"claim": "agattn.latent-dimension"}, "the claim about such a layer is agattn.grouped-dimension"),
        ({"columns": [1]}, "not square"),
        ({"columns": [0]}, "no such parameter"),
        ({"t": 1}, "there is one token"),
        ({"layer": {"type": "linear", "out": 3}}, "no layer that is known here"),
        ({"layer": {"type": "attention", "out": 3}}, "a key is missing: rank"),
        ({"layer": GROUP.as_json() | {"normalization": "softmax"}}, "a softmax is not checked"),
        ({"layer": GROUP.as_json() | {"heads": 10**9}}, "the minor has rank 36, not 51"),
        ({"layer": GROUP.as_json() | {"value_rank": None}}, "groups have no value_rank"),
        ({"layer": GROUP.as_json() | {"kv_heads": 2}}, "no multiple"),
        ({"layer": GROUP.as_json() | {"skip": 2}}, "neither true nor false"),
        ({"layer": GROUP.as_json() | {"rank": 10**9, "rotary": True}}, "too large"),
        ({"layer": GROUP.as_json() | {"mask": [[0, 0], [0, 0]]}}, "has rank 0"),
        ({"weights": {}}, "a key is missing: K, Q, O, P"),
    ],
)
def test_what_is_refused(group, change, words):
    result = outcome(group | change)
    assert not result["valid"]
    assert words in result["flaw"]


def test_a_minor_below_the_bound_proves_no_dimension(group):
    smaller = group | {"rows": group["rows"][1:], "columns": group["columns"][1:], "dimension": 50}
    assert outcome(smaller)["flaw"] == "the dimension is only known to be 50 to 51"


@pytest.mark.parametrize(
    ("layer", "d", "words"),
    [
        (ag.Attention(3, 2, heads=3, kv_heads=1, value_rank=2, normalization="softmax"), 5, "has a softmax"),
        (GROUP, 3, "it assumes g.a . b. ≤ d"),
        (ag.Recurrence(3, 2, heads=2), 3, "it assumes one head"),
        (ag.Linear(2), 3, "no claim about this model has a certificate"),
    ],
)
def test_what_has_no_certificate(layer, d, words):
    with pytest.raises(InputError, match=words):
        ag.certificate(Network([layer], d, 2))


def test_layers_of_full_size_are_refused_before_ranks_are_taken():
    with pytest.raises(InputError, match="above 400 a certificate of the dimension takes too long to check"):
        ag.certificate(Network([ag.Attention(64, 8, heads=8, kv_heads=2, value_rank=8)], 64, 2))


@pytest.mark.parametrize("seed", range(12))
def test_weights_that_happen_to_be_special_are_drawn_again(seed):
    """All arrays of this layer have few entries, so special weights are likely."""
    network = Network([ag.Attention(1, 1, value_rank=1, kv_latent=1, q_latent=1)], 1, 2)
    dimension = by_layer(network).dimension
    weights, inputs, space = _general(network, dimension, np.random.default_rng(seed))
    assert space.rank == dimension == 1 and len(inputs) >= 1 and all(A.all() for A in weights.values())
    with pytest.raises(UndecidedError, match="no weights were found at which a Jacobian has rank 9"):
        _general(network, 9, np.random.default_rng(seed))


def test_every_such_claim_is_in_the_checker():
    assert tuple(claim.id for claim in CLAIMS) == checker.TODAY_CLAIMS
