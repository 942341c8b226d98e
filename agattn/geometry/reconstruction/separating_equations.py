r"""An equation of M̄ that a tensor violates, in words and numbers that can be checked by hand.

A tensor is the d' × d matrix of quadratic forms y_{c,b}. It is V_c·A_b for complex V and A if and only if

1. all 2 × 2 minors of the matrix Y(u) vanish: Y(u) has rank at most 1 for every u;
2. every combination Σ h_c q_b y_{c,b} is a product of two linear forms: all 3 × 3 minors of its symmetric
   matrix vanish;
3. any two combinations of one row of Y, or of one column, have a common factor: on every plane, their
   resultant vanishes.

For suppose these hold. By 1 and unique factorization Y = g·z xᵀ with coprime vectors z and x of forms of
degrees i, j with i + j + deg g = 2. For (1,1), (1,0), (0,1) this is V_c·A_b; for (0,0), g is a product by 2;
for (2,0) and (0,2) the entries of z, or x, have a common factor by 3 (generic members of a linear system
without a fixed part have none), which contradicts coprimality. And rk A ≤ a if and only if

4. the d × (d'·C(d+1,2)) matrix with the coefficients of all y_{c,b} in row b has rank at most a,

since multiplication by V_c is injective. Each condition is a family of polynomials in the coordinates y with
integer coefficients, of degree 2, 3, 4 and a + 1, one for each choice of vectors. Trying small choices, then
random ones, finds one that is not zero.

In floating point the tensor is scaled to norm 1, and so is every vector. A polynomial f then changes by at
most its ``sensitivity`` times ε(1 + ε)^(deg f − 1) as the tensor moves by ε, so that a larger absolute value
of f shows that *every* tensor within ε violates the equation. (The resultant is a sum of products of
numbers of size at most 1 or 2, each of which moves by at most ε times that; a k × k determinant moves by
at most k‖M‖^(k−1)‖ΔM‖.)

>>> from agattn.architectures import SingleLayer
>>> from agattn.algebra.scalars import scalars
>>> print(find_violation(SingleLayer(2, 1), scalars([1, 0, 0, 0, 0, 1], "y")))
the resultant of y_{1,1} and y_{1,2} on the plane (1, 0), (0, 1) is 1
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np

from agattn.algebra.echelon import echelon, fraction
from agattn.algebra.scalars import Array, as_floats, decide_rank, flint_matrix, is_exact, scaled
from agattn.architectures import SingleLayer
from agattn.geometry.variety.coefficient_norm import symmetric_tensor
from agattn.sheet.result import Key, Meta, Result, Written

# Of the seven monomials of the resultant three, with multiplicity four, are at most 1, and four at most 4.
_RESULTANT_SENSITIVITY = 4.0 * (4 * 1 + 4 * 4)


class Violation(Result):
    """A polynomial that vanishes on M̄ and not at the tensor.

    In floating point the value is taken with the tensor and all vectors scaled to norm 1. The value changes
    by at most ``sensitivity`` per distance.
    """

    equation: Key[str, "The equation in words."]
    degree: Key[int, "The degree of the equation in the coordinates y.", Meta(ge=2)]
    value: Key[
        Fraction | float, "The value of the polynomial at the tensor, which is not zero.", Written(str)
    ]
    sensitivity: float

    def summary(self) -> str:
        """The equation and its value."""
        value = self.value if isinstance(self.value, Fraction) else f"{self.value:.3g}"
        return f"{self.equation} is {value}"


def find_violation(
    layer: SingleLayer, y: Array, seed: int = 0, tolerance: float = 1e-9, rank_only: bool = False
) -> Violation | None:
    """A violated equation, for the compact coefficients y ≠ 0 (t ≥ 2) of a tensor that is not in M̄.

    ``None`` if none was found: the tensor is in M̄ or too near to tell, or hundreds of random choices failed.

    Args:
        layer: the layer; its ``a`` bounds the rank of A.
        y: N exact or floating coefficients.
        seed: of the random choices, once the small ones are used up.
        tolerance: in floating point, the relative distance within which all tensors must violate it.
        rank_only: look for a minor of condition 4 at once.
    """
    forms = Forms(layer, y)
    rounding = 4 * float(np.finfo(float).eps) * (layer.d_out + layer.d**2)
    distance = tolerance + rounding
    best: Violation | None = None
    above, exact = 1.0, is_exact(y)
    for violation in _candidates(layer, forms, random.Random(seed), rank_only):
        if exact and violation.value:
            return violation
        explained = violation.sensitivity * distance * (1 + distance) ** (violation.degree - 1)
        ratio = abs(float(violation.value)) / explained
        if ratio > above:
            best, above = violation, ratio
            if above > 1e6:  # as good as any
                break
    return best


class Forms:
    """The quadratic forms of a tensor; in floating point it and all vectors are scaled to norm 1."""

    def __init__(self, layer: SingleLayer, y: Array) -> None:
        if not is_exact(y):
            y = scaled(y)[0]
            y = y / np.linalg.norm(symmetric_tensor(y, layer.d, layer.d_out))
        self.layer = layer
        self.upper = y.reshape(layer.d_out, layer.d, -1)
        self.pairs = np.triu_indices(layer.d)

    def vector(self, integers: Array) -> Array:
        """A vector of integers in the arithmetic of the tensor; in floating point, of length 1 or 0."""
        if is_exact(self.upper):
            return integers
        floats = as_floats(integers)
        return floats / (np.linalg.norm(floats) or 1.0)

    def at(self, u: Array) -> Array:
        """Y(u), d' × d."""
        u, (i, k) = self.vector(u), self.pairs
        result: Array = self.upper @ (u[i] * u[k])
        return result

    def second_derivatives(self, h: Array, q: Array) -> Array:
        """The matrix of second derivatives of Σ h_c q_b y_{c,b}: 2 y_ii on the diagonal, y_ik off it."""
        form = self.vector(q) @ np.tensordot(self.vector(h), self.upper, axes=1)
        matrix = np.zeros((self.layer.d, self.layer.d), dtype=form.dtype)
        matrix[self.pairs] = form
        result: Array = matrix + matrix.T
        return result


Named = tuple[str, Array, Array]  # a combination Σ h_c q_b y_{c,b}: its name, h and q


def _candidates(layer: SingleLayer, forms: Forms, rng: random.Random, rank_only: bool) -> Iterator[Violation]:
    if layer.d > 1 and not rank_only:
        yield from _small_choices(forms, min(layer.d, 5), min(layer.d_out, 5))
        for size in (1, 2, 5, 20):
            for _ in range(100):
                yield from _random_choices(forms, rng, size)
    yield from _rank_minors(forms)


def _small_choices(forms: Forms, d: int, d_out: int) -> Iterator[Violation]:
    """Choices along the first d and d' coordinates."""
    units, rows_of_v = np.eye(forms.layer.d, dtype=object), np.eye(forms.layer.d_out, dtype=object)
    for u in [*units[:d], *(units[i] + units[k] for i, k in combinations(range(d), 2))]:
        Y = forms.at(u)
        for place in product(combinations(range(d_out), 2), combinations(range(d), 2)):
            text = f"the 2 × 2 minor of Y(u), {_place(*place)}, at u = {show(u)}"
            yield _minor(text, Y[np.ix_(*place)], 1.0)

    def entry(c: int, b: int) -> Named:
        return f"y_{{{c + 1},{b + 1}}}", rows_of_v[c], units[b]

    for c, b in product(range(d_out), range(d)):
        name, h, q = entry(c, b)
        matrix = forms.second_derivatives(h, q)
        for triples in product(combinations(range(d), 3), repeat=2):
            text = f"the 3 × 3 minor, {_place(*triples)}, of the second derivatives of {name}"
            yield _minor(text, matrix[np.ix_(*triples)], 2.0)
    for u, w in combinations(units[:d], 2):
        for c, (b, b2) in product(range(d_out), combinations(range(d), 2)):
            yield _resultant(forms, entry(c, b), entry(c, b2), u, w)
        for b, (c, c2) in product(range(d), combinations(range(d_out), 2)):
            yield _resultant(forms, entry(c, b), entry(c2, b), u, w)


def _random_choices(forms: Forms, rng: random.Random, size: int) -> Iterator[Violation]:
    d, d_out = forms.layer.d, forms.layer.d_out

    def draw(n: int) -> Array:
        return np.array([rng.randint(-size, size) for _ in range(n)], dtype=object)

    u, v, w, q, q2 = (draw(d) for _ in range(5))
    h, h2 = draw(d_out), draw(d_out)
    if d_out > 1:
        H, Q = (np.stack([forms.vector(x) for x in pair]) for pair in ((h, h2), (q, q2)))
        text = f"the 2 × 2 determinant of h·Y(u)q for h = {show(h)} and {show(h2)}"
        text += f", q = {show(q)} and {show(q2)}, at u = {show(u)},"
        yield _minor(text, H @ forms.at(u) @ Q.T, 2.0)
    name = f"the form with h = {show(h)}, q = {show(q)}"
    if d > 2:
        U = np.stack([forms.vector(x) for x in (u, v, w)])
        text = f"the determinant of the second derivatives of {name} on {', '.join(map(show, (u, v, w)))}"
        yield _minor(text, U @ forms.second_derivatives(h, q) @ U.T, 6.0)
    yield _resultant(forms, (name, h, q), (f"that with h = {show(h)}, q = {show(q2)}", h, q2), u, w)
    yield _resultant(forms, (name, h, q), (f"that with h = {show(h2)}, q = {show(q)}", h2, q), u, w)


def _place(rows: Sequence[int], columns: Sequence[int]) -> str:
    """Where a minor is, counted from 1."""
    first, second = (", ".join(str(i + 1) for i in places) for places in (rows, columns))
    return f"rows {first}, columns {second}"


def _minor(text: str, m: Array, norm: float) -> Violation:
    """The determinant of a matrix whose norm is at most ``norm`` for a tensor of norm 1."""
    if is_exact(m):
        det = flint_matrix(m).det()
        value: Fraction | float = fraction(det)
    else:
        value = float(np.linalg.det(m))
    return Violation(text, len(m), value, float(len(m) * norm ** len(m)))


def _resultant(forms: Forms, first: Named, second: Named, u: Array, w: Array) -> Violation:
    def on_plane(h: Array, q: Array) -> tuple[Any, Any, Any]:
        """The coefficients of s², st, t² of the form at su + tw."""
        matrix, x, z = forms.second_derivatives(h, q), forms.vector(u), forms.vector(w)
        two = Fraction(2) if is_exact(matrix) else 2.0
        return (x @ matrix @ x) / two, x @ matrix @ z, (z @ matrix @ z) / two

    (p0, p1, p2), (q0, q1, q2) = on_plane(*first[1:]), on_plane(*second[1:])
    value = (p0 * q2 - p2 * q0) ** 2 - (p0 * q1 - p1 * q0) * (p1 * q2 - p2 * q1)
    text = f"the resultant of {first[0]} and {second[0]} on the plane {show(u)}, {show(w)}"
    return Violation(text, 4, value, _RESULTANT_SENSITIVITY)


def _rank_minors(forms: Forms) -> Iterator[Violation]:
    """A nonzero (a + 1)-minor of the matrix with row b = all coefficients of all y_{c,b}, if any."""
    size = forms.layer.a + 1
    flat = forms.upper.swapaxes(0, 1).reshape(forms.layer.d, -1)
    rows = sorted(_pivots(flat.T, size))
    columns = sorted(_pivots(flat[rows], size))
    if len(columns) < size:
        return
    i, k = (indices + 1 for indices in forms.pairs)
    places = [(column // len(i) + 1, column % len(i)) for column in columns]
    names = ", ".join(f"({c},{i[pair]},{k[pair]})" for c, pair in places)
    text = f"the {size} × {size} minor, rows b = {', '.join(str(b + 1) for b in rows)}"
    text += f", columns (c,i,k) = {names}, of the matrix of all y_{{c,b,i,k}}"
    yield _minor(text, flat[np.ix_(rows, columns)], 2.0**0.5)


def _pivots(rows: Array, size: int) -> list[int]:
    """Independent columns, at most ``size`` of them."""
    if is_exact(rows):
        return echelon(flint_matrix(rows))[1][:size]
    rest, chosen = rows.copy(), []
    for _ in range(min(decide_rank(rows).rank, size)):  # Gram-Schmidt, the largest column first
        j = int((rest**2).sum(axis=0).argmax())
        direction = rest[:, j] / np.linalg.norm(rest[:, j])
        rest = rest - np.multiply.outer(direction, direction @ rest)
        chosen.append(j)
    return chosen


def show(vector: Array) -> str:
    """A vector of integers as text: all of it, or the nonzero entries of a long one."""
    if len(vector) <= 8:
        return f"({', '.join(str(x) for x in vector)})"
    parts = [
        f"{'+' if x > 0 else '-'}{'' if abs(x) == 1 else abs(x)}e_{i + 1}" for i, x in enumerate(vector) if x
    ]
    return "".join(parts).removeprefix("+") or "0"
