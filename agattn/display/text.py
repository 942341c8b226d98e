"""What results with several parts say in a terminal: a heading, a table, and what a reader must not miss.

>>> from agattn import SingleLayer
>>> from agattn.verification.strata_table import strata_table
>>> for line in text(strata_table(SingleLayer(1, 1))).splitlines()[:5:2]:
...     print(line)
M(1,1,1): expected dim 1 in ℝ¹, t ≥ 2; strata (rk V, rk A, rk [V; Aᵀ])
stratum dim fiber critical dim T singular HMK boundary near it
(0,0,0) 0 - no 1 no - no smooth
"""

from __future__ import annotations

import io
from functools import singledispatch
from typing import TYPE_CHECKING

from agattn.display.values import tables
from agattn.geometry.critical_points.counts import CriticalPoints
from agattn.sheet.data import Table, Wide, Word
from agattn.sheet.result import Result
from agattn.sheet.terminal import print_table
from agattn.sheet.terminal import show as show_sheet
from agattn.verification.verify import Report

if TYPE_CHECKING:
    from rich.console import Console


def text(value: object) -> str:
    """A value as plain text, at most 110 characters wide where its lines can be folded.

    Raises:
        TypeError: if nothing is known for values of its type.
    """
    from rich.console import Console

    stream = io.StringIO()
    show(value, Console(file=stream, width=110, highlight=False, color_system=None))
    return stream.getvalue().rstrip("\n")


@singledispatch
def show(value: object, console: Console) -> None:
    """Print a value.

    Raises:
        TypeError: if nothing is known for values of its type.
    """
    if isinstance(value, Result):
        show_sheet(value.sheet(), console)
        return
    raise TypeError(f"a {type(value).__name__} has no text")


@show.register(Report)
def _report(report: Report, console: Console) -> None:
    console.print(f"[bold]{report.layer}[/bold]")
    rows = tuple((v.claim, Word(str(v.status)), v.known, v.short) for v in report.verdicts)
    table = Table("", ("claim", "verdict", "evidence", Wide("computed")), rows, ruled=False)
    print_table(table, console)
    if getattr(report.layer, "has_orbits", False):
        legend = "(r_V, r_A, r) names the functions with rk V = r_V, rk A = r_A, rk [V; Aᵀ] = r"
        console.print(f"\n{legend}; (0,0,0) is φ = 0.", markup=False)
    for line in _remarks(report):
        console.print(line, markup=False, soft_wrap=True)  # a line can be copied whole


def _remarks(report: Report) -> list[str]:
    """What a reader must not miss: refutations with their witness, doubts, troubles, and who computed."""
    grouped: dict[tuple[str, str], list[str]] = {}
    silent: dict[tuple[str, ...], list[str]] = {}
    for verdict in report.verdicts:
        if verdict.status.value in ("refuted", "undecided"):
            grouped.setdefault((verdict.status.value, verdict.witness), []).append(verdict.claim)
        if verdict.assumes:
            silent.setdefault(verdict.assumes, []).append(verdict.claim)
    lines = [f"\n{', '.join(ids)}, {word}: {witness}." for (word, witness), ids in grouped.items()]
    for hypotheses, ids in silent.items():
        lines.append(f"\nInapplicable, assuming {' and '.join(hypotheses)}: {', '.join(ids)}.")
    lines += [f"\n{v.claim}: checked {v.scope}." for v in report.verdicts if v.scope]
    lines += [f"\ntrouble: {trouble}" for trouble in dict.fromkeys(report.troubles)]
    installations = (run.installation for run in report.runs)
    engines = dict.fromkeys(f"{found.engine.title} {found.version}" for found in installations)
    lines.append(f"\nComputed by {', '.join(engines) or 'exact linear algebra'} in {report.seconds:.1f} s.")
    if engines:
        lines += [f"{who}: {'; '.join(parts)}." for who, parts in report.found_by.items()]
    return lines


@show.register(CriticalPoints)
def _critical_points(found: CriticalPoints, console: Console) -> None:
    console.print(f"{found.layer}; critical points of the loss: {found.data}\n", soft_wrap=True)
    print_table(tables(found)[0], console)
    rank, size = found.loss.rank, found.loss.size
    if rank < size:
        console.print(f"\nThe loss is no distance: its W has rank {rank} of {size}.", soft_wrap=True)
    for line in found.how_known:
        console.print(f"\n{line}", soft_wrap=True, markup=False)
    for table in tables(found)[1:]:
        console.print("\nReal ones, each proved:\n", soft_wrap=True)
        print_table(table, console)
    if found.real:
        console.print()
    for part in found.real:
        console.print(part.summary, soft_wrap=True)
