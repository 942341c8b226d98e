import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import jsonschema
import pytest
from click.testing import CliRunner

from agattn.architecture import DeepNetwork, SingleLayer
from agattn.cli.main import cli
from agattn.cli.output import schema_text
from agattn.evidence import Evidence, Judgement, Verdict
from agattn.reports.document import (
    Attachment,
    Code,
    Document,
    Lines,
    Math,
    Section,
    Table,
    Text,
    Word,
    html,
    markdown,
    mathml,
)
from agattn.reports.layer_report import claims_blocks, layer_report, summary
from agattn.reports.network_report import network_report
from agattn.verify import Settings

NATIVE = Settings(engine="native")


@pytest.fixture(scope="module")
def refuting():
    return layer_report(SingleLayer(3, 2, 2), NATIVE, max_degree=2, command="agattn report -d 3 -o 2 -a 2")


class Outline(HTMLParser):
    """What a page consists of, and what it would ask the network for."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.addresses, self.images, self.ids, self.links = [], [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        self.addresses += [values[name] for name in ("src", "srcset", "data") if name in values]
        self.links += [values["href"]] if "href" in values else []
        self.images += [values] if tag == "img" else []
        self.ids += [values["id"]] if "id" in values else []


def test_the_report_of_the_counterexample(refuting):
    document, verified = refuting
    assert verified.exit_status == 1
    assert "Refuted: theorem-3.4.singular, corollary-A.4." in document.summary
    text = markdown(document)
    for verdict in verified.verdicts:
        assert f"| {verdict.claim} <br>" in text
    assert "dimension 14 > 13" in text and "**refuted** | **proved**" in text
    assert "agattn report -d 3 -o 2 -a 2" in text
    [ideal] = [
        t for s in document.sections if s.title == "Equations" for t in s.blocks if isinstance(t, Table)
    ][:1]
    assert [row[1] for row in ideal.rows] == ["0", "45"]


def test_the_page_stands_alone(refuting):
    page = html(refuting[0])
    outline = Outline(page)
    assert all(address.startswith("data:image/") for address in outline.addresses) and outline.images
    assert all(len(image["alt"]) > 40 for image in outline.images)
    assert not re.search(r"@import|url\(", page) and "<link" not in page
    assert len(set(outline.ids)) == len(outline.ids)
    assert {link[1:] for link in outline.links if link.startswith("#")} <= set(outline.ids)
    assert [tag for tag in outline.tags if re.fullmatch(r"h\d", tag)].count("h1") == 1
    assert outline.tags.count("math") > 20 and "prefers-color-scheme: dark" in page and "@media print" in page


def test_every_formula_of_a_claim_is_converted():
    from agattn.claims.single_layer import CLAIMS

    for claim in CLAIMS.values():
        converted = mathml(claim.latex)
        assert converted.startswith("<math") and "\\" not in converted, claim.id
    assert mathml(r"\frac{") == "<code>\\frac{</code>"


def test_the_same_input_gives_the_same_bytes(tmp_path):
    documents = [layer_report(SingleLayer(2, 1), NATIVE, command="c")[0] for _ in range(2)]
    saved = []
    for n, document in enumerate(documents):
        files = replace(document, clock="").save(tmp_path / str(n))
        saved.append({path.name: path.read_bytes() for path in files})
    assert saved[0] == saved[1] and {
        "report.html",
        "report.md",
        "strata.svg",
        "figure1.png",
        "figure1.html",
    } <= set(saved[0])


def test_what_is_hostile_is_shown_as_text():
    bad = "<script>alert(1)</script> | a"
    cells = (bad, Code(bad), Word(bad), Lines((bad, Math("x"))))
    section = Section(bad, (Text(bad, note=True), Table(bad, (bad,), tuple((cell,) for cell in cells)),
                            Attachment("a.txt", bad, bad)))  # fmt: skip
    document = Document(bad, bad, (section,), clock=bad)
    assert "<script>alert" not in html(document)
    rows = [line for line in markdown(document).splitlines() if line.startswith("| ")]
    assert r"\|" in rows[2]


def test_undecided_and_modular_are_said():
    base = Verdict("corollary-3.3", Judgement.UNDECIDED, True, 5, None, None, "time ran out", "none", 1.0)
    modular = replace(base, judgement=Judgement.CONFIRMED, computed=5, evidence=Evidence.MODULAR)
    assert summary([base, modular]) == "Of 2 claims: 1 confirmed, 1 undecided."
    [table] = [b for b in claims_blocks([base, modular], {}) if isinstance(b, Table)]
    assert [row[2:4] for row in table.rows] == [
        (Word("undecided"), Word("")),
        (Word("confirmed"), Word("modular")),
    ]


@pytest.mark.parametrize(
    ("network", "status", "words"),
    [
        (DeepNetwork((4, 3, 4), (2, 2)), 0, "Dimension 33, proved. Equation 14 of HMK gives the same."),
        (DeepNetwork((3, 3, 3), (2, 2), normalization="softmax"), 0, "Equation 16 of HMK gives the same."),
        (DeepNetwork((5, 1), (3,), t=2, heads=2), 3, "Dimension 49, modular; proved between 49 and 50."),
    ],
)
def test_networks(network, status, words):
    document, claims, found = network_report(network, Settings(engine="native"))
    assert claims
    assert found == status and words in document.summary and words in html(document)


def test_the_command(tmp_path):
    folder = tmp_path / "report"
    arguments = [
        "report",
        "-d",
        "2",
        "-o",
        "1",
        "--engine",
        "native",
        "--max-degree",
        "2",
        "--out",
        str(folder),
        "--json",
    ]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert not result.exception, result.exception
    document = json.loads(result.stdout)
    jsonschema.validate(document, json.loads(schema_text("report")))
    assert sorted(document["files"]) == sorted(str(p) for p in folder.rglob("*") if p.is_file())
    assert {claim["verdict"] for claim in document["claims"]} <= {"confirmed", "inapplicable"}
    result = CliRunner().invoke(
        cli, ["report", "--dims", "3,3,3", "--ranks", "1,2", "--out", str(folder)], standalone_mode=False
    )
    assert result.output.startswith("Dimension 18, proved.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-d", "2"], "give -d and -o for a layer"),
        (["--dims", "3,3", "-d", "2"], "none of -d, -o, -a"),
        (["-d", "2", "-o", "1", "--engine", "maple"], "there is no engine 'maple'"),
        (["-d", "x", "-o", "1"], "d is 'x'"),
    ],
)
def test_bad_input(arguments, message, tmp_path):
    result = CliRunner().invoke(cli, ["report", *arguments, "--out", str(tmp_path)], standalone_mode=False)
    assert message in str(result.exception)


def test_figure_1_on_the_command_line(tmp_path):
    result = CliRunner().invoke(
        cli,
        ["figure", "1", "--engine", "native", "--json", "-O", str(tmp_path / "f.svg")],
        standalone_mode=False,
    )
    document = json.loads(result.stdout)
    jsonschema.validate(document, json.loads(schema_text("figure")))
    assert (document["equation"], document["singular"], document["engine"]) == (
        "x^2*w + y^2",
        ["x", "y"],
        "native",
    )
    assert (tmp_path / "f.svg").exists()


def test_in_notebooks():
    from agattn.geometry.survey import survey

    assert SingleLayer(3, 2, 2)._repr_latex_().startswith(r"$\mathcal{M}(3,2,2) \subset \mathbb{R}^{36}")
    assert (
        DeepNetwork((3, 3), (2,), heads=2)._repr_latex_() == r"$\mathcal{M}(3,3; 2), \ \text{heads 2}, t = 3$"
    )
    assert (
        Verdict("<b>", Judgement.UNDECIDED, True, 5, None, None, "a < b", "none", 1.0)
        ._repr_html_()
        .count("&lt;")
        == 2
    )
    assert survey(SingleLayer(2, 1))._repr_html_().count("<tr>") == 5
