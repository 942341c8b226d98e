"""Certificates of layers with groups, latents or a state: a minor and an orbit, checked with integers."""

import copy
import itertools
import json
import math
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
from agattn.claims.models import _as_checked, _general
from agattn.errors import UndecidedError
from agattn.geometry.dimension.theorems import by_layer
from agattn.verification.certificate import certify, dump
from tests.faults.certificates import numbers, refused

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
    return json.loads(json.dumps(certify(Network([layer], d, t))))


def claim_of(document):
    """The claim that is certified."""
    [claim] = [claim for claim in document["claims"] if "verdict" in claim]
    return claim


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
    assert claim_of(document)["dimension"] == dimension
    if isinstance(layer, ag.Recurrence):
        assert result["layer"].startswith(f"a state with the rule {layer.rule}; d = {d}, ")
    left = ["agattn.model-dimension", "agattn.model-symmetries"]
    assert result["uncertified"] == left
    ending = [f"About {result['layer']}.", f"Not certified: {', '.join(left)}.", "The certificate is valid."]
    assert checker.described(result).splitlines()[-3:] == ending


@pytest.mark.parametrize(("layer", "d", "t", "dimension"), CASES)
def test_the_checker_has_the_functions_of_the_library(layer, d, t, dimension):
    """Values and derivatives of the checker's own code, and the orbits of its motions."""
    rng = np.random.default_rng(1)
    network = Network([layer.reduced((d, t))], d, t)
    found = {"layer": network.layers[0].as_json(), "d": d, "t": t}
    mine = (checker.State if layer.type == "recurrence" else checker.Shared)(found)
    p, square = checker.PRIME, checker.SQUARE
    weights = draw_parameters(network, lambda shape: rng.integers(-9, 10, shape))
    parameters = sum(array.size for array in weights.values())
    assert parameters - mine.group == dimension
    X = rng.integers(-9, 10, (d, t))
    arrays = {name: array.reshape(mine.shapes[name]) for name, array in _as_checked(network, weights).items()}
    assert list(arrays) == list(mine.shapes)
    mine.at = {
        (name, *(n + 1 for n in place)): array[place].astype(int).tolist()
        for name, array in arrays.items()
        for place in np.ndindex(array.shape[:-2])
    }
    value = mine.value(mine.at, X.tolist())
    skip = X if getattr(layer, "skip", False) else 0
    exact = exactly(network, weights, X)
    assert all(
        (int(x) - int(y.numerator) * pow(int(y.denominator), -1, square)) % square == 0
        for x, y in zip(np.ravel(value), np.ravel(exact - skip), strict=True)
    )
    for motion in mine.motions():  # a motion changes no value
        moved = {
            name: [
                [x + p * z for x, z in zip(*rows, strict=True)]
                for rows in zip(A, motion.get(name, (0 * np.array(A)).tolist()), strict=True)
            ]
            for name, A in mine.at.items()
        }
        assert motion.keys() <= mine.at.keys()
        other = mine.value(moved, X.tolist())
        pairs = zip(np.ravel(value), np.ravel(other), strict=True)
        assert not any((int(x) - int(y)) % square for x, y in pairs)


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
    made = certify(read_model(str(ROOT / "examples" / "delta.toml")))
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
    return found.dimension == claim_of(document)["dimension"] and str(found.evidence) == "proved"


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
    rng, places = random.Random(d), numbers(document)
    stated = [place for place in places if not {"weights", "inputs"} & {*place}]
    moves = ((rng.choice(stated if n % 4 else places), rng.choice([-2, -1, 1, 2])) for n in range(60))
    assert refused(document, moves, lambda damaged: outcome(damaged)["valid"], states_what_is_true) >= 30


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dimension": 50}, "the Jacobian has rank 51"),
        ({"inputs": []}, "the Jacobian has rank 0"),
        ({"id": "agattn.latent-dimension"}, "the claim about such a layer is agattn.grouped-dimension"),
        ({"columns": [1]}, "unknown key"),
        ({"t": 1}, "there is one token"),
        ({"layer": {"type": "linear", "out": 3}}, "nothing that is known here"),
        ({"layer": {"type": "attention", "out": 3}}, "a key is missing: rank"),
        ({"layer": GROUP.as_json() | {"normalization": "softmax"}}, "a softmax is not checked"),
        ({"layer": GROUP.as_json() | {"heads": 10**9}}, "too large"),
        ({"layer": GROUP.as_json() | {"heads": 4}}, "only known to be"),
        ({"layer": GROUP.as_json() | {"value_rank": None}}, "groups have no value_rank"),
        ({"layer": GROUP.as_json() | {"kv_heads": 2}}, "no multiple"),
        ({"layer": GROUP.as_json() | {"skip": 2}}, "neither true nor false"),
        ({"layer": GROUP.as_json() | {"rank": 10**9, "rotary": True}}, "too large"),
        ({"layer": GROUP.as_json() | {"mask": [[0, 0], [0, 0]]}}, "has rank 0"),
        ({"weights": {}}, "a key is missing: K, Q, O, P"),
    ],
)
def test_what_is_refused(group, change, words):
    document = copy.deepcopy(group)
    part = document if change.keys() & document.keys() else claim_of(document)
    result = outcome(part.update(change) or document)
    assert not result["valid"]
    assert words in result["flaw"]


def test_a_rank_below_the_bound_proves_no_dimension(group):
    smaller = copy.deepcopy(group)
    claim = claim_of(smaller)
    few = claim["inputs"][:3]
    [rank] = {outcome_of(smaller, inputs=few, dimension=n) for n in (1, 2)}
    low = int(rank.rpartition(" ")[2])
    assert outcome_of(smaller, inputs=few, dimension=low) == f"the dimension is only known to be {low} to 51"


def outcome_of(document, **changes):
    """The flaw of a document whose claim is changed."""
    claim_of(document).update(changes)
    return outcome(document)["flaw"]


@pytest.mark.parametrize("seed", range(12))
def test_weights_that_happen_to_be_special_are_drawn_again(seed):
    """All arrays of this layer have few entries, so special weights are likely."""
    network = Network([ag.Attention(1, 1, value_rank=1, kv_latent=1, q_latent=1)], 1, 2)
    dimension = by_layer(network).value
    weights, inputs, space = _general(network, dimension, np.random.default_rng(seed))
    assert space.rank == dimension == 1 and len(inputs) >= 1 and all(A.all() for A in weights.values())
    with pytest.raises(UndecidedError, match="no weights were found at which a Jacobian has rank 9"):
        _general(network, 9, np.random.default_rng(seed))


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
        ("heads is no multiple of kv_heads", {"value_rank": 1, "kv_heads": 2}),
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
    assert (layer.g, layer.s, layer.pairs, layer.latents) == (1, 1, 0, (0, 0))
    assert layer.mask == [[1] * 100] * 100 and layer.reads == "V"
    assert shared(mask="causal").mask == [[1, 1], [0, 1]] and shared(mask="none").mask == [[1, 1]] * 2
    for mask in ([[1, 1], [1, 1]], [[0, 1], [1, 0]], [[0, 0], [0, 0]]):
        assert shared(mask=mask).mask == mask
    names = {"none": "head;", "causal": "head, a causal mask;"}
    for mask, words in (*names.items(), ([[0, 1], [1, 0]], "head, a mask of its own;")):
        assert str(shared(mask=mask)).startswith(f"1 group of 1 {words}")
    words = {"id": "agattn.grouped-dimension", "weights": {}, "dimension": 0}
    assert why_not(shared(2500).prove, words) == "a key is missing: K, Q, V"  # 10000 parameters
    assert why_not(shared(2501).prove, words) == "it is about too large a layer"
    assert shared(skip=True, rotary=False, rank=1).pairs == 0
    assert shared(1, 100, out=100).o == 100
    for sizes in ({"out": 101}, {"rank": 101}):
        assert why_not(shared, 1, 100, **sizes) == "it is about too large a layer"
    for table, words in (
        ({"rule": "sum"}, ""),
        ({"rule": "sum", "heads": 1}, ""),
        ({"rule": "sum", "heads": 2}, "more than one state is not checked here"),
        ({"rule": "max"}, "there is no such rule"),
    ):
        found = {"layer": {"type": "recurrence", "out": 1, "rank": 1} | table, "d": 2, "t": 2}
        assert (why_not(checker.State, found) == words) if words else checker.State(found)


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
        layer = shared(5, **{"rank": 2, "value_rank": 1} | changes)
        assert sum(map(math.prod, layer.shapes.values())) - layer.group == value
    groups = {"rank": 2, "value_rank": 1, "heads": 2, "kv_heads": 1, "kv_latent": 3}
    assert why_not(shared, 5, **groups) == "no theorem is known here for groups behind latents"


def test_rotations_are_those_of_the_first_primes():
    """(2 + i)² = 3 + 4i for 5, (3 + 2i)² = 5 + 12i for 13, and so on; 25 is no prime."""
    p = checker.SQUARE
    assert isprime(checker.PRIME) and p == checker.PRIME**2
    squares = {5: (3, 4), 13: (5, 12), 17: (15, 8), 29: (21, 20), 37: (35, 12), 41: (9, 40), 53: (45, 28)}
    expected = [(x * pow(n, -1, p) % p, y * pow(n, -1, p) % p) for n, (x, y) in squares.items()]
    assert checker.rotations(7) == expected and checker.rotations(0) == []
    layer = shared(4, 3, rank=4, rotary=True)
    rows = [[1, 2, 3], [0, 5, -1], [4, 0, 2], [1, 1, 1]]
    turned = [list(row) for row in rows]
    for k, (cos, sin) in enumerate(expected[:2]):
        c, s = 1, 0
        for j in range(3):
            x, y = rows[2 * k][j], rows[2 * k + 1][j]
            turned[2 * k][j], turned[2 * k + 1][j] = (c * x - s * y) % p, (s * x + c * y) % p
            c, s = (c * cos - s * sin) % p, (c * sin + s * cos) % p
    assert layer.placed(rows) == turned
    plain = shared(4, 3, rank=4)
    assert plain.placed(rows) == rows and [*plain.turns()] == [*checker.units(4)]
    zero = [0, 0, 0, 0]
    assert [*layer.turns()] == [
        [[1, 0, 0, 0], [0, 1, 0, 0], zero, zero],
        [[0, 1, 0, 0], [-1, 0, 0, 0], zero, zero],
        [zero, zero, [0, 0, 1, 0], [0, 0, 0, 1]],
        [zero, zero, [0, 0, 0, 1], [0, 0, -1, 0]],
    ]
    some = list(shared(4, 3, rank=4, rotary=1).turns())
    units = [[[0] * 4 for _ in range(4)] for _ in range(4)]
    for E, (i, j) in zip(units, itertools.product((2, 3), repeat=2), strict=True):
        E[i][j] = 1
    assert [E for E in some if E in units] == units and len(some) == 6


def test_derivatives_are_those_of_the_outputs():
    """K = Q = (1 0), V = 1, and the input (1 0; 1 3): V_21 moves output 2 of token 1 alone."""
    layer = shared()
    at = {("K", 1): [[1, 0]], ("Q", 1, 1): [[1, 0]], ("V", 1): [[1, 0], [0, 1]]}
    X = [[1, 0], [1, 3]]
    rows = [*checker.jacobian(lambda weights: lambda Y: layer.value(weights, Y), at, [[[0, 0], [0, 0]], X])]
    assert len(rows) == 8 and rows[6] == [0, 0, 0, 0, 0, 0, 1, 0]
    assert checker.arrays({"A": [[1, 2, 1, 5]]}, {"A": (1, 2, 1)}) == {("A", 1): [[0], [5]]}
    assert checker.arrays({"A": [[2, 1, 5]]}, {"A": (2, 2)}) == {("A",): [[0, 0], [5, 0]]}
    p = checker.PRIME
    vector = checker.tangent({("K", 1): [[-1, 0, 3]], ("C",): [[0], [p]]})
    assert vector == {("K", 1, 0, 0, 0): -1, ("K", 1, 0, 2, 0): 3, ("C", 1, 0, 0): p}
    assert checker.rank([vector], p) == checker.rank([{("K",): 2 * p}, {("K",): 1}], p) == 1
    assert checker.rank([{("K",): 2 * p}], p) == 0


def test_what_was_computed_is_compared_with_the_formula():
    document = json.loads((ROOT / "docs" / "certificates" / "delta.json").read_text(encoding="utf-8"))
    claim, layer = claim_of(document), checker.State(document)
    name, reason = layer.prove(claim)
    found = [found for found in checker.check(document)["claims"] if found["valid"]]
    assert found == [{"id": name, "valid": True, "reason": reason}]
    layer.group += 1
    assert why_not(layer.prove, claim) == f"the formula gives {claim['dimension'] - 1}"


def test_larger_sizes_than_heads_can_use_are_not_certified():
    """For d = d' = 1 the function is x ↦ VKQ x³, of dimension 1, whatever the rank is."""
    claim = {
        "id": "agattn.grouped-dimension", "verdict": "confirmed", "inputs": [[[1, 1, 1], [1, 2, 1]]],
        "dimension": 1,
    }  # fmt: skip
    flaws = []
    for rank in (1, 2):
        weights = {"K": [[1, n, 1, n] for n in range(1, rank + 1)], "V": [[1, 1, 1, 1]]}
        weights["Q"] = [[1, 1, n, 1, 1] for n in range(1, rank + 1)]
        layer = {"type": "attention", "out": 1, "rank": rank}
        found = {"format": checker.FORMAT, "about": "", "d": 1, "t": 2, "layer": layer}
        flaws.append(outcome(found | {"claims": [claim | {"weights": weights}]})["flaw"])
    assert flaws == ["", "the formula gives 0"]
    document = certificate(ag.Attention(2, 1, kv_latent=9), 3)  # of the layer with a latent of 3 rows
    assert document["layer"]["kv_latent"] == 3 and claim_of(document)["dimension"] == 10


def test_groups_of_states():
    """GL(3), a torus, or O(3), and one factor or two."""
    for rule, group in zip(RULES, (9 + 1, 9 + 1, 9 + 1, 3 + 1, 3 + 1, 3 + 2), strict=True):
        layer = {"type": "recurrence", "out": 1, "rank": 3, "rule": rule}
        assert checker.State({"layer": layer, "d": 3, "t": 2}).group == group


def test_a_gated_delta_rule_with_one_row():
    """S = 7·5·2 = 70, and then S = 70 + 7·(5 − 70·2)·2 = −1820; y = 3 S."""
    layer = {"type": "recurrence", "out": 1, "rank": 1, "rule": "gated-delta"}
    weights = {("K",): [[2]], ("Q",): [[3]], ("V",): [[5]], ("w",): [[7]]}
    [row] = checker.State({"layer": layer, "d": 1, "t": 2}).value(weights, [[1, 1]])
    assert [x % checker.SQUARE for x in row] == [210, checker.SQUARE - 5460]


def test_a_gate_does_not_move_the_first_token():
    """y_1 = V x_1 (Kx_1)(Qx_1), y_2 = V (x_2 (Kx_2) + γ x_1 (Kx_1)) (Qx_2), if K and Q have one row."""
    layer = checker.State(
        {"layer": {"type": "recurrence", "out": 2, "rank": 1, "rule": "decay"}, "d": 2, "t": 2}
    )
    weights = {"K": [[1, 2]], "Q": [[3, 1]], "V": [[1, 4], [0, 1]], "gamma": [[5]]}
    weights = {(name,): A for name, A in weights.items()}
    X = [[1, 2], [3, 1]]  # K x = 7, 4 and Q x = 6, 7; V x = (13, 3), (6, 1)
    values = [[13 * 7 * 6, (6 * 4 + 5 * 13 * 7) * 7], [3 * 7 * 6, (1 * 4 + 5 * 3 * 7) * 7]]
    assert layer.value(weights, X) == values
    rows = [*checker.jacobian(lambda at: lambda Y: layer.value(at, Y), weights, [X])]
    assert rows[-1] == [0, 13 * 7 * 7, 0, 3 * 7 * 7]


def test_small_files_about_large_layers_are_refused_soon(monkeypatch):
    """The groups of such layers have millions of tangent vectors: they are made and counted one by one."""
    checker.WORK.done = 0
    assert next(checker.units(40))[0][:2] == [1, 0] and checker.WORK.done == 1600
    for turns, steps, number in (
        (lambda: checker.units(3), 81, 9),
        (shared(4, 3, rank=4, rotary=True).turns, 256, 4),
        (shared(5, 3, rank=5, rotary=1).turns, 625, 2 + 9),
    ):
        checker.WORK.done = 0
        assert len([*turns()]) == number and checker.WORK.done == steps
    monkeypatch.setattr(checker, "STEPS", 10**5)
    gate = {"type": "recurrence", "out": 1, "rank": 400, "rule": "diagonal-gate"}
    turned = {"type": "attention", "out": 1, "rank": 400, "rotary": True}
    for layer, names in ((gate, "KQVG"), (turned, "KQV")):
        name = f"agattn.{'recurrent' if layer is gate else 'grouped'}-dimension"
        claim = {"id": name, "verdict": "confirmed", "inputs": [], "dimension": 0}
        claim["weights"] = {letter: [] for letter in names}
        document = {"format": checker.FORMAT, "about": "", "d": 1, "t": 2, "layer": layer, "claims": [claim]}
        assert why_not(checker.check, document) == "it takes more than 100000 steps of arithmetic"


def test_outputs_are_bounded(monkeypatch):
    """As many inputs as a file may hold, with as many outputs as a layer may have, are too many."""
    monkeypatch.setattr(checker, "OUTPUTS", 12)
    assert len(checker.inputs_in([[], []], 1, 3)) == len(checker.inputs_in([[], []], 3, 1)) == 2
    words = "there are more than 1000 inputs, or they have more than 12 outputs"
    for sizes in ((1, 3), (3, 1), (1, 1, 5)):
        assert why_not(checker.inputs_in, [[], [], []], *sizes) == words


@pytest.mark.parametrize("rule", ["decay", "scalar-gate", "diagonal-gate"])
def test_a_state_stays_small(rule, monkeypatch):
    """A gate of 300 digits makes no state of 300·t digits: all is taken modulo p²."""
    gate = {"decay": "gamma", "scalar-gate": "w", "diagonal-gate": "G"}[rule]
    layer = {"type": "recurrence", "out": 1, "rank": 1, "rule": rule}
    state, big = checker.State({"layer": layer, "d": 1, "t": 50}), [[10**299 + 7]]
    seen, multiplied = [], checker.multiplied

    def watched(A, B, modulus=0):
        seen.extend(x for row in A for x in row)
        return multiplied(A, B, modulus)

    monkeypatch.setattr(checker, "multiplied", watched)
    state.value({("K",): [[1]], ("Q",): [[1]], ("V",): [[1]], (gate,): big}, [[1] * 50])
    assert max(seen) < 10**300


def test_one_state_is_the_number_1():
    layer = {"type": "recurrence", "out": 1, "rank": 1, "rule": "sum", "heads": True}
    words = "something else stands where an integer belongs"
    assert why_not(checker.State, {"layer": layer, "d": 1, "t": 2}) == words
