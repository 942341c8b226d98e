r"""The gauge of a head: which keys and queries (K, Q) have the same attention matrix A = KᵀQ.

C ∈ GL(a) acts by (K, Q) ↦ (C⁻ᵀK, CQ) and leaves KᵀQ as it is. If A has rank a ≤ d, exactly one C relates any
two factorizations (HMK, Lemma 3.1): the rows of Q are a basis of the row space of A, and C is the change of
basis. A canonical factorization is therefore a choice of basis. Over ℚ it is the reduced row echelon form; in
floating point the *balanced* one, KKᵀ = QQᵀ diagonal and falling, which the singular value decomposition
gives, and which is unique up to signs where the singular values differ.

>>> K, Q = canonical_factors([[1, 2], [2, 4]], a=1)
>>> K.tolist() == [[1, 2]], Q.tolist() == [[1, 2]]
(True, True)
>>> C = gauge_between(([[1, 2]], [[1, 2]]), ([[5, 10]], [["1/5", "2/5"]]))
>>> print(C[0, 0])
1/5
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agattn.algebra.echelon import echelon
from agattn.algebra.scalars import (
    TOLERANCE,
    Array,
    as_floats,
    flint_matrix,
    fraction_matrix,
    is_exact,
    matrix,
    scaled,
)
from agattn.errors import InputError

Pair = tuple[Any, Any]


def canonical_factors(A: Any, a: int, tolerance: float = TOLERANCE) -> tuple[Array, Array]:
    """The canonical (K, Q), both a × d, with KᵀQ = A; rows beyond the rank of A are zero.

    Raises:
        InputError: if the rank of A is above a.
    """
    A = matrix(A, "A")
    if is_exact(A):
        reduced, pivots = echelon(flint_matrix(A))
        rank, left, right = len(pivots), A[:, pivots].T, fraction_matrix(reduced)[: len(pivots)]
    else:
        U, sigma, W = np.linalg.svd(A)
        rank = int((sigma > tolerance * sigma[0]).sum()) if sigma[0] else 0
        kept = np.arange(min(a, len(sigma)))
        # The largest entry of every row of Q is positive.
        root = (np.sign(W[kept, np.abs(W[kept]).argmax(axis=1)]) * np.sqrt(sigma[kept]))[:, None]
        left, right = root * U[:, kept].T, root * W[kept]
    if rank > a:
        raise InputError(f"A has rank {rank}; KᵀQ with a = {a} rows has at most rank {a}")
    zero = A.flat[0] * 0
    K, Q = np.full((a, len(A)), zero), np.full((a, A.shape[1]), zero)
    K[: len(left)], Q[: len(right)] = left, right
    return K, Q


def gauge_between(first: Pair, second: Pair, tolerance: float = TOLERANCE) -> Array | None:
    """The C ∈ GL(a) with K' = C⁻ᵀK and Q' = CQ, or ``None`` if these pairs are not related in this way.

    Where both K and Q have rank below a there may be many C or none, and ``None`` is returned as well.

    Raises:
        InputError: if the four matrices have not the same shape.
    """
    K, Q, K2, Q2 = (
        matrix(x, name) for x, name in zip((*first, *second), ("K", "Q", "K'", "Q'"), strict=True)
    )
    if len({K.shape, Q.shape, K2.shape, Q2.shape}) > 1:
        raise InputError(f"the shapes {K.shape}, {Q.shape}, {K2.shape}, {Q2.shape} differ; all are a × d")
    exact = is_exact(K, Q, K2, Q2)
    if not exact:
        K, Q, K2, Q2 = map(as_floats, (K, Q, K2, Q2))
    C = change_of_basis(Q, Q2, tolerance)
    if C is None and (other := change_of_basis(K, K2, tolerance)) is not None:
        C = inverse(other.T)
    there = inverse(C)
    if C is None or there is None:
        return None
    for expected, found in ((K2, there.T @ K), (Q2, C @ Q)):
        close = 0 if exact else tolerance * max(np.abs(expected).max(), 1e-300)
        if np.abs(expected - found).max() > close:
            return None
    return C


def change_of_basis(rows: Array, others: Array, tolerance: float = TOLERANCE) -> Array | None:
    """C with C·rows = others on the span of ``rows``; ``None`` if the rows are dependent."""
    a = len(rows)
    if is_exact(rows, others):
        pivots = echelon(flint_matrix(rows))[1]
        if len(pivots) < a:
            return None
        back = inverse(rows[:, pivots])
        return None if back is None else others[:, pivots] @ back
    sigma = np.linalg.svd(rows, compute_uv=False)
    if len(sigma) < a or sigma[-1] <= tolerance * sigma[0]:
        return None
    result: Array = np.linalg.lstsq(rows.T, others.T, rcond=None)[0].T
    return result


def inverse(square: Array | None) -> Array | None:
    """The inverse of a square matrix, exact or floating; ``None`` if it has none."""
    if square is None:
        return None
    try:
        if is_exact(square):
            return rational_inverse(square)
        result: Array = np.linalg.inv(square)
        return result if np.isfinite(result).all() else None
    except (ZeroDivisionError, np.linalg.LinAlgError):
        return None


def rational_inverse(square: Array) -> Array:
    """The inverse of a square array of ints or Fractions; ZeroDivisionError if it has none."""
    return fraction_matrix(flint_matrix(square).inv())


def canonical_scale(A: Array, V: Array) -> tuple[Array, Array]:
    """The representative of {(sA, V/s)}, for A and V not zero.

    Over ℚ the first nonzero entry of A, row by row, becomes 1. In floating point A and V get the same
    Frobenius norm, and the largest entry of A becomes positive.

    >>> A, V = canonical_scale(matrix([[0, 2]], "A"), matrix([[3]], "V"))
    >>> print(A[0, 1], V[0, 0])
    1 6
    """
    if is_exact(A, V):
        first = next(x for x in A.flat if x)
        return A / first, V * first
    (A, of_a), (V, of_v) = scaled(A), scaled(V)
    half, odd = divmod(of_a + of_v, 2)
    scale = np.sqrt(2**odd * np.linalg.norm(V) / np.linalg.norm(A)) * np.sign(A.flat[np.abs(A).argmax()])
    return np.ldexp(A * scale, half), np.ldexp(V / scale, half + odd)
