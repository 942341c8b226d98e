import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from command_line import call
from command_line import document as printed

from agattn.architectures import DeepNetwork, SingleLayer
from agattn.claims import CLAIMS
from agattn.limits import limited
from agattn.reports.document import Attachment, Document, Picture, Section, Text, html, markdown
from agattn.reports.report import report
from agattn.sheet.data import Code, Lines, Math, Table, Word

NATIVE = "native"


@pytest.fixture(scope="module")
def refuting():
    return report(SingleLayer(3, 2, 2), engine=NATIVE, max_degree=2, command="agattn report -d 3 -o 2 -a 2")


class Outline(HTMLParser):
    """What a page consists of, and what it would ask the network for."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.addresses, self.images, self.ids, self.links, self.open = [], [], [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        self.open += [tag] if tag not in ("meta", "br", "img", "link") else []
        self.addresses += [values[name] for name in ("src", "srcset", "data") if name in values]
        self.links += [values["href"]] if "href" in values else []
        self.images += [values] if tag == "img" else []
        self.ids += [values["id"]] if "id" in values else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_report_of_the_counterexample(refuting):
    document = refuting
    assert document.exit_status == 1
    assert "Refuted: Theorem 3.4, singular points; Corollary A.4." in document.summary
    text = markdown(document)
    for verdict in document.claims:
        assert f"| {CLAIMS[verdict.claim].name} <br> `{verdict.claim}` |" in text
    assert "dimension 14 > 13" in text and "**refuted** | **proved**" in text
    assert "agattn report -d 3 -o 2 -a 2" in text
    [equations] = [
        block for s in document.sections for block in s.blocks if getattr(block, "name", "") == "equations.m2"
    ]
    assert equations.text.count(",\n  ") + equations.text.count("(\n  ") >= 45  # a line for each quadric
    assert text.count("**no, differs**") == 2 and r"A = $\begin{pmatrix} 1 & 0 & 0 \\" in text
    [ideal] = [
        t for s in document.sections if s.title == "Equations" for t in s.blocks if isinstance(t, Table)
    ][:1]
    assert [row[1] for row in ideal.rows] == [0, 45]


def test_the_page_stands_alone(refuting):
    page = html(refuting)
    outline = Outline(page)
    assert all(address.startswith("data:image/") for address in outline.addresses) and outline.images
    assert all(len(image["alt"]) > 40 for image in outline.images)
    assert not re.search(r"@import|url\((?!data:font/woff;base64,)", page) and "<link" not in page
    assert len(set(outline.ids)) == len(outline.ids)
    assert {link[1:] for link in outline.links if link.startswith("#")} <= set(outline.ids)
    assert [tag for tag in outline.tags if re.fullmatch(r"h\d", tag)].count("h1") == 1
    assert outline.tags.count("math") > 20 and "prefers-color-scheme: dark" in page and "@media print" in page


def test_the_same_input_gives_the_same_bytes(tmp_path):
    documents = [report(SingleLayer(2, 1), engine=NATIVE, command="c") for _ in range(2)]
    saved = []
    for n, document in enumerate(documents):
        files = replace(document, clock="").save(tmp_path / str(n))
        saved.append({path.name: path.read_bytes() for path in files})
    names = {"report.html", "report.md", "strata.svg", "figure1.png", "figure1.html"}
    assert saved[0] == saved[1] and names <= set(saved[0])


def test_the_seed_is_honoured():
    network = DeepNetwork((3, 3, 3), (1, 2))
    pages = []
    for seed in (1, 1, 2):
        with limited(seed=seed):
            pages.append(markdown(replace(report(network, engine="native"), clock="")))
    assert pages[0] == pages[1]
    primes = [re.findall(r"^\| 18 \| (\d+) \|", page, re.MULTILINE) for page in pages]
    assert primes[0] and primes[0] != primes[2]


def test_what_is_hostile_is_shown_as_text():
    bad = "<script>alert(1)</script> | a"
    cells = (bad, Code(bad), Word(bad), Lines((bad, Math("x"))))
    section = Section(bad, (Text(bad, note=True), Table(bad, (bad,), tuple((cell,) for cell in cells)),
                            Attachment("a.txt", bad, bad)))  # fmt: skip
    document = Document(bad, bad, (section,), clock=bad)
    assert "<script>alert" not in html(document)
    rows = [line for line in markdown(document).splitlines() if line.startswith("| ")]
    assert r"\|" in rows[2]


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (SingleLayer(1, 2), "for d = 1 the layer computes"),
        (SingleLayer(2, 2, 1), "contains no surface for a = 1"),
        (SingleLayer(2, 1, t=1), "for two or more tokens only"),
        (SingleLayer(3, 1, 2), "In all of M̄ too"),
    ],
)
def test_a_picture_or_the_reason_why_there_is_none(layer, words):
    document = report(layer, engine=NATIVE, max_degree=1)
    [section] = [section for section in document.sections if section.title == "A picture"]
    shown = [block for block in section.blocks if isinstance(block, Picture)]
    assert words in " ".join([block.text for block in section.blocks if isinstance(block, Text)]
                             + [block.caption for block in shown])  # fmt: skip
    assert bool(shown) == (layer.alpha >= 2 and layer.t >= 2)


@pytest.mark.parametrize(
    ("network", "status", "words"),
    [
        (DeepNetwork((4, 3, 4), (2, 2)), 0, "Dimension 33, proved. Equation 14 of HMK gives the same."),
        (DeepNetwork((3, 3, 3), (2, 2), normalization="softmax"), 0, "Equation 16 of HMK gives the same."),
        (DeepNetwork((5, 1), (3,), t=2, heads=2), 3, "Dimension 49, modular; proved between 49 and 50."),
    ],
)
def test_networks(network, status, words):
    document = report(network, engine="native")
    assert document.claims
    assert document.exit_status == status and words in document.summary and words in html(document)


def test_the_command(tmp_path):
    folder = tmp_path / "report"
    arguments = ["2", "1", "--max-degree", "2", "--engine", "native"]
    found = printed("report", *arguments, "-O", folder)
    assert f"`agattn report {' '.join(arguments)} -O DIR`" in (folder / "report.md").read_text()
    assert sorted(found["files"]) == sorted(str(p) for p in folder.rglob("*") if p.is_file())
    assert {claim["verdict"] for claim in found["claims"]} <= {"confirmed", "inapplicable"}
    ended = call("report", "--dims", "3,3,3", "--ranks", "1,2", "-O", tmp_path)
    assert ended.out.startswith("Dimension 18, proved.")


@pytest.mark.slow
def test_reports_of_two_things_are_not_mixed(tmp_path):
    def report(*arguments):
        return call("report", *arguments, "--engine", "native", "--max-degree", "1", "-O", tmp_path)

    assert report("-d", "2", "-o", "1").status == report("-d", "2", "-o", "1").status == 0
    page = (tmp_path / "report.html").read_bytes()
    assert "holds another report, 'Lightning self-attention M(2,1,2)'" in report("-d", "2", "-o", "2").err
    assert (tmp_path / "report.html").read_bytes() == page
