"""``agattn spectrum``: contact orders of a network where all scores vanish."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agattn.cli.options import json_flag, layer_or_network, one_blas_thread, seed
from agattn.cli.output import progress, show_result

if TYPE_CHECKING:
    from agattn.architectures import Architecture


@click.command(
    epilog="Examples: agattn spectrum --dims 2,2,2 --ranks 1,1 -t 2 --normalization softmax; "
    "agattn spectrum --dims 4,4,4,4 --ranks 2,2,2 -t 4 --normalization softmax"
)
@layer_or_network
@click.option(
    "--digits", type=click.IntRange(min=10), metavar="N",
    help="Also compute singular values with N decimal digits, and how fast they fall.",
)  # fmt: skip
@seed
@click.option("--force", is_flag=True, help="Attempt networks beyond the limits on sizes.")
@json_flag
def command(architecture: Architecture, digits: int | None, seed: int, force: bool, as_json: bool) -> None:
    """Find how fast the singular values of the Jacobian of a network fall as all scores get small.

    Keys and queries are multiplied by s. Then the Jacobian is a matrix of power series in s, and the orders
    are the exponents in the Smith form, which is computed modulo a prime.
    """
    one_blas_thread()
    from agattn.geometry.dimension.contact import contact_spectrum

    with progress(f"{architecture.name}: contact orders") as update:
        found = contact_spectrum(architecture, digits=digits, seed=seed, force=force, progress=update)
    show_result(found, as_json)
