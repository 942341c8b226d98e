"""The house as it stands: which file needs which, which room calls which, measured from the code itself.

python -m tests.house            circles and arrows back up; imports by importlib and for hints count
python -m tests.house --lines    lines of code by room, without docstrings, comments and empty lines
python -m tests.house --statements    statements of Python by room
python -m tests.house --words    words by page of the documentation, all and those of prose, the longest first
python -m tests.house --lines --against COMMIT    the same beside what a commit of git has; so the others
python -m tests.house --lower    lower the budget of every room to the lines that it has
"""

from __future__ import annotations

import ast
import configparser
import io
import json
import re
import runpy
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "agattn"
#: The most lines of code that each room may have. A budget rises in a commit alone that says why.
BUDGETS = ROOT / "tests" / "budgets.json"
CONTRACTS = ("importlinter:contract:floors", "importlinter:contract:geometry")


def module_of(path: Path) -> str:
    """The name of the module in a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@lru_cache
def files() -> dict[str, Path]:
    """The file of every module of the package."""
    return {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def room_of(module: str) -> str:
    """The room of a module: its folder, or the module itself where that stands beside the rooms."""
    names = module.split(".")
    depth = 3 if names[1:2] == ["geometry"] else 2
    return ".".join(names[:depth])


@lru_cache
def floors() -> dict[str, tuple[int, int]]:
    """The floor of every room, higher numbers above, and inside of geometry the order there."""
    config = configparser.ConfigParser()
    config.read(ROOT / ".importlinter")
    found = {}
    for place, contract in enumerate(CONTRACTS):
        layers = config[contract]["layers"].split("\n")
        prefix = f"{config[contract].get('containers', '').strip()}.".lstrip(".")
        for height, line in enumerate(reversed([line for line in layers if line.strip()])):
            for room in line.split("|"):
                name = prefix + room.strip()
                found[name] = (found["agattn.geometry"][0], height) if place else (height, 0)
    return found


def floor_of(module: str) -> tuple[int, int] | None:
    """The floor of a module; ``None`` for the face and for what only starts the program."""
    names = module.split(".")
    known = floors()
    return next((known[name] for n in (3, 2) if (name := ".".join(names[:n])) in known), None)


def imports(module: str) -> set[str]:
    """The modules of the package that a module needs.

    Imports inside of functions count, those through importlib, and those for type hints alone: a file whose
    hints name a class cannot be read without the file of that class.
    """
    known, found = files(), set()
    nodes = list(ast.walk(ast.parse(known[module].read_text(encoding="utf-8"))))
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name for name in inner if name in known} or {node.module}
            if any(name not in known for name in inner):
                found.add(node.module)
    if any(isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func) for node in nodes):
        # Text that is the name of a module, or begins as the names of all modules of a room, is an import.
        texts = [
            node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        for text in texts:
            if text.endswith(".") and text.startswith("agattn."):
                found |= {name for name in known if name.startswith(text)}
            else:
                found |= {text.split(":")[0]} & set(known)
    return {name for name in found if name in known and name not in (module, "agattn")}


@lru_cache
def graph() -> nx.DiGraph:
    """The files as nodes, and an arrow from each to the files that it needs.

    The face, ``agattn/__init__.py``, which imports by name what is asked for, is a node as the others are.
    """
    return nx.DiGraph([(module, other) for module in files() for other in imports(module)])


def circles() -> list[list[str]]:
    """The sets of files that need each other."""
    found = nx.strongly_connected_components(graph())
    return sorted(sorted(part) for part in found if len(part) > 1)


def arrows_up() -> list[tuple[str, str]]:
    """The imports from a lower floor to a higher one."""
    return sorted(
        (low, high) for low, high in graph().edges
        if (below := floor_of(low)) is not None and (above := floor_of(high)) is not None and above > below
    )  # fmt: skip


def sources() -> dict[str, str]:
    """The text of every module of the package."""
    return {module: path.read_text(encoding="utf-8") for module, path in files().items()}


def texts_of(commit: str, places: list[str], suffix: str, clone: Path = ROOT) -> dict[str, str]:
    """The text of every file below some places that has a suffix, in a commit of a clone, by its path.

    Raises:
        SystemExit: if git knows no such commit, or the commit has no such place; in the words of git.
    """
    command = ["git", "archive", commit, *places]
    done = subprocess.run(command, cwd=clone, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode().strip()
        raise SystemExit(f"git has no {' and '.join(places)} in {commit!r}: {said}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        return {
            member.name: archive.extractfile(member).read().decode()
            for member in archive
            if member.isfile() and member.name.endswith(suffix)
        }


def sources_of(commit: str, clone: Path = ROOT) -> dict[str, str]:
    """The text of every module that the package had in a commit of a clone.

    Raises:
        SystemExit: as :func:`texts_of`.
    """
    found = texts_of(commit, [PACKAGE.name], ".py", clone)
    return {module_of(ROOT / path): text for path, text in found.items()}


def words_of(text: str) -> int:
    """The words of prose on a page: outside of blocks of code and of formulas, and with a letter in them."""
    prose = re.sub(r"^(`{3,}).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"\$\$.*?\$\$|\$[^$\n]*\$", "", prose, flags=re.DOTALL)
    return sum(any(map(str.isalpha, word)) for word in prose.split())


def words_by_page(
    commit: str | None = None,
    clone: Path = ROOT,
    count: Callable[[str], int] = lambda text: len(text.split()),
) -> Counter[str]:
    """The words on every page, here or in a commit; a page that was moved has its new name."""
    if commit is not None:
        texts = texts_of(commit, ["README.md", "docs"], ".md", clone)
    else:
        pages = [clone / "README.md", *(clone / "docs").rglob("*.md")]
        texts = {path.relative_to(clone).as_posix(): path.read_text(encoding="utf-8") for path in pages}
    moved = runpy.run_path(str(ROOT / "docs" / "_extensions" / "redirects.py"))["MOVED"]
    found: Counter[str] = Counter()
    for path, text in texts.items():
        name = path.removeprefix("docs/").removesuffix(".md")
        if not name.startswith("_"):  # what is made from the pages
            found[moved.get(name, name)] += count(text)
    return found


def lines_of(source: str) -> int:
    """The lines of code in a text, without docstrings, comments and empty lines."""
    said = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            said |= set(range(node.lineno, node.end_lineno + 1))
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    silent |= {tokenize.ENCODING, tokenize.ENDMARKER}
    counted = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in silent:
            counted |= set(range(token.start[0], token.end[0] + 1))
    return len(counted - said)


def statements_of(source: str) -> int:
    """The statements in a text, which stay as many however lines are folded."""
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(source)))


def lines_by_room(commit: str | None = None, count: Callable[[str], int] = lines_of) -> Counter[str]:
    """The lines of code of every room, or what else is counted, here or in a commit."""
    counts: Counter[str] = Counter()
    for module, source in (sources() if commit is None else sources_of(commit)).items():
        counts[room_of(module)] += count(source)
    return counts


statements_by_room = partial(lines_by_room, count=statements_of)


def budgets() -> dict[str, int]:
    """The most lines of code of every room."""
    budgets: dict[str, int] = json.loads(BUDGETS.read_text(encoding="utf-8"))
    return budgets


def over_budget() -> dict[str, tuple[int, int]]:
    """The rooms with more lines than their budget, or with none: their lines and the budget."""
    most = budgets()
    return {
        room: (lines, most.get(room, 0))
        for room, lines in lines_by_room().items()
        if lines > most.get(room, 0)
    }


def lower() -> None:
    """Lower every budget to the lines that the room has, and drop those of rooms that are gone."""
    lines, most = lines_by_room(), budgets()
    lowered = {room: min(lines[room], most.get(room, lines[room])) for room in sorted(lines)}
    BUDGETS.write_text(json.dumps(lowered, indent=2) + "\n", encoding="utf-8")


def book(words: Counter[str]) -> Counter[str]:
    """The pages of the book: all but the README, the paper for a journal, and the reference."""
    others = {"README", "paper", "reference"}
    return Counter({page: n for page, n in words.items() if page.split("/")[0] not in others})


def tell_counts(words: list[str]) -> None:
    """Print lines or statements by room, or words by page, beside those of the commit after ``--against``."""
    what = "page" if "--words" in words else "room"
    count = statements_by_room if "--statements" in words else lines_by_room
    count = words_by_page if what == "page" else count
    columns = {"now": count()}
    if "--against" in words:
        commit = "".join(words[words.index("--against") + 1 :][:1])
        columns = {commit[:8]: count(commit), **columns}
    changes = len(columns) > 1
    names = sorted(set().union(*columns.values()))
    if what == "page":
        names.sort(key=lambda name: -columns["now"][name])
        columns["prose"] = words_by_page(count=words_of)
    rows = [(name, [column[name] for column in columns.values()]) for name in names]
    rows.append(("all", [column.total() for column in columns.values()]))
    if what == "page":
        rows.append(("the book, without reference", [book(column).total() for column in columns.values()]))
    titles = [*columns]
    if changes:
        most = {**budgets(), "all": sum(budgets().values())} if count is lines_by_room else {}
        titles += ["change", "budget" if most else ""]
        rows = [(name, [*row, f"{row[1] - row[0]:+}", most.get(name, "")]) for name, row in rows]
    for name, numbers in [(what, titles), *rows]:
        print("".join(f"{number:>8} " for number in numbers) + f" {name}")


def main(words: list[str]) -> int:
    """Print what was asked for; the status is 1 where there is a circle or an arrow up."""
    if {"--lines", "--statements", "--words"} & set(words):
        tell_counts(words)
        return 0
    if "--lower" in words:
        lower()
        return 0
    round_about, up, edges = circles(), arrows_up(), graph().number_of_edges()
    print(f"{len(files())} files, {edges} imports, {len(round_about)} circles, {len(up)} arrows up")
    for part in round_about:
        print(f"circle of {len(part)}: {', '.join(part[:8])}{', ...' if len(part) > 8 else ''}")
    for low, high in up:
        print(f"up: {low} → {high}")
    return int(bool(round_about or up))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
