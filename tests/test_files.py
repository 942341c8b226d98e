"""Files are read up to a limit of their size; they are written whole, or what was there stays."""

import os
import stat
from pathlib import Path

import pytest
from command_line import full_disk, run, start

import agattn as ag
from agattn.errors import InputError
from agattn.files import growing, write

#: Writes one of two texts again and again.
WRITER = "from agattn.cli.output import write_file; from pathlib import Path\n"
WRITER += "for n in range(150): write_file(Path('f.json'), {text!r} * {times}, tell=False)"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_two_writers_leave_a_file_of_one_of_them(tmp_path):
    texts = {letter * times for letter, times in (("a", 300_000), ("b", 70_000))}
    (tmp_path / "f.json").write_text("a" * 300_000)
    writers = [
        start(code=WRITER.format(text=text[0], times=len(text)), cwd=tmp_path, stderr=None) for text in texts
    ]
    seen = []
    while any(writer.poll() is None for writer in writers):
        seen.append((tmp_path / "f.json").read_text())
    assert all(writer.returncode == 0 for writer in writers)
    assert len(seen) > 20 and set(seen) <= texts
    assert names_in(tmp_path) == ["f.json"]


@pytest.mark.parametrize(
    "made",
    [
        lambda: ag.certificate(ag.SingleLayer(2, 1), "corollary-3.3"),
        lambda: ag.emit(ag.SingleLayer(2, 1), "fiber"),
        lambda: ag.figure(2, layers=2),
    ],
    ids=["certificate", "script", "figure"],
)
def test_what_python_saves_on_a_full_disk_is_what_was_there(made, tmp_path):
    path, found = tmp_path / "f.svg", made()
    path.write_text("before")
    with full_disk(), pytest.raises(InputError, match=r"cannot write .*f\.svg: File too large"):
        found.save(str(path))
    assert path.read_text() == "before" and names_in(tmp_path) == ["f.svg"]
    found.save(str(path))
    assert path.stat().st_size > 100 and names_in(tmp_path) == ["f.svg"]


def test_a_report_is_saved_in_a_folder_that_text_names(tmp_path):
    report = ag.report(ag.Network([ag.Linear(1)], dim=1), max_degree=1)
    assert report.save(str(tmp_path / "r"))[0] == tmp_path / "r" / "report.html"


def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "f", tmp_path / "link"
    write(path, "1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask()
    path.chmod(0o640)
    link.symlink_to("f")
    write(link, b"2")
    assert link.is_symlink() and path.read_bytes() == b"2" and stat.S_IMODE(path.stat().st_mode) == 0o640
    with growing(link) as file:
        file.write("3")
    assert link.is_symlink() and path.read_text() == "3" and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names_in(tmp_path) == ["f", "link"]


def umask():
    there = os.umask(0)
    os.umask(there)
    return there


def test_devices_and_pipes_are_written_as_they_are(tmp_path):
    with growing(Path("/dev/null")) as file:
        file.write("text")
    with pytest.raises(InputError, match="No space left"):
        write("/dev/full", "text")
    (tmp_path / "out.m2").symlink_to("/dev/stdout")
    ended = run("emit", "fiber", 2, 1, "-O", "out.m2", cwd=tmp_path)
    assert ended.status == 0 and ended.out.startswith(ag.emit(ag.SingleLayer(2, 1), "fiber"))
    assert Path("/dev/null").is_char_device() and names_in(tmp_path) == ["out.m2"]


def test_lines_have_another_name_until_the_last_is_there(tmp_path):
    path, part = tmp_path / "f.jsonl", tmp_path / "f.jsonl.part"
    path.write_text("before")
    with growing(path) as file:
        assert path.read_text() == "before"
        file.write("one\n")
        file.flush()
        assert part.read_text() == "one\n"
        with pytest.raises(InputError, match="another command is writing it"), growing(path):
            pass
        file.write("two\n")
    assert path.read_text() == "one\ntwo\n" and not part.exists()
    with pytest.raises(KeyboardInterrupt), growing(path) as file:
        file.write("three\n")
        raise KeyboardInterrupt
    assert path.read_text() == "one\ntwo\n" and part.read_text() == "three\n"
    with pytest.raises(ValueError), growing(path):
        raise ValueError
    assert path.read_text() == "one\ntwo\n" and not part.exists()
