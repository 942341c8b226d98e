"""Of every kind of report: no table is empty, no heading stands twice, no section says nothing."""

from functools import cache
from html.parser import HTMLParser

import pytest

import agattn as ag
from agattn.experiments.studies.jobs import Job, perform, versions_for
from agattn.experiments.training.experiment import read_experiments
from agattn.experiments.training.training import train
from agattn.reports.document import Document, html, markdown
from agattn.reports.report import report
from agattn.reports.study_report import study_report
from agattn.reports.training_report import training_report

NATIVE = "native"
TRAINING = """
seeds = 2
[[experiment]]
name = "generic"
layer = {d = 2, d_out = 1}
time = 1e4
[[experiment]]
name = "start"
layer = {d = 2, d_out = 1}
method = "untrained"
"""


def study(ask, *architectures, **settings):
    jobs = [Job(one, ask, **settings) for one in architectures]
    versions = versions_for("native")
    return study_report([perform(job, versions)[0] for job in jobs], command="c")


def training():
    experiments = read_experiments(TRAINING)
    lines = [line for one in experiments for line in train(one)]
    return training_report(lines, TRAINING, "agattn train c.toml")


LAYERS = ag.SingleLayer(2, 1), ag.SingleLayer(3, 2, 2)
NETWORKS = ag.DeepNetwork((2, 2), (1,)), ag.DeepNetwork((2, 2, 2), (1, 1))
KINDS = {
    "layer": lambda: report(LAYERS[1], engine=NATIVE, max_degree=2, pictures=False),
    "layer of one token": lambda: report(
        ag.SingleLayer(2, 1, t=1), engine=NATIVE, max_degree=2, pictures=False
    ),
    "network": lambda: report(NETWORKS[1], engine=NATIVE),
    "model": lambda: report(ag.Network([ag.Linear(1), ag.Linear(2)], dim=2)),
    "model of one polynomial": lambda: report(ag.PolynomialMap(lambda s: [s**2, s**3], {"s": ()})),
    "study of claims": lambda: study("verify", *LAYERS, claims=("theorem-3.4.singular",)),
    "study of dimensions": lambda: study("dimension", *NETWORKS),
    "study of strata": lambda: study("strata", *LAYERS),
    "training": training,
}


class Outline(HTMLParser):
    """The headings of a page, and how many cells every row of every table has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.tables: list[list[int]] = []
        self.sections: list[list[str]] = []
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag in ("h1", "h2"):
            self.headings.append("")
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append(0)
        if tag in ("td", "th"):
            self.tables[-1][-1] += 1
        if tag == "section":
            self.sections.append([])
        self._inside = tag

    def handle_data(self, data):
        if self._inside in ("h1", "h2"):
            self.headings[-1] += data.strip()
        elif self.sections and self._inside not in ("script", "style", "th", "summary", "caption"):
            self.sections[-1].append(data.strip())


@cache
def made(kind: str) -> Document:
    return KINDS[kind]()


@pytest.mark.parametrize("kind", KINDS)
def test_no_table_is_empty_no_heading_stands_twice_no_section_says_nothing(kind):
    outline = Outline(html(made(kind)))
    assert len(outline.headings) >= 4 and len({*outline.headings}) == len(outline.headings)
    assert outline.tables and all(len(rows) >= 2 and min(rows) >= 1 for rows in outline.tables)
    for heading, words in zip(outline.headings[1:], outline.sections, strict=True):
        assert "".join(words).strip(". ").lower() not in ("", "none"), heading


@pytest.mark.parametrize("kind", KINDS)
def test_the_markdown_has_the_same_headings_and_no_table_without_rows(kind):
    lines = markdown(made(kind)).splitlines()
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert headings[: len(made(kind).sections)] == [section.title for section in made(kind).sections]
    rules = [n for n, line in enumerate(lines) if line.startswith("| ---")]
    assert rules and all(lines[n + 1].startswith("| ") for n in rules)
    assert all(lines[n - 1].strip("| ") for n in rules)


def test_a_study_shows_no_verdict_twice_at_once():
    """The table of what is drawn is folded, and has what is not drawn: the evidence."""
    page = html(made("study of claims"))
    verdicts = page[page.index('id="verdicts"') :].partition("</section>")[0]
    assert verdicts.count("<img") == 1
    assert verdicts.index("<img") < verdicts.index('<details class="folded">') < verdicts.index("<table")
    assert verdicts.index("</table>") < verdicts.index("</details>")
    for colour in ("Green: confirmed", "red: refuted"):
        assert colour in verdicts


def test_of_a_table_without_rows_the_caption_is_a_sentence():
    said = markdown(made("model of one polynomial"))
    assert "(s: 1): 0 linear symmetries; orbits of dimension 0 (proved).\n" in said
    assert "| symmetry | dimension | moves |" not in said
    assert "| symmetry | dimension | moves |" in markdown(made("model"))
