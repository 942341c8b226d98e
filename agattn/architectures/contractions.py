r"""The groups that leave a model as it is, read off from the contractions that the model computes.

A model contracts its parameter arrays with each other and with the input. :func:`contractions` evaluates the
model on shapes alone, and writes down every contraction as an edge of a graph. The nodes of the graph are
the axes of the parameter arrays. Cutting the model along an axis gives a group:

- two axes are contracted with each other, and with nothing else: GL(n) acts, by g on one and by g⁻ᵀ on the
  other. If a chain of these contractions leads from an axis back to the same axis in an odd number of steps,
  then g = g⁻ᵀ, and the group is O(n);
- two axes are contracted after pairs of their indices were turned, as by rotary positions: of GL(n) what
  commutes with rotations is left, a complex number for each pair, and GL of the indices that were not turned;
  of O(n) the rotations, and O of the others;
- three or more axes are contracted together, or an axis meets an entrywise power, a mask or a constant:
  only diagonal matrices are left, a torus. Their exponents solve a system of linear equations;
- an axis is contracted with the input, or is an axis of the output: no group acts.

Heads are no special case. Where the sum over the heads contracts two arrays alone, GL(s) mixes the heads;
where it contracts four arrays (K, Q, O, P), only factors of each head are left.

Every group that is found leaves the function as it is: the equations say so. A model may have more
symmetries, which contractions do not show.

*Orientation.* A group acts by g itself on the rows of the last array on whose rows it acts: on Q of KᵀQ, on
P of O P. Where it acts on no rows, it acts by g on the first array.

The same evaluation gives the degrees of the model.

>>> from agattn.architectures import Attention, Network, Perceptron
>>> [str(group) for group in gauge_groups(Network([Attention(2, rank=2)], dim=3, tokens=2))]
['GL(2) on K_1, Q_1', 'scaling on K_1, V_1']
>>> [str(group) for group in gauge_groups(Network([Perceptron([2, 1], degree=3)], dim=3))]
['scaling on W_1_1, W_1_2', 'scaling on W_1_1, W_1_2']
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import accumulate, chain, count, product
from math import lcm, prod
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array
from agattn.architectures.degrees import CONSTANT, INPUT, PARAMETER, Degrees
from agattn.architectures.symmetry import Acted, Symmetry

Vertex = TypeVar("Vertex", bound=Hashable)
Node = tuple[str, int]  # a parameter array, and one of its axes


class Evaluated(Protocol):
    """What can be evaluated: an architecture, a layer, or a function of parameters."""

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The parameters with their shapes."""

    @property
    def input_shape(self) -> tuple[int, int]:
        """The shape of X."""

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """The values on a stack of inputs."""


class Spot(NamedTuple):
    """Where an index of a parameter array is in a value: at ``start + step·i`` for the index i of a label.

    A label ``None`` is an index that is no longer there: it was given as ``start``, or contracted.
    """

    label: int | None
    start: int = 0
    step: int = 1


class ArrayFactor(NamedTuple):
    """A parameter array that a value is a multiple of, with the place of each of its axes."""

    array: str
    places: tuple[Spot, ...]

    def moved(self, labels: Mapping[int, Spot]) -> ArrayFactor:
        """The factor with some labels replaced."""
        return ArrayFactor(self.array, tuple(_moved(place, labels) for place in self.places))


def _moved(place: Spot, labels: Mapping[int, Spot]) -> Spot:
    """The place of an index whose label is replaced by another place: i = start + step·j."""
    if place.label is None or place.label not in labels:
        return place
    to = labels[place.label]
    return Spot(to.label, place.start + place.step * to.start, place.step * to.step)


class Axis(NamedTuple):
    """An axis of a value: the axes of parameter arrays whose entries multiply along it.

    Attributes:
        factors: of each its array, in the places of the value, and the number of its axis.
        is_fixed: whether entries of the input or of constants multiply along it, too.
    """

    label: int
    size: int
    factors: tuple[tuple[ArrayFactor, int], ...] = ()
    is_fixed: bool = False

    @property
    def nodes(self) -> list[Node]:
        """The axes of parameter arrays."""
        return [(factor.array, axis) for factor, axis in self.factors]

    @property
    def is_plain(self) -> bool:
        """Whether nothing is known along it: a value is repeated."""
        return not self.factors and not self.is_fixed


Factors = Mapping[ArrayFactor, int]  # with multiplicities


@dataclass
class Contractions:
    """What a model contracts: the graph of axes, and the equations for factors of entries.

    Attributes:
        joined: pairs of axes, contracted (dual) or equal, with the axes of both arrays that run along.
        split: the axes on which only diagonal matrices may act.
        fixed: the axes on which no group acts.
        equations: products of factors that must be equal, for all indices of labels of given sizes.
        turned: the axes with indices that are turned in pairs, so that matrices must commute with rotations,
            and how many pairs: the first ones.
        met: pairs of axes, contracted with each other and with no third array, whether a group acts or not.
        pinned: the axes whose indices are told apart: by the input, a constant, an index or the output.
        degrees: of the output; ``None`` if it is no polynomial.
    """

    joined: list[tuple[Node, Node, bool, frozenset[tuple[int, int]]]] = field(default_factory=list)
    split: set[Node] = field(default_factory=set)
    fixed: set[Node] = field(default_factory=set)
    equations: list[tuple[Factors, Factors, dict[int, int]]] = field(default_factory=list)
    pinned: set[Node] = field(default_factory=set)
    turned: dict[Node, int] = field(default_factory=dict)
    met: list[tuple[Node, Node, frozenset[tuple[int, int]]]] = field(default_factory=list)
    degrees: Degrees | None = None
    labels: Iterator[int] = field(default_factory=count)

    def join(self, one: tuple[ArrayFactor, int], other: tuple[ArrayFactor, int], dual: bool) -> None:
        """Two axes are contracted, or equal as summands; their arrays may share labels of further axes."""
        (first, i), (second, j) = one, other
        self.joined.append(((first.array, i), (second.array, j), dual, _along(first, second)))

    def close(self, axis: Axis) -> None:
        """No matrices act along an axis but diagonal ones, which the equations decide about."""
        if len(axis.factors) == 1 and all(factor.places[k].step == 1 for factor, k in axis.factors):
            self.fixed.update(axis.nodes)
        else:
            self.split.update(axis.nodes)

    def equal(self, one: Factors, other: Factors, axes: Iterable[Axis]) -> None:
        """Two values have the same factors."""
        if one != other:
            self.equations.append((one, other, {axis.label: axis.size for axis in axes}))

    def constant_along(self, axis: Axis, factors: Factors, axes: Iterable[Axis]) -> None:
        """A value has the same factors at all indices of an axis."""
        first = Counter[ArrayFactor]()
        for factor, times in factors.items():
            first[factor.moved({axis.label: Spot(None)})] += times
        self.equal(factors, first, axes)

    def contract(self, axis: Axis, factors: Factors, axes: Iterable[Axis]) -> None:
        """A value is summed along an axis."""
        if axis.is_fixed:
            self.pinned.update(axis.nodes)
        if len(axis.factors) == 2:
            (first, i), (second, j) = axis.factors
            self.met.append(((first.array, i), (second.array, j), _along(first, second)))
        if len(axis.factors) == 2 and not axis.is_fixed:
            self.join(*axis.factors, dual=True)
        elif axis.factors:
            self.close(axis)
        if axis.size > 1:
            self.constant_along(axis, factors, axes)


def _along(first: ArrayFactor, second: ArrayFactor) -> frozenset[tuple[int, int]]:
    """The axes of two arrays that have one label."""
    return frozenset(
        (k, m)
        for k, x in enumerate(first.places)
        for m, y in enumerate(second.places)
        if x == y and x.label is not None
    )


@dataclass(frozen=True)
class Shadow:
    """A value of the model, known by its shape, and by how parameter arrays enter.

    Attributes:
        axes: its axes.
        factors: the arrays of which every entry is a product, up to the input.
        degrees: of the entries; ``None`` if they are no polynomials.
    """

    record: Contractions
    axes: tuple[Axis, ...]
    factors: Factors
    degrees: Degrees | None
    __array_ufunc__ = None  # so that numpy leaves sums with its arrays to this class

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return tuple(axis.size for axis in self.axes)

    @property
    def ndim(self) -> int:
        return len(self.axes)

    def moved(self, labels: Mapping[int, Spot]) -> Shadow:
        """The same value with other labels of its axes."""
        if not labels:
            return self
        factors = Counter[ArrayFactor]()
        for factor, times in self.factors.items():
            factors[factor.moved(labels)] += times
        axes = tuple(
            axis._replace(
                label=_label(labels.get(axis.label), axis.label),
                factors=tuple((factor.moved(labels), k) for factor, k in axis.factors),
            )
            for axis in self.axes
        )
        return replace(self, axes=axes, factors=factors)

    def swapaxes(self, one: int, other: int) -> Shadow:
        """Two axes exchanged."""
        axes = list(self.axes)
        axes[one], axes[other] = axes[other], axes[one]
        return replace(self, axes=tuple(axes))

    def sum(self, axis: int, keepdims: bool = False) -> Shadow:
        """Contracted along an axis."""
        axis %= self.ndim
        self.record.contract(self.axes[axis], self.factors, self.axes)
        shorter = self.moved({self.axes[axis].label: Spot(None)})
        left = [Axis(next(self.record.labels), 1)] if keepdims else []
        return replace(shorter, axes=(*shorter.axes[:axis], *left, *shorter.axes[axis + 1 :]))

    def __getitem__(self, key: Any) -> Shadow:
        keys = key if isinstance(key, tuple) else (key,)
        named = sum(1 for k in keys if k is not None and k is not Ellipsis)
        if not any(k is Ellipsis for k in keys):
            keys = (*keys, Ellipsis)
        at = keys.index(Ellipsis)
        keys = (*keys[:at], *[slice(None)] * (self.ndim - named), *keys[at + 1 :])
        left, axes, labels = list(self.axes), list[Axis](), dict[int, Spot]()
        for k in keys:
            if k is None:
                axes.append(Axis(next(self.record.labels), 1))
                continue
            axis = left.pop(0)
            if isinstance(k, slice) and range(axis.size)[k] == range(axis.size):
                axes.append(axis)
                continue
            if not isinstance(k, (slice, int, np.integer)):
                raise NotImplementedError("an index that is a list")
            self.record.split.update(axis.nodes)
            self.record.pinned.update(axis.nodes)
            if isinstance(k, slice):
                chosen, label = range(axis.size)[k], next(self.record.labels)
                labels[axis.label] = Spot(label, chosen.start, chosen.step)
                fixed = axis.is_fixed and len(chosen) > 1  # one number is a factor of all entries
                axes.append(axis._replace(size=len(chosen), is_fixed=fixed))
            else:
                labels[axis.label] = Spot(None, range(axis.size)[k])
        return replace(self, axes=tuple(axes)).moved(labels)

    def __neg__(self) -> Shadow:
        return self

    def __truediv__(self, number: Any) -> Shadow:
        if not isinstance(number, (int, float, Fraction)):
            raise NotImplementedError("a division by an array")
        return self

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        """Refused: numpy would make a constant of this value, and the parameters in it would be lost."""
        raise NotImplementedError("a function of numpy")

    def __add__(self, other: Any) -> Shadow:
        one, other = aligned(self, shadow(self.record, other))
        axes = []
        for x, y in zip(one.axes, other.axes, strict=True):
            axes.append(self._summed(x, y))
        self.record.equal(one.factors, other.factors, axes)
        degrees = one.degrees and other.degrees and one.degrees + other.degrees
        return Shadow(self.record, tuple(axes), one.factors, degrees)

    __radd__ = __sub__ = __rsub__ = __add__

    def _summed(self, one: Axis, other: Axis) -> Axis:
        """The axis of a sum."""
        fixed = one.is_fixed or other.is_fixed
        if fixed:
            self.record.pinned.update(one.nodes, other.nodes)
        if not fixed and len(one.factors) == len(other.factors) == 1:
            self.record.join(one.factors[0], other.factors[0], dual=False)
        elif Counter(one.factors) != Counter(other.factors):
            self.record.close(one)
            self.record.close(other)
        return one._replace(factors=one.factors or other.factors, is_fixed=fixed)


def _label(place: Spot | None, label: int) -> int:
    return label if place is None or place.label is None else place.label


def shadow(record: Contractions, value: Any) -> Shadow:
    """A constant, whose entries have no factors; a shadow as it is."""
    return value if isinstance(value, Shadow) else _known(record, np.shape(value), CONSTANT)


def _known(record: Contractions, shape: Iterable[int], degrees: Degrees) -> Shadow:
    """A constant or the input."""
    axes = (Axis(next(record.labels), n, is_fixed=n > 1) for n in shape)
    return Shadow(record, tuple(axes), {}, degrees)


def aligned(one: Shadow, other: Shadow) -> tuple[Shadow, Shadow]:
    """Two values with as many axes, which have the same labels and, after broadcasting, the same sizes."""
    record, ndim = one.record, max(one.ndim, other.ndim)
    padded = []
    for side in (one, other):
        missing = [Axis(next(record.labels), 1) for _ in range(ndim - side.ndim)]
        padded.append(replace(side, axes=(*missing, *side.axes)))
    sizes = [x if y == 1 else y for x, y in zip(*(side.shape for side in padded), strict=True)]
    labels = [next(record.labels) for _ in range(ndim)]
    sides = []
    for side in padded:
        for axis, size in zip(side.axes, sizes, strict=True):
            if axis.size < size and axis.factors:
                raise NotImplementedError("an axis of parameters is broadcast")
            if axis.size not in (1, size):
                raise ValueError(f"arrays of the shapes {one.shape} and {other.shape} do not fit together")
        side = side.moved({axis.label: Spot(label) for axis, label in zip(side.axes, labels, strict=True)})
        axes = (axis._replace(size=size) for axis, size in zip(side.axes, sizes, strict=True))
        sides.append(replace(side, axes=tuple(axes)))
    return sides[0], sides[1]


def _together(one: Axis, other: Axis) -> Axis:
    """The axis of an entrywise product. Three equal factors stand for more: what two or one allow is gone."""
    counts = Counter(one.factors) + Counter(other.factors)
    factors = tuple(factor for factor, times in counts.items() for _ in range(min(times, 3)))
    return one._replace(factors=factors, is_fixed=one.is_fixed or other.is_fixed)


def _sum(one: Factors, other: Factors) -> Factors:
    total = Counter(one)
    total.update(other)
    return total


@dataclass(frozen=True)
class ShadowArithmetic(Arithmetic):
    """Arithmetic of shapes, which writes down the contractions."""

    record: Contractions

    one_by_one: ClassVar[bool] = True
    of_shapes: ClassVar[bool] = True

    def times(self, a: Any, b: Any) -> Shadow:
        """The entrywise product: matrices that act along an axis of both are diagonal."""
        one, other = aligned(shadow(self.record, a), shadow(self.record, b))
        axes = tuple(_together(x, y) for x, y in zip(one.axes, other.axes, strict=True))
        for axis in axes:
            if axis.is_fixed:  # and stays so: it is pinned where it is summed, indexed or put out
                self.record.split.update(axis.nodes)
        return self._product(one, other, axes)

    def matmul(self, a: Any, b: Any) -> Shadow:
        """The product of stacks of matrices: entrywise products along the stacks, and a contraction."""
        one, other = shadow(self.record, a), shadow(self.record, b)
        # (..., m, k) and (..., k, n) as (..., m, k, 1) and (..., 1, k, n)
        one, other = aligned(one[..., None], other[..., None, :, :])
        axes = tuple(_together(x, y) for x, y in zip(one.axes, other.axes, strict=True))
        return self._product(one, other, axes).sum(-2)

    def _product(self, one: Shadow, other: Shadow, axes: tuple[Axis, ...]) -> Shadow:
        degrees = one.degrees and other.degrees and one.degrees * other.degrees
        return Shadow(self.record, axes, _sum(one.factors, other.factors), degrees)

    def turned_products(self, keys: Any, queries: Any, powers: Any) -> Shadow:
        """The rows of both are contracted, up to rotations of pairs of rows, which have the same factors."""
        record, one, other = self.record, shadow(self.record, keys), shadow(self.record, queries)
        pairs = powers.shape[1]
        for side in (one, other):
            axis, half = side.axes[-2], next(record.labels)
            record.turned.update(dict.fromkeys(axis.nodes, pairs))
            record.pinned.update(axis.nodes)
            first, second = (side.moved({axis.label: Spot(half, start, 2)}).factors for start in (0, 1))
            record.equal(first, second, (*side.axes, Axis(half, pairs)))
        return self.matmul(one.swapaxes(-1, -2), other)

    def softmax(self, a: Shadow, seen: Any = None) -> Shadow:
        """Scores must stay as they are: no factors are left."""
        self.record.equal(a.factors, {}, a.axes)
        for axis in a.axes:
            self.record.split.update(axis.nodes)
        return replace(a, factors={}, degrees=None)

    def normalized(self, a: Shadow, coefficient: Any, seen: Any = None) -> Shadow:
        """As :meth:`softmax`: no factors are left."""
        return self.softmax(a, seen)

    def constant(self, numbers: Any) -> Shadow:
        return shadow(self.record, numbers)

    def identity(self, n: int) -> Shadow:
        return shadow(self.record, np.eye(n))

    def concatenate(self, arrays: Any) -> Shadow:
        """Refused: arrays put one after the other along an axis have no label in common there."""
        raise NotImplementedError("arrays put together along an axis")


def contractions(architecture: Evaluated) -> Contractions:
    """All contractions of a model, from one evaluation on shapes.

    Raises:
        NotImplementedError: if the model computes something that this module has no rule for.
    """
    record = Contractions()
    parameters = {}
    for name, shape in architecture.shapes.items():
        labels = [next(record.labels) for _ in shape]
        factor = ArrayFactor(name, tuple(map(Spot, labels)))
        axes = (Axis(x, n, ((factor, k),)) for k, (x, n) in enumerate(zip(labels, shape, strict=True)))
        parameters[name] = Shadow(record, tuple(axes), {factor: 1}, PARAMETER)
    X = _known(record, (1, *architecture.input_shape), INPUT)
    try:
        out = architecture.evaluate(ShadowArithmetic(record), parameters, X)
    except (AttributeError, TypeError) as error:  # an operation that arrays have, and shadows do not
        raise NotImplementedError(str(error)) from error
    for axis in out.axes:
        if axis.factors:
            record.close(axis)
            record.pinned.update(axis.nodes)
    record.equal(out.factors, {}, out.axes)
    record.degrees = out.degrees
    return record


@dataclass(frozen=True)
class Cut:
    """Axes that one group acts on.

    Attributes:
        sides: of each axis whether the group acts by g⁻ᵀ instead of g.
        size: n, for a subgroup of GL(n).
        is_orthogonal: whether g = g⁻ᵀ, so that the group is O(n).
        along: axes on which only diagonal matrices act, at whose indices there is one group each: for each
            family of them its axis in each array.
    """

    sides: dict[Node, bool]
    size: int
    is_orthogonal: bool
    along: tuple[dict[Node, int], ...]


def components(edges: Iterable[tuple[Vertex, Vertex, bool]]) -> Iterator[tuple[dict[Vertex, bool], bool]]:
    """The connected components of a graph, whose edges change a sign or keep it.

    Of each component these are its vertices with their signs, and whether some way back changes the sign.
    """
    neighbours = defaultdict[Vertex, list[tuple[Vertex, bool]]](list)
    for one, other, changes in edges:
        neighbours[one].append((other, changes))
        neighbours[other].append((one, changes))
    seen = set[Vertex]()
    for start in neighbours:
        if start in seen:
            continue
        signs, is_twisted, waiting = {start: False}, False, [start]
        while waiting:
            vertex = waiting.pop()
            for other, changes in neighbours[vertex]:
                sign = signs[vertex] != changes
                if other not in signs:
                    signs[other] = sign
                    waiting.append(other)
                is_twisted |= signs[other] != sign
        seen |= signs.keys()
        yield signs, is_twisted


def cuts(architecture: Evaluated, record: Contractions) -> tuple[list[Cut], set[Node]]:
    """The axes that GL(n) or O(n) acts on, and those on which only diagonal matrices do."""
    shapes, split, groups = architecture.shapes, set(record.split), list[Cut]()
    joined = list(components((one, other, dual) for one, other, dual, _ in record.joined))
    for sides, _ in joined:
        if sides.keys() & split:
            split |= sides.keys()
    for sides, is_orthogonal in joined:
        if not sides.keys() & (split | record.fixed):
            name, axis = next(iter(sides))
            along = tuple(_families(set(sides), record, split))
            groups.append(Cut(_oriented(sides, shapes), shapes[name][axis], is_orthogonal, along))
    return groups, split


def _oriented(sides: Mapping[Node, bool], shapes: Mapping[str, tuple[int, ...]]) -> dict[Node, bool]:
    """The same with the sign that the orientation asks for."""
    order = {name: number for number, name in enumerate(shapes)}
    nodes = sorted(sides, key=lambda node: (order[node[0]], node[1]))
    rows = [(name, axis) for name, axis in nodes if axis == len(shapes[name]) - 2]
    leading = rows[-1] if rows else nodes[0]
    return {node: dual != sides[leading] for node, dual in sides.items()}


def _families(nodes: set[Node], record: Contractions, split: set[Node]) -> Iterator[dict[Node, int]]:
    """The split axes that run along all contractions of a cut: for each its place in each of the arrays."""
    joined = [(one, other, along) for one, other, _, along in record.joined if one in nodes]
    running = (
        ((one, k), (other, m), False)
        for one, other, along in joined
        for k, m in along
        if {(one[0], k), (other[0], m)} <= split
    )
    for family, _ in components(running):
        places = dict(family.keys())
        everywhere = all(
            any({(one, k), (other, m)} <= family.keys() for k, m in along) for one, other, along in joined
        )
        if len(family) == len(places) == len(nodes) and everywhere:
            yield places


Row = dict[int, Fraction | int]  # a linear form: coefficients by unknown


@dataclass(frozen=True)
class Exponents:
    """The unknowns: an exponent of each array at each index of its split axes."""

    shapes: Mapping[str, tuple[int, ...]]
    split: set[Node]

    def axes(self, array: str) -> list[int]:
        """The split axes of an array."""
        return [k for k in range(len(self.shapes[array])) if (array, k) in self.split]

    def sizes(self, array: str) -> tuple[int, ...]:
        return tuple(self.shapes[array][k] for k in self.axes(array))

    @cached_property
    def first(self) -> dict[str, int]:
        """The number of the first unknown of each array; at the end, under "", that of all."""
        ends = accumulate((prod(self.sizes(name)) for name in self.shapes), initial=0)
        return dict(zip((*self.shapes, ""), ends, strict=True))

    def unknown(self, array: str, index: Sequence[int]) -> int:
        """The number of the unknown of an array at an index of its split axes."""
        position = 0
        for i, size in zip(index, self.sizes(array), strict=True):
            position = position * size + i
        return self.first[array] + position

    def place(self, unknown: int) -> tuple[str, tuple[int, ...]]:
        """The array, and the index of its split axes, of an unknown: the inverse of :meth:`unknown`."""
        arrays = list(self.shapes)
        array = arrays[bisect_right([self.first[name] for name in arrays], unknown) - 1]
        index = np.unravel_index(unknown - self.first[array], self.sizes(array))
        return array, tuple(map(int, index))

    def rows(self, one: Factors, other: Factors, sizes: Mapping[int, int]) -> Iterator[Row]:
        """The equations that the factors of two values are equal, one for each index of the labels."""
        terms = Counter(one)
        terms.subtract(other)
        parts = [
            (factor.array, [factor.places[k] for k in self.axes(factor.array)], times)
            for factor, times in terms.items()
            if times
        ]
        labels = sorted({p.label for _, places, _ in parts for p in places if p.label is not None})
        for index in product(*(range(sizes[label]) for label in labels)):
            at = dict(zip(labels, index, strict=True))
            row = defaultdict[int, int](int)
            for array, places, times in parts:
                chosen = [p.start + p.step * at[p.label] if p.label is not None else p.start for p in places]
                row[self.unknown(array, chosen)] += times
            yield {unknown: x for unknown, x in row.items() if x}


class ExponentEquations:
    """Linear equations Σ cᵢ uᵢ = 0 over ℚ, each solved for its last unknown."""

    def __init__(self, solved: Mapping[int, Row] | None = None) -> None:
        self.solved: dict[int, Row] = dict(solved or {})  # an unknown, as a linear form of unknowns before it

    def reduced(self, row: Row) -> Row:
        """A linear form in the unknowns that are left."""
        waiting, left = dict(row), Row()
        queue = [-unknown for unknown in waiting]
        heapify(queue)  # a row may have an entry for each of very many neurons
        while queue:
            unknown = -heappop(queue)
            x = waiting.pop(unknown, 0)
            if unknown not in self.solved:
                left |= {unknown: x} if x else {}
                continue
            for other, y in self.solved[unknown].items() if x else ():
                if other not in waiting:
                    heappush(queue, -other)
                waiting[other] = waiting.get(other, 0) + x * y
        return left

    def add(self, row: Row) -> bool:
        """Add an equation; whether it is a new one."""
        left = self.reduced(row)
        if not left:
            return False
        pivot = max(left)
        x = left.pop(pivot)
        factor = -x if abs(x) == 1 else Fraction(-1) / x  # whole numbers where that is enough
        self.solved[pivot] = {unknown: y * factor for unknown, y in left.items()}
        return True

    def solutions(self, unknowns: int) -> list[Row]:
        """A basis of the solutions, each with an unknown that the others do not have, as late as can be."""
        by_free: dict[int, Row] = {u: {u: 1} for u in range(unknowns) if u not in self.solved}
        for unknown in sorted(self.solved):
            for free, x in self.reduced({unknown: 1}).items():
                by_free[free][unknown] = x
        basis = ExponentEquations()
        for row in by_free.values():
            basis.add(row)
        solutions = list[Row]()
        for last in sorted(basis.solved):
            solutions.append({u: -x for u, x in basis.reduced(basis.solved[last]).items()})
            solutions[-1][last] = 1
        return solutions


def gauge_groups(architecture: Evaluated) -> list[Symmetry]:
    """The groups that the contractions of a model show: GL(n), O(n), and factors.

    Raises:
        NotImplementedError: if the model computes something that this module has no rule for.
    """
    return groups_of(architecture, contractions(architecture))


def groups_of(architecture: Evaluated, record: Contractions) -> list[Symmetry]:
    """The same from contractions that are known."""
    matrix_cuts, split = cuts(architecture, record)
    shapes = architecture.shapes
    exponents = Exponents(shapes, split)
    system = ExponentEquations()
    for equation in record.equations:
        for row in exponents.rows(*equation):
            system.add(row)
    groups = list[Symmetry]()
    centers = ExponentEquations()  # here as a basis of what the centers of the groups GL(n) span
    without = ExponentEquations(system.solved)  # and with no factors where these centers can take them away
    for cut in matrix_cuts:
        for group in _matrix_groups(cut, shapes):
            turned = [record.turned[node] for node in cut.sides if node in record.turned]
            groups += _complex_numbers(group, turned[0]) if turned else [group]
            if not group.is_orthogonal:
                centers.add(_center(group, exponents))
                without.add({_first_factor(group.leading, exponents): 1})
    unknowns = exponents.first[""]
    missing = unknowns - len(system.solved) - len(centers.solved)
    for solution in chain.from_iterable(one.solutions(unknowns) for one in (without, system)):
        if missing and centers.add(solution):
            missing -= 1
            groups.append(_scaling(solution, exponents))
    return groups


def _part(shape: Sequence[int], at: Mapping[int, int]) -> tuple[Any, ...]:
    """The index of a part of an array, at these indices of some axes."""
    return tuple(at.get(k, slice(None)) for k in range(len(shape)))


def _matrix_groups(cut: Cut, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[Symmetry]:
    """The groups of a cut, one at each index of the axes along it."""
    (name, _), *_ = cut.sides
    sizes = [shapes[node[0]][axis] for family in cut.along for node, axis in [next(iter(family.items()))]]
    for index in product(*map(range, sizes)):
        on = []
        for (array, axis), dual in sorted(cut.sides.items()):
            at = {family[array, axis]: i for family, i in zip(cut.along, index, strict=True)}
            behind = sum(1 for k in range(axis, len(shapes[array])) if k not in at)
            on.append(Acted(array, -behind, dual, _part(shapes[array], at)))
        name = f"{'O' if cut.is_orthogonal else 'GL'}({cut.size})"
        yield Symmetry(name, cut.size, tuple(on), is_orthogonal=cut.is_orthogonal)


def _complex_numbers(group: Symmetry, pairs: int) -> Iterator[Symmetry]:
    """What commutes with all rotations of the first pairs of indices: for each the rotations, and factors.

    In O(n) there are no factors. On the other indices the group acts as before.
    """

    def part(start: int, stop: int) -> tuple[Acted, ...]:
        on = []
        for acted in group.on:
            assert acted.axis is not None
            index = list(acted.index)
            left = [place for place, i in enumerate(index) if isinstance(i, slice)]  # the axes of the part
            index[left[acted.axis]] = slice(start, stop)
            on.append(replace(acted, index=tuple(index)))
        return tuple(on)

    for k in range(0, 2 * pairs, 2):
        on = part(k, k + 2)
        if not group.is_orthogonal:
            factors = (replace(one, axis=None, dual=False, weight=1 if one.dual else -1) for one in on)
            yield Symmetry("scaling", 1, tuple(factors))
        yield Symmetry("O(2)", 2, on, is_orthogonal=True)
    if still := group.size - 2 * pairs:
        name = f"{'O' if group.is_orthogonal else 'GL'}({still})"
        yield Symmetry(name, still, part(2 * pairs, group.size), is_orthogonal=group.is_orthogonal)


def _center(group: Symmetry, exponents: Exponents) -> Row:
    """The exponents of the multiples of the identity in a group GL(n)."""
    row = Row()
    for acted in group.on:
        axes = exponents.axes(acted.parameter)
        ranges = (
            [i] if isinstance(i := acted.index[k], int) else range(exponents.shapes[acted.parameter][k])
            for k in axes
        )
        for index in product(*ranges):
            unknown = exponents.unknown(acted.parameter, index)
            row[unknown] = row.get(unknown, 0) + (-1 if acted.dual else 1)
    return {unknown: x for unknown, x in row.items() if x}


def _first_factor(acted: Acted, exponents: Exponents) -> int:
    """The unknown of the first entry that a group acts on."""
    index = (acted.index[k] for k in exponents.axes(acted.parameter))
    return exponents.unknown(acted.parameter, [i if isinstance(i, int) else 0 for i in index])


def _scaling(solution: Row, exponents: Exponents) -> Symmetry:
    """A solution as a group of factors, with whole exponents."""
    whole, on = lcm(*(x.denominator for x in solution.values())), []
    whole = whole if solution[min(solution)] > 0 else -whole
    for unknown in sorted(solution):
        array, index = exponents.place(unknown)
        part = _part(exponents.shapes[array], dict(zip(exponents.axes(array), index, strict=True)))
        on.append(Acted(array, index=part, weight=int(solution[unknown] * whole)))
    return Symmetry("scaling", 1, tuple(on))
