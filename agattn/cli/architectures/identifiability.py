"""``agattn identifiability``: which parameters the function determines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agattn.cli.options import JSON_FILE, file_option, json_flag, layer_or_network, one_blas_thread, seed
from agattn.cli.output import progress, show_result

if TYPE_CHECKING:
    from agattn.architectures import Architecture


@click.command(
    epilog="Examples: agattn identifiability -d 3 -o 2 -a 2; agattn identifiability --model model.toml "
    "--functions 'K_1[1]^T Q_1[1]'; agattn identifiability -d 3 -o 2 -a 2 --at weights.json"
)
@layer_or_network
@click.option(
    "--functions", multiple=True, metavar="TEXT",
    help="Also this function of the arrays, such as 'K_1^T Q_1', with + - ^T ⊗ sum_i; may be repeated.",
)  # fmt: skip
@file_option(
    "--at",
    "--weights",
    "at",
    "Given weights, an array for each parameter, in place of general ones.",
    read=True,
)
@seed
@click.option("--force", is_flag=True, help="Attempt models and functions beyond the limits on sizes.")
@file_option("-O", "--output", "destination", "Write the JSON document.", **JSON_FILE)
@json_flag
def command(
    architecture: Architecture, functions: tuple[str, ...], at: Path | None, seed: int, force: bool,
    destination: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Say for each parameter array of a polynomial model whether the function determines it, and up to what.

    A softmax network of at most three layers without skip connections is decided by its jet.

    agattn says the same for each product of arrays that the model contracts with each other, such as K^T Q,
    and for the functions that --functions names. An array with one matrix for each head has an index: K_1[2]
    is the second head, sum_i V_1[i] adds up the heads, ⊗ or ** is the tensor product.

    "locally" and "not" come from ranks of the differential, "globally" from theorems that say that the set
    of weights with one function is irreducible. "free" is the number of directions in which something can
    move while the function stays the same. Finite symmetries, such as permutations of heads, are listed
    below.
    """
    one_blas_thread()
    from agattn.geometry.identifiability.identifiability import identifiability
    from agattn.heads.weight_files import WeightFile

    with progress(f"{architecture.name}: identifiability") as update:
        given = None if at is None else WeightFile([at])
        found = identifiability(architecture, functions, given, seed=seed, force=force, progress=update)
    show_result(found, as_json, destination)
