r"""Learning coefficients of one attention layer, exactly: λ and its multiplicity m at every weight.

The *local learning coefficient* at weights w₀ is the real log canonical threshold λ of
‖φ(w) − φ(w₀)‖² there, with multiplicity m: the volume of {‖φ(w) − φ(w₀)‖² < ε} near w₀ is of the order of
ε^λ (log 1/ε)^(m−1), and the free energy of singular learning theory is nS_n + λ log n − (m − 1) log log n
(Watanabe). For one layer, lightning or softmax, both depend on a few ranks alone. The page on learning
coefficients has the theorem with its proof; here are the formulas, each summand with its reason.

A matrix that is free has 2λ = number of its entries. One that is a product P·Q of inner width h₀, at factors
of ranks κ and ρ, has, with p = rows − κ, n = columns − ρ and h = h₀ − κ − ρ + rk PQ,

.. math:: R = \text{rows}·\text{columns} − pn + \min_{0 ≤ s ≤ \min(h,n)} \bigl((h−s)(n−s) + ps\bigr),

and m is the number of minimizing s.

>>> from agattn import SingleLayer
>>> from agattn.geometry.strata.strata import Stratum
>>> layer = SingleLayer(3, 2, 2)
>>> boundary = layer_coefficient(layer, Stratum(1, 1, 1), rank_k=1, rank_q=1)
>>> print(boundary)
λ = 11/2, m = 2 (proved)
>>> for term in boundary.terms:
...     print(term)
3: the 2·3 entries of V
5/2: A = KᵀQ: 5 entries are free
1: A = KᵀQ: a (2×1)(1×2) product at zero; the least of (1−s)(2−s) + 2s is 2, at s = 0, 1
-1/2: (sA, V/s) is the same function
-1/2: d − 1 = 2 coordinates enter by their products alone
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any, Literal, NamedTuple, Self

from msgspec import structs

from agattn.architectures import SingleLayer
from agattn.errors import InputError, TooLargeError
from agattn.evidence import Evidence
from agattn.geometry.strata.strata import ZERO, ByStratum, Stratum, ranks_together
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide
from agattn.sheet.result import EXACTNESS, Count, Key, Named, Positive, Result, key

#: Tables list no more points than this; larger layers have their least coefficients alone.
MOST_POINTS = 20_000
#: Of layers with A of more ranks not even those are listed.
MOST_RANKS = 5_000


class Term(Result):
    """A summand of λ and its reason."""

    value: Key[Fraction, "A fraction; the values of all terms add up to λ."]
    reason: Key[str, "Where the term comes from."]

    def summary(self) -> str:
        """The summand, and its reason."""
        return f"{self.value}: {self.reason}"


class LearningCoefficient(Result):
    """λ and m at one point; the terms add up to λ."""

    terms: Key[tuple[Term, ...], "The summands of λ."]
    multiplicity: Key[Positive, "The multiplicity m of λ."]
    evidence: Key[Evidence, "`proved` where what was given is exact, else `numerical`.", EXACTNESS] = (
        Evidence.PROVED
    )

    @key(name="lambda")
    def value(self) -> Fraction:
        """The learning coefficient λ, a fraction such as `9/4`."""
        return sum((term.value for term in self.terms), Fraction(0))

    def summary(self) -> str:
        """λ and m, and how they are known."""
        return f"λ = {self.value}, m = {self.multiplicity} ({self.evidence})"

    def sheet(self) -> Sheet:
        """The summands with their reasons."""
        rows: tuple[tuple[Cell, ...], ...] = tuple((str(term.value), term.reason) for term in self.terms)
        return Sheet(self.summary(), (Table(self.summary(), ("part of λ", Wide("why")), rows),))


class ProductAtZero(NamedTuple):
    """2Λ₀ of a product (p×h)(h×n) at zero factors, and the s at which the least competitor is attained."""

    twice: int
    least_at: tuple[int, ...]

    @property
    def multiplicity(self) -> int:
        """The number of least competitors, 1 or 2."""
        return len(self.least_at)


def product_at_zero(p: int, n: int, h: int) -> ProductAtZero:
    """The learning coefficient of ‖BC‖² at B = 0 (p × h), C = 0 (h × n), for p, n, h ≥ 0.

    2Λ₀ is the least of (h−s)(n−s) + ps over 0 ≤ s ≤ min(h, n), the number of singular values of C that stay
    away from zero. It is convex in s, so two neighbours of its real minimum are looked at. Equal to Aoyagi
    and Watanabe, *Stochastic complexities of reduced rank regression in Bayesian estimation* (2005), at true
    rank 0; the page on learning coefficients has a proof.

    >>> product_at_zero(2, 2, 1)
    ProductAtZero(twice=2, least_at=(0, 1))
    >>> product_at_zero(3, 0, 2).twice
    0
    """
    middle = min(max((h + n - p) // 2, 0), min(h, n))
    values = {s: (h - s) * (n - s) + p * s for s in range(middle, min(middle + 1, h, n) + 1)}
    least = min(values.values())
    return ProductAtZero(least, tuple(s for s, value in values.items() if value == least))


class MatrixProduct(NamedTuple):
    """A matrix that is a product of two, by its sizes and the ranks of both factors and of the product."""

    rows: int
    columns: int
    inner: int
    left: int
    right: int
    rank: int

    @property
    def product(self) -> tuple[int, int, int]:
        """(p, n, h): the sizes of the product at zero which is left when free coordinates are split off."""
        spare = self.inner - self.left - self.right + self.rank
        return self.rows - self.left, self.columns - self.right, spare


def free_entries(name: str, rows: int, columns: int) -> LearningCoefficient:
    """A matrix that is free."""
    term = Term(Fraction(rows * columns, 2), f"the {rows}·{columns} entries of {name}")
    return LearningCoefficient((term,), 1)


def factored(name: str, f: MatrixProduct) -> LearningCoefficient:
    """The germ of a product of two matrices."""
    p, n, h = f.product
    if min(p, n, h, f.rank, f.left - f.rank, f.right - f.rank) < 0:
        raise InputError(
            f"there are no factors {f.rows} × {f.inner} and {f.inner} × {f.columns} of ranks {f.left} and"
            f" {f.right} with a product of rank {f.rank}"
        )
    free = f.rows * f.columns - p * n
    terms = [Term(Fraction(free, 2), f"{name}: {free} entries are free")] if free else []
    zero = product_at_zero(p, n, h)
    if p * n:
        if h:
            least = ", ".join(map(str, zero.least_at))
            at = f"the least of ({h}−s)({n}−s) + {p}s is {zero.twice}, at s = {least}"
            reason = f"a ({p}×{h})({h}×{n}) product at zero; {at}"
        else:
            reason = f"the other {p}·{n} vanish, as the inner dimension is used up"
        terms.append(Term(Fraction(zero.twice, 2), f"{name}: {reason}"))
    return LearningCoefficient(tuple(terms), zero.multiplicity)


def together(
    blocks: list[LearningCoefficient], *more: Term, evidence: Evidence = Evidence.PROVED
) -> LearningCoefficient:
    """The sum of ideals in different variables: λ adds up, and m − 1 adds up."""
    terms = tuple(term for block in blocks for term in block.terms)
    return LearningCoefficient((*terms, *more), 1 + sum(b.multiplicity - 1 for b in blocks), evidence)


def smaller(A: LearningCoefficient, V: LearningCoefficient, evidence: Evidence) -> LearningCoefficient:
    """The product of ideals in different variables: the smaller λ; where both λ are equal, m adds up."""
    equal, less = A.value == V.value, min(A, V, key=lambda block: block.value)
    m = A.multiplicity + V.multiplicity if equal else less.multiplicity
    which = "which are equal" if equal else f"that of {'A' if less is A else 'V'}"
    reason = f"‖φ‖ is comparable with ‖V‖·‖A‖: the smaller of {A.value} for A and {V.value} for V, {which}"
    return LearningCoefficient((*less.terms, Term(Fraction(0), reason)), m, evidence)


def layer_coefficient(
    layer: SingleLayer,
    orbit: Stratum,
    rank_k: int | None = None,
    rank_q: int | None = None,
    *,
    values: MatrixProduct | None = None,
    softmax: bool = False,
    evidence: Evidence = Evidence.PROVED,
) -> LearningCoefficient:
    """λ and m at weights with these ranks, t ≥ 2.

    Args:
        layer: the layer; its d, d' and a.
        orbit: (rk V, rk A, rk [V; Aᵀ]), where also A or V may be 0.
        rank_k, rank_q: the ranks κ of K and ρ of Q, A = KᵀQ; without them A itself is the parameter.
        values: the factorization V = W_O W_V; without it V itself is the parameter.
        softmax: for one softmax head instead of a lightning one.
        evidence: how the ranks are known.

    Raises:
        InputError: if t = 1, or there are no weights with these ranks.

    >>> str(layer_coefficient(SingleLayer(2, 1, 2), Stratum(1, 1, 1), 1, 1))
    'λ = 9/4, m = 2 (proved)'
    >>> str(layer_coefficient(SingleLayer(3, 2, 2), Stratum(2, 2, 3), 2, 2, softmax=True))
    'λ = 7, m = 1 (proved)'
    """
    if not layer.has_orbits:
        raise InputError(
            "t is 1; for one token give weights: λ depends there on more than the ranks of K, Q, A and V"
        )
    d, d_out, (r_v, r_a, r) = layer.d, layer.d_out, orbit.as_json()
    if not (0 <= r_v <= min(d, d_out) and 0 <= r_a <= d and r in ranks_together(layer, r_v, r_a)):
        raise InputError(f"there are no V ({d_out} × {d}) and A ({d} × {d}) with the ranks {orbit}")
    if rank_k is None or rank_q is None:
        A = free_entries("A", d, d)
    else:
        A = factored("A = KᵀQ", MatrixProduct(d, d, layer.a, rank_k, rank_q, r_a))
    V = free_entries("V", d_out, d) if values is None else factored("V = W_O W_V", values)
    if softmax:
        return together([V, A] if r_v else [V], evidence=evidence)
    if not r_v or not r_a:
        if r_v or r_a:
            return together([A if r_v else V], evidence=evidence)
        return smaller(A, V, evidence)
    terms = [Term(Fraction(-1, 2), "(sA, V/s) is the same function")]
    if r == 1 < d:
        reason = f"d − 1 = {d - 1} coordinates enter by their products alone"
        terms.append(Term(Fraction(1 - d, 4), reason))
    return together([V, A], *terms, evidence=evidence)


class CoefficientPoint(ByStratum, LearningCoefficient, extensible=True, kw_only=True):
    """The learning coefficient at weights that are given by their ranks."""

    stratum: Stratum
    rank_k: Key[Count | None, "The rank of K; null where A itself is the parameter."]
    rank_q: Key[Count | None, "The rank of Q; null where A itself is the parameter."]

    @classmethod
    def at(
        cls, stratum: Stratum, rank_k: int | None, rank_q: int | None, known: LearningCoefficient, **more: Any
    ) -> Self:
        """Weights with these ranks, and the coefficient there."""
        return cls(**structs.asdict(known), stratum=stratum, rank_k=rank_k, rank_q=rank_q, **more)

    @property
    def coefficient(self) -> LearningCoefficient:
        """The learning coefficient, without the ranks."""
        return LearningCoefficient(self.terms, self.multiplicity, self.evidence)

    @property
    def ranks(self) -> tuple[Stratum, int | None, int | None]:
        """The stratum, and the ranks of K and Q."""
        return self.stratum, self.rank_k, self.rank_q


def _factor_ranks(layer: SingleLayer, r_a: int) -> Iterator[tuple[int, int]]:
    """The ranks that K and Q can have where KᵀQ has rank r_A."""
    for rank_k in range(r_a, layer.alpha + 1):
        for rank_q in range(r_a, min(layer.alpha, layer.a - rank_k + r_a) + 1):
            yield rank_k, rank_q


def points(layer: SingleLayer, softmax: bool = False) -> Iterator[CoefficientPoint]:
    """All kinds of weights of a layer, t ≥ 2: the orbits of (V, A) times the ranks of K and Q.

    >>> [str(point.coefficient.value) for point in points(SingleLayer(1, 2))]
    ['1/2', '1/2', '1/2', '1', '1/2', '1/2', '1/2', '1']
    """
    for at in _kinds(layer):
        yield CoefficientPoint.at(*at, layer_coefficient(layer, *at, softmax=softmax))


def _kinds(layer: SingleLayer) -> Iterator[tuple[Stratum, int, int]]:
    for r_v in range(min(layer.d_out, layer.d) + 1):
        for r_a in range(layer.alpha + 1):
            for r in ranks_together(layer, r_v, r_a):
                for ranks in _factor_ranks(layer, r_a):
                    yield Stratum(r_v, r_a, r), *ranks


def least_point(layer: SingleLayer, truth: Stratum, softmax: bool = False) -> CoefficientPoint:
    """The weights with the least λ, and then the greatest m, among all that have a given function, t ≥ 2.

    They have rk K = rk Q = r_A: the others over a function are moved by GL(a), K ↦ gK and Q ↦ g⁻ᵀQ, towards
    such weights, which changes neither λ nor m; and in a limit λ does not grow, nor m fall where λ is the
    same.

    Args:
        truth: the stratum of the function, where (0,0,0) is the function 0. A softmax head determines (A, V)
            wherever V ≠ 0, so there r_A = 0 is a stratum too.

    >>> point = least_point(SingleLayer(3, 2, 2), Stratum(0, 0, 0))
    >>> str(point.stratum), str(point.coefficient)
    ('(0,0,0)', 'λ = 5/2, m = 1 (proved)')
    """
    if not truth.is_zero or (softmax and truth.r_v):
        orbits = [truth]
    else:  # one orbit for each pair of ranks: λ does not depend on r where φ = 0
        value_ranks = [0] if softmax else [0, 1]
        orbits = [Stratum(r_v, r_a, r_v + r_a) for r_v in value_ranks for r_a in range(2) if not r_v * r_a]
    ranks = [(orbit, orbit.r_a, orbit.r_a) for orbit in orbits]
    candidates = (CoefficientPoint.at(*at, layer_coefficient(layer, *at, softmax=softmax)) for at in ranks)
    return min(candidates, key=lambda point: (point.value, -point.multiplicity))


class Least(ByStratum, Result):
    """The weights of least λ of a function, by its stratum; that of the function 0 is (0,0,0)."""

    stratum: Stratum
    point: CoefficientPoint

    @key(name="lambda")
    def value(self) -> Fraction:
        """The least learning coefficient over all weights with this function."""
        return self.point.value

    @key
    def multiplicity(self) -> Positive:
        """The greatest multiplicity where λ is least."""
        return self.point.multiplicity

    def summary(self) -> str:
        """The stratum and the coefficient."""
        return f"{self.stratum}: {self.point}"


class LearningCoefficients(Result, name="rlct"):
    """The learning coefficients of a layer, t ≥ 2.

    Attributes:
        softmax: whether it is a softmax head.
        least: the stratum of each function with its weights of least λ. Layers without points have one
            stratum for each kind: λ depends on r_V and r only through V = 0 and (1,1,1).
    """

    layer: Key[SingleLayer, "The layer.", Named("architecture")]
    softmax: bool
    points: Key[tuple[CoefficientPoint, ...], "All kinds of weights; empty for layers with very many."]
    least: tuple[tuple[Stratum, CoefficientPoint], ...]

    @key
    def normalization(self) -> Literal["none", "softmax"]:
        """The normalization of the head."""
        return "softmax" if self.softmax else "none"

    @key(name="global")
    def of_functions(self) -> list[Least]:
        """The least λ of the functions of each stratum."""
        return [Least(*row) for row in self.least]

    def summary(self) -> str:
        """From which λ to which."""
        values = sorted({point.value for _, point in self.least})
        return f"{self.layer}: {len(self.least)} strata, λ from {values[0]} to {values[-1]} (proved)"

    def sheet(self) -> Sheet:
        """The least λ of each function; in a terminal below all kinds of weights."""
        head = "softmax head" if self.softmax else "lightning layer"
        every = []
        for point in self.points:
            ranks = ("-" if rank is None else rank for rank in (point.rank_k, point.rank_q))
            every.append((str(point.stratum), *ranks, str(point.value), point.multiplicity))
        least: tuple[tuple[Cell, ...], ...] = tuple(
            (str(truth), str(p.value), p.multiplicity, str(p.stratum), p.rank_k or 0, p.rank_q or 0)
            for truth, p in self.least
        )
        legend = (
            "stratum: (rk V, rk A, rk [V; Aᵀ]); λ: learning coefficient, m: its multiplicity. Below: the"
            " least λ over all weights of a function;\n(0,0,0) is the function 0. Proved: see the page on"
            " learning coefficients for the theorem."
        )
        if not self.points:
            legend += "\nOne stratum for each kind is shown: "
            legend += "λ depends on rk V and r only through V = 0 and (1,1,1)."
        points = Table("", ("stratum", "rk K", "rk Q", "λ", "m"), tuple(every), where="terminal")
        caption = f"Least learning coefficient of each function of {self.layer}"
        headings = ("function", "λ", "m", "attained at", "rk K", "rk Q")
        return Sheet(
            f"{self.layer}; {head}, {self.layer.parameters} parameters in (K, Q, V)",
            (*((points,) if every else ()), Table(caption, headings, least), Note(legend)),
        )


def learning_coefficients(layer: SingleLayer, softmax: bool = False) -> LearningCoefficients:
    """λ and m at all kinds of weights of a layer, t ≥ 2, and the least ones for each function.

    Raises:
        InputError: if t = 1, where the ranks do not determine λ.
        TooLargeError: if A has more than :data:`MOST_RANKS` ranks.

    >>> found = learning_coefficients(SingleLayer(2, 1, 2))
    >>> for truth, point in found.least:
    ...     print(truth, point.coefficient)
    (0,0,0) λ = 1, m = 1 (proved)
    (1,1,1) λ = 9/4, m = 2 (proved)
    (1,1,2) λ = 5/2, m = 2 (proved)
    (1,2,2) λ = 5/2, m = 1 (proved)
    >>> len(found.points)
    23
    """
    if layer.alpha > MOST_RANKS:
        raise TooLargeError(f"{layer.name} has an A of up to {layer.alpha} ranks; the limit is {MOST_RANKS}")
    listed = sum(1 for _ in islice(_kinds(layer), MOST_POINTS + 1)) <= MOST_POINTS
    largest = min(layer.d_out, layer.d)
    truths = [ZERO]
    for r_v in range(1, largest + 1) if listed else sorted({1, largest}):
        for r_a in range(0 if softmax else 1, layer.alpha + 1):
            ranks = ranks_together(layer, r_v, r_a)
            if listed:
                truths += [Stratum(r_v, r_a, r) for r in ranks]
            elif r_v == largest or (r_a == 1 and not softmax):
                truths += [Stratum(r_v, r_a, r) for r in {ranks[0], ranks[-1]} if r == ranks[-1] or r_v == 1]
    least = tuple((truth, least_point(layer, truth, softmax)) for truth in truths)
    return LearningCoefficients(layer, softmax, tuple(points(layer, softmax)) if listed else (), least)
