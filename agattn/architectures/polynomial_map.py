"""Any polynomial map, as a plain Python function of named arrays.

>>> def attention(A, V, X):
...     return V @ X @ X.T @ A @ X
>>> layer = PolynomialMap(attention, {"A": (2, 2), "V": (1, 2)}, inputs=(2, 2))
>>> print(layer)
attention(A: 2×2, V: 1×2; X: 2×2)
>>> layer.parameters, layer.output_shape, layer.degree
(6, (1, 2), 5)
>>> import numpy as np
>>> from agattn.algebra.arithmetic import RingArithmetic
>>> weights = {"A": np.array([[1, 0], [0, 1]], dtype=object), "V": np.array([[1, 2]], dtype=object)}
>>> layer.evaluate(RingArithmetic(), weights, np.array([[[1, 0], [0, 3]]], dtype=object)).tolist()
[[[1, 54]]]
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import prod
from typing import Any, ClassVar

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, BadPrimeError, ModularArithmetic, RingArithmetic
from agattn.algebra.polynomial import evaluate
from agattn.algebra.programs import Operation, StraightLine, Trace, hashable
from agattn.algebra.residues import PRIME_BITS, random_primes
from agattn.architectures.layers import power
from agattn.architectures.parametrized import Parametrized
from agattn.architectures.symmetry import Symmetry
from agattn.calls import constructed, positive_integer, shown
from agattn.errors import InputError, TooLargeError, argument, nearest
from agattn.sheet.result import Key, Named, Positive


@constructed
class PolynomialMap(Parametrized):
    """A family of polynomial maps: θ ↦ φ_θ, where φ_θ(X) is what a Python function returns.

    The function gets each parameter and X by name, and may use ``+``, ``-``, ``*``, ``@``, ``**`` with whole
    numbers, division by numbers, ``.T``, ``sum``, ``shape``, ``len``, indices and slices. It returns a
    matrix, a vector, a number, or nested lists of numbers made so. It is run twice when the map is made, and
    never again: what it does is recorded as a program (:mod:`agattn.algebra.programs`), in which lists of
    numbers cost as much as arrays.

    Args:
        function: of the parameters and, if there are inputs, of X; it must not depend on anything else.
        parameters: the shape of each parameter, by its name in the function: a tuple, or one number.
        inputs: the shape of X, a tuple of one or two numbers, or a number; ``None`` for a map of the
            parameters alone, such as the parametrization of a variety.
        name: the name in print; the function's name by default.

    Raises:
        InputError: if the function is not polynomial, raises, returns something else, leaves a parameter or X
            unused, or returns two results for the same arguments; or if shapes do not fit.

    >>> def twisted_cubic(s):
    ...     return [s[0] ** 3, s[0] ** 2 * s[1], s[0] * s[1] ** 2, s[1] ** 3]
    >>> PolynomialMap(twisted_cubic, {"s": 2}).output_shape
    (4, 1)
    >>> PolynomialMap(lambda A, X: A @ X / A[0, 0], {"A": (2, 2)}, 2)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: <lambda> divides by a parameter or an input; a polynomial divides by numbers
    """

    function_name: Key[str, "The name of the Python function.", Named("function")]
    shapes: Key[dict[str, tuple[Positive, ...]], "The shape of each parameter.", Named("parameters")]
    inputs: Key[tuple[Positive, ...] | None, "The shape of X; null where there is none."]

    #: None are known in advance.
    symmetries: ClassVar[tuple[Symmetry, ...]] = ()

    def __init__(
        self,
        function: Callable[..., Any],
        parameters: Mapping[str, Any],
        inputs: Any = None,
        name: str | None = None,
    ) -> None:
        if not callable(function):
            raise InputError(
                f"the function is {shown(function)}; it must be a Python function of named arrays"
            )
        self.function, self.function_name = function, name or str(getattr(function, "__name__", "function"))
        if not isinstance(parameters, Mapping) or not parameters:
            raise InputError(
                f"the parameters are {shown(parameters)}; give shapes by their names, such as {{'A': (2, 2)}}"
            )
        self.shapes = {str(key): _shape(str(key), value, range(9)) for key, value in parameters.items()}
        self.inputs = None if inputs is None else _shape("inputs", inputs, range(1, 3))
        if self.inputs is not None and "X" in self.shapes:
            raise InputError("a parameter is called X, which is the input; call it by another letter")
        self._arrays = self.shapes | ({"X": self.inputs} if self.inputs else {})
        self._check_names()
        out = self._try()
        self.degree, least, most = out.degree
        self.output_shape = out.shape[0], out.shape[1]
        #: The degrees in X that may occur.
        self.input_degrees = range(least, most + 1)
        #: What the function does.
        self.program = StraightLine(out.call, out)

    @classmethod
    def of_expressions(
        cls,
        expressions: Any,
        parameters: Sequence[Any],
        inputs: Sequence[Any] | None = None,
        name: str = "expressions",
    ) -> PolynomialMap:
        """The map that has expressions of sympy as the entries of its output.

        Args:
            expressions: a list of expressions, or a matrix of them as nested lists or of sympy.
            parameters: the symbols that are parameters, in their order.
            inputs: the symbols that are the entries of X, a vector; ``None`` for a map of the parameters.
            name: what the map is called in print.

        Raises:
            InputError: as the class, and if an expression is not polynomial or has another symbol.

        See Also:
            :func:`agattn.algebra.polynomial.evaluate`, which reads an expression by its structure.

        >>> import sympy
        >>> s, t = sympy.symbols("s t")
        >>> PolynomialMap.of_expressions([s**3, s**2 * t, s * t**2, t**3], [s, t])
        expressions(s: 1, t: 1)
        """
        rows = expressions.tolist() if hasattr(expressions, "tolist") else expressions
        if isinstance(rows, str) or not isinstance(rows, (list, tuple)):
            raise InputError(f"the expressions are {shown(rows)}; give a list of expressions of sympy")
        matrix = [list(row) if isinstance(row, (list, tuple)) else [row] for row in rows]
        for one in (*parameters, *(inputs or ())):
            if not getattr(one, "is_Symbol", False):
                raise InputError(f"{shown(one)} is no symbol of sympy; make one by sympy.Symbol")
        names = {str(symbol): symbol for symbol in parameters}
        if len({*names.values(), *(inputs or ())}) < len(parameters) + len(inputs or ()):
            raise InputError("a symbol is given twice, among the parameters and inputs; give each once")

        def function(**arrays: Any) -> Any:
            values = {symbol: arrays[name] for name, symbol in names.items()}
            values |= {symbol: arrays["X"][i] for i, symbol in enumerate(inputs or ())}
            return [[evaluate(one, values) for one in row] for row in matrix]

        return cls(function, dict.fromkeys(names, ()), len(inputs) if inputs else None, name)

    def _check_names(self) -> None:
        """Refuse a function that takes other names than it is given."""
        given = self._arrays
        try:
            parameters = inspect.signature(self.function).parameters
        except (TypeError, ValueError):
            return
        if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
            return
        for name in given:
            if name not in parameters:
                listed = f"; it takes {', '.join(parameters) or 'nothing'}"
                raise InputError(f"{self.function_name} takes no {name}{nearest(name, parameters, listed)}")
        for name, one in parameters.items():
            if one.default is one.empty and one.kind is not one.VAR_POSITIONAL and name not in given:
                what = "give inputs, the shape of X" if name == "X" else f"add {name} to the parameters"
                raise InputError(f"{self.function_name} takes {name}, whose shape is not known; {what}")

    def _try(self) -> Polynomials:
        """The output of the function, a matrix, after two calls.

        The second one finds a function that is random, or that changes with every call.
        """
        out, again = self._called(), self._called()
        same = (out.shape, out.degree, out.names) == (again.shape, again.degree, again.names)
        if not same or (out.call.written() != again.call.written() and not self._equal(out, again)):
            raise InputError(
                f"{self.function_name} gives two different results for the same arguments; it must depend on "
                "nothing else, so draw random numbers and count calls outside of it"
            )
        for name in self._arrays:
            if name not in out.names:
                what = "leave it out" if name != "X" else "leave out inputs"
                raise InputError(f"{self.function_name} never uses {name}; {what}, or use it")
        return out

    def _equal(self, one: Polynomials, other: Polynomials) -> bool:
        """Whether two outputs, computed in different ways, are the same modulo a prime at a random point."""
        for p in random_primes(0, PRIME_BITS):  # others where one divides the denominator of a constant
            generator = np.random.default_rng(0)
            arrays = {
                name: generator.integers(1, p, shape).astype(float)[None]
                for name, shape in self._arrays.items()
            }
            try:
                values = [
                    StraightLine(out.call, out).run(ModularArithmetic(p), arrays) for out in (one, other)
                ]
            except BadPrimeError:
                continue
            return bool((values[0] == values[1]).all())
        raise AssertionError("the primes have no end")

    def _called(self) -> Polynomials:
        """What the function returns for new arguments, as a matrix."""
        call = Trace()
        given = {}
        for name, shape in self._arrays.items():
            degree = (1, 0, 0) if name in self.shapes else (1, 1, 1)
            given[name] = Polynomials(call, "argument", (), name, shape, frozenset([name]), degree)
        try:
            out = _stacked(self.function(**given), call)
        except NotPolynomialError as error:
            raise InputError(f"{self.function_name} {error}") from None
        except (InputError, MemoryError):
            raise  # not by what the function does
        except RecursionError:
            raise InputError(f"{self.function_name} calls itself without an end") from None
        except Exception as error:
            message = " ".join(str(error).split())
            raise InputError(f"{self.function_name} raised {type(error).__name__}: {message}") from error
        if len(out.shape) > 2:
            size = "×".join(map(str, out.shape))
            raise InputError(
                f"{self.function_name} returns an array of {size}; it must be a matrix, a vector or a number"
            )
        for _ in range(2 - len(out.shape)):
            out = out[..., None]
        return out

    @property
    def input_shape(self) -> tuple[int, int]:
        """The shape of X as a matrix; (1, 1) if there is no X."""
        d, t = (*(self.inputs or ()), 1, 1)[:2]
        return d, t

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """φ on a stack of inputs, (n, d, t), as (n, ...), of the shape of the output."""
        arrays = {}
        for name, shape in self.shapes.items():
            array = parameters[name]
            arrays[name] = array if len(array.shape) > len(shape) else array[None]
        if self.inputs:
            arrays["X"] = X[..., 0] if len(self.inputs) == 1 else X
        out = self.program.run(arithmetic, arrays)
        if isinstance(out, np.ndarray) and len(out) < len(X):
            out = np.broadcast_to(out, (len(X), *out.shape[1:]))
        return out

    def summary(self) -> str:
        """The function and the shapes of its arguments in a line."""

        def size(shape: tuple[int, ...]) -> str:
            return "×".join(map(str, shape)) or "1"

        listed = ", ".join(f"{name}: {size(shape)}" for name, shape in self.shapes.items())
        return f"{self.function_name}({listed}{f'; X: {size(self.inputs)}' if self.inputs else ''})"


#: Numbers of eight bytes that are held at a time without ``force``: eight gibibytes.
LARGEST_RUN = 2**30


def numbers_held(given: PolynomialMap) -> int:
    """A bound on the numbers of eight bytes that the Jacobian's rows hold at a time.

    At most eight times the numbers of the program, for as many derivatives as are taken at a time: values,
    the operands of products, gradients of both, and what arithmetic modulo a prime needs on its way.
    """
    return 8 * min(384, given.parameters) * given.program.numbers


def check_run(given: PolynomialMap) -> None:
    """Refuse a map whose Jacobian would fill the memory.

    Raises:
        TooLargeError: if :func:`numbers_held` is more than :data:`LARGEST_RUN`.

    >>> check_run(PolynomialMap(lambda u, v: u[:, None] * v, {"u": 2000, "v": 2000}))
    Traceback (most recent call last):
        ...
    agattn.errors.TooLargeError: <lambda> takes 4006000 intermediate numbers, and its Jacobian up to 92 GiB;
    take smaller arrays, or force=True
    """
    if (held := numbers_held(given)) > LARGEST_RUN:
        raise TooLargeError(
            f"{given.function_name} takes {given.program.numbers} intermediate numbers, and its Jacobian up"
            f" to {8 * held / 2**30:.0f} GiB; take smaller arrays, or {argument('force', True)}"
        )


def _shape(name: str, value: Any, axes: range) -> tuple[int, ...]:
    sizes = (value,) if isinstance(value, (int, str)) or not hasattr(value, "__len__") else tuple(value)
    if len(sizes) not in axes:
        few = "1 or 2" if axes.start else f"at most {axes.stop - 1}"
        raise InputError(f"the shape of {name} is {shown(value)}; it must have {few} numbers")
    return tuple(positive_integer(f"a size of {name}", one) for one in sizes)


#: Bounds on degrees: on that in all from above, and on those in X from below and from above.
Degrees = tuple[int, int, int]


def _either(one: Degrees, two: Degrees) -> Degrees:
    return max(one[0], two[0]), min(one[1], two[1]), max(one[2], two[2])


def _both(one: Degrees, two: Degrees) -> Degrees:
    return one[0] + two[0], one[1] + two[1], one[2] + two[2]


class NotPolynomialError(Exception):
    """Raised by an operation that is not polynomial; the message follows the name of a function."""


def _refused(what: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise NotPolynomialError(f"{what}, which is not polynomial; use + - * @ and ** with whole numbers")

    return refuse


class Polynomials(Operation):
    """An array that a function takes for polynomials in the parameters and inputs.

    Attributes:
        names: those of the parameters and of X that occur.
        degree: bounds on the degree in all, and from both sides on the degrees in X.
    """

    __slots__ = ("degree", "names")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        call: Trace,
        kind: Any,
        operands: tuple[Any, ...],
        static: Any,
        shape: tuple[int, ...],
        names: frozenset[str],
        degree: Degrees,
    ) -> None:
        super().__init__(call, kind, operands, static, shape)
        self.names, self.degree = names, degree

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise NotPolynomialError("takes the length of a single number")
        return self.shape[0]

    def __iter__(self) -> Iterator[Polynomials]:
        return (self[i] for i in range(len(self)))

    def _other(self, other: Any) -> Polynomials:
        """Numbers, and arrays of them, as constants; arrays that belong to this call as they are."""
        if not isinstance(other, Polynomials):
            return _constant(other, self.call)
        if other.call is not self.call:
            raise NotPolynomialError(
                "keeps an array from one call to the next; use the arrays that are its arguments"
            )
        return other

    def _new(self, kind: str, static: Any, shape: tuple[int, ...]) -> Polynomials:
        """What an operation on this array alone makes of it."""
        return _made(self.call, kind, (self,), static, shape, self.names, self.degree)

    def _combined(self, sign: str, other: Any) -> Polynomials:
        """The sum, difference or product; the same object where it was asked for before."""
        if type(other) is not Polynomials or other.call is not self.call:
            other = self._other(other)
        one, two, known = self.number, other.number, self.call.known
        key = (sign, two, one) if two < one and sign != "-" else (sign, one, two)
        result: Polynomials | None = known.get(key)
        if result is None:
            result = _folded(self, sign, other)
            if result is None:
                result = _computed(self, sign, other)
            known[key] = result
        return result

    def __add__(self, other: Any) -> Polynomials:
        return self._combined("+", other)

    __radd__ = __add__

    def __neg__(self) -> Polynomials:
        if self.kind == "constant":
            return _same_constant(self, [-x for x in self.static])
        positive: Polynomials = self.operands[0] if self.kind == "neg" else self._new("neg", None, self.shape)
        return positive

    def __pos__(self) -> Polynomials:
        return self

    def __sub__(self, other: Any) -> Polynomials:
        return self._combined("-", other)

    def __rsub__(self, other: Any) -> Polynomials:
        return self._other(other) - self

    def __mul__(self, other: Any) -> Polynomials:
        return self._combined("*", other)

    __rmul__ = __mul__

    def __matmul__(self, other: Any) -> Polynomials:
        other = self._other(other)
        if not self.shape or not other.shape or self.shape[-1] != other.shape[max(-2, -other.ndim)]:
            raise _unfit(self, "@", other)
        rows = self[None] if self.ndim == 1 else self
        columns = other[..., None] if other.ndim == 1 else other
        for side in (rows, columns):  # of stacks of matrices
            if side.ndim > 2 and rows.ndim != columns.ndim:
                raise _unfit(self, "@", other)
        front = np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
        shape = (*front, rows.shape[-2], columns.shape[-1])
        names, degree = self.names | other.names, _both(self.degree, other.degree)
        out = _made(self.call, "@", (rows, columns), None, shape, names, degree)
        out = out[..., 0, :] if self.ndim == 1 else out
        return out[..., 0] if other.ndim == 1 else out

    def __rmatmul__(self, other: Any) -> Polynomials:
        return self._other(other) @ self

    def __truediv__(self, other: Any) -> Polynomials:
        if isinstance(other, Polynomials):
            raise NotPolynomialError(_DIVISION)
        number = _number(other)
        if not number:
            raise NotPolynomialError("divides by 0")
        return self * (1 / Fraction(number))

    def __rtruediv__(self, other: Any) -> Polynomials:
        raise NotPolynomialError(_DIVISION)

    def __pow__(self, exponent: Any) -> Polynomials:
        try:
            n = operator.index(exponent)
        except TypeError:
            n = -1
        if n < 0:
            raise NotPolynomialError("takes a power that is no whole number of at least 0")
        if n == 0:
            return self._other(1) + self * 0
        result: Polynomials = power(RingArithmetic(), self, n)
        return result

    @property
    def T(self) -> Polynomials:
        """The transpose of a matrix, or of each matrix of a stack; a vector as it is."""
        if self.ndim < 2:
            return self
        if self.kind == "transpose":
            back: Polynomials = self.operands[0]
            return back
        return self._new("transpose", None, (*self.shape[:-2], self.shape[-1], self.shape[-2]))

    def transpose(self) -> Polynomials:
        return self.T

    def sum(self, axis: int | None = None) -> Polynomials:
        """The sum along an axis, or of all entries."""
        if axis is None:
            total = self
            while total.shape:
                total = total.sum(axis=-1)
            return total
        if not hasattr(axis, "__index__") or not -self.ndim <= axis < self.ndim:
            raise NotPolynomialError(f"sums along axis {axis!r} of an array of {_size(self)}")
        behind = axis if axis < 0 else axis - self.ndim
        at = behind + self.ndim
        return self._new("sum", behind, self.shape[:at] + self.shape[at + 1 :])

    def __getitem__(self, key: Any) -> Polynomials:
        keys = key if type(key) is tuple else (key,)
        for one in keys:
            if type(one) is not int:  # of which True is none
                return self._viewed(_plain_index(keys))
        asked, known = (self.number, keys), self.call.known
        result: Polynomials | None = known.get(asked)
        if result is None:
            result = known[asked] = self._part(keys)
        return result

    def _part(self, keys: tuple[int, ...]) -> Polynomials:
        """The part at whole numbers; a part of a part is one of the whole."""
        if len(keys) > len(self.shape):
            return self._viewed(keys)  # an error, in the words of numpy
        places = []
        for axis, (i, n) in enumerate(zip(keys, self.shape, strict=False)):
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
            places.append(i % n)
        if self.kind == "view" and all(type(one) is int for one in self.static):
            whole: Polynomials = self.operands[0]
            return whole[(*self.static, *places)]
        return self._viewed(tuple(places))

    def _viewed(self, keys: tuple[Any, ...]) -> Polynomials:
        """The view at an index, as numpy understands it."""
        return self._new("view", keys, np.broadcast_to(np.False_, self.shape)[keys].shape)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        """Numpy's operators on its arrays and these; nothing else of numpy."""
        allowed: dict[str, Callable[..., Any]] = {
            "add": operator.add,
            "subtract": operator.sub,
            "multiply": operator.mul,
            "divide": operator.truediv,
            "matmul": operator.matmul,
            "negative": operator.neg,
            "power": operator.pow,
            "square": lambda x: x**2,
            "positive": operator.pos,
        }
        if method != "__call__" or named or ufunc.__name__ not in allowed:
            _refused(f"uses np.{ufunc.__name__}")()
        first, *others = inputs
        first = self._other(first) if not isinstance(first, Polynomials) else first
        return allowed[ufunc.__name__](first, *others)

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        """Numpy's transpose and sum; no other function of numpy."""
        if function.__name__ in ("transpose", "sum") and len(args) <= 2 and isinstance(args[0], Polynomials):
            return args[0].T if function.__name__ == "transpose" else args[0].sum(*args[1:], **named)
        _refused(f"uses np.{function.__name__}")()

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotPolynomialError("makes a numpy array of parameters or inputs; use lists")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotPolynomialError(f"uses .{name}; use + - * @ **, .T, sum, indices, slices, lists of numbers")

    __abs__ = _refused("takes an absolute value")
    __lt__ = __le__ = __gt__ = __ge__ = _refused("compares values")
    __eq__ = __ne__ = __bool__ = _refused("compares values")
    __float__ = __int__ = __complex__ = __index__ = _refused(
        "makes a plain number of a parameter or an input"
    )
    __mod__ = __rmod__ = _refused("takes a remainder")
    __floordiv__ = __rfloordiv__ = _refused("divides and rounds")
    __rpow__ = _refused("has a parameter or an input in an exponent")
    __round__ = __trunc__ = __floor__ = __ceil__ = _refused("rounds")


_DIVISION = "divides by a parameter or an input; a polynomial divides by numbers"


def _size(array: Polynomials) -> str:
    return "×".join(map(str, array.shape)) or "a single number"


def _unfit(one: Polynomials, sign: str, other: Polynomials) -> NotPolynomialError:
    return NotPolynomialError(f"has {_size(one)} {sign} {_size(other)}, whose shapes do not fit")


def _number(value: Any) -> Fraction | int:
    """An exact number; every float is the rational that it stands for."""
    try:
        exact = Fraction(value if isinstance(value, (int, float, Fraction)) else value.item())
    except (TypeError, ValueError, OverflowError, AttributeError):
        raise NotPolynomialError(
            f"has the constant {value!r}; constants are finite rational numbers"
        ) from None
    return exact.numerator if exact.denominator == 1 else exact


def _plain_index(keys: tuple[Any, ...]) -> tuple[Any, ...]:
    """An index of whole numbers, slices, None and ...; an error for all others."""
    plain: list[Any] = []
    for one in keys:
        if one is None or one is ... or isinstance(one, slice):
            plain.append(one)
            continue
        try:
            if isinstance(one, bool):  # a mask, which adds an axis
                raise TypeError
            plain.append(operator.index(one))
        except TypeError:
            raise NotPolynomialError(
                f"takes the index {one!r}; use whole numbers, slices, None and ..."
            ) from None
    return tuple(plain)


def _computed(one: Polynomials, sign: str, other: Polynomials) -> Polynomials:
    """A sum, a difference or a product, entry by entry."""
    names = one.names if other.names <= one.names else one.names | other.names
    degree = (_both if sign == "*" else _either)(one.degree, other.degree)
    shape = _broadcast(one, sign, other)
    return Polynomials(one.call, sign, (one, other), None, shape, names, degree)


def _broadcast(one: Polynomials, sign: str, other: Polynomials) -> tuple[int, ...]:
    """The shape of a sum, a difference or a product."""
    if one.shape == other.shape:
        return one.shape
    try:
        return np.broadcast_shapes(one.shape, other.shape)
    except ValueError:
        raise _unfit(one, sign, other) from None


def _folded(one: Polynomials, sign: str, other: Polynomials) -> Polynomials | None:
    """The result where signs or constants spare an operation: x + (−y), (−x)·y, 1·x, −1·x, x + 0."""
    kinds = one.kind, other.kind
    if "neg" not in kinds and "constant" not in kinds:
        return None
    _broadcast(one, sign, other)
    if other.kind == "neg":
        y: Polynomials = other.operands[0]
        return -(one * y) if sign == "*" else one - y if sign == "+" else one + y
    if one.kind == "neg" and sign != "-":
        x: Polynomials = one.operands[0]
        return -(x * other) if sign == "*" else other - x
    if one.kind == other.kind == "constant":
        return _constants_together(one, sign, other)
    for constant, rest in ((one, other), (other, one)):
        if constant.kind != "constant" or not constant.names <= rest.names:
            continue
        if _broadcast(one, sign, other) != rest.shape or len(set(constant.static)) != 1:
            continue
        number = constant.static[0]
        if sign == "*":
            if number == 0:
                return _same_constant(rest, [0] * rest.size)
            return {1: rest, -1: -rest}.get(number) if abs(number) == 1 else None
        if number == 0:
            return -rest if rest is other and sign == "-" else rest
    return None


def _constants_together(one: Polynomials, sign: str, other: Polynomials) -> Polynomials:
    """The sum, the difference or the product of two constants."""
    _broadcast(one, sign, other)
    arrays = (np.array(x.static, dtype=object).reshape(x.shape) for x in (one, other))
    exact = {"+": operator.add, "-": operator.sub, "*": operator.mul}[sign](*arrays)
    numbers = np.asarray(exact, dtype=object)
    degree = (_both if sign == "*" else _either)(one.degree, other.degree)
    names = one.names | other.names
    return _made(one.call, "constant", (), tuple(numbers.ravel()), numbers.shape, names, degree)


def _same_constant(like: Polynomials, numbers: Sequence[Any]) -> Polynomials:
    """A constant that counts as made of an array, as it has its names and its degree."""
    return _made(like.call, "constant", (), tuple(numbers), like.shape, like.names, like.degree)


def _made(
    call: Trace,
    kind: str,
    operands: tuple[Polynomials, ...],
    static: Any,
    shape: tuple[int, ...],
    names: frozenset[str],
    degree: Degrees,
) -> Polynomials:
    """The result of an operation, which is made if it is new."""
    key = (kind, hashable(static), shape, names, degree, *(one.number for one in operands))
    if key not in call.known:
        call.known[key] = Polynomials(call, kind, operands, static, shape, names, degree)
    made: Polynomials = call.known[key]
    return made


def _constant(value: Any, call: Trace) -> Polynomials:
    """A number or an array of numbers."""
    if type(value) is int:
        return _made(call, "constant", (), (value,), (), _NOTHING, (0, 0, 0))
    array = np.asarray(value, dtype=object)
    if any(isinstance(one, Polynomials) for one in array.ravel()):
        return _stacked(value.tolist() if isinstance(value, np.ndarray) else value, call)
    numbers = tuple(_number(one) for one in array.ravel().tolist())
    return _made(call, "constant", (), numbers, array.shape, _NOTHING, (0, 0, 0))


_NOTHING: frozenset[str] = frozenset()


def _stacked(value: Any, call: Trace) -> Polynomials:
    """A value that a function returns, its lists put together along new axes."""
    if isinstance(value, Polynomials):
        if value.call is not call:
            raise NotPolynomialError(
                "keeps an array from one call to the next; use the arrays that are its arguments"
            )
        return value
    if not isinstance(value, (list, tuple)) or not value:
        if value is None or isinstance(value, (list, tuple)):
            raise NotPolynomialError(f"returns {value!r}; it must return an array, or lists of numbers")
        return _constant(value, call)
    parts = [_stacked(one, call) for one in value]
    if len({part.shape for part in parts}) > 1:
        raise NotPolynomialError("returns a list whose parts have different shapes")
    names = _NOTHING.union(*(part.names for part in parts))
    degree = reduce(_either, (part.degree for part in parts))
    return _made(call, "stack", tuple(parts), None, (len(parts), *parts[0].shape), names, degree)
