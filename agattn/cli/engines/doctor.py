"""``agattn doctor``: which engines there are, and whether they work."""

from __future__ import annotations

import click

from agattn.cli import options
from agattn.cli.output import print_json, progress
from agattn.engines.catalogue import of_all


@click.command(
    epilog="Example: agattn doctor",
    help=f"""Find {of_all("title")}, and try each.

    agattn looks for the engines by {of_all("variable")}, on PATH and in the wheels.
    """,
)
@options.json_flag
def command(as_json: bool) -> int:
    """Find the engines, and try each."""
    from agattn.engines.doctor import examine

    with progress("asking the engines"):
        found = examine()
    if as_json:
        print_json(found.as_json())
    else:
        from agattn.sheet.terminal import print_folded

        print_folded(str(found))
    return 0 if found.ok else 3
