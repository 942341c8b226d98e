"""Floats are as good as the type in which they are stored: copies, differences and ranks in each type."""

import json
from collections import Counter

import ml_dtypes
import numpy as np
import pytest
from command_line import call, document

import agattn as ag
from agattn.algebra.scalars import FLOATS, stored_type
from agattn.geometry.identifiability.weights import fiber, weights

TYPES = {
    "float64": np.float64, "float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16,
}  # fmt: skip
SHAPES = [(4, 3, 2), (8, 8, 4), (16, 4, 1), (32, 32, 8), (3, 2, 3), (64, 64, 64), (2, 1, 1), (6, 6, 5)]


def floats(M):
    return np.asarray(M, dtype=np.float64)


def change(rng, a):
    """An invertible matrix of condition at most 10."""
    U, W = (np.linalg.qr(rng.standard_normal((a, a)))[0] for _ in range(2))
    return U @ np.diag(np.geomspace(1, rng.uniform(1, 10), a)) @ W


def pairs(name, count=50):
    """Heads, their copies under a change of basis and a scale, rounded, and a generator."""
    rng, kind = np.random.default_rng(len(name)), TYPES[name]
    for n in range(count):
        d, out, a = SHAPES[n % len(SHAPES)]
        K, Q, V = (rng.standard_normal(shape).astype(kind) for shape in ((a, d), (a, d), (out, d)))
        C, s = change(rng, a), float(np.exp(rng.uniform(-1, 1)))
        copy = np.linalg.inv(C).T @ floats(K) * s, C @ floats(Q), floats(V) / s
        yield rng, {"K": K, "Q": Q, "V": V}, dict(zip("KQV", (M.astype(kind) for M in copy), strict=True))


@pytest.mark.parametrize("name", TYPES)
def test_copies_are_the_same_and_differences_are_seen(name):
    same, different = Counter(), Counter()
    for n, (rng, head, copy) in enumerate(pairs(name)):
        found = ag.equivalent(head, copy)
        assert found.dtype == name and found.residual < found.tolerance / 4
        same[found.equal] += 1
        letter = "KQV"[n % 3]
        M = floats(copy[letter])
        E = rng.standard_normal(M.shape)
        E *= 10 ** rng.uniform(1.05, 2.5) * found.tolerance * np.linalg.norm(M) / np.linalg.norm(E)
        moved = copy | {letter: (M + E).astype(TYPES[name])}
        different[ag.equivalent(head, moved).equal] += 1
    assert same[False] == 0 and same[True] >= 47
    assert different[True] == 0 and different[False] >= 47


def test_heads_that_have_nothing_in_common_differ_in_every_type():
    for name, kind in TYPES.items():
        rng = np.random.default_rng(1)
        for d, out, a in SHAPES:
            one, two = (
                {x: rng.standard_normal((out if x == "V" else a, d)).astype(kind) for x in "KQV"}
                for _ in range(2)
            )
            assert ag.equivalent(one, two).equal is False, name


def test_a_copy_in_float32_is_a_copy_in_the_shell(tmp_path):
    """Their distance is about 10⁻⁷, and float32 has 24 bits."""
    for n, (_, head, copy) in zip(range(8), pairs("float32"), strict=False):
        files = [tmp_path / f"{n}-{m}.npz" for m in range(2)]
        np.savez(files[0], **head)
        np.savez(files[1], **copy)
        found = document("equivalent", *files)
        assert found["equivalent"] and found["dtype"] == "float32" and found["margin"] >= 10
    shown = call("equivalent", *files).out
    assert "stored as float32; tolerance: " in shown and "; margin: " in shown


def test_within_a_factor_of_ten_nothing_is_decided(tmp_path):
    head = {x: np.eye(2, dtype=np.float32) for x in "KQV"}
    tolerance = ag.equivalent(head, head).tolerance
    for factor, status in ((0.02, 0), (0.5, 3), (2.0, 3), (50.0, 1)):
        moved = head | {"V": floats(head["V"]) + np.diag([factor * tolerance * np.sqrt(2)], 1)}
        for n, M in enumerate((head, moved)):
            np.savez(
                tmp_path / f"{n}.npz", **{x: np.asarray(M[x], np.float64 if n else np.float32) for x in M}
            )
        found = document("equivalent", tmp_path / "0.npz", tmp_path / "1.npz", status=status)
        assert (found["margin"] < 10) == (status == 3)


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_ranks_are_those_that_the_type_can_tell(name):
    """K of rank 3 with 8 rows, rounded: one threshold for all types made eight of them, or too few."""
    rng, kind = np.random.default_rng(3), TYPES[name]
    for _ in range(20):
        K = rng.standard_normal((8, 3)) @ rng.standard_normal((3, 16))
        Q, V = rng.standard_normal((8, 16)), rng.standard_normal((4, 16))
        head = {"K": K.astype(kind), "Q": Q.astype(kind), "V": V.astype(kind)}
        [found] = ag.classify(head)
        assert (found.r_v, found.r_a, found.r) == (4, 3, 7) and found.singular and found.dtype == name
        assert fiber(weights(**head)).ranks["r_a"].rank == 3
        assert found.margin >= 10 or name == "bfloat16"


def test_a_rank_that_is_not_safe_is_named(tmp_path):
    head = {"K": np.eye(3), "Q": np.diag([1, 1, 3e-6]), "V": np.eye(3)}
    np.savez(tmp_path / "w.npz", **{x: M.astype(np.float32) for x, M in head.items()})
    [found] = document("classify", tmp_path / "w.npz")["heads"]
    assert found["margin"] < 10 and found["dtype"] == "float32" and 0 < found["tolerance_a"] < 1e-5
    shown = " ".join(call("classify", tmp_path / "w.npz").out.split())
    assert "Stored as float32; tolerance" in shown and "Hang on less than a factor of 10" in shown
    said = call("fiber", tmp_path / "w.npz").out
    assert "stored as float32; tolerance" in said and "hangs on a factor of" in said
    assert document("fiber", tmp_path / "w.npz")["dtype"] == "float32"


def test_types_as_they_are_given(tmp_path):
    class Tensor:
        dtype = "torch.float16"

        def tolist(self):
            return [[0.5]]

    assert stored_type(Tensor()) == "float16" and stored_type([[0.5, 1]]) == "float64"
    assert stored_type(np.ones((1, 1), np.int32)) == stored_type([["1/3"]]) == "exact"
    assert [stored_type(np.ones((1, 1)).astype(kind)) for kind in TYPES.values()] == list(TYPES)
    assert list(FLOATS) == ["exact", *TYPES]
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"A": [[1, 2], [3, 4]], "V": [[1, "1/2"]]}))
    assert document("equivalent", path, path)["dtype"] == "exact"
    path.write_text(json.dumps({"A": [[1, 2], [3, 4]], "V": [[1, 0.5]]}))
    assert document("equivalent", path, path)["dtype"] == "float64"


def test_bfloat16_in_files_of_layers(tmp_path):
    """Read as float32, they are still no better than bfloat16; several heads and layers as well."""
    safetensors = pytest.importorskip("safetensors.numpy")
    rng = np.random.default_rng(0)
    shapes = ag.DeepNetwork((4, 4, 3), (2, 2), heads=(2, 1)).shapes
    exact = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    swapped = {name: M[::-1] for name, M in exact.items()}  # the heads of a layer in another order
    for name, arrays in (("one", exact), ("two", swapped)):
        stored = {x: np.ascontiguousarray(M).astype(ml_dtypes.bfloat16) for x, M in arrays.items()}
        safetensors.save_file(stored, tmp_path / f"{name}.safetensors")
    found = document("equivalent", tmp_path / "one.safetensors", tmp_path / "two.safetensors")
    assert found["dtype"] == "bfloat16" and found["equivalent"] and found["tolerance"] > 2**-8
