"""A surface and its singular points, drawn: with matplotlib for paper, with plotly to be turned."""

from __future__ import annotations

import base64
import contextlib
from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
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
#: Of the eye on the screen from the middle of the cube, in lengths of its edges.
_DISTANCE = 2.0
#: Entries of a legend that have room above the surface.
_MOST_ABOVE = 5


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
        elevation, azimuth: in degrees, from which it is first seen.
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
    azimuth: int = -56

    def eye(self) -> Array:
        """From where it is first seen on the screen, in its coordinates."""
        up, around = np.radians([self.elevation, self.azimuth])
        direction = [np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)]
        return 2 * _DISTANCE * self.radius * np.array(direction)

    def hidden(self) -> int:
        """How many marks the surface hides at first.

        A mark at p is hidden if the segment from p to the eye e meets a triangle: p + t(e − p) is
        a + u(b − a) + v(c − a) with u, v ≥ 0, u + v ≤ 1 and 0 < t < 1.
        """
        triangles = np.concatenate(self.surface)
        a, sides = triangles[:, 0], triangles[:, 1:] - triangles[:, :1]
        eye, number = self.eye(), 0
        for p in (point for mark in self.marks for point in mark.points):
            towards = (eye - p) / np.linalg.norm(eye - p)
            start = p + 0.03 * self.radius * towards  # beyond the triangles about p itself
            across = np.cross(np.broadcast_to(eye - start, a.shape), sides[:, 1])
            scale = (sides[:, 0] * across).sum(axis=1)
            scale[np.abs(scale) < 1e-12] = np.inf
            u = ((start - a) * across).sum(axis=1) / scale
            along = np.cross(start - a, sides[:, 0])
            v, t = along @ (eye - start) / scale, (sides[:, 1] * along).sum(axis=1) / scale
            number += bool(((u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0) & (t < 1)).any())
        return number

    def singular(self) -> list[tuple[bool, Array]]:
        """The points shown of a singular locus that is no line: all in M, every third of the others."""
        shown = [(True, self.curve[0]), (False, self.curve[1][::3])]
        return [(in_m, points) for in_m, points in shown if len(points)]


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
    # A long legend would hide the surface, and stands below it.
    place: dict[str, Any] = {"bbox_to_anchor": (0.0, 0.99)}
    if len(handles) > _MOST_ABOVE:
        place = {"bbox_to_anchor": (0.02, 0.03), "ncols": 2, "columnspacing": 1.2}
    axes.legend(handles=handles, loc="upper left", frameon=False, fontsize=10, **place)
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
        axes.scatter(
            *points.T,
            s=5,
            c=_RED if in_m else "white",
            edgecolors=_RED,
            linewidths=0.6,
            depthshade=False,
            zorder=3,
        )
    for pinch in scene.pinches:
        axes.scatter(*pinch, s=42, c=_INK, edgecolors="white", linewidths=0.8, depthshade=False, zorder=4)
    for mark in scene.marks:
        inner, edge = (mark.colour, "white") if mark.filled else ("white", mark.colour)
        axes.scatter(
            *mark.points.T,
            s=34,
            marker=_SYMBOLS[mark.symbol],
            c=inner,
            edgecolors=edge,
            linewidths=0.9,
            depthshade=False,
            zorder=5,
        )


def _draw_axes(axes: Any, scene: Scene) -> None:
    """The names and ends of the axes, and from where all is seen."""
    radius = scene.radius
    for axis, name in zip("xyz", scene.names, strict=True):
        getattr(axes, f"set_{axis}label")(f"${name}$", labelpad=1, fontsize=12)
        getattr(axes, f"set_{axis}lim")(-radius, radius)
        ticks = (-radius / 2, 0, radius / 2)  # not the ends, as two axes meet there
        getattr(axes, f"set_{axis}ticks")(ticks, [f"{tick:g}".replace("-", "−") for tick in ticks])
        pane = getattr(axes, f"{axis}axis")
        pane.set_pane_color((1, 1, 1, 0))
        pane._axinfo["grid"].update(color="#dddddd", linewidth=0.5)
    axes.tick_params(labelsize=10, pad=-1, colors="#555555")
    axes.set_box_aspect((1, 1, 1), zoom=0.93)
    axes.view_init(elev=scene.elevation, azim=scene.azimuth)


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
    """A scene as plotly's data and layout, JSON-ready.

    Lines and points in the surface are small solids: from every side half of a solid is in front of the
    surface. A solid has no sign in a legend, so each has an entry that is drawn nowhere else.
    """
    words, radius = scene.words, scene.radius
    data = [
        _mesh(triangles, colour, name)
        for triangles, colour, name in zip(scene.surface, (_SURFACE, _PALE), words[:2], strict=True)
        if len(triangles)
    ]
    for n, line in enumerate(scene.rulings):
        plain: dict[str, Any] = {"hoverinfo": "skip", "showlegend": bool(words.lines) and n == 0}
        plain |= {"name": words.lines} if words.lines else {}
        data.append(_scatter(line, "lines", line={"color": _LINE, "width": 1.5}, **plain))
    data += _singular_traces(scene)
    if len(scene.pinches):
        data += _points(Mark(scene.pinches, words.point, "circle", _INK, ()), 0.03 * radius)
    for mark in scene.marks:
        data += _points(mark, 0.042 * radius)
    axes = {
        f"{axis}axis": {
            "title": {"text": name},
            "range": [-radius, radius],
            "nticks": 5,
            "showbackground": False,
            "gridcolor": "#dddddd",
            "zeroline": False,
            "showspikes": False,
        }
        for axis, name in zip("xyz", scene.names, strict=True)
    }
    # The nearest corner of the cube is the largest, so the middle of the picture is below that of the cube.
    lower = -0.14 * float(np.cos(np.radians(scene.elevation)))
    camera = {"center": {"x": 0, "y": 0, "z": round(lower, 3)}}
    eye = (scene.eye() / (2 * radius)).round(3).tolist()
    layout = {
        "scene": {
            **axes,
            "aspectmode": "cube",
            "dragmode": "orbit",
            "camera": camera | {"eye": dict(zip("xyz", eye, strict=True))},
        },
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "legend": {"orientation": "h", "x": 0, "y": 0, "yanchor": "top", "itemsizing": "constant"},
    }
    return {"data": data, "layout": layout}


def _singular_traces(scene: Scene) -> list[dict[str, Any]]:
    """The red line or curve: a tube where it is in M, dots with gaps where it is not."""
    words, radius = scene.words, scene.radius
    names = {True: words.solid, False: words.dotted}
    thin = 0.012 * radius
    data = []
    shown = [in_m for in_m, _ in (*scene.segments, *scene.singular())]
    for in_m in dict.fromkeys(shown):
        line = {"color": _RED, "width": 5, "dash": "solid" if in_m else "dot"}
        data.append(_entry("lines", names[in_m], line=line))
    for in_m, ends in scene.segments:
        triangles = _tube(ends, thin)
        if not in_m:
            vertices, faces = _solids(_dots(ends, 4.5 * thin), "circle", 1.3 * thin)
            triangles = vertices[faces]
        data.append(_mesh(triangles, _RED, names[in_m]) | {"legendgroup": names[in_m], "showlegend": False})
    for in_m, points in scene.singular():
        vertices, faces = _solids(points, "diamond", thin)
        solid = _mesh(vertices[faces], _RED, names[in_m])
        data.append(solid | {"legendgroup": names[in_m], "showlegend": False})
    return data


def _dots(ends: Array, step: float) -> Array:
    """The middles of the dots of a dotted segment, n × 3."""
    whole = float(np.linalg.norm(ends[1] - ends[0]))
    dots: Array = ends[0] + np.arange(step / 2, whole, step)[:, None] / whole * (ends[1] - ends[0])
    return dots


def _points(mark: Mark, radius: float) -> list[dict[str, Any]]:
    """Points as solids, with what is said of each, below their entry in the legend."""
    colour = mark.colour if mark.filled else _PALE
    edge = {"color": "#ffffff" if mark.filled else mark.colour, "width": 1 if mark.filled else 2}
    marker = {"size": 9, "color": colour, "symbol": mark.symbol, "line": edge}
    vertices, faces = _solids(mark.points, mark.symbol, radius)
    solid: dict[str, Any] = {
        "type": "mesh3d",
        "color": colour,
        "name": mark.name,
        "legendgroup": mark.name,
        "showlegend": False,
        "flatshading": True,
        "lighting": {"ambient": 0.95, "diffuse": 0.25, "specular": 0.05},
        **dict(zip("xyz", np.round(vertices.T, 5).tolist(), strict=True)),
        **dict(zip("ijk", faces.T.tolist(), strict=True)),
    }
    if mark.texts:
        each = len(vertices) // len(mark.points)
        solid |= {"text": [text for text in mark.texts for _ in range(each)]}
        solid |= {"hovertemplate": "%{text}<extra></extra>"}
    else:
        solid |= {"hoverinfo": "skip"}
    return [_entry("markers", mark.name, marker=marker), solid]


def _entry(mode: str, name: str, **settings: Any) -> dict[str, Any]:
    """An entry of the legend for solids; a click on it hides and shows them."""
    nowhere = np.full((1, 3), None)
    return {
        "type": "scatter3d",
        "mode": mode,
        "name": name,
        "legendgroup": name,
        "showlegend": True,
        **dict(zip("xyz", nowhere.T.tolist(), strict=True)),
        **settings,
    }


def _solids(points: Array, symbol: str, radius: float) -> tuple[Array, Array]:
    """Balls, octahedra or cubes about points: all vertices, and triangles as triples of their numbers."""
    corners, faces = _solid(symbol)
    first = len(corners) * np.arange(len(points))[:, None, None]
    vertices: Array = (points[:, None] + radius * corners).reshape(-1, 3)
    return vertices, (faces + first).reshape(-1, 3)


@cache
def _solid(symbol: str) -> tuple[Array, Array]:
    """The corners of a solid about 0, and the triangles of its surface: the convex hull of its corners."""
    from scipy.spatial import ConvexHull

    if symbol == "square":
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.8
    elif symbol == "diamond":
        corners = np.concatenate([np.eye(3), -np.eye(3)]) * 1.3
    else:
        height, turn = np.meshgrid(np.linspace(0, np.pi, 9)[1:-1], np.arange(12) * np.pi / 6)
        ring = np.stack([np.sin(height) * np.cos(turn), np.sin(height) * np.sin(turn), np.cos(height)], -1)
        corners = np.concatenate([ring.reshape(-1, 3), [[0, 0, 1], [0, 0, -1]]])
    return corners, ConvexHull(corners).simplices


def _mesh(triangles: Array, colour: str, name: str) -> dict[str, Any]:
    vertices, index = np.unique(np.round(triangles.reshape(-1, 3), 5), axis=0, return_inverse=True)
    lighting = {"ambient": 0.65, "diffuse": 0.7, "specular": 0.15, "roughness": 0.6, "fresnel": 0.05}
    return {
        "type": "mesh3d",
        "color": colour,
        "name": name,
        "opacity": 0.4 if colour == _PALE else 1.0,
        "lighting": lighting,
        "lightposition": {"x": 300, "y": -600, "z": 1000},
        "flatshading": False,
        "hoverinfo": "skip",
        "showlegend": True,
        **dict(zip("xyz", vertices.T.tolist(), strict=True)),
        **dict(zip("ijk", index.reshape(-1, 3).T.tolist(), strict=True)),
    }


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
