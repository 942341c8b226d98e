"""Every parser of outside text, given good files that were changed at random.

A changed file that is refused in words not seen before is kept, and changed further.
"""

import io
import json
import os
import random
import re
import shlex
import tempfile
import time
import zipfile
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path

import click
import numpy as np

from agattn.algebra.matrices import read_matrix
from agattn.algebra.matrix_io import load_matrix
from agattn.architectures import SingleLayer
from agattn.checker import UnreadableError, check, load
from agattn.checkpoints.checkpoints import Checkpoint
from agattn.checkpoints.weight_files import WeightFile
from agattn.cli.architecture import Architectures
from agattn.cli.commands import made
from agattn.cli.main import cli, main
from agattn.engines.reading import checksum, read
from agattn.errors import AgattnError
from agattn.experiments.studies.cache import Cache
from agattn.experiments.studies.grid import example, read_grid
from agattn.experiments.studies.jobs import Job, read_lines, written
from agattn.experiments.studies.study import study
from agattn.systems.catalogue import build
from agattn.systems.points import point_of, slice_of, target_of
from agattn.verification.certificate import certify, dump
from tests.faults.child import outcomes
from tests.faults.table import Row

EXAMPLES = Path(__file__).parents[2] / "examples"
LAYER = SingleLayer(2, 1)
PIECES = (
    b"[]", b"{}", b"null", b"true", b"-1", b"0", b"0.5", b"1e999999999", b"NaN", b'"x"', b"\x00", b"[[[[[[[[",
    b"99999999999999999999", b"9" * 5000, b"\n", b",", b'"', b"1/0", b"..", b"-", b"\xff\xfe",
    b"100000", b"4294967295", b"1e308", b"5e-324", b"-1e-999999", b"1" + b"0" * 4301,
    "\u0662\u00b2".encode(), b"\xff\xff\xff\xff\xff\xff\xff\x7f", b"[[1,2],[3]]", b"1..100000", b" ",
)  # fmt: skip


def mutated(chosen, data, others):
    """A file with one to four changes."""
    data = bytearray(data)
    for _ in range(chosen.choice((1, 1, 2, 4))):
        n = chosen.randrange(len(data) + 1)
        m = min(len(data), n + chosen.choice((0, 1, 2, 4, 8, 40, 400)))
        how = chosen.randrange(8)
        if how == 0 and n < len(data):
            data[n] ^= 1 << chosen.randrange(8)
        elif how == 1:
            data[n : n + 1] = bytes([chosen.randrange(256)])
        elif how == 2:
            del data[n:m]
        elif how == 3:
            data[n:n] = data[n:m] * chosen.choice((1, 2, 50))
        elif how == 4:
            data[n:m] = chosen.choice(PIECES)
        elif how == 5:
            numbers = list(re.finditer(rb"\d+", data))
            if numbers:
                number = chosen.choice(numbers)
                data[number.start() : number.end()] = chosen.choice(PIECES)
        elif how == 6:
            other = chosen.choice(others)
            k = chosen.randrange(len(other) + 1)
            data[n:m] = other[k : k + chosen.choice((1, 10, 200))]
        else:
            data = data[: chosen.randrange(len(data) + 1)]
    return bytes(data)


def _saved(**arrays):
    file = io.BytesIO()
    if list(arrays) == ["npy"]:
        np.save(file, arrays["npy"])
    else:
        np.savez(file, **arrays)
    return file.getvalue()


def _sparse(kind, **arrays):
    good = {"shape": np.array([3, 3]), "data": np.array([1.0, 2, 3])}
    return _saved(format=np.array(kind), **good | arrays)


def _transcript(problem):
    """A whole answer: 1 for every number, and the first variable for every list of polynomials."""
    lines = []
    for result in problem.results:
        labels = [f"@{point.label}" for point in problem.points] if result.per_point else [""]
        for name in (result.name + label for label in ["@1"] * bool(result.per_item) or labels):
            if result.ring is None:
                lines.append(f"integer {name} 1")
                continue
            exponents = ",".join(["1", *["0"] * (len(result.ring.variables) - 1)])
            lines += [f"polynomials {name} 2", *["polynomial 1", f"term -7/2 {exponents}"] * 2]
    ends = f"agattn-end {len(lines)} {checksum(lines)}"
    return "\n".join([f"agattn-data 1 {problem.task} {problem.digest}", *lines, ends, ""]).encode()


def _resealed(problems, text):
    """Read as it stands, and again with the checksum that its lines should have."""
    lines = text.split("\n")
    problem = next((p for p in problems if f" {p.task} " in lines[0]), problems[0])
    end = next((n for n, line in enumerate(lines) if line.startswith("agattn-end")), len(lines))
    body = [line.rstrip("\r") for line in lines[1:end]]
    again = [lines[0], *body, f"agattn-end {len(body)} {checksum(body)}"]
    try:
        read("\n".join(again), problem)
    finally:
        read(text, problem)


def _matrix(path):
    read_matrix(load_matrix(path))


def _heads(path, heads=1):
    for head in Checkpoint(WeightFile([path]), heads=heads):
        if head.layer + head.head > 3:
            break


def _plain_heads(path):
    _heads(path, None)


def _heads_of_config(path):
    _heads(path.with_name("shard.safetensors"), None)


def _safetensors(rows=2, names=tuple(f"model.layers.0.self_attn.{x}_proj.weight" for x in "qkv")):
    from safetensors.numpy import save

    return save({name: np.ones((rows, 2), dtype=np.float32) for name in names})


def _bfloat16():
    """The same, of which numpy knows nothing."""
    data = _safetensors()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    for tensor in header.values():
        tensor |= {"dtype": "BF16", "data_offsets": [n // 2 for n in tensor["data_offsets"]]}
    written = json.dumps(header).encode()
    return len(written).to_bytes(8, "little") + written + bytes(24)


def _zipped(file, read):
    """Good files that are one array of an archive, after its number; and what reads the archive with it."""
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def run(path):
        data = path.read_bytes()
        changed = [*members][(data or b"0")[0] % len(members)]
        with zipfile.ZipFile(path.with_suffix(".npz"), "w") as archive:
            for name, content in (members | {changed: data[1:]}).items():
                archive.writestr(name, content)
        read(path.with_suffix(".npz"))

    return [bytes([n]) + content for n, content in enumerate(members.values())], run


def _words(text):
    """The words of a command line, up to where the work would begin."""
    group, verify = click.Context(cli, info_name="agattn"), made("verify")
    with (
        suppress(ValueError, click.UsageError),
        verify.make_context("verify", shlex.split(text), group) as context,
    ):
        architecture = Architectures().read(dict(context.params))
        str(architecture), architecture.as_json()


def _command(*words):
    """Run a command on a file, as a user does; 2 refuses it, 3 could not decide."""

    def run(path):
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
            try:
                main([*words, str(path)])
            except SystemExit as end:
                if end.code in (2, 3):
                    raise AgattnError(said.getvalue()) from None
                if end.code not in (0, 1):
                    raise RuntimeError(f"status {end.code}: {said.getvalue()[-250:]}") from None

    return run


def parsers():
    """For each parser: what it reads, the name of its files, good ones, and what reads a path."""
    problems = [build(task, LAYER) for task in ("fiber", "implicit-ideal", "slice", "tangent-cone")]
    certificate = dump(certify(LAYER)).encode()
    line = written(next(study([Job(LAYER, "strata")]))).encode()
    rows = [[1, "1/2", "0.25"], [3, 4, "1e-3"]]
    point = {"A": [[1, 2], ["1/3", 0]], "V": [[0, 1]]}
    y = {"y": [1, 0, 1, 0, "1/2", 0]}
    section = {
        "origin": [0] * 6,
        "directions": [[0] * n + [1] + [0] * (5 - n) for n in range(3)],
        "names": ["x", "y", "w"],
    }
    market = b"%%MatrixMarket matrix "
    matrices = {
        "npy": [_saved(npy=np.eye(3)), _saved(npy=np.arange(6).reshape(2, 3))],
        "npz": [
            _saved(A=np.eye(3)),
            _sparse("coo", row=np.arange(3), col=np.arange(3)),
            _sparse("csr", indptr=np.arange(4), indices=np.arange(3)),
        ],
        "csv": [b"1,2,1/2\n3,4e-2,0.333\n", b"# c\n1, 2\n3, 4\n"],
        "mtx": [
            market + b"coordinate integer general\n3 3 2\n1 1 5\n3 2 -1\n",
            market + b"array real symmetric\n2 2\n1.5\n2\n3\n",
        ],
        "json": [json.dumps(rows).encode(), json.dumps({"matrix": rows}).encode()],
    }
    weights = {"K": np.eye(2), "Q": np.eye(2), "V": np.ones((1, 2))}
    index = {"weight_map": {f"model.layers.0.self_attn.{x}_proj.weight": "shard.safetensors" for x in "qkv"}}
    shapes = {
        "model_type": "llama", "hidden_size": 2, "num_hidden_layers": 1, "num_attention_heads": 1,
        "num_key_value_heads": 1, "head_dim": 2,
    }  # fmt: skip
    points = [json.dumps(x).encode() for x in (point, {"K": [[1, 0]] * 2, "Q": point["A"], "V": point["V"]})]
    weights_json = [*points, (EXAMPLES / "weights.json").read_bytes()]
    targets = [json.dumps(y).encode(), *points]
    checkpoints = [
        _safetensors(), _bfloat16(), _safetensors(6, ["layers.0.attention.query_key_value.weight"]),
        _safetensors(6, ["encoder_1.self_attn.in_proj_weight"]),
    ]  # fmt: skip
    tensor = [(EXAMPLES / "tensor.json").read_bytes()]
    words = ["-d 2 -o 1 -a 2 -t 3 --field 32003 --seed 1", "--dims 4,3,4 --ranks 2,2 --heads 2,1",
             "--dims 3,3 --ranks 2 --normalization softmax --skip --timeout 1"]  # fmt: skip
    yield "transcripts", "case", list(map(_transcript, problems)), lambda p: _resealed(problems, _text(p))
    yield "certificates", "case", [certificate], lambda p: check(load(_text(p)))
    for ending, good in matrices.items():
        yield f"matrices, .{ending}", f"case.{ending}", good, _matrix
    yield "matrices, arrays in .npz", "case.x", *_zipped(matrices["npz"][2], _matrix)
    yield "weights, .npz", "case.npz", [_saved(**weights)], _plain_heads
    yield "weights, arrays in .npz", "case.x", *_zipped(_saved(**weights), _plain_heads)
    yield "weights, .npy", "case.npy", [_saved(npy=np.eye(2))], lambda p: dict(WeightFile([p]))
    yield "weights, .json", "case.json", weights_json, _plain_heads
    yield "weights, .safetensors", "case.safetensors", checkpoints, _heads
    yield "lists of shards", "case.index.json", [json.dumps(index).encode()], _heads
    yield "config.json", "config.json", [json.dumps(shapes).encode()], _heads_of_config
    yield "points", "case.json", points, lambda p: point_of(p, LAYER)
    yield "targets", "case.json", targets, lambda p: target_of(p, LAYER)
    yield "slices", "case.json", [json.dumps(section).encode()], lambda p: slice_of(p, LAYER)
    yield "grids", "case.toml", [example().encode()], lambda p: read_grid(_text(p))
    yield "lines of studies", "case.jsonl", [line + b"\n" + line], lambda p: read_lines(_text(p))
    yield "command lines", "case", [text.encode() for text in words], lambda p: _words(_text(p))
    yield "`agattn rank`", "case.csv", matrices["csv"], _command("rank")
    yield "`agattn rank`, floats", "case.npy", matrices["npy"], _command("rank")
    yield "`agattn fiber`", "case.json", weights_json, _command("fiber")
    equivalent = _command("equivalent", str(EXAMPLES / "weights.json"))
    yield "`agattn equivalent`", "case.json", weights_json[2:], equivalent
    yield "`agattn rlct`", "case.json", weights_json, _command("rlct")
    yield "`agattn fiber`, floats", "case.x", *_zipped(_saved(**weights), _command("fiber"))
    yield "`agattn classify`", "case.x", *_zipped(_saved(**weights), _command("classify"))
    yield "`agattn identify`", "case.json", targets[:1] + tensor, _command("identify", "-d", "2", "-o", "1")
    yield "`agattn check`", "case", [certificate], _command("check")


def _text(path):
    return path.read_bytes().decode("utf-8", errors="replace")


def _cached(folder, chosen, count):
    """A cache whose database was damaged gives nothing, or what was kept."""
    job = Job(LAYER, "strata")
    cache = Cache(folder / "cache")
    [line] = study([job], {}, cache=cache)
    kept = {name: value for name, value in line.items() if name != "cached"}
    cache._database().close()
    good = (folder / "cache" / "cache.db").read_bytes()

    def judge(data):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            Path(place, "cache.db").write_bytes(data)
            assert Cache(Path(place)).get(line["key"]) in (None, kept)
        return "read"

    return [mutated(chosen, good, [good]) for _ in range(count)], judge


def _behind(error):
    """An error and those during which it was raised."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def judged(path, reader, data):
    """Whether a file with this content is read, or refused and in which words; another error is raised.

    Memory that ran out is not to be taken for a file that is refused.
    """
    path.write_bytes(data)
    try:
        reader(path)
    except (AgattnError, UnreadableError, click.ClickException) as error:
        if any(isinstance(one, MemoryError) for one in _behind(error)):
            raise MemoryError from error
        return f"refused: {str(error).replace(str(path), '')}"[:200]
    return "read"


def tried(cases, seed=0, say=lambda line: None, seconds=1e9):
    """Rows about so many files, divided among all parsers."""
    chosen = random.Random(seed)
    rows = []
    known = list(parsers())
    others = [file for _, _, good, _ in known for file in good]
    entries = min(500, max(1, cases // (len(known) + 1)))
    share = max(1, -(-(cases - entries) // len(known)))
    stop = time.monotonic() + seconds
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk takes most of the time
    with tempfile.TemporaryDirectory(prefix="agattn-fuzz-", dir=memory) as name:
        folder = Path(name)
        (folder / "shard.safetensors").write_bytes(_safetensors())
        for subject, file, good, reader in known:
            judge = partial(judged, folder / file, reader)
            assert all(judge(data) == "read" for data in good), [judge(data) for data in good]
            row, kept, seen = Row(subject), list(good), set()
            while (left := share - row.counts.total()) > 0 and time.monotonic() < stop:
                files = [
                    mutated(chosen, chosen.choice(chosen.choice((good, kept))), others)
                    for _ in range(min(1000, left))
                ]
                for data, outcome in zip(files, outcomes(files, judge), strict=True):
                    row.add(_word(outcome), f"{outcome}: {data[:300]!r}")
                    words = re.sub(r"\d+|'.*?'|\".*?\"", "", outcome)
                    if words not in seen and len(data) < 10_000 and len(kept) < 200:
                        kept.append(data)
                    seen.add(words)
            (folder / file).unlink()
            rows.append(row)
            say(f"{subject}: {dict(row.counts)}, refused in {len(seen)} ways{''.join(row.wrong[:1])}")
        files, judge = _cached(folder, chosen, entries)
        row = Row("entries of a cache")
        for data, outcome in zip(files, outcomes(files, judge), strict=True):
            row.add(_word(outcome), f"{outcome}: {data[:300]!r}")
        rows.append(row)
    return rows


def _word(outcome):
    return {"read": "right", "refused": "detected"}.get(outcome.partition(":")[0], "wrong")
