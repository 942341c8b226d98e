r"""The named invariants of one layer, in our coordinates, and the modules they span.

For d' = 1 they are those of Alexandr, Duan, Montúfar: *Algebraic Invariants of Lightning Self-Attention*
(2026). For t ≥ 2 their coefficient of x_{i,n} x_{k,n} x_{b,j} for tokens n ≠ j is our y_{1,b,{i,k}}, up to
the number of orderings; their linear relations express the others (n = j) by these, so that none is left
here. Write y_b for the quadratic form of column b of A, and F for the matrix whose rows are these d forms:
F = AᵀL, with L = L(V) the matrix of multiplication by the linear form V. Then

- *low-rank minors*: the minors of size a + 1 of F;
- *cross-column cubics*: the 3×3 minors of the symmetric matrix of Σ_b c_b y_b, all coefficients in c;
- *context syzygies*: linear relations among the maximal minors of F, which are det A times those of L;
- *Veronese minors*, r = 2, ..., min(a, d): the r×r minors of F in the variables of I, \|I\| = r, give the
  products of A_{I,J}, an r×r minor of A, with all monomials of degree r in V_i, i ∈ I; the catalecticant of
  these monomials, concatenated over all J, has rank one;
- *quartic resultants*: Σ c_b y_b and Σ c'_b y_b have the factor V in common, so that their resultant vanishes
  on every plane, all coefficients; here on the planes through a coordinate vector, and on all.

At t = 1 (*Chow type*) the coordinates are the coefficients of one cubic form f = V(x)·xᵀAx:

- *low-rank matrix*: the minors of size 2a + 2 of N, where N_{k,l} is the coefficient of x_k² x_l, three times
  that if k = l: N = s Vᵀ + 2 diag(V) S, with S the symmetric part of A and s its diagonal;
- *Lie minors*: the maximal minors of the Lie flattening, whose rows are the d² - 1 images of f under sl(d).

All are built for one layer, each is checked to vanish by exact expansion, and their spans are compared with
the modules of minimal generators by exact ranks, one torus weight at a time.

For t ≥ 2 and every d' the families of :mod:`agattn.geometry.ideal.named_families` are compared, too. Each is
one irreducible module, so that it fills a module of minimal generators or has nothing new in it, and the
highest weight vectors tell.

>>> from agattn.architectures import SingleLayer, one_layer
>>> [(family.name, len(family.equations)) for family in families(SingleLayer(2, 1, 2))]
[('Veronese minors, r = 2', 1), ('quartic resultants', 1), ('quartic resultants, all planes', 1)]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from math import comb
from typing import Any

import flint

from agattn.algebra.characters import Partition, module_name
from agattn.algebra.echelon import independent_columns, primitive, sparse_rows
from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable, all_minors
from agattn.algebra.scalars import is_exact, scalars, unread
from agattn.architectures import SingleLayer, one_layer
from agattn.errors import InputError, TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.ideal.equations import (
    HIGHEST_WEIGHT,
    PARTITIONS,
    PROVED,
    Equation,
    EquationModule,
    independent,
    multiples,
    relations,
)
from agattn.geometry.ideal.generators import follows_from
from agattn.geometry.ideal.ideal import Ideal, compute_ideal
from agattn.geometry.ideal.named_families import NamedFamily, named_families, second_derivatives
from agattn.geometry.ideal.torus_weights import TorusWeight, smallest_layer
from agattn.geometry.variety.coordinates import coordinates
from agattn.limits import takes
from agattn.sheet.result import UNSET, Count, Described, Key, Named, Positive, Result, UnsetType

#: The families are written out up to this width.
LARGEST_WIDTH = 4

#: And minors of the Lie flattening up to this.
LARGEST_WIDTH_OF_MINORS = 3

Rows = Sequence[Sequence[Polynomial]]


@dataclass(frozen=True)
class EquationFamily:
    """One family of invariants of a layer: linearly independent equations of one degree that span it."""

    name: str
    degree: int
    equations: tuple[Equation, ...]

    def by_weight(self) -> dict[TorusWeight, list[Equation]]:
        """The equations by their torus weight."""
        return _by_weight(self.equations)


def families(layer: SingleLayer, max_degree: int = 8) -> tuple[EquationFamily, ...]:
    """The families of one layer up to a degree, without empty families.

    Each equation is proved to vanish on the neuromanifold.

    Raises:
        InputError: if the layer has several outputs, for which there are no such families here.
        TooLargeError: if d is above ``LARGEST_WIDTH``.
        ArithmeticError: if an equation does not vanish, which would be an error in this program.
    """
    if layer.d_out > 1:
        raise InputError(f"the named invariants are for d' = 1, not for {layer.name}")
    if layer.d > LARGEST_WIDTH:
        raise TooLargeError(f"the named invariants are written out for d ≤ {LARGEST_WIDTH}, not {layer.d}")
    wanted = _for_orbits(layer.d, layer.alpha) if layer.has_orbits else _for_one_token(layer)
    found = []
    for name, degree, build in wanted:
        if degree <= max_degree and (equations := _basis(build(), type(layer))):
            for equation in equations:
                if not equation.vanishes_on(layer):
                    raise ArithmeticError(f"{name}: {equation} does not vanish on {layer}")
            found.append(EquationFamily(name, degree, tuple(equations)))
    return tuple(found)


def _for_orbits(d: int, a: int) -> list[tuple[str, int, Any]]:
    """Names, degrees and polynomials of the families for t ≥ 2."""
    wanted: list[tuple[str, int, Any]] = []
    if a < d:
        wanted.append(("low-rank minors", a + 1, lambda: all_minors(_flattening(d), a + 1)))
    wanted.append(("cross-column cubics", 3, lambda: _cross_column(d)))
    wanted.append(("context syzygies", d, lambda: _context_syzygies(d)))
    wanted += [(f"Veronese minors, r = {r}", 2 * r, lambda r=r: _veronese(d, r)) for r in range(2, a + 1)]
    wanted.append(("quartic resultants", 4, lambda: _resultants(d)))
    wanted.append(("quartic resultants, all planes", 4, lambda: _resultants_on_all_planes(d)))
    return wanted


def _for_one_token(layer: SingleLayer) -> list[tuple[str, int, Any]]:
    d, size = layer.d, 2 * layer.a + 2
    wanted: list[tuple[str, int, Any]] = []
    if size <= d:
        wanted.append(("low-rank matrix", size, lambda: all_minors(_square_terms(d), size)))
    if lie_flattening(layer).rank < d * d - 1 and d <= LARGEST_WIDTH_OF_MINORS:
        wanted.append(
            ("Lie minors", d * d - 1, lambda: all_minors(_lie_images(d, _cubic_ring(d).gens), d * d - 1))
        )
    return wanted


def spanned(family: EquationFamily, module: EquationModule, layer: SingleLayer, lowest: bool = False) -> int:
    """How many dimensions of a module lie in the span of a family, modulo equations of lower degree.

    Exact: a rank over ℤ for each torus weight. 0 if the degrees differ. With ``lowest`` there are known to be
    no equations of lower degree, and none are looked for.

    >>> from agattn.geometry.ideal.ideal import compute_ideal
    >>> layer = SingleLayer(2, 1, 2)
    >>> [module] = compute_ideal(layer, 4).generators
    >>> [spanned(family, module, layer) for family in families(layer)]
    [1, 1, 1]
    """
    if family.degree != module.degree:
        return 0
    own, total = family.by_weight(), 0
    for weight, equations in _by_weight(module).items():
        if weight in own:
            known = own[weight] + ([] if lowest else [*multiples(layer, weight)])
            total += len(equations) + _rank(known) - _rank(known + equations)
    return total


class LieFlattening(Result):
    """The images of a cubic form in d variables under sl(d) as a matrix, and its largest rank on M̄, t = 1."""

    rows: Key[Count, "d² - 1."]
    columns: Key[Positive, "C(d + 2, 3), the number of cubic monomials."]
    rank: Key[Count, "The largest rank on the closure of the neuromanifold."]
    evidence: Key[Evidence, "Always `proved`: an exact rank at a point of the dense orbit.", PROVED] = (
        Evidence.PROVED
    )

    def summary(self) -> str:
        """The size and the rank."""
        then = (
            f"; all minors of size {self.rank + 1} vanish" if self.rank < min(self.rows, self.columns) else ""
        )
        return f"Lie flattening, {self.rows}×{self.columns}: rank {self.rank} on M̄{then}"


def lie_flattening(layer: SingleLayer) -> LieFlattening:
    """The Lie flattening of a layer with t = 1 and d' = 1.

    The rank is proved: with β = min(d, 2a) the orbit of x_d (x_1² + ... + x_β²) under GL(d, ℂ) is dense in M̄,
    and the rank is the same on an orbit, and nowhere larger in its closure.

    >>> print(lie_flattening(SingleLayer(4, 1, 2, t=1)))
    Lie flattening, 15×20: rank 12 on M̄; all minors of size 13 vanish
    """
    d, beta = layer.d, min(layer.d, 2 * layer.a)
    squares = {tuple(sorted((i, i, d))) for i in range(1, beta + 1)}
    cubic = [int(index[1:] in squares) for index in coordinates(layer)]
    rows = _lie_images(d, cubic)
    return LieFlattening(d * d - 1, len(cubic), int(flint.fmpz_mat(rows).rank()) if rows else 0)


class SpannedModule(Result):
    """A module of minimal generators, and how much of it a family spans."""

    degree: Key[Positive, "The degree of the equations."]
    shapes: Key[tuple[Partition, ...], HIGHEST_WEIGHT, Named("highest_weight"), PARTITIONS]
    dimension: Key[Positive, "The dimension of the module."]
    spanned: Key[Count, "How many of its equations lie in the span, modulo equations of lower degree."]


class SpannedByFamily(Result):
    """What a family of named invariants spans; ``otherwise`` says where it is if it spans no module."""

    family: Key[str, "The name of the family; `all together` in the last entry."]
    equations: Key[Count, "The number of linearly independent equations in it."]
    modules: Key[tuple[SpannedModule, ...], "The modules of minimal generators of its degree, if computed."]
    evidence: Key[Evidence, "Always `proved`: exact expansions and ranks.", PROVED] = Evidence.PROVED
    vanishes: Key[
        bool | UnsetType, "Whether all of them vanish at the coefficients given; with `--coefficients` only."
    ] = UNSET
    otherwise: str = "in the ideal of lower degrees"

    def summary(self) -> str:
        """The family in a line."""
        parts = [f"{m.spanned} of {m.dimension} {module_name(m.shapes)}" for m in self.modules if m.spanned]
        at = {True: "; vanishes at y", False: "; does not vanish at y", UNSET: ""}
        return f"{self.family}, {self.equations}: {', '.join(parts) or self.otherwise}{at[self.vanishes]}"


@dataclass(frozen=True, repr=False)
class FamilyComparison(Described):
    """Which modules of minimal generators each family spans, and all families together.

    Attributes:
        layer: the layer.
        max_degree: to which the modules are known.
        spans: for each family of the literature, and last for all of them, the modules of its degree with
            the number of their dimensions that lie in its span, modulo equations of lower degree; none if
            d' > 1.
        flattening: at t = 1, the Lie flattening.
        named: the same as ``spans`` for the families of one formula each, for t ≥ 2.
        unnamed: the modules of minimal generators in none of the latter.
    """

    layer: SingleLayer
    max_degree: int
    spans: tuple[SpannedByFamily, ...] = ()
    flattening: LieFlattening | None = None
    named: tuple[SpannedByFamily, ...] = ()
    unnamed: tuple[EquationModule, ...] = ()

    def summary(self) -> str:
        """What each family spans, in a line each."""
        lines = []
        if self.spans:
            lines.append("named invariants, and how much of each module they span modulo lower degrees")
            lines += [f"  {row}" for row in (*self.spans, *filter(None, [self.flattening]))]
        if self.layer.has_orbits:
            lines.append(
                "families of one formula each, and how much of each module they span modulo lower degrees"
            )
            left = ", ".join(map(str, self.unnamed)) or "none"
            none = f"modules to degree {self.max_degree} in no family: {left}"
            lines += [f"  {row}" for row in (*self.named, none)]
        return "\n".join(lines)


def last_degree(layer: SingleLayer, max_degree: int) -> int:
    """The last degree of the named families that are built for an ideal known up to a degree."""
    return 8 if layer.d < 4 else max_degree


@takes("seed", "force", "workers")
def invariants(layer: SingleLayer, max_degree: int = 4, *, coefficients: Any = None) -> FamilyComparison:
    """How much of the ideal of a layer each named family of equations spans.

    For d' = 1 these are the families named in the literature, and for t ≥ 2 also the families that one
    formula gives for every d and d'.

    Args:
        layer: one layer, with d' = 1 if t = 1; at t = 1 and d = 3 all is known up to degree 8.
        max_degree: the last degree of the equations that the invariants are compared with.
        coefficients: N exact compact coefficients y: each family then tells whether it vanishes at y.
        seed: of the ideal, as for :func:`agattn.ideal`.

    Raises:
        InputError: for a network, for t = 1 if d' is not 1, or if the coefficients are not exact or not N.
        TooLargeError: beyond the limits on sizes; with coefficients, if d is above ``LARGEST_WIDTH``.

    See Also:
        :func:`agattn.ideal`, :func:`agattn.hilbert_function`; ``agattn ideal --invariants`` in a shell.

    >>> import agattn as ag
    >>> print(ag.invariants(ag.SingleLayer(2, 1)))
    named invariants, and how much of each module they span modulo lower degrees
      Veronese minors, r = 2, 1: 1 of 1 S(4)⊗S(2,2)⊗S(4,4)
      quartic resultants, 1: 1 of 1 S(4)⊗S(2,2)⊗S(4,4)
      quartic resultants, all planes, 1: 1 of 1 S(4)⊗S(2,2)⊗S(4,4)
      all together, 3: 1 of 1 S(4)⊗S(2,2)⊗S(4,4)
    families of one formula each, and how much of each module they span modulo lower degrees
      resultants of a row, 1: 1 of 1 S(4)⊗S(2,2)⊗S(4,4)
      modules to degree 4 in no family: none
    """
    one = one_layer(layer, "named invariants", "its equations are ag.ideal(network)")
    ideal = compute_ideal(one, max_degree)
    return compare(ideal, last_degree(one, ideal.max_degree), coefficients)


def compare(ideal: Ideal, max_degree: int = 8, coefficients: Any = None) -> FamilyComparison:
    """Compare the named families up to a degree with the modules of minimal generators that an ideal has.

    Args:
        ideal: of a layer.
        max_degree: the last degree of the families of the literature.
        coefficients: as for :func:`invariants`.

    Raises:
        InputError: as :func:`families`.
        TooLargeError: as :func:`families`.
    """
    layer = ideal.layer
    at = None if coefficients is None else _point_of(layer, coefficients)
    named, unnamed = _compare_named(ideal, at) if layer.has_orbits else ((), ())
    if layer.d_out > 1 and layer.has_orbits:
        return FamilyComparison(layer, ideal.max_degree, named=named, unnamed=unnamed)
    # In a degree without equations the ranks are full modulo a prime, so that there are none over ℚ either.
    first = next((piece.degree for piece in ideal.degrees if piece.ideal_dimension), 0)
    every, spans = families(layer, max_degree), []
    for family in every:
        vanishes = UNSET if at is None else not any(f.value(at) for f in family.equations)
        modules = [module for module in ideal.generators if module.degree == family.degree]
        row = _row(
            family.name,
            len(family.equations),
            [(module, spanned(family, module, layer, module.degree == first)) for module in modules],
            vanishes,
        )
        if family.degree > ideal.max_degree:
            row = row.replace(otherwise=f"of degree {family.degree}, where modules are not computed")
        elif not any(m.spanned for m in row.modules) and (new := _new(family, layer, family.degree == first)):
            row = row.replace(otherwise=f"{new} in a sum of modules, in none alone")
        spans.append(row)
    together = [
        (module, spanned(_union(every, module.degree), module, layer, module.degree == first))
        for module in ideal.generators
    ]
    vanishes = UNSET if at is None else all(row.vanishes for row in spans)
    total = _row("all together", sum(row.equations for row in spans), together, vanishes)
    spans.append(total.replace(otherwise="as above"))
    flattening = None if layer.has_orbits else lie_flattening(layer)
    return FamilyComparison(layer, ideal.max_degree, tuple(spans), flattening, named, unnamed)


def _point_of(layer: SingleLayer, coefficients: Any) -> dict[tuple[int, ...], int]:
    """A multiple of the coefficients with whole numbers, by the indices of the coordinates."""
    values = scalars(unread(coefficients, "coefficients"), "coefficients").ravel()
    if not is_exact(values):
        raise InputError("the coefficients are in floating point; give whole numbers or fractions")
    if values.size != layer.ambient_dimension:
        raise InputError(
            f"there are {values.size} coefficients; {layer.name} has N = {layer.ambient_dimension}"
        )
    if layer.d > LARGEST_WIDTH:
        raise TooLargeError(f"families are evaluated for d ≤ {LARGEST_WIDTH}, not {layer.d}")
    return dict(zip(coordinates(layer), primitive(list(map(Fraction, values.tolist()))), strict=True))


def _compare_named(
    ideal: Ideal, point: Mapping[tuple[int, ...], int] | None
) -> tuple[tuple[SpannedByFamily, ...], tuple[EquationModule, ...]]:
    """The families of one formula each, and the minors of the flattening; and the modules in none of them."""
    layer, rows, left = ideal.layer, [], list(ideal.generators)
    forms = None if point is None else second_derivatives(point, layer.gl_sizes)

    def compared(name: str, degree: int, count: int, filled: Sequence[EquationModule], zero: Any) -> None:
        modules = [(m, m.dimension * (m in filled)) for m in ideal.generators if m.degree == degree]
        rows.append(_row(name, count, modules, zero))
        left[:] = [module for module in left if module not in filled]

    for family in named_families():
        if family.degree > ideal.max_degree or not family.fits(layer.gl_sizes):
            continue
        if not family.highest.vanishes_on(smallest_layer(family.shapes, layer)):
            raise ArithmeticError(f"{family} does not vanish on {layer}")
        vanishes = UNSET if forms is None else family.vanishes_at(forms)
        filled = [module for module in ideal.generators if _fills(family, module, layer)]
        compared(family.name, family.degree, family.dimension(layer.gl_sizes), filled, vanishes)
    size = layer.alpha + 1
    if size <= min(layer.d, ideal.max_degree):
        vanishes = UNSET if point is None else _flattening_rank(layer, point) <= layer.alpha
        filled = [module for module in ideal.generators if module.shapes[1] == (1,) * size]
        count = comb(layer.d, size) * comb(layer.ambient_dimension // layer.d, size)
        compared("minors of the flattening with rows b", size, count, filled, vanishes)
    return tuple(rows), tuple(left)


def _fills(family: NamedFamily, module: EquationModule, layer: SingleLayer) -> bool:
    """Whether a module of minimal generators lies in the family, modulo equations of lower degree."""
    if family.shapes != module.shapes:
        return False
    same = family.highest.terms == module.highest.primitive().terms
    return same or follows_from(module.highest, [family.highest], layer)


def _row(
    name: str, count: int, parts: Iterable[tuple[EquationModule, int]], vanishes: bool | UnsetType
) -> SpannedByFamily:
    modules = (SpannedModule(m.degree, m.shapes, m.dimension, part) for m, part in parts)
    return SpannedByFamily(name, count, tuple(modules), vanishes=vanishes)


def _flattening_rank(layer: SingleLayer, point: Mapping[tuple[int, ...], int]) -> int:
    """The rank of the matrix with row b = all coefficients of all y_{c,b}."""
    rows = [[value for index, value in point.items() if index[1] == b] for b in range(1, layer.d + 1)]
    return int(flint.fmpz_mat(rows).rank())


def _new(family: EquationFamily, layer: SingleLayer, lowest: bool) -> int:
    """The dimension of the span modulo equations of lower degree."""
    if lowest:
        return len(family.equations)
    lower = [(equations, [*multiples(layer, weight)]) for weight, equations in family.by_weight().items()]
    return sum(_rank(known + equations) - _rank(known) for equations, known in lower)


def _union(found: Iterable[EquationFamily], degree: int) -> EquationFamily:
    same = (family.equations for family in found if family.degree == degree)
    return EquationFamily("all together", degree, tuple(equation for part in same for equation in part))


# The families ----------------------------------------------------------------------------------------------


@cache
def _ring(d: int) -> PolynomialRing:
    """The coordinates, then c, c', p and q, of which coefficients are taken."""
    more = [Variable(letter, (n,)) for letter in "cepq" for n in range(1, d + 1)]
    return PolynomialRing([Variable("y", index) for index in coordinates(SingleLayer(d, 1))] + more)


def _parameters(d: int, place: int) -> tuple[Polynomial, ...]:
    start = len(coordinates(SingleLayer(d, 1))) + place * d
    return _ring(d).gens[start : start + d]


@cache
def _forms(d: int) -> dict[tuple[int, ...], Polynomial]:
    """y_b[i, k], i ≤ k, by (b, i, k), counted from 0."""
    indices = (tuple(x - 1 for x in index[1:]) for index in coordinates(SingleLayer(d, 1)))
    return dict(zip(indices, _ring(d).gens, strict=False))


def _pairs(among: Iterable[int]) -> list[tuple[int, ...]]:
    return list(combinations_with_replacement(among, 2))


def _flattening(d: int, columns: Iterable[int] | None = None, among: Iterable[int] | None = None) -> Rows:
    """F, or its part for some columns of A and products of some variables."""
    columns, among = columns or range(d), among or range(d)
    return [[_forms(d)[b, i, k] for i, k in _pairs(among)] for b in columns]


def _sum(polynomials: Iterable[Polynomial], d: int) -> Polynomial:
    return sum(polynomials, start=_ring(d).zero())


def _pencil(d: int, place: int) -> dict[tuple[int, ...], Polynomial]:
    """Σ c_b y_b: the coefficient of u_i u_k, by i ≤ k."""
    c = _parameters(d, place)
    return {(i, k): _sum((c[b] * _forms(d)[b, i, k] for b in range(d)), d) for i, k in _pairs(range(d))}


def _cross_column(d: int) -> Iterator[Polynomial]:
    form = _pencil(d, 0)
    matrix = [[form[min(i, k), max(i, k)] * (1 + (i == k)) for k in range(d)] for i in range(d)]
    return all_minors(matrix, 3)


def _multiplication(d: int, among: Sequence[int]) -> Rows:
    """The rows i of L(V): V·u_i in the products of the variables among, in variables v_i of their own."""
    ring = PolynomialRing([Variable("v", (i + 1,)) for i in range(d)])
    v, zero = ring.gens, ring.zero()
    return [[v[k if i == j else i] if j in (i, k) else zero for i, k in _pairs(among)] for j in among]


def _context_syzygies(d: int) -> Iterator[Polynomial]:
    values = [minor.integer_terms for minor in all_minors(_multiplication(d, range(d)), d)]
    minors = list(all_minors(_flattening(d), d))
    for relation in relations(values):
        yield _sum((m * x for m, x in zip(minors, primitive(relation), strict=True) if x), d)


def _veronese(d: int, r: int) -> Iterator[Polynomial]:
    for inner in combinations(range(d), r):
        values = [minor.integer_terms for minor in all_minors(_multiplication(d, inner), r)]
        monomials = sorted({key for value in values for key in value})
        matrix = flint.fmpz_mat([[value.get(key, 0) for key in monomials] for value in values])
        chosen = independent_columns(matrix.transpose())
        square = flint.fmpq_mat([matrix.tolist()[place] for place in chosen])
        inverse = square.inv().numer_denom()[0].tolist()  # one common denominator, which does not matter
        entries: dict[tuple[Any, tuple[int, ...]], Polynomial] = {}
        for columns in combinations(range(d), r):
            minors = list(all_minors(_flattening(d, columns, inner), r))
            for key, row in zip(monomials, inverse, strict=True):
                parts = (minors[place] * int(x) for place, x in zip(chosen, row, strict=True) if x)
                entries[key, columns] = _sum(parts, d)
        lower = {tuple(x - (i == j) for j, x in enumerate(key)) for key in monomials for i in inner if key[i]}
        blocks = list(product(sorted(lower), combinations(range(d), r)))
        yield from all_minors(
            [
                [entries[tuple(x + (i == j) for j, x in enumerate(key)), columns] for key, columns in blocks]
                for i in inner
            ],
            2,
        )


def _resultants(d: int) -> Iterator[Polynomial]:
    """On the planes through e_k and any p."""
    p = _parameters(d, 2)
    for k in range(d):
        yield _resultant(d, _point(d, {k: None}), _point(d, {i: p[i] for i in range(d) if i != k}))


def _resultants_on_all_planes(d: int) -> Iterator[Polynomial]:
    """On the planes through e_1 + p and e_2 + q, with p and q in the other directions: almost all planes."""
    p, q = _parameters(d, 2), _parameters(d, 3)
    others = range(2, d)
    yield _resultant(
        d, _point(d, {0: None} | {i: p[i] for i in others}), _point(d, {1: None} | {i: q[i] for i in others})
    )


def _point(d: int, entries: dict[int, Polynomial | None]) -> list[Polynomial]:
    """A vector with these entries, ``None`` for 1, and else 0."""
    one, zero = _ring(d).one(), _ring(d).zero()
    return [(entries[i] or one) if i in entries else zero for i in range(d)]


def _resultant(d: int, p: Sequence[Polynomial], q: Sequence[Polynomial]) -> Polynomial:
    """The resultant of Σ c_b y_b and Σ c'_b y_b on the plane through p and q."""
    (f0, f1, f2), (g0, g1, g2) = (
        (
            _sum((x * p[i] * p[k] for (i, k), x in form.items()), d),
            _sum((x * (p[i] * q[k] + p[k] * q[i]) for (i, k), x in form.items()), d),
            _sum((x * q[i] * q[k] for (i, k), x in form.items()), d),
        )
        for form in (_pencil(d, 0), _pencil(d, 1))
    )
    ends = f0 * g2 - f2 * g0
    return ends * ends - (f0 * g1 - f1 * g0) * (f1 * g2 - f2 * g1)


@cache
def _cubic_ring(d: int) -> PolynomialRing:
    return PolynomialRing(Variable("z", index) for index in coordinates(SingleLayer(d, 1, t=1)))


def _square_terms(d: int) -> Rows:
    """N: the coefficients of x_k² x_l, the diagonal three times."""
    z: dict[tuple[int, ...], Polynomial] = {
        variable.indices[1:]: gen
        for variable, gen in zip(_cubic_ring(d).variables, _cubic_ring(d).gens, strict=True)
    }
    among = range(1, d + 1)
    return [[z[tuple(sorted((k, k, m)))] * (3 if k == m else 1) for m in among] for k in among]


def _lie_images(d: int, cubic: Sequence[Any]) -> list[list[Any]]:
    """The coefficients of the images of a cubic form under a basis of sl(d), from the form's own."""
    monomials = [index[1:] for index in coordinates(SingleLayer(d, 1, t=1))]
    z = dict(zip(monomials, cubic, strict=True))

    def image(r: int, s: int) -> list[Any]:  # under x_s ∂/∂x_r
        before = [tuple(sorted((*drop(m, s), r))) if s in m else m for m in monomials]
        return [z[b] * (b.count(r) if s in m else 0) for b, m in zip(before, monomials, strict=True)]

    def drop(m: tuple[int, ...], s: int) -> tuple[int, ...]:
        return m[: m.index(s)] + m[m.index(s) + 1 :]

    among = range(1, d + 1)
    diagonal = [[x - y for x, y in zip(image(r, r), image(r + 1, r + 1), strict=True)] for r in among[:-1]]
    return [image(r, s) for r in among for s in among if r != s] + diagonal


# Coefficients and ranks ------------------------------------------------------------------------------------


def _basis(polynomials: Iterable[Polynomial], kind: type[SingleLayer] = SingleLayer) -> list[Equation]:
    """A basis of the span of all coefficients with respect to c, c', p and q."""
    collected: dict[Any, Equation] = {}
    for polynomial in polynomials:
        names = [variable.indices for variable in polynomial.ring.variables if variable.letter == kind.letter]
        parts: defaultdict[Any, dict[Any, int]] = defaultdict(dict)
        for exponents, x in polynomial.integer_terms.items():
            pairs = zip(names, exponents, strict=False)
            monomial = tuple(sorted(index for index, e in pairs for _ in range(e)))
            parts[exponents[len(names) :]][monomial] = x
        for terms in parts.values():
            equation = Equation(terms, kind).primitive()
            collected.setdefault(tuple(sorted(equation.terms.items())), equation)
    chosen = []
    for equations in _by_weight(collected.values()).values():
        chosen += (found := independent(equations))
        if len(found) != _rank(equations):
            raise ArithmeticError("a rank modulo a prime is not that over ℚ; another prime is needed")
    return chosen


def _by_weight(equations: Iterable[Equation]) -> dict[TorusWeight, list[Equation]]:
    found: defaultdict[TorusWeight, list[Equation]] = defaultdict(list)
    for equation in equations:
        found[equation.torus_weight].append(equation)
    return found


def _rank(equations: Sequence[Equation]) -> int:
    return int(sparse_rows([equation.terms for equation in equations]).rank()) if equations else 0
