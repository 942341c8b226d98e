"""``agattn certificate``: what it writes is what ``agattn check`` takes, and what it cannot do it says."""

import json

from command_line import call, document

THIN = ["certificate", "3", "2", "2", "--claim", "theorem-3.4.singular", "--claim", "agattn.degree"]


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
