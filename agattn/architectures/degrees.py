"""Degrees of polynomials in parameters and inputs, from how they are computed.

>>> sum = INPUT * PARAMETER + 1  # W x + b, up to the degree of b
>>> sum * sum
Degrees(weights=2, inputs=frozenset({0, 1, 2}))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: More degrees than this are not told apart.
_MOST = 1_000
InputDegrees = frozenset[int] | range


@dataclass(frozen=True)
class Degrees:
    """The degree in the parameters, and the degrees of the monomials in the input; both may be more.

    Numbers in sums and products are polynomials of degree 0.
    """

    weights: int
    inputs: InputDegrees

    def __add__(self, other: Any) -> Degrees:
        other = other if isinstance(other, Degrees) else CONSTANT
        return Degrees(max(self.weights, other.weights), union(self.inputs, other.inputs))

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Degrees:
        other = other if isinstance(other, Degrees) else CONSTANT
        return Degrees(self.weights + other.weights, sums(self.inputs, other.inputs))

    __rmul__ = __mul__

    def __neg__(self) -> Degrees:
        return self

    @property
    def most(self) -> int:
        """The largest degree in the input."""
        return _ends(self.inputs)[1]

    def after(self, before: Degrees) -> Degrees:
        """The degrees if the input is itself a polynomial, of the degrees ``before``."""
        numbers = _ends(self.inputs) if isinstance(self.inputs, range) else self.inputs
        inputs = union(*(multiples(before.inputs, n) for n in numbers))
        return Degrees(self.weights + self.most * before.weights, inputs)


CONSTANT, PARAMETER = Degrees(0, frozenset([0])), Degrees(1, frozenset([0]))
INPUT = Degrees(0, frozenset([1]))


def _ends(degrees: InputDegrees) -> tuple[int, int]:
    """The least and the largest; a range may be too long to be gone through."""
    return (degrees[0], degrees[-1]) if isinstance(degrees, range) else (min(degrees), max(degrees))


def union(*parts: InputDegrees) -> InputDegrees:
    """All degrees of these; all numbers from the least to the largest if there are very many."""
    if len(parts) == 1:
        return parts[0]
    lows, highs = zip(*map(_ends, parts), strict=True)
    if max(highs) - min(lows) > _MOST:
        return range(min(lows), max(highs) + 1)
    return frozenset().union(*parts)


def sums(one: InputDegrees, other: InputDegrees) -> InputDegrees:
    """The sums of a number of both; all numbers from the least to the largest if there are very many."""
    (low, high), (least, most) = _ends(one), _ends(other)
    if high + most - low - least > _MOST:
        return range(low + least, high + most + 1)
    return frozenset(n + m for n in one for m in other)


def multiples(degrees: InputDegrees, count: int) -> InputDegrees:
    """The sums of n of these numbers; all numbers from the least to the largest if there are very many.

    >>> sorted(multiples(frozenset([1, 3]), 3)), multiples(frozenset([1, 3]), 3**9)
    ([3, 5, 7, 9], range(19683, 59050))
    """
    low, high = (count * end for end in _ends(degrees))
    if low == high:
        return frozenset([low])
    if high - low > _MOST:
        return range(low, high + 1)
    total: InputDegrees = frozenset([0])
    for _ in range(count):
        total = sums(total, degrees)
    return total
