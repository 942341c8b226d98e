"""Whole checkpoints: what is read of them, and that it is written back."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tiny import DTYPES, FAMILIES, model, tiny

from agattn.checkpoints.families import wholes
from agattn.checkpoints.reading import angles, read_transformer, write_transformer
from agattn.checkpoints.stored import rows
from agattn.checkpoints.weight_files import WeightFile
from agattn.errors import InputError

safetensors = pytest.importorskip("safetensors.numpy")

A, D = 6, 24


def equal(first, second):
    """Whether two transformers have the same arrays and facts."""
    pairs = zip((first.ends, *first.blocks), (second.ends, *second.blocks), strict=True)
    return first.facts == second.facts and all(
        set(a) == set(b) and all(np.array_equal(a[part], b[part]) for part in a) for a, b in pairs
    )


def loaded(transformer):
    """The transformer with all arrays in memory, so that some can be replaced."""
    ends, *blocks = ({part: one[part] for part in one} for one in (transformer.ends, *transformer.blocks))
    return replace(transformer, ends=ends, blocks=blocks)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_checkpoint_that_is_read_and_written_is_the_same_file(tmp_path, family, dtype):
    folder = tiny(family, tmp_path / "a", seed=1, dtype=dtype)
    read = read_transformer(folder)
    assert read.dtype == dtype
    write_transformer(folder, read, tmp_path / "b")
    assert (tmp_path / "b/model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    assert equal(read, read_transformer(tmp_path / "b"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_other_arrays_are_rounded_once(tmp_path, family, dtype):
    """Written, read and written again, nothing changes; and no entry is farther than half a last bit."""
    folder = tiny(family, tmp_path / "a", dtype=dtype)
    other = loaded(read_transformer(tiny(family, tmp_path / "b", seed=2)))
    write_transformer(folder, other, tmp_path / "c")
    once = read_transformer(tmp_path / "c")
    write_transformer(folder, once, tmp_path / "d")
    assert equal(once, read_transformer(tmp_path / "d"))
    u = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype]
    least = 2.0**-25 if dtype == "float16" else 0
    for a, b in zip((other.ends, *other.blocks), (once.ends, *once.blocks), strict=True):
        for part in a:
            stored = a[part].astype(float) - wholes()[model(family)[0]["model_type"]].gain * part.endswith(
                "gain"
            )
            assert (abs(a[part] - b[part]) <= u * abs(stored) + least + 1e-16).all(), part


@pytest.mark.parametrize("family", ["gpt_neox", "falcon", "falcon-7b", "gpt_bigcode", "phi3", "gpt2"])
def test_queries_keys_and_values_of_one_tensor(family):
    """Said again, head by head."""
    config, tensors = model(family, seed=3)
    block = read_transformer(tensors, config).blocks[1]
    names = {
        "gpt_neox": "gpt_neox.layers.1.attention.query_key_value",
        "gpt_bigcode": "transformer.h.1.attn.c_attn",
        "gpt2": "transformer.h.1.attn.c_attn",
        "phi3": "model.layers.1.self_attn.qkv_proj",
    }
    name = f"{names.get(family, 'transformer.h.1.self_attention.query_key_value')}.weight"
    fused = tensors[name].T if family == "gpt2" else tensors[name]
    numbers = {
        "gpt_neox": ([0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]),
        "gpt2": ([0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]),
        "phi3": ([0, 1, 2, 3], [4, 5], [6, 7]),
        "falcon": ([0, 1, 4, 5], [2, 6], [3, 7]),
        "falcon-7b": ([0, 1, 2, 3], [4], [5]),
        "gpt_bigcode": ([0, 1, 2, 3], [4], [5]),
    }[family]
    for part, at in zip("QKP", numbers, strict=True):
        assert np.array_equal(block[part], [fused[n * A : (n + 1) * A] for n in at])
    if family == "gpt_neox":
        bias = tensors[name.replace("weight", "bias")]
        assert np.array_equal(block["K.bias"][2], bias[7 * A : 8 * A])


def test_outputs_and_perceptrons():
    for family, (output, down, transposed) in {
        "llama": ("model.layers.0.self_attn.o_proj.weight", "model.layers.0.mlp.down_proj.weight", False),
        "gpt2": ("transformer.h.0.attn.c_proj.weight", "transformer.h.0.mlp.c_proj.weight", True),
    }.items():
        config, tensors = model(family)
        block = read_transformer(tensors, config).blocks[0]
        O, down = (tensors[name].T if transposed else tensors[name] for name in (output, down))
        assert np.array_equal(np.hstack(list(block["O"])), O)
        assert np.array_equal(block["D"], down)
    config, tensors = model("phi3")
    block = read_transformer(tensors, config).blocks[0]
    both = tensors["model.layers.0.mlp.gate_up_proj.weight"]
    assert np.array_equal(block["G"], both[: len(both) // 2])
    assert np.array_equal(block["U"], both[len(both) // 2 :])


def test_gains_of_gemma_are_those_that_multiply():
    config, tensors = model("gemma3")
    read = read_transformer(tensors, config)
    assert np.array_equal(read.blocks[0]["query.gain"], 1 + tensors["model.layers.0.self_attn.q_norm.weight"])
    assert np.array_equal(read.ends["final.gain"], 1 + tensors["model.norm.weight"])


def test_pairs_of_rows_that_stand_side_by_side(tmp_path):
    """The names of Meta's own files, whose rows 2f and 2f + 1 are a pair."""
    config, tensors = model("llama")
    plain = read_transformer(tensors, config)
    words = {
        "model.embed_tokens": "tok_embeddings", "model.": "", "lm_head": "output", "self_attn": "attention",
        "q_proj": "wq", "k_proj": "wk", "v_proj": "wv", "o_proj": "wo", "input_layernorm": "attention_norm",
        "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "feed_forward.w1",
        "mlp.up_proj": "feed_forward.w3", "mlp.down_proj": "feed_forward.w2",
    }  # fmt: skip
    order = np.array([0, 3, 1, 4, 2, 5])  # the first of each pair, then the second
    other = {}
    for name, tensor in tensors.items():
        if "q_proj" in name or "k_proj" in name:
            tensor = tensor.reshape(-1, A, D)[:, order].reshape(-1, D)
        for word, meta in words.items():
            name = name.replace(word, meta)
        other[name] = tensor
    assert equal(plain, read_transformer(other, config))
    (tmp_path / "a").mkdir()
    safetensors.save_file(
        {k: np.ascontiguousarray(v) for k, v in other.items()}, tmp_path / "a/model.safetensors"
    )
    (tmp_path / "a/config.json").write_text(json.dumps(config))
    write_transformer(tmp_path / "a", plain, tmp_path / "b")
    assert equal(plain, read_transformer(tmp_path / "b"))


def test_facts():
    facts = {family: read_transformer(*model(family)[::-1]).facts for family in FAMILIES}
    assert facts["gemma2"].windows == (4, 0)
    assert facts["gemma2"].embedding_scale == 24**0.5
    assert facts["gemma2"].score_scale == 12**-0.5
    assert (facts["gemma2"].score_cap, facts["gemma2"].logit_cap) == (5, 3)
    assert facts["gemma3"].angles[0][1] == pytest.approx(100 ** (-1 / 4))
    assert facts["gemma3"].angles[1][0] == 1 / 8
    assert len(facts["gpt_neox"].angles[0]) == 2 < len(facts["llama"].angles[0]) == 3
    assert facts["mistral"].windows == (4, 4)
    assert facts["qwen2"].windows == (0, 0)
    assert {f for f in FAMILIES if facts[f].tied} == {
        "gemma2", "gemma3", "gpt2", "gpt_bigcode", "falcon", "falcon-7b"
    }  # fmt: skip
    assert {f for f in FAMILIES if facts[f].parallel} == {"gpt_neox", "falcon", "falcon-7b"}
    assert not facts["bert"].causal
    assert not facts["bert"].angles
    config, tensors = model("qwen2")
    windows = {"use_sliding_window": True, "max_window_layers": 1}
    assert read_transformer(tensors, config | windows).facts.windows == (0, 4)
    listed = windows | {"layer_types": ["sliding_attention", "full_attention"]}
    assert read_transformer(tensors, config | listed).facts.windows == (4, 0)


def test_angles_by_rope_parameters():
    """As newer files say them, for each kind of layers."""
    config, tensors = model("gemma3")
    old = ("rope_theta", "rope_local_base_freq", "rope_scaling")
    plain = {key: value for key, value in config.items() if key not in old}
    kinds = {
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 500.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
    }
    new = plain | {"rope_parameters": kinds}
    assert read_transformer(tensors, new).facts == read_transformer(tensors, config).facts


@pytest.mark.parametrize(
    ("keys", "expected", "turning"),
    [
        (
            {
                "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": 32,
            },
            (1, 0.2374897, 0.03118546, 0.01215616, 0.00559017, 0.002570714, 0.001182177, 0.0005436398),
            1,
        ),
        (
            {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
            (1, 0.3448974, 0.1057371, 0.02431231, 0.01118034, 0.005141428, 0.002364354, 0.00108728),
            1.138629436111989,
        ),
        (
            {
                "type": "yarn", "factor": 4.0, "mscale": 1.5, "mscale_all_dim": 0.5, "truncate": False,
                "beta_fast": 8.0,
            },
            (1, 0.3710845, 0.1113971, 0.02431231, 0.01118034, 0.005141428, 0.002364354, 0.00108728),
            1.1296432507391427,
        ),
    ],
)  # fmt: skip
def test_angles_are_those_of_transformers(keys, expected, turning):
    """What transformers 4.57.1 computes in float32, for 8 pairs, a base of 500 and 64 positions."""
    ours, factor = angles(keys, 8, 500.0, 64)
    assert ours == pytest.approx(expected, rel=1e-6)
    assert factor == pytest.approx(turning, rel=1e-15)


def test_shards_and_rows(tmp_path, monkeypatch):
    """Shards are written as they are; and of an embedding only the rows are read that are asked for."""
    config, tensors = model("llama")
    (tmp_path / "a").mkdir()
    names, parts = sorted(tensors), [{}, {}]
    for n, name in enumerate(names):
        parts[n % 2][name] = np.ascontiguousarray(tensors[name], np.float32)
    parts[0]["model.layers.0.self_attn.rotary_emb.inv_freq"] = np.arange(3)
    files = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    for file, part in zip(files, parts, strict=True):
        safetensors.save_file(part, tmp_path / "a" / file)
    index = {"weight_map": {name: files[n] for n, part in enumerate(parts) for name in part}}
    (tmp_path / "a/model.safetensors.index.json").write_text(json.dumps(index))
    (tmp_path / "a/config.json").write_text(json.dumps(config))
    read = read_transformer(tmp_path / "a")
    write_transformer(tmp_path / "a", read, tmp_path / "b")
    for file in (*files, "config.json", "model.safetensors.index.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    asked = []
    part = WeightFile.part
    monkeypatch.setattr(WeightFile, "part", lambda *given: asked.append(given[1:]) or part(*given))
    assert rows(read.ends, "E", slice(2, 5)).shape == (3, D)
    assert rows(read.ends, "E", slice(48, 60)).shape == (2, D)
    assert rows(read.ends, "E", slice(50, 60)).shape == (0, D)
    assert "E" in read.ends
    assert read.blocks[1]["U"].shape == (40, D)
    assert asked == [
        *(("model.embed_tokens.weight", slice(*at)) for at in ((2, 5), (48, 60), (50, 60))),
        ("model.layers.1.mlp.up_proj.weight",),
    ]


def test_gains_and_biases_that_a_model_lacks(tmp_path):
    for family in ("gpt2", "gemma2"):
        folder = tiny(family, tmp_path / family)
        folded = loaded(read_transformer(folder))
        gain = {part: 1.0 * part.endswith("gain") for part in folded.blocks[0] if "." in part}
        folded.blocks[0] = {part: folded.blocks[0][part] for part in folded.blocks[0] if part not in gain}
        write_transformer(folder, folded, tmp_path / f"{family}-out")
        read = read_transformer(tmp_path / f"{family}-out")
        for part, value in gain.items():
            assert (read.blocks[0][part] == value).all()


def test_bfloat16_is_rounded_once(tmp_path):
    """An entry just above the middle between two numbers goes up, though in float32 it is the middle."""
    folder = tiny("llama", tmp_path / "a", dtype="bfloat16")
    read = loaded(read_transformer(folder))
    read.ends["final.gain"] = np.full(D, 1 + 2.0**-8 + 2.0**-40)
    write_transformer(folder, read, tmp_path / "b")
    assert read_transformer(tmp_path / "b").ends["final.gain"][0] == 1 + 2.0**-7


def test_an_unembedding_in_the_file_of_a_tied_model(tmp_path):
    config, tensors = model("gpt2")
    tensors = tensors | {"lm_head.weight": tensors["transformer.wte.weight"]}
    assert "W" not in read_transformer(tensors, config).ends
    with pytest.raises(InputError, match=r"lm_head.weight is not the embedding"):
        read_transformer(tensors | {"lm_head.weight": 2 * tensors["lm_head.weight"]}, config)


def test_what_is_built_on_top_is_said():
    config, tensors = model("bert")
    assert read_transformer(tensors, config).left_out == ("pooler.dense.weight", "pooler.dense.bias")


Q = "model.layers.0.self_attn.q_proj.weight"


@pytest.mark.parametrize(
    ("family", "keys", "change", "message"),
    [
        ("llama", {"model_type": "mamba"}, {}, "model_type is 'mamba'; whole models are read of llama"),
        ("llama", {"model_type": "mixtral"}, {}, "whole models are read of"),
        ("llama", {"hidden_act": "mish"}, {}, "hidden_act is 'mish', which is no activation"),
        ("llama", {"rope_scaling": {"type": "dynamic", "factor": 2.0}}, {},
         "'dynamic', whose angles are not"),
        ("llama", {"rope_scaling": {"type": "linear"}}, {}, "factor of rope_scaling"),
        ("llama", {"quantization_config": {"quant_method": "gptq"}}, {}, r"quantized \(gptq\)"),
        ("llama", {"residual_multiplier": 0.5}, {}, "residual_multiplier is 0.5; whole models"),
        ("llama", {"num_hidden_layers": 1}, {}, "config.json has 1 layers"),
        ("llama", {"num_hidden_layers": 3}, {}, "no tensor for D, G, K, O, P, Q, U,.* of layer 2"),
        ("llama", {"attention_bias": True}, {}, "no tensor for K.bias, O.bias, P.bias, Q.bias of layer 0"),
        ("llama", {"hidden_size": 48}, {},
         "embed_tokens.weight is 50 × 24; by config.json it must be 50 × 48"),
        ("llama", {}, {Q: None}, "no tensor for Q of layer 0"),
        ("llama", {}, {"model.layers.0.self_attn.sinks": np.zeros(4)}, "self_attn.sinks, which is no part"),
        ("llama", {}, {Q.replace("weight", "bias"): np.zeros(24)},
         "q_proj.bias, which a model of the family"),
        ("llama", {}, {Q: np.zeros((24, 23))}, "q_proj.weight is 24 × 23; by config.json it must be 24 × 24"),
        ("llama", {}, {f"vision.{Q}": np.zeros((24, 24))}, "holds both"),
        ("llama", {}, {Q: np.zeros((24, 24), np.int8)}, "integers; quantized"),
        ("llama", {}, {Q.replace("weight", "qweight"): np.zeros(4)}, "quantized"),
        ("falcon", {"alibi": True}, {}, "alibi is True"),
        ("gpt2", {"add_cross_attention": True}, {}, "add_cross_attention is True"),
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, {}, "scale_attn_by_inverse_layer_idx is True"),
        ("bert", {"position_embedding_type": "relative_key"}, {},
         "position_embedding_type is 'relative_key'"),
        ("gemma3", {"use_bidirectional_attention": True}, {}, "use_bidirectional_attention is True"),
        ("gemma2", {"layer_types": ["chunked_attention"] * 2}, {}, "layer_types has 'chunked_attention'"),
        ("gemma2", {"sliding_window": -1}, {}, "sliding_window is -1; it must be a number of at least 0"),
    ],
)  # fmt: skip
def test_what_is_refused(family, keys, change, message):
    config, tensors = model(family)
    tensors = {name: tensor for name, tensor in (tensors | change).items() if tensor is not None}
    with pytest.raises(InputError, match=message):
        read_transformer(tensors, config | keys)


def test_what_is_not_written(tmp_path):
    folder = tiny("gpt2", tmp_path / "a")
    read = loaded(read_transformer(folder))
    other = read_transformer(tiny("llama", tmp_path / "b"))

    def refused(transformer, message, out="out"):
        with pytest.raises(InputError, match=message):
            write_transformer(folder, transformer, tmp_path / out)

    refused(other, "norm of .* is 'rms'; that of .* is 'layer'")
    refused(read, "is the checkpoint itself", "a")
    refused(replace(read, blocks=read.blocks[:1]), "has 1 layers; .* has 2")
    refused(replace(read, ends=read.ends | {"W": read.ends["E"]}), "no tensor for W")
    refused(replace(read, ends={p: a for p, a in read.ends.items() if p != "E"}), "has no E")
    shorter = replace(read, ends=read.ends | {"E": read.ends["E"][1:]})
    refused(shorter, "E of .* has not the shape of transformer.wte.weight, 50 × 24")
    refused(replace(read, ends=read.ends | {"E": np.zeros((51, 24))}), "has not the shape of")
    swapped = read.blocks[0] | {"O": np.zeros((6, 24, 4))}
    refused(replace(read, blocks=[swapped, read.blocks[1]]), "O of .* is 6 × 24 × 4; .* is 4 × 24 × 6")
    refused(replace(read, blocks=[{}, read.blocks[1]]), "no Q in layer 0")
    refused(replace(read, ends=read.ends | {"E": np.full((50, 24), 1e300)}), "not finite in float32")
    assert not list((tmp_path).glob("out/*.safetensors"))
    np.savez(tmp_path / "c.npz", **model("gpt2")[1])
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    with pytest.raises(InputError, match=r"not stored as \.safetensors"):
        write_transformer(tmp_path / "c.npz", read_transformer(tmp_path / "c.npz"), tmp_path / "out")
