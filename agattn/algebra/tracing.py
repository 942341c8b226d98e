"""Derivatives of functions of arrays by the chain rule, backwards or forwards, over any scalars.

*Backwards* a function is evaluated on arrays that remember how they came about. Its cotangents are pulled
back through that record. *Forwards* it is evaluated on arrays with tangents, which are pushed on. Backwards
costs a multiple of the number of cotangents, forwards a multiple of the number of tangents. The function may
use what :class:`agattn.algebra.arithmetic.Arithmetic` offers, and sums, differences, ``swapaxes``,
``sum(axis)`` and indices.

>>> from agattn.algebra.arithmetic import FloatArithmetic
>>> tracing = Tracing(FloatArithmetic())
>>> x = tracing.record(np.array([[2.0, 3.0]]))
>>> out = tracing.times(x, x)                       # one input, two squares
>>> tracing.pull_back(out, np.ones((1, 1, 2)))
>>> x.gradient.tolist()
[[[4.0, 6.0]]]
>>> pushing = Pushing(FloatArithmetic())
>>> y = Pushed(np.array([[2.0, 3.0]]), np.eye(2)[:, None], pushing)
>>> pushing.times(y, y).tangents.tolist()           # two tangents, of one input
[[[4.0, 0.0]], [[0.0, 6.0]]]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, ArrayLike, Places

Pullback = Callable[[Array], Array]  # from (m, *shape of the result) to (m, *shape of the argument)


@dataclass(eq=False)
class Traced(ArrayLike):
    """An array, (n, ...), and the arguments it was computed from, each with its pullback."""

    value: Array
    tracing: Tracing
    arguments: list[tuple[Traced, Pullback]] = field(default_factory=list)
    gradient: Array | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value, (n, ...)."""
        return tuple(self.value.shape)

    def __add__(self, other: Any) -> Any:
        return self.tracing.record(_value(self) + _value(other), (self, _same), (other, _same))

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self.tracing.record(-self.value, (self, lambda G: -G))

    def __truediv__(self, number: float) -> Any:
        return self.tracing.record(self.value / number, (self, lambda G: G / number))

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)

        def pull(G: Array) -> Array:
            if all(k is None or k == slice(None) for k in keys):
                return G.reshape(len(G), *self.shape)
            back = np.zeros((len(G), *self.shape), dtype=G.dtype)
            back[(slice(None), *keys)] = G
            return back

        return self.tracing.record(self.value[key], (self, pull))

    def swapaxes(self, one: int, other: int) -> Any:
        """The array with two axes exchanged; the first axis stays where it is."""
        axes = [axis if axis < 0 else axis + 1 for axis in (one, other)]
        return self.tracing.record(self.value.swapaxes(one, other), (self, lambda G: G.swapaxes(*axes)))

    def sum(self, axis: int, keepdims: bool = False) -> Any:
        """The sum over an axis other than the first."""
        behind = axis if axis < 0 else axis + 1

        def pull(G: Array) -> Array:
            return np.broadcast_to(G if keepdims else np.expand_dims(G, behind), (len(G), *self.shape))

        return self.tracing.record(self.value.sum(axis=axis, keepdims=keepdims), (self, pull))


def _value(a: Any) -> Array:
    return a.value if isinstance(a, Traced) else a


def _same(G: Array) -> Array:
    return G


class Tracing(Arithmetic):
    """An arithmetic on traced arrays; plain arrays among them are constants."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic
        self.tape: list[Traced] = []

    def record(self, value: Array, *arguments: tuple[Any, Pullback]) -> Any:
        """A traced array with this value, of an operation on arguments with these pullbacks."""
        traced = [(a, pull) for a, pull in arguments if isinstance(a, Traced)]
        if arguments and not traced:
            return value
        self.tape.append(Traced(value, self, traced))
        return self.tape[-1]

    def matmul(self, a: Any, b: Any) -> Any:
        """Stacks of matrices."""
        one, other, multiply = _value(a), _value(b), self.arithmetic.matmul
        return self.record(
            multiply(one, other),
            (a, lambda G: multiply(G, other.swapaxes(-1, -2))),
            (b, lambda G: multiply(one.swapaxes(-1, -2), G)),
        )

    def times(self, a: Any, b: Any) -> Any:
        """Entrywise product."""
        one, other, multiply = _value(a), _value(b), self.arithmetic.times
        return self.record(
            multiply(one, other), (a, lambda G: multiply(G, other)), (b, lambda G: multiply(one, G))
        )

    def _fit(self, G: Array, shape: tuple[int, ...]) -> Array:
        """Add up a gradient, (m, ...), over the axes along which an argument of this shape was repeated."""
        extra = G.ndim - 1 - len(shape)
        axes = [*range(1, 1 + extra)]
        axes += [n + 1 + extra for n, size in enumerate(shape) if size == 1 != G.shape[n + 1 + extra]]
        if not axes:
            return G
        return self.arithmetic.clean(G.sum(axis=tuple(axes), keepdims=True)).reshape(len(G), *shape)

    def clean(self, a: Any) -> Any:
        """Normal form, which changes no derivative."""
        return self.record(self.arithmetic.clean(_value(a)), (a, _same))

    def entries(self, a: Any, places: Places) -> Any:
        """Entries of every array; their gradients are added up at their places."""
        entries_of = self.arithmetic.entries(_value(a), places)
        return self.record(entries_of, (a, lambda G: self.arithmetic.clean(places.put_back(G))))

    def concatenate(self, arrays: Sequence[Any]) -> Any:
        """Along the second axis; the gradient is cut into pieces."""
        ends = np.cumsum([a.shape[1] for a in arrays]).tolist()

        def piece(start: int, stop: int) -> Pullback:
            return lambda G: G[:, :, start:stop]

        pieces = zip(arrays, map(piece, [0, *ends], ends), strict=True)
        return self.record(self.arithmetic.concatenate([_value(a) for a in arrays]), *pieces)

    def softmax(self, a: Any, seen: Array | None = None) -> Any:
        """The softmax of every column: dw_j = w_j (da_j − Σ_k w_k da_k), its own transpose."""
        W = self.arithmetic.softmax(_value(a), seen)

        def pull(G: Array) -> Array:
            weighted = self.arithmetic.times(W, G)
            return weighted - self.arithmetic.times(W, weighted.sum(axis=-2, keepdims=True))

        return self.record(W, (a, pull))

    def identity(self, n: int) -> Array:
        return self.arithmetic.identity(n)

    def constant(self, numbers: Array) -> Array:
        return self.arithmetic.constant(numbers)

    def pull_back(self, out: Traced, cotangents: Array) -> None:
        """Find the gradients of what was recorded without arguments, from cotangents (m, n, ...)."""
        out.gradient = cotangents
        for node in reversed(self.tape):
            if node.gradient is None or not node.arguments:
                continue
            for argument, pull in node.arguments:
                part = self._fit(pull(node.gradient), argument.shape)
                if argument.gradient is not None:
                    part = self.arithmetic.clean(argument.gradient + part)
                argument.gradient = part
            node.gradient = None


@dataclass(eq=False)
class Pushed(ArrayLike):
    """An array, (n, ...), and its tangents, (m, n, ...) or (m, 1, ...)."""

    value: Array
    tangents: Array
    pushing: Pushing

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value, (n, ...)."""
        return tuple(self.value.shape)

    def _with(self, value: Array, tangents: Array) -> Any:
        return Pushed(value, tangents, self.pushing)

    def __add__(self, other: Any) -> Any:
        total = self.value + _primal(other)
        if isinstance(other, Pushed):
            one, two = (_aligned(a, total.ndim) for a in (self, other))
            return self._with(total, one + two)
        tangents = _aligned(self, total.ndim)
        behind = np.broadcast_shapes(tangents.shape[2:], total.shape[1:])
        return self._with(total, np.broadcast_to(tangents, (*tangents.shape[:2], *behind)).copy())

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self._with(-self.value, -self.tangents)

    def __truediv__(self, number: float) -> Any:
        return self._with(self.value / number, self.tangents / number)

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        return self._with(self.value[key], self.tangents[(slice(None), *keys)])

    def swapaxes(self, one: int, other: int) -> Any:
        """The array with two axes exchanged; the first axis stays where it is."""
        axes = [axis if axis < 0 else axis + 1 for axis in (one, other)]
        return self._with(self.value.swapaxes(one, other), self.tangents.swapaxes(*axes))

    def sum(self, axis: int, keepdims: bool = False) -> Any:
        """The sum over an axis other than the first."""
        behind = axis if axis < 0 else axis + 1
        total = (
            self.value.sum(axis=axis, keepdims=keepdims),
            self.tangents.sum(axis=behind, keepdims=keepdims),
        )
        return self._with(*total)


def _primal(a: Any) -> Array:
    return a.value if isinstance(a, Pushed) else a


def _aligned(a: Pushed, axes: int) -> Array:
    """The tangents for a value with so many axes, where those of the array come last."""
    return a.tangents[(slice(None), *[None] * (axes - a.value.ndim))]


class Pushing(Arithmetic):
    """An arithmetic on arrays with tangents; plain arrays among them are constants."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic

    def _product(self, multiply: Callable[[Array, Array], Array], a: Any, b: Any) -> Any:
        """d(ab) = da·b + a·db, for products of entries and of matrices."""
        one, other = _primal(a), _primal(b)
        value = multiply(one, other)
        if not isinstance(a, Pushed) and not isinstance(b, Pushed):
            return value
        axes, parts = max(one.ndim, other.ndim), []
        if isinstance(a, Pushed):
            parts.append(multiply(_aligned(a, axes), other))
        if isinstance(b, Pushed):
            parts.append(multiply(one, _aligned(b, axes)))
        tangents = parts[0] if len(parts) == 1 else self.arithmetic.clean(parts[0] + parts[1])
        return Pushed(value, tangents, self)

    def matmul(self, a: Any, b: Any) -> Any:
        return self._product(self.arithmetic.matmul, a, b)

    def times(self, a: Any, b: Any) -> Any:
        return self._product(self.arithmetic.times, a, b)

    def clean(self, a: Any) -> Any:
        """Normal form, of the tangents as well."""
        if not isinstance(a, Pushed):
            return self.arithmetic.clean(a)
        return Pushed(self.arithmetic.clean(a.value), self.arithmetic.clean(a.tangents), self)

    def entries(self, a: Any, places: Places) -> Any:
        """Entries of every array, and of its tangents."""
        entries_of = self.arithmetic.entries(_primal(a), places)
        if not isinstance(a, Pushed):
            return entries_of
        return Pushed(entries_of, a.tangents[(slice(None), slice(None), *places.index)], self)

    def concatenate(self, arrays: Sequence[Any]) -> Any:
        """Along the second axis; constants have tangents 0."""
        value = self.arithmetic.concatenate([_primal(a) for a in arrays])
        pushed = [a.tangents for a in arrays if isinstance(a, Pushed)]
        if not pushed:
            return value
        m, n = len(pushed[0]), max(tangents.shape[1] for tangents in pushed)
        zero, parts = np.zeros((), dtype=pushed[0].dtype), []
        for a in arrays:
            given = a.tangents if isinstance(a, Pushed) else zero
            parts.append(np.broadcast_to(given, (m, n, *a.shape[1:])))
        return Pushed(value, np.concatenate(parts, axis=2), self)

    def softmax(self, a: Any, seen: Array | None = None) -> Any:
        """The softmax of every column: dw_j = w_j (da_j − Σ_k w_k da_k)."""
        W = self.arithmetic.softmax(_primal(a), seen)
        if not isinstance(a, Pushed):
            return W
        weighted = self.arithmetic.times(W, a.tangents)
        return Pushed(W, weighted - self.arithmetic.times(W, weighted.sum(axis=-2, keepdims=True)), self)

    def identity(self, n: int) -> Array:
        return self.arithmetic.identity(n)

    def constant(self, numbers: Array) -> Array:
        return self.arithmetic.constant(numbers)
