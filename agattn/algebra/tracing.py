"""Derivatives of functions of arrays by the chain rule backwards, over any scalars.

A function is evaluated on arrays that remember how they came about. Its cotangents are pulled back through
that record. The function may use what :class:`agattn.algebra.arithmetic.Arithmetic` offers, and sums,
differences, ``swapaxes``, ``sum(axis)`` and indices.

>>> from agattn.algebra.arithmetic import FloatArithmetic
>>> tracing = Tracing(FloatArithmetic())
>>> x = tracing.record(np.array([[2.0, 3.0]]))
>>> out = tracing.times(x, x)                       # one input, two squares
>>> tracing.pull_back(out, np.ones((1, 1, 2)))
>>> x.gradient.tolist()
[[[4.0, 6.0]]]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array

Pullback = Callable[[Array], Array]  # from (m, *shape of the result) to (m, *shape of the argument)


@dataclass(eq=False)
class Traced:
    """An array, (n, ...), and the arguments it was computed from, each with its pullback."""

    value: Array
    tracing: Tracing
    arguments: list[tuple[Traced, Pullback]] = field(default_factory=list)
    gradient: Array | None = None
    __array_ufunc__ = None  # so that numpy leaves sums with its arrays to this class

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value, (n, ...)."""
        return tuple(self.value.shape)

    def __add__(self, other: Any) -> Any:
        return self.tracing.record(_value(self) + _value(other), (self, _same), (other, _same))

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self.tracing.record(-self.value, (self, lambda G: -G))

    def __sub__(self, other: Any) -> Any:
        return self.__add__(-other)

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

    def softmax(self, a: Any) -> Any:
        """The softmax of every column: dw_j = w_j (da_j − Σ_k w_k da_k), its own transpose."""
        W = self.arithmetic.softmax(_value(a))

        def pull(G: Array) -> Array:
            weighted = self.arithmetic.times(W, G)
            return weighted - self.arithmetic.times(W, weighted.sum(axis=-2, keepdims=True))

        return self.record(W, (a, pull))

    def identity(self, n: int) -> Array:
        """A constant."""
        return self.arithmetic.identity(n)

    def constant(self, numbers: Array) -> Array:
        """Constants."""
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
