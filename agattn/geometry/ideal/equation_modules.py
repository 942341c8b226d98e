"""Equations of a neuromanifold: one highest weight vector, and the module that GL(d')×GL(d)×GL(d) makes of
it.

The Lie algebra acts on the coordinates as on E ⊗ F ⊗ S²U (E ⊗ S³U for t = 1): lowering r to r + 1 in one
factor takes a coordinate to the one with an index r replaced by r + 1, times the number of indices r + 1 it
then has.

>>> resultant_term = Equation({((0, 0, 0, 0), (0, 1, 1, 1)): 1}, tokens=2)
>>> resultant_term.lower(2, 0).terms
{((0, 0, 0, 1), (0, 1, 1, 1)): 1}
>>> print(resultant_term)
y_(1,1,1,1)*y_(1,2,2,2)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import gcd

import flint

from agattn.algebra.characters import Partition, module_dimension
from agattn.algebra.echelon import echelon
from agattn.algebra.polynomial import Polynomial, PolynomialRing
from agattn.architectures import SingleLayer
from agattn.errors import TooLargeError
from agattn.geometry.ideal.torus_weights import Index, vanishes, variable
from agattn.notebook import Cell, InNotebooks, Math, Table, Wide, tensor_product

#: Increasing coordinates, and the coefficient of their product.
Terms = dict[tuple[Index, ...], int]

#: A module with more equations than this is not written out.
MOST_EQUATIONS = 20000

#: The most terms of an equation that a notebook shows.
_LONGEST_SHOWN = 12

PRIME = 2**61 - 1


@dataclass(frozen=True)
class Equation:
    """A polynomial with integer coefficients in the coordinates, independent of the size of the layer.

    Attributes:
        terms: coefficients by monomial; a monomial is the increasing tuple of its coordinates' indices,
            from 0.
        tokens: 1, or anything larger, for the meaning of the indices.
    """

    terms: Terms = field(hash=False)
    tokens: int = 2

    @property
    def degree(self) -> int:
        """The degree; all terms have the same."""
        return len(next(iter(self.terms), ()))

    def primitive(self) -> Equation:
        """The same equation with coprime coefficients, the first of them positive."""
        if not self.terms:
            return self
        ordered = sorted(self.terms.items())
        scale = gcd(*self.terms.values()) * (1 if ordered[0][1] > 0 else -1)
        return Equation({monomial: coefficient // scale for monomial, coefficient in ordered}, self.tokens)

    def move(self, factor: int, start: int, end: int) -> Equation:
        """Apply the matrix unit that sends the basis vector ``start`` to ``end`` in one factor of the group.

        Args:
            factor: 0 for GL(d'); for t ≥ 2, 1 for the columns of A and 2 for the inner index; for t = 1, 1
                for the latter.
            start: a basis vector, from 0.
            end: another basis vector, from 0.
        """
        result: Terms = {}
        for monomial, coefficient in self.terms.items():
            for place, index in enumerate(monomial):
                for moved, count in self._move(index, factor, start, end):
                    key = tuple(sorted((*monomial[:place], moved, *monomial[place + 1 :])))
                    result[key] = result.get(key, 0) + coefficient * count
        return Equation({key: value for key, value in result.items() if value}, self.tokens)

    def lower(self, factor: int, r: int) -> Equation:
        """Apply the lowering operator r → r + 1 of one factor."""
        return self.move(factor, r, r + 1)

    def is_highest(self, sizes: Sequence[int]) -> bool:
        """Whether every raising operator of a group with factors of these sizes kills the equation."""
        return not any(
            self.move(factor, r + 1, r).terms for factor, size in enumerate(sizes) for r in range(size - 1)
        )

    def _move(self, index: Index, factor: int, start: int, end: int) -> Iterator[tuple[Index, int]]:
        outer = 1 if self.tokens == 1 else 2
        if factor < outer:
            if index[factor] == start:
                yield (*index[:factor], end, *index[factor + 1 :]), 1
        elif start in index[outer:]:
            inner = list(index[outer:])
            inner[inner.index(start)] = end
            yield (*index[:outer], *sorted(inner)), inner.count(end)

    @cached_property
    def weights(self) -> tuple[tuple[int, ...], ...]:
        """The torus weight, one vector for each factor, without trailing zeros."""
        monomial = next(iter(self.terms))
        outer = 1 if self.tokens == 1 else 2
        letters = [[index[f] for index in monomial] for f in range(outer)]
        letters.append([i for index in monomial for i in index[outer:]])
        return tuple(tuple(part.count(i) for i in range(max(part) + 1)) for part in letters)

    @cached_property
    def ring(self) -> PolynomialRing:
        """The polynomial ring in the coordinates that occur."""
        return PolynomialRing(
            variable(i, self.tokens) for i in sorted({i for monomial in self.terms for i in monomial})
        )

    def polynomial(self, ring: PolynomialRing | None = None) -> Polynomial:
        """The equation as a polynomial in ``ring``, by default :attr:`ring`.

        Raises:
            KeyError: if a coordinate is missing from the ring.
        """
        ring = ring or self.ring
        places = {v: position for position, v in enumerate(ring.variables)}
        terms: dict[tuple[int, ...], Fraction | int] = {}
        for monomial, coefficient in self.terms.items():
            exponents = [0] * len(ring)
            for index in monomial:
                exponents[places[variable(index, self.tokens)]] += 1
            terms[tuple(exponents)] = coefficient
        return ring.from_terms(terms)

    def vanishes_on(self, layer: SingleLayer) -> bool:
        """Whether the equation holds on the whole neuromanifold, by exact expansion over ℤ."""
        return vanishes(self.polynomial(), layer)

    def __str__(self) -> str:
        return str(self.polynomial())


@dataclass(frozen=True)
class EquationModule(InNotebooks):
    """A module of minimal generators S_λ ⊗ S_μ ⊗ S_ν (S_λ ⊗ S_ν for t = 1) in the ideal of one layer.

    Attributes:
        shapes: the highest weight, a partition for each factor of the group.
        sizes: the sizes of these factors: d', d, d, or d', d for t = 1.
        highest: the highest weight vector, proved to vanish on the neuromanifold.
        name: what these equations say in words, where there is a name; else empty.
    """

    shapes: tuple[Partition, ...]
    sizes: tuple[int, ...]
    highest: Equation
    name: str = ""

    @property
    def degree(self) -> int:
        """The degree of the equations."""
        return self.highest.degree

    @property
    def dimension(self) -> int:
        """The number of linearly independent equations."""
        return module_dimension(self.shapes, self.sizes)

    def __len__(self) -> int:
        return self.dimension

    def __str__(self) -> str:
        return "⊗".join(f"S({','.join(map(str, part))})" for part in self.shapes)

    def notebook_row(self) -> tuple[Cell, ...]:
        """The module, its dimension, what it says, and its highest weight vector, if that is short."""
        polynomial = self.highest.polynomial()
        short = len(polynomial) <= _LONGEST_SHOWN
        equation: Cell = Math(polynomial.latex()) if short else f"{len(polynomial)} terms"
        return Math(tensor_product(self.shapes)), self.dimension, self.name, equation

    def _notebook(self) -> Table:
        names = ("module", "dimension", Wide("what it says"), "highest weight vector")
        return Table(
            f"Equations of degree {self.degree}", (), tuple(zip(names, self.notebook_row(), strict=True))
        )

    def __iter__(self) -> Iterator[Equation]:
        """A basis of the module: weight vectors with coprime integer coefficients, from the highest down.

        All lowering operators are applied until the dimension given by the hook content formula is reached.

        Raises:
            TooLargeError: if there are more than :data:`MOST_EQUATIONS`.
        """
        if self.dimension > MOST_EQUATIONS:
            raise TooLargeError(
                f"{self} has {self.dimension} equations; at most {MOST_EQUATIONS} are written out"
            )
        level = {self._weight(self.highest): [self.highest.primitive()]}
        count = 0
        while level:
            below: dict[tuple[int, ...], list[Equation]] = {}
            for equations in level.values():
                chosen = _independent(equations)
                count += len(chosen)
                yield from chosen
                for equation in chosen:
                    for factor, size in enumerate(self.sizes):
                        for r in range(size - 1):
                            lowered = equation.lower(factor, r)
                            if lowered.terms:
                                below.setdefault(self._weight(lowered), []).append(lowered.primitive())
            level = below
        if count != self.dimension:
            raise ArithmeticError(f"{self}: {count} equations found where there should be {self.dimension}")

    @staticmethod
    def _weight(equation: Equation) -> tuple[int, ...]:
        return tuple(x for part in equation.weights for x in (*part, -1))


def _independent(equations: list[Equation]) -> list[Equation]:
    """A maximal independent subset; independence mod p proves it over ℚ, the count is checked later."""
    monomials = sorted({monomial for equation in equations for monomial in equation.terms})
    place = {monomial: row for row, monomial in enumerate(monomials)}
    matrix = flint.nmod_mat(len(monomials), len(equations), PRIME)
    for column, equation in enumerate(equations):
        for monomial, coefficient in equation.terms.items():
            matrix[place[monomial], column] = coefficient
    return [equations[column] for column in echelon(matrix)[1]]
