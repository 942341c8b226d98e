import json

import numpy as np
import pytest

from agattn.architecture import SingleLayer
from agattn.engines.run import run
from agattn.errors import InputError
from agattn.reports.draw_figure1 import alternative_text, drawing, interactive_figure_1, save_figure_1
from agattn.reports.figure1 import compute_figure_1, section_of_run
from agattn.reports.surface import evaluator, implicit_triangles, points_on_curve
from agattn.systems.catalogue import build
from agattn.systems.points import read_slice

LAYER = SingleLayer(2, 1)
CURVED = {
    "origin": [1, 0, 0, 0, 0, 0],
    "directions": [[0, 0, 0, 0, 1, 0], [0, 0, 0, "1/2", 0, 1], [0, 0, 1, 0, "1/3", 0]],
}


@pytest.fixture(scope="module")
def umbrella():
    return compute_figure_1(LAYER, engine="native")


@pytest.fixture
def curved(tmp_path):
    path = tmp_path / "slice.json"
    path.write_text(json.dumps(CURVED))
    return read_slice(path, LAYER)


def test_the_engine_finds_the_umbrella_and_its_line(engine_installation, umbrella):
    done = run(build("slice", LAYER), engine_installation)
    section = section_of_run(done, umbrella.section.slice)
    assert (section.equation, section.singular) == (umbrella.section.equation, umbrella.section.singular)
    assert str(section.equation) == "x^2*w + y^2" and done.answer.integers["dimension"] == 2


def test_the_engine_agrees_with_the_resultant_on_another_slice(engine_installation, curved):
    section = section_of_run(run(build("slice", LAYER, slice=curved), engine_installation), curved)
    native = compute_figure_1(LAYER, curved, engine="native").section
    assert section.equation == native.equation and section.equation.degree() == 4
    x, y, w = section.equation.ring.gens
    assert set(section.singular) == {3 * x + w, y * w - 2 * y}


def test_an_engine_says_that_a_section_is_no_surface(engine_installation, umbrella):
    done = run(build("slice", SingleLayer(2, 1, 1)), engine_installation)
    with pytest.raises(InputError, match="dimension 1: it is no surface"):
        section_of_run(done, umbrella.section.slice)


def test_the_picture_lies_on_the_surface(umbrella):
    f = evaluator(umbrella.section.equation)
    solid, dotted = umbrella.triangles
    assert len(solid) > 5000 and not len(dotted)
    assert abs(f(solid.reshape(-1, 3))).max() < 1e-12
    line = evaluator(umbrella.section.singular[0])
    assert abs(line(np.array([umbrella.on_line(t) for t in (-1, 0.3)]))).max() == 0


def test_singular_curves_are_solid_in_m_and_dotted_outside(curved):
    figure = compute_figure_1(LAYER, curved, engine="native")
    solid, dotted = figure.curve
    assert len(solid) > 20 and len(dotted) > 20
    # On the line y = 0, 3x + w = 0 the form y_{1,1} = u² + w v² is definite for w > 0.
    assert solid[abs(solid[:, 1]) < 1e-6][:, 2].max() < 1e-3 and dotted[:, 2].min() > -1e-6
    surface, _ = figure.triangles
    assert abs(evaluator(figure.section.equation)(surface.reshape(-1, 3))).max() < 0.1


def test_marching_and_newton():
    x, y, w = compute_figure_1(LAYER, engine="native").section.equation.ring.gens
    circle = points_on_curve([x**2 + y**2 - w, w - 1], 1)
    assert len(circle) > 50
    assert abs((circle[:, :2] ** 2).sum(axis=1) - 1).max() < 1e-9
    plane = implicit_triangles(evaluator(x + y + w), 1.0, cells=4)
    assert abs(plane.sum(axis=2)).max() < 1e-12
    areas = np.linalg.norm(np.cross(plane[:, 1] - plane[:, 0], plane[:, 2] - plane[:, 0]), axis=1) / 2
    assert areas.sum() == pytest.approx(3 * 3**0.5)  # a regular hexagon of side √2: no triangle is missing


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".html"])
def test_files_are_the_same_byte_for_byte(umbrella, tmp_path, suffix):
    one, other = tmp_path / f"one{suffix}", tmp_path / f"other{suffix}"
    save_figure_1(umbrella, one)
    save_figure_1(umbrella, other)
    assert one.read_bytes() == other.read_bytes() and one.stat().st_size > 10_000


def test_the_interactive_page_states_everything_in_words(umbrella):
    page = interactive_figure_1(umbrella)
    assert alternative_text(umbrella) in page and "pinches at (0, 0, 0)" in page
    assert '<html lang="en">' in page and 'role="img"' in page
    names = [trace.get("name") for trace in drawing(umbrella)["data"]]
    assert {"in M", "singular, in M", "singular, only in the Zariski closure", "pinch point"} <= set(names)


def test_bad_files(umbrella, tmp_path):
    with pytest.raises(InputError, match=r"does not end in"):
        save_figure_1(umbrella, tmp_path / "figure.jpg")
    with pytest.raises(InputError, match="does not exist"):
        save_figure_1(umbrella, tmp_path / "nowhere" / "figure.html")
    for change, message in [
        ({"origin": [1]}, "origin in .* must be 1 × 6"),
        ({"directions": [[1] * 6] * 2}, "directions in .* must be 3 × 6"),
        ({"names": ["x"]}, "three letters"),
        ({"names": ["x", "y", 3]}, "three different small letters"),
    ]:
        path = tmp_path / "bad.json"
        path.write_text(json.dumps(CURVED | change))
        with pytest.raises(InputError, match=message):
            read_slice(path, LAYER)
    (tmp_path / "bad.json").write_text("[]")
    with pytest.raises(InputError, match="must hold"):
        read_slice(tmp_path / "bad.json", LAYER)
    with pytest.raises(InputError, match="looks at no slice"):
        build("fiber", LAYER, slice=umbrella.section.slice)
    with pytest.raises(InputError, match="the slice is in 6 coordinates"):
        build("slice", SingleLayer(3, 1), slice=umbrella.section.slice)
