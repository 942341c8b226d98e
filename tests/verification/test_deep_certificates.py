"""Certificates of zeros and limits: checked with integers; none that is damaged states what is false."""

import copy
import json
import random
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
