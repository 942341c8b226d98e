"""The built site: links hold, nothing comes from a network, everything public is listed, formulas are set."""

import importlib
import inspect
import os
import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import agattn
from agattn import errors
from agattn.documents import NAMES, schema

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site as `sphinx-build -W` makes it, built once by whichever worker is first."""
    if not os.environ.get("CI"):  # there nothing else builds the site
        pytest.importorskip("sphinx")
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    out, said = folder / "site", folder / "site.txt"
    try:
        (folder / "site.lock").mkdir()
    except FileExistsError:
        while not said.exists():
            time.sleep(0.2)
    else:
        errors = build(out)
        (folder / "site.new").write_text(errors, encoding="utf-8")
        (folder / "site.new").rename(said)
    assert said.read_text(encoding="utf-8") == ""
    return out


def build(out):
    """Build the site; return what went wrong, or an empty string."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-E", "-b", "html", str(DOCS), str(out)]
    environment = {**os.environ, "PYTHONPATH": str(DOCS.parent)}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    except subprocess.TimeoutExpired:
        return "it took more than 500 seconds"
    return (done.stderr or "it ended with an error") if done.returncode else ""


class Page(HTMLParser):
    """The links, resources and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.path, self.links, self.resources, self.anchors, self.text = path, [], [], set(), ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and values.get("rel") != "canonical":
            self.resources.append(values["href"])
        if tag in ("script", "img", "iframe", "source", "audio", "video", "embed", "object") and values.get(
            "src"
        ):
            self.resources.append(values["src"])

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="session")
def pages(site):
    return {path: Page(path) for path in site.rglob("*.html")}


def is_local(address):
    return not urlsplit(address).scheme and not address.startswith("//")


@pytest.mark.slow
def test_every_internal_link_leads_somewhere(pages):
    broken = []
    for path, page in pages.items():
        for address in filter(is_local, page.links + page.resources):
            parts = urlsplit(address)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else {unquote(parts.fragment)}
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in anchors):
                broken.append((path.name, address))
    assert broken == []


@pytest.mark.slow
def test_nothing_is_loaded_from_a_network(pages, site):
    remote = [
        (path.name, address)
        for path, page in pages.items()
        for address in page.resources
        if not is_local(address) and not address.startswith("data:")
    ]
    assert remote == []
    for sheet in site.rglob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", text) == [], sheet


@pytest.mark.slow
def test_every_formula_is_mathml(pages, site):
    for path, page in pages.items():
        if not {"gallery", "api"} & set(path.relative_to(site).parts):  # which show LaTeX as code, too
            assert not re.search(r"\$\$|\\(mathbb|mathcal|operatorname)", page.text), path
    text = (site / "layer" / "mathematics-proofs.html").read_text(encoding="utf-8")
    assert text.count("<math ") > 150
    assert re.search(r'class="math[^>]*>[^<]*\\', text) is None


def test_every_public_name_is_on_one_page_of_the_reference(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_extensions")
    made = importlib.import_module("generated_pages").GENERATED
    pages = {page: text() for page, text in made.items() if page.startswith("reference/api/")}
    assert {DOCS / f"{page}.md" for page in pages} == {*(DOCS / "reference" / "api").glob("*.md")}
    shown = [name for text in pages.values() for name in re.findall(r":: (agattn\.\S+)", text)]
    assert len(shown) == len({*shown})
    for name in agattn.__all__:
        public = getattr(agattn, name)
        place = f"{public.__module__}.{name}" if inspect.isclass(public) else f"agattn.{name}"
        assert place in shown or name == "__version__"


def contents(page):
    """The pages in the table of contents of a page, as files; most pages have none."""
    found = re.findall(
        r"^```\{toctree\}\n(?::.*\n)*\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S
    )
    return [page.parent / f"{name}.md" for listed in found for name in listed.split()]


def test_every_page_is_in_the_contents_and_no_level_has_more_than_nine():
    levels = [[DOCS / "index.md"]]
    while level := [page for page in levels[-1] if contents(page)]:
        assert all(len(contents(page)) <= 9 for page in level)
        levels.append([below for page in level for below in contents(page)])
    pages = [page for level in levels[1:] for page in level]
    assert len(levels[1]) == 8 and len({*pages}) == len(pages)
    there = {page for page in DOCS.rglob("*.md") if not page.relative_to(DOCS).parts[0].startswith("_")}
    assert {*pages} | {DOCS / "index.md", DOCS / "paper.md"} == there  # the paper is for a journal


@pytest.mark.slow
def test_a_page_that_was_moved_leads_to_its_new_place(pages, site, monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_extensions")
    moved = importlib.import_module("redirects").MOVED
    assert len(moved) > 50
    for old, new in moved.items():
        page = pages[site / f"{old}.html"]
        [link] = page.links
        assert (page.path.parent / link).resolve() == (site / f"{new}.html").resolve()
        assert f'content="0; url={link}"' in page.path.read_text(encoding="utf-8")


def test_every_exception_is_on_the_page_of_errors():
    page = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \{py:exc\}`~agattn\.errors\.(\w+)` \|.*\| (\d) \|$", page, re.MULTILINE))
    classes = {
        name: cls
        for name, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, errors.AgattnError)
    }
    bases = {"AgattnError", "EngineError"}
    assert {name: int(status) for name, status in rows.items()} == {
        name: cls.exit_status for name, cls in classes.items() if name not in bases
    }


def keys(part):
    """Every key of a schema, with what is said about it; not where it only says which values go together."""
    if part.keys().isdisjoint({"type", "$ref", "anyOf", "$defs"}):
        return
    yield from part.get("properties", {}).items()
    parts = (*part.get("properties", {}).values(), *part.get("$defs", {}).values(), *part.get("anyOf", ()))
    for inner in (*parts, part.get("items")):
        if isinstance(inner, dict):
            yield from keys(inner)


@pytest.mark.parametrize("name", NAMES)
def test_every_key_of_a_schema_is_described(name):
    tags = {"figure", "ask", "type"}  # which say what the description of their record says
    nothing = [key for key, value in keys(schema(name)) if "description" not in value and key not in tags]
    assert nothing == []


@pytest.mark.slow
def test_every_key_is_on_the_page_of_schemas(pages, site):
    text = pages[site / "reference" / "json.html"].text
    for name in NAMES:
        assert f"agattn {name}" in text
        assert [key for key, _ in keys(schema(name)) if key not in text] == []


LIGHT = (
    "index", "start/tutorial", "layer/mathematics", "start/gallery", "reference/json", "extend/claim",
    "experiments/audit",
)  # fmt: skip
DARK = ("start/tutorial", "start/gallery")  # one sheet colours all pages, formulas and pictures


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scheme"), [*((name, "light") for name in LIGHT), *((name, "dark") for name in DARK)]
)
def test_a_reader_without_a_network(chromium, site, name, scheme):
    page = chromium.new_page()
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.emulate_media(color_scheme=scheme)
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
        sizes = page.evaluate(
            "[...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().width)"
        )
        assert all(sizes)
        cut = page.evaluate(
            "[...document.querySelectorAll('p > .math math, p > .whole math, div.math')]"
            ".filter(m => !m.closest('td') && m.getBoundingClientRect().right"
            " > document.querySelector('article').getBoundingClientRect().right + 1).length"
        )
        assert cut == 0, width
        code = page.evaluate(
            "[...document.querySelectorAll('.highlight pre')].map(p => p.scrollWidth - p.clientWidth)"
        )
        assert width < 1280 or not any(code)  # lines of more than 80 letters are folded
        assert len(sizes) > (15 if name in ("start/tutorial", "layer/mathematics", "start/gallery") else -1)
        assert page.evaluate("document.querySelectorAll('math merror').length") == 0
        pictures = page.evaluate("[...document.querySelectorAll('.content img')].map(i => i.naturalWidth)")
        assert all(pictures) and (name != "start/gallery" or len(pictures) >= 7)
    if name == "experiments/audit":  # on the phone, where the table scrolls, its first column stays in sight
        left = page.evaluate(
            "(() => { const folded = document.querySelector('#audit details.folded'); folded.open = true;"
            " const box = folded.querySelector('.table-wrapper'); box.scrollLeft = 200;"
            " const cell = box.querySelector('tbody td'); return [box.scrollLeft,"
            " cell.getBoundingClientRect().left - box.getBoundingClientRect().left]; })()"
        )
        assert left[0] > 50 and abs(left[1]) < 8
    if name == "start/gallery":
        frame = page.frame_locator("iframe")
        page.locator("iframe").scroll_into_view_if_needed()
        frame.locator("canvas").first.wait_for(state="attached")
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert complaints == []
    page.close()
