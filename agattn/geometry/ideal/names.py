"""Equations that have a name: what the low degrees of the ideal say about the forms y_{c,b} = V_c·A_b.

Each is written here from its definition, as a determinant or a resultant, by its highest weight vector: the
others come from it by base change in ℂ^{d'}, in the columns of A, and in the variables of the forms.

>>> from agattn.architectures import SingleLayer
>>> named = [n for n in NAMED_EQUATIONS if n.shapes == ((4,), (2, 2), (4, 4))]
>>> named[0].statement
'resultants of two forms of one row, on any two-dimensional subspace'
>>> named[0].equation().vanishes_on(SingleLayer(2, 1))
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from agattn.algebra.characters import Partition
from agattn.architectures import SingleLayer
from agattn.geometry.ideal.equation_modules import Equation, Terms
from agattn.geometry.ideal.torus_weights import Index


@dataclass(frozen=True)
class NamedEquation:
    """A module of equations with a name.

    Attributes:
        statement: what the equations are, in words.
        shapes: the highest weight (λ, μ, ν).
        equation: makes the highest weight vector from its definition.
    """

    statement: str
    shapes: tuple[Partition, Partition, Partition]
    equation: Callable[[], Equation]


def _y(c: int, b: int, i: int, k: int) -> Terms:
    return {((c, b, min(i, k), max(i, k)),): 1}


def _times(*factors: Terms) -> Terms:
    product: Terms = {(): 1}
    for factor in factors:
        longer: Terms = {}
        for left, x in product.items():
            for right, y in factor.items():
                key = tuple(sorted((*left, *right)))
                longer[key] = longer.get(key, 0) + x * y
        product = longer
    return product


def _plus(*terms: Terms) -> Terms:
    total: Terms = {}
    for part in terms:
        for monomial, value in part.items():
            total[monomial] = total.get(monomial, 0) + value
    return {monomial: value for monomial, value in total.items() if value}


def _scaled(factor: int, terms: Terms) -> Terms:
    return {monomial: factor * value for monomial, value in terms.items()}


def determinant(rows: Sequence[Sequence[Terms]]) -> Equation:
    """The determinant of a square matrix of polynomials."""
    total: Terms = {}
    for order in permutations(range(len(rows))):
        sign = (-1) ** sum(order[i] > order[j] for i, j in combinations(range(len(order)), 2))
        product = _times(*(row[column] for row, column in zip(rows, order, strict=True)))
        total = _plus(total, _scaled(sign, product))
    return Equation(total).primitive()


def _resultant(first: tuple[int, int], second: tuple[int, int]) -> Equation:
    """The Sylvester resultant of two forms y_{c,b} as binary quadratic forms in the first two variables."""
    p, q = ([_y(*form, 0, 0), _y(*form, 0, 1), _y(*form, 1, 1)] for form in (first, second))
    zero: Terms = {}
    return determinant([[*p, zero], [zero, *p], [*q, zero], [zero, *q]])


def _dependent(forms: Sequence[tuple[int, int]]) -> Equation:
    """The determinant of the coefficients of three forms as binary quadratic forms."""
    return determinant([[_y(*form, 0, 0), _y(*form, 0, 1), _y(*form, 1, 1)] for form in forms])


def _slice_determinant() -> Equation:
    """The determinant of the symmetric matrix (2y_{ii} on the diagonal) of y_{1,1} in three variables."""
    rows = [[_scaled(2 if i == k else 1, _y(0, 0, i, k)) for k in range(3)] for i in range(3)]
    return determinant(rows)


def _flattening_minor(columns: Sequence[Index], rank: int) -> Callable[[], Equation]:
    """A minor of the matrix with rows b and columns (c, {i, k})."""

    def make() -> Equation:
        return determinant([[_y(c, b, i, k) for c, i, k in columns] for b in range(rank + 1)])

    return make


NAMED_EQUATIONS: tuple[NamedEquation, ...] = (
    NamedEquation(
        "2×2 minors of the matrix of quadratic forms y_(c,b) = V_c·A_b",
        ((1, 1), (1, 1), (4,)),
        lambda: determinant([[_y(c, b, 0, 0) for b in (0, 1)] for c in (0, 1)]),
    ),
    NamedEquation(
        "3×3 minors of the slices: every form y_(c,b) has rank at most 2",
        ((3,), (3,), (2, 2, 2)),
        _slice_determinant,
    ),
    NamedEquation(
        "3×3 minors: on any two-dimensional subspace the forms of one row are dependent",
        ((3,), (1, 1, 1), (3, 3)),
        lambda: _dependent([(0, 0), (0, 1), (0, 2)]),
    ),
    NamedEquation(
        "3×3 minors: on any two-dimensional subspace the forms of one column are dependent",
        ((1, 1, 1), (3,), (3, 3)),
        lambda: _dependent([(0, 0), (1, 0), (2, 0)]),
    ),
    NamedEquation(
        "resultants of two forms of one row, on any two-dimensional subspace",
        ((4,), (2, 2), (4, 4)),
        lambda: _resultant((0, 0), (0, 1)),
    ),
    NamedEquation(
        "resultants of two forms of one column, on any two-dimensional subspace",
        ((2, 2), (4,), (4, 4)),
        lambda: _resultant((0, 0), (1, 0)),
    ),
)

#: Highest weight vectors among the minors of the flattening with rows b and columns (c, {i, k}), of size α
#: + 1.
FLATTENING_MINORS: tuple[NamedEquation, ...] = (
    NamedEquation("", ((2,), (1, 1), (3, 1)), _flattening_minor([(0, 0, 0), (0, 0, 1)], 1)),
    NamedEquation("", ((3,), (1, 1, 1), (4, 1, 1)), _flattening_minor([(0, 0, 0), (0, 0, 1), (0, 0, 2)], 2)),
)


def name_of(shapes: tuple[Partition, ...], layer: SingleLayer) -> str:
    """What the minimal generators in this component say in words; empty where there is no name.

    Where μ = (1, ..., 1) has α + 1 parts and degree α + 1, all of the polynomial ring is Λ^{α+1}F ⊗
    Λ^{α+1}(E ⊗ S²U), the minors of size α + 1 of the flattening with rows b, which has rank at most α as
    the columns of A do.
    """
    if layer.t == 1:
        return ""
    for named in NAMED_EQUATIONS:
        if named.shapes == shapes:
            return named.statement
    if len(shapes[1]) == layer.alpha + 1 == sum(shapes[1]):
        size = layer.alpha + 1
        meaning = f"the columns of A span at most {layer.alpha} dimensions"
        return f"{size}×{size} minors of the flattening with rows b: {meaning}"
    return ""
