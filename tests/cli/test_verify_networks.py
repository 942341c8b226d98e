"""agattn verify for networks: documents, tables, exit statuses, and one-line failures."""

import pytest
from command_line import call, document

from agattn.claims import NETWORK_CLAIMS, network_dimension

BOTTLENECK = ["verify", "--dims", "4,3,4", "--ranks", "2,2", "-t", "3", "--engine", "native"]


def test_all_claims_about_a_network():
    result = document(*BOTTLENECK)
    assert result["architecture"]["dims"] == [4, 3, 4] and result["architecture"]["heads"] == [1, 1]
    verdicts = {claim["id"]: claim["verdict"] for claim in result["claims"]}
    assert verdicts.keys() == NETWORK_CLAIMS.keys()
    assert {name for name, verdict in verdicts.items() if verdict == "confirmed"} == {
        "lemma-3.5", "lemma-3.6", "equation-12", "theorem-3.7", "corollary-3.8", "agattn.network-dimension",
        "agattn.deep-zeros", "agattn.deep-not-closed", "agattn.deep-boundary",
    }  # fmt: skip
    assert set(verdicts.values()) == {"confirmed", "inapplicable"}


def test_the_same_seed_gives_the_same_output():
    def shown():
        result = document(*BOTTLENECK, "--seed", "5")
        return [{**claim, "seconds": 0} for claim in result["claims"]]

    assert shown() == shown()


def test_in_words():
    status, out, _ = call(*BOTTLENECK)
    assert status == 0 and out.startswith("M(4,3,4; 2,2), t = 3\n")
    assert "theorem-3.7: checked near one random (M, L)." in out
    rows = [line.split() for line in out.splitlines()]
    assert ["theorem-3.7", "confirmed", "proved", "in", "part"] in [row[:5] for row in rows]
    assert ["corollary-3.8", "confirmed", "proved", "33"] in rows  # checked as it stands
    status, out, _ = call(
        "verify",
        "--dims",
        "3,3,3",
        "--ranks",
        "1,2",
        "--engine",
        "native",
        "--claim",
        "corollary-3.8",
    )
    assert status == 0 and "inapplicable" in out and "18" in out


@pytest.mark.slow
def test_both_engines_and_the_whole_fiber(both_engines):
    (claim,) = document(
        "verify", "--dims", "2,2,1", "--ranks", "2,2", "--engine", "all", "--claim", "theorem-3.7"
    )["claims"]
    assert (claim["verdict"], claim["evidence"]) == ("confirmed", "proved in part")
    assert claim["computed"] == {"dimension": 2, "other_components": 0}
    assert "macaulay2" in claim["engine"] and "singular" in claim["engine"]


def test_a_refutation_is_status_1(monkeypatch):
    monkeypatch.setattr(network_dimension, "equation_14", lambda network: 34)
    result = document(*BOTTLENECK, "--claim", "corollary-3.8", status=1)
    assert result["claims"][0]["verdict"] == "refuted" and result["claims"][0]["computed"] == 33
    status, out, _ = call(*BOTTLENECK, "--claim", "corollary-3.8")
    assert status == 1 and "the formula gives 34" in out


@pytest.mark.slow
def test_undecided_is_status_3():
    arguments = ["verify", "--dims", "36,36", "--ranks", "1", "--claim", "lemma-3.5"]
    assert document(*arguments, status=3)["claims"][0]["computed"] is None


def test_softmax_heads_and_skips():
    more = ["--normalization", "softmax", "--claim", "theorem-3.9", "--claim", "conjecture-3.10"]
    claims = document("verify", "--dims", "3,2", "--ranks", "2", *more)["claims"]
    assert [claim["verdict"] for claim in claims] == ["confirmed", "confirmed"]
    more = ["-t", "2", "--heads", "2", "--claim", "agattn.multi-head-dimension"]
    (claim,) = document("verify", "--dims", "5,1", "--ranks", "3", *more)["claims"]
    assert (claim["verdict"], claim["evidence"]) == ("confirmed", "modular in part")
    more = ["--skip", "--claim", "agattn.skip-dimension"]
    (claim,) = document("verify", "--dims", "3,3,3", "--ranks", "2,2", *more)["claims"]
    assert (claim["verdict"], claim["computed"]) == ("confirmed", 32)


@pytest.mark.slow
def test_the_task_of_the_fiber(engine_installation):
    name = engine_installation.engine.name
    arguments = ["virtual-fiber", "--dims", "2,2,1", "--ranks", "2,2", "--engine", name]
    result = document("run", *arguments)
    assert result["answer"]["rescaling@1"] == 1 and result["architecture"]["dims"] == [2, 2, 1]
    assert document("emit", *arguments)["task"] == "virtual-fiber"
