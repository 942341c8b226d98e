"""Ideals of monomials: Hilbert series, dimension and degree.

An ideal and its initial ideal, for an order that goes by degree first, have the same Hilbert function, and so
the same dimension and degree.

>>> series = hilbert_series([(1, 1), (2, 0), (0, 3)], 2)  # (xy, x², y³)
>>> series.dimension, series.degree, series.values(3)
(0, 4, (1, 2, 1, 0))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb

import flint

from agattn.algebra.polynomial import Exponents


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
        """Of the quotient ring, and so of the zero set in affine space; −1 for the ideal 1."""
        return self.variables - self._reduced[1] if self.numerator else -1

    @property
    def degree(self) -> int:
        """Of the quotient ring: for dimension 0 its dimension as a vector space; 0 for the ideal 1."""
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
    numerator = _numerator(_minimal(monomials))
    return HilbertSeries(tuple(map(int, numerator.coeffs())), variables)


def _monomials(variables: int, degree: int) -> int:
    """How many monomials of a degree there are."""
    return (
        comb(degree + variables - 1, degree) if degree >= 0 and degree + variables > 0 else int(degree == 0)
    )


def _minimal(monomials: Iterable[Exponents]) -> list[Exponents]:
    """Those that no other one divides."""
    kept: list[Exponents] = []
    for new in sorted(set(monomials), key=sum):
        if not any(all(map(int.__le__, old, new)) for old in kept):
            kept.append(new)
    return kept


def _numerator(monomials: Sequence[Exponents]) -> flint.fmpz_poly:
    """That of the Hilbert series, where the monomials are minimal generators."""
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
    quotient = _minimal((*m[:i], max(m[i] - e, 0), *m[i + 1 :]) for m in monomials)
    total = _minimal([*monomials, power])
    return _numerator(total) + flint.fmpz_poly([0] * e + [1]) * _numerator(quotient)
