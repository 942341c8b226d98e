"""Matrix arithmetic over three kinds of scalars behind one small interface.

The maps of attention need products of stacks of matrices, entrywise products, and for normalized layers a
softmax. Each kind of scalar here supplies them for numpy arrays:

- :class:`ModularArithmetic`: residues modulo a prime, in float64 arrays (:mod:`agattn.algebra.residues`);
- :class:`FloatArithmetic`: ordinary float64, fast, no guarantee;
- :class:`BallArithmetic`: object arrays of ``flint.arb``, every result a ball that contains the true value;
- :class:`RingArithmetic`: object arrays of anything with ``+`` and ``*``: ints, Fractions, polynomials.

>>> import numpy as np
>>> ModularArithmetic(7).matmul(np.array([[5.0, 6.0]]), np.array([[1.0], [1.0]]))
array([[4.]])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, lcm, log2
from typing import Any, ClassVar

import flint
import numpy as np

from agattn.algebra import residues
from agattn.errors import InputError, worded

Array = Any  # a numpy array whose entries are of the kind that the arithmetic is for


class EvaluationEnded(Exception):  # noqa: N818  an arithmetic ends what it was used for; nothing is wrong
    """Raised by an arithmetic to end an evaluation. The map that is evaluated must not catch this error."""


class BadPrimeError(InputError):
    """Raised modulo a prime that divides the denominator of a constant."""


class Places:
    """Places in an array of some shape, in an array of any other shape.

    Attributes:
        shape: that of the array that the places are in.
        flat: the places, counted along all its axes.

    >>> Places((2, 3), np.array([4, 0])).index
    (array([1, 0]), array([1, 0]))
    """

    def __init__(self, shape: tuple[int, ...], flat: Array) -> None:
        self.shape, self.flat = shape, flat

    @cached_property
    def index(self) -> tuple[Array, ...]:
        """The places by axis."""
        return np.unravel_index(self.flat, self.shape) if len(self.shape) > 1 else (self.flat,)

    @cached_property
    def _once(self) -> tuple[Array, Array, Array]:
        """Each place once; if one occurs again, the order that sorts all, and where new ones begin in it."""
        flat = self.flat.ravel()
        order = np.argsort(flat, kind="stable")
        starts = np.flatnonzero(np.diff(flat[order], prepend=-1))
        if len(starts) == len(flat):
            return flat, None, None
        return flat[order][starts], order, starts

    def put_back(self, a: Array) -> Array:
        """Entries in the shape of their places, put into zeros, ``(..., *shape)``; equal places add up.

        >>> Places((3,), np.array([2, 0, 2])).put_back(np.array([1.0, 2.0, 3.0]))
        array([2., 0., 4.])
        """
        front = a.shape[: a.ndim - self.flat.ndim]
        entries = a.reshape(*front, self.flat.size)
        places, order, starts = self._once
        if order is not None:
            entries = np.add.reduceat(entries[..., order], starts, axis=-1)
        back = np.zeros((*front, int(np.prod(self.shape))), dtype=a.dtype)
        back[..., places] = entries
        return back.reshape(*front, *self.shape)


class ArrayLike:
    """What arrays of other kinds than numpy's have in common, by their sums and negatives."""

    __array_ufunc__ = None  # so that numpy leaves sums with its arrays to this class

    def __sub__(self: Any, other: Any) -> Any:
        return self + -other

    def __rsub__(self: Any, other: Any) -> Any:
        return -self + other


class Arithmetic:
    """What a map needs from its scalars: here by numpy's operators, and without a softmax."""

    #: Whether a recorded function is run operation by operation, as it was written.
    one_by_one: ClassVar[bool] = False
    #: Whether values have shapes alone, so that constants have no entries to look at.
    of_shapes: ClassVar[bool] = False

    def matmul(self, a: Array, b: Array) -> Array:
        """Products of stacks of matrices, (..., m, k) times (..., k, n), broadcast."""
        return a @ b

    def times(self, a: Array, b: Array) -> Array:
        """Entrywise product, broadcast."""
        return a * b

    def clean(self, a: Array) -> Array:
        """Bring a sum or difference of a few results back into normal form."""
        return a

    def softmax(self, a: Array, seen: Array | None = None) -> Array:
        """The softmax of every column, exp(a_j)/Σ_k exp(a_k); TypeError where the scalars have none.

        ``seen`` is a matrix of booleans, for all matrices of a stack: in each column the sum is over the
        entries that are seen, and the other entries are 0.
        """
        raise TypeError(f"a softmax layer has no meaning in {type(self).__name__}: there is no exponential")

    def normalized(
        self, a: Array, coefficient: Callable[[int], Fraction], seen: Array | None = None
    ) -> Array:
        """Every column as φ(a_j)/Σ_k φ(a_k), φ(w) = Σ_k c_k wᵏ; an InputError for scalars but series."""
        raise InputError(
            "a normalizer that is given by Taylor coefficients has no values; ask about its jets: "
            f"{worded('--jet N', 'ag.Jet(network, N)')}"
        )

    def turned_products(self, keys: Array, queries: Array, powers: Array) -> Array:
        """The products kᵢᵀ R^{j−i} q_j of the columns of stacks (..., a, t), as (..., t, t).

        R^j turns the rows 2k and 2k + 1 by the angle with the cosine ``powers[0, k, j]`` and the sine
        ``powers[1, k, j]``, numbers in an object array: both rows are a complex number, which is multiplied.
        Further rows are not turned.
        """
        (cos, sin), turned = self.constant(powers), 2 * powers.shape[1]
        sides = []
        for rows in (keys[..., :turned, :], queries[..., :turned, :]):
            one, other = rows[..., 0::2, :], rows[..., 1::2, :]
            sides.append(
                (
                    self.clean(self.times(one, cos) - self.times(other, sin)),
                    self.clean(self.times(one, sin) + self.times(other, cos)),
                )
            )
        (k0, k1), (q0, q1) = sides
        products = self.clean(self.matmul(k0.swapaxes(-1, -2), q0) + self.matmul(k1.swapaxes(-1, -2), q1))
        if turned == keys.shape[-2]:
            return products
        still = self.matmul(keys[..., turned:, :].swapaxes(-1, -2), queries[..., turned:, :])
        return self.clean(products + still)

    def identity(self, n: int) -> Array:
        """The n × n identity matrix."""
        return np.eye(n)

    def constant(self, numbers: Array) -> Array:
        """Numbers, ints and Fractions in an object array, as scalars."""
        return numbers

    def entries(self, a: Array, places: Places) -> Array:
        """Entries of every array in a stack ``(n, ...)``, in the shape of their places: ``(n, *shape)``."""
        return a[(slice(None), *places.index)]

    def concatenate(self, arrays: Sequence[Array]) -> Array:
        """Stacks of arrays, (n, k_i, ...) or (1, k_i, ...), put together along the second axis."""
        n = max(len(a) for a in arrays)
        others = [a for a in arrays if not isinstance(a, np.ndarray)]  # such as those of JAX
        module: Any = others[0].__array_namespace__() if others else np
        return module.concatenate(
            [a if len(a) == n else module.broadcast_to(a, (n, *a.shape[1:])) for a in arrays], axis=1
        )


@dataclass(frozen=True)
class ModularArithmetic(Arithmetic):
    """Residues modulo the prime p < 2³⁰."""

    p: int

    def matmul(self, a: Array, b: Array) -> Array:
        return residues.matmul(a, b, self.p)

    def times(self, a: Array, b: Array) -> Array:
        """The entrywise product modulo p."""
        return residues.hadamard(a, b, self.p)

    def clean(self, a: Array) -> Array:
        return residues.reduce(a, self.p)

    def constant(self, numbers: Array) -> Array:
        """The numbers modulo p; BadPrimeError if p divides a denominator."""

        def residue(x: int | Fraction) -> int:
            if x.denominator % self.p == 0:
                raise BadPrimeError(
                    f"the random prime {self.p} divides the denominator of a constant; take another seed"
                )
            return x.numerator * pow(x.denominator, -1, self.p) % self.p

        residues: Array = np.frompyfunc(residue, 1, 1)(numbers)
        return residues.astype(np.float64)


class FloatArithmetic(Arithmetic):
    """Float64, without any guarantee."""

    def softmax(self, a: Array, seen: Array | None = None) -> Array:
        """The softmax of every column, shifted by the largest entry so that nothing overflows."""
        if seen is not None:
            a = np.where(seen, a, -np.inf)
        weights = np.exp(a - a.max(axis=-2, keepdims=True))
        return weights / weights.sum(axis=-2, keepdims=True)

    def constant(self, numbers: Array) -> Array:
        return numbers.astype(np.float64)


class RingArithmetic(Arithmetic):
    """Python objects with ``+`` and ``*``, in object arrays."""

    def identity(self, n: int) -> Array:
        """The identity matrix, of ints."""
        return np.eye(n, dtype=int).astype(object)


@dataclass(frozen=True)
class Size:
    """A bound on a polynomial: the sum of the absolute values of its coefficients, and a common denominator.

    Evaluated at ones, a formula gives bounds for the polynomial that it is in its arguments. Numbers stand
    for themselves.

    Attributes:
        coefficients: the log₂ of a bound on the sum.
        denominator: by which the coefficients may be multiplied to become integers.

    >>> x, y = Size(0.0), Size(0.0)
    >>> round((x * y - x + y).log2, 6), round(float(np.log2(3)), 6)
    (1.584963, 1.584963)
    >>> third = Fraction(3, 4) * x + y * Fraction(1, 6)  # 9x + 2y, divided by 12
    >>> third.denominator, round(2**third.log2, 6)
    (12, 11.0)
    """

    coefficients: float
    denominator: int = 1

    @property
    def log2(self) -> float:
        """The log₂ of a bound on the sum for the polynomial with integer coefficients."""
        return self.coefficients + log2(self.denominator)

    @staticmethod
    def of(x: Size | Fraction | int) -> Size:
        """The bound itself, or that of a number."""
        if isinstance(x, Size):
            return x
        return Size(log2(abs(x.numerator)) - log2(x.denominator) if x else -inf, x.denominator)

    def __add__(self, other: Size | Fraction | int) -> Size:
        other = Size.of(other)
        total = float(np.logaddexp2(self.coefficients, other.coefficients))
        # Rounded up: by the rounding errors of this sum, and of the logarithms of numbers in it.
        total += 1e-12 * max(1.0, abs(total)) if total > -inf else 0.0
        return Size(total, lcm(self.denominator, other.denominator))

    def __mul__(self, other: Size | Fraction | int) -> Size:
        other = Size.of(other)
        return Size(self.coefficients + other.coefficients, self.denominator * other.denominator)

    __sub__ = __radd__ = __rsub__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Size:
        return self


class _Degrees(np.ndarray[Any, np.dtype[np.int64]]):
    """Degrees in an array of ints; that of a sum is the larger one."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        plain = [one.view(np.ndarray) if isinstance(one, _Degrees) else one for one in inputs]
        if ufunc is np.negative:
            return self
        degrees = getattr(np.maximum if ufunc in (np.add, np.subtract) else ufunc, method)(*plain, **named)
        return np.asarray(degrees).view(_Degrees)


def of_degree(n: int, shape: tuple[int, ...]) -> Array:
    """An array whose entries have the degree n, for :class:`DegreeArithmetic`."""
    return np.full(shape, n).view(_Degrees)


class DegreeArithmetic(Arithmetic):
    """Bounds on degrees in place of scalars: a product adds them up, a sum has the larger one.

    All entries of a product of matrices get the bound of the largest, so that no product costs more than its
    output.

    >>> arithmetic = DegreeArithmetic()
    >>> x, y = of_degree(1, (2, 2)), of_degree(3, (2, 2))
    >>> np.max(arithmetic.matmul(x, y) + x).item()
    4
    """

    def matmul(self, a: Array, b: Array) -> Array:
        """The sum of the largest degrees of both."""
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
        largest = [int(np.max(one.view(np.ndarray))) for one in (a, b)]
        return of_degree(sum(largest), shape)

    def times(self, a: Array, b: Array) -> Array:
        return (a.view(np.ndarray) + b.view(np.ndarray)).view(_Degrees)

    def constant(self, numbers: Array) -> Array:
        return of_degree(0, np.shape(numbers))


class BallArithmetic(Arithmetic):
    """Real balls at the precision of ``flint.ctx``; wrap the computation in ``flint.ctx.workprec(bits)``."""

    def softmax(self, a: Array, seen: Array | None = None) -> Array:
        """The softmax of every column, as balls that contain it."""
        weights: Array = np.frompyfunc(flint.arb.exp, 1, 1)(a)
        if seen is not None:
            weights = np.where(seen, weights, to_balls(np.zeros(())))
        return weights / weights.sum(axis=-2, keepdims=True)

    def identity(self, n: int) -> Array:
        """The identity matrix, of exact balls."""
        return to_balls(np.eye(n))

    def constant(self, numbers: Array) -> Array:
        """Balls that contain the numbers."""
        return np.frompyfunc(lambda x: flint.arb(flint.fmpq(x.numerator, x.denominator)), 1, 1)(numbers)


def to_balls(a: Array) -> Array:
    """The exact balls of radius 0 at the entries of an array of floats."""
    return np.frompyfunc(flint.arb, 1, 1)(np.asarray(a, dtype=float))
