"""config.json of published transformers: read as it is, with what is left out, and refused in one line."""

import json

import pytest

import agattn as ag
from agattn.errors import InputError

GPT2 = {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12}
LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32,
    "num_key_value_heads": 8, "rope_theta": 500000.0,
}  # fmt: skip
DEEPSEEK = {
    "model_type": "deepseek_v2", "hidden_size": 2048, "num_attention_heads": 16, "num_hidden_layers": 27,
    "num_key_value_heads": 16, "kv_lora_rank": 512, "q_lora_rank": None, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "rope_theta": 10000,
}  # fmt: skip


@pytest.fixture
def read(tmp_path):
    """Write a table into a file and read it."""

    def made(table):
        path = tmp_path / "config.json"
        path.write_text(table if isinstance(table, str) else json.dumps(table))
        return ag.from_config(path)

    return made


def test_heads(read):
    found = read(GPT2)
    assert (found.dim, found.layers, found.heads, found.kv_heads, found.rank, found.value_rank) == (
        768, 12, 12, 12, 64, 64,
    )  # fmt: skip
    assert not found.rotary and "biases of keys, queries and values" in found.left_out
    layer = ag.Attention(768, 64, heads=12, value_rank=64, mask="causal")
    assert found.network == ag.Network([layer], 768, 2)


def test_groups_with_positions(read):
    found = read(LLAMA)
    layer = ag.Attention(4096, 128, heads=32, kv_heads=8, value_rank=128, mask="causal", rotary=True)
    assert found.network == ag.Network([layer], 4096, 3)
    assert found.layer("softmax").layers[0].normalization == "softmax" and found.layer("softmax").t == 2
    assert any("angles of rotary positions" in one for one in found.left_out)
    wide = read(LLAMA | {"model_type": "qwen3", "head_dim": 256})
    assert wide.rank == 256 and "the normalization of keys and queries" in wide.left_out
    window = read(LLAMA | {"model_type": "mistral", "sliding_window": 4096})
    assert "the window of 4096 tokens" in window.left_out
    assert read(LLAMA | {"num_key_value_heads": None}).kv_heads == 32


def test_latents(read):
    found = read(DEEPSEEK)
    assert (found.kv_latent, found.q_latent, found.rank, found.value_rank, found.rotary) == (
        512,
        None,
        128,
        128,
        False,
    )
    assert "64 rotary keys, which all heads share, and their queries" in found.left_out
    assert found.network.shapes["C_1"] == (512, 2048) and "D_1" not in found.network.shapes
    assert read(DEEPSEEK | {"q_lora_rank": 1536}).q_latent == 1536


def test_other_models_are_read_like_llama(read):
    found = read(LLAMA | {"model_type": "own"})
    assert found.rotary and any("'own'" in one for one in found.left_out)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            {"model_type": "mamba", "hidden_size": 5},
            "'mamba' lacks num_attention_heads or n_head, num_hidden_layers",
        ),
        ({}, "the model lacks hidden_size or n_embd, num_attention_heads"),
        ({key: DEEPSEEK[key] for key in DEEPSEEK if key != "v_head_dim"}, "lacks v_head_dim"),
        (LLAMA | {"num_key_value_heads": 5}, "must be a multiple of the second"),
        (LLAMA | {"hidden_size": 4097}, "the width 4097 is no multiple of the 32 heads; give head_dim"),
        (LLAMA | {"hidden_size": "4096"}, "hidden_size is '4096'; it must be a whole number"),
        (LLAMA | {"num_hidden_layers": True}, "num_hidden_layers is True; it must be"),
        ("[1]", "an object of keys"),
        ("{", "is not JSON"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(read, table, said):
    with pytest.raises(InputError, match=said) as refused:
        read(table)
    assert "\n" not in str(refused.value) and "config.json" in str(refused.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        ag.from_config(tmp_path / "config.json")


def test_only_a_path_is_read():
    with pytest.raises(InputError, match=r"^path is 3; it must be the path of a config\.json$"):
        ag.from_config(3)
