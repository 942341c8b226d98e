"""Formulas as MathML, written when the site is built: the reader needs no script and no network.

The converter is the one of the reports. A formula that it cannot convert is a warning, and the site is built
with warnings as errors.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.util import logging

from agattn.sheet.mathml import foldable, mathml

_logger = logging.getLogger(__name__)
# A backslash that is left in the output belongs to a command that the converter does not know.
_UNKNOWN = re.compile(r"<code>|\\|&#x0005C;|merror")

# A line ends at a wide space rather than within a part.
_WIDE_SPACE = re.compile(r'(?<="[12]em" /></mrow></math>)<wbr/>')


def convert(latex: str, display: str, location: Any = None) -> str:
    r"""One formula as MathML; a warning where it cannot be converted.

    >>> convert(r"\operatorname{rk} A \leq a", "inline").startswith('<math xmlns=')
    True
    """
    converted = mathml(latex, display)
    if _UNKNOWN.search(converted):
        _logger.warning("the formula cannot be shown: %s", latex, location=location, type="mathml")
    return converted


def join(_: Any, document: nodes.document) -> None:
    """Join each formula within a line and the comma or full stop after it, between which browsers break."""
    for node in list(document.findall(nodes.math)):
        text = node.next_node(descend=False, siblings=True)
        if isinstance(text, nodes.Text) and text[0] in ".,;:)!?":
            parent, at = node.parent, node.parent.index(node)
            whole = nodes.inline("", "", node, nodes.Text(text[0]), classes=["whole"])
            parent.children[at : at + 2] = []
            parent.insert(at, [whole, nodes.Text(text[1:])])


def inline(visitor: Any, node: nodes.math) -> None:
    """A formula within a line."""
    formula = foldable(convert(node.astext(), "inline", node))
    visitor.body.append(f'<span class="math">{formula}</span>')
    raise nodes.SkipNode


def block(visitor: Any, node: nodes.math_block) -> None:
    """A formula on its own line, or lines; what is still too wide for the screen scrolls by itself."""
    formula = foldable(convert(node.astext(), "block", node)).replace(
        'display="block"', 'displaystyle="true"'
    )
    parts = "".join(f"<span>{part}</span>" for part in _WIDE_SPACE.split(formula))
    visitor.body.append(f'<div class="math" tabindex="0">{parts}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Join formulas to signs, and register the renderer under the name ``mathml``."""
    app.connect("doctree-read", join)
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
