"""Critical points of a loss on the surface of Figure 1: all of them, on the surface, and drawn."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command_line import call, document
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import SingleLayer
from agattn.algebra.polynomial import PolynomialRing
from agattn.errors import InputError
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.critical_points.umbrella import critical_points_on_umbrella
from agattn.geometry.sections.slices import standard_slice
from agattn.geometry.variety.coordinates import coefficients
from agattn.reports.draw_figure1 import Mark, _legend, plotly_figure
from agattn.reports.figure_critical import compute_figure_critical

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
        A, V = point.weights()
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
        compute_figure_critical(given=loss(SingleLayer(2, 2)))
    with pytest.raises(InputError, match="the target has 2 coordinates"):
        compute_figure_critical(target=(1, 2))


def test_the_figure(tmp_path: Path):
    pytest.importorskip("matplotlib")
    figure = compute_figure_critical()
    assert [point.kind for point in figure.points].count(
        "saddle"
    ) == 2 and "3 minima, 2 saddles" in figure.words
    for curve in figure.scene.rulings:
        assert np.abs(curve[:, 1] ** 2 + curve[:, 2] * curve[:, 0] ** 2).max() < 1e-12
    # Along a level curve the loss is constant, up to the grid.
    slice_ = standard_slice(SingleLayer(2, 1))
    f = figure.loss.value(slice_.images())
    longest = max(figure.scene.rulings, key=len)
    values = [float(f(*map(Fraction, map(float, point)))) for point in longest[::20]]
    assert values == pytest.approx([values[0]] * len(values), rel=0.05)
    marks = {mark.name: mark for mark in figure.scene.marks}
    assert {name: len(mark.points) for name, mark in marks.items()} == {
        "minimum": 3, "saddle": 2, "minimum on the singular line": 1
    }  # fmt: skip
    traces = {trace.get("name"): trace for trace in plotly_figure(figure.scene)["data"]}
    assert (
        "loss 0.39614" in traces["minimum"]["text"][0] and "stratum (1,2,2)" in traces["minimum"]["text"][0]
    )
    figure.save(tmp_path / "loss.png")
    assert (tmp_path / "loss.png").stat().st_size > 20_000


def test_the_command():
    found = document("figure", "critical", "--metric", "coefficients", "--target", "0,0,1")
    assert (found["figure"], found["metric"], found["target"]) == (
        "critical",
        "coefficients",
        ["0", "0", "1"],
    )
    [point] = found["points"]
    assert point["on_line"] and not point["in_m"] and point["weights"] is None
    for words, reason in (
        (["figure", "critical", "-d", "3"], "-d is for figure 1"),
        (["figure", "1", "--metric", "generic"], "--metric is for figure critical"),
        (["figure", "critical", "--target", "nan,0,0"], "'nan' is not a number"),
    ):
        ended = call(*words)
        assert ended.status == 2 and reason in ended.err


def test_the_legend_names_the_marks() -> None:
    pytest.importorskip("matplotlib")
    words: Any = SimpleNamespace(lines="", solid="in M", dotted="singular, outside", point="a pinch")
    kinds = ("minima", True), ("saddles", False)
    marks = [Mark(np.zeros((1, 3)), name, "circle", "red", ("",), filled) for name, filled in kinds]
    scene: Any = SimpleNamespace(
        formula="f", words=words, segments=(), singular=lambda: (), pinches=(), marks=marks
    )
    assert [one.get_label() for one in _legend(scene)] == ["$f = 0$", "minima", "saddles"]
