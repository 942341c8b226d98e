"""Fixtures: the engines found on this machine, engines that misbehave, and a browser."""

import gc
import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from installed import FOUND, require

import agattn
from agattn.engines.catalogue import ENGINES
from agattn.workers import one_blas_thread

# The clone is tested, here and in every process that a test starts, and never an installed copy of it.
ROOT = Path(__file__).parents[1]
if Path(agattn.__file__).parent != ROOT / "agattn":
    pytest.exit(
        f"agattn was imported from {agattn.__file__}; run the tests by: python -m pytest", returncode=4
    )
# The workers need the cores for themselves.
one_blas_thread()
# Hundreds of processes are started: they share bytecode, also where the environment says to write none.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Output is compared as a pipe has it, whatever the width of the terminal in which the tests were started.
os.environ.pop("COLUMNS", None)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))

settings.register_profile("agattn", max_examples=40, deadline=None)
settings.load_profile("agattn")


# Tests are collected as very many objects that stay: no garbage is looked for among them, then or later.
gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item):
    """A test that starts engines in other processes names them: ``@pytest.mark.engine("singular")``."""
    for mark in item.iter_markers("engine"):
        for name in mark.args:
            require(name)


def _parameters(name):
    """The installations of an engine, each with its name; the name alone where there is none."""
    return [
        pytest.param((name, i), id=f"{name}-{i.version if i else 'missing'}", marks=pytest.mark.engine)
        for i in FOUND[name] or [None]
    ]


@pytest.fixture(params=_parameters("macaulay2"))
def macaulay2(request):
    return require(*request.param)


@pytest.fixture(params=_parameters("singular"))
def singular(request):
    return require(*request.param)


@pytest.fixture(params=_parameters("msolve"), scope="session")
def msolve_installation(request):
    return require(*request.param)


@pytest.fixture(params=[*_parameters("macaulay2"), *_parameters("singular")])
def engine_installation(request):
    """Of the engines that can be asked everything."""
    return require(*request.param)


@pytest.fixture
def both_engines():
    """The preferred installations of Macaulay2 and Singular, in the order in which reports name them."""
    return [require(name) for name in ENGINES if name != "msolve"]


@pytest.fixture
def all_engines(both_engines, msolve_installation):
    return [*both_engines, msolve_installation]


class FakeEngines:
    """Programs named M2 and Singular that stand alone on PATH and misbehave as told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, body: str, *, version: str = "9.9.9") -> Path:
        """A shell script that states a version when asked, and otherwise does ``body``.

        The name of the script file it is to run is in ``$script``.
        """
        path = self.folder / name
        path.write_text(
            "#!/bin/sh\n"
            f'case "$*" in *--version*) echo {version}; exit 0;; esac\n'
            'for script in "$@"; do :; done\n'
            f"PATH=/usr/bin:/bin; {body}\n"
        )
        path.chmod(0o755)
        return path

    def write_python(self, name: str, body: str) -> Path:
        """The same in Python; the text of the script it is to run is in ``script``."""
        program = self.folder / f"{name}.py"
        program.write_text(f"import sys\nscript = open(sys.argv[-1]).read()\n{body}\n")
        return self.write(name, f'exec "{sys.executable}" "{program}" "$script"')


@pytest.fixture
def fakes(tmp_path, monkeypatch):
    """The only engines there are: none until the test writes one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for engine in ENGINES.values():
        monkeypatch.delenv(engine.variable, raising=False)
    # The wheels lie in the environment, not on PATH.
    monkeypatch.setattr("agattn.engines.locate.sysconfig.get_path", lambda name: str(tmp_path / "nowhere"))
    monkeypatch.setattr("site.ENABLE_USER_SITE", False)
    return FakeEngines(folder)


FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-unsafe-swiftshader",
]  # fmt: skip


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """A browser without a network."""
    path = shutil.which("chromium")
    if path is None:
        reason = "chromium was not found; apt-get install chromium"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        profile = tmp_path_factory.mktemp("profile")
        context = driver.chromium.launch_persistent_context(profile, executable_path=path, args=FLAGS)
        context.set_offline(True)
        yield context
        context.close()
