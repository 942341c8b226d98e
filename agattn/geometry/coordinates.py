"""The coordinates y of a single layer, their weights, and the parametrization in them.

For t ≥ 2, y_{c,b,{i,k}} = V_{ci}A_{kb} + V_{ck}A_{ib} for i < k and V_{ci}A_{ib} for i = k (HMK, Prop. A.5): the
d' × d matrix of quadratic forms V_c(u)·A_b(u). Its weight under the torus of GL(d')×GL(d)×GL(d) is e_c + f_b + g_i + g_k.

For t = 1 only the cubic forms V_c(x)·(xᵀAx) remain; y_{c,{i,j,k}} is the coefficient of x_i x_j x_k, of weight e_c + g_i + g_j + g_k.

>>> from agattn.architecture import SingleLayer
>>> [v.name for v in coordinates(SingleLayer(2, 1))]
['y_1_1_1_1', 'y_1_1_1_2', 'y_1_1_2_2', 'y_1_2_1_1', 'y_1_2_1_2', 'y_1_2_2_2']
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement, product
from typing import Any

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.architecture import SingleLayer
from agattn.errors import TooLargeError

#: More coordinates than this are never listed one by one.
MOST_COORDINATES = 5000

#: The indices of a coordinate, from 0: (c, b, i, k) with i ≤ k for t ≥ 2, (c, i, j, k) with i ≤ j ≤ k for t = 1.
Index = tuple[int, ...]


def indices(layer: SingleLayer) -> list[Index]:
    """The indices of all coordinates, from 0, in lexicographic order.

    Raises:
        TooLargeError: if there are more than :data:`MOST_COORDINATES`.
    """
    if layer.ambient_dimension > MOST_COORDINATES:
        raise TooLargeError(
            f"{layer.ambient_dimension} coordinates are too many to write out; at most {MOST_COORDINATES} are"
        )
    if layer.t == 1:
        cubics = combinations_with_replacement(range(layer.d), 3)
        return [(c, *ijk) for c, ijk in product(range(layer.d_out), cubics)]
    squares = combinations_with_replacement(range(layer.d), 2)
    return [(c, b, *ik) for c, b, ik in product(range(layer.d_out), range(layer.d), squares)]


def coordinates(layer: SingleLayer) -> list[Variable]:
    """The coordinates as variables, with indices from 1, in the order of :func:`indices`."""
    return [variable(index) for index in indices(layer)]


def variable(index: Index) -> Variable:
    """The coordinate with these indices from 0 as a variable with indices from 1."""
    return Variable("y", tuple(i + 1 for i in index))


def coordinate_ring(layer: SingleLayer, characteristic: int = 0) -> PolynomialRing:
    """The polynomial ring in the coordinates of a layer."""
    return PolynomialRing(coordinates(layer), characteristic)


def weight(index: Index, layer: SingleLayer) -> tuple[tuple[int, ...], ...]:
    """The torus weight of a coordinate, one vector for each factor of the group.

    >>> weight((0, 1, 0, 0), SingleLayer(2, 1))
    ((1,), (0, 1), (2, 0))
    """
    groups = [(layer.d_out, index[:1]), (layer.d, index[1:])]
    if layer.t > 1:
        groups = [(layer.d_out, index[:1]), (layer.d, index[1:2]), (layer.d, index[2:])]
    return tuple(tuple(letters.count(i) for i in range(size)) for size, letters in groups)


def parametrize(index: Index, v: Callable[[int, int], Any], a: Callable[[int, int], Any], t: int) -> Any:
    """The value of one coordinate, in any commutative ring.

    Args:
        index: the coordinate.
        v: V_{ci} as a function of (c, i), from 0.
        a: A_{kb} as a function of (k, b), from 0.
        t: the number of tokens; only whether it is 1 matters.
    """
    if t > 1:
        c, b, i, k = index
        return v(c, i) * a(i, b) if i == k else v(c, i) * a(k, b) + v(c, k) * a(i, b)
    c, *letters = index

    def form(i: int, k: int) -> Any:
        return a(i, i) if i == k else a(i, k) + a(k, i)

    # Each distinct letter may be the one that V's linear form supplies; A's quadratic form supplies the others.
    terms = [
        v(c, i) * form(*(letters[:position] + letters[position + 1 :]))
        for position, i in enumerate(letters)
        if i not in letters[:position]
    ]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def vanishes(polynomial: Polynomial, layer: SingleLayer) -> bool:
    """Whether a polynomial in the coordinates is zero on the whole neuromanifold, by exact expansion over ℤ.

    V and A are replaced by variables; where α < d, A by KᵀQ with K and Q of α rows. The polynomial's ring may
    be any that has coordinates of the layer as variables.

    >>> ring = PolynomialRing([Variable("y", i) for i in ((1, 1, 1, 1), (1, 2, 1, 1))])
    >>> vanishes(ring.gens[0], SingleLayer(2, 1))
    False
    """
    used = sorted(
        {
            variable.indices
            for exponents in polynomial.terms
            for variable, exponent in zip(polynomial.ring.variables, exponents, strict=True)
            if exponent
        }
    )
    if not used:
        return not polynomial
    low_rank = layer.alpha < layer.d
    names = [Variable("V", (c, i)) for c in range(layer.d_out) for i in range(layer.d)]
    for letter in "KQ" if low_rank else "A":
        rows = layer.alpha if low_rank else layer.d
        names += [Variable(letter, (j, i)) for j in range(rows) for i in range(layer.d)]
    names = _restrict(names, used, layer, low_rank)
    ring = PolynomialRing(names)
    zero = ring.zero()
    gens = dict(zip(ring.variables, ring.gens, strict=True))

    def v(c: int, i: int) -> Polynomial:
        return gens[Variable("V", (c, i))]

    def a(k: int, b: int) -> Polynomial:
        if not low_rank:
            return gens[Variable("A", (k, b))]
        total = zero
        for j in range(layer.alpha):
            total = total + gens[Variable("K", (j, k))] * gens[Variable("Q", (j, b))]
        return total

    images = [
        parametrize(tuple(i - 1 for i in y.indices), v, a, layer.t) if y.indices in used else zero
        for y in polynomial.ring.variables
    ]
    return not polynomial.compose(images)


def _restrict(
    names: list[Variable], used: list[tuple[int, ...]], layer: SingleLayer, low_rank: bool
) -> list[Variable]:
    """Leave out the entries of V, A, K and Q that no coordinate in use needs."""
    outer = {index[0] - 1 for index in used}
    if layer.t == 1:
        inner = {i - 1 for index in used for i in index[1:]}
        columns = inner
    else:
        inner = {i - 1 for index in used for i in index[2:]}
        columns = {index[1] - 1 for index in used}
    needed = {
        "V": lambda r, i: r in outer and i in inner,
        "A": lambda k, b: k in inner and b in columns,
        "K": lambda j, k: k in inner,
        "Q": lambda j, b: b in columns,
    }
    return [name for name in names if needed[name.letter](*name.indices)]
