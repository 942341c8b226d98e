"""The first page: its length, and its commands, typed from top to bottom in one clone."""

import re
import shutil
import subprocess

import pytest
from command_line import ROOT, call
from installed import require
from test_documented_commands import agattn_in

README = (ROOT / "README.md").read_text(encoding="utf-8")
#: A block of code, or a line of it in the text.
CODE = re.compile(r"^```\w*\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
#: Not 0, because a claim of the paper is refuted there.
REFUTES = {
    ("verify", "3", "2", "2", "--claim", "theorem-3.4.singular", "--claim", "agattn.singular-locus"),
    ("certificate", "3", "2", "2", "-O", "m322.json"),
}


def commands():
    """The words of each command of the page that is complete, in order."""
    lines = (line for block, inline in CODE.findall(README) for line in (block or inline).splitlines())
    calls = (words for line in lines for words in agattn_in(line.removeprefix("$ ")) if "agattn" in line)
    return [words for words in calls if words and words[0] != "COMMAND"]


def test_the_page_has_at_most_1000_words_without_code():
    text = re.sub(r"^```.*?^```", "", README, flags=re.MULTILINE | re.DOTALL)
    assert 300 < len(text.split()) <= 1000


def git(folder, *words):
    """What git prints."""
    names = ("-c", "user.name=reader", "-c", "user.email=reader@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *names, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def clone(folder):
    """A copy of what git has of this repository, or would have, as a repository of its own."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no clone, or there is no git")
    for name in git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", "a clone")


@pytest.mark.slow
@pytest.mark.engine
def test_all_commands_in_one_clone_leave_nothing_for_git(tmp_path, monkeypatch):
    require("macaulay2")
    folder = tmp_path / "clone"
    folder.mkdir()
    clone(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("AGATTN_CACHE", str(tmp_path / "cache"))
    listed = commands()
    assert len(listed) >= 14 and {*map(tuple, listed)} >= REFUTES
    for words in listed:
        ended = call(*words)
        assert ended.status == int(tuple(words) in REFUTES), f"{words}\n{ended.err}"
        assert "Traceback" not in ended.err, f"{words}\n{ended.err}"
    assert git(folder, "status", "--porcelain") == ""
    ignored = git(folder, "status", "--porcelain", "--ignored").splitlines()
    assert {"!! layer/", "!! m322.json"} <= set(ignored)
