"""Lines of code and of output longer than 80 characters, marked so that the style sheet folds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any

from pygments.formatters import HtmlFormatter
from sphinx.highlighting import PygmentsBridge

WIDTH = 80
_TAG, _OPTION = re.compile(r"<[^>]*>"), re.compile(r"(?<= )--?\w[\w-]*")


def marked(line: str) -> str:
    """A line in HTML, in an element of its own if it is long; its further rows stand deeper than its first.

    >>> marked("<span>short</span>"), marked("  " + "x" * 80)[:44]
    ('<span>short</span>', '<span class="long" style="--indent: 6ch">  x')
    """
    text = unescape(_TAG.sub("", line)).rstrip("\n")
    if len(text) <= WIDTH:
        return line
    indent = len(text) - len(text.lstrip()) + 4
    whole = _OPTION.sub(r'<span class="word">\g<0></span>', line)  # browsers break after a hyphen
    return f'<span class="long" style="--indent: {indent}ch">{whole}</span>'


class Formatter(HtmlFormatter):  # type: ignore[misc]
    """The formatter of Pygments, with long lines marked."""

    def wrap(self, source: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        yield from super().wrap((is_line, marked(line) if is_line else line) for is_line, line in source)


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx use the formatter."""
    PygmentsBridge.html_formatter = Formatter
    return {"parallel_read_safe": True, "parallel_write_safe": True}
