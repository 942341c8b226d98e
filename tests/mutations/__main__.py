"""Which small changes of the code do the tests see? One change at a time, in a copy of the clone.

    python -m tests.mutations                        every change of what is trusted
    python -m tests.mutations --rest --sample 200    a random sample of the changes of all other files
    python -m tests.mutations --only agattn/checker.py agattn/evidence.py
    python -m tests.mutations --resume               go on; --again: try once more what was not seen

A change is a comparison, operation or constant that is another, a condition, check, ``raise`` or ``return``
value that is gone: see ``changes.py``. The tests of a file are those of its room, the doctests in it, and
those that name it; slow ones are left out. They run once to see which lines each reaches. For a change
those that reach its line run, quickest first, until one fails or ``--budget`` seconds of tests have run.
``unseen.toml`` has the changes that nothing can see, with reasons.
"""

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue

from tests.mutations.changes import Change, changes, readable, with_probes
from tests.mutations.worker import AGAIN, write

ROOT = Path(__file__).parents[2]
EXPLAINED = Path(__file__).with_name("unseen.toml")
NOWHERE = "no test reaches this line"
#: What decides whether the set of functions is closed; the rest of its file finds limits.
_CLOSED = (
    "closed_image", "_divisions", "_covers", "_full_multidegree", "_contains", "_monomials",
    "is_closed_set", "_of_", "_block",
)  # fmt: skip
#: What a verdict rests on: the checker, evidence, transcripts, the checks of answers, and completeness.
#: ``FILE::NAME`` is what stands in functions and classes of a file whose names begin with NAME.
TRUSTED = {
    "checker": ["agattn/checker.py"],
    "evidence": ["agattn/evidence.py"],
    "transcripts": ["agattn/engines/transcript.py"],
    "checks of answers": [
        "agattn/systems/consistency.py",
        "agattn/systems/critical_tasks.py::_check",
        "agattn/systems/layer_tasks.py::_check",
        "agattn/systems/model_tasks.py::_check",
        "agattn/systems/network_tasks.py::_check",
        "agattn/systems/ideal_tasks.py::_check",
    ],
    "completeness": [
        "agattn/engines/elimination.py",
        *(f"agattn/geometry/closedness/question.py::{name}" for name in _CLOSED),
    ],
}
#: Tests of a file that stand in other rooms and do not name it.
ELSEWHERE = {
    "agattn/checker.py": ["tests/verification", "tests/claims/test_heads_not_closed.py"],
    "agattn/evidence.py": [
        "tests/sheet",
        "tests/verification/test_verify.py",
        "tests/engines/test_declaration.py",
    ],
    "agattn/engines/transcript.py": ["tests/systems/test_consistency.py"],
    "agattn/engines/elimination.py": [
        "tests/systems/test_consistency.py",
        "tests/cli/test_layer_commands.py",
    ],
}
MANY = 4  #: files of tests; those of a file that more of them name are the tests of its room
LEFT_OUT = (".git", ".venv", "__pycache__", "_build", "_gallery", ".*_cache", ".hypothesis")


def room_tests(file):
    """The tests of the room of a file: the folder, or the file, of the same name."""
    path = Path(file).relative_to("agattn")
    for parent in (path.with_suffix(""), *path.parents):
        if parent == Path():
            break
        if (ROOT / "tests" / parent).is_dir():
            return [f"tests/{parent}"]
        name = f"tests/{parent.parent / f'test_{parent.name}.py'}".replace("/./", "/")
        if (ROOT / name).is_file() and parent == path.with_suffix("") and parent.parent == Path():
            return [name]
    return []


def naming_tests(file):
    """The files of tests that import a file."""
    module = file.removesuffix(".py").replace("/", ".")
    above, _, last = module.rpartition(".")
    named = re.compile(rf"{re.escape(module)}\b|from {re.escape(above)} import [^\n]*\b{last}\b")
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(p.relative_to(ROOT)) for p in paths if named.search(p.read_text(encoding="utf-8"))]


def tests_of(file, own):
    """What pytest collects for a file: its room first."""
    named = naming_tests(file)
    more = ELSEWHERE.get(file) or (named if len(named) <= MANY else [])
    found: list[str] = []
    for path in [file, *room_tests(file), *(more if not own else [])]:
        if not any(path == other or path.startswith(f"{other}/") for other in found):
            found.append(path)
    return found


class Copy:
    """A copy of the clone, in which one process at a time works."""

    def __init__(self, folder):
        self.folder = Path(folder) / "clone"
        shutil.copytree(ROOT, self.folder, ignore=shutil.ignore_patterns(*LEFT_OUT))

    def work(self, job, limit=None):
        """The documents that a worker prints, one by one."""
        path = self.folder / ".job.json"
        path.write_text(json.dumps(job), encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "CI": ""}
        environment["MUTATIONS_REACHED"] = str(self.folder / ".reached") if job["mode"] == "reach" else ""
        command = [sys.executable, "-m", "tests.mutations.worker", path.name]
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                if limit is not None:
                    out, _ = process.communicate(timeout=limit)
                yield from map(json.loads, process.stdout if limit is None else out.splitlines())
            except subprocess.TimeoutExpired:
                yield {"by": "time or memory"}
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, 9)

    def reached(self, files, collected):
        """For each test its seconds, whether it passes, and the lines it reaches; first those of imports."""
        sources = {file: (self.folder / file).read_bytes() for file in files}
        for file, source in sources.items():
            write(self.folder / file, with_probes(file, source).encode())
        found = list(self.work({"mode": "reach", "collected": collected}))
        for file, source in sources.items():
            write(self.folder / file, source)
        return found

    def seen(self, todo, collected):
        """For each change, with its tests and limit, what sees it."""
        forked = [(n, task) for n, task in todo.items() if not task["fresh"]]
        again = [n for n, task in todo.items() if task["fresh"]]
        if forked:
            for found in self.work({"mode": "swap", "collected": collected, "changes": forked}):
                if found["by"] == AGAIN:
                    again.append(found["number"])
                else:
                    yield found["number"], found["by"]
        for number in again:
            yield number, self.seen_by_import(todo[number])

    def seen_by_import(self, task):
        """What sees a change of what an import does: a process of its own."""
        change = task["change"]
        path = self.folder / change["file"]
        source = path.read_bytes()
        write(path, source[: change["start"]] + change["new"].encode() + source[change["end"] :])
        try:
            files = list(dict.fromkeys(name.partition("::")[0] for name in task["tests"]))
            job = {"mode": "fresh", "collected": [*files, "--all"], "tests": task["tests"]}
            return next((found["by"] for found in self.work(job, 5 * task["limit"] + 60)), "the import")
        finally:
            write(path, source)


def task_of(change, tests, room, budget):
    """The tests that reach a change, those of the room first, and how long they may take."""
    first, *tests = tests
    imported = change.statement in first["reached"].get(change.file, ())
    reach = [
        test for test in tests
        if test["passed"] and (change.file in test["reached"] if imported
                               else change.statement in test["reached"].get(change.file, ()))
    ]  # fmt: skip
    reach.sort(key=lambda test: (not is_own(test["test"], change.file, room), test["seconds"]))
    chosen, seconds = [], 0.0
    for test in reach:
        if chosen and seconds + test["seconds"] > budget:
            continue
        chosen.append(test["test"])
        seconds += test["seconds"]
    return {
        "change": asdict(change), "fresh": imported, "tests": chosen, "of": len(reach),
        "limit": 4 + 5 * seconds, "own": sum(is_own(test, change.file, room) for test in chosen),
    }  # fmt: skip


def is_own(test, file, room):
    """Whether a test is of the room of a file."""
    return test.startswith((file, *room))


def examine(files, chosen, given, say):
    """See which of the chosen changes of some files, which have the same tests, are seen."""
    room = room_tests(files[0])
    collected = list(dict.fromkeys([*files, *tests_of(files[0], given.own), *["--all"] * given.slow]))
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        tests = Copy(folder).reached(files, collected)
    say(f"{len(tests) - 1} tests, {sum(test['seconds'] for test in tests):.0f} s: {' '.join(files)}")
    for test in tests[1:]:
        if not test["passed"]:
            say(f"fails or is skipped without a change: {test['test']}")
    todo = {}
    for change in chosen:
        task = task_of(change, tests, room, given.budget)
        if task["tests"]:
            todo[len(todo)] = task
        else:
            yield record(change, "", NOWHERE, room)
    with ThreadPoolExecutor(given.jobs) as pool:
        numbers = sorted(todo)
        parts = [{n: todo[n] for n in numbers[job :: given.jobs]} for job in range(given.jobs)]
        found = SimpleQueue()

        def work(part):
            with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
                for number, by in Copy(folder).seen(part, collected) if part else ():
                    found.put((number, by))

        running = [pool.submit(work, part) for part in parts]
        while not all(job.done() for job in running) or not found.empty():
            with contextlib.suppress(Empty):
                number, by = found.get(timeout=0.5)
                task = todo[number]
                why = (
                    ""
                    if by
                    else f"not seen by {len(task['tests'])} of {task['of']} tests that reach this line"
                )
                yield record(Change(**task["change"]), by, why, room)
        for job in running:
            job.result()


def record(change, by, why, room):
    """A line of what was found."""
    found = {"file": change.file, "line": change.line, "place": change.place}
    found |= {"before": change.before, "after": change.after, "seen": bool(by), "by": by or why}
    return found | {"own": bool(by) and (is_own(by, change.file, room) or "::" not in by)}


def explained():
    """The changes that nothing can see, with the reasons."""
    table = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))
    return {
        (file, place, before, after): entry["why"]
        for entry in table.get("reason", [])
        for file, place, before, after in entry["changes"]
    }


def is_in(key, parts):
    """Whether a change is in one of some files and parts of files."""
    split = (part.partition("::") for part in parts)
    return any(key[0] == file and key[1].startswith(name) for file, _, name in split)


def key_of(found):
    """What a line of the results is about."""
    return found["file"], found["place"], found["before"], found["after"]


def line_of(found, reasons):
    """One change, for people."""
    word = "seen" if found["seen"] else "explained" if key_of(found) in reasons else "NOT SEEN"
    why = reasons.get(key_of(found), found["by"])
    return f"{word:9}  {found['file']}:{found['line']}  {found['before']}  →  {found['after']}  ({why})"


def summary(results, reasons):
    """The figures as Markdown."""
    counts = defaultdict(Counter)
    for found in results:
        groups = (group for group, parts in TRUSTED.items() if is_in(key_of(found), parts))
        row = counts[next(groups, "the rest")]
        row["made"] += 1
        row["seen"] += found["seen"]
        row["own"] += found["own"]
        if not found["seen"]:
            row["explained" if key_of(found) in reasons else "open"] += 1
    columns = {name: name for name in ("made", "seen", "own", "explained", "open")}
    columns["own"] = "by the tests of the room"
    lines = [f"| changes of | {' | '.join(columns.values())} |", f"| --- |{' ---: |' * len(columns)}"]
    lines += [f"| {name} | {' | '.join(str(row[c]) for c in columns)} |" for name, row in counts.items()]
    return "\n".join(lines)


def arguments():
    """What was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", metavar="FILE", help="files, or FILE::NAME")
    parser.add_argument("--rest", action="store_true", help="all but what is trusted")
    parser.add_argument("--sample", type=int, metavar="N", help="so many of the changes, at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample [default: 0]")
    parser.add_argument("--own", action="store_true", help="tests of the room of a file alone")
    parser.add_argument("--slow", action="store_true", help="tests that are marked slow, too")
    parser.add_argument(
        "--budget", type=float, default=30, help="seconds of tests for a change [default: 30]"
    )
    parser.add_argument("--jobs", type=int, default=1, help="so many copies at the same time [default: 1]")
    parser.add_argument(
        "--out", type=Path, default=Path("mutations.jsonl"), help="[default: mutations.jsonl]"
    )
    parser.add_argument("--resume", action="store_true", help="keep what --out has, and do the others")
    parser.add_argument("--again", action="store_true", help="try again what --out says was not seen")
    return parser.parse_args()


def asked(given):
    """The changes that are asked for, by file."""
    trusted = [part for parts in TRUSTED.values() for part in parts]
    parts = given.only or trusted
    if given.rest:
        parts = sorted({str(p.relative_to(ROOT)) for p in (ROOT / "agattn").rglob("*.py")} - set(trusted))
    files = dict.fromkeys(part.partition("::")[0] for part in parts)
    sources = {file: (ROOT / file).read_bytes() for file in files}
    found = {change.key: change for file, source in sources.items() for change in changes(file, source)}
    order = list(found.values())
    if given.sample is not None:
        random.Random(given.seed).shuffle(order)
    asked_for = (c for c in order if is_in(c.key, parts) and not (given.rest and is_in(c.key, trusted)))
    return list(islice((c for c in asked_for if readable(c, sources[c.file])), given.sample))


def main():
    """Make the changes, print what sees them, and the figures."""
    given = arguments()
    reasons, results = explained(), {}
    wanted = {change.key: change for change in asked(given)}
    if given.resume or given.again:
        for line in given.out.read_text(encoding="utf-8").splitlines() if given.out.exists() else ():
            results[key_of(json.loads(line))] = json.loads(line)
    if given.again:
        wanted = {key: change for key, change in wanted.items() if key in results}
    kept = {key for key, found in results.items() if found["seen"] or not given.again}
    groups = defaultdict(list)
    for key, change in wanted.items():
        if key not in kept:
            groups[tuple(tests_of(change.file, given.own)[1:])].append(change)

    def say(line):
        print(line, file=sys.stderr, flush=True)

    mode = "a" if given.resume or given.again else "w"
    with given.out.open(mode, encoding="utf-8") as out:
        for chosen in groups.values():
            files = list(dict.fromkeys(change.file for change in chosen))
            for found in examine(files, chosen, given, say):
                results[key_of(found)] = found
                out.write(json.dumps(found, ensure_ascii=False) + "\n")
                out.flush()
                print(line_of(found, reasons), flush=True)
    done = [found for key, found in results.items() if key in wanted]
    print(summary(done, reasons))
    return int(any(not found["seen"] and key_of(found) not in reasons for found in done))


if __name__ == "__main__":
    sys.exit(main())
