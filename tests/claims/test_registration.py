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


S, D = ag.SingleLayer, ag.DeepNetwork
SQUARE, DEEP = D((2, 2), (2,)), D((2, 2, 2), (2, 2))
#: An architecture for which a hypothesis just holds, and one for which it just does not.
EDGES = {
    "a ≤ d": (S(3, 4, 3), S(3, 4, 4)),
    "a > 1 or d' > 1": (S(2, 1, 2), S(2, 1, 1)),
    "d ≥ 2": (S(2, 1), S(1, 1)),
    "d = 2 and t ≥ 2": (S(2, 1), S(2, 1, t=1)),
    "d' ≤ 3 or d = 1": (S(2, 3), S(2, 4)),
    "t ≥ 2": (SQUARE, D((2, 2), (2,), t=1)),
    "t ≥ 3": (D((2, 2, 2), (2, 2), t=3), D((2, 2, 2), (2, 2), t=2)),
    "l ≥ 2": (DEEP, SQUARE),
    "one layer": (SQUARE, DEEP),
    "one head": (DEEP, D((2, 2, 2), (2, 2), heads=(1, 2))),
    "several heads": (D((2, 2, 2), (2, 2), heads=2), D((2, 2, 2), (2, 2), heads=(1, 2))),
    "2 ≤ h ≤ d": (D((2, 3), (1,), heads=2), D((2, 3), (1,), heads=3)),
    "V_i of any rank": (D((3, 3), (2,)), D((3, 3), (2,), value_rank=2)),
    "several heads, or values of restricted rank": (D((3, 3), (2,), value_rank=2), D((3, 3), (2,))),
    "skip connections": (D((2, 2), (2,), skip=True), SQUARE),
    "no skip connections": (SQUARE, D((2, 2), (2,), skip=True)),
    "no normalization": (SQUARE, D((2, 2), (2,), normalization="softmax")),
    "a normalization": (D((2, 2), (2,), normalization="softmax"), SQUARE),
    "softmax": (D((2, 2), (2,), normalization="softmax"), SQUARE),
    "d_0 ≥ 2": (D((2, 1), (2,)), D((1, 2), (2,))),
    "d_0 ≥ 3": (D((3, 1), (3,)), D((2, 3), (3,))),
    "d_i ≥ d_0 and a_i ≥ d_0": (D((2, 2, 1), (2, 2)), D((2, 2, 2), (2, 1))),
    "d_0, d_1, a_1, a_2 ≥ 2": (D((2, 2, 1), (2, 2)), D((2, 2, 1), (2, 1))),
    "rk M_i ≥ 2": (D((2, 2, 1), (2, 2)), D((2, 1, 2), (2, 2))),
    "all widths equal": (D((2, 2, 2), (2, 1)), D((2, 2, 1), (2, 2))),
    "a_i ≤ d": (D((2, 2, 2), (1, 2)), D((2, 2, 2), (2, 3))),
    "a_i ≥ 2": (D((2, 2, 2), (2, 2)), D((2, 2, 2), (2, 1))),
    "δ ≥ 2": (D((3, 2, 3), (2, 2)), D((3, 1, 3), (2, 2))),
    "d_i = δ ≤ d_0, d_l": (D((3, 2, 2, 3), (2, 2, 2)), D((3, 2, 1, 3), (2, 2, 2))),
}


@pytest.mark.parametrize("text", EDGES)
def test_a_hypothesis_holds_as_far_as_its_words_say(text):
    inside, outside = EDGES[text]
    about = [claim for claim in CLAIMS.values() if claim.about is type(inside)]
    found = {hypothesis for claim in about for hypothesis in claim.hypotheses if hypothesis.text == text}
    assert found
    for hypothesis in found:
        assert hypothesis.holds(inside) and not hypothesis.holds(outside)
