"""``agattn strata``: every point of M by its stratum."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agattn.architectures import SingleLayer
from agattn.cli import output
from agattn.cli.options import force, json_flag, single_layer
from agattn.cli.output import check_drawing, print_json, progress


@click.command(epilog="Example: agattn strata -d 3 -o 2 -a 2")
@single_layer
@force
@json_flag
@click.option(
    "--hasse",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw the closure order into FILE (.svg, .png or .pdf); needs matplotlib.",
)
def command(architecture: SingleLayer, force: bool, as_json: bool, hasse: Path | None) -> None:
    """List the strata of the neuromanifold: orbits (r_V, r_A, r) of functions under base change.

    r_V and r_A are the ranks of V and A, and r that of the rows of V and the columns of A together. Every
    property shown holds at all points of a stratum and is proved by exact computation at one.
    """
    from agattn.geometry.strata.table import survey
    from agattn.systems.catalogue import check_size

    if not force:
        check_size(architecture)
    if hasse is not None:
        check_drawing(hasse)
    with progress(f"{architecture}: strata") as update:
        document = survey(architecture)
        if hasse is not None:
            from agattn.reports.hasse import draw_hasse_diagram

            update("drawing them")
            draw_hasse_diagram(architecture, hasse)
    if hasse is not None:
        click.echo(f"wrote {hasse}", err=True)
    if as_json:
        print_json(document)
    else:
        _print_table(architecture, document)


def _print_table(architecture: SingleLayer, document: dict[str, Any]) -> None:
    from rich import box
    from rich.table import Table

    console = output.console(soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    headings = ("stratum", "dim", "fiber", "critical", "dim T", "singular", "HMK", "boundary", "near it")
    for heading in headings:
        table.add_column(heading, justify="right" if heading.startswith("dim") else "left", no_wrap=True)
    words = {True: "yes", False: "no", None: "-"}
    for row in document["strata"]:
        low, high = row["tangent_bounds"]
        longest = max(row["preimage_lengths"] or [1], key=lambda length: length or 0)
        multiple = "" if longest == 1 else f" (×{longest or '?'})"
        table.add_row(
            f"({row['r_v']},{row['r_a']},{row['r']})",
            str(row["dimension"]),
            "-" if row["preimages"] is None else f"{row['preimages']}{multiple}",
            words[row["critical"]],
            str(low) if low == high else f"{low}..{high}",
            words[row["singular"]],
            words[row["singular_by_paper"]] + (" !" if _differs(row) else ""),
            words[row["boundary"]],
            row["local_type"]["name"],
            style="bold" if _differs(row) else None,
        )
    console.print(f"{architecture}; strata (rk V, rk A, rk [V; Aᵀ])\n")
    output.print_table(console, table)
    console.print(
        "\nfiber: preimages (A, V) over ℂ up to (sA, V/s), (×m) where one counts m times; dim T: of the "
        "Zariski tangent space; HMK: singular by Theorem 3.4."
    )
    outside = document["outside"]
    if outside is not None:
        console.print(
            f"Not in M, but in its real Zariski closure: h ⊗ q ⊗ Q, that is y_(c,b) = h_c q_b Q with "
            f"Q a definite form of rank 2; dim {outside['dimension']}."
        )
    if any(map(_differs, document["strata"])):
        console.print(
            "! HMK, Theorem 3.4 in version 2 has only the points with rk A ≤ 1 and rk V ≤ 1 singular."
        )


def _differs(row: dict[str, Any]) -> bool:
    """Whether the paper's answer is a different one, where both are known."""
    return None not in (row["singular_by_paper"], row["singular"]) and bool(
        row["singular_by_paper"] != row["singular"]
    )
