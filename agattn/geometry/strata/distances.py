r"""How far functions are from the closure of a stratum, in floating point, between two bounds.

Norms are the invariant one of :mod:`agattn.geometry.variety.coefficient_norm`, relative to ‖φ‖. The
closure of the stratum (i, j, k) is {rk V ≤ i, rk A ≤ j, rk [V; Aᵀ] ≤ k}. From below: the tensor T of a point
of it has flattenings of rank at most i by the index c, j by the index b, and k by one of the two others, so
that by Eckart and Young φ is at least as far away as what is left of the singular values of those of its own
T. From above: V and A are projected onto spaces of dimension k that suggest themselves, cut to their ranks,
and improved by turns, each the best of its rank for the other. Where V or A alone is bounded the two agree.

>>> A, V = np.diag([1.0, 0.1, 0.0]), np.array([[0.0, 1.0, 0.0]])
>>> [round(bound.item(), 4) for bound in distance_bounds(A, V, Stratum(1, 1, 3))]
[0.14, 0.14]
>>> [round(bound.item(), 4) for bound in distance_bounds(A, V, Stratum(1, 1, 1))]
[0.7001, 0.7106]
"""

from __future__ import annotations

import numpy as np

from agattn.algebra.scalars import Array
from agattn.geometry.strata.strata import Stratum
from agattn.geometry.variety.coefficient_norm import (
    attention_gram,
    roots,
    truncated,
    value_gram,
    weights_tensor,
)

_ROUNDS = 4


def distance_bounds(A: Array, V: Array, stratum: Stratum) -> tuple[Array, Array]:
    """Bounds on min ‖φ_{A,V} − φ'‖ / ‖φ_{A,V}‖ over the closure of a stratum; 0 and 0 for φ = 0.

    Args:
        A: ... × d × d; the axes in front are those of the bounds.
        V: ... × d' × d.
        stratum: (0,0,0) stands for φ' = 0, at the distance 1.
    """
    lead, d, d_out = A.shape[:-2], A.shape[-1], V.shape[-2]
    A, V = A.reshape(-1, d, d), V.reshape(-1, d_out, d)
    T = weights_tensor(A, V)
    size = np.sqrt((T**2).sum((1, 2, 3, 4)))
    zero = size == 0
    size = np.where(zero, 1.0, size)
    i, j, k = min(stratum.r_v, d_out), stratum.r_a, stratum.r
    n = len(A)
    space, joint, _ = np.linalg.svd(T.transpose(0, 2, 1, 3, 4).reshape(n, d, -1), full_matrices=False)
    h, by_value, _ = np.linalg.svd(T.reshape(n, d_out, -1), full_matrices=False)
    q, by_column, _ = np.linalg.svd(T.transpose(0, 3, 1, 2, 4).reshape(n, d, -1), full_matrices=False)
    left = [(s[:, r:] ** 2).sum(1) for s, r in ((by_value, i), (by_column, j), (joint, k))]
    lower = np.sqrt(np.max(left, axis=0)) / size
    best = np.where(zero, 0.0, 1.0)
    if not stratum.is_zero:
        form = np.einsum("ncibk,nc,nb->nik", T, h[:, :, 0], q[:, :, 0])
        eigenvalues, vectors = np.linalg.eigh(form + form.swapaxes(1, 2))
        largest = np.argsort(-np.abs(eigenvalues), axis=1)[:, None, :k]
        for P in (space[:, :, :k], np.take_along_axis(vectors, largest, 2)):
            inside = P.swapaxes(1, 2) @ A
            for B in (inside, truncated(inside, j)):
                for _ in range(_ROUNDS):
                    W = _values(A, V, P, B, i)
                    B = _attention(A, V, P, W, j)
                    rest = T - weights_tensor(P @ B, W @ P.swapaxes(1, 2))
                    best = np.minimum(best, np.sqrt((rest**2).sum((1, 2, 3, 4))) / size)
    return np.minimum(lower, best).reshape(lead), best.reshape(lead)


def _values(A: Array, V: Array, P: Array, B: Array, rank: int) -> Array:
    """The W, d' × k, of this rank for which φ_{PB,WPᵀ} is nearest to φ_{A,V}; P has orthonormal columns."""
    full = P @ B
    products = (A * full).sum((1, 2), keepdims=True)
    right = ((V * products + (V @ full) @ A.swapaxes(1, 2)) / 2) @ P
    _, back = roots(value_gram(B))
    return truncated(right @ back, rank) @ back


def _attention(A: Array, V: Array, P: Array, W: Array, rank: int) -> Array:
    """The B, k × d, of this rank for which φ_{PB,WPᵀ} is nearest to φ_{A,V}."""
    full = W @ P.swapaxes(1, 2)
    products = (V * full).sum((1, 2), keepdims=True)
    right = P.swapaxes(1, 2) @ ((A * products + V.swapaxes(1, 2) @ (full @ A)) / 2)
    _, back = roots(attention_gram(W))
    return back @ truncated(back @ right, rank)
