"""The critical points of a loss on the surface of Figure 1, with its level sets, drawn.

>>> from fractions import Fraction
>>> from agattn.geometry.critical_points.loss import loss
>>> layer = SingleLayer(2, 1)
>>> target = standard_slice(layer).point([Fraction(-3, 4), Fraction(-1, 4), Fraction(-3, 10)])
>>> for point in LossFigure(loss(layer, "gaussian", target=target)).points:
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
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from agattn.algebra.polynomial import Polynomial
from agattn.architectures import SingleLayer
from agattn.errors import InputError, needs
from agattn.geometry.critical_points.elimination import SurfacePoint, critical_points_on_umbrella
from agattn.geometry.critical_points.loss import Loss
from agattn.geometry.sections.slices import standard_slice
from agattn.reports.figure1 import compute_figure_1
from agattn.reports.surface import Array, Marks, Scene, SurfaceFigure, evaluator, joined, ruled

_LEVELS = 9
_STYLES = {
    "minimum": ("#1b7f3b", "circle"),
    "saddle": ("#d17a00", "diamond"),
    "degenerate": ("#6a3fa0", "square"),
    "minimum on the singular line": ("#6a3fa0", "square"),
}


@dataclass(frozen=True)
class LossFigure(SurfaceFigure):
    """A loss of M(2, 1, 2) on the surface of Figure 1: critical points, proved, and level sets, numerical."""

    loss: Loss

    @cached_property
    def in_slice(self) -> Polynomial:
        """The loss at (x, y, w).

        Raises:
            InputError: if it is not a loss of M(2, 1, 2).
        """
        layer = SingleLayer(2, 1)
        if self.loss.layer.ambient_dimension != layer.ambient_dimension:
            raise InputError(f"the loss is for {self.loss.layer.name}; the surface is in a slice of M(2,1,2)")
        result: Polynomial = self.loss.value(standard_slice(layer).images())
        return result

    @cached_property
    def points(self) -> list[SurfacePoint]:
        """All critical points on the surface, and the one on its singular line.

        Raises:
            InputError: if the loss is not definite on the slice, or infinitely many points are critical.
        """
        return critical_points_on_umbrella(self.in_slice)

    @cached_property
    def scene(self) -> Scene:
        """The surface with level sets of the loss in place of its rulings, and the critical points."""
        places = np.array([_at(point) for point in self.points])
        radius = max(1, ceil(np.abs(places).max()))
        base = compute_figure_1(SingleLayer(2, 1), engine="native", radius=radius).scene
        return replace(
            base,
            curves=joined(self._level_curves(radius)),
            curves_name="level sets of the loss",
            marks=(*base.marks, *self._marks()),
            elevation=55,
            azimuth=56 if places[:, 1].sum() > 0 else -56,  # on the side of most points
        )

    def _level_curves(self, radius: int) -> Iterable[Array]:
        """The parts in the cube of the level sets of the critical points, and of some losses between."""
        with needs("drawing", "matplotlib", "figures"):
            from contourpy import contour_generator
        x, s = np.linspace(-radius, radius, 101), np.linspace(-1, 1, 101) * radius**0.5
        points = ruled(*np.meshgrid(x, s))
        values = evaluator(self.in_slice)(points.reshape(-1, 3)).reshape(points.shape[:2])
        shown = np.quantile(values[np.abs(points[..., 1]) <= radius], np.linspace(0, 0.9, _LEVELS) ** 1.5)
        critical = [float(point.loss.mid()) for point in self.points if not point.on_line and point.index]
        curves = contour_generator(x, s, values)
        for value in (*shown[1:], *critical):
            level: Any = curves.lines(value)
            for line in level:
                points = ruled(*line.T)
                inside = np.abs(points[:, 1]) <= radius
                for part in np.split(points, np.flatnonzero(np.diff(inside)) + 1):
                    if len(part) > 1 and abs(part[0, 1]) <= radius:
                        yield part

    def _marks(self) -> Iterable[Marks]:
        """The critical points by their kinds, those outside M hollow."""
        for kind, in_m in dict.fromkeys((point.kind, point.in_m) for point in self.points):
            chosen = [point for point in self.points if (point.kind, point.in_m) == (kind, in_m)]
            texts = tuple(f"{point}<br>stratum {point.stratum}" for point in chosen)
            name = kind if in_m else f"{kind}, outside M"
            yield Marks(np.array(list(map(_at, chosen))), name, *_STYLES[kind], filled=in_m, texts=texts)

    def summary(self) -> str:
        """What is drawn, in a line."""
        return "Critical points of a loss on a slice of M(2,1,2)"

    @property
    def words(self) -> str:
        """What it shows, for those who cannot see it, and how that is known."""
        *smooth, line = self.points
        count = Counter(point.kind for point in smooth)
        plural = {"minimum": "minima", "saddle": "saddles"}
        kinds = ", ".join(f"{n} {plural.get(kind, kind) if n > 1 else kind}" for kind, n in count.items())
        least = f", the least with loss {float(smooth[0].loss.mid()):.4g}" if smooth else ""
        samples = f", {self.loss.samples} samples" if self.loss.samples else ""
        return (
            "The surface x²w + y² = 0 of Figure 1, in a slice of M(2,1,2), with level sets of a loss "
            f"({self.loss.metric}{samples}). "
            f"Restricted to the smooth part of the surface it has {kinds or 'no critical points'}{least}; "
            f"restricted to the singular line it is least at w = {float(line.position[2].mid()):.4g}, "
            f"{'in M' if line.in_m else 'outside M'}. These are critical points of the loss in the slice; "
            "along all of M the loss may fall further. "
            "Critical points: proved, in balls. Level sets: numerical."
        )


def _at(point: SurfacePoint) -> Array:
    return np.array([float(c.mid()) for c in point.position])
