import json
import re
import subprocess
import sys

import pytest
from command_line import ROOT, call, document, run

from agattn._version import __version__
from agattn.cli.main import cli, main
from agattn.names import COMMANDS, GROUPS

HEAVY = ("numpy", "flint", "sympy", "rich", "mpmath", "networkx", "jinja2", "jsonschema")
HEAVY += ("matplotlib", "scipy")


def imported_by(*commands):
    """The modules that are there after commands in a process of its own."""
    code = (
        "import json, sys\n"
        "from agattn.cli.main import main\n"
        f"for words in {commands!r}:\n"
        "    try: main(words.split())\n"
        "    except SystemExit: pass\n"
        "print(json.dumps(list(sys.modules)))"
    )
    return {*json.loads(run(code=code).out.splitlines()[-1])}


def test_what_needs_no_mathematics_imports_none():
    assert not imported_by("--help", "-h", "--version", "verfy") & {*HEAVY}


#: Libraries that take longer to import than the help of a command may take.
SLOW = ("sympy", "rich", "networkx", "jinja2", "jsonschema", "scipy", "matplotlib", "plotly", "dask")


def test_the_help_of_commands_imports_no_slow_library():
    assert not imported_by(*(f"{command} --help" for command in COMMANDS)) & {*SLOW}


def test_help_lists_the_commands_in_groups_and_the_main_one_first():
    status, out, _ = call("--help")
    assert status == 0 and "Exit status" in out
    titles = list(GROUPS)
    assert titles[0] == "Check the theorems" and next(iter(COMMANDS)) == "verify"
    places = [out.index(f"\n{title}:\n") for title in titles]
    assert places == sorted(places) and len(set(places)) == 7
    listed = re.findall(r"^  ([a-z][a-z-]+)  ", out, re.MULTILINE)
    assert listed == [name for name in COMMANDS if name != "schema"]


def test_version():
    assert call("--version")[1].strip() == f"agattn, version {__version__}"


def test_what_to_cite():
    status, printed, _ = call("--cite")
    assert status == 0 and "arXiv:2408.17221" in printed and f"version = {{{__version__}}}" in printed


def test_a_reader_that_goes_away_is_no_error():
    ended = subprocess.run(
        f'"{sys.executable}" -m agattn emit strata-tangents -d 3 -o 3 2>errors.$$ | head -n 1; '
        "cat errors.$$; rm errors.$$",
        shell=True, cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ended.stdout.startswith("-- ") and ended.stdout.count("\n") == 1 and ended.stderr == ""


@pytest.mark.parametrize("words", [[], ["help"], ["help", "verify"]])
def test_help_is_no_error(words, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["agattn", *words])
    with pytest.raises(SystemExit) as end:
        main()
    out = capsys.readouterr().out
    assert end.value.code == 0 and out.startswith("Usage: agattn") and ("--claim" in out) == (len(words) == 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("theorem-3.4", ["theorem-3.4.closed", "theorem-3.4.boundary", "theorem-3.4.singular"]),
        ("Theorem 3.4.Closed", ["theorem-3.4.closed"]),
        ("A.4", ["corollary-A.4"]),
    ],
)
def test_claims_can_be_named_in_part(text, expected):
    found = document("verify -d 2 -o 1 --engine native --claim", text)
    assert [claim["id"] for claim in found["claims"]] == expected


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_is_one_screen_in_sections(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = call(name, "--help").out
    assert "Example" in out and f"agattn {name}" in out
    lines = out.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    titles = [line for line in lines if re.fullmatch(r"\w[\w ]+:", line)]
    order = ["Options:", "Architecture:", "Limits and engines:"]
    assert titles == [title for title in order if title in titles] and titles[0] == "Options:"
    options = {*re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", "\n".join(lines))}
    own = [one for one in cli.get_command(None, name).params if one.param_type_name == "option"]
    assert all(not {*one.opts}.isdisjoint(options) for one in own if not one.hidden)


@pytest.mark.parametrize(
    ("word", "message"), [("1" + "0" * 300, "is no layer"), ("a" * 300, "is no architecture")]
)
def test_a_word_that_is_too_long_for_a_file_is_none(word, message):
    for more in ("", "--normalization softmax"):
        ended = call(f"dimension {more}", word)
        assert ended.status == 2 and message in " ".join(ended.err.split())
