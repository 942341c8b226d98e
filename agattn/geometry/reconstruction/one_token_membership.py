r"""One token: V and the symmetric part of A from the cubic forms z_c(x) = V_c(x)·xᵀAx.

A skew-symmetric part of A never shows, so A is returned symmetric: S = (A + Aᵀ)/2. Some A of rank ≤ a has
this symmetric part if and only if S has at most a positive and at most a negative eigenvalues: pair the
squares of a diagonal form as x² − y² = (x − y)(x + y), which is the symmetric part of a matrix of
rank one, as is ±x².

**Exact tensors.** Linear forms are prime in ℚ[x_1, ..., x_d], so V_c is, up to scale, a linear factor of a
nonzero z_c, and S = z_c / V_c. If V has rank above 1, S is the greatest common divisor of two z_c, so it is
rational up to scale; only for z = h ⊗ f with f irreducible over ℚ can there be irrational weights and no
rational ones, and they are then looked for in floating point.

**Floating point.** Let f = hᵀz be the dominant combination. On a random line, one real zero x of f lies on
V_h(x) = 0, and there the gradient of f is S(x)·V_h. Each real zero gives a candidate; dividing gives S,
dividing by S gives V, and alternating least squares, in the monomial coefficients, improves the best.

>>> from agattn.architectures import SingleLayer
>>> from agattn.geometry.reconstruction.membership import identify
>>> found = identify(SingleLayer(2, 1, t=1), [2, 5, 2, 0])      # 2x³ + 5x²y + 2xy² = x(x + 2y)(2x + y)
>>> print(found)
in M: z_1 has a linear factor; only V and A + Aᵀ are determined, up to scale, and there are 3 choices
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from typing import Any

import flint
import numpy as np

from agattn.algebra.scalars import Array, as_floats, is_exact, scaled
from agattn.architectures import SingleLayer
from agattn.evidence import Evidence
from agattn.geometry.identifiability.gauge import canonical_scale
from agattn.geometry.reconstruction.membership import Identification

_ONLY = "only V and A + Aᵀ are determined, up to scale"
_LINES = 6


def identify_one_token(layer: SingleLayer, z: Array, tolerance: float) -> Identification:
    """Recover V and (A + Aᵀ)/2 from the N = d'·C(d+2, 3) coefficients of the cubic forms."""
    if not z.any():
        zero = z[0] * np.zeros((layer.d, layer.d), dtype=np.int64)
        V = z[0] * np.zeros((layer.d_out, layer.d), dtype=np.int64)
        evidence = Evidence.PROVED if is_exact(z) else Evidence.NUMERICAL
        return Identification(layer, True, True, zero, V, 0.0, evidence, "the tensor is 0")
    return _exact(layer, z, tolerance) if is_exact(z) else _floating(layer, z, tolerance)


def _exact(layer: SingleLayer, z: Array, tolerance: float) -> Identification:
    d = layer.d
    context = flint.fmpq_mpoly_ctx.get(tuple(f"x{i}" for i in range(1, d + 1)), "lex")
    cubics = list(combinations_with_replacement(range(d), 3))
    forms = [
        context.from_dict(
            {
                tuple(m.count(i) for i in range(d)): flint.fmpq(x.numerator, x.denominator)
                for m, x in zip(cubics, row, strict=True)
                if x
            }
        )
        for row in z.reshape(layer.d_out, -1).tolist()
    ]
    first = next(c for c, form in enumerate(forms) if not form.is_zero())
    linear = [g for g, _ in forms[first].factor()[1] if g.total_degree() == 1]
    found = []
    for factor in linear:
        quotient = forms[first] / factor
        rows = [_quotient(form, quotient) for form in forms]
        if all(row is not None for row in rows):
            found.append((_symmetric(quotient, d), np.array([_linear(row, d) for row in rows], dtype=object)))
    if not found:
        return _no_rational_weights(layer, z, tolerance, forms, first)
    verdicts = [_signature(S) for S, _ in found]
    index = next((n for n, pair in enumerate(verdicts) if max(pair) <= layer.a), None)
    choices = f", and there are {len(found)} choices" if len(found) > 1 else ""
    S, V = canonical_scale(*found[index or 0])
    if index is not None:
        reason = f"z_{first + 1} has a linear factor; {_ONLY}{choices}"
        return Identification(layer, True, True, S, V, 0.0, Evidence.PROVED, reason)
    plus, minus = verdicts[0]
    beta = min(d, 2 * layer.a)
    closure = any(sum(pair) <= beta for pair in verdicts)
    reason = f"A + Aᵀ has {plus} positive and {minus} negative eigenvalues, above a = {layer.a}"
    if not closure:
        reason += f", and rank {plus + minus}, above min(d, 2a) = {beta}"
    return Identification(layer, False, closure, S, V, 0.0, Evidence.PROVED, reason)


def _quotient(form: Any, divisor: Any) -> Any:
    """form / divisor where that is a polynomial, else ``None``."""
    quotient, remainder = divmod(form, divisor)
    return quotient if remainder == 0 else None


def _fraction(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def _linear(form: Any, d: int) -> list[Fraction]:
    terms = form.to_dict()
    return [_fraction(terms.get(tuple(int(i == k) for k in range(d)), flint.fmpq(0))) for i in range(d)]


def _symmetric(form: Any, d: int) -> Array:
    S = np.array([[Fraction(0)] * d for _ in range(d)], dtype=object)
    for powers, x in form.to_dict().items():
        i, k = [i for i, power in enumerate(powers) for _ in range(int(power))]
        S[i, k] += _fraction(x) / 2
        S[k, i] += _fraction(x) / 2
    return S


def _signature(S: Array) -> tuple[int, int]:
    """The numbers of positive and negative eigenvalues of a rational symmetric matrix, exactly.

    All roots of the characteristic polynomial are real, so Descartes' rule of signs counts the positive ones.
    """
    entries = [flint.fmpq(x.numerator, x.denominator) for x in S.ravel().tolist()]
    coefficients = list(flint.fmpq_mat(len(S), len(S), entries).charpoly().coeffs())
    nonzero = [(n, x) for n, x in enumerate(coefficients) if x != 0]

    def changes(signs: list[bool]) -> int:
        return sum(one != other for one, other in pairwise(signs))

    plus = changes([x > 0 for _, x in nonzero])
    return plus, len(S) - nonzero[0][0] - plus


def _no_rational_weights(
    layer: SingleLayer, z: Array, tolerance: float, forms: list[Any], first: int
) -> Identification:
    table = z.reshape(layer.d_out, -1)
    i = next(i for i, x in enumerate(table[first]) if x)
    parallel = all((row * table[first][i] == table[first] * row[i]).all() for row in table)
    factors = [g for g, _ in forms[first].factor()[1]]
    if not parallel or len(factors) > 1 or layer.d == 1:
        reason = "the cubic forms are not linear forms times one quadratic form"
        if len(factors) == 1:
            reason += f": z_{first + 1} is irreducible over ℚ, and not all are multiples of it"
        near = _floating(layer, as_floats(z), tolerance)
        return Identification(layer, False, False, near.A, near.V, near.residual, Evidence.PROVED, reason)
    near = _floating(layer, as_floats(z), tolerance)
    # f irreducible over ℚ with a linear factor over ℂ is a norm of a linear form over a cubic field.
    reason = f"{near.reason}; z_{first + 1} is irreducible over ℚ, so the weights are irrational and rounded"
    return Identification(
        layer, near.in_neuromanifold, near.in_zariski_closure, near.A, near.V, near.residual,
        Evidence.NUMERICAL, reason,
    )  # fmt: skip


def _floating(layer: SingleLayer, z: Array, tolerance: float) -> Identification:
    d, d_out = layer.d, layer.d_out
    z, exponent = scaled(z)
    table = z.reshape(d_out, -1)
    products = _Products(d)
    size = float(np.linalg.norm(table))
    best: tuple[float, Array, Array] | None = None
    rng = np.random.default_rng(0)
    h = np.linalg.svd(table, full_matrices=False)[0][:, 0]
    f = h @ table
    for _ in range(_LINES):
        for v in products.linear_candidates(f, rng):
            S = products.divide_by_linear(f[None, :], v)
            for _ in range(200):
                V = products.divide_by_quadratic(table, S)
                S = products.quadratic(table, V)
                residual = float(np.linalg.norm(products.cubic(V, S) - table)) / size
                if best is not None and residual > 0.999 * best[0]:
                    break
                best = (residual, S, V)
                if residual < 1e-14:
                    break
        if best is not None and best[0] <= min(tolerance, 1e-12):
            break
    assert best is not None  # a real binary cubic has a real zero
    residual, form, V = best
    S, V = products.matrix(form), np.ldexp(V, exponent)
    if S.any() and V.any():
        S, V = canonical_scale(S, V)
    values = np.linalg.eigvalsh(S)
    cut = 1e-9 * np.abs(values).max()
    plus, minus = int((values > cut).sum()), int((values < -cut).sum())
    evidence = Evidence.NUMERICAL
    if not residual <= tolerance:
        reason = f"the nearest forms found are at the relative distance {residual:.3g}, above {tolerance:g}"
        return Identification(layer, False, None, S, V, residual, evidence, reason)
    if max(plus, minus) > layer.a:
        reason = f"A + Aᵀ has {plus} positive and {minus} negative eigenvalues, above a = {layer.a}"
        closure = plus + minus <= min(d, 2 * layer.a)
        return Identification(layer, False, closure, S, V, residual, evidence, reason)
    reason = f"the relative residual {residual:.3g} is at most {tolerance:g}; {_ONLY}"
    return Identification(layer, True, True, S, V, residual, evidence, reason)


class _Products:
    """Products of linear and quadratic forms in d variables, as coefficient vectors."""

    def __init__(self, d: int) -> None:
        self.d = d
        self.quadrics = list(combinations_with_replacement(range(d), 2))
        self.cubics = list(combinations_with_replacement(range(d), 3))
        place: dict[tuple[int, ...], int] = {m: n for n, m in enumerate(self.cubics)}
        # times[i, p] is the position of x_i·(quadratic monomial p) among the cubic ones.
        self.times = np.array(
            [[place[tuple(sorted((i, *m)))] for m in self.quadrics] for i in range(d)], dtype=np.intp
        )

    def cubic(self, V: Array, S: Array) -> Array:
        """The coefficients of V_c·S for all rows of V."""
        return V @ self._by_quadratic(S)

    def _by_quadratic(self, S: Array) -> Array:
        matrix = np.zeros((self.d, len(self.cubics)))
        for i in range(self.d):
            matrix[i, self.times[i]] += S
        return matrix

    def _by_linear(self, v: Array) -> Array:
        matrix = np.zeros((len(self.quadrics), len(self.cubics)))
        for i in range(self.d):
            matrix[np.arange(len(self.quadrics)), self.times[i]] += v[i]
        return matrix

    def divide_by_quadratic(self, table: Array, S: Array) -> Array:
        """The V for which V_c·S is nearest to the rows of ``table``."""
        result: Array = np.linalg.lstsq(self._by_quadratic(S).T, table.T, rcond=None)[0].T
        return result

    def divide_by_linear(self, rows: Array, v: Array) -> Array:
        """The S for which v·S is nearest to the one row of ``rows``."""
        result: Array = np.linalg.lstsq(self._by_linear(v).T, rows[0], rcond=None)[0]
        return result

    def quadratic(self, table: Array, V: Array) -> Array:
        """The S for which V_c·S is nearest to the rows of ``table``."""
        matrix = np.concatenate([self._by_linear(v).T for v in V])
        result: Array = np.linalg.lstsq(matrix, table.ravel(), rcond=None)[0]
        return result

    def matrix(self, form: Array) -> Array:
        """The symmetric matrix of a quadratic form."""
        S = np.zeros((self.d, self.d))
        for (i, k), x in zip(self.quadrics, form, strict=True):
            S[i, k] += x / 2
            S[k, i] += x / 2
        return S

    def linear_candidates(self, f: Array, rng: np.random.Generator) -> list[Array]:
        """The gradients of f at its zeros on a random line: one is the linear factor, if there is one."""
        u, w = rng.standard_normal((2, self.d))
        times = np.arange(4.0) - 1.5
        values = [f @ self._monomials(u + s * w) for s in times]
        roots = np.roots(np.polyfit(times, values, 3))
        found = []
        for root in roots:
            gradient = self._gradient(f, u + root.real * w)
            if np.linalg.norm(gradient):
                found.append(gradient / np.linalg.norm(gradient))
        return found

    def _monomials(self, x: Array) -> Array:
        return np.array([x[i] * x[j] * x[k] for i, j, k in self.cubics])

    def _gradient(self, f: Array, x: Array) -> Array:
        gradient = np.zeros(self.d)
        for (i, j, k), value in zip(self.cubics, f, strict=True):
            gradient[i] += value * x[j] * x[k]
            gradient[j] += value * x[i] * x[k]
            gradient[k] += value * x[i] * x[j]
        return gradient
