"""Files and folders that commands write are refused while options are read; what takes long is told."""

import re
import sys
import time
from pathlib import Path

import pytest
from command_line import call, run

from agattn import patience
from agattn.cli.commands import COMMANDS
from agattn.cli.main import cli
from agattn.cli.output import DRAWINGS, Destination, progress

HEAVY = ("numpy", "flint", "sympy", "rich", "mpmath", "matplotlib", "jinja2", "scipy")
#: Every option of every command that names what is written.
WRITTEN = [
    (command, option)
    for command in COMMANDS
    for option in cli.get_command(None, command).params
    if isinstance(option.type, Destination)
]


def test_every_option_that_writes_is_seen():
    found = {(command, option.opts[0]) for command, option in WRITTEN}
    assert {("verify", "--report"), ("report", "--out"), ("check", "--write"), ("figure", "-O")} <= found
    assert {("certificate", "-O"), ("train", "-O"), ("rlct", "--certificate"), ("run", "--keep")} <= found


@pytest.mark.parametrize(("command", "option"), WRITTEN, ids=lambda one: getattr(one, "name", one))
def test_it_is_refused_before_anything_else(command, option, tmp_path):
    """Without the arguments that the command needs: they are not looked at yet."""
    (tmp_path / "file").touch()
    flag, ending = option.opts[0], next(iter(option.type.endings), "")
    status, out, err = call(command, flag, tmp_path / "file" / f"x{ending}")
    assert (status, out) == (2, "") and "cannot write" in err and err.count("\n") == 1, err
    if option.type.endings:
        status, out, err = call(command, flag, "t.docx")
        listed = re.search(r"cannot write t.docx; its name must end in (.*)", err)
        assert status == 2 and all(known in listed[1] for known in option.type.endings), err
    if set(option.type.endings) & set(DRAWINGS):
        err = call(command, flag, tmp_path / "nodir" / f"x{ending}").err
        assert f"there is no folder {tmp_path / 'nodir'}" in err and not (tmp_path / "nodir").exists()


FOLDERS = [(command, option) for command, option in WRITTEN if option.type.folder]


@pytest.mark.parametrize(("command", "option"), FOLDERS, ids=lambda one: getattr(one, "name", one))
@pytest.mark.parametrize("name", ["v.html", "rep.pdf", "r.JSON"])
def test_a_folder_does_not_get_the_name_of_a_file(command, option, name, tmp_path):
    ended = call(command, option.opts[0], tmp_path / name)
    assert ended.status == 2 and ended.err.endswith(
        f"would be a folder; give one, such as {Path(name).stem}\n"
    )
    assert not (tmp_path / name).exists()


def test_nothing_heavy_is_imported_for_it():
    code = (
        "import sys\nfrom agattn.cli.main import main\n"
        "try: main(['figure', '1', '-O', 'nodir/x.png'])\nexcept SystemExit as end: print(end.code)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    ended = run(code=code)
    assert ended.out.split("\n")[:2] == ["2", "[]"] and "there is no folder nodir" in ended.err


def test_a_terminal_is_told_what_takes_long_and_the_line_is_wiped_out(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with patience.told("counting", after=0.02, every=0.02) as tell:
        tell("modulo 7")
        time.sleep(0.2)
    err = capsys.readouterr().err
    assert err.count("\rcounting: modulo 7, 0 s\x1b[K") >= 2 and err.endswith("\r\x1b[K")
    with patience.told("counting", after=60):
        pass
    assert capsys.readouterr().err == ""


def test_a_command_tells_a_terminal_alone(monkeypatch, capsys):
    monkeypatch.setattr(patience, "AFTER", 0.0)
    with progress("rank") as tell:
        tell("drawing")
    assert capsys.readouterr().err == ""


def test_a_figure_that_is_not_drawn_says_how_to_draw_it():
    assert call("figure", "2").err.endswith("nothing was drawn; -O figure2.png draws it\n")


def test_verdicts_are_explained_in_words():
    out = " ".join(
        call(
            "verify", "3", "1", "--engine", "native", "--claim", "A.6", "--claim", "agattn.hilbert-function"
        ).out.split()
    )
    assert "corollary-A.6: A point of M is on the relative boundary iff it is critical" in out
    assert "agattn.hilbert-function does not apply: it assumes d = 2 and t ≥ 2." in out
    words = ["--dims", "2,2", "--ranks", "1", "--heads", "2", "-t", "2", "--claim", "agattn.heads-not-closed"]
    out = " ".join(call("verify", *words).out.split())
    assert (
        "agattn.heads-not-closed: the heads that the JSON lists, with weights that diverge, add up to" in out
    )
