"""Expressions of sympy, read by their structure and never by their text.

>>> import sympy
>>> from agattn.algebra.polynomial import PolynomialRing
>>> x, y = sympy.symbols("x y")
>>> f = evaluate((x + y) ** 2 / 2 - x * y, dict(zip((x, y), PolynomialRing(["x", "y"]).gens)))
>>> f
1/2*x^2 + 1/2*y^2

The other way, ``sympy.sympify`` takes polynomials and equations:

>>> sympy.sympify(f) == x**2 / 2 + y**2 / 2
True
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import Any

from agattn.errors import InputError


def evaluate(expression: Any, values: Mapping[Any, Any]) -> Any:
    """The value of an expression, with these values in place of its symbols.

    Args:
        expression: of sympy: sums, products and whole powers of symbols and rational numbers. A float in it
            is the rational number that it stands for.
        values: by symbol; anything that has ``+``, ``*`` and ``**``, with each other and with fractions.

    Raises:
        InputError: if the expression has another part, or a symbol without a value, or is none of sympy.

    See Also:
        :class:`agattn.architectures.polynomial_map.PolynomialMap`, which takes expressions as a map.

    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> evaluate(x**2 / 3 + 1, {x: Fraction(1, 2)})
    Fraction(13, 12)
    >>> evaluate(sympy.sin(x), {x: 0})
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: the expression has sin(x), which is not polynomial; use + - * and ** with whole
    numbers
    """
    import sympy

    if not isinstance(expression, sympy.Expr):
        raise InputError(f"{expression!r} is no expression of sympy, but a {type(expression).__name__}")
    values_of: dict[Any, Any] = dict(values)
    waiting = [expression]
    while waiting:  # no recursion: an expression in Horner's form is as deep as its degree
        node = waiting[-1]
        if node not in values_of:
            parts = [part for part in _parts(node) if part not in values_of]
            if parts:
                waiting += parts
                continue
            values_of[node] = _combined(node, values_of)
        waiting.pop()
    return values_of[expression]


def _parts(node: Any) -> tuple[Any, ...]:
    """The expressions inside of a sum, a product or a whole power; none of a number."""
    if node.is_Add or node.is_Mul:
        return tuple(node.args)
    if node.is_Pow and node.exp.is_Integer and node.exp >= 0:
        return (node.base,)
    if node.is_Rational or (node.is_Float and node.is_finite):
        return ()
    if node.is_Symbol:
        raise InputError(f"the expression has the symbol {node}, which has no value")
    raise InputError(
        f"the expression has {node}, which is not polynomial; use + - * and ** with whole numbers"
    )


def _combined(node: Any, known: Mapping[Any, Any]) -> Any:
    """The value of an expression whose parts have values."""
    import sympy

    if node.is_Add or node.is_Mul:
        return reduce(add if node.is_Add else mul, [known[part] for part in node.args])
    if node.is_Pow:
        return known[node.base] ** int(node.exp)
    number = sympy.Rational(node)
    return Fraction(int(number.p), int(number.q))
