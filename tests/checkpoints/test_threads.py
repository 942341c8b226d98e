"""Threads: the same bytes as by one, in order, and no more of them than the memory allows."""

import numpy as np
import pytest
from command_line import call

from agattn.checkpoints import folding, symmetry
from agattn.checkpoints.array_checks import Checks
from agattn.checkpoints.same_model import compare_models
from tests.checkpoints.copies import FAMILIES, mistaken_copy, symmetric_copy, transformer
from tests.checkpoints.tiny import tiny


@pytest.fixture
def in_small_pieces(monkeypatch):
    """Let arrays of a tiny model have many pieces."""
    monkeypatch.setattr(folding, "PIECE", 128)
    monkeypatch.setattr(symmetry, "BLOCK", 5)


def written(folder, number):
    """What commands print of a model, and the files that they write, by so many threads."""
    to = folder.parent / number
    commands = [f"classify {folder}", f"canonical {folder} -O {to}/canonical"]
    if "qwen3" not in str(folder):  # which normalizes keys
        commands.append(f"convert {folder} --kv-heads 1 -O {to}/converted")
    ended = [call(*command.split(), "--json", "--workers", number) for command in commands]
    assert {each.status for each in ended} == {0}, ended
    files = {str(path.relative_to(to)): path.read_bytes() for path in to.rglob("*") if path.is_file()}
    return [each.out for each in ended], files


@pytest.mark.parametrize("family", ["llama", "qwen3", "gpt2", "gemma2", "bert"])
def test_one_thread_and_three_write_the_same_bytes(family, tmp_path, in_small_pieces):
    A = tiny(family, tmp_path / family)
    one, three = written(A, "1"), written(A, "3")
    assert one == three and "canonical/model.safetensors" in one[1]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("changed", [False, True])
def test_one_thread_and_three_compare_alike(family, changed, in_small_pieces):
    rng = np.random.default_rng(3)
    A = transformer(family, rng)
    B = symmetric_copy(A, rng)
    if changed:
        B = mistaken_copy(B, rng, "neuron")[0]
    one, three = (compare_models(A, B, workers=number) for number in (1, 3))
    assert one.as_json() == three.as_json() and one.equivalent == (not changed)
    assert one.arrays.keys() == three.arrays.keys()
    assert all(one.arrays[name].tobytes() == three.arrays[name].tobytes() for name in one.arrays)


def test_comparisons_are_the_same_in_whichever_order_pieces_come():
    rng = np.random.default_rng(0)
    expected, actual = rng.standard_normal((2, 9, 4)).round()
    actual[3], expected[3], expected[7] = actual[7], 50, 50  # two pieces that are equally bad
    every = []
    for order in (range(9), reversed(range(9))):
        checks = Checks()
        for n in order:
            at = slice(n, n + 1)
            checks.add(0, "U", "neuron", expected[at], actual[at], np.full(1, 1.0), n)
        (check,) = checks.all.values()
        every.append(check._replace(expected=None, actual=None))
    assert every[0] == every[1] and every[0].misfits > 1


def test_more_workers_than_memory_are_told_and_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr("agattn.memory.available", lambda: 5 * 2**27)
    ended = call("equivalent", *[tiny("llama", tmp_path / "A")] * 2, "--workers", "3")
    assert ended.status == 0
    assert ended.err.splitlines() == [
        "arrays: 3 workers need up to 768 MiB of memory, and 640 MiB are free; 2 are used"
    ]
