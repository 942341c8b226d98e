"""config.json of published transformers: read as families.toml says, named, or refused in one line."""

import json
from operator import attrgetter
from pathlib import Path

import pytest

import agattn as ag
from agattn.checkpoints.families import common, families
from agattn.errors import InputError

HERE = Path(__file__).parent
CONFIGS = json.loads((HERE / "configs.json").read_text())
EXPECTED = json.loads((HERE / "expected.json").read_text())
GPT2 = {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12}
LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32,
    "num_key_value_heads": 8, "rope_theta": 500000.0,
}  # fmt: skip
DEEPSEEK = CONFIGS["deepseek-v2-lite"]


def said(config):
    """All that is said of a configuration, in one text."""
    return "; ".join(ag.from_config(config).left_out)


def numbers(config):
    """The numbers that expected.json has."""
    found = ag.dimension(ag.from_config(config))
    softmax = [one for one in found.layer if one.normalization == "softmax"]
    layer = {"softmax" + "_rotary" * one.rotary: one.dimension for one in softmax}
    counts = {"layers": found.config.layers, "attention_layers": found.config.attention_layers}
    return {"parameters": found.layer[0].parameters, **layer, **counts}


@pytest.mark.parametrize("name", EXPECTED)
def test_published_configurations_have_the_numbers_that_are_known(name):
    """Those of expected.json were computed by formulas, apart from this program."""
    expected = {key: value for key, value in EXPECTED[name].items() if key != "named"}
    assert numbers(CONFIGS[name]) == expected


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gemma3-1b-v4", "the window of 512 tokens"),
        ("gemma3-4b-nested", "the model of images"),
        ("qwen3-next", "a gate on the output"),
        ("qwen3-next", "36 of 48 layers, which are no attention (gated delta rule)"),
        ("gpt-oss-20b", "a sink in every softmax"),
        ("bloom-560m", "positions, which add a multiple of the distance to each score (ALiBi)"),
        ("qwen25-1.5b", "biases of queries, keys and values: 2048 parameters"),  # 1536 + 2 · 256
    ],
)
def test_what_the_numbers_leave_out_is_named(name, words):
    assert words in said(CONFIGS[name])


def test_nothing_else_is_named():
    normalized = "the normalization of queries and keys (QK-norm): the numbers are those of the layer without"
    for name, one in EXPECTED.items():
        assert (normalized in said(CONFIGS[name])) == ("QK-norm" in one.get("named", "")), name
    assert "window" not in said(CONFIGS["qwen25-1.5b"])  # use_sliding_window is false
    assert "causal" not in said(CONFIGS["bert-base"]) and "causal mask of the softmax" in said(GPT2)


def test_the_others_are_read():
    layers = {"layers": 28, "attention_layers": 28}
    assert numbers(CONFIGS["chatglm2"]) == numbers(CONFIGS["glm4-9b"]) | layers
    for name in ("deepseek-v2-lite", "deepseek-v3"):
        found = ag.dimension(ag.from_config(CONFIGS[name]))
        assert [one.theorem for one in found.layer] == ["agattn.latent-dimension"] * 2


# Published configurations with all their keys. ------------------------------------------------------------

#: d, heads, sets of keys and values, rows of a head, rows of them that turn, layers, layers of attention; and
#: the keys, as the authors of the models published them (those of Gemma 3 leave the heads to the family).
PUBLISHED = json.loads((HERE / "published.json").read_text())


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_numbers_of_published_files_are_those_of_a_formula(name):
    """Per layer: Q and O of each head, K and P of each group; less GL(a) or what of it is left, and GL(b)."""
    (d, heads, groups, a, turned, layers, of_attention), config = PUBLISHED[name]
    parameters = 2 * d * a * (heads + groups)
    expected = {"parameters": parameters, "softmax": parameters - groups * 2 * a * a}
    if turned:
        expected["softmax_rotary"] = parameters - groups * (turned + (a - turned) ** 2 + a * a)
    assert numbers(config) == expected | {"layers": layers, "attention_layers": of_attention}
    assert "keys that are not known here" not in said(config)


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("bamba-9b", {"attn_layer_indices": None}, "of 'bamba' lacks attn_layer_indices; add it"),
        ("bamba-9b", {"attn_layer_indices": [9, 32]}, "it must be a list of numbers from 0 to 31"),
        ("bamba-9b", {"layer_types": ["mamba"] * 32}, "layer_types and attn_layer_indices name other layers"),
        ("granite-4.0-h-tiny", {"layer_types": None}, "'granitemoehybrid' lacks layer_types"),
    ],
)  # fmt: skip
def test_hybrid_models_say_which_layers_are_attention(name, changed, message):
    with pytest.raises(InputError, match=message):
        ag.from_config(PUBLISHED[name][1] | changed)


def test_what_is_beside_the_attention_of_hybrid_models_is_named():
    assert "29 of 32 layers, which are no attention (Mamba)" in said(PUBLISHED["bamba-9b"][1])
    assert "a Mamba layer beside the attention of each layer" in said(PUBLISHED["falcon-h1-0.5b"][1])
    granite = ag.from_config(PUBLISHED["granite-4.0-h-tiny"][1] | {"position_embedding_type": "rope"})
    assert granite.kinds[0].rotary_pairs == 64
    assert granite.lacks == ("a description of whole models of the type granitemoehybrid",)


def test_layers_of_several_kinds():
    """Nemotron's blocks: groups of 8 and 16 heads, a layer without attention, and one that is linear."""
    whole = {"no_op": False, "replace_with_linear": False}
    blocks = [
        {"attention": {"n_heads_in_group": 8, **whole, "sparsify": None}},
        {"attention": {"n_heads_in_group": 16, **whole}},
        {"attention": {"n_heads_in_group": None, "no_op": True}, "ffn": {"no_op": False}},
        {"attention": {"n_heads_in_group": None, "replace_with_linear": True}},
        {"attention": {"n_heads_in_group": 8}},
    ]
    config = {
        "model_type": "nemotron-nas", "hidden_size": 8192, "num_attention_heads": 64, "num_hidden_layers": 5,
        "num_key_value_heads": None, "block_configs": blocks, "rope_theta": 500000.0,
    }  # fmt: skip
    found = ag.from_config(config)
    kinds = [(kind.layers, kind.kv_heads, kind.rotary_pairs) for kind in found.kinds]
    assert kinds == [(2, 8, 64), (1, 4, 64)]
    assert (found.attention_layers, found.layers) == (3, 5)
    dimension = ag.dimension(found)
    assert [(one.name, one.kind) for one in dimension.layer[:2]] == [("lightning", 0), ("lightning", 1)]
    parameters = 2 * 2 * 8192 * 128 * 72 + 2 * 8192 * 128 * 68
    assert [stack.parameters for stack in dimension.stack] == [parameters] * 4
    with pytest.raises(InputError, match=r"of several kinds: layers: 2, .*; their dimensions are found"):
        ag.symmetries(found.network)
    blocks[1]["attention"]["window_length"] = 1024
    with pytest.raises(InputError, match=r"block_configs\[1\]\.attention\.window_length is 1024, which is"):
        ag.from_config(config)


def test_positions_by_kind_of_layer():
    """As transformers 5 writes them; no_rope_layers; layers that see windows turn alone (Command R7B)."""
    nested = {
        "full_attention": {"rope_type": "default", "rope_theta": 1e6, "partial_rotary_factor": 0.5},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    }
    types = ["sliding_attention", "sliding_attention", "full_attention"]
    changed = {"num_hidden_layers": 3, "layer_types": types, "rope_parameters": nested}
    gemma = CONFIGS["gemma3-1b-v4"] | changed
    assert [(one.layers, one.rotary_pairs) for one in ag.from_config(gemma).kinds] == [(2, 128), (1, 64)]
    with pytest.raises(InputError, match=r"rope_parameters has .*, and no entry for layers of the type full"):
        ag.from_config(gemma | {"rope_parameters": {"sliding_attention": {"rope_theta": 1e4}}})
    flat = {"rope_theta": 1e4, "rope_type": "default", "partial_rotary_factor": 0.5}
    assert ag.from_config(LLAMA | {"rope_parameters": flat}).kinds[0].rotary_pairs == 32
    smol = {
        "model_type": "smollm3", "hidden_size": 2048, "num_attention_heads": 16, "num_key_value_heads": 4,
        "num_hidden_layers": 36, "no_rope_layers": [1, 1, 1, 0] * 9, "no_rope_layer_interval": 4,
    }  # fmt: skip
    for config in (smol, {key: smol[key] for key in smol if key != "no_rope_layers"}):
        assert [(one.layers, one.rotary_pairs) for one in ag.from_config(config).kinds] == [(27, 64), (9, 0)]
    command = PUBLISHED["command-r7b"][1]
    assert [(one.layers, one.rotary_pairs) for one in ag.from_config(command).kinds] == [(24, 64), (8, 0)]


def test_which_layers_are_attention():
    mixed = LLAMA | {"num_hidden_layers": 3, "layer_types": ["full_attention", "mamba", "conv"]}
    found = ag.from_config(mixed)
    assert (found.attention_layers, found.layers) == (1, 3) and "2 of 3 layers" in said(mixed)
    blocks = {"model_type": "recurrent_gemma", "block_types": ["recurrent", "recurrent", "attention"]}
    assert ag.from_config(LLAMA | blocks).attention_layers == 10  # of 32
    types = ["full_attention" if n % 4 == 3 else "linear_attention" for n in range(48)]
    assert numbers(CONFIGS["qwen3-next"] | {"layer_types": types}) == numbers(CONFIGS["qwen3-next"])


# Every key is read, harmless, named, or refused. ----------------------------------------------------------


#: What the layers of attention determine.
EXTENT = attrgetter("dim", "heads", "rank", "value_rank", "kinds", "kv_latent", "q_latent", "causal")


@pytest.mark.parametrize("name", [*EXPECTED, "chatglm2", "deepseek-v2-lite", "deepseek-v3", *PUBLISHED])
def test_a_key_under_another_name_never_gives_another_number(name):
    """It is refused, or named, and the numbers are the same."""
    config = CONFIGS.get(name) or PUBLISHED[name][1]
    before, seen = EXTENT(ag.from_config(config)), 0
    inside = config.get("text_config", config)
    for key in list(inside):
        for other in (f"{key}_x", f"my_{key}"):
            changed = {name: value for name, value in inside.items() if name != key} | {other: inside[key]}
            whole = changed if inside is config else config | {"text_config": changed}
            try:
                after = EXTENT(ag.from_config(whole))
            except InputError:
                seen += 1
                continue
            strange = f"keys that are not known here: '{other}'" in said(whole)
            assert after == before and (strange or common().is_harmless(other)), (key, other)
    assert seen


@pytest.mark.parametrize("name", families())
def test_each_family_is_read(name):
    """From its sizes alone; without one of those that are needed it is refused, and the key is named."""
    family = families()[name]
    values = {"width": 64, "kv_latent": 16, "q_latent": 16, "rank": 8, "value_rank": 8}
    values |= {"heads": 8, "layers": 8, "types": ["mamba", "attention"] * 4, "indices": [1, 4]}
    config = {family.keys[role][0]: value for role, value in values.items() if role in family.keys}
    if "cycle" in family.keys:
        config[family.keys["cycle"][0]] = ["recurrent", "attention"]
    config |= {"head_dim": 8} if "head_dim" in family.keys.get("head", ()) else {}
    config |= {"num_key_value_heads": 8} if "num_key_value_heads" in family.keys.get("kv_heads", ()) else {}
    if "turned" in family.keys:
        config[family.keys["turned"][0]] = 4
    config["model_type"] = family.models[0]
    found = ag.from_config(config)
    assert (found.family, found.dim, found.heads, found.rank) == (name, 64, 8, 8)
    turns = family.rotary.default and not family.alibi.default
    assert found.rotary == (family.positions == "rotary" and turns)
    for role in ("width", "kv_latent", "q_latent", "rank", "value_rank", "types", "indices"):
        if role in family.keys:
            key = family.keys[role][0]
            with pytest.raises(InputError, match=f"lacks .*{key}"):
                ag.from_config({name: one for name, one in config.items() if name != key})


@pytest.mark.parametrize(
    ("changed", "kinds"),
    [
        ({"multi_query": False, "num_kv_heads": None}, (71, 32)),
        ({"multi_query": None}, (1, 32)),
        ({"num_kv_heads": 71}, (1, 32)),  # as transformers writes it beside multi_query
        ({"new_decoder_architecture": True, "num_kv_heads": 71}, (71, 32)),
        ({"alibi": True}, (1, 0)),
    ],
)
def test_keys_that_falcon_has(changed, kinds):
    """Family × key → what it changes."""
    [kind] = ag.from_config(CONFIGS["falcon-7b"] | changed).kinds
    assert (kind.kv_heads, kind.rotary_pairs) == kinds


@pytest.mark.parametrize(
    ("name", "changed", "expected"),
    [
        ("llama3-8b", {"num_key_value_heads": None}, {"kv_heads": 32}),
        ("mistral-7b", {"num_key_value_heads": None}, {"kv_heads": 32}),
        ("llama3-8b", {"head_dim": 64}, {"rank": 64, "value_rank": 64}),
        ("llama3-8b", {"head_dim": None}, {"rank": 128}),
        ("starcoder", {"multi_query": False}, {"kv_heads": 48}),
        ("phi-2", {"partial_rotary_factor": 1.0}, {"rotary_pairs": 40}),
        ("gpt-neox-20b", {"rotary_pct": 0.5}, {"rotary_pairs": 24}),
        ("decilm-7b", {"num_key_value_heads_per_layer": [4] * 31 + [8]}, {"kv_heads": 4, "kinds": 2}),
        ("bert-base", {"is_decoder": True}, {"causal": True}),
        ("chatglm2", {"multi_query_attention": False}, {"kv_heads": 32}),
        ("deepseek-v2-lite", {"q_lora_rank": 1536}, {"q_latent": 1536}),
        ("qwen3-next", {"full_attention_interval": 3}, {"attention_layers": 16}),
    ],
)
def test_what_a_key_changes(name, changed, expected):
    found = ag.from_config(CONFIGS[name] | changed)
    values = {"rotary_pairs": found.kinds[0].rotary_pairs, "kinds": len(found.kinds)}
    assert {key: values.get(key, getattr(found, key, None)) for key in expected} == expected


def test_an_unknown_model_is_read_as_a_family_that_is_given():
    found = ag.from_config(LLAMA | {"model_type": "own"}, family="llama")
    assert (found.model, found.family, found.forced) == ("own", "llama", True)
    assert str(found).startswith("own, read as llama: 32 layers")
    assert not ag.from_config(LLAMA, family="llama").forced


def test_a_key_that_may_matter_is_ignored():
    strange = LLAMA | {"multi_query": True, "hidden_multiplier": 2}
    found = ag.from_config(strange, ignore="multi_query")
    assert found.ignored == ("multi_query",) and found.kv_heads == 8
    assert "keys that were ignored: multi_query" in found.left_out
    assert "keys that are not known here: 'hidden_multiplier'" in found.left_out


# Where configurations come from. --------------------------------------------------------------------------


def test_files_folders_dictionaries_and_objects(tmp_path):
    class Config:
        def to_dict(self):
            return LLAMA

    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    for one in (tmp_path / "config.json", tmp_path, str(tmp_path), Config()):
        assert ag.from_config(one) == ag.from_config(LLAMA)


def test_layers_stand_for_what_is_read():
    found = ag.from_config(GPT2)
    whole = ag.Attention(768, 64, heads=12, value_rank=64, mask="causal")
    assert found.network == ag.Network([whole], 768, 2)
    grouped = ag.Attention(4096, 128, heads=32, kv_heads=8, value_rank=128, mask="causal", rotary=True)
    assert ag.from_config(LLAMA).network == ag.Network([grouped], 4096, 3)
    partly = ag.from_config(CONFIGS["phi-2"]).layer("softmax").layers[0]
    assert (partly.rank, partly.rotary, partly.pairs) == (80, 16, 16)
    assert ag.from_config(CONFIGS["bert-base"]).network.layers[0].mask == "none"
    latent = ag.from_config(DEEPSEEK)
    assert latent.network.shapes["C_1"] == (512, 2048) and "D_1" not in latent.network.shapes
    assert "64 rotary keys, which all heads share, and their queries" in latent.left_out


def test_the_bounds_of_a_stack_meet_where_heads_have_keys_of_their_own():
    stack = ag.dimension(ag.from_config(HERE.parents[1] / "examples" / "heads-config.json")).stack
    expected = [("lightning", 20643696, 0), ("softmax", 2260992, 18382848)]
    assert [(one.name, one.lower_bound, one.open) for one in stack] == expected
