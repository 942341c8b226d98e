"""Ideals by their Gröbner bases: Hilbert series, dimension and degree, and minimal generators.

An ideal and its initial ideal, for an order that goes by degree first, have the same Hilbert function, and so
the same dimension and degree.

>>> series = hilbert_series([(1, 1), (2, 0), (0, 3)], 2)  # (xy, x², y³)
>>> series.dimension, series.degree, series.values(3)
(0, 4, (1, 2, 1, 0))

Gradings under which a formula is homogeneous, found by following one monomial of each of its scalars.

Evaluated at the variables as :class:`Monomial`, a formula of sums and products gives for every scalar the
exponents of one of its monomials, and notes for every sum the difference of two exponents. Weights of the
variables that are 0 on all these differences make every scalar that occurs homogeneous, and so the result:
nothing is expanded, and nothing is random. (Where terms cancel there may be more such weights.)

>>> relations = set()
>>> x, y, z = (Monomial({i: 1}, relations) for i in range(3))
>>> f = x * x * y + 3 * z * z
>>> f.exponents, [sorted(relation) for relation in relations]
({0: 2, 1: 1}, [[(0, -2), (1, -1), (2, 2)]])
>>> int(homogeneous_weights(relations, 3, np.random.default_rng(0)) @ [2, 1, -2])
0
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import comb, lcm
from typing import Any

import flint
import numpy as np

from agattn.algebra.echelon import echelon, integer_kernel, kernel_basis, primitive, sparse_rows
from agattn.algebra.polynomial import Exponents, Polynomial
from agattn.algebra.residues import (
    RowSpace,
    matmul,
    random_prime,
    rational_number,
    residues,
)

Relation = frozenset[tuple[int, int]]


class Monomial:
    """A scalar of a formula: the exponents of one of its monomials, by the number of the variable.

    ``relations`` collects the differences of the exponents of what is added. A number is the monomial 1;
    0 has none.
    """

    __slots__ = ("exponents", "relations")

    def __init__(self, exponents: dict[int, int], relations: set[Relation]) -> None:
        self.exponents, self.relations = exponents, relations

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Monomial):
            return self if other else 0
        product = dict(self.exponents)
        for variable, exponent in other.exponents.items():
            product[variable] = product.get(variable, 0) + exponent
        return Monomial(product, self.relations)

    def __add__(self, other: Any) -> Monomial:
        if isinstance(other, Monomial):
            added = other.exponents
        elif other:
            added = {}
        else:
            return self
        if added != self.exponents:
            both = {v: added.get(v, 0) - self.exponents.get(v, 0) for v in {**added, **self.exponents}}
            self.relations.add(frozenset((v, e) for v, e in both.items() if e))
        return self

    def __pow__(self, exponent: int) -> Any:
        if not exponent:
            return 1
        return Monomial({v: exponent * e for v, e in self.exponents.items()}, self.relations)

    def __neg__(self) -> Monomial:
        return self

    def __truediv__(self, number: Any) -> Monomial:
        return self

    __rmul__, __radd__, __sub__, __rsub__ = __mul__, __add__, __add__, __add__


def homogeneous_weights(
    relations: AbstractSet[Relation], variables: int, generator: np.random.Generator
) -> np.ndarray:
    """General integer weights of the variables that are 0 on all relations, (variables,), as int64.

    They are zero where none that are small enough were found; what is returned is checked exactly.
    """
    p = random_prime(generator)
    rows = np.zeros((len(relations), variables))
    for row, relation in zip(rows, sorted(map(sorted, relations)), strict=True):
        for variable, exponent in relation:
            row[variable] = exponent % p
    space = RowSpace(variables, p)
    space.add(rows)
    kernel = space.kernel()
    fractions = {r: rational_number(int(r), p) for r in np.unique(kernel)}
    scale = lcm(*(x.denominator for x in fractions.values() if x is not None)) % p
    free = scale * generator.integers(1 << 20, size=len(kernel))
    weights: np.ndarray = matmul(residues(free[None], p), kernel, p)[0].astype(np.int64)
    weights = np.where(weights > p // 2, weights - p, weights)
    exact = weights.tolist()
    if not any(sum(exponent * exact[v] for v, exponent in relation) for relation in relations):
        return weights
    return np.zeros(variables, dtype=np.int64)


#: Steps from the weights nearest to 1, ..., 1 to positive ones.
_STEPS = 1000


def positive_grading(polynomials: Iterable[Polynomial]) -> tuple[int, ...]:
    """Positive integer weights of the variables under which every polynomial is homogeneous.

    They are in the integer kernel of all differences of exponents: 1, ..., 1 if that is, and otherwise the
    vector nearest to it, to which the projections of units are added where it is not positive.

    Args:
        polynomials: from one ring, at least one.

    Returns:
        A weight for each variable; none if the search ended without, where almost surely there are none.

    >>> from agattn.algebra.polynomial import PolynomialRing
    >>> x, y = PolynomialRing(["x", "y"]).gens
    >>> positive_grading([x * y, x**2 + 3 * y**2]), positive_grading([x**2 + y]), positive_grading([x + 1])
    ((1, 1), (1, 2), ())
    """
    gram = _differences(list(polynomials))
    n = gram.nrows()
    if not any((gram * flint.fmpq_mat(n, 1, [1] * n)).entries()):
        return (1,) * n
    if not (basis := kernel_basis(gram)):
        return ()
    K = flint.fmpq_mat(basis)
    projection = K.transpose() * (K * K.transpose()).inv() * K
    weights = flint.fmpq_mat(n, 1)
    raised = [1] * n
    for _ in range(_STEPS):
        weights += projection * flint.fmpq_mat(n, 1, raised)
        raised = [int(x <= 0) for x in weights.entries()]
        if not any(raised):
            return tuple(primitive(weights.entries()))
    return ()


def _differences(polynomials: Sequence[Polynomial]) -> flint.fmpq_mat:
    """A matrix whose kernel is orthogonal to all differences of exponents in each of some polynomials."""
    n = len(polynomials[0].ring)
    gram = np.zeros((n, n), dtype=object)
    for f in polynomials:
        exponents = np.array(list(f.terms), dtype=object).reshape(len(f), n)
        differences = exponents[1:] - exponents[:1]
        gram += differences.T @ differences
    return flint.fmpq_mat(n, n, gram.ravel().tolist())


Terms = dict[Exponents, Any]


@dataclass(frozen=True)
class HilbertSeries:
    """A Hilbert series N(t)/(1 − t)ⁿ.

    Attributes:
        numerator: the coefficients of N, from the constant term; none for N = 0.
        variables: n.
    """

    numerator: tuple[int, ...]
    variables: int

    @property
    def _reduced(self) -> tuple[flint.fmpz_poly, int]:
        """N without its factors 1 − t, and how many they are."""
        reduced, factor, codimension = flint.fmpz_poly(list(self.numerator)), flint.fmpz_poly([1, -1]), 0
        while reduced and reduced(1) == 0:
            reduced, codimension = reduced // factor, codimension + 1
        return reduced, codimension

    @property
    def dimension(self) -> int:
        """The dimension of the quotient ring, and of the zero set in affine space; −1 for the ideal 1."""
        return self.variables - self._reduced[1] if self.numerator else -1

    @property
    def degree(self) -> int:
        """The degree of the quotient ring: for dimension 0 its length, 0 for the ideal 1."""
        return int(self._reduced[0](1))

    def values(self, last: int) -> tuple[int, ...]:
        """The Hilbert function in degrees 0, ..., ``last``."""
        n = self.variables
        return tuple(
            sum(c * _monomials(n, degree - k) for k, c in enumerate(self.numerator[: degree + 1]))
            for degree in range(last + 1)
        )


def hilbert_series(monomials: Iterable[Exponents], variables: int) -> HilbertSeries:
    """The Hilbert series of the ring modulo an ideal of monomials, each an exponent vector.

    By the exact sequence 0 → R/(I : p)(−deg p) → R/I → R/(I + p) → 0, with p a power of a variable, until no
    two generators have a variable in common.

    >>> hilbert_series([], 3), hilbert_series([(0, 0)], 2).dimension
    (HilbertSeries(numerator=(1,), variables=3), -1)
    """
    numerator = _numerator(undivided(monomials))
    return HilbertSeries(tuple(map(int, numerator.coeffs())), variables)


def _monomials(variables: int, degree: int) -> int:
    """How many monomials of a degree there are."""
    return (
        comb(degree + variables - 1, degree) if degree >= 0 and degree + variables > 0 else int(degree == 0)
    )


def divides(one: Exponents, other: Exponents) -> bool:
    """Whether one monomial divides another.

    >>> divides((1, 0), (2, 1)), divides((1, 0), (0, 3))
    (True, False)
    """
    return all(map(int.__le__, one, other))


def undivided(monomials: Iterable[Exponents]) -> list[Exponents]:
    """The monomials that no other monomial divides: minimal generators of the ideal, by their degree.

    >>> undivided([(2, 1), (1, 0), (0, 3), (1, 0)])
    [(1, 0), (0, 3)]
    """
    kept: list[Exponents] = []
    for new in sorted(set(monomials), key=sum):
        if not any(divides(old, new) for old in kept):
            kept.append(new)
    return kept


def _numerator(monomials: Sequence[Exponents]) -> flint.fmpz_poly:
    """The numerator of the Hilbert series of an ideal with these minimal generators."""
    used = [sum(map(bool, exponents)) for exponents in zip(*monomials, strict=True)]
    if max(used, default=0) < 2:
        product = flint.fmpz_poly([1])
        for exponents in monomials:
            product *= flint.fmpz_poly([1]) - flint.fmpz_poly([0] * sum(exponents) + [1])
        return product
    i = used.index(max(used))
    powers = sorted(exponents[i] for exponents in monomials if exponents[i])
    e = powers[(len(powers) - 1) // 2]  # less than in a generator that is a power of this variable
    power = tuple(e if j == i else 0 for j in range(len(used)))
    quotient = undivided((*m[:i], max(m[i] - e, 0), *m[i + 1 :]) for m in monomials)
    total = undivided([*monomials, power])
    return _numerator(total) + flint.fmpz_poly([0] * e + [1]) * _numerator(quotient)


def minimal_generators(
    basis: Sequence[Polynomial], degrees: Sequence[int] | None = None
) -> tuple[Polynomial, ...]:
    """Minimal generators of an ideal among polynomials that generate it, none of them 0, by their degree.

    In each degree linear algebra finds which are new. Where the polynomials are homogeneous for no degrees
    of the variables, only linear combinations of others are left out.

    Args:
        basis: the polynomials.
        degrees: of the variables, positive, for which all polynomials are homogeneous; none for polynomials
            that are taken as homogeneous for none. Degrees are found if they are not given.

    >>> from agattn.algebra.polynomial import PolynomialRing
    >>> x, y, z = PolynomialRing(["x", "y", "z"]).gens
    >>> minimal_generators([x * y, x**2 - y * z, y**2 * z]), minimal_generators([x - 1, x**2 - 1, 2 - 2 * x])
    ((x*y, x^2 - y*z), (x - 1, x^2 - 1))
    """
    if not basis:
        return ()
    if degrees is None:
        degrees = positive_grading(basis)
    groups: defaultdict[int, list[Polynomial]] = defaultdict(list)
    for polynomial in basis:
        groups[_weight([degrees], polynomial.leading_exponents)[0]].append(polynomial)
    kept: list[Polynomial] = []
    for _, new in sorted(groups.items()):
        kept += [new[n] for n in _independent(kept, new, degrees)]
    return tuple(kept)


def _by_weight(
    degrees: Sequence[int], degree: int, weights: Sequence[Sequence[int]]
) -> dict[tuple[int, ...], list[Exponents]]:
    """The monomials of a degree, by their weight."""
    monomials: list[Exponents] = [()]
    for i, d in enumerate(degrees):
        left = (degree - sum(map(int.__mul__, degrees, e)) for e in monomials)
        last = i + 1 == len(degrees)
        monomials = [
            (*e, n)
            for e, rest in zip(monomials, left, strict=True)
            for n in range(rest // d + 1)
            if not last or n * d == rest
        ]
    found: defaultdict[tuple[int, ...], list[Exponents]] = defaultdict(list)
    for exponents in monomials:
        found[_weight(weights, exponents)].append(exponents)
    return dict(found)


def _weight(weights: Iterable[Sequence[int]], exponents: Sequence[int]) -> tuple[int, ...]:
    """The weights of a monomial."""
    return tuple(sum(map(int.__mul__, row, exponents)) for row in weights)


def _independent(kept: Sequence[Polynomial], new: Sequence[Polynomial], degrees: Sequence[int]) -> list[int]:
    """The new polynomials that are no combinations of earlier ones and of multiples of those kept.

    Each is a sum of parts that have one weight, for all weights for which those kept are homogeneous. What
    the parts of one weight are modulo multiples, small matrices tell.
    """
    weights = [list(degrees), *integer_kernel(_differences(kept or new))]
    parts: defaultdict[tuple[int, ...], defaultdict[int, Terms]] = defaultdict(lambda: defaultdict(dict))
    for n, polynomial in enumerate(new):
        for exponents, coefficient in polynomial.terms.items():
            parts[_weight(weights, exponents)][n][exponents] = coefficient
    p = new[0].ring.characteristic
    zeros = (lambda m, n: flint.nmod_mat(m, n, p)) if p else flint.fmpq_mat
    lower = [(_weight(weights, generator.leading_exponents), generator.terms) for generator in kept]
    monomials: dict[int, dict[tuple[int, ...], list[Exponents]]] = {}
    classes: list[Terms] = [{} for _ in new]  # modulo multiples, in coordinates
    for place, of_place in parts.items():
        multiples: list[Terms] = []
        for start, terms in lower:
            rest = tuple(map(int.__sub__, place, start))
            if rest[0] not in monomials:
                monomials[rest[0]] = _by_weight(degrees, rest[0], weights)
            multiples += [
                {tuple(map(int.__add__, exponents, monomial)): c for exponents, c in terms.items()}
                for monomial in monomials[rest[0]].get(rest, ())
            ]
        reduced, pivots = echelon(sparse_rows([*multiples, *of_place.values()], zeros).transpose())
        for row in range(sum(pivot < len(multiples) for pivot in pivots), len(pivots)):
            for column, n in enumerate(of_place, len(multiples)):
                classes[n][(*place, row)] = reduced[row, column]
    return echelon(sparse_rows(classes, zeros).transpose())[1]
