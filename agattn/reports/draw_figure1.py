"""Figure 1 drawn: with matplotlib for paper, with plotly to be turned with the mouse."""

from __future__ import annotations

import base64
import contextlib
import json
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agattn.errors import InputError
from agattn.reports.drawing import SUFFIXES, save
from agattn.reports.figure1 import Array, Figure1

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SURFACE, _PALE, _INK, _RED = "#7fb2e5", "#d9dee4", "#1a1a1a", "#b3261e"
_LIGHT = np.array([0.25, -0.5, 0.83])


def save_figure_1(figure: Figure1, path: Path) -> None:
    """Write the figure to a .png, .svg or .pdf file, or as an interactive .html page that needs no network.

    Raises:
        InputError: if the suffix is another one, the folder does not exist, or a library is missing.
    """
    if path.suffix == ".html":
        if not path.parent.is_dir():
            raise InputError(f"the folder {path.parent} does not exist")
        path.write_text(interactive_figure_1(figure), encoding="utf-8")
    elif path.suffix in SUFFIXES:
        save(draw_figure_1(figure), path)
    else:
        raise InputError(f"{path} does not end in {', '.join(SUFFIXES)} or .html")


def alternative_text(figure: Figure1) -> str:
    """The figure in words, for those who cannot see it."""
    section = figure.section
    text = (
        f"The surface {pretty(str(section.equation))} = 0 in a three-dimensional slice of {_short(figure)}."
    )
    if section.line() is not None:
        inside = sum(piece.in_m for piece in figure.pieces)
        mixed = 0 < inside < len(figure.pieces)
        where = " where it is in M and dotted where it is only in the Zariski closure" if mixed else ""
        text += f" Its singular points form a line, {'solid' if inside else 'dotted'}{where}."
    if figure.pinch_points:
        points = ", ".join(_point(p) for p in figure.pinch_points)
        text += f" The surface pinches at {points}."
    return f"{text} {figure.in_closure}".strip()


def pretty(polynomial: str) -> str:
    """A polynomial for people.

    >>> pretty("x^2*w + y^2")
    'x²w + y²'
    """
    for digit, raised in zip("23456789", "²³⁴⁵⁶⁷⁸⁹", strict=True):
        polynomial = polynomial.replace(f"^{digit}", raised)
    return polynomial.replace("*", "").replace(" - ", " − ")


def _short(figure: Figure1) -> str:
    return str(figure.layer).split(":")[0]


def _point(p: tuple[float, float, float]) -> str:
    return f"({', '.join(f'{c:g}' for c in p)})"


def _pieces(figure: Figure1) -> list[tuple[bool, Array]]:
    """The pieces of the singular line inside the cube, as pairs of points."""
    radius, found = float(figure.radius), []
    for piece in figure.pieces:
        inside = [
            t for t in np.linspace(*piece.ends, 401) if np.abs(figure.on_line(t)).max() <= radius + 1e-9
        ]
        if len(inside) > 1:
            found.append((piece.in_m, np.array([figure.on_line(inside[0]), figure.on_line(inside[-1])])))
    return found


def _visible_pinches(figure: Figure1) -> list[tuple[float, float, float]]:
    return [p for p in figure.pinch_points if np.abs(p).max() <= figure.radius]


def draw_figure_1(figure: Figure1) -> Figure:
    """The surface, its singular points solid in M and dotted outside M, and its pinch points."""
    try:
        from matplotlib.figure import Figure as Canvas
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    except ImportError as error:
        raise InputError(
            "drawing needs matplotlib; install it with: pip install 'agattn[figures]'"
        ) from error
    canvas = Canvas(figsize=(5.4, 5.2))
    axes: Any = canvas.add_axes((0.0, 0.02, 1.0, 0.98), projection="3d", computed_zorder=False)
    for triangles, colour, alpha in zip(figure.triangles, (_SURFACE, _PALE), (1.0, 0.35), strict=True):
        if len(triangles):
            colours = _shaded(triangles, colour, alpha)
            # Edges in the colour of their triangle, or seams would show between them.
            edges = colours if alpha == 1 else "none"
            collection = Poly3DCollection(
                triangles, facecolors=colours, edgecolors=edges, linewidths=0.3, zorder=1
            )
            collection.set_rasterized(True)
            axes.add_collection3d(collection)
    for x, y, z in _mesh_lines(figure):
        axes.plot(x, y, z, color="#2f5f8f", linewidth=0.35, alpha=0.55, zorder=2)
    for in_m, ends in _pieces(figure):
        style: dict[str, Any] = {"linestyle": "-"} if in_m else {"linestyle": (0, (0.6, 1.6))}
        axes.plot(*ends.T, color=_RED, linewidth=2.4, dash_capstyle="round", zorder=3, **style)
    for points, filled in zip(figure.curve, (True, False), strict=True):
        if len(points):
            shown = points if filled else points[::3]
            axes.scatter(*shown.T, s=5, c=_RED if filled else "white", edgecolors=_RED,
                         linewidths=0.6, depthshade=False, zorder=3)  # fmt: skip
    for pinch in _visible_pinches(figure):
        axes.scatter(*pinch, s=42, c=_INK, edgecolors="white", linewidths=0.8, depthshade=False, zorder=4)
    names, radius = figure.section.slice.names, figure.radius
    for axis, name in zip("xyz", names, strict=True):
        getattr(axes, f"set_{axis}label")(f"${name}$", labelpad=-6, fontsize=12)
        getattr(axes, f"set_{axis}lim")(-radius, radius)
        getattr(axes, f"set_{axis}ticks")([-radius, 0, radius])
        pane = getattr(axes, f"{axis}axis")
        pane.set_pane_color((1, 1, 1, 0))
        pane._axinfo["grid"].update(color="#dddddd", linewidth=0.5)
    axes.tick_params(labelsize=8, pad=-2, colors="#555555")
    axes.set_box_aspect((1, 1, 1), zoom=0.93)
    axes.view_init(elev=20, azim=-56)
    _legend(axes, figure)
    return canvas


def _legend(axes: Any, figure: Figure1) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(facecolor=_SURFACE, label=f"${figure.section.equation.latex()} = 0$")]
    states = {in_m for in_m, _ in _pieces(figure)} | {
        filled for filled, points in zip((True, False), figure.curve, strict=True) if len(points)
    }
    if True in states:
        handles.append(Line2D([], [], color=_RED, linewidth=2.4, label=r"singular, in $\mathcal{M}$"))
    if False in states:
        handles.append(
            Line2D([], [], color=_RED, linewidth=2.4, linestyle=(0, (0.6, 1.6)), dash_capstyle="round",
                   label=r"only in the Zariski closure")
        )  # fmt: skip
    if _visible_pinches(figure):
        handles.append(
            Line2D([], [], color=_INK, marker="o", linestyle="", markersize=6, label="pinch point")
        )
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.0, 0.99), frameon=False, fontsize=10)


def _shaded(triangles: Array, colour: str, alpha: float) -> Array:
    """Colours of triangles lit from one direction, the same from both sides."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    light = np.abs(normals / np.maximum(lengths, 1e-300) @ (_LIGHT / np.linalg.norm(_LIGHT)))
    base = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    shade = (0.62 + 0.45 * light)[:, None]
    return np.concatenate([np.clip(base * shade, 0, 1), np.full((len(triangles), 1), alpha)], axis=1)


def _mesh_lines(figure: Figure1) -> list[Array]:
    """The straight lines on a ruled surface: x ↦ (x, sx, −s²)."""
    if figure._ruled() is None:
        return []
    radius = float(figure.radius)
    return [
        np.array([[-radius, radius], [-radius * s, radius * s], [-s * s, -s * s]])
        for s in np.linspace(-(radius**0.5), radius**0.5, 17)
    ]


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1a1a1a; --soft: #555; --paper: #fff; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #ececec; --soft: #b5b5b5; --paper: #15181c; }} }}
body {{ margin: 0 auto; padding: 1rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 1.25rem; margin: 0 0 .25rem; }}
p {{ color: var(--soft); margin: .25rem 0; }}
#figure {{ width: 100%; height: min(78vh, 44rem, 115vw); }}
figure {{ margin: 0; }}
</style>
<script>{library}</script>
</head>
<body>
<main>
<h1>{title}</h1>
<figure>
<div id="figure" role="img" aria-label="{alternative}"></div>
<figcaption>
<p>{alternative}</p>
<p>Drag to turn, scroll to zoom. Equation and singular points by {engine}; evidence: {evidence}.</p>
</figcaption>
</figure>
</main>
<script>
const drawing = {drawing};
// In a narrow window the eye steps back, so that the cube is seen whole.
const box = document.getElementById("figure").getBoundingClientRect();
const back = Math.max(1, box.height / box.width), eye = drawing.layout.scene.camera.eye;
for (const axis of ["x", "y", "z"]) eye[axis] *= back;
for (const trace of drawing.data) if (trace.marker) trace.marker.size *= Math.min(1, box.width / 700);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
function draw() {{
  const ink = dark.matches ? "#ececec" : "#1a1a1a";
  drawing.layout.font.color = ink;
  for (const axis of ["xaxis", "yaxis", "zaxis"]) {{
    drawing.layout.scene[axis].gridcolor = dark.matches ? "#3a3f45" : "#dddddd";
  }}
  return Plotly.react("figure", drawing.data, drawing.layout, {{responsive: true, displaylogo: false}});
}}
draw();
dark.addEventListener("change", draw);
</script>
</body>
</html>
"""


def interactive_figure_1(figure: Figure1) -> str:
    """One HTML page with the surface to turn; it holds plotly.js and asks the network for nothing.

    Raises:
        InputError: if plotly is missing.
    """
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise InputError(
            "the interactive figure needs plotly; install it with: pip install 'agattn[figures]'"
        ) from error
    return _PAGE.format(
        title=escape(f"{pretty(str(figure.section.equation))} = 0, a slice of {_short(figure)}"),
        alternative=escape(alternative_text(figure)),
        engine=escape(figure.source),
        evidence=figure.evidence,
        library=get_plotlyjs(),
        drawing=json.dumps(drawing(figure), sort_keys=True),
    )


def notebook_figure(figure: Figure1) -> str:
    """The figure as HTML for a notebook: a picture inside, with its description."""
    words = f"{alternative_text(figure)} Computed by {figure.source}; {figure.evidence}."
    picture = ""
    with contextlib.suppress(InputError):  # no matplotlib
        data = BytesIO()
        draw_figure_1(figure).savefig(data, format="png", dpi=110)
        source = f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"
        picture = f'<img src="{source}" alt="{escape(alternative_text(figure))}" style="background:#fff">'
    return f"<figure>{picture}<figcaption>{escape(words)}</figcaption></figure>"


def drawing(figure: Figure1) -> dict[str, Any]:
    """The figure as plotly's data and layout, JSON-ready."""
    data = []
    for triangles, colour, name in zip(
        figure.triangles, (_SURFACE, _PALE), ("in M", "only in the Zariski closure"), strict=True
    ):
        if len(triangles):
            data.append(_mesh(triangles, colour, name))
    data += [
        _line([[x[0], x[1]], [y[0], y[1]], [z[0], z[1]]], "#2f5f8f", 1.5) for x, y, z in _mesh_lines(figure)
    ]
    shown: set[bool] = set()
    for in_m, ends in _pieces(figure):
        name = "singular, in M" if in_m else "singular, only in the Zariski closure"
        if in_m:
            piece = _mesh(_tube(ends, 0.012 * figure.radius), _RED, name)
        else:
            number = max(3, int(18 * np.linalg.norm(ends[1] - ends[0]) / figure.radius))
            dots = np.linspace(ends[0], ends[1], number)
            piece = _points(dots[1:], {"size": 4, "color": _RED}, name)
        data.append(piece | {"showlegend": in_m not in shown})
        shown.add(in_m)
    for points, filled in zip(figure.curve, (True, False), strict=True):
        if len(points):
            chosen = points if filled else points[::3]
            name = "singular, in M" if filled else "singular, only in the Zariski closure"
            symbol = {"size": 2.5, "color": _RED, "symbol": "circle" if filled else "circle-open"}
            data.append(_points(chosen, symbol, name))
    if _visible_pinches(figure):
        marker = {"size": 6, "color": _INK, "line": {"color": "#ffffff", "width": 1}}
        data.append(_points(np.array(_visible_pinches(figure)), marker, "pinch point"))
    radius = figure.radius
    axes = {
        f"{axis}axis": {
            "title": {"text": name}, "range": [-radius, radius], "nticks": 5, "showbackground": False,
            "gridcolor": "#dddddd", "zeroline": False, "showspikes": False,
        }
        for axis, name in zip("xyz", figure.section.slice.names, strict=True)
    }  # fmt: skip
    layout = {
        "scene": {
            **axes, "aspectmode": "cube", "dragmode": "orbit",
            "camera": {"eye": {"x": 1.25, "y": -1.65, "z": 0.75}},
        },
        "font": {"color": _INK, "family": "system-ui, sans-serif"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 0, "r": 0, "t": 8, "b": 0},
        "legend": {"orientation": "h", "x": 0, "y": 0, "yanchor": "top"},
    }  # fmt: skip
    return {"data": data, "layout": layout}


def _mesh(triangles: Array, colour: str, name: str) -> dict[str, Any]:
    vertices, index = np.unique(np.round(triangles.reshape(-1, 3), 5), axis=0, return_inverse=True)
    i, j, k = index.reshape(-1, 3).T.tolist()
    x, y, z = vertices.T.tolist()
    lighting = {"ambient": 0.65, "diffuse": 0.7, "specular": 0.15, "roughness": 0.6, "fresnel": 0.05}
    return {
        "type": "mesh3d", "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "color": colour, "name": name,
        "opacity": 0.4 if colour == _PALE else 1.0, "lighting": lighting, "hoverinfo": "skip",
        "showlegend": True, "flatshading": False, "lightposition": {"x": 300, "y": -600, "z": 1000},
    }  # fmt: skip


def _tube(ends: Array, radius: float) -> Array:
    """A segment as a thin tube, which a surface through it hides from no side."""
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    across /= np.linalg.norm(across)
    around = np.cross(along, across)
    angle = np.linspace(0, 2 * np.pi, 13)[:, None]
    circle = radius * (np.cos(angle) * across + np.sin(angle) * around)
    a, b = ends[0] + circle, ends[1] + circle
    triangles: Array = np.concatenate(
        [np.stack([a[:-1], a[1:], b[1:]], axis=1), np.stack([a[:-1], b[1:], b[:-1]], axis=1)]
    )
    return triangles


def _line(xyz: list[list[float]], colour: str, width: float) -> dict[str, Any]:
    x, y, z = xyz
    return {
        "type": "scatter3d", "mode": "lines", "x": list(map(float, x)), "y": list(map(float, y)),
        "z": list(map(float, z)), "line": {"color": colour, "width": width}, "hoverinfo": "skip",
        "showlegend": False,
    }  # fmt: skip


def _points(points: Array, marker: dict[str, Any], name: str) -> dict[str, Any]:
    x, y, z = np.round(points.T, 6).tolist()
    return {
        "type": "scatter3d", "mode": "markers", "x": x, "y": y, "z": z, "marker": marker, "name": name,
    }  # fmt: skip
