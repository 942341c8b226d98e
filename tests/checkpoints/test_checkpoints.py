import csv
import json
import sys

import numpy as np
import pytest
from command_line import call, document, validate

import agattn as ag
from agattn.checkpoints.checkpoints import Checkpoint, read_weights
from agattn.checkpoints.head_geometry import classify
from agattn.checkpoints.weight_files import StateDict, WeightFile
from agattn.errors import InputError

safetensors = pytest.importorskip("safetensors.numpy")

D, SIZE, HEADS, GROUPS, LAYERS = 16, 4, 4, 2, 2


def heads(shared=HEADS):
    """K, Q, V of every layer and head, keys and values shared by groups."""
    rng = np.random.default_rng(0)
    draw = lambda n: rng.standard_normal((LAYERS, n, SIZE, D)).astype(np.float32)  # noqa: E731
    return draw(shared), draw(HEADS), draw(shared)


def rows(M):
    return np.ascontiguousarray(M.reshape(-1, D))


def repeated(*arrays):
    """The keys and values of a group, for each of its heads."""
    return tuple(np.repeat(M, HEADS // M.shape[1], axis=1) for M in arrays)


def projections(pattern, names, matrices):
    """The tensors of all layers, by the names of the queries, keys and values."""
    named = list(zip(names, matrices, strict=True))
    return {pattern.format(i, name): rows(M[i]) for i in range(LAYERS) for name, M in named}


def configure(folder, **config):
    """Write a config.json."""
    sizes = {"hidden_size": D, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS}
    (folder / "config.json").write_text(json.dumps(sizes | config))


def bert(folder):
    K, Q, V = heads()
    names, biases = ("query", "key", "value"), np.zeros((3, LAYERS, D), np.float32)
    tensors = {"bert.embeddings.word_embeddings.weight": np.zeros((5, D), np.float32)}
    tensors |= projections("bert.encoder.layer.{}.attention.self.{}.weight", names, (Q, K, V))
    tensors |= projections("bert.encoder.layer.{}.attention.self.{}.bias", names, biases)
    configure(folder, model_type="bert")
    return tensors, (K, Q, V)


def gpt2(folder):
    K, Q, V = heads()
    tensors = {}
    for i in range(LAYERS):
        fused = np.concatenate([rows(M[i]) for M in (Q, K, V)])
        tensors[f"h.{i}.attn.c_attn.weight"] = np.ascontiguousarray(fused.T)
    configure(folder, model_type="gpt2")
    return tensors, (K, Q, V)


def nanogpt(folder):
    """c_attn as a Linear."""
    tensors, expected = gpt2(folder)
    return {f"transformer.{name}": np.ascontiguousarray(M.T) for name, M in tensors.items()}, expected


def by_group(K, Q, V):
    """The queries of a group, its key and its value, then those of the next group."""
    groups = np.split(Q, len(K))
    return np.concatenate([np.concatenate([rows(q), k, v]) for q, k, v in zip(groups, K, V, strict=True)])


def bigcode(folder, shared=1):
    K, Q, V = heads(shared)
    configure(folder, model_type="gpt_bigcode", multi_query=shared == 1)
    tensors = {f"transformer.h.{i}.attn.c_attn.weight": by_group(K[i], Q[i], V[i]) for i in range(LAYERS)}
    return tensors, repeated(K, Q, V)


def bigcode_own(folder):
    return bigcode(folder, HEADS)


def falcon(folder, shared=1):
    K, Q, V = heads(shared)
    configure(folder, model_type="falcon", new_decoder_architecture=shared > 1, num_kv_heads=shared)
    name = "transformer.h.{}.self_attention.query_key_value.weight"
    return {name.format(i): by_group(K[i], Q[i], V[i]) for i in range(LAYERS)}, repeated(K, Q, V)


def falcon_groups(folder):
    return falcon(folder, GROUPS)


def llama_gated(folder):
    """Qwen3-Next: the queries of a head, then its gate; layers that are no attention have no such tensors."""
    tensors, expected = llama(folder)
    for i in range(LAYERS):
        name = f"model.layers.{i}.self_attn.q_proj.weight"
        queries = tensors[name].reshape(HEADS, SIZE, D)
        tensors[name] = np.concatenate([queries, np.ones_like(queries)], axis=1).reshape(-1, D)
    types = ["full_attention"] * LAYERS
    sizes = {"num_key_value_heads": GROUPS, "head_dim": SIZE, "partial_rotary_factor": 0.5}
    configure(folder, model_type="qwen3_next", layer_types=types, **sizes)
    return tensors, expected


def llama_nested(folder):
    """A text_config, null for heads of keys and values, and names as in OPT."""
    K, Q, V = heads()
    tensors = projections("language_model.decoder.layers.{}.self_attn.{}_proj.weight", "qkv", (Q, K, V))
    configure(folder, model_type="llama", num_key_value_heads=None)
    text = json.loads((folder / "config.json").read_text())
    outer = {"model_type": "llava", "text_config": text, "vision_config": {"hidden_size": 3}}
    (folder / "config.json").write_text(json.dumps(outer))
    return tensors, (K, Q, V)


def llama(folder):
    K, Q, V = heads(GROUPS)
    tensors = projections("model.layers.{}.self_attn.{}_proj.weight", "qkv", (Q, K, V))
    configure(folder, model_type="llama", num_key_value_heads=GROUPS, head_dim=SIZE)
    return tensors, repeated(K, Q, V)


def phi3(folder):
    tensors, expected = llama(folder)
    fused = {}
    for i in range(LAYERS):
        parts = [tensors[f"model.layers.{i}.self_attn.{name}_proj.weight"] for name in "qkv"]
        fused[f"model.layers.{i}.self_attn.qkv_proj.weight"] = np.concatenate(parts)
    configure(folder, model_type="phi3", num_key_value_heads=GROUPS)
    return fused, expected


def neox(folder):
    K, Q, V = heads()
    configure(folder, model_type="gpt_neox", rotary_pct=0.5)
    tensors = {}
    for i in range(LAYERS):
        each = [part for h in range(HEADS) for part in (Q[i, h], K[i, h], V[i, h])]
        tensors[f"gpt_neox.layers.{i}.attention.query_key_value.weight"] = np.concatenate(each)
        tensors[f"gpt_neox.layers.{i}.attention.query_key_value.bias"] = np.zeros(3 * HEADS * SIZE)
    return tensors, (K, Q, V)


def torch(folder):
    K, Q, V = heads()
    fused = [np.concatenate([rows(M[i]) for M in (Q, K, V)]) for i in range(LAYERS)]
    return {f"encoder.layers.{i}.self_attn.in_proj_weight": M for i, M in enumerate(fused)}, (K, Q, V)


def timm(folder):
    K, Q, V = heads()
    fused = [np.concatenate([rows(M[i]) for M in (Q, K, V)]) for i in range(LAYERS)]
    return {f"blocks.{i}.attn.qkv.weight": M for i, M in enumerate(fused)}, (K, Q, V)


def diffusers(folder):
    K, Q, V = heads()
    return projections("transformer_blocks.{}.attn1.to_{}.weight", "qkv", (Q, K, V)), (K, Q, V)


def llama_original(folder):
    """Rows in adjacent pairs, in queries and keys alike."""
    K, Q, V = heads()
    pairs = np.arange(SIZE).reshape(2, -1).T.ravel()
    K, Q = K[:, :, pairs], Q[:, :, pairs]
    return projections("layers.{}.attention.w{}.weight", "qkv", (Q, K, V)), (K, Q, V)


def transformer_lens(folder, shared=HEADS):
    """Arrays of heads × inputs × rows; where heads share keys, their names begin with _."""
    K, Q, V = heads(shared)
    names = {"W_Q": Q, "W_K": K, "W_V": V} if shared == HEADS else {"W_Q": Q, "_W_K": K, "_W_V": V}
    turned = {name: np.ascontiguousarray(np.swapaxes(M, 2, 3)) for name, M in names.items()}
    tensors = {f"blocks.{i}.attn.{name}": M[i] for i in range(LAYERS) for name, M in turned.items()}
    tensors |= {f"blocks.{i}.attn.W_O": np.zeros((HEADS, SIZE, D), np.float32) for i in range(LAYERS)}
    return tensors, repeated(K, Q, V)


def transformer_lens_groups(folder):
    return transformer_lens(folder, GROUPS)


#: Layouts without a config.json, and with another name than that of their function.
WITHOUT_CONFIG = {torch, timm, diffusers, llama_original}
OTHERWISE = {
    "bigcode": "gpt-bigcode", "llama_original": "llama-original", "transformer_lens": "transformer-lens",
    "transformer_lens_groups": "transformer-lens",
}  # fmt: skip


@pytest.mark.parametrize("ending", ["safetensors", "npz"])
@pytest.mark.parametrize(
    "layout",
    [
        bert, gpt2, nanogpt, bigcode, bigcode_own, falcon, falcon_groups, llama, llama_gated, llama_nested,
        phi3, neox, torch, timm, diffusers, llama_original, transformer_lens, transformer_lens_groups,
    ],
)  # fmt: skip
def test_every_layout(layout, ending, tmp_path):
    tensors, (K, Q, V) = layout(tmp_path)
    path = tmp_path / f"model.{ending}"
    if ending == "npz":
        np.savez(path, **tensors)
    else:
        safetensors.save_file(tensors, path)
    assert list(WeightFile([tmp_path])) == list(WeightFile([path]))
    checkpoint = Checkpoint(WeightFile([tmp_path]), HEADS if layout in WITHOUT_CONFIG else None)
    found = list(checkpoint)
    name = layout.__name__
    assert checkpoint.layout == OTHERWISE.get(name, OTHERWISE.get(name.split("_")[0], name.split("_")[0]))
    assert {head.dtype for head in found} == {"float32"}
    assert len(found) == len(checkpoint) == LAYERS * HEADS
    for head in found:
        for letter, M in (("K", K), ("Q", Q), ("V", V)):
            assert (getattr(head, letter) == M[head.layer, head.head]).all(), (head.layer, head.head, letter)


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("in_proj_weight", 0), ("self_attn.in_proj_weight", 0), ("layers.3.self_attn.in_proj_weight", 3),
        ("encoder.layers.encoder_layer_7.self_attention.in_proj_weight", 7),
        ("transformer.resblocks.11.attn.in_proj_weight", 11), ("5.in_proj_weight", 5),
        ("layer1.attn2.in_proj_weight", 0),
    ],
)  # fmt: skip
def test_names_of_torch(name, layer, tmp_path):
    M = np.random.default_rng(0).standard_normal((3 * D, D))
    np.savez(tmp_path / "w.npz", **{name: M})
    (head, *_) = Checkpoint(WeightFile([tmp_path / "w.npz"]), heads=HEADS)
    assert head.layer == layer and (M[D : D + SIZE] == head.K).all() and (M[2 * D :][:SIZE] == head.V).all()


def test_weights_are_chosen_by_layer_and_head(tmp_path):
    W = np.random.default_rng(0).standard_normal((2, 2, 2, D, D))  # A and V, by layer and head
    np.savez(tmp_path / "w.npz", **{f"{'AV'[k]}_{n + 1}": W[k, n] for k in (0, 1) for n in (0, 1)})
    chosen = [({}, [0, 1], [0, 1]), ({"layer": 1}, [1], [0, 1]), ({"layer": 1, "head": 0}, [1], [0])]
    for given, layers, heads in chosen:
        found = read_weights(WeightFile([tmp_path / "w.npz"]), **given)
        assert np.array_equal(
            [[(w.A, w.V) for w in row] for row in found], [[W[:, n, i] for i in heads] for n in layers]
        )
    for given, message in (
        ({"head": 0}, "has 2 layers; choose a layer"),
        ({"layer": 2}, "no layer 2, head 0"),
    ):
        with pytest.raises(InputError, match=message):
            read_weights(WeightFile([tmp_path / "w.npz"]), **given)


def test_two_models_in_one_file(tmp_path):
    tensors, (K, _, _) = llama(tmp_path)
    tensors |= {name.replace("model.", "vision."): M * 2 for name, M in tensors.items()}
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    file = WeightFile([tmp_path])
    with pytest.raises(InputError, match=r"layer 0 is both in .* and in .*give match"):
        Checkpoint(file)
    twice = list(Checkpoint(file, match=["vision."]))
    assert len(twice) == LAYERS * HEADS and (2 * K[0, 0] == twice[0].K).all()
    assert len(document("classify", tmp_path, "--match", "model.")["heads"]) == LAYERS * HEADS
    with pytest.raises(InputError, match="no attention weights with audio in their names"):
        Checkpoint(file, match=["audio"])


def test_folders(tmp_path):
    with pytest.raises(InputError, match=r"is a folder without \.safetensors or \.npz files"):
        WeightFile([tmp_path])
    tensors, _ = bert(tmp_path)
    for n in range(LAYERS):
        part = {name: M for name, M in tensors.items() if f"layer.{n}." in name}
        safetensors.save_file(part, tmp_path / f"model-0000{n + 1}-of-00002.safetensors")
    assert len(Checkpoint(WeightFile([tmp_path]))) == LAYERS * HEADS
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04")
    with pytest.raises(InputError, match="save the model as"):
        WeightFile([tmp_path / "pytorch_model.bin"])


def test_shards_and_bfloat16(tmp_path):
    tensors, (K, _, _) = llama(tmp_path)
    ml_dtypes = pytest.importorskip("ml_dtypes")
    shards = {}
    for name, M in tensors.items():
        shard = "a.safetensors" if ".0." in name else "b.safetensors"
        shards.setdefault(shard, {})[name] = M.astype(ml_dtypes.bfloat16)
    for shard, part in shards.items():
        safetensors.save_file(part, tmp_path / shard)
    table = {name: shard for shard, part in shards.items() for name in part}
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": table}))
    found = list(Checkpoint(WeightFile([index])))
    assert len(found) == LAYERS * HEADS
    assert (K[-1, -1].astype(ml_dtypes.bfloat16).astype(float) == found[-1].K).all()
    index.write_text(json.dumps({"weight_map": {"x": "../a.safetensors"}}))
    with pytest.raises(InputError, match="not in the same folder"):
        WeightFile([index])


def test_plain_heads(tmp_path):
    K, Q, V = (M[0] for M in heads())
    np.savez(tmp_path / "one.npz", K=K[0], Q=Q[0], V=V[0])
    np.savez(tmp_path / "all.npz", K=K, Q=Q, V=V)
    np.savez(tmp_path / "a.npz", A=K[0].T @ Q[0], V=V[0])
    for name, number in (("one", 1), ("all", HEADS), ("a", 1)):
        assert len(Checkpoint(WeightFile([tmp_path / f"{name}.npz"]))) == number
    assert (V[2] == list(Checkpoint(WeightFile([tmp_path / "all.npz"])))[2].V).all()


def test_classify_writes_lines_tables_and_plots(tmp_path):
    pytest.importorskip("matplotlib")
    tensors, _ = bert(tmp_path)
    # One head on the boundary: A = k qᵀ, V = h kᵀ.
    k = np.arange(1, D + 1, dtype=np.float32)
    for name, x in (("query", np.ones(D)), ("key", k), ("value", k)):
        block = np.zeros((SIZE, D), np.float32)
        block[0] = x
        tensors[f"bert.encoder.layer.1.attention.self.{name}.weight"][:SIZE] = block
    path = tmp_path / "model.safetensors"
    safetensors.save_file(tensors, path)
    assert call("classify", path, "-O", tmp_path / "heads.json").status == 0
    found = json.loads((tmp_path / "heads.json").read_text())
    validate("classify", found)
    assert (found["layout"], found["evidence"], found["mixed"]) == ("bert", "numerical", [])
    special = next(h for h in found["heads"] if (h["layer"], h["head"]) == (1, 0))
    assert (special["r_v"], special["r_a"], special["r"]) == (1, 1, 1)
    assert special["singular"] and special["boundary"] and special["critical"]
    assert special["distance"] < 1e-7 and special["stable_rank_a"] == pytest.approx(1)
    others = [h for h in found["heads"] if h is not special]
    assert not any(h["singular"] or h["boundary"] for h in others)
    assert all((h["r_v"], h["r_a"], h["r"]) == (4, 4, 8) and 0 < h["distance"] < 1 for h in others)
    assert document("classify", path) == found
    shown = call("classify", path).out
    told = "1 of them singular points; the nearest to the singular locus is layer 1, head 0"
    assert f"\n{LAYERS * HEADS} heads, {told}" in shown and "mixed" not in shown
    assert "Biases, positions, scales and softmax are no part of this geometry" in shown
    (row,) = [line.split() for line in shown.splitlines() if line.split()[:3] == ["1", "0", "(1,1,1)"]]
    assert row[3:6] == ["numerical", "yes", "yes"] and shown.count("(4,4,8)") == LAYERS * HEADS - 1
    assert call("classify", path, "-O", tmp_path / "h.jsonl", "-O", tmp_path / "p.svg").status == 0
    lines = [json.loads(x) for x in (tmp_path / "h.jsonl").read_text().splitlines()]
    assert lines == [{"schema": "agattn/classify/1", **head} for head in found["heads"]]
    validate("classify", lines[0])
    drawn = (tmp_path / "p.svg").read_text()
    assert "stable rank" in drawn and "layer, from 0" in drawn
    assert call("classify", path, "-O", tmp_path / "h.csv").status == 0
    table = list(csv.DictReader((tmp_path / "h.csv").open()))
    assert [float(row["distance"]) for row in table] == [h["distance"] for h in lines]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("model.layers.1.self_attn.k_proj.weight"), "no tensor of its k"),
        (
            lambda t: t.update({"model.layers.0.self_attn.v_proj.weight": np.zeros((5, D), np.float32)}),
            "should be 8 × 16",
        ),
        (lambda t: t.update({"h.0.attn.c_attn.weight": np.zeros((D, 48), np.float32)}), "several layouts"),
        (lambda t: t.clear() or t.update({"x": np.zeros(1, np.float32)}), "no attention weights"),
    ],
)  # fmt: skip
def test_damaged_checkpoints(change, message, tmp_path):
    tensors, _ = llama(tmp_path)
    change(tensors)
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match=message):
        Checkpoint(WeightFile([tmp_path / "model.safetensors"]))


def test_heads_must_be_known(tmp_path):
    tensors, _ = bert(tmp_path)
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    file = WeightFile([tmp_path / "model.safetensors"])
    wrong = json.dumps(json.loads((tmp_path / "config.json").read_text()) | {"num_attention_heads": -1})
    for config, message in [("{", "not JSON"), ("{}", "no model_type.*or give"), (wrong, "whole number")]:
        (tmp_path / "config.json").write_text(config)
        with pytest.raises(InputError, match=message):
            Checkpoint(file)
    with pytest.raises(InputError, match="cannot share"):
        Checkpoint(file, HEADS, 3)
    assert len(Checkpoint(file, heads=8)) == 8 * LAYERS


def test_c_attn_is_told_apart_by_its_shape(tmp_path):
    """A Linear of nanoGPT was read as a Conv1D: here d = 12, a = 6, and K of head 0 has rank 1."""
    rng = np.random.default_rng(0)
    Q, V, K = (rng.standard_normal((2, 6, 12)).astype(np.float32) for _ in range(3))
    K[0] = np.outer(rng.standard_normal(6), rng.standard_normal(12))
    linear = np.concatenate([M.reshape(12, 12) for M in (Q, K, V)])
    for name, M in (("linear", linear), ("conv1d", np.ascontiguousarray(linear.T))):
        safetensors.save_file({"transformer.h.0.attn.c_attn.weight": M}, tmp_path / f"{name}.safetensors")
        found = document("classify", tmp_path / f"{name}.safetensors", "--heads", "2")
        assert found["layout"] == {"linear": "nanogpt", "conv1d": "gpt2"}[name]
        sizes = [(one["d"], one["a"], one["r_a"]) for one in found["heads"]]
        assert sizes == [(12, 6, 1), (12, 6, 6)], name
    configure(tmp_path, model_type="gpt2", num_hidden_layers=1, num_attention_heads=2)
    with pytest.raises(InputError, match="2 heads and 2 of keys and the width 16 it is neither a Conv1D"):
        Checkpoint(WeightFile([tmp_path / "linear.safetensors"]))


def test_a_family_can_be_given(tmp_path):
    tensors, _ = bigcode_own(tmp_path)
    path = tmp_path / "model.safetensors"
    safetensors.save_file(tensors, path)
    (tmp_path / "config.json").rename(tmp_path / "other.json")
    stacked, grouped = (
        document("classify", path, "--heads", "4", *words) for words in ((), ("--family", "gpt_bigcode"))
    )
    assert (stacked["layout"], grouped["layout"]) == ("nanogpt", "gpt-bigcode")
    assert stacked["heads"] != grouped["heads"]
    configure(tmp_path, model_type="own", multi_query=False, kv_strange=1)
    passed = document("classify", path, "--family", "gpt_bigcode", "--ignore", "kv_strange")
    assert passed["heads"] == grouped["heads"]


def test_layers_without_attention_in_the_configuration(tmp_path):
    tensors, _ = llama_gated(tmp_path)
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    config = json.loads((tmp_path / "config.json").read_text())
    config["layer_types"] = ["linear_attention", "full_attention"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"tensors of layer 0, and config\.json has no attention there"):
        Checkpoint(WeightFile([tmp_path]))


def test_heads_that_share_keys_and_values_can_be_mixed(tmp_path):
    tensors, (K, Q, V) = llama(tmp_path)
    name = "model.layers.1.self_attn.q_proj.weight"
    tensors[name][3 * SIZE :] = 2 * tensors[name][2 * SIZE : 3 * SIZE]  # head 3 has twice the queries of 2
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    found = document("classify", tmp_path)
    expected = [(0, [0, 1], 2), (0, [2, 3], 2), (1, [0, 1], 2), (1, [2, 3], 1)]
    assert [(one["layer"], one["heads"], one["queries_rank"]) for one in found["mixed"]] == expected
    shown = " ".join(call("classify", tmp_path).out.split())
    assert "Heads that can be mixed, in each layer: 0 to 1, 2 to 3." in shown
    assert "GL(2) on the queries and outputs" in shown and "layer 1, heads 2 to 3: rank 1" in shown

    # What is said, on the function: mixed queries and outputs of a group, with the keys and values read.
    rng = np.random.default_rng(3)
    X, O, g = rng.standard_normal((D, 5)), rng.standard_normal((2, D, SIZE)), np.array([[1.0, 2], [3, 4]])

    def value(queries, outputs):
        state = (V[0, 0] @ X) @ (K[0, 0] @ X).T
        return sum(o @ state @ q @ X for q, o in zip(queries, outputs, strict=True))

    queries, outputs = np.einsum("ij,jad->iad", g, Q[0, :2]), np.einsum("ji,jco->ico", np.linalg.inv(g), O)
    assert np.allclose(value(Q[0, :2], O), value(queries, outputs))
    assert not np.allclose(value(Q[0, :2], O), value(queries, O))


@pytest.mark.parametrize("library", ["safetensors", "ml_dtypes"])
def test_a_missing_library_names_its_extra(library, tmp_path, monkeypatch):
    tensors, _ = bert(tmp_path)
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    monkeypatch.setitem(sys.modules, library, None)
    message = r"model\.safetensors needs safetensors with ml_dtypes; .* pip install 'agattn\[checkpoints\]'"
    with pytest.raises(InputError, match=message):
        WeightFile([tmp_path / "model.safetensors"])


def test_nan_names_the_tensor(tmp_path):
    tensors, _ = bert(tmp_path)
    tensors["bert.encoder.layer.1.attention.self.key.weight"][4, 0] = np.nan
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match=r"layer.1.attention.self.key.weight, head 1 has the entry nan"):
        list(Checkpoint(WeightFile([tmp_path / "model.safetensors"])))


def test_json_with_too_many_lists_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "w.json"
    path.write_text('{"A": [[1, 0], [0, 1]], "V": [[1, 2]]}')
    assert sorted(WeightFile([path])) == ["A", "V"]
    monkeypatch.setattr("agattn.checkpoints.weight_files.MOST_LISTS", 4)
    with pytest.raises(InputError, match="holds more than 4 lists"):
        WeightFile([path])


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_order_of_bytes_changes_no_type(order, tmp_path):
    np.savez(tmp_path / "w.npz", A=np.eye(2, dtype=f"{order}f4"), V=np.ones((1, 2), dtype=f"{order}i8"))
    file = WeightFile([tmp_path / "w.npz"])
    assert (file.dtype("A"), file.dtype("V")) == ("float32", "exact")


# Names that are given, and tensors in memory.

NAMES = {letter: f"net.{{layer}}.own_{letter.lower()}" for letter in "KQV"}
TEXT = ",".join(f"{letter}={name}" for letter, name in NAMES.items())


def renamed():
    """A checkpoint with names of its own, and its K, Q, V."""
    K, Q, V = heads(GROUPS)
    tensors = projections("net.{}.own_{}", "kqv", (K, Q, V))
    return tensors | {f"net.{i}.out": np.zeros((D, D), np.float32) for i in range(LAYERS)}, (K, Q, V)


class Tensor:
    """What torch's tensors have that is used: one in bfloat16 has no numpy() before float()."""

    def __init__(self, array, dtype):
        self.array, self.dtype, self.shape = array, f"torch.{dtype}", array.shape

    def __getitem__(self, key):
        return Tensor(self.array[key], self.dtype.removeprefix("torch."))

    def detach(self):
        return self

    def cpu(self):
        return self

    def float(self):
        return Tensor(self.array.astype(np.float32), "float32")

    def numpy(self):
        if "bfloat16" in self.dtype:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.array


def test_names_that_are_given(tmp_path):
    tensors, (K, Q, V) = renamed()
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    counts = ("--heads", HEADS, "--kv-heads", GROUPS)
    found = document("classify", tmp_path, "--names", TEXT, *counts)
    assert found["layout"] == "names" and len(found["mixed"]) == LAYERS * GROUPS
    plain = [classify(dict(zip("KQV", M, strict=True))) for M in zip(*repeated(K, Q, V), strict=True)]
    ranks = [(head["r_a"], head["stable_rank_a"], head["swap_effect"]) for head in found["heads"]]
    assert ranks == [(head.r_a, head.stable_rank_a, head.swap_effect) for table in plain for head in table]
    assert document("classify", tmp_path, "--names", f"{TEXT},O=net.{{layer}}.out", *counts) == found
    configure(tmp_path, model_type="llama", num_key_value_heads=GROUPS, head_dim=SIZE)
    assert document("classify", tmp_path, "--names", TEXT) == found

    np.savez(tmp_path / "one.npz", K=K[1, 0], Q=Q[1, 1], V=V[1, 0])
    place = ("--layer", 1, "--head", 1, "--names", TEXT)
    of_head = document("fiber", tmp_path, *place)
    assert of_head == document("fiber", tmp_path / "one.npz")
    both = document("equivalent", tmp_path, tmp_path / "model.safetensors", *place)
    assert both["equivalent"] is True


def test_a_state_dict():
    tensors, (K, Q, V) = renamed()
    counts = {"heads": HEADS, "kv_heads": GROUPS}
    table = classify(tensors, names=NAMES, **counts)
    torchs = {name: Tensor(M, "float32") for name, M in tensors.items()}
    assert classify(torchs, names=TEXT, **counts).as_json() == table.as_json()
    layers = [{"K": k, "Q": q, "V": v} for k, q, v in zip(*repeated(K, Q, V), strict=True)]
    assert [head.distance for head in table] == [head.distance for one in layers for head in classify(one)]
    coarse = classify({name: Tensor(M, "bfloat16") for name, M in tensors.items()}, names=NAMES, **counts)
    assert {head.dtype for head in coarse} == {"bfloat16"} and coarse.tolerance > 100 * table.tolerance
    fine = {name: Tensor(M.astype(float) + 1e-12, "float64") for name, M in tensors.items()}
    head = Checkpoint(StateDict(fine), HEADS, GROUPS, names=NAMES).head(1, 3)
    assert (Q[1, 3].astype(float) + 1e-12 == head.Q).all() and head.dtype == "float64"
    lens, (K, Q, V) = transformer_lens_groups(None)
    for head in Checkpoint(StateDict(lens)):
        assert (Q[head.layer, head.head] == head.Q).all() and (V[head.layer, head.head] == head.V).all()
    assert [head.distance for head in classify(lens)] == pytest.approx([head.distance for head in table])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (TEXT.replace("K=", "B="), r"B=net.\{layer\}.own_k; the letters are K, Q, V and O"),
        (TEXT.replace("{layer}", "0"), r"K=net.0.own_k; write \{layer\} once"),
        ("K", "K=; write"),
        (f"{TEXT},K=net.{{layer}}.out", "each of K, Q and V has one name"),
        (TEXT.replace("own_q", "own_k"), "and a tensor of its own"),
        (TEXT.partition(",")[0], "says no name of Q, V; give all, as in K=h"),
        (TEXT.replace("own_v", "own"), "V=net.*own, and the mapping has no such tensor; did you mean"),
        (
            TEXT.replace("own_v", "out"),
            "net.0.out is 16 × 16; with 4 heads and 2 of keys it should be 8 × 16",
        ),
    ],
)
def test_names_that_do_not_fit(names, message):
    with pytest.raises(InputError, match=message):
        classify(renamed()[0], names=names, heads=HEADS, kv_heads=GROUPS)


def test_what_is_not_read_of_tensors_in_memory():
    tensors, _ = renamed()
    with pytest.raises(InputError, match=r"no config\.json beside the mapping; give heads"):
        classify(tensors, names=NAMES)
    del tensors["net.1.own_q"]
    with pytest.raises(InputError, match=r"layer 1 has net\.1\.own_k, but no tensor of its q"):
        classify(tensors, names=NAMES, heads=HEADS, kv_heads=GROUPS)
    with pytest.raises(
        InputError, match=r"the mapping has no attention weights.* for other names see names of ag\.classify"
    ):
        classify(tensors)
    with pytest.raises(InputError, match="names is 3"):
        ag.classify(tensors, names=3)
    eighth = Tensor(np.zeros((3 * D, D)), "float8_e4m3fn")
    with pytest.raises(InputError, match=r"in FP8 \(float8_e4m3fn\)"):
        classify({"blocks.0.attn.qkv.weight": eighth}, heads=HEADS)


def test_cross_attention_is_not_read():
    tensors, _ = diffusers(None)
    for letter, columns in (("q", D), ("k", D + 1), ("v", D + 1)):
        tensors[f"transformer_blocks.0.attn2.to_{letter}.weight"] = np.zeros((D, columns), np.float32)
    with pytest.raises(InputError, match=r"layer 0 is both in .*attn1.* and in .*attn2.*; give match"):
        classify(tensors, heads=HEADS)
    assert len(classify(tensors, heads=HEADS, match="attn1")) == LAYERS * HEADS
    with pytest.raises(InputError, match="should be 16 × 16; cross-attention is not read; give match"):
        classify(tensors, heads=HEADS, match="attn2")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((HEADS, D), "it must be of heads × inputs × rows of a head"),
        ((HEADS, D + 1, SIZE), "should be 4 × 16 × 4"),
        ((3, D, SIZE), "4 heads cannot share 3"),
        ((0, D, SIZE), "with 4 heads and 0 of keys it should be 0 × 16 × 4"),
    ],
)
def test_an_axis_of_heads_must_fit(shape, message):
    tensors, _ = transformer_lens(None)
    with pytest.raises(InputError, match=message):
        classify(tensors | {"blocks.0.attn.W_K": np.zeros(shape, np.float32)})
