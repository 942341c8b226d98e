r"""The known symmetries of the parametrization θ ↦ φ_θ, as tangent vectors in parameter space.

An architecture names the groups GL(n) that act linearly on its parameters without changing the function
(``architecture.symmetries``). Their tangent vectors at any point lie in the kernel of the Jacobian there.
At a generic point they span at least as much as at any other, so their rank at one point modulo one prime is
a proved lower bound on the dimension of the generic fiber, and

    dim ≤ parameters − rank of the tangent vectors

is a proved upper bound on the dimension of the neuromanifold
(:func:`agattn.geometry.dimension.formulas.symmetry_bound`).

**The dimension of a general orbit** of groups that act on parameter arrays, without numbers.

A vector of the Lie algebra of a product of groups is a matrix ξ for each group GL(n) or O(n), and a number
for each group of factors. The vector fixes weights if the sum of what the groups do to each array is zero.
The dimension of the orbit is the dimension of the groups, less that of the vectors that fix general weights.

- **A matrix becomes a number.** Take a part of an array on which one matrix ξ acts along one axis, and all
  other groups multiply by one common number −λ. Then (ξ − λ)T = 0 for the part T, as a matrix with the axis
  as its rows. If T has at least as many columns as rows, general T is surjective, and ξ = λ. A skew-symmetric
  ξ is 0 then.
- **Numbers solve linear equations.** If only numbers act on an array, their sum is zero at each entry.

Both steps repeat until nothing new is found. A group whose matrix does not become a number is left out: the
orbits of the other groups are not larger than those of all, so the bound stays proved, and is reported as
partial.

>>> from agattn.architectures import DeepNetwork
>>> network = DeepNetwork((768, 768, 768), (64, 64), t=2, heads=12)
>>> from agattn.architectures.contractions import gauge_groups
>>> orbit_dimension(gauge_groups(network), network.shapes)  # 24 · 64² + 768² + 24
Orbit(dimension=688152, left_out=())
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np

from agattn.algebra.lie_algebras import Sparse
from agattn.algebra.residues import Residues, nonzero_minor
from agattn.architectures import Acted, Architecture, Symmetry
from agattn.architectures.contractions import ExponentEquations, Row, gauge_groups
from agattn.architectures.protocol import as_parameters

Parameters = Mapping[str, Residues]
Shapes = Mapping[str, tuple[int, ...]]
Range = tuple[int, int]
#: An array with more parts than this is not gone through.
_MOST_PARTS = 10**5


def symmetry_matrices(
    architecture: Architecture, symmetries: Sequence[Symmetry] | None = None
) -> list[list[Sparse]]:
    """For each of some symmetries the n² matrices B by which E_{r,s} in gl(n) acts: θ ↦ Bθ.

    Of O(n) these are the n(n − 1)/2 matrices of E_{r,s} − E_{s,r}. The known symmetries of the architecture
    are taken where none are given. Rows and columns are counted over the entries of all parameters.

    >>> from agattn.architectures import SingleLayer
    >>> symmetry_matrices(SingleLayer(1, 1, 1))  # K → K/c, Q → cQ; K → cK, V → V/c
    [[{(0, 0): -1, (1, 1): 1}], [{(0, 0): 1, (2, 2): -1}]]
    """
    index, result = as_parameters(architecture, np.arange(architecture.parameters)), []
    for symmetry in architecture.symmetries if symmetries is None else symmetries:
        n = range(symmetry.size)
        matrices: list[Sparse] = [{} for _ in n for _ in n]
        for acted in symmetry.on:
            part = index[acted.parameter][acted.index]
            rows = np.moveaxis(part, acted.axis, 0) if acted.axis is not None else part[None]
            value = acted.weight if acted.axis is None else -1 if acted.dual else 1
            for (r, s), B in zip(itertools.product(n, n), matrices, strict=True):
                to, of = (s, r) if acted.dual and acted.axis is not None else (r, s)
                for entry in zip(rows[to].ravel().tolist(), rows[of].ravel().tolist(), strict=True):
                    B[entry] = B.get(entry, 0) + value
        if symmetry.is_orthogonal:
            pairs = itertools.combinations(n, 2)
            matrices = [_difference(matrices[len(n) * r + s], matrices[len(n) * s + r]) for r, s in pairs]
        result.append([{entry: x for entry, x in B.items() if x} for B in matrices])
    return result


def _difference(first: Sparse, second: Sparse) -> Sparse:
    return {entry: first.get(entry, 0) - second.get(entry, 0) for entry in {**first, **second}}


def known_groups(architecture: Architecture) -> Sequence[Symmetry]:
    """The groups that the contractions of an architecture show, or else those that it names.

    >>> from agattn import Attention, Network
    >>> [group.name for group in known_groups(Network([Attention(2, rank=2, rotary=True)], dim=3, tokens=2))]
    ['scaling', 'O(2)', 'scaling']
    """
    with suppress(NotImplementedError):  # it does what has no rule
        return gauge_groups(architecture)
    return architecture.symmetries


def gauge_columns(network: Architecture, parameters: Parameters, p: int) -> np.ndarray:
    """Parameters that can be held fixed: the Jacobian modulo p has the same rank on the other columns.

    In each head the entries of min(a, d) independent columns of Q (gl(a) moves them at will), the same for
    P, and between layers the entries of columns of V_i = [V_{i,1} ... V_{i,h}] that are a basis of its
    columns. On these entries the tangent vectors of the groups form a block triangular matrix with
    surjective blocks on the diagonal: take the layers in order, in each GL(β), then GL(d_i), and GL(a) after
    all; no group then moves the entries of an earlier one. So every column of the Jacobian in the gauge is
    a combination of the others. Their indices are returned, ascending.
    """
    index, fixed = as_parameters(network, np.arange(network.parameters)), []
    for symmetry in network.symmetries:
        acted = symmetry.leading
        if acted.axis is None:
            continue
        entries = _side_by_side(index, acted)
        fixed.append(entries[:, nonzero_minor(_side_by_side(parameters, acted), p).columns].ravel())
    return np.sort(np.concatenate(fixed)) if fixed else np.zeros(0, dtype=np.intp)


def _side_by_side(arrays: Mapping[str, np.ndarray], acted: Acted) -> np.ndarray:
    """The part that a group acts on from the left, its heads as blocks of one matrix."""
    part = arrays[acted.parameter][acted.index]
    return part if part.ndim == 2 else np.concatenate(list(part), axis=1)


class Orbit(NamedTuple):
    """What is known about general orbits of groups.

    Attributes:
        dimension: of the orbits of all groups that are not left out, so at most that of all groups.
        left_out: the groups of which this proof says nothing.
    """

    dimension: int
    left_out: tuple[Symmetry, ...]


@dataclass(frozen=True)
class _Action:
    """What a group does to a part of an array.

    Attributes:
        group: the number of the group.
        axis: the axis of the array along which matrices act; ``None`` for factors.
        weight: of the number that the group has become: −1 for the dual of a matrix.
        fixed: the part, by the axis: from where, and up to where, its indices are.
    """

    group: int
    axis: int | None
    weight: int
    fixed: dict[int, Range]


def _action(number: int, acted: Acted, shape: Sequence[int]) -> _Action:
    """An entry of a symmetry, with its axes counted from the start."""
    fixed = _fixed(acted.index, len(shape))
    if acted.axis is None:
        return _Action(number, None, acted.weight, fixed)
    single = [isinstance(i, int) for i in full_index(acted.index, len(shape))]
    free = [k for k in range(len(shape)) if not single[k]]  # the axes of the part
    return _Action(number, free[acted.axis], -1 if acted.dual else 1, fixed)


def full_index(index: Sequence[Any], ndim: int) -> list[Any]:
    """An index with an entry for each axis."""
    parts = list(index) if Ellipsis in index else [*index, Ellipsis]
    at = parts.index(Ellipsis)
    parts[at : at + 1] = [slice(None)] * (ndim - len(parts) + 1)
    return parts


def _fixed(index: Sequence[Any], ndim: int) -> dict[int, Range]:
    """The axes of an array along which a part is not all, with the ranges of the indices of the part.

    >>> _fixed((..., 3, slice(None)), 3), _fixed((2, slice(0, 2)), 3)
    ({1: (3, 4)}, {0: (2, 3), 1: (0, 2)})
    """
    ranges = {}
    for axis, part in enumerate(full_index(index, ndim)):
        if isinstance(part, int):
            ranges[axis] = (part, part + 1)
        elif part != slice(None):
            ranges[axis] = (part.start, part.stop)
    return ranges


class _Stabilizer:
    """The vectors of a Lie algebra that fix general weights, as far as they are known.

    Attributes:
        actions: of each array what acts on it.
        matrices: the groups whose matrices are not yet numbers.
        zero: the groups of which only 0 is left.
        equations: for the numbers of all other groups.
    """

    def __init__(self, shapes: Shapes, groups: Sequence[Symmetry]) -> None:
        self.shapes, self.groups, self.equations = shapes, groups, ExponentEquations()
        self.actions, self.matrices = defaultdict[str, list[_Action]](list), set[int]()
        for number, group in enumerate(groups):
            for acted in group.on:
                self.actions[acted.parameter].append(_action(number, acted, shapes[acted.parameter]))
                if acted.axis is not None and group.size > 1:
                    self.matrices.add(number)
        self.zero = {n for n, group in enumerate(groups) if group.is_orthogonal}

    def parts(self, array: str) -> Iterator[tuple[dict[int, Range], dict[int, int]]]:
        """Parts on which the same groups act: their ranges, and of each split axis how many indices it is.

        Indices that no group names are one part. Of very many parts only those on the lines through the
        first part of all are gone through: fewer equations leave more vectors, so that orbits are not too
        large.
        """
        shape, named = self.shapes[array], defaultdict[int, set[Range]](set)
        for action in self.actions[array]:
            for axis, of in action.fixed.items():
                named[axis].add(of)
        choices = {}
        for axis, ranges in named.items():
            sizes = {(start, stop): stop - start for start, stop in sorted(ranges)}
            rest = shape[axis] - sum(sizes.values())
            choices[axis] = [*sizes.items(), *([((-1, -1), rest)] if rest else [])]
        axes = list(choices)
        if prod(map(len, choices.values())) <= _MOST_PARTS:
            lines = list(itertools.product(*choices.values()))
        else:
            first = [choices[axis][0] for axis in axes]
            lines = [
                (*first[:k], one, *first[k + 1 :]) for k, axis in enumerate(axes) for one in choices[axis]
            ]
        for chosen in lines:
            parts = list(zip(axes, chosen, strict=True))
            yield {axis: of for axis, (of, _) in parts}, {axis: n for axis, (_, n) in parts}

    def sums(self, array: str) -> Iterator[tuple[dict[int, int], list[_Action], Row]]:
        """Of each part of an array its sizes, the matrices that act on it, and the sum of the numbers."""
        by_axes = defaultdict[tuple[int, ...], dict[tuple[Range, ...], list[_Action]]](
            lambda: defaultdict(list)
        )
        for action in self.actions[array]:
            axes = tuple(sorted(action.fixed))
            by_axes[axes][tuple(action.fixed[k] for k in axes)].append(action)
        for at, sizes in self.parts(array):
            matrices, row = list[_Action](), defaultdict[int, Fraction](Fraction)
            for axes, places in by_axes.items():
                for action in places.get(tuple(at[k] for k in axes), ()):
                    if action.group in self.matrices:
                        matrices.append(action)
                    elif action.group not in self.zero:
                        row[action.group] += action.weight
            yield sizes, matrices, {group: x for group, x in row.items() if x}

    def look(self, array: str) -> bool:
        """Go through an array; whether something new is found."""
        shape, new = self.shapes[array], False
        columns = defaultdict[tuple[int, int, frozenset[tuple[int, Fraction | int]]], int](int)
        for sizes, matrices, row in self.sums(array):
            if not matrices:
                new |= self.equations.add(row)
            elif len(matrices) == 1 and (
                (axis := matrices[0].axis) not in sizes or axis in matrices[0].fixed
            ):
                others = prod(sizes.get(k, n) for k, n in enumerate(shape) if k != axis)
                left = frozenset(self.equations.reduced(row).items())
                columns[matrices[0].group, self.groups[matrices[0].group].size, left] += others
        for (group, rows, _), number in columns.items():
            if group in self.matrices and number >= rows:
                self.matrices.remove(group)
                new = True
        return new


def orbit_dimension(groups: Sequence[Symmetry], shapes: Shapes) -> Orbit:
    """The dimension of the orbits of groups at general weights, or of as many of the groups as is known.

    Args:
        groups: with actions that commute with each other, as those of
            :func:`~agattn.architectures.contractions.gauge_groups`; parts of an array along an axis are
            equal or have no common index.
        shapes: of the arrays.

    See Also:
        :func:`agattn.geometry.dimension.formulas.symmetry_bound`: the rank of tangent vectors, as numbers.
    """
    acting, left_out = list(groups), list[Symmetry]()
    state = _Stabilizer(shapes, acting)
    while True:
        while sum(state.look(array) for array in list(state.actions)):  # all of them, each time
            pass
        if not state.matrices:
            break
        least = min(state.matrices, key=lambda number: acting[number].size)
        left_out.append(acting.pop(least))
        state = _Stabilizer(shapes, acting)
    numbers = len(acting) - len(state.zero) - len(state.equations.solved)
    return Orbit(sum(group.dimension for group in acting) - numbers, tuple(left_out))
