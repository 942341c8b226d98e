"""Sheets in a terminal, in colours where there are some, and as plain text.

>>> from agattn.sheet.data import Note, Sheet, Table
>>> table = Table("", ("r", "dim"), (("(1,1,1)", 3),), ruled=False)
>>> print(text(Sheet("Strata", (table, Note("All proved.")))))
Strata
r        dim
(1,1,1)    3
<BLANKLINE>
All proved.
"""

from __future__ import annotations

import io
import os
import re
import sys
import textwrap
import unicodedata
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TextIO

from agattn.errors import printable
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, Word

if TYPE_CHECKING:
    from rich.console import Console


class Paper:
    """A stream without colours in the place of a console: rich takes longer to import than most answers.

    Attributes:
        stream: what is written to.
        width: the number of characters in a line, where lines can be folded.
    """

    is_terminal = False

    def __init__(self, stream: TextIO, width: int) -> None:
        self.stream, self.width = stream, width

    def print(self, text: str = "") -> None:
        """Write a line or more; as by rich, tabs become spaces."""
        self.stream.write(text.expandtabs() + "\n")


def text(sheet: Sheet) -> str:
    """A sheet as plain text, at most 110 characters wide where its lines can be folded."""
    stream = io.StringIO()
    show(sheet, Paper(stream, 110))
    return stream.getvalue().rstrip("\n")


def show(sheet: Sheet, console: Console | Paper) -> None:
    """Print a sheet: its title, and its parts with an empty line above each.

    A table without a rule, and a paragraph that is not apart, stand directly below what is above. Titles and
    paragraphs are folded where somebody reads them; in a pipe or a file their lines stay whole, so that they
    can be searched.
    """
    read = console.is_terminal or "COLUMNS" in os.environ
    if sheet.title:
        _print_text(sheet.title, console, read, style="bold")
    shown = [part for part in sheet.parts if isinstance(part, Note) or part.where != "page"]
    for n, part in enumerate(shown):
        if (n or sheet.title) and (part.apart if isinstance(part, Note) else part.ruled):
            console.print()
        if isinstance(part, Note):
            _print_text(part.text, console, read or part.folded)
        else:
            print_table(part, console)


def print_folded(text: str, stream: TextIO | None = None) -> None:
    """Print running text, folded where somebody reads it; in a pipe or a file its lines stay whole.

    The stream is the standard output if none is given.
    """
    stream, text = stream or sys.stdout, printable(text)
    if stream.isatty() or "COLUMNS" in os.environ:
        import shutil  # few commands are read while they run

        text = fold(text, shutil.get_terminal_size().columns)
    print(text, file=stream)


def _print_text(text: str, console: Console | Paper, folded: bool, style: str | None = None) -> None:
    text = printable(text)
    shown = fold(text, console.width) if folded else text
    if isinstance(console, Paper):
        console.print(shown)
    else:
        console.print(shown, style=style, soft_wrap=True, markup=False, emoji=False)


#: Spaces at which a line is not broken: beside a relation, after any other sign, between a word with a colon
#: and its number, and in short brackets without brackets inside.
_TIED = re.compile(
    r"(?<=\S) (?=[=≠≤≥<>∈] )|(?<= [=≠≤≥<>∈+−·×⊗-]) |(?<=:) (?=\d)"
    r"|(?<=[\[(])[^][()\n]{1,30}(?=[])])"
)
_TIE = "\ue000"


def fold(text: str, width: int) -> str:
    """Fold lines between words, and neither inside a number or a word, nor beside a sign of relation.

    What follows in a folded line that is indented, or has columns, is indented further; if the last column
    begins far to the right, all of it stands below the others. A word longer than the width stays whole, on a
    line of its own.

    >>> print(fold("zero where A = 0 or V = 0", 21))
    zero where A = 0 or
    V = 0
    >>> print(fold("  at most 13: the 18 parameters", 20))
      at most 13: the 18
        parameters
    >>> print(fold("hilbert-function    Hilbert function of the neuromanifold", 30))
    hilbert-function
      Hilbert function of the
      neuromanifold
    """
    return "\n".join(_folded(line, width) for line in text.split("\n"))


_BETWEEN_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
#: What stands before the last column of a line.
_BEFORE = re.compile(r"(.*\S) {2,}(?=\S)")
#: A last column that begins there or further to the right, and is folded, stands below the others.
_FAR = 16


def _tied(line: str, width: int) -> str:
    """A line with ties for spaces where no break shall be, unless what is tied is longer than the width."""
    tied = _TIED.sub(lambda match: match[0].replace(" ", _TIE), line)
    return re.sub(r"\S+", lambda word: word[0] if len(word[0]) <= width else word[0].replace(_TIE, " "), tied)


def _folded(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    further = indent + "  " * bool(indent or "  " in line)
    first, above = indent, ""
    if (before := _BEFORE.match(line)) and before.end() >= _FAR:
        first, above, line = further, f"{before[1]}\n", line[before.end() :]
    words = _tied(line.strip(), width - len(further))
    lines = textwrap.wrap(words, width, initial_indent=first, subsequent_indent=further, **_BETWEEN_WORDS)
    return above + "\n".join(lines).replace(_TIE, " ")


#: Widths to which a column may be folded: the second one where a table does not fit with the first.
_NARROW = (16, 8)


def print_table(table: Table, console: Console | Paper) -> None:
    """Print a table, or where the table does not fit, each row as a paragraph: nothing is ever cut off.

    Columns under wide headings may be folded, the first ones first, to a width of no less than 8 characters
    and of their longest word.
    """
    columns = [[row[n] for row in table.rows] for n in range(len(table.headings))]
    lines = [[str(head), *map(_plain, column)] for head, column in zip(table.headings, columns, strict=True)]
    longest = [max(map(len, column)) for column in lines]
    for narrow in _NARROW:
        least = [max([narrow, *(len(word) for line in column for word in line.split())]) for column in lines]
        sizes = zip(table.headings, least, longest, strict=True)
        widths = [min(most, few) if isinstance(head, Wide) else most for head, few, most in sizes]
        spare = console.width - sum(widths) - 2 * len(widths) + (1 if table.ruled else 2)
        if spare >= 0:
            break
    else:
        _print_paragraphs(table, console)
        return
    for n in reversed(range(len(widths))):
        more = min(spare, longest[n] - widths[n])
        widths[n] += more
        spare -= more
    _draw(table, columns, widths, console)


#: A part of a line, and its style for rich.
Piece = tuple[str, str]


def _draw(table: Table, columns: list[list[Cell]], widths: list[int], console: Console | Paper) -> None:
    """Draw a table with columns of these widths, or of that of their longest line."""
    drawn = [
        [([str(heading)], "bold"), *(_folded_cell(cell, width) for cell in column)]
        for heading, column, width in zip(table.headings, columns, widths, strict=True)
    ]
    right = [any(isinstance(cell, int) for cell in column) for column in columns]
    places = [max(_places(line) for lines, _ in column for line in lines) for column in drawn]
    for n, row in enumerate(zip(*drawn, strict=True)):
        if n == 0 and not any(table.headings):
            continue
        for parts in zip_longest(*(lines for lines, _ in row), fillvalue=""):
            cells = (_padded(*cell) for cell in zip(parts, places, right, strict=True))
            styles = (style for _, style in row)
            _print_line(list(zip(cells, styles, strict=True)), table.ruled, console)
        if table.ruled and n == 0:
            _print_line([("─" * (sum(places) + 2 * len(places) - 1), "")], False, console)


def _folded_cell(cell: Cell, width: int) -> tuple[list[str], str]:
    """The lines of a cell, and their style."""
    if isinstance(cell, Word):
        return [cell.word], _COLOURS.get(cell.word, "")
    return fold(_plain(cell), width).split("\n"), ""


def _padded(line: str, places: int, right: bool) -> str:
    space = " " * (places - _places(line))
    return space + line if right else line + space


def _places(line: str) -> int:
    """How many places of a terminal a line fills: accents fill none, and signs of East Asian scripts two.

    >>> _places("dim M\u0304"), _places("注意")
    (5, 4)
    """
    if line.isascii():
        return len(line)
    wide = sum(unicodedata.east_asian_width(x) in "WF" for x in line)
    return len(line) + wide - sum(unicodedata.category(x) in ("Mn", "Me", "Cf") for x in line)


def _print_line(pieces: list[Piece], ruled: bool, console: Console | Paper) -> None:
    """Print the cells of a row; in a table with a rule a space follows the last cell as well."""
    spaced = [piece for cell in pieces for piece in (("  ", ""), cell)][1:] + [(" ", "")] * ruled
    if isinstance(console, Paper):
        console.print("".join(piece for piece, _ in spaced))
    else:
        from rich.text import Text

        console.print(Text.assemble(*spaced), soft_wrap=True)


def _print_paragraphs(table: Table, console: Console | Paper) -> None:
    """Print each row as a paragraph with a line for each cell, folded where the line is longer."""
    for row in table.rows:
        for n, (heading, cell) in enumerate(zip(table.headings, row, strict=True)):
            paragraph = f"  {heading}: {_plain(cell)}" if n else _plain(cell)
            if n == 0 or _plain(cell):
                _print_text(paragraph, console, True)


_COLOURS = {"confirmed": "green", "refuted": "red", "undecided": "yellow", "inapplicable": "dim"}


def _plain(cell: Cell) -> str:
    return cell.word if isinstance(cell, Word) else printable(str(cell))
