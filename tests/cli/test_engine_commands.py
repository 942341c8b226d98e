"""``doctor``, ``emit``, ``run`` and ``verify``, as a user calls them."""

import hashlib
import json

import jsonschema
import pytest
from command_line import ROOT, call, document, run

from agattn.architectures import SingleLayer
from agattn.claims import LAYER_CLAIMS as CLAIMS
from agattn.documents import NAMES, check, schema
from agattn.engines.catalogue import ENGINES
from agattn.engines.emit import emit
from agattn.errors import InputError
from agattn.systems.catalogue import build

VERDICTS = {"confirmed", "refuted", "undecided", "inapplicable"}


@pytest.fixture
def by_singular(singular, monkeypatch):
    monkeypatch.setenv("AGATTN_SINGULAR", str(singular.path))
    return singular


# Schemas ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_schemas(name):
    printed = json.loads(call("schema", name).out)
    jsonschema.Draft202012Validator.check_schema(printed)
    assert printed["$schema"] == "https://json-schema.org/draft/2020-12/schema" and printed["description"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(printed).validate({})
    with pytest.raises(InputError):
        check(name, {})
    assert printed == {"description": printed["description"], **json.loads(json.dumps(schema(name)))}


# doctor -----------------------------------------------------------------------------------------------------


def test_doctor(all_engines):
    result = document("doctor")
    assert set(result) == {"schema", "engines", "python", "flint"}
    for entry, installation in zip(result["engines"], all_engines, strict=True):
        assert {"name", "version", "path", "ok", "problem"} <= set(entry)
        assert (entry["name"], entry["path"]) == (installation.engine.name, str(installation.path))
        assert entry["ok"] is True and entry["problem"] is None and entry["version"] == installation.version
    code, out, _ = call("doctor")
    assert code == 0 and out.count(": works (") == 3


def test_doctor_finds_a_broken_engine(fakes):
    fakes.write("M2", "echo agattn-ok")
    fakes.write("Singular", "exit 1")
    result = document("doctor", status=3)
    assert [e["ok"] for e in result["engines"]] == [True, False, False]
    assert "exit status 1" in result["engines"][1]["problem"]
    assert "exit status 1" in call("doctor")[1]


# emit -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_emit(tmp_path, engine):
    arguments = ["emit", "implicit-ideal", "-d", "2", "-o", "2", "--engine", engine]
    script = emit(build("implicit-ideal", SingleLayer(2, 2)), ENGINES[engine])
    assert call(*arguments) == (0, script, "")
    assert document(*arguments) == {
        "schema": "agattn/emit/1", "task": "implicit-ideal", "engine": engine,
        "architecture": {"d": 2, "d_out": 2, "a": 2, "t": 2}, "script": script,
    }  # fmt: skip
    file = tmp_path / "new" / f"script.{ENGINES[engine].suffix}"
    for words in (arguments, arguments[:-2]):  # the ending says the engine as well
        status, out, err = call(*words, "-O", str(file))
        told = f"wrote {file}\nrun it with: agattn run {file}, or "
        assert (status, out) == (0, "") and err.startswith(told)
        assert file.read_text() == script
    assert call(*arguments, "-O", "-") == (0, script, "")
    call(*arguments, "-O", tmp_path / "script.json")
    assert json.loads((tmp_path / "script.json").read_text()) == document(*arguments)


def test_emit_says_how_to_run_a_script_and_what_is_missing(fakes, tmp_path):
    err = call("emit", "implicit-ideal", "-d", "2", "-o", "2", "-O", tmp_path / "a.sing")[2]
    assert f"run it with: agattn run {tmp_path / 'a.sing'}, or Singular" in err
    assert "(Singular was not found" in err


def test_the_command_in_the_header_writes_the_script_again():
    given = ["hilbert-function", "-d", "2", "-o", "1", "-a", "1", "--field", "101", "--max-degree", "3"]
    script = call("emit", *given)[1]
    line = next(line for line in script.splitlines() if "Written by:" in line)
    words = line.split("agattn ")[1].split()
    assert call(*words)[1] == script


# run --------------------------------------------------------------------------------------------------------


def test_run(by_singular, tmp_path):
    arguments = ["run", "implicit-ideal", "-d", "2", "-o", "1", "--engine", "singular"]
    result = document(*arguments, "-O", str(tmp_path))
    assert {"task", "engine", "architecture", "answer", "seconds", "script_sha256"} <= set(result)
    assert result["engine"] == {"name": "singular", "version": by_singular.version}
    assert result["architecture"] == {"d": 2, "d_out": 1, "a": 2, "t": 2}
    assert (result["answer"]["dimension"], result["answer"]["degree"]) == (5, 4)
    assert len(result["answer"]["generators"]) == 1 and result["evidence"] == "proved"
    kept = (tmp_path / "implicit-ideal-singular.sing").read_bytes()
    assert hashlib.sha256(kept).hexdigest() == result["script_sha256"]
    assert json.loads((tmp_path / "implicit-ideal-singular.json").read_text()) == result
    assert "agattn-end" in (tmp_path / "implicit-ideal-singular.transcript").read_text()
    code, out, err = call(*arguments)
    assert code == 0 and "dimension: 5" in out and "generators: 1" in out
    assert f"Singular {by_singular.version}" in err


@pytest.mark.parametrize("engine", ENGINES)
def test_a_script_is_run_where_we_are(all_engines, engine, tmp_path):
    installation = next(i for i in all_engines if i.engine.name == engine)
    variable = {installation.engine.variable: str(installation.path)}
    file = tmp_path / f"sum.{installation.engine.suffix}"
    two, script, said = {
        "macaulay2": ("two = 2;", 'load "two"; print(two + 40)', "42"),
        "singular": ("int two = 2;", '< "two"; two + 40; quit;', "42"),
        "msolve": ("x\n0\nx-42\n", '"$1" -f two', "[0, [1,\n[[[42, 42]]]\n]]:"),
    }[engine]
    (tmp_path / "two").write_text(f"{two}\n")
    file.write_text(f"{script}\n")
    ended = run("run", file, environment={**variable, "PYTHONPATH": str(ROOT)}, cwd=tmp_path)
    assert (ended.status, ended.out.strip()) == (0, said), ended
    with file.open() as stdin:
        ended = run("run", "-", "--engine", engine.upper(), environment=variable, cwd=tmp_path, stdin=stdin)
    assert (ended.status, ended.out.strip()) == (0, said), ended


def test_a_script_that_fails(tmp_path):
    (tmp_path / "x.m2").write_text("")
    fake = tmp_path / "fake"
    for does, words, status, told in (
        ("exit 3", [], 4, "x.m2: ended with exit status 3"),
        ("sleep 100", ["--timeout", "0.5"], 3, "x.m2: stopped after 0.5 s"),
    ):
        fake.write_text(f"#!/bin/sh\necho as far as this\n{does}\n")
        fake.chmod(0o755)
        ended = run("run", tmp_path / "x.m2", *words, environment={"AGATTN_M2": str(fake)})
        assert (ended.status, ended.out) == (status, "as far as this\n")
        assert told in ended.err and ended.err.count("\n") == 1


def test_run_at_a_point(by_singular, tmp_path):
    file = tmp_path / "point.json"
    file.write_text('{"K": [[1, 2]], "Q": [["1/3", 1]], "V": [[0, -1]]}')
    found = document("run fiber -d 2 -o 1 -a 1 --engine singular --point", file)
    assert found["answer"]["points@point"] == 2


# verify -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_verify_main_example_by_all_engines(all_engines):
    result = document("verify -d 2 -o 1 --engine all")
    assert {"architecture", "claims"} <= set(result)
    assert [c["id"] for c in result["claims"]] == list(CLAIMS)
    keys = {"id", "hypotheses_hold", "predicted", "computed", "verdict", "evidence", "witness", "seconds"}
    assert all(keys | {"engine"} <= set(c) and c["verdict"] in VERDICTS for c in result["claims"])
    found = {c["id"]: c for c in result["claims"]}
    assert found["corollary-3.3"]["computed"] == 5 and found["agattn.degree"]["computed"] == 4
    assert found["agattn.degree"]["generators_by_degree"] == {"4": 1}
    singular = found["theorem-3.4.singular"]
    assert (singular["verdict"], singular["evidence"]) == ("confirmed", "proved")
    assert singular["engine"] == ", ".join([*map(str, all_engines), "native"])
    assert found["lemma-A.3"]["engine"] == ", ".join(map(str, all_engines[:2]))


def test_verify_refutes(by_singular):
    line = "verify -d 3 -o 2 -a 2 --engine singular --claim corollary-A.4"
    (claim,) = document(line, status=1)["claims"]
    assert claim["verdict"] == "refuted" and "(2,1,2)" in claim["witness"]
    code, out, _ = call(line)
    point = "A = [[1, 0, 0], [0, 0, 0], [0, 0, 0]], V = [[1, 0, 0], [0, 1, 0]], of the stratum (2,1,2)"
    assert code == 1 and f"\ncorollary-A.4, refuted: at {point}, M is singular: " in out
    assert "dimension 14 > 13" in out and "so it is at (2,1,3)." in out


# membership -------------------------------------------------------------------------------------------------

MEMBERSHIP = ["run", "membership", "-d", "2", "-o", "1", "--engine", "singular"]


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ('{"y": [1, 0, 1, 0, 0, 0]}', 1),  # u² + v²: in the closure, and not in M
        ('{"y": [1, 2, 3, 4, "5/7", 6]}', 0),
        ('{"A": [[1, "1/2"], [3, -4]], "V": [[5, 6]]}', 1),
        ('{"K": [[1, 2], [0, 1]], "Q": [[1, "1/3"], [1, 1]], "V": [[0, -1]]}', 1),
    ],
)
def test_membership(by_singular, tmp_path, text, member):
    file = tmp_path / "point.json"
    file.write_text(text)
    result = document(*MEMBERSHIP, "--point", str(file))
    assert result["answer"]["member"] == member and result["evidence"] == "proved"
