"""A claim is registered where it is written: its kind, and its certificate or the reason for having none."""

import doctest
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import agattn as ag
from agattn import checker
from agattn.claims import CLAIMS, claims_about, titled
from agattn.claims.claim import Proof

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "extend" / "claim.md"
ARCHITECTURES = {
    "SingleLayer": ag.SingleLayer(2, 1),
    "DeepNetwork": ag.DeepNetwork((3, 2), (2,), t=3),
    "Architecture": ag.Network([ag.Linear(2)], dim=2),
}
KINDS = (checker.Facts, checker.Deep, checker.Heads, checker.Today)
CERTIFIED = {name for kind in KINDS for name in kind.RECORDS}


def python(*words, at=ROOT):
    ended = subprocess.run(
        [sys.executable, *words], cwd=at, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_claim_has_a_proof_in_the_checker_or_says_why_not(claim):
    if isinstance(claim.certificate, Proof):
        assert claim.id in CERTIFIED
    else:
        assert claim.id not in CERTIFIED
        checker.text(claim.certificate)  # as certificates hold it
        assert len(claim.certificate) > 20 and not claim.certificate.endswith(".")


def test_a_claim_is_found_by_its_id_as_in_the_table():
    for _, claims in titled():
        architecture = ARCHITECTURES[next(iter(claims.values())).about.__name__]
        spoken_of = [name for name, claim in claims.items() if claim.subject(architecture)]
        assert [claim.id for claim in claims_about(architecture)] == spoken_of != []
        for name, claim in claims.items():
            assert claims_about(architecture, (name,)) == [claim]
            assert claims_about(architecture, (name.upper(),)) == [claim]


@pytest.mark.slow
def test_a_claim_is_added_by_one_file_as_the_page_says(tmp_path):
    """The page's own lines, in a copy of the package, are judged, listed, and named in certificates."""
    text = PAGE.read_text(encoding="utf-8")
    promised = re.findall(r"^\| `(agattn/\S+)`", text, re.MULTILINE)
    lines = [example.source for example in doctest.DocTestParser().get_examples(text)]
    [last] = [number for number, line in enumerate(lines) if line.startswith("CLAIMS: ")]
    shutil.copytree(ROOT / "agattn", tmp_path / "agattn", ignore=shutil.ignore_patterns("__pycache__"))
    file, checked = promised
    (tmp_path / file).write_text("".join(lines[: last + 1]), encoding="utf-8")
    text = (tmp_path / checked).read_text(encoding="utf-8")
    text = text.replace("OTHERS = frozenset({", 'OTHERS = frozenset({"agattn.quadrics",', 1)
    (tmp_path / checked).write_text(text, encoding="utf-8")

    verify = ("-m", "agattn", "verify")
    assert "  agattn.quadrics\n" in python(*verify, "--list", at=tmp_path)
    words = ("2", "2", "--claim", "agattn.quadrics", "--claim", "corollary-3.3")
    said = python(*verify, *words, "--engine", "native", at=tmp_path)
    assert re.search(r"agattn\.quadrics +confirmed +proved +5\b", said)
    python("-m", "agattn", "certificate", *words, "-O", "c.json", at=tmp_path)
    said = python("-m", "agattn", "check", "c.json", at=tmp_path)
    assert "corollary-3.3" in said and "The certificate is valid." in said
    assert re.search(r"agattn\.quadrics +not checked", said)
    assert '"reason": "the checker computes no ranks of quadrics"' in (tmp_path / "c.json").read_text()
