"""The JSON document of every command stays what it is: its keys and its values, over a set of architectures.

``PYTHONPATH=. python tests/test_documents.py`` writes ``documents.json`` beside this file anew. A difference
there is a change of the contract, and belongs into the changelog.
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

LAYER, ONE_TOKEN = ["-d", "2", "-o", "1"], ["-d", "2", "-o", "1", "-t", "1"]
THIN = ["-d", "3", "-o", "2", "-a", "2"]
NETWORK = ["--dims", "2,2,1", "--ranks", "2,2", "-t", "2"]
HEADS = ["--dims", "2,1", "--ranks", "1", "--heads", "2", "-t", "2"]
SOFTMAX = ["--dims", "2,2,1", "--ranks", "2,2", "-t", "3", "--normalization", "softmax"]
MODEL, BLOCK = ["examples/maps.py:cubic"], ["examples/block.toml"]
WEIGHTS, WEIGHTS_OF_NETWORK = "examples/weights.json", "examples/network.json"
DEEP = ["--dims", "2,2,2", "--ranks", "2,2", "-t", "3"]

#: One line of words for each document. Engines are not asked: their documents name versions.
CASES = [
    ["verify", *LAYER, "--engine", "native"],
    ["verify", *THIN, "--engine", "native"],
    ["verify", *ONE_TOKEN, "--engine", "native"],
    ["verify", *NETWORK, "--engine", "native"],
    ["verify", *MODEL, "--engine", "native"],
    ["certificate", *THIN, "--claim", "theorem-3.4.singular", "--claim", "agattn.degree"],
    ["check", "docs/certificates/m322.json"],
    ["check", "docs/certificates/n332.json"],
    ["dimension", *THIN],
    ["dimension", *NETWORK],
    ["dimension", *HEADS],
    ["dimension", *SOFTMAX],
    ["dimension", *BLOCK],
    ["dimension", *MODEL],
    ["spectrum", *SOFTMAX],
    ["symmetries", *LAYER],
    ["symmetries", *NETWORK],
    ["symmetries", *MODEL],
    ["identifiability", *THIN],
    ["identifiability", *NETWORK],
    ["identifiability", *BLOCK, "--functions", "O_1[1]*P_1[1]"],
    ["strata", *LAYER],
    ["strata", *THIN],
    ["ideal", *LAYER, "--max-degree", "4", "--invariants"],
    ["ideal", *ONE_TOKEN, "--max-degree", "3", "--invariants"],
    ["ideal", *THIN, "--max-degree", "2"],
    ["ideal", *HEADS, "--max-degree", "2"],
    ["ideal", *MODEL, "--max-degree", "2"],
    ["singularities", *NETWORK],
    ["singularities", *HEADS],
    ["singularities", *MODEL],
    ["rlct", *LAYER],
    ["rlct", *THIN, "--softmax"],
    ["rlct", WEIGHTS],
    ["rlct", *DEEP, WEIGHTS_OF_NETWORK],
    ["critical-points", *LAYER, "--metric", "gaussian", "--real"],
    ["classify", WEIGHTS],
    ["fiber", WEIGHTS],
    ["fiber", *DEEP, WEIGHTS_OF_NETWORK],
    ["equivalent", WEIGHTS, WEIGHTS],
    ["identify", "examples/tensor.json", *LAYER],
    ["emit", "implicit-ideal", *LAYER],
    ["rank", "examples/hilbert.csv"],
    ["figure", "1", "--engine", "native"],
    ["figure", "2"],
    ["figure", "3", "--json"],
]
#: Commands whose documents come from an engine, or whose lines and reports have tests of their own.
ELSEWHERE = {"doctor", "run", "schema", "study", "train", "report"}
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
