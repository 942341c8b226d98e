r"""Weights from a floating-point tensor, from its action, and from cubic forms.

**The nearest weights: an algebraic start.** Take the dominant left singular vector h of the tensor as a d' ×
d³ matrix, then that, q, of the contraction with h. The form hᵀT q = v·k is the product of v = Vᵀh and k = Aq,
so a symmetric matrix with at most one positive and one negative eigenvalue; its eigenvectors give v and k up
to exchanging them. Dividing the forms hᵀT_b = v·A_b by v gives A, and the forms T_{c,b} = V_c·A_b by A give
V; of the two choices the one that leaves the smaller remainders is kept.

**Then alternating least squares.** With V fixed the best A is linear least squares, then the best one of rank
≤ a a truncated singular value decomposition; with A fixed the best V is linear least squares again. Both have
a Gram matrix of condition number at most 2 (:mod:`agattn.geometry.variety.coefficient_norm`). Every step
lowers the residual; the end is a local minimum, and a global one where the residual is 0.

>>> import numpy as np
>>> from agattn.geometry.variety.coefficient_norm import weights_tensor
>>> rng = np.random.default_rng(0)
>>> A, V = rng.standard_normal((5, 2)) @ rng.standard_normal((2, 5)), rng.standard_normal((3, 5))
>>> best = nearest_weights(weights_tensor(A, V), rank=2)
>>> best.residual < 1e-14
True

**Weights from the action of a tensor**: from values of its quadratic forms, never its N coefficients. The
tensor acts by u ↦ Y(u) = (y_{c,b}(u)), a d' × d matrix, and Y(u) = (Vu)(Aᵀu)ᵀ has rank one. Take two points
p, w and write Y(p) = z xᵀ, a factorization that fixes the scale of V and A. The bilinear forms 2B(p, e) = Y(p
+ e) − Y(p) − Y(e) are z(Aᵀe)ᵀ + (Ve)xᵀ, which for known z and x determine Aᵀe and Ve up to one number σ(e):
(Ve, Aᵀe) may become (Ve + σz, Aᵀe − σx). The same at w compares with the pair already known there, and both
conditions together are linear equations for Ve and Aᵀe. So 3d + 3 values of Y are enough, and all is linear
but the one factorization. If V and A have both rank one that fails, and the single quadratic form that is
left is factored instead (3.2 (i) in HMK: there are two ways).

At d = 768, d' = 64 the tensor has 14.5 billion coefficients; its action is 49 152 numbers at a time.

>>> A, V = rng.standard_normal((6, 6)), rng.standard_normal((2, 6))
>>> A2, V2 = weights_from_action(lambda u: np.outer(V @ u, A.T @ u), d=6)
>>> bool(np.allclose(np.multiply.outer(V2, A2), np.multiply.outer(V, A)))
True

**One token** gives V and the symmetric part S = (A + Aᵀ)/2 of A, from the cubic forms z_c(x) = V_c(x)·xᵀSx.
Linear forms are prime in ℚ[x_1, ..., x_d], so V_c is, up to scale, a linear factor of a
nonzero z_c, and S = z_c / V_c. If V has rank above 1, S is the greatest common divisor of two z_c, so it is
rational up to scale; only for z = h ⊗ f with f irreducible over ℚ can there be irrational weights and no
rational ones.

In floating point let f = hᵀz be the dominant combination. On a random line, one real zero x of f lies on
V_h(x) = 0, and there the gradient of f is S(x)·V_h. Each real zero gives a candidate; dividing gives S,
dividing by S gives V, and alternating least squares, in the monomial coefficients, improves the best.

>>> from agattn.architectures import SingleLayer
>>> from agattn.algebra.scalars import scalars
>>> layer = SingleLayer(2, 1, t=1)
>>> found = factorizations(layer, scalars([2, 5, 2, 0], "z"))  # 2x³ + 5x²y + 2xy² = x(x + 2y)(2x + y)
>>> [[str(x) for x in V[0]] for _, V in found.pairs]
[['1', '0'], ['1', '2'], ['2', '1']]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, permutations
from typing import Any, NamedTuple

import flint
import numpy as np

from agattn.algebra.echelon import fraction
from agattn.algebra.scalars import Array, flint_matrix, is_exact
from agattn.architectures import SingleLayer
from agattn.geometry.identifiability.weights import rank_one
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

    See Also:
        :func:`action_residual`.
    """
    rng = np.random.default_rng(0)
    p, w = rng.standard_normal((2, d))
    Y_p, Y_w = action(p), action(w)
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
        Y_e = action(e)
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
        Y = action(u)
        error += float(((Y - np.multiply.outer(V @ u, A.T @ u)) ** 2).sum())
        size += float((Y**2).sum())
    return float(np.sqrt(error / size)) if size else float(error > 0)


def _mixed(action: Action, u: Array, w: Array, Y_u: Array, Y_w: Array) -> Array:
    """2B(u, w) = Y(u + w) − Y(u) − Y(w), with w scaled to the length of u to lose no digits."""
    scale = float(np.linalg.norm(u) / np.linalg.norm(w))
    return (action(u + scale * w) - Y_u - scale**2 * Y_w) / scale


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
    rest = Y - np.multiply.outer(V_w, A_w)
    direction = np.multiply.outer(z, A_w) - np.multiply.outer(V_w, x)
    for matrix in (rest, direction):
        matrix -= (z @ matrix @ x) / ((z @ z) * (x @ x)) * np.multiply.outer(z, x)
    size = np.linalg.norm(direction)
    if size <= 1e-11 * np.linalg.norm(mixed):
        return None
    sigma = float((rest * direction).sum() / size**2)
    return V_w + sigma * z, A_w - sigma * x


def _single_form(action: Action, d: int, Y_p: Array) -> tuple[Array, Array]:
    """Weights of rank one from a tensor h ⊗ q ⊗ Q: Y(u) = Q(u)·h qᵀ, with Q = v·k factored."""
    h, q = rank_one(Y_p)
    h, basis = h / np.linalg.norm(h), np.eye(d)
    form = np.diag([h @ action(e) @ q for e in basis])
    for i, k in itertools.combinations(range(d), 2):
        mixed = h @ action(basis[i] + basis[k]) @ q - form[i, i] - form[k, k]
        form[i, k] = form[k, i] = mixed / 2
    first, second = linear_factors(form)
    return np.multiply.outer(first, q), np.multiply.outer(h, second)


class Factorizations(NamedTuple):
    """All rational (S, V) of an exact tensor, up to scale; S is d × d and symmetric, V is d' × d.

    ``first`` is the number c of the first nonzero z_c, from 0; ``irreducible`` says whether it is irreducible
    over ℚ, and ``parallel`` whether all the forms are multiples of it.
    """

    pairs: list[tuple[Array, Array]]
    first: int
    irreducible: bool
    parallel: bool


def factorizations(layer: SingleLayer, z: Array) -> Factorizations:
    """All rational (S, V), up to scale, for which given cubic forms are V_c·xᵀSx.

    Args:
        layer: the layer, at one token.
        z: N = d'·C(d+2, 3) rational coefficients, not all 0.

    See Also:
        :func:`nearest_forms`, in floating point.
    """
    d = layer.d
    context = flint.fmpq_mpoly_ctx.get(tuple(f"x{i}" for i in range(1, d + 1)), "lex")
    powers = [tuple(m.count(i) for i in range(d)) for m in combinations_with_replacement(range(d), 3)]
    table = z.reshape(layer.d_out, -1)
    forms = [
        context.from_dict(
            {p: flint.fmpq(x.numerator, x.denominator) for p, x in zip(powers, row, strict=True) if x}
        )
        for row in table
    ]
    first = next(c for c, form in enumerate(forms) if not form.is_zero())
    factors = [factor for factor, _ in forms[first].factor()[1]]
    pairs = []
    for factor in factors:
        if factor.total_degree() == 1:
            quotient = forms[first] / factor
            divided = [divmod(form, quotient) for form in forms]
            if all(remainder.is_zero() for _, remainder in divided):
                V = np.array([[_coefficient(row, i) for i in range(d)] for row, _ in divided], dtype=object)
                S = [[_coefficient(quotient, i, k) / (2 - (i == k)) for k in range(d)] for i in range(d)]
                pairs.append((np.array(S, dtype=object), V))
    i = next(i for i, x in enumerate(table[first]) if x)
    parallel = all((row * table[first][i] == table[first] * row[i]).all() for row in table)
    return Factorizations(pairs, first, len(factors) == 1 and d > 1, parallel)


def _coefficient(form: Any, *places: int) -> Fraction:
    """The coefficient of a product of variables."""
    context = form.context()
    return fraction(form[tuple(places.count(i) for i in range(context.nvars()))])


def signature(S: Array) -> tuple[int, int]:
    """The numbers of positive and of negative eigenvalues of a symmetric matrix.

    All roots of the characteristic polynomial are real. So over ℚ Descartes' rule of signs counts the
    positive roots.

    Args:
        S: a symmetric d × d matrix, exact or of floats; of floats only eigenvalues above 10⁻⁹ in size count.

    >>> signature(np.array([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]], dtype=object))
    (1, 1)
    """
    if not is_exact(S):
        values = np.linalg.eigvalsh(S)
        cut = 1e-9 * np.abs(values).max()
        return int((values > cut).sum()), int((values < -cut).sum())
    coefficients = list(flint_matrix(S).charpoly().coeffs())
    nonzero = [(n, x > 0) for n, x in enumerate(coefficients) if x != 0]
    plus = sum(one != other for (_, one), (_, other) in pairwise(nonzero))
    return plus, len(S) - nonzero[0][0] - plus


def nearest_forms(layer: SingleLayer, z: Array, tolerance: float) -> Approximation:
    """The S and V, as far as a search finds, for which the forms V_c·xᵀSx are nearest to given ones.

    Args:
        layer: the layer, at one token.
        z: N = d'·C(d+2, 3) floating coefficients, not 0; the distance is the sum of squares of differences.
        tolerance: the search ends where the square of the relative distance is at most this, or 10⁻¹².

    See Also:
        :func:`factorizations`, exactly.
    """
    d = layer.d
    table = z.reshape(layer.d_out, -1)
    cubics = list(combinations_with_replacement(range(d), 3))
    rows, columns = np.triu_indices(d)
    position = {m: n for n, m in enumerate(cubics)}
    # times[i, p] is the position of x_i·(quadratic monomial p) among the cubic ones.
    pairs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    times = np.array([[position[tuple(sorted((i, *m)))] for m in pairs] for i in range(d)])  # type: ignore[index]

    def by_linear(v: Array) -> Array:
        matrix = np.zeros((len(cubics), len(rows)))
        matrix[times, np.arange(len(rows))] = v[:, None]
        return matrix

    def by_quadratic(S: Array) -> Array:
        matrix = np.zeros((len(cubics), d))
        matrix[times, np.arange(d)[:, None]] = S
        return matrix

    size = float(np.linalg.norm(table))
    best: tuple[float, Array, Array] | None = None
    rng = np.random.default_rng(0)
    f = np.linalg.svd(table, full_matrices=False)[0][:, 0] @ table
    F = np.zeros((d, d, d))
    for m, x in zip(cubics, f, strict=True):
        orders = set(permutations(m))
        for order in orders:
            F[order] = x / len(orders)
    for _ in range(6):
        u, w = rng.standard_normal((2, d))
        Fu, Fw = F @ u, F @ w
        for root in np.roots([w @ Fw @ w, 3 * u @ Fw @ w, 3 * u @ Fu @ w, u @ Fu @ u]):
            x = u + root.real * w
            v = x @ F @ x  # the gradient, one third of it
            if not np.linalg.norm(v):
                continue
            S = np.linalg.lstsq(by_linear(v / np.linalg.norm(v)), f, rcond=None)[0]
            for _ in range(200):
                V = np.linalg.lstsq(by_quadratic(S), table.T, rcond=None)[0].T
                S = np.linalg.lstsq(np.concatenate([by_linear(v) for v in V]), table.ravel(), rcond=None)[0]
                residual = float(np.linalg.norm(by_quadratic(S) @ V.T - table.T)) / size
                if best is not None and residual > 0.999 * best[0]:
                    break
                best = (residual, S, V)
                if residual < 1e-14:
                    break
        if best is not None and best[0] <= min(tolerance, 1e-12):
            break
    assert best is not None  # a real binary cubic has a real zero
    residual, form, V = best
    upper = np.zeros((d, d))
    upper[rows, columns] = form
    return Approximation((upper + upper.T) / 2, V, residual)
