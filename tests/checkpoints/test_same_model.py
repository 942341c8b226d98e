"""Copies of small random models under random symmetries are the same; copies with a mistake never are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn.checkpoints.folding import folded
from agattn.checkpoints.forward import logits
from agattn.checkpoints.same_model import compare_models
from agattn.checkpoints.symmetry import rotation_between
from agattn.errors import InputError
from tests.checkpoints.copies import FAMILIES, MISTAKES, can_have, mistaken_copy, symmetric_copy, transformer
from tests.checkpoints.many_copies import right_array

TEXT = (3, 1, 4, 1, 5, 9, 2, 6)


def like(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(a).max()))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_copy_has_the_same_logits(family):
    rng = np.random.default_rng(1)
    model = transformer(family, rng, "float64")
    copy = symmetric_copy(model, rng)
    assert like(logits(model, TEXT), logits(copy, TEXT))
    assert compare_models(model, copy).equivalent is True


@pytest.mark.parametrize("family", FAMILIES)
def test_a_folded_model_has_the_same_logits(family):
    model = transformer(family, np.random.default_rng(2), "float64")
    small = folded(model)
    blocks = [{part: block[part] for part in block} for block in small.blocks]
    ends = {part: small.ends[part] for part in small.ends}
    if model.facts.place == "post":
        # Readers are folded with the norm before them, and the norm stays in the stream.
        return
    assert like(logits(model, TEXT), logits(replace(small, blocks=blocks, ends=ends), TEXT))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_rounded_copy_is_the_same(family, dtype):
    rng = np.random.default_rng(3)
    model = transformer(family, rng, dtype)
    result = compare_models(model, symmetric_copy(model, rng))
    assert result.equivalent is True, result
    assert result.worst.residual < result.worst.bound
    assert result.status == 0 and len(result.layers) == 2


@pytest.mark.parametrize("kind", MISTAKES)
@pytest.mark.parametrize(
    "family", ["llama", "qwen2", "qwen3", "gemma2", "olmo2", "gpt2", "neox", "falcon", "bert"]
)
def test_a_mistake_is_found_and_its_array_named(family, kind):
    rng = np.random.default_rng(4)
    model = transformer(family, rng, "float32")
    if not can_have(model, kind):
        pytest.skip("there is no such array")
    copy, parts, layer = mistaken_copy(model, rng, kind)
    result = compare_models(model, copy)
    assert result.equivalent is False, result
    assert right_array(result, parts, layer), (parts, layer, result.first)
    gap = np.abs(logits(model, result.separating.tokens) - logits(copy, result.separating.tokens)).max()
    assert gap * (1 + 1e-9) >= result.separating.difference > result.separating.explained


def test_a_value_bias_that_was_not_rotated():
    rng = np.random.default_rng(5)
    model = transformer("qwen2", rng)
    copy = mistaken_copy(model, rng, "value bias")[0]
    text = str(compare_models(model, copy))
    assert "value bias of group" in text and "the bias is that of A, not rotated" in text


def test_the_document_and_the_screen():
    rng = np.random.default_rng(6)
    model = transformer("llama", rng)
    result = compare_models(model, symmetric_copy(model, rng), layer=1)
    document = result.to_dict()
    assert document["schema"] == "agattn/same-model/1" and document["separating"] is None
    assert [layer["layer"] for layer in document["layers"]] == [1]
    assert set(document["layers"][0]["residuals"]) == {"K", "Q", "V", "O", "gate", "up", "down"}
    assert sorted(document["layers"][0]["symmetry"]["heads"]) == [0, 1, 2, 3]


def turned_around(model):
    """A copy of a model with norms of sums, whose stream has the other sign from layer 0 to layer 1."""
    first, second = (dict(block) for block in model.blocks)
    for part in ("after perceptron.gain", "after perceptron.bias"):
        first[part] = -first[part]
    for part in ("Q", "K", "P", "O", "O.bias", "G", "D", "D.bias", "after attention.bias"):
        second[part] = -second[part]
    second["after perceptron.gain"] = -second["after perceptron.gain"]
    return replace(model, blocks=[first, second])


@pytest.mark.parametrize("family", ["llama", "bert"])
def test_one_layer_is_compared_in_the_basis_that_the_layers_before_leave(family):
    rng = np.random.default_rng(8)
    model = transformer(family, rng)
    copy = turned_around(model) if family == "bert" else symmetric_copy(model, rng)
    result = compare_models(model, copy, layer=1)
    assert result.equivalent and result.reason.startswith("of layer 1 alone, with nothing said of the rest")
    block: Any = copy.blocks[1]
    wrong = replace(copy, blocks=[copy.blocks[0], block | {"D": block["D"] * 1.01}])
    assert compare_models(model, wrong, layer=0).equivalent
    result = compare_models(model, wrong, layer=1)
    assert result.equivalent is not True and result.first is not None and "layer 1" in result.first


def test_other_kinds_of_models_are_refused():
    rng = np.random.default_rng(7)
    model, other = transformer("llama", rng), transformer("falcon", rng)
    with pytest.raises(InputError, match="norms are rms in A and layer in B"):
        compare_models(model, other)
    block: Any = model.blocks[1]
    blocks = [model.blocks[0], block | {"G": block["G"][1:]}]
    with pytest.raises(InputError, match="layer 1: 40 neurons in A and 39 in B"):
        compare_models(model, replace(model, blocks=blocks))
    with pytest.raises(InputError, match="A has 2 layers and B has 1"):
        compare_models(model, replace(model, blocks=model.blocks[:1], facts=model.facts))
    with pytest.raises(InputError, match="eps is 1e-05 in A and 1e-06 in B"):
        compare_models(model, replace(model, facts=replace(model.facts, eps=1e-6)))


def test_a_rotation_is_no_symmetry_where_norms_stand_behind():
    """The nearest thing that is not allowed changes the logits: O(d) with a gain behind the block."""
    rng = np.random.default_rng(8)
    model = transformer("olmo2", rng)
    R = np.linalg.qr(rng.standard_normal((24, 24)))[0]
    ends = {"E": model.ends["E"] @ R.T, "W": model.ends["W"] @ np.diag(model.ends["final.gain"]) @ R.T}
    ends["final.gain"] = np.ones(24)
    blocks = []
    for block in model.blocks:
        moved = dict(block)
        moved |= {part: block[part] @ R.T for part in "QKPGU"} | {part: R @ block[part] for part in "OD"}
        blocks.append(moved)
    result = compare_models(model, replace(model, ends=ends, blocks=blocks))
    assert result.equivalent is False and result.first.startswith("embedding")


@given(
    d=st.integers(2, 12),
    spread=st.floats(0, 3),
    dtype=st.sampled_from(["float64", "float32", "float16"]),
    centered=st.booleans(),
    seed=st.integers(0, 999),
)
def test_a_rotation_is_found_within_its_bound(d, spread, dtype, centered, seed):
    rng = np.random.default_rng(seed)
    E = rng.standard_normal((4 * d, d)) @ np.diag(10.0 ** rng.uniform(-spread, 0, d))
    R = np.linalg.qr(rng.standard_normal((d, d)))[0]
    if centered:
        B = np.linalg.qr(np.eye(d) - 1 / d)[0][:, :-1]  # columns span 1^⊥
        E, R = (E - E.mean(1, keepdims=True)), B @ np.linalg.qr(B.T @ R @ B)[0] @ B.T + 1 / d
    exact = E @ R.T
    stored = exact.astype(dtype).astype(float)
    found = rotation_between(E, stored, np.linalg.norm(stored - exact, axis=1), centered)
    arithmetic = 1e-13 * np.linalg.cond(E.T @ E + centered * np.trace(E.T @ E) / d**2)
    assert np.linalg.norm(found.matrix - R) <= found.error + arithmetic
    assert np.linalg.norm(found.matrix.T @ found.matrix - np.eye(d)) < 1e-12


def test_of_other_embeddings_the_rotation_is_the_nearest():
    rng = np.random.default_rng(5)
    E, E2 = rng.standard_normal((2, 24, 6))
    U, _, V = np.linalg.svd(E2.T @ E)
    assert np.allclose(rotation_between(E, E2, np.full(24, 1e-3), False).matrix, U @ V)
