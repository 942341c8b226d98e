"""The JSON document of every command stays what it is: its keys and its values, over a set of architectures.

``PYTHONPATH=. python tests/test_documents.py`` writes ``documents.json`` beside this file anew, for the lines
that are its keys. A difference there is a change of the contract, and belongs into the changelog.
"""

import json
import os
import sys
from pathlib import Path

import pytest
from command_line import ROOT, call

from agattn.documents import results
from agattn.names import COMMANDS
from agattn.sheet.result import check_one_of, document

KEPT = Path(__file__).with_name("documents.json")
#: What differs from run to run, or from machine to machine.
VOLATILE = {
    "seconds", "python", "flint", "path", "versions", "key", "script_sha256", "script", "files", "drawn",
}  # fmt: skip

#: The words of each document. Engines are not asked: their documents name versions.
CASES = [line.split() for line in json.loads(KEPT.read_text(encoding="utf-8"))]
#: Commands whose documents come from an engine, or whose lines and reports have tests of their own.
ELSEWHERE = {"canonical", "convert", "doctor", "run", "schema", "study", "train", "report"}
#: Commands whose results hold what documents say in fewer words, such as a bound on the dimension.
NOT_WRITTEN_AGAIN = {"singularities", "critical-points"}


def stable(value):
    """A document without what differs from run to run; floats to nine digits."""
    if isinstance(value, dict):
        return {key: stable(inner) for key, inner in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [stable(inner) for inner in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def documents(words):
    """What a command prints with ``--json``."""
    ended = call(*words, *(["--json"] if "--json" not in words else []))
    assert ended.status in (0, 1, 3), ended
    made = json.loads(ended.out)
    reads_back(words, made)
    return stable(made)


def reads_back(words, made):
    """The result of a document has its values, and shows them."""
    kind = check_one_of(results(words[0]), made)
    found = kind.from_json(made)
    assert isinstance(found, kind) and found.as_json() == made
    assert str(found) and found.summary()
    if words[0] not in NOT_WRITTEN_AGAIN and "examples/maps.py:cubic" not in words:
        assert document(found) == made


@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_document_is_as_kept(words, monkeypatch):
    monkeypatch.chdir(ROOT)
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert documents(words) == kept[" ".join(words)]


def test_every_command_has_a_document():
    assert {words[0] for words in CASES} | ELSEWHERE == set(COMMANDS)


if __name__ == "__main__":
    os.chdir(ROOT)
    chosen = [words for words in CASES if all(part in " ".join(words) for part in sys.argv[1:])]
    found = {" ".join(words): documents(words) for words in chosen}
    lines = (f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in found.items())
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
