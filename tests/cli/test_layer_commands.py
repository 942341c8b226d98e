"""What commands say of layers and networks: their documents, what is printed, and what is written."""

import json
import re
import shutil

import numpy as np
import pytest
import sympy
from command_line import ROOT, call, document, timeless

from agattn.architectures import SingleLayer
from agattn.claims import NETWORK_CLAIMS, network_dimension
from agattn.geometry.ideal.export import ENDINGS
from agattn.verification.verify import verify

# Certificate

THIN = ["certificate", "3", "2", "2", "--claim", "theorem-3.4.singular", "--claim", "agattn.degree"]


def test_a_refutation_is_certified_and_checked(tmp_path):
    file = tmp_path / "new" / "m322.json"
    status, out, err = call(*THIN, "-O", file)
    assert status == 1 and err == f"wrote {file}\n"
    assert "theorem-3.4.singular  refuted    (2,1,2) (2,1,3)" in out
    assert call("check", file).status == 0


def test_the_document_has_the_certificate_in_it(tmp_path):
    found = document("certificate 2 1 --claim 3.4 --claim agattn.hilbert-function")
    assert found["certified"]["theorem-3.4.closed"] == "confirmed"
    [(claim, reason)] = found["uncertified"].items()
    assert claim == "agattn.hilbert-function" and reason
    file = tmp_path / "c.json"
    file.write_text(json.dumps(found["certificate"]), encoding="utf-8")
    assert found["file"] is None and call("check", file).status == 0


def test_on_stdout_there_is_nothing_but_the_certificate():
    ended = call(*THIN, "-O", "-")
    assert ended.status == 1 and json.loads(ended.out)["format"] == "agattn certificate 2"


def test_a_network_and_what_has_no_certificate():
    words = ["--dims", "2,2,1", "--ranks", "2,2", "-t", "2"]
    for claim in ("agattn.deep-zeros", "corollary-3.8", "agattn.network-dimension"):
        words += ["--claim", claim]
    found = document("certificate", *words)
    assert found["certified"] == {"agattn.deep-zeros": "confirmed"}
    assert "it assumes t ≥ 3" in found["uncertified"]["corollary-3.8"]
    assert "differential" in found["uncertified"]["agattn.network-dimension"]
    out = call("certificate", *words).out
    assert "agattn.deep-zeros" in out and "not certified" in out


# Check


# Ideals


@pytest.mark.parametrize(
    "arguments",
    [("-d", "2", "-o", "1"), ("-d", "3", "-o", "2", "-a", "2"), ("-d", "2", "-o", "2", "-a", "1", "-t", "1"),
     ("-d", "768", "-o", "64", "-a", "64", "--max-degree", "3"), ("-d", "1", "-o", "2")],
)  # fmt: skip
def test_json_follows_the_schema(arguments):
    for piece in document("ideal", *arguments)["degrees"]:
        total = sum(m["dimension"] * m["ideal"] for m in piece["modules"])
        assert total == piece["ideal_dimension"]


def test_the_ending_says_the_format(tmp_path):
    layer = ["-d", "2", "-o", "2", "-a", "1"]
    files = [tmp_path / f"equations{ending}" for ending in ENDINGS]
    ended = call("ideal", *layer, *(word for file in files for word in ("-O", file)))
    assert ended.err == "".join(f"wrote {file}\n" for file in files)
    for file in files:
        assert file.read_text() == call("ideal", *layer, "--format", file.suffix[1:], "-O", "-").out
        assert file.read_text() == call("ideal", *layer, "--format", file.suffix[1:]).out
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
def test_equations_of_networks_and_models(tmp_path):
    cubic = ("ideal", "examples/maps.py:cubic", "--max-degree", "2")
    found = document(*cubic)
    equations = [group["equations"] for group in found["generators"]]
    assert equations == [["-y_2^2 + y_1*y_3"], ["-y_2*y_3 + y_1*y_4"]]
    assert found["degrees"][1]["minimal_generators"] == 3 and not found["affine"]
    shown = call(*cubic).out
    assert shown.startswith("twisted_cubic(s: 2): dim 2 in 4 coordinates\n") and "\ny_4: output 4\n" in shown
    heads = call("ideal --dims 3,1 --ranks 1 --heads 2 -t 2 --max-degree 3").out
    assert "\n3   20          1120               20                   proved\n" in heads
    assert "y_1: coefficient of x_(1,1)^3 in output 1" in heads
    # One head of a network is a layer, with its modules; the document names what was asked about.
    one = document("ideal --dims 2,1 --ranks 2 -t 2 --max-degree 4")
    layer = document("ideal -d 2 -o 1 --max-degree 4")
    assert one.pop("architecture")["dims"] == [2, 1] and layer.pop("architecture")["d_out"] == 1
    assert one == layer
    for ending in ENDINGS:
        file = tmp_path / f"equations{ending}"
        assert call(*cubic, "-O", file).err == f"wrote {file}\n"
        assert file.read_text().count("y") > 6 or ending == ".json"
    text = (tmp_path / "equations.m2").read_text()
    assert "-- y_1: output 1\n" in text
    assert "I = ideal(\n  -- multidegree (2, 2) and 1 more\n  -y_2^2 + y_1*y_3,\n" in text


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


# Critical points

DATA = {"X": [[[1, 0], [2, 1]], [[0, 3], [1, 1]], [[2, 1], [-1, 4]]], "Y": [[[1, 2]], [["1/2", 0]], [[3, 1]]]}


def test_data_from_a_file(singular, tmp_path):
    file = tmp_path / "data.json"
    file.write_text(json.dumps(DATA))
    found = document("critical-points -d 2 -o 1 --data", str(file))
    assert (found["metric"], found["samples"], found["rank"]) == ("data", 3, 6)
    assert (found["regular"], found["dimension"], found["evidence"]) == (14, 0, "proved")
    assert (found["method"], found["theorem"]) == ("elimination", None)
    counted = document("critical-points -d 2 -o 1 --data", str(file), "--engine", "singular")
    assert counted["fields"] == ["ZZ/32003", "ZZ/32009"] and counted["strata"] == found["strata"]
    assert [(row["r"], row["count"]) for row in found["strata"]] == [(1, 14), (2, 10)]
    npz = tmp_path / "data.npz"
    np.savez(npz, X=np.array(DATA["X"], float), Y=np.array([[[1, 2]], [[0.5, 0]], [[3, 1]]]))
    assert document("critical-points -d 2 -o 1 --data", str(npz)) == found


def test_numbers_by_theorem():
    shown = call("critical-points -d 4 -o 1 --metric bombieri-weyl").out
    assert "smooth part          0      40" in shown
    assert "by theorem critical-points.bombieri-weyl (proved)" in shown
    found = document("critical-points -d 4 -o 1 --engine native")
    assert (found["regular"], found["theorem"]) == (35964, "critical-points.general-data")
    known = (found["evidence"], found["method"], found["fields"], found["engine"])
    assert known == ("proved", "theorem", [], "native")
    assert [row["count"] for row in found["strata"]] == [3772, 100382]


# Real critical points

SMALL = ["-d", "2", "-o", "1"]


def test_weights_near_a_saddle(tmp_path):
    file = tmp_path / "w.json"
    weights = {"K": [[0.097, 0.119], [0.001, 0.0]], "Q": [[0.147, -0.047], [0.0, 0.001]], "V": [[1.0, -0.54]]}
    file.write_text(json.dumps(weights))
    found = document("critical-points", *SMALL, "--seed", "1", "--weights", str(file))
    first, second = found["near"]
    assert (first["rank"], first["escapes"], first["local_minimum"]) == (1, 1, False)
    assert first["distance"] < 0.05
    assert (second["rank"], second["index"], second["local_minimum"]) == (2, 0, True)
    assert found["loss"] - first["excess"] - first["point"]["loss"] < 1e-9
    shown = call("critical-points", *SMALL, "--seed", "1", "--weights", str(file)).out
    assert "1 direction that raises the rank of A" in shown


# Identifiability


def test_functions_and_weights(tmp_path):
    file, written = tmp_path / "weights.json", tmp_path / "found.json"
    file.write_text(json.dumps({"K": [[1, 2]], "Q": [[0, 1]], "V": [[0, 0]]}))
    words = "identifiability 2 1 1", "--functions", "K^T Q + Q^T K", "--functions", "K ⊗ V"
    ended = call(*words, "--at", file, "-O", written)
    assert ended.status == 0
    found = json.loads(written.read_text())
    assert found["at_weights"] and found["fiber_dimension"] == 4
    assert [(row["expression"], row["status"], row["free"]) for row in found["functions"]] == [
        ("K^T Q", "not", 3), ("K^T Q + Q^T K", "not", 3), ("K ⊗ V", "locally", 0),
    ]  # fmt: skip
    assert document(*words, "--weights", file) == found


def test_a_group_of_heads_in_a_file():
    found = document("identifiability examples/maps.py:shared --functions", "K^T Q[1]")
    rows = {row["name"]: (row["status"], row["evidence"], row["free"]) for row in found["functions"]}
    assert rows["K^T Q[1]"] == ("not", "proved", 2)
    assert rows["sum_i K^T Q ⊗ O P"] == ("locally", "proved", 0)


# Singularities


def test_a_layer_is_a_network_of_one_and_pairs_are_more(tmp_path):
    out = tmp_path / "kinds.json"
    found = document("singularities -d 2 -o 1 -O", out)
    assert out.exists() and found["closed"] is True and found["limits"] is None
    more = document("singularities -d 2 -o 1 --pairs")
    assert len(more["kinds"]) > len(found["kinds"])


@pytest.mark.slow
def test_two_heads_have_limits_that_no_weights_reach():
    found = document("singularities --dims 4,1 --ranks 1 --heads 2 -t 2")
    assert found["closed"] is False and found["limits"]["at_most"] == found["dimension"] - 1
    assert found["limits"]["witness"]["heads"]
    shown = call("singularities --dims 4,1 --ranks 1 --heads 2")
    assert "A limit outside: y_11 = " in " ".join(shown.out.split())


# Strata


def test_outside_the_hypotheses_the_paper_says_nothing():
    rows = document("strata -d 2 -o 1 -a 1")["strata"]
    assert {row["singular_by_paper"] for row in rows} == {None}
    assert [row["singular"] for row in rows] == [True, False, False]


# Symmetries

NARROW = ("--dims", "3,1,2", "--ranks", "2,2", "-t", 2)


def test_symmetries_and_the_document_say_the_same():
    found, shown = document("symmetries", *NARROW), call("symmetries", *NARROW)
    assert shown.status == 0
    assert "13 linear symmetries, sl(2) + sl(2) + sl(2) + center of dimension 4; orbits of" in shown.out
    assert "orbits of dimension 10 (proved)" in shown.out and "At most 13:" in shown.out
    assert "at most 11, the 21 parameters minus 10." in shown.out
    assert (found["dimension"], found["orbit_dimension"], found["evidence"]) == (13, 10, "proved")
    assert (found["center"], found["derived"], found["radical"]) == (4, 9, 4)
    assert [f["dimension"] for f in found["families"]] == [4, 1, 1, 4, 1, 2]
    assert len(found["generators"]) == 13
    last = found["generators"][-1]
    assert last["family"] == "new" and last["moves"] in shown.out
    # Q_2 begins at 11, after K_1, Q_1 (2 x 3 each), V_1 (1 x 3) and K_2 (2 x 1): K_2[2] goes into Q_2[1].
    assert last["entries"] == [[17, 16, "1"], [18, 15, "-1"]]


# Verify networks

BOTTLENECK = ["verify", "--dims", "4,3,4", "--ranks", "2,2", "-t", "3", "--engine", "native"]


def test_all_claims_about_a_network():
    result = document(*BOTTLENECK)
    assert result["architecture"]["dims"] == [4, 3, 4] and result["architecture"]["heads"] == [1, 1]
    verdicts = {claim["id"]: claim["verdict"] for claim in result["claims"]}
    assert verdicts.keys() == NETWORK_CLAIMS.keys()
    assert {name for name, verdict in verdicts.items() if verdict == "confirmed"} == {
        "lemma-3.5", "lemma-3.6", "equation-12", "theorem-3.7", "corollary-3.8", "agattn.network-dimension",
        "agattn.deep-zeros", "agattn.deep-not-closed", "agattn.deep-boundary",
    }  # fmt: skip
    assert set(verdicts.values()) == {"confirmed", "inapplicable"}


@pytest.mark.slow
def test_both_engines_and_the_whole_fiber(both_engines):
    (claim,) = document("verify --dims 2,2,1 --ranks 2,2 --engine all --claim theorem-3.7")["claims"]
    assert (claim["verdict"], claim["evidence"]) == ("confirmed", "proved in part")
    assert claim["computed"] == {"dimension": 2, "other_components": 0}
    assert "macaulay2" in claim["engine"] and "singular" in claim["engine"]


def test_a_refutation_is_status_1(monkeypatch):
    monkeypatch.setattr(network_dimension, "equation_14", lambda network: 34)
    result = document(*BOTTLENECK, "--claim", "corollary-3.8", status=1)
    assert result["claims"][0]["verdict"] == "refuted" and result["claims"][0]["computed"] == 33
    status, out, _ = call(*BOTTLENECK, "--claim", "corollary-3.8")
    assert status == 1 and "the formula gives 34" in out


@pytest.mark.slow
def test_undecided_is_status_3():
    arguments = ["verify", "--dims", "36,36", "--ranks", "1", "--claim", "lemma-3.5"]
    assert document(*arguments, status=3)["claims"][0]["computed"] is None


# Dimensions, figures


def test_a_field_that_no_engine_was_asked_about_is_told():
    asked, told = ["verify", "2", "1", "--claim", "3.3"], "The field of 32003 elements changed nothing"
    assert told in call(*asked, "--field", "32003").out and told not in call(*asked).out
    assert told in call(*asked, "--field", "32003", "--json").err
    assert told in str(verify(SingleLayer(2, 1), "3.3", characteristic=32003))


@pytest.mark.parametrize("entry", ['"1/101"', '"3/202"'])
def test_a_point_is_read_in_the_field(tmp_path, entry):
    file = tmp_path / "point.json"
    file.write_text(f'{{"A": [[{entry}, 0], [0, 1]], "V": [[1, 0]]}}')
    assert call("emit fiber", *SMALL, "--point", file, "--field", "103").status == 0


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path):
    file = tmp_path / "point.json"
    file.write_text('\ufeff{"A": [[1, 0], [0, 1]], "V": [[1, 0]]}', encoding="utf-8")
    assert call("emit fiber", *SMALL, "--point", str(file))[0] == 0
    certificate = (ROOT / "docs" / "certificates" / "m322.json").read_text(encoding="utf-8")
    file.write_text("\ufeff" + certificate, encoding="utf-8")
    assert call("check", str(file))[0] == 0


def test_a_degree_with_too_many_digits_is_left_out_at_once():
    code, out, _ = call("ideal -d 1000000 -o 1 --max-degree 1 --json")
    assert code == 0 and json.loads(out)["degree"] is None


# An architecture is one word.


@pytest.mark.parametrize(
    ("named", "described"),
    [
        ("verify 2,1 --claim 3.4 --engine native", "verify -d 2 -o 1 --claim 3.4 --engine native"),
        ("verify 3 2 2 --claim 3.3", "verify -d 3 -o 2 -a 2 --claim 3.3"),
        ("dimension 4 1 -t 1", "dimension -d 4 -o 1 -t 1"),
        ("strata 2 1", "strata -d 2 -o 1"),
        ("emit implicit-ideal 2 1 1", "emit implicit-ideal -d 2 -o 1 -a 1"),
        ("emit fiber 2,1,1 --engine singular", "emit fiber -d 2 -o 1 -a 1 --engine singular"),
        ("figure 1 2 1 1 --engine native", "figure 1 -d 2 -o 1 -a 1 --engine native"),
        ("figure 1 --engine native", "figure 1 2,1,2 --engine native"),
        ("rlct 2 2", "rlct -d 2 -o 2"),
        ("rlct -t 3 2,2,1", "rlct -d 2 -o 2 -a 1 -t 3"),
        ("identify examples/tensor.json 2 1", "identify -d 2 -o 1 examples/tensor.json"),
    ],
)
def test_sizes_are_the_word_of_a_layer(named, described):
    first, second = (re.sub(r"[\d.]+ s\b", "", str(call(line))) for line in (named, described))
    assert first == second


def test_files_are_words_and_weights_are_known_by_what_they_hold(tmp_path):
    deep = document("dimension examples/grouped-config.json")
    folder = tmp_path / "model"
    folder.mkdir()
    shutil.copy(ROOT / "examples" / "grouped-config.json", folder / "config.json")
    assert timeless(document("dimension", folder)) == timeless(deep)
    weights = tmp_path / "weights.json"
    weights.write_text(json.dumps({"A": [[1, 0], [0, 0]], "V": [[1, 2]]}))
    assert call("rlct", weights).out == call("rlct", weights, "-t", "2").out
    ended = call("rlct", weights, "examples/grouped-config.json")
    assert ended.status == 2 and "41943040 parameters" in ended.err
