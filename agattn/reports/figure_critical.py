"""The critical points of a loss on the surface of Figure 1, with its level sets, drawn.

>>> figure = compute_figure_critical()
>>> for point in figure.points:
...     print(point)
minimum at (-0.8957, -0.2801, -0.09779): loss 0.39614 (proved)
minimum at (-0.511, -0.3028, -0.3512): loss 0.437088 (proved)
saddle at (-0.6457, -0.3102, -0.2308): loss 0.453109 (proved)
minimum at (0.1876, -0.1672, -0.7949): loss 3.85589 (proved)
saddle at (-0.2757, 0.09016, -0.1069): loss 9.41511 (proved)
minimum on the singular line at (0, 0, -0.675): loss 5.25 (proved)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from agattn.algebra.echelon import fraction
from agattn.algebra.entries import read_number
from agattn.architectures import SingleLayer
from agattn.errors import InputError, needs
from agattn.evidence import Evidence
from agattn.geometry.critical_points.loss import Loss, loss
from agattn.geometry.critical_points.umbrella import SurfacePoint, critical_points_on_umbrella
from agattn.geometry.sections.slices import standard_slice
from agattn.limits import limits
from agattn.reports.draw_figure1 import Mark, Scene, SurfaceFigure
from agattn.reports.figure1 import Figure1, compute_figure_1
from agattn.reports.surface import Array
from agattn.sheet.result import Key, key

#: In the slice, of the target of the loss that is drawn by default.
TARGET = (Fraction(-3, 4), Fraction(-1, 4), Fraction(-3, 10))
_LEVELS = 9
#: Degrees from which the surface may first be seen, the usual ones first: where all points are in sight.
_UP, _AROUND = (20, 35, 50, 55, 60, 65, 75), (-56, -90, -120, 56, 90, 120)
_STYLES = {
    "minimum": ("circle", "#1b7f3b"),
    "saddle": ("diamond", "#d17a00"),
    "degenerate": ("square", "#6a3fa0"),
    "minimum on the singular line": ("square", "#6a3fa0"),
}


class FigureCritical(SurfaceFigure, tag=("figure", "critical")):
    """Critical points of a loss on the surface of Figure 1: figure critical.

    The loss is one of M(2, 1, 2). The evidence is that of the points; level sets are drawn in floating point.
    """

    surface: Figure1
    loss: Loss
    target: Key[
        tuple[Fraction, ...] | None,
        "The point of the slice from which the loss is the distance; null for a loss of data.",
    ]
    points: Key[
        tuple[SurfacePoint, ...], "All critical points on the surface, and the one on its singular line."
    ]
    evidence: Key[Evidence, "How the result is known."] = Evidence.PROVED

    @key
    def architecture(self) -> SingleLayer:
        """The layer."""
        return self.surface.layer

    @key
    def metric(self) -> str:
        """The metric of the distance, or `data`."""
        return self.loss.metric

    @key
    def equation(self) -> str:
        """The equation of the surface."""
        return self.surface.equation

    @key(name="levels")
    def values(self) -> tuple[float, ...]:
        """The losses whose level sets are drawn."""
        # Those of the critical points, and some between.
        radius = self.surface.radius
        x, s = np.meshgrid(np.linspace(-radius, radius, 41), np.linspace(-1, 1, 41) * radius**0.5)
        inside = np.abs(x * s) <= radius
        shown = np.quantile(self._value(x, s)[inside], np.linspace(0, 0.9, _LEVELS) ** 1.5)
        critical = [float(point.loss.mid()) for point in self.points if not point.on_line and point.index]
        return tuple(sorted({*map(float, shown[1:]), *critical}))

    def _value(self, x: Array, s: Array) -> Array:
        """The loss at the points (x, sx, −s²)."""
        f = self.loss.value(self.surface.section.slice.images())
        places = (x, s * x, -(s**2))
        total = np.zeros_like(x)
        for exponents, c in f.terms.items():
            total += float(c) * np.prod([p**e for p, e in zip(places, exponents, strict=True)], axis=0)
        return total

    @cached_property
    def scene(self) -> Scene:
        """The surface with level sets of the loss in place of its rulings, and the critical points."""
        base = self.surface.scene
        words = base.words._replace(lines="level sets of the loss")
        drawn = replace(base, rulings=tuple(self._level_curves()), words=words, marks=tuple(self._marks()))
        views = (replace(drawn, elevation=up, azimuth=around) for up in _UP for around in _AROUND)
        return min(views, key=Scene.hidden)  # the first of the best

    def _level_curves(self) -> Iterable[Array]:
        with needs("drawing", "matplotlib", "figures"):
            from contourpy import contour_generator
        radius = self.surface.radius
        x, s = np.linspace(-radius, radius, 161), np.linspace(-1, 1, 161) * radius**0.5
        curves = contour_generator(x, s, self._value(*np.meshgrid(x, s)))
        for value in self.values:
            lines: Any = curves.lines(value)
            for line in lines:
                points = np.stack([line[:, 0], line[:, 0] * line[:, 1], -(line[:, 1] ** 2)], axis=1)
                inside = np.abs(points[:, 1]) <= radius
                for part in np.split(points, np.flatnonzero(np.diff(inside)) + 1):
                    if len(part) > 1 and abs(part[0, 1]) <= radius:
                        yield part

    def _marks(self) -> Iterable[Mark]:
        shown = [point for point in self.points if np.abs(_place(point)).max() <= self.surface.radius]
        kinds = Counter((point.kind, point.in_m) for point in shown)
        for kind, in_m in kinds:
            chosen = [point for point in shown if (point.kind, point.in_m) == (kind, in_m)]
            texts = tuple(
                f"{point.kind}<br>loss {float(point.loss.mid()):.6g}<br>stratum {point.stratum}"
                + ("" if point.index is None else f"<br>index {point.index}")
                + ("" if point.in_m else "<br>not in M")
                for point in chosen
            )
            name = kind if in_m else f"{kind}, outside M"
            yield Mark(np.array([_place(point) for point in chosen]), name, *_STYLES[kind], texts, in_m)

    @property
    def words(self) -> str:
        """The figure in words, for those who cannot see it."""
        about = f"a loss of data, {self.loss.samples} samples" if self.target is None else _distance(self)
        *smooth, line = self.points
        count = Counter(point.kind for point in smooth)
        listed = ", ".join(
            f"{n} {kind}{'s' if n > 1 and kind != 'minimum' else ''}" for kind, n in count.items()
        )
        listed = listed.replace("minimum", "minima") if count["minimum"] > 1 else listed
        best = min(smooth, key=lambda point: float(point.loss.mid()), default=None)
        least = "" if best is None else f", the least with loss {float(best.loss.mid()):.4g}"
        return (
            f"The surface x²w + y² = 0 of Figure 1, in a slice of M(2,1,2), with level sets of {about}. "
            f"Restricted to the smooth part of the surface it has {listed or 'no critical points'}{least}; "
            f"restricted to the singular line it is least at w = {float(line.position[2].mid()):.4g}, "
            f"{'in M' if line.in_m else 'outside M'}. These are critical points of the loss in the slice; "
            "along all of M the loss may fall further."
        )

    @property
    def title(self) -> str:
        """What is drawn, in a line."""
        return "Critical points of a loss on a slice of M(2,1,2)"

    @property
    def found_by(self) -> str:
        """How the critical points and the level sets are known."""
        return f"Critical points: {self.evidence}, in balls. Level sets: numerical."

    @property
    def lines(self) -> list[str]:
        """The surface, and the critical points."""
        return [f"surface:   {self.equation} = 0", *map(str, self.points)]


def _place(point: SurfacePoint) -> Array:
    return np.array([float(c.mid()) for c in point.position])


def _distance(figure: FigureCritical) -> str:
    assert figure.target is not None
    place = ", ".join(f"{float(c):g}" for c in figure.target)
    metric = {"gaussian": "for Gaussian tokens", "generic": "for random tokens"}
    return f"the squared distance to ({place}) {metric.get(figure.loss.metric, f'({figure.loss.metric})')}"


def compute_figure_critical(
    metric: str = "gaussian",
    target: Sequence[Fraction | int | str] = TARGET,
    *,
    given: Loss | None = None,
    radius: int = 1,
) -> FigureCritical:
    """Compute the critical points of a loss on the surface of Figure 1.

    Args:
        metric: of the distance, as for :func:`agattn.geometry.critical_points.loss.loss`.
        target: x, y, w of a function in the slice, from which the distance is.
        given: a loss of M(2, 1, 2), instead of such a distance.
        radius: how far to draw, in each coordinate.

    Raises:
        InputError: if the target is no three numbers, the loss is not one of M(2, 1, 2), it is not definite
            on the slice, or it has infinitely many critical points there.
    """
    layer = SingleLayer(2, 1)
    slice_ = standard_slice(layer)
    place = None
    if given is None:
        if len(target) != 3:
            raise InputError(f"the target has {len(target)} coordinates; the slice has x, y and w")
        place = tuple(fraction(read_number(x)[0]) for x in target)
        given = loss(layer, metric, target=slice_.point(place), seed=limits().seed)
    elif len(given.linear) != layer.ambient_dimension:
        raise InputError(f"the loss is for {given.layer.name}; the surface is in a slice of M(2,1,2)")
    points = critical_points_on_umbrella(given.value(slice_.images()))
    surface = compute_figure_1(layer, engine="native", radius=radius)
    return FigureCritical(surface, given, place, tuple(points))
