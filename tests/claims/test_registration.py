"""A claim is registered where it is written: its kind, and its certificate or the reason for having none."""

import pytest

import agattn as ag
from agattn import checker
from agattn.claims import CLAIMS, claims_about, titled
from agattn.claims.claim import Proof

ARCHITECTURES = {
    "SingleLayer": ag.SingleLayer(2, 1),
    "DeepNetwork": ag.DeepNetwork((3, 2), (2,), t=3),
    "Architecture": ag.Network([ag.Linear(2)], dim=2),
}
KINDS = (checker.Facts, checker.Deep, checker.Heads, checker.Today)
CERTIFIED = {name for kind in KINDS for name in kind.RECORDS}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_claim_has_a_proof_in_the_checker_or_says_why_not(claim):
    if isinstance(claim.certificate, Proof):
        assert claim.id in CERTIFIED
    else:
        assert claim.id not in CERTIFIED
        checker.text(claim.certificate)  # as certificates hold it
        assert len(claim.certificate) > 20 and not claim.certificate.endswith(".")


def test_a_claim_is_found_by_its_id_as_in_the_table():
    for _, claims in titled():
        architecture = ARCHITECTURES[next(iter(claims.values())).about.__name__]
        spoken_of = [name for name, claim in claims.items() if claim.subject(architecture)]
        assert [claim.id for claim in claims_about(architecture)] == spoken_of != []
        for name, claim in claims.items():
            assert claims_about(architecture, (name,)) == [claim]
            assert claims_about(architecture, (name.upper(),)) == [claim]
