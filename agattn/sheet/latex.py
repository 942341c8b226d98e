r"""Sheets in LaTeX, to be pasted into a paper.

A table is an ``array`` without the columns and rows of running text, whose lines an array cannot break.

The tables that a screen shows, as files: comma-separated values, and LaTeX for a paper with booktabs.

>>> from agattn.sheet.data import Math, Sheet, Table, Wide
>>> rows = (("(1,1,1)", 5, "a < b, so"), ("(1,1,2)", Math("k^{2}"), "100 %"))
>>> sheet = Sheet("", (Table("Strata", ("stratum", "dim", Wide("why")), rows),))
>>> print(comma_separated(tables_on_screen(sheet)), end="")
stratum,dim,why
"(1,1,1)",5,"a < b, so"
"(1,1,2)",k^{2},100 %
>>> print(booktabs(tables_on_screen(sheet)), end="")
% Strata
\begin{tabular}{llp{0.35\linewidth}}
\toprule
stratum & dim & why \\
\midrule
(1,1,1) & 5 & a $<$ b, so \\
(1,1,2) & $k^{2}$ & 100 \% \\
\bottomrule
\end{tabular}
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence

from agattn.sheet.data import Cell, Code, Lines, Math, Sheet, Table, Wide, Word, plain_cell


def latex(sheet: Sheet) -> str:
    r"""The first table of a sheet, or the formula that names what the table describes.

    >>> rows = (("(1,1,1)", "a < b"), ("(1,1,2)", Math("k^{2}")))
    >>> print(latex(Sheet("", (Table("Strata", ("stratum", Wide("why")), rows),))))
    $\begin{array}{l} \text{stratum} \\ \hline \text{(1,1,1)} \\ \text{(1,1,2)} \end{array}$
    """
    return table_latex(sheet.tables[0])


def table_latex(table: Table) -> str:
    """The table as an array between dollars, without its caption and running text; or its formula."""
    if isinstance(table.caption, Math):
        return f"${table.caption.latex}$"
    kept = [n for n, name in enumerate(table.headings) if not isinstance(name, Wide)]
    if table.headings:
        rows = [[cells[n] for n in kept] for cells in (table.headings, *table.rows)]
    else:
        rows = [list(row) for row in table.rows if not isinstance(row[0], Wide)]
    lines = [" & ".join(map(_cell_latex, row)) for row in rows]
    if table.headings and len(lines) > 1:
        lines[1] = rf"\hline {lines[1]}"
    columns = "l" * max(map(len, rows), default=1)
    body = r" \\ ".join(lines)
    return rf"$\begin{{array}}{{{columns}}} {body} \end{{array}}$"


def _cell_latex(cell: Cell) -> str:
    if isinstance(cell, Math):
        return cell.latex
    if isinstance(cell, Lines):
        return r",\ ".join(map(_cell_latex, cell.parts))
    if isinstance(cell, int):
        return str(cell)
    return text_latex(cell.word if isinstance(cell, Word) else cell.code if isinstance(cell, Code) else cell)


_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "≤": r"$\leq$", "≥": r"$\geq$", "≠": r"$\neq$", "·": r"$\cdot$", "×": r"$\times$", "⊗": r"$\otimes$",
    "−": "$-$", "∈": r"$\in$", "ε": r"$\varepsilon$", "φ": r"$\varphi$", "<": "$<$", ">": "$>$",
    "ᵀ": r"$^{\top}$", "ℝ": r"$\mathbb{R}$", "ℂ": r"$\mathbb{C}$", "ℚ": r"$\mathbb{Q}$", "↦": r"$\mapsto$",
    "→": r"$\to$", "±": r"$\pm$", "ℙ": r"$\mathbb{P}$", "̃": "", "⁻": "$^{-}$", "¹": "$^1$", "³": "$^3$",
    "…": r"\ldots{}", "√": r"$\surd$", "–": "--", "²": "$^2$", "\u0304": "",
}  # fmt: skip


def text_latex(text: str) -> str:
    r"""Text inside a formula.

    >>> text_latex("d_1 ≥ 2")
    '\\text{d\\_1 $\\geq$ 2}'
    """
    return rf"\text{{{escaped(text)}}}"


def escaped(text: str) -> str:
    r"""Text outside of formulas.

    >>> escaped("d_1 ≥ 2")
    'd\\_1 $\\geq$ 2'
    """
    return "".join(_SPECIAL[letter] if letter in _SPECIAL else _greek(letter) for letter in text)


def _greek(letter: str) -> str:
    """A Greek letter in LaTeX; any other letter as it is."""
    if name := re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", unicodedata.name(letter, "")):
        word = name[2].lower().replace("lamda", "lambda")
        return rf"$\{word.title() if name[1] == 'CAPITAL' else word}$"
    return letter


def tables_on_screen(sheet: Sheet) -> Sequence[Table]:
    """The tables that a terminal shows under headings; those of a page where there are none."""
    shown = [part for part in sheet.parts if isinstance(part, Table) and part.where != "page"]
    return [table for table in shown if any(table.headings)] or sheet.tables or shown


def comma_separated(tables: Sequence[Table]) -> str:
    """The tables as comma-separated values, with an empty line between two."""
    texts = []
    for table in tables:
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([table.headings] * bool(table.headings))
        writer.writerows([plain_cell(cell) for cell in row] for row in table.rows)
        texts.append(stream.getvalue())
    return "\n".join(texts)


def booktabs(tables: Sequence[Table]) -> str:
    """The tables in LaTeX, each with its caption in a comment."""
    return "\n".join(map(_tabular, tables))


def _tabular(table: Table) -> str:
    caption = table.caption.latex if isinstance(table.caption, Math) else table.caption
    head = [[escaped(heading) for heading in table.headings]] * bool(table.headings)
    body = [[_latex(cell) for cell in row] for row in table.rows]
    width = max(map(len, [*head, *body]), default=1)
    wide = [isinstance(heading, Wide) for heading in table.headings] or [False] * width
    columns = "".join(r"p{0.35\linewidth}" if is_wide else "l" for is_wide in wide)
    rule = ["\\midrule"] * bool(head)
    lines = ["\\toprule", *map(_row, head), *rule, *map(_row, body), "\\bottomrule"]
    comment = [f"% {' '.join(caption.split())}"] * bool(caption)
    return "\n".join([*comment, f"\\begin{{tabular}}{{{columns}}}", *lines, "\\end{tabular}", ""])


def _row(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _latex(cell: Cell) -> str:
    if isinstance(cell, Math):
        return f"${cell.latex}$"
    return ", ".join(map(_latex, cell.parts)) if isinstance(cell, Lines) else escaped(plain_cell(cell))
