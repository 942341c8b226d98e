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
from fractions import Fraction
from functools import cached_property
from math import lcm, log2
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import Array, ModularArithmetic
from agattn.algebra.gradings import Monomial
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
from agattn.architectures.protocol import as_parameters, bounds_on_outputs
from agattn.errors import DisagreementError
from agattn.evidence import Evidence, weakest
from agattn.geometry.dimension.dimension import Dimension, dimension
from agattn.geometry.dimension.jacobian import check_size, jacobian
from agattn.geometry.dimension.lie_algebra import MAX_TOKENS, at_monomials
from agattn.geometry.dimension.theorems import irreducible_fibers
from agattn.geometry.identifiability.determined import (
    CommonFactor,
    Determination,
    Determined,
    DeterminedFunction,
    FactorOf,
    Identifiability,
    KnownSymmetries,
    UpTo,
)
from agattn.geometry.identifiability.discrete import (
    MOST_EXPONENTS,
    DiscreteSymmetry,
    discrete_symmetries,
    prime_for,
)
from agattn.geometry.identifiability.generators import Change, SymmetryFields, derivative, proved_symmetries
from agattn.limits import limits, log

# Random points at which ranks are taken, and how many are drawn for these.
_POINTS, _DRAWN = 2, 6
_TOGETHER = 384
_BY_FACTORS = "along fibers it changes by factors alone"


@dataclass(frozen=True)
class KernelPoint:
    """Random weights modulo a prime, and the kernel of the differential there.

    Attributes:
        kernel: a basis as rows, (parameters − rank, parameters).
    """

    p: int
    theta: Residues
    kernel: Residues

    @property
    def rank(self) -> int:
        """The rank of the differential."""
        return int(self.kernel.shape[1]) - len(self.kernel)


def kernel_point(architecture: Architecture, theta: Residues, p: int, generator: Any) -> KernelPoint:
    """The kernel of the differential at weights modulo a prime: as many random rows as raise the rank."""
    space, n = RowSpace(len(theta), p), len(theta)
    while True:
        before, rows = space.rank, min(n + 8, _TOGETHER)
        X = random_residues(generator, (rows, *architecture.input_shape), p)
        cotangents = random_residues(generator, (rows, 1, *architecture.output_shape), p)
        at = as_parameters(architecture, theta)
        J = jacobian(architecture, at, X, ModularArithmetic(p), cotangents)
        space.add(np.asarray(J, dtype=np.float64) % p)
        if space.rank < before + rows or space.rank == n:
            return KernelPoint(p, theta, space.kernel())


@dataclass(frozen=True)
class Factors:
    """Blocks of entries that change by factors.

    Attributes:
        blocks: of each entry the number of its block.
        rates: λ(v) for each vector of the kernel at the first point, (vectors, blocks).
        of: which blocks these are.
    """

    blocks: Array
    rates: Residues
    of: FactorOf


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


@dataclass(frozen=True)
class Movement:
    """One row before it is named."""

    free: int
    status: Determination
    evidence: Evidence
    free_evidence: Evidence
    determined: int
    reason: str
    factors: Factors | None = None


class GeneralStudy:
    """What all questions about one model share: points, bounds on the rank, symmetries.

    Args:
        architecture: a polynomial one.
        seed: of all random choices.
        force: take ranks of any size.
        progress: called with what is done next.
    """

    def __init__(self, architecture: Architecture) -> None:
        self.architecture, self.n = architecture, architecture.parameters
        if not limits().force:
            check_size(architecture.as_network() or architecture)
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

    def _points(self, generator: np.random.Generator) -> list[KernelPoint]:
        """Random points with the largest rank, each modulo its own prime."""
        found: list[KernelPoint] = []
        for _ in range(_DRAWN):
            p = random_prime(generator)
            theta = random_residues(generator, (self.n,), p)
            point = kernel_point(self.architecture, theta, p, generator)
            if point.rank > self.rank.upper_bound:
                raise DisagreementError(
                    f"{self.architecture} has the rank {point.rank} modulo {p}, and at most"
                    f" {self.rank.upper_bound} is proved; one of the two is wrong, please report it"
                )
            found.append(point)
            best = [one for one in found if one.rank == max(other.rank for other in found)]
            if len(best) == _POINTS and best[0].rank >= (self.rank.dimension or self.rank.lower_bound):
                break
        return best

    @property
    def at_least(self) -> int:
        """A proved lower bound on the rank of the differential."""
        return max(self.rank.lower_bound, self.points[0].rank)

    @property
    def fiber_dimension(self) -> int:
        """The dimension of general fibers, as far as ranks tell."""
        return self.n - self.points[0].rank

    @property
    def fiber_evidence(self) -> Evidence:
        """Proved if the bounds on the rank meet."""
        return known(self.at_least == self.rank.upper_bound)

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

    def movement(self, f: WeightFunction) -> Movement:
        """What the function determines of a function of the weights, at general weights."""
        values = [derivative(f, one.theta, one.kernel, one.p) for one in self.points]
        ranks = [RowSpace(f.size, one.p).add(D) for one, (_, D) in zip(self.points, values, strict=True)]
        free = max(ranks)
        value, D = values[ranks.index(free)]
        point = self.points[ranks.index(free)]
        is_free = self._is_free(f, free, point)
        found = factors(f, value, D, point.p) if free else None
        if found is not None:
            whole = self.symmetries.fixing(f, found.blocks, most=self.n - self.at_least)
            evidence = known(whole >= self.n - self.at_least)
            counted = evidence is Evidence.PROVED and free == int(found.blocks.max()) + 1
            free_evidence = known(is_free and (counted or self._is_bound(f, free)))
            if ranks[0] != free:  # rates are compared at the first point
                found = factors(f, *values[0], self.points[0].p) or found
            return Movement(free, Determination.LOCALLY, evidence, free_evidence, 0, _BY_FACTORS, found)
        free_evidence = known(is_free and self._is_bound(f, free))
        if free == 0:
            return Movement(
                0, Determination.LOCALLY, free_evidence, free_evidence, f.size, self._still(free_evidence)
            )
        moved: Array = D.any(axis=0)
        evidence = known(self._all_move(f, moved, point))
        if moved.all():
            return Movement(
                free, Determination.NOT, evidence, free_evidence, 0, "every entry moves along fibers"
            )
        fixed = self.symmetries.fixing(f, None, ~moved, self.n - self.at_least)
        evidence = weakest([evidence, known(fixed >= self.n - self.at_least)])
        count = int((~moved).sum())
        return Movement(free, Determination.PARTLY, evidence, free_evidence, count, unmoved(count))

    def _still(self, evidence: Evidence) -> str:
        proof = "by symmetries that are all of the fiber" if evidence is Evidence.PROVED else "by ranks"
        return f"does not move along fibers, {proof}"

    def _is_free(self, f: WeightFunction, free: int, point: KernelPoint) -> bool:
        """Whether it is proved that f moves in so many directions."""
        if free == 0 or point.rank + free - self.rank.upper_bound >= free:
            return True
        return RowSpace(f.size, self.symmetries.p).add(self.symmetries.moving(f)) >= free

    def _is_bound(self, f: WeightFunction, free: int) -> bool:
        """Whether it is proved that f moves in no more directions."""
        if free == f.size or free == self.n - self.at_least:
            return True
        needed = self.n - self.at_least - free
        return self.symmetries.fixing(f, None, most=needed) >= needed

    def _all_move(self, f: WeightFunction, moved: Array, point: KernelPoint) -> bool:
        """Whether it is proved that each of these entries moves."""
        if point.rank == self.rank.upper_bound:
            return True
        along: Array = self.symmetries.moving(f).any(axis=0)
        return bool(along[moved].all())

    def finite(self, f: WeightFunction, found: Factors | None) -> list[tuple[UpTo, DiscreteSymmetry]]:
        """The finite symmetries that change a function that is determined, and how."""
        changed: list[tuple[UpTo, DiscreteSymmetry]] = []
        for symmetry in self.discrete:
            generator = np.random.default_rng(2)
            p = prime_for(symmetry.root, generator)
            theta = random_residues(generator, (self.n,), p)
            arithmetic, arrays = ModularArithmetic(p), as_parameters(self.architecture, theta)
            before, *others = (
                np.asarray(f.evaluate(arithmetic, one, None)).ravel() % p
                for one in (arrays, *(g(arrays, p) for g in symmetry.generators))
            )
            kinds = {_change(before, after, symmetry, found, p) for after in others} - {None}
            if kinds:
                changed.append((kinds.pop(), symmetry))
        return changed


def unmoved(count: int) -> str:
    """How many entries stay, in words."""
    return f"{count} {'entry does' if count == 1 else 'entries do'} not move along fibers"


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
    return all(sum(one.exponents.values()) == 1 for one in outputs if isinstance(one, Monomial))


def known(is_proved: bool) -> Evidence:
    """Proved or modular."""
    return Evidence.PROVED if is_proved else Evidence.MODULAR


def _change(
    before: Residues, after: Residues, symmetry: DiscreteSymmetry, found: Factors | None, p: int
) -> UpTo:
    """How a finite symmetry changes values; ``None`` if not, or by factors that are free in any case."""
    if found is not None:
        blocks = found.blocks
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


def row(
    study: GeneralStudy, f: WeightFunction, answer: Movement, is_array: bool, whole: str | None = None
) -> Determined:
    """An answer with its name, and what finite symmetries and theorems add.

    ``whole`` is the reason why the fiber is irreducible, or empty if none is known; by default the theorem
    about general fibers.
    """
    if whole is None:
        whole = f"general fibers are irreducible ({study.theorem})" if study.theorem else ""
    status, reason, up_to = answer.status, answer.reason, None
    changed = study.finite(f, answer.factors) if status is Determination.LOCALLY else []
    if status is Determination.LOCALLY:
        up_to = "factor" if answer.factors else next((kind for kind, _ in changed), None)
        if whole and not changed:
            status, reason = Determination.GLOBALLY, f"{reason}; {whole}"
    of = answer.factors.of if answer.factors else None
    given = (
        f.expression.text,
        f.size,
        answer.free,
        status,
        up_to,
        of,
        tuple(str(one) for _, one in changed),
        answer.evidence,
        answer.free_evidence,
        answer.determined,
        reason,
    )
    return Determined(*given) if is_array else DeterminedFunction(*given, f.text)


def common_factors(
    study: GeneralStudy, rates: Sequence[tuple[str, WeightFunction, Factors]]
) -> tuple[CommonFactor, ...]:
    """What changes by powers of one factor: functions whose rates are proportional.

    It is proved if symmetries that change all of them by powers of the same factors are all of the fiber.
    """
    left, found = list(rates), []
    p, needed = study.points[0].p, study.n - study.at_least
    while left:
        first, *others = left
        left, alike = [], [(first, Fraction(1))]
        for one in others:
            ratio = _ratio(first[2].rates, one[2].rates, p)
            if ratio is None:
                left.append(one)
            else:
                alike.append((one, ratio))
        if len(alike) > 1:
            scale = lcm(*(x.denominator for _, x in alike))
            exponents = tuple(int(x * scale) for _, x in alike)
            changes = [
                Change(f, by.blocks, exponent=k) for ((_, f, by), _), k in zip(alike, exponents, strict=True)
            ]
            evidence = known(study.symmetries.changing(changes, needed) >= needed)
            found.append(CommonFactor(tuple(name for (name, _, _), _ in alike), exponents, evidence))
    return tuple(found)


def _ratio(one: Residues, other: Residues, p: int) -> Fraction | None:
    """The number c with other = c·one modulo a prime; ``None`` if there is none, or it is 0."""
    if one.shape != other.shape:
        return None
    at = np.unravel_index(int(np.flatnonzero(one)[0]), one.shape)
    c = int(other[at]) * pow(int(one[at]), -1, p) % p
    return rational_number(c, p) if c and (hadamard(one, np.float64(c), p) == other).all() else None


def table(
    study: GeneralStudy, rows: Sequence[Determined], shared: tuple[CommonFactor, ...], at_weights: bool
) -> Identifiability:
    """All rows with what holds of the model."""
    functions = tuple(one for one in rows if isinstance(one, DeterminedFunction))
    arrays = tuple(one for one in rows if not isinstance(one, DeterminedFunction))
    evidences = [study.fiber_evidence, *(e for one in rows for e in (one.evidence, one.free_evidence))]
    modular = sum(evidence is Evidence.MODULAR for evidence in evidences)
    return Identifiability(
        architecture=study.architecture,
        parameters=arrays,
        functions=functions,
        fiber_dimension=study.fiber_dimension,
        fiber_evidence=study.fiber_evidence,
        symmetries=KnownSymmetries(study.symmetries.rank, tuple(study.discrete)),
        common_factors=shared,
        theorem=study.theorem,
        at_weights=at_weights,
        error=min(1.0, modular * study.error) if modular else 0.0,
    )
