"""What a bad call is answered with: every row of ``bad_calls.txt``, where there is no engine to ask."""

import json
import math
import re
import shlex
from functools import cache
from pathlib import Path
from typing import NamedTuple

import command_line
import numpy as np
import pytest
import sympy
from command_line import ROOT

import agattn as ag
from agattn.cli.commands import COMMANDS
from agattn.cli.main import cli
from agattn.cli.output import Destination
from agattn.geometry.identifiability import at_weights

TABLE = Path(__file__).with_name("bad_calls.txt")
#: A call of the shell, and the status with which it ends where that is not 2.
SHELL = re.compile(r"\$ agattn ?(.*?)(?: +# exit status (\d))?")
#: Libraries that need not be installed, and how a row is known that needs one.
NEEDED = {"safetensors": ".safetensors", "diskcache": "$ agattn study", "matplotlib": "$ agattn report"}


class Row(NamedTuple):
    """A bad call, as it is written in the table, and the whole message."""

    call: str
    message: str


def table() -> list[Row]:
    """The paragraphs of the table: calls, and the message that they have in common, if there is one."""
    found = []
    for paragraph in TABLE.read_text(encoding="utf-8").split("\n\n"):
        message = " ".join(re.findall(r"^  (.*)$", paragraph, re.MULTILINE))
        calls = re.findall(r"^(?:\$|>>>) .*(?:\n\.\.\. .*)*$", paragraph, re.MULTILINE)
        found += [Row(call, message) for call in calls]
    return found


ROWS = [row for row in table() if row.message]


@cache
def names() -> dict[str, object]:
    """What calls of Python in the table can name."""
    found = {
        "ag": ag,
        "math": math,
        "np": np,
        "sympy": sympy,
        "configs": json.loads((ROOT / "tests/heads/configs.json").read_text()),
    }
    for row in table():
        if not row.message:
            exec(python(row.call), found)
    return found


def python(call: str) -> str:
    """The code of a call of Python."""
    return re.sub(r"^(>>>|\.\.\.) ", "", call, flags=re.MULTILINE)


def answer(call: str) -> str:
    """What a call is answered with, if it ends as the table says."""
    if call.startswith(">>>"):
        with pytest.raises(Exception) as caught:
            eval(python(call), names())
        kind = call.partition("  # ")[2] or "InputError"
        assert type(caught.value).__name__ == kind and "--" not in str(caught.value)
        return caught.value.args[0]
    words, status = SHELL.fullmatch(call).groups()
    ended = command_line.call(*shlex.split(words))
    assert (ended.status, ended.out) == (int(status or 2), ""), ended
    assert ended.err.startswith("agattn: ") and ended.err.endswith("\n"), ended
    return ended.err.removeprefix("agattn: ").removesuffix("\n")


def head(out: int = 2, **more: object) -> str:
    """The lines of a model file about one head."""
    keys = {"out": out, "rank": 2, **more}
    return '[[layer]]\ntype = "attention"\n' + "".join(f"{k} = {json.dumps(v)}\n" for k, v in keys.items())


def tensors(kind: str, size: int, *names: str) -> bytes:
    """A file of safetensors, with matrices of four entries, each of them 0 and of a number of bytes."""
    table = {
        name: {"dtype": kind, "shape": [2, 2], "data_offsets": [4 * size * n, 4 * size * (n + 1)]}
        for n, name in enumerate(names)
    }
    header = json.dumps(table).encode()
    return len(header).to_bytes(8, "little") + header + bytes(4 * size * len(names))


QUERIES, KEYS, VALUES = (f"model.layers.0.self_attn.{letter}_proj.weight" for letter in "qkv")
MARKET = "%%MatrixMarket matrix coordinate integer general\n"
SUMS = '[input]\ndim = 3\n[[layer]]\ntype = "perceptron"\nwidths = [5, 1]\ndegree = 4\n'
PROGRAM = """\
import agattn as ag
def twisted(s):
    return [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3]
cubic = ag.PolynomialMap(twisted, {"s": 2})
"""
GRID = 'ask = "ASK"\n[[models]]\n[models.input]\ndim = 3\n[[models.layer]]\ntype = "perceptron"\nKEY = 4\n'
TEXTS = {
    # Models and studies.
    "sums.toml": SUMS,
    "softmax.toml": f"[input]\ndim = 3\ntokens = 2\n{head(normalization='softmax')}"
    '[[layer]]\ntype = "power"\ndegree = 2\n',
    "deep.toml": "[input]\ndim = 3\ntokens = 3\n" + 2 * head(3),
    "models/cubic.py": PROGRAM,
    "models/sums.toml": SUMS,
    "grid.toml": 'ask = "strata"\n[layers]\nd = 2\nd_out = 1\n',
    "strata-of-models.toml": GRID.replace("ASK", "strata").replace("KEY", "widths = [5, 1]\ndegree"),
    "degre.toml": GRID.replace("ASK", "dimension").replace("KEY", "degre"),
    "latin.toml": b"\xff\xfe",
    "results.jsonl": "nothing\n",
    # Matrices.
    "matrix": "1",
    "matrix.txt": "1",
    "matrix.json": "[[1, 2], [3, 4]]",
    "nonsense.npy": b"nonsense",
    "empty.npy": b"",
    "nonsense.npz": b"PK nonsense",
    "ragged.csv": "1,2\n3\n",
    "letter.csv": "1,x\n",
    "gap.csv": "1,\n",
    "nan.csv": "nan\n",
    "latin.csv": b"\xff\xfe",
    "complex.csv": "1+2j\n",
    "empty.csv": "",
    "code.csv": "__import__('os')\n",
    "ragged.json": "[[1, 2], [3]]",
    "nan.json": "[[NaN]]",
    "open.json": "{",
    "null.json": "[[1, null]]",
    "true.json": "[[true]]",
    "list.json": "[1, 2]",
    "nested.json": "[" * 100_000,
    "rows.json": '{"rows": []}',
    "five.json": "5",
    "zero-denominator.json": '[["1/0"]]',
    "exponent.json": "[[1e999999999]]",
    "sizes-alone.mtx": "1 2 3\n",
    "beyond.mtx": MARKET + "2 2 1\n3 1 1\n",
    "short.mtx": MARKET + "2 2 2\n1 1 1\n",
    "two-sizes.mtx": MARKET + "2 2\n",
    "twice.mtx": MARKET + "2 2 2\n1 1 1\n1 1 2\n",
    "no-sizes.mtx": MARKET,
    "complex.mtx": "%%MatrixMarket matrix array complex general\n1 1\n1 1\n",
    "hermitian.mtx": "%%MatrixMarket matrix array real hermitian\n1 1\n1\n",
    # Certificates, scripts, and points of engines.
    "no.json": "no JSON",
    "nothing.json": "{}",
    "y-of-two.json": '{"y": [1, 2]}',
    "y-number.json": '{"y": 3}',
    "y-float.json": '{"y": [1, 0, 1, 0, 0, 0.5]}',
    "x.json": '{"x": []}',
    "over-101.json": '{"A": [["1/101", 0], [0, 1]], "V": [[1, 0]]}',
    "over-202.json": '{"A": [["3/202", 0], [0, 1]], "V": [[1, 0]]}',
    # Weights and data.
    "weights.json": '{"K": [[1, "1/2"]], "Q": [[0, 3]], "V": [[1, 0], [2, 0]]}',
    "head.json": '{"A": [[1, 0], [0, 1]], "V": [[1, 2]]}',
    "zero.json": '{"A": [[0, 0], [0, 0]], "V": [[1, 2]]}',
    "dependent.json": '{"K": [[1, 0]], "Q": [[2, 0]], "V": [[1, 1]]}',
    "one.json": '{"A": [[1]], "V": [[1]]}',
    "no-q.json": '{"K": [[1]], "V": [[1]]}',
    "no-v.json": '{"A": [[1]]}',
    "oblong.json": '{"A": [[1, 2]], "V": [[1, 2]]}',
    "v-nan.json": '{"A": [[1]], "V": [["nan"]]}',
    "flat.json": '{"A": [], "V": []}',
    "code.json": '{"A": [[1]], "V": [["__import__"]]}',
    "string.json": '"A"',
    "stack.json": '{"A": [[[1, 0], [0, 0]], [[0, 1], [1, 0]]], "V": [[[1, 2]], [[3, 4]]]}',
    "layers.json": '{"A_1": [[1]], "V_1": [[2]], "A_2": [[3]], "V_2": [[5]]}',
    "network.json": '{"K_1": [[1, 0]], "Q_1": [[1, 1]], "V_1": [[1, 2], [3, 4]]}',
    "deep.json": '{"A_1": [[1, 2], [2, 4]], "V_1": [[1, 0], [0, 1]], "A_2": [[1, 1], [0, 1]], '
    '"V_2": [[1, 5]]}',
    "wide.json": json.dumps({"A": np.eye(4).tolist(), "V": np.eye(4).tolist()}),
    "sums-nan.json": json.dumps({"W_1_1": [["nan", 0, 0]] * 5, "W_1_2": [[1] * 5]}),
    "no-y.json": json.dumps({"X": [[[1, 0], [2, 1]], [[0, 3], [1, 1]], [[2, 1], [-1, 4]]]}),
    "other.bin": b"\x80\x04",
    "header.safetensors": (2**62).to_bytes(8, "little") + b"{}",
    "cut.safetensors": tensors("F64", 8, "A", "V")[:-8],
    "fp8.safetensors": tensors("F8_E4M3", 1, QUERIES, KEYS, VALUES),
    # Configurations.
    "gpt2.json": '{"model_type": "gpt2"}',
    "own.json": '{"model_type": "own", "kv_x": 1}',
    "family/config.json": '{"model_type": "own", "n_embd": 2, "n_head": 1, "n_layer": 1, "kv_strange": 1}',
    "checkpoint/config.json": '{"model_type": "gpt2", "n_head": 2, "n_embd": 8, "n_layer": 2}',
}


class Malice:
    def __reduce__(self):
        return print, ("this must never be printed",)


OBJECTS = np.array([[Malice()]], dtype=object)
WHOLE = {name: np.ones((2, 2), np.int8) for name in (QUERIES, KEYS, VALUES)}
#: Files of numpy's: one array, or several by their names.
ARRAYS = {
    "objects.npy": OBJECTS,
    "objects.npz": {"A": OBJECTS, "V": np.eye(1)},
    "complex.npy": np.array([[1j]]),
    "nan.npy": np.array([[np.nan]]),
    "infinite.npy": np.array([[1, np.inf]]),
    "vector.npy": np.zeros(3),
    "letters.npy": np.array([["x"]]),
    "two.npz": {"a": np.eye(2), "b": np.eye(2)},
    "nan.npz": {"A": np.array([[np.nan]]), "V": np.eye(1)},
    "sizes.npz": {"A": np.eye(3), "V": np.eye(2)},
    "names.npz": {"weight": np.eye(3)},
    "letters.npz": {"A": np.array([["x"]]), "V": np.eye(1)},
    "data-nan.npz": {"X": np.full((1, 2, 2), np.nan), "Y": np.zeros((1, 1, 2))},
    "cut.npy": np.eye(9),
    "cut.npz": {"A": np.eye(9), "V": np.eye(9)},
    "integers.npz": WHOLE,
    "packed.npz": {name.replace("weight", "qweight"): np.ones((2, 4), np.int32) for name in WHOLE},
    **{
        f"quantized-{scale}.npz": WHOLE | {KEYS.replace("weight", scale): np.ones(2)}
        for scale in ("SCB", "weight.absmax", "scales", "weight_scale", "weight_scale_inv")
    },
    "family/model.npz": {"h.0.attn.c_attn.weight": np.zeros((2, 6))},
    "square.npz": {"h.0.attn.c_attn.weight": np.zeros((36, 24))},
    "checkpoint/model.npz": {f"h.{n}.attn.c_attn.weight": np.zeros((8, 24)) for n in range(2)},
}


def with_type(kind: str) -> bytes:
    """A file of numpy's with this type of its entries."""
    header = f"{{'descr': {kind}, 'fortran_order': False, 'shape': (2, 2), }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)


TYPES = {"tuple": "()", "text": "''", "none": "None", "field": "('<f8',)", "list": "[]", "dict": "{}",
         "void": "'V0'", "bytes": "'S0'"}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that rows name."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "examples").symlink_to(ROOT / "examples")
    for name, content in {**TEXTS, **{f"type-{name}.npy": with_type(TYPES[name]) for name in TYPES}}.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for name, content in ARRAYS.items():
        if isinstance(content, dict):
            np.savez(folder / name, **content)
        else:
            np.save(folder / name, content, allow_pickle=True)
    for name in ("cut.npy", "cut.npz"):
        (folder / name).write_bytes((folder / name).read_bytes()[:-200])
    return folder


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.call[:80])
def test_a_bad_call_gets_its_message(row, folder, fakes, monkeypatch):
    for library, mark in NEEDED.items():
        if mark in row.call:
            pytest.importorskip(library)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("AGATTN_CACHE", str(folder / "cache"))
    monkeypatch.setattr(at_weights, "GeneralStudy", None)  # weights are looked at before the work
    before = sorted(folder.iterdir())
    expected, found = row.message.replace("FOLDER", str(folder)), answer(row.call)
    assert found == expected or re.fullmatch(re.escape(expected).replace(r"\.\.\.", ".*"), found)
    assert sorted(folder.iterdir()) == before


def test_every_option_that_writes_has_a_row():
    """Each is refused before the arguments that the command needs are looked at."""
    rows = {tuple(row.call.split()[2:-1]) for row in ROWS if row.message.startswith("cannot write matrix/x")}
    for command in COMMANDS:
        for option in cli.get_command(None, command).params:
            assert not isinstance(option.type, Destination) or (command, option.opts[0]) in rows
