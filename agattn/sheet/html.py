r"""Sheets in HTML with MathML, as notebooks show them; text in them is escaped.

JupyterLab, the classic notebook, Colab and VS Code show HTML where an object offers HTML and LaTeX, so the
HTML holds every table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import Markup, escape

from agattn.sheet.data import MATRIX, Cell, Code, Lines, Math, Sheet, Table, Word, matrix_in
from agattn.sheet.mathml import foldable, mathml

_LEFT = Markup(' style="text-align:left;vertical-align:top;padding:2px 8px"')


def html(sheet: Sheet) -> str:
    """The tables of a sheet, one below the other.

    >>> from agattn.sheet.data import Math, Sheet, Table
    >>> shown = html(Sheet("", (Table("a < b", ("n",), ((1,), (Math("k^{2}"),))),)))
    >>> shown.count("<tr>"), "a &lt; b" in shown, "<msup>" in shown
    (3, True, True)
    """
    return "".join(map(table_html, sheet.tables))


def table_html(table: Table) -> str:
    """One table, with its caption."""
    head, caption = Markup(), Markup()
    if table.headings:
        head = Markup("<thead><tr>{}</tr></thead>").format(_cells("th", ' scope="col"', table.headings))
    if table.caption:
        style = ' style="text-align:left;white-space:nowrap"'
        caption = Markup(f"<caption{style}>{{}}</caption>").format(cell_html(table.caption))
    tag, scope = ("td", "") if table.headings else ("th", ' scope="row"')
    lines = Markup().join(
        Markup("<tr>{}{}</tr>").format(_cells(tag, scope, row[:1]), _cells("td", "", row[1:]))
        for row in table.rows
    )
    return str(Markup("<table>{}{}<tbody>{}</tbody></table>").format(caption, head, lines))


def _cells(tag: str, attributes: str, cells: Iterable[Cell]) -> Markup:
    element = Markup(f"<{tag}{attributes}{_LEFT}>{{}}</{tag}>")
    return Markup().join(element.format(cell_html(cell)) for cell in cells)


def cell_html(cell: Cell) -> Markup:
    """A cell in HTML."""
    if isinstance(cell, Math) and cell.is_sum:
        # An empty group first, or the sign would be set as that of a number.
        parts = re.split(r"\s+(?=[+-]\s)", cell.latex)
        return Markup(" ".join(mathml("{}" * (n > 0) + part) for n, part in enumerate(parts)))
    if isinstance(cell, Math):
        return Markup(f'<div class="line">{foldable(mathml(cell.latex))}</div>')
    if isinstance(cell, Word):
        return Markup('<span class="word {0}">{0}</span>').format(cell.word)
    if isinstance(cell, Code):
        return Markup("<code>{}</code>").format(cell.code)
    if isinstance(cell, Lines):
        return Markup().join(Markup("<div>{}</div>").format(cell_html(part)) for part in cell.parts)
    # One element, as a cell that is laid out as a grid makes an item of each of its children.
    return Markup("<span>{}</span>").format(running(str(cell))) if cell != "" else Markup()


_INDEX = re.compile(
    r"(?<=\w)_\{((?:[^{}]|\{[^{}]*\})*)\}"
    r"|(?<=[A-Za-zα-ωΑ-Ω\u0303\u0304])(?<!\w\w)_([A-Za-zα-ω0-9]{1,2})(?![A-Za-zα-ω0-9_])"
    r"|(?<=[a-z])_\(([^()]*)\)"
)


def running(text: str) -> Markup:
    """Running text in HTML; matrices are set, and indices: after an underscore, in braces or up to two.

    >>> print(running("y_{1,2} < V_c A_b, in d_out, and Σ d_i²"))
    y<sub>1,2</sub> &lt; V<sub>c</sub> A<sub>b</sub>, in d_out, and Σ d<sub>i</sub>²
    """
    index = r"<sub>\g<1>\g<2>\g<3></sub>"
    words, *rest = MATRIX.split(text)
    shown = Markup(_INDEX.sub(index, str(escape(words))))
    for rows, after in zip(rest[::2], rest[1::2], strict=True):
        shown += Markup(f'<span class="line">{mathml(matrix_in(rows).latex)}</span>') + running(after)
    return shown
