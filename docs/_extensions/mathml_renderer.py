"""Formulas as MathML, written when the site is built: the reader needs no script and no network.

The converter is the one of the reports. A formula that it cannot convert is a warning, and the site is built
with warnings as errors.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.util import logging

from agattn.sheet.mathml import mathml

_logger = logging.getLogger(__name__)
# A backslash that is left in the output belongs to a command that the converter does not know.
_UNKNOWN = re.compile(r"<code>|\\|&#x0005C;|merror")


def convert(latex: str, display: str, location: Any = None) -> str:
    r"""One formula as MathML; a warning where it cannot be converted.

    >>> convert(r"\operatorname{rk} A \leq a", "inline").startswith('<math xmlns=')
    True
    """
    converted = mathml(latex, display)
    if _UNKNOWN.search(converted):
        _logger.warning("the formula cannot be shown: %s", latex, location=location, type="mathml")
    return converted


def inline(visitor: Any, node: nodes.math) -> None:
    """A formula within a line, which is not broken between it and a comma or full stop."""
    following = node.next_node(descend=False, siblings=True)
    joined = "&#8288;" if following is not None and following.astext()[:1] in tuple(".,;:)!?") else ""
    visitor.body.append(f'<span class="math">{convert(node.astext(), "inline", node)}</span>{joined}')
    raise nodes.SkipNode


def block(visitor: Any, node: nodes.math_block) -> None:
    """A formula on its own line; where it is too wide for the screen, it scrolls by itself."""
    converted = convert(node.astext(), "block", node)
    visitor.body.append(f'<div class="math" tabindex="0">{converted}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
