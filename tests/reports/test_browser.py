"""The pages opened as a person would: in Chromium, offline."""

from functools import cache

import pytest
from command_line import call

from agattn.architectures import SingleLayer
from agattn.reports.figure1 import compute_figure_1

pytestmark = pytest.mark.slow


@pytest.fixture
def visit(chromium):
    """Open a file; afterwards nothing may have been requested but the file, and nothing complained about."""
    page = chromium.new_page()
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)

    def go(path, width=1200, scheme="light"):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        page.goto(path.as_uri())
        return page

    yield go
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert len([url for url in requests if url.startswith("file:")]) >= 1
    assert complaints == []
    page.close()


#: One command each, with engines where there are some.
COMMANDS = {
    "umbrella": "-d 2 -o 1 --max-degree 4",
    "counterexample": "-d 3 -o 2 -a 2",
    "deep": "--dims 4,3,4 --ranks 2,2",
}
STATUS = {"umbrella": 0, "counterexample": 1, "deep": 0}
NAMES = tuple(COMMANDS)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The folder of a report, made by its command when a test first asks for it."""
    folder = tmp_path_factory.mktemp("reports")

    @cache
    def make(name):
        ended = call("report", *COMMANDS[name].split(), "-O", folder / name)
        assert ended.status == STATUS[name], ended
        return folder / name

    return make


def every(page, selector, value, condition="true"):
    """A value of every element e of a page that has a selector, where a condition holds."""
    elements = f"[...document.querySelectorAll({selector!r})]"
    return page.evaluate(f"{elements}.filter(e => {condition}).map(e => {value})")


@pytest.mark.parametrize("name", NAMES)
def test_a_report(name, visit, report):
    folder = report(name)
    page = visit(folder / "report.html")
    heading = (folder / "report.md").read_text().partition("\n")[0].removeprefix("# ")
    assert page.title() == heading == page.locator("h1").inner_text()
    assert page.locator("h2").count() == page.locator("nav a").count() >= 5

    # Formulas are set as mathematics: each has a size, and every index is really placed lower.
    widths = every(page, "math", "e.getBoundingClientRect().width")
    assert len(widths) >= 4 and min(widths) > 3
    assert min(every(page, "math", "e.getBoundingClientRect().height")) > 5
    assert every(page, "math merror", "e.textContent") == []
    bottoms = every(page, "msub", "[...e.children].map(part => part.getBoundingClientRect().bottom)")
    assert all(index > letter for letter, index in bottoms)
    assert "\\" not in "".join(every(page, "math", "e.textContent"))
    # Pictures are there, and say in words what they show.
    assert page.evaluate("document.images.length") == {"umbrella": 2, "counterexample": 2, "deep": 1}[name]
    assert all(every(page, "img", "e.complete && e.naturalWidth > 100 && e.alt.length > 40"))
    # On a desktop everything is in sight.
    wide = every(page, ".scroll, .line, .formula", "e.textContent", "e.scrollWidth > e.clientWidth")
    assert wide == []
    # What it links to is in the folder, and everything in the folder but the two texts is linked or shown.
    links = every(page, "a", "e.getAttribute('href')")
    files = {link for link in links if not link.startswith("#")}
    assert all((folder / link).is_file() for link in files)
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {path for path in there - files if not path.startswith("report.")} <= {
        "figure1.png", "strata.svg", "tree.svg",
    }  # fmt: skip


# Click a heading and read the column, and whether rows were lost.
SORT = """([n, column]) => {
  const table = document.querySelectorAll("table.sortable")[n], head = table.tHead.rows[0].cells[column];
  head.querySelector("button").click();
  const rows = [...table.tBodies[0].rows];
  return [head.getAttribute("aria-sort"), rows.map(row => row.cells[column].textContent.trim()),
          rows.map(row => row.textContent).sort(),
          [...table.tHead.rows[0].cells].filter(cell => cell.hasAttribute("aria-sort")).length]; }"""
COLLATED = "cells => [...cells].sort(new Intl.Collator('en', {numeric: true}).compare)"


@pytest.mark.parametrize("name", NAMES)
def test_every_table_sorts_by_every_column(name, visit, report):
    page = visit(report(name) / "report.html")
    headings = every(page, "table", "[e.className, e.tHead.rows[0].cells.length]")
    assert len(headings) >= 4 and all("sortable" in name for name, _ in headings)
    changed = 0
    for n, (_, columns) in enumerate(headings):
        for column in range(columns):
            before = page.evaluate(
                f"[...document.querySelectorAll('table')[{n}].tBodies[0].rows].map(row => row.textContent)"
            )
            for direction in ("ascending", "descending"):
                sort, cells, rows, marked = page.evaluate(SORT, [n, column])
                collated = page.evaluate(COLLATED, cells)
                assert (sort, marked) == (direction, 1)
                assert cells == (collated if direction == "ascending" else collated[::-1])
                assert rows == page.evaluate("rows => rows.sort()", before)
            changed += len(set(cells)) > 1
    assert changed > 10
    # Numbers are sorted as numbers: 9 before 13.
    numbers = page.evaluate(COLLATED, ["13", "9", "100"])
    assert numbers == ["9", "13", "100"]


@pytest.mark.parametrize("name", NAMES)
def test_on_a_phone_and_on_paper(name, visit, report):
    page = visit(report(name) / "report.html", width=375, scheme="dark")
    sideways = "document.documentElement.scrollWidth <= window.innerWidth"
    assert page.evaluate(sideways)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, background.removeprefix("rgb(").removesuffix(")").split(","))) < 120
    # Nothing is hidden but by a scroll bar, which the keyboard reaches.
    assert all(every(page, ".scroll", "e.scrollWidth <= e.clientWidth || e.tabIndex === 0"))
    # Where a row is a card, its cells are a name and one value, whatever the value is made of.
    assert all(every(page, ".stacked td:not(.wide)", "e.children.length <= 1"))
    page.set_viewport_size({"width": 720, "height": 1000})
    page.emulate_media(media="print", color_scheme="light")
    assert not page.locator("nav").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(sideways)
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_contrast(name, scheme, visit, report):
    page = visit(report(name) / "report.html", scheme=scheme)
    ratio = page.evaluate(
        """() => {
          const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(x => x / 255)
            .map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const behind = e => { for (; e; e = e.parentElement) {
            const c = getComputedStyle(e).backgroundColor;
            if (!/, 0\\)$/.test(c)) return c; } return "rgb(255, 255, 255)"; };
          let worst = 99;
          for (const e of document.querySelectorAll("p, td, button, a, .word, h1, h2, caption, td div, "
              + "math, summary, figcaption")) {
            if (!e.textContent.trim()) continue;
            const one = light(getComputedStyle(e).color) + 0.05, two = light(behind(e)) + 0.05;
            worst = Math.min(worst, Math.max(one, two) / Math.min(one, two));
          }
          return worst; }"""
    )
    assert ratio >= 4.5  # the accessibility guidelines' level AA


def test_the_interactive_figure_turns(visit, tmp_path):
    compute_figure_1(SingleLayer(2, 1), engine="native").save(tmp_path / "figure1.html")
    page = visit(tmp_path / "figure1.html")
    page.wait_for_selector("#figure canvas", state="attached")
    eye = "JSON.stringify(document.getElementById('figure')._fullLayout.scene._scene.getCamera().eye)"
    page.wait_for_function("document.getElementById('figure')._fullLayout?.scene?._scene?.glplot")
    page.wait_for_timeout(500)
    before = page.evaluate(eye)
    box = page.locator("#figure").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 8):
        page.mouse.move(x + 20 * step, y + 6 * step)
        page.wait_for_timeout(30)
    page.mouse.up()
    page.wait_for_timeout(500)
    assert page.evaluate(eye) != before
    assert page.evaluate("document.getElementById('figure').data.length") > 4
