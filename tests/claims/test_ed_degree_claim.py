"""The claim on the number of critical points, and what would refute it."""

import pytest

from agattn.architectures import SingleLayer
from agattn.claims import LAYER_CLAIMS
from agattn.claims import ideal as module
from agattn.claims.claim import Finding, Findings
from agattn.claims.ideal import NUMBERS, THEOREM, EDDegrees
from agattn.errors import UndecidedError
from agattn.evidence import Evidence, Status
from agattn.geometry.critical_points.loss import loss
from agattn.limits import limited

CLAIM = LAYER_CLAIMS["agattn.learning-degree"]


def verdict(layer, value=None):
    """By the theorems, and by counting where a value is given."""
    task, value = (THEOREM, THEOREM.native(layer)) if value is None else (NUMBERS, value)
    finding = Finding(value, Evidence.PROVED, ("native",), task.sources(), 0.0)
    return CLAIM.verdict(layer, Findings({task: finding}, {}))


@pytest.mark.parametrize(("a", "expected"), [(1, (10, 2)), (2, (14, 4)), (5, (14, 4))])
@pytest.mark.parametrize("seed", [0, 7])
def test_random_losses_have_the_numbers_of_general_ones(a, expected, seed):
    layer = SingleLayer(2, 1, a)
    with limited(seed=seed):
        found = verdict(layer, NUMBERS.native(layer))
    assert (found.status, tuple(found.computed)) == (Status.CONFIRMED, expected)


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (SingleLayer(4, 1), (35964, 40)),
        (SingleLayer(3, 1, 2), (7965, None)),
        (SingleLayer(2, 3), (92, None)),
        (SingleLayer(3, 2, 2), (143802, None)),
        (SingleLayer(1, 4), (1, None)),
    ],
    ids=str,
)
def test_elsewhere_the_numbers_are_those_of_the_theorems_and_not_checked(layer, expected):
    """An integral is not compared with itself: the verdict says that nothing was counted."""
    assert NUMBERS.infeasible(layer)
    found = verdict(layer)
    assert [source.found_by for source in found.sources] == ["theorem"]
    assert found.strength == "proved in part" and found.scope.startswith("nowhere by counting")
    assert (found.status, found.evidence) == (Status.CONFIRMED, Evidence.PROVED)
    assert tuple(found.computed) == expected
    assert found.details["theorems"][0] == "critical-points.general-data" in found.witness
    assert ("critical-points.bombieri-weyl" in found.witness) == (expected[1] is not None)


def test_other_numbers_refute_it():
    for value in (EDDegrees(18, 4), EDDegrees(14, 6)):
        assert verdict(SingleLayer(2, 1), value).status is Status.REFUTED


def test_a_special_random_loss_decides_nothing(monkeypatch):
    """Of a distance to a function of the layer fewer critical points are left, where that value is 0."""
    special = loss(SingleLayer(2, 1), "bombieri-weyl", target=[2, -1, 1, -1, 1, 1])
    monkeypatch.setattr(module, "loss", lambda *_, **__: special)
    words = r"seed 5 \(bombieri-weyl\) is special|seed 5 \(generic\) is special"
    with pytest.raises(UndecidedError, match=words), limited(seed=5):
        NUMBERS.native(SingleLayer(2, 1))


def test_sums_that_take_long_are_left():
    assert "take long" in THEOREM.infeasible(SingleLayer(8, 3))
    found = CLAIM.verdict(SingleLayer(8, 3), Findings({}, {THEOREM: "take long"}))
    assert (found.status, found.predicted) == (Status.UNDECIDED, None)


@pytest.mark.parametrize("layer", [SingleLayer(2, 4), SingleLayer(2, 1, t=1)], ids=str)
def test_elsewhere_it_says_nothing(layer):
    assert CLAIM.verdict(layer, Findings({}, {})).status is Status.INAPPLICABLE
    assert not CLAIM.needed(layer) and NUMBERS.infeasible(layer)
