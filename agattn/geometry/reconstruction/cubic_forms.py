r"""One token: V and the symmetric part S = (A + Aᵀ)/2 of A from the cubic forms z_c(x) = V_c(x)·xᵀSx.

**Exact tensors.** Linear forms are prime in ℚ[x_1, ..., x_d], so V_c is, up to scale, a linear factor of a
nonzero z_c, and S = z_c / V_c. If V has rank above 1, S is the greatest common divisor of two z_c, so it is
rational up to scale; only for z = h ⊗ f with f irreducible over ℚ can there be irrational weights and no
rational ones.

**Floating point.** Let f = hᵀz be the dominant combination. On a random line, one real zero x of f lies on
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

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, permutations
from typing import Any, NamedTuple

import flint
import numpy as np

from agattn.algebra.echelon import fraction
from agattn.algebra.scalars import Array, flint_matrix, is_exact
from agattn.architectures import SingleLayer
from agattn.geometry.reconstruction.nearest_point import Approximation


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
    place = {m: n for n, m in enumerate(cubics)}
    # times[i, p] is the position of x_i·(quadratic monomial p) among the cubic ones.
    pairs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    times = np.array([[place[tuple(sorted((i, *m)))] for m in pairs] for i in range(d)])  # type: ignore[index]

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
