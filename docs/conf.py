"""Configuration of the documentation."""

from typing import Any

from agattn import __version__

project = "agattn"
copyright = "2026, the agattn authors"
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_click",
]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_gallery"]
html_theme = "furo"
html_title = f"agattn {release}"
autodoc_typehints = "description"
autodoc_member_order = "bysource"
nitpicky = False


def draw_gallery(_: Any) -> None:
    """Compute the pictures of the gallery from small inputs, without an engine."""
    from fractions import Fraction
    from pathlib import Path

    from agattn import SingleLayer
    from agattn.geometry.hasse import draw_hasse_diagram
    from agattn.geometry.section import Slice
    from agattn.reports.deep_figures import draw_figure_2, save
    from agattn.reports.draw_figure1 import save_figure_1
    from agattn.reports.figure1 import compute_figure_1

    folder = Path(__file__).parent / "_gallery"
    folder.mkdir(exist_ok=True)
    layer, third = SingleLayer(2, 1), Fraction(1, 3)
    one, other, last = (0, 0, 0, 0, 1, 0), (0, 0, 0, Fraction(1, 2), 0, 1), (0, 0, 1, 0, third, 0)
    vectors = [tuple(map(Fraction, v)) for v in ((1, 0, 0, 0, 0, 0), one, other, last)]
    save_figure_1(compute_figure_1(layer, engine="native"), folder / "figure1.png")
    quartic = Slice(vectors[0], tuple(vectors[1:]))
    save_figure_1(compute_figure_1(layer, quartic, engine="native"), folder / "slice.png")
    draw_hasse_diagram(SingleLayer(3, 2, 2), folder / "strata.svg")
    save(draw_figure_2(2), folder / "tree.svg")


def setup(app: Any) -> None:
    """Draw the gallery before anything is read."""
    app.connect("builder-inited", draw_gallery)
