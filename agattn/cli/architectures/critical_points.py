"""``agattn critical-points``: the critical points of a squared loss, counted, and the real ones proved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli import options
from agattn.cli.output import progress, show_result, write_result

if TYPE_CHECKING:
    from agattn.architectures import SingleLayer


@click.command(
    epilog="Examples: agattn critical-points -d 4 -o 1; agattn critical-points -d 2 -o 1 --samples 2; "
    "agattn critical-points -d 2 -o 1 --real; "
    "agattn critical-points -d 2 -o 1 --weights w.json --data data.json"
)
@options.single_layer
@options.loss
@click.option(
    "--method", type=click.Choice(("weights", "equations")), default="weights", show_default=True,
    help="Solve in the weights, or count the smooth part by the equations of M̄ with multipliers.",
)  # fmt: skip
@click.option("--smooth", is_flag=True, help="Count on the smooth part alone.")
@click.option(
    "--real", is_flag=True,
    help="Find all real critical points, and prove the loss, index and weights of each: natively for d = 2, "
    "d' = 1, else by msolve, which then counts the complex ones as well, unless an engine is named.",
)  # fmt: skip
@options.file_option(
    "--weights",
    "weights_file",
    "Weights of one head: find the critical points near the head, and how the loss falls there.",
    read=True,
)
@options.field
@options.engine(
    "The engine that counts for the random loss of the seed; `native`: none; `auto`: only where nothing is "
    "proved natively.", "auto", "native",
)  # fmt: skip
@options.seed
@options.force
@options.limits
@options.file_option("-O", "--output", "destination", "Write the JSON document.", **options.JSON_FILE)
@options.json_flag
def command(
    architecture: SingleLayer, metric: str | None, samples: int | None, data: Path | None, method: str,
    smooth: bool, real: bool, weights_file: Path | None, field_name: str | None, engine_name: str, seed: int,
    force: bool, timeout: float, memory: int, destination: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Count the critical points of a squared loss on the functions of a layer, and find the real ones.

    The loss is that of samples, which are random integers or stand in a FILE with arrays X (n × d × t) and Y
    (n × d' × t); or with --metric the squared distance to a random function. Its critical points are counted,
    with multiplicity, on the smooth part of M̄ and on each stratum of singular points; where there are
    infinitely many, dimension and degree are printed.

    For general data (d' ≤ 3), and a general target in the Bombieri–Weyl norm (d' = 1, a ≥ d), theorems give
    the numbers; for d = 2 and d' = 1 elimination proves them for a given loss. Elsewhere an engine counts,
    modulo two primes, in different charts of the weights, unless --field says otherwise.

    With --weights, arrays K, Q, V or A, V: is this head a critical point? For each rank of A agattn finds the
    critical point near the head and proves it, with a bound on the distance and the directions in which the
    loss falls.
    """
    from agattn.verification.critical_points import critical_points

    given = options.read_data(data, metric, samples)
    if weights_file is not None:
        counting = ("method", "smooth", "real", "field_name", "engine_name", "force", "timeout", "memory")
        options.leave_out("is for counting; with --weights nothing is counted", *counting)
        _near(architecture, weights_file, (metric, given, samples, seed), destination, as_json)
        return
    with progress(f"{architecture.name}: critical points") as update:
        found = critical_points(
            architecture, metric or "generic", given, samples=samples, seed=seed, engine=engine_name,
            method=method, smooth=smooth, real=real,
            characteristic=None if field_name is None else options.characteristic(field_name),
            timeout=timeout, memory=memory, force=force, progress=update,
        )  # fmt: skip
    show_result(found, as_json, destination)


def _near(
    architecture: SingleLayer, file: Path, loss: tuple[Any, ...], destination: Path | None, as_json: bool
) -> None:
    """The critical points near the weights of a file."""
    from agattn.geometry.critical_points.trained import critical_points_near
    from agattn.heads.checkpoints import read_weights
    from agattn.heads.weight_files import WeightFile

    metric, data, samples, seed = loss
    weights = read_weights(WeightFile([file]))
    with progress(f"{architecture.name}: critical points near weights"):
        found = critical_points_near(
            architecture, weights, metric or "generic", data, samples=samples, seed=seed
        )
    if write_result(found.as_json(), destination, as_json):
        from agattn.sheet.terminal import print_folded

        print_folded(str(found))
