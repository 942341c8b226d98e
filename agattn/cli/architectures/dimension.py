"""``agattn dimension``: the exact dimension of any network."""

from __future__ import annotations

import click

from agattn.cli.options import json_flag, layer_or_network, one_blas_thread, seed
from agattn.cli.output import console, print_json, progress


@click.command(
    epilog="Examples: agattn dimension -d 3 -o 2 -a 2; "
    "agattn dimension --dims 10,10,10 --ranks 2,2 -t 3 --normalization softmax"
)
@layer_or_network
@seed
@click.option("--force", is_flag=True, help="Take the rank of a Jacobian of any size.")
@json_flag
def command(architecture, seed, force, as_json):  # type: ignore[no-untyped-def]
    """Compute the dimension of a neuromanifold, with a proof from both sides where they meet.

    A layer counts as a network of one layer. Where the rank of a Jacobian would take long, a
    theorem decides if one is known; it is named with its hypotheses, which were checked. Elsewhere
    large networks get a proved interval, and how far it is open.
    """
    one_blas_thread()
    from agattn.claims.network_dimension import dimension
    from agattn.sheet.terminal import show

    with progress(f"{architecture.name[:60]}: dimension") as update:
        result = dimension(architecture, seed=seed, force=force, progress=update)
    if as_json:
        print_json(result.as_json())
    else:
        show(result.sheet(), console())
