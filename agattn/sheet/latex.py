r"""Sheets in LaTeX, to be pasted into a paper.

A table is an ``array`` without the columns and rows of running text, whose lines an array cannot break.
"""

from __future__ import annotations

import re
import unicodedata

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


def booktabs(table: Table) -> str:
    r"""The table with all its columns, for a paper that loads booktabs and amsmath.

    >>> rows = (("(1,1,1)", 5, "a < b"), ("(1,1,2)", 6, Math("k^{2}")))
    >>> print(booktabs(Table("Strata", ("stratum", "dim", Wide("why")), rows)))
    \begin{tabular}{llp{0.35\linewidth}}
    \toprule
    stratum & dim & why \\
    \midrule
    (1,1,1) & 5 & a $<$ b \\
    (1,1,2) & 6 & $k^{2}$ \\
    \bottomrule
    \end{tabular}
    """
    width = max(len(row) for row in (table.headings, *table.rows))
    wide = [n < len(table.headings) and isinstance(table.headings[n], Wide) for n in range(width)]
    columns = "".join(r"p{0.35\linewidth}" if is_wide else "l" for is_wide in wide)
    head = [" & ".join(map(_text_cell, table.headings)) + r" \\", r"\midrule"] if table.headings else []
    body = [" & ".join(map(_text_cell, row)) + r" \\" for row in table.rows]
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *head, *body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines)


def _text_cell(cell: Cell) -> str:
    """A cell in running text."""
    if isinstance(cell, Math):
        return f"${cell.latex}$"
    if isinstance(cell, Lines):
        return ", ".join(map(_text_cell, cell.parts))
    return _escaped(plain_cell(cell))


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
    return rf"\text{{{_escaped(text)}}}"


def _escaped(text: str) -> str:
    return "".join(_SPECIAL[letter] if letter in _SPECIAL else _greek(letter) for letter in text)


def _greek(letter: str) -> str:
    """A Greek letter in LaTeX; any other letter as it is."""
    if name := re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", unicodedata.name(letter, "")):
        word = name[2].lower().replace("lamda", "lambda")
        return rf"$\{word.title() if name[1] == 'CAPITAL' else word}$"
    return letter
