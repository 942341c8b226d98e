r"""One type of tables and their cells, in HTML, Markdown and LaTeX.

JupyterLab, the classic notebook, Colab and VS Code show HTML where an object offers both, and only
conversions to PDF take the LaTeX. So the HTML holds everything. The LaTeX is what people paste into a
paper: an ``array`` without the columns and rows of running text, which an array cannot break into lines.

>>> table = Table("Strata", ("stratum", Wide("why")), (("(1,1,1)", "a < b"), ("(1,1,2)", Math("k^{2}"))))
>>> table.html().count("<tr>"), "a &lt; b" in table.html(), "<msup>" in table.html()
(3, True, True)
>>> print(table.latex())
$\begin{array}{l} \text{stratum} \\ \hline \text{(1,1,1)} \\ \text{(1,1,2)} \end{array}$
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from markupsafe import Markup, escape

from agattn.display.mathml import mathml

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Math:
    """A formula in LaTeX, in a cell or on its own line; a page breaks a long sum before its signs."""

    latex: str
    is_sum: bool = False
    kind: ClassVar[str] = "math"


@dataclass(frozen=True)
class Word:
    """A verdict or a kind of evidence, coloured where there are colours."""

    word: str


@dataclass(frozen=True)
class Code:
    """Something to be typed or compared letter by letter."""

    code: str


@dataclass(frozen=True)
class Lines:
    """Several things in one cell, below each other."""

    parts: tuple[str | Math | Word | Code, ...]


class Wide(str):
    """A heading, or the heading of a row, over running text, which is left out of LaTeX."""


Cell = str | int | Math | Word | Code | Lines

_LEFT = Markup(' style="text-align:left;vertical-align:top;padding:2px 8px"')


@dataclass(frozen=True)
class Table:
    """A table; every row is as long as the headings, if there are any.

    Attributes:
        caption: what the table is about; a formula if the table describes what the formula names.
        headings: of the columns; none if the first cell of each row is its heading.
        rows: the cells.
    """

    caption: str | Math
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    kind: ClassVar[str] = "table"

    def html(self) -> str:
        """The table for a notebook, in HTML with MathML; text in it is escaped."""
        head, caption = Markup(), Markup()
        if self.headings:
            head = Markup("<thead><tr>{}</tr></thead>").format(_cells("th", ' scope="col"', self.headings))
        if self.caption:
            style = ' style="text-align:left;white-space:nowrap"'
            caption = Markup(f"<caption{style}>{{}}</caption>").format(cell_html(self.caption))
        tag, scope = ("td", "") if self.headings else ("th", ' scope="row"')
        lines = Markup().join(
            Markup("<tr>{}{}</tr>").format(_cells(tag, scope, row[:1]), _cells("td", "", row[1:]))
            for row in self.rows
        )
        return str(Markup("<table>{}{}<tbody>{}</tbody></table>").format(caption, head, lines))

    def print(self, console: Console, *, rule: bool = False) -> None:
        """Print the table, or where it does not fit, each row as a paragraph: nothing is ever cut off.

        Columns under wide headings may be folded, to a width of no less than 16 characters.

        Args:
            console: where to print it; words are coloured there.
            rule: whether there is a line under the headings, and less space between columns.
        """
        from rich import box, measure
        from rich.table import Table as RichTable

        space, line = ((0, 1, 0, 0), box.SIMPLE_HEAD) if rule else ((0, 1), None)
        table = RichTable(box=line, padding=space, pad_edge=rule, show_edge=False)
        needed = 0
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.headings)
        for heading, cells in zip(self.headings, columns, strict=True):
            right, wide = any(isinstance(cell, int) for cell in cells), isinstance(heading, Wide)
            table.add_column(heading, justify="right" if right else "left", overflow="fold", no_wrap=not wide)
            shown = [str(heading), *map(_cell_rich, cells)]
            longest = max(measure.Measurement.get(console, console.options, cell).maximum for cell in shown)
            needed += (min(longest, 16) if wide else longest) + 2
        rows = [list(map(_cell_rich, row)) for row in self.rows]
        for row in rows:
            table.add_row(*row)
        if needed <= console.width:
            console.print(table)
            return
        for first, *others in rows:
            console.print(first, soft_wrap=True)
            for heading, cell in zip(self.headings[1:], others, strict=True):
                if cell:
                    console.print(f"  {heading}: {cell}", soft_wrap=True)

    def latex(self) -> str:
        """The table as an array between dollars, without its caption and running text; or its formula."""
        if isinstance(self.caption, Math):
            return f"${self.caption.latex}$"
        kept = [n for n, name in enumerate(self.headings) if not isinstance(name, Wide)]
        if self.headings:
            rows = [[cells[n] for n in kept] for cells in (self.headings, *self.rows)]
        else:
            rows = [list(row) for row in self.rows if not isinstance(row[0], Wide)]
        lines = [" & ".join(map(_cell_latex, row)) for row in rows]
        if self.headings and len(lines) > 1:
            lines[1] = rf"\hline {lines[1]}"
        columns = "l" * max(map(len, rows), default=1)
        body = r" \\ ".join(lines)
        return rf"$\begin{{array}}{{{columns}}} {body} \end{{array}}$"


_COLOURS = {"confirmed": "green", "refuted": "red", "undecided": "yellow", "inapplicable": "dim"}


def _cell_rich(cell: Cell) -> str:
    """A cell in the markup of rich."""
    import rich.markup

    if isinstance(cell, Word):
        colour = _COLOURS.get(cell.word)
        return f"[{colour}]{cell.word}[/{colour}]" if colour else cell.word
    return rich.markup.escape(str(cell))


def _cells(tag: str, attributes: str, cells: Iterable[Cell]) -> Markup:
    return Markup().join(
        Markup(f"<{tag}{attributes}{_LEFT}>{{}}</{tag}>").format(cell_html(cell)) for cell in cells
    )


def cell_html(cell: Cell) -> Markup:
    """A cell in HTML."""
    if isinstance(cell, Math) and cell.is_sum:
        # An empty group first, or the sign would be set as that of a number.
        parts = re.split(r"\s+(?=[+-]\s)", cell.latex)
        return Markup(" ".join(mathml("{}" * (n > 0) + part) for n, part in enumerate(parts)))
    if isinstance(cell, Math):
        return Markup(f'<div class="line">{mathml(cell.latex)}</div>')
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
    words, *rest = _MATRIX.split(text)
    shown = Markup(_INDEX.sub(index, str(escape(words))))
    for rows, after in zip(rest[::2], rest[1::2], strict=True):
        shown += Markup(f'<span class="line">{mathml(_matrix_in(rows).latex)}</span>') + running(after)
    return shown


_NUMBER = r"-?\d+(?:/\d+)?"
_ROW = rf"\[{_NUMBER}(?:, {_NUMBER})*\]"
_MATRIX = re.compile(rf"\[({_ROW}(?:, {_ROW})*)\]")


def _matrix_in(rows: str) -> Math:
    """The matrix that is written as a list of rows in running text."""
    return matrix(row.split(", ") for row in rows[1:-1].split("], ["))


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
    text = _MATRIX.sub(lambda found: f"${_matrix_in(found[1]).latex}$", text)
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text).replace("](", "&#93;(").replace("\n", " ")


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
    "−": "$-$", "∈": r"$\in$", "ε": r"$\varepsilon$", "φ": r"$\varphi$", "α": r"$\alpha$", "δ": r"$\delta$",
    "ᵀ": r"$^{\top}$", "ℝ": r"$\mathbb{R}$", "ℂ": r"$\mathbb{C}$", "ℚ": r"$\mathbb{Q}$", "↦": r"$\mapsto$",
    "√": r"$\surd$", "–": "--", "²": "$^2$", "\u0304": "",
}  # fmt: skip


def text_latex(text: str) -> str:
    r"""Text inside a formula.

    >>> text_latex("d_1 ≥ 2")
    '\\text{d\\_1 $\\geq$ 2}'
    """
    return rf"\text{{{''.join(_SPECIAL.get(letter, letter) for letter in text)}}}"


def matrix(rows: Iterable[Iterable[object]]) -> Math:
    r"""A matrix of numbers, or of formulas.

    >>> matrix([[1, 0], [0, 0.25]]).latex
    '\\begin{pmatrix} 1 & 0 \\\\ 0 & 0.25 \\end{pmatrix}'
    """
    lines = (" & ".join(f"{x:.6g}" if isinstance(x, float) else str(x) for x in row) for row in rows)
    body = r" \\ ".join(lines)
    return Math(rf"\begin{{pmatrix}} {body} \end{{pmatrix}}")


def tensor_product(shapes: Iterable[Sequence[int]]) -> str:
    r"""The module with these highest weights, in LaTeX.

    >>> tensor_product([(2,), (1, 1)])
    'S_{(2)} \\otimes S_{(1,1)}'
    """
    return r" \otimes ".join(f"S_{{({','.join(map(str, part))})}}" for part in shapes)
