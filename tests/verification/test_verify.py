"""From an architecture to verdicts, through the real engines."""

import threading
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import agattn
from agattn.architectures import DeepNetwork, SingleLayer
from agattn.claims import LAYER_CLAIMS as CLAIMS
from agattn.claims import NETWORK_CLAIMS
from agattn.claims.claim import Finding, Outcome
from agattn.errors import EngineNotFoundError, TooLargeError, UndecidedError
from agattn.evidence import Evidence, Status, plain
from agattn.limits import limits
from agattn.systems.layer_tasks import GENERIC_RANK
from agattn.verification.strata_table import strata_table
from agattn.verification.verify import _Work, verify

PACKAGE = Path(agattn.__file__).parent

CONFIRMED, INAPPLICABLE = Status.CONFIRMED, Status.INAPPLICABLE

# Dimension, degree, minimal generators by degree.
KNOWN = {
    SingleLayer(2, 1): (5, 4, {"4": 1}),
    SingleLayer(2, 1, 1): (4, 3, {"2": 3}),
    SingleLayer(2, 2, 1): (6, 20, {"2": 15, "4": 5}),
    SingleLayer(2, 2): (7, 20, {"2": 5, "4": 10}),
    SingleLayer(3, 1, 1): (7, 45, {"2": 45, "3": 10}),
}
WIDER = {
    SingleLayer(2, 3, 1): (8, 42, {"2": 36, "3": 4, "4": 30}),
    SingleLayer(2, 3): (9, 56, {"2": 15, "3": 4, "4": 45}),
    SingleLayer(3, 1): (11, 45, {"3": 20, "4": 90}),
}
TANGENTS = {
    SingleLayer(2, 2): {"(0,0,0)": 12, "(1,1,1)": 9, "(1,1,2)": 9, "(1,2,2)": 7, "(2,1,2)": 7, "(2,2,2)": 7},
    SingleLayer(3, 1): {
        "(0,0,0)": 18, "(1,1,1)": 18, "(1,1,2)": 15, "(1,2,2)": 11, "(1,2,3)": 11, "(1,3,3)": 11,
    },
    SingleLayer(3, 2, 2): {
        "(0,0,0)": 36, "(1,1,1)": 24, "(1,1,2)": 20, "(1,2,2)": 13, "(1,2,3)": 13, "(2,1,2)": 14,
        "(2,1,3)": 14, "(2,2,2)": 13, "(2,2,3)": 13,
    },
}  # fmt: skip


def by_id(report):
    return {verdict.claim: verdict for verdict in report.verdicts}


def check_known(report, dimension, degree, generators):
    found = by_id(report)
    assert found["corollary-3.3"].computed == dimension
    assert found["agattn.degree"].computed == degree
    assert plain(found["agattn.degree"].details["generators_by_degree"]) == generators
    assert report.exit_status == 0 and report.troubles == ()
    for verdict in report.verdicts:
        assert verdict.status is (CONFIRMED if verdict.hypotheses_hold else INAPPLICABLE), str(verdict)
        left_to_engines = verdict.claim == "agattn.learning-degree" and not verdict.hypotheses_hold
        assert verdict.evidence is (None if left_to_engines else Evidence.PROVED)


@pytest.mark.slow
@pytest.mark.engine
def test_the_main_example_by_all_engines(both_engines, msolve_installation):
    report = verify(SingleLayer(2, 1), engine="all")
    check_known(report, 5, 4, {"4": 1})
    singular = by_id(report)["theorem-3.4.singular"]
    assert singular.status is CONFIRMED and singular.evidence is Evidence.PROVED
    three = [*map(str, both_engines), str(msolve_installation)]
    assert singular.engine == ", ".join([*three, "native"])
    assert by_id(report)["lemma-A.3"].engine == ", ".join(map(str, both_engines))
    assert plain(singular.computed) == ["(0,0,0)", "(1,1,1)", "(1,1,2)"]
    # Every question was put to all engines that can answer it once, however many claims ask it.
    tasks = [(run.problem.task, run.installation.engine.name) for run in report.runs]
    assert len(tasks) == len(set(tasks)) == 13
    assert {task for task, name in tasks if name == "msolve"} == {"implicit-ideal"}


@pytest.mark.parametrize(
    ("layer", "values"), KNOWN.items(), ids=lambda x: str(x) if isinstance(x, SingleLayer) else ""
)
def test_known_values(singular, monkeypatch, layer, values):
    monkeypatch.setenv("AGATTN_SINGULAR", str(singular.path))
    report = verify(layer, engine="singular")
    check_known(report, *values)
    assert {run.installation.path for run in report.runs} == {singular.path}


@pytest.mark.slow
@pytest.mark.parametrize("layer", [SingleLayer(2, 2)], ids=str)
def test_known_values_by_every_macaulay2(macaulay2, monkeypatch, layer):
    monkeypatch.setenv("AGATTN_M2", str(macaulay2.path))
    check_known(verify(layer, engine="macaulay2"), *KNOWN[layer])


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize(
    ("layer", "values"), WIDER.items(), ids=lambda x: str(x) if isinstance(x, SingleLayer) else ""
)
def test_wider_known_values_by_both_engines(both_engines, layer, values):
    # Macaulay2 takes longest for M(3,1), by the same scripts as for the other two; its dimension and degree
    # by Macaulay2 are compared in tests/test_macaulay_scripts.py.
    engine = "singular" if layer.d == 3 else "all"
    report = verify(layer, engine=engine, timeout=240)
    check_known(report, *values)
    if layer in TANGENTS:
        assert plain(by_id(report)["agattn.singular-locus"].details["tangent_dimension"]) == TANGENTS[layer]


def test_tangent_dimensions(singular):
    layer = SingleLayer(2, 2)
    found = by_id(verify(layer, ["agattn.singular-locus"], "singular"))
    assert plain(found["agattn.singular-locus"].details["tangent_dimension"]) == TANGENTS[layer]


@pytest.mark.slow
def test_the_theorem_is_refuted_where_it_fails(singular, monkeypatch):
    monkeypatch.setenv("AGATTN_SINGULAR", str(singular.path))
    report = verify(SingleLayer(3, 2, 2), engine="singular")
    found = by_id(report)
    assert report.exit_status == 1
    refuted = {claim for claim, verdict in found.items() if verdict.status is Status.REFUTED}
    assert refuted == {"theorem-3.4.singular", "corollary-A.4"}
    small = {"agattn.hilbert-function"}  # which speaks about d = 2
    assert all(found[c].status is CONFIRMED for c in found.keys() - refuted - small)
    assert all(found[c].status is Status.INAPPLICABLE for c in small)
    assert found["corollary-3.3"].computed == 13
    for claim in refuted:
        verdict = found[claim]
        assert verdict.evidence is Evidence.PROVED
        assert plain(sorted(set(verdict.computed) - set(verdict.predicted))) == ["(2,1,2)", "(2,1,3)"]
        assert "(2,1,2)" in verdict.witness and "(2,1,3)" in verdict.witness and "14 > 13" in verdict.witness
        tangents = plain(verdict.details["tangent_dimension"])
        # Curves prove the lower bounds; the source at the one reduced preimage proves the upper ones.
        assert tangents == TANGENTS[SingleLayer(3, 2, 2)]
        assert "its fiber is one reduced point, at which (A, V) have 14 tangent dimensions" in verdict.witness
    assert plain(found["agattn.tangent-dimension"].computed) == TANGENTS[SingleLayer(3, 2, 2)]
    assert found["agattn.rank-one-locus"].as_json()["computed"] == {"dimension": 8, "degree": 315}
    assert "implicit-ideal" not in {run.problem.task for run in report.runs}


@pytest.mark.slow
def test_the_theorem_is_refuted_by_macaulay2_too(macaulay2, monkeypatch):
    monkeypatch.setenv("AGATTN_M2", str(macaulay2.path))
    report = verify(SingleLayer(3, 2, 2), ["corollary-A.4", "agattn.singular-locus"], "macaulay2")
    assert [v.status for v in report.verdicts] == [Status.REFUTED, CONFIRMED]


@pytest.mark.parametrize("d_out", [1, 2])
@pytest.mark.parametrize("a", [1, 2])
def test_one_dimension(singular, d_out, a):
    report = verify(SingleLayer(1, d_out, a), engine="singular")
    found = by_id(report)
    assert report.exit_status == 0
    points = ("theorem-3.4.boundary", "theorem-3.4.singular", "lemma-A.3", "corollary-A.4", "corollary-A.6")
    for claim in points:
        assert found[claim].status is INAPPLICABLE and "d ≥ 2" in found[claim].witness
    assert found["corollary-3.3"].computed == d_out
    assert found["theorem-3.4.singular"].computed == found["theorem-3.4.boundary"].computed == ()
    assert found["theorem-3.2"].status is CONFIRMED and found["agattn.degree"].computed == 1


@pytest.mark.parametrize(
    ("layer", "dimension"),
    [(SingleLayer(2, 1, t=1), 4), (SingleLayer(2, 1, 1, 1), 4), (SingleLayer(2, 2, 1, 1), 6)],
    ids=str,
)
def test_one_token(singular, monkeypatch, layer, dimension):
    monkeypatch.setenv("AGATTN_SINGULAR", str(singular.path))
    report = verify(layer, engine="singular")
    assert report.exit_status == 0
    found = by_id(report)
    assert found.pop("lemma-3.1").status is CONFIRMED  # it is about K and Q, not about tokens
    assert {v.status for v in found.values()} == {INAPPLICABLE}
    assert found["corollary-3.3"].computed == dimension == layer.expected_dimension
    if layer.ambient_dimension <= 4:  # small enough for elimination, beside the generic rank
        assert found["corollary-3.3"].engine == f"{singular}, native"


@pytest.mark.parametrize("d", [2, 3])
def test_the_two_to_one_layer(singular, d):
    report = verify(SingleLayer(d, 1, 1), engine="singular")
    found = by_id(report)
    assert found["corollary-A.2"].status is INAPPLICABLE and found["corollary-A.2"].computed["generic"] == 2
    assert plain(found["theorem-3.4.singular"].computed) == (
        ["(0,0,0)"] if d == 2 else ["(0,0,0)", "(1,1,1)"]
    )
    for claim in ("theorem-3.2", "agattn.degree", "agattn.singular-locus"):
        assert found[claim].status is CONFIRMED


def test_tokens_beyond_two_change_nothing(singular):
    one, other = (verify(SingleLayer(2, 1, t=t), engine="singular") for t in (2, 5))
    for two, five in zip(one.verdicts, other.verdicts, strict=True):
        witness = five.witness.replace("t = 5", "")
        assert (two.status, two.computed, two.witness) == (five.status, five.computed, witness)


def test_a_chosen_finite_field_is_modular(singular):
    report = verify(SingleLayer(2, 1), engine="singular", characteristic=101)
    assert report.exit_status == 0
    for verdict in report.verdicts:
        native = verdict.engine == "native"
        assert verdict.evidence is (Evidence.PROVED if native else Evidence.MODULAR), str(verdict)
    assert {v.claim for v in report.verdicts if v.engine == "native"} == {
        "lemma-3.1",
        "proposition-A.5",
        "agattn.learning-degree",
        "agattn.hilbert-function",
        "agattn.equations",
        "agattn.learning-coefficient",
        "agattn.learning-coefficient-softmax",
    }


# One engine alone -------------------------------------------------------------------------------------------

ALL_CLAIMS = [*CLAIMS.values(), *NETWORK_CLAIMS.values()]
ALL_TASKS = list(dict.fromkeys(task for claim in ALL_CLAIMS for task in claim.tasks))


@pytest.mark.parametrize("claim", ALL_CLAIMS, ids=lambda claim: claim.id)
def test_no_claim_is_refuted_by_one_engine(fakes, monkeypatch, claim):
    """Every claim, were it to refute whenever an engine has a say, and were the native computation silent."""

    def judge(architecture, findings):
        values = [findings.get(task) for task in ALL_TASKS if task in findings.found]
        if not values:
            raise UndecidedError("nothing was found")
        return Outcome(False if "by an engine" in values else None, values, "as it says")

    def compute(work, task):
        return (
            "nothing native" if task.results else Finding("natively", Evidence.PROVED, ("native",), (), 0.0)
        )

    def ask(work, task, installation):
        if installation.engine.name == silent:
            return "no answer"
        return Finding("by an engine", Evidence.PROVED, (str(installation),), (), 0.0)

    for name in ("M2", "Singular"):
        fakes.write(name, "exit 1")
    other = next(task for c in ALL_CLAIMS for task in c.tasks if task.results and task not in claim.tasks)
    claims = [replace(c, judge=judge, hypotheses=(), predict=lambda _: None) for c in (claim, claim)]
    claims[1] = replace(claims[1], id="other", tasks=(*claim.tasks, other))  # asks an engine at any rate
    monkeypatch.setattr("agattn.verification.verify.claims_about", lambda *_: claims)
    monkeypatch.setattr(_Work, "_compute", compute)
    monkeypatch.setattr(_Work, "_ask", ask)
    monkeypatch.setattr(_Work, "_infeasible", lambda *_: "")
    cases = [(engine, "", 1) for engine in ("macaulay2", "singular", "auto")]
    cases += [("all", "macaulay2", 1), ("all", "singular", 1), ("all", "", 2)]
    for engine, silent, grounds in cases:  # noqa: B007 (ask looks at it)
        first, second = verify(SingleLayer(2, 1), engine=engine).verdicts
        asked = any(task.results for task in claim.tasks)
        assert first.status is (Status.REFUTED if asked and grounds == 2 else Status.UNDECIDED), engine
        assert second.status is (Status.REFUTED if grounds == 2 else Status.UNDECIDED), engine
        if grounds == 1:
            assert "one engine alone refutes nothing" in second.witness


def test_an_engine_and_the_native_computation_refute_together(fakes, monkeypatch):
    """Also where the native computation does so in part."""
    task = next(task for task in CLAIMS["theorem-3.2"].tasks if task.results)

    def judge(architecture, findings):
        return Outcome(False, findings.need(task), "", details={"scope": "at one point"})

    fakes.write("Singular", "exit 1")
    claim = replace(CLAIMS["theorem-3.2"], judge=judge)
    value = dict.fromkeys(["one"], 1)
    monkeypatch.setattr("agattn.verification.verify.claims_about", lambda *_: [claim])
    monkeypatch.setattr(_Work, "_compute", lambda *_: Finding(value, Evidence.PROVED, ("native",), (), 0.0))
    monkeypatch.setattr(
        _Work, "_ask", lambda work, task, one: Finding(value, Evidence.PROVED, (str(one),), (), 0.0)
    )
    (verdict,) = verify(SingleLayer(2, 1), engine="singular").verdicts
    assert verdict.status is Status.REFUTED


# Without any engine -----------------------------------------------------------------------------------------


@cache
def natively(layer):
    return verify(layer, engine="native")


NATIVE = [SingleLayer(d, d_out, a) for d in (1, 2, 3, 4) for d_out in (1, 2, 3) for a in range(1, d + 1)]


# The widest ones see what the others see, and take most of the time.
@pytest.mark.parametrize(
    "layer", [pytest.param(x, marks=[pytest.mark.slow] * (x.d == 4)) for x in NATIVE], ids=str
)
def test_natively_every_claim_is_decided(fakes, layer):
    report = natively(layer)
    assert report.runs == () and report.troubles == ()
    wrong = {"theorem-3.4.singular", "corollary-A.4"}
    false = 2 <= layer.a < layer.d and (layer.a, layer.d_out) != (2, 1)
    assert report.exit_status == (1 if false else 0)
    for verdict in report.verdicts:
        if not verdict.hypotheses_hold:
            assert verdict.status is INAPPLICABLE and verdict.engine in ("native", "none")
        else:
            assert (verdict.engine, verdict.evidence) == ("native", Evidence.PROVED), str(verdict)
            refuted = false and verdict.claim in wrong
            assert verdict.status is (Status.REFUTED if refuted else CONFIRMED), str(verdict)
    found = by_id(report)
    assert found["corollary-3.3"].computed == layer.expected_dimension
    if layer in TANGENTS:
        assert plain(found["agattn.tangent-dimension"].computed) == TANGENTS[layer]
    if layer in KNOWN | WIDER:
        dimension, degree, _ = (KNOWN | WIDER)[layer]
        assert (found["corollary-3.3"].computed, found["agattn.degree"].computed) == (dimension, degree)
        # Only elimination knows generators, so none are claimed.
        assert "generators_by_degree" not in found["agattn.degree"].details


@pytest.mark.parametrize(("d", "d_out", "dimension", "degree"), [
    (2, 1, 4, 3), (2, 2, 5, 12), (2, 3, 6, 30), (3, 1, 7, 45), (3, 2, 8, 315),
])  # fmt: skip
def test_the_closure_of_the_singular_points_natively(d, d_out, dimension, degree):
    for a in range(1, d + 1):
        report = verify(SingleLayer(d, d_out, a), ["agattn.rank-one-locus"], "native")
        (verdict,) = report.verdicts
        assert verdict.status is CONFIRMED and verdict.engine == "native"
        assert plain(verdict.computed) == {"dimension": dimension, "degree": degree}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_alone_is_judged_as_among_all(fakes, claim):
    # A claim must ask for all that its judge looks at, and not live on what others ask.
    for layer in (SingleLayer(2, 1), SingleLayer(3, 2, 2), SingleLayer(2, 1, t=1)):
        (alone,) = verify(layer, [claim], "native").verdicts
        among = by_id(natively(layer))[claim]
        assert (alone.status, alone.computed, alone.witness) == (among.status, among.computed, among.witness)


def test_no_thread_is_left_behind(monkeypatch):
    """A process that forks right after a verdict holds no lock of a thread that is about to end."""
    begun = []

    class Slow(threading.Thread):
        def run(self):
            begun.append(self)
            super().run()
            time.sleep(0.1)

    monkeypatch.setattr("agattn.verification.verify.threading.Thread", Slow)
    verify(SingleLayer(2, 1, 1), engine="native")
    assert begun and not any(thread.is_alive() for thread in begun)


def test_the_seed_reaches_the_native_computation(monkeypatch):
    seeds = []

    def rank(layer):
        seeds.append(limits().seed)
        return 5

    monkeypatch.setitem(vars(GENERIC_RANK), "native", rank)
    report = verify(SingleLayer(2, 1), ["corollary-3.3"], "native", seed=23)
    assert seeds == [23] and report.verdicts[0].computed == 5


@pytest.mark.slow
def test_auto_asks_an_engine_only_about_what_is_left_open(macaulay2, monkeypatch):
    monkeypatch.setenv("AGATTN_M2", str(macaulay2.path))
    assert verify(SingleLayer(2, 1)).runs == ()
    report = verify(DeepNetwork((2, 2, 1), (2, 2), t=3), ["theorem-3.7", "agattn.network-dimension"])
    assert [run.problem.task for run in report.runs] == ["virtual-fiber"]
    whole, dimension = report.verdicts
    assert whole.computed["other_components"] == 0 and str(macaulay2) in whole.engine
    assert dimension.engine == "native" and dimension.status is CONFIRMED


def test_sources_say_who_found_and_who_checked(singular, monkeypatch):
    monkeypatch.setenv("AGATTN_SINGULAR", str(singular.path))
    report = verify(SingleLayer(3, 2, 2), ["agattn.tangent-dimension"], "singular")
    [verdict] = report.verdicts
    given = [s for s in verdict.sources if s.part == "equations that bound tangent spaces"]
    assert [(s.found_by, s.checked_by) for s in given] == [("native", str(singular))]
    assert {"part": given[0].part, "found_by": "native", "checked_by": str(singular)} in (
        verdict.as_json()["sources"]
    )
    assert f"Found natively, checked by {singular}" in report.found_by
    [native] = verify(SingleLayer(3, 2, 2), ["agattn.tangent-dimension"]).verdicts
    assert {(s.found_by, s.checked_by) for s in native.sources} == {("native", "")}


def test_tasks_are_done_once(fakes):
    done = []
    verify(SingleLayer(2, 1), engine="native", progress=done.append)
    assert len(done) == len(set(done)) == 13 and all(line.startswith("native: ") for line in done)


def test_missing_engines(fakes):
    for engine in ("macaulay2", "singular", "all"):
        with pytest.raises(EngineNotFoundError):
            verify(SingleLayer(2, 1), engine=engine)
    report = verify(SingleLayer(2, 1), ["lemma-A.3", "corollary-A.1"])
    assert report.exit_status == 0 and report.troubles == ()
    for verdict in report.verdicts:
        assert verdict.status is CONFIRMED and verdict.evidence is Evidence.PROVED
        assert verdict.engine == "native"


def test_strata_beyond_the_limits_are_shown_if_forced(monkeypatch):
    def refuse(layer):
        raise TooLargeError("too large")

    monkeypatch.setattr("agattn.verification.strata_table.check_size", refuse)
    with pytest.raises(TooLargeError):
        strata_table(SingleLayer(2, 1))
    table = strata_table(SingleLayer(2, 1), force=True)
    assert (len(table.rows), table.dimension, table.ambient) == (4, 5, 6)
    assert table.outside is not None and table.outside.dimension == 4


def test_the_table_of_strata_on_a_screen():
    shown = [" ".join(line.split()) for line in str(strata_table(SingleLayer(2, 1))).splitlines()]
    assert shown[2] == "stratum dim fiber critical dim T singular HMK boundary near it"
    assert shown[4:8] == [
        "(0,0,0) 0 - yes 6 yes yes yes cone",
        "(1,1,1) 3 1 (×2) yes 6 yes yes yes pinch",
        "(1,1,2) 4 2 no 6 yes yes no crossing",
        "(1,2,2) 5 1 no 5 no no no smooth",
    ]
    assert (
        shown[-1].startswith("Not in M, but in its real Zariski closure: h ⊗ q ⊗ Q") and "dim 4." in shown[-1]
    )
    wide = strata_table(SingleLayer(3, 2, 2))
    assert [str(row.stratum) for row in wide.rows if row.words()[6] == "no !"] == ["(2,1,2)", "(2,1,3)"]
    assert str(wide).splitlines()[-1].startswith("! HMK, Theorem 3.4 in version 2 has only the points")
