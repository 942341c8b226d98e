"""Whole transformers beside the program that publishes them: do both compute the same logits?

    python benchmarks/checkpoints.py --transformers OTHER/bin/python [--seeds N]

OTHER is an environment with torch and transformers. There a small model of each family is made, all its
parameters are drawn at random, it is saved, and its logits are computed in float32. Here the file is read and
evaluated in float64. Of each model is printed by how much logits differ at most, relative to the largest;
1e-5 is the limit. Models in float16 and bfloat16 are saved so, and evaluated there in float32.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

LIMIT = 1e-5
TOKENS = [3, 14, 15, 9, 2, 6, 5, 35, 8, 9, 7, 9, 3, 23, 8, 46]
LLAMA = {
    "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 48, "vocab_size": 50, "max_position_embeddings": 64, "pad_token_id": 0,
}  # fmt: skip
GPT2 = {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64, "vocab_size": 50}
NEOX = {key: value for key, value in LLAMA.items() if key != "num_key_value_heads"}
FALCON = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 50}
GEMMA = LLAMA | {"head_dim": 12, "query_pre_attn_scalar": 10, "sliding_window": 5}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
LAYERS = ["sliding_attention", "full_attention", "sliding_attention"]
#: By name the class of the configuration and of the model, and the keys.
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Llama": ("LlamaConfig", "LlamaForCausalLM", LLAMA),
    "Llama, biases, tied": (
        "LlamaConfig",
        "LlamaForCausalLM",
        LLAMA | {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True},
    ),
    "Llama, angles of Llama 3": (
        "LlamaConfig",
        "LlamaForCausalLM",
        LLAMA | {"rope_theta": 500.0, "rope_scaling": LLAMA3 | {"original_max_position_embeddings": 32}},
    ),
    "Llama, YaRN": ("LlamaConfig", "LlamaForCausalLM", LLAMA | {"rope_scaling": YARN}),
    "Llama, YaRN with two scales": (
        "LlamaConfig",
        "LlamaForCausalLM",
        LLAMA | {"rope_scaling": YARN | {"mscale": 1.5, "mscale_all_dim": 0.5, "truncate": False}},
    ),
    "Llama, linear": (
        "LlamaConfig",
        "LlamaForCausalLM",
        LLAMA | {"rope_scaling": {"rope_type": "linear", "factor": 3.0}},
    ),
    "Mistral": ("MistralConfig", "MistralForCausalLM", LLAMA | {"sliding_window": 5, "head_dim": 12}),
    "Qwen2": ("Qwen2Config", "Qwen2ForCausalLM", LLAMA),
    "Qwen2, windows": (
        "Qwen2Config",
        "Qwen2ForCausalLM",
        LLAMA | {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1},
    ),
    "Qwen3": ("Qwen3Config", "Qwen3ForCausalLM", LLAMA | {"head_dim": 12}),
    "Gemma 2": (
        "Gemma2Config",
        "Gemma2ForCausalLM",
        GEMMA | {"attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0},
    ),
    "Gemma 3": (
        "Gemma3TextConfig",
        "Gemma3ForCausalLM",
        GEMMA | {"layer_types": LAYERS, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
    ),
    "Phi-3": ("Phi3Config", "Phi3ForCausalLM", LLAMA | {"sliding_window": 5}),
    "Phi-3, partly rotary": ("Phi3Config", "Phi3ForCausalLM", LLAMA | {"partial_rotary_factor": 0.5}),
    "OLMo 2": ("Olmo2Config", "Olmo2ForCausalLM", LLAMA),
    "GPT-2": ("GPT2Config", "GPT2LMHeadModel", GPT2),
    "GPT-2, plain scores": (
        "GPT2Config",
        "GPT2LMHeadModel",
        GPT2 | {"scale_attn_weights": False, "activation_function": "relu"},
    ),
    "GPT-BigCode": ("GPTBigCodeConfig", "GPTBigCodeForCausalLM", GPT2),
    "GPT-BigCode, own keys": ("GPTBigCodeConfig", "GPTBigCodeForCausalLM", GPT2 | {"multi_query": False}),
    "GPT-NeoX": ("GPTNeoXConfig", "GPTNeoXForCausalLM", NEOX | {"rotary_pct": 0.5}),
    "GPT-NeoX, not parallel": (
        "GPTNeoXConfig",
        "GPTNeoXForCausalLM",
        NEOX | {"use_parallel_residual": False, "attention_bias": False},
    ),
    "Falcon, new": (
        "FalconConfig",
        "FalconForCausalLM",
        FALCON | {"new_decoder_architecture": True, "num_kv_heads": 2},
    ),
    "Falcon, new, one norm": (
        "FalconConfig",
        "FalconForCausalLM",
        FALCON | {"new_decoder_architecture": True, "num_kv_heads": 2, "num_ln_in_parallel_attn": 1},
    ),
    "Falcon, one key": ("FalconConfig", "FalconForCausalLM", FALCON),
    "Falcon, own keys, not parallel": (
        "FalconConfig",
        "FalconForCausalLM",
        FALCON | {"multi_query": False, "parallel_attn": False, "bias": True},
    ),
    "BERT": ("BertConfig", "BertModel", NEOX),
}


def make(folder: Path, seeds: int) -> None:
    """Make all models with transformers, and compute their logits."""
    import torch
    import transformers

    print(f"torch {torch.__version__}, transformers {transformers.__version__}", flush=True)
    for name, (config_class, model_class, keys) in CASES.items():
        for seed in range(seeds):
            torch.manual_seed(seed)
            config = getattr(transformers, config_class)(**keys)
            config._attn_implementation = "eager"
            model = getattr(transformers, model_class)(config).eval()
            with torch.no_grad():
                for parameter in model.parameters():
                    size = parameter.shape[-1] ** -0.5 if parameter.ndim > 1 else 0.3
                    parameter.copy_(torch.randn_like(parameter) * size + parameter * (parameter.ndim == 1))
                for dtype in ("float32", "float16", "bfloat16"):
                    place = folder / f"m{[*CASES].index(name)}_{seed}_{dtype}"
                    model.to(getattr(torch, dtype)).save_pretrained(place)
                    read = type(model).from_pretrained(
                        place, dtype=torch.float32, attn_implementation="eager"
                    )
                    result = read.eval()(torch.tensor([TOKENS]))
                    values = result.last_hidden_state if name == "BERT" else result.logits
                    np.save(place / "logits.npy", values[0].numpy())


def compare(folder: Path, seeds: int) -> bool:
    """Print how much agattn's logits differ; whether none differ by more than the limit."""
    from agattn.checkpoints.forward import logits
    from agattn.checkpoints.reading import read_transformer

    good = True
    for name in CASES:
        worst = dict.fromkeys(("float32", "float16", "bfloat16"), 0.0)
        for dtype in worst:
            for seed in range(seeds):
                place = folder / f"m{[*CASES].index(name)}_{seed}_{dtype}"
                theirs = np.load(place / "logits.npy")
                ours = logits(read_transformer(place), TOKENS)
                worst[dtype] = max(worst[dtype], float(abs(ours - theirs).max() / abs(theirs).max()))
        good = good and max(worst.values()) < LIMIT
        print(f"{name:32}", *(f"{dtype} {error:.1e}" for dtype, error in worst.items()), flush=True)
    return good


def main() -> int:
    """Make, read, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transformers", help="a Python with torch and transformers")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make:
        make(given.make, given.seeds)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        command = [given.transformers, __file__, "--make", folder, "--seeds", str(given.seeds)]
        subprocess.run(command, check=True)
        return 0 if compare(Path(folder), given.seeds) else 1


if __name__ == "__main__":
    sys.exit(main())
