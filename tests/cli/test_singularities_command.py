"""``agattn singularities``: the table, the JSON document, and what is refused."""

import pytest
from command_line import call, document

from agattn.documents import check

WIDE = ("--dims", "3,3,2", "--ranks", "3,3", "-t", 3)


@pytest.mark.slow
def test_the_table_and_the_document_say_the_same():
    found = document("singularities", *WIDE)
    check("singularities", found)
    shown = call("singularities", *WIDE)
    assert shown.status == 0
    words = " ".join(shown.out.split())
    for word in (
        "singular proved L = 1 (several branches)",
        "smooth proved",
        "smooth branch proved",
        "rk M_1 = 1 19 +3 29 singular proved (tangent",
    ):
        assert word in words
    assert "not closed (proved)" in words and "22; 36 kinds" in words
    assert found["dimension"] == 22 and found["closed"] is False
    assert found["limits"]["dimension"] == 21
    assert "M_1 = k qᵀ, M_2 skew" in found["zeros"]
    first = {kind["name"]: kind for kind in found["kinds"]}["rk M_1 = 1"]
    assert (first["differential_rank"], first["tangent_lower"], first["singular"]) == (19, 29, "singular")
    assert first["ranks"] == {"A": [1, 3], "V": [3, 2], "M": [1, 3], "L": [2]}
    assert set(first["witness"][0]) == {"K_1", "Q_1", "V_1", "K_2", "Q_2", "V_2"}


def test_a_layer_is_a_network_of_one_and_pairs_are_more(tmp_path):
    out = tmp_path / "kinds.json"
    found = document("singularities", "-d", 2, "-o", 1, "-O", out)
    assert out.exists() and found["closed"] is True and found["limits"] is None
    more = document("singularities", "-d", 2, "-o", 1, "--pairs")
    assert len(more["kinds"]) > len(found["kinds"])


@pytest.mark.slow
def test_two_heads_have_limits_that_no_weights_reach():
    found = document("singularities", "--dims", "4,1", "--ranks", 1, "--heads", 2, "-t", 2)
    check("singularities", found)
    assert found["closed"] is False and found["limits"]["at_most"] == found["dimension"] - 1
    assert found["limits"]["witness"]["heads"]
    shown = call("singularities", "--dims", "4,1", "--ranks", 1, "--heads", 2)
    assert "A limit outside: y_11 = " in " ".join(shown.out.split())
