"""In a terminal of 80 columns no line is longer, and no number or word is broken."""

import io
import json
import re
from collections import Counter

import pytest
from command_line import ROOT, call
from rich.console import Console

import agattn.sheet.terminal
from agattn.sheet.terminal import fold, show, told

#: A script and a page of Markdown are files, which --output writes: their lines are for programs.
FILES = {"emit", "audit"}
LINES = [line.split() for line in json.loads((ROOT / "tests" / "documents.json").read_text(encoding="utf-8"))]
SHOWN = [[word for word in words if word != "--json"] for words in LINES if words[0] not in FILES]
#: Large sizes, where numbers are long.
SHOWN += [
    ["dimension", "-d", "768", "-o", "64", "-a", "64"],
    ["dimension", "--dims", "768,768,768", "--ranks", "64,64", "-t", "128"],
    ["ideal", "-d", "3", "-o", "1", "--max-degree", "4"],
    ["critical-points", "-d", "4", "-o", "1"],
    ["verify", "--dims", "4,3,4", "--ranks", "2,2", "-t", "3", "--engine", "native"],
]


def words_of(text):
    """The words of a text with their number, without rules and the time that was taken."""
    return Counter(re.sub(r"─+|in \d+\.\d s\.", " ", text).split())


@pytest.mark.parametrize("words", SHOWN, ids=" ".join)
def test_it_fits_80_columns(words, monkeypatch):
    wide = io.StringIO()

    def show_twice(sheet, console):
        show(sheet, console)
        show(sheet, Console(file=wide, width=100_000, highlight=False))

    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(agattn.sheet.terminal, "show", show_twice)
    ended = call(*words)
    assert ended.status in (0, 1), ended
    assert [line for line in (ended.out + ended.err).splitlines() if len(line) > 80] == []
    assert words_of(wide.getvalue()) - words_of(ended.out) == Counter()


def test_a_fold_breaks_no_number_and_no_relation():
    text = "  at most 143359: V = 0, dim M = 13 and λ from 13/2 to 1234567890123"
    for width in range(14, 80):
        folded = fold(text, width)
        assert folded.split() == text.split() and max(map(len, folded.splitlines())) <= max(width, 17)
        assert not re.search(r"[=≤]\n|\n *[=≤]", folded) or width < 18


@pytest.mark.parametrize("columns", [None, "80"])
def test_in_a_pipe_lines_stay_whole(columns, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    file = io.StringIO()
    told("word " * 40, file)
    assert (file.getvalue().count("\n") == 1) == (columns is None)
