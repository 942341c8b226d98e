"""The claim on the number of critical points, and what would refute it."""

import pytest

from agattn.architectures import SingleLayer
from agattn.claims import LAYER_CLAIMS
from agattn.claims.claim import Finding, Findings
from agattn.claims.critical_points import NUMBERS, EDDegrees
from agattn.evidence import Evidence, Status

CLAIM = LAYER_CLAIMS["agattn.learning-degree"]


def verdict(layer, value):
    finding = Finding(value, Evidence.PROVED, ("native",), NUMBERS.sources(), 0.0)
    return CLAIM.verdict(layer, Findings({NUMBERS: finding}, {}))


@pytest.mark.parametrize(("a", "expected"), [(1, (10, 2)), (2, (14, 4)), (5, (14, 4))])
@pytest.mark.parametrize("seed", [0, 7])
def test_random_losses_have_the_numbers_of_general_ones(a, expected, seed):
    layer = SingleLayer(2, 1, a)
    found = verdict(layer, NUMBERS.native(layer, seed))
    assert (found.status, tuple(found.computed)) == (Status.CONFIRMED, expected)


def test_other_numbers_refute_it():
    for value in (EDDegrees(18, 4), EDDegrees(14, 6)):
        assert verdict(SingleLayer(2, 1), value).status is Status.REFUTED


@pytest.mark.parametrize("layer", [SingleLayer(3, 1), SingleLayer(2, 2), SingleLayer(2, 1, t=1)], ids=str)
def test_elsewhere_it_says_nothing(layer):
    assert CLAIM.verdict(layer, Findings({}, {})).status is Status.INAPPLICABLE
    assert not CLAIM.needed(layer) and NUMBERS.infeasible(layer)
