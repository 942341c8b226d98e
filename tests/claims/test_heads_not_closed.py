"""That layers of several heads are not closed: the claim, and certificates, which cannot be made false."""

import json
import random
from dataclasses import replace

import pytest

from agattn.architectures import DeepNetwork
from agattn.checker import UnreadableError, check
from agattn.claims import NETWORK_CLAIMS
from agattn.claims import networks as several_heads
from agattn.errors import InputError
from agattn.geometry.closedness.several_heads import closedness
from agattn.verification.certificate import certify
from agattn.verification.verify import verify
from tests.faults.certificates import changed as changed_in
from tests.faults.certificates import is_valid

NAME = "agattn.heads-not-closed"
OUTSIDE = {"squares": (3, 2, 2, 3), "products": (4, 1, 1, 3), "pencil": (5, 1, 3, 2)}


def layer(d, d_out, a, h, t=2, **options):
    return DeepNetwork((d, d_out), (a,), t=t, heads=h, **options)


def verdict(network):
    return verify(network, [NAME], "native").verdicts[0]


@pytest.mark.parametrize("kind", OUTSIDE)
def test_confirmed(kind):
    found = verdict(layer(*OUTSIDE[kind], t=3))
    assert (found.status.value, found.strength, found.computed) == ("confirmed", "proved", "not closed")
    assert found.details["limit"]["obstruction"]["kind"] == kind and "y_11" in found.witness
    assert verdict(layer(3, 3, 2, 2, skip=True)).status.value == "confirmed"


@pytest.mark.parametrize(
    ("network", "assumed", "computed"),
    [
        (layer(3, 1, 2, 2), ("d' ≥ 2, or a ≤ d − 2 with a = 1 or h = 2",), "closed"),
        (layer(2, 3, 1, 3), ("2 ≤ h ≤ d",), "closed"),
        (layer(3, 2, 2, 1), ("2 ≤ h ≤ d",), "closed"),
        (layer(3, 2, 2, 2, t=1), ("t ≥ 2",), None),
        (layer(3, 2, 2, 2, normalization="softmax"), ("no normalization",), None),
        (layer(3, 2, 2, 2, value_rank=1), ("V_i of any rank",), None),
        (DeepNetwork((3, 3, 2), (3, 3), t=2, heads=2), ("one layer",), None),
    ],
)
def test_inapplicable(network, assumed, computed):
    found = verdict(network)
    assert (found.status.value, found.assumes, found.computed) == ("inapplicable", assumed, computed)


def test_the_hypotheses_are_where_a_limit_is_known():
    for d in range(1, 7):
        for d_out in (1, 2):
            for a in range(1, d + 2):
                for h in range(1, d + 3):
                    network = layer(d, d_out, a, h)
                    known = closedness(network).status == "not closed"
                    assert known == (not NETWORK_CLAIMS[NAME].failing_hypotheses(network))


def test_a_wrong_witness_decides_nothing_and_a_closed_layer_refutes(monkeypatch):
    right = closedness(layer(3, 2, 2, 3))
    moved = replace(right.limit, y={**right.limit.y, (1, 1, 1, 1): 1})
    for found, status, words in (
        (replace(right, limit=moved), "undecided", "the witness is wrong: the arc has another limit"),
        (replace(right, status="open", limit=None), "undecided", "whether M is closed is open"),
        (replace(right, status="closed", limit=None), "refuted", right.reason),
    ):
        monkeypatch.setattr(several_heads, "closedness", lambda network, found=found: found)
        judged = verdict(layer(3, 2, 2, 3))
        assert judged.status.value == status and words in judged.witness


# Certificates -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", OUTSIDE)
def test_no_certificate_says_anything_false(kind):
    document = certify(layer(*OUTSIDE[kind]), [NAME])
    assert check(json.loads(json.dumps(document)))["valid"]
    accepted, chosen = 0, random.Random(0)
    for changed in (changed_in(chosen, document) for _ in range(400)):
        if changed != document and is_valid(changed):
            accepted += 1
            shape = [changed[name] for name in ("d", "d_out", "a", "h")]
            assert closedness(layer(*shape)).status == "not closed"
            # Beside the sizes only terms of the arc that do not reach the limit can be changed.
            assert changed["h"] == document["h"]
            assert {**changed["claims"][0], "heads": 0} == {**document["claims"][0], "heads": 0}
    assert accepted < 50


@pytest.mark.parametrize(
    ("kind", "changes", "flaw"),
    [
        ("squares", {"h": 2}, "there are 3 heads"),
        ("squares", {"obstruction": {"kind": "products", "rows": [1, 2, 3], "columns": [1, 2, 3]}},
         "a is not 1"),
        ("products", {"y": []}, "the heads do not converge to y"),
        ("products", {"obstruction": {"kind": "squares"}}, "row 1 has not h squares in h columns"),
        ("products", {"obstruction": {"kind": "products", "rows": [1, 2, 4], "columns": [1, 2, 3]}},
         "the minor is not a multiple of one cube"),
        ("pencil", {"v": [[3, 1]]}, "y is not vB + wA"),
        ("pencil", {"rows": [1, 2, 3, 4, 4]}, None),
        ("pencil", {"obstruction": {"kind": "none"}}, None),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_certificate_is_said(kind, changes, flaw):
    document = certify(layer(*OUTSIDE[kind]), [NAME])
    [record] = document["claims"]
    for name, value in changes.items():
        next(x for x in (document, record, record["obstruction"]) if name in x)[name] = value
    if flaw is None:
        with pytest.raises(UnreadableError):
            check(document)
    else:
        assert check(document)["flaw"] == flaw


def test_a_head_that_diverges_is_noticed():
    document = certify(layer(3, 1, 1, 2), [NAME])
    document["claims"][0]["heads"][0]["V"][0][2] -= 1
    assert check(document)["flaw"] == "what diverges does not cancel"


def test_the_closed_are_not_certified():
    for shape in ((3, 1, 2, 2), (5, 1, 3, 3), (3, 2, 2, 1)):
        with pytest.raises(InputError, match=r"cannot be certified.*it does not apply|has no certificate"):
            certify(layer(*shape), [NAME])
