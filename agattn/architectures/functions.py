r"""Functions of the parameter arrays of a model, as a person writes them: products, sums, transposes.

The text ``"K_1^T Q_1"`` is the product of a transpose and an array. A small parser reads it; nothing is
evaluated as code. An array with more than two axes is a stack of matrices, such as one for each head, and its
last two axes are the rows and columns. The other axes have the indices i, j, k, ... from the left, so that
``K_1^T Q_1`` is one product for each head. Indices can be written: ``Q_1[2]`` is the second matrix,
``K_2[i] V_1[j]`` has all pairs. ``sum_i`` adds up, and ``⊗`` is the tensor product:

>>> shapes = {"K": (2, 4), "P": (2, 4), "Q": (3, 2, 4), "O": (3, 5, 2)}
>>> read_function("sum_i O P ⊗ K^T Q", shapes)
sum_i O P ⊗ K^T Q: 5×4×4×4
>>> read_function("K^T Q[1] - Q[1]^T K", shapes)
K^T Q[1] − Q[1]^T K: 4×4
>>> read_function("K Q", shapes)
Traceback (most recent call last):
    ...
agattn.errors.InputError: K Q: K is 2×4 and Q is 3 matrices 2×4; a product takes as many columns on the left
as rows on the right, and 4 is not 2

The grammar, with spaces where one likes::

    sum    = ["-"] term {("+" | "-") term}
    term   = {"sum_" letter} chain {"⊗" chain}          "**" is "⊗", "Σ_i" is "sum_i"
    chain  = factor {["*" | "@" | "·"] factor}
    factor = (NAME ["[" index {"," index} "]"] | NUMBER | "(" sum ")") {"^T" | "ᵀ"}
    index  = a letter, or a number from 1
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array
from agattn.calls import shown
from agattn.errors import InputError, nearest

#: The indices of the axes before rows and columns, from the left.
LETTERS = "ijklmnopqrstuvwxyz"
#: Texts with more characters, more arrays, or numbers of more digits are not read.
LONGEST, MOST_ARRAYS, MOST_DIGITS = 10_000, 100, 9
#: Parentheses inside each other beyond this are refused.
DEEPEST = 50

_TOKEN = re.compile(
    r"\s*(?:(?P<sum>(?:sum_|Σ_)[a-z](?![\w]))|(?P<name>(?!ᵀ)[^\W\d](?:(?!ᵀ)\w)*)|(?P<number>\d+)"
    r"|(?P<transpose>\^\s*(?:T\b|⊤)|ᵀ)|(?P<tensor>⊗|\*\*)|(?P<sign>[-−+*@·()\[\],]))"
)


@dataclass(frozen=True)
class Form:
    """What an expression is: a stack of matrices, or of tensors with twice as many axes.

    Attributes:
        labels: the size of each index, by its letter, in alphabetical order.
        axes: the sizes of the other axes: rows and columns, of each factor of a tensor product.
    """

    labels: tuple[tuple[str, int], ...]
    axes: tuple[int, ...]

    def __str__(self) -> str:
        count = prod(size for _, size in self.labels)
        size = "×".join(map(str, self.axes))
        kind = "matrices" if len(self.axes) == 2 else "tensors"
        return size if count == 1 else f"{count} {kind} {size}"


class Expression:
    """A part of a function: its form, its text, its degree in the parameters, and how it is computed."""

    @property
    def form(self) -> Form:
        raise NotImplementedError

    @property
    def text(self) -> str:
        """The text from which it can be read again, without a minus sign in front."""
        raise NotImplementedError

    @property
    def degree(self) -> int:
        """A bound on the degree in the parameters."""
        raise NotImplementedError

    @property
    def parts(self) -> Iterator[Expression]:
        """The expression and all that it is made of."""
        yield self
        for one in (getattr(self, name, None) for name in ("of", "left", "right")):
            if isinstance(one, Expression):
                yield from one.parts

    def evaluate(self, arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        """Its values, ``(n, *labels, *axes)``, from arrays with an axis in front."""
        raise NotImplementedError

    def aligned(self, value: Array, labels: tuple[tuple[str, int], ...]) -> Array:
        """A value with an axis of length 1 for each further label."""
        own = {letter for letter, _ in self.form.labels}
        keys = [slice(None) if letter in own else None for letter, _ in labels]
        return value[(slice(None), *keys, *[slice(None)] * len(self.form.axes))]

    @property
    def grouped(self) -> str:
        """The text as a factor of a product."""
        return self.text


@dataclass(frozen=True)
class ArrayPart(Expression):
    """A parameter array: for each axis before the last two, ``index`` has a letter or a number from 1."""

    name: str
    shape: tuple[int, ...]
    index: tuple[str | int, ...]
    is_written: bool = False

    @property
    def text(self) -> str:
        """The name, with the indices that were written."""
        return f"{self.name}[{','.join(map(str, self.index))}]" if self.is_written else self.name

    @property
    def degree(self) -> int:
        return 1

    @cached_property
    def form(self) -> Form:
        """Without the axes of length 1."""
        kept = {k: n for k, n in zip(self.index, self.shape, strict=False) if isinstance(k, str) and n > 1}
        axes = (*self.shape[len(self.index) :], *(1, 1))[:2] if len(self.shape) < 2 else self.shape[-2:]
        return Form(tuple(sorted(kept.items())), axes)

    def evaluate(self, arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        """The matrices, with the axes in the order of the letters."""
        value = arrays[self.name]
        value = value if len(value.shape) > len(self.shape) else value[None]
        keys: list[Any] = []
        letters = []
        for k, n in zip(self.index, self.shape, strict=False):
            keys.append(slice(None) if isinstance(k, str) and n > 1 else 0 if isinstance(k, str) else k - 1)
            letters += [k] if isinstance(k, str) and n > 1 else []
        value = value[(slice(None), *keys, ...)]
        for axis, letter in enumerate(sorted(letters)):  # exchange axes until the letters are in order
            if (at := letters.index(letter)) != axis:
                value = value.swapaxes(axis - len(value.shape) + 1, at - len(value.shape) + 1)
                letters[axis], letters[at] = letters[at], letters[axis]
        for _ in range(2 - len(self.shape)):
            value = value[..., None]
        return value


@dataclass(frozen=True)
class Transposed(Expression):
    """The transpose of each matrix."""

    of: Expression

    def __post_init__(self) -> None:
        if len(self.of.form.axes) != 2:
            raise InputError(f"{self.of.text} is a tensor, {self.of.form}; a transpose is one of matrices")

    @cached_property
    def form(self) -> Form:
        return Form(self.of.form.labels, self.of.form.axes[::-1])

    @property
    def text(self) -> str:
        return f"{self.of.text if isinstance(self.of, ArrayPart) else f'({self.of.text})'}^T"

    @property
    def degree(self) -> int:
        return self.of.degree

    def evaluate(self, arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        """The last two axes exchanged."""
        return self.of.evaluate(arithmetic, arrays).swapaxes(-1, -2)


@dataclass(frozen=True)
class Both(Expression):
    """A product of two expressions, for each value of their indices."""

    left: Expression
    right: Expression

    @property
    def degree(self) -> int:
        return self.left.degree + self.right.degree

    def sides(self, arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Iterator[Array]:
        """The values of both, each with an axis for all indices."""
        for side in (self.left, self.right):
            yield side.aligned(side.evaluate(arithmetic, arrays), self.form.labels)


@dataclass(frozen=True)
class Product(Both):
    """The product of two matrices, for each value of their indices."""

    def __post_init__(self) -> None:
        one, other = self.left.form, self.right.form
        for side in (self.left, self.right):
            if len(side.form.axes) != 2:
                raise InputError(f"{side.text} is a tensor, {side.form}; matrices are multiplied here")
        if one.axes[1] != other.axes[0]:
            raise InputError(
                f"{self.text}: {self.left.text} is {one} and {self.right.text} is {other}; a product takes as"
                f" many columns on the left as rows on the right, and {one.axes[1]} is not {other.axes[0]}"
            )
        _ = self.form

    @cached_property
    def form(self) -> Form:
        one, other = self.left.form, self.right.form
        return Form(_labels(self.left, self.right), (one.axes[0], other.axes[1]))

    @property
    def text(self) -> str:
        return f"{self.left.grouped} {self.right.grouped}"

    def evaluate(self, arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        return arithmetic.matmul(*self.sides(arithmetic, arrays))


@dataclass(frozen=True)
class Tensor(Both):
    """The tensor product, for each value of the indices: entries of one times entries of the other."""

    @cached_property
    def form(self) -> Form:
        """The axes of both, one after the other."""
        return Form(_labels(self.left, self.right), self.left.form.axes + self.right.form.axes)

    @property
    def text(self) -> str:
        return f"{_bracketed(self.left)} ⊗ {_bracketed(self.right)}"

    @property
    def grouped(self) -> str:
        return f"({self.text})"

    def evaluate(self, arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        """Entries times entries."""
        one, other = self.sides(arithmetic, arrays)
        whole = [slice(None)] * (1 + len(self.form.labels))
        k, m = len(self.left.form.axes), len(self.right.form.axes)
        one = one[(*whole, *[slice(None)] * k, *[None] * m)]
        other = other[(*whole, *[None] * k, *[slice(None)] * m)]
        return arithmetic.times(one, other)


@dataclass(frozen=True)
class Total(Expression):
    """The sum over an index."""

    letter: str
    of: Expression

    def __post_init__(self) -> None:
        if self.letter not in dict(self.of.form.labels):
            letters = ", ".join(dict(self.of.form.labels)) or "none"
            raise InputError(
                f"sum_{self.letter} {self.of.text}: there is no index {self.letter} to add up over; the"
                f" indices of {self.of.text} are: {letters}"
            )

    @cached_property
    def form(self) -> Form:
        return Form(tuple(one for one in self.of.form.labels if one[0] != self.letter), self.of.form.axes)

    @property
    def text(self) -> str:
        return f"sum_{self.letter} {_bracketed(self.of)}"

    @property
    def grouped(self) -> str:
        return f"({self.text})"

    @property
    def degree(self) -> int:
        return self.of.degree

    def evaluate(self, arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        """The sum along the axis of the index."""
        place = [letter for letter, _ in self.of.form.labels].index(self.letter)
        behind = place - len(self.of.form.labels) - len(self.of.form.axes)
        return arithmetic.clean(self.of.evaluate(arithmetic, arrays).sum(axis=behind))


@dataclass(frozen=True)
class Addition(Expression):
    """A sum or a difference, or with ``left`` None the negative."""

    left: Expression | None
    sign: int
    right: Expression

    def __post_init__(self) -> None:
        if self.left is not None and self.left.form != self.right.form:
            raise InputError(
                f"{self.text}: {self.left.text} is {self.left.form}, and {self.right.text} is"
                f" {self.right.form}; summands have the same sizes and the same indices"
            )

    @cached_property
    def form(self) -> Form:
        return self.right.form

    @property
    def text(self) -> str:
        """With the sign between."""
        right = f"({self.right.text})" if isinstance(self.right, Addition) else self.right.text
        if self.left is None:
            return f"−{right}"
        return f"{self.left.text} {'+' if self.sign > 0 else '−'} {right}"

    @property
    def grouped(self) -> str:
        return f"({self.text})"

    @property
    def degree(self) -> int:
        return max(self.right.degree, self.left.degree if self.left else 0)

    def evaluate(self, arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        """Added or subtracted."""
        right = self.right.evaluate(arithmetic, arrays)
        if self.left is None:
            return arithmetic.clean(-right)
        left = self.left.evaluate(arithmetic, arrays)
        return arithmetic.clean(left + right if self.sign > 0 else left - right)


@dataclass(frozen=True)
class Multiple(Expression):
    """A whole number times an expression."""

    number: int
    of: Expression

    @cached_property
    def form(self) -> Form:
        return self.of.form

    @property
    def text(self) -> str:
        return f"{self.number} {self.of.grouped}"

    @property
    def degree(self) -> int:
        return self.of.degree

    def evaluate(self, arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        """Each entry times the number."""
        of = self.of.evaluate(arithmetic, arrays)
        number = arithmetic.constant(np.full((1,) * len(of.shape), self.number, dtype=object))
        return arithmetic.times(of, number)


def _bracketed(part: Expression) -> str:
    """The text as a factor of ⊗ or behind sum_i, where products and ⊗ need no parentheses."""
    return f"({part.text})" if isinstance(part, (Addition, Total)) else part.text


def _labels(one: Expression, other: Expression) -> tuple[tuple[str, int], ...]:
    """The indices of both; each must have one size."""
    sizes = dict(one.form.labels)
    for letter, size in other.form.labels:
        if sizes.setdefault(letter, size) != size:
            raise InputError(
                f"{one.text} has {sizes[letter]} matrices along the index {letter}, and {other.text} has"
                f" {size}; write indices, such as [i] and [j], where these are not the same"
            )
    return tuple(sorted(sizes.items()))


class WeightFunction:
    """A function of the parameter arrays of a model, with the members that evaluation needs.

    Attributes:
        expression: the function, read.
        shapes: the parameter arrays of the model.
    """

    #: A function of the parameters takes no X; evaluations give it one number that it does not look at.
    input_shape = (1, 1)

    def __init__(self, expression: Expression, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.expression, self.shapes = expression, dict(shapes)

    @property
    def text(self) -> str:
        """The text from which the function can be read again."""
        return self.expression.text.replace("−", "-")

    @property
    def degree(self) -> int:
        """A bound on the degree in the parameters."""
        return self.expression.degree

    @property
    def arrays(self) -> set[str]:
        """The names of the arrays that occur."""
        return {part.name for part in self.expression.parts if isinstance(part, ArrayPart)}

    @property
    def form(self) -> Form:
        return self.expression.form

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of all axes of its values: indices, then rows and columns."""
        return (*(size for _, size in self.form.labels), *self.form.axes)

    @property
    def size(self) -> int:
        """The number of entries of the array or function."""
        return prod(self.shape)

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """Its values, ``(n, *shape)``, at parameters with their shapes, or a first axis more."""
        return self.expression.evaluate(arithmetic, parameters)

    def __repr__(self) -> str:
        return f"{self.expression.text}: {self.form}"


def whole_array(name: str, shapes: Mapping[str, tuple[int, ...]]) -> WeightFunction:
    """A parameter array as a function of the parameters.

    >>> whole_array("Q", {"Q": (3, 2, 4)})
    Q: 3 matrices 2×4
    """
    return WeightFunction(_part(name, shapes[name], None), shapes)


def _part(name: str, shape: tuple[int, ...], index: tuple[str | int, ...] | None) -> ArrayPart:
    """An array at an index, or all of it."""
    front = len(shape) - 2 if len(shape) > 2 else 0
    written = "" if index is None else f"[{','.join(map(str, index))}]"
    if index is None:
        index = tuple(LETTERS[:front])
    if len(index) != front:
        size, numbers = "×".join(map(str, shape)), f"{front} ind{'ex' if front == 1 else 'ices'}"
        raise InputError(f"{name}{written}: {name} is {size}; it has {numbers} before its rows and columns")
    for k, n in zip(index, shape, strict=False):
        if isinstance(k, int) and not 1 <= k <= n:
            raise InputError(
                f"{name}{written}: {name} has {n} matrices there, numbered from 1, and no number {k}"
            )
    letters = [k for k in index if isinstance(k, str)]
    if len(set(letters)) < len(letters):
        raise InputError(f"{name}{written}: give each index of {name} a letter of its own")
    return ArrayPart(name, tuple(shape), index, bool(written))


def read_function(text: str, shapes: Mapping[str, tuple[int, ...]]) -> WeightFunction:
    """A function of parameter arrays, read from text.

    Args:
        text: in the grammar of this module, such as ``"K_1^T Q_1"``.
        shapes: the parameter arrays of the model, by name.

    Raises:
        InputError: if the text is not in the grammar, names an array that the model does not have, or
            multiplies or adds matrices whose sizes do not fit.

    >>> read_function("K_3", {"K_1": (2, 3), "Q_1": (2, 3)})
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: the function 'K_3': there is no array K_3; did you mean 'K_1'? The
    arrays are K_1, Q_1
    """
    if len(text) > LONGEST:
        raise InputError(f"the function has {len(text)} characters; at most {LONGEST} are read")
    return WeightFunction(_Reader(text, shapes).whole(), shapes)


class _Reader:
    """A parser by recursive descent, one method for each line of the grammar."""

    def __init__(self, text: str, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.source, self.shapes = text, shapes
        self.tokens = list(self._tokens())
        if (arrays := sum(kind == "name" for kind, _ in self.tokens)) > MOST_ARRAYS:
            raise InputError(
                f"the function names {arrays} arrays and indices; at most {MOST_ARRAYS} are read"
            )
        self.at, self.depth = 0, 0

    def _tokens(self) -> Iterator[tuple[str, str]]:
        text, at = self.source.rstrip(), 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._error(f"{text[at:].strip()[:1]!r} is not read here")
            kind, word = match.lastgroup or "", match[match.lastgroup or 0]
            if kind == "number" and len(word) > MOST_DIGITS:
                raise self._error(f"a number has {len(word)} digits, more than {MOST_DIGITS}")
            if kind == "sum" and word in self.shapes:
                kind = "name"
            yield kind, word
            at = match.end()

    def _error(self, message: str) -> InputError:
        return InputError(
            f"the function {shown(self.source)}: {message}; write products, sums and transposes of arrays,"
            " such as 'K_1^T Q_1'"
        )

    @property
    def next(self) -> tuple[str, str]:
        """The next token; of kind "end" at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, *words: str) -> str | None:
        """The next word, if it is one of these, which is then read."""
        if self.next[1] in words and self.next[0] == "sign":
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def expect(self, word: str) -> None:
        """Read a word that must come."""
        if self.take(word) is None:
            raise self._error(
                f"{word!r} is missing" + (f" before {self.next[1]!r}" if self.next[1] else " at the end")
            )

    def whole(self) -> Expression:
        """The whole text."""
        whole = self.sum()
        if self.next[0] != "end":
            raise self._error(f"{self.next[1]!r} is not read here")
        return whole

    def sum(self) -> Expression:
        """Terms with signs."""
        negative = self.take("-", "−")
        total = self.term()
        total = Addition(None, -1, total) if negative else total
        while sign := self.take("+", "-", "−"):
            total = Addition(total, 1 if sign == "+" else -1, self.term())
        return total

    def term(self) -> Expression:
        """Chains with ⊗ between them, added up over indices."""
        letters = []
        while self.next[0] == "sum":
            letters.append(self.next[1][-1])
            self.at += 1
        product = self.chain()
        while self.next[0] == "tensor":
            self.at += 1
            product = Tensor(product, self.chain())
        for letter in reversed(letters):
            product = Total(letter, product)
        return product

    def chain(self) -> Expression:
        """Factors one after the other."""
        numbers, product = [], None
        while True:
            if self.next[0] == "number":
                numbers.append(int(self.next[1]))
                self.at += 1
            else:
                factor = self.factor()
                product = factor if product is None else Product(product, factor)
            signed = self.take("*", "@", "·")
            starts = self.next[0] in ("name", "number") or self.next == ("sign", "(")
            if not starts and signed is None:
                break
        if product is None:
            raise self._error("a number stands alone")
        return Multiple(prod(numbers), product) if numbers else product

    def factor(self) -> Expression:
        """An array or parentheses, with transposes."""
        kind, word = self.next
        if kind == "name":
            self.at += 1
            expression: Expression = self.array(word)
        elif self.take("("):
            self.depth += 1
            if self.depth > DEEPEST:
                raise self._error(f"more than {DEEPEST} parentheses are inside each other")
            expression = self.sum()
            self.expect(")")
            self.depth -= 1
        else:
            raise self._error(
                f"an array is missing before {word!r}" if word else "an array is missing at the end"
            )
        while self.next[0] == "transpose":
            self.at += 1
            expression = expression.of if isinstance(expression, Transposed) else Transposed(expression)
        return expression

    def array(self, name: str) -> ArrayPart:
        """An array by name, with its indices."""
        if name not in self.shapes:
            near = nearest(name, self.shapes)
            listed = f"{' The' if near else '; the'} arrays are {', '.join(self.shapes)}"
            raise InputError(f"the function {shown(self.source)}: there is no array {name}{near}{listed}")
        if not self.take("["):
            return _part(name, self.shapes[name], None)
        index: list[str | int] = []
        while True:
            kind, word = self.next
            if kind == "number":
                index.append(int(word))
            elif kind == "name" and word in LETTERS:
                index.append(word)
            else:
                raise self._error(
                    f"the index {word!r} of {name} is no letter from i on, and no number from 1"
                )
            self.at += 1
            if self.take(",") is None:
                break
        self.expect("]")
        return _part(name, self.shapes[name], tuple(index))
