"""One normalized layer, X ↦ V X W with W_{jτ} = S(x_jᵀ A x_τ) / Σ_k S(x_kᵀ A x_τ), for any injective S > 0.

HMK, equation 15. Unlike a lightning layer, the function determines A and V (Theorem 3.9); the proof is an
algorithm, and :func:`recover` is that algorithm. With S rational on the rationals everything is exact:

>>> from fractions import Fraction
>>> def S(x): return 2 + x / (1 + abs(x))
>>> def S_inverse(y): return (y - 2) / (1 - abs(y - 2))
>>> A = np.array([[1, -2], [0, Fraction(1, 3)]], dtype=object)
>>> V = np.array([[0, 5]], dtype=object)
>>> layer = lambda X: normalized(A, V, X, S)
>>> A_found, V_found = recover(layer, 2, 3, S, S_inverse)
>>> bool((A_found == A).all() and (V_found == V).all())
True
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.errors import InputError
from agattn.geometry.identifiability.virtual_weights import rational_inverse

Scalar = Any
Function = Callable[[Scalar], Scalar]


def normalized(A: Array, V: Array, X: Array, S: Function) -> Array:
    """The output d' × t of one normalized layer at X, d × t (HMK, equation 15)."""
    weights = np.frompyfunc(S, 1, 1)(X.T @ A @ X)
    return V @ X @ (weights / weights.sum(axis=0, keepdims=True))


def recover(
    layer: Callable[[Array], Array],
    d: int,
    t: int,
    S: Function,
    S_inverse: Function,
    one: Scalar = Fraction(1),
    inverse: Callable[[Array], Array] = rational_inverse,
    is_zero: Callable[[Array], bool] = lambda a: not a.any(),
) -> tuple[Array | None, Array]:
    """Recover (A, V) from a normalized layer that can only be evaluated (HMK, Theorem 3.9).

    Equal tokens z give Vz. The inputs (x, z, ..., z) give, in the column of a z, the ratio S(xᵀAz)/S(zᵀAz)
    wherever V(x − z) ≠ 0; with x = 0 that is S(zᵀAz) from the known S(0), hence S(xᵀAz) and by S⁻¹ the
    number xᵀAz. For z in a basis on which V does not vanish, and x in a basis that avoids
    V(x − z) = 0, this is a linear system for A.

    Args:
        layer: maps a d × t array to a d' × t array.
        d: number of rows of the input.
        t: number of tokens, at least 2.
        S: the positive injective function.
        S_inverse: its inverse, on the values of S.
        one: the number 1 in the kind of scalars that ``layer`` takes.
        inverse: inverts a matrix of such scalars.
        is_zero: whether an array counts as 0; give one with a tolerance for floating-point scalars.

    Returns:
        (A, V); A is ``None`` if V = 0, when the layer is zero whatever A is.

    Raises:
        InputError: if t < 2: one token carries no attention.
    """
    if t < 2:
        raise InputError(f"t is {t}; A can be recovered only from inputs of at least 2 tokens")
    basis = [np.array([one if i == k else 0 * one for i in range(d)], dtype=object) for k in range(d)]
    V = np.stack([layer(np.stack([e] * t, axis=1))[:, 0] for e in basis], axis=1)
    if is_zero(V):
        return None, V
    seen = next(e for e in basis if not is_zero(V @ e))
    Z = [e if not is_zero(V @ e) else e + seen for e in basis]

    def ratio(x: Array, z: Array) -> Scalar:
        """S(xᵀAz)/S(zᵀAz), given V(x − z) ≠ 0."""
        out = layer(np.stack([x] + [z] * (t - 1), axis=1))[:, 1]
        change, moved = out - V @ z, V @ (x - z)
        k = max(range(len(moved)), key=lambda i: abs(moved[i]))
        w = change[k] / moved[k]  # the weight of the token x in this column
        return (t - 1) * w / (1 - w)

    products = np.empty((d, d), dtype=object)
    for b, z in enumerate(Z):
        at_z = S(0 * one) / ratio(0 * z, z)
        X = [x if not is_zero(V @ (x - z)) else 2 * x for x in Z]
        values = np.array([S_inverse(ratio(x, z) * at_z) for x in X], dtype=object)
        products[:, b] = inverse(np.stack(X)) @ values
    return products @ inverse(np.stack(Z, axis=1)), V
