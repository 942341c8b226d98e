r"""Fields F[θ]/(f) for an irreducible polynomial f over F = ℚ or 𝔽_p, and linear algebra in them.

Whatever is computed in F[θ]/(f) holds at all roots of f at once, exactly. Elements are polynomials of FLINT.

>>> import flint
>>> i = flint.fmpq_poly([0, 1])
>>> K = ResidueField(i**2 + 1)
>>> K.inverse(i + 1)
(-1/2)*x + 1/2
>>> solution, kernel = K.solve([[i, K.one], [K.one, -i]], [K.one, -i])  # the second row is -i times the first
>>> solution, kernel
([(-1)*x, 0], [[x, 1]])
>>> K.solve([[i, K.one], [K.one, -i]], [K.one, i])[0] is None
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True, eq=False)
class ResidueField:
    """F[θ]/(f); ``modulus`` is f, a ``fmpq_poly`` or ``nmod_poly`` that is irreducible over its field F."""

    modulus: Any

    @cached_property
    def zero(self) -> Any:
        return self.modulus * 0

    @cached_property
    def one(self) -> Any:
        return self.zero + 1

    def reduce(self, value: Any) -> Any:
        """The element that a polynomial in θ is.

        >>> import flint
        >>> ResidueField(flint.nmod_poly([1, 0, 1], 7)).reduce(flint.nmod_poly([0, 0, 0, 1], 7))
        6*x
        """
        return value % self.modulus

    def inverse(self, element: Any) -> Any:
        """1/x.

        Raises:
            ZeroDivisionError: for 0.
        """
        if not element:
            raise ZeroDivisionError("0 has no inverse")
        return element.xgcd(self.modulus)[1]

    def solve(
        self, rows: Sequence[Sequence[Any]], right: Sequence[Any]
    ) -> tuple[list[Any] | None, list[list[Any]]]:
        """A solution x of Gx = b, ``None`` if there is none, and a basis of the kernel of G.

        Args:
            rows: the rows of G, at least one.
            right: the entries of b.
        """
        columns = len(rows[0])
        table = [[*map(self.reduce, row), self.reduce(b)] for row, b in zip(rows, right, strict=True)]
        pivots: list[int] = []
        for column in range(columns):
            done = len(pivots)
            below = next((n for n in range(done, len(table)) if table[n][column]), None)
            if below is None:
                continue
            table[done], table[below] = table[below], table[done]
            inverse = self.inverse(table[done][column])
            table[done] = [self.reduce(x * inverse) for x in table[done]]
            for n, row in enumerate(table):
                if n != done and (factor := row[column]):
                    table[n] = [self.reduce(x - factor * y) for x, y in zip(row, table[done], strict=True)]
            pivots.append(column)
        kernel = []
        for free in (n for n in range(columns) if n not in pivots):
            vector = [self.zero] * columns
            vector[free] = self.one
            for n, pivot in enumerate(pivots):
                vector[pivot] = -table[n][free]
            kernel.append(vector)
        if any(row[-1] for row in table[len(pivots) :]):
            return None, kernel
        solution = [self.zero] * columns
        for n, pivot in enumerate(pivots):
            solution[pivot] = table[n][-1]
        return solution, kernel

    def common(self, left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        """The monic greatest common divisor of two polynomials in s over the field; not both may be 0.

        Polynomials are lists of coefficients, that of sⁿ at n, without zeros at the end; 0 is empty.

        >>> import flint
        >>> K = ResidueField(flint.fmpq_poly([-2, 0, 1]))
        >>> root = flint.fmpq_poly([0, 1])
        >>> K.common([K.one * -2, K.zero, K.one], [-root, K.one])  # s² − 2 and s − √2
        [(-1)*x, 1]
        """
        a, b = list(left), list(right)
        while b:
            a, b = b, self.divided(a, b)[1]
        inverse = self.inverse(a[-1])
        return [self.reduce(x * inverse) for x in a]

    def divided(self, left: Sequence[Any], right: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Quotient and remainder of polynomials in s over the field."""
        rest, inverse = list(left), self.inverse(right[-1])
        quotient = [self.zero] * max(len(rest) - len(right) + 1, 0)
        for n in reversed(range(len(quotient))):
            factor = quotient[n] = self.reduce(rest[n + len(right) - 1] * inverse)
            for k, x in enumerate(right):
                rest[n + k] = self.reduce(rest[n + k] - factor * x)
        return quotient, trimmed(rest)


def trimmed(coefficients: Sequence[Any]) -> list[Any]:
    """Coefficients without zeros at the end.

    >>> trimmed([1, 0, 2, 0])
    [1, 0, 2]
    """
    kept = list(coefficients)
    while kept and not kept[-1]:
        kept.pop()
    return kept
