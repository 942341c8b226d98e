"""Random copies of the same function of small transformers, and copies with a mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from agattn.checkpoints.stored import Facts, Transformer
from tests.checkpoints.decoders import FAMILIES as FAMILIES
from tests.checkpoints.decoders import decoder, rounded

Rng = np.random.Generator
Arrays = dict[str, Any]


def transformer(family: str, rng: Rng, dtype: str = "float32", layers: int = 2) -> Transformer:
    """A random model of a family; all rows of queries and keys turn, or half of them."""
    return decoder(rng, family, layers=layers, dtype=dtype, pairs=2 if family in ("phi3", "neox") else 4)


def _wide(model: Transformer) -> tuple[Arrays, list[Arrays]]:
    ends = {part: model.ends[part].astype(np.float64) for part in model.ends}
    return ends, [{part: block[part].astype(np.float64) for part in block} for block in model.blocks]


def symmetric_copy(model: Transformer, rng: Rng) -> Transformer:
    """A random copy that is the same function but for rounding each entry once."""
    return rounded(_moved(model, rng)[0])


def _moved(model: Transformer, rng: Rng) -> tuple[Transformer, list[Arrays]]:
    """The copy before rounding, and of each layer the matrices that moved its values."""
    facts, (ends, blocks) = model.facts, _wide(model)
    d = ends["E"].shape[1]
    tied = facts.tied
    if tied and rng.random() < 0.7:
        ends["W"], tied = ends["E"].copy(), False
        if facts.embedding_scale != 1:
            ends["E"], facts = ends["E"] * facts.embedding_scale, replace(facts, embedding_scale=1.0)
    rotates = facts.place == "before" and not tied and rng.random() < 0.7
    for block in blocks:
        if facts.place in ("before", "both"):
            for name, readers in _norms(facts, block):
                _move_gain(block, block, name, readers, d, rng, rotates)
    if facts.place != "post" and not tied:
        _move_gain(ends, ends, "final", ["W"], d, rng, rotates)
    if facts.norm == "layer" and facts.place in ("before", "post"):
        _move_means(facts, ends, blocks, tied, rotates, rng)
    if "W" in ends or facts.tied:
        # The last vectors of a model without an unembedding are its function.
        _change_basis(facts, ends, blocks, rotates, rng)
    moves = []
    for n, block in enumerate(blocks):
        turning = 2 * len(facts.angles[n]) if facts.angles else 0
        moves.append(_move_attention(facts, block, turning, rng))
        _move_neurons(facts, block, rng)
    copy = replace(model, name="copy", facts=replace(facts, tied=tied), ends=ends, blocks=blocks)
    return copy, moves


def _norms(facts: Facts, block: Arrays) -> list[tuple[str, list[str]]]:
    perceptron = [part for part in ("G", "U") if part in block]
    if "perceptron.gain" not in block:
        return [("attention", ["Q", "K", "P", *perceptron])]
    return [("attention", ["Q", "K", "P"]), ("perceptron", perceptron)]


def _move_gain(
    arrays: Arrays, biases: Arrays, name: str, readers: list[str], d: int, rng: Rng, fully: bool
) -> None:
    """Scales of a norm to what reads it; all of it, with its bias, if the stream is to be rotated."""
    t = arrays[f"{name}.gain"] if fully else rng.uniform(0.5, 2.0, d) * rng.choice([-1, 1], d)
    arrays[f"{name}.gain"] = arrays[f"{name}.gain"] / t
    beta = arrays.get(f"{name}.bias")
    for part in readers:
        arrays[part] = arrays[part] * t
    if beta is not None:
        beta = beta / t
        moved = beta if fully else beta * rng.integers(0, 2)
        for part in readers:
            bias = biases.get(f"{part}.bias", np.zeros(arrays[part].shape[:-1]))
            if moved.any() or f"{part}.bias" in biases:
                biases[f"{part}.bias"] = bias + arrays[part] @ moved
        arrays[f"{name}.bias"] = beta - moved


def _move_means(
    facts: Facts, ends: Arrays, blocks: list[Arrays], tied: bool, rotates: bool, rng: Rng
) -> None:
    """The mean direction of writers, biases and the embedding; with learned positions a shift of all."""
    for block in blocks:
        H, _, b = block["O"].shape
        block["O"] = block["O"] + 0.2 * rng.standard_normal((H, 1, b))
        block["D"] = block["D"] + 0.2 * rng.standard_normal((1, block["D"].shape[1]))
        for part in ("O.bias", "D.bias"):
            if part in block:
                block[part] = block[part] + 0.2 * rng.standard_normal()
    if facts.place == "post":
        _move_normed_means(blocks, ends, rng)
    moved = ["E", *(part for part in ("positions", "types") if part in ends)]
    if not tied:
        for part in moved:
            ends[part] = ends[part] + 0.2 * rng.standard_normal((len(ends[part]), 1))
        if "positions" in ends:
            shift = 0.2 * rng.standard_normal(ends["E"].shape[1])
            ends["E"], ends["positions"] = ends["E"] + shift, ends["positions"] - shift


def _move_normed_means(blocks: list[Arrays], ends: Arrays, rng: Rng) -> None:
    """What reads a norm, W → W + w(1/γ)ᵀ, b → b − w Σ β_i/γ_i; and β → β + s, b → b − Ws of what reads it."""
    norms = [(ends, "embedding", "QKP", blocks[0])]
    for n, block in enumerate(blocks):
        norms.append((block, "after attention", "G", block))
        if n + 1 < len(blocks):
            norms.append((block, "after perceptron", "QKP", blocks[n + 1]))
    for arrays, name, readers, block in norms:
        gain, beta = arrays[f"{name}.gain"], arrays[f"{name}.bias"]
        s = 0.2 * rng.standard_normal()
        for part in readers:
            w = 0.2 * rng.standard_normal(block[part].shape[:-1])
            block[part] = block[part] + w[..., None] / gain
            block[f"{part}.bias"] = block[f"{part}.bias"] - w * (beta / gain).sum() - block[part].sum(-1) * s
        arrays[f"{name}.bias"] = beta + s


def _change_basis(facts: Facts, ends: Arrays, blocks: list[Arrays], rotates: bool, rng: Rng) -> None:
    d = ends["E"].shape[1]
    if rotates:
        R = np.linalg.qr(rng.standard_normal((d, d)))[0]
        if facts.norm == "layer":
            columns = [np.ones((d, 1)), rng.standard_normal((d, d - 1))]
            basis = np.linalg.qr(np.concatenate(columns, axis=1))[0]
            inner = np.linalg.qr(rng.standard_normal((d - 1, d - 1)))[0]
            R = basis[:, :1] @ basis[:, :1].T + basis[:, 1:] @ inner @ basis[:, 1:].T
    else:
        R = np.eye(d)[rng.permutation(d)]
        R = R * (rng.choice([-1, 1]) if facts.norm == "layer" else rng.choice([-1, 1], (d, 1)))
    for part in ("E", "positions", "types", "W"):
        if part in ends:
            ends[part] = ends[part] @ R.T
    written = ("O", "D", "O.bias", "D.bias", "embedding.bias", "final.bias")
    for arrays in (ends, *blocks):
        for part in list(arrays):
            if part in ("Q", "K", "P", "G", "U"):
                arrays[part] = arrays[part] @ R.T
            elif part in written or part.endswith("n.bias"):
                arrays[part] = R @ arrays[part]
            elif part.endswith(("attention.gain", "perceptron.gain", "embedding.gain", "final.gain")):
                arrays[part] = arrays[part] if rotates else np.abs(R) @ arrays[part]
    if facts.place in ("after", "both"):
        for block in blocks:
            for half, part in (("attention", "O"), ("perceptron", "D")):
                signs = rng.choice([-1.0, 1.0], d)
                block[part] = signs[:, None] * block[part]
                block[f"after {half}.gain"] = signs * block[f"after {half}.gain"]


def _invertible(n: int, rng: Rng) -> Any:
    """A matrix of condition number at most 4."""
    U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    return (U * rng.uniform(0.5, 2.0, n)) @ V


def _move_attention(facts: Facts, block: Arrays, turning: int, rng: Rng) -> Arrays:
    H, a, _ = block["Q"].shape
    g, b, _ = block["P"].shape
    size, p = H // g, turning // 2
    moves = np.stack([_invertible(b, rng) for _ in range(g)])
    if "P.bias" in block and "O.bias" in block:
        shift = 0.2 * rng.standard_normal((g, b))
        block["P.bias"] = block["P.bias"] + shift
        block["O.bias"] = block["O.bias"] - np.einsum("hij,hj->i", block["O"], np.repeat(shift, size, 0))
    block["P"] = moves @ block["P"]
    block["O"] = block["O"] @ np.repeat(np.linalg.inv(moves), size, 0)
    if "P.bias" in block:
        block["P.bias"] = np.einsum("gij,gj->gi", moves, block["P.bias"])
    if facts.qk_norm:
        _move_normalized(facts, block, turning, rng)
    else:
        keys = np.zeros((g, a, a))
        for k in keys:
            c = rng.uniform(0.5, 2, p) * np.exp(2j * np.pi * rng.random(p))
            f = np.arange(p)
            k[f, f] = k[p + f, p + f] = c.real
            k[f, p + f], k[p + f, f] = -c.imag, c.imag
            if turning < a:
                k[turning:, turning:] = _invertible(a - turning, rng)
        queries = np.repeat(np.linalg.inv(keys).swapaxes(1, 2), size, 0)
        block["K"], block["Q"] = keys @ block["K"], queries @ block["Q"]
        for part, M in (("K.bias", keys), ("Q.bias", queries)):
            if part in block:
                block[part] = np.einsum("hij,hj->hi", M, block[part])
        if "K.bias" in block and not facts.score_cap:
            block["K.bias"][:, turning:] += 0.3 * rng.standard_normal((g, a - turning))
    groups = rng.permutation(g)
    heads = np.concatenate([k * size + rng.permutation(size) for k in groups])
    for part in ("K", "P", "K.bias", "P.bias", *(["key.gain"] if facts.qk_norm == "all" else [])):
        if part in block:
            block[part] = block[part][groups]
    for part in ("Q", "O", "Q.bias", *(["query.gain"] if facts.qk_norm == "all" else [])):
        if part in block and part != "O.bias":
            block[part] = block[part][heads]
    return {"values": moves[groups], "groups": groups, "heads": heads}


def _move_normalized(facts: Facts, block: Arrays, turning: int, rng: Rng) -> None:
    """Signs of rows with their gains, quarter turns of pairs, factors between the gains."""
    H, a, _ = block["Q"].shape
    g, p = len(block["K"]), turning // 2
    size = H // g
    shared = facts.qk_norm == "head"
    s = np.ones((1 if shared else g, a))
    s[:, :p] = s[:, p:turning] = rng.uniform(0.5, 2, (len(s), p)) * rng.choice([-1, 1], (len(s), p))
    order, quarter = np.arange(a), np.ones(a)
    turned = rng.random(p) < 0.4
    order[:turning] = np.where(np.tile(turned, 2), np.roll(order[:turning], p), order[:turning])
    quarter[:p] = np.where(turned, -1, 1)
    for part, gain, n in (("K", "key.gain", g), ("Q", "query.gain", H)):
        factor = s if part == "K" else 1 / (s if shared else np.repeat(s, size, 0))
        signs = rng.choice([-1.0, 1.0], (1 if shared else n, a))
        block[part] = signs[..., None] * block[part][:, order]
        if f"{part}.bias" in block:
            block[f"{part}.bias"] = signs * block[f"{part}.bias"][:, order]
        gains = signs * factor * quarter * block[gain].reshape(-1, a)[:, order]
        block[gain] = gains[0] if shared else gains


def _move_neurons(facts: Facts, block: Arrays, rng: Rng) -> None:
    n = len(block["G"])
    order = rng.permutation(n)
    for part in ("G", "U", "G.bias", "U.bias"):
        if part in block:
            block[part] = block[part][order]
    D = block["D"][:, order]
    if facts.gated:
        c = rng.uniform(0.5, 2, n) * rng.choice([-1, 1], n)
        block["U"], D = c[:, None] * block["U"], D / c
        if "U.bias" in block:
            block["U.bias"] = c * block["U.bias"]
    if facts.activation in ("relu", "relu2"):
        c = rng.uniform(0.5, 2, n)
        block["G"], D = c[:, None] * block["G"], D / c ** (2 if facts.activation == "relu2" else 1)
        if "G.bias" in block:
            block["G.bias"] = c * block["G.bias"]
    block["D"] = D


def _value_bias(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    g = rng.integers(len(block["P"]))
    block["P.bias"][g] = np.linalg.solve(moves["values"][g], block["P.bias"][g])
    return {"P.bias", "O.bias"}


def _pairs(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    turning = 2 * len(copy.facts.angles[0])
    order = np.arange(block["K"].shape[1])
    order[:turning] = np.arange(turning).reshape(2, -1).T.ravel()
    for part in ("K", "Q", "K.bias", "Q.bias"):
        if part in block:
            block[part] = block[part][:, order]
    return {"K"}


def _keys(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    block["K"] = block["K"][::-1].copy()
    return {"K"}


def _final_norm(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    ends: Any = copy.ends
    ends["final.gain"] = ends["final.gain"] * rng.uniform(1 + size, 1 + 2 * size, len(ends["final.gain"]))
    return {"W", "W.bias"}


def _rotation(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    a = block["K"].shape[1]
    R = np.linalg.qr(rng.standard_normal((a, a)))[0]
    for part in ("K", "Q"):
        block[part] = R @ block[part]
        if f"{part}.bias" in block:
            block[f"{part}.bias"] = block[f"{part}.bias"] @ R.T
    return {"K", "K.bias"}


def _norm_bias(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    name = str(rng.choice(["after attention.bias", "after perceptron.bias"]))
    block[name][rng.integers(len(block[name]))] += 4 * size * np.linalg.norm(block[name])
    return {name}


def _conjugate(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    """The right k → ck, and q → q/c in place of q/c̄."""
    p = len(copy.facts.angles[0])
    for part, factor in (("K", 1 + 1j), ("Q", 1 / (1 + 1j))):
        z = factor * (block[part][:, :p] + 1j * block[part][:, p : 2 * p])
        block[part][:, :p], block[part][:, p : 2 * p] = z.real, z.imag
    return {"K", "Q"}


def _head(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    h = rng.integers(len(block["O"]))
    block["O"][h] *= 1 + 2 * size
    return {"O"}


def _neuron(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    part = "U" if "U" in block else "G"
    i = rng.integers(len(block[part]))
    block[part][i] *= -1
    return {"U", "D"} if part == "U" else {"G", "D"}


def _some(block: Arrays, rng: Rng, parts: str = "QKPOGUD") -> str:
    return str(rng.choice([part for part in parts if part in block]))


def _entry(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    part = _some(block, rng)
    array = block[part]
    at = tuple(rng.integers(n) for n in array.shape)
    whole = array if array.ndim == 2 else array[at[0]]
    seen = whole if part in "PO" else whole[at[-2]] if part != "D" else whole[:, at[1]]
    array[at] += 4 * size * np.linalg.norm(seen)
    return {part}


def _scale(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    part = _some(block, rng, "QKG")
    array = block[part]
    at = tuple(rng.integers(n) for n in array.shape[:-1])
    array[at] *= 1 + 4 * size
    # A factor of both rows of a pair, or of a neuron, is found at the second array of the pair.
    return {part, *{"K": "Q", "G": "D"}.get(part, "")}


def _sign(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    block["O"][rng.integers(len(block["O"]))] *= -1
    return {"O"}


def _row(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    part = _some(block, rng, "QKPG")
    array = block[part]
    at = tuple(rng.integers(n) for n in array.shape[:-1])
    array[at] = np.linalg.norm(array[at]) * rng.standard_normal(array.shape[-1]) / np.sqrt(array.shape[-1])
    return {part}


def _permutation(copy: Transformer, block: Arrays, moves: Arrays, rng: Rng, size: float) -> set[str]:
    part = _some(block, rng, "OD")
    axis = 0 if part == "O" else 1
    block[part] = np.roll(block[part], 1, axis)
    return {part}


MISTAKES: dict[str, Callable[[Transformer, Arrays, Arrays, Rng, float], set[str]]] = {
    "value bias": _value_bias,
    "pairs": _pairs,
    "keys": _keys,
    "final norm": _final_norm,
    "norm bias": _norm_bias,
    "rotation": _rotation,
    "conjugate": _conjugate,
    "head": _head,
    "neuron": _neuron,
    "entry": _entry,
    "scale": _scale,
    "sign": _sign,
    "row": _row,
    "permutation": _permutation,
}
#: How large mistakes are, relative to a row or a head.
SIZES = {"float64": 5e-4, "float32": 5e-4, "float16": 0.1, "bfloat16": 0.5}


def can_have(model: Transformer, kind: str) -> bool:
    """Whether a mistake of this kind can be made, and is one."""
    block = model.blocks[0]
    if kind == "value bias":
        return "P.bias" in block
    if kind == "norm bias":
        return "after attention.bias" in block
    if kind in ("pairs", "rotation", "conjugate"):
        return bool(model.facts.angles)
    return kind != "final norm" or "final.gain" in model.ends


def mistaken_copy(model: Transformer, rng: Rng, kind: str) -> tuple[Transformer, set[str], int]:
    """A copy with one mistake; the array that is wrong, with those that may be called so, and its layer."""
    copy, moves = _moved(model, rng)
    n = int(rng.integers(len(copy.blocks)))
    block: Any = copy.blocks[n]
    arrays = MISTAKES[kind](copy, block, moves[n], rng, SIZES[model.dtype])
    return rounded(copy), arrays, -1 if kind == "final norm" else n
