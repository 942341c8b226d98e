r"""The weights nearest to a floating-point tensor: an algebraic start, then alternating least squares.

**Start.** Take the dominant left singular vector h of the tensor as a d' × d³ matrix, then that, q, of the
contraction with h. The form hᵀT q = v·k is the product of v = Vᵀh and k = Aq, so a symmetric matrix with at
most one positive and one negative eigenvalue; its eigenvectors give v and k up to exchanging them. Dividing
the forms hᵀT_b = v·A_b by v gives A, and the forms T_{c,b} = V_c·A_b by A give V; of the two choices the one
that leaves the smaller remainders is kept.

**Steps.** With V fixed the best A is linear least squares, then the best one of rank ≤ a a truncated singular
value decomposition; with A fixed the best V is linear least squares again. Both have a Gram matrix of
condition number at most 2 (:mod:`agattn.geometry.variety.coefficient_norm`). Every step lowers the
residual; the end is a local minimum, and a global one where the residual is 0.

>>> import numpy as np
>>> from agattn.geometry.variety.coefficient_norm import weights_tensor
>>> rng = np.random.default_rng(0)
>>> A, V = rng.standard_normal((5, 2)) @ rng.standard_normal((2, 5)), rng.standard_normal((3, 5))
>>> best = nearest_weights(weights_tensor(A, V), rank=2)
>>> best.residual < 1e-14
True
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agattn.algebra.scalars import Array
from agattn.geometry.variety.coefficient_norm import attention_gram, nearest_of_rank, value_gram


class Approximation(NamedTuple):
    """A, d × d, and V, d' × d, near a tensor T; the residual is ‖T − φ_{A,V}‖ / ‖T‖ in the invariant norm."""

    A: Array
    V: Array
    residual: float


def nearest_weights(T: Array, rank: int) -> Approximation:
    """Weights with rk A ≤ ``rank`` whose function is near a tensor; numerical.

    Args:
        T: an array (d', d, d, d), not 0, as
            :func:`~agattn.geometry.variety.coefficient_norm.symmetric_tensor` gives it.
        rank: the largest rank of A.

    See Also:
        :func:`algebraic_start`, from which the search starts.
    """
    size = float(np.linalg.norm(T))
    A, V, residual = _improve(T, *algebraic_start(T), rank, size)
    for _ in range(500):
        if residual <= 4e-15:
            break
        last = residual
        A2, V2, lower = _improve(T, A, V, rank, size)
        if lower < last:
            A, V, residual = A2, V2, lower
        if not lower <= (1 - 1e-4) * last:
            break
    return Approximation(A, V, residual)


def algebraic_start(T: Array) -> tuple[Array, Array]:
    """Weights (A, V) found by factoring one form and dividing the others by its factors.

    Args:
        T: an array (d', d, d, d), not 0.

    Returns:
        A, d × d, and V, d' × d; up to rounding errors exact where T is the tensor of weights.

    See Also:
        :func:`linear_factors`, :func:`nearest_weights`.
    """
    d_out, d = T.shape[:2]
    h, q, form = dominant_form(T)
    row = (h @ T.reshape(d_out, -1)).reshape(d, d, d).swapaxes(0, 1)  # hᵀT at [b, i, k]
    column = (T.transpose(0, 1, 3, 2).reshape(-1, d) @ q).reshape(d_out, d, d)  # Tq at [c, i, k]
    first, second = (factor / np.linalg.norm(factor) for factor in linear_factors(form))

    def misfit(v: Array, k: Array) -> float:
        """How far hᵀT is from multiples of v, and Tq from multiples of k."""
        return _divide(row, v)[1] + _divide(column, k)[1]

    v = first if misfit(first, second) <= misfit(second, first) else second
    A = _divide(row, v)[0].T
    return A, best_values(T, A)


def dominant_form(T: Array) -> tuple[Array, Array, Array]:
    """h and q of length 1 and the symmetric matrix hᵀTq, for which h ⊗ q ⊗ hᵀTq is about the largest."""
    d_out, d = T.shape[:2]
    by_row = T.reshape(d_out, -1)
    h = _dominant(by_row)
    by_column = (h @ by_row).reshape(d, d, d).swapaxes(0, 1).reshape(d, -1)
    q = _dominant(by_column)
    return h, q, (q @ by_column).reshape(d, d)


def _dominant(matrix: Array) -> Array:
    """Roughly the first left singular vector, by a few steps of the power method."""
    vector = np.random.default_rng(0).standard_normal(len(matrix))
    for _ in range(6):
        vector = matrix @ (vector @ matrix)
        size = np.linalg.norm(vector)
        if not size:
            largest: Array = np.eye(len(matrix))[np.abs(matrix).max(axis=1).argmax()]
            return largest
        vector /= size
    return vector


def _divide(forms: Array, factor: Array) -> tuple[Array, float]:
    """The linear forms that times ``factor`` are nearest to some quadratic forms, and the squared misfit."""
    quotients = np.linalg.solve(attention_gram(factor[None, :]), (forms @ factor).T).T
    products = quotients[:, :, None] * factor
    return quotients, float(((forms - (products + products.swapaxes(1, 2)) / 2) ** 2).sum())


def linear_factors(form: Array) -> tuple[Array, Array]:
    """The vectors v and k for which the symmetric part of v kᵀ is nearest to a symmetric matrix.

    Args:
        form: a symmetric d × d matrix of floats.

    Returns:
        Two vectors of length d.
    """
    values, vectors = np.linalg.eigh(form)
    sign = 1.0
    if abs(values[0]) > values[-1]:
        values, vectors, sign = -values[::-1], vectors[:, ::-1], -1.0
    plus = np.sqrt(max(values[-1], 0.0)) * vectors[:, -1]
    minus = np.sqrt(max(-values[0], 0.0)) * vectors[:, 0]
    return plus + minus, sign * (plus - minus)


def best_values(T: Array, A: Array) -> Array:
    """The V, d' × d, for which φ_{A,V} is nearest to T.

    Args:
        T: an array (d', d, d, d).
        A: d × d, not 0.

    See Also:
        :func:`best_attention`, for A.
    """
    d_out, d = T.shape[:2]
    # Σ_b T_{c,b} A_b for every c, which the Gram matrix turns into V_c.
    right = (T.reshape(d_out * d, d * d) @ A.T.ravel()).reshape(d_out, d)
    result: Array = np.linalg.solve(value_gram(A), right.T).T
    return result


def best_attention(T: Array, V: Array, rank: int) -> Array:
    """The A, d × d, with rk A ≤ ``rank`` for which φ_{A,V} is nearest to T.

    Args:
        T: an array (d', d, d, d).
        V: d' × d, not 0.
        rank: the largest rank of A.

    See Also:
        :func:`best_values`, for V.
    """
    d_out, d = T.shape[:2]
    right = (V.ravel() @ T.reshape(d_out * d, d * d)).reshape(d, d).T
    A: Array = np.linalg.solve(attention_gram(V), right)
    return A if rank >= d else nearest_of_rank(A, V, rank)


def _improve(T: Array, A: Array, V: Array, rank: int, size: float) -> tuple[Array, Array, float]:
    """One round: A, then V, each with the other fixed; and the relative residual."""
    if V.any():
        A = best_attention(T, V, rank)
    if A.any():
        V = best_values(T, A)
    return A, V, distance(T, A, V) / size


def distance(T: Array, A: Array, V: Array) -> float:
    """‖T − φ_{A,V}‖, row by row so that no second tensor of the size of T is made."""
    total = 0.0
    for row, values in zip(T, V, strict=True):
        product = np.multiply.outer(values, A.T) / 2  # V_{c,i} A_{k,b} / 2 at [i, b, k]
        difference = row - product
        difference -= product.transpose(2, 1, 0)
        total += float(np.vdot(difference, difference))
    return float(np.sqrt(total))
