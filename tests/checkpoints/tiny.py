"""Random small files of published transformers, with the names, shapes and packing that their families have.

They are written by hand, and not from agattn's table of families, so that one checks the other.
"""

import json

import numpy as np

VOCABULARY, POSITIONS, NEURONS = 50, 32, 40
FAMILIES = (
    "llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "gpt2", "gpt_neox", "gpt_bigcode",
    "falcon", "falcon-7b", "olmo2", "bert",
)  # fmt: skip
DTYPES = ("float32", "float16", "bfloat16")


def tiny(family, path, seed=0, dtype="float32", layers=2, d=24, heads=4, groups=2, **keys):
    """Write a folder with a config.json and a model.safetensors; ``keys`` go into the config.json."""
    from safetensors.numpy import save_file

    config, tensors = model(family, seed, layers, d, heads, groups, **keys)
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps(config | {"torch_dtype": dtype}))
    rounded = {name: np.ascontiguousarray(as_type(array, dtype)) for name, array in tensors.items()}
    save_file(rounded, path / "model.safetensors", metadata={"format": "pt"})
    return path


def as_type(array, dtype):
    """The array in a type, which may be ``bfloat16``."""
    import ml_dtypes

    return array.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def model(family, seed=0, layers=2, d=24, heads=4, groups=2, **keys):
    """The configuration, and the tensors in float64."""
    draw = Draw(np.random.default_rng(seed))
    other = {"gpt2": _gpt2, "gpt_bigcode": _gpt2, "gpt_neox": _gpt_neox, "bert": _bert}
    write = _falcon if family.startswith("falcon") else other.get(family, _llama)
    config = write(draw, family, layers, d, heads, groups)
    return config | keys, draw.tensors


class Draw:
    """Random tensors by name."""

    def __init__(self, rng):
        self.rng, self.tensors = rng, {}

    def linear(self, name, rows, columns, bias=False, transposed=False):
        """A matrix that keeps the size of vectors, and its bias."""
        shape = (columns, rows) if transposed else (rows, columns)
        self.tensors[f"{name}.weight"] = self.rng.standard_normal(shape) / columns**0.5
        if bias:
            self.tensors[f"{name}.bias"] = 0.3 * self.rng.standard_normal(rows)

    def norm(self, name, size, bias=False, mean=1.0):
        """Gains, and biases."""
        self.tensors[f"{name}.weight"] = mean + 0.2 * self.rng.standard_normal(size)
        if bias:
            self.tensors[f"{name}.bias"] = 0.2 * self.rng.standard_normal(size)

    def embedding(self, name, rows, columns):
        """Vectors of tokens."""
        self.tensors[f"{name}.weight"] = self.rng.standard_normal((rows, columns))


def _llama(draw, family, layers, d, heads, groups):
    """Models that are written as Llama is, with what each of them has beside it."""
    a = 8 if family in ("qwen3", "gemma2", "gemma3") else d // heads
    mean = 0.0 if family.startswith("gemma") else 1.0
    draw.embedding("model.embed_tokens", VOCABULARY, d)
    for layer in range(layers):
        at = f"model.layers.{layer}"
        q, kv = heads * a, groups * a
        if family == "phi3":
            draw.linear(f"{at}.self_attn.qkv_proj", q + 2 * kv, d)
            draw.linear(f"{at}.mlp.gate_up_proj", 2 * NEURONS, d)
        else:
            for letter, rows in (("q", q), ("k", kv), ("v", kv)):
                draw.linear(f"{at}.self_attn.{letter}_proj", rows, d, bias=family == "qwen2")
            draw.linear(f"{at}.mlp.gate_proj", NEURONS, d)
            draw.linear(f"{at}.mlp.up_proj", NEURONS, d)
        draw.linear(f"{at}.self_attn.o_proj", d, q)
        draw.linear(f"{at}.mlp.down_proj", d, NEURONS)
        if family in ("qwen3", "gemma3", "olmo2"):
            whole = family == "olmo2"
            draw.norm(f"{at}.self_attn.q_norm", q if whole else a, mean=mean)
            draw.norm(f"{at}.self_attn.k_norm", kv if whole else a, mean=mean)
        if family != "olmo2":
            draw.norm(f"{at}.input_layernorm", d, mean=mean)
        draw.norm(f"{at}.post_attention_layernorm", d, mean=mean)
        if family.startswith("gemma"):
            draw.norm(f"{at}.pre_feedforward_layernorm", d, mean=mean)
        if family.startswith("gemma") or family == "olmo2":
            draw.norm(f"{at}.post_feedforward_layernorm", d, mean=mean)
    draw.norm("model.norm", d, mean=mean)
    tied = family.startswith("gemma")
    if not tied:
        draw.linear("lm_head", VOCABULARY, d)
    config = {
        "model_type": "gemma3_text" if family == "gemma3" else family,
        "hidden_size": d, "num_hidden_layers": layers, "num_attention_heads": heads,
        "num_key_value_heads": groups, "intermediate_size": NEURONS, "vocab_size": VOCABULARY,
        "max_position_embeddings": POSITIONS, "rms_norm_eps": 1e-5, "rope_theta": 500.0,
        "tie_word_embeddings": tied, "attention_bias": False,
    }  # fmt: skip
    own = {
        "llama": {"hidden_act": "silu", "mlp_bias": False},
        "mistral": {"hidden_act": "silu", "sliding_window": 4, "head_dim": a},
        "qwen2": {"hidden_act": "silu", "use_sliding_window": False, "sliding_window": 4},
        "qwen3": {"hidden_act": "silu", "use_sliding_window": False, "sliding_window": None, "head_dim": a},
        "phi3": {"hidden_act": "silu", "sliding_window": None, "rope_scaling": None, "pad_token_id": 0},
        "olmo2": {"hidden_act": "silu"},
        "gemma2": {
            "hidden_activation": "gelu_pytorch_tanh", "head_dim": a, "query_pre_attn_scalar": 12,
            "sliding_window": 4, "attn_logit_softcapping": 5.0, "final_logit_softcapping": 3.0,
        },
        "gemma3": {
            "hidden_activation": "gelu_pytorch_tanh", "head_dim": a, "query_pre_attn_scalar": 12,
            "sliding_window": 4, "sliding_window_pattern": 2, "rope_local_base_freq": 100.0,
            "rope_scaling": {"rope_type": "linear", "factor": 8.0},
        },
    }  # fmt: skip
    if family == "qwen2":
        del config["attention_bias"]
    return config | own[family]


def _gpt2(draw, family, layers, d, heads, groups):
    big = family == "gpt_bigcode"
    draw.embedding("transformer.wte", VOCABULARY, d)
    draw.embedding("transformer.wpe", POSITIONS, d)
    for layer in range(layers):
        at = f"transformer.h.{layer}"
        draw.norm(f"{at}.ln_1", d, bias=True)
        draw.norm(f"{at}.ln_2", d, bias=True)
        rows = d + 2 * d // heads if big else 3 * d
        for name, height, width in (("attn.c_attn", rows, d), ("attn.c_proj", d, d),
                                    ("mlp.c_fc", NEURONS, d), ("mlp.c_proj", d, NEURONS)):  # fmt: skip
            draw.linear(f"{at}.{name}", height, width, bias=True, transposed=not big)
    draw.norm("transformer.ln_f", d, bias=True)
    own = {"multi_query": True, "activation_function": "gelu_pytorch_tanh"} if big else {}
    return {
        "model_type": family, "n_embd": d, "n_head": heads, "n_layer": layers, "n_positions": POSITIONS,
        "n_inner": NEURONS, "vocab_size": VOCABULARY, "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5,
    } | own  # fmt: skip


def _gpt_neox(draw, family, layers, d, heads, groups):
    a = d // heads
    draw.embedding("gpt_neox.embed_in", VOCABULARY, d)
    for layer in range(layers):
        at = f"gpt_neox.layers.{layer}"
        draw.norm(f"{at}.input_layernorm", d, bias=True)
        draw.norm(f"{at}.post_attention_layernorm", d, bias=True)
        draw.linear(f"{at}.attention.query_key_value", 3 * d, d, bias=True)
        draw.linear(f"{at}.attention.dense", d, d, bias=True)
        draw.linear(f"{at}.mlp.dense_h_to_4h", NEURONS, d, bias=True)
        draw.linear(f"{at}.mlp.dense_4h_to_h", d, NEURONS, bias=True)
    draw.norm("gpt_neox.final_layer_norm", d, bias=True)
    draw.linear("embed_out", VOCABULARY, d)
    return {
        "model_type": "gpt_neox", "hidden_size": d, "num_attention_heads": heads, "num_hidden_layers": layers,
        "intermediate_size": NEURONS, "vocab_size": VOCABULARY, "max_position_embeddings": POSITIONS,
        "hidden_act": "gelu", "rotary_pct": (2 * max(1, a // 3) + 0.01) / a, "rotary_emb_base": 500,
        "layer_norm_eps": 1e-5, "use_parallel_residual": True, "tie_word_embeddings": False,
        "attention_bias": True,
    }  # fmt: skip


def _falcon(draw, family, layers, d, heads, groups):
    new, a = family == "falcon", d // heads
    groups = groups if new else 1
    draw.embedding("transformer.word_embeddings", VOCABULARY, d)
    for layer in range(layers):
        at = f"transformer.h.{layer}"
        for name in ("ln_attn", "ln_mlp") if new else ("input_layernorm",):
            draw.norm(f"{at}.{name}", d, bias=True)
        draw.linear(f"{at}.self_attention.query_key_value", (heads + 2 * groups) * a, d)
        draw.linear(f"{at}.self_attention.dense", d, d)
        draw.linear(f"{at}.mlp.dense_h_to_4h", NEURONS, d)
        draw.linear(f"{at}.mlp.dense_4h_to_h", d, NEURONS)
    draw.norm("transformer.ln_f", d, bias=True)
    return {
        "model_type": "falcon", "hidden_size": d, "num_attention_heads": heads, "num_hidden_layers": layers,
        "num_kv_heads": groups, "ffn_hidden_size": NEURONS, "vocab_size": VOCABULARY, "alibi": False,
        "new_decoder_architecture": new, "multi_query": not new, "parallel_attn": True, "bias": False,
        "layer_norm_epsilon": 1e-5, "max_position_embeddings": POSITIONS, "rope_theta": 500.0,
    }  # fmt: skip


def _bert(draw, family, layers, d, heads, groups):
    draw.embedding("embeddings.word_embeddings", VOCABULARY, d)
    draw.embedding("embeddings.position_embeddings", POSITIONS, d)
    draw.embedding("embeddings.token_type_embeddings", 2, d)
    draw.norm("embeddings.LayerNorm", d, bias=True)
    for layer in range(layers):
        at = f"encoder.layer.{layer}"
        for name in ("query", "key", "value"):
            draw.linear(f"{at}.attention.self.{name}", d, d, bias=True)
        draw.linear(f"{at}.attention.output.dense", d, d, bias=True)
        draw.linear(f"{at}.intermediate.dense", NEURONS, d, bias=True)
        draw.linear(f"{at}.output.dense", d, NEURONS, bias=True)
        draw.norm(f"{at}.attention.output.LayerNorm", d, bias=True)
        draw.norm(f"{at}.output.LayerNorm", d, bias=True)
    draw.linear("pooler.dense", d, d, bias=True)
    return {
        "model_type": "bert", "hidden_size": d, "num_attention_heads": heads, "num_hidden_layers": layers,
        "intermediate_size": NEURONS, "vocab_size": VOCABULARY, "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
        "position_embedding_type": "absolute",
    }  # fmt: skip
