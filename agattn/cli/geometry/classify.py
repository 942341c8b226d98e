"""``agattn classify``: where heads lie on the neuromanifold."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli import options, output
from agattn.cli.output import as_text, check_destination, check_drawing, print_json, progress, write_file

if TYPE_CHECKING:
    from agattn.heads.head_geometry import HeadTable


@click.command(
    epilog="Examples: agattn classify model.safetensors -O heads.csv --plot stable_ranks.svg; "
    "agattn classify path/to/model --json; agattn classify encoder.safetensors --heads 8"
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=options.INPUT)
@options.checkpoint
@options.file_option(
    "-O", "--output", "destination", "Write .csv, .jsonl (a line for each head) or .json (one document)."
)
@options.file_option("--plot", "Draw stable ranks by layer (.png, .svg, .pdf, .html).")
@options.tolerance_option(1e-6)
@options.json_flag
def command(
    files: tuple[Path, ...], counts: dict[str, Any], destination: Path | None, plot: Path | None,
    tolerance: float, as_json: bool,
) -> None:  # fmt: skip
    """Place every head of a checkpoint on the neuromanifold M(d, d', a): stratum, distances, stable ranks.

    FILE is the folder of a model (config.json and shards), .safetensors (or the .index.json of its shards),
    .npz, .npy or .json: the layouts of BERT, GPT-2, Llama, GPT-NeoX and torch's MultiheadAttention, or plain
    arrays K, Q, V or A, V. Layers and heads count from 0. Biases, positions, scales and softmax are no part
    of the geometry: it is that of A = KᵀQ and V.
    """
    from agattn.heads.checkpoints import Checkpoint
    from agattn.heads.head_geometry import classify_checkpoint
    from agattn.heads.weight_files import WeightFile

    if destination is not None:
        check_destination(destination, (".csv", ".jsonl", ".json"))
    if plot is not None:
        check_drawing(plot, output.FIGURES)
    checkpoint = Checkpoint(WeightFile(files), **counts)
    with progress("classify") as show:
        table = classify_checkpoint(checkpoint, tolerance, show)
    rows = table.as_json()
    document = _document(rows, checkpoint.layout, tolerance)
    if destination is not None:
        endings = {".csv": _csv(rows), ".json": as_text(document)}
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        write_file(destination, endings.get(destination.suffix.lower(), lines))
    if plot is not None:
        from agattn.reports.drawing import save
        from agattn.reports.study_figures import draw_stable_ranks, page_of_stable_ranks

        plot.parent.mkdir(parents=True, exist_ok=True)
        save(page_of_stable_ranks(rows) if plot.suffix == ".html" else draw_stable_ranks(rows), plot)
        click.echo(f"wrote {plot}", err=True)
    if as_json:
        print_json(document)
    elif destination is None and plot is None:
        _print_table(table, checkpoint.layout, tolerance)


def _document(rows: Sequence[Mapping[str, Any]], layout: str, tolerance: float) -> dict[str, object]:
    """All heads as one JSON document; as weakly known as the weakest of them."""
    proved = all(row["evidence"] == "proved" for row in rows)
    evidence = "proved" if proved else "numerical"
    return {"layout": layout, "tolerance": tolerance, "evidence": evidence, "heads": rows}


def _print_table(table: HeadTable, layout: str, tolerance: float) -> None:
    from agattn.display.values import tables
    from agattn.sheet.terminal import print_table

    console = output.console(soft_wrap=True)
    kinds = sorted({(head.d, head.d_out, head.a) for head in table})
    where = ", ".join(f"M({d},{d_out},{a})" for d, d_out, a in kinds)
    console.print(f"{where}; layout {layout}; strata (rk V, rk A, rk [V; Aᵀ])\n", markup=False)
    print_table(tables(table)[0], console)
    console.print(f"\n{table}.\n\n{LEGEND.format(tolerance)}", markup=False)


LEGEND = (
    "Layers and heads count from 0. Ranks: to the tolerance {:g}, unless proved; sing.: a singular point of"
    " the closure of M; bound.: on the boundary of M; distance: relative, of the function to the singular"
    " points; sr: stable rank ‖·‖_F² / ‖·‖². Biases, positions, scales and softmax are no part of this"
    " geometry, which is that of A = KᵀQ and V."
)


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]) if rows else ["layer", "head"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
