"""Options that would do nothing, fields that are none, sizes beyond the limit: refused before any work."""

import json
import os
import signal

import pytest
from command_line import ROOT, call, start

from agattn.architectures import DeepNetwork, SingleLayer
from agattn.architectures.network import check_tokens
from agattn.cli.output import check_destination, check_drawing
from agattn.errors import InputError, TooLargeError
from agattn.geometry.variety.degree import degree_is_below, expected_degree
from agattn.verification.verify import verify

LAYER = ["-d", "2", "-o", "1"]
NETWORK = ["--dims", "2,2", "--ranks", "1"]
REFUSED = [
    (["ideal", *LAYER, "--complete", "--field", "4"], "which is no field"),
    (["ideal", *LAYER, "-O", "x.m2", "--field", "4"], "which is no field"),
    (["verify", *LAYER, "--engine", "native", "--field", "4"], "which is no field"),
    (
        ["verify", *LAYER, "--engine", "native", "--field", "32003"],
        "--field is for engines; native",
    ),
    (["verify", *LAYER, "-t", ""], "t is ''"),
    (["verify", *NETWORK, "--heads", ""], "heads is ''"),
    (["verify", *NETWORK, "--temperature", "2"], "--temperature"),
    (["dimension", *NETWORK, "--temperature", "2"], "--temperature"),
    (["verify", *NETWORK, "--normalization", ""], "normalization is ''"),
    (
        ["emit", "fiber", *LAYER, "--max-degree", "3"],
        "fiber of a layer takes no --max-degree; leave --max-degree out",
    ),
    (["emit", "fiber", *LAYER, "--prime"], "fiber of a layer takes no --prime; leave --prime out"),
    (
        ["emit", "virtual-fiber", *NETWORK, "--prime"],
        "virtual-fiber of a network takes no --prime; leave --prime out",
    ),
    (["emit", "virtual-fiber", *NETWORK, "--value-rank", "1"], "leave out --value-rank"),
    (["figure", "2", "-d", "9"], "-d is for figure 1"),
    (["figure", "2", "--engine", "native"], "--engine is for figure 1"),
    (["figure", "1", "--layers", "3"], "--layers is for figure 2"),
    (["figure", "1", "--engine", "nativ"], "did you mean 'native'?"),
    (["verify", *LAYER, "--engine", "nativ"], "did you mean 'native'?"),
    (["report", *LAYER, "--out", "x", "--engine", "nativ"], "did you mean 'native'?"),
    (["report", *LAYER, "--out", "x", "--heads", "2"], "-d describes a single layer and --heads a network"),
    (["report", *NETWORK, "--out", "x", "--max-degree", "2"], "--max-degree is for single layers"),
    (["ideal", *LAYER, "--method", "singular", "--workers", "3"], "--workers is for native computation"),
    (
        ["ideal", *LAYER, "-O", "x.txt"],
        "cannot write x.txt; its name must end in .m2, .sing, .py, .tex or .json, or give --format",
    ),
    (["ideal", *LAYER, "--complete", "--engine", "native"], "--complete asks an engine"),
    (["ideal", *LAYER, "--format", "latex", "--json"], "--format without -O and --json both print"),
    (["verify", *LAYER, "--json", "--certificate", "-"], "--certificate - and --json both print"),
    (["verify", *LAYER, "--certificate", "-", "--json"], "--certificate - and --json both print"),
    (
        ["emit", "fiber", *LAYER, "-O", "x.py"],
        "must end in .m2, .sing, .sh or .json; agattn ideal writes equations as .py and .tex",
    ),
    (["emit", "fiber", *LAYER, "-O", "x.m2", "--engine", "singular"], "x.m2 is a script for Macaulay2"),
    (["emit", "fiber", *LAYER, "-O", "-", "--json"], "-O - and --json both print"),
    (["emit", "implicit-ideal", *LAYER, "--samples", "3"], "takes no --samples; leave --samples out"),
    (["verify", *LAYER, "--report", ""], "--report is empty; give a name"),
    (["verify", *LAYER, "--claim", ""], "there is no claim ''"),
    (["rank", ""], "FILE is empty; give a name"),
    (["check", ""], "give either a certificate to check, or --write"),
    (["run", "x.m2", *LAYER], "-d is for a task"),
    (["run", "x.m2", "--json"], "--json is for a task"),
    (["run", "x.m2"], "there is no script x.m2; agattn emit TASK -O x.m2 writes one"),
    (["figure", "2", "-O", "-"], "must end in .png"),
    (["strata", "-d", "12", "-o", "12"], "11232 coordinates; the limit is 1000. Use --force"),
    (["audit", "--max-d", "60"], "the limit is 1000. Use --force"),
    (["figure", "1", "-d", "100000"], "the limit is 1000. Use --force"),
    (
        ["identifiability", "--dims", "2,2", "--ranks", "2", "--heads", "2", "-t", "30000"],
        "matrices of t × t entries do not fit",
    ),
    (["verify", "--dims", "2,2", "--ranks", "2", "-t", "1000000"], "1000000 tokens; the limit is 100"),
    (["verify", *LAYER, "-t", "1", "--certificate", "x"], "a certificate needs t ≥ 2"),
    (["verify", *LAYER, "--certificate", "/proc/x"], "cannot write /proc/x"),
    (["verify", *LAYER, "--report", "/proc/x"], "cannot write /proc/x"),
    (["figure", "2", "-O", "x.txt"], "must end in .png"),
    (["figure", "1", "-O", "/proc/x.html"], "cannot write /proc/x.html"),
    (["atlas", "-O", "/proc/x.md"], "cannot write /proc/x.md"),
    (["strata", *LAYER, "--hasse", "x.txt"], "must end in .png"),
    (["report", *LAYER, "--out", "/proc/x"], "cannot write /proc/x"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=lambda x: " ".join(x)[:60])
def test_it_is_refused_in_one_line(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1) and message in err
    assert list(tmp_path.iterdir()) == []


def test_a_field_that_no_engine_was_asked_about_is_told():
    asked, told = ["verify", *LAYER, "--claim", "3.3"], "The field of 32003 elements changed nothing"
    assert told in call(*asked, "--field", "32003").out and told not in call(*asked).out
    assert told in call(*asked, "--field", "32003", "--json").err
    assert told in str(verify(SingleLayer(2, 1), "3.3", characteristic=32003))


@pytest.mark.parametrize("entry", ['"1/101"', '"3/202"'])
def test_a_point_outside_the_field_is_bad_input(tmp_path, entry):
    file = tmp_path / "point.json"
    file.write_text(f'{{"A": [[{entry}, 0], [0, 1]], "V": [[1, 0]]}}')
    words = ["emit", "fiber", *LAYER, "--point", str(file), "--field"]
    code, _, err = call(*words, "101")
    assert code == 2 and "is no element of the field with 101 elements" in err
    assert call(*words, "103")[0] == 0


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path):
    file = tmp_path / "point.json"
    file.write_text('\ufeff{"A": [[1, 0], [0, 1]], "V": [[1, 0]]}', encoding="utf-8")
    assert call("emit", "fiber", *LAYER, "--point", str(file))[0] == 0
    certificate = (ROOT / "docs" / "certificates" / "m322.json").read_text(encoding="utf-8")
    file.write_text("\ufeff" + certificate, encoding="utf-8")
    assert call("check", str(file))[0] == 0


@pytest.mark.parametrize("layer", [SingleLayer(3, 2, 2), SingleLayer(5, 1, 1), SingleLayer(1, 4)])
def test_the_size_of_the_degree(layer):
    digits = len(str(expected_degree(layer)))
    assert degree_is_below(layer, digits) and not degree_is_below(layer, digits - 1)


def test_a_degree_with_too_many_digits_is_left_out_at_once():
    code, out, _ = call("ideal", "-d", "1000000", "-o", "1", "--max-degree", "1", "--json")
    assert code == 0 and json.loads(out)["degree"] is None


def test_tokens_are_counted():
    check_tokens(DeepNetwork((2, 2), (2,), t=1000))
    with pytest.raises(TooLargeError, match="t is 3000"):
        check_tokens(DeepNetwork((2, 2), (2,), t=3000))


def test_destinations(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    check_destination(tmp_path / "new" / "file.md")
    check_destination(tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    for path, folder in (("file", True), ("", False), ("file/x", False)):
        with pytest.raises(InputError, match="cannot write"):
            check_destination(tmp_path / path, folder=folder)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match="needs matplotlib"):
        check_drawing(tmp_path / "x.png")


def test_atlas_writes_the_page_also_with_json(tmp_path):
    words = [
        "atlas",
        "--max-width",
        "1",
        "--max-depth",
        "1",
        "--max-heads",
        "1",
        "-O",
        str(tmp_path / "a.md"),
    ]
    code, out, _ = call(*words, "--json")
    assert code == 0 and json.loads(out)["families"] and (tmp_path / "a.md").read_text().startswith("#")


@pytest.mark.parametrize("columns", ["20", "40", "60"])
@pytest.mark.parametrize("command", [["verify", "--engine", "native"], ["strata"]], ids=lambda c: c[0])
def test_nothing_is_cut_off_in_a_narrow_terminal(monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", "200")
    wide = call(*command, *LAYER)[1]
    monkeypatch.setenv("COLUMNS", columns)
    narrow = call(*command, *LAYER)[1]
    assert "…" not in narrow
    words = {word for word in wide.split() if set(word) != {"─"} and not word[0].isdigit()}
    told = set(narrow.replace(":", " ").replace("\n", " ").split())
    headings = {"claim", "stratum"}  # of the first column, which heads the paragraphs
    assert {word.strip(":;,.") for word in words} - {w.strip(":;,.") for w in told} <= headings


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_does_not_wait_for_native_computations():
    code = (
        "import os, time, agattn.verification.verify as v\n"
        "def slow(*_):\n"
        "    os.write(1, b'started\\n')\n"
        "    time.sleep(600)\n"
        "v._Work._compute = slow\n"
        "from agattn.cli.main import main\n"
        "main(['verify', '-d', '2', '-o', '1', '--engine', 'native'])\n"
    )
    process = start(code=code)
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=30)[1]  # long before the computation ends
    assert process.returncode == 130 and "Traceback" not in err and "interrupted" in err
