r"""Verified equations of M̄ of one torus weight, and their gradients at a point.

The ideal of M̄ is graded by ℤ^{d'} × ℤ^d × ℤ^d: the coordinate y_{c,b,{i,k}} has weight e_c + f_b + g_i + g_k.
All equations of degree n and of a given weight are the kernel of an integer matrix: expand every monomial of
that weight in the entries of A and V (or of K, Q and V, where the rank of A matters) and ask which
combinations cancel. The expansion is exact over ℤ, so every equation found is verified, and all are found.

>>> [equation] = equations_of_weight(Weight((1, 1), (1, 2), (1, 1, 1, 2)), rank=1)
>>> print(equation)
y_{1,1,{1,1}}·y_{1,2,{1,2}} - y_{1,1,{1,2}}·y_{1,2,{1,1}}
>>> equations_of_weight(Weight((1, 1), (1, 2), (1, 1, 1, 2)), rank=2)
()
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement, product
from math import gcd, lcm

import flint

from agattn.algebra.echelon import kernel_basis
from agattn.architectures import SingleLayer
from agattn.geometry.variety.coordinates import Coordinate, coordinates

Monomial = tuple[Coordinate, ...]
"""A product of coordinates, sorted, with repetition."""

Point = Mapping[Coordinate, int]
"""The nonzero coordinates of a point."""

MAX_DEGREE = 4
"""The largest degree searched for gradients: that of the resultant which cuts out M(2,1,2)."""


@dataclass(frozen=True)
class Weight:
    """A degree n and a torus weight: sorted indices c (n of them), b (n) and i, k (2n), with repetition."""

    outer: tuple[int, ...]
    column: tuple[int, ...]
    inner: tuple[int, ...]

    @property
    def degree(self) -> int:
        """The degree n of the polynomials."""
        return len(self.outer)

    @classmethod
    def of(cls, monomial: Monomial) -> Weight:
        """The weight of a product of coordinates.

        >>> Weight.of(((1, 2, 1, 3), (1, 1, 2, 2)))
        Weight(outer=(1, 1), column=(1, 2), inner=(1, 2, 2, 3))
        """
        return cls(
            tuple(sorted(c for c, *_ in monomial)),
            tuple(sorted(b for _, b, *_ in monomial)),
            tuple(sorted(index for *_, i, k in monomial for index in (i, k))),
        )


@dataclass(frozen=True)
class Equation:
    """A homogeneous polynomial in the coordinates y with coprime integer coefficients, vanishing on M̄.

    Attributes:
        terms: (monomial, coefficient), sorted by monomial.
    """

    terms: tuple[tuple[Monomial, int], ...]

    @property
    def weight(self) -> Weight:
        """The torus weight of all its monomials."""
        return Weight.of(self.terms[0][0])

    @property
    def degree(self) -> int:
        """The degree."""
        return len(self.terms[0][0])

    def value(self, point: Point) -> int:
        """The value at a point."""
        return sum(coefficient * _evaluate(monomial, point) for monomial, coefficient in self.terms)

    def gradient(self, point: Point) -> dict[Coordinate, int]:
        """The nonzero partial derivatives at a point.

        >>> [equation] = equations_of_weight(Weight((1, 1), (1, 2), (1, 1, 1, 2)), rank=1)
        >>> equation.gradient({(1, 1, 1, 2): 1})
        {(1, 2, 1, 1): -1}
        """
        result: Counter[Coordinate] = Counter()
        for monomial, coefficient in self.terms:
            if sum(name not in point for name in monomial) > 1:
                continue  # every derivative of it vanishes at the point
            for position, name in enumerate(monomial):
                rest = monomial[:position] + monomial[position + 1 :]
                result[name] += coefficient * _evaluate(rest, point)
        return {name: value for name, value in sorted(result.items()) if value}

    def relabel(
        self, outer: Mapping[int, int], column: Mapping[int, int], inner: Mapping[int, int]
    ) -> Equation:
        """The equation with the indices c, b and i, k renamed injectively, again one of M̄."""

        def rename(name: Coordinate) -> Coordinate:
            c, b, i, k = name
            one, other = sorted((inner[i], inner[k]))
            return outer[c], column[b], one, other

        return Equation(
            tuple(sorted((tuple(sorted(map(rename, monomial))), x) for monomial, x in self.terms))
        )

    def __str__(self) -> str:
        pieces = []
        for monomial, coefficient in self.terms:
            factors = []
            for (c, b, i, k), power in Counter(monomial).items():
                factors.append(f"y_{{{c},{b},{{{i},{k}}}}}" + (f"^{power}" if power > 1 else ""))
            size = [str(abs(coefficient))] if abs(coefficient) != 1 else []
            sign = "-" if coefficient < 0 else "+"
            pieces.append(f"{sign} {'·'.join([*size, *factors])}")
        return " ".join(pieces).removeprefix("+ ")


def _evaluate(monomial: Monomial, point: Point) -> int:
    value = 1
    for name in monomial:
        value *= point.get(name, 0)
        if not value:
            break
    return value


def monomials_of_weight(weight: Weight) -> list[Monomial]:
    """All products of coordinates of a weight, sorted.

    >>> len(monomials_of_weight(Weight((1, 1), (1, 2), (1, 1, 2, 2))))
    3
    """
    found: set[Monomial] = set()

    def extend(
        chosen: Monomial, outer: tuple[int, ...], column: tuple[int, ...], inner: tuple[int, ...]
    ) -> None:
        if not outer:
            found.add(tuple(sorted(chosen)))
            return
        # The first inner index has to go somewhere: choosing its factor first meets each product few times.
        i, others = inner[0], inner[1:]
        for k in sorted(set(others)):
            for c, b in product(sorted(set(outer)), sorted(set(column))):
                name = (c, b, i, k)
                extend((*chosen, name), _without(outer, c), _without(column, b), _without(others, k))

    extend((), weight.outer, weight.column, weight.inner)
    return sorted(found)


def _without(values: tuple[int, ...], value: int) -> tuple[int, ...]:
    position = values.index(value)
    return values[:position] + values[position + 1 :]


Expansion = dict[tuple[tuple[str, int, int], ...], int]


def expand(monomial: Monomial, rank: int | None) -> Expansion:
    """The monomial as an integer polynomial in the entries of A and V, or of K, Q and V with ``rank`` rows.

    Keys are sorted products of entries such as ``("A", 1, 2)`` for A_{1,2}; with A = KᵀQ the entry A_{k,b} is
    Σ_l K_{l,k}·Q_{l,b}.

    >>> expand(((1, 2, 1, 3),), None)
    {(('A', 1, 2), ('V', 1, 3)): 1, (('A', 3, 2), ('V', 1, 1)): 1}
    >>> expand(((1, 2, 1, 1),), 1)
    {(('K', 1, 1), ('Q', 1, 2), ('V', 1, 1)): 1}
    """
    total: Counter[tuple[tuple[str, int, int], ...]] = Counter({(): 1})
    for c, b, i, k in monomial:
        factor: list[tuple[tuple[str, int, int], ...]] = []
        for one, other in sorted({(i, k), (k, i)}, reverse=True):
            V = ("V", c, one)
            if rank is None:
                factor.append((("A", other, b), V))
            else:
                factor.extend((("K", row, other), ("Q", row, b), V) for row in range(1, rank + 1))
        step: Counter[tuple[tuple[str, int, int], ...]] = Counter()
        for entries, coefficient in total.items():
            for extra in factor:
                step[tuple(sorted(entries + extra))] += coefficient
        total = step
    return dict(total)


def equations_of_weight(weight: Weight, rank: int) -> tuple[Equation, ...]:
    """A basis of all equations of M̄ of one weight, for attention dimension ``rank``.

    Restricting A and V to the indices in the weight maps M̄ onto the M̄ of those indices, so d and d' do not
    matter as long as they contain them. Nor does the rank where at most ``rank`` columns or rows of A take
    part.

    >>> len(equations_of_weight(Weight((1, 2), (1, 2), (1, 1, 2, 2)), rank=2))
    1
    """
    maps = [_canonical(indices) for indices in (weight.outer, weight.column, weight.inner)]
    canonical = Weight(
        *(
            tuple(sorted(rename[x] for x in indices))
            for rename, indices in zip(maps, (weight.outer, weight.column, weight.inner), strict=True)
        )
    )
    effective = None if rank >= min(len(maps[1]), len(maps[2])) else rank
    back = [{value: key for key, value in rename.items()} for rename in maps]
    return tuple(equation.relabel(*back) for equation in _canonical_equations(canonical, effective))


def _canonical(indices: tuple[int, ...]) -> dict[int, int]:
    """Rename indices to 1, 2, ... by falling multiplicity."""
    count = Counter(indices)
    return {x: n for n, x in enumerate(sorted(count, key=lambda x: (-count[x], x)), start=1)}


@cache
def _canonical_equations(weight: Weight, rank: int | None) -> tuple[Equation, ...]:
    monomials = monomials_of_weight(weight)
    rows: dict[tuple[tuple[str, int, int], ...], int] = {}
    entries = []
    for column, monomial in enumerate(monomials):
        for key, coefficient in expand(monomial, rank).items():
            entries.append((rows.setdefault(key, len(rows)), column, coefficient))
    matrix = flint.fmpq_mat(len(rows), len(monomials))
    for row, column, coefficient in entries:
        matrix[row, column] = coefficient
    found = []
    for vector in kernel_basis(matrix):
        scale = lcm(*(int(x.q) for x in vector))
        integers = [int((x * scale).p) for x in vector]
        # The sign makes the first coefficient positive.
        divisor = gcd(*integers) * (-1 if next(x for x in integers if x) < 0 else 1)
        terms = zip(monomials, integers, strict=True)
        found.append(Equation(tuple((monomial, x // divisor) for monomial, x in terms if x)))
    return tuple(found)


def gradient_equations(
    layer: SingleLayer, point: Point, max_degree: int = MAX_DEGREE, rank: int | None = None
) -> Iterator[Equation]:
    """Verified equations of M̄ whose gradients at a sparse point span all gradients of the degrees searched.

    A gradient at p sees only monomials m·y_j with m a product of coordinates that are nonzero at p, so only
    the weights wt(m) + wt(j) matter; nothing of other weights is looked at. They come in order of degree.

    Args:
        layer: the layer, with t ≥ 2.
        point: the nonzero coordinates of p.
        max_degree: the largest degree n searched.
        rank: the attention dimension; by default the layer's α. A larger one gives equations of a larger
            variety, which vanish on M̄ too.
    """
    support = sorted(point)
    for degree in range(2, max_degree + 1):
        seen: set[Weight] = set()
        for chosen in combinations_with_replacement(support, degree - 1):
            for name in coordinates(layer):
                weight = Weight.of((*chosen, name))
                if weight not in seen:
                    seen.add(weight)
                    for equation in equations_of_weight(weight, layer.alpha if rank is None else rank):
                        if equation.gradient(point):
                            yield equation
