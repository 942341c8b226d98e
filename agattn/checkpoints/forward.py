r"""The function of a stored transformer: its logits at some tokens, in float64, an array at a time.

With s(j) the weights of a softmax over the tokens j that a token τ sees, R_j the turn of the pairs of rows to
the position j, and q, k, v what the arrays read from u, which is x or its norm, a block is

.. math::

    x \mapsto x + \sum_h O_h \sum_j s_h(j)\, v_{g(h)}(j) + b_o, \quad
    s_h = \operatorname{softmax}_j\bigl((R_τ q_h)^{\mathsf T} R_j k_{g(h)} / \sqrt a\bigr), \quad
    x \mapsto x + D(\operatorname{act}(Gu) \odot Uu) + b_d.

:func:`moved` gives the same model with every entry θ put to θ(1 ± u), for how far rounding moves outputs.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import sqrt

import numpy as np

from agattn.algebra.scalars import Array
from agattn.checkpoints.folding import pieces
from agattn.checkpoints.stored import Arrays, Facts, LazyArrays, Transformer, rows, shape
from agattn.errors import InputError
from agattn.workers import spread

#: Rows of the unembedding that are taken at a time.
ROWS = 512


def _gelu(x: Array) -> Array:
    from scipy.special import erf

    result: Array = x * (1 + erf(x / sqrt(2))) / 2
    return result


#: What a perceptron does to a number. Hyperbolic tangents never overflow, as x/(1 + exp(−x)) does.
ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {
    "silu": lambda x: x * (1 + np.tanh(x / 2)) / 2,
    "gelu": _gelu,
    "gelu_tanh": lambda x: x * (1 + np.tanh(sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
    "relu": lambda x: np.maximum(x, 0),
    "relu2": lambda x: np.maximum(x, 0) ** 2,
}


def logits(model: Transformer, tokens: Sequence[int]) -> Array:
    """The logits at these tokens (T × V); the last vectors (T × d) of a model without unembedding.

    Each array is read once, but for the embedding of a tied model, which is read again at the end; no more
    than one half of a block is in memory.

    Args:
        model: the transformer.
        tokens: their numbers, from 0.

    Raises:
        InputError: if there is no such token, or no position for so many.

    Example:
        >>> facts = Facts("rms", 0.0, "before", False, True, "silu", True, "", True, 1, 1, 0, 0, 1, (), ())
        >>> ends = {"E": np.array([[3.0, 4.0], [1.0, -1.0]]), "final.gain": np.array([5.0, 5.0])}
        >>> logits(Transformer("tiny", facts, ends, ()), [1]).tolist()
        [[-5.0, 10.0]]

    See Also:
        moved: the model with every entry moved, as by rounding.
    """
    facts = model.facts
    x = _embedding(model, tokens)
    for n, block in enumerate(model.blocks):
        x = _block(x, block, facts, n)
    if facts.place != "post":
        x = _norm(x, model.ends, "final", facts)
    return _unembedding(model, x)


def attention_inputs(model: Transformer, sequences: Sequence[Sequence[int]]) -> Iterator[Array]:
    """What the attention of each layer reads, of all sequences one below the other (tokens × d).

    Raises:
        InputError: if there is no such token, or no position for so many.
    """
    facts = model.facts
    read = replace(model, ends={part: model.ends[part] for part in model.ends})
    xs = [_embedding(read, tokens) for tokens in sequences]
    for n, stored in enumerate(model.blocks):
        block = {part: stored[part] for part in stored}
        before = facts.parallel or facts.place in ("before", "both")
        yield np.concatenate([_norm(x, block, "attention", facts) if before else x for x in xs])
        xs = [_block(x, block, facts, n) for x in xs]


def _embedding(model: Transformer, tokens: Sequence[int]) -> Array:
    """What the first block reads."""
    ends, facts = model.ends, model.facts
    count = shape(ends, "E")[0]
    if not tokens or not all(0 <= t < count for t in tokens):
        raise InputError(f"tokens are one or more numbers from 0 to {count - 1}, not {list(tokens)}")
    E = {t: rows(ends, "E", slice(t, t + 1))[0] for t in sorted(set(tokens))}
    x: Array = facts.embedding_scale * np.array([E[t] for t in tokens]).astype(np.float64)
    if "positions" in ends:
        positions = ends["positions"]
        if len(tokens) > len(positions):
            raise InputError(f"{len(tokens)} tokens are more than the model's {len(positions)} positions")
        x += positions[: len(tokens)]
    if "types" in ends:
        x += ends["types"][0]
    return _norm(x, ends, "embedding", facts) if "embedding.gain" in ends else x


def _unembedding(model: Transformer, x: Array) -> Array:
    ends, facts = model.ends, model.facts
    if "W" not in ends and not facts.tied:
        return x
    part = "E" if facts.tied else "W"

    def of_rows(n: int) -> Array:
        return x @ rows(ends, part, slice(n, n + ROWS)).astype(np.float64).T

    y = np.concatenate([*spread(of_rows, range(0, shape(ends, part)[0], ROWS))], 1)
    if "W.bias" in ends:
        y += ends["W.bias"]
    return _capped(facts.logit_scale * y, facts.logit_cap)


def _block(x: Array, block: Arrays, facts: Facts, n: int) -> Array:
    """What a block makes of x, with its norms where they stand."""
    if facts.parallel:
        second = "perceptron" if "perceptron.gain" in block else "attention"
        u, w = _norm(x, block, "attention", facts), _norm(x, block, second, facts)
        return x + _attention(u, block, facts, n) + _perceptron(w, block, facts)
    for half in ("attention", "perceptron"):
        u = _norm(x, block, half, facts) if facts.place in ("before", "both") else x
        attends = half == "attention"
        y = _attention(u, block, facts, n) if attends else _perceptron(u, block, facts)
        if facts.place == "post":
            x = _norm(x + y, block, f"after {half}", facts)
        else:
            x = x + (y if facts.place == "before" else _norm(y, block, f"after {half}", facts))
    return x


def _norm(x: Array, arrays: Arrays, name: str, facts: Facts) -> Array:
    """(x − mean)/√(mean square + eps)·γ + β, the mean subtracted by layer norms alone."""
    if facts.norm == "layer":
        x = x - x.mean(-1, keepdims=True)
    y: Array = x / np.sqrt((x**2).mean(-1, keepdims=True) + facts.eps)
    if f"{name}.gain" in arrays:
        y = y * arrays[f"{name}.gain"]
    return y + arrays[f"{name}.bias"] if f"{name}.bias" in arrays else y


def _read(u: Array, block: Arrays, part: str) -> Array:
    """W u + b: tokens × rows, or heads × tokens × rows."""
    W, b = block[part], block.get(f"{part}.bias")

    def of_piece(at: slice) -> Array:
        return u @ W[at].astype(np.float64).swapaxes(-1, -2)

    y = np.concatenate([*spread(of_piece, pieces(W.shape))], axis=0 if W.ndim == 3 else -1)
    return y if b is None else y + b[..., None, :]


def _attention(u: Array, block: Arrays, facts: Facts, n: int) -> Array:
    """Σ_h O_h Σ_j s_h(j) v(j) + b_o for each token."""
    angles = facts.angles[n] if facts.angles else ()
    q, k = (_turned(_keys(u, block, part, facts), angles, facts) for part in "QK")
    v = _read(u, block, "P")
    of_head = np.repeat(np.arange(len(k)), len(q) // len(k))
    scores = _capped(facts.score_scale * (q @ k[of_head].swapaxes(1, 2)), facts.score_cap)
    scores = np.where(_seen(len(u), facts.causal, facts.windows[n] if facts.windows else 0), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    y = np.zeros_like(u)
    for h, O in enumerate(block["O"]):
        y += weights[h] @ v[of_head[h]] @ O.astype(np.float64).T
    return y + block["O.bias"] if "O.bias" in block else y


def _keys(u: Array, block: Arrays, part: str, facts: Facts) -> Array:
    """Queries or keys, normalized if the model does so (by the root mean square): heads × tokens × rows."""
    y = _read(u, block, part)
    if not facts.qk_norm:
        return y
    axes = -1 if facts.qk_norm == "head" else (0, -1)
    gain = block["query.gain" if part == "Q" else "key.gain"]
    y *= gain[..., None, :] / np.sqrt((y**2).mean(axes, keepdims=True) + facts.eps)
    return y


def _turned(y: Array, angles: tuple[float, ...], facts: Facts) -> Array:
    """(x, y) → (x cos − y sin, x sin + y cos) for pair f, the rows f and p + f, at each position."""
    p = len(angles)
    turns = np.arange(y.shape[1])[:, None] * np.array(angles)
    cos, sin = facts.turning_scale * np.cos(turns), facts.turning_scale * np.sin(turns)
    first, second, rest = y[..., :p], y[..., p : 2 * p], y[..., 2 * p :]
    return np.concatenate([first * cos - second * sin, first * sin + second * cos, rest], -1)


def _seen(count: int, causal: bool, window: int) -> Array:
    """Whether token τ (row) sees token j; both sides share the window of a model that is not causal."""
    ahead = np.arange(count)[:, None] - np.arange(count)
    seen: Array = ahead >= 0 if causal else np.full_like(ahead, True, dtype=bool)
    if window:
        seen &= ahead < window if causal else np.abs(ahead) <= window // 2
    return seen


def _capped(x: Array, cap: float) -> Array:
    return cap * np.tanh(x / cap) if cap else x


def _perceptron(u: Array, block: Arrays, facts: Facts) -> Array:
    """D(act(Gu) ⊙ Uu) + b or D act(Gu) + b for each token."""
    y = ACTIVATIONS[facts.activation](_read(u, block, "G"))
    if facts.gated:
        y = y * _read(u, block, "U")
    return _read(y, block, "D")


def moved(model: Transformer, unit: float, seed: int) -> Transformer:
    """The model with every entry θ put to θ(1 ± u), in float64, at the moment it is read.

    The sign of an entry is the product of random signs of its indices, so that any two are independent: the
    mean square of what this does to an output, to first order, is that of signs which are all independent,
    u² Σ (θ ∂f/∂θ)². The same seed gives the same signs.

    Example:
        >>> facts = Facts("rms", 0.0, "before", False, True, "silu", True, "", True, 1, 1, 0, 0, 1, (), ())
        >>> model = Transformer("tiny", facts, {"E": np.ones((2, 2))}, ())
        >>> sorted(set(abs(moved(model, 0.25, 0).ends["E"] - 1).ravel().tolist()))
        [0.25]
    """
    ends = _moved(model.ends, unit, (seed, 0))
    blocks = [_moved(block, unit, (seed, n)) for n, block in enumerate(model.blocks, 1)]
    return replace(model, ends=ends, blocks=blocks)


def _moved(arrays: Arrays, unit: float, seeds: tuple[int, ...]) -> Arrays:
    def of_rows(part: str, at: slice) -> Array:
        array = rows(arrays, part, at)
        random = np.random.default_rng([*seeds, zlib.crc32(part.encode())])
        signs = unit * random.choice([-1.0, 1.0], shape(arrays, part)[0])[at]
        for size in array.shape[1:]:
            signs = signs[..., None] * random.choice([-1.0, 1.0], size)
        return array * (1 + signs)

    return LazyArrays(arrays.keys(), of_rows, partial(shape, arrays))
