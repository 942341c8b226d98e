# ruff: noqa: E501  a table of files
"""Files of up to 10 MB that were made to be as bad as they can be: each is refused in one line, soon, in little.

Every command has 5 seconds of processor time and 1 GB for each, in a process of its own.
"""

import io
import json
import os
import random
import struct
import warnings
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from functools import cache

import numpy as np
import pytest
from command_line import run

from agattn.cli.main import main
from agattn.experiments.studies.jobs import Job, written
from agattn.experiments.studies.study import study
from agattn.verification.certificate import certify
from tests.faults.child import outcomes
from tests.faults.parsers import EXAMPLES, LAYER, _safetensors, _saved, _sparse

MB = 10_000_000
LAYERS = ["-d", "2", "-o", "1"]
WEIGHTS = [["fiber", "F"], ["classify", "F"], ["rlct", "F"], ["identify", "F", *LAYERS],
           ["equivalent", str(EXAMPLES / "weights.json"), "F"]]  # fmt: skip
RANK, CHECK = [["rank", "F"]], [["check", "F"]]
GRID = [["study", "F", "--dry-run", "--no-cache"], ["report", "--study", "LINES", "--grid", "F", "-O", "OUT"]]
LINES = [["report", "--study", "F", "-O", "OUT"]]
POINTS = [["emit", "fiber", *LAYERS, "--point", "F"], ["emit", "membership", *LAYERS, "--point", "F"]]
SLICES = [["emit", "slice", *LAYERS, "--slice", "F"], ["figure", "1", "--engine", "native", "--slice", "F"]]
SOME = [WEIGHTS[3], POINTS[0], *CHECK, *LINES]
JSON = [*RANK, *WEIGHTS, *POINTS, *SLICES, *CHECK, *LINES]


def npy(shape, kind="<f8", body=b"", version=1):
    """A file of numpy's whose header says what it likes."""
    header = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + body


def npz(*members, pack=zipfile.ZIP_DEFLATED):
    """An archive with these names and contents, in this order."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that occur twice
        with zipfile.ZipFile(file, "w", pack) as archive:
            for name, content in members:
                archive.writestr(name, content)
    return file.getvalue()


def bomb():
    """Ten gigabytes of zeros in ten megabytes: ten members that share one stream would do; here it is one."""
    file = io.BytesIO()
    piece = bytes(2**24)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("A.npy", "w") as member:
        member.write(npy((2**26,)))
        for _ in range(2**5):
            member.write(piece)
    data = file.getvalue()
    return data.replace(struct.pack("<I", 2**29 + len(npy((2**26,)))), struct.pack("<I", 2**32 - 2))


def disguised():
    """An archive that says of 256 MiB that they are 400 bytes."""
    data = npz(("A.npy", npy((4, 4)) + bytes(2**28)), ("V.npy", _saved(npy=np.eye(4))))
    return data.replace(struct.pack("<I", 2**28 + len(npy((4, 4)))), struct.pack("<I", 400))


def tensors(data=bytes(48), **changed):
    """Three tensors of a checkpoint with something in their header changed."""
    names = [f"model.layers.0.self_attn.{x}_proj.weight" for x in "qkv"]
    header = {
        name: {"dtype": "F32", "shape": [2, 2], "data_offsets": [16 * n, 16 * n + 16]} | changed
        for n, name in enumerate(names)
    }
    return sealed(json.dumps(header).encode(), data)


def sealed(header, data=b""):
    return struct.pack("<Q", len(header)) + header + data


@cache
def sound():
    return dict(certify(LAYER))


def certificate(**changed):
    return json.dumps(sound() | changed).encode()


@cache
def line():
    return written(next(study([Job(LAYER, "strata")]))).encode()


def sparse(kind="csr", **changed):
    """A sparse matrix with an array changed."""
    good = {"row": np.arange(3), "col": np.arange(3)}
    if kind != "coo":
        good = {"indptr": np.arange(4), "indices": np.arange(3)}
    return _sparse(kind, **good | {name: np.array(value) for name, value in changed.items()})


def keyed(**values):
    return json.dumps(values).encode()


EYE = _saved(npy=np.eye(2))
MARKET = b"%%MatrixMarket matrix "
INTEGERS = MARKET + b"coordinate integer general\n"
TABLE = MARKET + b"array integer general\n"
SLICE = {"origin": [0] * 6, "directions": [[int(i == n) for i in range(6)] for n in range(3)]}
ONE = b"[layers]\nd = 2\nd_out = 1\n"
#: What it is: the name of the file, its content, the commands, and those that may answer, with the status of the right answer.
FILES = {
    "npy: 10¹² entries": ("A.npy", lambda: npy((10**6, 10**6), body=bytes(800)), RANK + WEIGHTS[3:4]),
    "npy: more than 2⁶⁴": ("A.npy", lambda: npy((2**62, 4), body=bytes(800)), RANK + WEIGHTS[3:4]),
    "npy: 10¹⁵ rows of none": ("A.npy", lambda: npy((10**15, 0)), RANK + WEIGHTS[3:4]),
    "npy: entries of 0 bytes": ("A.npy", lambda: npy((10**7, 10**7), "|V0"), RANK + WEIGHTS[3:4]),
    "npy: a negative size": ("A.npy", lambda: npy((-1, 4), body=bytes(32)), RANK + WEIGHTS[3:4]),
    "npy: a header of 10 MB": ("A.npy", lambda: npy(" " * MB + "(1, 1)", version=2), RANK + WEIGHTS),
    "npy: a header of 4 GB": ("A.npy", lambda: b"\x93NUMPY\2\0" + b"\xff" * 4 + bytes(MB), RANK + WEIGHTS),
    "npy: nested": ("A.npy", lambda: npy("(" * 60_000), RANK + WEIGHTS),
    "npy: a size of 60,000 digits": ("A.npy", lambda: npy(f"({'9' * 60_000},)"), RANK + WEIGHTS),
    "npy: a tensor of 9,000,000 integers": ("A.npy", lambda: npy((3000, 3000), "|i1", bytes(9 * 10**6)), WEIGHTS[3:4]),
    "npz: a bomb": ("A.npz", bomb, RANK + WEIGHTS),
    "npz: a bomb in disguise": ("A.npz", disguised, RANK + WEIGHTS),
    "npz: ../x": ("A.npz", lambda: npz(("../A.npy", EYE), ("/etc/V.npy", EYE)), RANK + WEIGHTS),
    "npz: an archive in it": ("A.npz", lambda: npz(("A.npy", npz(("A.npy", EYE))), ("V.npy", EYE)), RANK + WEIGHTS),
    "npz: twice the same": ("A.npz", lambda: npz(("A.npy", EYE), ("A.npy", EYE), ("V.npy", EYE)), RANK + WEIGHTS),
    "npz: A and A.npy": ("A.npz", lambda: npz(("A.npy", EYE), ("A", EYE), ("V.npy", EYE)), RANK + WEIGHTS),
    "npz: 10,000 arrays": ("A.npz", lambda: npz(*((f"{n}.npy", EYE) for n in range(10_000)), pack=0), RANK + WEIGHTS),
    "npz: a name of 60,000 letters": ("A.npz", lambda: npz(("A" * 60_000, EYE), ("V.npy", EYE)), RANK + WEIGHTS),
    **{
        f"npz: {kind}, {name} = {value}": ("A.npz", lambda kind=kind, name=name, value=value: sparse(kind, **{name: value}), RANK)
        for kind, name, value in [
            ("csr", "indptr", [0, 1, 2, 2**62]), ("csr", "indptr", [0, 3, 1, 3]), ("csr", "indptr", [0, -1, 1, 3]),
            ("csr", "indices", [0.5, 0.7, 0.9]), ("csr", "indices", [0, -1, 2]), ("csc", "indices", [0, 1, 3]),
            ("coo", "row", [0.5, 0.7, 0.9]), ("coo", "shape", [10**18, 10**18]), ("coo", "shape", [2 * 10**9] * 2),
            ("coo", "shape", [-3, 3]), ("csr", "shape", [2 * 10**9, 3]), ("coo", "shape", [3.0, 3.0]),
        ]
    },
    "mtx: 10¹⁸ entries": ("A.mtx", lambda: INTEGERS + b"999999999 999999999 1\n1 1 5\n", RANK),
    "mtx: 10⁷ × 10⁷ with one entry": ("A.mtx", lambda: INTEGERS + b"10000000 10000000 1\n1 1 5\n", RANK, {"rank": 0}),
    "mtx: 9,000,000 announced": ("A.mtx", lambda: TABLE + b"1 9000000\n1\n", RANK),
    "mtx: 10⁷ rows of none": ("A.mtx", lambda: TABLE + b"10000000 0\n", RANK),
    "mtx: -1 entries": ("A.mtx", lambda: INTEGERS + b"3 3 -1\n1 1 5\n", RANK),
    "mtx: a size of 10⁶ digits": ("A.mtx", lambda: INTEGERS + b"9" * 10**6 + b" 3 1\n1 1 5\n", RANK),
    "mtx: an entry of 10⁶ digits": ("A.mtx", lambda: INTEGERS + b"1 1 1\n1 1 " + b"9" * 10**6, RANK, {"rank": 0}),
    "mtx: comments only": ("A.mtx", lambda: INTEGERS + b"%\n" * (MB // 2), RANK),
    "csv: one line of letters": ("A.csv", lambda: b"x" * MB, RANK),
    "csv: one line of digits": ("A.csv", lambda: b"9" * MB, RANK, {"rank": 0}),
    "csv: one line of points": ("A.csv", lambda: b"." * MB, RANK),
    "csv: one line of signs": ("A.csv", lambda: b"1" + b" +/-" * (MB // 4), RANK),
    "csv: a number and spaces": ("A.csv", lambda: b"1" + b" " * MB + b"x", RANK),
    "csv: an open quote": ("A.csv", lambda: b'"' + b"x" * MB, RANK),
    "csv: 10⁶ empty lines": ("A.csv", lambda: b"\n" * 10**6, RANK),
    "csv: empty": ("A.csv", bytes, RANK),
    "csv: a mark and nothing else": ("A.csv", lambda: b"\xef\xbb\xbf", RANK),
    "csv: zeros": ("A.csv", lambda: bytes(MB), RANK),
    "csv: 1 and 5 million commas": ("A.csv", lambda: b"1" + b"," * (MB // 2), RANK),
    "json: 10⁵ deep": ("A.json", lambda: b"[" * 10**5 + b"]" * 10**5, JSON),
    "json: objects 10⁵ deep": ("A.json", lambda: b'{"A":' * 10**5, JSON),
    "json: 10⁷ brackets": ("A.json", lambda: b"[" * MB, JSON),
    "json: 60 deep": ("A.json", lambda: b'{"A": %b1%b, "V": [[1, 2]]}' % (b"[" * 60, b"]" * 60), JSON),
    "json: 10⁶ digits": ("A.json", lambda: b"9" * 10**6, JSON),
    "json: an entry of 10⁷ digits": ("A.json", lambda: b'{"A": [[%b]], "V": [[1]]}' % (b"9" * MB), JSON),
    "json: 5·10⁶ numbers": ("A.json", lambda: b"[" + b"1," * (MB // 2 - 1) + b"1]", [*RANK, *SOME]),
    "json: 3·10⁶ lists": ("A.json", lambda: b"[" + b"[]," * (MB // 3) + b"[]]", SOME),
    "json: 3·10⁶ objects": ("A.json", lambda: b"[" + b"{}," * (MB // 3) + b"{}]", [*RANK, *SOME]),
    "json: 100,000 keys": ("A.json", lambda: json.dumps({f"k{n}": 1 for n in range(100_000)}).encode(), SOME),
    "json: the same keys": ("A.json", lambda: b"{" + b'"A": 1,' * (MB // 7) + b'"V": 1}', [*RANK, WEIGHTS[0], *SOME]),
    "json: NaN": ("A.json", lambda: b'{"A": [[NaN]], "V": [[1]], "matrix": [[NaN]], "y": [NaN], "origin": [NaN]}', JSON),
    "json: infinity": ("A.json", lambda: b'{"A": [[-Infinity]], "V": [[1]], "matrix": [[Infinity]], "y": [1e999]}', JSON),
    "json: half a letter": ("A.json", lambda: b'{"\\ud800": 1, "A": [["\\ud800"]], "V": [[1]], "matrix": [["\\udfff"]]}', JSON),
    "json: a key that is half a letter": ("A.json", lambda: b'{"\\ud800": [[1]]}', JSON),
    "json: a text of 10 MB": ("A.json", lambda: b'"' + b"a" * MB + b'"', JSON),
    "json: an entry of 10 MB": ("A.json", lambda: b'{"A": [["%b", 1]], "V": [[1]]}' % (b"1" * MB), JSON),
    "json: spaces": ("A.json", lambda: b" " * MB, JSON),
    "json: empty": ("A.json", bytes, JSON),
    "json: null": ("A.json", lambda: b"null", JSON),
    "json: UTF-16": ("A.json", lambda: '{"A": [[1]]}'.encode("utf-16"), JSON),
    "json: texts": ("A.json", lambda: keyed(A="x", V="y", y="z", matrix="m", origin="o", directions="d"), JSON),
    "json: other shapes": ("A.json", lambda: keyed(A=[[[1]]], V=[1, 2], y=[[[1]]], matrix=[[[1]]], **{"origin": [0]}), JSON),
    "json: rows of different lengths": ("A.json", lambda: keyed(A=[[1, 0], [0]], V=[[1, 2]], matrix=[[1], [1, 2]], y=[1, [2]]), JSON),
    "json: names that are lists": ("A.json", lambda: keyed(**SLICE, names=[["x"], ["y"], ["w"]]), SLICES),
    "json: the same names": ("A.json", lambda: keyed(**SLICE, names=["x", "x", "w"]), SLICES),
    "json: a name of 10⁶ letters": ("A.json", lambda: keyed(**SLICE, names=["x" * 10**6, "y", "w"]), SLICES),
    "json: half a letter as a name": ("A.json", lambda: keyed(**SLICE, names=["\ud800", "y", "w"]), SLICES),
    "safetensors: a header of 2⁶⁰ bytes": ("A.safetensors", lambda: struct.pack("<Q", 2**60) + b"{}", WEIGHTS),
    "safetensors: a header of spaces": ("A.safetensors", lambda: sealed(b" " * 9_000_000 + b"{}"), WEIGHTS),
    "safetensors: a header 10⁵ deep": ("A.safetensors", lambda: sealed(b"[" * 10**5), WEIGHTS),
    "safetensors: offsets beyond": ("A.safetensors", lambda: tensors(data_offsets=[0, 10**15]), WEIGHTS),
    "safetensors: overlapping": ("A.safetensors", lambda: tensors(data_offsets=[0, 16]), WEIGHTS),
    "safetensors: negative offsets": ("A.safetensors", lambda: tensors(data_offsets=[-16, 0]), WEIGHTS),
    "safetensors: 10¹⁸ entries": ("A.safetensors", lambda: tensors(shape=[10**9, 10**9]), WEIGHTS),
    "safetensors: more than 2⁶⁴": ("A.safetensors", lambda: tensors(shape=[2**32, 2**32]), WEIGHTS),
    "safetensors: BF16 of twice the size": ("A.safetensors", lambda: tensors(dtype="BF16"), WEIGHTS),
    "safetensors: no such type": ("A.safetensors", lambda: tensors(dtype="X9"), WEIGHTS),
    "safetensors: empty": ("A.safetensors", bytes, WEIGHTS),
    "shards: the list itself": ("A.index.json", lambda: keyed(weight_map={"A": "A.index.json"}), WEIGHTS),
    "shards: the folder above": ("A.index.json", lambda: keyed(weight_map={"A": ".."}), WEIGHTS),
    "shards: a folder": ("A.index.json", lambda: keyed(weight_map={"A": "folder"}), WEIGHTS),
    "shards: a pipe": ("A.index.json", lambda: keyed(weight_map={"A": "pipe.json"}), WEIGHTS),
    "shards: a device": ("A.index.json", lambda: keyed(weight_map={"A": "zero.json"}), WEIGHTS),
    "certificate: d = 10⁶": ("A", lambda: certificate(d=10**6), CHECK),
    "certificate: all of 10⁶, no strata": ("A", lambda: certificate(d=10**6, a=10**6, d_out=10**6, strata=[]), CHECK),
    "certificate: d = 10¹⁰⁰⁰": ("A", lambda: certificate(d=10**1000), CHECK),
    "certificate: 10⁶ digits": ("A", lambda: certificate(d="#").replace(b'"#"', b"9" * 10**6), CHECK),
    "certificate: 10⁶ strata": ("A", lambda: certificate(strata="#").replace(b'"#"', b"[" + b"{}," * 10**6 + b"{}]"), CHECK, {"check": 1}),
    "certificate: 10⁶ numbers": ("A", lambda: certificate(strata="#").replace(b'"#"', b"[" + b"1," * 10**6 + b"1]"), CHECK, {"check": 1}),
    "toml: comments of 10 MB": ("A.toml", lambda: b"#\n" * (MB // 2), GRID),
    "toml: keys": ("A.toml", lambda: b"".join(b"k%d = 1\n" % n for n in range(200_000)), GRID),
    "toml: nested": ("A.toml", lambda: b"a = " + b"[" * MB, GRID),
    "toml: a key of 4,000 parts": ("A.toml", lambda: b"a" + b".a" * 4000 + b" = 1", GRID),
    "toml: 400,000 numbers": ("A.toml", lambda: b"[layers]\nd_out = 1\nd = [" + b"1," * 4 * 10**5 + b"0]", GRID),
    "toml: a number of 10⁷ digits": ("A.toml", lambda: b"seed = " + b"9" * MB, GRID),
    "toml: 10¹⁵ jobs": ("A.toml", lambda: b'[layers]\nd = "1..100000"\nd_out = "1..100000"\na = "1..100000"\n', GRID[:1]),
    "toml: 10⁵ heads": ("A.toml", lambda: b'[[networks]]\ndims = [[3, 2, 3]]\nranks = [[2, 2]]\nheads = "1..100000"\n', GRID[:1]),
    "toml: a claim of 10⁵ letters": ("A.toml", lambda: b'claims = ["' + b"theorem" * 15_000 + b'"]\n' + ONE, GRID),
    "toml: a text of 9 MB": ("A.toml", lambda: b'ask = "' + b"verify" * 1_500_000 + b'"\n' + ONE, GRID),
    "toml: an engine of 10⁶ letters": ("A.toml", lambda: b'engine = "' + b"singular" * 10**5 + b'"\n' + ONE, GRID),
    "toml: zeros": ("A.toml", lambda: bytes(MB), GRID),
    "lines: empty ones": ("A.jsonl", lambda: b"\n" * MB, LINES),
    "lines: d = 10⁹": ("A.jsonl", lambda: line().replace(b'"d": 2', b'"d": 1000000000'), LINES),
}  # fmt: skip


def ended(words):
    """How a command ended, and what it said."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        try:
            main(words)
        except SystemExit as end:
            return f"{end.code} {said.getvalue()}"
    return "it did not end"


def commands(folder, name, commands):
    files = {"F": folder / name, "LINES": folder / "lines.jsonl", "OUT": folder / "out"}
    return [[str(files.get(word, word)) for word in words] for words in commands]


def refused(found, may=()):
    """Whether a command ended with one line, and the status 2 or the one that its right answer has."""
    status, _, err = found.partition(" ")
    told = err.startswith("agattn: ") and err.count("\n") == 1 and len(err) < 2100 and "memory ran" not in err
    return (status == "2" and told) or (status.isdigit() and int(status) in may and err == "")


@pytest.fixture(scope="module", autouse=True)
def imported(tmp_path_factory):
    """What the commands import, imported before the processes are forked that run them."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "lines.jsonl").write_bytes(line())
    for what in ("json: texts", "toml: zeros", "lines: d = 10⁹", "safetensors: no such type"):
        name, content, words = FILES[what]
        (folder / name).write_bytes(content())
        for command in commands(folder, name, words):
            ended(command)


@pytest.fixture
def folder(tmp_path):
    """A folder with a pipe, a device and what else a bad file may name."""
    (tmp_path / "lines.jsonl").write_bytes(line())
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "model.safetensors").write_bytes(_safetensors())
    return tmp_path


#: Files that take the longest, of the kinds of which there are smaller or quicker ones.
LONG = {
    "json: the same keys", "json: 5·10⁶ numbers", "json: 3·10⁶ objects", "json: 3·10⁶ lists",
    "json: an entry of 10 MB", "npz: 10,000 arrays", "npz: a bomb", "npz: a bomb in disguise",
    "toml: 400,000 numbers",
}  # fmt: skip


@pytest.mark.parametrize(
    "what", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in FILES]
)
def test_the_worst_files_are_refused_in_one_line(what, folder):
    name, content, words, *may = FILES[what]
    data = content()
    assert len(data) < 1.2 * MB
    (folder / name).write_bytes(data)
    asked = commands(folder, name, words)
    for command, found in zip(asked, outcomes(asked, ended), strict=True):
        right = [status for answers in may for verb, status in answers.items() if verb == command[0]]
        assert refused(found, right), (command, found[:500])


EVERY = [*JSON, *GRID, ["run", "F"]]


@pytest.mark.parametrize("name", ["pipe", "zero", "folder", "nothing"])
def test_what_is_no_file_is_refused_at_once(name, folder):
    for ending in (".json", ".npy", ".safetensors", ".m2"):
        if name == "pipe" and ending != ".json":
            os.mkfifo(folder / f"pipe{ending}")
        if name == "zero" and ending != ".json":
            (folder / f"zero{ending}").symlink_to("/dev/zero")
        if name == "folder":
            (folder / f"folder{ending}").mkdir()
        asked = commands(folder, name + ending, [["run", "F"]] if ending == ".m2" else EVERY[:-1])
        for command, found in zip(asked, outcomes(asked, ended), strict=True):
            assert refused(found), (command, found)


@pytest.mark.parametrize("ending", [".json", ".csv", ".mtx", ".toml", ".py", ".jsonl"])
def test_a_file_of_20_gigabytes_is_refused_at_once(ending, folder):
    """It is a sparse one, and takes nothing on the disk."""
    path = folder / f"sparse{ending}"
    path.touch()
    os.truncate(path, 20 * 2**30)
    asked = {
        ".json": [*JSON, ["dimension", "F"]], ".csv": RANK, ".mtx": RANK, ".jsonl": LINES,
        ".toml": [*GRID, ["train", "F"], ["dimension", "F"]], ".py": [["dimension", f"{path}:network"]],
    }[ending]  # fmt: skip
    for command in commands(folder, path.name, asked):
        [found] = outcomes([command], ended)
        assert refused(found) and "more than" in found, (command, found)


def test_an_endless_standard_input_is_refused():
    with open("/dev/zero", "rb") as zeros:  # noqa: PTH123
        found = run("rank", "-", stdin=zeros)
    assert found.status == 2 and "standard input has more than 256 MiB" in found.err


def test_a_pipe_beside_a_checkpoint_is_not_waited_for(folder):
    (folder / "A.safetensors").write_bytes(_safetensors())
    os.mkfifo(folder / "config.json")
    os.mkfifo(folder / "model.safetensors")
    asked = [["classify", str(folder / "A.safetensors")], ["classify", str(folder)]]
    assert all(map(refused, outcomes(asked, ended)))


@pytest.mark.parametrize("kind", ["zeros", "noise", "header", "pipe", "folder"])
def test_a_cache_that_is_garbled_is_an_empty_one(kind, folder):
    kept = folder / "cache" / "cache.db"
    kept.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(kept)
    elif kind == "folder":
        kept.mkdir()
    else:
        noise = random.Random(0).randbytes(MB)
        kept.write_bytes({"zeros": bytes(MB), "noise": noise, "header": b"SQLite format 3\0" + noise}[kind])
    (folder / "A.toml").write_bytes(b'ask = "strata"\n' + ONE)
    asked = [["study", str(folder / "A.toml"), "--cache", str(kept.parent)]]
    [found] = outcomes(asked, ended)
    assert refused(found) if kind in ("pipe", "folder") else found == "0 1 job: 1 proved\n"
