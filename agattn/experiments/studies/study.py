"""A study: jobs looked up or done, and their lines in the order of the jobs.

>>> from agattn import SingleLayer
>>> jobs = [Job(SingleLayer(d, 1), "strata") for d in (3, 2)]
>>> [(line["architecture"]["d"], line["result"]["dimension"], line["cached"]) for line in study(jobs)]
[(3, 11, False), (2, 5, False)]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from agattn import errors
from agattn.architectures.forms import architecture_of
from agattn.experiments.studies.cache import Cache
from agattn.experiments.studies.grid import read_grid
from agattn.experiments.studies.jobs import (
    Job,
    Line,
    Versions,
    failure,
    make_line,
    perform,
    versions_for,
)
from agattn.experiments.studies.lines import Entry, is_open
from agattn.experiments.studies.workers import Workers, in_this_process, local_processes
from agattn.files import read_text
from agattn.limits import limits, steps, takes


def study(
    jobs: Sequence[Job],
    versions: Versions | None = None,
    workers: Callable[[], Workers] = in_this_process,
    cache: Cache | None = None,
    *,
    fresh: bool = False,
    retry_open: bool = False,
    finished: Callable[[Line], None] = lambda line: None,
) -> Generator[Line, None, None]:
    """Do jobs, and yield their lines in order, each as soon as it and all before it are done.

    Args:
        versions: of what does them; found out here if they are not given.
        workers: one of :mod:`agattn.experiments.studies.workers`; entered when there is a first job to do.
        cache: where finished jobs are looked up and kept; ``None`` for nowhere.
        fresh: look nothing up.
        retry_open: do again what was undecided, or not proved.
        finished: called with each line as soon as it is there, in whatever order.

    Raises:
        InputError: if a result cannot be kept, or the workers cannot be reached.
    """
    if versions is None:
        versions = versions_for(jobs[0].engine) if jobs else {}
    going = _Going(jobs, versions, cache, finished)
    place: tuple[Executor, int] | None = None
    with ExitStack() as stack:
        for number, job in enumerate(jobs):
            known = None if cache is None or fresh else cached_line(cache, job, versions, retry_open)
            if known is not None:
                going.done(number, known)
            else:
                if place is None:
                    if cache is not None:
                        cache.open()
                    place = stack.enter_context(workers())
                executor, at_once = place
                future = executor.submit(perform, job, versions, limits().force)
                going.pending[future] = number, time.perf_counter()
                going.collect(at_once - 1)
            yield from going.in_order()
        while going.pending:
            going.collect(len(going.pending) - 1)
            yield from going.in_order()


@dataclass
class _Going:
    """A study that is going on: the jobs that are being done, and the lines that wait for those before."""

    jobs: Sequence[Job]
    versions: Versions
    cache: Cache | None
    finished: Callable[[Line], None]
    ready: dict[int, Line] = field(default_factory=dict)
    following: int = 0
    #: By what will be there: the number of the job, and when it was started.
    pending: dict[Future[tuple[Line, bool]], tuple[int, float]] = field(default_factory=dict)

    def done(self, number: int, line: Line) -> None:
        """Take the line of a job."""
        self.ready[number] = line
        self.finished(line)

    def in_order(self) -> Iterator[Line]:
        """The lines before which none is missing."""
        while self.following in self.ready:
            yield self.ready.pop(self.following)
            self.following += 1

    def collect(self, at_most: int) -> None:
        """Wait until no more than some jobs are pending."""
        while len(self.pending) > at_most:
            for future in wait(self.pending, return_when=FIRST_COMPLETED).done:
                number, started = self.pending.pop(future)
                line, lasting = self._line_of(future, number, started)
                if self.cache is not None and lasting:
                    self.cache.put({name: value for name, value in line.items() if name != "cached"})
                self.done(number, line)

    def _line_of(self, future: Future[tuple[Line, bool]], number: int, started: float) -> tuple[Line, bool]:
        """The line of a job that ended, also where its worker was lost, and whether it is to be kept."""
        try:
            return future.result()
        except Exception as error:  # killed workers, lost connections, failing to unpickle
            kind, message = type(error).__name__, f"the worker that did this job was lost: {error}"
            if kind == "KilledWorker":
                message = "the workers that did this job died, perhaps as memory ran out; use fewer"
            seconds = time.perf_counter() - started
            lost = failure(kind, message)
            return make_line(self.jobs[number], self.versions, lost, 4, seconds), False


@takes("force", "progress")
def study_grid(
    grid: str | Path,
    *,
    workers: int = 1,
    part: str | None = None,
    keep: str | Path | None = None,
    fresh: bool = False,
    retry_undecided: bool = False,
    timeout: float | None = None,
    memory: int | None = None,
    seed: int | None = None,
) -> tuple[Line, ...]:
    r"""Ask one question, or several, about all architectures of a grid.

    Args:
        grid: the path of a TOML file, or its text; ``agattn study --example`` prints one.
        workers: processes on this machine; 1 means this process alone.
        part: ``"K/N"``: only every N-th job, from the K-th on.
        keep: a folder in which finished jobs are kept and looked up; nothing is kept by default.
        fresh: look nothing up, but keep what is done.
        retry_undecided: do again what was undecided, or not proved.
        timeout, memory, seed: instead of those of the grid.
        force: go beyond the limits on the number of jobs and on their size.
        progress: called with each architecture when its job is done.

    Returns:
        The lines, as the command prints them, in the order of the jobs.

    Raises:
        InputError: if the grid cannot be read or used, or the folder cannot be written.

    See Also:
        :func:`agattn.audit`, :func:`agattn.atlas`, :func:`agattn.report`; ``agattn study`` in a shell.

    >>> import agattn as ag
    >>> [line] = ag.study('ask = "strata"\n[layers]\nd = 2\nd_out = 1\na = 2\n')
    >>> line["result"]["dimension"], line["status"]
    (5, 0)
    """
    given = {"timeout": timeout, "memory": memory, "seed": seed}
    text = grid if isinstance(grid, str) and "\n" in grid else read_text(Path(grid))  # a path has one line
    wanted = read_grid(text, {k: value for k, value in given.items() if value is not None})
    jobs = wanted.jobs if part is None else wanted.part(part)
    place = partial(local_processes, workers) if workers > 1 else in_this_process
    cache = None if keep is None else Cache(Path(keep))
    lines = study(jobs, None, place, cache, fresh=fresh, retry_open=retry_undecided)
    return tuple(steps(lines, len(jobs), _architecture))


def _architecture(line: Line) -> str:
    return str(architecture_of(line["architecture"]))


def answers(jobs: Sequence[Job]) -> tuple[Entry, ...]:
    """Do jobs in this process, and return what came out; nothing is looked up or kept.

    Raises:
        AgattnError: if a job ends in an error.
    """
    found = []
    for line in steps(study(jobs), len(jobs), _architecture):
        if "error" in line:
            raise getattr(errors, line["error"]["type"], errors.AgattnError)(line["error"]["message"])
        found.append(Entry(line))
    return tuple(found)


def cached_line(cache: Cache, job: Job, versions: Versions, retry_open: bool = False) -> Line | None:
    """The line of a job done before; ``None`` if there is none, or the job is to be done again."""
    line = cache.get(job.key(versions))
    if line is None or (retry_open and is_open(line)):
        return None
    return {**line, "cached": True}
