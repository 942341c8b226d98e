"""``agattn strata``: every point of M by its stratum."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agattn.cli.options import DRAWING, file_option, force, json_flag, single_layer
from agattn.cli.output import progress, say_on_stderr, show_result

if TYPE_CHECKING:
    from agattn.architectures import SingleLayer


@click.command(epilog="Example: agattn strata -d 3 -o 2 -a 2")
@single_layer
@force
@json_flag
@file_option(
    "--hasse", "Draw the closure order into FILE (.svg, .png or .pdf); needs matplotlib.", **DRAWING
)  # fmt: skip
def command(architecture: SingleLayer, force: bool, as_json: bool, hasse: Path | None) -> None:
    """List the strata of the neuromanifold: orbits (r_V, r_A, r) of functions under base change.

    r_V and r_A are the ranks of V and A, and r is the rank of the rows of V and the columns of A together.
    Every property shown holds at all points of a stratum, and is proved by exact computation at one of them.
    """
    from agattn.verification.strata_table import strata_table

    with progress(f"{architecture.name}: strata") as update:
        found = strata_table(architecture, force=force)
        if hasse is not None:
            from agattn.reports.drawing import save
            from agattn.reports.hasse import hasse_diagram

            update("drawing them")
            save(hasse_diagram(architecture, hasse.suffix.lower()), hasse)
    if hasse is not None:
        say_on_stderr(f"wrote {hasse}")
    show_result(found, as_json)
