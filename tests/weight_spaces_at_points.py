"""The ideal of a layer weight space by weight space, at random points modulo a prime: an independent check.

In degree n and torus weight w, the coordinate ring has the rank of the matrix (monomials of weight w) ×
(points), and the ideal is its kernel. Only dominant weights are needed: the symmetric groups inside
GL(d')×GL(d)×GL(d) permute the others.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import flint
import numpy as np

from agattn.algebra.characters import Partition, decompose, partitions
from agattn.architectures import SingleLayer
from agattn.geometry.ideal.hilbert import PRIME, random_points
from agattn.geometry.ideal.multigrading import products_of_rows
from agattn.geometry.ideal.torus_weights import (
    Monomial,
    TorusWeight,
    divisors,
    list_coordinates,
    monomials_of_weight,
    relabeling,
    sort_weight,
)

Character = dict[tuple[Partition, ...], int]


class GradedIdeal:
    """The ideal of one layer, with any t, modulo :data:`PRIME` in one weight space at a time.

    ``seed`` is that of the random points.

    Raises:
        TooLargeError: if there are too many coordinates to list.
    """

    def __init__(self, layer: SingleLayer, seed: int = 0) -> None:
        self.layer = layer
        self._places = {index: place for place, index in enumerate(list_coordinates(layer))}
        self._random = np.random.default_rng(seed)
        self._values = np.zeros((len(self._places), 0), dtype=np.int64)
        self.kernel = cache(self._kernel)

    def characters(self, degree: int) -> tuple[Character, Character, Character]:
        """The modules in one degree of the polynomial ring, the coordinate ring and the minimal generators.

        Each maps highest weights, a partition for each factor of the group, to multiplicities.
        """
        ring, coordinate, generators = {}, {}, {}
        factors = zip(self.layer.gl_degrees, self.layer.gl_sizes, strict=True)
        for weight in product(*(list(partitions(degree * share, size)) for share, size in factors)):
            if monomials := len(self.monomials(weight)):
                ideal = len(self.kernel(weight))
                products = self.products(weight) if ideal else []
                ring[weight], coordinate[weight] = monomials, monomials - ideal
                generators[weight] = ideal - flint.nmod_mat(products, PRIME).rank()
        return decompose(ring), decompose(coordinate), decompose(generators)

    def monomials(self, weight: TorusWeight) -> list[Monomial]:
        """The monomials of a torus weight, sorted."""
        return monomials_of_weight(weight, self.layer.gl_degrees)

    def _kernel(self, weight: TorusWeight) -> list[list[int]]:
        """A basis of the ideal in one weight space, modulo the prime, as rows of coefficients."""
        monomials = self.monomials(weight)
        points = len(monomials) + 5
        if self._values.shape[1] < points:
            more = random_points(self.layer, self._random, points)
            self._values = np.concatenate([self._values, more], axis=1)
        places = [[self._places[index] for index in monomial] for monomial in monomials]
        values = products_of_rows(np.array(places), self._values[:, :points], PRIME)
        basis, nullity = flint.nmod_mat(points, len(values), values.T.ravel().tolist(), PRIME).nullspace()
        return [[int(x) for x in row] for row in basis.transpose().tolist()[:nullity]]

    def products(self, weight: TorusWeight) -> list[list[int]]:
        """Products of coordinates and elements of I_{n−1} that span the weight space of R_1·I_{n−1}."""
        degrees = self.layer.gl_degrees
        columns = {monomial: column for column, monomial in enumerate(self.monomials(weight))}
        rows: list[list[int]] = []
        for index, rest in divisors(weight, degrees):
            # The ideal at the rest is that at the dominant weight with the letters permuted.
            dominant, orders = sort_weight(rest)
            if not dominant[0] or not (kernel := self.kernel(dominant)):
                continue
            moved = map(relabeling(orders, degrees), self.monomials(dominant))
            block = np.zeros((len(kernel), len(columns)), dtype=np.int64)
            block[:, [columns[tuple(sorted([*monomial, index]))] for monomial in moved]] = kernel
            rows += block.tolist()
        return rows
