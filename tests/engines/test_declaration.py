"""The declarations of engines, and their templates."""

import re

import pytest

from agattn import evidence
from agattn.engines.catalogue import ENGINES, TEMPLATES, Engine


def test_what_is_not_declared_is_named():
    with pytest.raises(TypeError, match=r"missing .* arguments: 'title', .*'suffix'.* and 'written'$"):
        Engine(name="magma", executable="magma")


def test_documents_know_the_names():
    assert tuple(ENGINES) == evidence.ENGINES


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_every_engine_says_how_scripts_begin_and_end(engine):
    common = (TEMPLATES / engine.name / "common.j2").read_text(encoding="utf-8")
    assert {"start", "show", "machine", "close"} <= set(re.findall(r"macro (\w+)\(", common))


def test_there_are_no_templates_but_those_of_tasks():
    files = {path.relative_to(TEMPLATES) for path in TEMPLATES.rglob("*.j2")}
    tasks = {f"{engine.name}/{engine.template(task)}" for engine in ENGINES.values() for task in engine.tasks}
    assert {str(file) for file in files} - tasks == {"script.j2", *(f"{name}/common.j2" for name in ENGINES)}
