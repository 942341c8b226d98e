r"""A polynomial map as arrays: its values modulo primes, its finest grading, and its permutations.

Weights w of the parameters make f_k homogeneous if w·α is the same for all exponents α of f_k; those that do
so for every f_k are the integer kernel of the differences of exponents. Every such weight is a subgroup of
the torus that acts on the image, so the multidegree of f_k, its degrees for a basis of the weights, grades
the polynomials in y_k and all equations of the image.

>>> import agattn as ag
>>> from agattn.geometry.variety.coefficient_map import coefficient_map
>>> def conics(a, b):
...     return [a[i] * a[j] * b for i in range(2) for j in range(i + 1)]
>>> f = MapArrays(coefficient_map(ag.PolynomialMap(conics, {"a": 2, "b": ()})))
>>> f.degrees.tolist()
[[-1, 1, 1], [0, 1, 1], [1, 1, 1]]
>>> f.permutations()
[(array([2, 1, 0]), array([1, 1, 1]))]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

import flint
import numpy as np
from numpy.typing import NDArray

from agattn.algebra.echelon import (
    echelon,
    independent_columns,
    integer_kernel,
    kernel_basis,
    saturate,
    sparse_rows,
)
from agattn.algebra.polynomial import Polynomial, PolynomialRing
from agattn.algebra.residues import RowSpace, hadamard, nonzero_minor, random_prime
from agattn.architectures.protocol import as_parameters, symmetry_tangents
from agattn.geometry.variety.coefficient_map import CoefficientMap, Terms
from agattn.limits import limits

IntArray: TypeAlias = NDArray[np.int64]

#: Terms times points that are held at a time.
_CHUNK = 4_000_000
#: Exchanges of parameters that are tried as symmetries.
_MOST_EXCHANGES = 3000


class MapArrays:
    """The polynomials f_1, ..., f_N of a map, its gradings and the permutations that it allows.

    Attributes:
        affine: whether no weight makes the image a cone. Then there is one more coordinate y_0 = 1 in front:
            forms in y_0, ..., y_N are the polynomials of bounded degree in y_1, ..., y_N.
        coordinates: how many there are, with y_0.
        labels: numbers k of coordinates whose f_k are a basis of the span of all, in increasing order.
        linear: the linear relations of all coordinates, as forms in their numbers k.
        terms: those of the f_k for the labels; nothing below concerns the others.
        weights: a basis over ℚ of the weights, one in each column, (parameters, anything).
        degrees: the multidegrees, one in each row; the last one is the degree in y.
        architecture: whose parameters these are.
    """

    def __init__(self, source: CoefficientMap) -> None:
        self.architecture = source.architecture
        self.random = np.random.default_rng(limits().seed)
        self._variables, self._parameters = source.ring.variables, len(source.ring)
        every = [Terms(exponents.astype(np.int64), numbers) for exponents, numbers in source.terms]
        self.terms = [f for f in every if f.coefficients]
        self.weights = self._weights()
        found = self._degrees()
        self.affine = bool(self.terms) and not _spans_one(found)
        one = Terms(np.zeros((1, self._parameters), dtype=np.int64), [flint.fmpq(1)])
        every = [one] * self.affine + every
        self.coordinates = len(every)
        # Coefficients in X are a basis of their span, without constants; outputs of a map without X are not.
        with_inputs = any(where.exponents for where in source.coordinates)
        places, relations = ([*range(len(every))], []) if with_inputs else _linear_relations(every)
        first = 0 if self.affine else 1
        self.labels = [place + first for place in places]
        self.linear: list[dict[tuple[int, ...], int]] = [
            {(place + first,): x for place, x in relation.items()} for relation in relations
        ]
        self.terms = [every[place] for place in places]
        found = self._degrees()
        self.degrees = np.column_stack([found, np.ones(len(found), dtype=np.int64)])

    def __len__(self) -> int:
        return len(self.terms)

    def _weights(self) -> IntArray:
        """Integer weights that span all that make every polynomial homogeneous; checked exactly."""
        parts = [exponents[1:] - exponents[0] for exponents, _ in self.terms if len(exponents) > 1]
        every = np.concatenate([np.zeros((0, self._parameters), dtype=np.int64), *parts])
        rows = every[np.unique(_hashed(every), return_index=True)[1]]
        while True:
            p = random_prime(self.random)
            space = RowSpace(self._parameters, p)
            space.add(rows % p)
            chosen = flint.fmpq_mat(
                flint.fmpz_mat(space.rank, self._parameters, rows[space.rows].ravel().tolist())
            )
            basis = kernel_basis(chosen)
            if not basis:
                return np.zeros((self._parameters, 0), dtype=np.int64)
            whole = saturate(flint.fmpz_mat(flint.fmpq_mat(basis).numer_denom()[0])).lll()
            weights = np.array([[int(x) for x in row] for row in whole.tolist()], dtype=np.int64).T
            if not (every @ weights).any():
                return weights
            rows = every

    def _degrees(self) -> IntArray:
        """The degrees of the polynomials, in a short basis of the gradings that differ."""
        exponents = np.array([exponents[0] for exponents, _ in self.terms], dtype=np.int64)
        full = exponents.reshape(-1, self._parameters) @ self.weights
        rows = echelon(flint.fmpq_mat(flint.fmpz_mat(full.tolist())))[1] if full.size else []
        if not rows:
            return np.zeros((len(self.terms), 0), dtype=np.int64)
        chosen = flint.fmpz_mat([[int(x) for x in full.T[row]] for row in rows])
        short = saturate(chosen).lll().tolist()
        signs = [1 if sum(map(int, row)) >= 0 else -1 for row in short]
        return np.array(
            [[s * int(x) for x in row] for s, row in zip(signs, short, strict=True)], dtype=np.int64
        ).T

    def slice(self) -> tuple[PolynomialRing, list[Polynomial]]:
        """The polynomials with as many parameters set to 0 and 1 as the torus and the known symmetries allow.

        A form that is homogeneous in the multidegree vanishes on the image if and only if it vanishes there:
        where the tangent vectors of the orbits span the directions of the parameters that are set, the orbits
        of the slice are dense. Their rank is found at one point modulo a prime, and so is no smaller over ℚ.
        """
        p = random_prime(self.random)
        theta = self.random.integers(1, p, size=self._parameters)
        fixed: dict[int, int] = {}
        for block in self._unit_blocks():
            if not block.keys() & fixed.keys() and self._rank(theta, fixed | block, p) == len(fixed | block):
                fixed |= block
        torus = np.remainder(self.weights.T, p).astype(float)
        free = [v for v in range(self._parameters) if v not in fixed]
        ones = [free[place] for place in nonzero_minor(torus[:, free], p).columns] if torus.size else []
        for v in ones:
            if self._rank(theta, fixed | {v: 1}, p) == len(fixed) + 1:
                fixed[v] = 1
        kept = [v for v in range(self._parameters) if v not in fixed]
        zero = [v for v, x in fixed.items() if not x]
        ring = PolynomialRing([self._variables[v] for v in kept])
        sliced = []
        for exponents, coefficients in self.terms:
            terms: dict[tuple[int, ...], Any] = {}
            left = (exponents[:, zero].sum(axis=1) == 0).tolist()
            for key, x, stays in zip(
                map(tuple, exponents[:, kept].tolist()), coefficients, left, strict=True
            ):
                if stays:
                    terms[key] = terms.get(key, 0) + x
            sliced.append(ring.from_terms(terms))
        return ring, sliced

    def _unit_blocks(self) -> Iterator[dict[int, int]]:
        """Square blocks of parameters on which a known symmetry acts from one side, as unit matrices."""
        numbers = as_parameters(self.architecture, np.arange(self._parameters))
        for symmetry in self.architecture.symmetries:
            for acted in symmetry.on:
                if acted.axis is not None and not symmetry.is_orthogonal:
                    part = np.moveaxis(numbers[acted.parameter][acted.index], acted.axis, 0)
                    columns = part.reshape(len(part), -1).T[: len(part)]
                    if len(columns) == len(part):
                        yield {int(v): int(i == j) for (i, j), v in np.ndenumerate(columns)}

    def _rank(self, theta: IntArray, fixed: dict[int, int], p: int) -> int:
        """The rank of the tangent vectors of orbits in the directions of the fixed parameters."""
        point = theta.copy()
        point[list(fixed)] = list(fixed.values())
        arrays = as_parameters(self.architecture, point.astype(float))
        rows = np.concatenate(
            [
                symmetry_tangents(self.architecture, arrays, p),
                hadamard(np.remainder(self.weights.T, p).astype(float), point.astype(float), p),
            ]
        )[:, list(fixed)]
        return nonzero_minor(rows, p).rank if rows.size else 0

    @cached_property
    def _factors(self) -> tuple[IntArray, IntArray]:
        """The parameters of all terms, filled up with a parameter 1; and the places where each f_k starts."""
        width = max((int(exponents.sum(axis=1).max()) for exponents, _ in self.terms), default=0)
        parts = [np.zeros((0, width), dtype=np.int64)]
        for exponents, _ in self.terms:
            rows, columns = exponents.nonzero()
            powers = exponents[rows, columns]
            rows, columns = np.repeat(rows, powers), np.repeat(columns, powers)
            parts.append(np.full((len(exponents), width), self._parameters))
            parts[-1][rows, np.arange(len(rows)) - np.searchsorted(rows, rows)] = columns
        return np.concatenate(parts), np.cumsum([0, *map(len, parts[1:])])

    @cached_property
    def numbers(self) -> tuple[list[Fraction], IntArray]:
        """The absolute values of coefficients, and for each term ±k: the k-th of these, or minus it."""
        places: dict[tuple[int, int], int] = {}
        of_terms = [
            places.setdefault((abs(int(x.p)), int(x.q)), len(places) + 1) * (1 if x > 0 else -1)
            for _, coefficients in self.terms
            for x in coefficients
        ]
        return [Fraction(*number) for number in places], np.array(of_terms, dtype=np.int64)

    def _coefficients(self, p: int) -> IntArray:
        """Those of all terms modulo p."""
        numbers, of_terms = self.numbers
        if any(x.denominator % p == 0 for x in numbers):
            raise ZeroDivisionError(f"{p} divides a denominator")
        residues = [0, *(x.numerator * pow(x.denominator, -1, p) % p for x in numbers)]
        return np.array(residues, dtype=np.int64)[abs(of_terms)] * np.sign(of_terms) % p

    def values(self, theta: IntArray, p: int) -> IntArray:
        """The f_k modulo a prime p < 2³⁰ at parameters, (parameters, n), as (N, n).

        Raises:
            ZeroDivisionError: if p divides a denominator.
        """
        places, starts = self._factors
        padded, scales = np.pad(theta, ((0, 1), (0, 0)), constant_values=1), self._coefficients(p)
        out = np.zeros((len(self.terms), theta.shape[1]), dtype=np.int64)
        step = max(1, _CHUNK // max(1, theta.shape[1]))
        first = 0
        while first < len(self.terms):
            last = max(first + 1, int(np.searchsorted(starts, starts[first] + step, side="right")) - 1)
            part = slice(int(starts[first]), int(starts[last]))
            terms = products_of_rows(places[part], padded, p) * scales[part, None] % p
            at = starts[first:last] - starts[first]
            out[first:last] = np.add.reduceat(terms, at, axis=0) % p
            first = last
        return out

    def jacobian(self, theta: IntArray, p: int) -> IntArray:
        """The derivatives of the f_k modulo a prime p < 2³⁰ at one point, (N, parameters).

        Raises:
            ZeroDivisionError: if p divides a denominator.
        """
        places, starts = self._factors
        padded, scales = np.append(theta, 1), self._coefficients(p)
        of = np.repeat(np.arange(len(self.terms)), np.diff(starts))
        out = np.zeros((len(self.terms), self._parameters + 1), dtype=np.int64)
        # The derivative of a product: each factor once left out, between the products before and after it.
        before = [scales]
        for column in places.T[:-1]:
            before.append(before[-1] * padded[column] % p)
        after = np.ones_like(scales)
        for column, first in zip(places.T[::-1], reversed(before), strict=False):
            np.add.at(out, (of, column), first * after % p)
            after = after * padded[column] % p
        return out[:, :-1] % p

    def points(self, p: int, count: int) -> IntArray:
        """The coordinates of random points of the image modulo p, (N, count)."""
        return self.values(self.random.integers(p, size=(self._parameters, count)), p)

    def permutations(self) -> list[tuple[IntArray, IntArray]]:
        """Permutations π of the coordinates and signs ε with f_k(σθ) = ε_k·f_π(k)(θ), for exchanges σ.

        Those σ are tried that exchange two neighbouring indices along some axes of the parameters of one
        size; they are found by values at random points, and then verified term by term.
        """
        p = random_prime(self.random)
        exchanges = list(self._exchanges())
        theta = self.random.integers(1, p, size=(self._parameters, 2))
        tried = np.concatenate([theta[order] for order in [np.arange(self._parameters), *exchanges]], axis=1)
        values = self.values(tried, p).reshape(len(self), len(exchanges) + 1, 2)
        signed = np.where(values[:, :, :1] > p // 2, p - values, values) % p
        codes = signed[:, :, 0] * (1 << 31) + signed[:, :, 1]
        order = np.argsort(codes[:, 0], kind="stable")
        own = codes[order, 0]
        found: dict[bytes, tuple[IntArray, IntArray]] = {}
        if len(np.unique(own)) < len(own):
            return []  # two coordinates agree up to sign
        for number, exchange in enumerate(exchanges, 1):
            at = np.minimum(np.searchsorted(own, codes[:, number]), len(own) - 1)
            image = order[at]
            if (own[at] != codes[:, number]).any() or len(np.unique(image)) < len(image):
                continue
            signs = np.where((values[image, 0] == values[:, number]).all(axis=1), 1, -1)
            key = image.tobytes()
            if (
                (image != np.arange(len(image))).any()
                and key not in found
                and self._allows(exchange, image, signs)
            ):
                found[key] = image, signs
        return list(found.values())

    def _exchanges(self) -> Iterator[IntArray]:
        """Exchanges of two neighbouring indices along axes of one size, few axes at a time first."""
        numbers = as_parameters(self.architecture, np.arange(self._parameters))
        axes: dict[int, list[tuple[str, int]]] = {}
        for name, shape in self.architecture.shapes.items():
            for axis, size in enumerate(shape):
                if size > 1:
                    axes.setdefault(size, []).append((name, axis))
        tried = 0
        for together in range(1, 1 + max(map(len, axes.values()), default=0)):
            for size, places in axes.items():
                for chosen in combinations(places, together):
                    if (tried := tried + size - 1) > _MOST_EXCHANGES:
                        return
                    for i in range(size - 1):
                        order = list(range(size))
                        order[i], order[i + 1] = i + 1, i
                        moved = dict(numbers)
                        for name, axis in chosen:
                            moved[name] = moved[name].take(order, axis=axis)
                        yield np.concatenate([moved[name].ravel() for name in moved])

    def _allows(self, exchange: IntArray, image: IntArray, signs: IntArray) -> bool:
        """Whether f_k(θ_exchange) is ε_k·f_π(k)(θ), term by term."""
        return np.array_equal(self._own, self._in_order(exchange, image, signs))

    @cached_property
    def _own(self) -> IntArray:
        every = np.arange(len(self))
        return self._in_order(np.arange(self._parameters), every, np.ones_like(every))

    def _in_order(self, exchange: IntArray, image: IntArray, signs: IntArray) -> IntArray:
        """The terms of all ε_k·f_k with exchanged parameters: π(k), the coefficient, and the parameters."""
        places, starts = self._factors
        of = np.repeat(np.arange(len(self)), np.diff(starts))
        rows = np.column_stack(
            [
                image[of],
                signs[of] * self.numbers[1],
                np.sort(np.append(exchange, self._parameters)[places], axis=1),
            ]
        )
        return rows[np.argsort(_hashed(rows))]


def _hashed(rows: IntArray) -> IntArray:
    """A number for each row, the same for equal rows, and hardly ever for others."""
    hashing = np.random.default_rng(0)
    return rows @ hashing.integers(1 << 62, size=rows.shape[1])


def products_of_rows(places: IntArray, values: IntArray, p: int) -> IntArray:
    """For each row of ``places`` the product of these rows of ``values``, residues modulo p < 2³¹."""
    if not places.size:
        return np.ones((len(places), values.shape[1]), dtype=np.int64)
    first, *others = places.T
    result: IntArray = values[first]
    for column in others:
        result *= values[column]
        # x mod p = x − ⌊x/p⌋·p: numpy divides by one number twice as fast as it finds remainders.
        result -= result // p * p
    return result


def _linear_relations(polynomials: Sequence[Terms]) -> tuple[list[int], list[dict[int, int]]]:
    """Polynomials that are no combinations of those before them, and all relations over ℤ."""
    vectors = [dict(zip(map(bytes, exponents), numbers, strict=True)) for exponents, numbers in polynomials]
    matrix = sparse_rows(vectors, flint.fmpq_mat).transpose()
    if len(independent_columns(matrix.numer_denom()[0])) == len(polynomials):
        return list(range(len(polynomials))), []
    relations = [{place: x for place, x in enumerate(v) if x} for v in integer_kernel(matrix)]
    return echelon(matrix)[1], relations


def _spans_one(degrees: IntArray) -> bool:
    """Whether some combination of the degrees is 1 for every coordinate."""
    more = np.column_stack([degrees, np.ones(len(degrees), dtype=np.int64)])
    return bool(flint.fmpz_mat(degrees.tolist()).rank() == flint.fmpz_mat(more.tolist()).rank())
