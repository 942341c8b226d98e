"""``agattn ideal``."""

import json

import jsonschema
import pytest
from click.testing import CliRunner

from agattn.cli.ideal import command
from agattn.cli.output import schema_text


def run(*arguments):
    return CliRunner().invoke(command, list(arguments), catch_exceptions=False)


@pytest.mark.parametrize(
    "arguments",
    [("-d", "2", "-o", "1"), ("-d", "3", "-o", "2", "-a", "2"), ("-d", "2", "-o", "2", "-a", "1", "-t", "1"),
     ("-d", "768", "-o", "64", "-a", "64", "--max-degree", "3"), ("-d", "1", "-o", "2")],
)  # fmt: skip
def test_json_follows_the_schema(arguments):
    document = json.loads(run(*arguments, "--json").stdout)
    jsonschema.validate(document, json.loads(schema_text("ideal")))
    for piece in document["degrees"]:
        total = sum(m["dimension"] * m["ideal"] for m in piece["modules"])
        assert total == piece["ideal_dimension"]


def test_text_shows_the_resultant():
    shown = run("-d", "2", "-o", "1").stdout
    assert "M(2,1,2)" in shown
    assert "resultants of two forms of one row" in shown


def test_file_is_written(tmp_path):
    file = tmp_path / "equations.sing"
    run("-d", "2", "-o", "1", "-O", str(file), "--format", "singular")
    assert file.read_text().startswith("// Ideal of M(2,1,2) to degree 4: 1 quartic")


@pytest.mark.engine
def test_engine_methods_fill_the_same_schema():
    document = json.loads(run("-d", "2", "-o", "1", "--method", "macaulay2", "--json").stdout)
    jsonschema.validate(document, json.loads(schema_text("ideal")))
    assert [piece["minimal_generators"] for piece in document["degrees"]] == [0, 0, 0, 1]


@pytest.mark.engine
def test_completeness_is_reported():
    document = json.loads(run("-d", "2", "-o", "1", "--complete", "--json").stdout)
    jsonschema.validate(document, json.loads(schema_text("ideal")))
    assert document["complete"]["prime"] is True
