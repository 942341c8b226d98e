"""Triangles and points for drawing the real zeros of polynomials in three variables.

Everything here is floating point and only for the eye; what a figure *says* is computed exactly elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from agattn.algebra.polynomial import Polynomial

Array = np.ndarray[Any, Any]


def evaluator(f: Polynomial) -> Callable[[Array], Array]:
    """A polynomial as a function of floating-point points, n × 3.

    >>> from agattn.algebra.polynomial import PolynomialRing, Variable
    >>> x, y, w = PolynomialRing([Variable(name) for name in "xyw"]).gens
    >>> evaluator(y**2 + w * x**2)(np.array([[1.0, 2.0, 3.0]]))
    array([7.])
    """
    exponents = np.array([list(e) for e in f.terms], dtype=int).reshape(-1, 3)
    coefficients = np.array([float(c) for c in f.terms.values()])

    def evaluate(points: Array) -> Array:
        values: Array = np.prod(points[:, None, :] ** exponents[None, :, :], axis=2) @ coefficients
        return values

    return evaluate


def grid_triangles(parametrization: Callable[[Array, Array], Array], u: Array, v: Array) -> Array:
    """The triangles, m × 3 × 3, of a parametrized surface over a rectangular grid."""
    p = parametrization(*np.meshgrid(u, v, indexing="ij"))
    a, b, c, d = p[:-1, :-1], p[1:, :-1], p[1:, 1:], p[:-1, 1:]
    triangles: Array = np.concatenate([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)])
    return triangles.reshape(-1, 3, 3)


# The six tetrahedra 0, e_i, e_i + e_j, (1,1,1) into which the diagonal divides a cube.
_TETRAHEDRA = [
    np.array(
        [[0, 0, 0], np.eye(3, dtype=int)[i], np.eye(3, dtype=int)[i] + np.eye(3, dtype=int)[j], [1, 1, 1]]
    )
    for i, j, _ in permutations(range(3))
]


def implicit_triangles(f: Callable[[Array], Array], radius: float, cells: int = 56) -> Array:
    """Triangles, m × 3 × 3, of the zeros of f in the cube [−radius, radius]³, by marching tetrahedra.

    Parts along which f does not change its sign are missed.

    >>> sphere = implicit_triangles(lambda p: (p**2).sum(axis=1) - 1, 1.5, cells=20)
    >>> bool(abs((sphere**2).sum(axis=2) - 1).max() < 0.02)
    True
    """
    axis = np.linspace(-radius, radius, cells + 1)
    points = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    values = f(points.reshape(-1, 3)).reshape(points.shape[:3])
    values = np.where(values == 0, 1e-14, values)
    corner = np.stack(np.meshgrid(*[np.arange(cells)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    found = []
    for tetrahedron in _TETRAHEDRA:
        where = corner[:, None, :] + tetrahedron[None, :, :]
        at = tuple(np.moveaxis(where, -1, 0))
        F, P = values[at], points[at]
        crossed = np.flatnonzero((F > 0).any(axis=1) & (F < 0).any(axis=1))
        found += _cut(F[crossed], P[crossed])
    return np.concatenate(found) if found else np.zeros((0, 3, 3))


def _cut(F: Array, P: Array) -> list[Array]:
    """The triangles in which tetrahedra are cut by zeros of linear functions with values F at corners P."""
    order = np.argsort(F, axis=1)
    F, P = np.take_along_axis(F, order, axis=1), np.take_along_axis(P, order[:, :, None], axis=1)

    def crossing(rows: Array, i: int, j: int) -> Array:
        weight = (F[rows, i] / (F[rows, i] - F[rows, j]))[:, None]
        point: Array = P[rows, i] + weight * (P[rows, j] - P[rows, i])
        return point

    negative = (F < 0).sum(axis=1)
    one, two, three = (np.flatnonzero(negative == n) for n in (1, 2, 3))
    triangles = [
        np.stack([crossing(one, 0, j) for j in (1, 2, 3)], axis=1),
        np.stack([crossing(three, j, 3) for j in (0, 1, 2)], axis=1),
    ]
    a, b, c, d = (crossing(two, i, j) for i, j in ((0, 2), (0, 3), (1, 3), (1, 2)))
    return [*triangles, np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]


def points_on_curve(polynomials: Sequence[Polynomial], radius: float, cells: int = 22) -> Array:
    """Many common zeros of polynomials in the cube, n × 3, by Gauss-Newton steps from a grid."""
    functions = [evaluator(f) for f in polynomials]
    derivatives = [[evaluator(f.derivative(x)) for x in f.ring.gens] for f in polynomials]
    axis = np.linspace(-radius, radius, cells)
    p = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    for _ in range(30):
        values = np.stack([f(p) for f in functions], axis=1)
        jacobian = np.stack([np.stack([g(p) for g in row], axis=1) for row in derivatives], axis=1)
        step = (np.linalg.pinv(jacobian, rcond=1e-10) @ values[:, :, None])[:, :, 0]
        length = np.linalg.norm(step, axis=1, keepdims=True)
        p = np.clip(p - step * np.minimum(1, radius / np.maximum(length, 1e-300)), -3 * radius, 3 * radius)
    values = np.stack([f(p) for f in functions], axis=1)
    inside = (np.abs(values).max(axis=1) < 1e-11) & (np.abs(p).max(axis=1) <= radius)
    _, first = np.unique(np.round(p[inside] / (radius / 150)), axis=0, return_index=True)
    chosen: Array = p[inside][np.sort(first)]
    return chosen
