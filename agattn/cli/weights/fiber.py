"""``agattn fiber``: all weights with the same function."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli.options import (
    INPUT,
    configured,
    file_option,
    json_flag,
    leave_out,
    network_or_checkpoint,
    one_blas_thread,
    one_head,
    seed,
    tolerance_option,
    whole_number,
)
from agattn.cli.output import progress, show_result
from agattn.errors import InputError

if TYPE_CHECKING:
    from agattn.architectures import Architecture
    from agattn.geometry.identifiability.fibers import Weights


def _read_weights(files: tuple[Path, ...], a: int | None, which: dict[str, Any]) -> Weights:
    """The one head in files that hold A and V, or K, Q and V, or in a checkpoint."""
    from agattn.geometry.identifiability.fibers import weights
    from agattn.heads.checkpoints import read_weights
    from agattn.heads.weight_files import WeightFile

    network = read_weights(WeightFile(files), **which)
    if len(network) > 1 or len(network[0]) > 1:
        raise InputError(f"{files[0]} holds several heads; choose a head by --layer and --head, from 0")
    ((w,),) = network
    return (
        w if a is None else weights(A=w.A, V=w.V, a=a) if w.K is None else weights(K=w.K, Q=w.Q, V=w.V, a=a)
    )


@click.command(
    epilog="Examples: agattn fiber weights.npz; agattn fiber --dims 2,2,2 --ranks 2,2 -t 3 network.json; "
    "agattn fiber --model model.toml weights.json --other others.json"
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=INPUT)
@partial(network_or_checkpoint, instead=lambda given: given["dims"] is None is given["ranks"])
@click.option(
    "-a",
    "--attn-dim",
    "a",
    type=click.IntRange(min=1),
    metavar="N",
    help="For weights A, V: the largest rank of A.",
)
@file_option("--other", "Other weights: decide whether they have the same function.", read=True)
@partial(one_head, counted=False)
@tolerance_option()
@seed
@json_flag
def command(
    files: tuple[Path, ...], architecture: Architecture | None, a: int | None, other: Path | None,
    layer: int | None, head: int | None, counts: dict[str, Any], tolerance: float | None, seed: int,
    as_json: bool,
) -> None:  # fmt: skip
    """Describe the fiber through the weights in FILE: all weights that compute the same function (t ≥ 2).

    FILE is .npz, .safetensors or .json with arrays A and V, or K, Q and V; or give .npy files whose names
    end in these letters; or a checkpoint, with --layer and --head. Integers, and rationals such as "1/3" in
    JSON, are exact.

    For a network, --dims and --ranks with its weights K_1, Q_1, V_1, K_2, ... in FILE, or A_1 in place of
    K_1 and Q_1: the components that are known, and both bounds on the dimension at the weights; with softmax
    for one head in each layer. With --model the same of any polynomial model, with an array for each of its
    parameters; with --jet N of the jet of a softmax network. Floating-point weights are taken as exact.
    """
    if architecture is not None:
        leave_out("is for one head", "a", "layer", "head", "kv_heads", "parts", "tolerance")
        _of_network(architecture, files, other, seed, as_json)
        return
    leave_out(
        "is for a network or a model; give --dims and --ranks, or --model, as well",
        "t",
        "skip",
        "value_rank",
        "normalization",
        "temperature",
        "jet",
        "seed",
    )
    from agattn.calls import positive_integer

    given = click.get_current_context().params
    if (heads := given["heads"]) is not None:
        counts["heads"] = positive_integer("heads", whole_number(heads))
    counts |= configured(given)
    from agattn.architectures import SingleLayer
    from agattn.geometry.identifiability.equivalence import equivalent
    from agattn.geometry.identifiability.network_fibers import fiber
    from agattn.sheet.terminal import print_folded

    which = {"layer": layer, "head": head, **counts}
    with progress("fiber"):
        w = _read_weights(files, a, which)
        found: Any = fiber(SingleLayer(len(w.A), len(w.V), w.a), w, tolerance=tolerance)
        others = None if other is None else _read_weights((other,), a, which)
        answer = None if others is None else equivalent(w, others, tolerance=tolerance)
    show_result(replace(found, equivalent=None if answer is None else answer.of_head()), as_json)
    if answer is not None and not as_json:
        print_folded(f"{other}: {answer}")


def _of_network(
    architecture: Architecture, files: tuple[Path, ...], other: Path | None, seed: int, as_json: bool
) -> None:
    """What is known of the fiber through the weights of a network or a model in files."""
    one_blas_thread()
    from agattn.geometry.identifiability.network_fibers import network_fiber
    from agattn.heads.weight_files import WeightFile
    from agattn.limits import limited
    from agattn.sheet.terminal import print_folded

    with progress("fiber"), limited(seed=seed):
        found = network_fiber(architecture, WeightFile(files))
        compared = None if other is None else found.compare(WeightFile([other]))
    show_result(replace(found, equivalent=compared), as_json)
    if compared is not None and not as_json:
        print_folded(f"{other}: {compared}")
