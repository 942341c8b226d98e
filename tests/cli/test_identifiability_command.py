"""``agattn identifiability``: what it prints, the JSON document, and what is refused."""

import json

from command_line import call, document

from agattn.documents import check

LAYER = ("-d", 3, "-o", 2, "-a", 2)


def test_the_text_and_the_document_say_the_same():
    found, shown = document("identifiability", *LAYER), call("identifiability", *LAYER)
    check("identifiability", found)
    assert shown.status == 0 and found["architecture"] == {"d": 3, "d_out": 2, "a": 2, "t": 2}
    rows = [line.split() for line in shown.out.splitlines() if line.startswith(("K ", "Q ", "V ", "K^T"))]
    assert rows == [
        ["K", "6", "4", "not", "–", "proved"],
        ["Q", "6", "4", "not", "–", "proved"],
        ["V", "6", "1", "globally", "a", "factor", "proved"],
        ["K^T", "Q", "9", "1", "globally", "a", "factor", "proved"],
    ]
    assert [(row["name"], row["status"], row["free"]) for row in found["parameters"]] == [
        ("K", "not", 4), ("Q", "not", 4), ("V", "globally", 1),
    ]  # fmt: skip
    assert "one common factor s: V by s, K^T Q by s⁻¹ (proved)" in shown.out
    assert document("identifiability", *LAYER) == found  # the same seed, the same output


def test_functions_and_weights(tmp_path):
    file, written = tmp_path / "weights.json", tmp_path / "found.json"
    file.write_text(json.dumps({"K": [[1, 2]], "Q": [[0, 1]], "V": [[0, 0]]}))
    words = (
        "identifiability",
        "-d",
        2,
        "-o",
        1,
        "-a",
        1,
        "--functions",
        "K^T Q + Q^T K",
        "--functions",
        "K ⊗ V",
    )
    ended = call(*words, "--at", file, "-O", written)
    assert ended.status == 0
    found = json.loads(written.read_text())
    assert found["at_weights"] and found["fiber_dimension"] == 4
    assert [(row["expression"], row["status"], row["free"]) for row in found["functions"]] == [
        ("K^T Q", "not", 3), ("K^T Q + Q^T K", "not", 3), ("K ⊗ V", "locally", 0),
    ]  # fmt: skip
    assert (
        call(*words, "--weights", file, "--json").out
        == json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    )


def test_a_group_of_heads_in_a_file():
    found = document("identifiability", "--model", "examples/maps.py:shared", "--functions", "K^T Q[1]")
    rows = {row["name"]: row for row in found["functions"]}
    assert (rows["K^T Q[1]"]["status"], rows["K^T Q[1]"]["free"]) == ("not", 2)
    assert (rows["sum_i K^T Q ⊗ O P"]["status"], rows["sum_i K^T Q ⊗ O P"]["evidence"]) == (
        "locally",
        "proved",
    )
