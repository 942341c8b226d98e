"""``agattn symmetries``: what it prints, the JSON document, and what is refused."""

from command_line import call, document

BOTTLENECK = ("--dims", "3,1,2", "--ranks", "2,2", "-t", 2)


def test_the_text_and_the_document_say_the_same():
    found, shown = document("symmetries", *BOTTLENECK), call("symmetries", *BOTTLENECK)
    assert shown.status == 0
    first = (
        "13 linear symmetries, sl(2) + sl(2) + sl(2) + center of dimension 4; orbits of dimension 10 (proved)"
    )
    assert first in shown.out and "At most 13:" in shown.out
    assert "at most 11, the 21 parameters minus 10." in shown.out
    assert (found["dimension"], found["orbit_dimension"], found["evidence"]) == (13, 10, "proved")
    assert (found["center"], found["derived"], found["radical"]) == (4, 9, 4)
    assert [f["dimension"] for f in found["families"]] == [4, 1, 1, 4, 1, 2]
    assert len(found["generators"]) == 13
    last = found["generators"][-1]
    assert last["family"] == "new" and last["moves"] in shown.out
    # Q_2 begins at 11, after K_1, Q_1 (2 x 3 each), V_1 (1 x 3) and K_2 (2 x 1): K_2[2] goes into Q_2[1].
    assert last["entries"] == [[17, 16, "1"], [18, 15, "-1"]]
    assert document("symmetries", *BOTTLENECK) == found  # the same seed, the same output
