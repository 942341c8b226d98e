"""Small random transformers of each kind, in memory: two groups of two heads, general gains and biases."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from agattn.checkpoints.stored import Facts, Transformer

HEADS, GROUPS, ROWS, VALUES, TOKENS, POSITIONS = 4, 2, 6, 5, 40, 16
#: The llama kind; the others say how they differ from it.
LLAMA = Facts(
    norm="rms",
    eps=1e-5,
    place="before",
    parallel=False,
    causal=True,
    activation="silu",
    gated=True,
    qk_norm="",
    tied=False,
    embedding_scale=1.0,
    score_scale=ROWS**-0.5,
    score_cap=0.0,
    logit_cap=0.0,
    logit_scale=1.0,
    windows=(),
    angles=(),
)
LAYER_NORM = {"norm": "layer", "activation": "gelu_tanh", "gated": False}
KINDS: Mapping[str, Mapping[str, object]] = {
    "llama": {},
    "qwen2": {},
    "gpt2": {**LAYER_NORM, "tied": True},
    "qwen3": {"qk_norm": "head"},
    "olmo2": {"qk_norm": "all", "place": "after"},
    "gemma2": {
        "place": "both",
        "activation": "gelu_tanh",
        "tied": True,
        "embedding_scale": 24**0.5,
        "score_cap": 5.0,
        "logit_cap": 12.0,
    },
    "bert": {**LAYER_NORM, "activation": "gelu", "place": "post", "causal": False},
    "neox": {**LAYER_NORM, "parallel": True},
}
WITHOUT_ROTARY = {"gpt2", "bert"}
#: Kinds with biases on the queries, keys and values; those with layer norms have them everywhere.
BIASED = {"qwen2", "gpt2", "bert", "neox"}


def decoder(
    seed: int = 0,
    kind: str = "llama",
    *,
    layers: int = 2,
    width: int = 24,
    neurons: int = 20,
    dtype: str = "float64",
    pairs: int = 2,
    **facts: object,
) -> Transformer:
    """A random transformer of a kind of :data:`KINDS`; 2p of its 6 rows turn; further facts replace its own.

    The arrays are rounded to the type, and come as numbers of float64 (float32 if that is the type).
    """
    random = np.random.default_rng(seed)
    angles = () if kind in WITHOUT_ROTARY else (tuple(0.8 / 3.0**f for f in range(pairs)),) * layers
    windows = tuple(3 * (n % 2) for n in range(layers)) if kind == "gemma2" else ()
    own = {"angles": angles, "windows": windows} | dict(KINDS[kind]) | facts
    of_model: Facts = replace(LLAMA, **own)  # type: ignore[arg-type]

    def rounded(array):
        if dtype == "bfloat16":
            bits = array.astype(np.float32).view(np.uint32)
            return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).view(np.float32)
        array = array.astype(dtype)
        return array if dtype == "float64" else array.astype(np.float32)

    def matrix(*shape):
        return rounded(random.standard_normal(shape) / shape[-1] ** 0.5)

    def gain(*shape):
        return rounded(1 + 0.3 * random.standard_normal(shape))

    def bias(*shape):
        return rounded(0.3 * random.standard_normal(shape))

    def norm(name):
        yield f"{name}.gain", gain(width)
        if of_model.norm == "layer":
            yield f"{name}.bias", bias(width)

    def block():
        halves = ("attention", "perceptron")
        if of_model.place in ("before", "both"):
            yield from (entry for half in halves for entry in norm(half))
        if of_model.place != "before":
            yield from (entry for half in halves for entry in norm(f"after {half}"))
        shapes = {
            "Q": (HEADS, ROWS, width),
            "K": (GROUPS, ROWS, width),
            "P": (GROUPS, VALUES, width),
            "O": (HEADS, width, VALUES),
            "G": (neurons, width),
            "D": (width, neurons),
        } | ({"U": (neurons, width)} if of_model.gated else {})
        yield from ((part, matrix(*shape)) for part, shape in shapes.items())
        if kind in BIASED:
            yield from ((f"{part}.bias", bias(*shapes[part][:2])) for part in "QKP")
        if of_model.norm == "layer":
            yield from (("O.bias", bias(width)), ("D.bias", bias(width)), ("G.bias", bias(neurons)))
        if of_model.qk_norm:
            one = of_model.qk_norm == "head"
            yield "query.gain", gain(ROWS) if one else gain(HEADS, ROWS)
            yield "key.gain", gain(ROWS) if one else gain(GROUPS, ROWS)

    def ends():
        yield "E", rounded(random.standard_normal((TOKENS, width)))
        if kind in WITHOUT_ROTARY:
            yield "positions", rounded(random.standard_normal((POSITIONS, width)))
        if kind == "bert":
            yield "types", rounded(random.standard_normal((2, width)))
            yield from norm("embedding")
        else:
            yield from norm("final")
        if not of_model.tied:
            yield "W", matrix(TOKENS, width)
        if kind == "bert":
            yield "W.bias", bias(TOKENS)

    blocks = [dict(block()) for _ in range(layers)]
    return Transformer(f"{kind}-{seed}", of_model, dict(ends()), blocks, dtype)
