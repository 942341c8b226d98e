"""What ``train`` and ``study`` do in a shell beyond their verbs.

Carry out the jobs of a command: in order, with a bar, kept as they are done, interrupted without loss.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import click

from agattn.cli import interrupts
from agattn.cli.ending import fail
from agattn.cli.generator import Option, Writes
from agattn.cli.kinds import STDOUT, InputFile, Outputs, chosen
from agattn.cli.output import DOCUMENTS, console, rich_console, say_on_stderr, write_documents
from agattn.errors import InputError, printable, was_interrupted
from agattn.files import about, growing, read_text
from agattn.limits import limited

if TYPE_CHECKING:
    from agattn.experiments.studies.cache import Cache
    from agattn.experiments.studies.jobs import Job, Line, Versions
    from agattn.experiments.studies.study import Workers
    from agattn.sheet.data import Sheet

#: Lines of JSON, the table, and a folder for the report about them.
Lines = Writes((".jsonl",), folder=True, default=".jsonl")


def study(
    grid: Annotated[Path, Option(InputFile(), metavar="GRID.toml")],
    *,
    example: Annotated[bool, example("a grid", "agattn.experiments.studies.grid")] = False,
    part: Annotated[str | None, Option(metavar="K/N")] = None,
    retry_undecided: bool = False,
    timeout: Annotated[
        float | None,
        Option(click.FLOAT, metavar="SECONDS", help="Time limit in seconds, in place of the grid's."),
    ] = None,
    memory: Annotated[
        int | None, Option(click.INT, metavar="MIB", help="Memory limit in MiB, in place of the grid's.")
    ] = None,
    seed: Annotated[int | None, Option(click.INT, metavar="N", help="Seed, in place of the grid's.")] = None,
    force: Annotated[
        bool, Option(help="Go beyond the limits on the number of jobs and on their size.")
    ] = False,
    dry_run: bool = False,
    output: Annotated[Outputs, Lines] = (),
    as_json: bool = False,
    **given: Any,
) -> int:
    """Ask one question, or several, about all architectures of a grid; print a table of the answers.

    Grids that ship have names: audit, every claim about small layers; atlas, dimensions of small networks;
    zoo, models of all kinds; published, whole published models. With --json, or -O x.jsonl, each answer is
    one JSON document on a line (JSON Lines). Jobs that are done are kept. After an interrupt the same command
    goes on where it stopped.

    Args:
        part: only every N-th job, from the K-th on.
        retry_undecided: repeat the jobs that were undecided, or not proved.
        dry_run: only say how many jobs there are, and how many of them are cached.
        output: write the lines that --json prints, the table, or a report about the results.
    """
    from agattn.experiments.studies.grid import grid_text, read_grid
    from agattn.experiments.studies.jobs import StudyLines, row, rows_sheet, versions_for, written

    report = next(iter(chosen(output, "")), None)
    work = work_of(output=output, as_json=as_json, **given)
    instead = {"timeout": timeout, "memory": memory, "seed": seed}
    asked = {k: v for k, v in instead.items() if v is not None}
    wanted = read_grid(read_asked(grid, "a grid", grid_text), asked, force=force)
    jobs = wanted.jobs if part is None else wanted.part(part)
    versions = versions_for(jobs[0].engine) if jobs else {}
    if dry_run:
        known = work.cached(jobs, versions, retry_undecided)
        click.echo(f"{number_of_jobs(len(jobs))}, {known} of them cached")
        return 0
    if report is not None:
        check_report(report, "Study of")
    lines: list[Any] = []
    rows: list[Any] = []

    def write(line: Any) -> list[str]:
        rows.append(row(line))
        if report is not None or chosen(output, *DOCUMENTS):
            lines.append(line)
        return [written(line)]

    status = carry_out(
        jobs, versions, work, write, lambda: rows_sheet(rows), retry_open=retry_undecided, force=force
    )
    write_documents(StudyLines(tuple(lines)), output)
    if report is not None and lines:
        from agattn.reports.study_report import study_report

        made_by = f"agattn study {shlex.quote(grid.name)} -O DIR"
        files = study_report(lines, grid=wanted.text, command=made_by).save(report)
        say_on_stderr(f"wrote {files[0]} and {len(files) - 1} more")
    return status


def train(
    config: Annotated[Path, Option(InputFile(), metavar="CONFIG.toml")],
    *,
    example: Annotated[
        bool, example("a file of experiments", "agattn.experiments.training.experiment")
    ] = False,
    seeds: Annotated[str | None, Option(metavar="A..B")] = None,
    dry_run: bool = False,
    output: Annotated[Outputs, Lines] = (),
    as_json: bool = False,
    **given: Any,
) -> int:
    """Train attention from many seeds, and print a table of where in the geometry the runs ended.

    The method is gradient flow, gradient descent or Langevin dynamics; one layer has an exact loss. With
    --json, or -O x.jsonl, each run is one JSON document on a line (JSON Lines), with the loss, stratum, ranks
    and distances, the drift of conserved quantities, and the zeros of the Hessian. agattn keeps finished
    runs. After an interrupt the same command goes on where it stopped.

    Args:
        seeds: seeds of all experiments, in place of those in the file.
        dry_run: only say how many runs there are, and how many jobs of them are cached.
        output: write the lines that --json prints, the table, or a report about the runs.
    """
    from agattn.experiments.studies.jobs import versions_for
    from agattn.experiments.training.experiment import read_experiments
    from agattn.experiments.training.training import Runs, check, training_jobs

    report = next(iter(chosen(output, "")), None)
    work = work_of(output=output, as_json=as_json, **given)
    text = read_asked(config, "a file of experiments")
    experiments = read_experiments(text, seeds)
    for experiment in experiments:
        with about(experiment.name):
            check(experiment)
    jobs = training_jobs(experiments)
    versions = versions_for("native")
    if dry_run:
        cached = work.cached(jobs, versions)
        runs = sum(len(experiment.seeds) for experiment in experiments)
        click.echo(f"{runs} runs in {number_of_jobs(len(jobs))}, {cached} of them cached")
        return 0
    if report is not None:
        from agattn.reports.training_report import TITLE, training_report

        check_report(report, TITLE)
    lines: list[dict[str, Any]] = []
    names = iter([job.experiment.name for job in jobs])
    failures: list[str] = []

    def write(line: Any) -> list[str]:
        name = next(names)
        if "error" in line:
            failures.append(f"{name}: {line['error']['message']}")
            return []
        runs = [{**run, "experiment": name} for run in line["result"]["runs"]]
        lines.extend(runs)
        return [json.dumps(run, ensure_ascii=False) for run in runs]

    status = carry_out(jobs, versions, work, write, lambda: Runs(tuple(lines)).sheet())
    write_documents(Runs(tuple(lines)), output)
    for failure in dict.fromkeys(failures):
        say_on_stderr(failure)
    if report is not None and lines:
        made_by = f"agattn train {shlex.quote(config.name)} -O DIR"
        files = training_report(lines, text, made_by).save(report)
        say_on_stderr(f"wrote {files[0]} and {len(files) - 1} more")
    return status


def example(what: str, module: str) -> Option:
    """An option ``--example`` that prints a file that the command takes: the ``example`` of a module."""

    def show(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted:
            click.echo(importlib.import_module(module).example(), nl=False)
            context.exit()

    more = {"is_flag": True, "is_eager": True, "expose_value": False, "callback": show}
    return Option(help=f"Print {what} that works, with comments.", more=more)


class Work(NamedTuple):
    """By whom jobs are done, where they are kept, whether they are looked up, and where lines are written.

    Lines go into the file ``output`` if there is one, and to stdout if ``as_json`` or the file is stdout. The
    sheet is ``shown`` where stdout is for nothing else.
    """

    workers: int | None
    cluster: Workers | None
    cache: Cache | None
    fresh: bool
    output: Path | None
    as_json: bool
    shown: bool

    def cached(self, jobs: Sequence[Job], versions: Versions, retry_open: bool = False) -> int:
        """How many jobs would not be done, as they were before."""
        from agattn.experiments.studies.study import cached_line

        if self.cache is None or self.fresh:
            return 0
        return sum(cached_line(self.cache, job, versions, retry_open) is not None for job in jobs)


def work_of(
    *,
    workers: int | None = None,
    scheduler: Annotated[str | None, Option(metavar="ADDRESS")] = None,
    cache: Annotated[Path | None, Option(click.Path(path_type=Path, file_okay=False), metavar="DIR")] = None,
    no_cache: bool = False,
    fresh: bool = False,
    output: Outputs = (),
    as_json: bool = False,
) -> Work:
    """Where jobs are done and kept, and where their lines go.

    Args:
        workers: processes on this machine; all processors by default, if it takes seconds.
        scheduler: a Dask scheduler, such as tcp://10.0.0.1:8786.
        cache: keep finished jobs there.  [default: $AGATTN_CACHE, or agattn in the user's cache folder]
        no_cache: do all jobs again, and keep nothing.
        fresh: do all jobs again, and keep the results.
        output: where lines are written, among other things.
    """
    from agattn.experiments.studies.cache import Cache, default_folder
    from agattn.experiments.studies.study import cluster

    if workers is not None and scheduler is not None:
        raise click.UsageError("--workers are on this machine and --scheduler elsewhere; give one of them")
    if cache is not None and no_cache:
        raise click.UsageError("--cache says where to keep results and --no-cache not to; give one of them")
    by_dask = None if scheduler is None else functools.partial(cluster, scheduler)
    lines = next(iter(chosen(output, ".jsonl")), None)
    kept = None if no_cache else Cache(cache or default_folder())
    shown = not as_json and STDOUT not in [path for path, _ in output]
    return Work(workers, by_dask, kept, fresh, lines, as_json, shown)


def check_report(folder: Path, title: str) -> None:
    """Refuse a folder that has a report with another title: before the work."""
    from agattn.reports.document import refuse_another_report

    refuse_another_report(folder, title)


#: What a file has that asks for a study, or for training, and never for the other.
_ASKS = {"study": r"(?m)^\s*(\[+(layers|networks)\]|ask\s*=)", "train": r"(?m)^\s*\[+experiment\]"}


def read_asked(path: Path, what: str, read: Callable[[Path], str] = read_text) -> str:
    """The text of a file that says what is asked.

    Raises:
        InputError: where it cannot be read, which names --example; or where another command reads it.
    """
    context = click.get_current_context()
    try:
        text = read(path)
    except InputError as error:
        raise InputError(f"{error}; {context.command_path} --example prints {what}") from error
    others = [name for name, mark in _ASKS.items() if name != context.info_name and re.search(mark, text)]
    if others and not re.search(_ASKS[context.info_name or ""], text):
        raise InputError(f"{path} is no {what.removeprefix('a ')}; it is read by: agattn {others[0]} {path}")
    return text


def carry_out(
    jobs: Sequence[Job],
    versions: Versions,
    work: Work,
    write: Callable[[Line], Iterable[str]],
    sheet: Callable[[], Sheet],
    *,
    retry_open: bool = False,
    force: bool = False,
) -> int:
    """Do jobs, and write for each, in order, the lines of text that ``write`` makes; the exit status.

    Where nothing else goes to stdout, the ``sheet`` of all jobs that were done is shown there, after an
    interrupt as well.

    Raises:
        InputError: if the lines cannot be written, or the workers not be reached.
    """
    from agattn.experiments.studies.jobs import counted, exit_status, words
    from agattn.experiments.studies.study import study

    workers, cluster, cache, fresh, output, as_json, shown = work
    on_stdout = as_json or output == STDOUT
    if output == STDOUT:
        output = None
    statuses: list[dict[str, int]] = []
    done: Counter[str] = Counter()
    results: Counter[str] = Counter()

    def finished(line: Line) -> None:
        done.update(jobs=1, cached=int(line["cached"]))
        results.update(words(line))
        update(done["jobs"], counted(results.elements()))

    files = [sys.stdout] * on_stdout
    made = study(jobs, versions, cluster, cache, fresh=fresh, retry_open=retry_open, finished=finished)
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(limited(force=force, workers=workers))
            files += [] if output is None else [stack.enter_context(growing(output))]
            update = stack.enter_context(_bar(len(jobs), on_stdout))
            for line in stack.enter_context(contextlib.closing(made)):
                texts = [printable(text) + "\n" for text in write(line)]
                for file in files:
                    file.writelines(texts)
                    file.flush()
                statuses.append({"status": line["status"]})
    except (Exception, KeyboardInterrupt) as error:
        if not was_interrupted(error):  # or while workers were stopped, which may fail in its own way
            if isinstance(error, OSError) and output is not None and error.filename is None:
                error.filename = str(files[-1].name)  # a full disk names no file
            raise
        if statuses and shown:
            _show(sheet())
        go_on = f"; the same command{' without --fresh' * fresh} goes on from there"
        kept = ", and not kept, because of --no-cache" if cache is None else go_on
        if statuses and output is not None:
            kept += f"; the lines so far are in {files[-1].name}"
        fail(f"interrupted; {done['jobs']} of {number_of_jobs(len(jobs))} done{kept}", interrupts.STATUS)
    if shown:
        _show(sheet())
    if output is not None:
        say_on_stderr(f"wrote {output}")
    say_on_stderr(_outcome(done, results))
    return exit_status(statuses)


def _outcome(done: Counter[str], results: Counter[str]) -> str:
    """How many jobs are done, how many of them from the cache, and how many results are of which kind."""
    from agattn.experiments.studies.jobs import counted

    from_cache = f" ({done['cached']} from the cache)" if done["cached"] else ""
    several = f", {results.total()} results" if results.total() != done["jobs"] else ""
    outcome = f": {counted(results.elements())}" if results else ""
    return f"{number_of_jobs(done['jobs'])}{from_cache}{several}{outcome}"


def _show(sheet: Sheet) -> None:
    from agattn.sheet.terminal import show

    show(sheet, console())


def number_of_jobs(number: int) -> str:
    """The number in words."""
    return f"{number} job{'s' * (number != 1)}"


@contextlib.contextmanager
def _bar(total: int, on_stdout: bool) -> Iterator[Callable[[int, str], None]]:
    """A bar on stderr, if that is a terminal and the lines do not run over it; yields what moves it."""
    if not sys.stderr.isatty() or (on_stdout and sys.stdout.isatty()):
        yield lambda completed, description: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    # Redirecting would send the lines on stdout to the terminal.
    shown = rich_console(stderr=True)
    with Progress(
        *columns, console=shown, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        task = bar.add_task("", total=total)
        yield lambda completed, description: bar.update(task, completed=completed, description=description)
