"""The engines of this machine; without one a test is skipped, and in continuous integration it fails."""

import os
from functools import cache

import pytest

from agattn.engines.catalogue import ENGINES
from agattn.engines.locate import INSTALL, candidates
from agattn.errors import EngineNotFoundError


def _installed(engine):
    try:
        return candidates(engine)
    except EngineNotFoundError:
        return []


# Every installation is tested, so that older versions are too where there are some.
FOUND = {name: _installed(engine) for name, engine in ENGINES.items()}


@cache
def _trouble(installation):
    """Why a program that is there cannot be used, or nothing: such as one built for other processors."""
    problem = installation.problem()
    return problem and f"{installation.engine.title} does not run here: {problem}"


def require(name, installation=None):
    """An installation of an engine that runs, the preferred one unless one is given; else skip the test."""
    installation = installation or next(iter(FOUND[name]), None)
    if installation is None:
        reason = f"{ENGINES[name].title} was not found; {INSTALL}"
    else:
        reason = _trouble(installation)
    if not reason:
        return installation
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
