"""Formulas as MathML, written when the site is built: the reader needs no script and no network.

The converter is the one of the reports. A formula that it cannot convert is a warning, and the site is built
with warnings as errors.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from typing import Any

from docutils import nodes
from sphinx.util import logging

from agattn.reports.document import mathml

_logger = logging.getLogger(__name__)
# A backslash that is left in the output belongs to a command that the converter does not know.
_UNKNOWN = re.compile(r"<code>|\\|&#x0005C;|merror")
_ALPHABETS = {"double-struck": "DOUBLE-STRUCK", "script": "SCRIPT", "fraktur": "FRAKTUR"}
_LETTER = re.compile(rf'<mi mathvariant="({"|".join(_ALPHABETS)})">([A-Za-z])</mi>')
_TIDY = (
    # The name of a function is no operator: a thin space after it, none before, and none before a bracket.
    (re.compile(r"<mo[^>]*>([a-z]{2,})</mo>(?=<mo[^>]*>&#x00028;)"), r"<mi>\1</mi>"),
    (re.compile(r"<mo[^>]*>([a-z]{2,})</mo>"), r'<mi>\1</mi><mspace width="0.17em"/>'),
    # A prime is raised already.
    (
        re.compile(r"<msubsup>(<mi>.</mi>)(<mi>.</mi>|<mn>.</mn>)<mi>&#x02032;</mi></msubsup>"),
        r'<msub><mrow>\1<mo lspace="0" rspace="0">&#x02032;</mo></mrow>\2</msub>',
    ),
    # A transposition is no relation, and a bar is as wide as what is under it.
    (re.compile(r"<mo>&#x022A4;</mo>"), r"<mi>&#x022A4;</mi>"),
    (
        re.compile(r"<mover>(<mrow>(?:(?!</?mrow>).)*</mrow>|<mi>.</mi>)<mo[^>]*>&#x0203E;</mo></mover>"),
        r'<mrow class="overline">\1</mrow>',
    ),
    (re.compile(r"<mi>&#x0003A;</mi>"), r'<mo lspace="0.17em" rspace="0.28em">:</mo>'),
)


def convert(latex: str, display: str, location: Any = None) -> str:
    r"""One formula as MathML; a warning where it cannot be converted.

    >>> convert(r"\operatorname{rk} A \leq a", "inline").startswith('<math xmlns=')
    True
    """
    converted = _LETTER.sub(lambda match: f"<mi>{letter(*match.groups())}</mi>", mathml(latex, display))
    for wrong, right in _TIDY:
        converted = wrong.sub(right, converted)
    if _UNKNOWN.search(converted):
        _logger.warning("the formula cannot be shown: %s", latex, location=location, type="mathml")
    return converted


def letter(alphabet: str, plain: str) -> str:
    """A letter of another alphabet as a character of its own: browsers know no alphabets but upright.

    >>> letter("double-struck", "C"), letter("script", "M"), letter("fraktur", "S")
    ('ℂ', 'ℳ', '𝔖')
    """
    case = "CAPITAL" if plain.isupper() else "SMALL"
    name = f"{_ALPHABETS[alphabet]} {case} {plain.upper()}"
    for known in (f"MATHEMATICAL {name}", name.replace("FRAKTUR", "BLACK-LETTER")):
        with contextlib.suppress(KeyError):
            return unicodedata.lookup(known)
    raise AssertionError(f"there is no {name}")


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
