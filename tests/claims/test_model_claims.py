"""What is claimed about networks of any layers, polynomial maps, and architectures that a user wrote."""

from types import SimpleNamespace

import pytest

import agattn as ag
from agattn.claims import MODEL_CLAIMS, claims_about, models
from agattn.claims.claim import Finding, Findings
from agattn.evidence import Evidence, Status
from agattn.geometry.dimension.formulas import Bound

DIMENSION, SYMMETRIES = "agattn.model-dimension", "agattn.model-symmetries"
#: Clebsch: sums of five fourth powers in three variables fill 14 dimensions of 15, and not 20 − 5 = 15.
CLEBSCH = ag.Network([ag.Perceptron([5, 1], degree=4)], dim=3)
#: Quadrics of rank at most 2 in three variables: 5 dimensions; scaling two neurons leaves 8 − 2 = 6.
QUADRICS = ag.Network([ag.Perceptron([2, 1], degree=2)], dim=3)
TENSORS = ag.PolynomialMap(lambda a, b: [[a[i] * b[j] for j in range(2)] for i in range(3)], {"a": 3, "b": 2})
CUBIC = ag.PolynomialMap(
    lambda s: [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3], {"s": 2}, name="cubic"
)
SOFTMAX = ag.Network([ag.Attention(2, rank=1, normalization="softmax"), ag.Linear(1)], dim=2, tokens=2)


@pytest.mark.parametrize(
    ("model", "dimension", "bound", "attained"),
    [
        (CLEBSCH, 14, 15, False),
        (QUADRICS, 5, 6, False),
        (TENSORS, 4, 4, True),  # a symmetry that the map does not name is found
        (CUBIC, 2, 2, True),
        (ag.Network([ag.Linear(2), ag.Linear(3)], dim=3), 8, 8, True),  # matrices of rank at most 2
    ],
)
def test_the_dimension_and_the_bound_by_symmetries(model, dimension, bound, attained):
    report = ag.verify(model, engine="native")
    assert [*report] == [DIMENSION, SYMMETRIES] and report.exit_status == 0
    first, second = report[DIMENSION], report[SYMMETRIES]
    assert (first.status, first.strength, first.predicted, first.computed) == (
        Status.CONFIRMED, "proved", dimension, dimension,
    )  # fmt: skip
    assert (second.status, second.strength) == (Status.CONFIRMED, "proved in part")
    assert second.predicted == {"at_most": bound} and second.computed == dimension
    assert ("not attained" in second.witness) is not attained
    assert f"model-dimension dim M = {report[DIMENSION].computed}" in str(report)


def test_softmax_among_other_layers():
    report = ag.verify(SOFTMAX, engine="native")
    found = ag.dimension(SOFTMAX)
    assert report[DIMENSION].computed == found.dimension == report[DIMENSION].predicted
    assert report[SYMMETRIES].status is Status.CONFIRMED


def extent(lower, upper, bound, evidence=Evidence.MODULAR):
    """Findings of a model whose dimension lies in an interval."""
    dimension = SimpleNamespace(
        dimension=lower, lower_bound=lower, upper_bound=upper, upper_bound_reason="counted", evidence=evidence
    )
    value = models.Extent(dimension, Bound(bound, "symmetries"))
    return Findings({models.EXTENT: Finding(value, evidence, ("native",), (), 0.0)}, {})


def test_a_verdict_claims_no_more_than_its_evidence():
    verdict = MODEL_CLAIMS[DIMENSION].verdict(CUBIC, extent(3, 5, 5))
    assert (verdict.status, verdict.strength) == (Status.UNDECIDED, "modular")
    assert verdict.computed == {"observed": 3, "at_least": 3, "at_most": 5}
    assert "proves no upper" in verdict.witness
    known = MODEL_CLAIMS[SYMMETRIES].verdict(CUBIC, extent(3, 5, 5))
    assert (known.status, known.strength) == (Status.CONFIRMED, "modular in part")
    assert "not attained at any point tried" in known.witness
    for name in (DIMENSION, SYMMETRIES):  # a rank above a bound, if the code were wrong
        refuted = MODEL_CLAIMS[name].verdict(CUBIC, extent(6, 5, 5, Evidence.PROVED))
        assert (refuted.status, refuted.strength) == (Status.REFUTED, "proved")
    missing = Findings({}, {models.EXTENT: "it is too large"})
    assert MODEL_CLAIMS[DIMENSION].verdict(CUBIC, missing).witness == "it is too large"


def test_a_bound_by_symmetries_proves_the_dimension():
    report = ag.verify(TENSORS, engine="native")
    assert (report[DIMENSION].strength, report[DIMENSION].predicted) == ("proved", 4)
    assert "all linear symmetries" in report[DIMENSION].witness


def test_symmetries_are_searched_for_only_where_known_ones_do_not_explain_the_dimension(monkeypatch):
    monkeypatch.setattr(models, "linear_symmetries", lambda *_: pytest.fail("a search for nothing"))
    assert models._extent(ag.Network([ag.Linear(2), ag.Linear(3)], dim=3)).by_symmetries.value == 8


def test_a_model_of_attention_is_verified_as_what_it_is():
    head = ag.Network([ag.Attention(1, rank=2)], dim=2, tokens=2)
    report = ag.verify(head, "corollary-3.3", engine="native")
    assert report.layer == ag.SingleLayer(2, 1) and report["corollary-3.3"].computed == 5
    deep = ag.Network([ag.Attention(2, rank=2), ag.Attention(1, rank=2)], dim=2, tokens=3)
    assert ag.verify(deep, "agattn.network-dimension", engine="native").exit_status == 0


def test_an_architecture_of_another_kind_is_a_model():
    class Squares:
        """x ↦ (w·x)², written without any class of this project."""

        t, degree, ambient_dimension, symmetries = 1, 4, None, ()
        input_shape, output_shape, shapes, parameters = (2, 1), (1, 1), {"w": (1, 2)}, 2

        def evaluate(self, arithmetic, parameters, X):
            value = arithmetic.matmul(parameters["w"], X)
            return arithmetic.times(value, value)

        def as_network(self):
            return None

        def as_json(self):
            return {"function": "squares", "parameters": {"w": [1, 2]}, "inputs": [2, 1]}

        kind, options, name = "model", ("a model file", "squares"), "squares"

    assert [claim.id for claim in claims_about(Squares())] == [DIMENSION, SYMMETRIES]
    assert ag.verify(Squares(), engine="native")[DIMENSION].computed == 2
