"""How many parameters of whole models count: totals as published, the group by kind, ranks at small sizes."""

import json
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from redundancy import MODELS, SEEDS, compared, general, jacobian, orbit, stored

import agattn as ag
from agattn.checkpoints.published import from_config
from agattn.checkpoints.whole_model import CHECKED, models, whole_model
from agattn.experiments.studies.grid import grid_text, read_grid

HERE = Path(__file__).parent
WHOLE = {
    job.architecture.name: dict(job.architecture.config)
    for job in read_grid(grid_text(Path("published"))).jobs
}
ATTENTION = json.loads((HERE / "configs.json").read_text())

#: Parameters as they were published: those of the files, but for BERT's pooler, and Gemma's buffers.
TOTALS = {
    "llama3-8b": 8_030_261_248, "llama32-1b": 1_235_814_400, "mistral-7b": 7_241_732_096,
    "mixtral-8x7b": 46_702_792_704, "qwen25-0.5b": 494_032_768, "qwen3-0.6b": 596_049_920,
    "gemma2-2b": 2_614_341_888, "gemma3-1b": 999_885_952, "olmo-1b": 1_176_764_416,
    "olmo2-7b": 7_298_617_344, "phi3-mini": 3_821_079_552, "phi-2": 2_779_683_840, "pythia-70m": 70_426_624,
    "gptj-6b": 6_050_882_784, "starcoder2-3b": 3_030_371_328, "gpt2": 124_439_808, "opt-125m": 125_239_296,
    "bloom-560m": 559_214_592, "falcon-7b": 6_921_720_704, "bert-base": 109_482_240 - 768 * 769,
    "gpt-oss-20b": 20_914_757_184,
}  # fmt: skip


@pytest.mark.parametrize("name", TOTALS)
def test_the_parameters_are_as_many_as_published(name):
    start = process_time()
    model = ag.dimension(from_config(WHOLE[name])).model
    assert model.total == TOTALS[name]
    assert model.upper_bound == model.total - sum(part.dimension for part in model.redundant)
    assert process_time() - start < 2


def dimensions(config):
    """The dimension of the orbits, by group and arrays."""
    return {
        (part.group, part.on): part.dimension for part in whole_model(from_config(config).stored).redundant
    }


def test_the_group_of_llama_by_kind():
    """32 layers, 8 groups with 64 pairs and values of 128 rows, 14336 neurons, width 4096."""
    assert dimensions(WHOLE["llama3-8b"]) == {
        ("complex numbers, 64 a group", "queries, keys"): 32 * 8 * 128,
        ("GL(128)", "values, outputs"): 32 * 8 * 128**2,
        ("factors of neurons", "perceptrons"): 32 * 14336,
        ("factors of coordinates", "gains, what reads"): 32 * 2 * 4096,
        ("factors of coordinates", "final gain, unembedding"): 4096,
        ("O(4096)", "all that reads or writes the residual stream"): 4096 * 4095 // 2,
    }


@pytest.mark.parametrize("tied", [True, False])
def test_layer_norms_before_each_half_of_a_block_have_the_count_of_its_formula(tied):
    """4d + g(a² + a + b² + b) + (Ha + ga + gb + n) + (Hb + n + 2) a block, and the ends."""
    config = WHOLE["gpt2"] | {"tie_word_embeddings": tied}
    d, H, a, n, V, T, layers = 768, 12, 64, 3072, 50257, 1024, 12
    block = 4 * d + H * 2 * (a**2 + a) + (3 * H * a + n) + (H * a + n + 2)
    ends = T if tied else T + 2 * d + V + (d - 1) + (d - 1) * (d - 2) // 2
    assert sum(dimensions(config).values()) == layers * block + ends


@pytest.mark.parametrize("name", ["llama, tied", "olmo2", "bert"])
def test_nothing_but_the_group_is_redundant_at_small_sizes(name):
    """The kernel of the Jacobian of the logits has the dimension of the orbit, which the program says."""
    _, said, number, size, gap, moved = compared(name)
    assert said == number == size and gap > 1e8
    assert moved < 1e-13


@pytest.mark.parametrize("name", sorted(MODELS))
def test_orbits_have_the_dimension_that_is_said(name):
    """Tangents, written array by array, move no logit, and their rank is that of the program."""
    m = stored(name)
    random = np.random.default_rng(SEEDS.get(name, 0))
    w = general(m, random)
    T = orbit(m, w)
    result = whole_model(m)
    assert sum(array.size for array in w.values()) == result.total - m.model.plus * m.dim
    assert np.linalg.matrix_rank(T, tol=1e-9 * np.linalg.norm(T, 2)) == (
        result.total - result.upper_bound - m.model.plus * m.dim
    )
    J = jacobian(m, w, random, batch=3)
    assert abs(J @ T.T).max() < 1e-11 * np.linalg.norm(J, 2) * np.linalg.norm(T, axis=1).max()


def test_orbits_of_values_wider_than_the_stream_are_not_free():
    """GL(b) on b > d rows leaves the matrices 1 + N with N zero on what is seen."""
    config = MODELS["llama"] | {"head_dim": 8, "num_attention_heads": 1}
    m = from_config(config).stored
    w = general(m, np.random.default_rng(0))
    T = orbit(m, w)
    result = whole_model(m)
    assert dimensions(config)["GL(8)", "values, outputs"] == 2 * (64 - 4)
    assert np.linalg.matrix_rank(T) == result.total - result.upper_bound


@pytest.mark.parametrize(
    ("config", "missing"),
    [
        (ATTENTION["llama3-8b"], "vocab_size"),
        (ATTENTION["mixtral"], "vocab_size"),
        (WHOLE["phi-2"] | {"qk_layernorm": True}, "a description of qk_layernorm = true"),
        (WHOLE["llama3-8b"] | {"hidden_act": "mish"}, "a description of the activation 'mish'"),
        (WHOLE["olmo-1b"] | {"clip_qkv": 8.0}, "a description of clip_qkv = 8.0"),
        (ATTENTION["deepseek-v3"], "a description of whole models of the type deepseek_v3"),
    ],
)  # fmt: skip
def test_what_the_file_lacks_is_named_and_attention_is_counted_alone(config, missing):
    result = ag.dimension(from_config(config))
    assert result.model is None and missing in result.missing
    assert result.layer[0].parameters > 0


def test_layers_that_are_no_attention_are_counted_apart():
    more = {
        "vocab_size": 151936, "num_experts": 512, "moe_intermediate_size": 512, "num_experts_per_tok": 10,
        "shared_expert_intermediate_size": 512,
    }  # fmt: skip
    model = ag.dimension(from_config(ATTENTION["qwen3-next"] | more)).model
    counts = model.parameters
    assert counts["queries"] == counts["output gates"] == 12 * 16 * 256 * 2048
    assert counts["experts"] == 48 * 3 * 513 * 512 * 2048
    groups = {(part.group, part.on): part.dimension for part in model.redundant}
    assert groups["factors of rows", "values, outputs"] == 12 * 2 * 256
    assert not any(group.startswith("O(") for group, _ in groups)
    assert "36 of 48 layers" in model.left_out[0] and not model.checked


def test_models_that_were_checked_are_those_of_the_table():
    assert {name.split(",")[0] for name in MODELS} == set(CHECKED)
    assert set(CHECKED) <= {model.models[0] for model in models().values()}
    llama = WHOLE["llama3-8b"]
    for name, checked in (("llama", True), ("glm", False)):
        stored = from_config(llama | {"model_type": name}).stored
        assert stored is not None and whole_model(stored).checked == checked
        [*_, note] = whole_model(stored).sheet().parts
        proved = "the small models of this type that were checked have no more (proved for those sizes)."
        assert note.text.endswith(
            proved if checked else "whether there is more was not checked at small sizes."
        )
