from itertools import permutations

import pytest

from agattn.documents import check
from agattn.errors import (
    AgattnError,
    DisagreementError,
    EngineCrashedError,
    EngineError,
    EngineMemoryError,
    EngineNotFoundError,
    EngineTimeoutError,
    InputError,
    TooLargeError,
    TranscriptError,
)
from agattn.evidence import Evidence, Status, Verdict, weakest


def verdict(**changes):
    values = {
        "claim": "corollary-3.3",
        "status": Status.CONFIRMED,
        "hypotheses_hold": True,
        "predicted": 5,
        "computed": 5,
        "evidence": Evidence.PROVED,
        "witness": "dim M = 5",
        "engine": "singular 4.4.1",
        "sources": [],
        "seconds": 0.12345,
    }
    return Verdict(**{**values, **changes})


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


def test_json_has_the_keys_of_the_contract():
    assert verdict(details={"generators_by_degree": {"4": 1}}).as_json() == {
        "id": "corollary-3.3",
        "hypotheses_hold": True,
        "predicted": 5,
        "computed": 5,
        "verdict": "confirmed",
        "evidence": "proved",
        "witness": "dim M = 5",
        "engine": "singular 4.4.1",
        "sources": [],
        "seconds": 0.123,
        "generators_by_degree": {"4": 1},
    }


def test_what_was_checked_in_part_says_so_in_json_too():
    partly = verdict(details={"scope": "near generic weights"})
    assert (partly.evidence, partly.as_json()["evidence"]) == (Evidence.PROVED, "proved in part")
    document = {"architecture": {"d": 2, "d_out": 1, "a": 2, "t": 2}, "troubles": [], "seconds": 0.1}
    document["schema"] = "agattn/verify/1"
    check("verify", document | {"claims": [partly.as_json(), verdict().as_json()]})
    for wrong in ({"evidence": "proved"}, {"verdict": "undecided"}, {"evidence": "surely in part"}):
        with pytest.raises(InputError):
            check("verify", document | {"claims": [partly.as_json() | wrong]})


def test_prints_what_is_known_and_how():
    assert str(verdict()) == "corollary-3.3: confirmed (proved). dim M = 5"
    undecided = verdict(status=Status.UNDECIDED, evidence=None, witness="stopped after 1 s")
    assert str(undecided) == "corollary-3.3: undecided. stopped after 1 s"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InputError, 2),
        (TooLargeError, 2),
        (EngineNotFoundError, 3),
        (EngineTimeoutError, 3),
        (EngineMemoryError, 3),
        (EngineCrashedError, 4),
        (TranscriptError, 4),
        (EngineError, 4),
        (DisagreementError, 4),
    ],
)
def test_every_exception_has_its_exit_status(error, status):
    assert issubclass(error, AgattnError)
    assert error("why").exit_status == status
