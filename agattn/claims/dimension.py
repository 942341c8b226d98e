"""What is claimed about the dimension and the degree of M̄."""

from __future__ import annotations

from agattn.architectures import SingleLayer
from agattn.claims.claim import Claim, Findings, Outcome
from agattn.claims.hypotheses import NOT_A_PRODUCT, TWO_TOKENS
from agattn.claims.proof import Proof
from agattn.errors import DisagreementError, UndecidedError
from agattn.geometry.strata.strata import strata
from agattn.geometry.variety.degree import expected_degree, source_degree
from agattn.systems.ideal_tasks import IDEAL
from agattn.systems.layer_tasks import BASE_LOCUS, FIBERS, GENERIC_RANK, TANGENTS


def dimension(layer: SingleLayer, findings: Findings) -> int:
    """The dimension of M̄: at least the rank of the differential, at most the number of parameters that count.

    The pairs (A, V) form a variety of dimension α(2d − α) + dd', and φ is constant along (sA, V/s), so M̄ has
    dimension at most one less; at t = 1 only A + Aᵀ counts, of rank at most β = min(d, 2a), and the pairs are
    of dimension β(2d − β + 1)/2 + dd'. The rank of the differential at a smooth point bounds dim M̄ from
    below.

    Raises:
        UndecidedError: if the two bounds do not meet, or nothing was found out.
    """
    upper = layer.expected_dimension
    ideal, tangents, lower = map(findings.get, (IDEAL, TANGENTS, GENERIC_RANK))
    if tangents is not None:
        ranks = (t.differential_rank for s, t in tangents.items() if s.r_a == layer.alpha)
        lower = max((rank for rank in (lower, *ranks) if rank is not None), default=None)
    if ideal is not None:
        if lower == upper != ideal.dimension:
            raise DisagreementError(
                f"{layer.name}: elimination says that the dimension is {ideal.dimension}, "
                f"but ranks and parameters say {upper}"
            )
        return int(ideal.dimension)
    if lower is None:
        findings.need(GENERIC_RANK)
    if lower != upper:
        raise UndecidedError(f"the dimension lies between {lower} and {upper}")
    return upper


def predicted_dimension(layer: SingleLayer) -> int:
    """The dimension by HMK, Corollary 3.3."""
    return layer.alpha * (2 * layer.d - layer.alpha) + layer.d * layer.d_out - 1


def _judge_dimension(layer: SingleLayer, findings: Findings) -> Outcome:
    found = dimension(layer, findings)
    eliminated = "dimension of the ideal found by elimination"
    how = eliminated if findings.get(IDEAL) is not None else "rank of the differential, and parameters"
    return Outcome(found == predicted_dimension(layer), found, f"dim M = {found}: {how}")


def _judge_degree(layer: SingleLayer, findings: Findings) -> Outcome:
    ideal, geometric = findings.get(IDEAL), _degree_of_projection(layer, findings)
    degree, reasons, details = geometric, [], {}
    if ideal is not None:
        degree, details = ideal.degree, {"generators_by_degree": ideal.generators_by_degree}
        reasons.append("degree of the ideal found by elimination")
    if geometric is not None:
        ratio = source_degree(layer) // geometric
        reasons.append(
            f"a projection without base points of a Segre product of degree {source_degree(layer)}, "
            f"{ratio} to 1"
        )
        if degree != geometric:
            raise DisagreementError(
                f"{layer.name}: by elimination the degree is {degree}, by intersection theory {geometric}"
            )
    if not reasons:
        findings.need(FIBERS)
        zeros = sorted(findings.need(BASE_LOCUS))
        raise UndecidedError(f"φ = 0 at {', '.join(zeros)}, so the degree of the source says nothing")
    witness = f"deg M̄ = {degree}: {' and '.join(reasons)}"
    return Outcome(degree == expected_degree(layer), degree, witness, details=details)


def _degree_of_projection(layer: SingleLayer, findings: Findings) -> int | None:
    """The degree from the fibers, where φ has no base points; ``None`` if one of both is not known."""
    zeros, fibers = findings.get(BASE_LOCUS), findings.get(FIBERS)
    if zeros != {"A = 0", "V = 0"} or fibers is None:
        return None
    generic_length: int | None = fibers[max(strata(layer))].length
    return source_degree(layer) // generic_length if generic_length else None


CLAIMS: tuple[Claim[SingleLayer], ...] = (
    Claim(
        "corollary-3.3",
        "The dimension of the neuromanifold is α(2d − α) + dd' − 1, α = min(a, d)",
        r"\dim \mathcal{M} = \alpha(2d - \alpha) + dd' - 1",
        "HMK, Corollary 3.3, equation 7",
        (TWO_TOKENS, NOT_A_PRODUCT),
        (IDEAL, TANGENTS, GENERIC_RANK),
        predicted_dimension,
        _judge_dimension,
        certificate=Proof(),
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
        certificate=Proof(record=lambda verdict: {"degree": verdict.computed}),
    ),
)
