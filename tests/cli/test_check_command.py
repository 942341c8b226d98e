import json

import jsonschema
import pytest
from click.testing import CliRunner

from agattn.cli.main import cli, main
from agattn.cli.output import schema_text


@pytest.fixture
def certificate(tmp_path):
    path = tmp_path / "certificate.json"
    arguments = ["verify", "-d", "3", "-o", "2", "-a", "2", "--engine", "native", "--certificate", str(path)]
    claims = ["--claim", "theorem-3.4.singular", "--claim", "agattn.singular-locus"]
    result = CliRunner().invoke(cli, [*arguments, *claims], standalone_mode=False)
    assert result.return_value == 1, result.output  # a claim is refuted
    return path


def run(path, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["check", str(path), *arguments])
    return stop.value.code


def test_valid(certificate, capsys):
    assert run(certificate, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, json.loads(schema_text("check")))
    assert [claim["valid"] for claim in found["claims"]] == [True, True]
    assert run(certificate) == 0
    output = capsys.readouterr().out
    assert "theorem-3.4.singular   valid" in output and "fails at (2,1,2), (2,1,3)" in output


def test_changed(certificate, capsys):
    document = json.loads(certificate.read_text(encoding="utf-8"))
    document["dimension"] = 14
    certificate.write_text(json.dumps(document), encoding="utf-8")
    assert run(certificate) == 1
    assert "NOT VALID" in capsys.readouterr().out
    assert run(certificate, "--json") == 1
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, json.loads(schema_text("check")))
    assert not found["valid"]


def test_unreadable(tmp_path, capsys):
    for text in (None, "no JSON", "{}"):
        path = tmp_path / "certificate.json"
        if text is not None:
            path.write_text(text, encoding="utf-8")
        assert run(path) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert run(tmp_path) == 2


def test_one_token_has_nothing_to_certify(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["verify", "-d", "2", "-o", "1", "-t", "1", "--engine", "native",
              "--claim", "lemma-A.3", "--certificate", str(tmp_path / "x.json")])  # fmt: skip
    assert stop.value.code == 2
    assert "nothing to certify" in capsys.readouterr().err
