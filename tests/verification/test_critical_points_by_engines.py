"""Critical points of the squared loss: known counts, by every engine and by two methods."""

from dataclasses import replace

import numpy as np
import pytest

import agattn as ag
from agattn.errors import EngineError, UndecidedError
from agattn.evidence import Evidence
from agattn.geometry.critical_points.counts import CriticalSet
from agattn.geometry.critical_points.loss import loss, loss_of_data
from agattn.geometry.strata.strata import Stratum
from agattn.verification import critical_points
from agattn.verification.critical_points import count_critical_points

LAYER = ag.SingleLayer(2, 1)


def counts(found):
    return [found.regular, *(part.count for part in found.strata.values())]


def test_three_samples_have_14_regular_and_10_singular_points(engine_installation):
    """The numbers by elimination; on (1,1,1) it is the generic ED degree of q ⊗ k²."""
    found = count_critical_points(loss(LAYER, samples=3), engine_installation, characteristic=32003)
    assert {str(stratum): part.count for stratum, part in found.found.items()} == {
        "(1,2,2)": 14, "(1,1,1)": 14, "(1,1,2)": 10,
    }  # fmt: skip


def test_two_samples_leave_curves_of_degree_4_and_6(singular):
    found = count_critical_points(loss(LAYER, samples=2), singular)
    assert found.found == {
        Stratum(1, 2, 2): CriticalSet(1, 4), Stratum(1, 1, 1): CriticalSet(0, 14),
        Stratum(1, 1, 2): CriticalSet(1, 6),
    }  # fmt: skip
    assert found.regular is None and found.dimension == 1 and found.fields == (32003, 32009)
    by_equations = count_critical_points(loss(LAYER, samples=2), singular, method="equations")
    assert by_equations.smooth == found.smooth and not by_equations.strata
    assert "critical points of dimension 1 and degree 4" in str(found)


@pytest.mark.parametrize(
    ("sizes", "metric", "expected"),
    [
        ((2, 1, 2), "gaussian", [6, 6, 6]),
        ((2, 1, 2), "bombieri-weyl", [4, 4, 2]),
        ((2, 2, 2), "generic", [68, 24, 20]),
        ((2, 2, 2), "bombieri-weyl", [32, 12, 8]),
        ((2, 2, 1), "generic", [68, 24, 20]),
        ((2, 1, 1), "generic", [10]),
        ((2, 1, 1), "bombieri-weyl", [2]),
        ((3, 1, 1), "bombieri-weyl", [25, 13]),
        ((1, 2, 1), "generic", [1]),
    ],
    ids=str,
)
def test_known_counts(singular, sizes, metric, expected):
    given = loss(ag.SingleLayer(*sizes), metric)
    assert counts(count_critical_points(given, singular, characteristic=32003)) == expected


def test_the_target_has_a_critical_point_at_itself(singular):
    """The distance to a point of M̄ is 0 there, and fewer points remain than for a general target."""
    y = [int(x) for x in (5, 22, 21, 10, 34, 28)]
    found = count_critical_points(loss(LAYER, "bombieri-weyl", target=y), singular, method="equations")
    assert found.smooth == CriticalSet(0, 4)


def test_points_at_special_places_are_counted(singular):
    """Six are outside of the chart of the first coordinates; there are 32, as msolve says, too."""
    given = loss(ag.SingleLayer(2, 2), "bombieri-weyl", target=[1, 0, 3, 0, 2, 0, 0, 1, 0, 2, 0, 5])
    assert count_critical_points(given, singular, smooth=True).regular == 32
    found = count_critical_points(replace(given, drawn=True), singular, smooth=True, characteristic=32003)
    assert found.regular == 26


def test_the_smooth_part_alone(singular):
    found = count_critical_points(loss(LAYER), singular, smooth=True, characteristic=32003)
    assert found.regular == 14 and not found.strata


def test_over_the_rationals_the_hypersurface_proves_its_count(singular):
    norm = loss(LAYER, "coefficients")
    found = count_critical_points(norm, singular, method="equations", characteristic=0)
    assert (found.regular, found.evidence) == (6, Evidence.PROVED)
    by_weights = count_critical_points(norm, singular, characteristic=0)
    assert (by_weights.regular, by_weights.evidence) == (6, Evidence.MODULAR)


def test_msolve_leaves_degrees_to_others(msolve_installation):
    with pytest.raises(
        EngineError, match=r"dimension 1, and msolve's script finds no degree .* use macaulay2"
    ):
        count_critical_points(loss(LAYER, samples=2), msolve_installation)
    found = count_critical_points(loss(ag.SingleLayer(2, 1, 1)), msolve_installation, method="equations")
    assert found.regular == 10


def test_degenerate_data_have_no_wrong_count(singular):
    """No outputs: only 0 and what ker W leaves; one sample: dimension 3."""
    zero = count_critical_points(
        loss_of_data(LAYER, np.zeros((1, 2, 2), int), np.zeros((1, 1, 2), int)), singular
    )
    assert zero.dimension == 5 and zero.regular is None
    one = count_critical_points(loss(LAYER, samples=1), singular)
    assert (one.dimension, one.smooth.degree) == (3, 4)


def test_three_answers_decide_nothing(monkeypatch, singular):
    answers = iter(range(3))
    monkeypatch.setattr(critical_points, "_ask", lambda *_: {Stratum(1, 2, 2): CriticalSet(0, next(answers))})
    with pytest.raises(UndecidedError, match="modulo 32003: 0; modulo 32009: 1; modulo 31991: 2"):
        count_critical_points(loss(LAYER), singular)
    agreeing = iter([3, 14, 3])
    monkeypatch.setattr(
        critical_points, "_ask", lambda *_: {Stratum(1, 2, 2): CriticalSet(0, next(agreeing))}
    )
    assert count_critical_points(loss(LAYER), singular).fields == (32003, 31991)
