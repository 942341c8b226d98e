import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from agattn.architectures import SingleLayer
from agattn.engines.run import run
from agattn.errors import EngineNotFoundError, InputError, TooLargeError
from agattn.geometry.identifiability.weights import preimages
from agattn.geometry.sections.real_points import outside, pieces_of_line
from agattn.geometry.sections.slices import Slice
from agattn.geometry.strata.strata import stratum_of
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.geometry.variety.coordinates import coefficients, coordinates
from agattn.limits import limited
from agattn.reports.figure1 import compute_figure_1, section_of_run
from agattn.reports.surface import evaluator, implicit_triangles, points_on_curve
from agattn.systems.catalogue import build
from agattn.systems.points import slice_of

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
    return slice_of(path, LAYER)


def test_the_engine_finds_the_umbrella_and_its_line(engine_installation, umbrella):
    done = run(build("slice", LAYER), engine_installation)
    section = section_of_run(done, umbrella.section.slice)
    assert (section.equation, section.singular) == (umbrella.section.equation, umbrella.section.singular)
    assert str(section.equation) == "x^2*w + y^2" and done.answer.integers["dimension"] == 2
    plane = done.answer.polynomials | {"equation": section.equation.ring.gens[:1]}
    flat = done.replace(answer=replace(done.answer, polynomials=plane))
    assert str(section_of_run(flat, umbrella.section.slice).equation) == "x"


def test_the_engine_agrees_with_the_resultant_on_another_slice(engine_installation, curved):
    section = section_of_run(run(build("slice", LAYER, slice=curved), engine_installation), curved)
    native = compute_figure_1(LAYER, curved, engine="native").section
    assert section.equation == native.equation and section.equation.degree() == 4
    x, y, w = section.equation.ring.gens
    assert set(section.singular) == {3 * x + w, y * w - 2 * y}


@pytest.mark.slow
@pytest.mark.parametrize(
    "layer", [SingleLayer(2, 2), SingleLayer(2, 3), SingleLayer(3, 1)], ids=lambda layer: str(layer)[:8]
)
def test_without_elimination_a_layer_has_the_surface_that_an_engine_finds(layer, macaulay2):
    with limited(timeout=200):
        engine = compute_figure_1(layer, engine="macaulay2")
    native = compute_figure_1(layer, engine="native")
    assert engine.engine.startswith("macaulay2 ") and native.engine == "native"
    assert (engine.section, engine.pieces) == (native.section, native.pieces)


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (SingleLayer(2, 4), "the others of the surface smooth"),
        (SingleLayer(3, 1, 2), "the others of the surface smooth"),
        (SingleLayer(3, 2, 2), "the others of the surface smooth"),
        (SingleLayer(4, 3, 2), "the others of the surface smooth"),
        (SingleLayer(4, 3, 3), "All points of this surface are singular points of M̄"),
    ],
)
def test_large_layers_have_the_same_picture(layer, words, umbrella):
    figure = compute_figure_1(layer)
    assert figure.engine.startswith("native (because elimination in")
    assert str(figure.section.equation) == "x^2*w + y^2" and figure.run is None
    assert [(p.ends, p.in_m) for p in figure.pieces] == [(p.ends, p.in_m) for p in umbrella.pieces]
    assert words in figure.words
    solid, dotted = figure.scene.surface
    assert len(solid) == len(umbrella.scene.surface[0]) and not len(dotted)

    # What the caption says of all of M̄, at points of the slice: their orbits, and whether these are singular.
    def singular(*s):
        points = preimages(layer, figure.section.slice.point(s)).points
        [stratum] = {stratum_of(p.A, p.V) for p in points}
        return tangent_bounds(layer, stratum).singular

    assert singular(1, 2, -4) == ("All points" in words)
    assert singular(0, 0, -1) and singular(0, 0, 0)


@pytest.mark.engine("singular")
def test_a_slice_too_large_for_an_engine(tmp_path):
    layer = SingleLayer(4, 3, 2)
    index = list(coordinates(layer))
    chosen = [(1, 1, 1, 1), (2, 1, 1, 2), (1, 2, 1, 2), (1, 1, 2, 2)]
    rows = [[int(name == other) for other in index] for name in chosen]
    path = tmp_path / "slice.json"
    path.write_text(json.dumps({"origin": rows[0], "directions": rows[1:]}))
    slice_ = slice_of(path, layer)
    with pytest.raises(TooLargeError, match=r"120 coordinates; the limit is 60\. Use force=True"):
        compute_figure_1(layer, slice_)
    with pytest.raises(InputError, match="one row, two columns and two variables"):
        compute_figure_1(layer, slice_, engine="native")


def test_no_engine_for_a_slice_that_needs_one(fakes):
    layer = SingleLayer(2, 2)
    rows = [[int(n == m) for m in range(12)] for n in (0, 1, 6, 10)]
    slice_ = Slice(
        *(tuple(map(Fraction, row)) for row in rows[:1]), tuple(tuple(map(Fraction, r)) for r in rows[1:])
    )
    with pytest.raises(EngineNotFoundError, match="needs an engine, and none was found; install"):
        compute_figure_1(layer, slice_)


def test_an_engine_says_that_a_section_is_no_surface(engine_installation, umbrella):
    done = run(build("slice", SingleLayer(2, 1, 1)), engine_installation)
    with pytest.raises(InputError, match="dimension 1: it is no surface"):
        section_of_run(done, umbrella.section.slice)


def test_the_picture_lies_on_the_surface(umbrella):
    f = evaluator(umbrella.section.equation)
    solid, dotted = umbrella.scene.surface
    assert len(solid) > 5000 and not len(dotted)
    assert abs(f(solid.reshape(-1, 3))).max() < 1e-12
    line = evaluator(umbrella.section.singular[0])
    assert abs(line(np.array([umbrella.on_line(t) for t in (-1, 0.3)]))).max() == 0


def test_singular_curves_are_solid_in_m_and_dotted_outside(curved):
    figure = compute_figure_1(LAYER, curved, engine="native")
    solid, dotted = (marks.points for marks in figure.scene.marks)
    assert len(solid) > 20 and len(dotted) > 8  # every third
    # On the line y = 0, 3x + w = 0 the form y_{1,1} = u² + w v² is definite for w > 0.
    assert solid[abs(solid[:, 1]) < 1e-6][:, 2].max() < 1e-3 and dotted[:, 2].min() > -1e-6
    surface, _ = figure.scene.surface
    assert abs(evaluator(figure.section.equation)(surface.reshape(-1, 3))).max() < 0.1


ENDS = {(0, 0, -1): True, (0, 0, 1): False, (0, 0, 0): True, (0, 0, "1/9"): False, (0, 0, "-1/9"): True}


@pytest.mark.parametrize("layer", [LAYER, SingleLayer(2, 2), SingleLayer(3, 2, 2)], ids=lambda x: str(x)[:8])
def test_which_points_are_in_m(layer):
    """Both ends of the line, its pinch point, and points off the line; each by weights that compute it."""
    figure = compute_figure_1(layer, engine="native")
    for s, in_m in ENDS.items():
        fiber = preimages(layer, figure.section.slice.point([Fraction(c) for c in s]))
        assert fiber.number and fiber.is_real == in_m
        # Of u² + w v² the factors are real for w ≤ 0 only.
        assert in_m == (Fraction(s[2]) <= 0)
    for x, slope in [(1, 2), (-3, 1), (2, "1/3"), (-1, "-5/2")]:
        s = Fraction(slope)
        y = figure.section.slice.point([x, s * x, -(s**2)])
        fiber = preimages(layer, y)
        assert fiber.is_real and fiber.number == 1
        [weights] = fiber.points
        assert list(coefficients(layer, weights.A, weights.V)) == y
    assert [p.in_m for p in figure.pieces] == [True, False]
    assert [figure.on_line(p.ends[k]) for p in figure.pieces for k in (0, 1)] == [
        (0, 0, -1), (0, 0, 0), (0, 0, 0), (0, 0, 1),
    ]  # fmt: skip


def test_which_points_of_another_slice_are_in_m():
    """y_{1,1} = x(u² + v²) + wuv, y_{1,2} = y u²: definite for y = 0 and |w| < 2|x|, which is not in M."""
    directions = (1, 0, 1, 0, 0, 0), (0, 0, 0, 1, 0, 0), (0, 1, 0, 0, 0, 0)
    tilted = Slice((Fraction(0),) * 6, tuple(tuple(map(Fraction, v)) for v in directions))
    line = ((1, 0, 0), (0, 0, 1))
    pieces = pieces_of_line(LAYER, tilted, line, 5)
    assert [(p.ends, p.in_m) for p in pieces] == [
        ((-5.0, -2.0), True), ((-2.0, 2.0), False), ((2.0, 5.0), True),
    ]  # fmt: skip
    for w in (-5, -2, -1, 0, "3/2", 2, "21/10", 5):
        w = Fraction(w)
        fiber = preimages(LAYER, tilted.point([1, 0, w]))
        assert fiber.is_real == (w * w >= 4) and fiber.number
        assert outside(LAYER, np.array([list(map(float, tilted.point([1, 0, w])))]))[0] == (w * w < 4)


def test_marching_and_newton():
    x, y, w = compute_figure_1(LAYER, engine="native").section.equation.ring.gens
    circle = points_on_curve([x**2 + y**2 - w, w - 1], 1)
    assert len(circle) > 50
    assert abs((circle[:, :2] ** 2).sum(axis=1) - 1).max() < 1e-9
    plane = implicit_triangles(evaluator(x + y + w), 1.0, cells=4)
    assert abs(plane.sum(axis=2)).max() < 1e-6  # the library computes in single precision
    areas = np.linalg.norm(np.cross(plane[:, 1] - plane[:, 0], plane[:, 2] - plane[:, 0]), axis=1) / 2
    assert areas.sum() == pytest.approx(3 * 3**0.5)  # a regular hexagon of side √2: no triangle is missing


def test_bad_files(umbrella, tmp_path):
    with pytest.raises(InputError, match=r"does not end in"):
        umbrella.save(tmp_path / "figure.jpg")
    with pytest.raises(InputError, match="does not exist"):
        umbrella.save(tmp_path / "nowhere" / "figure.html")
    for change, message in [
        ({"origin": [1]}, "bad.json: the slice has rows of different lengths"),
        ({"directions": [[1] * 6] * 2}, "origin and the three directions must have 6 entries each"),
        ({"names": ["x"]}, "three different small letters"),
        ({"names": ["x", "y", 3]}, "three different small letters"),
    ]:
        path = tmp_path / "bad.json"
        path.write_text(json.dumps(CURVED | change))
        with pytest.raises(InputError, match=message):
            slice_of(path, LAYER)
    (tmp_path / "bad.json").write_text("[]")
    with pytest.raises(InputError, match="must hold"):
        slice_of(tmp_path / "bad.json", LAYER)
    with pytest.raises(InputError, match="takes no slice"):
        build("fiber", LAYER, slice=umbrella.section.slice)
    with pytest.raises(InputError, match="the slice is in 6 coordinates"):
        build("slice", SingleLayer(3, 1), slice=umbrella.section.slice)
