"""What follows from the evaluation of a layer: degrees, groups, and what takes up changes at its ends.

A layer names its parameters and evaluates itself. Its contractions show its degrees and the groups inside of
it. With a matrix S before it, X ↦ f(S X), or U behind it, X ↦ U f(X), they show which arrays take up a change
of the input or of the output. Equal layers are looked at once.

>>> from agattn.architectures import Attention
>>> layer = derived(Attention(2, rank=2, value_rank=1), (3, 2))
>>> [str(group) for group in layer.symmetries]
['GL(a) on K, Q', 'GL(β) on O, P', 'scaling on K, O']
>>> layer.rows, layer.columns, layer.degrees
({'O': -2}, {'K': -1, 'Q': -1, 'P': -1}, Degrees(weights=4, inputs=frozenset({3})))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from math import inf
from operator import add
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, RingArithmetic
from agattn.architectures.contractions import Contractions, contractions, gauge_groups, groups_of
from agattn.architectures.degrees import CONSTANT, INPUT, PARAMETER, Degrees
from agattn.architectures.layers import Layer, Shape
from agattn.architectures.symmetry import Symmetry
from agattn.errors import InputError

#: The matrices before and behind a layer: no names that a layer has for its own arrays.
_BEFORE, _BEHIND = "(S)", "(U)"
#: How the size of a group is called, by the array on whose rows it acts.
_LETTERS = {"Q": "a", "UQ": "a", "P": "β", "UV": "β", "C": "r", "D": "ρ"}


@dataclass(frozen=True)
class Between:
    """A layer, alone or with a matrix S before it or U behind it."""

    shapes: Mapping[str, tuple[int, ...]]
    input_shape: Shape
    layer: Layer

    @classmethod
    def of(cls, layer: Layer, shape: Shape, *matrices: str) -> Between:
        """With some of both matrices; S has two columns and U two rows, which show the same as any number."""
        ends = {_BEFORE: (shape[0], 2), _BEHIND: (2, layer.output_shape(shape)[0])}
        arrays = layer.shapes(shape) | {matrix: ends[matrix] for matrix in matrices}
        return cls(arrays, (2, shape[1]) if _BEFORE in matrices else shape, layer)

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """U f(S X)."""
        X = arithmetic.matmul(parameters[_BEFORE], X) if _BEFORE in parameters else X
        X = self.layer.evaluate(arithmetic, parameters, X)
        return arithmetic.matmul(parameters[_BEHIND], X) if _BEHIND in parameters else X


@dataclass(frozen=True)
class Derived:
    """What is derived of a layer for inputs of a shape."""

    layer: Layer
    shape: Shape

    @cached_property
    def _alone(self) -> Contractions | None:
        """The contractions of the layer; ``None`` if it does what has no rule."""
        with suppress(NotImplementedError):
            return contractions(Between.of(self.layer, self.shape))
        return None

    @cached_property
    def _inside(self) -> list[Symmetry]:
        """The groups inside of the layer, finite ones too: those of each head, then those of all heads."""
        if self._alone is None:
            return []
        groups = groups_of(Between.of(self.layer, self.shape), self._alone)
        order = list(self.layer.shapes(self.shape))
        return sorted((_named(group, order) for group in groups), key=_head)

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The groups inside of the layer: those of each head, then those of all heads."""
        return tuple(group for group in self._inside if group.dimension)

    @property
    def alike(self) -> tuple[str, ...]:
        """If there are several heads, the arrays that the first group of a head acts on, such as K and Q."""
        first, second = (next((one for one in self._inside if _head(one) == k), None) for k in (0, 1))
        if first is None or second is None:
            return ()
        return tuple(one.parameter for one in first.on if one.index[0] == 0)

    def _groups_with(self, *matrices: str) -> list[Symmetry]:
        """The groups that change all of some matrices beside the layer."""
        with suppress(NotImplementedError):
            groups = gauge_groups(Between.of(self.layer, self.shape, *matrices))
            return [one for one in groups if {acted.parameter for acted in one.on} >= {*matrices}]
        return []

    @cached_property
    def rows(self) -> dict[str, int | None]:
        """The axes on which a change of the output by g acts as g; ``None`` where only factors can act."""
        return self._taken_up(_BEHIND)

    @cached_property
    def columns(self) -> dict[str, int | None]:
        """The axes on which a change of the input by g acts as g⁻ᵀ; ``None`` where only factors can act."""
        return self._taken_up(_BEFORE)

    def _taken_up(self, matrix: str) -> dict[str, int | None]:
        """The arrays on which the inverse of a change of the matrix acts, in the same way on all of them."""
        arrays = self.layer.shapes(self.shape)
        if not arrays:
            return {}
        factors = list[Symmetry]()
        for group in self._groups_with(matrix):
            if group.leading.axis is None:
                factors.append(group)
                continue
            [change] = (one for one in group.on if one.parameter == matrix)
            own = {one.parameter: one.axis for one in group.on if one.parameter != matrix}
            opposite = all(one is change or one.dual != change.dual for one in group.on)
            is_whole = all(one.is_whole for one in group.on)
            if opposite and is_whole and 0 < len(own) == len(group.on) - 1 and not group.is_orthogonal:
                return {name: own[name] for name in arrays if name in own}
        shapes = Between.of(self.layer, self.shape, matrix).shapes
        return dict.fromkeys(_divided(matrix, shapes, factors))

    @cached_property
    def passes(self) -> int:
        """r, if a factor c of a row of the input becomes a factor c^r of that row of the output; else 0."""
        if self.layer.shapes(self.shape):
            return 0
        powers, groups = set[int](), self._groups_with(_BEFORE, _BEHIND)
        for group in groups:
            before, *_, behind = group.on
            if before.axis is not None:
                return 0 if group.is_orthogonal else 1
            r, rest = divmod(-behind.weight, before.weight)
            if rest or r < 1 or len(group.on) > 2 or before.index[0] != behind.index[1]:
                return 0
            powers.add(r)
        return powers.pop() if len(powers) == 1 and len(groups) == self.shape[0] else 0

    @cached_property
    def degrees(self) -> Degrees | None:
        """The degrees of the output; ``None`` if it is no polynomial."""
        if self._alone is not None:
            return self._alone.degrees
        alone, X = Between.of(self.layer, self.shape), np.full((1, *self.shape), INPUT)
        parameters = {name: np.full(shape, PARAMETER) for name, shape in alone.shapes.items()}
        try:
            total = reduce(add, alone.evaluate(RingArithmetic(), parameters, X).ravel())
            return total if isinstance(total, Degrees) else CONSTANT
        except (TypeError, InputError):  # the scalars have no softmax and no normalizer
            return None


@lru_cache(maxsize=1000)
def derived(layer: Layer, shape: Shape) -> Derived:
    """What is derived of a layer for inputs of a shape."""
    return Derived(layer, shape)


def _named(group: Symmetry, order: Sequence[str]) -> Symmetry:
    """A group with its arrays in order, and a letter for its size: of the rows of an array, or s of heads."""
    leading = group.leading
    group = replace(group, on=tuple(sorted(group.on, key=lambda one: order.index(one.parameter))))
    is_rotation = group.is_orthogonal and leading.is_part
    if leading.axis is None or leading.parameter not in _LETTERS or is_rotation:
        return group
    letter = "s" if leading.axis == -3 else _LETTERS[leading.parameter]
    return replace(group, name=f"{'O' if group.is_orthogonal else 'GL'}({letter})")


def _head(group: Symmetry) -> float:
    first: Any = group.on[0].index[:1]
    return first[0] if first and isinstance(first[0], int) else inf


def _divided(matrix: str, shapes: Mapping[str, tuple[int, ...]], groups: Sequence[Symmetry]) -> list[str]:
    """The arrays that all groups together divide by a factor if they multiply the whole matrix by it."""
    powers = {name: np.zeros(shape, dtype=int) for name, shape in shapes.items()}
    for group in groups:
        weight = next(one.weight for one in group.on if one.parameter == matrix)
        for one in group.on:
            powers[one.parameter][one.index] += weight * one.weight
    uniform = {name: set(power.ravel().tolist()) for name, power in powers.items()}
    if uniform.pop(matrix) != {1} or any(values not in ({0}, {-1}) for values in uniform.values()):
        return []
    return [name for name, values in uniform.items() if values == {-1}]
