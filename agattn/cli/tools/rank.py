"""``agattn rank``: the rank of a matrix, and how it is known."""

from __future__ import annotations

from pathlib import Path

import click

from agattn.cli.options import DRAWING, INPUT, file_option, json_flag, option, seed
from agattn.cli.output import progress, show_result


@click.command(epilog="Example: agattn rank hilbert.json")
@click.argument("file", type=INPUT)
@option(
    "--method", type=click.Choice(["auto", "rational", "modular", "ball", "mpmath"]), default="auto",
    help="Exact over the rationals, modulo primes, in balls, or by singular values.",
)  # fmt: skip
@option(
    "--precision", type=click.IntRange(8, 1_000_000), default=128, metavar="BITS",
    help="Precision to start from, for ball and mpmath; it is doubled until the rank is separated.",
)  # fmt: skip
@click.option(
    "--radius", metavar="R",
    help="How far each decimal or float may be from what is written; 0 takes all as exact.  "
    "[default: half a unit of the last place of floats and of decimals with 16 digits or more]",
)  # fmt: skip
@file_option("--plot", "Draw the singular values.", **DRAWING)
@seed
@json_flag
def command(
    file: Path, method: str, precision: int, radius: str | None, plot: Path | None, seed: int, as_json: bool
) -> int:
    """Determine the rank of the matrix in FILE: .npy, .npz, .csv, .mtx or .json.

    Entries are integers, rationals such as "22/7", or decimals such as "0.25". If the rank cannot be
    decided, agattn prints the bounds and ends with exit status 3.
    """
    from agattn.algebra.rank import matrix_in, rank_of

    with progress("rank") as tell:
        matrix = matrix_in(file, radius)
        result = rank_of(matrix, method, precision=precision, seed=seed)
        if plot:
            from agattn.reports.spectrum import draw

            tell("drawing")
            draw(matrix, result, plot)
    show_result(result, as_json)
    return 0 if result.rank is not None else 3
