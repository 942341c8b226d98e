"""Every parser of outside text, given good files that were changed at random."""

import io
import json
import random
import re
import tempfile
import time
from pathlib import Path

import numpy as np

from agattn.algebra.matrices import read_matrix
from agattn.algebra.matrix_io import load_matrix
from agattn.architectures import SingleLayer
from agattn.checker import UnreadableError, check, load
from agattn.engines.transcript import checksum, read
from agattn.errors import AgattnError
from agattn.heads.checkpoints import Checkpoint
from agattn.heads.weight_files import WeightFile
from agattn.studies.cache import Cache
from agattn.studies.grid import example, read_grid
from agattn.studies.jobs import Job
from agattn.studies.lines import read_lines, written
from agattn.studies.study import study
from agattn.systems.catalogue import build
from agattn.systems.points import read_point, read_slice, read_target
from agattn.verification.certificate import dump, make_certificate
from tests.faults.child import outcomes
from tests.faults.table import Row

LAYER = SingleLayer(2, 1)
PIECES = (
    b"[]", b"{}", b"null", b"true", b"-1", b"0", b"0.5", b"1e999999999", b"NaN", b'"x"', b"\x00", b"[[[[[[[[",
    b"99999999999999999999", b"9" * 5000, b"\n", b",", b'"', b"1/0", b"..", b"-", b"\xff\xfe",
    b"100000", b"4294967295", b"\xff\xff\xff\xff\xff\xff\xff\x7f", b"[[1,2],[3]]", b"1..100000", b" ",
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
    return _saved(format=np.array(kind), shape=np.array([3, 3]), data=np.array([1.0, 2, 3]), **arrays)


def _transcript(problem):
    lines = [f"integer {name}@{point.label} 1" for point in problem.points
             for name in ("escapes", "length", "points")]  # fmt: skip
    ends = f"agattn-end {len(lines)} {checksum(lines)}"
    return "\n".join([f"agattn-data 1 {problem.task} {problem.digest}", *lines, ends, ""]).encode()


def _resealed(problem, text):
    """Read as it stands, and again with the checksum that its lines should have."""
    lines = text.split("\n")
    body = [line.rstrip("\r") for line in lines[1:] if not line.startswith("agattn-end")]
    again = [lines[0], *body, f"agattn-end {len(body)} {checksum(body)}"]
    try:
        read("\n".join(again), problem)
    finally:
        read(text, problem)


def _matrix(path):
    read_matrix(load_matrix(path))


def _heads(path):
    for head in Checkpoint(WeightFile([path]), heads=1):
        if head.layer + head.head > 3:
            break


def _safetensors():
    from safetensors.numpy import save

    names = [f"model.layers.0.self_attn.{x}_proj.weight" for x in "qkv"]
    return save({name: np.ones((2, 2), dtype=np.float32) for name in names})


def parsers():
    """For each parser: its name, the ending of its files, good ones, and what reads a path."""
    problem = build("fiber", LAYER)
    certificate = dump(make_certificate(LAYER)).encode()
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
        "csv": [b"1,2,1/2\n3,4e-2,0.333 +/- 5e-4\n", b"# c\n1, 2\n3, 4\n"],
        "mtx": [
            market + b"coordinate integer general\n3 3 2\n1 1 5\n3 2 -1\n",
            market + b"array real symmetric\n2 2\n1.5\n2\n3\n",
        ],
        "json": [json.dumps(rows).encode(), json.dumps({"matrix": rows}).encode()],
    }
    weights = {"K": np.eye(2), "Q": np.eye(2), "V": np.ones((1, 2))}
    yield "transcripts", "txt", [_transcript(problem)], lambda p: _resealed(problem, _text(p))
    yield "certificates", "json", [certificate], lambda p: check(load(_text(p)))
    for ending, good in matrices.items():
        yield f"matrices, .{ending}", ending, good, _matrix
    yield "weights, .npz", "npz", [_saved(**weights)], _heads
    yield "weights, .npy", "npy", [_saved(npy=np.eye(2))], lambda p: dict(WeightFile([p]))
    yield "weights, .json", "json", [json.dumps(point).encode()], _heads
    yield "weights, .safetensors", "safetensors", [_safetensors()], _heads
    yield "points", "json", [json.dumps(point).encode()], lambda p: read_point(p, LAYER)
    yield "targets", "json", [json.dumps(y).encode()], lambda p: read_target(p, LAYER)
    yield "slices", "json", [json.dumps(section).encode()], lambda p: read_slice(p, LAYER)
    yield "grids", "toml", [example().encode()], lambda p: read_grid(_text(p))
    yield "lines of studies", "jsonl", [line + b"\n" + line], lambda p: read_lines(_text(p))


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


def tried(cases, seed=0, say=lambda line: None, seconds=1e9):
    """Rows about so many files, divided among all parsers."""
    chosen = random.Random(seed)
    rows = []
    known = list(parsers())
    others = [file for _, _, good, _ in known for file in good]
    share = max(1, cases // (len(known) + 1))
    stop = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="agattn-fuzz-") as name:
        folder = Path(name)
        for subject, ending, good, reader in known:

            def judge(data, path=folder / f"case.{ending}", reader=reader):
                path.write_bytes(data)
                try:
                    reader(path)
                except (AgattnError, UnreadableError):
                    return "refused"
                return "read"

            row = Row(subject)
            for start in range(0, share, 10_000):
                files = [
                    mutated(chosen, chosen.choice(good), others) for _ in range(min(10_000, share - start))
                ]
                _count(row, files, judge)
                if time.monotonic() > stop:
                    break
            rows.append(row)
            say(f"{subject}: {dict(row.counts)}")
        files, judge = _cached(folder, chosen, min(share, 500))
        row = Row("entries of a cache")
        _count(row, files, judge)
        rows.append(row)
    return rows


def _count(row, files, judge):
    for data, outcome in zip(files, outcomes(files, judge), strict=True):
        word = {"read": "right", "refused": "detected"}.get(outcome, "wrong")
        row.add(word, f"{outcome}: {data[:300]!r}")
