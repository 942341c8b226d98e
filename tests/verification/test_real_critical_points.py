"""Real critical points by msolve and natively: the same where both apply, consistent where only it does."""

from __future__ import annotations

import numpy as np
import pytest

from agattn import SingleLayer
from agattn.errors import EngineNotFoundError, InputError
from agattn.evidence import Evidence
from agattn.geometry.critical_points.charts import chart_of
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.critical_points.real_points import least_numbers
from agattn.geometry.strata.strata import Stratum
from agattn.geometry.variety.coordinates import coefficients
from agattn.verification import critical_points as module
from agattn.verification.critical_points import as_counts, lower_strata, real_critical_points, real_part


def test_msolve_finds_what_elimination_proves(msolve_installation, monkeypatch):
    L = loss(SingleLayer(2, 1), seed=1)
    for stratum in (None, *lower_strata(L.layer)):
        proved = real_part(L, stratum)
        with monkeypatch.context() as patch:
            patch.setattr(module, "chart_of", lambda *given: _without_elimination(*given))
            found = real_part(L, stratum)
        assert found.found_by == str(msolve_installation) and found.complete is Evidence.MODULAR
        assert found.complex_number == proved.complex_number and len(found.points) == len(proved.points)
        for one, other in zip(found.points, proved.points, strict=True):
            assert all(x.overlaps(y) for x, y in zip(one.y, other.y, strict=True))
            assert (one.index, one.in_m, one.stratum) == (other.index, other.in_m, other.stratum)


def _without_elimination(*given):
    """Another chart, which says that it has more parameters."""
    chart = chart_of(*given[:2], 5)
    chart.__dict__["parameters"] = chart.ring.gens
    return chart


def test_two_outputs(msolve_installation):
    """(2,2,2) with the Bombieri–Weyl norm: 32 complex points; the indices add up, and each up to 3 occurs."""
    layer = SingleLayer(2, 2)
    regular, lowest, pairs = real_critical_points(loss(layer, "bombieri-weyl", seed=1))
    assert [part.complex_number for part in (regular, lowest, pairs)] == [32, 12, 8]
    assert all(part.undecided == 0 and part.complete is Evidence.MODULAR for part in (regular, lowest, pairs))
    assert regular.alternating_sum == pairs.alternating_sum == 0
    assert regular.expected_sum == pairs.expected_sum == 0 and lowest.expected_sum is None
    assert sorted({point.index for point in regular.points}) == list(range(len(least_numbers(layer))))
    assert all(p.gradient < 1e-15 and p.weights for p in regular.points)
    assert {point.stratum for point in lowest.points} == {Stratum(1, 1, 1)}
    # One factor is as large as the others: b(h, ·, k²) = 0 is 2·(1·2) = 4 points, real ones in pairs.
    assert lowest.alternating_sum % 2 == 0


def test_given_losses_hide_no_point_at_a_special_place(msolve_installation):
    """A critical point with V = (1 −1; 0 0): charts of small numbers lack it, as the entries add up to 0."""
    layer, A, V = SingleLayer(2, 2), [[1, 2], [3, -1]], [[1, -1], [0, 0]]
    y = coefficients(layer, A, V)
    normal = np.array([-1, -1, -1, 4, 4, 4, -3, 1, -2, 1, 2, -1])
    units = np.eye(4, dtype=int).reshape(-1, 2, 2)
    tangent = [coefficients(layer, u, V) for u in units] + [coefficients(layer, A, u) for u in units]
    assert not (np.array(tangent) @ normal).any()
    L = loss(layer, "coefficients", target=(y + normal).tolist())
    assert chart_of(layer).near(np.array(A, float), np.array(V, float)) is None
    part = real_part(L)
    assert part.complex_number == 28 and part.complete is Evidence.MODULAR and part.undecided == 0
    assert any(np.allclose(point.coordinates, y.astype(float)) for point in part.points)


def test_solutions_on_lower_strata_are_not_counted(msolve_installation):
    """32 solutions in a chart of the smooth part, of which two are on (1,1,2): an engine counts 30."""
    layer = SingleLayer(2, 2)
    part = real_part(loss(layer, "bombieri-weyl", target=[1, 0, 0, 0, 0, 1, 0, 1, 0, 2, 0, 0]))
    assert (part.complex_number, part.complete, part.undecided) == (None, None, 1)
    assert as_counts(loss(layer), [part]) is None


def test_what_is_no_list_of_points(msolve_installation, monkeypatch):
    layer = SingleLayer(2, 2)
    zero = loss(layer, "gaussian", target=[0] * 12)
    assert [part.points for part in real_critical_points(zero)] == [(), (), ()]
    with pytest.raises(InputError, match="infinitely many solutions: in a chart, a set of dimension 2"):
        real_part(loss(layer, "bombieri-weyl", target=[0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0]), Stratum(1, 1, 1))
    monkeypatch.setattr(module, "locate", _nowhere)
    with pytest.raises(EngineNotFoundError):
        real_part(loss(layer))


def _nowhere(engine):
    raise EngineNotFoundError(f"{engine.title} was not found")
