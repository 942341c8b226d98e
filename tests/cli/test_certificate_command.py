"""``agattn certificate``: what it writes is what ``agattn check`` takes, and what it cannot do it says."""

import json

import pytest
from command_line import call, document

THIN = ["certificate", "3", "2", "2", "--claim", "theorem-3.4.singular", "--claim", "agattn.degree"]
MODEL = '[input]\ndim = 2\n[[layer]]\ntype = "perceptron"\nwidths = [2, 1]\ndegree = 3\n'


def test_a_refutation_is_certified_and_checked(tmp_path):
    file = tmp_path / "new" / "m322.json"
    status, out, err = call(*THIN, "-O", file)
    assert status == 1 and err == f"wrote {file}\n"
    assert "theorem-3.4.singular  refuted    (2,1,2) (2,1,3)" in out
    assert call("check", file).status == 0


def test_it_is_the_certificate_of_verify(tmp_path):
    here, there = tmp_path / "a.json", tmp_path / "b.json"
    call(*THIN, "-O", here)
    assert call("verify", *THIN[1:], "--engine", "native", "--certificate", there).status == 1
    assert here.read_text(encoding="utf-8") == there.read_text(encoding="utf-8")


def test_the_document_has_the_certificate_in_it(tmp_path):
    found = document("certificate", "2", "1", "--claim", "3.4", "--claim", "agattn.hilbert-function")
    assert found["certified"]["theorem-3.4.closed"] == "confirmed"
    assert (
        list(found["uncertified"]) == ["agattn.hilbert-function"]
        and found["uncertified"]["agattn.hilbert-function"]
    )
    file = tmp_path / "c.json"
    file.write_text(json.dumps(found["certificate"]), encoding="utf-8")
    assert found["file"] is None and call("check", file).status == 0


def test_without_a_file_it_says_how_to_write_one():
    status, out, err = call(*THIN)
    assert status == 1 and "2 claims, 2 certified" in out
    assert err == "nothing was written; -O FILE.json writes the certificate\n"


def test_on_stdout_it_is_nothing_but_the_certificate():
    status, out, err = call(*THIN, "-O", "-")
    assert (status, err) == (1, "") and json.loads(out)["format"] == "agattn certificate 1"


def test_verify_prints_nothing_but_the_certificate_where_it_goes_to_stdout():
    status, out, _ = call("verify", *THIN[1:], "--engine", "native", "--certificate", "-")
    assert status == 1 and json.loads(out)["format"] == "agattn certificate 1"


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["2", "1", "-O", "/proc/x.json"], "cannot write /proc/x.json"),
        (["2", "1", "-O", "t.docx"], "cannot write t.docx; its name must end in .json"),
        (["2", "1", "-O", "-", "--json"], "both print on stdout"),
        (["2", "1", "-t", "1"], "a certificate needs t ≥ 2"),
        (
            ["2", "1", "--claim", "agattn.hilbert-function"],
            "agattn.hilbert-function has no certificate; only lemma-3.1, theorem-3.2",
        ),
        (
            ["--model", "MODEL"],
            "no claim about this model has a certificate; layers and networks of attention have some",
        ),
        ([], "Missing option '-d'"),
    ],
)
def test_what_cannot_be_certified_is_one_line(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.toml").write_text(MODEL, encoding="utf-8")
    status, out, err = call("certificate", *["m.toml" if word == "MODEL" else word for word in words])
    assert (status, out) == (2, "") and err.count("\n") == 1 and message in err, err
