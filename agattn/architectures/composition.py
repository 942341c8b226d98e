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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from agattn.architectures.layers import ADD, KEEP, TABLES, Attention, Layer, Shape, Step, listed
from agattn.architectures.network import LARGEST_ARRAY, DeepNetwork
from agattn.architectures.symmetry import Acted, Symmetry
from agattn.calls import constructed, positive_integer
from agattn.errors import InputError, TooLargeError, argument
from agattn.sheet.data import Cell, Sheet, Table
from agattn.sheet.result import Key, Meta, Named, Positive, Result, key

if TYPE_CHECKING:
    from agattn.algebra.arithmetic import Arithmetic, Array


@dataclass(frozen=True)
class Place(Step):
    """A step of a network, with the shape of its input."""

    shape: Shape

    @property
    def names(self) -> dict[str, str]:
        """What the network calls the parameters, by what the layer calls them."""
        return {letter: f"{letter}_{self.label}" for letter in self.layer.shapes(self.shape)}

    def renamed(self, on: Iterable[Acted]) -> tuple[Acted, ...]:
        """The parameter that a group acts on, under the name that it has in the network."""
        return tuple(replace(acted, parameter=self.names[acted.parameter]) for acted in on)

    @property
    def is_matrix(self) -> bool:
        """Whether this is X ↦ W X: linear in W and X, and with all changes of both ends taken up by W.

        >>> from agattn.architectures.layers import Convolution, Linear
        >>> network = Network([Linear(2), Linear(3, bias=True), Convolution(2, degree=1)], dim=3)
        >>> [place.is_matrix for place in network.places]
        [True, False, False]
        """
        layer, names = self.layer, tuple(self.names)
        return (
            len(names) == 1
            and layer.mixes == "nothing"
            and layer.degrees_in(self.shape, 0) == (1, (1,))
            and (layer.rows(self.shape), layer.columns(self.shape)) == ({names[0]: -2}, {names[0]: -1})
        )

    @property
    def power(self) -> int:
        """r, if this takes every entry to the power r, with no parameters; else 0."""
        return self.layer.passes() if self.layer.mixes == "nothing" and not self.names else 0


@dataclass(frozen=True, repr=False)
class Input(Result, has_defaults=True):
    """The size of the matrix X that a network takes."""

    dim: Key[Positive, "The number of rows of X."]
    tokens: Key[Positive, "The number of columns of X, the tokens."] = 1


@constructed
@dataclass(frozen=True)
class Network(Result):
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

    kind: ClassVar[str] = "model"
    options: ClassVar[tuple[str, str]] = ("--model", "ag.Network(layers, dim)")
    #: A network is known by its values, not by coordinates.
    ambient_dimension: ClassVar[None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", listed(self.layers))
        object.__setattr__(self, "dim", positive_integer("dim", self.dim))
        object.__setattr__(self, "tokens", positive_integer("tokens", self.tokens))
        self._compiled  # noqa: B018  that the layers fit together

    @cached_property
    def _compiled(self) -> tuple[tuple[Place | str, ...], Shape]:
        """The steps, each with the shape of its input, and the shape of the output."""
        shape, kept, places = self.input_shape, [], list[Place | str]()
        for i, layer in enumerate(self.layers, 1):
            try:
                for step in layer.steps(str(i)):
                    if step == KEEP:
                        kept.append(shape)
                    elif step == ADD:
                        if (before := kept.pop()) != shape:
                            one, other = ("×".join(map(str, s)) for s in (before, shape))
                            raise InputError(
                                f"skip adds the input, {one}, to the output, {other}; they must be equal"
                            )
                    elif isinstance(step, Step):
                        place = Place(step.layer, step.label, shape)
                        shape, step = place.layer.output_shape(shape), place
                    places.append(step)
            except InputError as error:
                raise InputError(f"layer {i}: {error}") from None
        return tuple(places), shape

    @property
    def steps(self) -> tuple[Place | str, ...]:
        """The steps in their order, with marks where an input is kept and where it is added."""
        return self._compiled[0]

    @property
    def places(self) -> tuple[Place, ...]:
        """The steps, without the sums of skip connections."""
        return tuple(place for place in self.steps if isinstance(place, Place))

    @property
    def t(self) -> int:
        """The number of tokens."""
        return self.tokens

    @property
    def input_shape(self) -> Shape:
        """The shape (d, t) of X."""
        return self.dim, self.tokens

    @property
    def output_shape(self) -> Shape:
        """The shape of φ(X)."""
        return self._compiled[1]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The parameters of the layers in their order."""
        return {
            place.names[letter]: shape
            for place in self.places
            for letter, shape in place.layer.shapes(place.shape).items()
        }

    @property
    def parameters(self) -> int:
        """The number of entries of all parameters."""
        return sum(map(prod, self.shapes.values()))

    @cached_property
    def _degrees(self) -> tuple[int, Sequence[int]] | None:
        """The degree in the weights, or more; and all degrees in X that may occur."""
        inputs: _Degrees = {1}
        weights = 0
        kept: list[tuple[int, _Degrees]] = []
        for place in self.steps:
            if place == KEEP:
                kept.append((weights, inputs))
            elif place == ADD:
                before, degrees = kept.pop()
                weights, inputs = max(weights, before), _limited(inputs, degrees)
            elif isinstance(place, Place):
                found = place.layer.degrees_in(place.shape, weights)
                if found is None:
                    return None
                weights, factors = found
                inputs = _limited(*(_sums(inputs, factor) for factor in factors))
                inputs = _limited(inputs, {0}) if "b" in place.names else inputs
        return weights, inputs if isinstance(inputs, range) else tuple(sorted(inputs))

    @property
    def input_degrees(self) -> Sequence[int] | None:
        """The degrees in X of monomials that may occur, or more; ``None`` if the network is normalized."""
        return self._degrees and self._degrees[1]

    @property
    def degree(self) -> int | None:
        """The degree of φ(X) in all weights and X, or more; ``None`` if the network is normalized."""
        return self._degrees and self._degrees[0] + self._degrees[1][-1]

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The known symmetries: those inside the layers, then those between two of them.

        Between a layer that ends in a matrix and the next one that begins with matrices acts GL(d), also
        across sums of tokens; if powers are between them a factor for each of the d neurons; and where a
        filter slides along the entries of a token one factor for all. Biases and skip connections end this.
        """
        inside = (
            replace(one, on=place.renamed(one.on))
            for place in self.places
            for one in place.layer.symmetries(place.shape)
        )
        return (*inside, *(one for wire in self.wires for one in wire.symmetries()))

    @cached_property
    def wires(self) -> tuple[Wire, ...]:
        """Where a group acts between two places."""
        found, last, power = [], None, 1  # the place whose rows can be changed, and the power in between
        for place in self.steps:
            if not isinstance(place, Place):
                last = None
            elif r := place.layer.passes():
                power *= r
            else:
                if last is not None and last.layer.rows(last.shape) and place.layer.columns(place.shape):
                    found.append(Wire(last, place, power))
                last, power = place, 1
        return tuple(found)

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """φ on a stack of inputs X, (n, d, t), as (n, ...), of the shape of the output.

        Raises:
            ValueError: if X does not have the network's shape.
            TypeError: if the network is normalized and the scalars have no softmax.
        """
        if X.shape[1:] != self.input_shape:
            raise ValueError(f"X has shape {X.shape[1:]}; the network takes {self.input_shape}")
        kept = []
        for place in self.steps:
            if place == KEEP:
                kept.append(X)
            elif place == ADD:
                X = arithmetic.clean(X + kept.pop())
            elif isinstance(place, Place):
                own = {letter: parameters[name] for letter, name in place.names.items()}
                X = place.layer.evaluate(arithmetic, own, X)
        return X

    @property
    def name(self) -> str:
        """All that defines it, as it is printed."""
        return str(self)

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
        kinds = {(one.skip, one.normalization, one.value_rank) for one in layers}
        if not all(one.is_plain for one in layers):
            return None
        plain = all(one.mask == "none" and not one.rotary for one in layers)
        alone = self.t == 1 and all(one.mask in ("none", "causal") for one in layers)
        if len(layers) < len(self.layers) or len(kinds) > 1 or not (plain or alone):
            return None
        ((skip, normalization, value_rank),) = kinds
        dims, ranks = (self.dim, *(one.out for one in layers)), tuple(one.rank for one in layers)
        heads = tuple(one.heads for one in layers)
        return DeepNetwork(dims, ranks, self.t, heads, skip, normalization, value_rank=value_rank)

    @property
    @key
    def input(self) -> Input:
        """What the first layer takes."""
        return Input(self.dim, self.tokens)


#: More degrees than this are not told apart.
_MOST_DEGREES = 1_000
_Degrees = set[int] | range


def _ends(degrees: _Degrees) -> tuple[int, int]:
    """The least and the largest; a range may be too long to be gone through."""
    return (degrees[0], degrees[-1]) if isinstance(degrees, range) else (min(degrees), max(degrees))


def _limited(*parts: _Degrees) -> _Degrees:
    """All degrees of these; all numbers from the least to the largest if there are very many."""
    ends = [_ends(part) for part in parts]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if high - low > _MOST_DEGREES:
        return range(low, high + 1)
    return set().union(*parts)


def _sums(degrees: _Degrees, count: int) -> _Degrees:
    """The sums of n of these numbers; all numbers from the least to the largest if there are very many.

    >>> _sums({1, 3}, 3), _sums({1, 3}, 3**9)
    ({9, 3, 5, 7}, range(19683, 59050))
    """
    low, high = (count * end for end in _ends(degrees))
    if low == high:
        return {low}
    if high - low > _MOST_DEGREES:
        return range(low, high + 1)
    total = {0}
    for _ in range(count):
        total = {one + other for one in total for other in degrees}
    return total


@dataclass(frozen=True)
class Wire:
    """The rows of one place, the columns of a later place, and the power between them."""

    before: Place
    after: Place
    power: int

    @property
    def width(self) -> int:
        """The number of rows."""
        return self.before.layer.output_shape(self.before.shape)[0]

    def symmetries(self) -> tuple[Symmetry, ...]:
        """GL(d), a factor for each row, or one for all."""
        rows = self.before.layer.rows(self.before.shape)
        columns = self.after.layer.columns(self.after.shape)
        ends = {self.before.names[k]: axis for k, axis in rows.items() if axis is not None}
        begins = {self.after.names[k]: axis for k, axis in columns.items() if axis is not None}
        if not ends or not begins:
            given = (Acted(self.before.names[name]) for name in rows)
            taken = (Acted(self.after.names[name], weight=-self.power) for name in columns)
            return (Symmetry("scaling", 1, (*given, *taken)),)
        if self.power == 1:
            left = (Acted(name, axis) for name, axis in ends.items())
            right = (Acted(name, axis, True) for name, axis in begins.items())
            return (Symmetry("GL(d)", self.width, (*left, *right)),)
        return tuple(
            Symmetry(
                "neuron",
                1,
                (
                    *(Acted(name, index=_line(axis, j)) for name, axis in ends.items()),
                    *(Acted(name, index=_line(axis, j), weight=-self.power) for name, axis in begins.items()),
                ),
            )
            for j in range(self.width)
        )


def _line(axis: int, j: int) -> tuple[Any, ...]:
    """The index of the j-th part along an axis, which is counted from the end."""
    return (..., j, *[slice(None)] * (-axis - 1))


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
    agattn.errors.TooLargeError: the model has 20000 steps, one after the other; the limit is 300. Use --force
    to start all the same
    """
    if not isinstance(architecture, Network) or architecture.as_network() is not None:
        return
    places = architecture.places
    heads = sum(getattr(place.layer, "heads", 0) for place in places)
    for number, most, what in (
        (len(places), MOST_STEPS, "steps, one after the other"),
        (heads, MOST_HEADS, "heads"),
    ):
        if number > most:
            raise TooLargeError(
                f"the model has {number} {what}; the limit is {most}. Use {argument('force', True)} to "
                "start all the same"
            )


def check_arrays(network: Network) -> None:
    """Refuse a network whose arrays would fill the memory.

    Raises:
        TooLargeError: if an output of a layer, or the t × t matrices of all heads, held for as many inputs as
            the Jacobian has rows at a time, have more than 10⁸ entries.

    >>> from agattn.architectures.layers import Sum, Linear
    >>> check_arrays(Network([Sum(), Linear(2)], dim=2, tokens=10**9))
    Traceback (most recent call last):
        ...
    agattn.errors.TooLargeError: layer 1 has arrays of 2000000000 entries, for 4 inputs; use fewer, or --force
    """
    inputs = min(384, network.parameters)
    for place in network.places:
        heads, t = getattr(place.layer, "heads", 0), place.shape[1]
        largest = max(prod(place.shape), prod(place.layer.output_shape(place.shape)), heads * t * t)
        if inputs * largest > LARGEST_ARRAY:
            number = place.label.partition("_")[0] or "?"
            raise TooLargeError(
                f"layer {number} has arrays of {largest} entries, for {inputs} inputs; use fewer, or "
                f"{argument('force', True)}"
            )
