"""The attention of a published transformer: what its functions determine, of one layer and of the stack.

*One layer* has a dimension by theorem, at full size: with and without softmax, with and without rotary
positions. What is redundant is the dimension of the groups of the layer, of which the table is made.

*The stack*, the layers one after the other without what stands between them, has bounds. Above: the
dimensions of the layers less that of GL(d) between them, d·r if r rows of a layer are independent functions.
Below, without softmax and positions: the theorem on stacks (:mod:`agattn.geometry.dimension.stacks`), cut at
as many rows as the values of the layers can copy. The two bounds meet for heads with keys and values of their
own and H·b = d. With a softmax or positions, for such heads with a ≥ b: at least the functions of the last
layer, as the layers before it are a dominant map. Each block of b rows can be X_h X_hᵀ X_h, plus what earlier
tokens add, and with a softmax each token can see hardly more than itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from agattn.architectures import Acted, Attention, Network, Symmetry
from agattn.architectures.published import Published
from agattn.evidence import Evidence
from agattn.geometry.dimension.capacity import reduced
from agattn.geometry.dimension.stacks import stack
from agattn.geometry.dimension.supports import by_supports
from agattn.geometry.dimension.theorems import Theorem
from agattn.geometry.dimension.todays_attention import by_layer
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, Word
from agattn.sheet.result import Count, Key, Meta, Result, key

Normalization = Literal["none", "softmax"]


@dataclass(frozen=True, repr=False)
class Redundant(Result):
    """Groups of one kind in a layer, which leave its function as it is."""

    group: Key[str, "The group, such as GL(128)."]
    on: Key[str, "The arrays on which the group acts."]
    copies: Key[Count, "The number of groups of this kind in a layer."]
    each: Key[Count, "The dimension of one group."]

    @property
    @key
    def dimension(self) -> Count:
        """The dimension of all groups of this kind together."""
        return self.copies * self.each

    def summary(self) -> str:
        """The groups with their dimension."""
        return f"{self.copies} × {self.group} on {self.on}: {self.dimension}"


@dataclass(frozen=True, repr=False)
class FormExtent(Result):
    """Attention in one of its forms: with or without softmax and positions."""

    normalization: Key[Normalization, "`none` is lightning attention."]
    rotary: Key[bool, "Whether keys and queries are turned by their positions."]

    @property
    def name(self) -> str:
        """The form in words."""
        return f"{'softmax' if self.normalization == 'softmax' else 'lightning'}{', rotary' * self.rotary}"


@dataclass(frozen=True, repr=False)
class LayerExtent(FormExtent):
    """One layer, in one of its forms."""

    tokens: Key[Count, "The number of tokens."]
    parameters: Key[Count, "The entries of all arrays."]
    dimension: Key[Count | None, "The dimension; null where no theorem knows it."]
    evidence: Key[Evidence | None, "How the dimension is known."]
    theorem: Key[str | None, "The id of the theorem, a place in the documentation."]
    redundant: Key[tuple[Redundant, ...], "The groups that leave the function as it is."]
    upper_bound: Key[Count, "The parameters less the dimensions of these groups: proved."]

    def summary(self) -> str:
        """The form with its dimension."""
        known = "open" if self.dimension is None else f"dimension {self.dimension} ({self.evidence})"
        return f"{self.name}: {self.parameters} parameters, {known}"


@dataclass(frozen=True, repr=False)
class StackExtent(FormExtent):
    """All layers one after the other, without what stands between them."""

    parameters: Key[Count, "The entries of all arrays."]
    lower_bound: Key[Count | None, "The dimension is at least this: proved; null where none is known."]
    upper_bound: Key[Count | None, "The dimension is at most this: proved; null where none is known."]

    @property
    @key
    def open(self) -> Annotated[int, Meta(ge=0)] | None:
        """By how much the bounds differ; null where one is missing."""
        low, high = self.lower_bound, self.upper_bound
        return None if low is None or high is None else high - low

    def summary(self) -> str:
        """The bounds."""
        return f"between {self.lower_bound} and {self.upper_bound}"


@dataclass(frozen=True, repr=False)
class TransformerDimension(Result, name="dimension"):
    """What the attention of a published transformer determines."""

    config: Key[Published, "The sizes that the file gives, and what is left out."]
    layer: Key[tuple[LayerExtent, ...], "One layer, in each of its forms."]
    stack: Key[tuple[StackExtent, ...], "All layers, in each of these forms."]

    def summary(self) -> str:
        """One layer as the model has it, without softmax."""
        return f"{self.config}; one layer {self.layer[-1]}"

    def sheet(self) -> Sheet:
        """One layer, its groups, the stack, and what is left out."""
        rows: list[tuple[Cell, ...]] = []
        for one in self.layer:
            known, redundant = "open", f"at least {one.parameters - one.upper_bound}"
            if one.dimension is not None:
                known, redundant = str(one.dimension), str(one.parameters - one.dimension)
            evidence = Word(str(one.evidence or ""))
            rows.append((one.name, one.parameters, known, redundant, evidence, one.theorem or ""))
        headings = ("one layer", "parameters", "dimension", "redundant", "evidence", Wide("theorem"))
        groups: list[tuple[Cell, ...]] = [
            (one.name, part.group, part.on, part.copies, part.dimension)
            for one in self.layer
            for part in one.redundant
        ]
        left = "\n".join(f"  {one}" for one in self.config.left_out)
        return Sheet(
            str(self.config),
            (
                Table(f"Attention of {self.config.model}", headings, tuple(rows)),
                Table(
                    "Redundant parameters of one layer, by symmetry",
                    ("one layer", "group", Wide("acts on"), "copies", "dimension"),
                    tuple(groups),
                ),
                self._stack(),
                Note("Without softmax the mask is causal; a softmax is one over all tokens."),
                Note(f"Left out:\n{left}", apart=False),
            ),
        )

    def _stack(self) -> Table:
        """The bounds of the stack."""
        rows: list[tuple[Cell, ...]] = []
        for one in self.stack:
            bounds = (one.lower_bound, one.upper_bound, one.open)
            shown = ("not known" if x is None else str(x) for x in bounds)
            rows.append((one.name, one.parameters, *shown))
        headings = (f"{self.config.layers} layers", "parameters", "at least", "at most", "open by")
        return Table("The stack of attention alone", headings, tuple(rows))


def transformer_dimension(config: Published) -> TransformerDimension:
    """The dimension of one layer in each of its forms, and bounds for the stack.

    >>> from agattn.architectures.published import from_config
    >>> found = transformer_dimension(from_config("examples/latent-config.json"))
    >>> [(one.name, one.parameters - one.dimension) for one in found.layer]
    [('lightning', 6815872), ('softmax', 6815744)]
    """
    forms: list[tuple[Normalization, bool]] = [
        (normalization, rotary)
        for normalization in ("none", "softmax")
        for rotary in ([False, True] if config.rotary else [False])
    ]
    layers = tuple(_layer(config, *form) for form in forms)
    return TransformerDimension(config, layers, tuple(_stack(config, one) for one in layers))


def _layer(config: Published, normalization: Normalization, rotary: bool) -> LayerExtent:
    network = config.layer(normalization, rotary)
    theorem: Theorem | None = by_supports(network) or by_layer(network)
    groups = tuple(_groups(network))
    return LayerExtent(
        normalization, rotary, network.t, network.parameters,
        dimension=theorem.dimension if theorem else None,
        evidence=Evidence.PROVED if theorem else None,
        theorem=theorem.id if theorem else None,
        redundant=groups,
        upper_bound=network.parameters - sum(one.dimension for one in groups),
    )  # fmt: skip


def _groups(network: Network) -> Iterator[Redundant]:
    """The groups inside of a layer by kind, after the sizes that no head uses.

    At general weights of the layer with the sizes that are used the orbits are free.
    """
    smaller = reduced(network)
    if smaller != network:
        unused = network.parameters - smaller.parameters
        yield Redundant("sizes that no head uses", "all arrays", 1, unused)
    [place] = smaller.places
    pairs, found = list[Symmetry](), dict[tuple[str, str], list[int]]()
    for one in place.layer.symmetries(place.shape):
        # Factors of pairs of rows that positions turn, and their rotations: complex numbers.
        if one.on[0].index[:1] == (Ellipsis,):
            pairs.append(one)
            continue
        name = one.name if one.size == 1 else f"GL({one.size})"
        found.setdefault((name, _arrays(one.on)), []).append(one.dimension)
    if pairs:
        yield Redundant("complex numbers", _arrays(pairs[0].on), len(pairs), 2)
    for (name, on), dimensions in found.items():
        yield Redundant(name, on, len(dimensions), dimensions[0])


def _arrays(on: Iterable[Acted]) -> str:
    return ", ".join(dict.fromkeys(acted.parameter for acted in on))


def _stack(config: Published, one: LayerExtent) -> StackExtent:
    """The bounds of all layers."""
    network, count = config.layer(one.normalization, one.rotary), config.layers
    d, upper = config.dim, None
    if (rows := _independent_rows(network)) is not None:
        each = one.dimension if one.dimension is not None else one.upper_bound
        upper = count * each - (count - 1) * d * rows
    whole = Network(network.layers * count, *network.input_shape)
    cut = stack(whole)  # without softmax and positions
    lower = cut.lower() if cut else None
    blocks = config.heads * config.value_rank == d and config.rank >= config.value_rank
    compressed = config.kv_latent is not None or config.q_latent is not None
    dominant = blocks and not compressed and config.kv_heads == config.heads
    if lower is None and (dominant or count == 1):
        lower = one.dimension
    return StackExtent(one.normalization, one.rotary, count * one.parameters, lower, upper)


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
    if layer.normalization == "none" and by_supports(alone) is None and by_layer(alone) is None:
        return None
    return min(layer.out, layer.heads * min(layer.value_rank, layer.kv_latent or network.dim))
