r"""The tables that a screen shows, as files: comma-separated values, and LaTeX for a paper with booktabs.

>>> from agattn.sheet.data import Math, Sheet, Table, Wide
>>> rows = (("(1,1,1)", 5, "a < b, so"), ("(1,1,2)", Math("k^{2}"), "100 %"))
>>> sheet = Sheet("", (Table("Strata", ("stratum", "dim", Wide("why")), rows),))
>>> print(comma_separated(sheet), end="")
stratum,dim,why
"(1,1,1)",5,"a < b, so"
"(1,1,2)",k^{2},100 %
>>> print(booktabs(sheet), end="")
% Strata
\begin{tabular}{lll}
\toprule
stratum & dim & why \\
\midrule
(1,1,1) & 5 & a < b, so \\
(1,1,2) & $k^{2}$ & 100 \% \\
\bottomrule
\end{tabular}
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from agattn.sheet.data import Cell, Code, Lines, Math, Sheet, Table, Word
from agattn.sheet.latex import escaped


def tables_on_screen(sheet: Sheet) -> Sequence[Table]:
    """The tables that a terminal shows; those of a page where it shows text alone."""
    on_screen = [part for part in sheet.parts if isinstance(part, Table) and part.where != "page"]
    return on_screen or sheet.tables


def comma_separated(sheet: Sheet) -> str:
    """The tables as comma-separated values, with an empty line between two."""
    texts = []
    for table in tables_on_screen(sheet):
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([table.headings] * bool(table.headings))
        writer.writerows([_plain(cell) for cell in row] for row in table.rows)
        texts.append(stream.getvalue())
    return "\n".join(texts)


def booktabs(sheet: Sheet) -> str:
    """The tables in LaTeX, each with its caption in a comment."""
    return "\n".join(map(_tabular, tables_on_screen(sheet)))


def _tabular(table: Table) -> str:
    caption = table.caption.latex if isinstance(table.caption, Math) else table.caption
    head = [[escaped(heading) for heading in table.headings]] * bool(table.headings)
    body = [[_latex(cell) for cell in row] for row in table.rows]
    columns = "l" * max(map(len, [*head, *body]), default=1)
    rule = ["\\midrule"] * bool(head)
    lines = ["\\toprule", *map(_row, head), *rule, *map(_row, body), "\\bottomrule"]
    comment = [f"% {' '.join(caption.split())}"] * bool(caption)
    return "\n".join([*comment, f"\\begin{{tabular}}{{{columns}}}", *lines, "\\end{tabular}", ""])


def _row(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _plain(cell: Cell) -> str:
    if isinstance(cell, Lines):
        return "; ".join(map(_plain, cell.parts))
    if isinstance(cell, Math):
        return cell.latex
    return str(cell.word if isinstance(cell, Word) else cell.code if isinstance(cell, Code) else cell)


def _latex(cell: Cell) -> str:
    if isinstance(cell, Math):
        return f"${cell.latex}$"
    return ", ".join(map(_latex, cell.parts)) if isinstance(cell, Lines) else escaped(_plain(cell))
