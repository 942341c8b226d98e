"""Mistakes in rewrites of small models: each is found, and the array that does not fit is named."""

from dataclasses import replace

import numpy as np
import pytest
from decoders import VALUES, decoder
from scipy.stats import ortho_group
from test_symmetries_of_models import (
    Copy,
    fold_and_rotate,
    fold_layer_norms_and_rotate,
    heads_of,
    order_groups,
    order_heads,
    pair_otherwise,
    rotate,
)

from agattn.checkpoints.same_model import compare_models


def change_values_without_bias(copy):
    M, block = copy.matrix(VALUES), copy.blocks[1]
    block["P"][1] = M @ block["P"][1]
    block["O"][heads_of(1)] = block["O"][heads_of(1)] @ np.linalg.inv(M)


def order_keys_alone(copy):
    for part in ("K", "K.bias"):
        copy.blocks[1][part] = copy.blocks[1][part][::-1].copy()


def fold_the_last_gain_and_keep_it(copy):
    copy.ends["W"] *= copy.ends["final.gain"]


def rotate_a_rotary_head(copy):
    block = copy.blocks[1]
    R = ortho_group.rvs(block["K"].shape[1], random_state=3)
    block["K"][1] = R @ block["K"][1]
    block["Q"][heads_of(1)] = R @ block["Q"][heads_of(1)]


def scale_a_head(copy):
    copy.blocks[1]["O"][2] *= 1.001


def negate_a_gate(copy):
    copy.blocks[1]["G"][5] *= -1


def multiply_pairs_by_c(copy):
    """The right k → ck, and q → q/c in place of q/c̄."""
    p, c = 2, np.array([1 + 1j, 2 - 0.5j])[:, None]
    for part, heads, factor in (("K", [1], c), ("Q", heads_of(1), 1 / c)):
        array = copy.blocks[1][part]
        z = factor * (array[heads, :p] + 1j * array[heads, p : 2 * p])
        array[heads, :p], array[heads, p : 2 * p] = z.real, z.imag


MISTAKES = {
    "values changed, their bias not rotated": (
        "qwen2",
        change_values_without_bias,
        {},
        "layer 1, value bias of group 1",
    ),
    "rotary rows in the other pairing": (
        "llama",
        pair_otherwise,
        {"pairs": 3},
        "layer 0, keys of group 0, pair 2",
    ),
    "groups of keys permuted, queries not": (
        "qwen2",
        order_keys_alone,
        {},
        "layer 1, keys of group 0, pair 1",
    ),
    "the last norm folded, its gain kept": ("llama", fold_the_last_gain_and_keep_it, {}, "unembedding"),
    "an orthogonal matrix on a rotary head": (
        "llama",
        rotate_a_rotary_head,
        {},
        "layer 1, keys of group 1, pair 1",
    ),
    "a head times 1.001": ("llama", scale_a_head, {}, "layer 1, outputs of head 2"),
    "the sign of a neuron's gate": ("llama", negate_a_gate, {}, "layer 1, gate of neuron 5"),
    "pairs by q/c for q/c̄": ("llama", multiply_pairs_by_c, {}, "layer 1, queries of head 3, pair 0"),
    "a rotation, gains not folded": ("llama", rotate, {}, "layer 0, keys of group 1, pair 0"),
    "a rotation that moves (1, ..., 1)": ("gpt2", fold_layer_norms_and_rotate, {"tied": False}, "embedding"),
}


def of_type(model, dtype):
    return replace(
        model,
        ends={part: array.astype(dtype) for part, array in model.ends.items()},
        blocks=[{part: array.astype(dtype) for part, array in block.items()} for block in model.blocks],
    )


def verdict(kind, rewrite, facts):
    """What is said of a model of float32 and its rewritten copy, which is rounded once."""
    model = decoder(7, kind, dtype="float32", **facts)
    copy = Copy(of_type(model, np.float64), 2)
    rewrite(copy)
    return compare_models(model, of_type(copy.transformer(), np.float32))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(mistake):
    *made, array = MISTAKES[mistake]
    result = verdict(*made)
    assert result.equivalent is False
    assert result.first is not None
    assert result.first.startswith(array), result.first


@pytest.mark.parametrize("rewrite", [fold_and_rotate, order_groups, order_heads])
def test_right(rewrite):
    """What is done as the page says is the same function."""
    assert verdict("llama", rewrite, {}).equivalent is True
