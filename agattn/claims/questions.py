"""Questions: what claims want to know about an architecture, however it is found out.

A question can be put to an engine, as a :class:`~agattn.systems.problem.Problem` whose answer it knows how to
read, or computed natively. Either way the value has the same type, so that two engines, or an engine and the
native computation, can be compared by ``==``. Claims see only values and how they are known.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import Any, Generic, TypeVar

import flint
import numpy as np

from agattn.algebra.polynomial import Polynomial
from agattn.architectures import Architecture, SingleLayer
from agattn.architectures.lightning import Array
from agattn.errors import EngineError, UndecidableError
from agattn.evidence import Evidence
from agattn.geometry.strata.critical import stratum_criticality
from agattn.geometry.strata.preimages import preimages
from agattn.geometry.strata.strata import ZERO, Stratum, image_dimension, representative, strata
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.geometry.variety.coordinates import coefficients
from agattn.geometry.variety.degree import expected_degree
from agattn.geometry.variety.rank_one_locus import closure_degree
from agattn.systems.points import strata_points
from agattn.systems.problem import Answer

# Elimination finishes in seconds up to about this degree, and beyond it in hours or never.
MAX_ELIMINATION_DEGREE = 60
MAX_ONE_TOKEN_COORDINATES = 12
MAX_MINORS = 5000


A = TypeVar("A", bound=Architecture)


@dataclass(frozen=True)
class Question(Generic[A]):
    """Something a claim wants to know.

    Attributes:
        name: a short name, for plans and messages.
        task: the task that puts it to an engine; empty if only the native computation knows.
        read: turns an engine's answer into the value.
        refusal: the reason not to ask about this architecture, or an empty string.
        native: computes the value without an engine, with a seed; ``None`` if nothing native can.
        evidence: how a value that was computed natively is known; exact computations prove it.
    """

    name: str
    task: str
    read: Callable[[Answer], Any]
    refusal: Callable[[A], str]
    native: Callable[[A, int], Any] | None = None
    evidence: Callable[[Any], Evidence] = lambda value: Evidence.PROVED

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True)
class Finding:
    """A value found for a question, how it is known, by whom, and how long it took.

    There are as many ``sources`` as engines that answered.
    """

    value: Any
    evidence: Evidence
    sources: tuple[str, ...]
    seconds: float


class UndecidedError(Exception):
    """Raised inside a judgement when a finding it needs is missing; carries the reason."""


@dataclass(frozen=True)
class Findings:
    """What has been found out about an architecture, and why other things have not.

    Every finding that a judgement looks at is remembered in ``used``: its evidence becomes the verdict's.
    """

    found: Mapping[Question[Any], Finding]
    missing: Mapping[Question[Any], str]
    used: list[Finding] = field(default_factory=list)

    def need(self, question: Question[Any]) -> Any:
        """The value found for a question.

        Raises:
            UndecidedError: if there is none.
        """
        if question not in self.found:
            raise UndecidedError(self.missing.get(question, f"nothing was asked about {question.name}"))
        return self.get(question)

    def get(self, question: Question[Any]) -> Any | None:
        """The value found for a question, or ``None``."""
        finding = self.found.get(question)
        if finding is None:
            return None
        if finding not in self.used:
            self.used.append(finding)
        return finding.value


def _stratum(label: str) -> Stratum:
    return Stratum(*map(int, label.split(",")))


def _needs_two_tokens(layer: SingleLayer) -> str:
    return (
        "" if layer.t >= 2 else "at t = 1 a function depends on V and A + Aᵀ alone, which have other strata"
    )


# The ideal --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ideal:
    """Facts about the ideal of M̄: dimension of the cone, degree, generators by degree, tangent dimensions."""

    dimension: int
    degree: int
    generators_by_degree: Mapping[int, int]
    tangent_dimension: Mapping[Stratum, int]
    generators: tuple[Polynomial, ...] = field(compare=False, repr=False, default=())


def _read_ideal(answer: Answer) -> Ideal:
    layer = answer.problem.layer
    generators = answer.polynomials["generators"]
    _check_vanishing(layer, generators)
    tangents = {}
    if layer.t >= 2:
        for point in strata_points(layer):
            y = coefficients(layer, point.A, point.V)
            tangents[_stratum(point.label)] = len(y) - _gradient_rank(generators, list(y))
    return Ideal(
        answer.integers["dimension"],
        answer.integers["degree"],
        dict(sorted(Counter(f.degree() for f in generators).items())),
        tangents,
        generators,
    )


def _check_vanishing(layer: SingleLayer, generators: tuple[Polynomial, ...]) -> None:
    """Refuse equations that do not vanish at random points of the neuromanifold: a guard, not a proof."""
    randomness = random.Random(0)
    for _ in range(3):
        K, Q = (
            [[randomness.randint(-9, 9) for _ in range(layer.d)] for _ in range(layer.alpha)] for _ in "KQ"
        )
        V = [[randomness.randint(-9, 9) for _ in range(layer.d)] for _ in range(layer.d_out)]
        A = [
            [sum(K[s][i] * Q[s][b] for s in range(layer.alpha)) for b in range(layer.d)]
            for i in range(layer.d)
        ]
        y = coefficients(layer, A, V)
        for f in generators:
            if f(*y) != 0:
                raise EngineError(f"the engine's equation {f.macaulay2()[:80]} does not vanish on {layer}")


def _gradient_rank(equations: tuple[Polynomial, ...], point: list[Fraction]) -> int:
    """The rank of the Jacobian of some equations at a point, exactly."""
    if not equations:
        return 0
    p = equations[0].ring.characteristic
    support = [n for n, value in enumerate(point) if value]
    rows = [_gradient(f, point, support) for f in equations]
    rows = [row for row in rows if any(row)]
    if not rows:
        return 0
    if p:
        return int(flint.nmod_mat([[int(c) % p for c in row] for row in rows], p).rank())
    return int(flint.fmpq_mat([[flint.fmpq(c.numerator, c.denominator) for c in row] for row in rows]).rank())


def _gradient(f: Polynomial, point: list[Fraction], support: list[int]) -> list[Fraction]:
    """The gradient of f at a point with few nonzero coordinates: only terms supported there count."""
    gradient = [Fraction(0)] * len(point)
    inside = set(support)
    for exponents, coefficient in f.terms.items():
        occurring = [n for n, e in enumerate(exponents) if e]
        outside = [n for n in occurring if n not in inside]
        if len(outside) > 1 or (outside and exponents[outside[0]] > 1):
            continue
        for n in outside or occurring:
            value = Fraction(coefficient) * exponents[n]
            for m in occurring:
                value *= Fraction(point[m]) ** (exponents[m] - (m == n))
            gradient[n] += value
    return gradient


def _elimination_refusal(layer: SingleLayer) -> str:
    if layer.t == 1:
        return "" if layer.ambient_dimension <= MAX_ONE_TOKEN_COORDINATES else "elimination was not tried"
    degree = expected_degree(layer)
    if degree > MAX_ELIMINATION_DEGREE:
        return (
            f"elimination was not tried: {layer.ambient_dimension} coordinates and an expected degree of "
            f"{degree} are beyond what finishes (--eliminate tries it all the same)"
        )
    return ""


IDEAL = Question("the ideal", "implicit-ideal", _read_ideal, _elimination_refusal)


# Fibers -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fiber:
    """A fiber of (A, V) ↦ φ up to scaling: its number of points, and its length where that is known."""

    points: int
    length: int | None


def _read_fibers(answer: Answer) -> dict[Stratum, Fiber]:
    points, lengths, escapes = (answer.at_points(name) for name in ("points", "length", "escapes"))
    if any(escapes.values()):
        raise EngineError("a preimage lies on the hyperplane at infinity, so the fiber was not counted")
    for label in points:
        if not 1 <= points[label] <= lengths[label]:
            raise EngineError(
                f"the fiber at {label} cannot have {points[label]} points and length {lengths[label]}"
            )
    return {_stratum(label): Fiber(points[label], lengths[label]) for label in points}


def _fibers_natively(layer: SingleLayer, seed: int) -> dict[Stratum, Fiber]:
    """All preimages, by unique factorization of the quadratic forms y_{c,b}."""
    found = {}
    for stratum in strata(layer):
        if not stratum.is_zero:
            fiber = preimages(layer, list(coefficients(layer, *representative(layer, stratum))))
            lengths = [point.length for point in fiber.points]
            known = None if None in lengths else sum(filter(None, lengths))
            found[stratum] = Fiber(fiber.number, known)
    return found


FIBERS = Question("the fibers", "fiber", _read_fibers, _needs_two_tokens, _fibers_natively)


# Critical points --------------------------------------------------------------------------------------------


def _read_critical(answer: Answer) -> dict[Stratum, bool]:
    kernels, cones = answer.at_points("kernel-dimension"), answer.at_points("cone-dimension")
    for label, dimension in kernels.items():
        if dimension > 1 == cones[label]:
            raise EngineError(
                f"at {label} the kernel meets the tangent cone in lines, which were not counted"
            )
    found: dict[Stratum, bool] = {}
    for label, dimension in cones.items():
        stratum = _stratum(label)
        if 0 in (stratum.r_v, stratum.r_a):
            stratum = ZERO  # critical only if all pairs (A, V) over it are
        found[stratum] = found.get(stratum, True) and dimension > 1
    return found


def _critical_natively(layer: SingleLayer, seed: int) -> dict[Stratum, bool]:
    found = {}
    for stratum in strata(layer):
        answer = stratum_criticality(layer, stratum)
        if answer.critical is None:
            raise UndecidableError(f"{stratum}: {answer.how}")
        found[stratum] = answer.critical
    return found


CRITICAL = Question(
    "the critical strata", "critical-locus", _read_critical, _needs_two_tokens, _critical_natively
)


# Tangent spaces ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tangent:
    """Bounds on the dimension of a tangent space of M̄, and the rank of the differential of (A, V) ↦ φ."""

    differential_rank: int | None
    lower: int
    upper: int


def _read_tangents(answer: Answer) -> dict[Stratum, Tangent]:
    if answer.integers["failures"]:
        raise EngineError("equations that hold on every neuromanifold were found not to")
    size = answer.problem.layer.ambient_dimension
    ranks, lower, gradients = (
        answer.at_points(name) for name in ("differential-rank", "curve-rank", "equation-rank")
    )
    return {_stratum(label): Tangent(ranks[label], lower[label], size - gradients[label]) for label in ranks}


def _tangents_natively(layer: SingleLayer, seed: int) -> dict[Stratum, Tangent]:
    bounds = {stratum: tangent_bounds(layer, stratum) for stratum in strata(layer)}
    return {stratum: Tangent(None, bound.lower, bound.upper) for stratum, bound in bounds.items()}


TANGENTS = Question(
    "the tangent spaces", "strata-tangents", _read_tangents, _needs_two_tokens, _tangents_natively
)


# The rank of the differential at a random point ------------------------------------------------------------


def _generic_rank(layer: SingleLayer, seed: int) -> int:
    """The rank of the differential of (K, Q, V) ↦ φ at random weights modulo a prime: at most dim M."""
    randomness, p = random.Random(seed), 2**61 - 1
    a = layer.alpha  # more rows of K and Q give no other A, however many there are

    def draw(rows: int) -> Array:
        return np.array(
            [[randomness.randrange(p) for _ in range(layer.d)] for _ in range(rows)], dtype=object
        )

    K, Q, V = draw(a), draw(a), draw(layer.d_out)
    rows = [coefficients(layer, K.T @ unit, V) for unit in _units(a, layer.d)]
    rows += [coefficients(layer, unit.T @ Q, V) for unit in _units(a, layer.d)]
    rows += [coefficients(layer, K.T @ Q, unit) for unit in _units(layer.d_out, layer.d)]
    return int(flint.nmod_mat([[int(entry) % p for entry in row] for row in rows], p).rank())


def _units(rows: int, columns: int) -> list[Array]:
    units = []
    for position in range(rows * columns):
        unit = np.zeros(rows * columns, dtype=object)
        unit[position] = 1
        units.append(unit.reshape(rows, columns))
    return units


GENERIC_RANK = Question(
    "the generic rank",
    "",
    lambda answer: None,
    lambda layer: "",
    native=_generic_rank,
)


# The Zariski closure of the points with rk A ≤ 1 and rk V ≤ 1 ----------------------------------------------


@dataclass(frozen=True)
class Closure:
    """Dimension of the cone, and degree."""

    dimension: int
    degree: int


def _read_closure(answer: Answer) -> Closure:
    if answer.integers["failures"]:
        raise EngineError("an equation of h ⊗ q ⊗ Q, rank Q ≤ 2, does not vanish there")
    return Closure(answer.integers["dimension"], answer.integers["degree"])


def _closure_refusal(layer: SingleLayer) -> str:
    if layer.d < 2 or layer.t < 2:
        return "for d = 1 nothing is singular" if layer.t >= 2 else _needs_two_tokens(layer)
    size = layer.ambient_dimension
    minors = (
        comb(layer.d_out, 2) * comb(size // layer.d_out, 2)
        + comb(layer.d, 2) * comb(size // layer.d, 2)
        + comb(layer.d, 3) * comb(layer.d_out * layer.d**2, 3)
    )
    return f"its {minors} minors were not written down" if minors > MAX_MINORS else ""


def _closure_natively(layer: SingleLayer, seed: int) -> Closure:
    return Closure(image_dimension(layer, Stratum(1, 1, 2)), closure_degree(layer))


CLOSURE = Question(
    "the closure of the singular points", "zariski-singular-locus", _read_closure, _closure_refusal,
    _closure_natively,
)  # fmt: skip


# Where φ vanishes -------------------------------------------------------------------------------------------


def _read_base_locus(answer: Answer) -> frozenset[str]:
    """The components of {φ = 0}: ``"A = 0"``, ``"V = 0"``, or the equations of anything else."""
    components = []
    for name, generators in answer.polynomials.items():
        if name.startswith("component@"):
            components.append(_name_component(answer.problem.layer, generators))
    return frozenset(components)


def _name_component(layer: SingleLayer, generators: tuple[Polynomial, ...]) -> str:
    if not generators:
        return "everything"
    ring = generators[0].ring
    found = {f / next(iter(f.terms.values())) for f in generators}
    for letter in "av":
        if found == {gen for gen, v in zip(ring.gens, ring.variables, strict=True) if v.letter == letter}:
            return f"{letter.upper()} = 0"
    return ", ".join(sorted(f.macaulay2() for f in generators)) + " = 0"


def _base_locus_natively(layer: SingleLayer, seed: int) -> frozenset[str]:
    """φ ≠ 0 on every stratum with A ≠ 0 and V ≠ 0, as the representatives show; so φ = 0 there only."""
    for stratum, point in zip(strata(layer), strata_points(layer), strict=True):
        if stratum != ZERO and not any(coefficients(layer, point.A, point.V)):
            return frozenset({"A = 0", "V = 0", f"the stratum {stratum}"})
    return frozenset({"A = 0", "V = 0"})


BASE_LOCUS = Question(
    "the zeros of φ", "base-locus", _read_base_locus, _needs_two_tokens, native=_base_locus_natively
)
