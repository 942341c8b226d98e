"""Configuration of the documentation."""

import builtins
import gc
import pkgutil
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import sphinx.util.inspect
import sphinx.util.typing
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.pycode.parser import Parser

HERE = Path(__file__).parent
# The clone is described, not a copy of it that is installed.
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]

from agattn import __version__  # noqa: E402

project = "agattn"
copyright = "2026, the agattn authors"
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "folded_lines",
    "gallery",
    "mathml_renderer",
    "generated_pages",
    "proofs",
    "redirects",
]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_extensions", "_gallery", "_static", "paper.md"]
html_math_renderer = "mathml"
# Options begin with two hyphens, not with a dash.
smartquotes = False
html_theme = "furo"
html_title = f"agattn {release}"
html_static_path = ["_static", "../agattn/sheet/math.woff"]
html_css_files = ["agattn.css"]
# What the commands of the gallery write is part of the site, so that pages can be linked as well as pictures.
html_extra_path = ["_gallery"]
(HERE / "_gallery").mkdir(exist_ok=True)
napoleon_numpy_docstring = False  # ours are in Google's style
autodoc_typehints = "description"
autodoc_member_order = "bysource"
# All types are annotations: to look for others in comments takes a tenth of the time of the site.
autodoc_use_type_comments = False
# Two classes may have attributes of one name, such as K; what is meant is clear from where it stands.
suppress_warnings = ["ref.python"]
# References within the package must hold; what other packages have is not here, as the site needs no network.
nitpicky = True
nitpick_ignore_regex = [
    ("py:class", r"(?!agattn\.).*"),
    # variables for types
    ("py:(class|obj)", r"agattn\.[\w.]+\.(A|B|C|F|K|R|T|Computed|Run|Vertex|AnyClaim)"),
    ("py:exc", r"(?!agattn\.).*"),
    ("py:func", r"(numpy|mpmath)\..*"),
    ("py:data", "SUFFIXES"),
]


def skip_tuple_fields(
    _: Any, what: str, name: str, member: object, skip: bool, options: object
) -> bool | None:
    """Leave out the fields of named tuples: their classes' docstrings describe them."""
    return True if type(member).__name__ == "_tuplegetter" else None


def trim_blocks(_: Any, document: nodes.document) -> None:
    """Leave out the empty line that a doctest needs at its end."""
    for block in document.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.astext().rstrip("\n")
            block.children = [nodes.Text(block.rawsource)]


def set_dashes(_: Any, document: nodes.document) -> None:
    """Set the two hyphens that autodoc writes between a name and its meaning as a dash."""
    for text in list(document.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def leave_foreign_types(_: Any, document: nodes.document) -> None:
    """Show types of Python and of other packages as they are: all names here would be searched for each."""
    for reference in list(document.findall(pending_xref)):
        package, dot, _ = reference["reftarget"].partition(".")
        if reference["refdomain"] == "py" and (
            hasattr(builtins, package) if not dot else package in sys.modules and package != "agattn"
        ):
            reference.replace_self(reference.children)


def plain_types(*given: Any, include_extras: bool = False, **named: Any) -> dict[str, Any]:
    """Types without what Annotated adds to them, which describes the keys of results."""
    return typing.get_type_hints(*given, **named)


# Sphinx asks for types with what Annotated adds, and would show the addresses of these objects.
asked = ModuleType("typing")
vars(asked).update(vars(typing), get_type_hints=plain_types)
sphinx.util.inspect.typing = sphinx.util.typing.typing = asked


# No page asks on which lines a definition begins and ends, as by :pyobject:. To find these lines takes a
# quarter of the time in which modules are read.
Parser.parse_definition = lambda _: None


def below(self: nodes.Node, kind: type) -> Iterator[nodes.Node]:
    """This node and all below it that are of a kind, in the order of the page."""
    levels = [iter((self,))]
    while levels:
        for node in levels[-1]:
            if isinstance(node, kind):
                yield node
            if node.children:
                levels.append(iter(node.children))
                break
        else:
            levels.pop()


# Some fifty times every page is searched. Docutils hands each node through as many generators as it is deep.
nodes.Node._fast_findall = below


# Pages are trees of very many objects: to look for garbage at each seven hundredth new one takes a tenth of
# the time of the site.
gc.set_threshold(100_000)


def show_private_names(_: Any, __: Any, node: pending_xref, shown: nodes.Node) -> nodes.Node | None:
    """Show a name of agattn that is in the source alone as it is, if it exists; else Sphinx warns."""
    module, target = node.get("py:module") or "agattn", node["reftarget"]
    for name in (target, f"{module}.{target}", f"{module}.{node.get('py:class')}.{target}"):
        if exists(name):
            return shown
    return None


def exists(name: str) -> bool:
    """Whether a dotted name of agattn leads to something.

    >>> exists("agattn.evidence.Evidence.weakest"), exists("agattn.evidence.Nothing")
    (True, False)
    """
    if not name.startswith("agattn."):
        return False
    try:
        return pkgutil.resolve_name(name) is not None
    except (AttributeError, ImportError, ValueError):  # ValueError: no dotted name
        return False


def setup(app: Any) -> None:
    app.connect("missing-reference", show_private_names)
    app.connect("doctree-read", trim_blocks)
    app.connect("doctree-read", set_dashes)
    app.connect("doctree-read", leave_foreign_types)
    app.connect("autodoc-skip-member", skip_tuple_fields)
