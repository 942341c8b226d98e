"""Certificates of layers with groups, latents or a state: a minor and an orbit, checked with integers."""

import copy
import itertools
import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sympy import isprime

import agattn as ag
from agattn import checker
from agattn.algebra.arithmetic import RingArithmetic
from agattn.architectures import Network, draw_parameters
from agattn.architectures.model_file import read_model
from agattn.claims.todays_attention import CLAIMS, _as_checked, _general
from agattn.errors import UndecidedError
from agattn.geometry.dimension.theorems import by_layer
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
    (ag.Attention(2, 3, heads=2, kv_heads=1, value_rank=1, rotary=1), 4, 2, 44 - 3 - 1 - 4),
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
    assert result["valid"] and claim["id"] == by_layer(Network([layer], d, t)).theorem
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
        (ag.Attention(2, 3, heads=2, kv_heads=1, value_rank=1, rotary=1), 4),
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


@pytest.mark.parametrize("seed", range(12))
def test_weights_that_happen_to_be_special_are_drawn_again(seed):
    """All arrays of this layer have few entries, so special weights are likely."""
    network = Network([ag.Attention(1, 1, value_rank=1, kv_latent=1, q_latent=1)], 1, 2)
    dimension = by_layer(network).value
    weights, inputs, space = _general(network, dimension, np.random.default_rng(seed))
    assert space.rank == dimension == 1 and len(inputs) >= 1 and all(A.all() for A in weights.values())
    with pytest.raises(UndecidedError, match="no weights were found at which a Jacobian has rank 9"):
        _general(network, 9, np.random.default_rng(seed))


def test_every_such_claim_is_in_the_checker():
    assert tuple(claim.id for claim in CLAIMS) == checker.TODAY_CLAIMS


# Each part alone --------------------------------------------------------------------------------------------

SMALLEST = {"type": "attention", "out": 2, "rank": 1}


def shared(d=2, t=2, **changes):
    return checker.Shared({"layer": SMALLEST | changes, "d": d, "t": t})


def why_not(function, *arguments, **words):
    """Why something cannot be read, or is no proof."""
    with pytest.raises((checker.UnreadableError, checker.Flaw)) as raised:
        function(*arguments, **words)
    return str(raised.value)


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        *(("d, d', a or t is not possible", {name: 0}) for name in ("d", "t", "out", "rank")),
        *(("it is about too large a layer", {"d": d, "t": t}) for d, t in ((101, 100), (1, 10**4 + 1))),
        ("it is about too many tokens", {"d": 1, "t": 101}),
        ("a number of the layer is not possible", {"value_rank": 1, "heads": 0}),
        ("a number of the layer is not possible", {"value_rank": 1, "q_latent": 0}),
        ("skip is neither true nor false", {"skip": 1}),
        ("there are not so many pairs of rows", {"rotary": 1}),
        ("there are not so many pairs of rows", {"rank": 5, "rotary": 3}),
        ("there are not so many pairs of rows", {"rank": 5, "rotary": -1}),
        ("an odd rank has no pairs of rows", {"rank": 3, "rotary": True}),
        ("something else stands where an array belongs", {"mask": "full"}),
        ("the mask is none", {"mask": [[0, 1]]}),
        ("the mask is none", {"mask": [[1], [1, 0]]}),
        ("the mask is none", {"mask": [[1, 2], [0, 1]]}),
    ],
)  # fmt: skip
def test_sizes_that_are_not_possible(words, changes):
    assert why_not(shared, **changes) == words


def test_sizes_up_to_the_limits_and_what_is_left_out():
    layer = shared(100, 100)
    assert (layer.g, layer.s, layer.pairs, layer.latents) == (1, 1, 0, (False, False))
    assert layer.mask == [[1] * 100] * 100 and not layer.has_values
    assert shared(mask="causal").mask == [[1, 1], [0, 1]] and shared(mask="none").mask == [[1, 1]] * 2
    for mask in ([[1, 1], [1, 1]], [[0, 1], [1, 0]], [[0, 0], [0, 0]]):
        assert shared(mask=mask).mask == mask
    words = {"weights": {}, "dimension": 0}
    assert why_not(shared(2500).see, words) == "a key is missing: K, Q, V"  # 10000 parameters
    assert why_not(shared(2501).see, words) == "it is about too large a layer"
    assert shared(skip=True, rotary=False, rank=1).is_smaller is False
    for table, words in (
        ({"rule": "sum"}, ""),
        ({"rule": "sum", "heads": 1}, ""),
        ({"rule": "sum", "heads": 2}, "more than one state is not checked here"),
        ({"rule": "max"}, "there is no such rule"),
    ):
        found = {"layer": {"type": "recurrence", "out": 1, "rank": 1} | table, "d": 2, "t": 2}
        assert (why_not(checker.State, found) == words) if words else checker.State(found)


def test_layers_are_named_by_their_sizes():
    def said(**changes):
        return str(shared(4, 3, **changes))

    ends = "d = 4, d' = 2, a = 2, b = 2, t = 3"
    assert said(rank=2) == said(rank=2, mask=[[1] * 3] * 3) == f"1 group of 1 head; {ends}"
    assert said(rank=2, heads=2) == f"2 groups of 1 head; {ends}"
    latent = "a latent of 3 rows for keys and values"
    assert said(rank=2, kv_latent=3) == f"1 group of 1 head, {latent}; {ends}"
    turned = f"1 group of 1 head, a latent of 2 rows for queries, rotary positions; {ends}"
    assert said(rank=2, q_latent=2, rotary=True) == turned
    # What is proved of a layer with a mask is not said of the layer without one.
    causal = [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    masks = (("causal", "a causal mask"), (causal, "a causal mask"), ([[0, 1, 1]] * 3, "a mask of its own"))
    for mask, words in masks:
        assert said(rank=2, mask=mask) == f"1 group of 1 head, {words}; {ends}"


def test_sizes_that_heads_can_use_are_those_of_the_library():
    rng, smaller = random.Random(6), 0
    for _ in range(250):
        groups, several = rng.choice((1, 1, 2, 3)), rng.choice((1, 1, 2, 4))
        rotary = rng.choice((False, False, True, 1))
        ranks = {False: (1, 2, 3), True: (2, 4)}[rotary] if isinstance(rotary, bool) else (2, 3, 4)
        sizes = {name: rng.choice((None, None, 1, 2, 3, 5, 20)) for name in ("kv_latent", "q_latent")}
        b = rng.choice((1, 2, 4, 9)) if several > 1 else rng.choice((None, 1, 3))
        layer = ag.Attention(
            rng.choice((1, 2, 5)), rng.choice(ranks), heads=groups * several,
            kv_heads=groups if several > 1 else None, value_rank=b, rotary=rotary, **sizes
        )  # fmt: skip
        d = rng.choice((2, 3, 6, 30))
        used = layer.reduced((d, 2))
        found = checker.Shared({"layer": layer.as_json(), "d": d, "t": 2})
        expected = used.rank, used.value_rank or used.out, used.kv_latent or d, used.q_latent or d
        assert (found.a, found.b, found.r, found.rho) == expected, (layer, d)
        assert (found.g, found.s) == (groups, used.heads // groups), (layer, d)
        given = layer.rank, layer.value_rank, layer.kv_latent, layer.q_latent, layer.heads
        now = used.rank, used.value_rank, used.kv_latent, used.q_latent, used.heads
        assert found.is_smaller == (given != now)
        smaller += found.is_smaller
    assert 50 < smaller < 220


def test_formulas_behind_one_latent_or_two():
    """r(d − r) + ρ(d − ρ) + H(b(d' + r − b) + a(r + ρ − a) − 1), and more for positions."""
    for changes, value in (
        ({"kv_latent": 3}, 6 + 1 * (2 + 3 - 1) + 2 * (3 + 5 - 2) - 1),
        ({"q_latent": 2}, 6 + 1 * (2 + 5 - 1) + 2 * (5 + 2 - 2) - 1),
        ({"kv_latent": 3, "q_latent": 2}, 6 + 6 + 1 * (2 + 3 - 1) + 2 * (3 + 2 - 2) - 1),
        ({"kv_latent": 3, "rotary": True}, 6 + 1 * (2 + 3 - 1) + 2 * (3 + 5 - 2) - 1 + 2),
        ({"rank": 4, "rotary": 1}, 4 * (5 - 4) + 1 * (5 - 1) + 4 * 5 + 1 * 2 - 1 + 16 - 2 - 4),
        ({}, 2 * (5 - 2) + 1 * (5 - 1) + 2 * 5 + 1 * 2 - 1),
    ):
        assert shared(5, **{"rank": 2, "value_rank": 1} | changes).formula() == value
    groups = shared(5, rank=2, value_rank=1, heads=2, kv_heads=1, kv_latent=3)
    assert why_not(groups.formula) == "no theorem is known here for groups behind latents"


def test_rotations_are_those_of_the_first_primes():
    """(2 + i)² = 3 + 4i for 5, (3 + 2i)² = 5 + 12i for 13, and so on; 25 is no prime."""
    p = checker.PRIME
    assert isprime(p)
    squares = {5: (3, 4), 13: (5, 12), 17: (15, 8), 29: (21, 20), 37: (35, 12), 41: (9, 40), 53: (45, 28)}
    expected = [(x * pow(n, -1, p) % p, y * pow(n, -1, p) % p) for n, (x, y) in squares.items()]
    assert checker.rotations(7) == expected and checker.rotations(0) == []
    layer = shared(4, 3, rank=4, rotary=True)
    rows = [[1, 2, 3], [0, 5, -1], [4, 0, 2], [1, 1, 1]]
    turned, moved = [list(row) for row in rows], {}
    for k, (cos, sin) in enumerate(expected[:2]):
        c, s = 1, 0
        for j in range(3):
            x, y = rows[2 * k][j], rows[2 * k + 1][j]
            turned[2 * k][j], turned[2 * k + 1][j] = (c * x - s * y) % p, (s * x + c * y) % p
            c, s = (c * cos - s * sin) % p, (c * sin + s * cos) % p
    moved = layer._placed({0: rows, 1: [[0] * 3] * 4})
    assert moved == {0: turned, 1: [[0] * 3] * 4}
    plain = shared(4, 3, rank=4)
    assert plain._placed({0: rows}) == {0: rows} and [*plain._turns()] == [*checker.units(4)]
    zero = [0, 0, 0, 0]
    assert [*layer._turns()] == [
        [[1, 0, 0, 0], [0, 1, 0, 0], zero, zero],
        [[0, -1, 0, 0], [1, 0, 0, 0], zero, zero],
        [zero, zero, [0, 0, 1, 0], [0, 0, 0, 1]],
        [zero, zero, [0, 0, 0, -1], [0, 0, 1, 0]],
    ]


def test_minors_are_those_of_the_rows_and_columns_that_are_named():
    """K = Q = (1 0), V = 1, and the second input (1 0; 1 3): V_21 moves output 2 of token 1 alone."""
    layer = shared()
    layer.at = {"K": {(1,): [[1, 0]]}, "Q": {(1, 1): [[1, 0]]}, "V": {(1,): [[1, 0], [0, 1]]}}
    document = {"inputs": [[], [[1, 1, 1], [2, 1, 1], [2, 2, 3]]], "columns": [7]}
    ranks = {
        row: layer._minor(document | {"rows": [[*row]]})
        for row in itertools.product((1, 2), repeat=3)
    }  # fmt: skip
    assert {row for row, rank in ranks.items() if rank} == {(2, 2, 1)}
    for changes, words in (
        ({"columns": [0, 1], "rows": [[1, 1, 1]] * 2}, "there is no such parameter"),
        ({"columns": [1, 9], "rows": [[1, 1, 1]] * 2}, "there is no such parameter"),
        *(
            ({"columns": [1, 2], "rows": [[1, 1, 1], row]}, "there is no such output")
            for row in ([3, 1, 1], [0, 1, 1], [1, 3, 1], [1, 1, 3], [1, 1], [1, 1, 1, 1])
        ),
        ({"columns": [1, 2], "rows": [[1, 1, 1]]}, "the minor is not square"),
    ):
        assert why_not(layer._minor, document | changes) == words
    assert layer._array({(1, 2, 1): 5}, (2, 2, 1)) == {(1,): [[0], [5]], (2,): [[0], [0]]}
    assert layer._array({(2, 1): 5}, (2, 2)) == {(): [[0, 0], [5, 0]]}
    p = checker.PRIME
    vector = layer._vector({("K", (1,)): [[-1, p, 3]], ("C", ()): [[0], [2 * p + 1]]})
    assert vector == {("K", (1,), 0, 0): p - 1, ("K", (1,), 0, 2): 3, ("C", (), 1, 0): 1}


def test_what_was_computed_is_compared_with_the_formula():
    document = json.loads((ROOT / "docs" / "certificates" / "delta.json").read_text(encoding="utf-8"))
    reason = checker.check(document)["claims"][0]["reason"]
    layer = checker.State(document)
    assert layer.see(document) in reason
    layer.formula = lambda: document["dimension"] + 1
    assert why_not(layer.see, document) == f"the formula gives {document['dimension'] + 1}"
    fewer = {name: document[name][1:] for name in ("rows", "columns")}
    low = document["dimension"] - 1
    words = f"the dimension is only known to be {low} to {low + 1}"
    assert why_not(layer.see, document | fewer | {"dimension": low}) == words


def test_larger_sizes_than_heads_can_use_are_named():
    """For d = d' = 1 the function is x ↦ VKQ x³, of dimension 1, whatever the rank is."""
    reasons = []
    for rank in (1, 5):
        found = {
            "format": checker.TODAY, "about": "", "claim": "agattn.grouped-dimension", "d": 1, "t": 2,
            "layer": {"type": "attention", "out": 1, "rank": rank},
            "weights": {"K": [[1, 1, 1, 1]], "Q": [[1, 1, 1, 1, 1]], "V": [[1, 1, 1, 1]]},
            "inputs": [[[1, 1, 1], [1, 2, 1]]], "columns": [3], "rows": [[1, 1, 1]], "dimension": 1,
        }  # fmt: skip
        [claim] = checker.check(found)["claims"]
        assert claim["valid"] and claim["reason"].startswith("confirmed: dim M = 1 = 3 − 2, as the formula")
        reasons.append(claim["reason"])
    used = " The sizes are those that heads can use, by docs/networks/todays-attention.md."
    assert reasons == [reasons[0], reasons[0] + used]


def test_a_gate_does_not_move_the_first_token():
    """y_1 = V x_1 (Kx_1)(Qx_1), y_2 = V (x_2 (Kx_2) + γ x_1 (Kx_1)) (Qx_2), if K and Q have one row."""
    layer = checker.State(
        {"layer": {"type": "recurrence", "out": 2, "rank": 1, "rule": "decay"}, "d": 2, "t": 2}
    )
    weights = {"K": [[1, 2]], "Q": [[3, 1]], "V": [[1, 4], [0, 1]], "gamma": [[5]]}
    jets = {name: {(): {0: A}} for name, A in weights.items()}
    X = [[1, 2], [3, 1]]  # K x = 7, 4 and Q x = 6, 7; V x = (13, 3), (6, 1)
    values = [[13 * 7 * 6, (6 * 4 + 5 * 13 * 7) * 7], [3 * 7 * 6, (1 * 4 + 5 * 3 * 7) * 7]]
    assert layer.values(jets, X) == {0: values, 1: [[0, 0], [0, 0]]}
    jets["gamma"][()][1] = [[1]]
    assert layer.values(jets, X) == {0: values, 1: [[0, 13 * 7 * 7], [0, 3 * 7 * 7]]}


def test_small_files_about_large_layers_are_refused_soon(monkeypatch):
    """The groups of such layers have millions of tangent vectors: they are made and counted one by one."""
    checker.WORK.done = 0
    assert next(checker.units(40))[0][:2] == [1, 0] and checker.WORK.done == 1600
    for turns, steps in (
        (lambda: checker.units(3), 81),
        (lambda: checker.units(3, diagonal=True), 27),
        (shared(4, 3, rank=4, rotary=True)._turns, 64),
        (shared(5, 3, rank=5, rotary=1)._turns, 25 * 11),
    ):
        checker.WORK.done = 0
        assert len([*turns()]) and checker.WORK.done == steps
    assert [*checker.units(2, diagonal=True)] == [[[1, 0], [0, 0]], [[0, 0], [0, 1]]]
    document = {
        "format": checker.TODAY,
        "about": "",
        "d": 1,
        "t": 2,
        "columns": [],
        "rows": [],
        "dimension": 0,
    }
    monkeypatch.setattr(checker, "STEPS", 10**5)
    gate = {"type": "recurrence", "out": 1, "rank": 400, "rule": "diagonal-gate"}
    turned = {"type": "attention", "out": 1, "rank": 400, "rotary": True}
    for layer, names in ((gate, "KQVG"), (turned, "KQV")):
        found = document | {"layer": layer, "weights": {name: [] for name in names}, "inputs": []}
        found["claim"] = f"agattn.{'recurrent' if layer is gate else 'grouped'}-dimension"
        assert why_not(checker.check, found) == "it takes more than 100000 steps of arithmetic"


def test_at_most_a_thousand_inputs():
    layer = shared()
    layer.at = {"K": {(1,): [[1, 0]]}, "Q": {(1, 1): [[1, 0]]}, "V": {(1,): [[1, 0], [0, 1]]}}
    document = {"inputs": [[]] * 1000, "columns": [7], "rows": [[1000, 1, 1]]}
    assert layer._minor(document) == 0
    words = "there are more than 1000 inputs"
    assert why_not(layer._minor, document | {"inputs": [[]] * 1001}) == words
