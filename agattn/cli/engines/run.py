"""``agattn run``: one task on one engine, from the script to the exact answer."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agattn.cli import options
from agattn.cli.output import print_json, progress, say_on_stderr, write_json
from agattn.errors import InputError

if TYPE_CHECKING:
    from agattn.architectures import Architecture


def _run_script(
    script: Path, engine_name: str | None, timeout: float, memory: int, keep: Path | None, as_json: bool
) -> None:
    """Run a script in this folder, with no time limit but one that was given."""
    from agattn.engines.locate import locate
    from agattn.engines.run import run_script
    from agattn.limits import MAX_TIMEOUT, limited

    if not script.is_file():
        raise InputError(f"there is no script {script}; agattn emit TASK -O {script} writes one")
    source = click.get_current_context().get_parameter_source("timeout")
    limit = timeout if source is click.core.ParameterSource.COMMANDLINE else MAX_TIMEOUT
    with limited(timeout=limit, memory=memory):
        run_script(script, locate(options.engine_for(script, engine_name)))


@click.command(
    epilog="Examples: agattn run implicit-ideal -d 2 -o 1 --engine singular --json; agattn run fiber --model "
    "examples/maps.py:cubic --components; agattn run ideal.m2"
)
@partial(options.problem, run_script=_run_script)
@options.engine("The engine.  [default: macaulay2; of a script by its ending]", default=None)
@options.limits
@options.file_option("--keep", "Save the script, the transcript and the answer there.", folder=True)
@options.json_flag
def command(
    architecture: Architecture, task: str, asked: dict[str, Any], engine_name: str | None, timeout: float,
    memory: int, keep: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Run TASK for a layer, a network or a model on an engine and print the answer, read back exactly.

    Or run SCRIPT, a file that ends in .m2, .sing or .sh, or - for a script on stdin: in this folder, with the
    engine that agattn finds, and print what the engine prints. A SCRIPT has no time limit unless --timeout is
    given.
    """
    from agattn.engines.run import run_task

    engine = options.engine_for(None, engine_name)
    with progress(task) as tell:
        done = run_task(
            architecture, task, engine.name,
            timeout=timeout, memory=memory, keep=keep, progress=tell, **asked,
        )  # fmt: skip
    if keep is not None:
        write_json(keep / f"{done.task}-{engine.name}.json", done.as_json())
    if as_json:
        print_json(done.as_json())
        return
    from agattn.sheet.terminal import print_folded

    print_folded(str(done))
    say_on_stderr(f"{engine.title} {done.installation.version}, {done.seconds:.2f} s")
