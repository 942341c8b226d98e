"""The pages opened as a person would: in Chromium, offline."""

import os
import shutil

import pytest

from agattn.architecture import DeepNetwork, SingleLayer
from agattn.reports.draw_figure1 import save_figure_1
from agattn.reports.figure1 import compute_figure_1
from agattn.reports.layer_report import layer_report
from agattn.reports.network_report import network_report
from agattn.verify import Settings

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-unsafe-swiftshader",
]  # fmt: skip
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    path = shutil.which("chromium")
    if path is None:
        reason = "chromium was not found; apt-get install chromium"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        profile = tmp_path_factory.mktemp("profile")
        context = driver.chromium.launch_persistent_context(profile, executable_path=path, args=FLAGS)
        yield context
        context.close()


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


def report_of(name):
    settings = Settings(engine="native")
    if name == "deep":
        return network_report(DeepNetwork((4, 3, 4), (2, 2)), settings)[0]
    layer = {"umbrella": SingleLayer(2, 1), "counterexample": SingleLayer(3, 2, 2)}[name]
    return layer_report(layer, settings, max_degree=3)[0]


@pytest.mark.parametrize("name", ["umbrella", "counterexample", "deep"])
def test_a_report(name, visit, tmp_path):
    document = report_of(name)
    document.save(tmp_path)
    page = visit(tmp_path / "report.html")
    assert page.title() == document.title == page.locator("h1").inner_text()

    # Formulas are set as mathematics: each has a size, and a fraction or index is really placed.
    sizes = page.evaluate("[...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().height)")
    assert len(sizes) >= 4 and min(sizes) > 5
    assert page.evaluate("document.querySelectorAll('math merror').length") == 0
    assert page.evaluate(
        "[...document.querySelectorAll('msub')].every(m => m.children[1].getBoundingClientRect().bottom >"
        " m.children[0].getBoundingClientRect().bottom)"
    )
    # Pictures are there.
    assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 100)")

    # Tables are sorted, numbers as numbers, and turned round at the second click.
    table = page.locator("table.sortable").nth(1)
    column = table.locator("thead th").count() - 1
    for direction in ("ascending", "descending"):
        table.locator("thead button").nth(column).click()
        assert table.locator("thead th").nth(column).get_attribute("aria-sort") == direction
        cells = table.locator(f"tbody tr td:nth-child({column + 1})").all_inner_texts()
        collated = page.evaluate(
            "cells => [...cells].sort(new Intl.Collator('en', {numeric: true}).compare)",
            [cell.replace("\n", "") for cell in cells],
        )
        expected = collated if direction == "ascending" else collated[::-1]
        assert [cell.replace("\n", "") for cell in cells] == expected

    # On a phone nothing sticks out sideways, in the dark neither.
    page = visit(tmp_path / "report.html", width=360, scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, background.removeprefix("rgb(").removesuffix(")").split(","))) < 120


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(scheme, visit, tmp_path):
    report_of("counterexample").save(tmp_path)
    page = visit(tmp_path / "report.html", scheme=scheme)
    ratio = page.evaluate(
        """() => {
          const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(x => x / 255)
            .map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const behind = e => { for (; e; e = e.parentElement) {
            const c = getComputedStyle(e).backgroundColor;
            if (!/, 0\\)$/.test(c)) return c; } return "rgb(255, 255, 255)"; };
          let worst = 99;
          for (const e of document.querySelectorAll("p, td, button, a, .word, h1, h2, caption, td div")) {
            if (!e.textContent.trim()) continue;
            const one = light(getComputedStyle(e).color) + 0.05, two = light(behind(e)) + 0.05;
            worst = Math.min(worst, Math.max(one, two) / Math.min(one, two));
          }
          return worst; }"""
    )
    assert ratio >= 4.5  # the accessibility guidelines' level AA


def test_the_interactive_figure_turns(visit, tmp_path):
    save_figure_1(compute_figure_1(SingleLayer(2, 1), engine="native"), tmp_path / "figure1.html")
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
