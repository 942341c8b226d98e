"""Worker processes and threads: results in order, errors as they were, and nothing left behind."""

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from command_line import call, run

from agattn.errors import InputError
from agattn.limits import limited, limits
from agattn.workers import KilledWorker, number_of_workers, processes, processors, spread, threads


def slowest_first(n):
    time.sleep(0.2 if n == 0 else 0)
    return n * n


def test_results_of_processes_come_in_order():
    with processes(2) as pool:
        assert [*pool.map(slowest_first, range(9))] == [n * n for n in range(9)]
        assert [*pool.map(abs, [])] == []


def held(_):
    return limits().seed, limits().force, limits().workers, os.environ["OPENBLAS_NUM_THREADS"]


def test_what_holds_here_holds_there_and_each_works_alone():
    with limited(seed=7, force=True, progress=lambda step: None), processes(1) as pool:
        assert [*pool.map(held, [0])] == [(7, True, 1, "1")]


def refuses(n):
    raise InputError(f"{n} is none")


def dies(n):
    if n == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def dies_once(path):
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def test_errors_come_back_and_a_process_that_dies_takes_only_its_call_with_it(tmp_path):
    with processes(2) as pool:
        with pytest.raises(InputError, match="3 is none"):
            [*pool.map(refuses, [3])]
        futures = [pool.submit(dies, n) for n in (0, 1)]
        assert {pool.next_done(), pool.next_done()} == {*futures}
        assert futures[0].result() != os.getpid()
        with pytest.raises(KilledWorker, match="workers died"):
            futures[1].result()
        assert [*pool.map(dies_once, [tmp_path / "died"])] == ["done"]
        assert len({*pool.map(dies, [0, 0, 0])}) <= 2
    assert not multiprocessing.active_children()


def test_leaving_ends_what_is_under_way():
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt), processes(2) as pool:
        pool.submit(time.sleep, 60)
        raise KeyboardInterrupt
    assert time.monotonic() - begun < 30 and not multiprocessing.active_children()


def test_a_script_needs_no_guard():
    """Processes that begin do not run the script of the one that starts them."""
    code = "from agattn.workers import processes\nwith processes(2) as pool:\n"
    code += "    print(*pool.map(abs, [-1, 2, -3]))\nimport sys; assert sys.modules['__main__'].pool is pool"
    assert run(code=code) == (0, "1 2 3\n", "")


def test_long_work_is_for_all_processors_unless_they_are_shared(monkeypatch):
    assert number_of_workers(1.0) == 1 and number_of_workers(3.0) == processors()
    with limited(workers=5):
        assert number_of_workers(0.0) == number_of_workers(9.0) == 5
    with processes(1) as pool:
        assert [*pool.map(_processors, [0])] == [1]


def _processors(_):
    return processors()


# Threads


def test_results_of_threads_come_in_order_and_few_pieces_are_taken_before():
    taken, gate = list[int](), threading.Event()

    def pieces():
        for n in range(9):
            taken.append(n)
            yield n

    def square(n):
        assert gate.wait(10)
        return n * n

    with limited(workers=2), threads(0.0):
        results = spread(square, pieces())
        threading.Timer(0.1, gate.set).start()
        assert next(results) == 0 and len(taken) == 3
        assert [*results] == [n * n for n in range(1, 9)]


def test_only_long_work_is_spread():
    def thread(_):
        return threading.current_thread()

    def names(seconds):
        with threads(seconds):
            return {*spread(thread, range(4))}

    assert names(1.0) == {threading.main_thread()}
    assert (threading.main_thread() in names(3.0)) == (processors() == 1)
    with limited(workers=1):
        assert names(3.0) == {threading.main_thread()}


def test_limits_hold_in_threads_and_a_piece_is_not_spread_again():
    def inside(_):
        with threads(9.0):
            here = {*spread(lambda _: threading.current_thread(), range(4))}
        return limits().seed, here == {threading.current_thread()}

    with limited(workers=2, seed=7), threads(0.0):
        assert [*spread(inside, range(3))] == [(7, True)] * 3


def test_an_error_in_a_piece_ends_the_others():
    done = []

    def do(n):
        done.append(n)
        return 1 // n

    with pytest.raises(ZeroDivisionError), limited(workers=2), threads(0.0):
        list(spread(do, range(1000)))
    assert len(done) < 10


# Numbers that cannot be used


def test_no_worker_is_refused_and_in_a_shell_one_is_used():
    with pytest.raises(InputError, match="0 workers do nothing; give 1 or more, or leave workers out"):
        limited(workers=0).__enter__()
    ended = call("ideal 2 1 --workers 0")
    assert ended.status == 0 and ended.err == "0 workers do nothing; 1 is used\n"
    assert ended.out == call("ideal 2 1").out
