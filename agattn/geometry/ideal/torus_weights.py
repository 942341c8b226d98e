"""Torus weights, the monomials of one weight, and the parametrization with variables for weights.

The torus of GL(d')×GL(d)×GL(d) acts on y_{c,b,i,k} with weight e_c + f_b + g_i + g_k; for t = 1 that of
GL(d')×GL(d) acts on z_{c,{i,j,k}} with weight e_c + g_i + g_j + g_k. So the ideal of M̄ is graded by these
weights. A weight is written as one vector for each group; zeros at its end may be left out, so that it does
not depend on the size of the layer.

>>> torus_weight([(1, 2, 1, 3)])
((1,), (0, 1), (1, 0, 1))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import combinations_with_replacement, islice, product
from typing import Any

from agattn.algebra.polynomial import Polynomial
from agattn.architectures import SingleLayer
from agattn.errors import TooLargeError
from agattn.geometry.variety.coordinates import Coordinate, coefficients, coordinates, generic_matrices

#: More coordinates than this are never listed one by one.
MOST_COORDINATES = 5000

#: A product of coordinates, sorted, with repetition.
Monomial = tuple[Coordinate, ...]

#: How often each letter 1, 2, ... occurs, for each group.
TorusWeight = tuple[tuple[int, ...], ...]


def list_coordinates(layer: SingleLayer) -> tuple[Coordinate, ...]:
    """The indices of all coordinates, in lexicographic order, counted from 1.

    Raises:
        TooLargeError: if there are more than :data:`MOST_COORDINATES`.
    """
    if layer.ambient_dimension > MOST_COORDINATES:
        raise TooLargeError(
            f"{layer.ambient_dimension} coordinates are too many to write out; at most {MOST_COORDINATES} are"
        )
    return coordinates(layer)


def letters(index: Coordinate, degrees: Sequence[int]) -> list[tuple[int, ...]]:
    """The indices of a coordinate that belong to each group.

    >>> letters((1, 2, 1, 3), (1, 1, 2))
    [(1,), (2,), (1, 3)]
    """
    left = iter(index)
    return [tuple(islice(left, degree)) for degree in degrees]


def torus_weight(
    monomial: Iterable[Coordinate], degrees: Sequence[int] = SingleLayer.gl_degrees
) -> TorusWeight:
    """The torus weight of a product of coordinates, without zeros at the end.

    ``degrees`` says how many indices of a coordinate belong to each group: the layer's ``gl_degrees``.
    """
    weight = []
    for parts in zip(*(letters(index, degrees) for index in monomial), strict=True):
        joined = [letter for part in parts for letter in part]
        weight.append(tuple(joined.count(letter) for letter in range(1, max(joined) + 1)))
    return tuple(weight)


def sort_weight(weight: TorusWeight) -> tuple[TorusWeight, list[list[int]]]:
    """The dominant weight with the same numbers, and for each group which letter became its 1, 2, ...

    >>> sort_weight(((0, 2), (1, 0, 1), (1, 1, 2)))
    (((2,), (1, 1), (2, 1, 1)), [[2], [1, 3], [3, 1, 2]])
    """
    pairs = [sorted((-count, letter) for letter, count in enumerate(part, 1) if count) for part in weight]
    dominant = tuple(tuple(-count for count, _ in part) for part in pairs)
    return dominant, [[letter for _, letter in part] for part in pairs]


def relabeling(orders: Sequence[Sequence[int]], degrees: Sequence[int]) -> Callable[[Monomial], Monomial]:
    """The map of monomials that replaces letter r of each group by ``orders[group][r - 1]``.

    >>> relabeling([[2], [1, 3], [3, 1, 2]], (1, 1, 2))(((1, 2, 1, 3), (1, 1, 2, 2)))
    ((2, 1, 1, 1), (2, 3, 2, 3))
    """

    @cache
    def moved(index: Coordinate) -> Coordinate:
        pairs = zip(orders, letters(index, degrees), strict=True)
        return tuple(letter for order, part in pairs for letter in sorted([order[x - 1] for x in part]))

    return lambda monomial: tuple(sorted(map(moved, monomial)))


@lru_cache(maxsize=4096)
def divisors(
    weight: TorusWeight, degrees: tuple[int, ...] = SingleLayer.gl_degrees
) -> tuple[tuple[Coordinate, TorusWeight], ...]:
    """The coordinates that divide monomials of a torus weight, sorted, with the weight of the quotients.

    >>> divisors(((2,), (1, 1), (2, 2)))[0]
    ((1, 1, 1, 1), ((1,), (0, 1), (0, 2)))
    """
    choices = product(*(_choices(part, degree) for part, degree in zip(weight, degrees, strict=True)))
    return tuple(
        (tuple(letter for part, _ in parts for letter in part), tuple(rest for _, rest in parts))
        for parts in choices
    )


def monomials_of_weight(
    weight: TorusWeight, degrees: tuple[int, ...] = SingleLayer.gl_degrees
) -> list[Monomial]:
    """All products of coordinates of a torus weight, sorted.

    >>> len(monomials_of_weight(((2,), (1, 1), (2, 2))))
    3
    """
    found: list[Monomial] = []

    def extend(chosen: Monomial, left: TorusWeight) -> None:
        if not any(left[0]):
            found.append(chosen)
            return
        first = next(letter for letter, count in enumerate(left[0], 1) if count)
        for index, rest in divisors(left, degrees):
            if index[0] > first:
                break  # a sorted product has its smallest first index here
            if not chosen or index >= chosen[-1]:
                extend((*chosen, index), rest)

    extend((), weight)
    return found


@cache
def _choices(left: tuple[int, ...], degree: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The increasing choices of some letters among those left, each with what is left after it."""
    available = [letter for letter, count in enumerate(left, 1) if count]
    found = []
    for chosen in combinations_with_replacement(available, degree):
        rest = list(left)
        for letter in chosen:
            rest[letter - 1] -= 1
        if min(rest) >= 0:
            found.append((chosen, tuple(rest)))
    return found


def smallest_layer(weight: TorusWeight, layer: SingleLayer) -> SingleLayer:
    """The smallest layer with all letters of a weight, in which the same equations of that weight hold.

    The rank of A matters only where the letters leave room for a larger one.

    >>> smallest_layer(((2,), (1, 1), (2, 1, 1)), SingleLayer(5, 4, 3))
    SingleLayer(d=3, d_out=1, a=3, t=2)
    """
    outer, *inner = map(len, weight)
    d = max(inner)
    return type(layer)(d, outer, layer.alpha if layer.alpha < min(inner) else d)


@lru_cache(maxsize=256)
def generic_coordinates(layer: SingleLayer) -> dict[Coordinate, Polynomial]:
    """The coordinates of :func:`generic_point`, by their indices."""
    return dict(zip(coordinates(layer), coefficients(layer, *generic_point(layer)), strict=True))


def generic_point(layer: SingleLayer) -> tuple[Any, Any]:
    """A and V as matrices of polynomials: of variables, or where A is bounded A = KᵀQ, K and Q of a rows.

    For t ≥ 2 it is where a < d. One token sees the symmetric part of A alone, which over ℂ is any symmetric
    matrix of rank at most 2a: there it is where 2a < d.
    """
    bounded = layer.alpha * (1 if layer.has_orbits else 2) < layer.d
    shape = (layer.alpha if bounded else layer.d, layer.d)
    V, *factors = generic_matrices(
        {"V": (layer.d_out, layer.d)} | dict.fromkeys("KQ" if bounded else "A", shape)
    )
    return (factors[0].T @ factors[1] if len(factors) > 1 else factors[0]), V
