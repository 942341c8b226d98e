"""Characters of the general linear and the symmetric groups: partitions, dimensions, Kostka and
Littlewood-Richardson numbers.

A polynomial representation of GL(n) is a sum of Schur modules S_λ(ℂⁿ), one for each partition λ with at
most n parts. Its character, the dimension of each weight space, is symmetric, so the dominant weights
determine it; and since the weight μ occurs in S_λ only for λ ≥ μ in dominance order, peeling from the top
finds the multiplicity of every S_λ. The same works for a product of such groups, one partition for each
factor.

>>> schur_dimension((2, 1), 3)
8
>>> decompose({((2,),): 1, ((1, 1),): 2})       # the character of ℂ² ⊗ ℂ²
{((2,),): 1, ((1, 1),): 1}

Specht modules: the irreducible representations of the symmetric groups, by integer matrices.

The Specht module S^λ of a partition λ of n is spanned, inside the permutation module on words with λ_r
letters r, by the polytabloids e_T, T a standard tableau:

    e_T = Σ_σ sgn(σ) · (the word that has at each entry of σT the row of that entry),

σ running over the permutations that preserve the columns of T. Words of length n are tensors in E^{⊗n}, and
S^λ is the space of highest weight vectors of weight λ in it (James' kernel intersection theorem; Schur-Weyl
duality).

>>> module = specht_module((2, 1))
>>> len(module)
2
>>> module.transposition(0, 1)
array([[ 1., -1.],
       [ 0., -1.]])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import combinations, permutations
from math import factorial, prod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Partition = tuple[int, ...]


def partitions(size: int, max_parts: int | None = None, max_part: int | None = None) -> Iterator[Partition]:
    """Yield the partitions of ``size`` with at most ``max_parts`` parts, in decreasing lexicographic order.

    >>> list(partitions(4, max_parts=2))
    [(4,), (3, 1), (2, 2)]
    """
    if size == 0:
        yield ()
        return
    if max_parts == 0:
        return
    rest = None if max_parts is None else max_parts - 1
    for first in range(min(size, size if max_part is None else max_part), 0, -1):
        for tail in partitions(size - first, rest, first):
            yield (first, *tail)


def conjugate(partition: Partition) -> Partition:
    """The transposed partition: the lengths of the columns.

    >>> conjugate((3, 1))
    (2, 1, 1)
    """
    return tuple(sum(part > column for part in partition) for column in range(max(partition, default=0)))


def schur_dimension(partition: Partition, n: int) -> int:
    """The dimension of S_λ(ℂⁿ), by the hook content formula; 0 if λ has more than n parts.

    >>> schur_dimension((2,), 768), schur_dimension((1, 1, 1), 2)
    (295296, 0)
    """
    contents = (column - row for row, length in enumerate(partition) for column in range(length))
    return prod(n + content for content in contents) // prod(_hooks(partition))


def specht_dimension(partition: Partition) -> int:
    """The number of standard tableaux of this shape, by the hook length formula.

    >>> specht_dimension((3, 2))
    5
    """
    return factorial(sum(partition)) // prod(_hooks(partition))


def _hooks(partition: Partition) -> Iterator[int]:
    """The hook lengths of all boxes, row by row."""
    columns = conjugate(partition)
    for row, length in enumerate(partition):
        yield from (length - column + columns[column] - row - 1 for column in range(length))


def horizontal_strips(shape: Partition, size: int) -> Iterator[Partition]:
    """The partitions left when a horizontal strip of this size is removed from the shape."""
    strips: list[tuple[Partition, int]] = [((), size)]
    for row, part in enumerate(shape):
        below = shape[row + 1] if row + 1 < len(shape) else 0
        # The rows below can lose no more than the length of the next row.
        strips = [
            ((*rest, part - removed), left - removed)
            for rest, left in strips
            for removed in range(max(0, left - below), min(left, part - below) + 1)
        ]
    for rest, left in strips:
        if not left:  # in an empty shape
            yield tuple(filter(None, rest))


def kostka(shape: Partition, weight: Partition) -> int:
    """The Kostka number: the dimension of this weight space of S_shape; the weight need not be dominant.

    >>> kostka((2, 1), (1, 1, 1)), kostka((2, 2), (3, 1))
    (2, 0)
    """
    return _strip_chains(shape, (), weight)


@cache
def littlewood_richardson(outer: Partition, first: Partition, second: Partition) -> int:
    """The multiplicity of S_outer in S_first ⊗ S_second.

    Counted by the Jacobi-Trudi expansion of S_second into products of symmetric powers, and Pieri's rule.

    >>> littlewood_richardson((3, 2, 1), (2, 1), (2, 1))
    2
    """
    if sum(outer) != sum(first) + sum(second):
        return 0
    total = 0
    for columns in permutations(range(len(second))):
        sizes = tuple(part - row + columns[row] for row, part in enumerate(second))
        sign = (-1) ** sum(left > right for left, right in combinations(columns, 2))
        total += sign * _strip_chains(outer, first, sizes) if min(sizes, default=0) >= 0 else 0
    return total


@cache
def _strip_chains(outer: Partition, inner: Partition, sizes: tuple[int, ...]) -> int:
    """The number of ways down from ``outer`` to ``inner`` by horizontal strips of these sizes."""
    if not sizes:
        return int(outer == inner)
    return sum(_strip_chains(rest, inner, sizes[:-1]) for rest in horizontal_strips(outer, sizes[-1]))


@cache
def symmetric_character(shape: Partition, cycles: Partition) -> int:
    """The character of the Specht module of ``shape`` at permutations with these lengths of cycles.

    By the rule of Murnaghan and Nakayama, on beads: a rim hook of length r is removed by moving a bead r
    places down to a free place, with the sign of the number of beads between.

    >>> [symmetric_character((2, 1), cycles) for cycles in [(1, 1, 1), (2, 1), (3,)]]
    [2, 0, -1]
    """
    if len(cycles) == sum(shape):  # the identity
        return specht_dimension(shape)
    size = len(shape)
    beads = {part + size - row - 1 for row, part in enumerate(shape)}
    total = 0
    for bead in beads:
        if (end := bead - cycles[0]) >= 0 and end not in beads:
            moved = sorted(beads - {bead} | {end}, reverse=True)
            rest = tuple(place - size + row + 1 for row, place in enumerate(moved))
            sign = (-1) ** sum(end < other < bead for other in beads)
            total += sign * symmetric_character(tuple(part for part in rest if part), cycles[1:])
    return total


def centralizer_order(cycles: Partition) -> int:
    """The number of permutations that commute with one that has these lengths of cycles.

    >>> centralizer_order((2, 1, 1))
    4
    """
    return prod(length**count * factorial(count) for length, count in Counter(cycles).items())


def decompose(character: Mapping[tuple[Partition, ...], int]) -> dict[tuple[Partition, ...], int]:
    """The multiplicities of the irreducible modules in a character of a product of general linear groups.

    Args:
        character: the dimension of the weight space of each dominant weight, a tuple of partitions with one
            for each factor of the group. Weights that are missing count as 0.

    Returns:
        The nonzero multiplicities, in the order of the weights, highest first.

    Raises:
        ValueError: if a multiplicity comes out negative, so that this is not the character of a module.
    """
    left = dict(character)
    multiplicities: dict[tuple[Partition, ...], int] = {}
    # A weight that dominates another is lexicographically larger, in each factor.
    for top in sorted(left, reverse=True):
        multiplicity = left[top]
        if multiplicity < 0:
            raise ValueError(
                f"not a character: the module of highest weight {top} would occur {multiplicity} times"
            )
        if multiplicity == 0:
            continue
        multiplicities[top] = multiplicity
        for weight in left:
            left[weight] -= multiplicity * prod(
                kostka(shape, part) for shape, part in zip(top, weight, strict=True)
            )
    return multiplicities


def module_dimension(shapes: Sequence[Partition], sizes: Sequence[int]) -> int:
    """The dimension of the tensor product of the S_λ(ℂⁿ), over pairs of λ and n.

    >>> module_dimension([(1, 1), (2,)], [2, 3])
    6
    """
    return prod(schur_dimension(shape, size) for shape, size in zip(shapes, sizes, strict=True))


def module_name(shapes: Sequence[Partition]) -> str:
    """The tensor product of the S_λ in print.

    >>> module_name([(2,), (1, 1), (3, 1)])
    'S(2)⊗S(1,1)⊗S(3,1)'
    """
    return "⊗".join(f"S({','.join(map(str, shape))})" for shape in shapes)


IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


class SpechtModule:
    """The Specht module of a partition of n, in the basis of standard polytabloids.

    The letters that the symmetric group permutes are the positions 0, ..., n − 1 of the words.
    """

    def __init__(self, shape: Partition) -> None:
        self.shape = shape
        self.size = sum(shape)
        self._transpositions: dict[tuple[int, int], FloatArray] = {}

    def __len__(self) -> int:
        return len(self._standard_words)

    @cached_property
    def _standard_words(self) -> IntArray:
        """The row of each entry in the standard tableaux: shape (dimension, n)."""
        return _standard_words(self.shape)

    @cached_property
    def _rows(self) -> list[IntArray]:
        """The entries of each row: shape (dimension, length of the row)."""
        words = self._standard_words
        rows = enumerate(self.shape)
        return [np.nonzero(words == r)[1].reshape(len(words), length) for r, length in rows]

    @cached_property
    def _columns(self) -> list[tuple[int, IntArray]]:
        """For each column of the shape its height h, and the h entries of it in each tableau."""
        return [
            (height, np.stack([row[:, column] for row in self._rows[:height]], axis=1))
            for column, height in enumerate(conjugate(self.shape))
        ]

    def coefficients(self, words: IntArray) -> npt.NDArray[np.int8]:
        """The coefficients of all polytabloids at some words.

        Args:
            words: shape (m, n), one word with entries in 0, 1, ... in each row.

        Returns:
            Shape (dimension, m), with entries 0, 1 and −1.
        """
        letters = words.T.astype(np.int8)
        result = np.ones((len(self), len(words)), dtype=np.int8)
        for height, entries in self._columns:
            rows = [letters[entries[:, k]] for k in range(height)]
            # The entries of a column must lie in the rows 0, ..., h − 1 in some order, whose sign counts.
            for k in range(height):
                result *= rows[k] < height
                for j in range(k):
                    result *= np.sign(rows[k] - rows[j])
        return result

    @cached_property
    def _inverse(self) -> FloatArray:
        """Turns coefficients at the standard words into coordinates; an integer matrix of determinant ±1."""
        matrix = self.coefficients(self._standard_words).astype(np.float64)
        # Unitriangular in an order that refines dominance, so the inverse is integral, and checked below.
        inverse: FloatArray = np.rint(np.linalg.inv(matrix))
        if np.abs(inverse).max() >= 2.0**32 or not np.array_equal(matrix @ inverse, np.eye(len(self))):
            raise ArithmeticError(
                f"the polytabloids of shape {self.shape} could not be inverted in floating point"
            )
        return inverse

    def transposition(self, i: int, j: int) -> FloatArray:
        """The matrix of the transposition (i j): its row T holds the coordinates of (i j)·e_T.

        Integers far below 2^53, held as floats for the speed of BLAS.
        """
        i, j = min(i, j), max(i, j)
        if (i, j) not in self._transpositions:
            words = self._standard_words.copy()
            words[:, [i, j]] = words[:, [j, i]]
            # In float32 a sum of such integers below 2^24 is exact, and takes half as long.
            is_small = len(self) * np.abs(self._inverse).max() < 2.0**24
            kind = np.float32 if is_small else np.float64
            matrix = self.coefficients(words).astype(kind) @ self._inverse.astype(kind)
            self._transpositions[i, j] = matrix.astype(np.float64)
        return self._transpositions[i, j]

    @cached_property
    def words(self) -> IntArray:
        """All words with λ_r letters r, shape (n!/Πλ_r!, n), in lexicographic order."""
        return np.array(list(_words(self.shape)), dtype=np.int64).reshape(-1, self.size)

    @cached_property
    def tensors(self) -> npt.NDArray[np.int8]:
        """The polytabloids as tensors: shape (dimension, number of :attr:`words`)."""
        return self.coefficients(self.words)


#: The Specht module of a shape; the same object for the same shape.
specht_module = cache(SpechtModule)


@cache
def _standard_words(shape: Partition) -> IntArray:
    """The row of each entry in all standard tableaux; without its last entry a tableau is a standard one."""
    if not sum(shape):
        return np.zeros((1, 0), dtype=np.int64)
    words = []
    for row in reversed(range(len(shape))):
        if shape[row] > (shape[row + 1] if row + 1 < len(shape) else 0):
            rest = _standard_words((*shape[:row], shape[row] - 1, *shape[row + 1 :]))
            words.append(np.pad(rest, ((0, 0), (0, 1)), constant_values=row))
    return np.concatenate(words)


def _words(content: Partition) -> Iterator[tuple[int, ...]]:
    if not sum(content):
        yield ()
        return
    for letter, count in enumerate(content):
        if count:
            for tail in _words((*content[:letter], count - 1, *content[letter + 1 :])):
                yield (letter, *tail)
