"""``agattn critical-points``: the critical points of a squared loss, counted by strata."""

from __future__ import annotations

from pathlib import Path

import click

from agattn.architectures import SingleLayer
from agattn.cli import options, output
from agattn.cli.output import as_text, check_destination, print_json, progress, write_file


@click.command(
    epilog="Examples: agattn critical-points -d 2 -o 1; agattn critical-points -d 2 -o 1 --samples 2; "
    "agattn critical-points -d 2 -o 2 --data data.json"
)
@options.single_layer
@options.loss
@click.option(
    "--method", type=click.Choice(("weights", "equations")), default="weights", show_default=True,
    help="By the weights, or the smooth part by the equations of M̄ with multipliers.",
)  # fmt: skip
@options.field
@options.engine("The engine.", "auto")
@options.seed
@options.force
@options.limits
@options.file_option("-O", "--output", "destination", "Write the JSON document.")
@options.json_flag
def command(
    architecture: SingleLayer, metric: str | None, samples: int | None, data: Path | None, method: str,
    field_name: str | None, engine_name: str, seed: int, force: bool, timeout: float, memory: int,
    destination: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Count the complex critical points of a squared loss on the functions of a layer.

    The loss is that of samples, with random integers or from a FILE with arrays X (n × d × t) and Y (n × d' ×
    t), or the squared distance to a random function in a metric. Its critical points are counted, with
    multiplicity, on the smooth part of M̄ and on each stratum of singular points; where there are infinitely
    many, dimension and degree are printed. An engine computes modulo two primes, in different charts of the
    weights, unless --field says otherwise.
    """
    from agattn import library
    from agattn.display.text import show

    if destination is not None:
        check_destination(destination, (".json",))
    given = options.read_data(data, metric, samples)
    with progress(f"{architecture.name}: critical points") as update:
        found = library.critical_points(
            architecture, metric or "generic", given, samples=samples, seed=seed, engine=engine_name,
            method=method, characteristic=None if field_name is None else options.characteristic(field_name),
            timeout=timeout, memory=memory, force=force, progress=update,
        )  # fmt: skip
    document = found.as_json()
    if destination is not None:
        write_file(destination, as_text(document))
    if as_json:
        print_json(document)
    elif destination != output.STDOUT:
        show(found, output.console())
