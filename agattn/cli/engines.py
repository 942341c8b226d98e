"""What ``emit``, ``run`` and ``doctor`` do in a shell beyond their verbs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import click

from agattn.cli.architecture import Architectures
from agattn.cli.generator import Input, Option, Reply, Writes, listing
from agattn.cli.geometry import read_data
from agattn.cli.kinds import STDOUT, EngineName, InputFile, Output, Outputs, Whole, chosen, leave_out
from agattn.cli.output import as_text, print_json, say_on_stderr, show_result, write_file
from agattn.engines.catalogue import ENGINES, engine_named, of_all
from agattn.engines.emit import emit_task
from agattn.engines.locate import examine, locate
from agattn.engines.reading import script_words
from agattn.engines.run import run_script, run_task
from agattn.errors import EngineNotFoundError, InputError
from agattn.files import read_text
from agattn.limits import MAX_TIMEOUT, limited
from agattn.sheet.terminal import print_folded
from agattn.systems.catalogue import MODEL_TASKS, TASKS, task_about, task_named

#: The endings of scripts.
SCRIPTS = tuple(engine.ending for engine in ENGINES.values())


def is_script(name: str) -> bool:
    """Whether a word names a script to be run, rather than a task: by its ending, or ``-`` for stdin."""
    return name == "-" or Path(name).suffix.lower() in SCRIPTS


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


def engine_for(script: Path | None, name: str | None, ending: str = "") -> Any:
    """The engine that the ending of a script or ``--engine`` says; Macaulay2 if neither does."""
    ending = ending or ("" if script is None else script.suffix.lower())
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
    output: Annotated[Outputs, Writes((*SCRIPTS, ".json"), default="", documents=False)] = (),
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
        output: write the script, or the document that --json prints.
        machine: add the lines from which agattn run reads the answer.
    """
    progress(f"writing the script of {task}")
    asked = _read(task, architecture, asked)
    for path, ending in output or (Output(STDOUT, ""),):
        program = engine_for(path, engine, ending.replace(".json", ""))
        script = emit_task(architecture, task, program.name, machine=machine, **asked)
        if output or not as_json:
            write_file(path, as_text(script.as_json()) if ending == ".json" else script)
        if path != STDOUT and ending != ".json":
            by_hand = _how_to_run(program, path)
            say_on_stderr(f"run it with: {shlex.join(['agattn', 'run', str(path)])}, or {by_hand}")
    if as_json:
        print_json(script.as_json())


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
    output: Annotated[Outputs, Writes(folder=True)] = (),
    as_json: bool = False,
    progress: Any,
    **asked: Any,
) -> None:
    """Run TASK on an engine and print the answer, read back exactly.

    Or run SCRIPT, a file that ends in .m2, .sing or .sh, or - for a script on stdin: in this folder, with the
    engine that agattn finds, and print what the engine prints. A SCRIPT has no time limit unless --timeout is
    given.

    Args:
        engine: the engine.  [default: macaulay2; of a script by its ending]
        output: write the answer, in a folder with the script and the transcript.
    """
    if architecture is None:
        _run_script(task, engine, timeout, memory)
        return
    program = engine_for(None, engine)
    folder = next(iter(chosen(output, "")), None)
    asked = _read(task, architecture, asked) | {"timeout": timeout, "memory": memory}
    done = run_task(architecture, task, program.name, keep=folder, progress=progress, **asked)
    if folder is not None:
        write_file(folder / f"{done.task}-{program.name}.json", as_text(done.as_json()), tell=False)
    show_result(done, as_json, output, str(done))
    if not as_json:
        say_on_stderr(f"{program.title} {done.installation.version}, {done.seconds:.2f} s")


def read(
    file: Annotated[Path, Input],
    architecture: Any,
    *,
    max_degree: int | None = None,
    seed: int = 0,
    force: bool = False,
    output: Annotated[Outputs, Writes()] = (),
    as_json: bool = False,
    progress: Any,
) -> Any:
    """Read an answer that somebody else computed, and compare it with what is known natively.

    FILE is what an engine printed for a script of agattn emit, or an ideal of your own that ends in .m2,
    .sing, .mrdi or .json, in the coordinates of ARCH. Nothing in FILE is executed.

    Exit status: 0 equal; 1 another answer; 3 nothing that is known decides.

    Args:
        max_degree: up to which degree ideals are compared; by default that of the generators.
    """
    from agattn.verification.ideal import read as read_answer

    asked = architecture if architecture is not None else _architecture_of(file)
    return read_answer(file, asked, max_degree=max_degree, seed=seed, force=force, progress=progress)


def _architecture_of(file: Path) -> Any:
    """The architecture of the script that printed a file, which is the command in it, read again."""
    words = script_words(read_text(file))
    rest = [] if words is None else shlex.split(words)[3:]
    if "--engine" in rest:
        at = rest.index("--engine")
        rest[at : at + 2] = []
    if not rest or "FILE" in rest:
        raise InputError(f"{file} names no architecture; give it, as in agattn read {file} 2 1 2")
    takes = Architectures()
    with click.Command("read", params=takes.parameters()).make_context("read", rest) as context:
        return takes.read(context.params)


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


def doctor() -> Reply:
    """Find {engines}, and try each.

    agattn looks for the engines by {variables}, on PATH and in the wheels.
    """
    report = examine()
    return Reply(report, str(report), 0 if report.ok else 3)


doctor.__doc__ = str(doctor.__doc__).format(engines=of_all("title"), variables=of_all("variable"))
