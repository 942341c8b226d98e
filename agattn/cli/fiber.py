"""``agattn fiber``: all weights with the same function."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli.options import INPUT, file_option, json_flag, one_head, tolerance_option
from agattn.cli.output import plain, print_json
from agattn.errors import InputError

if TYPE_CHECKING:
    from agattn.geometry.identifiability.fibers import Weights


def _read_weights(files: tuple[Path, ...], a: int | None, which: dict[str, Any]) -> Weights:
    """The one head in files that hold A and V, or K, Q and V, or in a checkpoint."""
    from agattn.geometry.identifiability.fibers import weights
    from agattn.heads.checkpoints import read_weights
    from agattn.heads.weight_files import WeightFile

    network = read_weights(WeightFile(files), **which)
    if len(network) > 1 or len(network[0]) > 1:
        raise InputError(f"{files[0]} holds several heads; say which one by --layer and --head, from 0")
    ((w,),) = network
    return (
        w if a is None else weights(A=w.A, V=w.V, a=a) if w.K is None else weights(K=w.K, Q=w.Q, V=w.V, a=a)
    )


@click.command(epilog="Example: agattn fiber weights.npz")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=INPUT)
@click.option(
    "-a", "--attn-dim", "a", type=click.IntRange(min=1), help="For weights A, V: the largest rank of A."
)
@file_option("--other", "Other weights: decide whether they have the same function.", read=True)
@one_head
@tolerance_option(1e-9)
@json_flag
def command(
    files: tuple[Path, ...], a: int | None, other: Path | None, layer: int | None, head: int | None,
    counts: dict[str, Any], tolerance: float, as_json: bool,
) -> None:  # fmt: skip
    """Describe the fiber through the weights in FILE: everything that computes the same function (t ≥ 2).

    FILE is .npz, .safetensors or .json with arrays A and V, or K, Q and V; or give .npy files whose names
    end in these letters; or a checkpoint, with --layer and --head. Integers, and rationals such as "1/3" in
    JSON, are exact.
    """
    from agattn.geometry.identifiability.equivalence import equivalent
    from agattn.geometry.identifiability.fibers import fiber

    which = {"layer": layer, "head": head, **counts}
    w = _read_weights(files, a, which)
    found = fiber(w, tolerance)
    answer = None if other is None else equivalent(w, _read_weights((other,), a, which), tolerance)
    architecture = {"d": len(w.A), "d_out": len(w.V), "a": w.a, "t": 2}
    if as_json:
        canonical = vars(found.canonical())
        shown = ("name", "dimension", "parametrization")
        compared = answer and {
            "equal": answer.equal, "component": answer.component, "s": plain(answer.s),
            "gauge": plain(answer.C), "input": plain(answer.X), "difference": plain(answer.difference),
            "relative": plain(answer.relative), "evidence": answer.evidence.value,
        }  # fmt: skip
        print_json(
            {
                "architecture": architecture,
                "case": found.case,
                "components": [{key: getattr(c, key) for key in shown} for c in found.components],
                "dimension": found.dimension,
                "dimension_with_keys": found.dimension_with_keys,
                "generic": found.case == "line",
                "ranks": {name: x._asdict() | {"margin": plain(x.margin)} for name, x in found.ranks.items()},
                "canonical": {x: plain(canonical[x]) for x in "AVKQ" if canonical[x] is not None},
                "evidence": found.evidence.value,
                "equivalent": compared,
            }
        )
        return
    click.echo("d = {d}, d' = {d_out}, a = {a}: ".format(**architecture) + f"{found.case} ({found.evidence})")
    for c in found.components:
        click.echo(f"  {c.name}: {c.parametrization}; dim {c.dimension}")
    keys = f", {found.dimension_with_keys} in (K, Q, V) with the gauge"
    click.echo(f"dimension {found.dimension} in (A, V)" + keys * (found.dimension_with_keys is not None))
    margins = ["" if x.margin is None else f" (margin {x.margin:.3g})" for x in found.ranks.values()]
    names = ("V", "A", "[V; Aᵀ]")
    ranks = zip(names, found.ranks.values(), margins, strict=True)
    click.echo(", ".join(f"rk {name} = {x.rank}{margin}" for name, x, margin in ranks))
    if answer is not None:
        click.echo(f"{other}: {answer}")
