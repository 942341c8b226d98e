r"""Tables, formulas and paragraphs as plain data: what a result shows, without how it is drawn.

A :class:`Sheet` is what one result has to show. The modules beside this one draw sheets in a terminal, in
HTML, in LaTeX and in Markdown. They know tables and formulas, and no type of the mathematics.

>>> table = Table("Strata", ("stratum", Wide("why")), (("(1,1,1)", "a < b"), ("(1,1,2)", Math("k^{2}"))))
>>> Sheet("M(2,1,2)", (table, Note("all proved"))).tables[0].headings
('stratum', 'why')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal


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


@dataclass(frozen=True)
class Table:
    """A table; every row is as long as the headings, if there are any.

    Attributes:
        caption: what the table is about; a formula if the table describes what the formula names.
        headings: of the columns; none if the first cell of each row is its heading.
        rows: the cells.
        ruled: whether a terminal draws a line under the headings, and leaves less space between columns.
        where: ``"terminal"`` or ``"page"`` where one of the two has a table of its own; else empty.
    """

    caption: str | Math
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    ruled: bool = True
    where: Literal["", "terminal", "page"] = ""
    kind: ClassVar[str] = "table"


@dataclass(frozen=True)
class Note:
    """A paragraph below the tables, which terminals print and notebooks leave out.

    Attributes:
        text: the paragraph; each of its lines begins a new line.
        folded: whether lines are folded in a pipe and in a file, too, and not in terminals alone.
        apart: whether a terminal leaves an empty line above.
    """

    text: str
    folded: bool = False
    apart: bool = True


@dataclass(frozen=True)
class Sheet:
    """What a result shows.

    Attributes:
        title: the line above everything; empty for none.
        parts: tables and paragraphs, in the order in which a terminal prints them.
    """

    title: str
    parts: tuple[Table | Note, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables of a page, the most important one first."""
        return tuple(part for part in self.parts if isinstance(part, Table) and part.where != "terminal")


def plain_cell(cell: Cell) -> str:
    """A cell as plain text; a formula in LaTeX.

    >>> plain_cell(Lines((Word("proved"), Math("k^{2}"))))
    'proved; k^{2}'
    """
    if isinstance(cell, Lines):
        return "; ".join(map(plain_cell, cell.parts))
    if isinstance(cell, Math):
        return cell.latex
    return cell.word if isinstance(cell, Word) else cell.code if isinstance(cell, Code) else str(cell)


def matrix(rows: Iterable[Iterable[object]]) -> Math:
    r"""A matrix of numbers, or of formulas.

    >>> matrix([[1, 0], [0, 0.25]]).latex
    '\\begin{pmatrix} 1 & 0 \\\\ 0 & 0.25 \\end{pmatrix}'
    """
    lines = (" & ".join(f"{x:.6g}" if isinstance(x, float) else str(x) for x in row) for row in rows)
    body = r" \\ ".join(lines)
    return Math(rf"\begin{{pmatrix}} {body} \end{{pmatrix}}")


_MOST_ENTRIES = 64


def array_cell(array: Any) -> Cell:
    """An array of numpy with two axes as a cell: its entries, or its size where there are many."""
    rows, columns = array.shape
    return matrix(array.tolist()) if array.size <= _MOST_ENTRIES else f"{rows} × {columns}"


def tensor_product(shapes: Iterable[Sequence[int]]) -> str:
    r"""The module with these highest weights, in LaTeX.

    >>> tensor_product([(2,), (1, 1)])
    'S_{(2)} \\otimes S_{(1,1)}'
    """
    return r" \otimes ".join(f"S_{{({','.join(map(str, part))})}}" for part in shapes)


_NUMBER = r"-?\d+(?:/\d+)?"
_ROW = rf"\[{_NUMBER}(?:, {_NUMBER})*\]"
#: A matrix that is written as a list of rows in running text.
MATRIX = re.compile(rf"\[({_ROW}(?:, {_ROW})*)\]")


def matrix_in(rows: str) -> Math:
    """The matrix that is written as a list of rows in running text."""
    return matrix(row.split(", ") for row in rows[1:-1].split("], ["))
