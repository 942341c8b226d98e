"""The report of a study holds everything that came out, the refutations first, and nothing that runs."""

import json
import re
from dataclasses import replace

import pytest

from agattn.architectures import DeepNetwork, SingleLayer
from agattn.claims import CLAIMS
from agattn.experiments.studies.grid import read_grid
from agattn.experiments.studies.jobs import (
    Job,
    failure,
    make_line,
    perform,
    read_lines,
    versions_for,
    written,
)
from agattn.reports.document import Picture, html, markdown
from agattn.reports.study_report import study_report
from agattn.sheet.data import Table
from agattn.sheet.html import running
from agattn.sheet.markdown import text_markdown

NATIVE = versions_for("native")
GRID = """
engine = "native"
claims = ["theorem-3.4.singular", "corollary-3.3", "corollary-3.8"]
[layers]
d = "2..4"
d_out = [1, 2]
a = "1..d"
[[networks]]
dims = [[3, 2, 3], [3, 3, 3]]
ranks = [[1, 2], [2, 2]]
"""


def lines_of(jobs):
    return [perform(job, NATIVE)[0] for job in jobs]


@pytest.fixture(scope="module")
def verified():
    return lines_of(read_grid(GRID).jobs)


def section(document, title):
    return next(section for section in document.sections if section.title == title)


def tables(document, title):
    blocks = replace(document, sections=(section(document, title),)).blocks()  # also what is folded
    return [block for block in blocks if isinstance(block, Table)]


def test_refutations_come_first_with_where_and_why(verified):
    document = study_report(verified, grid=GRID, pictures=False)
    assert [part.title for part in document.sections] == [
        "Refuted", "Claims", "Verdicts", "What was asked", "How to reproduce it",
    ]  # fmt: skip
    assert document.title == "Study of 18 layers and 4 networks"
    assert "Refuted somewhere: Theorem 3.4, singular points." in document.summary
    note = section(document, "Refuted").blocks[0]
    # M(4,1,2) agrees with the theorem, as a = 2 and d' = 1 leave only rk A = 1.
    assert note.note and "exactly where a < d and a ≥ 2 and (d' ≥ 2 or a ≥ 3)" in note.text
    (refuted,) = tables(document, "Refuted")
    assert [row[0] for row in refuted.rows] == ["M(3,2,2)", "M(4,1,3)", "M(4,2,2)", "M(4,2,3)"]
    text, page = markdown(document), html(document)
    for line in verified:
        for claim in line["result"]["claims"]:
            if claim["verdict"] == "refuted":
                assert text_markdown(claim["witness"]) in text
                assert running(claim["witness"]) in page and "mtable" in running(claim["witness"])
    assert "grid.toml" in text and "<code>theorem-3.4.singular</code>" in page


def test_every_verdict_is_in_the_table(verified):
    layers, networks = tables(study_report(verified, pictures=False), "Verdicts")
    assert layers.headings == ("architecture", "Corollary 3.3, equation 7", "Theorem 3.4, singular points")
    assert networks.headings == ("architecture", "Corollary 3.8, equation 14")
    assert len(layers.rows) == 18 and len(networks.rows) == 4
    rows = {row[0]: row for row in layers.rows}
    for line in verified[:18]:
        shape = line["architecture"]
        row = rows[f"M({shape['d']},{shape['d_out']},{shape['a']})"]
        for claim in line["result"]["claims"]:
            shown = [word.word for word in row[layers.headings.index(CLAIMS[claim["id"]].name)].parts]
            decided = claim["verdict"] in ("confirmed", "refuted")
            assert shown == [claim["verdict"], *([claim["evidence"]] if decided else [])]


def test_undecided_and_errors_are_told(verified):
    undecided = json.loads(json.dumps(verified[0]))
    undecided["result"]["claims"][0] |= {"verdict": "undecided", "evidence": None, "witness": "time ran out"}
    failed = make_line(
        Job(SingleLayer(9, 9), "verify"), NATIVE, failure("TooLargeError", "729 | is much"), 2, 0.0
    )
    document = study_report([undecided, failed], pictures=True)
    (table,) = tables(document, "Undecided")
    assert table.rows == (("M(2,1,1)", "Theorem 3.4, singular points", "time ran out"),)
    (table,) = tables(document, "Not done")
    assert table.rows == (("M(9,9,9)", "TooLargeError", "729 | is much"),)
    assert "729 \\| is much" in markdown(document)
    (layers,) = tables(document, "Verdicts")
    assert [cell.word for cell in layers.rows[1][1:]] == ["failed", "failed"]
    assert "1 failed" in document.summary
    (picture,) = [block for block in section(document, "Verdicts").blocks if isinstance(block, Picture)]
    assert "2 failed" in picture.alternative and "None is refuted." in picture.alternative


def test_the_same_results_give_the_same_bytes(verified, tmp_path):
    text = "".join(written(line) + "\n" for line in verified)
    first, second = (study_report(read_lines(text), grid=GRID, command="c") for _ in range(2))
    assert html(first) == html(second) and markdown(first) == markdown(second)
    pictures = [block for part in first.sections for block in part.blocks if isinstance(block, Picture)]
    assert [picture.name for picture in pictures] == ["layers.svg", "networks.svg"]
    for picture in pictures:
        assert picture.data.startswith(b"<?xml") and b"<dc:date>" not in picture.data
        assert len(picture.alternative) > 60
    said = pictures[0].alternative
    assert "4 refuted" in said and "in Theorem 3.4, singular points." in said
    files = {path.name: path for path in first.save(tmp_path)}
    assert read_lines(files["results.jsonl"].read_text(encoding="utf-8")) == verified
    assert files["grid.toml"].read_text(encoding="utf-8") == GRID


def test_hostile_results_are_shown_as_text(verified):
    bad = "<script>alert(1)</script> | [x](javascript:y)\n# z `<b>`"
    line = json.loads(json.dumps(next(line for line in verified if line["status"] == 1)))
    line["result"]["claims"][0] |= {"id": bad, "witness": bad, "engine": bad, "predicted": {bad: bad}}
    line["job"]["engine"] = line["versions"]["code"] = line["versions"][bad] = bad
    failed = {**line, "error": {"type": bad, "message": bad}}
    del failed["result"]
    document = study_report([line, failed], grid=bad, command=bad)
    assert "<script>alert" not in html(document)
    text = re.sub(r"`[^`\n]*`", "", markdown(document))  # code is shown as it is
    assert "<script>" not in text and "<b>" not in text
    assert "\n# z" not in text and "](javascript" not in text
    assert html(document).count("<script>") == 1  # the page's own


def test_a_formula_that_fails_is_told_first():
    """A dimension that is proved to be another than HMK's, although the hypotheses hold."""
    (line,) = lines_of([Job(DeepNetwork((4, 3, 4), (2, 2)), "dimension")])
    assert section(study_report([line], pictures=False), "Dimensions")
    line["result"]["paper"]["value"] += 1
    document = study_report([line], pictures=False)
    assert document.sections[0].title == "Where a formula fails"
    (table,) = tables(document, "Where a formula fails")
    assert table.rows[0][1:3] == ("34", "33 to 33")
    line["result"]["paper"]["hypotheses_hold"] = False  # then it claims nothing
    assert document != study_report([line], pictures=False)
    assert study_report([line], pictures=False).sections[0].title == "Dimensions"
