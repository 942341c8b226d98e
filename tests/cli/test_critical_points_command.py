"""``agattn critical-points``: what it prints, data from a file, and what is refused."""

import json

import numpy as np
from command_line import call, document

DATA = {"X": [[[1, 0], [2, 1]], [[0, 3], [1, 1]], [[2, 1], [-1, 4]]], "Y": [[[1, 2]], [["1/2", 0]], [[3, 1]]]}


def test_data_from_a_file(singular, tmp_path):
    file = tmp_path / "data.json"
    file.write_text(json.dumps(DATA))
    found = document("critical-points", "-d", "2", "-o", "1", "--data", str(file))
    assert (found["metric"], found["samples"], found["rank"]) == ("data", 3, 6)
    assert (found["regular"], found["dimension"], found["evidence"]) == (14, 0, "proved")
    assert (found["method"], found["theorem"]) == ("elimination", None)
    counted = document("critical-points", "-d", "2", "-o", "1", "--data", str(file), "--engine", "singular")
    assert counted["fields"] == ["ZZ/32003", "ZZ/32009"] and counted["strata"] == found["strata"]
    assert [(row["r"], row["count"]) for row in found["strata"]] == [(1, 14), (2, 10)]
    npz = tmp_path / "data.npz"
    np.savez(npz, X=np.array(DATA["X"], float), Y=np.array([[[1, 2]], [[0.5, 0]], [[3, 1]]]))
    assert document("critical-points", "-d", "2", "-o", "1", "--data", str(npz)) == found


def test_numbers_by_theorem():
    shown = call("critical-points", "-d", "4", "-o", "1", "--metric", "bombieri-weyl").out
    assert "smooth part          0      40" in shown
    assert "by theorem critical-points.bombieri-weyl (proved)" in shown
    found = document("critical-points", "-d", "4", "-o", "1", "--engine", "native")
    assert (found["regular"], found["evidence"], found["theorem"]) == (
        35964, "proved", "critical-points.general-data",
    )  # fmt: skip
    assert (found["method"], found["fields"], found["engine"]) == ("theorem", [], "native")
    assert [row["count"] for row in found["strata"]] == [3772, 100382]


def test_what_is_printed(singular):
    shown = call("critical-points", "-d", "2", "-o", "1", "--samples", "2").out
    assert "smooth part          1  ∞, of degree 4" in shown
    assert "The loss is no distance: its W has rank 4 of 6." in shown
