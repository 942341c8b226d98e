"""A study: jobs looked up or done, and their lines in the order of the jobs.

>>> from agattn import SingleLayer
>>> from agattn.studies.jobs import versions_for
>>> from agattn.studies.schedule import InThisProcess
>>> jobs, versions = [Job(SingleLayer(d, 1), "strata") for d in (3, 2)], versions_for("native")
>>> lines = study(jobs, versions, lambda: InThisProcess(versions))
>>> [(line["architecture"]["d"], line["result"]["dimension"], line["cached"]) for line in lines]
[(3, 11, False), (2, 5, False)]
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

from agattn.studies.cache import Cache
from agattn.studies.jobs import Job, Versions
from agattn.studies.lines import Line, is_open, make_line
from agattn.studies.schedule import Scheduler


def study(
    jobs: Sequence[Job],
    versions: Versions,
    scheduler: Callable[[], Scheduler],
    cache: Cache | None = None,
    *,
    fresh: bool = False,
    retry_open: bool = False,
    finished: Callable[[Line], None] = lambda line: None,
) -> Generator[Line, None, None]:
    """Do jobs, and yield their lines in order, each as soon as it and all before it are done.

    Args:
        jobs: the jobs.
        versions: of what does them.
        scheduler: makes what does them; called when there is a first job to do.
        cache: where finished jobs are looked up and kept; ``None`` for nowhere.
        fresh: look nothing up.
        retry_open: do again what was undecided, or not proved.
        finished: called with each line as soon as it is there, in whatever order.

    Raises:
        InputError: if a result cannot be kept, or the scheduler cannot be reached.
    """
    ready: dict[int, Line] = {}
    following = 0
    running: Scheduler | None = None

    def done(number: int, line: Line) -> None:
        ready[number] = line
        finished(line)

    def collect(running: Scheduler) -> None:
        number, outcome = running.collect()
        line = make_line(jobs[number], versions, outcome)
        if cache is not None and outcome.is_lasting:
            cache.put({name: value for name, value in line.items() if name != "cached"})
        done(number, line)

    def in_order() -> Iterator[Line]:
        nonlocal following
        while following in ready:
            yield ready.pop(following)
            following += 1

    try:
        for number, job in enumerate(jobs):
            known = None if cache is None or fresh else cached_line(cache, job, versions, retry_open)
            if known is not None:
                done(number, known)
            else:
                if running is None:
                    running = scheduler().__enter__()
                while running.full:
                    collect(running)
                    yield from in_order()
                running.submit(number, job)
            yield from in_order()
        while running is not None and running.busy:
            collect(running)
            yield from in_order()
    finally:
        if running is not None:
            running.__exit__(None, None, None)


def cached_line(cache: Cache, job: Job, versions: Versions, retry_open: bool = False) -> Line | None:
    """The line of a job done before; ``None`` if there is none, or it shall be done again."""
    line = cache.get(job.key(versions))
    if line is None or (retry_open and is_open(line)):
        return None
    return {**line, "cached": True}
