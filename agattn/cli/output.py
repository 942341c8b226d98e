"""Printing results: one JSON document, or text for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources

import click

from agattn.errors import InputError


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON document on stdout."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def schema_names() -> list[str]:
    """The names of the schemas shipped in the package."""
    files = resources.files("agattn").joinpath("schemas").iterdir()
    return sorted(f.name.removesuffix(".json") for f in files if f.name.endswith(".json"))


def schema_text(name: str) -> str:
    """The JSON schema of the output of the command ``name``.

    Raises:
        InputError: if no schema has that name.
    """
    from agattn.cli.main import nearest

    if name not in schema_names():
        raise InputError(f"there is no schema {name!r}{nearest(name, schema_names())}")
    return resources.files("agattn").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")
