"""Small random transformers of each family, in memory: two groups of two heads, general gains and biases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from agattn.checkpoints.stored import Facts, Transformer

HEADS, GROUPS, ROWS, VALUES, TOKENS, POSITIONS = 4, 2, 8, 6, 211, 16
#: The llama family; the others say how they differ from it.
LLAMA = Facts(
    norm="rms", eps=1e-5, place="before", parallel=False, causal=True, activation="silu", gated=True,
    qk_norm="", tied=False, embedding_scale=1.0, score_scale=ROWS**-0.5, score_cap=0.0, logit_cap=0.0,
    logit_scale=1.0, windows=(), angles=(),
)  # fmt: skip
LAYER_NORM = {"norm": "layer", "activation": "gelu", "gated": False}
BERT = LAYER_NORM | {"place": "post", "causal": False}
GEMMA = {"place": "both", "activation": "gelu_tanh", "tied": True, "embedding_scale": 24**0.5}
FAMILIES: Mapping[str, Mapping[str, Any]] = {
    "llama": {},
    "qwen2": {},
    "qwen3": {"qk_norm": "head"},
    "phi3": {},
    "gemma2": GEMMA | {"score_cap": 5.0, "logit_cap": 12.0, "windows": (0, 3)},
    "gemma3": GEMMA | {"qk_norm": "head"},
    "olmo2": {"place": "after", "qk_norm": "all"},
    "gpt2": LAYER_NORM | {"tied": True},
    "bigcode": LAYER_NORM,
    "neox": LAYER_NORM | {"parallel": True},
    "falcon": LAYER_NORM | {"parallel": True},
    "bert": BERT,
    "encoder": BERT,
    "opt": LAYER_NORM | {"activation": "relu"},
}
WITHOUT_ROTARY = {"gpt2", "bigcode", "bert", "encoder", "opt"}


def decoder(
    seed: int | np.random.Generator = 0,
    family: str = "llama",
    *,
    layers: int = 2,
    width: int = 24,
    dtype: str = "float64",
    pairs: int = 2,
    **facts: object,
) -> Transformer:
    """A random transformer of a family, rounded to its type; 2p of its 8 rows turn; facts replace its own."""
    random, neurons = np.random.default_rng(seed), 40
    angles = () if family in WITHOUT_ROTARY else (tuple(0.8 / 3.0**f for f in range(pairs)),) * layers
    of_model = replace(LLAMA, **{"angles": angles} | dict(FAMILIES[family]) | facts)  # type: ignore[arg-type]
    biases = "QKPOGD" if of_model.norm == "layer" else "QKP" if family == "qwen2" else ""

    def matrix(*shape: int) -> Any:
        return random.standard_normal(shape) / shape[-1] ** 0.5

    def gain(*shape: int) -> Any:
        return random.uniform(0.5, 2.0, shape)

    def bias(*shape: int) -> Any:
        return 0.3 * random.standard_normal(shape)

    def norm(name: str) -> Iterator[tuple[str, Any]]:
        yield f"{name}.gain", gain(width)
        if of_model.norm == "layer":
            yield f"{name}.bias", bias(width)

    def block() -> Iterator[tuple[str, Any]]:
        if of_model.place in ("before", "both"):
            for half in ("attention", "perceptron")[: 1 if family == "falcon" else 2]:
                yield from norm(half)
        if of_model.place != "before":
            yield from (*norm("after attention"), *norm("after perceptron"))
        shapes = {
            "Q": (HEADS, ROWS, width), "K": (GROUPS, ROWS, width), "P": (GROUPS, VALUES, width),
            "O": (HEADS, width, VALUES), "G": (neurons, width), "D": (width, neurons),
        } | ({"U": (neurons, width)} if of_model.gated else {})  # fmt: skip
        yield from ((part, matrix(*shape)) for part, shape in shapes.items())
        if family != "falcon":
            sizes = {part: shape[:-1] for part, shape in shapes.items()} | {"O": (width,)}
            yield from ((f"{part}.bias", bias(*sizes[part])) for part in biases)
        if of_model.qk_norm:
            every = of_model.qk_norm == "all"
            yield "query.gain", gain(HEADS, ROWS) if every else gain(ROWS)
            yield "key.gain", gain(GROUPS, ROWS) if every else gain(ROWS)

    def ends() -> Iterator[tuple[str, Any]]:
        yield "E", random.standard_normal((TOKENS, width))
        if family in WITHOUT_ROTARY:
            yield "positions", bias(POSITIONS, width)
        if of_model.place == "post":
            yield "types", bias(2, width)
        yield from norm("embedding" if of_model.place == "post" else "final")
        if not of_model.tied and family != "encoder":
            yield "W", matrix(TOKENS, width)
        if family == "bert":
            yield "W.bias", bias(TOKENS)

    blocks = [dict(block()) for _ in range(layers)]
    return rounded(Transformer(family, of_model, dict(ends()), blocks, dtype))


def rounded(model: Transformer) -> Transformer:
    """Every entry rounded once to the type of the model."""
    dtype = {"bfloat16": ml_dtypes.bfloat16}.get(model.dtype) or np.dtype(model.dtype)
    wide = np.float64 if model.dtype == "float64" else np.float32

    def all_of(arrays: Any) -> dict[str, Any]:
        return {part: np.asarray(arrays[part]).astype(dtype).astype(wide) for part in arrays}

    return replace(model, ends=all_of(model.ends), blocks=[all_of(block) for block in model.blocks])
