"""Judgements from findings made by hand: no engine, and every way a finding can be right or wrong."""

from dataclasses import replace

import pytest

from agattn.architectures import SingleLayer
from agattn.claims import LAYER_CLAIMS as CLAIMS
from agattn.claims.claim import SECTION_3_2, Finding, Findings
from agattn.claims.ideal import EQUATIONS, HILBERT_VALUES, NUMBERS, PRODUCTS
from agattn.claims.learning_coefficients import NORMAL_FORMS, SOFTMAX_FORMS
from agattn.claims.strata import FACTORIZATION, _facts, _judge_boundary
from agattn.errors import DisagreementError
from agattn.evidence import Evidence, Status, plain
from agattn.geometry.ideal.ideal import DegreePiece, Ideal
from agattn.geometry.strata.strata import ZERO, Stratum
from agattn.systems.ideal_tasks import IDEAL, RANK_ONE_LOCUS, Cone
from agattn.systems.layer_tasks import (
    BASE_LOCUS,
    CRITICAL,
    FIBERS,
    GENERIC_RANK,
    TANGENTS,
    FiberSize,
    Tangent,
)
from agattn.systems.problem import Source

CONFIRMED, REFUTED, UNDECIDED, INAPPLICABLE = Status

S111, S112, S122 = Stratum(1, 1, 1), Stratum(1, 1, 2), Stratum(1, 2, 2)
ZEROS = frozenset({"A = 0", "V = 0"})

# M(2,1,2): a quartic hypersurface in six coordinates.
LAYER = SingleLayer(2, 1)


QUARTIC = EQUATIONS.native(LAYER)


def ideal(dimension, degree, generators, tangents, layer=LAYER):
    """An ideal with so many generators of each degree."""
    pieces = tuple(DegreePiece(n, 0, 0, generators.get(n, 0), Evidence.PROVED) for n in range(1, 5))
    return Ideal(layer, dimension, degree, pieces, "an engine", tangent_dimension=tangents)


TRUE = {
    IDEAL: ideal(5, 4, {4: 1}, {ZERO: 6, S111: 6, S112: 6, S122: 5}),
    FIBERS: {S111: FiberSize(1, 2), S112: FiberSize(2, 2), S122: FiberSize(1, 1)},
    CRITICAL: {ZERO: True, S111: True, S112: False, S122: False},
    BASE_LOCUS: ZEROS,
    TANGENTS: {
        ZERO: Tangent(0, 6, 6), S111: Tangent(3, 6, 6), S112: Tangent(4, 6, 6), S122: Tangent(5, 5, 6),
    },
    GENERIC_RANK: 5,
    RANK_ONE_LOCUS: Cone(4, 3),
    NORMAL_FORMS: NORMAL_FORMS.native(LAYER), SOFTMAX_FORMS: SOFTMAX_FORMS.native(LAYER),
}  # fmt: skip

# M(3,2,2), where elimination does not finish and the theorem fails.
WIDE = SingleLayer(3, 2, 2)


def wide():
    from agattn.geometry.strata.strata import strata

    tangents = {ZERO: Tangent(0, 36, 36)}
    lower = {"111": 24, "112": 20, "212": 14, "213": 14}
    for s in strata(WIDE)[1:]:
        name = f"{s.r_v}{s.r_a}{s.r}"
        full = s.r_a == 2
        low = lower.get(name, 13)
        tangents[s] = Tangent(13 if full else 10, low, low if name in lower else 20)
    critical = {s: s in (ZERO, S111) for s in strata(WIDE)}
    fibers = {s: FiberSize(*{S111: (1, 3), S112: (2, 2)}.get(s, (1, 1))) for s in strata(WIDE)[1:]}
    return {TANGENTS: tangents, CRITICAL: critical, FIBERS: fibers, BASE_LOCUS: ZEROS}


def findings(values, without=(), evidence=Evidence.PROVED, reason="the engine timed out"):
    found = {
        task: Finding(value, evidence, (f"engine for {task.finds}",), (Source(task.finds, "engine"),), 0.5)
        for task, value in values.items()
        if task not in without
    }
    return Findings(found, dict.fromkeys(without, reason))


def verdict(claim, layer=LAYER, values=TRUE, without=(), **others):
    """The verdict from the findings given, and native ones of the tasks that only one claim has."""
    alone = (FACTORIZATION, PRODUCTS, HILBERT_VALUES, EQUATIONS, NUMBERS)
    own = [task for task in CLAIMS[claim].tasks if task in alone]
    native = {task: task.native(layer) for task in own if not task.infeasible(layer)}
    found = findings(native | values, without, **others)
    found.missing.update({task: task.infeasible(layer) for task in own if task.infeasible(layer)})
    return CLAIMS[claim].verdict(layer, found)


def changed(question, value):
    return {**TRUE, question: value}


@pytest.mark.parametrize("claim", CLAIMS)
def test_true_findings_confirm(claim):
    found = verdict(claim)
    assert (found.status, found.evidence) == (CONFIRMED, Evidence.PROVED)
    assert found.hypotheses_hold and found.witness and found.computed is not None


@pytest.mark.parametrize("claim", [c for c in CLAIMS if CLAIMS[c].tasks])
def test_evidence_is_that_of_what_was_used(claim):
    found = verdict(claim, evidence=Evidence.MODULAR)
    assert (found.status, found.evidence) == (CONFIRMED, Evidence.MODULAR)


def test_one_weak_finding_weakens_the_verdict():
    known = findings(TRUE)
    known.found[CRITICAL] = replace(known.found[CRITICAL], evidence=Evidence.NUMERICAL)
    assert CLAIMS["theorem-3.4.boundary"].verdict(LAYER, known).evidence is Evidence.NUMERICAL
    assert CLAIMS["theorem-3.2"].verdict(LAYER, known).evidence is Evidence.PROVED


def test_sources_and_seconds_are_those_of_what_was_used():
    found = verdict("theorem-3.4.boundary")
    assert found.engine == "engine for the critical strata, engine for the fibers" and found.seconds == 1.0
    assert verdict("proposition-A.5").engine == "engine for the coefficients of φ"


WRONG = {
    "one preimage too many": ("theorem-3.2", FIBERS, {**TRUE[FIBERS], S122: FiberSize(2, 2)}),
    "one preimage too few": ("theorem-3.2", FIBERS, {**TRUE[FIBERS], S112: FiberSize(1, 1)}),
    "zero elsewhere": ("theorem-3.2", BASE_LOCUS, ZEROS | {"a_(1,1) = 0"}),
    "dimension": ("corollary-3.3", None, {IDEAL: TRUE[IDEAL].replace(dimension=4)}),
    "not closed": ("theorem-3.4.closed", BASE_LOCUS, ZEROS | {"a_(1,1) = 0"}),
    "zero nowhere": ("corollary-A.1", BASE_LOCUS, frozenset({"A = 0"})),
    "not birational": ("corollary-A.2", FIBERS, {**TRUE[FIBERS], S122: FiberSize(2, 2)}),
    "not reduced": ("corollary-A.2", FIBERS, {**TRUE[FIBERS], S122: FiberSize(1, 2)}),
    "three preimages": ("corollary-A.2", FIBERS, {**TRUE[FIBERS], S112: FiberSize(3, 3)}),
    "not critical": ("lemma-A.3", CRITICAL, {**TRUE[CRITICAL], S111: False}),
    "critical": ("lemma-A.3", CRITICAL, {**TRUE[CRITICAL], S122: True}),
    "no boundary": ("theorem-3.4.boundary", CRITICAL, {**TRUE[CRITICAL], S111: False}),
    "degree": ("agattn.degree", None, {IDEAL: TRUE[IDEAL].replace(degree=5)}),
    "degree by fibers": (
        "agattn.degree", None, {BASE_LOCUS: ZEROS, FIBERS: {**TRUE[FIBERS], S122: FiberSize(2, 2)}},
    ),
    "a quintic": ("agattn.equations", EQUATIONS, QUARTIC._replace(generators=(0, 0, 0, 1, 1))),
    "a point off the closure": ("agattn.equations", EQUATIONS, QUARTIC._replace(kept=("a form of rank 3",))),
    "closure of another dimension": ("agattn.rank-one-locus", RANK_ONE_LOCUS, Cone(5, 3)),
    "closure of another degree": ("agattn.rank-one-locus", RANK_ONE_LOCUS, Cone(4, 4)),
    "tangent spaces too small": ("agattn.tangent-dimension", None, {
        IDEAL: TRUE[IDEAL].replace(tangent_dimension={ZERO: 6, S111: 6, S112: 5, S122: 5}),
    }),
    "tangent spaces too large": ("agattn.tangent-dimension", None, {
        IDEAL: TRUE[IDEAL].replace(tangent_dimension={ZERO: 6, S111: 6, S112: 6, S122: 6}),
    }),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "question", "value"), WRONG.values(), ids=WRONG)
def test_wrong_findings_refute(claim, question, value):
    found = verdict(claim, values=value if question is None else changed(question, value))
    assert (found.status, found.evidence) == (REFUTED, Evidence.PROVED)
    assert found.computed != found.predicted and found.witness


@pytest.mark.parametrize("claim", ["theorem-3.4.singular", "corollary-A.4", "agattn.singular-locus"])
@pytest.mark.parametrize("stratum", [S112, S122])
def test_other_singular_points_refute(claim, stratum):
    # An ideal by which the smooth stratum is singular, or a singular one smooth; and nothing else known.
    tangent = dict(TRUE[IDEAL].tangent_dimension)
    tangent[stratum] = 6 if stratum == S122 else 5
    found = verdict(claim, values={IDEAL: TRUE[IDEAL].replace(tangent_dimension=tangent)})
    assert found.status is REFUTED and str(stratum) in found.witness


NEEDED = {
    "theorem-3.2": [{FIBERS}, {BASE_LOCUS}],
    "corollary-3.3": [{IDEAL, TANGENTS, GENERIC_RANK}],
    "theorem-3.4.closed": [{BASE_LOCUS}],
    "theorem-3.4.boundary": [{CRITICAL}, {FIBERS}],
    "theorem-3.4.singular": [
        {IDEAL, TANGENTS}, {IDEAL, TANGENTS, GENERIC_RANK}, {IDEAL, FIBERS}, {IDEAL, CRITICAL},
    ],
    "corollary-A.1": [{BASE_LOCUS}],
    "corollary-A.2": [{FIBERS}],
    "lemma-A.3": [{CRITICAL}],
    "corollary-A.4": [{IDEAL, TANGENTS}, {IDEAL, FIBERS}],
    "corollary-A.6": [{CRITICAL}, {FIBERS}],
    "agattn.degree": [{IDEAL, FIBERS}, {IDEAL, BASE_LOCUS}],
    "agattn.singular-locus": [{IDEAL, TANGENTS}, {IDEAL, CRITICAL}],
    "agattn.tangent-dimension": [{IDEAL, TANGENTS}, {IDEAL, CRITICAL}, {IDEAL, FIBERS}],
    "agattn.rank-one-locus": [{RANK_ONE_LOCUS}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "without"), [(c, w) for c, sets in NEEDED.items() for w in sets],
    ids=lambda x: x if isinstance(x, str) else " ".join(sorted(q.finds for q in x)),
)  # fmt: skip
def test_missing_findings_leave_it_undecided(claim, without):
    found = verdict(claim, without=without)
    assert (found.status, found.computed, found.evidence) == (UNDECIDED, None, None)
    assert found.engine == "none" and found.witness


@pytest.mark.parametrize(
    "without", [{TANGENTS}, {IDEAL}, {FIBERS}, {CRITICAL}], ids=lambda s: next(iter(s)).finds
)
def test_singular_points_are_found_either_way(without):
    assert verdict("theorem-3.4.singular", without=without).status is CONFIRMED


def test_the_reason_for_a_missing_finding_is_told():
    assert verdict("lemma-A.3", without={CRITICAL}).witness == "the engine timed out"
    assert "nothing was asked" in CLAIMS["lemma-A.3"].verdict(LAYER, Findings({}, {})).witness


def test_a_contradiction_between_curves_and_fibers_is_an_error():
    tangents = {**TRUE[TANGENTS], S122: Tangent(5, 6, 6)}
    message = r"at \(1,2,2\): the fiber is one reduced point, so .* dimension 5, but other .* from 6 to 6$"
    with pytest.raises(DisagreementError, match=message):
        verdict("agattn.singular-locus", values=changed(TANGENTS, tangents), without={IDEAL})


def test_base_points_leave_the_degree_undecided():
    values = {BASE_LOCUS: ZEROS | {"a_(1,1) = 0"}, FIBERS: TRUE[FIBERS]}
    found = verdict("agattn.degree", values=values)
    assert found.status is UNDECIDED and "a_(1,1) = 0" in found.witness


def test_findings_that_only_agree_do_not_weaken_the_verdict():
    # The ideal says it all; the fibers could only have contradicted it.
    known = findings(TRUE)
    known.found[FIBERS] = replace(known.found[FIBERS], evidence=Evidence.NUMERICAL)
    assert CLAIMS["agattn.singular-locus"].verdict(LAYER, known).evidence is Evidence.PROVED
    without = Findings({q: f for q, f in known.found.items() if q is not IDEAL}, {})
    assert CLAIMS["agattn.singular-locus"].verdict(LAYER, without).evidence is Evidence.NUMERICAL


# The theorem's gap ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("claim", ["theorem-3.4.singular", "corollary-A.4"])
def test_the_counterexample(claim):
    found = verdict(claim, WIDE, wide())
    assert (found.status, found.evidence) == (REFUTED, Evidence.PROVED)
    assert plain(found.predicted) == ["(0,0,0)", "(1,1,1)", "(1,1,2)"]
    assert plain(found.computed) == ["(0,0,0)", "(1,1,1)", "(1,1,2)", "(2,1,2)", "(2,1,3)"]
    for piece in ("(2,1,2)", "(2,1,3)", "dimension 14 > 13", "V = [[1, 0, 0], [0, 1, 0]]"):
        assert piece in found.witness
    assert found.witness.endswith("as stated in version 2 of the paper")
    assert found.witness.count("version") == 1


def test_the_corrected_statement_holds_there():
    assert verdict("agattn.singular-locus", WIDE, wide()).status is CONFIRMED


def test_only_statements_of_the_paper_are_refuted_as_statements_of_the_paper():
    values = wide()
    values[TANGENTS] = {s: t._replace(lower=13, upper=13) for s, t in values[TANGENTS].items()}
    found = verdict("agattn.singular-locus", WIDE, values, without={FIBERS, IDEAL})
    assert found.status is REFUTED and "paper" not in found.witness


def test_native_tangents_know_no_differential_and_the_generic_rank_must_be_asked_for():
    values = wide()
    values[TANGENTS] = {s: t._replace(differential_rank=None) for s, t in values[TANGENTS].items()}
    found = verdict("theorem-3.4.singular", WIDE, values)
    assert found.status is UNDECIDED and "the generic rank" in found.witness
    found = verdict("theorem-3.4.singular", WIDE, {**values, GENERIC_RANK: 13})
    assert found.status is REFUTED
    found = verdict("corollary-3.3", WIDE, {**values, GENERIC_RANK: 12})
    assert found.status is UNDECIDED and "between 12 and 13" in found.witness


def test_an_upper_bound_alone_shows_no_singularity():
    # Without curves the tangent space at (2,1,2) may be 13- or 14-dimensional: that decides nothing.
    s212 = Stratum(2, 1, 2)
    values = wide()
    values[TANGENTS] = {s: t._replace(upper=t.lower) for s, t in values[TANGENTS].items()}
    values[TANGENTS][s212] = Tangent(10, 13, 14)
    for claim in ("theorem-3.4.singular", "agattn.singular-locus", "agattn.tangent-dimension"):
        found = verdict(claim, WIDE, values, without={FIBERS})
        assert found.status is UNDECIDED and "(2,1,2)" in found.witness
    # One reduced preimage, at which the pairs (A, V) have 14 tangent dimensions, does.
    found = verdict("theorem-3.4.singular", WIDE, values)
    assert found.status is REFUTED and found.details["tangent_dimension"][Stratum(2, 1, 2)] == 14
    reason = "M is singular: its fiber is one reduced point, at which (A, V) have 14 tangent dimensions"
    assert reason in found.witness
    assert "engine for the fibers" in found.engine and "engine for the critical strata" in found.engine


def test_a_source_of_another_tangent_dimension_than_curves_allow_is_an_error():
    values = wide()
    values[TANGENTS] = {**values[TANGENTS], Stratum(2, 1, 2): Tangent(10, 15, 20)}
    with pytest.raises(DisagreementError, match=r"\(2,1,2\): .* dimension 14, but .* say from 15 to 20"):
        verdict("agattn.singular-locus", WIDE, values)


def test_tangent_dimensions_that_bounds_exclude_or_leave_open():
    # Without fibers the bounds stand alone: [13, 20] at (1,2,2) allows the 13 predicted, [16, 20] does not.
    values = wide()
    assert verdict("agattn.tangent-dimension", WIDE, values).status is CONFIRMED
    assert verdict("agattn.tangent-dimension", WIDE, values, without={FIBERS}).status is UNDECIDED
    values[TANGENTS] = {**values[TANGENTS], S111: Tangent(10, 25, 25)}
    found = verdict("agattn.tangent-dimension", WIDE, values)
    assert found.status is REFUTED and found.computed[S111] == 25
    assert found.predicted[S111] == 24 and found.witness == "other dimensions at (1,1,1)"


def test_the_rank_where_the_source_is_singular_says_nothing_about_the_dimension():
    values = wide()
    values[TANGENTS] = {
        s: Tangent(14, t.lower, t.upper) if s.r_a < 2 else t for s, t in values[TANGENTS].items()
    }
    assert verdict("corollary-3.3", WIDE, values).computed == 13


def test_bounds_that_do_not_meet_decide_no_dimension():
    known = wide()[TANGENTS].items()
    tangents = {s: t._replace(differential_rank=min(t.differential_rank, 12)) for s, t in known}
    found = verdict("corollary-3.3", WIDE, {TANGENTS: tangents})
    assert found.status is UNDECIDED and "between 12 and 13" in found.witness


# The singular locus -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layer", "components"),
    [
        (SingleLayer(2, 1), {S112: 4}),
        (SingleLayer(2, 1, 1), {ZERO: 0}),
        (SingleLayer(3, 2, 2), {Stratum(2, 1, 3): 10}),
        (SingleLayer(4, 1, 3), {Stratum(1, 2, 3): 15}),
        (SingleLayer(3, 1, 3), {S112: 7}),
    ],
    ids=str,
)
def test_the_components_of_the_singular_locus(layer, components):
    values = {task: task.native(layer) for task in (TANGENTS, GENERIC_RANK, FIBERS, CRITICAL)}
    found = verdict("agattn.singular-locus", layer, values)
    assert found.status is CONFIRMED and found.computed == found.predicted
    assert found.computed.components == components
    [dimension] = components.values()
    data = found.as_json()["computed"]
    assert data["dimension"] == dimension
    assert data["components"] == {str(stratum): dimension for stratum in components}
    assert set(data["components"]) <= set(data["strata"])
    assert found.short == f"dimension {dimension}: closure of {next(iter(components))}"


# Outside the hypotheses -------------------------------------------------------------------------------------


def test_inapplicable_shows_the_computed_value():
    layer = SingleLayer(2, 1, 1)  # a = d' = 1
    values = {
        IDEAL: ideal(4, 3, {2: 3}, {ZERO: 6, S111: 4, S112: 4}, layer),
        FIBERS: {S111: FiberSize(1, 2), S112: FiberSize(2, 2)},
        CRITICAL: {ZERO: True, S111: True, S112: False},
        BASE_LOCUS: ZEROS,
    }
    found = verdict("corollary-A.2", layer, values)
    assert (found.status, found.hypotheses_hold, found.predicted) == (INAPPLICABLE, False, None)
    assert found.computed == {"generic": 2, "largest": 2} and found.evidence is Evidence.PROVED
    assert "it assumes a > 1 or d' > 1" in found.witness
    found = verdict("theorem-3.4.singular", layer, values)
    assert (found.status, found.computed) == (INAPPLICABLE, (ZERO,))
    assert "This reads the theorem" not in found.witness  # no reading makes it about this layer
    # Theorem 3.2, the degree and the corrected statement speak about this layer too.
    for claim in ("theorem-3.2", "agattn.degree", "agattn.singular-locus"):
        assert verdict(claim, layer, values).status is CONFIRMED


def test_inapplicable_without_a_value():
    found = verdict("lemma-A.3", SingleLayer(2, 1, t=1), {}, without={CRITICAL})
    assert (found.status, found.computed, found.evidence) == (INAPPLICABLE, None, None)
    assert "t ≥ 2" in found.witness and "the engine timed out" in found.witness


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c != "lemma-3.1"])
def test_one_token_is_never_judged(claim):
    layer = SingleLayer(2, 1, t=1)
    found = verdict(claim, layer, {GENERIC_RANK: 4, IDEAL: ideal(4, 1, {}, {}, layer)})
    assert found.status is INAPPLICABLE and "t ≥ 2" in found.witness
    if claim == "proposition-A.5":
        assert found.computed is None and "one cubic form" in PRODUCTS.infeasible(layer)
    if claim == "corollary-3.3":
        assert found.computed == 4


LEMMA = [SingleLayer(d, 1, a, t) for d in (1, 2, 3, 5) for a in range(1, d + 1) for t in (1, 2)]


@pytest.mark.parametrize("layer", LEMMA, ids=lambda x: f"d={x.d} a={x.a} t={x.t}")
def test_factorizations_have_fibers_like_the_group(layer):
    # About K and Q alone, it needs no second token.
    found = verdict("lemma-3.1", layer, {})
    a, d = layer.a, layer.d
    assert (found.status, found.evidence) == (CONFIRMED, Evidence.PROVED)
    assert found.computed == found.predicted == {"fiber": a * a, "image": 2 * a * d - a * a}
    assert (
        "by argument, C exists and is unique" in found.witness and "by computer, the" in found.witness.lower()
    )


@pytest.mark.parametrize(
    "layer", [SingleLayer(1, 1, 2), SingleLayer(2, 3, 5), SingleLayer(2, 1, 3, 1)], ids=str
)
def test_more_rows_than_columns_are_not_what_the_lemma_is_about(layer):
    found = verdict("lemma-3.1", layer, {})
    assert (found.status, found.hypotheses_hold, found.predicted) == (INAPPLICABLE, False, None)
    assert (found.computed, found.evidence) == (None, None)
    assert "it assumes a ≤ d" in found.witness and f"a = {layer.a} > d = {layer.d}" in found.witness


@pytest.mark.parametrize(("d", "d_out", "dimension", "degree"), [
    (2, 1, 4, 3), (2, 2, 5, 12), (2, 3, 6, 30), (3, 1, 7, 45), (3, 2, 8, 315),
])  # fmt: skip
@pytest.mark.parametrize("a", [1, 2])
def test_the_closure_of_the_singular_points(d, d_out, dimension, degree, a):
    values = {RANK_ONE_LOCUS: Cone(dimension, degree)}
    found = verdict("agattn.rank-one-locus", SingleLayer(d, d_out, a), values)
    assert found.status is CONFIRMED
    assert plain(found.computed) == plain(found.predicted) == {"dimension": dimension, "degree": degree}


# Contradictions ---------------------------------------------------------------------------------------------

CONTRADICTIONS = {
    "degree": ("agattn.degree", {**TRUE, IDEAL: TRUE[IDEAL].replace(degree=5)},
               "is 5, by intersection theory 4"),
    "dimension": ("corollary-3.3", {**TRUE, IDEAL: TRUE[IDEAL].replace(dimension=4)},
                  "dimension is 4, .* say 5"),
    "tangent space too small": (
        "theorem-3.4.singular",
        {**TRUE, IDEAL: TRUE[IDEAL].replace(tangent_dimension={ZERO: 6, S111: 5, S112: 6, S122: 5})},
        "dimension 5, but curves and equations say from 6 to 6",
    ),
    "singular where the fiber is one reduced point": (
        "agattn.singular-locus",
        {**TRUE, IDEAL: TRUE[IDEAL].replace(tangent_dimension={ZERO: 6, S111: 6, S112: 6, S122: 6})},
        r"at \(1,2,2\): the fiber is one reduced point, .* dimension 5, but other .* say from 6 to 6$",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "values", "message"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_contradictions_are_errors_that_show_both(claim, values, message):
    with pytest.raises(DisagreementError, match=message):
        verdict(claim, values=values)


# The list of claims -----------------------------------------------------------------------------------------


def test_the_boundary_is_named_with_what_reaches_it():
    assert "(1,1,1) is reached by " in verdict("theorem-3.4.boundary").witness
    linear = _judge_boundary(SingleLayer(1, 2), findings({}))
    assert linear.witness == "M is a linear space, closed in itself, and has no boundary"


def test_without_fibers_the_degree_says_what_is_missing():
    found = verdict("agattn.degree", without=[IDEAL, FIBERS])
    assert found.status is Status.UNDECIDED and "the engine timed out" in found.witness
    assert "says nothing" not in found.witness


@pytest.mark.parametrize(
    ("upper", "gradients", "reason"),
    [
        (5, False, "the tangent space has dimension 5, by bounds from both sides that meet"),
        (6, True, "the gradients of the ideal leave a tangent space of dimension 5"),
    ],
)
def test_a_tangent_space_is_known_for_one_reason(upper, gradients, reason):
    """That of the open stratum of M(2,1,2), of dimension 5: by its bounds, or by equations."""
    known = {TANGENTS: {S122: Tangent(5, 5, upper)}} | ({IDEAL: TRUE[IDEAL]} if gradients else {})
    found = _facts(LAYER, S122, 5, findings(known, [IDEAL] * (not gradients)))
    assert (found.singular, found.reason) == (False, reason)


def test_what_section_3_2_says_of_one_dimensional_tokens():
    """Its claims assume d ≥ 2 here; without this, those that fail are those about a linear space."""
    line = SingleLayer(1, 2)

    def holds(claim):
        native = [task for task in claim.tasks if task.native]
        found = {task: Finding(task.native(line), Evidence.PROVED, ("native",), (), 0) for task in native}
        return claim.judge(line, Findings(found, {})).holds

    section = [claim for claim in CLAIMS.values() if claim.hypotheses == SECTION_3_2]
    assert all(claim.failing_hypotheses(line) == ["d ≥ 2"] for claim in section)
    true = "theorem-3.4.closed", "corollary-A.1", "corollary-A.2", "proposition-A.5", "corollary-A.6"
    false = "theorem-3.4.boundary", "theorem-3.4.singular", "lemma-A.3", "corollary-A.4"
    expected = dict.fromkeys(true, True) | dict.fromkeys(false, False)
    assert {claim.id: holds(claim) for claim in section} == expected
