"""The coefficients of φ: the coordinates in which the neuromanifold is a variety.

For j ≠ τ the coefficient of x_{i,j} x_{k,j} x_{b,τ} in the output entry (c, τ) is

    y_{c,b,i,k} = V_{c,i} A_{k,b} + V_{c,k} A_{i,b}  (i < k),        y_{c,b,i,i} = V_{c,i} A_{i,b},

so that y_{c,b} is the quadratic form V_c(u)·A_b(u), a product of a row of V and a column of A read as linear
forms (HMK, Proposition A.5). These are the *compact* coefficients; all others (j = τ, and further tokens) are
fixed linear combinations of them, which :func:`expansion` gives. At t = 1 only the cubic forms
z_c(x) = V_c(x)·(xᵀAx) remain.

>>> from agattn.architectures import SingleLayer
>>> layer = SingleLayer(d=2, d_out=1)
>>> coordinates(layer)[:3]
[(1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 2, 2)]
>>> print(coefficients(layer, A=[[1, 2], [3, 4]], V=[[5, 7]]))
[5 22 21 10 34 28]
"""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.architectures import SingleLayer
from agattn.architectures.lightning import Array, as_array
from agattn.errors import InputError

Coordinate = tuple[int, ...]
CompactCoordinate = tuple[int, int, int, int]
Monomial = tuple[tuple[int, int], ...]


@cache
def compact_coordinates(d: int, d_out: int) -> tuple[CompactCoordinate, ...]:
    """The indices (c, b, i, k), i ≤ k, for t ≥ 2, in lexicographic order, counted from 1.

    >>> compact_coordinates(2, 1)[:3]
    ((1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 2, 2))
    """
    inner = range(1, d + 1)
    return tuple(
        (c, b, i, k) for c in range(1, d_out + 1) for b in inner for i in inner for k in range(i, d + 1)
    )


def coordinates(layer: SingleLayer) -> list[Coordinate]:
    """The indices (c, b, i, k), i ≤ k, of the compact coefficients, in lexicographic order, counted from 1.

    At t = 1 they are (c, i, j, k) with i ≤ j ≤ k, one for each coefficient of a cubic form.
    """
    if layer.t >= 2:
        return list(compact_coordinates(layer.d, layer.d_out))
    cubic = list(combinations_with_replacement(range(1, layer.d + 1), 3))
    return [(c, *ijk) for c in range(1, layer.d_out + 1) for ijk in cubic]


def coefficients(layer: SingleLayer, A: Any, V: Any) -> Array:
    """The compact coefficients of φ as a vector of length N, in the order of :func:`coordinates`.

    The entries of A (d × d) and V (d' × d) may be anything that can be added and multiplied: numbers,
    Fractions, polynomials, symbols.

    Raises:
        InputError: if the shapes do not fit the layer.

    Source: HMK, Proposition A.5.
    """
    A, V = as_array(A, "A"), as_array(V, "V")
    if A.shape != (layer.d, layer.d) or V.shape != (layer.d_out, layer.d):
        raise InputError(f"A is {A.shape} and V is {V.shape}; {layer} needs d × d and d' × d")
    if layer.t == 1:
        products = np.multiply.outer(V, A)  # V_{c,i} A_{k,b} at [c, i, k, b]
        return np.array([_cubic(products, *index) for index in coordinates(layer)], dtype=products.dtype)
    i, k = np.triu_indices(layer.d)
    result: Array = V[:, None, i] * A.T[None, :, k]  # in the order c, b, i ≤ k
    mixed = i < k
    result[:, :, mixed] += V[:, None, k[mixed]] * A.T[None, :, i[mixed]]
    return result.ravel()


def _cubic(products: Array, c: int, *indices: int) -> Any:
    """Coefficient of x_p x_q x_r in V_c(x)·(xᵀAx): the sum over all ways to share p, q, r among V and A."""
    return sum(products[c - 1, i - 1, k - 1, b - 1] for i, k, b in sorted(set(permutations(indices))))


def weight_ring(layer: SingleLayer, characteristic: int = 0) -> PolynomialRing:
    """The polynomial ring in the entries a_{i,b} of A and v_{c,i} of V, row by row."""
    square, inner = range(1, layer.d + 1), range(1, layer.d + 1)
    names = [Variable("a", index) for index in product(square, inner)]
    names += [Variable("v", index) for index in product(range(1, layer.d_out + 1), inner)]
    return PolynomialRing(names, characteristic)


def coordinate_ring(layer: SingleLayer, characteristic: int = 0) -> PolynomialRing:
    """The polynomial ring of the ambient space, in the variables y_{c,b,i,k} (at t = 1, z_{c,i,j,k})."""
    letter = "z" if layer.t == 1 else "y"
    return PolynomialRing([Variable(letter, index) for index in coordinates(layer)], characteristic)


def generic_weights(ring: PolynomialRing, layer: SingleLayer) -> tuple[Array, Array]:
    """A and V as matrices of the variables of :func:`weight_ring`."""
    square, rows = range(1, layer.d + 1), range(1, layer.d_out + 1)
    A = np.array([[ring.gen("a", i, b) for b in square] for i in square], dtype=object)
    V = np.array([[ring.gen("v", c, i) for i in square] for c in rows], dtype=object)
    return A, V


def parametrization(layer: SingleLayer, characteristic: int = 0) -> list[Polynomial]:
    """The compact coefficients as polynomials in the entries of A and V."""
    ring = weight_ring(layer, characteristic)
    return list(coefficients(layer, *generic_weights(ring, layer)))


@lru_cache(maxsize=64)
def monomials(d: int, t: int) -> tuple[Monomial, ...]:
    """The cubic monomials in the entries of X (d × t), each as a sorted triple of positions (i, j) from 1."""
    positions = list(product(range(1, d + 1), range(1, t + 1)))
    return tuple(combinations_with_replacement(positions, 3))


def expansion(layer: SingleLayer) -> dict[tuple[int, int, Monomial], dict[Coordinate, int]]:
    """The linear map from compact coefficients to the coefficients of all outputs for t tokens.

    Returns:
        For each output entry (c, τ) and each cubic monomial with a nonzero coefficient there, the integer
        combination of compact coefficients that it is. Monomials that never occur are absent.
    """
    t = layer.t
    table: dict[tuple[int, int, Monomial], dict[Coordinate, int]] = {}
    for tau in range(1, t + 1):
        for index in coordinates(layer):
            if t == 1:
                c, *factors = index
                table[c, 1, tuple((i, 1) for i in factors)] = {index: 1}
                continue
            c, b, i, k = index
            for j in range(1, t + 1):
                monomial = tuple(sorted([(i, j), (k, j), (b, tau)]))
                table.setdefault((c, tau, monomial), Counter())[index] += 1
    return table


def full_tensor(layer: SingleLayer, compact: Any) -> Array:
    """All coefficients of φ for t tokens, d' × t × C(dt+2, 3), from the compact ones.

    The last axis follows :func:`monomials`.
    """
    values = dict(zip(coordinates(layer), compact, strict=True))
    column = {m: n for n, m in enumerate(monomials(layer.d, layer.t))}
    zero = next(iter(values.values())) * 0
    tensor = np.full((layer.d_out, layer.t, len(column)), zero, dtype=np.asarray(compact).dtype)
    for (c, tau, monomial), combination in expansion(layer).items():
        tensor[c - 1, tau - 1, column[monomial]] = sum(values[y] * n for y, n in combination.items())
    return tensor


def compact_coefficients(layer: SingleLayer, tensor: Any) -> Array:
    """The compact coefficients, read off the full tensor of :func:`full_tensor` at τ = 1 and j = 2.

    This is the inverse of the linear map :func:`expansion` on its image.

    >>> from agattn.architectures import SingleLayer
    >>> layer = SingleLayer(2, 1, t=3)
    >>> y = coefficients(layer, [[1, 2], [3, 4]], [[5, 7]])
    >>> (compact_coefficients(layer, full_tensor(layer, y)) == y).all()
    np.True_
    """
    column = {m: n for n, m in enumerate(monomials(layer.d, layer.t))}
    values = []
    for index in coordinates(layer):
        if layer.t == 1:
            monomial: Monomial = tuple((i, 1) for i in index[1:])
        else:
            _, b, i, k = index
            monomial = tuple(sorted([(i, 2), (k, 2), (b, 1)]))
        values.append(tensor[index[0] - 1, 0, column[monomial]])
    return np.array(values, dtype=np.asarray(tensor).dtype)


def evaluate(layer: SingleLayer, tensor: Any, X: Any) -> Array:
    """φ(X), d' × t, from the full tensor: every monomial evaluated at X (d × t)."""
    X = as_array(X, "X")
    values = [
        X[i - 1, j - 1] * X[m - 1, n - 1] * X[r - 1, s - 1]
        for (i, j), (m, n), (r, s) in monomials(layer.d, layer.t)
    ]
    result: Array = np.asarray(tensor) @ np.array(values)
    return result
