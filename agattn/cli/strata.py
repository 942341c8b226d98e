"""``agattn strata``: every point of M by its stratum."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agattn.architectures import SingleLayer
from agattn.cli import output
from agattn.cli.options import file_option, force, json_flag, single_layer
from agattn.cli.output import check_drawing, print_json, progress

if TYPE_CHECKING:
    from agattn.verification.strata_table import StrataTable


@click.command(epilog="Example: agattn strata -d 3 -o 2 -a 2")
@single_layer
@force
@json_flag
@file_option("--hasse", "Draw the closure order into FILE (.svg, .png or .pdf); needs matplotlib.")
def command(architecture: SingleLayer, force: bool, as_json: bool, hasse: Path | None) -> None:
    """List the strata of the neuromanifold: orbits (r_V, r_A, r) of functions under base change.

    r_V and r_A are the ranks of V and A, and r that of the rows of V and the columns of A together. Every
    property shown holds at all points of a stratum and is proved by exact computation at one.
    """
    from agattn.systems.sizes import check_size
    from agattn.verification.strata_table import strata_table

    if not force:
        check_size(architecture)
    if hasse is not None:
        check_drawing(hasse)
    with progress(f"{architecture}: strata") as update:
        found = strata_table(architecture)
        if hasse is not None:
            from agattn.reports.hasse import draw_hasse_diagram

            update("drawing them")
            draw_hasse_diagram(architecture, hasse)
    if hasse is not None:
        click.echo(f"wrote {hasse}", err=True)
    if as_json:
        print_json(found.as_json())
    else:
        _print_table(found)


def _print_table(found: StrataTable) -> None:
    from agattn.display.table import Cell, Table

    console = output.console(soft_wrap=True)
    headings = ("stratum", "dim", "fiber", "critical", "dim T", "singular", "HMK", "boundary", "near it")
    rows: list[tuple[Cell, ...]] = []
    for row in found.rows:
        cells = row.cells("-", "..")
        if row.tangent.fiber is not None:
            longest = max(p.length or 0 for p in row.tangent.fiber.points)
            cells["preimages"] = f"{cells['preimages']}" + f" (×{longest or '?'})" * (longest != 1)
        cells["singular by HMK"] = f"{cells['singular by HMK']}{' !' * row.contradicts_paper}"
        rows.append((*cells.values(), row.local_type.name))
    console.print(f"{found.layer}; strata (rk V, rk A, rk [V; Aᵀ])\n")
    Table("", headings, tuple(rows)).print(console, rule=True)
    console.print(
        "\nfiber: preimages (A, V) over ℂ up to (sA, V/s), (×m) where one counts m times; dim T: of the "
        "Zariski tangent space; HMK: singular by Theorem 3.4."
    )
    if found.outside is not None:
        console.print(
            f"Not in M, but in its real Zariski closure: h ⊗ q ⊗ Q, that is y_(c,b) = h_c q_b Q with "
            f"Q a definite form of rank 2; dim {found.outside['dimension']}."
        )
    if any(row.contradicts_paper for row in found.rows):
        console.print(
            "! HMK, Theorem 3.4 in version 2 has only the points with rk A ≤ 1 and rk V ≤ 1 singular."
        )
