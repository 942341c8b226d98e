"""``agattn identify``: the weights of a coefficient tensor."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agattn.cli.options import INPUT, json_flag, one_tensor, single_layer, tolerance_option
from agattn.cli.output import progress, show_result

if TYPE_CHECKING:
    from agattn.architectures import SingleLayer


@click.command(epilog="Example: agattn identify tensor.npy -d 2 -o 1")
@click.argument("file", type=INPUT)
@partial(single_layer, by_place=False)
@tolerance_option(1e-8)
@json_flag
def command(architecture: SingleLayer, file: Path, tolerance: float, as_json: bool) -> None:
    """Recover (A, V) from a coefficient tensor, or say why no weights have this tensor and give the nearest.

    FILE is .npy, .npz, .safetensors or .json with one array, such as [5, 22, 21, 10, 34, 28]: the N compact
    coefficients y_(c,b,i,k), i ≤ k, of u_i u_k in the product of row c of V and column b of A, ordered by c,
    b, i, k; or all coefficients, d' × t × C(dt+2, 3). Arrays X (n × d × t) and Y (n × d' × t) are read as a
    table of inputs and outputs. Integers, and rationals such as "1/3" in JSON, are exact.
    """
    from agattn.geometry.reconstruction.from_values import identify
    from agattn.heads.weight_files import WeightFile

    arrays = WeightFile([file])
    is_table = {"X", "Y"} <= set(arrays)
    given = arrays if is_table else one_tensor(arrays, file, ", or X and Y for a table")
    with progress(f"{architecture.name}: identify"):
        found = identify(architecture, given, tolerance=tolerance)
    show_result(found, as_json)
