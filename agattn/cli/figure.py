"""``agattn figure``: the paper's figures, recomputed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli.options import (
    check_engine,
    force,
    json_flag,
    leave_out,
    limits,
    one_blas_thread,
    seed,
    whole_number,
)
from agattn.cli.output import DRAWINGS, check_destination, check_drawing, print_json, progress

if TYPE_CHECKING:
    from agattn.architectures import SingleLayer

#: What figure 1 is written as.
FIGURE_1 = (*DRAWINGS, ".html")


@click.command(epilog="Examples: agattn figure 1 -O umbrella.html; agattn figure 3 -O figure3.svg")
@click.argument("number", type=click.Choice(["1", "2", "3"]))
@click.option(
    "-O", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Draw the figure to a .png, .svg or .pdf file; figure 1 also to .html, to turn with the mouse.",
)  # fmt: skip
@click.option("-d", "--embed-dim", "d", default="2", show_default=True, metavar="D", help="Figure 1: d.")
@click.option("-o", "--out-dim", "d_out", default="1", show_default=True, metavar="D'", help="Figure 1: d'.")
@click.option("-a", "--attn-dim", "a", metavar="A", help="Figure 1: a.  [default: d]")
@click.option(
    "--slice", "slice_file", type=click.Path(path_type=Path), metavar="FILE",
    help="Figure 1: JSON file with an origin and three directions in the coordinates y of `agattn emit`; its "
    "points are origin + x·(first) + y·(second) + w·(third).  [default: the paper's slice]",
)  # fmt: skip
@click.option(
    "--radius", type=click.IntRange(1, 1000), default=1, show_default=True,
    help="Figure 1: draw coordinates from -R to R.", metavar="R",
)  # fmt: skip
@click.option(
    "--engine", "engine_name", default="auto", show_default=True, metavar="NAME",
    help="Figure 1: auto, macaulay2, singular or native.",
)  # fmt: skip
@click.option("--layers", type=click.IntRange(1, 4), default=2, show_default=True, help="Figure 2: l.")
@limits
@force
@seed
@json_flag
def command(  # type: ignore[no-untyped-def]
    number,
    output,
    d,
    d_out,
    a,
    slice_file,
    radius,
    engine_name,
    layers,
    timeout,
    memory,
    force,
    seed,
    as_json,
):
    """Recompute figure NUMBER of the paper.

    1, a surface in M with its singular points, solid in M and dotted outside M; 2, the unrolled network as a
    tree; 3, dimensions of normalized networks.
    """
    if number != "1":
        mine = ("d", "d_out", "a", "slice_file", "radius", "engine_name", "timeout", "memory", "force")
        leave_out("is for figure 1", *mine)
    if number != "2":
        leave_out("is for figure 2", "layers")
    if number != "3":
        leave_out("is for figure 3", "seed")
    if output is not None:
        html = number == "1" and output.suffix.lower() == ".html"
        check_destination(output) if html else check_drawing(output, FIGURE_1 if number == "1" else DRAWINGS)
    if number == "1":
        from agattn.architectures import SingleLayer
        from agattn.engines.run import Limits
        from agattn.reports.figure1 import CHOICES
        from agattn.systems.catalogue import check_size

        check_engine(engine_name, CHOICES)

        numbers = {
            "d": whole_number(d),
            "d_out": whole_number(d_out),
            "a": whole_number(d if a is None else a),
        }
        layer = SingleLayer(**numbers)
        if not force:
            check_size(layer)
        options = {"engine": engine_name, "limits": Limits(timeout, memory), "radius": radius, "force": force}
        _figure_1(layer, slice_file, output, options, as_json)
    elif number == "2":
        _figure_2(output, layers, as_json)
    else:
        _figure_3(output, seed, as_json)
    if output is not None:
        click.echo(f"wrote {output}", err=True)


def _figure_1(
    layer: SingleLayer, slice_file: Path | None, output: Path | None, options: dict[str, Any], as_json: bool
) -> None:
    one_blas_thread()
    from agattn.reports.figure1 import compute_figure_1
    from agattn.systems.points import read_slice

    chosen = None if slice_file is None else read_slice(slice_file, layer)
    with progress(f"a slice of {layer}"):
        figure = compute_figure_1(layer, chosen, **options)
        if output is not None:
            figure.save(output)
    if as_json:
        print_json({**figure.as_json(), "file": None if output is None else str(output)})
        return
    click.echo(f"surface:   {figure.section.equation} = 0")
    click.echo(f"singular:  {' = '.join([*map(str, figure.section.singular), '0'])}")
    for piece in figure.pieces:
        low, high = figure.on_line(piece.ends[0]), figure.on_line(piece.ends[1])
        word = "in M" if piece.in_m else "only in the Zariski closure of M"
        click.echo(f"  from {_point(low)} to {_point(high)}: {word}")
    for pinch in figure.pinch_points:
        click.echo(f"pinch point: {_point(pinch)}")
    click.echo(f"{figure.words} Computed by {figure.engine}; {figure.evidence}.", err=True)


def _point(p: tuple[float, float, float]) -> str:
    return f"({', '.join(f'{c:g}' for c in p)})"


def _figure_2(output: Path | None, layers: int, as_json: bool) -> None:
    from agattn.reports.figure2 import draw_figure_2, factors, reading

    if output is not None:
        from agattn.reports.drawing import save

        save(draw_figure_2(layers), output)
    product = f"L {reading(layers)}"
    if as_json:
        print_json(
            {
                "figure": 2,
                "layers": layers,
                "factors": [{"i": i, "transposed": transposed} for i, transposed in factors(layers)],
                "product": product,
                "file": None if output is None else str(output),
            }
        )
    else:
        click.echo(f"φ(X) = {product}")


def _figure_3(output: Path | None, seed: int, as_json: bool) -> None:
    one_blas_thread()
    from agattn.reports.figure3 import draw_figure_3, figure_3

    rows = figure_3(seed=seed)
    if output is not None:
        from agattn.reports.drawing import save

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
    click.echo(
        "The last column is one rank in floating point, as an experiment finds it; nothing rests on it."
    )
