"""Cells and text in Markdown."""

from __future__ import annotations

import re

from agattn.sheet.data import MATRIX, Cell, Code, Lines, Math, Word, matrix_in


def cell_markdown(cell: Cell) -> str:
    """A cell in Markdown, on one line and without a bar that would end it."""
    if isinstance(cell, Math):
        return f"${cell.latex.replace('|', chr(92) + 'vert ')}$"
    if isinstance(cell, Word):
        return f"**{cell.word}**" if cell.word else ""
    if isinstance(cell, Code):
        plain = cell.code.translate({ord("`"): "'", ord("|"): r"\|", ord("\n"): " "})
        return f"`{plain}`"
    if isinstance(cell, Lines):
        return " <br> ".join(map(cell_markdown, cell.parts))
    return text_markdown(str(cell)).replace("|", "\\|")


def text_markdown(text: str) -> str:
    r"""Text in which Markdown finds neither tags nor links nor a new line.

    >>> text_markdown("a < d, <b>, [x](y)")
    'a < d, &lt;b>, [x&#93;(y)'
    >>> print(text_markdown("A = [[1, 0]]"))
    A = $\begin{pmatrix} 1 & 0 \end{pmatrix}$
    """
    text = MATRIX.sub(lambda found: f"${matrix_in(found[1]).latex}$", text)
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text).replace("](", "&#93;(").replace("\n", " ")
