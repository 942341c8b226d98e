"""The report of a study holds everything that came out, the refutations first, and nothing that runs."""

import json
import re
import sys
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
from agattn.reports.drawing import as_file
from agattn.reports.study_figures import draw_verdicts
from agattn.reports.study_report import study_report
from agattn.sheet.data import Table
from agattn.sheet.html import running
from agattn.sheet.markdown import cell_markdown, text_markdown

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


def test_what_was_checked_in_part_says_so():
    network = DeepNetwork((4, 3, 4), (2, 2), t=3)
    lines = lines_of([Job(network, "verify", claims=("theorem-3.7", "corollary-3.8"))])
    [table] = tables(study_report(lines, pictures=False), "Verdicts")
    cells = dict(zip(table.headings, table.rows[0], strict=True))
    assert [part.word for part in cells["Theorem 3.7"].parts] == ["confirmed", "proved in part"]
    assert [part.word for part in cells["Corollary 3.8, equation 14"].parts] == ["confirmed", "proved"]
    [claims] = tables(study_report(lines, pictures=False), "Claims")
    assert {row[0].parts[0]: row[-1] for row in claims.rows}["Theorem 3.7"] == "1 proved in part"


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


def test_claims_are_counted(verified):
    (table,) = tables(study_report(verified, pictures=False), "Claims")
    counts = {row[0].parts[1].code: row[2:] for row in table.rows}
    assert counts["theorem-3.4.singular"] == ("11", "4", "0", "3", "15 proved")
    assert sum(int(n) for n in counts["corollary-3.8"][:4]) == 4


def test_no_condition_is_claimed_where_none_can_be_told(verified):
    one = [line for line in verified if line["architecture"] == SingleLayer(3, 2, 2).as_json()]
    note = section(study_report(one, pictures=False), "Refuted").blocks[0].text
    assert "exactly where" not in note and "1 of the 1 architecture" in note
    # The same d, d', a with another number of tokens: no condition on d, d', a separates them.
    other = json.loads(json.dumps(one[0]))
    other["architecture"]["t"] = other["result"]["architecture"]["t"] = 3
    other["result"]["claims"][0] |= {"verdict": "confirmed"}
    note = section(study_report([*one, other], pictures=False), "Refuted").blocks[0].text
    assert "No short condition on d, d' and a describes them." in note


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


def test_dimensions():
    networks = [DeepNetwork((3, 2, 3), (2, 2)), DeepNetwork((5, 1), (3,), 2, heads=2)]
    lines = lines_of([Job(network, "dimension") for network in networks])
    document = study_report(lines)
    assert [part.title for part in document.sections] == [
        "Dimensions", "Not proved", "What was asked", "How to reproduce it",
    ]  # fmt: skip
    (table,) = tables(document, "Dimensions")
    assert [row[0] for row in table.rows] == ["M(3,2,3; 2,2), t = 3", "M(5,1,3), heads 2, t = 2"]
    assert [row[2] for row in table.rows] == ["18", "49"]  # 8 + 4 + 8 - 2 by equation 14
    (table,) = tables(document, "Not proved")
    assert table.rows[0][1] == "49" and table.rows[0][3] == "49 to 50"
    (picture,) = [block for block in section(document, "Dimensions").blocks if isinstance(block, Picture)]
    said = picture.alternative
    assert "2 points" in said and "1 on the line where both agree, 1 below" in said


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


def test_several_questions_stand_side_by_side():
    layer, network = SingleLayer(3, 1), DeepNetwork((5, 1), (3,), 2, heads=2)
    lines = lines_of([
        Job(layer, "symmetries"), Job(layer, "ideal", max_degree=3), Job(network, "dimension"),
        Job(SingleLayer(2, 1), "ideal", max_degree=2), Job(SingleLayer(40, 1), "symmetries"),
        Job(DeepNetwork((2, 1), (2,), 2, heads=2), "ideal", max_degree=1),
    ])  # fmt: skip
    document = study_report(read_lines("\n".join(map(written, lines))))
    assert document.title == "Study of 3 layers and 2 networks"
    (table,) = tables(document, "What is known")
    assert [tuple(map(cell_markdown, row)) for row in table.rows] == [
        ("M(3,1,3)", "21", "", "10: sl(3) + center of dimension 2 <br> **proved**",
         "20 of degree 3, to degree 3 <br> **proved**"),
        ("M(5,1,3), heads 2, t = 2", "70", "49, from 49 to 50 <br> **modular**", "", ""),
        ("M(2,1,2)", "10", "", "", "none, to degree 2 <br> **proved**"),
        ("M(40,1,40)", "3240", "", "not done", ""),
        ("M(2,1,2), heads 2, t = 2", "20", "", "", "none in any degree <br> **proved**"),
    ]  # fmt: skip
    assert "Which linear maps" in markdown(document) and "3240 parameters" in markdown(document)


def test_strata():
    lines = lines_of(read_grid('ask = "strata"\n[layers]\nd = "1..3"\nd_out = 2\na = "1..d"\n').jobs)
    document = study_report(lines)
    differing, all_of_them = tables(document, "Where HMK differs")[0], tables(document, "Strata")[0]
    assert {row[:2] for row in differing.rows} == {("M(3,2,2)", "(2,1,2)"), ("M(3,2,2)", "(2,1,3)")}
    assert {row[2] for row in differing.rows} == {"14"}
    assert len(all_of_them.rows) == 6
    rows = {row[0]: row for row in all_of_them.rows}
    assert rows["M(3,2,2)"][4] == "(0,0,0) (1,1,1) (1,1,2) (2,1,2) (2,1,3)"
    assert rows["M(3,2,2)"][5] == "(0,0,0) (1,1,1) (1,1,2)" and rows["M(1,2,1)"][5] == "does not apply"
    assert "1 of the 5 layers to which it applies" in section(document, "Where HMK differs").blocks[0].text


def test_results_of_two_versions_are_told(verified):
    old = {**verified[0], "versions": {**verified[0]["versions"], "code": "older"}}
    text = markdown(study_report([verified[1], old], pictures=False))
    assert "different versions" in text and "older" in text
    assert "different versions" not in markdown(study_report(verified[:2], pictures=False))


def test_without_matplotlib_the_report_says_so(verified, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    document = study_report(verified[:2])
    assert "Not drawn: drawing needs matplotlib" in markdown(document)


def test_many_architectures_are_drawn_without_signs():
    def drawn(number, *verdicts):
        names, claims = [str(n) for n in range(number)], list("abcdef")[: len(verdicts)]
        return as_file(draw_verdicts(names, claims, [verdicts] * number), ".svg")

    small, large = drawn(9, "confirmed", "refuted"), drawn(300, *6 * ["confirmed"])
    assert drawn(300, *6 * ["confirmed"]) == large
    assert b"<image" in large and b"<image" not in small and len(large) < 10 * len(small)


def test_the_clock_is_apart(verified):
    slower = [{**line, "seconds": line["seconds"] + 1} for line in verified]
    one, other = (study_report(lines, pictures=False) for lines in (verified, slower))
    assert one.clock != other.clock
    assert html(replace(one, clock="")) == html(replace(other, clock=""))


def test_rows_of_the_picture_of_verdicts_are_named():
    pytest.importorskip("matplotlib")
    [axes] = draw_verdicts(["M(2,1)", "M(3,1)"], ["one", "two"], [["confirmed", "refuted"]] * 2).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["M(2,1)", "M(3,1)"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["one", "two"]


def test_a_caption_names_every_verdict_that_there_is(verified):
    pictures = [block for block in study_report(verified).blocks() if isinstance(block, Picture)]
    captions = [one.caption for one in pictures if one.caption.startswith("The verdicts on the ")]
    words = [{one["verdict"] for one in line["result"]["claims"]} for line in verified]
    assert set.union(*words) > set.intersection(*words)
    assert all(f": {word}" in " ".join(captions) for word in set.union(*words))
