"""In a terminal of 80 columns no line is longer, and no number or word is broken."""

import io
import json
import re
from collections import Counter

import pytest
from command_line import ROOT, call
from installed import require
from rich.console import Console

import agattn.sheet.terminal
from agattn.sheet.terminal import fold, print_folded, show

#: A script and a schema are for programs: their lines are never folded.
FILES = {"emit", "schema"}
LINES = [line.split() for line in json.loads((ROOT / "tests" / "documents.json").read_text(encoding="utf-8"))]
SHOWN = [[word for word in words if word != "--json"] for words in LINES if words[0] not in FILES]
#: Large sizes, where numbers are long; lists; and commands that print no document.
SHOWN += [
    ["dimension", "-d", "768", "-o", "64", "-a", "64"],
    ["dimension", "--dims", "768,768,768", "--ranks", "64,64", "-t", "128"],
    ["ideal", "-d", "3", "-o", "1", "--max-degree", "4"],
    ["critical-points", "-d", "4", "-o", "1"],
    ["verify", "--dims", "4,3,4", "--ranks", "2,2", "-t", "3", "--engine", "native"],
    ["verify", "--list"],
    ["emit", "--list"],
    ["doctor"],
    ["run", "implicit-ideal", "-d", "2", "-o", "1"],
    ["train", "FOLDER/train.toml", "--no-cache"],
    ["study", "FOLDER/grid.toml", "--no-cache"],
    ["report", "examples/maps.py:cubic", "-O", "FOLDER/report"],
    ["study", "audit", "--part", "5/40", "--no-cache"],
]
GRID = """ask = ["dimension", "symmetries"]
[[networks]]
dims = [[2, 1], [3, 2]]
ranks = [[1], [2]]
t = 2
"""
TRAIN = """[[experiment]]
name = "an experiment whose name is longer than a column of a table is wide"
layer = {d = 2, d_out = 1, a = 1}
teacher = {kind = "generic"}
method = "untrained"
seeds = 2
"""


def words_of(text):
    """The words of a text with their number, without rules and the time that was taken."""
    return Counter(re.sub(r"─+|in \d+\.\d s\.", " ", text).split())


@pytest.mark.parametrize("words", SHOWN, ids=" ".join)
def test_it_fits_80_columns(words, monkeypatch, tmp_path):
    if words[0] in ("run", "doctor"):
        require("macaulay2")
    wide = io.StringIO()

    def show_twice(sheet, console):
        show(sheet, console)
        show(sheet, Console(file=wide, width=100_000, highlight=False))

    (tmp_path / "grid.toml").write_text(GRID, encoding="utf-8")
    (tmp_path / "train.toml").write_text(TRAIN, encoding="utf-8")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(agattn.sheet.terminal, "show", show_twice)
    ended = call(*(word.replace("FOLDER", str(tmp_path)) for word in words))
    assert ended.status in (0, 1), ended
    printed = ended.out + ended.err
    # A path may be longer than a line, and is not broken.
    too_long = [line for line in printed.splitlines() if len(line) > 80 and " " in line.strip()]
    assert [line for line in too_long if not line.startswith("wrote ")] == []
    assert words_of(wide.getvalue()) - words_of(printed) == Counter()


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
    print_folded("word " * 40, file)
    assert (file.getvalue().count("\n") == 1) == (columns is None)


@pytest.mark.parametrize("columns", ["20", "40", "60"])
@pytest.mark.parametrize("command", [["verify", "--engine", "native"], ["strata"]], ids=lambda c: c[0])
def test_nothing_is_cut_off_in_a_narrow_terminal(monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", "200")
    wide = call(*command, "-d", "2", "-o", "1")[1]
    monkeypatch.setenv("COLUMNS", columns)
    narrow = call(*command, "-d", "2", "-o", "1")[1]
    assert "…" not in narrow
    words = {word for word in wide.split() if set(word) != {"─"} and not word[0].isdigit()}
    told = set(narrow.replace(":", " ").replace("\n", " ").split())
    headings = {"claim", "stratum"}  # of the first column, which heads the paragraphs
    assert {word.strip(":;,.") for word in words} - {w.strip(":;,.") for w in told} <= headings
