"""Verdicts about zeros and limits of deep networks: confirmed, undecided, inapplicable, and when refuted."""

from dataclasses import replace

import pytest

from agattn import DeepNetwork
from agattn.claims import NETWORK_CLAIMS as CLAIMS
from agattn.claims import deep as deep_limits
from agattn.claims.claim import Finding, Findings
from agattn.evidence import Evidence, Status
from agattn.geometry.closedness.question import limit_set, zero_kinds
from agattn.verification.verify import verify

IDS = ["agattn.deep-zeros", "agattn.deep-not-closed", "agattn.deep-boundary"]
NETWORK = DeepNetwork((3, 3, 2), (3, 3), t=3)


def verdicts(network):
    return verify(network, IDS, "native")


def judged(claim, task, value):
    findings = {task: Finding(value, Evidence.PROVED, ("by hand",), (), 0.0)}
    return CLAIMS[claim].verdict(NETWORK, Findings(findings, {}))


@pytest.mark.parametrize(
    ("dims", "ranks", "boundary"),
    [((3, 3, 2), (3, 3), 21), ((2, 2, 1), (2, 2), 7), ((4, 2, 3, 2), (3, 2, 1), 26),
     ((3, 3, 3, 2), (3, 3, 3), 29)],
)  # fmt: skip
def test_confirmed(dims, ranks, boundary):
    found = verdicts(DeepNetwork(dims, ranks, t=3))
    assert {v.status for v in found.values()} == {Status.CONFIRMED}
    assert {v.evidence for v in found.values()} == {Evidence.PROVED}
    assert [v.scope != "" for v in found.values()] == [True, False, False]
    assert found["agattn.deep-boundary"].computed == found["agattn.deep-boundary"].predicted == boundary
    limit = found["agattn.deep-not-closed"].as_json()["limit"]
    assert str(limit["value"]) in found["agattn.deep-not-closed"].witness


@pytest.mark.parametrize(
    ("network", "assumed"),
    [
        (DeepNetwork((3, 1, 2), (2, 2), t=3), ["d_0, d_1, a_1, a_2 ≥ 2"]),
        (DeepNetwork((3, 3, 2), (2, 2), t=1), ["t ≥ 2"]),
        (DeepNetwork((3, 2), (2,), t=2), ["l ≥ 2"]),
        (DeepNetwork((3, 3, 3), (2, 2), t=2, skip=True), ["no skip connections"]),
        (DeepNetwork((3, 3, 3), (2, 2), t=2, heads=2), ["one head"]),
        (DeepNetwork((3, 3, 3), (2, 2), t=2, normalization="softmax"), ["no normalization"]),
        (DeepNetwork((3, 3, 3), (2, 2), t=2, value_rank=1), ["V_i of any rank"]),
    ],
)
def test_inapplicable(network, assumed):
    found = verdicts(network)["agattn.deep-not-closed"]
    assert (found.status, list(found.assumes), found.computed) == (Status.INAPPLICABLE, assumed, None)


def test_a_zero_too_many_or_too_few_refutes():
    kinds = list(zero_kinds(NETWORK))
    for n, kind in enumerate(kinds):
        wrong = [*kinds[:n], kind._replace(zero=not kind.zero), *kinds[n + 1 :]]
        found = judged("agattn.deep-zeros", deep_limits.ZEROS, tuple(wrong))
        assert found.status is Status.REFUTED and kind.name in found.witness
    found = judged("agattn.deep-zeros", deep_limits.ZEROS, tuple(kinds[:-1]))
    assert found.status is Status.REFUTED


def test_a_smaller_rank_decides_nothing():
    found = limit_set(NETWORK)
    low = judged("agattn.deep-boundary", deep_limits.LIMITS, replace(found, dimension=20))
    assert (low.status, low.computed) == (Status.UNDECIDED, {"at_least": 20, "at_most": 21})


def test_many_weights_are_left_alone():
    network = DeepNetwork((30, 30, 30), (30, 30), t=3)
    found = verify(network, IDS[1:], "native")
    assert {v.status for v in found.values()} == {Status.UNDECIDED}
    assert "5400 weights, more than 4000" in found["agattn.deep-boundary"].witness
