"""The report of a model: everything in it, what is not decided, and what is beyond a limit."""

import re
from html.parser import HTMLParser

import agattn as ag
from agattn.geometry.singular_points import singularities as points
from agattn.geometry.variety.coefficient_map import coefficient_map
from agattn.reports import report as room
from agattn.reports.document import Text, html, markdown
from agattn.reports.report import report


class Balanced(HTMLParser):
    """Counts what is opened and closed, and collects what would be loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "img", "link"):
            self.open.append(tag)
        self.loaded += [value or "" for name, value in attrs if name == "src" or (tag == "link")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


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
    page = Balanced()
    page.feed(html(document))
    assert page.open == [] and page.loaded == []


def test_what_is_not_decided_is_listed(monkeypatch):
    monkeypatch.setattr(room, "_MOST_TERMS", 3)
    model = ag.Network([ag.Linear(2), ag.Linear(2)], dim=2)
    said = markdown(report(model))
    undecided = said.partition("## What is not decided")[2].partition("## How it is known")[0]
    assert "The coordinates: 2×1 → linear 2 → linear 2 has up to" in undecided
    assert "has 4 members" not in said and "Whether M is closed" in undecided


def test_an_undecided_kind_is_listed():
    """The cusp is singular, but curves of third order alone would show that; agattn does not follow these."""
    document = report(ag.PolynomialMap(lambda s: [s**2, s**3], {"s": ()}))
    assert document.summary.endswith("Of 2 kinds of points: 1 smooth, 1 undecided.")
    said = [block for section in document.sections for block in section.blocks if isinstance(block, Text)]
    assert any("Whether M̄ is singular at s = 0: no more tangent" in block.text for block in said)


def test_degrees_of_equations_are_limited(monkeypatch):
    monkeypatch.setattr(room, "_MOST_MONOMIALS", 15)
    said = markdown(report(ag.Network([ag.Linear(1), ag.Linear(2)], dim=2)))
    assert "Ideal of 2×1 → linear 1 → linear 2 to degree 2: 1 quadric" in said  # the determinant
    assert "Equations of degree 3: there are more than 15 monomials, which is the limit of reports" in said


def test_beyond_the_limits_the_rest_is_reported(monkeypatch):
    monkeypatch.setattr(points, "MOST_PARAMETERS", 7)
    document = report(ag.Network([ag.Linear(2), ag.Linear(2)], dim=2))
    said = markdown(document)
    assert document.summary == "Dimension 4 in 4 coordinates, proved."
    assert "The kinds of points: 2×1 → linear 2 → linear 2 has 8 parameters; the limit is 7." in said
    assert "λ = 2, m = 1 (proved)" in said


def test_equations_are_missing_only_beyond_what_was_asked_for(monkeypatch):
    model = ag.PolynomialMap(lambda s: [s[0] ** 2, s[0] * s[1], s[1] ** 2], {"s": 2})
    coordinates, known = coefficient_map(model), ag.dimension(model)
    for most, degree, lines in ((20, 3, 0), (19, 2, 1), (4, 1, 1), (3, None, 1)):
        monkeypatch.setattr(room, "_MOST_MONOMIALS", most)
        missing = []
        found = room._equations(coordinates, 3, known, missing)
        assert (found and found.max_degree) == degree and len(missing) == lines


def test_long_coordinates_are_counted():
    def sums(s):
        return [sum((s[i] * s[i + 1] for i in range(1, n)), s[0] ** 2) for n in (8, 9)]

    table = room._coordinates(coefficient_map(ag.PolynomialMap(sums, {"s": 10})))
    (_, short), (_, long) = table.rows
    assert short.latex.count("s_") > 8 and long == "9 terms"
