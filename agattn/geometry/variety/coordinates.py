r"""The coordinates in which the neuromanifold is a variety, the map (A, V) ↦ y, and its differential.

For j ≠ τ the coefficient of x_{i,j} x_{k,j} x_{b,τ} in the output entry (c, τ) is

.. math:: y_{c,b,i,k} = V_{ci} A_{kb} + V_{ck} A_{ib} \quad (i < k), \qquad
          y_{c,b,i,i} = V_{ci} A_{ib},

so that y_{c,b} is the quadratic form V_c(u)·A_b(u), a product of a row of V and a column of A read as linear
forms (HMK, Proposition A.5). These are the *compact* coefficients, N = d'·d·d(d+1)/2 of them; all others
(j = τ, and further tokens) are fixed linear combinations of them, which :func:`expansion` gives. At t = 1
only the cubic forms z_c(x) = V_c(x)·(xᵀAx) remain.

>>> from agattn.architectures import SingleLayer
>>> layer = SingleLayer(d=2, d_out=1)
>>> coordinates(layer)[:3]
((1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 2, 2))
>>> print(coefficients(layer, A=[[1, 2], [3, 4]], V=[[5, 7]]))
[5 22 21 10 34 28]
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import prod
from typing import Any

import flint
import numpy as np

from agattn.algebra.echelon import Matrix, rational
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.architectures import SingleLayer
from agattn.architectures.lightning import Array, as_array
from agattn.errors import InputError

Coordinate = tuple[int, ...]
Monomial = tuple[tuple[int, int], ...]


@lru_cache(maxsize=256)
def coordinates(layer: SingleLayer) -> tuple[Coordinate, ...]:
    """The indices (c, b, i, k), i ≤ k, of the compact coefficients, in lexicographic order, counted from 1.

    At t = 1 the indices are (c, i, j, k) with i ≤ j ≤ k, one for each coefficient of a cubic form.

    See Also:
        :func:`coordinate_index`, the inverse; :func:`coefficients`, the values.

    >>> coordinates(SingleLayer(1, 2))
    ((1, 1, 1, 1), (2, 1, 1, 1))
    """
    groups = zip(layer.gl_sizes, layer.gl_degrees, strict=True)
    parts = [combinations_with_replacement(range(1, size + 1), degree) for size, degree in groups]
    return tuple(sum(chosen, ()) for chosen in product(*parts))


@lru_cache(maxsize=256)
def coordinate_index(layer: SingleLayer) -> dict[Coordinate, int]:
    """The position of each coordinate in :func:`coordinates`, counted from 0.

    >>> coordinate_index(SingleLayer(2, 1))[1, 2, 1, 1]
    3
    """
    return {name: position for position, name in enumerate(coordinates(layer))}


def coordinate_ring(layer: SingleLayer) -> PolynomialRing:
    """The ring ℚ[y] of polynomials on the ambient space, with a variable y_{c,b,i,k} for each coordinate.

    At t = 1 the variables are z_{c,i,j,k}.

    >>> len(coordinate_ring(SingleLayer(2, 1)))
    6
    """
    return PolynomialRing([Variable(layer.letter, index) for index in coordinates(layer)])


def coefficients(layer: SingleLayer, A: Any, V: Any) -> Array:
    """The compact coefficients of φ, in the order of :func:`coordinates`.

    Args:
        layer: the layer.
        A: d × d, with entries that can be added and multiplied.
        V: d' × d, with entries of the same kind.

    Returns:
        An array of length N.

    Raises:
        InputError: if the shapes do not fit the layer.

    See Also:
        :func:`parametrization`, for entries that are variables; :func:`full_tensor`, for all coefficients.

    Source: HMK, Proposition A.5.

    >>> from fractions import Fraction
    >>> coefficients(SingleLayer(1, 1), [[Fraction(1, 2)]], [[3]])
    array([Fraction(3, 2)], dtype=object)
    """
    A, V = as_array(A, "A"), as_array(V, "V")
    if A.shape != (layer.d, layer.d) or V.shape != (layer.d_out, layer.d):
        raise InputError(f"A is {A.shape} and V is {V.shape}; {layer.name} needs d × d and d' × d")
    i, k, mixed = _pairs(layer.d)
    y: Array = V[:, None, i] * A.T[None, :, k]  # in the order c, b, i ≤ k
    y[:, :, mixed] += V[:, None, k[mixed]] * A.T[None, :, i[mixed]]
    if layer.has_orbits:
        return y.ravel()
    # z_c(x) = Σ_b y_{c,b}(x)·x_b: the coefficient of x_p x_q x_r has a part for each of them as x_b.
    at = {pair: n for n, pair in enumerate(zip(i.tolist(), k.tolist(), strict=True))}
    cubic: defaultdict[tuple[int, ...], Any] = defaultdict(int)
    for b, pair in product(range(layer.d), at):
        cubic[tuple(sorted((b, *pair)))] += y[:, b, at[pair]]
    return np.array([cubic[triple] for triple in sorted(cubic)], dtype=y.dtype).T.ravel()


@lru_cache(maxsize=64)
def _pairs(d: int) -> tuple[Array, Array, Array]:
    """All i ≤ k, counted from 0, and where i < k; nobody changes these arrays."""
    i, k = np.triu_indices(d)
    return i, k, i < k


def generic_matrices(shapes: Mapping[str, tuple[int, int]], characteristic: int = 0) -> list[Array]:
    """Matrices of variables over one polynomial ring, from their letters and numbers of rows and columns.

    >>> generic_matrices({"a": (1, 2), "v": (1, 1)})
    [array([[a_(1,1), a_(1,2)]], dtype=object), array([[v_(1,1)]], dtype=object)]
    """
    variables = [Variable(x, (i + 1, j + 1)) for x, shape in shapes.items() for i, j in np.ndindex(shape)]
    gens = iter(PolynomialRing(variables, characteristic).gens)
    return [np.array([[next(gens) for _ in range(n)] for _ in range(m)], object) for m, n in shapes.values()]


def parametrization(layer: SingleLayer, characteristic: int = 0) -> list[Polynomial]:
    """The compact coefficients as N polynomials in the entries a_{i,b} of A and v_{c,i} of V, row by row.

    Args:
        layer: the layer.
        characteristic: 0 for ℚ, or a prime p for 𝔽_p.

    See Also:
        :func:`~agattn.geometry.variety.coefficient_map.coefficient_map`, for any architecture.

    >>> parametrization(SingleLayer(1, 1))
    [a_(1,1)*v_(1,1)]
    """
    A, V = generic_matrices({"a": (layer.d, layer.d), "v": (layer.d_out, layer.d)}, characteristic)
    return list(coefficients(layer, A, V))


def differential(A: Matrix, V: Matrix) -> flint.fmpq_mat:
    """The N × (d² + d'd) matrix over ℚ of dφ(Ȧ, V̇) = V_c·Ȧ_b + V̇_c·A_b at (A, V), for t ≥ 2.

    Its first d² columns belong to the entries of Ȧ, row by row; the others to those of V̇, row by row.

    >>> differential([[1]], [[5]])
    [5, 1]
    """
    index = coordinate_index(SingleLayer(len(A), len(V)))
    matrix = flint.fmpq_mat(len(index), len(A) ** 2 + len(V) * len(A))
    for name, entries in nonzero_rows(A, V).items():
        for column, x in entries.items():
            matrix[index[name], column] = x
    return matrix


def nonzero_rows(A: Matrix, V: Matrix) -> dict[Coordinate, dict[int, flint.fmpq]]:
    """The rows of :func:`differential` that are not zero.

    Args:
        A: d × d, exact.
        V: d' × d, exact.

    Returns:
        For the coordinate of each such row the entries that are not 0, by their columns.

    >>> dict(nonzero_rows([[1]], [[5]]))
    {(1, 1, 1, 1): {0: 5, 1: 1}}
    """
    d, d_out = len(A), len(V)
    rows: defaultdict[Coordinate, dict[int, flint.fmpq]] = defaultdict(dict)
    for c, i in product(range(d_out), range(d)):
        if V[c][i]:
            x = rational(V[c][i])
            for k, b in product(range(d), repeat=2):
                rows[c + 1, b + 1, min(i, k) + 1, max(i, k) + 1][k * d + b] = x
    for k, b in product(range(d), repeat=2):
        if A[k][b]:
            x = rational(A[k][b])
            for i, c in product(range(d), range(d_out)):
                rows[c + 1, b + 1, min(i, k) + 1, max(i, k) + 1][d * d + c * d + i] = x
    return rows


@lru_cache(maxsize=64)
def monomials(d: int, t: int) -> tuple[Monomial, ...]:
    """The cubic monomials in the entries of X, d × t, each as a sorted triple of positions (i, j) from 1.

    >>> len(monomials(2, 1)), monomials(1, 1)
    (4, (((1, 1), (1, 1), (1, 1)),))
    """
    positions = list(product(range(1, d + 1), range(1, t + 1)))
    return tuple(combinations_with_replacement(positions, 3))


def _monomial(index: Coordinate, tau: int, j: int) -> Monomial:
    """The monomial x_{b,τ} x_{i,j} x_{k,j} of a coordinate (c, b, i, k), sorted; at t = 1 τ = j."""
    return tuple(sorted(zip(index[1:], (tau, j, j), strict=True)))


def expansion(layer: SingleLayer) -> dict[tuple[int, int, Monomial], dict[Coordinate, int]]:
    """The linear map from the compact coefficients to the coefficients of all outputs.

    Args:
        layer: the layer, with its number of tokens t.

    Returns:
        For each output entry (c, τ) and each cubic monomial that occurs there, the compact coefficients that
        add up to the coefficient of the monomial, with their multiplicities.

    See Also:
        :func:`full_tensor`, which applies the map; :func:`compact_coefficients`, the inverse on its image.
    """
    table: dict[tuple[int, int, Monomial], dict[Coordinate, int]] = {}
    tokens = range(1, layer.t + 1)
    for tau, index, j in product(tokens, coordinates(layer), tokens):
        table.setdefault((index[0], tau, _monomial(index, tau, j)), Counter())[index] += 1
    return table


def full_tensor(layer: SingleLayer, compact: Any) -> Array:
    """All coefficients of φ, from the compact ones.

    Args:
        layer: the layer, with its number of tokens t.
        compact: the N compact coefficients.

    Returns:
        An array (d', t, m), where m is the number of :func:`monomials`.

    See Also:
        :func:`compact_coefficients`, the inverse.
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

    >>> layer = SingleLayer(2, 1, t=3)
    >>> y = coefficients(layer, [[1, 2], [3, 4]], [[5, 7]])
    >>> (compact_coefficients(layer, full_tensor(layer, y)) == y).all()
    np.True_
    """
    column = {m: n for n, m in enumerate(monomials(layer.d, layer.t))}
    other = min(2, layer.t)
    values = [tensor[i[0] - 1, 0, column[_monomial(i, 1, other)]] for i in coordinates(layer)]
    return np.array(values, dtype=np.asarray(tensor).dtype)


def evaluate(layer: SingleLayer, tensor: Any, X: Any) -> Array:
    """The output φ(X), d' × t, from all coefficients of φ.

    Args:
        layer: the layer.
        tensor: what :func:`full_tensor` gives.
        X: d × t, with entries that can be added and multiplied.

    >>> layer = SingleLayer(1, 1)
    >>> evaluate(layer, full_tensor(layer, [6]), [[1, 2]]).tolist()
    [[30, 60]]
    """
    X = as_array(X, "X")
    values = [prod(X[i - 1, j - 1] for i, j in monomial) for monomial in monomials(layer.d, layer.t)]
    result: Array = np.asarray(tensor) @ np.array(values)
    return result
