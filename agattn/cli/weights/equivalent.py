"""``agattn equivalent``: are two files of weights the same function?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agattn.cli import options
from agattn.cli.output import print_json, progress


@click.command(
    epilog="Examples: agattn equivalent before.npz after.npz; "
    "agattn equivalent base tuned --layer 3 --head 7 --tolerance 1e-6"
)
@click.argument("first", metavar="W1", type=options.INPUT)
@click.argument("second", metavar="W2", type=options.INPUT)
@options.one_head
@options.tolerance_option()
@options.json_flag
def command(
    first: Path, second: Path, layer: int | None, head: int | None, counts: dict[str, Any],
    tolerance: float | None, as_json: bool,
) -> int:  # fmt: skip
    """Decide whether the weights in W1 and in W2 are the same function for all t ≥ 2, and by which symmetry.

    A file holds arrays A and V, or K, Q and V: matrices, or stacks with one matrix for each head; of several
    layers K_1, Q_1, V_1, K_2 and so on. Of checkpoints --layer and --head say which head is compared.
    Integers, and rationals such as "1/3" in JSON, are exact, and the answer is then proved. Floats are as
    good as the type in which they are stored: nothing is decided within a factor of 10 of the tolerance.

    Exit status: 0 the same function; 1 different functions; 3 undecided.
    """
    from agattn.geometry.identifiability.equivalence import equivalent
    from agattn.heads.checkpoints import read_weights
    from agattn.heads.weight_files import WeightFile
    from agattn.sheet.terminal import print_folded

    with progress("equivalent"):
        one, two = (read_weights(WeightFile([path]), layer, head, **counts) for path in (first, second))
        found = equivalent(one, two, tolerance=tolerance)
    if as_json:
        print_json(found.as_json())
    else:
        print_folded("\n".join(filter(None, (str(found), found.closeness))))
    return {True: 0, False: 1, None: 3}[found.equal]
