"""What the paper says about closedness, critical points, and the boundary of M."""

from __future__ import annotations

from collections.abc import Iterable

from agattn.architectures import SingleLayer
from agattn.claims.claim import Claim, Findings, Outcome
from agattn.claims.hypotheses import SECTION_3_2
from agattn.claims.proof import Proof
from agattn.errors import UndecidedError
from agattn.geometry.strata.critical import boundary
from agattn.geometry.strata.strata import ZERO, Stratum, strata
from agattn.systems.layer_tasks import BASE_LOCUS, CRITICAL, FIBERS
from agattn.systems.points import strata_points

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


CLAIMS: tuple[Claim[SingleLayer], ...] = (
    *(
        Claim(
            name,
            "The neuromanifold is closed in the Euclidean topology",
            r"\mathcal{M} = \overline{\mathcal{M}}^{\mathrm{eucl}}",
            source,
            SECTION_3_2,
            (BASE_LOCUS,),
            lambda layer: ("A = 0", "V = 0"),
            _judge_closed,
            certificate=Proof(),
        )
        for name, source in (
            ("theorem-3.4.closed", "HMK, Theorem 3.4"),
            ("corollary-A.1", "HMK, Corollary A.1"),
        )
    ),
    Claim(
        "theorem-3.4.boundary",
        "The boundary points of M, relative to its Zariski closure, are those with A = k qᵀ and V = h kᵀ",
        r"\partial\mathcal{M} = \{A = kq^{\mathsf T},\ V = hk^{\mathsf T}\}",
        "HMK, Theorem 3.4",
        SECTION_3_2,
        (CRITICAL, FIBERS),
        lambda layer: CRITICAL_BY_PAPER,
        _judge_boundary,
        certificate=Proof(),
    ),
    Claim(
        "lemma-A.3",
        "(A, V) is critical iff A = 0 or V = 0 or (A = k qᵀ and V = h kᵀ)",
        r"(A, V) \text{ critical} \iff A = 0 \lor V = 0 \lor (A = kq^{\mathsf T}, V = hk^{\mathsf T})",
        "HMK, Lemma A.3",
        SECTION_3_2,
        (CRITICAL,),
        lambda layer: CRITICAL_BY_PAPER,
        _judge_critical,
        certificate=Proof(),
    ),
    Claim(
        "corollary-A.6",
        "A point of M is on the relative boundary iff it is critical for the parametrization",
        r"\partial\mathcal{M} = \varphi(\operatorname{Crit} \varphi)",
        "HMK, Corollary A.6",
        SECTION_3_2,
        (CRITICAL, FIBERS),
        lambda layer: "boundary = critical",
        _judge_boundary_is_critical,
        certificate=Proof(),
    ),
)
