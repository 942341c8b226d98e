"""``agattn classify``: where heads lie on the neuromanifold."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import click

from agattn.cli.options import file_option, json_flag, tolerance_option
from agattn.cli.output import check_destination, check_drawing, print_json, progress, write_file
from agattn.errors import InputError


@click.command(epilog="Example: agattn classify model.safetensors -O heads.csv --plot stable_ranks.svg")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--heads", type=click.IntRange(min=1), help="Heads per layer.  [default: from config.json]")
@click.option("--kv-heads", type=click.IntRange(min=1), help="Heads of keys and values, if they are shared.")
@file_option("-O", "--output", "Write .jsonl (JSON Lines) or .csv.")
@file_option("--plot", "Draw stable ranks by layer (.png, .svg, .pdf).")
@tolerance_option(1e-6)
@json_flag
def command(
    files: tuple[Path, ...], heads: int | None, kv_heads: int | None, output: Path | None, plot: Path | None,
    tolerance: float, as_json: bool,
) -> None:  # fmt: skip
    """Place every head of a checkpoint on the neuromanifold M(d, d', a): stratum, distances, stable ranks.

    Reads .safetensors (or the .index.json of its shards), .npz and .npy: the layouts of BERT, GPT-2 and
    Llama, or plain arrays K, Q, V or A, V. Layers and heads count from 0, as in the checkpoint. Without
    --json prints JSON Lines.
    """
    from agattn.heads.checkpoints import Checkpoint
    from agattn.heads.head_geometry import head_geometry
    from agattn.heads.weight_files import WeightFile

    if output is not None:
        check_destination(output, (".jsonl", ".csv"))
    if plot is not None:
        check_drawing(plot)
    checkpoint = Checkpoint(WeightFile(files), heads, kv_heads)
    rows: list[dict[str, Any]] = []
    with progress("classify") as show:
        for head in checkpoint:
            show(f"head {len(rows) + 1} of {len(checkpoint)}")
            try:
                geometry = head_geometry(head.K, head.Q, head.V, tolerance)
            except InputError as error:
                raise InputError(f"layer {head.layer}, head {head.head}: {error}") from None
            rows.append({"layer": head.layer, "head": head.head, **geometry.as_json()})
            if not as_json and output is None:
                click.echo(json.dumps(rows[-1]))
    if output is not None:
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        write_file(output, _csv(rows) if output.suffix.lower() == ".csv" else lines)
        click.echo(f"wrote {len(rows)} heads to {output}", err=True)
    if plot is not None:
        from agattn.reports.drawing import save
        from agattn.reports.study_figures import draw_stable_ranks

        plot.parent.mkdir(parents=True, exist_ok=True)
        save(draw_stable_ranks(rows), plot)
        click.echo(f"wrote {plot}", err=True)
    if as_json:
        settings = {"layout": checkpoint.layout, "tolerance": tolerance}
        print_json({**settings, "evidence": "numerical", "heads": rows})


def _csv(rows: list[dict[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]) if rows else ["layer", "head"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
