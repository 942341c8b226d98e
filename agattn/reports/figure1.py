r"""Figure 1 of HMK, and any other surface in a slice of M̄: computed, with evidence, ready to be drawn.

>>> from agattn import SingleLayer
>>> figure = compute_figure_1(SingleLayer(2, 1), engine="native")
>>> figure.section.equation, figure.section.singular, figure.pinch_points
(x^2*w + y^2, (x, y), [(0.0, 0.0, 0.0)])
>>> [("in M" if piece.in_m else "outside M", piece.ends) for piece in figure.pieces]
[('in M', (-1.0, 0.0)), ('outside M', (0.0, 1.0))]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from agattn.algebra.polynomial import PolynomialRing, Variable
from agattn.architectures import SingleLayer
from agattn.architectures.normalizer import raised
from agattn.engines.catalogue import able, engine_name, engine_named
from agattn.engines.locate import INSTALL, locate
from agattn.engines.run import Run, run
from agattn.errors import EngineError, EngineNotFoundError, InputError, TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.sections.real_points import Piece, outside, pieces_of_line
from agattn.geometry.sections.slices import (
    Slice,
    SurfaceSection,
    Vector,
    block_of,
    resultant_section,
    standard_slice,
)
from agattn.geometry.strata.strata import Stratum
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.geometry.variety.coordinates import coordinates
from agattn.reports.drawing import FigureResult
from agattn.reports.surface import (
    RED,
    Array,
    Line,
    Marks,
    Scene,
    SurfaceFigure,
    evaluator,
    grid_triangles,
    implicit_triangles,
    joined,
    points_on_curve,
    ruled,
)
from agattn.sheet.result import Key, Named, Place, Result, Sha256, Written, key
from agattn.systems.catalogue import build

_ENGINES = tuple(engine.name for engine in able("slice"))
CHOICES = ("auto", *_ENGINES, "native")

#: With more coordinates, or for a < d, elimination takes from a minute to days. Where the section is known
#: without it, ``"auto"`` then asks no engine.
MAX_AUTO_COORDINATES = 18


class SingularLine(Result):
    """The singular points of a surface, where they form a line."""

    point: Key[Vector, "A point of the line."]
    direction: Key[Vector, "The direction of the line."]


class Figure1(SurfaceFigure, FigureResult, tag=("figure", 1)):
    """Figure 1: a surface in a slice of M̄, and which of its points are in M.

    All that is stated is exact; where the singular locus is no line, its picture is numerical.

    Attributes:
        radius: coordinates run from −radius to radius.
        run: the engine's run, if an engine was used.
    """

    layer: Key[SingleLayer, "The layer.", Named("architecture")]
    section: SurfaceSection
    engine: Key[str, "What computed the equation: an engine with its version, or `native` and why."]
    radius: int
    pieces: Key[tuple[Piece, ...], "The pieces of the singular line, by the parameter, each in M or not."]
    run: Run | None
    evidence: Key[Evidence, "How the result is known."] = Evidence.PROVED

    @key
    def slice(self) -> Slice:
        """The affine map from three coordinates to the N coordinates y, with exact entries."""
        return self.section.slice

    @key
    def equation(self) -> str:
        """The squarefree equation of the surface."""
        return str(self.section.equation)

    @key
    def singular(self) -> list[str]:
        """Polynomials whose zeros are the singular points of the surface."""
        return list(map(str, self.section.singular))

    @key
    def line(self) -> SingularLine | None:
        """The singular points, if they form a line."""
        line = self.section.line()
        return None if line is None else SingularLine(*line)

    @key
    def script_sha256(self) -> Sha256 | None:
        """The SHA-256 of the script that ran; null for a native computation."""
        return None if self.run is None else self.run.script_sha256

    def on_line(self, parameter: float) -> tuple[float, float, float]:
        """A point of the singular line."""
        line = self.section.line()
        assert line is not None
        x, y, w = (float(p) + parameter * float(v) for p, v in zip(*line, strict=True))
        return x, y, w

    @key(Written(list[Place]))
    def pinch_points(self) -> list[tuple[float, float, float]]:
        """The points where the two preimages come together: ends that two pieces share."""
        return [self.on_line(piece.ends[1]) for piece in self.pieces[:-1]]

    @cached_property
    def scene(self) -> Scene:
        """What is drawn of it; where the singular locus is no line, points of it are numerical."""
        rulings, triangles = self._ruled()
        if triangles is None:
            triangles = implicit_triangles(evaluator(self.section.equation), self.radius)
        dotted = self._outside(triangles.mean(axis=1))
        lines, marks = [], []
        is_curve = self.section.line() is None and self.section.singular[0].degree() > 0
        points = points_on_curve(self.section.singular, self.radius) if is_curve else np.zeros((0, 3))
        beyond = self._outside(points)
        for in_m, name in ((True, "singular, in M"), (False, "singular, only in the Zariski closure")):
            visible = [self._visible(piece) for piece in self.pieces if piece.in_m == in_m]
            segments = np.array([ends for ends in visible if len(ends)])
            if len(segments):
                lines.append(Line(segments, name, dotted=not in_m))
            shown = points[~beyond] if in_m else points[beyond][::3]
            if len(shown):
                marks.append(Marks(shown, name, RED, size=2.5, filled=in_m))
        pinches = [point for point in self.pinch_points if np.abs(point).max() <= self.radius]
        if pinches:
            marks.append(Marks(np.array(pinches), "pinch point"))
        formula, surface = self.section.equation.latex(), (triangles[~dotted], triangles[dotted])
        names = self.section.slice.names
        return Scene(names, formula, self.radius, surface, rulings, tuple(lines), tuple(marks))

    def _visible(self, piece: Piece) -> Array:
        """The ends of the part of a piece of the singular line that is in the cube."""
        points = np.array([self.on_line(t) for t in np.linspace(*piece.ends, 401)])
        inside: Array = points[np.abs(points).max(axis=1) <= self.radius + 1e-9]
        return inside[[0, -1]] if len(inside) > 1 else inside[:0]

    def _ruled(self) -> tuple[Array, Array | None]:
        """Lines and triangles by (x, s) ↦ (x, sx, −s²), if that satisfies the equation."""
        x, s, _ = PolynomialRing([Variable(name) for name in "xsw"]).gens
        if self.section.equation.compose([x, s * x, -(s**2)]):
            return joined(()), None
        radius, slope = float(self.radius), self.radius**0.5

        def in_cube(x: Array, share: Array) -> Array:
            return ruled(x, share * np.minimum(slope, radius / np.maximum(np.abs(x), 1e-9)))

        ends = np.array([-radius, radius])
        lines = joined(ruled(ends / max(abs(s), 1), s) for s in np.linspace(-slope, slope, 17))
        return lines, grid_triangles(in_cube, np.linspace(-radius, radius, 55), np.linspace(-1, 1, 55))

    def _outside(self, points: Array) -> Array:
        if not len(points):
            return np.zeros(0, dtype=bool)
        slice_, layer, block = self.section.slice, self.layer, block_of(self.layer, self.section.slice)
        kept = list(range(layer.ambient_dimension))
        if block is not None:  # where M is M(2, 1, 2)
            index = {name: n for n, name in enumerate(coordinates(layer))}
            layer, kept = SingleLayer(2, 1), [index[name] for name in block]
        origin, *directions = np.array([slice_.origin, *slice_.directions], dtype=float)[:, kept]
        return outside(layer, origin + points @ np.array(directions))

    @cached_property
    def in_closure(self) -> str:
        """Which points of Figure 1's surface are singular points of all of M̄, in words; proved.

        Off the line x = y = 0 the point has the preimage V_1, A_1, A_2 in ⟨u, v⟩ with A_1, A_2 independent,
        as y_{1,2} = λ y_{1,1} would mean λ = 0. So it is in the orbit (1, 2, 2), and those on the line, where
        A_2 = 0, are in (1, 1, 2) over ℂ, or (1, 1, 1) for w = 0. Empty for other slices.
        """
        if self.section.slice != standard_slice(self.layer):
            return ""
        strata = (Stratum(1, 2, 2), Stratum(1, 1, 2), Stratum(1, 1, 1))
        off, *on = (tangent_bounds(self.layer, stratum).singular for stratum in strata)
        if off is None or not all(on):
            return ""
        if off:
            return "All points of this surface are singular points of M̄, since there rk A ≤ 2 < a."
        return "In all of M̄ too, the points of the line are singular and the others of the surface smooth."

    @property
    def words(self) -> str:
        """What it shows, for those who cannot see it, and how that is known."""
        line, name = self.section.line(), self.layer.name
        text = f"The surface {pretty(str(self.section.equation))} = 0 in a three-dimensional slice of {name}."
        if line is not None:
            inside = sum(piece.in_m for piece in self.pieces)
            mixed = 0 < inside < len(self.pieces)
            where = " where it is in M and dotted where it is only in the Zariski closure" if mixed else ""
            text += f" Its singular points form a line, {'solid' if inside else 'dotted'}{where}."
        if self.pinch_points:
            points = ", ".join(map(point_text, self.pinch_points))
            text += f" The surface pinches at {points}."
        engine = self.engine.replace("native", "the resultant of the two forms", 1)
        return " ".join(filter(None, (text, self.in_closure, f"Computed by {engine}; {self.evidence}.")))

    def summary(self) -> str:
        """What is drawn, in a line."""
        return f"{pretty(str(self.section.equation))} = 0, a slice of {self.layer.name}"

    @property
    def lines(self) -> list[str]:
        """The surface, its singular points, where these are in M, and the pinch points."""
        lines = [f"surface:   {self.equation} = 0", f"singular:  {' = '.join([*self.singular, '0'])}"]
        for piece in self.pieces:
            low, high = (point_text(self.on_line(end)) for end in piece.ends)
            word = "in M" if piece.in_m else "only in the Zariski closure of M"
            lines.append(f"  from {low} to {high}: {word}")
        return [*lines, *(f"pinch point: {point_text(pinch)}" for pinch in self.pinch_points)]

    def _repr_latex_(self) -> str | None:
        return self.section._repr_latex_()


def point_text(p: tuple[float, float, float]) -> str:
    """A point for people.

    >>> point_text((0.0, -0.5, 1.0))
    '(0, -0.5, 1)'
    """
    return f"({', '.join(f'{c:g}' for c in p)})"


def pretty(polynomial: str) -> str:
    """A polynomial for people.

    >>> pretty("x^2*w + y^23")
    'x²w + y²³'
    """
    powers = re.sub(r"\^(\d+)", lambda power: raised(int(power[1])), polynomial)
    return powers.replace("*", "").replace(" - ", " − ")


def compute_figure_1(
    layer: SingleLayer, slice_: Slice | None = None, *, engine: str = "auto", radius: int = 1
) -> Figure1:
    """Compute a surface in a slice of M̄ and decide which of its singular points are in M.

    Args:
        layer: the architecture, with t ≥ 2.
        slice_: an affine space of dimension three; Figure 1's if ``None``.
        engine: ``"auto"``: the first engine that answers, else the native resultant, which comes first where
            it applies and the layer has a < d or more than ``MAX_AUTO_COORDINATES``; or one by name.
        radius: how far to draw, in each coordinate.

    Raises:
        InputError: if the section is no surface, or there is no such engine.
        TooLargeError: if the system is too large for an engine, and only an engine could compute the section.
        EngineError: if the engine failed and nothing else could compute the section.
    """
    engine = engine_name(engine, CHOICES)
    chosen = slice_ or standard_slice(layer)
    section, source, done = _section(layer, chosen, slice_, engine)
    line = section.line()
    pieces = () if line is None else tuple(pieces_of_line(layer, chosen, line, radius))
    return Figure1(layer, section, source, radius, pieces, done)


def _section(
    layer: SingleLayer, chosen: Slice, given: Slice | None, engine: str
) -> tuple[SurfaceSection, str, Run | None]:
    size, is_planar = layer.ambient_dimension, block_of(layer, chosen) is not None
    names: Sequence[str] = {"auto": _ENGINES, "native": ()}.get(engine, (engine,))
    failures: list[Exception] = []
    reasons: list[str] = []
    if engine == "auto" and is_planar and (size > MAX_AUTO_COORDINATES or layer.alpha < layer.d):
        names, reasons = (), [f"elimination in {size} coordinates would take long"]
    for name in names:
        try:
            installation = locate(engine_named(name))
            problem = build("slice", layer, slice=given)
            done = run(problem, installation)
            return section_of_run(done, chosen), str(installation), done
        except (EngineError, TooLargeError) as error:
            if engine != "auto":
                raise
            missing = isinstance(error, EngineNotFoundError)
            reasons.append(f"{engine_named(name).title} was not found" if missing else str(error))
            failures.append(error)
    if failures and not is_planar:
        # What one engine says of the slice says more than that another is missing.
        nowhere = f"this slice of {layer} needs an engine, and none was found; install engines: {INSTALL}"
        tried = [e for e in failures if not isinstance(e, EngineNotFoundError)]
        raise tried[-1] if tried else EngineNotFoundError(nowhere)
    section = resultant_section(layer, chosen)
    return section, f"native (because {'; '.join(reasons)})" if reasons else "native", None


def section_of_run(done: Run, chosen: Slice) -> SurfaceSection:
    """The section that an engine computed.

    Raises:
        InputError: if it is no surface.
    """
    equation = done.answer.polynomials["equation"]
    if not equation:
        raise InputError("the whole slice lies in the Zariski closure of M; choose one that does not")
    if equation[0].degree() < 1:
        dimension = done.answer.integers["dimension"]
        what = "is empty" if dimension < 0 else f"has dimension {dimension}"
        raise InputError(f"the section {what}: it is no surface; choose another slice")
    singular = done.answer.polynomials["singular"]
    ordered = sorted(
        (f.primitive() for f in singular), key=lambda f: (f.degree(), [-e for e in max(f.terms)])
    )
    return SurfaceSection(chosen, equation[0].primitive(), tuple(ordered))
