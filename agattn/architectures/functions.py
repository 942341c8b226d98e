r"""Functions of the parameter arrays of a model, as a person writes them: products, sums, transposes.

The text ``"K_1^T Q_1"`` is the product of a transpose and an array. A small parser reads it; nothing is
evaluated as code. An array with more than two axes is a stack of matrices, such as one for each head, and its
last two axes are the rows and columns. The other axes have the indices i, j, k, ... from the left, so that
``K_1^T Q_1`` is one product for each head. Indices can be written: ``Q_1[2]`` is the second matrix,
``K_2[i] V_1[j]`` has all pairs. ``sum_i`` adds up, and ``⊗`` is the tensor product. Of an array with two axes
``G_1[i,:]`` are the rows, and ``D_1[:,i]`` the columns:

>>> shapes = {"K": (2, 4), "P": (2, 4), "Q": (3, 2, 4), "O": (3, 5, 2)}
>>> read_function("sum_i O P ⊗ K^T Q", shapes)
sum_i O P ⊗ K^T Q: 5×4×4×4
>>> read_function("K^T Q[1] - Q[1]^T K", shapes)
K^T Q[1] − Q[1]^T K: 4×4
>>> read_function("K[i,:]^T K[i,:]", shapes), read_function("K[:,3]", shapes)
(K[i,:]^T K[i,:]: 2 matrices 4×4, K[:,3]: 2×1)
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
    index  = a letter, a number from 1, or ":" for all rows or columns of an array with two axes
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

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
    r"|(?P<transpose>\^\s*(?:T\b|⊤)|ᵀ)|(?P<tensor>⊗|\*\*)|(?P<sign>[-−+*@·()\[\],:]))"
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


#: What a text is: an array, or how its parts are put together, from the tightest way to the loosest.
ARRAY, PRODUCT, TENSOR, TOTAL, SUM = range(5)
Computed = Callable[[Arithmetic, Mapping[str, Array]], Array]


@dataclass(frozen=True)
class Expression:
    """A part of a function.

    Attributes:
        form: the sizes of its axes.
        text: what it can be read from again.
        kind: how it is put together, which decides about parentheses.
        arrays: the names of the arrays that occur.
        compute: its values, ``(n, *labels, *axes)``, from arrays with an axis in front.
        transpose: what this is the transpose of, if it is one.
    """

    form: Form
    text: str
    kind: int
    arrays: frozenset[str]
    compute: Computed
    transpose: Expression | None = None

    def within(self, loosest: int) -> str:
        """The text, with parentheses if its parts are put together more loosely."""
        return self.text if self.kind <= loosest else f"({self.text})"

    def along(self, form: Form, arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        """Its values, with an axis of length 1 for each further index of a form."""
        own = dict(self.form.labels)
        keys = [slice(None) if letter in own else None for letter, _ in form.labels]
        return self.compute(arithmetic, arrays)[(slice(None), *keys, ...)]


def _array(name: str, shape: tuple[int, ...], index: tuple[str | int, ...] | None) -> Expression:
    """A parameter array: for each axis before the last two, ``index`` has a letter or a number from 1."""
    front = len(shape) - 2 if len(shape) > 2 else 0
    text = name if index is None else f"{name}[{','.join(map(str, index))}]"
    if index is not None and ":" in index:
        return _line(text, name, shape, index)
    index = tuple(LETTERS[:front]) if index is None else index
    if len(index) != front:
        size, numbers = "×".join(map(str, shape)), f"{front} ind{'ex' if front == 1 else 'ices'}"
        raise InputError(f"{text}: {name} is {size}; it has {numbers} before its rows and columns")
    for k, n in zip(index, shape, strict=False):
        if isinstance(k, int) and not 1 <= k <= n:
            raise InputError(f"{text}: {name} has {n} matrices there, numbered from 1, and no number {k}")
    letters = [k for k in index if isinstance(k, str)]
    if len(set(letters)) < len(letters):
        raise InputError(f"{text}: give each index of {name} a letter of its own")
    sizes = {k: n for k, n in zip(index, shape, strict=False) if isinstance(k, str) and n > 1}
    keys = [k - 1 if isinstance(k, int) else slice(None) if k in sizes else 0 for k in index]
    columns = 2 - len(shape)

    def compute(arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        """The matrices, with the axes in the order of the letters."""
        value, letters = arrays[name], list(sizes)
        value = value if len(value.shape) > len(shape) else value[None]
        value = value[(slice(None), *keys, ...)]
        for axis, letter in enumerate(sorted(letters)):  # exchange axes until the letters are in order
            if (at := letters.index(letter)) != axis:
                value = value.swapaxes(axis - len(value.shape) + 1, at - len(value.shape) + 1)
                letters[axis], letters[at] = letters[at], letters[axis]
        return value[(..., *[None] * columns)] if columns > 0 else value

    form = Form(tuple(sorted(sizes.items())), (*shape[len(index) :], 1, 1)[:2])
    return Expression(form, text, ARRAY, frozenset([name]), compute)


def _line(text: str, name: str, shape: tuple[int, ...], index: tuple[str | int, ...]) -> Expression:
    """The rows or columns of an array with two axes: one, by its number, or each, by a letter."""
    if len(shape) != 2 or len(index) != 2 or index.count(":") != 1:
        size = "×".join(map(str, shape))
        raise InputError(
            f"{text}: {name} is {size}; ':' stands for all rows or columns of a matrix, as in G[i,:]"
        )
    axis = 1 - index.index(":")
    k, n = index[axis], shape[axis]
    if isinstance(k, int) and not 1 <= k <= n:
        raise InputError(f"{text}: {name} has {n} {('rows', 'columns')[axis]}, and no number {k}")

    def compute(arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        value = arrays[name] if len(arrays[name].shape) > 2 else arrays[name][None]
        value = value if axis == 0 else value.swapaxes(1, 2)  # the lines are rows
        value = value[:, k - 1 : k] if isinstance(k, int) else value
        lines = value[:, :, None, :] if axis == 0 else value[:, :, :, None]
        return lines if isinstance(k, str) and n > 1 else lines[:, 0]

    labels = ((k, n),) if isinstance(k, str) and n > 1 else ()
    form = Form(labels, (1, shape[1]) if axis == 0 else (shape[0], 1))
    return Expression(form, text, ARRAY, frozenset([name]), compute)


def _transposed(of: Expression) -> Expression:
    """The transpose of each matrix."""
    if of.transpose is not None:
        return of.transpose
    if len(of.form.axes) != 2:
        raise InputError(f"{of.text} is a tensor, {of.form}; a transpose is one of matrices")
    form, text = Form(of.form.labels, of.form.axes[::-1]), f"{of.within(ARRAY)}^T"

    def compute(arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        return of.compute(arithmetic, arrays).swapaxes(-1, -2)

    return Expression(form, text, PRODUCT, of.arrays, compute, of)


def _product(left: Expression, right: Expression) -> Expression:
    """The product of two matrices, for each value of their indices."""
    one, other, text = left.form, right.form, f"{left.within(PRODUCT)} {right.within(PRODUCT)}"
    for side in (left, right):
        if len(side.form.axes) != 2:
            raise InputError(f"{side.text} is a tensor, {side.form}; matrices are multiplied here")
    if one.axes[1] != other.axes[0]:
        raise InputError(
            f"{text}: {left.text} is {one} and {right.text} is {other}; a product takes as"
            f" many columns on the left as rows on the right, and {one.axes[1]} is not {other.axes[0]}"
        )
    form = Form(_labels(left, right), (one.axes[0], other.axes[1]))

    def compute(arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        return arithmetic.matmul(*(side.along(form, arithmetic, arrays) for side in (left, right)))

    return Expression(form, text, PRODUCT, left.arrays | right.arrays, compute)


def _tensor(left: Expression, right: Expression) -> Expression:
    """The tensor product, for each value of the indices: entries of one times entries of the other."""
    form = Form(_labels(left, right), left.form.axes + right.form.axes)

    def compute(arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        one, other = (side.along(form, arithmetic, arrays) for side in (left, right))
        k, m = len(left.form.axes), len(right.form.axes)
        return arithmetic.times(one[(..., *[None] * m)], other[(..., *[None] * k, *[slice(None)] * m)])

    text = f"{left.within(TENSOR)} ⊗ {right.within(TENSOR)}"
    return Expression(form, text, TENSOR, left.arrays | right.arrays, compute)


def _total(letter: str, of: Expression) -> Expression:
    """The sum over an index."""
    labels, text = dict(of.form.labels), f"sum_{letter} {of.within(TENSOR)}"
    if letter not in labels:
        raise InputError(
            f"sum_{letter} {of.text}: there is no index {letter} to add up over; the"
            f" indices of {of.text} are: {', '.join(labels) or 'none'}"
        )
    behind = [*labels].index(letter) - len(labels) - len(of.form.axes)
    form = Form(tuple((other, n) for other, n in labels.items() if other != letter), of.form.axes)

    def compute(arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        return arithmetic.clean(of.compute(arithmetic, arrays).sum(axis=behind))

    return Expression(form, text, TOTAL, of.arrays, compute)


def _negative(of: Expression) -> Expression:
    def compute(arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        return arithmetic.clean(-of.compute(arithmetic, arrays))

    return Expression(of.form, f"−{of.within(TOTAL)}", SUM, of.arrays, compute)


def _sum(left: Expression, sign: str, right: Expression) -> Expression:
    """A sum or a difference."""
    text = f"{left.text} {sign} {right.within(TOTAL)}"
    if left.form != right.form:
        raise InputError(
            f"{text}: {left.text} is {left.form}, and {right.text} is"
            f" {right.form}; summands have the same sizes and the same indices"
        )

    def compute(arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        one, other = (side.compute(arithmetic, arrays) for side in (left, right))
        return arithmetic.clean(one + other if sign == "+" else one - other)

    return Expression(left.form, text, SUM, left.arrays | right.arrays, compute)


def _multiple(number: int, of: Expression) -> Expression:
    """A whole number times an expression."""

    def compute(arithmetic: Arithmetic, arrays: Mapping[str, Array]) -> Array:
        values = of.compute(arithmetic, arrays)
        factor = np.full((1,) * len(values.shape), number, dtype=object)
        return arithmetic.times(values, arithmetic.constant(factor))

    return Expression(of.form, f"{number} {of.within(PRODUCT)}", PRODUCT, of.arrays, compute)


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
    def arrays(self) -> frozenset[str]:
        """The names of the arrays that occur."""
        return self.expression.arrays

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
        return self.expression.compute(arithmetic, parameters)

    def __repr__(self) -> str:
        return f"{self.expression.text}: {self.form}"


def whole_array(name: str, shapes: Mapping[str, tuple[int, ...]]) -> WeightFunction:
    """A parameter array as a function of the parameters.

    >>> whole_array("Q", {"Q": (3, 2, 4)})
    Q: 3 matrices 2×4
    """
    return WeightFunction(_array(name, shapes[name], None), shapes)


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
        total = _negative(total) if negative else total
        while sign := self.take("+", "-", "−"):
            total = _sum(total, sign.replace("-", "−"), self.term())
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
            product = _tensor(product, self.chain())
        for letter in reversed(letters):
            product = _total(letter, product)
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
                product = factor if product is None else _product(product, factor)
            signed = self.take("*", "@", "·")
            starts = self.next[0] in ("name", "number") or self.next == ("sign", "(")
            if not starts and signed is None:
                break
        if product is None:
            raise self._error("a number stands alone")
        return _multiple(prod(numbers), product) if numbers else product

    def factor(self) -> Expression:
        """An array or parentheses, with transposes."""
        kind, word = self.next
        if kind == "name":
            self.at += 1
            expression = self.array(word)
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
            expression = _transposed(expression)
        return expression

    def array(self, name: str) -> Expression:
        """An array by name, with its indices."""
        if name not in self.shapes:
            near = nearest(name, self.shapes)
            listed = f"{' The' if near else '; the'} arrays are {', '.join(self.shapes)}"
            raise InputError(f"the function {shown(self.source)}: there is no array {name}{near}{listed}")
        if not self.take("["):
            return _array(name, self.shapes[name], None)
        index: list[str | int] = []
        while True:
            kind, word = self.next
            if kind == "number":
                index.append(int(word))
            elif (kind == "name" and word in LETTERS) or word == ":":
                index.append(word)
            else:
                raise self._error(
                    f"the index {word!r} of {name} is no letter from i on, no number from 1, and no ':'"
                )
            self.at += 1
            if self.take(",") is None:
                break
        self.expect("]")
        return _array(name, self.shapes[name], tuple(index))
