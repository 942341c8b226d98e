"""What a surface to be turned consists of: dots with gaps, marks in front of the surface, a full legend."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from agattn.architectures import SingleLayer
from agattn.geometry.critical_points.loss import loss
from agattn.geometry.sections.slices import standard_slice
from agattn.reports.figure1 import compute_figure_1
from agattn.reports.loss import LossFigure
from agattn.reports.surface import layout, traces

LAYER = SingleLayer(2, 1)


def critical():
    """A loss with three minima and two saddles on the surface."""
    target = standard_slice(LAYER).point([Fraction(-3, 4), Fraction(-1, 4), Fraction(-3, 10)])
    return LossFigure(loss(LAYER, "gaussian", target=target))


FIGURES = {
    "umbrella": lambda: compute_figure_1(LAYER, engine="native"),
    "far": lambda: compute_figure_1(LAYER, engine="native", radius=7),
    "critical": critical,
}


@pytest.fixture(scope="module", params=FIGURES)
def scene(request):
    pytest.importorskip("matplotlib")
    return FIGURES[request.param]().scene


def meshes(scene, name):
    """The vertices of the solids of a name."""
    found = [trace for trace in traces(scene) if trace["type"] == "mesh3d" and trace["name"] == name]
    return [np.array([trace[axis] for axis in "xyz"], dtype=float).T for trace in found]


def pieces(values, gap):
    """The groups into which sorted numbers fall that are no further apart than the gap."""
    ordered = np.sort(values)
    return np.split(ordered, np.flatnonzero(np.diff(ordered) > gap) + 1)


def test_a_dotted_line_has_gaps_and_a_solid_one_has_none(scene):
    for line in scene.lines:
        [ends] = line.segments
        [vertices] = meshes(scene, line.name)
        along = (vertices - ends[0]) @ (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        away = np.linalg.norm(np.cross(vertices - ends[0], ends[1] - ends[0]), axis=1)
        length = float(np.linalg.norm(ends[1] - ends[0]))
        assert away.max() < 0.05 * scene.radius * length  # it is thin
        assert along.min() > -0.02 * scene.radius and along.max() < length + 0.02 * scene.radius
        dots = pieces(along, 0.02 * scene.radius)
        if not line.dotted:
            assert len(dots) == 1
            continue
        assert len(dots) > 10 * length / scene.radius
        gaps = [b[0] - a[-1] for a, b in pairwise(dots)]
        sizes = [np.ptp(dot) for dot in dots]
        assert min(gaps) > 0.5 * max(sizes) and min(sizes) > 0.01 * scene.radius


def test_the_surface_ends_where_the_cube_does(scene):
    for points in (*scene.surface, scene.curves):
        assert np.nanmax(np.abs(points), initial=0) <= scene.radius * (1 + 1e-9)


def test_solids_stick_out_of_the_surface_on_both_sides(scene):
    """So a mark is in front of the surface from wherever it is seen, unless another part is before it."""
    for mark in scene.marks:
        vertices = np.concatenate(meshes(scene, mark.name))
        for point in mark.points:
            own = vertices[np.linalg.norm(vertices - point, axis=1) < 0.1 * scene.radius] - point
            assert np.linalg.norm(own, axis=1).min() > 0.03 * scene.radius
            assert np.abs(own.mean(axis=0)).max() < 1e-3 * scene.radius  # about the point
            assert np.linalg.matrix_rank(own, tol=0.01 * scene.radius) == 3


def umbrella_hides(point, eye):
    """Whether x²w + y² changes its sign between a point near the surface and the eye, within the cube.

    Left out is what is drawn nowhere: the line x = y = 0, where the sign does not change.
    """
    t = np.linspace(0, 1, 20_001)[:, None]
    x, y, w = (point + t * (eye - point)).T
    inside = (np.abs([x, y, w]).max(axis=0) <= 1) & (t[:, 0] * np.linalg.norm(eye - point) > 0.05)
    sign = np.sign(x**2 * w + y**2)[inside]
    return bool((sign[:-1] * sign[1:] < 0).any())


@pytest.mark.parametrize("figure", [critical(), LossFigure(loss(LAYER))], ids=["near", "generic"])
def test_all_critical_points_are_in_sight_when_the_page_is_opened(figure):
    pytest.importorskip("matplotlib")
    camera = layout(figure.scene)["scene"]["camera"]["eye"]
    eye = 2 * np.array([camera[axis] for axis in "xyz"])  # the cube has edges of length 1
    points = np.concatenate([mark.points for mark in figure.scene.marks if mark.name != "pinch point"])
    assert figure.scene.radius == 1 and len(points) == 6
    assert not any(umbrella_hides(point, eye) for point in points)


def test_faces_that_lie_in_different_directions_are_lit_differently():
    pytest.importorskip("matplotlib")
    [axes] = FIGURES["umbrella"]().drawing().axes
    assert len(np.unique(axes.collections[0].get_facecolor(), axis=0)) > 100
