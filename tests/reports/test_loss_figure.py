"""Critical points of a loss on the surface of Figure 1: all of them, on the surface, and drawn."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from command_line import document
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import SingleLayer
from agattn.algebra.polynomial import PolynomialRing
from agattn.errors import InputError
from agattn.geometry.critical_points.elimination import critical_points_on_umbrella
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.sections.slices import standard_slice
from agattn.geometry.variety.coordinates import coefficients
from agattn.reports.loss import LossFigure
from agattn.reports.surface import traces

RING = PolynomialRing(["x", "y", "w"])


@given(
    st.lists(st.integers(-8, 8), min_size=3, max_size=3), st.lists(st.integers(1, 5), min_size=3, max_size=3)
)
@settings(max_examples=12, deadline=None)
def test_they_are_those_of_the_reduced_function(target, scale):
    """min over x of the loss at (x, sx, −s²), on a fine grid of s: the same extrema."""
    gens = RING.gens
    f = sum((c * (z - Fraction(t, 4)) ** 2 for c, z, t in zip(scale, gens, target, strict=True)), RING.zero())
    *found, line = critical_points_on_umbrella(f)
    assert line.on_line and float(line.position[2].mid()) == target[2] / 4 and line.in_m == (target[2] <= 0)
    for point in found:
        x, y, w = point.position
        assert (y**2 + w * x**2).contains(0) and point.evidence.value == "proved"
        A, V = point.weights.values()
        y = coefficients(SingleLayer(2, 1), A, V).astype(float)
        assert y == pytest.approx([1, 0, float(w.mid()), 0, *(float(z.mid()) for z in point.position[:2])])
    s = np.linspace(-4, 4, 4001)
    t = np.array(target) / 4
    x = (scale[0] * t[0] + scale[1] * t[1] * s) / (scale[0] + scale[1] * s**2)
    value = scale[0] * (x - t[0]) ** 2 + scale[1] * (s * x - t[1]) ** 2 + scale[2] * (-(s**2) - t[2]) ** 2
    lowest = np.flatnonzero((value[1:-1] < value[:-2]) & (value[1:-1] < value[2:])) + 1
    lowest = lowest[np.abs(x[lowest]) > 0.02]
    minima = [float(p.loss.mid()) for p in found if p.index == 0 and abs(float(p.position[0].mid())) > 0.02]
    assert sorted(value[lowest]) == pytest.approx(sorted(minima), abs=1e-3)


def test_what_is_no_definite_loss():
    x, y, w = RING.gens
    with pytest.raises(InputError, match="not definite on the slice"):
        critical_points_on_umbrella(x**2 - y**2 + w**2)
    with pytest.raises(InputError, match="no quadratic polynomial"):
        critical_points_on_umbrella(x**3)
    with pytest.raises(InputError, match=r"loss is for M\(2,2,2\)"):
        _ = LossFigure(loss(SingleLayer(2, 2))).points


@pytest.fixture(scope="module")
def figure():
    """The distance to a point of the slice."""
    pytest.importorskip("matplotlib")
    layer = SingleLayer(2, 1)
    target = standard_slice(layer).point([Fraction(-3, 4), Fraction(-1, 4), Fraction(-3, 10)])
    return LossFigure(loss(layer, "gaussian", target=target))


def test_the_figure(figure, tmp_path: Path):
    kinds = [point.kind for point in figure.points]
    assert kinds.count("saddle") == 2 and "3 minima, 2 saddles, the least with loss 0.3961" in figure.words
    ends = np.flatnonzero(np.isnan(figure.scene.curves[:, 0]))
    curves = [curve[~np.isnan(curve[:, 0])] for curve in np.split(figure.scene.curves, ends)]
    for curve in curves:
        assert np.abs(curve[:, 1] ** 2 + curve[:, 2] * curve[:, 0] ** 2).max(initial=0) < 1e-12
    # Along a level curve the loss is constant, up to the grid.
    longest = max(curves, key=len)
    values = [float(figure.in_slice(*map(Fraction, map(float, point)))) for point in longest[::20]]
    assert len(values) > 5 and values == pytest.approx([values[0]] * len(values), rel=0.05)
    marks = {mark.name: mark for mark in figure.scene.marks}
    assert {name: len(mark.points) for name, mark in marks.items()} == {
        "pinch point": 1, "minimum": 3, "saddle": 2, "minimum on the singular line": 1
    }  # fmt: skip
    assert "loss 0.39614" in marks["minimum"].texts[0] and "stratum (1,2,2)" in marks["minimum"].texts[0]
    hovering = [trace for trace in traces(figure.scene) if trace["name"] == "minimum" and "text" in trace]
    assert [len(trace["text"]) for trace in hovering] == [len(trace["x"]) for trace in hovering] != []
    figure.save(tmp_path / "loss.png")
    assert (tmp_path / "loss.png").stat().st_size > 20_000


def test_all_critical_points_are_in_the_cube():
    """Of a random target, too, which is far from the slice."""
    figure = LossFigure(loss(SingleLayer(2, 1), "gaussian", seed=3))
    assert figure.scene.radius == 7
    surface = figure.scene.surface[0]
    assert np.abs(surface).max() <= 7 + 1e-9 and np.abs(surface[..., 1]).max() > 6.9


def test_one_that_is_least_outside_m():
    layer = SingleLayer(2, 1)
    target = standard_slice(layer).point([Fraction(0), Fraction(0), Fraction(1)])
    [point] = LossFigure(loss(layer, "coefficients", target=target)).points
    assert point.on_line and not point.in_m and point.weights is None


def test_the_command(tmp_path: Path):
    pytest.importorskip("matplotlib")
    found = document("critical-points 2 1 -O", tmp_path / "loss.html")
    assert found["regular"] == 14 and "3 minima, 2 saddles" in (tmp_path / "loss.html").read_text()
