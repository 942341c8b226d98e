"""Carry out the jobs of a command: in order, with a bar, kept as they are done, interrupted without loss."""

from __future__ import annotations

import contextlib
import functools
import importlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import click

from agattn.cli import interrupts
from agattn.cli.ending import fail
from agattn.cli.generator import Option
from agattn.cli.kinds import STDOUT, Outputs, chosen
from agattn.cli.output import console, rich_console, say_on_stderr
from agattn.errors import InputError, printable, was_interrupted
from agattn.files import growing, read_text
from agattn.limits import limited

if TYPE_CHECKING:
    from agattn.experiments.studies.cache import Cache
    from agattn.experiments.studies.jobs import Job, Line, Versions
    from agattn.experiments.studies.study import Workers
    from agattn.sheet.data import Sheet


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
