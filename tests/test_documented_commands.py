"""The documentation tells the truth: every command line in it works, and prints what is shown."""

import importlib
import json
import re
import shlex
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from click import Context
from command_line import ROOT, Ended, call
from installed import require
from safetensors.numpy import save_file

from agattn.claims import titled
from agattn.cli.main import cli
from agattn.engines.catalogue import ENGINES
from agattn.experiments.studies.grid import example, grid_text, read_grid

DOCS = ROOT / "docs"
MADE = {"_build", "_gallery"}
OLD = DOCS / "reference" / "changelog.md"  # has lines of former versions; tests/test_contract.py tries these
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md"]
PAGES += sorted(page for page in DOCS.rglob("*.md") if page != OLD and not MADE & set(page.parts))
BLOCK = re.compile(r"^```(?:console|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(agattn [^`]+)`")
PLACEHOLDER = re.compile(r"\b(COMMAND|TASK|NAME|FILE|DIR|GRID|ADDRESS|BEFORE|AFTER)\b")
# The engines that these ask if the line names none; verify can do without, and emit starts none.
NEEDS_ENGINES = {"run": ["macaulay2"], "doctor": list(ENGINES), "critical-points": ["singular"]}
NEEDS_NO_ENGINE = {"verify", "emit"}
NEEDS_A_FILE = {
    "check", "schema", "rank", "fiber", "classify", "equivalent", "identify", "figure", "study", "train",
    "read", "canonical", "convert",
}  # fmt: skip
NEEDS_A_LAYER = {
    "emit", "run", "strata", "verify", "ideal", "report", "dimension", "identifiability", "rlct",
    "singularities", "symmetries", "critical-points", "certificate", "spectrum",
}  # fmt: skip
# Minutes. The tests of the grids that ship do jobs of them again, and compare with the pages.
SHIPPED = [
    ["study", "audit"],
    ["study", "audit", "-O", "audit"],
    ["study", "audit", "-O", "DIR"],
    ["study", "atlas"],
    ["study", "zoo", "--force"],
    ["study", "zoo", "--force", "-O", "zoo"],
    ["study", "published"],
]
# tests/experiments/test_training.py trains as the example does.
TRAIN = [
    ["train", "examples/train.toml", "-O", "report"],
    ["train", "examples/train.toml", "-O", "training"],
    ["train", "train.toml", "--workers", "2", "-O", "runs.jsonl", "-O", "report"],
]
# A test beside that of the zoo computes the first degrees again.
EQUATIONS = ["study", "examples/equations.toml", "-O", "equations.jsonl"]
# tests/experiments/studies does every twelfth job of these.
SOFTMAX = [
    ["study", "examples/softmax-heads.toml", "-O", "heads.jsonl"],
    ["study", "examples/softmax-networks.toml", "-O", "networks.jsonl"],
]
RUN_ELSEWHERE = [*SHIPPED, EQUATIONS, *SOFTMAX, *TRAIN]
# These take longest; a shorter one of each command runs without --all.
LONG = {
    "figure 1 --slice examples/slice.json -O slice.png",
    "figure 1 -O umbrella.pdf",
    "spectrum --dims 4,4,4,4 --ranks 2,2,2 -t 4 --normalization softmax -O bands.png",
    "ideal 3 1 3 -t 1 --max-degree 8 --invariants",
    "ideal 3 2 2 --max-degree 5 --invariants",
    "report 3 2 2 -O report",
    "run strata-tangents 3 2 2",
    "singularities --dims 3,3,2 --ranks 3,3 -t 3",
    "study grid.toml -O results.jsonl",
    "verify 6 6 4 --engine native",
}
# A refuted claim, or an ideal that is another one, is a result; everything else that is not 0 is a failure.
MAY_REFUTE = {"verify", "certificate", "report", "study", "read"}
#: The pages that show what a terminal of 80 columns shows; others have tables and lines in full.
NARROW = ["reference/screens.md"]


@lru_cache
def gallery():
    """The extension that makes the pictures of the gallery."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(DOCS / "_extensions")
        return importlib.import_module("gallery")


def agattn_in(line):
    """The arguments of each call of agattn in a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    calls = [[]]
    for word in lexer:
        if set(word) <= set("|&;"):
            calls.append([])
        else:
            calls[-1].append(word)
    calls = [call[: call.index(">")] if ">" in call else call for call in calls]
    return [call[1:] for call in calls if call and Path(call[0]).name == "agattn"]


def is_complete(words):
    """Whether a command line is one: in running text a command may be named without a layer."""
    if words[0] in NEEDS_A_FILE:
        return len(words) > 1
    first = "".join(words[2:3] if words[0] in ("emit", "run") else words[1:2])
    is_named = re.fullmatch(r"[\d,]+|.*\.(toml|json)|.*\.py:\w+", first)
    return {"-d", "--dims", "--list"} & {*words} or is_named or words[0] not in NEEDS_A_LAYER


def shown():
    """Every command line, with the output shown below it; ``None`` where it is only mentioned.

    Those of the gallery are run when the site is built, which tests/docs does.
    """
    elsewhere = RUN_ELSEWHERE + [line.removeprefix("agattn ").split() for line in gallery().COMMANDS]
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found = []
        for block in BLOCK.findall(text):
            for entry in re.split(r"^\$ ", block, flags=re.MULTILINE):
                line, _, output = entry.partition("\n")
                found += [(words, None if words in elsewhere else output) for words in agattn_in(line)]
        for line in INLINE.findall(text):
            found += [
                (words, "" if is_complete(words) and words not in elsewhere else None)
                for words in agattn_in(line)
            ]
        for words, output in found:
            if not PLACEHOLDER.search(" ".join(words)):
                name = page.relative_to(DOCS if DOCS in page.parents else ROOT)
                line = " ".join(words)
                slow = [pytest.mark.slow] * (line in LONG)
                columns = 80 if str(name) in NARROW else 1000
                yield pytest.param(words, output, columns, id=f"{name}: agattn {line}", marks=slow)


COMMAND_LINES = list(shown())


def lines_of(text):
    """The lines of a text without rules, times, and what depends on the width of the terminal."""
    lines = (re.sub(r", \d+\.\d+ s$", "", " ".join(line.split())) for line in text.splitlines())
    return [line for line in lines if not re.fullmatch("─*", line)]


@lru_cache
def results_of_example():
    """The lines that the study of the example grid prints."""
    with tempfile.TemporaryDirectory() as folder:
        grid = Path(folder, "grid.toml")
        grid.write_text(example(), encoding="utf-8")
        ended = call("study", grid, "--no-cache", "--workers", "1", "--json")
    assert ended.out, ended
    return ended.out


def compare(printed, told):
    """What is shown was printed, and nothing is left out except where three dots stand.

    The last line says who computed and how long it took; a page may leave it out.
    """
    told = [line.partition(", asked: ")[0] for line in told if not line.startswith("Computed by ")]
    if "..." in told:
        extracts = re.split(r"^\.\.\.$", "\n".join(told), flags=re.MULTILINE)
        for extract in filter(None, map(str.strip, extracts)):
            assert f"\n{extract}\n" in "\n".join(["", *printed, ""]), extract
        return
    assert [line for line in told if line not in printed] == []
    left_out = [line for line in printed if line not in told]
    assert [line for line in left_out if not line.startswith("Computed by ")] == []


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with the files that command lines on the pages read, as a reader might have them."""
    folder = tmp_path_factory.mktemp("inputs")
    np.save(folder / "matrix.npy", np.eye(3))
    np.save(folder / "tensor.npy", np.array([5, 22, 21, 10, 34, 28]))
    draw = np.random.default_rng(0).standard_normal
    weights = {"K": draw((2, 3)), "Q": draw((2, 3)), "V": draw((2, 3))}
    np.savez(folder / "weights.npz", **weights)
    save_file(weights, folder / "model.safetensors")
    renamed = [f"net.{layer}.{name}" for layer in range(2) for name in ("key", "query", "value")]
    draw = np.random.default_rng(1).standard_normal
    save_file({name: draw((4, 6)) for name in renamed}, folder / "renamed.safetensors")
    (folder / "weights.json").write_text('{"A": [[1, 2], ["1/3", 0]], "V": [[0, 1]]}', encoding="utf-8")
    (folder / "others.json").write_text('{"A": [[2, 4], ["2/3", 0]], "V": [[0, "1/2"]]}', encoding="utf-8")
    shutil.copy(DOCS / "certificates" / "m322.json", folder)
    shutil.copy(DOCS / "certificates" / "m322.json", folder / "certificate.json")
    for name in ("n332", "delta"):
        shutil.copy(DOCS / "certificates" / f"{name}.json", folder)
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
    (folder / "ideal.m2").write_text("print 1\n", encoding="utf-8")
    (folder / "grid.toml").write_text(example(), encoding="utf-8")
    shutil.copy(ROOT / "examples" / "train.toml", folder)
    (folder / "results.jsonl").write_text(results_of_example(), encoding="utf-8")
    [model] = re.findall(
        r"^```python\n(# mine\.py\n.*?)^```", (DOCS / "guides" / "models.md").read_text("utf-8"), re.M | re.S
    )
    (folder / "mine.py").write_text(model, encoding="utf-8")
    [printed] = re.findall(
        r"^```text\n(agattn emit .*?)^```", (DOCS / "guides" / "script.md").read_text("utf-8"), re.M | re.S
    )
    [gpt2] = [job for job in read_grid(grid_text(Path("published"))).jobs if job.architecture.name == "gpt2"]
    (folder / "gpt2.json").write_text(json.dumps(gpt2.architecture.config), encoding="utf-8")
    (folder / "minors.out").write_text(printed, encoding="utf-8")
    gallery().write_inputs(folder)
    return folder


def names_below(folder):
    """The names of the files in a folder and in all folders below it."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)) for path in paths}


def require_engines(words):
    """Skip the test of a command line without the engines that it asks."""
    if words[0] in NEEDS_NO_ENGINE:
        return
    default = ["singular"] if "--complete" in words else NEEDS_ENGINES.get(words[0], [])
    for name in [name for name in ENGINES if name in words] or default:
        require(name)


#: How a command line ended: what stands on several pages is run once.
ENDED: dict[tuple[str, ...], Ended] = {}


@pytest.mark.parametrize(("words", "output", "columns"), COMMAND_LINES)
def test_it_works_as_shown(words, output, columns, inputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(columns))
    name, typed = words[0], " ".join(words)
    if output is None:
        if len(words) == 1 and name in NEEDS_A_FILE | {"emit", "run"}:
            return  # named, not called
        missing = ["--dims", "2,2", "--ranks", "1"] if name == "dimension" else ["2", "1"]
        missing += ["-O", "report"] if name == "report" else []
        layer = [] if is_complete(words) else missing
        group = Context(cli, **cli.context_settings)
        cli.get_command(group, name).make_context(name, [*words[1:], *layer], parent=group)  # it parses
        return
    require_engines(words)
    if name == "verify":
        words = [w for w, before in zip(words, ["", *words], strict=False) if "--engine" not in (w, before)]
        words += ["--engine", "native"]
    key = *words, str(columns)
    if key not in ENDED:
        shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
        monkeypatch.setenv("AGATTN_CACHE", str(tmp_path / "cache"))
        before = names_below(tmp_path)
        ENDED[key] = call(*words)
        written = names_below(tmp_path) - before
        assert [name for name in written if not name.startswith(("cache/", *words))] == []
    status, out, err = ENDED[key]
    out = out.replace(
        f"agattn {' '.join(words)}", f"agattn {typed}"
    )  # what to type next names no other engine
    assert status in ((0, 1) if name in MAY_REFUTE else (0,)), err
    if output:
        if name == "doctor":  # versions and paths differ
            out, output = (re.sub(r"\d[\d.]*|\(.*\)", "*", text) for text in (out, output))
        compare(lines_of(out), lines_of(output))


def test_the_pages_on_claims_have_every_claim():
    pages = (DOCS / "layer" / "claims.md", DOCS / "networks" / "networks-claims.md")
    rows = "\n".join(
        re.findall(r"^\| (`[^|]*) \|", "\n".join(p.read_text(encoding="utf-8") for p in pages), re.M)
    )
    assert {name for _, claims in titled() for name in claims} == set(re.findall(r"`([^`]+)`", rows))
