"""``agattn emit``: scripts for Macaulay2 and Singular."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agattn.cli import options
from agattn.cli.output import print_json, write_file

if TYPE_CHECKING:
    from agattn.systems.problem import Problem


@click.command(epilog="Example: agattn emit implicit-ideal -d 2 -o 1 -O ideal.m2 && M2 --script ideal.m2")
@options.problem
@options.engine
@options.file_option("-O", "--output", "Write to FILE.")
@options.json_flag
def command(problem: Problem, engine_name: str, output: Path | None, as_json: bool) -> None:
    """Print a script that computes TASK for a layer or a network; it stands alone and can be run by hand.

    The script prints its results between two marks, one item a line, polynomials as exponent vectors.
    """
    from agattn.engines.emit import emit
    from agattn.engines.engine import engine_named

    engine = engine_named(engine_name)
    script = emit(problem, engine)
    if output is not None:
        write_file(output, script)
        click.echo(f"wrote {output}", err=True)
    if as_json:
        print_json({"task": problem.task, "engine": engine.name, "script": script})
    elif output is None:
        click.echo(script, nl=False)
