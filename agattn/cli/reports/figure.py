"""``agattn figure``: the paper's figures, recomputed, critical points on the first, and one of a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agattn.cli import options
from agattn.cli.options import file_option
from agattn.cli.output import FIGURES, check_drawing, print_json, progress


@click.command(
    epilog="Examples: agattn figure 1 -O umbrella.html; agattn figure critical -O loss.html; "
    "agattn figure deep -O limits.html"
)
@click.argument(
    "number", metavar="1|2|3|critical|deep", type=click.Choice(["1", "2", "3", "critical", "deep"])
)
@file_option(
    "-O", "--output",
    "Draw the figure to a .png, .svg or .pdf file, or to an interactive page, .html.",
)  # fmt: skip
@click.option("-d", "--embed-dim", "d", default="2", show_default=True, metavar="D", help="Figure 1: d.")
@click.option("-o", "--out-dim", "d_out", default="1", show_default=True, metavar="D'", help="Figure 1: d'.")
@click.option("-a", "--attn-dim", "a", metavar="A", help="Figure 1: a.  [default: d]")
@file_option(
    "--slice", "slice_file",
    "Figure 1: JSON file with an origin and three directions in the coordinates y of `agattn emit`; its "
    "points are origin + x·(first) + y·(second) + w·(third).  [default: the paper's slice]", read=True,
)  # fmt: skip
@click.option(
    "--radius", type=click.IntRange(1, 1000), default=1, show_default=True,
    help="Figures 1 and critical: draw coordinates from -R to R.", metavar="R",
)  # fmt: skip
@click.option(
    "--metric", type=click.Choice(("generic", "gaussian", "bombieri-weyl", "coefficients")),
    default="gaussian", show_default=True, help="Figure critical: of the distance that is the loss.",
)  # fmt: skip
@click.option(
    "--target", default="-3/4,-1/4,-3/10", show_default=True, metavar="X,Y,W",
    help="Figure critical: the point of the slice from which it is the distance.",
)  # fmt: skip
@options.engine("Figure 1: who eliminates.", "auto", "native")
@click.option("--layers", type=click.IntRange(1, 4), default=2, show_default=True, help="Figure 2: l.")
@options.limits
@options.force
@options.seed
@options.json_flag
def command(
    number: str, output: Path | None, d: str, d_out: str, a: str | None, slice_file: Path | None, radius: int,
    metric: str, target: str, engine_name: str, layers: int, timeout: float, memory: int, force: bool,
    seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Recompute figure 1, 2 or 3 of the paper, draw a loss on the first, or a slice of a network.

    1, a surface in M with its singular points, solid in M and dotted outside M; 2, the unrolled network as a
    tree; 3, dimensions of normalized networks; critical, the level sets and critical points of a loss on the
    surface of figure 1; deep, a slice of a network with two layers through a head of
    rank one, with the limits that no weights reach.
    """
    if number != "1":
        mine = ("d", "d_out", "a", "slice_file", "engine_name", "timeout", "memory", "force")
        options.leave_out("is for figure 1", *mine)
    if number not in ("1", "critical"):
        options.leave_out("is for figure 1 and figure critical", "radius")
    if number != "critical":
        options.leave_out("is for figure critical", "metric", "target")
    if number != "2":
        options.leave_out("is for figure 2", "layers")
    if number not in ("3", "critical"):
        options.leave_out("is for figure 3 and figure critical", "seed")
    if output is not None:
        check_drawing(output, FIGURES)
    if number == "1":
        from agattn.engines.run import Limits

        figure = _figure_1((d, d_out, d if a is None else a), slice_file, output, {
            "engine": engine_name, "limits": Limits(timeout, memory), "radius": radius, "force": force,
        })  # fmt: skip
    elif number == "2":
        figure = _figure_2(output, layers)
    elif number == "critical":
        figure = _figure_critical(output, metric, target, seed, radius)
    else:
        figure = _figure_3(output, seed) if number == "3" else _figure_deep(output)
    document, lines, note = figure
    if as_json:
        print_json(document | {"file": None if output is None else str(output)})
    else:
        click.echo("\n".join(lines))
        click.echo(note, err=True, nl=bool(note))
    if output is not None:
        click.echo(f"wrote {output}", err=True)


Shown = tuple[dict[str, Any], list[str], str]
"""A figure in numbers: JSON-ready, as lines, and what is said of it beside them."""


def _figure_1(
    sizes: tuple[str, str, str], slice_file: Path | None, output: Path | None, settings: dict[str, Any]
) -> Shown:
    from agattn.architectures import SingleLayer
    from agattn.reports.figure1 import compute_figure_1, point_text
    from agattn.systems.points import read_slice
    from agattn.systems.sizes import check_size

    layer = SingleLayer(*map(options.whole_number, sizes))
    if not settings["force"]:
        check_size(layer)
    options.one_blas_thread()
    chosen = None if slice_file is None else read_slice(slice_file, layer)
    with progress(f"a slice of {layer}"):
        figure = compute_figure_1(layer, chosen, **settings)
        if output is not None:
            figure.save(output)
    singular = " = ".join([*map(str, figure.section.singular), "0"])
    lines = [f"surface:   {figure.section.equation} = 0", f"singular:  {singular}"]
    for piece in figure.pieces:
        low, high = (point_text(figure.on_line(end)) for end in piece.ends)
        word = "in M" if piece.in_m else "only in the Zariski closure of M"
        lines.append(f"  from {low} to {high}: {word}")
    lines += [f"pinch point: {point_text(pinch)}" for pinch in figure.pinch_points]
    return figure.as_json(), lines, f"{figure.words} Computed by {figure.engine}; {figure.evidence}."


def _figure_2(output: Path | None, layers: int) -> Shown:
    from agattn.geometry.identifiability.virtual_weights import unrolled_factors
    from agattn.reports.drawing import save
    from agattn.reports.figure2 import draw_figure_2, page_2, reading

    if output is not None:
        save(page_2(layers) if output.suffix == ".html" else draw_figure_2(layers), output)
    product = f"L {reading(layers)}"
    pairs = [{"i": i, "transposed": transposed} for i, transposed in unrolled_factors(layers)]
    document = {"figure": 2, "layers": layers, "factors": pairs, "product": product}
    return document, [f"φ(X) = {product}"], ""


def _figure_critical(output: Path | None, metric: str, target: str, seed: int, radius: int) -> Shown:
    options.one_blas_thread()
    from agattn.reports.figure_critical import compute_figure_critical

    place = [entry.strip() for entry in target.split(",")]
    with progress("a loss on a slice"):
        figure = compute_figure_critical(metric, place, seed=seed, radius=radius)
        if output is not None:
            figure.save(output)
    lines = [f"surface:   {figure.surface.section.equation} = 0", *map(str, figure.points)]
    return figure.as_json(), lines, f"{figure.words} {figure.found_by}"


def _figure_deep(output: Path | None) -> Shown:
    options.one_blas_thread()
    from agattn.reports.figure_deep import compute_figure_deep

    with progress("a slice of a network"):
        figure = compute_figure_deep()
        if output is not None:
            figure.save(output)
    document = figure.as_json()
    matrices = ", ".join(
        f"{name} = ({'; '.join(' '.join(row) for row in rows)})" for name, rows in document["weights"].items()
    )
    lines = [
        f"network:   {figure.slice.network}",
        f"surface:   {document['equation']} = 0, in three of {document['dimension']} coordinates",
        f"weights:   {matrices}, with x = e and y = -e*q, up to symmetries; there are no others",
        f"limits:    {document['limits']}: no weights compute these",
    ]
    return document, lines, f"{figure.words} {str(figure.evidence).capitalize()}."


def _figure_3(output: Path | None, seed: int) -> Shown:
    options.one_blas_thread()
    from agattn import records
    from agattn.reports.drawing import save
    from agattn.reports.figure3 import draw_figure_3, figure_3, page_3

    rows = figure_3(seed=seed)
    if output is not None:
        save(page_3(rows) if output.suffix == ".html" else draw_figure_3(rows), output)
    entries, lines = [], [" δ  dimension  evidence   eq. 16  one float32 trial"]
    for row in rows:
        c, (delta, _, expected, float32) = row.computed, row
        kind = records.Figure3.Width
        entries.append(records.document(kind, c, delta=delta, expected=expected, float32=float32))
        lines.append(f"{row.delta:2}  {c.dimension:9}  {c.evidence!s:9}  {row.expected:6}  {row.float32:17}")
    lines.append(
        "The last column is one rank in floating point, as an experiment finds it; nothing rests on it."
    )
    return {"figure": 3, "rows": entries}, lines, ""
