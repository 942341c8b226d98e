"""What the table "Adding things" of docs/extend/architecture.md promises: these files, and no others.

A result with its command, and a kind of layer, are added to a copy of the package as the pages say.
"""

import doctest
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.house import ROOT

PACKAGE = ROOT / "agattn"
DOCS = ROOT / "docs"
HEADING = "## Adding things"
THINGS = ["a command", "a verb", "a result", "a claim", "a task", "a kind of layer", "an engine"]


def table():
    """The link, the files of the package and the other files of each thing that can be added."""
    text = (DOCS / "extend" / "architecture.md").read_text(encoding="utf-8")
    text = text.partition(HEADING)[2].partition("\n## ")[0]
    rows = re.findall(r"^\| \[(.*?)\]\((.*?)\) \| (.*) \| (.*) \|$", text, re.MULTILINE)
    return {thing: (link, inside, beside) for thing, link, inside, beside in rows}


def paths(cell):
    """The files and folders that a cell names, from the root of the clone.

    A name is that of a file of the package, of the folder of the name before, or of the clone; a path
    with ``NAME`` or ``ENGINE`` in it stands for the folder before that.
    """
    found, folder = [], PACKAGE
    for name in re.findall(r"`([^`]+)`", cell):
        name = re.sub(r"(NAME|ENGINE).*", "", name)
        places = [place for place in (PACKAGE / name, folder / name, ROOT / name) if place.exists()]
        assert places, f"docs/extend/architecture.md promises {name}, and there is no such file"
        folder = places[0].parent
        found.append(str(places[0].relative_to(ROOT)))
    return found


@pytest.mark.parametrize("thing", THINGS)
def test_what_the_table_names_is_there(thing):
    link, inside, beside = table()[thing]
    page, _, anchor = link.partition("#")
    headings = re.findall(r"^##+ (.*)$", (DOCS / "extend" / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert not anchor or anchor in {heading.lower() for heading in headings}
    assert paths(inside) or thing == "a result"
    assert paths(inside + beside)


def test_the_table_has_every_thing():
    assert sorted(table()) == sorted(THINGS)


class Copy:
    """A copy of the package, to which things are added."""

    def __init__(self, folder):
        self.folder = folder
        # With the compiled modules, which stay valid as the copies are as old as the files.
        shutil.copytree(PACKAGE, folder / "agattn")
        for name in ("setup.cfg", ".importlinter"):
            shutil.copy(ROOT / name, folder)
        (folder / "tests").mkdir()
        shutil.copy(ROOT / "tests" / "house.py", folder / "tests")

    def write(self, name, text):
        path = self.folder / name
        assert not path.exists()
        path.write_text(text, encoding="utf-8")

    def change(self, name, old, new):
        """Change one place of a file, the first."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{name} has no {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def python(self, *words, stdin=None, **environment):
        """How Python ends, given these words, with the copy in place of the package."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "COLUMNS": "100", **environment}
        return subprocess.run(
            [sys.executable, *map(str, words)], cwd=self.folder, env=environment, input=stdin, timeout=300,
            capture_output=True, text=True,
        )  # fmt: skip

    def run(self, *words, **given):
        """What Python prints."""
        done = self.python(*words, **given)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def agattn(self, *words, **given):
        return self.run("-m", "agattn", *words, **given)

    def files(self):
        """The files of the package."""
        return {
            str(path.relative_to(self.folder))
            for path in (self.folder / "agattn").rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }

    def touched(self):
        """The files of the package that differ from those of the clone, or are new."""
        there = {name for name in self.files() if (ROOT / name).exists()}
        same = {name for name in there if (self.folder / name).read_bytes() == (ROOT / name).read_bytes()}
        return self.files() - same


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path / "clone")


def check_touched(found, promised):
    """What was touched is what is promised: each file, files in each folder, and nothing besides."""
    files = {name for name in promised if not (ROOT / name).is_dir()}
    folders = {f"{name}/" for name in promised} - {f"{name}/" for name in files}
    assert files <= found
    assert all(any(name.startswith(folder) for folder in folders) for name in found - files), found - files
    assert all(any(name.startswith(folder) for name in found) for folder in folders)


def typed(page, *beginnings):
    """The code of a page that begins with one of these words, as a reader would type it into a file."""
    examples = doctest.DocTestParser().get_examples((DOCS / "extend" / page).read_text(encoding="utf-8"))
    return [example.source for example in examples if example.source.startswith(beginnings)]


FIND = '''

def find_zeros(coefficients: str) -> Zeros:
    """The integer zeros of a polynomial, from its coefficients, the constant one first."""
    numbers = [int(number) for number in coefficients.split(",")]
    most = 1 + max(map(abs, numbers))
    places = [x for x in range(-most, most + 1) if sum(c * x**n for n, c in enumerate(numbers)) == 0]
    return Zeros(tuple(places), 7)
'''


@pytest.mark.slow
def test_a_result_and_its_command(copy):
    room = "agattn/geometry/variety/zeros.py"
    code = typed("contributing.md", "from agattn.sheet", "class Zeros")
    copy.write(room, '"""Zeros of polynomials."""\n\n' + "".join(code) + FIND)
    place = "agattn.geometry.variety.zeros"
    verb = f'"find-zeros": VerbEntry("{place}:find_zeros", "Find the integer zeros.", ("{place}:Zeros",)),'
    copy.change(
        "agattn/names.py", '        "rank": VerbEntry(', f'        {verb}\n        "rank": VerbEntry('
    )
    row = '"find-zeros": Shell("agattn find-zeros 6,-5,1"),'
    copy.change("agattn/cli/commands.py", '    "rank": Shell(', f'    {row}\n    "rank": Shell(')
    rows = table()
    promised = {*paths(rows["a command"][1]), *paths(rows["a result"][1])}
    check_touched(copy.touched(), promised | {room})

    assert "  find-zeros " in copy.agattn("--help")
    found = copy.agattn("find-zeros", "6,-5,1", "--json")
    assert json.loads(found) == {"schema": "agattn/zeros/1", "zeros": [2, 3], "number": 2}
    assert "2 zeros" in copy.agattn("find-zeros", "6,-5,1")
    described = json.loads(copy.agattn("schema", "find-zeros"))["properties"]
    assert described["number"]["description"] == "How many there are."
    check = "import json, sys; from agattn.documents import check; check('find-zeros', json.load(sys.stdin))"
    copy.run("-c", check, stdin=found)
    assert " 0 circles, 0 arrows up" in copy.run("-m", "tests.house")


MODEL = """
[input]
dim = 4
tokens = 3
[[layer]]
type = "linear"
out = 3
[[layer]]
type = "cross-attention"
out = 2
rank = 2
context = 2
"""
USED = """
import json, sys
import agattn as ag
from agattn.documents import check
from agattn.architectures import CrossAttention
assert ag.CrossAttention is CrossAttention and "CrossAttention" in dir(ag)
found = json.load(sys.stdin)
check("dimension", found)
layer = {"type": "cross-attention", "out": 2, "rank": 2, "context": 2, "heads": 1}
assert found["architecture"]["layer"][1] == layer
print(found["dimension"])
"""
LAYERS, FACE = "agattn/architectures/layers.py", "agattn/__init__.py"
NAMES = "agattn/architectures/__init__.py"
#: The places where the page says that the name of a layer is added, at the @.
LISTED = {
    LAYERS: ["        Recurrence,@,\n        Skip,"],
    NAMES: ["  Convolution,@,\n", '"Convolution",@,\n    "DeepNetwork"'],
    FACE: ["  Convolution,@,\n", '"Convolution", @, "DeepNetwork", "Jet"', '"Convolution", @, "DeepNetwork"'],
}


def without_the_layer(copy):
    """Take cross-attention out of the copy, as if nobody had written it yet."""
    path = copy.folder / LAYERS
    text = path.read_text(encoding="utf-8")
    pattern = r"@constructed\n@dataclass\(frozen=True\)\nclass CrossAttention\(.*?\n\n\n(?=@constructed)"
    text, number = re.subn(pattern, "", text, flags=re.DOTALL)
    assert number == 1
    path.write_text(text, encoding="utf-8")
    for name in LISTED:
        path = copy.folder / name
        text = re.sub(r' *"?CrossAttention"?,(\n)?', "", path.read_text(encoding="utf-8"))
        assert "CrossAttention" not in text
        path.write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_kind_of_layer(copy):
    """The example of the page is typed into a package that does not have the layer."""
    (written,) = [text for text in typed("layer.md", "@dataclass") if "class CrossAttention(" in text]
    assert re.findall(r"^    def (\w+)", written, re.MULTILINE) == ["output_shape", "shapes", "evaluate"]
    assert len(written.splitlines()) <= 30
    without_the_layer(copy)
    copy.run("-c", "import agattn as ag; assert not hasattr(ag, 'CrossAttention')")
    before = {name: (copy.folder / name).read_bytes() for name in copy.files()}

    last = "#: Every kind of layer by its type."
    copy.change(LAYERS, last, f"{written}\n\n{last}")
    for name, places in LISTED.items():
        for place in places:
            word = '"CrossAttention"' if '"' in place else "CrossAttention"
            old = re.sub(" ?@,", "", place)
            copy.change(name, old, place.replace("@", word))
    changed = {name for name in copy.files() if (copy.folder / name).read_bytes() != before.get(name)}
    check_touched(changed, paths(table()["a kind of layer"][1]))

    (copy.folder / "model.toml").write_text(MODEL, encoding="utf-8")
    found = copy.agattn("dimension", "model.toml", "--json")
    assert copy.run("-c", USED, stdin=found) == "16\n"
    assert "cross-attention" in copy.agattn("schema", "dimension")
    assert " 0 circles, 0 arrows up" in copy.run("-m", "tests.house")
