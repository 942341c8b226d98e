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

from agattn import errors
from agattn.experiments.studies.cache import Cache
from agattn.experiments.studies.jobs import Job, Line, Versions, failure, make_line, perform, versions_for
from agattn.experiments.studies.lines import Entry, is_open
from agattn.experiments.studies.workers import Workers, in_this_process


def study(
    jobs: Sequence[Job],
    versions: Versions | None = None,
    workers: Callable[[], Workers] = in_this_process,
    cache: Cache | None = None,
    *,
    fresh: bool = False,
    retry_open: bool = False,
    force: bool = False,
    finished: Callable[[Line], None] = lambda line: None,
) -> Generator[Line, None, None]:
    """Do jobs, and yield their lines in order, each as soon as it and all before it are done.

    Args:
        versions: of what does them; found out here if they are not given.
        workers: one of :mod:`agattn.experiments.studies.workers`; entered when there is a first job to do.
        cache: where finished jobs are looked up and kept; ``None`` for nowhere.
        fresh: look nothing up.
        retry_open: do again what was undecided, or not proved.
        force: do also what is beyond the limits on size.
        finished: called with each line as soon as it is there, in whatever order.

    Raises:
        InputError: if a result cannot be kept, or the workers cannot be reached.
    """
    if versions is None:
        versions = versions_for(jobs[0].engine) if jobs else {}
    ready: dict[int, Line] = {}
    following = 0
    pending: dict[Future[tuple[Line, bool]], tuple[int, float]] = {}
    place: tuple[Executor, int] | None = None

    def done(number: int, line: Line) -> None:
        ready[number] = line
        finished(line)

    def collect(at_most: int) -> None:
        """Wait until no more than some jobs are pending."""
        while len(pending) > at_most:
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                number, started = pending.pop(future)
                try:
                    line, lasting = future.result()
                except Exception as error:  # killed workers, lost connections, failing to unpickle
                    kind, message = type(error).__name__, f"the worker that did this job was lost: {error}"
                    if kind == "KilledWorker":
                        message = "the workers that did this job died, perhaps as memory ran out; use fewer"
                    seconds = time.perf_counter() - started
                    line = make_line(jobs[number], versions, failure(kind, message), 4, seconds)
                    lasting = False
                if cache is not None and lasting:
                    cache.put({name: value for name, value in line.items() if name != "cached"})
                done(number, line)

    def in_order() -> Iterator[Line]:
        nonlocal following
        while following in ready:
            yield ready.pop(following)
            following += 1

    with ExitStack() as stack:
        for number, job in enumerate(jobs):
            known = None if cache is None or fresh else cached_line(cache, job, versions, retry_open)
            if known is not None:
                done(number, known)
            else:
                if place is None:
                    if cache is not None:
                        cache.open()
                    place = stack.enter_context(workers())
                executor, at_once = place
                pending[executor.submit(perform, job, versions, force)] = number, time.perf_counter()
                collect(at_once - 1)
            yield from in_order()
        while pending:
            collect(len(pending) - 1)
            yield from in_order()


def answers(
    jobs: Sequence[Job], *, force: bool = False, progress: Callable[[str], None] = lambda message: None
) -> tuple[Entry, ...]:
    """Do jobs in this process, and return what came out; nothing is looked up or kept.

    Args:
        force: do also what is beyond the limits on size.
        progress: called with the architecture of each job when it is done.

    Raises:
        AgattnError: if a job ends in an error.
    """
    found = []
    for line in study(jobs, force=force):
        if "error" in line:
            raise getattr(errors, line["error"]["type"], errors.AgattnError)(line["error"]["message"])
        found.append(Entry(line))
        progress(str(found[-1].architecture))
    return tuple(found)


def cached_line(cache: Cache, job: Job, versions: Versions, retry_open: bool = False) -> Line | None:
    """The line of a job done before; ``None`` if there is none, or it shall be done again."""
    line = cache.get(job.key(versions))
    if line is None or (retry_open and is_open(line)):
        return None
    return {**line, "cached": True}
