r"""What the function of a model determines at general weights, and what proves it.

Let φ be the function of a model, f a function of its weights, and J, D their differentials at general
weights. Weights with one function are a smooth variety there with the tangent space ker J, so f is constant
on it near the weights if and only if D is 0 on ker J: if the rank of (J, D) is that of J. In general f moves
in

    free = rank (J, D) − rank J

directions. Modulo a prime both ranks are found at a random point. What is proved by what:

- *free ≥ k*: a minor of (J, D) that is not 0 modulo p, against a proved upper bound on rank J; or symmetries
  that are proved, along which f moves in k directions.
- *free ≤ k*: a minor of J that is not 0 modulo p, against a proved upper bound on rank (J, D). That bound is
  the number of parameters, minus the rank of symmetries that are proved to fix φ and f.
- *up to a factor*: Dv = λ(v)·f for all v in ker J. It is proved like free = 0, with the symmetries that are
  proved to change f by factors.
- *globally*: the general fiber is known to be irreducible, by a theorem. A function that is locally constant
  on it, or locally constant up to a factor, is constant on all of it, or constant up to a factor.

>>> from agattn.architectures import SingleLayer
>>> from agattn.architectures.functions import whole_array
>>> layer = SingleLayer(3, 2, 2)
>>> study = GeneralStudy(layer)
>>> for name in layer.shapes:
...     found = study.movement(whole_array(name, layer.shapes))
...     print(name, found.free, found.status, found.factors and found.factors.of)
K 4 not None
Q 4 not None
V 1 locally all
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from math import lcm, log2
from typing import Any, Literal

import numpy as np

from agattn.algebra.arithmetic import Array, ModularArithmetic
from agattn.algebra.graded_ideals import Monomial
from agattn.algebra.residues import (
    PRIME_BITS,
    Residues,
    RowSpace,
    chance_of_dividing,
    hadamard,
    random_prime,
    random_residues,
    rational_number,
)
from agattn.architectures import Architecture
from agattn.architectures.functions import WeightFunction
from agattn.architectures.model_file import STUDIED, Studied
from agattn.architectures.normalizer import raised
from agattn.architectures.protocol import as_parameters, bounds_on_outputs
from agattn.errors import DisagreementError
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import Dimension, dimension
from agattn.geometry.dimension.jacobian import check_size
from agattn.geometry.dimension.lie_algebra import MAX_TOKENS, at_monomials
from agattn.geometry.dimension.theorems import irreducible_fibers
from agattn.geometry.identifiability.families import differential
from agattn.geometry.identifiability.symmetries import (
    MOST_EXPONENTS,
    Change,
    DiscreteSymmetry,
    SymmetryFields,
    derivative,
    discrete_symmetries,
    prime_with_roots,
    proved_symmetries,
)
from agattn.limits import limits, log
from agattn.sheet.data import Cell, Note, Sheet, Table, Word
from agattn.sheet.result import PROVED_OR_MODULAR, Count, Key, Positive, Probability, Result, key


class Determination(Enum):
    """Whether the function of a model determines some of its parameters.

    ``UNDECIDED`` occurs at given weights only, where ranks do not decide.
    """

    GLOBALLY = "globally"
    LOCALLY = "locally"
    PARTLY = "partly"
    NOT = "not"
    UNDECIDED = "undecided"

    def __str__(self) -> str:
        return self.value


#: Up to what something is determined.
UpTo = Literal["factor", "sign", "root", "permutation"] | None
#: What has a factor of its own.
FactorOf = Literal["all", "matrix", "row", "column"] | None
#: How a status is called on a screen.
_WORDS = {Determination.PARTLY: "in part", Determination.NOT: "nonidentifiable"}


@dataclass(frozen=True, eq=False)
class Factors:
    """Blocks of entries that change by factors.

    Attributes:
        blocks: of each entry the number of its block.
        rates: λ(v) for each tangent vector, (vectors, blocks).
        of: which blocks these are.
    """

    blocks: Array
    rates: Residues
    of: FactorOf


class Determined(Result):
    """Whether the function of a model determines one array, or one function of the arrays."""

    name: Key[str, "The name of the array, or the function as it is printed."]
    entries: Key[Positive, "The number of entries of the array or function."]
    free: Key[
        Count,
        "In how many directions it moves while the function stays: so many entries can be chosen. At given"
        " weights a number that is not proved is a lower bound.",
    ]
    status: Key[
        Determination,
        "`globally`, `locally`, `partly` if some entries are determined, `not` if none is; up to `up_to`."
        " `undecided` occurs at given weights only.",
    ]
    evidence: Key[Evidence, "How the status is known.", PROVED_OR_MODULAR]
    free_evidence: Key[Evidence, "How the number of free entries is known.", PROVED_OR_MODULAR]
    determined: Key[Count, "The number of entries that are determined one by one."]
    reason: Key[str, "The argument, in words."]
    factors: Factors | None = None
    changes: tuple[tuple[UpTo, DiscreteSymmetry], ...] = ()

    @key
    def up_to(self) -> UpTo:
        """Up to what it is determined: a `factor`; a `sign`; a `root` of unity; a `permutation`. Null where
        nothing is known that changes it, and where it is not determined, or only in part."""
        return "factor" if self.factors else next((kind for kind, _ in self.changes), None)

    @key
    def factor_of(self) -> FactorOf:
        """Of a `factor` what has one of its own: `all` of it has one, or each `matrix`, `row` or `column`."""
        return self.factors.of if self.factors else None

    @key
    def changed_by(self) -> tuple[str, ...]:
        """The finite symmetries that change the array or function, beyond factors."""
        return tuple(str(symmetry) for _, symmetry in self.changes)

    @property
    def is_determined(self) -> bool:
        """Whether it is determined, up to what ``up_to`` says."""
        return self.status in (Determination.GLOBALLY, Determination.LOCALLY)

    @property
    def extent(self) -> str:
        """Up to what it is determined, in words; empty where nothing is known that changes it."""
        whole = self.factor_of == "all"
        words = {"factor": "a factor" if whole else f"a factor for each {self.factor_of}"}
        words["root"] = "a root of unity"
        extent = words.get(self.up_to or "", f"a {self.up_to}" if self.up_to else "")
        permuted = any(symmetry.name == "permutations" for _, symmetry in self.changes)
        if self.factors is None or not permuted:
            return extent
        return f"{extent}, and {'a permutation' if whole else 'their order'}"

    @property
    def word(self) -> str:
        """The status: ``globally``, ``locally``, ``in part``, ``nonidentifiable`` or ``undecided``."""
        return _WORDS.get(self.status, str(self.status))

    @property
    def answer(self) -> str:
        """The status, up to what, and how it is known."""
        up_to = f" up to {self.extent}" if self.extent else ""
        free = f", {self.free} of {self.entries} entries are free" if not self.is_determined else ""
        return f"{self.word}{up_to}{free} ({self.evidence})"

    def summary(self) -> str:
        """The answer in a line."""
        return f"{self.name}: {self.answer}"

    def cells(self) -> tuple[Cell, ...]:
        """The row of a table."""
        weaker = "" if self.free_evidence is Evidence.PROVED else f" ({self.free_evidence})"
        free = f"{self.free} of {self.entries}{weaker}"
        up_to = self.extent.replace(f"a factor for each {self.factor_of}", "factors") or "–"
        return self.name, self.word, up_to.replace("and their ", ""), free, Word(str(self.evidence))


class DeterminedFunction(Determined):
    """Whether the function of a model determines a product, a sum or another function of its arrays."""

    expression: Key[str, "The function, as `--functions` reads it."] = ""


class CommonFactor(Result):
    """What changes by powers of one factor."""

    names: Key[tuple[str, ...], "Arrays and functions."]
    exponents: Key[tuple[int, ...], "The exponent of the factor for each."]
    evidence: Key[Evidence, "How the exponents are known.", PROVED_OR_MODULAR]

    def summary(self) -> str:
        """The names with their factors."""
        parts = (f"{name} by {_power(k)}" for name, k in zip(self.names, self.exponents, strict=True))
        return f"one common factor s: {', '.join(parts)} ({self.evidence})"


def _power(exponent: int) -> str:
    return "s" if exponent == 1 else f"s{raised(exponent)}"


class KnownSymmetries(Result):
    """The symmetries that an answer uses."""

    dimension: Key[
        Count, "The dimension of the orbits of the connected group of linear symmetries that is known."
    ]
    discrete: Key[tuple[DiscreteSymmetry, ...], "Finite groups of symmetries beyond this group."]


class Identifiability(Result, name="identifiability"):
    """Which parameters of a model its function determines, and up to what.

    A row of ``parameters`` or ``functions`` can be taken by its name: ``found["K_1"]``.
    """

    architecture: Key[Studied, STUDIED]
    parameters: Key[tuple[Determined, ...], "The parameter arrays."]
    functions: Key[
        tuple[DeterminedFunction, ...],
        "Products of arrays that the model contracts with each other, then the functions that were named.",
    ]
    fiber_dimension: Key[
        Count,
        "The dimension of the set of weights with one function, near the weights. At given weights a number"
        " that is not proved is a lower bound.",
    ]
    fiber_evidence: Key[Evidence, "How the dimension of the fiber is known.", PROVED_OR_MODULAR]
    symmetries: Key[KnownSymmetries, "The symmetries that are known."]
    common_factors: Key[tuple[CommonFactor, ...], "Arrays and functions that change by powers of one factor."]
    theorem: Key[str | None, "The id of the theorem behind `globally`; null if there is none."]
    at_weights: Key[bool, "Whether the answers are about given weights; else about general weights."]
    error: Key[Probability, "If something is modular: a bound on the chance that a rank fell short; else 0."]
    field: Key[
        Literal["CC"],
        "The field: complex weights. `locally`, `partly` and `not` are the same over the reals.",
    ] = "CC"
    decided_by: Key[str | None, "Of a softmax network: the jet that decides, and why; else null."] = None

    @property
    def rows(self) -> tuple[Determined, ...]:
        """The arrays, then the functions."""
        return (*self.parameters, *self.functions)

    def __getitem__(self, name: str) -> Determined:
        for row in self.rows:
            if _plain(name) == _plain(row.name):
                return row
        raise KeyError(name)

    def summary(self) -> str:
        """The table: a line for each parameter."""
        width = max(len(row.name) for row in self.rows)
        title = f"{self.architecture.name}, {self._where}: {self._fiber}"
        return "\n".join([title, *(f"{row.name:<{width}}  {row.answer}" for row in self.rows)])

    @property
    def _where(self) -> str:
        return "at the weights" if self.at_weights else "at general weights"

    @property
    def _fiber(self) -> str:
        at_least = "at least " * (self.at_weights and self.fiber_evidence is not Evidence.PROVED)
        return f"the fiber has dimension {at_least}{self.fiber_dimension} ({self.fiber_evidence})"

    def sheet(self) -> Sheet:
        """A row for each array and each function, and what holds of several."""
        about = f"what the function determines {self._where}, over ℂ"
        tables = [_table("Arrays", "parameter", self.parameters)]
        if self.functions:
            tables.append(_table("Functions of the arrays", "function", self.functions))
        lines = [f"{row.name}: up to {row.extent}" for row in self.rows if "each" in row.extent]
        lines += [str(factor) for factor in self.common_factors]
        lines += [f"finite symmetries: {symmetry}" for symmetry in self.symmetries.discrete]
        if self.theorem:
            lines.append(f"globally: general fibers are irreducible, by {self.theorem}")
        if self.decided_by:
            lines.append(f"decided by a jet: {self.decided_by}")
        if self.error:
            lines.append(f"modular: wrong with probability below {self.error:.1e}")
        note = [Note("\n".join(lines))] if lines else []
        return Sheet(f"{self.architecture.name}: {about}; {self._fiber}", (*tables, *note))


def _plain(text: str) -> str:
    """A function without spaces, and with one sign for what has two."""
    for one, other in ((" ", ""), ("−", "-"), ("ᵀ", "^T"), ("Σ_", "sum_"), ("**", "⊗")):
        text = text.replace(one, other)
    return text


def _table(caption: str, first: str, rows: Sequence[Determined]) -> Table:
    headings = (first, "status", "up to", "free", "evidence")
    return Table(caption, headings, tuple(row.cells() for row in rows))


# Random points at which ranks are taken, and how many are drawn for these.
_POINTS, _DRAWN = 2, 6
_BY_FACTORS = "along fibers it changes by factors alone"


@dataclass(frozen=True)
class FiberPoint:
    """Weights modulo a prime, and vectors tangent to the fiber there, as rows.

    Attributes:
        evidence: how it is known that the vectors are tangent to the fiber.
    """

    p: int
    theta: Residues
    tangents: Residues
    evidence: Evidence = Evidence.MODULAR

    @cached_property
    def dimension(self) -> int:
        """The dimension that the vectors span."""
        return RowSpace(len(self.theta), self.p).add(self.tangents)

    @property
    def rank(self) -> int:
        """The rank of the differential, of which the vectors span the kernel."""
        return len(self.theta) - self.dimension

    def along(self, f: WeightFunction, what: str) -> tuple[Determined, Array]:
        """How f changes along the vectors, ``what`` in words, and which entries do; nothing is proved."""
        value, D = self.derivative(f)
        free, moved = RowSpace(f.size, self.p).add(D), D.any(axis=0)
        by = factors(f, value, D, self.p) if free else None
        still = 0 if by else int((~moved).sum())
        status, reason = Determination.NOT, f"every entry moves along {what}"
        if free == 0:
            status, reason = Determination.LOCALLY, f"does not move along {what}"
        elif by:
            status, reason = Determination.LOCALLY, f"along {what} it changes by factors"
        elif still:
            status = Determination.PARTLY
            reason = f"{still} {'entry does' if still == 1 else 'entries do'} not move along fibers"
        name, how = f.expression.text, (Evidence.MODULAR, Evidence.MODULAR)
        return Determined(name, f.size, free, status, *how, still, reason, factors=by), moved

    def derivative(self, f: WeightFunction) -> tuple[Residues, Residues]:
        """The values of f, (size,), and its derivatives along the vectors, (vectors, size)."""
        return derivative(f, self.theta, self.tangents, self.p)


def kernel_point(
    architecture: Architecture, theta: Residues, p: int, generator: np.random.Generator
) -> FiberPoint:
    """The kernel of the differential at weights modulo a prime."""
    return FiberPoint(p, theta, differential(architecture, theta, p, generator).kernel())


def factors(f: WeightFunction, value: Residues, D: Residues, p: int) -> Factors | None:
    """The coarsest blocks of entries that change by factors alone, if there are any.

    All of f; each matrix of a stack; each row; or each column.
    """
    shape, labels = f.shape, len(f.form.labels)
    number = np.arange(f.size).reshape(shape)
    ways: list[tuple[Array, FactorOf]] = [(number * 0, "all")]
    if labels:
        ways.append((number // int(np.prod(f.form.axes)), "matrix"))
    if len(f.form.axes) == 2:
        rows, columns = f.form.axes
        ways.append((number // columns, "row"))
        ways.append((number // (rows * columns) * columns + number % columns, "column"))
    for ids, of in ways:
        blocks = ids.ravel()
        count = int(blocks.max()) + 1
        if 2 * count > f.size:
            continue  # of single entries this says nothing
        seen = [np.flatnonzero((blocks == b) & (value != 0)) for b in range(count)]
        if not all(map(len, seen)):
            continue
        first = [int(places[0]) for places in seen]
        inverses = np.array([pow(int(value[e]), -1, p) for e in first], dtype=np.float64)
        rates = hadamard(D[:, first], inverses[None], p)
        if (hadamard(rates[:, blocks], value[None], p) == D).all():
            return Factors(blocks, rates, of)
    return None


class GeneralStudy:
    """What all questions about one polynomial model share: points, bounds on the rank, symmetries."""

    def __init__(self, architecture: Architecture) -> None:
        self.architecture, self.n = architecture, architecture.parameters
        if not limits().force:
            check_size(architecture)
        log.info("the rank of the differential")
        self.rank: Dimension = dimension(architecture)
        log.info("the kernel of the differential")
        self.points = self._points(np.random.default_rng([limits().seed, 1]))
        log.info("symmetries")
        self.symmetries = SymmetryFields(architecture, proved_symmetries(architecture))
        self.discrete = discrete_symmetries(architecture)
        network = architecture.as_network()
        self.theorem = irreducible_fibers(network) if network else None
        if self.theorem is None and is_linear(architecture):
            self.theorem = "linear-fibers"

    def _points(self, generator: np.random.Generator) -> list[FiberPoint]:
        """Random points with the largest rank, each modulo its own prime."""
        drawn: list[FiberPoint] = []
        for _ in range(_DRAWN):
            p = random_prime(generator)
            theta = random_residues(generator, (self.n,), p)
            point = kernel_point(self.architecture, theta, p, generator)
            if point.rank > self.rank.upper_bound:
                raise DisagreementError(
                    f"{self.architecture} has the rank {point.rank} modulo {p}, and at most"
                    f" {self.rank.upper_bound} is proved; one of the two is wrong, please report it"
                )
            drawn.append(point)
            largest = max(point.rank for point in drawn)
            best = [point for point in drawn if point.rank == largest]
            if len(best) == _POINTS and best[0].rank >= (self.rank.dimension or self.rank.lower_bound):
                break
        return best

    @property
    def most(self) -> int:
        """A proved upper bound on the dimension of general fibers."""
        return self.n - max(self.rank.lower_bound, self.points[0].rank)

    @property
    def fiber_dimension(self) -> int:
        """The dimension of general fibers, as far as ranks tell."""
        return self.n - self.points[0].rank

    @property
    def fiber_evidence(self) -> Evidence:
        """Proved if the bounds on the rank meet."""
        return known(self.most == self.n - self.rank.upper_bound)

    @cached_property
    def error(self) -> float:
        """A bound on the chance that a rank fell short at all points.

        A minor of size n that is not zero vanishes at a random point if the prime divides all its
        coefficients, or with at most the chance degree·n/p (Schwartz and Zippel).
        """
        degree = (self.architecture.degree or 0) + 1
        size: Any = bounds_on_outputs(self.architecture).sum()
        once = min(1.0, degree * self.n / 2 ** (PRIME_BITS - 1))
        once += chance_of_dividing(self.n * (log2(self.n) + size.log2 + log2(degree)))
        return float(min(1.0, once) ** len(self.points))

    def movement(self, f: WeightFunction) -> Determined:
        """What the function determines of a function of the weights, at general weights."""
        answers = [(*point.along(f, "fibers"), point) for point in self.points]
        answer, moved, point = max(answers, key=lambda at: at[0].free)
        free, by = answer.free, answer.factors
        is_free = self._is_free(f, free, point)
        if by is not None:
            is_proved = self.symmetries.fixing(f, by.blocks, most=self.most) >= self.most
            counted = is_proved and free == int(by.blocks.max()) + 1
            return answer.replace(
                evidence=known(is_proved),
                free_evidence=known(is_free and (counted or self._is_bound(f, free))),
                reason=f"{answer.reason} alone",
                factors=answers[0][0].factors or by,  # rates are compared at the first point
            )
        free_evidence = known(is_free and self._is_bound(f, free))
        if free == 0:
            is_proved = free_evidence is Evidence.PROVED
            reason = f"{answer.reason}, by {'symmetries that are all of the fiber' if is_proved else 'ranks'}"
            return answer.replace(evidence=free_evidence, free_evidence=free_evidence, reason=reason)
        is_proved = self._all_move(f, moved, point)
        if answer.determined:
            is_proved &= self.symmetries.fixing(f, None, ~moved, self.most) >= self.most
        return answer.replace(evidence=known(is_proved), free_evidence=free_evidence)

    def _is_free(self, f: WeightFunction, free: int, point: FiberPoint) -> bool:
        """Whether it is proved that f moves in so many directions."""
        if free == 0 or point.rank == self.rank.upper_bound:
            return True
        return RowSpace(f.size, self.symmetries.p).add(self.symmetries.moving(f)) >= free

    def _is_bound(self, f: WeightFunction, free: int) -> bool:
        """Whether it is proved that f moves in no more directions."""
        needed = self.most - free
        return free in (f.size, self.most) or self.symmetries.fixing(f, None, most=needed) >= needed

    def _all_move(self, f: WeightFunction, moved: Array, point: FiberPoint) -> bool:
        """Whether it is proved that each of these entries moves."""
        if point.rank == self.rank.upper_bound:
            return True
        along: Array = self.symmetries.moving(f).any(axis=0)
        return bool(along[moved].all())

    @property
    def irreducible(self) -> str:
        """Why general fibers are irreducible, or nothing."""
        return f"general fibers are irreducible ({self.theorem})" if self.theorem else ""

    def decided(self, f: WeightFunction, answer: Determined, irreducible: str) -> Determined:
        """An answer with what finite symmetries add, or else a reason why the fiber is irreducible."""
        if answer.status is not Determination.LOCALLY:
            return answer
        if changes := self.finite(f, answer.factors):
            return answer.replace(changes=tuple(changes))
        if not irreducible:
            return answer
        return answer.replace(status=Determination.GLOBALLY, reason=f"{answer.reason}; {irreducible}")

    def finite(self, f: WeightFunction, by: Factors | None) -> list[tuple[UpTo, DiscreteSymmetry]]:
        """The finite symmetries that change a function that is determined, and how."""
        changed: list[tuple[UpTo, DiscreteSymmetry]] = []
        for symmetry in self.discrete:
            generator = np.random.default_rng(2)
            p = prime_with_roots(symmetry.root, generator)
            theta = random_residues(generator, (self.n,), p)
            arithmetic, arrays = ModularArithmetic(p), as_parameters(self.architecture, theta)
            before, *others = (
                np.asarray(f.evaluate(arithmetic, given, None)).ravel() % p
                for given in (arrays, *(g(arrays, p) for g in symmetry.generators))
            )
            kinds = {_change(before, after, symmetry, by, p) for after in others} - {None}
            if kinds:
                changed.append((kinds.pop(), symmetry))
        return changed


def is_linear(architecture: Architecture) -> bool:
    """Whether φ is seen to be linear in the parameters, so that its fibers are affine spaces.

    >>> from agattn.architectures import Linear, Network
    >>> is_linear(Network([Linear(2)], dim=3)), is_linear(Network([Linear(2), Linear(2)], dim=3))
    (True, False)
    """
    if architecture.parameters > MOST_EXPONENTS or architecture.t > MAX_TOKENS:
        return False
    outputs, relations, _ = at_monomials(architecture, weighted_inputs=False)
    if any(sum(exponent for _, exponent in relation) for relation in relations):
        return False
    return all(sum(f.exponents.values()) == 1 for f in outputs if isinstance(f, Monomial))


def known(is_proved: bool) -> Evidence:
    """Proved or modular."""
    return Evidence.PROVED if is_proved else Evidence.MODULAR


def _change(
    before: Residues, after: Residues, symmetry: DiscreteSymmetry, by: Factors | None, p: int
) -> UpTo:
    """How a finite symmetry changes values; ``None`` if not, or by factors that are free in any case."""
    if by is not None:
        blocks = by.blocks
        first = np.array([int(np.flatnonzero(blocks == b)[0]) for b in range(int(blocks.max()) + 1)])
        one, other = hadamard(before, after[first][blocks], p), hadamard(after, before[first][blocks], p)
        if (one == other).all():
            return None
    elif (before == after).all():
        return None
    if symmetry.name == "permutations":
        return "permutation"
    is_sign = bool(((before == after) | ((before + after) % p == 0)).all())
    return "sign" if is_sign or symmetry.name == "reflections" else "root"


def common_factors(
    study: GeneralStudy, rows: Sequence[tuple[WeightFunction, Determined]]
) -> tuple[CommonFactor, ...]:
    """What changes by powers of one factor: functions whose rates are proportional.

    It is proved if symmetries that change all of them by powers of the same factors are all of the fiber.
    """
    left = [(f, row.name, row.factors) for f, row in rows if row.factors]
    shared, p, needed = [], study.points[0].p, study.most
    while left:
        rates = left[0][2].rates
        ratios = [_ratio(rates, factors.rates, p) for *_, factors in left]
        alike = [(x, row) for x, row in zip(ratios, left, strict=True) if x is not None]
        left = [row for x, row in zip(ratios, left, strict=True) if x is None]
        if len(alike) > 1:
            scale = lcm(*(x.denominator for x, _ in alike))
            exponents = tuple(int(x * scale) for x, _ in alike)
            changes = [
                Change(f, by.blocks, exponent=k) for k, (_, (f, _, by)) in zip(exponents, alike, strict=True)
            ]
            evidence = known(study.symmetries.changing(changes, needed) >= needed)
            shared.append(CommonFactor(tuple(name for _, (_, name, _) in alike), exponents, evidence))
    return tuple(shared)


def _ratio(one: Residues, other: Residues, p: int) -> Fraction | None:
    """The number c with other = c·one modulo a prime; ``None`` if there is none, or it is 0."""
    if one.shape != other.shape:
        return None
    at = np.unravel_index(int(np.flatnonzero(one)[0]), one.shape)
    c = int(other[at]) * pow(int(one[at]), -1, p) % p
    return rational_number(c, p) if c and (hadamard(one, np.float64(c), p) == other).all() else None
