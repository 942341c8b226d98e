"""What the paper says about fibers: those of (K, Q) ↦ KᵀQ, and those of (A, V) ↦ φ.

The numbering here and in all claims is that of version 2 of the paper (HMK).
"""

from __future__ import annotations

from typing import Any

from agattn.architectures import SingleLayer
from agattn.claims.claim import Claim, Findings, Hypothesis, Outcome
from agattn.claims.hypotheses import SECTION_3_2, TWO_TOKENS
from agattn.claims.proof import Proof
from agattn.errors import DisagreementError
from agattn.geometry.strata.strata import ZERO, Stratum, strata
from agattn.geometry.variety.coordinates import coefficients
from agattn.geometry.variety.factorization import Factorization, factorization_at_full_rank
from agattn.systems.layer_tasks import BASE_LOCUS, FIBERS, FiberSize
from agattn.systems.points import strata_points
from agattn.systems.problem import Task

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


CLAIMS: tuple[Claim[SingleLayer], ...] = (
    Claim(
        "lemma-3.1",
        "If A = KᵀQ = K'ᵀQ' has rank a ≤ d, exactly one C in GL(a) has K' = C⁻ᵀK and Q' = CQ; so generic "
        "fibers of (K, Q) ↦ A have dimension a², and the matrices of rank at most a have dimension a(2d − a)",
        r"K'^{\mathsf T}Q' = K^{\mathsf T}Q \text{ of rank } a \implies \exists!\, C \in \mathrm{GL}(a):\ "
        r"K' = C^{-\mathsf T}K,\ Q' = CQ",
        "HMK, Lemma 3.1",
        (Hypothesis("a ≤ d", lambda layer: layer.a <= layer.d),),
        (FACTORIZATION,),
        _predict_factorization,
        _judge_factorization,
        certificate=Proof(),
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
        certificate=Proof(),
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
        certificate=Proof(),
    ),
)
