"""Copies of small random models under random symmetries are the same; copies with a mistake never are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open

from agattn.checkpoints.folding import folded
from agattn.checkpoints.forward import logits
from agattn.checkpoints.same_model import MEANINGS, compare_models, write_symmetry
from agattn.checkpoints.symmetry import rotation_between
from agattn.errors import InputError
from tests.checkpoints.copies import FAMILIES, MISTAKES, can_have, mistaken_copy, symmetric_copy, transformer
from tests.checkpoints.test_symmetries_of_models import (
    Copy,
    fold_and_rotate,
    fold_layer_norms_and_rotate,
    rotate,
)

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


@pytest.mark.parametrize("family", sorted({*FAMILIES} - {"bert", "encoder"}))
def test_a_folded_model_has_the_same_logits(family):
    """But for norms of sums: what reads is folded with the norm before it, which stays in the stream."""
    model = transformer(family, np.random.default_rng(2), "float64")
    assert like(logits(model, TEXT), logits(Copy(folded(model), 0).transformer(), TEXT))


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
    misfits = [check for check in result.checks if check.ratio > 1 and check.words == result.first]
    assert any(check.part in parts and check.layer == layer for check in misfits), (parts, layer, misfits)
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
    wrong = replace(copy, blocks=[copy.blocks[0], copy.blocks[1] | {"D": copy.blocks[1]["D"] * 1.01}])
    assert compare_models(model, wrong, layer=0).equivalent
    result = compare_models(model, wrong, layer=1)
    assert result.equivalent is not True and result.first is not None and "layer 1" in result.first


def with_outputs(model, layer, factors):
    """A copy in which the outputs of some heads of a layer have factors."""
    O = model.blocks[layer]["O"].copy()
    for head, factor in factors.items():
        O[head] *= factor
    blocks = [dict(block) for block in model.blocks]
    blocks[layer]["O"] = O
    return replace(model, blocks=blocks)


@pytest.mark.parametrize("family", FAMILIES)
def test_one_head_is_compared_in_the_basis_of_the_stream_with_its_outputs(family):
    """The head with a mistake is found, and only this one: the rest of its group, too, is the same."""
    rng = np.random.default_rng(9)
    model = transformer(family, rng, "float64")
    copy = symmetric_copy(model, rng)
    wrong = with_outputs(copy, 1, {2: 1.001})
    for head in range(4):
        assert compare_models(model, copy, 1, head).equivalent is True
        result = compare_models(model, wrong, 1, head)
        assert result.reason.startswith(f"of layer 1, head {head} alone")
        assert (result.equivalent, result.first) == (
            (False, "layer 1, outputs of head 2") if head == 2 else (True, None)
        )


def test_the_symmetry_of_one_head_is_that_of_this_head():
    rng = np.random.default_rng(10)
    model = transformer("llama", rng)
    copy = symmetric_copy(model, rng)
    whole, result = compare_models(model, copy), compare_models(model, copy, 0, 3)
    symmetry = result.layers[0].symmetry
    assert symmetry.heads == whole.layers[0].symmetry.heads[3:]
    assert symmetry.groups == whole.layers[0].symmetry.groups[1:]
    assert np.allclose(result.arrays["layers.0.values"], whole.arrays["layers.0.values"][1:])
    assert np.allclose(result.arrays["layers.0.pairs"], whole.arrays["layers.0.pairs"][1:])
    assert set(result.layers[0].residuals) == {"K", "Q", "V", "O"}
    [other] = symmetry.heads
    assert f"layer 0, head 3 alone, which is head {other} of A" in result.reason or other == 3


def test_a_layer_or_head_that_does_not_exist_is_refused():
    model = transformer("llama", np.random.default_rng(0))
    with pytest.raises(InputError, match="layer 1 of llama has heads 0 to 3, not 4"):
        compare_models(model, model, 1, 4)
    with pytest.raises(InputError, match="the models have layers 0 to 1, not 2"):
        compare_models(model, model, 2, 0)
    with pytest.raises(InputError, match="of which layer is this head"):
        compare_models(model, model, head=0)


def test_an_embedding_that_differs_is_no_matter_of_a_layer_that_is_the_same():
    model = transformer("gemma2", np.random.default_rng(11))
    E = model.ends["E"].copy()
    E[7] *= 1.5
    other = replace(model, ends=model.ends | {"E": E})
    assert compare_models(model, other).equivalent is False
    assert compare_models(model, other, 1).equivalent and compare_models(model, other, 1, 2).equivalent


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ({3: 1.002}, "outputs of head 3: all other arrays fit; it is 1.002 times"),
        ({0: 1.001, 3: 1.002}, "outputs of head 0, and of head 3: all other arrays fit; head 3: it is 1.002"),
        ({0: 1.001, 1: 0.99, 3: 1.002}, "outputs of head 0, of head 1, and of head 3: all other arrays fit"),
        (dict.fromkeys(range(4), 1.001) | {1: 1.1}, "outputs of 4 heads, the worst head 1: all other arrays"),
    ],
)
def test_all_heads_of_an_array_that_do_not_fit_are_named_or_counted(factors, words):
    model = transformer("llama", np.random.default_rng(12), "float64")
    result = compare_models(model, with_outputs(model, 1, factors))
    assert result.reason.startswith(f"layer 1, {words}")
    [check] = [check for check in result.checks if check.ratio > 1]
    assert check.misfits == len(factors) and result.first == check.words


def test_neurons_that_do_not_fit_are_counted_over_all_pieces_of_an_array(monkeypatch):
    monkeypatch.setattr("agattn.checkpoints.folding.PIECE", 24 * 10)
    model = transformer("gpt2", np.random.default_rng(13), "float64")
    blocks = [dict(block) for block in model.blocks]
    blocks[0]["D"] = blocks[0]["D"] * np.where(np.isin(np.arange(40), [3, 27]), 1.01, 1.0)
    result = compare_models(model, replace(model, blocks=blocks))
    assert result.reason.startswith("layer 0, down of neuron 3, and of neuron 27: all other arrays fit")


def arrays_of(path):
    """What the safetensors package reads of a file: its metadata, and its arrays."""
    with safe_open(path, "np") as file:
        return file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


@pytest.mark.parametrize("family", ["llama", "phi3", "gpt2", "opt", "falcon"])
def test_a_symmetry_acts_as_its_file_says(family, tmp_path):
    """The products that the metadata tell of, written out, take folded A to folded B."""
    rng = np.random.default_rng(14)
    model = transformer(family, rng, "float64")
    copy = symmetric_copy(model, rng)
    write_symmetry(tmp_path / "s.safetensors", compare_models(model, copy).arrays)
    meanings, S = arrays_of(tmp_path / "s.safetensors")
    assert {name.removeprefix("layers.N.") for name in meanings} <= {"what", *MEANINGS}
    assert {re.sub(r"layers\.\d", "layers.N", name) for name in S} == set(meanings) - {"what"}
    R = S["basis"] if "basis" in S else np.eye(24)[S["basis.order"]] * S["basis.signs"][:, None]
    A, B = folded(model), folded(copy)
    assert all(like(B.ends[part], A.ends[part] @ R.T) for part in "EW")
    for n, (a, b) in enumerate(zip(A.blocks, B.blocks, strict=True)):
        of = {name.removeprefix(f"layers.{n}."): array for name, array in S.items()}
        groups, heads = of["groups"], of["heads"]
        K, Q, P, O = a["K"][groups] @ R.T, a["Q"][heads] @ R.T, a["P"][groups] @ R.T, R @ a["O"][heads]
        M = of["values"]
        assert like(b["P"], M @ P) and like(b["O"], O @ np.repeat(np.linalg.inv(M), 2, 0))
        turning = 2 * len(model.facts.angles[n]) if model.facts.angles else 0
        p = turning // 2
        if turning:
            c = of["pairs"] @ np.array([1, 1j])
            pairs = [x[:, :p] + 1j * x[:, p:turning] for x in (K, b["K"], Q, b["Q"])]
            assert like(pairs[1], c[..., None] * pairs[0])
            assert like(pairs[3], pairs[2] / np.repeat(c, 2, 0).conj()[..., None])
        if turning < K.shape[1]:
            M = of["keys"]
            assert like(b["K"][:, turning:], M @ K[:, turning:])
            back = np.repeat(np.linalg.inv(M).swapaxes(1, 2), 2, 0)
            assert like(b["Q"][:, turning:], back @ Q[:, turning:])
        order, s = of["neurons"], of["scales"][:, None]
        assert like(b["G"], a["G"][order] @ R.T * (s if model.facts.activation == "relu" else 1))
        assert like(b["D"], R @ a["D"][:, order] / s.T)
        if "U" in b:
            assert like(b["U"], s * (a["U"][order] @ R.T))


def test_the_page_explains_each_name_of_a_symmetry():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    table = page.partition("## The file of a symmetry")[2]
    first = "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    assert set(re.findall("`([a-z.]+)`", first)) == set(MEANINGS)


def test_other_kinds_of_models_are_refused():
    rng = np.random.default_rng(7)
    model, other = transformer("llama", rng), transformer("falcon", rng)
    with pytest.raises(InputError, match="norms are rms in A and layer in B"):
        compare_models(model, other)
    blocks = [model.blocks[0], model.blocks[1] | {"G": model.blocks[1]["G"][1:]}]
    with pytest.raises(InputError, match="layer 1: 40 neurons in A and 39 in B"):
        compare_models(model, replace(model, blocks=blocks))
    with pytest.raises(InputError, match="A has 2 layers and B has 1"):
        compare_models(model, replace(model, blocks=model.blocks[:1], facts=model.facts))
    with pytest.raises(InputError, match="eps is 1e-05 in A and 1e-06 in B"):
        compare_models(model, replace(model, facts=replace(model.facts, eps=1e-6)))


@pytest.mark.parametrize(
    ("family", "rewrite", "first"),
    [
        ("olmo2", fold_and_rotate, "embedding"),  # gains stand behind the halves
        ("llama", rotate, "layer 0, keys of group"),  # gains that were not folded
        ("bigcode", fold_layer_norms_and_rotate, "embedding"),  # (1, ..., 1) is moved
    ],
)
def test_a_rotation_that_is_no_symmetry_is_seen(family, rewrite, first):
    model = transformer(family, np.random.default_rng(8))
    copy = Copy(replace(model, ends=dict(model.ends)), 2)
    rewrite(copy)
    result = compare_models(model, copy.transformer())
    assert result.equivalent is False and result.first.startswith(first)


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
