"""``agattn ideal``."""

import re

import pytest
import sympy
from command_line import call, document

from agattn.geometry.ideal.export import ENDINGS


@pytest.mark.parametrize(
    "arguments",
    [("-d", "2", "-o", "1"), ("-d", "3", "-o", "2", "-a", "2"), ("-d", "2", "-o", "2", "-a", "1", "-t", "1"),
     ("-d", "768", "-o", "64", "-a", "64", "--max-degree", "3"), ("-d", "1", "-o", "2")],
)  # fmt: skip
def test_json_follows_the_schema(arguments):
    for piece in document("ideal", *arguments)["degrees"]:
        total = sum(m["dimension"] * m["ideal"] for m in piece["modules"])
        assert total == piece["ideal_dimension"]


def test_text_shows_the_resultant():
    shown = call("ideal", "-d", "2", "-o", "1").out
    assert "M(2,1,2)" in shown
    assert "resultants of two forms of one row" in shown


def test_file_is_written(tmp_path):
    file = tmp_path / "equations.sing"
    assert call("ideal", "-d", "2", "-o", "1", "-O", file).err == f"wrote {file}\n"
    assert file.read_text().startswith("// Ideal of M(2,1,2) to degree 4: 1 quartic")
    assert call("ideal", "-d", "2", "-o", "1", "--format", "singular").out == file.read_text()


def test_the_ending_says_the_format(tmp_path):
    layer = ["-d", "2", "-o", "2", "-a", "1"]
    for ending, form in ENDINGS.items():
        file = tmp_path / f"equations{ending}"
        call("ideal", *layer, "-O", file)
        assert file.read_text() == call("ideal", *layer, "--format", form, "-O", "-").out
    names: dict = {}
    exec((tmp_path / "equations.py").read_text(), names)
    latex = (tmp_path / "equations.tex").read_text()
    assert latex.count(" = 0") == len(names["equations"]) == 20
    latex = latex[latex.index("  %") : latex.index("\\end")].replace(" \\\\\n  &\\quad ", " ")
    latex = re.sub(r"y_\{(\d),(\d),(\d),(\d)\}", r"y_\1_\2_\3_\4", re.sub(r"\^\{(\d+)\}", r"**\1", latex))
    shown = [line.strip(" &\\").removesuffix(" = 0") for line in latex.splitlines() if "&" in line]
    read = [sympy.sympify(re.sub(r"(?<=\w) (?=\w)", "*", line)) for line in shown]
    assert read == names["equations"]


@pytest.mark.slow
@pytest.mark.engine("macaulay2")
def test_engine_methods_fill_the_same_schema():
    found = document("ideal", "-d", "2", "-o", "1", "--engine", "M2")
    assert found == document("ideal", "-d", "2", "-o", "1", "--method", "macaulay2")  # the former name
    assert [piece["minimal_generators"] for piece in found["degrees"]] == [0, 0, 0, 1]


@pytest.mark.slow
@pytest.mark.engine("macaulay2", "singular")
def test_completeness_is_reported():
    found = document("ideal", "-d", "2", "-o", "1", "--complete", "--engine", "singular")["complete"]
    assert (found["prime"], found["whole"], found["evidence"]) == (True, True, "proved")
    found = document("ideal", "-d", "2", "-o", "1", "--complete")["complete"]
    assert (found["prime"], found["whole"], found["evidence"]) == (None, True, "proved")
    assert "irreducible hypersurface" in found["theorem"]
    words = ["ideal", "-d", "2", "-o", "1", "--complete", "--engine", "SINGULAR"]
    assert "\ncomplete: they generate a prime ideal" in call(*words).out
    assert "\nnot complete: they cut out a variety of dimension 6" in call(*words, "--max-degree", "3").out
    ended = call(*words, "--timeout", "0.01")
    assert ended.status == 3 and "\nnot known to be complete: the engine did not finish" in ended.out


@pytest.mark.slow
def test_equations_of_networks_and_models(tmp_path):
    cubic = ("ideal", "--model", "examples/maps.py:cubic", "--max-degree", "2")
    found = document(*cubic)
    assert [group["equations"] for group in found["generators"]] == [
        ["-y_2^2 + y_1*y_3"],
        ["-y_2*y_3 + y_1*y_4"],
    ]
    assert found["degrees"][1]["minimal_generators"] == 3 and not found["affine"] and found["dimension"] == 2
    shown = call(*cubic).out
    assert shown.startswith("twisted_cubic(s: 2): dim 2 in 4 coordinates\n") and "\ny_4: output 4\n" in shown
    heads = call("ideal", "--dims", "3,1", "--ranks", "1", "--heads", "2", "-t", "2", "--max-degree", "3").out
    assert "\n3   20          1120               20                   proved\n" in heads
    assert "y_1: coefficient of x_(1,1)^3 in output 1" in heads
    # One head of a network is a layer, with its modules; the document names what was asked about.
    one = document("ideal", "--dims", "2,1", "--ranks", "2", "-t", "2", "--max-degree", "4")
    layer = document("ideal", "-d", "2", "-o", "1", "--max-degree", "4")
    assert one.pop("architecture")["dims"] == [2, 1] and layer.pop("architecture")["d_out"] == 1
    assert one == layer
    for ending in ENDINGS:
        file = tmp_path / f"equations{ending}"
        assert call(*cubic, "-O", file).err == f"wrote {file}\n"
        assert file.read_text().count("y") > 6 or ending == ".json"
    text = (tmp_path / "equations.m2").read_text()
    assert (
        "-- y_1: output 1\n" in text
        and "I = ideal(\n  -- multidegree (2, 2) and 1 more\n  -y_2^2 + y_1*y_3,\n" in text
    )


def test_the_closure_of_a_stratum():
    layer = ("-d", "3", "-o", "2", "-a", "2")
    found = document("ideal", *layer, "--stratum", "1,1,2")
    assert (found["stratum"], found["dimension"], found["degree"]) == ([1, 1, 2], 8, 315)
    assert [piece["minimal_generators"] for piece in found["degrees"]] == [0, 288, 40, 0]
    assert {piece["evidence"] for piece in found["degrees"]} == {"proved"}
    assert sum(module["dimension"] for module in found["generators"]) == 328
    assert "rk [V; Aᵀ] ≤ 2" in call("ideal", *layer, "--stratum", "1,1,2").out
    assert "stratum" not in document("ideal", *layer, "--max-degree", "2")


def test_the_layer_of_a_stratum_may_be_written_as_a_network():
    words = ("ideal", "--dims", "3,2", "--ranks", "2", "-t", "2", "--stratum", "1,1,1", "--max-degree", "1")
    found = document(*words)
    assert (found["architecture"]["dims"], found["dimension"]) == ([3, 2], 6)
