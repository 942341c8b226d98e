"""``agattn classify``: where heads lie on the neuromanifold."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from agattn.cli import options, output
from agattn.cli.output import as_text, print_json, progress, say_on_stderr, write_file


@click.command(
    epilog="Examples: agattn classify model.safetensors -O heads.csv --plot stable_ranks.svg; "
    "agattn classify path/to/model --json; agattn classify encoder.safetensors --heads 8"
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=options.INPUT)
@options.checkpoint
@options.file_option(
    "-O", "--output", "destination", "Write .csv, .jsonl (a line for each head) or .json (one document).",
    endings=(".csv", ".jsonl", ".json"), by_ending=True,
)  # fmt: skip
@options.file_option(
    "--plot", "Draw stable ranks by layer (.png, .svg, .pdf, .html).", **options.FIGURE
)  # fmt: skip
@options.tolerance_option()
@options.json_flag
def command(
    files: tuple[Path, ...], counts: dict[str, Any], destination: Path | None, plot: Path | None,
    tolerance: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Place every head of a checkpoint on the neuromanifold M(d, d', a): stratum, distances, stable ranks.

    FILE is the folder of a model (config.json and shards), .safetensors (or the .index.json of its shards),
    .npz, .npy or .json: the layouts of BERT, GPT-2, Llama, GPT-NeoX, Falcon and their like, of torch's
    MultiheadAttention, or plain arrays K, Q, V or A, V. Layers and heads count from 0. The geometry is that
    of A = KᵀQ and V: biases, positions, scales and softmax play no part.
    """
    from agattn.heads.head_geometry import classify
    from agattn.sheet.terminal import show

    with progress("classify") as update:
        table = classify(
            list(files), heads=counts["heads"], kv_heads=counts["shared"], match=counts["parts"],
            tolerance=tolerance, family=counts["family"], ignore=counts["ignore"], progress=update,
        )  # fmt: skip
    document = table.as_json()
    rows = document["heads"]
    if destination is not None:
        endings = {".csv": _csv(rows), ".json": as_text(document)}
        lines = "".join(json.dumps(line.as_json()) + "\n" for line in table.rows)
        write_file(destination, endings.get(destination.suffix.lower(), lines))
    if plot is not None:
        from agattn.reports.drawing import save
        from agattn.reports.study_figures import draw_stable_ranks, page_of_stable_ranks

        save(page_of_stable_ranks(rows) if plot.suffix.lower() == ".html" else draw_stable_ranks(rows), plot)
        say_on_stderr(f"wrote {plot}")
    if as_json:
        print_json(document)
    elif destination is None and plot is None:
        show(table.sheet(), output.console(soft_wrap=True))


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    stream = io.StringIO()
    columns = dict.fromkeys(["layer", "head", *(rows[0] if rows else ())])
    writer = csv.DictWriter(stream, [*columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
