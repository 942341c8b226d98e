"""A claim without a certificate keeps no other claim from its certificate, and is named."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import call

import agattn as ag
from agattn import checker
from agattn.checker import UNKNOWN, UnreadableError, check, described
from agattn.claims import claims_about
from agattn.claims import ideal as claims_about_dimension
from agattn.claims.claim import NO_PROOF
from agattn.evidence import Evidence, Status, Verdict
from agattn.verification.certificate import _record, certify

DOCUMENTS = Path(__file__).parents[2] / "docs" / "certificates"
LAYER = ag.SingleLayer(2, 1)


@pytest.fixture
def new_claim(monkeypatch):
    """A claim about layers that no checker knows."""
    new = replace(claims_about_dimension.CLAIMS[0], id="agattn.proved-by-me", certificate=NO_PROOF)
    monkeypatch.setattr(claims_about_dimension, "CLAIMS", (*claims_about_dimension.CLAIMS, new))
    return new.id


def test_a_claim_that_no_checker_knows(new_claim, tmp_path):
    made = certify(LAYER)
    assert "corollary-3.3" in made.verdicts and "finitely many integers" in made.uncertified[new_claim]
    found = check(json.loads(json.dumps(made)))
    assert found["valid"] and found["uncertified"] == [UNKNOWN]
    assert new_claim not in described(found)  # the checker prints no word of a file
    path = tmp_path / "c.json"
    ended = call("certificate 2 1 -O", path)
    assert ended.status == 0 and re.search(r"\nlemma-3.1\n  verdict: confirmed\n", ended.out)
    assert re.search(rf"\n{new_claim}\n  verdict: not certified\n", ended.out)
    assert json.loads(path.read_text()) == made and call("check", path).status == 0


def test_such_a_claim_is_no_claim_that_is_certified(new_claim):
    made = json.loads(json.dumps(certify(LAYER)))
    made["claims"].append({"id": new_claim + "-too", "verdict": "confirmed", "fails_at": []})
    with pytest.raises(UnreadableError, match="none of those that can be certified"):
        check(made)


def test_several_heads_with_other_claims():
    network = ag.DeepNetwork((3, 1), (1,), t=2, heads=2)
    made = ag.certificate(network, ["agattn.heads-not-closed", "agattn.multi-head-dimension"])
    assert [*made.verdicts] == ["agattn.heads-not-closed"]
    assert [*made.uncertified] == ["agattn.multi-head-dimension"] and check(made)["valid"]


def test_a_refutation_that_has_no_certificate_keeps_no_other_claim_from_its_own():
    verdict = Verdict(
        "agattn.degree", Status.REFUTED, True, 3, 4, Evidence.PROVED, "it is 4", "native", 0.0
    )  # fmt: skip
    [claim] = claims_about(LAYER, ["agattn.degree"])
    reason = "it is refuted in a way that no certificate is known for"
    found = _record(LAYER, claim, verdict, np.random.default_rng(0))
    assert found == {"id": "agattn.degree", "reason": reason}


@pytest.mark.parametrize("path", sorted(DOCUMENTS.glob("*.json")), ids=lambda path: path.name)
def test_certificates_that_were_written_before_are_valid(path):
    assert check(checker.read(path))["valid"]


def test_certificates_of_version_1_have_their_own_checker():
    """The checker says which file to take, and this one reads them."""
    old = Path(__file__).with_name("certificate-1.0.json")
    with pytest.raises(UnreadableError, match=r"agattn 1 wrote it; take checker-1\.0\.py, from the page on"):
        check(str(old))
    alone = [sys.executable, "-I", "-S", DOCUMENTS / "checker-1.0.py", old]
    ended = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert ended.returncode == 0 and "dim M = 22 = 24 − 2" in ended.stdout
