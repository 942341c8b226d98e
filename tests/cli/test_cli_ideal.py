"""``agattn ideal``."""

import pytest
from command_line import call, document


@pytest.mark.parametrize(
    "arguments",
    [("-d", "2", "-o", "1"), ("-d", "3", "-o", "2", "-a", "2"), ("-d", "2", "-o", "2", "-a", "1", "-t", "1"),
     ("-d", "768", "-o", "64", "-a", "64", "--max-degree", "3"), ("-d", "1", "-o", "2")],
)  # fmt: skip
def test_json_follows_the_schema(arguments):
    for piece in document("ideal", *arguments)["degrees"]:
        total = sum(m["dimension"] * m["ideal"] for m in piece["modules"])
        assert total == piece["ideal_dimension"]


def test_text_shows_the_resultant():
    shown = call("ideal", "-d", "2", "-o", "1").out
    assert "M(2,1,2)" in shown
    assert "resultants of two forms of one row" in shown


def test_file_is_written(tmp_path):
    file = tmp_path / "equations.sing"
    call("ideal", "-d", "2", "-o", "1", "-O", file, "--format", "singular")
    assert file.read_text().startswith("// Ideal of M(2,1,2) to degree 4: 1 quartic")


@pytest.mark.engine
def test_engine_methods_fill_the_same_schema():
    found = document("ideal", "-d", "2", "-o", "1", "--method", "macaulay2")
    assert [piece["minimal_generators"] for piece in found["degrees"]] == [0, 0, 0, 1]


@pytest.mark.engine
def test_completeness_is_reported():
    assert document("ideal", "-d", "2", "-o", "1", "--complete")["complete"]["prime"] is True
