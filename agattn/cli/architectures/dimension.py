"""``agattn dimension``: the exact dimension of any network."""

from __future__ import annotations

from functools import partial

import click

from agattn.cli.options import json_flag, layer_or_network, one_blas_thread, seed
from agattn.cli.output import progress, show_result


@click.command(
    epilog="Examples: agattn dimension -d 3 -o 2 -a 2; "
    "agattn dimension --dims 10,10,10 --ranks 2,2 -t 3 --normalization softmax; "
    "agattn dimension --config config.json"
)
@partial(layer_or_network, of_config=lambda published: published)
@seed
@click.option("--force", is_flag=True, help="Take the rank of a Jacobian of any size.")
@json_flag
def command(architecture, seed, force, as_json):  # type: ignore[no-untyped-def]
    """Compute the dimension of a neuromanifold, proved where a lower and an upper bound meet.

    A layer counts as a network of one layer. If the rank of a Jacobian would take long and a theorem gives
    the dimension, agattn prints the theorem and its hypotheses, which agattn has checked. For other large
    networks agattn prints a proved interval.

    For a published transformer (--config) the table shows one layer of its attention, with and without
    softmax and positions: how many parameters are redundant, by which symmetry, and bounds for all layers.
    """
    one_blas_thread()
    from agattn.claims.network_dimension import dimension

    with progress(f"{architecture.name[:60]}: dimension") as update:
        result = dimension(architecture, seed=seed, force=force, progress=update)
    show_result(result, as_json)
