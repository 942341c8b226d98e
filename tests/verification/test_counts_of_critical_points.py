"""Numbers of critical points by theorems and by elimination, and engines that are compared with both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from transcripts import sealed

from agattn import SingleLayer
from agattn.engines.run import run
from agattn.engines.transcript import read
from agattn.errors import DisagreementError, EngineNotFoundError, InputError, TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.critical_points.counts import (
    BOMBIERI_WEYL,
    GENERAL_DATA,
    SINGULAR_STRATA,
    CriticalPoints,
    CriticalSet,
    generic_ed_degree,
)
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.strata.strata import Stratum, open_stratum
from agattn.systems.consistency import check_answer
from agattn.verification import critical_points as room
from agattn.verification.critical_points import critical_points

LAYER = SingleLayer(2, 1)


@pytest.fixture
def no_engine(monkeypatch):
    """Any use of an engine fails."""

    def nowhere(*_):
        raise EngineNotFoundError("none")

    monkeypatch.setattr(room, "locate", nowhere)


@pytest.mark.parametrize("engine", ["auto", "native"])
@pytest.mark.parametrize(
    ("sizes", "metric", "number", "theorem"),
    [
        ((4, 1), "generic", 35964, GENERAL_DATA),
        ((4, 1), "bombieri-weyl", 40, BOMBIERI_WEYL),
        ((2, 1, 1), "bombieri-weyl", 2, BOMBIERI_WEYL),
        ((3, 2, 2), "generic", 143802, GENERAL_DATA),
        ((2, 3), "generic", 92, GENERAL_DATA),
        ((1, 5), "generic", 1, GENERAL_DATA),
    ],
    ids=str,
)
def test_theorems_answer_without_an_engine(no_engine, engine, sizes, metric, number, theorem):
    found = critical_points(SingleLayer(*sizes), metric, engine=engine)
    assert (found.regular, found.evidence, found.theorem) == (number, Evidence.PROVED, theorem)
    assert (found.method, found.fields, found.engine) == ("theorem", (), "native")
    document = found.as_json()
    assert (document["regular"], document["evidence"], document["theorem"]) == (number, "proved", theorem)
    assert {row["theorem"] for row in document["strata"]} <= {SINGULAR_STRATA}
    assert {row["evidence"] for row in document["strata"]} <= {"proved"}


def test_what_no_theorem_covers_is_left_out(no_engine):
    found = critical_points(SingleLayer(4, 1, 3))
    assert [str(s) for s in found.strata] == ["(1,1,1)", "(1,1,2)", "(1,2,3)"]
    assert found.left_out == (Stratum(1, 2, 2),) and "(1,2,2)" in found.how_known[1]
    assert not critical_points(SingleLayer(4, 1, 3), smooth=True).strata
    for sizes, metric in (((3, 1), "gaussian"), ((2, 2), "bombieri-weyl"), ((2, 4), "generic")):
        with pytest.raises(InputError, match=r"natively nothing is proved .* name an engine"):
            critical_points(SingleLayer(*sizes), metric, engine="native")
    with pytest.raises(InputError, match="natively nothing is proved"):  # for a target, and it may be special
        critical_points(SingleLayer(3, 1), "bombieri-weyl", target=[1] * 18, engine="native")
    with pytest.raises(TooLargeError, match="Use force=True"):
        critical_points(SingleLayer(12, 3))


def test_given_losses_are_eliminated(no_engine):
    """For d = 2 and d' = 1; 3 samples are not enough for the theorem, and a target may be special."""
    three = critical_points(LAYER, samples=3)
    assert (three.regular, three.method, three.theorem, three.evidence) == (
        14, "elimination", None, Evidence.PROVED,
    )  # fmt: skip
    assert critical_points(LAYER, samples=5).theorem == GENERAL_DATA
    for metric, numbers in (("gaussian", [6, 6, 6]), ("coefficients", [6, 6, 2])):
        found = critical_points(LAYER, metric, engine="native")
        assert [part.count for part in found.found.values()] == numbers
    itself = critical_points(LAYER, "bombieri-weyl", target=[5, 22, 21, 10, 34, 28])
    assert (itself.regular, itself.theorem) == (4, None)
    with pytest.raises(InputError, match="natively nothing"):  # curves of critical points
        critical_points(LAYER, samples=2, engine="native")


def test_an_engine_that_is_named_is_compared_with_theorems(singular, monkeypatch):
    monkeypatch.setenv("AGATTN_SINGULAR", str(singular.path))
    found = critical_points(SingleLayer(2, 2), engine="singular")
    assert (found.regular, found.theorem, found.method) == (68, GENERAL_DATA, "weights")
    assert {found.evidence, *(part.evidence for part in found.parts)} == {Evidence.MODULAR}
    assert "modular" in found.how_known[0] and GENERAL_DATA in found.how_known[1]
    eliminated = critical_points(LAYER, "gaussian", engine="singular")
    assert (eliminated.regular, eliminated.evidence, eliminated.theorem) == (6, Evidence.PROVED, None)
    unknown = critical_points(SingleLayer(2, 2), "gaussian", engine="singular")
    assert (unknown.regular, unknown.evidence, unknown.theorem) == (52, Evidence.MODULAR, None)


@pytest.mark.parametrize(
    ("sizes", "metric", "words"),
    [
        ((2, 2), "generic", f"68 are proved for general losses, by theorem {GENERAL_DATA}"),
        ((3, 1), "bombieri-weyl", f"13 are proved for general losses, by theorem {BOMBIERI_WEYL}"),
        ((2, 1), "gaussian", "6 are proved for this loss, by elimination"),
    ],
)
def test_a_lie_told_alike_over_two_primes_is_refused(singular, monkeypatch, sizes, metric, words):
    """What is proved wins, whatever the engine says, and though it says so over two primes."""
    layer = SingleLayer(*sizes)
    truth = critical_points(layer, metric)

    def lying(given, installation, **_):
        found = {s: CriticalSet(0, part.degree - 1) for s, part in truth.found.items()}
        return truth.replace(
            loss=given, found=found, fields=(32003, 32009), engine="singular", method="weights", proofs={}
        )

    monkeypatch.setattr(room, "count_critical_points", lying)
    with pytest.raises(DisagreementError, match=re.escape(words)):
        critical_points(layer, metric, engine="singular")


@pytest.mark.parametrize(
    ("sizes", "old", "new", "words"),
    [
        ((2, 2), "degree@1 32", "degree@1 31", "there are 31 critical points on (2,2,2) of M(2,2,2), modulo"),
        ((2, 2), "degree@3 8", "degree@3 7", "an even number is proved for general losses. The engine is"),
        ((3, 1, 1), "dimension@1 0", "dimension@1 1",
         "critical points of dimension 1 and degree 25 on (1,1,2)"),
        ((3, 1, 1), "dimension@2 0", "dimension@2 1", "finitely many are proved for general losses"),
        ((3, 1, 1), "degree@2 13", "degree@2 12", "an odd number is proved for general losses"),
    ],
)  # fmt: skip
def test_what_no_general_loss_has_is_refused(singular, monkeypatch, sizes, old, new, words):
    """An engine that says a wrong number over both primes."""
    monkeypatch.setenv("AGATTN_SINGULAR", str(singular.path))
    told = []

    def lying(problem, installation):
        done = run(problem, installation)
        text = sealed(done.transcript.replace(f"integer {old}\n", f"integer {new}\n"))
        told.append(text != done.transcript)
        answer = read(text, problem)
        check_answer(answer)
        return done.replace(answer=answer)

    monkeypatch.setattr(room, "run", lying)
    with pytest.raises(DisagreementError, match=re.escape(words)):
        critical_points(SingleLayer(*sizes), "bombieri-weyl", engine="singular")
    assert told == [True, True]


def test_equations_see_special_points_where_chosen_gradients_are_dependent(singular):
    """One of the 23 points has rk A = 1; on charts of the weights, without a change of basis, are 23, too."""
    target = [1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1]
    for method in ("weights", "equations"):
        found = critical_points(
            SingleLayer(2, 2), "bombieri-weyl", target=target, method=method, engine="singular", smooth=True
        )
        assert (found.regular, found.dimension) == (23, 0)


def test_a_given_target_may_be_special(singular, monkeypatch):
    """The distance to 0, which a definite form is, has no critical points but 0 itself, or a cone of them."""
    monkeypatch.setenv("AGATTN_SINGULAR", str(singular.path))
    found = critical_points(
        SingleLayer(2, 2), "bombieri-weyl", target=[0] * 12, engine="singular", smooth=True
    )
    assert found.dimension > 0


@pytest.mark.parametrize(
    ("sizes", "fields", "method", "exact", "proved"),
    [
        ((2, 1), (0,), "equations", True, True),  # one equation, over ℚ
        ((2, 1), (32003, 0), "equations", True, True),
        ((2, 1), (0,), "equations", False, False),
        ((2, 1), (32003,), "equations", True, False),
        ((2, 1), (1,), "equations", True, False),
        ((2, 1), (0,), "weights", True, False),
        ((2, 2), (0,), "equations", True, False),  # several equations
        ((3, 1), (0,), "equations", True, False),
        ((2, 2), (32003,), "weights", False, False),
        ((2, 2), (32003,), "elimination", False, True),
    ],
)
def test_engines_prove_a_number_only_over_q_and_by_one_equation(sizes, fields, method, exact, proved):
    layer = SingleLayer(*sizes)
    found = {open_stratum(layer): CriticalSet(0, 6)}
    counted = CriticalPoints(loss(layer, "gaussian"), found, fields, "an engine", method, exact=exact)
    assert counted.evidence is (Evidence.PROVED if proved else Evidence.MODULAR)


def test_a_theorem_on_general_losses_proves_no_count_for_one_loss():
    """An engine that counts as many is believed as an engine: the loss may be a special one."""
    layer = SingleLayer(2, 2)
    known = open_stratum(layer)
    found, proofs = {known: CriticalSet(0, 68)}, {known: GENERAL_DATA}
    counted = CriticalPoints(loss(layer), found, (32003, 32009), "an engine", "weights", proofs=proofs)
    assert (counted.evidence, counted.theorem) == (Evidence.MODULAR, GENERAL_DATA)
    assert counted.as_json()["evidence"] == "modular" and str(counted).endswith("(modular)")
    assert GENERAL_DATA in counted.how_known[1]


def test_ids_of_theorems_are_labels_of_the_pages():
    pages = "".join(path.read_text() for path in (Path(room.__file__).parents[2] / "docs").rglob("*.md"))
    for theorem in (GENERAL_DATA, SINGULAR_STRATA, BOMBIERI_WEYL):
        assert pages.count(f"\n({theorem})=\n") == 1


def test_numbers_are_computed_in_the_run(monkeypatch, no_engine):
    """By the localization formula: with another sum there is another number."""
    from agattn.geometry.critical_points import counts

    generic_ed_degree.cache_clear()
    monkeypatch.setattr(counts, "_integral", lambda points: sum(1 for _ in points()))
    assert critical_points(SingleLayer(4, 1), smooth=True).regular == 16 * 4
    generic_ed_degree.cache_clear()
