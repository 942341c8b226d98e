"""Integers for the checker: how a certificate is read, and the little algebra that is done.

Nothing is imported but Python's own library. Vectors, matrices and polynomials are dictionaries of what is
not zero, so that every sum below can be read off.

>>> rank([{(1,): 2, (2,): 4}, {(1,): 3, (2,): 6}])
1
>>> phi({(1, 2, 0): 5}, {(1, 3, 0): 7})     # A has 5 at (1, 2), V has 7 at (1, 3)
{(0, 1, 2, 1, 3): 35}
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import product
from math import gcd, prod
from typing import Any

Sparse = dict[tuple[Any, ...], int]
"""What is not 0, by index from 1: a matrix by (row, column, power of ε), a point by (power, c, b, i, k)."""


LONGEST = 10**7
"""Terms to which an equation is expanded; what takes more is not checked."""


class UnreadableError(Exception):
    """Raised for a file that is no certificate at all."""


class Flaw(Exception):  # noqa: N818
    """Raised where a certificate does not prove what it says."""


def require(condition: bool, flaw: str) -> None:
    """Raise a :class:`Flaw` unless the condition holds."""
    if not condition:
        raise Flaw(flaw)


# Reading: integers only, and no key that would be passed over -----------------------------------------------


def load(text: str) -> Any:
    """Read JSON whose numbers are all integers, and where no key occurs twice.

    Raises:
        UnreadableError: if it is not.
    """

    def refuse(what: Any) -> None:
        raise ValueError(f"{what} is not an integer")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key occurs twice")
        return dict(pairs)

    try:
        return json.loads(text, parse_float=refuse, parse_constant=refuse, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"it cannot be read: {error}") from error


def fields(value: Any, required: str, optional: str = "") -> dict[str, Any]:
    """A JSON object with all of the required keys, and no others than the optional ones."""
    wrong = set(required.split()) - set(value), set(value) - set(f"{required} {optional}".split())
    require(isinstance(value, dict) and not any(wrong), f"keys missing and unknown: {wrong}")
    return dict(value)


def integer(value: Any) -> int:
    """A whole number, which true and false are not."""
    require(type(value) is int, f"{value!r} is not an integer")
    return int(value)


def sparse(value: Any, *bounds: tuple[int, int]) -> Sparse:
    """A list [[index..., value], ...] with increasing indices within bounds, and no value 0.

    A bound (0, 0) stands for an index that is always 0 and is not written.
    """
    written = [n for n, bound in enumerate(bounds) if bound != (0, 0)]
    found: Sparse = {}
    for entry in value:
        *place, x = map(integer, entry)
        require(len(place) == len(written) and x != 0, f"{entry} has a wrong length, or is 0")
        index = dict(zip(written, place, strict=True))
        key = tuple(index.get(n, 0) for n in range(len(bounds)))
        require(all(low <= n <= high for n, (low, high) in zip(key, bounds, strict=True)), f"{entry}: index")
        require(not found or max(found) < key, f"{entry} is out of order")
        found[key] = x
    return found


# Algebra: exact, and small enough to see through ------------------------------------------------------------


def rank(rows: Iterable[Sparse]) -> int:
    """The rank over ℚ of some vectors, by fraction-free elimination."""
    pivots: dict[tuple[Any, ...], Sparse] = {}
    for row in rows:
        while row:
            first = min(row)
            if first not in pivots:
                pivots[first] = row
                break
            other = pivots[first]
            both = {n: other[first] * row.get(n, 0) - row[first] * other.get(n, 0) for n in row | other}
            divisor = gcd(*both.values())
            row = {n: x // divisor for n, x in both.items() if x}
    return len(pivots)


def lines(matrix: Sparse, axis: int) -> list[Sparse]:
    """The nonzero rows (axis 0) or columns (axis 1) of a matrix, as vectors."""
    found: dict[int, Sparse] = {}
    for key, x in matrix.items():
        found.setdefault(key[axis], {})[key[1 - axis],] = x
    return [found[n] for n in sorted(found)]


def plus(one: Sparse, other: Sparse) -> Sparse:
    """The sum of two vectors."""
    total = {n: one.get(n, 0) + other.get(n, 0) for n in one | other}
    return {n: x for n, x in total.items() if x}


def phi(A: Sparse, V: Sparse) -> Sparse:
    """The point V_c(u)·A_b(u), with powers of ε where A and V have them."""
    y: Sparse = {}
    for ((c, i, p), x), ((k, b, q), z) in product(V.items(), A.items()):
        name = (p + q, c, b, min(i, k), max(i, k))
        y[name] = y.get(name, 0) + x * z
    return {name: x for name, x in y.items() if x}


def differential(A: Sparse, V: Sparse, dA: Sparse, dV: Sparse) -> Sparse:
    """The derivative of φ at (A, V) along (Ȧ, V̇)."""
    return plus(phi(dA, V), phi(A, dV))


def expand(equation: Sparse, size: int) -> Sparse:
    """The equation in the entries of V and A, or for size > 0 in those of V and of K and Q with size rows."""
    require(sum((2 * max(size, 1)) ** len(m) for m in equation) <= LONGEST, "an equation has too many terms")
    total: Sparse = {}
    for monomial, coefficient in equation.items():
        terms: Sparse = {(): coefficient}
        for c, b, i, k in monomial:
            step: Sparse = {}
            for (one, other), n in product({(i, k), (k, i)}, range(max(size, 1))):
                entry = [("K", n, other), ("Q", n, b)] if size else [("A", other, b)]
                for name, x in terms.items():
                    longer = tuple(sorted([*name, ("V", c, one), *entry]))
                    step[longer] = step.get(longer, 0) + x
            terms = step
        total = plus(total, terms)
    return total


def gradient(equation: Sparse, y: Sparse) -> Sparse:
    """The gradient of an equation at the point y."""
    result: Sparse = {}
    for names, coefficient in equation.items():
        for n, name in enumerate(names):
            others = prod(y.get((0, *other), 0) for other in names[:n] + names[n + 1 :])
            result = plus(result, {name: coefficient * others})
    return result
