"""The grid that ships as ``audit``: every claim for every small layer; its page, and the page's tables."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn import SingleLayer
from agattn.claims import LAYER_CLAIMS
from agattn.experiments.studies.grid import grid_text, read_grid
from agattn.experiments.studies.jobs import exit_status, row
from agattn.experiments.studies.study import study
from agattn.reports.study_report import Entry, describe

DOCS = Path(__file__).parents[3] / "docs" / "experiments"
PAGE = (DOCS / "audit.md").read_text(encoding="utf-8")
JOBS = read_grid(grid_text(Path("audit"))).jobs
GRID = [SingleLayer(d, o, a) for d in (1, 2, 3, 4) for o in (1, 2, 3) for a in range(1, d + 1)]
MARKS = {"confirmed": "✓", "refuted": "✗", "inapplicable": "–", "undecided": "?"}


def entries(most_d, most_out, *claims):
    """What the study finds for layers up to a size."""
    jobs = [job for job in JOBS if job.architecture.d <= most_d and job.architecture.d_out <= most_out]
    found = [Entry(line) for line in study([replace(job, claims=claims) for job in jobs])]
    assert all("result" in entry.line for entry in found)
    return found


def verdicts(entry):
    return {name: claim["verdict"] for name, claim in entry.claims.items()}


def table(name):
    """The rows of a table of the page, by their first cell."""
    _, *rows = (DOCS / "tables" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return {first: others for first, *others in (line.split("\t") for line in rows)}


def sizes(layer):
    return f"({layer.d},{layer.d_out},{layer.a})"


def agrees(found):
    """Whether the page has what the study finds: every verdict, and where claims fail."""
    marks, failing = table("audit"), table("audit-failures")
    for entry in found:
        said = verdicts(entry)
        name = sizes(entry.architecture)
        assert marks[name] == [MARKS[verdict] for verdict in said.values()]
        where = {", ".join(at) for claim in entry.claims.values() if (at := claim.get("fails_at"))}
        assert failing.get(name, []) == [f"fails at {strata}" for strata in where]
        refuted = [claim for claim, verdict in said.items() if verdict == "refuted"]
        assert f"refuted ({', '.join(refuted)})" in row(entry.line)[2] or not refuted
    return len(marks)


def pattern(found, claim):
    """Where a claim fails, is undecided or does not apply, as the page says it."""
    rows = [(entry.architecture, verdicts(entry)[claim]) for entry in found]
    parts = []
    for word, shown in (("refuted", "fails"), ("undecided", "undecided"), ("inapplicable", "inapplicable")):
        those = [one for one in rows if word != "refuted" or one[1] != "inapplicable"]
        inside, outside = ([x for x, here in those if (here == word) is side] for side in (True, False))
        if inside:
            of = f"{len(inside)} of {len(those)} layers{' to which it applies' * (word == 'refuted')}"
            parts.append(f"{shown} exactly if {describe(inside, outside)} ({of})")
    if not any(here in ("refuted", "undecided") for _, here in rows):
        parts.insert(0, "holds wherever it applies")
    return "; ".join(parts)


def test_the_grid_has_every_layer_of_the_page():
    assert [sizes(job.architecture) for job in JOBS] == list(table("audit"))
    assert {(job.claims, job.engine) for job in JOBS} == {((), "native")}


def test_a_part_of_the_published_table_is_regenerated():
    found = entries(2, 2)
    assert len(found) == 6 and agrees(found) == len(JOBS) == 40


@pytest.mark.slow
def test_the_published_page_is_what_the_study_finds():
    found = entries(4, 4)
    agrees(found)
    assert exit_status(entry.line for entry in found) == 1
    patterns = {}
    for claim in LAYER_CLAIMS:
        patterns.setdefault(pattern(found, claim), []).append(LAYER_CLAIMS[claim].name)
    assert {"; ".join(names): [text] for text, names in patterns.items()} == table("audit-patterns")
    applying = [claim for entry in found for claim in entry.claims.values() if claim["hypotheses_hold"]]
    proved = [claim for claim in applying if claim["evidence"] == "proved"]
    assert f"{len(applying)} verdicts are about layers to which the claim applies, and {len(proved)}" in PAGE


def test_how_the_verdicts_are_known():
    for entry in entries(3, 2):
        layer = entry.architecture
        for claim in entry.claims.values():
            in_part = claim["id"] == "agattn.learning-degree" and (layer.d, layer.d_out) != (2, 1)
            expected = "proved in part" if in_part else "proved"
            assert claim["verdict"] == "inapplicable" or claim["evidence"] == expected


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
