"""Networks of any layers, one after the other.

>>> from agattn.architectures.layers import Attention, Perceptron
>>> network = Network([Attention(3, rank=2, mask="causal"), Perceptron([4, 1], degree=2)], dim=3, tokens=2)
>>> print(network)
3×2 → attention 3 (rank 2, causal) → perceptron 4,1 (degree 2)
>>> network.shapes
{'K_1': (1, 2, 3), 'Q_1': (1, 2, 3), 'V_1': (1, 3, 3), 'W_2_1': (4, 3), 'W_2_2': (1, 4)}
>>> network.output_shape, network.degree, network.input_degrees
((1, 2), 15, (6,))
>>> [(symmetry.name, symmetry.size) for symmetry in network.symmetries]
[('GL(a)', 2), ('scaling', 1), ('GL(d)', 3), ('neuron', 1), ('neuron', 1), ('neuron', 1), ('neuron', 1)]
"""

from __future__ import annotations

from dataclasses import dataclass

from agattn.architectures.layered import Layered
from agattn.architectures.layers import TABLES, Attention, Layer, Shape, listed
from agattn.architectures.network import DeepNetwork
from agattn.calls import constructed, positive_integer
from agattn.limits import check_sizes
from agattn.sheet.data import Cell, Sheet, Table
from agattn.sheet.result import Described, Key, Meta, Named, Positive, key


@dataclass(frozen=True, repr=False)
class Input(Described, has_defaults=True):
    """The size of the matrix X that a network takes."""

    dim: Key[Positive, "The number of rows of X."]
    tokens: Key[Positive, "The number of columns of X, the tokens."] = 1


@constructed
@dataclass(frozen=True)
class Network(Layered):
    """Layers one after the other: any polynomial network, or with softmax attention in it a normalized one.

    Parameters are called by the letter that a layer has for them and its number, from 1: K_1, Q_1, V_1 of an
    attention layer, W_2_1, W_2_2, b_2_1, b_2_2 of a perceptron, W_3 of a convolution or a linear layer.

    Layers are values such as :class:`~agattn.architectures.layers.Attention`. X is a matrix dim × tokens; the
    number of tokens is also called ``t``.

    Raises:
        InputError: if there is no layer, a number is out of range, or the layers do not fit together.

    >>> from agattn.architectures.layers import Convolution
    >>> Network([Convolution(3, degree=2), Convolution(4, degree=2)], dim=1, tokens=5)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: layer 2: filter is 4, and slides along 3 tokens; give at most 3
    """

    layers: Key[
        tuple[Layer, ...],
        "The layers, one after the other.",
        Named("layer"),
        Meta(min_length=1),
        TABLES,
    ]
    dim: int
    tokens: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", listed(self.layers))
        object.__setattr__(self, "dim", positive_integer("dim", self.dim))
        object.__setattr__(self, "tokens", positive_integer("tokens", self.tokens))
        self._compiled  # noqa: B018  that the layers fit together

    @property
    def input_shape(self) -> Shape:
        """The shape (d, t) of X."""
        return self.dim, self.tokens

    def summary(self) -> str:
        """The input and the layers in a line."""
        return " → ".join([f"{self.dim}×{self.tokens}", *map(str, self.layers)])

    def sheet(self) -> Sheet:
        """The layers, a row for each."""
        shape, rows = self.input_shape, list[tuple[Cell, ...]]()
        for i, layer in enumerate(self.layers, 1):
            alone = Network((layer,), *shape)
            shape = alone.output_shape
            rows.append((i, str(layer), alone.parameters, " × ".join(map(str, shape))))
        size = " × ".join(map(str, self.input_shape))
        title = f"Network for inputs of size {size}, {self.parameters} parameters"
        return Sheet(title, (Table(title, ("layer", "", "parameters", "output"), tuple(rows)),))

    def as_network(self) -> DeepNetwork | None:
        """The same network by its widths and ranks, if its layers are attention of one kind.

        ``None`` with groups or latents; also with masks or rotary positions, except for one token, where
        both are without effect.
        """
        layers = [one for one in self.layers if isinstance(one, Attention)]
        kinds = {(one.skip, one.normalization, one.temperature, one.value_rank) for one in layers}
        if not all(one.is_plain for one in layers):
            return None
        plain = all(one.mask == "none" and not one.rotary for one in layers)
        alone = self.t == 1 and all(one.mask in ("none", "causal") for one in layers)
        if len(layers) < len(self.layers) or len(kinds) > 1 or not (plain or alone):
            return None
        ((skip, normalization, temperature, value_rank),) = kinds
        dims, ranks = (self.dim, *(one.out for one in layers)), tuple(one.rank for one in layers)
        heads = tuple(one.heads for one in layers)
        return DeepNetwork(dims, ranks, self.t, heads, skip, normalization, temperature, value_rank)

    @key
    def input(self) -> Input:
        """What the first layer takes."""
        return Input(self.dim, self.tokens)


#: Half a minute for the bounds of a dimension, which take longer than in proportion.
MOST_STEPS, MOST_HEADS = 300, 20_000


def check_depth(architecture: object) -> None:
    """Refuse a network of very many steps or heads, unless it is attention alone and has formulas.

    Raises:
        TooLargeError: if it has more than :data:`MOST_STEPS` or :data:`MOST_HEADS`.

    >>> from agattn.architectures.layers import Linear
    >>> check_depth(Network([Linear(1)] * 20_000, dim=1))
    Traceback (most recent call last):
        ...
    agattn.errors.TooLargeError: the model has 20000 steps, one after the other; the limit is 300. Use
    force=True to start all the same
    """
    if not isinstance(architecture, Network) or architecture.as_network() is not None:
        return
    places = architecture.places
    heads = sum(getattr(place.layer, "heads", 0) for place in places)
    steps = (len(places), "steps, one after the other", MOST_STEPS)
    check_sizes("the model", steps, (heads, "heads", MOST_HEADS))
