import textwrap
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


@pytest.mark.parametrize(
    ("computed", "short"),
    [
        ({"dim": 4, "strata": [1, 2], "of": {"a": 1}, "degree": 3}, "dim: 4, degree: 3"),
        ([], "0 strata"), ([1], "1"), ([1, 2, 3, 4, 5, 6], "1 2 3 4 5 6"), ([1] * 7, "7 strata"),
        (None, ""), (5, "5"),
    ],
)  # fmt: skip
def test_what_was_computed_in_a_few_words(computed, short):
    assert verdict(computed=computed).short == short
    assert verdict(computed=computed, shown="so").short == "so"


def test_what_a_claim_says_in_brief():
    said = {"computed": {"dim": 4}, "meaning": "the dimension", "brief": "{} of {dim}"}
    assert verdict(**said).in_brief == "dim: 4 of 4"
    assert verdict(**said, details={"scope": "t = 2"}).in_brief == "dim: 4 of 4 (in part)"
    for without in ({"brief": ""}, {"computed": None, "brief": "it is {}"}):
        assert verdict(**said | without).in_brief == "the dimension"
    long = "word by wo " * 20
    for label, width in (("x", 57), ("x" * 28, 30), ("x" * 40, 30)):  # 58 with the label; at least 30
        undecided = verdict(claim=f"agattn.{label}", status=Status.UNDECIDED, witness=long)
        assert undecided.in_brief == textwrap.shorten(long, width, placeholder=" …")


def test_where_a_refuted_claim_fails():
    def exception(*points, witness=""):
        return verdict(status=Status.REFUTED, witness=witness, fails_at=points).exception

    assert [exception(*range(1, n + 1)) for n in (1, 2, 3, 4)] == [
        "but not at 1", "but not at 1, 2", "but not at 1, 2, 3", "but not at 1, 2, …, 4",
    ]  # fmt: skip
    for letters in range(1, 4):
        long = letters * "x" + " ab" * 50
        assert exception(witness=long) == textwrap.shorten(long, 100, placeholder=" …")
    assert verdict(fails_at=(1,)).exception == ""


def test_a_verdict_is_read_back_with_its_evidence_and_its_details():
    whole = verdict(details={"scope": "t = 2", "more": [1]})
    again = Verdict.from_json(whole.as_json())
    assert again.evidence is Evidence.PROVED and again.as_json() == whole.as_json()
    assert (again.details, again.scope) == ({"more": [1]}, "t = 2")
    assert Verdict.from_json(verdict(status=Status.UNDECIDED, evidence=None).as_json()).evidence is None


@pytest.mark.parametrize(
    ("status", "computed", "terse"),
    [
        (Status.CONFIRMED, "boundary = critical", True),
        (Status.CONFIRMED, "dim 3", False),
        (Status.CONFIRMED, "at (0,0,0)", False),
        (Status.CONFIRMED, None, False),
        (Status.REFUTED, "boundary = critical", False),
        (Status.REFUTED, "dim 3", False),
    ],
)
def test_words_that_say_little_alone(status, computed, terse):
    assert verdict(status=status, computed=computed).is_terse is terse


def test_a_verdict_in_a_line_and_in_json():
    inapplicable = verdict(status=Status.INAPPLICABLE, details={"assumes": ["d > 1"], "more": [1]})
    assert inapplicable.summary() == "corollary-3.3: inapplicable (proved). dim M = 5"
    written = inapplicable.as_json()
    assert (written["seconds"], written["assumes"], written["more"]) == (0.123, ["d > 1"], [1])
    check("verify", document(written | {"hypotheses_hold": False}))
    with pytest.raises(InputError):
        check("verify", document(written | {"assumes": []}))
