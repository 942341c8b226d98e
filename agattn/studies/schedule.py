"""Who does the jobs: this process, worker processes, or the workers of a Dask cluster.

All three take jobs with a number, and give back numbers with outcomes, in whatever order. Leaving one as a
context manager stops what still runs.

>>> from agattn import SingleLayer
>>> from agattn.studies.jobs import versions_for
>>> with InThisProcess(versions_for("native")) as scheduler:
...     scheduler.submit(7, Job(SingleLayer(2, 1), "strata"))
...     number, outcome = scheduler.collect()
>>> number, outcome.result["dimension"]
(7, 5)
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import signal
import time
from collections.abc import Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Protocol, Self

from agattn.errors import InputError
from agattn.studies.jobs import Job, Outcome, Versions, perform

_GRACE = 5.0  # seconds in which a worker that is told to stop can stop its engines
_CONNECT = 5.0
_FIRST_WORKER = 15.0
_IN_FLIGHT = 500  # jobs that the scheduler of a cluster holds at a time


class Scheduler(Protocol):
    """Takes jobs, and gives back what came of them."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @property
    def busy(self) -> bool:
        """Whether some job was submitted and not yet collected."""
        ...

    @property
    def full(self) -> bool:
        """Whether one must be collected before the next is submitted."""
        ...

    def submit(self, number: int, job: Job) -> None:
        """Begin a job."""
        ...

    def collect(self) -> tuple[int, Outcome]:
        """Wait for a job to end; return its number and outcome."""
        ...


class InThisProcess:
    """Does each job here, when its outcome is asked for."""

    def __init__(self, versions: Versions, force: bool = False) -> None:
        self.versions, self.force = versions, force
        self._next: tuple[int, Job] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._next = None

    @property
    def busy(self) -> bool:
        """Whether a job waits."""
        return self._next is not None

    @property
    def full(self) -> bool:
        """The same: there is room for one."""
        return self.busy

    def submit(self, number: int, job: Job) -> None:
        """Remember a job."""
        self._next = number, job

    def collect(self) -> tuple[int, Outcome]:
        """Do it."""
        assert self._next is not None
        (number, job), self._next = self._next, None
        return number, perform(job, self.versions, self.force)


# Worker processes -------------------------------------------------------------------------------------------


class _Worker:
    """A process that does one job at a time, and the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), name="agattn-worker", daemon=True)
        with _interrupts_held_back():
            self.process.start()
        theirs.close()  # so that the pipe ends when the process does
        self.number: int | None = None
        self.started = 0.0

    def begin(self, number: int, *task: Any) -> None:
        self.number, self.started = number, time.perf_counter()
        # A process that died since its last job is found out by collecting.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send(task)

    def ended(self) -> str:
        """How a process that is no more came to its end."""
        self.process.join(_GRACE)
        code = self.process.exitcode
        if code is None or code >= 0:
            return f"it ended with exit status {code}"
        name = signal.Signals(-code).name
        return f"it was killed by {name}" + (", perhaps as memory ran out" if name == "SIGKILL" else "")


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """A process begun in here never sees the interrupts of the terminal; this one sees them afterwards."""
    resource_tracker.ensure_running()  # when it begins by itself it lets them through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(pipe: Connection) -> None:
    """Do jobs as they come, until the pipe ends or a signal says to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal; whoever gave the jobs decides
    signal.signal(signal.SIGTERM, _unwind)
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        while True:
            pipe.send(perform(*pipe.recv()))


def _unwind(*_: object) -> None:
    """Stop what is being done, and its engines, on the first signal; another could hit the cleaning up."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


class Workers:
    """Worker processes on this machine; one that dies takes only its own job with it.

    Each has at most one job, so that it is known which job a worker was at when it died. A new one takes its
    place.
    """

    def __init__(self, number: int, versions: Versions, force: bool = False) -> None:
        self.number, self.versions, self.force = number, versions, force
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for worker in self._workers:
            worker.pipe.close()  # ends one that waits for a job
            if worker.number is not None:
                worker.process.terminate()
        deadline = time.monotonic() + _GRACE
        for worker in self._workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()

    @property
    def busy(self) -> bool:
        """Whether a worker has a job."""
        return any(worker.number is not None for worker in self._workers)

    @property
    def full(self) -> bool:
        """Whether all have."""
        return sum(worker.number is not None for worker in self._workers) >= self.number

    def submit(self, number: int, job: Job) -> None:
        """Give a job to a worker that has none, or to a new one."""
        # One that was killed while it waited is no reason for an error.
        self._workers = [w for w in self._workers if w.number is not None or w.process.is_alive()]
        idle = next((worker for worker in self._workers if worker.number is None), None)
        if idle is None:
            idle = _Worker()
            self._workers.append(idle)
        idle.begin(number, job, self.versions, self.force)

    def collect(self) -> tuple[int, Outcome]:
        """Wait for a worker to finish, or to die."""
        working = {worker.pipe: worker for worker in self._workers if worker.number is not None}
        worker = working[next(pipe for pipe in wait(list(working)) if isinstance(pipe, Connection))]
        number = worker.number
        assert number is not None
        try:
            outcome: Outcome = worker.pipe.recv()
        except (EOFError, OSError):
            self._workers.remove(worker)
            worker.pipe.close()
            message = f"the worker that did this job died: {worker.ended()}"
            outcome = Outcome.failed("WorkerDied", message, 4, time.perf_counter() - worker.started)
        worker.number = None
        return number, outcome


# A cluster --------------------------------------------------------------------------------------------------


async def _greet(address: str) -> None:
    """Ask a scheduler who it is. A client that finds none would go on trying when it is thrown away."""
    from distributed.core import rpc

    async with asyncio.timeout(_CONNECT), rpc(address) as scheduler:
        if (await scheduler.identity())["type"] != "Scheduler":
            raise ValueError(address)


class Cluster:
    """The workers of a Dask scheduler.

    What travels is the job and the versions; agattn itself must be installed where the workers run.

    Raises:
        InputError: if Dask is missing, if no scheduler answers within seconds, or if it has no workers.
    """

    def __init__(self, address: str, versions: Versions, force: bool = False) -> None:
        self.versions, self.force = versions, force
        try:
            from distributed import Client, as_completed
        except ImportError as error:
            raise InputError(
                "--scheduler needs Dask; install it with: pip install 'agattn[study]'"
            ) from error
        try:
            asyncio.run(_greet(address))
            self._client = Client(address, timeout=_CONNECT, set_as_default=False)
        except Exception as error:  # nothing, silence, or something else that answers: each fails in its way
            raise InputError(
                f"no Dask scheduler answers at {address[:200]!r} within {_CONNECT:g} s; start one with "
                "dask scheduler, which prints its address"
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=_FIRST_WORKER)
        except TimeoutError as error:
            self._client.close()
            raise InputError(
                f"the scheduler at {address} has no workers; start some with: dask worker {address}"
            ) from error
        self._finished = as_completed(loop=self._client.loop)
        self._numbers: dict[Any, tuple[int, float]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._numbers:
            self._client.cancel(list(self._numbers))
        self._client.close(timeout=_CONNECT)

    @property
    def busy(self) -> bool:
        """Whether the scheduler has a job of ours."""
        return bool(self._numbers)

    @property
    def full(self) -> bool:
        """Whether it has so many that more would only wait there."""
        return len(self._numbers) >= _IN_FLIGHT

    def submit(self, number: int, job: Job) -> None:
        """Send a job."""
        future = self._client.submit(perform, job, self.versions, self.force, pure=False)
        self._numbers[future] = number, time.perf_counter()
        self._finished.add(future)

    def collect(self) -> tuple[int, Outcome]:
        """Wait for a job to end, or for its worker to be lost for good."""
        future = next(self._finished)
        number, started = self._numbers.pop(future)
        try:
            outcome: Outcome = future.result()
        except Exception as error:  # killed workers, lost connections, failing to unpickle: Dask has many
            message = f"the worker that did this job was lost: {error}"
            outcome = Outcome.failed(type(error).__name__, message, 4, time.perf_counter() - started)
        return number, outcome
