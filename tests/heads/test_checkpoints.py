import csv
import json
import sys

import numpy as np
import pytest
from command_line import call, document, validate

from agattn.errors import InputError
from agattn.heads.checkpoints import Checkpoint
from agattn.heads.weight_files import WeightFile

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


@pytest.mark.parametrize("ending", ["safetensors", "npz"])
@pytest.mark.parametrize(
    "layout",
    [
        bert, gpt2, nanogpt, bigcode, bigcode_own, falcon, falcon_groups, llama, llama_gated, llama_nested,
        phi3, neox, torch,
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
    checkpoint = Checkpoint(WeightFile([tmp_path]), HEADS if layout is torch else None)
    found = list(checkpoint)
    assert checkpoint.layout == {"bigcode": "gpt-bigcode"}.get(name := layout.__name__.split("_")[0], name)
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


def test_two_models_in_one_file(tmp_path):
    tensors, (K, _, _) = llama(tmp_path)
    tensors |= {name.replace("model.", "vision."): M * 2 for name, M in tensors.items()}
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    file = WeightFile([tmp_path])
    with pytest.raises(InputError, match=r"layer 0 is both in .* and in .*give match"):
        Checkpoint(file)
    twice = list(Checkpoint(file, parts=["vision."]))
    assert len(twice) == LAYERS * HEADS and (2 * K[0, 0] == twice[0].K).all()
    assert len(document("classify", tmp_path, "--match", "model.")["heads"]) == LAYERS * HEADS
    with pytest.raises(InputError, match="no attention weights with audio in their names"):
        Checkpoint(file, parts=["audio"])


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
    assert (found["layout"], found["evidence"]) == ("bert", "numerical")
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
    assert f"\n{LAYERS * HEADS} heads, {told}" in shown
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


def test_heads_of_their_own_are_not_mixed(tmp_path):
    tensors, _ = bert(tmp_path)
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    assert document("classify", tmp_path)["mixed"] == []
    assert "mixed" not in call("classify", tmp_path).out


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
    monkeypatch.setattr("agattn.heads.weight_files.MOST_LISTS", 4)
    with pytest.raises(InputError, match="holds more than 4 lists"):
        WeightFile([path])


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_order_of_bytes_changes_no_type(order, tmp_path):
    np.savez(tmp_path / "w.npz", A=np.eye(2, dtype=f"{order}f4"), V=np.ones((1, 2), dtype=f"{order}i8"))
    file = WeightFile([tmp_path / "w.npz"])
    assert (file.dtype("A"), file.dtype("V")) == ("float32", "exact")
