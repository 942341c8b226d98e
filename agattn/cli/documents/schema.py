"""``agattn schema``: the JSON schemas of all outputs."""

from __future__ import annotations

import click

from agattn.cli.commands import COMMANDS
from agattn.cli.output import print_json


@click.command(epilog="Example: agattn schema verify")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Print the JSON schema of what the command NAME prints with --json; without NAME, list the schemas."""
    from agattn.documents import NAMES, schema

    if name is None:
        click.echo("\n".join(NAMES))
    else:
        found = schema(name)
        print_json({"description": COMMANDS[name.lower()], **found})
