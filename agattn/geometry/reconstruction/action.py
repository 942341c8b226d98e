r"""Weights from the action of a tensor: from the values of its quadratic forms, never its N coefficients.

The tensor acts by u ↦ Y(u) = (y_{c,b}(u)), a d' × d matrix, and Y(u) = (Vu)(Aᵀu)ᵀ has rank one. Take two
points p, w and write Y(p) = z xᵀ, a factorization that fixes the scale of V and A. The bilinear forms
2B(p, e) = Y(p + e) − Y(p) − Y(e) are z(Aᵀe)ᵀ + (Ve)xᵀ, which for known z and x determine Aᵀe and Ve up to one
number σ(e): (Ve, Aᵀe) may become (Ve + σz, Aᵀe − σx). The same at w compares with the pair already known
there, and both conditions together are linear equations for Ve and Aᵀe. So 3d + 3 values of Y are enough, and
all is linear but the one factorization. If V and A have both rank one that fails, and the single quadratic
form that is left is factored instead (3.2 (i) in HMK: there are two ways).

At d = 768, d' = 64 the tensor has 14.5 billion coefficients; its action is 49 152 numbers at a time.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> A, V = rng.standard_normal((6, 6)), rng.standard_normal((2, 6))
>>> A2, V2 = weights_from_action(lambda u: np.outer(V @ u, A.T @ u), d=6)
>>> bool(np.allclose(np.multiply.outer(V2, A2), np.multiply.outer(V, A)))
True
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from agattn.algebra.scalars import Array
from agattn.errors import InputError
from agattn.geometry.identifiability.weights import rank_one
from agattn.geometry.reconstruction.nearest_point import linear_factors

Action = Callable[[Array], Array]
"""u ∈ ℝ^d ↦ Y(u), d' × d."""


def weights_from_action(action: Action, d: int) -> tuple[Array, Array]:
    """Weights (A, V) with Y(u) = (Vu)(Aᵀu)ᵀ, if there are such weights; in floating point.

    The function does not check whether there are such weights: :func:`action_residual` does.

    Args:
        action: Y, from a vector u of length d to an array d' × d of floats.
        d: the dimension of u.

    Returns:
        A, d × d, and V, d' × d.

    Raises:
        InputError: if the action returns something other than d' × d finite numbers.

    See Also:
        :func:`action_residual`.
    """
    rng = np.random.default_rng(0)
    p, w = rng.standard_normal((2, d))
    Y_p, Y_w = _value(action, p, d), _value(action, w, d)
    d_out = len(Y_p)
    if not Y_p.any() and not Y_w.any():
        return np.zeros((d, d)), np.zeros((d_out, d))
    z, x = rank_one(Y_p)
    at_w = _pair_at(_mixed(action, p, w, Y_p, Y_w), Y_w, z, x)
    if at_w is None:
        return _single_form(action, d, Y_p)
    z_w, x_w = at_w
    A, V = np.empty((d, d)), np.empty((d_out, d))
    # For every e one number is unknown in the condition at w.
    left = np.multiply.outer(z, x_w) - np.multiply.outer(z_w, x)
    size = float((left**2).sum())
    for i, e in enumerate(np.eye(d)):
        Y_e = _value(action, e, d)
        V_e, A_e = _modulo_sigma(_mixed(action, p, e, Y_p, Y_e), z, x)
        rest = _mixed(action, w, e, Y_w, Y_e) - np.multiply.outer(z_w, A_e) - np.multiply.outer(V_e, x_w)
        sigma = float((rest * left).sum()) / size
        V[:, i], A[i] = V_e + sigma * z, A_e - sigma * x
    return A, V


def action_residual(action: Action, A: Array, V: Array, points: int = 32) -> float:
    """The relative difference of Y(u) and (Vu)(Aᵀu)ᵀ at random points u; numerical.

    A difference that is not identically 0 is not 0 at a random point, with probability one.

    Args:
        action: Y, as in :func:`weights_from_action`.
        A, V: d × d and d' × d.
        points: the number of points.

    See Also:
        :func:`weights_from_action`.
    """
    error = size = 0.0
    for u in np.random.default_rng(1).standard_normal((points, len(A))):
        Y = _value(action, u, len(A))
        error += float(((Y - np.multiply.outer(V @ u, A.T @ u)) ** 2).sum())
        size += float((Y**2).sum())
    return float(np.sqrt(error / size)) if size else float(error > 0)


def _value(action: Action, u: Array, d: int) -> Array:
    Y = np.asarray(action(u), dtype=np.float64)
    if Y.ndim != 2 or Y.shape[1] != d or not np.isfinite(Y).all():
        raise InputError(
            f"the action gave an array of shape {Y.shape}; it must give finite numbers, d' × {d}"
        )
    return Y


def _mixed(action: Action, u: Array, w: Array, Y_u: Array, Y_w: Array) -> Array:
    """2B(u, w) = Y(u + w) − Y(u) − Y(w), with w scaled to the length of u to lose no digits."""
    scale = float(np.linalg.norm(u) / np.linalg.norm(w))
    return (_value(action, u + scale * w, len(u)) - Y_u - scale**2 * Y_w) / scale


def _modulo_sigma(mixed: Array, z: Array, x: Array) -> tuple[Array, Array]:
    """The (Ve, Aᵀe) with z(Aᵀe)ᵀ + (Ve)xᵀ = mixed and Ve orthogonal to z."""
    A_e = z @ mixed / (z @ z)
    V_e = (mixed - np.multiply.outer(z, A_e)) @ x / (x @ x)
    return V_e, A_e


def _pair_at(mixed: Array, Y: Array, z: Array, x: Array) -> tuple[Array, Array] | None:
    """(Vw, Aᵀw), by the linear condition that its product is Y(w); ``None`` where rank one leaves two ways.

    (V + σz)(A − σx)ᵀ = Y is linear in σ modulo z xᵀ.
    """
    V_w, A_w = _modulo_sigma(mixed, z, x)
    known = Y - np.multiply.outer(V_w, A_w)
    direction = np.multiply.outer(z, A_w) - np.multiply.outer(V_w, x)
    for matrix in (known, direction):
        matrix -= (z @ matrix @ x) / ((z @ z) * (x @ x)) * np.multiply.outer(z, x)
    size = np.linalg.norm(direction)
    if size <= 1e-11 * np.linalg.norm(mixed):
        return None
    sigma = float((known * direction).sum() / size**2)
    return V_w + sigma * z, A_w - sigma * x


def _single_form(action: Action, d: int, Y_p: Array) -> tuple[Array, Array]:
    """Weights of rank one from a tensor h ⊗ q ⊗ Q: Y(u) = Q(u)·h qᵀ, with Q = v·k factored."""
    h, q = rank_one(Y_p)
    h, basis = h / np.linalg.norm(h), np.eye(d)
    form = np.diag([h @ _value(action, e, d) @ q for e in basis])
    for i, k in itertools.combinations(range(d), 2):
        mixed = h @ _value(action, basis[i] + basis[k], d) @ q - form[i, i] - form[k, k]
        form[i, k] = form[k, i] = mixed / 2
    first, second = linear_factors(form)
    return np.multiply.outer(first, q), np.multiply.outer(h, second)
