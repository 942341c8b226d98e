"""``agattn certificate``: integers that prove verdicts, for anyone to check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agattn.cli import options, output
from agattn.cli.output import STDOUT, print_json, progress, say_on_stderr, write_file


@click.command(
    epilog="Examples: agattn certificate 3 2 2 -O m322.json; agattn check m322.json; "
    "agattn certificate --dims 3,3,2 --ranks 3,3 -t 3 -O n332.json; "
    "agattn certificate 3 2 2 --claim theorem-3.4.singular --json; "
    "agattn certificate --model model.toml"
)
@options.layer_or_network
@options.claims
@options.list_claims
@options.file_option(
    "-O", "--output", "destination", "Write the certificate there, for agattn check.", **options.JSON_FILE
)  # fmt: skip
@options.json_flag
def command(architecture: Any, claims: tuple[str, ...], destination: Path | None, as_json: bool) -> None:
    """Write a certificate: integers that prove the verdicts on claims, which anyone can check again.

    The verdicts are computed natively, without an engine. A refuted claim is certified as well, by the points
    at which the claim fails. Claims without a certificate are named, with the reason. Without -O the table
    says what a certificate would prove, and nothing is written.

    Exit status: 0 every certified claim is confirmed; 1 a refutation is certified; 2 no claim can be
    certified.
    """
    options.one_blas_thread()
    from agattn.sheet.terminal import show
    from agattn.verification.certificate import CertifiedClaims, certificate, dump

    with progress(f"{architecture.name}: certificate"):
        found = certificate(architecture, claims)
    if destination is not None:
        write_file(destination, dump(found) + "\n")
    if as_json:
        file = None if destination is None else str(destination)
        print_json(CertifiedClaims.of(architecture, found, file).as_json())
    elif destination != STDOUT:
        show(found.sheet(), output.console())
        if destination is None:
            say_on_stderr("nothing was written; -O FILE.json writes the certificate")
    if "refuted" in found.verdicts.values():
        click.get_current_context().exit(1)
