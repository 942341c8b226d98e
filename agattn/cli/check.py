"""``agattn check``: verify a certificate with nothing but Python's integers."""

from __future__ import annotations

from pathlib import Path

import click

from agattn.checker import UnreadableError, check, described, load
from agattn.cli.options import INPUT
from agattn.cli.output import print_json
from agattn.errors import InputError


@click.command(epilog="Example: agattn verify -d 3 -o 2 -a 2 --certificate m322.json; agattn check m322.json")
@click.argument("path", metavar="FILE", type=INPUT)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(path: Path, as_json: bool) -> int:
    """Verify the certificate in FILE again: no engine, no FLINT, no sympy.

    Exit status: 0 valid; 1 not valid; 2 no certificate.
    """
    try:
        result = check(load(path.read_text(encoding="utf-8-sig")))
    except (UnreadableError, OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{path} is not a certificate: {reason}") from error
    if as_json:
        print_json(result)
    else:
        click.echo(described(result))
    return 0 if result["valid"] else 1
