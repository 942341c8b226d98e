from contextlib import nullcontext
from itertools import permutations

import pytest
from jsonschema import Draft202012Validator

from agattn.documents import check, schema
from agattn.errors import InputError
from agattn.evidence import Evidence, Status, Verdict, weakest


def verdict(**changes):
    values = {
        "claim": "corollary-3.3", "status": Status.CONFIRMED, "hypotheses_hold": True, "predicted": 5,
        "computed": 5, "evidence": Evidence.PROVED, "witness": "dim M = 5", "engine": "singular 4.4.1",
        "sources": [], "seconds": 0.12345,
    }  # fmt: skip
    return Verdict(**{**values, **changes})


def document(*claims):
    """What ``agattn verify --json`` prints with these claims."""
    architecture = {"d": 2, "d_out": 1, "a": 2, "t": 2}
    found = {"schema": "agattn/verify/1", "architecture": architecture, "claims": [*claims]}
    return found | {"troubles": [], "seconds": 0.1}


def test_a_conclusion_is_as_strong_as_the_weakest_evidence():
    for order in permutations(Evidence):
        assert weakest(order) is Evidence.NUMERICAL
    assert weakest([Evidence.PROVED, Evidence.MODULAR, Evidence.PROVED]) is Evidence.MODULAR
    assert weakest([Evidence.PROVED]) is Evidence.PROVED


def test_nothing_follows_from_no_evidence():
    with pytest.raises(ValueError):
        weakest([])


@pytest.mark.parametrize("status", [Status.CONFIRMED, Status.REFUTED])
def test_a_decision_needs_evidence_and_hypotheses(status):
    with pytest.raises(ValueError, match="needs evidence"):
        verdict(status=status, evidence=None)
    with pytest.raises(ValueError, match="only where its hypotheses hold"):
        verdict(status=status, hypotheses_hold=False)


@pytest.mark.parametrize("status", [Status.UNDECIDED, Status.INAPPLICABLE])
def test_no_decision_needs_neither(status):
    assert verdict(status=status, evidence=None, hypotheses_hold=False).evidence is None


def test_what_was_checked_in_part_says_so_in_json_too():
    partly = verdict(details={"scope": "near generic weights"})
    assert (partly.evidence, partly.as_json()["evidence"]) == (Evidence.PROVED, "proved in part")
    check("verify", document(partly.as_json(), verdict().as_json()))
    for wrong in ({"evidence": "proved"}, {"verdict": "undecided"}, {"evidence": "surely in part"}):
        with pytest.raises(InputError):
            check("verify", document(partly.as_json() | wrong))


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("evidence", [None, "proved", "modular in part"])
@pytest.mark.parametrize("holds", [True, False])
def test_the_schema_allows_what_a_verdict_may_say(status, evidence, holds):
    """A claim is decided only with evidence where its hypotheses hold, and inapplicable where they do not."""
    in_part = evidence == "modular in part"
    base = verdict(details={"scope": "near generic weights"} if in_part else {})
    said = {"verdict": str(status), "evidence": evidence, "hypotheses_hold": holds}
    decided = holds and evidence is not None
    allowed = {Status.UNDECIDED: True, Status.INAPPLICABLE: not holds or decided}.get(status, decided)
    found = document(base.as_json() | said)
    assert Draft202012Validator(schema("verify")).is_valid(found) == allowed
    told = (status is not Status.INAPPLICABLE or not holds) and (not in_part or status is Status.CONFIRMED)
    with nullcontext() if allowed and told else pytest.raises(InputError):
        check("verify", found)
