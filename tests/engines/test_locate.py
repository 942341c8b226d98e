import os
import re
import subprocess
import sys

import pytest
from command_line import ROOT

from agattn.engines.catalogue import ENGINES, MACAULAY2, SINGULAR
from agattn.engines.locate import INSTALL, candidates, locate
from agattn.errors import EngineNotFoundError, EngineVariableError

engines = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)


@engines
def test_none_found_names_the_install_line(fakes, engine):
    assert candidates(engine) == []
    with pytest.raises(EngineNotFoundError) as raised:
        locate(engine)
    message = str(raised.value)
    assert (
        engine.title in message and engine.variable in message and INSTALL in message and "\n" not in message
    )


@engines
def test_found_on_path(fakes, engine):
    path = fakes.write(engine.executable, "true", version="Version 3.14.15 of something")
    found = locate(engine)
    assert (found.path, found.found, found.version) == (path, "PATH", "3.14.15")
    assert str(found) == f"{engine.name} 3.14.15"


@engines
def test_the_environment_variable_comes_first(fakes, engine, monkeypatch):
    fakes.write(engine.executable, "true")
    other = fakes.write("another", "true", version="1.2")
    monkeypatch.setenv(engine.variable, str(other))
    on_path = fakes.folder / engine.executable
    assert [(i.path, i.found) for i in candidates(engine)] == [(other, engine.variable), (on_path, "PATH")]
    monkeypatch.setenv(engine.variable, "another")  # a name is looked up on PATH
    assert locate(engine).path == other


@engines
def test_one_program_is_listed_once(fakes, engine, monkeypatch):
    path = fakes.write(engine.executable, "true")
    link = fakes.folder / "link"
    link.symlink_to(path)
    monkeypatch.setenv(engine.variable, str(link))
    assert [i.found for i in candidates(engine)] == [engine.variable]


@pytest.fixture
def wheel(fakes, engine, tmp_path):
    """A program where the wheel of an engine puts it."""
    path = tmp_path / "nowhere" / "sage_wheels" / "bin" / engine.executable
    path.parent.mkdir(parents=True)
    return fakes.write(engine.executable, "true").rename(path)


@engines
def test_wheels_come_last(fakes, engine, wheel):
    assert [(i.path, i.found) for i in candidates(engine)] == [(wheel, "wheel")]
    fakes.write(engine.executable, "true")
    assert [i.found for i in candidates(engine)] == ["PATH", "wheel"]
    wheel.chmod(0o644)
    assert [i.found for i in candidates(engine)] == ["PATH"]


@engines
def test_the_variable_may_choose_the_wheel(fakes, engine, wheel, monkeypatch):
    fakes.write(engine.executable, "true")
    monkeypatch.setenv(engine.variable, str(wheel))
    on_path = fakes.folder / engine.executable
    assert [(i.path, i.found) for i in candidates(engine)] == [(wheel, engine.variable), (on_path, "PATH")]


@engines
def test_a_variable_that_names_no_program_is_an_error(fakes, engine, monkeypatch):
    fakes.write(engine.executable, "true")
    monkeypatch.setenv(engine.variable, "/no/such/program")
    with pytest.raises(EngineVariableError, match=f"{engine.variable} is '/no/such/program'"):
        locate(engine)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("echo agattn-ok", None),
        ("echo something else", "did not print what it was asked to, and ended with exit status 0"),
        ("exit 3", "exit status 3"),
        ("kill -9 $$", "killed by signal 9"),
    ],
)
def test_one_line_is_run(fakes, body, problem):
    fakes.write("Singular", body)
    found = locate(SINGULAR).problem()
    assert found is None if problem is None else problem in found


def test_a_program_without_a_version(fakes):
    path = fakes.write("M2", "true", version="none")
    assert locate(MACAULAY2).version == "unknown"
    path.write_text("not a program")
    assert locate(MACAULAY2).problem() is not None


def test_every_installation_works_and_states_its_version(engine_installation, msolve_installation):
    for found in (engine_installation, msolve_installation):
        assert found.problem() is None and re.fullmatch(r"\d+\.\d[.\d]*", found.version)


HIDDEN = "from agattn.engines import locate\nlocate.candidates = lambda engine: []\n"
#: A test by a fixture with other parameters, one by a mark, one with both, and a doctest.
ASKING = [
    "tests/engines/test_tangent_cone.py::test_tangent_cones",
    "tests/faults/test_faults.py::test_damaged_answers_never_decide_wrongly",
    "tests/systems/test_model_tasks.py::test_part_of_the_ideal_is_what_the_ideal_has_in_these_degrees",
    "agattn/engines/msolve.py::agattn.engines.msolve",
]


@pytest.mark.slow
@pytest.mark.parametrize("ci", ["", "true"])
def test_without_engines_tests_are_skipped_with_the_reason_but_not_in_ci(tmp_path, ci):
    (tmp_path / "hidden.py").write_text(HIDDEN)
    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "hidden", "-p", "no:cacheprovider", *ASKING],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": path, "CI": ci}, capture_output=True, text=True,
    )  # fmt: skip
    said = ended.stdout
    if ci:
        assert ended.returncode == 1 and "skipped" not in said and "passed" not in said, said
    else:
        assert ended.returncode == 0 and said.splitlines()[-1].startswith("7 skipped"), said
        assert "Singular was not found" in said and "msolve was not found" in said
