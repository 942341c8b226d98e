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
from functools import cache, cached_property
from itertools import accumulate, islice, pairwise
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
from agattn.algebra.residues import RowSpace, hadamard, random_prime
from agattn.architectures.protocol import as_parameters, symmetry_tangents
from agattn.geometry.variety.coefficient_map import CoefficientMap, Terms
from agattn.limits import limits

IntArray: TypeAlias = NDArray[np.int64]

#: Terms times points that are held at a time.
_CHUNK = 4_000_000
#: Matrices with more entries than this are eliminated by products of blocks, smaller ones by FLINT.
_SMALL = 20_000
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
        exponents, coefficients: of the terms of the f_k for the labels, one f_k after the other; nothing
            below concerns the others.
        starts: the place of the first term of each f_k, and the number of all terms.
        of: for each term the place of its f_k among the labels.
        numbers: the absolute values of coefficients.
        signed: for each term ±k: its coefficient is the k-th of the numbers, or minus it.
        weights: a basis over ℚ of the weights, one in each column, (parameters, anything).
        degrees: the multidegrees, one in each row; the last one is the degree in y.
        prime: for all ranks modulo a prime.
        architecture: whose parameters these are.
    """

    def __init__(self, source: CoefficientMap) -> None:
        self.architecture = source.architecture
        self.random = np.random.default_rng(limits().seed)
        self._variables, self._parameters = source.ring.variables, len(source.ring)
        every = [Terms(exponents.astype(np.int64), numbers) for exponents, numbers in source.terms]
        present = [f for f in every if f.coefficients]
        self._set_terms(present)
        self.prime = self.new_prime()
        self.weights = self._weights()
        self.degrees, is_cone = self._grading()
        self.affine = bool(present) and not is_cone
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
        if self.affine or len(places) < len(present):
            self._set_terms([every[place] for place in places])
            self.degrees, _ = self._grading()

    def _set_terms(self, polynomials: Sequence[Terms]) -> None:
        none = np.zeros((0, self._parameters), dtype=np.int64)
        self.exponents: IntArray = np.concatenate([none, *(exponents for exponents, _ in polynomials)])
        self.coefficients = [x for _, coefficients in polynomials for x in coefficients]
        sizes = [len(coefficients) for _, coefficients in polynomials]
        self.starts = np.array([0, *accumulate(sizes)], dtype=np.int64)
        self.of: IntArray = np.arange(len(sizes)).repeat(sizes)
        places: dict[tuple[int, int], int] = {}
        of_terms = [
            places.setdefault((abs(int(x.p)), int(x.q)), len(places) + 1) * (1 if x > 0 else -1)
            for x in self.coefficients
        ]
        self.numbers = [Fraction(*number) for number in places]
        self.signed = np.array(of_terms, dtype=np.int64)
        self._residues: dict[int, IntArray] = {}

    def __len__(self) -> int:
        return len(self.starts) - 1

    def new_prime(self) -> int:
        """A random prime p < 2³⁰ that divides no denominator of a coefficient."""
        while True:
            p = random_prime(self.random)
            if all(x.denominator % p for x in self.numbers):
                return p

    def _weights(self) -> IntArray:
        """Integer weights that span all that make every polynomial homogeneous; checked exactly."""
        every = self.exponents[self.starts[self.of]]
        np.subtract(self.exponents, every, out=every)
        rows, p = every[np.unique(_hashed(every), return_index=True)[1]], self.prime
        while True:
            chosen = rows[pivot_columns(rows.T % p, p)]
            basis = kernel_basis(flint.fmpq_mat(_integers(chosen)))
            if not basis:
                return np.zeros((self._parameters, 0), dtype=np.int64)
            whole = saturate(flint.fmpz_mat(flint.fmpq_mat(basis).numer_denom()[0])).lll()
            weights = np.array([[int(x) for x in row] for row in whole.tolist()], dtype=np.int64).T
            if not (every @ weights).any():
                return weights
            rows, p = every, self.new_prime()

    def _grading(self) -> tuple[IntArray, bool]:
        """The degrees of the polynomials in a short basis of the gradings that differ, and 1 for each.

        The second value says whether some combination of the gradings is 1 for each.
        """
        ones = np.ones((len(self), 1), dtype=np.int64)
        full = np.concatenate([self.exponents[self.starts[:-1]] @ self.weights, ones], axis=1)
        columns = echelon(flint.fmpq_mat(_integers(full)))[1]
        rows = [column for column in columns if column < len(self.weights.T)]
        if not rows:
            return ones, not columns
        short = saturate(_integers(full.T[rows])).lll().tolist()
        degrees = np.array([[int(x) for x in row] for row in short], dtype=np.int64).T
        degrees *= np.where(degrees.sum(axis=0) >= 0, 1, -1)
        return np.concatenate([degrees, ones], axis=1), len(rows) == len(columns)

    def slice(self) -> tuple[PolynomialRing, list[Polynomial]]:
        """The polynomials with as many parameters set to 0 and 1 as the torus and the known symmetries allow.

        A form that is homogeneous in the multidegree vanishes on the image if and only if it vanishes there:
        where the tangent vectors of the orbits span the directions of the parameters that are set, the orbits
        of the slice are dense. Their rank is found at one point modulo a prime, and so is no smaller over ℚ.
        """
        p = self.prime
        theta = self.random.integers(1, p, size=self._parameters)
        fixed: dict[int, int] = {}

        def fix(block: dict[int, int]) -> None:
            together = fixed | block
            if not block.keys() & fixed.keys() and self._rank(theta, together, p) == len(together):
                fixed.update(block)

        for block in self._unit_blocks():
            fix(block)
        torus = self.weights.T % p
        free = [v for v in range(self._parameters) if v not in fixed]
        ones = [free[place] for place in pivot_columns(torus[:, free], p)]
        fix(dict.fromkeys(ones, 1))
        for v in ones:  # one by one where not all can be set
            fix({v: 1})
        kept = [v for v in range(self._parameters) if v not in fixed]
        zero = [v for v, x in fixed.items() if not x]
        ring = PolynomialRing([self._variables[v] for v in kept])
        keys = list(map(tuple, self.exponents[:, kept].tolist()))
        stay = (self.exponents[:, zero].sum(axis=1) == 0).tolist()
        sliced = []
        for start, stop in pairwise(self.starts.tolist()):
            terms: dict[tuple[int, ...], Any] = {}
            for term in range(start, stop):
                if stay[term]:
                    terms[keys[term]] = terms.get(keys[term], 0) + self.coefficients[term]
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
        return len(pivot_columns(rows, p))

    @cached_property
    def _factors(self) -> IntArray:
        """The parameters of all terms, filled up with a parameter 1."""
        exponents = self.exponents
        rows, columns = exponents.nonzero()
        powers = exponents[rows, columns]
        rows, columns = rows.repeat(powers), columns.repeat(powers)
        factors = np.full((len(exponents), int(exponents.sum(axis=1).max(initial=0))), self._parameters)
        factors[rows, np.arange(len(rows)) - rows.searchsorted(rows)] = columns
        return factors

    def leading(self, generator: np.random.Generator) -> IntArray:
        """The leading exponents of the polynomials in a random order of monomials, ties broken by lex."""
        weights = generator.integers(1, 1 << 30, size=self._parameters)
        order = np.lexsort((*self.exponents.T, self.exponents @ weights, self.of))
        return self.exponents[order[self.starts[1:] - 1]]

    def _coefficients(self, p: int) -> IntArray:
        """Those of all terms modulo p."""
        if p not in self._residues:
            if any(x.denominator % p == 0 for x in self.numbers):
                raise ZeroDivisionError(f"{p} divides a denominator")
            residues = [0, *(x.numerator * pow(x.denominator, -1, p) % p for x in self.numbers)]
            of_terms = np.array(residues, dtype=np.int64)[abs(self.signed)]
            self._residues[p] = of_terms * np.sign(self.signed) % p
        return self._residues[p]

    def values(self, theta: IntArray, p: int) -> IntArray:
        """The f_k modulo a prime p < 2³⁰ at parameters, (parameters, n), as (N, n).

        Raises:
            ZeroDivisionError: if p divides a denominator.
        """
        places, starts = self._factors, self.starts
        padded, scales = np.concatenate([theta, np.ones_like(theta[:1])]), self._coefficients(p)
        out = np.zeros((len(self), theta.shape[1]), dtype=np.int64)
        step = max(1, _CHUNK // max(1, theta.shape[1]))
        first = 0
        while first < len(self):
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
        places, padded, scales = self._factors, np.append(theta, 1), self._coefficients(p)
        out = np.zeros((len(self), self._parameters + 1), dtype=np.int64)
        # The derivative of a product: each factor once left out, between the products before and after it.
        before = [scales]
        for column in places.T[:-1]:
            before.append(before[-1] * padded[column] % p)
        after = np.ones_like(scales)
        for column, first in zip(places.T[::-1], reversed(before), strict=False):
            np.add.at(out, (self.of, column), first * after % p)
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
        p, own = self.prime, np.arange(self._parameters)
        orders = np.concatenate([own[None], *self._exchanges()])
        theta = self.random.integers(1, p, size=(self._parameters, 2))
        tried = theta[orders].swapaxes(0, 1).reshape(self._parameters, -1)
        values = self.values(tried, p).reshape(len(self), len(orders), 2)
        signed = np.where(values[:, :, :1] > p // 2, p - values, values) % p
        codes = signed[:, :, 0] * (1 << 31) + signed[:, :, 1]
        order = np.argsort(codes[:, 0], kind="stable")
        increasing, others = codes[order, 0], codes[:, 1:]
        if (increasing[1:] == increasing[:-1]).any():
            return []  # two coordinates agree up to sign
        at = np.minimum(increasing.searchsorted(others), len(self) - 1)
        images, unmoved = order[at], np.arange(len(self))[:, None]
        fit = (increasing[at] == others) & (np.sort(images, axis=0) == unmoved)
        found: dict[bytes, tuple[IntArray, IntArray]] = {}
        for number in np.flatnonzero(fit.all(axis=0) & (images != unmoved).any(axis=0)).tolist():
            image = images[:, number]
            signs = np.where((values[image, 0] == values[:, number + 1]).all(axis=1), 1, -1)
            key = image.tobytes()
            if key not in found and self._allows(orders[number + 1], image, signs):
                found[key] = image, signs
        return list(found.values())

    def _exchanges(self) -> Iterator[IntArray]:
        """Exchanges of two neighbouring indices along axes of one size, in rows, few axes at a time first."""
        numbers = as_parameters(self.architecture, np.arange(self._parameters))
        of_size: dict[int, list[list[IntArray]]] = {}
        for name, shape in self.architecture.shapes.items():
            for axis, size in enumerate(shape):
                along = [np.arange(self._parameters) for _ in range(size - 1)]
                for i, order in enumerate(along):
                    order[numbers[name].take([i, i + 1], axis)] = numbers[name].take([i + 1, i], axis)
                if along:
                    of_size.setdefault(size, []).append(along)
        single = {size: np.array(axes) for size, axes in of_size.items()}
        # For choices of as many axes the last axis of each, and the exchanges along them.
        chosen = {size: (tuple(range(len(orders))), orders) for size, orders in single.items()}
        left = _MOST_EXCHANGES
        while chosen:
            further = {}
            for size, (last, orders) in chosen.items():
                room = left // (size - 1)
                yield orders[:room].reshape(-1, self._parameters)
                if len(orders) > room:
                    return
                left -= (size - 1) * len(orders)
                axes = range(len(single[size]))
                pairs = ((n, axis) for n, own in enumerate(last) for axis in axes[own + 1 :])
                if more := list(islice(pairs, room + 1)):
                    before, last = zip(*more, strict=True)
                    both = np.take_along_axis(orders[list(before)], single[size][list(last)], axis=2)
                    further[size] = last, both
            chosen = further

    def _allows(self, exchange: IntArray, image: IntArray, signs: IntArray) -> bool:
        """Whether f_k(θ_exchange) is ε_k·f_π(k)(θ), term by term."""
        return np.array_equal(self._own, self._in_order(exchange, image, signs))

    @cached_property
    def _own(self) -> IntArray:
        every = np.arange(len(self))
        return self._in_order(np.arange(self._parameters), every, np.ones_like(every))

    def _in_order(self, exchange: IntArray, image: IntArray, signs: IntArray) -> IntArray:
        """The terms of all ε_k·f_k with exchanged parameters: π(k), the coefficient, and the parameters."""
        parameters = np.append(exchange, self._parameters)[self._factors]
        parameters.sort(axis=1)
        rows = np.column_stack([image[self.of], signs[self.of] * self.signed, parameters])
        return rows[np.argsort(_hashed(rows))]


def _hashed(rows: IntArray) -> IntArray:
    """A number for each row, the same for equal rows, and hardly ever for others."""
    return rows @ _multipliers(rows.shape[1])


@cache
def _multipliers(size: int) -> IntArray:
    return np.random.default_rng(0).integers(1 << 62, size=size)


def pivot_columns(matrix: Any, p: int) -> IntArray:
    """The columns of residues that are no combinations of those before them: as many as the rank.

    >>> pivot_columns(np.array([[1, 2, 0], [2, 4, 1]]), 8388593)
    array([0, 2])
    """
    if matrix.size > _SMALL:
        space = RowSpace(matrix.shape[1], p)
        space.add(matrix)
        return np.array(sorted(space.columns), dtype=np.int64)
    return np.array(_small_echelon(matrix, p)[1], dtype=np.int64)


def pivots_and_rest(matrix: Any, p: int) -> tuple[IntArray, ...]:
    """The :func:`pivot_columns`, the other columns, and for each of these how it is a combination of pivots.

    >>> pivots_and_rest(np.array([[1, 2, 0], [2, 4, 1]]), 8388593)
    (array([0, 2]), array([1]), array([[2, 0]]))
    """
    n = matrix.shape[1]
    if matrix.size > _SMALL:
        space = RowSpace(n, p)
        space.add(matrix)
        pivots = np.array(sorted(space.columns), dtype=np.int64)
        basis = space.basis()[np.argsort(space.columns)]
    else:
        reduced, columns = _small_echelon(matrix, p)
        pivots = np.array(columns, dtype=np.int64)
        basis = np.array([*map(int, reduced.entries()[: n * len(columns)])]).reshape(-1, n)
    is_free = np.ones(n, dtype=bool)
    is_free[pivots] = False
    rest = is_free.nonzero()[0]
    return pivots, rest, basis[:, rest].astype(np.int64).T


def _small_echelon(matrix: Any, p: int) -> tuple[flint.nmod_mat, list[int]]:
    return echelon(flint.nmod_mat(_integers(matrix), p))  # FLINT takes integers faster than residues


def _integers(matrix: Any) -> flint.fmpz_mat:
    m, n = matrix.shape
    return flint.fmpz_mat(m, n, matrix.astype(np.int64, copy=False).ravel().tolist())


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
