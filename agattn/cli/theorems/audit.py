"""``agattn audit``: every claim for every small architecture."""

from __future__ import annotations

from pathlib import Path

import click

from agattn.cli import options
from agattn.cli.output import print_json, progress, write_file


@click.command(epilog="Example: agattn audit --max-d 4 --max-out 4 -O audit.md")
@options.option("--max-d", default="4", metavar="D", help="Largest embedding dimension d.")
@options.option("--max-out", default="4", metavar="D'", help="Largest output dimension d'.")
@click.option("--claim", "claims", multiple=True, metavar="ID", help="Only this claim; may be repeated.")
@options.file_option(
    "-O", "--output", "path", "Write the Markdown page there.  [default: stdout]",
    **options.MARKDOWN_FILE,
)  # fmt: skip
@options.force
@options.json_flag
def command(
    max_d: str, max_out: str, claims: tuple[str, ...], path: Path | None, force: bool, as_json: bool
) -> int:
    """Check every claim natively on all architectures up to a size, and print a Markdown page.

    The page has one table, architecture by claim, and the shortest condition for each claim that fails.
    """
    from agattn.calls import positive_integer
    from agattn.experiments.studies.audit import audit
    from agattn.reports.pages import audit_page

    largest_d = positive_integer("--max-d", options.whole_number(max_d))
    largest_out = positive_integer("--max-out", options.whole_number(max_out))
    with progress("audit") as update:
        table = audit(largest_d, largest_out, claims, force=force, progress=update)
    if path is not None:
        write_file(path, audit_page(table))
    if as_json:
        print_json(table.as_json())
    elif path is None:
        click.echo(audit_page(table), nl=False)
    return table.exit_status
