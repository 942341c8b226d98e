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

**At given weights** of one layer, or at those of the heads of a checkpoint:

>>> given = parameters(K=[[1.0, 0], [0, 1e-3]], Q=[[1.0, 0], [0, 1]], V=[[1.0, 1e-2]])
>>> found = weights_coefficient(given, curve=True)
>>> print(found, found.deficit)
λ = 5/2, m = 1 (numerical) 5/2
>>> print("; ".join(map(str, found.curve)))
5/2 from 1e-12; 5/2 from 0.001; 9/4 from 0.005
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from msgspec import structs

from agattn.algebra.scalars import TOLERANCE, Array, as_floats, decide_rank, is_exact, matrix, scaled
from agattn.architectures import SingleLayer
from agattn.errors import InputError, TooLargeError, UndecidedError
from agattn.evidence import Evidence
from agattn.geometry.identifiability.weights import Weights, weights
from agattn.geometry.strata.strata import ZERO, ByStratum, Stratum, ranks_together
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide
from agattn.sheet.result import EXACTNESS, UNSET, Count, Key, Meta, Named, Positive, Result, UnsetType, key

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
        cls, stratum: Stratum, rank_k: int | None, rank_q: int | None, at: LearningCoefficient, **more: Any
    ) -> Self:
        """Weights with these ranks, and the coefficient there."""
        return cls(**structs.asdict(at), stratum=stratum, rank_k=rank_k, rank_q=rank_q, **more)

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
        least: by strata; of layers without points one stratum for each kind, as λ depends on r_V and r only
            through V = 0 and (1,1,1).
    """

    layer: Key[SingleLayer, "The layer.", Named("architecture")]
    softmax: bool
    points: Key[tuple[CoefficientPoint, ...], "All kinds of weights; empty for layers with very many."]
    least: Key[tuple[Least, ...], "The least λ of the functions of each stratum.", Named("global")]

    @key
    def normalization(self) -> Literal["none", "softmax"]:
        """The normalization of the head."""
        return "softmax" if self.softmax else "none"

    def summary(self) -> str:
        """From which λ to which."""
        values = sorted({least.value for least in self.least})
        return f"{self.layer}: {len(self.least)} strata, λ from {values[0]} to {values[-1]} (proved)"

    def sheet(self) -> Sheet:
        """The least λ of each function; in a terminal below all kinds of weights."""
        head = "softmax head" if self.softmax else "lightning layer"
        every = []
        for point in self.points:
            ranks = ("-" if rank is None else rank for rank in (point.rank_k, point.rank_q))
            every.append((str(point.stratum), *ranks, str(point.value), point.multiplicity))
        rows: list[tuple[Cell, ...]] = []
        for least in self.least:
            at, value = least.point, str(least.value)
            reached = str(at.stratum), at.rank_k or 0, at.rank_q or 0
            rows.append((str(least.stratum), value, least.multiplicity, *reached))
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
            (*((points,) if every else ()), Table(caption, headings, tuple(rows)), Note(legend)),
        )


def learning_coefficients(layer: SingleLayer, softmax: bool = False) -> LearningCoefficients:
    """λ and m at all kinds of weights of a layer, t ≥ 2, and the least ones for each function.

    Raises:
        InputError: if t = 1, where the ranks do not determine λ.
        TooLargeError: if A has more than :data:`MOST_RANKS` ranks.

    >>> found = learning_coefficients(SingleLayer(2, 1, 2))
    >>> for least in found.least:
    ...     print(least.stratum, least.point.coefficient)
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
    least = tuple(Least(truth, least_point(layer, truth, softmax)) for truth in truths)
    return LearningCoefficients(layer, softmax, tuple(points(layer, softmax)) if listed else (), least)


NOT_MINIMIZERS = (
    "Ranks of floating weights are decided at a tolerance, and trained weights are not exact minimizers of a"
    " loss: λ is that of the truth whose weights have these ranks."
)
Tolerance = Annotated[float, Meta(ge=0)]
Normalization = Literal["none", "softmax"]


class CurveStep(Result):
    """λ from a tolerance on."""

    tolerance: Key[Tolerance, "From this tolerance on, up to that of the next step."]
    value: Key[Fraction, "λ at these ranks.", Named("lambda")]

    def summary(self) -> str:
        """λ, and the tolerance from which on λ has this value."""
        return f"{self.value} from {self.tolerance:.2g}"


class AtWeights(CoefficientPoint, kw_only=True):
    """The learning coefficient at given weights."""

    deficit: Key[Fraction, "Half the number of parameters less λ."]
    curve: Key[tuple[CurveStep, ...] | UnsetType, "λ by the tolerance of ranks; with --curve only."] = UNSET


class AtHead(AtWeights, kw_only=True):
    """The learning coefficient at a head of a checkpoint."""

    layer: Key[Count, "The layer of the checkpoint, from 0."]
    head: Key[Count, "The head of the layer, from 0."]


class WeightsCoefficient(Result, name="rlct"):
    """The learning coefficient at the weights of one layer, with the layer."""

    layer: Key[SingleLayer, "The layer.", Named("architecture")]
    normalization: Key[Normalization, "The normalization of the head."]
    weights: Key[AtWeights, "λ at the weights in FILE."]

    def summary(self) -> str:
        """λ and m."""
        return str(self.weights)

    def sheet(self) -> Sheet:
        """The summands of λ."""
        layer, point = self.layer, self.weights
        at = f"; stratum {point.stratum}"
        if not layer.has_orbits:
            at = f", t = 1; rk V = {point.r_v}, rk A = {point.r_a}"
        if point.rank_k is not None:
            at += f", rk K = {point.rank_k}, rk Q = {point.rank_q}"
        lines = [f"{point}, of which", *(f"  {term.value!s:>6}  {term.reason}" for term in point.terms)]
        lines.append(f"{point.deficit} below half the number of parameters")
        tables = (replace(table, where="page") for table in point.sheet().tables)
        title = f"d = {layer.d}, d' = {layer.d_out}, a = {layer.a}{at}"
        return Sheet(title, (*tables, Note("\n".join(lines), apart=False), *_notes([(0, 0, point)])))


class HeadsCoefficients(Result, name="rlct"):
    """The learning coefficients of the heads of a checkpoint."""

    normalization: Key[Normalization, "The normalization of the heads."]
    tolerance: Key[Tolerance, "The tolerance with which ranks were decided."]
    heads: Key[tuple[AtHead, ...], "λ of each head of a checkpoint."]

    def summary(self) -> str:
        """How many heads there are."""
        return f"Learning coefficients of {len(self.heads)} heads"

    def sheet(self) -> Sheet:
        """A row for each head."""
        rows: list[tuple[Cell, ...]] = []
        for at in self.heads:
            ranks = (0 if rank is None else rank for rank in (at.r_v, at.r_a, at.r, at.rank_k, at.rank_q))
            rows.append((at.layer, at.head, *ranks, str(at.value), at.multiplicity, str(at.deficit)))
        headings = ("layer", "head", "rk V", "rk A", "r", "rk K", "rk Q", "λ", "m", "params/2 − λ")
        heads = [(at.layer, at.head, at) for at in self.heads]
        return Sheet("", (Table("", headings, tuple(rows)), *_notes(heads)))


def _notes(heads: Sequence[tuple[int, int, AtWeights]]) -> tuple[Note, ...]:
    """λ at every tolerance, where that was asked for, and what ranks to a tolerance mean."""
    lines = [
        f"layer {layer}, head {head}: λ = {'; '.join(map(str, at.curve))}"
        for layer, head, at in heads
        if at.curve is not UNSET
    ]
    if any(at.evidence is Evidence.NUMERICAL for *_, at in heads):
        lines.append(NOT_MINIMIZERS)
    return (Note("\n".join(lines), apart=False),) if lines else ()


@dataclass(frozen=True, eq=False)
class Parameters:
    """Weights of one layer as the parameters that they are: A or (K, Q), and V or (W_O, W_V)."""

    weights: Weights
    output: tuple[Array, Array] | None = None

    @property
    def layer(self) -> SingleLayer:
        """The layer, for t ≥ 2."""
        return SingleLayer(len(self.weights.A), len(self.weights.V), self.weights.a)

    @property
    def number(self) -> int:
        """The number of parameters."""
        w = self.weights
        arrays = [*((w.A,) if w.K is None else (w.K, w.Q)), *(self.output or (w.V,))]
        return sum(M.size for M in arrays if M is not None)

    @cached_property
    def spectra(self) -> dict[str, Array]:
        """Singular values of K, Q, A, W_O, W_V, V and [V; Aᵀ], its blocks scaled; relative to the largest.

        An A or V that is a product is reduced by isometries to its inner width first.

        >>> {name: values.tolist() for name, values in parameters(A=[[2.0]], V=[[0.5]]).spectra.items()}
        {'A': [1.0], 'V': [1.0], 'joint': [1.0]}
        """
        w = self.weights
        sizes = {name: _singular_values(M) for name, M in (("K", w.K), ("Q", w.Q)) if M is not None}
        A, V = w.A.T, w.V
        if w.K is not None and w.Q is not None:
            K, Q = (scaled(as_floats(M))[0] for M in (w.K, w.Q))
            A = np.linalg.qr(Q.T, mode="r") @ K
        if self.output is not None:
            W_O, W_V = (scaled(as_floats(M))[0] for M in self.output)
            sizes |= {"W_O": _singular_values(W_O), "W_V": _singular_values(W_V)}
            V = np.linalg.qr(W_O, mode="r") @ W_V
        blocks = [scaled(as_floats(M))[0] for M in (V, A)]
        of_v, of_a = map(_singular_values, blocks)
        joint = [block / (sigma[0] or 1.0) for block, sigma in zip(blocks, (of_v, of_a), strict=True)]
        sizes |= {"A": of_a, "V": of_v, "joint": _singular_values(np.concatenate(joint))}
        return {name: sigma / (sigma[0] or 1.0) for name, sigma in sizes.items()}


def parameters(*, V: Any = None, W_O: Any = None, W_V: Any = None, **attention: Any) -> Parameters:
    """Parameters from arrays K, Q (a × d) or A (d × d), and V (d' × d) or W_O (d' × b), W_V (b × d).

    Raises:
        InputError: if matrices are missing, do not fit, or have entries that are not finite numbers.

    >>> parameters(A=[[1, 0], [0, 1]], W_O=[[1]], W_V=[[1, 2]]).weights.V.tolist()
    [[Fraction(1, 1), Fraction(2, 1)]]
    """
    if (W_O is None) != (W_V is None) or (V is None) == (W_O is None):
        names = [name for name, M in (("V", V), ("W_O", W_O), ("W_V", W_V)) if M is not None]
        there = " and ".join(names) or "none of these"
        raise InputError(f"weights have either V, or W_O and W_V with V = W_O W_V; there is {there}")
    if V is not None:
        return Parameters(weights(V=V, **attention))
    W_O, W_V = matrix(W_O, "W_O"), matrix(W_V, "W_V")
    if W_O.shape[1] != len(W_V):
        shapes = [f"{len(M)} × {M.shape[1]}" for M in (W_O, W_V)]
        raise InputError(f"W_O is {shapes[0]} and W_V is {shapes[1]}; they must be d' × b and b × d")
    if not is_exact(W_O, W_V):
        W_O, W_V = as_floats(W_O), as_floats(W_V)
    return Parameters(weights(V=W_O @ W_V, **attention), (W_O, W_V))


def _singular_values(M: Array) -> Array:
    """The singular values of a scaled matrix; a long or wide matrix is first made small by an isometry."""
    M = scaled(as_floats(M))[0]
    M = M if len(M) > M.shape[1] else M.T
    sigma: Array = np.linalg.svd(np.linalg.qr(M, mode="r"), compute_uv=False)
    return sigma


def _ranks(given: Parameters, tolerance: float) -> dict[str, int]:
    """The ranks, exact or at a tolerance; those of products and of [V; Aᵀ] within what their parts allow."""
    w = given.weights
    if w.is_exact:
        matrices = {"V": w.V, "A": w.A, "joint": np.concatenate([w.V, w.A.T]), "K": w.K, "Q": w.Q}
        matrices |= dict(zip(("W_O", "W_V"), given.output or (), strict=False))
        return {name: decide_rank(M).rank for name, M in matrices.items() if M is not None}
    ranks = {name: int((sigma > tolerance).sum()) for name, sigma in given.spectra.items()}
    for product, left, right, inner in (
        ("A", "K", "Q", w.a),
        ("V", "W_O", "W_V", len(given.output[1]) if given.output else 0),
    ):
        if left in ranks:
            least = max(0, ranks[left] + ranks[right] - inner)
            ranks[product] = min(max(ranks[product], least), ranks[left], ranks[right])
    r_v, r_a = ranks["V"], ranks["A"]
    ranks["joint"] = min(max(ranks["joint"], r_v, r_a), len(w.A), r_v + r_a)
    return ranks


def weights_coefficient(
    given: Parameters, *, t: int = 2, softmax: bool = False, tolerance: float = TOLERANCE, curve: bool = False
) -> AtWeights:
    """λ and m at given weights, and how far λ is below half the number of parameters.

    Entries that are integers or rationals are exact, and λ is proved; for floats the ranks are the numbers of
    singular values above the tolerance, relative to the largest, and λ is numerical. Those of KᵀQ and of
    [V; Aᵀ] are kept within what the ranks of their parts allow.

    Args:
        given: the parameters; see :func:`parameters`.
        t: 1 for one token; otherwise every t ≥ 2 is the same.
        softmax: for a softmax head, t ≥ 2.
        tolerance: of the decisions for floats, above 0 and below 1.
        curve: take λ at every tolerance, too, t ≥ 2.

    Raises:
        InputError: if the tolerance makes no sense.
        UndecidedError: if t = 1 and the rows of K and Q together do not span ℝᵈ, where that matters.

    >>> point = weights_coefficient(parameters(K=[[1, 2]], Q=[[0, 1]], V=[[2, 4]]))
    >>> print(point.stratum, point.coefficient)
    (1,1,1) λ = 7/4, m = 1 (proved)
    >>> print(weights_coefficient(parameters(A=[[1, 2], [2, 3]], V=[[1, 0]]), t=1).coefficient)
    λ = 2, m = 1 (proved)
    """
    if not 0 < tolerance < 1:
        raise InputError(f"the tolerance is {tolerance}; it must be above 0 and below 1")
    if softmax and t == 1:
        raise InputError("with one token softmax is 1 and the layer is V x; give t ≥ 2")
    layer, output = given.layer, given.output
    evidence = Evidence.PROVED if given.weights.is_exact else Evidence.NUMERICAL
    ranks = _ranks(given, tolerance)
    stratum = Stratum(ranks["V"], ranks["A"], ranks["joint"])
    kinds = stratum, ranks.get("K"), ranks.get("Q")
    values = None
    if output is not None:
        sizes = (layer.d_out, layer.d, len(output[1]))
        values = MatrixProduct(*sizes, ranks["W_O"], ranks["W_V"], ranks["V"])
    if t == 1:
        coefficient = _one_token(given.weights, ranks, values, tolerance, evidence)
    else:
        coefficient = layer_coefficient(layer, *kinds, values=values, softmax=softmax, evidence=evidence)
    steps = tolerance_curve(given, softmax=softmax) if curve else ()
    return AtWeights.at(
        *kinds,
        coefficient,
        deficit=Fraction(given.number, 2) - coefficient.value,
        curve=tuple(CurveStep(start, at.value) for start, at in steps) if curve else UNSET,
    )


def _one_token(
    w: Weights, ranks: Mapping[str, int], values: MatrixProduct | None, tolerance: float, evidence: Evidence
) -> LearningCoefficient:
    """λ and m at t = 1, where φ = V·S with the quadratic form S = xᵀAx, and S is free near the weights."""
    d, S = len(w.A), w.A + w.A.T
    rank_s = decide_rank(S, tolerance).rank
    V = free_entries("V", len(w.V), d) if values is None else factored("V = W_O W_V", values)
    if rank_s and not ranks["V"]:
        return together([V], evidence=evidence)  # ‖φ‖ is comparable with ‖V‖, whatever K and Q are
    if w.K is not None and w.Q is not None:
        both = [M if is_exact(M) else scaled(M)[0] for M in (w.K, w.Q)]
        spanned = decide_rank(np.concatenate(both), tolerance).rank
        if spanned < d:
            raise UndecidedError(
                f"the rows of K and Q span {spanned} of {d} dimensions, so A + Aᵀ is not free near them;"
                " λ of one token is not known there"
            )
    A = LearningCoefficient((Term(Fraction(d * (d + 1), 4), f"the {d * (d + 1) // 2} entries of A + Aᵀ"),), 1)
    if not rank_s:
        return together([A], evidence=evidence) if ranks["V"] else smaller(A, V, evidence)
    terms = [Term(Fraction(-1, 2), "(sA, V/s) is the same function")]
    if d > 1 and ranks["V"] == 1 and _divides(w.V, S, tolerance):
        power, name = (3, "cubes") if rank_s == 1 else (2, "products")
        lost = Fraction(1 - d, 2) * (1 - Fraction(1, power))
        form = "S = cV²" if rank_s == 1 else "S = V·g"
        terms.append(Term(lost, f"{form}: d − 1 = {d - 1} coordinates enter by their {name} alone"))
    return together([V, A], *terms, evidence=evidence)


def _divides(V: Array, S: Array, tolerance: float) -> bool:
    """Whether the linear form of V, of rank one, divides the quadratic form S: S is 0 where V is."""
    row = max(V.tolist(), key=lambda row: max(map(abs, row)))
    pivot = max(range(len(row)), key=lambda i: abs(row[i]))
    kernel = [
        [int(i == j) - (row[i] / row[pivot]) * (j == pivot) for j in range(len(row))] for i in range(len(row))
    ]
    basis = np.array([vector for i, vector in enumerate(kernel) if i != pivot], dtype=S.dtype)
    restricted = basis @ S @ basis.T
    return not restricted.any() if is_exact(S) else np.abs(restricted).max() <= tolerance * np.abs(S).max()


def tolerance_curve(given: Parameters, *, softmax: bool = False) -> list[tuple[float, CoefficientPoint]]:
    """λ of floating weights at every tolerance from 1e-12 to 1/2, t ≥ 2.

    Each point is that from its tolerance on, up to the next one.

    >>> given = parameters(K=[[1.0, 0], [0, 1e-3]], Q=[[1.0, 0], [0, 1]], V=[[1.0, 1e-2]])
    >>> [(f"{tau:.0e}", str(point.coefficient.value)) for tau, point in tolerance_curve(given)]
    [('1e-12', '5/2'), ('1e-03', '5/2'), ('5e-03', '9/4')]
    """
    values = np.concatenate(list(given.spectra.values()))
    curve: list[tuple[float, CoefficientPoint]] = []
    for start in [1e-12, *np.unique(values[(values > 1e-12) & (values < 0.5)]).tolist()]:
        point = weights_coefficient(given, softmax=softmax, tolerance=start)
        if not curve or point.ranks != curve[-1][1].ranks:
            curve.append((start, point))
    return curve
