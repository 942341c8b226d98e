"""Torus weights of the coordinates, and exact expansion on the parametrization.

The torus of GL(d')×GL(d)×GL(d) acts on y_{c,b,{i,k}} with weight e_c + f_b + g_i + g_k; for t = 1 that of
GL(d')×GL(d) acts on z_{c,{i,j,k}} with weight e_c + g_i + g_j + g_k. So the ideal of M̄ is graded by these
weights.

>>> weight((0, 1, 0, 0), SingleLayer(2, 1))
((1,), (0, 1), (2, 0))
"""

from __future__ import annotations

from typing import Any

from agattn.algebra.polynomial import Polynomial, Variable
from agattn.architectures import SingleLayer
from agattn.errors import TooLargeError
from agattn.geometry.variety.coordinates import coefficients, coordinates, generic_matrices

#: More coordinates than this are never listed one by one.
MOST_COORDINATES = 5000

#: The indices of a coordinate, from 0: (c, b, i, k) with i ≤ k for t ≥ 2, (c, i, j, k) with i ≤ j ≤ k for t
#: = 1.
Index = tuple[int, ...]


def indices(layer: SingleLayer) -> list[Index]:
    """The indices of all coordinates, from 0, in lexicographic order.

    Raises:
        TooLargeError: if there are more than :data:`MOST_COORDINATES`.

    >>> indices(SingleLayer(2, 1))[:3]
    [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 1)]
    """
    if layer.ambient_dimension > MOST_COORDINATES:
        raise TooLargeError(
            f"{layer.ambient_dimension} coordinates are too many to write out; at most {MOST_COORDINATES} are"
        )
    return [tuple(i - 1 for i in index) for index in coordinates(layer)]


def variable(index: Index, tokens: int) -> Variable:
    """The coordinate with these indices from 0 as a variable with indices from 1: a y, or for t = 1 a z.

    >>> variable((0, 1, 0, 0), tokens=2).name
    'y_1_2_1_1'
    """
    return Variable("z" if tokens == 1 else "y", tuple(i + 1 for i in index))


def weight(index: Index, layer: SingleLayer) -> tuple[tuple[int, ...], ...]:
    """The torus weight of a coordinate, one vector for each factor of the group."""
    if layer.t == 1:
        groups = [(layer.d_out, index[:1]), (layer.d, index[1:])]
    else:
        groups = [(layer.d_out, index[:1]), (layer.d, index[1:2]), (layer.d, index[2:])]
    return tuple(tuple(letters.count(i) for i in range(size)) for size, letters in groups)


def vanishes(polynomial: Polynomial, layer: SingleLayer) -> bool:
    """Whether a polynomial in the coordinates is zero on the whole neuromanifold, by exact expansion.

    V and A are replaced by matrices of variables; where a < d, A by KᵀQ with K and Q of a rows.

    Args:
        polynomial: in a ring whose variables are coordinates of the layer, all of them or some.
        layer: the architecture.

    Raises:
        KeyError: if a variable is not a coordinate of the layer.

    >>> ring = PolynomialRing([Variable("y", (1, 1, 1, 1)), Variable("y", (1, 2, 1, 1))])
    >>> vanishes(ring.gens[0], SingleLayer(2, 1)), vanishes(ring.zero(), SingleLayer(2, 1))
    (False, True)
    """
    A, V = generic_point(layer)
    values = dict(zip(coordinates(layer), coefficients(layer, A, V), strict=True))
    return not polynomial.compose([values[y.indices] for y in polynomial.ring.variables])


def generic_point(layer: SingleLayer) -> tuple[Any, Any]:
    """A and V as matrices of polynomials: of variables, or where a < d with A = KᵀQ, K and Q of a rows."""
    V, *factors = generic_matrices(
        {"V": (layer.d_out, layer.d)}
        | dict.fromkeys("KQ" if layer.alpha < layer.d else "A", (layer.alpha, layer.d))
    )
    return (factors[0].T @ factors[1] if len(factors) > 1 else factors[0]), V
