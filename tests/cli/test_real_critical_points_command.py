"""``agattn critical-points --real`` and ``--weights``: documents that satisfy their schema, and refusals."""

import json

import numpy as np
from command_line import call, document

LAYER = ["-d", "2", "-o", "1"]


def test_the_real_ones_without_an_engine():
    found = document("critical-points", *LAYER, "--real", "--seed", "9")
    assert (found["regular"], found["method"], found["evidence"]) == (14, "elimination", "proved")
    assert [(row["r"], row["count"]) for row in found["strata"]] == [(1, 14), (2, 10)]
    assert [part["number"] for part in found["real_parts"]] == [2, 2, 2]
    assert [(p["regular"], p["index"], p["in_m"]) for p in found["real"][:2]] == [
        (True, 0, True),
        (True, 1, True),
    ]
    assert {p["in_m"] for p in found["real"]} == {True, False}
    for point in found["real"]:
        assert point["gradient"] < 1e-15 and point["evidence"] == "proved"
        for w in point["weights"]:
            assert np.allclose(np.transpose(w["K"]) @ w["Q"], w["A"])
    shown = call("critical-points", *LAYER, "--real", "--seed", "9").out
    assert "smooth part: 2 real critical points of 14 complex ones (all: proved, by elimination)" in shown


def test_weights_near_a_saddle(tmp_path):
    file = tmp_path / "w.json"
    weights = {"K": [[0.097, 0.119], [0.001, 0.0]], "Q": [[0.147, -0.047], [0.0, 0.001]], "V": [[1.0, -0.54]]}
    file.write_text(json.dumps(weights))
    found = document("critical-points", *LAYER, "--seed", "1", "--weights", str(file))
    first, second = found["near"]
    assert (first["rank"], first["escapes"], first["local_minimum"]) == (1, 1, False) and first[
        "distance"
    ] < 0.05
    assert (second["rank"], second["index"], second["local_minimum"]) == (2, 0, True)
    assert found["loss"] - first["excess"] - first["point"]["loss"] < 1e-9
    shown = call("critical-points", *LAYER, "--seed", "1", "--weights", str(file)).out
    assert "1 direction that raises the rank of A" in shown
