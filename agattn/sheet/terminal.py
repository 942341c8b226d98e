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
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, TextIO

from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, Word

if TYPE_CHECKING:
    from rich.console import Console


def text(sheet: Sheet) -> str:
    """A sheet as plain text, at most 110 characters wide where its lines can be folded."""
    from rich.console import Console

    stream = io.StringIO()
    show(sheet, Console(file=stream, width=110, highlight=False, color_system=None))
    return stream.getvalue().rstrip("\n")


def show(sheet: Sheet, console: Console) -> None:
    """Print a sheet: its title, and its parts with an empty line above each.

    A table without a rule, and a paragraph that is not apart, stand directly below what is above. Titles and
    paragraphs are folded where somebody reads them; in a pipe or a file their lines stay whole, so that they
    can be searched.
    """
    read = _is_read(console)
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


def told(said: str, stream: TextIO | None = None) -> None:
    """Print running text, folded where somebody reads it; in a pipe or a file its lines stay whole.

    The stream is the standard output if none is given.
    """
    stream = stream or sys.stdout
    read = stream.isatty() or "COLUMNS" in os.environ
    print(fold(said, shutil.get_terminal_size().columns) if read else said, file=stream)


def _is_read(console: Console) -> bool:
    return console.is_terminal or "COLUMNS" in os.environ


def _print_text(said: str, console: Console, folded: bool, style: str | None = None) -> None:
    shown = fold(said, console.width) if folded else said
    console.print(shown, style=style, soft_wrap=True, markup=False, emoji=False)


#: Spaces at which a line is not broken: beside a relation, after any other sign, between a word with a colon
#: and its number, and in short brackets without brackets inside.
_TIED = re.compile(
    r"(?<=\S) (?=[=≠≤≥<>∈] )|(?<= [=≠≤≥<>∈+−·×⊗-]) |(?<=:) (?=\d)"
    r"|(?<=[\[(])[^][()\n]{1,30}(?=[])])"
)
_TIE = "\ue000"


def fold(said: str, width: int) -> str:
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
    return "\n".join(_folded(line, width) for line in said.split("\n"))


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
    lines = textwrap.wrap(
        words, width, initial_indent=first, subsequent_indent=further, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return above + "\n".join(lines).replace(_TIE, " ")


#: A column that may be folded is no narrower.
_NARROWEST = 16


def print_table(table: Table, console: Console) -> None:
    """Print a table, or where the table does not fit, each row as a paragraph: nothing is ever cut off.

    Columns under wide headings may be folded, to a width of no less than 16 characters and of their longest
    word.
    """
    from rich import box
    from rich.table import Table as RichTable

    columns = [[row[n] for row in table.rows] for n in range(len(table.headings))]
    longest, needed = [], []
    for heading, column in zip(table.headings, columns, strict=True):
        lines = [str(heading), *map(_plain, column)]
        longest.append(max(map(len, lines)))
        words = (len(word) for line in lines for word in line.split())
        needed.append(min(longest[-1], max(_NARROWEST, *words)) if isinstance(heading, Wide) else longest[-1])
    spare = console.width - sum(needed) - 2 * len(needed) + (1 if table.ruled else 2)
    if spare < 0:
        _print_paragraphs(table, console)
        return
    space, line = ((0, 1, 0, 0), box.SIMPLE_HEAD) if table.ruled else ((0, 1), None)
    drawn = RichTable(box=line, padding=space, pad_edge=table.ruled, show_edge=False)
    widths = []
    for heading, column, most, least in zip(table.headings, columns, longest, needed, strict=True):
        right = any(isinstance(cell, int) for cell in column)
        drawn.add_column(heading, justify="right" if right else "left", no_wrap=True)
        widths.append(min(most, least + spare))
        spare -= widths[-1] - least
    for row in table.rows:
        drawn.add_row(*map(_cell_rich, row, widths))
    console.print(drawn)


def _print_paragraphs(table: Table, console: Console) -> None:
    """Print each row as a paragraph with a line for each cell, folded where the line is longer."""
    for row in table.rows:
        for n, (heading, cell) in enumerate(zip(table.headings, row, strict=True)):
            said = f"  {heading}: {_plain(cell)}" if n else _plain(cell)
            if n == 0 or _plain(cell):
                _print_text(said, console, True)


_COLOURS = {"confirmed": "green", "refuted": "red", "undecided": "yellow", "inapplicable": "dim"}


def _plain(cell: Cell) -> str:
    return cell.word if isinstance(cell, Word) else str(cell)


def _cell_rich(cell: Cell, width: int) -> str:
    """A cell in the markup of rich, folded to a width."""
    import rich.markup

    if isinstance(cell, Word):
        colour = _COLOURS.get(cell.word)
        return f"[{colour}]{cell.word}[/{colour}]" if colour else cell.word
    return rich.markup.escape(fold(str(cell), width))
