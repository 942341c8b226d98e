"""Files and folders that commands write are refused while options are read; what takes long is told."""

import re
from pathlib import Path

import pytest
from command_line import call, run

from agattn.cli.commands import COMMANDS
from agattn.cli.main import cli
from agattn.cli.output import DRAWINGS, Destination, check_destination, check_drawing
from agattn.errors import InputError

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


def test_a_figure_that_is_not_drawn_says_how_to_draw_it():
    assert call("figure", "2").err.endswith("nothing was drawn; -O figure2.png draws it\n")


def test_destinations(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    check_destination(tmp_path / "new" / "file.md")
    check_destination(tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    for path, folder in (("file", True), ("", False), ("file/x", False)):
        with pytest.raises(InputError, match="cannot write"):
            check_destination(tmp_path / path, folder=folder)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match="needs matplotlib"):
        check_drawing(tmp_path / "x.png")
