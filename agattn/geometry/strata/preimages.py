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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any

import flint

from agattn.algebra.echelon import Matrix, kernel_basis, rational, rational_matrix
from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.geometry.strata.critical import kernel_modulo_scaling
from agattn.geometry.strata.strata import Stratum, representative, require_two_tokens
from agattn.geometry.variety.coordinates import Coordinate, coefficients, coordinates, differential
from agattn.geometry.variety.determinantal import tangent_space_equations
from agattn.notebook import Cell, InNotebooks, Table, Wide, matrix

Form = tuple[Fraction, ...]
RationalMatrix = tuple[Form, ...]


@dataclass(frozen=True)
class Preimage(InNotebooks):
    """One preimage (A, V) up to the rescaling (sA, V/s), with rational entries.

    Attributes:
        A: d × d.
        V: d' × d.
        length: the length of the fiber of P(D_α) × P(ℂ^{d'×d}) → P(ℂ^N), as a scheme, at this point: 1 if
            it is reduced there; ``None`` where second-order information does not tell.
    """

    A: RationalMatrix
    V: RationalMatrix
    length: int | None

    def _notebook(self) -> Table:
        length = "unknown" if self.length is None else self.length
        rows = (("A", matrix(self.A)), ("V", matrix(self.V)), ("length of the fiber there", length))
        return Table("A preimage up to (sA, V/s)", (), rows)


@dataclass(frozen=True)
class ConjugatePair(InNotebooks):
    """Two preimages that are conjugate over a quadratic field ℚ(√D): the fiber of h ⊗ q ⊗ Q with Q = l·l̄.

    Attributes:
        form: Q, as a symmetric matrix with half-integral entries off the diagonal, d × d.
        discriminant: D up to squares; negative if no preimage is real, so that the point is outside M.
    """

    form: RationalMatrix
    discriminant: Fraction

    def _notebook(self) -> Table:
        kind = "real" if self.discriminant > 0 else "complex conjugate"
        caption = f"Two {kind} preimages, of h ⊗ q ⊗ Q with Q = l·m over ℚ(√{self.discriminant})"
        return Table(caption, (), (("Q", matrix(self.form)), ("discriminant", str(self.discriminant))))


@dataclass(frozen=True)
class Fiber(InNotebooks):
    """All preimages of a point y ≠ 0 over ℂ, up to scaling.

    Attributes:
        points: the rational ones.
        conjugate: the pair that exists over a quadratic field only, if any.
        reason: in words, how this is known.
    """

    points: tuple[Preimage, ...]
    conjugate: ConjugatePair | None
    reason: str

    @property
    def number(self) -> int:
        """The number of preimages over ℂ up to scaling: 0, 1 or 2; 0 means that y is not in M̄."""
        return len(self.points) + 2 * (self.conjugate is not None)

    @property
    def is_real(self) -> bool:
        """Whether some preimage is real: whether y is in M."""
        return bool(self.points) or (self.conjugate is not None and self.conjugate.discriminant > 0)

    def _notebook(self) -> Table:
        where = "in M" if self.is_real else "in M̄, not in M" if self.number else "not in M̄"
        rows: list[tuple[Cell, ...]] = [
            ("preimages over ℂ, up to scaling", self.number),
            ("so the point is", where),
            (Wide("how this is known"), self.reason),
        ]
        for n, point in enumerate(self.points, start=1):
            rows += [(f"A, preimage {n}", matrix(point.A)), (f"V, preimage {n}", matrix(point.V))]
        if self.conjugate is not None:
            rows += [
                ("Q, of h ⊗ q ⊗ Q", matrix(self.conjugate.form)),
                ("its factors are over", f"ℚ(√{self.conjugate.discriminant})"),
            ]
        return Table("The fiber over a point", (), tuple(rows))


def preimages(layer: SingleLayer, y: Sequence[Any]) -> Fiber:
    """All (A, V) over ℂ with rk A ≤ a and φ_{A,V} = y, up to (sA, V/s), for a rational y ≠ 0 of length N.

    Raises:
        InputError: if t = 1, if y has not N entries, or if y = 0, whose fiber is {A = 0} ∪ {V = 0}.

    >>> preimages(SingleLayer(2, 1), [1, 0, 1, 0, 0, 0]).conjugate.discriminant  # y_{1,1} = u_1² + u_2²
    Fraction(-4, 1)
    >>> preimages(SingleLayer(2, 1), [1, 0, 0, 0, 0, 1]).number
    0
    """
    require_two_tokens(layer)
    d = layer.d
    names = coordinates(layer)
    if len(y) != len(names):
        raise InputError(f"the tensor has {len(y)} entries; {layer} needs N = {len(names)}")
    values = [Fraction(int(q.p), int(q.q)) for q in map(rational, y)]
    first = next((name for name, value in zip(names, values, strict=True) if value), None)
    if first is None:
        raise InputError("the tensor is 0, whose fiber is {A = 0} ∪ {V = 0}; give a nonzero one")
    at = dict(zip(names, values, strict=True))
    c, b = first[:2]
    label = f"y_{{{c},{b}}}"
    factors = factor_quadratic_form(_form(at, c, b, d))
    if factors is None:
        return Fiber((), None, f"{label} is not a product of two linear forms, so the tensor is not in M̄")
    if isinstance(factors, Fraction):
        return _irrational_fiber(layer, at, (c, b), factors)
    points = []
    for left, right in [factors] if _parallel(*factors) else [factors, factors[::-1]]:
        found = _solve(layer, at, (c, b), left, right)
        if found is not None:
            A, V = found
            points.append(Preimage(A, V, fiber_length(layer, A, V)))
    return Fiber(tuple(points), None, f"unique factorization of {label} into linear forms")


@lru_cache(maxsize=4096)
def stratum_fiber(layer: SingleLayer, stratum: Stratum) -> Fiber:
    """All preimages of the representative of a nonzero stratum.

    >>> stratum_fiber(SingleLayer(3, 1), Stratum(1, 1, 2)).number
    2
    """
    return preimages(layer, list(coefficients(layer, *representative(layer, stratum))))


def _form(at: dict[Coordinate, Fraction], c: int, b: int, d: int) -> list[list[Fraction]]:
    """The upper triangular matrix of the quadratic form y_{c,b}."""
    return [[at[c, b, i, k] if i <= k else Fraction(0) for k in range(1, d + 1)] for i in range(1, d + 1)]


def factor_quadratic_form(form: Sequence[Sequence[Fraction]]) -> tuple[Form, Form] | Fraction | None:
    """Factor Σ_{i≤k} form[i][k]·u_i·u_k ≠ 0 into two linear forms over ℚ.

    Returns the two factors; or a rational D, not a square, if the factors are conjugate over ℚ(√D); or
    ``None`` if the form has rank 3 or more, and so does not factor over ℂ either.

    >>> one, zero = Fraction(1), Fraction(0)
    >>> factor_quadratic_form([[one, zero], [zero, -one]])
    ((Fraction(1, 1), Fraction(-1, 1)), (Fraction(1, 1), Fraction(1, 1)))
    >>> factor_quadratic_form([[one, zero], [zero, -2 * one]])
    Fraction(8, 1)
    """
    d = len(form)
    F = [[form[min(i, k)][max(i, k)] for k in range(d)] for i in range(d)]
    p = next((i for i in range(d) if F[i][i]), None)
    if p is None:
        # F = u_p·L + (terms without u_p), so if it factors, L is the factor free of u_p.
        p = next(i for i in range(d) if any(F[i]))
        L = tuple(F[p])
        other = divide(F, L)
        return None if other is None else (other, L)
    # 4 F_pp F = (2 F_pp u_p + L)² − D, with D = L² − 4 F_pp R free of u_p: a product when D is a square.
    D = [
        [(1 if i == k else 2) * F[p][i] * F[p][k] - 4 * F[p][p] * F[i][k] for k in range(d)] for i in range(d)
    ]
    for i in range(d):
        D[p][i] = D[i][p] = Fraction(0)
    j = next((i for i in range(d) if D[i][i]), None)
    if j is None:
        if any(any(row) for row in D):
            return None
        root: Form = (Fraction(0),) * d
    else:
        root = tuple(D[j][k] / (2 if k != j else 1) for k in range(d))  # D_jj D = root², if D has rank 1
        square = _product(root, root)
        if any(D[j][j] * D[i][k] != square[i][k] for i in range(d) for k in range(d)):
            return None
        s = rational_square_root(D[j][j])
        if s is None:
            return D[j][j]
        root = tuple(x / s for x in root)
    half = [2 * F[p][p] if i == p else F[p][i] for i in range(d)]
    # Scaled so that the first factor has u_p-coefficient F_pp and the second 1.
    return (
        tuple((x - z) / 2 for x, z in zip(half, root, strict=True)),
        tuple((x + z) / (2 * F[p][p]) for x, z in zip(half, root, strict=True)),
    )


def _product(one: Form, other: Form) -> list[list[Fraction]]:
    """The coefficients of a product of linear forms, each off-diagonal one in both of its places."""
    d = len(one)
    return [[one[i] * other[k] + (one[k] * other[i] if i != k else 0) for k in range(d)] for i in range(d)]


def divide(F: Sequence[Sequence[Fraction]], factor: Form) -> Form | None:
    """The linear form F / factor, or ``None`` where it is none; F as in ``_product``, factor ≠ 0."""
    d = len(factor)
    p = next(i for i in range(d) if factor[i])
    top = F[p][p] / factor[p]
    quotient = tuple(top if i == p else (F[p][i] - factor[i] * top) / factor[p] for i in range(d))
    return quotient if _product(factor, quotient) == [list(row) for row in F] else None


def rational_square_root(x: Fraction) -> Fraction | None:
    """The square root of x ≥ 0 if it is rational, else ``None``.

    >>> rational_square_root(Fraction(4, 9))
    Fraction(2, 3)
    """
    if x < 0:
        return None
    p, q = isqrt(x.numerator), isqrt(x.denominator)
    return Fraction(p, q) if (p * p, q * q) == (x.numerator, x.denominator) else None


def _parallel(one: Form, other: Form) -> bool:
    return all(one[i] * other[k] == one[k] * other[i] for i in range(len(one)) for k in range(i))


def _solve(
    layer: SingleLayer, at: dict[Coordinate, Fraction], entry: tuple[int, int], row: Form, column: Form
) -> tuple[RationalMatrix, RationalMatrix] | None:
    """The preimage with V_c = row and A_b = column at the entry (c, b), if there is one."""
    d, (c, b) = layer.d, entry

    def quotient(c1: int, b1: int, form: Form) -> Form | None:
        upper = _form(at, c1, b1, d)
        return divide([[upper[min(i, k)][max(i, k)] for k in range(d)] for i in range(d)], form)

    columns = [column if b1 == b else quotient(c, b1, row) for b1 in range(1, d + 1)]
    rows = [row if c1 == c else quotient(c1, b, column) for c1 in range(1, layer.d_out + 1)]
    if None in columns or None in rows:
        return None
    A = tuple(zip(*(x for x in columns if x is not None), strict=True))
    V = tuple(x for x in rows if x is not None)
    if list(coefficients(layer, A, V)) != list(at.values()) or rational_matrix(A, d).rank() > layer.alpha:
        return None
    return A, V


def _irrational_fiber(
    layer: SingleLayer, at: dict[Coordinate, Fraction], entry: tuple[int, int], D: Fraction
) -> Fiber:
    """The fiber where the form at ``entry`` has factors l, m that are conjugate over ℚ(√D).

    With one preimage its conjugate is a second. So both l and m divide every form in the same row, and in
    the same column, which are then multiples q_b·lm and h_c·lm; and y = h ⊗ q ⊗ lm. Conversely such a y has
    the two preimages A = l qᵀ, V = h mᵀ and A = m qᵀ, V = h lᵀ. That is a condition over ℚ.
    """
    d = layer.d
    c, b = entry
    base = _form(at, c, b, d)
    i, k = next((i, k) for i in range(d) for k in range(i, d) if base[i][k])
    h = [at[c1, b, i + 1, k + 1] / base[i][k] for c1 in range(1, layer.d_out + 1)]
    q = [at[c, b1, i + 1, k + 1] / base[i][k] for b1 in range(1, d + 1)]
    if any(y != h[c1 - 1] * q[b1 - 1] * base[i1 - 1][k1 - 1] for (c1, b1, i1, k1), y in at.items()):
        reason = (
            f"y_{{{c},{b}}} has conjugate factors over ℚ(√{D}), and the tensor is not of the form h ⊗ q ⊗ Q"
        )
        return Fiber((), None, reason)
    form = tuple(
        tuple(base[i][i] if i == k else base[min(i, k)][max(i, k)] / 2 for k in range(d)) for i in range(d)
    )
    return Fiber((), ConjugatePair(form, D), f"h ⊗ q ⊗ Q, where Q has conjugate factors over ℚ(√{D})")


def fiber_length(layer: SingleLayer, A: Matrix, V: Matrix) -> int | None:
    """The length, at (A, V), of the scheme-theoretic fiber of P(D_α) × P(ℂ^{d'×d}) → P(ℂ^N) through it.

    Its tangent space is ker dφ ∩ (T_A D_α × ℂ^{d'×d}) modulo (A, −V), of dimension e say; e = 0 means that it
    is reduced: length 1. Otherwise let 𝔪 be the maximal ideal of the fiber without the rank condition.
    Equations V_c·A_b = y_{c,b} with vanishing linear part give quadratic forms on ker dφ; if these are all
    quadratic forms, then 𝔪² ⊂ 𝔪³, so 𝔪² = 0 (Nakayama), and the length is 1 + e. Otherwise ``None``.

    >>> fiber_length(SingleLayer(3, 1), [[1, 0, 0], [0, 0, 0], [0, 0, 0]], [[1, 0, 0]])
    3
    """
    kernel = kernel_modulo_scaling(A, V)
    if not kernel:
        return 1
    constraints = tangent_space_equations(A, layer.alpha)
    # (A, −V) satisfies the constraints, so they descend to the kernel modulo scaling.
    square = layer.d * layer.d
    images = constraints * rational_matrix([v[:square] for v in kernel], square).transpose()
    e = len(kernel) - images.rank()
    if e == 0:
        return 1
    return 1 + e if _square_of_maximal_ideal_vanishes(layer, A, V, kernel) else None


def _square_of_maximal_ideal_vanishes(
    layer: SingleLayer,
    A: Matrix,
    V: Matrix,
    kernel: list[list[flint.fmpq]],
) -> bool:
    """Whether the terms V̇_c·Ȧ_b, modulo the image of dφ, give all quadratic forms on the kernel."""
    d, matrix = len(A), differential(A, V)
    cokernel = kernel_basis(matrix.transpose())
    pairs = [(p, q) for p in range(len(kernel)) for q in range(p, len(kernel))]

    def split(vector: list[flint.fmpq]) -> tuple[list[list[flint.fmpq]], list[list[flint.fmpq]]]:
        return list(_rows(vector[: d * d], d)), list(_rows(vector[d * d :], d))

    halves = [split(vector) for vector in kernel]
    bilinear = []
    for p, q in pairs:
        (A1, V1), (A2, V2) = halves[p], halves[q]
        bilinear.append(list(coefficients(layer, A1, V2) + coefficients(layer, A2, V1)))
    second = rational_matrix(bilinear, matrix.nrows())
    return bool((second * rational_matrix(cokernel, matrix.nrows()).transpose()).rank() == len(pairs))


def _rows(entries: list[flint.fmpq], d: int) -> Iterator[list[flint.fmpq]]:
    for start in range(0, len(entries), d):
        yield entries[start : start + d]
