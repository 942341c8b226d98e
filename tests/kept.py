"""The documents that every command printed before the house was made lighter, and that it still must print.

    python -m tests.kept               compares all documents with ``kept.json.xz``; some minutes
    python -m tests.kept rank --model  compares those of the commands with these words
    python -m tests.kept --write       writes that file anew

``CHANGED`` lists what is otherwise on purpose. The file goes when the work that it is for is done.
"""

import hashlib
import json
import lzma
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

from tests.command_line import ROOT, call

FILE = Path(__file__).with_name("kept.json.xz")
#: What differs from run to run, or from machine to machine.
VOLATILE = {"seconds", "python", "flint", "path", "versions", "key", "script_sha256", "files", "drawn"}
#: What is otherwise now, by the words of a command, and why.
CHANGED: dict[str, str] = {
    **{
        f"{command} --model FOLDER/{rule}.toml": "the factor between Q and V is given as one between K and V"
        for command in ("symmetries", "singularities")
        for rule in ("sum", "decay", "scalar-gate", "diagonal-gate")
    },
    **{
        f"symmetries --model {model}.toml": "rotations of pairs of rows are named, and not only found"
        for model in ("FOLDER/partly", "FOLDER/rotary", "examples/block", "examples/llama")
    },
    "figure deep": "the picture is one of the documentation, and its numbers are tests",
    "figure spectrum --dims 2,2 --ranks 1 -t 2 --normalization softmax": "it is drawn by agattn spectrum",
    **{
        f"{command} --model FOLDER/{model}.toml": "the first of equal bounds is the number of parameters"
        for command in ("dimension", "verify --engine native")
        for model in ("pooled", "skipped")
    },
    **{
        f"{command} --model examples/two-groups.toml": "orbits, which need no matrix, come before tangents"
        for command in ("dimension", "verify --engine native")
    },
    "singularities --model examples/block.toml": "with rotations among the groups a fiber has dimension 46",
    "singularities --model examples/llama.toml": "rotations make six fibers larger, and four ranks proved",
    **{
        f"certificate {of}": "certificates have one format; what is certified is the same"
        for of in ("-d 3 -o 2 -a 2", "--dims 3,3,2 --ranks 3,3 -t 3", "--model examples/group.toml")
    },
}

LAYERS = """
-d 1 -o 1 | -d 1 -o 3 -a 2 | -d 2 -o 1 | -d 2 -o 1 -a 1 | -d 2 -o 2 | -d 2 -o 2 -a 1 | -d 2 -o 3 | -d 3 -o 1
-d 3 -o 1 -a 1 | -d 3 -o 1 -a 2 | -d 3 -o 2 -a 1 | -d 3 -o 2 -a 2 | -d 3 -o 2 | -d 3 -o 3 -a 2
-d 4 -o 1 -a 2 | -d 4 -o 2 -a 3 | -d 2 -o 1 -t 1 | -d 3 -o 1 -a 1 -t 1 | -d 3 -o 2 -a 2 -t 1 | -d 2 -o 2 -t 3
"""
NETWORKS = """
--dims 2,2,1 --ranks 2,2 -t 2 | --dims 2,2,2 --ranks 2,2 -t 3 | --dims 3,3,3 --ranks 1,2 -t 3
--dims 3,3,3 --ranks 1,1 -t 3 | --dims 2,3,2 --ranks 2,2 -t 3 | --dims 4,3,4 --ranks 2,2 -t 1
--dims 5,4,1 --ranks 2,1 -t 3 | --dims 2,1,2 --ranks 1,1 -t 3 | --dims 2,2,2,1 --ranks 1,1,1 -t 2
--dims 2,1 --ranks 1 --heads 2 -t 2 | --dims 3,2 --ranks 2 --heads 2 -t 2 | --dims 2,2 --ranks 2 --skip -t 2
--dims 2,2,1 --ranks 2,2 --heads 2,1 -t 2 | --dims 3,3 --ranks 2 --value-rank 1 --heads 2 -t 2
--dims 2,1 --ranks 1 -t 2 --normalization softmax --jet 2
--dims 2,2,1 --ranks 1,1 -t 2 --normalization softmax --jet 2
--dims 2,1 --ranks 1 -t 2 --normalization 1,1,1/2 --jet 3
"""
SOFTMAX = """
--dims 2,2 --ranks 2 -t 2 --normalization softmax | --dims 2,2,1 --ranks 2,2 -t 3 --normalization softmax
--dims 3,2 --ranks 1 --heads 2 -t 3 --normalization softmax
--dims 2,2 --ranks 2 --skip -t 3 --normalization softmax
"""
LARGE = """
-d 768 -o 64 -a 64 | --dims 768,768,768 --ranks 64,64 --heads 12 -t 2 | --dims 40,40,40 --ranks 8,8 -t 3
--dims 10,10,10 --ranks 2,2 -t 3 --normalization softmax | --model examples/two-heads.toml
--config examples/grouped-config.json | --config examples/heads-config.json
--config examples/latent-config.json
"""
MODELS = """
--model examples/block.toml | --model examples/delta.toml | --model examples/group.toml
--model examples/llama.toml
--model examples/two-groups.toml | --model examples/maps.py:cubic
"""
#: Further models: the shape of the input, and the layers as they stand in a file.
WRITTEN = {
    "perceptron": ("dim = 3", '{type = "perceptron", widths = [5, 1], degree = 4}'),
    "biases": ("dim = 2", '{type = "perceptron", widths = [2, 1], degree = 2, bias = true}'),
    "convolutions": (
        "dim = 5",
        '{type = "convolution", filter = 3},'
        ' {type = "power", degree = 2},'
        ' {type = "convolution", filter = 3}',
    ),
    "pooled": (
        "dim = 3\ntokens = 2",
        '{type = "linear", out = 2, bias = true},'
        ' {type = "power", degree = 2},'
        ' {type = "sum"}',
    ),
    "rotary": (
        "dim = 3\ntokens = 3",
        '{type = "attention", out = 2, rank = 2, rotary = true,'
        ' mask = "causal"}',
    ),
    "partly": ("dim = 3\ntokens = 2", '{type = "attention", out = 1, rank = 3, rotary = 1}'),
    "masked": (
        "dim = 2\ntokens = 3",
        '{type = "attention", out = 2, rank = 1, mask = "causal",'
        ' skip = true}',
    ),
    "seen": ("dim = 2\ntokens = 2", '{type = "attention", out = 1, rank = 2, mask = [[1, 1], [0, 1]]}'),
    "grouped": (
        "dim = 2\ntokens = 2",
        '{type = "attention", out = 2, rank = 1, heads = 2, kv_heads = 1,'
        ' value_rank = 1}',
    ),
    "latent": (
        "dim = 3\ntokens = 2",
        '{type = "attention", out = 1, rank = 1, value_rank = 1, kv_latent = 2,'
        ' q_latent = 1}',
    ),
    "cross": ("dim = 2\ntokens = 4", '{type = "cross-attention", out = 1, rank = 1, context = 2}'),
    "mixed": (
        "dim = 2\ntokens = 2",
        '{type = "attention", out = 2, rank = 2, skip = true},'
        ' {type = "perceptron", widths = [3, 2], degree = 2, skip = true}',
    ),
    "skipped": (
        "dim = 2",
        '{type = "skip", layer = [{type = "power", degree = 2},'
        ' {type = "linear", out = 2}]}',
    ),
    **{
        rule: ("dim = 2\ntokens = 2", f'{{type = "recurrence", out = 1, rank = 1, rule = "{rule}"}}')
        for rule in ("sum", "decay", "scalar-gate", "diagonal-gate", "delta", "gated-delta")
    },
}  # fmt: skip
#: Commands on every architecture of a kind; and each by itself.
OF_ALL = [
    "dimension",
    "identifiability",
    "symmetries",
    "singularities",
    "verify --engine native",
    "ideal --max-degree 2",
]
TASKS = ("implicit-ideal", "hilbert-function", "strata-tangents", "base-locus")
OF_LAYERS = [
    "strata",
    "rlct",
    *(f"emit {task} --engine {engine}" for task in TASKS for engine in ("macaulay2", "singular")),
]
OF_NETWORKS = ["emit implicit-ideal --max-degree 2 --engine macaulay2", "emit fiber --engine singular"]
ALONE = """
critical-points -d 2 -o 1 --metric gaussian --real | critical-points -d 2 -o 2 --engine native
critical-points -d 3 -o 1 -a 1 --engine native | critical-points -d 3 -o 2 -a 2 --engine native
rlct -d 3 -o 2 -a 2 --softmax | rlct examples/weights.json | classify examples/weights.json
fiber examples/weights.json
rlct --dims 2,2,2 --ranks 2,2 -t 3 examples/network.json
fiber --dims 2,2,2 --ranks 2,2 -t 3 examples/network.json
equivalent examples/weights.json examples/weights.json | identify examples/tensor.json -d 2 -o 1
ideal -d 3 -o 1 --max-degree 4 --invariants | ideal -d 3 -o 2 -a 2 --max-degree 3 --stratum 1,1,2
certificate -d 3 -o 2 -a 2 | certificate --dims 3,3,2 --ranks 3,3 -t 3
certificate --model examples/group.toml | check docs/certificates/m322.json
check docs/certificates/n332.json
check docs/certificates/delta.json | rank examples/hilbert.csv | figure 1 --engine native | figure 2
figure 3
figure deep | figure spectrum --dims 2,2 --ranks 1 -t 2 --normalization softmax
spectrum --dims 2,2,2 --ranks 1,1 -t 2 --normalization softmax --digits 60 | doctor
study examples/grid.toml -O -
"""


def words_of(text):
    return [line.strip() for line in text.replace("\n", "|").split("|") if line.strip()]


def cases(folder):
    """All commands, as lists of words."""
    written = []
    for name, (shape, layers) in WRITTEN.items():
        (folder / f"{name}.toml").write_text(f"layer = [{layers}]\n[input]\n{shape}\n")
        written.append(f"--model {folder}/{name}.toml")
    layers, networks = words_of(LAYERS), [*words_of(NETWORKS), *words_of(MODELS), *written]
    lines = [f"{command} {one}" for command, one in product(OF_ALL, layers + networks)]
    lines += [f"{command} {one}" for command, one in product(OF_LAYERS, layers)]
    lines += [f"{command} {one}" for command, one in product(OF_NETWORKS, networks)]
    of_softmax = ["dimension", "identifiability", "spectrum", "verify --engine native"]
    lines += [f"{command} {one}" for command, one in product(of_softmax, words_of(SOFTMAX))]
    lines += [
        f"{command} {one}" for command, one in product(("dimension", "identifiability"), words_of(LARGE))
    ]
    return [line.split() for line in [*lines, *words_of(ALONE)]]


def stable(value):
    """A document without what differs from run to run; floats to nine digits, long texts by their sums."""
    if isinstance(value, dict):
        return {key: stable(inner) for key, inner in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [stable(inner) for inner in value]
    if isinstance(value, str) and len(value) > 2000:
        return f"sha256 {hashlib.sha256(value.encode()).hexdigest()}"
    return float(f"{value:.9g}") if isinstance(value, float) else value


def document(words):
    """What a command prints with ``--json``, or the last line with which it is refused; and the seconds."""
    os.chdir(ROOT)
    started = time.time()
    lines = words[0] == "study"
    ended = call(*words, *(["--no-cache"] if lines else ["--json"]))
    try:
        made = stable([json.loads(one) for one in (ended.out.splitlines() if lines else [ended.out])])
    except ValueError:
        made = ended.err.strip().splitlines()[-1:]
    if words[0] == "doctor":
        made = sorted(made[0])
    return {"status": ended.status, "printed": made}, time.time() - started


def found(wanted, slow):
    """The documents of all commands with these words, by their words."""
    with tempfile.TemporaryDirectory() as name:
        words = [one for one in cases(Path(name)) if set(wanted) <= set(one)]
        with ProcessPoolExecutor(2) as pool:
            made = list(pool.map(document, words, chunksize=1))
        texts = {" ".join(one): one_made for one, (one_made, _) in zip(words, made, strict=True)}
        for one, (_, seconds) in zip(words, made, strict=True):
            if seconds > slow:
                print(f"{seconds:6.1f} s  {' '.join(one)}")
        return json.loads(json.dumps(texts).replace(name, "FOLDER"))


def difference(one, other, where=""):
    """Where two documents differ first."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            if one.get(key) != other.get(key):
                return difference(one.get(key), other.get(key), f"{where}.{key}")
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for n, (x, y) in enumerate(zip(one, other, strict=True)):
            if x != y:
                return difference(x, y, f"{where}[{n}]")
    return f"{where}: {str(one)[:150]} became {str(other)[:150]}"


def main():
    wanted = [word for word in sys.argv[1:] if word != "--write"]
    now = found(wanted, slow=10)
    if "--write" in sys.argv:
        FILE.write_bytes(lzma.compress(json.dumps(now, sort_keys=True).encode()))
        return
    kept = json.loads(lzma.decompress(FILE.read_bytes()))
    kept = {words: one for words, one in kept.items() if set(wanted) <= set(words.split())}
    other = [words for words in kept if now.get(words) != kept[words] and words not in CHANGED]
    for words in other:
        print(words, difference(kept[words], now.get(words)), sep="\n    ")
    sys.exit(f"{len(other)} of {len(kept)} differ" if other else f"{len(kept)} documents are the same")


if __name__ == "__main__":
    main()
