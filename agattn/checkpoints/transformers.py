"""The attention of a published transformer: what its functions determine, of one layer and of the stack.

*One layer* has a dimension by theorem, at full size: with and without softmax, with and without rotary
positions. What is redundant is the dimension of the groups of the layer, of which the table is made. If the
layers are of several kinds, each is treated by itself.

*The stack*, the layers one after the other without what stands between them, has bounds. Above: the
dimensions of the layers less that of GL(d) between them, d·r if r rows of a layer are independent functions.
Below, without softmax and positions: the theorem on stacks (:mod:`agattn.geometry.dimension.theorems`), cut
at as many rows as the values of the layers can copy. The two bounds meet for heads with keys and values of
their own and H·b = d. With a softmax or positions, if g sets of keys and values have g·b ≥ d, there are no
latents and, without mask and softmax, a ≥ 2: at least the functions of the last layer, as the layers before
it are a dominant map (the page on today's attention has the proof)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from operator import mul
from typing import Annotated, Literal

from agattn.architectures import Acted, Attention, Network
from agattn.checkpoints.published import Published
from agattn.checkpoints.whole_model import WholeModel, whole_model
from agattn.evidence import Evidence
from agattn.geometry.dimension.formulas import reduced
from agattn.geometry.dimension.theorems import by_theorem, stack
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, Word
from agattn.sheet.result import Count, Key, Meta, Result, key

Normalization = Literal["none", "softmax"]
NORMALIZATIONS: tuple[Normalization, ...] = ("none", "softmax")


class Redundant(Result):
    """Groups of one kind in a layer, which leave its function as it is."""

    group: Key[str, "The group, such as GL(128)."]
    on: Key[str, "The arrays on which the group acts."]
    copies: Key[Count, "The number of groups of this kind in a layer."]
    each: Key[Count, "The dimension of one group."]

    @key
    def dimension(self) -> Count:
        """The dimension of all groups of this kind together."""
        return self.copies * self.each

    def summary(self) -> str:
        """The groups with their dimension."""
        return f"{self.copies} × {self.group} on {self.on}: {self.dimension}"


class FormExtent(Result):
    """Attention in one of its forms: with or without softmax and positions."""

    normalization: Key[Normalization, "`none` is lightning attention."]
    rotary: Key[bool, "Whether keys and queries are turned by their positions, where the model does so."]

    @property
    def name(self) -> str:
        """The form in words."""
        return f"{'softmax' if self.normalization == 'softmax' else 'lightning'}{', rotary' * self.rotary}"


class LayerExtent(FormExtent):
    """One layer, in one of its forms."""

    kind: Key[Count, "Which of the kinds of layers in `config` it is, from 0."]
    tokens: Key[Count, "The number of tokens."]
    parameters: Key[Count, "The entries of all arrays."]
    dimension: Key[Count | None, "The dimension; null where no theorem knows it."]
    evidence: Key[Evidence | None, "How the dimension is known."]
    theorem: Key[str | None, "The id of the theorem, a place in the documentation."]
    redundant: Key[tuple[Redundant, ...], "The groups that leave the function as it is."]
    upper_bound: Key[Count, "The parameters less the dimensions of these groups: proved."]

    def summary(self) -> str:
        """The form with its dimension."""
        size = "open" if self.dimension is None else f"dimension {self.dimension} ({self.evidence})"
        return f"{self.name}: {self.parameters} parameters, {size}"


class StackExtent(FormExtent):
    """All layers one after the other, without what stands between them."""

    parameters: Key[Count, "The entries of all arrays."]
    lower_bound: Key[Count | None, "The dimension is at least this: proved; null where none is known."]
    upper_bound: Key[Count | None, "The dimension is at most this: proved; null where none is known."]

    @key
    def open(self) -> Annotated[int, Meta(ge=0)] | None:
        """By how much the bounds differ; null where one is missing."""
        low, high = self.lower_bound, self.upper_bound
        return None if low is None or high is None else high - low

    def summary(self) -> str:
        """The bounds."""
        return f"between {self.lower_bound} and {self.upper_bound}"


class TransformerDimension(Result, name="dimension"):
    """What the attention of a published transformer determines."""

    config: Key[Published, "The sizes that the file gives, and what is left out."]
    layer: Key[tuple[LayerExtent, ...], "One layer of each kind, in each of its forms."]
    stack: Key[tuple[StackExtent, ...], "All layers of attention, in each of these forms."]
    model: Key[WholeModel | None, "The whole model; null where the file does not say enough."] = None
    missing: Key[tuple[str, ...], "What the file lacks to count the whole model."] = ()

    def summary(self) -> str:
        """One layer as the model has it, without softmax."""
        return f"{self.config}; one layer {self.layer[-1]}"

    def sheet(self) -> Sheet:
        """One layer, its groups, the stack, and what is left out."""
        rows, groups = list[tuple[Cell, ...]](), list[tuple[Cell, ...]]()
        several = len(self.config.kinds) > 1
        for layer in self.layer:
            name = f"{layer.kind}: {layer.name}" if several else layer.name
            dimension, redundant = "open", f"at least {layer.parameters - layer.upper_bound}"
            if layer.dimension is not None:
                dimension, redundant = str(layer.dimension), str(layer.parameters - layer.dimension)
            evidence = Word(str(layer.evidence or ""))
            rows.append((name, layer.parameters, dimension, redundant, evidence, layer.theorem or ""))
            groups += [(name, part.group, part.on, part.copies, part.dimension) for part in layer.redundant]
        headings = ("one layer", "parameters", "dimension", "redundant", "evidence", Wide("theorem"))
        columns = ("one layer", "group", Wide("acts on"), "copies", "dimension")
        kinds = "; ".join(f"{n}: {kind}" for n, kind in enumerate(self.config.kinds))
        return Sheet(
            str(self.config),
            (
                Table(f"Attention of {self.config.model}", headings, tuple(rows)),
                Table("Redundant parameters of one layer, by symmetry", columns, tuple(groups)),
                self._stack(),
                *([Note(f"Kinds of layers: {kinds}.")] if several else []),
                Note("\n  ".join(("Left out:", *self.config.left_out)), apart=False),
                *self._whole(),
            ),
        )

    def _whole(self) -> Sequence[Table | Note]:
        """The whole model, or what the file lacks for it."""
        if self.model is not None:
            return self.model.sheet().parts
        return [Note(f"The whole model is not counted; missing: {', '.join(self.missing)}.")]

    def _stack(self) -> Table:
        """The bounds of the stack."""
        rows: list[tuple[Cell, ...]] = []
        for form in self.stack:
            bounds = (form.lower_bound, form.upper_bound, form.open)
            rows.append((form.name, form.parameters, *("not known" if x is None else str(x) for x in bounds)))
        headings = (f"{self.config.attention_layers} layers", "parameters", "at least", "at most", "open by")
        return Table("The stack of attention alone", headings, tuple(rows))


def transformer_dimension(config: Published) -> TransformerDimension:
    """The dimension of one layer in each of its forms, and bounds for the stack.

    >>> from agattn.checkpoints.published import from_config
    >>> found = transformer_dimension(from_config("examples/latent-config.json"))
    >>> [(one.name, one.parameters - one.dimension) for one in found.layer]
    [('lightning', 6815872), ('softmax', 6815744)]
    """
    turned = [False, True] if any(kind.rotary_pairs for kind in config.kinds) else [False]
    layers, stacks = list[LayerExtent](), list[StackExtent]()
    for normalization, rotary in product(NORMALIZATIONS, turned):
        of_form = [_layer(config, n, normalization, rotary) for n in range(len(config.kinds))]
        seen = set[Network]()
        for layer, kind in zip(of_form, config.kinds, strict=True):
            network = config.layer(normalization, rotary, kind)
            if network not in seen and (kind.rotary_pairs or not rotary):
                layers.append(layer)
            seen.add(network)
        stacks.append(_stack(config, of_form))
    model = whole_model(config.stored) if config.stored else None
    return TransformerDimension(config, tuple(layers), tuple(stacks), model, config.lacks)


def _layer(config: Published, kind: int, normalization: Normalization, rotary: bool) -> LayerExtent:
    network = config.layer(normalization, rotary, config.kinds[kind])
    proved = by_theorem(network)
    groups = tuple(_groups(network))
    return LayerExtent(
        normalization,
        rotary,
        kind,
        network.t,
        network.parameters,
        dimension=proved.value if proved else None,
        evidence=Evidence.PROVED if proved else None,
        theorem=proved.theorem if proved else None,
        redundant=groups,
        upper_bound=network.parameters - sum(group.dimension for group in groups),
    )


def _groups(network: Network) -> Iterator[Redundant]:
    """The groups inside of a layer by kind, after the sizes that no head uses.

    At general weights of the layer with the sizes that are used the orbits are free.
    """
    smaller = reduced(network)
    if smaller != network:
        unused = network.parameters - smaller.parameters
        yield Redundant("sizes that no head uses", "all arrays", 1, unused)
    [layer] = smaller.places
    symmetries = layer.derived.symmetries
    groups = dict[tuple[str, str], list[int]]()
    rotations = [symmetry for symmetry in symmetries if symmetry.is_orthogonal]
    for symmetry in symmetries:
        # Of pairs of rows that positions turn, rotations and factors together are complex numbers.
        if symmetry.is_orthogonal or (symmetry.leading.axis is None and symmetry.leading.is_part):
            continue
        name = symmetry.name if symmetry.size == 1 else f"GL({symmetry.size})"
        groups.setdefault((name, _arrays(symmetry.on)), []).append(symmetry.dimension)
    if rotations:
        yield Redundant("complex numbers", _arrays(rotations[0].on), len(rotations), 2)
    for (name, on), dimensions in groups.items():
        yield Redundant(name, on, len(dimensions), dimensions[0])


def _arrays(on: Iterable[Acted]) -> str:
    return ", ".join(dict.fromkeys(acted.parameter for acted in on))


def _stack(config: Published, layers: Sequence[LayerExtent]) -> StackExtent:
    """The bounds of all layers, of a layer of each kind in one form.

    In whatever order the layers are, all but the last share GL(d) with the next one.
    """
    form, counts, d = layers[0], [kind.layers for kind in config.kinds], config.dim
    networks = [config.layer(form.normalization, form.rotary, kind) for kind in config.kinds]
    rows, upper = [rows for network in networks if (rows := _independent_rows(network)) is not None], None
    if len(rows) == len(networks):
        each = [layer.upper_bound if layer.dimension is None else layer.dimension for layer in layers]
        upper = sum(map(mul, counts, each)) - d * (sum(map(mul, counts, rows)) - max(rows))
    lower = _least(config, networks[0], layers[0]) if len(layers) == 1 else None
    parameters = sum(map(mul, counts, (layer.parameters for layer in layers)))
    return StackExtent(form.normalization, form.rotary, parameters, lower, upper)


def _least(config: Published, network: Network, layer: LayerExtent) -> int | None:
    """A lower bound for equal layers, where one is known."""
    count = config.attention_layers
    cut = stack(Network(network.layers * count, *network.input_shape))  # without softmax and positions
    if cut and (lower := cut.lower()) is not None:
        return lower
    compressed = config.kv_latent is not None or config.q_latent is not None
    proved = layer.normalization == "softmax" or config.causal or config.rank >= 2
    dominant = config.kv_heads * config.value_rank >= config.dim and proved and not compressed
    return layer.dimension if dominant or count == 1 else None


def _independent_rows(network: Network) -> int | None:
    """How many rows of a layer are independent functions: min(d', H·b), where that is known, else ``None``.

    A combination λ of the rows is the layer with λᵀO_h in place of O_h. With a softmax it is zero only if
    all λᵀO_h P_h are, as the heads have different poles. Without softmax a theorem must say that the
    kernel of the differential comes from the groups alone. If Σ λᵀV_h·A_h = 0, then for any column μ the
    vector V̇_h = μλᵀV_h, Ȧ_h = 0 is in the kernel and moves no A_h, K or P; so it is 0, and all λᵀV_h
    are.
    """
    [layer] = reduced(network).layers
    assert isinstance(layer, Attention) and layer.value_rank is not None
    alone = Network((replace(layer, rotary=False),), *network.input_shape)
    if layer.normalization == "none" and by_theorem(alone) is None:
        return None
    return min(layer.out, layer.heads * min(layer.value_rank, layer.kv_latent or network.dim))
