"""What ``emit``, ``run`` and ``doctor`` do in a shell beyond their verbs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import click

from agattn.cli.generator import Input, Option, listing
from agattn.cli.geometry import read_data
from agattn.cli.kinds import STDOUT, Destination, EngineName, InputFile, Whole, leave_out
from agattn.cli.output import as_text, print_json, say_on_stderr, write_file
from agattn.engines.catalogue import ENGINES, engine_named, of_all
from agattn.engines.doctor import examine
from agattn.engines.emit import emit_task
from agattn.engines.locate import locate
from agattn.engines.run import run_script, run_task
from agattn.errors import EngineNotFoundError, InputError
from agattn.limits import MAX_TIMEOUT, limited
from agattn.sheet.terminal import print_folded
from agattn.systems.catalogue import MODEL_TASKS, TASKS, task_about, task_named

_ENDINGS = ", ".join(f"{e.ending}{f' for {e.title}' if e.by_shell else ''}" for e in ENGINES.values())
Script = Option(
    Destination(
        *(engine.ending for engine in ENGINES.values()),
        ".json",
        otherwise="; agattn ideal writes equations as .py and .tex",
    ),
    flags="-O --output",
    metavar="FILE",
    help=f"Write to FILE: {_ENDINGS}, or .json as with --json.  [default: stdout]",
)


def is_script(name: str) -> bool:
    """Whether a word names a script to be run, rather than a task: by its ending, or ``-`` for stdin."""
    return name == "-" or Path(name).suffix.lower() in {engine.ending for engine in ENGINES.values()}


def _known_task(context: click.Context, _: click.Parameter, name: str) -> str:
    """The name of a task; others are refused before the options are looked at."""
    return name if context.resilient_parsing else task_named(name).name


def _known_task_or_script(context: click.Context, parameter: click.Parameter, name: str) -> str:
    """The name of a task, or the path of a script."""
    if is_script(name):
        return name
    if Path(name).suffix or Path(name).exists():
        raise InputError(f"{name} is no task and no script; a script ends in {of_all('ending', 'or')}")
    return _known_task(context, parameter, name)


def _list_tasks(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        width = max(map(len, TASKS))
        for name, task in TASKS.items():
            more = f"; of a model: {MODEL_TASKS[name].summary}" if name in MODEL_TASKS else ""
            print_folded(f"{name:{width}}  {task.summary}{more}")
        context.exit()


def asked_of_tasks(
    *,
    list_tasks: Annotated[bool, listing(_list_tasks, "tasks")] = False,
    characteristic: int | None = None,
    point: Annotated[Path | None, Input] = None,
    max_degree: Annotated[int | None, Option(Whole(0), metavar="N")] = None,
    slice: Annotated[Path | None, Input] = None,
    prime: bool = False,
    metric: str | None = None,
    samples: int | None = None,
    data: Path | None = None,
    components: bool = False,
    seed: int = 0,
    force: bool = False,
) -> None:
    """What a task is asked besides the architecture.

    Args:
        point: JSON file with exact weights A (or K and Q) and V, or all parameters of a model.  [default: all
            strata; of a model random parameters]
        max_degree: for hilbert-function.  [default: 4]  For implicit-ideal of a model.  [default: all
            degrees]
        slice: for slice: JSON file with an origin and three directions.  [default: that of Figure 1]
        prime: for implicit-ideal: decide also whether the ideal is prime.
        components: for fiber of a model: find its components over the field.
    """


def _read(task: str, architecture: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """What is asked, with data as arrays; points and slices stay files."""
    if "loss" in task_about(task, architecture).takes:
        asked["data"] = read_data(asked["data"], asked["metric"], asked["samples"])
    given = {name: value for name, value in asked.items() if value is not None}
    return {"characteristic": 0, **given}


def engine_for(script: Path | None, name: str | None) -> Any:
    """The engine that the ending of a script's file or ``--engine`` says; Macaulay2 if neither does."""
    ending = "" if script is None else script.suffix.lower()
    by_ending = next((engine for engine in ENGINES.values() if ending == engine.ending), None)
    if by_ending and name not in (None, by_ending.name):
        raise InputError(
            f"{script} is a script for {by_ending.title}, and --engine is {name}; leave --engine out"
        )
    return by_ending or engine_named(name or "macaulay2")


def emit(
    task: Annotated[str, Option(metavar="TASK", more={"callback": _known_task})],
    architecture: Any,
    engine: Annotated[str | None, Option(EngineName())] = None,
    *,
    output: Annotated[Path | None, Script] = None,
    machine: bool = False,
    as_json: bool = False,
    progress: Any,
    **asked: Any,
) -> None:
    """Print a script that computes TASK for a layer, a network or a model, and that you can run by hand.

    The script needs no other file, and prints its results, polynomials as polynomials. With --machine it
    prints the results once more for agattn run: between two marks, with polynomials as exponent vectors and a
    checksum.

    Args:
        engine: the engine.  [default: by the ending of -O, else macaulay2]
        machine: add the lines from which agattn run reads the answer.
    """
    chosen = engine_for(output, engine)
    progress(f"writing the script of {task}")
    script = emit_task(architecture, task, chosen.name, machine=machine, **_read(task, architecture, asked))
    if output is not None:
        is_json = output.suffix.lower() == ".json"
        write_file(output, as_text(script.as_json()) if is_json else script)
        if output != STDOUT and not is_json:
            by_hand = _how_to_run(chosen, output)
            say_on_stderr(f"run it with: {shlex.join(['agattn', 'run', str(output)])}, or {by_hand}")
    if as_json:
        print_json(script.as_json())
    elif output is None:
        click.echo(script, nl=False)


def _how_to_run(engine: Any, script: Path) -> str:
    """The command line that runs a script here, or says what is missing."""
    try:
        return shlex.join(engine.command(locate(engine).path, script))
    except EngineNotFoundError as error:
        return f"{shlex.join(engine.command(Path(engine.executable), script))} ({error})"


def run(
    task: Annotated[str, Option(metavar="TASK|SCRIPT", more={"callback": _known_task_or_script})],
    architecture: Any,
    engine: Annotated[str | None, Option(EngineName())] = None,
    *,
    timeout: float = 60.0,
    memory: int = 8192,
    keep: Annotated[Path | None, Option(Destination(folder=True), metavar="DIR")] = None,
    as_json: bool = False,
    progress: Any,
    **asked: Any,
) -> None:
    """Run TASK for a layer, a network or a model on an engine and print the answer, read back exactly.

    Or run SCRIPT, a file that ends in .m2, .sing or .sh, or - for a script on stdin: in this folder, with the
    engine that agattn finds, and print what the engine prints. A SCRIPT has no time limit unless --timeout is
    given.

    Args:
        engine: the engine.  [default: macaulay2; of a script by its ending]
        keep: save the script, the transcript and the answer there.
    """
    if architecture is None:
        _run_script(task, engine, timeout, memory)
        return
    chosen = engine_for(None, engine)
    done = run_task(
        architecture,
        task,
        chosen.name,
        timeout=timeout,
        memory=memory,
        keep=keep,
        progress=progress,
        **_read(task, architecture, asked),
    )
    if keep is not None:
        write_file(keep / f"{done.task}-{chosen.name}.json", as_text(done.as_json()), tell=False)
    if as_json:
        print_json(done.as_json())
        return
    print_folded(str(done))
    say_on_stderr(f"{chosen.title} {done.installation.version}, {done.seconds:.2f} s")


def _run_script(name: str, engine: str | None, timeout: float, memory: int) -> None:
    """Run a script in this folder, with no time limit but one that was given."""
    context = click.get_current_context()
    names = {parameter.name or "" for parameter in context.command.params}
    of_scripts = {"task", "engine", "timeout", "memory"}
    leave_out("is for a task; a script asks by itself", *names - of_scripts)
    script = InputFile().convert(name, None, context)
    if not script.is_file():
        raise InputError(f"there is no script {script}; agattn emit TASK -O {script} writes one")
    is_given = context.get_parameter_source("timeout") is click.core.ParameterSource.COMMANDLINE
    with limited(timeout=timeout if is_given else MAX_TIMEOUT, memory=memory):
        run_script(script, locate(engine_for(script, engine)))


def doctor(*, as_json: bool = False) -> int:
    """Find {engines}, and try each.

    agattn looks for the engines by {variables}, on PATH and in the wheels.
    """
    report = examine()
    if as_json:
        print_json(report.as_json())
    else:
        print_folded(str(report))
    return 0 if report.ok else 3


doctor.__doc__ = str(doctor.__doc__).format(engines=of_all("title"), variables=of_all("variable"))
