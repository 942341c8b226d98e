"""``agattn schema``: the JSON schemas of all outputs."""

from __future__ import annotations

import click

from agattn.cli.output import schema_names, schema_text


@click.command(epilog="Example: agattn schema verify")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Print the JSON schema of what the command NAME prints with --json; without NAME, list the schemas."""
    click.echo("\n".join(schema_names()) if name is None else schema_text(name).rstrip())
