"""Critical points of a loss on the surface of Figure 1, drawn."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from command_line import document

from agattn import SingleLayer
from agattn.errors import InputError
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.sections.slices import standard_slice
from agattn.reports.loss import LossFigure
from agattn.reports.surface import traces


def test_what_is_no_definite_loss():
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
