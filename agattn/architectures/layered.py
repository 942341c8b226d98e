"""Layers one after the other: what networks of all kinds compute, with their groups and degrees.

>>> from agattn.architectures import DeepNetwork
>>> network = DeepNetwork((3, 2, 2), (1, 1), t=2)
>>> [group.name for group in network.symmetries], network.degree
(['GL(a)', 'scaling', 'GL(d)', 'GL(a)', 'scaling'], 21)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from agattn.algebra.arithmetic import Arithmetic, Array
from agattn.architectures.degrees import INPUT, PARAMETER, Degrees
from agattn.architectures.derived import Derived, derived
from agattn.architectures.layers import ADD, KEEP, Layer, Shape, Step
from agattn.architectures.parametrized import Parametrized
from agattn.architectures.symmetry import Acted, Symmetry
from agattn.errors import InputError, TooLargeError, argument


@dataclass(frozen=True)
class Place(Step):
    """A step of a network, with the shape of its input."""

    shape: Shape

    @cached_property
    def names(self) -> dict[str, str]:
        """What the network calls the parameters, by what the layer calls them."""
        return {letter: f"{letter}_{self.label}" for letter in self.layer.shapes(self.shape)}

    def renamed(self, on: Iterable[Acted]) -> tuple[Acted, ...]:
        """The parameter that a group acts on, under the name that it has in the network."""
        return tuple(replace(acted, parameter=self.names[acted.parameter]) for acted in on)

    @property
    def derived(self) -> Derived:
        """The degrees and groups of the layer here."""
        return derived(self.layer, self.shape)

    @property
    def is_matrix(self) -> bool:
        """Whether this is X ↦ W X: linear in W and X, and with all changes of both ends taken up by W.

        >>> from agattn.architectures import Convolution, Linear, Network
        >>> network = Network([Linear(2), Linear(3, bias=True), Convolution(2, degree=1)], dim=3)
        >>> [place.is_matrix for place in network.places]
        [True, False, False]
        """
        layer, names = self.layer, tuple(self.names)
        return (
            len(names) == 1
            and layer.mixes == "nothing"
            and self.derived.degrees == PARAMETER * INPUT
            and (self.derived.rows, self.derived.columns) == ({names[0]: -2}, {names[0]: -1})
        )

    @property
    def power(self) -> int:
        """r, if this takes every entry to the power r, with no parameters; else 0."""
        return self.derived.passes if self.layer.mixes == "nothing" and not self.names else 0


class Layered(Parametrized):
    """What has layers one after the other, and the shape of its input."""

    if TYPE_CHECKING:  # at run time these are the fields and properties of what has the layers

        @property
        def layers(self) -> tuple[Layer, ...]:
            """The layers."""

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

    @cached_property
    def _degrees(self) -> Degrees | None:
        """The degree in the weights, or more; and all degrees in X that may occur."""
        degrees, kept = INPUT, list[Degrees]()
        for place in self.steps:
            if place == KEEP:
                kept.append(degrees)
            elif place == ADD:
                degrees += kept.pop()
            elif isinstance(place, Place):
                if (own := place.derived.degrees) is None:
                    return None
                degrees = own.after(degrees)
        return degrees

    @property
    def input_degrees(self) -> Sequence[int] | None:
        """The degrees in X of monomials that may occur, or more; ``None`` if the network is normalized."""
        if self._degrees is None:
            return None
        inputs = self._degrees.inputs
        return inputs if isinstance(inputs, range) else tuple(sorted(inputs))

    @property
    def degree(self) -> int | None:
        """The degree of φ(X) in all weights and X, or more; ``None`` if the network is normalized."""
        if self._degrees is None:
            return None
        return self._degrees.weights + self._degrees.most

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
            for one in place.derived.symmetries
        )
        return (*inside, *(one for wire in self.wires for one in wire.symmetries()))

    @cached_property
    def wires(self) -> tuple[Wire, ...]:
        """Where a group acts between two places."""
        wires, last, power = [], None, 1  # the place whose rows can be changed, and the power in between
        for place in self.steps:
            if not isinstance(place, Place):
                last = None
            elif r := place.derived.passes:
                power *= r
            else:
                if last is not None and last.derived.rows and place.derived.columns:
                    wires.append(Wire(last, place, power))
                last, power = place, 1
        return tuple(wires)

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


@dataclass(frozen=True)
class Wire:
    """The rows of one place, the columns of a later place, and the power between them."""

    before: Place
    after: Place
    power: int

    @property
    def width(self) -> int:
        return self.before.layer.output_shape(self.before.shape)[0]

    def symmetries(self) -> tuple[Symmetry, ...]:
        """GL(d), a factor for each row, or one for all."""
        rows, columns = self.before.derived.rows, self.after.derived.columns
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
        groups = []
        for j in range(self.width):
            left = (Acted(name, index=_line(axis, j)) for name, axis in ends.items())
            right = (Acted(name, index=_line(axis, j), weight=-self.power) for name, axis in begins.items())
            groups.append(Symmetry("neuron", 1, (*left, *right)))
        return tuple(groups)


def _line(axis: int, j: int) -> tuple[Any, ...]:
    """The index of the j-th part along an axis, which is counted from the end."""
    return (..., j, *[slice(None)] * (-axis - 1))


#: So many numbers, of eight bytes each, are a gigabyte, and there are several such arrays at a time.
LARGEST_ARRAY = 10**8


def check_arrays(network: Layered) -> None:
    """Refuse a network whose arrays would fill the memory.

    Raises:
        TooLargeError: if an output of a layer, or the t × t matrices of all heads, held for as many inputs as
            the Jacobian has rows at a time, have more than 10⁸ entries.

    >>> from agattn.architectures import DeepNetwork
    >>> check_arrays(DeepNetwork((2, 2), (2,), t=30000))
    Traceback (most recent call last):
        ...
    agattn.errors.TooLargeError: layer 1 has arrays of 900000000 entries, for 12 inputs; use fewer, or
    force=True
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
