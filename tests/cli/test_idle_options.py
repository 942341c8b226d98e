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
from agattn.verification.verbs import verify

LAYER = ["-d", "2", "-o", "1"]


def test_a_field_that_no_engine_was_asked_about_is_told():
    asked, told = ["verify", *LAYER, "--claim", "3.3"], "The field of 32003 elements changed nothing"
    assert told in call(*asked, "--field", "32003").out and told not in call(*asked).out
    assert told in call(*asked, "--field", "32003", "--json").err
    assert told in str(verify(SingleLayer(2, 1), "3.3", characteristic=32003))


@pytest.mark.parametrize("entry", ['"1/101"', '"3/202"'])
def test_a_point_is_read_in_the_field(tmp_path, entry):
    file = tmp_path / "point.json"
    file.write_text(f'{{"A": [[{entry}, 0], [0, 1]], "V": [[1, 0]]}}')
    assert call("emit", "fiber", *LAYER, "--point", file, "--field", "103").status == 0


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
