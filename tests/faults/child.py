"""Many cases in one process that may use little time and memory; one that hangs or is killed is counted."""

import gc
import os
import pickle
import resource
import signal
import sys
import tempfile
import threading

SECONDS, MEBIBYTES = 5, 1024  # of processor time, so that a busy machine makes no case a hang
WAITING = 60  # seconds on the clock
# Their threads hold locks that nothing releases in a fork.
THREADED = ("jax", "torch")
# The threads that may be there: the one that forks, and an idle one that distributed keeps for ever.
IDLE = ("MainThread", "Dask-Offload")


def outcomes(cases, judge, already=200):
    """What ``judge(case)`` returns for each case, or why it did not: such as "hang" or "memory".

    Args:
        cases: a list.
        judge: a function that returns text, or raises.
        already: MiB that this process may have before the first case.

    Raises:
        RuntimeError: if this process has threads or modules with which a fork may wait for ever.
    """
    refuse_threads()
    found, start = [], 0
    while start < len(cases):
        with tempfile.TemporaryFile() as told:
            pid = os.fork()
            if pid == 0:
                _work(cases[start:], judge, told, already)
            _, status = os.waitpid(pid, 0)
            told.seek(0)
            done = []
            while True:
                try:
                    done.append(pickle.load(told))
                except EOFError:
                    break
        found += done
        start += len(done)
        if start < len(cases) and status:
            died = os.waitstatus_to_exitcode(status)
            found.append("hang" if died in (-signal.SIGALRM, -signal.SIGPROF) else f"ended by {died}")
            start += 1
    return found


def refuse_threads():
    """Raise a RuntimeError that names what makes a fork of this process unsafe, if anything does."""
    found = [name for name in THREADED if name in sys.modules]
    found += [thread.name for thread in threading.enumerate() if not thread.name.startswith(IDLE)]
    if found:
        raise RuntimeError(
            f"a fork of this process may hang, because of {', '.join(found)}; run the test that has imported "
            "or started these in a process of its own"
        )


def _work(cases, judge, told, already):
    """Do the cases, and tell of each when it is done."""
    limit = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024 + already + 3 * MEBIBYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit * 2**20, limit * 2**20))
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)  # also where Python does not run, as in a library
    gc.freeze()  # what the parent holds is not gone through at each collection
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    try:
        for case in cases:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            signal.setitimer(signal.ITIMER_REAL, WAITING)
            try:
                outcome = judge(case)
            except BaseException as error:
                outcome = f"{type(error).__name__}: {error}"[:300]
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before > MEBIBYTES * 1024:
                outcome = f"memory ({outcome})"
            pickle.dump(outcome, told)
            told.flush()
    finally:
        os._exit(0)
