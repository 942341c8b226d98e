"""Certificates of zeros and limits: checked with integers; none that is damaged states what is false."""

import copy
import itertools
import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn import DeepNetwork, checker
from agattn.algebra.arithmetic import ModularArithmetic, RingArithmetic
from agattn.algebra.residues import RowSpace
from agattn.errors import InputError
from agattn.geometry.closedness.question import LimitMap
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.identifiability.virtual_weights import vanishes, virtual, virtual_jacobian
from agattn.verification.certificate import Certificate, certify, dump
from tests.command_line import call
from tests.faults.certificates import flaw_of, is_valid, numbers, refused

SMALL = DeepNetwork((2, 2, 1), (2, 2), t=3)
IDS = list(checker.Deep.RECORDS)
TOO_MANY = "there are more than 1000 inputs, or they have more than 500000 outputs"


def certificate(network, ids=()):
    """A certificate as a document, of what it certifies alone."""
    document = json.loads(json.dumps(certify(network, ids)))
    return document | {"claims": [claim for claim in document["claims"] if "verdict" in claim]}


def record(document, name):
    """What a certificate has about a claim."""
    return next(claim for claim in document["claims"] if claim["id"] == f"agattn.deep-{name}")


def only(document, *names):
    """A copy with some claims alone."""
    return copy.deepcopy(document | {"claims": [record(document, name) for name in names]})


@pytest.fixture(scope="module")
def small():
    return certificate(SMALL)


@pytest.mark.parametrize(
    ("network", "dimension"),
    [
        (DeepNetwork((3, 3, 2), (3, 3), t=2), 21),
        (DeepNetwork((3, 2, 3), (2, 2), t=3), 17),
        (DeepNetwork((2, 3, 2, 1), (2, 2, 1), t=3), 9),
    ],
)
def test_what_is_certified(network, dimension):
    result = checker.check(certificate(network))
    ids = [claim["id"] for claim in result["claims"]]
    assert result["valid"] and ids == IDS[: 5 if network.dims[0] == 3 == network.dims[1] else 3]
    assert f"dimension {dimension} = dim M − 1" in result["claims"][2]["reason"]
    # What is not checked is named.
    assert all("docs/networks/d" in claim["reason"] for claim in result["claims"])


def test_layers_before_those_of_the_limit_may_have_rank_two():
    """The limit of M(2,2,2,1) is at s = 2, and rk M_1 = 2 is what the theorem needs."""
    result = checker.check(certificate(DeepNetwork((2, 2, 2, 1), (2, 2, 2), t=2)))
    assert result["valid"] and "dimension 10 = dim M − 1" in result["claims"][2]["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("dims", [(3, 3, 9), (3, 3, 3, 4)])
def test_many_outputs_tell_little_where_l_has_rank_one(dims):
    """The critical points that are certified have inputs enough for the rank dim M at the others."""
    network = DeepNetwork(dims, (3,) * (len(dims) - 1), t=2)
    document = certify(network, ["agattn.deep-critical"])
    ranks = [point["rank"] for point in record(document, "critical")["points"]]
    assert ranks.count(network_bound(network).value) == 2 and checker.check(document)["valid"]


def test_the_certificate_of_the_documentation():
    path = Path(__file__).parents[2] / "docs" / "certificates" / "n332.json"
    made = certify(DeepNetwork((3, 3, 2), (3, 3), t=3), ["agattn.deep-not-closed", "agattn.deep-boundary"])
    assert path.read_text(encoding="utf-8") == dump(made) + "\n"


def test_a_closed_network_has_zeros_only():
    document = certify(DeepNetwork((3, 1, 2), (2, 2), t=3))
    assert [claim["id"] for claim in checker.check(document)["claims"]] == ["agattn.deep-zeros"]
    said = "Certificate of M(3,1,2; 2,2), t ≥ 2: 21 claims, 1 certified (1 confirmed, 0 refuted)"
    assert str(Certificate(document)) == said


@pytest.mark.parametrize(
    ("network", "claims", "words"),
    [
        (DeepNetwork((3, 1, 2), (2, 2), t=3), ["agattn.deep-boundary"], "it assumes d_0, d_1, a_1, a_2 ≥ 2"),
        (DeepNetwork((3, 3, 3), (2, 2), t=3, heads=2), [], "it assumes one head"),
    ],
)
def test_what_is_not(network, claims, words):
    with pytest.raises(InputError, match=words):
        certify(network, claims)


def test_numbers_too_long_for_the_checker(monkeypatch):
    monkeypatch.setattr(checker, "LARGEST", 2)
    with pytest.raises(InputError, match="cannot be certified: an integer has more than"):
        certify(SMALL)


def test_the_command_writes_and_checks(tmp_path):
    path = tmp_path / "c.json"
    line = "certificate --dims 2,2,1 --ranks 2,2 -t 2 --claim agattn.deep-boundary -O"
    assert call(line, path).status == 0
    status, out, _ = call("check", path)
    assert status == 0 and "dimension 7 = dim M − 1" in out and out.endswith("The certificate is valid.\n")


@given(st.lists(st.integers(1, 7), min_size=3, max_size=6), st.data())
def test_the_count_is_that_of_the_library(dims, data):
    ranks = [data.draw(st.integers(1, 5)) for _ in dims[1:]]
    network = DeepNetwork(tuple(dims), tuple(ranks), t=2)
    count, bound = checker.Deep({"dims": dims, "ranks": ranks}).bound(), network_bound(network).value
    assert count == bound or (min(dims) == 1 and count > bound)


# Damage -----------------------------------------------------------------------------------------------------


def is_refused(document, words):
    """Whether a document is unreadable or not valid, for a reason with these words."""
    try:
        result = checker.check(document)
    except checker.UnreadableError as error:
        return words in str(error)
    assert result["valid"] or not any(claim["valid"] for claim in result["claims"])
    return not result["valid"] and words in result["flaw"]


def arrays(network, weights):
    found = {name: np.zeros(shape, dtype=int).astype(object) for name, shape in network.shapes.items()}
    for name, entries in weights.items():
        for i, j, x in entries:
            found[name][0, i - 1, j - 1] = x
    return found


def matrix(entries, rows):
    found = np.zeros((rows, 2), dtype=int).astype(object)
    for i, j, x in entries:
        found[i - 1, j - 1] = x
    return found


def states_what_is_true(document):
    """Whether what a document states follows from the library's own computation."""
    network = DeepNetwork(tuple(document["dims"]), tuple(document["ranks"]), t=2)
    for point in record(document, "zeros")["points"]:
        weights = arrays(network, point["weights"])
        zero = vanishes(*virtual(network, weights), 2)
        if zero != ("X" not in point):
            return False
        if not zero:
            X = matrix(point["X"], network.dims[0])
            if not network.evaluate(RingArithmetic(), weights, X[None])[0].any():
                return False
    for name in ("not-closed", "boundary"):
        limit = record(document, name)
        limit_map, weights = LimitMap(network, 1), arrays(network, limit["weights"])
        X = matrix(limit["X"], network.dims[0])
        if limit_map.open_conditions(weights, X) or not all(limit_map.minors(weights, X)):
            return False
    return record(document, "boundary")["dimension"] == network_bound(network).value - 1


def test_no_damaged_certificate_states_what_is_false(small):
    assert states_what_is_true(small)
    rng = random.Random(1)
    document = only(small, "zeros", "not-closed", "boundary")
    zeros = record(document, "zeros")
    zeros["points"] = zeros["points"][:1] + zeros["points"][8:9]
    places = numbers(document)
    stated = [place for place in places if place[0] in ("dims", "ranks") or "dimension" in place]
    steps = [-3, -2, -1, 1, 2, 3]
    moves = ((rng.choice(stated if n % 2 else places), rng.choice(steps)) for n in range(130))
    assert refused(document, moves, is_valid, states_what_is_true) >= 90


def test_a_wrong_statement_is_refused(small):
    def wrong(change, words):
        document = copy.deepcopy(small)
        change(document)
        return is_refused(document, words)

    def zero_claimed(document):  # generic weights as if φ were 0
        del record(document, "zeros")["points"][0]["X"]

    def zero_shown(document):  # an input at weights where φ is 0
        next(point for point in record(document, "zeros")["points"] if "X" not in point)["X"] = []

    def skew_part(document):  # P = 2K
        weights = record(document, "not-closed")["weights"]
        pairs = {(i, j): x for i, j, x in weights["K_2"]}
        turned = {(1, j): 2 * x for (i, j), x in pairs.items() if i == 2}
        turned |= {(2, j): -2 * x for (i, j), x in pairs.items() if i == 1}
        weights["Q_2"] = [[i, j, x] for (i, j), x in sorted(turned.items())]

    def no_values(document):  # V_2 = 0
        record(document, "not-closed")["weights"]["V_2"] = []

    def one_token(document):  # where κ and δ are 0
        record(document, "not-closed")["X"] = [[1, 1, 1], [2, 1, 1]]

    def of(name, **changes):
        return lambda document: record(document, name).update(changes)

    assert wrong(one_token, "κδ is 0")
    assert wrong(no_values, "L is 0")
    assert wrong(zero_claimed, "a zero is none")
    assert wrong(zero_shown, "a zero is none")
    assert wrong(skew_part, "P is skew-symmetric")
    assert wrong(of("boundary", dimension=6), "has rank 7")
    assert wrong(of("boundary", inputs=[]), "has rank 0")
    assert wrong(of("boundary", X=[]), "κδ is 0")
    assert wrong(lambda d: d.update(ranks=[2, 1]), "index")
    assert wrong(lambda d: record(d, "boundary").pop("weights"), "a key is missing: weights")
    assert wrong(of("zeros", points=record(small, "zeros")["points"][:1]), "not both there")
    assert wrong(lambda d: d.update(dims=[2, 2]), "no network of two layers")
    assert wrong(lambda d: d.update(dims=[2, 0, 1]), "not possible")
    assert wrong(lambda d: d.update(dims=[200, 200, 1]), "too large")
    assert wrong(lambda d: d.update(extra=1), "unknown key")
    assert wrong(lambda d: d.update(claims=[]), "nothing is certified")


@pytest.fixture(scope="module")
def points():
    """Of critical and singular points of the smallest network that has both claims."""
    network = DeepNetwork((3, 3, 1), (3, 3), t=2)
    return certificate(network, ["agattn.deep-critical", "agattn.deep-singular"])


def test_points_are_certified(points):
    result = checker.check(points)
    assert result["valid"] and [claim["id"] for claim in result["claims"]] == IDS[3:]
    critical, singular = (claim["reason"] for claim in result["claims"])
    assert "of 4 weights 2 are critical" in critical and "the rank is 19" in critical
    assert "dim M ≤ 19, so M̄ is singular" in singular and "Theorem 4" in singular


def states_true_points(document, name):
    """Whether the ranks that a document states are those of the library, at its weights and inputs."""
    d, d_out = document["dims"][0], document["dims"][-1]
    p = 1000003

    def dense(entries, rows, columns):
        found = np.zeros((rows, columns), dtype=int)
        for i, j, x in entries:
            found[i - 1, j - 1] = x
        return found

    claim = record(document, name)
    X = np.array([dense(x, d, 2) for x in claim["inputs"]])
    units = np.repeat(np.eye(2 * d_out).reshape(1, 2 * d_out, d_out, 2), len(X), axis=0)
    for point in claim["points"]:
        rows = []
        for at in [point, *point.get("others", [])]:
            M, L = [dense(m, d, d) % p for m in at["M"]], dense(at["L"], d_out, d) % p
            network = DeepNetwork((*[d] * len(M), d_out), (d,) * len(M), 2)
            given = [m * 1.0 for m in (*M, L, X % p)]
            J = virtual_jacobian(network, given[:-2], *given[-2:], units, ModularArithmetic(p))
            rows.append(J.T)
        if RowSpace(rows[0].shape[1], p).add(np.concatenate(rows)) != point["rank"]:
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("key", "tried", "least"), [("critical", 140, 100), ("singular", 30, 20)])
def test_no_damaged_certificate_of_points_states_what_is_false(points, small, key, tried, least):
    source = points if key == "singular" else small  # the smaller, the faster
    document = only(source, key)
    assert states_true_points(document, key)
    rng, places = random.Random(2), numbers(document)
    stated = [place for place in places if "inputs" not in place]
    moves = ((rng.choice(stated if n % 8 else places), rng.choice([-2, -1, 1, 2])) for n in range(tried))
    assert refused(document, moves, is_valid, lambda damaged: states_true_points(damaged, key)) >= least


def test_wrong_points_are_refused(points):
    def wrong(key, change, words):
        document = only(points, key)
        change(document)
        return is_refused(document, words)

    generic = record(points, "critical")["points"][0]
    skew = [[1, 2, 1], [2, 1, -1]]
    other, rest = {"M": generic["M"], "L": generic["L"]}, {**generic, "rank": 19}
    for key, change, words in [
        ("critical", lambda p: p["points"][0].update(rank=18), "have rank 19"),
        ("critical", lambda p: p.update(inputs=[]), "have rank 0"),
        ("critical", lambda p: p.update(points=[generic]), "not both there"),
        ("critical", lambda p: p["points"][0]["M"].__setitem__(1, skew), "skew-symmetric"),
        ("singular", lambda p: p["points"].pop(), "for each layer"),
        ("singular", lambda p: p["points"][0].update(others=[]), "have rank 16"),
        ("critical", lambda p: p["points"][0].update(others=[]), "unknown key"),
        ("singular", lambda p: p["points"].reverse(), "the same function"),
        ("singular", lambda p: p["points"][0].update({**rest, "others": []}), "a rank is not 1"),
        ("singular", lambda p: p["points"][1].update({**rest, "others": []}), "a rank is not 1"),
        ("singular", lambda p: p["points"][0].update(others=[other]), "the same function"),
        ("singular", lambda p: p["points"][1].update(others=[other]), "the same function"),
        ("singular", lambda p: p["points"][0]["M"].pop(), "than layers"),
    ]:
        assert wrong(key, lambda d, key=key, change=change: change(record(d, key)), words), words
    assert wrong("singular", lambda d: d.update(ranks=[3, 2]), "not all matrices")


# Each part alone --------------------------------------------------------------------------------------------


def listed(array):
    """A matrix as [[row, column, value], ...]."""
    return [[i + 1, j + 1, int(x)] for (i, j), x in np.ndenumerate(np.asarray(array)) if x]


def drawn(dims, ranks, seed=0, **given):
    """Weights with small entries, of which some are given."""
    rng = np.random.default_rng(seed)
    weights = {}
    for n, (d, d_out, a) in enumerate(zip(dims, dims[1:], ranks, strict=False), 1):
        for name, shape in (("K", (a, d)), ("Q", (a, d)), ("V", (d_out, d))):
            drawn_now = rng.integers(-3, 4, shape)
            weights[f"{name}_{n}"] = np.array(given.get(f"{name}_{n}", drawn_now))
    return weights


def test_the_count_has_a_value_for_each_width():
    """Σ D_i + Σ e_{i−1}e_i − Σ e_i² − l, by hand; e_1 is the least of d_0, d_1 and 2a_2 + e_2."""
    for dims, ranks, value in (
        ([2, 2, 1], [2, 2], 4 + 4 + 4 + 2 - 4 - 2),
        ([5, 5, 1], [2, 1], 16 + 15 + 5 + 3 - 9 - 2),
        ([9, 5, 1], [2, 1], 32 + 27 + 5 + 3 - 9 - 2),
        ([3, 9, 4], [1, 1], 5 + 9 + 5 + 12 - 9 - 2),
        ([4, 4, 4, 1], [4, 1, 1], 16 + 16 + 7 + 12 + 5 + 3 - 16 - 9 - 3),
    ):
        assert checker.Deep({"dims": dims, "ranks": ranks}).bound() == value, dims


def test_networks_of_every_size_up_to_the_limit():
    assert checker.Deep({"dims": [50, 50, 50], "ranks": [25, 25]}).first == 1  # 10000 entries
    for dims, ranks in (([50, 50, 50], [25, 26]), ([50, 51, 50], [25, 25])):
        with pytest.raises(checker.UnreadableError, match="too large a network"):
            checker.Deep({"dims": dims, "ranks": ranks})


def test_limits_are_those_of_weights_with_a_small_number():
    """The layer of diag(1, ε, ..., ε)·Q_s and ΩK_{s+1} + εQ_{s+1} is ε times the limit, modulo ε²."""
    p = checker.PRIME
    for l, a in itertools.product((2, 3), (2, 3, 4, 5)):
        dims, ranks = [3] * (l + 1), [a] * l
        network = checker.Deep({"dims": dims, "ranks": ranks})
        weights = {name: A.astype(object) for name, A in drawn(dims, ranks, seed=a).items()}
        s = network.first
        assert s == l - 1
        omega = np.zeros((a, a), dtype=int)
        for k in range(0, a - 1, 2):
            omega[k, k + 1], omega[k + 1, k] = 1, -1
        moving = dict(weights)
        moving[f"Q_{s}"] = np.diag([1] + [p] * (a - 1)).astype(object) @ weights[f"Q_{s}"]
        moving[f"Q_{s + 1}"] = omega @ weights[f"K_{s + 1}"] + p * weights[f"Q_{s + 1}"]
        Y = X = np.array([[1, 2], [0, 1], [3, 5]], dtype=object)
        for i in range(1, l + 1):
            K, Q, V = (moving[f"{name}_{i}"] for name in "KQV")
            Y = V @ Y @ (K @ Y).T @ (Q @ Y) % p**2
        given = {(name,): A.tolist() for name, A in weights.items()}
        limit = np.array(network.limit(given)(X.tolist()), dtype=object)
        assert Y.any() and not ((Y - p * limit) % p**2).any()


def limit_of(dims, ranks, X, seed=0, **given):
    """A certificate of a limit, and κ and δ, which the library computes."""
    network, weights = DeepNetwork(dims, ranks, t=2), drawn(dims, ranks, seed, **given)
    weights = {name: A.astype(object) for name, A in weights.items()}
    limit_map, X = LimitMap(network, len(ranks) - 1), np.array(X, dtype=object)
    kappa, delta = limit_map.minors({name: A[None] for name, A in weights.items()}, X)
    claim = {"id": "agattn.deep-not-closed", "verdict": "confirmed", "X": listed(X)}
    claim["weights"] = {name: listed(A) for name, A in weights.items()}
    heading = {"format": checker.FORMAT, "about": "", "dims": [*dims], "ranks": [*ranks]}
    return heading | {"claims": [claim]}, (int(kappa), int(delta))


UNIT, TURN = [[1, 0], [0, 1]], [[0, 1], [-1, 0]]


def test_each_condition_on_a_limit_is_seen():
    """Of three layers, where M_1 stands before M_s; of two, where δ = det(Q_1) and κ = 1."""
    X, general = [[1, 0], [1, 2]], {"K_1": UNIT, "Q_1": [[1, 2], [1, 1]], "V_1": UNIT, "V_2": UNIT}

    def said(**given):
        document, _ = limit_of((2, 2, 2, 1), (2, 2, 2), X, **(general | given))
        return checker.check(document)["flaw"]

    assert said() == ""
    assert said(Q_1=[[1, 2], [2, 4]]) == "some M_i before M_s has rank 1"
    assert said(Q_1=TURN) == said(K_3=UNIT, Q_3=TURN) == "some M_i or P is skew-symmetric"
    assert said(V_2=[[0, 0], [0, 0]]) == said(V_3=[[0, 0]]) == "L is 0"
    assert said(Q_2=[[0, 0], [1, 2]]) == "M_s is none of a limit"
    two = {"K_1": UNIT, "V_1": UNIT, "K_2": UNIT, "Q_2": UNIT, "V_2": [[1, 2]]}
    document, minors = limit_of((2, 2, 1), (2, 2), UNIT, Q_1=[[1, 1], [1, 0]], **two)
    assert minors == (1, -1) and checker.check(document)["valid"]
    for K_1 in (UNIT, [[0, 1], [1, 0]]):  # δ is ±det(Q_1), by two of its four products each
        for Q_1, words in (([[1, 3], [2, 6]], "κδ is 0"), ([[1, 3], [2, 5]], "")):
            document, minors = limit_of((2, 2, 1), (2, 2), UNIT, Q_1=Q_1, **(two | {"K_1": K_1}))
            assert checker.check(document)["flaw"] == words and bool(minors[1]) == (not words)
    # Of three layers, the last one of rank 1: s = 1, and M_3 = 0 is the only skew-symmetric one.
    for Q_3, words in (([[1, 2]], ""), ([[0, 0]], "some M_i or P is skew-symmetric")):
        given = {**two, "Q_1": [[1, 1], [1, 0]], "V_2": UNIT, "K_3": [[1, 1]], "Q_3": Q_3, "V_3": [[1, 2]]}
        weights = {name: listed(A) for name, A in drawn((2, 2, 2, 1), (2, 2, 1), **given).items()}
        claim = document["claims"][0] | {"weights": weights, "X": listed(UNIT)}
        three = document | {"dims": [2, 2, 2, 1], "ranks": [2, 2, 1], "claims": [claim]}
        assert checker.check(three)["flaw"] == words
    # With a = 3 the part of M_1 with ε has rank 2; with K_2 = (1 0 0; 0 1 0), κ = 0 where a token is e_3.
    kernel = {"V_1": np.eye(3, dtype=int), "K_2": [[1, 0, 0], [0, 1, 0]], "Q_2": [[1, 2, 3], [0, 1, 1]]}
    wide = {"K_1": np.eye(3, dtype=int), "Q_1": [[1, 2, 3], [0, 1, 4], [1, 0, 1]], "V_2": [[1, 2, 3]]}
    found, minors = limit_of((3, 3, 1), (3, 2), [[0, 1], [1, 2], [1, 1]], **kernel, **wide)
    assert all(minors) and checker.check(found)["valid"]
    found, minors = limit_of((3, 3, 1), (3, 2), [[0, 1], [0, 2], [1, 1]], **kernel, **wide)
    assert minors[0] == 0 != minors[1]
    assert checker.check(found)["flaw"] == "κδ is 0"
    assert checker.check(document | {"ranks": [2, 1]})["flaw"] == "such a network is closed"


def test_zeros_are_those_of_the_function():
    """All M_1, M_2, M_3 that are general, of rank 1, skew-symmetric or 0, with and without L = 0."""
    kinds = {"general": [[1, 2], [3, 5]], "rank 1": [[1, 2], [2, 4]], "skew": TURN, "0": [[0, 0], [0, 0]]}
    network = checker.Deep({"dims": [2, 2, 2, 1], "ranks": [2, 2, 2]})
    inputs = [np.array(x) for x in ([[1, 0], [1, 2]], [[2, -1], [1, 3]], [[3, 1], [-1, 4]])]
    seen = {}
    for chosen in itertools.product(kinds, repeat=3):
        for L in ([[1, 3]], [[0, 0]]):
            given = {f"Q_{n}": kinds[kind] for n, kind in enumerate(chosen, 1)}
            weights = drawn((2, 2, 2, 1), (2, 2, 2), V_3=L, **given)
            weights |= {name: np.array(UNIT) for name in ("K_1", "K_2", "K_3", "V_1", "V_2")}
            values = []
            for X in inputs:
                Y = X.astype(object)
                for n in (1, 2, 3):
                    Y = weights[f"V_{n}"] @ Y @ (Y.T @ weights[f"Q_{n}"] @ Y)
                values.append(Y)
            zero = not any(y.any() for y in values)
            n = 0 if zero else next(n for n, y in enumerate(values) if y.any())
            point = {"weights": {name: listed(A) for name, A in weights.items()}}
            shown = point | {"X": listed(inputs[n])}
            point, wrong = (point, shown) if zero else (shown, point)
            one_kind = "zeros and other weights are not both there"
            assert flaw_of(network.zeros, {"points": [point]}) == one_kind, (chosen, L)
            assert flaw_of(network.zeros, {"points": [wrong]}).startswith("a zero is none"), (chosen, L)
            seen[zero] = point
    assert flaw_of(network.zeros, {"points": [seen[False], seen[True]]}) == ""
    assert flaw_of(network.zeros, {"points": [seen[False] | {"X": []}]}) == "φ(X) is 0"
    for place in ([3, 1, 1], [1, 3, 1]):
        with pytest.raises(checker.UnreadableError, match="no such index"):
            network.zeros({"points": [seen[False] | {"X": [place]}]})


def test_the_dimension_of_limits_is_stated_and_met(small):
    def said(**changes):
        document = only(small, "boundary")
        record(document, "boundary").update(changes)
        try:
            return checker.check(document)["flaw"]
        except checker.UnreadableError as error:
            return str(error)

    inputs = record(small, "boundary")["inputs"]
    assert said() == said(inputs=[*inputs, []]) == ""
    words = "the limits are only known to have dimension 2 to 7"
    assert said(inputs=inputs[:1], dimension=2) == words
    assert said(inputs=[[[1, 3, 1]]]) == said(inputs=[[[3, 1, 1]]]) == "no such index"
    assert said(inputs=[[]] * 1001) == TOO_MANY


def test_inputs_and_points_have_the_sizes_of_the_network():
    X = [[1, 1, 1], [2, 2, 1]]
    claim = {"inputs": [X], "points": [{"M": [[], []], "L": [[1, 2, 3]], "rank": 2}]}
    network = checker.Deep({"dims": [2, 3, 1], "ranks": [2, 2]})
    zero = [[0, 0], [0, 0]]
    assert checker.inputs_in([X], 2, 1) == [[[1, 0], [0, 1]]]
    assert flaw_of(network.points, claim) == "derivatives have rank 0" and network.size == 2 * 3 + 2 * 1
    assert network.pair(claim["points"][0]) == [zero, zero, [[0, 3]]]

    def unreadable(**changes):
        with pytest.raises(checker.UnreadableError) as raised:
            network.points(claim | changes)
        return str(raised.value)

    for place in ([3, 1, 1], [1, 3, 1]):
        assert unreadable(inputs=[[place]]) == "no such index"
        for wrong in ({"M": [[place], []], "L": []}, {"M": [[], []], "L": [place]}):
            assert unreadable(points=[wrong | {"rank": 0}]) == "no such index"
    assert unreadable(inputs=[[]] * 1001) == TOO_MANY
    assert len(checker.inputs_in([[]] * 1000, 2, 1)) == 1000
    deep = {"dims": [1] * 10002, "ranks": [1] * 10001}
    with pytest.raises(checker.UnreadableError, match="it is about too large a network"):
        checker.Deep(deep)
    wide = checker.Deep({"dims": [2, 2, 1001], "ranks": [2, 2]})  # of 2002 outputs for an input
    many = {"inputs": [[]] * 1000, "points": [], "weights": {name: [] for name in wide.shapes}, "X": []}
    wide.not_closed = lambda record: ""
    for read in (wide.points, wide.boundary):
        with pytest.raises(checker.UnreadableError, match="more than 500000 outputs"):
            read(many)
    checker.WORK.done = 0
    assert checker.dense([], 3, 4) == [[0] * 4] * 3 and checker.WORK.done == 12
    words = "not all matrices M_1, ..., M_l, L are virtual weights"
    sizes = ([3, 2, 1], [3, 3]), ([3, 3, 2, 1], [3, 3, 3]), ([3, 3, 1], [3, 2]), ([1, 1, 1], [1, 1])
    for dims, ranks in sizes:
        assert flaw_of(checker.Deep({"dims": dims, "ranks": ranks}).points, claim) == words


def derivatives(weights, inputs):
    """The rows of the Jacobian of (M, L) at some inputs."""
    return [*checker.jacobian(checker.network, dict(enumerate(weights)), inputs)]


def test_derivatives_are_differences_modulo_a_square():
    """φ(M + hE) − φ(M) is h times the derivative modulo h², here for h the prime of the checker."""
    h = checker.PRIME
    rng = np.random.default_rng(4)
    for l in (1, 2, 3):
        M = [rng.integers(-4, 5, (2, 2)).astype(object) for _ in range(l)]
        L = rng.integers(-4, 5, (3, 2)).astype(object)
        inputs = [rng.integers(-4, 5, (2, 2)).astype(object) for _ in range(2)]

        def values(matrices, inputs=inputs):
            *M, L = matrices
            found = []
            for X in inputs:
                for m in M:
                    X = X @ X.T @ m @ X % h**2
                found += list((L @ X).ravel())
            return np.array(found, dtype=object) % h**2

        expected = []
        for n, matrix in enumerate([*M, L]):
            for place in np.ndindex(matrix.shape):
                moved = [A.copy() for A in [*M, L]]
                moved[n][place] += h
                expected.append(list((values(moved) - values([*M, L])) % h**2 // h))
        assert derivatives([m.tolist() for m in [*M, L]], [X.tolist() for X in inputs]) == expected


def test_critical_points_have_a_smaller_rank_and_others_have_not():
    """Of three layers: M_i = k qᵀ, i < 3, or M_3 = k qᵀ and L = h kᵀ, and no others."""
    rng = np.random.default_rng(1)
    inputs = [listed(rng.integers(-3, 4, (2, 2))) for _ in range(6)]
    thin, general = [[1, 2], [2, 4]], [[[1, 2], [3, 5]], [[2, 1], [0, 3]], [[1, 1], [4, 1]]]
    network = checker.Deep({"dims": [2, 2, 2, 2], "ranks": [2, 2, 2]})

    def point(L=((1, 3), (2, 1)), **given):
        M = [given.get(f"M_{n}", m) for n, m in enumerate(general, 1)]
        rows = derivatives([*M, [list(row) for row in L]], [checker.dense(X, 2, 2) for X in inputs])
        rank = checker.dense_rank(rows, checker.PRIME)
        return {"M": [listed(m) for m in M], "L": listed(L), "rank": rank}

    def said(*points, inputs=inputs):
        return flaw_of(network.critical, {"inputs": inputs, "points": [*points]})

    other = point()
    assert other["rank"] == 3 * 3 + 4
    for critical in (point(M_1=thin), point(M_2=thin), point(M_3=thin, L=thin)):
        assert critical["rank"] < 13 and said(other, critical) == ""
    both = "critical points and others are not both there"
    assert said(other) == said(point(M_2=thin)) == said(other, point(M_3=thin)) == both
    # M_3 = k qᵀ and L = h vᵀ where v is no multiple of k, or L has rank 2: these are not critical.
    for regular in (point(M_3=thin), point(M_3=thin, L=[[1, 3], [2, 6]]), point(L=thin)):
        assert regular["rank"] == 13 and said(regular, point(M_1=thin)) == ""
    assert said(other | {"rank": 12}) == "derivatives have rank 13"
    assert said(other | {"rank": 6}, inputs=inputs[:2]) == "a differential has rank 6, not 13"
    for wrong in (point(M_2=TURN), point(L=[[0, 0], [0, 0]])):
        assert said(wrong) == "L is 0, or an M_i is skew-symmetric"


def test_weights_have_the_same_function_only_by_what_is_proved(monkeypatch):
    """After M_i = k qᵀ only symmetric parts matter; of M_l = k qᵀ, L = h vᵀ, k and v may be exchanged."""
    network = checker.Deep({"dims": [2, 2, 2, 1], "ranks": [2, 2, 2]})
    spanned = {"n": 12}
    monkeypatch.setattr(checker, "jacobian", lambda *given: np.eye(spanned["n"], dtype=int).tolist())
    thin, general = [[1, 2], [2, 4]], [[[1, 2], [3, 5]], [[2, 1], [0, 3]], [[1, 1], [4, 1]]]
    skewed = [
        [[x + 7 * y for x, y in zip(*rows, strict=True)] for rows in zip(m, TURN, strict=True)]
        for m in general
    ]
    L = [[1, 3]]

    def weights(n, *M, L=L):
        M = [M[i] if i < len(M) and M[i] else (thin if i == n else general[i]) for i in range(3)]
        return {"M": [listed(m) for m in M], "L": listed(L)}

    def said(n, *others, rank=12):
        points = [weights(i) | {"others": [], "rank": spanned["n"]} for i in range(3)]
        points[n] |= {"others": [*others], "rank": rank}
        points[2]["L"] = listed(L)
        return flaw_of(network.singular, {"inputs": [], "points": points})

    words = "two weights are not seen to have the same function"
    assert said(0) == said(1) == said(2) == ""
    replaced = [weights(0, None, general[2]), weights(0, None, None, general[1]), weights(0, L=[[1, 4]])]
    scaled = [weights(2, None, skewed[1]), weights(2, L=[[2, 6]]), weights(2, None, None, skewed[2])]
    for n, same, others in (
        (0, [weights(0, None, skewed[1], skewed[2])], [weights(0, skewed[0])]),
        (0, [weights(0)], replaced),
        (1, [weights(1, None, None, skewed[2])], [weights(1, skewed[0]), weights(1, None, skewed[1])]),
        (1, [weights(1)], [weights(1, None, None, general[1]), weights(1, L=[[2, 3]])]),
        (2, [weights(2, None, None, [[1, 2], [3, 6]], L=[[1, 2]])], [weights(2, skewed[0])]),
        (2, [weights(2)], scaled),
    ):  # fmt: skip
        for other in same:
            assert said(n, other) == "", n
        for other in others:
            assert said(n, *same, other) == words, n
    assert said(0, rank=11) == "derivatives have rank 12"
    assert network.size == 3 * 3 + 2
    two = checker.Deep({"dims": [2, 2, 2], "ranks": [2, 2]})  # whose L can have rank 2
    points = [{"M": [listed(thin), listed(general[0])]}, {"M": [listed(general[0]), listed(thin)]}]
    for last, flaw in ((thin, ""), (UNIT, "a rank is not 1")):
        given = [points[0] | {"L": listed(UNIT), "rank": 12}, points[1] | {"L": listed(last), "rank": 12}]
        assert flaw_of(two.singular, {"inputs": [], "points": given}) == flaw
    spanned["n"] = 11
    assert said(0, rank=11) == "tangent vectors span 11 dimensions, no more than 11"


def test_coefficients_of_l_x_x_m_x():
    """Those of u_i u_j w_b, for linear forms in u and columns of M, of L_c(u) (uᵀM w)."""
    L, M = [[1, 3, 0], [2, 0, 5]], [[1, 2, 0], [7, 1, 4], [3, 0, 9]]
    expected = Counter()
    for (c, row), b in itertools.product(enumerate(L), range(3)):
        for i, k in itertools.product(range(3), repeat=2):
            expected[0, c, b, min(i, k), max(i, k)] += row[i] * M[k][b]
    found = checker.phi(checker.entries(M), checker.entries(L))
    assert found == {name: x for name, x in expected.items() if x}


def test_weights_with_l_0_are_no_smooth_points():
    """Where L = 0 and no M_i is skew-symmetric φ = 0, which is critical and the vertex of a cone."""
    found = checker.check(certificate(DeepNetwork((3, 3, 2), (3, 3), t=2)))
    reasons = {claim["id"]: claim["reason"] for claim in found["claims"]}
    assert "at all L ≠ 0 without skew-symmetric M_i" in reasons["agattn.deep-critical"]
    assert "smooth at all other L ≠ 0 without skew-symmetric M_i" in reasons["agattn.deep-singular"]
