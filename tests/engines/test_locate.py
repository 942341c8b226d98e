import re

import pytest

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
def test_wheels_come_last_unless_they_are_named(fakes, engine, wheel, monkeypatch):
    assert [(i.path, i.found) for i in candidates(engine)] == [(wheel, "wheel")]
    fakes.write(engine.executable, "true")
    assert [i.found for i in candidates(engine)] == ["PATH", "wheel"]
    monkeypatch.setenv(engine.variable, str(wheel))  # which may choose the wheel
    assert [i.found for i in candidates(engine)] == [engine.variable, "PATH"]
    assert locate(engine).path == wheel
    monkeypatch.delenv(engine.variable)
    wheel.chmod(0o644)
    assert [i.found for i in candidates(engine)] == ["PATH"]


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
