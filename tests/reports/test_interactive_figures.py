"""What an interactive surface consists of: dots with gaps, marks in front of the surface, a full legend."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from agattn.architectures import SingleLayer
from agattn.reports.draw_figure1 import plotly_figure
from agattn.reports.figure1 import compute_figure_1
from agattn.reports.figure_critical import compute_figure_critical
from agattn.reports.figure_deep import compute_figure_deep

FIGURES = {
    "umbrella": lambda: compute_figure_1(SingleLayer(2, 1), engine="native"),
    "critical": compute_figure_critical,
    "deep": compute_figure_deep,
}


@pytest.fixture(scope="module", params=FIGURES)
def scene(request):
    pytest.importorskip("matplotlib")
    return FIGURES[request.param]().scene


def meshes(traces, name):
    """The vertices of the solids of a name."""
    found = [trace for trace in traces if trace["type"] == "mesh3d" and trace["name"] == name]
    return [np.array([trace[axis] for axis in "xyz"], dtype=float).T for trace in found]


def pieces(values, gap):
    """The groups into which sorted numbers fall that are no further apart than the gap."""
    ordered = np.sort(values)
    return np.split(ordered, np.flatnonzero(np.diff(ordered) > gap) + 1)


def test_a_dotted_line_has_gaps_and_a_solid_one_has_none(scene):
    traces = plotly_figure(scene)["data"]
    for in_m, ends in scene.segments:
        name = scene.words.solid if in_m else scene.words.dotted
        [vertices] = meshes(traces, name)
        along = (vertices - ends[0]) @ (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        away = np.linalg.norm(np.cross(vertices - ends[0], ends[1] - ends[0]), axis=1)
        assert away.max() < 0.05 * scene.radius  # it is thin
        length = float(np.linalg.norm(ends[1] - ends[0]))
        if in_m:
            assert len({*along.round(6)}) == 2 and np.ptp(along) == pytest.approx(length, rel=1e-3)
            continue
        dots = pieces(along, 0.01 * scene.radius)
        assert len(dots) > 10 * length / scene.radius
        gaps = [b[0] - a[-1] for a, b in pairwise(dots)]
        sizes = [np.ptp(dot) for dot in dots]
        assert min(gaps) > 0.5 * max(sizes) and min(sizes) > 0.01 * scene.radius
        assert along.min() > -0.01 and along.max() < length + 0.03 * scene.radius


def test_every_solid_has_one_entry_that_says_its_colour_and_its_dash(scene):
    traces = plotly_figure(scene)["data"]
    entries = [trace for trace in traces if trace.get("showlegend", True) and trace.get("name")]
    names = [trace["name"] for trace in entries]
    assert len({*names}) == len(names)
    for trace in traces:
        group = [entry for entry in entries if entry["name"] == trace["name"]] if trace.get("name") else []
        assert len(group) == 1 or trace["hoverinfo"] == "skip"  # rulings of Figure 1 have no name
        if trace["type"] == "mesh3d" and not trace["showlegend"]:
            [entry] = group
            assert entry["legendgroup"] == trace["legendgroup"]
            shown = entry["line"] if entry["mode"] == "lines" else entry["marker"]
            assert shown["color"] == trace["color"]
    dashes = {entry["name"]: entry["line"].get("dash") for entry in entries if entry.get("mode") == "lines"}
    for in_m, _ in scene.segments:
        assert dashes[scene.words.solid if in_m else scene.words.dotted] == ("solid" if in_m else "dot")
    symbols = {e["name"]: e["marker"]["symbol"] for e in entries if e.get("mode") == "markers"}
    assert {mark.name: mark.symbol for mark in scene.marks}.items() <= symbols.items()
    assert plotly_figure(scene)["layout"]["legend"]["itemsizing"] == "constant"


def test_solids_stick_out_of_the_surface_on_both_sides(scene):
    """So a mark is in front of the surface from wherever it is seen, unless another part is before it."""
    traces = plotly_figure(scene)["data"]
    for mark in scene.marks:
        vertices = np.concatenate(meshes(traces, mark.name))
        for point in mark.points:
            own = vertices[np.linalg.norm(vertices - point, axis=1) < 0.1 * scene.radius] - point
            assert np.linalg.norm(own, axis=1).min() > 0.03 * scene.radius
            assert np.abs(own.mean(axis=0)).max() < 1e-4  # about the point
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


def test_all_critical_points_are_in_sight_when_the_page_is_opened():
    pytest.importorskip("matplotlib")
    scene = compute_figure_critical().scene
    camera = plotly_figure(scene)["layout"]["scene"]["camera"]["eye"]
    eye = 2 * scene.radius * np.array([camera[axis] for axis in "xyz"])  # the cube has edges of length 1
    points = np.concatenate([mark.points for mark in scene.marks])
    assert len(points) == 6 and not any(umbrella_hides(point, eye) for point in points)
    assert scene.hidden() == 0


def test_from_the_usual_side_a_saddle_would_be_hidden():
    pytest.importorskip("matplotlib")
    scene = replace(compute_figure_critical().scene, elevation=20, azimuth=-56)
    points = np.concatenate([mark.points for mark in scene.marks])
    hidden = [umbrella_hides(point, scene.eye()) for point in points]
    assert sum(hidden) == scene.hidden() == 1


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_captions_and_legends_fit_the_window(width, scheme, chromium, tmp_path):
    pytest.importorskip("plotly")
    path = tmp_path / "loss.html"
    compute_figure_critical().save(path)
    page = chromium.new_page()
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.goto(path.as_uri(), timeout=120_000)
    page.wait_for_selector("#figure .legend", timeout=60_000)
    ends = page.evaluate(
        "[...document.querySelectorAll('h1, figcaption p, #figure .legend, #figure .legendtext')]"
        ".map(e => e.getBoundingClientRect()).map(box => [box.left, box.right])"
    )
    assert len(ends) >= 10 and min(left for left, _ in ends) >= 0 and max(right for _, right in ends) <= width
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    ink, paper = page.evaluate(
        "[getComputedStyle(document.querySelector('#figure .legendtext')).fill,"
        " getComputedStyle(document.body).backgroundColor]"
    )
    dark, light = sorted((ink, paper), key=lambda colour: sum(map(int, colour[4:-1].split(","))))
    assert sum(map(int, light[4:-1].split(","))) - sum(map(int, dark[4:-1].split(","))) > 500
    assert (paper == dark) == (scheme == "dark")
    page.close()
