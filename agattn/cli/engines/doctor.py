"""``agattn doctor``: which engines there are, and whether they work."""

from __future__ import annotations

import click

from agattn.cli import options
from agattn.cli.output import print_json, progress


@click.command(epilog="Example: agattn doctor")
@options.json_flag
def command(as_json: bool) -> int:
    """Find Macaulay2, Singular and msolve, and try each.

    They are looked for by AGATTN_M2, AGATTN_SINGULAR and AGATTN_MSOLVE, on PATH and in the wheels.
    """
    from agattn.engines.doctor import examine

    with progress("asking the engines"):
        found = examine()
    if as_json:
        print_json(found.as_json())
    else:
        click.echo(str(found))
    return 0 if found.ok else 3
