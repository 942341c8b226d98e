"""Canonical forms: the same function, once and for all copies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import call, document
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agattn.checkpoints.canonical import CanonicalForm, canonical
from agattn.checkpoints.forward import logits
from agattn.checkpoints.reading import read_transformer
from agattn.checkpoints.stored import Transformer
from agattn.checkpoints.weight_files import WeightFile
from agattn.errors import InputError
from agattn.sheet.result import check
from tests.checkpoints import copies
from tests.checkpoints.copies import FAMILIES, symmetric_copy, transformer
from tests.checkpoints.tiny import tiny

TOKENS = [3, 14, 15, 9, 26, 5, 35, 8]
families_and_seeds = given(st.sampled_from(sorted(FAMILIES)), st.integers(0, 2**32 - 1))


def canonical_transformer(model: Transformer, **asked: bool) -> tuple[Transformer, CanonicalForm]:
    form = canonical(model, **asked)
    return form.transformer, form


def with_all_biases(model: Transformer) -> Transformer:
    """A model with layer norms whose readers have biases, where those of norms may go."""
    if model.facts.norm != "layer":
        return model
    blocks = []
    for block in model.blocks:
        zeros = {f"{part}.bias": np.zeros(block[part].shape[:-1]) for part in "QKPGU" if part in block}
        blocks.append(zeros | dict(block))
    ends = dict(model.ends)
    if "W" in ends:
        ends.setdefault("W.bias", np.zeros(len(ends["W"])))
    return replace(model, ends=ends, blocks=blocks)


def stored_alike(model: Transformer, rng: np.random.Generator) -> Transformer:
    """A symmetric copy with the same arrays: if the model is tied, so is the copy."""
    while True:
        copy = symmetric_copy(model, rng)
        if copy.facts.tied == model.facts.tied:
            return copy


def gap(first: Transformer, second: Transformer) -> float:
    """The largest difference of two arrays, relative to the array."""
    differences = []
    for one, two in zip([first.ends, *first.blocks], [second.ends, *second.blocks], strict=True):
        one, two = dict(one), dict(two)
        assert one.keys() == two.keys()
        for part in one:
            size = max(np.linalg.norm(one[part]), 1e-3)
            differences.append(np.linalg.norm(one[part] - two[part]) / size)
    return float(max(differences))


def outputs_differ(first: Transformer, second: Transformer) -> float:
    one, two = logits(first, TOKENS), logits(second, TOKENS)
    return float(abs(one - two).max() / abs(one).max())


def ambiguous(form: CanonicalForm) -> list[str]:
    return [text for layer in form.layers for text in layer.ambiguous] + list(form.basis)


@families_and_seeds
@settings(max_examples=40, deadline=None)
def test_copies_have_one_canonical_form(family: str, seed: int) -> None:
    """Of all symmetries: norms, means, the basis of the stream, values, scores, neurons, orders."""
    rng = np.random.default_rng(seed)
    model = with_all_biases(transformer(family, rng, "float64"))
    # Where outputs are vectors of the stream, its basis is not free.
    asked = {"fold_norms" if family == "encoder" else "residual_basis": True}
    form, about = canonical_transformer(model, **asked)
    assume(not ambiguous(about))
    assert about.difference < 1e-11
    assert outputs_differ(model, form) < 1e-10
    again, about_again = canonical_transformer(form, **asked)
    assert gap(form, again) < 1e-8
    assert all(layer.changed < 1e-8 for layer in about_again.layers)
    of_copy, _ = canonical_transformer(stored_alike(model, rng), **asked)
    assert gap(form, of_copy) < 1e-8


@families_and_seeds
@settings(max_examples=25, deadline=None)
def test_norms_and_the_stream_stay_if_nobody_asks(family: str, seed: int) -> None:
    """Copies by other values, scores, neurons and orders alone."""
    rng = np.random.default_rng(seed)
    model = transformer(family, rng, "float64")
    form, about = canonical_transformer(model)
    assume(not ambiguous(about))
    assert outputs_differ(model, form) < 1e-10
    assert form.ends is model.ends
    blocks = [dict(block) for block in model.blocks]
    for n, block in enumerate(blocks):
        turning = 2 * len(model.facts.angles[n]) if model.facts.angles else 0
        copies._move_attention(model.facts, block, turning, rng)
        copies._move_neurons(model.facts, block, rng)
    assert gap(form, canonical_transformer(replace(model, blocks=blocks))[0]) < 1e-8
    for block, stored in zip(form.blocks, model.blocks, strict=True):
        for part in stored:
            if part.endswith(".gain") and part not in ("query.gain", "key.gain"):
                assert np.array_equal(block[part], stored[part])


@pytest.mark.parametrize("family", ["falcon", "neox", "bigcode", "gpt2", "qwen2"])
def test_norms_fold_where_the_file_has_no_place_for_their_biases(family: str) -> None:
    rng = np.random.default_rng(1)
    model = transformer(family, rng, "float64")
    form, _ = canonical_transformer(model, fold_norms=True)
    assert outputs_differ(model, form) < 1e-10
    assert gap(form, canonical_transformer(form, fold_norms=True)[0]) < 1e-10
    assert form.ends.keys() == model.ends.keys()
    for block in form.blocks:
        assert (block["attention.gain"] == 1).all()


@pytest.mark.parametrize("family", ["llama", "opt", "gemma3"])
def test_stored_types_stay_and_copies_agree_to_rounding(family: str) -> None:
    rng = np.random.default_rng(2)
    model = with_all_biases(transformer(family, rng, "float32"))
    model = copies.rounded(model)
    form, about = canonical_transformer(model, residual_basis=True)
    assert {array.dtype for arrays in (form.ends, *form.blocks) for array in dict(arrays).values()} == {
        np.dtype(np.float32)
    }
    assert about.difference < 1e-5
    assert gap(form, canonical_transformer(stored_alike(model, rng), residual_basis=True)[0]) < 1e-3


def changed(model: Transformer, **arrays: Any) -> Transformer:
    """A model with other arrays in its first block."""
    return replace(model, blocks=[dict(model.blocks[0]) | arrays, *model.blocks[1:]])


def test_coinciding_singular_values_are_named() -> None:
    rng = np.random.default_rng(3)
    model = transformer("llama", rng, "float64")
    P, O = (np.array(model.blocks[0][part]) for part in "PO")
    # The values of group 1 are an isometry.
    P[1] = np.linalg.qr(P[1].T)[0].T
    O[2:] = np.linalg.qr(O[2:].reshape(-1, 6))[0].reshape(2, 24, 6)
    model = changed(model, P=P, O=O)
    form, about = canonical_transformer(model)
    assert outputs_differ(model, form) < 1e-10
    first, second = about.layers
    assert first.ambiguous[0] == (
        "values of group 1: singular values 0 and 1, 1 and 2, 2 and 3, 3 and 4 and 1 more"
    )
    assert not second.ambiguous
    assert "1 ambiguous" in about.summary()


def test_equal_heads_and_neurons_are_named() -> None:
    model = transformer("gpt2", np.random.default_rng(4), "float64")
    block = {part: np.array(array) for part, array in model.blocks[0].items()}
    for part in ("Q", "O", "Q.bias"):
        block[part][1] = block[part][0]
    for part in ("G", "G.bias"):
        block[part][7] = block[part][5]
    block["D"][:, 7] = block["D"][:, 5]
    texts = canonical_transformer(changed(model, **block))[1].layers[0].ambiguous
    assert any(text.startswith("order of heads of group 0") for text in texts)
    assert "order of neurons 5 and 7" in texts


def test_what_computes_nothing_becomes_zero() -> None:
    """A pair of queries without keys, values that no output reads, and a neuron without U."""
    rng = np.random.default_rng(5)
    model = transformer("llama", rng, "float64")
    block = {part: np.array(array) for part, array in model.blocks[0].items()}
    block["K"][0, [1, 5]] = 0
    block["O"][:2, :, 3] = 0
    block["U"][11] = 0
    model = changed(model, **block)
    form, _ = canonical_transformer(model)
    assert outputs_differ(model, form) < 1e-10
    new = form.blocks[0]
    assert sum(not pair.any() for pair in new["Q"].reshape(4, 2, 4, 24).swapaxes(1, 2).reshape(16, -1)) == 2
    assert sum(not row.any() for row in new["P"].reshape(12, -1)) == 1
    assert not new["D"][:, ~new["U"].any(axis=1)].any()
    assert gap(form, canonical_transformer(form)[0]) < 1e-10


@pytest.mark.parametrize("family", ["llama", "opt", "gemma2", "bert"])
def test_the_form_is_what_it_says(family: str) -> None:
    model = with_all_biases(transformer(family, np.random.default_rng(6), "float64"))
    form, _ = canonical_transformer(model, residual_basis=True)
    E = form.ends["E"]
    if family in ("llama", "opt"):
        gram = E.T @ E
        inside = np.eye(24) if family == "llama" else np.linalg.qr(np.eye(24) - 1 / 24)[0][:, :-1]
        gram = inside.T @ gram @ inside
        assert abs(gram - np.diag(np.diag(gram))).max() < 1e-10 * gram.max()
    else:
        sizes = np.linalg.norm(E, axis=0)
        assert (np.diff(sizes) < 0).all()
    for block in form.blocks:
        for P, O in zip(block["P"], block["O"].reshape(2, 48, 6), strict=True):
            assert np.allclose(P @ P.T, np.eye(6))
            assert np.allclose(O.T @ O, np.diag(np.diag(O.T @ O)))
        if "U" in block:
            assert np.allclose(np.linalg.norm(block["U"], axis=1), 1)
            assert (block["U"].max(axis=1) >= -block["U"].min(axis=1)).all()


def test_blocks_are_read_when_they_are_asked_for() -> None:
    """No more than one block is in memory."""

    class Counted(list[Any]):
        asked = 0

        def __getitem__(self, n: Any) -> Any:
            type(self).asked += 1
            return super().__getitem__(n)

    model = transformer("llama", np.random.default_rng(7), "float64")
    form, about = canonical_transformer(replace(model, blocks=Counted(model.blocks)))
    asked = Counted.asked
    for n in (0, 0, 1, 1):
        assert form.blocks[n]["Q"].shape == (4, 8, 24)
    assert Counted.asked == asked + 2
    with pytest.raises(IndexError):
        form.blocks[2]
    check(CanonicalForm, about.as_json())
    assert [layer["layer"] for layer in about.as_json()["layers"]] == [0, 1]


def test_vectors_of_the_stream_have_no_basis_to_choose() -> None:
    model = transformer("bert", np.random.default_rng(8), "float64")
    ends = {part: model.ends[part] for part in model.ends if not part.startswith("W")}
    model = replace(model, ends=ends)
    with pytest.raises(InputError, match="whose basis is therefore not free"):
        canonical_transformer(model, residual_basis=True)
    form, _ = canonical_transformer(model, fold_norms=True)
    assert outputs_differ(model, form) < 1e-10


@pytest.mark.parametrize(
    ("family", "options"), [("llama", ["--residual-basis"]), ("bert", ["--fold-norms"]), ("gpt2", [])]
)
def test_the_command_writes_the_layout_of_the_file(family: str, options: list[str], tmp_path: Path) -> None:
    source = tiny(family, tmp_path / "model")
    first, second = tmp_path / "first", tmp_path / "second"
    words = " ".join(["canonical", *options])
    assert document(words, source, "-O", first)["difference"] < 1e-5
    assert call(words, first, "-O", second).status == 0
    model, form, again = (read_transformer(folder) for folder in (source, first, second))
    assert gap(form, again) < 1e-4 < gap(model, form)
    assert outputs_differ(model, form) < 1e-5
    files = [WeightFile([folder]) for folder in (source, first)]
    shapes = [{name: file.shape(name) for name in file} for file in files]
    assert shapes[0] == shapes[1]
