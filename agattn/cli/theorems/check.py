"""``agattn check``: verify a certificate with nothing but Python's integers, or hand out what does."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from agattn.checker import UnreadableError, check, described
from agattn.cli.output import Destination, json_option, print_json, progress, write_file
from agattn.errors import InputError
from agattn.files import check_file


@click.command(
    epilog="Examples: agattn certificate 3 2 2 -O m322.json; agattn check m322.json; "
    "agattn check --write checker.py; python3 checker.py m322.json"
)
@click.argument("path", metavar="[FILE]", required=False, type=click.Path(allow_dash=True))
@json_option("Print one JSON document.")
@click.option(
    "--write",
    metavar="FILE",
    type=Destination((".py",)),
    help="Write the checker as one file of Python.",
)
def command(path: str | None, as_json: bool, write: Path | None) -> int:
    """Check the certificate in FILE (- is stdin) with Python's integers alone.

    No engine, no FLINT and no sympy is used. The checker is one file of Python; --write copies the file, so
    that you can read it, or run it where agattn is not installed.

    Exit status: 0 valid; 1 not valid; 2 unreadable, malformed or too large.
    """
    if (not path) == (write is None):
        raise InputError("give either a certificate to check, or --write FILE for a copy of the checker")
    if write is not None:
        write_file(write, files("agattn").joinpath("checker.py").read_text(encoding="utf-8"))
        return 0
    if path is not None and path != "-":
        check_file(Path(path))
    try:
        with progress("checking"):
            result = check(path)
    except UnreadableError as error:
        raise InputError(f"{path} cannot be checked: {error}") from error
    if as_json:
        from agattn.verification.checked import Checked

        print_json(Checked(result).as_json())
    else:
        from agattn.sheet.terminal import print_folded

        print_folded(described(result))
    return 0 if result["valid"] else 1
