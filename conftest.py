"""What every test and doctest shares: which run only with ``--all``, and doctests that start an engine."""

import doctest
import gc
import os

import pytest
from _pytest.doctest import DoctestItem, MultipleDoctestFailures

from agattn.errors import EngineNotFoundError

LEFT_OUT = "slow tests left out"  # the key of their number in what a worker tells
_NUMBER = pytest.StashKey[int]()


def pytest_addoption(parser):
    """Add the option ``--all``."""
    parser.addoption("--all", action="store_true", help="run the tests that are marked slow, too")


def _is_left_out(item, named):
    """Whether a test runs only with ``--all``: it is marked slow, and the command line does not name it."""
    return item.get_closest_marker("slow") is not None and not item.nodeid.startswith(named)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """One worker more than there are cores: engines, browsers and limits on time are waited for."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(config, items):
    """Begin with what takes longest, and leave slow tests out.

    Where tests are given by name, by ``FILE::TEST``, these run in any case.
    """
    items.sort(key=lambda item: "site" not in getattr(item, "fixturenames", ()))  # two minutes for the first
    if config.getoption("--all"):
        return
    named = tuple(word for word in config.args if "::" in word)
    slow = [item for item in items if _is_left_out(item, named)]
    items[:] = [item for item in items if not _is_left_out(item, named)]
    config.hook.pytest_deselected(items=slow)
    config.stash[_NUMBER] = len(slow)
    if hasattr(config, "workeroutput"):  # a worker of pytest-xdist
        config.workeroutput[LEFT_OUT] = len(slow)


def pytest_collection_finish():
    """What is there before the first test is there until the last: garbage is not looked for in it."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    """Take over what a worker tells: each of them collects all tests, so the numbers are alike."""
    node.config.stash[_NUMBER] = getattr(node, "workeroutput", {}).get(LEFT_OUT, 0)


def pytest_terminal_summary(terminalreporter, config):
    """Say how many tests were left out."""
    number = config.stash.get(_NUMBER, 0)
    if number:
        terminalreporter.write_line(f"{number} {LEFT_OUT}; run them, too: python -m pytest --all")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Skip a doctest that first fails for want of an engine; what fails after that follows from it."""
    if not isinstance(item, DoctestItem) or os.environ.get("CI"):
        return (yield)
    try:
        return (yield)
    except (MultipleDoctestFailures, doctest.UnexpectedException) as error:
        first = error.failures[0] if isinstance(error, MultipleDoctestFailures) else error
        missing = first.exc_info[1] if isinstance(first, doctest.UnexpectedException) else None
        if not isinstance(missing, EngineNotFoundError):
            raise
        pytest.skip(str(missing))
