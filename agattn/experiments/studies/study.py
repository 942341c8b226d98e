"""A study: jobs looked up or done, here or by Dask, and their lines in the order of the jobs.

>>> from agattn import SingleLayer
>>> jobs = [Job(SingleLayer(d, 1), "strata") for d in (3, 2)]
>>> [(line["architecture"]["d"], line["result"]["dimension"], line["cached"]) for line in study(jobs)]
[(3, 11, False), (2, 5, False)]
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import resource
import signal
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from agattn.engines.process import work_folder
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
from agattn.workers import end_with_parent

#: Gives a client of Dask, and the number of jobs that it should have at a time.
Workers = Callable[[], AbstractContextManager[tuple[Any, int]]]
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
        workers: as :func:`local_processes` and :func:`cluster` are, entered when there is a first job to do;
            ``None`` for this process.
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

    done = _here(tasks(), versions) if workers is None else _by_dask(tasks(), versions, workers)
    with closing(done):
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


def _here(tasks: Tasks, versions: Versions) -> Done:
    for number, job, line in tasks:
        if line is None:
            yield number, *perform(job, versions, limits().force)
        else:
            yield number, line, False


def _by_dask(tasks: Tasks, versions: Versions, workers: Workers) -> Done:
    """Do jobs by Dask; a job whose worker is lost ends in an error."""
    client: Any = None
    at_once = 0
    futures: Any = ()
    going: dict[str, tuple[int, Job, float]] = {}

    def lost(job: Job, error: Exception, seconds: float) -> tuple[Line, bool]:
        if client.status != "running":
            error = ConnectionError("the scheduler is gone")
        kind, message = type(error).__name__, f"the worker that did this job was lost: {error}"
        if kind == "KilledWorker":
            message = "the workers that did this job died, perhaps as memory ran out; use fewer"
        return make_line(job, versions, failure(kind, message), 4, seconds), False

    def outcome(future: Any) -> tuple[int, Line, bool]:
        number, job, started = going.pop(future.key)
        try:
            return number, *future.result()
        except Exception as error:  # killed workers, lost connections, failing to unpickle
            return number, *lost(job, error, time.perf_counter() - started)

    with ExitStack() as stack:
        for number, job, line in tasks:
            if line is not None:
                yield number, line, False
                continue
            if client is None:
                client, at_once = stack.enter_context(workers())
                from distributed import as_completed

                futures = as_completed(loop=client.loop)
            try:
                future = client.submit(perform, job, versions, limits().force, pure=False)
            except Exception as error:  # of a client that is closed
                yield number, *lost(job, error, 0.0)
                continue
            going[future.key] = number, job, time.perf_counter()
            futures.add(future)
            if len(going) == at_once:
                yield outcome(next(futures))
        yield from map(outcome, futures)


# Where Dask does them ---------------------------------------------------------------------------------------

_CONNECT = 5.0
_FIRST_WORKER = 15.0
#: Files that are open for Dask: 25, and 12 for each process, where they were counted; with some to spare.
_FILES, _FILES_EACH = 64, 16
_IN_FLIGHT = 500  # jobs that the scheduler of a cluster holds at a time
_SETTINGS = {
    # A job that has taken two workers with it is given up; its neighbour on one of them is not.
    "distributed.scheduler.allowed-failures": 1,
    "distributed.nanny.pre-spawn-environ.OPENBLAS_NUM_THREADS": 1,
    "distributed.nanny.pre-spawn-environ.MKL_NUM_THREADS": 1,
    "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical",
}


@contextmanager
def local_processes(number: int) -> Iterator[tuple[Any, int]]:
    """Processes of this machine, each with one thread, that end with this context.

    Raises:
        InputError: if Dask is missing, or this process may not open as many files as they need.
    """
    with needs(f"--workers {number}", "Dask", "study"):
        import dask
        from distributed import Client, LocalCluster, WorkerPlugin
    _allow_files(_FILES + _FILES_EACH * number, number)

    class EndAtOnce(WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: object) -> None:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
            end_with_parent()

        def teardown(self, worker: object) -> None:
            os._exit(0)

    _silence()
    with ExitStack() as stack:
        folder = str(stack.enter_context(work_folder()))
        with _interrupts_held_back(), dask.config.set(_SETTINGS | {"temporary-directory": folder}):
            started = LocalCluster(
                n_workers=number,
                threads_per_worker=1,
                memory_limit=None,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                local_directory=folder,
                env={"TMPDIR": folder},
                silence_logs=logging.CRITICAL,
                security=importlib.util.find_spec("cryptography") is not None,
            )
            client = stack.enter_context(Client(stack.enter_context(started), set_as_default=False))
            client.register_plugin(EndAtOnce())
        yield client, number


def _silence() -> None:
    """Print nothing of Dask: a connection that is lost is told by the jobs that were lost with it."""
    for name in ("asyncio", "tornado.application", "distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _allow_files(needed: int, number: int) -> None:
    """Let this process open so many files, as far as it may say so itself."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY not in (allowed, most) and needed > most:
        raise InputError(
            f"--workers {number} needs {needed} open files, and only {most} are allowed; type ulimit -n "
            f"{needed} before, or use fewer workers"
        )
    if allowed != resource.RLIM_INFINITY and needed > allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, most))


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Threads and processes begun in here never see the interrupts of a terminal; this thread does later."""
    resource_tracker.ensure_running()  # when it begins by itself it lets them through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def cluster(address: str) -> Iterator[tuple[Any, int]]:
    """The workers of a Dask scheduler; agattn itself must be installed where they run.

    Raises:
        InputError: if Dask is missing, if no scheduler answers within seconds, or if it has no workers.
    """
    with needs("--scheduler", "Dask", "study"):
        from distributed import Client
    _silence()
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
        yield client, _IN_FLIGHT
    finally:
        client.close(timeout=_CONNECT)


async def _greet(address: str) -> None:
    """Ask a scheduler who it is. A client that finds none would go on trying when it is thrown away."""
    from distributed.core import rpc

    async with asyncio.timeout(_CONNECT), rpc(address) as scheduler:
        if (await scheduler.identity())["type"] != "Scheduler":
            raise ValueError(address)


# In Python --------------------------------------------------------------------------------------------------


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
) -> StudyLines:
    r"""Ask one question, or several, about all architectures of a grid.

    Args:
        grid: the path of a TOML file, or its text; ``agattn study --example`` prints one. Or the name of a
            grid that ships: ``"audit"``, every claim about small layers; ``"atlas"``, dimensions of small
            networks; ``"zoo"``, models of all kinds; ``"published"``, whole published models.
        workers: processes on this machine; 1 means this process alone.
        part: ``"K/N"``: only every N-th job, from the K-th on.
        keep: a folder in which finished jobs are kept and looked up; nothing is kept by default.
        fresh: look nothing up, but keep what is done.
        retry_undecided: do again what was undecided, or not proved.
        timeout, memory, seed: instead of those of the grid.
        force: go beyond the limits on the number of jobs and on their size.
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
    by_dask = partial(local_processes, workers) if workers > 1 else None
    cache = None if keep is None else Cache(Path(keep))
    lines = study(jobs, None, by_dask, cache, fresh=fresh, retry_open=retry_undecided)
    done = steps(lines, len(jobs), lambda line: str(subject_of(line["architecture"])))
    return StudyLines(tuple(done))
