"""``agattn figure``: the paper's figures, recomputed, critical points on the first, and two of networks."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from agattn.cli import options
from agattn.cli.options import file_option
from agattn.cli.output import console, print_json, progress, say_on_stderr


@click.command(
    epilog="Examples: agattn figure 1 -O umbrella.html; agattn figure critical -O loss.html; "
    "agattn figure deep -O limits.html; agattn figure spectrum -O bands.png"
)
@click.argument(
    "number",
    metavar="1|2|3|critical|deep|spectrum",
    type=click.Choice(["1", "2", "3", "critical", "deep", "spectrum"]),
)
@file_option(
    "-O", "--output",
    "Draw the figure to a .png, .svg or .pdf file, or to an interactive page, .html.", **options.FIGURE,
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
    "--metric", type=click.Choice(options.METRICS),
    default="gaussian", show_default=True, help="Figure critical: the distance that is the loss.",
)  # fmt: skip
@click.option(
    "--target", default="-3/4,-1/4,-3/10", show_default=True, metavar="X,Y,W",
    help="Figure critical: the point of the slice from which the loss is the distance.",
)  # fmt: skip
@options.engine("Figure 1: the engine that eliminates.", "auto", "native")
@click.option(
    "--layers", type=click.IntRange(1, 4), metavar="N", default=2, show_default=True, help="Figure 2: l."
)
@options.limits
@options.force
@options.seed
@options.json_flag
def command(
    number: str, output: Path | None, d: str, d_out: str, a: str | None, slice_file: Path | None, radius: int,
    metric: str, target: str, engine_name: str, layers: int, timeout: float, memory: int, force: bool,
    seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Recompute figure 1, 2 or 3 of the paper, a loss on figure 1, a slice of a network, or a spectrum.

    1, a surface in M with its singular points, solid in M and dotted outside M; 2, the unrolled network as a
    tree; 3, dimensions of normalized networks; critical, the level sets and critical points of a loss on the
    surface of figure 1; deep, a slice of a network with two layers through a head of
    rank one, with the limits that no weights reach; spectrum, the singular values of the Jacobian of a
    softmax network as its scores get small, in 120 digits and in float64.
    """
    from agattn.reports.figures import figure
    from agattn.sheet.terminal import print_folded, show

    if number != "1":
        mine = ("d", "d_out", "a", "slice_file", "engine_name", "timeout", "memory", "force")
        options.leave_out("is for figure 1", *mine)
    if number not in ("1", "critical"):
        options.leave_out("is for figure 1 and figure critical", "radius")
    if number != "critical":
        options.leave_out("is for figure critical", "metric", "target")
    if number != "2":
        options.leave_out("is for figure 2", "layers")
    if number not in ("3", "critical", "spectrum"):
        options.leave_out("is for figure 3, figure critical and figure spectrum", "seed")
    options.one_blas_thread()
    place = [entry.strip() for entry in target.split(",")]
    given: dict[str, dict[str, Any]] = {
        "2": {"layers": layers},
        "3": {"seed": seed},
        "critical": {"metric": metric, "target": place, "seed": seed, "radius": radius},
        "spectrum": {"seed": seed},
    }
    if number == "1":
        from agattn.architectures import SingleLayer
        from agattn.calls import positive_integer

        rows = positive_integer("-o", options.whole_number(d_out))
        layer = SingleLayer(options.whole_number(d), rows, options.whole_number(d if a is None else a))
        given["1"] = {
            "layer": layer, "slice": slice_file, "engine": engine_name, "radius": radius,
            "timeout": timeout, "memory": memory, "force": force,
        }  # fmt: skip
    with progress(f"figure {number}"):
        made = figure(number, **given.get(number, {}))
        if output is not None:
            made.save(output)
    if as_json:
        print_json(replace(made, file=None if output is None else str(output)).as_json())
    else:
        show(made.sheet(), console())
        if made.note:
            print_folded(made.note, sys.stderr)
        if output is None:
            say_on_stderr(f"nothing was drawn; -O figure{number}.png draws it")
    if output is not None:
        say_on_stderr(f"wrote {output}")
