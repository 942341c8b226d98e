r"""All preimages of a point, exactly, by unique factorization.

A point y of ℂ^N is a d' × d matrix of quadratic forms y_{c,b}(u), and (A, V) is a preimage when
y_{c,b} = V_c·A_b for all c and b. Take one nonzero form y_{c,b} = l·m. Linear forms are prime in
ℂ[u_1, ..., u_d], so up to the rescaling (sA, V/s) every preimage has V_c = l, A_b = m or V_c = m, A_b = l.
The other columns of A and rows of V follow by dividing y_{c,b'} by V_c and y_{c',b} by A_b. So there are at
most two preimages up to scaling, and this finds them all (HMK, Theorem 3.2 and Corollary A.2).

>>> from agattn import SingleLayer
>>> fiber = preimages(SingleLayer(2, 1), [0, 1, 0, 0, 0, 0])     # y_{1,1} = u_1 u_2
>>> for point in fiber.points:
...     print([[int(x) for x in row] for row in point.A], [[int(x) for x in row] for row in point.V])
[[0, 0], [1, 0]] [[1, 0]]
[[1, 0], [0, 0]] [[0, 1]]
>>> [point.length for point in fiber.points]
[1, 1]
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from math import isqrt
from typing import Any

import flint
import numpy as np

from agattn.algebra.echelon import Matrix, fraction, kernel_basis, rational, rational_matrix, rational_rank
from agattn.algebra.rank import proved_rank
from agattn.algebra.scalars import Array, decide_rank
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.identifiability.fibers import RESCALING, SWAPPED, Case, Component, Fiber, Weights
from agattn.geometry.variety.coordinates import coefficients, differential, nonzero_rows
from agattn.geometry.variety.determinantal import tangent_space_equations


def preimages(layer: SingleLayer, y: Sequence[Any]) -> Fiber:
    """All (A, V) over ℂ with rk A ≤ a and φ_{A,V} = y, up to (sA, V/s), for a rational y ≠ 0 of length N.

    Raises:
        InputError: if t = 1, if y has not N entries, or if y = 0, whose fiber is {A = 0} ∪ {V = 0}.

    >>> preimages(SingleLayer(2, 1), [1, 0, 1, 0, 0, 0]).discriminant  # y_{1,1} = u_1² + u_2²
    Fraction(-4, 1)
    >>> preimages(SingleLayer(2, 1), [1, 0, 0, 0, 0, 1]).number
    0
    """
    if not layer.has_orbits:
        raise InputError("preimages are found for t ≥ 2; with one token only V and A + Aᵀ are determined")
    if len(y) != layer.ambient_dimension:
        raise InputError(f"the tensor has {len(y)} entries; {layer.name} needs N = {layer.ambient_dimension}")
    values = np.array([fraction(rational(x)) for x in y], dtype=object)
    if not values.any():
        raise InputError("the tensor is 0, whose fiber is {A = 0} ∪ {V = 0}; give a nonzero one")
    i, k = np.triu_indices(layer.d)
    forms = np.empty((layer.d_out, layer.d, layer.d, layer.d), dtype=object)
    forms[:, :, i, k] = forms[:, :, k, i] = values.reshape(layer.d_out, layer.d, -1)
    c, b = next(place for place in np.ndindex(layer.d_out, layer.d) if forms[place].any())
    label = f"y_{{{c + 1},{b + 1}}}"
    factors = factor_quadratic_form(forms[c, b])
    if factors is None:
        return Fiber("empty", (), f"{label} is not a product of two linear forms, so the tensor is not in M̄")
    if isinstance(factors, Fraction):
        return _conjugate_fiber(forms, (c, b), factors, label)
    parallel = np.multiply.outer(*factors)
    found: list[Component] = []
    for left, right in [factors] if (parallel == parallel.T).all() else [factors, factors[::-1]]:
        columns = [right if n == b else _quotient(form, left) for n, form in enumerate(forms[c])]
        rows = [left if n == c else _quotient(form, right) for n, form in enumerate(forms[:, b])]
        A, V = np.array(columns).T, np.array(rows)
        if (coefficients(layer, A, V) == values).all() and rational_rank(A) <= layer.alpha:
            w = Weights(A, V, layer.a)
            found.append(Component(*(SWAPPED if found else RESCALING), w, fiber_length(layer, A, V)))
    case: Case = "two lines" if len(found) == 2 else "line" if found else "empty"
    if case == "line" and all(decide_rank(M).rank == 1 for M in (found[0].A, found[0].V)):
        case = "double line"
    return Fiber(case, tuple(found), f"unique factorization of {label} into linear forms")


def _conjugate_fiber(forms: Array, entry: tuple[int, int], D: Fraction, label: str) -> Fiber:
    """The fiber where the form at ``entry`` has factors l, m that are conjugate over ℚ(√D).

    With one preimage its conjugate is a second. So both l and m divide every form in the same row, and in
    the same column, which are then multiples q_b·lm and h_c·lm; and y = h ⊗ q ⊗ lm. Conversely such a y has
    the two preimages A = l qᵀ, V = h mᵀ and A = m qᵀ, V = h lᵀ. That is a condition over ℚ.
    """
    (c, b), Q = entry, forms[entry]
    at = next(place for place in np.ndindex(*Q.shape) if Q[place])
    h, q = forms[(slice(None), b, *at)] / Q[at], forms[(c, slice(None), *at)] / Q[at]
    if (forms != np.multiply.outer(np.multiply.outer(h, q), Q)).any():
        reason = f"{label} has conjugate factors over ℚ(√{D}), and the tensor is not of the form h ⊗ q ⊗ Q"
        return Fiber("empty", (), reason)
    pairs = ("(s·l qᵀ, h mᵀ/s)", "(s·m qᵀ, h lᵀ/s)")
    components = tuple(Component("conjugate", 1, f"{pair}, s ≠ 0, where Q = l·m", None) for pair in pairs)
    reason = f"h ⊗ q ⊗ Q, where Q has conjugate factors over ℚ(√{D})"
    return Fiber("conjugate lines", components, reason, discriminant=D)


def factor_quadratic_form(form: Any) -> tuple[Array, Array] | Fraction | None:
    """The two linear factors over ℚ of Σ_{i≤k} form[i][k]·u_i·u_k ≠ 0, a form with Fractions.

    Or a rational D, not a square, if the factors are conjugate over ℚ(√D); or ``None`` if the form has rank 3
    or more, and so does not factor over ℂ either.

    >>> one, zero = Fraction(1), Fraction(0)
    >>> print(*factor_quadratic_form([[one, zero], [zero, -one]]))
    [Fraction(1, 1) Fraction(-1, 1)] [Fraction(1, 1) Fraction(1, 1)]
    >>> factor_quadratic_form([[one, zero], [zero, -2 * one]])
    Fraction(8, 1)
    """
    F = np.array(form, dtype=object)
    F = np.where(np.triu(np.ones(F.shape, dtype=bool)), F, F.T)
    p = next((i for i, x in enumerate(F.diagonal()) if x), None)
    if p is None:
        # F = u_p·L + (terms without u_p), so if it factors, L is the factor free of u_p.
        L = next(row for row in F if row.any())
        other = _quotient(F, L)
        return (other, L) if (_product(other, L) == F).all() else None
    # 4 F_pp F = (2 F_pp u_p + L)² − D, with D = L² − 4 F_pp R free of u_p: a product when D is a square.
    D = _product(F[p], F[p]) - 4 * F[p, p] * F
    D[p] = D[:, p] = Fraction(0)
    root = D[p]
    j = next((i for i, x in enumerate(D.diagonal()) if x), None)
    if j is not None:
        root = D[j] / 2
        root[j] = D[j, j]  # D_jj D = root², if D has rank 1
        if (D[j, j] * D != _product(root, root)).any():
            return None
        square = D[j, j].numerator * D[j, j].denominator
        if square < 0 or isqrt(square) ** 2 != square:
            return Fraction(D[j, j])
        root = root * D[j, j].denominator / isqrt(square)
    elif D.any():
        return None
    half = F[p].copy()
    half[p] *= 2
    # Scaled so that the first factor has u_p-coefficient F_pp and the second 1.
    return (half - root) / 2, (half + root) / (2 * F[p, p])


def _product(one: Array, other: Array) -> Array:
    """The coefficients of a product of linear forms, each off-diagonal one in both of its places."""
    outer = np.multiply.outer(one, other)
    result: Array = np.where(np.eye(len(one), dtype=bool), outer, outer + outer.T)
    return result


def _quotient(F: Array, factor: Array) -> Array:
    """F / factor where that is a linear form, else another one; F as in ``_product``, factor ≠ 0."""
    p = next(i for i, x in enumerate(factor) if x)
    top = F[p, p] / factor[p]
    quotient: Array = (F[p] - factor * top) / factor[p]
    quotient[p] = top
    return quotient


def kernel_of_differential(A: Matrix, V: Matrix, modulo_scaling: bool = False) -> list[list[flint.fmpq]]:
    """A basis of ker dφ at (A, V): vectors list the d² entries of Ȧ, then the d'd of V̇, row by row.

    Modulo the scaling (A, −V), for V ≠ 0, it is that of the vectors with 0 in the place of an entry of V ≠ 0.

    >>> kernel_of_differential([[1]], [[5]]), kernel_of_differential([[1]], [[5]], modulo_scaling=True)
    ([[-1/5, 1]], [])
    """
    return _kernel(tuple(map(tuple, A)), tuple(map(tuple, V)), modulo_scaling)


@lru_cache(maxsize=256)
def _kernel(A: Matrix, V: Matrix, modulo_scaling: bool) -> list[list[flint.fmpq]]:
    d, rows = len(A), list(nonzero_rows(A, V).values())
    if modulo_scaling:
        place = next(d * c + i for c, row in enumerate(V) for i, x in enumerate(row) if x)
        rows.append({d * d + place: flint.fmpq(1)})
    matrix = flint.fmpq_mat(len(rows), d * d + len(V) * d)
    for i, entries in enumerate(rows):
        for column, x in entries.items():
            matrix[i, column] = x
    return kernel_basis(matrix)


def fiber_length(layer: SingleLayer, A: Matrix, V: Matrix) -> int | None:
    """The length, at (A, V), of the scheme-theoretic fiber of P(D_α) × P(ℂ^{d'×d}) → P(ℂ^N) through it.

    Its tangent space is ker dφ ∩ (T_A D_α × ℂ^{d'×d}) modulo (A, −V), of dimension e say; e = 0 means that it
    is reduced: length 1. Otherwise let 𝔪 be the maximal ideal of the fiber without the rank condition.
    Equations V_c·A_b = y_{c,b} with vanishing linear part give quadratic forms on ker dφ; if these are all
    quadratic forms, then 𝔪² ⊂ 𝔪³, so 𝔪² = 0 (Nakayama), and the length is 1 + e. Otherwise ``None``.

    >>> fiber_length(SingleLayer(3, 1), [[1, 0, 0], [0, 0, 0], [0, 0, 0]], [[1, 0, 0]])
    3
    """
    kernel = kernel_of_differential(A, V, modulo_scaling=True)
    if not kernel:
        return 1
    # (A, −V) is in the tangent space of D_α, so its equations descend to the kernel modulo scaling.
    attention = rational_matrix([v[: layer.d**2] for v in kernel], layer.d**2)
    e = len(kernel) - proved_rank(tangent_space_equations(A, layer.alpha) * attention.transpose())
    if e == 0:
        return 1
    # Do the terms V̇_c·Ȧ_b, modulo the image of dφ, give all quadratic forms on the kernel?
    matrix = differential(A, V)
    directions = [np.array(vector, dtype=object).reshape(-1, layer.d) for vector in kernel]
    bilinear = [
        coefficients(layer, one[: layer.d], other[layer.d :])
        + coefficients(layer, other[: layer.d], one[layer.d :])
        for one, other in combinations_with_replacement(directions, 2)
    ]
    cokernel = rational_matrix(kernel_basis(matrix.transpose()), matrix.nrows())
    second = rational_matrix(np.array(bilinear), matrix.nrows()) * cokernel.transpose()
    return 1 + e if proved_rank(second) == len(bilinear) else None
