"""The documentation tells the truth: every command line in it works, and prints what is shown."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from click import Context

from agattn._version import __version__
from agattn.cli.main import COMMANDS, cli, main
from agattn.studies.grid import example

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?:console|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(agattn [^`]+)`")
PLACEHOLDER = re.compile(r"\b(COMMAND|TASK|NAME|FILE|DIR|GRID|ADDRESS)\b")
# These need engines, or tell which there are, and are only parsed; verify can do without.
NEEDS_ENGINES = {"run", "doctor"}
NEEDS_A_FILE = {"check", "schema", "rank", "fiber", "classify", "identify", "figure", "study"}
READ = {".npy", ".npz", ".json", ".jsonl", ".safetensors"}
NEEDS_A_LAYER = {"emit", "run", "strata", "verify", "ideal", "report", "dimension"}
# Minutes, with the options the documentation gives; a test of its own runs it with smaller ones.
TOO_LONG = {"atlas"}
# A refuted claim is a result; everything else that is not 0 is a failure.
MAY_REFUTE = {"verify", "audit", "report", "study"}


def is_here(word):
    """Whether a word is no file to be read, or one that is there."""
    return Path(word).suffix not in READ or Path(word).exists()


def agattn_in(line):
    """The arguments of each call of agattn in a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    calls = [[]]
    for word in lexer:
        if set(word) <= set("|&;"):
            calls.append([])
        else:
            calls[-1].append(word)
    calls = [call[: call.index(">")] if ">" in call else call for call in calls]
    return [call[1:] for call in calls if call and Path(call[0]).name == "agattn"]


def is_complete(words):
    """Whether a command line is one: in running text a command may be named without a layer."""
    if words[0] in NEEDS_A_FILE:
        return len(words) > 1
    return "-d" in words or "--dims" in words or "--list" in words or words[0] not in NEEDS_A_LAYER


def shown():
    """Every command line, with the output shown below it; ``None`` where it is only mentioned."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found = []
        for block in BLOCK.findall(text):
            for entry in re.split(r"^\$ ", block, flags=re.MULTILINE):
                line, _, output = entry.partition("\n")
                found += [(words, output) for words in agattn_in(line)]
        for line in INLINE.findall(text):
            found += [(words, "" if is_complete(words) else None) for words in agattn_in(line)]
        for words, output in found:
            if not PLACEHOLDER.search(" ".join(words)):
                yield pytest.param(words, output, id=f"{page.name}: agattn {' '.join(words)}")


COMMAND_LINES = list(shown())


def test_there_are_command_lines():
    pages = {parameter.id.split(":")[0] for parameter in COMMAND_LINES}
    assert {"README.md", "tasks.md", "tutorial.md", "strata.md"} <= pages
    commands = {parameter.values[0][0] for parameter in COMMAND_LINES}
    assert {"verify", "emit", "run", "strata", "doctor", "schema"} <= commands <= set(COMMANDS)
    assert sum(bool(parameter.values[1]) for parameter in COMMAND_LINES) >= 2


def test_the_citation_names_this_version():
    assert f"version = {{{__version__}}}" in (ROOT / "README.md").read_text(encoding="utf-8")


def plain(line):
    """A line without what depends on the width of the terminal."""
    return " ".join(line.split())


@pytest.mark.parametrize(("words", "output"), COMMAND_LINES)
def test_it_works_as_shown(words, output, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")  # tables in full
    name = words[0]
    if output is None or name in NEEDS_ENGINES | TOO_LONG or not all(map(is_here, words)):
        if len(words) == 1 and name in NEEDS_A_FILE:
            return  # named, not called
        missing = ["--dims", "2,2", "--ranks", "1"] if name == "dimension" else ["-d", "2", "-o", "1"]
        missing += ["--out", "report"] if name == "report" else []
        layer = [] if is_complete(words) else missing
        cli.get_command(Context(cli), name).make_context(name, [*words[1:], *layer])  # it parses
        return
    np.save(tmp_path / "matrix.npy", np.eye(3))
    (tmp_path / "grid.toml").write_text(example(), encoding="utf-8")
    monkeypatch.setenv("AGATTN_CACHE", str(tmp_path / "cache"))
    shutil.copy(ROOT / "docs" / "certificates" / "m322.json", tmp_path)
    if name == "verify":
        words = [*words, "--engine", "native"]  # the last one counts
    with pytest.raises(SystemExit) as end:
        main(list(words))
    out, err = capsys.readouterr()
    assert end.value.code in ((0, 1) if name in MAY_REFUTE else (0,)), err
    if output:
        printed, told = ([plain(line) for line in text.splitlines()] for text in (out, output))
        rule = re.compile(r"─*")
        told = [line for line in told if not line.startswith("Computed by ")]
        if "..." in told:  # an extract
            assert [line for line in told if line != "..." and line not in printed] == []
            return
        assert [line for line in told if not rule.fullmatch(line) and line not in printed] == []
        # Nothing is left out but the last line, which says who computed and how long it took.
        left_out = [line for line in printed if not rule.fullmatch(line) and line not in told]
        assert [line for line in left_out if not line.startswith("Computed by ")] == []
