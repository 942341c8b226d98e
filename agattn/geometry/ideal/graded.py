"""The ideal weight space by weight space, at random points of the parametrization modulo a prime.

In degree n and weight w, the coordinate ring has the rank of the matrix (monomials of weight w) × (points),
and the ideal is its kernel. Only dominant weights are needed: the symmetric groups inside GL(d')×GL(d)×GL(d)
permute the others.

This is the method for t = 1, and for t ≥ 2 the independent check of :mod:`agattn.geometry.ideal.isotypic`.
Its
ranks are modular evidence: at random points mod p, a rank can only come out too small, with probability at
most (degree)·rank/p for each.

>>> from agattn.architectures import SingleLayer
>>> graded = GradedIdeal(SingleLayer(2, 1))
>>> graded.characters(4)[2]                              # the resultant is the only minimal generator
{((4,), (2, 2), (4, 4)): 1}
"""

from __future__ import annotations

from functools import cache
from itertools import product

import flint
import numpy as np

from agattn.algebra.characters import Partition, decompose, partitions
from agattn.algebra.specht import IntArray
from agattn.architectures import SingleLayer
from agattn.geometry.ideal.torus_weights import Index, indices, weight
from agattn.geometry.variety.coordinates import coefficients

#: The prime of all evaluations: products of two residues fit into 64 bits.
PRIME = 2**31 - 1

Weight = tuple[tuple[int, ...], ...]
Monomial = tuple[int, ...]
Character = dict[tuple[Partition, ...], int]


class GradedIdeal:
    """The ideal of one layer, computed modulo :data:`PRIME` in one weight space at a time.

    Args:
        layer: the architecture, with any t.
        seed: the seed of the random points.
    """

    def __init__(self, layer: SingleLayer, seed: int = 0) -> None:
        self.layer = layer
        self.indices: list[Index] = indices(layer)
        self.weights: list[Weight] = [weight(index, layer) for index in self.indices]
        self.factors = [layer.d_out, layer.d] if layer.t == 1 else [layer.d_out, layer.d, layer.d]
        self._random = np.random.default_rng(seed)
        self._values = np.zeros((len(self.indices), 0), dtype=np.int64)
        self.monomials = cache(self._monomials)
        self.kernel = cache(self._kernel)
        self._lookup = {index: position for position, index in enumerate(self.indices)}

    def characters(self, degree: int) -> tuple[Character, Character, Character]:
        """The modules in one degree of the polynomial ring, the coordinate ring and the minimal generators.

        Each is a dictionary from highest weights, one partition for each factor of the group, to
        multiplicities.
        """
        ring, coordinate, generators = {}, {}, {}
        for dominant in self.dominant_weights(degree):
            padded = self.pad(dominant)
            monomials = len(self.monomials(padded))
            if not monomials:
                continue
            in_ideal = len(self.kernel(padded))
            ring[dominant] = monomials
            coordinate[dominant] = monomials - in_ideal
            generators[dominant] = in_ideal - self._products(padded) if in_ideal else 0
        return decompose(ring), decompose(coordinate), decompose(generators)

    def dominant_weights(self, degree: int) -> list[tuple[Partition, ...]]:
        """The dominant weights of one degree."""
        sizes = [degree] * (len(self.factors) - 1) + [degree * (3 if self.layer.t == 1 else 2)]
        choices = (partitions(size, parts) for size, parts in zip(sizes, self.factors, strict=True))
        return list(product(*(list(choice) for choice in choices)))

    def pad(self, dominant: tuple[Partition, ...]) -> Weight:
        """A dominant weight with a zero for every missing part."""
        return tuple(
            part + (0,) * (size - len(part)) for part, size in zip(dominant, self.factors, strict=True)
        )

    def _monomials(self, target: Weight) -> list[Monomial]:
        """The monomials of this weight, each as the increasing positions of its variables."""
        found: list[Monomial] = []

        def extend(start: int, left: Weight, chosen: Monomial) -> None:
            if not any(left[0]):
                found.append(chosen)
                return
            for position in range(start, len(self.indices)):
                rest = _subtract(left, self.weights[position])
                if rest is not None:
                    extend(position, rest, (*chosen, position))

        extend(0, target, ())
        return found

    def evaluate(self, monomials: list[Monomial], points: int) -> IntArray:
        """The values of monomials at the first random points, modulo the prime."""
        if self._values.shape[1] < points:
            more = self._random_points(max(points, 2 * self._values.shape[1]) - self._values.shape[1])
            self._values = np.concatenate([self._values, more], axis=1)
        factors = np.array(monomials, dtype=np.int64)
        result = np.ones((len(monomials), points), dtype=np.int64)
        for column in factors.T:
            result = result * self._values[column, :points] % PRIME
        return result

    def _random_points(self, count: int) -> IntArray:
        layer = self.layer
        v = self._random.integers(PRIME, size=(layer.d_out, layer.d, count))
        k = self._random.integers(PRIME, size=(layer.alpha, layer.d, count))
        q = self._random.integers(PRIME, size=(layer.alpha, layer.d, count))
        a = np.zeros((layer.d, layer.d, count), dtype=np.int64)
        for row in range(layer.alpha):
            a = (a + k[row][:, None] * q[row][None, :] % PRIME) % PRIME
        A, V = np.empty((layer.d, layer.d), dtype=object), np.empty((layer.d_out, layer.d), dtype=object)
        for matrix, values in ((A, a), (V, v)):
            for place in np.ndindex(matrix.shape):
                matrix[place] = _Residues(values[place])
        return np.array([y.values for y in coefficients(layer, A, V)])

    def _kernel(self, target: Weight) -> list[list[int]]:
        """A basis of the ideal in one weight space, modulo the prime."""
        monomials = self.monomials(target)
        values = self.evaluate(monomials, len(monomials) + 5)
        transposed = flint.nmod_mat(values.shape[1], values.shape[0], values.T.ravel().tolist(), PRIME)
        basis, nullity = transposed.nullspace()
        return [[int(basis[row, column]) for row in range(len(monomials))] for column in range(nullity)]

    def _products(self, target: Weight) -> int:
        """The dimension of the weight space of R_1·I_{n−1}."""
        rows = self.product_rows(target)
        return int(flint.nmod_mat(rows, PRIME).rank()) if rows else 0

    def product_rows(self, target: Weight) -> list[list[int]]:
        """Products of coordinates and elements of I_{n−1} that span the weight space of R_1·I_{n−1}."""
        columns = {monomial: column for column, monomial in enumerate(self.monomials(target))}
        rows: list[IntArray] = []
        for position, own in enumerate(self.weights):
            rest = _subtract(target, own)
            if rest is None or not any(rest[0]):
                continue
            ordered = tuple(tuple(sorted(part, reverse=True)) for part in rest)
            kernel = self.kernel(ordered)
            if not kernel:
                continue
            # The ideal at this weight is that at the dominant one with the indices permuted.
            permuted = self._permutation(rest)
            places = [
                columns[tuple(sorted([*(permuted[v] for v in monomial), position]))]
                for monomial in self.monomials(ordered)
            ]
            block = np.zeros((len(kernel), len(columns)), dtype=np.int64)
            block[:, places] = kernel
            rows.append(block)
        return [row for block in rows for row in block.tolist()]

    def _permutation(self, target: Weight) -> list[int]:
        """Where each variable goes under permutations that take the sorted weight to this one."""
        orders = [sorted(range(len(part)), key=lambda i, part=part: -part[i]) for part in target]  # type: ignore[misc]
        moved = []
        for index in self.indices:
            if self.layer.t == 1:
                c, *inner = index
                image = (orders[0][c], *sorted(orders[1][i] for i in inner))
            else:
                c, b, *inner = index
                image = (orders[0][c], orders[1][b], *sorted(orders[2][i] for i in inner))
            moved.append(self._lookup[image])
        return moved


class _Residues:
    """Vectors of residues modulo :data:`PRIME`, with + and *."""

    def __init__(self, values: IntArray) -> None:
        self.values = values

    def __add__(self, other: _Residues) -> _Residues:
        return _Residues((self.values + other.values) % PRIME)

    def __radd__(self, zero: int) -> _Residues:
        return self  # `sum` starts from 0

    def __mul__(self, other: _Residues) -> _Residues:
        return _Residues(self.values * other.values % PRIME)


def _subtract(left: Weight, right: Weight) -> Weight | None:
    """The difference of two weights, or None where an entry would be negative."""
    difference = tuple(
        tuple(x - y for x, y in zip(first, second, strict=True))
        for first, second in zip(left, right, strict=True)
    )
    return None if any(min(part) < 0 for part in difference) else difference
