"""Power series with arrays as coefficients, truncated after some order, over any scalars.

An array of series is a tuple of arrays: the coefficients of s⁰, s¹, …, s^N. A function of arrays is evaluated
on them by :class:`SeriesArithmetic`, which multiplies series by multiplying coefficients, and drops what is
beyond the order. A coefficient that is known to be zero takes no memory and no time.

>>> import numpy as np
>>> from agattn.algebra.arithmetic import RingArithmetic
>>> arithmetic = SeriesArithmetic(RingArithmetic(), order=3)
>>> x = arithmetic.variable(np.array([[[2]]], dtype=object))  # 2s
>>> square = arithmetic.times(x, x)
>>> [a if a is None else int(a.item()) for a in arithmetic.times(square + 1, x).coefficients]
[None, 2, None, 8]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, ArrayLike
from agattn.errors import InputError


def exponential(k: int) -> Fraction:
    """The coefficient of wᵏ in exp(w)."""
    return Fraction(1, factorial(k))


@dataclass(eq=False)
class Series(ArrayLike):
    """An array of truncated power series.

    Attributes:
        coefficients: of s⁰, …, s^N; ``None`` for one that is zero.
        shape: of each coefficient.
        arithmetic: that of the series.
    """

    coefficients: tuple[Array | None, ...]
    shape: tuple[int, ...]
    arithmetic: SeriesArithmetic

    def each(self, change: Callable[[Array], Array]) -> Series:
        """The series whose coefficients are changed one by one, by a linear method of numpy's arrays."""
        changed = tuple(None if a is None else change(a) for a in self.coefficients)
        shape = change(np.broadcast_to(0.0, self.shape)).shape
        return Series(changed, shape, self.arithmetic)

    def kept(self, change: Callable[[Array], Array]) -> Series:
        """The series whose coefficients are changed one by one, by a linear map that keeps the shape."""
        changed = tuple(None if a is None else change(a) for a in self.coefficients)
        return Series(changed, self.shape, self.arithmetic)

    def __add__(self, other: Any) -> Series:
        one, other = self.arithmetic.aligned(self, self.arithmetic.series(other))
        pairs = zip(one.coefficients, other.coefficients, strict=True)
        total = tuple(b if a is None else a if b is None else a + b for a, b in pairs)
        return Series(total, one.shape, self.arithmetic)

    __radd__ = __add__

    def __neg__(self) -> Series:
        return self.kept(lambda a: -a)

    def __truediv__(self, number: float) -> Series:
        return self.arithmetic.scaled(self, 1 / Fraction(number))

    def __getitem__(self, key: Any) -> Series:
        return self.each(lambda a: a[key])

    def swapaxes(self, one: int, other: int) -> Series:
        return self.each(lambda a: a.swapaxes(one, other))

    def sum(self, axis: int, keepdims: bool = False) -> Series:
        """The sum along an axis."""
        return self.each(lambda a: a.sum(axis=axis, keepdims=keepdims))


class SeriesArithmetic(Arithmetic):
    """Truncated power series over the scalars of another arithmetic.

    Arrays of that arithmetic stand for constant series.
    """

    def __init__(self, arithmetic: Arithmetic, order: int) -> None:
        self.scalars, self.order = arithmetic, order

    def series(self, a: Any) -> Series:
        """A series as it is, an array or a number as a constant series."""
        if isinstance(a, Series):
            return a
        if isinstance(a, (int, Fraction)):
            a = self._number(Fraction(a))
        return Series((a, *[None] * self.order), tuple(a.shape), self)

    def variable(self, X: Array) -> Series:
        return Series((None, X, *[None] * (self.order - 1)), tuple(X.shape), self)

    def value(self, a: Any) -> Array:
        """The value at s = 1: the sum of all coefficients."""
        terms = [one for one in self.series(a).coefficients if one is not None]
        if not terms:
            return self._filled(a.shape, Fraction(0))
        total = terms[0]
        for one in terms[1:]:
            total = self.scalars.clean(total + one)
        return total

    def aligned(self, one: Series, other: Series) -> tuple[Series, Series]:
        """Two series in the shape of their sum."""
        shape = np.broadcast_shapes(one.shape, other.shape)
        return self._spread(one, shape), self._spread(other, shape)

    def _spread(self, a: Series, shape: tuple[int, ...]) -> Series:
        if a.shape == shape:
            return a
        ones = self._filled(shape, Fraction(1))
        spread = a.kept(lambda one: self.scalars.times(one, ones))
        return Series(spread.coefficients, shape, self)

    def _number(self, x: Fraction) -> Array:
        return self.scalars.constant(np.array([x], dtype=object))

    def scaled(self, a: Series, x: Fraction) -> Series:
        factor = self._number(x)
        return a.kept(lambda one: self.scalars.times(one, factor))

    def _product(self, multiply: Callable[[Any, Any], Array], a: Any, b: Any, shape: tuple[int, ...]) -> Any:
        """(Σ a_i sⁱ)(Σ b_k sᵏ) = Σ_n (Σ_{i+k=n} a_i b_k) sⁿ."""
        if not isinstance(a, Series) and not isinstance(b, Series):
            return multiply(a, b)
        a, b = self.series(a), self.series(b)
        products: list[Array | None] = [None] * (self.order + 1)
        for i, x in enumerate(a.coefficients):
            for k, y in enumerate(b.coefficients[: self.order + 1 - i]):
                if x is None or y is None:
                    continue
                term, before = multiply(x, y), products[i + k]
                products[i + k] = term if before is None else self.scalars.clean(before + term)
        return Series(tuple(products), shape, self)

    def matmul(self, a: Any, b: Any) -> Any:
        """Products of stacks of matrices."""
        front = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return self._product(self.scalars.matmul, a, b, (*front, a.shape[-2], b.shape[-1]))

    def times(self, a: Any, b: Any) -> Any:
        return self._product(self.scalars.times, a, b, np.broadcast_shapes(a.shape, b.shape))

    def clean(self, a: Any) -> Any:
        """Bring every coefficient into normal form."""
        return a.kept(self.scalars.clean) if isinstance(a, Series) else self.scalars.clean(a)

    def identity(self, n: int) -> Array:
        return self.scalars.identity(n)

    def constant(self, numbers: Array) -> Array:
        return self.scalars.constant(numbers)

    def softmax(self, a: Any, seen: Array | None = None) -> Any:
        """The softmax of every column, for entries without constant terms."""
        return self.normalized(a, exponential, seen)

    def normalized(self, a: Any, coefficient: Callable[[int], Fraction], seen: Array | None = None) -> Any:
        """φ(a_i)/Σ_k φ(a_k) in every column, for φ(w) = Σ_k c_k wᵏ with c_0 ≠ 0.

        The sum is over the entries that are ``seen``, a matrix of booleans; the other entries are 0.

        Raises:
            InputError: if the entries have constant terms, about which φ is not expanded.
        """
        a = self.series(a)
        if a.coefficients[0] is not None:
            raise InputError(
                "jets are known here if the scores of each softmax vanish at the zero input; "
                "leave out the biases before the softmax"
            )
        first = next((n for n, one in enumerate(a.coefficients) if one is not None), self.order + 1)
        # Horner: φ(w) = c_0 + w (c_1 + w (c_2 + …)), where wᵏ begins at order k·first. Without c_0:
        above = a
        for k in range(self.order // first, 0, -1):
            c = self._number(coefficient(k))
            above = self.times(a, c if k == self.order // first else above + c)
        # Of the entries that are seen, divided by the sum D = c_0·m + D_1 s + … of the m that are seen:
        # P_0 = 1/m, P_n = (φ_n − Σ_{k≥1} D_k P_{n−k}) / (c_0·m).
        if seen is None:
            seen = np.ones(a.shape[-2:], dtype=bool)
        elif not seen.all():
            above = self.times(above, self.scalars.constant(seen.astype(int).astype(object)))
        shares = seen * np.array([Fraction(1, int(m)) for m in seen.sum(axis=0)], dtype=object)
        below = above.sum(axis=-2, keepdims=True)
        inverse = self.scalars.constant(shares.max(axis=0, keepdims=True) / coefficient(0))
        weights: list[Array | None] = [np.broadcast_to(self.scalars.constant(shares), a.shape, subok=True)]
        for n in range(1, self.order + 1):
            weights.append(self._quotient(n, above, below, weights, inverse))
        return Series(tuple(weights), a.shape, self)

    def _quotient(
        self, n: int, above: Series, below: Series, weights: Sequence[Array | None], inverse: Array
    ) -> Array | None:
        """The coefficient of sⁿ of a quotient, whose earlier coefficients are found."""
        total = above.coefficients[n]
        for k in range(1, n + 1):
            one, other = below.coefficients[k], weights[n - k]
            if one is None or other is None:
                continue
            term = self.scalars.times(other, one)
            total = -term if total is None else self.scalars.clean(total - term)
        return None if total is None else self.scalars.times(total, inverse)

    def _filled(self, shape: tuple[int, ...], x: Fraction) -> Array:
        return np.broadcast_to(self._number(x), shape, subok=True)
