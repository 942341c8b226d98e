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
from typing import TYPE_CHECKING

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

    A table without a rule, and a paragraph that is not apart, stand directly below what is above.
    """
    if sheet.title:
        console.print(sheet.title, style="bold", soft_wrap=True, markup=False, emoji=False)
    shown = [part for part in sheet.parts if isinstance(part, Note) or part.where != "page"]
    for n, part in enumerate(shown):
        if (n or sheet.title) and (part.apart if isinstance(part, Note) else part.ruled):
            console.print()
        if isinstance(part, Note):
            console.print(part.text, markup=False, emoji=False, soft_wrap=not part.folded)
        else:
            print_table(part, console)


def print_table(table: Table, console: Console) -> None:
    """Print a table, or where the table does not fit, each row as a paragraph: nothing is ever cut off.

    Columns under wide headings may be folded, to a width of no less than 16 characters.
    """
    from rich import box, measure
    from rich.table import Table as RichTable

    space, line = ((0, 1, 0, 0), box.SIMPLE_HEAD) if table.ruled else ((0, 1), None)
    drawn = RichTable(box=line, padding=space, pad_edge=table.ruled, show_edge=False)
    needed = 0
    columns = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.headings)
    for heading, cells in zip(table.headings, columns, strict=True):
        right, wide = any(isinstance(cell, int) for cell in cells), isinstance(heading, Wide)
        drawn.add_column(heading, justify="right" if right else "left", overflow="fold", no_wrap=not wide)
        shown = [str(heading), *map(_cell_rich, cells)]
        longest = max(measure.Measurement.get(console, console.options, cell).maximum for cell in shown)
        needed += (min(longest, 16) if wide else longest) + 2
    rows = [list(map(_cell_rich, row)) for row in table.rows]
    for row in rows:
        drawn.add_row(*row)
    if needed <= console.width:
        console.print(drawn)
        return
    for first, *others in rows:
        console.print(first, soft_wrap=True)
        for heading, cell in zip(table.headings[1:], others, strict=True):
            if cell:
                console.print(f"  {heading}: {cell}", soft_wrap=True)


_COLOURS = {"confirmed": "green", "refuted": "red", "undecided": "yellow", "inapplicable": "dim"}


def _cell_rich(cell: Cell) -> str:
    """A cell in the markup of rich."""
    import rich.markup

    if isinstance(cell, Word):
        colour = _COLOURS.get(cell.word)
        return f"[{colour}]{cell.word}[/{colour}]" if colour else cell.word
    return rich.markup.escape(str(cell))
