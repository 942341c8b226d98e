"""One process of pytest in a copy of the clone: it measures what tests reach, or runs tests on changes.

    python -m tests.mutations.worker JOB.json

``reach``: all tests once, on files with probes. ``swap``: pytest collects once; for each change a fork gives
the functions of the changed file their new code, and runs the tests. ``fresh``: the file was changed before
the start, as the change is in what an import does; the tests run in this process.
"""

import __future__

import gc
import json
import os
import resource
import select
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from hypothesis import Phase, settings

from tests.mutations.changes import Change

MEMORY = 6 * 10**9
AGAIN = "a process of its own is needed"
#: The same cases each time, and no search for the smallest of those that fail.
HYPOTHESIS = {
    "max_examples": 40, "deadline": None, "database": None, "derandomize": True,
    "phases": [Phase.explicit, Phase.generate],
}  # fmt: skip
OPTIONS = ["-q", "-o", "addopts=--doctest-modules --strict-markers", "-p", "no:cacheprovider", "--tb=no"]


def codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """All code in some code, by its name and line."""
    found = {(code.co_qualname, code.co_firstlineno): code}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= codes(inner)
    return found


def functions_of(path: Path) -> dict[tuple[str, int], list[FunctionType]]:
    """The functions whose code is in an imported file, by name and line."""
    found: dict[tuple[str, int], list[FunctionType]] = {}
    for function in [f for f in gc.get_objects() if type(f) is FunctionType]:
        code = function.__code__
        if code.co_filename == str(path):
            found.setdefault((code.co_qualname, code.co_firstlineno), []).append(function)
    return found


def swap(path: Path, functions: dict, source: bytes, change: Change) -> None:
    """Give the functions of an imported file the code that they have with a change.

    Raises:
        ValueError: if code has other variables of outer functions.
    """
    left, right = change.whole
    flags = __future__.annotations.compiler_flag if b"from __future__ import annotations" in source else 0
    lines = b"\n" * source.count(b"\n", 0, left)
    pieces = [
        source[left:right],
        source[left : change.start] + change.new.encode() + source[change.end : right],
    ]
    before, after = (codes(compile(lines + x, str(path), "exec", flags, dont_inherit=True)) for x in pieces)
    for key, code in after.items():
        if before.get(key) != code:
            for function in functions.get(key, ()):
                function.__code__ = code


_CLOCK = [int(time.time())]


def write(path: Path, source: bytes) -> None:
    """Write a file that no bytecode of another version is taken for."""
    path.write_bytes(source)
    _CLOCK[0] -= 10
    os.utime(path, (_CLOCK[0], _CLOCK[0]))


class Plugin:
    """Does what the job says in place of the loop of pytest."""

    def __init__(self, job: dict, out) -> None:
        self.job, self.out = job, out
        self.failed = self.skipped = False

    def say(self, **found) -> None:
        self.out.write(json.dumps(found) + "\n")
        self.out.flush()

    def pytest_collection(self) -> None:
        settings.register_profile("mutations", **HYPOTHESIS)
        settings.load_profile("mutations")

    def pytest_runtest_logreport(self, report) -> None:
        self.failed |= report.failed
        self.skipped |= report.skipped

    def passes(self, item) -> bool:
        """Run a test."""
        self.failed = self.skipped = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.failed

    def pytest_runtestloop(self, session) -> bool:
        if session.testsfailed and self.job["mode"] == "fresh":
            self.say(by="the import")
            return True
        self.items = {item.nodeid: item for item in session.items}
        getattr(self, self.job["mode"])(session)
        return True

    def reach(self, session) -> None:
        from tests.mutations.reached import taken

        self.say(test="", seconds=0, passed=False, reached=taken())
        for item in session.items:
            start = used()
            passed = self.passes(item) and not self.skipped
            self.say(test=item.nodeid, seconds=round(used() - start, 3), passed=passed, reached=taken())

    def fresh(self, session) -> None:
        self.say(by=self.first_to_fail(self.job["tests"]))

    def first_to_fail(self, tests) -> str:
        for name in tests:
            if name in self.items and not self.passes(self.items[name]):
                return name
        return ""

    def swap(self, session) -> None:
        gc.unfreeze()
        files = {fields["change"]["file"] for _, fields in self.job["changes"]}
        self.functions = {file: functions_of(Path.cwd() / file) for file in files}
        gc.freeze()
        useful: Counter[str] = Counter()  # of two tests of a place the one that saw more comes first
        for number, fields in self.job["changes"]:
            change = Change(**fields["change"])
            path = Path.cwd() / change.file
            source = path.read_bytes()
            own, others = fields["tests"][: fields["own"]], fields["tests"][fields["own"] :]
            fields["tests"] = [
                test for part in (own, others)
                for test in sorted(part, key=lambda test: -useful[f"{change.place} {test}"])
            ]  # fmt: skip
            write(path, change.applied(source))
            try:
                by = self.forked(path, source, change, fields)
            finally:
                write(path, source)
            useful[f"{change.place} {by}"] += 1
            self.say(number=number, by=by)

    def forked(self, path, source, change, fields) -> str:
        """What sees a change, found by a process of its own."""
        receiving, sending = os.pipe()
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            limit = int(cpu_of(resource.RUSAGE_SELF) + fields["limit"]) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            try:
                swap(path, self.functions[change.file], source, change)
                found = self.first_to_fail(fields["tests"])
            except ValueError:
                found = AGAIN
            except BaseException as error:
                found = f"the run stopped: {type(error).__name__}"
            os.write(sending, f"={found}".encode())
            os._exit(0)
        os.close(sending)
        ready, _, _ = select.select([receiving], [], [], 5 * fields["limit"])
        found = os.read(receiving, 10_000).decode() if ready else ""
        os.close(receiving)
        ended(child)
        return found[1:] if found else "time or memory"


def ended(child: int) -> None:
    """End a process and those that it started."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def used() -> float:
    """Seconds of processor time of this process and those that ended."""
    return cpu_of(resource.RUSAGE_SELF) + cpu_of(resource.RUSAGE_CHILDREN)


def cpu_of(who: int) -> float:
    """Seconds of processor time of this process, or of those that it started and that ended."""
    found = resource.getrusage(who)
    return found.ru_utime + found.ru_stime


def main() -> int:
    """Do a job; what is found goes to the standard output, and nothing that pytest prints."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    folder = f"--basetemp={Path.cwd() / '.tests'}"
    return int(pytest.main([*OPTIONS, folder, *job["collected"]], plugins=[Plugin(job, out)]))


if __name__ == "__main__":
    sys.exit(main())
