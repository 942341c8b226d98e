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
from agattn.algebra.arithmetic import RingArithmetic
from agattn.algebra.residues import RowSpace
from agattn.errors import InputError
from agattn.geometry.closedness.limits import LimitMap
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.identifiability.virtual_weights import vanishes, virtual, virtual_jacobian
from agattn.verification.certificate import Certificate, dump, make_certificate
from tests.command_line import call
from tests.faults.certificates import numbers

SMALL = DeepNetwork((2, 2, 1), (2, 2), t=3)


def certificate(network):
    return json.loads(json.dumps(make_certificate(network)))


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
    assert (
        result["valid"]
        and ids == list(checker.DEEP_CLAIMS)[: 5 if network.dims[0] == 3 == network.dims[1] else 3]
    )
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
    document = make_certificate(network, ["agattn.deep-critical"])
    others = [
        point["rank"]
        for point in document["critical"]["points"]
        if point["rank"] == network_bound(network).value
    ]
    assert len(others) == 2 and checker.check(document)["valid"]


def test_the_certificate_of_the_documentation():
    path = Path(__file__).parents[2] / "docs" / "certificates" / "n332.json"
    made = make_certificate(
        DeepNetwork((3, 3, 2), (3, 3), t=3), ["agattn.deep-not-closed", "agattn.deep-boundary"]
    )
    assert path.read_text(encoding="utf-8") == dump(made) + "\n"


def test_a_closed_network_has_zeros_only():
    document = make_certificate(DeepNetwork((3, 1, 2), (2, 2), t=3))
    assert [claim["id"] for claim in checker.check(document)["claims"]] == ["agattn.deep-zeros"]
    assert str(Certificate(document)) == "Certificate of M(3,1,2; 2,2), t ≥ 2: deep-zeros"


@pytest.mark.parametrize(
    ("network", "claims", "words"),
    [
        (DeepNetwork((3, 1, 2), (2, 2), t=3), ["agattn.deep-boundary"], "it assumes d_0, d_1, a_1, a_2 ≥ 2"),
        (DeepNetwork((3, 3, 3), (2, 2), t=3, heads=2), [], "it assumes one head"),
        (SMALL, ["equation-12"], "agattn.deep-critical, agattn.deep-singular have"),
    ],
)
def test_what_is_not(network, claims, words):
    with pytest.raises(InputError, match=words):
        make_certificate(network, claims)


def test_numbers_too_long_for_the_checker(monkeypatch):
    monkeypatch.setattr(checker, "LARGEST", 100)
    with pytest.raises(InputError, match="cannot be certified: an integer has more than"):
        make_certificate(SMALL)


def test_the_command_writes_and_checks(tmp_path):
    path = tmp_path / "c.json"
    arguments = ["--dims", "2,2,1", "--ranks", "2,2", "-t", "2", "--engine", "native"]
    assert call("verify", *arguments, "--claim", "agattn.deep-boundary", "--certificate", path).status == 0
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


def outcome(document):
    try:
        return checker.check(document)["valid"]
    except checker.UnreadableError:
        return False


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
    for record in document["zeros"]:
        weights = arrays(network, record["weights"])
        zero = vanishes(*virtual(network, weights), 2)
        if zero != ("X" not in record):
            return False
        if not zero:
            X = matrix(record["X"], network.dims[0])
            y = network.evaluate(RingArithmetic(), weights, X[None])[0]
            if (y != matrix(record["value"], network.dims[-1])).any():
                return False
    limit = document["limit"]
    limit_map, weights = LimitMap(network, 1), arrays(network, limit["weights"])
    X = matrix(limit["X"], network.dims[0])
    y = limit_map.evaluate(RingArithmetic(), weights, X[None])[0]
    same = (y == matrix(limit["value"], network.dims[-1])).all()
    minors = limit_map.minors(weights, X) == (limit["kappa"], limit["delta"])
    right = document["boundary"]["dimension"] == network_bound(network).value - 1
    return same and minors and right and not limit_map.open_conditions(weights, X)


def test_no_damaged_certificate_states_what_is_false(small):
    assert states_what_is_true(small)
    rng, refused = random.Random(1), 0
    document = {key: value for key, value in copy.deepcopy(small).items() if key != "critical"}
    document["zeros"] = small["zeros"][:1] + small["zeros"][8:9]
    places = numbers(document)
    stated = [
        place for place in places if place[0] in ("dims", "ranks") or {*place} & {"value", "kappa", "delta"}
    ]
    stated.append(("boundary", "dimension"))
    for n in range(130):
        damaged = copy.deepcopy(document)
        *way, last = rng.choice(stated if n % 2 else places)
        inner = damaged
        for key in way:
            inner = inner[key]
        inner[last] += rng.choice([-3, -2, -1, 1, 2, 3])
        if outcome(damaged):
            assert states_what_is_true(damaged), (way, last)
        else:
            refused += 1
    assert refused >= 100


def test_a_wrong_statement_is_refused(small):
    def refused(change, words):
        document = copy.deepcopy(small)
        change(document)
        return is_refused(document, words)

    def zero_claimed(document):  # generic weights as if φ were 0
        del document["zeros"][0]["X"], document["zeros"][0]["value"]

    def zero_shown(name):  # a value of φ at weights where φ is 0
        def change(document):
            next(record for record in document["zeros"] if "X" not in record)[name] = []

        return change

    def half_shown(name):
        def change(document):
            del document["zeros"][0][name]

        return change

    def skew_part(document):  # P = 2K
        K = document["limit"]["weights"]["K_2"]
        pairs = {(i, j): x for i, j, x in K}
        turned = {(1, j): 2 * x for (i, j), x in pairs.items() if i == 2}
        turned |= {(2, j): -2 * x for (i, j), x in pairs.items() if i == 1}
        document["limit"]["weights"]["Q_2"] = [[i, j, x] for (i, j), x in sorted(turned.items())]
        restated(document)

    def no_values(document):  # V_2 = 0
        document["limit"]["weights"]["V_2"] = []
        restated(document)

    def one_token(document):  # where κ and δ are 0
        document["limit"]["X"] = [[1, 1, 1], [2, 1, 1]]
        restated(document)

    def restated(document):
        limit, limit_map = document["limit"], LimitMap(DeepNetwork((2, 2, 1), (2, 2), t=2), 1)
        weights, X = arrays(SMALL, limit["weights"]), matrix(limit["X"], 2)
        y = limit_map.evaluate(RingArithmetic(), weights, X[None])[0].tolist()
        limit["value"] = [[i + 1, j + 1, x] for i, row in enumerate(y) for j, x in enumerate(row) if x]
        limit["kappa"], limit["delta"] = limit_map.minors(weights, X)

    assert refused(one_token, "κδ is 0")
    assert refused(no_values, "L is 0")
    assert refused(zero_claimed, "a zero is none")
    assert "X" in small["zeros"][0]
    for name in ("X", "value"):
        assert refused(zero_shown(name), "a zero is none")
        assert refused(half_shown(name), "a zero is none")
    assert refused(skew_part, "P is skew-symmetric")
    assert refused(lambda d: d["boundary"].update(dimension=6), "has rank 7")
    assert refused(lambda d: d["boundary"]["directions"].pop(), "has rank 6")
    assert refused(lambda d: d["boundary"].update(inputs=[]), "has rank 0")
    assert refused(lambda d: d.update(ranks=[2, 1]), "index")
    assert refused(lambda d: d.pop("limit"), "a key is missing: limit")
    assert refused(lambda d: d.update(zeros=d["zeros"][:1]), "not both there")
    assert refused(lambda d: d.update(dims=[2, 2]), "no network of two layers")
    assert refused(lambda d: d.update(dims=[2, 0, 1]), "not possible")
    assert refused(lambda d: d.update(dims=[200, 200, 1]), "too large")
    assert refused(lambda d: d.update(extra=1), "unknown key")
    found = [key for key in checker.DEEP_CLAIMS.values() if key in small]
    assert refused(lambda d: [d.pop(key) for key in found], "nothing is certified")


@pytest.fixture(scope="module")
def points():
    """Of critical and singular points of the smallest network that has both claims."""
    network = DeepNetwork((3, 3, 1), (3, 3), t=2)
    ids = ["agattn.deep-critical", "agattn.deep-singular"]
    return json.loads(json.dumps(make_certificate(network, ids)))


def test_points_are_certified(points):
    result = checker.check(points)
    assert result["valid"] and [claim["id"] for claim in result["claims"]] == list(checker.DEEP_CLAIMS)[3:]
    critical, singular = (claim["reason"] for claim in result["claims"])
    assert "of 4 weights 2 are critical" in critical and "the rank is 19" in critical
    assert "dim M ≤ 19, so M̄ is singular" in singular and "Theorem 4" in singular


def states_true_points(document):
    """Whether the ranks that a document states are those of the library, at its weights and inputs."""
    d, d_out = document["dims"][0], document["dims"][-1]
    p = 1000003

    def dense(entries, rows, columns):
        found = np.zeros((rows, columns), dtype=int)
        for i, j, x in entries:
            found[i - 1, j - 1] = x
        return found

    for key, stated in [(k, s) for k, s in (("critical", "rank"), ("singular", "tangent")) if k in document]:
        X = np.array([dense(x, d, 2) for x in document[key]["inputs"]])
        units = np.repeat(np.eye(2 * d_out).reshape(1, 2 * d_out, d_out, 2), len(X), axis=0)
        for record in document[key]["points"]:
            rows = [
                virtual_jacobian(
                    [dense(m, d, d) for m in at["M"]], dense(at["L"], d_out, d), (X % p) * 1.0, units, p
                ).T
                for at in [record, *record.get("others", [])]
            ]
            if RowSpace(rows[0].shape[1], p).add(np.concatenate(rows)) != record[stated]:
                return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("key", "tried", "least"), [("critical", 140, 100), ("singular", 30, 20)])
def test_no_damaged_certificate_of_points_states_what_is_false(points, small, key, tried, least):
    source = points if key == "singular" else small  # the smaller, the faster
    document = {name: copy.deepcopy(source[name]) for name in ("format", "about", "dims", "ranks", key)}
    assert states_true_points(document)
    rng, refused, places = random.Random(2), 0, numbers(document)
    stated = [place for place in places if "inputs" not in place]
    for n in range(tried):
        damaged = copy.deepcopy(document)
        *way, last = rng.choice(stated if n % 8 else places)
        inner = damaged
        for step in way:
            inner = inner[step]
        inner[last] += rng.choice([-2, -1, 1, 2])
        if outcome(damaged):
            assert states_true_points(damaged), (way, last)
        else:
            refused += 1
    assert refused >= least


def test_wrong_points_are_refused(points):
    def refused(key, change, words):
        document = {name: copy.deepcopy(points[name]) for name in ("format", "about", "dims", "ranks", key)}
        change(document)
        return is_refused(document, words)

    generic = points["critical"]["points"][0]
    skew = [[1, 2, 1], [2, 1, -1]]
    other = {"M": generic["M"], "L": generic["L"]}
    for key, change, words in [
        ("critical", lambda p: p["points"][0].update(rank=18), "has rank 19"),
        ("critical", lambda p: p.update(inputs=[]), "has rank 0"),
        ("critical", lambda p: p.update(points=[generic]), "not both there"),
        ("critical", lambda p: p["points"][0]["M"].__setitem__(1, skew), "skew-symmetric"),
        ("singular", lambda p: p["points"].pop(), "for each layer"),
        ("singular", lambda p: p["points"][0].update(others=[]), "span 16 dimensions"),
        ("singular", lambda p: p["points"].reverse(), "a rank is not 1"),
        ("singular", lambda p: p["points"][0].update(others=[other]), "the same function"),
        ("singular", lambda p: p["points"][1].update(others=[other]), "the same function"),
        ("singular", lambda p: p["points"][0]["M"].pop(), "than layers"),
    ]:
        assert refused(key, lambda d, key=key, change=change: change(d[key]), words), words
    assert refused("singular", lambda d: d.update(ranks=[3, 2]), "not all matrices")


# Each part alone --------------------------------------------------------------------------------------------


def flaw_of(function, *arguments):
    """What is wrong, in words, or nothing."""
    try:
        function(*arguments)
    except checker.Flaw as flaw:
        return str(flaw)
    return ""


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


def test_weights_of_a_limit_are_those_with_a_small_number():
    """The coefficients of 1 and ε of diag(1, ε, ..., ε)·Q_s and of ΩK_{s+1} + εQ_{s+1}; η goes along."""
    for a in (2, 3, 4, 5):
        network = checker.Deep({"dims": [3, 3, 3], "ranks": [a, a]})
        parts = {i: drawn((3, 3, 3), (a, a), seed=i) for i in (0, 2)}
        jets = {name: {i: parts[i][name].tolist() for i in parts} for name in parts[0]}
        moving = network.moving(jets)
        assert network.first == 1 and moving.keys() == jets.keys()
        first, omega = np.diag([1] + [0] * (a - 1)), np.zeros((a, a), dtype=int)
        for k in range(0, a - 1, 2):
            omega[k, k + 1], omega[k + 1, k] = 1, -1
        for i in parts:
            Q_1, K_2, Q_2 = (parts[i][name] for name in ("Q_1", "K_2", "Q_2"))
            assert moving["Q_1"][i] == (first @ Q_1).tolist()
            assert moving["Q_1"][i | 1] == (Q_1 - first @ Q_1).tolist()
            assert moving["Q_2"][i] == (omega @ K_2).tolist() and moving["Q_2"][i | 1] == Q_2.tolist()
        assert all(moving[name] == jets[name] for name in ("K_1", "V_1", "K_2", "V_2"))
        limit = network.limit(jets, [[1, 2], [0, 1], [3, 5]])
        assert limit.keys() == {0, 2}
    network.moving = lambda weights: weights
    words = "the functions do not vanish in the limit, before they are divided"
    assert flaw_of(network.limit, jets, [[1, 2], [0, 1], [3, 5]]) == words


def limit_of(dims, ranks, X, seed=0, **given):
    """A certificate of a limit, with the value, κ and δ that the library computes."""
    network, weights = DeepNetwork(dims, ranks, t=2), drawn(dims, ranks, seed, **given)
    weights = {name: A.astype(object) for name, A in weights.items()}
    limit_map, X = LimitMap(network, len(ranks) - 1), np.array(X, dtype=object)
    arrays = {name: A[None] for name, A in weights.items()}
    kappa, delta = limit_map.minors(arrays, X)
    record = {
        "weights": {name: listed(A) for name, A in weights.items()}, "X": listed(X),
        "value": listed(limit_map.evaluate(RingArithmetic(), arrays, X[None])[0]),
        "kappa": int(kappa), "delta": int(delta),
    }  # fmt: skip
    return {"format": checker.DEEP, "about": "", "dims": [*dims], "ranks": [*ranks], "limit": record}


UNIT, TURN = [[1, 0], [0, 1]], [[0, 1], [-1, 0]]


def test_each_condition_on_a_limit_is_seen():
    """Of three layers, where M_1 stands before M_s; of two, where δ = det(Q_1) and κ = 1."""
    X, general = [[1, 0], [1, 2]], {"K_1": UNIT, "Q_1": [[1, 2], [1, 1]], "V_1": UNIT, "V_2": UNIT}

    def said(**given):
        return checker.check(limit_of((2, 2, 2, 1), (2, 2, 2), X, **(general | given)))["flaw"]

    assert said() == ""
    assert said(Q_1=[[1, 2], [2, 4]]) == "some M_i before M_s has rank 1"
    assert said(Q_1=TURN) == said(K_3=UNIT, Q_3=TURN) == "some M_i or P is skew-symmetric"
    assert said(V_2=[[0, 0], [0, 0]]) == said(V_3=[[0, 0]]) == "L is 0"
    assert said(Q_2=[[0, 0], [1, 2]]) == "M_s and M_{s+1} are none of a limit"
    two = {"K_1": UNIT, "V_1": UNIT, "K_2": UNIT, "Q_2": UNIT, "V_2": [[1, 2]]}
    document = limit_of((2, 2, 1), (2, 2), UNIT, Q_1=[[1, 1], [1, 0]], **two)
    assert (document["limit"]["kappa"], document["limit"]["delta"]) == (1, -1)
    assert checker.check(document)["valid"]
    for name in ("kappa", "delta"):
        changed = copy.deepcopy(document)
        changed["limit"][name] += 1
        assert checker.check(changed)["flaw"] == "κ or δ is another one"
    # With a = 3 the part of M_1 with ε has rank 2; with K_2 = (1 0 0; 0 1 0), κ = 0 where a token is e_3.
    kernel = {"V_1": np.eye(3, dtype=int), "K_2": [[1, 0, 0], [0, 1, 0]], "Q_2": [[1, 2, 3], [0, 1, 1]]}
    wide = {"K_1": np.eye(3, dtype=int), "Q_1": [[1, 2, 3], [0, 1, 4], [1, 0, 1]], "V_2": [[1, 2, 3]]}
    found = limit_of((3, 3, 1), (3, 2), [[0, 1], [1, 2], [1, 1]], **kernel, **wide)
    assert checker.check(found)["valid"]
    found = limit_of((3, 3, 1), (3, 2), [[0, 1], [0, 2], [1, 1]], **kernel, **wide)
    assert found["limit"]["kappa"] == 0 != found["limit"]["delta"]
    assert checker.check(found)["flaw"] == "κδ is 0"
    closed = {"format": checker.DEEP, "about": "", "dims": [2, 2, 1], "ranks": [2, 1]}
    names = [f"{name}_{n}" for n in (1, 2) for name in "KQV"]
    closed["limit"] = document["limit"] | {"weights": {name: [] for name in names}}
    assert checker.check(closed)["flaw"] == "such a network is closed"


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
            record = {"weights": {name: listed(A) for name, A in weights.items()}}
            shown = record | {"X": listed(inputs[n]), "value": listed(values[n])}
            assert network.zeros(record if zero else shown) == zero, (chosen, L)
            assert flaw_of(network.zeros, shown if zero else record).startswith("a zero is none"), (chosen, L)
            seen[zero] = shown
    for name in ("X", "value"):
        half = {key: value for key, value in seen[False].items() if key != name}
        assert flaw_of(network.zeros, half) == "a zero is none, or is not seen as one"
    wrong = seen[False] | {"value": seen[False]["value"][1:]}
    assert flaw_of(network.zeros, wrong) == "φ(X) is another one" and True in seen
    # φ is not 0, but 0 at the X that is shown.
    general = drawn((2, 2, 2, 1), (2, 2, 2), **dict.fromkeys(("K_1", "Q_1", "V_1"), UNIT))
    record = {"weights": {name: listed(A) for name, A in general.items()}, "X": [], "value": []}
    assert flaw_of(network.zeros, record) == "φ(X) is another one"


def test_zeros_and_others_must_be_there(small):
    document = {key: small[key] for key in ("format", "about", "dims", "ranks")}
    zero = next(record for record in small["zeros"] if "X" not in record)
    for records, words in (
        ([small["zeros"][0], zero], ""),
        ([small["zeros"][0]], "zeros and other weights are not both there"),
        ([zero], "zeros and other weights are not both there"),
    ):
        result = checker.check(document | {"zeros": records})
        assert result["flaw"] == words and result["valid"] == (not words)
    result = checker.check(document | {"zeros": [zero], "limit": small["limit"]})
    found = [(claim["id"], claim["valid"]) for claim in result["claims"]]
    assert found == [("agattn.deep-zeros", False), ("agattn.deep-not-closed", False)]


def test_the_dimension_of_limits_is_stated_and_met(small):
    def said(**changes):
        document = {key: small[key] for key in ("format", "about", "dims", "ranks", "limit")}
        document["boundary"] = small["boundary"] | changes
        try:
            return checker.check(document)["flaw"]
        except checker.UnreadableError as error:
            return str(error)

    directions = small["boundary"]["directions"]
    entries = sum(m * n for m, n in checker.Deep(small).shapes.values())
    assert said() == "" and entries == 22
    words = "the limits are only known to have dimension 6 to 7"
    assert said(directions=directions[1:], dimension=6) == words
    for wrong in (0, entries + 1):
        assert said(directions=[*directions, wrong]) == "there is no such direction"
    assert said(directions=[*directions, entries]) == ""
    assert said(inputs=[[[1, 3, 1]]]) == said(inputs=[[[3, 1, 1]]]) == "no such index"
    assert said(inputs=[[]] * 1001) == "there are more than 1000 inputs"


def test_inputs_and_points_have_the_sizes_of_the_network():
    record = {"inputs": [[[1, 1, 1], [2, 2, 1]]], "points": [{"M": [[], []], "L": [[1, 2, 3]], "rank": 0}]}
    network = checker.Deep({"dims": [2, 3, 1], "ranks": [2, 2]})
    inputs, [point] = network.points(record, "M L rank")
    assert inputs == [[[1, 0], [0, 1]]] and network.size == 2 * 3 + 2 * 1
    assert network.pair(point) == ([[[0, 0], [0, 0]]] * 2, [[0, 3]])
    for place in ([3, 1, 1], [1, 3, 1]):
        with pytest.raises(checker.UnreadableError, match="no such index"):
            network.points(record | {"inputs": [[place]]}, "M L rank")
        for wrong in ({"M": [[place], []], "L": []}, {"M": [[], []], "L": [place]}):
            with pytest.raises(checker.UnreadableError, match="no such index"):
                network.pair(wrong)
    with pytest.raises(checker.UnreadableError, match="there are more than 1000 inputs"):
        network.points(record | {"inputs": [[]] * 1001}, "M L rank")
    assert len(network.points(record | {"inputs": [[]] * 1000}, "M L rank")[0]) == 1000
    checker.WORK.done = 0
    assert network.matrix([], 3, 4) == [[0] * 4] * 3 and checker.WORK.done == 12
    words = "not all matrices M_1, ..., M_l, L are virtual weights"
    for dims, ranks in (
        ([3, 2, 1], [3, 3]),
        ([3, 3, 2, 1], [3, 3, 3]),
        ([3, 3, 1], [3, 2]),
        ([1, 1, 1], [1, 1]),
    ):
        network = checker.Deep({"dims": dims, "ranks": ranks})
        assert flaw_of(network.points, record, "M L rank") == words


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
        network = checker.Deep({"dims": [2] * (l + 1) + [3], "ranks": [2] * (l + 1)})
        rows = network.derivatives([m.tolist() for m in M], L.tolist(), [X.tolist() for X in inputs])
        assert [[x % h for x in row] for row in rows] == expected


def test_critical_points_have_a_smaller_rank_and_others_have_not():
    """Of three layers: M_i = k qᵀ, i < 3, or M_3 = k qᵀ and L = h kᵀ, and no others."""
    rng = np.random.default_rng(1)
    inputs = [listed(rng.integers(-3, 4, (2, 2))) for _ in range(6)]
    thin, general = [[1, 2], [2, 4]], [[[1, 2], [3, 5]], [[2, 1], [0, 3]], [[1, 1], [4, 1]]]
    network = checker.Deep({"dims": [2, 2, 2, 2], "ranks": [2, 2, 2]})

    def point(L=((1, 3), (2, 1)), **given):
        M = [given.get(f"M_{n}", m) for n, m in enumerate(general, 1)]
        record = {"M": [listed(m) for m in M], "L": listed(L)}
        rows = network.derivatives(M, [list(row) for row in L], [dense(X) for X in inputs])
        return record | {"rank": checker.dense_rank(rows, checker.PRIME)}

    def dense(X):
        return network.matrix(X, 2, 2)

    def said(*points, inputs=inputs):
        return flaw_of(network.critical, {"critical": {"inputs": inputs, "points": [*points]}})

    other = point()
    assert other["rank"] == 3 * 3 + 4
    for critical in (point(M_1=thin), point(M_2=thin), point(M_3=thin, L=thin)):
        assert critical["rank"] < 13 and said(other, critical) == ""
    both = "critical points and others are not both there"
    assert said(other) == said(point(M_2=thin)) == said(other, point(M_3=thin)) == both
    # M_3 = k qᵀ and L = h vᵀ where v is no multiple of k, or L has rank 2: these are not critical.
    for regular in (point(M_3=thin), point(M_3=thin, L=[[1, 3], [2, 6]]), point(L=thin)):
        assert regular["rank"] == 13 and said(regular, point(M_1=thin)) == ""
    assert said(other | {"rank": 12}) == "a differential has rank 13"
    few = {"inputs": inputs[:2], "points": [other | {"rank": 6}]}
    assert flaw_of(network.critical, {"critical": few}) == "a differential has rank 6, not 13"
    for wrong in (point(M_2=TURN), point(L=[[0, 0], [0, 0]])):
        assert said(wrong) == "L is 0, or an M_i is skew-symmetric"


def test_weights_have_the_same_function_only_by_what_is_proved(monkeypatch):
    """After M_i = k qᵀ only symmetric parts matter; of M_l = k qᵀ, L = h vᵀ, k and v may be exchanged."""
    network = checker.Deep({"dims": [2, 2, 2, 1], "ranks": [2, 2, 2]})
    spanned = {"n": 12}
    monkeypatch.setattr(
        checker.Deep, "derivatives", lambda self, M, L, inputs: np.eye(spanned["n"], dtype=int).tolist()
    )
    thin, general = [[1, 2], [2, 4]], [[[1, 2], [3, 5]], [[2, 1], [0, 3]], [[1, 1], [4, 1]]]
    skewed = [
        [[x + 7 * y for x, y in zip(*rows, strict=True)] for rows in zip(m, TURN, strict=True)]
        for m in general
    ]
    L = [[1, 3]]

    def weights(n, *M, L=L):
        M = [M[i] if i < len(M) and M[i] else (thin if i == n else general[i]) for i in range(3)]
        return {"M": [listed(m) for m in M], "L": listed(L)}

    def said(n, *others, tangent=12):
        points = [weights(i) | {"others": [], "tangent": spanned["n"]} for i in range(3)]
        points[n] |= {"others": [*others], "tangent": tangent}
        points[2]["L"] = listed(L)
        return flaw_of(network.singular, {"singular": {"inputs": [], "points": points}})

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
    assert said(0, tangent=11) == "tangent vectors span 12 dimensions"
    assert network.size == 3 * 3 + 2
    spanned["n"] = 11
    assert said(0, tangent=11) == "tangent vectors span 11 dimensions, no more than 11"


def test_coefficients_of_l_x_x_m_x():
    """Those of u_i u_j w_b, for linear forms in u and columns of M, of L_c(u) (uᵀM w)."""
    L, M = [[1, 3, 0], [2, 0, 5]], [[1, 2, 0], [7, 1, 4], [3, 0, 9]]
    found = checker.symmetrized(L, M)
    pairs = [(i, j) for i in range(3) for j in range(i + 1)]
    expected = []
    for row in L:
        for b in range(3):
            terms = Counter()
            for i, k in itertools.product(range(3), repeat=2):
                terms[max(i, k), min(i, k)] += row[i] * M[k][b]
            expected += [terms[pair] * (1 + (pair[0] == pair[1])) for pair in pairs]
    assert found == expected
