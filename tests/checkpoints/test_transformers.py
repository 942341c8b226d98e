"""The attention of transformers: small ones against exact ranks, real sizes by theorem."""

import itertools
import json
from time import process_time

import pytest
from command_line import document

import agattn as ag
from agattn.checkpoints.published import Published
from agattn.checkpoints.transformers import _groups, transformer_dimension
from agattn.checkpoints.whole_model import LayerKind
from agattn.geometry.dimension.dimension import dimension


def small(kv_heads=2, rotary_pairs=0, kinds=None, **changed):
    """Four heads of rank 1 in two groups, at d = 4."""
    table = {
        "model": "own", "family": "llama", "dim": 4, "layers": 2, "heads": 4, "rank": 1, "value_rank": 1,
        "left_out": (), "kinds": kinds or (LayerKind(2, kv_heads, rotary_pairs),),
    }  # fmt: skip
    return Published(**table | changed)


SMALL = [
    small(),
    small(kv_heads=4),
    small(1, 1, dim=2, heads=1, rank=2, value_rank=2, causal=False),
    small(heads=2, kv_heads=1, rank=2, value_rank=2, rotary_pairs=1),
    small(heads=2, kv_heads=1, rank=3, value_rank=1, rotary_pairs=1),
    small(layers=3, kinds=(LayerKind(2, 2, 0), LayerKind(1, 4, 0))),
    small(heads=2, rank=2, kinds=(LayerKind(1, 2, 1), LayerKind(1, 2, 0))),
    small(dim=6, heads=2, kv_heads=2, rank=3, value_rank=3),
    small(heads=2, kv_heads=2, kv_latent=3, q_latent=2),
    small(heads=2, kv_heads=2, kv_latent=9),
    small(dim=3, heads=2, kv_heads=1, value_rank=2),
]


@pytest.mark.parametrize("config", SMALL, ids=str)
def test_a_layer_is_known_with_its_groups(config):
    for one in transformer_dimension(config).layer:
        network = config.layer(one.normalization, one.rotary, config.kinds[one.kind])
        found = dimension(network, force=True, points=1)
        if one.dimension is None:
            assert found.upper_bound <= one.upper_bound
        else:
            assert found.lower_bound == found.upper_bound == one.dimension == one.upper_bound
        assert one.parameters == network.parameters
        assert sum(part.dimension for part in one.redundant) == one.parameters - one.upper_bound


@pytest.mark.parametrize("config", [one for one in SMALL if len(one.kinds) == 1][:7], ids=str)
def test_the_stack_is_between_its_bounds(config):
    """The rank of two layers, one after the other."""
    whole = transformer_dimension(config)
    for one, alone in zip(whole.stack, whole.layer, strict=True):
        if one.normalization == "softmax":
            continue
        [layer] = config.layer("none", one.rotary).layers
        found = dimension(ag.Network([layer] * config.layers, config.dim, 3), points=1, force=True)
        assert one.parameters == found.parameters
        dominant = config.kv_heads * config.value_rank >= config.dim and config.kv_latent is None
        assert (one.lower_bound is None) == (one.rotary and not dominant)
        if dominant and alone.dimension is not None:
            assert one.lower_bound >= alone.dimension
        assert (one.lower_bound or 0) <= found.lower_bound
        assert one.upper_bound is None or found.upper_bound <= one.upper_bound
        assert one.open is None or one.open == one.upper_bound - one.lower_bound


@pytest.mark.parametrize(
    "changed",
    [
        {"dim": 3, "heads": 2, "kv_heads": 2, "rank": 2, "value_rank": 2},  # H·b > d
        {"dim": 2, "heads": 2, "kv_heads": 2, "rank": 1, "value_rank": 2},  # and a < b
        {"dim": 2, "heads": 2, "kv_heads": 1, "rank": 1, "value_rank": 2},  # one set of keys and values
    ],
    ids=str,
)
def test_a_stack_whose_values_fill_the_width_has_the_dimension_of_a_layer(changed):
    """The first layer is dominant, so no function of the last one is lost."""
    config = small(**changed)
    whole = transformer_dimension(config)
    both = zip(whole.stack, whole.layer, strict=True)
    [(one, alone)] = [pair for pair in both if pair[0].name == "softmax"]
    assert one.lower_bound == alone.dimension
    [layer] = config.layer("softmax").layers
    found = dimension(ag.Network([layer] * 2, config.dim, 2), points=1, force=True)
    assert found.lower_bound >= one.lower_bound


@pytest.mark.parametrize(
    ("name", "redundant", "theorem", "opened"),
    [
        ("heads", [98_316, 98_304], "agattn.disjoint-supports", 0),
        ("grouped", [262_272, 132_224, 262_144, 132_096], "agattn.grouped-dimension", 644_184_080),
        ("latent", [6_815_872, 6_815_744], "agattn.latent-dimension", 5_213_921_520),
    ],
)
def test_real_sizes(name, redundant, theorem, opened):
    start = process_time()
    found = document("dimension", f"examples/{name}-config.json")
    assert process_time() - start < 10  # about a second
    layers = found["layer"]
    assert [one["parameters"] - one["dimension"] for one in layers] == redundant
    assert [sum(part["dimension"] for part in one["redundant"]) for one in layers] == redundant
    assert {one["evidence"] for one in layers} == {"proved"} and layers[0]["theorem"] == theorem
    said = found["config"]["left_out"][0]
    assert "perceptrons" in said and "skip connections" in said
    assert all(one["upper_bound"] < one["parameters"] for one in found["stack"])
    assert found["stack"][0]["open"] == opened


@pytest.mark.parametrize("config", [one for one in SMALL if len(one.kinds) > 1], ids=str)
def test_a_stack_of_several_kinds_is_at_most_its_bound_in_any_order(config):
    whole = transformer_dimension(config)
    for one in (stack for stack in whole.stack if stack.normalization == "none"):
        kinds = [kind for kind in config.kinds for _ in range(kind.layers)]
        layers = [config.layer("none", one.rotary, kind).layers[0] for kind in kinds]
        assert one.parameters == ag.Network(layers, config.dim, 3).parameters and one.lower_bound is None
        for order in set(itertools.permutations(layers)):
            found = dimension(ag.Network(order, config.dim, 3), points=1, force=True)
            assert one.upper_bound is None or found.lower_bound <= one.upper_bound
    assert any(one.upper_bound for one in whole.stack)


def test_the_groups_of_many_heads_with_positions_take_no_time():
    """128 heads of their own with 64 pairs of rows each."""
    config = small(dim=128**2, heads=128, kv_heads=128, rank=128, value_rank=128, rotary_pairs=64)
    start = process_time()
    groups = [(one.group, one.copies, one.each) for one in _groups(config.layer("none", True))]
    assert process_time() - start < 2  # a tenth of a second; comparing all pairs took 15
    assert groups == [("complex numbers", 8192, 2), ("GL(128)", 128, 128**2), ("scaling", 128, 1)]


def test_a_config_stands_where_an_architecture_does(tmp_path):
    sizes = {"model_type": "gpt2", "n_embd": 2, "n_head": 2, "n_layer": 1}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(sizes))
    found = document("symmetries", path)
    assert found["architecture"]["layer"][0]["heads"] == 2


def test_a_sheet_names_the_theorem_of_each_form_of_a_layer():
    found = transformer_dimension(SMALL[0])
    rows = found.sheet().tables[0].rows
    assert [row[0] for row in rows] == [one.name for one in found.layer]
    assert [row[-1] for row in rows] == [one.theorem or "" for one in found.layer]
    assert any(one.theorem for one in found.layer)
