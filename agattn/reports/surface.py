"""A surface and its singular points: triangles and points of it, drawn on paper or to be turned on a page.

Everything here is floating point and only for the eye; what a figure *says* is computed exactly elsewhere.
"""

from __future__ import annotations

import base64
import contextlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agattn.algebra.polynomial import Polynomial
from agattn.errors import InputError, needs
from agattn.reports.drawing import Drawable, Figure, as_file, empty, page, save

Array = np.ndarray[Any, Any]

SURFACE, PALE, INK, RED, LINE = "#7fb2e5", "#d9dee4", "#1a1a1a", "#b3261e", "#2f5f8f"
_LIGHT = np.array([0.25, -0.5, 0.83])
#: Entries of a legend that have room above the surface.
_MOST_ABOVE = 5
#: Symbols of matplotlib by those of plotly.
_SYMBOLS = {"circle": "o", "diamond": "D", "square": "s"}


class Line(NamedTuple):
    """Segments of singular points, n × 2 × 3, solid or dotted."""

    segments: Array
    name: str
    dotted: bool = False


class Marks(NamedTuple):
    """Points of one kind, n × 3, and what a page says of each."""

    points: Array
    name: str
    colour: str = INK
    symbol: str = "circle"
    size: float = 6
    filled: bool = True
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scene:
    """What is drawn, in the cube [−radius, radius]³, the same on paper and on the screen.

    Attributes:
        names: of the axes.
        formula: of the surface, in LaTeX.
        surface: its triangles, m × 3 × 3: those in M, and those only in its Zariski closure.
        curves: on the surface, n × 3, broken at rows of NaN.
        lines: of singular points.
        marks: points on it.
        curves_name: what the legend calls the curves, which are not in it if this is empty.
        elevation, azimuth: in degrees, from which it is first seen.
    """

    names: tuple[str, str, str]
    formula: str
    radius: int
    surface: tuple[Array, Array]
    curves: Array
    lines: tuple[Line, ...]
    marks: tuple[Marks, ...]
    curves_name: str = ""
    elevation: int = 20
    azimuth: int = -56


class SurfaceFigure(Drawable):
    """A figure that is a scene: still on paper, to be turned on a page."""

    @property
    @abstractmethod
    def scene(self) -> Scene:
        """What is drawn."""

    @abstractmethod
    def summary(self) -> str:
        """What is drawn, in a line."""

    def page(self) -> str:
        """The figure as one HTML page, which asks the network for nothing."""
        use = "Drag to turn, scroll to zoom."
        return page(self.summary(), self.words, use, traces(self.scene), layout(self.scene))

    def drawing(self) -> Figure:
        """The figure on paper."""
        return draw(self.scene)

    def save(self, path: str | Path) -> None:
        """Write it to a .png, .svg or .pdf file, or as a page to turn it, .html."""
        save(self.page() if Path(path).suffix.lower() == ".html" else self.drawing(), Path(path))

    def _repr_html_(self) -> str:
        picture = ""
        with contextlib.suppress(InputError):  # without matplotlib the words are left
            data = base64.b64encode(as_file(self.drawing(), ".png")).decode()
            picture = f'<img src="data:image/png;base64,{data}" alt="{escape(self.words)}" width="540">'
        return f"<figure>{picture}<figcaption>{escape(self.words)}</figcaption></figure>"


def joined(lines: Iterable[Array]) -> Array:
    """Lines as one array, with a row of NaN behind each."""
    parts = [part for line in lines for part in (line, np.full((1, 3), np.nan))]
    return np.concatenate([np.zeros((0, 3)), *parts])


def draw(scene: Scene) -> Figure:
    """A scene on paper: what is drawn on the surface is seen through it.

    Raises:
        InputError: if matplotlib is missing.
    """
    canvas, flat = empty(5.4, 5.2)
    from matplotlib.patches import Patch
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    flat.remove()
    axes: Any = canvas.add_axes((0.0, 0.02, 1.0, 0.98), projection="3d", computed_zorder=False)
    for triangles, colour, alpha in zip(scene.surface, (SURFACE, PALE), (1.0, 0.35), strict=True):
        if len(triangles):
            colours = _shaded(triangles, colour, alpha)
            # Edges in the colour of their triangle, or seams would show between them.
            edges = {"edgecolors": colours if alpha == 1 else "none", "linewidths": 0.3}
            axes.add_collection3d(Poly3DCollection(triangles, facecolors=colours, rasterized=True, **edges))
    axes.plot(*scene.curves.T, label=scene.curves_name or None, color=LINE, linewidth=0.35, alpha=0.55)
    for line in scene.lines:
        style: dict[str, Any] = {"color": RED, "linewidth": 2.4, "zorder": 2.5, "label": line.name}
        style |= {"linestyle": (0, (0.6, 1.6)), "dash_capstyle": "round"} if line.dotted else {}
        axes.plot(*joined(line.segments).T, **style)
    for marks in scene.marks:
        inner = marks.colour if marks.filled else "white"
        edge = "white" if marks.filled and marks.size > 3 else marks.colour  # small ones would drown in it
        style = {"s": marks.size**2, "marker": _SYMBOLS[marks.symbol], "c": inner, "edgecolors": edge}
        axes.scatter(*marks.points.T, label=marks.name, linewidths=0.8, depthshade=False, zorder=3, **style)
    for axis, name in zip("xyz", scene.names, strict=True):
        half = scene.radius / 2
        pane = getattr(axes, f"{axis}axis")
        pane.set_pane_color((1, 1, 1, 0))
        pane._axinfo["grid"].update(color="#dddddd", linewidth=0.5)
        pane.set_ticks((-half, 0, half), [f"−{half:g}", "0", f"{half:g}"])  # at the ends two axes meet
        getattr(axes, f"set_{axis}label")(f"${name}$", labelpad=1, fontsize=12)
        getattr(axes, f"set_{axis}lim")(-scene.radius, scene.radius)
    axes.tick_params(labelsize=10, pad=-1, colors="#555555")
    axes.set_box_aspect((1, 1, 1), zoom=0.93)
    axes.view_init(elev=scene.elevation, azim=scene.azimuth)
    handles = [Patch(facecolor=SURFACE, label=f"${scene.formula} = 0$"), *axes.get_legend_handles_labels()[0]]
    # A long legend would hide the surface, and stands below it.
    place: dict[str, Any] = {"bbox_to_anchor": (0.0, 0.99)}
    if len(handles) > _MOST_ABOVE:
        place = {"bbox_to_anchor": (0.02, 0.03), "ncols": 2, "columnspacing": 1.2}
    axes.legend(handles=handles, loc="upper left", frameon=False, fontsize=10, **place)
    return canvas


def _shaded(triangles: Array, colour: str, alpha: float) -> Array:
    """Colours of triangles lit from one direction, the same from both sides."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    light = np.abs(normals / np.maximum(lengths, 1e-300) @ (_LIGHT / np.linalg.norm(_LIGHT)))
    base = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    shade = (0.62 + 0.45 * light)[:, None]
    return np.concatenate([np.clip(base * shade, 0, 1), np.full((len(triangles), 1), alpha)], axis=1)


def traces(scene: Scene) -> list[dict[str, Any]]:
    """The traces of a scene for plotly.

    Lines and points are small solids: from every side half of a solid is in front of the surface. A solid has
    no sign in a legend, so each has an entry that is drawn nowhere else.
    """
    (in_m, beyond), radius = scene.surface, scene.radius
    data = [
        _mesh(in_m, SURFACE, name="in M"),
        _mesh(beyond, PALE, name="only in the Zariski closure", opacity=0.4),
    ]
    data = [mesh for mesh in data if mesh["x"]]
    thin = {"line": {"color": LINE, "width": 1.5}, "hoverinfo": "skip", "showlegend": bool(scene.curves_name)}
    data.append(_scatter(scene.curves, "lines", scene.curves_name, **thin))
    for line in scene.lines:
        step = (0.055 if line.dotted else 0.02) * radius
        solids = _solids(_along(line.segments, step), 0.015 * radius)
        drawn = {"color": RED, "width": 5, "dash": "dot" if line.dotted else "solid"}
        data += _with_entry(solids, RED, line.name, "lines", line=drawn)
    for marks in scene.marks:
        solids = _solids(marks.points, 0.006 * marks.size * radius, marks.symbol)
        edge = {"color": marks.colour, "width": 2}
        inner = marks.colour if marks.filled else "#ffffff"
        marker = {"size": 9, "symbol": marks.symbol, "color": inner, "line": edge}
        data += _with_entry(solids, marks.colour, marks.name, "markers", marker=marker)
        if marks.texts:
            vertices = np.stack([data[-1][axis] for axis in "xyz"], axis=-1)
            about = np.linalg.norm(vertices[:, None] - marks.points, axis=2).argmin(axis=1)
            data[-1] |= {"text": [marks.texts[n] for n in about], "hoverinfo": "text"}
    return data


def _with_entry(solids: Array, colour: str, name: str, mode: str, **sign: Any) -> list[dict[str, Any]]:
    """Solids below their entry in the legend, a click on which hides and shows them."""
    entry = _scatter(np.full((1, 3), np.nan), mode, name, legendgroup=name, showlegend=True, **sign)
    mesh = _mesh(solids, colour, name=name, legendgroup=name, showlegend=False, flatshading=True)
    mesh["lighting"] = {"ambient": 0.95, "diffuse": 0.25, "specular": 0.05}
    return [entry, mesh]


def _along(segments: Array, step: float) -> Array:
    """Points along segments, n × 2 × 3, at most this far from each other."""
    numbers = np.ceil(np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1) / step).astype(int)
    parts = zip(segments, numbers, strict=True)
    return np.concatenate([np.linspace(ends[0], ends[1], n + 1) for ends, n in parts])


def _solids(points: Array, size: float, symbol: str = "circle") -> Array:
    """The triangles of icosahedra, octahedra or cubes about points, m × 3 × 3."""
    from scipy.spatial import ConvexHull

    golden, signs = (1 + 5**0.5) / 2, np.array(list(product((-1, 1), repeat=3)))
    turned = [np.roll(signs * (0, 1, golden), n, axis=1) for n in range(3)]
    corners = {
        "circle": np.unique(np.concatenate(turned), axis=0) / golden,
        "diamond": 1.3 * np.concatenate([np.eye(3), -np.eye(3)]),
        "square": 0.8 * signs,
    }[symbol]
    solid = corners[ConvexHull(corners).simplices].reshape(-1, 3)
    result: Array = (points[:, None] + size * solid).reshape(-1, 3, 3)
    return result


def _mesh(triangles: Array, colour: str, **settings: Any) -> dict[str, Any]:
    """A surface of triangles, as its vertices and triples of their numbers."""
    vertices, index = np.unique(np.round(triangles.reshape(-1, 3), 4), axis=0, return_inverse=True)
    return {
        "type": "mesh3d",
        "color": colour,
        "lighting": {"ambient": 0.65, "diffuse": 0.7, "specular": 0.15, "roughness": 0.6, "fresnel": 0.05},
        "lightposition": {"x": 300, "y": -600, "z": 1000},
        "hoverinfo": "skip",
        "showlegend": True,
        **dict(zip("xyz", vertices.T.tolist(), strict=True)),
        **dict(zip("ijk", index.reshape(-1, 3).T.tolist(), strict=True)),
        **settings,
    }


def _scatter(points: Array, mode: str, name: str, **settings: Any) -> dict[str, Any]:
    """A trace of points, n × 3, or of the lines between them."""
    xyz = {
        axis: [None if np.isnan(c) else round(c, 4) for c in column]
        for axis, column in zip("xyz", points.T.tolist(), strict=True)
    }
    return {"type": "scatter3d", "mode": mode, "name": name, **xyz, **settings}


def layout(scene: Scene) -> dict[str, Any]:
    """The axes, the camera and the legend of a scene for plotly."""
    plain = {"nticks": 5, "showbackground": False, "zeroline": False, "showspikes": False}
    axes = {
        f"{axis}axis": {"title": {"text": name}, "range": [-scene.radius, scene.radius], **plain}
        for axis, name in zip("xyz", scene.names, strict=True)
    }
    up, around = np.radians([scene.elevation, scene.azimuth])
    eye = 2.0 * np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    # The nearest corner of the cube is the largest, so the middle of the picture is below that of the cube.
    center = {"x": 0, "y": 0, "z": round(-0.14 * float(np.cos(up)), 3)}
    camera = {"center": center, "eye": dict(zip("xyz", eye.round(3).tolist(), strict=True))}
    return {
        "scene": {**axes, "aspectmode": "cube", "dragmode": "orbit", "camera": camera},
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "legend": {"orientation": "h", "x": 0, "y": 0, "yanchor": "top", "itemsizing": "constant"},
    }


def evaluator(f: Polynomial) -> Callable[[Array], Array]:
    """A polynomial as a function of floating-point points, n × 3.

    >>> from agattn.algebra.polynomial import PolynomialRing, Variable
    >>> x, y, w = PolynomialRing([Variable(name) for name in "xyw"]).gens
    >>> evaluator(y**2 + w * x**2)(np.array([[1.0, 2.0, 3.0]]))
    array([7.])
    """
    exponents = np.array(list(f.terms), dtype=int).reshape(-1, 3)
    coefficients = np.array([float(c) for c in f.terms.values()])

    def evaluate(points: Array) -> Array:
        result: Array = np.prod(points[:, None, :] ** exponents, axis=2) @ coefficients
        return result

    return evaluate


def ruled(x: Array, s: Any) -> Array:
    """The points (x, sx, −s²) of Figure 1's surface."""
    return np.stack(np.broadcast_arrays(x, s * x, -(s**2)), axis=-1)


def grid_triangles(parametrization: Callable[[Array, Array], Array], u: Array, v: Array) -> Array:
    """The triangles, m × 3 × 3, of a parametrized surface over a rectangular grid."""
    p = parametrization(*np.meshgrid(u, v, indexing="ij"))
    a, b, c, d = p[:-1, :-1], p[1:, :-1], p[1:, 1:], p[:-1, 1:]
    triangles: Array = np.concatenate([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)])
    return triangles.reshape(-1, 3, 3)


def implicit_triangles(f: Callable[[Array], Array], radius: float, cells: int = 56) -> Array:
    """Triangles, m × 3 × 3, of the zeros of f in the cube [−radius, radius]³, by marching cubes.

    Parts along which f does not change its sign are missed.

    Raises:
        InputError: if scikit-image is missing.

    >>> sphere = implicit_triangles(lambda p: (p**2).sum(axis=1) - 1, 1.5, cells=20)
    >>> bool(abs((sphere**2).sum(axis=2) - 1).max() < 0.02)
    True
    """
    with needs("drawing this surface", "scikit-image", "figures"):
        from skimage.measure import marching_cubes
    values = f(_grid(radius, cells + 1)).reshape((cells + 1,) * 3)
    if not values.min() < 0 < values.max():
        return np.zeros((0, 3, 3))
    spacing = (2 * radius / cells,) * 3
    vertices, faces, _, _ = marching_cubes(values, 0, spacing=spacing, allow_degenerate=False)
    result: Array = vertices[faces].astype(float) - radius
    return result


def _grid(radius: float, number: int) -> Array:
    """The points of a cubic grid with this number of points on each edge of the cube, n × 3."""
    axis = np.linspace(-radius, radius, number)
    return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)


def points_on_curve(polynomials: Sequence[Polynomial], radius: float) -> Array:
    """Many common zeros of polynomials in the cube, n × 3, by Gauss-Newton steps from a grid of 22³."""
    functions = [evaluator(f) for f in polynomials]
    derivatives = [[evaluator(f.derivative(x)) for x in f.ring.gens] for f in polynomials]
    p = _grid(radius, 22)
    for _ in range(30):
        values = np.stack([f(p) for f in functions], axis=1)
        jacobian = np.stack([np.stack([g(p) for g in row], axis=1) for row in derivatives], axis=1)
        step = (np.linalg.pinv(jacobian, rcond=1e-10) @ values[:, :, None])[:, :, 0]
        length = np.linalg.norm(step, axis=1, keepdims=True)
        p = np.clip(p - step * np.minimum(1, radius / np.maximum(length, 1e-300)), -3 * radius, 3 * radius)
    values = np.stack([f(p) for f in functions], axis=1)
    inside = (np.abs(values).max(axis=1) < 1e-11) & (np.abs(p).max(axis=1) <= radius)
    _, first = np.unique(np.round(p[inside] / (radius / 150)), axis=0, return_index=True)
    result: Array = p[inside][np.sort(first)]
    return result
