"""``agattn emit``: scripts for Macaulay2, Singular and msolve."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli import options
from agattn.cli.output import STDOUT, as_text, print_json, progress, say_on_stderr, write_file
from agattn.engines.catalogue import ENGINES
from agattn.errors import EngineNotFoundError

if TYPE_CHECKING:
    from agattn.architectures import Architecture
    from agattn.engines.engine import Engine


ENDINGS = ", ".join(f"{e.ending}{f' for {e.title}' if e.by_shell else ''}" for e in ENGINES.values())


@click.command(epilog="Example: agattn emit implicit-ideal -d 2 -o 1 -O ideal.m2 && agattn run ideal.m2")
@options.problem
@options.engine("The engine.  [default: by the ending of -O, else macaulay2]", default=None)
@options.file_option(
    "-O", "--output", f"Write to FILE: {ENDINGS}, or .json as with --json.  [default: stdout]",
    endings=(*(engine.ending for engine in ENGINES.values()), ".json"),
    otherwise="; agattn ideal writes equations as .py and .tex",
)  # fmt: skip
@click.option("--machine", is_flag=True, help="Add the lines from which agattn run reads the answer.")
@options.json_flag
def command(
    architecture: Architecture, task: str, asked: dict[str, Any], engine_name: str | None,
    output: Path | None, machine: bool, as_json: bool,
) -> None:  # fmt: skip
    """Print a script that computes TASK for a layer, a network or a model, and that you can run by hand.

    The script needs no other file, and prints its results, polynomials as polynomials. With --machine it
    prints the results once more for agattn run: between two marks, with polynomials as exponent vectors and a
    checksum.
    """
    engine = options.engine_for(output, engine_name)
    from agattn.engines.emit import emit_task

    with progress(task):
        script = emit_task(architecture, task, engine.name, machine=machine, **asked)
    document = script.as_json()
    if output is not None:
        is_json = output.suffix.lower() == ".json"
        write_file(output, as_text(document) if is_json else script)
        if output != STDOUT and not is_json:
            by_hand = _how_to_run(engine, output)
            say_on_stderr(f"run it with: {shlex.join(['agattn', 'run', str(output)])}, or {by_hand}")
    if as_json:
        print_json(document)
    elif output is None:
        click.echo(script, nl=False)


def _how_to_run(engine: Engine, script: Path) -> str:
    """The command line that runs a script here, or says what is missing."""
    from agattn.engines.locate import locate

    try:
        return shlex.join(engine.command(locate(engine).path, script))
    except EngineNotFoundError as error:
        return f"{shlex.join(engine.command(Path(engine.executable), script))} ({error})"
