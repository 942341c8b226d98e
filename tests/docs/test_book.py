"""The book: short answers, a bounded whole, and no theorem, proof or claim lost."""

import re
from collections import Counter
from pathlib import Path

import pytest

from agattn.claims import CLAIMS
from tests import house

DOCS = Path(__file__).parents[2] / "docs"
#: The most words of an answer, and of all pages but the reference, as `wc -w` counts them. The book may only
#: get smaller; 70,000 is the aim, and more than half of it are proofs.
ANSWER, BOOK = 800, 100_100
THEOREMS = [
    line.split(": ", 1)
    for line in (Path(__file__).parent / "theorems.txt").read_text(encoding="utf-8").splitlines()
    if line[0] != "#"
]


def test_no_answer_is_long_and_the_book_stays_small():
    words = house.book(house.words_by_page())
    subjects = ("layer/", "networks/", "experiments/")
    answers = {name: n for name, n in words.items() if name.startswith(subjects) and "-proofs" not in name}
    assert len(answers) > 20
    assert {name: n for name, n in answers.items() if n > ANSWER} == {}
    assert words.total() <= BOOK


def pages_of(name):
    """What the pages, joined by a plus, and the pages of their proofs say."""
    paths = [path for start in name.split(" + ") for path in sorted(DOCS.glob(f"{start}*.md"))]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


@pytest.mark.parametrize(("name", "listed"), THEOREMS)
def test_no_theorem_and_no_proof_is_lost(name, listed):
    text = pages_of(name)
    proofs, *theorems = listed.split("; ")
    assert text.count("∎") >= int(proofs.removesuffix(" proofs"))
    for theorem, number in Counter(theorems).items():
        assert len(re.findall(rf"\*\*{re.escape(theorem)}[. (*]", text)) >= number, theorem


def test_examples_use_public_names():
    """Private modules are for the pages on extending, and for tables that name what left."""
    pages = [
        path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[0] not in ("extend", "reference")
    ]
    importing = [
        path.name for path in pages if re.search(r"\b(from|import) agattn\.", path.read_text("utf-8"))
    ]
    assert len(pages) > 60 and importing == []


def test_every_claim_is_on_a_page():
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    assert [name for name in CLAIMS if f"`{name}`" not in text] == []
