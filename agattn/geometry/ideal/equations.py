r"""Equations of M̄: sparse exact polynomials in the coordinates, their modules, and all those of one torus
weight.

All equations of a given torus weight are the kernel of an integer matrix: expand every monomial of that
weight in the entries of A and V (or of K, Q and V, where the rank of A matters) and ask which combinations
cancel. The expansion is exact over ℤ, so every equation found is verified, and all are found.

GL(d')×GL(d)×GL(d) acts on the equations. Its Lie algebra acts on the coordinates as on E ⊗ F ⊗ S²U
(E ⊗ S³U for t = 1): lowering r to r + 1 in one factor takes a coordinate to the one with an index r replaced
by r + 1, times the number of indices r + 1 it then has.

>>> [equation] = equations_of_weight(SingleLayer(2, 1, 1), ((2,), (1, 1), (3, 1)))
>>> print(equation)
-y_(1,1,1,2)*y_(1,2,1,1) + y_(1,1,1,1)*y_(1,2,1,2)
>>> equations_of_weight(SingleLayer(2, 1, 2), ((2,), (1, 1), (3, 1)))
()
>>> equation.move(2, 1, 2).terms
{((1, 1, 1, 1), (1, 2, 2, 2)): 2, ((1, 1, 2, 2), (1, 2, 1, 1)): -2}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import combinations_with_replacement
from math import gcd, prod
from typing import Annotated, Any, Literal

import flint

from agattn.algebra.characters import Partition, module_dimension, module_name
from agattn.algebra.echelon import independent_columns, kernel_basis, primitive, sparse_rows
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.architectures import SingleLayer
from agattn.errors import TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.ideal.torus_weights import (
    Monomial,
    TorusWeight,
    divisors,
    generic_coordinates,
    letters,
    monomials_of_weight,
    relabeling,
    smallest_layer,
    sort_weight,
    torus_weight,
)
from agattn.geometry.variety.coordinates import Coordinate, coordinates
from agattn.sheet.data import Cell, Math, Table, Wide, tensor_product
from agattn.sheet.result import Key, Meta, Named, Positive, Result, Written, key

#: The nonzero coordinates of a point, by their indices.
Point = Mapping[Coordinate, Any]

#: The largest degree searched for gradients: that of the resultant which cuts out M(2,1,2).
MAX_DEGREE = 4

#: A module with more equations than this is not written out.
MOST_EQUATIONS = 20000


@dataclass(frozen=True, repr=False)
class Equation:
    """A homogeneous polynomial with integer coefficients in the coordinates, for layers of any size.

    ``terms`` has the coefficients by monomial, a sorted tuple of coordinates' indices, counted from 1;
    ``kind`` is the type of what the coordinates belong to, whose ``letter`` they have: of the layers, or a
    :class:`~agattn.geometry.variety.coefficient_map.CoefficientMap`, whose coordinates have one index;
    ``name`` says what the equation says, if it has a name.
    """

    terms: dict[Monomial, int] = field(hash=False)
    kind: type[Any] = field(default_factory=lambda: SingleLayer)
    name: str = field(default="", compare=False)

    @classmethod
    def from_vector(
        cls, monomials: Iterable[Monomial], vector: Sequence[Any], kind: type[SingleLayer]
    ) -> Equation:
        """The primitive equation with coefficients proportional to a vector of FLINT rationals."""
        terms = {monomial: x for monomial, x in zip(monomials, primitive(vector), strict=True) if x}
        return cls(terms, kind).primitive()

    @classmethod
    def from_polynomial(cls, polynomial: Polynomial, kind: type[Any] = SingleLayer) -> Equation:
        """The primitive multiple of a polynomial whose variables are coordinates."""
        names = [variable.indices for variable in polynomial.ring.variables]
        terms = {}
        for exponents, coefficient in polynomial.primitive().terms.items():
            pairs = zip(names, exponents, strict=True)
            terms[tuple(sorted(index for index, e in pairs for _ in range(e)))] = int(coefficient)
        return cls(terms, kind).primitive()

    @property
    def degree(self) -> int:
        """The degree; all terms have the same."""
        return len(next(iter(self.terms), ()))

    @cached_property
    def torus_weight(self) -> TorusWeight:
        """The torus weight, without zeros at the end."""
        return torus_weight(next(iter(self.terms)), self.kind.gl_degrees)

    def primitive(self) -> Equation:
        """The same equation with coprime coefficients, the first of them positive."""
        if not self.terms:
            return self
        ordered = sorted(self.terms.items())
        scale = gcd(*self.terms.values()) * (1 if ordered[0][1] > 0 else -1)
        return Equation({monomial: coefficient // scale for monomial, coefficient in ordered}, self.kind)

    def value(self, point: Point) -> Any:
        """The value at a point, in the ring of its coordinates."""
        return sum(
            coefficient * prod(point[index] for index in monomial)
            for monomial, coefficient in self.terms.items()
            if all(index in point for index in monomial)
        )

    def gradient(self, point: Point) -> dict[Coordinate, Any]:
        """The nonzero partial derivatives at a point.

        >>> [equation] = equations_of_weight(SingleLayer(2, 1, 1), ((2,), (1, 1), (3, 1)))
        >>> equation.gradient({(1, 1, 1, 2): 1})
        {(1, 2, 1, 1): -1}
        """
        result: Counter[Coordinate] = Counter()
        for monomial, coefficient in self.terms.items():
            outside = [place for place, index in enumerate(monomial) if index not in point]
            if len(outside) > 1:
                continue  # every derivative of it vanishes at the point
            for place in outside or range(len(monomial)):
                rest = monomial[:place] + monomial[place + 1 :]
                result[monomial[place]] += coefficient * prod(point[index] for index in rest)
        return {index: value for index, value in sorted(result.items()) if value}

    def move(self, factor: int, start: int, end: int) -> Equation:
        """Apply the matrix unit that sends the basis vector ``start`` to ``end`` ≠ ``start`` in one factor.

        The factors are GL(d'), for t ≥ 2 that of the columns of A, and that of the inner index. Basis vectors
        count from 1, factors from 0.
        """
        result: Counter[Monomial] = Counter()
        for monomial, coefficient in self.terms.items():
            for place, index in enumerate(monomial):
                moved, count = _moved(index, self.kind.gl_degrees, factor, start, end)
                if count:
                    key = tuple(sorted((*monomial[:place], moved, *monomial[place + 1 :])))
                    result[key] += coefficient * count
        return Equation({key: value for key, value in result.items() if value}, self.kind)

    def polynomial(self, ring: PolynomialRing | None = None) -> Polynomial:
        """The equation as a polynomial in ``ring``, by default in the coordinates that occur.

        Raises:
            KeyError: if a coordinate is missing from the ring.
        """
        letter = self.kind.letter
        if ring is None:
            ring = PolynomialRing(Variable(letter, i) for i in sorted({i for m in self.terms for i in m}))
        places = {v.indices: position for position, v in enumerate(ring.variables) if v.letter == letter}
        terms = {}
        for monomial, coefficient in self.terms.items():
            exponents = [0] * len(ring)
            for index in monomial:
                exponents[places[index]] += 1
            terms[tuple(exponents)] = coefficient
        return ring.from_terms(terms)

    def vanishes_on(self, layer: SingleLayer) -> bool:
        """Whether the equation holds on the whole neuromanifold, by exact expansion over ℤ.

        V and A are replaced by the matrices of :func:`~agattn.geometry.ideal.torus_weights.generic_point`.

        Raises:
            KeyError: if a coordinate is not one of the layer's.
        """
        values = generic_coordinates(layer)
        polynomial = self.polynomial()
        return not polynomial.compose([values[y.indices] for y in polynomial.ring.variables])

    def __str__(self) -> str:
        return str(self.polynomial())

    def __repr__(self) -> str:
        return f"{shortened(self)}  (degree {self.degree}{f', {self.name}' if self.name else ''})"

    def _repr_latex_(self) -> str:
        return f"${self.polynomial().latex()}$"

    def to_macaulay2(self) -> str:
        """The equation as Macaulay2 reads it."""
        return self.polynomial().macaulay2()

    def to_sympy(self) -> Any:
        """The equation as an expression of sympy, whose symbols are named such as ``y_1_1_1_2``."""
        return self._sympy_()

    def _sympy_(self) -> Any:
        """The expression that ``sympy.sympify`` makes of the equation."""
        return self.polynomial()._sympy_()


#: Equations with more terms are not shown in tables.
_MOST_TERMS = 12
#: What is said of highest weights in documents, and how they are written.
HIGHEST_WEIGHT = (
    "A partition for each factor of the group: λ, μ, ν of S_λ ⊗ S_μ ⊗ S_ν, and λ, ν alone for t = 1."
)
PARTITIONS = Written(Annotated[list[list[Positive]], Meta(min_length=2, max_length=3)])
#: How equations are written.
EQUATIONS = Written(list[str])
#: How evidence is written that is always ``proved``.
PROVED = Written(Literal["proved"])


def equation_cell(equation: Equation) -> Cell:
    """An equation in a table, or the number of its terms where there are many."""
    f = equation.polynomial()
    return Math(f.latex(), is_sum=True) if len(f) <= _MOST_TERMS else f"{len(f)} terms"


def shortened(equation: Equation) -> str:
    """An equation as text, or the beginning of a long one."""
    text = str(equation)
    return text if len(text) <= 1000 else f"{text[:1000]} ..."


class EquationModule(Result):
    """A module of minimal generators S_λ ⊗ S_μ ⊗ S_ν (S_λ ⊗ S_ν for t = 1) in the ideal of one layer.

    The highest weight vector is proved to vanish on the neuromanifold.

    Attributes:
        sizes: the sizes of the factors of the group, the layer's ``gl_sizes``.
    """

    shapes: Key[tuple[Partition, ...], HIGHEST_WEIGHT, Named("highest_weight"), PARTITIONS]
    sizes: tuple[int, ...]
    highest: Key[Equation, "The polynomial, with integer coefficients.", Named("equation"), Written(str)]
    name: Key[str, "What the equation says, if the equation has a name; else empty."] = ""
    family: Key[str, "The named invariants that it is one of, for d' = 1 and t ≥ 2; else empty."] = ""

    @key
    def degree(self) -> Positive:
        """The degree of the equations."""
        return self.highest.degree

    @key
    def dimension(self) -> Positive:
        """The dimension of the module that the equation generates."""
        return module_dimension(self.shapes, self.sizes)

    @key(PROVED)
    def evidence(self) -> Evidence:
        """Always `proved`: the equation was expanded on the parametrization."""
        return Evidence.PROVED

    def summary(self) -> str:
        return module_name(self.shapes)

    def row(self) -> tuple[Cell, ...]:
        """The module as a row of a table of modules."""
        weight, equation = Math(tensor_product(self.shapes)), equation_cell(self.highest)
        return (weight, self.degree, self.dimension, self.name, equation)

    def __iter__(self) -> Iterator[Equation]:
        """A basis of the module: weight vectors with coprime integer coefficients, from the highest down.

        All lowering operators are applied until the dimension given by the hook content formula is reached.

        Raises:
            TooLargeError: if there are more than :data:`MOST_EQUATIONS`.
        """
        if (dimension := self.dimension) > MOST_EQUATIONS:
            raise TooLargeError(f"{self} has {dimension} equations; at most {MOST_EQUATIONS} are written out")
        level = {self.highest.torus_weight: [self.highest.primitive()]}
        count = 0
        while level:
            below: dict[TorusWeight, list[Equation]] = {}
            for equations in level.values():
                chosen = independent(equations)
                count += len(chosen)
                yield from (replace(equation, name=self.name) for equation in chosen)
                for equation in chosen:
                    for factor, size in enumerate(self.sizes):
                        for r in range(1, size):
                            lowered = equation.move(factor, r, r + 1)
                            if lowered.terms:
                                below.setdefault(lowered.torus_weight, []).append(lowered.primitive())
            level = below
        if count != dimension:
            raise ArithmeticError(f"{self}: {count} equations found where there should be {dimension}")


def modules_table(caption: str, modules: Iterable[EquationModule]) -> Table:
    """Modules, each with its highest weight vector."""
    headings = ("module", "degree", "dimension", Wide("what it says"), "highest weight vector")
    return Table(caption, headings, tuple(module.row() for module in modules))


@cache
def _moved(
    index: Coordinate, degrees: tuple[int, ...], factor: int, start: int, end: int
) -> tuple[Coordinate, int]:
    """The coordinate with a letter ``start`` of one factor replaced by ``end``, and its factor, or 0."""
    parts = letters(index, degrees)
    if start not in parts[factor]:
        return index, 0
    moved = list(parts[factor])
    moved[moved.index(start)] = end
    parts[factor] = tuple(sorted(moved))
    return sum(parts, ()), moved.count(end)


def independent(equations: list[Equation]) -> list[Equation]:
    """The equations that are no combinations of earlier equations mod p, so independent over ℚ.

    The caller proves that no equation is lost.
    """
    if len(equations) == 1:
        return equations
    columns = sparse_rows([equation.terms for equation in equations]).transpose()
    return [equations[column] for column in independent_columns(columns)]


def relations(vectors: Sequence[Mapping[Any, int]]) -> list[list[flint.fmpq]]:
    """A basis of the linear relations over ℚ between sparse vectors."""
    return kernel_basis(flint.fmpq_mat(sparse_rows(vectors).transpose()))


def equations_of_weight(layer: SingleLayer, weight: TorusWeight) -> tuple[Equation, ...]:
    """A basis of all equations of M̄ of one torus weight.

    Restricting A and V to the letters in the weight maps M̄ onto the M̄ of those letters, and permutations
    of letters permute the equations: so the smallest layer with the dominant weight has them all.

    >>> len(equations_of_weight(SingleLayer(2, 2), ((1, 1), (1, 1), (2, 2))))
    1
    """
    dominant, orders = sort_weight(weight)
    move = relabeling(orders, layer.gl_degrees)
    found = _equations_of_dominant_weight(smallest_layer(dominant, layer), dominant)
    moved = ([(move(monomial), value) for monomial, value in equation.terms.items()] for equation in found)
    return tuple(Equation(dict(sorted(terms)), type(layer)) for terms in moved)


@cache
def _equations_of_dominant_weight(layer: SingleLayer, weight: TorusWeight) -> tuple[Equation, ...]:
    values = generic_coordinates(layer)
    monomials = monomials_of_weight(weight, layer.gl_degrees)
    images = []
    for first, *others in monomials:
        image = prod((values[index] for index in others), start=values[first])
        images.append(image.integer_terms)
    return tuple(Equation.from_vector(monomials, vector, type(layer)) for vector in relations(images))


def multiples(layer: SingleLayer, weight: TorusWeight) -> Iterator[Equation]:
    """The products of coordinates and equations of M̄ of one degree less that have one torus weight."""
    return multiples_of(partial(equations_of_weight, layer), weight, type(layer))


def multiples_of(
    equations: Callable[[TorusWeight], Iterable[Equation]], weight: TorusWeight, kind: type[SingleLayer]
) -> Iterator[Equation]:
    """The products of one torus weight of coordinates and equations of one degree less.

    ``equations`` gives the latter by their torus weight; ``kind`` is the type of the layer.
    """
    for index, rest in divisors(weight, kind.gl_degrees):
        for equation in equations(rest) if any(rest[0]) else ():
            terms = {tuple(sorted((index, *monomial))): x for monomial, x in equation.terms.items()}
            yield Equation(terms, kind)


def gradient_equations(layer: SingleLayer, point: Point, max_degree: int = MAX_DEGREE) -> Iterator[Equation]:
    """Verified equations of M̄ whose gradients at a sparse point span all gradients of the degrees searched.

    A gradient at p sees only monomials m·y_j with m a product of coordinates that are nonzero at p, so only
    the torus weights of these matter; nothing of other weights is looked at. They come in order of degree.

    ``point`` has the nonzero coordinates of p; ``max_degree`` is the largest degree searched.
    """
    for degree in range(2, max_degree + 1):
        seen: set[TorusWeight] = set()
        for chosen in combinations_with_replacement(sorted(point), degree - 1):
            for index in coordinates(layer):
                weight = torus_weight((*chosen, index), layer.gl_degrees)
                if weight not in seen:
                    seen.add(weight)
                    for equation in equations_of_weight(layer, weight):
                        if equation.gradient(point):
                            yield equation
