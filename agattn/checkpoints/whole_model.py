r"""How many parameters of a published model count: its arrays by kind, and the group that keeps its function.

The function is the logits, or the last vectors of a model without unembedding, with the file's own eps. With
width d, H heads in g groups of s, keys of a rows of which p pairs turn and a₀ = a − 2p do not, values of b
rows, n neurons, V tokens and T positions, a layer has

.. math::

    \underbrace{g(2p + a_0^2)}_{\text{scores}} + \underbrace{g b^2}_{\text{values}}
    + \underbrace{g a_0 + g b}_{\text{biases}} + \underbrace{n}_{\text{neurons with a gate, or ReLU}}
    + \underbrace{2d}_{\text{gains}} \; (\text{layer norm: } 4d)

redundant directions, layer norms also the mean direction of all that reads and writes, and the model O(d), or
O(d − 1) of the vectors of sum 0. The orbit of a group G has dimension dim G less that of a stabilizer, which
is subtracted. Functions are constant on orbits, so

.. math:: \dim \le \text{parameters} - (\dim G - \min_θ \dim G_θ).

The page on whole models proves that each of these groups changes nothing, and that their directions are
independent.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from agattn.calls import is_number, positive_integer, shown
from agattn.checkpoints.families import Described, Family, Switch, by_model, described
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide
from agattn.sheet.result import Count, Key, Positive, Result, key


class Model(Described, frozen=True):
    """What ``whole_models.toml`` says of models of some types, which explains the words."""

    activation: str = "silu"
    activation_keys: tuple[str, ...] = ("hidden_act", "hidden_activation", "activation_function")
    neurons: tuple[str, ...] = ("intermediate_size", "n_inner", "ffn_hidden_size")
    neurons_are: int = 0
    perceptron_biases: Switch = Switch("mlp_bias")
    experts: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    router_bias: bool = False
    place: Literal["before", "after", "both", "post"] = "before"
    norms: int = 2
    parallel: Switch = Switch()
    gains: bool = True
    norm_biases: bool = True
    qk_norm: Literal["", "head", "all"] = ""
    sinks: bool = False
    positions: tuple[str, ...] = ()
    plus: int = 0
    types: tuple[str, ...] = ()
    embedding_norm: bool = False
    tied: Switch = Switch("tie_word_embeddings")
    unembedding: bool = True
    unembedding_bias: bool = False
    only_if: dict[str, Any] = msgspec.field(default_factory=dict)


@cache
def models() -> Mapping[str, Model]:
    """What is said of models by ``model_type``.

    >>> models()["gemma2"].place
    'both'
    """
    text = Path(__file__).with_name("whole_models.toml").read_text(encoding="utf-8")
    return by_model(described(Model, tomllib.loads(text)))


class LayerKind(Result):
    """Layers of attention that are alike."""

    layers: Key[Positive, "How many layers of the model are of this kind."]
    kv_heads: Key[Positive, "The groups of heads that share keys and values."]
    rotary_pairs: Key[Count, "How many pairs of rows of keys and queries are turned by their positions."]

    def summary(self) -> str:
        """What tells the kind apart."""
        return (
            f"layers: {self.layers}, sets of keys and values: {self.kv_heads},"
            f" pairs of rows that turn: {self.rotary_pairs}"
        )


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes of a model as it is stored, and what changes which rewrites there are."""

    model: Model
    model_type: str
    dim: int
    heads: int
    rank: int
    value_rank: int
    layers: int
    kinds: tuple[LayerKind, ...]
    vocabulary: int
    neurons: int
    activation: str
    gated: bool
    layer_norm: bool
    biases: str  #: the letters of Q, K, V and O that have one
    perceptron_biases: bool
    tied: bool
    parallel: bool
    capped: bool  #: whether scores have a soft cap
    qk_norm: str
    output_gate: bool
    experts: int
    shared: int
    positions: int
    types: int

    @property
    def hybrid(self) -> bool:
        """Whether there are layers that are no attention."""
        return self.layers > sum(kind.layers for kind in self.kinds)

    @property
    def final_norm(self) -> bool:
        """Whether a norm stands behind the last block."""
        return self.model.place != "post"

    @property
    def norm_biases(self) -> bool:
        """Whether norms have biases."""
        return self.layer_norm and self.model.gains and self.model.norm_biases


#: What the names of activations mean.
ACTIVATIONS = {
    "silu": "silu", "swish": "silu", "gelu": "gelu", "gelu_new": "gelu", "gelu_fast": "gelu",
    "gelu_pytorch_tanh": "gelu", "relu": "relu", "relu2": "relu", "clamped": "clamped",
}  # fmt: skip


def stored(
    table: Mapping[str, Any], family: Family, sizes: Mapping[str, Any]
) -> tuple[Stored | None, tuple[str, ...]]:
    """The whole model of a ``config.json``, or what is missing or not described.

    Args:
        table: the keys of the file.
        family: as which its keys are read.
        sizes: dim, heads, rank, value_rank, layers and kinds.
    """
    own = str(table.get("model_type"))
    model = models().get(own if own in family.models else family.models[0])
    if model is None or not {"rank", "kv_latent"}.isdisjoint(family.keys):
        return None, (f"a description of whole models of the type {own}",)
    unread = [name for name, wanted in model.only_if.items() if table.get(name, wanted) != wanted]
    unread += [name for name in ("clip_qkv", "add_cross_attention", "block_configs") if table.get(name)]
    lacks = [f"a description of {name} = {shown(table[name])}" for name in unread]

    def size(*names: str, default: int = 0) -> int:
        for name in names:
            if table.get(name) is not None:
                return positive_integer(name, table[name])
        if names and not default:
            lacks.append(names[0])
        return default

    qk_norm = model.qk_norm if family.qk_norm.of(table) else ""
    if family.qk_norm.of(table) and not qk_norm:
        lacks.append(f"a description of {family.qk_norm.key} = true")
    activation = next((table[name] for name in model.activation_keys if table.get(name)), model.activation)
    activation = model.activation if model.activation == "clamped" else activation
    if activation not in ACTIVATIONS:
        lacks.append(f"a description of the activation {shown(activation)}")
    cap = table.get("attn_logit_softcapping")
    read = Stored(
        model=model,
        model_type=own,
        vocabulary=size("vocab_size"),
        neurons=size(*model.neurons, default=model.neurons_are * sizes["dim"]),
        activation=ACTIVATIONS.get(str(activation), ""),
        gated=family.perceptron == "gated",
        layer_norm=family.norm == "layer",
        biases=family.letters(table),
        perceptron_biases=model.perceptron_biases.of(table),
        tied=model.unembedding and model.tied.of(table),
        parallel=model.parallel.of(table),
        capped=is_number(cap) and bool(cap),
        qk_norm=qk_norm,
        output_gate=family.output_gate,
        experts=size(*model.experts),
        shared=size(*model.shared),
        positions=size(*model.positions) + model.plus,
        types=size(*model.types),
        **sizes,
    )
    return (None, tuple(lacks)) if lacks else (read, ())


# Parameters -------------------------------------------------------------------------------------------------


def parameters(m: Stored) -> dict[str, int]:
    """The entries of all arrays, by kind."""
    d, a, b = m.dim, m.rank, m.value_rank
    layers = sum(kind.layers for kind in m.kinds)
    groups = sum(kind.layers * kind.kv_heads for kind in m.kinds)
    matrices, vectors = (3, 2) if m.gated else (2, 1)
    rows = {"q": layers * m.heads * a, "k": groups * a, "v": groups * b, "o": layers * d}
    experts = m.experts or 1
    of_perceptrons = m.layers * (vectors * m.neurons * experts + experts * d) * m.perceptron_biases
    twice = 1 + (m.model.place == "both")
    norms = twice * (layers + (m.model.norms - 1) * m.layers) + m.final_norm + m.model.embedding_norm
    gains = {"": 0, "head": 2 * layers * a, "all": rows["q"] + rows["k"]}[m.qk_norm]
    counts = {
        "embedding": m.vocabulary * d,
        "positions and types": (m.positions + m.types) * d,
        "norms": norms * d * (m.model.gains + m.norm_biases),
        "norms of queries and keys": gains,
        "queries": rows["q"] * d,
        "keys": rows["k"] * d,
        "values": rows["v"] * d,
        "outputs": layers * m.heads * b * d,
        "output gates": layers * m.heads * b * d * m.output_gate,
        "sinks": layers * m.heads * m.model.sinks,
        "biases of attention": sum(rows[letter] for letter in m.biases),
        "perceptrons": m.layers * matrices * m.neurons * d * (not m.experts),
        "experts": m.layers * matrices * (m.neurons * m.experts + m.shared) * d * bool(m.experts),
        "routers": m.layers * (m.experts * (d + m.model.router_bias) + d * bool(m.shared)),
        "biases of perceptrons": of_perceptrons,
        "unembedding": m.vocabulary * d * (m.model.unembedding and not m.tied),
        "bias of the unembedding": m.vocabulary * m.model.unembedding_bias,
    }
    return {kind: number for kind, number in counts.items() if number}


# The group --------------------------------------------------------------------------------------------------


class Rewrites(Result):
    """Rewrites of a kind, that change no function."""

    group: Key[str, "What the rewrites do, or their group."]
    on: Key[str, "The arrays that change."]
    dimension: Key[Count, "The dimension of their orbits, in all layers together."]


def rewrites(m: Stored) -> tuple[Rewrites, ...]:
    """The dimensions of orbits of the group, by kind."""
    every = [*_ends(m), *_norms(m), *_perceptrons(m)]
    every += [part for kind in m.kinds for part in _attention(m, kind)]
    sums = dict[tuple[str, str], int]()
    for group, on, dimension in every:
        sums[group, on] = sums.get((group, on), 0) + dimension
    return tuple(Rewrites(*names, dimension) for names, dimension in sums.items() if dimension)


Part = tuple[str, str, int]


def _linear(n: int, columns: int, rows: int) -> int:
    """The orbit of GL(n) at general (X, Y) → (MX, YM⁻¹): n² less the M with MX = X and YM = Y.

    These are 1 + N with N zero on the image of X, and with values in the kernel of Y.
    """
    return n * n - (n - min(n, columns)) * (n - min(n, rows))


def _attention(m: Stored, kind: LayerKind) -> Iterator[Part]:
    """The scores, values and biases of layers of attention."""
    layers, g, p = kind.layers, kind.kv_heads, kind.rotary_pairs
    a, b, seen = m.rank, m.value_rank, m.dim - m.layer_norm
    free, in_group = a - 2 * p, m.heads // g * seen
    if m.qk_norm:
        on = "gains of queries and keys"
        yield (
            "factors of pairs, and of rows that do not turn",
            on,
            layers * (g if m.qk_norm == "all" else 1) * (p + free),
        )
    else:
        yield f"complex numbers, {p} a group", "queries, keys", layers * g * 2 * p
        yield f"GL({free})", "queries, keys", layers * g * _linear(free, seen, in_group)
        if "k" in m.biases and not m.model.sinks and not m.capped:
            yield "translations", "biases of keys", layers * g * free
    if m.output_gate:
        yield "factors of rows", "values, outputs", layers * g * b
    else:
        yield f"GL({b})", "values, outputs", layers * g * _linear(b, seen, in_group)
        if "v" in m.biases and not m.model.sinks:
            output = "o" in m.biases or (m.parallel and m.perceptron_biases)
            seen_biases = 0 if output else min(g * b, seen)
            yield "translations", "biases of values and outputs", layers * (g * b - seen_biases)


def _perceptrons(m: Stored) -> Iterator[Part]:
    """Neurons, routers, and biases of blocks whose halves are parallel."""
    scales = {"clamped": 0, "relu": 1 + m.gated}.get(m.activation, int(m.gated))
    neurons = m.neurons * (m.experts or 1) + m.shared
    yield "factors of neurons", "perceptrons", m.layers * neurons * scales
    if m.experts:
        yield "the same for all experts", "routers", m.layers * (m.dim + m.model.router_bias)
    if m.parallel and m.perceptron_biases and "o" in m.biases:
        on = "biases of outputs and perceptrons"
        yield "translations", on, m.layers * (m.dim - m.layer_norm)


def _norms(m: Stored) -> Iterator[Part]:
    """Gains and biases of norms, and what a layer norm takes away of what is read and written."""
    d, layers = m.dim, sum(kind.layers for kind in m.kinds)
    untied = m.model.unembedding and not m.tied
    if m.model.place in ("before", "both") and m.model.gains:
        before = layers + (m.model.norms - 1) * m.layers
        yield "factors of coordinates", "gains, what reads", before * d
        yield "translations", "biases of norms, what reads", before * d * m.norm_biases
    if m.model.place == "post":
        # Each norm is read, but for the last one; so is that of the embedding.
        norms = 2 * m.layers - 1 + m.model.embedding_norm
        yield "translations", "biases of norms, what reads and writes", norms * d
    if m.final_norm and untied and m.model.gains:
        yield "factors of coordinates", "final gain, unembedding", d
        yield "translations", "final bias, unembedding", d * m.norm_biases
    if m.layer_norm:
        yield "mean direction", "what reads", sum(_reading_rows(m, kind) for kind in m.kinds)
        if m.final_norm and untied and (m.model.unembedding_bias or not m.norm_biases):
            yield "mean direction", "unembedding", m.vocabulary
        columns = m.heads * m.value_rank + ("o" in m.biases)
        columns += m.neurons + m.perceptron_biases
        yield "mean direction", "what writes", layers * columns


def _reading_rows(m: Stored, kind: LayerKind) -> int:
    """The rows of blocks whose mean is free: W + w(1/γ)ᵀ adds w Σ β/γ, which a bias takes back.

    So it does where there is no β; keys that do not turn may have any constant.
    """
    sizes, free = {"q": m.heads * m.rank, "v": kind.kv_heads * m.value_rank}, not m.norm_biases
    rows = sum(number for letter, number in sizes.items() if free or letter in m.biases)
    constant = m.rank - 2 * kind.rotary_pairs if not (m.model.sinks or m.capped or m.qk_norm) else 0
    rows += kind.kv_heads * (m.rank if free or "k" in m.biases else constant)
    return kind.layers * (rows + m.neurons * (1 + m.gated) * (free or m.perceptron_biases))


def _ends(m: Stored) -> Iterator[Part]:
    """The residual stream, and the tables that are added up before the first block."""
    gained = m.final_norm and m.model.gains
    writes_alone = not m.tied or not gained
    if m.layer_norm and not m.hybrid:
        # A tied embedding is free of its mean if the final norm takes it away again, without gains.
        yield "mean direction", "embedding", m.vocabulary * writes_alone
        yield "mean direction", "positions and types", m.positions - m.model.plus + m.types
        if m.model.embedding_norm and m.model.place != "post":
            yield "mean direction", "bias of the norm of embeddings", 1
    yield "any change", "positions that no token has", m.model.plus * m.dim
    tables = (not m.tied) + bool(m.positions) + bool(m.types)
    visible = m.dim - m.layer_norm
    exchanged = max(tables - 1, 0)
    yield "translations", "embedding, positions and types", exchanged * visible
    if m.model.place == "before" and writes_alone and not m.model.embedding_norm and not m.hybrid:
        # O(e) at k general vectors has the stabilizer O(e − k).
        rest = visible - min(visible, m.vocabulary - bool(exchanged))
        rotations = (visible * (visible - 1) - rest * (rest - 1)) // 2
        yield f"O({visible})", "all that reads or writes the residual stream", rotations


# The answer -------------------------------------------------------------------------------------------------

#: Types of which small models have no other redundancy, proved by ranks in balls: those of the table on the
#: page of proofs on whole models.
CHECKED = (
    "llama", "mixtral", "qwen2", "qwen3", "gemma2", "gpt_oss", "olmo", "olmo2", "cohere", "starcoder2",
    "gpt2", "phi", "gpt_neox", "falcon", "bloom", "opt", "bert",
)  # fmt: skip


class WholeModel(Result):
    """How many parameters of a whole model count."""

    parameters: Key[Mapping[str, Count], "The entries of all arrays in all layers, by kind."]
    redundant: Key[tuple[Rewrites, ...], "What changes no function: the dimensions of orbits, by kind."]
    checked: Key[
        bool, "Whether small models of this type were checked, and have no more: proved for those sizes."
    ]
    left_out: Key[tuple[str, ...], "What is not counted."]

    @key
    def total(self) -> Count:
        """The entries of all arrays together."""
        return sum(self.parameters.values())

    @key
    def upper_bound(self) -> Count:
        """The parameters less the dimensions of orbits: proved."""
        return self.total - sum(part.dimension for part in self.redundant)

    def summary(self) -> str:
        """The total and the bound."""
        return f"{self.total:,} parameters, at most {self.upper_bound:,} of them count (proved)"

    def sheet(self) -> Sheet:
        """Arrays by kind beside the group by kind."""
        arrays: list[tuple[Cell, ...]] = [*self.parameters.items()]
        groups: list[tuple[Cell, ...]] = [(part.group, part.on, part.dimension) for part in self.redundant]
        arrays.append(("all", self.total))
        groups.append(("all", "", self.total - self.upper_bound))
        more = "whether there is more was not checked at small sizes"
        if self.checked:
            more = "the small models of this type that were checked have no more (proved for those sizes)"
        left_out = "".join(f"\n  not counted: {words}" for words in self.left_out)
        return Sheet(
            str(self),
            (
                Table("Parameters of the whole model", ("arrays", "parameters"), tuple(arrays)),
                Table(
                    "Redundant parameters of the whole model",
                    ("group", Wide("acts on"), "dimension"),
                    tuple(groups),
                ),
                Note(f"{self}; {more}.{left_out}"),
            ),
        )


def whole_model(m: Stored) -> WholeModel:
    """The parameters of a model, and how many of them are redundant.

    >>> from agattn.checkpoints.published import from_config
    >>> sizes = {"n_embd": 768, "n_head": 12, "n_layer": 12, "vocab_size": 50257, "n_positions": 1024}
    >>> whole_model(from_config({"model_type": "gpt2"} | sizes).stored)
    124,439,808 parameters, at most 123,093,224 of them count (proved)
    """
    left_out = list[str]()
    if others := m.layers - sum(kind.layers for kind in m.kinds):
        left_out.append(
            f"{others} of {m.layers} layers, but for their perceptrons with the norms of these; nor the basis"
            " of the residual stream, which all layers share"
        )
    checked = m.model_type in CHECKED and not left_out
    return WholeModel(parameters(m), rewrites(m), checked, tuple(left_out))
