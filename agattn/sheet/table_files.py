r"""The tables that a screen shows, as files: comma-separated values, and LaTeX for a paper with booktabs.

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
from collections.abc import Sequence

from agattn.sheet.data import Cell, Lines, Math, Sheet, Table, Wide, plain_cell
from agattn.sheet.latex import escaped


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
