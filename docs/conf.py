"""Configuration of the documentation."""

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
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"agattn {release}"
autodoc_typehints = "description"
autodoc_member_order = "bysource"
nitpicky = False
