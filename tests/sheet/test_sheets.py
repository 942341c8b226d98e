"""What notebooks show: well-formed, escaped, and with the right numbers."""

import io
import re
from fractions import Fraction
from functools import cache
from xml.etree import ElementTree

import pytest
from rich.console import Console

from agattn.algebra.rank import rank
from agattn.architectures import DeepNetwork, SingleLayer
from agattn.claims.network_dimension import with_paper
from agattn.evidence import Evidence, Status, Verdict
from agattn.geometry.dimension.dimension import dimension
from agattn.geometry.dimension.lie_algebra import linear_symmetries
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.identifiability.equivalence import equivalent
from agattn.geometry.identifiability.network_fibers import network_fiber
from agattn.geometry.identifiability.weights import fiber, preimages, weights
from agattn.geometry.reconstruction.membership import identify
from agattn.geometry.sections.slices import resultant_section, standard_slice
from agattn.geometry.strata.strata import Stratum
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.reports.figure1 import compute_figure_1
from agattn.sheet.data import Math, Table, Wide, Word, matrix
from agattn.sheet.html import table_html
from agattn.sheet.latex import table_latex, text_latex
from agattn.sheet.mathml import mathml
from agattn.sheet.terminal import print_table
from agattn.verification.strata_table import strata_table
from agattn.verification.verify import verify

LAYER = SingleLayer(2, 1)
MATHML = {
    f"{{http://www.w3.org/1998/Math/MathML}}{name}"
    for name in ("math", "mrow", "mi", "mn", "mo", "mtext", "msub", "msup", "msubsup", "mspace", "mover",
                 "mtable", "mtr", "mtd", "mfrac", "mstyle")
}  # fmt: skip
HOSTILE = "<script>alert('x')</script> & $\\input{x}$ 100% #1 ~^_"


@cache
def objects():
    """Every object that notebooks show, and what has to stand in it."""
    ideal = compute_ideal(SingleLayer(3, 2, 2), 3)
    both = preimages(LAYER, [0, 1, 0, 0, 0, 0])
    complex_pair = preimages(LAYER, [1, 0, 1, 0, 0, 0])
    numbers = [1, 2, 4]
    return {
        "layer": (SingleLayer(3, 2, 2), ["36", "13"]),
        "network": (DeepNetwork((4, 3, 4), (2, 2), heads=2), ["heads", "2"]),
        "verdict": (
            Verdict("corollary-3.3", Status.CONFIRMED, True, 13, 13, Evidence.PROVED, "ranks", "native", 1.0),
            ["corollary-3.3", "confirmed (proved)", "13"],
        ),
        "report": (
            verify(SingleLayer(3, 2, 2), ("theorem-3.4.singular", "lemma-A.3"), "native"),
            ["theorem-3.4.singular", "refuted", "proved", "confirmed"],
        ),
        "strata": (strata_table(SingleLayer(3, 2, 2)), ["(2,1,2)", "14", "yes", "36"]),
        "ideal": (ideal, ["45", "621", "1700", "6736", "136"]),
        "module": (ideal.generators[0], ["45"]),
        "fiber": (both, ["2", "in M"]),
        "pair over a field": (complex_pair, ["-4", "in M̄, not in M"]),
        "no preimage": (preimages(LAYER, [1, 0, 0, 0, 0, 1]), ["0", "not in M̄"]),
        "weights": (fiber(weights(K=[[1, 2]], Q=[[0, 1]], V=[[1, 0]])), ["rescaling", "swapped", "1"]),
        "network fiber": (
            network_fiber(
                DeepNetwork((2, 2, 1), (2, 2), t=2),
                {"A_1": [[1, 2], [2, 4]], "V_1": [[1, 0], [0, 1]], "A_2": [[1, 1], [0, 1]], "V_2": [[1, 3]]},
            ),
            ["rank-one head", "15 of 22", "1 skew", "proved"],
        ),
        "identified": (identify(LAYER, numbers[:1] + [0] * 5), ["yes", "proved"]),
        "outside": (identify(LAYER, [1, 0, 0, 0, 0, 1]), ["no"]),
        "dimension": (with_paper(dimension(DeepNetwork((3, 3, 3), (1, 2), t=3))), ["18", "20", "proved"]),
        "symmetries": (
            linear_symmetries(SingleLayer(2, 1, 1, t=2)),
            ["GL(a)", "K, Q", "abelian of dimension 2", "proved"],
        ),
        "rank": (rank([[1, 2], [2, 4]]), ["1 (proved)", "2 × 2"]),
        "tangent": (tangent_bounds(SingleLayer(3, 2, 2), Stratum(2, 1, 2)), ["14", "13"]),
        "section": (resultant_section(LAYER, standard_slice(LAYER)), ["surface", "singular points"]),
        "equal": (
            equivalent(
                {"A": [[[1]], [[2]]], "V": [[[1]], [[2]]]}, {"A": [[[2]], [[3]]], "V": [[[2]], [["1/3"]]]}
            ),
            ["equal", "proved", "becomes head", "rescaling", "3"],
        ),
        "different": (equivalent({"A": [[1]], "V": [[1]]}, {"A": [[2]], "V": [[1]]}), ["different", "by 2"]),
        "figure": (compute_figure_1(LAYER, engine="native"), ["pinches at (0, 0, 0)"]),
    }


def words(html):
    """The text of a piece of HTML, which has to be well-formed; nothing in it may load anything."""
    closed = re.sub(r"(<img [^>]*)>", r"\1/>", html)
    tree = ElementTree.fromstring(f"<div>{closed}</div>")
    for element in tree.iter():
        assert element.tag in {
            "div", "span", "table", "caption", "thead", "tbody", "tr", "th", "td", "sub", "figure", "img",
            "figcaption", "wbr", *MATHML,
        }  # fmt: skip
        assert all(value.startswith("data:") for name, value in element.items() if name in ("src", "href"))
    return " ".join("".join(tree.itertext()).split())


def test_html():
    for name, (thing, numbers) in objects().items():
        text = words(thing._repr_html_())
        assert not [word for word in ("\\", "_{", "None", "Fraction") if word in text], name
        assert [number for number in numbers if number not in text] == [], name


def test_latex():
    for name, (thing, _) in objects().items():
        has_rows = is_sound(thing._repr_latex_())
        assert has_rows or name in ("layer", "network")


def is_sound(latex):
    """Between dollars, with balanced braces, and every row of an array as long as its columns say."""
    assert latex.startswith("$") and latex.endswith("$")
    plain = re.sub(r"\\[{}\\]", "", latex)
    depth = 0
    for letter in plain:
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0
    assert depth == 0
    body = re.fullmatch(r"\$\\begin\{array\}\{(l+)\} (.*) \\end\{array\}\$", latex, re.DOTALL)
    if body:
        columns, rows = body.groups()
        rows = re.sub(r"\\begin\{pmatrix\}.*?\\end\{pmatrix\}", "matrix", rows)
        rows = re.sub(r"\\text\{(\\.|[^{}]|\{[^{}]*\})*\}", "text", rows)
        assert {row.count("&") + 1 for row in rows.split(r"\\")} == {len(columns)}, latex
    return body is not None


def test_numbers_stand_in_the_right_places():
    """The ideal by degree: each row of the table against the ideal itself."""
    ideal = objects()["ideal"][0]
    tree = ElementTree.fromstring(f"<div>{ideal._repr_html_()}</div>")
    first, second = tree.findall("table")
    rows = [["".join(cell.itertext()) for cell in row] for row in first.find("tbody")]
    assert [row[:4] for row in rows] == [
        [str(n) for n in (p.degree, p.ideal_dimension, p.hilbert_function, p.minimal_generators)]
        for p in ideal.degrees
    ]
    assert rows[1][4].startswith("S(1,1)⊗S(1,1)⊗S(4)(dim") and rows[0][4] == ""
    shown = [[int("".join(cell.itertext())) for cell in row[1:3]] for row in second.find("tbody")]
    assert shown == [[m.degree, m.dimension] for m in ideal.generators]
    strata = objects()["strata"][0]
    body = ElementTree.fromstring(strata._repr_html_()).find("tbody")
    assert [["".join(cell.itertext()) for cell in row][:2] for row in body] == [
        [str(row.stratum), str(row.dimension)] for row in strata.rows
    ]
    latex = strata._repr_latex_()
    for row in strata.rows:
        assert rf"\text{{{row.stratum}}} & {row.dimension} & " in latex


def test_what_is_hostile_is_shown_as_text():
    base = Verdict(HOSTILE, Status.UNDECIDED, True, 5, HOSTILE, None, HOSTILE, HOSTILE, 1.0)
    report = objects()["report"][0].replace(verdicts=(base,))
    for thing in (base, report, Table(HOSTILE, (HOSTILE,), ((HOSTILE,),))):
        html = thing._repr_html_() if hasattr(thing, "_repr_html_") else table_html(thing)
        assert "<script" not in html and HOSTILE in words(html)
        latex = thing._repr_latex_() if hasattr(thing, "_repr_latex_") else table_latex(thing)
        assert r"$\input" not in latex and r"\textbackslash{}input\{x\}" in latex and r"\%" in latex
    assert text_latex("a_b") == r"\text{a\_b}"


def test_formulas():
    def words(latex):
        return "".join(ElementTree.fromstring(mathml(latex)).itertext())

    assert words(r"S_{(2)} \otimes S_{(1,1)}") == "S(2)⊗S(1,1)"
    assert words(r"\dim \overline{\mathcal{M}} - 1") == "dimℳ−1"
    assert words(r"\text{a & b}, \quad x") == "a\N{NO-BREAK SPACE}&\N{NO-BREAK SPACE}b,x"
    tree = ElementTree.fromstring(mathml(matrix([[1, Fraction(1, 2)], [-3, 0.25]]).latex))
    cells = ["".join(cell.itertext()) for cell in tree.iter() if cell.tag.endswith("}mtd")]
    assert cells == ["1", "1/2", "−3", "0.25"]
    assert Math("x") == Math("x")


@pytest.mark.parametrize("rule", [False, True])
@pytest.mark.parametrize("width", [80, 20])
def test_in_a_terminal_nothing_is_cut_off(width, rule):
    console = Console(file=io.StringIO(), width=width)
    row = ("theorem-3.4.singular", Word("refuted"), 12, "[bold]a[/bold] b " * 3)
    print_table(Table("", ("claim", "verdict", "number", Wide("computed")), (row,), ruled=rule), console)
    text = console.file.getvalue()
    assert " ".join(text.split()).count("[bold]a[/bold] b") == 3
    assert "theorem-3.4.singular" in text and "refuted" in text and "12" in text
    assert ("  verdict: refuted" in text) == (width == 20)
