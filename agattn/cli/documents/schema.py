"""``agattn schema``: the JSON schemas of all outputs."""

from __future__ import annotations

import click

from agattn.cli.commands import COMMANDS
from agattn.cli.output import print_json
from agattn.errors import InputError, nearest


@click.command(epilog="Example: agattn schema verify")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Print the JSON schema of what the command NAME prints with --json; without NAME, list the schemas."""
    from agattn.documents import NAMES, schema

    if name is None:
        click.echo("\n".join(NAMES))
    elif name in NAMES:
        print_json({"description": COMMANDS[name], **schema(name)})
    else:
        listed = f"; there are {', '.join(NAMES)}"
        raise InputError(f"there is no schema {name!r}{nearest(name, NAMES, listed)}")
