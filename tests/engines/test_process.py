import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from command_line import eventually, start

from agattn.engines import process
from agattn.engines.process import run_program, work_folder
from agattn.errors import EngineCrashedError, EngineMemoryError, EngineTimeoutError

ROOT = Path(__file__).parents[2]


def shell(folder, text, **limits):
    return run_program(["/bin/sh", "-c", text], folder, **{"timeout": 20, "memory": 4096, **limits})


def is_alive(pid):
    """Whether a process runs; one that is dead but not reaped counts as alive only if it is ours to reap."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state[0] != "Z" or int(state[1]) == os.getpid()


# A program with a child and a grandchild that ignore everything that can be ignored.
FAMILY = """
trap '' INT TERM HUP
echo $$ >> pids
(trap '' INT TERM HUP; echo $(exec sh -c 'echo $PPID') >> pids; (sleep 300 & echo $! >> pids; wait); wait) &
sleep 300
"""


def family(folder):
    assert eventually(lambda: (folder / "pids").exists() and len((folder / "pids").read_text().split()) == 3)
    return [int(pid) for pid in (folder / "pids").read_text().split()]


def test_returns_what_was_printed(tmp_path):
    ended = shell(tmp_path, "echo out; echo err >&2; exit 7")
    assert (ended.status, ended.output, ended.errors) == (7, "out\n", "err\n")
    assert ended.seconds >= 0


def test_working_and_home_directory_are_private_and_input_is_empty(tmp_path):
    ended = shell(tmp_path, 'pwd; echo "$HOME"; cat; echo end')
    assert ended.output.split() == [str(tmp_path), str(tmp_path), "end"]


def test_arguments_are_passed_as_they_are(tmp_path):
    awkward = ["$HOME", "a b", "*", "'", '"', ";exit 3", "-n", ""]
    ended = run_program([sys.executable, "-c", "import sys; print(sys.argv[1:])", *awkward], tmp_path,
                        timeout=20, memory=4096)  # fmt: skip
    assert ended.output.strip() == str(awkward)


def test_timeout_kills_the_whole_family(tmp_path):
    with pytest.raises(EngineTimeoutError, match="stopped after 1 s, its time limit"):
        shell(tmp_path, FAMILY, timeout=1)
    pids = family(tmp_path)
    assert eventually(lambda: not any(map(is_alive, pids)))


def test_an_interrupt_while_a_program_starts_leaves_no_process(tmp_path, monkeypatch):
    """The interrupt comes when the family runs, in the call that starts the program."""
    real, begun = subprocess.Popen, []

    def interrupted(command, **options):
        begun.append(real(command, **options))
        if len(begun) == 2:  # after the watcher
            family(tmp_path)
            raise KeyboardInterrupt
        return begun[0]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shell(tmp_path, FAMILY)
    monkeypatch.undo()
    assert eventually(lambda: all(one.poll() is not None for one in begun))
    assert eventually(lambda: not any(map(is_alive, family(tmp_path))))


def test_processes_that_become_another_all_the_time_are_killed_too(tmp_path, monkeypatch):
    """Where the group is unknown, as here, one look at environments misses some in most runs."""
    real, begun = subprocess.Popen, []
    (tmp_path / "again").write_text("exec /bin/sh again")

    def interrupted(command, **options):
        begun.append(real(command, **options))
        if len(begun) == 2:  # after the watcher
            begun.extend(real(["/bin/sh", "again"], **options) for _ in range(20))
            raise KeyboardInterrupt
        return begun[0]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shell(tmp_path, "exec /bin/sh again")
    monkeypatch.undo()
    try:
        assert eventually(lambda: all(one.poll() is not None for one in begun), seconds=10)
    finally:
        for one in begun:
            one.kill()


def test_children_left_behind_by_a_normal_end_are_killed(tmp_path):
    ended = shell(tmp_path, "sleep 300 & echo $!")
    assert ended.status == 0
    assert eventually(lambda: not is_alive(int(ended.output)))


def test_cancelling_kills_the_whole_family(tmp_path):
    cancelled = threading.Event()
    threading.Thread(target=lambda: (family(tmp_path), cancelled.set()), daemon=True).start()
    with pytest.raises(EngineCrashedError, match="cancelled"):
        shell(tmp_path, FAMILY, cancelled=cancelled)
    pids = family(tmp_path)
    assert eventually(lambda: not any(map(is_alive, pids)))


def test_no_zombies(tmp_path):
    for text in ("exit 0", "kill -9 $$", "sleep 300"):
        with contextlib.suppress(EngineTimeoutError):
            shell(tmp_path, f"echo $$ > pid; {text}", timeout=1)
        pid = int((tmp_path / "pid").read_text())
        assert not is_alive(pid)
        with pytest.raises(ChildProcessError):  # nothing with this number is left to be reaped
            os.waitpid(pid, os.WNOHANG)


def test_a_signal_shows_in_the_status(tmp_path):
    assert shell(tmp_path, "kill -9 $$").status == -signal.SIGKILL
    assert shell(tmp_path, "kill -SEGV $$").status == -signal.SIGSEGV
    assert not list(tmp_path.glob("core*"))


def test_memory_limit(tmp_path):
    text = "b = bytearray(2**20 * int(__import__('sys').argv[1])); print(len(b) >> 20)"
    command = [sys.executable, "-c", text]
    assert run_program([*command, "100"], tmp_path, timeout=20, memory=1000).output == "100\n"
    ended = run_program([*command, "1000"], tmp_path, timeout=20, memory=1000)
    assert ended.status == 1 and "MemoryError" in ended.errors


def test_flood_of_output_on_both_streams_does_not_block(tmp_path):
    ended = shell(tmp_path, "yes 0123456789 | head -c 8000000 & yes x | head -c 8000000 >&2; wait")
    assert (len(ended.output), len(ended.errors)) == (8_000_000, 8_000_000)


@pytest.mark.parametrize("stream", ["", " >&2"])
def test_flood_without_end_is_stopped(tmp_path, monkeypatch, stream):
    monkeypatch.setattr(process, "MAX_OUTPUT", 2)
    with pytest.raises(EngineCrashedError, match="stopped when it had printed 2 MiB"):
        shell(tmp_path, f"exec yes{stream}")


def test_output_that_is_no_text_is_read_all_the_same(tmp_path):
    assert shell(tmp_path, r"printf 'a\377\376b'").output == "a\ufffd\ufffdb"


def test_a_program_that_is_not_there_or_cannot_run(tmp_path):
    ended = run_program([str(tmp_path / "none")], tmp_path, timeout=5, memory=4096)
    assert ended.status == 127 and "none" in ended.errors
    (tmp_path / "text").write_text("no program")
    assert run_program([str(tmp_path / "text")], tmp_path, timeout=5, memory=4096).status == 126


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "sent"),
    [
        (["run", "fiber", "--engine", "singular"], signal.SIGINT),
        (["critical-points", "--samples", "3", "--engine", "singular"], signal.SIGINT),
        (["verify", "--engine", "all"], signal.SIGINT),
        (["verify", "--engine", "all"], signal.SIGTERM),
    ],
    ids=lambda x: x[0] if isinstance(x, list) else x.name,
)
def test_interrupt_leaves_no_process_and_no_directory(fakes, tmp_path, command, sent):
    # Ctrl-C, or a scheduler's request to end, while an engine with children of its own is at work.
    note = tmp_path / "pids"
    for name in ("M2", "Singular"):
        fakes.write(name, f'echo $$ >> "{note}"; sleep 300 & echo $! >> "{note}"; trap "" INT; wait')
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    child = start(*command, "-d", "2", "-o", "1", environment={"TMPDIR": str(temporary)})
    assert eventually(lambda: note.exists() and len(note.read_text().split()) >= 2)
    assert list(temporary.iterdir())
    child.send_signal(sent)
    output, errors = child.communicate(timeout=60)
    assert child.returncode == 130
    assert errors.strip() == "agattn: interrupted; nothing was left behind" and output == ""
    pids = [int(pid) for pid in note.read_text().split()]
    assert eventually(lambda: not any(map(is_alive, pids)))
    assert list(temporary.iterdir()) == []


ELSEWHERE = "setsid sleep 300 & echo $!; setsid sh -c 'sleep 300 & echo $! >> pids; echo $$ >> pids; wait' &"


def test_descendants_in_sessions_of_their_own_are_killed(tmp_path):
    """No process group holds them, but they carry the token of the run."""
    shell(tmp_path, f"{ELSEWHERE} until [ -s pids ]; do :; done; sleep 0.2")
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2 and eventually(lambda: not any(map(is_alive, pids)))


HOST = """
import sys
from pathlib import Path
from agattn.engines.process import run_program, work_folder
with work_folder() as folder:
    run_program(["/bin/sh", "-c", sys.argv[1]], folder, timeout=60, memory=4096)
"""


def test_if_we_are_killed_the_engine_its_descendants_and_its_folder_go(tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    note = tmp_path / "pids"
    text = f"echo $$ >> {note}; sleep 300 & echo $! >> {note}; setsid sleep 300 & echo $! >> {note}; wait"
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, text], cwd=ROOT, env={**os.environ, "TMPDIR": str(temporary)}
    )
    assert eventually(lambda: note.exists() and len(note.read_text().split()) == 3, 20)
    assert list(temporary.glob("agattn-*"))
    host.kill()
    host.wait()
    pids = [int(pid) for pid in note.read_text().split()]
    assert eventually(lambda: not any(map(is_alive, pids)))
    assert eventually(lambda: not list(temporary.iterdir()))


#: Kills itself in the call that starts the program, as soon as this program has noted who it is.
KILLED = (
    """
import os, signal, subprocess, sys, time
from pathlib import Path
real, begun = subprocess.Popen, []
def killed(command, **options):
    begun.append(real(command, **options))
    if len(begun) == 2:  # after the watcher
        while not Path(sys.argv[2]).exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    return begun[0]
subprocess.Popen = killed
"""
    + HOST
)


def test_if_we_are_killed_while_a_program_starts_its_descendants_and_its_folder_go(tmp_path):
    temporary, note = tmp_path / "tmp", tmp_path / "pids"
    temporary.mkdir()
    text = f"setsid sleep 300 & echo $! > {note}.part; mv {note}.part {note}; wait"
    command = [sys.executable, "-c", KILLED, text, str(note)]
    ended = subprocess.run(command, cwd=ROOT, env={**os.environ, "TMPDIR": str(temporary)}, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert eventually(lambda: not is_alive(int(note.read_text())))
    assert eventually(lambda: not list(temporary.iterdir()))


def test_folders_of_dead_processes_are_removed_at_the_next_start(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    process._sweep.cache_clear()
    dead = subprocess.Popen(["/bin/true"])
    dead.wait()
    here = f"agattn-{os.uname().nodename}"
    kept = {f"{here}-{os.getpid()}-mine", f"agattn-elsewhere-{dead.pid}-x", f"{here}-x-x", "other-1-x"}
    for name in (f"{here}-{dead.pid}-old", *kept):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    with work_folder() as folder:
        assert folder.parent == tmp_path
    assert {path.name for path in tmp_path.iterdir()} == kept


@pytest.mark.parametrize("trick", ["rm -f std*", "rm -f std*; mkfifo stdout", "ln -sf /etc/hostname stdout"])
def test_nobody_can_put_another_file_in_the_place_of_the_output(tmp_path, trick):
    assert shell(tmp_path, f"echo before; {trick}; echo after").output == "before\nafter\n"


def test_memory_of_descendants_counts(tmp_path):
    """Each stays below the limit; together they do not."""
    hold = f"{sys.executable} -c 'import time; b = bytearray(2**28); b[::4096] = b[::4096]; time.sleep(30)'"
    with pytest.raises(EngineMemoryError, match="with 600 MiB allowed"):
        shell(tmp_path, f"{hold} & {hold} & setsid {hold} & wait", memory=600)
