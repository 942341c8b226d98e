"""That a linear vector field on the parameters does not change the function, proved by symbols.

The architecture evaluates itself at θ + εBθ with ε² = 0: every scalar is a pair of polynomials in the
entries of θ and X, its value and its change. B is a symmetry if and only if the outputs do not change.
Expanded in θ and X their values are far too long for more than one layer. But the values on the way may be
given new symbols: let v_1, ..., v_m be the values of the entries of a product, and e_1, ..., e_m their
changes. If there are rational numbers with

    e_k = c_k1 v_1 + ... + c_km v_m    for all k,

found by exact linear algebra on the coefficients, new symbols z_1, ..., z_m take the place of the v_k, and
the c_kl z_l add up to the new e_k. If the outputs do not change as polynomials in old and new symbols, they
do not after the v_k are put in for the z_k: proved. (The converse fails, so this finds proofs and refutes
nothing.)

>>> from agattn import DeepNetwork
>>> from agattn.geometry.dimension.symmetries import symmetry_matrices
>>> network = DeepNetwork((2, 2, 2), (1, 2), t=2)
>>> all(leaves_unchanged(network, B) for of_one in symmetry_matrices(network) for B in of_one)
True
>>> leaves_unchanged(DeepNetwork((2, 1), (1,), t=2), {(0, 0): 1})
False
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial, reduce
from math import lcm, prod
from operator import and_
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import Array, EvaluationEnded, RingArithmetic
from agattn.algebra.lie_algebras import Sparse
from agattn.architectures import Architecture
from agattn.architectures.contractions import Evaluated

# A polynomial by monomials, which are the numbers of their symbols in order. FLINT's have an exponent for
# every symbol, of which there are hundreds here, and few in each term.
_Polynomial = dict[tuple[int, ...], int | Fraction]

#: Products of terms in one evaluation, at first and at last: a tenth of a second, and seconds.
MOST_PRODUCTS = (20_000, 200_000)

#: Products of terms in the expansion of a function of the parameters.
MOST_EXPANDED = 2_000_000

# No value has so many terms that it gets new symbols.
_NEVER = MOST_EXPANDED + 1
# New symbols come in where a value has more terms than this, or if None in the last sums of layers alone. The
# second is whether they stay away from values of degree 1 in the parameters that move: where K moves by Q,
# nothing is seen of it once QX has new symbols.
_WAYS = ((1, False), (1, True), (16, False), (None, False))


def leaves_unchanged(architecture: Architecture, B: Sparse) -> bool:
    """Whether dφ(θ)·Bθ = 0 for all θ is proved by symbols, with new ones in one way or another.

    Args:
        architecture: any polynomial one.
        B: a square matrix, with rows and columns counted over the entries of all parameters.
    """
    moving = {index for place in B for index in place}
    return any(
        _changes_by(
            architecture, B, _FirstOrder(longer_than, moving if linear else set(), most), itertools.repeat(0)
        )
        for most, (longer_than, linear) in itertools.product(MOST_PRODUCTS, _WAYS)
    )


def changes_by_factors(function: Evaluated, B: Sparse, factors: Sequence[int | Fraction | None]) -> bool:
    """Whether each entry of df(θ)·Bθ is a number times that entry of f(θ), proved by expanding both.

    Args:
        function: f, a function of the parameters with few terms.
        B: a square matrix, with rows and columns counted over the entries of all parameters.
        factors: the number for each entry; ``None`` for entries that may change in any way.

    >>> from agattn.architectures.functions import read_function
    >>> product = read_function("a b", {"a": (2, 1), "b": (1, 1)})  # a b, where b is multiplied by s³
    >>> changes_by_factors(product, {(2, 2): 3}, [3, 3]), changes_by_factors(product, {(2, 2): 3}, [3, 0])
    (True, False)
    """
    return _changes_by(function, B, _FirstOrder(_NEVER, set(), MOST_EXPANDED), factors)


def _changes_by(
    function: Evaluated, B: Sparse, arithmetic: _FirstOrder, factors: Iterable[int | Fraction | None]
) -> bool:
    """Whether each entry of df(θ)·Bθ is proved to be its factor, if one is given, times that of f(θ)."""
    scale = lcm(*(x.denominator for x in B.values()))
    changes: dict[int, _Polynomial] = {}
    for (i, j), x in B.items():
        changes.setdefault(i, {})[(j,)] = int(x * scale)
    symbols = arithmetic.symbols
    parameters = {}
    for name, shape in function.shapes.items():
        entries = [
            _Pair({(i,): 1}, changes.get(i, {}), arithmetic) for i in itertools.islice(symbols, prod(shape))
        ]
        parameters[name] = _array(entries, shape)
    shape = (1, *function.input_shape)
    inputs = [_Pair({(i,): 1}, {}, arithmetic) for i in itertools.islice(symbols, prod(shape))]
    try:
        out = function.evaluate(arithmetic, parameters, _array(inputs, shape))
    except _TooLongError:
        return False
    pairs = (
        x if isinstance(x, _Pair) else _Pair({(): x} if x else {}, {}, arithmetic)
        for x in np.asarray(out).flat
    )
    left = (
        _sum(pair.change, pair.value, -factor * scale) if factor else pair.change
        for pair, factor in zip(pairs, factors, strict=False)
        if factor is not None
    )
    return arithmetic.most >= 0 and not any(left)


def _array(entries: list[Any], shape: tuple[int, ...]) -> Array:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


_moves = np.vectorize(lambda x: isinstance(x, _Pair) and bool(x.change), otypes=[bool])


def _dot(left: Array, right: Array) -> _Polynomial:
    """The value of a product of vectors."""
    total = sum(x * y for x, y in zip(left, right, strict=True))
    if isinstance(total, _Pair):
        return total.value
    return {(): _exact(total)} if total else {}


class _TooLongError(EvaluationEnded):
    """The polynomials have too many terms."""


class _FirstOrder(RingArithmetic):
    """Arithmetic of pairs that brings in new symbols for long values, or for a layer's last sum alone."""

    def __init__(self, longer_than: int | None, kept: set[int], most: int) -> None:
        self.longer_than, self.kept, self.most = longer_than, kept, most
        self.symbols: Iterator[int] = itertools.count()
        # Where no value gets new symbols, nothing need be known of most values.
        self.is_lazy = longer_than == _NEVER

    def matmul(self, a: Array, b: Array) -> Array:
        """Stacks of matrices."""
        if not self.is_lazy or min(a.ndim, b.ndim) < 2:
            return self._shortened(a @ b, self.longer_than)
        stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (np.broadcast_to(x, (*stack, *x.shape[-2:])) for x in (a, b))
        out = np.empty((*stack, a.shape[-2], b.shape[-1]), dtype=object)
        for place in np.ndindex(stack):
            left, right = a[place], b[place]
            moves = _moves(left).any(axis=0) | _moves(right).any(axis=1)
            # What moves no factor of a product changes its value alone.
            changed = left[:, moves] @ right[moves]
            for i, j in np.ndindex(out.shape[-2:]):
                change = changed[i, j].change if isinstance(changed[i, j], _Pair) else {}
                out[(*place, i, j)] = _Pair(None, change, self, partial(_dot, left[i], right[:, j]))
        return self._shortened(out, self.longer_than)

    def times(self, a: Array, b: Array) -> Array:
        """Entrywise product."""
        return self._shortened(a * b, self.longer_than)

    def clean(self, a: Array) -> Array:
        """The last sum of a layer."""
        return self._shortened(a, self.longer_than or 1)

    def _shortened(self, a: Array, longer_than: int | None) -> Array:
        """The array in new symbols, if its values are long and their changes are combinations of them."""
        if self.most < 0:
            raise _TooLongError
        if self.is_lazy:
            return a
        pairs = [x if isinstance(x, _Pair) else _Pair({(): x} if x else {}, {}, self) for x in a.flat]
        if longer_than is None or all(len(pair.value) <= longer_than for pair in pairs):
            return a
        if self.kept and any(sum(s in self.kept for s in m) == 1 for pair in pairs for m in pair.value):
            return a
        echelon = _Echelon(self)
        values = [echelon.combination(pair.value, extend=True) for pair in pairs]
        changes = [echelon.combination(pair.change, extend=False) for pair in pairs]
        if any(change is None for change in changes):
            return a
        new = zip(values, changes, strict=True)
        return _array([_Pair(value or {}, change or {}, self) for value, change in new], a.shape)

    def spend(self, products: int) -> bool:
        """Count products of terms, and say whether they may still be made."""
        self.most -= products
        return self.most >= 0


class _Echelon:
    """Polynomials in echelon form, each with what takes its place: a symbol times the monomial that it has.

    Two that are multiples of one polynomial by monomials get the same symbol, so that vectors that are
    multiples of one vector remain so.
    """

    def __init__(self, arithmetic: _FirstOrder) -> None:
        self.arithmetic = arithmetic
        self.rows: dict[tuple[int, ...], tuple[_Polynomial, tuple[int, ...]]] = {}
        self.symbols: dict[frozenset[tuple[tuple[int, ...], int | Fraction]], int] = {}

    def combination(self, f: _Polynomial, extend: bool) -> _Polynomial | None:
        """f in the symbols of the rows; a new row for what is left of it, or ``None``."""
        combined: _Polynomial = {}
        while f:
            leading = max(f)
            if leading not in self.rows:
                if not extend:
                    return None
                new = self._replacement(f)
                self.rows[leading] = f, new
                combined[new] = combined.get(new, 0) + 1
                break
            row, new = self.rows[leading]
            if not self.arithmetic.spend(len(row)):
                raise _TooLongError
            factor = _exact(Fraction(f[leading]) / row[leading])
            combined[new] = combined.get(new, 0) + factor
            f = _sum(f, row, -factor)
        return combined

    def _replacement(self, f: _Polynomial) -> tuple[int, ...]:
        """The monomial that takes the place of a polynomial: its greatest common one times a symbol."""
        common = reduce(and_, map(Counter, f))
        rest = frozenset((tuple((Counter(m) - common).elements()), x) for m, x in f.items())
        if rest not in self.symbols:
            self.symbols[rest] = next(self.arithmetic.symbols)
        return tuple(sorted((*common.elements(), self.symbols[rest])))


class _Pair:
    """A scalar's value and change.

    A value may wait until it is asked for: as a function that finds it, or as two parts, whose sum it is.
    """

    __slots__ = ("_value", "arithmetic", "change", "waiting")

    def __init__(
        self,
        value: _Polynomial | None,
        change: _Polynomial,
        arithmetic: _FirstOrder,
        waiting: Callable[[], _Polynomial] | tuple[_Pair, _Pair] | None = None,
    ) -> None:
        self._value, self.waiting = value, waiting
        self.change: _Polynomial = change
        self.arithmetic: _FirstOrder = arithmetic
        if waiting and not arithmetic.is_lazy:
            self._value = self.value

    @property
    def value(self) -> _Polynomial:
        """The polynomial."""
        if self._value is None:
            addends, node = [], self
            while node._value is None and isinstance(node.waiting, tuple):
                node, addend = node.waiting  # a sum of many is no deep recursion
                addends.append(addend)
            if node._value is None:
                assert callable(node.waiting)
                node._value = node.waiting()
            self._value = reduce(lambda total, addend: _sum(total, addend.value), addends[::-1], node._value)
        return self._value

    def __add__(self, other: Any) -> _Pair:
        if isinstance(other, _Pair):
            change = _sum(self.change, other.change) if other.change else self.change
            return _Pair(None, change, self.arithmetic, (self, other))
        return _Pair(_sum(self.value, {(): _exact(other)}), self.change, self.arithmetic) if other else self

    def __mul__(self, other: Any) -> _Pair:
        spend = self.arithmetic.spend
        if isinstance(other, _Pair):
            change: _Polynomial = {}
            if self.change:
                change = _product(self.change, other.value, spend)
            if other.change:
                change = _sum(change, _product(self.value, other.change, spend))
            return _Pair(None, change, self.arithmetic, lambda: _product(self.value, other.value, spend))
        number: _Polynomial = {(): _exact(other)} if other else {}
        return _Pair(
            _product(self.value, number, spend), _product(self.change, number, spend), self.arithmetic
        )

    def __pow__(self, exponent: int) -> Any:
        return prod([self] * exponent) if exponent else 1

    def __neg__(self) -> _Pair:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __truediv__(self, number: Any) -> _Pair:
        return self * (1 / Fraction(_exact(number)))

    __radd__, __rmul__ = __add__, __mul__


def _exact(number: Any) -> int | Fraction:
    x = Fraction(number)  # also of a float, which is the rational number that it stands for
    return x.numerator if x.denominator == 1 else x


def _sum(f: _Polynomial, g: _Polynomial, factor: int | Fraction = 1) -> _Polynomial:
    total = dict(f)
    for monomial, x in g.items():
        if y := total.get(monomial, 0) + factor * x:
            total[monomial] = y
        else:
            total.pop(monomial, None)
    return total


def _product(f: _Polynomial, g: _Polynomial, spend: Any) -> _Polynomial:
    total: _Polynomial = {}
    if not spend(len(f) * len(g)):  # an exception here would get lost in numpy's product of matrices
        return total
    for one, x in f.items():
        for other, y in g.items():
            monomial = tuple(sorted(one + other))
            total[monomial] = total.get(monomial, 0) + x * y
    return {monomial: x for monomial, x in total.items() if x}
