"""A surface and its singular points, drawn: with matplotlib for paper, with plotly to be turned."""

from __future__ import annotations

import base64
import contextlib
from abc import abstractmethod
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from agattn.errors import InputError
from agattn.reports.drawing import FigureResult, empty, page
from agattn.reports.surface import Array, grid_triangles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SURFACE, _PALE, _INK, _RED, _LINE = "#7fb2e5", "#d9dee4", "#1a1a1a", "#b3261e", "#2f5f8f"
_LIGHT = np.array([0.25, -0.5, 0.83])


class Words(NamedTuple):
    """What a legend calls the surface in M and beyond it, the red points in M and beyond it, and the black.

    ``lines`` is for the thin lines, which have no entry if it is empty.
    """

    surface: str = "in M"
    pale: str = "only in the Zariski closure"
    solid: str = "singular, in M"
    dotted: str = "singular, only in the Zariski closure"
    point: str = "pinch point"
    lines: str = ""


_FIGURE_1 = Words()


class Mark(NamedTuple):
    """Points of one kind on the surface, n × 3: their entry in the legend, and what is said of each."""

    points: Array
    name: str
    symbol: str
    colour: str
    texts: tuple[str, ...]
    filled: bool = True


#: Symbols of matplotlib by those of plotly.
_SYMBOLS = {"circle": "o", "diamond": "D", "square": "s"}


@dataclass(frozen=True)
class Scene:
    """What is drawn, in the cube [−radius, radius]³, the same on paper and on the screen.

    Attributes:
        names: of the axes.
        formula: of the surface, in LaTeX.
        surface: its triangles, m × 3 × 3: those in M, and those only in its Zariski closure.
        rulings: lines on it, n × 3 each, straight ones by their ends.
        segments: those of a singular line, 2 × 3 each, with whether they are in M.
        curve: points of another singular locus, n × 3: those in M, and those only in its closure.
        pinches: the pinch points, n × 3.
        words: of the legend.
        elevation: in degrees, from which it is first seen.
        marks: further points.
    """

    names: tuple[str, str, str]
    formula: str
    radius: int
    surface: tuple[Array, Array]
    rulings: tuple[Array, ...]
    segments: tuple[tuple[bool, Array], ...]
    curve: tuple[Array, Array]
    pinches: Array
    words: Words = _FIGURE_1
    elevation: int = 20
    marks: tuple[Mark, ...] = ()

    def singular(self) -> list[tuple[bool, Array]]:
        """The points shown of a singular locus that is no line: all in M, every third of the others."""
        shown = [(True, self.curve[0]), (False, self.curve[1][::3])]
        return [(in_m, points) for in_m, points in shown if len(points)]


@dataclass(frozen=True, repr=False)
class SurfaceFigure(FigureResult):
    """A figure that is a scene, with a surface to turn on its page."""

    @property
    @abstractmethod
    def scene(self) -> Scene:
        """What is drawn."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What is drawn, in a line."""

    def summary(self) -> str:
        """What is drawn, in a line."""
        return self.title

    def page(self) -> str:
        """The figure as one HTML page, which holds plotly.js and asks the network for nothing.

        Raises:
            InputError: if plotly is missing.
        """
        figure = plotly_figure(self.scene)
        note = f"Drag to turn, scroll to zoom. {self.found_by}"
        return page(self.title, self.words, note, figure["data"], figure["layout"])

    def drawing(self) -> Figure:
        """The figure on paper.

        Raises:
            InputError: if matplotlib is missing.
        """
        return draw(self.scene)

    def _repr_html_(self) -> str:
        """The picture, and what it shows in words; only the words where matplotlib is missing."""
        picture = ""
        with contextlib.suppress(InputError):
            data = BytesIO()
            self.drawing().savefig(data, format="png", dpi=110)
            source = f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"
            picture = f'<img src="{source}" alt="{escape(self.words)}" style="background:#fff">'
        return f"<figure>{picture}<figcaption>{escape(self.caption)}</figcaption></figure>"

    @property
    def caption(self) -> str:
        """What stands below the picture in a notebook."""
        return self.note


def draw(scene: Scene) -> Figure:
    """The surface, its singular points solid in M and dotted outside M, and its pinch points.

    Raises:
        InputError: if matplotlib is missing.
    """
    canvas, flat = empty(5.4, 5.2)
    flat.remove()
    axes: Any = canvas.add_axes((0.0, 0.02, 1.0, 0.98), projection="3d", computed_zorder=False)
    _draw_surface(axes, scene)
    _draw_points(axes, scene)
    _draw_axes(axes, scene)
    handles = _legend(scene)
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.0, 0.99), frameon=False, fontsize=10)
    return canvas


_SOLID: dict[str, Any] = {"color": _RED, "linewidth": 2.4}
_DOTTED = _SOLID | {"linestyle": (0, (0.6, 1.6)), "dash_capstyle": "round"}


def _draw_surface(axes: Any, scene: Scene) -> None:
    """The triangles, those outside M pale, and the lines on them."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    for triangles, colour, alpha in zip(scene.surface, (_SURFACE, _PALE), (1.0, 0.35), strict=True):
        if len(triangles):
            colours = _shaded(triangles, colour, alpha)
            # Edges in the colour of their triangle, or seams would show between them.
            drawn = {
                "facecolors": colours,
                "edgecolors": colours if alpha == 1 else "none",
                "linewidths": 0.3,
            }
            axes.add_collection3d(Poly3DCollection(triangles, zorder=1, rasterized=True, **drawn))
    for line in scene.rulings:
        axes.plot(*line.T, color=_LINE, linewidth=0.35, alpha=0.55, zorder=2)


def _draw_points(axes: Any, scene: Scene) -> None:
    """The singular points, the pinch points, and the marks."""
    for in_m, ends in scene.segments:
        axes.plot(*ends.T, zorder=3, **(_SOLID if in_m else _DOTTED))
    for in_m, points in scene.singular():
        axes.scatter(*points.T, s=5, c=_RED if in_m else "white", edgecolors=_RED, linewidths=0.6,
                     depthshade=False, zorder=3)  # fmt: skip
    for pinch in scene.pinches:
        axes.scatter(*pinch, s=42, c=_INK, edgecolors="white", linewidths=0.8, depthshade=False, zorder=4)
    for mark in scene.marks:
        inner, edge = (mark.colour, "white") if mark.filled else ("white", mark.colour)
        axes.scatter(*mark.points.T, s=34, marker=_SYMBOLS[mark.symbol], c=inner, edgecolors=edge,
                     linewidths=0.9, depthshade=False, zorder=5)  # fmt: skip


def _draw_axes(axes: Any, scene: Scene) -> None:
    """The names and ends of the axes, and from where all is seen."""
    radius = scene.radius
    for axis, name in zip("xyz", scene.names, strict=True):
        getattr(axes, f"set_{axis}label")(f"${name}$", labelpad=-6, fontsize=12)
        getattr(axes, f"set_{axis}lim")(-radius, radius)
        getattr(axes, f"set_{axis}ticks")([-radius, 0, radius])
        pane = getattr(axes, f"{axis}axis")
        pane.set_pane_color((1, 1, 1, 0))
        pane._axinfo["grid"].update(color="#dddddd", linewidth=0.5)
    axes.tick_params(labelsize=8, pad=-2, colors="#555555")
    axes.set_box_aspect((1, 1, 1), zoom=0.93)
    axes.view_init(elev=scene.elevation, azim=-56)


def _legend(scene: Scene) -> list[Any]:
    """The entries of the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(facecolor=_SURFACE, label=f"${scene.formula} = 0$")]
    words = scene.words
    if words.lines:
        handles.append(Line2D([], [], label=words.lines, color=_LINE, linewidth=0.7))
    states = {in_m for in_m, _ in (*scene.segments, *scene.singular())}
    if True in states:
        handles.append(Line2D([], [], label=words.solid.replace("M", r"$\mathcal{M}$"), **_SOLID))
    if False in states:
        handles.append(Line2D([], [], label=words.dotted.removeprefix("singular, "), **_DOTTED))
    if len(scene.pinches):
        dot: dict[str, Any] = {"color": _INK, "marker": "o", "linestyle": "", "markersize": 6}
        handles.append(Line2D([], [], label=words.point, **dot))
    for mark in scene.marks:
        dot = {"color": mark.colour, "marker": _SYMBOLS[mark.symbol], "linestyle": "", "markersize": 6}
        dot |= {} if mark.filled else {"markerfacecolor": "white"}
        handles.append(Line2D([], [], label=mark.name, **dot))
    return handles


def _shaded(triangles: Array, colour: str, alpha: float) -> Array:
    """Colours of triangles lit from one direction, the same from both sides."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    light = np.abs(normals / np.maximum(lengths, 1e-300) @ (_LIGHT / np.linalg.norm(_LIGHT)))
    base = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    shade = (0.62 + 0.45 * light)[:, None]
    return np.concatenate([np.clip(base * shade, 0, 1), np.full((len(triangles), 1), alpha)], axis=1)


def plotly_figure(scene: Scene) -> dict[str, Any]:
    """The same as plotly's data and layout, JSON-ready."""
    words = scene.words
    data = [
        _mesh(triangles, colour, name)
        for triangles, colour, name in zip(scene.surface, (_SURFACE, _PALE), words[:2], strict=True)
        if len(triangles)
    ]
    for n, line in enumerate(scene.rulings):
        plain: dict[str, Any] = {"hoverinfo": "skip", "showlegend": bool(words.lines) and n == 0}
        plain |= {"name": words.lines} if words.lines else {}
        data.append(_scatter(line, "lines", line={"color": _LINE, "width": 1.5}, **plain))
    shown: set[bool] = set()
    for in_m, ends in scene.segments:
        name = words.solid if in_m else words.dotted
        if in_m:
            piece = _mesh(_tube(ends, 0.012 * scene.radius), _RED, name)
        else:
            number = max(3, int(18 * np.linalg.norm(ends[1] - ends[0]) / scene.radius))
            dots = np.linspace(ends[0], ends[1], number)[1:]
            piece = _scatter(dots, "markers", marker={"size": 4, "color": _RED}, name=name)
        data.append(piece | {"showlegend": in_m not in shown})
        shown.add(in_m)
    for in_m, points in scene.singular():
        marker = {"size": 2.5, "color": _RED, "symbol": "circle" if in_m else "circle-open"}
        name = words.solid if in_m else words.dotted
        data.append(_scatter(points, "markers", marker=marker, name=name))
    if len(scene.pinches):
        marker = {"size": 6, "color": _INK, "line": {"color": "#ffffff", "width": 1}}
        data.append(_scatter(scene.pinches, "markers", marker=marker, name=words.point))
    for mark in scene.marks:
        marker = {"size": 7, "color": mark.colour, "symbol": mark.symbol + "-open" * (not mark.filled)}
        marker |= {"line": {"color": "#ffffff", "width": 1}} if mark.filled else {}
        said: dict[str, Any] = {"text": list(mark.texts), "hovertemplate": "%{text}<extra></extra>"}
        data.append(_scatter(mark.points, "markers", marker=marker, name=mark.name, **said))
    axes = {
        f"{axis}axis": {
            "title": {"text": name}, "range": [-scene.radius, scene.radius], "nticks": 5,
            "showbackground": False, "gridcolor": "#dddddd", "zeroline": False, "showspikes": False,
        }
        for axis, name in zip("xyz", scene.names, strict=True)
    }  # fmt: skip
    near = np.cos(np.radians(scene.elevation)) / np.cos(np.radians(20))
    height = 2.06 * near * np.tan(np.radians(scene.elevation))
    eye = {"x": 1.25 * near, "y": -1.65 * near, "z": height}
    layout = {
        "scene": {
            **axes, "aspectmode": "cube", "dragmode": "orbit",
            "camera": {"eye": {axis: round(float(x), 2) for axis, x in eye.items()}},
        },
        "margin": {"l": 0, "r": 0, "t": 8, "b": 0},
        "legend": {"orientation": "h", "x": 0, "y": 0, "yanchor": "top"},
    }  # fmt: skip
    return {"data": data, "layout": layout}


def _mesh(triangles: Array, colour: str, name: str) -> dict[str, Any]:
    vertices, index = np.unique(np.round(triangles.reshape(-1, 3), 5), axis=0, return_inverse=True)
    lighting = {"ambient": 0.65, "diffuse": 0.7, "specular": 0.15, "roughness": 0.6, "fresnel": 0.05}
    return {
        "type": "mesh3d", "color": colour, "name": name, "opacity": 0.4 if colour == _PALE else 1.0,
        "lighting": lighting, "lightposition": {"x": 300, "y": -600, "z": 1000}, "flatshading": False,
        "hoverinfo": "skip", "showlegend": True,
        **dict(zip("xyz", vertices.T.tolist(), strict=True)),
        **dict(zip("ijk", index.reshape(-1, 3).T.tolist(), strict=True)),
    }  # fmt: skip


def _tube(ends: Array, radius: float) -> Array:
    """The triangles of a segment as a thin tube, which a surface through it hides from no side."""
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    across /= np.linalg.norm(across)
    around = np.cross(along, across)
    angle = np.linspace(0, 2 * np.pi, 13)[:, None]
    circle = radius * (np.cos(angle) * across + np.sin(angle) * around)
    return grid_triangles(lambda i, j: circle[j] + ends[i], np.arange(2), np.arange(13))


def _scatter(points: Array, mode: str, **settings: Any) -> dict[str, Any]:
    """A trace of points, n × 3, or of the lines between them."""
    xyz = zip("xyz", np.round(points.T, 6).tolist(), strict=True)
    return {"type": "scatter3d", "mode": mode, **dict(xyz), **settings}
