"""``agattn atlas``: small networks surveyed, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agattn.cli.options import MARKDOWN_FILE, file_option, json_flag, leave_out, one_blas_thread, option, seed
from agattn.cli.output import print_json, say_on_stderr, write_file


@click.command(
    epilog="Examples: agattn atlas --max-width 3 --max-depth 2 -O atlas.md; "
    "agattn atlas --points -O points.md"
)
@option("--max-width", type=click.IntRange(1, 8), metavar="N", default=5, help="Largest width.")
@option("--max-depth", type=click.IntRange(1, 4), metavar="N", default=3, help="Most layers.")
@option("--max-heads", type=click.IntRange(1, 8), metavar="N", default=3, help="Most heads.")
@option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    default=400,
    help="Networks drawn from a family that has more.",
)
@click.option("--points", is_flag=True, help="Survey kinds of critical and singular points instead.")
@file_option("-O", "--output", "Write the Markdown page there.  [default: stdout]", **MARKDOWN_FILE)
@seed
@json_flag
def command(
    max_width: int, max_depth: int, max_heads: int, limit: int, points: bool, output: Path | None, seed: int,
    as_json: bool,
) -> None:  # fmt: skip
    """Survey small networks: where equation 14, the general formula and the multi-head bounds are met.

    With --points the page has the kinds of points of some networks, and says which are critical or singular.
    """
    one_blas_thread()
    from agattn.experiments.studies.atlas import Atlas, atlas
    from agattn.reports.pages import atlas_page, points_page

    if points:
        leave_out("is for dimensions", "max_width", "max_depth", "max_heads", "limit")
        leave_out("is for dimensions; agattn singularities --json has the points of a network", "as_json")
    surveyed: Any = atlas(
        max_width, max_depth, max_heads, limit, points=points, seed=seed,
        progress=say_on_stderr,
    )  # fmt: skip
    sizes = f"--max-width {max_width} --max-depth {max_depth} --max-heads {max_heads}"
    if points:
        page = points_page(surveyed, f"agattn atlas --points --seed {seed}")
    else:
        page = atlas_page(surveyed, f"agattn atlas {sizes} --limit {limit} --seed {seed}", limit, seed)
    if output is not None:
        write_file(output, page)
    if as_json:
        print_json(Atlas(seed, limit, surveyed).as_json())
    elif output is None:
        click.echo(page, nl=False)
