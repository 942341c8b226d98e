"""``agattn rlct``: learning coefficients of one layer, its strata or given weights, and of networks."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli.options import (
    INPUT,
    JSON_FILE,
    configured,
    file_option,
    json_flag,
    layer_network_or_checkpoint,
    leave_out,
    one_blas_thread,
    stray,
    tolerance_option,
    whole_number,
)
from agattn.cli.output import progress, show_result, write_file
from agattn.errors import InputError

if TYPE_CHECKING:
    from agattn.architectures import Architecture
    from agattn.sheet.result import Result


@click.command(
    epilog="Examples: agattn rlct -d 3 -o 2 -a 2; agattn rlct weights.npz; agattn rlct model.safetensors; "
    "agattn rlct --dims 2,2,2 --ranks 2,2 -t 3 network.json"
)
@click.argument("files", nargs=-1, metavar="[FILE...]", type=INPUT)
@partial(
    layer_network_or_checkpoint,
    instead=lambda given: bool(given["files"]) and given["dims"] is None is given["ranks"],
)
@click.option("--softmax", is_flag=True, help="Take a softmax head in place of a lightning head.")
@tolerance_option(1e-6)
@click.option("--curve", is_flag=True, help="With FILE: λ at every tolerance.")
@click.option(
    "--kv-heads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Heads of keys and values, if they are shared.",
)
@file_option("-O", "--output", "destination", "Write the JSON document.", **JSON_FILE)
@file_option(
    "--certificate", "For a layer: write a certificate of all points, for agattn check.", **JSON_FILE
)  # fmt: skip
@json_flag
def command(
    files: tuple[Path, ...], architecture: Architecture | None, softmax: bool, tolerance: float,
    curve: bool, kv_heads: int | None, destination: Path | None, certificate: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Compute learning coefficients λ and multiplicities m (real log canonical thresholds), exactly.

    For a layer: at all kinds of weights, which are the strata (r_V, r_A, r) times the ranks of K and Q, and
    for each function the least λ over all weights that compute this function. For weights in FILE (.npz,
    .json, .safetensors, .npy): at these weights, with each summand of λ and its reason. FILE holds K and Q,
    or A, with V, or W_O and W_V. Of a checkpoint, every head is placed. With -t 1 and FILE: for one token.

    For a network, --dims and --ranks with its weights K_1, Q_1, V_1, K_2, ... in FILE, or --model with those
    of any polynomial model: two bounds on λ with their reasons; with softmax for one head in each layer.
    Where the bounds meet, λ is known. Floating-point weights are taken as exact.
    """
    one_blas_thread()
    if files and all(file.name.isdecimal() and not file.exists() for file in files):
        raise stray(tuple(map(str, files)))
    from agattn.architectures import SingleLayer
    from agattn.calls import positive_integer
    from agattn.heads.coefficients import rlct

    found: Result
    if architecture is not None and (files or not isinstance(architecture, SingleLayer)):
        leave_out("is for one layer", "softmax", "curve", "certificate")
        leave_out("is for heads, one by one", "tolerance", "kv_heads")
        found = _of_network(architecture, files)
    elif architecture is not None:
        leave_out("is for weights in FILE", "tolerance", "curve", "kv_heads")
        if certificate is not None:
            from agattn.verification.certificate import make_learning_certificate

            with progress("certificate"):
                made = make_learning_certificate(architecture, softmax)
        with progress(f"{architecture.name}: learning coefficients"):
            found = rlct(architecture, softmax=softmax)
    else:
        leave_out("describes a layer, and FILE has its own sizes", "d", "d_out", "a")
        leave_out(
            "describes a network; give --dims and --ranks as well",
            "skip", "value_rank", "normalization", "temperature",
        )  # fmt: skip
        leave_out("is for a layer; give -d and -o", "certificate")
        given = click.get_current_context().params["heads"]
        heads = None if given is None else positive_integer("heads", whole_number(given))
        found = _at_weights(files, softmax, tolerance, curve, (heads, kv_heads))
    if certificate is not None and isinstance(architecture, SingleLayer):
        write_file(certificate, json.dumps(made, ensure_ascii=False) + "\n")
    show_result(found, as_json, destination, soft_wrap=True)


def _of_network(given: Architecture, files: tuple[Path, ...]) -> Result:
    """The bracket at the weights of a network or a model in files."""
    from agattn.geometry.learning_coefficients.brackets import CoefficientBounds
    from agattn.heads.coefficients import rlct
    from agattn.heads.weight_files import WeightFile

    network = given.as_network() or given
    if not files:
        *names, last = network.shapes
        raise InputError(f"give a FILE with weights {', '.join(names)} and {last} of {network}")
    with progress("rlct"):
        found: Any = rlct(network, WeightFile(files))
    return CoefficientBounds(given, found)


def _at_weights(files: tuple[Path, ...], softmax: bool, tolerance: float, curve: bool, counts: Any) -> Result:
    """λ at the weights in files, or at every head of a checkpoint."""
    from agattn.calls import positive_integer
    from agattn.heads.coefficients import of_files

    given = click.get_current_context().params
    t = positive_integer("t", whole_number(given.get("t") or "2"))
    heads, kv_heads = counts
    with progress("rlct"):
        return of_files(
            files, t=t, softmax=softmax, tolerance=tolerance, curve=curve, heads=heads, kv_heads=kv_heads,
            **configured(given),
        )  # fmt: skip
