"""Distances of models: none of copies, that of the heads of others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import call, document
from hypothesis import given, settings
from hypothesis import strategies as st

from agattn.checkpoints.folding import folded
from agattn.checkpoints.model_distance import ModelDistance, heads_of, inner_scores, model_distance
from agattn.checkpoints.stored import Transformer
from agattn.errors import InputError
from agattn.sheet.result import check
from tests.checkpoints import copies
from tests.checkpoints.copies import FAMILIES, symmetric_copy, transformer
from tests.checkpoints.tiny import tiny


def largest(distance: ModelDistance) -> float:
    heads = (head for layer in distance.layers for head in layer.heads)
    of_layers = [max(layer.scores, layer.values) for layer in distance.layers]
    return max([*of_layers, *(max(head.scores, head.values) for head in heads)])


@given(st.sampled_from(sorted(FAMILIES)), st.sampled_from(["float32", "float64"]), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_copies_are_near(family: str, dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = transformer(family, rng, dtype)
    assert largest(model_distance(model, symmetric_copy(model, rng))) < 1e-6


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_heads_are_matched(family: str) -> None:
    rng = np.random.default_rng(1)
    model = transformer(family, rng, "float64")
    copy, moves = copies._moved(model, rng)
    for layer, moved in zip(model_distance(model, copy).layers, moves, strict=True):
        assert [moved["heads"][head.b] for head in layer.heads] == [head.a for head in layer.heads]


@pytest.mark.parametrize("family", ["llama", "qwen3", "neox", "olmo2", "gpt2", "bert"])
def test_a_perturbed_model_is_as_far_as_it_was_moved(family: str) -> None:
    rng = np.random.default_rng(2)
    model = transformer(family, rng, "float64")
    noise = [{part: rng.standard_normal(block[part].shape) for part in "QP"} for block in model.blocks]
    copy = symmetric_copy(model, np.random.default_rng(3))
    distances = []
    for size in (1e-4, 1e-3, 1e-2, 1e-1):
        blocks = [
            {part: block[part] * (1 + size * N[part]) if part in N else block[part] for part in block}
            for block, N in zip(copy.blocks, noise, strict=True)
        ]
        [first, _] = model_distance(model, replace(copy, blocks=blocks)).layers
        assert 0.5 * size < first.scores < 2 * size
        assert 0.5 * size < first.values < 2 * size
        distances.append(first.scores)
    assert distances == sorted(distances)


@pytest.mark.parametrize(("family", "p"), [("opt", 0), ("phi3", 2), ("llama", 4)])
def test_scores_are_those_of_the_whole_matrices(family: str, p: int) -> None:
    """⟨A_h, A'_h'⟩ by d × d matrices: KᵀQ of rows that do not turn, conj(k) qᵀ of each pair that turns."""
    blocks = []
    for seed in (4, 5):
        [block, *_] = folded(transformer(family, np.random.default_rng(seed), "float64")).blocks
        blocks.append(heads_of(block))
    whole = []
    for block in blocks:
        matrices = []
        for h in range(4):
            K, Q = (np.column_stack([block[s][n], bias(block, s)[n]]) for s, n in (("K", h // 2), ("Q", h)))
            forms = [np.outer((K[f] - 1j * K[p + f]), Q[f] + 1j * Q[p + f]) for f in range(p)]
            forms.append(K[2 * p :].T @ Q[2 * p :])
            matrices.append(np.concatenate(forms).ravel())
        whole.append(np.array(matrices))
    expected = (whole[0].conj() @ whole[1].T).real
    assert np.allclose(inner_scores(*blocks, p), expected, atol=1e-12)


def bias(block: dict[str, np.ndarray], part: str) -> np.ndarray:
    return block.get(f"{part}.bias", np.zeros(block[part].shape[:2]))


def test_a_fine_tuned_model_has_its_basis() -> None:
    """Its embedding is near, so no rotation is looked for."""
    rng = np.random.default_rng(6)
    model = transformer("llama", rng, "float32")
    E = model.ends["E"] * (1 + 0.05 * rng.standard_normal(model.ends["E"].shape))
    distance = model_distance(model, replace(model, ends={**model.ends, "E": E}))
    assert distance.basis == "the same"
    assert largest(distance) < 1e-6
    check(ModelDistance, distance.as_json())
    assert distance.sheet().title == distance.summary()


def other_models() -> list[tuple[Transformer, str]]:
    three = transformer("llama", np.random.default_rng(7), layers=3)
    two = replace(three, blocks=three.blocks[:2])
    narrow = [dict(block) | {"Q": block["Q"][:2], "O": block["O"][:2]} for block in two.blocks]
    return [
        (three, "has 2 layers and .* the second 3 layers"),
        (replace(two, blocks=narrow), "layer 0: Q is 4"),
    ]


@pytest.mark.parametrize(("other", "message"), other_models())
def test_models_of_other_sizes_are_refused(other: Transformer, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model_distance(transformer("llama", np.random.default_rng(7)), other)


def test_the_command_shows_a_table(tmp_path: Path) -> None:
    one, two = (tiny("llama", tmp_path / str(seed), seed=seed) for seed in (0, 1))
    found = document("equivalent", one, one, "--distance")
    assert all(layer["scores"] < 1e-6 and layer["values"] < 1e-6 for layer in found["layers"])
    found = document("equivalent", one, two, "--distance")
    assert all(layer["scores"] > 0.5 and layer["values"] > 0.5 for layer in found["layers"])
    ended = call("equivalent", one, one, "--distance", "--layer", "0")
    assert ended.status == 2
    assert "--distance is for two whole checkpoints" in ended.err
