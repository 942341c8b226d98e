"""The Jacobian of θ ↦ (φ_θ(X_1), ..., φ_θ(X_n)) at given parameters, over any scalars, for any architecture.

Its rank, over enough inputs and at generic parameters, is the dimension of the neuromanifold. The columns are
the parameters. A row belongs to an input X and a cotangent c ∈ ℝ^{d_l×t}: the gradient of ⟨c, φ(X)⟩. With all
d_l t unit cotangents at each input one gets the full Jacobian; but its rows at one input repeat much of what
other inputs say (φ(X) = L X P says only t² numbers about P once L is known), and any number of inputs that
looks natural can be too few. **One random cotangent at each of many random inputs wastes nothing:** while
some combination of parameter directions that changes φ is not yet excluded, a further random row excludes
one more, so that n rows have rank min(n, dim) with probability close to 1.

There are far fewer rows than directions in parameter space at which one would push forward, so the rows are
built by the chain rule backwards: the architecture evaluates itself on values that remember how they came
about, and the cotangents are pulled back through that record, for all inputs at once.

>>> import numpy as np
>>> from agattn.algebra.arithmetic import FloatArithmetic
>>> from agattn.architectures import DeepNetwork
>>> network = DeepNetwork((2, 1), (2,), t=2)
>>> draw = np.random.default_rng(0).standard_normal
>>> parameters = {name: draw(shape) for name, shape in network.shapes.items()}
>>> J = jacobian(network, parameters, draw((5, 2, 2)), FloatArithmetic())
>>> J.shape, int(np.linalg.matrix_rank(J))
((10, 10), 5)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array
from agattn.architectures import Architecture


def jacobian(
    architecture: Architecture,
    parameters: Mapping[str, Array],
    X: Array,
    arithmetic: Arithmetic,
    cotangents: Array | None = None,
) -> Array:
    """The derivatives of all outputs, or of some combinations of them, by all parameters.

    Args:
        architecture: what is differentiated.
        parameters: an array for each of its ``shapes``.
        X: a stack of inputs, (n, d_0, t).
        arithmetic: that of the scalars.
        cotangents: the combinations of outputs, (n, m, d_l, t); all m = d_l·t single outputs by default.

    Returns:
        An array of shape (n·m, parameters). Rows are ordered by input, then cotangent (output coordinate,
        then token, by default).

    Raises:
        TypeError: if the architecture is normalized and the scalars have no softmax.
    """
    tracing = _Tracing(arithmetic)
    # A copy of the parameters for each input makes the gradient for each input a gradient by its copy.
    copies = {
        name: tracing.record(np.broadcast_to(parameters[name], (len(X), *shape)))
        for name, shape in architecture.shapes.items()
    }
    out = architecture.evaluate(tracing, copies, X)
    if cotangents is None:
        size = out.value[0].size
        units = arithmetic.identity(size).reshape(size, *out.value.shape[1:])
        cotangents = np.broadcast_to(units, (len(X), *units.shape))
    tracing.pull_back(out, np.moveaxis(cotangents, 1, 0))
    rows = cotangents.shape[0] * cotangents.shape[1]
    blocks = []
    for copy in copies.values():
        G = np.zeros((rows // len(X), *copy.shape)) if copy.gradient is None else copy.gradient
        blocks.append(np.moveaxis(G, 0, 1).reshape(rows, -1))
    return np.concatenate(blocks, axis=1)


def gradients(
    architecture: Architecture,
    parameters: Mapping[str, Array],
    X: Array,
    arithmetic: Arithmetic,
    cotangent: Callable[[Array], Array],
) -> dict[str, Array]:
    """The gradients of Σ ⟨c, φ(X_i)⟩ over the inputs, for several parameters at once.

    Args:
        architecture: what is differentiated.
        parameters: for each of its ``shapes`` an array with one axis more in front, of length m.
        X: a stack of inputs, (n, d_0, t).
        arithmetic: that of the scalars.
        cotangent: given all outputs, (m, n, d_l, t), returns c, of the same shape.

    Returns:
        Arrays of the shapes of the parameters given.

    >>> from agattn.algebra.arithmetic import FloatArithmetic
    >>> from agattn.architectures import SingleLayer
    >>> weights = {"K": np.array([[[2.0]]]), "Q": np.array([[[3.0]]]), "V": np.array([[[5.0]]])}
    >>> one = np.ones((1, 1, 1))
    >>> found = gradients(SingleLayer(1, 1, t=1), weights, one, FloatArithmetic(), np.ones_like)
    >>> {name: array.item() for name, array in found.items()}
    {'K': 15.0, 'Q': 10.0, 'V': 6.0}
    """
    tracing, copies, n = _Tracing(arithmetic), {}, len(X)
    for name, values in parameters.items():
        number, shape = len(values), values.shape[1:]
        repeated = np.broadcast_to(values[:, None], (number, n, *shape)).reshape(-1, *shape)
        copies[name] = tracing.record(repeated)
    inputs = np.broadcast_to(X, (number, *X.shape)).reshape(-1, *X.shape[1:])
    out = architecture.evaluate(tracing, copies, inputs)
    values = out.value.reshape(number, n, *out.value.shape[1:])
    tracing.pull_back(out, cotangent(values).reshape(1, *out.value.shape))
    found = {}
    for name, copy in copies.items():
        G = np.zeros((1, *copy.shape)) if copy.gradient is None else copy.gradient
        found[name] = G.reshape(number, n, *copy.shape[1:]).sum(axis=1)
    return found


Pullback = Callable[[Array], Array]  # from (m, *shape of the result) to (m, *shape of the argument)


@dataclass(eq=False)
class _Traced:
    """An array, (n, ...), and the arguments it was computed from, each with its pullback."""

    value: Array
    tracing: _Tracing
    arguments: list[tuple[_Traced, Pullback]] = field(default_factory=list)
    gradient: Array | None = None
    __array_ufunc__ = None  # so that numpy leaves sums with its arrays to this class

    @property
    def shape(self) -> tuple[int, ...]:
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
        axes = [axis if axis < 0 else axis + 1 for axis in (one, other)]
        return self.tracing.record(self.value.swapaxes(one, other), (self, lambda G: G.swapaxes(*axes)))

    def sum(self, axis: int, keepdims: bool = False) -> Any:
        behind = axis if axis < 0 else axis + 1

        def pull(G: Array) -> Array:
            return np.broadcast_to(G if keepdims else np.expand_dims(G, behind), (len(G), *self.shape))

        return self.tracing.record(self.value.sum(axis=axis, keepdims=keepdims), (self, pull))


def _value(a: Any) -> Array:
    return a.value if isinstance(a, _Traced) else a


def _same(G: Array) -> Array:
    return G


class _Tracing(Arithmetic):
    """An arithmetic on traced arrays; plain arrays among them are constants."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic
        self.tape: list[_Traced] = []

    def record(self, value: Array, *arguments: tuple[Any, Pullback]) -> Any:
        """A traced array with this value, of an operation on arguments with these pullbacks."""
        traced = [(a, pull) for a, pull in arguments if isinstance(a, _Traced)]
        if arguments and not traced:
            return value
        self.tape.append(_Traced(value, self, traced))
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

    def pull_back(self, out: _Traced, cotangents: Array) -> None:
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
