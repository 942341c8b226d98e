"""``agattn symmetries``: all linear symmetries of a parametrization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agattn.cli.options import json_flag, layer_or_network, one_blas_thread, seed
from agattn.cli.output import progress, show_result

if TYPE_CHECKING:
    from agattn.architectures import Architecture


@click.command(
    epilog="Examples: agattn symmetries -d 3 -o 2 -a 2; agattn symmetries --dims 3,1,2 --ranks 2,2 -t 2"
)
@layer_or_network
@seed
@click.option("--force", is_flag=True, help="Attempt architectures beyond the limits on sizes.")
@json_flag
def command(architecture: Architecture, seed: int, force: bool, as_json: bool) -> None:
    """Find all linear symmetries of the parametrization of a polynomial architecture.

    They are the matrices B for which the parameters θ + εBθ give the same function as θ to first order, for
    all θ: a Lie algebra, the solutions of a linear system, which is solved modulo a prime and lifted. agattn
    proves that no others exist. Each generator is proved as well, by polynomials in symbols, unless these get
    too large. The symmetries with a name are named, and all other generators are listed as new.
    """
    one_blas_thread()
    from agattn.geometry.dimension.lie_algebra import linear_symmetries

    with progress(f"{architecture.name}: linear symmetries") as update:
        found = linear_symmetries(architecture, seed=seed, force=force, progress=update)
        _ = found.structure  # found here, while progress is shown
    show_result(found, as_json)
