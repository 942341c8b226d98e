"""``agattn run``: one task on one engine, from the script to the exact answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agattn.cli import options
from agattn.cli.output import check_destination, print_json, progress, write_json

if TYPE_CHECKING:
    from agattn.systems.problem import Problem


@click.command(epilog="Example: agattn run implicit-ideal -d 2 -o 1 --engine singular --json")
@options.problem
@options.engine
@options.limits
@options.file_option("--keep", "Save the script, the transcript and the answer there.", folder=True)
@options.json_flag
def command(
    problem: Problem, engine_name: str, timeout: float, memory: int, keep: Path | None, as_json: bool
) -> None:
    """Run TASK for a layer or a network on an engine and print the answer, read back exactly."""
    from agattn.engines.engine import engine_named
    from agattn.engines.locate import locate
    from agattn.engines.run import Limits, run

    if keep is not None:
        check_destination(keep, folder=True)
    installation = locate(engine_named(engine_name))
    with progress(f"{installation.engine.title}: {problem.title}, over {problem.field_name}"):
        done = run(problem, installation, Limits(timeout, memory), keep)
    if keep is not None:
        write_json(keep / f"{problem.task}-{installation.engine.name}.json", done.as_json())
    if as_json:
        print_json(done.as_json())
        return
    click.echo(str(done))
    click.echo(f"{installation.engine.title} {installation.version}, {done.seconds:.2f} s", err=True)
