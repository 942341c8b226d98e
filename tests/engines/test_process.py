import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from command_line import eventually

from agattn.engines import process
from agattn.engines.process import run_program, work_folder
from agattn.errors import EngineCrashedError, EngineMemoryError, EngineTimeoutError
from tests.faults.studies import alive

ROOT = Path(__file__).parents[2]


def shell(folder, text, **limits):
    """Run a shell, in a folder that is still there afterwards."""
    limits = {"timeout": 20, "memory": 4096, **limits}
    return run_program(["/bin/sh", "-c", 'cd "$0"; eval "$1"', str(folder), text], **limits)


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
    text = 'pwd; echo "$HOME"; stat -c %a .; ls; cat a; cat; echo end'
    ended = run_program(["/bin/sh", "-c", text], {"a": "text"}, timeout=20, memory=4096)
    folder, home, *rest = ended.output.split()
    assert folder == home and rest == ["700", "a", "textend"] and not Path(home).exists()


def test_arguments_are_passed_as_they_are(tmp_path):
    awkward = ["$HOME", "a b", "*", "'", '"', ";exit 3", "-n", ""]
    ended = run_program([sys.executable, "-c", "import sys; print(sys.argv[1:])", *awkward],
                        timeout=20, memory=4096)  # fmt: skip
    assert ended.output.strip() == str(awkward)


def test_timeout_kills_the_whole_family(tmp_path):
    with pytest.raises(EngineTimeoutError, match="stopped after 1 s, its time limit"):
        shell(tmp_path, FAMILY, timeout=1)
    pids = family(tmp_path)
    assert eventually(lambda: not any(map(is_alive, pids)))


def test_an_interrupt_while_a_program_starts_leaves_no_process(tmp_path, monkeypatch):
    """It comes when the supervisor runs, in the call that starts it; and when the family runs."""
    real, begun = subprocess.Popen, []

    def interrupted(command, **options):
        begun.append(real(command, **options))
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shell(tmp_path, FAMILY)
    monkeypatch.undo()
    assert eventually(lambda: begun[0].poll() is not None)
    assert not list(tmp_path.iterdir())


def test_an_interrupt_leaves_no_process_of_the_family(tmp_path, monkeypatch):
    def interrupted(*_):
        family(tmp_path)
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "_wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shell(tmp_path, FAMILY)
    assert not any(map(is_alive, family(tmp_path)))


def test_processes_that_become_another_all_the_time_are_killed_too(tmp_path):
    """They are in sessions of their own, too."""
    (tmp_path / "again").write_text('test -e begun$1 || echo $$ > begun$1; exec /bin/sh again "$1"')
    text = "for n in $(seq 20); do setsid /bin/sh again $n & done; /bin/sh again 0"

    def begun():
        return [path.read_text() for path in tmp_path.glob("begun*")]

    def cancel():
        assert eventually(lambda: len(begun()) == 21 and all(begun()))
        cancelled.set()

    cancelled = threading.Event()
    threading.Thread(target=cancel, daemon=True).start()
    with pytest.raises(EngineCrashedError, match="cancelled"):
        shell(tmp_path, text, cancelled=cancelled)
    assert not any(map(is_alive, map(int, begun())))


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
    assert run_program([*command, "100"], timeout=20, memory=1000).output == "100\n"
    assert run_program(["sleep", "1.2"], timeout=20, memory=100).status == 0  # longer than a look at memory
    ended = run_program([*command, "1000"], timeout=20, memory=1000)
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
    ended = run_program([str(tmp_path / "none")], timeout=5, memory=4096)
    assert ended.status == 127 and "none" in ended.errors
    (tmp_path / "text").write_text("no program")
    assert run_program([str(tmp_path / "text")], timeout=5, memory=4096).status == 126


def test_a_supervisor_that_is_not_there(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(EngineCrashedError, match="M2 could not be started: No such file or directory"):
        run_program(["M2"], timeout=5, memory=4096)


ELSEWHERE = "setsid sleep 300 & echo $!; setsid sh -c 'sleep 300 & echo $! >> pids; echo $$ >> pids; wait' &"


def test_descendants_in_sessions_of_their_own_are_killed(tmp_path):
    """No process group holds them, but they are descendants of the supervisor."""
    shell(tmp_path, f"{ELSEWHERE} until [ -s pids ]; do :; done; sleep 0.2")
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2 and eventually(lambda: not any(map(is_alive, pids)))


HOST = """
import sys
from agattn.engines.process import run_program
run_program(["/bin/sh", "-c", sys.argv[1]], {"script": "text"}, timeout=60, memory=4096)
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


FOLDER = """
import os, signal
from agattn.engines.process import work_folder
with work_folder() as folder:
    (folder / "file").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_if_we_are_killed_a_folder_without_a_program_goes(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", FOLDER], cwd=ROOT, env=environment, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert eventually(lambda: not list(tmp_path.iterdir()))


#: Kills itself in the call that starts the supervisor.
KILLED = (
    """
import os, signal, subprocess
real = subprocess.Popen
def killed(command, **options):
    begun = real(command, **options)
    os.kill(os.getpid(), signal.SIGKILL)
subprocess.Popen = killed
"""
    + HOST
)


def test_if_we_are_killed_while_a_program_starts_nothing_starts_and_nothing_is_left(tmp_path):
    mark, temporary = f"AGATTN_KILLED={time.time_ns()}", tmp_path / "tmp"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), **dict([mark.split("=")])}
    command = [sys.executable, "-c", KILLED, f"touch {tmp_path}/started"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert eventually(lambda: not alive(mark))
    assert not list(temporary.iterdir()) and not (tmp_path / "started").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_signals_to_the_supervisor(tmp_path, number):
    """It goes on, and where it cannot, the program ends with it."""
    ended = shell(tmp_path, f"kill -{int(number)} $PPID; sleep 0.2; echo $$ > on; echo on")
    if number == signal.SIGKILL:
        assert (ended.status, ended.output) == (-signal.SIGKILL, "") and not (tmp_path / "on").exists()
    else:
        assert (ended.status, ended.output) == (0, "on\n")


def test_a_folder_that_is_read_only_is_removed():
    with work_folder() as folder:
        (folder / "file").touch()
        folder.chmod(0o500)
    assert not folder.exists()


@pytest.mark.parametrize("trick", ["rm -f std*", "rm -f std*; mkfifo stdout", "ln -sf /etc/hostname stdout"])
def test_nobody_can_put_another_file_in_the_place_of_the_output(tmp_path, trick):
    assert shell(tmp_path, f"echo before; {trick}; echo after").output == "before\nafter\n"


def test_memory_of_descendants_counts(tmp_path):
    """Each stays below the limit; together they do not."""
    hold = f"{sys.executable} -c 'import time; b = bytearray(2**28); b[::4096] = b[::4096]; time.sleep(30)'"
    with pytest.raises(EngineMemoryError, match="with 600 MiB allowed"):
        shell(tmp_path, f"{hold} & {hold} & setsid {hold} & wait", memory=600)
