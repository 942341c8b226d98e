"""What is claimed about one layer, stratum by stratum: fibers, boundary, critical and singular points.

The numbering here and in all claims is that of version 2 of the paper (HMK).

Which strata are singular is decided from what was found out about each. At a point p of M̄ other than 0:

- more than dim M̄ independent tangent vectors, from curves in M̄ through p, prove that p is singular;
- where the fiber is one reduced point, (A, V) ↦ φ is a local isomorphism onto M̄, being finite as a map of
  projective varieties, so that M̄ is smooth there iff the variety of pairs (A, V) is;
- the gradients of generators of the whole ideal settle either.

Closures of strata are irreducible, so the components of the singular locus are those of the maximal singular
strata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import comb
from typing import Any, NamedTuple

from agattn.architectures import SingleLayer
from agattn.claims.claim import SECTION_3_2, TWO_TOKENS, WIDE, Claim, Findings, Hypothesis, Outcome, Proof
from agattn.claims.ideal import dimension
from agattn.errors import DisagreementError, UndecidedError
from agattn.geometry.strata.critical import boundary
from agattn.geometry.strata.strata import (
    ZERO,
    Stratum,
    irreducible_components,
    rank_at_most_one,
    representative,
    singular_by_ranks,
    strata,
)
from agattn.geometry.strata.tangent import is_singular, source_tangent_dimension
from agattn.geometry.variety.coordinates import coefficients
from agattn.geometry.variety.factorization import Factorization, factorization_at_full_rank
from agattn.geometry.variety.rank_one_locus import closure_dimension, predicted_degree
from agattn.systems.ideal_tasks import IDEAL, RANK_ONE_LOCUS, Cone
from agattn.systems.layer_tasks import BASE_LOCUS, CRITICAL, FIBERS, GENERIC_RANK, TANGENTS, FiberSize
from agattn.systems.points import strata_points
from agattn.systems.problem import Task

CRITICAL_BY_PAPER = (ZERO, Stratum(1, 1, 1))


def listed(chosen: Iterable[object]) -> str:
    """Strata, or other things, in words."""
    return ", ".join(map(str, chosen)) or "no stratum"


def _judge_closed(layer: SingleLayer, findings: Findings) -> Outcome:
    zeros = tuple(sorted(findings.need(BASE_LOCUS)))
    holds = zeros == ("A = 0", "V = 0")
    witness = (
        "φ = 0 only where A = 0 or V = 0, so M is the cone over the image of a compact space"
        if holds
        else f"φ vanishes elsewhere: {', '.join(zeros)}"
    )
    return Outcome(holds, zeros, witness, f"φ = 0 at {', '.join(zeros)}")


def _critical(findings: Findings) -> tuple[Stratum, ...]:
    return tuple(sorted(s for s, yes in findings.need(CRITICAL).items() if yes))


def _judge_critical(layer: SingleLayer, findings: Findings) -> Outcome:
    found = _critical(findings)
    wrong = tuple(sorted({*found} ^ {*CRITICAL_BY_PAPER}))
    witness = f"the kernel of the differential, within the tangent cone, exceeds ℝ(A, −V) at {listed(found)}"
    return Outcome(not wrong, found, witness, fails_at=wrong)


def _boundary(layer: SingleLayer, findings: Findings) -> dict[Stratum, str]:
    """The strata on the boundary of M relative to M̄(ℝ), and the reason for each.

    A point of M̄(ℝ) outside M has two complex-conjugate preimages up to scaling. Where such points converge to
    p in M, the preimages converge, too, by compactness. A fiber over p has only real points, so the two
    preimages have the same limit. No neighbourhood of this limit is mapped injectively, so the limit is
    critical. Conversely a sequence shows that a critical stratum is on the boundary.

    Raises:
        UndecidedError: if a critical stratum has no such sequence, or a fiber more points than are known.
    """
    if layer.d == 1:
        return {}  # M is the linear space ℝ^d', which has no boundary in itself
    critical, fibers = findings.need(CRITICAL), findings.need(FIBERS)
    for point in strata_points(layer, zero=False):
        if fibers[point.ranks].points != len(point.preimages):
            raise UndecidedError(f"the fiber at {point.ranks} has points that are not known to be real")
    reasons = {}
    for stratum in (s for s in strata(layer) if critical[s]):
        sequence = boundary(layer, stratum).sequence
        if sequence is None:
            raise UndecidedError(f"{stratum} is critical, but no sequence outside M is known to reach it")
        reasons[stratum] = f"{stratum} is reached by {sequence}"
    return reasons


def _judge_boundary(layer: SingleLayer, findings: Findings) -> Outcome:
    reasons = _boundary(layer, findings)
    wrong = tuple(sorted({*reasons} ^ {*CRITICAL_BY_PAPER}))
    witness = "; ".join(reasons.values()) or "M is a linear space, closed in itself, and has no boundary"
    return Outcome(not wrong, tuple(reasons), witness, fails_at=wrong)


def _judge_boundary_is_critical(layer: SingleLayer, findings: Findings) -> Outcome:
    found, critical = tuple(_boundary(layer, findings)), _critical(findings)
    witness = f"boundary: {listed(found)}; critical: {listed(critical)}"
    same = found == critical
    return Outcome(
        same, "boundary = critical" if same else {"boundary": found, "critical": critical}, witness
    )


FACTORIZATION = Task(
    "factorization",
    "the fibers of (K, Q) ↦ KᵀQ",
    SingleLayer,
    factorization_at_full_rank,
    infeasible=lambda layer: f"KᵀQ never has rank a = {layer.a} > d = {layer.d}" * (layer.a > layer.d),
)


def _predict_factorization(layer: SingleLayer) -> dict[str, int]:
    return {"fiber": layer.a**2, "image": layer.a * (2 * layer.d - layer.a)}


def _judge_factorization(layer: SingleLayer, findings: Findings) -> Outcome:
    found: Factorization = findings.need(FACTORIZATION)
    computed = {"fiber": found.fiber_dimension, "image": found.image_dimension}
    witness = (
        "by argument, C exists and is unique: the rows of Q, and those of Q', are a basis of those of A, so "
        "Q' = CQ for exactly one C in GL(a), and (K'ᵀC − Kᵀ)Q = 0, with Q surjective, gives K' = C⁻ᵀK. "
        f"By computer, the dimensions: at K = Q = [1 0] the differential has rank {found.image_dimension} "
        f"and a kernel of dimension {found.fiber_dimension}, and all pairs with KᵀQ of rank a are one orbit "
        "of GL(a) × GL(d) × GL(d)"
    )
    return Outcome(computed == _predict_factorization(layer) and found.free_action, computed, witness)


def _predict_fibers(layer: SingleLayer) -> dict[str, Any]:
    sizes = {s: 2 if s == Stratum(1, 1, 2) else 1 for s in strata(layer) if s != ZERO}
    return {"zero": ("A = 0", "V = 0"), "preimages": sizes}


def _judge_fibers(layer: SingleLayer, findings: Findings) -> Outcome:
    fibers: dict[Stratum, FiberSize] = findings.need(FIBERS)
    zeros = tuple(sorted(findings.need(BASE_LOCUS)))
    computed = {"zero": zeros, "preimages": {s: fibers[s].points for s in sorted(fibers)}}
    for point in strata_points(layer, zero=False):  # the preimages that the theorem names have the same φ
        if len({tuple(coefficients(layer, A, V)) for A, V in point.preimages}) > 1:
            raise DisagreementError(
                f"{layer.name} at {point.ranks}: (v qᵀ, h kᵀ) has another φ than (k qᵀ, h vᵀ)"
            )
    predicted = _predict_fibers(layer)
    wrong = tuple(s for s in sorted(fibers) if fibers[s].points != predicted["preimages"][s])
    if computed == predicted:
        witness = (
            "at each stratum the fiber is the rescalings of (A, V), and at (1,1,2) also those of (v qᵀ, h kᵀ)"
        )
        return Outcome(True, computed, witness, "fibers as stated")
    witness = (
        f"other fibers than stated: {list(zeros)} over 0, and at the strata {', '.join(map(str, wrong))}"
    )
    return Outcome(False, computed, witness, "other fibers", wrong)


def _judge_birational(layer: SingleLayer, findings: Findings) -> Outcome:
    fibers: dict[Stratum, FiberSize] = findings.need(FIBERS)
    generic = fibers[max(strata(layer))]
    largest = max(fiber.points for fiber in fibers.values())
    computed = {"generic": generic.length, "largest": largest}
    lengths = {s: tuple(fiber) for s, fiber in sorted(fibers.items())}
    witness = (
        f"the generic fiber has {generic.length} point(s) up to scaling, and no fiber more than {largest}"
    )
    return Outcome(
        generic == (1, 1) and largest <= 2, computed, witness, details={"points_and_length": lengths}
    )


Strata = tuple[Stratum, ...]


class StratumFacts(NamedTuple):
    """What is known of M̄ at a stratum: whether singular, bounds on the tangent dimension, and why."""

    singular: bool
    lower: int
    upper: int
    reason: str

    @property
    def tangent_dimension(self) -> int | tuple[int, int]:
        """The dimension of the tangent space where the two bounds meet, else both."""
        return self.lower if self.lower == self.upper else (self.lower, self.upper)


def singularities(layer: SingleLayer, findings: Findings) -> dict[Stratum, StratumFacts]:
    """Decide for every stratum whether M̄ is singular along it.

    Raises:
        UndecidedError: if some stratum cannot be decided.
        DisagreementError: if elimination and ranks contradict each other.
    """
    if not layer.has_orbits:
        raise UndecidedError("at t = 1 there are other strata, which are not decided here")
    dim = dimension(layer, findings)
    return {stratum: _facts(layer, stratum, dim, findings) for stratum in strata(layer)}


def _facts(layer: SingleLayer, stratum: Stratum, dim: int, findings: Findings) -> StratumFacts:
    size = layer.ambient_dimension
    lower, upper, reasons = dim, size, []
    tangents, ideal = findings.get(TANGENTS), findings.get(IDEAL)
    if tangents is not None:
        lower, upper = max(dim, tangents[stratum].lower), tangents[stratum].upper
        if lower > dim:
            reasons.append(f"curves through it span a tangent space of dimension {lower} > {dim}")
    if ideal is not None:
        exact = ideal.tangent_dimension[stratum]
        if not lower <= exact <= upper:
            raise DisagreementError(
                f"{layer.name} at {stratum}: elimination says that the tangent space has dimension {exact}, "
                f"but curves and equations say from {lower} to {upper}"
            )
        lower = upper = exact
        reasons.append(f"the gradients of the ideal leave a tangent space of dimension {exact}")
    if not stratum.is_zero and _is_local_isomorphism(stratum, findings):
        source = source_tangent_dimension(layer, stratum)
        if not lower <= source <= upper:
            raise DisagreementError(
                f"{layer.name} at {stratum}: the fiber is one reduced point, so the tangent "
                "space has dimension "
                f"{source}, but other computations say from {lower} to {upper}"
            )
        if lower < upper:  # only then does the conclusion rest on them
            findings.need(FIBERS)
            findings.need(CRITICAL)
            lower = upper = source
            reasons.append(
                f"its fiber is one reduced point, at which (A, V) have {source} tangent dimensions"
            )
    singular = is_singular(dim, lower, upper)
    if singular is not None:
        if not reasons:  # curves and equations, or curves and the source, leave one dimension
            reasons.append(f"the tangent space has dimension {lower}, by bounds from both sides that meet")
        return StratumFacts(singular, lower, upper, " and ".join(reasons))
    raise UndecidedError(f"at {stratum} the tangent space has a dimension from {lower} to {upper}")


def _is_local_isomorphism(stratum: Stratum, findings: Findings) -> bool:
    """Whether the fiber is one reduced point, so that M̄ looks there like the variety of pairs (A, V)."""
    fibers, critical = findings.found.get(FIBERS), findings.found.get(CRITICAL)
    if fibers is None or critical is None:
        return False
    return fibers.value[stratum] == (1, 1) and not critical.value[stratum]


# Singular points --------------------------------------------------------------------------------------------


class SingularLocus(NamedTuple):
    """The singular points of M̄: their strata, and the dimensions of the components, by their open strata.

    Without singular points the dimension is ``None``.
    """

    strata: Strata
    dimension: int | None
    components: Mapping[Stratum, int]


def singular_locus(layer: SingleLayer, singular: Iterable[Stratum]) -> SingularLocus:
    """The singular locus whose points are those of some strata.

    >>> found = singular_locus(SingleLayer(3, 2, 2), [Stratum(0, 0, 0), Stratum(1, 1, 2), Stratum(2, 1, 3)])
    >>> found.dimension, [str(stratum) for stratum in found.components]
    (10, ['(2,1,3)'])
    """
    components = irreducible_components(layer, singular)
    return SingularLocus(tuple(sorted(singular)), max(components.values(), default=None), components)


Predicate = Callable[[SingleLayer, Stratum], bool]


def _those(layer: SingleLayer, singular: Predicate) -> Strata:
    return tuple(s for s in strata(layer) if singular(layer, s))


def _judge_singular(
    singular: Predicate, *, of_paper: bool = False
) -> Callable[[SingleLayer, Findings], Outcome]:
    def judge(layer: SingleLayer, findings: Findings) -> Outcome:
        facts = singularities(layer, findings)
        computed = tuple(s for s, f in facts.items() if f.singular)
        wrong = tuple(s for s in facts if facts[s].singular != singular(layer, s))
        witness = f"singular exactly at {listed(computed)}; dim M = {dimension(layer, findings)}"
        if wrong:
            witness = _counterexamples(layer, {s: facts[s] for s in wrong})
            if of_paper and all(hypothesis.holds(layer) for hypothesis in SECTION_3_2):
                witness += ". This refutes the claim as stated in version 2 of the paper"
        details = {"tangent_dimension": {s: f.tangent_dimension for s, f in facts.items()}}
        return Outcome(not wrong, computed, witness, fails_at=wrong, details=details)

    return judge


def _judge_singular_locus(layer: SingleLayer, findings: Findings) -> Outcome:
    outcome = _judge_singular(singular_by_ranks)(layer, findings)
    found = singular_locus(layer, outcome.computed)
    witness, shown = outcome.witness, "no singular points"
    if found.components:
        shown = f"dimension {found.dimension}: closure of {listed(found.components)}"
        components = listed(f"{s} (dimension {n})" for s, n in found.components.items())
        witness += (
            f"; the singular locus has dimension {found.dimension}, its components are the closures of "
        )
        witness += components
    return Outcome(outcome.holds, found, witness, shown, outcome.fails_at, outcome.details)


def _counterexamples(layer: SingleLayer, missed: dict[Stratum, StratumFacts]) -> str:
    first, *others = missed
    A, V = (list(map(list, rows)) for rows in representative(layer, first))
    point = f"at A = {A}, V = {V}, of the stratum {first}"
    found = f"M is {'singular' if missed[first].singular else 'smooth'}: {missed[first].reason}"
    if others:
        shown = listed(others[:6]) + (f" and {len(others) - 6} more" if len(others) > 6 else "")
        alike = "so it is" if all(f.singular for f in missed.values()) else "likewise"
        found += f"; {alike} at {shown}"
    return f"{point}, {found}"


# Tangent dimensions, and the closure of the points with rk A, rk V ≤ 1 -------------------------------------


def _predict_tangents(layer: SingleLayer) -> dict[Stratum, int]:
    """Closed formulas in d, d' and a, observed and here compared with what was computed."""
    d, d_out = layer.d, layer.d_out

    def size(s: Stratum) -> int:
        if s == ZERO:
            return layer.ambient_dimension
        if s == Stratum(1, 1, 2):
            return (d + d_out - 1) * (2 * d - 1) if layer.a >= 2 else d_out * (2 * d - 1) + d - 1
        if s == Stratum(1, 1, 1):
            return (d + (d_out - 1)) * comb(d + 1, 2) if layer.a >= 2 else d_out * comb(d + 1, 2) + d - 1
        if s.r_a < layer.a < d:
            return d * d + d * d_out - 1
        return layer.expected_dimension

    return {s: size(s) for s in strata(layer)}


def _judge_tangents(layer: SingleLayer, findings: Findings) -> Outcome:
    facts, predicted = singularities(layer, findings), _predict_tangents(layer)
    computed = {s: f.tangent_dimension for s, f in facts.items()}
    wrong = tuple(s for s, f in facts.items() if not f.lower <= predicted[s] <= f.upper)
    if wrong:
        return Outcome(False, computed, f"other dimensions at {listed(wrong)}", "other dimensions", wrong)
    if open_ := [s for s, f in facts.items() if f.lower < f.upper]:
        raise UndecidedError(f"the bounds do not meet at {listed(open_)}")
    return Outcome(True, computed, "the bounds from both sides meet at every stratum", "as stated")


def _judge_closure(layer: SingleLayer, findings: Findings) -> Outcome:
    closure: Cone = findings.need(RANK_ONE_LOCUS)
    witness = (
        f"the points with rk A, rk V ≤ 1 are dense in a Segre product of dimension {closure.dimension} and "
        f"degree {closure.degree}, whose points h ⊗ q ⊗ Q with Q definite are not in M"
    )
    return Outcome(closure == (closure_dimension(layer), predicted_degree(layer)), closure, witness)


FACTS = (IDEAL, TANGENTS, GENERIC_RANK, FIBERS, CRITICAL)


CLAIMS: tuple[Claim[SingleLayer], ...] = (
    *(
        Claim(
            name,
            "The neuromanifold is closed in the Euclidean topology",
            r"\mathcal{M} = \overline{\mathcal{M}}^{\mathrm{eucl}}",
            SECTION_3_2,
            (BASE_LOCUS,),
            lambda layer: ("A = 0", "V = 0"),
            _judge_closed,
            brief="M is closed",
        )
        for name in ("theorem-3.4.closed", "corollary-A.1")
    ),
    Claim(
        "theorem-3.4.boundary",
        "The boundary points of M, relative to its Zariski closure, are those with A = k qᵀ and V = h kᵀ",
        r"\partial\mathcal{M} = \{A = kq^{\mathsf T},\ V = hk^{\mathsf T}\}",
        SECTION_3_2,
        (CRITICAL, FIBERS),
        lambda layer: CRITICAL_BY_PAPER,
        _judge_boundary,
        brief="boundary points: {}",
    ),
    Claim(
        "lemma-A.3",
        "(A, V) is critical iff A = 0 or V = 0 or (A = k qᵀ and V = h kᵀ)",
        r"(A, V) \text{ critical} \iff A = 0 \lor V = 0 \lor (A = kq^{\mathsf T}, V = hk^{\mathsf T})",
        SECTION_3_2,
        (CRITICAL,),
        lambda layer: CRITICAL_BY_PAPER,
        _judge_critical,
        brief="critical points: {}",
    ),
    Claim(
        "corollary-A.6",
        "A point of M is on the relative boundary iff it is critical for the parametrization",
        r"\partial\mathcal{M} = \varphi(\operatorname{Crit} \varphi)",
        SECTION_3_2,
        (CRITICAL, FIBERS),
        lambda layer: "boundary = critical",
        _judge_boundary_is_critical,
        brief="boundary points are the critical points",
    ),
    Claim(
        "lemma-3.1",
        "If A = KᵀQ = K'ᵀQ' has rank a ≤ d, exactly one C in GL(a) has K' = C⁻ᵀK and Q' = CQ; so generic "
        "fibers of (K, Q) ↦ A have dimension a², and the matrices of rank at most a have dimension a(2d − a)",
        r"K'^{\mathsf T}Q' = K^{\mathsf T}Q \text{ of rank } a \implies \exists!\, C \in \mathrm{GL}(a):\ "
        r"K' = C^{-\mathsf T}K,\ Q' = CQ",
        (Hypothesis("a ≤ d", lambda layer: layer.a <= layer.d),),
        (FACTORIZATION,),
        _predict_factorization,
        _judge_factorization,
        brief="pairs (K, Q) with one KᵀQ: an orbit of GL(a)",
    ),
    Claim(
        "theorem-3.2",
        "The fiber of φ over φ_{A,V}: rescalings of (k qᵀ, h vᵀ) and (v qᵀ, h kᵀ) if rk A = rk V = 1; all "
        "pairs with A' = 0 or V' = 0 if A = 0 or V = 0; otherwise only (sA, V/s), s ≠ 0",
        r"\varphi^{-1}(\varphi_{A,V}) = \{(sA, s^{-1}V)\} \text{ unless } A = 0, \ V = 0, "
        r"\text{ or } \operatorname{rk} A = \operatorname{rk} V = 1",
        (TWO_TOKENS,),
        (FIBERS, BASE_LOCUS),
        _predict_fibers,
        _judge_fibers,
        brief="fibers are rescalings, but for rk A = rk V = 1",
    ),
    Claim(
        "corollary-A.2",
        "The projective parametrization is birational onto its image; special fibers have at most 2 points",
        r"\mathbb{P}\varphi \text{ is birational, } |\mathbb{P}\varphi^{-1}(p)| \leq 2",
        SECTION_3_2,
        (FIBERS,),
        lambda layer: {"generic": 1, "largest": "at most 2"},
        _judge_birational,
        brief="ℙφ is birational, its fibers have at most 2 points",
    ),
    Claim(
        "theorem-3.4.singular",
        "The singular points of M are those with rk A ≤ 1 and rk V ≤ 1",
        r"\operatorname{Sing}\mathcal{M} = \{\operatorname{rk} A \leq 1,\ \operatorname{rk} V \leq 1\}",
        SECTION_3_2,
        FACTS,
        lambda layer: _those(layer, rank_at_most_one),
        _judge_singular(rank_at_most_one, of_paper=True),
        brief="singular points are those with rk A, rk V ≤ 1",
    ),
    Claim(
        "corollary-A.4",
        "φ_{A,V} is singular in the neuromanifold iff rk A ≤ 1 and rk V ≤ 1",
        r"\varphi_{A,V} \text{ singular} \iff \operatorname{rk} A \leq 1,\ \operatorname{rk} V \leq 1",
        SECTION_3_2,
        FACTS,
        lambda layer: _those(layer, rank_at_most_one),
        _judge_singular(rank_at_most_one, of_paper=True),
        brief="singular points are those with rk A, rk V ≤ 1",
    ),
    Claim(
        "agattn.singular-locus",
        "The function 0 is singular. Any other point is singular iff rk A = rk V = 1, or 2 ≤ a < d and "
        "rk A < a; for a = d' = 1 iff d ≥ 3 and the point is in the stratum (1,1,1)",
        r"\operatorname{Sing}\overline{\mathcal{M}} = \{\operatorname{rk} A = \operatorname{rk} V = 1\} \cup "
        r"\{\operatorname{rk} A < a < d\} \cup \{0\} \ \text{ unless } a = d' = 1",
        (TWO_TOKENS, WIDE),
        FACTS,
        lambda layer: singular_locus(layer, _those(layer, singular_by_ranks)),
        _judge_singular_locus,
        brief="Sing M̄ of {}",
    ),
    Claim(
        "agattn.tangent-dimension",
        "Tangent dimensions at nonzero strata: (d + d' − 1)(2d − 1) at (1,1,2) and (d + d' − 1)·d(d + 1)/2 "
        "at (1,1,1) if a ≥ 2; d'(2d − 1) + d − 1 and d'·d(d + 1)/2 + d − 1 if a = 1; d² + dd' − 1 at other "
        "strata with r_A < a < d; dim M̄ elsewhere. At 0: N",
        r"\dim T_p\overline{\mathcal{M}}",
        (TWO_TOKENS, WIDE),
        FACTS,
        _predict_tangents,
        _judge_tangents,
        certificate=Proof(spaces=True),
        brief="dim T at each stratum by a formula",
    ),
    Claim(
        "agattn.rank-one-locus",
        "The Zariski closure of the points with rk A ≤ 1 and rk V ≤ 1 is {h ⊗ q ⊗ Q, rank Q ≤ 2}, a Segre "
        "product, whose dimension d' + 3d − 3 and degree are those of the formula for Segre products",
        r"\overline{\{\operatorname{rk} A, \operatorname{rk} V \leq 1\}} = \{h \otimes q \otimes Q,\ "
        r"\operatorname{rk} Q \leq 2\}",
        (TWO_TOKENS, WIDE),
        (RANK_ONE_LOCUS,),
        lambda layer: Cone(closure_dimension(layer), predicted_degree(layer)),
        _judge_closure,
        certificate="the checker computes no degree of the closure of a stratum",
        brief="rk A, rk V ≤ 1: dim {dimension}, degree {degree}",
    ),
)
