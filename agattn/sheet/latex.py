r"""Sheets in LaTeX, to be pasted into a paper.

A table is an ``array`` without the columns and rows of running text, whose lines an array cannot break.
"""

from __future__ import annotations

import re
import unicodedata

from agattn.sheet.data import Cell, Code, Lines, Math, Sheet, Table, Wide, Word


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
