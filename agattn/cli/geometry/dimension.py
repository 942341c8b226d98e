"""``agattn dimension``: the exact dimension of any network."""

from __future__ import annotations

import click

from agattn.cli.options import json_flag, layer_or_network, one_blas_thread, seed
from agattn.cli.output import print_json, progress


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

    A layer is treated as the network of one layer that it is. Where the rank of a Jacobian would take long, a
    theorem decides if one is known; it is named with its hypotheses, which were checked.
    """
    one_blas_thread()
    from agattn.claims.network_dimension import dimension

    with progress(f"{architecture.name[:60]}: dimension") as update:
        result = dimension(architecture, seed=seed, force=force, progress=update)
    if as_json:
        print_json(result.as_json())
        return
    click.echo(result)
    click.echo(f"  at least {result.lower_bound}: {result.lower_bound_argument}")
    click.echo(f"  at most  {result.upper_bound}: {result.upper_bound_reason}")
    if result.evidence.value == "modular":
        ranks = ", ".join(f"{r.rank} modulo {r.prime}" for r in result.ranks)
        click.echo(
            f"  observed: {ranks}; wrong with probability below {result.error:.1e} (for the rank over F_p)"
        )
    if (paper := result.paper) is not None:
        name = "equation 14" if result.architecture.degree else "equation 16"
        hypotheses = f"does not apply (needs {', '.join(paper.failing)})" if paper.failing else "applies"
        agreement = "agrees" if not paper.defect else f"would give {paper.value}"
        click.echo(f"  the paper's {name} {hypotheses}; it {agreement}")
    click.echo(f"  {result.parameters} parameters, {result.seconds:.2f} s")
