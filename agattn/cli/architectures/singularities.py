"""``agattn singularities``: the kinds of points of a network or a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agattn.cli.options import JSON_FILE, file_option, json_flag, layer_or_network, one_blas_thread, seed
from agattn.cli.output import progress, show_result

if TYPE_CHECKING:
    from agattn.architectures import Architecture


@click.command(
    epilog="Examples: agattn singularities --dims 3,3,2 --ranks 3,3 -t 3; "
    "agattn singularities --dims 2,2,1 --ranks 2,2 -t 2 --pairs; agattn singularities --model model.toml"
)
@layer_or_network
@click.option("--pairs", is_flag=True, help="Also take pairs of kinds that are special in one matrix each.")
@seed
@click.option("--force", is_flag=True, help="Attempt networks beyond the limits on sizes.")
@file_option("-O", "--output", "destination", "Write the JSON document.", **JSON_FILE)
@json_flag
def command(
    architecture: Architecture, pairs: bool, seed: int, force: bool, destination: Path | None, as_json: bool
) -> None:
    """Decide for each kind of points of a network or a model whether these points are critical, and singular.

    A kind is weights with something special about them: ranks of the matrices or of the virtual weights M_i
    and L, symmetric or skew ones, shared vectors, kernels that meet, zero. For a model, with --model, the
    kinds are arrays of lower rank, arrays with zero or equal rows and columns, and equal heads. At integer
    weights of each kind the rank of the differential is found exactly, the fiber is bounded from both sides,
    and tangent vectors of the closure are collected at all known preimages. More independent tangent vectors
    than the dimension prove that the point is singular. A differential of the largest rank proves a smooth
    branch. Otherwise the point is undecided.
    """
    one_blas_thread()
    from agattn.geometry.singular_points.singularities import singularities

    with progress(f"{architecture.name}: kinds of points") as update:
        found = singularities(architecture, pairs, seed=seed, force=force, progress=update)
    show_result(found, as_json, destination)
