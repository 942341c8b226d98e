"""The claims about a single layer: those of the paper, and the project's own.

The numbering is that of version 2 of the paper (HMK).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import comb

from agattn.architectures import SingleLayer
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.hilbert_function import HILBERT_FUNCTION
from agattn.claims.products import outputs_are_products
from agattn.claims.singularity import StratumFacts, dimension, singularities
from agattn.errors import DisagreementError, UndecidedError
from agattn.evidence import Evidence
from agattn.geometry.strata.boundary import boundary
from agattn.geometry.strata.strata import ZERO, Stratum, representative, strata
from agattn.geometry.variety.coordinates import coefficients
from agattn.geometry.variety.degree import expected_degree, source_degree
from agattn.geometry.variety.factorization import factorization_at_full_rank
from agattn.geometry.variety.rank_one_locus import closure_dimension, predicted_degree
from agattn.systems.layer_tasks import (
    BASE_LOCUS,
    CRITICAL,
    FIBERS,
    GENERIC_RANK,
    IDEAL,
    RANK_ONE_LOCUS,
    TANGENTS,
)
from agattn.systems.points import known_preimages
from agattn.systems.problem import matrix

TWO_TOKENS = Hypothesis[SingleLayer]("t ≥ 2", lambda layer: layer.t >= 2)
NOT_A_PRODUCT = Hypothesis[SingleLayer]("a > 1 or d' > 1", lambda layer: layer.a > 1 or layer.d_out > 1)
WIDE = Hypothesis[SingleLayer]("d ≥ 2", lambda layer: layer.d >= 2)
SECTION_3_2 = (TWO_TOKENS, NOT_A_PRODUCT, WIDE)

VERSION = "as stated in version 2 of the paper"


def _names(chosen: Iterable[Stratum]) -> list[str]:
    return [str(s) for s in sorted(chosen)]


# Dimension and degree ---------------------------------------------------------------------------------------


def _predict_dimension(layer: SingleLayer) -> int:
    return layer.alpha * (2 * layer.d - layer.alpha) + layer.d * layer.d_out - 1


def _judge_dimension(layer: SingleLayer, findings: Findings) -> Outcome:
    found = dimension(layer, findings)
    ideal = findings.get(IDEAL)
    how = (
        "dimension of the ideal found by elimination" if ideal else "rank of the differential, and parameters"
    )
    return Outcome(found == _predict_dimension(layer), found, f"dim M = {found}: {how}")


def _judge_degree(layer: SingleLayer, findings: Findings) -> Outcome:
    ideal = findings.get(IDEAL)
    geometric = _degree_of_projection(layer, findings)
    if ideal is not None and geometric is not None and ideal.degree != geometric:
        raise DisagreementError(
            f"{layer}: by elimination the degree is {ideal.degree}, by intersection theory {geometric}"
        )
    if ideal is None and geometric is None:
        findings.need(FIBERS)
        zeros = sorted(findings.need(BASE_LOCUS))
        raise UndecidedError(f"φ = 0 at {', '.join(zeros)}, so the degree of the source says nothing")
    degree = ideal.degree if ideal is not None else geometric
    generic = "" if geometric is None else (
        f"a projection without base points of a Segre product of degree {source_degree(layer)}, "
        f"{source_degree(layer) // geometric} to 1"
    )  # fmt: skip
    eliminated = "" if ideal is None else "degree of the ideal found by elimination"
    details: dict[str, object] = {}
    if ideal is not None:
        details["generators_by_degree"] = {str(n): count for n, count in ideal.generators_by_degree.items()}
    witness = f"deg M̄ = {degree}: {' and '.join(filter(None, (eliminated, generic)))}"
    return Outcome(degree == expected_degree(layer), degree, witness, details=details)


def _degree_of_projection(layer: SingleLayer, findings: Findings) -> int | None:
    """The degree from the fibers, where φ has no base points; ``None`` if these are not known."""
    zeros, fibers = findings.get(BASE_LOCUS), findings.get(FIBERS)
    if zeros != {"A = 0", "V = 0"} or fibers is None:
        return None
    generic_length: int | None = fibers[max(strata(layer))].length
    return source_degree(layer) // generic_length if generic_length else None


# Fibers -----------------------------------------------------------------------------------------------------


def _predict_fibers(layer: SingleLayer) -> dict[str, object]:
    sizes = {str(s): 2 if (s.r_v, s.r_a, s.r) == (1, 1, 2) else 1 for s in strata(layer) if s != ZERO}
    return {"zero": ["A = 0", "V = 0"], "preimages": sizes}


def _judge_fibers(layer: SingleLayer, findings: Findings) -> Outcome:
    fibers, zeros = findings.need(FIBERS), findings.need(BASE_LOCUS)
    computed = {
        "zero": sorted(zeros),
        "preimages": {str(s): fibers[s].points for s in sorted(fibers)},
    }
    for stratum in fibers:
        _check_known_preimages(layer, stratum)
    wrong = [str(s) for s in sorted(fibers) if fibers[s].points != (2 if s == Stratum(1, 1, 2) else 1)]
    holds = computed == _predict_fibers(layer)
    witness = (
        "at each stratum the fiber is the rescalings of (A, V), and at (1,1,2) also those of (v qᵀ, h kᵀ)"
        if holds
        else f"other fibers than stated: {computed['zero']} over 0, and at the strata {', '.join(wrong)}"
    )
    return Outcome(holds, computed, witness)


def _check_known_preimages(layer: SingleLayer, stratum: Stratum) -> None:
    """The preimages which the theorem names do have the same φ, exactly."""
    A, V = (matrix(rows) for rows in representative(layer, stratum))
    y = list(coefficients(layer, A, V))
    for other in known_preimages(A, V):
        if list(coefficients(layer, *other)) != y:
            raise DisagreementError(f"{layer} at {stratum}: (v qᵀ, h kᵀ) has another φ than (k qᵀ, h vᵀ)")


def _judge_birational(layer: SingleLayer, findings: Findings) -> Outcome:
    fibers = findings.need(FIBERS)
    generic = fibers[max(strata(layer))]
    largest = max(fiber.points for fiber in fibers.values())
    computed = {"generic": generic.length, "largest": largest}
    lengths = {str(s): [fiber.points, fiber.length] for s, fiber in sorted(fibers.items())}
    holds = generic.points == generic.length == 1 and largest <= 2
    witness = (
        f"the generic fiber has {generic.length} point(s) up to scaling, and no fiber more than {largest}"
    )
    return Outcome(holds, computed, witness, details={"points_and_length": lengths})


# Closedness, critical points, boundary ----------------------------------------------------------------------


def _judge_closed(layer: SingleLayer, findings: Findings) -> Outcome:
    zeros = findings.need(BASE_LOCUS)
    holds = zeros == {"A = 0", "V = 0"}
    witness = (
        "φ = 0 only where A = 0 or V = 0, so M is the cone over the image of a compact space"
        if holds
        else f"φ vanishes elsewhere: {', '.join(sorted(zeros))}"
    )
    return Outcome(holds, sorted(zeros), witness)


def _predict_critical(layer: SingleLayer) -> list[str]:
    return ["(0,0,0)", "(1,1,1)"]


def _judge_critical(layer: SingleLayer, findings: Findings) -> Outcome:
    critical = findings.need(CRITICAL)
    computed = _names(s for s, yes in critical.items() if yes)
    holds = computed == _predict_critical(layer)
    witness = (
        f"the kernel of the differential, within the tangent cone, exceeds ℝ(A, −V) at {_list(computed)}"
    )
    return Outcome(holds, computed, witness)


def _boundary(layer: SingleLayer, findings: Findings) -> tuple[list[str], list[str]]:
    """The strata on the boundary of M relative to M̄(ℝ), and the reason for each.

    A point of M̄(ℝ) outside M has two complex-conjugate preimages up to scaling. Where such points converge to
    p in M, so do the preimages, by compactness; a fiber over p has only real points, so the two limits are
    one, no neighbourhood of it is mapped injectively, and it is critical. Conversely a sequence shows a
    critical stratum to be on the boundary.

    Raises:
        UndecidedError: if a critical stratum has no such sequence, or a fiber more points than are known.
    """
    if layer.d == 1:
        return [], []  # M is the linear space ℝ^d', which has no boundary in itself
    critical, fibers = findings.need(CRITICAL), findings.need(FIBERS)
    for stratum, fiber in fibers.items():
        if fiber.points != len(known_preimages(*map(matrix, representative(layer, stratum)))):
            raise UndecidedError(f"the fiber at {stratum} has points that are not known to be real")
    found, reasons = [], []
    for stratum in strata(layer):
        if not critical[stratum]:
            continue
        sequence = boundary(layer, stratum).sequence
        if sequence is None:
            raise UndecidedError(f"{stratum} is critical, but no sequence outside M is known to reach it")
        found.append(str(stratum))
        reasons.append(f"{stratum} is reached by {sequence}")
    return found, reasons


def _judge_boundary(layer: SingleLayer, findings: Findings) -> Outcome:
    computed, reasons = _boundary(layer, findings)
    witness = "; ".join(reasons) or "M is a linear space, closed in itself, and has no boundary"
    return Outcome(computed == _predict_critical(layer), computed, witness)


def _predict_boundary_is_critical(layer: SingleLayer) -> str:
    return "boundary = critical"


def _judge_boundary_is_critical(layer: SingleLayer, findings: Findings) -> Outcome:
    boundary, _ = _boundary(layer, findings)
    critical = _names(s for s, yes in findings.need(CRITICAL).items() if yes)
    witness = f"boundary: {_list(boundary)}; critical: {_list(critical)}"
    computed = "boundary = critical" if boundary == critical else f"{boundary} and {critical}"
    return Outcome(boundary == critical, computed, witness)


# Singular points --------------------------------------------------------------------------------------------


def _predict_singular(layer: SingleLayer) -> list[str]:
    return _names(s for s in strata(layer) if s.r_a <= 1 and s.r_v <= 1)


def _predict_corrected_singular(layer: SingleLayer) -> list[str]:
    """The corrected statement, with 0 singular too: see :data:`CORRECTED`."""

    def singular(s: Stratum) -> bool:
        if s == ZERO:
            return True
        if layer.a == layer.d_out == 1:
            return layer.d >= 3 and s == Stratum(1, 1, 1)
        return s.r_a == s.r_v == 1 or (2 <= layer.a < layer.d and s.r_a < layer.a)

    return _names(s for s in strata(layer) if singular(s))


def _judge_singular(
    layer: SingleLayer, findings: Findings, predict: Callable[[SingleLayer], list[str]]
) -> Outcome:
    facts = singularities(layer, findings)
    predicted = predict(layer)
    computed = _names(s for s, f in facts.items() if f.singular)
    details: dict[str, object] = {
        "tangent_dimension": {
            str(s): f.tangent_dimension if f.tangent_dimension is not None else [f.lower, f.upper]
            for s, f in facts.items()
        }
    }
    holds = computed == predicted
    if holds:
        witness = f"singular exactly at {_list(computed)}; dim M = {dimension(layer, findings)}"
    else:
        witness = _counterexamples(layer, facts, predicted)
    return Outcome(holds, computed, witness, details=details)


def _counterexamples(layer: SingleLayer, facts: dict[Stratum, StratumFacts], predicted: list[str]) -> str:
    missed = [f for s, f in facts.items() if f.singular != (str(s) in predicted)]
    first, others = missed[0], [str(f.stratum) for f in missed[1:]]
    A, V = representative(layer, first.stratum)
    point = f"at A = {_rows(A)}, V = {_rows(V)}, of the stratum {first.stratum}"
    found = f"M is {'singular' if first.singular else 'smooth'}: {first.reason}"
    if others:
        shown = ", ".join(others[:6]) + (f" and {len(others) - 6} more" if len(others) > 6 else "")
        found += f"; so it is at {shown}" if all(f.singular for f in missed) else f"; likewise at {shown}"
    rests = (
        f"This reads the theorem, {VERSION}, as meant for every a, as Corollary 3.3 and Proposition A.5 are, "
        "and for d ≥ 2: one condition of Section 3.2 could not be read in the copy used here"
    )
    return f"{point}, {found}. {rests}"


def _rows(rows: Iterable[Iterable[int]]) -> str:
    return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in rows) + "]"


def _judge_singular_by_paper(layer: SingleLayer, findings: Findings) -> Outcome:
    return _judge_singular(layer, findings, _predict_singular)


def _judge_singular_corrected(layer: SingleLayer, findings: Findings) -> Outcome:
    return _judge_singular(layer, findings, _predict_corrected_singular)


# Tangent dimensions, and the closure of the singular points ------------------------------------------------


def _predict_tangents(layer: SingleLayer) -> dict[str, int]:
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
        return _predict_dimension(layer)

    return {str(s): size(s) for s in strata(layer)}


def _judge_tangents(layer: SingleLayer, findings: Findings) -> Outcome:
    facts = singularities(layer, findings)
    predicted = _predict_tangents(layer)
    computed: dict[str, object] = {}
    wrong, open_ = [], []
    for stratum, f in facts.items():
        name = str(stratum)
        exact = f.tangent_dimension
        computed[name] = exact if exact is not None else [f.lower, f.upper]
        if not f.lower <= predicted[name] <= f.upper:
            wrong.append(name)
        elif exact is None:
            open_.append(name)
    if open_ and not wrong:
        raise UndecidedError(f"the bounds do not meet at {_list(open_)}")
    witness = (
        f"other dimensions at {_list(wrong)}" if wrong else "the bounds from both sides meet at every stratum"
    )
    return Outcome(not wrong, computed, witness)


def _predict_closure(layer: SingleLayer) -> dict[str, int]:
    return {"dimension": closure_dimension(layer), "degree": predicted_degree(layer)}


def _judge_closure(layer: SingleLayer, findings: Findings) -> Outcome:
    closure = findings.need(RANK_ONE_LOCUS)
    computed = {"dimension": closure.dimension, "degree": closure.degree}
    witness = (
        f"the points with rk A, rk V ≤ 1 are dense in a Segre product of dimension {closure.dimension} and "
        f"degree {closure.degree}, whose points h ⊗ q ⊗ Q with Q definite are not in M"
    )
    return Outcome(computed == _predict_closure(layer), computed, witness)


def _judge_factorization(layer: SingleLayer, findings: Findings) -> Outcome:
    if layer.a > layer.d:
        raise UndecidedError(f"KᵀQ never has rank a = {layer.a} > d = {layer.d}")
    found = factorization_at_full_rank(layer)
    computed = {"fiber": found.fiber_dimension, "image": found.image_dimension}
    witness = (
        "all pairs with KᵀQ of rank a are one orbit; at K = Q = [1 0] the differential has rank "
        f"{found.image_dimension} and a kernel of dimension {found.fiber_dimension}, that of GL(a), "
        "which acts freely"
    )
    holds = computed == _predict_factorization(layer) and found.free_action
    return Outcome(holds, computed, witness, evidence=Evidence.PROVED)


def _predict_factorization(layer: SingleLayer) -> dict[str, int]:
    return {"fiber": layer.a**2, "image": layer.a * (2 * layer.d - layer.a)}


# Proposition A.5 --------------------------------------------------------------------------------------------


def _judge_products(layer: SingleLayer, findings: Findings) -> Outcome:
    holds = outputs_are_products(layer)
    computed = "products of linear forms" if holds else "other coefficients"
    witness = (
        "expanding V X Xᵀ A X with symbolic weights and two symbolic tokens gives V_c(u)·A_b(u) and its "
        "fixed linear combinations, coefficient by coefficient"
        if holds
        else "the expansion of V X Xᵀ A X has other coefficients than V_c(u)·A_b(u)"
    )
    return Outcome(holds, computed, witness, evidence=Evidence.PROVED)


def _list(names: list[str]) -> str:
    return ", ".join(names) or "no stratum"


SINGULAR_TASKS = (IDEAL, TANGENTS, GENERIC_RANK, FIBERS, CRITICAL)

CORRECTED = (
    "Let t ≥ 2 and d ≥ 2. The function 0 is singular. Another point is singular iff rk A = rk V = 1, or "
    "2 ≤ a < d and rk A < a; except for a = d' = 1, where it is iff d ≥ 3 and it is of type (1,1,1)"
)

_CLAIMS: tuple[Claim[SingleLayer], ...] = (
    Claim(
        "lemma-3.1",
        "If A = KᵀQ = K'ᵀQ' has rank a ≤ d, exactly one C in GL(a) has K' = C⁻ᵀK and Q' = CQ; so generic "
        "fibers of (K, Q) ↦ A have dimension a², and the matrices of rank at most a have dimension a(2d − a)",
        r"K'^{\mathsf T}Q' = K^{\mathsf T}Q \text{ of rank } a \implies \exists!\, C \in \mathrm{GL}(a):\ "
        r"K' = C^{-\mathsf T}K,\ Q' = CQ",
        "HMK, Lemma 3.1",
        (Hypothesis("a ≤ d", lambda layer: layer.a <= layer.d),),
        (),
        _predict_factorization,
        _judge_factorization,
    ),
    Claim(
        "theorem-3.2",
        "The fiber of φ over φ_{A,V}: rescalings of (k qᵀ, h vᵀ) and (v qᵀ, h kᵀ) if rk A = rk V = 1; all "
        "pairs with A' = 0 or V' = 0 if A = 0 or V = 0; otherwise only (sA, V/s), s ≠ 0",
        r"\varphi^{-1}(\varphi_{A,V}) = \{(sA, s^{-1}V)\} \text{ unless } A = 0, \ V = 0, "
        r"\text{ or } \operatorname{rk} A = \operatorname{rk} V = 1",
        "HMK, Theorem 3.2",
        (TWO_TOKENS,),
        (FIBERS, BASE_LOCUS),
        _predict_fibers,
        _judge_fibers,
    ),
    Claim(
        "corollary-3.3",
        "The dimension of the neuromanifold is α(2d − α) + dd' − 1, α = min(a, d)",
        r"\dim \mathcal{M} = \alpha(2d - \alpha) + dd' - 1",
        "HMK, Corollary 3.3, equation 7",
        (TWO_TOKENS, NOT_A_PRODUCT),
        (IDEAL, TANGENTS, GENERIC_RANK),
        _predict_dimension,
        _judge_dimension,
    ),
    Claim(
        "theorem-3.4.closed",
        "The neuromanifold is closed in the Euclidean topology",
        r"\mathcal{M} = \overline{\mathcal{M}}^{\mathrm{eucl}}",
        "HMK, Theorem 3.4",
        SECTION_3_2,
        (BASE_LOCUS,),
        lambda layer: ["A = 0", "V = 0"],
        _judge_closed,
    ),
    Claim(
        "theorem-3.4.boundary",
        "The boundary points of M, relative to its Zariski closure, are those with A = k qᵀ and V = h kᵀ",
        r"\partial\mathcal{M} = \{A = kq^{\mathsf T},\ V = hk^{\mathsf T}\}",
        "HMK, Theorem 3.4",
        SECTION_3_2,
        (CRITICAL, FIBERS),
        _predict_critical,
        _judge_boundary,
    ),
    Claim(
        "theorem-3.4.singular",
        "The singular points of M are those with rk A ≤ 1 and rk V ≤ 1",
        r"\operatorname{Sing}\mathcal{M} = \{\operatorname{rk} A \leq 1,\ \operatorname{rk} V \leq 1\}",
        "HMK, Theorem 3.4",
        SECTION_3_2,
        SINGULAR_TASKS,
        _predict_singular,
        _judge_singular_by_paper,
    ),
    Claim(
        "corollary-A.1",
        "The neuromanifold is closed in the Euclidean topology",
        r"\mathcal{M} = \overline{\mathcal{M}}^{\mathrm{eucl}}",
        "HMK, Corollary A.1",
        SECTION_3_2,
        (BASE_LOCUS,),
        lambda layer: ["A = 0", "V = 0"],
        _judge_closed,
    ),
    Claim(
        "corollary-A.2",
        "The projective parametrization is birational onto its image; special fibers have at most 2 points",
        r"\mathbb{P}\varphi \text{ is birational, } |\mathbb{P}\varphi^{-1}(p)| \leq 2",
        "HMK, Corollary A.2",
        SECTION_3_2,
        (FIBERS,),
        lambda layer: {"generic": 1, "largest": "at most 2"},
        _judge_birational,
    ),
    Claim(
        "lemma-A.3",
        "(A, V) is critical iff A = 0 or V = 0 or (A = k qᵀ and V = h kᵀ)",
        r"(A, V) \text{ critical} \iff A = 0 \lor V = 0 \lor (A = kq^{\mathsf T}, V = hk^{\mathsf T})",
        "HMK, Lemma A.3",
        SECTION_3_2,
        (CRITICAL,),
        _predict_critical,
        _judge_critical,
    ),
    Claim(
        "corollary-A.4",
        "φ_{A,V} is singular in the neuromanifold iff rk A ≤ 1 and rk V ≤ 1",
        r"\varphi_{A,V} \text{ singular} \iff \operatorname{rk} A \leq 1,\ \operatorname{rk} V \leq 1",
        "HMK, Corollary A.4",
        SECTION_3_2,
        SINGULAR_TASKS,
        _predict_singular,
        _judge_singular_by_paper,
    ),
    Claim(
        "proposition-A.5",
        "M is linearly isomorphic to the image of the outer product of d' linear forms with d linear forms "
        "that span a space of dimension at most a",
        r"\mathcal{M} \cong \{(V_c(u) \cdot A_b(u))_{c,b}\}",
        "HMK, Proposition A.5",
        SECTION_3_2,
        (),
        lambda layer: "products of linear forms",
        _judge_products,
    ),
    Claim(
        "corollary-A.6",
        "A point of M is on the relative boundary iff it is critical for the parametrization",
        r"\partial\mathcal{M} = \varphi(\operatorname{Crit} \varphi)",
        "HMK, Corollary A.6",
        SECTION_3_2,
        (CRITICAL, FIBERS),
        _predict_boundary_is_critical,
        _judge_boundary_is_critical,
    ),
    Claim(
        "agattn.degree",
        "The degree of M̄ is that of the Segre product of P(D_α) and P(ℂ^{d'×d}), divided by ε: by 2 if "
        "a = d' = 1 and d ≥ 2, else by 1",
        r"\deg\overline{\mathcal{M}} = \binom{\alpha(2d-\alpha)-1+dd'-1}{dd'-1} \deg D_\alpha / \varepsilon",
        "agattn",
        (TWO_TOKENS,),
        (IDEAL, FIBERS, BASE_LOCUS),
        expected_degree,
        _judge_degree,
    ),
    Claim(
        "agattn.singular-locus",
        CORRECTED,
        r"\operatorname{Sing}\overline{\mathcal{M}} = \{\operatorname{rk} A = \operatorname{rk} V = 1\} \cup "
        r"\{\operatorname{rk} A < a < d\} \cup \{0\} \ \text{ unless } a = d' = 1",
        "agattn",
        (TWO_TOKENS, WIDE),
        SINGULAR_TASKS,
        _predict_corrected_singular,
        _judge_singular_corrected,
    ),
    Claim(
        "agattn.tangent-dimension",
        "Tangent dimensions at nonzero strata: (d + d' − 1)(2d − 1) at (1,1,2) and (d + d' − 1)·d(d + 1)/2 "
        "at (1,1,1) if a ≥ 2; d'(2d − 1) + d − 1 and d'·d(d + 1)/2 + d − 1 if a = 1; d² + dd' − 1 at other "
        "strata with r_A < a < d; dim M̄ elsewhere. At 0: N",
        r"\dim T_p\overline{\mathcal{M}}",
        "agattn",
        (TWO_TOKENS, WIDE),
        SINGULAR_TASKS,
        _predict_tangents,
        _judge_tangents,
    ),
    Claim(
        "agattn.rank-one-locus",
        "The Zariski closure of the points with rk A ≤ 1 and rk V ≤ 1 is {h ⊗ q ⊗ Q, rank Q ≤ 2}, a Segre "
        "product, whose dimension d' + 3d − 3 and degree are those of the formula for Segre products",
        r"\overline{\{\operatorname{rk} A, \operatorname{rk} V \leq 1\}} = \{h \otimes q \otimes Q,\ "
        r"\operatorname{rk} Q \leq 2\}",
        "agattn",
        (TWO_TOKENS, WIDE),
        (RANK_ONE_LOCUS,),
        _predict_closure,
        _judge_closure,
    ),
    HILBERT_FUNCTION,
)

CLAIMS = {claim.id: claim for claim in _CLAIMS}
