"""What a bad call is answered with: every row of ``bad_calls.txt``, where there is no engine to ask."""

import json
import math
import re
import shlex
from functools import cache
from pathlib import Path
from typing import NamedTuple

import command_line
import numpy as np
import pytest
import sympy
from bad_files import FILES
from command_line import ROOT

import agattn as ag
from agattn.cli.kinds import OutputPath
from agattn.cli.main import cli
from agattn.geometry.identifiability import identifiability
from agattn.names import COMMANDS

TABLE = Path(__file__).with_name("bad_calls.txt")
#: A call of the shell, and the status with which it ends where that is not 2.
SHELL = re.compile(r"\$ agattn ?(.*?)(?: +# exit status (\d))?")
#: Libraries that need not be installed, and how a row is known that needs one.
NEEDED = {"safetensors": ".safetensors", "diskcache": "$ agattn study", "matplotlib": "$ agattn report"}


class Row(NamedTuple):
    """A bad call, as it is written in the table, and the whole message."""

    call: str
    message: str


def table() -> list[Row]:
    """The paragraphs of the table: calls, and the message that they have in common, if there is one."""
    found = []
    for paragraph in TABLE.read_text(encoding="utf-8").split("\n\n"):
        message = " ".join(re.findall(r"^  (.*)$", paragraph, re.MULTILINE))
        calls = re.findall(r"^(?:\$|>>>) .*(?:\n\.\.\. .*)*$", paragraph, re.MULTILINE)
        found += [Row(call, message) for call in calls]
    return found


ROWS = [row for row in table() if row.message]


@cache
def names() -> dict[str, object]:
    """What calls of Python in the table can name."""
    configs = json.loads((ROOT / "tests" / "checkpoints" / "configs.json").read_text(encoding="utf-8"))
    found = {"ag": ag, "math": math, "np": np, "sympy": sympy, "configs": configs}
    for row in table():
        if not row.message:
            exec(python(row.call), found)
    return found


def python(call: str) -> str:
    """The code of a call of Python."""
    return re.sub(r"^(>>>|\.\.\.) ", "", call, flags=re.MULTILINE)


def answer(call: str) -> str:
    """What a call is answered with, if it ends as the table says."""
    if call.startswith(">>>"):
        with pytest.raises(Exception) as caught:
            eval(python(call), names())
        kind = call.partition("  # ")[2] or "InputError"
        assert type(caught.value).__name__ == kind and "--" not in str(caught.value)
        return caught.value.args[0]
    words, status = SHELL.fullmatch(call).groups()
    ended = command_line.call(*shlex.split(words))
    assert (ended.status, ended.out) == (int(status or 2), ""), ended
    assert ended.err.startswith("agattn: ") and ended.err.endswith("\n"), ended
    return ended.err.removeprefix("agattn: ").removesuffix("\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that rows name."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "examples").symlink_to(ROOT / "examples")
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.call[:80])
def test_a_bad_call_gets_its_message(row, folder, fakes, monkeypatch):
    for library, mark in NEEDED.items():
        if mark in row.call:
            pytest.importorskip(library)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("AGATTN_CACHE", str(folder / "cache"))
    monkeypatch.setattr(identifiability, "GeneralStudy", None)  # weights are looked at before the work
    before = sorted(folder.iterdir())
    expected, found = row.message.replace("FOLDER", str(folder)), answer(row.call)
    assert found == expected or re.fullmatch(re.escape(expected).replace(r"\.\.\.", ".*"), found)
    assert len(found) < 1000  # what is long is cut
    assert sorted(folder.iterdir()) == before


def test_every_option_that_writes_has_a_row():
    """Each is refused before the arguments that the command needs are looked at."""
    rows = {tuple(row.call.split()[2:-1]) for row in ROWS if row.message.startswith("cannot write matrix/x")}
    for command in COMMANDS:
        for option in cli.get_command(None, command).params:
            assert not isinstance(option.type, OutputPath) or (command, option.opts[0]) in rows
