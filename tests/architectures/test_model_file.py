"""Model files: what they mean, the schema of their documents, and one clear line for each mistake."""

from dataclasses import MISSING, fields

import pytest

import agattn as ag
from agattn.architectures.layers import LAYERS
from agattn.architectures.model_file import read_model, read_toml
from agattn.sheet.result import check, schema

BLOCK = """
[input]
dim = 4
tokens = 3

[[layer]]
type = "attention"
out = 4
rank = 2
heads = 2
value_rank = 1
mask = "causal"
rotary = true
skip = true
normalization = "none"

[[layer]]
type = "skip"
[[layer.layer]]
type = "linear"
out = 3
bias = true
[[layer.layer]]
type = "power"
degree = 2
[[layer.layer]]
type = "perceptron"
widths = [2, 4]
degree = 3

[[layer]]
type = "attention"
out = 2
rank = 1
mask = [[1, 0, 0], [1, 1, 0], [1, 0, 1]]

[[layer]]
type = "convolution"
filter = 2
stride = 1
channels = 2
degree = 2

[[layer]]
type = "sum"
"""


def test_every_type_and_key():
    network = read_toml(BLOCK, "block.toml")
    assert network == ag.Network(
        [
            ag.Attention(4, 2, 2, 1, "causal", True, True),
            ag.Skip([ag.Linear(3, bias=True), ag.Power(2), ag.Perceptron([2, 4], 3)]),
            ag.Attention(2, 1, mask=[[1, 0, 0], [1, 1, 0], [1, 0, 1]]),
            ag.Convolution(2, 2, channels=2),
            ag.Sum(),
        ],
        dim=4,
        tokens=3,
    )
    check(ag.Network, network.as_json())


def test_the_schema_has_the_keys_and_defaults_of_the_layers():
    described = schema(ag.Network)["$defs"]
    for name, kind in LAYERS.items():
        known = {one.name: one.default for one in fields(kind)}
        found = described[kind.__name__]
        keys = {key: value for key, value in found["properties"].items() if key != "type"}
        required = set(found["required"]) - {"type"}
        assert found["properties"]["type"]["enum"] == [name]
        assert {key: MISSING if key in required else value["default"] for key, value in keys.items()} == known
        assert all(value["description"] for value in keys.values())


PROGRAM = """
import agattn as ag
from helper import WIDTH

network = ag.Network([ag.Linear(WIDTH)], 2)
number = 3

def attention(A, V, X):
    return V @ X @ X.T @ A @ X

def layer():
    return ag.PolynomialMap(attention, {"A": (2, 2), "V": (1, 2)}, (2, 2))

def broken():
    return 1 / 0

def unfit():
    return ag.Network([ag.Linear(0)], 2)

constant = ag.Network([ag.Power(2)], 2)

if __name__ == "__main__":
    raise SystemExit("this is not run")
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "helper.py").write_text("WIDTH = 4\n")
    (tmp_path / "models.py").write_text(PROGRAM)
    (tmp_path / "raises.py").write_text("x = 1\nraise ValueError('no\\nluck')\n")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    (tmp_path / "syntax.py").write_text("x = 1\nx = = 2\n")
    (tmp_path / "latin.toml").write_bytes(b"\xe9")
    return tmp_path


def test_programs(program, monkeypatch):
    assert read_model(f"{program}/models.py:network") == ag.Network([ag.Linear(4)], 2)
    made = read_model(f"{program}/models.py:layer")
    assert (made.output_shape, ag.dimension(made).dimension) == ((1, 2), 5)
    with pytest.raises(ag.InputError, match=r"models.py, line 15: ZeroDivisionError: division by zero"):
        read_model(f"{program}/models.py:broken")
    monkeypatch.chdir(program)
    with pytest.raises(ag.InputError, match=r"^raises\.py, line 2: ValueError"):
        read_model("raises.py:x")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("models.py:networks", "has no networks; did you mean 'network'?"),
        ("models.py:", "has no name given; there are ag, WIDTH, network"),
        ("models.py", "is a program; say which name in it is the model"),
        ("models.py:number", "number is 3, which is no architecture; give an ag.Network"),
        ("models.py:attention", "attention is a function of A, V, X; name an architecture"),
        ("models.py:unfit", "models.py: out is 0"),
        ("models.py:constant", "models.py: 2×1 → power 2 has no parameters"),
        ("raises.py:x", "raises.py, line 2: ValueError: no luck"),
        ("leaves.py:x", "leaves.py, line 2: SystemExit: 3"),
        ("syntax.py:x", "syntax.py, line 2: invalid syntax"),
        ("nothing.py:x", "nothing.py.*there is no such file"),
        ("nothing.toml", "nothing.toml.*there is no such file"),
        ("latin.toml", "is not UTF-8 text"),
        ("model.yaml", "model.yaml.*there is no such file; did you mean .*models.py"),
    ],
)  # fmt: skip
def test_one_line_for_what_cannot_be_read(program, name, message):
    with pytest.raises(ag.InputError, match=message) as caught:
        read_model(f"{program}/{name}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("deep", "read"), [(19, True), (20, True), (21, False)])
def test_skips_inside_of_each_other_have_an_end(deep, read):
    heads = [f'[[{".".join(["layer"] * n)}]]\ntype = "skip"\n' for n in range(1, deep + 1)]
    inner = f'[[{".".join(["layer"] * (deep + 1))}]]\ntype = "linear"\nout = 1\n'
    text = "".join(["[input]\ndim = 1\ntokens = 1\n", *heads, inner])
    if read:
        assert read_toml(text, "deep.toml").parameters == 1
    else:
        with pytest.raises(ag.InputError, match="there are more than 20 layers inside of each other"):
            read_toml(text, "deep.toml")
