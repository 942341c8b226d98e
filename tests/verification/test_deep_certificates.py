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
from agattn.errors import InputError
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.singularities.kinds import virtual
from agattn.geometry.singularities.limits import LimitMap, vanishes
from agattn.verification.certificate import Certificate, dump, make_certificate
from tests.command_line import call

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
    assert result["valid"] and [claim["id"] for claim in result["claims"]] == list(checker.DEEP_CLAIMS)
    assert f"dimension {dimension} = dim M − 1" in result["claims"][2]["reason"]
    assert all("docs/d" in claim["reason"] for claim in result["claims"])  # what is not checked is named


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
        (SMALL, ["equation-12"], "only agattn.deep-zeros, agattn.deep-not-closed, agattn.deep-boundary have"),
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


def numbers(value, path=()):
    """The places of all integers in a document."""
    if isinstance(value, int):
        yield path
    elif isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inner, (*path, key))


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
    document = copy.deepcopy(small)
    document["zeros"] = small["zeros"][:1] + small["zeros"][8:9]
    places = list(numbers(document))
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
        try:
            result = checker.check(document)
        except checker.UnreadableError as error:
            return words in str(error)
        return not result["valid"] and words in result["flaw"]

    def zero_claimed(document):  # generic weights as if φ were 0
        del document["zeros"][0]["X"], document["zeros"][0]["value"]

    def skew_part(document):  # P = 2K
        K = document["limit"]["weights"]["K_2"]
        pairs = {(i, j): x for i, j, x in K}
        turned = {(1, j): 2 * x for (i, j), x in pairs.items() if i == 2}
        turned |= {(2, j): -2 * x for (i, j), x in pairs.items() if i == 1}
        document["limit"]["weights"]["Q_2"] = [[i, j, x] for (i, j), x in sorted(turned.items())]
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
    assert refused(zero_claimed, "a zero is none")
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
    assert refused(lambda d: [d.pop(key) for key in ("zeros", "limit", "boundary")], "nothing is certified")
