"""Triangles and points for drawing the real zeros of polynomials in three variables.

Everything here is floating point and only for the eye; what a figure *says* is computed exactly elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agattn.algebra.polynomial import Polynomial
from agattn.errors import needs

Array = np.ndarray[Any, Any]


def evaluator(f: Polynomial) -> Callable[[Array], Array]:
    """A polynomial as a function of floating-point points, n × 3.

    >>> from agattn.algebra.polynomial import PolynomialRing, Variable
    >>> x, y, w = PolynomialRing([Variable(name) for name in "xyw"]).gens
    >>> evaluator(y**2 + w * x**2)(np.array([[1.0, 2.0, 3.0]]))
    array([7.])
    """
    exponents = np.array(list(f.terms), dtype=int).reshape(-1, 3)
    coefficients = np.array([float(c) for c in f.terms.values()])

    def evaluate(points: Array) -> Array:
        values: Array = np.prod(points[:, None, :] ** exponents, axis=2) @ coefficients
        return values

    return evaluate


def grid_triangles(parametrization: Callable[[Array, Array], Array], u: Array, v: Array) -> Array:
    """The triangles, m × 3 × 3, of a parametrized surface over a rectangular grid."""
    p = parametrization(*np.meshgrid(u, v, indexing="ij"))
    a, b, c, d = p[:-1, :-1], p[1:, :-1], p[1:, 1:], p[:-1, 1:]
    triangles: Array = np.concatenate([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)])
    return triangles.reshape(-1, 3, 3)


def implicit_triangles(f: Callable[[Array], Array], radius: float, cells: int = 56) -> Array:
    """Triangles, m × 3 × 3, of the zeros of f in the cube [−radius, radius]³, by marching cubes.

    Parts along which f does not change its sign are missed.

    Raises:
        InputError: if scikit-image is missing.

    >>> sphere = implicit_triangles(lambda p: (p**2).sum(axis=1) - 1, 1.5, cells=20)
    >>> bool(abs((sphere**2).sum(axis=2) - 1).max() < 0.02)
    True
    """
    with needs("drawing this surface", "scikit-image", "figures"):
        from skimage.measure import marching_cubes
    values = f(_grid(radius, cells + 1)).reshape((cells + 1,) * 3)
    if not values.min() < 0 < values.max():
        return np.zeros((0, 3, 3))
    spacing = (2 * radius / cells,) * 3
    vertices, faces, _, _ = marching_cubes(values, 0, spacing=spacing, allow_degenerate=False)
    triangles: Array = vertices[faces].astype(float) - radius
    return triangles


def _grid(radius: float, number: int) -> Array:
    """The points of a cubic grid with this number of points on each edge of the cube, n × 3."""
    axis = np.linspace(-radius, radius, number)
    return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)


def points_on_curve(polynomials: Sequence[Polynomial], radius: float) -> Array:
    """Many common zeros of polynomials in the cube, n × 3, by Gauss-Newton steps from a grid of 22³."""
    functions = [evaluator(f) for f in polynomials]
    derivatives = [[evaluator(f.derivative(x)) for x in f.ring.gens] for f in polynomials]
    p = _grid(radius, 22)
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
