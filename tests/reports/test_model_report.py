"""The report of a model: everything in it, what is not decided, and what is beyond a limit."""

import re

from test_report import Outline

import agattn as ag
from agattn.reports import report as room
from agattn.reports.document import html, markdown
from agattn.reports.report import report


def test_the_report_of_the_twisted_cubic():
    def twisted(s):
        return [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3]

    document = report(ag.PolynomialMap(twisted, {"s": 2}), command="agattn report ...")
    assert document.exit_status == 0 and document.title == "Model twisted(s: 2)"
    said = markdown(document)
    assert "has 4 members" in said and "s = 0 (f = 0) | 0 | +0 to 2 | 4 | singular (cone)" in said
    assert "to degree 3: 3 quadrics**" in said and "| 2 | 3 | 7 | 3 | proved |" in said
    assert re.search(r"λ = 1, m = 1 \(proved\)", said) and "Whether M is closed" not in said
    assert "M is closed (proved), over ℝ and over ℂ: φ is homogeneous of degree 3 in s" in said
    page = Outline(html(document))
    assert page.open == page.addresses == [] and "link" not in page.tags


def test_what_is_not_decided_is_listed(monkeypatch):
    monkeypatch.setattr(room, "_MOST_TERMS", 3)
    model = ag.Network([ag.Linear(2), ag.Linear(2)], dim=2)
    said = markdown(report(model))
    undecided = said.partition("## What is not decided")[2].partition("## How it is known")[0]
    assert "The coordinates: 2×1 → linear 2 → linear 2 has up to" in undecided
    assert "has 4 members" not in said and "Whether M is closed" in undecided
