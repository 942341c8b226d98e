"""Where jobs are done: in this process, in processes of this machine, or on a cluster.

Each of the three is a context manager that gives an executor of ``concurrent.futures`` and the number of
jobs it should be given at a time; leaving it stops what still runs. Processes and clusters are Dask's.

>>> with in_this_process() as (executor, at_once):
...     executor.submit(pow, 2, 10).result(), at_once
(1024, 1)
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any

from agattn.engines.process import work_folder
from agattn.errors import InputError, needs
from agattn.workers import end_with_parent

Workers = AbstractContextManager[tuple[Executor, int]]

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


class _Here(Executor):
    """Does each job at once, in this process."""

    def submit(self, do: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(do(*arguments, **options))
        return future


@contextmanager
def in_this_process() -> Iterator[tuple[Executor, int]]:
    """Do one job after the other, here."""
    yield _Here(), 1


@contextmanager
def local_processes(number: int) -> Iterator[tuple[Executor, int]]:
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
            cluster = stack.enter_context(
                LocalCluster(
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
            )
            client = stack.enter_context(Client(cluster, set_as_default=False))
            client.register_plugin(EndAtOnce())
        yield client.get_executor(pure=False), number


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
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
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
        yield _OnCluster(client), _IN_FLIGHT
    finally:
        client.close(timeout=_CONNECT)


class _OnCluster(Executor):
    """Gives jobs to a client of Dask, and ends those with an error that wait when the scheduler is gone."""

    def __init__(self, client: Any) -> None:
        self._client, self._executor = client, client.get_executor(pure=False)
        self._pending: set[Future[Any]] = set()
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(self, do: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future = self._executor.submit(do, *arguments, **options)
        except Exception as error:  # of a client that is closed
            future.set_exception(error)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return future

    def _watch(self) -> None:
        while self._client.status != "closed":
            time.sleep(1)
        for future in [*self._pending]:
            with suppress(InvalidStateError):
                future.set_exception(ConnectionError("the scheduler is gone"))


async def _greet(address: str) -> None:
    """Ask a scheduler who it is. A client that finds none would go on trying when it is thrown away."""
    from distributed.core import rpc

    async with asyncio.timeout(_CONNECT), rpc(address) as scheduler:
        if (await scheduler.identity())["type"] != "Scheduler":
            raise ValueError(address)
