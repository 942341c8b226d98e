"""``agattn study``: the same questions about many architectures."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from agattn.cli import options
from agattn.cli.output import STDOUT, check_destination, console, read_text
from agattn.errors import InputError

if TYPE_CHECKING:
    from agattn.studies.jobs import Line


def _show_example(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from agattn.studies.grid import example

        click.echo(example(), nl=False)
        context.exit()


@click.command(
    epilog="Examples: agattn study --example > grid.toml; agattn study grid.toml --workers 4 -O results.jsonl"
)
@click.argument("grid", metavar="GRID.toml", type=options.INPUT)
@click.option(
    "--example", is_flag=True, is_eager=True, expose_value=False, callback=_show_example,
    help="Print a grid that works, with comments.",
)  # fmt: skip
@options.file_option("-O", "--output", "Write the lines there.  [default: stdout]")
@click.option(
    "--workers", type=click.IntRange(0, 512), metavar="N",
    help="Processes on this machine, by Dask; with 0 or 1 none but this one.  [default: 1]",
)  # fmt: skip
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler, such as tcp://10.0.0.1:8786.")
@click.option("--part", metavar="K/N", help="Only every N-th job, from the K-th on.")
@options.file_option(
    "--cache", "folder",
    "Keep finished jobs there.  [default: $AGATTN_CACHE, or agattn in the user's cache folder]", folder=True,
)  # fmt: skip
@click.option("--no-cache", is_flag=True, help="Look nothing up and keep nothing.")
@click.option("--fresh", is_flag=True, help="Look nothing up, but keep what is done.")
@click.option("--retry-undecided", is_flag=True, help="Do again what was undecided, or not proved.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Instead of the grid's timeout.")
@click.option("--memory", type=int, metavar="MIB", help="Instead of the grid's memory.")
@click.option("--seed", type=int, metavar="N", help="Instead of the grid's seed.")
@click.option("--force", is_flag=True, help="Go beyond the limits on the number of jobs and on their size.")
@click.option(
    "--dry-run", is_flag=True, help="Only say how many jobs there are, and how many of them are cached."
)
@options.file_option("--report", "Write report.html and report.md about the results there.", folder=True)
def command(
    grid: Path, output: Path | None, workers: int | None, scheduler: str | None, part: str | None,
    folder: Path | None, no_cache: bool, fresh: bool, retry_undecided: bool, timeout: float | None,
    memory: int | None, seed: int | None, force: bool, dry_run: bool, report: Path | None,
) -> int:  # fmt: skip
    """Ask one question, or several, about all architectures of a grid; print one JSON line for each answer.

    Jobs that are done are kept. After an interrupt the same command goes on where it stopped.
    """
    options.one_blas_thread()
    if output == STDOUT:
        output = None
    if workers is not None and scheduler is not None:
        raise click.UsageError("--workers are on this machine and --scheduler elsewhere; give one of them")
    if folder is not None and no_cache:
        raise click.UsageError("--cache says where to keep results and --no-cache not to; give one of them")
    from agattn.cli.main import fail
    from agattn.studies.cache import Cache, default_folder
    from agattn.studies.grid import read_grid
    from agattn.studies.jobs import versions_for
    from agattn.studies.lines import counted, exit_status, words, written
    from agattn.studies.study import cached_line, study
    from agattn.studies.workers import Workers, cluster, in_this_process, local_processes

    given = {"timeout": timeout, "memory": memory, "seed": seed}
    try:
        text = read_text(grid)
    except InputError as error:
        raise InputError(f"{error}; agattn study --example prints a grid") from error
    wanted = read_grid(text, {k: v for k, v in given.items() if v is not None}, force)
    jobs = wanted.jobs if part is None else wanted.part(part)
    versions = versions_for(jobs[0].engine) if jobs else {}
    cache = None if no_cache else Cache(folder or default_folder())
    if dry_run:
        known = 0
        if cache is not None and not fresh:
            known = sum(cached_line(cache, job, versions, retry_undecided) is not None for job in jobs)
        click.echo(f"{_jobs(len(jobs))}, {known} of them cached")
        return 0
    place: Callable[[], Workers] = in_this_process
    if scheduler is not None:
        place = functools.partial(cluster, scheduler)
    elif workers is not None and workers > 1:
        place = functools.partial(local_processes, workers)
    if output is not None:
        check_destination(output)
        output.parent.mkdir(parents=True, exist_ok=True)
    if report is not None:
        check_destination(report, folder=True)
    lines: list[Line] = []
    statuses: set[int] = set()
    done: Counter[str] = Counter()
    found: Counter[str] = Counter()

    def finished(line: Line) -> None:
        done.update(jobs=1, cached=line["cached"])
        found.update(words(line))
        update(done["jobs"], counted(found.elements()))

    made = study(
        jobs, versions, place, cache, fresh=fresh, retry_open=retry_undecided, force=force, finished=finished
    )
    to_file = contextlib.nullcontext(sys.stdout) if output is None else _alone(output)
    try:
        with to_file as file, _bar(len(jobs), file) as update, contextlib.closing(made):
            for line in made:
                file.write(written(line) + "\n")
                file.flush()
                statuses.add(line["status"])
                if report is not None:
                    lines.append(line)
    except OSError as error:
        if output is not None and error.filename is None:
            error.filename = str(output)  # a full disk names no file
        raise
    except KeyboardInterrupt:
        go_on = f"; the same command{' without --fresh' * fresh} goes on from there"
        kept = ", and not kept, because of --no-cache" if no_cache else go_on
        fail(f"interrupted; {done['jobs']} of {_jobs(len(jobs))} done{kept}", 130)
    if output is not None:
        click.echo(f"wrote {output}", err=True)
    from_cache = f" ({done['cached']} from the cache)" if done["cached"] else ""
    several = f", {found.total()} results" if found.total() != done["jobs"] else ""
    outcome = f": {counted(found.elements())}" if found else ""
    click.echo(f"{_jobs(done['jobs'])}{from_cache}{several}{outcome}", err=True)
    if report is not None and lines:
        from agattn.reports.study_report import study_report

        made_by = f"agattn study {shlex.quote(grid.name)} --report DIR"
        files = study_report(lines, grid=wanted.text, command=made_by).save(report)
        click.echo(f"wrote {files[0]} and {len(files) - 1} more", err=True)
    return exit_status({"status": status} for status in statuses)


def _alone(path: Path) -> TextIO:
    """Open a file to write it anew, unless another study is writing it.

    Raises:
        InputError: if one is.
    """
    file = path.open("a", encoding="utf-8")
    if path.is_file():
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise InputError(f"cannot write {path}: another study is writing it; give another -O") from None
        file.truncate(0)
    return file


def _jobs(number: int) -> str:
    return f"{number} job{'s' * (number != 1)}"


@contextlib.contextmanager
def _bar(total: int, file: TextIO) -> Iterator[Callable[[int, str], None]]:
    """A bar on stderr, if that is a terminal and the lines do not run over it; yields what moves it."""
    if not sys.stderr.isatty() or file.isatty():
        yield lambda completed, description: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    # Redirecting would send the lines on stdout to the terminal.
    shown = console(stderr=True)
    with Progress(
        *columns, console=shown, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        task = bar.add_task("", total=total)
        yield lambda completed, description: bar.update(task, completed=completed, description=description)
