"""The declaration of an engine: what is missing is named when the file of the engine is imported."""

import shutil
import subprocess
import sys
from dataclasses import MISSING, fields

import pytest

from agattn import evidence
from agattn.engines.catalogue import ENGINES, MACAULAY2, MSOLVE, SINGULAR
from agattn.engines.engine import MACROS, TEMPLATES, Engine
from agattn.systems.catalogue import MODEL_TASKS, TASKS

NEEDED = [field.name for field in fields(Engine) if field.default is MISSING]


def declared(**changes):
    """What Macaulay2 declares, with changes; without what is changed to ``None``."""
    said = {field.name: getattr(MACAULAY2, field.name) for field in fields(Engine)} | changes
    return {name: value for name, value in said.items() if value is not None}


@pytest.fixture
def templates(tmp_path):
    """A copy of the templates of Macaulay2."""
    return shutil.copytree(MACAULAY2.templates, tmp_path / "templates")


@pytest.mark.parametrize("name", NEEDED)
def test_what_is_not_declared_is_named(name):
    known = declared()
    assert Engine(**known) == MACAULAY2
    del known[name]
    with pytest.raises(TypeError, match=rf"^the engine {known.get('name', 'without a name')} .* no {name}$"):
        Engine(**known)


def test_a_file_with_an_incomplete_declaration_cannot_be_imported(tmp_path):
    text = (TEMPLATES.parent / "programs" / "singular.py").read_text(encoding="utf-8")
    assert "    read=read_block,\n" in text
    (tmp_path / "silent.py").write_text(text.replace("    read=read_block,\n", ""))
    ended = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import silent"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert ended.stderr.splitlines()[-1] == "TypeError: the engine singular declares no read"


def test_a_template_that_is_missing_is_named(templates):
    assert Engine(**declared(templates=templates)).has_script("slice")
    (templates / "slice.m2.j2").unlink()
    with pytest.raises(TypeError, match=r"^the engine macaulay2 has no slice\.m2\.j2 in /"):
        Engine(**declared(templates=templates))
    left = tuple(form for form in MACAULAY2.tasks if form != "slice")
    assert not Engine(**declared(templates=templates, tasks=left)).has_script("slice")
    (templates / "common.j2").unlink()
    with pytest.raises(TypeError, match=r"^the engine macaulay2 has no common\.j2 in /"):
        Engine(**declared(templates=templates, tasks=left))


def test_a_template_of_no_task_is_named(templates):
    (templates / "tonic.m2.j2").write_text("answer = {}\n")
    with pytest.raises(TypeError, match=r"names no task of its template tonic\.m2\.j2$"):
        Engine(**declared(templates=templates))


@pytest.mark.parametrize("macro", MACROS)
def test_a_macro_that_is_missing_is_named(templates, macro):
    common = templates / "common.j2"
    common.write_text(common.read_text().replace(f"macro {macro}(", f"macro no_{macro}("))
    with pytest.raises(TypeError, match=rf"has no macro {macro} in its common\.j2$"):
        Engine(**declared(templates=templates))


def test_the_tasks_of_engines_are_those_that_there_are():
    forms = {*TASKS, *(task.template for task in MODEL_TASKS.values()), "complete-ideal"}
    assert set(MACAULAY2.tasks) == set(SINGULAR.tasks) == forms
    assert set(MSOLVE.tasks) < forms
    assert all(len(set(engine.tasks)) == len(engine.tasks) for engine in ENGINES.values())


def test_documents_know_the_names():
    assert tuple(ENGINES) == evidence.ENGINES
