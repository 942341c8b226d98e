"""A study: jobs looked up or done, here or by workers, and their lines in the order of the jobs.

>>> from agattn import SingleLayer
>>> jobs = [Job(SingleLayer(d, 1), "strata") for d in (3, 2)]
>>> [(line["architecture"]["d"], line["result"]["dimension"], line["cached"]) for line in study(jobs)]
[(3, 11, False), (2, 5, False)]
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from agattn.errors import InputError, needs
from agattn.experiments.studies.cache import Cache
from agattn.experiments.studies.grid import grid_text, read_grid
from agattn.experiments.studies.jobs import (
    Job,
    Line,
    StudyLines,
    Versions,
    failure,
    is_open,
    make_line,
    perform,
    versions_for,
)
from agattn.experiments.studies.published import subject_of
from agattn.limits import limits, steps, takes
from agattn.memory import number_allowed
from agattn.workers import EACH, Processes, number_of_workers, processes

#: Gives the workers of a cluster.
Workers = Callable[[], AbstractContextManager["Cluster"]]
#: Jobs with their numbers, and with their lines where these are kept.
Tasks = Iterator[tuple[int, Job, Line | None]]
#: What came of a job: its number, its line, and whether to keep that.
Done = Generator[tuple[int, Line, bool], None, None]


def study(
    jobs: Sequence[Job],
    versions: Versions | None = None,
    workers: Workers | None = None,
    cache: Cache | None = None,
    *,
    fresh: bool = False,
    retry_open: bool = False,
    finished: Callable[[Line], None] = lambda line: None,
) -> Generator[Line, None, None]:
    """Do jobs, and yield their lines in order.

    Args:
        versions: of what does them; found out here if they are not given.
        workers: of a cluster, as :func:`cluster` gives them, entered when there is a first job to do;
            ``None`` for processes of this machine, ``limits().workers`` of them, or all processors where what
            is left takes seconds.
        cache: where finished jobs are looked up and kept; ``None`` for nowhere.
        fresh: look nothing up.
        retry_open: do again what was undecided, or not proved.
        finished: called with each line as soon as it is there, in whatever order.

    Raises:
        InputError: if a result cannot be kept, or the workers cannot be reached.
    """
    if versions is None:
        versions = versions_for(jobs[0].engine) if jobs else {}
    waiting: dict[int, Line] = {}
    following = 0

    def tasks() -> Tasks:
        for number, job in enumerate(jobs):
            line = None if cache is None or fresh else cached_line(cache, job, versions, retry_open)
            if line is None and cache is not None:
                cache.open()
            yield number, job, line

    with closing(_done(tasks(), len(jobs), versions, workers)) as done:
        for number, line, lasting in done:
            if cache is not None and lasting:
                cache.put({name: value for name, value in line.items() if name != "cached"})
            finished(line)
            waiting[number] = line
            while following in waiting:
                yield waiting.pop(following)
                following += 1


def cached_line(cache: Cache, job: Job, versions: Versions, retry_open: bool = False) -> Line | None:
    """The line of a job done before; ``None`` if there is none, or the job is to be done again."""
    line = cache.get(job.key(versions))
    if line is None or (retry_open and is_open(line)):
        return None
    return {**line, "cached": True}


def _done(tasks: Tasks, total: int, versions: Versions, workers: Workers | None) -> Done:
    """Do jobs, by workers where that is worth it; a job whose worker is lost ends in an error.

    Without a cluster jobs are done here until those that are left, if they take as long as these, take
    seconds. So at most one long job is done alone, before the others.
    """
    pool: Processes | Cluster | None = None
    going: dict[Any, tuple[int, Job, float]] = {}
    spent, here, is_settled = 0.0, 0, False

    def lost(job: Job, error: Exception, started: float) -> tuple[Line, bool]:
        if isinstance(pool, Cluster) and pool.client.status != "running":
            error = ConnectionError("the scheduler is gone")
        kind, message = type(error).__name__, f"the worker that did this job was lost: {error}"
        if kind == "KilledWorker":
            message = "the workers that did this job died, perhaps as memory ran out; use fewer"
        return make_line(job, versions, failure(kind, message), 4, time.perf_counter() - started), False

    def outcome(future: Any) -> tuple[int, Line, bool]:
        number, job, started = going.pop(future)
        try:
            return number, *future.result()
        except Exception as error:  # killed workers, lost connections, failing to unpickle
            return number, *lost(job, error, started)

    with ExitStack() as stack:
        for number, job, line in tasks:
            if line is not None:
                yield number, line, False
                continue
            started, left = time.perf_counter(), total - number
            if pool is None and workers is not None:
                pool = stack.enter_context(workers())
            elif pool is None and not is_settled:
                wanted = min(left, number_of_workers(spent / max(here, 1) * left))
                is_settled = wanted > 1
                if is_settled and (allowed := number_allowed(wanted, EACH, "a study")) > 1:
                    pool = stack.enter_context(processes(allowed))
            if pool is None:
                yield number, *perform(job, versions, limits().force)
                spent, here = spent + time.perf_counter() - started, here + 1
                continue
            try:
                going[pool.submit(perform, job, versions, limits().force)] = number, job, started
            except Exception as error:  # of a client that is closed
                yield number, *lost(job, error, started)
            if len(going) == pool.number:
                yield outcome(pool.next_done())
        while pool and going:
            yield outcome(pool.next_done())


# Where Dask does them ---------------------------------------------------------------------------------------

_CONNECT = 5.0
_FIRST_WORKER = 15.0


class Cluster:
    """The workers of a Dask scheduler as a pool."""

    number = 500  #: of jobs that the scheduler holds at a time

    def __init__(self, client: Any) -> None:
        from distributed import as_completed

        self.client, self.futures = client, as_completed(loop=client.loop)

    def submit(self, do: Callable[..., Any], *arguments: Any) -> Any:
        """Hand a call to the scheduler."""
        future = self.client.submit(do, *arguments, pure=False)
        self.futures.add(future)
        return future

    def next_done(self) -> Any:
        """Wait for one of the calls."""
        return next(self.futures)


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """The workers of a Dask scheduler; agattn itself must be installed where they run.

    Raises:
        InputError: if Dask is missing, if no scheduler answers within seconds, or if it has no workers.
    """
    with needs("--scheduler", "Dask", "study"):
        from distributed import Client
    for name in ("asyncio", "tornado.application", "distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # jobs that are lost tell of lost connections
    try:
        asyncio.run(_greet(address))
        client = Client(address, timeout=_CONNECT, set_as_default=False)
    except Exception as error:  # nothing, silence, or something else that answers: each fails in its way
        raise InputError(
            f"no Dask scheduler answers at {address[:200]!r} within {_CONNECT:g} s; start one with "
            "dask scheduler, which prints its address"
        ) from error
    try:
        try:
            client.wait_for_workers(1, timeout=_FIRST_WORKER)
        except TimeoutError as error:
            raise InputError(
                f"the scheduler at {address} has no workers; start some with: dask worker {address}"
            ) from error
        yield Cluster(client)
    finally:
        client.close(timeout=_CONNECT)


async def _greet(address: str) -> None:
    """Ask a scheduler who it is. A client that finds none would go on trying when it is thrown away."""
    from distributed.core import rpc

    async with asyncio.timeout(_CONNECT), rpc(address) as scheduler:
        if (await scheduler.identity())["type"] != "Scheduler":
            raise ValueError(address)


# In Python --------------------------------------------------------------------------------------------------


@takes("force", "workers", "progress")
def study_grid(
    grid: str | Path,
    *,
    part: str | None = None,
    keep: str | Path | None = None,
    fresh: bool = False,
    retry_undecided: bool = False,
    timeout: float | None = None,
    memory: int | None = None,
    seed: int | None = None,
) -> StudyLines:
    r"""Ask one question, or several, about all architectures of a grid.

    Args:
        grid: the path of a TOML file, or its text; ``agattn study --example`` prints one. Or the name of a
            grid that ships: ``"audit"``, every claim about small layers; ``"atlas"``, dimensions of small
            networks; ``"zoo"``, models of all kinds; ``"published"``, whole published models.
        part: ``"K/N"``: only every N-th job, from the K-th on.
        keep: a folder in which finished jobs are kept and looked up; nothing is kept by default.
        fresh: look nothing up, but keep what is done.
        retry_undecided: do again what was undecided, or not proved.
        timeout, memory, seed: instead of those of the grid.
        force: go beyond the limits on the number of jobs and on their size.
        workers: processes on this machine; all processors by default, if it takes seconds.
        progress: called with each architecture when its job is done.

    Returns:
        The lines, as the command prints them, in the order of the jobs: a sequence, with the table that the
        command shows.

    Raises:
        InputError: if the grid cannot be read or used, or the folder cannot be written.

    See Also:
        :func:`agattn.verify`, :func:`agattn.dimension`, :func:`agattn.report`; ``agattn study`` in a shell.

    >>> import agattn as ag
    >>> [line] = ag.study('ask = "strata"\n[layers]\nd = 2\nd_out = 1\na = 2\n')
    >>> line["result"]["dimension"], line["status"]
    (5, 0)
    >>> print(ag.study('ask = "strata"\n[layers]\nd = [2, 3]\nd_out = 1\na = 2\n').to_csv(), end="")
    architecture,asked,answer,evidence
    "M(2,1,2)",strata,"4 strata, 3 singular",proved
    "M(3,1,2)",strata,"5 strata, 3 singular",proved
    """
    given = {"timeout": timeout, "memory": memory, "seed": seed}
    text = grid if isinstance(grid, str) and "\n" in grid else grid_text(Path(grid))  # a path has one line
    wanted = read_grid(text, {k: value for k, value in given.items() if value is not None})
    jobs = wanted.jobs if part is None else wanted.part(part)
    cache = None if keep is None else Cache(Path(keep))
    lines = study(jobs, None, None, cache, fresh=fresh, retry_open=retry_undecided)
    done = steps(lines, len(jobs), lambda line: str(subject_of(line["architecture"])))
    return StudyLines(tuple(done))
