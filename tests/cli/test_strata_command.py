import pytest
from command_line import call, document


@pytest.mark.parametrize("shape", ["221", "322", "121", "312", "211", "433"])
def test_json_matches_its_schema(shape):
    d, o, a = shape
    assert document("strata", "-d", d, "-o", o, "-a", a)["architecture"] == {
        "d": int(d),
        "d_out": int(o),
        "a": int(a),
        "t": 2,
    }


def test_where_the_paper_fails():
    rows = {
        (r["r_v"], r["r_a"], r["r"]): r for r in document("strata", "-d", "3", "-o", "2", "-a", "2")["strata"]
    }
    for ranks in [(2, 1, 2), (2, 1, 3)]:
        assert rows[ranks]["tangent_dimension"] == 14
        assert (rows[ranks]["singular"], rows[ranks]["singular_by_paper"]) == (True, False)
    for ranks in [(2, 2, 3), (1, 2, 3)]:
        assert rows[ranks]["tangent_dimension"] == 13
        assert rows[ranks]["singular"] is False
    assert rows[1, 1, 1]["boundary"] and not rows[1, 1, 2]["boundary"]
    assert rows[2, 2, 3]["closure"] == [[1, 2, 3], [2, 1, 3], [2, 2, 2]]
    assert rows[0, 0, 0]["preimages"] is None
    assert [rows[1, 1, 1]["preimages"], rows[1, 1, 2]["preimages"]] == [1, 2]


def test_outside_the_hypotheses_the_paper_says_nothing():
    rows = document("strata", "-d", "2", "-o", "1", "-a", "1")["strata"]
    assert {row["singular_by_paper"] for row in rows} == {None}
    assert [row["singular"] for row in rows] == [True, False, False]


def test_table_names_every_stratum_and_the_difference():
    output = call("strata", "-d", "3", "-o", "2", "-a", "2").out
    lines = output.splitlines()
    [line] = [line for line in lines if line.startswith("(2,1,2)")]
    assert "yes" in line and "no !" in line and "determinantal" in line
    assert "…" not in output
    assert "! HMK" not in call("strata", "-d", "2", "-o", "1").out


def test_hasse_diagram_is_the_same_every_time(tmp_path):
    pytest.importorskip("matplotlib")
    drawn = []
    for name in ("one.svg", "two.svg"):
        ended = call("strata", "-d", "3", "-o", "2", "-a", "2", "--hasse", tmp_path / name)
        assert ended.status == 0, ended
        drawn.append((tmp_path / name).read_bytes())
    assert drawn[0] == drawn[1]
    for label in ("(2,1,3)", "Q definite", "dim 13"):
        assert label in drawn[0].decode()
