"""The files that rows of ``bad_calls.txt`` name: most of them are wrong in one place."""

import io
import json

import numpy as np


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


def saved(content: object) -> bytes:
    """A file of numpy's: one array, or several by their names."""
    file = io.BytesIO()
    if isinstance(content, dict):
        np.savez(file, **content)
    else:
        np.save(file, content, allow_pickle=True)
    return file.getvalue()


def with_type(kind: str) -> bytes:
    """A file of numpy's with this type of its entries."""
    header = f"{{'descr': {kind}, 'fortran_order': False, 'shape': (2, 2), }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)


class Malice:
    def __reduce__(self):
        return print, ("this must never be printed",)


QUERIES, KEYS, VALUES = (f"model.layers.0.self_attn.{letter}_proj.weight" for letter in "qkv")
OBJECTS = np.array([[Malice()]], dtype=object)
WHOLE = {name: np.ones((2, 2), np.int8) for name in (QUERIES, KEYS, VALUES)}
MARKET = "%%MatrixMarket matrix coordinate integer general\n"
SUMS = '[input]\ndim = 3\n[[layer]]\ntype = "perceptron"\nwidths = [5, 1]\ndegree = 4\n'
PROGRAM = """\
import agattn as ag
def twisted(s):
    return [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3]
cubic = ag.PolynomialMap(twisted, {"s": 2})
"""
GRID = 'ask = "ASK"\n[[models]]\n[models.input]\ndim = 3\n[[models.layer]]\ntype = "perceptron"\nKEY = 4\n'
FILES = {
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
    "open.toml": "d = ",
    "nested.toml": "x = " + "[" * 5000,
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
    "radius.csv": "1,0.3 +/- 5e-4\n",
    "radius.json": '[["0.5±0.1"]]',
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
    # Arrays.
    "type-tuple.npy": with_type("()"),
    "type-text.npy": with_type("''"),
    "type-none.npy": with_type("None"),
    "type-field.npy": with_type("('<f8',)"),
    "type-list.npy": with_type("[]"),
    "type-dict.npy": with_type("{}"),
    "type-void.npy": with_type("'V0'"),
    "type-bytes.npy": with_type("'S0'"),
    "objects.npy": saved(OBJECTS),
    "objects.npz": saved({"A": OBJECTS, "V": np.eye(1)}),
    "complex.npy": saved(np.array([[1j]])),
    "nan.npy": saved(np.array([[np.nan]])),
    "infinite.npy": saved(np.array([[1, np.inf]])),
    "vector.npy": saved(np.zeros(3)),
    "letters.npy": saved(np.array([["x"]])),
    "two.npz": saved({"a": np.eye(2), "b": np.eye(2)}),
    "nan.npz": saved({"A": np.array([[np.nan]]), "V": np.eye(1)}),
    "sizes.npz": saved({"A": np.eye(3), "V": np.eye(2)}),
    "names.npz": saved({"weight": np.eye(3)}),
    "letters.npz": saved({"A": np.array([["x"]]), "V": np.eye(1)}),
    "data-nan.npz": saved({"X": np.full((1, 2, 2), np.nan), "Y": np.zeros((1, 1, 2))}),
    "cut.npy": saved(np.eye(9))[:-200],
    "cut.npz": saved({"A": np.eye(9), "V": np.eye(9)})[:-200],
    "integers.npz": saved(WHOLE),
    "packed.npz": saved({name.replace("weight", "qweight"): np.ones((2, 4), np.int32) for name in WHOLE}),
    **{
        f"quantized-{scale}.npz": saved(WHOLE | {KEYS.replace("weight", scale): np.ones(2)})
        for scale in ("SCB", "weight.absmax", "scales", "weight_scale", "weight_scale_inv")
    },
    "family/model.npz": saved({"h.0.attn.c_attn.weight": np.zeros((2, 6))}),
    "square.npz": saved({"h.0.attn.c_attn.weight": np.zeros((36, 24))}),
    "checkpoint/model.npz": saved({f"h.{n}.attn.c_attn.weight": np.zeros((8, 24)) for n in range(2)}),
}
