"""``agattn figure``: the paper's figures, recomputed."""

from __future__ import annotations

from pathlib import Path

import click

from agattn.cli.options import json_flag, one_blas_thread, seed
from agattn.cli.output import print_json


@click.command(epilog="Example: agattn figure 3 -O figure3.svg")
@click.argument("number", type=click.Choice(["2", "3"]))
@click.option(
    "-O", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Draw the figure to a .png, .svg or .pdf file.",
)  # fmt: skip
@click.option("--layers", type=click.IntRange(1, 4), default=2, show_default=True, help="Figure 2: l.")
@seed
@json_flag
def command(number, output, layers, seed, as_json):  # type: ignore[no-untyped-def]
    """Recompute figure NUMBER: 2, the unrolled network as a tree; 3, dimensions of normalized networks."""
    if number == "2":
        _figure_2(output, layers, as_json)
    else:
        _figure_3(output, seed, as_json)


def _figure_2(output: Path | None, layers: int, as_json: bool) -> None:
    from agattn.attention.ternary_tree import factors, reading, ternary_tree

    if output is not None:
        from agattn.reports.deep_figures import draw_figure_2, save

        save(draw_figure_2(layers), output)
    tree = ternary_tree(layers)
    product = f"L {reading(tree)}"
    if as_json:
        print_json(
            {
                "figure": 2,
                "layers": layers,
                "factors": [{"i": i, "transposed": transposed} for i, transposed in factors(tree)],
                "product": product,
                "file": None if output is None else str(output),
            }
        )
    else:
        click.echo(f"φ(X) = {product}")


def _figure_3(output: Path | None, seed: int, as_json: bool) -> None:
    one_blas_thread()
    from agattn.geometry.figure3 import figure_3

    rows = figure_3(seed=seed)
    if output is not None:
        from agattn.reports.deep_figures import draw_figure_3, save

        save(draw_figure_3(rows), output)
    if as_json:
        entries = [
            {
                "delta": row.delta,
                "dimension": row.computed.dimension,
                "evidence": row.computed.evidence.value,
                "lower_bound": row.computed.lower_bound,
                "upper_bound": row.computed.upper_bound,
                "expected": row.expected,
                "float32": row.float32,
            }
            for row in rows
        ]
        print_json({"figure": 3, "rows": entries, "file": None if output is None else str(output)})
        return
    click.echo(" δ  dimension  evidence   eq. 16  one float32 trial")
    for row in rows:
        c = row.computed
        click.echo(f"{row.delta:2}  {c.dimension:9}  {c.evidence!s:9}  {row.expected:6}  {row.float32:17}")
