"""Verdicts about networks: claims confirmed, refuted, undecided and inapplicable, and with what evidence."""

import itertools
from dataclasses import replace

import pytest

from agattn.architectures import DeepNetwork, SingleLayer
from agattn.claims import LAYER_CLAIMS, network_dimension
from agattn.claims import NETWORK_CLAIMS as CLAIMS
from agattn.claims import networks as identities
from agattn.claims.claim import Finding, Findings
from agattn.claims.networks import RECURSION
from agattn.evidence import Evidence, Status
from agattn.geometry.dimension import formulas
from agattn.geometry.identifiability import virtual_weights
from agattn.geometry.identifiability.virtual_weights import FiberDimension
from agattn.limits import limited
from agattn.systems.network_tasks import (
    BASIS_FIBER,
    COMPONENTS,
    DIMENSION,
    LOCAL_FIBER,
    RECOVERY,
    FiberComponents,
)

CONFIRMED, REFUTED, UNDECIDED, INAPPLICABLE = Status
PROVED, MODULAR = Evidence.PROVED, Evidence.MODULAR

BOTTLENECK = DeepNetwork((4, 3, 4), (2, 2), t=3)
SMALL = DeepNetwork((2, 2, 2), (2, 2), t=3)
SOFTMAX = DeepNetwork((4, 3, 4), (2, 2), t=3, normalization="softmax")
ONE_SOFTMAX = DeepNetwork((3, 2), (2,), t=3, normalization="softmax")
HEADS = DeepNetwork((5, 1), (3,), t=2, heads=2)  # the bound 50 is not attained
SKIP = DeepNetwork((3, 3, 3), (2, 2), t=3, skip=True)


def verdict(claim, network, seed=0, **found):
    """The verdict from native findings, with those replaced that are given by name."""
    claim = CLAIMS[claim]
    findings, missing = {}, {}
    for question in claim.tasks:
        given = {"fiber": COMPONENTS, "local": LOCAL_FIBER, "dimension": DIMENSION, "basis": BASIS_FIBER}
        name = next((name for name, q in given.items() if q is question and name in found), None)
        if name is not None:
            findings[question] = Finding(found[name], PROVED, ("by hand",), (), 0.0)
        elif reason := question.infeasible(network):
            missing[question] = reason
        elif question.native is None:
            missing[question] = "no engine"
        else:
            with limited(seed=seed):
                value = question.native(network)
            findings[question] = Finding(
                value, question.evidence(value), ("native",), question.sources(), 0.0
            )
    return claim.verdict(network, Findings(findings, missing))


@pytest.mark.parametrize(
    ("claim", "network", "computed", "evidence"),
    [
        ("lemma-3.5", BOTTLENECK, {"invariant": True, "fiber": 9}, PROVED),
        ("lemma-3.5", DeepNetwork((7, 6, 6, 7), (2, 2, 2), t=3), {"invariant": True, "fiber": 72}, MODULAR),
        ("lemma-3.6", SMALL, "identity", PROVED),
        ("lemma-3.6", BOTTLENECK, "identity", MODULAR),
        ("equation-12", SMALL, "identity", PROVED),
        ("equation-12", DeepNetwork((5, 4, 6, 3), (1, 2, 3), t=2), "identity", MODULAR),
        ("theorem-3.7", BOTTLENECK, {"dimension": 2, "other_components": None}, PROVED),
        ("corollary-3.8", BOTTLENECK, 33, PROVED),
        ("theorem-3.9", ONE_SOFTMAX, "(A, V)", PROVED),
        ("conjecture-3.10", SOFTMAX, 35, PROVED),
        ("agattn.network-dimension", DeepNetwork((5, 4, 1), (2, 1), t=3), 28, PROVED),
        ("agattn.network-dimension", SOFTMAX, 35, PROVED),
        ("agattn.multi-head-dimension", DeepNetwork((3, 3), (3,), t=2, heads=2), 32, PROVED),
        ("agattn.skip-dimension", SKIP, 32, PROVED),
    ],
)
def test_confirmed(claim, network, computed, evidence):
    found = verdict(claim, network)
    assert (found.status, found.computed, found.evidence) == (CONFIRMED, computed, evidence)
    assert found.predicted is not None and found.witness


@pytest.mark.parametrize(
    ("dims", "ranks", "t", "true", "failing"),
    [
        ((3, 3, 3), (1, 2), 3, 18, "a_i ≥ 2"),
        ((3, 3, 3), (1, 1), 3, 17, "a_i ≥ 2"),
        ((2, 3, 2), (2, 2), 3, 10, "d_i = δ ≤ d_0, d_l"),
        ((4, 2, 2, 4), (2, 1, 2), 3, 27, "a_i ≥ 2"),
        ((4, 3, 4), (2, 2), 1, 29, "t ≥ 3"),
        ((5, 4, 1), (2, 1), 3, 28, "a_i ≥ 2 and d_i = δ ≤ d_0, d_l"),
    ],
)
def test_equation_14_is_inapplicable_to_its_exceptions_and_their_dimension_is_shown(
    dims, ranks, t, true, failing
):
    network = DeepNetwork(dims, ranks, t)
    found = verdict("corollary-3.8", network)
    assert (found.status, found.computed, found.evidence) == (INAPPLICABLE, true, PROVED)
    assert found.predicted is None and found.witness.startswith(f"it assumes {failing}.")
    formula = network_dimension.equation_14(network)
    assert (f"the formula gives {formula}" in found.witness) == (formula != true)
    assert verdict("agattn.network-dimension", network).status is CONFIRMED


@pytest.mark.parametrize("sizes", [*itertools.product((1, 2, 3), (1, 2), (1, 2), (1, 2))])
def test_a_layer_as_a_network_has_the_hypotheses_of_corollary_3_3(sizes):
    layer = SingleLayer(*sizes)
    failing = LAYER_CLAIMS["corollary-3.3"].failing_hypotheses(layer)
    assert CLAIMS["corollary-3.8"].failing_hypotheses(layer.as_network()) == failing
    assert ("a > 1 or d' > 1" in failing) == (layer.a == layer.d_out == 1)
    softmax = replace(layer.as_network(), normalization="softmax")  # Theorem 3.9 assumes less
    assert "a > 1 or d' > 1" not in CLAIMS["conjecture-3.10"].failing_hypotheses(softmax)


@pytest.mark.parametrize(
    ("claim", "network", "failing"),
    [
        ("lemma-3.5", DeepNetwork((2, 3, 2), (2, 2), t=3), "d_i = δ ≤ d_0, d_l"),
        ("lemma-3.6", SKIP, "no skip connections"),
        ("equation-12", HEADS, "one head"),
        ("theorem-3.7", DeepNetwork((3, 3, 3), (1, 2), t=3), "rk M_i ≥ 2"),
        ("theorem-3.7", SOFTMAX, "no normalization"),
        ("theorem-3.7", DeepNetwork((3, 3, 3), (2, 2), t=2), "t ≥ 3"),
        ("corollary-3.8", SOFTMAX, "no normalization"),
        ("theorem-3.9", SOFTMAX, "one layer"),
        ("theorem-3.9", replace(ONE_SOFTMAX, t=1), "t ≥ 2"),
        ("theorem-3.9", DeepNetwork((3, 2), (2,), t=3), "a normalization"),
        ("conjecture-3.10", BOTTLENECK, "a normalization"),
        ("agattn.network-dimension", HEADS, "one head"),
        ("agattn.network-dimension", replace(BOTTLENECK, value_rank=1), "V_i of any rank"),
        ("lemma-3.5", replace(BOTTLENECK, value_rank=1), "V_i of any rank"),
        ("agattn.multi-head-dimension", BOTTLENECK, "several heads, or values of restricted rank"),
        ("agattn.skip-dimension", BOTTLENECK, "skip connections"),
    ],
)
def test_inapplicable(claim, network, failing):
    found = verdict(claim, network)
    assert (found.status, found.predicted, found.hypotheses_hold) == (INAPPLICABLE, None, False)
    assert failing in found.witness


@pytest.mark.parametrize(
    ("claim", "network"),
    [
        ("lemma-3.5", DeepNetwork((2, 3, 2), (2, 2), t=3)),
        ("lemma-3.5", replace(BOTTLENECK, value_rank=1)),
        ("lemma-3.6", SKIP),
        ("equation-12", HEADS),
        ("theorem-3.7", DeepNetwork((1, 1), (1,), t=2)),
        ("theorem-3.7", DeepNetwork((2, 2, 2), (2, 2), t=1)),
        ("theorem-3.9", SOFTMAX),
    ],
)
def test_about_random_weights_nothing_is_said_where_a_hypothesis_fails(claim, network):
    found = verdict(claim, network)
    failing = " and ".join(CLAIMS[claim].failing_hypotheses(network))
    assert (found.status, found.computed, found.evidence) == (INAPPLICABLE, None, None)
    assert found.witness == f"it assumes {failing}."
    assert CLAIMS[claim].needed(network) == () and found.engine == "none"


@pytest.mark.slow
@pytest.mark.parametrize("t", [1, 2, 3])
@pytest.mark.parametrize("changed", [{}, {"heads": 2}, {"value_rank": 1}, {"normalization": "softmax"}])
@pytest.mark.parametrize("sizes", [((3, 1), (1,)), ((1, 1), (1,)), ((2, 3, 2), (2, 2)), ((2, 2, 2), (1, 2))])
def test_what_is_shown_outside_the_hypotheses_does_not_depend_on_the_seed(sizes, changed, t):
    network = DeepNetwork(*sizes, t, **changed)
    for claim in CLAIMS.values():
        if claim.failing_hypotheses(network):
            shown = [verdict(claim.id, network, seed=seed).as_json() | {"seconds": 0} for seed in range(3)]
            assert shown[0] == shown[1] == shown[2], claim.id


@pytest.mark.parametrize("claim", ["corollary-3.8", "conjecture-3.10"])
def test_a_wrong_formula_is_refuted(claim, monkeypatch):
    network = SOFTMAX if claim == "conjecture-3.10" else BOTTLENECK
    right = network_dimension.equation_14
    monkeypatch.setattr(network_dimension, "equation_14", lambda network: right(network) + 1)
    found = verdict(claim, network)
    assert (found.status, found.evidence) == (REFUTED, PROVED)
    assert found.predicted == found.computed + 1 and f"the formula gives {found.predicted}" in found.witness


@pytest.mark.parametrize(
    ("claim", "network", "off"),
    [
        ("agattn.network-dimension", BOTTLENECK, 1),
        ("agattn.skip-dimension", SKIP, -1),
        ("agattn.multi-head-dimension", HEADS, -2),
    ],
)
def test_a_wrong_general_formula_is_refuted(claim, network, off, monkeypatch):
    right = formulas.network_dimension
    monkeypatch.setattr(formulas, "network_dimension", lambda network: right(network) + off)
    assert verdict(claim, network).status is REFUTED


def test_the_bound_for_several_heads_does_not_pretend_to_check_itself():
    found = verdict("agattn.multi-head-dimension", DeepNetwork((3, 3), (3,), t=2, heads=2))
    assert (found.status, found.as_json()["evidence"]) == (CONFIRMED, "proved in part")
    assert "for all Jacobians the bound is proved by counting" in found.scope


def test_an_open_interval_is_not_decided_by_what_was_observed(monkeypatch):
    found = verdict("agattn.multi-head-dimension", HEADS)
    assert (found.status, found.evidence) == (CONFIRMED, MODULAR)
    assert found.computed == {"observed": 49, "at_least": 49, "at_most": 50}
    assert found.predicted == {"at_most": 50} and "not attained at any point tried" in found.witness
    # A formula that gives 49 there is neither proved nor refuted by a rank of 49 below a bound of 50.
    monkeypatch.setattr(formulas, "network_dimension", lambda network: 49)
    found = verdict("agattn.multi-head-dimension", HEADS)
    assert (found.status, found.computed["observed"]) == (UNDECIDED, 49)
    found = DIMENSION.native(BOTTLENECK)
    open_ = found.replace(upper=replace(found.upper, value=34))
    assert verdict("corollary-3.8", BOTTLENECK, dimension=open_).status is UNDECIDED


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["lemma-3.6", "equation-12"])
@pytest.mark.parametrize("network", [SMALL, BOTTLENECK], ids=str)
def test_a_false_identity_is_refuted(claim, network, monkeypatch):
    right = identities.deep.virtual_weights

    def wrong(A, V, *arithmetic):
        M, L = right(A, V, *arithmetic)
        return [m.T for m in M], L

    monkeypatch.setattr(identities.deep, "virtual_weights", wrong)
    found = verdict(claim, network)
    assert (found.status, found.evidence, found.computed) == (REFUTED, PROVED, "no identity")


def test_a_degree_beyond_the_primes_leaves_identities_open():
    found = verdict("lemma-3.6", DeepNetwork((2,) * 20, (1,) * 19, t=1))
    assert (found.status, found.computed) == (UNDECIDED, None) and "too large for primes" in found.witness


def test_a_larger_upper_bound_leaves_lemma_3_5_open():
    larger = BASIS_FIBER.native(BOTTLENECK)._replace(upper_bound=10)
    assert verdict("lemma-3.5", BOTTLENECK, basis=larger).status is UNDECIDED


def test_the_whole_fiber_decides_theorem_3_7():
    found = verdict("theorem-3.7", SMALL, fiber=FiberComponents((2,), 0))
    assert (found.status, found.computed) == (CONFIRMED, {"dimension": 2, "other_components": 0})
    assert "whole fiber" in found.details["scope"]
    found = verdict("theorem-3.7", SMALL, fiber=FiberComponents((2, 2), 1))
    assert found.status is REFUTED and "1 are not of rescalings" in found.witness
    assert verdict("theorem-3.7", SMALL, fiber=FiberComponents((3,), 0)).status is REFUTED


def test_only_one_neighbourhood_was_seen_where_no_engine_finishes():
    found = verdict("theorem-3.7", BOTTLENECK)
    assert found.computed["other_components"] is None and "near one random" in found.details["scope"]
    assert "whether it has other components is open" in found.witness
    loose = FiberDimension(2, 3)
    assert verdict("theorem-3.7", BOTTLENECK, local=loose).status is UNDECIDED


def test_conjecture_3_10_is_confirmed_in_its_consequence_only():
    found = verdict("conjecture-3.10", SOFTMAX)
    assert "equation 16 alone" in found.scope
    assert (found.evidence, found.as_json()["evidence"]) == (PROVED, "proved in part")


def test_a_recovery_of_other_weights_refutes_theorem_3_9(monkeypatch):
    right = virtual_weights.recover
    monkeypatch.setattr(
        virtual_weights, "recover", lambda *a, **k: (right(*a, **k)[0], 2 * right(*a, **k)[1])
    )
    found = verdict("theorem-3.9", ONE_SOFTMAX)
    assert (found.status, found.computed) == (REFUTED, "other weights") and "2^x" in found.witness


def test_questions_that_are_not_asked():
    wide = DeepNetwork((40, 40, 40), (2, 2), t=3)
    assert "entries" in LOCAL_FIBER.infeasible(wide) and "entries" in BASIS_FIBER.infeasible(wide)
    assert verdict("theorem-3.7", wide).status is UNDECIDED
    assert not COMPONENTS.infeasible(SMALL) and "none" not in COMPONENTS.infeasible(BOTTLENECK)
    assert "more than 800" in DIMENSION.infeasible(replace(wide, normalization="softmax"))
    assert "not tried" in RECOVERY.infeasible(DeepNetwork((17, 1), (1,), t=2, normalization="softmax"))
    assert RECURSION.infeasible(SKIP) and RECURSION.infeasible(HEADS) and not RECURSION.infeasible(BOTTLENECK)
