"""Certificates for Coq: coqc accepts those of agattn, and none with another digit."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import call
from hypothesis import given, settings
from hypothesis import strategies as st

import agattn as ag
from agattn import checker
from agattn.errors import InputError
from agattn.verification.coq import _dual, as_coq

M322 = json.loads(
    (Path(__file__).parents[2] / "docs" / "certificates" / "m322.json").read_text(encoding="utf-8")
)

needs_coqc = pytest.mark.skipif(
    shutil.which("coqc") is None,
    reason="coqc was not found, and agattn does not need it; apt-get install coq",
)


def coqc(text, folder):
    """How coqc ends with a file."""
    (folder / "it.v").write_text(text, encoding="utf-8")
    return subprocess.run(["coqc", "it.v"], cwd=folder, capture_output=True, text=True, check=False)


@needs_coqc
def test_coqc_accepts_all_claims_about_m322_without_an_axiom(tmp_path):
    text = as_coq(M322)
    ended = coqc(text, tmp_path)
    assert ended.returncode == 0, ended.stderr
    closed = ["Closed under the global context"] * text.count("\nPrint Assumptions ")
    assert ended.stdout.splitlines() == closed and len(closed) == 14


DIGITS = {
    "a size": r"Definition o := (\d)",
    "ranks": r"orbit_1_1_2 := .*?ranks := \[\d; (\d)",
    "a matrix": r"orbit_1_1_1 := .*?V := \[\((\d)",
    "a point": r"orbit_1_1_1 := .*?y := \[\(\[.*?\], (\d)",
    "another preimage": r"second := Some \(\[\(\d, \d, \d, (\d)",
    "a direction": r"direction := Some \(\[\(\d, (\d)",
    "what arcs span": r"orbit_2_1_2 := .*?tangent := 1(\d)",
    "a power in an arc": r"orbit_2_1_3 := .*?arcs := .*?\[\(1, 1, (\d)",
    "a coefficient of an arc": r"orbit_1_1_1 := .*?arcs := .*?\[\(\[.*?\],\s+(\d)",
    "an equation": r"equations := \[\[\((\d)",
    "a functional": r"facts_1_1_1 .*?spans_by 1 .*?%nat\s+\[\[\(\[.*?\],\s+(\d)",
    "where a claim fails": r"by_paper orbits = Some\s+\[\[(\d)",
}


@needs_coqc
@pytest.mark.parametrize("pattern", DIGITS.values(), ids=DIGITS)
def test_coqc_refuses_another_digit(pattern, tmp_path):
    text = as_coq(
        M322 | {"claims": [claim for claim in M322["claims"] if claim["id"] == "theorem-3.4.singular"]}
    )
    at = re.search(pattern, text, re.DOTALL).start(1)
    ended = coqc(f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}", tmp_path)
    assert ended.returncode == 1 and "Error" in ended.stderr


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_functionals_are_dual_to_vectors(data):
    size = data.draw(st.integers(0, 5))
    rows = data.draw(
        st.lists(st.lists(st.integers(-9, 9), min_size=5, max_size=5), min_size=size, max_size=size)
    )
    vectors = [{(n,): x for n, x in enumerate(row) if x} for row in rows]
    if checker.rank(vectors) == len(vectors):
        scale, functionals = _dual(vectors)
        values = [[sum(x * v.get(n, 0) for n, x in w.items()) for v in vectors] for w in functionals]
        assert scale and values == [[scale * (i == j) for j in range(size)] for i in range(size)]


def test_claims_without_integers_are_named():
    text = as_coq(M322)
    [others] = re.findall(r"not in this file:\s+(.*?)\. \*\)", text, re.DOTALL)
    theorems = re.findall(r"^Theorem ([a-zA-Z]\w*) ", text, re.MULTILINE)
    for claim in M322["claims"]:
        assert (claim["id"] in re.split(r",\s+", others)) != (re.sub(r"\W", "_", claim["id"]) in theorems)
    assert "agattn.degree" in others and "theorem_3_4_singular" in theorems


def test_the_command_writes_it(tmp_path):
    ended = call("certificate 2 1 --claim corollary-A.1 -O", tmp_path / "m.v", "-O", tmp_path / "m.json")
    assert ended.status == 0
    assert (tmp_path / "m.v").read_text(encoding="utf-8") == as_coq(
        ag.certificate(ag.SingleLayer(2, 1), "corollary-A.1")
    )
    assert checker.check(str(tmp_path / "m.json"))["valid"]
    assert call("certificate 2 1 -O - --format v").out.startswith("(* A certificate of M(2,1,2)")


def test_only_layers_are_written(tmp_path):
    ended = call("certificate --dims 3,1 --ranks 1 --heads 2 -t 2 -O", tmp_path / "m.v")
    assert ended.status == 2 and "write FILE.json" in ended.err and not [*tmp_path.iterdir()]
    made = ag.certificate(ag.SingleLayer(2, 1), "agattn.learning-coefficient")
    with pytest.raises(InputError, match="the strata of one layer"):
        made.save(tmp_path / "m.v")
