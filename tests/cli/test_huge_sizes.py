"""Sizes that nothing can compute: refused or answered within 1 GB and 5 seconds of processor time."""

import json
import os
import subprocess
import sys

import pytest
from command_line import ROOT, call

import agattn as ag

resource = pytest.importorskip("resource")

CPU = 5  # seconds for each line, on average; the imports are shared
MEMORY = 2**30
SIZES = (10**9, 10**6, 10**4)

#: What is tried with each size at n, after the exit status that it must have; k*l are l layers of width k.
LINES = """
0 dimension -d n -o n
0 dimension -d n -o n -t 1
0 dimension --dims n,n --ranks n
0 dimension --dims n,n,n --ranks n,1 -t n
0 dimension --dims n,n --ranks n --heads 2
0 dimension --dims n,n,n --ranks n,n --normalization softmax
0 dimension --dims 2,2 --ranks 2 --heads n
0 dimension --dims 2,2 --ranks 2 -t n
0 dimension --dims 2,2 --ranks 2 --heads 2 -t n
0 dimension --dims 2,2 --ranks 2 -t n --normalization softmax
0 dimension --dims 2,2,2 --ranks 2,2 -t n --normalization softmax
2 dimension --dims 2,2 --ranks 1 -t 2 --normalization softmax --jet n
2 verify -d n -o n
2 verify -d 1 -o n
2 verify --dims n,n,n --ranks n,n
2 verify --dims 2,2 --ranks 2 -t n
2 verify --dims 2,2 --ranks 2 --heads n
2 certificate -d n -o n
2 certificate -d 1 -o n -a n
2 certificate --dims n,n,n --ranks n,n -t 3
2 certificate --dims n,n --ranks n --heads 2
2 strata -d n -o n
2 strata -d n -o 1 -a 1
2 strata -d 1 -o n
2 ideal -d 3 -o 1 --max-degree n
2 ideal -d n -o n --max-degree n
2 ideal -d 1 -o 1 --max-degree n
2 ideal -d 1 -o 1 -t 1 --max-degree n
2 ideal -d n -o n --max-degree 8
2 ideal -d n -o n -t 1
2 ideal -d 2 -o 1 --workers n
0 ideal -d n -o n --max-degree 3
2 emit implicit-ideal -d n -o n
2 emit hilbert-function -d 2 -o 1 --max-degree n
2 emit strata-tangents -d n -o n
2 emit critical-locus -d n -o 1
2 emit fiber -d n -o n
2 emit slice -d n -o n
2 emit virtual-fiber --dims n,n,n --ranks n,n
2 emit virtual-fiber --dims 2,2 --ranks 2 -t n
2 emit deep-limit --dims 2,2,2 --ranks 2,2 -t n
2 run implicit-ideal -d n -o n
2 run hilbert-function -d 2 -o 1 --max-degree n
2 report -d n -o n -O FOLDER
2 report --dims n,n --ranks n -O FOLDER
2 spectrum --dims 2,2 --ranks 1 --digits n
2 rlct -d n -o n
2 rlct -d n -o 1 --softmax
0 rlct -d n -o n -a 64
2 singularities -d n -o n
2 singularities --dims n,n,n --ranks n,n
2 singularities --dims 2,2 --ranks 2 --heads n
2 singularities --dims 2,2 --ranks 2 -t n
2 critical-points -d n -o n
0 critical-points -d 1 -o n
2 critical-points -d n -o 1 -a 1
2 symmetries -d n -o n
2 symmetries -d 1 -o 1 -a 1 -t n
2 symmetries --dims n,n,n --ranks n,n
2 symmetries --dims 2,2 --ranks 2 --heads n
2 identifiability -d n -o n
2 identifiability -d 1 -o 1 -a 1 -t n
2 identifiability --dims n,n,n --ranks n,n
2 identifiability --dims 2,2 --ranks 2 --heads n
2 figure 1 -d n
2 figure 1 -o n
2 figure 2 --layers n
2 figure 1 --radius n
2 study FOLDER/../n.toml --dry-run
0 dimension --dims 1*20 --ranks 1*20
0 dimension --dims 1*1000 --ranks 1*1000
0 dimension --dims 1*20000 --ranks 1*20000
0 dimension --dims 2*20000 --ranks 2*20000
2 dimension --dims 2*20000 --ranks 2*20000 --heads 2
0 verify --dims 2*20 --ranks 2*20 -t 3 --engine native --claim lemma-3.5
3 verify --dims 2*1000 --ranks 2*1000 -t 3 --engine native --claim lemma-3.6 --claim equation-12
2 emit virtual-fiber --dims 2*20 --ranks 2*20 -t 3
2 emit virtual-fiber --dims 2*1000 --ranks 2*1000 -t 3
2 singularities --dims 1*20 --ranks 1*20
2 singularities --dims 1*20000 --ranks 1*20000
2 symmetries --dims 1*20 --ranks 1*20
2 symmetries --dims 1*20000 --ranks 1*20000
2 report --dims 2*20000 --ranks 2*20000 -O FOLDER
"""


def command_of(line):
    """What is done in one fork: all lines of a command, or all about networks of many layers."""
    return "layers" if "*" in line else line.split()[1]


TRIED = {}
for tried_line in LINES.strip().splitlines():
    TRIED.setdefault(command_of(tried_line), []).append(tried_line)

#: Runs each command in a fork of one process, which has read the modules. Each line tried prints a line.
CODE = """
import json, os, resource, sys
from command_line import call
for n, (seconds, lines) in enumerate(json.loads(sys.stdin.read())):
    if pid := os.fork():
        os.waitpid(pid, 0)
        continue
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    for words in lines:
        ended = call(*words)
        print(json.dumps([n, ended.status, ended.out[:500], ended.err]), flush=True)
    os._exit(0)
"""


def words(line, n, folder):
    """The arguments of a line; k*l stands for what a network with l layers of width k has there."""
    found = line.replace("FILE", str(folder / "file")).replace("FOLDER", str(folder / "out")).split()
    for k, word in enumerate(found):
        if "*" in word:
            width, layers = word.split("*")
            found[k] = ",".join([width] * (int(layers) + (found[k - 1] == "--dims")))
        elif word.endswith("/n.toml"):
            found[k] = word.replace("n.toml", f"{n}.toml")
        elif "/" not in word:
            found[k] = ",".join(str(n) if part == "n" else part for part in word.split(","))
    return found


def in_forks(asked, folder):
    """How the commands of each fork ended, as far as it came with its seconds and the memory."""
    process = subprocess.run(
        [sys.executable, "-c", CODE],
        input=json.dumps(asked),
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}", "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        stdout=subprocess.PIPE, text=True, cwd=folder, timeout=280,
    )  # fmt: skip
    ended = [[] for _ in asked]
    for line in process.stdout.splitlines():
        n, *told = json.loads(line)
        ended[n].append(told)
    return ended


def model(size, *layers):
    """The text of a model file, without what it has in common with all others."""
    return f"[input]\n{size}\n" + "".join(f"[[layer]]\ntype = {layer}\n" for layer in layers)


LINEAR, HEAD = "'linear'\nout = 2", "'attention'\nmask = 'causal'\nrank = 1\nout = 2"
#: Models of few letters that are too large for one command or another.
MODELS = {
    "perceptron-9": model("dim = 1", "'perceptron'\nwidths = [1, 1]\ndegree = 1000000000"),
    "perceptron-6": model("dim = 1", "'perceptron'\nwidths = [1, 1]\ndegree = 1000000"),
    "power-5": model("dim = 2", LINEAR, "'power'\ndegree = 100000"),
    "powers": model("dim = 2", LINEAR, *["'power'\ndegree = 10000"] * 3),
    "convolutions": model("dim = 9", *["'convolution'\nfilter = 2\ndegree = 1000000000"] * 3),
    "deep": model("dim = 1", *["'linear'\nout = 1"] * 20_000),
    "widths": model("dim = 1", f"'perceptron'\ndegree = 2\nwidths = {[1] * 20_000}"),
    "wide": model("dim = 1000000", "'linear'\nout = 1000000"),
    "tokens": model("dim = 1\nt = 1000000", HEAD),
    "heads": model("dim = 2\nt = 2", f"{HEAD}\nheads = 1000000000"),
    "narrow": model("dim = 1", *["'linear'\nout = 1"] * 40),
    "causal": model("dim = 2\nt = 3", *[HEAD] * 12),
}
OF_MODELS = [
    "dimension", "identifiability", "symmetries", "ideal", "singularities", "verify", "emit fiber",
    "run fiber", "report -O FOLDER",
]  # fmt: skip


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["perceptron-9", "power-5", "deep"], id="named"),
        pytest.param(list(MODELS), marks=pytest.mark.slow, id="all"),
    ],
)
def test_models_of_few_letters_are_refused_or_answered_at_once(tmp_path, names):
    asked = []
    for name in names:
        (tmp_path / f"{name}.toml").write_text(MODELS[name])
        of_model = OF_MODELS if name != "narrow" else ["ideal"]
        lines = [[*words(line, 0, tmp_path), str(tmp_path / f"{name}.toml")] for line in of_model]
        asked.append((10 + CPU * len(lines), lines))
    for (_, lines), ended in zip(asked, in_forks(asked, tmp_path), strict=True):
        assert len(ended) == len(lines), lines[len(ended)]
        for line, (status, out, err) in zip(lines, ended, strict=True):
            assert status in (0, 2) or (status, line[0]) == (3, "verify"), (line, out, err)
            assert "memory ran" not in err and "Traceback" not in err, (line, err)
            assert status != 2 or (out == "" and err.count("\n") == 1), (line, out, err)
            assert "limit is" not in err or "--force" in err, (line, err)


def test_what_is_refused_is_forced(tmp_path):
    (tmp_path / "deep.toml").write_text(model("dim = 1", *["'linear'\nout = 1"] * 301))
    asked = "emit", "fiber", tmp_path / "deep.toml"
    assert "has 301 steps, one after the other; the limit is 300. Use --force" in call(*asked).err
    assert call(*asked, "--force").status == 0
    assert ag.emit(ag.Network([ag.Linear(1)] * 301, dim=1), "fiber", force=True)


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param(["layers"], marks=pytest.mark.slow, id="layers"),
        pytest.param(["dimension"], id="dimension"),
        pytest.param(sorted({*TRIED} - {"layers", "dimension"}), id="others"),
    ],
)
def test_huge_sizes_are_refused_or_answered_at_once(tmp_path, commands):
    """All lines of a command in one fork, which is killed when its processor time is used up."""
    tried = {}
    for command in commands:
        tried[command] = []
        for n in SIZES[:1] if command == "layers" else SIZES:
            (tmp_path / f"{n}.toml").write_text(
                f'[[networks]]\ndims = [[2, 2]]\nranks = [[2]]\nheads = "1..{n + 1}"\n'
            )
            tried[command] += [words(line, n, tmp_path) for line in TRIED[command]]
    asked = [(10 + CPU * len(lines), [rest for _, *rest in lines]) for lines in tried.values()]
    for lines, ended in zip(tried.values(), in_forks(asked, tmp_path), strict=True):
        assert len(ended) == len(lines), lines[len(ended)]
        for (status, *line), (found, out, err) in zip(lines, ended, strict=True):
            shown = " ".join(line)[:80]
            assert found == int(status), (shown, found, out, err)
            if found == 2:
                assert out == "" and err.startswith("agattn: ") and err.count("\n") == 1, (shown, out, err)
                assert "memory" not in err, (shown, err)
