from pathlib import Path

import pytest
from command_line import call, document
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import SingleLayer
from agattn.experiments.studies.audit import audit, describe, words
from agattn.reports.pages import audit_page

PAGE = Path(__file__).parents[3] / "docs" / "experiments" / "audit.md"
GRID = [SingleLayer(d, o, a) for d in (1, 2, 3, 4) for o in (1, 2, 3) for a in range(1, d + 1)]


def table_rows(text):
    return [line for line in text.splitlines() if line.startswith("| (") and "d" not in line]


def test_a_part_of_the_published_table_is_regenerated():
    rows = table_rows(audit_page(audit(2, 2)))
    shapes = ["1,1,1", "1,2,1", "2,1,1", "2,1,2", "2,2,1", "2,2,2"]
    assert [row.split(" |")[0] for row in rows] == [f"| ({shape})" for shape in shapes]
    published = table_rows(PAGE.read_text(encoding="utf-8"))
    assert set(rows) <= set(published)


@pytest.mark.slow
def test_the_published_page_is_what_the_command_writes(tmp_path):
    path = tmp_path / "audit.md"
    assert call("audit", "--max-d", "4", "--max-out", "4", "-O", path).status == 1
    assert path.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


def test_where_the_paper_fails():
    table = audit(4, 2, ["theorem-3.4.singular", "agattn.singular-locus"])
    for row in table.rows:
        layer = row.architecture
        if words(row)["theorem-3.4.singular"] == "inapplicable":
            assert layer.d == 1 or layer.a == layer.d_out == 1
            continue
        fails = 2 <= layer.a < layer.d and (layer.a, layer.d_out) != (2, 1)
        assert words(row)["theorem-3.4.singular"] == ("fails" if fails else "holds")
        assert words(row)["agattn.singular-locus"] == "holds"
    assert table.exit_status == 1


def meaning(condition):
    """The rows of the grid where a printed condition is true, read as Python."""
    python = condition.replace("d'", "o").replace("≥", ">=").replace(" = ", " == ")
    return [x for x in GRID if eval(python, {"d": x.d, "o": x.d_out, "a": x.a})]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4), st.booleans())
def test_a_pattern_means_what_it_says(d, o, a, proper):
    inside = [x for x in GRID if x.a >= a and (x.d_out >= o or x.d >= d) and (x.a < x.d or not proper)]
    outside = [x for x in GRID if x not in inside]
    condition = describe(inside, outside)
    if inside and outside:
        assert condition is not None
        assert meaning(condition) == inside


def test_no_pattern_is_made_up():
    inside = [SingleLayer(4, 1, 1), SingleLayer(3, 2, 2), SingleLayer(2, 3, 1), SingleLayer(4, 3, 3)]
    assert describe(inside, [x for x in GRID if x not in inside]) is None


def test_json_matches_its_schema():
    found = document("audit", "--max-d", "3", "--max-out", "2", status=1)
    assert {"a": 2, "d": 3, "d_out": 2, "t": 2} in [row["architecture"] for row in found["rows"]]
    for row in found["rows"]:
        for claim in row["claims"]:
            sizes = row["architecture"]["d"], row["architecture"]["d_out"]
            in_part = claim["id"] == "agattn.learning-degree" and sizes != (2, 1)  # not counted
            expected = "proved in part" if in_part else "proved"
            assert claim["verdict"] == "inapplicable" or claim["evidence"] == expected
