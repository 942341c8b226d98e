import json

import pytest
from command_line import call, document


@pytest.fixture
def certificate(tmp_path):
    path = tmp_path / "certificate.json"
    arguments = ["verify", "-d", "3", "-o", "2", "-a", "2", "--engine", "native", "--certificate", path]
    claims = ["--claim", "theorem-3.4.singular", "--claim", "agattn.singular-locus"]
    assert call(*arguments, *claims).status == 1  # a claim is refuted
    return path


def test_valid(certificate):
    found = document("check", certificate)
    assert [claim["valid"] for claim in found["claims"]] == [True, True]
    status, output, _ = call("check", certificate)
    assert status == 0
    assert "theorem-3.4.singular   valid" in output and "fails at (2,1,2), (2,1,3)" in output


def test_changed(certificate):
    changed = {**json.loads(certificate.read_text(encoding="utf-8")), "dimension": 14}
    certificate.write_text(json.dumps(changed), encoding="utf-8")
    status, out, _ = call("check", certificate)
    assert status == 1 and "NOT VALID" in out
    assert not document("check", certificate, status=1)["valid"]


def test_unreadable(tmp_path):
    for text in (None, "no JSON", "{}"):
        path = tmp_path / "certificate.json"
        if text is not None:
            path.write_text(text, encoding="utf-8")
        status, _, err = call("check", path)
        assert status == 2 and err.count("\n") == 1
    assert call("check", tmp_path).status == 2


def test_one_token_has_nothing_to_certify(tmp_path):
    layer = ["-d", "2", "-o", "1", "-t", "1"]
    arguments = ["--engine", "native", "--claim", "lemma-A.3", "--certificate", tmp_path / "x.json"]
    status, _, err = call("verify", *layer, *arguments)
    assert status == 2 and "t is 1; a certificate needs t ≥ 2" in err
