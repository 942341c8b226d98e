"""Kinds of points of any polynomial model: special weights, each with a name, over the integers.

A kind is weights with something special about one array of parameters, all others general: a matrix of lower
rank, a row or a column that is 0 or equal to another, a matrix that is symmetric or skew; two heads that are
equal; two arrays of one shape that are equal; what a symmetry acts on 0, as a neuron with nothing before and
behind it. These are the natural degenerations of layers: zero and equal neurons, heads and filters,
bottlenecks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import NamedTuple

import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.architectures import Architecture, Network, draw_parameters
from agattn.geometry.singular_points.kind import Kind
from agattn.limits import limits

#: Numbers are drawn between minus this and this, without 0.
_LARGEST = 3


class _Special(NamedTuple):
    """What is special: a name, and the arrays that replace those of general weights."""

    name: str
    arrays: dict[str, Array]


def model_kinds(architecture: Architecture, pairs: bool = False) -> list[Kind]:
    """The kinds of weights of an architecture; with ``pairs`` also any two on different arrays.

    >>> from agattn.architectures import Linear, Network
    >>> [kind.name for kind in model_kinds(Network([Linear(2), Linear(2)], dim=2))][:5]
    ['generic', 'rk W_1 = 1', 'W_1 = 0', 'row 1 of W_1 is 0', 'column 1 of W_1 is 0']
    """
    generator = np.random.default_rng(limits().seed)

    def draw(shape: tuple[int, ...]) -> Array:
        numbers = [*range(-_LARGEST, 0), *range(1, _LARGEST + 1)]
        return np.array(generator.choice(numbers, shape), dtype=object)

    general = draw_parameters(architecture, draw)
    special = list(_special(architecture, general, draw))
    if pairs:
        special += [
            _Special(f"{one.name}; {other.name}", one.arrays | other.arrays)
            for one, other in itertools.combinations(special, 2)
            if not one.arrays.keys() & other.arrays.keys()
        ]
    kinds = [Kind("generic", architecture, (general,))]
    return kinds + [Kind(one.name, architecture, (general | one.arrays,)) for one in special]


def _special(
    architecture: Architecture, general: Mapping[str, Array], draw: Callable[[tuple[int, ...]], Array]
) -> Iterator[_Special]:
    for name, array in general.items():
        for text, changed in _of_array(name, array, draw):
            yield _Special(text, {name: changed})
    for one, other in itertools.combinations(general, 2):
        if general[one].shape == general[other].shape and general[one].size > 1:
            yield _Special(f"{one} = {other}", {other: general[one].copy()})
    if isinstance(architecture, Network):
        for place in architecture.places:
            if names := [place.names[letter] for letter in place.derived.alike]:
                copies = {name: general[name].copy() for name in names}
                for array in copies.values():
                    array[1] = array[0]
                yield _Special(" and ".join(f"{name}[1] = {name}[2]" for name in names), copies)
    seen = set[tuple[str, ...]]()
    zero = {name: np.zeros_like(array) for name, array in general.items()}
    for symmetry in architecture.symmetries:
        copies = {acted.parameter: general[acted.parameter].copy() for acted in symmetry.on}
        if len(copies) < 2 or tuple(copies) in seen:
            continue
        seen.add(tuple(copies))
        for acted in symmetry.on:
            part = copies[acted.parameter][acted.index]
            (part if acted.axis is None else np.moveaxis(part, acted.axis, 0)[:1])[...] = 0
        if len(copies) < len(zero) or any(array.any() for array in copies.values()):
            yield _Special(" and ".join(_zero_in(name, array) for name, array in copies.items()), copies)
    if len(zero) > 1:
        yield _Special("all parameters are 0", zero)


def _zero_in(name: str, array: Array) -> str:
    """Which part of an array is 0, in words."""
    label = name
    if array.ndim > 2 and prod(array.shape[:-2]) > 1 and array.any():
        label = f"{name}[1]"
    first = array.reshape(-1, *(1, 1, *array.shape)[-2:])[0]
    if not first.any():
        return f"{label} = 0"
    for word, lines in (("row", first), ("column", first.T)):
        if not lines[0].any():
            return f"{word} 1 of {label} is 0"
    return f"a part of {label} is 0"


def _of_array(
    name: str, array: Array, draw: Callable[[tuple[int, ...]], Array]
) -> Iterator[tuple[str, Array]]:
    """What may be special about one array, or about the first of several matrices in it."""

    def with_first(matrix: Array) -> Array:
        changed = array.copy()
        changed[(0,) * (array.ndim - matrix.ndim)] = matrix
        return changed

    if array.ndim == 0:
        yield f"{name} = 0", np.zeros_like(array)
        return
    if array.ndim == 1:
        yield f"{name} = 0", np.zeros_like(array)
        if len(array) > 1:
            yield f"{name}[1] = 0", np.concatenate([array[:1] * 0, array[1:]])
            yield f"{name}[1] = {name}[2]", np.concatenate([array[:1], array[:1], array[2:]])
        return
    several = prod(array.shape[:-2]) > 1
    first = array.reshape(-1, *array.shape[-2:])[0]
    label, (m, n) = f"{name}[1]" if several else name, first.shape
    for r in range(min(m, n) - 1, 0, -1):
        yield f"rk {label} = {r}", with_first(draw((m, r)) @ draw((r, n)))
    yield f"{label} = 0", with_first(first * 0)
    for lines, word, count, other in ((first, "row", m, n), (first.T, "column", n, m)):
        if count > 1:
            for text, line in (("is 0", lines[0] * 0), ("is equal to the next", lines[1])):
                if text == "is 0" or count > 2 or other == 1:  # else a rank
                    changed = lines.copy()
                    changed[0] = line
                    text = f"{word} 1 of {label} {text}"
                    yield text, with_first(changed if word == "row" else changed.T)
    if m == n > 1:
        yield f"{label} symmetric", with_first(first + first.T)
        yield f"{label} skew", with_first(first - first.T)
    if several and len(array) > 1:
        changed = array.copy()
        changed[1] = array[0]
        yield f"{name}[1] = {name}[2]", changed
