"""Doctests that start an engine: without it they are skipped, and in continuous integration they fail."""

import doctest
import os

import pytest
from _pytest.doctest import DoctestItem, MultipleDoctestFailures

from agattn.errors import EngineNotFoundError


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
