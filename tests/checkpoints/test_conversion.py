import json
from dataclasses import replace

import numpy as np
import pytest
import tiny
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from agattn.checkpoints.conversion import (
    IDENTITY,
    Heads,
    MeasuredLayer,
    Metric,
    average,
    convert,
    gap,
    shared_pair,
    write_conversion,
)
from agattn.checkpoints.forward import attention_inputs, logits
from agattn.checkpoints.reading import read_transformer
from agattn.checkpoints.stored import Facts
from agattn.errors import InputError

FACTS = Facts("rms", 0.0, "before", False, True, "silu", True, "", True, 1, 1, 0, 0, 1, (), ())


def random_layer(seed, pairs=None, tokens=None, context=None, one_metric=False):
    """A layer of random sizes, with or without biases, a soft cap and an output bias."""
    rng = np.random.default_rng(seed)
    d, a, b = rng.integers([4, 2, 1], [7, 5, 4])
    groups, share = int(rng.choice([2, 4])), int(rng.choice([1, 2]))
    heads = groups * share
    pairs = int(rng.integers(0, a // 2 + 1)) if pairs is None else pairs
    a = max(a, 2 * pairs)
    shapes = {"Q": (heads, a, d), "K": (groups, a, d), "P": (groups, b, d), "O": (heads, d, b)}
    if rng.random() < 0.5:
        shapes |= {f"{part}.bias": shapes[part][:2] for part in "QKP"}
    if rng.random() < 0.5:
        shapes["O.bias"] = (d,)
    block = {part: rng.standard_normal(shape) for part, shape in shapes.items()}
    angles = (tuple(1 / (f + 1) for f in range(pairs)),) if pairs else ()
    facts = replace(FACTS, angles=angles, score_cap=float(rng.choice([0, 50])))
    if tokens is None:
        tokens = int(rng.choice([0, 2, 40]))
    metric = Metric.of(rng.standard_normal((tokens, d)) + 1) if tokens else IDENTITY
    return MeasuredLayer(block, facts, 0, metric, context, one_metric), groups


def distance(layer, block):
    """The distance of a block in the norm of the layer, squared."""
    scores, values = layer.distances(block)
    return scores + layer.weight * values


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_the_error_is_the_bound_and_no_average_is_nearer(seed):
    layer, groups = random_layer(seed)
    for sets in {1, groups // 2, groups}:
        new, lost = layer.nearest(sets)
        assert abs(distance(layer, new) ** 0.5 - lost**0.5) <= 1e-9 * layer.norm
        for turned in (False, True):
            assert lost**0.5 <= distance(layer, layer.averages(sets, turned)) ** 0.5 + 1e-9 * layer.norm
    assert lost**0.5 <= 1e-9 * layer.norm


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_a_latent_and_smaller_heads_attain_their_bounds(seed):
    layer, groups = random_layer(seed, pairs=0)
    new, lost = layer.nearest(groups, 1)
    assert abs(distance(layer, new) ** 0.5 - lost**0.5) <= 1e-9 * layer.norm
    layer, groups = random_layer(seed, pairs=0, one_metric=True)
    for rank in (1, 3):
        new, lost = layer.latent(rank)
        assert abs(distance(layer, new) ** 0.5 - lost**0.5) <= 1e-9 * layer.norm
        both = [
            np.c_[M, new.get(f"{part}.bias", np.zeros(len(M))).ravel()]
            for part, M in (("K", np.concatenate(new["K"])), ("P", np.concatenate(new["P"])))
        ]
        assert np.linalg.matrix_rank(np.concatenate(both), tol=1e-8 * layer.norm) <= rank


def test_the_error_is_that_of_explicit_square_matrices():
    """The definition, by d × d matrices: Σ‖C₁^{1/2}(A − A')C₂^{1/2}‖², of which the tail is the optimum."""
    layer, groups = random_layer(7, pairs=0, tokens=40)
    layer = MeasuredLayer({k: v for k, v in layer.block.items() if "bias" not in k}, FACTS, 0, layer.metric)
    heads = layer.heads // groups
    F, G = layer.metric.centered, layer.metric.whole[:, :-1]
    A = [F @ layer.block["K"][h // heads].T @ layer.block["Q"][h] @ G.T for h in range(layer.heads)]
    V = [layer.block["O"][h] @ np.c_[layer.block["P"][h // heads], np.zeros(len(layer.block["P"][0]))]
         @ layer.metric.whole.T for h in range(layer.heads)]  # fmt: skip
    a, b = layer.block["K"].shape[1], layer.block["P"].shape[1]
    tails = [np.linalg.svd(M, compute_uv=False)[n:] for M, n in ((np.hstack(A), a), (np.vstack(V), b))]
    weight = sum(np.sum(M**2) for M in A) / sum(np.sum(M**2) for M in V)
    bound = np.sum(tails[0] ** 2) + weight * np.sum(tails[1] ** 2)
    assert layer.nearest(1)[1] == pytest.approx(bound, rel=1e-9)


def searched(layer, sets, start):
    """What a local search over all entries of K, P, Q, O and biases finds from a block."""
    parts = sorted(start)
    sizes = np.cumsum([start[part].size for part in parts])[:-1]

    def block(v):
        pieces = zip(parts, np.split(v, sizes), strict=True)
        return {part: piece.reshape(start[part].shape) for part, piece in pieces}

    first = np.concatenate([start[part].ravel() for part in parts])
    return minimize(
        lambda v: distance(layer, block(v)), first, method="L-BFGS-B", options={"maxiter": 60}
    ).fun


@pytest.mark.parametrize("seed", range(3))
def test_no_local_search_finds_a_nearer_layer(seed):
    layer, groups = random_layer(seed)
    rng = np.random.default_rng(seed)
    sets = int(rng.choice([1, groups // 2]))
    best, lost = layer.nearest(sets)
    noise = {part: rng.standard_normal(array.shape) for part, array in best.items()}
    for start in (best, {part: array + 0.1 * noise[part] for part, array in best.items()}, noise):
        assert searched(layer, sets, start) >= lost - 1e-7 * layer.norm**2


@pytest.mark.parametrize(("turn", "gain"), [(3.2, 1.0), (0.96, 0.9), (0.1, 0.8)])
def test_slow_pairs_are_nearer_than_the_complex_optimum(turn, gain):
    """For θT below a whole turn the complex norm is the wrong one, the more the slower a pair is."""
    ratios = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        keys, queries = rng.standard_normal((4, 2, 6)), rng.standard_normal((4, 2, 2, 6))
        cost = average(turn / 64, 64, causal=True)
        there = Heads(keys, queries.reshape(8, 2, 6))
        errors = []
        for search in (None, cost):
            t, s, _ = shared_pair(keys, queries, search)
            k, q = np.einsum("mi,mid->d", t, keys), np.einsum("mhi,mhid->mhd", s, queries).reshape(8, -1)
            shared = Heads(np.array([[k.real, k.imag]]), np.stack([q.real, q.imag], axis=1))
            errors.append(gap(there, shared, cost))
        ratios.append((errors[1] / errors[0]) ** 0.5)
    assert max(ratios) <= 1 + 1e-9 and np.mean(ratios) < gain


def test_the_average_over_tokens_is_that_of_the_scores():
    rng = np.random.default_rng(0)
    Z, angle, T = rng.standard_normal((2, 3, 4)), 0.3, 7
    form = Z[0] + 1j * Z[1]
    mean = np.mean([np.sum((np.exp(1j * angle * t) * form).real ** 2) for t in range(T)])
    gram = np.array([[np.sum(x * y) for y in Z] for x in Z])
    assert np.sum(average(angle, T, causal=True) * gram) == pytest.approx(mean)
    whole = average(2 * np.pi / T, T, causal=True)
    assert np.allclose(whole, np.eye(2) / 2)  # around the circle: half of the complex norm


@pytest.mark.parametrize("family", sorted(set(tiny.FAMILIES) - {"qwen3", "gemma3", "olmo2"}))
def test_checkpoints_of_each_family_are_converted_and_read_again(family, tmp_path):
    path = tiny.tiny(family, tmp_path / "model", groups=4)
    model = read_transformer(path)
    groups = len(model.blocks[0]["K"])
    tokens = np.random.default_rng(0).integers(0, 50, (6, 9))
    same = convert(path, kv_heads=groups, data=tokens)
    assert np.abs(logits(same.transformer, [1, 2, 3]) - logits(model, [1, 2, 3])).max() < 5e-6
    half = convert(path, kv_heads=max(1, groups // 2), data=tokens, groups="nearest")
    assert half.tokens == 54 and half.metric == "data"
    for line in half.layers:
        assert abs(line.error - line.bound) <= 1e-9 * line.norm
        assert line.error <= line.procrustes * (1 + 1e-9) + 1e-9
    compact = write_conversion(path, half, tmp_path / "half")
    again = read_transformer(tmp_path / "half")
    assert np.array_equal(logits(again, [1, 2, 3]), logits(half.transformer, [1, 2, 3]))
    fewer = family in ("llama", "mistral", "qwen2", "gemma2")
    assert compact == fewer and len(again.blocks[0]["K"]) == (2 if fewer else groups)


def test_biases_are_exact_without_loss(tmp_path):
    """Dropping the key bias and moving the value bias changes nothing."""
    model = read_transformer(tiny.tiny("bert", tmp_path / "model"))
    same = convert(model, kv_heads=4).transformer
    assert not same.blocks[0]["K.bias"].any() and not same.blocks[0]["P.bias"].any()
    assert model.blocks[0]["P.bias"].any()
    assert np.abs(logits(same, [1, 2, 3]) - logits(model, [1, 2, 3])).max() < 2e-6


def test_data_is_hidden_states_or_tokens(tmp_path):
    model = read_transformer(tiny.tiny("gpt2", tmp_path / "model"))
    tokens = [[1, 2, 3, 4], [5, 6]]
    states = {str(n): X for n, X in enumerate(attention_inputs(model, tokens))}
    np.savez(tmp_path / "states.npz", **states)
    (tmp_path / "tokens.json").write_text(json.dumps(tokens))
    answers = [convert(model, kv_heads=2, data=data).layers for data in (
        tokens, states, tmp_path / "states.npz", tmp_path / "tokens.json",
    )]  # fmt: skip
    assert all(
        line.error == pytest.approx(answers[0][n].error) for lines in answers for n, line in enumerate(lines)
    )
    with pytest.raises(InputError, match=r"the data has width 5; .* has 24"):
        convert(model, kv_heads=2, data={"0": np.ones((9, 5)), "1": np.ones((9, 5))})
    with pytest.raises(InputError, match=r"the data has no array 1; name hidden states 0 to 1"):
        convert(model, kv_heads=2, data={"0": states["0"], "2": states["0"]})
    for bad in (states["0"], [], 3, ["words"], [[1.5]], [[[1, 2], [3]]], [[]]):
        with pytest.raises(InputError, match=r"neither sequences of whole numbers nor hidden states"):
            convert(model, kv_heads=2, data=bad)
    for bad in (np.full((6, 24), np.nan), np.ones(24), np.ones((0, 24)), 1j * np.ones((6, 24))):
        with pytest.raises(InputError, match="data of layer 1 is no array of finite numbers, tokens × width"):
            convert(model, kv_heads=2, data=states | {"1": bad})
    with pytest.raises(InputError, match="data of layer 1 is of 5 tokens, and before of 6"):
        convert(model, kv_heads=2, data=states | {"1": states["1"][1:]})


@pytest.mark.parametrize(
    ("family", "how", "message"),
    [
        ("llama", {"kv_heads": 3}, r"kv_heads is 3; the 4 sets of .* can become 1, 2, 4"),
        ("llama", {"latent": 4}, r"6 of the 6 rows of the keys .* DeepSeek's way is separate rotary keys"),
        ("llama", {"rank": 2}, r"6 of the 6 rows of a head .* turn"),
        ("llama", {}, r"give one of kv_heads, rank, latent"),
        ("llama", {"kv_heads": 2, "latent": 3}, r"give one of kv_heads, rank, latent"),
        ("llama", {"kv_heads": 2, "context": 0}, "context is 0"),
        ("qwen3", {"kv_heads": 1}, r"normalizes queries and keys"),
        ("gpt2", {"latent": 99}, r"latent is 99; it must be from 1 to 24"),
        ("gpt2", {"latent": 3, "groups": "nearest"}, "groups is for kv_heads; leave it out"),
        ("gpt2", {"kv_heads": 2, "context": 9}, r"context is for rotary positions, which .*gpt2 has not"),
    ],
)
def test_bad_input(family, how, message, tmp_path):
    with pytest.raises(InputError, match=message):
        convert(tiny.tiny(family, tmp_path / family, groups=4), **how)


def test_the_table_says_what_is_optimal_and_what_is_not_claimed(tmp_path):
    path = tiny.tiny("llama", tmp_path / "model", groups=4)
    sheet = convert(path, kv_heads=2).sheet()
    note = sheet.parts[1].text
    assert "optimal in this norm, with these groups" in note and "nothing is claimed of the loss" in note
    assert "complex norm" in note
    for length, few in ((5, True), (24, False)):
        notes = [part.text for part in convert(path, kv_heads=2, data=[[*range(length)]]).sheet().parts[1:]]
        assert any("5 tokens, and the model is 24 wide: directions that no token" in n for n in notes) is few
    slow = convert(path, kv_heads=2, context=20)
    assert slow.slow and all(line.bound is None for line in slow.layers)
    assert "optimal" not in slow.sheet().parts[1].text and slow.sheet().tables[0].rows[0][2] == "none"
