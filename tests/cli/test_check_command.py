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
