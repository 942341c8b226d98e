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
integer coefficients, of degree 2, 3, 4 and a + 1, one for each choice of rows, columns, u, h, q and plane.
Trying small choices, then random ones, finds one that is not zero.

>>> from agattn.architecture import SingleLayer
>>> from agattn.geometry.scalars import scalars
>>> print(find_violation(SingleLayer(2, 1), scalars([1, 0, 0, 0, 0, 1], "y")))
the resultant of y_{1,1} and y_{1,2} on the plane (1, 0), (0, 1) is 1
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np

from agattn.architecture import SingleLayer
from agattn.errors import UndecidableError
from agattn.geometry.scalars import Array, as_floats, decide_rank, flint_matrix, is_exact

_RANDOM_TRIES = 400
_SIZES = (1, 2, 5, 20)


@dataclass(frozen=True)
class Violation:
    """A polynomial that vanishes on M̄ and not at the tensor.

    Attributes:
        equation: which polynomial, in words.
        degree: its degree in the coordinates y.
        value: its value at the tensor; in floating point, at the tensor scaled to largest entry 1.
    """

    equation: str
    degree: int
    value: Fraction | float

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, Fraction) else f"{self.value:.3g}"
        return f"{self.equation} is {value}"


def find_violation(
    layer: SingleLayer, y: Array, seed: int = 0, threshold: float = 1e-9, rank_only: bool = False
) -> Violation:
    """A violated equation, for the compact coefficients y (t ≥ 2) of a tensor that is not in M̄.

    Args:
        layer: the layer; its ``a`` bounds the rank of A.
        y: N exact or floating coefficients.
        seed: of the random choices, once the small ones are used up.
        threshold: in floating point, what counts as nonzero.
        rank_only: look for a minor of condition 4 at once.

    Raises:
        UndecidableError: if none was found; for an exact tensor outside M̄ that has probability 0.
    """
    forms = Forms(layer, y)
    largest: Violation | None = None
    so_far = threshold
    for found in _candidates(layer, forms, random.Random(seed), rank_only):
        if is_exact(y):
            if found.value:
                return found
        elif abs(float(found.value)) > so_far:
            largest, so_far = found, abs(float(found.value))
            if so_far > 0.01:
                break
    if largest is None:
        raise UndecidableError("no violated equation was found: the tensor is in M̄, or too near to tell")
    return largest


class Forms:
    """The quadratic forms of a tensor: evaluation, combinations, symmetric matrices."""

    def __init__(self, layer: SingleLayer, y: Array) -> None:
        d = layer.d
        if not is_exact(y):
            y = y / max(float(np.abs(y).max()), 1e-300)
        self.upper = y.reshape(layer.d_out, d, -1)
        self.pairs = np.triu_indices(d)
        self.two: Any = Fraction(2) if is_exact(y) else 2.0

    def _like(self, vector: Array) -> Array:
        """A vector of integers in the arithmetic of the tensor."""
        return vector if is_exact(self.upper) else as_floats(vector)

    def at(self, u: Array) -> Array:
        """Y(u), d' × d."""
        u, (i, k) = self._like(u), self.pairs
        result: Array = self.upper @ (u[i] * u[k])
        return result

    def combination(self, h: Array, q: Array) -> Array:
        """The coefficients, i ≤ k, of Σ h_c q_b y_{c,b}."""
        result: Array = self._like(q) @ np.tensordot(self._like(h), self.upper, axes=1)
        return result

    def doubled(self, form: Array) -> Array:
        """The matrix of second derivatives of a form: 2 y_ii on the diagonal, y_ik off it."""
        d = int(self.pairs[0][-1]) + 1
        matrix = np.zeros((d, d), dtype=form.dtype)
        matrix[self.pairs] = form
        result: Array = matrix + matrix.T
        return result

    def on_plane(self, form: Array, u: Array, w: Array) -> tuple[Any, Any, Any]:
        """The coefficients of s², st, t² of the form at su + tw."""
        matrix, u, w = self.doubled(form), self._like(u), self._like(w)
        return (u @ matrix @ u) / self.two, u @ matrix @ w, (w @ matrix @ w) / self.two


def _candidates(layer: SingleLayer, forms: Forms, rng: random.Random, rank_only: bool) -> Iterator[Violation]:
    if rank_only:
        yield from _rank_minors(layer, forms)
        return
    if layer.d > 1:
        yield from _small_choices(layer, forms)
        for attempt in range(_RANDOM_TRIES):
            size = _SIZES[min(attempt * len(_SIZES) // _RANDOM_TRIES, len(_SIZES) - 1)]
            yield from _random_choices(layer, forms, rng, size)
    yield from _rank_minors(layer, forms)


def _unit(n: int, *places: int) -> Array:
    vector = np.zeros(n, dtype=np.int64).astype(object)
    for place in places:
        vector[place] = 1
    return vector


def _small_choices(layer: SingleLayer, forms: Forms) -> Iterator[Violation]:
    """Choices along the coordinates, the first few of each kind in large layers."""
    d, d_out = min(layer.d, 5), min(layer.d_out, 5)
    units = [_unit(layer.d, i) for i in range(d)]
    points = units + [_unit(layer.d, i, k) for i, k in combinations(range(d), 2)]
    for u in points:
        yield from _minors(forms, u, d_out, d)
    for c, b in product(range(d_out), range(d)):
        form = forms.combination(_unit(layer.d_out, c), _unit(layer.d, b))
        yield from _triple_minors(forms, form, f"y_{{{c + 1},{b + 1}}}", list(combinations(range(d), 3)))
    for u, w in combinations(units, 2):
        for c in range(d_out):
            for b, b2 in combinations(range(d), 2):
                yield _resultant(forms, _entry(layer, c, b), _entry(layer, c, b2), u, w)
        for b in range(d):
            for c, c2 in combinations(range(d_out), 2):
                yield _resultant(forms, _entry(layer, c, b), _entry(layer, c2, b), u, w)


Named = tuple[str, Array, Array]
"""A combination Σ h_c q_b y_{c,b}: its name, h and q."""


def _entry(layer: SingleLayer, c: int, b: int) -> Named:
    return f"y_{{{c + 1},{b + 1}}}", _unit(layer.d_out, c), _unit(layer.d, b)


def _random_choices(layer: SingleLayer, forms: Forms, rng: random.Random, size: int) -> Iterator[Violation]:
    def draw(n: int) -> Array:
        return np.array([rng.randint(-size, size) for _ in range(n)], dtype=object)

    d, d_out = layer.d, layer.d_out
    u, w, q, q2 = (draw(d) for _ in range(4))
    h, h2 = draw(d_out), draw(d_out)
    yield from _minors(forms, u, min(d_out, 8), min(d, 8))
    name = f"the form with h = {show(h)}, q = {show(q)}"
    if d > 2:
        triple = tuple(sorted(rng.sample(range(d), 3)))
        yield from _triple_minors(forms, forms.combination(h, q), name, [triple])
    yield _resultant(forms, (name, h, q), (f"that with h = {show(h)}, q = {show(q2)}", h, q2), u, w)
    yield _resultant(forms, (name, h, q), (f"that with h = {show(h2)}, q = {show(q)}", h2, q), u, w)


def _minors(forms: Forms, u: Array, rows: int, columns: int) -> Iterator[Violation]:
    Y = forms.at(u)
    for c, c2 in combinations(range(rows), 2):
        for b, b2 in combinations(range(columns), 2):
            value = Y[c, b] * Y[c2, b2] - Y[c, b2] * Y[c2, b]
            text = f"the 2 × 2 minor of Y(u), rows {c + 1}, {c2 + 1}, columns {b + 1}, {b2 + 1}"
            yield Violation(f"{text}, at u = {show(u)}", 2, value)


def _triple_minors(
    forms: Forms, form: Array, name: str, triples: list[tuple[int, ...]]
) -> Iterator[Violation]:
    matrix = forms.doubled(form)
    for rows in triples:
        for columns in triples:
            text = "the 3 × 3 minor, rows {}, {}, {}, columns {}, {}, {}, of the second derivatives of {}"
            numbers = (*(i + 1 for i in rows), *(k + 1 for k in columns))
            yield Violation(text.format(*numbers, name), 3, _determinant(matrix[np.ix_(rows, columns)]))


def _determinant(m: Array) -> Any:
    if is_exact(m):
        value = flint_matrix(m).det()
        return Fraction(int(value.p), int(value.q))
    return float(np.linalg.det(m))


def _resultant(forms: Forms, first: Named, second: Named, u: Array, w: Array) -> Violation:
    p0, p1, p2 = forms.on_plane(forms.combination(*first[1:]), u, w)
    q0, q1, q2 = forms.on_plane(forms.combination(*second[1:]), u, w)
    value = (p0 * q2 - p2 * q0) ** 2 - (p0 * q1 - p1 * q0) * (p1 * q2 - p2 * q1)
    text = f"the resultant of {first[0]} and {second[0]} on the plane {show(u)}, {show(w)}"
    return Violation(text, 4, value)


def _rank_minors(layer: SingleLayer, forms: Forms) -> Iterator[Violation]:
    """A nonzero (a + 1)-minor of the matrix with row b = all coefficients of all y_{c,b}, if any."""
    size = layer.a + 1
    flat = forms.upper.swapaxes(0, 1).reshape(layer.d, -1)
    if size > layer.d:
        return
    rows, columns = _independent(flat, size)
    if len(columns) < size:
        return
    i, k = forms.pairs
    names = []
    for column in columns:
        c, pair = divmod(column, len(i))
        names.append(f"({c + 1},{{{i[pair] + 1},{k[pair] + 1}}})")
    text = f"the {size} × {size} minor, rows b = {', '.join(str(b + 1) for b in rows)}"
    text += f", columns (c,{{i,k}}) = {', '.join(names)}, of the matrix of all y_{{c,b,{{i,k}}}}"
    yield Violation(text, size, _determinant(flat[np.ix_(rows, columns)]))


def _independent(matrix: Array, size: int) -> tuple[list[int], list[int]]:
    """Rows and columns of a nonsingular square part of at most this size."""

    def pivots(rows: Array) -> list[int]:
        if is_exact(rows):
            reduced, rank = flint_matrix(rows).rref()
            entries = np.array(reduced.tolist(), dtype=object).reshape(rows.shape)
            return [next(j for j in range(rows.shape[1]) if entries[r, j] != 0) for r in range(rank)]
        rest, chosen = rows.copy(), []
        rank = decide_rank(rows).rank
        for _ in range(min(rank, size)):  # Gram-Schmidt, the largest column first
            j = int((rest**2).sum(axis=0).argmax())
            direction = rest[:, j] / np.linalg.norm(rest[:, j])
            rest = rest - np.multiply.outer(direction, direction @ rest)
            chosen.append(j)
        return chosen

    rows = sorted(pivots(matrix.T)[:size])
    return rows, sorted(pivots(matrix[rows])[:size])


def show(vector: Array) -> str:
    """A vector of integers as text: all of it, or the nonzero entries of a long one."""
    if len(vector) <= 8:
        return f"({', '.join(str(x) for x in vector)})"
    parts = [
        f"{'+' if x > 0 else '-'}{'' if abs(x) == 1 else abs(x)}e_{i + 1}" for i, x in enumerate(vector) if x
    ]
    return "".join(parts).removeprefix("+") or "0"
